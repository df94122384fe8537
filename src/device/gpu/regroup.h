/// An order of vertices in which the blocks of a skin have short bone lists, and are still written
/// in whole sectors.
#ifndef CUTIS_DEVICE_GPU_REGROUP_H
#define CUTIS_DEVICE_GPU_REGROUP_H

#include <base/memory.h>
#include <device/device.h>

/// Per slot its vertex: a permutation of all vertices, in the arena. Fours of consecutive vertices
/// (the first a multiple of four) stay together, so that four records of 24 bytes are whole sectors
/// of 32; what is left of the last four stays last. A four moves within its window.
cutis_result cutis_gpu_regroup(cutis_arena *arena, const cutis_skin_layout *layout,
                               uint32_t block_size, const uint32_t **out);

#endif
