// The nearest of some points, by a grid of cells with a few of them each. Invariant: ties are
// broken by number, so that the answer does not depend on the grid.
#include "fit/bake/solver.h"

#include <float.h>
#include <math.h>

#include "geometry/order.h"

// Cells along an axis at most, and points of a cell of a surface.
enum { MOST = 128, CELL = 4 };

static uint32_t cell_along(const cutis_bake_grid *grid, int axis, double x)
{
    const double c = floor((x - grid->low[axis]) / grid->cell);
    return c < 0 ? 0 : c >= grid->size[axis] ? grid->size[axis] - 1 : (uint32_t)c;
}

bool cutis_bake_grid_create(cutis_arena *arena, const double *positions, uint32_t count,
                            cutis_bake_grid *out)
{
    double high[3], longest = 0;
    *out = (cutis_bake_grid){ .count = count, .positions = positions };
    for (int k = 0; k < 3; k++) {
        out->low[k] = DBL_MAX, high[k] = -DBL_MAX;
        for (uint32_t i = 0; i < count; i++) {
            out->low[k] = fmin(out->low[k], positions[3 * (size_t)i + (size_t)k]);
            high[k] = fmax(high[k], positions[3 * (size_t)i + (size_t)k]);
        }
        longest = fmax(longest, high[k] - out->low[k]);
    }
    // A surface of n points has about sqrt(n / CELL) cells along it.
    double along = fmin(MOST, fmax(1, sqrt((double)count / CELL)));
    out->cell = longest > 0 ? longest / along : 1;
    for (int k = 0; k < 3; k++)
        out->size[k] = (uint32_t)fmin(MOST, floor((high[k] - out->low[k]) / out->cell) + 1);
    const size_t cells = (size_t)out->size[0] * out->size[1] * out->size[2];
    uint32_t *keys = cutis_arena_alloc(arena, count, sizeof *keys);
    out->first = cutis_arena_alloc(arena, cells + 1, sizeof *out->first);
    out->list = cutis_arena_alloc(arena, count, sizeof *out->list);
    if (!keys || !out->first || !out->list) return false;
    for (uint32_t i = 0; i < count; i++) {
        const double *p = positions + 3 * (size_t)i;
        keys[i] =
            (cell_along(out, 2, p[2]) * out->size[1] + cell_along(out, 1, p[1])) * out->size[0] +
            cell_along(out, 0, p[0]);
    }
    order_by_key(keys, count, cells, out->first, out->list);
    return true;
}

static uint32_t insert(uint32_t found, uint32_t wanted, uint32_t point, double square,
                       uint32_t *nearest, double *squares)
{
    uint32_t at = found;
    if (found == wanted) {
        if (square > squares[found - 1] ||
            (square == squares[found - 1] && point > nearest[found - 1]))
            return found;
        at = found - 1;
    }
    for (; at > 0 &&
           (square < squares[at - 1] || (square == squares[at - 1] && point < nearest[at - 1]));
         at--)
        squares[at] = squares[at - 1], nearest[at] = nearest[at - 1];
    squares[at] = square, nearest[at] = point;
    return found < wanted ? found + 1 : found;
}

uint32_t cutis_bake_grid_nearest(const cutis_bake_grid *grid, const double *at, uint32_t wanted,
                                 uint32_t *nearest, double *squares)
{
    uint32_t found = 0, centre[3];
    const uint32_t rings = grid->size[0] + grid->size[1] + grid->size[2];
    for (int k = 0; k < 3; k++) centre[k] = cell_along(grid, k, at[k]);
    for (uint32_t ring = 0; ring < rings; ring++) {
        // What lies in this ring is at least this far away.
        const double reach = ring > 0 ? (ring - 1) * grid->cell : 0;
        if (found == wanted && reach * reach > squares[found - 1]) break;
        uint32_t low[3], high[3];
        for (int k = 0; k < 3; k++) {
            low[k] = centre[k] > ring ? centre[k] - ring : 0;
            high[k] = centre[k] + ring < grid->size[k] ? centre[k] + ring : grid->size[k] - 1;
        }
        for (uint32_t z = low[2]; z <= high[2]; z++)
            for (uint32_t y = low[1]; y <= high[1]; y++)
                for (uint32_t x = low[0]; x <= high[0]; x++) {
                    const uint32_t dx = x > centre[0] ? x - centre[0] : centre[0] - x;
                    const uint32_t dy = y > centre[1] ? y - centre[1] : centre[1] - y;
                    const uint32_t dz = z > centre[2] ? z - centre[2] : centre[2] - z;
                    if (dx != ring && dy != ring && dz != ring) continue;
                    const size_t cell = ((size_t)z * grid->size[1] + y) * grid->size[0] + x;
                    for (uint32_t i = grid->first[cell]; i < grid->first[cell + 1]; i++) {
                        const double *p = grid->positions + 3 * (size_t)grid->list[i];
                        const double d[3] = { p[0] - at[0], p[1] - at[1], p[2] - at[2] };
                        found = insert(found, wanted, grid->list[i],
                                       d[0] * d[0] + d[1] * d[1] + d[2] * d[2], nearest, squares);
                    }
                }
    }
    return found;
}
