/// Item kernels on any device: what fit and deform use to run per-vertex, per-voxel and per-solve
/// kernel text (kernel/item.h) that is no skin.
///
/// A program is a text src/kernel/NAME.h, what its kernels take in NAME_arguments.h, and one C file
/// src/device/compute/NAME.c that compiles the text as C and lists its kernels (see basic.c). The
/// host launches a kernel by name, buffers and numbers by name too:
///
///     fill_words_run(device, count, (fill_words_buffers){ .words = buffer },
///                    (fill_words_arguments){ .value = -1 });
///
/// Launches run in the order they are given; cutis_buffer_read waits for them. Invariant: an item
/// kernel gives the same bits on every device.
#ifndef CUTIS_DEVICE_COMPUTE_H
#define CUTIS_DEVICE_COMPUTE_H

#include <string.h>

#include "device/device.h"
#include "kernel/arguments.h"

enum {
    CUTIS_COMPUTE_BUFFERS = 32,        ///< most that a kernel takes
    CUTIS_COMPUTE_ARGUMENT_BYTES = 896 ///< most of its struct; OpenCL allows 1024 for all
};

/// Instruction sets that a program can be compiled for once more ("wide", room.cmake).
typedef enum cutis_compute_width {
    CUTIS_COMPUTE_PLAIN,
    CUTIS_COMPUTE_AVX2,
    CUTIS_COMPUTE_AVX512,
    CUTIS_COMPUTE_WIDTHS
} cutis_compute_width;

/// A kernel's text as C, over items [first, end).
/// @param buffers addresses, in the order of the list; @param arguments the struct, unaligned
typedef void cutis_compute_function(void *const *buffers, const void *arguments, int first,
                                    int end);

typedef struct cutis_compute_kernel {
    const char *entry; ///< its name in the text, at most 31 characters
    /// Texts after "kernel.h", "arguments.h" and "item.h", in order, NULL-ended.
    const char *const *texts;
    const char *defines; ///< lines of #define before them, as the C file has them; or NULL
    cutis_compute_function *run[CUTIS_COMPUTE_WIDTHS]; ///< NULL: the narrower one before it
    uint32_t buffer_count, argument_size;
    const bool *writes;   ///< per buffer: it is an OUT
    uint32_t task_items;  ///< CPU: items of one task; 0: 256
    uint32_t alone_tasks; ///< CPU: so few are done before another thread has woken up; 0: one
    uint32_t group_size;  ///< GPU: work items of a group; 0: 128
    uint32_t
        registers;   ///< GPU: of a work item at most (drivers that can); 0: the compiler's choice
    uint32_t lanes;  ///< GPU: of a team that does one item (kernel/team.h); 0 or 1: none
    bool brief;      ///< GPU: compiled in no time, so with others of its text (program.c)
    bool plain_team; ///< its TEAM_SYNCs are few and never in a branch: any GPU's compiler can
} cutis_compute_kernel;

/// Run `item_count` items: NAME_run of CUTIS_COMPUTE_DECLARE is the call to use. GPU: the launch is
/// queued, and its errors may show at a later call.
/// @param buffers   a NAME_buffers; a buffer may be NULL where the kernel says so
/// @param arguments a NAME_arguments
cutis_result cutis_compute_run(cutis_device *device, const cutis_compute_kernel *kernel,
                               uint32_t item_count, const void *buffers, const void *arguments);

/// Compile kernels now, so that their first runs do not: together, which is quicker.
cutis_result cutis_compute_prepare(cutis_device *device, const cutis_compute_kernel *const *kernels,
                                   uint32_t count);

#define CUTIS_COMPUTE_FIELD(type, name) const cutis_buffer *name;
/// The host's side of a kernel, from its list: NAME_buffers, cutis_compute_NAME and NAME_run.
#define CUTIS_COMPUTE_DECLARE(kernel, BUFFERS)                                                     \
    typedef struct kernel##_buffers {                                                              \
        BUFFERS(CUTIS_COMPUTE_FIELD, CUTIS_COMPUTE_FIELD)                                          \
    } kernel##_buffers;                                                                            \
    extern const cutis_compute_kernel cutis_compute_##kernel;                                      \
    static inline cutis_result kernel##_run(cutis_device *device, uint32_t item_count,             \
                                            kernel##_buffers buffers,                              \
                                            kernel##_arguments arguments)                          \
    {                                                                                              \
        return cutis_compute_run(device, &cutis_compute_##kernel, item_count, &buffers,            \
                                 &arguments);                                                      \
    }

#define CUTIS_COMPUTE_IN(type, name)    const type *name;
#define CUTIS_COMPUTE_OUT(type, name)   type *name;
#define CUTIS_COMPUTE_PASS(type, name)  buffer.name,
#define CUTIS_COMPUTE_COUNT(type, name) +1
#define CUTIS_COMPUTE_READ(type, name)  false,
#define CUTIS_COMPUTE_WRITE(type, name) true,
/// The text of a kernel as a cutis_compute_function, in a program's C file.
#define CUTIS_COMPUTE_FUNCTION(function, kernel, BUFFERS)                                          \
    function(void *const *buffers, const void *arguments, int first, int end)                      \
    {                                                                                              \
        struct {                                                                                   \
            BUFFERS(CUTIS_COMPUTE_IN, CUTIS_COMPUTE_OUT)                                           \
        } buffer;                                                                                  \
        kernel##_arguments given;                                                                  \
        memcpy(&buffer, buffers, sizeof buffer);                                                   \
        memcpy(&given, arguments, sizeof given);                                                   \
        given.item_first = first;                                                                  \
        given.item_end = end;                                                                      \
        kernel(BUFFERS(CUTIS_COMPUTE_PASS, CUTIS_COMPUTE_PASS) given);                             \
    }
#define CUTIS_COMPUTE_DESCRIBE(kernel, BUFFERS)                                                    \
    .entry = #kernel, .buffer_count = 0 BUFFERS(CUTIS_COMPUTE_COUNT, CUTIS_COMPUTE_COUNT),         \
    .argument_size = sizeof(kernel##_arguments), .writes = (const bool[])                          \
    {                                                                                              \
        BUFFERS(CUTIS_COMPUTE_READ, CUTIS_COMPUTE_WRITE)                                           \
    }
/// A kernel of a program that is compiled once; what follows the list are further fields.
#define CUTIS_COMPUTE_KERNEL(kernel, BUFFERS, ...)                                                 \
    static void CUTIS_COMPUTE_FUNCTION(run_##kernel, kernel, BUFFERS)                              \
        const cutis_compute_kernel cutis_compute_##kernel = {                                      \
            CUTIS_COMPUTE_DESCRIBE(kernel, BUFFERS), .run = { run_##kernel }, __VA_ARGS__          \
        }

/// Widths that this machine's programs are compiled for (room.cmake names their functions).
#if (defined(__x86_64__) || defined(__i386__)) && !defined(CUTIS_SCALAR_ONLY)
#define CUTIS_COMPUTE_EACH_WIDTH(X, kernel) X(kernel, plain) X(kernel, avx2) X(kernel, avx512)
#else
#define CUTIS_COMPUTE_EACH_WIDTH(X, kernel) X(kernel, plain)
#endif
#define CUTIS_COMPUTE_WIDE_DECLARE(kernel, width)                                                  \
    cutis_compute_function cutis_compute_##kernel##_##width;
#define CUTIS_COMPUTE_WIDE_NAME(kernel, width) cutis_compute_##kernel##_##width,
/// A kernel of a program that is compiled for every width: NAME_wide.h has its functions.
#define CUTIS_COMPUTE_WIDE_KERNEL(kernel, BUFFERS, ...)                                            \
    CUTIS_COMPUTE_EACH_WIDTH(CUTIS_COMPUTE_WIDE_DECLARE, kernel)                                   \
    const cutis_compute_kernel cutis_compute_##kernel = {                                          \
        CUTIS_COMPUTE_DESCRIBE(kernel, BUFFERS),                                                   \
        .run = { CUTIS_COMPUTE_EACH_WIDTH(CUTIS_COMPUTE_WIDE_NAME, kernel) }, __VA_ARGS__          \
    }

#endif
