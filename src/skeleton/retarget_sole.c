// Soles: the skin of a foot that can touch the ground, where a foot points and which way its sole
// faces at rest (docs/spec/retarget.md E2, E5). Invariant: a foot without skin has its nodes for a
// sole, so that whatever has feet can stand.
#include "skeleton/retarget.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "geometry/order.h"

// More points of one foot than this tell nothing new.
enum { SOLE_MOST = 1500 };
// A foot that is shorter than this part of the body's height points nowhere.
static const double NO_FOOT = 1e-3;
// A sole that leans less than this (cosine of 6 degrees) is flat: soles are not planes.
static const double FLAT = 0.9945;

// Does a node go with the foot: below it, or carried by what is?
static bool goes_with(const retarget_job *job, int32_t node, int32_t foot)
{
    for (; node != CUTIS_NONE && node != foot; node = job->target.data->nodes[node].parent)
        if (job->carrier[node] != CUTIS_NONE)
            return cutis_retarget_is_under(&job->target, job->carrier[node], foot);
    return node == foot;
}

// The vertex at bind with all its influences (heels blend with the shin); false if what leads it
// does not go with the foot.
static bool take_vertex(const retarget_job *job, const cutis_primitive *p, uint32_t v, int32_t foot,
                        retarget_sole *out)
{
    const retarget_rig *rig = &job->target;
    const cutis_influences *in = &p->influences;
    const uint32_t *joints = rig->data->skins[rig->skin].joints;
    const uint32_t first = in->first[v], last = in->first[v + 1];
    uint32_t strongest = first, count = 0;
    for (uint32_t i = first; i < last; i++)
        if (in->weights[i] > in->weights[strongest]) strongest = i;
    if (first == last || !(in->weights[strongest] > 0) ||
        !goes_with(job, (int32_t)joints[in->joints[strongest]], foot))
        return false;
    if (!out) return true;
    int32_t *node = out->node + (size_t)RETARGET_SOLE_NODES * out->count;
    double *weight = out->weight + (size_t)RETARGET_SOLE_NODES * out->count, sum = 0;
    for (uint32_t k = 0; k < RETARGET_SOLE_NODES; k++) node[k] = foot, weight[k] = 0;
    for (uint32_t i = first; i < last; i++) { // the largest, largest first
        double own = (double)in->weights[i];
        uint32_t k = count < RETARGET_SOLE_NODES ? count++ : RETARGET_SOLE_NODES;
        if (k == RETARGET_SOLE_NODES && !(own > weight[--k])) continue;
        for (; k > 0 && weight[k - 1] < own; k--) weight[k] = weight[k - 1], node[k] = node[k - 1];
        weight[k] = own, node[k] = (int32_t)joints[in->joints[i]];
    }
    for (uint32_t k = 0; k < count; k++) sum += weight[k];
    for (uint32_t k = 0; k < count; k++) weight[k] /= sum;
    const float *at = p->positions + 3 * (size_t)v;
    const double x[3] = { at[0], at[1], at[2] };
    double34_point(rig->frame, x, out->place + 3 * (size_t)out->count);
    out->count++;
    return true;
}

// Every `stride`th vertex of the foot; without `out` they are counted.
static uint32_t take_skin(const retarget_job *job, int32_t foot, uint32_t stride,
                          retarget_sole *out)
{
    const retarget_rig *rig = &job->target;
    const cutis_instance *instances;
    uint32_t found = 0, count = cutis_model_instances(rig->model, &instances);
    for (uint32_t i = 0; rig->skin != CUTIS_NONE && i < count; i++) {
        const cutis_mesh *mesh = &rig->data->meshes[instances[i].mesh];
        if (instances[i].skin != rig->skin) continue;
        for (uint32_t k = 0; k < mesh->primitive_count; k++) {
            const cutis_primitive *p = &mesh->primitives[k];
            if (p->topology != CUTIS_TOPOLOGY_TRIANGLES) continue;
            for (uint32_t v = 0; p->influences.first && v < p->vertex_count; v++)
                if (take_vertex(job, p, v, foot, NULL) && found++ % stride == 0 && out)
                    (void)take_vertex(job, p, v, foot, out);
        }
    }
    return found;
}

static cutis_result alloc_sole(cutis_arena *arena, uint32_t most, retarget_sole *out)
{
    out->count = 0;
    out->place = cutis_arena_alloc(arena, most, 3 * sizeof(double));
    out->node = cutis_arena_alloc(arena, most, RETARGET_SOLE_NODES * sizeof(int32_t));
    out->weight = cutis_arena_alloc(arena, most, RETARGET_SOLE_NODES * sizeof(double));
    return out->place && out->node && out->weight ? CUTIS_OK : cutis_alloc_result(arena->context);
}

cutis_result cutis_retarget_sole(const retarget_job *job, int32_t foot, retarget_sole *out)
{
    const retarget_rig *rig = &job->target;
    cutis_arena *arena = job->arena;
    uint32_t found = take_skin(job, foot, 1, NULL);
    *out = (retarget_sole){ .skin = found > 0 };
    if (found) {
        uint32_t stride = 1 + (found - 1) / SOLE_MOST;
        TRY(alloc_sole(arena, found / stride + 1, out));
        take_skin(job, foot, stride, out);
        return CUTIS_OK;
    }
    TRY(alloc_sole(arena, rig->count, out));
    for (uint32_t n = 0; n < rig->count; n++) {
        if (!cutis_retarget_is_under(rig, (int32_t)n, foot)) continue;
        const size_t at = (size_t)RETARGET_SOLE_NODES * out->count;
        for (uint32_t k = 0; k < RETARGET_SOLE_NODES; k++)
            out->node[at + k] = (int32_t)n, out->weight[at + k] = k == 0;
        v3_put(cutis_retarget_at(rig->place, (int32_t)n), out->place + 3 * (size_t)out->count++);
    }
    return CUTIS_OK;
}

void cutis_retarget_skin_at(const retarget_job *job, const retarget_sole *sole, vec3 from,
                            const retarget_frame *frame, double *out)
{
    for (uint32_t i = 0; i < sole->count; i++) {
        vec3 sum = v3_scale(from, -1);
        for (size_t k = (size_t)RETARGET_SOLE_NODES * i; k < RETARGET_SOLE_NODES * (i + (size_t)1);
             k++) {
            if (!(sole->weight[k] > 0)) continue;
            const int32_t n = sole->node[k];
            vec3 arm =
                v3_sub(v3_of(sole->place + 3 * (size_t)i), cutis_retarget_at(job->target.place, n));
            vec3 at = v3_add(cutis_retarget_at(frame->placed, n),
                             cutis_retarget_rotated(frame->turned + 9 * (size_t)n, arm));
            sum = v3_mad(sum, sole->weight[k], at);
        }
        v3_put(sum, out + 3 * (size_t)i);
    }
}

void cutis_retarget_sole_at(const retarget_job *job, int side, const retarget_frame *frame,
                            double *out)
{
    const vec3 ankle = cutis_retarget_at(frame->placed, job->limb[side].target[2]);
    cutis_retarget_skin_at(job, &job->sole[side], ankle, frame, out);
}

// The node under `top` that is farthest from it; `top` itself if it has none.
static int32_t toe_of(const retarget_rig *rig, int32_t top, bool from_above)
{
    int32_t best = top;
    double most = 0;
    for (uint32_t n = (uint32_t)top + 1; n < rig->count; n++) {
        if (!cutis_retarget_is_under(rig, (int32_t)n, top)) continue;
        vec3 d = cutis_retarget_between(rig->place, top, (int32_t)n);
        double rise = from_above ? v3_dot(d, v3_of(rig->up)) : 0, far = v3_dot(d, d) - rise * rise;
        if (far > most) most = far, best = (int32_t)n;
    }
    return best;
}

static vec3 foot_direction(const retarget_rig *rig, int32_t foot, bool from_above)
{
    int32_t toe = toe_of(rig, foot, from_above);
    if (toe == foot && rig->centre && isfinite(rig->centre[3 * (size_t)foot]))
        return v3_sub(cutis_retarget_at(rig->centre, foot), cutis_retarget_at(rig->place, foot));
    return cutis_retarget_between(rig->place, foot, toe);
}

bool cutis_retarget_heading(const retarget_rig *rig, int32_t foot, vec3 *out)
{
    const vec3 up = v3_of(rig->up);
    *out = foot_direction(rig, foot, true);
    *out = v3_mad(*out, -v3_dot(*out, up), up);
    return v3_length(*out) > NO_FOOT * cutis_retarget_height(rig);
}

typedef struct point2 {
    double x, y;
} point2;

static int order_points(const void *a, const void *b)
{
    const point2 *p = a, *q = b;
    int first = (p->x > q->x) - (p->x < q->x);
    return first ? first : (p->y > q->y) - (p->y < q->y);
}

static double left_turn(point2 a, point2 b, point2 c)
{
    return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

// What the foot would rest on: the edge of the lower hull under its middle. The slope of it.
static double resting_slope(point2 *points, uint32_t count)
{
    double middle = 0;
    uint32_t used = 0;
    for (uint32_t i = 0; i < count; i++) middle += points[i].x / count;
    qsort(points, count, sizeof *points, order_points);
    for (uint32_t i = 0; i < count; i++) { // in place: the hull is never longer than what was read
        point2 next = points[i];
        while (used >= 2 && left_turn(points[used - 2], points[used - 1], next) <= 0) used--;
        points[used++] = next;
    }
    for (uint32_t i = 0; i + 1 < used; i++) {
        point2 a = points[i], b = points[i + 1];
        if (a.x <= middle && middle <= b.x && b.x > a.x) return (b.y - a.y) / (b.x - a.x);
    }
    return 0;
}

cutis_result cutis_retarget_foot_frame(cutis_arena *arena, const retarget_rig *rig,
                                       const retarget_sole *sole, const int32_t *leg, vec3 left,
                                       vec3 *front, vec3 *normal)
{
    const int32_t foot = leg[2];
    vec3 f = v3_direction(foot_direction(rig, foot, false));
    vec3 shin = v3_direction(cutis_retarget_between(rig->place, leg[1], foot));
    vec3 across = v3_cross(shin, f);
    *normal = v3_of(rig->up);
    if (!cutis_retarget_heading(rig, foot, front)) *front = v3(0, 0, 0);
    if (!sole->skin || !(v3_length(f) > 0)) return CUTIS_OK;
    if (v3_dot(across, left) < 0) across = v3_scale(across, -1);
    // A foot in line with its shin says nothing about its sides: the body's are taken.
    if (!(v3_length(across) > 0.2)) across = v3_mad(left, -v3_dot(left, f), f);
    if (!(v3_length(across) > 0)) return CUTIS_OK;
    across = v3_direction(across);
    vec3 rise = v3_cross(f, across);
    point2 *points = cutis_arena_alloc(arena, sole->count, sizeof *points);
    if (!points) return cutis_alloc_result(arena->context);
    for (uint32_t i = 0; i < sole->count; i++) {
        vec3 d = v3_of(sole->place + 3 * (size_t)i);
        points[i] = (point2){ v3_dot(d, f), v3_dot(d, rise) };
    }
    double slope = resting_slope(points, sole->count);
    vec3 along = v3_direction(v3_mad(f, slope, rise));
    vec3 up = v3_direction(v3_mad(rise, -slope, f));
    if (v3_dot(up, v3_of(rig->up)) > FLAT) return CUTIS_OK;
    *normal = up;
    *front = along;
    return CUTIS_OK;
}
