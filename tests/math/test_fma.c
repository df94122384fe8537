// fma and fmaf of Windows (src/math/fma_windows.c): what the C library here says, which rounds once
// (and on Windows: what the machine's instruction says, where it has one).
#include "support.h"

#define FMA_NAME(name) tried_##name
#include "math/fma_windows.c"

#if defined(_WIN32)
#define TRUE_FMA(x, y, z)  (MACHINE_HAS_IT ? by_machine(x, y, z) : tried_fma(x, y, z))
#define TRUE_FMAF(x, y, z) (MACHINE_HAS_IT ? by_machine_float(x, y, z) : tried_fmaf(x, y, z))
#else
#define TRUE_FMA(x, y, z)  fma(x, y, z)
#define TRUE_FMAF(x, y, z) fmaf(x, y, z)
#endif

static uint64_t next(void)
{
    static uint64_t state = 88172645463325252u;
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state;
}

/// Any double; or one whose digits are few, so that sums are halfway cases; or one near 1.
static double any_double(void)
{
    uint64_t bits = next(), kind = next() % 4;
    double value;
    if (kind == 1) bits &= ~((UINT64_C(1) << (next() % 52)) - 1);
    if (kind == 2) bits = (bits & 0x800fffffffffffff) | (0x3f0 + next() % 32) << 52;
    if (kind == 3) bits = (bits & 0x8007c0000000001f) | (0x3f0 + next() % 32) << 52;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static float any_float(void)
{
    uint32_t bits = (uint32_t)next();
    const uint64_t kind = next() % 4;
    float value;
    if (kind == 1) bits &= ~((1u << (next() % 23)) - 1);
    if (kind == 2) bits = (bits & 0x807fffff) | (uint32_t)(0x70 + next() % 32) << 23;
    if (kind == 3) bits = (bits & 0x8078000f) | (uint32_t)(0x70 + next() % 32) << 23;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void assert_same(double found, double wanted, double x, double y, double z)
{
    if (memcmp(&found, &wanted, sizeof found) == 0 || (isnan(found) && isnan(wanted))) return;
    fail_msg("fma(%a, %a, %a) = %a, not %a", x, y, z, found, wanted);
}

static void fma_rounds_once(void **state)
{
    (void)state;
    for (int i = 0; i < 1000000; i++) {
        const double x = any_double(), y = any_double();
        // A third of them nearly cancels.
        const double z = i % 3 ? any_double() : -(x * y) * (1 + (double)(next() % 5 - 2) * 0x1p-52);
        assert_same(by_integers(x, y, z), TRUE_FMA(x, y, z), x, y, z);
        assert_same(tried_fma(x, y, z), TRUE_FMA(x, y, z), x, y, z);
    }
}

static void fma_rounds_once_where_numbers_end(void **state)
{
    (void)state;
    static const double ENDS[] = { 0,         -0.0,          1,         -1,     0x1p-1074,
                                   0x1p-1022, 0x1.8p-1073,   0x1p1023,  -0x1p-1074, INFINITY,
                                   -INFINITY, 0x1.fffffffffffffp1023,   0x1p-537, 0x1.fffffffffffffp-538,
                                   0x0.fffffffffffffp-1022,  0x1.000001p-511, 3 };
    enum { COUNT = sizeof ENDS / sizeof *ENDS };
    for (int i = 0; i < COUNT * COUNT * COUNT; i++) {
        const double x = ENDS[i % COUNT], y = ENDS[i / COUNT % COUNT], z = ENDS[i / COUNT / COUNT];
        assert_same(by_integers(x, y, z), TRUE_FMA(x, y, z), x, y, z);
    }
    for (int i = 0; i < 300000; i++) { // denormal results
        const double x = ldexp(any_double(), -1), y = ldexp(1 + (double)(next() % 4096) * 0x1p-52, -1040 - (int)(next() % 40));
        const double z = ldexp((double)(next() % 4096), -1074);
        if (!isfinite(x) || fabs(x) > 0x1p20 || fabs(x) < 0x1p-40) continue;
        assert_same(by_integers(x, y, z), TRUE_FMA(x, y, z), x, y, z);
    }
}

static void fmaf_rounds_once(void **state)
{
    (void)state;
    const float x = 1 + 0x1p-12f, z = 0x1p-60f; // halfway between two floats, and a little more
    assert_true(tried_fmaf(x, x, z) == 0x1.002002p+0f && by_doubles(x, x, z) == 0x1.002002p+0f);
    for (int i = 0; i < 1000000; i++) {
        const float a = any_float(), b = any_float();
        const float c = i % 3 ? any_float() : -(a * b) * (1 + (float)(next() % 5 - 2) * 0x1p-23f);
        assert_same((double)by_doubles(a, b, c), (double)TRUE_FMAF(a, b, c), a, b, c);
        assert_same((double)tried_fmaf(a, b, c), (double)TRUE_FMAF(a, b, c), a, b, c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fma_rounds_once),
        cmocka_unit_test(fma_rounds_once_where_numbers_end),
        cmocka_unit_test(fmaf_rounds_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
