/// Four floats at once, by the vector types of gcc and clang: SSE, NEON and WebAssembly come out of
/// the same text, and a machine without any of them gets plain code with the same results. Only
/// operations that IEEE 754 rounds correctly are used, never fma, so the bits are the same
/// everywhere.
#ifndef CUTIS_MODEL_LANES_H
#define CUTIS_MODEL_LANES_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#if defined(__SSE__)
#include <xmmintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

typedef float lanes __attribute__((vector_size(16)));
typedef int32_t lanes_int __attribute__((vector_size(16)));

#if defined(__clang__) || __GNUC__ >= 12
#define LANES_SHUFFLE(a, b, i, j, k, l) __builtin_shufflevector((a), (b), i, j, k, l)
#else
#define LANES_SHUFFLE(a, b, i, j, k, l) __builtin_shuffle((a), (b), (lanes_int){ i, j, k, l })
#endif

/// Before a loop over four lanes: arrays of vectors stay in registers only if it is unrolled, which
/// clang does by itself and gcc at -O2 does not.
#if defined(__GNUC__) && !defined(__clang__)
#define LANES_UNROLL _Pragma("GCC unroll 4")
#else
#define LANES_UNROLL
#endif

static inline lanes lanes_load(const float *p)
{
    lanes v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline void lanes_store(float *p, lanes v)
{
    memcpy(p, &v, sizeof v);
}

static inline lanes lanes_all(float x)
{
    return (lanes){ x, x, x, x };
}

static inline lanes lanes_select(lanes_int mask, lanes yes, lanes no)
{
    return (lanes)(((lanes_int)yes & mask) | ((lanes_int)no & ~mask));
}

static inline lanes lanes_sqrt(lanes v)
{
#if defined(__SSE__)
    return (lanes)_mm_sqrt_ps((__m128)v);
#elif defined(__aarch64__)
    return (lanes)vsqrtq_f32((float32x4_t)v);
#else
    return (lanes){ sqrtf(v[0]), sqrtf(v[1]), sqrtf(v[2]), sqrtf(v[3]) };
#endif
}

/// Rows become columns.
static inline void lanes_transpose(lanes *a, lanes *b, lanes *c, lanes *d)
{
    lanes ab_low = LANES_SHUFFLE(*a, *b, 0, 4, 1, 5), ab_high = LANES_SHUFFLE(*a, *b, 2, 6, 3, 7);
    lanes cd_low = LANES_SHUFFLE(*c, *d, 0, 4, 1, 5), cd_high = LANES_SHUFFLE(*c, *d, 2, 6, 3, 7);
    *a = LANES_SHUFFLE(ab_low, cd_low, 0, 1, 4, 5);
    *b = LANES_SHUFFLE(ab_low, cd_low, 2, 3, 6, 7);
    *c = LANES_SHUFFLE(ab_high, cd_high, 0, 1, 4, 5);
    *d = LANES_SHUFFLE(ab_high, cd_high, 2, 3, 6, 7);
}

// A transform is ten floats: translation 0..2, rotation 3..6, scale 7..9. Loads and stores of four
// floats overlap: what is stored at 0 spills over rotation.x, what is stored at 6 over rotation.w,
// so the rotation goes last.
enum { TRANSFORM_TRANSLATION = 0, TRANSFORM_ROTATION = 3, TRANSFORM_BEFORE_SCALE = 6 };

#endif
