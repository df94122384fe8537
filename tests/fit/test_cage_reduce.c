// Reduced cage weights: the paper's ordering on the arm of SuperCages, the specification's tests
// 1 to 3, 7, 13 and 14 where they concern cages, and the smooth prior against its definition.
#include "fit/cage_case.h"

#include "fit/reduce_case.h"
#include "fit/reduce_prior.h"

typedef struct {
    cutis_context *context;
    cutis_device *device;
    cutis_model *body;
    cutis_cage *cage;
} scene;

static scene open_arm(void)
{
    scene s = { 0 };
    cutis_model *model;
    assert_int_equal(cutis_context_create(NULL, &s.context), CUTIS_OK);
    assert_ok(s.context, cutis_device_create(s.context, NULL, &s.device));
    assert_ok(s.context,
              cutis_model_read(s.context, shared_path("supercages/__DataExamples/Arm/arm.obj"), NULL,
                               &s.body));
    assert_ok(s.context, cutis_model_read(
                             s.context, shared_path("supercages/__DataExamples/Arm/arm_cage.obj"),
                             NULL, &model));
    assert_ok(s.context, cutis_cage_create(model, &s.cage));
    cutis_model_destroy(model);
    return s;
}

static void close_scene(scene *s)
{
    cutis_cage_destroy(s->cage);
    cutis_model_destroy(s->body);
    cutis_device_destroy(s->device);
    assert_int_equal(cutis_context_memory(s->context), 0);
    cutis_context_destroy(s->context);
}

static const cutis_reduction_row *row_of(const cutis_cage_report *report, cutis_reduce_method method)
{
    for (uint32_t i = 0; i < report->row_count; i++)
        if (report->rows[i].method == method) return &report->rows[i];
    fail();
    return NULL;
}

static cutis_cage_report *bind(const scene *s, cutis_cage_options options, cutis_model **out)
{
    cutis_cage_report *report = NULL;
    assert_ok(s->context,
              cutis_cage_bind(s->body, s->device, s->cage, &options, out, &report));
    return report;
}

static void the_papers_order_holds_on_the_arm_and_errors_fall_with_k(void **state)
{
    (void)state;
    scene s = open_arm();
    double position[2], normal[2];
    for (int i = 0; i < 2; i++) {
        cutis_model *model;
        cutis_cage_report *r =
            bind(&s, (cutis_cage_options){ .influences = i ? 8 : 4, .compare = true }, &model);
        const cutis_reduction_row *p = row_of(r, CUTIS_REDUCE_POISSON),
                                  *g = row_of(r, CUTIS_REDUCE_GEOMETRIC),
                                  *smooth = row_of(r, CUTIS_REDUCE_SMOOTH),
                                  *largest = row_of(r, CUTIS_REDUCE_KLARGEST);
        for (uint32_t k = 0; k < r->row_count; k++)
            print_message("K = %d %-10s %-8s examples %.4f %.4f held out %.4f %.4f\n", i ? 8 : 4,
                          cutis_reduce_method_name(r->rows[k].method),
                          cutis_reduce_sets_name(r->rows[k].sets), r->rows[k].example_position,
                          r->rows[k].example_normal, r->rows[k].held_out_position,
                          r->rows[k].held_out_normal);
        print_message("outside %llu, precision %g %%, infeasible %llu\n",
                      (unsigned long long)r->outside_count, r->precision,
                      (unsigned long long)r->infeasible_count);
        position[i] = p->held_out_position, normal[i] = p->held_out_normal;
        if (i == 1) {
            assert_true(p->held_out_normal < smooth->held_out_normal);
            assert_true(smooth->held_out_normal < g->held_out_normal);
            assert_true(g->held_out_normal < largest->held_out_normal);
            assert_true(p->held_out_normal <= 0.35 * largest->held_out_normal);
            assert_true(p->held_out_position <= 0.3 * largest->held_out_position);
        }
        assert_int_equal(r->example_count, 7);
        assert_int_equal(r->held_out_count, 12);
        cutis_cage_report_destroy(r);
        cutis_model_destroy(model);
    }
    assert_true(position[1] < position[0] && normal[1] < normal[0]);
    close_scene(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_papers_order_holds_on_the_arm_and_errors_fall_with_k),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
