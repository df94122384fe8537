/// What the kernels of reduction by moments take (docs/spec/reduction.md 2.8).
#ifndef CUTIS_KERNEL_MOMENTS_ARGUMENTS_H
#define CUTIS_KERNEL_MOMENTS_ARGUMENTS_H

/// Poses of a block: number l of block b of an array stands at MOMENTS_BLOCK * b + l.
#define MOMENTS_BLOCK 8
/// Blocks whose products are summed before they are added to a form.
#define MOMENTS_CHUNK 16
/// Blocks that a CPU does together.
#define MOMENTS_TOGETHER 2
/// Rows of a tile of products on a GPU.
#define MOMENTS_SIDE 4

/// positions: 3 a unit; first: of its original influences; control, weight: theirs; keep: 1 where
/// an influence has a row; moved: weights of the surface that errors are about or of; matrices: 12
/// per control and block of poses; pose_scales: per pose, 0 where a block is filled up.
#define MOMENTS_SKIN_BUFFERS(IN, OUT)                                                              \
    IN(double, positions)                                                                          \
    IN(int, first)                                                                                 \
    IN(int, control)                                                                               \
    IN(double, weight) IN(int, keep) IN(double, moved) IN(double, matrices) IN(double, pose_scales)
/// Units, clump after clump (listed_unit), and the first row of each among all (unit_slot); faces
/// of clumps, three places in listed_unit each.
#define MOMENTS_UNIT_BUFFERS(IN, OUT)                                                              \
    MOMENTS_SKIN_BUFFERS(IN, OUT)                                                                  \
    IN(int, listed_unit) IN(int, unit_slot)
/// Of a weld: faces (weld_face, fan), units that turn its normal (weld_rim, rim: places in
/// listed_unit), the edges that their errors are multiplied with (rim_edge, edge: to, from), its
/// first row among all (row_first), the root of its number of vertices.
#define MOMENTS_WELD_BUFFERS(IN, OUT)                                                              \
    IN(int, weld_face)                                                                             \
    IN(int, fan)                                                                                   \
    IN(int, weld_rim) IN(int, rim) IN(int, rim_edge) IN(int, edge) IN(double, copies)

STRUCT(moments_sizes)
{
    int block_first, blocks, blocks_all; // of poses
    int item;                            // clump, weld or unit that the first item is
    int task;                            // items that share a scratch, on a CPU
    int bent;   // about the surface that `moved` makes, else about the original one
    int second; // where `moved` takes units is needed
    int places; // positions are wanted too
    int unit_base, slot_base, face_base, row_base; // the first of the launch, on a GPU
    int units, slots, faces, rows;                 // of a clump at most, on a GPU of the launch
    int kept;                                      // blocks that units and faces are kept of
    int stride, place_stride;                      // from one row to the next
    double floor;                                  // of the scale of normals
};
/// From one row to the next, in doubles: two vectors more than a row has, so that rows do not stand
/// a power of two apart, where a cache would have few places for them all.
#define MOMENTS_STRIDE(blocks) ((2 * (blocks) + 2) * MOMENTS_BLOCK)
/// Doubles for places of units (twice), images and faces (twice), of `blocks` blocks.
#define MOMENTS_KEPT(units, slots, faces, blocks)                                                  \
    ((6 * (units) + 3 * (slots) + 8 * (faces)) * MOMENTS_BLOCK * (blocks))

/// CPU: the form of a clump's welds: gram: from gram_first on, the lower triangle of a weld's rows,
/// added to; where sizes.places is set, also that of the positions of its own free units
/// (listed_place: their numbers, -1 where another clump has it): place, from place_first on.
#define MOMENTS_GRAM_BUFFERS(IN, OUT)                                                              \
    MOMENTS_UNIT_BUFFERS(IN, OUT)                                                                  \
    IN(int, clump_weld)                                                                            \
    IN(int, clump_unit)                                                                            \
    IN(int, clump_face)                                                                            \
    IN(int, face)                                                                                  \
    MOMENTS_WELD_BUFFERS(IN, OUT)                                                                  \
    IN(int, row_first)                                                                             \
    IN(int, listed_place)                                                                          \
    IN(INDEX, gram_first)                                                                          \
    IN(INDEX, place_first) OUT(double, scratch) OUT(double, gram) OUT(double, place)
KERNEL_TAKES(moments_gram, moments_sizes sizes)

/// GPU: the same in steps, for a batch of clumps and blocks of poses: units and their images, faces
/// (scratch), rows of welds, rows of positions (rows). An item is a place in a block of one of
/// them.
#define MOMENTS_UNITS_BUFFERS(IN, OUT) MOMENTS_UNIT_BUFFERS(IN, OUT) OUT(double, scratch)
#define MOMENTS_FACES_BUFFERS(IN, OUT) IN(int, face) OUT(double, scratch)
#define MOMENTS_ROWS_BUFFERS(IN, OUT)                                                              \
    MOMENTS_WELD_BUFFERS(IN, OUT)                                                                  \
    IN(int, unit_slot)                                                                             \
    IN(int, row_first) IN(double, pose_scales) OUT(double, scratch) OUT(double, rows)
#define MOMENTS_PLACES_BUFFERS(IN, OUT)                                                            \
    IN(int, unit_slot)                                                                             \
    IN(int, listed_place) IN(double, pose_scales) OUT(double, scratch) OUT(double, rows)
KERNEL_TAKES(moments_units, moments_sizes sizes)
KERNEL_TAKES(moments_faces, moments_sizes sizes)
KERNEL_TAKES(moments_rows, moments_sizes sizes)
KERNEL_TAKES(moments_places, moments_sizes sizes)
/// Products of a tile of rows (tile: the form's first row, its number of rows, the tile's first row
/// and column) at a place in a block; part: of every product and place. Then their sums: to gram,
/// from tile_first on, which is where the form begins. tile_begin: the launch's first tile.
#define MOMENTS_TILES_BUFFERS(IN, OUT) IN(double, rows) IN(int, tile) OUT(double, part)
#define MOMENTS_SUMS_BUFFERS(IN, OUT)                                                              \
    IN(int, tile) IN(INDEX, tile_first) IN(double, part) OUT(double, gram)
KERNEL_TAKES(moments_tiles, int tile_begin; int stride; int length)
KERNEL_TAKES(moments_sums, int tile_begin)

#endif
