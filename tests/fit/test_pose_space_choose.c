// The choice between a rig's weights, plain learning and what is between, on tables of squares that
// were made up so that the answer is known.
#include "support.h"

#include "fit/poses/choose.h"

enum { OWN = CUTIS_CHOICE_OWN, FOLDS = CUTIS_FOLDS };

// A region of ten vertices, whose squares are `ratio` of one in all folds of a choice.
static void fill(cutis_choice_region *r, const double *ratio)
{
    memset(r, 0, sizeof *r);
    r->count = 10;
    for (uint32_t s = 0; s < CUTIS_SCHEMES; s++)
        for (uint32_t f = 0; f < FOLDS; f++)
            for (uint32_t c = 0; c < CUTIS_CHOICES; c++)
                for (uint32_t m = 0; m < CUTIS_METHODS_OUT; m++) r->off[s][f][c][m] = ratio[c];
}

static cutis_choice choose(const cutis_choice_region *regions, uint32_t count, uint8_t *chosen)
{
    cutis_choice out;
    cutis_fit_choose(&(cutis_choice_input){ .region_count = count,
                                            .scheme_count = 2,
                                            .method_count = 2,
                                            .total_count = 2,
                                            .fold_counts = { FOLDS, FOLDS },
                                            .weighted = true,
                                            .regions = regions },
                     chosen, &out);
    return out;
}

static void the_better_end_is_taken_where_nothing_between_is_better(void **state)
{
    (void)state;
    cutis_choice_region r;
    uint8_t chosen;
    fill(&r, (double[]){ 4, 4, 3, 2, 1 });
    cutis_choice c = choose(&r, 1, &chosen);
    assert_true(c.own && !c.plain && chosen == OWN);
    assert_near(c.total[2], c.total[0], 0);
    fill(&r, (double[]){ 1, 1.5, 2, 3, 4 });
    c = choose(&r, 1, &chosen);
    assert_true(c.plain && !c.own && chosen == 0);
    assert_near(c.total[2], c.total[1], 0);
}

static void a_gain_of_less_than_half_a_hundredth_is_not_worth_other_weights(void **state)
{
    (void)state;
    cutis_choice_region r;
    uint8_t chosen;
    fill(&r, (double[]){ 0.995, 0.995, 0.995, 0.995, 1 });
    assert_true(choose(&r, 1, &chosen).own);
    fill(&r, (double[]){ 0.97, 0.97, 0.97, 0.97, 1 });
    assert_false(choose(&r, 1, &chosen).own);
}

static void regions_that_ask_for_different_weights_get_them(void **state)
{
    (void)state;
    cutis_choice_region r[2];
    uint8_t chosen[2];
    fill(&r[0], (double[]){ 1, 1, 2, 20, 40 });
    fill(&r[1], (double[]){ 40, 39, 30, 20, 1 });
    const cutis_choice c = choose(r, 2, chosen);
    assert_true(!c.own && !c.plain);
    assert_true(chosen[0] <= 2 && chosen[1] == OWN);
    assert_true(c.total[2] < 0.2 * fmin(c.total[0], c.total[1]));
}

// One method gains by plain learning what the other loses by more: the middle, where both are well
// off, not the one whose sum is least.
static void the_worst_of_all_figures_decides(void **state)
{
    (void)state;
    cutis_choice_region r;
    uint8_t chosen;
    fill(&r, (double[]){ 1, 1, 1, 1, 1 });
    for (uint32_t f = 0; f < FOLDS; f++) {
        static const double first[CUTIS_CHOICES] = { 1, 1, 1.2, 1.3, 2 };
        static const double second[CUTIS_CHOICES] = { 9, 9, 1.2, 1.1, 1 };
        for (uint32_t c = 0; c < CUTIS_CHOICES; c++)
            r.off[0][f][c][0] = first[c], r.off[0][f][c][1] = second[c];
    }
    choose(&r, 1, &chosen);
    assert_int_equal(chosen, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_better_end_is_taken_where_nothing_between_is_better),
        cmocka_unit_test(a_gain_of_less_than_half_a_hundredth_is_not_worth_other_weights),
        cmocka_unit_test(regions_that_ask_for_different_weights_get_them),
        cmocka_unit_test(the_worst_of_all_figures_decides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
