// The program of the blending patches: one frame of many instances, launch after launch.
#include "device/compute.h"
#include "kernel/kernel.h"
//
#include "kernel/item.h"
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
#include "kernel/patches_solve.h"
//
#include "kernel/patches_emit.h"

static const char *const TEXTS[] = { "patches.h",        "patches_joint.h", "patches_room.h",
                                     "patches_cut.h",    "patches_border.h", "patches_rung.h",
                                     "patches_solve.h",  "patches_emit.h",   NULL };

#define POINTER(i) cutis_compute_pointer(&a[i])

static void run_parts(const cutis_compute_argument *a, int first, int end)
{
    patch_parts(POINTER(0), POINTER(1), POINTER(2), POINTER(3), first, end);
}
static void run_joints(const cutis_compute_argument *a, int first, int end)
{
    patch_joints(POINTER(0), POINTER(1), POINTER(2), POINTER(3), first, end);
}
static void run_clear(const cutis_compute_argument *a, int first, int end)
{
    patch_clear(POINTER(0), POINTER(1), first, end);
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

#define PATCH_KERNEL(name, arguments, items)                                                       \
    const cutis_compute_kernel cutis_compute_patch_##name = { .entry = "patch_" #name,             \
                                                              .texts = TEXTS,                      \
                                                              .run = run_##name,                   \
                                                              .argument_count = arguments,         \
                                                              .task_items = items,                 \
                                                              .group_size = 64 }
PATCH_KERNEL(parts, 4, 256);
PATCH_KERNEL(joints, 4, 32);
PATCH_KERNEL(clear, 2, 1 << 15);
PATCH_KERNEL(cut, 4, 1);
PATCH_KERNEL(rungs, 4, 1);
PATCH_KERNEL(cut_volume, 4, 1);
PATCH_KERNEL(solve, 4, 1);
PATCH_KERNEL(count, 2, 512);
PATCH_KERNEL(sum, 3, 16);
PATCH_KERNEL(vertices, 9, 64);
PATCH_KERNEL(faces, 7, 64);
PATCH_KERNEL(strips, 11, 1);
