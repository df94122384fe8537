// Elementary functions against the C library's in extended precision, and at their edges.
#include "support.h"

#include "math/elementary.h"

// A draw from (-1, 1).
static double draw(void)
{
    static uint64_t state = 1;
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(int64_t)(state >> 11) * 0x1p-52 - 1;
}

static double ulps(double value, long double wanted)
{
    int power;
    frexp((double)wanted, &power);
    return (double)(fabsl(value - wanted) / ldexpl(1, power - 53));
}

static void everything_is_within_4_ulp(void **state)
{
    double worst[8] = { 0 };
    (void)state;
    for (int i = 0; i < 200000; i++) {
        const double x = ldexp(draw(), i % 40 - 20), y = ldexp(draw(), i % 17 - 8), u = draw();
        const double size = fabs(x) + 1e-12;
        const double off[8] = {
            ulps(fixed_atan2(y, x), atan2l(y, x)),   ulps(fixed_asin(u), asinl(u)),
            ulps(fixed_acos(u), acosl(u)),           ulps(fixed_sin(3 * u), sinl(3 * u)),
            ulps(fixed_cos(1.5 * u), cosl(1.5 * u)), ulps(fixed_log(size), logl(size)),
            ulps(fixed_exp(700 * u), expl(700 * u)), ulps(fixed_cbrt(x), cbrtl(x))
        };
        for (int k = 0; k < 8; k++) worst[k] = fmax(worst[k], off[k]);
    }
    for (int k = 0; k < 8; k++)
        if (!(worst[k] <= 4)) fail_msg("function %d: %g ULP", k, worst[k]);
}

static void large_angles_are_reduced(void **state)
{
    (void)state;
    for (double x = 1e6; x < 1e300; x *= 9.7) {
        double s, c;
        fixed_sincos(x, &s, &c);
        assert_near(s * s + c * c, 1, 1e-15);
        if (x < 1e12) assert_near(s, (double)sinl(x), 4e-16 * x);
    }
    for (double x = 1e-3; x < 1e3; x *= 1.7)
        for (double power = -3; power < 3; power += 0.37)
            assert_true(ulps(fixed_pow(x, power), powl(x, power)) <= 4 + 2 * fabs(power * log(x)));
    for (int i = 0; i < 100000; i++) {
        const double x = 1e5 * draw();
        assert_near(fixed_sin(x), (double)sinl(x), 3e-16);
        assert_near(fixed_cos(x), (double)cosl(x), 3e-16);
    }
}

static void edges_are_those_of_the_c_library(void **state)
{
    static const double EDGES[] = { 0.0,       -0.0,     1,       -1,     INFINITY, -INFINITY,
                                    0x1p-1074, 0x1p1023, 1.7e308, -1e308, 3e-310,   0x1p1001 };
    enum { COUNT = sizeof EDGES / sizeof *EDGES };
    (void)state;
    for (int i = 0; i < COUNT; i++)
        for (int k = 0; k < COUNT; k++) {
            const double got = fixed_atan2(EDGES[i], EDGES[k]), want = atan2(EDGES[i], EDGES[k]);
            if (!(fabs(got - want) <= 1e-15) || signbit(got) != signbit(want))
                fail_msg("atan2(%g, %g) = %g, not %g", EDGES[i], EDGES[k], got, want);
        }
    assert_true(fixed_log(0) == -INFINITY && fixed_log(INFINITY) == INFINITY);
    assert_true(isnan(fixed_log(-1)) && isnan(fixed_log(NAN)));
    assert_true(isnan(fixed_atan2(NAN, -1)) && isnan(fixed_atan2(0, NAN)));
    assert_true(isnan(fixed_atan2(INFINITY, NAN)) && isnan(fixed_acos(-1.0000001)));
    assert_true(isnan(fixed_sin(NAN)) && isnan(fixed_cos(INFINITY)) && isnan(fixed_sin(-INFINITY)));
    assert_true(isfinite(fixed_exp(709.7)));
    assert_true(fixed_exp(1000) == INFINITY && fixed_exp(-1000) == 0 && fixed_exp(0) == 1);
    assert_true(fixed_cbrt(0) == 0 && fixed_cbrt(-27) == -3 &&
                fixed_cbrt(1e300 * 1e300) == INFINITY);
    assert_true(fixed_asin(1) == fixed_atan2(1, 0) && fixed_acos(-1) == 2 * fixed_atan2(1, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_is_within_4_ulp),
        cmocka_unit_test(large_angles_are_reduced),
        cmocka_unit_test(edges_are_those_of_the_c_library),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
