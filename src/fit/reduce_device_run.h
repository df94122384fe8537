/// A reduction at work on a GPU: its buffers, and what the parts of it share.
#ifndef CUTIS_FIT_REDUCE_DEVICE_RUN_H
#define CUTIS_FIT_REDUCE_DEVICE_RUN_H

#include "device/compute/reduce.h"
#include "fit/reduce_blocks.h"
#include "fit/reduce_device.h"

enum { CUTIS_REDUCE_DEFINES = 192 };

typedef struct cutis_reduce_device {
    const cutis_reduce_problem *problem;
    const cutis_reduce_colours *colours;
    const cutis_reduce_schedule *schedule;
    cutis_reduce_state *state;
    cutis_device *device;
    cutis_arena arena; ///< host arrays on their way
    char defines[CUTIS_REDUCE_DEFINES];
    cutis_reduce_blocks blocks;
    double lambda; ///< of the prior, or 0
    cutis_buffer *positions, *first, *control, *weight, *matrices;
    cutis_buffer *ring_first, *ring, *edge, *diagonal, *area, *anchor;
    cutis_buffer *lane_vertex, *block_size, *slot_first, *kept_first;
    cutis_buffer *block_weight, *block_offset, *block_kept, *block_active;
    cutis_buffer *set_first, *set_control, *set_weight, *error, *rho, *base, *match;
    cutis_buffer *chosen; ///< influences kept, as teams found them
    cutis_buffer *record, *fan_first, *fan, *pose_weights, *metric; ///< of sweeps on normals
    cutis_buffer *fall, *task_first, *task_end, *task_fall, *edges, *anchors;
    uint32_t colour_tasks, vertex_tasks; ///< stretches of colours; of vertices in their own order
    double *falls;                       ///< host memory for the larger number of tasks
} cutis_reduce_device;

/// Room on the device; the same with data in it.
cutis_result cutis_reduce_device_make(cutis_reduce_device *run, uint64_t count, size_t size,
                                      cutis_buffer **out);
cutis_result cutis_reduce_device_upload(cutis_reduce_device *run, const void *data, uint64_t count,
                                        size_t size, cutis_buffer **out);
/// Buffers of `run->blocks`, and stretches that are summed in order: first lanes of the colours,
/// then vertices.
cutis_result cutis_reduce_device_blocks(cutis_reduce_device *run);
cutis_result cutis_reduce_device_launch(cutis_reduce_device *run,
                                        const cutis_compute_kernel *kernel, uint32_t count,
                                        const cutis_compute_argument *arguments);
/// Sum values by tasks: of lanes, as sweeps do, or of vertices.
cutis_result cutis_reduce_device_sum(cutis_reduce_device *run, const cutis_buffer *values,
                                     bool lanes, double *sum);
/// The gradient's or the paper's energy of the errors.
cutis_result cutis_reduce_device_measure(cutis_reduce_device *run, double *energy,
                                         double *gradient);
/// Weights of the lanes, in the order of the vertices.
cutis_result cutis_reduce_device_store(cutis_reduce_device *run);
/// Is there a vertex whose controls may be exchanged at all?
bool cutis_reduce_device_exchanges(const cutis_reduce_device *run);
/// Sweeps on the turns of normals, after those of the gradient energy.
cutis_result cutis_reduce_device_normals(cutis_reduce_device *run);

#define BLOCK_ARGUMENTS(run)                                                                       \
    CUTIS_BUFFER_ARGUMENT((run)->lane_vertex), CUTIS_BUFFER_ARGUMENT((run)->block_size),           \
        CUTIS_BUFFER_ARGUMENT((run)->slot_first), CUTIS_BUFFER_ARGUMENT((run)->kept_first),        \
        CUTIS_BUFFER_ARGUMENT((run)->block_weight), CUTIS_BUFFER_ARGUMENT((run)->block_offset),    \
        CUTIS_BUFFER_ARGUMENT((run)->block_kept), CUTIS_BUFFER_ARGUMENT((run)->block_active)
#define PROBLEM_ARGUMENTS(run, limit)                                                              \
    CUTIS_BUFFER_ARGUMENT((run)->positions), CUTIS_BUFFER_ARGUMENT((run)->first),                  \
        CUTIS_BUFFER_ARGUMENT((run)->control), CUTIS_BUFFER_ARGUMENT((run)->weight),               \
        CUTIS_BUFFER_ARGUMENT((run)->matrices), CUTIS_INT_ARGUMENT((run)->problem->column_count),  \
        CUTIS_INT_ARGUMENT((run)->problem->control_count), CUTIS_INT_ARGUMENT(limit),              \
        CUTIS_INT_ARGUMENT((run)->problem->negative)
#define MESH_ARGUMENTS(run)                                                                        \
    CUTIS_BUFFER_ARGUMENT((run)->ring_first), CUTIS_BUFFER_ARGUMENT((run)->ring),                  \
        CUTIS_BUFFER_ARGUMENT((run)->edge), CUTIS_BUFFER_ARGUMENT((run)->diagonal)
#define LIST_ARGUMENTS(run)                                                                        \
    CUTIS_BUFFER_ARGUMENT((run)->first), CUTIS_BUFFER_ARGUMENT((run)->control),                    \
        CUTIS_BUFFER_ARGUMENT((run)->weight), CUTIS_BUFFER_ARGUMENT((run)->set_first),             \
        CUTIS_BUFFER_ARGUMENT((run)->set_control), CUTIS_BUFFER_ARGUMENT((run)->set_weight)

#endif
