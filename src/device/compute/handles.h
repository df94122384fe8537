/// The programs of handle weights: kernel/handles_*.h.
///
/// A line per kernel: its name, its list of buffers, the text it is in, and the items of a task on
/// CPUs. Wide ones are compiled for every width of vectors.
#ifndef CUTIS_DEVICE_COMPUTE_HANDLES_H
#define CUTIS_DEVICE_COMPUTE_HANDLES_H

#include "device/compute.h"
#include "kernel/handles_arguments.h"

// clang-format off
#define HANDLES_PLAIN(X)                                                                           \
    X(handles_surfaces, HANDLES_SURFACES_BUFFERS, GRID, 512)                                       \
    X(handles_balls, HANDLES_BALLS_BUFFERS, GRID, 64)                                              \
    X(handles_corners, HANDLES_CORNERS_BUFFERS, GRID, 16384)                                       \
    X(handles_rows, HANDLES_ROWS_BUFFERS, GRID, 4096)                                              \
    X(handles_number, HANDLES_NUMBER_BUFFERS, GRID, 4096)                                          \
    X(handles_links, HANDLES_LINKS_BUFFERS, GRID, 4096)                                            \
    X(handles_pieces, HANDLES_PIECES_BUFFERS, GRID, 4096)                                          \
    X(handles_roots, HANDLES_ROOTS_BUFFERS, GRID, 16384)                                           \
    X(handles_names, HANDLES_NAMES_BUFFERS, GRID, 16384)                                           \
    X(handles_start, HANDLES_START_BUFFERS, DISTANCE, 1024)                                        \
    X(handles_sweep, HANDLES_SWEEP_BUFFERS, DISTANCE, 4096)                                        \
    X(handles_fields, HANDLES_FIELDS_BUFFERS, DISTANCE, 4096)                                      \
    X(handles_scatter, HANDLES_SCATTER_BUFFERS, DISTANCE, INT32_MAX)                               \
    X(handles_split, HANDLES_SPLIT_BUFFERS, LEVELS, 4096)                                          \
    X(handles_nodes, HANDLES_NODES_BUFFERS, LEVELS, 4096)                                          \
    X(handles_firsts, HANDLES_FIRSTS_BUFFERS, LEVELS, 1024)                                        \
    X(handles_heads, HANDLES_HEADS_BUFFERS, LEVELS, 4096)                                          \
    X(handles_blocks, HANDLES_BLOCKS_BUFFERS, LEVELS, 1024)                                        \
    X(handles_children, HANDLES_CHILDREN_BUFFERS, LEVELS, 1024)                                    \
    X(handles_conduct, HANDLES_CONDUCT_BUFFERS, LEVELS, 1024)                                      \
    X(handles_finest, HANDLES_FINEST_BUFFERS, LEVELS, 1024)                                        \
    X(handles_coarse, HANDLES_COARSE_BUFFERS, LEVELS, 256)                                         \
    X(handles_normalise, HANDLES_NORMALISE_BUFFERS, MULTIGRID, 1024)                               \
    X(handles_keep, HANDLES_KEEP_BUFFERS, VIRTUAL, 16384)                                          \
    X(handles_apart, HANDLES_APART_BUFFERS, VIRTUAL, 64)                                           \
    X(handles_cover, HANDLES_COVER_BUFFERS, VIRTUAL, 1024)                                         \
    X(handles_peaks, HANDLES_PEAKS_BUFFERS, VIRTUAL, 128)                                          \
    X(handles_rank, HANDLES_RANK_BUFFERS, VIRTUAL, 64)                                             \
    X(handles_boxes, HANDLES_BOXES_BUFFERS, VIRTUAL, 256)                                          \
    X(handles_bound, HANDLES_BOUND_BUFFERS, VIRTUAL, 64)                                           \
    X(handles_around, HANDLES_AROUND_BUFFERS, VIRTUAL, 64)                                         \
    X(handles_near, HANDLES_NEAR_BUFFERS, VIRTUAL, 64)                                             \
    X(handles_support, HANDLES_SUPPORT_BUFFERS, VIRTUAL, 256)                                      \
    X(handles_clash, HANDLES_CLASH_BUFFERS, VIRTUAL, 4096)                                         \
    X(handles_gain, HANDLES_GAIN_BUFFERS, VIRTUAL, 1024)                                           \
    X(handles_pack, HANDLES_PACK_BUFFERS, VIRTUAL, 4096)                                           \
    X(handles_borders, HANDLES_BORDERS_BUFFERS, VIRTUAL, 4096)                                     \
    X(handles_faces, HANDLES_FACES_BUFFERS, VIRTUAL, 1024)
#define HANDLES_WIDE(X)                                                                            \
    X(handles_flood, HANDLES_FLOOD_BUFFERS, GRID, 32)                                              \
    X(handles_begin, HANDLES_BEGIN_BUFFERS, MULTIGRID, 1024)                                       \
    X(handles_smooth, HANDLES_SMOOTH_BUFFERS, MULTIGRID, 1024)                                     \
    X(handles_restrict, HANDLES_RESTRICT_BUFFERS, MULTIGRID, 1024)                                 \
    X(handles_prolong, HANDLES_PROLONG_BUFFERS, MULTIGRID, 1024)                                   \
    X(handles_coarsest, HANDLES_COARSEST_BUFFERS, MULTIGRID, 1)                                    \
    X(handles_dot, HANDLES_DOT_BUFFERS, MULTIGRID, 8)                                              \
    X(handles_direction, HANDLES_DIRECTION_BUFFERS, MULTIGRID, 8)                                            \
    X(handles_apply, HANDLES_APPLY_BUFFERS, MULTIGRID, 8)                                          \
    X(handles_advance, HANDLES_ADVANCE_BUFFERS, MULTIGRID, 8)                                      \
    X(handles_worst, HANDLES_WORST_BUFFERS, MULTIGRID, 8)                                          \
    X(handles_find_beta, HANDLES_FIND_BETA_BUFFERS, MULTIGRID, 1)                                      \
    X(handles_find_alpha, HANDLES_FIND_ALPHA_BUFFERS, MULTIGRID, 1)                                    \
    X(handles_done, HANDLES_DONE_BUFFERS, MULTIGRID, 1)                                            \
    X(handles_gather, HANDLES_GATHER_BUFFERS, MULTIGRID, 1024)                                     \
    X(handles_sample, HANDLES_SAMPLE_BUFFERS, SAMPLE, 4)                                           \
    X(handles_fold, HANDLES_FOLD_BUFFERS, VIRTUAL, 1024)
// clang-format on

#define HANDLES_DECLARE(kernel, BUFFERS, text, items) CUTIS_COMPUTE_DECLARE(kernel, BUFFERS)
HANDLES_PLAIN(HANDLES_DECLARE)
HANDLES_WIDE(HANDLES_DECLARE)

#endif
