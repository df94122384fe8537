// The programs of handle weights: their texts as C, and their kernels.
#include "device/compute/handles.h"

#include "kernel/handles_distance.h"
#include "kernel/handles_grid.h"
#include "kernel/handles_levels.h"
#include "kernel/handles_multigrid.h"
#include "kernel/handles_sample.h"
#include "kernel/handles_virtual.h"

static const char *const GRID[] = { "handles_arguments.h", "handles.h", "handles_grid.h", NULL };
static const char *const DISTANCE[] = { "handles_arguments.h", "handles.h", "handles_distance.h",
                                        NULL };
static const char *const LEVELS[] = { "handles_arguments.h", "handles.h", "handles_levels.h",
                                      NULL };
static const char *const MULTIGRID[] = { "handles_arguments.h", "handles.h", "handles_multigrid.h",
                                         NULL };
static const char *const SAMPLE[] = { "handles_arguments.h", "handles.h", "handles_sample.h",
                                      NULL };
static const char *const VIRTUAL[] = { "handles_arguments.h", "handles.h", "handles_virtual.h",
                                       NULL };

// A range of two tasks is done before another thread has woken up.
#define PLAIN(kernel, BUFFERS, text, items)                                                        \
    CUTIS_COMPUTE_KERNEL(kernel, BUFFERS, .texts = text, .task_items = (items), .alone_tasks = 2,  \
                         .brief = true);
#define WIDE(kernel, BUFFERS, text, items)                                                         \
    CUTIS_COMPUTE_WIDE_KERNEL(kernel, BUFFERS, .texts = text, .task_items = (items),               \
                              .alone_tasks = 2, .brief = true);
HANDLES_PLAIN(PLAIN)
HANDLES_WIDE(WIDE)
