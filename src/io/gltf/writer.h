/// A glTF document being written: JSON that starts from the source's (or empty), and the data of
/// new accessors. Everything that fails sets `failed`, which is looked at once, at the end.
#ifndef CUTIS_IO_GLTF_WRITER_H
#define CUTIS_IO_GLTF_WRITER_H

#include "io/gltf/parts.h"

/// What a new accessor is: its content is `count` elements, tightly packed.
typedef struct gltf_array {
    const void *data;
    uint32_t count;
    gltf_shape shape;
    uint32_t component;
    bool normalized;
    uint32_t target; ///< GLTF_ARRAY_BUFFER, GLTF_ELEMENT_ARRAY_BUFFER, or 0
    bool bounds;     ///< write min and max (floats only)
} gltf_array;

typedef struct gltf_written {
    uint64_t hash;
    size_t offset, size;
    uint32_t accessor;
    gltf_array array; ///< data is not kept
} gltf_written;

typedef struct gltf_writer {
    cutis_context *context;
    const cutis_model_data *data;
    cutis_write_options options;
    gltf_document source; ///< a shallow copy; root is NULL without a source
    json_t *root;
    json_t *before;          ///< borrowed: the source's root, or NULL
    json_t *nodes;           ///< written anew: what each node starts from, or NULL
    uint32_t *node_of_model; ///< file index of each node of the model
    uint32_t source_views;   ///< views of the source come first
    int32_t other_view;      ///< the view that keys and labels share, or CUTIS_NONE
    cutis_bytes bytes;       ///< new accessors that have a view of their own
    cutis_bytes other;       ///< the rest of them
    gltf_written *written;
    size_t written_count, written_capacity;
    cutis_bytes file; ///< the buffer as it goes to the file
    bool binary;      ///< a GLB is written
    bool failed;
} gltf_writer;

/// The array of that name in the root, made if needed.
json_t *cutis_gltf_collection(gltf_writer *writer, const char *name);
/// The object that is a member of `object`, made if needed.
json_t *cutis_gltf_member(gltf_writer *writer, json_t *object, const char *key);
/// Set a property; a NULL value is a failure.
void cutis_gltf_set(gltf_writer *writer, json_t *object, const char *key, json_t *value);
void cutis_gltf_set_index(gltf_writer *writer, json_t *object, const char *key,
                          int32_t index); ///< none: removed
void cutis_gltf_set_string(gltf_writer *writer, json_t *object, const char *key,
                           const char *text); ///< NULL: removed
void cutis_gltf_append(gltf_writer *writer, json_t *array, json_t *value);
json_t *cutis_gltf_float_array(const float *values, size_t count);
bool cutis_gltf_same(const void *a, const void *b, size_t count,
                     size_t item); ///< both NULL, or equal bytes
bool cutis_gltf_same_text(const char *a, const char *b);

/// Add an accessor, or find the one that already holds the same.
uint32_t cutis_gltf_add_array(gltf_writer *writer, const gltf_array *array);

/// The same, and a property that names it.
void cutis_gltf_set_array(gltf_writer *writer, json_t *object, const char *key,
                          const gltf_array *array);
/// The same for an array that is no more than its numbers.
void cutis_gltf_set_numbers(gltf_writer *writer, json_t *object, const char *key, const void *data,
                            size_t count, gltf_shape shape, uint32_t component);
/// Whole numbers in `size` bytes each: 1, 2 or 4. @return the accessor
uint32_t cutis_gltf_add_integers(gltf_writer *writer, const uint32_t *values, uint32_t count,
                                 size_t size, uint32_t target);

/// Names of the extensions in use: add or remove one.
void cutis_gltf_use_extension(gltf_writer *writer, const char *name);
void cutis_gltf_drop_extension(gltf_writer *writer, const char *name);
/// Set the extension of an object, or take it away (value NULL).
void cutis_gltf_place_extension(gltf_writer *writer, json_t *object, const char *name,
                                json_t *value);
/// The same for the root, with its name in the list of those in use.
void cutis_gltf_root_extension(gltf_writer *writer, const char *name, json_t *value);

/// Start from how the source looks, not from its nodes (write_anew.c). A node of the model then
/// starts from what the source's of the same name held, the scene from what the default one did.
void cutis_gltf_start_anew(gltf_writer *writer, const char *path);
json_t *cutis_gltf_new_node(gltf_writer *writer, uint32_t index);
void cutis_gltf_keep_scene(gltf_writer *writer);

/// The parts (write_mesh.c, write_influences.c, write_scene.c, write_clip.c).
void cutis_gltf_write_mesh(gltf_writer *writer, uint32_t index);
void cutis_gltf_write_influences(gltf_writer *writer, const cutis_primitive *primitive,
                                 json_t *attributes);
void cutis_gltf_write_nodes(gltf_writer *writer);
void cutis_gltf_write_skin(gltf_writer *writer, uint32_t index);
void cutis_gltf_write_material(gltf_writer *writer, uint32_t index);
void cutis_gltf_write_clip(gltf_writer *writer, uint32_t index);
void cutis_gltf_write_pose_space(gltf_writer *writer); ///< pose_space.c; takes an old one away
void cutis_gltf_write_cage(gltf_writer *writer);       ///< cage.c; takes an old one away
void cutis_gltf_write_handles(gltf_writer *writer);    ///< handle_rig.c; takes old ones away
void cutis_gltf_write_drivers(gltf_writer *writer);    ///< drivers.c; takes old ones away

/// The tree of a mesh's parts (part_tree.c). @param map file index of each primitive
void cutis_gltf_write_part_tree(gltf_writer *writer, const cutis_mesh *mesh, const uint32_t *map,
                                size_t file_count, json_t *json);
bool cutis_gltf_same_part_tree(const cutis_mesh *a, const cutis_mesh *b);

/// Arrays as glTF allows them: the model's own, or a changed copy in `arena` (write_conform.c).
const float *cutis_gltf_unit_normals(gltf_writer *writer, cutis_arena *arena,
                                     const cutis_primitive *primitive);
const float *cutis_gltf_unit_tangents(gltf_writer *writer, cutis_arena *arena,
                                      const cutis_primitive *primitive);
const float *cutis_gltf_clamped_colors(gltf_writer *writer, cutis_arena *arena,
                                       const cutis_primitive *primitive);
const float *cutis_gltf_unit_rotations(gltf_writer *writer, cutis_arena *arena,
                                       const cutis_channel *channel);

/// Leave out nodes that the options name, where nothing in the document needs them.
void cutis_gltf_prune(gltf_writer *writer);
/// Nodes and skins as glTF allows them, whatever the model has: write_forest.c.
void cutis_gltf_plant_forest(gltf_writer *writer);

/// Drop what only the old content used, lay out the buffer, point views into it (layout.c).
void cutis_gltf_lay_out(gltf_writer *writer);
/// Every extension in use is one whose references we know.
bool cutis_gltf_knows_extensions(const json_t *root);
/// How often each view (else each accessor) is referred to, added to `counts`; new numbers of
/// views.
void cutis_gltf_count_uses(json_t *root, bool views, int64_t *counts, size_t count);
void cutis_gltf_renumber_views(json_t *root, int64_t *map, size_t count);

#endif
