// GLB and glTF JSON: read with both gates, and inspected.
#define MUTATE_GLTF
#include "target.h"

static void target(const uint8_t *data, size_t size)
{
    const char *name = size >= 4 && memcmp(data, "glTF", 4) == 0 ? "fuzz.glb" : "fuzz.gltf";
#ifdef CUTIS_FUZZ_FAST
    if (run_choice(data, size, 3) == 2)
        run_inspect(name, data, size);
    else
        run_gates(name, data, size);
#else
    run_gates(name, data, size);
    run_inspect(name, data, size);
#endif
}
