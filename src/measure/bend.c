/// The paper's curvature: angles between normals of neighbours, and their median per part. Normals
/// are area-weighted and kept in double: on a fine mesh the angles are small.
#include <cutis/measure.h>

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "geometry/vector.h"
#include "measure/weld.h"

typedef struct work {
    const cutis_surface *surface;
    const uint32_t *weld;
    double *normals; // 3 per vertex
    float *angles;   // degrees, per representative; below 0: no neighbour yet
} work;

static void corners_of(const work *w, uint64_t t, uint32_t id[3])
{
    const uint32_t *corner = w->surface->indices + 3 * t;
    for (int k = 0; k < 3; k++) id[k] = w->weld[corner[k]];
}

static void add_angle(work *w, uint32_t a, uint32_t b)
{
    double angle = v3_angle(v3_of(w->normals + 3 * (size_t)a), v3_of(w->normals + 3 * (size_t)b)) *
                   (180 / M_PI);
    w->angles[a] = fmaxf(w->angles[a], (float)angle);
    w->angles[b] = fmaxf(w->angles[b], (float)angle);
}

static void find_angles(work *w)
{
    for (uint32_t v = 0; v < w->surface->vertex_count; v++) w->angles[v] = -1;
    for (uint64_t t = 0; t < w->surface->triangle_count; t++) {
        uint32_t id[3];
        corners_of(w, t, id);
        for (int k = 0; k < 3; k++)
            if (id[k] != id[(k + 1) % 3]) add_angle(w, id[k], id[(k + 1) % 3]);
    }
}

typedef struct entry {
    uint32_t part, vertex;
    float angle;
} entry;

static int by_part_and_vertex(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    if (x->part != y->part) return x->part < y->part ? -1 : 1;
    return (x->vertex > y->vertex) - (x->vertex < y->vertex);
}

static int by_part_and_angle(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    if (x->part != y->part) return x->part < y->part ? -1 : 1;
    return (x->angle > y->angle) - (x->angle < y->angle);
}

// Every vertex once per part, sorted by part and angle; returns how many.
static size_t list_entries(const work *w, const uint32_t *parts, entry *entries)
{
    size_t count = 0, kept = 0;
    for (uint64_t t = 0; t < w->surface->triangle_count; t++) {
        uint32_t id[3];
        corners_of(w, t, id);
        for (int k = 0; k < 3; k++)
            if (w->angles[id[k]] >= 0)
                entries[count++] = (entry){ parts ? parts[t] : 0, id[k], w->angles[id[k]] };
    }
    qsort(entries, count, sizeof *entries, by_part_and_vertex);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || by_part_and_vertex(&entries[i], &entries[i - 1]) != 0)
            entries[kept++] = entries[i];
    qsort(entries, kept, sizeof *entries, by_part_and_angle);
    return kept;
}

static void take_medians(const entry *entries, size_t count, uint32_t part_count, double *medians)
{
    for (uint32_t p = 0; p < part_count; p++) medians[p] = NAN;
    for (size_t i = 0, n; i < count; i += n) {
        for (n = 1; i + n < count && entries[i + n].part == entries[i].part; n++) {}
        if (entries[i].part < part_count)
            medians[entries[i].part] =
                ((double)entries[i + (n - 1) / 2].angle + (double)entries[i + n / 2].angle) / 2;
    }
}

cutis_result cutis_surface_bend(cutis_context *context, const cutis_surface *surface,
                                const uint32_t *weld, const uint32_t *parts, uint32_t part_count,
                                double *medians, float *per_vertex)
{
    if (!context || !surface || !medians) return CUTIS_INVALID_ARGUMENT;
    cutis_arena arena = { .context = context };
    work w = { .surface = surface };
    const size_t vertices = surface->vertex_count;
    size_t corners;
    if (!cutis_size_multiply((size_t)surface->triangle_count, 3, &corners))
        return cutis_fail(context, CUTIS_INVALID_ARGUMENT, "surface: too many triangles");
    entry *entries = cutis_arena_alloc(&arena, corners, sizeof *entries);
    w.normals = cutis_arena_zero(&arena, vertices, 3 * sizeof *w.normals);
    w.angles = cutis_arena_alloc(&arena, vertices, sizeof *w.angles);
    cutis_result result = entries && w.normals && w.angles ? CUTIS_OK : cutis_alloc_result(context);
    if (result == CUTIS_OK) result = cutis_weld_or_own(&arena, surface, &weld);
    if (result == CUTIS_OK) {
        w.weld = weld;
        v3_sum_normals(surface->positions, surface->indices, surface->triangle_count, weld,
                       w.normals);
        find_angles(&w);
        if (medians) take_medians(entries, list_entries(&w, parts, entries), part_count, medians);
        for (uint32_t v = 0; per_vertex && v < vertices; v++)
            per_vertex[v] = fmaxf(w.angles[weld[v]], 0);
    }
    cutis_arena_release(&arena);
    return result;
}
