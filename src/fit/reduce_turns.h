/// How errors of vertices turn the normals around them, in every pose, to first order.
///
/// The area-weighted normal of a vertex is N = sum over its triangles (a, b, c) of
/// a x b + b x c + c x a. An error e of corner a adds e x (b - c), positions taken where the
/// original weights put them. What of that lies across N, over the length of N, is the turn:
///
///     turn_l = P_l sum (e_u x d_u) / s_l,   s_l^2 = |N|^2 + (sum of the triangles' |.|)^2 + floors
///
/// The second part of s keeps folded fans from counting for more than they show: their angle is at
/// most pi, the linear turn is not. Energy: sum over poses and vertices of weight |turn|^2, and a
/// little of the gradient energy, which holds what no normal sees.
#ifndef CUTIS_FIT_REDUCE_TURNS_H
#define CUTIS_FIT_REDUCE_TURNS_H

#include "fit/reduce_problem.h"

/// The surface that normals are of, and how much each pose counts.
typedef struct cutis_reduce_surface {
    uint32_t triangle_count;
    const uint32_t *triangles;    ///< 3 vertices each
    const double *column_weights; ///< per pose; the matrices are scaled by their roots. NULL: 1
} cutis_reduce_surface;

/// What sweeps know of the normals. A vertex's record has 8 doubles a pose (kernel/reduce_turns.h):
/// where the original weights put it, the turn (times pose weight / s), kept up to date, the unit
/// normal and pose weight / s^2.
typedef struct cutis_reduce_turns {
    const cutis_reduce_problem *problem;
    double *column_weights;
    double gradient;     ///< weight of the gradient energy
    uint32_t *fan_first; ///< vertex_count + 1
    uint32_t *fan;       ///< 2 per triangle of a vertex: its other corners in order
    double *record;
} cutis_reduce_turns;

/// Room and fans; nothing is computed yet.
bool cutis_reduce_turns_create(const cutis_reduce_problem *problem,
                               const cutis_reduce_surface *surface, cutis_arena *arena,
                               cutis_reduce_turns *out);

/// The same without records, for a GPU that has them.
bool cutis_reduce_turns_fans(const cutis_reduce_problem *problem,
                             const cutis_reduce_surface *surface, cutis_arena *arena,
                             cutis_reduce_turns *out);

/// These three are called for all vertices, one after the other; vertices of one call are
/// independent. `scratch`: 3 * column_count.
void cutis_reduce_turns_target(const cutis_reduce_turns *turns, uint32_t vertex, double *scratch);
void cutis_reduce_turns_normal(const cutis_reduce_turns *turns, uint32_t vertex);
/// Turns of the errors (3 * column_count per vertex, pose after pose). @return the energy of the
/// vertex's normals, without the gradient's part
double cutis_reduce_turns_start(const cutis_reduce_turns *turns, uint32_t vertex,
                                const double *error, double *scratch);

/// Where the original weights put the vertex, pose after pose.
void cutis_reduce_turns_place(const cutis_reduce_turns *turns, uint32_t vertex, double *target);
/// Second derivative of the energy by the vertex's error, halved: xx, yy, zz, xy, xz, yz per pose.
/// `scratch`: 3 * column_count
void cutis_reduce_turns_metric(const cutis_reduce_turns *turns, uint32_t vertex, double *metric,
                               double *scratch);
/// Minus half the first derivative, pose after pose. `scratch`: 3 * column_count.
/// @return false: it is zero
bool cutis_reduce_turns_force(const cutis_reduce_turns *turns, uint32_t vertex, const double *error,
                              double *force, double *scratch);
/// The vertex's error moves by `step`; turns of the vertices around follow. `scratch`:
/// 6 * column_count
void cutis_reduce_turns_move(const cutis_reduce_turns *turns, uint32_t vertex, const double *step,
                             double *scratch);
/// Ask for what a vertex's update reads, while another is at work.
void cutis_reduce_turns_fetch(const cutis_reduce_turns *turns, uint32_t vertex);

#endif
