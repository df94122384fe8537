// The wide kernels of the blending patches, compiled for every width of vectors (room.cmake): loops
// over faces and vertices side by side, which the compiler turns into vectors. Nothing is
// contracted or reordered, so all widths give the same bits.
#include "device/compute/patches.h"

#include "kernel/patches_bent.h"
#include "kernel/patches_swell.h"

#define FUNCTION(kernel, BUFFERS, text, items, group, team, most)                                  \
    void CUTIS_COMPUTE_FUNCTION(NAME(kernel), kernel, BUFFERS)
PATCH_KERNELS_WIDE(FUNCTION)
