// Example poses: frames of clips chosen far from each other, held-out frames between them,
// automatic poses from the rig. Invariant: the choice depends on the model and the options only;
// random numbers are the counter hash of (seed, pose, node and axis).
#include "fit/reduce/poses.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "geometry/order.h"
#include "math/mat3.h"
#include "math/quat.h"
#include "math/svd3.h"

enum { EXAMPLES = 16, HELD_OUT = 64, AUTOMATIC = 16, FPS = 30 };
// Frames looked at: clips longer than this are sampled more coarsely. Also bounds the memory of
// large rigs.
enum { FRAMES_MAX = 4096, FRAME_NODES_MAX = 1 << 24 };
static const float DEGREE = 0.017453292519943295f;

typedef cutis_reduce_frames frames;

// Every joint but the roots turned from the node rest pose by a Gaussian of 15 degrees about each
// of its axes, cut at 45. @param moved per node: turn it
static void automatic_pose(const cutis_model *model, const bool *moved, uint64_t seed,
                           uint32_t index, cutis_transform *transforms)
{
    const cutis_model_data *data = cutis_model_get(model);
    cutis_pose_rest(model, transforms, NULL);
    for (uint32_t n = 0; n < data->node_count; n++) {
        if (!moved[n]) continue;
        float turn[3], square = 0;
        for (uint32_t axis = 0; axis < 3; axis++) {
            double g = 15 * cutis_random_gaussian(seed, index, 3 * (uint64_t)n + axis);
            turn[axis] = DEGREE * (float)fmax(-45, fmin(45, g));
            square += turn[axis] * turn[axis];
        }
        cutis_quat q =
            cutis_quat_from_axis_angle((cutis_float3){ turn[0], turn[1], turn[2] }, sqrtf(square));
        transforms[n].rotation = cutis_quat_multiply(transforms[n].rotation, q);
    }
}

bool cutis_reduce_list_joints(const cutis_model *model, cutis_arena *arena, frames *out)
{
    const cutis_model_data *data = cutis_model_get(model);
    const cutis_instance *instances;
    uint32_t instance_count = cutis_model_instances(model, &instances);
    int32_t *index = cutis_arena_alloc(arena, data->node_count, sizeof *index);
    bool *used = cutis_arena_zero(arena, data->skin_count, sizeof *used);
    if (!index || !used) return false;
    for (uint32_t n = 0; n < data->node_count; n++) index[n] = -1;
    for (uint32_t i = 0; i < instance_count; i++) {
        if (instances[i].skin == CUTIS_NONE || used[instances[i].skin]) continue;
        const cutis_skin *skin = &data->skins[instances[i].skin];
        used[instances[i].skin] = true;
        for (uint32_t j = 0; j < skin->joint_count; j++) index[skin->joints[j]] = 0;
    }
    for (uint32_t n = 0; n < data->node_count; n++)
        if (index[n] == 0) index[n] = (int32_t)out->joint_count++;
    out->joints = cutis_arena_alloc(arena, out->joint_count, sizeof *out->joints);
    out->above = cutis_arena_alloc(arena, out->joint_count, sizeof *out->above);
    if (!out->joints || !out->above) return false;
    for (uint32_t n = 0; n < data->node_count; n++) {
        if (index[n] < 0) continue;
        int32_t parent = data->nodes[n].parent;
        while (parent != CUTIS_NONE && index[parent] < 0) parent = data->nodes[parent].parent;
        out->joints[index[n]] = n;
        out->above[index[n]] = parent == CUTIS_NONE ? -1 : index[parent];
    }
    return true;
}

static void world_rotation(const float *matrix, double *quat)
{
    double m[12], linear[9], rotation[9];
    double34_from_floats(matrix, m);
    double34_linear(m, linear);
    if (cutis_polar3(linear, rotation))
        cutis_quat_from_mat3(rotation, quat);
    else
        memcpy(quat, (double[4]){ 1, 0, 0, 0 }, 4 * sizeof *quat);
}

// Rotations relative to the joint above, from world rotations (4 doubles per joint).
static void relative_rotations(const frames *all, const double *world, float *out)
{
    for (uint32_t j = 0; j < all->joint_count; j++) {
        double q[4];
        memcpy(q, world + 4 * (size_t)j, sizeof q);
        if (all->above[j] >= 0) {
            const double *p = world + 4 * (size_t)all->above[j];
            double inverse[4] = { p[0], -p[1], -p[2], -p[3] };
            double_quat_multiply(inverse, q, q);
        }
        for (int c = 0; c < 4; c++) out[4 * (size_t)j + c] = (float)q[c];
    }
}

// Rotations of the bind pose: the inverses of the inverse binds.
static void bind_rotations(const cutis_model *model, const frames *all, double *world)
{
    const cutis_model_data *data = cutis_model_get(model);
    for (uint32_t j = 0; j < all->joint_count; j++)
        memcpy(world + 4 * (size_t)j, (double[4]){ 1, 0, 0, 0 }, 4 * sizeof *world);
    for (uint32_t s = data->skin_count; s-- > 0;) { // the first skin has the last word
        const cutis_skin *skin = &data->skins[s];
        for (uint32_t k = 0; skin->inverse_binds && k < skin->joint_count; k++) {
            const size_t at = order_last(all->joints, 0, all->joint_count, skin->joints[k]);
            if (all->joint_count == 0 || all->joints[at] != skin->joints[k]) continue;
            double *q = world + 4 * at;
            world_rotation(skin->inverse_binds[k].m, q);
            for (int c = 1; c < 4; c++) q[c] = -q[c];
        }
    }
}

// Squared distance of two poses: chords of all joint rotations.
static double pose_distance(const frames *all, uint32_t a, uint32_t b)
{
    const float *p = all->rotations + 4 * (size_t)a * all->joint_count;
    const float *q = all->rotations + 4 * (size_t)b * all->joint_count;
    double sum = 0;
    for (uint32_t j = 0; j < all->joint_count; j++, p += 4, q += 4)
        sum += 2 - 2 * fabs((double)p[0] * q[0] + (double)p[1] * q[1] + (double)p[2] * q[2] +
                            (double)p[3] * q[3]);
    return sum;
}

static cutis_result check_clips(const cutis_model *model, const uint32_t *clips, uint32_t count)
{
    uint32_t clip_count = cutis_model_get(model)->clip_count;
    for (uint32_t i = 0; i < count; i++)
        if (clips[i] >= clip_count)
            return cutis_fail(cutis_model_context(model), CUTIS_INVALID_ARGUMENT,
                              "poses: there is no clip %u; the model has %u", clips[i], clip_count);
    return CUTIS_OK;
}

cutis_result cutis_reduce_list_frames(const cutis_model *model, const uint32_t *clips,
                                      uint32_t clip_count, cutis_arena *arena, frames *out)
{
    TRY(check_clips(model, clips, clip_count));
    const cutis_model_data *data = cutis_model_get(model);
    double limit =
        fmin(FRAMES_MAX, fmax(EXAMPLES + HELD_OUT, FRAME_NODES_MAX / (data->node_count + 1.0)));
    double total = 0, rate = FPS;
    for (uint32_t i = 0; i < clip_count; i++)
        total += floor(data->clips[clips[i]].duration * rate + 1e-3) + 1;
    if (total > limit) rate *= fmax(0, limit - clip_count) / total;
    uint32_t capacity = (uint32_t)fmin(total, limit + clip_count);
    out->origins = cutis_arena_alloc(arena, capacity, sizeof *out->origins);
    if (!out->origins) return cutis_alloc_result(cutis_model_context(model));
    for (uint32_t i = 0; i < clip_count; i++) {
        double last = floor(data->clips[clips[i]].duration * rate + 1e-3);
        for (double f = 0; f <= last && out->count < capacity; f++)
            out->origins[out->count++] =
                (cutis_reduce_pose){ (int32_t)clips[i], f > 0 ? (float)(f / rate) : 0 };
    }
    return CUTIS_OK;
}

cutis_result cutis_reduce_read_pose(cutis_reduce_reader *r, cutis_reduce_pose origin,
                                    cutis_transform *out)
{
    if (!r->sampler || r->clip != origin.clip) {
        cutis_sampler_destroy(r->sampler);
        r->sampler = NULL;
        TRY(cutis_sampler_create(r->model, (uint32_t)origin.clip, &r->sampler));
        r->clip = origin.clip;
    }
    cutis_sampler_sample(r->sampler, origin.seconds, out, NULL);
    return CUTIS_OK;
}

static cutis_result compare_frames(const cutis_model *model, cutis_arena *arena,
                                   cutis_reduce_reader *r, frames *all)
{
    cutis_context *context = cutis_model_context(model);
    const size_t nodes = cutis_model_get(model)->node_count, joints = all->joint_count;
    all->rotations = cutis_arena_alloc(arena, ((size_t)all->count + 1) * joints, 4 * sizeof(float));
    cutis_transform *local = cutis_arena_alloc(arena, nodes, sizeof *local);
    cutis_mat34 *world = cutis_arena_alloc(arena, nodes, sizeof *world);
    double *quats = cutis_arena_alloc(arena, joints, 4 * sizeof *quats);
    if (!all->rotations || !local || !world || !quats) return cutis_alloc_result(context);
    for (uint32_t f = 0; f < all->count; f++) {
        TRY(cutis_progress(context, "reading poses", (double)f / all->count));
        TRY(cutis_reduce_read_pose(r, all->origins[f], local));
        cutis_pose_world(model, local, world);
        for (size_t j = 0; j < joints; j++) world_rotation(world[all->joints[j]].m, quats + 4 * j);
        relative_rotations(all, quats, all->rotations + 4 * (size_t)f * joints);
    }
    bind_rotations(model, all, quats);
    relative_rotations(all, quats, all->rotations + 4 * (size_t)all->count * joints);
    return CUTIS_OK;
}

// Farthest-point choice: first the frame farthest from rest, then always the one farthest from
// those chosen. @param chosen all false
static uint32_t choose_examples(const frames *all, double *nearest, bool *chosen, uint32_t *list)
{
    uint32_t count = 0;
    for (uint32_t f = 0; f < all->count; f++) nearest[f] = pose_distance(all, f, all->count);
    while (count < EXAMPLES && count < all->count) {
        uint32_t best = all->count;
        for (uint32_t f = 0; f < all->count; f++)
            if (!chosen[f] && (best == all->count || nearest[f] > nearest[best])) best = f;
        chosen[best] = true;
        list[count++] = best;
        for (uint32_t f = 0; f < all->count; f++) {
            double d = pose_distance(all, f, best);
            nearest[f] = count == 1 ? d : fmin(nearest[f], d);
        }
    }
    return count;
}

// Up to 64 of the frames that are no examples, evenly spaced.
static uint32_t choose_held_out(const frames *all, const bool *chosen, uint32_t *list)
{
    uint32_t free_count = 0, count = 0, seen = 0;
    for (uint32_t f = 0; f < all->count; f++) free_count += !chosen[f];
    uint32_t wanted = free_count < HELD_OUT ? free_count : HELD_OUT;
    for (uint32_t f = 0; f < all->count && count < wanted; f++) {
        if (chosen[f]) continue;
        if ((uint64_t)seen * wanted / free_count >= count) list[count++] = f;
        seen++;
    }
    return count;
}

bool cutis_reduce_alloc_poses(const cutis_model *model, cutis_arena *arena, cutis_reduce_poses *out)
{
    size_t judged = (size_t)out->example_count + out->held_out_count;
    size_t nodes = cutis_model_get(model)->node_count, entries;
    if (!cutis_size_multiply(judged + out->added_count, nodes, &entries)) return false;
    out->origins = cutis_arena_alloc(arena, judged, sizeof *out->origins);
    out->transforms = cutis_arena_alloc(arena, entries, sizeof *out->transforms);
    for (size_t i = 0; out->origins && i < judged; i++)
        out->origins[i] = (cutis_reduce_pose){ CUTIS_NONE, 0 };
    return out->origins && out->transforms;
}

static bool fill_automatic(const cutis_model *model, cutis_arena *arena, uint64_t seed,
                           uint32_t count, cutis_transform *transforms)
{
    size_t nodes = cutis_model_get(model)->node_count;
    frames rig = { 0 };
    bool *moved = cutis_arena_zero(arena, nodes, sizeof *moved);
    if (!moved || !cutis_reduce_list_joints(model, arena, &rig)) return false;
    for (uint32_t j = 0; j < rig.joint_count; j++)
        if (rig.above[j] >= 0) moved[rig.joints[j]] = true;
    for (uint32_t i = 0; i < count; i++)
        automatic_pose(model, moved, seed, i, transforms + i * nodes);
    return true;
}

// Frames of one list of clips: compared, and examples and held-out ones chosen among them.
typedef struct selection {
    frames all;
    uint32_t example_count, held_out_count;
    uint32_t examples[EXAMPLES], held_out[HELD_OUT];
} selection;

static cutis_result select_frames(const cutis_model *model, const uint32_t *clips,
                                  uint32_t clip_count, bool examples, cutis_arena *arena,
                                  cutis_reduce_reader *r, selection *out)
{
    cutis_context *context = cutis_model_context(model);
    if (!cutis_reduce_list_joints(model, arena, &out->all)) return cutis_alloc_result(context);
    TRY(cutis_reduce_list_frames(model, clips, clip_count, arena, &out->all));
    double *nearest = cutis_arena_alloc(arena, out->all.count, sizeof *nearest);
    bool *chosen = cutis_arena_zero(arena, out->all.count, sizeof *chosen);
    if (!nearest || !chosen) return cutis_alloc_result(context);
    if (examples) {
        TRY(compare_frames(model, arena, r, &out->all));
        out->example_count = choose_examples(&out->all, nearest, chosen, out->examples);
    }
    out->held_out_count = choose_held_out(&out->all, chosen, out->held_out);
    return CUTIS_OK;
}

static cutis_result fill_frames(cutis_reduce_reader *r, const selection *from, const uint32_t *list,
                                uint32_t count, cutis_reduce_pose *origins,
                                cutis_transform *transforms)
{
    size_t nodes = cutis_model_get(r->model)->node_count;
    for (uint32_t i = 0; i < count; i++) {
        origins[i] = from->all.origins[list[i]];
        TRY(cutis_reduce_read_pose(r, origins[i], transforms + i * nodes));
    }
    return CUTIS_OK;
}

// Automatic poses alone: one seed to learn from, the next to be judged by.
static cutis_result automatic_only(const cutis_model *model, uint64_t seed, cutis_arena *arena,
                                   cutis_reduce_poses *out)
{
    size_t nodes = cutis_model_get(model)->node_count;
    out->example_count = out->held_out_count = out->automatic_count = AUTOMATIC;
    if (!cutis_reduce_alloc_poses(model, arena, out) ||
        !fill_automatic(model, arena, seed, AUTOMATIC, out->transforms) ||
        !fill_automatic(model, arena, seed + 1, AUTOMATIC, out->transforms + AUTOMATIC * nodes))
        return cutis_alloc_result(cutis_model_context(model));
    return CUTIS_OK;
}

static cutis_result choose(const cutis_model *model, const cutis_reduce_options *options,
                           const uint32_t *clips, uint32_t clip_count, cutis_arena *arena,
                           cutis_reduce_reader *r, cutis_reduce_poses *out)
{
    const size_t nodes = cutis_model_get(model)->node_count;
    selection learn = { .all.count = 0 }, judge = { .all.count = 0 };
    if (!options->examples) TRY(select_frames(model, clips, clip_count, true, arena, r, &learn));
    if (options->held_out_clips && !options->held_out)
        TRY(select_frames(model, options->held_out_clips, options->held_out_clip_count, false,
                          arena, r, &judge));
    const selection *from = options->held_out_clips ? &judge : &learn;
    out->example_count = options->examples ? options->example_count : learn.example_count;
    out->held_out_count = options->held_out ? options->held_out_count : from->held_out_count;
    out->added_count = out->automatic_count = options->examples_only ? 0 : AUTOMATIC;
    if (!cutis_reduce_alloc_poses(model, arena, out))
        return cutis_alloc_result(cutis_model_context(model));
    cutis_transform *held_out = out->transforms + out->example_count * nodes;
    if (options->examples)
        memcpy(out->transforms, options->examples, out->example_count * nodes * sizeof *held_out);
    else
        TRY(fill_frames(r, &learn, learn.examples, learn.example_count, out->origins,
                        out->transforms));
    if (options->held_out)
        memcpy(held_out, options->held_out, out->held_out_count * nodes * sizeof *held_out);
    else
        TRY(fill_frames(r, from, from->held_out, from->held_out_count,
                        out->origins + out->example_count, held_out));
    return fill_automatic(model, arena, options->seed ? options->seed : 1, out->added_count,
                          held_out + out->held_out_count * nodes)
               ? CUTIS_OK
               : cutis_alloc_result(cutis_model_context(model));
}

cutis_result cutis_reduce_poses_create(const cutis_model *model,
                                       const cutis_reduce_options *options, cutis_arena *arena,
                                       cutis_reduce_poses *out)
{
    const uint32_t all = cutis_model_get(model)->clip_count;
    *out = (cutis_reduce_poses){ 0 };
    if (options->automatic || (!options->examples && !options->clips && all == 0))
        return automatic_only(model, options->seed ? options->seed : 1, arena, out);
    uint32_t *every = NULL;
    if (!options->examples && !options->clips) {
        every = cutis_arena_alloc(arena, all, sizeof *every);
        if (!every) return cutis_alloc_result(cutis_model_context(model));
        for (uint32_t c = 0; c < all; c++) every[c] = c;
    }
    cutis_reduce_reader r = { .model = model };
    cutis_result result = choose(model, options, every ? every : options->clips,
                                 every ? all : options->clip_count, arena, &r, out);
    cutis_sampler_destroy(r.sampler);
    return result;
}
