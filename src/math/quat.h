/// Quaternions in double, stored w x y z, Hamilton product.
#ifndef CUTIS_MATH_QUAT_H
#define CUTIS_MATH_QUAT_H

/// out = a b: b first, then a. out may be a or b.
static inline void double_quat_multiply(const double *a, const double *b, double *out)
{
    double w = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3];
    double x = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2];
    double y = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1];
    double z = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0];
    out[0] = w, out[1] = x, out[2] = y, out[3] = z;
}

// cutis-skeleton uses these across the border of libcutis.so.
#pragma GCC visibility push(default)

/// The unit quaternion of a proper rotation (row-major 3x3), by the largest of trace and diagonal
/// (Shepperd), so that it is exact to rounding for every angle, 180 degrees included.
void cutis_quat_from_mat3(const double *rotation, double *out);

/// The rotation of a quaternion of any length; zero gives the identity.
void cutis_mat3_from_quat(const double *quat, double *out);

#pragma GCC visibility pop

/// The unit quaternion that turns about the vector r by its length, to 1e-9; a longer one than pi
/// counts as pi. By series: the library's sine would have other bits elsewhere.
void cutis_quat_exp(const double *r, double *out);
/// The rotation vector of a unit quaternion, no longer than pi, to 1e-9.
void cutis_quat_log(const double *quat, double *r);

#endif
