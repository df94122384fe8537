// Parts of a body that comes without any. The distance from its middle, swept from the far ends
// inwards, shows its limbs; each limb is then measured by the distance from its own tip, ends where
// its girth grows most, is cut where it is narrow and halved where it is long. The ends of limbs
// are swept once more at their own scale, for fingers. What is left, the trunk, is cut across its
// longest axis. Invariant: a cut is a level set of a smooth function, so it runs round; the same
// mesh and seed give the same labels.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "geometry/order.h"
#include "math/eigen3.h"
#include "skeleton/branches.h"
#include "skeleton/source.h"

#define BANDS   32
#define FINE    96 // bands that the end of a limb is found from
#define WINDOW  4
#define POCKETS 8 // sweeps, each without the pockets of those before
#define PIECE_FACES                                                                                \
    64u // a finger of fewer on average in its pieces stays whole: healing removes fragments
static const double STANDS_OUT = 0.06; // a limb's length, in the largest distance
static const double FINGER = 0.1;    // the same for what stands out of a limb's end, in its length
static const double THIN = 3.0;      // a finger's least length in its mean radii: a heel is shorter
static const double NARROW = 0.06;   // how much thinner a waist is than what lies on both sides
static const double LONG_LIMB = 8.0; // length in mean radii: longer ones are halved
static const double LONG_TRUNK = 4.0;
static const double REACH = 1.6;        // how far beyond the sweep the end of a limb may lie
static const double BEYOND = 1.25;      // distances are right up to REACH, so they march farther
static const double SMALL_SHELL = 0.02; // part of all faces: smaller shells are parts as they are

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

// Stretches longer than this many of their radii are halved.
static void halve_long(profile *p, double radii)
{
    uint32_t edges[BANDS + 2], n = 0, found = p->cut_count;
    qsort(p->cuts, found, sizeof *p->cuts, order_u32);
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
    qsort(p->cuts, p->cut_count, sizeof *p->cuts, order_u32);
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
    cutis_front *front;
    uint32_t shell;
    double *field;   // per vertex: from the tip at work
    double *share;   // per face: how near the tip of its limb, in the limb's length
    uint32_t *limb;  // per face, or CUTIS_NOTHING: trunk
    uint8_t *inside; // per face: may be relabelled
} cutter;

static bool name_pieces(cutter *c, profile *p)
{
    p->first = c->names->count;
    for (uint32_t i = 0; i <= p->cut_count; i++)
        if (cutis_labels_add(c->names, "part%u", c->names->count) == CUTIS_NOTHING) return false;
    return true;
}

static uint32_t piece_label(const profile *p, double share)
{
    uint32_t band = (uint32_t)band_of(share, BANDS), i = 0;
    while (i < p->cut_count && band >= p->cuts[i]) i++;
    return p->first + i;
}

// How far a face is from the tip at work.
static double from_tip(const cutter *c, uint32_t f)
{
    return c->mesh->shells[f] == c->shell ? face_mean(c->mesh, c->field, f) : INFINITY;
}

// Faces nearer to a tip than where its limb ends are the limb's, cut at waists.
// @param least faces that its pieces have on average, or it stays whole
// @param end label of the piece with the tip
static bool cut_limb(cutter *c, uint32_t index, const cutis_stretch *own, uint32_t least,
                     uint32_t *end)
{
    cutis_closed *mesh = c->mesh;
    double girth[FINE] = { 0 }, length = own->high - own->low, reach = REACH * length;
    profile p = { .cut_count = 0 };
    uint32_t far, faces = 0;
    if (!cutis_march(c->front, own->tip, BEYOND * reach, c->field, &far)) return false;
    for (uint32_t f = 0; f < mesh->face_count; f++) {
        double t = from_tip(c, f);
        if (t < reach) girth[band_of(t / reach, FINE)] += cutis_face_area(mesh, f) * FINE / reach;
    }
    p.length = limb_end(girth, reach, length);
    for (uint32_t f = 0; f < mesh->face_count; f++) {
        double t = from_tip(c, f);
        if (!(t < p.length)) continue;
        faces++;
        p.girth[band_of(t / p.length, BANDS)] += cutis_face_area(mesh, f) * BANDS / p.length;
    }
    smooth(p.girth, BANDS);
    find_waist(&p, 0, BANDS);
    halve_long(&p, LONG_LIMB);
    if (faces < least * (p.cut_count + 1)) p.cut_count = 0;
    if (!name_pieces(c, &p)) return false;
    *end = p.first;
    for (uint32_t f = 0; f < mesh->face_count; f++) {
        double t = c->inside[f] ? from_tip(c, f) : INFINITY;
        if (!(t < p.length) || !(t / p.length < c->share[f])) continue;
        c->share[f] = t / p.length, c->limb[f] = index;
        mesh->labels[f] = piece_label(&p, t / p.length);
    }
    return true;
}

// Six times the volume between a face and a point. Summed over a piece of surface, with the point
// in the middle of its border, it is that of the piece closed by a fan, which adds nothing.
static double wedge(const cutis_closed *mesh, uint32_t f, const double *point)
{
    const uint32_t *v = mesh->faces[f];
    return v3_wedge_of(mesh->points[v[0]], mesh->points[v[1]], mesh->points[v[2]], point);
}

// What the surface within `length` of a tip is like: its mean radius, and whether it encloses a
// piece of the body (a limb) or of the space outside (a mouth).
static bool look_at(cutter *c, uint32_t tip, double length, double *radius, bool *pocket)
{
    const cutis_closed *mesh = c->mesh;
    double middle[3] = { 0 }, volume = 0, area = 0, total = 0;
    uint32_t far;
    if (!cutis_march(c->front, tip, BEYOND * length, c->field, &far)) return false;
    for (uint32_t h = 0; h < 3 * mesh->face_count; h++) {
        if (!(from_tip(c, h / 3) < length) || from_tip(c, mesh->twins[h] / 3) < length) continue;
        double edge = cutis_edge_length(mesh, h);
        const double *p = mesh->points[cutis_from(mesh, h)], *q = mesh->points[cutis_to(mesh, h)];
        for (int k = 0; k < 3; k++) middle[k] += edge * (p[k] + q[k]) / 2;
        total += edge;
    }
    for (int k = 0; k < 3 && total > 0; k++) middle[k] /= total;
    for (uint32_t f = 0; f < mesh->face_count; f++) {
        if (!(from_tip(c, f) < length)) continue;
        volume += wedge(mesh, f, middle);
        area += cutis_face_area(mesh, f);
    }
    *radius = area / (2 * 3.14159265358979323846 * length);
    *pocket = volume < 0;
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

// Sweep, flatten the pockets that were found, and sweep again until there are none.
static cutis_result find_limbs(cutter *c, cutis_branches *b, double *field, const uint32_t *list,
                               uint32_t count, double tall)
{
    bool pockets = true;
    for (int pass = 0; pass < POCKETS && pockets; pass++) {
        pockets = false;
        if (!cutis_branches_find(b, list, count, tall)) return cutis_alloc_result(c->mesh->context);
        for (uint32_t a = 0; a < b->count; a++) {
            const cutis_stretch *own = &b->arcs[a];
            double radius;
            bool pocket;
            if (!cutis_is_limb(b, a)) continue;
            if (!look_at(c, own->tip, own->high - own->low, &radius, &pocket))
                return cutis_alloc_result(c->mesh->context);
            if (!pocket) continue;
            pockets = true;
            for (uint32_t i = 0; i < count; i++)
                if (c->field[list[i]] <= own->high - own->low)
                    field[list[i]] = fmin(field[list[i]], own->low);
        }
        TRY(cutis_progress(c->mesh->context, "segmenting", 0.2));
    }
    return CUTIS_OK;
}

// Fingers of a hand: what stands out of the end of a limb and is thin. One alone is its tip.
static cutis_result cut_fingers(cutter *c, cutis_branches *b, double *field, uint32_t hand)
{
    cutis_closed *mesh = c->mesh;
    uint32_t count = 0, fingers = 0, end;
    uint32_t *list = cutis_arena_alloc(b->arena, mesh->vertex_count, sizeof *list);
    uint8_t *seen = cutis_arena_zero(b->arena, mesh->vertex_count, 1);
    if (!list || !seen) return cutis_alloc_result(mesh->context);
    double low = INFINITY, high = 0;
    for (uint32_t f = 0; f < mesh->face_count; f++) {
        c->inside[f] = mesh->labels[f] == hand && mesh->shells[f] == c->shell;
        for (int k = 0; k < 3 && c->inside[f]; k++) {
            uint32_t v = mesh->faces[f][k];
            if (seen[v]) continue;
            seen[v] = 1, list[count++] = v;
            low = fmin(low, field[v]), high = fmax(high, field[v]);
        }
        if (c->inside[f]) c->share[f] = 1;
    }
    if (count == 0) return CUTIS_OK;
    TRY(find_limbs(c, b, field, list, count, FINGER * (high - low)));
    for (uint32_t a = 0; a < b->count; a++) {
        cutis_stretch *own = &b->arcs[a];
        double radius;
        bool pocket;
        if (!cutis_is_limb(b, a)) continue;
        if (!look_at(c, own->tip, own->high - own->low, &radius, &pocket))
            return cutis_alloc_result(mesh->context);
        if (pocket || own->high - own->low < THIN * radius) own->tip = CUTIS_NOTHING;
        fingers += own->tip != CUTIS_NOTHING;
    }
    for (uint32_t a = 0; a < b->count && fingers > 1; a++)
        if (cutis_is_limb(b, a) && !cut_limb(c, a, &b->arcs[a], PIECE_FACES, &end))
            return cutis_alloc_result(mesh->context);
    return CUTIS_OK;
}

// Labels of one shell: limbs from their tips, their fingers, then the trunk.
static cutis_result label_branches(cutter *c, cutis_branches *b, double *field)
{
    cutis_closed *mesh = c->mesh;
    uint32_t *hands = cutis_arena_alloc(b->arena, b->count, sizeof *hands), hand_count = 0;
    if (!hands) return cutis_alloc_result(mesh->context);
    for (uint32_t f = 0; f < mesh->face_count; f++)
        c->share[f] = 1, c->limb[f] = CUTIS_NOTHING, c->inside[f] = 1;
    for (uint32_t a = 0; a < b->count; a++) {
        const cutis_stretch *own = &b->arcs[a];
        if (!cutis_is_limb(b, a)) continue;
        if (!cut_limb(c, a, own, 0, &hands[hand_count++])) return cutis_alloc_result(mesh->context);
        TRY(cutis_progress(mesh->context, "segmenting", (a + 1.0) / b->count));
    }
    for (uint32_t i = 0; i < hand_count; i++) TRY(cut_fingers(c, b, field, hands[i]));
    return cut_trunk(c) ? CUTIS_OK : cutis_alloc_result(mesh->context);
}

// Pockets ---------------------------------------------------------------------------------------

// The faces of one label around a face, into `list`, and whether they look inward.
static uint32_t gather_piece(const cutis_closed *mesh, uint32_t seed, uint32_t *list,
                             uint32_t *mark, uint32_t id, bool *pocket)
{
    uint32_t head = 0, tail = 0, label = mesh->labels[seed];
    double middle[3] = { 0 }, total = 0, volume = 0;
    list[tail++] = seed, mark[seed] = id;
    while (head < tail) {
        uint32_t f = list[head++];
        for (uint32_t h = 3 * f; h < 3 * f + 3; h++) {
            uint32_t g = mesh->twins[h] / 3;
            if (mesh->labels[g] == label) {
                if (mark[g] != id) mark[g] = id, list[tail++] = g;
                continue;
            }
            double edge = cutis_edge_length(mesh, h);
            const double *p = mesh->points[cutis_from(mesh, h)];
            for (int k = 0; k < 3; k++) middle[k] += edge * p[k];
            total += edge;
        }
    }
    for (int k = 0; k < 3 && total > 0; k++) middle[k] /= total;
    for (uint32_t i = 0; i < tail; i++) volume += wedge(mesh, list[i], middle);
    *pocket = total > 0 && volume < 0;
    return tail;
}

// A piece that looks inward (the bottom of a mouth that a cut went through) goes to the label with
// the longest border.
static cutis_result join_pockets(cutis_closed *mesh, uint32_t label_count, cutis_arena *arena)
{
    uint32_t *list = cutis_arena_alloc(arena, mesh->face_count, sizeof *list), id = 0;
    uint32_t *mark = cutis_arena_alloc(arena, mesh->face_count, sizeof *mark);
    double *border = cutis_arena_alloc(arena, label_count, sizeof *border);
    bool changed = true, pocket;
    if (!list || !mark || !border) return cutis_alloc_result(mesh->context);
    for (int pass = 0; pass < POCKETS && changed; pass++) {
        changed = false, id = 0;
        memset(mark, 0, mesh->face_count * sizeof *mark);
        for (uint32_t seed = 0; seed < mesh->face_count; seed++) {
            if (mark[seed]) continue;
            uint32_t count = gather_piece(mesh, seed, list, mark, ++id, &pocket),
                     to = CUTIS_NOTHING;
            if (!pocket) continue;
            memset(border, 0, label_count * sizeof *border);
            for (uint32_t i = 0; i < 3 * count; i++) {
                uint32_t h = 3 * list[i / 3] + i % 3, other = mesh->labels[mesh->twins[h] / 3];
                if (other == mesh->labels[seed]) continue;
                border[other] += cutis_edge_length(mesh, h);
                if (to == CUTIS_NOTHING || border[other] > border[to]) to = other;
            }
            for (uint32_t i = 0; i < count; i++) mesh->labels[list[i]] = to;
            changed = true;
        }
    }
    return CUTIS_OK;
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

static cutis_result segment_shell(cutis_closed *mesh, cutis_front *w, uint32_t shell, uint64_t seed,
                                  cutis_labels *names, cutis_arena *arena)
{
    uint32_t n = mesh->vertex_count, count = 0, middle, far;
    uint32_t *list = cutis_arena_alloc(arena, n, sizeof *list);
    double *field = cutis_arena_alloc(arena, n, 3 * sizeof *field);
    cutter c = { .mesh = mesh, .names = names, .front = w, .shell = shell };
    cutis_branches b;
    c.share = cutis_arena_alloc(arena, mesh->face_count, sizeof *c.share);
    c.limb = cutis_arena_alloc(arena, mesh->face_count, sizeof *c.limb);
    c.inside = cutis_arena_alloc(arena, mesh->face_count, 1);
    if (!list || !field || !c.share || !c.limb || !c.inside ||
        !cutis_branches_make(&b, mesh, arena, field))
        return cutis_alloc_result(mesh->context);
    c.field = field + n;
    for (uint32_t v = 0; v < n; v++)
        if (mesh->shells[mesh->leaving[v] / 3] == shell) list[count++] = v;
    if (!cutis_find_middle(w, list, count, seed, field, field + n, field + 2 * (size_t)n,
                           &middle) ||
        !cutis_march(w, middle, INFINITY, field, &far))
        return cutis_alloc_result(mesh->context);
    TRY(find_limbs(&c, &b, field, list, count, STANDS_OUT * field[far]));
    return label_branches(&c, &b, field);
}

cutis_result cutis_segment(cutis_closed *mesh, uint32_t wanted, uint64_t seed, cutis_labels *names)
{
    cutis_context *context = mesh->context;
    cutis_arena arena = { .context = context };
    cutis_front w = { .mesh = mesh, .heap = { .context = context } };
    uint32_t *sizes = cutis_arena_zero(&arena, mesh->shell_count, sizeof *sizes);
    w.fixed = cutis_arena_alloc(&arena, mesh->vertex_count, 1);
    cutis_result result = sizes && w.fixed ? CUTIS_OK : cutis_alloc_result(context);
    for (uint32_t f = 0; f < mesh->face_count && result == CUTIS_OK; f++) sizes[mesh->shells[f]]++;
    // The names of the shells stay: a shell that is not cut keeps its own.
    for (uint32_t s = 0; s < mesh->shell_count && result == CUTIS_OK; s++) {
        if (sizes[s] < SMALL_SHELL * mesh->face_count || sizes[s] < 100) continue;
        result = segment_shell(mesh, &w, s, seed, names, &arena);
        if (result == CUTIS_OK)
            result = cutis_progress(context, "segmenting", (double)(s + 1) / mesh->shell_count);
    }
    if (result == CUTIS_OK) result = join_pockets(mesh, names->count, &arena);
    if (result == CUTIS_OK && wanted > 0)
        result = merge_parts(mesh, wanted < 2 ? 2 : wanted, names->count, &arena);
    cutis_heap_release(&w.heap);
    cutis_arena_release(&arena);
    return result;
}
