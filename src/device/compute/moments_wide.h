// Moments as C, eight poses side by side, compiled for every width of vectors (room.cmake). Nothing
// is contracted or reordered, so all widths give the same bits.
#include "device/compute/moments.h"

#define KERNEL_DOUBLE
#define KERNEL_LANES 8
#include "kernel/moments.h"

_Static_assert(KERNEL_LANES == MOMENTS_BLOCK, "a vector is a block");

#define WIDE(kernel, BUFFERS) void CUTIS_COMPUTE_FUNCTION(NAME(kernel), kernel, BUFFERS)
CUTIS_MOMENTS_KERNELS(WIDE)
