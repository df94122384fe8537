// The program of the blending patches: one frame of many instances, launch after launch.
#include "device/compute/patches.h"

#include "kernel/patches_bent.h"
#include "kernel/patches_rest.h"
#include "kernel/patches_source.h"
#include "kernel/patches_swell.h"

// Each kernel with no more text than it needs: GPU compilers read all of it, for every kernel.
#define JOINT_TEXTS                                                                                \
    "team.h", "patches_fields.h", "patches_arguments.h", "patches.h", "patches_band.h",            \
        "patches_joint.h"
#define BORDER_TEXTS JOINT_TEXTS, "patches_territory.h", "patches_cut.h", "patches_border.h"
#define RUNG_TEXTS   BORDER_TEXTS, "patches_rung.h"
#define SOLVE_TEXTS                                                                                \
    RUNG_TEXTS, "patches_conic.h", "patches_curve.h", "patches_keep.h", "patches_solve.h"
#define EMIT_TEXTS SOLVE_TEXTS, "patches_out.h", "patches_emit.h"
static const char *const JOINT[] = { JOINT_TEXTS, NULL };
static const char *const BAND[] = { JOINT_TEXTS, "patches_swell.h", NULL };
static const char *const BENT[] = { JOINT_TEXTS, "patches_out.h", "patches_bent.h", NULL };
static const char *const BORDER[] = { BORDER_TEXTS, NULL };
static const char *const RUNG[] = { RUNG_TEXTS, NULL };
static const char *const SOLVE[] = { SOLVE_TEXTS, NULL };
static const char *const EMIT[] = { EMIT_TEXTS, NULL };
static const char *const REST[] = { EMIT_TEXTS, "patches_rest.h", NULL };
static const char *const SOURCE[] = { EMIT_TEXTS, "patches_source.h", NULL };

#define PATCH_KERNEL(kernel, BUFFERS, text, items, group, team, most)                              \
    CUTIS_COMPUTE_KERNEL(kernel, BUFFERS, .texts = text, .task_items = (items),                    \
                         .group_size = (group), .lanes = (team), .registers = (most));
#ifdef TEAM_HOST // a test that runs lanes of its own: all kernels are those of the texts above
#define PATCH_KERNEL_WIDE PATCH_KERNEL
#else
#define PATCH_KERNEL_WIDE(kernel, BUFFERS, text, items, group, team, most)                         \
    CUTIS_COMPUTE_WIDE_KERNEL(kernel, BUFFERS, .texts = text, .task_items = (items),               \
                              .group_size = (group), .lanes = (team), .registers = (most));
#endif
PATCH_KERNELS_PLAIN(PATCH_KERNEL)
PATCH_KERNELS_WIDE(PATCH_KERNEL_WIDE)
