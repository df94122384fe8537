/// A driver from samples: which joints a helper follows, and the quadratic of their inputs that
/// fits it best (docs/spec/bake.md 8).
///
/// Invariant: what comes out depends on the samples alone; sums run over frames in ascending order.
#ifndef CUTIS_FIT_BAKE_REGRESS_H
#define CUTIS_FIT_BAKE_REGRESS_H

#include <cutis/model.h>

#include "base/memory.h"

enum { CUTIS_REGRESS_TERMS = 152, CUTIS_REGRESS_FOLDS = 5 };

typedef struct cutis_regress_samples {
    uint32_t frame_count;
    const double *inputs;  ///< [joint][4][frame_count]
    const double *targets; ///< [frame_count][6]: rotation vector, shift
    const uint8_t *fold;   ///< per frame, < CUTIS_REGRESS_FOLDS: left out together
    double lever;          ///< what a radian is worth, a length
    uint32_t candidate_count;
    const uint32_t *candidates; ///< joints that may be chosen
} cutis_regress_samples;

typedef struct cutis_regress_fit {
    uint32_t input_count, inputs[CUTIS_DRIVER_INPUTS]; ///< joints
    float coefficients[6 * CUTIS_REGRESS_TERMS];
    uint32_t used; ///< a bit for each of 4 inputs a joint: terms of the others are zero
    double ridge;
    double error; ///< squared, of frames that are left out
} cutis_regress_fit;

/// Terms of so many inputs.
static inline uint32_t cutis_regress_count(uint32_t n)
{
    return n + n * (n + 1) / 2;
}

/// How many inputs are read.
static inline uint32_t cutis_regress_inputs(const cutis_regress_fit *fit)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < 4 * fit->input_count; i++) count += fit->used >> i & 1;
    return count;
}

/// Which of the terms of n inputs are of inputs that are read (a bit each). @return how many
uint32_t cutis_regress_kept(uint32_t used, uint32_t n, uint8_t *terms);

/// Terms of n inputs. @return how many
uint32_t cutis_regress_terms(const double *inputs, uint32_t n, double *terms);

/// Memory of one fit at a time: doubles.
size_t cutis_regress_scratch(void);

/// Choose the joints (or keep those of `out`, if `chosen`), then the ridge and the coefficients.
void cutis_regress(const cutis_regress_samples *samples, bool chosen, double *scratch,
                   cutis_regress_fit *out);

/// Rotation vector and shift for some inputs: 4 per joint of the fit.
void cutis_regress_evaluate(const cutis_regress_fit *fit, const double *inputs, double *out);

#endif
