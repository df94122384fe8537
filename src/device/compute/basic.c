// The program of basic.h: filling and sums. Also the pattern for other programs.
#include "device/compute/basic.h"

#include "kernel/basic.h"

static const char *const TEXTS[] = { "basic_arguments.h", "basic.h", NULL };

CUTIS_COMPUTE_KERNEL(fill_words, FILL_WORDS_BUFFERS, .texts = TEXTS, .task_items = 1 << 16);
CUTIS_COMPUTE_KERNEL(sum_stretches, SUM_STRETCHES_BUFFERS, .texts = TEXTS);
