// The program that numbers the nodes of handle weights' multigrid: the text as C, and its kernels.
#include "device/compute/handles_program.h"
#include "kernel/kernel.h"
//
#include "kernel/item.h"
//
#include "kernel/handles_levels.h"

static const char *const TEXTS[] = { "handles_levels.h", NULL };

static void run_split(const cutis_compute_argument *a, int first, int end)
{
    cutis_handles_split(POINTER(0), POINTER(1), POINTER(2), NUMBER(3), NUMBER(4), NUMBER(5), first,
                        end);
}

static void run_nodes(const cutis_compute_argument *a, int first, int end)
{
    cutis_handles_nodes(POINTER(0), POINTER(1), POINTER(2), POINTER(3), POINTER(4), POINTER(5),
                        NUMBER(6), NUMBER(7), NUMBER(8), first, end);
}

static void run_map(const cutis_compute_argument *a, int first, int end)
{
    cutis_handles_map(POINTER(0), POINTER(1), POINTER(2), first, end);
}

static void run_firsts(const cutis_compute_argument *a, int first, int end)
{
    cutis_handles_firsts(POINTER(0), POINTER(1), NUMBER(2), NUMBER(3), NUMBER(4), first, end);
}

static void run_heads(const cutis_compute_argument *a, int first, int end)
{
    cutis_handles_heads(POINTER(0), POINTER(1), POINTER(2), NUMBER(3), NUMBER(4), NUMBER(5),
                        NUMBER(6), first, end);
}

static void run_blocks(const cutis_compute_argument *a, int first, int end)
{
    cutis_handles_blocks(POINTER(0), POINTER(1), POINTER(2), POINTER(3), NUMBER(4), NUMBER(5),
                         NUMBER(6), NUMBER(7), first, end);
}

static void run_family(const cutis_compute_argument *a, int first, int end)
{
    cutis_handles_family(POINTER(0), POINTER(1), POINTER(2), NUMBER(3), NUMBER(4), NUMBER(5),
                         NUMBER(6), first, end);
}

static void run_children(const cutis_compute_argument *a, int first, int end)
{
    cutis_handles_children(POINTER(0), POINTER(1), POINTER(2), POINTER(3), POINTER(4), POINTER(5),
                           NUMBER(6), NUMBER(7), NUMBER(8), NUMBER(9), NUMBER(10), NUMBER(11),
                           NUMBER(12), first, end);
}

PROGRAM(split, SPLIT, 6);
PROGRAM(nodes, NODES, 9);
PROGRAM(map, MAP, 3);
PROGRAM(firsts, FIRSTS, 5);
PROGRAM(heads, HEADS, 7);
PROGRAM(blocks, BLOCKS, 8);
PROGRAM(family, FAMILY, 7);
PROGRAM(children, CHILDREN, 13);
