// Bounds, whole numbers and fewer joints, through the library: whole numbers against all there are;
// sums, monotony and caps on a body; bounds measured by a blend written out here. Random poses,
// clips and normals in double by another program: tests/cli/test_reduce_limits.sh.
#include <math.h>
#include <string.h>

#include <cutis/clip.h>
#include <cutis/synth.h>

#include "fit/reduce/bound.h"
#include "support.h"

static double uniform(uint64_t index)
{
    return 2 * cutis_random_unit(4711, 3, index) - 1;
}

static double value_of(uint32_t n, const double *gram, const double *force, const uint32_t *number,
                       double total)
{
    double sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        sum += 2 * force[i] * number[i] / total;
        for (uint32_t j = 0; j < n; j++)
            sum += gram[i * n + j] * (number[i] / total) * (number[j] / total);
    }
    return sum;
}

// The least of all numbers with that sum.
static double least_of(uint32_t n, const double *gram, const double *force, uint32_t total,
                       uint32_t *number, uint32_t at, uint32_t left)
{
    if (at + 1 == n) {
        number[at] = left;
        return value_of(n, gram, force, number, total);
    }
    double least = INFINITY;
    for (uint32_t k = 0; k <= left; k++) {
        number[at] = k;
        least = fmin(least, least_of(n, gram, force, total, number, at + 1, left - k));
    }
    return least;
}

static void whole_numbers_of_a_vertex_are_the_best_of_all_there_are(void **state)
{
    (void)state;
    enum { TOTAL = 24, TRIALS = 200 };
    uint32_t best = 0;
    for (uint64_t t = 0; t < TRIALS; t++) {
        const uint32_t n = 2 + (uint32_t)(t % 3);
        double rows[6][4], gram[16], force[4];
        uint32_t number[4] = { 0 }, other[4], sum = 0;
        for (uint32_t r = 0; r < 6; r++)
            for (uint32_t i = 0; i < n; i++) rows[r][i] = uniform(t * 100 + r * 4 + i);
        for (uint32_t i = 0; i < n; i++) {
            force[i] = uniform(t * 100 + 50 + i);
            for (uint32_t j = 0; j < n; j++) {
                gram[i * n + j] = 0;
                for (uint32_t r = 0; r < 6; r++) gram[i * n + j] += rows[r][i] * rows[r][j];
            }
        }
        number[t % n] = TOTAL;
        const double before = value_of(n, gram, force, number, TOTAL);
        const double fall = cutis_quantise_vertex(n, gram, force, TOTAL, number);
        const double after = value_of(n, gram, force, number, TOTAL),
                     least = least_of(n, gram, force, TOTAL, other, 0, TOTAL);
        for (uint32_t i = 0; i < n; i++) sum += number[i];
        assert_int_equal(sum, TOTAL);
        assert_true(fabs(before - after - fall) < 1e-9);
        assert_true(after <= before);
        assert_true(after <= least + 0.02 * (before - least));
        best += after <= least + 1e-12;
    }
    assert_true(best >= TRIALS * 95 / 100);
}

typedef struct body {
    cutis_context *context;
    cutis_model *model;
} body;

static void open_body(body *b)
{
    const cutis_synth_options synth = { .body = CUTIS_BODY_BIPED, .vertex_count = 1500 };
    assert_int_equal(cutis_context_create(NULL, &b->context), CUTIS_OK);
    assert_int_equal(cutis_synth_create(b->context, &synth, &b->model), CUTIS_OK);
}

static void close_body(body *b)
{
    cutis_model_destroy(b->model);
    cutis_context_destroy(b->context);
}

static const cutis_primitive *primitive_of(const cutis_model *model)
{
    return &cutis_model_get(model)->meshes[0].primitives[0];
}

// The largest distance between two models' vertices, blended here, by the same pose of both.
static double largest_distance(const cutis_model *a, const cutis_model *b,
                               const cutis_transform *pose)
{
    const cutis_model *models[2] = { a, b };
    const uint32_t vertices = primitive_of(a)->vertex_count, nodes = cutis_model_get(a)->node_count;
    double *places = calloc(2 * (size_t)vertices, 3 * sizeof *places), most = 0;
    cutis_mat34 *world = calloc(nodes, sizeof *world);
    assert_non_null(places);
    assert_non_null(world);
    cutis_pose_world(a, pose, world);
    for (int m = 0; m < 2; m++) {
        const cutis_primitive *p = primitive_of(models[m]);
        const cutis_skin *skin = &cutis_model_get(models[m])->skins[0];
        for (uint32_t v = 0; v < vertices; v++)
            for (uint32_t i = p->influences.first[v]; i < p->influences.first[v + 1]; i++) {
                const uint32_t j = p->influences.joints[i];
                const float *w = world[skin->joints[j]].m, *k = skin->inverse_binds[j].m;
                double q[3];
                for (int c = 0; c < 3; c++)
                    q[c] = k[4 * c + 3] + (double)k[4 * c] * p->positions[3 * v] +
                           (double)k[4 * c + 1] * p->positions[3 * v + 1] +
                           (double)k[4 * c + 2] * p->positions[3 * v + 2];
                for (int c = 0; c < 3; c++)
                    places[3 * ((size_t)m * vertices + v) + c] +=
                        p->influences.weights[i] * (w[4 * c + 3] + w[4 * c] * q[0] +
                                                    w[4 * c + 1] * q[1] + w[4 * c + 2] * q[2]);
            }
    }
    for (uint32_t v = 0; v < vertices; v++) {
        double sum = 0;
        for (int c = 0; c < 3; c++) {
            const double d = places[3 * (size_t)v + c] - places[3 * ((size_t)vertices + v) + c];
            sum += d * d;
        }
        most = fmax(most, sqrt(sum));
    }
    free(places);
    free(world);
    return most;
}

static void bounds_hold_in_poses_held_out_and_few_influences_keep_them(void **state)
{
    (void)state;
    body b;
    open_body(&b);
    const cutis_reduce_options options = { .max_error = 0.003,
                                           .automatic = true,
                                           .effort = CUTIS_REDUCE_FAST };
    cutis_model *reduced = NULL;
    cutis_reduce_report *report = NULL;
    assert_int_equal(cutis_weights_reduce(b.model, NULL, &options, &reduced, &report), CUTIS_OK);
    cutis_weight_summary before, after;
    assert_int_equal(cutis_weights_summarize(b.model, &before), CUTIS_OK);
    assert_int_equal(cutis_weights_summarize(reduced, &after), CUTIS_OK);
    assert_true(after.histogram[1] > 2 * before.histogram[1]);
    assert_true(report->bounds.judged_count >= 256);
    assert_true(report->bounds.position <= 0.003 && report->bounds.position > 0.001);
    assert_true(report->bounds.position_99 <= report->bounds.position);
    const uint32_t nodes = cutis_model_get(b.model)->node_count;
    double most = 0;
    for (uint32_t p = 0; p < report->example_count + report->held_out_count; p++)
        most =
            fmax(most, largest_distance(b.model, reduced, report->transforms + (size_t)p * nodes));
    assert_true(most <= 0.003 * 1.001 && most > 0.001);
    cutis_reduce_report_destroy(report);
    cutis_model_destroy(reduced);
    close_body(&b);
}

static void a_bound_that_the_cap_breaks_is_an_error(void **state)
{
    (void)state;
    body b;
    open_body(&b);
    cutis_reduce_options options = {
        .influences = 2, .max_error = 1e-5, .automatic = true, .effort = CUTIS_REDUCE_FAST
    };
    cutis_model *reduced = NULL;
    assert_int_equal(cutis_weights_reduce(b.model, NULL, &options, &reduced, NULL),
                     CUTIS_UNSUPPORTED);
    assert_null(reduced);
    options.max_error = 0, options.max_normal = NAN;
    assert_int_equal(cutis_weights_reduce(b.model, NULL, &options, &reduced, NULL),
                     CUTIS_INVALID_ARGUMENT);
    options.max_normal = 0.1, options.method = CUTIS_REDUCE_POISSON;
    assert_int_equal(cutis_weights_reduce(b.model, NULL, &options, &reduced, NULL),
                     CUTIS_INVALID_ARGUMENT);
    // Without a cap the smallest bound is kept: by all weights.
    options = (cutis_reduce_options){ .max_error = 1e-12,
                                      .automatic = true,
                                      .effort = CUTIS_REDUCE_FAST };
    cutis_weight_summary before, after;
    assert_int_equal(cutis_weights_reduce(b.model, NULL, &options, &reduced, NULL), CUTIS_OK);
    assert_int_equal(cutis_weights_summarize(b.model, &before), CUTIS_OK);
    assert_int_equal(cutis_weights_summarize(reduced, &after), CUTIS_OK);
    assert_memory_equal(before.histogram, after.histogram, sizeof after.histogram);
    cutis_model_destroy(reduced);
    close_body(&b);
}

static void whole_numbers_sum_to_their_total_and_beat_rounding(void **state)
{
    (void)state;
    body b;
    open_body(&b);
    const cutis_reduce_options options = {
        .influences = 4, .weight_total = 255, .automatic = true, .effort = CUTIS_REDUCE_FAST
    };
    cutis_model *reduced[2] = { NULL };
    cutis_reduce_report *report = NULL;
    for (uint32_t i = 0; i < 2; i++) {
        const cutis_device_options threads = { .thread_count = 1 + 2 * i };
        cutis_device *device = NULL;
        assert_int_equal(cutis_device_create(b.context, &threads, &device), CUTIS_OK);
        cutis_reduce_report_destroy(report);
        assert_int_equal(cutis_weights_reduce(b.model, device, &options, &reduced[i], &report),
                         CUTIS_OK);
        cutis_device_destroy(device);
    }
    const cutis_reduce_quantised *q = &report->quantised;
    assert_true(q->chosen_energy < 0.9 * q->rounded_energy);
    assert_true(q->chosen_normal < q->rounded_normal);
    const cutis_primitive *p = primitive_of(reduced[0]);
    for (uint32_t v = 0; v < p->vertex_count; v++) {
        double sum = 0;
        for (uint32_t i = p->influences.first[v]; i < p->influences.first[v + 1]; i++) {
            const double exact = 255.0 * p->influences.weights[i];
            assert_true(fabs(exact - round(exact)) < 1e-4);
            sum += round(exact);
        }
        assert_true(sum == 255);
    }
    const cutis_influences *a = &p->influences, *c = &primitive_of(reduced[1])->influences;
    assert_memory_equal(a->first, c->first, ((size_t)p->vertex_count + 1) * sizeof *a->first);
    assert_memory_equal(a->weights, c->weights, a->first[p->vertex_count] * sizeof *a->weights);
    cutis_reduce_report_destroy(report);
    for (int i = 0; i < 2; i++) cutis_model_destroy(reduced[i]);
    close_body(&b);
}

static void merged_joints_leave_the_others_as_they_were(void **state)
{
    (void)state;
    body b;
    open_body(&b);
    const cutis_reduce_options options = {
        .influences = 4, .joints = 21, .automatic = true, .effort = CUTIS_REDUCE_FAST
    };
    cutis_model *reduced = NULL;
    cutis_reduce_report *report = NULL;
    assert_int_equal(cutis_weights_reduce(b.model, NULL, &options, &reduced, &report), CUTIS_OK);
    const cutis_model_data *old = cutis_model_get(b.model), *new = cutis_model_get(reduced);
    assert_int_equal(report->joints_after, 21);
    assert_int_equal(report->joints_before, old->skins[0].joint_count);
    assert_int_equal(new->skins[0].joint_count, 21);
    assert_int_equal(new->node_count, old->node_count);
    for (uint32_t j = 0, k = 0; j < old->skins[0].joint_count; j++) {
        const uint32_t node = old->skins[0].joints[j];
        if (report->merged[node] != CUTIS_NONE) { // into one above it that stays
            int32_t up = old->nodes[node].parent;
            while (up != CUTIS_NONE && up != report->merged[node]) up = old->nodes[up].parent;
            assert_int_equal(up, report->merged[node]);
            assert_int_equal(report->merged[up], CUTIS_NONE);
            continue;
        }
        assert_int_equal(new->skins[0].joints[k], node);
        assert_memory_equal(&new->skins[0].inverse_binds[k++], &old->skins[0].inverse_binds[j],
                            sizeof(cutis_mat34));
    }
    assert_true(report->rows[0].random_position <= 1.02 * report->rows[1].random_position);
    // At rest nothing has moved.
    cutis_transform *rest = calloc(old->node_count, sizeof *rest);
    assert_non_null(rest);
    cutis_pose_rest(b.model, rest, NULL);
    assert_true(largest_distance(b.model, reduced, rest) < 1e-5);
    free(rest);
    cutis_reduce_report_destroy(report);
    cutis_model_destroy(reduced);
    close_body(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_numbers_of_a_vertex_are_the_best_of_all_there_are),
        cmocka_unit_test(bounds_hold_in_poses_held_out_and_few_influences_keep_them),
        cmocka_unit_test(a_bound_that_the_cap_breaks_is_an_error),
        cmocka_unit_test(whole_numbers_sum_to_their_total_and_beat_rounding),
        cmocka_unit_test(merged_joints_leave_the_others_as_they_were),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
