// The choice between the model's own weights, plain learning and what lies between, for the body or
// region by region, by squares in examples left out. Choosing by regions is judged by examples that
// took no part in it, since the least of many figures flatters itself. Invariant: the body's choice
// is the one whose figures, over all ways of leaving out and all methods, are least above those of
// the better end in the worst case.
#include "fit/poses/choose.h"

#include <math.h>
#include <string.h>

// Squares that a stronger choice may cost a region, of the whole in the mean: poses of another kind
// are better served by it. A region that is off by little anyway stays as it is.
static const double AS_GOOD = 5e-4;
// Squares that other weights must save the whole, or the model's own stay: half a hundredth of the
// distances.
static const double WORTH = 0.01;
// What the body says to a region's choice, of what the region itself does, both by how many times
// their best a choice is: some vertices in a few examples are too little to choose by. A region
// that the examples do not move has nothing at stake, and stays. Of 0 to 10 the best on 68 splits
// of 13 sequences.
static const double POOL = 10;
#define ALL     UINT32_MAX
#define REGIONS CUTIS_CHOICES ///< the body's choice after all strengths

typedef struct choose_work {
    const cutis_choice_input *in;
    double best[CUTIS_SCHEMES][CUTIS_METHODS_OUT]; ///< squares of the better end
    cutis_choice_region body;                      ///< all regions
} choose_work;

// What a choice costs a region, of the better end's squares. @param scheme ALL: every one; @param
// without this fold; ALL: none
static double cost(const choose_work *w, const cutis_choice_region *r, uint32_t choice,
                   uint32_t scheme, uint32_t without)
{
    double sum = 0;
    for (uint32_t s = 0; s < w->in->scheme_count; s++)
        for (uint32_t f = 0; f < w->in->fold_counts[s] && (scheme == ALL || s == scheme); f++)
            for (uint32_t m = 0; m < w->in->method_count && f != without; m++)
                sum += r->off[s][f][choice][m] / w->best[s][m];
    return sum;
}

// The strongest choice that costs a region hardly more than its best.
static uint32_t choose_region(const choose_work *w, const cutis_choice_region *r, uint32_t scheme,
                              uint32_t without)
{
    const uint32_t end = w->in->weighted ? CUTIS_CHOICES : CUTIS_CHOICE_OWN;
    const uint32_t terms = (scheme == ALL ? w->in->scheme_count : 1) * w->in->method_count;
    const double share = (double)r->count / w->body.count;
    const double slack = AS_GOOD * terms * share;
    double costs[CUTIS_CHOICES], body[CUTIS_CHOICES], least = INFINITY, body_least = INFINITY;
    double best = INFINITY;
    uint32_t chosen = 1; // drawn a little at least
    for (uint32_t c = 1; c < end; c++) {
        least = fmin(least, costs[c] = cost(w, r, c, scheme, without));
        body_least = fmin(body_least, body[c] = cost(w, &w->body, c, scheme, without));
    }
    for (uint32_t c = 1; c < end && body_least > 0; c++)
        costs[c] += POOL * least * body[c] / body_least;
    for (uint32_t c = 1; c < end; c++) best = fmin(best, costs[c]);
    for (uint32_t c = 1; c < end; c++)
        if (costs[c] <= best + slack) chosen = c;
    return chosen;
}

// Squares of a choice of the body in a scheme, by method. A fold is judged by what regions would
// choose without it.
static void add_up(const choose_work *w, uint32_t choice, uint32_t scheme, double *out)
{
    memset(out, 0, CUTIS_METHODS_OUT * sizeof *out);
    for (uint32_t i = 0; i < w->in->region_count; i++)
        for (uint32_t f = 0; f < w->in->fold_counts[scheme]; f++) {
            const cutis_choice_region *r = &w->in->regions[i];
            if (!r->count) continue;
            const uint32_t c = choice == REGIONS ? choose_region(w, r, scheme, f) : choice;
            for (uint32_t m = 0; m < w->in->method_count; m++) out[m] += r->off[scheme][f][c][m];
        }
}

// How much worse than the better end, where that is most. @param total squares of the first scheme
static double worst(const choose_work *w, uint32_t choice, double *total)
{
    double most = 0;
    *total = 0;
    for (uint32_t s = 0; s < w->in->scheme_count; s++) {
        double sums[CUTIS_METHODS_OUT];
        add_up(w, choice, s, sums);
        for (uint32_t m = 0; m < w->in->method_count; m++) {
            most = fmax(most, sums[m] / w->best[s][m]);
            *total += s == 0 && m < w->in->total_count ? sums[m] : 0;
        }
    }
    return most;
}

static void find_best(choose_work *w)
{
    double *sums = &w->body.off[0][0][0][0];
    for (uint32_t i = 0; i < w->in->region_count; i++) {
        const double *from = &w->in->regions[i].off[0][0][0][0];
        w->body.count += w->in->regions[i].count;
        for (size_t k = 0; k < sizeof w->body.off / sizeof *sums; k++) sums[k] += from[k];
    }
    for (uint32_t s = 0; s < w->in->scheme_count; s++) {
        double plain[CUTIS_METHODS_OUT], own[CUTIS_METHODS_OUT];
        add_up(w, 0, s, plain);
        add_up(w, CUTIS_CHOICE_OWN, s, own);
        for (uint32_t m = 0; m < w->in->method_count; m++)
            w->best[s][m] = fmax(1e-300, w->in->weighted ? fmin(plain[m], own[m]) : plain[m]);
    }
}

void cutis_fit_choose(const cutis_choice_input *input, uint8_t *chosen, cutis_choice *out)
{
    choose_work w = { .in = input };
    double ratio[REGIONS + 1], total[REGIONS + 1];
    uint32_t best = REGIONS;
    find_best(&w);
    for (uint32_t c = 0; c <= REGIONS; c++) ratio[c] = worst(&w, c, &total[c]);
    for (uint32_t c = 0; c < REGIONS; c++)
        if ((c < CUTIS_CHOICE_OWN || input->weighted) && ratio[c] < ratio[best]) best = c;
    if (input->weighted && ratio[CUTIS_CHOICE_OWN] <= (1 + WORTH) * ratio[best])
        best = CUTIS_CHOICE_OWN;
    for (uint32_t i = 0; i < input->region_count; i++)
        chosen[i] =
            (uint8_t)(best == REGIONS ? choose_region(&w, &input->regions[i], ALL, ALL) : best);
    *out = (cutis_choice){ .own = best == CUTIS_CHOICE_OWN,
                           .plain = best == 0,
                           .total = { total[CUTIS_CHOICE_OWN], total[0], total[best] } };
}
