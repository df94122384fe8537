// Cells of a body: signed crossings along z say what is inside, samples of the triangles what the
// surface passes through, and exact squared distances on the grid how deep a cell lies. Invariant:
// the two outermost layers of the grid are empty, so a step from a cell stays in the grid.
#include "skeleton/cells.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "math/eigen3.h"
#include "math/elementary.h"

#define BORDER 2
#define NEAR   4                       // steps that a point may lie outside the cells
static const double FINEST = 1 / 280.; // of the longest side
static const double MOST_PLACES = 1.6e7;
static const double MOST_WORK =
    1e8; // places that triangles pass: a file of huge ones gets large cells
static const double SAMPLING = 0.6; // of a cell: distance of samples on triangles
// A surface cell reaches beyond the surface by a quarter of its edge in the mean, and the nearest
// centre outside lies half an edge beyond that.
static const double OUTSIDE = 0.75;
// Skins that look at each other: cosine of their ways, the widest gap and how far beside each other
// they are, in cells; skin of a cell that is less even than the last is of two sheets.
static const double FACING = -0.5, GAP = 1.6, BESIDE = 1, MIXED = 0.3;

static double volume_of(const cutis_closed *mesh)
{
    double sum = 0;
    const double *origin = mesh->points[0];
    for (uint32_t f = 0; f < mesh->face_count; f++) {
        const uint32_t *v = mesh->faces[f];
        sum += v3_wedge_of(mesh->points[v[0]], mesh->points[v[1]], mesh->points[v[2]], origin);
    }
    return fabs(sum) / 6;
}

// Columns and samples that all triangles need together, for cells of size one.
static double work_of(const cutis_closed *mesh)
{
    double sum = 0;
    for (uint32_t f = 0; f < mesh->face_count; f++) {
        double longest = 0;
        for (uint32_t k = 0; k < 3; k++)
            longest = fmax(longest, cutis_edge_length(mesh, 3 * f + k));
        sum += longest * longest;
    }
    return sum;
}

// Sums over the skin, weighted by area, about a place: second moments (xx xy xz yy yz zz) or, along
// each axis, the third power. @return the area
static double skin_moments(const cutis_closed *mesh, vec3 about, const vec3 *axes, double *squares,
                           double *cubes, vec3 *sum)
{
    double all = 0;
    for (uint32_t f = 0; f < mesh->face_count; f++) {
        vec3 p[3];
        for (int k = 0; k < 3; k++) p[k] = v3_sub(v3_of(mesh->points[mesh->faces[f][k]]), about);
        const double area = v3_length(v3_cross(v3_sub(p[1], p[0]), v3_sub(p[2], p[0])));
        const vec3 middle = v3_divide(v3_add(p[0], v3_add(p[1], p[2])), 3);
        const double q[3] = { middle.x, middle.y, middle.z };
        for (int i = 0, n = 0; i < 3; i++)
            for (int k = i; k < 3 && squares; k++) squares[n++] += area * q[i] * q[k];
        for (int k = 0; k < 3 && cubes; k++) {
            const double along = v3_dot(middle, axes[k]);
            cubes[k] += area * along * along * along;
        }
        if (sum) *sum = v3_mad(*sum, area, middle);
        all += area;
    }
    return all;
}

// The grid lies as the body does, not as its file does: its axes are those of the skin's second
// moments, each towards the side where the skin reaches farther, the least lopsided one so that
// they are right-handed. A body that is turned has the same cells.
static void choose_axes(cutis_cells *c, const cutis_closed *mesh)
{
    double squares[6] = { 0 }, cubes[3] = { 0 }, values[3], v[9];
    const vec3 origin = v3_of(mesh->points[0]);
    vec3 sum = v3(0, 0, 0);
    const double area = skin_moments(mesh, origin, NULL, NULL, NULL, &sum);
    const vec3 middle = area > 0 ? v3_mad(origin, 1 / area, sum) : origin;
    skin_moments(mesh, middle, NULL, squares, NULL, NULL);
    cutis_eigen3(squares, values, v);
    for (int k = 0; k < 3; k++) c->axes[k] = v3(v[3 * k], v[3 * k + 1], v[3 * k + 2]);
    skin_moments(mesh, middle, c->axes, NULL, cubes, NULL);
    int least = 0;
    for (int k = 0; k < 3; k++) {
        if (cubes[k] < 0) c->axes[k] = v3_scale(c->axes[k], -1);
        if (fabs(cubes[k]) < fabs(cubes[least])) least = k;
    }
    if (v3_dot(v3_cross(c->axes[0], c->axes[1]), c->axes[2]) < 0)
        c->axes[least] = v3_scale(c->axes[least], -1);
}

static double along_axis(const cutis_cells *c, const double *point, int k)
{
    return v3_dot(v3_of(point), c->axes[k]);
}

static void choose_grid(cutis_cells *c, const cutis_closed *mesh, uint32_t wanted)
{
    double high[3], longest = 0, squares = 0;
    choose_axes(c, mesh);
    for (int k = 0; k < 3; k++) {
        c->low[k] = high[k] = along_axis(c, mesh->points[0], k);
        for (uint32_t v = 1; v < mesh->vertex_count; v++) {
            const double at = along_axis(c, mesh->points[v], k);
            c->low[k] = fmin(c->low[k], at), high[k] = fmax(high[k], at);
        }
        longest = fmax(longest, high[k] - c->low[k]);
        squares += (high[k] - c->low[k]) * (high[k] - c->low[k]);
    }
    c->diagonal = sqrt(squares);
    c->size = fmax(fixed_cbrt(volume_of(mesh) / wanted), longest * FINEST);
    c->size = fmax(c->size, sqrt(work_of(mesh) / MOST_WORK));
    if (!(c->size > 0)) c->size = 1;
    for (;; c->size *= 1.1) {
        double places = 1;
        for (int k = 0; k < 3; k++) {
            const uint32_t cells = (uint32_t)((high[k] - c->low[k]) / c->size) + 1;
            c->n[k] = (cells | 1) + 2 * BORDER; // odd: the middle of a body lies within cells
            places *= c->n[k];
        }
        if (places <= MOST_PLACES) break;
    }
    for (int k = 0; k < 3; k++) // the body in the middle: seen from the other side it is the same
        c->low[k] = (c->low[k] + high[k] - c->n[k] * c->size) / 2;
    uint32_t i = 0;
    for (int z = -1; z <= 1; z++)
        for (int y = -1; y <= 1; y++)
            for (int x = -1; x <= 1; x++) {
                if (!x && !y && !z) continue;
                c->steps[i] = x + (ptrdiff_t)c->n[0] * (y + (ptrdiff_t)c->n[1] * z);
                c->lengths[i++] = c->size * sqrt(abs(x) + abs(y) + abs(z));
            }
}

static size_t place_of(const cutis_cells *c, uint32_t x, uint32_t y, uint32_t z)
{
    return x + (size_t)c->n[0] * (y + (size_t)c->n[1] * z);
}

// A corner in units of cells, with centres at whole numbers.
static vec3 in_cells(const cutis_cells *c, const double *p)
{
    double at[3];
    for (int k = 0; k < 3; k++) at[k] = (along_axis(c, p, k) - c->low[k]) / c->size - 0.5;
    return v3_of(at);
}

double cutis_cells_breadth(const cutis_cells *c, vec3 way)
{
    return fabs(v3_dot(way, c->axes[0])) + fabs(v3_dot(way, c->axes[1])) +
           fabs(v3_dot(way, c->axes[2]));
}

// Columns of centres that go through a triangle: where they do, the place above changes by its
// side. Centres lie off the corners by a little, so that none is hit exactly.
static void cross_columns(const cutis_cells *c, int16_t *turns, vec3 p, vec3 q, vec3 r)
{
    const double off_x = 1e-7, off_y = 1.37e-7;
    double area = (q.x - p.x) * (r.y - p.y) - (q.y - p.y) * (r.x - p.x);
    int x0 = (int)ceil(fmin(p.x, fmin(q.x, r.x)) - off_x);
    int x1 = (int)floor(fmax(p.x, fmax(q.x, r.x)) - off_x);
    int y0 = (int)ceil(fmin(p.y, fmin(q.y, r.y)) - off_y);
    int y1 = (int)floor(fmax(p.y, fmax(q.y, r.y)) - off_y);
    if (area == 0) return;
    for (int y = y0; y <= y1; y++)
        for (int x = x0; x <= x1; x++) {
            double px = x + off_x - p.x, py = y + off_y - p.y;
            double u = (px * (r.y - p.y) - py * (r.x - p.x)) / area;
            double v = ((q.x - p.x) * py - (q.y - p.y) * px) / area;
            if (u < 0 || v < 0 || u + v > 1) continue;
            double z = p.z + u * (q.z - p.z) + v * (r.z - p.z);
            size_t place = place_of(c, (uint32_t)x, (uint32_t)y, (uint32_t)ceil(z));
            int turned = turns[place] + (area < 0 ? 1 : -1);
            if (turned >= INT16_MIN && turned <= INT16_MAX) turns[place] = (int16_t)turned;
        }
}

static void touch_cells(const cutis_cells *c, uint8_t *inside, vec3 p, vec3 q, vec3 r)
{
    double longest =
        fmax(v3_length(v3_sub(q, p)), fmax(v3_length(v3_sub(r, q)), v3_length(v3_sub(p, r))));
    int n = (int)ceil(longest / SAMPLING);
    for (int i = 0; i <= n; i++)
        for (int j = 0; i + j <= n; j++) {
            double u = n ? (double)i / n : 0, v = n ? (double)j / n : 0;
            vec3 s = v3_mad(v3_mad(p, u, v3_sub(q, p)), v, v3_sub(r, p));
            inside[place_of(c, (uint32_t)(s.x + 0.5), (uint32_t)(s.y + 0.5),
                            (uint32_t)(s.z + 0.5))] |= 2;
        }
}

// Lower envelope of parabolas: squared distances along one row of the grid (Felzenszwalb and
// Huttenlocher). `next` is the step from one place of the row to the following.
static void transform_row(float *values, size_t next, int n, float *row, int *at, float *from)
{
    int k = 0;
    for (int i = 0; i < n; i++) row[i] = values[i * next];
    at[0] = 0, from[0] = -INFINITY, from[1] = INFINITY;
    for (int i = 1; i < n; i++) {
        float s;
        for (;; k--) {
            int v = at[k];
            s = (row[i] + (float)i * (float)i - row[v] - (float)v * (float)v) /
                (float)(2 * (i - v));
            if (s > from[k] || k == 0) break;
        }
        if (s <= from[k]) s = from[k];
        k++, at[k] = i, from[k] = s, from[k + 1] = INFINITY;
    }
    k = 0;
    for (int i = 0; i < n; i++) {
        while (from[k + 1] < (float)i) k++;
        float d = (float)(i - at[k]);
        values[i * next] = d * d + row[at[k]];
    }
}

static bool find_depth(cutis_cells *c, const uint8_t *inside, cutis_arena *scratch)
{
    const uint32_t nx = c->n[0], ny = c->n[1], nz = c->n[2];
    size_t total = (size_t)nx * ny * nz, most = nx > ny ? nx : ny;
    if (nz > most) most = nz;
    float *values = cutis_arena_alloc(scratch, total, sizeof *values);
    float *row = cutis_arena_alloc(scratch, 2 * most + 2, sizeof *row);
    int *at = cutis_arena_alloc(scratch, most + 1, sizeof *at);
    if (!values || !row || !at) return false;
    const float far = (float)(4 * most * most);
    for (size_t i = 0; i < total; i++) values[i] = inside[i] ? far : 0;
    for (uint32_t z = 0; z < nz; z++)
        for (uint32_t y = 0; y < ny; y++)
            transform_row(values + place_of(c, 0, y, z), 1, (int)nx, row, at, row + most);
    for (uint32_t z = 0; z < nz; z++)
        for (uint32_t x = 0; x < nx; x++)
            transform_row(values + place_of(c, x, 0, z), nx, (int)ny, row, at, row + most);
    for (uint32_t y = 0; y < ny; y++)
        for (uint32_t x = 0; x < nx; x++)
            transform_row(values + place_of(c, x, y, 0), (size_t)nx * ny, (int)nz, row, at,
                          row + most);
    for (uint32_t i = 0; i < c->count; i++)
        c->depth[i] = c->size * fmax(0.25, sqrt((double)values[c->places[i]]) - OUTSIDE);
    return true;
}

// Skin that faces other skin
// -----------------------------------------------------------------------

// The skin in one cell: where it is and which way it looks, in the mean.
typedef struct {
    vec3 point, normal;
    double n;
} patch;

typedef struct {
    const cutis_cells *c;
    uint32_t *index; // per place: its patch, or CUTIS_NOTHING
    patch *list;
    uint32_t count;
} skins;

static void add_skin(skins *s, vec3 p, vec3 q, vec3 r)
{
    const vec3 normal = v3_cross(v3_sub(q, p), v3_sub(r, p));
    const double area = v3_length(normal);
    const double longest =
        fmax(v3_length(v3_sub(q, p)), fmax(v3_length(v3_sub(r, q)), v3_length(v3_sub(p, r))));
    const int n = (int)ceil(longest / SAMPLING);
    const double share = 2. / ((n + 1.) * (n + 2.));
    if (!(area > 0)) return;
    for (int i = 0; i <= n; i++)
        for (int j = 0; i + j <= n; j++) {
            double u = n ? (double)i / n : 0, v = n ? (double)j / n : 0;
            vec3 at = v3_mad(v3_mad(p, u, v3_sub(q, p)), v, v3_sub(r, p));
            uint32_t k = s->index[place_of(s->c, (uint32_t)(at.x + 0.5), (uint32_t)(at.y + 0.5),
                                           (uint32_t)(at.z + 0.5))];
            if (k == CUTIS_NOTHING) continue;
            patch *to = &s->list[k];
            to->point = v3_mad(to->point, share * area, at);
            to->normal = v3_mad(to->normal, share, normal);
            to->n += share * area;
        }
}

// Do two patches look at each other, with a narrow gap between them?
static bool face_each_other(const patch *a, const patch *b)
{
    const vec3 na = v3_unit(a->normal), nb = v3_unit(b->normal);
    const vec3 way = v3_sub(v3_divide(b->point, b->n), v3_divide(a->point, a->n));
    const double ahead = v3_dot(way, na);
    return v3_dot(na, nb) < FACING && ahead > 0 && ahead < GAP &&
           v3_length(v3_mad(way, -ahead, na)) < BESIDE;
}

// A cell of skin that faces other skin next to it is taken away where the body goes on behind it:
// so hands come off thighs, arms off sides, fingers off each other. A cell that holds both skins
// has no way to look, and goes as well.
static bool part_skins(const cutis_cells *c, const cutis_closed *mesh, uint8_t *inside,
                       cutis_arena *scratch)
{
    const size_t total = (size_t)c->n[0] * c->n[1] * c->n[2];
    skins s = { .c = c, .index = cutis_arena_alloc(scratch, total, sizeof *s.index) };
    if (!s.index) return false;
    for (size_t i = 0; i < total; i++) s.index[i] = inside[i] & 2 ? s.count++ : CUTIS_NOTHING;
    s.list = cutis_arena_zero(scratch, s.count + (size_t)1, sizeof *s.list);
    if (!s.list) return false;
    for (uint32_t f = 0; f < mesh->face_count; f++) {
        const uint32_t *v = mesh->faces[f];
        add_skin(&s, in_cells(c, mesh->points[v[0]]), in_cells(c, mesh->points[v[1]]),
                 in_cells(c, mesh->points[v[2]]));
    }
    for (size_t i = 0; i < total; i++) {
        if (s.index[i] == CUTIS_NOTHING) continue;
        const patch *own = &s.list[s.index[i]];
        const double even = own->n > 0 ? v3_length(own->normal) / own->n : 1;
        bool faces = even < MIXED;
        for (int k = 0; k < CUTIS_CELL_NEIGHBOURS && !faces && even >= MIXED; k++) {
            const uint32_t other = s.index[(size_t)((ptrdiff_t)i + c->steps[k])];
            faces = other != CUTIS_NOTHING && face_each_other(own, &s.list[other]);
        }
        if (faces) inside[i] |= 4;
    }
    for (size_t i = 0; i < total; i++) {
        if (!(inside[i] & 4)) continue;
        int deep = 0; // beside what is not skin
        for (int k = 0; k < CUTIS_CELL_NEIGHBOURS; k++)
            deep += (inside[(size_t)((ptrdiff_t)i + c->steps[k])] & 7) == 1;
        if (deep > 0) inside[i] |= 8;
    }
    for (size_t i = 0; i < total; i++) inside[i] = inside[i] && !(inside[i] & 8);
    return true;
}

static void fill(const cutis_cells *c, const cutis_closed *mesh, uint8_t *inside, int16_t *turns)
{
    for (uint32_t f = 0; f < mesh->face_count; f++) {
        const uint32_t *v = mesh->faces[f];
        vec3 p = in_cells(c, mesh->points[v[0]]), q = in_cells(c, mesh->points[v[1]]);
        vec3 r = in_cells(c, mesh->points[v[2]]);
        cross_columns(c, turns, p, q, r);
        touch_cells(c, inside, p, q, r);
    }
    size_t layer = (size_t)c->n[0] * c->n[1];
    for (size_t column = 0; column < layer; column++) {
        int sum = 0;
        for (uint32_t z = 0; z < c->n[2]; z++) {
            sum += turns[column + z * layer];
            if (sum > 0 && z >= BORDER && z + BORDER < c->n[2]) inside[column + z * layer] |= 1;
        }
    }
}

cutis_result cutis_cells_make(cutis_arena *arena, const cutis_closed *mesh, uint32_t wanted,
                              bool part, cutis_cells *out)
{
    *out = (cutis_cells){ .arena = arena, .context = mesh->context };
    choose_grid(out, mesh, wanted);
    size_t total = (size_t)out->n[0] * out->n[1] * out->n[2];
    cutis_arena scratch = { .context = mesh->context };
    uint8_t *inside = cutis_arena_zero(&scratch, total, 1);
    int16_t *turns = cutis_arena_zero(&scratch, total, sizeof *turns);
    out->at = cutis_arena_alloc(arena, total, sizeof *out->at);
    bool good = inside && turns && out->at;
    if (good) fill(out, mesh, inside, turns);
    if (part) good = good && part_skins(out, mesh, inside, &scratch);
    for (size_t i = 0; i < total && good; i++)
        out->at[i] = inside[i] ? out->count++ : CUTIS_NOTHING;
    out->places = good ? cutis_arena_alloc(arena, out->count, sizeof *out->places) : NULL;
    out->depth = good ? cutis_arena_alloc(arena, out->count, sizeof *out->depth) : NULL;
    good = out->places && out->depth;
    for (size_t i = 0; i < total && good; i++)
        if (inside[i]) out->places[out->at[i]] = (uint32_t)i;
    good = good && find_depth(out, inside, &scratch);
    cutis_arena_release(&scratch);
    return good ? CUTIS_OK : cutis_alloc_result(mesh->context);
}

vec3 cutis_cell_centre(const cutis_cells *c, uint32_t cell)
{
    uint32_t place = c->places[cell], x = place % c->n[0], y = place / c->n[0] % c->n[1];
    uint32_t z = place / c->n[0] / c->n[1];
    vec3 centre = v3_scale(c->axes[0], c->low[0] + (x + 0.5) * c->size);
    centre = v3_mad(centre, c->low[1] + (y + 0.5) * c->size, c->axes[1]);
    return v3_mad(centre, c->low[2] + (z + 0.5) * c->size, c->axes[2]);
}

uint32_t cutis_cell_near(const cutis_cells *c, vec3 point)
{
    const double p[3] = { point.x, point.y, point.z };
    int at[3];
    for (int k = 0; k < 3; k++) {
        double x = floor((along_axis(c, p, k) - c->low[k]) / c->size);
        at[k] = x < 0 ? 0 : x >= c->n[k] ? (int)c->n[k] - 1 : (int)x;
    }
    uint32_t best = c->at[place_of(c, (uint32_t)at[0], (uint32_t)at[1], (uint32_t)at[2])];
    double least = INFINITY;
    for (int z = -NEAR; z <= NEAR && best == CUTIS_NOTHING; z++)
        for (int y = -NEAR; y <= NEAR; y++)
            for (int x = -NEAR; x <= NEAR; x++) {
                int q[3] = { at[0] + x, at[1] + y, at[2] + z };
                bool out = false;
                for (int k = 0; k < 3; k++) out |= q[k] < 0 || q[k] >= (int)c->n[k];
                if (out) continue;
                uint32_t cell = c->at[place_of(c, (uint32_t)q[0], (uint32_t)q[1], (uint32_t)q[2])];
                if (cell == CUTIS_NOTHING) continue;
                double d = v3_length(v3_sub(cutis_cell_centre(c, cell), point));
                if (d < least) least = d, best = cell;
            }
    return best;
}

bool cutis_cells_march(const cutis_cells *c, cutis_heap *heap, const cutis_cell_start *starts,
                       uint32_t start_count, const double *costs, double *distances, uint32_t *from,
                       uint32_t *origin)
{
    bool good = true;
    for (uint32_t i = 0; i < c->count; i++) distances[i] = INFINITY;
    heap->count = 0;
    for (uint32_t i = 0; i < start_count && good; i++) {
        uint32_t cell = starts[i].cell;
        if (!(starts[i].distance < distances[cell])) continue;
        distances[cell] = starts[i].distance;
        if (from) from[cell] = CUTIS_NOTHING;
        if (origin) origin[cell] = i;
        good = cutis_heap_push(heap, distances[cell], cell);
    }
    while (heap->count > 0 && good) {
        cutis_waiting top = cutis_heap_pop(heap);
        uint32_t v = top.vertex;
        if (top.distance > distances[v]) continue;
        const uint32_t *here = c->at + c->places[v];
        for (int k = 0; k < CUTIS_CELL_NEIGHBOURS && good; k++) {
            uint32_t to = here[c->steps[k]];
            if (to == CUTIS_NOTHING) continue;
            double cost = costs ? (costs[v] + costs[to]) / 2 : 1;
            double d = top.distance + cost * c->lengths[k];
            if (!(d < distances[to])) continue;
            distances[to] = d;
            if (from) from[to] = v;
            if (origin) origin[to] = origin[v];
            good = cutis_heap_push(heap, d, to);
        }
    }
    return good;
}
