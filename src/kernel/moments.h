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

// Blocks that are done together on a CPU, so that lists are walked once for all of them.
#if KERNEL_LANES > 1
#define MOMENTS_FN static inline __attribute__((always_inline, unused))
#else
#undef MOMENTS_TOGETHER
#define MOMENTS_TOGETHER 1
#define MOMENTS_FN       FN
#endif

STRUCT(moments_vector)
{
    REAL x, y, z;
};
FN moments_vector moments_zero(void)
{
    moments_vector v;
    v.x = v.y = v.z = SPLAT(0.0);
    return v;
}

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
// far from there candidates alone do (images, `step` doubles apart), in `count` blocks.
MOMENTS_FN void moments_images_of(GLOBAL const double *positions, GLOBAL const int *first,
                                  GLOBAL const int *control, GLOBAL const double *weight,
                                  GLOBAL const int *keep, GLOBAL const double *moved,
                                  GLOBAL const double *palette, moments_sizes sizes, int unit,
                                  int count, GLOBAL double *x, GLOBAL double *y,
                                  GLOBAL double *images, int step)
{
    const double px = positions[3 * unit], py = positions[3 * unit + 1],
                 pz = positions[3 * unit + 2];
    GLOBAL double *next = images;
    moments_vector sum[MOMENTS_TOGETHER], now[MOMENTS_TOGETHER];
    for (int g = 0; g < count; g++) sum[g] = now[g] = moments_zero();
    for (int i = first[unit]; i < first[unit + 1]; i++) {
        GLOBAL const double *m =
            palette + (INDEX)control[i] * sizes.blocks_all * 12 * MOMENTS_BLOCK;
        for (int g = 0; g < count; g++) {
            const moments_vector image = moments_image(m + 12 * MOMENTS_BLOCK * g, px, py, pz);
            sum[g] = moments_sum(sum[g], moments_scaled(image, SPLAT(weight[i])));
            if (sizes.second) now[g] = moments_sum(now[g], moments_scaled(image, SPLAT(moved[i])));
            if (keep[i]) moments_store(next + 3 * MOMENTS_BLOCK * g, image);
        }
        if (keep[i]) next += step;
    }
    for (int g = 0; g < count; g++) {
        moments_store(x + 3 * MOMENTS_BLOCK * g, sum[g]);
        if (sizes.second) moments_store(y + 3 * MOMENTS_BLOCK * g, now[g]);
        if (sizes.bent) sum[g] = now[g];
    }
    for (; images != next; images += step)
        for (int g = 0; g < count; g++) {
            GLOBAL double *image = images + 3 * MOMENTS_BLOCK * g;
            moments_store(image, moments_less(moments_load(image), sum[g]));
        }
}

// A face's normal, as long as twice its area, and that length, in `count` blocks. corner: places in
// listed_unit.
MOMENTS_FN void moments_face_of(GLOBAL const int *corner, int unit_base, int count,
                                GLOBAL const double *x, int step, GLOBAL double *out)
{
    GLOBAL const double *p = x + (INDEX)(corner[0] - unit_base) * step,
                        *q = x + (INDEX)(corner[1] - unit_base) * step,
                        *r = x + (INDEX)(corner[2] - unit_base) * step;
    for (int g = 0; g < count; g++) {
        const int at = 3 * MOMENTS_BLOCK * g;
        const moments_vector a = moments_load(p + at), b = moments_load(q + at),
                             c = moments_load(r + at);
        const moments_vector normal = moments_cross(moments_less(b, a), moments_less(c, a));
        moments_store(out + 4 * MOMENTS_BLOCK * g, normal);
        STORE(out + 4 * MOMENTS_BLOCK * g + 3 * MOMENTS_BLOCK,
              moments_root(moments_dot(normal, normal)));
    }
}

// Sums of a fan's normals; size: of their lengths.
MOMENTS_FN void moments_fan(GLOBAL const int *weld_face, GLOBAL const int *fan, int weld,
                            int face_base, int count, GLOBAL const double *faces, int step,
                            moments_vector *normal, REAL *size)
{
    for (int g = 0; g < count; g++) {
        normal[g] = moments_zero();
        size[g] = SPLAT(0.0);
    }
    for (int f = weld_face[weld]; f < weld_face[weld + 1]; f++) {
        GLOBAL const double *face = faces + (INDEX)(fan[f] - face_base) * step;
        for (int g = 0; g < count; g++, face += 4 * MOMENTS_BLOCK) {
            normal[g] = moments_sum(normal[g], moments_load(face));
            size[g] = size[g] + LOAD(face + 3 * MOMENTS_BLOCK);
        }
    }
}

// What an error of a rim's unit is multiplied with: opposite edges, summed.
MOMENTS_FN void moments_edge(GLOBAL const int *rim_edge, GLOBAL const int *edge, int rim,
                             int unit_base, int count, GLOBAL const double *x, int step,
                             moments_vector *out)
{
    for (int g = 0; g < count; g++) out[g] = moments_zero();
    for (int e = rim_edge[rim]; e < rim_edge[rim + 1]; e++) {
        GLOBAL const double *to = x + (INDEX)(edge[2 * e] - unit_base) * step,
                            *from = x + (INDEX)(edge[2 * e + 1] - unit_base) * step;
        for (int g = 0; g < count; g++) {
            const int at = 3 * MOMENTS_BLOCK * g;
            const moments_vector way = moments_less(moments_load(to + at), moments_load(from + at));
            out[g] = moments_sum(out[g], way);
        }
    }
}

// Where things of blocks of poses are kept: x, y: three vectors a unit; images: a row; faces, old
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

// What a weld's normal comes to: its frame (t: tangents along and across, times the scale of its
// rows), and about a bent surface what candidates should come to beyond what they do now (pull).
MOMENTS_FN void moments_frame(GLOBAL const int *weld_face, GLOBAL const int *fan,
                              moments_sizes sizes, moments_kept kept, int weld, int count,
                              GLOBAL const double *scales, double copies, moments_vector *along,
                              moments_vector *across, REAL *pull)
{
    REAL size[MOMENTS_TOGETHER], other[MOMENTS_TOGETHER];
    moments_vector normal[MOMENTS_TOGETHER], old[MOMENTS_TOGETHER];
    moments_fan(weld_face, fan, weld, sizes.face_base, count, kept.faces, 4 * kept.step, normal,
                size);
    for (int g = 0; g < count; g++) old[g] = normal[g];
    if (sizes.bent)
        moments_fan(weld_face, fan, weld, sizes.face_base, count, kept.old, 4 * kept.step, old,
                    other);
    for (int g = 0; g < count; g++) {
        const REAL length = moments_root(moments_dot(normal[g], normal[g]));
        const moments_vector n = moments_unit(normal[g], length);
        moments_tangents(n, &along[g], &across[g]);
        if (sizes.bent) size[g] = size[g] * 0.5;
        const REAL spread = moments_root(length * length + size[g] * size[g]) + SPLAT(sizes.floor);
        const REAL factor = LOAD(scales + MOMENTS_BLOCK * g) * copies / spread;
        if (sizes.bent) {
            const REAL most = SELECT_LESS(length, size[g] * 0.2, size[g] * 0.2, length);
            const moments_vector way =
                moments_way(n, moments_unit(old[g], moments_root(moments_dot(old[g], old[g]))));
            pull[2 * g] = factor * most * moments_dot(way, along[g]);
            pull[2 * g + 1] = factor * most * moments_dot(way, across[g]);
        }
        along[g] = moments_scaled(along[g], factor);
        across[g] = moments_scaled(across[g], factor);
    }
}

FN void moments_pair(GLOBAL double *out, REAL along, REAL across)
{
    STORE(out, along);
    STORE(out + MOMENTS_BLOCK, across);
}

// Rows of a weld in `count` blocks of poses: the change of its normal along both tangents by a unit
// of every kept candidate's weight. Behind them, about a bent surface, a row of what the candidates
// should come to. scales: of the poses; rows: the first one's place for the first block.
MOMENTS_FN void moments_rows_of(MOMENTS_WELD_BUFFERS(ITEM_IN, ITEM_OUT) GLOBAL const int *unit_slot,
                                moments_sizes sizes, moments_kept kept, int weld, int count,
                                GLOBAL const double *scales, GLOBAL double *rows)
{
    moments_vector along[MOMENTS_TOGETHER], across[MOMENTS_TOGETHER], side[MOMENTS_TOGETHER],
        way[MOMENTS_TOGETHER];
    REAL pull[2 * MOMENTS_TOGETHER];
    const int step = 3 * kept.step;
    moments_frame(weld_face, fan, sizes, kept, weld, count, scales, copies[weld], along, across,
                  pull);
    for (int r = weld_rim[weld]; r < weld_rim[weld + 1]; r++) {
        moments_edge(rim_edge, edge, r, sizes.unit_base, count, sizes.bent ? kept.y : kept.x, step,
                     way);
        for (int g = 0; g < count; g++) {
            side[g] = moments_cross(way[g], across[g]);
            way[g] = moments_cross(way[g], along[g]);
        }
        for (int s = unit_slot[rim[r]]; s < unit_slot[rim[r] + 1]; s++, rows += sizes.stride) {
            GLOBAL const double *image = kept.images + (INDEX)(s - sizes.slot_base) * step;
            for (int g = 0; g < count; g++) {
                const moments_vector offset = moments_load(image + 3 * MOMENTS_BLOCK * g);
                moments_pair(rows + 2 * MOMENTS_BLOCK * g, moments_dot(offset, way[g]),
                             moments_dot(offset, side[g]));
            }
        }
    }
    for (int g = 0; g < count && sizes.bent; g++)
        moments_pair(rows + 2 * MOMENTS_BLOCK * g, pull[2 * g], pull[2 * g + 1]);
}

// Sums of products of rows of `length` doubles, in the order of the invariant.
#if KERNEL_LANES > 1
#ifdef __AVX512F__
#define MOMENTS_TILE 4
#else
#define MOMENTS_TILE 2
#endif
// Products of rows a to a + height and b to b + MOMENTS_TILE, which stay in registers, added to the
// lower triangle `out`. height, diagonal (a is b: what lies above it is not wanted): constants.
#define MOMENTS_WIDTH(i) (diagonal ? (i) + 1 : MOMENTS_TILE)
static inline __attribute__((always_inline)) void moments_tile(const double *rows, int stride,
                                                               int a, int b, int height,
                                                               int diagonal, int count, int length,
                                                               double *out)
{
    double part[MOMENTS_TILE * MOMENTS_TILE][KERNEL_LANES], all[MOMENTS_TILE * MOMENTS_TILE];
    REAL sum[MOMENTS_TILE][MOMENTS_TILE];
    const double *p[MOMENTS_TILE], *q[MOMENTS_TILE];
    for (int i = 0; i < MOMENTS_TILE; i++) {
        p[i] = rows + (INDEX)(a + (i < height ? i : 0)) * stride;
        q[i] = rows + (INDEX)(b + i < count ? b + i : count - 1) * stride;
        for (int j = 0; j < MOMENTS_TILE; j++) sum[i][j] = SPLAT(0.0);
    }
    for (int at = 0; at < length; at += KERNEL_LANES) {
        REAL u[MOMENTS_TILE], v[MOMENTS_TILE];
        for (int i = 0; i < MOMENTS_TILE; i++) v[i] = LOAD(q[i] + at);
        for (int i = 0; i < height; i++) u[i] = LOAD(p[i] + at);
        for (int i = 0; i < height; i++)
            for (int j = 0; j < MOMENTS_WIDTH(i); j++) sum[i][j] = sum[i][j] + u[i] * v[j];
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

// Products of rows a to a + height with those before them and each other.
static inline __attribute__((always_inline)) void
moments_band(const double *rows, int stride, int a, int height, int count, int length, double *out)
{
    for (int b = 0; b < a; b += MOMENTS_TILE)
        moments_tile(rows, stride, a, b, height, 0, count, length, out);
    moments_tile(rows, stride, a, a, height, 1, count, length, out);
}

// All products of `count` rows.
FN void moments_products(const double *rows, int stride, int count, int length, double *out)
{
    int a = 0;
    for (; a + MOMENTS_TILE <= count; a += MOMENTS_TILE)
        moments_band(rows, stride, a, MOMENTS_TILE, count, length, out);
    if (count - a == 1) moments_band(rows, stride, a, 1, count, length, out);
#if MOMENTS_TILE > 2
    if (count - a == 2) moments_band(rows, stride, a, 2, count, length, out);
    if (count - a == 3) moments_band(rows, stride, a, 3, count, length, out);
#endif
}
#endif

// Rows of positions of a unit in `count` blocks: its images, scaled. rows: the first one's place.
MOMENTS_FN void moments_place_rows(moments_sizes sizes, moments_kept kept, int slot, int end,
                                   int count, GLOBAL const double *scales, GLOBAL double *rows)
{
    for (; slot < end; slot++, rows += sizes.place_stride)
        for (int g = 0; g < count; g++) {
            const int at = 3 * MOMENTS_BLOCK * g;
            const moments_vector image =
                moments_load(kept.images + (INDEX)slot * 3 * kept.step + at);
            moments_store(rows + at, moments_scaled(image, LOAD(scales + MOMENTS_BLOCK * g)));
        }
}

#if KERNEL_LANES > 1
// A clump at work: its lists, where they end, its rows and those of positions.
#define MOMENTS_FIELD_IN(type, name)  const type *name;
#define MOMENTS_FIELD_OUT(type, name) type *name;
#define MOMENTS_SET(type, name)       c.name = name;
#define MOMENTS_OF(type, name)        c->name,
typedef struct moments_clump {
    MOMENTS_GRAM_BUFFERS(MOMENTS_FIELD_IN, MOMENTS_FIELD_OUT)
    moments_sizes sizes;
    moments_kept kept;
    int unit_end, face_end, weld_first, weld_end;
    double *rows, *place_rows;
} moments_clump;

// Its units and faces in `count` blocks of poses.
MOMENTS_FN void moments_clump_units(const moments_clump *c, int block, int count)
{
    const moments_sizes sizes = c->sizes;
    const moments_kept kept = c->kept;
    const INDEX step = kept.step;
    for (int u = sizes.unit_base; u < c->unit_end; u++)
        moments_images_of(
            c->positions, c->first, c->control, c->weight, c->keep, c->moved,
            c->matrices + (INDEX)block * 12 * MOMENTS_BLOCK, sizes, c->listed_unit[u], count,
            kept.x + 3 * step * (u - sizes.unit_base), kept.y + 3 * step * (u - sizes.unit_base),
            kept.images + 3 * step * (c->unit_slot[u] - sizes.slot_base), 3 * kept.step);
    for (int f = sizes.face_base; f < c->face_end; f++) {
        const INDEX to = 4 * step * (f - sizes.face_base);
        moments_face_of(c->face + 3 * (INDEX)f, sizes.unit_base, count,
                        sizes.bent ? kept.y : kept.x, 3 * kept.step, kept.faces + to);
        if (sizes.bent)
            moments_face_of(c->face + 3 * (INDEX)f, sizes.unit_base, count, kept.x, 3 * kept.step,
                            kept.old + to);
    }
}

// All its rows in `count` blocks from `block` on, which is number `at` of the chunk.
MOMENTS_FN void moments_clump_rows(const moments_clump *c, int block, int count, int at)
{
    const moments_sizes sizes = c->sizes;
    const double *scales = c->pose_scales + (INDEX)block * MOMENTS_BLOCK;
    moments_clump_units(c, block, count);
    for (int weld = c->weld_first; weld < c->weld_end; weld++)
        moments_rows_of(
            MOMENTS_WELD_BUFFERS(MOMENTS_OF, MOMENTS_OF) c->unit_slot, sizes, c->kept, weld, count,
            scales,
            c->rows + (INDEX)(c->row_first[weld] - c->row_first[c->weld_first]) * sizes.stride +
                2 * MOMENTS_BLOCK * at);
    double *to = c->place_rows + 3 * MOMENTS_BLOCK * at;
    for (int u = sizes.unit_base; u < c->unit_end && sizes.places; u++) {
        if (c->listed_place[u] < 0) continue;
        moments_place_rows(sizes, c->kept, c->unit_slot[u] - sizes.slot_base,
                           c->unit_slot[u + 1] - sizes.slot_base, count, scales, to);
        to += (INDEX)(c->unit_slot[u + 1] - c->unit_slot[u]) * sizes.place_stride;
    }
}

// Products of its rows in a chunk of blocks.
MOMENTS_FN void moments_clump_products(const moments_clump *c, int blocks)
{
    const moments_sizes sizes = c->sizes;
    const double *from = c->place_rows;
    for (int weld = c->weld_first; weld < c->weld_end; weld++)
        moments_products(c->rows + (INDEX)(c->row_first[weld] - c->row_first[c->weld_first]) *
                                       sizes.stride,
                         sizes.stride, c->row_first[weld + 1] - c->row_first[weld],
                         2 * MOMENTS_BLOCK * blocks, c->gram + c->gram_first[weld]);
    for (int u = sizes.unit_base; u < c->unit_end && sizes.places; u++) {
        const int count = c->unit_slot[u + 1] - c->unit_slot[u];
        if (c->listed_place[u] < 0) continue;
        moments_products(from, sizes.place_stride, count, 3 * MOMENTS_BLOCK * blocks,
                         c->place + c->place_first[c->listed_place[u]]);
        from += (INDEX)count * sizes.place_stride;
    }
}

ITEM_KERNEL(moments_gram, MOMENTS_GRAM_BUFFERS)
{
    ITEM_BEGIN
    moments_clump c;
    const moments_sizes sizes = given.sizes;
    const int clump = sizes.item + item, end = sizes.block_first + sizes.blocks;
    const INDEX size = MOMENTS_KEPT((INDEX)sizes.units, sizes.slots, sizes.faces, sizes.kept),
                row_size = (INDEX)sizes.rows * sizes.stride;
    double *own =
        scratch + item / sizes.task * (size + row_size + (INDEX)sizes.slots * sizes.place_stride);
    MOMENTS_GRAM_BUFFERS(MOMENTS_SET, MOMENTS_SET)
    c.sizes = sizes;
    c.kept = moments_keep(sizes, own, 0, 0);
    c.unit_end = clump_unit[clump + 1];
    c.face_end = clump_face[clump + 1];
    c.weld_first = clump_weld[clump];
    c.weld_end = clump_weld[clump + 1];
    c.rows = own + size;
    c.place_rows = c.rows + row_size;
    c.sizes.unit_base = clump_unit[clump];
    c.sizes.slot_base = unit_slot[clump_unit[clump]];
    c.sizes.face_base = clump_face[clump];
    for (int begin = sizes.block_first; begin < end; begin += MOMENTS_CHUNK) {
        const int blocks = end - begin < MOMENTS_CHUNK ? end - begin : MOMENTS_CHUNK;
        int at = 0;
        for (; at + MOMENTS_TOGETHER <= blocks; at += MOMENTS_TOGETHER)
            moments_clump_rows(&c, begin + at, MOMENTS_TOGETHER, at);
        for (; at < blocks; at++) moments_clump_rows(&c, begin + at, 1, at);
        moments_clump_products(&c, blocks);
    }
    ITEM_END
}
#else

// A GPU makes units, faces and rows of a batch of clumps in one launch each, a place in a block a
// work item, then products of tiles of rows, then adds up their parts.
#define MOMENTS_ITEM(item)     ((item) / MOMENTS_BLOCK / sizes.blocks)
#define MOMENTS_AT(item)       ((item) % MOMENTS_BLOCK)
#define MOMENTS_BLOCK_OF(item) ((item) / MOMENTS_BLOCK % sizes.blocks)

ITEM_KERNEL(moments_units, MOMENTS_UNITS_BUFFERS)
{
    ITEM_BEGIN
    const moments_sizes sizes = given.sizes;
    const int at = MOMENTS_AT(item), block = MOMENTS_BLOCK_OF(item), unit = MOMENTS_ITEM(item);
    const moments_kept kept = moments_keep(sizes, scratch, block, at);
    const INDEX step = 3 * (INDEX)kept.step;
    moments_images_of(
        positions, first, control, weight, keep, moved,
        matrices + (INDEX)(sizes.block_first + block) * 12 * MOMENTS_BLOCK + at, sizes,
        listed_unit[sizes.unit_base + unit], 1, kept.x + step * unit, kept.y + step * unit,
        kept.images + step * (unit_slot[sizes.unit_base + unit] - sizes.slot_base), 3 * kept.step);
    ITEM_END
}

ITEM_KERNEL(moments_faces, MOMENTS_FACES_BUFFERS)
{
    ITEM_BEGIN
    const moments_sizes sizes = given.sizes;
    const int at = MOMENTS_AT(item), block = MOMENTS_BLOCK_OF(item), own = MOMENTS_ITEM(item);
    const moments_kept kept = moments_keep(sizes, scratch, block, at);
    const INDEX to = 4 * (INDEX)kept.step * own;
    GLOBAL const int *corner = face + 3 * (INDEX)(sizes.face_base + own);
    moments_face_of(corner, sizes.unit_base, 1, sizes.bent ? kept.y : kept.x, 3 * kept.step,
                    kept.faces + to);
    if (sizes.bent)
        moments_face_of(corner, sizes.unit_base, 1, kept.x, 3 * kept.step, kept.old + to);
    ITEM_END
}

ITEM_KERNEL(moments_rows, MOMENTS_ROWS_BUFFERS)
{
    ITEM_BEGIN
    const moments_sizes sizes = given.sizes;
    const int at = MOMENTS_AT(item), block = MOMENTS_BLOCK_OF(item),
              weld = sizes.item + MOMENTS_ITEM(item);
    const moments_kept kept = moments_keep(sizes, scratch, block, at);
    moments_rows_of(MOMENTS_WELD_BUFFERS(MOMENTS_PASS, MOMENTS_PASS) unit_slot, sizes, kept, weld,
                    1, pose_scales + (INDEX)(sizes.block_first + block) * MOMENTS_BLOCK + at,
                    rows + (INDEX)(row_first[weld] - sizes.row_base) * sizes.stride +
                        2 * MOMENTS_BLOCK * block + at);
    ITEM_END
}

ITEM_KERNEL(moments_places, MOMENTS_PLACES_BUFFERS)
{
    ITEM_BEGIN
    const moments_sizes sizes = given.sizes;
    const int at = MOMENTS_AT(item), block = MOMENTS_BLOCK_OF(item),
              unit = sizes.unit_base + MOMENTS_ITEM(item), slot = unit_slot[unit] - sizes.slot_base;
    const moments_kept kept = moments_keep(sizes, scratch, block, at);
    if (listed_place[unit] >= 0)
        moments_place_rows(sizes, kept, slot, unit_slot[unit + 1] - sizes.slot_base, 1,
                           pose_scales + (INDEX)(sizes.block_first + block) * MOMENTS_BLOCK + at,
                           rows + (INDEX)slot * sizes.place_stride + 3 * MOMENTS_BLOCK * block +
                               at);
    ITEM_END
}

ITEM_KERNEL(moments_tiles, MOMENTS_TILES_BUFFERS)
{
    ITEM_BEGIN
    const int at = MOMENTS_AT(item), own = item / MOMENTS_BLOCK;
    GLOBAL const int *t =
        tile + 4 * (INDEX)(given.tile_begin + own); // its first row, rows from there, row, column
    double sum[MOMENTS_SIDE][MOMENTS_SIDE];
    GLOBAL const double *p[MOMENTS_SIDE], *q[MOMENTS_SIDE];
    for (int i = 0; i < MOMENTS_SIDE; i++) {
        const int a = t[2] + i < t[1] ? t[2] + i : t[1] - 1,
                  b = t[3] + i < t[1] ? t[3] + i : t[1] - 1;
        p[i] = rows + (INDEX)(t[0] + a) * given.stride + at;
        q[i] = rows + (INDEX)(t[0] + b) * given.stride + at;
        for (int j = 0; j < MOMENTS_SIDE; j++) sum[i][j] = 0;
    }
    for (int k = 0; k < given.length; k += MOMENTS_BLOCK) {
        double u[MOMENTS_SIDE], v[MOMENTS_SIDE];
        for (int i = 0; i < MOMENTS_SIDE; i++) {
            u[i] = p[i][k];
            v[i] = q[i][k];
        }
        for (int i = 0; i < MOMENTS_SIDE; i++)
            for (int j = 0; j < MOMENTS_SIDE; j++) sum[i][j] = sum[i][j] + u[i] * v[j];
    }
    for (int i = 0; i < MOMENTS_SIDE; i++)
        for (int j = 0; j < MOMENTS_SIDE; j++)
            part[((INDEX)own * MOMENTS_SIDE * MOMENTS_SIDE + i * MOMENTS_SIDE + j) * MOMENTS_BLOCK +
                 at] = sum[i][j];
    ITEM_END
}

ITEM_KERNEL(moments_sums, MOMENTS_SUMS_BUFFERS)
{
    ITEM_BEGIN
    const int own = item / (MOMENTS_SIDE * MOMENTS_SIDE),
              entry = item % (MOMENTS_SIDE * MOMENTS_SIDE);
    GLOBAL const int *t = tile + 4 * (INDEX)(given.tile_begin + own);
    const int a = t[2] + entry / MOMENTS_SIDE, b = t[3] + entry % MOMENTS_SIDE;
    if (a < t[1] && b <= a) {
        double all = 0;
        for (int l = 0; l < MOMENTS_BLOCK; l++) all = all + part[(INDEX)item * MOMENTS_BLOCK + l];
        gram[tile_first[given.tile_begin + own] + (INDEX)a * (a + 1) / 2 + b] += all;
    }
    ITEM_END
}
#endif

#endif
