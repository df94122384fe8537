/// Rows of cells are gone through one by one; lines are taken a little wider than they are, so that
/// no two that cross miss each other by rounding.
#include "measure/unite_grid.h"

#include <math.h>

static const double WIDER = 1e-9; // of the grid: far above rounding, far below a cell

bool unite_grid_open(unite_grid *grid, cutis_arena *arena, const double *points, uint32_t count)
{
    double high[2] = { points[0], points[1] };
    *grid = (unite_grid){ .arena = arena, .points = points, .low = { points[0], points[1] } };
    for (size_t i = 0; i < 2 * (size_t)count; i++) {
        grid->low[i % 2] = fmin(grid->low[i % 2], points[i]);
        high[i % 2] = fmax(high[i % 2], points[i]);
    }
    grid->size = fmax(high[0] - grid->low[0], high[1] - grid->low[1]);
    if (!(grid->size > 0)) return true;
    grid->side = (uint32_t)sqrt((double)count) + 1;
    grid->heads = cutis_arena_zero(arena, grid->side, grid->side * sizeof *grid->heads);
    return grid->heads != NULL;
}

static uint32_t cell_of(const unite_grid *grid, double place)
{
    return (uint32_t)fmin(fmax(floor(place * grid->side), 0), grid->side - 1.0);
}

/// A line in parts of the grid, upwards.
typedef struct line {
    double p[2], q[2];
    uint32_t row, last;
} line;

static line line_of(const unite_grid *grid, uint32_t a, uint32_t b)
{
    const double *points = grid->points;
    if (points[2 * (size_t)a + 1] > points[2 * (size_t)b + 1]) {
        const uint32_t swap = a;
        a = b, b = swap;
    }
    line l;
    for (int k = 0; k < 2; k++) {
        l.p[k] = (points[2 * (size_t)a + k] - grid->low[k]) / grid->size;
        l.q[k] = (points[2 * (size_t)b + k] - grid->low[k]) / grid->size;
    }
    l.row = cell_of(grid, l.p[1] - WIDER), l.last = cell_of(grid, l.q[1] + WIDER);
    return l;
}

/// The cells of a row that a line passes, *last among them.
static void cells_of_row(const unite_grid *grid, const line *l, uint32_t row, uint32_t *first,
                         uint32_t *last)
{
    const double rise = l->q[1] - l->p[1], way = l->q[0] - l->p[0];
    double from = 0, to = 1;
    if (rise > 0) {
        from = fmax(((double)row / grid->side - WIDER - l->p[1]) / rise, 0);
        to = fmin(((row + 1.0) / grid->side + WIDER - l->p[1]) / rise, 1);
    }
    const double x = l->p[0] + from * way, y = l->p[0] + to * way;
    *first = cell_of(grid, fmin(x, y) - WIDER), *last = cell_of(grid, fmax(x, y) + WIDER);
}

bool unite_grid_add(unite_grid *grid, uint32_t a, uint32_t b, uint32_t number)
{
    line l = line_of(grid, a, b);
    for (uint32_t first, last; l.row <= l.last; l.row++) {
        cells_of_row(grid, &l, l.row, &first, &last);
        for (; first <= last; first++) {
            uint32_t *head = &grid->heads[l.row * (size_t)grid->side + first];
            if (!cutis_arena_grow(grid->arena, &grid->links, &grid->link_capacity,
                                  grid->link_count + 1, sizeof *grid->links))
                return false;
            grid->links[grid->link_count++] = (unite_link){ number, *head };
            *head = (uint32_t)grid->link_count;
        }
    }
    return true;
}

bool unite_grid_any(const unite_grid *grid, uint32_t a, uint32_t b,
                    bool (*crosses)(const void *user, uint32_t a, uint32_t b, uint32_t line),
                    const void *user)
{
    line l = line_of(grid, a, b);
    for (uint32_t first, last; l.row <= l.last; l.row++) {
        cells_of_row(grid, &l, l.row, &first, &last);
        for (; first <= last; first++)
            for (uint32_t i = grid->heads[l.row * (size_t)grid->side + first]; i;
                 i = grid->links[i - 1].next)
                if (crosses(user, a, b, grid->links[i - 1].line)) return true;
    }
    return false;
}
