/// Interpolation between example poses by normalised radial functions: distances of poses, the
/// factor that makes the interpolant exact, weights at a pose. What pose space is, at fit and at
/// run time.
///
/// Poses that a set of joint weights cannot tell apart are one pose: they share its weight equally.
#ifndef CUTIS_MATH_POSE_RBF_H
#define CUTIS_MATH_POSE_RBF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum cutis_rbf_distance {
    CUTIS_RBF_GEODESIC, ///< angle of the rotation between the two
    CUTIS_RBF_ROTVEC,   ///< difference of the rotation vectors
    CUTIS_RBF_EULER,    ///< three angles (x, then y, then z), each difference wrapped
} cutis_rbf_distance;

/// Squared distance of two rotations, radians^2. @param a, b unit quaternions, w x y z
double cutis_rbf_angle_square(cutis_rbf_distance distance, const double *a, const double *b);

/// Squared distances joint by joint, between the poses and from queries to them.
typedef struct cutis_pose_table {
    uint32_t pose_count, joint_count;
    const double *squares; ///< pose, pose, joint
    uint32_t query_count; ///< poses the denominator is looked at, for fits whose sign is not proven
    const double *query_squares; ///< query, pose, joint
} cutis_pose_table;

/// How much each joint counts: a list with weights, or all joints with 1.
typedef struct cutis_joint_weights {
    uint32_t count;
    const uint32_t *joint; ///< into the joints of the table; NULL: all, weight 1
    const double *weight;
} cutis_joint_weights;

typedef struct cutis_rbf {
    bool gaussian; ///< exp(-g^2 / 2 sigma^2) in place of exp(-g / sigma)
    uint32_t pose_count;
    uint32_t cluster_count; ///< poses that the weights tell apart
    uint32_t shrink_count;  ///< how often sigma was made smaller
    double sigma;           ///< 0 if there is one cluster only
    double condition;       ///< of the RBF matrix: an estimate from the pivots
    uint32_t *cluster;      ///< per pose: the lowest pose of its cluster
    double
        *matrix;  ///< pose t, pose k: weight of t = sum_k matrix[t][k] phi_k / sum_k sums[k] phi_k
    double *sums; ///< per pose k: column sums of `matrix`
    double near;  ///< in: poses nearer than this are one; 0: the least that doubles tell apart
} cutis_rbf;

/// Doubles of scratch a fit needs.
size_t cutis_rbf_scratch(uint32_t pose_count);

/// @param c       the width: times the largest distance (exponential) or the median of the nearest
///                ones (Gaussian); 0 = 1 and 0.5
/// @param scratch cutis_rbf_scratch doubles
/// @param rbf     `cluster`, `matrix` and `sums` point to pose_count, pose_count^2 and pose_count
///                entries of caller memory; the rest is filled in
void cutis_rbf_fit(const cutis_pose_table *table, const cutis_joint_weights *weights, bool gaussian,
                   double c, double *scratch, cutis_rbf *rbf);

/// phi of all poses at distances g, divided by the largest of them. @param phi may be g
void cutis_rbf_kernel(const cutis_rbf *rbf, const double *g, double *phi);

/// Weights of all poses at distances g; they sum to 1. @param phi pose_count of scratch, may be g
void cutis_rbf_weights(const cutis_rbf *rbf, const double *g, double *phi, double *out);

/// Distance from one row of squares (pose, joint) to each pose.
void cutis_rbf_distances(const cutis_pose_table *table, const cutis_joint_weights *weights,
                         const double *squares, double *g);

#endif
