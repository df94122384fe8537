/// Kernel text: what OpenCL, CUDA and NVIDIA's OpenCL say differently in a GPU schedule: streaming
/// stores, a warp's own synchronisation, shared memory by address. Concatenated before skin_gpu.h,
/// whose SKIN_ defines it reads.
#if !defined(CUTIS_KERNEL_NEAR_GPU_H) && defined(SKIN_FORMULA)
#define CUTIS_KERNEL_NEAR_GPU_H

#if defined(KERNEL_CUDA) || SKIN_PTX
#define UNROLL     _Pragma("unroll")
#define NO_UNROLL  _Pragma("unroll 1")
#define UNROLL_TWO _Pragma("unroll 2")
#else // other compilers know best, and some warn on stderr about a hint they ignore
#define UNROLL
#define NO_UNROLL
#define UNROLL_TWO
#endif
#ifdef KERNEL_CUDA
#define ASM              asm volatile
#define PAIR(x, y)       make_float2(x, y)
#define QUAD(x, y, z, w) make_float4(x, y, z, w)
#define ATOMIC_MIN(p, v) atomicMin(p, v)
#define ATOMIC_MAX(p, v) atomicMax(p, v)
#define NEAR_POINTER     // shared memory needs no word in a pointer's type
#define BOUNDED(threads) __launch_bounds__(threads, SKIN_GROUPS)
#define WARP_SYNC        __syncwarp()
#define STREAM4(p, v)    __stcs(p, v)
#define STREAM2(p, v)    __stcs(p, v)
#define STREAM1(p, v)    __stcs(p, v)
#else
#define ASM              __asm__ volatile
#define PAIR(x, y)       (float2)(x, y)
#define QUAD(x, y, z, w) (float4)(x, y, z, w)
#define ATOMIC_MIN(p, v) atomic_min(p, v)
#define ATOMIC_MAX(p, v) atomic_max(p, v)
#define NEAR_POINTER     LOCAL
#if SKIN_PTX
#define BOUNDED(threads) // a limit of registers is a build option
#define WARP_SYNC        ASM("bar.warp.sync 0xffffffff;" ::: "memory")
#define STREAM4(p, v)                                                                              \
    ASM("st.global.cs.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(p), "f"((v).x), "f"((v).y),            \
        "f"((v).z), "f"((v).w)                                                                     \
        : "memory")
#define STREAM2(p, v)                                                                              \
    ASM("st.global.cs.v2.f32 [%0], {%1, %2};" ::"l"(p), "f"((v).x), "f"((v).y) : "memory")
#define STREAM1(p, v) ASM("st.global.cs.f32 [%0], %1;" ::"l"(p), "f"(v) : "memory")
#else
#define BOUNDED(threads) __attribute__((reqd_work_group_size(threads, 1, 1)))
#define WARP_SYNC        BARRIER // where it is used, a warp is a whole group
#define STREAM4(p, v)    (*(p) = (v))
#define STREAM2(p, v)    (*(p) = (v))
#define STREAM1(p, v)    (*(p) = (v))
#endif
#endif

// A warp can synchronise by itself, or is a whole group (and then its control flow is the group's).
#if defined(KERNEL_CUDA) || SKIN_PTX || SKIN_WARPS == 1
#define WARP_SYNCS 1
#else
#define WARP_SYNCS 0
#endif

// Shared memory by address and in bytes, where a compiler would otherwise make addresses again for
// every bone and instance. OPAQUE hides where a value came from, so that it is kept.
#if defined(KERNEL_CUDA) || SKIN_PTX
#define ADDRESSED  1
#define OPAQUE(x)  ASM("" : "+r"(x))
#define OPAQUE2(x) ASM("" : "+l"(x))
FN float4 near_row(UINT address)
{
    float4 v;
    ASM("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
        : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
        : "r"(address));
    return v;
}
FN UINT near_word(UINT address)
{
    UINT v;
    ASM("ld.shared.u32 %0, [%1];" : "=r"(v) : "r"(address));
    return v;
}
FN void near_put(UINT address, float x)
{
    ASM("st.shared.f32 [%0], %1;" ::"r"(address), "f"(x) : "memory");
}
FN void near_put2(UINT address, float x, float y)
{
    ASM("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(address), "f"(x), "f"(y) : "memory");
}
#ifdef KERNEL_CUDA
#define ADDRESS_OF(p) ((UINT)__cvta_generic_to_shared(p))
#else
#define ADDRESS_OF(p) ((UINT)(size_t)(p))
#endif
#ifdef KERNEL_CUDA
#define WARP_ANY(condition) __any_sync(0xffffffffu, condition)
#else
FN UINT warp_any(UINT mine)
{
    UINT any;
    ASM("{ .reg .pred p, q; setp.ne.u32 p, %1, 0; vote.sync.any.pred q, p, 0xffffffff; selp.u32 "
        "%0, 1, 0, q; }"
        : "=r"(any)
        : "r"(mine));
    return any;
}
#define WARP_ANY(condition) warp_any((condition) ? 1u : 0u)
#endif
#define NEAR_FLOATS        UINT
#define NEAR_WORDS         UINT
#define NEAR_WORDS_OF(p)   ADDRESS_OF(p)
#define NEAR_AT(p, i)      ((p) + (i)*4u)
#define NEAR_ROW(p)        near_row(p)
#define NEAR_WORD(p)       near_word(p)
#define NEAR_PUT(p, x)     near_put(p, x)
#define NEAR_PUT2(p, x, y) near_put2(p, x, y)
#else
#define ADDRESSED           0
#define WARP_ANY(condition) (condition)
#define OPAQUE(x)
#define OPAQUE2(x)
#define ADDRESS_OF(p)      ((NEAR_POINTER float *)(p))
#define NEAR_FLOATS        NEAR_POINTER float *
#define NEAR_WORDS         NEAR_POINTER UINT *
#define NEAR_WORDS_OF(p)   (p)
#define NEAR_AT(p, i)      ((p) + (i))
#define NEAR_ROW(p)        (*(NEAR_POINTER const float4 *)(p))
#define NEAR_WORD(p)       (*(NEAR_POINTER const UINT *)(p))
#define NEAR_PUT(p, x)     (*(p) = (x))
#define NEAR_PUT2(p, x, y) (*(NEAR_POINTER float2 *)(p) = PAIR(x, y))
#endif

#endif
