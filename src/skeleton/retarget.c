// Retargeting a clip: rigs, map and alignment (retarget_*.c), then three passes over the frames.
// The first finds the ground and the stances, the second what soles do under legs that reach their
// goals, the third writes keys and measures what it wrote.
// Invariant: every number of the report is measured on the frames as they are written.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "math/mat3.h"
#include "math/quat.h"
#include "skeleton/retarget_work.h"

// An arm or a leg of a T-pose is this near to level or upright (cosine of 30 degrees).
static const double TPOSE_NEAR = 0.866;
enum { FRAMES_MOST = 10000000 };

static cutis_result make_map(retarget_work *w)
{
    retarget_job *job = &w->job;
    cutis_context *context = job->context;
    w->map = cutis_arena_alloc(&w->arena, job->target.count, sizeof *w->map);
    if (!w->map) return cutis_alloc_result(context);
    job->map = w->map;
    if (!w->options->map)
        return cutis_retarget_map_up(w->target_model, w->motion_model, w->options->up, w->map,
                                     &w->report.target_by, &w->report.motion_by);
    for (uint32_t n = 0; n < job->target.count; n++) {
        w->map[n] = w->options->map[n];
        if (w->map[n] != CUTIS_NONE && (w->map[n] < 0 || w->map[n] >= (int32_t)job->motion.count))
            return INVALID(context, "the map of node %u names a joint the motion does not have", n);
    }
    w->report.target_by = CUTIS_RETARGET_BY_FILE;
    w->report.motion_by = job->motion.found;
    return CUTIS_OK;
}

// Is it a limb: with a joint of the next role on the left side below it, or a chain of three? A
// helper beside a thigh has neither.
static bool carries(const retarget_rig *rig, uint32_t n, uint8_t role)
{
    for (uint32_t m = n + 1; m < rig->count; m++) {
        int32_t above = (int32_t)m;
        uint32_t deep = 0;
        for (; above > (int32_t)n; deep++) above = rig->data->nodes[above].parent;
        bool next = rig->role[m] == role && rig->side[m] == SIDE_LEFT;
        if (above == (int32_t)n && (next || deep >= 2)) return true;
    }
    return false;
}

// Legs, or arms, on the left side: those that are not below others.
static uint32_t limbs_a_side(const retarget_rig *rig)
{
    uint32_t legs = 0, arms = 0;
    for (uint32_t n = 0; n < rig->count; n++) {
        bool first = rig->side[n] == SIDE_LEFT && rig->order[n] == 0;
        legs += first && rig->role[n] == ROLE_THIGH && carries(rig, n, ROLE_SHIN);
        arms += first && rig->role[n] == ROLE_UPPERARM && carries(rig, n, ROLE_FOREARM);
    }
    return legs > arms ? legs : arms;
}

// What walks on two legs and what walks on four have joints in common, but no motions: whoever
// wants them says so, or gives a map. Rigs that call their joints alike are one rig.
static cutis_result check_legs(const retarget_work *w)
{
    if (!w->options->across && !w->options->map &&
        w->report.target_by != CUTIS_RETARGET_BY_SAME_NAMES && limbs_a_side(&w->job.target) > 1)
        return cutis_fail(
            w->job.context, CUTIS_NOT_FOUND,
            "the model has %u legs or arms on a side: ask for it (--map across), or give a map",
            limbs_a_side(&w->job.target));
    const bool four = w->job.target.four_legged;
    if (four == w->job.motion.four_legged || w->options->across || w->options->map ||
        w->report.target_by == CUTIS_RETARGET_BY_SAME_NAMES)
        return CUTIS_OK;
    return cutis_fail(
        w->job.context, CUTIS_NOT_FOUND,
        "the model goes on %s legs and the motion on %s: ask for it (across), or give "
        "a map",
        four ? "four" : "two", four ? "two" : "four");
}

// The clip's own rate if its keys are equally spaced, else 30.
static double clip_rate(const cutis_clip *clip)
{
    const cutis_channel *longest = NULL;
    for (uint32_t c = 0; c < clip->channel_count; c++)
        if (!longest || clip->channels[c].key_count > longest->key_count)
            longest = &clip->channels[c];
    uint32_t count = longest ? longest->key_count : 0;
    double step = count > 1 ? (double)clip->duration / (count - 1) : 0;
    bool even = step > 0;
    for (uint32_t k = 0; k < count && even; k++)
        even = fabs((double)longest->times[k] - k * step) < 1e-3 * step + 1e-6;
    return even ? 1 / step : 30;
}

static cutis_result open_clip(retarget_work *w)
{
    const cutis_model_data *data = cutis_model_get(w->motion_model);
    if (w->options->clip >= data->clip_count)
        return cutis_fail(w->job.context, CUTIS_NOT_FOUND, "the motion has %u clips, no number %u",
                          data->clip_count, w->options->clip);
    const cutis_clip *clip = &data->clips[w->options->clip];
    double fps = w->options->fps > 0 ? w->options->fps : clip_rate(clip);
    double frames = floor((double)clip->duration * fps + 1e-3) + 1;
    if (!(frames <= FRAMES_MOST))
        return cutis_fail(w->job.context, CUTIS_LIMIT_EXCEEDED, "more than %d frames", FRAMES_MOST);
    w->report.fps = fps;
    w->report.frame_count = (uint32_t)frames;
    w->pose = cutis_arena_alloc(&w->arena, data->node_count, sizeof *w->pose);
    if (!w->pose) return cutis_alloc_result(w->job.context);
    return cutis_sampler_create(w->motion_model, w->options->clip, &w->sampler);
}

static void sample(retarget_work *w, uint32_t frame)
{
    cutis_sampler_sample(w->sampler, (float)((w->first + (double)frame) / w->report.fps), w->pose,
                         NULL);
}

// Direction between two joints of the motion's rig against an axis, as a cosine.
static double toward(const retarget_rig *rig, retarget_role from, retarget_role to, int side)
{
    int32_t a = cutis_retarget_joint(rig, from, side), b = cutis_retarget_joint(rig, to, side);
    if (a == CUTIS_NONE || b == CUTIS_NONE) return NAN;
    vec3 d = cutis_retarget_between(rig->place, a, b);
    return v3_dot(d, v3_of(rig->up)) / v3_length(d);
}

// Arms level, legs upright. NAN compares false: a rig without arms has no T-pose.
static bool is_tpose(const retarget_rig *rig)
{
    bool is = true;
    for (int side = SIDE_LEFT; side <= SIDE_RIGHT; side++) {
        double arm = toward(rig, ROLE_UPPERARM, ROLE_HAND, side);
        is = is && 1 - arm * arm > TPOSE_NEAR * TPOSE_NEAR &&
             toward(rig, ROLE_THIGH, ROLE_FOOT, side) < -TPOSE_NEAR;
    }
    return is;
}

// Neck and head of a T-pose look where the actor happened to look (CMU's files: 16 degrees down,
// all of them); where the zero pose holds them upright, they rest as they do there, on the T-pose's
// chest.
static void rest_head(const retarget_rig *zero, retarget_rig *first)
{
    int32_t head = cutis_retarget_joint(zero, ROLE_HEAD, SIDE_NONE);
    int32_t base = head;
    while (base != CUTIS_NONE && (zero->role[base] == ROLE_HEAD || zero->role[base] == ROLE_NECK))
        base = zero->data->nodes[base].parent;
    if (base == CUTIS_NONE) return;
    vec3 d = cutis_retarget_between(zero->place, base, head);
    if (!(v3_dot(d, v3_of(zero->up)) > TPOSE_NEAR * v3_length(d))) return;
    for (uint32_t n = 0; n < zero->count; n++) {
        if (zero->role[n] != ROLE_HEAD && zero->role[n] != ROLE_NECK) continue;
        double local[9];
        double33_transpose_multiply(zero->rotation + 9 * (size_t)base,
                                    zero->rotation + 9 * (size_t)n, local);
        double33_multiply(first->rotation + 9 * (size_t)base, local,
                          first->rotation + 9 * (size_t)n);
    }
}

// The motion's rig at its rest; roles come from the rest of its nodes, where limbs are apart.
static cutis_result choose_rest(retarget_work *w)
{
    retarget_rig first;
    retarget_rig *motion = &w->job.motion;
    cutis_retarget_rest rest = w->options->rest;
    TRY(cutis_retarget_rig_pose(&w->arena, w->motion_model, NULL, motion));
    TRY(cutis_retarget_roles(&w->arena, motion));
    sample(w, 0);
    TRY(cutis_retarget_rig_pose(&w->arena, w->motion_model, w->pose, &first));
    memcpy(first.up, motion->up, sizeof first.up);
    first.role = motion->role, first.side = motion->side, first.order = motion->order;
    first.found = motion->found, first.four_legged = motion->four_legged;
    if (rest == CUTIS_RETARGET_REST_AUTO)
        rest = w->report.frame_count > 1 && is_tpose(&first) ? CUTIS_RETARGET_TPOSE
                                                             : CUTIS_RETARGET_ZERO;
    if (rest == CUTIS_RETARGET_TPOSE) {
        rest_head(motion, &first);
        *motion = first;
        w->first = w->report.frame_count > 1;
        w->report.frame_count -= w->first;
    }
    w->report.rest = rest;
    return CUTIS_OK;
}

static cutis_result alloc_keys(retarget_work *w)
{
    const size_t frames = w->report.frame_count;
    cutis_arena *arena = &w->arena;
    retarget_keys *k = &w->keys;
    k->times = cutis_arena_alloc(arena, frames, sizeof *k->times);
    k->moves = cutis_arena_zero(arena, w->job.target.count, sizeof *k->moves);
    k->rotations = cutis_arena_zero(arena, w->job.target.count, sizeof *k->rotations);
    if (!k->times || !k->moves || !k->rotations) return cutis_alloc_result(w->job.context);
    for (uint32_t n = 0; n < w->job.target.count; n++) {
        bool carried = w->job.carrier[n] != CUTIS_NONE, twisted = false;
        for (uint32_t i = 0; i < w->job.twist_count; i++)
            twisted = twisted || w->job.twists[i].node == (int32_t)n;
        if (w->map[n] != CUTIS_NONE || carried || twisted) {
            k->rotations[n] = cutis_arena_alloc(arena, frames, 4 * sizeof(float));
            if (!k->rotations[n]) return cutis_alloc_result(w->job.context);
        }
        if ((int32_t)n == w->job.root || carried) {
            k->moves[n] = cutis_arena_alloc(arena, frames, 3 * sizeof(float));
            if (!k->moves[n]) return cutis_alloc_result(w->job.context);
        }
    }
    return CUTIS_OK;
}

static cutis_result alloc_frames(retarget_work *w)
{
    const size_t frames = w->report.frame_count;
    for (int side = 0; side < (int)w->job.foot_count; side++)
        TRY(cutis_retarget_stand_alloc(w, side));
    w->lows = cutis_arena_alloc(&w->arena, frames, RETARGET_FEET * sizeof *w->lows);
    w->drop = cutis_arena_zero(&w->arena, frames, sizeof *w->drop);
    w->scratch = cutis_arena_alloc(&w->arena, frames, 3 * sizeof *w->scratch);
    if (!w->lows || !w->drop || !w->scratch) return cutis_alloc_result(w->job.context);
    return alloc_keys(w);
}

// Paths of the feet as they come, and the ground under them.
static cutis_result first_pass(retarget_work *w)
{
    retarget_job *job = &w->job;
    const uint32_t frames = w->report.frame_count;
    const bool toy = job->legs && !job->feet;
    if (toy) TRY(cutis_retarget_stand_body_alloc(w));
    for (uint32_t f = 0; f < frames; f++) {
        sample(w, f);
        cutis_retarget_frame_make(job, w->pose, 0, &w->frame);
        for (int side = 0; side < (int)job->foot_count; side++)
            cutis_retarget_stand_take(w, side, f);
        if (toy) cutis_retarget_stand_body_take(w, f);
        TRY(cutis_progress(job->context, "retargeting", 0.4 * f / frames));
    }
    if (toy) cutis_retarget_stand_body_find(w);
    if (job->feet) cutis_retarget_stand_find(w);
    return CUTIS_OK;
}

// Rotation of a node under its parent, next to the key before it so that players take the short
// way.
static void write_rotation(const retarget_work *w, uint32_t n, uint32_t f)
{
    const retarget_job *job = &w->job;
    int32_t parent = job->target.data->nodes[n].parent;
    double world[9], above[9], local[9], quat[4], sign = 1;
    float *out = w->keys.rotations[n] + 4 * (size_t)f;
    double33_multiply(w->frame.turned + 9 * (size_t)n, job->target.rotation + 9 * (size_t)n, world);
    double33_identity(above);
    if (parent != CUTIS_NONE)
        double33_multiply(w->frame.turned + 9 * (size_t)parent,
                          job->target.rotation + 9 * (size_t)parent, above);
    double33_transpose_multiply(above, world, local);
    cutis_quat_from_mat3(local, quat);
    if (f > 0) {
        const float *before = out - 4;
        double dot =
            quat[1] * before[0] + quat[2] * before[1] + quat[3] * before[2] + quat[0] * before[3];
        if (dot < 0) sign = -1;
    }
    for (int k = 0; k < 4; k++) out[k] = (float)(sign * quat[(k + 1) % 4]);
}

// Where a node stands under its parent.
static void write_place(const retarget_work *w, int32_t node, float *out)
{
    const retarget_job *job = &w->job;
    const int32_t parent = job->target.data->nodes[node].parent;
    const double *at = w->frame.placed + 3 * (size_t)node;
    cutis_float3 p = { (float)at[0], (float)at[1], (float)at[2] };
    if (parent != CUTIS_NONE) {
        double linear[9], turned[9];
        cutis_mat34 above, inverse;
        double34_linear(job->target.world + 12 * (size_t)parent, linear);
        double33_multiply(w->frame.turned + 9 * (size_t)parent, linear, turned);
        for (int i = 0; i < 12; i++)
            above.m[i] = (float)(i % 4 == 3 ? w->frame.placed[3 * (size_t)parent + i / 4]
                                            : turned[3 * (i / 4) + i % 4]);
        if (cutis_mat34_invert(&above, &inverse)) p = cutis_mat34_point(&inverse, p);
    }
    memcpy(out, &p, sizeof p);
}

typedef struct errors {
    double sum, max;
    uint64_t count;
} errors;

static void add_error(errors *e, double value)
{
    e->sum += value;
    e->max = fmax(e->max, value);
    e->count++;
}

static void measure_arm(const retarget_work *w, int side, errors *e)
{
    const retarget_limb *arm = &w->job.arm[side];
    if (arm->target[0] == CUTIS_NONE || arm->target[2] == CUTIS_NONE) return;
    double angle = v3_angle(cutis_retarget_between(w->frame.placed, arm->target[0], arm->target[2]),
                            cutis_retarget_between(w->frame.place, arm->motion[0], arm->motion[2]));
    add_error(e, angle * (180 / M_PI));
}

static void measure_ankle(retarget_work *w, int side, uint32_t f, errors *e)
{
    const retarget_job *job = &w->job;
    retarget_foot *foot = &w->foot[side];
    const double *at = w->frame.placed + 3 * (size_t)job->limb[side].target[2];
    vec3 want = v3_mad(v3_of(foot->path + 3 * (size_t)f), w->lift, v3_of(job->target.up));
    v3_put(v3_of(at), foot->goal + 3 * (size_t)f);
    add_error(e, v3_distance(v3_of(at), want));
}

static void write_frame(retarget_work *w, uint32_t f)
{
    w->keys.times[f] = (float)(f / w->report.fps);
    for (uint32_t n = 0; n < w->job.target.count; n++) {
        if (w->keys.rotations[n]) write_rotation(w, n, f);
        if (w->keys.moves[n]) write_place(w, (int32_t)n, w->keys.moves[n] + 3 * (size_t)f);
    }
}

// A frame with both ankles at their goals, and what soles do in it.
static void stand_frame(retarget_work *w, uint32_t f)
{
    sample(w, f);
    cutis_retarget_frame_make(&w->job, w->pose, w->lift - w->drop[f], &w->frame);
    const int feet = w->locked ? (int)w->job.foot_count : 0;
    for (int side = 0; side < feet; side++)
        cutis_retarget_reach(&w->job, side, w->foot[side].goal + 3 * (size_t)f, &w->frame);
    for (int side = 0; side < feet; side++) cutis_retarget_stand_touch(w, side, f);
}

// Goals from soles under legs as bones bring them, then again from soles under legs that reach.
static cutis_result find_goals(retarget_work *w)
{
    const uint32_t frames = w->report.frame_count;
    cutis_retarget_stand_goals(w);
    for (uint32_t f = 0; f < frames; f++) {
        stand_frame(w, f);
        TRY(cutis_progress(w->job.context, "retargeting", 0.4 + 0.3 * f / frames));
    }
    cutis_retarget_stand_goals(w);
    return CUTIS_OK;
}

static cutis_result last_pass(retarget_work *w)
{
    retarget_job *job = &w->job;
    const uint32_t frames = w->report.frame_count;
    errors ankles = { 0 }, hands = { 0 };
    w->locked = job->feet && w->options->feet == CUTIS_RETARGET_FEET_LOCKED;
    if (w->locked) TRY(find_goals(w));
    for (uint32_t f = 0; f < frames; f++) {
        stand_frame(w, f);
        for (int side = 0; side < (int)job->foot_count; side++) measure_ankle(w, side, f, &ankles);
        for (int side = 0; side < 2; side++) measure_arm(w, side, &hands);
        write_frame(w, f);
        TRY(cutis_progress(job->context, "retargeting", 0.7 + 0.3 * f / frames));
    }
    if (job->feet) cutis_retarget_stand_measure(w);
    w->report.ankle_mean = 100 * ankles.sum / (double)ankles.count / w->report.height;
    w->report.ankle_max = ankles.count ? 100 * ankles.max / w->report.height : NAN;
    w->report.hand_mean = hands.sum / (double)hands.count;
    w->report.hand_max = hands.count ? hands.max : NAN;
    return CUTIS_OK;
}

// A node's transform under its parent at bind; false if it is what the file's rest has.
static bool bind_differs(const retarget_rig *rig, uint32_t n, cutis_transform *out)
{
    const cutis_node *node = &rig->data->nodes[n];
    cutis_mat34 world, above, inverse;
    *out = node->matrix ? cutis_transform_from_mat34(node->matrix) : node->rest;
    if (node->parent == CUTIS_NONE || !rig->joint[n]) return false;
    for (int i = 0; i < 12; i++) {
        world.m[i] = (float)rig->world[12 * (size_t)n + i];
        above.m[i] = (float)rig->world[12 * (size_t)node->parent + i];
    }
    if (!cutis_mat34_invert(&above, &inverse)) return false;
    cutis_mat34 local = cutis_mat34_multiply(&inverse, &world);
    cutis_transform bind = cutis_transform_from_mat34(&local);
    const float *a = &bind.translation.x, *b = &out->translation.x;
    const float *p = &bind.rotation.x, *q = &out->rotation.x;
    float move = 0, size = 0, dot = 0;
    for (int k = 0; k < 3; k++) {
        move = fmaxf(move, fabsf(a[k] - b[k]));
        size = fmaxf(size, fabsf(b[k]));
    }
    for (int k = 0; k < 4; k++) dot += p[k] * q[k];
    bind.scale = out->scale;
    *out = bind;
    return move > 1e-3f * size + 1e-6f || fabsf(dot) < 0.9999995f;
}

static cutis_channel channel(const retarget_work *w, uint32_t node, cutis_path path,
                             uint32_t key_count, const float *values)
{
    return (cutis_channel){ .node = node,
                            .path = path,
                            .interpolation = CUTIS_INTERPOLATION_LINEAR,
                            .key_count = key_count,
                            .times = w->keys.times,
                            .values = values };
}

// Channels of what follows the motion; a rig whose file is not at its bind pose is held there.
static cutis_result make_channels(retarget_work *w, cutis_channel **out, uint32_t *count)
{
    const retarget_rig *rig = &w->job.target;
    cutis_channel *list = cutis_arena_alloc(&w->arena, rig->count, 2 * sizeof *list);
    cutis_transform *held = cutis_arena_alloc(&w->arena, rig->count, sizeof *held);
    const uint32_t frames = w->report.frame_count;
    uint32_t used = 0;
    if (!list || !held) return cutis_alloc_result(w->job.context);
    for (uint32_t n = 0; n < rig->count; n++) {
        if (rig->driven[n]) continue; // its drivers give it tracks
        bool differs = bind_differs(rig, n, &held[n]);
        if (w->keys.moves[n])
            list[used++] = channel(w, n, CUTIS_PATH_TRANSLATION, frames, w->keys.moves[n]);
        else if (differs)
            list[used++] = channel(w, n, CUTIS_PATH_TRANSLATION, 1, &held[n].translation.x);
        if (w->keys.rotations[n])
            list[used++] = channel(w, n, CUTIS_PATH_ROTATION, frames, w->keys.rotations[n]);
        else if (differs)
            list[used++] = channel(w, n, CUTIS_PATH_ROTATION, 1, &held[n].rotation.x);
    }
    *out = list;
    *count = used;
    return CUTIS_OK;
}

static cutis_result make_model(retarget_work *w, cutis_model **out)
{
    const cutis_model_data *data = w->job.target.data;
    cutis_model_data next = *data;
    cutis_clip *clips = cutis_arena_alloc(&w->arena, data->clip_count + (size_t)1, sizeof *clips);
    cutis_node *nodes = cutis_arena_copy(&w->arena, data->nodes, data->node_count, sizeof *nodes);
    cutis_channel *channels = NULL;
    uint32_t count = 0;
    if (!clips || !nodes) return cutis_alloc_result(w->job.context);
    TRY(make_channels(w, &channels, &count));
    for (uint32_t c = 0; c < count; c++) {
        cutis_node *node = &nodes[channels[c].node];
        if (!node->matrix) continue; // a matrix cannot be animated
        node->rest = cutis_transform_from_mat34(node->matrix);
        node->matrix = NULL;
    }
    const cutis_clip *from = &cutis_model_get(w->motion_model)->clips[w->options->clip];
    if (data->clip_count) memcpy(clips, data->clips, data->clip_count * sizeof *clips);
    clips[data->clip_count] =
        (cutis_clip){ .name = w->options->name ? w->options->name : from->name,
                      .channel_count = count,
                      .channels = channels };
    next.nodes = nodes;
    next.clips = clips;
    next.clip_count = data->clip_count + 1;
    if (!data->drivers) return cutis_model_create(w->job.context, &next, CUTIS_GATE_REFUSE, out);
    cutis_model *bare = NULL;
    TRY(cutis_model_create(w->job.context, &next, CUTIS_GATE_REFUSE, &bare));
    const cutis_result result =
        cutis_clips_drive(bare, data->clip_count, CUTIS_DRIVE_RESTING, w->report.fps, out);
    cutis_model_destroy(bare);
    return result;
}

static cutis_result run(retarget_work *w, cutis_model **out)
{
    retarget_job *job = &w->job;
    TRY(cutis_retarget_rig_bind(&w->arena, w->target_model, &job->target));
    cutis_retarget_tell_up(&job->target, w->options->up);
    TRY(cutis_retarget_roles(&w->arena, &job->target));
    TRY(open_clip(w));
    TRY(choose_rest(w));
    TRY(make_map(w));
    TRY(check_legs(w));
    TRY(cutis_retarget_align(job));
    TRY(cutis_retarget_frame_alloc(job, &w->frame));
    TRY(alloc_frames(w));
    for (uint32_t n = 0; n < job->target.count; n++) {
        w->report.joint_count += job->target.joint[n];
        w->report.mapped_count += w->map[n] != CUTIS_NONE;
    }
    w->report.scale = job->scale;
    w->report.height = job->stature;
    memcpy(w->report.up, job->target.up, sizeof w->report.up);
    w->report.slide = w->report.slide_free = w->report.slide_source = NAN;
    TRY(first_pass(w));
    w->report.ground = w->lift;
    TRY(last_pass(w));
    return make_model(w, out);
}

cutis_result cutis_retarget(const cutis_model *target, const cutis_model *motion,
                            const cutis_retarget_options *options, cutis_model **out,
                            cutis_retarget_report *report)
{
    if (out) *out = NULL;
    static const cutis_retarget_options DEFAULTS = { 0 };
    if (!target || !motion || !out) return CUTIS_INVALID_ARGUMENT;
    cutis_context *context = cutis_model_context(target);
    retarget_work w = { .target_model = target,
                        .motion_model = motion,
                        .options = options ? options : &DEFAULTS,
                        .arena = { .context = context } };
    w.job.context = context;
    w.job.arena = &w.arena;
    cutis_result result = run(&w, out);
    if (report && result == CUTIS_OK) *report = w.report;
    cutis_sampler_destroy(w.sampler);
    cutis_arena_release(&w.arena);
    return result;
}
