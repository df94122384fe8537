/// Poisson reduction on OpenCL: the same bits as on the CPU, for both energies, signed and
/// non-negative weights, fixed, fitted and exchanged sets, with the prior of cages and without, and
/// for the sweeps on normals.
#include "reduce_case.h"

static cutis_device *gpu_or_skip(reduce_case *c)
{
    cutis_device_options options = { .kind = gpu_kind() };
    cutis_device *device = NULL;
    if (cutis_device_create(c->context, &options, &device) == CUTIS_OK) return device;
    print_message("skip: %s\n", cutis_context_error(c->context));
    free_case(c);
    skip();
    return NULL;
}

// P there and here: the same bits.
static void check_plan(reduce_case *c, const cutis_reduce_plan *plan)
{
    cutis_reduce_state there = { 0 }, here = { 0 };
    c->problem.device = gpu_or_skip(c);
    assert_ok(c->context, cutis_reduce_poisson(&c->problem, plan, &c->arena, &there));
    assert_true(there.transfer_seconds > 0); // it did run there
    cutis_device *device = c->problem.device;
    c->problem.device = NULL;
    assert_ok(c->context, cutis_reduce_poisson(&c->problem, plan, &c->arena, &here));
    assert_true(here.transfer_seconds == 0);
    const uint32_t vertices = c->mesh.vertex_count, slots = here.first[vertices];
    assert_int_equal(there.sweep_count, here.sweep_count);
    assert_memory_equal(there.curve, here.curve, (here.sweep_count + 1) * sizeof *here.curve);
    assert_memory_equal(there.control, here.control, slots * sizeof *here.control);
    assert_memory_equal(there.weight, here.weight, slots * sizeof *here.weight);
    assert_memory_equal(there.error, here.error, 24 * (size_t)c->problem.column_count * vertices);
    assert_memory_equal(&there.energy, &here.energy, sizeof here.energy);
    assert_true(here.curve[here.sweep_count] < here.curve[0]);
    cutis_device_destroy(device);
    free_case(c);
}

static void check_prior(case_shape shape, cutis_reduce_energy energy, bool fitted, bool reselect,
                        double prior)
{
    reduce_case c = make_case(shape);
    BIND(c);
    c.problem.prior = prior;
    c.problem.sweeps = 5;
    check_plan(&c,
               &(cutis_reduce_plan){ .energy = energy, .fitted = fitted, .reselect = reselect });
}

static void check_same(case_shape shape, cutis_reduce_energy energy, bool fitted, bool reselect)
{
    check_prior(shape, energy, fitted, reselect, 0);
}

static void the_gradient_energy_has_the_bits_of_the_cpu(void **state)
{
    (void)state;
    check_same((case_shape){ 30, 24, 12, 5, 4, false, false, 1 }, CUTIS_REDUCE_GRADIENT, false,
               false);
    check_same((case_shape){ 30, 40, 20, 11, 8, true, true, 2 }, CUTIS_REDUCE_GRADIENT, true,
               false);
}

static void vertices_that_all_keep_the_same_number_have_the_bits_of_the_cpu(void **state)
{
    (void)state;
    check_same((case_shape){ 20, 51, 51, 3, 8, false, true, 5 }, CUTIS_REDUCE_GRADIENT, true,
               false);
    check_same((case_shape){ 20, 45, 45, 3, 12, false, true, 6 }, CUTIS_REDUCE_GRADIENT, true,
               false);
}

static void the_prior_of_cages_has_the_bits_of_the_cpu(void **state)
{
    (void)state;
    check_prior((case_shape){ 20, 30, 30, 4, 8, true, true, 7 }, CUTIS_REDUCE_GRADIENT, true, false,
                1e-3);
    check_prior((case_shape){ 20, 30, 17, 4, 6, false, true, 8 }, CUTIS_REDUCE_GRADIENT, false,
                false, 1e-2);
}

static void exchanged_sets_are_those_of_the_cpu(void **state)
{
    (void)state;
    check_same((case_shape){ 20, 16, 9, 6, 4, false, false, 3 }, CUTIS_REDUCE_GRADIENT, true, true);
}

// The gradient's sweeps and those on normals after them.
static void check_normals(case_shape shape, bool fitted, bool reselect)
{
    reduce_case c = make_case(shape);
    BIND(c);
    c.problem.sweeps = 4;
    double weights[16];
    for (uint32_t j = 0; j < shape.poses; j++) weights[j] = j % 2 ? 0.05 : 1;
    const cutis_reduce_surface surface = { c.triangle_count, c.triangles, weights };
    cutis_reduce_colours near, far;
    assert_true(cutis_reduce_colours_create(&c.arena, &c.mesh, 1, &near));
    assert_true(cutis_reduce_colours_create(&c.arena, &c.mesh, 2, &far));
    check_plan(&c, &(cutis_reduce_plan){ .energy = CUTIS_REDUCE_NORMALS,
                                         .fitted = fitted,
                                         .reselect = reselect,
                                         .colours = &near,
                                         .surface = &surface,
                                         .far = &far });
}

static void sweeps_on_normals_have_the_bits_of_the_cpu(void **state)
{
    (void)state;
    check_normals((case_shape){ 20, 45, 45, 3, 12, false, true, 21 }, true, false);
    check_normals((case_shape){ 20, 24, 12, 11, 4, false, false, 22 }, false, false);
}

static void sets_exchanged_for_normals_are_those_of_the_cpu(void **state)
{
    (void)state;
    check_normals((case_shape){ 20, 24, 9, 11, 4, false, false, 23 }, true, true);
}

static void the_papers_energy_has_the_bits_of_the_cpu(void **state)
{
    (void)state;
    check_same((case_shape){ 30, 24, 12, 3, 4, false, false, 4 }, CUTIS_REDUCE_LAPLACE, false,
               false);
}

// A work item's arrays hold so many rows and no more; a CPU takes any number.
static void more_poses_than_a_gpu_holds_are_reduced_on_the_cpu(void **state)
{
    (void)state;
    reduce_case c = make_case((case_shape){ 6, 12, 8, 250, 3, false, false, 31 });
    BIND(c);
    const cutis_reduce_plan plan = { .energy = CUTIS_REDUCE_GRADIENT, .fitted = true };
    cutis_reduce_state there, here;
    c.problem.device = gpu_or_skip(&c);
    assert_ok(c.context, cutis_reduce_poisson(&c.problem, &plan, &c.arena, &there));
    assert_true(there.transfer_seconds == 0);
    cutis_device_destroy(c.problem.device);
    c.problem.device = NULL;
    assert_ok(c.context, cutis_reduce_poisson(&c.problem, &plan, &c.arena, &here));
    assert_memory_equal(there.weight, here.weight, here.first[36] * sizeof *here.weight);
    assert_true(here.curve[here.sweep_count] < here.curve[0]);
    free_case(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_gradient_energy_has_the_bits_of_the_cpu),
        cmocka_unit_test(vertices_that_all_keep_the_same_number_have_the_bits_of_the_cpu),
        cmocka_unit_test(the_prior_of_cages_has_the_bits_of_the_cpu),
        cmocka_unit_test(exchanged_sets_are_those_of_the_cpu),
        cmocka_unit_test(sweeps_on_normals_have_the_bits_of_the_cpu),
        cmocka_unit_test(sets_exchanged_for_normals_are_those_of_the_cpu),
        cmocka_unit_test(the_papers_energy_has_the_bits_of_the_cpu),
        cmocka_unit_test(more_poses_than_a_gpu_holds_are_reduced_on_the_cpu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
