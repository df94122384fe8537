/// Poses of a cage from files: meshes (one pose each), arrays [poses, controls, 3], or models whose
/// clip moves the cage (morph targets, joints).
#ifndef CUTIS_CLI_CAGE_POSES_H
#define CUTIS_CLI_CAGE_POSES_H

#include "app.h"

typedef struct cage_poses {
    uint32_t count;
    float *values; ///< 3 * control_count per pose
} cage_poses;

/// @param list files separated by commas; @param fps frames a second that are taken of a clip
int cage_poses_read(cli_app *app, const char *list, const cutis_cage *cage, double fps,
                    cage_poses *out);
void cage_poses_release(cage_poses *poses);

#endif
