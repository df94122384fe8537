/// Shape function, its gradient by the chain rule, and the culling that makes both cheap.
/// A primitive farther than its blend width changes nothing at all (smin is compact), so which
/// primitives are skipped never changes a bit of the result as long as only such ones are.
#include "synth/shape.h"

#include "base/memory.h"
#include "geometry/sincos.h"

#include <string.h>

/// The mirror plane's fold: evaluating at sqrt(x^2 + e^2) makes the surface C1 across x = 0.
static const double FOLD = 6;
/// Cell of the candidate lists, mm: small enough that near the surface few primitives are in reach
/// of one.
static const double LIST_CELL = 16;
/// Space of a list; a cell that needs more says so and has all primitives evaluated.
enum { LIST_BYTES = 32, LIST_FULL = 255 };

static void init_cone(shape_primitive *p, const synth_row *row)
{
    vec3 b = v3_of(row->b), d = v3_sub(b, v3_of(row->a));
    p->a = v3_of(row->a);
    p->length = v3_length(d);
    p->u = v3_scale(d, 1 / p->length);
    p->ra = row->ra;
    p->slope = (row->ra - row->rb) / p->length;
    p->cosine = sqrt(1 - p->slope * p->slope);
    p->shift = p->slope / p->cosine;
    p->flattened = row->flat != 1;
    p->stretch = 1 / row->flat - 1;
    vec3 w = v3_of(row->axis);
    p->w = v3_unit(v3_mad(w, -v3_dot(w, p->u), p->u));
    double big = row->ra > row->rb ? row->ra : row->rb;
    p->centre = v3_scale(v3_add(p->a, b), 0.5);
    p->radius = p->length / 2 + big;
}

static void init_ellipsoid(shape_primitive *p, const synth_row *row)
{
    double sx, cx, sy, cy, sz, cz;
    sincos_degrees(row->axis[0], &sx, &cx);
    sincos_degrees(row->axis[1], &sy, &cy);
    sincos_degrees(row->axis[2], &sz, &cz);
    p->axes[0] = v3(cz * cy, sz * cy, -sy);
    p->axes[1] = v3(cz * sy * sx - sz * cx, sz * sy * sx + cz * cx, cy * sx);
    p->axes[2] = v3(cz * sy * cx + sz * sx, sz * sy * cx - cz * sx, cy * cx);
    p->centre = v3_of(row->a);
    p->inverse = v3(1 / row->b[0], 1 / row->b[1], 1 / row->b[2]);
    double big = row->b[0], small = row->b[0];
    for (int i = 1; i < 3; i++) {
        if (row->b[i] > big) big = row->b[i];
        if (row->b[i] < small) small = row->b[i];
    }
    p->radius = big;
    p->smallest = small;
}

void cutis_synth_shape_init(shape *s, const synth_table *table)
{
    memset(s, 0, sizeof *s);
    for (int run = 0; run < 3; run++) {
        for (size_t i = 0; i < table->runs[run].count; i++) {
            const synth_row *row = &table->runs[run].rows[i];
            shape_primitive *p = &s->primitives[s->count++];
            p->kind = row->kind;
            p->k = row->k;
            if (row->kind == SYNTH_CONE)
                init_cone(p, row);
            else
                init_ellipsoid(p, row);
        }
    }
    s->folded = table->mirrored;
    s->has_floor = table->has_floor;
    s->floor_y = table->floor_y;
    s->floor_k = table->floor_k;
    s->sizes = table->sizes.rows;
    s->size_count = (int)table->sizes.count;
}

/// The gradient when `g` is not NULL.
static double cone_distance(const shape_primitive *p, vec3 x, vec3 *g)
{
    vec3 q = v3_sub(x, p->a);
    double along = p->flattened ? v3_dot(q, p->w) : 0;
    if (p->flattened) q = v3_mad(q, along * p->stretch, p->w);
    double y = v3_dot(q, p->u), square = v3_dot(q, q) - y * y;
    double off = square > 0 ? sqrt(square) : 0;
    double t = y - p->shift * off;
    bool middle = t > 0 && t < p->length;
    t = t < 0 ? 0 : t > p->length ? p->length : t;
    double reach = sqrt(off * off + (y - t) * (y - t));
    double d = reach - (p->ra - p->slope * t);
    if (reach < 1e-9) {
        if (g) *g = v3(0, 0, 0);
        return d;
    }
    vec3 m = v3_scale(v3_mad(q, -t, p->u), 1 / reach);
    if (!p->flattened) {
        if (g) *g = m;
        return d;
    }
    // d / |A m| with A = I + stretch w w^T: first-order distance of the flattened cone.
    double c = v3_dot(m, p->w), f = (1 + p->stretch) * (1 + p->stretch) - 1;
    double norm = sqrt(1 + c * c * f);
    if (g) {
        vec3 dreach = m;
        if (middle && off > 1e-9) dreach = v3_scale(v3_mad(q, -y, p->u), 1 / (off * p->cosine));
        vec3 dc = v3_scale(v3_mad(p->w, -c, dreach), 1 / reach);
        vec3 local = v3_mad(v3_scale(m, 1 / norm), -d * f * c / (norm * norm * norm), dc);
        *g = v3_mad(local, v3_dot(local, p->w) * p->stretch, p->w);
    }
    return d / norm;
}

static double ellipsoid_distance(const shape_primitive *p, vec3 x, vec3 *g)
{
    vec3 q = v3_sub(x, p->centre), r = p->inverse;
    vec3 m =
        v3(v3_dot(q, p->axes[0]) * r.x, v3_dot(q, p->axes[1]) * r.y, v3_dot(q, p->axes[2]) * r.z);
    vec3 n = v3(m.x * r.x, m.y * r.y, m.z * r.z);
    double n1 = v3_length(m), n2 = v3_length(n);
    if (n1 < 1e-9) {
        if (g) *g = v3(0, 0, 0);
        return -p->smallest;
    }
    double d = n1 * (n1 - 1) / n2;
    if (g) {
        double f = (2 * n1 - 1) / (n1 * n2), h = d / (n2 * n2);
        vec3 local =
            v3(n.x * (f - h * r.x * r.x), n.y * (f - h * r.y * r.y), n.z * (f - h * r.z * r.z));
        *g = v3_add(v3_add(v3_scale(p->axes[0], local.x), v3_scale(p->axes[1], local.y)),
                    v3_scale(p->axes[2], local.z));
    }
    return d;
}

/// True when the primitive cannot change d at a point `far` mm from its bounding sphere's centre.
/// The factor 2 covers the ellipsoid and flattened distances, which are not lower bounds.
static bool out_of_reach(const shape_primitive *p, double far, double d)
{
    if (p->kind == SYNTH_HOLLOW) return far > p->radius + p->k + 2 * (d < 0 ? -d : 0) + 50;
    return far > p->radius + 2 * (d + p->k);
}

/// d and its gradient joined with another distance; `sign` -1 carves instead of adding.
static void blend(double *d, vec3 *g, double di, vec3 gi, double k, double sign)
{
    double a = sign * *d, gap = a > di ? a - di : di - a, h = 1 - gap / k;
    if (h < 0) h = 0;
    double least = a < di ? a : di, half = h * h / 2;
    *d = sign * (least - h * h * h * k / 6);
    if (g) {
        double wa = a < di ? 1 - half : half;
        *g = v3_mad(v3_scale(*g, wa), sign * (1 - wa), gi);
    }
}

static void step(const shape_primitive *p, vec3 x, double *d, vec3 *g)
{
    vec3 q = v3_sub(x, p->centre);
    double square = v3_dot(q, q), reach = p->radius + p->k;
    // Cheap exit without the root: inside reach the primitive always counts.
    if (square > reach * reach && out_of_reach(p, sqrt(square), *d)) return;
    vec3 gi;
    double di = p->kind == SYNTH_CONE ? cone_distance(p, x, g ? &gi : NULL)
                                      : ellipsoid_distance(p, x, g ? &gi : NULL);
    if (!g) gi = v3(0, 0, 0);
    blend(d, g, di, gi, p->k, p->kind == SYNTH_HOLLOW ? -1 : 1);
}

/// Fill the list of the cell around `centre`: what may be within reach of any of its points. No
/// distance changes faster than 1.5 per mm near the surface, so what is out of reach at the centre
/// by three half-diagonals is out of reach everywhere in the cell, and leaving it out changes no
/// bit.
static void fill_list(const shape *s, vec3 centre, uint8_t *list)
{
    double slack = 3 * LIST_CELL * 0.8660254037844387, d = 1e9;
    int count = 0;
    for (int i = 0; i < s->count; i++) {
        const shape_primitive *p = &s->primitives[i];
        double sign = p->kind == SYNTH_HOLLOW ? -1 : 1;
        double di = p->kind == SYNTH_CONE ? cone_distance(p, centre, NULL)
                                          : ellipsoid_distance(p, centre, NULL);
        bool reaches = di < sign * d + p->k + slack;
        blend(&d, NULL, di, v3(0, 0, 0), p->k, sign);
        if (!reaches) continue;
        if (count + 1 == LIST_BYTES) {
            list[0] = LIST_FULL;
            return;
        }
        list[++count] = (uint8_t)i;
    }
    list[0] = (uint8_t)(count + 1);
}

static const uint8_t *candidates(const shape *s, vec3 x)
{
    if (!s->lists) return NULL;
    vec3 q = v3_scale(v3_sub(x, s->grid_origin), 1 / LIST_CELL);
    if (!(q.x >= 0 && q.y >= 0 && q.z >= 0)) return NULL;
    int ix = (int)q.x, iy = (int)q.y, iz = (int)q.z;
    if (ix >= s->grid_size[0] || iy >= s->grid_size[1] || iz >= s->grid_size[2]) return NULL;
    size_t cell =
        ((size_t)ix * (size_t)s->grid_size[1] + (size_t)iy) * (size_t)s->grid_size[2] + (size_t)iz;
    uint8_t *list = s->lists + cell * LIST_BYTES;
    if (!list[0]) {
        vec3 corner = v3_mad(s->grid_origin, LIST_CELL, v3(ix + 0.5, iy + 0.5, iz + 0.5));
        fill_list(s, corner, list);
    }
    return list[0] == LIST_FULL ? NULL : list;
}

static double evaluate(const shape *s, vec3 x, vec3 *g, bool listed)
{
    double fold = 1;
    if (s->folded) {
        double folded = sqrt(x.x * x.x + FOLD * FOLD);
        fold = x.x / folded;
        x.x = folded;
    }
    double d = 1e9;
    if (g) *g = v3(0, 0, 0);
    const uint8_t *list = listed ? candidates(s, x) : NULL;
    if (list) {
        for (int i = 1; i < list[0]; i++) step(&s->primitives[list[i]], x, &d, g);
    } else {
        for (int i = 0; i < s->count; i++) step(&s->primitives[i], x, &d, g);
    }
    if (s->has_floor) blend(&d, g, x.y - s->floor_y, v3(0, 1, 0), s->floor_k, -1);
    if (g) g->x *= fold;
    return d;
}

double cutis_synth_shape_distance(const shape *s, vec3 x)
{
    return evaluate(s, x, NULL, true);
}

double cutis_synth_shape_distance_once(const shape *s, vec3 x)
{
    return evaluate(s, x, NULL, false);
}

double cutis_synth_shape_piece(const shape *s, int primitive, vec3 x)
{
    const shape_primitive *p = &s->primitives[primitive];
    return p->kind == SYNTH_CONE ? cone_distance(p, x, NULL) : ellipsoid_distance(p, x, NULL);
}

double cutis_synth_shape_gradient(const shape *s, vec3 x, vec3 *gradient)
{
    return evaluate(s, x, gradient, true);
}

cutis_result cutis_synth_shape_accelerate(shape *s, const synth_table *table,
                                          cutis_context *context)
{
    s->grid_origin = v3_of(table->box_min);
    s->list_bytes = LIST_BYTES;
    for (int i = 0; i < 3; i++) {
        s->grid_size[i] = (int)((table->box_max[i] - table->box_min[i]) / LIST_CELL) + 2;
        s->list_bytes *= (size_t)s->grid_size[i];
    }
    s->context = context;
    s->lists = cutis_alloc_zero(context, s->list_bytes, 1);
    return s->lists ? CUTIS_OK : cutis_alloc_result(context);
}

void cutis_synth_shape_release(shape *s)
{
    cutis_free(s->context, s->lists, s->list_bytes);
    s->lists = NULL;
}

double cutis_synth_shape_size(const shape *s, vec3 x)
{
    double least = 1;
    for (int i = 0; i < s->size_count; i++) {
        const synth_size_row *row = &s->sizes[i];
        vec3 q = v3_sub(x, v3_of(row->centre));
        double square = v3_dot(q, q);
        if (square > 4 * row->radius * row->radius) continue;
        double t = sqrt(square) / row->radius - 1;
        t = t < 0 ? 0 : t > 1 ? 1 : t;
        double g = row->size + (1 - row->size) * t * t * (3 - 2 * t);
        if (g < least) least = g;
    }
    return least;
}
