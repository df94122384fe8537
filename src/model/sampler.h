/// A sampler's memory, between its making (sampler_create.c) and its use (sampler.c).
///
/// Channels are sorted into runs: same path, same interpolation, same times, one search each. The
/// channels of a run are in batches of four lanes with their keys side by side, so that four
/// nodes are interpolated at once; a run of one or two channels has narrow batches of one, whose
/// vectors are the components.
///
/// Keys of a wide batch are [component][lane], of a narrow one [component] and padded to 4; cubic
/// ones have in-tangent, value, out-tangent, in this order. A linear rotation key is followed by Z
/// = angle^2 to the next key and 1 / S(Z). In narrow scale keys the components stand at 1..3, where
/// the store puts them.
#ifndef CUTIS_MODEL_SAMPLER_H
#define CUTIS_MODEL_SAMPLER_H

#include <cutis/clip.h>

#include "base/memory.h"

typedef struct cutis_batch {
    float *keys; ///< [key][stride]
    /// Of the lanes; missing ones repeat the last, so that no loop needs a count. Morph weights:
    /// first entry of the pose, count.
    uint32_t nodes[4];
    bool loose; ///< linear rotations: a key is not of unit length, the result must be made so
    int32_t loose_lanes[4]; ///< -1 in the lanes where that is so
} cutis_batch;

typedef struct cutis_run {
    cutis_path path;
    cutis_interpolation interpolation;
    bool narrow;
    uint32_t key_count;
    uint32_t stride; ///< floats from key to key of a batch
    const float *times;
    uint32_t bin_count;
    float bin_scale;      ///< bins per second
    const uint32_t *bins; ///< bin_count + 1: how many keys lie in earlier bins
    uint32_t batch_count;
    cutis_batch *batches;
} cutis_run;

struct cutis_sampler {
    cutis_context *context;
    cutis_arena arena; ///< owns everything below
    float duration;
    uint32_t node_count, target_count;
    const cutis_transform *rest;
    const float *rest_targets;
    uint32_t run_count, run_first_rotation;
    cutis_run *runs; ///< translations and scales, then rotations, then weights
    uint32_t restore_count;
    const uint32_t
        *restore; ///< nodes with a translation or scale but no rotation: theirs is at rest
};

/// A sampler of a clip that need not be the model's own, but of its nodes.
cutis_result cutis_sampler_make(const cutis_model *model, const cutis_clip *clip,
                                cutis_sampler **out);

/// Which bin a time falls into; ascends with time, whatever the rounding.
static inline uint32_t cutis_run_bin(const cutis_run *run, float seconds)
{
    float place = (seconds - run->times[0]) * run->bin_scale;
    return place < (float)run->bin_count ? (uint32_t)place : run->bin_count - 1;
}

#endif
