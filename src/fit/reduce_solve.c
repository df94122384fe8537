// The local solver on the CPU: kernel/reduce.h as C, so that a GPU's solves have the same bits.
#include "fit/reduce_solve.h"

#include <string.h>

#include "fit/clones.h"
//
#include "kernel/kernel.h"
//
#include "kernel/item.h"

#define REDUCE_SET        CUTIS_REDUCE_SET
#define REDUCE_CANDIDATES CUTIS_REDUCE_CANDIDATES
#include "kernel/reduce.h"

void cutis_reduce_regularise(cutis_reduce_local *local, double relative, const double *reference)
{
    reduce_regularise((int)local->count, local->gram, local->right, relative, reference);
}

void cutis_reduce_solve(cutis_reduce_local *local, bool negative)
{
    reduce_solve((int)local->count, local->gram, local->right, local->weight, negative);
}

void cutis_reduce_relax(const double *old, double *weight, uint32_t count, bool negative,
                        double omega)
{
    reduce_relax(old, weight, (int)count, negative, omega);
}

CUTIS_FIT_CLONES
void cutis_reduce_eliminate(cutis_reduce_local *local, uint32_t keep, bool negative, uint32_t *kept)
{
    const uint32_t n = local->count;
    double k[CUTIS_REDUCE_CANDIDATES * CUTIS_REDUCE_CANDIDATES];
    int list[CUTIS_REDUCE_CANDIDATES];
    memcpy(k, local->gram, (size_t)n * n * sizeof *k);
    reduce_eliminate((int)n, k, local->right, local->weight, (int)keep, negative, list);
    for (uint32_t i = 0; i < keep; i++) kept[i] = (uint32_t)list[i];
}
