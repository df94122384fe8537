/// Handle weights: what one voxel, point or node needs. Places of the grid, distances to segments
/// and line of sight, Godunov's step, falling conductances, B-spline taps, supports.
///
/// Functions only. The kernels of handles_*.h are written over them, and so is the C of src/fit
/// that does in order what GPUs do in sweeps: both have the same bits.
#ifndef CUTIS_KERNEL_HANDLES_H
#define CUTIS_KERNEL_HANDLES_H

#include "arguments.h"
#include "handles_arguments.h"
#include "item.h"

// Places ----------------------------------------------------------------------------------------

STRUCT(handles_cell)
{
    int x, y, z;
};

STRUCT(handles_point)
{
    double x, y, z;
};

FN handles_point handles_make(double x, double y, double z)
{
    handles_point p = { x, y, z };
    return p;
}

FN int handles_floor(double x)
{
    int whole = (int)x;
    return (double)whole > x ? whole - 1 : whole;
}

FN handles_cell handles_cell_of(unsigned place, int size_x, int size_y)
{
    handles_cell c;
    unsigned row = place / (unsigned)size_x;
    c.x = (int)(place - row * (unsigned)size_x);
    c.z = (int)(row / (unsigned)size_y);
    c.y = (int)row - c.z * size_y;
    return c;
}

/// Place of a voxel in the grid, x fastest; -1 outside it.
FN INDEX handles_place(handles_grid grid, int x, int y, int z)
{
    int there =
        x >= 0 && y >= 0 && z >= 0 && x < grid.size[0] && y < grid.size[1] && z < grid.size[2];
    return there ? ((INDEX)z * grid.size[1] + y) * grid.size[0] + x : -1;
}

/// A point in voxels from the grid's low corner.
FN handles_point handles_in_grid(handles_grid grid, double x, double y, double z)
{
    return handles_make((x - grid.origin[0]) / grid.step, (y - grid.origin[1]) / grid.step,
                        (z - grid.origin[2]) / grid.step);
}

/// Place of the voxel that such a point is in; -1 outside the grid.
FN INDEX handles_place_in(handles_grid grid, handles_point p)
{
    int there = p.x >= 0 && p.y >= 0 && p.z >= 0 && p.x < grid.size[0] && p.y < grid.size[1] &&
                p.z < grid.size[2];
    return there ? ((INDEX)(int)p.z * grid.size[1] + (int)p.y) * grid.size[0] + (int)p.x : -1;
}

FN handles_point handles_centre(handles_grid grid, handles_cell c)
{
    return handles_make(grid.origin[0] + (c.x + 0.5) * grid.step,
                        grid.origin[1] + (c.y + 0.5) * grid.step,
                        grid.origin[2] + (c.z + 0.5) * grid.step);
}

FN handles_point handles_centre_at(handles_grid grid, unsigned place)
{
    return handles_centre(grid, handles_cell_of(place, grid.size[0], grid.size[1]));
}

// Distances -------------------------------------------------------------------------------------

/// The point of a segment that is nearest to another.
FN handles_point handles_nearest(handles_point a, handles_point b, handles_point p)
{
    double dx = b.x - a.x, dy = b.y - a.y, dz = b.z - a.z;
    double square = dx * dx + dy * dy + dz * dz;
    double along = (p.x - a.x) * dx + (p.y - a.y) * dy + (p.z - a.z) * dz;
    double t = square > 0 ? along / square : 0;
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    return handles_make((1 - t) * a.x + t * b.x, (1 - t) * a.y + t * b.y, (1 - t) * a.z + t * b.z);
}

FN double handles_length(handles_point from, handles_point to)
{
    double x = to.x - from.x, y = to.y - from.y, z = to.z - from.z;
    return ROOT(x * x + y * y + z * z);
}

/// All voxels on the straight way from a voxel's centre to a point are in the domain.
FN int handles_sees(GLOBAL const unsigned *index, handles_grid grid, handles_point from,
                    handles_point to)
{
    double x = to.x - from.x, y = to.y - from.y, z = to.z - from.z;
    double length = ROOT(x * x + y * y + z * z) / (0.5 * grid.step);
    int count = (int)length, sees = 1;
    if ((double)count < length) count++;
    for (int i = 1; i <= count && sees; i++) {
        INDEX place =
            handles_place_in(grid, handles_in_grid(grid, from.x + x * i / count,
                                                   from.y + y * i / count, from.z + z * i / count));
        sees = place >= 0 && index[place] != HANDLES_NONE;
    }
    return sees;
}

/// Whether a way is shorter than the one known; of two as long, that of the lower label is taken,
/// so that it does not matter who comes first.
FN int handles_nearer(float distance, unsigned label, float known, unsigned known_label)
{
    return distance < known || (distance == known && label < known_label);
}

/// Godunov's first-order solution of |grad d| = 1 from the least neighbours along each axis, of
/// which some may be HANDLES_INFINITY.
FN float handles_godunov(float x, float y, float z, double h)
{
    float low = x < y ? x : y, other = x < y ? y : x;
    float least = low < z ? low : z, rest = low < z ? z : low;
    double a = least, b = other < rest ? other : rest, c = other < rest ? rest : other;
    double d = a + h;
    if (d > b) {
        d = (a + b + ROOT(2 * h * h - (a - b) * (a - b))) / 2;
        if (d > c) {
            double sum = a + b + c, squares = a * a + b * b + c * c;
            double inner = sum * sum - 3 * (squares - h * h);
            d = (sum + ROOT(inner > 0 ? inner : 0)) / 3;
        }
    }
    return (float)d;
}

/// How a conductance falls with the distance to a bar or a point.
FN double handles_fall(double distance, double h, int bar)
{
    double ratio = (distance > h ? distance : h) / h;
    return bar ? 1 / ratio : 1 / (ratio * ratio);
}

// Supports --------------------------------------------------------------------------------------

/// A distance in parts of a radius, which may be infinite.
FN float handles_ratio(float distance, double radius)
{
    return distance < HANDLES_INFINITY ? (float)((double)distance / radius) : HANDLES_INFINITY;
}

/// (1 - t)^3 (1 + 3 t + 6 t^2) below 1, 0 above: C2 at both ends.
FN double handles_basis(double t)
{
    double u = 1 - t;
    return t < 1 ? u * u * u * (1 + 3 * t + 6 * t * t) : 0.0;
}

// Taps ------------------------------------------------------------------------------------------

#if defined(KERNEL_OPENCL)
#define HANDLES_WORD ulong
#else
#define HANDLES_WORD unsigned long long
#endif

/// Voxels that a cubic B-spline looks at from a point, in the order of their bits (x + 4 y + 16 z).
STRUCT(handles_taps)
{
    int count;
    unsigned voxel[64];
    double weight[64]; // > 0 but for points on voxel borders; not normalised
};

/// Weights of the four voxels along an axis, `x` of the way from the second to the third.
FN void handles_spline(double x, double *out)
{
    double y = 1 - x;
    out[0] = y * y * y / 6;
    out[1] = (3 * x * x * x - 6 * x * x + 4) / 6;
    out[2] = (3 * y * y * y - 6 * y * y + 4) / 6; // = (-3x^3 + 3x^2 + 3x + 1) / 6, mirror-exact
    out[3] = x * x * x / 6;
}

/// Voxels of a 4 x 4 x 4 block that `own` reaches by steps inside it.
FN HANDLES_WORD handles_reach(HANDLES_WORD own, HANDLES_WORD inside)
{
    HANDLES_WORD x0 = (HANDLES_WORD)0x11111111u << 32 | 0x11111111u;
    HANDLES_WORD y0 = (HANDLES_WORD)0x000f000fu << 32 | 0x000f000fu, reach = own, next = own;
    do {
        reach = next;
        next |= (reach & ~(x0 << 3)) << 1 | (reach & ~x0) >> 1;
        next |= (reach & ~(y0 << 12)) << 4 | (reach & ~y0) >> 4;
        next |= reach << 16 | reach >> 16;
        next &= inside;
    } while (next != reach);
    return reach;
}

/// The taps of a point in a domain voxel; `connected`: less those that its own voxel cannot reach
/// inside the block, so that limbs side by side do not mix. The domain keeps two voxels from the
/// grid's border, so the block is inside it, and places are positive: conversion is floor.
FN void handles_taps_at(GLOBAL const unsigned *index, handles_grid grid, handles_point point,
                        int connected, handles_taps *out)
{
    double wx[4], wy[4], wz[4];
    handles_point p = handles_in_grid(grid, point.x, point.y, point.z);
    int bx = (int)(p.x - 0.5), by = (int)(p.y - 0.5), bz = (int)(p.z - 0.5), used = 0;
    handles_spline(p.x - 0.5 - bx, wx);
    handles_spline(p.y - 0.5 - by, wy);
    handles_spline(p.z - 0.5 - bz, wz);
    INDEX corner = ((INDEX)(bz - 1) * grid.size[1] + (by - 1)) * grid.size[0] + (bx - 1);
    HANDLES_WORD inside = 0, own = 1;
    for (int r = 0; r < 16; r++) {
        INDEX row = corner + ((INDEX)(r >> 2) * grid.size[1] + (r & 3)) * grid.size[0];
        unsigned four = 0;
        for (int x = 0; x < 4; x++) four |= (unsigned)(index[row + x] != HANDLES_NONE) << x;
        inside |= (HANDLES_WORD)four << (4 * r);
    }
    own <<= ((int)p.x - bx + 1) + 4 * ((int)p.y - by + 1) + 16 * ((int)p.z - bz + 1);
    if (connected && ~inside) inside = handles_reach(own, inside);
    for (int r = 0; r < 16; r++) {
        INDEX row = corner + ((INDEX)(r >> 2) * grid.size[1] + (r & 3)) * grid.size[0];
        unsigned four = (unsigned)(inside >> (4 * r)) & 15;
        for (int x = 0; four && x < 4; x++)
            if (four >> x & 1) {
                out->voxel[used] = index[row + x];
                out->weight[used++] = wx[x] * wy[r & 3] * wz[r >> 2];
            }
    }
    out->count = used;
}

// Lanes -----------------------------------------------------------------------------------------

/// A kernel whose items have given.width lanes of a node. Its body gets `lanes` and `width` as
/// parameters: in C it is compiled for eight, four and two of both, so that loops over lanes are
/// vectors; GPUs, and C that does what they do, have one lane an item.
// clang-format off
#define LANED_PASS(type, name) name,
#define LANED_BODY(name, BUFFERS)                                                                  \
    FN void name##_lanes(BUFFERS(ITEM_IN, ITEM_OUT) name##_arguments given, const int lanes,       \
                         const int width)
#define LANED_CALL(name, BUFFERS, lanes, width)                                                    \
    name##_lanes(BUFFERS(LANED_PASS, LANED_PASS) given, lanes, width);
#if defined(KERNEL_OPENCL) || defined(KERNEL_CUDA)
#define LANED_MOST 1
#define LANED_FETCH(address)
#define LANED_CALLS(name, BUFFERS) LANED_CALL(name, BUFFERS, given.lanes, 1)
#else
#define LANED_MOST           8
#define LANED_FETCH(address) __builtin_prefetch(address)
#define LANED_CALLS(name, BUFFERS)                                                                 \
    if (given.width == 8) LANED_CALL(name, BUFFERS, 8, 8)                                          \
    if (given.width == 4) LANED_CALL(name, BUFFERS, 4, 4)                                          \
    if (given.width == 2) LANED_CALL(name, BUFFERS, 2, 2)                                          \
    if (given.width == 1) LANED_CALL(name, BUFFERS, given.lanes, 1)
#endif
#define LANED_KERNEL(name, BUFFERS)                                                                \
    LANED_BODY(name, BUFFERS);                                                                     \
    ITEM_KERNEL(name, BUFFERS) { LANED_CALLS(name, BUFFERS) }                                      \
    LANED_BODY(name, BUFFERS)
// clang-format on

#endif
