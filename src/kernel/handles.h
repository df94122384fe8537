/// Handle weights on a voxel domain: distances inside the shape, harmonic fields by conjugate
/// gradients with a multigrid cycle, sampling by cubic B-splines. After item.h.
///
/// Every kernel does what the C of src/fit/handles_*.c does for one voxel, node or vertex, in the
/// same order, so both have the same bits. Fields ("lanes") stand side by side: value `lane` of
/// node i is at i * lanes + lane, and an item of a node kernel is one of those. Levels stand one
/// behind the other in shared arrays, from node `at`; indices of neighbours count within a level.
/// Compilers that are asked for one kernel at a time define HANDLES_ONE and HANDLES_NAME of it.
#ifndef CUTIS_KERNEL_HANDLES_H
#define CUTIS_KERNEL_HANDLES_H

#define HANDLES_NONE     0xffffffffu
#define HANDLES_INFINITY 3.402823466e+38f ///< beyond every distance: not reached
#define HANDLES_SUM      128              ///< nodes of a partial sum
#define HANDLES_SLOTS    16               ///< most influences that a vertex keeps

// Distances
// -----------------------------------------------------------------------------------------

FN double handles_segment(double px, double py, double pz, double ax, double ay, double az,
                          double bx, double by, double bz, double t)
{
    double x = px - ((1 - t) * ax + t * bx), y = py - ((1 - t) * ay + t * by);
    double z = pz - ((1 - t) * az + t * bz);
    return ROOT(x * x + y * y + z * z);
}

FN double handles_nearest(double px, double py, double pz, double ax, double ay, double az,
                          double bx, double by, double bz)
{
    double dx = bx - ax, dy = by - ay, dz = bz - az;
    double square = dx * dx + dy * dy + dz * dz;
    double along = (px - ax) * dx + (py - ay) * dy + (pz - az) * dz;
    double t = square > 0 ? along / square : 0;
    return t < 0 ? 0 : t > 1 ? 1 : t;
}

/// Godunov's first-order solution of |grad d| = 1 from the least neighbours along each axis.
FN float handles_godunov(float x, float y, float z, double h)
{
    double a = x, b = y, c = z, t = a;
    if (b < a) a = b, b = t;
    t = b;
    if (c < b) b = c, c = t;
    t = a;
    if (b < a) a = b, b = t;
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

/// Voxels of many fields in units of 32: unit u is of field u / units_of_a_field. `work` lists the
/// units that an item kernel runs over; NULL: all. Makes f and v of an item.
#define HANDLES_UNIT 32
#define HANDLES_WORK                                                                               \
    int units = (n + HANDLES_UNIT - 1) / HANDLES_UNIT;                                             \
    int unit = work != 0 ? (int)work[item / HANDLES_UNIT] : item / HANDLES_UNIT;                   \
    int f = unit / units, v = HANDLES_UNIT * (unit - f * units) + item % HANDLES_UNIT;

/// Voxels near a segment that see it get their straight distance: field f has the segments from
/// first[f] on. `distance` and `label` hold the voxels that sites pass through, and are the result.
/// No label, no labels: NULL. Items are the voxels of `work` (HANDLES_WORK).
#if !defined(HANDLES_ONE) || defined(HANDLES_START)
OLD_ITEM_KERNEL cutis_handles_start(GLOBAL const unsigned *work, GLOBAL const unsigned *index,
                                    GLOBAL const unsigned *place, GLOBAL const double *segments,
                                    GLOBAL const unsigned *labels, GLOBAL const unsigned *first,
                                    GLOBAL float *distance, GLOBAL unsigned *label, int n,
                                    int size_x, int size_y, int size_z, double ox, double oy,
                                    double oz, double step, double reach, ITEM_ARGS)
{
    OLD_BEGIN ITEM_BEGIN HANDLES_WORK if (v < n)
    {
        INDEX to = (INDEX)f * n + v;
        int at = (int)place[v];
        double cx = ox + (at % size_x + 0.5) * step, cy = oy + (at / size_x % size_y + 0.5) * step;
        double cz = oz + (at / size_x / size_y + 0.5) * step;
        float best = distance[to];
        unsigned owner = label != 0 ? label[to] : 0;
        for (int g = (int)first[f]; g < (int)first[f + 1]; g++) {
            double ax = segments[6 * g], ay = segments[6 * g + 1], az = segments[6 * g + 2];
            double bx = segments[6 * g + 3], by = segments[6 * g + 4], bz = segments[6 * g + 5];
            double t = handles_nearest(cx, cy, cz, ax, ay, az, bx, by, bz);
            double d = handles_segment(cx, cy, cz, ax, ay, az, bx, by, bz, t);
            float own = (float)d;
            unsigned mine = label != 0 ? labels[g] : 0;
            int sees =
                d <= reach && d <= (double)best && (own < best || (own == best && mine < owner));
            double dx = (1 - t) * ax + t * bx - cx, dy = (1 - t) * ay + t * by - cy;
            double dz = (1 - t) * az + t * bz - cz;
            double length = ROOT(dx * dx + dy * dy + dz * dz) / (0.5 * step);
            int count = (int)length;
            if ((double)count < length) count++;
            for (int i = 1; i <= count && sees; i++) {
                double x = (cx + dx * i / count - ox) / step, y = (cy + dy * i / count - oy) / step;
                double z = (cz + dz * i / count - oz) / step;
                sees = x >= 0 && y >= 0 && z >= 0 && x < size_x && y < size_y && z < size_z;
                if (sees)
                    sees =
                        index[((INDEX)(int)z * size_y + (int)y) * size_x + (int)x] != HANDLES_NONE;
            }
            if (sees) best = own, owner = mine;
        }
        distance[to] = best;
        if (label != 0) label[to] = owner;
    }
    ITEM_END
}
#endif

/// One sweep of all voxels: Godunov's first-order solution from the six neighbours, or the start.
/// Repeated until nothing changes it is the solution that marching finds.
#if !defined(HANDLES_ONE) || defined(HANDLES_SWEEP)
OLD_ITEM_KERNEL cutis_handles_sweep(GLOBAL const unsigned *neighbour, GLOBAL const float *start,
                                    GLOBAL const unsigned *start_label, GLOBAL const float *from,
                                    GLOBAL const unsigned *from_label, GLOBAL float *to,
                                    GLOBAL unsigned *to_label, GLOBAL int *changed, double h,
                                    ITEM_ARGS)
{
    OLD_BEGIN ITEM_BEGIN float low[3], least = HANDLES_INFINITY, best = start[item];
    unsigned own = HANDLES_NONE, owner = start_label[item];
    for (int axis = 0; axis < 3; axis++) {
        low[axis] = HANDLES_INFINITY;
        for (int side = 0; side < 2; side++) {
            unsigned m = neighbour[6 * (INDEX)item + 2 * axis + side];
            if (m != HANDLES_NONE) {
                float d = from[m];
                low[axis] = d < low[axis] ? d : low[axis];
                if (d < least || (d == least && from_label[m] < own))
                    least = d, own = from_label[m];
            }
        }
    }
    if (least < HANDLES_INFINITY) {
        float value = handles_godunov(low[0], low[1], low[2], h);
        if (value < best || (value == best && own < owner)) best = value, owner = own;
    }
    if (best != from[item] || owner != from_label[item]) RAISE(changed[0]);
    to[item] = best;
    to_label[item] = owner;
    ITEM_END
}
#endif

/// Conductances to the six neighbours: they fall with the distance to the nearest site, as 1 / d
/// from a bar, as 1 / d^2 from a point.
#if !defined(HANDLES_ONE) || defined(HANDLES_CONDUCT)
OLD_ITEM_KERNEL cutis_handles_conduct(GLOBAL const unsigned *neighbour,
                                      GLOBAL const float *distance, GLOBAL const unsigned *label,
                                      GLOBAL const int *bar, GLOBAL double *out, double h,
                                      ITEM_ARGS)
{
    OLD_BEGIN ITEM_BEGIN for (int d = 0; d < 6; d++)
    {
        unsigned m = neighbour[6 * (INDEX)item + d];
        double value = 0;
        if (m != HANDLES_NONE && label[item] != HANDLES_NONE) {
            unsigned near = label[item];
            if (distance[m] < distance[item] || (distance[m] == distance[item] && (int)m < item))
                near = label[m];
            double mean = ((double)distance[item] + distance[m]) / 2;
            double ratio = (mean > h ? mean : h) / h;
            value = bar[near] ? 1 / ratio : 1 / (ratio * ratio);
        } else if (m != HANDLES_NONE) {
            value = 1;
        }
        out[6 * (INDEX)item + d] = value;
    }
    ITEM_END
}
#endif

// Levels
// --------------------------------------------------------------------------------------------

/// The finest level: free voxels, with what goes to fixed ones in the diagonal.
#if !defined(HANDLES_ONE) || defined(HANDLES_FINEST)
OLD_ITEM_KERNEL cutis_handles_finest(GLOBAL const unsigned *voxel, GLOBAL const unsigned *node,
                                     GLOBAL const unsigned *voxel_neighbour,
                                     GLOBAL const double *voxel_conductance,
                                     GLOBAL unsigned *neighbour, GLOBAL double *conductance,
                                     GLOBAL double *diagonal, GLOBAL double *inverse, ITEM_ARGS)
{
    OLD_BEGIN ITEM_BEGIN INDEX v = voxel[item];
    double sum = 0;
    for (int d = 0; d < 6; d++) {
        unsigned m = voxel_neighbour[6 * v + d], other = m;
        if (m != HANDLES_NONE) {
            sum += voxel_conductance[6 * v + d];
            other = node[m];
        }
        neighbour[6 * (INDEX)item + d] = other != HANDLES_NONE ? other : (unsigned)item;
        conductance[6 * (INDEX)item + d] =
            other != HANDLES_NONE ? voxel_conductance[6 * v + d] : 0.0;
    }
    diagonal[item] = sum;
    inverse[item] = 1 / sum;
    ITEM_END
}
#endif

/// A coarser level from the one at `fine`: blocks of nodes, half their conductances.
#if !defined(HANDLES_ONE) || defined(HANDLES_COARSE)
OLD_ITEM_KERNEL cutis_handles_coarse(GLOBAL const unsigned *parent,
                                     GLOBAL const unsigned *child_first,
                                     GLOBAL const unsigned *child, GLOBAL unsigned *neighbour,
                                     GLOBAL double *conductance, GLOBAL double *diagonal,
                                     GLOBAL double *inverse, int fine, int coarse, int list,
                                     ITEM_ARGS)
{
    OLD_BEGIN ITEM_BEGIN INDEX to = (INDEX)(coarse + item) * 6;
    double leak = 0;
    for (int d = 0; d < 6; d++) {
        neighbour[to + d] = (unsigned)item;
        conductance[to + d] = 0;
    }
    for (unsigned e = child_first[list + item]; e < child_first[list + item + 1]; e++) {
        INDEX from = (INDEX)(fine + (int)child[fine + (int)e]) * 6;
        double inner = 0;
        for (int d = 0; d < 6; d++) {
            double c = conductance[from + d];
            unsigned other = parent[fine + (int)neighbour[from + d]];
            inner += c;
            if (c != 0 && other != (unsigned)item) {
                neighbour[to + d] = other;
                conductance[to + d] += 0.5 * c;
            }
        }
        leak += diagonal[fine + (int)child[fine + (int)e]] - inner;
    }
    double sum = leak > 0 ? leak : 0;
    for (int d = 0; d < 6; d++) sum += conductance[to + d];
    diagonal[coarse + item] = sum;
    inverse[coarse + item] = sum > 0 ? 1 / sum : 0;
    ITEM_END
}
#endif

/// First fields (1 where a site is nearest), their residual, and no direction.
#if !defined(HANDLES_ONE) || defined(HANDLES_BEGIN)
OLD_ITEM_KERNEL
cutis_handles_begin(GLOBAL const unsigned *voxel, GLOBAL const unsigned *label,
                    GLOBAL const unsigned *owner, GLOBAL const unsigned *voxel_neighbour,
                    GLOBAL const double *voxel_conductance, GLOBAL const unsigned *neighbour,
                    GLOBAL const double *conductance, GLOBAL const double *diagonal,
                    GLOBAL double *x, GLOBAL double *r, GLOBAL double *p, int lanes, ITEM_ARGS)
{
    OLD_BEGIN ITEM_BEGIN INDEX i = item / lanes, v = voxel[i];
    unsigned lane = (unsigned)(item % lanes);
    double own = label[v] == lane ? 1 : 0, sum = 0;
    for (int d = 0; d < 6; d++)
        sum += conductance[6 * i + d] * (label[voxel[neighbour[6 * i + d]]] == lane ? 1.0 : 0.0);
    double value = sum - diagonal[i] * own;
    for (int d = 0; d < 6; d++) {
        unsigned m = voxel_neighbour[6 * v + d];
        if (m != HANDLES_NONE && owner[m] == lane) value += voxel_conductance[6 * v + d];
    }
    x[item] = own;
    r[item] = value;
    p[item] = 0;
    ITEM_END
}
#endif

// The cycle. Items of a range of nodes begin at node `first` of the level.
// -------------------------------------------------------------------------------------------

#if !defined(HANDLES_ONE) || defined(HANDLES_DIVIDE)
OLD_ITEM_KERNEL cutis_handles_divide(GLOBAL const double *inverse, GLOBAL const double *b,
                                     GLOBAL double *x, int at, int offset, int lanes, int first,
                                     ITEM_ARGS)
{
    OLD_BEGIN ITEM_BEGIN INDEX k = item + (INDEX)first * lanes;
    x[(INDEX)offset * lanes + k] = b[(INDEX)offset * lanes + k] * inverse[at + k / lanes];
    ITEM_END
}
#endif

/// x = (b + sum of conductance * neighbour) / diagonal. `offset`: of b and x, which the finest
/// level has to itself.
#if !defined(HANDLES_ONE) || defined(HANDLES_SMOOTH)
OLD_ITEM_KERNEL cutis_handles_smooth(GLOBAL const unsigned *neighbour,
                                     GLOBAL const double *conductance, GLOBAL const double *inverse,
                                     GLOBAL const double *b, GLOBAL double *x, int at, int offset,
                                     int lanes, int first, ITEM_ARGS)
{
    OLD_BEGIN ITEM_BEGIN INDEX k = item + (INDEX)first * lanes, base = (INDEX)offset * lanes;
    INDEX i = at + k / lanes;
    int lane = (int)(k % lanes);
    double sum = 0;
    for (int d = 0; d < 6; d++)
        sum += conductance[6 * i + d] * x[base + (INDEX)neighbour[6 * i + d] * lanes + lane];
    x[base + k] = (b[base + k] + sum) * inverse[i];
    ITEM_END
}
#endif

/// Residuals of the red children of each block (black ones have none), summed.
#if !defined(HANDLES_ONE) || defined(HANDLES_RESTRICT)
OLD_ITEM_KERNEL cutis_handles_restrict(GLOBAL const unsigned *neighbour,
                                       GLOBAL const double *conductance,
                                       GLOBAL const double *diagonal,
                                       GLOBAL const unsigned *child_first,
                                       GLOBAL const unsigned *child, GLOBAL const double *b,
                                       GLOBAL const double *x, GLOBAL double *coarse, int at,
                                       int offset, int red, int list, int to, int lanes, ITEM_ARGS)
{
    OLD_BEGIN ITEM_BEGIN int j = item / lanes, lane = item % lanes;
    INDEX base = (INDEX)offset * lanes;
    double total = 0;
    for (unsigned e = child_first[list + j]; e < child_first[list + j + 1]; e++) {
        int i = (int)child[at + (int)e];
        if (i < red) {
            INDEX row = (INDEX)(at + i) * 6;
            double sum = 0;
            for (int d = 0; d < 6; d++)
                sum += conductance[row + d] * x[base + (INDEX)neighbour[row + d] * lanes + lane];
            INDEX k = base + (INDEX)i * lanes + lane;
            total += b[k] + sum - diagonal[at + i] * x[k];
        }
    }
    coarse[(INDEX)to * lanes + item] = total;
    ITEM_END
}
#endif

#if !defined(HANDLES_ONE) || defined(HANDLES_PROLONG)
OLD_ITEM_KERNEL cutis_handles_prolong(GLOBAL const unsigned *parent, GLOBAL const double *coarse,
                                      GLOBAL double *x, int at, int offset, int to, int lanes,
                                      ITEM_ARGS)
{
    OLD_BEGIN ITEM_BEGIN INDEX from =
        (INDEX)(to + (int)parent[at + item / lanes]) * lanes + item % lanes;
    x[(INDEX)offset * lanes + item] += coarse[from];
    ITEM_END
}
#endif

/// The coarsest level, a field an item: it has few nodes.
#if !defined(HANDLES_ONE) || defined(HANDLES_COARSEST)
OLD_ITEM_KERNEL cutis_handles_coarsest(GLOBAL const unsigned *neighbour,
                                       GLOBAL const double *conductance,
                                       GLOBAL const double *inverse, GLOBAL const double *b,
                                       GLOBAL double *x, int at, int offset, int red, int count,
                                       int sweeps, int lanes, ITEM_ARGS)
{
    OLD_BEGIN ITEM_BEGIN INDEX base = (INDEX)offset * lanes + item;
    for (int i = 0; i < red; i++)
        x[base + (INDEX)i * lanes] = b[base + (INDEX)i * lanes] * inverse[at + i];
    // Half sweeps: black, then red and black `sweeps` times, then red.
    for (int pass = 0; pass < 2 * sweeps + 2; pass++) {
        int from = pass % 2 ? 0 : red, end = pass % 2 ? red : count;
        for (int i = from; i < end; i++) {
            INDEX row = (INDEX)(at + i) * 6;
            double sum = 0;
            for (int d = 0; d < 6; d++)
                sum += conductance[row + d] * x[base + (INDEX)neighbour[row + d] * lanes];
            x[base + (INDEX)i * lanes] = (b[base + (INDEX)i * lanes] + sum) * inverse[at + i];
        }
    }
    ITEM_END
}
#endif

// Conjugate gradients. Scalars of a lane: rho, beta, alpha, done.
// -------------------------------------------------------------------------------------------

/// Partial sums of products: item is a stretch of nodes and a lane.
#if !defined(HANDLES_ONE) || defined(HANDLES_DOT)
OLD_ITEM_KERNEL cutis_handles_dot(GLOBAL const double *a, GLOBAL const double *b,
                                  GLOBAL double *partial, int count, int lanes, ITEM_ARGS)
{
    OLD_BEGIN ITEM_BEGIN int first = item / lanes * HANDLES_SUM, end = first + HANDLES_SUM;
    double sum = 0;
    if (end > count) end = count;
    for (int i = first; i < end; i++) {
        INDEX k = (INDEX)i * lanes + item % lanes;
        sum += a[k] * b[k];
    }
    partial[item] = sum;
    ITEM_END
}
#endif

#if !defined(HANDLES_ONE) || defined(HANDLES_TURNING)
OLD_ITEM_KERNEL cutis_handles_turning(GLOBAL const double *partial, GLOBAL double *scalars,
                                      int sums, int lanes, ITEM_ARGS)
{
    OLD_BEGIN ITEM_BEGIN double sum = 0, rho = scalars[4 * item];
    for (int c = 0; c < sums; c++) sum += partial[(INDEX)c * lanes + item];
    scalars[4 * item + 1] = rho > 0 ? sum / rho : 0;
    scalars[4 * item] = sum;
    ITEM_END
}
#endif

#if !defined(HANDLES_ONE) || defined(HANDLES_TURN)
OLD_ITEM_KERNEL cutis_handles_turn(GLOBAL const double *scalars, GLOBAL const double *z,
                                   GLOBAL double *p, int lanes, ITEM_ARGS)
{
    OLD_BEGIN ITEM_BEGIN p[item] = z[item] + scalars[4 * (item % lanes) + 1] * p[item];
    ITEM_END
}
#endif

#if !defined(HANDLES_ONE) || defined(HANDLES_APPLY)
OLD_ITEM_KERNEL cutis_handles_apply(GLOBAL const unsigned *neighbour,
                                    GLOBAL const double *conductance, GLOBAL const double *diagonal,
                                    GLOBAL const double *p, GLOBAL double *q, int lanes, ITEM_ARGS)
{
    OLD_BEGIN ITEM_BEGIN INDEX i = item / lanes;
    double sum = 0;
    for (int d = 0; d < 6; d++)
        sum += conductance[6 * i + d] * p[(INDEX)neighbour[6 * i + d] * lanes + item % lanes];
    q[item] = diagonal[i] * p[item] - sum;
    ITEM_END
}
#endif

#if !defined(HANDLES_ONE) || defined(HANDLES_STEPPING)
OLD_ITEM_KERNEL cutis_handles_stepping(GLOBAL const double *partial, GLOBAL double *scalars,
                                       int sums, int lanes, ITEM_ARGS)
{
    OLD_BEGIN ITEM_BEGIN double sum = 0, rho = scalars[4 * item];
    for (int c = 0; c < sums; c++) sum += partial[(INDEX)c * lanes + item];
    scalars[4 * item + 2] = scalars[4 * item + 3] == 0 && sum > 0 && rho > 0 ? rho / sum : 0;
    ITEM_END
}
#endif

#if !defined(HANDLES_ONE) || defined(HANDLES_ADVANCE)
OLD_ITEM_KERNEL cutis_handles_advance(GLOBAL const double *scalars, GLOBAL const double *p,
                                      GLOBAL const double *q, GLOBAL double *x, GLOBAL double *r,
                                      int lanes, ITEM_ARGS)
{
    OLD_BEGIN ITEM_BEGIN double alpha = scalars[4 * (item % lanes) + 2];
    x[item] += alpha * p[item];
    r[item] -= alpha * q[item];
    ITEM_END
}
#endif

#if !defined(HANDLES_ONE) || defined(HANDLES_WORST)
OLD_ITEM_KERNEL cutis_handles_worst(GLOBAL const double *r, GLOBAL const double *inverse,
                                    GLOBAL double *partial, int count, int lanes, ITEM_ARGS)
{
    OLD_BEGIN ITEM_BEGIN int first = item / lanes * HANDLES_SUM, end = first + HANDLES_SUM;
    double worst = 0;
    if (end > count) end = count;
    for (int i = first; i < end; i++) {
        double size = MAGNITUDE(r[(INDEX)i * lanes + item % lanes]) * inverse[i];
        worst = size > worst ? size : worst;
    }
    partial[item] = worst;
    ITEM_END
}
#endif

/// Which lanes have converged; `going` is set while one has not.
#if !defined(HANDLES_ONE) || defined(HANDLES_DONE)
OLD_ITEM_KERNEL cutis_handles_done(GLOBAL const double *partial, GLOBAL double *scalars,
                                   GLOBAL int *going, int sums, int lanes, double tolerance,
                                   ITEM_ARGS)
{
    OLD_BEGIN ITEM_BEGIN double worst = 0;
    for (int c = 0; c < sums; c++) {
        double size = partial[(INDEX)c * lanes + item];
        worst = size > worst ? size : worst;
    }
    if (worst < tolerance) scalars[4 * item + 3] = 1;
    if (scalars[4 * item + 3] == 0) RAISE(going[0]);
    ITEM_END
}
#endif

/// Values of a voxel: 1 and 0 where it is fixed, else its node's, clamped and divided by their sum.
#if !defined(HANDLES_ONE) || defined(HANDLES_VALUES)
OLD_ITEM_KERNEL cutis_handles_values(GLOBAL const unsigned *node, GLOBAL const unsigned *owner,
                                     GLOBAL const double *x, GLOBAL float *values, int lanes,
                                     ITEM_ARGS)
{
    OLD_BEGIN ITEM_BEGIN INDEX to = (INDEX)item * lanes;
    double sum = 0;
    for (int s = 0; s < lanes; s++) {
        float value = owner[item] == (unsigned)s ? 1 : 0;
        if (owner[item] == HANDLES_NONE) {
            value = (float)x[(INDEX)node[item] * lanes + s];
            value = value < 0 ? 0 : value > 1 ? 1 : value;
        }
        values[to + s] = value;
        sum += value;
    }
    if (sum > 0)
        for (int s = 0; s < lanes; s++) values[to + s] = (float)(values[to + s] / sum);
    ITEM_END
}
#endif

// Vertices
// --------------------------------------------------------------------------------------------

FN double handles_spline(double x, int k)
{
    double y = 1 - x;
    if (k == 0) return y * y * y / 6;
    if (k == 1) return (3 * x * x * x - 6 * x * x + 4) / 6;
    if (k == 2) return (3 * y * y * y - 6 * y * y + 4) / 6;
    return x * x * x / 6;
}

#if defined(KERNEL_OPENCL)
#define HANDLES_WORD ulong
#else
#define HANDLES_WORD unsigned long long
#endif

/// Voxels of a 4 x 4 x 4 block that `own` reaches by steps inside it (bit: x + 4 y + 16 z).
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

/// The largest weights of a vertex, by ascending joint, summing to one; and what was dropped.
/// `sums`: `sites` per vertex of scratch, vertex after vertex within a site.
#if !defined(HANDLES_ONE) || defined(HANDLES_SAMPLE)
OLD_ITEM_KERNEL cutis_handles_sample(GLOBAL const unsigned *index, GLOBAL const float *values,
                                     GLOBAL const float *positions,
                                     GLOBAL const unsigned *joint_site,
                                     GLOBAL const unsigned *sharers, GLOBAL double *sums,
                                     GLOBAL unsigned *joints, GLOBAL float *weights,
                                     GLOBAL double *dropped, int vertices, int sites,
                                     int joint_count, int width, int size_x, int size_y, double ox,
                                     double oy, double oz, double step, ITEM_ARGS)
{
    OLD_BEGIN ITEM_BEGIN double wx[4], wy[4], wz[4], tap_weight[64], kept[HANDLES_SLOTS];
    unsigned tap[64], slot[HANDLES_SLOTS];
    double px = ((double)positions[3 * (INDEX)item] - ox) / step;
    double py = ((double)positions[3 * (INDEX)item + 1] - oy) / step;
    double pz = ((double)positions[3 * (INDEX)item + 2] - oz) / step;
    // Places are positive (the padding), so conversion is floor.
    int bx = (int)(px - 0.5), by = (int)(py - 0.5), bz = (int)(pz - 0.5), taps = 0;
    for (int k = 0; k < 4; k++) {
        wx[k] = handles_spline(px - 0.5 - bx, k);
        wy[k] = handles_spline(py - 0.5 - by, k);
        wz[k] = handles_spline(pz - 0.5 - bz, k);
    }
    INDEX corner = ((INDEX)(bz - 1) * size_y + (by - 1)) * size_x + (bx - 1);
    HANDLES_WORD inside = 0, own = 1;
    for (int bit = 0; bit < 64; bit++) {
        INDEX place = corner + ((INDEX)(bit >> 4) * size_y + (bit >> 2 & 3)) * size_x + (bit & 3);
        if (index[place] != HANDLES_NONE) inside |= (HANDLES_WORD)1 << bit;
    }
    own <<= ((int)px - bx + 1) + 4 * ((int)py - by + 1) + 16 * ((int)pz - bz + 1);
    inside = handles_reach(own, inside);
    for (int bit = 0; bit < 64; bit++)
        if (inside >> bit & 1) {
            INDEX place =
                corner + ((INDEX)(bit >> 4) * size_y + (bit >> 2 & 3)) * size_x + (bit & 3);
            tap[taps] = index[place];
            tap_weight[taps++] = wx[bit & 3] * wy[bit >> 2 & 3] * wz[bit >> 4];
        }
    double all = 0;
    for (int s = 0; s < sites; s++) {
        double sum = 0;
        for (int t = 0; t < taps; t++) sum += tap_weight[t] * values[(INDEX)tap[t] * sites + s];
        sums[(INDEX)s * vertices + item] = sum;
        all += sum;
    }
    for (int i = 0; i < width; i++) kept[i] = 0, slot[i] = 0;
    for (int j = 0; j < joint_count; j++) {
        unsigned site = joint_site[j];
        double weight = 0;
        if (site != HANDLES_NONE && all > 0)
            weight = sums[(INDEX)site * vertices + item] / all / sharers[site];
        if (weight > kept[width - 1]) {
            int to = width - 1;
            for (; to > 0 && weight > kept[to - 1]; to--)
                kept[to] = kept[to - 1], slot[to] = slot[to - 1];
            kept[to] = weight, slot[to] = (unsigned)j;
        }
    }
    double sum = 0;
    for (int i = 0; i < width; i++) sum += kept[i];
    for (int i = 1; i < width; i++)
        for (int j = i; j > 0 && kept[j] > 0 && slot[j] < slot[j - 1]; j--) {
            double weight = kept[j];
            unsigned joint = slot[j];
            kept[j] = kept[j - 1], slot[j] = slot[j - 1];
            kept[j - 1] = weight, slot[j - 1] = joint;
        }
    for (int i = 0; i < width; i++) {
        joints[(INDEX)item * width + i] = slot[i];
        weights[(INDEX)item * width + i] = (float)(kept[i] / sum);
    }
    dropped[item] = 1 - sum > 0 ? 1 - sum : 0;
    ITEM_END
}
#endif

#endif
