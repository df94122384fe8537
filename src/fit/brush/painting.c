// Dabs, what they changed, and the model they make.
#include "fit/brush/painting.h"

#include <math.h>
#include <string.h>

#include "base/error.h"

// Weights ---------------------------------------------------------------------------------------

/// The model's own list of a weld: of its lowest vertex.
static void restore(cutis_painting *p, const cutis_primitive *part, uint32_t vertex, uint32_t weld)
{
    cutis_influence whole[BRUSH_MOST * 4], *list = brush_list(p, weld);
    const uint32_t *first = part->influences.first;
    uint32_t count = 0;
    if (first && first[vertex + 1] - first[vertex] <= BRUSH_MOST * 4)
        count = cutis_vertex_gather(&part->influences, vertex, whole);
    while (count > p->room) { // the smallest go, as the brush itself would have it
        uint32_t worst = 0;
        for (uint32_t i = 1; i < count; i++)
            if (whole[i].weight <= whole[worst].weight) worst = i;
        count--;
        memmove(whole + worst, whole + worst + 1, (count - worst) * sizeof *whole);
    }
    if (count == 0) whole[count++] = (cutis_influence){ 0, 1 };
    cutis_vertex_normalise(whole, count);
    memcpy(list, whole, count * sizeof *list);
    p->count[weld] = count;
}

/// Calls `visit` with every weld that has a skin, its lowest vertex's primitive and place there.
static void each_weld(cutis_painting *p, bool edited_only)
{
    const cutis_model_data *data = cutis_model_get(p->model);
    const cutis_instance *instances;
    const uint32_t count = cutis_model_instances(p->model, &instances);
    for (uint32_t i = 0; i < count; i++) {
        const cutis_mesh *mesh = &data->meshes[instances[i].mesh];
        uint32_t vertex = instances[i].vertex_first;
        for (uint32_t k = 0; k < mesh->primitive_count; k++)
            for (uint32_t v = 0; v < mesh->primitives[k].vertex_count; v++, vertex++) {
                const uint32_t weld = p->weld[vertex];
                if (p->copies[p->copy_first[weld]] != vertex || p->skin[weld] < 0) continue;
                if (edited_only && !p->edited.has[weld]) continue;
                restore(p, &mesh->primitives[k], v, weld);
                brush_mark(&p->changed, weld);
            }
    }
}

void cutis_painting_reset(cutis_painting *p)
{
    if (!p) return;
    each_weld(p, p->edited.count > 0 || p->count[0] > 0);
    brush_unmark(&p->edited);
    brush_unmark(&p->stroked);
}

static void set_list(cutis_painting *p, uint32_t weld, const cutis_influence *list, uint32_t count)
{
    memcpy(brush_list(p, weld), list, count * sizeof *list);
    p->count[weld] = count;
    brush_mark(&p->changed, weld);
    brush_mark(&p->edited, weld);
}

// Dabs ------------------------------------------------------------------------------------------

/// Welds under a brush and how strong it is there.
typedef struct brush_layer {
    brush_marks under;
    double *amount; ///< per weld
} brush_layer;

static bool make_layer(const cutis_painting *p, cutis_arena *arena, brush_layer *out)
{
    out->under.list = cutis_arena_alloc(arena, p->weld_count, sizeof *out->under.list);
    out->under.has = cutis_arena_zero(arena, p->weld_count, sizeof *out->under.has);
    out->amount = cutis_arena_zero(arena, p->weld_count, sizeof *out->amount);
    return out->under.list && out->under.has && out->amount;
}

/// Amounts around one point, the larger of several where they meet. false: out of memory.
static bool lay(cutis_painting *p, const cutis_brush *brush, uint32_t triangle, vec3 from,
                brush_layer *layer)
{
    const bool good = brush_march(p, triangle, from, brush->radius);
    for (uint32_t i = 0; i < p->reached.count; i++) {
        const uint32_t weld = p->reached.list[i];
        const double part = p->distance[weld] / brush->radius, soft = 1 - part * part;
        const double amount = brush->strength * (brush->even ? 1 : soft * soft);
        p->distance[weld] = INFINITY;
        if (p->skin[weld] < 0 || !(amount > 0)) continue;
        layer->amount[weld] = fmax(layer->amount[weld], amount);
        brush_mark(&layer->under, weld);
    }
    return good;
}

static bool reserve(cutis_painting *p, const brush_layer *layer)
{
    const size_t n = layer->under.count;
    return cutis_grow(p->context, &p->next, &p->next_capacity, n * p->room, sizeof *p->next) &&
           cutis_grow(p->context, &p->next_count, &p->next_count_capacity, n,
                      sizeof *p->next_count);
}

/// Compared by value: between a joint and its weight there is padding.
static bool is_list(const cutis_painting *p, uint32_t weld, const cutis_influence *list,
                    uint32_t count)
{
    const cutis_influence *old = brush_list(p, weld);
    bool same = count == p->count[weld];
    for (uint32_t i = 0; i < count && same; i++)
        same = list[i].joint == old[i].joint && list[i].weight == old[i].weight;
    return same;
}

/// New lists of all welds of a layer from the old ones, then all at once. Cannot fail.
static void apply(cutis_painting *p, const cutis_brush *brush, uint32_t joint,
                  const brush_layer *layer)
{
    const uint32_t n = layer->under.count, *list = layer->under.list;
    for (uint32_t i = 0; i < n; i++)
        p->next_count[i] = brush_edit(p, brush, joint, list[i], layer->amount[list[i]],
                                      p->next + (size_t)i * p->room);
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t weld = list[i], count = p->next_count[i];
        const cutis_influence *next = p->next + (size_t)i * p->room;
        if (count == 0 || is_list(p, weld, next, count)) continue;
        set_list(p, weld, next, count);
        brush_mark(&p->stroked, weld);
    }
}

static cutis_result check_brush(const cutis_painting *p, const cutis_surface_point *at,
                                const cutis_brush *b)
{
    const cutis_model_data *data = cutis_model_get(p->model);
    if (at->triangle >= p->triangle_count)
        return INVALID(p->context, "triangle %u of %u", at->triangle, p->triangle_count);
    if (!isfinite(at->corners[0] + at->corners[1] + at->corners[2]))
        return INVALID(p->context, "a place in a triangle that is no number");
    if (!(b->radius > 0) || !isfinite(b->radius) || !(b->strength >= 0 && b->strength <= 1))
        return INVALID(p->context, "a brush of radius %g and strength %g; wanted: above 0, 0 to 1",
                       b->radius, b->strength);
    if ((unsigned)b->kind > CUTIS_BRUSH_TOWARD || b->influences > BRUSH_MOST ||
        b->joint >= data->node_count)
        return INVALID(p->context, "kind %u, joint %u, %u influences: no such brush",
                       (unsigned)b->kind, b->joint, b->influences);
    if (b->kind != CUTIS_BRUSH_TOWARD) return CUTIS_OK;
    const cutis_painting *to = b->toward;
    if (!to || to->weld_count != p->weld_count || to->vertex_count != p->vertex_count ||
        memcmp(to->weld, p->weld, p->vertex_count * sizeof *p->weld) != 0)
        return INVALID(p->context, "the weights to go to are of another body");
    const cutis_model_data *other = cutis_model_get(to->model);
    for (uint32_t w = 0; w < p->weld_count; w++)
        if (to->skin[w] != p->skin[w] ||
            (p->skin[w] >= 0 &&
             other->skins[to->skin[w]].joint_count != data->skins[p->skin[w]].joint_count))
            return INVALID(p->context, "the weights to go to are of another skeleton");
    return CUTIS_OK;
}

cutis_result cutis_painting_dab(cutis_painting *p, const cutis_surface_point *at,
                                const cutis_brush *brush)
{
    if (!p || !at || !brush) return CUTIS_INVALID_ARGUMENT;
    TRY(check_brush(p, at, brush));
    const bool gives = brush->kind == CUTIS_BRUSH_ADD || brush->kind == CUTIS_BRUSH_SUBTRACT;
    const uint32_t *corner = p->triangles + 3 * (size_t)at->triangle;
    vec3 from = v3(0, 0, 0), there = from;
    for (int c = 0; c < 3; c++) from = v3_add(from, v3_scale(p->place[corner[c]], at->corners[c]));
    const uint32_t opposite =
        brush->mirror ? brush_opposite_triangle(p, from, &there) : BRUSH_NOWHERE;
    const uint32_t joint =
        brush->mirror && gives ? cutis_painting_opposite(p, brush->joint) : brush->joint;
    // A joint of its own on the other side: one layer after the other, and both laid before the
    // first is applied, so that what fails has changed nothing.
    const bool apart = opposite != BRUSH_NOWHERE && joint != brush->joint;
    brush_layer here = { 0 }, beyond = { 0 };
    cutis_arena scratch = { .context = p->context };
    bool good = make_layer(p, &scratch, &here) && (!apart || make_layer(p, &scratch, &beyond)) &&
                lay(p, brush, at->triangle, from, &here);
    if (good && opposite != BRUSH_NOWHERE)
        good = lay(p, brush, opposite, there, apart ? &beyond : &here);
    good = good && reserve(p, &here) && (!apart || reserve(p, &beyond));
    if (good) apply(p, brush, brush->joint, &here);
    if (good && apart) apply(p, brush, joint, &beyond);
    cutis_arena_release(&scratch);
    return good ? CUTIS_OK : cutis_alloc_result(p->context);
}

// What changed ----------------------------------------------------------------------------------

const uint32_t *cutis_painting_changed(cutis_painting *p, uint32_t *count)
{
    uint32_t told = 0;
    if (count) *count = 0;
    if (!p || !count) return NULL;
    for (uint32_t i = 0; i < p->changed.count; i++) {
        const uint32_t weld = p->changed.list[i];
        for (uint32_t k = p->copy_first[weld]; k < p->copy_first[weld + 1]; k++)
            p->told[told++] = p->copies[k];
    }
    brush_unmark(&p->changed);
    *count = told;
    return p->told;
}

void cutis_painting_weights(const cutis_painting *p, uint32_t node, float *weights)
{
    if (!p || !weights) return;
    const bool there = p->vertex_count && node < cutis_model_get(p->model)->node_count;
    for (uint32_t v = 0; v < p->vertex_count; v++) {
        const uint32_t weld = p->weld[v];
        const uint32_t joint =
            there && p->skin[weld] >= 0 ? p->joint_of[p->skin[weld]][node] : BRUSH_NOWHERE;
        weights[v] = 0;
        for (uint32_t k = 0; k < p->count[weld] && joint != BRUSH_NOWHERE; k++)
            if (brush_list(p, weld)[k].joint == joint)
                weights[v] = (float)brush_list(p, weld)[k].weight;
    }
}

uint32_t cutis_painting_influences(const cutis_painting *p, uint32_t vertex, uint32_t *joints,
                                   double *weights)
{
    if (!p || vertex >= p->vertex_count) return 0;
    const uint32_t weld = p->weld[vertex], count = p->skin[weld] >= 0 ? p->count[weld] : 0;
    for (uint32_t k = 0; k < count; k++) {
        if (joints) joints[k] = brush_list(p, weld)[k].joint;
        if (weights) weights[k] = brush_list(p, weld)[k].weight;
    }
    return count;
}

cutis_result cutis_painting_stroke(cutis_painting *p, cutis_stroke *out)
{
    if (out) *out = (cutis_stroke){ 0 };
    if (!p || !out) return CUTIS_INVALID_ARGUMENT;
    const uint32_t n = p->stroked.count;
    size_t total = 0;
    for (uint32_t i = 0; i < n; i++) total += p->count[p->stroked.list[i]];
    size_t *room = p->stroke_capacity;
    if (!cutis_grow(p->context, &p->stroke_vertices, &room[0], n, sizeof(uint32_t)) ||
        !cutis_grow(p->context, &p->stroke_first, &room[1], (size_t)n + 1, sizeof(uint32_t)) ||
        !cutis_grow(p->context, &p->stroke_joints, &room[2], total, sizeof(uint32_t)) ||
        !cutis_grow(p->context, &p->stroke_weights, &room[3], total, sizeof(double)))
        return cutis_alloc_result(p->context);
    uint32_t used = 0;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t weld = p->stroked.list[i];
        p->stroke_vertices[i] = p->copies[p->copy_first[weld]];
        p->stroke_first[i] = used;
        used += cutis_painting_influences(p, p->stroke_vertices[i], p->stroke_joints + used,
                                          p->stroke_weights + used);
    }
    p->stroke_first[n] = used;
    brush_unmark(&p->stroked);
    *out = (cutis_stroke){ n, p->stroke_vertices, p->stroke_first, p->stroke_joints,
                           p->stroke_weights };
    return CUTIS_OK;
}

static cutis_result check_stroke(const cutis_painting *p, const cutis_stroke *s)
{
    const cutis_model_data *data = cutis_model_get(p->model);
    for (uint32_t i = 0; i < s->vertex_count; i++) {
        const uint32_t v = s->vertices[i];
        if (v >= p->vertex_count || p->skin[p->weld[v]] < 0)
            return INVALID(p->context, "a stroke on vertex %u, which there is not", v);
        const uint32_t joints = data->skins[p->skin[p->weld[v]]].joint_count;
        double sum = 0;
        if (s->first[i + 1] <= s->first[i] || s->first[i + 1] - s->first[i] > p->room)
            return INVALID(p->context, "a stroke with no or too many influences on vertex %u", v);
        for (uint32_t k = s->first[i]; k < s->first[i + 1]; k++) {
            if (s->joints[k] >= joints || (k > s->first[i] && s->joints[k] <= s->joints[k - 1]))
                return INVALID(p->context, "a stroke with joint %u on vertex %u", s->joints[k], v);
            if (!(s->weights[k] > 0))
                return INVALID(p->context, "a stroke with a weight of %g", s->weights[k]);
            sum += s->weights[k];
        }
        if (!(fabs(sum - 1) < 1e-6))
            return INVALID(p->context, "a stroke whose weights sum to %g", sum);
    }
    return CUTIS_OK;
}

cutis_result cutis_painting_put(cutis_painting *p, const cutis_stroke *s)
{
    if (!p || !s) return CUTIS_INVALID_ARGUMENT;
    TRY(check_stroke(p, s));
    for (uint32_t i = 0; i < s->vertex_count; i++) {
        cutis_influence list[BRUSH_MOST];
        const uint32_t count = s->first[i + 1] - s->first[i];
        for (uint32_t k = 0; k < count; k++)
            list[k] = (cutis_influence){ s->joints[s->first[i] + k], s->weights[s->first[i] + k] };
        set_list(p, p->weld[s->vertices[i]], list, count);
    }
    return CUTIS_OK;
}
