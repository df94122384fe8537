// The program of cage.h: relaxation of harmonic coordinates. Loops over the lanes of a node, which
// are worth compiling for wide vectors.
#include "device/compute/cage.h"

#include "kernel/kernel.h"
//
#include "kernel/item.h"
//
#include "kernel/cage.h"

// Once for each width of vectors; nothing is contracted or reordered, so every clone gives the same
// bits. Not with clang: version 14 gives clones names that other files do not find.
#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__) &&       \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define CLONES __attribute__((target_clones("avx512f", "avx2", "default"), flatten))
#else
#define CLONES
#endif

static const char *const TEXTS[] = { "cage.h", NULL };

#define P(i) cutis_compute_pointer(&a[i])
#define N(i) a[i].number

CLONES
static void run_relax(const cutis_compute_argument *a, int first, int end)
{
    cage_relax(P(0), P(1), P(2), P(3), P(4), N(5), N(6), N(7), N(8), a[9].wide, first, end);
}

CLONES
static void run_residual(const cutis_compute_argument *a, int first, int end)
{
    cage_relax_residual(P(0), P(1), P(2), P(3), P(4), P(5), N(6), N(7), N(8), first, end);
}

const cutis_compute_kernel cutis_compute_cage_relax = {
    .entry = "cage_relax",
    .texts = TEXTS,
    .run = run_relax,
    .argument_count = 10,
    .task_items = 2048,
};
const cutis_compute_kernel cutis_compute_cage_relax_residual = {
    .entry = "cage_relax_residual",
    .texts = TEXTS,
    .run = run_residual,
    .argument_count = 9,
    .task_items = 16,
};
