/// Influences: questions about them, checks, simple edits, and reduction to few. Weights are
/// learned by cutis/poses.h.
///
/// Threads: several may ask, check and reduce at once, the same model too; one device for several:
/// see cutis/device.h.
#ifndef CUTIS_WEIGHTS_H
#define CUTIS_WEIGHTS_H

#include <cutis/device.h>
#include <cutis/model.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Counts over the skinned instances of a model. An influence counts when its weight is > 0.
typedef struct cutis_weight_summary {
    uint32_t max_influences;
    uint32_t bone_set_count;     ///< distinct sets of two or more bones
    uint32_t large_set_count;    ///< of three or more
    uint32_t joint_count;        ///< distinct joints (nodes) of the skins in use
    uint32_t unused_joint_count; ///< joints no vertex has weight on
    uint64_t unweighted_count;   ///< vertices without any weight
    uint64_t histogram[17];      ///< vertices by number of influences; the last entry: 16 or more
} cutis_weight_summary;

CUTIS_API cutis_result cutis_weights_summarize(const cutis_model *model, cutis_weight_summary *out);

/// Look for what is wrong with the skin: sums, duplicates, unweighted vertices, seams whose copies
/// differ, more influences than `influence_limit` (0: 4), unused joints, missing or singular
/// inverse binds, degenerate triangles, clips without effect.
CUTIS_API cutis_result cutis_model_check(const cutis_model *model, uint32_t influence_limit,
                                         cutis_check_report **out);

/// A model whose vertices keep their `max_influences` largest weights (ties: the lower joint),
/// renormalised, sorted by joint; duplicates merged. 0 keeps all and only cleans. Everything else
/// is the same.
CUTIS_API cutis_result cutis_weights_limit(const cutis_model *model, uint32_t max_influences,
                                           cutis_model **out);

/// A model whose weights are whole numbers over `total` (255: what files of 8 bits hold, 65535: of
/// 16), nearest to its own, summing to it at every vertex: what a file has, before it is written.
/// @return CUTIS_OK, CUTIS_INVALID_ARGUMENT (a total outside 1 .. 65535), CUTIS_OUT_OF_MEMORY
CUTIS_API cutis_result cutis_weights_round(const cutis_model *model, uint32_t total,
                                           cutis_model **out);

/// How weights are reduced to few influences per vertex. Methods: docs/spec/reduction.md 2;
/// docs/benchmarks.md compares them.
typedef enum cutis_reduce_method {
    CUTIS_REDUCE_DEFAULT = 0,   ///< skins: MOMENTS (POISSON where an energy, sets, sweeps or more
                                ///< than 16 influences are asked for); cages: POISSON
    CUTIS_REDUCE_GEOMETRIC = 1, ///< the error's size is least, each vertex for itself
    CUTIS_REDUCE_SMOOTH =
        2, ///< weights change as smoothly as the original ones did; needs no poses
    CUTIS_REDUCE_KLARGEST = 3, ///< the largest weights, renormalised: what exporters do
    CUTIS_REDUCE_POISSON = 4, ///< what the error does to normals (or its gradient, or Laplacian) is
                              ///< least, on few poses
    CUTIS_REDUCE_MOMENTS =
        5, ///< what it does to normals and positions over hundreds of poses; skins only
} cutis_reduce_method;

/// How long MOMENTS searches.
typedef enum cutis_reduce_effort {
    CUTIS_REDUCE_NORMAL = 0, ///< 128 random poses, 10 starts
    CUTIS_REDUCE_FAST = 1,   ///< 64 and 2
    CUTIS_REDUCE_BEST = 2,   ///< 512 and 34
} cutis_reduce_effort;

/// What POISSON makes small.
typedef enum cutis_reduce_energy {
    CUTIS_REDUCE_NORMALS = 0,  ///< GRADIENT, then what the error does to vertex normals, to first
                               ///< order; cages have GRADIENT alone
    CUTIS_REDUCE_GRADIENT = 1, ///< integral of |grad e|^2, with a weak pull to the original
    CUTIS_REDUCE_LAPLACE = 2,  ///< integral of (Laplacian e)^2: Landreneau and Schaefer 2010
} cutis_reduce_energy;

/// Which influences a vertex keeps.
typedef enum cutis_reduce_sets {
    CUTIS_REDUCE_SETS_AUTO =
        0, ///< POISSON: both, and the better one; GEOMETRIC: fitted; others: largest
    CUTIS_REDUCE_SETS_LARGEST = 1, ///< the largest weights
    CUTIS_REDUCE_SETS_FITTED = 2,  ///< those that explain the example poses best
} cutis_reduce_sets;

/// "default", "geometric", "smooth", "klargest", "poisson", "moments".
CUTIS_API const char *cutis_reduce_method_name(cutis_reduce_method method);
/// "auto", "largest", "fitted".
CUTIS_API const char *cutis_reduce_sets_name(cutis_reduce_sets sets);

/// The zero value: 4 influences, moments; even frames of all clips of the model and as much of
/// random poses, or random poses alone if it has none.
typedef struct cutis_reduce_options {
    uint32_t influences; ///< most per vertex, 1 .. 64; 0 = 4 (with a bound: 16)
    /// Bounds (MOMENTS): as few influences per vertex, at most `influences`, as keep every vertex
    /// within them in unseen poses. 0: none.
    double max_error;  ///< distance in world space, in the model's units (glTF: metres)
    double max_normal; ///< angle between welded area-weighted normals, radians
    /// MOMENTS: joints of skins that stay, 0 = all. The others are merged into joints above them,
    /// least error first; weights are then found on the original motion.
    uint32_t joints;
    /// Weights will be whole numbers over this (255 for u8, 65535 for u16), and are judged so; 0:
    /// any. MOMENTS chooses them so that the error is least; others' are rounded when written.
    uint32_t weight_total;
    cutis_reduce_method method;
    cutis_reduce_energy energy;
    cutis_reduce_sets sets;
    /// Example poses of the caller's own: example_count * node_count local transforms. NULL: from
    /// clips.
    const cutis_transform *examples;
    uint32_t example_count;
    const cutis_transform
        *held_out; ///< poses to judge by, held_out_count * node_count; NULL: from clips
    uint32_t held_out_count;
    const uint32_t *clips; ///< clips to take examples from; NULL: all
    uint32_t clip_count;
    const uint32_t
        *held_out_clips; ///< clips to judge by; NULL: frames of `clips` that are no examples
    uint32_t held_out_clip_count;
    bool automatic;     ///< automatic (MOMENTS: random) poses only, whatever clips there are
    bool examples_only; ///< no automatic (random) poses beside the examples
    double mix;         ///< MOMENTS: what random poses count beside clips; 0 = 1
    cutis_reduce_effort effort;
    double memory; ///< MOMENTS: bytes its form may take; 0 = 4e9. Above it vertices choose among 16
                   ///< influences; if that is not enough, POISSON runs
    uint64_t seed; ///< of the automatic poses; 0 = 1. Those held out have the next seed
    uint32_t sweeps; ///< most sweeps; 0: 14 (gradient), 14 of either kind (normals), 0.1 % of the
                     ///< vertices and at least 20 (laplace, smooth)
    bool repair;     ///< vertices without weight follow the skin's first joint (as binding has it);
                     ///< else an error
    bool compare;    ///< report all four methods, not just the chosen one and k-largest
    bool skip_evaluation; ///< only the chosen method and no errors in the report: for when only the
                          ///< model is wanted
} cutis_reduce_options;

/// One method in the report. Errors are RMS over poses and vertices of the distance in % of the
/// diagonal, and of the angle between welded area-weighted vertex normals in radians (every vertex
/// counts, with its place's normal). Both against the original weights, linear blend, without
/// morphs.
typedef struct cutis_reduce_row {
    cutis_reduce_method method;
    cutis_reduce_sets sets;  ///< LARGEST or FITTED; of several skins the last one's
    uint32_t max_influences; ///< of any vertex in the result
    double example_position, example_normal;
    double held_out_position,
        held_out_normal; ///< on frames of clips; without them on random poses; NaN: none held out
    double random_position, random_normal; ///< on random poses nobody showed (MOMENTS)
    double energy;        ///< options.energy of the result, summed over skins; NaN: not known
    uint32_t sweep_count; ///< of the skin that took most; normals: without those of the gradient
    double seconds; ///< choosing sets and solving, without reading poses and without evaluation
    double solve_seconds;    ///< of these, from the first set to the last sweep (the device's part)
    double transfer_seconds; ///< of these, to and from a GPU
    double sweep_seconds;    ///< of these, in sweeps
    const double *curve;     ///< energy before the first sweep and after each; curve_count
    uint32_t curve_count;    ///< 0 for methods without sweeps
    const double *frame_position; ///< per pose: examples, then held out
    const double *frame_normal;
} cutis_reduce_row;

/// Where an evaluated pose comes from.
typedef struct cutis_reduce_pose {
    int32_t clip;  ///< or CUTIS_NONE: given by the caller, or automatic
    float seconds; ///< into the clip
} cutis_reduce_pose;

/// On which unseen poses, and in what, a result is worse than k-largest, by however little: bits.
typedef enum cutis_reduce_worse {
    CUTIS_WORSE_CLIP_NORMALS = 1,
    CUTIS_WORSE_CLIP_POSITIONS = 2,
    CUTIS_WORSE_RANDOM_NORMALS = 4,
    CUTIS_WORSE_RANDOM_POSITIONS = 8,
} cutis_reduce_worse;

/// What a bound came to, over poses that nothing was chosen or accepted by: random ones and frames
/// of clips. Others, unseen too, decided that it is kept. Distances in the model's units, angles in
/// radians.
typedef struct cutis_reduce_bounds {
    uint32_t checked_count, judged_count; ///< poses that counts were found on; unseen ones
    double position, normal;              ///< largest of any vertex in any unseen pose
    double position_99, normal_99;        ///< what 99 % of the vertices never exceed in them
    uint64_t beyond_count;                ///< vertices that are beyond the bound in one of them
} cutis_reduce_bounds;

/// What whole numbers cost. Errors are of the held-out poses, as in rows.
typedef struct cutis_reduce_quantised {
    uint32_t total;
    double rounded_energy, chosen_energy, real_energy; ///< of the form of kept weights (chosen:
                                                       ///< before a bound took some back)
    double rounded_position, rounded_normal, chosen_position, chosen_normal;
} cutis_reduce_quantised;

/// What a reduction did; owns its arrays.
typedef struct cutis_reduce_report {
    uint32_t row_count;
    const cutis_reduce_row *rows; ///< the chosen method, then k-largest (if another), then with
                                  ///< `compare` the rest; one with skip_evaluation
    uint32_t example_count;       ///< without the automatic poses that are added to real ones
    uint32_t held_out_count;
    uint32_t held_out_random_count; ///< of those, the last ones: random poses
    uint32_t learned_count; ///< MOMENTS: frames it learned from, of which the examples are some
    uint32_t learned_random_count; ///< and random poses
    /// Where the result is worse than k-largest on poses not learned from; 0: nowhere, or not
    /// known.
    cutis_reduce_worse worse;
    bool fell_back; ///< to k-largest: nothing found was as good everywhere
    bool narrow;    ///< MOMENTS: vertices chose among 16 influences, to save memory
    bool too_large; ///< MOMENTS did not fit its memory: POISSON ran
    double form_bytes;
    double form_seconds;  ///< MOMENTS: processor time of all threads while poses went into forms
    double form_products; ///< by definition: poses times squared candidates of every weld
    uint32_t automatic_count;          ///< automatic poses among or beside the examples
    const cutis_reduce_pose *poses;    ///< examples, then held out
    const cutis_transform *transforms; ///< node_count per pose
    uint64_t vertex_count;             ///< skinned vertices, seam copies counted once
    uint64_t reduced_count;            ///< of those, vertices that had more influences than allowed
                                       ///< (with a bound: than are kept)
    uint64_t repaired_count;           ///< vertices that had no weight
    cutis_reduce_bounds bounds;        ///< with a bound; judged_count 0: none was asked for
    cutis_reduce_quantised quantised;  ///< with weight_total; total 0: not asked for
    uint32_t joints_before, joints_after; ///< of the skins in use, with `joints`; else 0
    const int32_t *merged; ///< per node: the joint it was merged into, or CUTIS_NONE; NULL: none
    bool few_poses;        ///< 3 * poses < influences + 3: the poses do not determine the weights
} cutis_reduce_report;

CUTIS_API void cutis_reduce_report_destroy(cutis_reduce_report *reduction); ///< NULL is fine

/// A model whose vertices have at most `influences` weights and deform as the original does, as
/// nearly as the method can. Vertices of equal position and weights get equal weights, whatever
/// seams lie between them. Everything else is the same. The result does not depend on the device or
/// its threads.
/// @param device  whose threads work; NULL: the calling one
/// @param report  what was done (destroy it), or NULL
/// @return CUTIS_OK, CUTIS_INVALID_ARGUMENT (no skin, too many influences, no such clip, a vertex
/// without weight), CUTIS_UNSUPPORTED (the bound cannot be kept with so few influences),
///         CUTIS_CANCELLED, CUTIS_OUT_OF_MEMORY
CUTIS_API cutis_result cutis_weights_reduce(const cutis_model *model, cutis_device *device,
                                            const cutis_reduce_options *options, cutis_model **out,
                                            cutis_reduce_report **report);

#ifdef __cplusplus
}
#endif
#endif
