// Handle files (JSON).
#define MUTATE_JSON
#include "target.h"

static void target(const uint8_t *data, size_t size)
{
    run_handles(data, size);
}
