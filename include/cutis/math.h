/// The small value types of the public interface: vectors, quaternions, transforms, 3x4 matrices.
/// Threads: plain functions of their arguments, callable from anywhere.
#ifndef CUTIS_MATH_H
#define CUTIS_MATH_H

#include <cutis/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cutis_float3 {
    float x, y, z;
} cutis_float3;

/// A rotation, stored as glTF does: vector part first. Unit length unless said.
typedef struct cutis_quat {
    float x, y, z, w;
} cutis_quat;

/// Local transform: scale, then rotate, then translate. 40 bytes, no padding.
typedef struct cutis_transform {
    cutis_float3 translation;
    cutis_quat rotation;
    cutis_float3 scale;
} cutis_transform;

/// Affine matrix, row-major: m[0..3] is the first row, its last entry the translation's x. v' = M
/// v.
typedef struct cutis_mat34 {
    float m[12];
} cutis_mat34;

/// Axis-aligned box. Empty: min > max.
typedef struct cutis_bounds {
    cutis_float3 min, max;
} cutis_bounds;

/// No translation, no rotation, scale 1.
CUTIS_API cutis_transform cutis_transform_identity(void);

/// Rotation by `radians` about `axis` (any length; zero gives the identity).
CUTIS_API cutis_quat cutis_quat_from_axis_angle(cutis_float3 axis, float radians);

/// The rotation b first, then a.
CUTIS_API cutis_quat cutis_quat_multiply(cutis_quat a, cutis_quat b);

/// The matrix of a transform; the rotation is normalised.
CUTIS_API cutis_mat34 cutis_mat34_from_transform(const cutis_transform *transform);

/// b first, then a.
CUTIS_API cutis_mat34 cutis_mat34_multiply(const cutis_mat34 *a, const cutis_mat34 *b);

/// @return false, and nothing written, if the matrix is singular
CUTIS_API bool cutis_mat34_invert(const cutis_mat34 *matrix, cutis_mat34 *out);

/// Translation, rotation and scale of a matrix: exact without shear; else the rotation nearest to
/// its unit columns and the best scale for that rotation. A mirror becomes a negative scale.
CUTIS_API cutis_transform cutis_transform_from_mat34(const cutis_mat34 *matrix);

CUTIS_API cutis_float3 cutis_mat34_point(const cutis_mat34 *matrix, cutis_float3 point);

#ifdef __cplusplus
}
#endif
#endif
