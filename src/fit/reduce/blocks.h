/// What kernels of weight reduction work on: vertices of one colour and one size, eight to a block,
/// one a lane (kernel/reduce.h). Blocks lie in the order in which they are swept, so memory is read
/// straight on.
#ifndef CUTIS_FIT_REDUCE_BLOCKS_H
#define CUTIS_FIT_REDUCE_BLOCKS_H

#include "fit/reduce/problem.h"

typedef struct cutis_reduce_blocks {
    uint32_t count;
    uint32_t colour_count, *colour_first; ///< colour_count + 1, into the blocks
    uint32_t *vertex;                     ///< per lane; UINT32_MAX: none. The first lane has one
    uint32_t *size;                       ///< per block: of its vertices
    uint32_t *slot_first;                 ///< per block + 1: sums of the sizes
    uint32_t *kept_first; ///< per block + 1: sums of what is kept, in entries of a block
} cutis_reduce_blocks;

/// Which vertex stands where. @param colours NULL: one, of all vertices
/// @param first vertex_count + 1: the size of vertex v is first[v + 1] - first[v], CUTIS_REDUCE_SET
/// at most
bool cutis_reduce_blocks_create(const cutis_reduce_problem *problem,
                                const cutis_reduce_colours *colours, const uint32_t *first,
                                cutis_arena *arena, cutis_reduce_blocks *out);

#endif
