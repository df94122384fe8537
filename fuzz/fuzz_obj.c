// OBJ text, read with both gates.
#include "target.h"

static void target(const uint8_t *data, size_t size)
{
    run_model("fuzz.obj", data, size, CUTIS_GATE_REFUSE);
    run_model("fuzz.obj", data, size, CUTIS_GATE_REPAIR);
}
