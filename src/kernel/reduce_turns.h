/// How errors of vertices turn the normals around them (src/fit/reduce_turns.h has the formulas):
/// one vertex, on arrays of all vertices. After item.h and reduce.h.
///
/// Invariant: every sum runs in the order of fans, rings and poses, and a vertex's functions write
/// its own record alone, save reduce_turn_move, which writes those around it too.
#ifndef CUTIS_KERNEL_REDUCE_TURNS_H
#define CUTIS_KERNEL_REDUCE_TURNS_H

// A vertex's record, 64 bytes a pose: x, y, z of the target, x, y, z of the turn (`n` doubles
// each), then x, y, z of the normal and the scale (`n` floats each).
#define TURN_RECORD(v)   (record + (INDEX)(v)*8 * n)
#define TURN_PLACE(p)    ((p) + 3 * n)
#define TURN_NORMAL(p)   ((GLOBAL const float *)((p) + 6 * n))
#define TURN_SCALE(p)    ((GLOBAL const float *)((p) + 6 * n) + 3 * n)
#define TURN_RECORD_SIZE 8 // doubles of one pose

// Floors of s: of the fan's size at rest, and of its squared sides (slivers).
#define TURN_REST_FLOOR   0.1
#define TURN_SLIVER_FLOOR 0.01

// Neighbours with their cotangents, and fans: two corners per triangle of a vertex.
#define TURN_RING GLOBAL const int *ring_first, GLOBAL const int *ring, GLOBAL const double *edge
#define FAN(i, k) fan[2 * (INDEX)(i) + (k)]
#define TURN_FANS GLOBAL const int *fan_first, GLOBAL const int *fan, int n

// Normal and scale of a vertex, from the targets around it. area: the vertex's at rest.
FN void reduce_turn_normal(GLOBAL double *record, TURN_FANS, GLOBAL const double *pose_weights,
                           double area, int v)
{
    GLOBAL double *own = TURN_RECORD(v);
    GLOBAL float *normal = (GLOBAL float *)(own + 6 * n);
    for (int j = 0; j < n; j++) {
        double x = 0, y = 0, z = 0, size = 0, sides = 0;
        double ax = own[j], ay = own[n + j], az = own[2 * n + j], weight = pose_weights[j];
        for (int i = fan_first[v]; i < fan_first[v + 1]; i++) {
            GLOBAL const double *b = TURN_RECORD(FAN(i, 0)), *c = TURN_RECORD(FAN(i, 1));
            double ex = b[j] - ax, ey = b[n + j] - ay, ez = b[2 * n + j] - az;
            double fx = c[j] - ax, fy = c[n + j] - ay, fz = c[2 * n + j] - az;
            double cx = ey * fz - ez * fy, cy = ez * fx - ex * fz, cz = ex * fy - ey * fx;
            x += cx;
            y += cy;
            z += cz;
            size += ROOT(cx * cx + cy * cy + cz * cz);
            sides += (ex - fx) * (ex - fx) + (ey - fy) * (ey - fy) + (ez - fz) * (ez - fz);
        }
        // A sixth of the fan's sum is the mixed area of a vertex; lengths carry the root of the
        // pose's weight.
        double rest = TURN_REST_FLOOR * 6 * weight * area;
        double square = x * x + y * y + z * z, length = ROOT(square);
        double s2 = square + size * size + rest * rest +
                    TURN_SLIVER_FLOOR * TURN_SLIVER_FLOOR * sides * sides;
        double share = length > 0 ? length : 1; // no length: the normal is zero as it is
        normal[j] = (float)(x / share);
        normal[n + j] = (float)(y / share);
        normal[2 * n + j] = (float)(z / share);
        normal[3 * n + j] = s2 > 0 ? (float)(weight / s2) : 0;
    }
}

// turn += scale * (what of `change`, planar, lies across the normal)
FN void reduce_turn_add(GLOBAL double *own, int n, const double *change)
{
    GLOBAL const float *normal = TURN_NORMAL(own), *scale = TURN_SCALE(own);
    GLOBAL double *turn = TURN_PLACE(own);
    for (int j = 0; j < n; j++) {
        double nx = normal[j], ny = normal[n + j], nz = normal[2 * n + j], s = scale[j];
        double x = change[j], y = change[n + j], z = change[2 * n + j];
        double along = nx * x + ny * y + nz * z;
        turn[j] += s * (x - along * nx);
        turn[n + j] += s * (y - along * ny);
        turn[2 * n + j] += s * (z - along * nz);
    }
}

// The turn that all errors make of a vertex's normal. `sum`: scratch of 3 n
FN void reduce_turn_start(GLOBAL double *record, TURN_FANS, GLOBAL const double *error, int v,
                          double *sum)
{
    GLOBAL double *own = TURN_RECORD(v), *turn = TURN_PLACE(own);
    for (int r = 0; r < 3 * n; r++) sum[r] = turn[r] = 0;
    for (int i = fan_first[v]; i < fan_first[v + 1]; i++)
        for (int k = 0; k < 3; k++) {
            int p = k == 0 ? v : FAN(i, k - 1), q = k == 2 ? v : FAN(i, k);
            int r = k == 0 ? FAN(i, 1) : k == 1 ? v : FAN(i, 0);
            GLOBAL const double *e = error + (INDEX)p * 3 * n;
            GLOBAL const double *b = TURN_RECORD(q), *c = TURN_RECORD(r);
            for (int j = 0; j < n; j++) {
                double dx = b[j] - c[j], dy = b[n + j] - c[n + j], dz = b[2 * n + j] - c[2 * n + j];
                double ex = e[3 * j], ey = e[3 * j + 1], ez = e[3 * j + 2];
                sum[j] += ey * dz - ez * dy;
                sum[n + j] += ez * dx - ex * dz;
                sum[2 * n + j] += ex * dy - ey * dx;
            }
        }
    reduce_turn_add(own, n, sum);
}

FN double reduce_turn_energy(GLOBAL const double *own, int n)
{
    GLOBAL const double *turn = TURN_PLACE(own);
    GLOBAL const float *scale = TURN_SCALE(own);
    double sum = 0;
    for (int j = 0; j < n; j++)
        if (scale[j] > 0)
            sum += (turn[j] * turn[j] + turn[n + j] * turn[n + j] +
                    turn[2 * n + j] * turn[2 * n + j]) /
                   scale[j];
    return sum;
}

// Second derivative of the energy by the vertex's error, halved: xx, yy, zz, xy, xz, yz per pose.
// plain: the gradient's part; side: scratch of 3 n
FN void reduce_turn_metric(GLOBAL const double *record, GLOBAL const int *ring_first,
                           GLOBAL const int *ring, TURN_FANS, double plain, int v, double *metric,
                           double *side)
{
    for (int j = 0; j < n; j++)
        for (int i = 0; i < 6; i++) metric[6 * j + i] = i < 3 ? plain : 0;
    // Of every normal that the vertex turns: its neighbours' and its own.
    for (int at = ring_first[v]; at <= ring_first[v + 1]; at++) {
        int l = at < ring_first[v + 1] ? ring[at] : v;
        GLOBAL const float *normal = TURN_NORMAL(TURN_RECORD(l));
        for (int r = 0; r < 3 * n; r++) side[r] = 0;
        for (int i = fan_first[v]; i < fan_first[v + 1]; i++) {
            GLOBAL const double *b = TURN_RECORD(FAN(i, 0)), *c = TURN_RECORD(FAN(i, 1));
            if (l != v && FAN(i, 0) != l && FAN(i, 1) != l) continue;
            for (int r = 0; r < 3 * n; r++) side[r] += b[r] - c[r];
        }
        // scale (|d|^2 I - d d^T - (d x n) (d x n)^T): e -> |P (e x d)|^2
        for (int j = 0; j < n; j++) {
            double x = side[j], y = side[n + j], z = side[2 * n + j];
            double nx = normal[j], ny = normal[n + j], nz = normal[2 * n + j];
            double s = normal[3 * n + j], square = x * x + y * y + z * z;
            double cx = y * nz - z * ny, cy = z * nx - x * nz, cz = x * ny - y * nx;
            metric[6 * j] += s * (square - x * x - cx * cx);
            metric[6 * j + 1] += s * (square - y * y - cy * cy);
            metric[6 * j + 2] += s * (square - z * z - cz * cz);
            metric[6 * j + 3] -= s * (x * y + cx * cy);
            metric[6 * j + 4] -= s * (x * z + cx * cz);
            metric[6 * j + 5] -= s * (y * z + cy * cz);
        }
    }
}

// Minus half the first derivative, pose after pose; `own`: the gradient's weight on the vertex's
// error, share: on its cotangents. `sum`: scratch of 3 n. @return 0: it is zero
FN int reduce_turn_force(GLOBAL const double *record, TURN_RING, TURN_FANS,
                         GLOBAL const double *error, double own, double share, int v, double *force,
                         double *sum)
{
    GLOBAL const double *e = error + (INDEX)v * 3 * n, *turn = TURN_PLACE(TURN_RECORD(v));
    double size = 0;
    for (int r = 0; r < 3 * n; r++) sum[r] = 0;
    for (int i = fan_first[v]; i < fan_first[v + 1]; i++) {
        GLOBAL const double *b = TURN_RECORD(FAN(i, 0)), *c = TURN_RECORD(FAN(i, 1));
        GLOBAL const double *tb = TURN_PLACE(b), *tc = TURN_PLACE(c);
        for (int j = 0; j < n; j++) {
            double dx = b[j] - c[j], dy = b[n + j] - c[n + j], dz = b[2 * n + j] - c[2 * n + j];
            double x = turn[j] + tb[j] + tc[j], y = turn[n + j] + tb[n + j] + tc[n + j];
            double z = turn[2 * n + j] + tb[2 * n + j] + tc[2 * n + j];
            sum[j] -= dy * z - dz * y;
            sum[n + j] -= dz * x - dx * z;
            sum[2 * n + j] -= dx * y - dy * x;
        }
    }
    for (int r = 0; r < 3 * n; r++) force[r] = -own * e[r];
    for (int i = ring_first[v]; i < ring_first[v + 1]; i++) {
        GLOBAL const double *other = error + (INDEX)ring[i] * 3 * n;
        double weight = share * edge[i];
        for (int r = 0; r < 3 * n; r++) force[r] += weight * other[r];
    }
    for (int j = 0; j < n; j++)
        for (int c = 0; c < 3; c++) force[3 * j + c] += sum[c * n + j];
    for (int r = 0; r < 3 * n; r++) size += MAGNITUDE(force[r]);
    return size > 0;
}

// The vertex's error moves by `step` (pose after pose): turns of the vertices around follow.
// `part`, `sum`: scratch of 3 n
FN void reduce_turn_move(GLOBAL double *record, TURN_FANS, int v, const double *step, double *part,
                         double *sum)
{
    for (int r = 0; r < 3 * n; r++) sum[r] = 0;
    for (int i = fan_first[v]; i < fan_first[v + 1]; i++) {
        GLOBAL double *b = TURN_RECORD(FAN(i, 0)), *c = TURN_RECORD(FAN(i, 1));
        for (int j = 0; j < n; j++) {
            double dx = b[j] - c[j], dy = b[n + j] - c[n + j], dz = b[2 * n + j] - c[2 * n + j];
            double ex = step[3 * j], ey = step[3 * j + 1], ez = step[3 * j + 2];
            part[j] = ey * dz - ez * dy;
            part[n + j] = ez * dx - ex * dz;
            part[2 * n + j] = ex * dy - ey * dx;
        }
        for (int r = 0; r < 3 * n; r++) sum[r] += part[r];
        reduce_turn_add(b, n, part);
        reduce_turn_add(c, n, part);
    }
    reduce_turn_add(TURN_RECORD(v), n, sum);
}

#endif
