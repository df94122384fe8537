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
    const float *positions;     ///< what joints move: where its morph targets rest
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

/// Places of some vertices in all examples, where the examples stay with the caller.
typedef struct cutis_fit_window {
    uint32_t count;   ///< vertices
    size_t room;      ///< of `places`, in places
    float *places;    ///< 3 per example and vertex of the window
    uint32_t *number; ///< per output vertex: which it is in the window, if it is
} cutis_fit_window;

/// Vertices go in groups of tasks; a group is a part that can be learned by itself.
enum { CUTIS_FIT_TASK = 64, CUTIS_FIT_GROUP = 64 };

/// A part that is learned: bytes to come. Only its vertices are looked at.
typedef struct cutis_fit_part {
    uint32_t part;
    unsigned char *bytes;
    size_t size;
} cutis_fit_part;

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
    cutis_fit_window *window;  ///< of examples that are read; NULL: they have positions
    cutis_fit_part *part;      ///< that alone is wanted; NULL: all are
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

/// Where a vertex is in an example: of a window, if it is in it.
static inline const float *cutis_fit_place(const cutis_fit_problem *p, size_t example,
                                           uint32_t vertex)
{
    if (!p->window) return p->examples->positions + 3 * (example * p->vertex_count + vertex);
    const cutis_fit_window *w = p->window;
    return w->places + 3 * (example * w->count + w->number[vertex]);
}

/// Examples that are read: checked once.
cutis_result cutis_fit_window_open(cutis_fit_problem *problem);
/// Put vertices, ascending, into the window; nothing where examples have positions.
cutis_result cutis_fit_window_load(cutis_fit_problem *problem, const uint32_t *vertices,
                                   uint32_t count);
/// The same for [first, first + count).
cutis_result cutis_fit_window_range(cutis_fit_problem *problem, uint32_t first, uint32_t count);

/// Parts (parts.c): the results of a group, `count` vertices from `vertex` on, into the bytes of
/// the part that is learned, or from those of options.
cutis_result cutis_fit_part_put(cutis_fit_problem *problem, uint32_t vertex, uint32_t count,
                                const cutis_fit_sums *sums, const double *errors);
cutis_result cutis_fit_part_take(cutis_fit_problem *problem, uint32_t part, uint32_t vertex,
                                 uint32_t count, uint32_t joint_count, cutis_fit_sums *sums,
                                 double *errors);

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
