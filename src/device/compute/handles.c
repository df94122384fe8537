// The program of handle weights: the text as C, and its kernels. GPUs run it; CPU devices could,
// but src/fit does the same work there with eight fields in a vector.
#include "device/compute/handles_program.h"
#include "kernel/kernel.h"
//
#include "kernel/item.h"
//
#include "kernel/handles.h"

static const char *const TEXTS[] = { "handles.h", NULL };

static void run_start(const cutis_compute_argument *a, int first, int end)
{
    cutis_handles_start(POINTER(0), POINTER(1), POINTER(2), POINTER(3), POINTER(4), POINTER(5),
                        POINTER(6), POINTER(7), NUMBER(8), NUMBER(9), NUMBER(10), NUMBER(11),
                        WIDE(12), WIDE(13), WIDE(14), WIDE(15), WIDE(16), first, end);
}

static void run_sweep(const cutis_compute_argument *a, int first, int end)
{
    cutis_handles_sweep(POINTER(0), POINTER(1), POINTER(2), POINTER(3), POINTER(4), POINTER(5),
                        POINTER(6), POINTER(7), WIDE(8), first, end);
}

static void run_conduct(const cutis_compute_argument *a, int first, int end)
{
    cutis_handles_conduct(POINTER(0), POINTER(1), POINTER(2), POINTER(3), POINTER(4), WIDE(5),
                          first, end);
}

static void run_finest(const cutis_compute_argument *a, int first, int end)
{
    cutis_handles_finest(POINTER(0), POINTER(1), POINTER(2), POINTER(3), POINTER(4), POINTER(5),
                         POINTER(6), POINTER(7), first, end);
}

static void run_coarse(const cutis_compute_argument *a, int first, int end)
{
    cutis_handles_coarse(POINTER(0), POINTER(1), POINTER(2), POINTER(3), POINTER(4), POINTER(5),
                         POINTER(6), NUMBER(7), NUMBER(8), NUMBER(9), first, end);
}

static void run_begin(const cutis_compute_argument *a, int first, int end)
{
    cutis_handles_begin(POINTER(0), POINTER(1), POINTER(2), POINTER(3), POINTER(4), POINTER(5),
                        POINTER(6), POINTER(7), POINTER(8), POINTER(9), POINTER(10), NUMBER(11),
                        first, end);
}

static void run_divide(const cutis_compute_argument *a, int first, int end)
{
    cutis_handles_divide(POINTER(0), POINTER(1), POINTER(2), NUMBER(3), NUMBER(4), NUMBER(5),
                         NUMBER(6), first, end);
}

static void run_smooth(const cutis_compute_argument *a, int first, int end)
{
    cutis_handles_smooth(POINTER(0), POINTER(1), POINTER(2), POINTER(3), POINTER(4), NUMBER(5),
                         NUMBER(6), NUMBER(7), NUMBER(8), first, end);
}

static void run_restrict(const cutis_compute_argument *a, int first, int end)
{
    cutis_handles_restrict(POINTER(0), POINTER(1), POINTER(2), POINTER(3), POINTER(4), POINTER(5),
                           POINTER(6), POINTER(7), NUMBER(8), NUMBER(9), NUMBER(10), NUMBER(11),
                           NUMBER(12), NUMBER(13), first, end);
}

static void run_prolong(const cutis_compute_argument *a, int first, int end)
{
    cutis_handles_prolong(POINTER(0), POINTER(1), POINTER(2), NUMBER(3), NUMBER(4), NUMBER(5),
                          NUMBER(6), first, end);
}

static void run_coarsest(const cutis_compute_argument *a, int first, int end)
{
    cutis_handles_coarsest(POINTER(0), POINTER(1), POINTER(2), POINTER(3), POINTER(4), NUMBER(5),
                           NUMBER(6), NUMBER(7), NUMBER(8), NUMBER(9), NUMBER(10), first, end);
}

static void run_dot(const cutis_compute_argument *a, int first, int end)
{
    cutis_handles_dot(POINTER(0), POINTER(1), POINTER(2), NUMBER(3), NUMBER(4), first, end);
}

static void run_turning(const cutis_compute_argument *a, int first, int end)
{
    cutis_handles_turning(POINTER(0), POINTER(1), NUMBER(2), NUMBER(3), first, end);
}

static void run_turn(const cutis_compute_argument *a, int first, int end)
{
    cutis_handles_turn(POINTER(0), POINTER(1), POINTER(2), NUMBER(3), first, end);
}

static void run_apply(const cutis_compute_argument *a, int first, int end)
{
    cutis_handles_apply(POINTER(0), POINTER(1), POINTER(2), POINTER(3), POINTER(4), NUMBER(5),
                        first, end);
}

static void run_stepping(const cutis_compute_argument *a, int first, int end)
{
    cutis_handles_stepping(POINTER(0), POINTER(1), NUMBER(2), NUMBER(3), first, end);
}

static void run_advance(const cutis_compute_argument *a, int first, int end)
{
    cutis_handles_advance(POINTER(0), POINTER(1), POINTER(2), POINTER(3), POINTER(4), NUMBER(5),
                          first, end);
}

static void run_worst(const cutis_compute_argument *a, int first, int end)
{
    cutis_handles_worst(POINTER(0), POINTER(1), POINTER(2), NUMBER(3), NUMBER(4), first, end);
}

static void run_done(const cutis_compute_argument *a, int first, int end)
{
    cutis_handles_done(POINTER(0), POINTER(1), POINTER(2), NUMBER(3), NUMBER(4), WIDE(5), first,
                       end);
}

static void run_values(const cutis_compute_argument *a, int first, int end)
{
    cutis_handles_values(POINTER(0), POINTER(1), POINTER(2), POINTER(3), NUMBER(4), first, end);
}

static void run_sample(const cutis_compute_argument *a, int first, int end)
{
    cutis_handles_sample(POINTER(0), POINTER(1), POINTER(2), POINTER(3), POINTER(4), POINTER(5),
                         POINTER(6), POINTER(7), POINTER(8), NUMBER(9), NUMBER(10), NUMBER(11),
                         NUMBER(12), NUMBER(13), NUMBER(14), WIDE(15), WIDE(16), WIDE(17), WIDE(18),
                         first, end);
}

PROGRAM(start, START, 17);
PROGRAM(sweep, SWEEP, 9);
PROGRAM(conduct, CONDUCT, 6);
PROGRAM(finest, FINEST, 8);
PROGRAM(coarse, COARSE, 10);
PROGRAM(begin, BEGIN, 12);
PROGRAM(divide, DIVIDE, 7);
PROGRAM(smooth, SMOOTH, 9);
PROGRAM(restrict, RESTRICT, 14);
PROGRAM(prolong, PROLONG, 7);
PROGRAM(coarsest, COARSEST, 11);
PROGRAM(dot, DOT, 5);
PROGRAM(turning, TURNING, 4);
PROGRAM(turn, TURN, 4);
PROGRAM(apply, APPLY, 6);
PROGRAM(stepping, STEPPING, 4);
PROGRAM(advance, ADVANCE, 6);
PROGRAM(worst, WORST, 5);
PROGRAM(done, DONE, 6);
PROGRAM(values, VALUES, 5);
PROGRAM(sample, SAMPLE, 19);
