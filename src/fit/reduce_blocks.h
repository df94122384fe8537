/// What sweeps work on: vertices of one colour that keep equally many controls, eight to a block,
/// one a lane (kernel/reduce_wide.h). Blocks lie in the order in which they are swept, so memory is
/// read straight on.
#ifndef CUTIS_FIT_REDUCE_BLOCKS_H
#define CUTIS_FIT_REDUCE_BLOCKS_H

#include "fit/reduce_problem.h"

enum {
    CUTIS_REDUCE_LANES = 8,
    CUTIS_REDUCE_TASK_BLOCKS = 16, ///< of one task
};

typedef struct cutis_reduce_blocks {
    uint32_t count;
    uint32_t *colour_first; ///< colours + 1, into the blocks
    uint32_t *vertex;       ///< per lane; UINT32_MAX: none
    uint32_t *place;        ///< per vertex: its lane
    uint32_t *size;         ///< per block: controls a vertex keeps
    uint32_t *slot_first;   ///< per block + 1: sums of the sizes
    uint32_t *kept_first;   ///< per block + 1: sums of what is kept, in entries of 8 lanes
    double *weight;         ///< per slot and lane
    float *offset;          ///< per slot, row and lane
    double *kept;           ///< per entry and lane
    double *metric;         ///< per pose 6 and lane, under the energy of normals; else NULL
    long long *active;      ///< per lane: controls `kept` is for, a bit each; 0: nothing is kept
} cutis_reduce_blocks;

/// Which vertex stands where. `slots`: vertex_count + 1, kept slots as in cutis_reduce_state.first.
bool cutis_reduce_blocks_create(const cutis_reduce_problem *problem,
                                const cutis_reduce_colours *colours, const uint32_t *slots,
                                cutis_arena *arena, cutis_reduce_blocks *out);

/// Memory for what the lanes hold, then a state's weights and offsets into it. Inverses are made
/// for systems with `lambda` on the diagonal.
bool cutis_reduce_blocks_load(const cutis_reduce_problem *problem, const cutis_reduce_state *state,
                              double lambda, cutis_arena *arena, cutis_reduce_blocks *blocks);

struct cutis_reduce_turns;
/// The same under the energy of normals: offsets are made anew, and the metric.
bool cutis_reduce_blocks_load_turned(const cutis_reduce_problem *problem,
                                     const cutis_reduce_state *state,
                                     const struct cutis_reduce_turns *turns, cutis_arena *arena,
                                     cutis_reduce_blocks *blocks);

/// Weights back into a state.
void cutis_reduce_blocks_store(const cutis_reduce_problem *problem,
                               const cutis_reduce_blocks *blocks, cutis_reduce_state *state);

/// Entries that a vertex with n controls keeps between sweeps.
uint32_t cutis_reduce_kept_size(uint32_t n);

#endif
