// Cotangent weights, areas and colours of a triangle mesh that may be anything: open, non-manifold,
// in pieces, with slivers. Invariants: the matrix is symmetric and its quadratic form is never
// negative, so the energies built on it are bounded below; sums of a vertex run in the order of its
// triangles, whatever the number of threads.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fit/reduce/problem.h"
#include "geometry/order.h"
#include "geometry/vector.h"

// Cotangents beyond this belong to slivers. All three of such a triangle are scaled together:
// cutting one off alone would make the triangle's energy negative for some fields.
static const double COTANGENT_MAX = 1e4;
// Triangles smaller than this share of the squared extent have no shape.
static const double AREA_MIN = 1e-14;
// Of the mean: vertices of slivers alone (and vertices without triangles) weigh at least this.
static const double AREA_FLOOR = 1e-6;
// Rows up to this length are sorted by insertion.
enum { ROW_SHORT = 64 };

typedef struct triangle_shape {
    double area, cotangent[3]; ///< area 0: left out
} triangle_shape;

// Triangles and vertices of one task.
enum { TASK_TRIANGLES = 4096, TASK_VERTICES = 1024 };

typedef struct mesh_job {
    cutis_device *device; ///< whose threads work; NULL: the caller's
    cutis_reduce_mesh *mesh;
    const double *positions;
    const uint32_t *triangles;
    uint32_t triangle_count;
    double area_min;
    triangle_shape *shape; ///< per triangle
    uint32_t *first;       ///< vertex_count + 2: corners of the vertices; counts and ends before
    uint32_t *corner;      ///< 3 * triangle + its corner, ascending per vertex
    uint32_t *neighbour;   ///< these two: rows with space for 2 per corner, before they move up
    double *cotangent;
} mesh_job;

static bool measure_triangle(const double *positions, const uint32_t *corner, double area_min,
                             triangle_shape *out)
{
    if (corner[0] == corner[1] || corner[1] == corner[2] || corner[2] == corner[0]) return false;
    vec3 p[3], edge[3];
    double largest = 0;
    for (int k = 0; k < 3; k++) p[k] = v3_of(positions + 3 * (size_t)corner[k]);
    for (int k = 0; k < 3; k++) edge[k] = v3_sub(p[(k + 2) % 3], p[(k + 1) % 3]); // opposite to k
    double twice = v3_length(v3_cross(edge[0], edge[1]));
    if (!(twice > 2 * area_min)) return false;
    out->area = twice / 2;
    for (int k = 0; k < 3; k++) {
        out->cotangent[k] = -v3_dot(edge[(k + 1) % 3], edge[(k + 2) % 3]) / twice;
        const double size = fabs(out->cotangent[k]);
        largest = size > largest ? size : largest;
    }
    if (largest > COTANGENT_MAX)
        for (int k = 0; k < 3; k++) out->cotangent[k] *= COTANGENT_MAX / largest;
    return true;
}

// Meyer's mixed area, what a triangle gives to corner c of it: Voronoi where the triangle is not
// obtuse, else half of it at the obtuse corner. Added one by one.
static void add_area(const mesh_job *job, uint32_t t, uint32_t c, double *area)
{
    const triangle_shape *shape = &job->shape[t];
    const uint32_t *corner = job->triangles + 3 * (size_t)t;
    for (uint32_t k = 0; k < 3; k++)
        if (shape->cotangent[k] < 0) {
            *area += shape->area / (c == k ? 2 : 4);
            return;
        }
    for (uint32_t k = 0; k < 3; k++) { // edge k gives cot_k |edge|^2 / 8 to both of its ends
        if (k == c) continue;
        vec3 e = v3_sub(v3_of(job->positions + 3 * (size_t)corner[(k + 1) % 3]),
                        v3_of(job->positions + 3 * (size_t)corner[(k + 2) % 3]));
        *area += shape->cotangent[k] * v3_dot(e, e) / 8;
    }
}

static void floor_areas(uint32_t count, double *area)
{
    double sum = 0;
    for (uint32_t v = 0; v < count; v++) sum += area[v];
    double least = sum > 0 ? AREA_FLOOR * sum / count : 1;
    for (uint32_t v = 0; v < count; v++) area[v] = area[v] > least ? area[v] : least;
}

static double extent_of(uint32_t count, const double *positions)
{
    box3 box = box3_empty();
    for (uint32_t v = 0; v < count; v++) box3_add(&box, v3_of(positions + 3 * (size_t)v));
    const double extent = box3_diagonal(&box);
    return extent > 0 ? extent : 1;
}

// Shapes of triangles, and how many each vertex has. Counts of vertices that tasks share are whole
// numbers, so their order does not matter.
static void shape_task(void *data, uint32_t index)
{
    const mesh_job *job = data;
    uint32_t t = index * TASK_TRIANGLES;
    for (uint32_t end = t + TASK_TRIANGLES; t < end && t < job->triangle_count; t++) {
        const uint32_t *corner = job->triangles + 3 * (size_t)t;
        triangle_shape *shape = &job->shape[t];
        if (!measure_triangle(job->positions, corner, job->area_min, shape)) {
            shape->area = 0;
            continue;
        }
        for (int k = 0; k < 3; k++)
            __atomic_fetch_add(&job->first[corner[k] + 2], 1, __ATOMIC_RELAXED);
    }
}

// Corners to their vertices, in any order.
static void corner_task(void *data, uint32_t index)
{
    const mesh_job *job = data;
    uint32_t t = index * TASK_TRIANGLES;
    for (uint32_t end = t + TASK_TRIANGLES; t < end && t < job->triangle_count; t++)
        for (uint32_t k = 0; k < 3 && job->shape[t].area > 0; k++) {
            const uint32_t v = job->triangles[3 * (size_t)t + k];
            job->corner[__atomic_fetch_add(&job->first[v + 1], 1, __ATOMIC_RELAXED)] = 3 * t + k;
        }
}

static void sort_corners(uint32_t *list, uint32_t count)
{
    if (count > ROW_SHORT) {
        qsort(list, count, sizeof *list, order_u32);
        return;
    }
    for (uint32_t i = 1; i < count; i++) {
        uint32_t moved = list[i], at = i;
        for (; at > 0 && list[at - 1] > moved; at--) list[at] = list[at - 1];
        list[at] = moved;
    }
}

static void sort_keys(uint64_t *key, uint32_t count)
{
    if (count > ROW_SHORT) {
        qsort(key, count, sizeof *key, order_u64);
        return;
    }
    for (uint32_t i = 1; i < count; i++) {
        const uint64_t moved = key[i];
        uint32_t at = i;
        for (; at > 0 && key[at - 1] > moved; at--) key[at] = key[at - 1];
        key[at] = moved;
    }
}

// What a vertex's triangles add to its neighbours, by neighbour, then by triangle: sums run in
// triangle order. What belongs to one edge is merged. `key`: scratch of 2 per corner
static void merge_row(const mesh_job *job, uint32_t v, uint64_t *key)
{
    const uint32_t begin = job->first[v], corners = job->first[v + 1] - begin;
    uint32_t *neighbour = job->neighbour + 2 * (size_t)begin, used = 0, count = 0;
    double *cotangent = job->cotangent + 2 * (size_t)begin, diagonal = 0;
    for (uint32_t i = 0; i < corners; i++) {
        const uint32_t c = job->corner[begin + i] % 3;
        const uint32_t *corner = job->triangles + (job->corner[begin + i] - c);
        for (uint32_t k = 0; k < 3; k++) // edge k ends in the corner that is neither
            if (k != c) key[count++] = (uint64_t)corner[3 - k - c] << 32 | (4 * (uint64_t)i + k);
    }
    sort_keys(key, count);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t from = (uint32_t)key[i], to = (uint32_t)(key[i] >> 32);
        const double half = job->shape[job->corner[begin + from / 4] / 3].cotangent[from % 4] / 2;
        if (used && neighbour[used - 1] == to) {
            cotangent[used - 1] += half;
        } else {
            neighbour[used] = to;
            cotangent[used++] = half;
        }
    }
    for (uint32_t i = 0; i < used; i++) diagonal += cotangent[i];
    job->mesh->diagonal[v] = diagonal > 0 ? diagonal : 0;
    job->mesh->first[v + 1] = used; // until all are counted
}

static void row_task(void *data, uint32_t index)
{
    const mesh_job *job = data;
    uint64_t row[ROW_SHORT];
    uint32_t v = index * TASK_VERTICES;
    for (uint32_t end = v + TASK_VERTICES; v < end && v < job->mesh->vertex_count; v++) {
        uint32_t *list = job->corner + job->first[v];
        const uint32_t count = job->first[v + 1] - job->first[v];
        double area = 0;
        sort_corners(list, count);
        for (uint32_t i = 0; i < count; i++) add_area(job, list[i] / 3, list[i] % 3, &area);
        job->mesh->area[v] = area;
        if (2 * (uint64_t)count <= ROW_SHORT) merge_row(job, v, row); // others: later
    }
}

// Rows to where they stay.
static void move_task(void *data, uint32_t index)
{
    const mesh_job *job = data;
    const cutis_reduce_mesh *mesh = job->mesh;
    uint32_t v = index * TASK_VERTICES;
    for (uint32_t end = v + TASK_VERTICES; v < end && v < mesh->vertex_count; v++) {
        const uint32_t to = mesh->first[v], count = mesh->first[v + 1] - to;
        const size_t from = 2 * (size_t)job->first[v];
        memcpy(mesh->neighbour + to, job->neighbour + from, count * sizeof *job->neighbour);
        memcpy(mesh->cotangent + to, job->cotangent + from, count * sizeof *job->cotangent);
    }
}

// Rows that do not fit into a task's own memory, one after the other.
static bool merge_long_rows(const mesh_job *job, cutis_arena *own)
{
    uint32_t longest = 0;
    for (uint32_t v = 0; v < job->mesh->vertex_count; v++) {
        const uint32_t count = job->first[v + 1] - job->first[v];
        if (count > longest) longest = count;
    }
    if (2 * (uint64_t)longest <= ROW_SHORT) return true;
    uint64_t *row = cutis_arena_alloc(own, longest, 2 * sizeof *row);
    for (uint32_t v = 0; row && v < job->mesh->vertex_count; v++)
        if (2 * (uint64_t)(job->first[v + 1] - job->first[v]) > ROW_SHORT) merge_row(job, v, row);
    return row != NULL;
}

static bool build_rows(mesh_job *job, cutis_arena *arena, cutis_arena *own)
{
    cutis_reduce_mesh *mesh = job->mesh;
    const uint32_t vertices = mesh->vertex_count;
    cutis_device_run_items(job->device, shape_task, job, job->triangle_count, TASK_TRIANGLES);
    for (uint32_t v = 0; v < vertices; v++) job->first[v + 2] += job->first[v + 1];
    cutis_device_run_items(job->device, corner_task, job, job->triangle_count, TASK_TRIANGLES);
    cutis_device_run_items(job->device, row_task, job, vertices, TASK_VERTICES);
    if (!merge_long_rows(job, own)) return false;
    mesh->first[0] = 0;
    for (uint32_t v = 0; v < vertices; v++) mesh->first[v + 1] += mesh->first[v];
    mesh->neighbour = cutis_arena_alloc(arena, mesh->first[vertices], sizeof *mesh->neighbour);
    mesh->cotangent = cutis_arena_alloc(arena, mesh->first[vertices], sizeof *mesh->cotangent);
    if (!mesh->neighbour || !mesh->cotangent) return false;
    cutis_device_run_items(job->device, move_task, job, vertices, TASK_VERTICES);
    floor_areas(vertices, mesh->area);
    return true;
}

bool cutis_reduce_mesh_create(cutis_device *device, cutis_arena *arena, uint32_t vertex_count,
                              const double *positions, uint32_t triangle_count,
                              const uint32_t *triangles, cutis_reduce_mesh *out)
{
    const size_t corners = 3 * (size_t)triangle_count, rows = (size_t)vertex_count + 1;
    cutis_arena own = { .context = arena->context };
    mesh_job job = { .device = device,
                     .mesh = out,
                     .positions = positions,
                     .triangles = triangles,
                     .triangle_count = triangle_count };
    *out = (cutis_reduce_mesh){ .vertex_count = vertex_count };
    if (2 * corners > UINT32_MAX) return false;
    out->first = cutis_arena_alloc(arena, rows, sizeof *out->first);
    out->diagonal = cutis_arena_alloc(arena, vertex_count, sizeof *out->diagonal);
    out->area = cutis_arena_alloc(arena, vertex_count, sizeof *out->area);
    job.shape = cutis_arena_alloc(&own, triangle_count, sizeof *job.shape);
    job.first = cutis_arena_zero(&own, rows + 1, sizeof *job.first);
    job.corner = cutis_arena_alloc(&own, corners, sizeof *job.corner);
    job.neighbour = cutis_arena_alloc(&own, corners, 2 * sizeof *job.neighbour);
    job.cotangent = cutis_arena_alloc(&own, corners, 2 * sizeof *job.cotangent);
    bool good = out->first && out->diagonal && out->area && job.shape && job.first && job.corner &&
                job.neighbour && job.cotangent;
    if (good) {
        out->extent = extent_of(vertex_count, positions);
        job.area_min = AREA_MIN * out->extent * out->extent;
        good = build_rows(&job, arena, &own);
    }
    cutis_arena_release(&own);
    return good;
}

// Vertices are coloured in their order and neighbours ascend, so those from v on have no colour
// yet.
static uint32_t free_colour(const cutis_reduce_mesh *mesh, uint32_t v, uint32_t distance,
                            const uint32_t *colour, uint32_t *taken_by)
{
    for (uint32_t i = mesh->first[v]; i < mesh->first[v + 1]; i++) {
        const uint32_t u = mesh->neighbour[i];
        if (u < v)
            taken_by[colour[u]] = v;
        else if (distance == 1)
            break;
        for (uint32_t k = mesh->first[u]; distance > 1 && k < mesh->first[u + 1]; k++) {
            const uint32_t w = mesh->neighbour[k];
            if (w >= v) break;
            taken_by[colour[w]] = v;
        }
    }
    uint32_t c = 0;
    while (taken_by[c] == v) c++;
    return c;
}

bool cutis_reduce_colours_create(cutis_arena *arena, const cutis_reduce_mesh *mesh,
                                 uint32_t distance, cutis_reduce_colours *out)
{
    const size_t count = mesh->vertex_count;
    cutis_arena own = { .context = arena->context };
    uint32_t *colour = cutis_arena_alloc(&own, count, sizeof *colour);
    uint32_t *taken_by = cutis_arena_alloc(&own, count + 1, sizeof *taken_by);
    out->vertex = cutis_arena_alloc(arena, count, sizeof *out->vertex);
    bool good = colour && taken_by && out->vertex;
    out->count = 0;
    if (good) {
        memset(taken_by, 0xff, (count + 1) * sizeof *taken_by);
        for (uint32_t v = 0; v < count; v++) {
            colour[v] = free_colour(mesh, v, distance, colour, taken_by);
            if (colour[v] >= out->count) out->count = colour[v] + 1;
        }
    }
    out->first = good ? cutis_arena_alloc(arena, (size_t)out->count + 1, sizeof *out->first) : NULL;
    good = out->first != NULL;
    if (good) order_by_key(colour, count, out->count, out->first, out->vertex);
    cutis_arena_release(&own);
    return good;
}
