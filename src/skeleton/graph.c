// Grouping joints along a part's axis and the lines between them. Invariant: every joint of a part
// is in exactly one group, groups are numbered along the axis, and no line is shorter than 1e-3 of
// the diagonal.
#include "skeleton/graph.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "geometry/heap.h"
#include "skeleton/axes.h"

static const double SPREAD = 0.15;     // c of the criteria; 0.1 .. 0.2 give the same groups
static const double SHORT_LINE = 1e-3; // of the diagonal
static const double BETTER = 1e-12;    // a split must gain this much
// More joints than this on one part (a hub of shells) are one group: the search is cubic.
#define GROUPED_MOST 160u

typedef struct {
    uint32_t n;
    double length; // of the segment
    const double *a;
    vec3 direction; // b - a
    const double (*points)[3];
    cutis_waiting *order; // points by their distances along the segment, 0 .. 1
    double *near, *far;   // per point in order: to its projection, to the farthest other point
    double *variation;    // n * n
    uint32_t *split;      // n * n: end of the first half, or CUTIS_NOTHING
} grouping;

static void at_parameter(const grouping *g, double t, double *out)
{
    v3_put(v3_mad(v3_of(g->a), t, g->direction), out);
}

static double mean_parameter(const grouping *g, uint32_t i, uint32_t j)
{
    double sum = 0;
    for (uint32_t k = i; k <= j; k++) sum += g->order[k].distance;
    return sum / (j - i + 1);
}

// V(i,j): how far the members are from the group's link point, 0 .. 1.
static double spread(const grouping *g, uint32_t i, uint32_t j)
{
    double link[3], sum = 0;
    at_parameter(g, mean_parameter(g, i, j), link);
    for (uint32_t k = i; k <= j; k++) {
        double d = v3_distance_of(g->points[g->order[k].vertex], link) - g->near[k];
        double range = fmax(g->far[k] - g->near[k], SPREAD * g->length);
        sum += range > 0 ? fmin(1, fmax(0, d / range)) : 0;
    }
    return sum / (j - i + 1);
}

static void search(grouping *g)
{
    const uint32_t n = g->n;
    const double whole =
        fmax(g->length * fabs(g->order[n - 1].distance - g->order[0].distance), SPREAD * g->length);
    for (uint32_t i = 0; i < n; i++)
        g->variation[i * n + i] = 0, g->split[i * n + i] = CUTIS_NOTHING;
    for (uint32_t len = 2; len <= n; len++)
        for (uint32_t i = 0; i + len <= n; i++) {
            uint32_t j = i + len - 1, at = i * n + j;
            double v = spread(g, i, j), lost = 0;
            if (whole > 0)
                lost = g->length * fabs(g->order[j].distance - g->order[i].distance) / whole;
            double best = (v + lost) / 2;
            g->variation[at] = v, g->split[at] = CUTIS_NOTHING;
            for (uint32_t k = i; k < j; k++) {
                double x = g->variation[i * n + k], y = g->variation[(k + 1) * n + j], gap = 0;
                if (whole > 0)
                    gap =
                        fmin(1, g->length * fabs(g->order[k + 1].distance - g->order[k].distance) /
                                    whole);
                double score = (x + y + 1 - gap) / 3;
                if (score >= best - BETTER) continue;
                best = score;
                g->split[at] = k;
                g->variation[at] = ((k - i + 1) * x + (j - k) * y) / len;
            }
        }
}

static void number_groups(const grouping *g, uint32_t i, uint32_t j, uint32_t *count,
                          uint32_t *groups, double (*links)[3])
{
    uint32_t split = g->split[i * g->n + j];
    if (split != CUTIS_NOTHING) {
        number_groups(g, i, split, count, groups, links);
        number_groups(g, split + 1, j, count, groups, links);
        return;
    }
    for (uint32_t k = i; k <= j; k++) groups[g->order[k].vertex] = *count;
    at_parameter(g, mean_parameter(g, i, j), links[*count]);
    ++*count;
}

uint32_t cutis_group_points(cutis_arena *arena, const double *a, const double *b,
                            const double (*points)[3], uint32_t n, uint32_t *groups,
                            double (*links)[3])
{
    grouping g = { .n = n, .a = a, .points = points, .length = v3_distance_of(a, b) };
    uint32_t count = 0, cells = n > GROUPED_MOST ? 1 : n * n;
    if (n == 0) return 0;
    g.order = cutis_arena_alloc(arena, n, sizeof *g.order);
    g.near = cutis_arena_alloc(arena, n, 2 * sizeof *g.near);
    g.variation = cutis_arena_alloc(arena, cells, sizeof *g.variation);
    g.split = cutis_arena_alloc(arena, cells, sizeof *g.split);
    if (!g.order || !g.near || !g.variation || !g.split) return CUTIS_NOTHING;
    g.far = g.near + n;
    double square = g.length * g.length;
    g.direction = v3_sub(v3_of(b), v3_of(a));
    for (uint32_t i = 0; i < n; i++) {
        double t =
            square > 0 ? v3_dot(v3_sub(v3_of(points[i]), v3_of(a)), g.direction) / square : 0;
        g.order[i] = (cutis_waiting){ fmin(1, fmax(0, t)), i };
    }
    qsort(g.order, n, sizeof *g.order, cutis_heap_order);
    if (n > GROUPED_MOST) {
        memset(groups, 0, n * sizeof *groups);
        at_parameter(&g, mean_parameter(&g, 0, n - 1), links[0]);
        return 1;
    }
    for (uint32_t i = 0; i < n; i++) {
        double on[3];
        at_parameter(&g, g.order[i].distance, on);
        g.near[i] = v3_distance_of(points[g.order[i].vertex], on), g.far[i] = 0;
        for (uint32_t j = 0; j < n; j++)
            g.far[i] = fmax(g.far[i], v3_distance_of(points[g.order[i].vertex], points[j]));
    }
    search(&g);
    number_groups(&g, 0, n - 1, &count, groups, links);
    return count;
}

cutis_result cutis_piece_group(cutis_parts *parts, uint32_t p)
{
    cutis_piece *part = &parts->parts[p];
    cutis_context *context = parts->mesh->context;
    uint32_t n = part->child_count + (part->parent != CUTIS_NONE);
    cutis_arena scratch = { .context = context };
    double(*points)[3] = cutis_arena_alloc(&scratch, n, sizeof *points);
    part->groups = cutis_arena_alloc(parts->arena, n, sizeof *part->groups);
    part->links = cutis_arena_alloc(parts->arena, n, sizeof *part->links);
    part->joint_count = n;
    part->group_count = CUTIS_NOTHING;
    if (points && part->groups && part->links) {
        for (uint32_t i = 0; i < part->child_count; i++)
            memcpy(points[i], cutis_piece_joint(parts, part->children[i]), sizeof *points);
        if (part->parent != CUTIS_NONE)
            memcpy(points[n - 1], cutis_piece_joint(parts, p), sizeof *points);
        part->group_count = cutis_group_points(&scratch, part->axis_from, part->axis_to, points, n,
                                               part->groups, part->links);
    }
    cutis_result result =
        part->group_count == CUTIS_NOTHING ? cutis_alloc_result(context) : CUTIS_OK;
    cutis_arena_release(&scratch);
    if (result != CUTIS_OK) part->group_count = 0;
    return result;
}

// Lines -----------------------------------------------------------------------------------------

typedef struct {
    cutis_part_link *lines;
    uint32_t count;
    double least;
    uint32_t part;
} drawing;

static void draw(drawing *d, const double *from, const double *to)
{
    if (!(v3_distance_of(from, to) >= d->least)) return;
    cutis_part_link *l = &d->lines[d->count++];
    l->part = d->part;
    memcpy(l->from, from, sizeof l->from);
    memcpy(l->to, to, sizeof l->to);
}

// 0: nearest to the middle of the axis, 1: to its start, 2: to its end.
static int nearest_mark(const cutis_piece *part, const double *link)
{
    double middle[3];
    for (int k = 0; k < 3; k++) middle[k] = 0.5 * (part->axis_from[k] + part->axis_to[k]);
    double m = v3_distance_of(link, middle), a = v3_distance_of(link, part->axis_from);
    double b = v3_distance_of(link, part->axis_to);
    return m <= a && m <= b ? 0 : a <= b ? 1 : 2;
}

static void draw_ends(drawing *d, const cutis_piece *part)
{
    uint32_t n = part->group_count;
    if (n == 0) {
        draw(d, part->axis_from, part->axis_to);
        return;
    }
    const double *first = part->links[0], *last = part->links[n - 1];
    if (nearest_mark(part, first) != 1) draw(d, first, part->axis_from);
    if (nearest_mark(part, last) != 2) draw(d, last, part->axis_to);
}

// The stretches along e2 and e3: their ends attach to the nearest link point.
static cutis_result draw_extras(drawing *d, const cutis_parts *parts, uint32_t p)
{
    const cutis_piece *part = &parts->parts[p];
    for (int axis = 1; axis < 3; axis++) {
        double ends[2][3];
        TRY(cutis_piece_chord(parts, p, part->axes + 3 * axis, ends[0], ends[1]));
        for (int e = 0; e < 2; e++) {
            uint32_t best = 0;
            for (uint32_t g = 1; g < part->group_count; g++)
                if (v3_distance_of(part->links[g], ends[e]) <
                    v3_distance_of(part->links[best], ends[e]))
                    best = g;
            if (part->group_count) draw(d, part->links[best], ends[e]);
        }
    }
    return CUTIS_OK;
}

static const double *joint_point(const cutis_parts *parts, uint32_t p, uint32_t i)
{
    const cutis_piece *part = &parts->parts[p];
    return cutis_piece_joint(parts, i < part->child_count ? part->children[i] : p);
}

static cutis_result draw_part(drawing *d, const cutis_parts *parts, uint32_t p,
                              cutis_skeleton_method method)
{
    const cutis_piece *part = &parts->parts[p];
    d->part = p;
    if (method == CUTIS_SKELETON_BOUNDARY) {
        const double *hub =
            part->parent == CUTIS_NONE ? part->centroid : cutis_piece_joint(parts, p);
        for (uint32_t i = 0; i < part->child_count; i++) draw(d, hub, joint_point(parts, p, i));
        return CUTIS_OK;
    }
    for (uint32_t i = 0; i < part->joint_count; i++)
        draw(d, joint_point(parts, p, i),
             method == CUTIS_SKELETON_CENTROID ? part->centroid : part->links[part->groups[i]]);
    if (method == CUTIS_SKELETON_CENTROID) return CUTIS_OK;
    for (uint32_t g = 1; g < part->group_count; g++) draw(d, part->links[g - 1], part->links[g]);
    draw_ends(d, part);
    return draw_extras(d, parts, p);
}

cutis_result cutis_parts_lines(cutis_parts *parts, cutis_skeleton_method method,
                               cutis_part_link **out, uint32_t *count)
{
    size_t most = 0;
    for (uint32_t p = 0; p < parts->count; p++)
        most += (size_t)parts->parts[p].joint_count + parts->parts[p].group_count + 6;
    drawing d = { .lines = cutis_arena_alloc(parts->arena, most, sizeof *d.lines),
                  .least = SHORT_LINE * parts->mesh->diagonal };
    if (!d.lines) return cutis_alloc_result(parts->mesh->context);
    for (uint32_t p = 0; p < parts->count; p++) TRY(draw_part(&d, parts, p, method));
    *out = d.lines, *count = d.count;
    return CUTIS_OK;
}
