// The program that voxelises shapes: the text as C, and its kernels.
#include "device/compute/handles_program.h"
#include "kernel/kernel.h"
//
#include "kernel/item.h"
//
#include "kernel/handles_grid.h"

static const char *const TEXTS[] = { "handles_grid.h", NULL };

static void run_surfaces(const cutis_compute_argument *a, int first, int end)
{
    cutis_handles_surfaces(POINTER(0), POINTER(1), POINTER(2), NUMBER(3), NUMBER(4), NUMBER(5),
                           NUMBER(6), WIDE(7), WIDE(8), WIDE(9), WIDE(10), first, end);
}

static void run_corners(const cutis_compute_argument *a, int first, int end)
{
    cutis_handles_corners(POINTER(0), POINTER(1), NUMBER(2), NUMBER(3), NUMBER(4), WIDE(5), WIDE(6),
                          WIDE(7), WIDE(8), first, end);
}

static void run_balls(const cutis_compute_argument *a, int first, int end)
{
    cutis_handles_balls(POINTER(0), POINTER(1), POINTER(2), NUMBER(3), NUMBER(4), NUMBER(5),
                        WIDE(6), WIDE(7), WIDE(8), WIDE(9), WIDE(10), first, end);
}

static void run_flood(const cutis_compute_argument *a, int first, int end)
{
    cutis_handles_flood(POINTER(0), POINTER(1), NUMBER(2), NUMBER(3), NUMBER(4), NUMBER(5),
                        NUMBER(6), first, end);
}

PROGRAM(surfaces, SURFACES, 11);
PROGRAM(corners, CORNERS, 9);
PROGRAM(balls, BALLS, 11);
PROGRAM(flood, FLOOD, 7);
