// What a brush makes of one vertex's weights: docs/spec/brush.md 2. Invariant: what comes out sums
// to one, locked joints have the weight they had, and the list is ascending by joint.
#include <math.h>
#include <string.h>

#include "fit/brush/painting.h"

// Half a unit of weights that are stored with 16 bits: no file keeps less, and smoothing would hand
// such crumbs on for ever.
static const double CRUMB = 0.5 / 65535;

typedef struct editing {
    const cutis_painting *p;
    const cutis_skin *skin;
    const bool *locked; ///< per node, or NULL
    uint32_t own;       ///< the brush's joint, which is kept while it grows; BRUSH_NOWHERE: none
    uint32_t count;
    cutis_influence list[2 * BRUSH_MOST + 2]; ///< of the vertex and of its goal
} editing;

static bool is_locked(const editing *e, uint32_t joint)
{
    return e->locked && e->locked[e->skin->joints[joint]];
}

static double sum_of(const editing *e, bool locked)
{
    double sum = 0;
    for (uint32_t i = 0; i < e->count; i++)
        if (is_locked(e, e->list[i].joint) == locked) sum += e->list[i].weight;
    return sum;
}

/// The place of a joint in the list, where it is put with weight 0 if it is not there.
static uint32_t place_of(editing *e, uint32_t joint)
{
    uint32_t at = e->count;
    while (at > 0 && e->list[at - 1].joint > joint) at--;
    if (at > 0 && e->list[at - 1].joint == joint) return at - 1;
    memmove(e->list + at + 1, e->list + at, (e->count - at) * sizeof *e->list);
    e->list[at] = (cutis_influence){ joint, 0 };
    e->count++;
    return at;
}

static void drop(editing *e, uint32_t at)
{
    e->count--;
    memmove(e->list + at, e->list + at + 1, (e->count - at) * sizeof *e->list);
}

/// The nearest joint above that the skin has and nobody locked; BRUSH_NOWHERE: none.
static uint32_t above(const editing *e, uint32_t joint)
{
    const cutis_model_data *data = cutis_model_get(e->p->model);
    const uint32_t *joint_of = e->p->joint_of[e->skin - data->skins];
    for (int32_t n = data->nodes[e->skin->joints[joint]].parent; n >= 0; n = data->nodes[n].parent)
        if (joint_of[n] != BRUSH_NOWHERE && !is_locked(e, joint_of[n])) return joint_of[n];
    return BRUSH_NOWHERE;
}

/// Add (or take) weight of the brush's joint; the other joints that are not locked give (or get) it
/// in proportion to what they have.
static void give(editing *e, uint32_t joint, double by)
{
    if (is_locked(e, joint)) return;
    const double free_weight = fmax(0, 1 - sum_of(e, true));
    const uint32_t at = place_of(e, joint);
    const double old = e->list[at].weight;
    e->list[at].weight = 0;
    const double others = sum_of(e, false);
    e->list[at].weight = old;
    const double now = fmin(free_weight, fmax(0, old + by));
    if (others > 0) {
        for (uint32_t i = 0; i < e->count; i++)
            if (i != at && !is_locked(e, e->list[i].joint))
                e->list[i].weight *= (free_weight - now) / others;
        e->list[at].weight = now;
    } else if (now < old && above(e, joint) != BRUSH_NOWHERE) {
        e->list[at].weight = now;
        e->list[place_of(e, above(e, joint))].weight = free_weight - now;
    }
}

/// Weights that are not locked go a part of the way to the goal's.
static void lead(editing *e, const cutis_influence *goal, uint32_t goal_count, double part)
{
    const double free_weight = fmax(0, 1 - sum_of(e, true));
    cutis_influence before[BRUSH_MOST];
    const uint32_t count = e->count;
    memcpy(before, e->list, count * sizeof *before);
    for (uint32_t i = 0; i < count; i++)
        if (!is_locked(e, e->list[i].joint)) e->list[i].weight *= 1 - part;
    for (uint32_t i = 0; i < goal_count; i++)
        if (!is_locked(e, goal[i].joint))
            e->list[place_of(e, goal[i].joint)].weight += part * goal[i].weight;
    for (uint32_t i = 0; i < e->count; i++) e->list[i].weight = fmax(0, e->list[i].weight);
    const double sum = sum_of(e, false);
    if (sum > 0) {
        for (uint32_t i = 0; i < e->count; i++)
            if (!is_locked(e, e->list[i].joint)) e->list[i].weight *= free_weight / sum;
    } else {
        e->count = count;
        memcpy(e->list, before, count * sizeof *before);
    }
}

/// Mean of the neighbours' weights, each neighbour of the same skin counting once.
static uint32_t mean_around(const cutis_painting *p, uint32_t weld, editing *out)
{
    uint32_t neighbours = 0;
    out->count = 0;
    for (uint32_t i = p->near_first[weld]; i < p->near_first[weld + 1]; i++) {
        const uint32_t near = p->near[i];
        if (p->skin[near] != p->skin[weld]) continue;
        neighbours++;
        for (uint32_t k = 0; k < p->count[near]; k++) {
            const cutis_influence from = brush_list(p, near)[k];
            const uint32_t at = place_of(out, from.joint);
            out->list[at].weight += from.weight;
            if (out->count > BRUSH_MOST) drop(out, at); // 65 joints around one vertex: the first 64
        }
    }
    for (uint32_t i = 0; i < out->count; i++) out->list[i].weight /= neighbours;
    return out->count;
}

/// Who goes first: the smallest that is neither locked nor the brush's own, of equals the higher.
static uint32_t smallest(const editing *e)
{
    uint32_t worst = BRUSH_NOWHERE;
    for (uint32_t i = 0; i < e->count; i++)
        if (!is_locked(e, e->list[i].joint) && e->list[i].joint != e->own &&
            (worst == BRUSH_NOWHERE || e->list[i].weight <= e->list[worst].weight))
            worst = i;
    return worst;
}

/// No crumbs, no more influences than asked for, and a sum of one again.
static void tidy(editing *e, uint32_t most)
{
    const double free_weight = fmax(0, 1 - sum_of(e, true));
    uint32_t open = 0; // not locked; the largest must stay, to take what the locked ones leave
    double largest = 0;
    for (uint32_t i = 0; i < e->count; i++)
        if (!is_locked(e, e->list[i].joint)) open++, largest = fmax(largest, e->list[i].weight);
    for (uint32_t i = e->count; i-- > 0;)
        if (!is_locked(e, e->list[i].joint) &&
            (e->list[i].weight <= 0 || (e->list[i].weight < CRUMB && e->list[i].weight < largest)))
            drop(e, i), open--;
    for (uint32_t worst; e->count > most && open > 1; open--) {
        if ((worst = smallest(e)) == BRUSH_NOWHERE) break;
        drop(e, worst);
    }
    const double sum = sum_of(e, false);
    for (uint32_t i = 0; i < e->count && sum > 0; i++)
        if (!is_locked(e, e->list[i].joint)) e->list[i].weight *= free_weight / sum;
}

uint32_t brush_edit(const cutis_painting *p, const cutis_brush *brush, uint32_t joint_node,
                    uint32_t weld, double amount, cutis_influence *out)
{
    const uint32_t asked = brush->influences ? brush->influences : BRUSH_MOST;
    editing e = { .p = p,
                  .skin = &cutis_model_get(p->model)->skins[p->skin[weld]],
                  .locked = brush->locked,
                  .own = BRUSH_NOWHERE,
                  .count = p->count[weld] };
    memcpy(e.list, brush_list(p, weld), e.count * sizeof *e.list);
    const bool gives = brush->kind == CUTIS_BRUSH_ADD || brush->kind == CUTIS_BRUSH_SUBTRACT;
    if (gives) {
        const uint32_t joint = p->joint_of[p->skin[weld]][joint_node];
        if (joint == BRUSH_NOWHERE) return 0;
        if (brush->kind == CUTIS_BRUSH_ADD) e.own = joint;
        give(&e, joint, brush->kind == CUTIS_BRUSH_ADD ? amount : -amount);
    } else if (brush->kind == CUTIS_BRUSH_TOWARD) {
        lead(&e, brush_list(brush->toward, weld), brush->toward->count[weld], amount);
    } else {
        editing mean = { .p = p, .skin = e.skin };
        if (mean_around(p, weld, &mean))
            lead(&e, mean.list, mean.count, brush->kind == CUTIS_BRUSH_SHARPEN ? -amount : amount);
    }
    tidy(&e, asked < p->room ? asked : p->room);
    memcpy(out, e.list, e.count * sizeof *out);
    return e.count;
}
