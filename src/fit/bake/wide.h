/// The loops of baking that want wide vectors, compiled once for each width (room.cmake). All give
/// the same bits: sums run in the order written, and nothing is contracted.
#ifndef CUTIS_FIT_BAKE_WIDE_H
#define CUTIS_FIT_BAKE_WIDE_H

#include <stddef.h>
#include <stdint.h>

enum {
    CUTIS_BAKE_LEFT = 8,    ///< vectors of a left panel: two bones' columns
    CUTIS_BAKE_RIGHT = 4,   ///< vectors of a right one: columns of a bone, or points
    CUTIS_BAKE_LANES = 8,   ///< frames that are solved side by side; strides are multiples of it
    CUTIS_BAKE_TOGETHER = 4 ///< points that are added to goals in one go
};

/// Second moments of points, xx xy xz x yy yz y zz z 1: symmetric 4 x 4.
enum { CUTIS_BAKE_SQUARE = 10 };

/// Helpers and what holds them, all frames: what the solves of transforms read and write.
typedef struct cutis_bake_motion {
    uint32_t helper_count, joint_count;
    size_t stride;          ///< frames, rounded up to lanes
    const double *joints;   ///< [joint][4][3][stride]
    double *helpers;        ///< [helper][4][3][stride]
    const double *goals;    ///< C_b: [helper][4][3][stride]
    const double *moments;  ///< P_bc: [helper][joint_count + helper_count][10]
    const uint8_t *coupled; ///< [helper][joint_count + helper_count]: P_bc is not zero
    const uint32_t *filled; ///< [helper][helper], b >= c: a block's number in the factor, from 1
                            ///< on; 0: it is zero
    double *damping;        ///< per frame, kept from solve to solve
    double *gain;           ///< per frame: by how much the energy fell
    uint32_t frame_count, step_count;
} cutis_bake_motion;

/// Doubles that a solve of transforms needs. @param blocks that are filled
size_t cutis_bake_scratch(uint32_t helper_count, size_t blocks);

typedef struct cutis_bake_wide {
    /// sums[r][l] += right[k][r] * left[k][l], k ascending.
    void (*products)(const double *left, const double *right, size_t count, double *sums);
    /// out[c] = sum over k of form[k][stride c] * square[k]
    void (*row)(const double *form, const double *square, size_t stride, double *out);
    /// goal[j][r][f] += place[j] * target[r][f] for frames [first, end), of TOGETHER points one
    /// after the other. @param place 4 each; arrays have `stride`
    void (*goal)(double *goal, const double *place, const float *const *target, size_t stride,
                 size_t first, size_t end);
    /// right[k][i] = of[i][k]: floats of four points side by side
    void (*pack)(const float *const *of, size_t count, double *right);
    /// Levenberg-Marquardt on CUTIS_BAKE_LANES frames from `frame` on (docs/spec/bake.md 3).
    void (*solve)(const cutis_bake_motion *motion, uint32_t frame, double *scratch);
} cutis_bake_wide;

extern const cutis_bake_wide cutis_bake_wide_plain;
#if defined(__x86_64__) && !defined(CUTIS_SCALAR_ONLY)
extern const cutis_bake_wide cutis_bake_wide_avx2, cutis_bake_wide_avx512;
#endif

#endif
