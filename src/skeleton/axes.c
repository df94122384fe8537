// Visibility kernel, axes and box of each part. Invariant: axes are orthonormal and right-handed,
// and the box holds every vertex of the part.
#include "skeleton/axes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "geometry/order.h"
#include "math/eigen3.h"

static const double FLAT = 1e-9;      // of the diagonal: no hull, no volume
static const double SAME_HIT = 1e-9;  // of the diagonal: one crossing met twice on a shared edge
static const double PULL_IN = 0.01;   // of the axis at each end
static const double NO_AREA = 1e-300; // a face without normal gives no half-space

void cutis_covariance(const double (*triangles)[3][3], uint32_t count, double *out)
{
    double sum[6] = { 0 }, mean[3] = { 0 }, total = 0;
    // About the first corner, so that a body far from the origin loses no digits.
    const double *o = count ? triangles[0][0] : mean;
    for (uint32_t i = 0; i < count; i++) {
        double p[4][3];
        for (int k = 0; k < 3; k++) {
            for (int c = 0; c < 3; c++) p[c][k] = triangles[i][c][k] - o[k];
            p[3][k] = (p[0][k] + p[1][k] + p[2][k]) / 3;
        }
        double area = v3_area_of(p[0], p[1], p[2]);
        total += area;
        for (int k = 0; k < 3; k++) mean[k] += area * p[3][k];
        for (int e = 0, r = 0; r < 3; r++)
            for (int c = r; c < 3; c++, e++)
                sum[e] += area / 12 *
                          (9 * p[3][r] * p[3][c] + p[0][r] * p[0][c] + p[1][r] * p[1][c] +
                           p[2][r] * p[2][c]);
    }
    if (!(total > 0)) total = 1;
    for (int k = 0; k < 3; k++) mean[k] /= total;
    for (int e = 0, r = 0; r < 3; r++)
        for (int c = r; c < 3; c++, e++) out[e] = sum[e] / total - mean[r] * mean[c];
}

static void make_positive(double *axis)
{
    int largest = 0;
    for (int k = 1; k < 3; k++)
        if (fabs(axis[k]) > fabs(axis[largest])) largest = k;
    if (axis[largest] < 0)
        for (int k = 0; k < 3; k++) axis[k] = -axis[k];
}

void cutis_principal_axes(const double *covariance, double *axes)
{
    double values[3];
    cutis_eigen3(covariance, values, axes);
    make_positive(axes);
    make_positive(axes + 3);
    double3_cross(axes, axes + 3, axes + 6);
}

// Half-spaces -----------------------------------------------------------------------------------

static void add_plane(double (*planes)[4], uint32_t *count, vec3 normal, const double *point)
{
    double length = v3_length(normal);
    if (!(length > NO_AREA)) return;
    v3_put(v3_divide(normal, length), planes[*count]);
    planes[*count][3] = double3_dot(planes[*count], point);
    ++*count;
}

static uint32_t part_planes(const cutis_parts *parts, uint32_t p, double (*planes)[4])
{
    const cutis_piece *part = &parts->parts[p];
    const cutis_closed *mesh = parts->mesh;
    uint32_t count = 6;
    memset(planes, 0, 6 * sizeof *planes);
    for (int k = 0; k < 3; k++) {
        planes[2 * k][k] = 1, planes[2 * k + 1][k] = -1;
        planes[2 * k][3] = planes[2 * k + 1][3] = -INFINITY;
        for (uint32_t i = 0; i < part->vertex_count; i++) {
            double x = mesh->points[part->vertices[i]][k];
            if (x > planes[2 * k][3]) planes[2 * k][3] = x;
            if (-x > planes[2 * k + 1][3]) planes[2 * k + 1][3] = -x;
        }
    }
    for (uint32_t i = 0; i < part->ring_count; i++) { // early: a cap decides most of them
        const cutis_ring *ring = &parts->rings[part->rings[i]];
        double sign = ring->child == p ? -1 : 1;
        add_plane(planes, &count, v3_scale(v3_of(ring->normal), sign), ring->centre);
    }
    for (uint32_t i = 0; i < part->face_count; i++) {
        const uint32_t *v = mesh->faces[part->faces[i]];
        const double *a = mesh->points[v[0]], *b = mesh->points[v[1]], *c = mesh->points[v[2]];
        add_plane(planes, &count, v3_normal_of(a, b, c), a);
    }
    return count;
}

cutis_result cutis_piece_centroid(cutis_parts *parts, uint32_t p)
{
    cutis_piece *part = &parts->parts[p];
    const double diagonal = parts->mesh->diagonal;
    cutis_arena scratch = { .context = parts->mesh->context };
    double(*planes)[4] = cutis_arena_alloc(
        &scratch, (size_t)part->face_count + part->ring_count + 6, sizeof *planes);
    cutis_intersection seen;
    if (!planes) return cutis_alloc_result(parts->mesh->context);
    const cutis_result result =
        cutis_intersection_make(&scratch, planes, part_planes(parts, p, planes), diagonal, &seen);
    cutis_arena_release(&scratch);
    if (result != CUTIS_OK) return result;
    part->star_shaped = seen.star_shaped;
    part->radius = seen.star_shaped ? seen.radius : 0;
    bool solid = part->volume > FLAT * diagonal * diagonal * diagonal;
    memcpy(part->centroid,
           seen.star_shaped ? seen.centroid
           : solid          ? part->volume_centre
                            : part->area_centre,
           sizeof part->centroid);
    return CUTIS_OK;
}

// Axes ------------------------------------------------------------------------------------------

static void point_covariance(const cutis_parts *parts, const cutis_piece *part, double *c)
{
    double mean[3] = { 0 };
    memset(c, 0, 6 * sizeof *c);
    for (uint32_t i = 0; i < part->vertex_count; i++)
        for (int k = 0; k < 3; k++)
            mean[k] += parts->mesh->points[part->vertices[i]][k] / part->vertex_count;
    for (uint32_t i = 0; i < part->vertex_count; i++)
        v3_spread(c, v3_sub(v3_of(parts->mesh->points[part->vertices[i]]), v3_of(mean)));
}

cutis_result cutis_piece_axes(cutis_parts *parts, uint32_t p)
{
    cutis_piece *part = &parts->parts[p];
    cutis_arena scratch = { .context = parts->mesh->context };
    double(*points)[3] = cutis_arena_alloc(&scratch, part->vertex_count, sizeof *points), c[6];
    cutis_hull hull = { 0 };
    if (!points) return cutis_alloc_result(parts->mesh->context);
    for (uint32_t i = 0; i < part->vertex_count; i++)
        memcpy(points[i], parts->mesh->points[part->vertices[i]], sizeof *points);
    cutis_result result =
        cutis_hull_make(&scratch, points, part->vertex_count, FLAT * parts->mesh->diagonal, &hull);
    if (result == CUTIS_OK) {
        if (hull.count > 0)
            cutis_covariance(hull.triangles, hull.count, c);
        else
            point_covariance(parts, part, c);
        cutis_principal_axes(c, part->axes);
    }
    cutis_arena_release(&scratch);
    return result;
}

// Chords ----------------------------------------------------------------------------------------

typedef struct {
    vec3 origin, direction;
    vec3 side, up; // with the direction a right-handed frame
    double *hits;
    uint32_t count, capacity;
} line;

// The line is the third axis of a frame, so a triangle is hit where its shadow holds the origin.
// Edge signs come from one formula for both triangles of an edge: a line through it meets one of
// them, or both at the same place.
static void hit_triangle(void *user, const double *a, const double *b, const double *c)
{
    line *l = user;
    double x[3], y[3], z[3];
    const double *corners[3] = { a, b, c };
    for (int i = 0; i < 3; i++) {
        vec3 d = v3_sub(v3_of(corners[i]), l->origin);
        x[i] = v3_dot(d, l->side), y[i] = v3_dot(d, l->up), z[i] = v3_dot(d, l->direction);
    }
    double u = x[1] * y[2] - x[2] * y[1], v = x[2] * y[0] - x[0] * y[2];
    double w = x[0] * y[1] - x[1] * y[0], sum = u + v + w;
    if ((u < 0 || v < 0 || w < 0) && (u > 0 || v > 0 || w > 0)) return;
    if (sum == 0 || l->count == l->capacity) return;
    l->hits[l->count++] = (u * z[0] + v * z[1] + w * z[2]) / sum;
}

static void perpendicular(const double *d, vec3 *side, vec3 *up)
{
    int least = 0;
    for (int k = 1; k < 3; k++)
        if (fabs(d[k]) < fabs(d[least])) least = k;
    *side = v3_direction(v3_cross(v3_of(d), v3(least == 0, least == 1, least == 2)));
    *up = v3_cross(v3_of(d), *side);
}

// The inside stretch that holds 0, else the longest; false: none, or an odd number of crossings.
static bool inside_stretch(double *hits, uint32_t count, double same, double *from, double *to)
{
    uint32_t kept = 0;
    qsort(hits, count, sizeof *hits, order_double);
    for (uint32_t i = 0; i < count; i++)
        if (kept == 0 || hits[i] - hits[kept - 1] > same) hits[kept++] = hits[i];
    if (kept == 0 || kept % 2) return false;
    uint32_t best = 0;
    for (uint32_t i = 0; i < kept; i += 2) {
        if (hits[i] <= 0 && hits[i + 1] >= 0) {
            best = i;
            break;
        }
        if (hits[i + 1] - hits[i] > hits[best + 1] - hits[best]) best = i;
    }
    *from = hits[best], *to = hits[best + 1];
    return true;
}

cutis_result cutis_piece_chord(const cutis_parts *parts, uint32_t p, const double *direction,
                               double *from, double *to)
{
    const cutis_piece *part = &parts->parts[p];
    uint32_t capacity = part->face_count;
    for (uint32_t i = 0; i < part->ring_count; i++) capacity += parts->rings[part->rings[i]].count;
    double *hits = cutis_alloc_array(parts->mesh->context, capacity, sizeof *hits), low, high;
    if (!hits) return cutis_alloc_result(parts->mesh->context);
    line l = { .origin = v3_of(part->centroid),
               .direction = v3_of(direction),
               .hits = hits,
               .capacity = capacity };
    perpendicular(direction, &l.side, &l.up);
    cutis_piece_triangles(parts, p, hit_triangle, &l);
    if (!inside_stretch(hits, l.count, SAME_HIT * parts->mesh->diagonal, &low, &high)) {
        low = INFINITY, high = -INFINITY; // grazing: as far as the part reaches
        for (uint32_t i = 0; i < part->vertex_count; i++) {
            vec3 d = v3_sub(v3_of(parts->mesh->points[part->vertices[i]]), l.origin);
            low = fmin(low, v3_dot(d, l.direction)), high = fmax(high, v3_dot(d, l.direction));
        }
    }
    cutis_free_array(parts->mesh->context, hits, capacity, sizeof *hits);
    double pull = PULL_IN * (high - low);
    v3_put(v3_mad(l.origin, low + pull, l.direction), from);
    v3_put(v3_mad(l.origin, high - pull, l.direction), to);
    return CUTIS_OK;
}

cutis_result cutis_piece_box(cutis_parts *parts, uint32_t p)
{
    cutis_piece *part = &parts->parts[p];
    for (int k = 0; k < 3; k++) {
        part->box_low[k] = INFINITY, part->box_high[k] = -INFINITY;
        for (uint32_t i = 0; i < part->vertex_count; i++) {
            double x = double3_dot(part->axes + 3 * k, parts->mesh->points[part->vertices[i]]);
            if (x < part->box_low[k]) part->box_low[k] = x;
            if (x > part->box_high[k]) part->box_high[k] = x;
        }
    }
    return cutis_piece_chord(parts, p, part->axes, part->axis_from, part->axis_to);
}
