/// Cages: closed triangle meshes around a model whose vertices (controls) move it. Weights by mean
/// value or harmonic coordinates, all of them or reduced to a few that deform alike; played by the
/// method CAGE (cutis/deform.h), or written as a plain skin that any player runs.
/// Formulas: docs/spec/reduction.md 5 to 7. Limits: docs/design/cages.md.
///
/// Threads: models, cages and reports are immutable, and several may use them at once; one device
/// for several at once: see cutis/device.h.
#ifndef CUTIS_CAGE_H
#define CUTIS_CAGE_H

#include <cutis/device.h>
#include <cutis/model.h>
#include <cutis/weights.h>

#ifdef __cplusplus
extern "C" {
#endif

/// "mvc", "harmonic".
CUTIS_API const char *cutis_coordinates_name(cutis_coordinates coordinates);

/// The cage that a model's triangles make, without weights: world space at rest, vertices at the
/// same place are one control, in the order they come first. Triangles are turned outward.
/// @param out destroy it with cutis_cage_destroy
/// @return CUTIS_OK, CUTIS_INVALID_ARGUMENT (not closed, not turned one way, fewer than four
/// controls: the error says which and how many)
CUTIS_API cutis_result cutis_cage_create(const cutis_model *model, cutis_cage **out);
CUTIS_API void cutis_cage_destroy(cutis_cage *cage); ///< of cutis_cage_create; NULL is fine

/// The zero value: mean value coordinates, all weights.
typedef struct cutis_cage_options {
    cutis_coordinates coordinates;
    uint32_t resolution; ///< harmonic: nodes along the longest side of the cage, 8 .. 512; 0 = 64
    bool simple;         ///< harmonic: nodes outside carry the value of the nearest cage point, an
                 ///< error of up to the grid's step; else exact where the cage cuts the grid
    double tolerance;           ///< harmonic: largest residual of the solver; 0 = 1e-9
    uint32_t influences;        ///< weights kept per vertex, 4 .. 64; 0: all
    bool signed_weights;        ///< reduced weights may be negative; mean value weights always may
    cutis_reduce_method method; ///< as in cutis/weights.h
    cutis_reduce_energy energy;
    cutis_reduce_sets sets;
    const float *examples; ///< poses to learn from: control_count * 3 each; NULL: automatic ones
    uint32_t example_count;
    const float *held_out; ///< poses to judge by; NULL: automatic ones
    uint32_t held_out_count;
    uint64_t seed;        ///< of automatic poses; 0 = 1. Held-out ones have the next three seeds
    uint32_t sweeps;      ///< most sweeps; 0: 20 (gradient), as in cutis/weights.h otherwise
    bool compare;         ///< report all four methods
    bool skip_evaluation; ///< no errors in the report
} cutis_cage_options;

/// Automatic poses when none are given: so many of one seed to learn from, so many of each of the
/// next three seeds to be judged by.
#define CUTIS_CAGE_EXAMPLES 7
#define CUTIS_CAGE_HELD_OUT 4

/// What was done; owns its arrays.
typedef struct cutis_cage_report {
    uint64_t vertex_count;         ///< of the model's output
    uint64_t outside_count;        ///< vertices outside the cage (mean value: allowed)
    uint32_t outside_worst;        ///< the vertex farthest outside
    double outside_distance;       ///< how far, world units
    uint64_t unsure_count;         ///< mean value: vertices where the sum of the weights vanishes
    double weight_min, weight_max; ///< of the coordinates, before any reduction
    double precision; ///< largest distance of the weighted controls from the vertex at rest, % of
                      ///< the diagonal; before any reduction
    uint32_t resolution;  ///< harmonic
    uint64_t node_count;  ///< harmonic: grid nodes inside the cage
    uint32_t sweep_count; ///< harmonic: of the slowest solve
    double residual;      ///< harmonic
    double seconds;       ///< of the coordinates
    // Reduction: as in cutis_reduce_report.
    uint32_t row_count;
    const cutis_reduce_row *rows;
    uint32_t example_count, held_out_count;
    const float *poses;        ///< control_count * 3 each: examples, then held out
    uint64_t reduced_count;    ///< vertices that had more weights than allowed
    uint64_t infeasible_count; ///< smooth: vertices that no kept weights reproduce at rest
    bool few_poses;
} cutis_cage_report;

CUTIS_API void cutis_cage_report_destroy(cutis_cage_report *report); ///< NULL is fine

/// Coordinates of points, all controls each: what binding does, without a model.
/// @param points   3 * point_count doubles, the cage's space
/// @param weights  point_count * control_count floats of caller memory
/// @param report   counts, precision and seconds, or NULL: not asked for (saves the inside test for
///                 mean value). Destroy it
/// @return as cutis_cage_bind
CUTIS_API cutis_result cutis_cage_coordinates(cutis_context *context, cutis_device *device,
                                              const cutis_cage *cage, const double *points,
                                              uint32_t point_count,
                                              const cutis_cage_options *options, float *weights,
                                              cutis_cage_report **report);

/// Bind a model to a cage: weights of every vertex in the scene at rest, reduced if asked. The new
/// model has the cage; its skins, clips and everything else are kept. The same for any number of
/// threads and, to the tolerance of the solver, for any device.
/// @param device where coordinates are computed; NULL: the calling thread
/// @param report what was done (destroy it), or NULL
/// @return CUTIS_OK, CUTIS_INVALID_ARGUMENT (harmonic: vertices outside; fewer than 4 influences;
/// no
///         vertices), CUTIS_UNSUPPORTED (a mesh shown twice), CUTIS_LIMIT_EXCEEDED (the grid),
///         CUTIS_CANCELLED, CUTIS_OUT_OF_MEMORY
CUTIS_API cutis_result cutis_cage_bind(const cutis_model *model, cutis_device *device,
                                       const cutis_cage *cage, const cutis_cage_options *options,
                                       cutis_model **out, cutis_cage_report **report);

/// Reduce the weights of a model that has a cage. `coordinates`, `resolution` and the like are not
/// read.
/// @return CUTIS_INVALID_ARGUMENT (no cage, fewer than 4 influences), else as cutis_cage_bind
CUTIS_API cutis_result cutis_cage_reduce(const cutis_model *model, cutis_device *device,
                                         const cutis_cage_options *options, cutis_model **out,
                                         cutis_cage_report **report);

/// Seeded poses of a cage: bend, twist, bumps, a little noise (docs/spec/conventions.md 4).
/// @param poses count * control_count * 3 floats of caller memory
CUTIS_API void cutis_cage_automatic_poses(const cutis_cage *cage, uint64_t seed, uint32_t count,
                                          float *poses);

/// How a cage became a skin.
typedef struct cutis_cage_skin_report {
    bool paired;             ///< two joints a control, because some weights are negative
    uint32_t joint_count;    ///< of the skin
    uint32_t max_influences; ///< of a vertex
    double scale;            ///< W: joints of pairs move by plus and minus W times the control
} cutis_cage_skin_report;

/// The model as a plain skin whose joints are the controls, moving by translation: what the method
/// CAGE does to positions, in any player (with more than 4 influences: in players that read
/// JOINTS_1). The skin's rest shape is the cage's own (weighted controls), in world space; normals
/// keep their rest direction in players. The result has no cage.
/// @param frames frame_count * control_count * 3: a clip "cage" of these, or NULL with 0
/// @param report what was made, or NULL
/// @return CUTIS_INVALID_ARGUMENT (no cage, a frame that is not finite), else as cutis_cage_bind
CUTIS_API cutis_result cutis_cage_to_skin(const cutis_model *model, const float *frames,
                                          uint32_t frame_count, float frames_per_second,
                                          cutis_model **out, cutis_cage_skin_report *report);

#ifdef __cplusplus
}
#endif
#endif
