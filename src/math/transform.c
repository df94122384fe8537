// The public vector, quaternion, transform and matrix functions. Values are float, as in the files;
// the work is done in double and rounded once, so results do not depend on the order a compiler
// picks. Same bits on every machine.
#include <float.h>
#include <math.h>

#include <cutis/math.h>

#include "math/elementary.h"

cutis_transform cutis_transform_identity(void)
{
    return (cutis_transform){ { 0, 0, 0 }, { 0, 0, 0, 1 }, { 1, 1, 1 } };
}

cutis_quat cutis_quat_from_axis_angle(cutis_float3 axis, float radians)
{
    double x = axis.x, y = axis.y, z = axis.z;
    double length = sqrt(x * x + y * y + z * z);
    if (!(length > 0)) return (cutis_quat){ 0, 0, 0, 1 };
    double s = fixed_sin(radians * 0.5) / length;
    return (cutis_quat){ (float)(x * s), (float)(y * s), (float)(z * s),
                         (float)fixed_cos(radians * 0.5) };
}

cutis_quat cutis_quat_multiply(cutis_quat a, cutis_quat b)
{
    double ax = a.x, ay = a.y, az = a.z, aw = a.w, bx = b.x, by = b.y, bz = b.z, bw = b.w;
    return (cutis_quat){ (float)(aw * bx + ax * bw + ay * bz - az * by),
                         (float)(aw * by - ax * bz + ay * bw + az * bx),
                         (float)(aw * bz + ax * by - ay * bx + az * bw),
                         (float)(aw * bw - ax * bx - ay * by - az * bz) };
}

cutis_mat34 cutis_mat34_from_transform(const cutis_transform *transform)
{
    if (!transform) return (cutis_mat34){ 0 };
    double x = transform->rotation.x, y = transform->rotation.y, z = transform->rotation.z,
           w = transform->rotation.w;
    double square = x * x + y * y + z * z + w * w;
    double s = square > 0 ? 2.0 / square : 0; // 2 / |q|^2 normalises without a root
    double xs = x * s, ys = y * s, zs = z * s;
    double wx = w * xs, wy = w * ys, wz = w * zs;
    double xx = x * xs, xy = x * ys, xz = x * zs, yy = y * ys, yz = y * zs, zz = z * zs;
    double sx = transform->scale.x, sy = transform->scale.y, sz = transform->scale.z;
    cutis_float3 t = transform->translation;
    return (cutis_mat34){
        { (float)((1 - (yy + zz)) * sx), (float)((xy - wz) * sy), (float)((xz + wy) * sz), t.x, //
          (float)((xy + wz) * sx), (float)((1 - (xx + zz)) * sy), (float)((yz - wx) * sz), t.y, //
          (float)((xz - wy) * sx), (float)((yz + wx) * sy), (float)((1 - (xx + yy)) * sz), t.z }
    };
}

cutis_mat34 cutis_mat34_multiply(const cutis_mat34 *a, const cutis_mat34 *b)
{
    if (!a || !b) return (cutis_mat34){ 0 };
    cutis_mat34 out;
    for (int row = 0; row < 3; row++) {
        const float *r = a->m + 4 * row;
        for (int column = 0; column < 4; column++) {
            double sum = (double)r[0] * b->m[column];
            sum += (double)r[1] * b->m[4 + column];
            sum += (double)r[2] * b->m[8 + column];
            out.m[4 * row + column] = (float)(column == 3 ? sum + r[3] : sum);
        }
    }
    return out;
}

bool cutis_mat34_invert(const cutis_mat34 *matrix, cutis_mat34 *out)
{
    if (!matrix || !out) return false;
    const float *m = matrix->m;
    double a = m[0], b = m[1], c = m[2], d = m[4], e = m[5], f = m[6], g = m[8], h = m[9],
           i = m[10];
    double c00 = e * i - f * h, c01 = f * g - d * i, c02 = d * h - e * g;
    double determinant = a * c00 + b * c01 + c * c02;
    double bound =
        sqrt((a * a + b * b + c * c) * (d * d + e * e + f * f) * (g * g + h * h + i * i));
    // Hadamard: |det| <= product of the row lengths, whatever the scale. Float entries carry 6e-8
    // of noise each, so below 1e-7 of the bound the inverse would be noise.
    if (!(fabs(determinant) > 1e-7 * bound)) return false;
    double r = 1 / determinant;
    double n[9] = { c00 * r, (c * h - b * i) * r, (b * f - c * e) * r, //
                    c01 * r, (a * i - c * g) * r, (c * d - a * f) * r, //
                    c02 * r, (b * g - a * h) * r, (a * e - b * d) * r };
    cutis_mat34 result;
    for (int row = 0; row < 3; row++) {
        const double *k = n + 3 * row;
        result.m[4 * row + 0] = (float)k[0];
        result.m[4 * row + 1] = (float)k[1];
        result.m[4 * row + 2] = (float)k[2];
        result.m[4 * row + 3] = (float)-(k[0] * m[3] + k[1] * m[7] + k[2] * m[11]);
    }
    for (int k = 0; k < 12; k++)
        if (!(fabsf(result.m[k]) <= FLT_MAX)) return false;
    *out = result;
    return true;
}

// Rotation matrix (row-major 3x3) to quaternion by the largest of the four candidates: no
// cancellation.
static cutis_quat quat_from_rotation(const double r[9])
{
    double trace[4] = { 1 + r[0] - r[4] - r[8], 1 - r[0] + r[4] - r[8], 1 - r[0] - r[4] + r[8],
                        1 + r[0] + r[4] + r[8] };
    int k = 0;
    for (int i = 1; i < 4; i++)
        if (trace[i] > trace[k]) k = i;
    double xy = r[1] + r[3], xz = r[2] + r[6], yz = r[5] + r[7];
    double wx = r[7] - r[5], wy = r[2] - r[6], wz = r[3] - r[1];
    double table[4][4] = { { trace[0], xy, xz, wx },
                           { xy, trace[1], yz, wy },
                           { xz, yz, trace[2], wz },
                           { wx, wy, wz, trace[3] } };
    const double *q = table[k];
    double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    if (!(length > 0)) return (cutis_quat){ 0, 0, 0, 1 };
    double s = (q[3] < 0 ? -1 : 1) / length;
    return (cutis_quat){ (float)(q[0] * s), (float)(q[1] * s), (float)(q[2] * s),
                         (float)(q[3] * s) };
}

static double determinant3(const double m[9])
{
    return m[0] * (m[4] * m[8] - m[5] * m[7]) + m[1] * (m[5] * m[6] - m[3] * m[8]) +
           m[2] * (m[3] * m[7] - m[4] * m[6]);
}

// The nearest rotation to a matrix of positive determinant with unit columns: Higham's iteration
// X <- (X + X^-T) / 2, quadratic; 20 steps are enough for a condition of 1e6.
static void nearest_rotation(double x[9])
{
    for (int step = 0; step < 20; step++) {
        double c[9] = { x[4] * x[8] - x[5] * x[7], x[5] * x[6] - x[3] * x[8],
                        x[3] * x[7] - x[4] * x[6], x[2] * x[7] - x[1] * x[8],
                        x[0] * x[8] - x[2] * x[6], x[1] * x[6] - x[0] * x[7],
                        x[1] * x[5] - x[2] * x[4], x[2] * x[3] - x[0] * x[5],
                        x[0] * x[4] - x[1] * x[3] };
        double r = 0.5 / determinant3(x), change = 0;
        for (int k = 0; k < 9; k++) {
            double next = 0.5 * x[k] + r * c[k];
            change += fabs(next - x[k]);
            x[k] = next;
        }
        if (change < 1e-15) break;
    }
}

// Columns that vanished get a direction of their own, so that a scale of zero still leaves a
// rotation.
static void complete_columns(double x[9], const double scale[3])
{
    for (int c = 0; c < 3; c++) {
        if (scale[c] != 0) continue;
        int a = (c + 1) % 3, b = (c + 2) % 3;
        if (scale[a] != 0 && scale[b] != 0) {
            for (int k = 0; k < 3; k++) {
                int i = (k + 1) % 3, j = (k + 2) % 3;
                x[3 * k + c] = x[3 * i + a] * x[3 * j + b] - x[3 * j + a] * x[3 * i + b];
            }
            continue;
        }
        // One column at most is left: without a second direction the identity is as good as any
        // rotation.
        for (int k = 0; k < 9; k++) x[k] = k % 4 == 0;
        return;
    }
}

cutis_transform cutis_transform_from_mat34(const cutis_mat34 *matrix)
{
    if (!matrix) return cutis_transform_identity();
    const float *m = matrix->m;
    double x[9] = { m[0], m[1], m[2], m[4], m[5], m[6], m[8], m[9], m[10] }, scale[3];
    for (int c = 0; c < 3; c++) {
        scale[c] = sqrt(x[c] * x[c] + x[3 + c] * x[3 + c] + x[6 + c] * x[6 + c]);
        for (int k = 0; k < 3 && scale[c] > 0; k++) x[3 * k + c] /= scale[c];
    }
    complete_columns(x, scale);
    if (determinant3(x) < 0) { // a mirror: negate the first axis
        scale[0] = -scale[0];
        for (int k = 0; k < 3; k++) x[3 * k] = -x[3 * k];
    }
    if (determinant3(x) > 1e-12)
        nearest_rotation(x);
    else
        for (int k = 0; k < 9; k++) x[k] = k % 4 == 0;
    cutis_transform out = { { m[3], m[7], m[11] }, quat_from_rotation(x), { 0, 0, 0 } };
    // With the rotation fixed, the scale that comes closest is each column's component along its
    // axis.
    const float *columns[3] = { m, m + 1, m + 2 };
    float *s[3] = { &out.scale.x, &out.scale.y, &out.scale.z };
    for (int c = 0; c < 3; c++)
        *s[c] = (float)(columns[c][0] * x[c] + columns[c][4] * x[3 + c] + columns[c][8] * x[6 + c]);
    return out;
}

cutis_float3 cutis_mat34_point(const cutis_mat34 *matrix, cutis_float3 p)
{
    if (!matrix) return p;
    const float *m = matrix->m;
    return (cutis_float3){
        (float)((double)m[0] * p.x + (double)m[1] * p.y + (double)m[2] * p.z + m[3]),
        (float)((double)m[4] * p.x + (double)m[5] * p.y + (double)m[6] * p.z + m[7]),
        (float)((double)m[8] * p.x + (double)m[9] * p.y + (double)m[10] * p.z + m[11])
    };
}
