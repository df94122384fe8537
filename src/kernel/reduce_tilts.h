/// How errors of vertices tilt the normals around them, in every pose, to first order, and the
/// sweeps on that.
///
/// The area-weighted normal of a vertex is N = sum over its triangles (a, b, c) of
/// a x b + b x c + c x a. An error e of corner a adds e x (b - c), positions taken where the
/// original weights put them. The part of that across N, over the length of N, is the tilt:
///
///     tilt_l = P_l sum (e_u x d_u) / s_l,   s_l^2 = |N|^2 + (sum of the triangles' |.|)^2 + floors
///
/// The second part of s keeps folded fans from counting for more than they show: their angle is at
/// most pi, the linear tilt is not. Energy: sum over poses and vertices of weight |tilt|^2, and a
/// little of the gradient energy, which holds what no normal sees. It is a quadratic of the step of
/// one vertex's error, s^T A s - 2 F^T s.
///
/// Invariant: `tilt` of a record is what the errors make of it; every sum runs in the order of
/// fans, rings and poses.
#ifndef CUTIS_KERNEL_REDUCE_TILTS_H
#define CUTIS_KERNEL_REDUCE_TILTS_H

#include "reduce_sweep.h"

// A vertex's record, 64 bytes a pose: x, y, z of the target, x, y, z of the tilt times pose weight
// / s (`n` doubles each), then x, y, z of the unit normal and pose weight / s^2 (`n` floats each).
#define TILT_RECORD(t, v) ((t)->record + 8 * (INDEX)(v) * (t)->columns)
#define FAN(t, i, k)      (t)->fan[2 * (INDEX)(i) + (k)]

// Floors of s: of the fan's size at rest, and of its squared sides (slivers).
#define TILT_REST_FLOOR   0.1
#define TILT_SLIVER_FLOOR 0.01

STRUCT(reduce_tilts)
{
    REDUCE_RECORD_BUFFERS(REDUCE_IN, REDUCE_OUT)
    int columns;
};
#define REDUCE_TAKE_TILTS(type, name) tilts.name = name;
#define TAKE_TILTS                                                                                 \
    reduce_tilts tilts;                                                                            \
    REDUCE_RECORD_BUFFERS(REDUCE_TAKE_TILTS, REDUCE_TAKE_TILTS)                                    \
    tilts.columns = COLUMNS;

// Poses a few at a time, planar: entry c of pose from + j at c * REDUCE_POSES + j.
#define EACH_CHUNK(n)  for (int from = 0; from < (n); from += REDUCE_POSES)
#define CHUNK_POSES(n) ((n)-from < REDUCE_POSES ? (n)-from : REDUCE_POSES)

#define TILT_TARGET(v, j) (target + 3 * ((INDEX)(v)*COLUMNS + (j)))

ITEM_KERNEL(reduce_normal, REDUCE_NORMAL_BUFFERS)
{
    TAKE_TILTS;
    ITEM_BEGIN
    const int n = COLUMNS;
    GLOBAL double *own = TILT_RECORD(&tilts, item);
    GLOBAL float *normal = (GLOBAL float *)(own + 6 * n);
    for (int j = 0; j < n; j++) {
        GLOBAL const double *a = TILT_TARGET(item, j);
        double x = 0, y = 0, z = 0, size = 0, sides = 0, weight = pose_weights[j];
        for (int i = fan_first[item]; i < fan_first[item + 1]; i++) {
            GLOBAL const double *b = TILT_TARGET(FAN(&tilts, i, 0), j);
            GLOBAL const double *c = TILT_TARGET(FAN(&tilts, i, 1), j);
            double ex = b[0] - a[0], ey = b[1] - a[1], ez = b[2] - a[2];
            double fx = c[0] - a[0], fy = c[1] - a[1], fz = c[2] - a[2];
            double cx = ey * fz - ez * fy, cy = ez * fx - ex * fz, cz = ex * fy - ey * fx;
            x += cx;
            y += cy;
            z += cz;
            size += ROOT(cx * cx + cy * cy + cz * cz);
            sides += (ex - fx) * (ex - fx) + (ey - fy) * (ey - fy) + (ez - fz) * (ez - fz);
        }
        // A sixth of the fan's sum is the mixed area of a vertex; lengths carry the root of the
        // pose's weight.
        double rest = TILT_REST_FLOOR * 6 * weight * area[item];
        double square = x * x + y * y + z * z, length = ROOT(square);
        double s2 = square + size * size + rest * rest +
                    TILT_SLIVER_FLOOR * TILT_SLIVER_FLOOR * sides * sides;
        double share = length > 0 ? length : 1; // no length: the normal is zero as it is
        for (int c = 0; c < 3; c++) own[c * n + j] = a[c];
        normal[j] = (float)(x / share);
        normal[n + j] = (float)(y / share);
        normal[2 * n + j] = (float)(z / share);
        normal[3 * n + j] = s2 > 0 ? (float)(weight / s2) : 0;
    }
    ITEM_END
}

// tilt += scale * (the part of `change` across the normal), in poses [from, from + poses).
FN void reduce_tilt_add(GLOBAL double *own, int n, int from, int poses, const double *change)
{
    GLOBAL const float *normal = (GLOBAL const float *)(own + 6 * n) + from;
    GLOBAL double *tilt = own + 3 * n + from;
    for (int j = 0; j < poses; j++) {
        double nx = normal[j], ny = normal[n + j], nz = normal[2 * n + j], s = normal[3 * n + j];
        double x = change[j], y = change[REDUCE_POSES + j], z = change[2 * REDUCE_POSES + j];
        double along = nx * x + ny * y + nz * z;
        tilt[j] += s * (x - along * nx);
        tilt[n + j] += s * (y - along * ny);
        tilt[2 * n + j] += s * (z - along * nz);
    }
}

ITEM_KERNEL(reduce_tilt, REDUCE_TILT_BUFFERS)
{
    TAKE_TILTS;
    ITEM_BEGIN
    const int n = COLUMNS, v = item;
    GLOBAL double *own = TILT_RECORD(&tilts, v), *tilt = own + 3 * n;
    GLOBAL const float *scale = (GLOBAL const float *)(own + 6 * n) + 3 * n;
    double energy = 0;
    for (int r = 0; r < 3 * n; r++) tilt[r] = 0;
    EACH_CHUNK(n)
    {
        const int poses = CHUNK_POSES(n);
        double sum[3 * REDUCE_POSES];
        for (int r = 0; r < 3 * REDUCE_POSES; r++) sum[r] = 0;
        for (int i = fan_first[v]; i < fan_first[v + 1]; i++)
            for (int k = 0; k < 3; k++) {
                const int p = k == 0 ? v : FAN(&tilts, i, k - 1),
                          q = k == 2 ? v : FAN(&tilts, i, k);
                const int r = k == 0 ? FAN(&tilts, i, 1) : k == 1 ? v : FAN(&tilts, i, 0);
                GLOBAL const double *e = error + 3 * ((INDEX)p * n + from);
                GLOBAL const double *b = TILT_RECORD(&tilts, q) + from;
                GLOBAL const double *c = TILT_RECORD(&tilts, r) + from;
                for (int j = 0; j < poses; j++) {
                    double dx = b[j] - c[j], dy = b[n + j] - c[n + j];
                    double dz = b[2 * n + j] - c[2 * n + j];
                    double ex = e[3 * j], ey = e[3 * j + 1], ez = e[3 * j + 2];
                    sum[j] += ey * dz - ez * dy;
                    sum[REDUCE_POSES + j] += ez * dx - ex * dz;
                    sum[2 * REDUCE_POSES + j] += ex * dy - ey * dx;
                }
            }
        reduce_tilt_add(own, n, from, poses, sum);
    }
    for (int j = 0; j < n; j++)
        if (scale[j] > 0)
            energy += (tilt[j] * tilt[j] + tilt[n + j] * tilt[n + j] +
                       tilt[2 * n + j] * tilt[2 * n + j]) /
                      scale[j];
    part[item] = energy;
    ITEM_END
}

// The metric ------------------------------------------------------------------------------------

// Second derivative of the energy by the error of vertex v, halved, in a few poses: xx, yy, zz, xy,
// xz, yz into `out`, REDUCE_BLOCK apart. plain: the gradient's part
FN void reduce_tilt_metric(const reduce_tilts *t, const reduce_mesh *mesh, int v, int from,
                           int poses, double plain, GLOBAL double *out)
{
    const int n = t->columns, last = mesh->ring_first[v + 1];
    double metric[6 * REDUCE_POSES], side[3 * REDUCE_POSES];
    for (int i = 0; i < 6 * REDUCE_POSES; i++) metric[i] = i < 3 * REDUCE_POSES ? plain : 0;
    // Of every normal that the vertex tilts: its neighbours' and its own.
    for (int at = mesh->ring_first[v]; at <= last; at++) {
        const int l = at < last ? mesh->ring[at] : v;
        GLOBAL const float *normal = (GLOBAL const float *)(TILT_RECORD(t, l) + 6 * n) + from;
        for (int r = 0; r < 3 * REDUCE_POSES; r++) side[r] = 0;
        for (int i = t->fan_first[v]; i < t->fan_first[v + 1]; i++) {
            GLOBAL const double *b = TILT_RECORD(t, FAN(t, i, 0)) + from;
            GLOBAL const double *c = TILT_RECORD(t, FAN(t, i, 1)) + from;
            if (l != v && FAN(t, i, 0) != l && FAN(t, i, 1) != l) continue;
            for (int k = 0; k < 3; k++)
                for (int j = 0; j < poses; j++)
                    side[k * REDUCE_POSES + j] += b[k * n + j] - c[k * n + j];
        }
        // scale (|d|^2 I - d d^T - (d x n) (d x n)^T): e -> |P (e x d)|^2
        for (int j = 0; j < poses; j++) {
            double x = side[j], y = side[REDUCE_POSES + j], z = side[2 * REDUCE_POSES + j];
            double nx = normal[j], ny = normal[n + j], nz = normal[2 * n + j];
            double s = normal[3 * n + j], square = x * x + y * y + z * z;
            double cx = y * nz - z * ny, cy = z * nx - x * nz, cz = x * ny - y * nx;
            metric[j] += s * (square - x * x - cx * cx);
            metric[REDUCE_POSES + j] += s * (square - y * y - cy * cy);
            metric[2 * REDUCE_POSES + j] += s * (square - z * z - cz * cz);
            metric[3 * REDUCE_POSES + j] -= s * (x * y + cx * cy);
            metric[4 * REDUCE_POSES + j] -= s * (x * z + cx * cz);
            metric[5 * REDUCE_POSES + j] -= s * (y * z + cy * cz);
        }
    }
    for (int j = 0; j < poses; j++)
        for (int i = 0; i < 6; i++)
            out[(6 * (from + j) + i) * REDUCE_BLOCK] = metric[i * REDUCE_POSES + j];
}

// The metric of a lane, of those of all.
#define LANE_METRIC(lane)                                                                          \
    (block_metric + 6 * ((INDEX)((lane) / REDUCE_BLOCK) * COLUMNS) * REDUCE_BLOCK +                \
     (lane) % REDUCE_BLOCK)

ITEM_KERNEL(reduce_metric, REDUCE_METRIC_BUFFERS)
{
    TAKE_MESH;
    TAKE_TILTS;
    ITEM_BEGIN
    const int lane = item * KERNEL_LANES, n = COLUMNS;
    for (int l = 0; l < KERNEL_LANES; l++) {
        // Lanes without a vertex repeat the first one; their results are discarded.
        const int mine = lane_vertex[lane + l], v = mine < 0 ? lane_vertex[lane] : mine;
        if (v >= 0) EACH_CHUNK(n)
        reduce_tilt_metric(&tilts, &mesh, v, from, CHUNK_POSES(n), given.share * diagonal[v],
                           LANE_METRIC(lane) + l);
    }
    ITEM_END
}

// Updates ---------------------------------------------------------------------------------------

// Minus half the first derivative of the energy by a vertex's error, pose after pose. share: of the
// gradient energy. @return 0: it is zero
FN int reduce_tilt_force(const reduce_tilts *t, const reduce_mesh *mesh, GLOBAL const double *error,
                         int v, double share, double *RESTRICT force)
{
    const int n = t->columns;
    const double own = share * mesh->diagonal[v];
    GLOBAL const double *e = error + 3 * (INDEX)v * n;
    double size = 0;
    for (int r = 0; r < 3 * n; r++) force[r] = -own * e[r];
    for (int i = mesh->ring_first[v]; i < mesh->ring_first[v + 1]; i++) {
        GLOBAL const double *other = error + 3 * (INDEX)mesh->ring[i] * n;
        const double weight = share * mesh->edge[i];
        for (int r = 0; r < 3 * n; r++) force[r] += weight * other[r];
    }
    EACH_CHUNK(n)
    {
        const int poses = CHUNK_POSES(n);
        GLOBAL const double *tilt = TILT_RECORD(t, v) + 3 * n + from;
        double sum[3 * REDUCE_POSES];
        for (int r = 0; r < 3 * REDUCE_POSES; r++) sum[r] = 0;
        for (int i = t->fan_first[v]; i < t->fan_first[v + 1]; i++) {
            GLOBAL const double *b = TILT_RECORD(t, FAN(t, i, 0)) + from, *tb = b + 3 * n;
            GLOBAL const double *c = TILT_RECORD(t, FAN(t, i, 1)) + from, *tc = c + 3 * n;
            for (int j = 0; j < poses; j++) {
                double dx = b[j] - c[j], dy = b[n + j] - c[n + j];
                double dz = b[2 * n + j] - c[2 * n + j];
                double x = tilt[j] + tb[j] + tc[j], y = tilt[n + j] + tb[n + j] + tc[n + j];
                double z = tilt[2 * n + j] + tb[2 * n + j] + tc[2 * n + j];
                sum[j] -= dy * z - dz * y;
                sum[REDUCE_POSES + j] -= dz * x - dx * z;
                sum[2 * REDUCE_POSES + j] -= dx * y - dy * x;
            }
        }
        for (int j = 0; j < poses; j++)
            for (int c = 0; c < 3; c++) force[3 * (from + j) + c] += sum[c * REDUCE_POSES + j];
    }
    for (int r = 0; r < 3 * n; r++) size += MAGNITUDE(force[r]);
    return size > 0;
}

// The vertex's error moves by `step` (pose after pose): tilts of the vertices around follow.
FN void reduce_tilt_move(const reduce_tilts *t, int v, const double *step)
{
    const int n = t->columns;
    EACH_CHUNK(n)
    {
        const int poses = CHUNK_POSES(n);
        double sum[3 * REDUCE_POSES], part[3 * REDUCE_POSES];
        for (int r = 0; r < 3 * REDUCE_POSES; r++) sum[r] = part[r] = 0;
        for (int i = t->fan_first[v]; i < t->fan_first[v + 1]; i++) {
            GLOBAL double *b = TILT_RECORD(t, FAN(t, i, 0)), *c = TILT_RECORD(t, FAN(t, i, 1));
            for (int j = 0; j < poses; j++) {
                const int k = from + j;
                double dx = b[k] - c[k], dy = b[n + k] - c[n + k], dz = b[2 * n + k] - c[2 * n + k];
                double ex = step[3 * k], ey = step[3 * k + 1], ez = step[3 * k + 2];
                part[j] = ey * dz - ez * dy;
                part[REDUCE_POSES + j] = ez * dx - ex * dz;
                part[2 * REDUCE_POSES + j] = ex * dy - ey * dx;
            }
            for (int r = 0; r < 3 * REDUCE_POSES; r++) sum[r] += part[r];
            reduce_tilt_add(b, n, from, poses, part);
            reduce_tilt_add(c, n, from, poses, part);
        }
        reduce_tilt_add(TILT_RECORD(t, v), n, from, poses, sum);
    }
}

// By how much the step from error `own` to `error` lowers the energy.
FN REAL reduce_fall_tilted(const reduce_block *b)
{
    REAL fall = ZERO;
    for (int r = 0; r < b->rows; r++) b->rest[r] = b->error[r] - b->own[r];
    reduce_apply_metric(b->rows, b->metric, b->rest);
    for (int r = 0; r < b->rows; r++)
        fall += (b->error[r] - b->own[r]) * (SPLAT(2.0) * b->desired[r] - b->rest[r]);
    return fall;
}

ITEM_KERNEL(reduce_tilted, REDUCE_TILTED_BUFFERS)
{
    TAKE_MESH;
    TAKE_PROBLEM;
    TAKE_SETS;
    TAKE_BLOCKS;
    TAKE_TILTS;
    ITEM_BEGIN
    TAKE_BLOCK;
    REAL down = ZERO;
    INT idle = ALL_LANES;
    block.metric = LANE_METRIC(lane);
    FETCH_NEXT(error, block.rows);
    FETCH_NEXT(record, 8 * COLUMNS);
    for (int l = 0; l < KERNEL_LANES && block.n >= 2; l++) {
        const int v = vertex[l];
        if (v >= 0 && reduce_tilt_force(&tilts, &mesh, error, v, given.share, line))
            LANE(idle, l) = LANE(NO_LANES, l);
        reduce_gather(&block, l, v, !LANE(idle, l), error, line);
    }
    if (reduce_any(idle == 0)) {
        reduce_change change;
        double *step = LINE(block.rest, block.rest);
        reduce_begin(&block, idle, &change);
        if (TRIALS > 0) reduce_reselect(&problem, &sets, &block, vertex, TRIALS, &change, &down);
        reduce_update(&block, 1, &change);
        down = SELECT(change.settled, down, reduce_fall_tilted(&block));
        for (int l = 0; l < KERNEL_LANES; l++) {
            if (LANE(idle, l)) continue;
            reduce_scatter(&block, l, vertex[l], error, step);
            reduce_tilt_move(&tilts, vertex[l], step);
        }
    }
    STORE_LANES(fall + lane, down);
    ITEM_END
}

#endif
