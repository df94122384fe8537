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
    double error; ///< squared, of frames that are left out
} cutis_regress_fit;

/// Memory of one fit at a time: doubles.
size_t cutis_regress_scratch(void);

/// Choose the joints (or keep those of `out`, if `chosen`), then the ridge and the coefficients.
void cutis_regress(const cutis_regress_samples *samples, bool chosen, double *scratch,
                   cutis_regress_fit *out);

/// Rotation vector and shift for some inputs: 4 per joint of the fit.
void cutis_regress_evaluate(const cutis_regress_fit *fit, const double *inputs, double *out);

#endif
