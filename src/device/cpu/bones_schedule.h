/// The CPU's schedule of bone work, compiled once per instruction set (device/room.cmake makes the
/// wrappers): KERNEL_LANES doubles at a time. Everything but the table is static.
///
/// Invariant: a bone's or a set's results depend on it alone, not on what shares its vector, so all
/// tables give the same bits (`rigid` may say "not certain" on one machine and "yes" on another;
/// who asks must get the same bits either way).
#include "device/cpu/cpu.h"

#include "kernel/kernel.h"
#include "kernel/algebra.h"

#if KERNEL_LANES == 8 && defined(__AVX512F__)
#define ROOT(x) ((REAL)_mm512_sqrt_pd((__m512d)(x)))
#elif KERNEL_LANES == 4 && defined(__AVX__)
#define ROOT(x) ((REAL)_mm256_sqrt_pd((__m256d)(x)))
#elif KERNEL_LANES == 2 && defined(__SSE2__)
#define ROOT(x) ((REAL)_mm_sqrt_pd((__m128d)(x)))
#elif KERNEL_LANES == 1
#define ROOT(x) __builtin_sqrt(x)
#else
FN REAL root(REAL x)
{
    for (int i = 0; i < KERNEL_LANES; i++) x[i] = __builtin_sqrt(x[i]);
    return x;
}
#define ROOT(x) root(x)
#endif

#include "kernel/bone.h"

#include <float.h>
#include <string.h>

#define SETS CUTIS_CENTRE_LANES

// Loads -----------------------------------------------------------------------------------------

typedef double row4d __attribute__((vector_size(32), aligned(8), may_alias));
typedef double row4d_value __attribute__((vector_size(32)));

#define BONE_ROW(i)        ((row4d_value)(*(const row4d *)(palette + 12 * (size_t)bones[i] + 4 * r)))
#define SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)

// Matrices of the bones in the lanes; rows are read whole and turned.
FN bone34 load_bones(const double *palette, const uint32_t *bones)
{
    bone34 b;
#if KERNEL_LANES == 8
    for (int r = 0; r < 3; r++) {
        REAL p = SHUFFLE(BONE_ROW(0), BONE_ROW(1), 0, 1, 2, 3, 4, 5, 6, 7);
        REAL q = SHUFFLE(BONE_ROW(2), BONE_ROW(3), 0, 1, 2, 3, 4, 5, 6, 7);
        REAL s = SHUFFLE(BONE_ROW(4), BONE_ROW(5), 0, 1, 2, 3, 4, 5, 6, 7);
        REAL t = SHUFFLE(BONE_ROW(6), BONE_ROW(7), 0, 1, 2, 3, 4, 5, 6, 7);
        REAL xy_low = SHUFFLE(p, q, 0, 4, 8, 12, 1, 5, 9, 13);
        REAL zw_low = SHUFFLE(p, q, 2, 6, 10, 14, 3, 7, 11, 15);
        REAL xy_high = SHUFFLE(s, t, 0, 4, 8, 12, 1, 5, 9, 13);
        REAL zw_high = SHUFFLE(s, t, 2, 6, 10, 14, 3, 7, 11, 15);
        b.m[4 * r] = SHUFFLE(xy_low, xy_high, 0, 1, 2, 3, 8, 9, 10, 11);
        b.m[4 * r + 1] = SHUFFLE(xy_low, xy_high, 4, 5, 6, 7, 12, 13, 14, 15);
        b.m[4 * r + 2] = SHUFFLE(zw_low, zw_high, 0, 1, 2, 3, 8, 9, 10, 11);
        b.m[4 * r + 3] = SHUFFLE(zw_low, zw_high, 4, 5, 6, 7, 12, 13, 14, 15);
    }
#elif KERNEL_LANES == 4
    for (int r = 0; r < 3; r++) {
        REAL p = BONE_ROW(0), q = BONE_ROW(1), s = BONE_ROW(2), t = BONE_ROW(3);
        REAL xz_low = SHUFFLE(p, q, 0, 4, 2, 6), yw_low = SHUFFLE(p, q, 1, 5, 3, 7);
        REAL xz_high = SHUFFLE(s, t, 0, 4, 2, 6), yw_high = SHUFFLE(s, t, 1, 5, 3, 7);
        b.m[4 * r] = SHUFFLE(xz_low, xz_high, 0, 1, 4, 5);
        b.m[4 * r + 1] = SHUFFLE(yw_low, yw_high, 0, 1, 4, 5);
        b.m[4 * r + 2] = SHUFFLE(xz_low, xz_high, 2, 3, 6, 7);
        b.m[4 * r + 3] = SHUFFLE(yw_low, yw_high, 2, 3, 6, 7);
    }
#elif KERNEL_LANES == 2
    const double *p = palette + 12 * (size_t)bones[0], *q = palette + 12 * (size_t)bones[1];
    for (int i = 0; i < 12; i++) b.m[i] = (REAL){ p[i], q[i] };
#else
    for (int i = 0; i < 12; i++) b.m[i] = palette[12 * (size_t)bones[0] + i];
#endif
    return b;
}

FN REAL load_each(const double *values, const uint32_t *bones)
{
    double lanes[KERNEL_LANES];
    for (int l = 0; l < KERNEL_LANES; l++) lanes[l] = values[bones[l]];
    return LOAD(lanes);
}

/// Consecutive bones from `first`; the last one is repeated. @return how many they are
FN uint32_t number_bones(uint32_t first, uint32_t count, uint32_t *bones)
{
    const uint32_t left = count - first;
    for (uint32_t l = 0; l < KERNEL_LANES; l++) bones[l] = l < left ? first + l : count - 1;
    return left < KERNEL_LANES ? left : KERNEL_LANES;
}

// Bones -----------------------------------------------------------------------------------------

static void bone_shapes(const double *palette, const uint32_t *used, uint32_t count,
                        double *squares, cutis_bone_range *range)
{
    double sigma[KERNEL_LANES], nonuniform[KERNEL_LANES], square[KERNEL_LANES];
    cutis_bone_range r = { DBL_MAX, -DBL_MAX, 0.0 };
    uint32_t bones[KERNEL_LANES];
    for (uint32_t b = 0; b < count; b += KERNEL_LANES) {
        const uint32_t n = number_bones(b, count, bones);
        const bone_shape shape = bone_measured(load_bones(palette, bones));
        STORE(sigma, shape.sigma);
        STORE(nonuniform, shape.nonuniform);
        STORE(square, shape.square * K(3.0));
        for (uint32_t l = 0; l < n; l++) {
            if (squares) squares[b + l] = square[l];
            if (!used[b + l]) continue;
            if (sigma[l] < r.low) r.low = sigma[l];
            if (sigma[l] > r.high) r.high = sigma[l];
            if (nonuniform[l] > r.nonuniform) r.nonuniform = nonuniform[l];
        }
    }
    *range = r;
}

static void bone_turns(const double *palette, uint32_t count, double sigma, double *quats)
{
    const REAL scale = SPLAT(1.0 / sigma);
    double lanes[4][KERNEL_LANES];
    uint32_t bones[KERNEL_LANES];
    for (uint32_t b = 0; b < count; b += KERNEL_LANES) {
        const uint32_t n = number_bones(b, count, bones);
        const bone_quat q = bone_turned(load_bones(palette, bones), scale);
        STORE(lanes[0], q.w);
        STORE(lanes[1], q.x);
        STORE(lanes[2], q.y);
        STORE(lanes[3], q.z);
        for (uint32_t l = 0; l < n; l++)
            for (int c = 0; c < 4; c++) quats[4 * (size_t)(b + l) + c] = lanes[c][l];
    }
}

// Centres ---------------------------------------------------------------------------------------

// `bones` is SETS per place; this is the part of them in the lanes.
FN centre_system centre_build(const double *palette, const double *squares, const uint32_t *bones,
                              uint32_t count, real3 c)
{
    centre_system e = centre_system_zero(), whole = centre_system_zero();
    const bone34 first = load_bones(palette, bones);
    REAL square = load_each(squares, bones);
    if (count <= 3) { // the pairs themselves
        const bone34 second = load_bones(palette, bones + SETS);
        square = square + load_each(squares, bones + SETS);
        e = centre_system_add(e, bone_minus(first, second), c);
        if (count == 3) {
            const bone34 third = load_bones(palette, bones + 2 * SETS);
            square = square + load_each(squares, bones + 2 * SETS);
            e = centre_system_add(e, bone_minus(first, third), c);
            e = centre_system_add(e, bone_minus(second, third), c);
        }
    } else {
        bone34 sum = bone_minus(first, first);
        for (uint32_t s = 1; s < count; s++) {
            const bone34 d = bone_minus(load_bones(palette, bones + SETS * (size_t)s), first);
            square = square + load_each(squares, bones + SETS * (size_t)s);
            sum = bone_plus(sum, d);
            e = centre_system_add(e, d, c);
        }
        whole = centre_system_add(whole, sum, c);
        e = centre_system_of_sums(e, whole, SPLAT((double)count));
    }
    e.square = square * SPLAT(1.0 / (3.0 * count));
    return e;
}

// One step with the residual taken from the matrices themselves: squaring them into N lost half the
// digits.
static __attribute__((noinline)) real3 centre_refined(const double *palette, const double *squares,
                                                      const uint32_t *bones, uint32_t count,
                                                      const real3 *c, const centre_system *e,
                                                      const real3 *y)
{
    const real3 at = real3_make(c->x + y->x, c->y + y->y, c->z + y->z);
    const centre_system again = centre_build(palette, squares, bones, count, at);
    const real3 step = centre_definite(*e, again.h);
    return real3_make(y->x + step.x, y->y + step.y, y->z + step.z);
}

FN void store_system(const centre_system *e, uint32_t lane, cutis_centre_systems *out)
{
    STORE(out->n[0] + lane, e->xx);
    STORE(out->n[1] + lane, e->xy);
    STORE(out->n[2] + lane, e->xz);
    STORE(out->n[3] + lane, e->yy);
    STORE(out->n[4] + lane, e->yz);
    STORE(out->n[5] + lane, e->zz);
    STORE(out->h[0] + lane, e->h.x);
    STORE(out->h[1] + lane, e->h.y);
    STORE(out->h[2] + lane, e->h.z);
    STORE(out->square + lane, e->square);
}

FN uint32_t solve_lanes(const cutis_centre_group *group, uint32_t lane, double *centres,
                        cutis_centre_systems *systems)
{
    const double *palette = group->palette, *squares = group->squares;
    const uint32_t *bones = group->bones + lane;
    const REAL half = K(0.5);
    real3 c, y = real3_zero();
    c.x = LOAD(group->reference + lane);
    c.y = LOAD(group->reference + SETS + lane);
    c.z = LOAD(group->reference + 2 * SETS + lane);
    const centre_system e = centre_build(palette, squares, bones, group->count, c);
    const centre_ways w = centre_ways_of(e);
    if (ANY_LESS(half, w.plain)) {
        real3 other = centre_definite(e, e.h);
        if (ANY_LESS(half, w.stiff)) {
            const real3 base = other, from = c;
            const centre_system system = e;
            other = centre_refined(palette, squares, bones, group->count, &from, &system, &base);
            other = real3_select_less(half, w.stiff, other, base);
        }
        y = real3_select_less(half, w.plain, other, y);
    }
    if (ANY_LESS(half, w.axial)) y = real3_select_less(half, w.axial, centre_across(e, w), y);
    // Solved: by a quick way and within the limit (a NaN is not), or nothing turns.
    REAL far = SELECT_LESS(real3_product(y, y), SPLAT(group->limit * group->limit), K(0.0), K(1.0));
    REAL open = SELECT_LESS(half, w.plain + w.axial, far, w.turns);
    double lanes[KERNEL_LANES];
    uint32_t mask = 0;
    STORE(centres + lane, c.x + y.x);
    STORE(centres + SETS + lane, c.y + y.y);
    STORE(centres + 2 * SETS + lane, c.z + y.z);
    store_system(&e, lane, systems);
    if (ANY_LESS(half, open)) {
        STORE(lanes, open);
        for (uint32_t l = 0; l < KERNEL_LANES; l++)
            if (lanes[l] > 0.5) mask |= 1u << (lane + l);
    }
    return mask;
}

static uint32_t centre_solve(const cutis_centre_group *group, double *centres,
                             cutis_centre_systems *systems)
{
    uint32_t open = 0;
    for (uint32_t lane = 0; lane < group->set_count; lane += KERNEL_LANES)
        open |= solve_lanes(group, lane, centres, systems);
    return open;
}

// Rigid palettes --------------------------------------------------------------------------------

// A matrix with L = cof L is a rotation or zero: with singular values s, s1 = s2 s3 and so on, and
// where they are near 1, |s - 1| <= |L - cof L|. So residuals are squared and summed, over many
// bones; and rows are too, so that a zero shows.
static const float RIGID = 6.4e-11f; // 8e-6 squared
#define RIGID_BONES 128u             // a sum in float still tells one row of length 1 from none

#if defined(__AVX2__) && defined(__FMA__)
#define PAIR               2u                                            // bones at a time
#define ROTATE(a)          _mm256_permute_ps(a, _MM_SHUFFLE(3, 0, 2, 1)) // y z x
#define ROTATE_BACK(a)     _mm256_permute_ps(a, _MM_SHUFFLE(3, 1, 0, 2)) // z x y
#define SQUARE_ADD(sum, a) _mm256_fmadd_ps(a, a, sum)
typedef __m256 rigid_rows;
// a x b - c, in the order z x y; in the fourth place -c if a and b are finite there.
FN __m256 rigid_residual(__m256 a, __m256 b, __m256 c)
{
    __m256 low = _mm256_fmsub_ps(a, ROTATE(b), ROTATE_BACK(c));
    return _mm256_fnmadd_ps(ROTATE(a), b, low);
}
FN void rigid_load(const float *m, __m256 *a, __m256 *b, __m256 *c)
{
    __m256 p = _mm256_loadu_ps(m), q = _mm256_loadu_ps(m + 8), r = _mm256_loadu_ps(m + 16);
    *a = _mm256_blend_ps(p, q, 0xf0);
    *b = _mm256_permute2f128_ps(p, r, 0x21);
    *c = _mm256_blend_ps(q, r, 0xf0);
}
FN void rigid_store(float *out, __m256 a)
{
    _mm_storeu_ps(out, _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1)));
}
#else
#define PAIR               1u
#define ROTATE(a)          __builtin_shufflevector(a, a, 1, 2, 0, 3)
#define ROTATE_BACK(a)     __builtin_shufflevector(a, a, 2, 0, 1, 3)
#define SQUARE_ADD(sum, a) ((sum) + (a) * (a))
typedef float rigid_rows __attribute__((vector_size(16)));
typedef float rigid_loose __attribute__((vector_size(16), aligned(4), may_alias));
FN rigid_rows rigid_residual(rigid_rows a, rigid_rows b, rigid_rows c)
{
    return (a * ROTATE(b) - ROTATE_BACK(c)) - ROTATE(a) * b;
}
FN void rigid_load(const float *m, rigid_rows *a, rigid_rows *b, rigid_rows *c)
{
    *a = *(const rigid_loose *)m;
    *b = *(const rigid_loose *)(m + 4);
    *c = *(const rigid_loose *)(m + 8);
}
FN void rigid_store(float *out, rigid_rows a)
{
    memcpy(out, &a, sizeof a);
}
#endif

FN bool rigid_range(const float *m, uint32_t count)
{
    rigid_rows a, b, c, off0 = { 0 }, off1 = { 0 }, off2 = { 0 }, size = { 0 };
    float rest[24] = { 0 }, off[4], length[4];
    uint32_t odd = count % PAIR;
    for (uint32_t i = 0; i < count + odd; i += PAIR, m += 12 * PAIR) {
        if (i + PAIR > count) { // the last one beside a zero, which is its own cofactor
            memcpy(rest, m, 12 * sizeof *m);
            m = rest;
        }
        rigid_load(m, &a, &b, &c);
        off0 = SQUARE_ADD(off0, rigid_residual(a, b, c));
        off1 = SQUARE_ADD(off1, rigid_residual(b, c, a));
        off2 = SQUARE_ADD(off2, rigid_residual(c, a, b));
        size = SQUARE_ADD(size, a);
    }
    rigid_store(off, off0 + off1 + off2);
    rigid_store(length, size);
    // The fourth place is finite only if all translations are. A NaN fails every test.
    return off[0] + off[1] + off[2] <= RIGID && off[3] <= FLT_MAX &&
           length[0] + length[1] + length[2] >= (float)count - 0.5f;
}

static bool bones_rigid(const float *matrices, size_t count)
{
    for (size_t b = 0; b < count; b += RIGID_BONES) {
        const size_t left = count - b;
        const uint32_t n = left < RIGID_BONES ? (uint32_t)left : RIGID_BONES;
        if (!rigid_range(matrices + 12 * b, n)) return false;
    }
    return true;
}

extern const cutis_bone_work NAME(cutis_cpu_bones);
const cutis_bone_work NAME(cutis_cpu_bones) = { bones_rigid, bone_shapes, bone_turns,
                                                centre_solve };
