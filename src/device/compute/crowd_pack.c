// The program of crowd_pack.h: vertices of crowds in fewer bits.
#include "device/compute/crowd.h"

#include "kernel/crowd_pack.h"

static const char *const TEXTS[] = { "crowd_arguments.h", "pack.h", "crowd_pack.h", NULL };

CUTIS_COMPUTE_KERNEL(crowd_pack, CROWD_PACK_BUFFERS, .texts = TEXTS, .task_items = 4096);
