// The program of scan.h: the text as C, its kernels, and the levels of a scan. Integers, so any
// order of adding gives the same.
#include "device/compute/scan.h"

#include "kernel/kernel.h"
//
#include "kernel/item.h"
//
#include "kernel/scan.h"

static const char *const TEXTS[] = { "scan.h", NULL };

static void run_sums(const cutis_compute_argument *a, int first, int end)
{
    cutis_scan_sums(cutis_compute_pointer(&a[0]), a[1].number, a[2].number, a[3].number, first,
                    end);
}

static void run_spread(const cutis_compute_argument *a, int first, int end)
{
    cutis_scan_spread(cutis_compute_pointer(&a[0]), a[1].number, a[2].number, a[3].number, first,
                      end);
}

static const cutis_compute_kernel SUMS = {
    .entry = "cutis_scan_sums",
    .texts = TEXTS,
    .run = run_sums,
    .argument_count = 4,
};
static const cutis_compute_kernel SPREAD = {
    .entry = "cutis_scan_spread",
    .texts = TEXTS,
    .run = run_spread,
    .argument_count = 4,
};

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
    cutis_result result = CUTIS_OK;
    for (; stretches(counts[levels - 1]) > 1 && result == CUTIS_OK; levels++) {
        const uint32_t before = counts[levels - 1];
        at[levels] = at[levels - 1] + before + 1;
        counts[levels] = stretches(before);
        const cutis_compute_argument arguments[] = { CUTIS_BUFFER_ARGUMENT(words),
                                                     CUTIS_INT_ARGUMENT(at[levels - 1]),
                                                     CUTIS_INT_ARGUMENT(before),
                                                     CUTIS_INT_ARGUMENT(at[levels]) };
        result = cutis_compute_run(device, &SUMS, counts[levels], arguments);
    }
    for (int l = levels - 1; l >= 0 && result == CUTIS_OK; l--) {
        const int to = l + 1 < levels ? (int)at[l + 1] : -1;
        const cutis_compute_argument arguments[] = { CUTIS_BUFFER_ARGUMENT(words),
                                                     CUTIS_INT_ARGUMENT(at[l]),
                                                     CUTIS_INT_ARGUMENT(counts[l]),
                                                     CUTIS_INT_ARGUMENT(to) };
        result = cutis_compute_run(device, &SPREAD, stretches(counts[l]), arguments);
    }
    return result;
}
