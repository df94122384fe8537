/// As much of cmocka as our tests use, for MemorySanitizer (a library that is not compiled with it
/// hands out memory it takes for unset) and for Windows, for which Debian has none. The claims and
/// the lines printed are cmocka's.
#ifndef CUTIS_TESTS_STANDIN_CMOCKA_H
#define CUTIS_TESTS_STANDIN_CMOCKA_H

#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int (*CMFixtureFunction)(void **state);

struct CMUnitTest {
    const char *name;
    void (*test_func)(void **state);
    CMFixtureFunction setup_func, teardown_func;
};

#define cmocka_unit_test(f)                                                                        \
    {                                                                                              \
#f, f, NULL, NULL                                                                          \
    }
#define cmocka_unit_test_setup_teardown(f, s, t)                                                   \
    {                                                                                              \
#f, f, s, t                                                                                \
    }
#define cmocka_unit_test_setup(f, s)                                                               \
    {                                                                                              \
#f, f, s, NULL                                                                             \
    }
#define cmocka_unit_test_teardown(f, t)                                                            \
    {                                                                                              \
#f, f, NULL, t                                                                             \
    }

enum { STANDIN_FAILED = 1, STANDIN_SKIPPED = 2 };
static jmp_buf standin_out;

#define print_message(...) (printf(__VA_ARGS__), fflush(stdout))
#define skip()             longjmp(standin_out, STANDIN_SKIPPED)
// Expressions, as cmocka's are: a comma may stand between two.
#define fail_msg(...)                                                                              \
    (printf("ERROR: " __VA_ARGS__), printf("\n%s:%d\n", __FILE__, __LINE__),                       \
     longjmp(standin_out, STANDIN_FAILED))
#define fail() fail_msg("failed")

#define assert_true(c)                   ((c) ? (void)0 : fail_msg("%s", #c))
#define assert_false(c)                  assert_true(!(c))
#define assert_null(p)                   assert_true((p) == NULL)
#define assert_non_null(p)               assert_true((p) != NULL)
#define assert_ptr_equal(a, b)           assert_true((const void *)(a) == (const void *)(b))
#define assert_ptr_not_equal(a, b)       assert_true((const void *)(a) != (const void *)(b))
#define assert_int_equal(a, b)           assert_true((uintmax_t)(a) == (uintmax_t)(b))
#define assert_int_not_equal(a, b)       assert_true((uintmax_t)(a) != (uintmax_t)(b))
#define assert_string_equal(a, b)        assert_true(strcmp(a, b) == 0)
#define assert_string_not_equal(a, b)    assert_true(strcmp(a, b) != 0)
#define assert_memory_equal(a, b, n)     assert_true(memcmp(a, b, n) == 0)
#define assert_memory_not_equal(a, b, n) assert_true(memcmp(a, b, n) != 0)
#define assert_in_range(v, low, high)                                                              \
    assert_true((uintmax_t)(v) >= (uintmax_t)(low) && (uintmax_t)(v) <= (uintmax_t)(high))

#define assert_float_equal(a, b, epsilon)                                                          \
    assert_true(__builtin_fabs((double)(a) - (double)(b)) <= (epsilon))

static inline int standin_run_one(const struct CMUnitTest *test, void *group_state)
{
    void *state = group_state;
    volatile int how = setjmp(standin_out); // changed between that and a jump back
    printf("[ RUN      ] %s\n", test->name);
    if (how == 0) {
        if (test->setup_func && test->setup_func(&state) != 0) how = STANDIN_FAILED;
        if (how == 0) test->test_func(&state);
    }
    if (how != STANDIN_FAILED && test->teardown_func && setjmp(standin_out) == 0 &&
        test->teardown_func(&state) != 0 &&
        how == 0) // what is skipped half way leaves things behind
        how = STANDIN_FAILED;
    printf("%s %s\n",
           how == 0                 ? "[       OK ]"
           : how == STANDIN_SKIPPED ? "[  SKIPPED ]"
                                    : "[  FAILED  ]",
           test->name);
    return how;
}

static inline int standin_run(const struct CMUnitTest *tests, size_t count, CMFixtureFunction setup,
                              CMFixtureFunction teardown)
{
    void *state = NULL;
    size_t counts[3] = { 0 };
    if (setjmp(standin_out) != 0 || (setup && setup(&state) != 0)) {
        printf("[  FAILED  ] %zu test(s): set up\n", count);
        return 1;
    }
    const char *only =
        getenv("CUTIS_CLAIM"); // one claim by its name: an emulator takes minutes for some
    for (size_t i = 0; i < count; i++)
        if (!only || strcmp(only, tests[i].name) == 0) counts[standin_run_one(&tests[i], state)]++;
    if (setjmp(standin_out) != 0 || (teardown && teardown(&state) != 0)) counts[STANDIN_FAILED]++;
    printf("[  PASSED  ] %zu test(s).\n", counts[0]);
    if (counts[STANDIN_SKIPPED]) printf("[  SKIPPED ] %zu test(s)\n", counts[STANDIN_SKIPPED]);
    if (counts[STANDIN_FAILED]) printf("[  FAILED  ] %zu test(s)\n", counts[STANDIN_FAILED]);
    return (int)counts[STANDIN_FAILED];
}

#define cmocka_run_group_tests(tests, setup, teardown)                                             \
    standin_run(tests, sizeof(tests) / sizeof *(tests), setup, teardown)

#define cmocka_run_group_tests_name(name, tests, setup, teardown)                                  \
    cmocka_run_group_tests(tests, setup, teardown)

static inline void cmocka_set_test_filter(const char *pattern)
{
    (void)pattern;
}

#endif
