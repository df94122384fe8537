// The wide kernels of handle weights, compiled for every width of vectors (room.cmake): loops over
// the lanes of a node, which the compiler turns into vectors. Nothing is contracted or reordered,
// so all widths give the same bits.
#include "device/compute/handles.h"

#include "kernel/handles_grid.h"
#include "kernel/handles_multigrid.h"
#include "kernel/handles_sample.h"
#include "kernel/handles_virtual.h"

#define FUNCTION(kernel, BUFFERS, text, items)                                                     \
    void CUTIS_COMPUTE_FUNCTION(NAME(kernel), kernel, BUFFERS)
HANDLES_WIDE(FUNCTION)
