/// What the kernels of reduction by moments take (docs/spec/reduction.md 2.8).
#ifndef CUTIS_KERNEL_MOMENTS_ARGUMENTS_H
#define CUTIS_KERNEL_MOMENTS_ARGUMENTS_H

/// Poses of a block: number l of block b of an array stands at MOMENTS_BLOCK * b + l.
#define MOMENTS_BLOCK 8
/// Items of one task on a CPU, which share its scratch; and of one launch.
#define MOMENTS_TASK  8
#define MOMENTS_BATCH 1024

/// positions: 3 a unit; first: of its original influences; control, weight: theirs; matrices: 12
/// per block of poses and control; pose_scales: per pose, 0 where a block is filled up.
/// slot_first: of a free unit's candidates; slot: of a candidate, its place among the original
/// influences.
#define MOMENTS_SKIN_BUFFERS(IN, OUT)                                                              \
    IN(double, positions)                                                                          \
    IN(int, first)                                                                                 \
    IN(int, control)                                                                               \
    IN(double, weight)                                                                             \
    IN(double, matrices) IN(double, pose_scales) IN(int, slot_first) IN(int, slot)
/// Welds: units of their fans (ring), triangles of them as three places in the ring (fan), the root
/// of the number of vertices. unit_free: the number of a unit among the free ones, or -1. start:
/// weights of candidates.
#define MOMENTS_FAN_BUFFERS(IN, OUT)                                                               \
    MOMENTS_SKIN_BUFFERS(IN, OUT)                                                                  \
    IN(int, ring_first)                                                                            \
    IN(int, ring)                                                                                  \
    IN(int, fan_first) IN(int, fan) IN(double, copies) IN(int, unit_free) IN(double, start)

STRUCT(moments_sizes)
{
    int controls;
    int block_first, blocks; // of poses
    int item;                // weld or free unit that the first item is
    int ring_most, row_most; // of a weld; one row more than candidates
    int bent;                // about the surface that `start` makes, else about the original one
    double floor;            // of the scale of normals
};
/// From one row to the next, in doubles: two vectors more than a row has, so that rows do not stand
/// a power of two apart, where a cache would have few places for them all.
#define MOMENTS_STRIDE(blocks) ((2 * (blocks) + 2) * MOMENTS_BLOCK)
/// Doubles of scratch that a task (on a GPU an item) needs: places and edges of a ring, rows,
/// images.
#define MOMENTS_SCRATCH(rings, rows, blocks)                                                       \
    ((6 * (rings) + 3 * (rows)) * MOMENTS_BLOCK + MOMENTS_STRIDE(blocks) * (rows))

/// The form of a weld: gram: from gram_first on, the lower triangle of its rows, added to.
#define MOMENTS_GRAM_BUFFERS(IN, OUT)                                                              \
    MOMENTS_FAN_BUFFERS(IN, OUT) IN(INDEX, gram_first) OUT(double, scratch) OUT(double, gram)
KERNEL_TAKES(moments_gram, moments_sizes sizes)

/// The energy of a weld under the weights `start`; part: a weld's, of this launch.
#define MOMENTS_ENERGY_BUFFERS(IN, OUT)                                                            \
    MOMENTS_FAN_BUFFERS(IN, OUT) OUT(double, scratch) OUT(double, part)
KERNEL_TAKES(moments_energy, moments_sizes sizes)

/// The form of a free unit's positions: place_first: its n * n entries, added to.
#define MOMENTS_PLACE_BUFFERS(IN, OUT)                                                             \
    MOMENTS_SKIN_BUFFERS(IN, OUT)                                                                  \
    IN(int, free_unit) IN(INDEX, place_first) OUT(double, scratch) OUT(double, place)
KERNEL_TAKES(moments_place, moments_sizes sizes)

#endif
