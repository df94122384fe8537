// The relaxation of cage.h, compiled for every width of vectors (room.cmake): loops over the lanes
// of a node, which the compiler turns into vectors. Nothing is contracted or reordered, so all
// widths give the same bits.
#include "device/compute/cage.h"

#include "kernel/cage.h"

void CUTIS_COMPUTE_FUNCTION(
    NAME(cage_relax), cage_relax,
    CAGE_RELAX_BUFFERS) void CUTIS_COMPUTE_FUNCTION(NAME(cage_relax_residual), cage_relax_residual,
                                                    CAGE_RELAX_RESIDUAL_BUFFERS)
