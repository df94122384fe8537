/// What the GPU's side of handle weights is made of (handles_device.c, handles_device_virtual.c):
/// its buffers, and the few calls both have.
#ifndef CUTIS_FIT_HANDLES_GPU_H
#define CUTIS_FIT_HANDLES_GPU_H

#include "device/compute/handles.h"
#include "fit/handles_device.h"
#include "fit/handles_multigrid.h"

#define CUTIS_HANDLES_SWEEPS_A_LOOK 16 ///< sweeps between two looks at whether anything changed

enum {
    GRID_INDEX,
    GRID_PLACE,
    GRID_NEIGHBOUR,
    SEGMENTS,
    SEGMENT_LABELS,
    BARS,
    START,
    START_LABEL,
    FROM,
    FROM_LABEL,
    TO,
    TO_LABEL,
    FLAG,
    CONDUCTANCE,
    OWNER,
    NODE,
    VOXEL,
    PARENT,
    CHILD_FIRST,
    CHILD,
    LEVEL_NEIGHBOUR,
    LEVEL_CONDUCTANCE,
    DIAGONAL,
    INVERSE,
    COARSE_B,
    COARSE_X,
    X,
    R,
    P,
    Q,
    Z,
    PARTIAL,
    SCALARS,
    VALUES,
    POSITIONS,
    JOINT_SITE,
    SHARERS,
    SUMS,
    JOINTS,
    WEIGHTS,
    DROPPED,
    SEGMENT_FIRST,
    SITE_FIELDS,
    SLOT,
    NEW_SLOT,
    FIELD_FROM,
    FIELD_TO,
    BOUND,
    BOXES,
    AROUND,
    WORK,
    MIDDLE,
    SEED,
    SEED_VALUE,
    CORE_FIRST,
    CORES,
    APART,
    RADIUS,
    LABEL,
    COVER,
    LIST_COUNT,
    LIST_HANDLE,
    LIST_VALUE,
    LIST_FIRST,
    PACKED_HANDLE,
    PACKED_VALUE,
    OVERFLOW,
    MASK,
    CANDIDATE,
    SORTED,
    NEAREST,
    SUPPORT,
    CLASH,
    ACCEPTED,
    BORDERS,
    FACE_CELLS,
    FACE,
    SHARE,
    DENSITY,
    CELL,
    PLACES,
    FAMILY,
    MAP,
    COARSE_MAP,
    FIRST_CHILD,
    BUFFERS
};

/// A distance field of a site that SITE_FIELDS holds.
typedef struct cutis_handles_slot {
    cutis_handles_segment *segments;
    size_t segment_count;
    bool used; ///< by the solve that goes on
} cutis_handles_slot;

struct cutis_handles_gpu {
    cutis_device *device;
    cutis_buffer *buffers[BUFFERS];
    uint64_t sizes[BUFFERS];
    const uint32_t *grid;   ///< whose grid is there: its index array
    const uint32_t *boxes;  ///< whose boxes of units
    const float *positions; ///< whose vertices
    uint32_t lanes;
    bool field;                              ///< VALUES holds the solution's field
    uint32_t level_at[CUTIS_HANDLES_LEVELS]; ///< node where each level begins
    uint32_t list_at[CUTIS_HANDLES_LEVELS];  ///< into CHILD_FIRST
    cutis_handles_slot *slots;               ///< VIRTUAL: fields of sites, kept from solve to solve
    uint32_t slot_count;
};

cutis_result cutis_handles_gpu_grid(cutis_handles_gpu *gpu, const cutis_handles_grid *grid);
void cutis_handles_gpu_forget(cutis_handles_gpu *gpu); ///< all slots

/// Nodes of the voxels that OWNER leaves free and their blocks: NODE, VOXEL, PARENT, CHILD_FIRST
/// and CHILD, level_at and list_at. `out` gets counts of levels and visits; it owns nothing.
cutis_result cutis_handles_gpu_levels(cutis_handles_gpu *gpu, const cutis_handles_grid *grid,
                                      cutis_handles_system *out);

/// One march from all sites, and from virtual handles in voxels (labels after the sites'): ends in
/// FROM and FROM_LABEL. BARS is there afterwards.
cutis_result cutis_handles_gpu_march(cutis_handles_gpu *gpu, const cutis_handles_solution *solution,
                                     uint32_t virtual_count, const uint32_t *voxel,
                                     cutis_arena *scratch);

/// At least `count * item` bytes in a buffer; contents are lost when it grows.
static inline cutis_result room(cutis_handles_gpu *gpu, int which, uint64_t count, size_t item)
{
    const uint64_t size = count ? count * item : item;
    if (gpu->sizes[which] >= size) return CUTIS_OK;
    cutis_buffer_destroy(gpu->buffers[which]);
    gpu->buffers[which] = NULL;
    gpu->sizes[which] = 0;
    // A little more than asked for: a moved handle changes counts by a few.
    const uint64_t roomy = size + size / 8;
    cutis_result result = cutis_buffer_create(gpu->device, roomy, &gpu->buffers[which]);
    if (result == CUTIS_OK) gpu->sizes[which] = roomy;
    return result;
}

static inline cutis_result upload(cutis_handles_gpu *gpu, int which, const void *data,
                                  uint64_t count, size_t item)
{
    cutis_result result = room(gpu, which, count, item);
    if (result != CUTIS_OK || count == 0) return result;
    return cutis_buffer_write(gpu->buffers[which], 0, data, count * item);
}

/// A launch and not a write: that would wait for all launches before it.
static inline cutis_result clear_flag(cutis_handles_gpu *gpu)
{
    return fill_words_run(gpu->device, 1, (fill_words_buffers){ .words = gpu->buffers[FLAG] },
                          (fill_words_arguments){ .value = 0 });
}

static inline cutis_result look_at_flag(cutis_handles_gpu *gpu, bool *set)
{
    int32_t value = 0;
    cutis_result result = cutis_buffer_read(gpu->buffers[FLAG], 0, &value, sizeof value);
    *set = value != 0;
    return result;
}

static inline void swap(cutis_handles_gpu *gpu, int a, int b)
{
    cutis_buffer *buffer = gpu->buffers[a];
    uint64_t size = gpu->sizes[a];
    gpu->buffers[a] = gpu->buffers[b], gpu->sizes[a] = gpu->sizes[b];
    gpu->buffers[b] = buffer, gpu->sizes[b] = size;
}

#define BUFFER(which) CUTIS_BUFFER_ARGUMENT(gpu->buffers[which])
#define INTEGER(i)    CUTIS_INT_ARGUMENT(i)
#define NUMBER(x)     CUTIS_DOUBLE_ARGUMENT(x)
#define LAUNCH(name, items, ...)                                                                   \
    do {                                                                                           \
        if (result == CUTIS_OK) {                                                                  \
            const cutis_compute_argument arguments[] = { __VA_ARGS__ };                            \
            result = cutis_compute_run_old(gpu->device, &cutis_compute_handles_##name, (items),    \
                                           arguments);                                             \
        }                                                                                          \
    } while (0)

#endif
