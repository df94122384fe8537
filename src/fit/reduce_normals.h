/// The last part of P on skins: sweeps that follow vertex normals.
#ifndef CUTIS_FIT_REDUCE_NORMALS_H
#define CUTIS_FIT_REDUCE_NORMALS_H

#include "fit/reduce_blocks.h"
#include "fit/reduce_turns.h"

/// Sweeps on the turns of normals, from the state's sets and weights on: those of the gradient
/// energy are a good start. Curve, energy and number of sweeps become those of these sweeps. On the
/// host, whatever the problem's device (cutis_reduce_poisson_normals has both parts). @param
/// colours of distance 2 @param reselect sweeps may exchange controls
cutis_result cutis_reduce_normals(const cutis_reduce_problem *problem,
                                  const cutis_reduce_surface *surface,
                                  const cutis_reduce_colours *colours, bool reselect,
                                  cutis_arena *arena, cutis_reduce_state *state);

/// Sweeps at most.
uint32_t cutis_reduce_normals_limit(const cutis_reduce_problem *problem, bool reselect);

/// cutis_reduce_poisson by the gradient energy and then cutis_reduce_normals: on the problem's GPU
/// where it has one. @param near colours of distance 1 @param far of distance 2
cutis_result cutis_reduce_poisson_normals(const cutis_reduce_problem *problem, cutis_arena *arena,
                                          const cutis_reduce_surface *surface,
                                          const cutis_reduce_colours *near,
                                          const cutis_reduce_colours *far, bool fitted,
                                          bool reselect, cutis_reduce_state *state);

/// The energy of a state's errors.
cutis_result cutis_reduce_normals_measure(const cutis_reduce_problem *problem,
                                          const cutis_reduce_surface *surface, const double *error,
                                          double *energy);

/// Look for a better set of a vertex under a force, and keep it: state, lane, error and turns.
/// `scratch`: 7 rows, `offset`: CUTIS_REDUCE_CANDIDATES rows. @return the fall of the energy
double cutis_reduce_normals_exchange(const cutis_reduce_problem *problem, cutis_reduce_state *state,
                                     const cutis_reduce_blocks *blocks,
                                     const cutis_reduce_turns *turns, uint32_t vertex,
                                     const double *force, double *scratch, float *offset);

#endif
