/// A reduction at work on a device: its buffers, its blocks, and the steps it is made of, in the
/// order in which they are called. CPU devices work in the caller's own arrays.
#ifndef CUTIS_FIT_REDUCE_RUN_H
#define CUTIS_FIT_REDUCE_RUN_H

#include "fit/reduce/blocks.h"

/// Names as the kernels have them (kernel/reduce_arguments.h).
// clang-format off
#define CUTIS_REDUCE_BUFFERS(X)                                                                    \
    X(positions) X(first) X(control) X(weight) X(matrices) X(target) X(order)                      \
    X(set_first) X(set_control) X(set_weight) X(error)                                             \
    X(ring_first) X(ring) X(edge) X(diagonal) X(area) X(anchor) X(part) X(anchor_part)             \
    X(lane_vertex) X(block_size) X(slot_first) X(kept_first)                                       \
    X(block_weight) X(block_offset) X(block_kept) X(block_active) X(block_metric)                  \
    X(fall) X(scratch) X(rho) X(base) X(match) X(record) X(fan_first) X(fan) X(pose_weights)       \
    X(stretch_first) X(stretch_end) X(sums)
// clang-format on

typedef struct cutis_reduce_run {
    const cutis_reduce_problem *problem;
    cutis_reduce_state *state;
    cutis_device *device, *own; ///< own: made for the run
    bool gpu;
    cutis_arena arena; ///< host arrays that live as long as the run
    reduce_sizes sizes;
    cutis_reduce_blocks blocks;
    cutis_reduce_energy energy;                ///< of the sweeps
    double omega;                              ///< over-relaxation
    double lambda;                             ///< of the prior, or 0
    double share;                              ///< of the gradient in the energy of normals
    uint32_t lane_stretches, vertex_stretches; ///< that are summed in order
    double *sums;                              ///< of stretches, on the host
#define CUTIS_REDUCE_BUFFER(name) cutis_buffer *name;
    struct {
        CUTIS_REDUCE_BUFFERS(CUTIS_REDUCE_BUFFER)
    } buffers;
} cutis_reduce_run;

/// Memory for sets, weights and errors; the first slots of vertices are filled in.
bool cutis_reduce_state_create(const cutis_reduce_problem *problem, cutis_arena *arena,
                               cutis_reduce_state *out);

/// The problem's device, or a CPU device where it has none or one that cannot hold the problem.
/// @param state sets, weights and errors; its memory is the run's on a CPU
cutis_result cutis_reduce_open(const cutis_reduce_problem *problem, bool fitted,
                               cutis_reduce_state *state, cutis_reduce_run *run);
void cutis_reduce_close(cutis_reduce_run *run);

/// Influences and targets; sets are chosen while the host goes on.
cutis_result cutis_reduce_choose_sets(cutis_reduce_run *run);
/// Vertices into blocks.
cutis_result cutis_reduce_lay_out(cutis_reduce_run *run, const cutis_reduce_colours *colours);
/// Sets into the blocks, with weights by k-largest or by the geometric fit; errors.
cutis_result cutis_reduce_weigh(cutis_reduce_run *run, bool geometric);
/// All that sweeps under an energy (not that of normals) need; the first energy.
cutis_result cutis_reduce_prepare(cutis_reduce_run *run, cutis_reduce_energy energy,
                                  double *energy_out);
/// The same for normals, after that for the gradient energy. @param colours of distance 2
cutis_result cutis_reduce_prepare_normals(cutis_reduce_run *run,
                                          const cutis_reduce_surface *surface,
                                          const cutis_reduce_colours *colours, double *energy);
/// What the lanes keep between sweeps: made by the two above.
cutis_result cutis_reduce_keep(cutis_reduce_run *run);
/// One colour. @param exchange vertices with few candidates may exchange controls
cutis_result cutis_reduce_sweep_colour(cutis_reduce_run *run, uint32_t colour, bool exchange);
/// Sweeps until they gain little: curve, number and seconds of the state.
cutis_result cutis_reduce_sweep(cutis_reduce_run *run, bool reselect, uint32_t limit);
/// Weights of the blocks, in the order of the vertices; to the state, with errors or without.
cutis_result cutis_reduce_store(cutis_reduce_run *run);
cutis_result cutis_reduce_read_back(cutis_reduce_run *run, bool errors);

// What the steps are made of -------------------------------------------------------------------

typedef struct cutis_reduce_array {
    const void *data; ///< NULL: only allocated
    uint64_t count;
    size_t size;
    cutis_buffer **out;
    bool back; ///< the device writes it: nothing to send
} cutis_reduce_array;

/// Make new buffers: of host arrays (a CPU device uses them as they are), or only allocated.
cutis_result cutis_reduce_make(cutis_reduce_run *run, const cutis_reduce_array *arrays,
                               size_t count);
#define CUTIS_REDUCE_MAKE(run, arrays)                                                             \
    cutis_reduce_make(run, arrays, sizeof(arrays) / sizeof *(arrays))

/// Items of a kernel over this many blocks.
uint32_t cutis_reduce_items(const cutis_reduce_run *run, uint32_t blocks);
/// Compile kernels together before the first of them is launched; nothing on a CPU.
#define CUTIS_REDUCE_COMPILED 20 ///< most at a time
typedef struct cutis_reduce_kernel {
    const cutis_compute_kernel *kernel;
    uint32_t trials;
} cutis_reduce_kernel;
cutis_result cutis_reduce_compile(const cutis_reduce_run *run, const cutis_reduce_kernel *kernels,
                                  uint32_t count);
cutis_result cutis_reduce_launch(cutis_reduce_run *run, const cutis_compute_kernel *kernel,
                                 uint32_t trials, uint32_t count, const void *buffers,
                                 const void *arguments);
/// Launch a kernel with buffers of the run; what follows are its arguments besides the sizes.
/// trials: exchanges tried for a vertex, in kernels that do.
#define CUTIS_REDUCE_PASS(type, name) .name = run->buffers.name,
#define CUTIS_REDUCE_LAUNCH_TRYING(trials, kernel, LIST, count, ...)                               \
    cutis_reduce_launch(run, &cutis_compute_##kernel, trials, count,                               \
                        &(kernel##_buffers){ LIST(CUTIS_REDUCE_PASS, CUTIS_REDUCE_PASS) },         \
                        &(kernel##_arguments){ .sizes = run->sizes, __VA_ARGS__ })
#define CUTIS_REDUCE_LAUNCH(...) CUTIS_REDUCE_LAUNCH_TRYING(0, __VA_ARGS__)

/// The mesh with its anchors; influences and matrices, and where these put the vertices.
cutis_result cutis_reduce_send_mesh(cutis_reduce_run *run, bool laplace);
cutis_result cutis_reduce_find_targets(cutis_reduce_run *run);
/// Stretches of values that are summed in order: of the blocks' lanes, then of vertices.
cutis_result cutis_reduce_make_stretches(cutis_reduce_run *run);
/// Sum values per lane, or per vertex.
cutis_result cutis_reduce_sum(cutis_reduce_run *run, const cutis_buffer *values, bool lanes,
                              double *sum);
/// The gradient's or the paper's energy of the errors. @param gradient without the anchor
cutis_result cutis_reduce_find_energy(cutis_reduce_run *run, bool laplace, double *energy,
                                      double *gradient);
/// Normals at the targets, and tilts by the errors. @param energy theirs, without the gradient's
/// share
cutis_result cutis_reduce_find_tilts(cutis_reduce_run *run, const cutis_reduce_surface *surface,
                                     double *energy);

#endif
