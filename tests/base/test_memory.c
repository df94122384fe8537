// Results, contexts, error texts, checked sizes, allocation and arenas.
#include "support.h"

#include <pthread.h>

#include "base/error.h"
#include "base/memory.h"

typedef struct {
    const char *name;
    int number;
    const char *text;
} result_row;

static const result_row rows[] = {
#define ROW(name, number, text) { #name, number, text },
    CUTIS_RESULTS(ROW)
#undef ROW
};
enum { ROWS = sizeof rows / sizeof *rows };

static void every_result_has_its_own_number_name_and_text(void **state)
{
    (void)state;
    for (int i = 0; i < ROWS; i++) {
        assert_string_equal(cutis_result_name((cutis_result)rows[i].number), rows[i].name);
        assert_string_equal(cutis_result_text((cutis_result)rows[i].number), rows[i].text);
        assert_true(rows[i].text[0] && rows[i].text[strlen(rows[i].text) - 1] != '.');
        for (int k = 0; k < i; k++) {
            assert_int_not_equal(rows[i].number, rows[k].number);
            assert_string_not_equal(rows[i].text, rows[k].text);
        }
    }
    assert_int_equal(CUTIS_OK, 0);
    assert_string_equal(cutis_result_text((cutis_result)12345), "unknown result");
    assert_non_null(cutis_result_name((cutis_result)-7));
}

static void published_result_numbers_never_change(void **state)
{
    (void)state;
    assert_int_equal(CUTIS_CANCELLED, 1);
    assert_int_equal(CUTIS_INVALID_ARGUMENT, 10);
    assert_int_equal(CUTIS_OUT_OF_MEMORY, 20);
    assert_int_equal(CUTIS_CORRUPT_DATA, 30);
    assert_int_equal(CUTIS_FILE_NOT_FOUND, 40);
    assert_int_equal(CUTIS_DEVICE_UNAVAILABLE, 50);
    assert_int_equal(CUTIS_INTERNAL, 90);
}

static void the_version_is_the_headers(void **state)
{
    (void)state;
    char version[32];
    snprintf(version, sizeof version, "%d.%d.%d", CUTIS_VERSION_MAJOR, CUTIS_VERSION_MINOR,
             CUTIS_VERSION_PATCH);
    assert_string_equal(cutis_version(), version);
    assert_int_equal(cutis_version_number(), CUTIS_VERSION_NUMBER);
}

static cutis_context *make(const cutis_context_options *options)
{
    cutis_context *context = NULL;
    assert_int_equal(cutis_context_create(options, &context), CUTIS_OK);
    return context;
}

static void *half_allocator(void *user, size_t size, size_t alignment)
{
    (void)user, (void)size, (void)alignment;
    return NULL;
}

static void a_context_needs_both_halves_of_an_allocator(void **state)
{
    (void)state;
    cutis_context *context = NULL;
    cutis_context_options half = { .allocator = { .allocate = half_allocator } };
    assert_int_equal(cutis_context_create(&half, &context), CUTIS_INVALID_ARGUMENT);
    assert_int_equal(cutis_context_create(NULL, NULL), CUTIS_INVALID_ARGUMENT);
    assert_null(context);
    cutis_context_destroy(NULL);
}

static void zero_limits_mean_the_documented_defaults(void **state)
{
    (void)state;
    cutis_context *context = make(&(cutis_context_options){ .limits = { .nesting = 7 } });
    const cutis_limits *limits = cutis_context_limits(context);
    assert_int_equal(limits->nesting, 7);
    assert_true(limits->file_bytes == (uint64_t)4 << 30);
    assert_true(limits->vertex_count >= 64000000);
    assert_true(limits->node_count >= 1000000);
    assert_true(limits->memory_bytes == UINT64_MAX);
    cutis_context_destroy(context);
}

static void an_error_is_one_line_whatever_a_file_puts_into_it(void **state)
{
    (void)state;
    cutis_context *context = make(NULL);
    assert_string_equal(cutis_context_error(context), "");
    assert_int_equal(
        cutis_fail(context, CUTIS_CORRUPT_DATA, "%s", "a\nb\x1b[2J\tc\x7f\xC2\x9Bm \xC3\xA9"),
        CUTIS_CORRUPT_DATA);
    assert_string_equal(cutis_context_error(context), "a?b?[2J?c???m \xC3\xA9");
    char *longest = malloc(5000);
    memset(longest, 'x', 4999);
    longest[4999] = 0;
    cutis_fail(context, CUTIS_CORRUPT_DATA, "%s", longest);
    assert_in_range(strlen(cutis_context_error(context)), 500, 4999);
    free(longest);
    cutis_fail(context, CUTIS_CORRUPT_DATA, "first");
    cutis_fail(context, CUTIS_CORRUPT_DATA, "second, after %s", cutis_context_error(context));
    assert_string_equal(cutis_context_error(context), "second, after first");
    cutis_context_destroy(context);
}

static void a_long_error_is_not_cut_inside_a_character(void **state)
{
    (void)state;
    cutis_context *context = make(NULL);
    for (size_t lead = 0; lead < 4; lead++) {
        char text[4000] = "abc";
        size_t used = lead;
        while (used + 4 < sizeof text) memcpy(text + used, "\xF0\x9F\x98\x80", 5), used += 4;
        cutis_fail(context, CUTIS_CORRUPT_DATA, "%s", text);
        size_t length = strlen(cutis_context_error(context));
        assert_int_equal((length - lead) % 4, 0);
    }
    cutis_context_destroy(context);
}

static void *fail_elsewhere(void *context)
{
    const char *before = cutis_context_error(context);
    assert_string_equal(before, "");
    cutis_fail(context, CUTIS_INTERNAL, "theirs");
    assert_string_equal(cutis_context_error(context), "theirs");
    return NULL;
}

static void an_errors_text_belongs_to_its_thread_and_context(void **state)
{
    (void)state;
    cutis_context *context = make(NULL), *other = make(NULL);
    pthread_t thread;
    cutis_fail(context, CUTIS_INTERNAL, "mine");
    assert_string_equal(cutis_context_error(other), "");
    assert_int_equal(pthread_create(&thread, NULL, fail_elsewhere, context), 0);
    pthread_join(thread, NULL);
    assert_string_equal(cutis_context_error(context), "mine");
    cutis_context_destroy(other);
    cutis_context_destroy(context);
}

static bool stop_at_half(void *user, const char *stage, double fraction)
{
    assert_string_equal(stage, "fit");
    (*(int *)user)++;
    return fraction < 0.5;
}

static void progress_can_cancel_and_says_so(void **state)
{
    (void)state;
    int calls = 0;
    cutis_context *context =
        make(&(cutis_context_options){ .progress = stop_at_half, .progress_user = &calls });
    assert_int_equal(cutis_progress(context, "fit", 0.1), CUTIS_OK);
    assert_int_equal(cutis_progress(context, "fit", 0.5), CUTIS_CANCELLED);
    assert_non_null(strstr(cutis_context_error(context), "fit"));
    assert_int_equal(calls, 2);
    cutis_context_destroy(context);
}

static void collect(void *user, const char *line)
{
    snprintf(user, 100, "%s", line);
}

static void log_lines_reach_the_callback_without_control_characters(void **state)
{
    (void)state;
    char line[100] = "";
    cutis_context *context = make(&(cutis_context_options){ .log = collect, .log_user = line });
    cutis_log(context, "device %d\r\n", 7);
    assert_string_equal(line, "device 7??");
    cutis_context_destroy(context);
    context = make(NULL);
    cutis_log(context, "nobody listens");
    cutis_context_destroy(context);
}

static void sizes_that_overflow_are_refused_and_leave_the_output_alone(void **state)
{
    (void)state;
    size_t out = 42;
    assert_false(cutis_size_multiply(SIZE_MAX / 2 + 1, 2, &out));
    assert_false(cutis_size_add(SIZE_MAX, 1, &out));
    assert_int_equal(out, 42);
    assert_true(cutis_size_multiply(SIZE_MAX / 2, 2, &out));
    assert_true(out == SIZE_MAX - 1);
    assert_true(cutis_size_add(SIZE_MAX - 1, 1, &out));
    assert_true(out == SIZE_MAX);
    cutis_context *context = make(NULL);
    assert_null(cutis_alloc_array(context, SIZE_MAX / 4, 8));
    assert_int_equal(cutis_alloc_result(context), CUTIS_OUT_OF_MEMORY);
    assert_null(cutis_alloc_zero(context, SIZE_MAX / 4, 8));
    cutis_arena arena = { .context = context };
    assert_null(cutis_arena_alloc(&arena, SIZE_MAX / 4, 8));
    assert_null(cutis_arena_alloc(&arena, SIZE_MAX, 1));
    cutis_arena_release(&arena);
    assert_int_equal(cutis_context_memory(context), 0);
    cutis_context_destroy(context);
}

static void memory_is_aligned_charged_and_given_back(void **state)
{
    (void)state;
    cutis_context *context = make(NULL);
    void *a = cutis_alloc(context, 100), *b = cutis_alloc(context, 0),
         *c = cutis_alloc_zero(context, 10, 4);
    assert_true((uintptr_t)a % 64 == 0 && b && (uintptr_t)c % 64 == 0);
    for (int i = 0; i < 10; i++) assert_int_equal(((int32_t *)c)[i], 0);
    assert_int_equal(cutis_context_memory(context), 140);
    cutis_free(context, a, 100);
    cutis_free(context, b, 0);
    cutis_free_array(context, c, 10, 4);
    cutis_free(context, NULL, 77);
    assert_int_equal(cutis_context_memory(context), 0);
    cutis_context_destroy(context);
}

static void the_memory_limit_holds_to_the_byte_and_says_limit(void **state)
{
    (void)state;
    cutis_context *context = make(&(cutis_context_options){ .limits = { .memory_bytes = 1000 } });
    void *a = cutis_alloc(context, 600);
    assert_non_null(a);
    assert_null(cutis_alloc(context, 401));
    assert_int_equal(cutis_alloc_result(context), CUTIS_LIMIT_EXCEEDED);
    assert_non_null(strstr(cutis_context_error(context), "1000"));
    void *b = cutis_alloc(context, 400);
    assert_non_null(b);
    cutis_free(context, a, 600);
    assert_non_null(a = cutis_alloc(context, 600));
    cutis_free(context, a, 600);
    cutis_free(context, b, 400);
    assert_int_equal(cutis_context_memory(context), 0);
    cutis_context_destroy(context);
}

static void growing_keeps_contents_and_a_failed_growth_keeps_the_array(void **state)
{
    (void)state;
    cutis_context *context = make(&(cutis_context_options){ .limits = { .memory_bytes = 40000 } });
    uint32_t *array = NULL;
    size_t capacity = 0, count = 0;
    while (cutis_grow(context, &array, &capacity, count + 1, sizeof *array)) {
        array[count] = (uint32_t)count * 7;
        count++;
    }
    assert_true(count >= 1000 && count == capacity);
    for (size_t i = 0; i < count; i++) assert_int_equal(array[i], i * 7);
    assert_false(cutis_grow(context, &array, &capacity, SIZE_MAX / 2, sizeof *array));
    cutis_free_array(context, array, capacity, sizeof *array);
    assert_int_equal(cutis_context_memory(context), 0);
    cutis_context_destroy(context);
}

static void arena_pieces_are_aligned_apart_and_released_together(void **state)
{
    (void)state;
    enum { PIECES = 3000 };
    cutis_context *context = make(NULL);
    cutis_arena arena = { .context = context };
    unsigned char **pieces = malloc(PIECES * sizeof *pieces);
    size_t *sizes = malloc(PIECES * sizeof *sizes);
    for (uint32_t i = 0; i < PIECES; i++) {
        // Around the 4 KiB border too, and big ones first, in the middle and often.
        sizes[i] = i % 50 == 0  ? (size_t)random_in(1, i, 60000, 200000)
                   : i % 7 == 0 ? 4090 + i % 13
                                : (size_t)random_in(2, i, 0, 300);
        pieces[i] = cutis_arena_alloc(&arena, sizes[i], 1);
        assert_non_null(pieces[i]);
        assert_int_equal((uintptr_t)pieces[i] % (sizes[i] >= 4096 ? 64 : 16), 0);
        memset(pieces[i], (int)(i & 255), sizes[i]);
    }
    for (uint32_t i = 0; i < PIECES; i++)
        for (size_t k = 0; k < sizes[i]; k++) assert_int_equal(pieces[i][k], i & 255);
    cutis_arena_release(&arena);
    assert_int_equal(cutis_context_memory(context), 0);
    cutis_arena_release(&arena); // empty again: fine, and usable
    assert_non_null(cutis_arena_alloc(&arena, 1, 1));
    cutis_arena_release(&arena);
    cutis_context_destroy(context);
    free(pieces);
    free(sizes);
}

static void arenas_copy_and_format(void **state)
{
    (void)state;
    cutis_context *context = make(NULL);
    cutis_arena arena = { .context = context };
    const uint32_t numbers[3] = { 1, 2, 3 };
    uint32_t *copy = cutis_arena_copy(&arena, numbers, 3, sizeof *numbers);
    assert_ptr_not_equal(copy, numbers);
    assert_memory_equal(copy, numbers, sizeof numbers);
    assert_non_null(cutis_arena_copy(&arena, NULL, 0, 8));
    assert_null(cutis_arena_string(&arena, NULL));
    assert_string_equal(cutis_arena_string(&arena, ""), "");
    assert_string_equal(cutis_arena_format(&arena, "%s/%05d", "joint", 42), "joint/00042");
    char longest[10000];
    memset(longest, 'y', sizeof longest - 1);
    longest[sizeof longest - 1] = 0;
    assert_string_equal(cutis_arena_format(&arena, "%s", longest), longest);
    cutis_arena_release(&arena);
    cutis_context_destroy(context);
}

static void *allocate_a_lot(void *argument)
{
    cutis_context *context = argument;
    for (size_t i = 0; i < 20000; i++) {
        void *memory = cutis_alloc(context, i % 97);
        if (memory) cutis_free(context, memory, i % 97);
    }
    return NULL;
}

static void many_threads_keep_the_books_right(void **state)
{
    (void)state;
    cutis_context *context = make(&(cutis_context_options){ .limits = { .memory_bytes = 200 } });
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, allocate_a_lot, context), 0);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    assert_int_equal(cutis_context_memory(context), 0);
    cutis_context_destroy(context);
}

/// A reader's large arrays become the model's as they lie; small ones and those of others are
/// copied.
static void a_lender_gives_its_large_arrays(void **state)
{
    (void)state;
    cutis_context *context = NULL;
    assert_int_equal(cutis_context_create(NULL, &context), CUTIS_OK);
    cutis_arena from = { .context = context }, to = { .context = context, .lender = &from };
    enum { LARGE = 2 << 20 };
    char *large = cutis_arena_zero(&from, LARGE, 1), *small = cutis_arena_zero(&from, 100, 1);
    large[LARGE - 1] = 7, small[99] = 8;
    const uint64_t before = cutis_context_memory(context);
    assert_ptr_equal(cutis_arena_copy(&to, large, LARGE, 1), large);
    assert_int_equal(cutis_context_memory(context), before);
    char *again = cutis_arena_copy(&to, large, LARGE, 1); // it is the lender's no more
    char *part = cutis_arena_copy(&to, small, 100, 1);
    assert_ptr_not_equal(again, large);
    assert_ptr_not_equal(part, small);
    cutis_arena_release(&from);
    assert_int_equal(large[LARGE - 1], 7);
    assert_int_equal(again[LARGE - 1], 7);
    assert_int_equal(part[99], 8);
    cutis_arena_release(&to);
    assert_int_equal(cutis_context_memory(context), 0);
    cutis_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_result_has_its_own_number_name_and_text),
        cmocka_unit_test(published_result_numbers_never_change),
        cmocka_unit_test(the_version_is_the_headers),
        cmocka_unit_test(a_context_needs_both_halves_of_an_allocator),
        cmocka_unit_test(zero_limits_mean_the_documented_defaults),
        cmocka_unit_test(an_error_is_one_line_whatever_a_file_puts_into_it),
        cmocka_unit_test(a_long_error_is_not_cut_inside_a_character),
        cmocka_unit_test(an_errors_text_belongs_to_its_thread_and_context),
        cmocka_unit_test(progress_can_cancel_and_says_so),
        cmocka_unit_test(log_lines_reach_the_callback_without_control_characters),
        cmocka_unit_test(sizes_that_overflow_are_refused_and_leave_the_output_alone),
        cmocka_unit_test(memory_is_aligned_charged_and_given_back),
        cmocka_unit_test(the_memory_limit_holds_to_the_byte_and_says_limit),
        cmocka_unit_test(growing_keeps_contents_and_a_failed_growth_keeps_the_array),
        cmocka_unit_test(arena_pieces_are_aligned_apart_and_released_together),
        cmocka_unit_test(arenas_copy_and_format),
        cmocka_unit_test(many_threads_keep_the_books_right),
        cmocka_unit_test(a_lender_gives_its_large_arrays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
