/// What the kernels of weight reduction take (docs/design/reduction.md): lists of buffers that
/// several of them share, then each kernel's own.
///
/// Kernels over blocks do KERNEL_LANES lanes an item: a whole block on a CPU, one vertex on a GPU.
#ifndef CUTIS_KERNEL_REDUCE_ARGUMENTS_H
#define CUTIS_KERNEL_REDUCE_ARGUMENTS_H

/// Lanes of a block's records: entry i of lane l stands at REDUCE_BLOCK * i + l.
#define REDUCE_BLOCK 8
/// Blocks of one task on a CPU.
#define REDUCE_TASK 16
/// Entries of the lower triangle of n rows.
#define TRIANGLE(n) ((n) * ((n) + 1) / 2)
/// Entries that a lane with n controls keeps between sweeps (reduce_lanes.h).
#define REDUCE_KEPT_SIZE(n) (2 + (n) + TRIANGLE(n))
/// Vectors a row that an update works with on a CPU: a task's scratch.
#define REDUCE_SCRATCH_ROWS 4

/// positions: 3 a vertex; first: of a vertex's original influences; control, weight: theirs;
/// matrices: 12 per pose and control.
#define REDUCE_ORIGINAL_BUFFERS(IN, OUT)                                                           \
    IN(double, positions) IN(int, first) IN(int, control) IN(double, weight) IN(double, matrices)
/// target: 3 per vertex and pose, where the original weights put them.
#define REDUCE_PROBLEM_BUFFERS(IN, OUT) REDUCE_ORIGINAL_BUFFERS(IN, OUT) IN(double, target)

/// The kept slots: first of a vertex's, their controls (ascending) and weights.
#define REDUCE_SET_BUFFERS(IN, OUT) IN(int, set_first) OUT(int, set_control) OUT(double, set_weight)

/// Neighbours with their cotangents; diagonal: their sum, plus the anchor under the gradient
/// energy.
#define REDUCE_MESH_BUFFERS(IN, OUT)                                                               \
    IN(int, ring_first) IN(int, ring) IN(double, edge) IN(double, diagonal)

/// Vertices of the lanes (-1: none), shapes of the blocks, and what their lanes hold. block_active:
/// controls that block_kept is for, a bit each; 0: nothing is kept.
#define REDUCE_BLOCK_BUFFERS(IN, OUT)                                                              \
    IN(int, lane_vertex)                                                                           \
    IN(int, block_size)                                                                            \
    IN(int, slot_first)                                                                            \
    IN(int, kept_first)                                                                            \
    OUT(double, block_weight)                                                                      \
    OUT(float, block_offset) OUT(double, block_kept) OUT(INDEX, block_active)

/// Records of the vertices (reduce_tilts.h), and their fans: two corners per triangle.
#define REDUCE_RECORD_BUFFERS(IN, OUT) OUT(double, record) IN(int, fan_first) IN(int, fan)

STRUCT(reduce_sizes)
{
    int columns, controls; // poses
    int limit;             // candidates that a set is chosen from, at most
    int negative;          // weights may be
};

/// What nearly all kernels take first, and those that take no more.
#define REDUCE_TAKES(name, fields) KERNEL_TAKES(name, reduce_sizes sizes; fields)
#define REDUCE_SIZED(name)         KERNEL_TAKES(name, reduce_sizes sizes)

/// Where the original weights put the vertices.
#define REDUCE_TARGET_BUFFERS(IN, OUT) REDUCE_ORIGINAL_BUFFERS(IN, OUT) OUT(double, target)
REDUCE_SIZED(reduce_target)

/// Controls that vertices keep, with their original weights. order: vertices of the lanes, those of
/// an item with equally many candidates; NULL: of lane i vertex i.
#define REDUCE_CHOOSE_BUFFERS(IN, OUT)                                                             \
    REDUCE_PROBLEM_BUFFERS(IN, OUT) IN(int, order) REDUCE_SET_BUFFERS(IN, OUT)
REDUCE_SIZED(reduce_choose)

/// Weights and offsets of sets into their blocks.
#define REDUCE_LOAD_BUFFERS(IN, OUT)                                                               \
    REDUCE_PROBLEM_BUFFERS(IN, OUT) REDUCE_SET_BUFFERS(IN, OUT) REDUCE_BLOCK_BUFFERS(IN, OUT)
REDUCE_SIZED(reduce_load)

/// The first weights of sets whose blocks hold the original ones, and errors. geometric: nearest in
/// all poses; else divided by their sum.
#define REDUCE_WEIGH_BUFFERS(IN, OUT)                                                              \
    IN(int, first) REDUCE_BLOCK_BUFFERS(IN, OUT) OUT(double, error)
REDUCE_TAKES(reduce_weigh, int geometric)

/// Errors of sets and weights. rounded: of offsets as blocks have them, in float.
#define REDUCE_ERRORS_BUFFERS(IN, OUT)                                                             \
    REDUCE_PROBLEM_BUFFERS(IN, OUT) REDUCE_SET_BUFFERS(IN, OUT) OUT(double, error)
REDUCE_TAKES(reduce_errors, int rounded)

/// What lanes keep between sweeps. lambda: of the prior, or 0; block_metric: 6 per pose and lane,
/// or NULL.
#define REDUCE_KEEP_BUFFERS(IN, OUT) REDUCE_BLOCK_BUFFERS(IN, OUT) IN(double, block_metric)
REDUCE_TAKES(reduce_keep, double lambda)

/// Weights of the lanes, in the order of the vertices.
#define REDUCE_STORE_BUFFERS(IN, OUT)                                                              \
    REDUCE_BLOCK_BUFFERS(IN, OUT) IN(int, set_first) OUT(double, set_weight)
KERNEL_TAKES_NONE(reduce_store)

/// Updates of one colour, the blocks from lane_first on; error, set_weight (with a prior), sets and
/// offsets (with trials) follow. trials: exchanges tried for a vertex at most; 0: sets are fixed.
/// base, match (with its stride): of the prior. fall: of the energy, per lane. scratch: NULL on a
/// GPU.
#define REDUCE_GRADIENT_BUFFERS(IN, OUT)                                                           \
    REDUCE_MESH_BUFFERS(IN, OUT)                                                                   \
    REDUCE_PROBLEM_BUFFERS(IN, OUT)                                                                \
    REDUCE_SET_BUFFERS(IN, OUT)                                                                    \
    REDUCE_BLOCK_BUFFERS(IN, OUT)                                                                  \
    IN(double, base)                                                                               \
    IN(unsigned char, match) OUT(double, error) OUT(double, fall) OUT(double, scratch)
REDUCE_TAKES(reduce_gradient, int lane_first; int trials; int stride; double omega; double lambda)

/// The same for a colour of distance 2 under the paper's energy: rho = L e follows.
#define REDUCE_LAPLACE_BUFFERS(IN, OUT)                                                            \
    REDUCE_MESH_BUFFERS(IN, OUT)                                                                   \
    REDUCE_BLOCK_BUFFERS(IN, OUT)                                                                  \
    IN(double, area) OUT(double, rho) OUT(double, error) OUT(double, fall) OUT(double, scratch)
REDUCE_TAKES(reduce_laplace, int lane_first; double omega)

/// The same under the energy of normals: tilts follow. share: of the gradient energy.
#define REDUCE_TILTED_BUFFERS(IN, OUT)                                                             \
    REDUCE_MESH_BUFFERS(IN, OUT)                                                                   \
    REDUCE_PROBLEM_BUFFERS(IN, OUT)                                                                \
    REDUCE_SET_BUFFERS(IN, OUT)                                                                    \
    REDUCE_BLOCK_BUFFERS(IN, OUT)                                                                  \
    REDUCE_RECORD_BUFFERS(IN, OUT)                                                                 \
    IN(double, block_metric) OUT(double, error) OUT(double, fall) OUT(double, scratch)
REDUCE_TAKES(reduce_tilted, int lane_first; int trials; double share)

/// Per vertex the energy of its edges to later vertices and of its anchor; or (laplace) the square
/// of its Laplacian and 0. anchor: area over ell^2; laplace: 1 / area.
#define REDUCE_ENERGY_BUFFERS(IN, OUT)                                                             \
    REDUCE_MESH_BUFFERS(IN, OUT)                                                                   \
    IN(double, anchor) IN(double, error) OUT(double, part) OUT(double, anchor_part)
REDUCE_TAKES(reduce_energy, int laplace)

/// rho = L e.
#define REDUCE_RESIDUAL_BUFFERS(IN, OUT)                                                           \
    REDUCE_MESH_BUFFERS(IN, OUT) IN(double, error) OUT(double, rho)
REDUCE_SIZED(reduce_residual)

/// Sums over the values of stretches, from stretch `first` on: those of `block` first, then these.
#define REDUCE_SUM_BUFFERS(IN, OUT)                                                                \
    IN(double, values) IN(int, stretch_first) IN(int, stretch_end) OUT(double, sums)
KERNEL_TAKES(reduce_sum, int first; int block)

/// Mean diagonal of the Gram matrix, per vertex.
#define REDUCE_TRACE_BUFFERS(IN, OUT) REDUCE_BLOCK_BUFFERS(IN, OUT) OUT(double, part)
REDUCE_SIZED(reduce_trace)

/// The prior's tables: per slot what the original weights add to the desired (base), and per edge
/// and slot of its first vertex the slot of the second that has the same control (match).
#define REDUCE_MATCH_BUFFERS(IN, OUT)                                                              \
    REDUCE_MESH_BUFFERS(IN, OUT)                                                                   \
    REDUCE_PROBLEM_BUFFERS(IN, OUT)                                                                \
    IN(int, set_first) IN(int, set_control) OUT(double, base) OUT(unsigned char, match)
REDUCE_TAKES(reduce_match, int stride)

/// The prior's energy, per vertex: its anchor and its edges to later ones.
#define REDUCE_STRAY_BUFFERS(IN, OUT)                                                              \
    REDUCE_PROBLEM_BUFFERS(IN, OUT)                                                                \
    REDUCE_SET_BUFFERS(IN, OUT)                                                                    \
    IN(int, ring_first) IN(int, ring) IN(double, edge) IN(double, anchor) OUT(double, part)
REDUCE_SIZED(reduce_stray)

/// Records without tilts: targets, normals and scales.
#define REDUCE_NORMAL_BUFFERS(IN, OUT)                                                             \
    REDUCE_RECORD_BUFFERS(IN, OUT) IN(double, target) IN(double, pose_weights) IN(double, area)
REDUCE_SIZED(reduce_normal)

/// Tilts of the errors, and their energy per vertex.
#define REDUCE_TILT_BUFFERS(IN, OUT)                                                               \
    REDUCE_RECORD_BUFFERS(IN, OUT) IN(double, error) OUT(double, part)
REDUCE_SIZED(reduce_tilt)

/// The metric of the lanes' errors under the energy of normals.
#define REDUCE_METRIC_BUFFERS(IN, OUT)                                                             \
    REDUCE_MESH_BUFFERS(IN, OUT)                                                                   \
    REDUCE_RECORD_BUFFERS(IN, OUT) IN(int, lane_vertex) OUT(double, block_metric)
REDUCE_TAKES(reduce_metric, double share)

#endif
