/// Baking as a problem of numbers: points that move over frames, bones that are given (joints) or
/// looked for (helpers), weights of points on both. docs/spec/bake.md has the formulas.
///
/// Invariants: weights of a point are positive, sum to one, and are at most `influences`; helpers
/// are rigid in every frame; every accepted step lowers the energy. Results depend on the problem
/// alone, not on threads or vector widths.
#ifndef CUTIS_FIT_BAKE_SOLVER_H
#define CUTIS_FIT_BAKE_SOLVER_H

#include "base/memory.h"
#include "device/device.h"
#include "fit/bake/wide.h"

enum {
    CUTIS_BAKE_SLOTS = 16,      ///< most influences
    CUTIS_BAKE_NEAR = 8,        ///< neighbours that a point is averaged with
    CUTIS_BAKE_CANDIDATES = 12, ///< of one new helper
    CUTIS_BAKE_BONES = 4096     ///< joints and helpers together
};

/// What is to be explained. A *track* is [4][3][stride]: columns of a 3 x 4 matrix over frames,
/// zeros beyond the last; targets are [3][stride] floats a point.
typedef struct cutis_bake_problem {
    cutis_context *context;
    cutis_device *device;
    uint32_t point_count, frame_count, joint_count;
    size_t stride;
    const double *positions; ///< 3 per point
    const float *targets;
    const double *normals; ///< 3 per point, at rest; NULL: none
    const float *turns;    ///< as targets: where normals should point
    double worth;          ///< what a turn by one radian is worth, a distance
    const double *joints;  ///< a track each
    const double *mass;    ///< per point: vertices it stands for
    const uint32_t *space; ///< per point: of its joints, which only points of it share; NULL: one
    const uint32_t *first; ///< point_count + 1: weights it came with; NULL: none (joint_count 0)
    const uint32_t *joint;
    const double *weight;
    const uint32_t *may_first, *may; ///< per point: joints it may follow; NULL: found by the solve
    const uint32_t *may_near;        ///< per point: the end of those that are its neighbours' own
    uint32_t helper_count, influences;
    const uint8_t *limits; ///< per point: so many of these at most; NULL: all
    double affinity;       ///< alpha
    double prior;          ///< lambda: what a change of weights by one is worth, a distance
    bool keep_weights;     ///< without helpers: the weights stay as given
    bool driven;           ///< helpers will be functions of joints: better near than far off
    bool large;            ///< set by the solver: every round on all points costs much
} cutis_bake_problem;

typedef struct cutis_bake_solution {
    uint32_t helper_count; ///< as many as are of use
    double *helpers;       ///< a track each
    uint8_t *count;        ///< per point
    uint32_t *bone;        ///< influences each, ascending; joint_count + h: helper h
    double *weight;
    double energy;             ///< of all points, with affinity and prior
    double *residual, *plain;  ///< per point: sum of squares over frames, with these weights and
                               ///< with those it came with
    double *turn, *plain_turn; ///< the same of normals, times the square of their worth; zero
                               ///< without
} cutis_bake_solution;

/// @param arena of the solution
cutis_result cutis_bake_solve(const cutis_bake_problem *problem, cutis_arena *arena,
                              cutis_bake_solution *out);

/// Best rigid tracks of helpers for weights that are given, on other frames.
/// @param steps of each frame; @param helpers in: where to start from; out: tracks
cutis_result cutis_bake_follow(const cutis_bake_problem *problem,
                               const cutis_bake_solution *weights, uint32_t steps, double *helpers);
enum { CUTIS_BAKE_FOLLOW_STEPS = 80 }; ///< until they stand still

/// Weights again for tracks that are given, from the ones of `weights` on.
/// @param mask [helper][joint_count]: a point must have one of these as a candidate
/// @param weights in and out: count, bone, weight, and how far points are off
cutis_result cutis_bake_weigh(const cutis_bake_problem *problem, const double *helpers,
                              const uint8_t *mask, cutis_bake_solution *weights);

static inline uint32_t cutis_bake_limit(const cutis_bake_problem *problem, uint32_t point)
{
    return problem->limits ? problem->limits[point] : problem->influences;
}

// Between the files of this folder ----------------------------------------------------------------

/// What is known of the points under work.
typedef struct cutis_bake_level {
    uint32_t count;
    double *square; ///< 10 per point: form . square = p^T G p
    double *energy; ///< per point: w^T Q w
    double *target_square;
    const uint32_t *joint_first, *joint; ///< candidates
    const uint32_t *joint_near;          ///< per point: the end of those that are not far
    double *joint_product;               ///< c_b of each: the two below
    double *joint_target, *joint_turn;   ///< of targets and of turns; NULL: not summed up yet
    uint8_t *allowed;                    ///< [helper][count]; NULL: all are
    uint32_t *near;                      ///< CUTIS_BAKE_NEAR each, itself first
    uint8_t *slots;                      ///< influences of the point
    uint32_t *bone;                      ///< `influences` each
    double *weight, *product;            ///< and c_b of each
    double *residual, *plain;            ///< of each point, as in the solution; NULL: not asked for
    double *turn, *plain_turn;
    double *own_turn;            ///< as plain_turn, but for what normals are worth
    bool plain_known, own_known; ///< what points came with does not change: plain, own_turn
    double *loss; ///< of each: what the energy would rise by without it; NULL: not asked for
} cutis_bake_level;

/// A state of helpers and their weights.
typedef struct cutis_bake_work {
    const cutis_bake_problem *problem;
    cutis_arena *arena;
    const cutis_bake_wide *wide;
    uint32_t capacity;      ///< helpers there is room for, candidates among them
    uint32_t helper_count;  ///< at work
    uint32_t bone_capacity; ///< joints and capacity: a multiple of 8
    double *helpers;        ///< a track each
    double *before;         ///< the same, one step ago
    double *form;           ///< G: [bone][10][bone_capacity]
    double *diagonal;       ///< [10][bone_capacity]
    double *goals, *moments, *damping, *gain;
    uint8_t *coupled;
    uint32_t *filled;
    uint8_t *seed_joints; ///< [helper][joint_count]
    double *scratch;      ///< per task
    size_t scratch_size;
    double *solve_scratch; ///< of transforms, per task
    size_t solve_size, solve_room;
    cutis_result result;        ///< of the first thing that failed
    struct cutis_bake_gpu *gpu; ///< gpu.h; NULL: all is done on the host
    double *left;               ///< panels
    cutis_bake_level *level;
    double energy;
    uint32_t region_factor; ///< of the size of regions
    bool levers;            ///< helpers are looked for beyond regions too
    uint32_t random;        ///< 0: seeds are where most is gained; else gains are shaken by it
} cutis_bake_work;

enum { CUTIS_BAKE_TASKS = 32, CUTIS_BAKE_BLOCK = 32 };

/// What is tried once something failed does not count.
static inline void cutis_bake_try(cutis_bake_work *work, cutis_result result)
{
    if (work->result == CUTIS_OK) work->result = result;
}

/// Forms of bones [first, end) with all bones below `end`.
void cutis_bake_form(cutis_bake_work *work, uint32_t first, uint32_t end);
/// Track of a bone: a joint's or a helper's.
const double *cutis_bake_track(const cutis_bake_work *work, uint32_t bone);

/// c_b of all joints that are candidates; squares of targets. Once per level, and when what normals
/// are worth changed.
void cutis_bake_level_products(cutis_bake_work *work, cutis_bake_level *level);
/// Doubles that a task of these needs.
size_t cutis_bake_weights_scratch(uint32_t bone_capacity);
/// Weights of all points of the level for the helpers as they are. @return the energy
double cutis_bake_weights(cutis_bake_work *work, uint32_t sweeps);
/// How far every point is off, and its normals, by its weights and by those it came with.
void cutis_bake_residuals(cutis_bake_work *work);
/// Squared distances of a point by some weights, summed over frames [first, end).
double cutis_bake_squares_in(const cutis_bake_work *work, uint32_t point, uint32_t count,
                             const uint32_t *bone, const double *weight, size_t first, size_t end);
/// Squared turns of normals away from where they should point, per frame: by the weights there are,
/// and by those that points came with (NULL: not asked for).
void cutis_bake_turns(cutis_bake_work *work, double *now, double *own);
/// May a point follow a helper of some joints? @param joints per joint: not 0
bool cutis_bake_may(const cutis_bake_level *level, uint32_t point, const uint8_t *joints);
/// What `candidates` helpers beyond helper_count would gain, each alone.
/// @param region_joints [candidate][joint_count]: joints that a point must have one of
void cutis_bake_gains(cutis_bake_work *work, uint32_t candidates, const uint8_t *region_joints,
                      double *gains);

/// Transforms of all helpers for the weights as they are. @return by how much the energy fell
double cutis_bake_motion_solve(cutis_bake_work *work, uint32_t steps);

/// Add helpers until there are `count`; each is followed by `rounds` of weights and transforms.
cutis_result cutis_bake_seed(cutis_bake_work *work, uint32_t count, uint32_t rounds);
/// Middles of what helpers move, sum w^2 p / sum w^2: 3 each.
/// @param count, bone, weight of the points, as in a solution
void cutis_bake_middles(const cutis_bake_problem *problem, uint32_t helpers, const uint8_t *count,
                        const uint32_t *bone, const double *weight, double *pivot);
/// A number in [0, 1), and the next state; state 0: always 0.
double cutis_bake_random(uint32_t *state);
/// Take a helper away; points that followed it alone have no weights afterwards.
void cutis_bake_drop(cutis_bake_work *work, uint32_t helper);

/// The nearest points of some: a grid.
typedef struct cutis_bake_grid {
    uint32_t count;
    const double *positions; ///< 3 each
    double low[3], cell;
    uint32_t size[3];
    uint32_t *first, *list;
} cutis_bake_grid;
bool cutis_bake_grid_create(cutis_arena *arena, const double *positions, uint32_t count,
                            cutis_bake_grid *out);
/// @param nearest `wanted` of caller memory, nearest first, ties by number; @return how many
uint32_t cutis_bake_grid_nearest(const cutis_bake_grid *grid, const double *at, uint32_t wanted,
                                 uint32_t *nearest, double *squares);

#endif
