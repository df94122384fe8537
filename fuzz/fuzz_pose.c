// Pose files and maps of joints (JSON) for a small character, limits of players, and labels of
// triangles.
#define MUTATE_JSON
#include "target.h"

static void target(const uint8_t *data, size_t size)
{
    run_pose(data, size);
    run_joint_map(data, size);
    run_limits(data, size);
    run_labels(data, size);
}
