/// Voxels of a shape: conservative surface, balls around the points of a cloud, the flood of the
/// outside, and the numbers of voxels, neighbours and pieces. After item.h.
///
/// The arithmetic of src/fit/handles_grid.c, voxel for voxel. Several items may mark one voxel:
/// they all write the same byte. A flood item owns a row of voxels, so it reads what nobody else
/// writes.
#ifndef CUTIS_KERNEL_HANDLES_GRID_H
#define CUTIS_KERNEL_HANDLES_GRID_H

#define HANDLES_EMPTY   0
#define HANDLES_SURFACE 1
#define HANDLES_OUTSIDE 2
#define HANDLES_SLACK   1e-6 ///< voxels that overlap tests are too generous

FN int handles_floor(double x)
{
    int whole = (int)x;
    return (double)whole > x ? whole - 1 : whole;
}

FN double handles_least(double a, double b)
{
    return a < b ? a : b;
}
FN double handles_most(double a, double b)
{
    return a > b ? a : b;
}

/// Dense place of a voxel; -1 outside the grid.
FN INDEX handles_place(int x, int y, int z, int size_x, int size_y, int size_z)
{
    int there = x >= 0 && y >= 0 && z >= 0 && x < size_x && y < size_y && z < size_z;
    return there ? ((INDEX)z * size_y + y) * size_x + x : -1;
}

/// Voxels that a triangle touches. A triangle is `parts` items, each has some rows of its columns.
#if !defined(HANDLES_ONE) || defined(HANDLES_SURFACES)
OLD_ITEM_KERNEL cutis_handles_surfaces(GLOBAL const float *positions,
                                       GLOBAL const unsigned *triangles,
                                       GLOBAL unsigned char *state, int parts, int size_x,
                                       int size_y, int size_z, double ox, double oy, double oz,
                                       double step, ITEM_ARGS)
{
    OLD_BEGIN ITEM_BEGIN int part = item % parts, k;
    double p[3][3], u[3], w[3], n[3], bulk = 0.5 + HANDLES_SLACK;
    for (int e = 0; e < 3; e++) {
        INDEX vertex = 3 * (INDEX)triangles[3 * (INDEX)(item / parts) + e];
        p[e][0] = (positions[vertex] - ox) / step;
        p[e][1] = (positions[vertex + 1] - oy) / step;
        p[e][2] = (positions[vertex + 2] - oz) / step;
    }
    for (int c = 0; c < 3; c++) u[c] = p[1][c] - p[0][c], w[c] = p[2][c] - p[0][c];
    for (int c = 0; c < 3; c++) {
        int i = (c + 1) % 3, j = (c + 2) % 3;
        n[c] = u[i] * w[j] - u[j] * w[i];
    }
    k = MAGNITUDE(n[0]) >= MAGNITUDE(n[1]) ? 0 : 1;
    if (MAGNITUDE(n[2]) > MAGNITUDE(n[k])) k = 2;
    if (MAGNITUDE(n[k]) > 1e-12) {
        int i = (k + 1) % 3, j = (k + 2) % 3, low[3], high[3], cell[3];
        for (int c = 0; c < 3; c++) {
            double least = handles_least(p[0][c], handles_least(p[1][c], p[2][c]));
            double most = handles_most(p[0][c], handles_most(p[1][c], p[2][c]));
            low[c] = handles_floor(least - HANDLES_SLACK);
            high[c] = handles_floor(most + HANDLES_SLACK);
        }
        double slope =
            0.5 * (MAGNITUDE(n[i]) + MAGNITUDE(n[j])) / MAGNITUDE(n[k]) + 2 * HANDLES_SLACK;
        for (cell[j] = low[j] + part; cell[j] <= high[j]; cell[j] += parts)
            for (cell[i] = low[i]; cell[i] <= high[i]; cell[i]++) {
                double depth = p[0][k] - (n[i] * ((double)cell[i] + 0.5 - p[0][i]) +
                                          n[j] * ((double)cell[j] + 0.5 - p[0][j])) /
                                             n[k];
                int first = handles_floor(depth - slope), last = handles_floor(depth + slope);
                if (first < low[k]) first = low[k];
                if (last > high[k]) last = high[k];
                for (cell[k] = first; cell[k] <= last; cell[k]++) {
                    double q[3][3];
                    int touches = 1;
                    for (int e = 0; e < 3; e++)
                        for (int c = 0; c < 3; c++) q[e][c] = p[e][c] - ((double)cell[c] + 0.5);
                    for (int c = 0; c < 3; c++) {
                        double least = handles_least(q[0][c], handles_least(q[1][c], q[2][c]));
                        double most = handles_most(q[0][c], handles_most(q[1][c], q[2][c]));
                        if (least > bulk || most < -bulk) touches = 0;
                    }
                    for (int e = 0; e < 3 && touches; e++) {
                        int b = (e + 1) % 3, o = (e + 2) % 3;
                        for (int c = 0; c < 3; c++) {
                            int f = (c + 1) % 3, g = (c + 2) % 3;
                            double ef = q[b][f] - q[e][f], eg = q[b][g] - q[e][g];
                            double one = ef * q[e][g] - eg * q[e][f];
                            double two = ef * q[o][g] - eg * q[o][f];
                            double reach = bulk * (MAGNITUDE(ef) + MAGNITUDE(eg));
                            if (handles_least(one, two) > reach || handles_most(one, two) < -reach)
                                touches = 0;
                        }
                    }
                    INDEX place = handles_place(cell[0], cell[1], cell[2], size_x, size_y, size_z);
                    if (touches && place >= 0) AGREE(state[place], HANDLES_SURFACE);
                }
            }
    } else {
        // A triangle without area: its edges, finely sampled.
        for (int e = 0; e < 3; e++) {
            int b = (e + 1) % 3;
            double x = p[b][0] - p[e][0], y = p[b][1] - p[e][1], z = p[b][2] - p[e][2];
            double length = 4 * ROOT(x * x + y * y + z * z);
            int count = (int)length;
            count += (double)count < length ? 2 : 1;
            for (int i = part; i <= count; i += parts) {
                double t = (double)i / count;
                INDEX place =
                    handles_place(handles_floor(p[e][0] + t * x), handles_floor(p[e][1] + t * y),
                                  handles_floor(p[e][2] + t * z), size_x, size_y, size_z);
                if (place >= 0) AGREE(state[place], HANDLES_SURFACE);
            }
        }
    }
    ITEM_END
}
#endif

/// The voxel of each vertex.
#if !defined(HANDLES_ONE) || defined(HANDLES_CORNERS)
OLD_ITEM_KERNEL cutis_handles_corners(GLOBAL const float *positions, GLOBAL unsigned char *state,
                                      int size_x, int size_y, int size_z, double ox, double oy,
                                      double oz, double step, ITEM_ARGS)
{
    OLD_BEGIN ITEM_BEGIN INDEX place = handles_place(
        handles_floor((positions[3 * (INDEX)item] - ox) / step),
        handles_floor((positions[3 * (INDEX)item + 1] - oy) / step),
        handles_floor((positions[3 * (INDEX)item + 2] - oz) / step), size_x, size_y, size_z);
    if (place >= 0) AGREE(state[place], HANDLES_SURFACE);
    ITEM_END
}
#endif

/// Voxels whose centres are within `radius` voxels of a point of a cloud.
#if !defined(HANDLES_ONE) || defined(HANDLES_BALLS)
OLD_ITEM_KERNEL cutis_handles_balls(GLOBAL const float *positions, GLOBAL const unsigned *points,
                                    GLOBAL unsigned char *state, int size_x, int size_y, int size_z,
                                    double ox, double oy, double oz, double step, double radius,
                                    ITEM_ARGS)
{
    OLD_BEGIN ITEM_BEGIN INDEX vertex = 3 * (INDEX)points[item];
    double x = (positions[vertex] - ox) / step, y = (positions[vertex + 1] - oy) / step;
    double z = (positions[vertex + 2] - oz) / step;
    for (int k = handles_floor(z - radius); k <= handles_floor(z + radius); k++)
        for (int j = handles_floor(y - radius); j <= handles_floor(y + radius); j++)
            for (int i = handles_floor(x - radius); i <= handles_floor(x + radius); i++) {
                double square = ((double)i + 0.5 - x) * ((double)i + 0.5 - x);
                square += ((double)j + 0.5 - y) * ((double)j + 0.5 - y);
                square += ((double)k + 0.5 - z) * ((double)k + 0.5 - z);
                INDEX place = handles_place(i, j, k, size_x, size_y, size_z);
                if (square <= radius * radius && place >= 0) AGREE(state[place], HANDLES_SURFACE);
            }
    ITEM_END
}
#endif

/// The outside spreads along rows of one axis, both ways: item is a row of `length` voxels `stride`
/// apart; rows begin at item / inner * outer_stride + item % inner * inner_stride.
#if !defined(HANDLES_ONE) || defined(HANDLES_FLOOD)
OLD_ITEM_KERNEL cutis_handles_flood(GLOBAL unsigned char *state, GLOBAL int *changed, int length,
                                    int stride, int inner, int inner_stride, int outer_stride,
                                    ITEM_ARGS)
{
    OLD_BEGIN ITEM_BEGIN INDEX at =
        (INDEX)(item / inner) * outer_stride + (INDEX)(item % inner) * inner_stride;
    int wet = 0, news = 0;
    for (int i = 0; i < length; i++, at += stride) {
        int own = state[at];
        if (own == HANDLES_EMPTY && wet) state[at] = HANDLES_OUTSIDE, news = 1;
        wet = own == HANDLES_OUTSIDE || (own == HANDLES_EMPTY && wet);
    }
    wet = 0;
    for (int i = 0; i < length; i++) {
        at -= stride;
        int own = state[at];
        if (own == HANDLES_EMPTY && wet) state[at] = HANDLES_OUTSIDE, news = 1;
        wet = own == HANDLES_OUTSIDE || (own == HANDLES_EMPTY && wet);
    }
    if (news) RAISE(changed[0]);
    ITEM_END
}
#endif

// Numbers. Voxels are numbered tile by tile (8 x 8 x 8, x fastest), and so within a tile. A row is
// eight places along x; the 64 rows of a tile stand together.
// -------------------------------------------------------------------------------------------

/// Place of a row's first voxel and how many of its voxels the grid has.
#define HANDLES_ROW(item)                                                                          \
    int tiles_x = (size_x + 7) / 8, tiles_y = (size_y + 7) / 8, tile = (item) / 64;                \
    int x = tile % tiles_x * 8, y = tile / tiles_x % tiles_y * 8 + (item) % 8;                     \
    int z = tile / tiles_x / tiles_y * 8 + (item) / 8 % 8, there = y < size_y && z < size_z;       \
    INDEX place = ((INDEX)z * size_y + y) * size_x + x;                                            \
    int length = !there ? 0 : size_x - x < 8 ? size_x - x : 8

/// Voxels of each row.
#if !defined(HANDLES_ONE) || defined(HANDLES_ROWS)
OLD_ITEM_KERNEL cutis_handles_rows(GLOBAL const unsigned char *state, GLOBAL int *count, int size_x,
                                   int size_y, int size_z, ITEM_ARGS)
{
    OLD_BEGIN ITEM_BEGIN HANDLES_ROW(item);
    int used = 0;
    for (int i = 0; i < length; i++) used += state[place + i] != HANDLES_OUTSIDE;
    count[item] = used;
    ITEM_END
}
#endif

/// `first`: voxels before each row.
#if !defined(HANDLES_ONE) || defined(HANDLES_NUMBER)
OLD_ITEM_KERNEL cutis_handles_number(GLOBAL const unsigned char *state, GLOBAL const int *first,
                                     GLOBAL unsigned *index, GLOBAL unsigned *places, int size_x,
                                     int size_y, int size_z, ITEM_ARGS)
{
    OLD_BEGIN ITEM_BEGIN HANDLES_ROW(item);
    int used = first[item];
    for (int i = 0; i < length; i++) {
        int inside = state[place + i] != HANDLES_OUTSIDE;
        index[place + i] = inside ? (unsigned)used : 0xffffffffu;
        if (inside) places[used++] = (unsigned)(place + i);
    }
    ITEM_END
}
#endif

/// Neighbours of each voxel, and itself as its piece so far. The outermost layers are never in the
/// domain, so all six places exist.
#if !defined(HANDLES_ONE) || defined(HANDLES_LINKS)
OLD_ITEM_KERNEL cutis_handles_links(GLOBAL const unsigned *index, GLOBAL const unsigned *places,
                                    GLOBAL unsigned *neighbour, GLOBAL unsigned *piece, int row,
                                    int plane, ITEM_ARGS)
{
    OLD_BEGIN ITEM_BEGIN INDEX at = places[item], to = 6 * (INDEX)item;
    neighbour[to] = index[at - 1];
    neighbour[to + 1] = index[at + 1];
    neighbour[to + 2] = index[at - row];
    neighbour[to + 3] = index[at + row];
    neighbour[to + 4] = index[at - plane];
    neighbour[to + 5] = index[at + plane];
    piece[item] = (unsigned)item;
    ITEM_END
}
#endif

/// The least voxel that a voxel, its neighbours, or that one know of. What it tells is always of
/// the same piece and never above oneself; when nobody hears news it is the first voxel of the
/// piece.
#if !defined(HANDLES_ONE) || defined(HANDLES_PIECES)
OLD_ITEM_KERNEL cutis_handles_pieces(GLOBAL const unsigned *neighbour, GLOBAL const unsigned *from,
                                     GLOBAL unsigned *to, GLOBAL int *changed, ITEM_ARGS)
{
    OLD_BEGIN ITEM_BEGIN unsigned own = from[item], least = own;
    for (int d = 0; d < 6; d++) {
        unsigned m = neighbour[6 * (INDEX)item + d];
        unsigned other = m == 0xffffffffu ? own : from[m];
        least = other < least ? other : least;
    }
    unsigned known = from[least];
    least = known < least ? known : least;
    to[item] = least;
    if (least != own) RAISE(changed[0]);
    ITEM_END
}
#endif

#if !defined(HANDLES_ONE) || defined(HANDLES_ROOTS)
OLD_ITEM_KERNEL cutis_handles_roots(GLOBAL const unsigned *piece, GLOBAL int *root, ITEM_ARGS)
{
    OLD_BEGIN ITEM_BEGIN root[item] = piece[item] == (unsigned)item;
    ITEM_END
}
#endif

/// `root`: first voxels of pieces before each voxel.
#if !defined(HANDLES_ONE) || defined(HANDLES_NAMES)
OLD_ITEM_KERNEL cutis_handles_names(GLOBAL const unsigned *piece, GLOBAL const int *root,
                                    GLOBAL unsigned *component, ITEM_ARGS)
{
    OLD_BEGIN ITEM_BEGIN component[item] = (unsigned)root[piece[item]];
    ITEM_END
}
#endif

#endif
