// Weight reduction as C, eight vertices side by side, compiled for every width of vectors
// (room.cmake). Nothing is contracted or reordered, so all widths give the same bits.
#include "device/compute/reduce.h"

#define KERNEL_DOUBLE
#define KERNEL_LANES      8
#define REDUCE_SET        CUTIS_REDUCE_SET
#define REDUCE_CANDIDATES CUTIS_REDUCE_CANDIDATES
#define REDUCE_LIST       CUTIS_REDUCE_SET
#include "kernel/reduce_tilts.h"

_Static_assert(KERNEL_LANES == REDUCE_BLOCK, "an item is a block");

#define WIDE(kernel, BUFFERS, text, items, group, team)                                            \
    void CUTIS_COMPUTE_FUNCTION(NAME(kernel), kernel, BUFFERS)
CUTIS_REDUCE_KERNELS(WIDE)
