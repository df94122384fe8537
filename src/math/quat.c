/// Rotation matrices to quaternions and back. Invariant: results are unit to rounding, whatever the
/// angle.
#include "math/quat.h"

#include <math.h>

void cutis_quat_from_mat3(const double *r, double *out)
{
    double w, x, y, z, trace = r[0] + r[4] + r[8];
    if (trace >= r[0] && trace >= r[4] && trace >= r[8]) {
        w = 1.0 + trace, x = r[7] - r[5], y = r[2] - r[6], z = r[3] - r[1];
    } else if (r[0] >= r[4] && r[0] >= r[8]) {
        x = 1.0 + r[0] - r[4] - r[8], w = r[7] - r[5], y = r[1] + r[3], z = r[2] + r[6];
    } else if (r[4] >= r[8]) {
        y = 1.0 + r[4] - r[0] - r[8], w = r[2] - r[6], x = r[1] + r[3], z = r[5] + r[7];
    } else {
        z = 1.0 + r[8] - r[0] - r[4], w = r[3] - r[1], x = r[2] + r[6], y = r[5] + r[7];
    }
    // All four share the factor s of Shepperd's formula; normalising removes it without a division
    // by s.
    double scale = 1.0 / sqrt(w * w + x * x + y * y + z * z);
    out[0] = w * scale, out[1] = x * scale, out[2] = y * scale, out[3] = z * scale;
}

void cutis_mat3_from_quat(const double *q, double *out)
{
    double length = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
    double s = length > 0.0 ? 2.0 / length : 0.0;
    double x = q[1] * s, y = q[2] * s, z = q[3] * s;
    double xx = q[1] * x, yy = q[2] * y, zz = q[3] * z;
    double xy = q[1] * y, xz = q[1] * z, yz = q[2] * z;
    double wx = q[0] * x, wy = q[0] * y, wz = q[0] * z;
    out[0] = 1.0 - (yy + zz), out[1] = xy - wz, out[2] = xz + wy;
    out[3] = xy + wz, out[4] = 1.0 - (xx + zz), out[5] = yz - wx;
    out[6] = xz - wy, out[7] = yz + wx, out[8] = 1.0 - (xx + yy);
}
