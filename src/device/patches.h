/// The kernels of the blending patches (src/kernel/patches*.h), in the order of a frame.
#ifndef CUTIS_DEVICE_PATCHES_H
#define CUTIS_DEVICE_PATCHES_H

#include "device/compute.h"

extern const cutis_compute_kernel cutis_compute_patch_parts;      ///< S G palette D; per part
extern const cutis_compute_kernel cutis_compute_patch_joints;     ///< S G I D; per joint
extern const cutis_compute_kernel cutis_compute_patch_cut;        ///< S G I D; per part
extern const cutis_compute_kernel cutis_compute_patch_rungs;      ///< S G I D; per joint
extern const cutis_compute_kernel cutis_compute_patch_cut_volume; ///< S G I D; per part
extern const cutis_compute_kernel cutis_compute_patch_solve;      ///< S G I D; per joint
extern const cutis_compute_kernel cutis_compute_patch_count;      ///< S I; per block of both kinds
extern const cutis_compute_kernel cutis_compute_patch_sum;        ///< S I counts; per instance
/// S G I D counts positions normals, ints vertex_room face_room; per block of vertices
extern const cutis_compute_kernel cutis_compute_patch_vertices;
/// S I counts indices labels, ints vertex_room face_room; per block of faces
extern const cutis_compute_kernel cutis_compute_patch_faces;
/// S G I D counts positions normals indices labels, ints vertex_room face_room; per joint
extern const cutis_compute_kernel cutis_compute_patch_strips;
/// S I D counts vertices weights, ints vertex_room face_room; per block of vertices
extern const cutis_compute_kernel cutis_compute_patch_vertex_sources;
/// S G I D counts vertices weights, ints vertex_room face_room; per joint
extern const cutis_compute_kernel cutis_compute_patch_joint_sources;
/// S I counts origins, ints vertex_room face_room; per block of faces, then per joint
extern const cutis_compute_kernel cutis_compute_patch_origins, cutis_compute_patch_no_origins;

#endif
