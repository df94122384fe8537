/// What the readers and writers of one format promise each other. Internal to this room.
#ifndef CUTIS_IO_FORMAT_H
#define CUTIS_IO_FORMAT_H

#include <cutis/io.h>

/// A file in memory, on its way to becoming a model. Everything is borrowed for the call.
typedef struct cutis_input {
    cutis_context *context;
    const char *name; ///< is named in error texts; the path when `on_disk`
    bool on_disk;     ///< files beside `name` may be opened; else the data stands alone
    const char *data; ///< `size` bytes, no terminator promised
    size_t size;
    float scale; ///< file units to metres, never 0
    cutis_gate gate;
    cutis_format format; ///< what it is read as
    cutis_up up;         ///< as asked for
    bool guess_units;
    cutis_read_guess *guess; ///< or NULL
} cutis_input;

/// A file on disk, read as options (NULL: none) say. Close it also where this failed.
cutis_result cutis_input_open(cutis_context *context, const char *path,
                              const cutis_read_options *options, cutis_input *out);
void cutis_input_close(cutis_input *input);

cutis_result cutis_obj_read(const cutis_input *input, cutis_model **out);
cutis_result cutis_ply_read(const cutis_input *input, cutis_model **out);
cutis_result cutis_off_read(const cutis_input *input, cutis_model **out);
cutis_result cutis_stl_read(const cutis_input *input, cutis_model **out);
cutis_result cutis_bvh_read(const cutis_input *input, cutis_model **out);
/// A .cfg, or a skeleton or mesh file (binary or XML) alone.
cutis_result cutis_cal3d_read(const cutis_input *input, cutis_model **out);
/// A .caf or .xaf as the last clip of a copy of `model`; bone i is joint i of its first skin.
cutis_result cutis_cal3d_read_clip(const cutis_model *model, const cutis_input *input,
                                   cutis_model **out);

cutis_result cutis_obj_write(const cutis_model *model, const char *path);
cutis_result cutis_ply_write(const cutis_model *model, const char *path, bool ascii);
cutis_result cutis_stl_write(const cutis_model *model, const char *path, bool ascii);
cutis_result cutis_bvh_write(const cutis_model *model, const char *path);

/// The readers of small files, on bytes in memory; the other arguments are those of
/// cutis_array_read and its like.
cutis_result cutis_array_parse(const cutis_input *input, cutis_array *out);
cutis_result cutis_handles_parse(const cutis_input *input, cutis_handle_file **out);
cutis_result cutis_pose_parse(const cutis_input *input, const cutis_model *model,
                              cutis_transform *transforms);
cutis_result cutis_joint_map_parse(const cutis_input *input, const cutis_model *model,
                                   const cutis_model *motion, int32_t *map);
cutis_result cutis_limits_parse(const cutis_input *input, cutis_player_limits *out);
cutis_result cutis_part_labels_parse(const cutis_input *input, uint32_t **labels, uint64_t *count);

/// CUTIS_CORRUPT_DATA with "name: line 3: reason 'what'"; an empty `what` is not shown.
struct cutis_text;
struct cutis_span;
cutis_result cutis_text_bad(const cutis_input *input, const struct cutis_text *text,
                            const char *reason, struct cutis_span what);

/// Whether bytes are an STL file: by its size and count, by its first two lines.
bool cutis_stl_is_binary(const char *data, size_t size);
bool cutis_stl_is_text(const char *data, size_t size);

/// What a file is, by its first bytes; CUTIS_FORMAT_AUTO if they do not say.
cutis_format cutis_format_of_content(const char *data, size_t size);
/// By the end of its name, in either case; CUTIS_FORMAT_AUTO if it does not say.
cutis_format cutis_format_of_name(const char *path);

/// The file's name without folders and without its last extension, as an arena string ("" becomes
/// "model").
struct cutis_arena;
char *cutis_stem(struct cutis_arena *arena, const char *path);

/// A copy of `model` with the clips of `other` at the end, its nodes found by name.
/// @return CUTIS_NOT_FOUND if no animated node of `other` has a namesake
cutis_result cutis_clip_merge(const cutis_model *model, const cutis_model *other, const char *name,
                              cutis_model **out);

#endif
