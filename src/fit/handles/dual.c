// The dual graph: an edge where two Voronoi cells share voxel faces, with the conductance of a
// finite volume between their centres, times a factor that falls with the distance to the nearest
// real handle (without it a point is next to nothing to a harmonic field in three dimensions).
// Solved by conjugate gradients in a fixed order. Invariant: shares are in [0, 1] and sum to one.
#include "fit/handles/insert.h"

#include <math.h>

#include "geometry/half_edge.h"

typedef struct graph {
    uint32_t site_count, virtual_count;
    uint32_t *first; ///< per virtual handle and one more
    uint32_t *other; ///< handle at the other end
    double *conductance;
    double *diagonal;
} graph;

// One edge per run of faces; written to both ends that are virtual.
static void add_edges(const cutis_handles_grid *grid, const cutis_handles_face *faces,
                      size_t face_count, graph *g, bool count_only)
{
    for (size_t i = 0; i < face_count;) {
        size_t j = i;
        double length = 0, factor = 0;
        for (; j < face_count && faces[j].a == faces[i].a && faces[j].b == faces[i].b; j++)
            length += faces[j].length, factor += faces[j].factor;
        double n = (double)(j - i), h = grid->step;
        double conductance = n * h * h / fmax(length / n, h / 10) * (factor / n);
        const uint32_t ends[2] = { faces[i].a, faces[i].b };
        for (int e = 0; e < 2; e++) {
            if (ends[e] < g->site_count) continue;
            uint32_t row = ends[e] - g->site_count;
            if (count_only) {
                g->first[row + 1]++;
                continue;
            }
            uint32_t at = g->first[row]++;
            g->other[at] = ends[1 - e];
            g->conductance[at] = conductance;
            g->diagonal[row] += conductance;
        }
        i = j;
    }
}

// By pair of cells, within a pair as they came.
static bool sort_faces(cutis_arena *scratch, const cutis_handles_face *from, size_t count,
                       cutis_handles_face *to)
{
    cutis_edge *order = cutis_arena_alloc(scratch, count, sizeof *order);
    for (size_t i = 0; order && i < count; i++) order[i] = (cutis_edge){ from[i].a, from[i].b, i };
    if (!order || !cutis_edges_order(scratch->context, order, count)) return false;
    for (size_t i = 0; i < count; i++) to[i] = from[order[i].half];
    return true;
}

static bool build_graph(cutis_arena *scratch, const cutis_handles_grid *grid,
                        const cutis_handles_face *faces, size_t face_count, graph *g)
{
    cutis_handles_face *sorted = cutis_arena_alloc(scratch, face_count, sizeof *sorted);
    g->first = cutis_arena_zero(scratch, (size_t)g->virtual_count + 1, sizeof *g->first);
    g->diagonal = cutis_arena_zero(scratch, g->virtual_count, sizeof *g->diagonal);
    if (!sorted || !g->first || !g->diagonal || !sort_faces(scratch, faces, face_count, sorted))
        return false;
    add_edges(grid, sorted, face_count, g, true);
    for (uint32_t i = 0; i < g->virtual_count; i++) g->first[i + 1] += g->first[i];
    const uint32_t total = g->first[g->virtual_count];
    g->other = cutis_arena_alloc(scratch, total, sizeof *g->other);
    g->conductance = cutis_arena_alloc(scratch, total, sizeof *g->conductance);
    if (!g->other || !g->conductance) return false;
    add_edges(grid, sorted, face_count, g, false);
    for (uint32_t i = g->virtual_count; i > 0; i--) g->first[i] = g->first[i - 1];
    g->first[0] = 0;
    return true;
}

// y = A x over virtual handles.
static void apply(const graph *g, const double *x, double *y)
{
    for (uint32_t i = 0; i < g->virtual_count; i++) {
        double sum = g->diagonal[i] * x[i];
        for (uint32_t e = g->first[i]; e < g->first[i + 1]; e++)
            if (g->other[e] >= g->site_count)
                sum -= g->conductance[e] * x[g->other[e] - g->site_count];
        y[i] = sum;
    }
}

// Jacobi-preconditioned conjugate gradients, from zero, to 1e-12 of the start.
static void solve_site(const graph *g, uint32_t site, double *x, double *r, double *p, double *q)
{
    const uint32_t n = g->virtual_count;
    double rho = 0, before = 0, goal = 0;
    for (uint32_t i = 0; i < n; i++) {
        x[i] = r[i] = p[i] = 0;
        for (uint32_t e = g->first[i]; e < g->first[i + 1]; e++)
            if (g->other[e] == site) r[i] += g->conductance[e];
    }
    for (uint32_t iteration = 0; iteration < 20 * n + 100; iteration++) {
        rho = 0;
        for (uint32_t i = 0; i < n; i++)
            if (g->diagonal[i] > 0) rho += r[i] * r[i] / g->diagonal[i];
        if (iteration == 0) goal = 1e-24 * rho;
        if (!(rho > goal)) return;
        double beta = iteration ? rho / before : 0, curvature = 0;
        for (uint32_t i = 0; i < n; i++)
            if (g->diagonal[i] > 0) p[i] = r[i] / g->diagonal[i] + beta * p[i];
        apply(g, p, q);
        for (uint32_t i = 0; i < n; i++) curvature += p[i] * q[i];
        if (!(curvature > 0)) return;
        for (uint32_t i = 0; i < n; i++) {
            x[i] += rho / curvature * p[i];
            r[i] -= rho / curvature * q[i];
        }
        before = rho;
    }
}

// Clamp and divide each row by its sum. A handle that no real one reaches follows the nearest.
static void normalise(const cutis_handles_grid *grid, const cutis_handles_sites *sites,
                      uint32_t virtual_count, const uint32_t *voxel, double *share)
{
    const uint32_t count = sites->site_count;
    for (uint32_t h = 0; h < virtual_count; h++) {
        double *row = share + (size_t)h * count, sum = 0, centre[3], least = INFINITY;
        uint32_t best = 0;
        for (uint32_t s = 0; s < count; s++) sum += row[s] = fmin(fmax(row[s], 0), 1);
        for (uint32_t s = 0; s < count && sum > 0; s++) row[s] /= sum;
        if (sum > 0) continue;
        cutis_handles_voxel_centre(grid, voxel[h], centre);
        for (uint32_t s = 0; s < count; s++) {
            double d = cutis_handles_site_distance(&sites->sites[s], centre, NULL);
            if (d < least) least = d, best = s;
        }
        row[best] = 1;
    }
}

typedef struct solving {
    const graph *graph;
    double *scratch; ///< four vectors per site
    double *share;
} solving;

static void solve_task(void *data, uint32_t site)
{
    const solving *job = data;
    const size_t n = job->graph->virtual_count, sites = job->graph->site_count;
    double *x = job->scratch + 4 * n * site;
    solve_site(job->graph, site, x, x + n, x + 2 * n, x + 3 * n);
    for (size_t h = 0; h < n; h++) job->share[h * sites + site] = x[h];
}

double *cutis_handles_dual_solve(cutis_arena *arena, cutis_device *device,
                                 const cutis_handles_grid *grid, const cutis_handles_sites *sites,
                                 uint32_t virtual_count, const uint32_t *voxel,
                                 const cutis_handles_face *faces, size_t face_count)
{
    cutis_arena scratch = { .context = arena->context };
    graph g = { .site_count = sites->site_count, .virtual_count = virtual_count };
    const size_t shares = (size_t)virtual_count * sites->site_count + 1;
    double *share = cutis_arena_alloc(arena, shares, sizeof *share);
    double *vectors = cutis_arena_alloc(&scratch, shares, 4 * sizeof *vectors);
    const bool good = share && vectors && build_graph(&scratch, grid, faces, face_count, &g);
    if (good) {
        solving job = { &g, vectors, share };
        cutis_device_run(device, solve_task, &job, sites->site_count);
        normalise(grid, sites, virtual_count, voxel, share);
    }
    cutis_arena_release(&scratch);
    return good ? share : NULL;
}
