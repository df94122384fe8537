/// Sites: where a handle holds the domain. A site is a set of segments (a point is one of length
/// 0), all inside the domain; its core is every voxel that sampling at a point of the site looks
/// at.
#ifndef CUTIS_FIT_HANDLES_SITE_H
#define CUTIS_FIT_HANDLES_SITE_H

#include "fit/handles/grid.h"

typedef struct cutis_handles_segment {
    double a[3], b[3];
} cutis_handles_segment;

typedef struct cutis_handles_site {
    cutis_handles_segment *segments; ///< grown in the arena of the set
    size_t segment_count, segment_capacity;
    uint32_t *starts;    ///< per segment: the node of its start; NULL: the deepest one there
    bool bar;            ///< distances fall off as from a line, not as from a point
    double snapped;      ///< how far outside the domain the handle was, 0 if it was inside
    uint32_t core_first; ///< into the set's cores
    uint32_t core_count;
} cutis_handles_site;

/// The sites of one problem. `site_count` is at most the number of handles or joints.
typedef struct cutis_handles_sites {
    cutis_arena *arena;
    uint32_t site_count;
    cutis_handles_site *sites; ///< as many as there is space for
    uint32_t *cores; ///< voxels of all cores, ascending within a site; a voxel may be in several
    size_t core_count, core_capacity;
} cutis_handles_sites;

bool cutis_handles_sites_init(cutis_arena *arena, uint32_t capacity, cutis_handles_sites *out);

/// Add a site for a handle from a to b (a point: the same twice). What lies outside the domain is
/// left out; if all of it does, the site is the nearest domain voxel's centre.
/// @return the site, NULL if memory ran out
cutis_handles_site *cutis_handles_sites_add(cutis_handles_sites *sites,
                                            const cutis_handles_grid *grid, const double *a,
                                            const double *b, bool bar);

bool cutis_handles_site_append(cutis_arena *arena, cutis_handles_site *site, const double *a,
                               const double *b);

/// Gather the cores; after all sites are there.
bool cutis_handles_sites_cores(cutis_handles_sites *sites, const cutis_handles_grid *grid);

/// Distance from a point to a site, and the nearest point of it.
double cutis_handles_site_distance(const cutis_handles_site *site, const double *point,
                                   double *nearest);

/// Samples of a segment every half voxel, ends included: their number, and sample i.
uint32_t cutis_handles_sample_count(const cutis_handles_grid *grid,
                                    const cutis_handles_segment *segment);
void cutis_handles_sample(const cutis_handles_segment *segment, uint32_t count, uint32_t i,
                          double *out);

/// The node of sample i of a segment, at point p: from that of the sample before it, so that a bone
/// stays in its limb where another one holds the same place; p is moved to the node's centre where
/// the limb is beside it.
uint32_t cutis_handles_sample_node(const cutis_handles_grid *grid, const cutis_handles_site *site,
                                   size_t segment, uint32_t i, uint32_t before, double *p);

/// The voxels that a site passes through, sample by sample, and their centres' distances to it.
typedef void cutis_handles_visit(void *user, uint32_t voxel, float distance);
void cutis_handles_site_visit(const cutis_handles_grid *grid, const cutis_handles_site *site,
                              cutis_handles_visit *visit, void *user);

/// Least distance between two sites, straight.
double cutis_handles_site_separation(const cutis_handles_site *a, const cutis_handles_site *b);

#endif
