/// Clips on a device: a channel's value at a time, and blends of poses. The arithmetic of
/// model/sampler.c and model/pose.c, one channel and one node at a time; concatenated after item.h.
/// Invariant: their bits. Divisions and roots of floats go through double, which rounds them
/// right.
#ifndef CUTIS_KERNEL_CROWD_CLIP_H
#define CUTIS_KERNEL_CROWD_CLIP_H

#include "crowd_arguments.h"
#include "crowd_time.h"

STRUCT(crowd_moment)
{
    int key, next; // equal outside the keys
    float u, step; // 0..1 between them; seconds between them
};

#if defined(KERNEL_OPENCL)
#define CROWD_FLOAT(i) as_float(i)
#elif defined(KERNEL_CUDA)
#define CROWD_FLOAT(i) __int_as_float(i)
#else
FN float crowd_float(int i)
{
    union {
        int i;
        float f;
    } u = { i };
    return u.f;
}
#define CROWD_FLOAT(i) crowd_float(i)
#endif

FN float crowd_ratio(float a, float b)
{
    return (float)((double)a / (double)b);
}

FN float crowd_inverse_root(float a)
{
    return crowd_ratio(1.0f, (float)ROOT(a));
}

FN crowd_moment crowd_locate(GLOBAL const int *channel, GLOBAL const int *index,
                             GLOBAL const float *floats, float seconds)
{
    GLOBAL const float *times = floats + channel[3];
    GLOBAL const int *bins = index + channel[4];
    int last = channel[2] - 1, bin_count = channel[5];
    crowd_moment at = { 0, 0, 0.0f, 0.0f };
    if (!(seconds > times[0])) return at;
    if (seconds >= times[last]) {
        at.key = at.next = last;
        return at;
    }
    float place = (seconds - times[0]) * CROWD_FLOAT(channel[6]);
    int bin = place < (float)bin_count ? (int)place : bin_count - 1;
    int low = bins[bin] ? bins[bin] - 1 : 0, high = bins[bin + 1];
    while (high - low > 1) {
        int middle = low + (high - low) / 2;
        if (times[middle] <= seconds)
            low = middle;
        else
            high = middle;
    }
    at.key = low;
    at.next = low + 1;
    at.step = times[low + 1] - times[low];
    at.u = crowd_ratio(seconds - times[low], at.step);
    return at;
}

FN float crowd_sine_ratio(float z)
{
    float s = 2.608918e-06f * z + -0.00019811107f;
    s = s * z + 0.008333088f;
    s = s * z + -0.1666666f;
    return s * z + 1.0f;
}

/// Between keys of a cubic channel: value, out-tangent, next value, next in-tangent.
FN float crowd_hermite(crowd_moment at, float value, float tangent, float next, float next_tangent)
{
    float u = at.u, u2 = u * u, u3 = u2 * u;
    float sum = (2.0f * u3 - 3.0f * u2 + 1.0f) * value;
    sum = sum + ((u3 - 2.0f * u2 + u) * at.step) * tangent;
    sum = sum + (3.0f * u2 - 2.0f * u3) * next;
    return sum + ((u3 - u2) * at.step) * next_tangent;
}

/// Component c of a value that is not slerped. Keys of cubic channels: in-tangent, value,
/// out-tangent.
FN float crowd_mixed(GLOBAL const float *key, GLOBAL const float *next, crowd_moment at, int kind,
                     int width, int c)
{
    if (kind & CROWD_STEP) return key[c];
    if (!(kind & CROWD_CUBIC)) return (1.0f - at.u) * key[c] + at.u * next[c];
    return crowd_hermite(at, key[width + c], key[2 * width + c], next[width + c], next[c]);
}

/// A whole number of 16 bits: the high or the low half of a word.
FN double crowd_steps(int pair, int high)
{
    int low = (int)((unsigned)pair << 16);
    return (double)((high ? pair : low) >> 16);
}

FN float crowd_component(GLOBAL const int *words, int c)
{
    return (float)(crowd_steps(words[c / 2], c % 2) / 32767.0);
}

FN float crowd_tangent(GLOBAL const int *words, int c, float unit)
{
    return (float)(crowd_steps(words[c / 2], c % 2) * (double)unit);
}

STRUCT(crowd_key)
{
    float q[4], z, inverse; // z: angle^2 to the next key; 1 / S(z)
};

/// A rotation key of 16 bits, as model/sampler_create.c makes the same from floats: unit, unless it
/// is off by more than rounding.
FN crowd_key crowd_unpacked(GLOBAL const int *words)
{
    crowd_key k;
    double square = 0.0, off, scale, sum = 1.0;
    k.z = CROWD_FLOAT(words[2]);
    for (int c = 0; c < 4; c++) {
        k.q[c] = crowd_component(words, c);
        square += (double)k.q[c] * (double)k.q[c];
    }
    off = square < 1.0 ? 1.0 - square : square - 1.0;
    scale = off > 1e-5 && off < 0.02 ? 1.0 : 1.0 / ROOT(square);
    for (int c = 0; c < 4; c++) k.q[c] = (float)((double)k.q[c] * scale);
    for (int n = 12; n >= 1; n--)
        sum = 1.0 - sum * (double)k.z / (2.0 * (double)n * (2.0 * (double)n + 1.0));
    k.inverse = (float)(1.0 / sum);
    return k;
}

FN crowd_key crowd_rotation_key(GLOBAL const float *floats)
{
    crowd_key k;
    for (int c = 0; c < 4; c++) k.q[c] = floats[c];
    k.z = floats[4];
    k.inverse = floats[5];
    return k;
}

/// A channel's value at a time, into a pose.
FN void crowd_sample(GLOBAL const int *channel, GLOBAL const int *index, GLOBAL const float *floats,
                     float seconds, GLOBAL float *pose)
{
    crowd_moment at = crowd_locate(channel, index, floats, seconds);
    int kind = channel[1], width = channel[8];
    int slerps = (kind & CROWD_PATH) == 1 && !(kind & (CROWD_STEP | CROWD_CUBIC));
    int stride = slerps ? 6 : kind & CROWD_CUBIC ? 3 * width : width;
    GLOBAL const float *key = floats + channel[7] + (INDEX)at.key * stride;
    GLOBAL const float *next = floats + channel[7] + (INDEX)at.next * stride;
    GLOBAL const int *packed = index + channel[7];
    GLOBAL float *to = pose + channel[0];
    if ((kind & CROWD_PATH) != 1) {
        for (int c = 0; c < width; c++) to[c] = crowd_mixed(key, next, at, kind, width, c);
    } else {
        float q[4], stands[4] = { 0.0f, 0.0f, 0.0f, 0.0f }, scale = 1.0f;
        if (slerps) {
            crowd_key x, y;
            if (kind & CROWD_PACKED) {
                x = crowd_unpacked(packed + (INDEX)at.key * CROWD_PACKED_WORDS);
                y = crowd_unpacked(packed + (INDEX)at.next * CROWD_PACKED_WORDS);
            } else {
                x = crowd_rotation_key(key);
                y = crowd_rotation_key(next);
            }
            float u = at.u, v = 1.0f - at.u;
            float a = v * x.inverse * crowd_sine_ratio(v * v * x.z);
            float b = u * x.inverse * crowd_sine_ratio(u * u * x.z);
            for (int c = 0; c < 4; c++) q[c] = a * x.q[c] + b * y.q[c];
        } else if (kind & CROWD_PACKED) {
            GLOBAL const int *from = packed + (INDEX)at.key * CROWD_PACKED_CUBIC_WORDS;
            GLOBAL const int *till = packed + (INDEX)at.next * CROWD_PACKED_CUBIC_WORDS;
            float unit = CROWD_FLOAT(channel[9]);
            for (int c = 0; c < 4; c++) {
                stands[c] = crowd_component(from, 4 + c);
                q[c] = crowd_hermite(at, stands[c], crowd_tangent(from, 8 + c, unit),
                                     crowd_component(till, 4 + c), crowd_tangent(till, c, unit));
            }
        } else {
            for (int c = 0; c < 4; c++) {
                q[c] = crowd_mixed(key, next, at, kind, 4, c);
                if (kind & CROWD_CUBIC) stands[c] = key[4 + c];
            }
        }
        float square = ((q[0] * q[0] + q[1] * q[1]) + q[2] * q[2]) + q[3] * q[3];
        if (kind & (CROWD_CUBIC | CROWD_LOOSE)) scale = crowd_inverse_root(square);
        // Opposite keys may cancel: then the key before stands.
        int fine = !(kind & CROWD_CUBIC) || square > 1e-12f;
        for (int c = 0; c < 4; c++) to[c] = fine ? q[c] * scale : stands[c];
    }
}

/// Node's transform (10 floats) of `over` blended over that of `pose`.
FN void crowd_blend(GLOBAL float *pose, GLOBAL const float *over, float weight)
{
    float w = weight, v = 1.0f - weight, q[4];
    for (int c = 0; c < 10; c++)
        if (c < 3 || c > 6) pose[c] = v * pose[c] + w * over[c];
    float dot = ((pose[3] * over[3] + pose[4] * over[4]) + pose[5] * over[5]) + pose[6] * over[6];
    float near = dot < 0.0f ? -w : w;
    for (int c = 0; c < 4; c++) q[c] = v * pose[3 + c] + near * over[3 + c];
    float square = ((q[0] * q[0] + q[1] * q[1]) + q[2] * q[2]) + q[3] * q[3];
    float scale = square > 1e-30f ? crowd_inverse_root(square) : 1.0f;
    for (int c = 0; c < 4; c++) pose[3 + c] = q[c] * scale;
}

#endif
