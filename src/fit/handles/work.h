/// Where handle weights are solved: a device, and the buffers of its kernels (kernel/handles_*.h),
/// kept from solve to solve: what fits is used again. Also the few calls that all parts have.
///
/// On a CPU device host arrays are buffers themselves, so nothing is copied; elsewhere, and where
/// tests have a CPU do as GPUs do, they are written and read.
#ifndef CUTIS_FIT_HANDLES_WORK_H
#define CUTIS_FIT_HANDLES_WORK_H

#include <cutis/handles.h>

#include "base/error.h"
#include "base/memory.h"
#include "device/compute/basic.h"
#include "device/compute/handles.h"

/// All buffers, in groups that are made together, by the names that kernels have for them. Nothing
/// but pointers.
typedef struct cutis_handles_buffers {
    cutis_buffer *index, *place, *neighbour, *component; ///< as cutis_handles_grid has them
    cutis_buffer *sight; ///< as cutis_handles_sheets has it; NULL: nothing is split
    cutis_buffer *triangles, *points, *state, *rows, *piece, *other_piece, *roots;
    cutis_buffer *flag, *owner;
    // Distances to the nearest handle, and whose they are; sweeps have two of both.
    cutis_buffer *segments, *segment_labels, *segment_first, *bars, *start, *start_label;
    cutis_buffer *distance, *label, *other_distance, *other_label;
    // Levels of the multigrid; `map` and `other_map` alternate.
    cutis_buffer *node, *voxel, *cell, *parent, *child_first, *child, *order;
    cutis_buffer *places, *family, *map, *other_map, *first_child;
    cutis_buffer *conductance, *level_neighbour, *level_conductance, *diagonal, *inverse;
    cutis_buffer *x, *r, *z, *p, *q, *partial, *scalars; ///< r and z of all levels
    cutis_buffer *values, *density;
    cutis_buffer *positions, *passed, *joint_site, *sharers, *sums, *joints, *weights, *dropped;
    // VIRTUAL: fields of sites, cover, lists of handles, faces.
    cutis_buffer *held, *site_fields, *slot, *core_first, *cores, *apart, *radius, *cover, *mask;
    cutis_buffer *list_first, *list_handle, *list_value, *share;
    cutis_buffer *borders, *face_cells, *face_lengths;
    // Many fields by sweeps, and candidates.
    cutis_buffer *field, *other_field, *new_slot, *seed, *seed_value, *bound, *units, *boxes;
    cutis_buffer *around, *middle, *candidate, *sorted, *core_distance, *support, *clash, *accepted;
    cutis_buffer *unpacked_count, *unpacked_handle, *unpacked_value, *overflow;
} cutis_handles_buffers;

/// A distance field of a site that `site_fields` holds, found again by the site's segments.
typedef struct cutis_handles_slot {
    struct cutis_handles_segment *segments;
    size_t segment_count;
    bool used; ///< by the solve that goes on
} cutis_handles_slot;

typedef struct cutis_handles_work {
    cutis_device *device;
    cutis_context *context; ///< the call's: for errors, progress and what is not on the device
    /// As GPUs do it: a lane an item, distances by sweeps of all voxels, candidates many at a time.
    /// Tests have a CPU do it too: the bits are the same.
    bool sweeps;
    uint32_t list_most; ///< sweeps: handles that reach one voxel; where more do, a CPU inserts them
    const uint32_t *grid;   ///< whose grid is there: its index array
    const uint32_t *boxes;  ///< whose boxes of units
    const float *positions; ///< whose vertices
    bool has_values;        ///< `values` holds the solution's field
    cutis_handles_slot *slots;
    uint32_t slot_count;
    cutis_handles_buffers buffers;
} cutis_handles_work;

void cutis_handles_work_init(cutis_handles_work *work, cutis_device *device,
                             cutis_context *context);
/// Compile what a solve will run, all together: one by one a GPU's first solve waits for each.
cutis_result cutis_handles_prepare(cutis_handles_work *work, cutis_weighting weighting);
void cutis_handles_work_release(cutis_handles_work *work);
void cutis_handles_forget(cutis_handles_work *work); ///< all slots

/// Bytes for `count` items in a buffer of the device; contents are lost when it grows.
typedef struct cutis_handles_reservation {
    cutis_buffer **buffer;
    uint64_t count;
    uint32_t item;
} cutis_handles_reservation;

cutis_result cutis_handles_reserve(cutis_handles_work *work, const cutis_handles_reservation *list,
                                   size_t count);
#define RESERVE(work, ...)                                                                         \
    cutis_handles_reserve(work, (const cutis_handles_reservation[]){ __VA_ARGS__ },                \
                          sizeof((const cutis_handles_reservation[]){ __VA_ARGS__ }) /             \
                              sizeof(cutis_handles_reservation))
/// The same for one; what is new is zero.
cutis_result cutis_handles_reserve_zero(cutis_handles_work *work, cutis_buffer **buffer,
                                        uint64_t count, uint32_t item);

/// A buffer for an array of the host: on a CPU device the array itself, which must last as long as
/// the buffer is used.
cutis_result cutis_handles_over(cutis_handles_work *work, cutis_buffer **buffer, const void *array,
                                uint64_t count, uint32_t item);
/// The same with the array's contents.
cutis_result cutis_handles_give(cutis_handles_work *work, cutis_buffer **buffer, const void *array,
                                uint64_t count, uint32_t item);
/// What kernels have written, into the array; nothing to do where the buffer is the array.
cutis_result cutis_handles_fetch(cutis_buffer *buffer, void *array, uint64_t size);

void cutis_handles_drop(cutis_buffer **buffer);
void cutis_handles_swap(cutis_buffer **a, cutis_buffer **b);
cutis_result cutis_handles_fill(const cutis_handles_work *work, cutis_buffer *buffer,
                                uint64_t words, int32_t value);
cutis_result cutis_handles_flag(const cutis_handles_work *work, bool *set);

/// NAME_launch: a kernel on the work's device, with the buffers that have the names in its list.
#define HANDLES_BUFFER(type, name) .name = work->buffers.name,
#define HANDLES_LAUNCH(kernel, BUFFERS, text, task_items)                                          \
    static inline cutis_result kernel##_launch(const cutis_handles_work *work, uint32_t items,     \
                                               kernel##_arguments arguments)                       \
    {                                                                                              \
        return kernel##_run(work->device, items,                                                   \
                            (kernel##_buffers){ BUFFERS(HANDLES_BUFFER, HANDLES_BUFFER) },         \
                            arguments);                                                            \
    }
HANDLES_PLAIN(HANDLES_LAUNCH)
HANDLES_WIDE(HANDLES_LAUNCH)
/// The same with the numbers by name.
#define LAUNCH(kernel, work, items, ...)                                                           \
    kernel##_launch(work, items, (kernel##_arguments){ __VA_ARGS__ })

/// The memory of a CPU device's buffer.
static inline void *cutis_handles_memory(const cutis_buffer *buffer)
{
    return (void *)(uintptr_t)buffer->handle;
}

#endif
