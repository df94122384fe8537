/// Moments of a skin's errors (docs/spec/reduction.md 2.8): what errors of weights do to the normal
/// of a weld, pose by pose, as rows whose products are summed over poses. With KERNEL_DOUBLE.
///
/// Poses are done KERNEL_LANES side by side, one a lane of REAL: a block of eight on a CPU, one on
/// a GPU. Invariant: a sum over poses has one part for each place in a block, summed in the order
/// of the blocks, and then the parts in theirs; nothing is contracted; so the bits depend neither
/// on the number of lanes nor on what else is done.
#ifndef CUTIS_KERNEL_MOMENTS_H
#define CUTIS_KERNEL_MOMENTS_H

#include "item.h"
#include "moments_arguments.h"

#ifndef LOAD
#define LOAD(p)     (*(p))
#define STORE(p, x) (*(p) = (x))
#endif
// The scratch of an item: a CPU's task does its items one after the other.
#if KERNEL_LANES > 1
#define MOMENTS_OWN(item) ((item) / MOMENTS_TASK)
FN REAL moments_root(REAL x)
{
    for (int l = 0; l < KERNEL_LANES; l++) x[l] = ROOT(x[l]);
    return x;
}
#else
#define MOMENTS_OWN(item) (item)
#define moments_root(x)   ROOT(x)
#endif

// The angle whose sine (>= 0) and cosine these are, up to a common factor: halved three times, then
// a series, to 1e-8.
FN REAL moments_angle(REAL sine, REAL cosine)
{
    const REAL tiny = SPLAT(1e-300);
    for (int i = 0; i < 3; i++) { // tan(a / 2) = sin a / (1 + cos a), as a sine and a cosine again
        const REAL length = moments_root(sine * sine + cosine * cosine);
        cosine = cosine + length;
        cosine = SELECT_LESS(cosine, tiny, tiny, cosine);
    }
    const REAL t = sine / cosine, u = t * t;
    REAL sum = SPLAT(1.0 / 17);
    for (int i = 15; i > 0; i -= 2) sum = SPLAT(1.0) / i - u * sum;
    return SPLAT(8.0) * t * sum;
}
#define MOMENTS_PASS(type, name) name,

STRUCT(moments_vector)
{
    REAL x, y, z;
};

FN moments_vector moments_load(GLOBAL const double *p)
{
    moments_vector v;
    v.x = LOAD(p);
    v.y = LOAD(p + MOMENTS_BLOCK);
    v.z = LOAD(p + 2 * MOMENTS_BLOCK);
    return v;
}
FN void moments_store(GLOBAL double *p, moments_vector v)
{
    STORE(p, v.x);
    STORE(p + MOMENTS_BLOCK, v.y);
    STORE(p + 2 * MOMENTS_BLOCK, v.z);
}
FN moments_vector moments_less(moments_vector a, moments_vector b)
{
    a.x = a.x - b.x;
    a.y = a.y - b.y;
    a.z = a.z - b.z;
    return a;
}
FN moments_vector moments_sum(moments_vector a, moments_vector b)
{
    a.x = a.x + b.x;
    a.y = a.y + b.y;
    a.z = a.z + b.z;
    return a;
}
FN moments_vector moments_scaled(moments_vector a, REAL s)
{
    a.x = a.x * s;
    a.y = a.y * s;
    a.z = a.z * s;
    return a;
}
FN REAL moments_dot(moments_vector a, moments_vector b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}
FN moments_vector moments_cross(moments_vector a, moments_vector b)
{
    moments_vector c;
    c.x = a.y * b.z - a.z * b.y;
    c.y = a.z * b.x - a.x * b.z;
    c.z = a.x * b.y - a.y * b.x;
    return c;
}

// Where a control takes a point. m: the first entry of its matrix in the block.
FN moments_vector moments_image(GLOBAL const double *m, double x, double y, double z)
{
    moments_vector v;
    v.x = LOAD(m) * x + LOAD(m + 8) * y + LOAD(m + 16) * z + LOAD(m + 24);
    v.y = LOAD(m + 32) * x + LOAD(m + 40) * y + LOAD(m + 48) * z + LOAD(m + 56);
    v.z = LOAD(m + 64) * x + LOAD(m + 72) * y + LOAD(m + 80) * z + LOAD(m + 88);
    return v;
}

// Where the original weights take a unit. palette: the block's matrices.
FN moments_vector moments_target(GLOBAL const double *positions, GLOBAL const int *first,
                                 GLOBAL const int *control, GLOBAL const double *weight,
                                 GLOBAL const double *palette, int unit)
{
    const double x = positions[3 * unit], y = positions[3 * unit + 1], z = positions[3 * unit + 2];
    moments_vector sum;
    sum.x = sum.y = sum.z = SPLAT(0.0);
    for (int i = first[unit]; i < first[unit + 1]; i++) {
        const moments_vector image =
            moments_image(palette + (INDEX)control[i] * 12 * MOMENTS_BLOCK, x, y, z);
        sum = moments_sum(sum, moments_scaled(image, SPLAT(weight[i])));
    }
    return sum;
}

// Two unit vectors across n, which is one too or 0, and across each other.
FN void moments_tangents(moments_vector n, moments_vector *t, moments_vector *u)
{
    const REAL one = SPLAT(1.0), side = SELECT_LESS(n.z, SPLAT(0.0), -one, one);
    const REAL a = -one / (side + n.z), b = n.x * n.y * a;
    t->x = one + side * n.x * n.x * a;
    t->y = side * b;
    t->z = -side * n.x;
    u->x = b;
    u->y = side + n.y * n.y * a;
    u->z = -n.y;
}

// The same, and what candidates `slot` to `end` do alone, which goes to images, three vectors each.
FN moments_vector moments_target_of(GLOBAL const double *positions, GLOBAL const int *first,
                                    GLOBAL const int *control, GLOBAL const double *weight,
                                    GLOBAL const double *palette, int unit, GLOBAL const int *slot,
                                    GLOBAL const int *end, GLOBAL double *images)
{
    const double x = positions[3 * unit], y = positions[3 * unit + 1], z = positions[3 * unit + 2];
    moments_vector sum;
    sum.x = sum.y = sum.z = SPLAT(0.0);
    for (int i = first[unit]; i < first[unit + 1]; i++) {
        const moments_vector image =
            moments_image(palette + (INDEX)control[i] * 12 * MOMENTS_BLOCK, x, y, z);
        sum = moments_sum(sum, moments_scaled(image, SPLAT(weight[i])));
        if (slot < end && first[unit] + *slot == i) {
            moments_store(images, image);
            images += 3 * MOMENTS_BLOCK;
            slot++;
        }
    }
    return sum;
}

// Where the weights `start` of its candidates take a free unit.
FN moments_vector moments_moved(GLOBAL const double *images, GLOBAL const double *start, int count)
{
    moments_vector sum;
    sum.x = sum.y = sum.z = SPLAT(0.0);
    for (int s = 0; s < count; s++) {
        if (start[s] == 0) continue;
        const moments_vector image = moments_load(images + 3 * MOMENTS_BLOCK * s);
        sum = moments_sum(sum, moments_scaled(image, SPLAT(start[s])));
    }
    return sum;
}

// The sum of a fan's normals; size: of their lengths; d (or NULL): for every place of the ring,
// what an error there does to it.
FN moments_vector moments_fan(GLOBAL const int *fan_first, GLOBAL const int *fan, int weld,
                              GLOBAL const double *x, GLOBAL double *d, int edges, REAL *size)
{
    moments_vector normal;
    normal.x = normal.y = normal.z = SPLAT(0.0);
    *size = SPLAT(0.0);
    for (int f = fan_first[weld]; f < fan_first[weld + 1]; f++) {
        const int i = 3 * MOMENTS_BLOCK * fan[3 * f], j = 3 * MOMENTS_BLOCK * fan[3 * f + 1],
                  k = 3 * MOMENTS_BLOCK * fan[3 * f + 2];
        const moments_vector a = moments_load(x + i), b = moments_load(x + j),
                             c = moments_load(x + k);
        const moments_vector face = moments_cross(moments_less(b, a), moments_less(c, a));
        normal = moments_sum(normal, face);
        *size = *size + moments_root(moments_dot(face, face));
        if (!edges) continue;
        moments_store(d + i, moments_sum(moments_load(d + i), moments_less(b, c)));
        moments_store(d + j, moments_sum(moments_load(d + j), moments_less(c, a)));
        moments_store(d + k, moments_sum(moments_load(d + k), moments_less(a, b)));
    }
    return normal;
}

// A vector of length 1, or 0.
FN moments_vector moments_unit(moments_vector v, REAL length)
{
    return moments_scaled(v, SELECT_LESS(SPLAT(0.0), length, SPLAT(1.0) / length, SPLAT(0.0)));
}

// The way from one unit vector to another along the sphere: across the first, as long as the angle.
FN moments_vector moments_way(moments_vector from, moments_vector to)
{
    const REAL zero = SPLAT(0.0), cosine = moments_dot(from, to);
    const moments_vector across = moments_less(to, moments_scaled(from, cosine));
    const REAL sine = moments_root(moments_dot(across, across));
    return moments_scaled(across,
                          SELECT_LESS(zero, sine, moments_angle(sine, cosine) / sine, zero));
}

// Where the original weights take the units of a weld's ring (x), and their candidates alone
// (images).
FN void moments_ring(GLOBAL const double *positions, GLOBAL const int *first,
                     GLOBAL const int *control, GLOBAL const double *weight,
                     GLOBAL const int *slot_first, GLOBAL const int *slot,
                     GLOBAL const int *ring_first, GLOBAL const int *ring,
                     GLOBAL const int *unit_free, int weld, GLOBAL const double *palette,
                     GLOBAL double *x, GLOBAL double *images)
{
    for (int r = ring_first[weld]; r < ring_first[weld + 1]; r++, x += 3 * MOMENTS_BLOCK) {
        const int own_free = unit_free[ring[r]];
        if (own_free < 0) {
            moments_store(x, moments_target(positions, first, control, weight, palette, ring[r]));
            continue;
        }
        GLOBAL const int *begin = slot + slot_first[own_free],
                         *end = slot + slot_first[own_free + 1];
        moments_store(x, moments_target_of(positions, first, control, weight, palette, ring[r],
                                           begin, end, images));
        images += 3 * MOMENTS_BLOCK * (end - begin);
    }
}

// Where the weights `start` take the free units of a weld's ring.
FN void moments_move(GLOBAL const int *slot_first, GLOBAL const int *ring_first,
                     GLOBAL const int *ring, GLOBAL const int *unit_free,
                     GLOBAL const double *start, int weld, GLOBAL const double *images,
                     GLOBAL double *x)
{
    for (int r = ring_first[weld]; r < ring_first[weld + 1]; r++, x += 3 * MOMENTS_BLOCK) {
        const int own_free = unit_free[ring[r]];
        if (own_free < 0) continue;
        const int count = slot_first[own_free + 1] - slot_first[own_free];
        moments_store(x, moments_moved(images, start + slot_first[own_free], count));
        images += 3 * MOMENTS_BLOCK * count;
    }
}

FN void moments_pair(GLOBAL double *out, REAL along, REAL across)
{
    STORE(out, along);
    STORE(out + MOMENTS_BLOCK, across);
}

// Rows of a weld in a block of poses: the change of its normal along both tangents by a unit of
// every candidate's weight. Behind them, about a bent surface, a row of what the candidates should
// come to: what they do now and the rest of the way to the original normal. own: the item's
// scratch; at: the first lane; keep: else there is one row only, of what `start` does.
// @return the number of rows
FN int moments_rows(MOMENTS_FAN_BUFFERS(ITEM_IN, ITEM_OUT) moments_sizes sizes, int weld,
                    GLOBAL double *own, int block, int at, int keep)
{
    const int begin = ring_first[weld], count = ring_first[weld + 1] - begin;
    const INDEX place = (INDEX)(sizes.block_first + block) * MOMENTS_BLOCK + at;
    GLOBAL const double *palette =
        matrices + (INDEX)(sizes.block_first + block) * sizes.controls * 12 * MOMENTS_BLOCK + at;
    const int stride = MOMENTS_STRIDE(sizes.blocks);
    GLOBAL double *x = own + at, *d = x + 3 * MOMENTS_BLOCK * sizes.ring_most,
                  *images =
                      d + 3 * MOMENTS_BLOCK * sizes.ring_most + (INDEX)stride * sizes.row_most,
                  *rows = d + 3 * MOMENTS_BLOCK * sizes.ring_most + 2 * MOMENTS_BLOCK * block;
    const REAL zero = SPLAT(0.0);
    moments_vector t[2], way;
    REAL size, pull[2];
    way.x = way.y = way.z = zero;
    moments_ring(positions, first, control, weight, slot_first, slot, ring_first, ring, unit_free,
                 weld, palette, x, images);
    for (int r = 0; r < count; r++) moments_store(d + 3 * MOMENTS_BLOCK * r, way);
    moments_vector normal = moments_fan(fan_first, fan, weld, x, d, !sizes.bent, &size);
    REAL length = moments_root(moments_dot(normal, normal));
    if (sizes.bent) {
        const moments_vector original = moments_unit(normal, length);
        moments_move(slot_first, ring_first, ring, unit_free, start, weld, images, x);
        normal = moments_fan(fan_first, fan, weld, x, d, 1, &size);
        length = moments_root(moments_dot(normal, normal));
        way = moments_way(moments_unit(normal, length), original);
        size = size * 0.5;
    }
    const REAL spread = moments_root(length * length + size * size) + sizes.floor;
    const REAL scale = LOAD(pose_scales + place) * copies[weld];
    moments_tangents(moments_unit(normal, length), &t[0], &t[1]);
    pull[0] = pull[1] = zero;
    int row = 0;
    for (int r = 0; r < count; r++) {
        const int own_free = unit_free[ring[begin + r]];
        if (own_free < 0) continue;
        const moments_vector place_now = moments_load(x + 3 * MOMENTS_BLOCK * r),
                             edge = moments_load(d + 3 * MOMENTS_BLOCK * r);
        const moments_vector along = moments_scaled(moments_cross(edge, t[0]), scale / spread),
                             across = moments_scaled(moments_cross(edge, t[1]), scale / spread);
        for (int s = slot_first[own_free]; s < slot_first[own_free + 1]; s++, row++) {
            const moments_vector offset =
                moments_less(moments_load(images + 3 * MOMENTS_BLOCK * row), place_now);
            const REAL one = moments_dot(offset, along), other = moments_dot(offset, across);
            pull[0] = pull[0] + one * start[s];
            pull[1] = pull[1] + other * start[s];
            if (keep) moments_pair(rows + (INDEX)row * stride, one, other);
        }
    }
    if (keep && !sizes.bent) return row;
    if (!keep) row = 0;
    const REAL most = SELECT_LESS(length, size * 0.2, size * 0.2, length) / spread;
    for (int k = 0; k < 2 && sizes.bent; k++)
        pull[k] = pull[k] + scale * most * moments_dot(way, t[k]);
    moments_pair(rows + (INDEX)row * stride, pull[0], pull[1]);
    return row + 1;
}

// Sums of products of rows of `length` doubles, in the order of the invariant.
#if KERNEL_LANES > 1
#ifdef __AVX512F__
#define MOMENTS_TILE 4
#else
#define MOMENTS_TILE 2
#endif
// Products of rows a to a + height and b to b + MOMENTS_TILE, which stay in registers, added to the
// lower triangle `out`. height: a constant.
static inline __attribute__((always_inline)) void moments_tile(const double *rows, int stride,
                                                               int a, int b, int height, int count,
                                                               int length, double *out)
{
    double part[MOMENTS_TILE * MOMENTS_TILE][KERNEL_LANES], all[MOMENTS_TILE * MOMENTS_TILE];
    REAL sum[MOMENTS_TILE][MOMENTS_TILE];
    const double *p[MOMENTS_TILE], *q[MOMENTS_TILE];
    for (int i = 0; i < MOMENTS_TILE; i++) {
        p[i] = rows + (INDEX)(a + i) * stride;
        q[i] = rows + (INDEX)(b + i < count ? b + i : count - 1) * stride;
        for (int j = 0; j < MOMENTS_TILE; j++) sum[i][j] = SPLAT(0.0);
    }
    for (int at = 0; at < length; at += KERNEL_LANES) {
        REAL u[MOMENTS_TILE], v[MOMENTS_TILE];
        for (int i = 0; i < MOMENTS_TILE; i++) v[i] = LOAD(q[i] + at);
        for (int i = 0; i < height; i++) u[i] = LOAD(p[i] + at);
        for (int i = 0; i < height; i++)
            for (int j = 0; j < MOMENTS_TILE; j++) sum[i][j] = sum[i][j] + u[i] * v[j];
    }
    // Lanes are added for all products side by side: one after the other each would wait for
    // itself.
    for (int i = 0; i < height; i++)
        for (int j = 0; j < MOMENTS_TILE; j++) STORE(part[i * MOMENTS_TILE + j], sum[i][j]);
    for (int k = 0; k < height * MOMENTS_TILE; k++) all[k] = 0;
    for (int l = 0; l < KERNEL_LANES; l++)
        for (int k = 0; k < height * MOMENTS_TILE; k++) all[k] += part[k][l];
    for (int i = 0; i < height; i++)
        for (int j = 0; j < MOMENTS_TILE && b + j <= a + i; j++)
            out[(INDEX)(a + i) * (a + i + 1) / 2 + b + j] += all[i * MOMENTS_TILE + j];
}

// All products of `count` rows.
FN void moments_products(const double *rows, int stride, int count, int length, double *out)
{
    int a = 0;
    for (; a + MOMENTS_TILE <= count; a += MOMENTS_TILE)
        for (int b = 0; b <= a; b += MOMENTS_TILE)
            moments_tile(rows, stride, a, b, MOMENTS_TILE, count, length, out);
    for (; a < count; a++)
        for (int b = 0; b <= a; b += MOMENTS_TILE)
            moments_tile(rows, stride, a, b, 1, count, length, out);
}
#else
FN void moments_products(GLOBAL const double *rows, int stride, int count, int length,
                         GLOBAL double *out)
{
    for (int a = 0; a < count; a++)
        for (int b = 0; b <= a; b++) {
            GLOBAL const double *p = rows + (INDEX)a * stride, *q = rows + (INDEX)b * stride;
            double sum[MOMENTS_BLOCK], all = 0;
            for (int l = 0; l < MOMENTS_BLOCK; l++) sum[l] = 0;
            for (int at = 0; at < length; at += MOMENTS_BLOCK)
                for (int l = 0; l < MOMENTS_BLOCK; l++) sum[l] = sum[l] + p[at + l] * q[at + l];
            for (int l = 0; l < MOMENTS_BLOCK; l++) all += sum[l];
            out[(INDEX)a * (a + 1) / 2 + b] += all;
        }
}
#endif

ITEM_KERNEL(moments_gram, MOMENTS_GRAM_BUFFERS)
{
    ITEM_BEGIN
    const moments_sizes sizes = given.sizes;
    const int weld = sizes.item + item;
    GLOBAL double *own =
        scratch +
        (INDEX)MOMENTS_OWN(item) * MOMENTS_SCRATCH(sizes.ring_most, sizes.row_most, sizes.blocks);
    int rows = 0;
    for (int block = 0; block < sizes.blocks; block++)
        for (int at = 0; at < MOMENTS_BLOCK; at += KERNEL_LANES)
            rows = moments_rows(MOMENTS_FAN_BUFFERS(MOMENTS_PASS, MOMENTS_PASS) sizes, weld, own,
                                block, at, 1);
    moments_products(own + 6 * MOMENTS_BLOCK * sizes.ring_most, MOMENTS_STRIDE(sizes.blocks), rows,
                     2 * MOMENTS_BLOCK * sizes.blocks, gram + gram_first[item]);
    ITEM_END
}

ITEM_KERNEL(moments_energy, MOMENTS_ENERGY_BUFFERS)
{
    ITEM_BEGIN
    const moments_sizes sizes = given.sizes;
    const int weld = sizes.item + item, length = 2 * MOMENTS_BLOCK * sizes.blocks;
    GLOBAL double *own =
        scratch +
        (INDEX)MOMENTS_OWN(item) * MOMENTS_SCRATCH(sizes.ring_most, sizes.row_most, sizes.blocks);
    GLOBAL const double *rows = own + 6 * MOMENTS_BLOCK * sizes.ring_most;
    for (int block = 0; block < sizes.blocks; block++)
        for (int at = 0; at < MOMENTS_BLOCK; at += KERNEL_LANES)
            moments_rows(MOMENTS_FAN_BUFFERS(MOMENTS_PASS, MOMENTS_PASS) sizes, weld, own, block,
                         at, 0);
    double all = 0;
    for (int i = 0; i < length; i++) all += rows[i] * rows[i];
    part[item] = all;
    ITEM_END
}

ITEM_KERNEL(moments_place, MOMENTS_PLACE_BUFFERS)
{
    ITEM_BEGIN
    const moments_sizes sizes = given.sizes;
    const int own_free = sizes.item + item, unit = free_unit[own_free],
              count = slot_first[own_free + 1] - slot_first[own_free],
              length = 3 * MOMENTS_BLOCK * sizes.blocks;
    GLOBAL double *own = scratch + (INDEX)MOMENTS_OWN(item) * sizes.row_most * length;
    for (int block = 0; block < sizes.blocks; block++)
        for (int at = 0; at < MOMENTS_BLOCK; at += KERNEL_LANES) {
            const INDEX b = sizes.block_first + block;
            GLOBAL const double *palette = matrices + b * sizes.controls * 12 * MOMENTS_BLOCK + at;
            const REAL scale = LOAD(pose_scales + b * MOMENTS_BLOCK + at);
            const moments_vector target =
                moments_target(positions, first, control, weight, palette, unit);
            for (int s = 0; s < count; s++) {
                const int i = control[first[unit] + slot[slot_first[own_free] + s]];
                const moments_vector image =
                    moments_image(palette + (INDEX)i * 12 * MOMENTS_BLOCK, positions[3 * unit],
                                  positions[3 * unit + 1], positions[3 * unit + 2]);
                moments_store(own + (INDEX)s * length + 3 * MOMENTS_BLOCK * block + at,
                              moments_scaled(moments_less(image, target), scale));
            }
        }
    moments_products(own, length, count, length, place + place_first[own_free]);
    ITEM_END
}

#endif
