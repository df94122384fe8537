/// The core of weight reduction, free of models and files: vertices with candidate controls,
/// matrices of the controls in every example pose, a triangle mesh between the vertices.
/// docs/spec/reduction.md has the formulas.
///
/// Invariant: nothing depends on the number of threads. Work is cut into tasks of fixed size,
/// vertices of one colour never read what another of that colour writes, and sums run over tasks in
/// order.
#ifndef CUTIS_FIT_REDUCE_PROBLEM_H
#define CUTIS_FIT_REDUCE_PROBLEM_H

#include <cutis/weights.h>

#include "base/memory.h"
#include "device/compute/reduce.h"

/// Vertices of one task: small enough to share out, large enough that starting a task costs
/// nothing.
enum { CUTIS_REDUCE_TASK = 128, CUTIS_REDUCE_METHODS = 6 };

/// Neighbours of every vertex with cotangent weights, and areas (docs/spec/reduction.md 2.2).
typedef struct cutis_reduce_mesh {
    uint32_t vertex_count;
    uint32_t *first;     ///< vertex_count + 1
    uint32_t *neighbour; ///< ascending per vertex
    double *cotangent;   ///< L_lu = (cot A + cot B) / 2, symmetric
    double *diagonal;    ///< -L_ll = sum of the row's cotangents, >= 0 up to rounding
    double *area;        ///< mixed Voronoi area, floored at 1e-6 of the mean
    double extent;       ///< diagonal of the bounding box
} cutis_reduce_mesh;

/// @param device whose threads work; NULL: the caller's; @param positions 3 per vertex;
/// @param triangles 3 * triangle_count indices; degenerate ones are skipped
bool cutis_reduce_mesh_create(cutis_device *device, cutis_arena *arena, uint32_t vertex_count,
                              const double *positions, uint32_t triangle_count,
                              const uint32_t *triangles, cutis_reduce_mesh *out);

/// Vertices sorted by colour: no two of one colour are within `distance` (1 or 2) edges.
typedef struct cutis_reduce_colours {
    uint32_t count;
    uint32_t *first;  ///< count + 2 (the last entry is spare), into vertex
    uint32_t *vertex; ///< all vertices, colour after colour, ascending within one
} cutis_reduce_colours;

bool cutis_reduce_colours_create(cutis_arena *arena, const cutis_reduce_mesh *mesh,
                                 uint32_t distance, cutis_reduce_colours *out);

/// Colours of a mesh by distance - 1, made when first needed.
typedef struct cutis_reduce_colouring {
    cutis_reduce_colours distance[2];
} cutis_reduce_colouring;

cutis_result cutis_reduce_colour(cutis_arena *arena, const cutis_reduce_mesh *mesh,
                                 cutis_reduce_colouring *made, uint32_t distance,
                                 const cutis_reduce_colours **out);

/// What is to be reduced. Borrowed arrays.
typedef struct cutis_reduce_problem {
    cutis_context *context;
    cutis_device *device; ///< whose threads work; NULL: the caller's
    const cutis_reduce_mesh *mesh;
    const double *positions; ///< 3 per vertex
    const uint32_t *first;   ///< vertex_count + 1: original influences
    const uint32_t *control; ///< ascending per vertex
    const double *weight;    ///< not 0, sum 1 per vertex
    uint32_t control_count;
    uint32_t column_count; ///< poses
    const double
        *matrices;       ///< 12 per pose and control (pose-major), times sqrt of the pose's weight
    uint32_t influences; ///< k
    bool negative;       ///< weights may be negative
    bool reselect;       ///< sweeps over fitted sets may exchange controls (skeletons)
    double radius;       ///< ell of the anchor, as a fraction of the extent
    double stop;         ///< relative fall of the energy per sweep that ends it
    uint32_t sweeps;     ///< 0: the default of the energy
    double prior; ///< cages: weight of the smooth prior, in mean diagonals of the Gram matrices
                  ///< (gradient energy); 0: none
    const double *rest; ///< cages: 3 per control at rest, so that S reproduces the vertices there;
                        ///< NULL: it only sums to 1
    cutis_arena *results; ///< for the sets and weights of states, which are all that is wanted of
                          ///< them (a GPU keeps the errors); NULL: everything is
} cutis_reduce_problem;

/// Weights of all vertices on their kept sets.
typedef struct cutis_reduce_state {
    uint32_t *first;           ///< vertex_count + 1: kept slots, at most k per vertex
    uint32_t *control;         ///< per slot, ascending
    double *weight;            ///< per slot
    double *error;             ///< 3 * column_count per vertex: reduced minus original position
    double energy;             ///< of the energy it was swept with
    double gradient;           ///< its part without the anchor
    uint32_t infeasible_count; ///< S with `rest`: vertices that no kept weights reproduce
    uint32_t sweep_count;
    double *curve; ///< energy before the first sweep and after each: sweep_count + 1
    double sweep_seconds, transfer_seconds; ///< of sweeps; to and from a GPU
} cutis_reduce_state;

/// The surface that normals are of, and how much each pose counts.
typedef struct cutis_reduce_surface {
    uint32_t triangle_count;
    const uint32_t *triangles;    ///< 3 vertices each
    const double *column_weights; ///< per pose; the matrices are scaled by their roots. NULL: 1
} cutis_reduce_surface;

/// Choose the sets, weights by k-largest (kL) or geometrically (G).
cutis_result cutis_reduce_start(const cutis_reduce_problem *problem, cutis_arena *arena,
                                bool fitted, bool geometric, cutis_reduce_state *out);

/// How P goes about it.
typedef struct cutis_reduce_plan {
    cutis_reduce_energy energy; ///< NORMALS: the gradient's sweeps first, then those on normals
    bool fitted;                ///< sets
    bool reselect;              ///< first sweeps may exchange controls
    const cutis_reduce_colours *colours; ///< of distance 1 (2: laplace); NULL: made on the way
    const cutis_reduce_surface *surface; ///< these two: for normals
    const cutis_reduce_colours *far;     ///< of distance 2
} cutis_reduce_plan;

/// P: geometric start and Poisson sweeps. @param arena for what is not in the problem's `results`
cutis_result cutis_reduce_poisson(const cutis_reduce_problem *problem,
                                  const cutis_reduce_plan *plan, cutis_arena *arena,
                                  cutis_reduce_state *state);

/// Largest or fitted sets for P: those that do better on examples they were not fitted to. The
/// problem's first `example_count` columns are examples.
cutis_result cutis_reduce_choose(const cutis_reduce_problem *problem, uint32_t example_count,
                                 cutis_reduce_energy energy, const cutis_reduce_colours *colours,
                                 bool *fitted);

/// The method, and those it is compared with: the k-largest, or (`all`) every other one but
/// moments.
/// @param out CUTIS_REDUCE_METHODS
uint32_t cutis_reduce_list_methods(cutis_reduce_method method, bool compared, bool all,
                                   cutis_reduce_method *out);

/// Most influences that a vertex has left when weights are floats.
uint32_t cutis_reduce_most(const cutis_reduce_state *state, uint32_t vertex_count);

/// Smooth weights (S) from k-largest ones, distance-2 colours.
cutis_result cutis_reduce_smooth(const cutis_reduce_problem *problem, cutis_arena *arena,
                                 const cutis_reduce_colours *colours, cutis_reduce_state *state);

/// Any method but P. @param colouring and its arena, for S
/// @param sets in: as asked for; out: as they are
cutis_result cutis_reduce_once(const cutis_reduce_problem *problem, cutis_reduce_method method,
                               cutis_arena *arena, cutis_reduce_colouring *colouring,
                               cutis_arena *colour_arena, cutis_reduce_state *state,
                               cutis_reduce_sets *sets);

/// Errors of a state's sets and weights in the problem's poses: 3 * column_count per vertex.
/// @param rounded where controls take a vertex, less its target, as sweeps have it: in float
cutis_result cutis_reduce_errors(const cutis_reduce_problem *problem,
                                 const cutis_reduce_state *state, bool rounded, double *error);

/// Replace desired weights by the nearest ones with sum 1 that reproduce the vertex at rest (none
/// negative unless the problem allows it); where there are none, or only huge ones, by those that
/// come close (docs/spec/reduction.md 2.5; precision.c).
/// @param inverse what cutis_reduce_precision says of these controls; read where weights may be
/// negative
void cutis_reduce_precise(const cutis_reduce_problem *problem, uint32_t vertex,
                          const uint32_t *controls, uint32_t count, const double inverse[4][4],
                          double *weights);
/// What stays the same for a set of controls: found once, for all sweeps.
void cutis_reduce_precision(const cutis_reduce_problem *problem, uint32_t vertex,
                            const uint32_t *controls, uint32_t count, double inverse[4][4]);
/// Vertices whose weights do not reproduce them to 1e-8 of the extent.
uint32_t cutis_reduce_count_imprecise(const cutis_reduce_problem *problem,
                                      const cutis_reduce_state *state);

/// The energy of errors by its definition. @param surface for normals; else NULL
/// @param gradient the part without the anchor (gradient energy); may be NULL
cutis_result cutis_reduce_measure(const cutis_reduce_problem *problem, cutis_reduce_energy energy,
                                  const cutis_reduce_surface *surface, const double *error,
                                  double *value, double *gradient);

#endif
