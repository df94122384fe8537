/// Reduction of cage weights: controls are points that poses put somewhere.
#ifndef CUTIS_FIT_CAGE_REDUCE_H
#define CUTIS_FIT_CAGE_REDUCE_H

#include "fit/cage/shape.h"
#include "fit/handles/model.h"
#include "fit/reduce/problem.h"

/// Weights of the body's vertices: lists of controls.
typedef struct cutis_cage_lists {
    uint32_t *first; ///< vertex_count + 1
    uint32_t *control;
    float *weight;
} cutis_cage_lists;

/// What binding and reducing work on.
typedef struct cutis_cage_binder {
    const cutis_model *model;
    cutis_context *context;
    cutis_device *device; ///< whose threads work, or NULL
    cutis_cage_options options;
    cutis_arena arena;
    const cutis_cage *cage;
    cutis_cage_shape shape;
    cutis_handles_body body;
    cutis_cage_lists lists;
    cutis_cage_report *report; ///< an owner: its arrays live in its arena
} cutis_cage_binder;

/// The lists with at most options.influences weights each. @param negative they may be
cutis_result cutis_cage_reduce_lists(cutis_cage_binder *binder, bool negative);

#endif
