/// Cal3D's files as they are, and their way to nodes, skins and clips. Internal to the Cal3D
/// reader; all arrays live in an arena.
#ifndef CUTIS_IO_CAL3D_H
#define CUTIS_IO_CAL3D_H

#include "base/memory.h"
#include "io/format.h"

/// Rotations as in the file: Cal3D rotates by the conjugate of what everyone else calls that
/// quaternion.
typedef struct cal3d_bone {
    char *name;
    int32_t parent;                              ///< or -1
    float translation[3], rotation[4];           ///< relative to the parent
    float bone_translation[3], bone_rotation[4]; ///< model space to bone space
} cal3d_bone;

typedef struct cal3d_skeleton {
    cal3d_bone *bones;
    uint32_t count;
} cal3d_skeleton;

typedef struct cal3d_submesh {
    int32_t material; ///< Cal3D's thread id
    uint32_t vertex_count, index_count, influence_count;
    float *positions, *normals;
    float *texcoords; ///< set 0, or NULL
    uint32_t *first;  ///< vertex_count + 1
    uint32_t *joints;
    float *weights;
    uint32_t *indices;
} cal3d_submesh;

typedef struct cal3d_mesh {
    cal3d_submesh *submeshes;
    uint32_t count;
} cal3d_mesh;

typedef struct cal3d_track {
    uint32_t bone;
    uint32_t key_count;
    float *times, *translations, *rotations; ///< 1, 3, 4 per key
} cal3d_track;

typedef struct cal3d_animation {
    cal3d_track *tracks;
    uint32_t count;
} cal3d_animation;

typedef enum cal3d_kind {
    CAL3D_UNKNOWN,
    CAL3D_SKELETON,
    CAL3D_MESH,
    CAL3D_ANIMATION,
    CAL3D_MATERIAL
} cal3d_kind;

/// One file in memory while it is read.
typedef struct cal3d_source_file {
    cutis_context *context;
    cutis_arena *arena; ///< where results go
    const char *name;   ///< for error texts
    const char *data;
    size_t size;
} cal3d_source_file;

/// What a file is, binary or XML; `is_xml` tells which.
cal3d_kind cutis_cal3d_kind(const char *data, size_t size, bool *is_xml);

cutis_result cutis_cal3d_skeleton(const cal3d_source_file *file, cal3d_skeleton *out);
cutis_result cutis_cal3d_mesh(const cal3d_source_file *file, cal3d_mesh *out);
cutis_result cutis_cal3d_animation(const cal3d_source_file *file, cal3d_animation *out);
/// Only the diffuse colour, 0 to 255.
cutis_result cutis_cal3d_material(const cal3d_source_file *file, float diffuse[3]);

cutis_result cutis_cal3d_xml_skeleton(const cal3d_source_file *file, cal3d_skeleton *out);
cutis_result cutis_cal3d_xml_mesh(const cal3d_source_file *file, cal3d_mesh *out);
cutis_result cutis_cal3d_xml_animation(const cal3d_source_file *file, cal3d_animation *out);
cutis_result cutis_cal3d_xml_material(const cal3d_source_file *file, float diffuse[3]);

/// A submesh while it grows; both readers fill one. The zero value with `arena` set is empty.
typedef struct cal3d_draft {
    cutis_arena *arena;
    float *positions, *normals, *texcoords, *weights;
    uint32_t *first, *joints, *indices;
    size_t position_capacity, normal_capacity, texcoord_capacity, weight_capacity;
    size_t first_capacity, joint_capacity, index_capacity;
    size_t vertex_count, influence_count, index_count;
} cal3d_draft;

/// Start a vertex; its influences follow. false: no memory.
bool cutis_cal3d_add_vertex(cal3d_draft *draft, const float position[3], const float normal[3],
                            const float texcoord[2]);
bool cutis_cal3d_add_influence(cal3d_draft *draft, uint32_t bone, float weight);
bool cutis_cal3d_add_face(cal3d_draft *draft, const uint32_t corners[3]);
/// Check the faces, turn them outwards as Cal3D does, and hand over the arrays.
cutis_result cutis_cal3d_finish(cal3d_draft *draft, const cal3d_source_file *file, int32_t material,
                                bool texcoords, cal3d_submesh *out);

/// Keys (time, translation, rotation: 8 floats each) in order of time; of several at the same time
/// the last stays. false: no memory.
bool cutis_cal3d_set_keys(cal3d_track *track, cutis_arena *arena, const float *keys, size_t count);

/// Cal3D's rotation in our convention: the conjugate, of unit length.
cutis_quat cutis_cal3d_rotation(const float q[4]);

/// Tracks as channels on `nodes` (node of each bone). The animation's arrays are changed and
/// borrowed.
cutis_result cutis_cal3d_make_clip(const cal3d_source_file *file, const cal3d_animation *animation,
                                   float scale, const uint32_t *nodes, uint32_t bone_count,
                                   cutis_clip *out);

#endif
