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

static void run_rows(const cutis_compute_argument *a, int first, int end)
{
    cutis_handles_rows(POINTER(0), POINTER(1), NUMBER(2), NUMBER(3), NUMBER(4), first, end);
}

static void run_number(const cutis_compute_argument *a, int first, int end)
{
    cutis_handles_number(POINTER(0), POINTER(1), POINTER(2), POINTER(3), NUMBER(4), NUMBER(5),
                         NUMBER(6), first, end);
}

static void run_links(const cutis_compute_argument *a, int first, int end)
{
    cutis_handles_links(POINTER(0), POINTER(1), POINTER(2), POINTER(3), NUMBER(4), NUMBER(5), first,
                        end);
}

static void run_pieces(const cutis_compute_argument *a, int first, int end)
{
    cutis_handles_pieces(POINTER(0), POINTER(1), POINTER(2), POINTER(3), first, end);
}

static void run_roots(const cutis_compute_argument *a, int first, int end)
{
    cutis_handles_roots(POINTER(0), POINTER(1), first, end);
}

static void run_names(const cutis_compute_argument *a, int first, int end)
{
    cutis_handles_names(POINTER(0), POINTER(1), POINTER(2), first, end);
}

PROGRAM(surfaces, SURFACES, 11);
PROGRAM(corners, CORNERS, 9);
PROGRAM(balls, BALLS, 11);
PROGRAM(flood, FLOOD, 7);
PROGRAM(rows, ROWS, 5);
PROGRAM(number, NUMBER, 7);
PROGRAM(links, LINKS, 6);
PROGRAM(pieces, PIECES, 4);
PROGRAM(roots, ROOTS, 2);
PROGRAM(names, NAMES, 3);
