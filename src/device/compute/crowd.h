/// The programs of kernel/crowd.h and kernel/crowd_pack.h.
#ifndef CUTIS_DEVICE_COMPUTE_CROWD_H
#define CUTIS_DEVICE_COMPUTE_CROWD_H

#include "device/compute.h"
#include "kernel/crowd_arguments.h"

CUTIS_COMPUTE_DECLARE(crowd_update, CROWD_UPDATE_BUFFERS)
CUTIS_COMPUTE_DECLARE(crowd_pose, CROWD_POSE_BUFFERS)
CUTIS_COMPUTE_DECLARE(crowd_centres, CROWD_CENTRES_BUFFERS)
CUTIS_COMPUTE_DECLARE(crowd_pack, CROWD_PACK_BUFFERS)

#endif
