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
// 4 x 4 transposes; QUAD, OCTO: their groups of four one after the other.
// clang-format off
#if KERNEL_LANES == 4
#define EVEN_EVEN 0, 2, 4, 6
#define EVEN_ODD  0, 2, 5, 7
#define ODD_ODD   1, 3, 5, 7
#define PAIR_LOW  0, 4, 1, 5
#define PAIR_HIGH 2, 6, 3, 7
#define HALF_LOW  0, 1, 4, 5
#define HALF_HIGH 2, 3, 6, 7
#define HALF_ENDS 0, 1, 6, 7
#define HALF_JOIN 2, 3, 4, 5
#elif KERNEL_LANES == 8
#define EVEN_EVEN 0, 2, 8, 10, 4, 6, 12, 14
#define EVEN_ODD  0, 2, 9, 11, 4, 6, 13, 15
#define ODD_ODD   1, 3, 9, 11, 5, 7, 13, 15
#define PAIR_LOW  0, 8, 1, 9, 4, 12, 5, 13
#define PAIR_HIGH 2, 10, 3, 11, 6, 14, 7, 15
#define HALF_LOW  0, 1, 8, 9, 4, 5, 12, 13
#define HALF_HIGH 2, 3, 10, 11, 6, 7, 14, 15
#define HALF_ENDS 0, 1, 10, 11, 4, 5, 14, 15
#define HALF_JOIN 2, 3, 8, 9, 6, 7, 12, 13
#define QUAD_LOW  0, 1, 2, 3, 8, 9, 10, 11
#define QUAD_HIGH 4, 5, 6, 7, 12, 13, 14, 15
#elif KERNEL_LANES == 16
#define RUN_XY0 0, 16, 0, 1, 17, 0, 2, 18, 0, 3, 19, 0, 4, 20, 0, 5
#define RUN_Z0 0, 1, 16, 3, 4, 17, 6, 7, 18, 9, 10, 19, 12, 13, 20, 15
#define RUN_XY1 21, 0, 6, 22, 0, 7, 23, 0, 8, 24, 0, 9, 25, 0, 10, 26
#define RUN_Z1 0, 21, 2, 3, 22, 5, 6, 23, 8, 9, 24, 11, 12, 25, 14, 15
#define RUN_XY2 0, 11, 27, 0, 12, 28, 0, 13, 29, 0, 14, 30, 0, 15, 31, 0
#define RUN_Z2 26, 1, 2, 27, 4, 5, 28, 7, 8, 29, 10, 11, 30, 13, 14, 31
#define PAIR_LOW  0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29
#define PAIR_HIGH 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31
#define HALF_LOW  0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29
#define HALF_HIGH 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31
#define HALF_ENDS 0, 1, 18, 19, 4, 5, 22, 23, 8, 9, 26, 27, 12, 13, 30, 31
#define HALF_JOIN 2, 3, 16, 17, 6, 7, 20, 21, 10, 11, 24, 25, 14, 15, 28, 29
#define QUAD_LOW  0, 1, 2, 3, 16, 17, 18, 19, 4, 5, 6, 7, 20, 21, 22, 23
#define QUAD_HIGH 8, 9, 10, 11, 24, 25, 26, 27, 12, 13, 14, 15, 28, 29, 30, 31
#define OCTO_LOW  0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23
#define OCTO_HIGH 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31
#define OCTO_ENDS 0, 1, 2, 3, 4, 5, 6, 7, 24, 25, 26, 27, 28, 29, 30, 31
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

STRUCT(run3)
{
    REAL a, b, c;
};

// x y z x y z ... of all lanes.
FN run3 run_of(real3 v)
{
    run3 r;
#if KERNEL_LANES == 16
    r.a = SHUFFLE(SHUFFLE(v.x, v.y, RUN_XY0), v.z, RUN_Z0);
    r.b = SHUFFLE(SHUFFLE(v.x, v.y, RUN_XY1), v.z, RUN_Z1);
    r.c = SHUFFLE(SHUFFLE(v.x, v.y, RUN_XY2), v.z, RUN_Z2);
#else
    REAL xy = SHUFFLE(v.x, v.y, EVEN_EVEN), yz = SHUFFLE(v.y, v.z, ODD_ODD);
    REAL zx = SHUFFLE(v.z, v.x, EVEN_ODD);
    r.a = SHUFFLE(xy, zx, EVEN_EVEN); // of four lanes: x0 y0 z0 x1
    r.b = SHUFFLE(yz, xy, EVEN_ODD);  // y1 z1 x2 y2
    r.c = SHUFFLE(zx, yz, ODD_ODD);   // z2 x3 y3 z3
#if KERNEL_LANES == 8
    REAL a = r.a, b = r.b, c = r.c;
    r.a = SHUFFLE(a, b, 0, 1, 2, 3, 8, 9, 10, 11);
    r.b = SHUFFLE(c, a, 0, 1, 2, 3, 12, 13, 14, 15);
    r.c = SHUFFLE(b, c, 4, 5, 6, 7, 12, 13, 14, 15);
#endif
#endif
    return r;
}

#define ROW_OF(v, g) __builtin_shufflevector(v, v, 4 * g, 4 * g + 1, 4 * g + 2, 4 * g + 3)

// Past the cache at 16-byte places, which is what malloc gives; the machine joins them to lines.
FN void stream_rows(float *out, REAL v)
{
#if defined(__SSE2__)
    _mm_stream_ps(out, (__m128)ROW_OF(v, 0));
#if KERNEL_LANES >= 8
    _mm_stream_ps(out + 4, (__m128)ROW_OF(v, 1));
#endif
#if KERNEL_LANES >= 16
    _mm_stream_ps(out + 8, (__m128)ROW_OF(v, 2));
    _mm_stream_ps(out + 12, (__m128)ROW_OF(v, 3));
#endif
#else
    STORE(out, v);
#endif
}

// Three vectors, one after the other.
FN void store_three(float *out, REAL a, REAL b, REAL c, bool stream)
{
    if (!stream || ((uintptr_t)out & 15) != 0) {
        STORE(out, a);
        STORE(out + KERNEL_LANES, b);
        STORE(out + 2 * KERNEL_LANES, c);
    } else if (((uintptr_t)out & (sizeof(REAL) - 1)) == 0) {
        STREAM(out, a);
        STREAM(out + KERNEL_LANES, b);
        STREAM(out + 2 * KERNEL_LANES, c);
    } else {
        stream_rows(out, a);
        stream_rows(out + KERNEL_LANES, b);
        stream_rows(out + 2 * KERNEL_LANES, c);
    }
}

// KERNEL_LANES consecutive vertices at `out`, tightly packed.
FN void store_run(float *out, real3 v, bool stream)
{
    run3 r = run_of(v);
    store_three(out, r.a, r.b, r.c, stream);
}

typedef float row4 __attribute__((vector_size(16), aligned(4), may_alias));
typedef float row4_value __attribute__((vector_size(16)));

FN void store_row(char *at, row4_value r, const size_t size)
{
    if (size == 16) {
        *(row4 *)at = r;
        return;
    }
#if defined(__AVX512VL__)
    _mm_mask_storeu_ps(at, 7, (__m128)r);
#elif defined(__SSE2__)
    _mm_storel_pi((__m64 *)at, (__m128)r);
    _mm_store_ss((float *)(at + 8), _mm_movehl_ps((__m128)r, (__m128)r));
#else
    memcpy(at, &r, 12);
#endif
}

// Four vertices, one of every row vector: group g of the lanes.
#define STORE_GROUP(g)                                                                             \
    store_row(out + (uint64_t)vertices[4 * g] * stride, ROW_OF(a, g), size);                       \
    store_row(out + (uint64_t)vertices[4 * g + 1] * stride, ROW_OF(b, g), size);                   \
    store_row(out + (uint64_t)vertices[4 * g + 2] * stride, ROW_OF(c, g), size);                   \
    store_row(out + (uint64_t)vertices[4 * g + 3] * stride, ROW_OF(d, g), size)

// Scattered vertices of `size` bytes (12 or 16).
FN void store_rows(char *out, uint32_t stride, const uint32_t *vertices, REAL x, REAL y, REAL z,
                   REAL w, bool padded, const size_t size)
{
    REAL xy = SHUFFLE(x, y, PAIR_LOW), zw = SHUFFLE(z, w, PAIR_LOW);
    REAL XY = SHUFFLE(x, y, PAIR_HIGH), ZW = SHUFFLE(z, w, PAIR_HIGH);
    REAL a = SHUFFLE(xy, zw, HALF_LOW), b = SHUFFLE(xy, zw, HALF_HIGH);
    REAL c = SHUFFLE(XY, ZW, HALF_LOW), d = SHUFFLE(XY, ZW, HALF_HIGH);
    if (padded) {
        const REAL rows[4] = { a, b, c, d };
        for (uint32_t l = 0; l < KERNEL_LANES; l++)
            if (vertices[l] != CUTIS_NO_VERTEX)
                memcpy(out + (uint64_t)vertices[l] * stride,
                       (const char *)&rows[l % 4] + l / 4 * 16, size);
        return;
    }
    STORE_GROUP(0);
#if KERNEL_LANES >= 8
    STORE_GROUP(1);
#endif
#if KERNEL_LANES >= 16
    STORE_GROUP(2);
    STORE_GROUP(3);
#endif
}

// Not inlined: beside them, a loop that stores runs would lose its registers.
static __attribute__((noinline)) void store_scattered(char *out, uint32_t stride,
                                                      const uint32_t *vertices, REAL x, REAL y,
                                                      REAL z, bool padded)
{
    store_rows(out, stride, vertices, x, y, z, K(0.0), padded, 12);
}

static __attribute__((noinline)) void store_scattered4(char *out, uint32_t stride,
                                                       const uint32_t *vertices, REAL x, REAL y,
                                                       REAL z, REAL w, bool padded)
{
    store_rows(out, stride, vertices, x, y, z, w, padded, 16);
}

// Records: position and normal of a vertex side by side, 24 bytes. Those of four vertices, one of
// every group of four lanes, are six quads of floats: `first` of two of them, `second` of the
// others.
STRUCT(records)
{
    run3 first, second;
};

FN records records_of(real3 p, real3 n)
{
    REAL xy = SHUFFLE(p.x, p.y, PAIR_LOW), zx = SHUFFLE(p.z, n.x, PAIR_LOW);
    REAL XY = SHUFFLE(p.x, p.y, PAIR_HIGH), ZX = SHUFFLE(p.z, n.x, PAIR_HIGH);
    REAL yz = SHUFFLE(n.y, n.z, PAIR_LOW), YZ = SHUFFLE(n.y, n.z, PAIR_HIGH);
    records r;
    r.first.a = SHUFFLE(xy, zx, HALF_LOW);
    r.first.b = SHUFFLE(yz, xy, HALF_ENDS);
    r.first.c = SHUFFLE(zx, yz, HALF_HIGH);
    r.second.a = SHUFFLE(XY, ZX, HALF_LOW);
    r.second.b = SHUFFLE(YZ, XY, HALF_ENDS);
    r.second.c = SHUFFLE(ZX, YZ, HALF_HIGH);
    return r;
}

// Of KERNEL_LANES consecutive vertices at `out`.
FN void store_record_run(float *out, records r, bool stream)
{
#if KERNEL_LANES >= 8
    REAL a = SHUFFLE(r.first.a, r.first.b, QUAD_LOW), A = SHUFFLE(r.first.a, r.first.b, QUAD_HIGH);
    REAL b = SHUFFLE(r.first.c, r.second.a, QUAD_LOW);
    REAL B = SHUFFLE(r.first.c, r.second.a, QUAD_HIGH);
    REAL c = SHUFFLE(r.second.b, r.second.c, QUAD_LOW);
    REAL C = SHUFFLE(r.second.b, r.second.c, QUAD_HIGH);
    r = (records){ { a, b, c }, { A, B, C } };
#endif
#if KERNEL_LANES == 16
    r.first = (run3){ SHUFFLE(a, b, OCTO_LOW), SHUFFLE(c, a, OCTO_ENDS), SHUFFLE(b, c, OCTO_HIGH) };
    r.second =
        (run3){ SHUFFLE(A, B, OCTO_LOW), SHUFFLE(C, A, OCTO_ENDS), SHUFFLE(B, C, OCTO_HIGH) };
#endif
    store_three(out, r.first.a, r.first.b, r.first.c, stream);
    store_three(out + 3 * KERNEL_LANES, r.second.a, r.second.b, r.second.c, stream);
}

// A record is written in two quads that overlap: x y z x, z x y z.
#define STORE_RECORD(l, head, tail)                                                                \
    do {                                                                                           \
        char *at = out + (uint64_t)vertices[l] * stride;                                           \
        if (padded && vertices[l] == CUTIS_NO_VERTEX) break;                                       \
        *(row4 *)at = ROW_OF(head, ((l) / 4));                                                     \
        *(row4 *)(at + 8) = ROW_OF(tail, ((l) / 4));                                               \
    } while (0)
#define STORE_RECORDS(g)                                                                           \
    STORE_RECORD(4 * g, r.first.a, tail0);                                                         \
    STORE_RECORD(4 * g + 1, head1, r.first.c);                                                     \
    STORE_RECORD(4 * g + 2, r.second.a, tail2);                                                    \
    STORE_RECORD(4 * g + 3, head3, r.second.c)

// Of scattered vertices.
FN void scatter_records(char *out, uint32_t stride, const uint32_t *vertices, records r,
                        bool padded)
{
    REAL tail0 = SHUFFLE(r.first.a, r.first.b, HALF_JOIN);
    REAL head1 = SHUFFLE(r.first.b, r.first.c, HALF_JOIN);
    REAL tail2 = SHUFFLE(r.second.a, r.second.b, HALF_JOIN);
    REAL head3 = SHUFFLE(r.second.b, r.second.c, HALF_JOIN);
    STORE_RECORDS(0);
#if KERNEL_LANES >= 8
    STORE_RECORDS(1);
#endif
#if KERNEL_LANES >= 16
    STORE_RECORDS(2);
    STORE_RECORDS(3);
#endif
}

static __attribute__((noinline)) void store_records(char *out, uint32_t stride,
                                                    const uint32_t *vertices, REAL x, REAL y,
                                                    REAL z, REAL nx, REAL ny, REAL nz, int run,
                                                    bool padded, bool stream)
{
    const records r = records_of(real3_make(x, y, z), real3_make(nx, ny, nz));
    if (run && stride == 24)
        store_record_run((float *)(out + (uint64_t)vertices[0] * 24), r, stream);
    else
        scatter_records(out, stride, vertices, r, padded);
}

// Rows of four floats, one per lane at table + 4 index: x, y, z of each.
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
    return real3_make(SHUFFLE(ab, cd, HALF_LOW), SHUFFLE(ab, cd, HALF_HIGH),
                      SHUFFLE(SHUFFLE(a, b, PAIR_HIGH), SHUFFLE(c, d, PAIR_HIGH), HALF_LOW));
}

typedef INT1 loose_int
    __attribute__((vector_size(sizeof(INT1) * KERNEL_LANES), aligned(4), may_alias));

// Centres of sets; a lane without a set gets its own point p. At least one lane has a set.
FN real3 centres_at(const float *table, const uint32_t *sets, real3 p)
{
    INT set = *(const loose_int *)sets;
    INT own = (INT)(set == (INT){ 0 } - 1); // CUTIS_NO_SET is all ones
    uint32_t index[KERNEL_LANES];
    *(loose_int *)index = set & ~own;
    real3 c = gather_real3(table, index);
    return real3_make(SELECT(own, p.x, c.x), SELECT(own, p.y, c.y), SELECT(own, p.z, c.z));
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

FN void store_scattered(char *out, uint32_t stride, const uint32_t *vertices, REAL x, REAL y,
                        REAL z, bool padded)
{
    const float row[3] = { x, y, z };
    (void)padded;
    memcpy(out + (uint64_t)vertices[0] * stride, row, sizeof row);
}

FN void store_scattered4(char *out, uint32_t stride, const uint32_t *vertices, REAL x, REAL y,
                         REAL z, REAL w, bool padded)
{
    const float row[4] = { x, y, z, w };
    (void)padded;
    memcpy(out + (uint64_t)vertices[0] * stride, row, sizeof row);
}

FN void store_records(char *out, uint32_t stride, const uint32_t *vertices, REAL x, REAL y, REAL z,
                      REAL nx, REAL ny, REAL nz, int run, bool padded, bool stream)
{
    const float row[6] = { x, y, z, nx, ny, nz };
    (void)run, (void)padded, (void)stream;
    memcpy(out + (uint64_t)vertices[0] * stride, row, sizeof row);
}

FN real3 centres_at(const float *table, const uint32_t *sets, real3 p)
{
    if (sets[0] == CUTIS_NO_SET) return p;
    const float *row = table + 4 * (size_t)sets[0];
    return real3_make(row[0], row[1], row[2]);
}

#endif
#endif
