/// The influences of one vertex in their clean form: merged, without zeros, ascending by joint.
/// What summaries, checks and edits of weights all start from.
#ifndef CUTIS_FIT_WEIGHTS_VERTEX_H
#define CUTIS_FIT_WEIGHTS_VERTEX_H

#include <cutis/model.h>

typedef struct cutis_influence {
    uint32_t joint;
    double weight; ///< > 0
} cutis_influence;

/// Influences of the longest vertex of a model: what a list needs space for.
size_t cutis_vertex_longest(const cutis_model *model);

/// Fill a list with the clean influences of a vertex; @return how many. Weights keep their scale.
uint32_t cutis_vertex_gather(const cutis_influences *influences, uint32_t vertex,
                             cutis_influence *list);

/// Divide by the sum, which is taken in ascending order.
void cutis_vertex_normalise(cutis_influence *list, uint32_t count);

#endif
