// Which pieces of a mesh are rigid, and whom they follow. A piece bends if bones lie in it; what is
// inside is told by solid angles, so that sleeves and boots, which are open, have an inside too,
// and a belt's hole is none. Islands join the body in the order of their distances to it and to
// islands that joined before: eyes and a hat follow a head that is an island itself.
#include "fit/handles/islands.h"

#include <math.h>
#include <string.h>

#include <cutis/measure.h>

#include "base/error.h"
#include "geometry/order.h"
#include "geometry/vector.h"
#include "math/elementary.h"

#define WAITS   (CUTIS_HANDLES_NONE - 1) ///< an island that has not joined
#define SAMPLES 12                       ///< of a bone
#define LOOKS   512                      ///< vertices of an island that look for the body
/// Pieces that bend have at least this part of the surface, or there is no body to follow.
static const double BODY_LEAST = 0.1;
/// A piece bends with bones of this part of its box's diagonal, and of that of all joints: a
/// weapon's grip, with the small bones of a hand in it, has less. With more of its own diagonal it
/// bends however small it is: a thumb.
static const double BONES_OF_PIECE = 0.25, BONES_OF_ALL = 0.08, BONES_OF_THUMB = 0.45;
static const double BONES_ALONE = 0.15; ///< the same, of bones that lie in no other piece
/// An island holds a bone by this part of its box's diagonal: a pelvis or a vertebra has its own.
static const double HELD_LEAST = 0.03;
/// A slot is as near to its island as this part of its bone, and has as much of the weight there.
static const double SLOT_AWAY = 0.35, SLOT_LEAST = 0.2;
/// Of a leaf's bone that lies in the island that is its own, and how far, in bones, it may begin
/// before it: a head begins above its joint, a foot is not the shin's.
static const double LEAF_INSIDE = 0.5, LEAF_AWAY = 0.8;
#define PAIRS_MOST 256 ///< islands of which each looks which others it touches

typedef struct piece {
    uint32_t first, count; ///< triangles, in `triangle`
    double area;
    box3 box;
    bool bends;
} piece;

typedef struct finder {
    cutis_arena scratch;
    const cutis_handles_shape *shape;
    const cutis_handles_bones *bones;
    uint32_t *of;       ///< per vertex: its piece
    uint32_t *triangle; ///< piece by piece
    piece *pieces;
    uint32_t piece_count;
    double size;    ///< diagonal of the joints' box
    uint32_t *body; ///< vertices of what islands may follow, `body_count`
    uint32_t body_count;
} finder;

// Solid angle of a piece around a point, in parts of the whole sphere (van Oosterom, Strackee).
static double winding(const finder *f, const piece *of, vec3 p)
{
    double sum = 0;
    for (uint32_t i = 0; i < 3; i++) {
        const double x = i == 0 ? p.x : i == 1 ? p.y : p.z;
        if (x < of->box.low[i] || x > of->box.high[i]) return 0;
    }
    for (uint32_t i = of->first; i < of->first + of->count; i++) {
        const uint32_t *c = f->shape->triangles + 3 * (size_t)f->triangle[i];
        const vec3 a = v3_sub(v3_at(f->shape->positions, c[0]), p);
        const vec3 b = v3_sub(v3_at(f->shape->positions, c[1]), p);
        const vec3 d = v3_sub(v3_at(f->shape->positions, c[2]), p);
        const double x = v3_length(a), y = v3_length(b), z = v3_length(d);
        sum += fixed_atan2(v3_dot(a, v3_cross(b, d)),
                           x * y * z + v3_dot(a, b) * z + v3_dot(b, d) * x + v3_dot(d, a) * y);
    }
    return fabs(sum) / (2 * 3.14159265358979323846);
}

// The part of a way that is inside a piece.
static double inside(const finder *f, const piece *of, vec3 a, vec3 b)
{
    uint32_t count = 0;
    for (int i = 0; i < SAMPLES; i++)
        count += winding(f, of, v3_mix(a, b, (i + 0.5) / SAMPLES)) >= 0.5;
    return (double)count / SAMPLES;
}

// Whether bones lie in a piece: a good part of its length, and of the skeleton's.
static bool bends(const finder *f, const piece *of)
{
    const cutis_handles_bones *bones = f->bones;
    const double own = box3_diagonal(&of->box);
    const double enough =
        fmin(fmax(BONES_OF_PIECE * own, BONES_OF_ALL * f->size), BONES_OF_THUMB * own);
    double sum = 0;
    for (uint32_t j = 0; j < bones->joint_count && sum < enough; j++) {
        if (bones->parent[j] == CUTIS_NONE || bones->control[j]) continue;
        const vec3 b = v3_of(bones->origin + 3 * (size_t)j);
        const vec3 a = v3_of(bones->origin + 3 * (size_t)bones->parent[j]);
        sum += inside(f, of, a, b) * v3_distance(a, b);
    }
    return sum >= enough;
}

// The part of a way that is inside a piece and no other.
static double inside_alone(const finder *f, const piece *of, vec3 a, vec3 b)
{
    uint32_t count = 0;
    for (int i = 0; i < SAMPLES; i++) {
        const vec3 p = v3_mix(a, b, (i + 0.5) / SAMPLES);
        bool alone = winding(f, of, p) >= 0.5;
        for (uint32_t k = 0; k < f->piece_count && alone; k++)
            alone = &f->pieces[k] == of || winding(f, &f->pieces[k], p) < 0.5;
        count += alone;
    }
    return (double)count / SAMPLES;
}

// Whether a piece too small to bend by its bones has some of its own: a ponytail; the bones in a
// weapon's grip are the arm's.
static bool bends_alone(const finder *f, const piece *of)
{
    const cutis_handles_bones *bones = f->bones;
    const double enough = BONES_ALONE * box3_diagonal(&of->box);
    double sum = 0;
    for (uint32_t j = 0; j < bones->joint_count && sum < enough; j++) {
        if (bones->parent[j] == CUTIS_NONE || bones->control[j]) continue;
        const vec3 b = v3_of(bones->origin + 3 * (size_t)j);
        const vec3 a = v3_of(bones->origin + 3 * (size_t)bones->parent[j]);
        sum += inside_alone(f, of, a, b) * v3_distance(a, b);
    }
    return sum >= enough;
}

// Pieces in the order of their first vertices, with their triangles.
static cutis_result find_pieces(finder *f, cutis_arena *arena, const uint32_t **welded)
{
    const cutis_handles_shape *shape = f->shape;
    cutis_context *context = f->scratch.context;
    const size_t vertices = shape->vertex_count, triangles = shape->triangle_count;
    uint32_t *weld = cutis_arena_alloc(arena, vertices, sizeof *weld);
    uint32_t *up = cutis_arena_alloc(&f->scratch, vertices, sizeof *up);
    f->of = cutis_arena_alloc(&f->scratch, vertices, sizeof *f->of);
    f->triangle = cutis_arena_alloc(&f->scratch, triangles, sizeof *f->triangle);
    if (!weld || !up || !f->of || !f->triangle) return cutis_alloc_result(context);
    TRY(cutis_weld_positions(context, shape->vertex_count, shape->positions, weld));
    *welded = weld;
    for (uint32_t v = 0; v < vertices; v++) up[v] = v;
    for (size_t t = 0; t < triangles; t++)
        for (int k = 1; k < 3; k++) {
            const uint32_t a = group_of(up, weld[shape->triangles[3 * t]]);
            const uint32_t b = group_of(up, weld[shape->triangles[3 * t + k]]);
            up[a > b ? a : b] = a < b ? a : b;
        }
    for (uint32_t v = 0; v < vertices; v++)
        f->of[v] = group_of(up, weld[v]) == v ? f->piece_count++ : CUTIS_HANDLES_NONE;
    if (f->piece_count < 2) return CUTIS_OK; // nobody looks at the only one
    for (uint32_t v = 0; v < vertices; v++)
        if (f->of[v] == CUTIS_HANDLES_NONE) f->of[v] = f->of[group_of(up, weld[v])];
    f->pieces = cutis_arena_zero(&f->scratch, (size_t)f->piece_count + 1, sizeof *f->pieces);
    if (!f->pieces) return cutis_alloc_result(context);
    for (uint32_t p = 0; p < f->piece_count; p++) f->pieces[p].box = box3_empty();
    for (size_t t = 0; t < triangles; t++) f->pieces[f->of[shape->triangles[3 * t]] + 1].first++;
    for (uint32_t p = 0; p < f->piece_count; p++) f->pieces[p + 1].first += f->pieces[p].first;
    for (size_t t = 0; t < triangles; t++) {
        const uint32_t *c = shape->triangles + 3 * t;
        piece *own = &f->pieces[f->of[c[0]]];
        f->triangle[own->first + own->count++] = (uint32_t)t;
        own->area +=
            v3_length(v3_normal(v3_at(shape->positions, c[0]), v3_at(shape->positions, c[1]),
                                v3_at(shape->positions, c[2])));
        for (int k = 0; k < 3; k++) box3_add(&own->box, v3_at(shape->positions, c[k]));
    }
    return CUTIS_OK;
}

// Which pieces bend. @return whether they are a body, and there are others
static bool find_body(finder *f)
{
    double all = 0, body = 0;
    uint32_t rigid = 0;
    if (f->piece_count < 2) return false;
    for (uint32_t p = 0; p < f->piece_count; p++) {
        all += f->pieces[p].area;
        // Points and lines are nothing to hold.
        f->pieces[p].bends =
            !(f->pieces[p].area > 0) || bends(f, &f->pieces[p]) || bends_alone(f, &f->pieces[p]);
        if (f->pieces[p].bends) body += f->pieces[p].area;
        rigid += !f->pieces[p].bends;
    }
    return rigid && body >= BODY_LEAST * all;
}

// The nearest vertex of the body and of islands that have joined it.
static uint32_t nearest_of_body(const finder *f, uint32_t vertex, double *distance)
{
    const vec3 p = v3_at(f->shape->positions, vertex);
    uint32_t best = 0;
    double least = INFINITY;
    for (uint32_t i = 0; i < f->body_count; i++) {
        const vec3 d = v3_sub(v3_at(f->shape->positions, f->body[i]), p);
        const double square = v3_dot(d, d);
        if (square < least) least = square, best = f->body[i];
    }
    *distance = sqrt(least);
    return best;
}

/// An island that waits.
typedef struct waiting {
    uint32_t piece, *list, count, stride;
    uint32_t *at;          ///< per vertex that looks: the nearest one of the body
    double *away;          ///< and how far it is
    uint32_t nearest;      ///< vertex of the body, from any place of the island
    double least, contact; ///< distance to that one; to the nearest from a vertex
} waiting;

// From a vertex to a waiting island's triangles: large ones have no vertex where they touch.
static void look_back(const finder *f, waiting *w, uint32_t vertex)
{
    const piece *own = &f->pieces[w->piece];
    const vec3 p = v3_at(f->shape->positions, vertex);
    const double at[3] = { p.x, p.y, p.z };
    double beside = 0;
    for (int c = 0; c < 3; c++) {
        const double out = fmax(fmax(own->box.low[c] - at[c], at[c] - own->box.high[c]), 0);
        beside += out * out;
    }
    for (uint32_t i = own->first; i < own->first + own->count && beside < w->least * w->least;
         i++) {
        const uint32_t *c = f->shape->triangles + 3 * (size_t)f->triangle[i];
        const vec3 t[3] = { v3_at(f->shape->positions, c[0]), v3_at(f->shape->positions, c[1]),
                            v3_at(f->shape->positions, c[2]) };
        const double away = v3_distance(v3_nearest(t, p), p);
        if (away < w->least) w->least = away, w->nearest = vertex;
    }
}

// Look at vertices of the body from `first` on, which are new.
static void look(finder *f, waiting *w, uint32_t first)
{
    const finder news = { .shape = f->shape,
                          .body = f->body + first,
                          .body_count = f->body_count - first };
    for (uint32_t i = 0; i < w->count; i += w->stride) {
        double away;
        const uint32_t at = nearest_of_body(&news, w->list[i], &away);
        if (away < w->away[i]) w->away[i] = away, w->at[i] = at;
        if (away < w->contact) w->contact = away;
        if (away < w->least) w->least = away, w->nearest = at;
    }
    for (uint32_t i = 0; i < news.body_count; i++) look_back(f, w, news.body[i]);
}

// Vertices of an island that are about as near to the body as its nearest one stand for it, each at
// the body's vertex it is nearest to; the others stand with one of them.
static void place_island(const waiting *w, double reach, const uint32_t *island, float *positions,
                         bool *contact)
{
    // On the body: where an island stands that it is nearest to, stands it.
    for (uint32_t i = 0; i < w->count; i++) {
        const bool near = i % w->stride == 0 && w->away[i] <= w->contact + reach &&
                          island[w->at[i]] == CUTIS_HANDLES_NONE;
        contact[w->list[i]] = near && island[w->nearest] == CUTIS_HANDLES_NONE;
        memcpy(positions + 3 * (size_t)w->list[i],
               positions + 3 * (size_t)(near ? w->at[i] : w->nearest), 3 * sizeof *positions);
    }
}

// Joints without children at an island: 0 where its bone, as long as its parent's, begins at it and
// lies in it for the most part, else how far the joint is from it in such lengths.
static void find_leaves(const finder *f, const piece *of, double *leaf)
{
    const cutis_handles_bones *bones = f->bones;
    for (uint32_t j = 0; j < bones->joint_count; j++) {
        bool end = bones->parent[j] != CUTIS_NONE && !bones->control[j];
        for (uint32_t k = 0; k < bones->joint_count; k++)
            end &= bones->parent[k] != (int32_t)j || bones->control[k];
        leaf[j] = INFINITY;
        if (!end) continue;
        const vec3 o = v3_of(bones->origin + 3 * (size_t)j);
        const vec3 bone = v3_sub(o, v3_of(bones->origin + 3 * (size_t)bones->parent[j]));
        for (uint32_t i = of->first; i < of->first + of->count; i++) {
            const uint32_t *c = f->shape->triangles + 3 * (size_t)f->triangle[i];
            const vec3 t[3] = { v3_at(f->shape->positions, c[0]), v3_at(f->shape->positions, c[1]),
                                v3_at(f->shape->positions, c[2]) };
            leaf[j] = fmin(leaf[j], v3_distance(v3_nearest(t, o), o) / v3_length(bone));
        }
        if (leaf[j] <= LEAF_AWAY && inside(f, of, o, v3_add(o, bone)) >= LEAF_INSIDE) leaf[j] = 0;
    }
}

// The joint of which an island holds the longest pieces of bones, or NONE. A joint without children
// has a bone as long as its parent's, if it stands at the island.
static uint32_t find_held(const finder *f, const piece *of, const double *leaf, double *held)
{
    const cutis_handles_bones *bones = f->bones;
    uint32_t best = CUTIS_HANDLES_NONE;
    double most = HELD_LEAST * box3_diagonal(&of->box);
    memset(held, 0, bones->joint_count * sizeof *held);
    for (uint32_t j = 0; j < bones->joint_count; j++) {
        if (bones->parent[j] == CUTIS_NONE || bones->control[j]) continue;
        const vec3 o = v3_of(bones->origin + 3 * (size_t)j);
        const vec3 from = v3_of(bones->origin + 3 * (size_t)bones->parent[j]);
        const vec3 bone = v3_sub(o, from);
        // A bone that ends in the island with a joint without children is that joint's: a foot that
        // hangs under the rig's root.
        const bool enters =
            isfinite(leaf[j]) && winding(f, of, o) >= 0.5 && winding(f, of, from) < 0.5;
        held[enters ? j : (uint32_t)bones->parent[j]] += inside(f, of, from, o) * v3_length(bone);
        if (leaf[j] <= LEAF_AWAY) held[j] += inside(f, of, o, v3_add(o, bone)) * v3_length(bone);
    }
    for (uint32_t j = 0; j < bones->joint_count; j++)
        if (held[j] > most) most = held[j], best = j;
    return best;
}

// The islands of a mesh, with their vertices; those of the body are in f->body.
static waiting *list_islands(finder *f, uint32_t *count)
{
    const uint32_t vertices = f->shape->vertex_count;
    waiting *all = cutis_arena_zero(&f->scratch, f->piece_count, sizeof *all);
    f->body = cutis_arena_alloc(&f->scratch, vertices, sizeof *f->body);
    uint32_t *number = cutis_arena_alloc(&f->scratch, f->piece_count, sizeof *number);
    uint32_t *lists = cutis_arena_alloc(&f->scratch, vertices, sizeof *lists), at = 0;
    uint32_t *nearest = cutis_arena_alloc(&f->scratch, vertices, sizeof *nearest);
    double *away = cutis_arena_alloc(&f->scratch, vertices, sizeof *away);
    if (!all || !f->body || !number || !lists || !nearest || !away) return NULL;
    for (uint32_t p = 0; p < f->piece_count; p++)
        number[p] = f->pieces[p].bends ? CUTIS_HANDLES_NONE : (*count)++;
    for (uint32_t v = 0; v < vertices; v++)
        if (number[f->of[v]] != CUTIS_HANDLES_NONE) all[number[f->of[v]]].count++;
    for (uint32_t i = 0; i < *count; i++) {
        waiting *w = &all[i];
        w->list = lists + at, w->at = nearest + at, w->away = away + at,
        w->least = w->contact = INFINITY;
        w->stride = w->count > LOOKS ? w->count / LOOKS : 1;
        at += w->count;
        for (uint32_t k = 0; k < w->count; k++) w->away[k] = INFINITY;
        w->count = 0;
    }
    for (uint32_t v = 0; v < vertices; v++) {
        waiting *w = &all[number[f->of[v]] == CUTIS_HANDLES_NONE ? 0 : number[f->of[v]]];
        if (number[f->of[v]] == CUTIS_HANDLES_NONE)
            f->body[f->body_count++] = v;
        else
            w->list[w->count++] = v, w->piece = f->of[v];
    }
    return all;
}

// The nearest island joins, until none waits.
static void join_islands(finder *f, waiting *all, uint32_t count, double reach, float *positions,
                         cutis_handles_islands *out)
{
    const size_t joints = f->bones->joint_count;
    for (uint32_t first = 0, done = 0; done < count; done++) {
        waiting *next = NULL;
        for (uint32_t i = 0; i < count; i++) {
            if (out->leads[i] != WAITS) continue;
            look(f, &all[i], first);
            if (!next || all[i].least < next->least) next = &all[i];
        }
        if (!next) break; // all have joined
        const uint32_t own = (uint32_t)(next - all);
        first = f->body_count;
        out->leads[own] = out->island[next->nearest];
        place_island(next, reach, out->island, positions, out->contact);
        find_leaves(f, &f->pieces[next->piece], out->leaf + own * joints);
        out->held[own] = find_held(f, &f->pieces[next->piece], out->leaf + own * joints, out->sum);
        for (uint32_t k = 0; k < next->count; k++) {
            f->body[f->body_count++] = next->list[k];
            out->island[next->list[k]] = own;
        }
    }
}

// Which of the islands that follow the body touch each other: a shield and its grip.
static void find_touching(finder *f, waiting *all, double reach, cutis_handles_islands *out)
{
    const size_t count = out->island_count;
    for (size_t i = 0; i < count && count <= PAIRS_MOST; i++)
        for (size_t k = 0; k < count; k++) {
            if (i == k || out->leads[i] != CUTIS_HANDLES_NONE ||
                out->leads[k] != CUTIS_HANDLES_NONE)
                continue;
            waiting near = { .piece = all[i].piece, .least = reach, .nearest = CUTIS_HANDLES_NONE };
            for (uint32_t v = 0; v < all[k].count && near.nearest == CUTIS_HANDLES_NONE; v++)
                look_back(f, &near, all[k].list[v]);
            if (near.nearest != CUTIS_HANDLES_NONE)
                out->touches[i * count + k] = out->touches[k * count + i] = true;
        }
}

static cutis_result make_islands(finder *f, cutis_arena *arena, double reach,
                                 cutis_handles_islands *out)
{
    const cutis_handles_shape *shape = f->shape;
    const size_t vertices = shape->vertex_count, joints = f->bones->joint_count;
    float *positions = cutis_arena_copy(arena, shape->positions, vertices, 3 * sizeof *positions);
    uint32_t *triangles = cutis_arena_alloc(arena, shape->triangle_count, 3 * sizeof *triangles);
    out->island = cutis_arena_alloc(arena, vertices, sizeof *out->island);
    out->contact = cutis_arena_zero(arena, vertices, sizeof *out->contact);
    waiting *all = list_islands(f, &out->island_count);
    out->leaf = cutis_arena_alloc(arena, out->island_count * joints, sizeof *out->leaf);
    out->sum = cutis_arena_alloc(arena, out->island_count * joints, sizeof *out->sum);
    out->leads = cutis_arena_alloc(arena, out->island_count, sizeof *out->leads);
    out->joint = cutis_arena_alloc(arena, out->island_count, sizeof *out->joint);
    out->held = cutis_arena_alloc(arena, out->island_count, sizeof *out->held);
    out->touches =
        cutis_arena_zero(arena, (size_t)out->island_count * out->island_count, sizeof(bool));
    if (!positions || !triangles || !all || !out->island || !out->contact || !out->leaf ||
        !out->sum || !out->leads || !out->touches || !out->joint || !out->held)
        return cutis_alloc_result(arena->context);
    for (size_t v = 0; v < vertices; v++) out->island[v] = CUTIS_HANDLES_NONE;
    for (uint32_t i = 0; i < out->island_count; i++) out->leads[i] = WAITS;
    join_islands(f, all, out->island_count, reach, positions, out);
    find_touching(f, all, reach, out);
    out->body = *shape;
    out->body.triangle_count = 0;
    for (size_t t = 0; t < shape->triangle_count; t++)
        if (out->island[shape->triangles[3 * t]] == CUTIS_HANDLES_NONE)
            memcpy(triangles + 3 * (size_t)out->body.triangle_count++, shape->triangles + 3 * t,
                   3 * sizeof *triangles);
    out->body.positions = positions, out->body.triangles = triangles;
    return CUTIS_OK;
}

cutis_result cutis_handles_islands_find(cutis_arena *arena, const cutis_handles_shape *shape,
                                        const cutis_handles_bones *bones, double reach,
                                        cutis_handles_islands *out)
{
    finder f = { .scratch = { .context = arena->context }, .shape = shape, .bones = bones };
    *out = (cutis_handles_islands){ .body = *shape };
    box3 box = box3_empty();
    for (uint32_t j = 0; j < bones->joint_count; j++)
        box3_add(&box, v3_of(bones->origin + 3 * (size_t)j));
    f.size = box3_diagonal(&box);
    cutis_result result =
        shape->triangle_count ? find_pieces(&f, arena, &out->body.weld) : CUTIS_OK;
    if (result == CUTIS_OK && find_body(&f)) result = make_islands(&f, arena, reach, out);
    cutis_arena_release(&f.scratch);
    return result;
}

static bool holds_leaf(const double *leaf, size_t joints)
{
    for (size_t j = 0; j < joints; j++)
        if (leaf[j] == 0) return true;
    return false;
}

// Weight of a joint and all below it.
static double sum_below(const cutis_handles_bones *bones, const double *sum, uint32_t top)
{
    double all = 0;
    for (uint32_t j = 0; j < bones->joint_count; j++) {
        int32_t at = (int32_t)j;
        while (at != CUTIS_NONE && at != (int32_t)top) at = bones->parent[at];
        if (at != CUTIS_NONE) all += sum[j];
    }
    return all;
}

// The lowest joint with more than half of the weight below it: what hangs over both shoulders is
// the chest's.
static uint32_t middle_of(const cutis_handles_bones *bones, const double *sum, double all)
{
    uint32_t best = 0;
    double least = INFINITY;
    for (uint32_t j = 0; j < bones->joint_count; j++) {
        const double part = sum_below(bones, sum, j);
        // A joint that carries others has as much as the one below it that they meet in.
        if (2 * part > all &&
            (part < least || (part == least && bones->parent[j] == (int32_t)best)))
            least = part, best = j;
    }
    return best;
}

// The joint of an island whose joints have these sums of weight.
static uint32_t joint_of(const cutis_handles_bones *bones, const cutis_handles_islands *islands,
                         size_t island)
{
    const double *sum = islands->sum + island * bones->joint_count;
    const double *leaf = islands->leaf + island * bones->joint_count;
    uint32_t slot = CUTIS_HANDLES_NONE;
    double all = 0;
    for (uint32_t j = 0; j < bones->joint_count; j++) {
        if (leaf[j] == 0) return j;
        all += sum[j];
    }
    for (uint32_t j = 0; j < bones->joint_count; j++)
        if (leaf[j] <= SLOT_AWAY && sum[j] > 0 && sum[j] >= SLOT_LEAST * all &&
            (slot == CUTIS_HANDLES_NONE || sum[j] > sum[slot]))
            slot = j;
    if (slot == CUTIS_HANDLES_NONE) slot = islands->held[island];
    return slot != CUTIS_HANDLES_NONE ? slot : middle_of(bones, sum, all);
}

// An island that touches one at a slot, and is at none itself, goes with it.
static void lead_to_slots(const cutis_handles_islands *islands, const cutis_handles_bones *bones)
{
    const size_t count = islands->island_count, joints = bones->joint_count;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < count && islands->leads[i] == CUTIS_HANDLES_NONE; k++) {
            const double *leaf = islands->leaf + k * joints, *own = islands->leaf + i * joints;
            if (!islands->touches[i * count + k]) continue;
            const uint32_t slot = joint_of(bones, islands, k), joint = joint_of(bones, islands, i);
            if (leaf[slot] > 0 && leaf[slot] <= SLOT_AWAY && own[joint] > SLOT_AWAY &&
                islands->leads[k] == CUTIS_HANDLES_NONE)
                islands->leads[i] = (uint32_t)k;
        }
}

void cutis_handles_islands_follow(const cutis_handles_islands *islands,
                                  const cutis_handles_bones *bones,
                                  cutis_handles_influences *influences)
{
    const size_t joints = bones->joint_count, vertices = islands->body.vertex_count;
    const size_t slots = influences->slots;
    if (islands->island_count == 0) return;
    double *sum = islands->sum;
    memset(sum, 0, islands->island_count * joints * sizeof *sum);
    for (size_t v = 0; v < vertices; v++)
        for (size_t i = 0; i < slots && islands->contact[v]; i++)
            sum[islands->island[v] * joints + influences->joints[v * slots + i]] +=
                influences->weights[v * slots + i];
    lead_to_slots(islands, bones);
    for (size_t k = 0; k < islands->island_count; k++) {
        size_t lead = k;
        while (islands->leads[lead] != CUTIS_HANDLES_NONE &&
               islands->held[lead] == CUTIS_HANDLES_NONE &&
               !holds_leaf(islands->leaf + lead * joints, joints))
            lead = islands->leads[lead];
        islands->joint[k] = joint_of(bones, islands, lead);
    }
    for (size_t v = 0; v < vertices; v++) {
        if (islands->island[v] == CUTIS_HANDLES_NONE) continue;
        for (size_t i = 0; i < slots; i++)
            influences->joints[v * slots + i] = 0, influences->weights[v * slots + i] = 0;
        influences->joints[v * slots] = islands->joint[islands->island[v]];
        influences->weights[v * slots] = 1;
    }
}
