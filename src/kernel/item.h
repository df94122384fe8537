/// Item kernels: work that has no schedule of its own. A kernel is a loop over items in C and one
/// guarded work item on OpenCL and CUDA; the text between ITEM_BEGIN and ITEM_END is the same. With
/// the list and the struct of arguments.h:
///
///     ITEM_KERNEL(scale, SCALE_BUFFERS)
///     {
///         ITEM_BEGIN
///         scaled[item] = given.factor * source[item];
///         ITEM_END
///     }
///
/// Invariant: an item reads nothing that another item of the same launch writes, so that any order
/// and any device gives the same result. Sums over many items go in two launches: an item sums a
/// fixed stretch in order, then one item sums the stretches. What several items may write, all of
/// them the same value, goes through AGREE; a flag that any of them may raise through RAISE.
///
/// Inside: `item` (int), the buffers by their names, and `given`, the struct; no `return` and no
/// `continue` at the top level. double may be written as such: sums and products are not
/// contracted, and double division and ROOT are correctly rounded everywhere, so they have the same
/// bits; float division and roots go through double.
#ifndef CUTIS_KERNEL_ITEM_H
#define CUTIS_KERNEL_ITEM_H

#include "arguments.h"
#include "kernel.h"

#define INDEX                KERNEL_LONG
#define ITEM_END             }
#define ITEM_IN(type, name)  GLOBAL const type *RESTRICT name,
#define ITEM_OUT(type, name) GLOBAL type *name,
// clang-format off
// A GPU's compiler is asked for one kernel at a time: compute.c defines ITEM_ONLY_name of that one as
// ITEM_CHOSEN(name). The others of its text become functions that are never called, which cost next to
// nothing. OpenCL C has no macros with `...`: there the name itself is what the definition replaces.
#ifdef KERNEL_OPENCL
#ifdef cl_khr_fp64 // skins, which need none, run without it
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
#define ITEM_CHOSEN(name) name##_follows(void); KERNEL void name
#define ITEM_HEAD(name)   static void ITEM_ONLY_##name
#define ITEM_GIVEN(name)  const
#elif defined(KERNEL_CUDA)
#if __CUDA_ARCH__ >= 700 // its address is that of the constant bank: no copy for each work item
#define GIVEN const __grid_constant__
#else
#define GIVEN const
#endif
#define ITEM_CHOSEN(name)                     , KERNEL, GIVEN
#define ITEM_SECOND(first, second, ...)       second
#define ITEM_THIRD(first, second, third, ...) third
#define ITEM_LINKAGE(...)                     ITEM_SECOND(__VA_ARGS__, )
#define ITEM_CONSTANT(...)                    ITEM_THIRD(__VA_ARGS__, )
#define ITEM_HEAD(name)                       ITEM_LINKAGE(ITEM_ONLY_##name, static __device__, const) void name
#define ITEM_GIVEN(name)                      ITEM_CONSTANT(ITEM_ONLY_##name, static __device__, const)
#else
#define ITEM_HEAD(name)  static __attribute__((unused)) void name
#define ITEM_GIVEN(name) const
#endif
#define ITEM_KERNEL(name, BUFFERS) \
    ITEM_HEAD(name)(BUFFERS(ITEM_IN, ITEM_OUT) ITEM_GIVEN(name) name##_arguments given)
#if defined(KERNEL_OPENCL) || defined(KERNEL_CUDA)
#define ITEM_BEGIN                                                                                 \
    int item = given.item_first + GLOBAL_ID;                                                       \
    if (item < given.item_end) {
#define ROOT(x)      sqrt((double)(x))
#define MAGNITUDE(x) fabs((double)(x))
#define AGREE(to, x) ((to) = (x))
#else
#define GLOBAL
#define ITEM_BEGIN    for (int item = given.item_first; item < given.item_end; item++) {
#define ROOT(x)      __builtin_sqrt((double)(x))
#define MAGNITUDE(x) __builtin_fabs((double)(x))
#define AGREE(to, x) __atomic_store_n(&(to), x, __ATOMIC_RELAXED)
#endif
// clang-format on
#define RAISE(flag) AGREE(flag, 1)

#endif
