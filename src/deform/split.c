/// Bone matrices into rotation and stretch. Invariant: L = R S to rounding, S symmetric, R proper.
#include "deform/split.h"

#include "math/mat3.h"
#include "math/quat.h"
#include "math/svd3.h"

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
