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
#if KERNEL_LANES > 1
FN REAL moments_root(REAL x)
{
    for (int l = 0; l < KERNEL_LANES; l++) x[l] = ROOT(x[l]);
    return x;
}
#else
#define moments_root(x) ROOT(x)
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

// Where its original weights take a unit (x), where the weights `moved` do (y, if second), and how
// far from there candidates alone do (images, `step` doubles apart).
FN void moments_images_of(GLOBAL const double *positions, GLOBAL const int *first,
                          GLOBAL const int *control, GLOBAL const double *weight,
                          GLOBAL const int *keep, GLOBAL const double *moved,
                          GLOBAL const double *palette, moments_sizes sizes, int unit,
                          GLOBAL double *x, GLOBAL double *y, GLOBAL double *images, int step)
{
    const double px = positions[3 * unit], py = positions[3 * unit + 1],
                 pz = positions[3 * unit + 2];
    GLOBAL double *next = images;
    moments_vector sum, now;
    sum.x = sum.y = sum.z = SPLAT(0.0);
    now = sum;
    for (int i = first[unit]; i < first[unit + 1]; i++) {
        const moments_vector image = moments_image(
            palette + (INDEX)control[i] * sizes.blocks_all * 12 * MOMENTS_BLOCK, px, py, pz);
        sum = moments_sum(sum, moments_scaled(image, SPLAT(weight[i])));
        if (sizes.second) now = moments_sum(now, moments_scaled(image, SPLAT(moved[i])));
        if (!keep[i]) continue;
        moments_store(next, image);
        next += step;
    }
    moments_store(x, sum);
    if (sizes.second) moments_store(y, now);
    if (sizes.bent) sum = now;
    for (; images != next; images += step)
        moments_store(images, moments_less(moments_load(images), sum));
}

// A face's normal, as long as twice its area, and that length. corner: places in listed_unit.
FN void moments_face_of(GLOBAL const int *corner, int unit_base, GLOBAL const double *x, int step,
                        GLOBAL double *out)
{
    const moments_vector a = moments_load(x + (INDEX)(corner[0] - unit_base) * step),
                         b = moments_load(x + (INDEX)(corner[1] - unit_base) * step),
                         c = moments_load(x + (INDEX)(corner[2] - unit_base) * step);
    const moments_vector normal = moments_cross(moments_less(b, a), moments_less(c, a));
    moments_store(out, normal);
    STORE(out + 3 * MOMENTS_BLOCK, moments_root(moments_dot(normal, normal)));
}

// The sum of a fan's normals; size: of their lengths.
FN moments_vector moments_fan(GLOBAL const int *weld_face, GLOBAL const int *fan, int weld,
                              int face_base, GLOBAL const double *faces, int step, REAL *size)
{
    moments_vector normal;
    normal.x = normal.y = normal.z = SPLAT(0.0);
    *size = SPLAT(0.0);
    for (int f = weld_face[weld]; f < weld_face[weld + 1]; f++) {
        GLOBAL const double *face = faces + (INDEX)(fan[f] - face_base) * step;
        normal = moments_sum(normal, moments_load(face));
        *size = *size + LOAD(face + 3 * MOMENTS_BLOCK);
    }
    return normal;
}

// What an error of a rim's unit is multiplied with: opposite edges, summed.
FN moments_vector moments_edge(GLOBAL const int *rim_edge, GLOBAL const int *edge_end, int rim,
                               int unit_base, GLOBAL const double *x, int step)
{
    moments_vector edge;
    edge.x = edge.y = edge.z = SPLAT(0.0);
    for (int e = rim_edge[rim]; e < rim_edge[rim + 1]; e++) {
        const int end = edge_end[e];
        const int unit = (end < 0 ? -end : end) - 1 - unit_base;
        const moments_vector place = moments_load(x + (INDEX)unit * step);
        edge = end < 0 ? moments_less(edge, place) : moments_sum(edge, place);
    }
    return edge;
}

// Where things of a block of poses are kept: x, y: three vectors a unit; images: a row; faces, old
// (about a bent surface: where the original weights take them): four a face. From one to the next
// are three (four) times `step` doubles.
STRUCT(moments_kept)
{
    GLOBAL double *x, *y, *images, *faces, *old;
    int step;
};

FN moments_kept moments_keep(moments_sizes sizes, GLOBAL double *scratch, int block, int at)
{
    moments_kept kept;
    const INDEX size = (INDEX)MOMENTS_BLOCK * sizes.kept;
    kept.step = MOMENTS_BLOCK * sizes.kept;
    kept.x = scratch + 3 * MOMENTS_BLOCK * block + at;
    kept.y = kept.x + 3 * sizes.units * size;
    kept.images = kept.y + 3 * sizes.units * size;
    kept.faces = kept.images + 3 * sizes.slots * size + MOMENTS_BLOCK * block;
    kept.old = kept.faces + 4 * sizes.faces * size;
    return kept;
}

// What a weld's normal comes to: its frame (t: two tangents, times the scale of its rows), and
// about a bent surface what candidates should come to beyond what they do now (pull).
FN void moments_frame(GLOBAL const int *weld_face, GLOBAL const int *fan, moments_sizes sizes,
                      moments_kept kept, int weld, REAL scale, moments_vector *t, REAL *pull)
{
    REAL size;
    moments_vector normal =
        moments_fan(weld_face, fan, weld, sizes.face_base, kept.faces, 4 * kept.step, &size);
    const REAL length = moments_root(moments_dot(normal, normal));
    normal = moments_unit(normal, length);
    moments_tangents(normal, &t[0], &t[1]);
    if (sizes.bent) size = size * 0.5;
    const REAL spread = moments_root(length * length + size * size) + sizes.floor;
    const REAL factor = scale / spread;
    if (sizes.bent) {
        REAL other;
        const REAL most = SELECT_LESS(length, size * 0.2, size * 0.2, length);
        moments_vector old =
            moments_fan(weld_face, fan, weld, sizes.face_base, kept.old, 4 * kept.step, &other);
        old = moments_unit(old, moments_root(moments_dot(old, old)));
        const moments_vector way = moments_way(normal, old);
        for (int k = 0; k < 2; k++) pull[k] = factor * most * moments_dot(way, t[k]);
    }
    for (int k = 0; k < 2; k++) t[k] = moments_scaled(t[k], factor);
}

FN void moments_pair(GLOBAL double *out, REAL along, REAL across)
{
    STORE(out, along);
    STORE(out + MOMENTS_BLOCK, across);
}

// Rows of a weld in a block of poses: the change of its normal along both tangents by a unit of
// every kept candidate's weight. Behind them, about a bent surface, a row of what the candidates
// should come to. rows: the first one's place for this block.
FN void moments_rows_of(MOMENTS_WELD_BUFFERS(ITEM_IN, ITEM_OUT) GLOBAL const int *unit_slot,
                        moments_sizes sizes, moments_kept kept, int weld, REAL scale,
                        GLOBAL double *rows)
{
    moments_vector t[2];
    REAL pull[2];
    const int step = 3 * kept.step;
    moments_frame(weld_face, fan, sizes, kept, weld, scale * copies[weld], t, pull);
    for (int r = weld_rim[weld]; r < weld_rim[weld + 1]; r++) {
        const moments_vector edge = moments_edge(rim_edge, edge_end, r, sizes.unit_base,
                                                 sizes.bent ? kept.y : kept.x, step);
        const moments_vector along = moments_cross(edge, t[0]), across = moments_cross(edge, t[1]);
        for (int s = unit_slot[rim[r]]; s < unit_slot[rim[r] + 1]; s++, rows += sizes.stride) {
            const moments_vector offset =
                moments_load(kept.images + (INDEX)(s - sizes.slot_base) * step);
            moments_pair(rows, moments_dot(offset, along), moments_dot(offset, across));
        }
    }
    if (sizes.bent) moments_pair(rows, pull[0], pull[1]);
}

// The square of how far the errors of the weights `moved` turn a weld's normal.
FN REAL moments_turn(MOMENTS_WELD_BUFFERS(ITEM_IN, ITEM_OUT) moments_sizes sizes, moments_kept kept,
                     int weld, REAL scale)
{
    moments_vector t[2], turn;
    REAL pull[2];
    const int step = 3 * kept.step;
    moments_frame(weld_face, fan, sizes, kept, weld, scale * copies[weld], t, pull);
    turn.x = turn.y = turn.z = SPLAT(0.0);
    for (int r = weld_rim[weld]; r < weld_rim[weld + 1]; r++) {
        const INDEX unit = (INDEX)(rim[r] - sizes.unit_base) * step;
        const moments_vector edge =
            moments_edge(rim_edge, edge_end, r, sizes.unit_base, kept.x, step);
        const moments_vector error =
            moments_less(moments_load(kept.y + unit), moments_load(kept.x + unit));
        turn = moments_sum(turn, moments_cross(error, edge));
    }
    pull[0] = moments_dot(turn, t[0]);
    pull[1] = moments_dot(turn, t[1]);
    return pull[0] * pull[0] + pull[1] * pull[1];
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

// A clump's units and faces in a block of poses. own: the task's scratch.
FN moments_kept moments_clump(MOMENTS_UNIT_BUFFERS(ITEM_IN, ITEM_OUT) GLOBAL const int *face,
                              moments_sizes sizes, int unit_end, int face_end, int block, int at,
                              GLOBAL double *own)
{
    const moments_kept kept = moments_keep(sizes, own, 0, at);
    const INDEX step = kept.step;
    GLOBAL const double *palette = matrices + (INDEX)block * 12 * MOMENTS_BLOCK + at;
    for (int u = sizes.unit_base; u < unit_end; u++)
        moments_images_of(positions, first, control, weight, keep, moved, palette, sizes,
                          listed_unit[u], kept.x + 3 * step * (u - sizes.unit_base),
                          kept.y + 3 * step * (u - sizes.unit_base),
                          kept.images + 3 * step * (unit_slot[u] - sizes.slot_base), 3 * kept.step);
    for (int f = sizes.face_base; f < face_end; f++) {
        const INDEX to = 4 * step * (f - sizes.face_base);
        moments_face_of(face + 3 * (INDEX)f, sizes.unit_base, sizes.bent ? kept.y : kept.x,
                        3 * kept.step, kept.faces + to);
        if (sizes.bent)
            moments_face_of(face + 3 * (INDEX)f, sizes.unit_base, kept.x, 3 * kept.step,
                            kept.old + to);
    }
    return kept;
}

ITEM_KERNEL(moments_gram, MOMENTS_GRAM_BUFFERS)
{
    ITEM_BEGIN
    moments_sizes sizes = given.sizes;
    const int clump = sizes.item + item, weld_first = clump_weld[clump],
              weld_end = clump_weld[clump + 1], end = sizes.block_first + sizes.blocks;
    GLOBAL double *own =
        scratch + (INDEX)(item / MOMENTS_CLUMPS) *
                      (MOMENTS_KEPT((INDEX)sizes.units, sizes.slots, sizes.faces, sizes.kept) +
                       (INDEX)sizes.rows * sizes.stride);
    GLOBAL double *rows =
        own + MOMENTS_KEPT((INDEX)sizes.units, sizes.slots, sizes.faces, sizes.kept);
    sizes.unit_base = clump_unit[clump];
    sizes.slot_base = unit_slot[sizes.unit_base];
    sizes.face_base = clump_face[clump];
    for (int begin = sizes.block_first; begin < end; begin += MOMENTS_CHUNK) {
        const int blocks = end - begin < MOMENTS_CHUNK ? end - begin : MOMENTS_CHUNK;
        for (int block = begin; block < begin + blocks; block++)
            for (int at = 0; at < MOMENTS_BLOCK; at += KERNEL_LANES) {
                const moments_kept kept =
                    moments_clump(MOMENTS_UNIT_BUFFERS(MOMENTS_PASS, MOMENTS_PASS) face, sizes,
                                  clump_unit[clump + 1], clump_face[clump + 1], block, at, own);
                const REAL scale = LOAD(pose_scales + (INDEX)block * MOMENTS_BLOCK + at);
                for (int weld = weld_first; weld < weld_end; weld++)
                    moments_rows_of(
                        MOMENTS_WELD_BUFFERS(MOMENTS_PASS, MOMENTS_PASS) unit_slot, sizes, kept,
                        weld, scale,
                        rows + (INDEX)(row_first[weld] - row_first[weld_first]) * sizes.stride +
                            2 * MOMENTS_BLOCK * (block - begin) + at);
            }
        for (int weld = weld_first; weld < weld_end; weld++)
            moments_products(rows + (INDEX)(row_first[weld] - row_first[weld_first]) * sizes.stride,
                             sizes.stride, row_first[weld + 1] - row_first[weld],
                             2 * MOMENTS_BLOCK * blocks, gram + gram_first[weld]);
    }
    ITEM_END
}

ITEM_KERNEL(moments_energy, MOMENTS_ENERGY_BUFFERS)
{
    ITEM_BEGIN
    moments_sizes sizes = given.sizes;
    const int clump = sizes.item + item, weld_first = clump_weld[clump],
              weld_end = clump_weld[clump + 1], begin = clump_weld[sizes.item];
    GLOBAL double *own =
        scratch + (INDEX)(item / MOMENTS_CLUMPS) *
                      (MOMENTS_KEPT((INDEX)sizes.units, sizes.slots, sizes.faces, sizes.kept) +
                       (INDEX)sizes.rows * sizes.stride);
    sizes.unit_base = clump_unit[clump];
    sizes.slot_base = unit_slot[sizes.unit_base];
    sizes.face_base = clump_face[clump];
    for (int i = MOMENTS_BLOCK * (weld_first - begin); i < MOMENTS_BLOCK * (weld_end - begin); i++)
        part[i] = 0;
    for (int block = sizes.block_first; block < sizes.block_first + sizes.blocks; block++)
        for (int at = 0; at < MOMENTS_BLOCK; at += KERNEL_LANES) {
            const moments_kept kept =
                moments_clump(MOMENTS_UNIT_BUFFERS(MOMENTS_PASS, MOMENTS_PASS) face, sizes,
                              clump_unit[clump + 1], clump_face[clump + 1], block, at, own);
            const REAL scale = LOAD(pose_scales + (INDEX)block * MOMENTS_BLOCK + at);
            for (int weld = weld_first; weld < weld_end; weld++) {
                GLOBAL double *sum = part + MOMENTS_BLOCK * (weld - begin) + at;
                STORE(sum, LOAD(sum) + moments_turn(MOMENTS_WELD_BUFFERS(MOMENTS_PASS, MOMENTS_PASS)
                                                        sizes,
                                                    kept, weld, scale));
            }
        }
    ITEM_END
}

ITEM_KERNEL(moments_place, MOMENTS_PLACE_BUFFERS)
{
    ITEM_BEGIN
    const moments_sizes sizes = given.sizes;
    const int own_free = sizes.item + item, unit = free_unit[own_free],
              end = sizes.block_first + sizes.blocks;
    GLOBAL double *own = scratch + (INDEX)(item / MOMENTS_UNITS) * sizes.rows * sizes.stride;
    int count = 0;
    for (int i = first[unit]; i < first[unit + 1]; i++) count += keep[i];
    for (int begin = sizes.block_first; begin < end; begin += MOMENTS_CHUNK) {
        const int blocks = end - begin < MOMENTS_CHUNK ? end - begin : MOMENTS_CHUNK;
        for (int block = begin; block < begin + blocks; block++)
            for (int at = 0; at < MOMENTS_BLOCK; at += KERNEL_LANES) {
                // Behind the rows there is room for one more: where the unit is.
                GLOBAL double *to = own + 3 * MOMENTS_BLOCK * (block - begin) + at,
                              *x = to + (INDEX)(sizes.rows - 1) * sizes.stride;
                const REAL scale = LOAD(pose_scales + (INDEX)block * MOMENTS_BLOCK + at);
                moments_images_of(positions, first, control, weight, keep, moved,
                                  matrices + (INDEX)block * 12 * MOMENTS_BLOCK + at, sizes, unit, x,
                                  x, to, sizes.stride);
                for (int s = 0; s < count; s++, to += sizes.stride)
                    moments_store(to, moments_scaled(moments_load(to), scale));
            }
        moments_products(own, sizes.stride, count, 3 * MOMENTS_BLOCK * blocks,
                         place + place_first[own_free]);
    }
    ITEM_END
}

#endif
