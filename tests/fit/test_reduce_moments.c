// Reduction by moments: the problem of one vertex against every subset tried by another solver, the
// same bits for any number of threads, a gain over k-largest on poses not learned from.
#include "fit/reduce/mixed.h"

#include <math.h>
#include <string.h>

#include <cutis/synth.h>

#include "support.h"

static double uniform(uint64_t index)
{
    return 2 * cutis_random_unit(1001, 7, index) - 1;
}

// Least a^T G a - 2 h^T a over the simplex of a subset, by projected gradients: slow and plain.
static double plain_least(uint32_t n, const double *gram, const double *right, uint32_t subset,
                          uint32_t steps)
{
    double a[8] = { 0 }, size = 0, value = 0;
    uint32_t count = 0;
    for (uint32_t i = 0; i < n; i++) count += subset >> i & 1;
    for (uint32_t i = 0; i < n; i++) a[i] = subset >> i & 1 ? 1.0 / count : 0;
    for (uint32_t i = 0; i < n * n; i++) size += fabs(gram[i]);
    for (uint32_t step = 0; step < steps; step++) { // exchange along the best pair, exactly
        double slope[8], best = 0, move = 0;
        uint32_t from = 0, to = 0;
        for (uint32_t i = 0; i < n; i++) {
            slope[i] = -right[i];
            for (uint32_t j = 0; j < n; j++) slope[i] += gram[i * n + j] * a[j];
        }
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t j = 0; j < n; j++) {
                if (!(subset >> i & 1) || !(subset >> j & 1) || i == j || a[i] <= 0) continue;
                const double curve = gram[i * n + i] + gram[j * n + j] - 2 * gram[i * n + j];
                const double length = fmin(a[i], (slope[i] - slope[j]) / curve);
                const double fall = length * (2 * (slope[i] - slope[j]) - length * curve);
                if (length > 0 && fall > best) best = fall, move = length, from = i, to = j;
            }
        if (best < 1e-18 * size) break;
        a[from] -= move, a[to] += move;
    }
    for (uint32_t i = 0; i < n; i++) {
        value -= 2 * right[i] * a[i];
        for (uint32_t j = 0; j < n; j++) value += a[i] * gram[i * n + j] * a[j];
    }
    return value;
}

static void one_vertex_gets_the_best_subset_there_is(void **state)
{
    (void)state;
    enum { N = 6 };
    for (uint64_t trial = 0; trial < 60; trial++) {
        double rows[9][N], gram[N * N], right[N], least = INFINITY, value = 0, dense[N] = { 0 };
        uint8_t count = 0, index[16];
        double weight[16], sum = 0;
        const uint32_t most = 1 + (uint32_t)(trial % 4);
        for (uint32_t r = 0; r < 9; r++)
            for (uint32_t i = 0; i < N; i++) rows[r][i] = uniform(trial * 1000 + r * N + i);
        for (uint32_t i = 0; i < N; i++) {
            right[i] = 2 * uniform(trial * 1000 + 900 + i);
            for (uint32_t j = 0; j < N; j++) {
                gram[i * N + j] = 0;
                for (uint32_t r = 0; r < 9; r++) gram[i * N + j] += rows[r][i] * rows[r][j];
            }
        }
        for (uint32_t subset = 1; subset < 1u << N; subset++)
            if ((uint32_t)__builtin_popcount(subset) <= most)
                least = fmin(least, plain_least(N, gram, right, subset, 4000));
        cutis_moments_local(N, gram, right, most, &count, index, weight);
        assert_in_range(count, 1, most);
        for (uint32_t i = 0; i < count; i++) {
            assert_true(weight[i] > 0);
            dense[index[i]] = weight[i];
            sum += weight[i];
        }
        for (uint32_t i = 0; i < N; i++) {
            value -= 2 * right[i] * dense[i];
            for (uint32_t j = 0; j < N; j++) value += dense[i] * gram[i * N + j] * dense[j];
        }
        assert_true(fabs(sum - 1) < 1e-12);
        assert_true(fabs(value - least) <= 1e-6 * (1 + fabs(least)));
    }
}

// The caller's own, one after the other: whoever waits for another one waits for ever.
static void run_backwards(void *user, void (*task)(void *data, uint32_t index), void *data,
                          uint32_t count)
{
    (void)user;
    while (count-- > 0) task(data, count);
}

static void assert_same_weights(const cutis_model *a, const cutis_model *b)
{
    const cutis_primitive *p = &cutis_model_get(a)->meshes[0].primitives[0],
                          *q = &cutis_model_get(b)->meshes[0].primitives[0];
    const uint32_t vertices = p->vertex_count, *first = p->influences.first;
    assert_int_equal(q->vertex_count, vertices);
    assert_memory_equal(first, q->influences.first, (vertices + 1) * sizeof *first);
    assert_memory_equal(p->influences.joints, q->influences.joints,
                        first[vertices] * sizeof *p->influences.joints);
    assert_memory_equal(p->influences.weights, q->influences.weights,
                        first[vertices] * sizeof *p->influences.weights);
}

// With one thread, with several, and with the caller's own. @param most of the error of k-largest
static void check_threads(uint32_t vertices, cutis_reduce_effort effort, double most)
{
    static const cutis_device_options ways[] = {
        { .thread_count = 1 },
        { .thread_count = 4 },
        { .thread_count = 5, .run_tasks = run_backwards },
    };
    enum { WAYS = sizeof ways / sizeof *ways };
    cutis_context *context = NULL;
    cutis_model *model = NULL, *reduced[WAYS] = { NULL };
    assert_int_equal(cutis_context_create(NULL, &context), CUTIS_OK);
    const cutis_synth_options synth = { .body = CUTIS_BODY_BIPED, .vertex_count = vertices };
    assert_int_equal(cutis_synth_create(context, &synth, &model), CUTIS_OK);
    for (uint32_t i = 0; i < WAYS; i++) {
        cutis_device *device = NULL;
        const cutis_reduce_options options = { .influences = 2,
                                               .automatic = true,
                                               .effort = effort };
        cutis_reduce_report *report = NULL;
        assert_int_equal(cutis_device_create(context, &ways[i], &device), CUTIS_OK);
        assert_int_equal(cutis_weights_reduce(model, device, &options, &reduced[i], &report),
                         CUTIS_OK);
        assert_int_equal(report->rows[0].method, CUTIS_REDUCE_MOMENTS);
        assert_int_equal(report->worse, 0);
        assert_true(report->rows[0].held_out_normal < most * report->rows[1].held_out_normal);
        cutis_reduce_report_destroy(report);
        cutis_device_destroy(device);
    }
    for (int i = 1; i < WAYS; i++) assert_same_weights(reduced[0], reduced[i]);
    for (int i = 0; i < WAYS; i++) cutis_model_destroy(reduced[i]);
    cutis_model_destroy(model);
    cutis_context_destroy(context);
}

static void the_same_bits_for_any_number_of_threads(void **state)
{
    (void)state;
    check_threads(1500, CUTIS_REDUCE_FAST, 0.8);
}

// All chains take several starts, and places are used again.
static void the_same_bits_with_more_starts_than_there_are_places(void **state)
{
    (void)state;
    check_threads(1500, CUTIS_REDUCE_BEST, 0.8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_vertex_gets_the_best_subset_there_is),
        cmocka_unit_test(the_same_bits_for_any_number_of_threads),
        cmocka_unit_test(the_same_bits_with_more_starts_than_there_are_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
