/// The paper's triangulation of a patch, for comparison with our strips: local Delaunay (Buchart,
/// Borro, Amundarain 2008, after Gopi, Krishnan and Silva). Every point finds the triangles around
/// it in its own tangent plane; those that all three corners found are kept. Points disagree in
/// places, so there may be holes, which the caller counts. Brute force, on the host.
#include <cutis/patches.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "geometry/vector.h"
#include "math/eigen3.h"
#include "math/mat3.h"
#include "math/elementary.h"

enum { NEAR = 16 }; // neighbours a point looks at
// Every point has its own tangent plane: what is this near to one circle is on it for all.
static const double SAME_CIRCLE = 0.02;

typedef struct local_triangle {
    uint32_t v[3]; // ascending
} local_triangle;

/// A neighbour, in the tangent plane.
typedef struct neighbour {
    double square, x, y, angle;
    uint32_t point;
} neighbour;

typedef struct local_job {
    const float *positions, *normals;
    uint32_t *points, point_count; // of the joint at hand, and the ring of the parts around it
    uint32_t inner_count;          // of them on the patch; they come first
    local_triangle *found;
    size_t found_count;
} local_job;

static int compare_square(const void *a, const void *b)
{
    const neighbour *x = a, *y = b;
    if (x->square != y->square) return x->square < y->square ? -1 : 1;
    return x->point < y->point ? -1 : x->point > y->point;
}

static int compare_angle(const void *a, const void *b)
{
    const neighbour *x = a, *y = b;
    if (x->angle != y->angle) return x->angle < y->angle ? -1 : 1;
    return compare_square(a, b);
}

static int compare_triangles(const void *a, const void *b)
{
    const local_triangle *x = a, *y = b;
    for (int k = 0; k < 3; k++)
        if (x->v[k] != y->v[k]) return x->v[k] < y->v[k] ? -1 : 1;
    return 0;
}

// The nearest ones, in no order.
static uint32_t find_near(const local_job *job, uint32_t p, neighbour *out)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < job->point_count; i++) {
        vec3 d = v3_sub(v3_at(job->positions, job->points[i]), v3_at(job->positions, p));
        double square = v3_dot(d, d);
        if (job->points[i] == p || !(square > 0.0)) continue;
        uint32_t worst = 0;
        for (uint32_t n = 1; n < count; n++)
            if (compare_square(&out[n], &out[worst]) > 0) worst = n;
        neighbour next = { .square = square, .point = job->points[i] };
        if (count < NEAR)
            out[count++] = next;
        else if (compare_square(&next, &out[worst]) < 0)
            out[worst] = next;
    }
    return count;
}

// Smallest axis of the neighbours about p, on the side of the known normal.
static void tangent_frame(const local_job *job, uint32_t p, const neighbour *near, uint32_t count,
                          double axes[9])
{
    double square[6] = { 0 }, values[3];
    for (uint32_t n = 0; n < count; n++)
        v3_spread(square, v3_sub(v3_at(job->positions, near[n].point), v3_at(job->positions, p)));
    cutis_eigen3(square, values, axes);
    double along = 0.0;
    for (int k = 0; k < 3; k++) along += axes[6 + k] * job->normals[3 * (size_t)p + k];
    for (int k = 0; k < 3 && along < 0.0; k++) axes[6 + k] = -axes[6 + k];
    double3_cross(axes + 6, axes, axes + 3);
}

// Into the tangent plane by the least rotation: distances stay.
static void project(const local_job *job, uint32_t p, const double axes[9], neighbour *near,
                    uint32_t count)
{
    for (uint32_t n = 0; n < count; n++) {
        vec3 d = v3_sub(v3_at(job->positions, near[n].point), v3_at(job->positions, p));
        double x = v3_dot(v3_of(axes), d), y = v3_dot(v3_of(axes + 3), d);
        double flat = sqrt(x * x + y * y), scale = flat > 0.0 ? sqrt(near[n].square) / flat : 0.0;
        near[n].x = scale * x;
        near[n].y = scale * y;
        near[n].angle = fixed_atan2(near[n].y, near[n].x);
    }
    qsort(near, count, sizeof *near, compare_angle);
}

static double cross2(const neighbour *a, const neighbour *b)
{
    return a->x * b->y - a->y * b->x;
}

// Does b lie outside the circle through p (the origin), a and c, which turn to the left? Of four
// points on one circle, or nearly, all must choose the same diagonal: that of the least index.
static bool outside(uint32_t p, const neighbour *a, const neighbour *b, const neighbour *c)
{
    double u = b->square * cross2(a, c), v = a->square * cross2(b, c);
    double w = c->square * cross2(a, b), apart = u - v - w;
    if (fabs(apart) > SAME_CIRCLE * (fabs(u) + fabs(v) + fabs(w))) return apart > 0.0;
    uint32_t own = p < b->point ? p : b->point;
    uint32_t other = a->point < c->point ? a->point : c->point;
    return other < own;
}

// Only Delaunay neighbours stay. @return how many
static uint32_t prune(uint32_t p, neighbour *near, uint32_t count)
{
    for (bool changed = true; changed && count > 3;) {
        changed = false;
        for (uint32_t i = 0; i < count && count > 3; i++) {
            const neighbour *a = &near[(i + count - 1) % count], *c = &near[(i + 1) % count];
            if (!(cross2(a, c) > 0.0) || !outside(p, a, &near[i], c)) continue;
            memmove(near + i, near + i + 1, (count - i - 1) * sizeof *near);
            count--;
            changed = true;
        }
    }
    return count;
}

static void propose(local_job *job, uint32_t p)
{
    neighbour near[NEAR];
    double axes[9];
    uint32_t count = find_near(job, p, near);
    if (count < 3) return;
    tangent_frame(job, p, near, count, axes);
    project(job, p, axes, near, count);
    count = prune(p, near, count);
    for (uint32_t i = 0; i < count; i++) {
        const neighbour *a = &near[i], *b = &near[(i + 1) % count];
        if (!(cross2(a, b) > 0.0)) continue; // a gap of half a turn or more
        local_triangle t = { { p, a->point, b->point } };
        for (int pass = 0; pass < 2; pass++)
            for (int k = 0; k < 2; k++)
                if (t.v[k] > t.v[k + 1]) {
                    uint32_t swap = t.v[k];
                    t.v[k] = t.v[k + 1];
                    t.v[k + 1] = swap;
                }
        job->found[job->found_count++] = t;
    }
}

// Counter-clockwise as the normals say.
static void put(const local_job *job, const local_triangle *t, uint32_t *out)
{
    double n[3], along = 0.0;
    v3_put(v3_normal(v3_at(job->positions, t->v[0]), v3_at(job->positions, t->v[1]),
                     v3_at(job->positions, t->v[2])),
           n);
    for (int c = 0; c < 3; c++)
        for (int k = 0; k < 3; k++) along += n[k] * job->normals[3 * (size_t)t->v[c] + k];
    memcpy(out, t->v, sizeof t->v);
    if (along < 0.0) out[1] = t->v[2], out[2] = t->v[1];
}

enum { ON_PATCH = 1, BESIDE = 2 };

// Points of a joint: those of its strips, then the rest of the triangles that touch them.
static void gather_points(local_job *job, const uint32_t *indices, const uint32_t *labels,
                          uint32_t triangles, uint32_t label, unsigned char *marks,
                          uint32_t vertices)
{
    memset(marks, 0, vertices);
    job->point_count = 0;
    for (uint32_t i = 0; i < 3 * triangles; i++)
        if (labels[i / 3] == label && !marks[indices[i]]) {
            marks[indices[i]] = ON_PATCH;
            job->points[job->point_count++] = indices[i];
        }
    job->inner_count = job->point_count;
    for (uint32_t t = 0; t < triangles; t++) {
        const uint32_t *v = indices + 3 * (size_t)t;
        bool touches =
            marks[v[0]] == ON_PATCH || marks[v[1]] == ON_PATCH || marks[v[2]] == ON_PATCH;
        for (int k = 0; k < 3 && touches; k++)
            if (!marks[v[k]]) {
                marks[v[k]] = BESIDE;
                job->points[job->point_count++] = v[k];
            }
    }
}

cutis_result cutis_patches_local(cutis_context *context, const cutis_patches_info *info,
                                 const float *positions, const float *normals, uint32_t *indices,
                                 uint32_t *labels, uint32_t triangle_capacity, uint32_t counts[2])
{
    if (!context || !info || !counts || !positions || !indices || !labels)
        return CUTIS_INVALID_ARGUMENT;
    uint32_t vertices = counts[0], triangles = counts[1], kept = 0;
    cutis_arena arena = { .context = context };
    local_job job = { .positions = positions, .normals = normals };
    unsigned char *marks = cutis_arena_alloc(&arena, vertices + (size_t)1, 1);
    int32_t *part = cutis_arena_alloc(&arena, vertices + (size_t)1, sizeof *part);
    uint32_t *old = cutis_arena_copy(&arena, indices, 3 * (size_t)triangles, sizeof *old);
    uint32_t *old_labels = cutis_arena_copy(&arena, labels, triangles, sizeof *labels);
    job.points = cutis_arena_alloc(&arena, vertices + (size_t)1, sizeof *job.points);
    job.found = cutis_arena_alloc(&arena, (size_t)NEAR * vertices + 1, sizeof *job.found);
    cutis_result result = CUTIS_OK;
    if (!marks || !part || !old || !old_labels || !job.points || !job.found) {
        result = cutis_alloc_result(context);
        goto done;
    }
    // Parts come first, as they are. A vertex of two parts counts as the last one's.
    for (uint32_t v = 0; v < vertices; v++) part[v] = -1;
    while (kept < triangles && labels[kept] < info->part_count) {
        for (int k = 0; k < 3; k++) part[indices[3 * (size_t)kept + k]] = (int32_t)labels[kept];
        kept++;
    }
    for (uint32_t j = 0; j < info->joint_count; j++) {
        gather_points(&job, old, old_labels, triangles, info->part_count + j, marks, vertices);
        job.found_count = 0;
        for (uint32_t i = 0; i < job.inner_count; i++) propose(&job, job.points[i]);
        qsort(job.found, job.found_count, sizeof *job.found, compare_triangles);
        for (size_t i = 0; i + 2 < job.found_count; i++) {
            const local_triangle *t = &job.found[i];
            if (compare_triangles(t, t + 1) != 0 || compare_triangles(t, t + 2) != 0) continue;
            int32_t own = part[t->v[0]];
            if (own >= 0 && part[t->v[1]] == own && part[t->v[2]] == own) continue; // the part's
            if (kept == triangle_capacity) {
                result = cutis_fail(context, CUTIS_BUFFER_TOO_SMALL,
                                    "patches: no space for %u triangles", kept + 1);
                goto done;
            }
            put(&job, t, indices + 3 * (size_t)kept);
            labels[kept++] = info->part_count + j;
        }
    }
    counts[1] = kept;
done:
    cutis_arena_release(&arena);
    return result;
}
