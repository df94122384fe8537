// Numbers in text: correctly rounded against the C library over random and hard cases, the same
// under a comma locale, and every float written and read again in its own bits.
#include "files.h"

#include <locale.h>

#include "io/text.h"

static void check(const char *text)
{
    cutis_span span = { text, strlen(text) };
    float single = -1, wanted_single = strtof(text, NULL);
    double wide = -1, wanted_wide = strtod(text, NULL);
    bool good_single = cutis_parse_float(span, &single),
         good_wide = cutis_parse_double(span, &wide);
    if (good_single != (bool)isfinite(wanted_single) || good_wide != (bool)isfinite(wanted_wide) ||
        (good_single && memcmp(&single, &wanted_single, 4) != 0) ||
        (good_wide && memcmp(&wide, &wanted_wide, 8) != 0))
        fail_msg("'%s' became %a and %a, not %a and %a", text, (double)single, wide,
                 (double)wanted_single, wanted_wide);
}

static uint64_t random_bits(uint64_t index)
{
    return (uint64_t)(cutis_random_unit(11, 1, index) * 4294967296.0) << 32 |
           (uint64_t)(cutis_random_unit(11, 2, index) * 4294967296.0);
}

static void numbers_are_rounded_as_the_c_library_rounds_them(void **state)
{
    (void)state;
    static const char *const HARD[] = {
        "0",
        "-0",
        "1.17549435082228750797e-38",
        "1.4012984643e-45",
        "7.006492321624085e-46",
        "7.006492321624086e-46",
        "3.4028235677973366e38",
        "3.40282356779733642752e38",
        "1.7976931348623158e308",
        "1.7976931348623159e308",
        "4.9406564584124654e-324",
        "2.4703282292062327e-324",
        "2.4703282292062328e-324",
        "9007199254740993",
        "16777217",
        "16777219",
        "16777217.0000000000000000000000000000000000000001",
        "0.000000000000000000000001e24",
        "1e-400",
        "0e999999999999",
        "8.5e37",
        "1.00000005960464477539062499999999999",
        "1.000000059604644775390625",
        "1.00000005960464477539062500000000001",
        "+1.5",
        ".5",
        "5.",
        "1E+2",
    };
    for (size_t i = 0; i < sizeof HARD / sizeof *HARD; i++) check(HARD[i]);
    for (uint64_t i = 0; i < 100000; i++) {
        uint64_t bits = random_bits(i);
        uint32_t half = (uint32_t)bits;
        char text[1024];
        float single;
        double wide;
        memcpy(&wide, &bits, 8);
        memcpy(&single, &half, 4);
        if (!isfinite(wide) || !isfinite(single)) continue;
        snprintf(text, sizeof text, "%.*g", (int)(i % 20) + 1, i & 1 ? wide : (double)single);
        check(text);
        // Close to the middle of two floats, with many digits.
        snprintf(text, sizeof text, "%.*g", (int)(i % 60) + 1,
                 ((double)single + (double)nextafterf(single, 0)) / 2);
        check(text);
    }
}

static void whole_numbers_are_printed_as_printf_prints_them(void **state)
{
    char text[CUTIS_NUMBER_SIZE], expected[CUTIS_NUMBER_SIZE];
    (void)state;
    for (int shift = 0; shift < 64; shift++)
        for (int i = -11; i <= 11; i++) {
            const int64_t value = (int64_t)((UINT64_C(1) << shift) + (uint64_t)i);
            const size_t size = cutis_print_whole(value, text);
            assert_int_equal(size, snprintf(expected, sizeof expected, "%lld", (long long)value));
            assert_string_equal(text, expected);
        }
}

static void what_is_no_number_is_refused(void **state)
{
    (void)state;
    static const char *const BAD[] = { "",      "-",      "+",   ".",   "e5",   "1e",   "1e+",
                                       "1.2.3", "3.1+e2", "nan", "inf", "-inf", "0x10", "1 ",
                                       " 1",    "1,5",    "--1", "1f",  "1e1.5" };
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        float single;
        double wide;
        assert_false(cutis_parse_float((cutis_span){ BAD[i], strlen(BAD[i]) }, &single));
        assert_false(cutis_parse_double((cutis_span){ BAD[i], strlen(BAD[i]) }, &wide));
    }
    int64_t whole;
    assert_false(cutis_parse_int((cutis_span){ "99999999999999999999", 20 }, &whole));
    assert_false(cutis_parse_int((cutis_span){ "1.0", 3 }, &whole));
    assert_true(cutis_parse_int((cutis_span){ "-0012", 5 }, &whole) && whole == -12);
}

static void round_trips(void)
{
    for (uint64_t i = 0; i < 100000; i++) {
        uint32_t bits = (uint32_t)random_bits(i + 1000000);
        float value, back;
        char text[CUTIS_NUMBER_SIZE];
        memcpy(&value, &bits, 4);
        if (!isfinite(value)) continue;
        size_t size = cutis_format_float(value, text);
        assert_null(strchr(text, ','));
        assert_true(cutis_parse_float((cutis_span){ text, size }, &back));
        assert_memory_equal(&value, &back, 4);
    }
}

static void every_float_comes_back_in_its_bits(void **state)
{
    (void)state;
    round_trips();
}

// The German locale, made in the test's folder where the system has only its source.
static void a_comma_locale_changes_nothing(void **state)
{
    fixture *f = *state;
    char command[256];
    snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s >/dev/null 2>&1",
             path_in(f, "de_DE.UTF-8"));
    if (!setlocale(LC_NUMERIC, "de_DE.UTF-8") && system(command) == 0)
        setenv("LOCPATH", f->folder, 1);
    if (!setlocale(LC_NUMERIC, "de_DE.UTF-8")) {
        print_message("skip: no locale with a decimal comma can be had\n");
        skip();
    }
    char comma[8];
    snprintf(comma, sizeof comma, "%.1f", 0.5);
    assert_string_equal(comma, "0,5"); // it is in force
    round_trips();
    cutis_model *model = read_text(f, "a.obj", "v 0.5 1e-3 0\nv 1 0 0\nv 0 1.25 0\nf 1 2 3\n");
    assert_ok(f->context, cutis_model_write(model, path_in(f, "b.obj"), NULL));
    cutis_model *again = read_ok(f, path_in(f, "b.obj"));
    setlocale(LC_NUMERIC, "C");
    assert_true(only_primitive(model)->positions[0] == 0.5f);
    assert_same_primitive(only_primitive(model), only_primitive(again));
    cutis_model_destroy(model);
    cutis_model_destroy(again);
}

static void lines_tokens_and_continuations_are_counted(void **state)
{
    (void)state;
    static const char TEXT[] = "\xEF\xBB\xBF a  b\\\r\n c\r\n\rd \\ e\n";
    cutis_text text = cutis_text_begin(TEXT, sizeof TEXT - 1);
    assert_true(cutis_span_is(cutis_text_token(&text), "a"));
    assert_true(cutis_span_is(cutis_text_token(&text), "b"));
    assert_true(cutis_span_is(cutis_text_token(&text), "c"));
    assert_int_equal(text.line, 2);
    assert_int_equal(cutis_text_token(&text).size, 0);
    assert_true(cutis_text_next_line(&text));
    assert_int_equal(cutis_text_token(&text).size, 0);
    assert_true(cutis_text_next_line(&text));
    assert_int_equal(text.line, 4);
    assert_true(cutis_span_is(cutis_text_rest(&text), "d \\ e"));
    assert_false(cutis_text_next_line(&text));
    char name[] = "a\xC3\xA4\xFF\xC0\x80\xED\xA0\x80";
    cutis_utf8_repair(name);
    assert_string_equal(name, "a\xC3\xA4??????");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_rounded_as_the_c_library_rounds_them),
        cmocka_unit_test(whole_numbers_are_printed_as_printf_prints_them),
        cmocka_unit_test(what_is_no_number_is_refused),
        cmocka_unit_test(every_float_comes_back_in_its_bits),
        claim(a_comma_locale_changes_nothing),
        cmocka_unit_test(lines_tokens_and_continuations_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
