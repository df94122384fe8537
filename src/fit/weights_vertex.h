/// The influences of one vertex in their clean form: merged, without zeros, ascending by joint.
/// What summaries, checks and edits of weights all start from.
#ifndef CUTIS_FIT_WEIGHTS_VERTEX_H
#define CUTIS_FIT_WEIGHTS_VERTEX_H

#include <cutis/model.h>

typedef struct cutis_influence {
    uint32_t joint;
    double weight; ///< > 0
} cutis_influence;

/// A buffer for the longest vertex of a model, so that the loops allocate nothing.
typedef struct cutis_vertex_buffer {
    cutis_context *context;
    size_t capacity;
    cutis_influence *list;
} cutis_vertex_buffer;

/// false: out of memory.
bool cutis_vertex_buffer_create(const cutis_model *model, cutis_vertex_buffer *out);
void cutis_vertex_buffer_destroy(cutis_vertex_buffer *buffer);

/// Fill the buffer with the clean influences of a vertex; @return how many. Weights keep their
/// scale.
uint32_t cutis_vertex_gather(const cutis_influences *influences, uint32_t vertex,
                             cutis_vertex_buffer *buffer);

/// Divide by the sum, which is taken in ascending order.
void cutis_vertex_normalise(cutis_influence *list, uint32_t count);

#endif
