// The program of cage.h: mean value coordinates and frames of cages. The relaxation is in
// cage_grid.c, because it wants other vectors.
#include "device/compute/cage.h"

#include "kernel/kernel.h"
//
#include "kernel/item.h"
//
#include "kernel/cage.h"

static const char *const TEXTS[] = { "cage.h", NULL };

#define P(i) cutis_compute_pointer(&a[i])
#define N(i) a[i].number

static void run_mean_value(const cutis_compute_argument *a, int first, int end)
{
    cage_mean_value(P(0), P(1), P(2), P(3), P(4), N(5), N(6), N(7), N(8), a[9].wide, first, end);
}

static void run_weights_to_float(const cutis_compute_argument *a, int first, int end)
{
    cage_weights_to_float(P(0), P(1), N(2), N(3), N(4), first, end);
}

static void run_deform(const cutis_compute_argument *a, int first, int end)
{
    cage_deform(P(0), P(1), P(2), P(3), P(4), P(5), P(6), P(7), P(8), P(9), N(10), N(11), N(12),
                N(13), N(14), N(15), N(16), N(17), N(18), N(19), N(20), N(21), N(22), first, end);
}

static void run_face_normals(const cutis_compute_argument *a, int first, int end)
{
    cage_face_normals(P(0), P(1), P(2), P(3), P(4), N(5), N(6), N(7), N(8), N(9), first, end);
}

static void run_bounds(const cutis_compute_argument *a, int first, int end)
{
    cage_bounds(P(0), P(1), N(2), N(3), N(4), N(5), first, end);
}

const cutis_compute_kernel cutis_compute_cage_mean_value = {
    .entry = "cage_mean_value",
    .texts = TEXTS,
    .run = run_mean_value,
    .argument_count = 10,
    .task_items = 16, // some microseconds each
};
const cutis_compute_kernel cutis_compute_cage_weights_to_float = {
    .entry = "cage_weights_to_float",
    .texts = TEXTS,
    .run = run_weights_to_float,
    .argument_count = 5,
};
const cutis_compute_kernel cutis_compute_cage_deform = {
    .entry = "cage_deform",
    .texts = TEXTS,
    .run = run_deform,
    .argument_count = 23,
    .task_items = 1024,
};
const cutis_compute_kernel cutis_compute_cage_face_normals = {
    .entry = "cage_face_normals",
    .texts = TEXTS,
    .run = run_face_normals,
    .argument_count = 10,
    .task_items = 4096,
};
const cutis_compute_kernel cutis_compute_cage_bounds = {
    .entry = "cage_bounds",
    .texts = TEXTS,
    .run = run_bounds,
    .argument_count = 6,
    .task_items = 8,
};
