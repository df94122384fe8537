// The choice between the model's own weights, plain learning and what lies between, by squares in
// examples left out. Few poses left out are a small sample of the poses to come, so a difference
// counts by its standard error over them; and they are nearer to the examples than some to come,
// where displacements tell less and blending more. Invariant: the model's own weights stay unless
// others are better by more than chance, and what lies between is taken only where it is better
// than the end, or, for blending, where it costs nothing: it is safer where no example moves a
// joint.
#include "fit/poses/choose.h"

#include <math.h>

// Standard errors by which plain learning must be better than the model's own weights, and what
// lies between better than the end that was chosen. The second is less: it is a smaller step.
static const double FROM_OWN = 1.5, FROM_END = 0.55;
// What a pose space's displacements miss in poses farther away than those left out: a tenth of what
// blending is off.
static const double FAR_SQUARE = 0.01;
// The first strength between lets examples decide whatever they say anything of, a step as large as
// plain learning's: from the model's own weights it has to save so much of blending's squares.
static const double BLENDS_BETTER = 0.1;
// Squares that other weights must save: half a hundredth of the distances.
static const double WORTH = 0.01;
// Where folds are compared each in its own size: this part of their mean is added to it, or folds
// in which nothing moves would count as much as the others.
static const double FLOOR = 0.1;

static double sum_of(const cutis_choice_input *in, uint32_t s, uint32_t choice, uint32_t figure)
{
    double sum = 0;
    for (uint32_t f = 0; f < in->fold_counts[s]; f++) sum += in->off[s][f][choice][figure];
    return sum;
}

// What a choice gains over another in a fold: in parts of the better end's mean fold, or of the
// fold itself (as a logarithm of the ratio would, to second order, and never more than 2).
static double gain_in(const cutis_choice_input *in, uint32_t s, uint32_t fold, uint32_t figure,
                      uint32_t choice, uint32_t over)
{
    const double *own = &in->off[s][fold][CUTIS_CHOICE_OWN][figure];
    const double a = in->off[s][fold][choice][figure], b = in->off[s][fold][over][figure];
    const double plain = sum_of(in, s, 0, figure), rig = sum_of(in, s, CUTIS_CHOICE_OWN, figure);
    const double end = (in->weighted ? fmin(plain, rig) : plain) / in->fold_counts[s];
    if (!(end > 0)) return b - a;
    if (!in->relative) return (b - a) / end;
    const double most = 2 * FLOOR * end;
    return 2 * ((b - *own) / (b + *own + most) - (a - *own) / (a + *own + most));
}

// Mean gain of a choice over another, of all figures; @param sure the same less `errors` standard
// errors
static double gain_of(const cutis_choice_input *in, uint32_t choice, uint32_t over, double errors,
                      double *sure)
{
    double mean = 0;
    *sure = 0;
    for (uint32_t s = 0; s < in->scheme_count; s++)
        for (uint32_t m = 0; m < CUTIS_METHODS_OUT; m++) {
            const double count = in->fold_counts[s];
            double sum = 0, square = 0;
            for (uint32_t f = 0; f < in->fold_counts[s]; f++) {
                const double gain = gain_in(in, s, f, m, choice, over);
                sum += gain, square += gain * gain;
            }
            const double variance = fmax(0, square - sum * sum / count) / (count - 1);
            mean += sum / count;
            *sure += sum / count - errors * sqrt(variance / count);
        }
    return mean / (in->scheme_count * CUTIS_METHODS_OUT);
}

// What a choice saves of the squares that blending with the model's own weights is off.
static double blending_saved(const cutis_choice_input *in, uint32_t choice)
{
    double saved = 0;
    for (uint32_t s = 0; s < in->scheme_count; s++) {
        double sum = 0, own = 0;
        for (uint32_t f = 0; f < in->fold_counts[s]; f++) {
            sum += in->blended[s][f][choice];
            own += in->blended[s][f][CUTIS_CHOICE_OWN];
        }
        saved += own > 0 ? (1 - sum / own) / in->scheme_count : 0;
    }
    return saved;
}

// The same in poses farther away.
static cutis_choice_input far_away(const cutis_choice_input *in)
{
    cutis_choice_input far = *in;
    for (uint32_t s = 0; s < in->scheme_count && in->relative; s++)
        for (uint32_t f = 0; f < in->fold_counts[s]; f++)
            for (uint32_t c = 0; c < CUTIS_CHOICES; c++)
                for (uint32_t m = 0; m < CUTIS_METHODS_OUT; m++)
                    far.off[s][f][c][m] += FAR_SQUARE * in->blended[s][f][c];
    return far;
}

// Poses left out tell nothing of joints that no example moves; stronger is safer there. For a pose
// space it may cost what may be chance; plain learning, where it was chosen, stays.
static bool is_as_good(const cutis_choice_input *in, const cutis_choice_input *far, uint32_t choice,
                       uint32_t best)
{
    double near_by, far_off;
    if (!in->relative) return gain_of(in, choice, best, 0, &near_by) >= -WORTH;
    gain_of(in, choice, best, -FROM_END, &near_by);
    gain_of(far, choice, best, -FROM_END, &far_off);
    return best > 0 && near_by >= 0 && far_off >= 0;
}

uint32_t cutis_fit_choose(const cutis_choice_input *in)
{
    double sure, far_sure, most = WORTH;
    const cutis_choice_input far = far_away(in);
    const double plain = gain_of(&far, 0, CUTIS_CHOICE_OWN, FROM_OWN, &sure);
    const uint32_t end = !in->weighted || (sure > 0 && plain > WORTH) ? 0 : CUTIS_CHOICE_OWN;
    uint32_t best = end;
    // A small step has to be right near by, too.
    const bool held = end == CUTIS_CHOICE_OWN && blending_saved(in, 1) < BLENDS_BETTER;
    for (uint32_t c = held ? 2 : 1; c < CUTIS_CHOICE_OWN; c++) {
        const double gain =
            fmin(gain_of(in, c, end, FROM_END, &sure), gain_of(&far, c, end, FROM_END, &far_sure));
        if (sure > 0 && far_sure > 0 && gain > most) most = gain, best = c;
    }
    uint32_t drawn = best;
    for (uint32_t c = best + 1; c < CUTIS_CHOICE_OWN; c++)
        if (is_as_good(in, &far, c, best)) drawn = c;
    return drawn;
}
