// The program of the blending patches: one frame of many instances, launch after launch.
#include "device/compute.h"
#include "kernel/kernel.h"
//
#include "kernel/item.h"
//
#include "kernel/team.h"
//
#include "kernel/patches.h"
//
#include "kernel/patches_joint.h"
//
#include "kernel/patches_room.h"
//
#include "kernel/patches_cut.h"
//
#include "kernel/patches_border.h"
//
#include "kernel/patches_rung.h"
//
#include "kernel/patches_curve.h"
//
#include "kernel/patches_keep.h"
//
#include "kernel/patches_solve.h"
//
#include "kernel/patches_emit.h"
//
#include "kernel/patches_source.h"

// Each kernel with no more text than it needs: GPU compilers read all of it, for every kernel.
#define JOINT_TEXTS  "team.h", "patches.h", "patches_joint.h"
#define BORDER_TEXTS JOINT_TEXTS, "patches_room.h", "patches_cut.h", "patches_border.h"
#define RUNG_TEXTS   BORDER_TEXTS, "patches_rung.h"
#define SOLVE_TEXTS  RUNG_TEXTS, "patches_curve.h", "patches_keep.h", "patches_solve.h"
static const char *const JOINT[] = { JOINT_TEXTS, NULL };
static const char *const BORDER[] = { BORDER_TEXTS, NULL };
static const char *const RUNG[] = { RUNG_TEXTS, NULL };
static const char *const SOLVE[] = { SOLVE_TEXTS, NULL };
static const char *const EMIT[] = { SOLVE_TEXTS, "patches_emit.h", NULL };
static const char *const SOURCE[] = { SOLVE_TEXTS, "patches_emit.h", "patches_source.h", NULL };

#define POINTER(i) cutis_compute_pointer(&a[i])

static void run_parts(const cutis_compute_argument *a, int first, int end)
{
    patch_parts(POINTER(0), POINTER(1), POINTER(2), POINTER(3), first, end);
}
static void run_joints(const cutis_compute_argument *a, int first, int end)
{
    patch_joints(POINTER(0), POINTER(1), POINTER(2), POINTER(3), first, end);
}
static void run_cut(const cutis_compute_argument *a, int first, int end)
{
    patch_cut(POINTER(0), POINTER(1), POINTER(2), POINTER(3), first, end);
}
static void run_rungs(const cutis_compute_argument *a, int first, int end)
{
    patch_rungs(POINTER(0), POINTER(1), POINTER(2), POINTER(3), first, end);
}
static void run_cut_volume(const cutis_compute_argument *a, int first, int end)
{
    patch_cut_volume(POINTER(0), POINTER(1), POINTER(2), POINTER(3), first, end);
}
static void run_solve(const cutis_compute_argument *a, int first, int end)
{
    patch_solve(POINTER(0), POINTER(1), POINTER(2), POINTER(3), first, end);
}
static void run_count(const cutis_compute_argument *a, int first, int end)
{
    patch_count(POINTER(0), POINTER(1), first, end);
}
static void run_sum(const cutis_compute_argument *a, int first, int end)
{
    patch_sum(POINTER(0), POINTER(1), POINTER(2), first, end);
}
static void run_vertices(const cutis_compute_argument *a, int first, int end)
{
    patch_vertices(POINTER(0), POINTER(1), POINTER(2), POINTER(3), POINTER(4), POINTER(5),
                   POINTER(6), a[7].number, a[8].number, first, end);
}
static void run_faces(const cutis_compute_argument *a, int first, int end)
{
    patch_faces(POINTER(0), POINTER(1), POINTER(2), POINTER(3), POINTER(4), a[5].number,
                a[6].number, first, end);
}
static void run_strips(const cutis_compute_argument *a, int first, int end)
{
    patch_strips(POINTER(0), POINTER(1), POINTER(2), POINTER(3), POINTER(4), POINTER(5), POINTER(6),
                 POINTER(7), POINTER(8), a[9].number, a[10].number, first, end);
}

static void run_vertex_sources(const cutis_compute_argument *a, int first, int end)
{
    patch_vertex_sources(POINTER(0), POINTER(1), POINTER(2), POINTER(3), POINTER(4), POINTER(5),
                         a[6].number, a[7].number, first, end);
}
static void run_joint_sources(const cutis_compute_argument *a, int first, int end)
{
    patch_joint_sources(POINTER(0), POINTER(1), POINTER(2), POINTER(3), POINTER(4), POINTER(5),
                        POINTER(6), a[7].number, a[8].number, first, end);
}
static void run_origins(const cutis_compute_argument *a, int first, int end)
{
    patch_origins(POINTER(0), POINTER(1), POINTER(2), POINTER(3), a[4].number, a[5].number, first,
                  end);
}
static void run_no_origins(const cutis_compute_argument *a, int first, int end)
{
    patch_no_origins(POINTER(0), POINTER(1), POINTER(2), POINTER(3), a[4].number, a[5].number,
                     first, end);
}

// Registers, lanes of a team and groups: those with which the H200 was fastest
// (docs/design/patches.md). Teams of a joint's walk are half a warp: one lane walks.
#define PATCH_KERNEL(name, text, arguments, items, group, team, most)                              \
    const cutis_compute_kernel cutis_compute_patch_##name = { .entry = "patch_" #name,             \
                                                              .texts = text,                       \
                                                              .run_old = run_##name,               \
                                                              .argument_count = arguments,         \
                                                              .task_items = items,                 \
                                                              .group_size = group,                 \
                                                              .lanes = team,                       \
                                                              .registers = most }
PATCH_KERNEL(parts, JOINT, 4, 256, 64, 1, 0);
PATCH_KERNEL(joints, JOINT, 4, 32, 64, 1, 0);
PATCH_KERNEL(cut, BORDER, 4, 1, 128, 32, 72);
PATCH_KERNEL(rungs, RUNG, 4, 1, 64, 16, 96);
PATCH_KERNEL(cut_volume, BORDER, 4, 1, 64, 32, 64);
PATCH_KERNEL(solve, SOLVE, 4, 1, 128, 32, 128);
PATCH_KERNEL(count, EMIT, 2, 64, 64, 32, 0);
PATCH_KERNEL(sum, EMIT, 3, 16, 64, 32, 0);
PATCH_KERNEL(vertices, EMIT, 9, 8, 64, 32, 48);
PATCH_KERNEL(faces, EMIT, 7, 8, 64, 32, 40);
PATCH_KERNEL(strips, EMIT, 11, 1, 64, 32, 96);
PATCH_KERNEL(vertex_sources, SOURCE, 8, 8, 64, 32, 0);
PATCH_KERNEL(joint_sources, SOURCE, 9, 1, 64, 32, 0);
PATCH_KERNEL(origins, SOURCE, 6, 8, 64, 32, 0);
PATCH_KERNEL(no_origins, SOURCE, 6, 16, 64, 32, 0);
