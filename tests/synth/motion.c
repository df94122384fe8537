/// Reference sampling and skinning for the tests: glTF 2.0's definitions in double, no sharing with
/// the library.
#include "motion.h"

static affine compose(const double *t, const double *q, const double *s)
{
    double x = q[0], y = q[1], z = q[2], w = q[3];
    affine a = { { (1 - 2 * (y * y + z * z)) * s[0], 2 * (x * y - z * w) * s[1],
                   2 * (x * z + y * w) * s[2], t[0], 2 * (x * y + z * w) * s[0],
                   (1 - 2 * (x * x + z * z)) * s[1], 2 * (y * z - x * w) * s[2], t[1],
                   2 * (x * z - y * w) * s[0], 2 * (y * z + x * w) * s[1],
                   (1 - 2 * (x * x + y * y)) * s[2], t[2] } };
    return a;
}

static affine multiply(affine a, affine b)
{
    affine r;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 4; j++) {
            r.m[4 * i + j] = j == 3 ? a.m[4 * i + 3] : 0;
            for (int k = 0; k < 3; k++) r.m[4 * i + j] += a.m[4 * i + k] * b.m[4 * k + j];
        }
    }
    return r;
}

static void normalise(double *q)
{
    double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    for (int k = 0; k < 4; k++) q[k] /= length;
}

static void slerp(const float *a, const float *b, double f, double *out)
{
    double p[4] = { a[0], a[1], a[2], a[3] }, q[4] = { b[0], b[1], b[2], b[3] };
    normalise(p);
    normalise(q);
    double c = p[0] * q[0] + p[1] * q[1] + p[2] * q[2] + p[3] * q[3], sign = c < 0 ? -1 : 1;
    double angle = acos(fmin(1, fabs(c)));
    double u = angle < 1e-6 ? 1 - f : sin((1 - f) * angle) / sin(angle);
    double v = angle < 1e-6 ? f : sin(f * angle) / sin(angle);
    for (int k = 0; k < 4; k++) out[k] = u * p[k] + sign * v * q[k];
}

void sample_channel(const cutis_channel *c, double time, double *out)
{
    uint32_t width = c->path == CUTIS_PATH_ROTATION ? 4 : 3, last = c->key_count - 1, i = 0;
    bool cubic = c->interpolation == CUTIS_INTERPOLATION_CUBIC;
    uint32_t stride = cubic ? 3 * width : width, skip = cubic ? width : 0;
    while (i < last && c->times[i + 1] <= time) i++;
    const float *p = c->values + (size_t)i * stride;
    for (uint32_t k = 0; k < width; k++) out[k] = p[skip + k];
    if (i < last && time > c->times[i]) {
        const float *q = p + stride;
        double span = (double)c->times[i + 1] - c->times[i], f = (time - c->times[i]) / span;
        double f2 = f * f, f3 = f2 * f;
        for (uint32_t k = 0; k < width; k++) {
            if (cubic)
                out[k] = (2 * f3 - 3 * f2 + 1) * p[width + k] +
                         span * (f3 - 2 * f2 + f) * p[2 * width + k] +
                         (3 * f2 - 2 * f3) * q[width + k] + span * (f3 - f2) * q[k];
            else
                out[k] = (1 - f) * p[k] + f * q[k];
        }
        if (width == 4 && !cubic) slerp(p, q, f, out);
    }
    if (width == 4) normalise(out);
}

void pose_nodes(const cutis_model_data *data, const cutis_clip *clip, double time, affine *world)
{
    for (uint32_t n = 0; n < data->node_count; n++) {
        const cutis_transform *r = &data->nodes[n].rest;
        double t[3] = { r->translation.x, r->translation.y, r->translation.z };
        double q[4] = { r->rotation.x, r->rotation.y, r->rotation.z, r->rotation.w };
        double s[3] = { r->scale.x, r->scale.y, r->scale.z };
        for (uint32_t i = 0; clip && i < clip->channel_count; i++) {
            const cutis_channel *c = &clip->channels[i];
            if (c->node != n) continue;
            sample_channel(c, time,
                           c->path == CUTIS_PATH_ROTATION ? q
                           : c->path == CUTIS_PATH_SCALE  ? s
                                                          : t);
        }
        affine local = compose(t, q, s);
        world[n] =
            data->nodes[n].parent < 0 ? local : multiply(world[data->nodes[n].parent], local);
    }
}

void blend_skin(const cutis_model_data *data, const affine *world, const double *offsets,
                double *positions)
{
    const cutis_primitive *p = data->meshes[0].primitives;
    const cutis_skin *skin = &data->skins[0];
    affine joints[128];
    for (uint32_t j = 0; j < skin->joint_count; j++) {
        affine bind;
        for (int k = 0; k < 12; k++) bind.m[k] = skin->inverse_binds[j].m[k];
        joints[j] = multiply(world[skin->joints[j]], bind);
    }
    for (uint32_t v = 0; v < p->vertex_count; v++) {
        double x[3], sum[3] = { 0 };
        for (size_t k = 0; k < 3; k++)
            x[k] = p->positions[3 * (size_t)v + k] + (offsets ? offsets[3 * (size_t)v + k] : 0);
        for (uint32_t i = p->influences.first[v]; i < p->influences.first[v + 1]; i++) {
            const double *m = joints[p->influences.joints[i]].m;
            for (int k = 0; k < 3; k++)
                sum[k] += p->influences.weights[i] * (m[4 * k] * x[0] + m[4 * k + 1] * x[1] +
                                                      m[4 * k + 2] * x[2] + m[4 * k + 3]);
        }
        memcpy(positions + 3 * (size_t)v, sum, sizeof sum);
    }
}
