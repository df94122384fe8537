/// Measurements that bench prints and reproduce sets beside the papers' tables.
#ifndef CUTIS_CLI_BENCH_MEASURE_H
#define CUTIS_CLI_BENCH_MEASURE_H

#include <cutis/cage.h>
#include <cutis/handles.h>
#include <cutis/patches.h>

#include "app.h"

// Pose space (bench/pose_space.c) ---------------------------------------------------------------

#define BENCH_SPACE_METHODS 3 ///< SSD, PSD, WPSD

typedef struct bench_space_row {
    uint32_t vertices;
    double seconds[BENCH_SPACE_METHODS]; ///< of a frame of all instances
    double apart[BENCH_SPACE_METHODS];   ///< GPU: largest distance to the CPU's vertices, of the
                                         ///< diagonal
} bench_space_row;

extern const cutis_method bench_space_methods[BENCH_SPACE_METHODS];
/// Frames a second in the paper's Table 1, by size and method: CPU (a Pentium 4), GPU (a GeForce
/// 6800 Ultra).
extern const double bench_space_paper[3][BENCH_SPACE_METHODS][2];

/// The arm with its example clip, and what is learned from its shapes.
typedef struct bench_arm {
    cutis_model *arm, *fitted;
    cutis_pose_fit_report *report;
    cutis_transform *poses; ///< of the examples, then of the instances, which stand between them
} bench_arm;

/// To be closed where it fails, too.
cutis_result bench_arm_open(cutis_context *context, cutis_device *device, cutis_body_size size,
                            uint32_t instances, const cutis_pose_fit_options *fit, bench_arm *out);
void bench_arm_close(bench_arm *arm);

/// The arm of one size, its eight examples learned, played by all three methods with normals.
cutis_result bench_space_measure(cli_app *app, cutis_device *device, uint32_t instances,
                                 double budget, cutis_body_size size, bench_space_row *out);

/// How long weights from examples take (bench/learn.c): the biped of 46036 vertices in 20 poses,
/// learned on 20 of its joints.
typedef struct bench_learned {
    uint32_t vertices, joints, poses;
    double seconds; ///< 0: not measured
    bool gpu;
} bench_learned;

/// @param quick the small biped
/// @param gpu   learns; NULL: two threads of the CPU
cutis_result bench_learn(cli_app *app, bool quick, cutis_device *gpu, bench_learned *out);

// Handles (bench/handles.c) ---------------------------------------------------------------------

#define BENCH_HANDLES 20

/// One bind, timed as a whole and by stages; the best of several.
typedef struct bench_handles_row {
    const char *body;
    cutis_weighting weighting; ///< asked for
    uint32_t voxels;           ///< asked for
    uint64_t domain_voxels;
    uint32_t iterations, virtual_handles;
    cutis_handles_seconds stages;
    double bind, move, update;
} bench_handles_row;

/// BENCH_HANDLES points at the model's joints, each the farthest from those before it.
void bench_handles_spread(const cutis_model *model, cutis_handle *out);
/// Binding, and moving one handle a little, for about `budget` seconds.
cutis_result bench_handles_bind(cutis_device *device, double budget, const cutis_model *model,
                                const cutis_handle *handles, uint32_t count,
                                bench_handles_row *row);
/// One frame with the weights.
cutis_result bench_handles_update(cutis_device *device, double budget, const cutis_model *model,
                                  const cutis_handle *handles, uint32_t count,
                                  bench_handles_row *row);

// Patches (bench/patches.c) ---------------------------------------------------------------------

/// Seconds of a frame of the paper's knee (891 and 1000 vertices), bent, normals included.
cutis_result bench_patches_knee(cutis_context *context, cutis_device *device,
                                const cutis_bind_options *options, double degrees, double budget,
                                double *seconds);

// Reduction (bench/reduce.c) --------------------------------------------------------------------

typedef struct bench_reduced {
    double seconds;     ///< on the clock: preparation, sets, solves
    double solve;       ///< of these: the solver alone, transfers to a device included
    double transfer;    ///< of these: to and from a device
    double sweep;       ///< of these: one sweep, the shortest of all runs' averages
    double first;       ///< the first run's seconds: a GPU's compiler is in it
    double cpu_seconds; ///< of all threads, for the whole call: what a machine that is busy
                        ///< otherwise does not change
    double energy_ratio;
    uint32_t sweeps;
} bench_reduced;

/// One reduction, without an evaluation: of the model's cage, or of its skins with `poses` in place
/// of the options' examples.
cutis_result bench_reduce_once(cutis_device *device, const cutis_model *model,
                               const cutis_cage_options *options, const cutis_transform *poses,
                               bench_reduced *out);

/// Weights on 51 controls to 8, on a body of so many vertices; the best of a few runs.
cutis_result bench_reduce_sized(cli_app *app, cutis_device *device, uint32_t vertices,
                                bench_reduced *out);

// Skeletons (bench/skeleton.c) ------------------------------------------------------------------

typedef struct bench_skeleton_row {
    const char *name;
    cutis_body body;
    uint32_t vertices, parts;
    double paper_kernel, paper_axes, paper_total; ///< seconds in Table 2
    bool quick;
} bench_skeleton_row;

#define BENCH_SKELETON_ROWS 4
extern const bench_skeleton_row
    bench_skeleton_rows[BENCH_SKELETON_ROWS]; ///< of the paper's Table 2

typedef struct bench_skeleton_figures {
    double kernel, axes, total; ///< seconds, of the fastest run
    uint64_t triangles;
    uint32_t star_shaped;
} bench_skeleton_figures;

/// Join the smallest leaf of a tree of parts to its parent (the root is its own) until `wanted` are
/// left (docs/spec/conventions.md 8). `map` gets for every part the one it is in; `size` changes.
void bench_merge_leaves(uint32_t count, const uint32_t *parent, double *size, uint32_t wanted,
                        uint32_t *map);

cutis_result bench_skeleton_measure(cli_app *app, const bench_skeleton_row *row,
                                    bench_skeleton_figures *out);

// Cages (bench/cage.c) --------------------------------------------------------------------------

/// Rings of vertices between two poles.
typedef struct bench_ball {
    uint32_t vertex_count, triangle_count;
    float *positions;
    uint32_t *triangles;
} bench_ball;

/// rings * segments + 2 vertices, 1.6 times as high as wide. false: out of memory (release it all
/// the same).
bool bench_ball_make(uint32_t rings, uint32_t segments, double radius, double bumps,
                     bench_ball *out);
void bench_ball_release(bench_ball *ball);
/// @param cage the model's, or NULL
cutis_result bench_ball_model(cutis_context *context, const bench_ball *ball,
                              const cutis_cage *cage, cutis_model **out);

typedef struct bench_cage_figures {
    double bind, full, few; ///< seconds: mean value coordinates; a frame with all weights, with 8
    uint32_t triangles;
} bench_cage_figures;

/// A bumpy ball of about `vertices` vertices in a cage of 137 controls.
cutis_result bench_cage_measure(cli_app *app, cutis_device *device, uint32_t vertices,
                                double budget, bench_cage_figures *out);

#endif
