/// Bone matrices into rotation and stretch. Invariant: L = R S to rounding, S symmetric, R proper.
#include "deform/split.h"

#include "math/mat3.h"
#include "math/quat.h"
#include "math/svd3.h"

cutis_bone_shape cutis_bone_measure(const double *m)
{
    double xx = m[0] * m[0] + m[4] * m[4] + m[8] * m[8];
    double yy = m[1] * m[1] + m[5] * m[5] + m[9] * m[9];
    double zz = m[2] * m[2] + m[6] * m[6] + m[10] * m[10];
    double xy = m[0] * m[1] + m[4] * m[5] + m[8] * m[9];
    double xz = m[0] * m[2] + m[4] * m[6] + m[8] * m[10];
    double yz = m[1] * m[2] + m[5] * m[6] + m[9] * m[10];
    double square = (xx + yy + zz) / 3.0;
    double determinant = m[0] * (m[5] * m[10] - m[6] * m[9]) + m[1] * (m[6] * m[8] - m[4] * m[10]) +
                         m[2] * (m[4] * m[9] - m[5] * m[8]);
    double off = fabs(xy) + fabs(xz) + fabs(yz);
    double along = fabs(xx - square);
    along = fabs(yy - square) > along ? fabs(yy - square) : along;
    along = fabs(zz - square) > along ? fabs(zz - square) : along;
    cutis_bone_shape shape;
    double sigma = sqrt(square);
    shape.sigma = determinant < 0.0 ? -sigma : sigma;
    // L^T L = S^2, so S is off by half of what its square is off.
    shape.uneven = square > 0.0 ? 0.5 * (off > along ? off : along) / square : INFINITY;
    return shape;
}

bool cutis_bone_split(const double *matrix, const double *fallback, double *quat, double *stretch)
{
    double linear[9], rotation[9], s[9];
    double34_linear(matrix, linear);
    if (cutis_polar3(linear, rotation)) {
        cutis_quat_from_mat3(rotation, quat);
    } else {
        if (!fallback) return false;
        memcpy(quat, fallback, 4 * sizeof *quat);
        cutis_mat3_from_quat(quat, rotation);
    }
    double33_transpose_multiply(rotation, linear, s);
    stretch[0] = s[0], stretch[3] = s[4], stretch[5] = s[8];
    stretch[1] = 0.5 * (s[1] + s[3]); // equal to rounding, unless the rotation is the fallback
    stretch[2] = 0.5 * (s[2] + s[6]);
    stretch[4] = 0.5 * (s[5] + s[7]);
    return true;
}

void cutis_bone_turn(const double *m, double sigma, double *quat)
{
    double x[9], square[9], rotation[9], scale = 1.0 / sigma;
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) x[3 * r + c] = m[4 * r + c] * scale;
    // X (3 I - X^T X) / 2: an error e becomes 0.75 e^2.
    double33_transpose_multiply(x, x, square);
    for (int i = 0; i < 9; i++) square[i] *= -0.5;
    square[0] += 1.5, square[4] += 1.5, square[8] += 1.5;
    double33_multiply(x, square, rotation);
    cutis_quat_from_mat3(rotation, quat);
}
