// Pose files (JSON) for a small character.
#include "target.h"

static void target(const uint8_t *data, size_t size)
{
    run_pose(data, size);
}
