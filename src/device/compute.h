/// Item kernels on any device: what fit and deform use to run per-vertex, per-voxel and per-solve
/// kernel text (kernel/item.h) that is no skin.
///
/// A program is one C file src/device/compute/NAME.c: it includes its kernel texts as C and lists a
/// cutis_compute_kernel for each entry (see compute/basic.c). Launches run in the order they are
/// given; cutis_buffer_read waits for them. Invariant: an item kernel gives the same bits on every
/// device.
#ifndef CUTIS_DEVICE_COMPUTE_H
#define CUTIS_DEVICE_COMPUTE_H

#include "device/device.h"

#define CUTIS_COMPUTE_ARGUMENTS 32 ///< most that a kernel takes, without the two of ITEM_ARGS

typedef enum cutis_compute_kind {
    CUTIS_COMPUTE_BUFFER, ///< GLOBAL pointer; NULL is allowed
    CUTIS_COMPUTE_INT,
    CUTIS_COMPUTE_FLOAT,
    CUTIS_COMPUTE_DOUBLE,
} cutis_compute_kind;

typedef struct cutis_compute_argument {
    cutis_compute_kind kind;
    union {
        const cutis_buffer *buffer;
        int32_t number;
        float real;
        double wide;
    };
    /// Of a buffer: what it begins with. CUDA's kernels take it by value, after the buffer, and
    /// read it as constants; other kernels do not. At most one of a kernel's arguments. NULL:
    /// nothing.
    const void *head;
    uint32_t head_size;
} cutis_compute_argument;

#define CUTIS_BUFFER_ARGUMENT(b)                                                                   \
    {                                                                                              \
        .kind = CUTIS_COMPUTE_BUFFER, .buffer = (b)                                                \
    }
#define CUTIS_INT_ARGUMENT(i)                                                                      \
    {                                                                                              \
        .kind = CUTIS_COMPUTE_INT, .number = (int32_t)(i)                                          \
    }
#define CUTIS_FLOAT_ARGUMENT(x)                                                                    \
    {                                                                                              \
        .kind = CUTIS_COMPUTE_FLOAT, .real = (float)(x)                                            \
    }
#define CUTIS_DOUBLE_ARGUMENT(x)                                                                   \
    {                                                                                              \
        .kind = CUTIS_COMPUTE_DOUBLE, .wide = (x)                                                  \
    }

/// A kernel's text as C, over items [first, end). Buffers come as host addresses.
typedef void cutis_compute_function(const cutis_compute_argument *arguments, int first, int end);

typedef struct cutis_compute_kernel {
    const char *entry; ///< its name in the text, at most 31 characters
    /// Texts after "kernel.h" and "item.h", in order, NULL-ended: { "reduce.h", NULL }.
    const char *const *texts;
    const char *defines; ///< lines of #define before them, as the C file has them; or NULL
    cutis_compute_function *run;
    uint32_t argument_count;
    uint32_t task_items; ///< CPU: items of one task; 0: 256
    uint32_t group_size; ///< GPU: work items of a group; 0: 128
    uint32_t
        registers;  ///< GPU: of a work item at most (drivers that can); 0: as the compiler likes
    uint32_t lanes; ///< GPU: of a team that does one item (kernel/team.h); 0 or 1: none
} cutis_compute_kernel;

/// Address of a buffer argument, in a cutis_compute_function.
static inline void *cutis_compute_pointer(const cutis_compute_argument *argument)
{
    return argument->buffer ? (void *)(uintptr_t)argument->buffer->handle : NULL;
}

/// Run `item_count` items. `arguments`: kernel->argument_count of them; they may change after the
/// call. GPU: the launch is queued and its errors may show at a later call.
cutis_result cutis_compute_run(cutis_device *device, const cutis_compute_kernel *kernel,
                               uint32_t item_count, const cutis_compute_argument *arguments);

// Programs ---------------------------------------------------------------------------------------

/// basic.c: words[item] = value, for `item_count` 4-byte words. Arguments: buffer, int.
extern const cutis_compute_kernel cutis_compute_fill;
/// Sums of doubles in a fixed order: out[item] = sum of in[item * stretch ...], at most `stretch`
/// of them and not beyond `count`. Arguments: in, out, int count, int stretch.
extern const cutis_compute_kernel cutis_compute_sum;

#endif
