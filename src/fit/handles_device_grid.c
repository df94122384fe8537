// Voxels of a shape on a GPU: surface, outside and numbers by the kernels of kernel/handles_grid.h.
// Invariant: voxels, neighbours and pieces are those of handles_grid.c, number for number.
#include "fit/handles_device_grid.h"

#include "base/error.h"
#include "device/compute/handles.h"
#include "device/compute/scan.h"

#define FLOODS_A_LOOK 2     ///< rounds of three axes between two looks at whether anything changed
#define FEW_TRIANGLES 65536 ///< below it a triangle is many items
#define PARTS         16
#define PIECES_A_LOOK 8  ///< sweeps over pieces between two looks
#define TILE_ROWS     64 ///< of a tile: handles_grid.h of the kernels

enum {
    POSITIONS,
    TRIANGLES,
    POINTS,
    STATE,
    FLAG,
    ROWS,
    INDEX,
    PLACE,
    NEIGHBOUR,
    PIECE,
    PIECE_TO,
    ROOTS,
    BUFFERS
};

typedef struct voxel_run {
    cutis_device *device;
    const cutis_handles_shape *shape;
    cutis_handles_grid *grid;
    cutis_arena *arena;
    double radius;
    cutis_buffer *buffers[BUFFERS];
} voxel_run;

#define BUFFER(which) CUTIS_BUFFER_ARGUMENT(run->buffers[which])
#define INTEGER(i)    CUTIS_INT_ARGUMENT(i)
#define NUMBER(x)     CUTIS_DOUBLE_ARGUMENT(x)
#define LAUNCH(name, items, ...)                                                                   \
    do {                                                                                           \
        if (result == CUTIS_OK) {                                                                  \
            const cutis_compute_argument arguments[] = { __VA_ARGS__ };                            \
            result = cutis_compute_run_old(run->device, &cutis_compute_handles_##name, (items),    \
                                           arguments);                                             \
        }                                                                                          \
    } while (0)

bool cutis_handles_grid_on_device(const cutis_device *device, const cutis_handles_shape *shape,
                                  const cutis_handles_grid *grid)
{
    return device && device->operations->compute_run && grid->dense_count < INT32_MAX - 1024 &&
           shape->vertex_count < INT32_MAX / 3 && shape->triangle_count < INT32_MAX / 3;
}

static cutis_result put(voxel_run *run, int which, const void *data, uint64_t size)
{
    cutis_result result = cutis_buffer_create(run->device, size ? size : 4, &run->buffers[which]);
    if (result == CUTIS_OK && size && data)
        result = cutis_buffer_write(run->buffers[which], 0, data, size);
    return result;
}

static cutis_result clear(voxel_run *run, int which, uint64_t words)
{
    return fill_words_run(run->device, (uint32_t)words,
                          (fill_words_buffers){ .words = run->buffers[which] },
                          (fill_words_arguments){ .value = 0 });
}

static cutis_result upload(voxel_run *run)
{
    const cutis_handles_shape *shape = run->shape;
    cutis_result result = put(run, POSITIONS, shape->positions, 12ull * shape->vertex_count);
    if (result == CUTIS_OK)
        result = put(run, TRIANGLES, shape->triangles, 12ull * shape->triangle_count);
    if (result == CUTIS_OK) result = put(run, POINTS, shape->points, 4ull * shape->point_count);
    // Whole words, so that they can be cleared as such.
    const uint64_t words = (run->grid->dense_count + 3) / 4;
    if (result == CUTIS_OK) result = put(run, STATE, NULL, 4 * words);
    if (result == CUTIS_OK) result = put(run, FLAG, NULL, 4);
    return result == CUTIS_OK ? clear(run, STATE, words) : result;
}

static cutis_result mark(voxel_run *run)
{
    const cutis_handles_shape *shape = run->shape;
    const cutis_handles_grid *g = run->grid;
    const uint32_t parts = shape->triangle_count < FEW_TRIANGLES ? PARTS : 1;
    cutis_result result = CUTIS_OK;
    LAUNCH(surfaces, shape->triangle_count * parts, BUFFER(POSITIONS), BUFFER(TRIANGLES),
           BUFFER(STATE), INTEGER(parts), INTEGER(g->size[0]), INTEGER(g->size[1]),
           INTEGER(g->size[2]), NUMBER(g->origin[0]), NUMBER(g->origin[1]), NUMBER(g->origin[2]),
           NUMBER(g->step));
    LAUNCH(balls, shape->point_count, BUFFER(POSITIONS), BUFFER(POINTS), BUFFER(STATE),
           INTEGER(g->size[0]), INTEGER(g->size[1]), INTEGER(g->size[2]), NUMBER(g->origin[0]),
           NUMBER(g->origin[1]), NUMBER(g->origin[2]), NUMBER(g->step), NUMBER(run->radius));
    LAUNCH(corners, shape->vertex_count, BUFFER(POSITIONS), BUFFER(STATE), INTEGER(g->size[0]),
           INTEGER(g->size[1]), INTEGER(g->size[2]), NUMBER(g->origin[0]), NUMBER(g->origin[1]),
           NUMBER(g->origin[2]), NUMBER(g->step));
    return result;
}

// From a corner, which is padding, along all rows of each axis in turn.
static cutis_result flood(voxel_run *run)
{
    const uint32_t x = run->grid->size[0], y = run->grid->size[1], z = run->grid->size[2];
    const uint8_t outside = 2;
    cutis_result result = cutis_buffer_write(run->buffers[STATE], 0, &outside, 1);
    for (int32_t changed = 1; changed && result == CUTIS_OK;) {
        result = clear(run, FLAG, 1);
        for (int i = 0; i < FLOODS_A_LOOK; i++) {
            LAUNCH(flood, y * z, BUFFER(STATE), BUFFER(FLAG), INTEGER(x), INTEGER(1), INTEGER(y),
                   INTEGER(x), INTEGER(x * y));
            LAUNCH(flood, x * z, BUFFER(STATE), BUFFER(FLAG), INTEGER(y), INTEGER(x), INTEGER(x),
                   INTEGER(1), INTEGER(x * y));
            LAUNCH(flood, x * y, BUFFER(STATE), BUFFER(FLAG), INTEGER(z), INTEGER(x * y),
                   INTEGER(x), INTEGER(1), INTEGER(x));
        }
        if (result == CUTIS_OK)
            result = cutis_buffer_read(run->buffers[FLAG], 0, &changed, sizeof changed);
        if (result == CUTIS_OK) result = cutis_progress(run->device->context, "voxels", 0.5);
    }
    return result;
}

// Voxels of rows, then where each row's voxels begin. `first`: the same for tiles.
static cutis_result count_voxels(voxel_run *run, uint32_t *first)
{
    cutis_handles_grid *g = run->grid;
    uint32_t side[3];
    const size_t tiles = cutis_handles_tiles(g, side);
    const uint32_t rows = (uint32_t)(TILE_ROWS * tiles);
    uint32_t *before = cutis_alloc_array(run->device->context, (size_t)rows + 1, sizeof *before);
    if (!before) return cutis_alloc_result(run->device->context);
    cutis_result result = put(run, ROWS, NULL, 4 * cutis_compute_scan_words(rows));
    LAUNCH(rows, rows, BUFFER(STATE), BUFFER(ROWS), INTEGER(g->size[0]), INTEGER(g->size[1]),
           INTEGER(g->size[2]));
    if (result == CUTIS_OK) result = cutis_compute_scan(run->device, run->buffers[ROWS], rows);
    if (result == CUTIS_OK)
        result = cutis_buffer_read(run->buffers[ROWS], 0, before, 4ull * rows + 4);
    for (size_t t = 0; t <= tiles && result == CUTIS_OK; t++) first[t] = before[TILE_ROWS * t];
    if (result == CUTIS_OK) g->voxel_count = before[rows];
    cutis_free_array(run->device->context, before, (size_t)rows + 1, sizeof *before);
    return result;
}

static cutis_result number_voxels(voxel_run *run)
{
    cutis_handles_grid *g = run->grid;
    const uint64_t n = g->voxel_count;
    uint32_t side[3];
    const uint32_t rows = (uint32_t)(TILE_ROWS * cutis_handles_tiles(g, side));
    g->place = cutis_arena_alloc(run->arena, n, sizeof *g->place);
    g->neighbour = cutis_arena_alloc(run->arena, n, 6 * sizeof *g->neighbour);
    g->component = cutis_arena_alloc(run->arena, n, sizeof *g->component);
    if (!g->place || !g->neighbour || !g->component) return cutis_alloc_result(run->arena->context);
    cutis_result result = put(run, INDEX, NULL, 4ull * g->dense_count);
    if (result == CUTIS_OK) result = put(run, PLACE, NULL, 4 * n);
    if (result == CUTIS_OK) result = put(run, NEIGHBOUR, NULL, 24 * n);
    if (result == CUTIS_OK) result = put(run, PIECE, NULL, 4 * n);
    if (result == CUTIS_OK) result = put(run, PIECE_TO, NULL, 4 * n);
    LAUNCH(number, rows, BUFFER(STATE), BUFFER(ROWS), BUFFER(INDEX), BUFFER(PLACE),
           INTEGER(g->size[0]), INTEGER(g->size[1]), INTEGER(g->size[2]));
    LAUNCH(links, (uint32_t)n, BUFFER(INDEX), BUFFER(PLACE), BUFFER(NEIGHBOUR), BUFFER(PIECE),
           INTEGER(g->size[0]), INTEGER(g->size[0] * g->size[1]));
    if (result == CUTIS_OK)
        result = cutis_buffer_read(run->buffers[INDEX], 0, g->index, 4ull * g->dense_count);
    if (result == CUTIS_OK) result = cutis_buffer_read(run->buffers[PLACE], 0, g->place, 4 * n);
    if (result == CUTIS_OK)
        result = cutis_buffer_read(run->buffers[NEIGHBOUR], 0, g->neighbour, 24 * n);
    return result;
}

// Pieces, numbered by their first voxels.
static cutis_result number_pieces(voxel_run *run)
{
    cutis_handles_grid *g = run->grid;
    const uint32_t n = g->voxel_count;
    cutis_result result = CUTIS_OK;
    for (int32_t changed = 1; changed && result == CUTIS_OK;) {
        result = clear(run, FLAG, 1);
        for (int i = 0; i < PIECES_A_LOOK && result == CUTIS_OK; i++) {
            LAUNCH(pieces, n, BUFFER(NEIGHBOUR), BUFFER(PIECE), BUFFER(PIECE_TO), BUFFER(FLAG));
            cutis_buffer *other = run->buffers[PIECE];
            run->buffers[PIECE] = run->buffers[PIECE_TO];
            run->buffers[PIECE_TO] = other;
        }
        if (result == CUTIS_OK)
            result = cutis_buffer_read(run->buffers[FLAG], 0, &changed, sizeof changed);
        if (result == CUTIS_OK) result = cutis_progress(run->device->context, "voxels", 0.5);
    }
    if (result == CUTIS_OK) result = put(run, ROOTS, NULL, 4 * cutis_compute_scan_words(n));
    LAUNCH(roots, n, BUFFER(PIECE), BUFFER(ROOTS));
    if (result == CUTIS_OK) result = cutis_compute_scan(run->device, run->buffers[ROOTS], n);
    LAUNCH(names, n, BUFFER(PIECE), BUFFER(ROOTS), BUFFER(PIECE_TO));
    if (result == CUTIS_OK)
        result = cutis_buffer_read(run->buffers[PIECE_TO], 0, g->component, 4ull * n);
    if (result == CUTIS_OK)
        result = cutis_buffer_read(run->buffers[ROOTS], 4ull * n, &g->component_count, 4);
    return result;
}

cutis_result cutis_handles_grid_voxels(cutis_arena *arena, cutis_device *device,
                                       const cutis_handles_shape *shape, double radius,
                                       uint32_t *first, cutis_handles_grid *grid)
{
    voxel_run run = {
        .device = device, .shape = shape, .grid = grid, .arena = arena, .radius = radius
    };
    cutis_result result = upload(&run);
    if (result == CUTIS_OK) result = mark(&run);
    if (result == CUTIS_OK) result = flood(&run);
    if (result == CUTIS_OK) result = count_voxels(&run, first);
    if (result == CUTIS_OK) result = number_voxels(&run);
    if (result == CUTIS_OK) result = number_pieces(&run);
    for (int b = 0; b < BUFFERS; b++) cutis_buffer_destroy(run.buffers[b]);
    return result;
}
