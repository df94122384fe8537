/// Kernel text as C: one lane, or gcc/clang vectors of KERNEL_LANES lanes. Included by kernel.h
/// only.
///
/// Invariant: FMA is correctly rounded on every machine. Where the instruction set has no fused
/// multiply-add it is emulated: product and sum in double, the sum rounded to odd, then to float.
/// Rounding twice is wrong only where the double sum is a midpoint of two floats or the result is
/// subnormal, so all else takes a short cut. KERNEL_FAST gives that up (the studio's fast mode): a
/// product and a sum, each rounded.
#ifndef CUTIS_KERNEL_C_H
#define CUTIS_KERNEL_C_H

#ifndef KERNEL_LANES
#define KERNEL_LANES 1
#endif
#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#elif defined(__wasm_simd128__)
#include <wasm_simd128.h>
#endif

#define FN static inline __attribute__((always_inline, unused))
#define STRUCT(n)                                                                                  \
    typedef struct n n;                                                                            \
    struct n
#define UINT     unsigned int
#define RESTRICT restrict

#ifdef KERNEL_DOUBLE
#define ELEM     double
#define INT1     long long
#define ELEM_(c) c
#else
#define ELEM     float
#define INT1     int
#define ELEM_(c) c##f
#endif

// Has this compilation a fused multiply-add instruction?
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA) || defined(__aarch64__)
#define KERNEL_FMA 1
#else
#define KERNEL_FMA 0
#endif

// One lane --------------------------------------------------------------------------------------

typedef union kernel_bits {
    ELEM value;
    INT1 bits;
} kernel_bits;
typedef union kernel_wide_bits {
    double value;
    long long bits;
} kernel_wide_bits;

FN INT1 elem_bits(ELEM x)
{
    kernel_bits u;
    u.value = x;
    return u.bits;
}

FN ELEM elem_from_bits(INT1 i)
{
    kernel_bits u;
    u.bits = i;
    return u.value;
}

#ifdef KERNEL_FAST
FN ELEM elem_fma(ELEM a, ELEM b, ELEM c)
{
    return a * b + c;
}
#elif defined(KERNEL_DOUBLE)
FN double elem_fma(double a, double b, double c)
{
    return __builtin_fma(a, b, c);
}
#elif KERNEL_FMA
FN float elem_fma(float a, float b, float c)
{
    return __builtin_fmaf(a, b, c);
}
#else
static __attribute__((noinline, unused)) float elem_fma(float a, float b, float c)
{
    double p = (double)a * (double)b, z = c; // p is exact
    kernel_wide_bits s;
    s.value = p + z;
    double size = s.value < 0 ? -s.value : s.value;
    if ((s.bits & 0x1fffffff) != 0x10000000 && (size >= 0x1p-126 || size == 0))
        return (float)s.value;
    double v = s.value - p, e = (p - (s.value - v)) + (z - v); // s + e = p + z exactly
    // cppcheck-suppress shiftTooManyBitsSigned; gcc and clang keep the sign
    long long neg = s.bits >> 63;
    long long dir = (long long)(e > 0) - (long long)(e < 0); // NaN: 0
    s.bits +=
        ((dir ^ neg) - neg) & ((s.bits & 1) - 1); // away from zero or towards it; only from even
    return (float)s.value;
}
#endif

#if KERNEL_LANES == 1

#define REAL           ELEM
#define INT            INT1
#define K(c)           ELEM_(c)
#define SPLAT(x)       (x)
#define BITS(x)        elem_bits(x)
#define FROM_BITS(i)   elem_from_bits(i)
#define FMA(a, b, c)   elem_fma(a, b, c)
#define LOAD(p)        (*(p))
#define STORE(p, x)    (*(p) = (x))
#define ANY_LESS(a, b) ((a) < (b))

#else // Vectors
      // ---------------------------------------------------------------------------------------------------

typedef ELEM kernel_real __attribute__((vector_size(sizeof(ELEM) * KERNEL_LANES)));
typedef INT1 kernel_int __attribute__((vector_size(sizeof(INT1) * KERNEL_LANES)));
typedef ELEM kernel_loose
    __attribute__((vector_size(sizeof(ELEM) * KERNEL_LANES), aligned(sizeof(ELEM)), may_alias));

#define REAL            kernel_real
#define INT             kernel_int
#define SPLAT(x)        ((x) - (REAL){ 0 }) // folds to a broadcast; (REAL){0} + x would stay an addition
#define K(c)            SPLAT(ELEM_(c))
#define BITS(x)         ((INT)(x))
#define FROM_BITS(i)    ((REAL)(i))
#define LOAD(p)         ((REAL)(*(const kernel_loose *)(p)))
#define STORE(p, x)     (*(kernel_loose *)(p) = (x))
#define SELECT(m, a, b) ((REAL)(((m) & (INT)(a)) | (~(m) & (INT)(b))))

#if KERNEL_LANES == 16 && defined(__AVX512F__) && !defined(KERNEL_DOUBLE)
#define FMA(a, b, c)      ((REAL)_mm512_fmadd_ps((__m512)(a), (__m512)(b), (__m512)(c)))
#define FNMA(a, b, c)     ((REAL)_mm512_fnmadd_ps((__m512)(a), (__m512)(b), (__m512)(c)))
#define KERNEL_LESS(a, b) _mm512_cmp_ps_mask((__m512)(a), (__m512)(b), _CMP_LT_OQ)
#define SELECT_LESS(a, b, x, y)                                                                    \
    ((REAL)_mm512_mask_blend_ps(KERNEL_LESS(a, b), (__m512)(y), (__m512)(x)))
#define AT_LEAST(x, low) ((REAL)_mm512_max_ps((__m512)(low), (__m512)(x)))
#define AT_MOST(x, high) ((REAL)_mm512_min_ps((__m512)(high), (__m512)(x)))
#define ANY_LESS(a, b)   (KERNEL_LESS(a, b) != 0)

#elif KERNEL_LANES == 8 && defined(__AVX2__) && defined(__FMA__) && !defined(KERNEL_DOUBLE)
#define FMA(a, b, c)      ((REAL)_mm256_fmadd_ps((__m256)(a), (__m256)(b), (__m256)(c)))
#define FNMA(a, b, c)     ((REAL)_mm256_fnmadd_ps((__m256)(a), (__m256)(b), (__m256)(c)))
#define KERNEL_LESS(a, b) _mm256_cmp_ps((__m256)(a), (__m256)(b), _CMP_LT_OQ)
#define SELECT_LESS(a, b, x, y)                                                                    \
    ((REAL)_mm256_blendv_ps((__m256)(y), (__m256)(x), KERNEL_LESS(a, b)))
#define AT_LEAST(x, low) ((REAL)_mm256_max_ps((__m256)(low), (__m256)(x)))
#define AT_MOST(x, high) ((REAL)_mm256_min_ps((__m256)(high), (__m256)(x)))
#define ANY_LESS(a, b)   (_mm256_movemask_ps(KERNEL_LESS(a, b)) != 0)

#elif KERNEL_LANES == 4 && defined(__SSE2__) && !defined(KERNEL_DOUBLE)
#define AT_LEAST(x, low) ((REAL)_mm_max_ps((__m128)(low), (__m128)(x)))
#define AT_MOST(x, high) ((REAL)_mm_min_ps((__m128)(high), (__m128)(x)))
#define ANY_LESS(a, b)   (_mm_movemask_ps((__m128)((a) < (b))) != 0)
#ifdef __FMA__
#define FMA(a, b, c)  ((REAL)_mm_fmadd_ps((__m128)(a), (__m128)(b), (__m128)(c)))
#define FNMA(a, b, c) ((REAL)_mm_fnmadd_ps((__m128)(a), (__m128)(b), (__m128)(c)))
#endif

#elif KERNEL_LANES == 4 && defined(__ARM_NEON) && !defined(KERNEL_DOUBLE)
#define FMA(a, b, c)   ((REAL)vfmaq_f32((float32x4_t)(c), (float32x4_t)(a), (float32x4_t)(b)))
#define FNMA(a, b, c)  ((REAL)vfmsq_f32((float32x4_t)(c), (float32x4_t)(a), (float32x4_t)(b)))
#define ANY_LESS(a, b) (vmaxvq_u32((uint32x4_t)((a) < (b))) != 0)

#elif KERNEL_LANES == 4 && defined(__wasm_simd128__) && !defined(KERNEL_DOUBLE)
#define ANY_LESS(a, b) (wasm_v128_any_true((v128_t)((a) < (b))))
#endif

#if KERNEL_LANES == 8 && defined(__AVX512F__) && defined(KERNEL_DOUBLE)
#define FMA(a, b, c)      ((REAL)_mm512_fmadd_pd((__m512d)(a), (__m512d)(b), (__m512d)(c)))
#define KERNEL_LESS(a, b) _mm512_cmp_pd_mask((__m512d)(a), (__m512d)(b), _CMP_LT_OQ)
#define SELECT_LESS(a, b, x, y)                                                                    \
    ((REAL)_mm512_mask_blend_pd(KERNEL_LESS(a, b), (__m512d)(y), (__m512d)(x)))
#define ANY_LESS(a, b) (KERNEL_LESS(a, b) != 0)

#elif KERNEL_LANES == 4 && defined(__AVX2__) && defined(__FMA__) && defined(KERNEL_DOUBLE)
#define FMA(a, b, c)      ((REAL)_mm256_fmadd_pd((__m256d)(a), (__m256d)(b), (__m256d)(c)))
#define KERNEL_LESS(a, b) _mm256_cmp_pd((__m256d)(a), (__m256d)(b), _CMP_LT_OQ)
#define SELECT_LESS(a, b, x, y)                                                                    \
    ((REAL)_mm256_blendv_pd((__m256d)(y), (__m256d)(x), KERNEL_LESS(a, b)))
#define ANY_LESS(a, b) (_mm256_movemask_pd(KERNEL_LESS(a, b)) != 0)

#elif KERNEL_LANES == 2 && defined(__SSE2__) && defined(KERNEL_DOUBLE)
#define ANY_LESS(a, b) (_mm_movemask_pd((__m128d)((a) < (b))) != 0)
#endif

#ifndef ANY_LESS
FN int kernel_any(kernel_int m)
{
    INT1 any = 0;
    for (int i = 0; i < KERNEL_LANES; i++) any |= m[i];
    return any != 0;
}
#define ANY_LESS(a, b) kernel_any((a) < (b))
#endif

#ifdef KERNEL_FAST
#define FMA(a, b, c) ((a) * (b) + (c))
#endif

#if !defined(FMA) && (KERNEL_LANES == 4) && !defined(KERNEL_DOUBLE)
// The emulation on pairs of doubles: a register holds two, and gcc takes wider vectors apart
// element by element.
typedef double kernel_wide __attribute__((vector_size(16)));
typedef long long kernel_wide_int __attribute__((vector_size(16)));
typedef float kernel_pair __attribute__((vector_size(8)));

FN kernel_wide kernel_wide_odd(kernel_wide p, kernel_wide z, kernel_wide s)
{
    kernel_wide v = s - p, e = (p - (s - v)) + (z - v);
    kernel_wide_int i = (kernel_wide_int)s, neg = s < (kernel_wide){ 0 };
    kernel_wide_int dir = (e < (kernel_wide){ 0 }) - (e > (kernel_wide){ 0 });
    dir = ((dir ^ neg) - neg) & ((i & 1) - 1);
    return (kernel_wide)(i + dir);
}

// 0 in both lanes if rounding s to float rounds right.
FN kernel_wide_int kernel_wide_hard(kernel_wide s)
{
    kernel_wide_int i = (kernel_wide_int)s;
    kernel_wide size = (kernel_wide)(i & 0x7fffffffffffffffll);
    kernel_wide_int middle = (kernel_wide_int)((i & 0x1fffffff) == 0x10000000);
    kernel_wide_int small =
        (size < (kernel_wide){ 0x1p-126, 0x1p-126 }) & (size > (kernel_wide){ 0 });
    return middle | small;
}

#if defined(__SSE2__)
FN int kernel_wide_any(kernel_wide_int m)
{
    return _mm_movemask_epi8((__m128i)m) != 0;
}
FN kernel_wide kernel_low(kernel_real a)
{
    return (kernel_wide)_mm_cvtps_pd((__m128)a);
}
FN kernel_wide kernel_high(kernel_real a)
{
    return (kernel_wide)_mm_cvtps_pd(_mm_movehl_ps((__m128)a, (__m128)a));
}
FN kernel_real kernel_join(kernel_wide a, kernel_wide b)
{
    return (kernel_real)_mm_movelh_ps(_mm_cvtpd_ps((__m128d)a), _mm_cvtpd_ps((__m128d)b));
}
#else
FN int kernel_wide_any(kernel_wide_int m)
{
    return (m[0] | m[1]) != 0;
}
FN kernel_wide kernel_low(kernel_real a)
{
    return (kernel_wide){ a[0], a[1] };
}
FN kernel_wide kernel_high(kernel_real a)
{
    return (kernel_wide){ a[2], a[3] };
}
FN kernel_real kernel_join(kernel_wide a, kernel_wide b)
{
    return (kernel_real){ (float)a[0], (float)a[1], (float)b[0], (float)b[1] };
}
#endif

// Not inlined: the text has hundreds of these.
static __attribute__((noinline, unused)) kernel_real kernel_fma(kernel_real a, kernel_real b,
                                                                kernel_real c)
{
    kernel_wide p = kernel_low(a) * kernel_low(b), q = kernel_high(a) * kernel_high(b);
    kernel_wide y = kernel_low(c), z = kernel_high(c), s = p + y, t = q + z;
    if (kernel_wide_any(kernel_wide_hard(s) | kernel_wide_hard(t))) {
        s = kernel_wide_odd(p, y, s);
        t = kernel_wide_odd(q, z, t);
    }
    return kernel_join(s, t);
}
#define FMA(a, b, c) kernel_fma(a, b, c)
#endif

#ifndef FMA // any other width: lane by lane
static __attribute__((unused)) kernel_real kernel_fma(kernel_real a, kernel_real b, kernel_real c)
{
    for (int i = 0; i < KERNEL_LANES; i++) c[i] = elem_fma(a[i], b[i], c[i]);
    return c;
}
#define FMA(a, b, c) kernel_fma(a, b, c)
#endif

#endif // KERNEL_LANES
#endif
