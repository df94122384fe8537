// STL text and binary, read with both gates.
#define MUTATE_LINES
#include "target.h"

static void target(const uint8_t *data, size_t size)
{
    run_gates("fuzz.stl", data, size);
}
