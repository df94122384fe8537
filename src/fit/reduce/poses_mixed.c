// The poses of reduction by moments: frames of clips, of which every second is held out, and random
// poses of the rig, of which the next seed's are. Invariant: nothing that is learned from is judged
// by; the choice depends on the model and the options only.
#include <string.h>

#include "base/error.h"
#include "device/device.h"
#include "fit/reduce/poses.h"

enum {
    LEARNED_MAX = 512, // frames of clips that are learned from; more are thinned out evenly
    JUDGED = 96,       // frames, and random poses, to judge by: more random ones of small bodies
    JUDGED_MOST = 512,
    DECIDING_MAX = 512, // frames held out that decide
    EXAMPLES = 16, // of those learned from, that the report shows (and older methods learn from)
};
static const uint32_t RANDOM[3] = { 512, 128, 1024 }; // by effort: normal, fast, best
// Half the range of a joint's turn, in degrees: the same for all. Ranges as far as clips show them
// (up to 90) were worse on random poses of 40, and hardly better on clips
// (docs/design/reduction.md).
static const double RANGE = 40;
// Small bodies have few vertices to average over: judged vertices, with those of all poses.
static const double JUDGED_VERTICES = 250000;
static const double DEGREE = 0.017453292519943295;

// Frames of clips: learned from, held out.
typedef struct split {
    cutis_reduce_pose *learned, *judged;
    uint32_t learned_count, judged_count;
} split;

// Even frames of every clip are learned from and odd ones judged by; of clips of one frame every
// second. `all`: all are learned from.
static void deal(const cutis_reduce_frames *frames, bool all, split *out)
{
    uint32_t in_clip = 0, singles = 0;
    for (uint32_t f = 0; f < frames->count; f++) {
        const bool begins = f == 0 || frames->origins[f - 1].clip != frames->origins[f].clip;
        const bool ends =
            f + 1 == frames->count || frames->origins[f + 1].clip != frames->origins[f].clip;
        in_clip = begins ? 0 : in_clip + 1;
        const bool odd = begins && ends ? singles++ % 2 : in_clip % 2;
        if (odd && !all)
            out->judged[out->judged_count++] = frames->origins[f];
        else
            out->learned[out->learned_count++] = frames->origins[f];
    }
}

static uint32_t thin(cutis_reduce_pose *list, uint32_t count, uint32_t most)
{
    for (uint32_t i = 0; count > most && i < most; i++) list[i] = list[(uint64_t)i * count / most];
    return count < most ? count : most;
}

static cutis_result split_clips(const cutis_model *model, const uint32_t *clips,
                                uint32_t clip_count, bool all, cutis_arena *arena, split *out)
{
    cutis_reduce_frames frames = { 0 };
    TRY(cutis_reduce_list_frames(model, clips, clip_count, arena, &frames));
    out->learned = cutis_arena_alloc(arena, frames.count, sizeof *out->learned);
    out->judged = cutis_arena_alloc(arena, frames.count, sizeof *out->judged);
    if (!out->learned || !out->judged) return cutis_alloc_result(cutis_model_context(model));
    deal(&frames, all, out);
    out->learned_count = thin(out->learned, out->learned_count, LEARNED_MAX);
    out->judged_count = thin(out->judged, out->judged_count, DECIDING_MAX);
    return CUTIS_OK;
}

static cutis_result read_frames(const cutis_model *model, const cutis_reduce_pose *origins,
                                uint32_t count, cutis_transform *out)
{
    const size_t nodes = cutis_model_get(model)->node_count;
    cutis_reduce_reader reader = { .model = model };
    cutis_result result = CUTIS_OK;
    for (uint32_t i = 0; i < count && result == CUTIS_OK; i++)
        result = cutis_reduce_read_pose(&reader, origins[i], out + i * nodes);
    cutis_sampler_destroy(reader.sampler);
    return result;
}

// The rig as random poses turn it, and who draws them.
typedef struct rig {
    const cutis_model *model;
    cutis_device *device;
    cutis_reduce_frames joints;
    cutis_transform *rest;
} rig;

static bool open_rig(const cutis_model *model, cutis_device *device, cutis_arena *arena, rig *out)
{
    out->model = model;
    out->device = device;
    out->rest = cutis_arena_alloc(arena, cutis_model_get(model)->node_count, sizeof *out->rest);
    if (!out->rest || !cutis_reduce_list_joints(model, arena, &out->joints)) return false;
    cutis_pose_rest(model, out->rest, NULL);
    return true;
}

// Every joint turned from rest by a uniform angle within the range about a random axis.
// @param far to the end of the range
static void random_pose(const rig *r, uint64_t seed, uint64_t index, bool far, cutis_transform *out)
{
    memcpy(out, r->rest, cutis_model_get(r->model)->node_count * sizeof *out);
    for (uint32_t j = 0; j < r->joints.joint_count; j++) {
        const uint64_t n = r->joints.joints[j];
        double axis[3], square = 0;
        for (uint32_t c = 0; c < 3; c++) {
            axis[c] = cutis_random_gaussian(seed, index, 3 * n + c);
            square += axis[c] * axis[c];
        }
        // Behind the Gaussians' own numbers: twelve of each.
        double turn = 2 * cutis_random_unit(seed, index, (36ull << 32) + n) - 1;
        if (far) turn = turn < 0 ? -1 : 1;
        if (!(square > 1e-12)) continue;
        const cutis_quat q = cutis_quat_from_axis_angle(
            (cutis_float3){ (float)axis[0], (float)axis[1], (float)axis[2] },
            (float)(turn * RANGE * DEGREE));
        out[n].rotation = cutis_quat_multiply(out[n].rotation, q);
    }
}

enum { TASK = 16 }; // poses

typedef struct drawing {
    const rig *rig;
    uint64_t seed;
    uint32_t count, far_count;
    cutis_transform *out;
} drawing;

static void draw_task(void *data, uint32_t task)
{
    const drawing *d = data;
    const size_t nodes = cutis_model_get(d->rig->model)->node_count;
    for (uint32_t i = task * TASK; i < (task + 1) * TASK && i < d->count; i++)
        random_pose(d->rig, d->seed, i, i < d->far_count, d->out + i * nodes);
}

static void random_poses(const rig *r, uint64_t seed, uint32_t count, uint32_t far_count,
                         cutis_transform *out)
{
    drawing d = { r, seed, count, far_count, out };
    cutis_device_run_items(r->device, draw_task, &d, count, TASK);
}

cutis_transform *cutis_reduce_random_poses(const cutis_model *model, cutis_device *device,
                                           uint64_t seed, uint32_t count, uint32_t far_count,
                                           uint32_t more, cutis_arena *arena)
{
    const size_t nodes = cutis_model_get(model)->node_count;
    rig r = { 0 };
    cutis_transform *out =
        cutis_arena_alloc(arena, (size_t)count + far_count + more, nodes * sizeof *out);
    if (!out || !open_rig(model, device, arena, &r)) return NULL;
    random_poses(&r, seed, count + far_count, far_count, out);
    return out;
}

// Frames held out decide, too: there are no others of their kind.
static cutis_result read_deciding(const cutis_model *model, const cutis_reduce_options *o,
                                  const split *frames, cutis_arena *arena, cutis_reduce_poses *out)
{
    const size_t nodes = cutis_model_get(model)->node_count;
    out->decide_count = frames->judged_count;
    out->decide = cutis_arena_alloc(arena, out->decide_count * nodes, sizeof *out->decide);
    if (!out->decide) return cutis_alloc_result(arena->context);
    if (!o->held_out) return read_frames(model, frames->judged, out->decide_count, out->decide);
    memcpy(out->decide, o->held_out, out->decide_count * nodes * sizeof *out->decide);
    return CUTIS_OK;
}

// Random poses to judge by.
static uint32_t count_judged(const cutis_model *model)
{
    const cutis_model_data *data = cutis_model_get(model);
    double vertices = 1;
    for (uint32_t i = 0; i < data->mesh_count; i++)
        for (uint32_t k = 0; k < data->meshes[i].primitive_count; k++)
            vertices += data->meshes[i].primitives[k].vertex_count;
    const double count = JUDGED_VERTICES / vertices;
    return count < JUDGED ? JUDGED : count > JUDGED_MOST ? JUDGED_MOST : (uint32_t)count;
}

// All poses that are learned from, and what there is to judge by.
static cutis_result choose(const cutis_model *model, const cutis_reduce_options *o,
                           const uint32_t *clips, uint32_t clip_count, cutis_arena *arena,
                           split *frames, split *others, cutis_reduce_poses *out)
{
    const size_t nodes = cutis_model_get(model)->node_count;
    const bool judged_apart = o->held_out || o->held_out_clips;
    if (o->examples)
        frames->learned_count = o->example_count;
    else if (clip_count)
        TRY(split_clips(model, clips, clip_count, judged_apart, arena, frames));
    if (o->held_out)
        frames->judged_count = o->held_out_count;
    else if (o->held_out_clips)
        TRY(split_clips(model, o->held_out_clips, o->held_out_clip_count, true, arena, others));
    if (o->held_out_clips && !o->held_out) {
        frames->judged = others->learned;
        frames->judged_count = others->learned_count;
    }
    TRY(read_deciding(model, o, frames, arena, out));
    if (!o->held_out) frames->judged_count = thin(frames->judged, frames->judged_count, JUDGED);
    out->clip_count = frames->learned_count;
    out->random_count = o->examples_only && out->clip_count ? 0 : RANDOM[o->effort];
    out->held_out_random_count = count_judged(model);
    out->clip_learned =
        cutis_arena_alloc(arena, out->clip_count * nodes, sizeof *out->clip_learned);
    out->random_learned =
        cutis_arena_alloc(arena, out->random_count * nodes, sizeof *out->random_learned);
    if (!out->clip_learned || !out->random_learned)
        return cutis_alloc_result(cutis_model_context(model));
    if (!o->examples)
        return read_frames(model, frames->learned, frames->learned_count, out->clip_learned);
    memcpy(out->clip_learned, o->examples, out->clip_count * nodes * sizeof *out->clip_learned);
    return CUTIS_OK;
}

// Some of those learned from, then all that is held out, in the report's order.
static cutis_result lay_out(const cutis_model *model, const cutis_reduce_options *o,
                            const split *frames, const rig *r, uint64_t seed, cutis_arena *arena,
                            cutis_reduce_poses *out)
{
    const size_t nodes = cutis_model_get(model)->node_count;
    const bool clips = out->clip_count > 0;
    const uint32_t learned = clips ? out->clip_count : out->random_count;
    const cutis_transform *from = clips ? out->clip_learned : out->random_learned;
    out->example_count = learned < EXAMPLES ? learned : EXAMPLES;
    out->held_out_count = frames->judged_count + out->held_out_random_count;
    out->automatic_count = out->random_count;
    if (!cutis_reduce_alloc_poses(model, arena, out))
        return cutis_alloc_result(cutis_model_context(model));
    for (uint32_t i = 0; i < out->example_count; i++) {
        const uint32_t at = (uint32_t)((uint64_t)i * learned / out->example_count);
        memcpy(out->transforms + i * nodes, from + at * nodes, nodes * sizeof *from);
        if (clips && !o->examples) out->origins[i] = frames->learned[at];
    }
    cutis_transform *held_out = out->transforms + out->example_count * nodes;
    random_poses(r, seed + 1, out->held_out_random_count, 0,
                 held_out + frames->judged_count * nodes);
    if (o->held_out) {
        memcpy(held_out, o->held_out, frames->judged_count * nodes * sizeof *held_out);
        return CUTIS_OK;
    }
    for (uint32_t i = 0; i < frames->judged_count; i++)
        out->origins[out->example_count + i] = frames->judged[i];
    return read_frames(model, frames->judged, frames->judged_count, held_out);
}

cutis_result cutis_reduce_poses_mix(const cutis_model *model, cutis_device *device,
                                    const cutis_reduce_options *options, cutis_arena *arena,
                                    cutis_reduce_poses *out)
{
    const uint32_t all = cutis_model_get(model)->clip_count;
    const uint64_t seed = options->seed ? options->seed : 1;
    cutis_reduce_options o = *options;
    split frames = { 0 }, others = { 0 };
    rig r = { 0 };
    *out = (cutis_reduce_poses){ 0 };
    if (o.automatic) o.examples = NULL, o.held_out = NULL, o.held_out_clips = NULL;
    uint32_t *every = cutis_arena_alloc(arena, all, sizeof *every);
    if (!every || !open_rig(model, device, arena, &r)) return cutis_alloc_result(arena->context);
    for (uint32_t c = 0; c < all; c++) every[c] = c;
    const uint32_t count = o.automatic ? 0 : o.clips ? o.clip_count : all;
    TRY(choose(model, &o, o.clips ? o.clips : every, count, arena, &frames, &others, out));
    random_poses(&r, seed, out->random_count, 0, out->random_learned);
    return lay_out(model, &o, &frames, &r, seed, arena, out);
}
