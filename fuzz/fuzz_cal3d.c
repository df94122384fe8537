// Cal3D: skeletons, meshes and animations, binary and XML.
#define MUTATE_LINES
#include "target.h"

static void target(const uint8_t *data, size_t size)
{
    run_model("fuzz.csf", data, size, CUTIS_GATE_REFUSE);
    run_model("fuzz.xmf", data, size, CUTIS_GATE_REPAIR);
    run_clip(data, size);
}
