/// Are all of many floats finite? Read as integers, eight at a time: this runs over every pose of
/// every frame.
#ifndef CUTIS_DEFORM_FINITE_H
#define CUTIS_DEFORM_FINITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline bool floats_finite(const float *values, size_t count)
{
    typedef uint32_t word4 __attribute__((vector_size(16)));
    const word4 exponent = { 0x7f800000u, 0x7f800000u, 0x7f800000u, 0x7f800000u };
    word4 bad[2] = { { 0 }, { 0 } };
    size_t i = 0;
    for (; i + 8 <= count; i += 8) {
        word4 bits[2];
        memcpy(bits, values + i, sizeof bits);
        bad[0] |= (word4)((bits[0] & exponent) == exponent);
        bad[1] |= (word4)((bits[1] & exponent) == exponent);
    }
    for (; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, values + i, sizeof bits);
        bad[0][0] |= (bits & 0x7f800000u) == 0x7f800000u;
    }
    bad[0] |= bad[1];
    return !(bad[0][0] | bad[0][1] | bad[0][2] | bad[0][3]);
}

#endif
