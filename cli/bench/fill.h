/// How fast a GPU can fill memory: the floor of any kernel that writes its vertices.
#ifndef CUTIS_CLI_BENCH_FILL_H
#define CUTIS_CLI_BENCH_FILL_H

#include "app.h"

/// Seconds to fill `buffer` (`size` bytes) with the API's own call: cuMemsetD32Async or
/// clEnqueueFillBuffer.
/// @return CUTIS_UNSUPPORTED on a CPU, or if the driver has no such call
cutis_result bench_fill_time(cutis_device *device, cutis_buffer *buffer, uint64_t size,
                             double budget, double *seconds);

#endif
