/// Measuring deformed skin: volume, bounds, errors, curvature, edge stretch, whether it is closed,
/// where it crosses itself. Units: docs/spec/conventions.md 5.
///
/// Threads: nothing is kept between calls, so several may measure at once, the same surface too.
#ifndef CUTIS_MEASURE_H
#define CUTIS_MEASURE_H

#include <cutis/device.h>
#include <cutis/model.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A triangle mesh in one pose, borrowed.
typedef struct cutis_surface {
    uint32_t vertex_count;
    uint64_t triangle_count;
    const float *positions;  ///< 3 per vertex
    const uint32_t *indices; ///< 3 per triangle, all < vertex_count
} cutis_surface;

/// Signed volume, cubic units, in double (divergence theorem; meaningful for closed surfaces,
/// outward = positive).
CUTIS_API double cutis_surface_volume(const cutis_surface *surface);

CUTIS_API cutis_bounds cutis_surface_bounds(const cutis_surface *surface);

/// Length of the diagonal of the bounding box.
CUTIS_API double cutis_surface_diagonal(const cutis_surface *surface);

/// Area-weighted unit vertex normals, vertices of equal `weld` representative sharing one.
/// @param weld    vertex_count representatives from cutis_weld_positions, or NULL
/// @param normals 3 * vertex_count floats of caller memory
CUTIS_API cutis_result cutis_surface_normals(cutis_context *context, const cutis_surface *surface,
                                             const uint32_t *weld, float *normals);

/// For every vertex the lowest vertex with exactly the same position.
/// @param weld vertex_count of caller memory
CUTIS_API cutis_result cutis_weld_positions(cutis_context *context, uint32_t vertex_count,
                                            const float *positions, uint32_t *weld);

/// The same on a device's threads. @param device NULL: the caller's thread
CUTIS_API cutis_result cutis_weld_positions_on(cutis_context *context, cutis_device *device,
                                               uint32_t vertex_count, const float *positions,
                                               uint32_t *weld);

/// Differences between a result and a reference with the same vertices and triangles.
typedef struct cutis_difference {
    double position_rms, position_max; ///< % of `diagonal`
    double normal_rms, normal_max;     ///< radians, welded area-weighted vertex normals
    uint32_t worst_vertex;
} cutis_difference;

/// @param rest rest positions: decide which vertices are welded, and the diagonal errors are
/// divided by
CUTIS_API cutis_result cutis_surface_compare(cutis_context *context, const cutis_surface *rest,
                                             const float *positions, const float *reference,
                                             cutis_difference *out);

/// A point of a surface.
typedef struct cutis_surface_point {
    uint32_t triangle;
    double corners[3]; ///< barycentric coordinates, sum one
    double distance;   ///< of a ray: in lengths of its direction
} cutis_surface_point;

/// Where a ray first meets a surface, from either side; in double, triangle by triangle.
/// @return CUTIS_OK, CUTIS_NOT_FOUND (nowhere; no error is set), CUTIS_INVALID_ARGUMENT
CUTIS_API cutis_result cutis_surface_pick(const cutis_surface *surface, const double origin[3],
                                          const double direction[3], cutis_surface_point *out);

/// Discrete curvature of a closed or open surface: mean curvature by the cotangent Laplacian,
/// 1/unit, per vertex; summary over welded vertices, area-weighted.
typedef struct cutis_curvature {
    double mean_rms, mean_max;
    double edge_stretch_rms; ///< RMS of log(edge length / rest length)
} cutis_curvature;

/// @param rest_positions decide which vertices are welded and what edges are compared with; NULL:
/// the surface's own
/// @param per_vertex vertex_count floats of caller memory (positive = convex; 0 on borders), or
/// NULL
CUTIS_API cutis_result cutis_surface_curvature(cutis_context *context, const cutis_surface *surface,
                                               const float *rest_positions, float *per_vertex,
                                               cutis_curvature *out);

/// Edges (vertices at the same place welded) that do not have exactly two triangles; 0 for a closed
/// surface.
CUTIS_API cutis_result cutis_surface_open_edges(cutis_context *context,
                                                const cutis_surface *surface, uint64_t *out);

/// How the triangles of a surface are connected, vertices of equal `weld` representative being one.
/// Triangles with two equal corners count as none.
typedef struct cutis_manifold {
    bool watertight;         ///< every edge in exactly two faces that run along it both ways
    int64_t euler;           ///< vertices - edges + faces (used vertices only)
    uint64_t boundary_edges; ///< with one face
    uint64_t crowded_edges;  ///< with more than two
    uint64_t turned_edges;   ///< with two faces that run along it the same way
    uint64_t collapsed_faces;
    uint32_t piece_count; ///< connected through vertices
} cutis_manifold;

/// @param weld vertex_count representatives from cutis_weld_positions (of the rest positions, say),
/// or NULL: by the surface's own positions
CUTIS_API cutis_result cutis_surface_manifold(cutis_context *context, const cutis_surface *surface,
                                              const uint32_t *weld, cutis_manifold *out);

/// Where a surface crosses itself.
typedef struct cutis_crossings {
    uint64_t triangle_count; ///< triangles that share a point with one they share no vertex with
    uint64_t pair_count;     ///< pairs of such triangles
    uint64_t flat_count;     ///< triangles without area or not finite, left out
} cutis_crossings;

/// Exact: the signs that decide are computed without rounding, so touching counts and a gap of one
/// ULP does not. About n log n for bodies.
/// @param weld     as above
/// @param crossing triangle_count flags of caller memory, or NULL
/// @return CUTIS_OK, CUTIS_INVALID_ARGUMENT (2^31 triangles or more), CUTIS_CANCELLED,
///         CUTIS_OUT_OF_MEMORY
CUTIS_API cutis_result cutis_surface_crossings(cutis_context *context, const cutis_surface *surface,
                                               const uint32_t *weld, bool *crossing,
                                               cutis_crossings *out);

/// The outside of a closed surface: what of it can be reached from far away without going through
/// it, cut where it crosses itself.
typedef struct cutis_united cutis_united;

/// Borrowed from it.
typedef struct cutis_united_data {
    cutis_surface surface; ///< vertices are one where they are connected
    const uint32_t
        *origins;       ///< per triangle: the one of the given surface that it is, or is cut from
    const float *parts; ///< 9 per triangle: of each corner its place in that triangle, in parts
                        ///< of its three corners, sum one; whole where it is one of them
} cutis_united_data;

/// Space that the surface goes round once or more is inside; what is turned inside out goes round
/// less often. Cuts are decided without rounding; where surfaces touch, corners are moved by a few
/// millionths of the surface's reach from the origin first. Where they were cut new vertices are
/// rounded to floats, so a few slivers may cross by as much: cutis_surface_crossings tells.
/// @param weld as above
/// @param out  to be destroyed
/// @return CUTIS_OK, CUTIS_INVALID_ARGUMENT (not closed or not finite; 2^29 triangles or more;
///         parts that lie in each other and that moving does not free), CUTIS_CANCELLED,
///         CUTIS_OUT_OF_MEMORY
CUTIS_API cutis_result cutis_surface_unite(cutis_context *context, const cutis_surface *surface,
                                           const uint32_t *weld, cutis_united **out);
CUTIS_API const cutis_united_data *cutis_united_get(const cutis_united *united);
CUTIS_API void cutis_united_destroy(cutis_united *united); ///< NULL is fine

/// Curvature as Vasilakis and Fudos measure it: at a vertex the largest angle between its normal
/// and a neighbour's, degrees; of a part the median over its vertices. A vertex belongs to every
/// part it has a triangle in.
/// @param weld       as above
/// @param parts      part of every triangle, < part_count; NULL: all are part 0
/// @param medians    part_count of caller memory; NAN for a part without vertices
/// @param per_vertex vertex_count of caller memory, degrees, or NULL
CUTIS_API cutis_result cutis_surface_bend(cutis_context *context, const cutis_surface *surface,
                                          const uint32_t *weld, const uint32_t *parts,
                                          uint32_t part_count, double *medians, float *per_vertex);

#ifdef __cplusplus
}
#endif
#endif
