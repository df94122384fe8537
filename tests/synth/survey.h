/// Independent measures of a triangle mesh, straight from its index list.
#ifndef CUTIS_TESTS_SYNTH_SURVEY_H
#define CUTIS_TESTS_SYNTH_SURVEY_H

#include "support.h"

typedef struct triangle_mesh {
    uint32_t vertex_count, triangle_count;
    double *positions; ///< 3 each
    uint32_t *triangles;
} triangle_mesh;

typedef struct survey {
    int64_t euler;
    uint32_t unpaired_edges; ///< directed edges without exactly one opposite
    uint32_t components;
    double angle_min, angle_max, quality_mean,
        volume;                  ///< degrees, mean of 4 sqrt(3) A / sum l^2, m^3
    uint32_t below_20, below_30; ///< triangles with such an angle
    uint32_t valence_min, valence_max;
} survey;

/// A joint's loop as found from the labels of neighbouring triangles.
typedef struct loop_survey {
    uint32_t low, high; ///< the two parts
    uint32_t edges;
    bool simple_and_closed;
    double plane_error, edge_ratio; ///< metres off the best plane; shortest over longest edge
    double centroid[3];
} loop_survey;

triangle_mesh mesh_of(const cutis_primitive *primitive, bool weld);
void mesh_release(triangle_mesh *mesh);
survey survey_mesh(const triangle_mesh *mesh);
/// Pairs of triangles that cut each other (neighbours over an edge aside).
uint32_t count_intersections(const triangle_mesh *mesh);
/// @return loops found, at most `capacity` written
uint32_t find_loops(const triangle_mesh *mesh, const uint32_t *parts, loop_survey *out,
                    uint32_t capacity);
double volume_of(const double *positions, const uint32_t *triangles, uint32_t triangle_count);

#endif
