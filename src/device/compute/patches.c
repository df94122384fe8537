// The program of the blending patches: one frame of many instances, launch after launch.
#include "device/compute/patches.h"

#include "kernel/patches_rest.h"
#include "kernel/patches_source.h"

// Each kernel with no more text than it needs: GPU compilers read all of it, for every kernel.
#define JOINT_TEXTS                                                                                \
    "team.h", "patches_fields.h", "patches_arguments.h", "patches.h", "patches_joint.h"
#define BORDER_TEXTS JOINT_TEXTS, "patches_territory.h", "patches_cut.h", "patches_border.h"
#define RUNG_TEXTS   BORDER_TEXTS, "patches_rung.h"
#define SOLVE_TEXTS                                                                                \
    RUNG_TEXTS, "patches_conic.h", "patches_curve.h", "patches_keep.h", "patches_solve.h"
static const char *const JOINT[] = { JOINT_TEXTS, NULL };
static const char *const BORDER[] = { BORDER_TEXTS, NULL };
static const char *const RUNG[] = { RUNG_TEXTS, NULL };
static const char *const SOLVE[] = { SOLVE_TEXTS, NULL };
static const char *const EMIT[] = { SOLVE_TEXTS, "patches_emit.h", NULL };
static const char *const REST[] = { SOLVE_TEXTS, "patches_emit.h", "patches_rest.h", NULL };
static const char *const SOURCE[] = { SOLVE_TEXTS, "patches_emit.h", "patches_source.h", NULL };

// Registers, lanes of a team and groups: those with which the H200 was fastest
// (docs/design/patches.md). Teams of a joint's walk are half a warp: one lane walks.
#define PATCH_KERNEL(name, list, text, items, group, team, most)                                   \
    CUTIS_COMPUTE_KERNEL(patch_##name, PATCH_##list##_BUFFERS, .texts = text, .task_items = items, \
                         .group_size = group, .lanes = team, .registers = most)
PATCH_KERNEL(parts, PARTS, JOINT, 256, 64, 1, 0);
PATCH_KERNEL(joints, JOINTS, JOINT, 32, 64, 1, 0);
PATCH_KERNEL(cut, CUT, BORDER, 1, 128, 32, 72);
PATCH_KERNEL(rungs, RUNGS, RUNG, 1, 64, 16, 96);
PATCH_KERNEL(cut_volume, CUT_VOLUME, BORDER, 1, 64, 32, 64);
PATCH_KERNEL(solve, SOLVE, SOLVE, 1, 128, 32, 128);
PATCH_KERNEL(rest, REST, REST, 8, 64, 32, 96);
PATCH_KERNEL(count, COUNT, EMIT, 64, 64, 32, 0);
PATCH_KERNEL(sum, SUM, EMIT, 16, 64, 32, 0);
PATCH_KERNEL(vertices, VERTICES, EMIT, 8, 64, 32, 48);
PATCH_KERNEL(faces, FACES, EMIT, 8, 64, 32, 40);
PATCH_KERNEL(strips, STRIPS, EMIT, 1, 64, 32, 96);
PATCH_KERNEL(vertex_sources, VERTEX_SOURCES, SOURCE, 8, 64, 32, 0);
PATCH_KERNEL(joint_sources, JOINT_SOURCES, SOURCE, 1, 64, 32, 0);
PATCH_KERNEL(origins, ORIGINS, SOURCE, 8, 64, 32, 0);
PATCH_KERNEL(no_origins, NO_ORIGINS, SOURCE, 16, 64, 32, 0);
