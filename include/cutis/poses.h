/// Pose space: example poses in, weights and displacements out. An artist's shapes for some poses
/// become joint weights learned from them and morph targets that linear blending adds in the rest
/// pose; the methods PSD and WPSD (cutis/deform.h) interpolate between them and pass through every
/// example. Formulas: docs/spec/pose-space.md.
///
/// Threads: several may fit at once, the same model too; one device for several: see
/// cutis/device.h.
#ifndef CUTIS_POSES_H
#define CUTIS_POSES_H

#include <cutis/device.h>
#include <cutis/model.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Shapes of a model in some poses. All arrays are borrowed for the call.
typedef struct cutis_pose_examples {
    uint32_t count;
    const cutis_transform *poses; ///< count * node_count local transforms
    const float *positions;   ///< count * cutis_model_vertex_count * 3, world space, in the model's
                              ///< output order
    const char *const *names; ///< count, or NULL: "pose 1", ...; names of the morph targets
} cutis_pose_examples;

#define CUTIS_PRIOR_AUTO (-1.0)

/// The zero value: keep the model's weights; exponential kernel, geodesic distance.
typedef struct cutis_pose_fit_options {
    bool learn_weights; ///< weights from the examples; the model's own are replaced and need not be
                        ///< there
    bool weights_only;  ///< no displacements, no pose space; needs learn_weights
    struct {
        bool normalise; ///< learn as the 2006 paper: sum to one afterwards, not inside the problem
    } paper;
    uint32_t influences; ///< learned weights per vertex, 1 .. 64; 0 = 4
    double
        prior; ///< how strongly they are drawn to the model's own: what a change in a random pose
               ///< counts of one in an example. 0 not, CUTIS_PRIOR_AUTO as does best on examples
               ///< that are left out, by what is played, which may be to keep the model's own
    bool own_joints; ///< only joints that a vertex has weight on already: poses of another kind
                     ///< than the examples' are then safe
    uint32_t keep_joint_count;
    const uint32_t *keep_joints;  ///< nodes of joints whose weights stay as the model has them
    const uint8_t *keep_vertices; ///< per output vertex: not 0 = its weights stay; NULL: none do
    bool after; ///< displacements after skinning, turned by the vertex's blended rotation: reaches
                ///< shapes where blending collapses. Needs joints that scale evenly; WPSD plays
                ///< it on the CPU only, PSD everywhere
    uint32_t principal_poses; ///< keep this many principal fields in place of a displacement per
                              ///< pose (at most 257 poses); 0, or more than there are: all
    cutis_pose_kernel kernel;
    cutis_pose_distance distance;
    float sigma; ///< 0: the kernel's own rule
    /// With weights_only, in place of the examples' positions, for more than fit into memory: those
    /// of vertices [first, first + count) in an example. Called from the thread that fits, several
    /// times for each vertex, each time with the same positions. An error ends the call with it.
    cutis_result (*read)(void *user, uint32_t example, uint32_t first, uint32_t count,
                         float *positions);
    void *user;
    /// With weights_only: what cutis_pose_learner_learn made of all parts, in their order, with the
    /// same model, examples and options. They are put together, and nothing is learned again.
    uint32_t part_count;
    const void *const *parts; ///< part_count
    const size_t *part_sizes; ///< part_count: bytes
} cutis_pose_fit_options;

/// Two examples of one pose, or nearly so, that ask for different shapes.
typedef struct cutis_pose_contradiction {
    uint32_t first,
        second;      ///< examples; first UINT32_MAX: the rest pose, whose shape is the rest shape
    double radians;  ///< how far apart their poses are
    double off;      ///< farthest apart a vertex's displacements are, metres in rest space
    uint32_t vertex; ///< which
    uint64_t vertex_count; ///< that are more than 1e-3 of the diagonal apart
} cutis_pose_contradiction;

#define CUTIS_CONTRADICTIONS 64 ///< most that a report lists

/// RMS distances to the shapes of examples that were left out: weights learned and poses
/// interpolated without them, as a fit without them would do, over some vertices. Each in turn; of
/// more than 32 as many stretches (8 of more than 128 poses).
typedef struct cutis_pose_left_out {
    uint32_t group_count;  ///< left out in turn; 0: there is one example only, and nothing below
    uint32_t vertex_count; ///< looked at, evenly taken
    const double *ssd, *psd, *wpsd;    ///< per example; psd and wpsd NULL: no displacements
    double ssd_rms, psd_rms, wpsd_rms; ///< over all examples
} cutis_pose_left_out;

/// What a fit did. Owned by whoever got it; cutis_pose_fit_report_destroy.
typedef struct cutis_pose_fit_report {
    uint32_t example_count;
    uint32_t pose_count;     ///< distinct poses, rest included
    const uint32_t *same_as; ///< per example: the first one of its pose, itself if it is that;
                             ///< UINT32_MAX: the rest pose
    double prior; ///< that weights were learned with; INFINITY: the model's own stay, for others
                  ///< were no better than chance would have it
    /// RMS in examples that were left out to choose that (each in turn; of more than eight a
    /// stretch of them), over some vertices, of linear blending or, where displacements are stored,
    /// of PSD and WPSD together: with the model's own weights (0: it has none), learned plainly,
    /// and as they were learned. 0 where none are learned.
    double left_out_own, left_out_plain, left_out_rms;
    cutis_pose_left_out one_out;
    uint32_t
        contradiction_count; ///< pairs of examples; so many, or CUTIS_CONTRADICTIONS, are listed
    const cutis_pose_contradiction *contradictions;
    uint32_t merged_count; ///< examples whose pose is another's, or the rest pose
    bool root_counts; ///< some examples differ in the root joint alone, so its rotation counts too
    uint64_t vertex_count; ///< skinned
    double diagonal;       ///< of the rest shape's box, metres
    const double *before;  ///< per example: RMS distance of the model's own skinning to the shape;
                           ///< NULL: it had no weights
    const double *after;   ///< per example: the same with the final weights, without displacements
    double before_rms, after_rms; ///< over all examples
    double discarded_mean,
        discarded_max;        ///< weight the unlimited solution had on joints that were not kept
    uint64_t deficient_count; ///< vertices whose weights the examples do not determine: nearness to
                              ///< the bones decided
    uint64_t damped_count;    ///< vertices where blending is singular in some example, so it is not
                              ///< reproduced exactly
    uint64_t ambiguous_count; ///< vertices whose examples differ in joints without weight on them:
                              ///< WPSD interpolates what differs as PSD does
    uint32_t still_joint_count;   ///< joints that no example moves
    const uint32_t *still_joints; ///< their nodes
    double sigma, condition;      ///< of PSD's kernel: radians, and condition of its matrix
    double displacement_max;      ///< longest, metres in rest space
    uint32_t field_count;         ///< morph targets: principal fields, or one per pose beside rest
    double energy;                ///< part of the displacements' squares that the fields keep
    double compression_max;       ///< farthest a displacement is from its fields' sum, metres
    uint64_t paper_bytes;         ///< of the 2006 paper's textures for this model (its table 2)
    uint64_t psd_bytes, wpsd_bytes; ///< of ours: rest shape, weights, fields
} cutis_pose_fit_report;

CUTIS_API void cutis_pose_fit_report_destroy(cutis_pose_fit_report *fit); ///< NULL is fine

/// Which vertex of a sculpt each vertex of a model is: a glTF splits vertices at seams, a sculpt
/// does not. In order where counts agree and nothing speaks against it; else by rest position, or,
/// without one of the sculpt, in the order in which the model's places are first seen.
/// @param rest       3 * vertex_count: the model's vertices at rest, world space
/// @param shape_rest 3 * shape_count: the sculpt's in the same pose, or NULL
/// @param map        vertex_count: for each its vertex of the sculpt
/// @return CUTIS_OK, CUTIS_INVALID_ARGUMENT (they do not match; the error has the numbers),
///         CUTIS_OUT_OF_MEMORY
CUTIS_API cutis_result cutis_poses_match(cutis_context *context, uint32_t vertex_count,
                                         const float *rest, uint32_t shape_count,
                                         const float *shape_rest, uint32_t *map);

/// Learn weights, pull the shapes back to the rest pose with them, and store what is left as morph
/// targets and pose space. The rest pose is always one of the poses, without displacement; examples
/// of equal poses become one with the mean of their displacements. Meshes without a skin stay as
/// they are. The result does not depend on the device or its threads.
/// @param device  whose threads work; NULL: the calling one
/// @param report  what was done (destroy it), or NULL
/// @return CUTIS_OK, CUTIS_INVALID_ARGUMENT (no skin, no weights, numbers that are not finite,
/// fewer than two distinct
///         poses), CUTIS_UNSUPPORTED (a mesh with morph targets, or shown twice), CUTIS_CANCELLED,
///         CUTIS_OUT_OF_MEMORY
CUTIS_API cutis_result cutis_poses_fit(const cutis_model *model, cutis_device *device,
                                       const cutis_pose_examples *examples,
                                       const cutis_pose_fit_options *options, cutis_model **out,
                                       cutis_pose_fit_report **report);

/// Parts of a fit with weights_only that can be learned by themselves, by other processes too: some
/// thousand vertices each. They depend on the model alone. @return how many; 0: NULL, or no skin
CUTIS_API uint32_t cutis_poses_part_count(const cutis_model *model);

/// What learns parts: a fit up to where its vertices begin.
typedef struct cutis_pose_learner cutis_pose_learner;

/// Check everything, and choose how weights are learned (options.prior): once for all parts.
/// @param examples, options as of cutis_poses_fit; what they point to, model and device stay until
/// the learner is destroyed
/// @return as cutis_poses_fit, and CUTIS_INVALID_ARGUMENT (not weights_only)
CUTIS_API cutis_result cutis_pose_learner_create(const cutis_model *model, cutis_device *device,
                                                 const cutis_pose_examples *examples,
                                                 const cutis_pose_fit_options *options,
                                                 cutis_pose_learner **out);
CUTIS_API void cutis_pose_learner_destroy(cutis_pose_learner *learner); ///< NULL is fine

/// Learn one part: its vertices' weights, and their share in each sum of the report. A fit with all
/// parts (cutis_pose_fit_options) has the bits of one that learns them itself. A learner is for one
/// thread at a time.
/// @param part  below cutis_poses_part_count
/// @param bytes in this machine's order; released by cutis_memory_free with their size
/// @return CUTIS_OK, CUTIS_INVALID_ARGUMENT (no such part), what `read` said, CUTIS_CANCELLED,
///         CUTIS_OUT_OF_MEMORY
CUTIS_API cutis_result cutis_pose_learner_learn(cutis_pose_learner *learner, uint32_t part,
                                                void **bytes, size_t *size);

#ifdef __cplusplus
}
#endif
#endif
