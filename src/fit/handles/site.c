// Sites of points and bars, and their cores. Invariant: every sample of every segment of a site
// lies in a domain voxel, so a core has at least one voxel.
#include "fit/handles/site.h"

#include <math.h>
#include <stdlib.h>

#include "fit/handles/text.h"
#include "geometry/order.h"
#include "geometry/vector.h"
#include "math/mat3.h"

bool cutis_handles_sites_init(cutis_arena *arena, uint32_t capacity, cutis_handles_sites *out)
{
    *out = (cutis_handles_sites){ .arena = arena };
    out->sites = cutis_arena_zero(arena, capacity, sizeof *out->sites);
    return out->sites != NULL;
}

bool cutis_handles_site_append(cutis_arena *arena, cutis_handles_site *site, const double *a,
                               const double *b)
{
    if (!cutis_arena_grow(arena, &site->segments, &site->segment_capacity, site->segment_count + 1,
                          sizeof *site->segments))
        return false;
    cutis_handles_segment *segment = &site->segments[site->segment_count++];
    for (int c = 0; c < 3; c++) segment->a[c] = a[c], segment->b[c] = b[c];
    return true;
}

uint32_t cutis_handles_sample_count(const cutis_handles_grid *grid,
                                    const cutis_handles_segment *segment)
{
    double length = v3_distance_of(segment->b, segment->a);
    // Handles may be far larger than the model; samples that fine would be of no use.
    return (uint32_t)fmin(ceil(2 * length / grid->step), 1 << 16) + 1;
}

void cutis_handles_sample(const cutis_handles_segment *segment, uint32_t count, uint32_t i,
                          double *out)
{
    double t = count > 1 ? (double)i / (count - 1) : 0;
    v3_put(v3_mix(v3_of(segment->a), v3_of(segment->b), t), out);
}

uint32_t cutis_handles_sample_node(const cutis_handles_grid *grid, const cutis_handles_site *site,
                                   size_t segment, uint32_t i, uint32_t before, double *p)
{
    if (!grid->sheets) return cutis_handles_voxel_of(grid, p);
    uint32_t node = CUTIS_HANDLES_NONE;
    if (i == 0 && site->starts)
        node = site->starts[segment];
    else if (i > 0 && before != CUTIS_HANDLES_NONE)
        node = cutis_handles_node_next(grid, before, p);
    if (node == CUTIS_HANDLES_NONE) return cutis_handles_node_of(grid, p);
    if (!cutis_handles_node_holds(grid, node, p)) cutis_handles_voxel_centre(grid, node, p);
    return node;
}

// The nearest domain voxel to any sample.
static bool snap(cutis_arena *arena, const cutis_handles_grid *grid,
                 const cutis_handles_segment *whole, uint32_t count, cutis_handles_site *site)
{
    uint32_t best = 0, stride = count > 64 ? count / 64 : 1;
    site->snapped = INFINITY;
    for (uint32_t i = 0; i < count; i += stride) {
        double p[3], distance;
        cutis_handles_sample(whole, count, i, p);
        uint32_t voxel = cutis_handles_voxel_nearest(grid, p, &distance);
        if (distance < site->snapped) site->snapped = distance, best = voxel;
    }
    double centre[3];
    cutis_handles_voxel_centre(grid, best, centre);
    site->bar = false;
    return cutis_handles_site_append(arena, site, centre, centre);
}

cutis_handles_site *cutis_handles_sites_add(cutis_handles_sites *sites,
                                            const cutis_handles_grid *grid, const double *a,
                                            const double *b, bool bar)
{
    cutis_handles_site *site = &sites->sites[sites->site_count++];
    *site = (cutis_handles_site){ .bar = bar }; // a bone without a segment may have left its starts
    cutis_handles_segment whole;
    for (int c = 0; c < 3; c++) whole.a[c] = a[c], whole.b[c] = b[c];
    uint32_t count = cutis_handles_sample_count(grid, &whole), first = UINT32_MAX;
    for (uint32_t i = 0; i <= count; i++) {
        double p[3], start[3];
        bool inside = false;
        if (i < count) {
            cutis_handles_sample(&whole, count, i, p);
            inside = cutis_handles_voxel_of(grid, p) != CUTIS_HANDLES_NONE;
        }
        if (inside && first == UINT32_MAX) first = i;
        if (inside || first == UINT32_MAX) continue;
        cutis_handles_sample(&whole, count, first, start);
        cutis_handles_sample(&whole, count, i - 1, p);
        if (!cutis_handles_site_append(sites->arena, site, start, p)) return NULL;
        first = UINT32_MAX;
    }
    if (site->segment_count == 0 && !snap(sites->arena, grid, &whole, count, site)) return NULL;
    return site;
}

bool cutis_handles_sites_cores(cutis_handles_sites *sites, const cutis_handles_grid *grid)
{
    for (uint32_t s = 0; s < sites->site_count; s++) {
        cutis_handles_site *site = &sites->sites[s];
        size_t first = sites->core_count;
        for (uint32_t g = 0; g < site->segment_count; g++) {
            uint32_t count = cutis_handles_sample_count(grid, &site->segments[g]);
            uint32_t node = CUTIS_HANDLES_NONE;
            for (uint32_t i = 0; i < count; i++) {
                handles_taps taps;
                double p[3];
                cutis_handles_sample(&site->segments[g], count, i, p);
                node = cutis_handles_sample_node(grid, site, g, i, node, p);
                cutis_handles_taps_in(grid, node, p, &taps);
                if (!cutis_arena_grow(sites->arena, &sites->cores, &sites->core_capacity,
                                      sites->core_count + (size_t)taps.count, sizeof *sites->cores))
                    return false;
                for (int t = 0; t < taps.count; t++)
                    sites->cores[sites->core_count++] = taps.voxel[t];
            }
        }
        size_t kept = first;
        qsort(sites->cores + first, sites->core_count - first, sizeof *sites->cores, order_u32);
        for (size_t i = first; i < sites->core_count; i++)
            if (i == first || sites->cores[i] != sites->cores[kept - 1])
                sites->cores[kept++] = sites->cores[i];
        sites->core_count = kept;
        site->core_first = (uint32_t)first;
        site->core_count = (uint32_t)(kept - first);
    }
    return true;
}

static double segment_nearest(const cutis_handles_segment *segment, const double *p, double *out)
{
    const handles_point from = cutis_handles_point(p);
    const handles_point to =
        handles_nearest(cutis_handles_point(segment->a), cutis_handles_point(segment->b), from);
    out[0] = to.x, out[1] = to.y, out[2] = to.z;
    return handles_length(from, to);
}

double cutis_handles_site_distance(const cutis_handles_site *site, const double *point,
                                   double *nearest)
{
    double best = INFINITY;
    for (uint32_t g = 0; g < site->segment_count; g++) {
        double q[3], distance = segment_nearest(&site->segments[g], point, q);
        if (distance >= best) continue;
        best = distance;
        for (int c = 0; nearest && c < 3; c++) nearest[c] = q[c];
    }
    return best;
}

void cutis_handles_site_visit(const cutis_handles_grid *grid, const cutis_handles_site *site,
                              cutis_handles_visit *visit, void *user)
{
    for (size_t g = 0; g < site->segment_count; g++) {
        const uint32_t count = cutis_handles_sample_count(grid, &site->segments[g]);
        uint32_t voxel = CUTIS_HANDLES_NONE;
        for (uint32_t i = 0; i < count; i++) {
            double p[3], centre[3];
            cutis_handles_sample(&site->segments[g], count, i, p);
            voxel = cutis_handles_sample_node(grid, site, g, i, voxel, p);
            if (voxel == CUTIS_HANDLES_NONE) continue;
            cutis_handles_voxel_centre(grid, voxel, centre);
            visit(user, voxel, (float)cutis_handles_site_distance(site, centre, NULL));
        }
    }
}

// Closest points of two segments: the interior solution clamped, then each end against the other.
static double segment_separation(const cutis_handles_segment *s, const cutis_handles_segment *t)
{
    double q[3], best = segment_nearest(t, s->a, q);
    best = fmin(best, segment_nearest(t, s->b, q));
    best = fmin(best, segment_nearest(s, t->a, q));
    best = fmin(best, segment_nearest(s, t->b, q));
    vec3 u = v3_sub(v3_of(s->b), v3_of(s->a)), v = v3_sub(v3_of(t->b), v3_of(t->a));
    vec3 w = v3_sub(v3_of(s->a), v3_of(t->a));
    double a = v3_dot(u, u), b = v3_dot(u, v), e = v3_dot(v, v);
    double d = v3_dot(u, w), f = v3_dot(v, w), determinant = a * e - b * b;
    if (!(determinant > 1e-12 * a * e)) return best;
    double x = (b * f - e * d) / determinant, y = (a * f - b * d) / determinant;
    if (x < 0 || x > 1 || y < 0 || y > 1) return best;
    w = v3_add(w, v3_sub(v3_scale(u, x), v3_scale(v, y)));
    return fmin(best, v3_length(w));
}

double cutis_handles_site_separation(const cutis_handles_site *a, const cutis_handles_site *b)
{
    double best = INFINITY;
    for (uint32_t i = 0; i < a->segment_count; i++)
        for (uint32_t j = 0; j < b->segment_count; j++)
            best = fmin(best, segment_separation(&a->segments[i], &b->segments[j]));
    return best;
}
