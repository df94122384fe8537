/// What the parts of a fit from examples share: the problem gathered from model and examples, and
/// the vertices' results.
#ifndef CUTIS_FIT_EXAMPLES_FIT_H
#define CUTIS_FIT_EXAMPLES_FIT_H

#include <cutis/poses.h>

#include "fit/poses/weights.h"
#include "model/pose_space.h"

/// A skinned primitive and where its vertices are in the outputs.
typedef struct cutis_fit_span {
    const cutis_primitive *primitive;
    uint32_t mesh, index, skin; ///< index: of the primitive in its mesh
    uint32_t vertex_first;
} cutis_fit_span;

/// Joints of a skin as the fit sees them.
typedef struct cutis_fit_skin {
    bool used;
    double *palettes;        ///< 12 per example and joint
    double *random;          ///< the same of CUTIS_FIT_RANDOM random poses; NULL: none are needed
    double *segments;        ///< 6 per segment: ends of the bones in mesh space
    uint32_t *segment_first; ///< joint_count + 1
    uint8_t *kept;           ///< per joint: its weights stay; NULL: none do
} cutis_fit_skin;

/// Sums of one task; added up in the order of the tasks.
typedef struct cutis_fit_sums {
    uint64_t deficient, damped;
    double discarded, discarded_max, longest;
} cutis_fit_sums;

typedef struct cutis_fit_problem {
    const cutis_model *model;
    const cutis_model_data *data;
    cutis_context *context;
    cutis_device *device;
    const cutis_pose_examples *examples;
    cutis_pose_fit_options options;
    cutis_arena *arena;
    uint32_t vertex_count, span_count;
    cutis_fit_span *spans;
    cutis_fit_skin *skins;
    uint8_t *uniform; ///< per example: all joints rotate and scale uniformly
    double diagonal;
    bool locks;          ///< some weights stay as they are
    const uint32_t *use; ///< use_count examples that are learned from; NULL: all
    uint32_t use_count;
    double left_out[3]; ///< RMS in examples left out: own weights, learned plainly, and as chosen
    double *one_out[3]; ///< per example: RMS when it is left out; linear blending, PSD, WPSD
    uint32_t one_out_groups;   ///< that were left out in turn; 0: none
    uint32_t one_out_vertices; ///< looked at
    bool learned;              ///< the span at hand has its weights already, from a device
    float *example_normals;    ///< 3 per example and output vertex, or NULL
    float *rest_normals;       ///< 3 per output vertex

    // Results, per output vertex.
    uint32_t slots;                              ///< most influences
    uint32_t *counts;                            ///< influences of the vertex
    uint32_t *joints;                            ///< slots each: joints of the skin
    float *weights;                              ///< slots each
    float *displacements, *normal_displacements; ///< 3 per example and output vertex, or NULL
    double *before, *after;                      ///< per example: sums of squares
    cutis_fit_sums sums;
} cutis_fit_problem;

#define CUTIS_FIT_RANDOM 24 ///< poses in which learned weights are held to the model's own

/// Palettes of random poses, where weights are learned; after the gathering.
cutis_result cutis_fit_random(cutis_fit_problem *problem);

/// Check model, examples and options; spans, palettes, bones.
cutis_result cutis_fit_gather(cutis_fit_problem *problem);

/// Check what is locked and mark it, after the gathering of spans.
cutis_result cutis_fit_lock(cutis_fit_problem *problem);

/// Learn the weights of vertex v of a span. @param joint CUTIS_NNLS_MAX: candidates
/// @param scratch 3 doubles per example, then cutis_example_scratch; @return false: they stay
bool cutis_fit_learn(const cutis_fit_problem *problem, const cutis_fit_span *span, uint32_t v,
                     double *scratch, uint32_t *joint, cutis_example_weights *found);

/// What comes before and after the solving: candidates, their priors (CUTIS_NNLS_MAX each), where
/// they have to take the vertex (3 per example) and how many weights are wanted. @return
/// candidates; 0: its weights stay
uint32_t cutis_fit_learn_begin(const cutis_fit_problem *problem, const cutis_fit_span *span,
                               uint32_t v, uint32_t *joint, double *prior, double *places,
                               uint32_t *influences);
void cutis_fit_learn_end(cutis_fit_problem *problem, const cutis_fit_span *span, uint32_t v,
                         const uint32_t *joint, const cutis_example_weights *found,
                         cutis_fit_sums *sums);

/// Weights found and those of locked joints, ascending by joint. @param joints, weights
/// CUTIS_LEARN_LIST at most; @return how many
#define CUTIS_LEARN_LIST (2 * CUTIS_NNLS_MAX)
uint32_t cutis_fit_learn_list(const cutis_fit_problem *problem, const cutis_fit_span *span,
                              uint32_t v, const uint32_t *joint, const cutis_example_weights *found,
                              uint32_t *joints, float *weights);

/// All vertices of a span on the problem's device, with the bits of cutis_fit_learn.
/// @param done false: the device cannot, nothing has changed
cutis_result cutis_fit_learn_on_device(cutis_fit_problem *problem, const cutis_fit_span *span,
                                       bool *done);

/// Sums of tasks, in their order, to the problem's.
void cutis_fit_add_sums(cutis_fit_problem *problem, const cutis_fit_sums *sums, uint32_t tasks);

/// Room for the vertices' weights; the model's own are in it where they stay or are locked.
/// @param weighted does every vertex have weights of its own?
cutis_result cutis_fit_own_weights(cutis_fit_problem *problem, bool *weighted);

/// Weights and displacements of all vertices.
cutis_result cutis_fit_vertices(cutis_fit_problem *problem);

/// Blend the palettes of one example. @return what |L| / sqrt 3 would be without any turning
double cutis_fit_blend(const double *palette, uint32_t count, const uint32_t *joints,
                       const float *weights, double *out);

/// Distinct poses, what tells them apart, displacements per pose.
typedef struct cutis_fit_poses {
    cutis_pose_space space;
    uint32_t *pose_of; ///< per example; 0 is the rest pose
    uint32_t *example; ///< per pose: its first example; not for 0
    bool root_counts;
    uint32_t still_count;
    uint32_t *still;              ///< nodes of joints that no example moves
    float **positions, **normals; ///< per pose - 1: 3 per output vertex; normals or NULL
    uint64_t ambiguous;
    uint32_t contradiction_count;             ///< pairs
    cutis_pose_contradiction *contradictions; ///< the first CUTIS_CONTRADICTIONS of them
    double sigma, condition;
    double energy, compression_max; ///< of principal poses; 1 and 0 without
} cutis_fit_poses;

#define CUTIS_PRINCIPAL_MAX 256 ///< most columns: the matrix is made diagonal by single rotations

/// Orthonormal directions in which columns differ most: eigenvectors of X^T X, the largest first.
/// With F = X V, X = F V^T; the first m columns of both leave an error whose square is the sum of
/// the other eigenvalues.
/// @param columns count arrays of `rows` floats; @param count 1 .. CUTIS_PRINCIPAL_MAX
/// @param vectors count * count: entry k of direction m at [k * count + m]
/// @param squares count: eigenvalues, the squares of the singular values, descending
/// @param scratch count * count doubles
void cutis_principal_basis(uint32_t count, size_t rows, const float *const *columns,
                           double *vectors, double *squares, double *scratch);

/// Principal fields in place of the poses' displacements (docs/spec/pose-space.md 7), where options
/// say so.
cutis_result cutis_fit_compress(cutis_fit_problem *problem, cutis_fit_poses *poses);

cutis_result cutis_fit_poses_create(cutis_fit_problem *problem, cutis_fit_poses *out);

/// Choose options.prior where it is free, and measure left_out, by what is played; where weights
/// are learned. @param poses of the examples; @param weighted every vertex has weights of its own
cutis_result cutis_fit_validate(cutis_fit_problem *problem, const cutis_fit_poses *poses,
                                bool weighted);

/// Measure one_out; after weights, displacements and poses.
cutis_result cutis_fit_left_out(cutis_fit_problem *problem, const cutis_fit_poses *poses);

#endif
