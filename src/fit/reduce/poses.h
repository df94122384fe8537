/// The poses a reduction learns from and is judged by (docs/spec/conventions.md 4).
#ifndef CUTIS_FIT_REDUCE_POSES_H
#define CUTIS_FIT_REDUCE_POSES_H

#include <cutis/clip.h>
#include <cutis/synth.h>
#include <cutis/weights.h>

#include "base/memory.h"

typedef struct cutis_reduce_poses {
    uint32_t example_count, held_out_count;
    uint32_t added_count; ///< automatic poses that stand behind those, for motion the examples do
                          ///< not show
    uint32_t automatic_count;    ///< of all kinds, held-out ones not counted
    cutis_reduce_pose *origins;  ///< example_count + held_out_count
    cutis_transform *transforms; ///< node_count per pose: examples, held out, added
} cutis_reduce_poses;

/// Choose them as the options say; arrays in the arena.
/// @return CUTIS_INVALID_ARGUMENT (no such clip), CUTIS_OUT_OF_MEMORY
cutis_result cutis_reduce_poses_create(const cutis_model *model,
                                       const cutis_reduce_options *options, cutis_arena *arena,
                                       cutis_reduce_poses *out);

/// Twelve uniforms less six: variance 1, the same bits everywhere, never beyond 6.
static inline double cutis_random_gaussian(uint64_t seed, uint64_t stream, uint64_t index)
{
    double sum = -6;
    for (uint64_t i = 0; i < 12; i++) sum += cutis_random_unit(seed, stream, 12 * index + i);
    return sum;
}

#endif
