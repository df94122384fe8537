// The local solver on the CPU: kernel/reduce.h as C, and kernel/reduce_wide.h with one lane, so
// that a GPU's solves have the same bits.
#include "fit/reduce_solve.h"

#include <string.h>

#include "fit/clones.h"
//
#define KERNEL_DOUBLE
#include "kernel/kernel.h"
//
#include "kernel/item.h"

#define REDUCE_SET        CUTIS_REDUCE_SET
#define REDUCE_CANDIDATES CUTIS_REDUCE_CANDIDATES
#include "kernel/reduce.h"
//
#include "kernel/reduce_wide.h"

void cutis_reduce_regularise(cutis_reduce_local *local, double relative, const double *reference)
{
    reduce_regularise((int)local->count, local->gram, local->right, relative, reference);
}

void cutis_reduce_solve(cutis_reduce_local *local, bool negative)
{
    reduce_solve((int)local->count, local->gram, local->right, local->weight, negative);
}

void cutis_reduce_eliminate(cutis_reduce_local *local, uint32_t keep, bool negative, uint32_t *kept)
{
    const uint32_t n = local->count;
    double k[TRIANGLE(CUTIS_REDUCE_CANDIDATES)] = { 0 };
    for (uint32_t r = 0, at = 0; r < n; r++)
        for (uint32_t c = 0; c <= r; c++) k[at++] = local->gram[r * n + c];
    long long gone = reduce_eliminate((int)n, k, local->right, local->weight, (int)keep, negative);
    for (uint32_t i = 0; i < n; i++)
        if (!HAS(gone, i)) *kept++ = i;
}

CUTIS_FIT_CLONES
void cutis_reduce_search_set(const cutis_reduce_search *s, double *now)
{
    reduce_search((int)s->count, (int)s->rows, s->offset, s->kept, s->metric, s->active,
                  s->negative, CUTIS_REDUCE_PROXIMAL, s->lambda, s->wish, s->push, s->old, s->rest,
                  now);
}
