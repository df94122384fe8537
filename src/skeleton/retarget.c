// Retargeting a clip: rigs, map and alignment (retarget_*.c), then two passes over the frames. The
// first finds the ground and the stances, the second writes keys and measures what it wrote.
// Invariant: every number of the report is measured on the frames as they are written.
#include "skeleton/retarget.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "geometry/order.h"
#include "math/mat3.h"
#include "math/quat.h"

// The lowest foot point touches the ground in at least this part of the frames
// (docs/spec/retarget.md E4).
static const double GROUND_PART = 0.05;
// Standing feet: the height this part of them is below, and what is near it.
static const double STANCE_PART = 0.2;
// What is higher above the ground than this many leg lengths is another ground: a stair.
static const double LEVEL = 0.06;
// Skin within this part of the height above the lowest touches the ground.
static const double TOUCH = 0.001;
// A leg is stretched to this part of its length, the hips come down for more, within that long.
static const double LEG_REACH = 0.9985, DROP_SPAN = 0.1;
// How far from the scaled path an ankle may be, in heights: as bones bring it, and with what
// standing adds, so that it stays within the 2 % that are promised.
static const double PATH_REACH = 0.004, PATH_MOST = 0.018;
// Feet differ by less than this, in heights, among people.
static const double OTHER_FOOT = 0.05;
// Floors of motion capture are not level (CMU's rise by 3 % of the height over a walk): a stance
// may keep this much of its own height, in heights.
static const double GROUND_SLACK = 0.003;
// Half of how much wider hips are, in heights, from which on feet go as wide.
static const double WIDE[2] = { 0.03, 0.06 };
// An arm or a leg of a T-pose is this near to level or upright (cosine of 30 degrees).
static const double TPOSE_NEAR = 0.866;
enum { FRAMES_MOST = 10000000 };

typedef struct keys {
    float *times;
    float **rotations; // per target node, 4 per frame, or NULL
    float **moves;     // per target node, 3 per frame, or NULL: of the root and of what is carried
} keys;

typedef struct work {
    const cutis_model *target_model, *motion_model;
    const cutis_retarget_options *options;
    cutis_retarget_report report;
    cutis_arena arena;
    retarget_job job;
    retarget_frame frame;
    cutis_sampler *sampler;
    cutis_transform *pose;
    int32_t *map;
    uint32_t first;     // frame of the motion that is the result's first
    double lift, level; // of the whole motion; of the ground
    retarget_foot foot[2];
    double *points[2][2]; // of each foot's sole, in a frame and the one before
    double *lows, *drop;  // per frame: lowest of both soles; how far the hips are lowered
    double *scratch;      // 3 per frame
    keys keys;
} work;

static cutis_result make_map(work *w)
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

// What walks on two legs and what walks on four have joints in common, but no motions: whoever
// wants them says so, or gives a map. Rigs that call their joints alike are one rig.
static cutis_result check_legs(const work *w)
{
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

static cutis_result open_clip(work *w)
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

static void sample(work *w, uint32_t frame)
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
static cutis_result choose_rest(work *w)
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
    first.found = motion->found;
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

static cutis_result alloc_foot(work *w, int side)
{
    retarget_foot *foot = &w->foot[side];
    cutis_arena *arena = &w->arena;
    const size_t frames = w->report.frame_count;
    double **paths[] = { &foot->points[0], &foot->points[1], &foot->points[2],
                         &foot->free,      &foot->thigh,     &foot->step,
                         &foot->offset,    &foot->goal,      &foot->path };
    bool all = true;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        *paths[i] = cutis_arena_zero(arena, frames, 3 * sizeof(double));
        all = all && *paths[i];
    }
    foot->low = cutis_arena_zero(arena, frames, sizeof(double));
    foot->stances = cutis_arena_alloc(arena, frames / 2 + 1, sizeof(retarget_stance));
    for (int i = 0; i < 2; i++) {
        w->points[side][i] =
            cutis_arena_zero(arena, w->job.sole[side].count + (size_t)1, 3 * sizeof(double));
        all = all && w->points[side][i];
    }
    return all && foot->low && foot->stances ? CUTIS_OK : cutis_alloc_result(w->job.context);
}

static cutis_result alloc_keys(work *w)
{
    const size_t frames = w->report.frame_count;
    cutis_arena *arena = &w->arena;
    keys *k = &w->keys;
    k->times = cutis_arena_alloc(arena, frames, sizeof *k->times);
    k->moves = cutis_arena_zero(arena, w->job.target.count, sizeof *k->moves);
    k->rotations = cutis_arena_zero(arena, w->job.target.count, sizeof *k->rotations);
    if (!k->times || !k->moves || !k->rotations) return cutis_alloc_result(w->job.context);
    for (uint32_t n = 0; n < w->job.target.count; n++) {
        bool carried = w->job.carrier[n] != CUTIS_NONE;
        if (w->map[n] != CUTIS_NONE || carried) {
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

static cutis_result alloc_frames(work *w)
{
    const size_t frames = w->report.frame_count;
    for (int side = 0; side < 2; side++) TRY(alloc_foot(w, side));
    w->lows = cutis_arena_alloc(&w->arena, frames, 2 * sizeof *w->lows);
    w->drop = cutis_arena_zero(&w->arena, frames, sizeof *w->drop);
    w->scratch = cutis_arena_alloc(&w->arena, frames, 3 * sizeof *w->scratch);
    if (!w->lows || !w->drop || !w->scratch) return cutis_alloc_result(w->job.context);
    return alloc_keys(w);
}

// Nodes of the motion's foot that may touch the ground: ankle, ball and tip.
static void foot_points(const work *w, int side, int32_t *out, uint32_t *count)
{
    const retarget_rig *rig = &w->job.motion;
    int32_t foot = w->job.leg[side].motion[2], tip = foot;
    for (int32_t n = foot + 1; n < (int32_t)rig->count; n++)
        if (cutis_retarget_is_under(rig, n, foot) &&
            v3_length(cutis_retarget_between(rig->place, foot, n)) >
                v3_length(cutis_retarget_between(rig->place, foot, tip)))
            tip = n;
    *count = 0;
    out[(*count)++] = foot;
    if (tip == foot) return;
    out[(*count)++] = tip;
    if (rig->data->nodes[tip].parent != foot) out[(*count)++] = rig->data->nodes[tip].parent;
}

// Hips much wider than the motion's (toys, robots) stand on feet as wide: the path is set aside by
// the difference. Small ones are bodies of one kind, whose feet go where the motion's go.
static vec3 set_aside(const work *w, int side)
{
    const retarget_job *job = &w->job;
    const retarget_limb *own = &job->leg[side], *other = &job->leg[1 - side];
    vec3 t = cutis_retarget_between(job->target.place, other->target[0], own->target[0]);
    vec3 m = cutis_retarget_between(job->motion.place, other->motion[0], own->motion[0]);
    vec3 out = cutis_retarget_between(w->frame.place, other->motion[0], own->motion[0]);
    double wide = (v3_length(t) - job->scale * v3_length(m)) / 2 / job->stature;
    double share = fmin(fmax((fabs(wide) - WIDE[0]) / (WIDE[1] - WIDE[0]), 0), 1);
    if (!(v3_length(out) > 0)) return v3(0, 0, 0);
    return v3_scale(v3_direction(out), share * wide * job->stature);
}

static void take_foot(work *w, int side, uint32_t f)
{
    const retarget_job *job = &w->job;
    retarget_foot *foot = &w->foot[side];
    int32_t nodes[RETARGET_FOOT_POINTS];
    double **points = w->points[side], *swap = points[0];
    const size_t at = 3 * (size_t)f;
    foot_points(w, side, nodes, &foot->point_count);
    for (uint32_t i = 0; i < foot->point_count; i++)
        v3_put(v3_scale(cutis_retarget_at(w->frame.place, nodes[i]), job->scale),
               foot->points[i] + at);
    v3_put(v3_add(v3_of(foot->points[0] + at), set_aside(w, side)), foot->path + at);
    v3_put(cutis_retarget_at(w->frame.placed, job->leg[side].target[2]), foot->free + at);
    v3_put(cutis_retarget_at(w->frame.placed, job->leg[side].target[0]), foot->thigh + at);
    points[0] = points[1], points[1] = swap;
    cutis_retarget_sole_at(job, side, &w->frame, points[1]);
    cutis_retarget_touch(f ? points[0] : NULL, points[1], job->sole[side].count, job->target.up,
                         TOUCH * job->stature, foot->step + at, &foot->low[f]);
}

// Bones keep the motion's directions, so hips of another width and a knee of another height put an
// ankle beside its scaled path: it is pulled back to within PATH_REACH of it, if feet are locked.
static void pull_ankle(work *w, retarget_foot *foot)
{
    const double reach = PATH_REACH * w->job.stature;
    const bool locked = w->options->feet == CUTIS_RETARGET_FEET_LOCKED;
    for (size_t f = 0; f < w->report.frame_count; f++) {
        vec3 free = v3_of(foot->free + 3 * f), e = v3_sub(v3_of(foot->path + 3 * f), free);
        double length = v3_length(e);
        if (locked && length > reach) free = v3_mad(free, 1 - reach / length, e);
        v3_put(free, foot->goal + 3 * f);
    }
}

// Height of a foot's sole before the motion is lifted.
static double sole_height(const work *w, int side, uint32_t f)
{
    return double3_dot(w->foot[side].goal + 3 * (size_t)f, w->job.target.up) + w->foot[side].low[f];
}

static double leg_length(const work *w, int side)
{
    const int32_t *leg = w->job.leg[side].target;
    double sum = 0;
    for (int k = 0; k < 2; k++)
        sum += v3_length(cutis_retarget_between(w->job.target.place, leg[k], leg[k + 1]));
    return sum;
}

// The motion goes up or down as a whole so that feet that stand do so on the ground: those near the
// lowest, for there may be stairs. Without stances the lowest 5 % of all frames touch it.
static void find_lift(work *w)
{
    const uint32_t frames = w->report.frame_count;
    const double near = LEVEL * leg_length(w, 0);
    uint32_t count = 0, kept = 0;
    double sum = 0;
    for (int side = 0; side < 2; side++)
        for (uint32_t i = 0; i < w->foot[side].stance_count; i++)
            for (uint32_t f = w->foot[side].stances[i].first; f <= w->foot[side].stances[i].last;
                 f++)
                w->lows[count++] = sole_height(w, side, f);
    bool stands = count > 0;
    for (uint32_t f = 0; f < frames && !stands; f++)
        w->lows[count++] = fmin(sole_height(w, 0, f), sole_height(w, 1, f));
    qsort(w->lows, count, sizeof *w->lows, order_double);
    double low = w->lows[(size_t)((stands ? STANCE_PART : GROUND_PART) * (count - 1))];
    for (uint32_t i = 0; i < count && stands; i++) {
        if (fabs(w->lows[i] - low) > near) continue;
        sum += w->lows[i] - low;
        kept++;
    }
    w->lift = w->level - low - (kept ? sum / kept : 0);
}

// Stances stand on the ground, or where they come to if that is clearly above it.
static void find_levels(work *w, int side)
{
    retarget_foot *foot = &w->foot[side];
    for (uint32_t i = 0; i < foot->stance_count; i++) {
        retarget_stance *s = &foot->stances[i];
        double mean = 0;
        for (uint32_t f = s->first; f <= s->last; f++)
            mean += (sole_height(w, side, f) + w->lift) / (s->last - s->first + 1);
        const double slack = GROUND_SLACK * w->job.stature;
        s->level = mean > w->level + LEVEL * leg_length(w, side)
                       ? mean
                       : fmin(fmax(mean, w->level - slack), w->level + slack);
    }
}

// Paths of the feet as they come, and the ground under them.
static cutis_result first_pass(work *w)
{
    retarget_job *job = &w->job;
    const uint32_t frames = w->report.frame_count;
    for (uint32_t f = 0; f < frames; f++) {
        sample(w, f);
        cutis_retarget_frame_make(job, w->pose, 0, &w->frame);
        for (int side = 0; side < 2 && job->feet; side++) take_foot(w, side, f);
        TRY(cutis_progress(job->context, "retargeting", 0.5 * f / frames));
    }
    if (!job->feet) return CUTIS_OK;
    w->level = cutis_retarget_ground(job);
    for (int side = 0; side < 2; side++) {
        retarget_foot *foot = &w->foot[side];
        foot->stance_count = cutis_retarget_stances(foot->points, foot->point_count, job->target.up,
                                                    frames, 1 / w->report.fps, leg_length(w, side),
                                                    w->scratch, foot->stances);
        w->report.stance_count[side] = foot->stance_count;
        for (uint32_t i = 0; i < foot->stance_count; i++)
            w->report.stance_seconds[side] +=
                (foot->stances[i].last - foot->stances[i].first) / w->report.fps;
    }
    for (int side = 0; side < 2; side++) pull_ankle(w, &w->foot[side]);
    find_lift(w);
    return CUTIS_OK;
}

// How far from its path a foot may roll: what is promised, and more where the feet are of different
// shapes (a robot's ankle on the ground, a duck's feet).
static double path_most(const work *w, int side)
{
    const retarget_job *job = &w->job;
    const retarget_limb *leg = &job->leg[side];
    int32_t nodes[RETARGET_FOOT_POINTS];
    uint32_t count;
    double reach = 0, low = INFINITY;
    const vec3 up = v3_of(job->target.up),
               ankle = cutis_retarget_at(job->target.place, leg->target[2]);
    for (size_t i = 0; i < job->sole[side].count; i++)
        reach = fmax(reach, v3_dot(v3_sub(v3_of(job->sole[side].place + 3 * i), ankle),
                                   v3_direction(job->sole_front[side])));
    for (size_t i = 0; i < job->sole[side].count; i++)
        low = fmin(low,
                   v3_dot(v3_sub(v3_of(job->sole[side].place + 3 * i), ankle), job->sole_up[side]));
    foot_points(w, side, nodes, &count);
    vec3 own = cutis_retarget_between(job->motion.place, nodes[0], nodes[count > 1]);
    double rise = v3_dot(own, up), along = sqrt(fmax(0, v3_dot(own, own) - rise * rise));
    double other = fabs(low - job->scale * rise) + fabs(reach - job->scale * along) / 2;
    return PATH_MOST * job->stature + fmax(0, other - OTHER_FOOT * job->stature);
}

// A foot that would leave its path by more slides instead.
static void keep_near(const work *w, retarget_foot *foot, double most, size_t f)
{
    vec3 path = v3_mad(v3_of(foot->path + 3 * f), w->lift, v3_of(w->job.target.up));
    vec3 off = v3_sub(v3_of(foot->goal + 3 * f), path);
    if (v3_length(off) > most) v3_put(v3_mad(path, most / v3_length(off), off), foot->goal + 3 * f);
}

// Where each ankle shall be: near its path, standing in its stances, never below the ground.
static void find_goals(work *w, int side)
{
    retarget_foot *foot = &w->foot[side];
    const double *up = w->job.target.up;
    const double most = path_most(w, side);
    find_levels(w, side);
    for (size_t f = 0; f < w->report.frame_count; f++)
        v3_sum(foot->goal + 3 * f, v3_scale(v3_of(up), w->lift));
    cutis_retarget_hold(foot->goal, foot->step, foot->low, up, w->report.frame_count,
                        1 / w->report.fps, foot->stances, foot->stance_count, foot->offset);
    for (size_t f = 0; f < w->report.frame_count; f++) {
        v3_sum(foot->goal + 3 * f, v3_of(foot->offset + 3 * f));
        keep_near(w, foot, most, f);
        double above = double3_dot(foot->goal + 3 * f, up) + foot->low[f] - w->level +
                       GROUND_SLACK * w->job.stature;
        if (above < 0) v3_sum(foot->goal + 3 * f, v3_scale(v3_of(up), -above));
    }
}

// How far the hips must come down so that the leg of a foot on the ground reaches it.
static double needed_drop(const work *w, int side, uint32_t f)
{
    const vec3 up = v3_of(w->job.target.up);
    const double reach = LEG_REACH * leg_length(w, side);
    vec3 hip = v3_mad(v3_of(w->foot[side].thigh + 3 * (size_t)f), w->lift, up);
    vec3 d = v3_sub(v3_of(w->foot[side].goal + 3 * (size_t)f), hip);
    double rise = v3_dot(d, up), aside = v3_dot(d, d) - rise * rise;
    if (v3_dot(d, d) <= reach * reach) return 0;
    return fmax(0, -rise - sqrt(fmax(0, reach * reach - aside)));
}

// The largest need within DROP_SPAN, then the mean within it: never less than what is needed, and
// smooth.
static void find_drop(work *w)
{
    const int64_t frames = w->report.frame_count;
    const int64_t span = (int64_t)fmax(1, round(DROP_SPAN * w->report.fps));
    double *need = w->scratch, *most = w->scratch + frames;
    for (int64_t f = 0; f < frames; f++) need[f] = 0;
    for (int side = 0; side < 2; side++) {
        const retarget_foot *foot = &w->foot[side];
        for (uint32_t f = 0, i = 0; f < frames; f++) {
            while (i < foot->stance_count && foot->stances[i].last < f) i++;
            bool stands = i < foot->stance_count && foot->stances[i].first <= f;
            double above =
                double3_dot(foot->goal + 3 * (size_t)f, w->job.target.up) + foot->low[f] - w->level;
            if (stands || above < TOUCH * w->job.stature)
                need[f] = fmax(need[f], needed_drop(w, side, f));
        }
    }
    for (int64_t f = 0; f < frames; f++) {
        most[f] = 0;
        for (int64_t k = f - span; k <= f + span; k++)
            most[f] = fmax(most[f], k >= 0 && k < frames ? need[k] : 0);
    }
    for (int64_t f = 0; f < frames; f++) {
        double sum = 0;
        for (int64_t k = f - span; k <= f + span; k++)
            sum += most[k < 0 ? 0 : k >= frames ? frames - 1 : k];
        w->drop[f] = sum / (double)(2 * span + 1);
    }
}

// Rotation of a node under its parent, next to the key before it so that players take the short
// way.
static void write_rotation(const work *w, uint32_t n, uint32_t f)
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
static void write_place(const work *w, int32_t node, float *out)
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

static void measure_arm(const work *w, int side, errors *e)
{
    const retarget_limb *arm = &w->job.arm[side];
    if (arm->target[0] == CUTIS_NONE || arm->target[2] == CUTIS_NONE) return;
    double angle = v3_angle(cutis_retarget_between(w->frame.placed, arm->target[0], arm->target[2]),
                            cutis_retarget_between(w->frame.place, arm->motion[0], arm->motion[2]));
    add_error(e, angle * (180 / M_PI));
}

static void measure_ankle(work *w, int side, uint32_t f, errors *e)
{
    const retarget_job *job = &w->job;
    retarget_foot *foot = &w->foot[side];
    const double *at = w->frame.placed + 3 * (size_t)job->leg[side].target[2];
    vec3 want = v3_mad(v3_of(foot->path + 3 * (size_t)f), w->lift, v3_of(job->target.up));
    v3_put(v3_of(at), foot->goal + 3 * (size_t)f);
    add_error(e, v3_distance(v3_of(at), want));
}

// How far the motion's own foot slides in a stance: the slowest of its points from frame to frame.
static double source_slide(const retarget_foot *foot, const retarget_stance *s)
{
    double sum = 0;
    for (size_t f = s->first + (size_t)1; f <= s->last; f++) {
        double least = INFINITY;
        for (uint32_t i = 0; i < foot->point_count; i++)
            least =
                fmin(least, v3_distance_of(foot->points[i] + 3 * f, foot->points[i] + 3 * f - 3));
        sum += least;
    }
    return sum;
}

// The largest over all stances, in % of the height.
static void measure_slides(work *w)
{
    double most[3] = { NAN, NAN, NAN };
    for (int side = 0; side < 2; side++)
        for (uint32_t i = 0; i < w->foot[side].stance_count; i++) {
            const retarget_foot *foot = &w->foot[side];
            const retarget_stance *s = &foot->stances[i];
            const double *up = w->job.target.up;
            const double slides[3] = { cutis_retarget_slide(foot->goal, foot->step, up, s),
                                       cutis_retarget_slide(foot->free, foot->step, up, s),
                                       source_slide(foot, s) };
            for (int k = 0; k < 3; k++) most[k] = fmax(most[k], slides[k]);
        }
    w->report.slide = 100 * most[0] / w->report.height;
    w->report.slide_free = 100 * most[1] / w->report.height;
    w->report.slide_source = 100 * most[2] / w->report.height;
}

static void write_frame(work *w, uint32_t f)
{
    w->keys.times[f] = (float)(f / w->report.fps);
    for (uint32_t n = 0; n < w->job.target.count; n++) {
        if (w->keys.rotations[n]) write_rotation(w, n, f);
        if (w->keys.moves[n]) write_place(w, (int32_t)n, w->keys.moves[n] + 3 * (size_t)f);
    }
}

static cutis_result second_pass(work *w)
{
    retarget_job *job = &w->job;
    const uint32_t frames = w->report.frame_count;
    const bool locked = job->feet && w->options->feet == CUTIS_RETARGET_FEET_LOCKED;
    errors ankles = { 0 }, hands = { 0 };
    for (int side = 0; side < 2 && locked; side++) find_goals(w, side);
    if (locked) find_drop(w);
    for (uint32_t f = 0; f < frames; f++) {
        sample(w, f);
        cutis_retarget_frame_make(job, w->pose, w->lift - w->drop[f], &w->frame);
        for (int side = 0; side < 2 && job->feet; side++) {
            if (locked)
                cutis_retarget_reach(job, side, w->foot[side].goal + 3 * (size_t)f, &w->frame);
            measure_ankle(w, side, f, &ankles);
        }
        for (int side = 0; side < 2; side++) measure_arm(w, side, &hands);
        write_frame(w, f);
        TRY(cutis_progress(job->context, "retargeting", 0.5 + 0.5 * f / frames));
    }
    if (job->feet) measure_slides(w);
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

static cutis_channel channel(const work *w, uint32_t node, cutis_path path, uint32_t key_count,
                             const float *values)
{
    return (cutis_channel){ .node = node,
                            .path = path,
                            .interpolation = CUTIS_INTERPOLATION_LINEAR,
                            .key_count = key_count,
                            .times = w->keys.times,
                            .values = values };
}

// Channels of what follows the motion; a rig whose file is not at its bind pose is held there.
static cutis_result make_channels(work *w, cutis_channel **out, uint32_t *count)
{
    const retarget_rig *rig = &w->job.target;
    cutis_channel *list = cutis_arena_alloc(&w->arena, rig->count, 2 * sizeof *list);
    cutis_transform *held = cutis_arena_alloc(&w->arena, rig->count, sizeof *held);
    const uint32_t frames = w->report.frame_count;
    uint32_t used = 0;
    if (!list || !held) return cutis_alloc_result(w->job.context);
    for (uint32_t n = 0; n < rig->count; n++) {
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

static cutis_result make_model(work *w, cutis_model **out)
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
    return cutis_model_create(w->job.context, &next, CUTIS_GATE_REFUSE, out);
}

static cutis_result run(work *w, cutis_model **out)
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
    TRY(second_pass(w));
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
    work w = { .target_model = target,
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
