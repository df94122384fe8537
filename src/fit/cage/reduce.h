/// Reduction of cage weights: controls are points that poses put somewhere.
#ifndef CUTIS_FIT_CAGE_REDUCE_H
#define CUTIS_FIT_CAGE_REDUCE_H

#include "fit/cage/shape.h"
#include "fit/handles/model.h"
#include "fit/reduce/problem.h"

/// The public report with the arena its arrays live in.
typedef struct cutis_cage_report_owner {
    cutis_cage_report report;
    cutis_arena arena;
    cutis_reduce_row rows[CUTIS_REDUCE_METHODS];
} cutis_cage_report_owner;

cutis_cage_report_owner *cutis_cage_report_new(cutis_context *context);

/// Weights of the body's vertices: lists of controls.
typedef struct cutis_cage_lists {
    uint32_t *first; ///< vertex_count + 1
    uint32_t *control;
    float *weight;
} cutis_cage_lists;

typedef struct cutis_cage_reduction {
    cutis_context *context;
    cutis_device *device; ///< whose threads work, or NULL
    const cutis_cage *cage;
    const cutis_cage_shape *shape;
    const cutis_handles_body *body;
    const cutis_cage_options *options;
    bool negative;
    cutis_cage_lists lists; ///< in: as they are
} cutis_cage_reduction;

/// The lists with at most options->influences weights each; arrays in `arena`.
cutis_result cutis_cage_reduce_lists(const cutis_cage_reduction *reduction, cutis_arena *arena,
                                     cutis_cage_report_owner *report, cutis_cage_lists *out);

#endif
