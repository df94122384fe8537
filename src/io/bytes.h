/// Numbers in files, at any address. All formats here have the lowest byte first, as every machine
/// that Cutis runs on has it; so large arrays are read and written as they lie.
#ifndef CUTIS_IO_BYTES_H
#define CUTIS_IO_BYTES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "arrays of a file are taken as they lie; another order would turn them round");

static inline uint16_t cutis_load_u16(const void *data)
{
    const unsigned char *b = data;
    return (uint16_t)(b[0] | b[1] << 8);
}

static inline uint32_t cutis_load_u32(const void *data)
{
    const unsigned char *b = data;
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static inline uint64_t cutis_load_u64(const void *data)
{
    const unsigned char *b = data;
    return (uint64_t)cutis_load_u32(b) | (uint64_t)cutis_load_u32(b + 4) << 32;
}

static inline float cutis_load_f32(const void *data)
{
    uint32_t bits = cutis_load_u32(data);
    float value;
    memcpy(&value, &bits, 4);
    return value;
}

static inline double cutis_load_f64(const void *data)
{
    uint64_t bits = cutis_load_u64(data);
    double value;
    memcpy(&value, &bits, 8);
    return value;
}

/// A number of `width` bytes, 1 to 8: kind 'f' a float or double, 'i' with sign, else without.
static inline double cutis_load_number(const void *data, char kind, uint32_t width, bool big_endian)
{
    const unsigned char *at = data;
    unsigned char b[8] = { 0 };
    for (uint32_t i = 0; i < width; i++) b[i] = at[big_endian ? width - 1 - i : i];
    if (kind == 'f') return width == 4 ? (double)cutis_load_f32(b) : cutis_load_f64(b);
    uint64_t bits = cutis_load_u64(b);
    if (kind != 'i') return (double)bits;
    uint32_t shift = 64 - 8 * width;
    // The width is 1 to 8.
    return (double)((int64_t)(bits << shift) >> shift);
}

static inline void cutis_store_u32(void *data, uint32_t value)
{
    unsigned char *b = data;
    b[0] = (unsigned char)value;
    b[1] = (unsigned char)(value >> 8);
    b[2] = (unsigned char)(value >> 16);
    b[3] = (unsigned char)(value >> 24);
}

static inline void cutis_store_f32(void *data, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, 4);
    cutis_store_u32(data, bits);
}

#endif
