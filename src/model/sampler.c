// Sampling clips: allocates nothing, writes only the caller's pose.
//
// Slerp without trigonometry: with Z = angle^2 and S(z) = sin(sqrt z) / sqrt z, the weights are
// (1-u) S((1-u)^2 Z) / S(Z) and u S(u^2 Z) / S(Z). Z and 1 / S(Z) come with the keys; S is a
// polynomial. So a pose has the same bits on every machine. A channel's arithmetic is the same in
// every lane, in wide and narrow batches, so its bits do not depend on its neighbours either.
#include "model/sampler.h"

#include <math.h>
#include <string.h>

#include "model/lanes.h"

// S on [0, (pi/2)^2], minimax with S(0) = 1: 5e-9, below the rounding of the float evaluation
// (8e-8).
static inline lanes sine_ratio(lanes z)
{
    lanes s = lanes_all(2.608918e-06f) * z + lanes_all(-0.00019811107f);
    s = s * z + lanes_all(0.008333088f);
    s = s * z + lanes_all(-0.1666666f);
    return s * z + lanes_all(1);
}

typedef struct {
    uint32_t key, next; // equal outside the keys
    float u, step;      // 0..1 between them; seconds between them
} moment;

static moment locate(const cutis_run *r, float seconds)
{
    const float *times = r->times;
    uint32_t last = r->key_count - 1;
    if (!(seconds > times[0])) return (moment){ 0, 0, 0, 0 };
    if (seconds >= times[last]) return (moment){ last, last, 0, 0 };
    uint32_t bin = cutis_run_bin(r, seconds);
    // The bin function ascends with time, so the key before `seconds` is among those of its bin or
    // the last one before.
    uint32_t low = r->bins[bin] ? r->bins[bin] - 1 : 0, high = r->bins[bin + 1];
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (times[middle] <= seconds)
            low = middle;
        else
            high = middle;
    }
    float step = times[low + 1] - times[low];
    return (moment){ low, low + 1, (seconds - times[low]) / step, step };
}

// The Hermite basis of glTF: value, out-tangent, next value, next in-tangent.
static void hermite(moment at, float basis[4])
{
    float u = at.u, u2 = u * u, u3 = u2 * u;
    basis[0] = 2 * u3 - 3 * u2 + 1;
    basis[1] = (u3 - 2 * u2 + u) * at.step;
    basis[2] = 3 * u2 - 2 * u3;
    basis[3] = (u3 - u2) * at.step;
}

// Everything below is inlined with constant `interpolation`, `width` and `place`, so that the
// vectors stay in registers.
#define INLINE static inline __attribute__((always_inline))

// Components of four lanes at a moment. Keys are [component][lane], or [in, value, out][component]
// [lane] if cubic.
INLINE void interpolate(const float *key, const float *next, moment at,
                        cutis_interpolation interpolation, int width, lanes *out)
{
    lanes u = lanes_all(at.u), v = lanes_all(1 - at.u);
    float h[4];
    if (interpolation == CUTIS_INTERPOLATION_CUBIC) hermite(at, h);
    LANES_UNROLL
    for (int c = 0; c < width; c++) {
        if (interpolation == CUTIS_INTERPOLATION_CUBIC) {
            lanes value = lanes_all(h[0]) * lanes_load(key + 4 * (width + c));
            value += lanes_all(h[1]) * lanes_load(key + 4 * (2 * width + c));
            value += lanes_all(h[2]) * lanes_load(next + 4 * (width + c));
            out[c] = value + lanes_all(h[3]) * lanes_load(next + 4 * c);
        } else if (interpolation == CUTIS_INTERPOLATION_STEP) {
            out[c] = lanes_load(key + 4 * c);
        } else {
            out[c] = v * lanes_load(key + 4 * c) + u * lanes_load(next + 4 * c);
        }
    }
}

INLINE void store_lanes(const cutis_batch *b, int place, lanes v0, lanes v1, lanes v2, lanes v3,
                        cutis_transform *transforms)
{
    lanes_transpose(&v0, &v1, &v2, &v3);
    lanes_store((float *)(void *)&transforms[b->nodes[0]] + place, v0);
    lanes_store((float *)(void *)&transforms[b->nodes[1]] + place, v1);
    lanes_store((float *)(void *)&transforms[b->nodes[2]] + place, v2);
    lanes_store((float *)(void *)&transforms[b->nodes[3]] + place, v3);
}

// Translations and scales. The fourth float of a store falls on the rotation, which comes later.
INLINE void sample_vectors(const cutis_run *r, moment at, cutis_interpolation interpolation,
                           int place, cutis_transform *transforms)
{
    for (uint32_t i = 0; i < r->batch_count; i++) {
        const cutis_batch *b = &r->batches[i];
        lanes v[3];
        interpolate(b->keys + (size_t)at.key * r->stride, b->keys + (size_t)at.next * r->stride, at,
                    interpolation, 3, v);
        if (place == TRANSFORM_TRANSLATION)
            store_lanes(b, place, v[0], v[1], v[2], v[2], transforms);
        else
            store_lanes(b, place, v[0], v[0], v[1], v[2], transforms);
    }
}

INLINE void slerp4(const float *key, const float *next, moment at, lanes *q)
{
    lanes u = lanes_all(at.u), v = lanes_all(1 - at.u);
    lanes z = lanes_load(key + 16), inverse = lanes_load(key + 20);
    lanes a = v * inverse * sine_ratio(v * v * z), c = u * inverse * sine_ratio(u * u * z);
    LANES_UNROLL
    for (int k = 0; k < 4; k++) q[k] = a * lanes_load(key + 4 * k) + c * lanes_load(next + 4 * k);
}

INLINE void normalise4(const float *key, lanes *q)
{
    lanes square = ((q[0] * q[0] + q[1] * q[1]) + q[2] * q[2]) + q[3] * q[3];
    lanes scale = lanes_all(1) / lanes_sqrt(square);
    lanes_int fine = square > 1e-12f; // opposite keys may cancel: then the key before stands
    LANES_UNROLL
    for (int k = 0; k < 4; k++)
        q[k] = lanes_select(fine, q[k] * scale, lanes_load(key + 4 * (4 + k)));
}

// Between keys of other than unit length, slerp gives one of other than unit length.
INLINE void tighten4(const cutis_batch *b, lanes *q)
{
    lanes_int loose;
    memcpy(&loose, b->loose_lanes, sizeof loose);
    lanes square = ((q[0] * q[0] + q[1] * q[1]) + q[2] * q[2]) + q[3] * q[3];
    lanes scale = lanes_select(loose, lanes_all(1) / lanes_sqrt(square), lanes_all(1));
    LANES_UNROLL
    for (int k = 0; k < 4; k++) q[k] = q[k] * scale;
}

INLINE void sample_rotations(const cutis_run *r, moment at, cutis_interpolation interpolation,
                             cutis_transform *transforms)
{
    for (uint32_t i = 0; i < r->batch_count; i++) {
        const cutis_batch *b = &r->batches[i];
        const float *key = b->keys + (size_t)at.key * r->stride;
        const float *next = b->keys + (size_t)at.next * r->stride;
        lanes q[4];
        if (interpolation == CUTIS_INTERPOLATION_LINEAR)
            slerp4(key, next, at, q);
        else
            interpolate(key, next, at, interpolation, 4, q);
        if (interpolation == CUTIS_INTERPOLATION_CUBIC) normalise4(key, q);
        if (b->loose) tighten4(b, q);
        store_lanes(b, TRANSFORM_ROTATION, q[0], q[1], q[2], q[3], transforms);
    }
}

// One channel: the vector is its components.
INLINE lanes interpolate_narrow(const float *key, const float *next, moment at,
                                cutis_interpolation interpolation)
{
    if (interpolation == CUTIS_INTERPOLATION_STEP) return lanes_load(key);
    if (interpolation == CUTIS_INTERPOLATION_LINEAR)
        return lanes_all(1 - at.u) * lanes_load(key) + lanes_all(at.u) * lanes_load(next);
    float h[4];
    hermite(at, h);
    lanes value = lanes_all(h[0]) * lanes_load(key + 4) + lanes_all(h[1]) * lanes_load(key + 8);
    value += lanes_all(h[2]) * lanes_load(next + 4);
    return value + lanes_all(h[3]) * lanes_load(next);
}

INLINE lanes slerp_narrow(const float *key, const float *next, moment at)
{
    float u = at.u, v = 1 - at.u;
    lanes vu = { v, u, v, u }, z = lanes_all(key[4]), inverse = lanes_all(key[5]);
    lanes weights = vu * inverse * sine_ratio(vu * vu * z);
    return LANES_SHUFFLE(weights, weights, 0, 0, 0, 0) * lanes_load(key) +
           LANES_SHUFFLE(weights, weights, 1, 1, 1, 1) * lanes_load(next);
}

INLINE lanes normalise_narrow(const float *key, lanes q, bool cubic)
{
    float square = ((q[0] * q[0] + q[1] * q[1]) + q[2] * q[2]) + q[3] * q[3];
    if (cubic && !(square > 1e-12f)) return lanes_load(key + 4);
    return q * lanes_all(1 / sqrtf(square));
}

INLINE void sample_narrow(const cutis_run *r, moment at, cutis_interpolation interpolation,
                          cutis_transform *transforms)
{
    const int place = r->path == CUTIS_PATH_TRANSLATION ? TRANSFORM_TRANSLATION
                      : r->path == CUTIS_PATH_SCALE     ? TRANSFORM_BEFORE_SCALE
                                                        : TRANSFORM_ROTATION;
    const bool rotation = r->path == CUTIS_PATH_ROTATION;
    const bool cubic = interpolation == CUTIS_INTERPOLATION_CUBIC;
    for (uint32_t i = 0; i < r->batch_count; i++) {
        const cutis_batch *b = &r->batches[i];
        const float *key = b->keys + (size_t)at.key * r->stride;
        const float *next = b->keys + (size_t)at.next * r->stride;
        lanes value = rotation && interpolation == CUTIS_INTERPOLATION_LINEAR
                          ? slerp_narrow(key, next, at)
                          : interpolate_narrow(key, next, at, interpolation);
        if (rotation && (cubic || b->loose)) value = normalise_narrow(key, value, cubic);
        lanes_store((float *)(void *)&transforms[b->nodes[0]] + place, value);
    }
}

#define DISPATCH(function, ...)                                                                    \
    do {                                                                                           \
        if (r->interpolation == CUTIS_INTERPOLATION_LINEAR)                                        \
            function(r, at, CUTIS_INTERPOLATION_LINEAR, __VA_ARGS__);                              \
        else if (r->interpolation == CUTIS_INTERPOLATION_STEP)                                     \
            function(r, at, CUTIS_INTERPOLATION_STEP, __VA_ARGS__);                                \
        else                                                                                       \
            function(r, at, CUTIS_INTERPOLATION_CUBIC, __VA_ARGS__);                               \
    } while (0)

static void sample_transforms(const cutis_run *r, moment at, cutis_transform *transforms)
{
    if (r->narrow)
        DISPATCH(sample_narrow, transforms);
    else if (r->path == CUTIS_PATH_TRANSLATION)
        DISPATCH(sample_vectors, TRANSFORM_TRANSLATION, transforms);
    else if (r->path == CUTIS_PATH_SCALE)
        DISPATCH(sample_vectors, TRANSFORM_BEFORE_SCALE, transforms);
    else
        DISPATCH(sample_rotations, transforms);
}

static void sample_weights(const cutis_run *r, moment at, float *morph_weights)
{
    float h[4];
    hermite(at, h);
    for (uint32_t i = 0; i < r->batch_count; i++) {
        const cutis_batch *b = &r->batches[i];
        const float *key = b->keys + (size_t)at.key * r->stride;
        const float *next = b->keys + (size_t)at.next * r->stride;
        float *out = morph_weights + b->nodes[0];
        uint32_t count = b->nodes[1];
        for (uint32_t k = 0; k < count; k++) {
            if (r->interpolation == CUTIS_INTERPOLATION_STEP)
                out[k] = key[k];
            else if (r->interpolation == CUTIS_INTERPOLATION_LINEAR)
                out[k] = (1 - at.u) * key[k] + at.u * next[k];
            else
                out[k] = ((h[0] * key[count + k] + h[1] * key[2 * (size_t)count + k]) +
                          h[2] * next[count + k]) +
                         h[3] * next[k];
        }
    }
}

void cutis_sampler_sample(const cutis_sampler *sampler, float seconds, cutis_transform *transforms,
                          float *morph_weights)
{
    if (!sampler || !transforms) return;
    if (sampler->node_count)
        memcpy(transforms, sampler->rest, sampler->node_count * sizeof *transforms);
    if (morph_weights && sampler->target_count)
        memcpy(morph_weights, sampler->rest_targets, sampler->target_count * sizeof *morph_weights);
    uint32_t i = 0;
    for (; i < sampler->run_first_rotation; i++)
        sample_transforms(&sampler->runs[i], locate(&sampler->runs[i], seconds), transforms);
    for (uint32_t k = 0; k < sampler->restore_count; k++)
        transforms[sampler->restore[k]].rotation = sampler->rest[sampler->restore[k]].rotation;
    for (; i < sampler->run_count; i++) {
        const cutis_run *r = &sampler->runs[i];
        if (r->path == CUTIS_PATH_ROTATION)
            sample_transforms(r, locate(r, seconds), transforms);
        else if (morph_weights)
            sample_weights(r, locate(r, seconds), morph_weights);
    }
}

float cutis_sampler_duration(const cutis_sampler *sampler)
{
    return sampler ? sampler->duration : 0;
}
