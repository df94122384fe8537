// What makes feet stand (docs/spec/retarget.md E4, E5): what each foot does, when it stands, how
// the motion is lifted to the ground, where ankles go, how far the hips come down for them.
// Invariant: goals are reached: what a leg cannot reach, the hips give.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "geometry/order.h"
#include "skeleton/retarget_work.h"

// The lowest foot point touches the ground in at least this part of the frames
// (docs/spec/retarget.md E4).
static const double GROUND_PART = 0.05;
// Standing feet: the height this part of them is below, and what is near it.
static const double STANCE_PART = 0.2;
// What is higher above the ground than this many leg lengths is another ground: a stair.
static const double LEVEL = 0.06;
// Skin within this part of the height above the lowest touches the ground; skin that never comes
// as near as the second in a motion does not touch it when legs are bent a little otherwise.
static const double TOUCH = 0.001, NEAR = 0.01;
// A leg is stretched to this part of its length, the hips come down for more, within that long.
static const double LEG_REACH = 0.9985, DROP_SPAN = 0.1;
static const double SPAN_MOST =
    256; // frames: of motions beyond 2500 a second it is shorter, not endless
// How far from the scaled path an ankle may be, in heights: as bones bring it; and with what
// standing adds, 2 % where a foot then slides by less than SLIDE_KEPT over a contact, as far as the
// third where it does not. People's feet need up to 3.3 %: a foot that slides is seen, an ankle
// beside its path is not.
static const double PATH_REACH = 0.004, PATH_MOST[2] = { 0.018, 0.045 }, SLIDE_KEPT = 0.0015;
// Feet differ by less than the first among people (0.025 to 0.042), in heights, by more than the
// second in toys and robots (0.059 and on).
static const double OTHER_FOOT[2] = { 0.045, 0.058 };
// Floors of motion capture are not level (CMU's rise by 3 % of the height over a walk): a stance
// may keep this much of its own height, in heights.
static const double GROUND_SLACK = 0.003;
// Half of how much wider hips are, in heights, from which on feet go as wide.
static const double WIDE[2] = { 0.03, 0.06 };
cutis_result cutis_retarget_stand_alloc(retarget_work *w, int side)
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
    foot->near = cutis_arena_zero(arena, w->job.sole[side].count + (size_t)1, sizeof *foot->near);
    foot->stances = cutis_arena_alloc(arena, frames / 2 + 1, sizeof(retarget_stance));
    for (int i = 0; i < 2; i++) {
        w->points[side][i] =
            cutis_arena_zero(arena, w->job.sole[side].count + (size_t)1, 3 * sizeof(double));
        all = all && w->points[side][i];
    }
    all = all && foot->low && foot->near && foot->stances;
    return all ? CUTIS_OK : cutis_alloc_result(w->job.context);
}

void cutis_retarget_foot_points(const retarget_rig *rig, int32_t foot, int32_t *out,
                                uint32_t *count)
{
    int32_t tip = foot;
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
static vec3 set_aside(const retarget_work *w, int side)
{
    const retarget_job *job = &w->job;
    const retarget_limb *own = &job->limb[side], *other = &job->limb[side ^ 1];
    vec3 t = cutis_retarget_between(job->target.place, other->target[0], own->target[0]);
    vec3 m = cutis_retarget_between(job->motion.place, other->motion[0], own->motion[0]);
    vec3 out = cutis_retarget_between(w->frame.place, other->motion[0], own->motion[0]);
    double wide = (v3_length(t) - job->scale * v3_length(m)) / 2 / job->stature;
    double share = fmin(fmax((fabs(wide) - WIDE[0]) / (WIDE[1] - WIDE[0]), 0), 1);
    if (!(v3_length(out) > 0)) return v3(0, 0, 0);
    return v3_scale(v3_direction(out), share * wide * job->stature);
}

// The lowest of a foot, from its ankle, along its own up, at rest.
static double flat_low(const retarget_job *job, int side)
{
    const vec3 ankle = cutis_retarget_at(job->target.place, job->limb[side].target[2]);
    double low = INFINITY;
    for (size_t i = 0; i < job->sole[side].count; i++)
        low = fmin(low,
                   v3_dot(v3_sub(v3_of(job->sole[side].place + 3 * i), ankle), job->sole_up[side]));
    return isfinite(low) ? low : 0;
}

// How much higher an ankle goes because it is higher above its sole than the other foot's: joints
// that were found, of a leg that was raised, say, are not the same on both sides. What both have is
// the whole motion's lift; a motion's feet are taken to be alike.
static double one_higher(const retarget_job *job, int side)
{
    return (flat_low(job, side ^ 1) - flat_low(job, side)) / 2;
}

// How much farther from its path a foot may roll: what the feet differ by where they are of
// different shapes (a robot's ankle on the ground and its long feet, a duck's): one that stands on
// its toes has its ankle that much elsewhere.
static double other_foot(const retarget_work *w, int side)
{
    const retarget_job *job = &w->job;
    const retarget_limb *leg = &job->limb[side];
    int32_t nodes[RETARGET_FOOT_POINTS];
    uint32_t count;
    double reach = 0, low = flat_low(job, side);
    const vec3 up = v3_of(job->target.up),
               ankle = cutis_retarget_at(job->target.place, leg->target[2]);
    for (size_t i = 0; i < job->sole[side].count; i++)
        reach = fmax(reach, v3_dot(v3_sub(v3_of(job->sole[side].place + 3 * i), ankle),
                                   v3_direction(job->sole_front[side])));
    cutis_retarget_foot_points(&job->motion, leg->motion[2], nodes, &count);
    vec3 own = cutis_retarget_between(job->motion.place, nodes[0], nodes[count > 1]);
    double rise = v3_dot(own, up), along = sqrt(fmax(0, v3_dot(own, own) - rise * rise));
    double high = fabs(low - job->scale * rise), far = fabs(reach - job->scale * along);
    double other = (high + far / 2) / job->stature;
    double share = fmin(fmax((other - OTHER_FOOT[0]) / (OTHER_FOOT[1] - OTHER_FOOT[0]), 0), 1);
    return share * (high + far);
}

void cutis_retarget_stand_take(retarget_work *w, int side, uint32_t f)
{
    const retarget_job *job = &w->job;
    retarget_foot *foot = &w->foot[side];
    int32_t nodes[RETARGET_FOOT_POINTS];
    const size_t at = 3 * (size_t)f;
    cutis_retarget_foot_points(&job->motion, job->limb[side].motion[2], nodes, &foot->point_count);
    for (uint32_t i = 0; i < foot->point_count; i++)
        v3_put(v3_scale(cutis_retarget_at(w->frame.place, nodes[i]), job->scale),
               foot->points[i] + at);
    if (f == 0) foot->higher = one_higher(job, side), foot->other = other_foot(w, side);
    vec3 aside = v3_mad(set_aside(w, side), foot->higher, v3_of(job->target.up));
    v3_put(v3_add(v3_of(foot->points[0] + at), aside), foot->path + at);
    v3_put(cutis_retarget_at(w->frame.placed, job->limb[side].target[2]), foot->free + at);
    v3_put(cutis_retarget_at(w->frame.placed, job->limb[side].target[0]), foot->thigh + at);
    cutis_retarget_stand_touch(w, side, f);
    const double *now = w->points[side][1], *up = job->target.up;
    for (size_t i = 0; i < job->sole[side].count; i++)
        if (double3_dot(now + 3 * i, up) < foot->low[f] + NEAR * job->stature) foot->near[i] = true;
}

// The points of a sole that came near to the ground: the others need not be looked at again.
static void thin_sole(retarget_work *w, int side)
{
    enum { N = RETARGET_SOLE_NODES };
    retarget_sole *sole = &w->job.sole[side];
    const uint32_t count = sole->count;
    sole->count = 0;
    for (size_t i = 0; i < count; i++) {
        if (!w->foot[side].near[i]) continue;
        const size_t to = sole->count++;
        memmove(sole->place + 3 * to, sole->place + 3 * i, 3 * sizeof *sole->place);
        memmove(sole->node + N * to, sole->node + N * i, N * sizeof *sole->node);
        memmove(sole->weight + N * to, sole->weight + N * i, N * sizeof *sole->weight);
    }
}

void cutis_retarget_stand_touch(retarget_work *w, int side, uint32_t f)
{
    const retarget_job *job = &w->job;
    retarget_foot *foot = &w->foot[side];
    double **points = w->points[side], *swap = points[0];
    points[0] = points[1], points[1] = swap;
    cutis_retarget_sole_at(job, side, &w->frame, points[1]);
    cutis_retarget_touch(f ? points[0] : NULL, points[1], job->sole[side].count, job->target.up,
                         TOUCH * job->stature, foot->step + 3 * (size_t)f, &foot->low[f]);
}

// Bones keep the motion's directions, so hips of another width and a knee of another height put an
// ankle beside its scaled path: it is pulled back to within PATH_REACH of it, if feet are locked.
static void pull_ankle(retarget_work *w, retarget_foot *foot)
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
static double sole_height(const retarget_work *w, int side, uint32_t f)
{
    return double3_dot(w->foot[side].goal + 3 * (size_t)f, w->job.target.up) + w->foot[side].low[f];
}

static double leg_length(const retarget_work *w, int side)
{
    const int32_t *leg = w->job.limb[side].target;
    double sum = 0;
    for (int k = 0; k < 2; k++)
        sum += v3_length(cutis_retarget_between(w->job.target.place, leg[k], leg[k + 1]));
    return sum;
}

// The motion goes up or down as a whole so that feet that stand do so on the ground: those near the
// lowest, for there may be stairs. Without stances the lowest 5 % of all frames touch it.
static void find_lift(retarget_work *w)
{
    const uint32_t frames = w->report.frame_count;
    const double near = LEVEL * leg_length(w, 0);
    uint32_t count = 0, kept = 0;
    double sum = 0;
    for (int side = 0; side < (int)w->job.foot_count; side++)
        for (uint32_t i = 0; i < w->foot[side].stance_count; i++)
            for (uint32_t f = w->foot[side].stances[i].first; f <= w->foot[side].stances[i].last;
                 f++)
                w->lows[count++] = sole_height(w, side, f);
    bool stands = count > 0;
    for (uint32_t f = 0; f < frames && !stands; f++) {
        w->lows[count] = INFINITY;
        for (int side = 0; side < (int)w->job.foot_count; side++)
            w->lows[count] = fmin(w->lows[count], sole_height(w, side, f));
        count++;
    }
    qsort(w->lows, count, sizeof *w->lows, order_double);
    double low = w->lows[(size_t)((stands ? STANCE_PART : GROUND_PART) * (count - 1))];
    for (uint32_t i = 0; i < count && stands; i++) {
        if (fabs(w->lows[i] - low) > near) continue;
        sum += w->lows[i] - low;
        kept++;
    }
    w->lift = w->level - low - (kept ? sum / kept : 0);
}

static double lowest_point(const retarget_work *w, const retarget_foot *foot, size_t f)
{
    double low = INFINITY;
    for (uint32_t i = 0; i < foot->point_count; i++)
        low = fmin(low, double3_dot(foot->points[i] + 3 * f, w->job.target.up));
    return low;
}

// The lowest of the motion's foot in a stance, in the mean; scaled.
static double motion_height(const retarget_work *w, const retarget_foot *foot,
                            const retarget_stance *s)
{
    double mean = 0;
    for (uint32_t f = s->first; f <= s->last; f++) {
        mean += lowest_point(w, foot, f) / (s->last - s->first + 1);
    }
    return mean;
}

// What the motion's own feet stand on: the height a part of its stances are below.
static double motion_ground(retarget_work *w)
{
    uint32_t count = 0;
    for (int side = 0; side < (int)w->job.foot_count; side++)
        for (uint32_t i = 0; i < w->foot[side].stance_count; i++)
            w->lows[count++] = motion_height(w, &w->foot[side], &w->foot[side].stances[i]);
    qsort(w->lows, count, sizeof *w->lows, order_double);
    return count ? w->lows[(size_t)(STANCE_PART * (count - 1))] : 0;
}

// Stances stand on the ground, or where they come to if the motion's own foot is clearly above it:
// a foot of another shape, or an ankle that was found too high, is no stair.
static void find_levels(retarget_work *w, int side)
{
    retarget_foot *foot = &w->foot[side];
    const double ground = motion_ground(w), slack = GROUND_SLACK * w->job.stature;
    for (uint32_t i = 0; i < foot->stance_count; i++) {
        retarget_stance *s = &foot->stances[i];
        double mean = 0;
        for (uint32_t f = s->first; f <= s->last; f++)
            mean += (sole_height(w, side, f) + w->lift) / (s->last - s->first + 1);
        s->level = motion_height(w, foot, s) > ground + LEVEL * leg_length(w, side)
                       ? mean
                       : fmin(fmax(mean, w->level - slack), w->level + slack);
    }
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

// The largest slide over all stances as bones bring the feet, and of the motion's own, in % of the
// height.
static void measure_free(retarget_work *w)
{
    double free = NAN, source = NAN;
    for (int side = 0; side < (int)w->job.foot_count; side++)
        for (uint32_t i = 0; i < w->foot[side].stance_count; i++) {
            const retarget_foot *foot = &w->foot[side];
            const retarget_stance *s = &foot->stances[i];
            free = fmax(free, cutis_retarget_slide(foot->free, foot->step, w->job.target.up, s));
            source = fmax(source, source_slide(foot, s));
        }
    w->report.slide_free = 100 * free / w->report.height;
    w->report.slide_source = 100 * source / w->report.height;
}

// The height a part of the frames of a foot are below if its ankle follows its path.
static double low_of(retarget_work *w, const retarget_foot *foot)
{
    const uint32_t frames = w->report.frame_count;
    for (size_t f = 0; f < frames; f++)
        w->lows[f] = double3_dot(foot->path + 3 * f, w->job.target.up) + foot->low[f];
    qsort(w->lows, frames, sizeof *w->lows, order_double);
    return w->lows[(size_t)(STANCE_PART * (frames - 1))];
}

// Paths of paws: along the ground where bones bring them, for trunks and legs of beasts differ more
// than people's; along up as the motion's rise and fall, all of them on the ground of the hind
// legs.
static void level_paws(retarget_work *w)
{
    const vec3 up = v3_of(w->job.target.up);
    const uint32_t frames = w->report.frame_count;
    double low[RETARGET_FEET], above = 0; // of the hind legs, as bones bring them
    for (int side = 0; side < RETARGET_FEET; side++) {
        retarget_foot *foot = &w->foot[side];
        for (size_t f = 0; f < frames; f++) {
            const vec3 free = v3_of(foot->free + 3 * f);
            const double rise = v3_dot(v3_sub(v3_of(foot->points[0] + 3 * f), free), up);
            if (side < 2) above -= rise / (2.0 * frames);
            v3_put(v3_mad(free, rise, up), foot->path + 3 * f);
        }
        low[side] = low_of(w, foot);
    }
    const double ground = (low[0] + low[1]) / 2 + above;
    for (int side = 0; side < RETARGET_FEET; side++)
        for (size_t f = 0; f < frames; f++)
            v3_sum(w->foot[side].path + 3 * f, v3_scale(up, ground - low[side]));
}

void cutis_retarget_stand_find(retarget_work *w)
{
    const retarget_job *job = &w->job;
    const uint32_t frames = w->report.frame_count;
    w->level = cutis_retarget_ground(job);
    for (int side = 0; side < (int)w->job.foot_count; side++) {
        retarget_foot *foot = &w->foot[side];
        foot->stance_count = cutis_retarget_stances(foot->points, foot->point_count, job->target.up,
                                                    frames, 1 / w->report.fps, leg_length(w, side),
                                                    w->scratch, foot->stances);
        w->report.stance_count[side & 1] += foot->stance_count;
        for (uint32_t i = 0; i < foot->stance_count; i++)
            w->report.stance_seconds[side & 1] +=
                (foot->stances[i].last - foot->stances[i].first) / w->report.fps;
    }
    if (job->foot_count == RETARGET_FEET) level_paws(w);
    for (int side = 0; side < (int)w->job.foot_count; side++) pull_ankle(w, &w->foot[side]);
    find_lift(w);
    measure_free(w);
    for (int side = 0; side < (int)w->job.foot_count; side++) thin_sole(w, side);
}

cutis_result cutis_retarget_stand_body_alloc(retarget_work *w)
{
    TRY(cutis_retarget_sole(&w->job, w->job.root, &w->body));
    w->body_at = cutis_arena_alloc(&w->arena, w->body.count, 3 * sizeof *w->body_at);
    return w->body_at ? CUTIS_OK : cutis_alloc_result(w->job.context);
}

static double lowest_of(const retarget_work *w, const double *points)
{
    double low = INFINITY;
    for (uint32_t i = 0; i < w->body.count; i++)
        low = fmin(low, double3_dot(points + 3 * (size_t)i, w->job.target.up));
    return low;
}

void cutis_retarget_stand_body_take(retarget_work *w, uint32_t f)
{
    cutis_retarget_skin_at(&w->job, &w->body, v3(0, 0, 0), &w->frame, w->body_at);
    w->lows[f] = lowest_of(w, w->body_at);
}

void cutis_retarget_stand_body_find(retarget_work *w)
{
    const uint32_t frames = w->report.frame_count;
    qsort(w->lows, frames, sizeof *w->lows, order_double);
    w->lift = lowest_of(w, w->body.place) - w->lows[(size_t)(GROUND_PART * (frames - 1))];
}

// Where the ankle would go, but not farther from its path than `most`: a foot that would leave it
// by more slides instead.
static vec3 kept_near(const retarget_work *w, const retarget_foot *foot, double most, size_t f)
{
    vec3 path = v3_mad(v3_of(foot->path + 3 * f), w->lift, v3_of(w->job.target.up));
    vec3 goal = v3_add(v3_of(foot->goal + 3 * f), v3_of(foot->offset + 3 * f));
    vec3 off = v3_sub(goal, path);
    return v3_length(off) > most ? v3_mad(path, most / v3_length(off), off) : goal;
}

// The largest slide over a stance if ankles are kept that near.
static double kept_slide(const retarget_work *w, const retarget_foot *foot, double most)
{
    const vec3 up = v3_of(w->job.target.up);
    double slide = 0;
    for (uint32_t i = 0; i < foot->stance_count; i++) {
        double sum = 0;
        vec3 before = kept_near(w, foot, most, foot->stances[i].first);
        for (size_t f = foot->stances[i].first + (size_t)1; f <= foot->stances[i].last; f++) {
            vec3 now = kept_near(w, foot, most, f);
            vec3 way = v3_add(v3_sub(now, before), v3_of(foot->step + 3 * f));
            sum += v3_length(v3_mad(way, -v3_dot(way, up), up));
            before = now;
        }
        slide = fmax(slide, sum);
    }
    return slide;
}

// The least of some steps between the two limits that keeps feet from sliding.
static double path_most(const retarget_work *w, int side)
{
    enum { STEPS = 9 };
    const double stature = w->job.stature, other = w->foot[side].other;
    double most = 0;
    for (int k = 0; k <= STEPS; k++) {
        most = other + stature * (PATH_MOST[0] + (PATH_MOST[1] - PATH_MOST[0]) * k / STEPS);
        if (kept_slide(w, &w->foot[side], most) <= SLIDE_KEPT * stature) break;
    }
    return most;
}

static double lowest_ever(const retarget_work *w, const retarget_foot *foot)
{
    double least = INFINITY;
    for (size_t f = 0; f < w->report.frame_count; f++)
        least = fmin(least, lowest_point(w, foot, f));
    return least;
}

// A motion in place has feet that touch and do not stand: near the ground a sole is as high above
// it as the motion's foot is above where it is lowest. A foot that never comes down hangs.
static void touch_ground(retarget_work *w, int side)
{
    retarget_foot *foot = &w->foot[side];
    const vec3 up = v3_of(w->job.target.up);
    const double near = LEVEL * leg_length(w, side), least = lowest_ever(w, foot);
    for (uint32_t k = 0; k < w->job.foot_count; k++)
        if (lowest_ever(w, &w->foot[k]) < least - near) return;
    for (size_t f = 0; f < w->report.frame_count; f++) {
        const double high = lowest_point(w, foot, f) - least;
        const double x = fmin(fmax(1 - high / near, 0), 1), share = x * x * (3 - 2 * x);
        const double sole = v3_dot(v3_of(foot->goal + 3 * f), up) + foot->low[f];
        v3_sum(foot->goal + 3 * f, v3_scale(up, share * (w->level + high - sole)));
    }
}

static bool walks_in_place(const retarget_work *w)
{
    uint32_t stances = 0;
    for (uint32_t k = 0; k < w->job.foot_count; k++) stances += w->foot[k].stance_count;
    return stances == 0;
}

// Where each ankle shall be: near its path, standing in its stances, never below the ground.
static void find_goals(retarget_work *w, int side)
{
    retarget_foot *foot = &w->foot[side];
    const double *up = w->job.target.up;
    find_levels(w, side);
    for (size_t f = 0; f < w->report.frame_count; f++)
        v3_sum(foot->goal + 3 * f, v3_scale(v3_of(up), w->lift));
    if (walks_in_place(w)) touch_ground(w, side);
    cutis_retarget_hold(foot->goal, foot->step, foot->low, up, w->report.frame_count,
                        1 / w->report.fps, foot->stances, foot->stance_count, foot->offset);
    const double most = path_most(w, side);
    for (size_t f = 0; f < w->report.frame_count; f++) {
        v3_put(kept_near(w, foot, most, f), foot->goal + 3 * f);
        double above = double3_dot(foot->goal + 3 * f, up) + foot->low[f] - w->level +
                       GROUND_SLACK * w->job.stature;
        if (above < 0) v3_sum(foot->goal + 3 * f, v3_scale(v3_of(up), -above));
    }
}

// How far the hips must come down so that the leg of a foot on the ground reaches it.
static double needed_drop(const retarget_work *w, int side, uint32_t f)
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
static void find_drop(retarget_work *w)
{
    const int64_t frames = w->report.frame_count;
    const int64_t span = (int64_t)fmin(fmax(1, round(DROP_SPAN * w->report.fps)), SPAN_MOST);
    double *need = w->scratch, *most = w->scratch + frames;
    // Paws of a walk in place never stand.
    const double near = (w->job.foot_count > 2 ? NEAR : TOUCH) * w->job.stature;
    for (int64_t f = 0; f < frames; f++) need[f] = 0;
    for (int side = 0; side < (int)w->job.foot_count; side++) {
        const retarget_foot *foot = &w->foot[side];
        for (uint32_t f = 0, i = 0; f < frames; f++) {
            while (i < foot->stance_count && foot->stances[i].last < f) i++;
            bool stands = i < foot->stance_count && foot->stances[i].first <= f;
            double above =
                double3_dot(foot->goal + 3 * (size_t)f, w->job.target.up) + foot->low[f] - w->level;
            if (stands || above < near) need[f] = fmax(need[f], needed_drop(w, side, f));
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

void cutis_retarget_stand_goals(retarget_work *w)
{
    for (int side = 0; side < (int)w->job.foot_count; side++) {
        pull_ankle(w, &w->foot[side]);
        find_goals(w, side);
    }
    find_drop(w);
}

// The largest over all stances, in % of the height.
void cutis_retarget_stand_measure(retarget_work *w)
{
    double most = NAN;
    for (int side = 0; side < (int)w->job.foot_count; side++)
        for (uint32_t i = 0; i < w->foot[side].stance_count; i++) {
            const retarget_foot *foot = &w->foot[side];
            most = fmax(most, cutis_retarget_slide(foot->goal, foot->step, w->job.target.up,
                                                   &foot->stances[i]));
        }
    w->report.slide = 100 * most / w->report.height;
}
