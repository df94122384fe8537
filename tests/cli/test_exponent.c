/// The exponent that `cutis bench growth` tells: powers give theirs, and what no power is gives the
/// slope that its formula has.
#include "../../cli/bench/exponent.h"

#include "support.h"

static void powers_give_their_exponents_at_any_spacing(void **state)
{
    const double sizes[] = { 3, 40, 41, 7000 };
    (void)state;
    for (double exponent = -1; exponent <= 3; exponent += 0.5) {
        double costs[4];
        for (int i = 0; i < 4; i++) costs[i] = 5e-7 * pow(sizes[i], exponent);
        assert_true(fabs(bench_exponent(sizes, costs, 4) - exponent) < 1e-12);
    }
}

static void a_fixed_cost_beside_a_linear_one_flattens_the_slope(void **state)
{
    // Logarithms in base 10: x = 0, 1, 2; y = log(1 + x's power). The slope of three evenly spaced
    // points is half of last less first.
    const double sizes[] = { 1, 10, 100 }, costs[] = { 1 + 1, 1 + 10, 1 + 100 };
    (void)state;
    assert_true(fabs(bench_exponent(sizes, costs, 3) - log10(101.0 / 2) / 2) < 1e-12);
    assert_true(fabs(bench_exponent(sizes + 1, costs + 1, 2) - log10(101.0 / 11)) < 1e-12);
}

static void one_size_has_no_exponent(void **state)
{
    (void)state;
    assert_true(isnan(bench_exponent((double[]){ 7, 7 }, (double[]){ 1, 2 }, 2)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(powers_give_their_exponents_at_any_spacing),
        cmocka_unit_test(a_fixed_cost_beside_a_linear_one_flattens_the_slope),
        cmocka_unit_test(one_size_has_no_exponent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
