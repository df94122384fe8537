/// Team kernels: item kernels whose items are worth more than one lane. An item is done by a team
/// of TEAM_LANES work items (a warp or less) on OpenCL and CUDA and by one lane in C; the text is
/// the same.
///
///     TEAM_EACH(i, first, end) { ... }   every i once, by some lane
///     TEAM_SYNC;                         what lanes wrote before is seen by all lanes after
///     team_any(x), team_total(x), team_before(x)   over all lanes; every lane must call them
///     team_total_flag(x), team_before_flag(x)      the same where x is 0 or 1
///
/// Invariant: between two TEAM_SYNC no lane reads what another writes, except where any order of
/// reading and writing ends in the same result (a flag that only ever goes up, several lanes that
/// write the same value). Control flow around TEAM_SYNC and the team_ functions is the same in all
/// lanes. Sums of reals are made in TEAM_PARTS stretches, i and i + TEAM_PARTS in the same one, and
/// the stretches added in order: one order for any number of lanes.
///
/// A team of more than a warp is a group (its kernel's group_size is its lanes) and has TEAM_SYNC
/// alone.
///
/// TEAM_LANES of a GPU come with the text, as cutis_compute_kernel.lanes. TEAM_ALONE: one lane on
/// a GPU too (cutis_gpu.alone; item kernels that use functions of teams).
///
/// TEAM_PARAM ends the parameters of a function that needs the team, TEAM_PASS its arguments:
/// OpenCL needs memory for what lanes tell each other.
#ifndef CUTIS_KERNEL_TEAM_H
#define CUTIS_KERNEL_TEAM_H

#include "item.h"

#define TEAM_PARTS 32
// clang-format off
#if defined(KERNEL_OPENCL) && !defined(TEAM_ALONE)
#define TEAM_LANE  LOCAL_ID
#define TEAM_SYNC  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#define TEAM_FN    static
#define TEAM_PARAM , LOCAL int *team_words
#define TEAM_PASS  , team_words
#define TEAM_BEGIN                                                                                 \
    LOCAL int team_words[TEAM_LANES];                                                              \
    int item = given.item_first + GROUP_ID;                                                        \
    {
#elif defined(KERNEL_CUDA) && !defined(TEAM_ALONE)
// A group has several teams, and a warp has where they are of fewer lanes than it has.
#ifndef TEAM_LANES // a program that has item kernels beside those of teams
#define TEAM_LANES 32
#endif
#define TEAM_LANE  (LOCAL_ID % TEAM_LANES)
#if TEAM_LANES >= 32
#define TEAM_SHIFT 0
#define TEAM_MASK  0xffffffffu
#else
#define TEAM_SHIFT (LOCAL_ID % 32 / TEAM_LANES * TEAM_LANES)
#define TEAM_MASK  (((1u << TEAM_LANES) - 1u) << TEAM_SHIFT)
#endif
#if TEAM_LANES > 32 // several warps, which are a group: none of the team_ functions
#define TEAM_SYNC  __syncthreads()
#else
#define TEAM_SYNC  __syncwarp(TEAM_MASK)
#endif
#define TEAM_FN    static __device__
#define TEAM_PARAM
#define TEAM_PASS
#define TEAM_BEGIN                                                                                 \
    int item = given.item_first + GROUP_ID * (LOCAL_SIZE / TEAM_LANES) + LOCAL_ID / TEAM_LANES;    \
    if (item < given.item_end) {
#else
#ifdef TEAM_HOST // a test that runs TEAM_LANES one after the other: team_host_lane, team_host_sync, team_host_words
#define TEAM_LANE  team_host_lane
#define TEAM_SYNC  team_host_sync()
#else
#define TEAM_LANES 1
#define TEAM_LANE  0
#define TEAM_SYNC  ((void)0)
#endif
#ifdef KERNEL_CUDA
#define TEAM_FN    static __device__
#else
#define TEAM_FN    static __attribute__((unused))
#endif
#define TEAM_PARAM
#define TEAM_PASS
#define TEAM_BEGIN ITEM_BEGIN
#endif
// clang-format on
#define TEAM_KERNEL(name, BUFFERS) ITEM_KERNEL(name, BUFFERS)
// Item of instance `instance` and index `index` of `count`. On a GPU the same index of all
// instances comes first: teams that run at the same time then read the same part of the body.
#if (defined(KERNEL_CUDA) || defined(KERNEL_OPENCL)) && !defined(TEAM_ALONE)
#define TEAM_INSTANCE(count) (item % (given.item_end / (count)))
#define TEAM_INDEX(count)    (item / (given.item_end / (count)))
#else
#define TEAM_INSTANCE(count) (item / (count))
#define TEAM_INDEX(count)    (item % (count))
#endif
#define TEAM_LOOP(i, first, end) for (int i = (first) + TEAM_LANE; i < (end); i += TEAM_LANES)
#ifdef KERNEL_CUDA // not unrolled: loops are short, and a multiprocessor waits for instructions
#define TEAM_EACH(i, first, end) _Pragma("unroll 1") TEAM_LOOP(i, first, end)
#else
#define TEAM_EACH(i, first, end) TEAM_LOOP(i, first, end)
#endif

#if defined(KERNEL_CUDA) && !defined(TEAM_ALONE)
FN int team_before(int x)
{
    int sum = x;
    for (int step = 1; step < TEAM_LANES; step *= 2) {
        int other = __shfl_up_sync(TEAM_MASK, sum, step, TEAM_LANES);
        if (TEAM_LANE >= step) sum += other;
    }
    return sum - x;
}
FN int team_total(int x)
{
    for (int step = 1; step < TEAM_LANES; step *= 2)
        x += __shfl_xor_sync(TEAM_MASK, x, step, TEAM_LANES);
    return x;
}
#define team_ballot(x)      ((__ballot_sync(TEAM_MASK, x) & TEAM_MASK) >> TEAM_SHIFT)
#define team_any(x)         __any_sync(TEAM_MASK, x)
#define team_before_flag(x) __popc(team_ballot(x) & ((1u << TEAM_LANE) - 1u))
#define team_total_flag(x)  __popc(team_ballot(x))
#elif (defined(KERNEL_OPENCL) && !defined(TEAM_ALONE)) || defined(TEAM_HOST)
#ifdef TEAM_HOST
#define team_words team_host_words
#endif
// Sum over the lanes before `end`.
FN int team_sum(int x, int end TEAM_PARAM)
{
    int sum = 0;
    TEAM_SYNC;
    team_words[TEAM_LANE] = x;
    TEAM_SYNC;
    for (int i = 0; i < end; i++) sum += team_words[i];
    return sum;
}
#define team_any(x)    (team_sum((x) != 0, TEAM_LANES TEAM_PASS) > 0)
#define team_total(x)  team_sum(x, TEAM_LANES TEAM_PASS)
#define team_before(x) team_sum(x, TEAM_LANE TEAM_PASS)
#else
#define team_any(x)    ((x) != 0)
#define team_total(x)  (x)
#define team_before(x) ((void)(x), 0)
#endif
#ifndef team_total_flag
#define team_before_flag(x) team_before(x)
#define team_total_flag(x)  team_total(x)
#endif

#endif
