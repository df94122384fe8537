/// Pairs of a surface's triangles whose boxes meet.
#ifndef CUTIS_MEASURE_PAIRS_H
#define CUTIS_MEASURE_PAIRS_H

#include <cutis/measure.h>

typedef struct cutis_triangle_pairs {
    cutis_context *context;
    const cutis_surface *surface;
    bool (*visit)(void *user, uint32_t a, uint32_t b); ///< false: out of memory
    void *user;
    uint64_t flat_count; ///< out: triangles without area or not finite, left out
} cutis_triangle_pairs;

/// Always in the same order. @return CUTIS_OK, CUTIS_CANCELLED, CUTIS_OUT_OF_MEMORY
cutis_result cutis_triangle_pairs_visit(cutis_triangle_pairs *pairs);

#endif
