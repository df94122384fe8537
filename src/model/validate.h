/// The one gate for data from outside. It has two halves: the shape of the caller's data (counts,
/// indices of objects, everything that decides sizes) is checked before anything is copied; the
/// values are checked, and in CUTIS_GATE_REPAIR repaired, in the model's own copy, which nothing
/// else can change any more.
#ifndef CUTIS_MODEL_VALIDATE_H
#define CUTIS_MODEL_VALIDATE_H

#include "base/error.h"
#include "model/object.h"

/// What is wrong with the data, and the way out with it.
#define CORRUPT(...) cutis_fail(context, CUTIS_CORRUPT_DATA, __VA_ARGS__)
#define FAIL(...)    return CORRUPT(__VA_ARGS__)

/// Counts, object indices, parents, pointers that must be there, the context's limits.
cutis_result cutis_validate_shape(cutis_context *context, const cutis_model_data *data);

/// Floats, vertex and joint indices, weights, inverse binds, keys, names of a copied model.
cutis_result cutis_validate_values(cutis_model *model, cutis_gate gate);

/// Note something repaired (or worth knowing): the texts are copied. Fails without memory only.
/// Readers in cutis-io use it across the border of libcutis.so; it is not part of its interface.
#pragma GCC visibility push(default)
cutis_result cutis_model_note(cutis_model *model, const char *code, uint8_t severity,
                              uint64_t count, const char *place, const char *format, ...)
    __attribute__((format(printf, 6, 7)));
#pragma GCC visibility pop

/// Halves of cutis_validate_values, one file each.
cutis_result cutis_validate_meshes(cutis_model *model, cutis_gate gate);
cutis_result cutis_validate_clips(cutis_model *model, cutis_gate gate);

/// Counts, indices, arrays and values of pose space, cage, handles and drivers, before the copy;
/// each may be NULL.
cutis_result cutis_validate_cage(cutis_context *context, const cutis_model_data *data);
cutis_result cutis_validate_handles(cutis_context *context, const cutis_model_data *data);
cutis_result cutis_validate_drivers(cutis_context *context, const cutis_model_data *data);
#define CUTIS_DRIVER_JOINTS 1024  ///< most that drivers read: a frame keeps them on its stack
#define CUTIS_CAGE_CONTROLS 65535 ///< most: an index fits 16 bits
/// Most handles, real and virtual together: a file cannot ask for a palette beyond this.
#define CUTIS_HANDLE_RIG_MAX 1000000u

/// The part tree of a mesh (part_tree.c): counts and indices before the copy, which may have no
/// tree; values in the copy. @param joint_count of the smallest skin the mesh is used with
cutis_result cutis_validate_part_tree(cutis_context *context, const cutis_mesh *mesh, uint32_t m);
cutis_result cutis_validate_part_values(cutis_context *context, const cutis_mesh *mesh, uint32_t m,
                                        uint32_t joint_count);

/// Joints of the smallest skin each mesh is used with, which decides which joints are in range;
/// UINT32_MAX without a skin: any joint is. Release with cutis_free_array; NULL: no memory.
#pragma GCC visibility push(default)
uint32_t *cutis_smallest_skins(cutis_context *context, const cutis_model_data *data);

/// Index of the first float that is NaN or infinite, or `count`.
size_t cutis_first_not_finite(const float *values, size_t count);

/// The first that is `limit` or more, or `count`.
size_t cutis_first_not_below(const uint32_t *values, size_t count, uint32_t limit);
#pragma GCC visibility pop

/// Rotations shorter or longer than this cannot be normalised in float without loss.
#define CUTIS_QUAT_LENGTH_MIN 1e-6
#define CUTIS_QUAT_LENGTH_MAX 1e6
bool cutis_quat_usable(const float *quat);

#endif
