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
    uint32_t automatic_count;          ///< of all kinds, held-out ones not counted
    uint32_t clip_count, random_count; ///< MOMENTS: learned from, of which examples are some
    uint32_t held_out_random_count;    ///< the last ones of those held out
    cutis_transform *clip_learned, *random_learned; ///< node_count per pose
    cutis_transform *decide; ///< MOMENTS: frames held out, more than are shown, that decide
    uint32_t decide_count;
    cutis_reduce_pose *origins;  ///< example_count + held_out_count
    cutis_transform *transforms; ///< node_count per pose: examples, held out, added
} cutis_reduce_poses;

/// Choose them as the options say; arrays in the arena.
/// @return CUTIS_INVALID_ARGUMENT (no such clip), CUTIS_OUT_OF_MEMORY
cutis_result cutis_reduce_poses_create(const cutis_model *model,
                                       const cutis_reduce_options *options, cutis_arena *arena,
                                       cutis_reduce_poses *out);

/// The same for reduction by moments: even frames of clips and random poses are learned from, odd
/// frames and the next seed's random poses held out (poses_mixed.c). @param device its threads
cutis_result cutis_reduce_poses_mix(const cutis_model *model, cutis_device *device,
                                    const cutis_reduce_options *options, cutis_arena *arena,
                                    cutis_reduce_poses *out);

/// Random poses of the rig, node_count transforms each: first those whose joints are turned as far
/// as they go, then `count` others, and room for `more`; NULL: no memory.
cutis_transform *cutis_reduce_random_poses(const cutis_model *model, cutis_device *device,
                                           uint64_t seed, uint32_t count, uint32_t far_count,
                                           uint32_t more, cutis_arena *arena);

/// Frames of several clips, and the rotations they are compared by.
typedef struct cutis_reduce_frames {
    uint32_t count, joint_count;
    cutis_reduce_pose *origins;
    float *rotations; ///< 4 per joint and frame; frame `count` is the bind pose
    uint32_t *joints; ///< node of each joint, ascending
    int32_t *above;   ///< index of the nearest joint above it, or -1
} cutis_reduce_frames;

/// Joints of the skins in use, each node once.
bool cutis_reduce_list_joints(const cutis_model *model, cutis_arena *arena,
                              cutis_reduce_frames *out);
/// The times of all frames of the clips, at 30 a second or as many as fit.
/// @return CUTIS_INVALID_ARGUMENT (no such clip)
cutis_result cutis_reduce_list_frames(const cutis_model *model, const uint32_t *clips,
                                      uint32_t clip_count, cutis_arena *arena,
                                      cutis_reduce_frames *out);

/// Reads poses of clips; the sampler is kept between calls for the same clip.
typedef struct cutis_reduce_reader {
    const cutis_model *model;
    cutis_sampler *sampler; ///< destroy it at the end
    int32_t clip;
} cutis_reduce_reader;
cutis_result cutis_reduce_read_pose(cutis_reduce_reader *r, cutis_reduce_pose origin,
                                    cutis_transform *out);
bool cutis_reduce_alloc_poses(const cutis_model *model, cutis_arena *arena,
                              cutis_reduce_poses *out);

/// Twelve uniforms less six: variance 1, the same bits everywhere, never beyond 6.
static inline double cutis_random_gaussian(uint64_t seed, uint64_t stream, uint64_t index)
{
    double sum = -6;
    for (uint64_t i = 0; i < 12; i++) sum += cutis_random_unit(seed, stream, 12 * index + i);
    return sum;
}

#endif
