/// The value of a transform channel by the formulas of glTF 2.0, appendix C, in double: what
/// samplers are compared with. Rotations come out unit, of either sign.
#ifndef CUTIS_TESTS_GLTF_SAMPLING_H
#define CUTIS_TESTS_GLTF_SAMPLING_H

#include "support.h"

static inline void gltf_sample(const cutis_channel *c, double t, double *out)
{
    uint32_t width = c->path == CUTIS_PATH_ROTATION ? 4 : 3, k = 0, last = c->key_count - 1;
    bool cubic = c->interpolation == CUTIS_INTERPOLATION_CUBIC;
    while (k < last && c->times[k + 1] <= t) k++;
    const float *v = c->values + (cubic ? 3 * width * k : width * k);
    const float *a = cubic ? v + width : v;
    double td = k < last ? (double)c->times[k + 1] - c->times[k] : 1;
    double u = (t - c->times[k]) / td;
    bool held = t <= c->times[0] || k == last || c->interpolation == CUTIS_INTERPOLATION_STEP;
    double p[4] = { 0 }, q[4] = { 0 }, np = 0, nq = 0, dot = 0;
    for (uint32_t i = 0; i < width; i++) p[i] = a[i], np += p[i] * p[i];
    for (uint32_t i = 0; i < width && !held; i++)
        q[i] = a[(cubic ? 3 * width : width) + i], nq += q[i] * q[i];
    // Keys that a file rounded are slerped as they are; those far from unit length are made unit
    // first.
    bool rounded = c->interpolation == CUTIS_INTERPOLATION_LINEAR;
    double length_p = rounded && fabs(np - 1) > 1e-5 && fabs(np - 1) < 0.02 ? 1 : sqrt(np);
    double length_q = rounded && fabs(nq - 1) > 1e-5 && fabs(nq - 1) < 0.02 ? 1 : sqrt(nq);
    if (c->path == CUTIS_PATH_ROTATION && !cubic)
        for (uint32_t i = 0; i < width; i++) {
            p[i] /= length_p;
            if (!held) q[i] /= length_q, dot += p[i] * q[i];
        }
    double angle = acos(fmin(fabs(dot), 1)), sign = dot < 0 ? -1 : 1;
    for (uint32_t i = 0; i < width; i++) {
        if (held)
            out[i] = p[i];
        else if (cubic)
            out[i] = (2 * u * u * u - 3 * u * u + 1) * p[i] +
                     td * (u * u * u - 2 * u * u + u) * v[2 * width + i] +
                     (-2 * u * u * u + 3 * u * u) * q[i] +
                     td * (u * u * u - u * u) * v[3 * width + i];
        else if (c->path == CUTIS_PATH_ROTATION && angle > 1e-6)
            out[i] = sin(angle * (1 - u)) / sin(angle) * p[i] +
                     sign * sin(angle * u) / sin(angle) * q[i];
        else
            out[i] = (1 - u) * p[i] + u * (c->path == CUTIS_PATH_ROTATION ? sign : 1) * q[i];
    }
    double norm = 0;
    for (uint32_t i = 0; i < width; i++) norm += out[i] * out[i];
    for (uint32_t i = 0; i < 4 && c->path == CUTIS_PATH_ROTATION; i++) out[i] /= sqrt(norm);
}

#endif
