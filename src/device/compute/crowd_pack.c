// The program of crowd_pack.h: vertices of crowds in fewer bits. Its text is a GPU's alone: CPUs
// have crowd_pack_wide.h.
#include "device/compute/crowd.h"

static const char *const TEXTS[] = { "crowd_arguments.h", "pack.h", "crowd_pack.h", NULL };

CUTIS_COMPUTE_WIDE_KERNEL(crowd_pack, CROWD_PACK_BUFFERS, .texts = TEXTS, .task_items = 4096);
