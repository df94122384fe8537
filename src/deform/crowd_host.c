/// Poses of a crowd by the host's threads: clips sampled and blended, then cutis_deform with roots.
/// For levels that the device's kernels do not pose, and for CPU devices, whose vectors do it
/// quicker this way. Invariant: nothing is allocated.
#include "deform/crowd.h"

#include <string.h>

#include "base/error.h"

// Slots that one task samples.
enum { TASK_SLOTS = 8 };

typedef struct host_job {
    cutis_crowd *crowd;
    const uint32_t *drawn;
    uint32_t count;
    bool before;
    double clock;
} host_job;

static void pose_slot(const host_job *job, uint32_t slot)
{
    cutis_crowd *crowd = job->crowd;
    const crowd_clips *clips = &crowd->clips;
    const cutis_model *model = crowd->levels[0].binding->base.model;
    const cutis_crowd_instance *given =
        &(job->before ? crowd->before : crowd->now)[job->drawn[slot]];
    const size_t nodes = crowd->node_count, targets = crowd->target_count;
    cutis_transform *pose = crowd->host_poses + nodes * slot;
    cutis_transform *over = crowd->host_over + nodes * slot;
    float *weights = targets ? crowd->host_targets + targets * slot : NULL;
    float *over_weights = targets ? crowd->host_targets_over + targets * slot : NULL;
    crowd->host_roots[slot] = crowd->options.placed ? given->root : cutis_transform_identity();
    if (given->track_count == 0) cutis_pose_rest(model, pose, weights);
    for (uint32_t t = 0; t < given->track_count; t++) {
        const cutis_crowd_track *track = &given->tracks[t];
        const float seconds = cutis_crowd_track_time(crowd, track, job->clock);
        cutis_sampler_sample(clips->samplers[track->clip], seconds, t ? over : pose,
                             t ? over_weights : weights);
        if (t == 0) continue;
        cutis_pose_blend(pose, over, track->weight, (uint32_t)nodes, pose);
        for (size_t i = 0; i < targets; i++)
            weights[i] = (1.0f - track->weight) * weights[i] + track->weight * over_weights[i];
    }
}

static void pose_slots(void *data, uint32_t task)
{
    const host_job *job = data;
    const uint32_t end = (task + 1) * TASK_SLOTS;
    for (uint32_t slot = task * TASK_SLOTS; slot < end && slot < job->count; slot++)
        pose_slot(job, slot);
}

cutis_result cutis_crowd_host_prepare(cutis_crowd *crowd)
{
    const size_t nodes = crowd->node_count, targets = crowd->target_count;
    for (uint32_t l = 0; l < crowd->level_count; l++)
        if (!crowd->levels[l].on_device && crowd->levels[l].batch > crowd->host_batch)
            crowd->host_batch = crowd->levels[l].batch;
    const size_t batch = crowd->host_batch;
    size_t mapped = 0;
    for (uint32_t l = 0; l < crowd->level_count; l++)
        if (crowd->levels[l].map && crowd->levels[l].binding->node_count > mapped)
            mapped = crowd->levels[l].binding->node_count;
    crowd->host_mapped = cutis_arena_alloc(&crowd->arena, batch * mapped, sizeof(cutis_transform));
    crowd->host_poses = cutis_arena_alloc(&crowd->arena, batch * nodes, sizeof(cutis_transform));
    crowd->host_over = cutis_arena_alloc(&crowd->arena, batch * nodes, sizeof(cutis_transform));
    crowd->host_targets = cutis_arena_alloc(&crowd->arena, batch * targets, sizeof(float));
    crowd->host_targets_over = cutis_arena_alloc(&crowd->arena, batch * targets, sizeof(float));
    crowd->host_roots = cutis_arena_alloc(&crowd->arena, batch, sizeof(cutis_transform));
    return crowd->host_mapped && crowd->host_poses && crowd->host_over && crowd->host_targets &&
                   crowd->host_targets_over && crowd->host_roots
               ? CUTIS_OK
               : cutis_alloc_result(crowd->context);
}

cutis_result cutis_crowd_host_run(cutis_crowd *crowd, const crowd_level *level, uint32_t first,
                                  uint32_t count, uint32_t written, bool before, double clock,
                                  const cutis_outputs *outputs)
{
    host_job job = { crowd, crowd->drawn + level->drawn_first + first, count, before, clock };
    cutis_transform *local = level->map ? crowd->host_mapped : crowd->host_poses;
    const cutis_poses poses = { .local = local,
                                .morph_weights = crowd->target_count ? crowd->host_targets : NULL };
    cutis_device_run_items(crowd->device, pose_slots, &job, count, TASK_SLOTS);
    for (size_t slot = 0; level->map && slot < count; slot++)
        cutis_crowd_map_pose(level, crowd->host_poses + slot * crowd->node_count,
                             local + slot * level->binding->node_count);
    return cutis_deform_rooted(&level->binding->base, &poses, crowd->host_roots, count, written,
                               outputs);
}
