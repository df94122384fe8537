// GLB and glTF JSON: read with both gates, and inspected.
#include "target.h"

static void target(const uint8_t *data, size_t size)
{
    const char *name = size >= 4 && memcmp(data, "glTF", 4) == 0 ? "fuzz.glb" : "fuzz.gltf";
    run_model(name, data, size, CUTIS_GATE_REFUSE);
    run_model(name, data, size, CUTIS_GATE_REPAIR);
}
