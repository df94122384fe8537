/// The filters of meshopt, in place on decoded attributes. Values that the specification leaves
/// open (a scale of zero, an exponent out of range) give any value, never undefined behaviour.
#include "io/gltf/meshopt.h"

#include "io/bytes.h"

#include <math.h>

/// Component `k` of an element of four, of one or two bytes each.
static int32_t get(const uint8_t *element, bool wide, int k)
{
    return wide ? (int16_t)cutis_load_u16(element + 2 * k) : (int8_t)element[k];
}

static void put(uint8_t *element, bool wide, int k, uint32_t value)
{
    element[wide ? 2 * k : k] = (uint8_t)value;
    if (wide) element[2 * k + 1] = (uint8_t)(value >> 8);
}

/// To the nearest, halves away from zero; what is no number, or outside, is 0.
static uint32_t nearest(float value)
{
    if (!(fabsf(value) < 65536.0f)) return 0;
    return (uint32_t)(int32_t)(value + (value < 0 ? -0.5f : 0.5f));
}

static void octahedral(uint8_t *e, bool wide)
{
    const float one = (float)get(e, wide, 2), most = wide ? 32767.0f : 127.0f;
    float x = (float)get(e, wide, 0) / one, y = (float)get(e, wide, 1) / one;
    const float z = 1.0f - fabsf(x) - fabsf(y), t = z < 0 ? z : 0.0f;
    x -= copysignf(t, x);
    y -= copysignf(t, y);
    const float scale = most / sqrtf(x * x + y * y + z * z);
    put(e, wide, 0, nearest(x * scale));
    put(e, wide, 1, nearest(y * scale));
    put(e, wide, 2, nearest(z * scale));
}

static void quaternion(uint8_t *e)
{
    const int32_t last = get(e, true, 3), largest = last & 3;
    const float scale = 0.70710678f / (float)(last | 3);
    float rest[3], square = 1;
    for (int k = 0; k < 3; k++) {
        rest[k] = (float)get(e, true, k) * scale;
        square -= rest[k] * rest[k];
    }
    for (int k = 0; k < 3; k++) put(e, true, (largest + 1 + k) & 3, nearest(rest[k] * 32767.0f));
    put(e, true, largest, nearest(square > 0 ? sqrtf(square) * 32767.0f : 0));
}

static void exponential(uint8_t *word)
{
    const uint32_t bits = cutis_load_u32(word);
    const int32_t mantissa = (int32_t)(bits << 8) >> 8;
    // A power of two is its exponent with 127 added; those the specification allows are in range.
    const uint32_t power = ((bits >> 24 ^ 0x80) - 0x80 + 127) << 23;
    float scale;
    memcpy(&scale, &power, sizeof scale);
    cutis_store_f32(word, scale * (float)mantissa);
}

/// Luma, two chromas, and an alpha whose highest bit says how many bits they all have.
static void color(uint8_t *e, bool wide)
{
    const uint32_t mask = wide ? 0xffff : 0xff, last = (uint32_t)get(e, wide, 3) & mask;
    const int32_t y = get(e, wide, 0) & (int32_t)mask, o = get(e, wide, 1), g = get(e, wide, 2);
    const uint32_t range = last ? (2u << (31 - __builtin_clz(last))) - 1 : 0;
    const uint32_t alpha = last & range >> 1;
    const float scale = (float)mask / (float)range;
    put(e, wide, 0, nearest((float)(y + o - g) * scale));
    put(e, wide, 1, nearest((float)(y + g) * scale));
    put(e, wide, 2, nearest((float)(y - o - g) * scale));
    put(e, wide, 3, nearest((float)(alpha << 1 | (alpha & 1)) * scale));
}

void cutis_gltf_meshopt_filter(const gltf_meshopt *packed, uint8_t *data)
{
    const bool wide = packed->stride == 8;
    const size_t size = packed->count * packed->stride;
    for (size_t i = 0; i < size && packed->filter == MESHOPT_EXPONENTIAL; i += 4)
        exponential(data + i);
    for (size_t i = 0; i < size && packed->filter == MESHOPT_QUATERNION; i += 8)
        quaternion(data + i);
    for (size_t i = 0; i < size && packed->filter == MESHOPT_OCTAHEDRAL; i += packed->stride)
        octahedral(data + i, wide);
    for (size_t i = 0; i < size && packed->filter == MESHOPT_COLOR; i += packed->stride)
        color(data + i, wide);
}
