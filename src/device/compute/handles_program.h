/// What the three programs of handle weights share: their arguments by number, and the line that
/// makes a kernel of a text. Only for src/device/compute/handles*.c.
#ifndef CUTIS_DEVICE_COMPUTE_HANDLES_PROGRAM_H
#define CUTIS_DEVICE_COMPUTE_HANDLES_PROGRAM_H

#include "device/compute/handles.h"

#define POINTER(i) cutis_compute_pointer(&a[i])
#define NUMBER(i)  a[i].number
#define WIDE(i)    a[i].wide

/// After `TEXTS` and `run_name`. Compiled one by one on GPUs: a device that needs one kernel does
/// not wait for all.
#define PROGRAM(name, wanted, count)                                                               \
    const cutis_compute_kernel cutis_compute_handles_##name = {                                    \
        .entry = "cutis_handles_" #name,                                                           \
        .texts = TEXTS,                                                                            \
        .defines = "#define HANDLES_ONE\n#define HANDLES_" #wanted "\n",                           \
        .run_old = run_##name,                                                                     \
        .argument_count = count,                                                                   \
    }

#endif
