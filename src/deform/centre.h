/// Rotation centres of bone sets of equal size, several at a time (docs/spec/blending.md 4.2).
#ifndef CUTIS_DEFORM_CENTRE_H
#define CUTIS_DEFORM_CENTRE_H

#include "device/device.h"

/// @param centres laid out like the group's reference points
void cutis_centre_solve(const cutis_bone_work *work, const cutis_centre_group *group,
                        double *centres);

#endif
