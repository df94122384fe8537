// From a shape to its voxel domain: conservative surface, then everything the outside cannot reach,
// by the kernels of kernel/handles_grid.h on any device. Works on soups: no use is made of
// orientation, closedness or connectivity of the triangles. Numbers of voxels, neighbours and
// pieces are the same on every device.
#include "fit/handles/grid.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "fit/handles/sheets.h"
#include "fit/handles/text.h"
#include "geometry/order.h"
#include "geometry/vector.h"

#define PADDING 3 ///< voxels around the bounding box: taps of any vertex stay inside the grid
/// Largest grid, bytes of its dense arrays: about 800 voxels a side of a cube. Places fit an int.
#define GRID_BYTES_MAX (UINT64_C(4) << 30)
#define CLOUD_REACH    16.0  ///< most voxels of a ball's radius: a few outliers fill no space
#define CLOUD_SAMPLES  500   ///< points whose nearest neighbour decides the radius of a cloud
#define FEW_TRIANGLES  65536 ///< GPU: below it a triangle is many items
#define PARTS          16
#define FLOODS_A_LOOK  2 ///< GPU: rounds of three axes between two looks at whether anything changed
#define SWEEPS_A_LOOK  8 ///< GPU: the same of sweeps over pieces
#define TILE_ROWS      (HANDLES_TILE * HANDLES_TILE)
#define TILE_VOXELS    (TILE_ROWS * HANDLES_TILE)

/// One voxelisation.
typedef struct voxeliser {
    cutis_handles_work *work;
    cutis_handles_buffers *buffers; ///< the work's
    const cutis_handles_shape *shape;
    cutis_handles_grid *grid;
    handles_grid given; ///< the grid, for kernels
    cutis_arena *arena, *scratch;
    double radius; ///< of a cloud's balls, in voxels
} voxeliser;

static cutis_result mark_surface(voxeliser *v)
{
    const cutis_handles_shape *shape = v->shape;
    cutis_handles_buffers *b = v->buffers;
    const uint64_t words = (v->grid->dense_count + 3) / 4; // whole ones, to be cleared as such
    const uint32_t parts = v->work->sweeps && shape->triangle_count < FEW_TRIANGLES ? PARTS : 1;
    TRY(cutis_handles_give(v->work, &b->positions, shape->positions, 3ull * shape->vertex_count,
                           4));
    TRY(cutis_handles_give(v->work, &b->triangles, shape->triangles, 3ull * shape->triangle_count,
                           4));
    TRY(cutis_handles_give(v->work, &b->points, shape->points, shape->point_count, 4));
    TRY(RESERVE(v->work, { &b->state, words, 4 }, { &b->flag, 1, 4 }));
    TRY(cutis_handles_fill(v->work, b->state, words, 0));
    TRY(LAUNCH(handles_surfaces, v->work, shape->triangle_count * parts, .grid = v->given,
               .parts = (int)parts));
    TRY(LAUNCH(handles_balls, v->work, shape->point_count, .grid = v->given, .radius = v->radius));
    return LAUNCH(handles_corners, v->work, shape->vertex_count, .grid = v->given);
}

// Along all rows of an axis. Rows that stand side by side go together on a CPU.
static cutis_result flood_axis(voxeliser *v, int axis)
{
    const int x = v->given.size[0], y = v->given.size[1], z = v->given.size[2];
    const handles_flood_arguments rows[3] = {
        { .length = x, .stride = 1, .inner = y, .inner_stride = x, .outer_stride = x * y },
        { .length = y, .stride = x, .inner = x, .inner_stride = 1, .outer_stride = x * y },
        { .length = z, .stride = x * y, .inner = x, .inner_stride = 1, .outer_stride = x },
    };
    handles_flood_arguments given = rows[axis];
    given.width = axis == 0 || v->work->sweeps ? 1 : x;
    return handles_flood_launch(
        v->work, (uint32_t)(v->grid->dense_count / (size_t)given.length / (size_t)given.width),
        given);
}

// From a corner, which is padding.
static cutis_result flood_outside(voxeliser *v)
{
    const uint8_t outside = HANDLES_OUTSIDE;
    TRY(cutis_buffer_write(v->buffers->state, 0, &outside, 1));
    for (bool changed = true; changed;) {
        TRY(cutis_handles_fill(v->work, v->buffers->flag, 1, 0));
        for (int i = 0; i < (v->work->sweeps ? FLOODS_A_LOOK : 1); i++)
            for (int axis = 0; axis < 3; axis++) TRY(flood_axis(v, axis));
        TRY(cutis_handles_flag(v->work, &changed));
        TRY(cutis_progress(v->arena->context, "voxels", 0.5));
    }
    return CUTIS_OK;
}

// Voxels of rows, then where each row's voxels begin. `first`: the same for tiles, and one more.
static cutis_result count_voxels(voxeliser *v, uint32_t *first, size_t tiles)
{
    cutis_handles_buffers *b = v->buffers;
    const uint32_t rows = (uint32_t)(TILE_ROWS * tiles);
    uint32_t *before = cutis_arena_alloc(v->scratch, (size_t)rows + 1, sizeof *before);
    if (!before) return cutis_alloc_result(v->arena->context);
    TRY(RESERVE(v->work, { &b->rows, cutis_compute_scan_words(rows), 4 }));
    TRY(LAUNCH(handles_rows, v->work, rows, .grid = v->given));
    TRY(cutis_compute_scan(v->work->device, b->rows, rows));
    TRY(cutis_buffer_read(b->rows, 0, before, 4ull * rows + 4));
    for (size_t t = 0; t <= tiles; t++) first[t] = before[TILE_ROWS * t];
    v->grid->voxel_count = first[tiles];
    v->given.voxel_count = (int)first[tiles];
    return CUTIS_OK;
}

// What nodes have beyond voxels, on the device.
static cutis_result give_nodes(cutis_handles_work *work, const cutis_handles_grid *g)
{
    cutis_handles_buffers *b = &work->buffers;
    TRY(cutis_handles_give(work, &b->place, g->place, g->voxel_count, 4));
    TRY(cutis_handles_give(work, &b->neighbour, g->neighbour, 6ull * g->voxel_count, 4));
    cutis_handles_drop(&b->sight);
    if (!g->sheets) return CUTIS_OK;
    return cutis_handles_give(work, &b->sight, g->sheets->sight, g->dense_count, 4);
}

// Tile by tile, so that neighbours are near in memory whichever way they lie.
static cutis_result number_voxels(voxeliser *v, uint32_t rows)
{
    cutis_handles_grid *g = v->grid;
    cutis_handles_buffers *b = v->buffers;
    const uint64_t n = g->voxel_count;
    g->place = cutis_arena_alloc(v->arena, n, sizeof *g->place);
    g->neighbour = cutis_arena_alloc(v->arena, n, 6 * sizeof *g->neighbour);
    g->component = cutis_arena_alloc(v->arena, n, sizeof *g->component);
    if (!g->place || !g->neighbour || !g->component) return cutis_alloc_result(v->arena->context);
    TRY(cutis_handles_over(v->work, &b->index, g->index, g->dense_count, 4));
    TRY(cutis_handles_over(v->work, &b->place, g->place, n, 4));
    TRY(cutis_handles_over(v->work, &b->neighbour, g->neighbour, 6 * n, 4));
    TRY(cutis_handles_over(v->work, &b->component, g->component, n, 4));
    TRY(RESERVE(v->work, { &b->piece, n, 4 }));
    TRY(LAUNCH(handles_number, v->work, rows, .grid = v->given));
    TRY(LAUNCH(handles_links, v->work, (uint32_t)n, .grid = v->given));
    TRY(cutis_handles_fetch(b->index, g->index, 4ull * g->dense_count));
    TRY(cutis_handles_fetch(b->place, g->place, 4 * n));
    return cutis_handles_fetch(b->neighbour, g->neighbour, 24 * n);
}

// Nodes where the surface touches itself, with what their numbers need.
static cutis_result split_voxels(voxeliser *v)
{
    cutis_handles_grid *g = v->grid;
    cutis_handles_buffers *b = v->buffers;
    bool made;
    TRY(cutis_handles_sheets_make(v->arena, v->work->device, v->shape, g, &made));
    if (!made) return CUTIS_OK;
    const uint32_t n = g->voxel_count;
    v->given.voxel_count = (int)n;
    g->component = cutis_arena_alloc(v->arena, n, sizeof *g->component);
    uint32_t *piece = cutis_arena_alloc(v->scratch, n, sizeof *piece);
    if (!g->component || !piece) return cutis_alloc_result(v->arena->context);
    for (uint32_t a = 0; a < n; a++) piece[a] = a;
    TRY(give_nodes(v->work, g));
    TRY(cutis_handles_over(v->work, &b->component, g->component, n, 4));
    TRY(RESERVE(v->work, { &b->piece, n, 4 }));
    return cutis_buffer_write(b->piece, 0, piece, 4ull * n);
}

// The first voxel of each one's piece, on a CPU: trees of connected voxels, joined in
// order. One pass where sweeps take as many as a piece has bends.
static void join_voxels(const uint32_t *neighbour, uint32_t count, uint32_t *piece)
{
    for (uint32_t v = 0; v < count; v++)
        for (size_t d = 0; d < 6; d += 2) {
            const uint32_t m = neighbour[6 * (size_t)v + d];
            if (m == CUTIS_HANDLES_NONE) continue;
            const uint32_t a = group_of(piece, v), b = group_of(piece, m);
            if (a < b)
                piece[b] = a;
            else
                piece[a] = b;
        }
    for (uint32_t v = 0; v < count; v++) piece[v] = piece[piece[v]];
}

static cutis_result sweep_pieces(voxeliser *v)
{
    cutis_handles_buffers *b = v->buffers;
    TRY(RESERVE(v->work, { &b->other_piece, v->grid->voxel_count, 4 }));
    for (bool changed = true; changed;) {
        TRY(cutis_handles_fill(v->work, b->flag, 1, 0));
        for (int i = 0; i < SWEEPS_A_LOOK; i++) {
            TRY(handles_pieces_launch(v->work, v->grid->voxel_count,
                                      (handles_pieces_arguments){ 0 }));
            cutis_handles_swap(&b->piece, &b->other_piece);
        }
        TRY(cutis_handles_flag(v->work, &changed));
        TRY(cutis_progress(v->arena->context, "voxels", 0.5));
    }
    return CUTIS_OK;
}

// Pieces, numbered by their first voxels.
static cutis_result number_pieces(voxeliser *v)
{
    cutis_handles_grid *g = v->grid;
    cutis_handles_buffers *b = v->buffers;
    const uint32_t n = g->voxel_count;
    if (v->work->sweeps)
        TRY(sweep_pieces(v));
    else
        join_voxels(g->neighbour, n, cutis_handles_memory(b->piece));
    TRY(RESERVE(v->work, { &b->roots, cutis_compute_scan_words(n), 4 }));
    TRY(handles_roots_launch(v->work, n, (handles_roots_arguments){ 0 }));
    TRY(cutis_compute_scan(v->work->device, b->roots, n));
    TRY(handles_names_launch(v->work, n, (handles_names_arguments){ 0 }));
    TRY(cutis_handles_fetch(b->component, g->component, 4ull * n));
    return cutis_buffer_read(b->roots, 4ull * n, &g->component_count, 4);
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
    // Nodes behind the voxels are tiles of their own, by their numbers alone.
    const uint32_t own = grid->tile_count, more = grid->voxel_count - first[all];
    grid->tile_count += (more + TILE_VOXELS - 1) / TILE_VOXELS;
    grid->tile_first =
        cutis_arena_alloc(arena, (size_t)grid->tile_count + 1, sizeof *grid->tile_first);
    grid->tile_neighbour =
        cutis_arena_alloc(arena, grid->tile_count, 6 * sizeof *grid->tile_neighbour);
    const bool good = grid->tile_first && grid->tile_neighbour;
    for (uint32_t t = own; t < grid->tile_count && good; t++)
        grid->tile_first[t] = first[all] + (t - own) * TILE_VOXELS;
    if (good) grid->tile_first[grid->tile_count] = grid->voxel_count;
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

// Twice the median distance to the nearest other point, of evenly chosen points.
static double cloud_radius(const cutis_handles_shape *shape)
{
    double found[CLOUD_SAMPLES];
    uint32_t samples = shape->point_count < CLOUD_SAMPLES ? shape->point_count : CLOUD_SAMPLES;
    uint32_t used = 0;
    for (uint32_t s = 0; s < samples; s++) {
        uint32_t i = (uint32_t)((uint64_t)s * shape->point_count / samples);
        vec3 p = v3_at(shape->positions, shape->points[i]);
        double best = INFINITY;
        for (uint32_t o = 0; o < shape->point_count; o++) {
            vec3 d = v3_sub(p, v3_at(shape->positions, shape->points[o]));
            double square = v3_dot(d, d);
            if (square > 0 && square < best) best = square;
        }
        if (best < INFINITY) found[used++] = sqrt(best);
    }
    if (used == 0) return 0;
    qsort(found, used, sizeof *found, order_double);
    return 2 * found[used / 2];
}

// The grid's place and size. A shape without extent gets voxels that its coordinates can tell
// apart.
static cutis_result place_grid(cutis_context *context, const cutis_handles_shape *shape,
                               uint32_t voxels, double *radius, cutis_handles_grid *grid)
{
    box3 box = box3_empty();
    double *low = box.low, *high = box.high;
    for (uint32_t v = 0; v < shape->vertex_count; v++) box3_add(&box, v3_at(shape->positions, v));
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

static cutis_result voxelise(voxeliser *v, uint32_t *first, size_t tiles)
{
    TRY(mark_surface(v));
    TRY(flood_outside(v));
    TRY(count_voxels(v, first, tiles));
    TRY(number_voxels(v, (uint32_t)(TILE_ROWS * tiles)));
    TRY(split_voxels(v));
    return number_pieces(v);
}

// What only voxelisation needs.
static void drop_buffers(cutis_handles_buffers *b)
{
    cutis_buffer **gone[] = { &b->component, &b->triangles, &b->points,      &b->state,
                              &b->rows,      &b->piece,     &b->other_piece, &b->roots };
    for (size_t i = 0; i < sizeof gone / sizeof *gone; i++) cutis_handles_drop(gone[i]);
}

cutis_result cutis_handles_grid_create(cutis_arena *arena, cutis_handles_work *work,
                                       const cutis_handles_shape *shape, uint32_t voxels,
                                       cutis_handles_grid *out)
{
    cutis_context *context = arena->context;
    cutis_arena scratch = { .context = context };
    voxeliser v = { .work = work,
                    .buffers = &work->buffers,
                    .shape = shape,
                    .grid = out,
                    .arena = arena,
                    .scratch = &scratch,
                    .radius = shape->point_count ? cloud_radius(shape) : 0 };
    uint32_t side[3];
    *out = (cutis_handles_grid){ 0 };
    TRY(place_grid(context, shape, voxels, &v.radius, out));
    const size_t tiles = cutis_handles_tiles(out, side);
    v.given = cutis_handles_grid_given(out);
    out->index = cutis_arena_alloc(arena, out->dense_count, sizeof *out->index);
    uint32_t *first = cutis_arena_alloc(&scratch, tiles + 1, sizeof *first);
    work->grid = work->boxes = NULL;
    work->positions = NULL;
    cutis_handles_drop(&work->buffers.sight);
    cutis_result result =
        out->index && first ? voxelise(&v, first, tiles) : cutis_alloc_result(context);
    if (result == CUTIS_OK && !number_tiles(arena, out, first))
        result = cutis_alloc_result(context);
    drop_buffers(&work->buffers);
    cutis_arena_release(&scratch);
    if (result != CUTIS_OK) return result;
    cutis_handles_forget(work);
    work->grid = out->index, work->positions = shape->positions;
    return CUTIS_OK;
}

cutis_result cutis_handles_work_on(cutis_handles_work *work, const cutis_handles_grid *grid)
{
    cutis_handles_buffers *b = &work->buffers;
    if (work->grid == grid->index) return CUTIS_OK;
    work->grid = work->boxes = NULL;
    cutis_handles_forget(work);
    TRY(cutis_handles_give(work, &b->index, grid->index, grid->dense_count, 4));
    TRY(give_nodes(work, grid));
    TRY(RESERVE(work, { &b->flag, 1, 4 }));
    work->grid = grid->index;
    return CUTIS_OK;
}

void cutis_handles_voxel_centre(const cutis_handles_grid *grid, uint32_t voxel, double *centre)
{
    const handles_point p = handles_centre_at(cutis_handles_grid_given(grid), grid->place[voxel]);
    centre[0] = p.x, centre[1] = p.y, centre[2] = p.z;
}

uint32_t cutis_handles_voxel_of(const cutis_handles_grid *grid, const double *point)
{
    const handles_grid given = cutis_handles_grid_given(grid);
    const int64_t place =
        handles_place_in(given, handles_in_grid(given, point[0], point[1], point[2]));
    return place < 0 ? CUTIS_HANDLES_NONE : grid->index[place];
}

uint32_t cutis_handles_voxel_nearest(const cutis_handles_grid *grid, const double *point,
                                     double *distance)
{
    uint32_t best = 0;
    double least = INFINITY;
    for (uint32_t v = 0; v < grid->voxel_count; v++) {
        double centre[3];
        cutis_handles_voxel_centre(grid, v, centre);
        vec3 d = v3_sub(v3_of(centre), v3_of(point));
        double square = v3_dot(d, d);
        if (square < least) least = square, best = v;
    }
    if (distance) *distance = sqrt(least);
    return best;
}
