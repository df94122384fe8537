/// Voxels of a shape: conservative surface, balls around the points of a cloud, the flood of the
/// outside, and the numbers of voxels, neighbours and pieces.
///
/// Several items may mark one voxel: they all write the same byte. A flood item owns its rows of
/// voxels, so it reads what no other item writes.
#ifndef CUTIS_KERNEL_HANDLES_GRID_H
#define CUTIS_KERNEL_HANDLES_GRID_H

#include "handles.h"

/// Overlap tests are this much too generous, in voxels: a face that lies on a voxel border counts
/// for both sides, whichever way the arithmetic rounds, so that mirrored shapes get mirrored
/// voxels.
#define HANDLES_SLACK 1e-6
#define HANDLES_HALF  (0.5 + HANDLES_SLACK)

FN double handles_least(double a, double b)
{
    return a < b ? a : b;
}

FN double handles_most(double a, double b)
{
    return a > b ? a : b;
}

FN void handles_mark(GLOBAL unsigned char *state, INDEX place)
{
    if (place >= 0) AGREE(state[place], HANDLES_SURFACE);
}

/// Whether an edge (u, v), a corner of it and the corner opposite it, all along two axes, leave a
/// voxel around 0 on one side.
FN int handles_edge_apart(double u, double v, double a, double b, double c, double d)
{
    double one = u * b - v * a, two = u * d - v * c;
    double reach = HANDLES_HALF * (MAGNITUDE(u) + MAGNITUDE(v));
    return handles_least(one, two) > reach || handles_most(one, two) < -reach;
}

/// An edge from p to q, r opposite it, and the voxel's three axes.
FN int handles_edge_touches(double *p, double *q, double *r)
{
    double x = q[0] - p[0], y = q[1] - p[1], z = q[2] - p[2];
    return !handles_edge_apart(y, z, p[1], p[2], r[1], r[2]) &&
           !handles_edge_apart(z, x, p[2], p[0], r[2], r[0]) &&
           !handles_edge_apart(x, y, p[0], p[1], r[0], r[1]);
}

/// Whether a triangle touches a voxel that its plane goes through: a corner in it, or the nine
/// separating axes of its edges and the voxel's axes.
FN int handles_touches(double (*p)[3], int *cell)
{
    double q[3][3];
    int within[3] = { 1, 1, 1 };
    for (int c = 0; c < 3; c++) {
        double centre = (double)cell[c] + 0.5;
        for (int e = 0; e < 3; e++) {
            q[e][c] = p[e][c] - centre;
            within[e] &= MAGNITUDE(q[e][c]) <= 0.5;
        }
        if (handles_least(q[0][c], handles_least(q[1][c], q[2][c])) > HANDLES_HALF ||
            handles_most(q[0][c], handles_most(q[1][c], q[2][c])) < -HANDLES_HALF)
            return 0;
    }
    if (within[0] | within[1] | within[2]) return 1;
    return handles_edge_touches(q[0], q[1], q[2]) && handles_edge_touches(q[1], q[2], q[0]) &&
           handles_edge_touches(q[2], q[0], q[1]);
}

/// Columns along the axis that a triangle faces most: there its plane crosses few voxels of each,
/// so a large slanted triangle costs its area, not its box. `n`: its normal, `slope`: half of how
/// far the plane goes within one.
STRUCT(handles_columns)
{
    int i, j, k, low[3], high[3];
    double n[3], slope;
};

/// Columns of a triangle; k < 0: it has no area.
FN handles_columns handles_columns_of(double (*p)[3])
{
    handles_columns out;
    double u[3], w[3];
    for (int c = 0; c < 3; c++) u[c] = p[1][c] - p[0][c], w[c] = p[2][c] - p[0][c];
    for (int c = 0; c < 3; c++) {
        int i = (c + 1) % 3, j = (c + 2) % 3;
        out.n[c] = u[i] * w[j] - u[j] * w[i];
        out.low[c] =
            handles_floor(handles_least(p[0][c], handles_least(p[1][c], p[2][c])) - HANDLES_SLACK);
        out.high[c] =
            handles_floor(handles_most(p[0][c], handles_most(p[1][c], p[2][c])) + HANDLES_SLACK);
    }
    int k = MAGNITUDE(out.n[0]) >= MAGNITUDE(out.n[1]) ? 0 : 1;
    if (MAGNITUDE(out.n[2]) > MAGNITUDE(out.n[k])) k = 2;
    out.i = (k + 1) % 3;
    out.j = (k + 2) % 3;
    out.k = MAGNITUDE(out.n[k]) > 1e-12 ? k : -1;
    out.slope = out.k < 0 ? 0
                          : 0.5 * (MAGNITUDE(out.n[out.i]) + MAGNITUDE(out.n[out.j])) /
                                    MAGNITUDE(out.n[k]) +
                                2 * HANDLES_SLACK;
    return out;
}

/// Whether a triangle is inside one voxel, of.low: it touches that one, without a look.
FN int handles_within_one(handles_columns *of)
{
    return of->low[0] == of->high[0] && of->low[1] == of->high[1] && of->low[2] == of->high[2];
}

/// The voxels of column (cell[i], cell[j]) that the triangle may touch: first and last.
FN void handles_column(handles_columns *of, double (*p)[3], int *cell, int *first, int *last)
{
    int i = of->i, j = of->j, k = of->k;
    double depth = p[0][k] - (of->n[i] * ((double)cell[i] + 0.5 - p[0][i]) +
                              of->n[j] * ((double)cell[j] + 0.5 - p[0][j])) /
                                 of->n[k];
    *first = handles_floor(depth - of->slope);
    *last = handles_floor(depth + of->slope);
    if (*first < of->low[k]) *first = of->low[k];
    if (*last > of->high[k]) *last = of->high[k];
}

FN void handles_mark_columns(GLOBAL unsigned char *state, handles_grid grid, double (*p)[3],
                             handles_columns *of, int part, int parts)
{
    int cell[3], first, last;
    for (cell[of->j] = of->low[of->j] + part; cell[of->j] <= of->high[of->j]; cell[of->j] += parts)
        for (cell[of->i] = of->low[of->i]; cell[of->i] <= of->high[of->i]; cell[of->i]++) {
            handles_column(of, p, cell, &first, &last);
            for (cell[of->k] = first; cell[of->k] <= last; cell[of->k]++)
                if (handles_touches(p, cell))
                    handles_mark(state, handles_place(grid, cell[0], cell[1], cell[2]));
        }
}

/// A triangle without area: its edges, finely sampled.
FN void handles_mark_edges(GLOBAL unsigned char *state, handles_grid grid, double (*p)[3], int part,
                           int parts)
{
    for (int e = 0; e < 3; e++) {
        int b = (e + 1) % 3;
        double x = p[b][0] - p[e][0], y = p[b][1] - p[e][1], z = p[b][2] - p[e][2];
        double length = 4 * ROOT(x * x + y * y + z * z);
        int count = (int)length;
        count += (double)count < length ? 2 : 1;
        for (int i = part; i <= count; i += parts) {
            double t = (double)i / count;
            handles_mark(state,
                         handles_place_in(grid, handles_make(p[e][0] + t * x, p[e][1] + t * y,
                                                             p[e][2] + t * z)));
        }
    }
}

ITEM_KERNEL(handles_surfaces, HANDLES_SURFACES_BUFFERS)
{
    ITEM_BEGIN
    int part = item % given.parts;
    double p[3][3];
    for (int e = 0; e < 3; e++) {
        INDEX vertex = 3 * (INDEX)triangles[3 * (INDEX)(item / given.parts) + e];
        for (int c = 0; c < 3; c++)
            p[e][c] = (positions[vertex + c] - given.grid.origin[c]) / given.grid.step;
    }
    handles_columns of = handles_columns_of(p);
    if (of.k >= 0 && handles_within_one(&of))
        handles_mark(state, handles_place(given.grid, of.low[0], of.low[1], of.low[2]));
    else if (of.k >= 0)
        handles_mark_columns(state, given.grid, p, &of, part, given.parts);
    else
        handles_mark_edges(state, given.grid, p, part, given.parts);
    ITEM_END
}

ITEM_KERNEL(handles_corners, HANDLES_CORNERS_BUFFERS)
{
    ITEM_BEGIN
    INDEX at = 3 * (INDEX)item;
    handles_mark(
        state, handles_place_in(given.grid, handles_in_grid(given.grid, positions[at],
                                                            positions[at + 1], positions[at + 2])));
    ITEM_END
}

ITEM_KERNEL(handles_balls, HANDLES_BALLS_BUFFERS)
{
    ITEM_BEGIN
    INDEX at = 3 * (INDEX)points[item];
    double radius = given.radius;
    handles_point p =
        handles_in_grid(given.grid, positions[at], positions[at + 1], positions[at + 2]);
    for (int k = handles_floor(p.z - radius); k <= handles_floor(p.z + radius); k++)
        for (int j = handles_floor(p.y - radius); j <= handles_floor(p.y + radius); j++)
            for (int i = handles_floor(p.x - radius); i <= handles_floor(p.x + radius); i++) {
                double x = (double)i + 0.5 - p.x, y = (double)j + 0.5 - p.y;
                double z = (double)k + 0.5 - p.z;
                if (x * x + y * y + z * z <= radius * radius)
                    handles_mark(state, handles_place(given.grid, i, j, k));
            }
    ITEM_END
}

FN unsigned char handles_soak(unsigned char own, unsigned char before)
{
    return own == HANDLES_EMPTY && before == HANDLES_OUTSIDE ? HANDLES_OUTSIDE : own;
}

ITEM_KERNEL(handles_flood, HANDLES_FLOOD_BUFFERS)
{
    ITEM_BEGIN
    const int groups = given.inner / given.width;
    INDEX at = (INDEX)(item / groups) * given.outer_stride +
               (INDEX)(item % groups) * given.width * given.inner_stride;
    unsigned char changes = 0;
    for (int pass = 0; pass < 2; pass++) { // there and back
        const INDEX step = pass ? -given.stride : given.stride;
        unsigned char before = state[at];
        for (int i = 1; i < given.length; i++) {
            at += step;
            if (given.width == 1) {
                const unsigned char own = state[at];
                before = handles_soak(own, before);
                if (before != own) state[at] = before, changes = 1;
            } else {
                for (int w = 0; w < given.width; w++) {
                    const unsigned char own = state[at + w];
                    const unsigned char now = handles_soak(own, state[at + w - step]);
                    state[at + w] = now;
                    changes |= now ^ own;
                }
            }
        }
    }
    if (changes) RAISE(flag[0]);
    ITEM_END
}

// Numbers. Voxels are numbered tile by tile (8 x 8 x 8, x fastest), and so within a tile. A row is
// eight places along x; the 64 rows of a tile stand together.

/// Place of a row's first voxel and how many of its voxels the grid has.
STRUCT(handles_row)
{
    INDEX place;
    int length;
};

FN handles_row handles_row_of(handles_grid grid, int row)
{
    handles_row out;
    int tiles_x = (grid.size[0] + 7) / 8, tiles_y = (grid.size[1] + 7) / 8, tile = row / 64;
    int x = tile % tiles_x * 8, y = tile / tiles_x % tiles_y * 8 + row % 8;
    int z = tile / tiles_x / tiles_y * 8 + row / 8 % 8, left = grid.size[0] - x;
    out.place = ((INDEX)z * grid.size[1] + y) * grid.size[0] + x;
    out.length = y < grid.size[1] && z < grid.size[2] ? (left < 8 ? left : 8) : 0;
    return out;
}

ITEM_KERNEL(handles_rows, HANDLES_ROWS_BUFFERS)
{
    ITEM_BEGIN
    handles_row row = handles_row_of(given.grid, item);
    int used = 0;
    for (int i = 0; i < row.length; i++) used += state[row.place + i] != HANDLES_OUTSIDE;
    rows[item] = used;
    ITEM_END
}

ITEM_KERNEL(handles_number, HANDLES_NUMBER_BUFFERS)
{
    ITEM_BEGIN
    handles_row row = handles_row_of(given.grid, item);
    int used = rows[item];
    for (int i = 0; i < row.length; i++) {
        int inside = state[row.place + i] != HANDLES_OUTSIDE;
        index[row.place + i] = inside ? (unsigned)used : HANDLES_NONE;
        if (inside) place[used++] = (unsigned)(row.place + i);
    }
    ITEM_END
}

/// The outermost layers are never in the domain, so all six places exist.
ITEM_KERNEL(handles_links, HANDLES_LINKS_BUFFERS)
{
    ITEM_BEGIN
    INDEX at = place[item], to = 6 * (INDEX)item, row = given.grid.size[0];
    INDEX plane = row * given.grid.size[1];
    neighbour[to] = index[at - 1];
    neighbour[to + 1] = index[at + 1];
    neighbour[to + 2] = index[at - row];
    neighbour[to + 3] = index[at + row];
    neighbour[to + 4] = index[at - plane];
    neighbour[to + 5] = index[at + plane];
    piece[item] = (unsigned)item;
    ITEM_END
}

/// What a voxel knows is always of the same piece and never above itself; when nothing changes any
/// more, it is the first voxel of the piece.
ITEM_KERNEL(handles_pieces, HANDLES_PIECES_BUFFERS)
{
    ITEM_BEGIN
    unsigned own = piece[item], least = own;
    for (int d = 0; d < 6; d++) {
        unsigned m = neighbour[6 * (INDEX)item + d];
        unsigned other = m == HANDLES_NONE ? own : piece[m];
        least = other < least ? other : least;
    }
    unsigned known = piece[least];
    least = known < least ? known : least;
    other_piece[item] = least;
    if (least != own) RAISE(flag[0]);
    ITEM_END
}

ITEM_KERNEL(handles_roots, HANDLES_ROOTS_BUFFERS)
{
    ITEM_BEGIN
    roots[item] = piece[item] == (unsigned)item;
    ITEM_END
}

ITEM_KERNEL(handles_names, HANDLES_NAMES_BUFFERS)
{
    ITEM_BEGIN
    component[item] = (unsigned)roots[piece[item]];
    ITEM_END
}

#endif
