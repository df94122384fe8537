// From a shape to its voxel domain: conservative surface, then everything the outside cannot reach.
// Works on soups: no use is made of orientation, closedness or connectivity of the triangles. What
// every thread writes is the same byte, so the result does not depend on who comes first.
#include "fit/handles_grid.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "fit/handles_device_grid.h"

#define PADDING 3    ///< voxels around the bounding box: taps of any vertex stay inside the grid
#define CHUNK   4096 ///< triangles or points a task
#define TILE    CUTIS_HANDLES_TILE
/// Largest grid, bytes of its dense arrays: about 800 voxels a side of a cube.
#define GRID_BYTES_MAX (UINT64_C(4) << 30)
/// Overlap tests are this much too generous, in voxels: a face that lies on a voxel border counts
/// for both sides, whichever way the arithmetic rounds, so that mirrored shapes get mirrored
/// voxels.
static const double SLACK = 1e-6;
#define CLOUD_REACH   16.0 ///< most voxels of a ball's radius: a few stray points fill no room
#define CLOUD_SAMPLES 500  ///< points whose nearest neighbour decides the radius of a cloud

enum { EMPTY = 0, SURFACE = 1, OUTSIDE = 2 };

typedef struct voxeliser {
    const cutis_handles_shape *shape;
    cutis_handles_grid *grid;
    _Atomic uint8_t *state; ///< per dense place
    double radius;          ///< of a cloud's balls, in voxels
} voxeliser;

// Positions in units of voxels from the grid's low corner.
static void to_grid(const voxeliser *v, uint32_t vertex, double *out)
{
    for (int c = 0; c < 3; c++)
        out[c] = (v->shape->positions[3 * (size_t)vertex + c] - v->grid->origin[c]) / v->grid->step;
}

static void mark(voxeliser *v, int64_t x, int64_t y, int64_t z)
{
    const uint32_t *size = v->grid->size;
    if (x < 0 || y < 0 || z < 0 || x >= size[0] || y >= size[1] || z >= size[2]) return;
    size_t place = ((size_t)z * size[1] + (size_t)y) * size[0] + (size_t)x;
    atomic_store_explicit(&v->state[place], SURFACE, memory_order_relaxed);
}

static void mark_point(voxeliser *v, const double *p)
{
    mark(v, (int64_t)floor(p[0]), (int64_t)floor(p[1]), (int64_t)floor(p[2]));
}

// Separating axis test of a triangle, given relative to the centre of a unit voxel. The box axes
// and the plane are tested by the caller's loops; here the nine products of edges and axes.
static bool edges_overlap(const double corner[3][3])
{
    const double half = 0.5 + SLACK;
    for (int e = 0; e < 3; e++) {
        const double *a = corner[e], *b = corner[(e + 1) % 3], *o = corner[(e + 2) % 3];
        double edge[3] = { b[0] - a[0], b[1] - a[1], b[2] - a[2] };
        for (int k = 0; k < 3; k++) {
            int i = (k + 1) % 3, j = (k + 2) % 3;
            double p = edge[i] * a[j] - edge[j] * a[i], q = edge[i] * o[j] - edge[j] * o[i];
            double reach = half * (fabs(edge[i]) + fabs(edge[j]));
            if (fmin(p, q) > reach || fmax(p, q) < -reach) return false;
        }
    }
    return true;
}

static bool box_overlaps(const double corner[3][3])
{
    const double half = 0.5 + SLACK;
    for (int c = 0; c < 3; c++)
        if (fmin(corner[0][c], fmin(corner[1][c], corner[2][c])) > half ||
            fmax(corner[0][c], fmax(corner[1][c], corner[2][c])) < -half)
            return false;
    return edges_overlap(corner);
}

// A triangle without area: its edges, finely sampled.
static void mark_edges(voxeliser *v, const double corner[3][3])
{
    for (int e = 0; e < 3; e++) {
        const double *a = corner[e], *b = corner[(e + 1) % 3];
        const double d[3] = { b[0] - a[0], b[1] - a[1], b[2] - a[2] };
        double length = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
        uint32_t count = (uint32_t)ceil(4 * length) + 1;
        for (uint32_t i = 0; i <= count; i++) {
            double t = (double)i / count, p[3];
            for (int c = 0; c < 3; c++) p[c] = a[c] + t * d[c];
            mark_point(v, p);
        }
    }
}

// Columns along the axis the triangle faces most: there its plane crosses few voxels of each.
static void mark_triangle(voxeliser *v, const double corner[3][3])
{
    double u[3], w[3], n[3];
    for (int c = 0; c < 3; c++)
        u[c] = corner[1][c] - corner[0][c], w[c] = corner[2][c] - corner[0][c];
    for (int c = 0; c < 3; c++) {
        int i = (c + 1) % 3, j = (c + 2) % 3;
        n[c] = u[i] * w[j] - u[j] * w[i];
    }
    int k = fabs(n[0]) >= fabs(n[1]) ? 0 : 1;
    if (fabs(n[2]) > fabs(n[k])) k = 2;
    if (!(fabs(n[k]) > 1e-12)) {
        mark_edges(v, corner);
        return;
    }
    int i = (k + 1) % 3, j = (k + 2) % 3;
    int64_t low[3], high[3];
    for (int c = 0; c < 3; c++) {
        low[c] = (int64_t)floor(fmin(corner[0][c], fmin(corner[1][c], corner[2][c])) - SLACK);
        high[c] = (int64_t)floor(fmax(corner[0][c], fmax(corner[1][c], corner[2][c])) + SLACK);
    }
    double slope = 0.5 * (fabs(n[i]) + fabs(n[j])) / fabs(n[k]) + 2 * SLACK;
    int64_t cell[3];
    for (cell[j] = low[j]; cell[j] <= high[j]; cell[j]++)
        for (cell[i] = low[i]; cell[i] <= high[i]; cell[i]++) {
            double depth = corner[0][k] - (n[i] * ((double)cell[i] + 0.5 - corner[0][i]) +
                                           n[j] * ((double)cell[j] + 0.5 - corner[0][j])) /
                                              n[k];
            int64_t first = (int64_t)floor(depth - slope), last = (int64_t)floor(depth + slope);
            if (first < low[k]) first = low[k];
            if (last > high[k]) last = high[k];
            for (cell[k] = first; cell[k] <= last; cell[k]++) {
                double local[3][3];
                for (int e = 0; e < 3; e++)
                    for (int c = 0; c < 3; c++)
                        local[e][c] = corner[e][c] - ((double)cell[c] + 0.5);
                if (box_overlaps(local)) mark(v, cell[0], cell[1], cell[2]);
            }
        }
}

static void triangle_task(void *data, uint32_t task)
{
    voxeliser *v = data;
    uint32_t end = v->shape->triangle_count;
    if (end - task * CHUNK > CHUNK) end = (task + 1) * CHUNK;
    for (uint32_t t = task * CHUNK; t < end; t++) {
        double corner[3][3];
        for (int e = 0; e < 3; e++) to_grid(v, v->shape->triangles[3 * (size_t)t + e], corner[e]);
        mark_triangle(v, corner);
    }
}

static void mark_ball(voxeliser *v, const double *p)
{
    int64_t low[3], high[3], cell[3];
    for (int c = 0; c < 3; c++) {
        low[c] = (int64_t)floor(p[c] - v->radius);
        high[c] = (int64_t)floor(p[c] + v->radius);
    }
    for (cell[2] = low[2]; cell[2] <= high[2]; cell[2]++)
        for (cell[1] = low[1]; cell[1] <= high[1]; cell[1]++)
            for (cell[0] = low[0]; cell[0] <= high[0]; cell[0]++) {
                double square = 0;
                for (int c = 0; c < 3; c++)
                    square += ((double)cell[c] + 0.5 - p[c]) * ((double)cell[c] + 0.5 - p[c]);
                if (square <= v->radius * v->radius) mark(v, cell[0], cell[1], cell[2]);
            }
}

static void point_task(void *data, uint32_t task)
{
    voxeliser *v = data;
    uint32_t end = v->shape->point_count;
    if (end - task * CHUNK > CHUNK) end = (task + 1) * CHUNK;
    for (uint32_t i = task * CHUNK; i < end; i++) {
        double p[3];
        to_grid(v, v->shape->points[i], p);
        mark_ball(v, p);
    }
}

static int ascending(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

// Twice the median distance to the nearest other point, of evenly chosen points.
static double cloud_radius(const cutis_handles_shape *shape)
{
    double found[CLOUD_SAMPLES];
    uint32_t samples = shape->point_count < CLOUD_SAMPLES ? shape->point_count : CLOUD_SAMPLES;
    uint32_t used = 0;
    for (uint32_t s = 0; s < samples; s++) {
        uint32_t i = (uint32_t)((uint64_t)s * shape->point_count / samples);
        const float *p = shape->positions + 3 * (size_t)shape->points[i];
        double best = INFINITY;
        for (uint32_t o = 0; o < shape->point_count; o++) {
            const float *q = shape->positions + 3 * (size_t)shape->points[o];
            double x = (double)p[0] - q[0], y = (double)p[1] - q[1], z = (double)p[2] - q[2];
            double square = x * x + y * y + z * z;
            if (square > 0 && square < best) best = square;
        }
        if (best < INFINITY) found[used++] = sqrt(best);
    }
    if (used == 0) return 0;
    qsort(found, used, sizeof *found, ascending);
    return 2 * found[used / 2];
}

// Reach the outside from a corner of the padding, through voxels the surface does not touch.
static void flood_outside(const cutis_handles_grid *grid, uint8_t *state, uint32_t *queue)
{
    const size_t row = grid->size[0], plane = row * grid->size[1];
    size_t head = 0, tail = 0;
    queue[tail++] = 0;
    state[0] = OUTSIDE;
    while (head < tail) {
        size_t at = queue[head++];
        size_t x = at % row, y = at / row % grid->size[1], z = at / plane;
        const size_t next[6] = { at - 1, at + 1, at - row, at + row, at - plane, at + plane };
        const bool there[6] = { x > 0, x + 1 < row,          y > 0, y + 1 < grid->size[1],
                                z > 0, z + 1 < grid->size[2] };
        for (int d = 0; d < 6; d++)
            if (there[d] && state[next[d]] == EMPTY) {
                state[next[d]] = OUTSIDE;
                queue[tail++] = (uint32_t)next[d];
            }
    }
}

// The voxels of one tile, from number `used` on.
static uint32_t number_tile(cutis_handles_grid *grid, const uint8_t *state, const uint32_t *low,
                            uint32_t used)
{
    const size_t row = grid->size[0], plane = row * grid->size[1];
    for (uint32_t z = low[2]; z < low[2] + TILE && z < grid->size[2]; z++)
        for (uint32_t y = low[1]; y < low[1] + TILE && y < grid->size[1]; y++)
            for (uint32_t x = low[0]; x < low[0] + TILE && x < grid->size[0]; x++) {
                const size_t i = z * plane + y * row + x;
                const bool inside = state[i] != OUTSIDE;
                grid->index[i] = inside ? used : CUTIS_HANDLES_NONE;
                if (inside) grid->place[used++] = (uint32_t)i;
            }
    return used;
}

// Tiles that hold a voxel, and their neighbours. `first`: voxels before each tile of the grid.
static bool number_tiles(cutis_arena *arena, cutis_handles_grid *grid, const uint32_t *first)
{
    uint32_t count[3];
    const size_t all = cutis_handles_tiles(grid, count);
    uint32_t *number = cutis_alloc_array(arena->context, all, sizeof *number);
    if (!number) return false;
    for (size_t t = 0; t < all; t++)
        number[t] = first[t + 1] > first[t] ? grid->tile_count++ : CUTIS_HANDLES_NONE;
    grid->tile_first =
        cutis_arena_alloc(arena, (size_t)grid->tile_count + 1, sizeof *grid->tile_first);
    grid->tile_neighbour =
        cutis_arena_alloc(arena, grid->tile_count, 6 * sizeof *grid->tile_neighbour);
    const bool good = grid->tile_first && grid->tile_neighbour;
    if (good) grid->tile_first[grid->tile_count] = first[all];
    const size_t stride[3] = { 1, count[0], (size_t)count[0] * count[1] };
    for (size_t t = 0; t < all && good; t++) {
        if (number[t] == CUTIS_HANDLES_NONE) continue;
        const size_t cell[3] = { t % count[0], t / count[0] % count[1], t / stride[2] };
        grid->tile_first[number[t]] = first[t];
        for (int d = 0; d < 6; d++) {
            const int c = d / 2;
            const bool there = d % 2 ? cell[c] + 1 < count[c] : cell[c] > 0;
            grid->tile_neighbour[6 * (size_t)number[t] + (size_t)d] =
                !there ? CUTIS_HANDLES_NONE : number[d % 2 ? t + stride[c] : t - stride[c]];
        }
    }
    cutis_free_array(arena->context, number, all, sizeof *number);
    return good;
}

// Tile by tile, so that neighbours are near in memory whichever way they lie.
static bool number_voxels(cutis_arena *arena, const uint8_t *state, uint32_t *first,
                          cutis_handles_grid *grid)
{
    uint32_t count = 0, used = 0, side[3];
    for (size_t i = 0; i < grid->dense_count; i++) count += state[i] != OUTSIDE;
    grid->voxel_count = count;
    grid->place = cutis_arena_alloc(arena, count, sizeof *grid->place);
    grid->neighbour = cutis_arena_alloc(arena, count, 6 * sizeof *grid->neighbour);
    grid->component = cutis_arena_alloc(arena, count, sizeof *grid->component);
    if (!grid->place || !grid->neighbour || !grid->component) return false;
    const size_t tiles = cutis_handles_tiles(grid, side);
    for (size_t t = 0; t < tiles; t++) {
        const uint32_t low[3] = { (uint32_t)(t % side[0]) * TILE,
                                  (uint32_t)(t / side[0] % side[1]) * TILE,
                                  (uint32_t)(t / side[0] / side[1]) * TILE };
        first[t] = used;
        used = number_tile(grid, state, low, used);
    }
    first[tiles] = used;
    const size_t row = grid->size[0], plane = row * grid->size[1];
    for (uint32_t v = 0; v < count; v++) {
        // The outermost layers are never in the domain, so all six places exist.
        const uint32_t *at = grid->index + grid->place[v];
        uint32_t *n = grid->neighbour + 6 * (size_t)v;
        n[0] = *(at - 1), n[1] = at[1];
        n[2] = *(at - row), n[3] = at[row];
        n[4] = *(at - plane), n[5] = at[plane];
    }
    return true;
}

static bool number_components(cutis_context *context, cutis_handles_grid *grid)
{
    uint32_t *queue = cutis_alloc_array(context, grid->voxel_count, sizeof *queue);
    if (!queue) return false;
    for (uint32_t v = 0; v < grid->voxel_count; v++) grid->component[v] = CUTIS_HANDLES_NONE;
    grid->component_count = 0;
    for (uint32_t v = 0; v < grid->voxel_count; v++) {
        if (grid->component[v] != CUTIS_HANDLES_NONE) continue;
        uint32_t head = 0, tail = 0, piece = grid->component_count++;
        queue[tail++] = v;
        grid->component[v] = piece;
        while (head < tail) {
            const uint32_t *n = grid->neighbour + 6 * (size_t)queue[head++];
            for (int d = 0; d < 6; d++)
                if (n[d] != CUTIS_HANDLES_NONE && grid->component[n[d]] == CUTIS_HANDLES_NONE) {
                    grid->component[n[d]] = piece;
                    queue[tail++] = n[d];
                }
        }
    }
    cutis_free_array(context, queue, grid->voxel_count, sizeof *queue);
    return true;
}

// The grid's place and size. A shape without extent gets voxels that its coordinates can tell
// apart.
static cutis_result place_grid(cutis_context *context, const cutis_handles_shape *shape,
                               uint32_t voxels, double *radius, cutis_handles_grid *grid)
{
    double low[3] = { INFINITY, INFINITY, INFINITY }, high[3] = { -INFINITY, -INFINITY, -INFINITY };
    for (uint32_t v = 0; v < shape->vertex_count; v++)
        for (int c = 0; c < 3; c++) {
            low[c] = fmin(low[c], shape->positions[3 * (size_t)v + c]);
            high[c] = fmax(high[c], shape->positions[3 * (size_t)v + c]);
        }
    double longest = 0, reach = 1e-30;
    for (int c = 0; c < 3; c++) {
        longest = fmax(longest, high[c] - low[c]);
        reach = fmax(reach, fmax(fabs(low[c]), fabs(high[c])));
    }
    grid->step = fmax(longest / voxels, reach * 1e-9);
    // At least a voxel, or the points of a dense cloud would leave gaps in their own voxels' layer.
    if (*radius > 0) *radius = fmin(fmax(*radius / grid->step, 1), CLOUD_REACH);
    uint64_t dense = 1;
    for (int c = 0; c < 3; c++) {
        low[c] -= *radius * grid->step, high[c] += *radius * grid->step;
        // A side that is a whole number of voxels up to rounding stays one.
        double count = fmax(ceil((high[c] - low[c]) / grid->step - 1e-6), 1);
        grid->size[c] = (uint32_t)count + 2 * PADDING;
        grid->origin[c] = (low[c] + high[c]) / 2 - grid->size[c] * grid->step / 2;
        dense *= grid->size[c];
    }
    if (dense * 5 > GRID_BYTES_MAX || dense > UINT32_MAX)
        return cutis_fail(
            context, CUTIS_LIMIT_EXCEEDED,
            "a grid of %u x %u x %u voxels needs %.1f GiB, more than the limit of %.0f; "
            "ask for fewer voxels",
            grid->size[0], grid->size[1], grid->size[2], (double)dense * 5 / (double)(1 << 30),
            (double)GRID_BYTES_MAX / (double)(1 << 30));
    grid->dense_count = (size_t)dense;
    return CUTIS_OK;
}

// Surface and outside, then numbers. The index is not filled in yet and serves as a queue.
static cutis_result voxels_on_host(cutis_arena *arena, cutis_device *device,
                                   const cutis_handles_shape *shape, double radius, uint32_t *first,
                                   cutis_handles_grid *grid)
{
    cutis_context *context = arena->context;
    _Atomic uint8_t *state = cutis_alloc_zero(context, grid->dense_count, 1);
    if (!state) return cutis_alloc_result(context);
    voxeliser v = { .shape = shape, .grid = grid, .state = state, .radius = radius };
    cutis_device_run(device, triangle_task, &v, (shape->triangle_count + CHUNK - 1) / CHUNK);
    cutis_device_run(device, point_task, &v, (shape->point_count + CHUNK - 1) / CHUNK);
    for (uint32_t i = 0; i < shape->vertex_count; i++) {
        double p[3];
        to_grid(&v, i, p);
        mark_point(&v, p);
    }
    flood_outside(grid, (uint8_t *)state, grid->index);
    cutis_result result = cutis_progress(context, "voxels", 0.5);
    if (result == CUTIS_OK && (!number_voxels(arena, (const uint8_t *)state, first, grid) ||
                               !number_components(context, grid)))
        result = cutis_alloc_result(context);
    cutis_free(context, (void *)state, grid->dense_count);
    return result;
}

cutis_result cutis_handles_grid_create(cutis_arena *arena, cutis_device *device,
                                       const cutis_handles_shape *shape, uint32_t voxels,
                                       cutis_handles_grid *out)
{
    cutis_context *context = arena->context;
    uint32_t side[3];
    *out = (cutis_handles_grid){ 0 };
    double radius = shape->point_count ? cloud_radius(shape) : 0;
    cutis_result result = place_grid(context, shape, voxels, &radius, out);
    if (result != CUTIS_OK) return result;
    const size_t tiles = cutis_handles_tiles(out, side);
    out->index = cutis_arena_alloc(arena, out->dense_count, sizeof *out->index);
    uint32_t *first = cutis_alloc_array(context, tiles + 1, sizeof *first);
    if (!out->index || !first)
        result = cutis_alloc_result(context);
    else if (cutis_handles_grid_on_device(device, shape, out))
        result = cutis_handles_grid_voxels(arena, device, shape, radius, first, out);
    else
        result = voxels_on_host(arena, device, shape, radius, first, out);
    if (result == CUTIS_OK && !number_tiles(arena, out, first))
        result = cutis_alloc_result(context);
    if (first) cutis_free_array(context, first, tiles + 1, sizeof *first);
    return result;
}

uint32_t cutis_handles_voxel_of(const cutis_handles_grid *grid, const double *point)
{
    int64_t cell[3];
    for (int c = 0; c < 3; c++) {
        double place = floor((point[c] - grid->origin[c]) / grid->step);
        if (!(place >= 0 && place < grid->size[c])) return CUTIS_HANDLES_NONE;
        cell[c] = (int64_t)place;
    }
    return cutis_handles_voxel_at(grid, cell);
}

uint32_t cutis_handles_voxel_nearest(const cutis_handles_grid *grid, const double *point,
                                     double *distance)
{
    uint32_t best = 0;
    double least = INFINITY;
    for (uint32_t v = 0; v < grid->voxel_count; v++) {
        double centre[3], square = 0;
        cutis_handles_voxel_centre(grid, v, centre);
        for (int c = 0; c < 3; c++) square += (centre[c] - point[c]) * (centre[c] - point[c]);
        if (square < least) least = square, best = v;
    }
    if (distance) *distance = sqrt(least);
    return best;
}
