// The program of basic.h, and the levels of a scan (integers, so any order of adding gives the
// same). Also the pattern for other programs.
#include "device/compute/basic.h"

#include "base/error.h"
#include "kernel/basic.h"

static const char *const TEXTS[] = { "basic_arguments.h", "basic.h", NULL };

CUTIS_COMPUTE_KERNEL(fill_words, FILL_WORDS_BUFFERS, .texts = TEXTS, .brief = true,
                     .task_items = 1 << 16);
CUTIS_COMPUTE_KERNEL(sum_stretches, SUM_STRETCHES_BUFFERS, .texts = TEXTS);
CUTIS_COMPUTE_KERNEL(scan_sums, SCAN_SUMS_BUFFERS, .texts = TEXTS, .brief = true);
CUTIS_COMPUTE_KERNEL(scan_spread, SCAN_SPREAD_BUFFERS, .texts = TEXTS, .brief = true);
CUTIS_COMPUTE_KERNEL(stream_copy, STREAM_COPY_BUFFERS, .texts = TEXTS, .task_items = 4096);
CUTIS_COMPUTE_KERNEL(stream_bounds, STREAM_BOUNDS_BUFFERS, .texts = TEXTS, .task_items = 8);

// Of `count` words and the total behind them.
static uint32_t stretches(uint32_t count)
{
    return count / SCAN_STRETCH + 1;
}

uint64_t cutis_compute_scan_words(uint32_t count)
{
    uint64_t words = (uint64_t)count + 1;
    while (stretches(count) > 1) {
        count = stretches(count);
        words += (uint64_t)count + 1;
    }
    return words;
}

cutis_result cutis_compute_scan(cutis_device *device, cutis_buffer *words, uint32_t count)
{
    uint32_t at[8] = { 0 }, counts[8] = { count }; // 64 ^ 6 > 2^32
    int levels = 1;
    for (; stretches(counts[levels - 1]) > 1; levels++) {
        const uint32_t before = counts[levels - 1];
        at[levels] = at[levels - 1] + before + 1;
        counts[levels] = stretches(before);
        TRY(scan_sums_run(device, counts[levels], (scan_sums_buffers){ .words = words },
                          (scan_sums_arguments){ .at = (int)at[levels - 1],
                                                 .count = (int)before,
                                                 .to = (int)at[levels] }));
    }
    for (int l = levels - 1; l >= 0; l--)
        TRY(scan_spread_run(
            device, stretches(counts[l]), (scan_spread_buffers){ .words = words },
            (scan_spread_arguments){ .at = (int)at[l],
                                     .count = (int)counts[l],
                                     .from = l + 1 < levels ? (int)at[l + 1] : -1 }));
    return CUTIS_OK;
}
