/// Moving vertices between lanes and memory: runs of consecutive vertices, scattered ones, gathered
/// centres. Included by skin_schedule.h for every KERNEL_LANES; everything is static.
///
/// Invariant: memory of a vertex that is not in the lanes is never written, not even with its own
/// value: another thread may be writing it.
#ifndef CUTIS_DEVICE_CPU_LANES_H
#define CUTIS_DEVICE_CPU_LANES_H

#include <stdint.h>
#include <string.h>

#if KERNEL_LANES > 1

// Where lane l of an output vector comes from, for __builtin_shufflevector(a, b, ...). RUN: x y z x
// y z ... of KERNEL_LANES vertices, in three vectors; x and y are merged first, then z. PAIR, HALF:
// 4 x 4 transposes.
// clang-format off
#if KERNEL_LANES == 4
#define RUN_XY0 0, 4, 0, 1
#define RUN_Z0 0, 1, 4, 3
#define RUN_XY1 5, 0, 2, 6
#define RUN_Z1 0, 5, 2, 3
#define RUN_XY2 0, 3, 7, 0
#define RUN_Z2 6, 1, 2, 7
#define PAIR_LOW 0, 4, 1, 5
#define PAIR_HIGH 2, 6, 3, 7
#define HALF_LOW 0, 1, 4, 5
#define HALF_HIGH 2, 3, 6, 7
#elif KERNEL_LANES == 8
#define RUN_XY0 0, 8, 0, 1, 9, 0, 2, 10
#define RUN_Z0 0, 1, 8, 3, 4, 9, 6, 7
#define RUN_XY1 0, 3, 11, 0, 4, 12, 0, 5
#define RUN_Z1 10, 1, 2, 11, 4, 5, 12, 7
#define RUN_XY2 13, 0, 6, 14, 0, 7, 15, 0
#define RUN_Z2 0, 13, 2, 3, 14, 5, 6, 15
#define PAIR_LOW 0, 8, 1, 9, 4, 12, 5, 13
#define PAIR_HIGH 2, 10, 3, 11, 6, 14, 7, 15
#define HALF_LOW 0, 1, 8, 9, 4, 5, 12, 13
#define HALF_HIGH 2, 3, 10, 11, 6, 7, 14, 15
#elif KERNEL_LANES == 16
#define RUN_XY0 0, 16, 0, 1, 17, 0, 2, 18, 0, 3, 19, 0, 4, 20, 0, 5
#define RUN_Z0 0, 1, 16, 3, 4, 17, 6, 7, 18, 9, 10, 19, 12, 13, 20, 15
#define RUN_XY1 21, 0, 6, 22, 0, 7, 23, 0, 8, 24, 0, 9, 25, 0, 10, 26
#define RUN_Z1 0, 21, 2, 3, 22, 5, 6, 23, 8, 9, 24, 11, 12, 25, 14, 15
#define RUN_XY2 0, 11, 27, 0, 12, 28, 0, 13, 29, 0, 14, 30, 0, 15, 31, 0
#define RUN_Z2 26, 1, 2, 27, 4, 5, 28, 7, 8, 29, 10, 11, 30, 13, 14, 31
#define PAIR_LOW 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29
#define PAIR_HIGH 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31
#define HALF_LOW 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29
#define HALF_HIGH 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31
#endif
// clang-format on

#if KERNEL_LANES == 16
typedef float kernel_half __attribute__((vector_size(32)));
#endif

#define SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)

#if KERNEL_LANES == 16 && defined(__AVX512F__)
#define STREAM(p, v) _mm512_stream_ps(p, (__m512)(v))
#elif KERNEL_LANES == 8 && defined(__AVX__)
#define STREAM(p, v) _mm256_stream_ps(p, (__m256)(v))
#elif KERNEL_LANES == 4 && defined(__SSE2__)
#define STREAM(p, v) _mm_stream_ps(p, (__m128)(v))
#else
#define STREAM(p, v) STORE(p, v)
#endif
#if defined(__SSE2__)
#define STREAM_END() _mm_sfence()
#else
#define STREAM_END() ((void)0)
#endif

// KERNEL_LANES consecutive vertices at `out`, tightly packed.
FN void store_run(float *out, real3 v, bool stream)
{
    REAL a = SHUFFLE(SHUFFLE(v.x, v.y, RUN_XY0), v.z, RUN_Z0);
    REAL b = SHUFFLE(SHUFFLE(v.x, v.y, RUN_XY1), v.z, RUN_Z1);
    REAL c = SHUFFLE(SHUFFLE(v.x, v.y, RUN_XY2), v.z, RUN_Z2);
    if (stream && ((uintptr_t)out & (sizeof(REAL) - 1)) == 0) {
        STREAM(out, a);
        STREAM(out + KERNEL_LANES, b);
        STREAM(out + 2 * KERNEL_LANES, c);
    } else {
        STORE(out, a);
        STORE(out + KERNEL_LANES, b);
        STORE(out + 2 * KERNEL_LANES, c);
    }
}

// Scattered vertices of `size` bytes (12 or 16), through a small array of rows.
FN void store_scattered(char *out, uint32_t stride, const uint32_t *vertices, real3 v, REAL w,
                        size_t size)
{
    REAL xy = SHUFFLE(v.x, v.y, PAIR_LOW), zw = SHUFFLE(v.z, w, PAIR_LOW);
    REAL XY = SHUFFLE(v.x, v.y, PAIR_HIGH), ZW = SHUFFLE(v.z, w, PAIR_HIGH);
    float rows[4][KERNEL_LANES];
    STORE(rows[0], SHUFFLE(xy, zw, HALF_LOW));
    STORE(rows[1], SHUFFLE(xy, zw, HALF_HIGH));
    STORE(rows[2], SHUFFLE(XY, ZW, HALF_LOW));
    STORE(rows[3], SHUFFLE(XY, ZW, HALF_HIGH));
    for (uint32_t l = 0; l < KERNEL_LANES; l++) {
        if (vertices[l] != CUTIS_NO_VERTEX)
            memcpy(out + (uint64_t)vertices[l] * stride, &rows[l % 4][l / 4 * 4], size);
    }
}

// Rows of four floats, one per lane at table + 4 index: x, y, z of each.
typedef float row4 __attribute__((vector_size(16), aligned(4), may_alias));
typedef float row4_value __attribute__((vector_size(16)));

#define ROW(i) ((row4_value)(*(const row4 *)(table + 4 * (size_t)index[i])))
FN REAL gather_rows(const float *table, const uint32_t *index, int first)
{
#if KERNEL_LANES == 4
    return (REAL)ROW(first);
#elif KERNEL_LANES == 8
    return SHUFFLE(ROW(first), ROW(first + 4), 0, 1, 2, 3, 4, 5, 6, 7);
#else
    kernel_half low = SHUFFLE(ROW(first), ROW(first + 4), 0, 1, 2, 3, 4, 5, 6, 7);
    kernel_half high = SHUFFLE(ROW(first + 8), ROW(first + 12), 0, 1, 2, 3, 4, 5, 6, 7);
    return SHUFFLE(low, high, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
#endif
}

FN real3 gather_real3(const float *table, const uint32_t *index)
{
    REAL a = gather_rows(table, index, 0), b = gather_rows(table, index, 1);
    REAL c = gather_rows(table, index, 2), d = gather_rows(table, index, 3);
    REAL ab = SHUFFLE(a, b, PAIR_LOW), cd = SHUFFLE(c, d, PAIR_LOW);
    real3 r;
    r.x = SHUFFLE(ab, cd, HALF_LOW);
    r.y = SHUFFLE(ab, cd, HALF_HIGH);
    r.z = SHUFFLE(SHUFFLE(a, b, PAIR_HIGH), SHUFFLE(c, d, PAIR_HIGH), HALF_LOW);
    return r;
}

#else // one lane

#define STREAM_END() ((void)0)

FN void store_run(float *out, real3 v, bool stream)
{
    (void)stream;
    out[0] = v.x;
    out[1] = v.y;
    out[2] = v.z;
}

FN void store_scattered(char *out, uint32_t stride, const uint32_t *vertices, real3 v, REAL w,
                        size_t size)
{
    float row[4] = { v.x, v.y, v.z, w };
    memcpy(out + (uint64_t)vertices[0] * stride, row, size);
}

FN real3 gather_real3(const float *table, const uint32_t *index)
{
    const float *row = table + 4 * (size_t)index[0];
    return real3_make(row[0], row[1], row[2]);
}

#endif
#endif
