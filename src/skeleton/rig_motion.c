// A rigged body's own check of a motion that was put on it: is the skin torn, does the body stand
// as the motion does, do its feet stand on the ground where the motion's do, and stay there?
// Invariant: everything is measured on the skin as the written keys move it, blended here; nothing
// is taken from what retargeting believed but its frames, its up and the height.
#include <cutis/clip.h>
#include <cutis/rig.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "geometry/order.h"
#include "skeleton/closed.h"
#include "skeleton/retarget.h"

// What is seen: limits of the figures (docs/design/rig.md has what good and broken results have).
static const double STRETCH = 4; // times: a triangle that is longer than at rest by more is torn
static const double TORN = 1;    // % of the body's surface
static const double LIES = 35;   // degrees
static const double OFF_GROUND = 1.5; // % of the height
static const double SLIDES = 1.5;     // % of the height
static const double TOUCH = 0.001;    // of the height: skin that near to the lowest touches
static const double STAIR = 0.06;     // leg lengths: what is higher is another ground
static const double HANGS =
    0.08; // of the height: what is below the feet by more is a tail or a gown
static const double GROUND_PART = 0.2; // of all stances are lower than what counts as the ground
static const double LOWEST = 0.003; // leg lengths: so near to its lowest a foot touches the ground
enum { LOOKS = 16, POINTS_MOST = 1500 };

enum { HEAD = RETARGET_FEET, PATCHES }; // feet first: left and right, then paws

// One mesh as it is shown once.
typedef struct {
    const cutis_primitive *primitive;
    uint32_t skin;
} surface;

// Some of the skin that goes with a joint.
typedef struct {
    uint32_t count, *surfaces, *vertices;
    double *now, *before; // 3 per point
} patch;

typedef struct {
    cutis_context *context;
    cutis_arena arena;
    const cutis_model *model;
    const cutis_model_data *data;
    const cutis_retarget_report *how;
    cutis_rig_motion *figures;
    retarget_rig body, motion;
    cutis_sampler *clip, *own;
    cutis_transform *pose, *motion_pose;
    double *matrices, *places; // of the motion's nodes
    cutis_mat34 *world, **palettes;
    surface *surfaces;
    uint32_t surface_count, frame_count;
    patch patches[PATCHES];
    uint32_t feet; // 2, or 4; 0: they were not looked at
    // Per frame of each foot's skin: its lowest; how far what touches went.
    double *low[RETARGET_FEET], *step[RETARGET_FEET];
    double *points[RETARGET_FEET][RETARGET_FOOT_POINTS]; // of the motion's feet
    uint32_t point_count[RETARGET_FEET];
    double *lean; // per frame
    double ground;
} checker;

// Skin ------------------------------------------------------------------------------------------

static void find_palettes(checker *c, const cutis_transform *pose)
{
    cutis_pose_world(c->model, pose, c->world);
    for (uint32_t s = 0; s < c->data->skin_count; s++) {
        const cutis_skin *skin = &c->data->skins[s];
        for (uint32_t j = 0; j < skin->joint_count; j++) {
            const cutis_mat34 *joint = &c->world[skin->joints[j]];
            c->palettes[s][j] =
                skin->inverse_binds ? cutis_mat34_multiply(joint, &skin->inverse_binds[j]) : *joint;
        }
    }
}

// A vertex under the palettes of a frame.
static vec3 blended(const checker *c, const surface *s, uint32_t v)
{
    const cutis_influences *in = &s->primitive->influences;
    const float *x = s->primitive->positions + 3 * (size_t)v;
    double m[12] = { 0 }, sum = 0;
    for (uint32_t i = in->first[v]; i < in->first[v + 1]; i++) {
        const float *bone = c->palettes[s->skin][in->joints[i]].m;
        for (int k = 0; k < 12; k++) m[k] += (double)in->weights[i] * bone[k];
        sum += (double)in->weights[i];
    }
    const double at[3] = { x[0], x[1], x[2] };
    double out[3];
    double34_point(m, at, out);
    return v3_scale(v3_of(out), sum > 0 ? 1 / sum : 0);
}

static cutis_result find_surfaces(checker *c)
{
    const cutis_instance *instances;
    const uint32_t count = cutis_model_instances(c->model, &instances);
    uint32_t most = 0;
    for (uint32_t i = 0; i < count; i++) most += c->data->meshes[instances[i].mesh].primitive_count;
    c->surfaces = cutis_arena_alloc(&c->arena, most + (size_t)1, sizeof *c->surfaces);
    c->palettes = cutis_arena_zero(&c->arena, c->data->skin_count + (size_t)1, sizeof *c->palettes);
    c->world = cutis_arena_alloc(&c->arena, c->data->node_count, sizeof *c->world);
    if (!c->surfaces || !c->palettes || !c->world) return cutis_alloc_result(c->context);
    for (uint32_t s = 0; s < c->data->skin_count; s++) {
        c->palettes[s] = cutis_arena_alloc(&c->arena, c->data->skins[s].joint_count + (size_t)1,
                                           sizeof **c->palettes);
        if (!c->palettes[s]) return cutis_alloc_result(c->context);
    }
    for (uint32_t i = 0; i < count; i++) {
        const cutis_mesh *mesh = &c->data->meshes[instances[i].mesh];
        for (uint32_t p = 0; p < mesh->primitive_count && instances[i].skin != CUTIS_NONE; p++)
            if (mesh->primitives[p].influences.first &&
                mesh->primitives[p].topology == CUTIS_TOPOLOGY_TRIANGLES)
                c->surfaces[c->surface_count++] =
                    (surface){ &mesh->primitives[p], (uint32_t)instances[i].skin };
    }
    return CUTIS_OK;
}

// Does the joint that leads a vertex hang from `top`?
static bool goes_with(const checker *c, const surface *s, uint32_t v, int32_t top)
{
    const cutis_influences *in = &s->primitive->influences;
    uint32_t best = in->first[v];
    for (uint32_t i = best; i < in->first[v + 1]; i++)
        if (in->weights[i] > in->weights[best]) best = i;
    if (best == in->first[v + 1]) return false;
    const uint32_t node = c->data->skins[s->skin].joints[in->joints[best]];
    return cutis_retarget_is_under(&c->body, (int32_t)node, top);
}

// Every so many of the vertices that go with a joint.
static cutis_result find_patch(checker *c, int32_t top, patch *out)
{
    uint32_t found = 0, stride = 1;
    if (top == CUTIS_NONE) return CUTIS_OK;
    for (int pass = 0; pass < 2; pass++) {
        uint32_t at = 0;
        for (uint32_t s = 0; s < c->surface_count; s++)
            for (uint32_t v = 0; v < c->surfaces[s].primitive->vertex_count; v++) {
                if (!goes_with(c, &c->surfaces[s], v, top) || at++ % stride != 0 || pass == 0)
                    continue;
                out->surfaces[out->count] = s;
                out->vertices[out->count++] = v;
            }
        if (pass == 1) break;
        found = at;
        stride = 1 + found / POINTS_MOST;
        const size_t room = found / stride + (size_t)1;
        out->surfaces = cutis_arena_alloc(&c->arena, room, sizeof *out->surfaces);
        out->vertices = cutis_arena_alloc(&c->arena, room, sizeof *out->vertices);
        out->now = cutis_arena_zero(&c->arena, room, 3 * sizeof *out->now);
        out->before = cutis_arena_zero(&c->arena, room, 3 * sizeof *out->before);
        if (!out->surfaces || !out->vertices || !out->now || !out->before)
            return cutis_alloc_result(c->context);
    }
    return CUTIS_OK;
}

static void move_patch(const checker *c, patch *p)
{
    double *swap = p->before;
    p->before = p->now, p->now = swap;
    for (uint32_t i = 0; i < p->count; i++)
        v3_put(blended(c, &c->surfaces[p->surfaces[i]], p->vertices[i]), p->now + 3 * (size_t)i);
}

static vec3 patch_middle(const patch *p)
{
    double sum[3] = { 0 };
    for (uint32_t i = 0; i < p->count; i++) v3_sum(sum, v3_of(p->now + 3 * (size_t)i));
    return v3_divide(v3_of(sum), p->count ? p->count : 1);
}

// Torn ------------------------------------------------------------------------------------------

// The square of a triangle's longest edge.
static double longest_square(const double *places, const uint32_t *t)
{
    double most = 0;
    for (int k = 0; k < 3; k++) {
        const double *a = places + 3 * (size_t)t[k], *b = places + 3 * (size_t)t[(k + 1) % 3];
        const double x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
        const double square = x * x + y * y + z * z;
        most = square > most ? square : most;
    }
    return most;
}

static double area(const double *places, const uint32_t *t)
{
    return v3_area_of(places + 3 * (size_t)t[0], places + 3 * (size_t)t[1],
                      places + 3 * (size_t)t[2]);
}

static void move_surface(const checker *c, const surface *s, double *out)
{
    for (uint32_t v = 0; v < s->primitive->vertex_count; v++)
        v3_put(blended(c, s, v), out + 3 * (size_t)v);
}

// Surface of a frame in triangles that are much longer than at rest. By the area that they have
// then: two limbs that share a scrap of skin have it drawn out between them like gum.
static double torn_area(const checker *c, const surface *s, const double *rest, const double *now)
{
    const double seen = TOUCH * c->how->height;
    double sum = 0;
    for (uint32_t i = 0; i + 2 < s->primitive->index_count; i += 3) {
        const uint32_t *t = s->primitive->indices + i;
        const double square = longest_square(now, t);
        if (square > seen * seen && square > STRETCH * STRETCH * longest_square(rest, t))
            sum += area(now, t);
    }
    return sum;
}

static cutis_result find_torn(checker *c)
{
    const uint32_t looks = c->frame_count < LOOKS ? c->frame_count : LOOKS;
    double torn[LOOKS] = { 0 }, whole = 0;
    for (uint32_t s = 0; s < c->surface_count; s++) {
        const cutis_primitive *p = c->surfaces[s].primitive;
        cutis_arena scratch = { .context = c->context };
        double *rest = cutis_arena_alloc(&scratch, p->vertex_count, 3 * sizeof *rest);
        double *now = cutis_arena_alloc(&scratch, p->vertex_count, 3 * sizeof *now);
        cutis_result result = rest && now ? CUTIS_OK : cutis_alloc_result(c->context);
        if (result == CUTIS_OK) {
            cutis_pose_rest(c->model, c->pose, NULL);
            find_palettes(c, c->pose);
            move_surface(c, &c->surfaces[s], rest);
            for (uint32_t i = 0; i + 2 < p->index_count; i += 3)
                whole += area(rest, p->indices + i);
        }
        for (uint32_t k = 0; k < looks && result == CUTIS_OK; k++) {
            const double f = looks > 1 ? (double)k * (c->frame_count - 1) / (looks - 1) : 0;
            cutis_sampler_sample(c->clip, (float)(round(f) / c->how->fps), c->pose, NULL);
            find_palettes(c, c->pose);
            move_surface(c, &c->surfaces[s], now);
            torn[k] += torn_area(c, &c->surfaces[s], rest, now);
            result = cutis_progress(c->context, "looking at the motion",
                                    0.5 * (s + (k + 1.0) / looks) / c->surface_count);
        }
        cutis_arena_release(&scratch);
        TRY(result);
    }
    for (uint32_t k = 0; k < looks && whole > 0; k++)
        c->figures->torn = fmax(c->figures->torn, 100 * torn[k] / whole);
    return CUTIS_OK;
}

// Standing --------------------------------------------------------------------------------------

static double lowest(const patch *p, const double *up)
{
    double low = INFINITY;
    for (uint32_t i = 0; i < p->count; i++)
        low = fmin(low, double3_dot(p->now + 3 * (size_t)i, up));
    return low;
}

// The ground is what the body stands on at rest: its lowest skin, unless that is far below its
// feet.
static void find_ground(checker *c)
{
    const vec3 up = v3_of(c->how->up);
    double feet = INFINITY;
    c->ground = INFINITY;
    cutis_pose_rest(c->model, c->pose, NULL);
    find_palettes(c, c->pose);
    for (uint32_t k = 0; k < c->feet; k++) {
        move_patch(c, &c->patches[k]);
        feet = fmin(feet, lowest(&c->patches[k], c->how->up));
    }
    for (uint32_t s = 0; s < c->surface_count; s++)
        for (uint32_t v = 0; v < c->surfaces[s].primitive->vertex_count; v++)
            c->ground = fmin(c->ground, v3_dot(blended(c, &c->surfaces[s], v), up));
    if (feet - c->ground > HANGS * c->how->height) c->ground = feet;
}

// The joints of a leg, thigh to foot; of the third and fourth, upper arm to hand.
static int32_t leg_joint(const retarget_rig *rig, uint32_t leg, int which)
{
    const int first = leg < 2 ? ROLE_THIGH : ROLE_UPPERARM;
    return cutis_retarget_joint(rig, (retarget_role)(first + which), SIDE_LEFT + (int)(leg & 1));
}

// How much more the way from the feet to the head leans than the motion's; necks of beasts differ.
static double lean_of(const checker *c)
{
    vec3 own = { 0 }, feet = { 0 };
    const int32_t head = cutis_retarget_joint(&c->motion, ROLE_HEAD, SIDE_NONE);
    if (head == CUTIS_NONE || c->patches[HEAD].count == 0 || c->feet > 2) return 0;
    for (int k = 0; k < 2; k++) {
        const int32_t foot = cutis_retarget_joint(&c->motion, ROLE_FOOT, SIDE_LEFT + k);
        own = v3_mad(own, 0.5, cutis_retarget_at(c->places, foot));
        feet = v3_mad(feet, 0.5, patch_middle(&c->patches[k]));
    }
    own = v3_sub(cutis_retarget_at(c->places, head), own);
    double wanted = v3_angle(own, v3_of(c->motion.up));
    double has = v3_angle(v3_sub(patch_middle(&c->patches[HEAD]), feet), v3_of(c->how->up));
    return fabs(has - wanted) * (180 / M_PI);
}

static void take_frame(checker *c, uint32_t f, bool first_left_out)
{
    const double *up = c->how->up;
    cutis_sampler_sample(c->clip, (float)(f / c->how->fps), c->pose, NULL);
    find_palettes(c, c->pose);
    cutis_sampler_sample(c->own, (float)((f + (first_left_out ? 1.0 : 0.0)) / c->how->fps),
                         c->motion_pose, NULL);
    cutis_retarget_world(c->motion.data, c->motion_pose, c->matrices, c->places, NULL);
    for (int k = 0; k < PATCHES; k++) move_patch(c, &c->patches[k]);
    for (uint32_t k = 0; k < c->feet; k++) {
        const patch *p = &c->patches[k];
        double step[3];
        cutis_retarget_touch(f ? p->before : NULL, p->now, p->count, up, TOUCH * c->how->height,
                             step, &c->low[k][f]);
        vec3 way = v3_of(step);
        c->step[k][f] = v3_length(v3_mad(way, -v3_dot(way, v3_of(up)), v3_of(up)));
        int32_t nodes[RETARGET_FOOT_POINTS];
        const int32_t foot = leg_joint(&c->motion, k, 2);
        cutis_retarget_foot_points(&c->motion, foot, nodes, &c->point_count[k]);
        for (uint32_t i = 0; i < c->point_count[k]; i++)
            v3_put(cutis_retarget_at(c->places, nodes[i]), c->points[k][i] + 3 * (size_t)f);
    }
    c->lean[f] = lean_of(c);
}

static double motion_leg(const checker *c, uint32_t leg)
{
    double sum = 0;
    for (int k = 0; k < 2; k++)
        sum += v3_length(cutis_retarget_between(c->motion.place, leg_joint(&c->motion, leg, k),
                                                leg_joint(&c->motion, leg, k + 1)));
    return sum;
}

// The lowest of the motion's foot in a stance, in the mean.
static double own_height(const checker *c, uint32_t side, const retarget_stance *s)
{
    double mean = 0;
    for (size_t f = s->first; f <= s->last; f++) {
        double low = INFINITY;
        for (uint32_t i = 0; i < c->point_count[side]; i++)
            low = fmin(low, double3_dot(c->points[side][i] + 3 * f, c->motion.up));
        mean += low / (s->last - s->first + 1);
    }
    return mean;
}

static void take_stance(checker *c, uint32_t side, const retarget_stance *s, bool on_ground)
{
    const double percent = 100 / c->how->height;
    double slide = 0;
    for (uint32_t f = s->first; f <= s->last; f++) {
        if (f > s->first) slide += c->step[side][f];
        if (on_ground)
            c->figures->off_ground =
                fmax(c->figures->off_ground, percent * fabs(c->low[side][f] - c->ground));
    }
    c->figures->slide = fmax(c->figures->slide, percent * slide);
    c->figures->contact_count++;
}

static double own_low(const checker *c, uint32_t foot, uint32_t f)
{
    return own_height(c, foot, &(retarget_stance){ .first = f, .last = f });
}

static double own_lowest(const checker *c, uint32_t foot)
{
    double low = INFINITY;
    for (uint32_t f = 0; f < c->frame_count; f++) low = fmin(low, own_low(c, foot, f));
    return low;
}

// A motion in place, whose feet go backwards with a ground that nobody sees: where one of them is
// as low as it ever is, it touches, unless it never comes down. Slides cannot be told.
static void take_heights(checker *c)
{
    double ground = INFINITY;
    for (uint32_t k = 0; k < c->feet; k++) ground = fmin(ground, own_lowest(c, k));
    for (uint32_t k = 0; k < c->feet; k++) {
        const double low = own_lowest(c, k), leg = motion_leg(c, k);
        for (uint32_t f = 0; f < c->frame_count && low < ground + STAIR * leg; f++)
            if (own_low(c, k, f) < low + LOWEST * leg)
                take_stance(c, k, &(retarget_stance){ .first = f, .last = f }, true);
    }
    c->figures->slide = NAN;
}

static cutis_result take_stances(checker *c)
{
    const size_t frames = c->frame_count;
    retarget_stance *stances[RETARGET_FEET];
    uint32_t count[RETARGET_FEET], all = 0;
    double *scratch = cutis_arena_alloc(&c->arena, frames, 3 * sizeof *scratch);
    double *heights = cutis_arena_alloc(&c->arena, 2 * frames + RETARGET_FEET, sizeof *heights);
    for (uint32_t k = 0; k < c->feet; k++) {
        stances[k] = cutis_arena_alloc(&c->arena, frames / 2 + 1, sizeof **stances);
        if (!scratch || !heights || !stances[k]) return cutis_alloc_result(c->context);
        count[k] =
            cutis_retarget_stances(c->points[k], c->point_count[k], c->motion.up, c->frame_count,
                                   1 / c->how->fps, motion_leg(c, k), scratch, stances[k]);
        for (uint32_t i = 0; i < count[k]; i++) heights[all++] = own_height(c, k, &stances[k][i]);
    }
    qsort(heights, all, sizeof *heights, order_double);
    const double ground = all ? heights[(size_t)(GROUND_PART * (all - 1))] : 0;
    for (uint32_t k = 0; k < c->feet; k++)
        for (uint32_t i = 0; i < count[k]; i++)
            take_stance(c, k, &stances[k][i],
                        own_height(c, k, &stances[k][i]) < ground + STAIR * motion_leg(c, k));
    if (all == 0) take_heights(c);
    qsort(c->lean, frames, sizeof *c->lean, order_double);
    c->figures->lean = c->lean[frames / 2];
    for (uint32_t k = 0; k < c->feet; k++)
        for (size_t f = 0; f < frames; f++)
            c->figures->sunk =
                fmax(c->figures->sunk, 100 * (c->ground - c->low[k][f]) / c->how->height);
    return CUTIS_OK;
}

// Both bodies on two legs that are whole, or both on four: else nothing can be said about standing.
static uint32_t feet_of(const retarget_rig *rig)
{
    const uint32_t feet = rig->four_legged ? 4 : 2;
    for (uint32_t i = 0; i < 3 * feet; i++)
        if (leg_joint(rig, i / 3, (int)(i % 3)) == CUTIS_NONE) return 0;
    return feet;
}

static cutis_result find_standing(checker *c)
{
    const bool first_left_out = c->how->rest == CUTIS_RETARGET_TPOSE;
    const size_t frames = c->frame_count;
    c->feet = feet_of(&c->body);
    if (c->feet == 0 || feet_of(&c->motion) != c->feet) return CUTIS_OK;
    for (uint32_t k = 0; k < c->feet; k++) {
        TRY(find_patch(c, leg_joint(&c->body, k, 2), &c->patches[k]));
        if (c->patches[k].count == 0) return CUTIS_OK;
        c->low[k] = cutis_arena_zero(&c->arena, frames, sizeof(double));
        c->step[k] = cutis_arena_zero(&c->arena, frames, sizeof(double));
        if (!c->low[k] || !c->step[k]) return cutis_alloc_result(c->context);
        for (int i = 0; i < RETARGET_FOOT_POINTS; i++) {
            c->points[k][i] = cutis_arena_zero(&c->arena, frames, 3 * sizeof(double));
            if (!c->points[k][i]) return cutis_alloc_result(c->context);
        }
    }
    TRY(find_patch(c, cutis_retarget_joint(&c->body, ROLE_HEAD, SIDE_NONE), &c->patches[HEAD]));
    c->lean = cutis_arena_zero(&c->arena, frames, sizeof *c->lean);
    if (!c->lean) return cutis_alloc_result(c->context);
    find_ground(c);
    for (uint32_t f = 0; f < c->frame_count; f++) {
        take_frame(c, f, first_left_out);
        TRY(cutis_progress(c->context, "looking at the motion", 0.5 + 0.5 * f / frames));
    }
    return take_stances(c);
}

// The whole -------------------------------------------------------------------------------------

static cutis_result prepare(checker *c, const cutis_model *motion, uint32_t motion_clip)
{
    const cutis_model_data *own = cutis_model_get(motion);
    TRY(cutis_retarget_rig_bind(&c->arena, c->model, &c->body));
    c->body.up_told = true;
    memcpy(c->body.up, c->how->up, sizeof c->body.up);
    TRY(cutis_retarget_roles(&c->arena, &c->body));
    TRY(cutis_retarget_rig_pose(&c->arena, motion, NULL, &c->motion));
    TRY(cutis_retarget_roles(&c->arena, &c->motion));
    c->pose = cutis_arena_alloc(&c->arena, c->data->node_count, sizeof *c->pose);
    c->motion_pose = cutis_arena_alloc(&c->arena, own->node_count, sizeof *c->motion_pose);
    c->matrices = cutis_arena_alloc(&c->arena, own->node_count, 12 * sizeof *c->matrices);
    c->places = cutis_arena_alloc(&c->arena, own->node_count, 3 * sizeof *c->places);
    if (!c->pose || !c->motion_pose || !c->matrices || !c->places)
        return cutis_alloc_result(c->context);
    TRY(cutis_sampler_create(c->model, c->data->clip_count - 1, &c->clip));
    TRY(cutis_sampler_create(motion, motion_clip, &c->own));
    return find_surfaces(c);
}

static cutis_result tell(const checker *c, cutis_rig_report *report)
{
    const cutis_rig_motion *m = c->figures;
    const char *name = c->data->clips[c->data->clip_count - 1].name;
    cutis_notes notes = { .arena = cutis_owner_arena(report) };
    name = name ? name : "the motion";
    for (uint32_t i = 0; i < report->problem_count; i++)
        cutis_note(&notes, "%s", report->problems[i]);
    if (m->torn > TORN)
        cutis_note(&notes,
                   "%.60s tears the body: %.1f %% of its skin is stretched more than %g times",
                   name, m->torn, STRETCH);
    if (m->lean > LIES)
        cutis_note(
            &notes,
            "%.60s: from feet to head the body leans by %.0f degrees more or less than the motion",
            name, m->lean);
    if (m->off_ground > OFF_GROUND || m->sunk > OFF_GROUND)
        cutis_note(
            &notes,
            "%.60s: feet are up to %.1f %% of the height off the ground, and up to %.1f %% in it",
            name, m->off_ground, fmax(m->sunk, 0));
    if (m->slide > SLIDES)
        cutis_note(&notes, "%.60s: feet slide by up to %.1f %% of the height while they stand",
                   name, m->slide);
    if (notes.failed) return cutis_alloc_result(c->context);
    report->problem_count = notes.count, report->problems = notes.lines;
    return CUTIS_OK;
}

cutis_result cutis_rig_check_motion(const cutis_model *moved, const cutis_model *motion,
                                    uint32_t motion_clip, const cutis_retarget_report *how,
                                    cutis_rig_report *report)
{
    if (!moved || !motion || !how || !report) return CUTIS_INVALID_ARGUMENT;
    cutis_context *context = cutis_model_context(moved);
    checker c = { .context = context,
                  .arena = { .context = context },
                  .model = moved,
                  .data = cutis_model_get(moved),
                  .how = how,
                  .frame_count = how->frame_count,
                  .figures = &report->motion };
    if (c.data->clip_count == 0 || how->frame_count == 0 || !(how->height > 0) || !(how->fps > 0))
        return INVALID(context, "the model has no clip, or the report is not of its retargeting");
    report->motion = (cutis_rig_motion){ 0 };
    cutis_result result = prepare(&c, motion, motion_clip);
    if (result == CUTIS_OK) result = find_torn(&c);
    if (result == CUTIS_OK) result = find_standing(&c);
    if (result == CUTIS_OK) result = tell(&c, report);
    cutis_sampler_destroy(c.clip);
    cutis_sampler_destroy(c.own);
    cutis_arena_release(&c.arena);
    return result;
}
