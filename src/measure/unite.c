/// The outside of a closed surface that crosses itself: triangles are cut where they meet
/// (unite.h), and what is inside is left out. Where surfaces touch without crossing, or rounding
/// misleads, the corners concerned are nudged by a few millionths of the reach and all begins anew.
#include "measure/unite.h"

#include <float.h>

#include "base/error.h"
#include "measure/weld.h"

enum { ATTEMPTS = 8, MENDS = 6 };
// Of the reach: what is shorter at a cut floats do not tell apart. Where something crosses when
// rounded, what is so many times as long goes too, and again.
static const double SHORT = 3e-7, LONGER = 3;
// Of the reach, up to half of it each way: 32 units in the last place. Nudged by 2, what is cut is
// so thin that rounding makes it cross again: of 400 soups of tetrahedra on lattices 56, else none.
static const double NUDGE = 64 * FLT_EPSILON;

struct cutis_united {
    cutis_united_data data;
};

const cutis_united_data *cutis_united_get(const cutis_united *united)
{
    return &united->data;
}

void cutis_united_destroy(cutis_united *united)
{
    cutis_owner_destroy(united);
}

/// How far from 0 the surface reaches; not finite if some position is not.
static double reach_of(const cutis_surface *surface)
{
    double reach = 0, bad = 0;
    for (size_t i = 0; i < 3 * (size_t)surface->vertex_count; i++) {
        const double x = fabs((double)surface->positions[i]);
        reach = fmax(reach, x), bad += x - x;
    }
    return reach + bad;
}

/// Not the same way for neighbours, and the same on every machine.
static float nudge_of(uint32_t place, int axis)
{
    uint32_t x = (3 * place + (uint32_t)axis + 1) * 2654435761u;
    x ^= x >> 15, x *= 2246822519u, x ^= x >> 13;
    return (float)((double)x / UINT32_MAX - 0.5);
}

static void nudge(uniting *u, double size)
{
    for (uint32_t p = 0; p < u->place_count; p++)
        for (int k = 0; k < 3 && u->touching[p]; k++)
            u->positions[3 * (size_t)p + k] =
                (float)(u->given[3 * (size_t)p + k] + size * nudge_of(p, k));
}

static void forget(uniting *u)
{
    uniting next = { .context = u->context,
                     .arena = { .context = u->context },
                     .place_count = u->place_count,
                     .triangle_count = u->triangle_count,
                     .corners = u->corners,
                     .given = u->given,
                     .positions = u->positions,
                     .touching = u->touching,
                     .pierced = { .context = u->context },
                     .pairs = { .context = u->context },
                     .triples = { .context = u->context } };
    cutis_sets_release(&u->pierced);
    cutis_sets_release(&u->pairs);
    cutis_sets_release(&u->triples);
    cutis_arena_release(&u->arena);
    *u = next;
}

static cutis_result attempt(uniting *u)
{
    cutis_result result = unite_meet(u);
    if (result == CUTIS_OK && !u->failed) result = unite_cut(u);
    if (result == CUTIS_OK && !u->failed) result = unite_keep(u);
    return result;
}

// What is handed over -----------------------------------------------------------------------------

/// Places of a point in a triangle, in parts of its corners.
static void parts_of(const uniting *u, const unite_face *f, int corner, float *out)
{
    const uint32_t *c = unite_corners(u, f->origin);
    for (int k = 0; k < 3; k++) out[k] = c[k] == f->corners[corner];
    if (out[0] + out[1] + out[2] > 0) return;
    const unite_view view = unite_view_of(u, f->origin);
    double a[2], b[2], d[2], p[2];
    unite_seen(u, view, c[0], a), unite_seen(u, view, c[1], b), unite_seen(u, view, c[2], d);
    unite_seen(u, view, f->corners[corner], p);
    const double whole = unite_turn(a, b, d);
    out[0] = (float)fmin(fmax(unite_turn(p, b, d) / whole, 0), 1);
    out[1] = (float)fmin(fmax(unite_turn(a, p, d) / whole, 0), 1.0 - out[0]);
    out[2] = (float)fmin(fmax(1.0 - out[0] - out[1], 0), 1);
}

static cutis_result hand_over(uniting *u, const uint32_t *triangles, cutis_united **out)
{
    cutis_united *united = cutis_owner_create(u->context, sizeof *united);
    if (!united) return cutis_alloc_result(u->context);
    cutis_arena *arena = cutis_owner_arena(united);
    uint32_t *number = cutis_arena_zero(&u->arena, u->point_count, sizeof *number), count = 0;
    size_t kept = 0;
    for (size_t f = 0; f < u->face_count; f++) kept += u->kept[f];
    uint32_t *indices = cutis_arena_alloc(arena, kept, 3 * sizeof *indices);
    uint32_t *origins = cutis_arena_alloc(arena, kept, sizeof *origins);
    float *parts = cutis_arena_alloc(arena, kept, 9 * sizeof *parts);
    float *positions = cutis_arena_alloc(arena, u->point_count, 3 * sizeof *positions);
    if (!number || !indices || !origins || !parts || !positions) {
        cutis_owner_destroy(united);
        return cutis_alloc_result(u->context);
    }
    kept = 0;
    for (size_t f = 0; f < u->face_count; f++) {
        const unite_face *face = &u->faces[f];
        for (int k = 0; k < 3 && u->kept[f]; k++) {
            uint32_t *at = &number[face->corners[k]];
            if (!*at) {
                v3_put_floats(unite_point(u, face->corners[k]), positions + 3 * (size_t)count);
                *at = ++count;
            }
            indices[3 * kept + k] = *at - 1;
            parts_of(u, face, k, parts + 9 * kept + 3 * (size_t)k);
        }
        if (u->kept[f]) origins[kept++] = triangles[face->origin];
    }
    united->data = (cutis_united_data){ .surface = { count, kept, positions, indices },
                                        .origins = origins,
                                        .parts = parts };
    *out = united;
    return CUTIS_OK;
}

/// How many triangles are wrong once rounded to floats: those that cross, all if it is no longer
/// closed.
static cutis_result count_wrong(cutis_context *context, const cutis_surface *surface, uint64_t *out)
{
    cutis_manifold manifold;
    cutis_crossings crossings;
    TRY(cutis_surface_manifold(context, surface, NULL, &manifold));
    TRY(cutis_surface_crossings(context, surface, NULL, NULL, &crossings));
    *out = manifold.watertight ? crossings.triangle_count : surface->triangle_count;
    return CUTIS_OK;
}

/// Rounded to floats nothing shall cross. The best of what was tried is taken; what crosses in it
/// is the caller's to see.
static cutis_result finish(uniting *u, const uint32_t *triangles, double least, cutis_united **out)
{
    cutis_result result = CUTIS_OK;
    uint64_t wrong = UINT64_MAX, now;
    for (int i = 0; i < MENDS && result == CUTIS_OK && wrong > 0; i++, least *= LONGER) {
        cutis_united *united = NULL;
        result = unite_mend(u, least);
        if (result == CUTIS_OK) result = hand_over(u, triangles, &united);
        if (result == CUTIS_OK) result = count_wrong(u->context, &united->data.surface, &now);
        cutis_united *worse = result == CUTIS_OK && now < wrong ? *out : united;
        if (worse != united) *out = united, wrong = now;
        cutis_united_destroy(worse);
    }
    if (result != CUTIS_OK) cutis_united_destroy(*out), *out = NULL;
    return result;
}

cutis_result cutis_surface_unite(cutis_context *context, const cutis_surface *surface,
                                 const uint32_t *weld, cutis_united **out)
{
    if (out) *out = NULL;
    if (!context || !surface || !out) return CUTIS_INVALID_ARGUMENT;
    if (surface->triangle_count > INT32_MAX / 4)
        return INVALID(context, "surface: too many triangles");
    const double reach = reach_of(surface);
    if (!isfinite(reach)) return INVALID(context, "surface: a position is not finite");
    cutis_arena arena = { .context = context };
    uniting u = { .context = context };
    uint32_t *triangles =
        cutis_arena_alloc(&arena, (size_t)surface->triangle_count, sizeof *triangles);
    cutis_result result = triangles ? CUTIS_OK : cutis_alloc_result(context);
    if (result == CUTIS_OK) result = cutis_weld_or_own(&arena, surface, &weld);
    if (result == CUTIS_OK) result = unite_take(&arena, surface, weld, &u, triangles);
    u.failed = true;
    for (int i = 0; i < ATTEMPTS && result == CUTIS_OK && u.failed; i++) {
        forget(&u);
        nudge(&u, i * NUDGE * reach);
        result = attempt(&u);
    }
    if (result == CUTIS_OK && u.failed)
        result = INVALID(context, "surface: it is not closed, or parts of it lie in each other");
    if (result == CUTIS_OK) result = finish(&u, triangles, SHORT * reach, out);
    forget(&u);
    cutis_arena_release(&arena);
    return result;
}
