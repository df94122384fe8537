/// The core of weight reduction, free of models and files: vertices with candidate controls,
/// matrices of the controls in every example pose, a triangle mesh between the vertices.
/// docs/design/reduction.md has the formulas.
///
/// Invariant: nothing depends on the number of threads. Work is cut into tasks of fixed size,
/// vertices of one colour never read what another of that colour writes, and sums run over tasks in
/// order.
#ifndef CUTIS_FIT_REDUCE_PROBLEM_H
#define CUTIS_FIT_REDUCE_PROBLEM_H

#include <cutis/weights.h>

#include "base/memory.h"
#include "device/device.h"

/// Most controls a vertex may keep; sets are held in fixed arrays.
#define CUTIS_REDUCE_SET 64
/// Most controls a vertex chooses from when its set is fitted.
#define CUTIS_REDUCE_CANDIDATES 32
/// Pull of a sweep towards the vertex's current weights, in mean diagonals of its Gram matrix:
/// proximal, so the fixed point is the energy's own (spec 3).
#define CUTIS_REDUCE_PROXIMAL 1e-3

/// Neighbours of every vertex with cotangent weights, and areas (spec 2.2).
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
                  ///< (gradient energy); 0: none. On the host only
    const double *rest; ///< cages: 3 per control at rest, so that S reproduces the vertices there;
                        ///< NULL: it only sums to 1
    cutis_arena *results; ///< for the sets and weights of states, which are all that is wanted of
                          ///< them (a GPU keeps the errors); NULL: everything is
} cutis_reduce_problem;

/// Weights of all vertices on their kept sets, with what the solves need.
typedef struct cutis_reduce_state {
    uint32_t *first;   ///< vertex_count + 1: kept slots, at most k per vertex
    uint32_t *control; ///< per slot
    double *weight;    ///< per slot
    float *
        offset; ///< per slot: 3 * column_count: where the control takes the vertex, less its target
    double *error;             ///< 3 * column_count per vertex: reduced minus original position
    double energy;             ///< of the energy it was swept with
    double gradient;           ///< its part without the anchor
    uint32_t infeasible_count; ///< S with `rest`: vertices that no kept weights reproduce
    uint32_t sweep_count;
    double *curve; ///< energy before the first sweep and after each: sweep_count + 1
    double sweep_seconds, transfer_seconds; ///< of sweeps; to and from a GPU
} cutis_reduce_state;

/// Room for the weights of all vertices; `whole`: with offsets.
bool cutis_reduce_state_create(const cutis_reduce_problem *problem, cutis_arena *arena, bool whole,
                               cutis_reduce_state *out);

/// Choose the sets, weights by k-largest (kL) or geometrically (G).
bool cutis_reduce_start(const cutis_reduce_problem *problem, cutis_arena *arena, bool fitted,
                        bool geometric, cutis_reduce_state *out);

/// Poisson sweeps from the state's weights (P). `colours`: of distance 1 (gradient) or 2 (laplace).
cutis_result cutis_reduce_sweep(const cutis_reduce_problem *problem, cutis_arena *arena,
                                cutis_reduce_energy energy, const cutis_reduce_colours *colours,
                                bool reselect, cutis_reduce_state *state);

/// The whole of P: geometric start and sweeps, on the problem's GPU where it has one. With a GPU
/// `state` comes back without offsets. @param colours may be NULL with a GPU @param reselect sweeps
/// may exchange controls
cutis_result cutis_reduce_poisson(const cutis_reduce_problem *problem, cutis_arena *arena,
                                  cutis_reduce_energy energy, const cutis_reduce_colours *colours,
                                  bool fitted, bool reselect, cutis_reduce_state *state);

/// Largest or fitted sets for P: those that do better on examples they were not fitted to. The
/// problem's first `example_count` columns are examples.
cutis_result cutis_reduce_choose(const cutis_reduce_problem *problem, uint32_t example_count,
                                 cutis_reduce_energy energy, const cutis_reduce_colours *colours,
                                 bool *fitted);

/// Smooth weights (S), distance-2 colours.
cutis_result cutis_reduce_smooth(const cutis_reduce_problem *problem, cutis_arena *arena,
                                 const cutis_reduce_colours *colours, cutis_reduce_state *state);

/// The energy of a state's errors by its definition; `gradient`: without the anchor (may be NULL).
double cutis_reduce_measure(const cutis_reduce_problem *problem, cutis_reduce_energy energy,
                            const double *error, double *gradient);

/// The update of one vertex that sweeps are made of, without reselecting, for tests. `rho` (laplace
/// only) is kept up to date; `fall` (may be NULL): of the energy. @return false: no memory
bool cutis_reduce_update(const cutis_reduce_problem *problem, cutis_reduce_state *state,
                         cutis_reduce_energy energy, double *rho, uint32_t vertex, double *fall);
/// Anchor of a vertex under the gradient energy: its area in units of ell^2.
double cutis_reduce_anchor(const cutis_reduce_problem *problem, uint32_t vertex);
/// rho = L e, 3 * column_count per vertex.
void cutis_reduce_residual(const cutis_reduce_problem *problem, const double *error, double *rho);

#endif
