// How much learned weights are drawn to the model's own: the strength that does best on examples
// that were not learned from, fold by fold. Plain learning and the model's own weights are among
// the choices, so that neither does better there. Invariant: a choice depends on model, examples
// and options alone.
#include "fit/poses/fit.h"

#include <math.h>

#include "base/error.h"

#define FOLDS    8u ///< at most: stretches of examples, so that a frame's neighbours are left out too
#define VERTICES 2000u ///< about as many are learned for a choice, evenly taken
/// Pulls of the mean diagonal of a vertex's equations, weakest first: not to the model's own
/// weights at all, then so little that they decide alone what the examples leave open.
static const double STRENGTHS[] = { 0, 1e-9, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2 };
/// Of choices that are off by less than this part more than the best, the strongest is taken: poses
/// of another kind are better served by it.
static const double AS_GOOD = 1.005;
#define CHOICES (sizeof STRENGTHS / sizeof *STRENGTHS)

// Learn without the examples of a fold; squares of what is off in these are added.
static cutis_result try_fold(const cutis_fit_problem *p, uint32_t fold, uint32_t folds,
                             double strength, double *learned, double *own)
{
    const uint32_t count = p->examples->count;
    cutis_arena arena = { .context = p->context };
    cutis_fit_problem trial = *p;
    uint32_t *use = cutis_arena_alloc(&arena, count, sizeof *use);
    if (!use) return cutis_alloc_result(p->context);
    trial.arena = &arena;
    trial.options.weights_only = true;
    trial.options.prior = strength;
    trial.example_normals = NULL;
    trial.stride = p->vertex_count / VERTICES + 1;
    trial.use = use;
    for (uint32_t e = 0; e < count; e++)
        if ((uint64_t)e * folds / count != fold) use[trial.use_count++] = e;
    const cutis_result result = cutis_fit_vertices(&trial);
    for (uint32_t e = 0; e < count && result == CUTIS_OK; e++) {
        if ((uint64_t)e * folds / count != fold) continue;
        *learned += trial.after[e];
        if (trial.before) *own += trial.before[e];
    }
    cutis_arena_release(&arena);
    return result;
}

static double mean_root(const cutis_fit_problem *p, double sum)
{
    const uint32_t stride = p->vertex_count / VERTICES + 1;
    double vertices = 0;
    for (uint32_t s = 0; s < p->span_count; s++)
        vertices += (p->spans[s].primitive->vertex_count + stride - 1) / stride;
    return sqrt(sum / (vertices * p->examples->count));
}

cutis_result cutis_fit_validate(cutis_fit_problem *p)
{
    const uint32_t count = p->examples->count, folds = count < FOLDS ? count : FOLDS;
    const bool free = p->options.prior < 0;
    double off[CHOICES] = { 0 }, own = 0, best = INFINITY;
    if (!p->options.learn_weights || count < 2) {
        if (free) p->options.prior = 0;
        return CUTIS_OK;
    }
    for (size_t s = 0; s < CHOICES; s++) {
        const double strength = free || s == 0 ? STRENGTHS[s] : p->options.prior;
        if (!free && s > 1) break;
        own = 0;
        for (uint32_t f = 0; f < folds; f++) {
            TRY(cutis_progress(p->context, "choosing",
                               (double)(s * folds + f) / (CHOICES * folds)));
            TRY(try_fold(p, f, folds, strength, &off[s], &own));
        }
        best = fmin(best, off[s]);
    }
    if (own > 0) best = fmin(best, own);
    size_t chosen = 1; // drawn a little at least
    for (size_t s = 1; s < CHOICES && free; s++)
        if (off[s] <= AS_GOOD * AS_GOOD * best || off[s] < off[chosen]) chosen = s;
    p->left_out[0] = mean_root(p, own);
    p->left_out[1] = mean_root(p, off[0]);
    p->left_out[2] = mean_root(p, off[free ? chosen : p->options.prior > 0]);
    if (!free) return CUTIS_OK;
    p->options.prior = STRENGTHS[chosen];
    if (off[0] < off[chosen] / (AS_GOOD * AS_GOOD)) {
        p->options.prior = 0;
        p->left_out[2] = p->left_out[1];
    }
    if (!(own > 0) || own > AS_GOOD * AS_GOOD * best) return CUTIS_OK;
    p->left_out[2] = p->left_out[0];
    p->options.prior = INFINITY; // nothing learned does better: they stay
    return CUTIS_OK;
}
