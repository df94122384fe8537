// The grid of harmonic coordinates (docs/spec/reduction.md 7). Lines of nodes along the three axes
// are cut with the cage once; parity along x says which nodes are inside; arms of inside nodes end
// in a neighbour or in the cage. Invariant: rows of coefficients and fixed values are non-negative
// and sum to 1, and reproduce linear functions (unless `simple`).
#include "fit/cage/grid.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "geometry/order.h"

// Parts of a step by which the grid is shifted, so that planes of axis-parallel cages fall between
// nodes.
static const double SHIFT[3] = { 0.3819660112501051, 0.2763932022500210, 0.4472135954999579 };
enum { PADDING = 2 };
// A cut nearer to a node than this (in steps) is at the node.
static const double CUT_MIN = 1e-9;

typedef struct cut {
    uint32_t line;
    double at;
    cutis_cage_place place;
} cut;

// All cuts of one family of lines, sorted along each line.
typedef struct lines {
    int axis, u, v; ///< along, across
    uint32_t *first;
    cut *cuts;
} lines;

// Which side of the projected edge a -> b the point lies on, times twice an area. Both triangles of
// an edge compute the same number, and a point on the edge counts as moved by (e, e^2).
static double edge_side(const cutis_cage_shape *s, uint32_t a, uint32_t b, int u, int v,
                        const double *x, double *area)
{
    const bool swap = a > b;
    const double *p = s->controls + 3 * (size_t)(swap ? b : a),
                 *q = s->controls + 3 * (size_t)(swap ? a : b);
    double du = q[u] - p[u], dv = q[v] - p[v];
    double side = du * (x[v] - p[v]) - dv * (x[u] - p[u]);
    *area = swap ? -side : side;
    if (side == 0) side = dv != 0 ? -dv : du;
    return swap ? -side : side;
}

// Where the line through x along `axis` cuts a triangle. false: it does not.
static bool cut_triangle(const cutis_cage_shape *s, uint32_t t, int axis, int u, int v,
                         const double *x, cut *out)
{
    const uint32_t *corner = s->triangles + 3 * (size_t)t;
    double area[3], sum = 0;
    int positive = 0, negative = 0;
    for (int c = 0; c < 3; c++) {
        double side = edge_side(s, corner[(c + 1) % 3], corner[(c + 2) % 3], u, v, x, &area[c]);
        positive += side > 0, negative += side < 0;
        sum += area[c];
    }
    if ((positive != 3 && negative != 3) || sum == 0) return false;
    out->at = 0;
    out->place.triangle = t;
    for (int c = 0; c < 3; c++) {
        out->place.barycentric[c] = area[c] / sum;
        out->at += area[c] / sum * s->controls[3 * (size_t)corner[c] + axis];
    }
    return true;
}

static int64_t clamped(double value, uint32_t size)
{
    return value < 0 ? 0 : value > size - 1.0 ? (int64_t)size - 1 : (int64_t)value;
}

// Node range of a triangle's box along an axis, one more on either side.
static void triangle_range(const cutis_cage_grid *g, uint32_t t, int axis, int64_t *from,
                           int64_t *to)
{
    double low = INFINITY, high = -INFINITY;
    for (int c = 0; c < 3; c++) {
        double p = g->shape->controls[3 * (size_t)g->shape->triangles[3 * (size_t)t + c] + axis];
        low = fmin(low, p), high = fmax(high, p);
    }
    *from = clamped(floor((low - g->origin[axis]) / g->step) - 1, g->size[axis]);
    *to = clamped(ceil((high - g->origin[axis]) / g->step) + 1, g->size[axis]);
}

// Along lines; where two are at one place, the lower triangle's first.
static int by_line(const void *a, const void *b)
{
    const cut *x = a, *y = b;
    if (x->line != y->line) return x->line < y->line ? -1 : 1;
    if (x->at != y->at) return x->at < y->at ? -1 : 1;
    return (x->place.triangle > y->place.triangle) - (x->place.triangle < y->place.triangle);
}

// All cuts of a triangle with the lines of a family. false: out of memory.
static bool cut_lines(cutis_arena *arena, const cutis_cage_grid *g, uint32_t t, lines *l,
                      size_t *used, size_t *capacity)
{
    int64_t u0, u1, v0, v1;
    triangle_range(g, t, l->u, &u0, &u1);
    triangle_range(g, t, l->v, &v0, &v1);
    for (int64_t iv = v0; iv <= v1; iv++)
        for (int64_t iu = u0; iu <= u1; iu++) {
            double x[3] = { 0 };
            cut found = { .line = (uint32_t)(iv * g->size[l->u] + iu) };
            x[l->u] = g->origin[l->u] + (double)iu * g->step;
            x[l->v] = g->origin[l->v] + (double)iv * g->step;
            if (!cut_triangle(g->shape, t, l->axis, l->u, l->v, x, &found)) continue;
            if (!cutis_arena_grow(arena, &l->cuts, capacity, *used + 1, sizeof *l->cuts))
                return false;
            l->cuts[(*used)++] = found;
            l->first[found.line + 1]++;
        }
    return true;
}

static bool make_lines(cutis_arena *arena, const cutis_cage_grid *g, int axis, lines *out)
{
    *out = (lines){ .axis = axis, .u = (axis + 1) % 3, .v = (axis + 2) % 3 };
    const size_t count = (size_t)g->size[out->u] * g->size[out->v];
    size_t used = 0, capacity = 0;
    out->first = cutis_arena_zero(arena, count + 1, sizeof *out->first);
    if (!out->first) return false;
    for (uint32_t t = 0; t < g->shape->triangle_count; t++)
        if (!cut_lines(arena, g, t, out, &used, &capacity)) return false;
    for (size_t i = 0; i < count; i++) out->first[i + 1] += out->first[i];
    if (used) qsort(out->cuts, used, sizeof *out->cuts, by_line);
    return true;
}

static size_t dense_place(const cutis_cage_grid *g, const uint32_t *cell)
{
    return ((size_t)cell[2] * g->size[1] + cell[1]) * g->size[0] + cell[0];
}

static void cell_of(const cutis_cage_grid *g, size_t place, uint32_t *cell)
{
    cell[0] = (uint32_t)(place % g->size[0]);
    cell[1] = (uint32_t)(place / g->size[0] % g->size[1]);
    cell[2] = (uint32_t)(place / g->size[0] / g->size[1]);
}

// Nodes inside by parity along x; numbered red first, then black, each in dense order.
static bool number_nodes(cutis_arena *arena, cutis_cage_grid *g, const lines *along)
{
    const size_t dense = (size_t)g->size[0] * g->size[1] * g->size[2];
    g->index = cutis_arena_alloc(arena, dense, sizeof *g->index);
    if (!g->index) return false;
    uint32_t counts[2] = { 0, 0 };
    for (size_t line = 0, at = 0; line < (size_t)g->size[1] * g->size[2]; line++) {
        uint32_t next = along->first[line];
        for (uint32_t i = 0; i < g->size[0]; i++, at++) {
            double x = g->origin[0] + i * g->step;
            while (next < along->first[line + 1] && along->cuts[next].at <= x) next++;
            bool inside = (next - along->first[line]) % 2 != 0;
            uint32_t parity =
                (i + (uint32_t)(line % g->size[1]) + (uint32_t)(line / g->size[1])) % 2;
            g->index[at] = inside ? (int32_t)parity : -1;
            if (inside) counts[parity]++;
        }
    }
    g->red_count = counts[0];
    g->node_count = counts[0] + counts[1];
    g->place = cutis_arena_alloc(arena, g->node_count, sizeof *g->place);
    if (!g->place) return false;
    counts[1] = counts[0], counts[0] = 0;
    for (size_t at = 0; at < dense; at++) {
        if (g->index[at] < 0) continue;
        uint32_t node = counts[g->index[at]]++;
        g->place[node] = (uint32_t)at;
        g->index[at] = (int32_t)node;
    }
    return true;
}

typedef struct arm {
    int32_t neighbour; ///< or -1: ends in the cage
    double length;     ///< in steps
    cutis_cage_place place;
} arm;

static void nearest_place(const cutis_cage_shape *s, const double *x, cutis_cage_place *out)
{
    cutis_cage_nearest(s, x, &out->triangle, out->barycentric);
}

// The cut nearest to `from` on a line, on the side of `sign`, at most a step away. false: none.
static bool nearest_cut(const lines *l, size_t line, double from, double step, int sign, cut *out)
{
    double best = INFINITY;
    for (uint32_t i = l->first[line]; i < l->first[line + 1]; i++) {
        double away = sign * (l->cuts[i].at - from);
        if (away < 0 || away > step || away >= best) continue;
        best = away;
        *out = l->cuts[i];
    }
    return best < INFINITY;
}

static void make_arm(const cutis_cage_grid *g, const lines *l, const uint32_t *cell, int sign,
                     arm *out)
{
    uint32_t other[3] = { cell[0], cell[1], cell[2] };
    other[l->axis] += (uint32_t)sign; // padding: never beyond the grid
    const size_t line = (size_t)cell[l->v] * g->size[l->u] + cell[l->u];
    const double from = g->origin[l->axis] + cell[l->axis] * g->step;
    cut found = { 0 };
    *out = (arm){ .neighbour = g->index[dense_place(g, other)], .length = 1 };
    if (!g->simple && nearest_cut(l, line, from, g->step, sign, &found)) {
        out->neighbour = -1;
        out->length = fmax(CUT_MIN, fabs(found.at - from) / g->step);
        out->place = found.place;
    } else if (out->neighbour < 0) {
        double x[3];
        for (int c = 0; c < 3; c++) x[c] = g->origin[c] + other[c] * g->step;
        nearest_place(g->shape, x, &out->place);
    }
}

// Growing lists of the grid's fixed values.
typedef struct row_lists {
    cutis_arena *arena;
    size_t control_capacity, value_capacity, count;
} row_lists;

static bool add_fixed(row_lists *r, cutis_cage_grid *g, const cutis_cage_place *place,
                      double factor)
{
    if (!cutis_arena_grow(r->arena, &g->row_control, &r->control_capacity, r->count + 3,
                          sizeof *g->row_control) ||
        !cutis_arena_grow(r->arena, &g->row_value, &r->value_capacity, r->count + 3,
                          sizeof *g->row_value))
        return false;
    for (int c = 0; c < 3; c++, r->count++) {
        g->row_control[r->count] = g->shape->triangles[3 * (size_t)place->triangle + c];
        g->row_value[r->count] = factor * place->barycentric[c];
    }
    return true;
}

// Coefficients of one node by Shortley and Weller; its fixed values go to the lists.
static bool make_node(cutis_cage_grid *g, const lines *families, uint32_t node, row_lists *rows)
{
    uint32_t cell[3];
    arm arms[6];
    double weight[6], sum = 0;
    cell_of(g, g->place[node], cell);
    for (int a = 0; a < 3; a++) {
        make_arm(g, &families[a], cell, -1, &arms[2 * a]);
        make_arm(g, &families[a], cell, 1, &arms[2 * a + 1]);
        double low = arms[2 * a].length, high = arms[2 * a + 1].length;
        weight[2 * a] = 2 / (low * (low + high));
        weight[2 * a + 1] = 2 / (high * (low + high));
        sum += weight[2 * a] + weight[2 * a + 1];
    }
    bool fixed = false;
    for (int k = 0; k < 6; k++) {
        const bool free_arm = arms[k].neighbour >= 0;
        g->neighbours[6 * (size_t)node + k] = free_arm ? arms[k].neighbour : (int32_t)node;
        g->coefficients[6 * (size_t)node + k] = free_arm ? weight[k] / sum : 0;
        if (free_arm) continue;
        fixed = true;
        if (!add_fixed(rows, g, &arms[k].place, weight[k] / sum)) return false;
    }
    g->rows[node] = fixed ? (int32_t)g->row_count : -1;
    if (fixed) g->row_first[++g->row_count] = (uint32_t)rows->count;
    return true;
}

static cutis_result make_nodes(cutis_arena *arena, cutis_cage_grid *g, const lines *families)
{
    row_lists rows = { .arena = arena };
    g->neighbours = cutis_arena_alloc(arena, g->node_count, 6 * sizeof *g->neighbours);
    g->coefficients = cutis_arena_alloc(arena, g->node_count, 6 * sizeof *g->coefficients);
    g->rows = cutis_arena_alloc(arena, g->node_count, sizeof *g->rows);
    g->row_first = cutis_arena_alloc(arena, (size_t)g->node_count + 1, sizeof *g->row_first);
    if (!g->neighbours || !g->coefficients || !g->rows || !g->row_first)
        return cutis_alloc_result(arena->context);
    g->row_first[0] = 0;
    for (uint32_t n = 0; n < g->node_count; n++) {
        if (n % 65536 == 0)
            TRY(cutis_progress(arena->context, "cage grid", (double)n / g->node_count));
        if (!make_node(g, families, n, &rows)) return cutis_alloc_result(arena->context);
    }
    return CUTIS_OK;
}

// Triangles whose box touches a cell, cell by cell; a cell is named by its lowest node.
static bool bin_triangles(cutis_arena *arena, cutis_arena *scratch, cutis_cage_grid *g)
{
    const size_t dense = (size_t)g->size[0] * g->size[1] * g->size[2];
    size_t used = 0, cell_capacity = 0, capacity = 0;
    uint32_t *cells = NULL, *triangles = NULL; // of every touch
    for (uint32_t t = 0; t < g->shape->triangle_count; t++) {
        int64_t from[3], to[3];
        for (int c = 0; c < 3; c++) triangle_range(g, t, c, &from[c], &to[c]);
        for (int64_t z = from[2]; z <= to[2]; z++)
            for (int64_t y = from[1]; y <= to[1]; y++)
                for (int64_t x = from[0]; x <= to[0]; x++) {
                    if (!cutis_arena_grow(scratch, &cells, &cell_capacity, used + 1,
                                          sizeof *cells) ||
                        !cutis_arena_grow(scratch, &triangles, &capacity, used + 1,
                                          sizeof *triangles))
                        return false;
                    cells[used] = (uint32_t)((z * g->size[1] + y) * g->size[0] + x);
                    triangles[used++] = t;
                }
    }
    g->cell_first = cutis_arena_alloc(arena, dense + 1, sizeof *g->cell_first);
    g->cell_triangle = cutis_arena_alloc(arena, used, sizeof *g->cell_triangle);
    if (!g->cell_first || !g->cell_triangle) return false;
    order_by_key(cells, used, dense, g->cell_first, g->cell_triangle);
    for (size_t i = 0; i < used; i++) g->cell_triangle[i] = triangles[g->cell_triangle[i]];
    return true;
}

static cutis_result size_grid(cutis_context *context, const cutis_cage_shape *shape,
                              uint32_t resolution, cutis_cage_grid *out)
{
    double longest = 0;
    for (int c = 0; c < 3; c++) longest = fmax(longest, shape->box.high[c] - shape->box.low[c]);
    out->step = longest / (resolution - 1);
    uint64_t dense = 1;
    for (int c = 0; c < 3; c++) {
        double side = (shape->box.high[c] - shape->box.low[c]) / out->step;
        out->origin[c] = shape->box.low[c] - (PADDING + SHIFT[c]) * out->step;
        out->size[c] = (uint32_t)ceil(side) + 2 * PADDING + 2;
        dense *= out->size[c];
    }
    if (!(out->step > 0) || dense > INT32_MAX)
        return cutis_fail(context, CUTIS_LIMIT_EXCEEDED,
                          "a grid of %u x %u x %u nodes for the cage is too large", out->size[0],
                          out->size[1], out->size[2]);
    return CUTIS_OK;
}

cutis_result cutis_cage_grid_create(cutis_arena *arena, const cutis_cage_shape *shape,
                                    uint32_t resolution, bool simple, cutis_cage_grid *out)
{
    cutis_context *context = arena->context;
    cutis_arena scratch = { .context = context };
    lines families[3];
    *out = (cutis_cage_grid){ .shape = shape, .simple = simple };
    cutis_result result = size_grid(context, shape, resolution, out);
    bool good = true;
    for (int a = 0; a < 3 && result == CUTIS_OK && good; a++)
        good = make_lines(&scratch, out, a, &families[a]);
    if (result == CUTIS_OK && good)
        good = number_nodes(arena, out, &families[0]) && bin_triangles(arena, &scratch, out);
    if (result == CUTIS_OK && good && out->node_count == 0)
        result = cutis_fail(context, CUTIS_INVALID_ARGUMENT,
                            "no grid node is inside the cage; a resolution above %u is needed",
                            resolution);
    if (result == CUTIS_OK && good) result = make_nodes(arena, out, families);
    cutis_arena_release(&scratch);
    return good ? result : cutis_alloc_result(context);
}

// Interpolation ---------------------------------------------------------------------------------

typedef struct blender {
    const cutis_cage_grid *grid;
    uint32_t cell[3];
    cutis_cage_blend *out;
    bool lost; ///< met a node that is not inside: the point is not inside either
} blender;

static void add_place(blender *b, const cutis_cage_place *place, double weight)
{
    for (int c = 0; c < 3; c++) {
        uint32_t at = b->out->control_count++;
        b->out->control[at] = b->grid->shape->triangles[3 * (size_t)place->triangle + c];
        b->out->control_weight[at] = weight * place->barycentric[c];
    }
}

static void add_node(blender *b, const uint32_t *corner, double weight)
{
    uint32_t node[3];
    for (int c = 0; c < 3; c++) node[c] = b->cell[c] + corner[c];
    int32_t index = b->grid->index[dense_place(b->grid, node)];
    if (index >= 0) {
        uint32_t at = b->out->node_count++;
        b->out->node[at] = (uint32_t)index;
        b->out->node_weight[at] = weight;
    } else if (b->grid->simple) {
        cutis_cage_place place;
        double x[3];
        for (int c = 0; c < 3; c++) x[c] = b->grid->origin[c] + node[c] * b->grid->step;
        nearest_place(b->grid->shape, x, &place);
        add_place(b, &place, weight);
    } else {
        b->lost = true;
    }
}

// The cut nearest to x along an axis within the cell, on each side.
static void clip(const blender *b, int axis, const double *x, cut ends[2], bool found[2])
{
    const cutis_cage_grid *g = b->grid;
    const size_t cell = dense_place(g, b->cell);
    const double low = g->origin[axis] + b->cell[axis] * g->step, high = low + g->step;
    found[0] = found[1] = false;
    for (uint32_t i = g->cell_first[cell]; i < g->cell_first[cell + 1] && !g->simple; i++) {
        cut c;
        if (!cut_triangle(g->shape, g->cell_triangle[i], axis, (axis + 1) % 3, (axis + 2) % 3, x,
                          &c) ||
            c.at < low || c.at > high)
            continue;
        int side = c.at > x[axis];
        // What was found has an end.
        if (!found[side] || (side ? c.at < ends[1].at : c.at > ends[0].at))
            ends[side] = c, found[side] = true;
    }
}

// Along `axis` (z first, then y, x): between two ends, each the cage or the cell's side.
static void blend_along(blender *b, int axis, const double *x, uint32_t *corner, double weight)
{
    const cutis_cage_grid *g = b->grid;
    cut ends[2];
    bool found[2];
    if (weight <= 0 || b->lost) return;
    clip(b, axis, x, ends, found);
    double low = found[0] ? ends[0].at : g->origin[axis] + b->cell[axis] * g->step;
    double high = found[1] ? ends[1].at : g->origin[axis] + (b->cell[axis] + 1.0) * g->step;
    double part = high > low ? (x[axis] - low) / (high - low) : 0;
    part = part < 0 ? 0 : part > 1 ? 1 : part;
    for (int side = 0; side < 2; side++) {
        double share = weight * (side ? part : 1 - part), end[3] = { x[0], x[1], x[2] };
        if (share <= 0) continue;
        corner[axis] = (uint32_t)side;
        end[axis] = g->origin[axis] + (b->cell[axis] + (double)side) * g->step;
        if (found[side])
            add_place(b, &ends[side].place, share);
        else if (axis > 0)
            blend_along(b, axis - 1, end, corner, share);
        else
            add_node(b, corner, share);
    }
}

void cutis_cage_grid_blend(const cutis_cage_grid *grid, const double *point, cutis_cage_blend *out)
{
    blender b = { .grid = grid, .out = out };
    uint32_t corner[3] = { 0 };
    out->node_count = out->control_count = 0;
    for (int c = 0; c < 3; c++)
        b.cell[c] =
            (uint32_t)clamped(floor((point[c] - grid->origin[c]) / grid->step), grid->size[c] - 1);
    blend_along(&b, 2, point, corner, 1);
    if (!b.lost) return;
    // On the cage, and rounding has put it outside: the cage's own value there.
    cutis_cage_place place;
    out->node_count = out->control_count = 0;
    nearest_place(grid->shape, point, &place);
    add_place(&b, &place, 1);
}
