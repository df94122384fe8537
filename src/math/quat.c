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

void cutis_quat_exp(const double *r, double *out)
{
    static const double SINE[] = {
        1.0 / 6227020800, 1.0 / 39916800, 1.0 / 362880, 1.0 / 5040, 1.0 / 120, 1.0 / 6, 1
    };
    static const double COSINE[] = { 1.0 / 87178291200, 1.0 / 479001600, 1.0 / 3628800, 1.0 / 40320,
                                     1.0 / 720,         1.0 / 24,        1.0 / 2,       1 };
    static const double PI = 3.141592653589793;
    double square = r[0] * r[0] + r[1] * r[1] + r[2] * r[2], by = 0.5;
    if (!(square <= PI * PI)) by *= PI / sqrt(square), square = PI * PI;
    const double h = 0.25 * square; // of the half angle
    double sine = SINE[0], cosine = COSINE[0];
    for (int k = 1; k < 7; k++) sine = SINE[k] - h * sine;
    for (int k = 1; k < 8; k++) cosine = COSINE[k] - h * cosine;
    out[0] = cosine;
    for (int k = 0; k < 3; k++) out[k + 1] = by * sine * r[k];
}

void cutis_quat_log(const double *quat, double *r)
{
    // Arc sine over its argument, of the squared sine.
    static const double SERIES[] = {
        231.0 / 13312, 63.0 / 2816, 35.0 / 1152, 5.0 / 112, 3.0 / 40, 1.0 / 6, 1
    };
    const double sign = quat[0] < 0 ? -1 : 1;
    double q[4] = { sign * quat[0], sign * quat[1], sign * quat[2], sign * quat[3] };
    for (int k = 0; k < 3; k++) { // half the angle three times: a sixteenth turn at most
        const double w = q[0] + 1;
        const double by = 1 / sqrt(w * w + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
        q[0] = w * by, q[1] *= by, q[2] *= by, q[3] *= by;
    }
    const double square = q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
    double sum = SERIES[0];
    for (int k = 1; k < 7; k++) sum = SERIES[k] + square * sum;
    for (int k = 0; k < 3; k++) r[k] = 16 * sum * q[k + 1];
}
