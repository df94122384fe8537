// Points among the nodes of a grid whose voxels are split by sheets: which node a point is in, and
// which taps it reaches. Invariant: without sheets every function is what the plain grid says.
#include <math.h>
#include <string.h>

#include "fit/handles/sheets.h"
#include "fit/handles/text.h"
#include "geometry/vector.h"

// So many steps from its own limb a bone is in another one: it has come out where a knee is folded.
#define BESIDE 3

// Triangles as near as the nearest meet there: their normals are added, so that the side of an edge
// or a corner is that of all that meet in it.
double cutis_handles_depth(const cutis_handles_grid *grid, const cutis_handles_sheets *sheets,
                           const uint32_t *triangles, const uint32_t *nodes, uint32_t count,
                           uint32_t node, const double *point, double *nearest)
{
    const vec3 p = v3_of(point);
    vec3 normal = v3(0, 0, 0), at = p;
    double best = INFINITY;
    for (uint32_t i = 0; i < count; i++) {
        if (nodes[i] != node) continue;
        vec3 t[3];
        for (int e = 0; e < 3; e++) {
            const float *v =
                sheets->shape.positions +
                3 * (size_t)sheets->shape.triangles[3 * (size_t)triangles[i] + (size_t)e];
            t[e] = v3((v[0] - grid->origin[0]) / grid->step, (v[1] - grid->origin[1]) / grid->step,
                      (v[2] - grid->origin[2]) / grid->step);
        }
        const vec3 q = v3_nearest(t, p), away = v3_sub(p, q);
        const double square = v3_dot(away, away);
        if (square > best + 1e-9) continue;
        if (square < best - 1e-9) normal = v3(0, 0, 0);
        if (square < best) best = square, at = q;
        normal = v3_mad(normal, sheets->side[triangles[i]], v3_unit(v3_normal(t[0], t[1], t[2])));
    }
    if (nearest) v3_put(at, nearest);
    const double depth = -v3_dot(v3_sub(p, at), normal);
    return depth > 0 ? sqrt(best) : -sqrt(best);
}

static void in_voxels(const cutis_handles_grid *grid, const double *point, double *out)
{
    for (int c = 0; c < 3; c++) out[c] = (point[c] - grid->origin[c]) / grid->step;
}

uint32_t cutis_handles_node_of(const cutis_handles_grid *grid, const double *point)
{
    const cutis_handles_sheets *sheets = grid->sheets;
    const uint32_t voxel = cutis_handles_voxel_of(grid, point);
    if (!sheets || voxel == CUTIS_HANDLES_NONE || sheets->next[voxel] == CUTIS_HANDLES_NONE)
        return voxel;
    const uint32_t first = sheets->first[voxel], count = sheets->first[voxel + 1] - first;
    double p[3], deepest = -INFINITY;
    uint32_t best = voxel;
    in_voxels(grid, point, p);
    for (uint32_t a = voxel; a != CUTIS_HANDLES_NONE; a = sheets->next[a]) {
        const double depth = cutis_handles_depth(grid, sheets, sheets->triangle + first,
                                                 sheets->node + first, count, a, p, NULL);
        if (depth > deepest) deepest = depth, best = a;
    }
    return best;
}

// Nodes within three steps of one, nearest by steps first. @return the one at a place, or NONE
static uint32_t search_near(const cutis_handles_grid *grid, uint32_t place, uint32_t *seen,
                            uint32_t *count)
{
    uint32_t done = 0;
    for (int step = 0; step <= 3; step++)
        for (const uint32_t end = *count; done < end; done++) {
            if (grid->place[seen[done]] == place) return seen[done];
            for (size_t d = 0; d < 6 && step < 3; d++) {
                const uint32_t m = grid->neighbour[6 * (size_t)seen[done] + d];
                bool known = m == CUTIS_HANDLES_NONE;
                for (uint32_t i = 0; i < *count && !known; i++) known = seen[i] == m;
                if (!known && *count < 64) seen[(*count)++] = m;
            }
        }
    return CUTIS_HANDLES_NONE;
}

uint32_t cutis_handles_node_next(const cutis_handles_grid *grid, uint32_t from, const double *point)
{
    const uint32_t to = cutis_handles_voxel_of(grid, point);
    if (!grid->sheets || to == CUTIS_HANDLES_NONE) return to;
    double least = INFINITY;
    for (uint32_t before = CUTIS_HANDLES_NONE; before != from;) {
        uint32_t seen[64] = { before = from }, count = 1;
        const uint32_t found = search_near(grid, grid->place[to], seen, &count);
        if (found != CUTIS_HANDLES_NONE) return found;
        for (uint32_t i = 0; i < count; i++) {
            double centre[3];
            cutis_handles_voxel_centre(grid, seen[i], centre);
            const double distance = v3_distance_of(centre, point);
            if (distance < least) least = distance, from = seen[i];
        }
    }
    return least <= BESIDE * grid->step ? from : CUTIS_HANDLES_NONE;
}

bool cutis_handles_node_holds(const cutis_handles_grid *grid, uint32_t node, const double *point)
{
    const uint32_t voxel = cutis_handles_voxel_of(grid, point);
    return voxel != CUTIS_HANDLES_NONE && node != CUTIS_HANDLES_NONE &&
           grid->place[node] == grid->place[voxel];
}

uint32_t cutis_handles_node_along(const cutis_handles_grid *grid, uint32_t node, const double *a,
                                  const double *b)
{
    const uint32_t count = (uint32_t)ceil(2 * v3_distance_of(a, b) / grid->step);
    bool left = false;
    for (uint32_t i = 1; i <= count; i++) {
        double p[3];
        v3_put(v3_mix(v3_of(a), v3_of(b), (double)i / count), p);
        const bool outside = cutis_handles_voxel_of(grid, p) == CUTIS_HANDLES_NONE;
        if (!outside && node != CUTIS_HANDLES_NONE) {
            // Who comes back from outside may be far from where he left.
            const uint32_t next = cutis_handles_node_next(grid, node, p);
            node = left && !cutis_handles_node_holds(grid, next, p) ? CUTIS_HANDLES_NONE : next;
        }
        if (!outside && node == CUTIS_HANDLES_NONE) node = cutis_handles_node_of(grid, p);
        left = outside;
    }
    return node;
}

static size_t block_corner(const cutis_handles_grid *grid, const double *p, int *low)
{
    for (int c = 0; c < 3; c++) low[c] = (int)(p[c] - 0.5) - 1;
    return ((size_t)low[2] * grid->size[1] + (size_t)low[1]) * grid->size[0] + (size_t)low[0];
}

static bool near_at(const cutis_handles_grid *grid, const uint8_t *near, const double *point)
{
    double p[3];
    int low[3];
    in_voxels(grid, point, p);
    return near[block_corner(grid, p, low)] != 0;
}

bool cutis_handles_cut_near(const cutis_handles_grid *grid, const double *point)
{
    return grid->sheets && near_at(grid, grid->sheets->near, point);
}

bool cutis_handles_sheets_near(cutis_arena *arena, const cutis_handles_grid *grid,
                               cutis_handles_sheets *sheets)
{
    const size_t x = grid->size[0], y = grid->size[1];
    uint8_t *near = sheets->near = cutis_arena_zero(arena, grid->dense_count, 1);
    for (uint32_t v = 0; v < sheets->regular && near; v++) {
        const size_t place = grid->place[v];
        if (sheets->sight[place] != CUTIS_HANDLES_NONE) continue;
        const size_t cell[3] = { place % x, place / x % y, place / x / y };
        size_t low[3];
        for (int c = 0; c < 3; c++) low[c] = cell[c] < 3 ? 0 : cell[c] - 3;
        for (size_t k = low[2]; k <= cell[2]; k++)
            for (size_t j = low[1]; j <= cell[1]; j++)
                memset(near + (k * y + j) * x + low[0], 1, cell[0] - low[0] + 1);
    }
    sheets->passed = cutis_arena_alloc(arena, sheets->shape.vertex_count, 1);
    if (!near || !sheets->passed) return false;
    for (uint32_t v = 0; v < sheets->shape.vertex_count; v++) {
        const float *at = sheets->shape.positions + 3 * (size_t)v;
        const double p[3] = { at[0], at[1], at[2] };
        sheets->passed[v] = near_at(grid, near, p);
    }
    return true;
}

// The first node of a place that is reached stands for it; detours do not count, so steps lead away
// from the block's own place only.
static void reach_in_block(const cutis_handles_grid *grid, cutis_handles_block *block)
{
    static const int STEP[6] = { -1, 1, -4, 4, -16, 16 };
    uint32_t at[64];
    uint8_t queue[64], ways[3][4]; // directions that lead away, as bits
    int count = 0;
    for (int c = 0; c < 3; c++)
        for (int i = 0, own = block->own >> 2 * c & 3; i < 4; i++)
            ways[c][i] =
                (uint8_t)((i > 0 && i <= own) << 2 * c | (i < 3 && i >= own) << (2 * c + 1));
    memset(at, 0xff, sizeof at); // NONE
    at[block->own] = block->node;
    queue[count++] = (uint8_t)block->own;
    for (int done = 0; done < count; done++) {
        const int from = queue[done];
        const uint32_t *links = grid->neighbour + 6 * (size_t)at[from];
        unsigned left = ways[0][from & 3] | ways[1][from >> 2 & 3] | ways[2][from >> 4];
        for (; left; left &= left - 1) {
            const int d = __builtin_ctz(left), to = from + STEP[d];
            if (links[d] == CUTIS_HANDLES_NONE || at[to] != CUTIS_HANDLES_NONE) continue;
            at[to] = links[d];
            queue[count++] = (uint8_t)to;
        }
    }
    block->count = 0;
    for (int i = 0; i < 64; i++) {
        if (at[i] == CUTIS_HANDLES_NONE) continue;
        block->reached[block->count] = at[i];
        block->place[block->count++] = (uint8_t)i;
    }
}

void cutis_handles_taps_of(const cutis_handles_grid *grid, uint32_t node, const double *point,
                           cutis_handles_block *block, handles_taps *out)
{
    int low[3];
    double p[3], w[3][4], xy[16];
    in_voxels(grid, point, p);
    block_corner(grid, p, low);
    for (int c = 0; c < 3; c++) handles_spline(p[c] - 0.5 - (low[c] + 1), w[c]);
    for (int i = 0; i < 16; i++) xy[i] = w[0][i & 3] * w[1][i >> 2];
    const handles_cell cell =
        handles_cell_of(grid->place[node], (int)grid->size[0], (int)grid->size[1]);
    const int own = cell.x - low[0] + 4 * (cell.y - low[1]) + 16 * (cell.z - low[2]);
    if (block->node != node || block->own != own) {
        block->node = node, block->own = own;
        reach_in_block(grid, block);
    }
    out->count = block->count;
    memcpy(out->voxel, block->reached, (size_t)block->count * sizeof *out->voxel);
    for (int t = 0; t < block->count; t++)
        out->weight[t] = xy[block->place[t] & 15] * w[2][block->place[t] >> 4];
}
