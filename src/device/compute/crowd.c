// The program of crowd.h: states, poses and centres of a crowd, in double.
#define KERNEL_DOUBLE
#include "device/compute/crowd.h"

#include "kernel/crowd.h"
#include "kernel/crowd_pose.h"

#define DOUBLES "#define KERNEL_DOUBLE\n"
static const char *const TEXTS[] = { "algebra.h",    "bone.h",  "eigen.h", "crowd_arguments.h",
                                     "crowd_bone.h", "crowd.h", NULL };
// By itself: OpenCL has no teams beside plain items.
static const char *const POSE_TEXTS[] = {
    "algebra.h",    "bone.h",       "team.h", "crowd_bone.h", "crowd_arguments.h", "crowd_time.h",
    "crowd_clip.h", "crowd_pose.h", NULL
};

CUTIS_COMPUTE_KERNEL(crowd_update, CROWD_UPDATE_BUFFERS, .texts = TEXTS, .defines = DOUBLES,
                     .task_items = 4096);
CUTIS_COMPUTE_KERNEL(crowd_pose, CROWD_POSE_BUFFERS, .texts = POSE_TEXTS, .defines = DOUBLES,
                     .task_items = 4, .lanes = 32, .plain_team = true, .group_size = 64);
CUTIS_COMPUTE_KERNEL(crowd_centres, CROWD_CENTRES_BUFFERS, .texts = TEXTS, .defines = DOUBLES,
                     .task_items = 64, .group_size = 64);
