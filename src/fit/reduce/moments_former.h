/// A form while it is made (moments_form.c), on a CPU device or, in steps, on a GPU
/// (moments_gpu.c).
#ifndef CUTIS_FIT_REDUCE_MOMENTS_FORMER_H
#define CUTIS_FIT_REDUCE_MOMENTS_FORMER_H

#include "fit/reduce/moments.h"

// clang-format off
#define CUTIS_FORMER_FIELD(name) cutis_buffer *name;
#define CUTIS_FORMER_BUFFERS(X)                                                                                 \
    X(positions) X(first) X(control) X(weight) X(keep) X(moved) X(matrices) X(pose_scales)         \
    X(listed_unit) X(unit_slot) X(clump_weld) X(clump_unit) X(clump_face) X(face) X(weld_face)     \
    X(fan) X(weld_rim) X(rim) X(rim_edge) X(edge) X(copies) X(row_first) X(listed_place)          \
    X(place_first) X(scratch) X(gram_first) X(gram) X(place) X(rows) X(part) X(tile) X(tile_first)
// clang-format on

typedef struct cutis_former {
    cutis_moments *m;
    cutis_arena arena;
    const cutis_moments_poses *kinds;
    uint32_t kind_count;
    uint32_t kind_block[CUTIS_MOMENTS_KINDS + 1]; ///< blocks of a kind's poses
    const double *start;
    double *linear; ///< per candidate, of a form about a bent surface; else NULL
    double *matrices, *scales, *scratch, *gram, *place;
    long long *gram_first, *place_first;
    int *keep;                ///< per influence: it has a row
    double *moved;            ///< per influence: `start`, or what a unit has that is not free
    int *base;                ///< per free unit: the candidate without a row, or NONE
    double *ratio;            ///< per candidate: its part in that row, with the sign changed
    uint32_t *row_slot;       ///< from slot_first on: the candidates of the rows there are
    int *unit_slot;           ///< per listed unit, and 1: rows before its own
    int *row_first, *rim_row; ///< per weld, and 1; per rim, of its weld
    uint32_t clump, clump_end, clump_most; ///< the batch; of one at most
    uint32_t *taker, taker_count; ///< free units in a fan of the batch, in the order of welds
    uint32_t *taken;              ///< per free unit: the last batch that had it, and 1
    double *part_energy;          ///< per free unit
    double *value;                ///< the form that is made
    moments_sizes sizes;
    cutis_device *gpu; ///< that makes the forms; NULL: the CPU device does
    /// Bytes of the GPU's buffers that grow.
    uint64_t scratch_size, gram_size, rows_size, part_size, tile_size, tile_first_size;
    struct {
        CUTIS_FORMER_BUFFERS(CUTIS_FORMER_FIELD)
    } buffers;
} cutis_former;

/// A GPU is ready for blocks of poses with new scales; positions begin at 0 where they are wanted.
cutis_result cutis_former_begin(cutis_former *f, bool places);
/// Forms of the batch's welds, into f->gram (`entries` of them).
cutis_result cutis_former_batch(cutis_former *f, moments_sizes sizes, size_t entries);
/// Positions of all batches, into f->place.
cutis_result cutis_former_end(cutis_former *f);

#endif
