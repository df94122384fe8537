// The program of basic.h: filling and sums. Also the pattern for other programs.
#include "device/compute.h"
#include "kernel/kernel.h"
//
#include "kernel/item.h"
//
#include "kernel/basic.h"

static const char *const TEXTS[] = { "basic.h", NULL };

static void run_fill(const cutis_compute_argument *a, int first, int end)
{
    cutis_fill_words(cutis_compute_pointer(&a[0]), a[1].number, first, end);
}

static void run_sum(const cutis_compute_argument *a, int first, int end)
{
    cutis_sum_stretches(cutis_compute_pointer(&a[0]), cutis_compute_pointer(&a[1]), a[2].number,
                        a[3].number, first, end);
}

const cutis_compute_kernel cutis_compute_fill = {
    .entry = "cutis_fill_words",
    .texts = TEXTS,
    .run = run_fill,
    .argument_count = 2,
    .task_items = 1 << 16,
};
const cutis_compute_kernel cutis_compute_sum = {
    .entry = "cutis_sum_stretches",
    .texts = TEXTS,
    .run = run_sum,
    .argument_count = 4,
};
