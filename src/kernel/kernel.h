/// The dialects of kernel text: scalar C, C vectors of 4, 8 or 16 lanes, OpenCL C, CUDA C++ (nvcc,
/// NVRTC).
///
/// Text written over these macros computes the same bits in every dialect (fixed order, explicit
/// FMA, no divide, no root). What it includes is for C alone: GPU compilers get the texts joined,
/// without these lines. algebra.h and blend.h leave it to their user, in this order. Options:
/// KERNEL_LANES (C only; 1 if undefined), KERNEL_DOUBLE, KERNEL_PAIRS (GPUs only: a REAL is two
/// floats, so that a work item does two vertices with what it reads once).
///
/// Conditionals on data are SELECT_LESS(a, b, x, y), "a < b ? x : y", both sides computed; a NaN
/// takes y. AT_LEAST(x, low), AT_MOST(x, high) are the same with the bound (not NaN, not 0) as x; a
/// NaN stays.
#ifndef CUTIS_KERNEL_H
#define CUTIS_KERNEL_H

#if defined(__OPENCL_VERSION__) || defined(__OPENCL_C_VERSION__)

#pragma OPENCL FP_CONTRACT OFF
#define KERNEL_OPENCL 1
#define KERNEL_LANES  1
#define FN            static inline
#define STRUCT(n)                                                                                  \
    typedef struct n n;                                                                            \
    struct n
#ifdef KERNEL_DOUBLE
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define ELEM         double
#define INT          long
#define K(c)         c
#define BITS(x)      as_long(x)
#define FROM_BITS(i) as_double(i)
#else
#define ELEM         float
#define INT          int
#define K(c)         c##f
#define BITS(x)      as_int(x)
#define FROM_BITS(i) as_float(i)
#endif
#define REAL         ELEM
#define INT1         INT
#define UINT         uint
#define SPLAT(x)     (x)
#define FMA(a, b, c) fma(a, b, c)
#define KERNEL       __kernel
#define GLOBAL       __global
#define LOCAL        __local
#define RESTRICT     restrict
#define BARRIER      barrier(CLK_LOCAL_MEM_FENCE)
#define GLOBAL_ID    ((int)get_global_id(0))
#define LOCAL_ID     ((int)get_local_id(0))
#define GROUP_ID     ((int)get_group_id(0))
#define LOCAL_SIZE   ((int)get_local_size(0))

#elif defined(__CUDACC__) || defined(__CUDACC_RTC__)

#define KERNEL_CUDA  1
#define KERNEL_LANES 1
#define FN           static __device__ __forceinline__
#define STRUCT(n)    struct n
#ifdef KERNEL_DOUBLE
#define ELEM         double
#define INT          long long
#define K(c)         c
#define BITS(x)      __double_as_longlong(x)
#define FROM_BITS(i) __longlong_as_double(i)
#define FMA(a, b, c) __fma_rn(a, b, c)
#else
#define ELEM         float
#define INT          int
#define K(c)         c##f
#define BITS(x)      __float_as_int(x)
#define FROM_BITS(i) __int_as_float(i)
#define FMA(a, b, c) __fmaf_rn(a, b, c)
#endif
#define REAL     ELEM
#define INT1     INT
#define UINT     unsigned int
#define SPLAT(x) (x)
#define KERNEL   extern "C" __global__
#define GLOBAL
#define LOCAL      __shared__
#define RESTRICT   __restrict__
#define BARRIER    __syncthreads()
#define GLOBAL_ID  ((int)(blockIdx.x * blockDim.x + threadIdx.x))
#define LOCAL_ID   ((int)threadIdx.x)
#define GROUP_ID   ((int)blockIdx.x)
#define LOCAL_SIZE ((int)blockDim.x)

#else
#include "kernel_c.h" // never embedded: GPU compilers see only what they can read
#endif

#if defined(KERNEL_OPENCL) || defined(KERNEL_CUDA)
#define ELEM_BITS(x)      BITS(x)
#define ELEM_FROM_BITS(i) FROM_BITS(i)
#endif
#ifdef KERNEL_PAIRS
#undef KERNEL_LANES
#undef REAL
#undef INT
#undef INT1
#undef K
#undef SPLAT
#undef BITS
#undef FROM_BITS
#undef ELEM_BITS
#undef ELEM_FROM_BITS
#define KERNEL_LANES 2
#define INT1         int
#ifdef KERNEL_OPENCL
#define REAL                    float2
#define INT                     int2
#define K(c)                    ((float2)(c##f))
#define SPLAT(x)                ((float2)(x))
#define BOTH(x, y)              ((float2)(x, y))
#define BITS(x)                 as_int2(x)
#define FROM_BITS(i)            as_float2(i)
#define ELEM_BITS(x)            as_int(x)
#define ELEM_FROM_BITS(i)       as_float(i)
#define SELECT_LESS(a, b, x, y) select(y, x, isless(a, b))
#else
#undef FMA
STRUCT(real_pair)
{
    float x, y;
};
STRUCT(int_pair)
{
    int x, y;
};
#define REAL                    real_pair
#define INT                     int_pair
#define K(c)                    real_both(c##f, c##f)
#define SPLAT(x)                real_both(x, x)
#define BOTH(x, y)              real_both(x, y)
#define BITS(a)                 int_both(__float_as_int((a).x), __float_as_int((a).y))
#define FROM_BITS(i)            real_from_bits(i)
#define ELEM_BITS(x)            __float_as_int(x)
#define ELEM_FROM_BITS(i)       __int_as_float(i)
#define FMA(a, b, c)            real_fma(a, b, c)
#define SELECT_LESS(a, b, x, y) real_select_less(a, b, x, y)
FN real_pair real_both(float x, float y)
{
    real_pair r = { x, y };
    return r;
}
FN int_pair int_both(int x, int y)
{
    int_pair r = { x, y };
    return r;
}
FN real_pair real_from_bits(int_pair i)
{
    return real_both(__int_as_float(i.x), __int_as_float(i.y));
}
FN real_pair real_fma(real_pair a, real_pair b, real_pair c)
{
    return real_both(__fmaf_rn(a.x, b.x, c.x), __fmaf_rn(a.y, b.y, c.y));
}
FN real_pair real_select_less(real_pair a, real_pair b, real_pair x, real_pair y)
{
    return real_both(a.x < b.x ? x.x : y.x, a.y < b.y ? x.y : y.y);
}
FN real_pair operator+(real_pair a, real_pair b)
{
    return real_both(a.x + b.x, a.y + b.y);
}
FN real_pair operator-(real_pair a, real_pair b)
{
    return real_both(a.x - b.x, a.y - b.y);
}
FN real_pair operator-(real_pair a)
{
    return real_both(-a.x, -a.y);
}
FN real_pair operator*(real_pair a, real_pair b)
{
    return real_both(a.x * b.x, a.y * b.y);
}
FN int_pair operator-(int a, int_pair b)
{
    return int_both(a - b.x, a - b.y);
}
FN int_pair operator>>(int_pair a, int b)
{
    return int_both(a.x >> b, a.y >> b);
}
FN int_pair operator^(int_pair a, int b)
{
    return int_both(a.x ^ b, a.y ^ b);
}
#endif
#endif

#ifndef SELECT // one lane: the language's own conditional
#define SELECT(m, a, b) ((m) ? (a) : (b))
#endif
#ifndef SELECT_LESS
#define SELECT_LESS(a, b, x, y) SELECT((a) < (b), x, y)
#endif
#ifndef AT_LEAST
#define AT_LEAST(x, low) SELECT_LESS(x, low, low, x)
#define AT_MOST(x, high) SELECT_LESS(high, x, high, x)
#endif
#ifndef FNMA // c - a * b, rounded once: the bits of FMA(-a, b, c)
#define FNMA(a, b, c) FMA(-(a), b, c)
#endif

#ifdef KERNEL_DOUBLE
#define REAL_MIN    K(2.2250738585072014e-308) // smallest normal
#define REAL_MAX    K(1.7976931348623157e308)
#define RSQRT_MAGIC ((((INT1)0x5fe6eb50) << 32) | (INT1)0xc7b537a9)
#else
#define REAL_MIN    K(1.17549435e-38)
#define REAL_MAX    K(3.40282347e38)
#define RSQRT_MAGIC 0x5f375a86
#endif

// One of Newton's towards 1 / sqrt(2 h). Written out below: a loop of three inside a loop over
// vertices keeps gcc from making vectors of that.
FN REAL reciprocal_root_step(REAL h, REAL y)
{
    REAL t = h * y;
    REAL e = FNMA(t, y, K(0.5));
    return FMA(y, e, y);
}

// 1 / sqrt(a) to 1 ULP: a first guess from the bits, Newton's steps. The input is clamped to the
// finite normal numbers, so that a zero vector scaled by the result stays zero and nothing becomes
// NaN or infinite.
FN REAL reciprocal_root(REAL a)
{
    REAL x = AT_MOST(AT_LEAST(a, REAL_MIN), REAL_MAX);
    REAL h = K(0.5) * x;
    REAL y = FROM_BITS(RSQRT_MAGIC - (BITS(x) >> 1));
    y = reciprocal_root_step(h, reciprocal_root_step(h, reciprocal_root_step(h, y)));
#ifdef KERNEL_DOUBLE
    y = reciprocal_root_step(h, y);
#endif
    return y;
}

#endif
