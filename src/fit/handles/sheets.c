// From triangles and voxels to nodes and links. Triangles of one voxel that hang together within it
// and the voxels around it are a sheet; two sheets of one solid with the inside between them are
// one piece, with the outside between them two. Only what is certain is cut: sheets of different
// solids, of surfaces that bound nothing, and those that hang together near by stay joined.
#include "fit/handles/sheets.h"

#include <math.h>
#include <string.h>

#include <cutis/measure.h>

#include "base/error.h"
#include "geometry/edge_table.h"
#include "geometry/order.h"
#include "geometry/vector.h"
#include "kernel/handles_grid.h"

/// A surface bounds a solid if its area vectors nearly cancel: holes for a neck or eyes may stay
/// open, a cape or a plane has no inside.
static const double OPEN_MOST = 0.2;
static const double VOLUME_LEAST = 1e-6; ///< of area^1.5; a ball has 0.094
/// Sheets nearer than this, in voxels, cross: between them is nothing to judge by.
static const double CROSSING = 0.05;
/// Rays leave voxel centres this far beside them, so that they miss edges of aligned meshes.
static const double RAY_ASIDE[2] = { 1.37e-4, 2.91e-4 };

#define SEVERAL (CUTIS_HANDLES_NONE - 1)

typedef struct splitter {
    cutis_arena *arena, scratch;
    cutis_handles_grid *grid;
    cutis_handles_sheets *sheets;
    handles_grid given;
    double (*corner)[3];    ///< per vertex, in voxels from the grid's low corner
    uint32_t *stamp, *seen; ///< per vertex: the round that saw it, and who did
    uint32_t round;
    uint32_t *up;      ///< groups of the triangles in hand
    uint32_t *around;  ///< triangles in hand
    uint32_t capacity; ///< of both
    uint32_t *next;    ///< per node
    uint32_t *at;      ///< per node beyond the voxels: its voxel
    uint32_t node_count;
    size_t at_capacity, next_capacity;
    uint32_t *region; ///< per voxel without a sheet: the first voxel of its region
    int8_t *winding;  ///< per such first voxel: how often the solid `wound` winds around it
    uint32_t *wound;
    bool mixed; ///< with surfaces that bound nothing solid, or points, which may close a pocket
    uint32_t *border; ///< per such first voxel: the solid whose sheets are around it, or SEVERAL
} splitter;

// Solids ----------------------------------------------------------------------------------------

typedef struct bound {
    double area, across[3], volume;
    bool walls;
} bound;

// Surfaces with an edge that more than two triangles share have walls inside: boxes put together
// face to face. What closes a hole may lie on an edge and is no wall.
static bool find_walls(splitter *s, bound *solids)
{
    const cutis_handles_shape *shape = &s->sheets->shape;
    cutis_edge_table table;
    for (uint32_t i = 0; i < shape->wall_count; i++)
        solids[s->sheets->solid[shape->walls[i]]].walls = true;
    if (shape->walls) return true;
    if (!cutis_edge_table_create(&s->scratch, shape->triangles,
                                 shape->triangle_count - shape->cap_count, s->sheets->weld, &table))
        return false;
    for (size_t slot = 0; slot < table.capacity; slot++)
        if (table.count[slot] > 2) solids[s->sheets->solid[table.corner[slot] / 3]].walls = true;
    return true;
}

// Which triangles bound solids, and on which side. @return whether any does
static cutis_result find_solids(splitter *s, const float *positions, bool *any)
{
    cutis_handles_sheets *sheets = s->sheets;
    const cutis_handles_shape *shape = &sheets->shape;
    uint32_t *up = cutis_arena_alloc(&s->scratch, shape->vertex_count, sizeof *up);
    bound *solids = cutis_arena_zero(&s->scratch, shape->vertex_count, sizeof *solids);
    if (!up || !solids) return cutis_alloc_result(s->arena->context);
    for (uint32_t v = 0; v < shape->vertex_count; v++) up[v] = v;
    for (size_t t = 0; t < shape->triangle_count; t++) {
        const uint32_t *c = shape->triangles + 3 * t;
        const uint32_t a = group_of(up, sheets->weld[c[0]]), b = group_of(up, sheets->weld[c[1]]);
        up[a > b ? a : b] = a < b ? a : b;
        const uint32_t d = group_of(up, a), e = group_of(up, sheets->weld[c[2]]);
        up[d > e ? d : e] = d < e ? d : e;
    }
    for (size_t t = 0; t < shape->triangle_count; t++) {
        const uint32_t *c = shape->triangles + 3 * t, own = group_of(up, sheets->weld[c[0]]);
        const vec3 o = v3_at(positions, own), p = v3_sub(v3_at(positions, c[0]), o);
        const vec3 n =
            v3_normal(v3_at(positions, c[0]), v3_at(positions, c[1]), v3_at(positions, c[2]));
        sheets->solid[t] = own;
        solids[own].area += v3_length(n);
        solids[own].volume += v3_dot(p, n);
        v3_sum(solids[own].across, n);
    }
    if (!find_walls(s, solids)) return cutis_alloc_result(s->arena->context);
    *any = false;
    s->mixed = shape->point_count > 0;
    for (size_t t = 0; t < shape->triangle_count; t++) {
        const bound *own = &solids[sheets->solid[t]];
        // The volume is as seen from a vertex of the surface: what is open counts for little.
        const bool closed = !own->walls && v3_length(v3_of(own->across)) <= OPEN_MOST * own->area &&
                            fabs(own->volume) > VOLUME_LEAST * own->area * sqrt(own->area);
        sheets->side[t] = (int8_t)(!closed ? 0 : own->volume > 0 ? 1 : -1);
        *any |= closed;
        s->mixed |= !closed;
    }
    return CUTIS_OK;
}

// Triangles of voxels ---------------------------------------------------------------------------

static uint32_t voxel_of_cell(const splitter *s, const int *cell)
{
    const INDEX place = handles_place(s->given, cell[0], cell[1], cell[2]);
    return place < 0 ? CUTIS_HANDLES_NONE : s->grid->index[place];
}

// A triangle at a voxel.
typedef struct touching {
    uint32_t voxel, triangle;
} touching;

typedef struct touchings {
    touching *list;
    size_t count, capacity;
} touchings;

static bool touch(splitter *s, touchings *all, uint32_t t, const int *cell)
{
    const uint32_t voxel = voxel_of_cell(s, cell);
    if (voxel == CUTIS_HANDLES_NONE) return true;
    if (all->count == all->capacity && !cutis_arena_grow(&s->scratch, &all->list, &all->capacity,
                                                         all->count + 1, sizeof *all->list))
        return false;
    all->list[all->count++] = (touching){ voxel, t };
    s->sheets->first[voxel + 2]++;
    return true;
}

// The voxels that a triangle touches.
static bool touch_all(splitter *s, touchings *all, uint32_t t)
{
    double p[3][3];
    int cell[3], low, high;
    for (int e = 0; e < 3; e++)
        memcpy(p[e], s->corner[s->sheets->shape.triangles[3 * (size_t)t + e]], sizeof p[e]);
    handles_columns of = handles_columns_of(p);
    if (of.k < 0) return true;
    if (handles_within_one(&of)) return touch(s, all, t, of.low);
    for (cell[of.j] = of.low[of.j]; cell[of.j] <= of.high[of.j]; cell[of.j]++)
        for (cell[of.i] = of.low[of.i]; cell[of.i] <= of.high[of.i]; cell[of.i]++) {
            handles_column(&of, p, cell, &low, &high);
            for (cell[of.k] = low; cell[of.k] <= high; cell[of.k]++)
                if (handles_touches(p, cell) && !touch(s, all, t, cell)) return false;
        }
    return true;
}

// Triangles by voxel, ascending.
static cutis_result list_triangles(splitter *s)
{
    cutis_handles_sheets *sheets = s->sheets;
    const uint32_t n = s->grid->voxel_count, count = sheets->shape.triangle_count;
    touchings all = { 0 };
    bool good = cutis_arena_grow(&s->scratch, &all.list, &all.capacity, 4 * (size_t)count + 64,
                                 sizeof *all.list);
    uint32_t *first = sheets->first = cutis_arena_zero(s->arena, (size_t)n + 2, sizeof *first);
    good = good && first;
    for (uint32_t t = 0; t < count && good; t++) good = !sheets->side[t] || touch_all(s, &all, t);
    if (!good || all.count > UINT32_MAX) return cutis_alloc_result(s->arena->context);
    sheets->triangle = cutis_arena_alloc(s->arena, all.count, sizeof *sheets->triangle);
    sheets->node = cutis_arena_alloc(s->arena, all.count, sizeof *sheets->node);
    if (!sheets->triangle || !sheets->node) return cutis_alloc_result(s->arena->context);
    // One place further than it is read in the end: writing moves each list's start to its end.
    for (size_t v = 0; v <= n; v++) first[v + 1] += first[v];
    for (size_t i = 0; i < all.count; i++)
        sheets->triangle[first[all.list[i].voxel + 1]++] = all.list[i].triangle;
    return CUTIS_OK;
}

// Groups ----------------------------------------------------------------------------------------

static bool reserve_around(splitter *s, size_t count)
{
    if (count <= s->capacity) return true;
    s->capacity = (uint32_t)(2 * count);
    s->around = cutis_arena_alloc(&s->scratch, s->capacity, sizeof *s->around);
    s->up = cutis_arena_alloc(&s->scratch, s->capacity, sizeof *s->up);
    return s->around && s->up;
}

// Groups of triangles that share vertices: up[i] of triangle list[i]. @return how many
static uint32_t group_triangles(splitter *s, const uint32_t *list, uint32_t count)
{
    uint32_t groups = count;
    s->round++;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t *corners = s->sheets->shape.triangles + 3 * (size_t)list[i];
        uint32_t own = s->up[i] = i; // its group
        for (int k = 0; k < 3; k++) {
            const uint32_t v = s->sheets->weld[corners[k]];
            if (s->stamp[v] != s->round) {
                s->stamp[v] = s->round, s->seen[v] = i;
                continue;
            }
            const uint32_t other = group_of(s->up, s->seen[v]);
            if (other == own) continue;
            groups--;
            s->up[other > own ? other : own] = other < own ? other : own;
            own = other < own ? other : own;
        }
    }
    return groups;
}

// Triangles of a voxel, then those of the voxels around it, some of them several times, grouped.
// @return how many are the voxel's own; NONE: out of memory
static uint32_t group_around(splitter *s, uint32_t voxel)
{
    const cutis_handles_sheets *sheets = s->sheets;
    const uint32_t own = sheets->first[voxel + 1] - sheets->first[voxel];
    const handles_cell c =
        handles_cell_of(s->grid->place[voxel], s->given.size[0], s->given.size[1]);
    size_t count = own;
    for (int pass = 0; pass < 2; pass++) {
        if (pass && !reserve_around(s, count)) return CUTIS_HANDLES_NONE;
        if (pass) memcpy(s->around, sheets->triangle + sheets->first[voxel], own * sizeof *s->up);
        count = own;
        for (int i = 0; i < 27; i++) {
            const int cell[3] = { c.x + i % 3 - 1, c.y + i / 3 % 3 - 1, c.z + i / 9 - 1 };
            const uint32_t other = voxel_of_cell(s, cell);
            if (other == CUTIS_HANDLES_NONE || other == voxel) continue;
            const uint32_t some = sheets->first[other + 1] - sheets->first[other];
            if (pass)
                memcpy(s->around + count, sheets->triangle + sheets->first[other],
                       some * sizeof *s->up);
            count += some;
        }
    }
    group_triangles(s, s->around, (uint32_t)count);
    return own;
}

// Whether the way from a to b crosses a triangle of the voxel that is of neither node.
static bool crosses_others(const splitter *s, uint32_t voxel, uint32_t one, uint32_t two,
                           const double *a, const double *b)
{
    const cutis_handles_sheets *sheets = s->sheets;
    const vec3 from = v3_of(a), way = v3_sub(v3_of(b), from);
    for (uint32_t i = sheets->first[voxel]; i < sheets->first[voxel + 1]; i++) {
        if (sheets->node[i] == one || sheets->node[i] == two) continue;
        const uint32_t *c = sheets->shape.triangles + 3 * (size_t)sheets->triangle[i];
        const vec3 p = v3_of(s->corner[c[0]]), u = v3_sub(v3_of(s->corner[c[1]]), p);
        const vec3 w = v3_sub(v3_of(s->corner[c[2]]), p), h = v3_cross(way, w);
        const double d = v3_dot(u, h);
        if (d == 0) continue;
        const vec3 o = v3_sub(from, p), q = v3_cross(o, u);
        const double x = v3_dot(o, h) / d, y = v3_dot(way, q) / d, t = v3_dot(w, q) / d;
        if (x >= 0 && y >= 0 && x + y <= 1 && t >= 0 && t <= 1) return true;
    }
    return false;
}

// How often the surface of a solid winds around a point, along a ray from it up an axis.
static int winding_along(const splitter *s, uint32_t solid, const double *point, int axis)
{
    const cutis_handles_sheets *sheets = s->sheets;
    const int i = (axis + 1) % 3, j = (axis + 2) % 3;
    const double x = point[i] + RAY_ASIDE[0], y = point[j] + RAY_ASIDE[1];
    int cell[3], sum = 0;
    cell[i] = handles_floor(x), cell[j] = handles_floor(y);
    for (cell[axis] = handles_floor(point[axis]); cell[axis] < s->given.size[axis]; cell[axis]++) {
        const uint32_t at = voxel_of_cell(s, cell);
        if (at == CUTIS_HANDLES_NONE) continue;
        for (uint32_t k = sheets->first[at]; k < sheets->first[at + 1]; k++) {
            const uint32_t t = sheets->triangle[k];
            const uint32_t *corners = sheets->shape.triangles + 3 * (size_t)t;
            if (sheets->solid[t] != solid) continue;
            const double *p = s->corner[corners[0]], *q = s->corner[corners[1]];
            const double *r = s->corner[corners[2]];
            const double a = (q[i] - x) * (r[j] - y) - (q[j] - y) * (r[i] - x);
            const double b = (r[i] - x) * (p[j] - y) - (r[j] - y) * (p[i] - x);
            const double d = (p[i] - x) * (q[j] - y) - (p[j] - y) * (q[i] - x);
            if (!((a > 0 && b > 0 && d > 0) || (a < 0 && b < 0 && d < 0))) continue;
            // Once, in the voxel where the ray meets it.
            const double depth = (a * p[axis] + b * q[axis] + d * r[axis]) / (a + b + d);
            if (handles_floor(depth) == cell[axis] && depth > point[axis])
                sum += a > 0 ? sheets->side[t] : -sheets->side[t];
        }
    }
    return sum;
}

// The middle one of three axes: a ray through a hole of an open mesh is outvoted.
static int winding_of(const splitter *s, uint32_t solid, const double *point)
{
    const int x = winding_along(s, solid, point, 0), y = winding_along(s, solid, point, 1);
    const int z = winding_along(s, solid, point, 2), low = x < y ? x : y, high = x < y ? y : x;
    return z < low ? low : z > high ? high : z;
}

// The solid of a node in a voxel: of its first triangle.
static uint32_t solid_in(const splitter *s, uint32_t voxel, uint32_t node)
{
    uint32_t i = s->sheets->first[voxel];
    while (s->sheets->node[i] != node) i++;
    return s->sheets->solid[s->sheets->triangle[i]];
}

static double depth_in(const splitter *s, uint32_t voxel, uint32_t node, const double *point,
                       double *nearest)
{
    const cutis_handles_sheets *sheets = s->sheets;
    const uint32_t first = sheets->first[voxel];
    return cutis_handles_depth(s->grid, sheets, sheets->triangle + first, sheets->node + first,
                               sheets->first[voxel + 1] - first, node, point, nearest);
}

// Whether a point sees a node of a voxel from inside, with no other sheet between.
static bool holds(const splitter *s, uint32_t voxel, uint32_t node, const double *point)
{
    double nearest[3];
    return depth_in(s, voxel, node, point, nearest) > 0 &&
           !crosses_others(s, voxel, node, node, point, nearest);
}

static void centre_of(const splitter *s, uint32_t voxel, double *out)
{
    const handles_cell c =
        handles_cell_of(s->grid->place[voxel], s->given.size[0], s->given.size[1]);
    out[0] = c.x + 0.5, out[1] = c.y + 0.5, out[2] = c.z + 0.5;
}

// Whether the way from a point inside to a sheet's nearest point ends there: behind the rim of the
// few triangles that touch a voxel it may go on.
static bool leaves(const splitter *s, uint32_t voxel, uint32_t node, const double *from,
                   const double *to)
{
    const double length = v3_distance_of(from, to);
    double behind[3];
    v3_put(v3_mix(v3_of(from), v3_of(to), 1 + CROSSING / length), behind);
    return winding_of(s, solid_in(s, voxel, node), behind) < 1;
}

// Whether two sheets of a voxel have the inside between them, once: where limbs overlap it is there
// twice. So has the middle of the shortest way.
static bool face_inwards(const splitter *s, uint32_t voxel, uint32_t one, uint32_t two)
{
    double a[3], b[3], middle[3], centre[3];
    centre_of(s, voxel, centre);
    depth_in(s, voxel, one, centre, a);
    for (int i = 0; i < 2; i++) depth_in(s, voxel, two, a, b), depth_in(s, voxel, one, b, a);
    for (int k = 0; k < 3; k++) middle[k] = (a[k] + b[k]) / 2;
    if (v3_distance_of(a, b) < CROSSING) return false;
    return depth_in(s, voxel, one, middle, NULL) > 0 && depth_in(s, voxel, two, middle, NULL) > 0 &&
           !crosses_others(s, voxel, one, two, a, b) &&
           winding_of(s, solid_in(s, voxel, one), middle) < 2 && leaves(s, voxel, one, middle, a) &&
           leaves(s, voxel, two, middle, b);
}

static void join_nodes(cutis_handles_sheets *sheets, uint32_t voxel, uint32_t a, uint32_t b)
{
    const uint32_t to = a < b ? a : b;
    for (uint32_t i = sheets->first[voxel]; i < sheets->first[voxel + 1]; i++)
        if (sheets->node[i] == a || sheets->node[i] == b) sheets->node[i] = to;
}

// Twice the area of a node's triangles in a voxel, as a vector out of the solid.
static vec3 normal_in(const splitter *s, uint32_t voxel, uint32_t node)
{
    const cutis_handles_sheets *sheets = s->sheets;
    vec3 sum = v3(0, 0, 0);
    for (uint32_t i = sheets->first[voxel]; i < sheets->first[voxel + 1]; i++) {
        if (sheets->node[i] != node) continue;
        const uint32_t t = sheets->triangle[i], *c = sheets->shape.triangles + 3 * (size_t)t;
        const vec3 n =
            v3_normal(v3_of(s->corner[c[0]]), v3_of(s->corner[c[1]]), v3_of(s->corner[c[2]]));
        sum = v3_mad(sum, sheets->side[t], n);
    }
    return sum;
}

// Whether two sheets look the same way: a gentle curve that leaves a voxel and comes back is one
// sheet if it hangs together near by; two that look at each other are two, with a crease between.
static bool look_alike(const splitter *s, uint32_t v, uint32_t a, uint32_t w, uint32_t b)
{
    return v3_dot(normal_in(s, v, a), normal_in(s, w, b)) > 0;
}

// The sheets of a voxel, whose triangles are grouped, as numbers 0, 1, ... in `node`.
static uint32_t name_groups(splitter *s, uint32_t voxel, uint32_t *solids, uint32_t *firsts)
{
    cutis_handles_sheets *sheets = s->sheets;
    const uint32_t first = sheets->first[voxel];
    uint32_t count = 0, names[CUTIS_HANDLES_LAYERS];
    for (uint32_t i = 0; i < sheets->first[voxel + 1] - first; i++) {
        const uint32_t group = group_of(s->up, i);
        uint32_t to = 0;
        while (to < count && names[to] != group) to++;
        if (to == CUTIS_HANDLES_LAYERS) to--; // more than there is room for: with the last
        if (to == count) {
            names[count] = group, firsts[count] = i;
            solids[count++] = sheets->solid[sheets->triangle[first + i]];
        }
        sheets->node[first + i] = to;
    }
    return count;
}

// The pieces of a voxel whose triangles are grouped. @return how many; 0: out of memory
static uint32_t find_pieces(splitter *s, uint32_t voxel)
{
    cutis_handles_sheets *sheets = s->sheets;
    uint32_t solids[CUTIS_HANDLES_LAYERS], firsts[CUTIS_HANDLES_LAYERS];
    const uint32_t count = name_groups(s, voxel, solids, firsts);
    if (group_around(s, voxel) == CUTIS_HANDLES_NONE) return 0;
    // Sheets of other solids go with the first one; those with the inside between them are one.
    bool gone[CUTIS_HANDLES_LAYERS] = { false };
    for (uint32_t b = 1; b < count; b++)
        for (uint32_t a = 0; a < b && !gone[b]; a++) {
            if (gone[a] || (solids[a] == solids[b] && !face_inwards(s, voxel, a, b) &&
                            !(group_of(s->up, firsts[a]) == group_of(s->up, firsts[b]) &&
                              look_alike(s, voxel, a, voxel, b))))
                continue;
            join_nodes(sheets, voxel, a, b);
            gone[b] = true;
        }
    uint32_t number[CUTIS_HANDLES_LAYERS], used = 0;
    for (uint32_t a = 0; a < count; a++) number[a] = gone[a] ? 0 : used++;
    for (uint32_t i = sheets->first[voxel]; i < sheets->first[voxel + 1]; i++)
        sheets->node[i] = number[sheets->node[i]];
    return used;
}

// Nodes of the voxels that have more than one.
static cutis_result number_nodes(splitter *s)
{
    cutis_handles_sheets *sheets = s->sheets;
    const uint32_t n = s->grid->voxel_count;
    s->node_count = n;
    for (uint32_t v = 0; v < n; v++) {
        const uint32_t first = sheets->first[v], count = sheets->first[v + 1] - first;
        if (!reserve_around(s, count)) return cutis_alloc_result(s->arena->context);
        uint32_t pieces = count < 2 ? 1 : group_triangles(s, sheets->triangle + first, count);
        if (pieces > 1 && (pieces = find_pieces(s, v)) == 0)
            return cutis_alloc_result(s->arena->context);
        if (!cutis_arena_grow(&s->scratch, &s->at, &s->at_capacity, s->node_count - n + pieces,
                              sizeof *s->at))
            return cutis_alloc_result(s->arena->context);
        for (uint32_t i = first; i < first + count; i++)
            sheets->node[i] =
                pieces > 1 && sheets->node[i] ? s->node_count + sheets->node[i] - 1 : v;
        for (uint32_t k = 1; k < pieces; k++) s->at[s->node_count++ - n] = v;
    }
    return CUTIS_OK;
}

// Regions without a sheet -----------------------------------------------------------------------

static bool sheetless(const splitter *s, uint32_t voxel)
{
    return s->sheets->first[voxel] == s->sheets->first[voxel + 1];
}

static cutis_result find_regions(splitter *s)
{
    const uint32_t n = s->grid->voxel_count;
    s->region = cutis_arena_alloc(&s->scratch, n, sizeof *s->region);
    s->winding = cutis_arena_alloc(&s->scratch, n, 1);
    s->wound = cutis_arena_alloc(&s->scratch, n, sizeof *s->wound);
    s->border = cutis_arena_alloc(&s->scratch, n, sizeof *s->border);
    if (!s->region || !s->winding || !s->wound || !s->border)
        return cutis_alloc_result(s->arena->context);
    for (uint32_t v = 0; v < n; v++) s->region[v] = v;
    for (uint32_t v = 0; v < n; v++)
        for (size_t d = 0; d < 6 && sheetless(s, v); d += 2) {
            const uint32_t m = s->grid->neighbour[6 * (size_t)v + d];
            if (m == CUTIS_HANDLES_NONE || !sheetless(s, m)) continue;
            const uint32_t a = group_of(s->region, v), b = group_of(s->region, m);
            s->region[a > b ? a : b] = a < b ? a : b;
        }
    for (uint32_t v = 0; v < n; v++) {
        s->region[v] = s->region[s->region[v]];
        s->wound[v] = s->border[v] = CUTIS_HANDLES_NONE;
    }
    for (uint32_t v = 0; v < n; v++)
        for (size_t d = 0; d < 6 && sheetless(s, v); d++) {
            const uint32_t m = s->grid->neighbour[6 * (size_t)v + d];
            if (m == CUTIS_HANDLES_NONE) continue;
            for (uint32_t i = s->sheets->first[m]; i < s->sheets->first[m + 1]; i++) {
                const uint32_t solid = s->sheets->solid[s->sheets->triangle[i]];
                uint32_t *border = &s->border[s->region[v]];
                *border = *border == CUTIS_HANDLES_NONE || *border == solid ? solid : SEVERAL;
            }
        }
    return CUTIS_OK;
}

// How often a solid winds around a region; the last answer is kept.
static int winding_in(splitter *s, uint32_t region, uint32_t solid)
{
    if (s->wound[region] != solid) {
        double centre[3];
        centre_of(s, region, centre);
        s->winding[region] = (int8_t)winding_of(s, solid, centre);
        s->wound[region] = solid;
    }
    return s->winding[region];
}

// Links -----------------------------------------------------------------------------------------

// Whether two nodes have a triangle in common. Lists ascend.
static bool share_triangle(const cutis_handles_sheets *sheets, uint32_t v, uint32_t a, uint32_t w,
                           uint32_t b)
{
    for (uint32_t i = sheets->first[v], j = sheets->first[w];
         i < sheets->first[v + 1] && j < sheets->first[w + 1];) {
        const uint32_t t = sheets->triangle[i], u = sheets->triangle[j];
        if (t == u && sheets->node[i] == a && sheets->node[j] == b) return true;
        i += t <= u, j += u <= t;
    }
    return false;
}

// Whether triangles of two nodes hang together around the first one's voxel; true: out of memory.
static bool hang_together(splitter *s, uint32_t v, uint32_t a, uint32_t w, uint32_t b)
{
    const cutis_handles_sheets *sheets = s->sheets;
    const uint32_t own = group_around(s, v);
    uint32_t other = CUTIS_HANDLES_NONE; // a group that has none of them
    if (own == CUTIS_HANDLES_NONE) return true;
    for (uint32_t j = sheets->first[w]; j < sheets->first[w + 1]; j++) {
        if (sheets->node[j] != b) continue;
        for (int k = 0; k < 3; k++) {
            const uint32_t corner =
                sheets->weld[sheets->shape.triangles[3 * (size_t)sheets->triangle[j] + k]];
            if (s->stamp[corner] != s->round) continue;
            const uint32_t group = group_of(s->up, s->seen[corner]);
            for (uint32_t i = 0; i < own && group != other; i++)
                if (sheets->node[sheets->first[v] + i] == a && group_of(s->up, i) == group)
                    return true;
            other = group;
        }
    }
    return false;
}

static bool same_solid(const cutis_handles_sheets *sheets, uint32_t v, uint32_t w)
{
    const uint32_t solid = sheets->solid[sheets->triangle[sheets->first[v]]];
    for (uint32_t i = sheets->first[v]; i < sheets->first[v + 1]; i++)
        if (sheets->solid[sheets->triangle[i]] != solid) return false;
    for (uint32_t i = sheets->first[w]; i < sheets->first[w + 1]; i++)
        if (sheets->solid[sheets->triangle[i]] != solid) return false;
    return true;
}

// Whether node a of v and node b of w, which have no triangle in common, belong together.
static bool belong(splitter *s, uint32_t v, uint32_t a, uint32_t w, uint32_t b, const double *face)
{
    if (sheetless(s, v) || sheetless(s, w)) {
        const uint32_t bare = sheetless(s, v) ? v : w, sheet = bare == v ? w : v;
        if (!same_solid(s->sheets, sheet, sheet)) return true;
        const uint32_t node = bare == v ? b : a, region = s->region[bare];
        const int winding = winding_in(s, region, solid_in(s, sheet, node));
        if (winding > 1 || holds(s, sheet, node, face)) return winding < 2;
        // The sheet's own outside: of another limb inside, or of this solid alone a pocket of air.
        return winding < 1 && (s->mixed || s->border[region] == SEVERAL);
    }
    if (!same_solid(s->sheets, v, w)) return true;
    if (holds(s, v, a, face) && holds(s, w, b, face) && winding_of(s, solid_in(s, v, a), face) < 2)
        return true;
    return look_alike(s, v, a, w, b) &&
           (hang_together(s, v, a, w, b) || hang_together(s, w, b, v, a));
}

static void link_nodes(uint32_t *links, uint32_t a, uint32_t b, int d)
{
    links[6 * (size_t)a + (size_t)d] = b;
    links[6 * (size_t)b + (size_t)d - 1] = a;
}

// The links between two voxels, w behind v along an axis: nodes with a triangle in common first,
// then others that belong together; a node has one link in a direction.
static void link_voxels(splitter *s, uint32_t v, uint32_t w, int d, uint32_t *links)
{
    const cutis_handles_sheets *sheets = s->sheets;
    double face[3];
    centre_of(s, w, face);
    face[d / 2] -= 0.5;
    const bool bare = sheetless(s, v) || sheetless(s, w);
    for (int pass = bare ? 1 : 0; pass < 2; pass++)
        for (uint32_t a = v; a != CUTIS_HANDLES_NONE; a = sheets->next[a])
            for (uint32_t b = w; b != CUTIS_HANDLES_NONE; b = sheets->next[b]) {
                if (links[6 * (size_t)a + (size_t)d] != CUTIS_HANDLES_NONE ||
                    links[6 * (size_t)b + (size_t)d - 1] != CUTIS_HANDLES_NONE)
                    continue;
                if (pass ? belong(s, v, a, w, b, face) : share_triangle(sheets, v, a, w, b))
                    link_nodes(links, a, b, d);
            }
}

static void take_sight(splitter *s, uint32_t voxel)
{
    s->sheets->sight[s->grid->place[voxel]] = CUTIS_HANDLES_NONE;
}

// All links, through what belongs together only. @return how many are missing
static uint32_t link_all(splitter *s, uint32_t *links)
{
    const cutis_handles_sheets *sheets = s->sheets;
    uint32_t cut = 0;
    for (size_t i = 0; i < 6 * (size_t)s->node_count; i++) links[i] = CUTIS_HANDLES_NONE;
    for (uint32_t v = 0; v < sheets->regular; v++)
        for (int d = 1; d < 6; d += 2) {
            const uint32_t w = s->grid->neighbour[6 * (size_t)v + (size_t)d];
            if (w == CUTIS_HANDLES_NONE) continue;
            const bool plain =
                sheets->next[v] == CUTIS_HANDLES_NONE && sheets->next[w] == CUTIS_HANDLES_NONE;
            if (plain &&
                ((sheetless(s, v) && sheetless(s, w)) || share_triangle(sheets, v, v, w, w)))
                link_nodes(links, v, w, d);
            else
                link_voxels(s, v, w, d, links);
            if (plain && links[6 * (size_t)v + (size_t)d] == w) continue;
            cut++;
            take_sight(s, v), take_sight(s, w);
        }
    return cut;
}

// Results ---------------------------------------------------------------------------------------

static bool chain_nodes(splitter *s)
{
    cutis_handles_sheets *sheets = s->sheets;
    const uint32_t n = sheets->regular;
    sheets->next = cutis_arena_alloc(s->arena, s->node_count, sizeof *sheets->next);
    sheets->sight =
        cutis_arena_copy(s->arena, s->grid->index, s->grid->dense_count, sizeof *sheets->sight);
    if (!sheets->next || !sheets->sight) return false;
    for (uint32_t a = 0; a < s->node_count; a++) sheets->next[a] = CUTIS_HANDLES_NONE;
    for (uint32_t a = s->node_count; a-- > n;) {
        sheets->next[a] = sheets->next[s->at[a - n]];
        sheets->next[s->at[a - n]] = a;
    }
    return true;
}

// The node of each vertex: that of its triangles in its voxel.
static bool place_vertices(splitter *s)
{
    cutis_handles_sheets *sheets = s->sheets;
    const cutis_handles_shape *shape = &sheets->shape;
    sheets->vertex = cutis_arena_alloc(s->arena, shape->vertex_count, sizeof *sheets->vertex);
    if (!sheets->vertex) return false;
    for (uint32_t v = 0; v < shape->vertex_count; v++) {
        const double *p = s->corner[v];
        sheets->vertex[v] =
            s->grid->index[handles_place_in(s->given, handles_make(p[0], p[1], p[2]))];
    }
    for (size_t i = 0; i < 3 * (size_t)shape->triangle_count; i++) {
        const uint32_t v = shape->triangles[i], at = sheets->vertex[v];
        if (at >= sheets->regular || sheets->next[at] == CUTIS_HANDLES_NONE) continue;
        for (uint32_t k = sheets->first[at]; k < sheets->first[at + 1]; k++)
            if (sheets->triangle[k] == i / 3) sheets->vertex[v] = sheets->node[k];
    }
    return true;
}

static cutis_result split(splitter *s, const float *positions, bool *made)
{
    cutis_handles_grid *grid = s->grid;
    cutis_result none = cutis_alloc_result(s->arena->context);
    bool solid = false;
    TRY(find_solids(s, positions, &solid));
    if (!solid) return CUTIS_OK;
    TRY(list_triangles(s));
    TRY(number_nodes(s));
    TRY(find_regions(s));
    uint32_t *links = cutis_arena_alloc(s->arena, s->node_count, 6 * sizeof *links);
    uint32_t *place = cutis_arena_alloc(s->arena, s->node_count, sizeof *place);
    if (!links || !place || !chain_nodes(s)) return none;
    s->sheets->cut_count = link_all(s, links);
    if (s->sheets->cut_count == 0) return CUTIS_OK;
    if (!place_vertices(s) || !cutis_handles_sheets_near(s->arena, grid, s->sheets)) return none;
    memcpy(place, grid->place, grid->voxel_count * sizeof *place);
    for (uint32_t a = grid->voxel_count; a < s->node_count; a++)
        place[a] = grid->place[s->at[a - grid->voxel_count]];
    grid->place = place, grid->neighbour = links;
    grid->voxel_count = s->node_count;
    grid->sheets = s->sheets;
    *made = true;
    return cutis_handles_sheets_pieces(s->arena, &s->scratch, grid, s->sheets) ? CUTIS_OK : none;
}

cutis_result cutis_handles_sheets_make(cutis_arena *arena, cutis_device *device,
                                       const cutis_handles_shape *shape, cutis_handles_grid *grid,
                                       bool *made)
{
    cutis_context *context = arena->context;
    const size_t vertices = shape->vertex_count, triangles = shape->triangle_count;
    splitter s = { .arena = arena, .scratch = { .context = context }, .grid = grid };
    *made = false;
    if (triangles == 0) return CUTIS_OK;
    cutis_handles_sheets *sheets = cutis_arena_zero(arena, 1, sizeof *sheets);
    s.given = cutis_handles_grid_given(grid);
    s.corner = cutis_arena_alloc(&s.scratch, vertices, sizeof *s.corner);
    s.stamp = cutis_arena_zero(&s.scratch, vertices, sizeof *s.stamp);
    s.seen = cutis_arena_alloc(&s.scratch, vertices, sizeof *s.seen);
    cutis_result result = cutis_alloc_result(context);
    if (sheets && s.corner && s.stamp && s.seen) {
        s.sheets = sheets;
        sheets->shape = *shape, sheets->regular = grid->voxel_count;
        uint32_t *weld = shape->weld ? NULL : cutis_arena_alloc(arena, vertices, sizeof *weld);
        sheets->weld = shape->weld ? shape->weld : weld;
        sheets->side = cutis_arena_alloc(arena, triangles, sizeof *sheets->side);
        sheets->solid = cutis_arena_alloc(arena, triangles, sizeof *sheets->solid);
        for (size_t v = 0; v < vertices; v++)
            for (int c = 0; c < 3; c++)
                s.corner[v][c] = (shape->positions[3 * v + c] - grid->origin[c]) / grid->step;
        if (sheets->weld && sheets->side && sheets->solid)
            result = weld ? cutis_weld_positions_on(context, device, (uint32_t)vertices,
                                                    shape->positions, weld)
                          : CUTIS_OK;
        if (result == CUTIS_OK) result = split(&s, shape->positions, made);
    }
    cutis_arena_release(&s.scratch);
    return result;
}
