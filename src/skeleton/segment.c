// Parts of a body nobody has cut. The distance from its middle, swept from the far ends inwards,
// shows its limbs; each limb is then measured by the distance from its own tip, ends where its
// girth grows most, is cut where it is narrow and halved where it is long. What is left, the trunk,
// is cut across its longest axis. Invariant: a cut is a level set of a smooth function, so it runs
// round; the same mesh and seed give the same labels.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cutis/synth.h>

#include "base/error.h"
#include "math/eigen3.h"
#include "skeleton/heap.h"
#include "skeleton/source.h"

#define SAMPLES 12u // far points that the middle is found from
#define BANDS   32
#define FINE    96 // bands that the end of a limb is found from
#define WINDOW  4
static const double STANDS_OUT = 0.06; // a limb's length, in the largest distance
static const double NARROW = 0.06;     // how much thinner a waist is than what lies on both sides
static const double LONG_LIMB = 8.0;   // length in mean radii: longer ones are halved
static const double LONG_TRUNK = 4.0;
static const double REACH = 1.6;        // how far beyond the sweep the end of a limb may lie
static const double SMALL_SHELL = 0.02; // part of all faces: smaller shells are parts as they are

// Distances -------------------------------------------------------------------------------------

typedef struct {
    cutis_closed *mesh;
    cutis_heap heap;
    uint8_t *fixed; // per vertex
} front;

// Distance at c of a plane wave that passes a at da and b at db; along the edges if it does not
// come in through the triangle.
static double wave(const double *a, const double *b, const double *c, double da, double db)
{
    double u[3], v[3];
    for (int k = 0; k < 3; k++) u[k] = a[k] - c[k], v[k] = b[k] - c[k];
    double uu = double3_dot(u, u), uv = double3_dot(u, v), vv = double3_dot(v, v);
    double best = fmin(da + sqrt(uu), db + sqrt(vv)), det = uu * vv - uv * uv;
    if (!(det > 1e-12 * uu * vv)) return best;
    // |gradient| = 1 with gradient in the triangle: a quadratic in the distance at c.
    double qa = (vv - 2 * uv + uu) / det;
    double qb = -2 * ((vv - uv) * da + (uu - uv) * db) / det;
    double qc = (vv * da * da - 2 * uv * da * db + uu * db * db) / det - 1;
    double root = qb * qb - 4 * qa * qc;
    if (root < 0) return best;
    double d = (-qb + sqrt(root)) / (2 * qa);
    if (d < da || d < db) return best;
    // The wave must reach c through the edge: the gradient seen from c lies between u and v.
    double x = (vv * (da - d) - uv * (db - d)) / det, y = (uu * (db - d) - uv * (da - d)) / det;
    return x <= 0 && y <= 0 ? fmin(best, d) : best;
}

// Distances over one shell from a vertex; *far is the farthest.
static bool march(front *w, uint32_t source, double *distances, uint32_t *far)
{
    cutis_closed *mesh = w->mesh;
    memset(w->fixed, 0, mesh->vertex_count);
    for (uint32_t v = 0; v < mesh->vertex_count; v++) distances[v] = INFINITY;
    distances[source] = 0;
    w->heap.count = 0;
    bool good = cutis_heap_push(&w->heap, 0, source);
    *far = source;
    while (w->heap.count > 0 && good) {
        uint32_t v = cutis_heap_pop(&w->heap).vertex, first = mesh->leaving[v], h = first;
        if (w->fixed[v]) continue;
        w->fixed[v] = 1;
        *far = v;
        do {
            for (int side = 0; side < 2 && good; side++) { // both triangles beside v -> to
                uint32_t to = side ? cutis_from(mesh, cutis_previous(h)) : cutis_to(mesh, h);
                uint32_t third = side ? cutis_to(mesh, h) : cutis_from(mesh, cutis_previous(h));
                if (w->fixed[to]) continue;
                double d = distances[v] + cutis_distance(mesh->points[v], mesh->points[to]);
                if (w->fixed[third])
                    d = wave(mesh->points[v], mesh->points[third], mesh->points[to], distances[v],
                             distances[third]);
                if (d < distances[to]) {
                    distances[to] = d;
                    good = cutis_heap_push(&w->heap, d, to);
                }
            }
            h = cutis_around(mesh, h);
        } while (h != first && good);
    }
    return good;
}

// The vertex with the least mean distance to far points that are far from each other.
static bool find_middle(front *w, const uint32_t *list, uint32_t count, uint64_t seed,
                        double *distances, double *sum, double *least, uint32_t *out)
{
    uint32_t source = list[cutis_random_bits(seed, 0, 0) % count], far;
    for (uint32_t i = 0; i < count; i++) sum[list[i]] = 0, least[list[i]] = INFINITY;
    if (!march(w, source, distances, &source)) return false;
    for (uint32_t s = 0; s < SAMPLES; s++) {
        if (!march(w, source, distances, &far)) return false;
        for (uint32_t i = 0; i < count; i++) {
            sum[list[i]] += distances[list[i]];
            least[list[i]] = fmin(least[list[i]], distances[list[i]]);
        }
        source = list[0];
        for (uint32_t i = 1; i < count; i++)
            if (least[list[i]] > least[source]) source = list[i];
    }
    *out = list[0];
    for (uint32_t i = 1; i < count; i++)
        if (sum[list[i]] < sum[*out]) *out = list[i];
    return true;
}

// Branches --------------------------------------------------------------------------------------

typedef struct {
    double low, high; // of the field
    uint32_t parent;  // the stretch below, or CUTIS_NOTHING
    uint32_t alias;   // joined to this one; itself if not
    uint32_t tip;     // its farthest vertex, or CUTIS_NOTHING: an inner stretch
} arc;

typedef struct {
    cutis_closed *mesh;
    cutis_arena *arena;
    const double *field; // per vertex
    double largest;
    arc *arcs;
    uint32_t count;
    size_t capacity;
    uint32_t *up;   // union-find over vertices
    uint32_t *open; // per representative: the arc that is growing downwards
    double *peak;   // per representative
} branches;

static uint32_t find(uint32_t *up, uint32_t i)
{
    while (up[i] != i) i = up[i] = up[up[i]];
    return i;
}

static uint32_t add_arc(branches *b, double high, uint32_t tip)
{
    if (b->count == b->capacity) {
        size_t more = 2 * b->capacity + 256;
        arc *grown = cutis_arena_alloc(b->arena, more, sizeof *grown);
        if (!grown) return CUTIS_NOTHING;
        if (b->count) memcpy(grown, b->arcs, b->count * sizeof *grown);
        b->arcs = grown, b->capacity = more;
    }
    b->arcs[b->count] = (arc){ 0, high, CUTIS_NOTHING, b->count, tip };
    return b->count++;
}

static int farthest_first(const void *a, const void *b)
{
    const cutis_waiting *x = a, *y = b;
    if (x->distance != y->distance) return x->distance > y->distance ? -1 : 1;
    return x->vertex < y->vertex ? -1 : x->vertex > y->vertex;
}

// Vertex v joins the pieces above it. Where several that stand out meet, each ends here and a new
// stretch begins below; the others are bumps and join the tallest.
static bool join_at(branches *b, uint32_t v, const uint32_t *roots, uint32_t n)
{
    double here = b->field[v], tall = STANDS_OUT * b->largest;
    uint32_t tallest = roots[0], standing = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (b->peak[roots[i]] > b->peak[tallest]) tallest = roots[i];
        standing += b->peak[roots[i]] - here > tall;
    }
    uint32_t keep = b->open[tallest];
    double peak = b->peak[tallest];
    if (standing > 1) {
        keep = add_arc(b, here, CUTIS_NOTHING);
        if (keep == CUTIS_NOTHING) return false;
    }
    for (uint32_t i = 0; i < n; i++) {
        arc *own = &b->arcs[b->open[roots[i]]];
        if (b->open[roots[i]] == keep) continue;
        if (standing > 1 && b->peak[roots[i]] - here > tall)
            own->low = here, own->parent = keep;
        else
            own->alias = keep;
    }
    for (uint32_t i = 0; i < n; i++) b->up[roots[i]] = v;
    b->open[v] = keep;
    b->peak[v] = peak;
    return true;
}

// Sweep the shell from its far ends to the middle.
static bool find_branches(branches *b, const uint32_t *list, uint32_t count)
{
    cutis_closed *mesh = b->mesh;
    cutis_waiting *order = cutis_arena_alloc(b->arena, count, sizeof *order);
    if (!order) return false;
    for (uint32_t i = 0; i < count; i++) order[i] = (cutis_waiting){ b->field[list[i]], list[i] };
    qsort(order, count, sizeof *order, farthest_first);
    b->largest = order[0].distance;
    for (uint32_t i = 0; i < count; i++) b->up[list[i]] = CUTIS_NOTHING;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t v = order[i].vertex, roots[64], n = 0, first = mesh->leaving[v], h = first;
        do {
            uint32_t to = cutis_to(mesh, h);
            h = cutis_around(mesh, h);
            if (b->up[to] == CUTIS_NOTHING) continue;
            uint32_t root = find(b->up, to), k = 0;
            while (k < n && roots[k] != root) k++;
            if (k == n && n < 64) roots[n++] = root;
        } while (h != first);
        b->up[v] = v;
        if (n == 0) {
            uint32_t a = add_arc(b, b->field[v], v);
            if (a == CUTIS_NOTHING) return false;
            b->open[v] = a, b->peak[v] = b->field[v];
        } else if (!join_at(b, v, roots, n)) {
            return false;
        }
    }
    return true;
}

// Cuts along a limb -----------------------------------------------------------------------------

typedef struct {
    double girth[BANDS];             // length of the level set, from one end to the other
    double length;                   // from end to end
    uint32_t cuts[BANDS], cut_count; // bands
    uint32_t first;                  // label of the first piece; the others follow
} profile;

// Deepest waist first; a cut needs thicker bands on both sides, up to the next cut.
static void find_waist(profile *p, int from, int to)
{
    const int margin = BANDS / 6;
    int best = -1;
    double depth = NARROW;
    for (int i = from + margin; i < to - margin; i++) {
        double left = 0, right = 0;
        for (int k = from; k < i; k++) left = fmax(left, p->girth[k]);
        for (int k = i + 1; k < to; k++) right = fmax(right, p->girth[k]);
        double d = 1 - p->girth[i] / fmin(left, right);
        if (d > depth) depth = d, best = i;
    }
    if (best < 0) return;
    p->cuts[p->cut_count++] = (uint32_t)best;
    find_waist(p, from, best);
    find_waist(p, best, to);
}

static int smaller(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

// Stretches longer than so many of their radii are halved.
static void halve_long(profile *p, double radii)
{
    uint32_t edges[BANDS + 2], n = 0, found = p->cut_count;
    qsort(p->cuts, found, sizeof *p->cuts, smaller);
    edges[n++] = 0;
    for (uint32_t i = 0; i < found; i++) edges[n++] = p->cuts[i];
    edges[n++] = BANDS;
    for (uint32_t i = 0; i + 1 < n && p->cut_count < BANDS; i++) {
        double sum = 0, bands = edges[i + 1] - edges[i];
        for (uint32_t k = edges[i]; k < edges[i + 1]; k++) sum += p->girth[k];
        double radius = sum / bands / (2 * 3.14159265358979323846);
        if (bands >= 4 && bands * p->length / BANDS > radii * radius)
            p->cuts[p->cut_count++] = (edges[i] + edges[i + 1]) / 2;
    }
    qsort(p->cuts, p->cut_count, sizeof *p->cuts, smaller);
}

static void smooth(double *g, int count)
{
    double old[FINE];
    for (int pass = 0; pass < 2; pass++) {
        memcpy(old, g, (size_t)count * sizeof *old);
        for (int i = 0; i < count; i++)
            g[i] = (old[i > 0 ? i - 1 : i] + 2 * old[i] + old[i + 1 < count ? i + 1 : i]) / 4;
    }
}

static int band_of(double share, int count)
{
    int i = (int)(count * share);
    return i < 0 ? 0 : i >= count ? count - 1 : i;
}

// Where a limb meets the body: there its girth grows most, from 0.7 of what the sweep found
// on. The cut lies just before.
static double limb_end(double *girth, double reach, double length)
{
    const int least = (int)(0.7 * length / reach * FINE);
    double most = 0;
    int best = -1;
    smooth(girth, FINE);
    for (int i = WINDOW; i + WINDOW < FINE; i++) {
        double growth = girth[i - WINDOW] > 0 ? girth[i + WINDOW] / girth[i - WINDOW] : 0;
        if (i >= least && growth > most) most = growth, best = i;
    }
    return best < 0 ? length : (best - WINDOW + 1) * reach / FINE;
}

static double face_mean(const cutis_closed *mesh, const double *field, uint32_t f)
{
    const uint32_t *v = mesh->faces[f];
    return (field[v[0]] + field[v[1]] + field[v[2]]) / 3;
}

typedef struct {
    cutis_closed *mesh;
    cutis_labels *names;
    uint32_t shell;
    double *field;  // per vertex: from the tip at work
    double *share;  // per face: how near the tip of its limb, in the limb's length
    uint32_t *limb; // per face, or CUTIS_NOTHING: trunk
} cutter;

static bool name_pieces(cutter *c, profile *p)
{
    p->first = c->names->count;
    for (uint32_t i = 0; i <= p->cut_count; i++) {
        char name[32];
        snprintf(name, sizeof name, "part%u", c->names->count);
        if (cutis_labels_add(c->names, name) == CUTIS_NOTHING) return false;
    }
    return true;
}

static uint32_t piece_label(const profile *p, double share)
{
    uint32_t band = (uint32_t)band_of(share, BANDS), i = 0;
    while (i < p->cut_count && band >= p->cuts[i]) i++;
    return p->first + i;
}

// Faces nearer to a tip than where its limb ends are the limb's, cut at waists.
static bool cut_limb(cutter *c, front *w, uint32_t index, uint32_t tip, double length)
{
    cutis_closed *mesh = c->mesh;
    double girth[FINE] = { 0 }, reach = REACH * length;
    profile p = { .cut_count = 0 };
    uint32_t far;
    if (!march(w, tip, c->field, &far)) return false;
    for (uint32_t f = 0; f < mesh->face_count; f++) {
        double t = mesh->shells[f] == c->shell ? face_mean(mesh, c->field, f) : INFINITY;
        if (t < reach) girth[band_of(t / reach, FINE)] += cutis_face_area(mesh, f) * FINE / reach;
    }
    p.length = limb_end(girth, reach, length);
    for (uint32_t f = 0; f < mesh->face_count; f++) {
        double t = mesh->shells[f] == c->shell ? face_mean(mesh, c->field, f) : INFINITY;
        if (!(t < p.length)) continue;
        p.girth[band_of(t / p.length, BANDS)] += cutis_face_area(mesh, f) * BANDS / p.length;
    }
    smooth(p.girth, BANDS);
    find_waist(&p, 0, BANDS);
    halve_long(&p, LONG_LIMB);
    if (!name_pieces(c, &p)) return false;
    for (uint32_t f = 0; f < mesh->face_count; f++) {
        double t = mesh->shells[f] == c->shell ? face_mean(mesh, c->field, f) : INFINITY;
        if (!(t < p.length) || !(t / p.length < c->share[f])) continue;
        c->share[f] = t / p.length, c->limb[f] = index;
        mesh->labels[f] = piece_label(&p, t / p.length);
    }
    return true;
}

// What is left is cut across its longest axis.
static bool cut_trunk(cutter *c)
{
    cutis_closed *mesh = c->mesh;
    double sum[3] = { 0 }, total = 0, m[6] = { 0 }, values[3], axes[9];
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t f = 0; f < mesh->face_count; f++) {
            if (mesh->shells[f] != c->shell || c->limb[f] != CUTIS_NOTHING) continue;
            double area = cutis_face_area(mesh, f), d[3];
            const uint32_t *v = mesh->faces[f];
            for (int k = 0; k < 3; k++)
                d[k] = (mesh->points[v[0]][k] + mesh->points[v[1]][k] + mesh->points[v[2]][k]) / 3;
            if (pass == 0) {
                for (int k = 0; k < 3; k++) sum[k] += area * d[k];
                total += area;
                continue;
            }
            for (int k = 0; k < 3; k++) d[k] -= sum[k] / total;
            m[0] += area * d[0] * d[0], m[1] += area * d[0] * d[1], m[2] += area * d[0] * d[2];
            m[3] += area * d[1] * d[1], m[4] += area * d[1] * d[2], m[5] += area * d[2] * d[2];
        }
    if (!(total > 0)) return true; // limbs are all there is
    cutis_eigen3(m, values, axes);
    double low = INFINITY, high = -INFINITY;
    for (uint32_t v = 0; v < mesh->vertex_count; v++)
        c->field[v] = double3_dot(mesh->points[v], axes);
    for (uint32_t f = 0; f < mesh->face_count; f++) {
        if (mesh->shells[f] != c->shell || c->limb[f] != CUTIS_NOTHING) continue;
        low = fmin(low, face_mean(mesh, c->field, f)),
        high = fmax(high, face_mean(mesh, c->field, f));
    }
    profile p = { .length = high - low };
    if (!(p.length > 0)) p.length = 1;
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t f = 0; f < mesh->face_count; f++) {
            if (mesh->shells[f] != c->shell || c->limb[f] != CUTIS_NOTHING) continue;
            double share = (face_mean(mesh, c->field, f) - low) / p.length;
            if (pass == 0)
                p.girth[band_of(share, BANDS)] += cutis_face_area(mesh, f) * BANDS / p.length;
            else
                mesh->labels[f] = piece_label(&p, share);
        }
        if (pass == 1) break;
        smooth(p.girth, BANDS);
        find_waist(&p, BANDS / 6, BANDS - BANDS / 6);
        halve_long(&p, LONG_TRUNK);
        if (!name_pieces(c, &p)) return false;
    }
    return true;
}

// Labels of one shell: limbs from their tips, then the trunk.
static cutis_result label_branches(branches *b, front *w, uint32_t shell, double *field,
                                   cutis_labels *names)
{
    cutis_closed *mesh = b->mesh;
    cutter c = { .mesh = mesh, .names = names, .shell = shell, .field = field };
    c.share = cutis_arena_alloc(b->arena, mesh->face_count, sizeof *c.share);
    c.limb = cutis_arena_alloc(b->arena, mesh->face_count, sizeof *c.limb);
    if (!c.share || !c.limb) return cutis_alloc_result(mesh->context);
    for (uint32_t f = 0; f < mesh->face_count; f++) c.share[f] = 1, c.limb[f] = CUTIS_NOTHING;
    for (uint32_t a = 0; a < b->count; a++) {
        const arc *own = &b->arcs[a];
        if (own->alias != a || own->tip == CUTIS_NOTHING || own->parent == CUTIS_NOTHING) continue;
        if (!cut_limb(&c, w, a, own->tip, own->high - own->low))
            return cutis_alloc_result(mesh->context);
        cutis_result result = cutis_progress(mesh->context, "segmenting", (a + 1.0) / b->count);
        if (result != CUTIS_OK) return result;
    }
    return cut_trunk(&c) ? CUTIS_OK : cutis_alloc_result(mesh->context);
}

// Fewer parts -----------------------------------------------------------------------------------

// Join the smallest part to the neighbour with the longest border until `wanted` are left.
static cutis_result merge_parts(cutis_closed *mesh, uint32_t wanted, uint32_t labels,
                                cutis_arena *arena)
{
    double *area = cutis_arena_alloc(arena, labels, sizeof *area);
    double *border = cutis_arena_alloc(arena, labels, sizeof *border);
    if (!area || !border) return cutis_alloc_result(mesh->context);
    for (;;) {
        uint32_t count = 0, least = CUTIS_NOTHING, to = CUTIS_NOTHING;
        memset(area, 0, labels * sizeof *area);
        memset(border, 0, labels * sizeof *border);
        for (uint32_t f = 0; f < mesh->face_count; f++)
            area[mesh->labels[f]] += cutis_face_area(mesh, f);
        for (uint32_t l = 0; l < labels; l++) {
            if (!(area[l] > 0)) continue;
            count++;
            if (least == CUTIS_NOTHING || area[l] < area[least]) least = l;
        }
        if (count <= wanted || least == CUTIS_NOTHING) return CUTIS_OK;
        for (uint32_t h = 0; h < 3 * mesh->face_count; h++) {
            uint32_t other = mesh->labels[mesh->twins[h] / 3];
            if (mesh->labels[h / 3] != least || other == least) continue;
            border[other] += cutis_edge_length(mesh, h);
            if (to == CUTIS_NOTHING || border[other] > border[to]) to = other;
        }
        if (to == CUTIS_NOTHING) return CUTIS_OK; // a shell of its own
        for (uint32_t f = 0; f < mesh->face_count; f++)
            if (mesh->labels[f] == least) mesh->labels[f] = to;
    }
}

// Shells ----------------------------------------------------------------------------------------

static cutis_result segment_shell(cutis_closed *mesh, front *w, uint32_t shell, uint64_t seed,
                                  cutis_labels *names, cutis_arena *arena)
{
    uint32_t n = mesh->vertex_count, count = 0, middle, far;
    uint32_t *list = cutis_arena_alloc(arena, n, sizeof *list);
    double *field = cutis_arena_alloc(arena, n, 3 * sizeof *field);
    branches b = { .mesh = mesh, .arena = arena, .field = field };
    b.up = cutis_arena_alloc(arena, n, sizeof *b.up);
    b.open = cutis_arena_alloc(arena, n, sizeof *b.open);
    b.peak = cutis_arena_alloc(arena, n, sizeof *b.peak);
    if (!list || !field || !b.up || !b.open || !b.peak) return cutis_alloc_result(mesh->context);
    for (uint32_t v = 0; v < n; v++)
        if (mesh->shells[mesh->leaving[v] / 3] == shell) list[count++] = v;
    if (!find_middle(w, list, count, seed, field, field + n, field + 2 * (size_t)n, &middle) ||
        !march(w, middle, field, &far) || !find_branches(&b, list, count))
        return cutis_alloc_result(mesh->context);
    return label_branches(&b, w, shell, field, names);
}

cutis_result cutis_segment(cutis_closed *mesh, uint32_t wanted, uint64_t seed, cutis_labels *names)
{
    cutis_context *context = mesh->context;
    cutis_arena arena = { .context = context };
    front w = { .mesh = mesh, .heap = { .context = context } };
    uint32_t *sizes = cutis_arena_alloc(&arena, mesh->shell_count, sizeof *sizes);
    w.fixed = cutis_arena_alloc(&arena, mesh->vertex_count, 1);
    cutis_result result = sizes && w.fixed ? CUTIS_OK : cutis_alloc_result(context);
    if (result == CUTIS_OK) {
        memset(sizes, 0, mesh->shell_count * sizeof *sizes);
        for (uint32_t f = 0; f < mesh->face_count; f++) sizes[mesh->shells[f]]++;
    }
    // The names of the shells stay: a shell that is not cut keeps its own.
    for (uint32_t s = 0; s < mesh->shell_count && result == CUTIS_OK; s++) {
        if (sizes[s] < SMALL_SHELL * mesh->face_count || sizes[s] < 100) continue;
        result = segment_shell(mesh, &w, s, seed, names, &arena);
        if (result == CUTIS_OK)
            result = cutis_progress(context, "segmenting", (double)(s + 1) / mesh->shell_count);
    }
    if (result == CUTIS_OK && wanted > 0)
        result = merge_parts(mesh, wanted < 2 ? 2 : wanted, names->count, &arena);
    cutis_heap_release(&w.heap);
    cutis_arena_release(&arena);
    return result;
}
