// Non-negative least squares for the fit: the kernel text (kernel/nnls.h) as C.
#include "fit/nnls.h"

#include "kernel/kernel.h"
#include "kernel/item.h"

#define NNLS_MAX CUTIS_NNLS_MAX
#include "kernel/nnls.h"

double cutis_nnls_tolerance(uint32_t n, const double *g)
{
    return nnls_tolerance((int)n, g);
}

bool cutis_nnls(uint32_t n, const double *g, const double *h, double *w)
{
    return nnls_run((int)n, g, h, 0, w) != 0;
}

bool cutis_nnls_unit(uint32_t n, const double *g, const double *h, double *w)
{
    return nnls_run((int)n, g, h, 1, w) != 0;
}
