// The program of VIRTUAL handle weights: the text as C, and its kernels.
#include "device/compute/handles_program.h"
#include "kernel/kernel.h"
//
#include "kernel/item.h"
//
#include "kernel/handles.h"
//
#include "kernel/handles_virtual.h"

static const char *const TEXTS[] = { "handles.h", "handles_virtual.h", NULL };

static void run_scatter(const cutis_compute_argument *a, int first, int end)
{
    cutis_handles_scatter(POINTER(0), POINTER(1), POINTER(2), first, end);
}

static void run_boxes(const cutis_compute_argument *a, int first, int end)
{
    cutis_handles_boxes(POINTER(0), POINTER(1), NUMBER(2), NUMBER(3), NUMBER(4), first, end);
}

static void run_around(const cutis_compute_argument *a, int first, int end)
{
    cutis_handles_around(POINTER(0), POINTER(1), POINTER(2), POINTER(3), POINTER(4), NUMBER(5),
                         NUMBER(6), NUMBER(7), WIDE(8), first, end);
}

static void run_fields(const cutis_compute_argument *a, int first, int end)
{
    cutis_handles_fields(POINTER(0), POINTER(1), POINTER(2), POINTER(3), POINTER(4), POINTER(5),
                         NUMBER(6), WIDE(7), first, end);
}

static void run_keep(const cutis_compute_argument *a, int first, int end)
{
    cutis_handles_keep(POINTER(0), POINTER(1), POINTER(2), NUMBER(3), first, end);
}

static void run_apart(const cutis_compute_argument *a, int first, int end)
{
    cutis_handles_apart(POINTER(0), POINTER(1), POINTER(2), POINTER(3), POINTER(4), NUMBER(5),
                        NUMBER(6), first, end);
}

static void run_cover(const cutis_compute_argument *a, int first, int end)
{
    cutis_handles_cover(POINTER(0), POINTER(1), POINTER(2), POINTER(3), POINTER(4), POINTER(5),
                        POINTER(6), POINTER(7), POINTER(8), POINTER(9), NUMBER(10), NUMBER(11),
                        NUMBER(12), first, end);
}

static void run_peaks(const cutis_compute_argument *a, int first, int end)
{
    cutis_handles_peaks(POINTER(0), POINTER(1), POINTER(2), NUMBER(3), first, end);
}

static void run_rank(const cutis_compute_argument *a, int first, int end)
{
    cutis_handles_rank(POINTER(0), POINTER(1), POINTER(2), NUMBER(3), first, end);
}

static void run_bound(const cutis_compute_argument *a, int first, int end)
{
    cutis_handles_bound(POINTER(0), POINTER(1), POINTER(2), POINTER(3), POINTER(4), POINTER(5),
                        POINTER(6), POINTER(7), NUMBER(8), NUMBER(9), NUMBER(10), NUMBER(11),
                        NUMBER(12), WIDE(13), WIDE(14), WIDE(15), WIDE(16), WIDE(17), WIDE(18),
                        first, end);
}

static void run_near(const cutis_compute_argument *a, int first, int end)
{
    cutis_handles_near(POINTER(0), POINTER(1), POINTER(2), NUMBER(3), NUMBER(4), NUMBER(5), first,
                       end);
}

static void run_support(const cutis_compute_argument *a, int first, int end)
{
    cutis_handles_support(POINTER(0), POINTER(1), POINTER(2), POINTER(3), POINTER(4), NUMBER(5),
                          WIDE(6), WIDE(7), WIDE(8), first, end);
}

static void run_clash(const cutis_compute_argument *a, int first, int end)
{
    cutis_handles_clash(POINTER(0), POINTER(1), POINTER(2), POINTER(3), POINTER(4), NUMBER(5),
                        NUMBER(6), first, end);
}

static void run_gain(const cutis_compute_argument *a, int first, int end)
{
    cutis_handles_gain(POINTER(0), POINTER(1), POINTER(2), POINTER(3), POINTER(4), POINTER(5),
                       POINTER(6), POINTER(7), NUMBER(8), NUMBER(9), NUMBER(10), NUMBER(11), first,
                       end);
}

static void run_borders(const cutis_compute_argument *a, int first, int end)
{
    cutis_handles_borders(POINTER(0), POINTER(1), POINTER(2), POINTER(3), first, end);
}

static void run_faces(const cutis_compute_argument *a, int first, int end)
{
    cutis_handles_faces(POINTER(0), POINTER(1), POINTER(2), POINTER(3), POINTER(4), POINTER(5),
                        POINTER(6), POINTER(7), POINTER(8), NUMBER(9), NUMBER(10), WIDE(11), first,
                        end);
}

static void run_fold(const cutis_compute_argument *a, int first, int end)
{
    cutis_handles_fold(POINTER(0), POINTER(1), POINTER(2), POINTER(3), POINTER(4), POINTER(5),
                       NUMBER(6), NUMBER(7), first, end);
}

static void run_pack(const cutis_compute_argument *a, int first, int end)
{
    cutis_handles_pack(POINTER(0), POINTER(1), POINTER(2), POINTER(3), POINTER(4), NUMBER(5), first,
                       end);
}

PROGRAM(scatter, SCATTER, 3);
PROGRAM(boxes, BOXES, 5);
PROGRAM(around, AROUND, 9);
PROGRAM(fields, FIELDS, 8);
PROGRAM(keep, KEEP, 4);
PROGRAM(apart, APART, 7);
PROGRAM(cover, COVER, 13);
PROGRAM(peaks, PEAKS, 4);
PROGRAM(rank, RANK, 4);
PROGRAM(bound, BOUND, 19);
PROGRAM(near, NEAR, 6);
PROGRAM(support, SUPPORT, 9);
PROGRAM(clash, CLASH, 7);
PROGRAM(gain, GAIN, 12);
PROGRAM(borders, BORDERS, 4);
PROGRAM(faces, FACES, 12);
PROGRAM(fold, FOLD, 8);
PROGRAM(pack, PACK, 6);
