/// Joint weights of one vertex from its places in example poses (docs/spec/pose-space.md 6), and
/// what linear blending with given weights leaves over (docs/spec/pose-space.md 3).
#ifndef CUTIS_FIT_EXAMPLES_WEIGHTS_H
#define CUTIS_FIT_EXAMPLES_WEIGHTS_H

#include <stdbool.h>
#include <stdint.h>

#define CUTIS_NNLS_MAX 64 ///< most candidate joints of one vertex

/// One vertex: how its candidate joints move it in the examples, and where it should be.
typedef struct cutis_example_vertex {
    uint32_t joint_count; ///< candidates, 1 .. CUTIS_NNLS_MAX
    uint32_t example_count;
    const uint32_t *joint;  ///< per candidate: its place in the palettes
    const double *prior;    ///< per candidate, sum 1: what decides where the examples do not
    const double *palettes; ///< 12 per example and joint: rest to posed
    uint32_t palette_count; ///< joints per example in `palettes`
    double rest[3];
    const double *places;    ///< x y z per example
    const uint32_t *example; ///< their numbers among the palettes; NULL: all, in order
    double pull;             ///< to the prior: what a random pose counts of an example; 0: not
    const double *random;    ///< 12 per random pose and joint
    uint32_t random_count;
} cutis_example_vertex;

typedef struct cutis_example_weights {
    uint32_t count;
    uint32_t candidate[CUTIS_NNLS_MAX]; ///< ascending
    double weight[CUTIS_NNLS_MAX];      ///< > 0, sum 1
    double discarded;                   ///< of the unlimited solution, on joints not kept
    bool deficient;                     ///< the examples leave some direction open
} cutis_example_weights;

/// @param influences most weights that are kept
/// @param normalise  the sum is made one afterwards, not inside the problem
/// @param scratch    cutis_example_scratch doubles
void cutis_example_solve(const cutis_example_vertex *vertex, uint32_t influences, bool normalise,
                         double *scratch, cutis_example_weights *out);
uint64_t cutis_example_scratch(uint32_t joint_count, uint32_t example_count);

/// Its parts: the normal equations of the examples (n^2 and n; for a sum inside the problem h is 0
/// and w^T g w what is left); those of the mean random pose about the prior's places; the solution,
/// which overwrites g. @param columns 3 n per example; @param part n^2 of scratch
void cutis_example_form(const cutis_example_vertex *vertex, bool normalise, double *columns,
                        double *g, double *h);
void cutis_example_random(const cutis_example_vertex *vertex, double *columns, double *g);
void cutis_example_finish(const cutis_example_vertex *vertex, uint32_t influences, bool normalise,
                          double *g, double *h, double *part, cutis_example_weights *out);

/// Displacement in the rest pose that a blended matrix takes to `place`: the inverse of its linear
/// part, damped where that is nearly singular.
/// @param blend 12, row-major [L | t]; @param scale the size of L if it were a rotation
/// @return false if damped: the place is then not reached exactly
bool cutis_example_pull(const double *blend, double scale, const double *rest, const double *place,
                        double *displacement);

/// The rotation that a displacement after skinning is turned by: the normalised sum of the joints'
/// rotations, each with the sign of the first.
/// @param palette 12 per joint, scaled rotations; @param out row-major 3x3
void cutis_example_turn(const double *palette, uint32_t count, const uint32_t *joints,
                        const float *weights, double *out);

/// The same inverse for a direction. @param out unit length, or zero
void cutis_example_pull_normal(const double *blend, bool uniform, double scale,
                               const double *normal, double *out);

#endif
