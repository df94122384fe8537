/// What a frame of blending patches is as a shell: closed or not, its volume, and which triangles
/// cross, those at a joint apart from those that the pose brings together.
#ifndef CUTIS_CLI_PATCHES_FACTS_H
#define CUTIS_CLI_PATCHES_FACTS_H

#include "patches.h"

typedef struct patch_facts {
    cutis_manifold manifold;
    cutis_crossings crossings;
    uint64_t own;    ///< triangles that cross another one of the same joint's surroundings
    uint64_t posed;  ///< those that cross others only: a hand through a thigh
    uint32_t *joint; ///< joint_count: triangles of `own` in the surroundings of each
    double volume;
} patch_facts;

/// Of the frame that is played. The surroundings of a joint are its two parts, its patch, and the
/// other patches of these parts.
int patch_facts_make(cli_app *app, const char *path, const patch_play *played, patch_facts *out);
void patch_facts_release(patch_facts *facts);

#endif
