/// Files: models (glTF, GLB, OBJ, PLY, OFF, STL, BVH, Cal3D), arrays (NumPy, PC2). Library
/// cutis-io.
///
/// Files are hostile: every reader checks every size and index, refuses what lies outside the
/// asset's folder, and says file, place and reason in the context's error. Every writer is atomic:
/// the old file or the new one, whole; files that belong together (.gltf and .bin, .obj and .mtl)
/// both or none. A file that is replaced keeps its mode, and its owner and group where that is
/// allowed; a new one has the modes of the umask. A symbolic link is followed, never replaced, also
/// one that leads to no file yet. A file that is read-only for the process, or has no write
/// permission at all, is refused (CUTIS_FILE_WRITE) and stays as it is, unless the context was
/// created with replace_read_only.
///
/// Threads: several may read and write at once, with one context too; of those who write one path,
/// one wins. A frame writer is for one thread at a time.
#ifndef CUTIS_IO_H
#define CUTIS_IO_H

#include <cutis/handles.h>
#include <cutis/model.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum cutis_format {
    CUTIS_FORMAT_AUTO = 0, ///< by the file's name (writing), by its content and name (reading)
    CUTIS_FORMAT_GLTF = 1,
    CUTIS_FORMAT_GLB = 2,
    CUTIS_FORMAT_OBJ = 3,
    CUTIS_FORMAT_PLY = 4,
    CUTIS_FORMAT_BVH = 5,
    CUTIS_FORMAT_CAL3D = 6, ///< .cfg with .csf/.cmf/.caf or .xsf/.xmf/.xaf
    CUTIS_FORMAT_NPY = 7,
    CUTIS_FORMAT_PC2 = 8,
    CUTIS_FORMAT_OFF = 9, ///< read, not written
    CUTIS_FORMAT_STL = 10,
} cutis_format;

/// Which axis of a file points up, for formats that do not say (OBJ, PLY, OFF, STL, BVH, Cal3D).
/// The model's is y: z up is turned a quarter back about x, x up a quarter about z; positions,
/// normals, joints, rest poses and clips alike.
typedef enum cutis_up {
    CUTIS_UP_Y = 0, ///< the file as it is
    CUTIS_UP_X = 1,
    CUTIS_UP_Z = 2,
    CUTIS_UP_AUTO = 3, ///< guessed: names of joints, symmetry, floor, feet
} cutis_up;

/// The unit of a file, for the same formats. The model's is the metre.
typedef enum cutis_units {
    CUTIS_UNITS_M = 0,
    CUTIS_UNITS_CM = 1,
    CUTIS_UNITS_MM = 2,
    CUTIS_UNITS_IN = 3,
    CUTIS_UNITS_AUTO = 4, ///< guessed: which makes the height that of a body
} cutis_units;

#define CUTIS_REASON_SIZE 192

/// What CUTIS_UP_AUTO and CUTIS_UNITS_AUTO chose, and why, in words; a reason is empty where
/// nothing was guessed.
typedef struct cutis_read_guess {
    cutis_up up;
    cutis_units units;
    char up_reason[CUTIS_REASON_SIZE], units_reason[CUTIS_REASON_SIZE];
} cutis_read_guess;

typedef struct cutis_read_options {
    uint32_t struct_size; ///< sizeof of this struct where you compile; 0: as of version 0.1
    cutis_format format;
    cutis_gate gate; ///< CUTIS_GATE_REPAIR: repair also what has no meaning as it is (negative
                     ///< weights, singular inverse binds, keys that are not finite)
    bool strict; ///< glTF: refuse whatever the Khronos validator calls an error, harmless or not
    float unit_scale;  ///< file units to metres for formats without units (OBJ, PLY, OFF, STL, BVH,
                       ///< Cal3D); 0: as `units` says
    bool keep_source;  ///< glTF: the model keeps its file in memory, for cutis_model_write
    cutis_up up;       ///< for the same formats; glTF has y up and metres, whatever is asked
    cutis_units units; ///< not beside unit_scale
    cutis_read_guess *guess; ///< caller memory for what was guessed, or NULL; the log tells it too
} cutis_read_options;

/// Read a model. A missing image is no error.
///
/// glTF is read generously unless `strict`: a file that breaks the letter of the format and still
/// has one safe, unambiguous meaning is taken at that (docs/formats/gltf.md lists what: strides,
/// bounds, sums of weights, lengths of rotations, order of keys, paddings, targets, ...).
/// cutis_model_issues lists what was put right, by the codes of cutis_file_inspect, once each, and
/// cutis_model_write never writes it again. What has no such meaning is refused: cycles, indices
/// out of range, data that is cut off, numbers that are none, paths that leave the folder.
CUTIS_API cutis_result cutis_model_read(cutis_context *context, const char *path,
                                        const cutis_read_options *options, cutis_model **out);

/// The same from memory: glTF with data URIs only, GLB, OBJ, PLY, OFF, STL, BVH. `name` stands in
/// error texts.
CUTIS_API cutis_result cutis_model_read_memory(cutis_context *context, const void *data,
                                               size_t size, const char *name,
                                               const cutis_read_options *options,
                                               cutis_model **out);

/// List everything that is wrong with a file. glTF: the errors of the Khronos validator by its own
/// codes, each with its JSON pointer or byte offset (docs/formats/check.md); other formats: what
/// reading them refuses. Read the list with cutis_check_report_issues.
/// @return CUTIS_OK with an empty or a filled list; CUTIS_FILE_NOT_FOUND, CUTIS_FILE_READ,
/// CUTIS_LIMIT_EXCEEDED, CUTIS_OUT_OF_MEMORY: the file could not be looked at
CUTIS_API cutis_result cutis_file_inspect(cutis_context *context, const char *path,
                                          cutis_check_report **out);
/// The same from memory; `name` stands in for the path.
CUTIS_API cutis_result cutis_file_inspect_memory(cutis_context *context, const void *data,
                                                 size_t size, const char *name,
                                                 cutis_check_report **out);

/// Add the clip of another file (.caf, .xaf, .bvh, glTF) to a model; joints are matched by name. A
/// file that does not say its axes and units is read with those of the model's own file.
CUTIS_API cutis_result cutis_model_read_clip(const cutis_model *model, const char *path,
                                             cutis_model **out);

typedef enum cutis_weight_format {
    CUTIS_WEIGHTS_FLOAT = 0,
    CUTIS_WEIGHTS_U16 = 1, ///< sums to exactly 65535
    CUTIS_WEIGHTS_U8 = 2,  ///< sums to exactly 255
} cutis_weight_format;

typedef enum cutis_compression {
    CUTIS_COMPRESSION_NONE = 0,
    CUTIS_COMPRESSION_MESHOPT = 1, ///< EXT_meshopt_compression: all data of the model; vertices and
                                   ///< triangles keep their order
    CUTIS_COMPRESSION_DRACO =
        2, ///< KHR_draco_mesh_compression: meshes, by the program cutis-draco;
           ///< vertices without morph targets may come in another order
} cutis_compression;

/// What compressing did to a file.
typedef struct cutis_compression_report {
    double position_error; ///< how far a vertex of a mesh is moved at most, in the model's unit
    double relative_error; ///< the same, of the diagonal of its mesh
    uint64_t bytes_before, bytes_after; ///< of the buffer
} cutis_compression_report;

typedef struct cutis_write_options {
    cutis_format format;
    cutis_weight_format weights;
    bool ascii;                    ///< PLY, STL: text in place of binary
    cutis_compression compression; ///< glTF
    uint32_t position_bits; ///< of the largest side of a mesh's box, 8 to 22; 0: 17 (meshopt), 14
                            ///< (Draco)
    bool exact;             ///< compressed without quantising: every float stays as it is
    const uint8_t *unneeded_nodes; ///< glTF: per node of the model, 1: it may go where nothing in
                                   ///< the file hangs under it or names it; NULL: all stay
    cutis_compression_report *report; ///< filled in where something was compressed; may be NULL
} cutis_write_options;

/// Write a model. What its source file held and Cutis does not model (textures, cameras, extras,
/// unknown extensions) is kept when glTF goes to glTF and the model was read with keep_source.
/// @return CUTIS_UNSUPPORTED if the format cannot hold the model; CUTIS_UNSUPPORTED_FORMAT: Draco's
/// program is not there
CUTIS_API cutis_result cutis_model_write(const cutis_model *model, const char *path,
                                         const cutis_write_options *options);

/// A dense float array read from `.npy` (float32 or float64, C order) or `.pc2`.
typedef struct cutis_array {
    uint32_t dimension_count;
    uint64_t dimensions[8];
    float *values; ///< product of dimensions, owned by the array
    double rate;   ///< .pc2: samples per frame; else 0
} cutis_array;

CUTIS_API cutis_result cutis_array_read(cutis_context *context, const char *path, cutis_array *out);
CUTIS_API void cutis_array_destroy(cutis_context *context, cutis_array *array);

/// Writes frames of vertices one after the other: `.npy` float32 [frames, vertices, 3], `.pc2`.
/// Appears under its name when finished.
typedef struct cutis_frame_writer cutis_frame_writer;

CUTIS_API cutis_result cutis_frame_writer_create(cutis_context *context, const char *path,
                                                 uint32_t frame_count, uint32_t vertex_count,
                                                 float frames_per_second, cutis_frame_writer **out);
/// @param positions 3 * vertex_count floats
CUTIS_API cutis_result cutis_frame_writer_add(cutis_frame_writer *writer, const float *positions);
/// Complete the file and put it in place; the writer is gone afterwards, also when this fails.
CUTIS_API cutis_result cutis_frame_writer_finish(cutis_frame_writer *writer);
CUTIS_API void
cutis_frame_writer_destroy(cutis_frame_writer *writer); ///< drop it unfinished; NULL is fine

/// What such a file begins with, for those who put frames into their places themselves: frame i is
/// 3 * vertex_count little-endian float32 from `size` + 12 * vertex_count * i on.
/// @param header memory of CUTIS_FRAME_HEADER_MOST bytes
/// @return CUTIS_OK, CUTIS_INVALID_ARGUMENT, CUTIS_UNSUPPORTED_FORMAT (`path` is no .npy or .pc2)
#define CUTIS_FRAME_HEADER_MOST 192
CUTIS_API cutis_result cutis_frame_header(const char *path, uint32_t frame_count,
                                          uint32_t vertex_count, void *header, size_t *size);

/// Write bytes to a file, atomically.
CUTIS_API cutis_result cutis_file_write(cutis_context *context, const char *path, const void *data,
                                        size_t size);
/// Read a whole regular file; release with cutis_memory_free.
CUTIS_API cutis_result cutis_file_read(cutis_context *context, const char *path, void **data,
                                       size_t *size);

/// A pose file (docs/spec/conventions.md 2): starts from `transforms` and replaces what the file
/// names.
CUTIS_API cutis_result cutis_pose_read(const cutis_model *model, const char *path,
                                       cutis_transform *transforms);

/// Labels of triangles, one whole number a line (the .seg files of the Princeton segmentation
/// benchmark), for cutis_skeleton_extract. Release
/// count * sizeof(uint32_t) bytes with cutis_memory_free.
CUTIS_API cutis_result cutis_part_labels_read(cutis_context *context, const char *path,
                                              uint32_t **labels, uint64_t *count);

/// A map of joints (docs/formats/joint_map.md): which joint of a motion's rig moves which joint of
/// a model. Joints the file does not name are not moved.
/// @param map node_count entries of the model, caller memory: nodes of `motion`, or CUTIS_NONE; as
///            it was if the call fails
CUTIS_API cutis_result cutis_joint_map_read(const cutis_model *model, const cutis_model *motion,
                                            const char *path, int32_t *map);
/// Write a map for editing: every joint of the model, in order, with the joint that moves it or
/// null.
CUTIS_API cutis_result cutis_joint_map_write(const cutis_model *model, const cutis_model *motion,
                                             const int32_t *map, const char *path);

/// What a player of glTF can play; 0: as much as one likes.
typedef struct cutis_player_limits {
    uint32_t joints;     ///< a skin
    uint32_t influences; ///< a vertex
    uint32_t morphs;     ///< targets a mesh
    uint32_t weights;    ///< bits: 1 << cutis_weight_format; 0: every format
} cutis_player_limits;

/// Limits of a player by its name ("gltf": what every client has to play, "three"), or from a file
/// (docs/formats/limits.md).
CUTIS_API cutis_result cutis_player_limits_read(cutis_context *context, const char *player,
                                                cutis_player_limits *out);

/// A file of handles and their poses (docs/formats/handles.md), checked: finite, names differ,
/// poses name handles there are.
typedef struct cutis_handle_file cutis_handle_file;
CUTIS_API cutis_result cutis_handles_read(cutis_context *context, const char *path,
                                          cutis_handle_file **out);
/// What it holds; owned by the file.
CUTIS_API const cutis_handle_set *cutis_handle_file_get(const cutis_handle_file *file);
CUTIS_API void cutis_handle_file_destroy(cutis_handle_file *file); ///< NULL is fine

#ifdef __cplusplus
}
#endif
#endif
