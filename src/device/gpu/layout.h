/// A bound character as the GPU schedule wants it: one array of words, and where everything is in
/// it.
#ifndef CUTIS_DEVICE_GPU_LAYOUT_H
#define CUTIS_DEVICE_GPU_LAYOUT_H

#include <base/memory.h>
#include <device/device.h>
#include <kernel/arguments_gpu.h>

/// Vertices of the blocks that one group of work items walks, at most; they share the palettes in
/// shared memory.
#define CUTIS_GPU_CHUNK_SLOTS 1024u
/// Bones of a chunk, at most (unless one block alone has more).
#define CUTIS_GPU_CHUNK_BONES 64u

typedef enum cutis_gpu_order {
    CUTIS_GPU_ORDER_CHOOSE,
    CUTIS_GPU_ORDER_OUTPUT, ///< blocks of consecutive output vertices: longer bone lists, unbroken
                            ///< writes
    CUTIS_GPU_ORDER_FOURS,  ///< output order with its fours regrouped (regroup.h): shorter lists,
                            ///< writes of whole sectors
    CUTIS_GPU_ORDER_BOUND,  ///< the layout's own blocks, sorted by bone set: short lists, scattered
                            ///< writes
} cutis_gpu_order;

typedef struct cutis_gpu_layout {
    uint32_t *words;
    size_t word_count;
    skin_arguments arguments; ///< layout fields and counts; the rest is zero
    uint32_t near_max;        ///< bones of the largest chunk
    uint64_t list_length;     ///< of all blocks
    bool fours;               ///< blocks are of fours of consecutive vertices, regrouped
} cutis_gpu_layout;

/// What bone lists of blocks would be like in the order that is chosen.
typedef struct cutis_gpu_lists {
    bool fours;     ///< vertices are regrouped
    bool few_long;  ///< nearly all are short enough to stay in registers
    bool some_long; ///< most are
} cutis_gpu_lists;

cutis_result cutis_gpu_lists_look(cutis_arena *arena, const cutis_skin_layout *layout,
                                  cutis_gpu_order order, uint32_t block_size, cutis_gpu_lists *out);

/// Pack a layout. `out->words` lies in the arena. The layout is only read.
/// @param near lists hold places among the chunk's bones (palettes in shared memory), else bones
/// @param block_size vertices of a block: 32, or 64 where a work item does two
cutis_result cutis_gpu_layout_make(cutis_arena *arena, const cutis_skin_layout *layout,
                                   cutis_gpu_order order, bool near, uint32_t block_size,
                                   cutis_gpu_layout *out);

#endif
