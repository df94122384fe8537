// Mean value and harmonic coordinates: docs/spec/reduction.md 10.11 and 10.12, against the
// angle form in long double, barycentric coordinates, and the properties that define them.
#include "fit/cage_case.h"

#include "fit/cage/grid.h"

static void mean_value(const cage_case *c, const double *points, uint32_t count, double *weights)
{
    int32_t *status = malloc((count + 1) * sizeof *status);
    assert_ok(c->context, cutis_cage_mean_value(c->device, &c->shape, points, count,
                                                (cutis_cage_weights){ .wide = weights }, status));
    free(status);
}

// Sum 1 and linear precision at points; the extent bounds the second.
static void assert_coordinates(const cage_case *c, const double *points, uint32_t count,
                               const double *weights, double sum_tolerance, double precision)
{
    const uint32_t n = c->shape.control_count;
    for (uint32_t p = 0; p < count; p++) {
        double sum = 0, x[3] = { 0 };
        for (uint32_t i = 0; i < n; i++) {
            sum += weights[p * n + i];
            for (int k = 0; k < 3; k++) x[k] += weights[p * n + i] * c->shape.controls[3 * i + k];
        }
        assert_near(sum, 1, sum_tolerance);
        for (int k = 0; k < 3; k++)
            assert_near(x[k], points[3 * p + k], precision * c->shape.extent);
    }
}

// `inside` points in the cage, then `outside` around it.
static double *random_points(const cage_case *c, uint32_t inside, uint32_t outside)
{
    double *points = malloc(3 * (inside + outside) * sizeof *points);
    uint32_t found = 0, left = outside;
    for (uint64_t i = 0; found < inside || left > 0; i++) {
        double x[3];
        for (int k = 0; k < 3; k++) {
            double side = c->shape.box.high[k] - c->shape.box.low[k];
            x[k] = random_in(11, 3 * i + (uint64_t)k, c->shape.box.low[k] - 0.5 * side,
                             c->shape.box.high[k] + 0.5 * side);
        }
        bool in = cutis_cage_inside(&c->shape, x);
        if (in && found < inside) memcpy(points + 3 * found++, x, sizeof x);
        if (!in && left > 0) memcpy(points + 3 * (inside + --left), x, sizeof x);
    }
    return points;
}

static void shapes(int i, cage_mesh *m)
{
    if (i == 0) make_cube(m);
    if (i == 1) make_icosphere(m, 1, 1.5);
    if (i == 2) make_l(m);
    if (i == 3) make_u(m);
}

static void mean_value_coordinates_sum_to_one_and_reproduce_points_everywhere(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        cage_mesh m;
        shapes(i, &m);
        cage_case c = make_cage(&m);
        double *points = random_points(&c, 1000, 100);
        double *weights = malloc(1100 * c.shape.control_count * sizeof *weights);
        mean_value(&c, points, 1100, weights);
        assert_coordinates(&c, points, 1100, weights, 1e-12, 1e-9);
        free(points), free(weights), free_cage(&c);
    }
}

static void mean_value_coordinates_are_those_of_the_angle_form(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        cage_mesh m;
        shapes(i, &m);
        cage_case c = make_cage(&m);
        const uint32_t n = c.shape.control_count;
        double *points = random_points(&c, 300, 100), *expected = malloc(n * sizeof *expected);
        double *weights = malloc(400 * n * sizeof *weights);
        mean_value(&c, points, 400, weights);
        for (uint32_t p = 0; p < 400; p++) {
            angle_form(&c.shape, points + 3 * p, expected);
            // The angle form loses digits near face planes, even in long double.
            for (uint32_t k = 0; k < n; k++) assert_near(weights[p * n + k], expected[k], 1e-9);
        }
        free(points), free(weights), free(expected), free_cage(&c);
    }
}

static void controls_and_faces_interpolate(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        cage_mesh m;
        shapes(i, &m);
        cage_case c = make_cage(&m);
        const uint32_t n = c.shape.control_count, faces = c.shape.triangle_count;
        double *points = malloc(3 * (n + faces) * sizeof *points);
        double *weights = malloc((n + faces) * n * sizeof *weights);
        memcpy(points, c.shape.controls, 3 * n * sizeof *points);
        for (uint32_t t = 0; t < faces; t++)
            for (int k = 0; k < 3; k++)
                points[3 * (n + t) + k] =
                    0.2 * c.shape.controls[3 * c.shape.triangles[3 * t] + k] +
                    0.3 * c.shape.controls[3 * c.shape.triangles[3 * t + 1] + k] +
                    0.5 * c.shape.controls[3 * c.shape.triangles[3 * t + 2] + k];
        mean_value(&c, points, n + faces, weights);
        for (uint32_t p = 0; p < n; p++)
            for (uint32_t k = 0; k < n; k++) assert_near(weights[p * n + k], p == k, 1e-12);
        for (uint32_t t = 0; t < faces; t++) {
            const uint32_t *corner = c.shape.triangles + 3 * t;
            for (uint32_t k = 0; k < n; k++) {
                double want = k == corner[0]   ? 0.2
                              : k == corner[1] ? 0.3
                              : k == corner[2] ? 0.5
                                               : 0;
                assert_near(weights[(n + t) * n + k], want, 1e-6);
            }
        }
        free(points), free(weights), free_cage(&c);
    }
}

static void face_planes_and_edge_lines_outside_are_smooth(void **state)
{
    (void)state;
    cage_mesh m;
    make_cube(&m);
    cage_case c = make_cage(&m);
    // On a face plane beside the face, on an edge line beyond it, on a diagonal's line.
    static const double base[4][3] = {
        { 1.7, 0.3, 0 }, { 1.5, 0, 0 }, { -0.4, 1, 1 }, { 1.6, 1.6, 0 }
    };
    static const double way[3][3] = { { 0, 0, 1 }, { 0, 1, 0 }, { 0.3, 0.5, 0.8 } };
    for (int b = 0; b < 4; b++)
        for (int d = 0; d < 3; d++) {
            double points[9], weights[3 * 8];
            for (int s = 0; s < 3; s++)
                for (int k = 0; k < 3; k++)
                    points[3 * s + k] = base[b][k] + (s - 1) * 1e-5 * way[d][k];
            mean_value(&c, points, 3, weights);
            assert_coordinates(&c, points, 3, weights, 1e-12, 1e-9);
            for (int k = 0; k < 8; k++) {
                assert_near(weights[8 + k], weights[k], 1e-4);
                assert_near(weights[8 + k], weights[16 + k], 1e-4);
            }
        }
    free_cage(&c);
}

static void a_regular_tetrahedron_has_quarters_in_its_middle(void **state)
{
    (void)state;
    cage_mesh m;
    make_tetrahedron(&m);
    cage_case c = make_cage(&m);
    double points[6] = { 0, 0, 0, 0.5, 0.5, 0.5 }, weights[8 + 8];
    mean_value(&c, points, 1, weights);
    for (int k = 0; k < 4; k++) assert_near(weights[k], 0.25, 1e-14);
    free_cage(&c);
    make_cube(&m);
    c = make_cage(&m);
    mean_value(&c, points + 3, 1, weights);
    assert_coordinates(&c, points + 3, 1, weights, 1e-12, 1e-12);
    free_cage(&c);
}

static void near_a_face_plane_no_digits_are_lost(void **state)
{
    (void)state;
    cage_mesh m;
    make_cube(&m);
    cage_case c = make_cage(&m);
    for (int e = 0; e < 2; e++) {
        double d = e ? 1e-5 : 1e-7, weights[16];
        double points[6] = { 1.3, 0.4, d, 0.6, 0.4, d }; // beside the face, before it
        mean_value(&c, points, 2, weights);
        assert_coordinates(&c, points, 2, weights, 1e-12, 1e-12);
    }
    free_cage(&c);
}

static void chunks_threads_and_floats_do_not_matter(void **state)
{
    (void)state;
    cage_mesh m;
    make_icosphere(&m, 1, 1.5);
    cage_case c = make_cage(&m);
    const uint32_t n = c.shape.control_count, count = 500;
    double *points = random_points(&c, count, 0), *wide = malloc(count * n * sizeof *wide);
    double *again = malloc(count * n * sizeof *again);
    float *narrow = malloc(count * n * sizeof *narrow);
    mean_value(&c, points, count, wide);
    for (uint32_t threads = 1; threads <= 8; threads *= 2) {
        cutis_device *device;
        cutis_device_options options = { .thread_count = threads };
        int32_t status[500];
        assert_ok(c.context, cutis_device_create(c.context, &options, &device));
        assert_ok(c.context, cutis_cage_mean_value(device, &c.shape, points, count,
                                                   (cutis_cage_weights){ .wide = again }, status));
        assert_memory_equal(wide, again, count * n * sizeof *wide);
        cutis_device_destroy(device);
    }
    assert_ok(c.context,
              cutis_cage_coordinates(c.context, NULL, c.cage, points, count, NULL, narrow, NULL));
    for (uint32_t i = 0; i < count * n; i++) assert_true(narrow[i] == (float)wide[i]);
    free(points), free(wide), free(again), free(narrow), free_cage(&c);
}

// Harmonic ---------------------------------------------------------------------------------------

static void harmonic(const cage_case *c, uint32_t resolution, bool simple, const double *points,
                     uint32_t count, double *weights)
{
    cutis_cage_grid_report report;
    assert_ok(c->context,
              cutis_cage_harmonic(c->device, &c->shape, resolution, simple, 1e-12, points, count,
                                  (cutis_cage_weights){ .wide = weights }, &report));
    assert_true(report.residual <= 1e-12);
}

static void harmonic_coordinates_stay_in_range_and_reproduce_points(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        cage_mesh m;
        shapes(i, &m);
        cage_case c = make_cage(&m);
        const uint32_t n = c.shape.control_count, count = 400;
        double *points = random_points(&c, count, 0),
               *weights = malloc(count * n * sizeof *weights);
        harmonic(&c, 24, false, points, count, weights);
        for (uint32_t k = 0; k < count * n; k++)
            assert_true(weights[k] >= 0 && weights[k] <= 1 + 1e-9);
        assert_coordinates(&c, points, count, weights, 1e-8, 1e-6);
        // The simple scheme is right to a step of the grid.
        double longest = 0;
        for (int k = 0; k < 3; k++)
            longest = fmax(longest, c.shape.box.high[k] - c.shape.box.low[k]);
        harmonic(&c, 24, true, points, count, weights);
        assert_coordinates(&c, points, count, weights, 1e-8, longest / 23 / c.shape.extent);
        free(points), free(weights), free_cage(&c);
    }
}

static void harmonic_coordinates_of_a_tetrahedron_are_barycentric(void **state)
{
    (void)state;
    cage_mesh m;
    make_tetrahedron(&m);
    cage_case c = make_cage(&m);
    double *points = random_points(&c, 200, 0), *weights = malloc(200 * 4 * sizeof *weights);
    harmonic(&c, 20, false, points, 200, weights);
    for (uint32_t p = 0; p < 200; p++) {
        // x = sum b v with v = (1,1,1), (-1,-1,1), (-1,1,-1), (1,-1,-1) and sum b = 1.
        const double *x = points + 3 * p;
        const double want[4] = { (1 + x[0] + x[1] + x[2]) / 4, (1 - x[0] - x[1] + x[2]) / 4,
                                 (1 - x[0] + x[1] - x[2]) / 4, (1 + x[0] - x[1] - x[2]) / 4 };
        for (int k = 0; k < 4; k++) assert_near(weights[4 * p + k], want[k], 1e-6);
    }
    free(points), free(weights), free_cage(&c);
}

static void harmonic_weights_stay_in_their_prong_where_mean_value_ones_do_not(void **state)
{
    (void)state;
    cage_mesh m;
    make_u(&m);
    cage_case c = make_cage(&m);
    const uint32_t n = c.shape.control_count;
    double tip[3] = { 0.5, 3.5, 0.5 }, *h = malloc(n * sizeof *h), *v = malloc(n * sizeof *v);
    harmonic(&c, 48, false, tip, 1, h);
    mean_value(&c, tip, 1, v);
    for (uint32_t k = 0; k < n; k++) {
        const double *p = c.shape.controls + 3 * k;
        if (p[0] < 1.5 || p[1] < 3) continue; // the other prong's tip
        assert_true(h[k] < 0.02);
        assert_true(fabs(v[k]) > h[k]);
    }
    free(h), free(v), free_cage(&c);
}

// Laplace's equation itself: the mean over a small sphere is the value in its middle, up to the
// grid's error, which falls with the square of its step.
static void harmonic_coordinates_solve_laplace_s_equation(void **state)
{
    (void)state;
    cage_mesh m;
    make_l(&m);
    cage_case c = make_cage(&m);
    const uint32_t n = c.shape.control_count;
    enum { AROUND = 194 };
    double points[3 * (AROUND + 1)] = { 0.7, 0.8, 0.5 }, worst[2] = { 0, 0 };
    for (int i = 0; i < AROUND; i++) { // a Fibonacci sphere of radius 0.3
        double z = 1 - (2 * i + 1.0) / AROUND, r = sqrt(1 - z * z), a = i * 2.39996322972865332;
        points[3 * (i + 1)] = 0.7 + 0.3 * r * cos(a);
        points[3 * (i + 1) + 1] = 0.8 + 0.3 * r * sin(a);
        points[3 * (i + 1) + 2] = 0.5 + 0.3 * z;
    }
    double *weights = malloc((AROUND + 1) * n * sizeof *weights);
    for (int level = 0; level < 2; level++) {
        harmonic(&c, level ? 65 : 17, false, points, AROUND + 1, weights);
        for (uint32_t k = 0; k < n; k++) {
            double mean = 0;
            for (int i = 1; i <= AROUND; i++) mean += weights[i * n + k] / AROUND;
            worst[level] = fmax(worst[level], fabs(mean - weights[k]));
        }
    }
    assert_true(worst[1] < 5e-4);
    assert_true(worst[1] < worst[0] / 3);
    free(weights), free_cage(&c);
}

// Cages that are none
// ------------------------------------------------------------------------------

static void expect_refusal(const cage_mesh *m, const char *text)
{
    cutis_context *context;
    cutis_cage *cage = NULL;
    assert_int_equal(cutis_context_create(NULL, &context), CUTIS_OK);
    cutis_model *model =
        mesh_model(context, m->vertex_count, m->positions, m->triangle_count, m->triangles);
    assert_int_equal(cutis_cage_create(model, &cage), CUTIS_INVALID_ARGUMENT);
    if (!strstr(cutis_context_error(context), text)) fail_msg("%s", cutis_context_error(context));
    assert_null(cage);
    cutis_model_destroy(model);
    assert_int_equal(cutis_context_memory(context), 0);
    cutis_context_destroy(context);
}

static void open_and_turned_cages_are_refused(void **state)
{
    (void)state;
    cage_mesh m;
    make_cube(&m);
    m.triangle_count--;
    expect_refusal(&m, "not closed: 3 edges do not have two triangles");
    make_cube(&m);
    uint32_t swap = m.triangles[0];
    m.triangles[0] = m.triangles[1], m.triangles[1] = swap;
    expect_refusal(&m, "do not all face the same way: 3 edges");
}

static void an_inside_out_cage_is_turned_and_seams_are_welded(void **state)
{
    (void)state;
    cage_mesh m, soup = { 0 };
    make_cube(&m);
    for (uint32_t t = 0; t < m.triangle_count; t++) { // every triangle has corners of its own
        uint32_t at = soup.vertex_count;
        for (int k = 0; k < 3; k++) {
            const float *p = m.positions + 3 * m.triangles[3 * t + k];
            add_vertex(&soup, p[0], p[1], p[2]);
        }
        add_triangle(&soup, at, at + 2, at + 1);
    }
    cage_case c = make_cage(&soup);
    assert_int_equal(c.cage->control_count, 8);
    assert_int_equal(c.cage->triangle_count, 12);
    double middle[3] = { 0.5, 0.5, 0.5 }, beside[3] = { 1.5, 0.5, 0.5 };
    assert_true(cutis_cage_inside(&c.shape, middle));
    assert_false(cutis_cage_inside(&c.shape, beside));
    assert_near(cutis_cage_nearest(&c.shape, beside, NULL, NULL), 0.5, 1e-12);
    free_cage(&c);
}

static void vertices_outside_are_counted_and_named(void **state)
{
    (void)state;
    cage_mesh m;
    make_cube(&m);
    cage_case c = make_cage(&m);
    double points[12] = { 0.5, 0.5, 0.5, 1.25, 0.5, 0.5, 0.5, 0.5, 1.5, 0.2, 0.2, 0.2 };
    float weights[4 * 8];
    cutis_cage_report *report = NULL;
    cutis_cage_options options = { .coordinates = CUTIS_COORDINATES_HARMONIC };
    assert_int_equal(
        cutis_cage_coordinates(c.context, c.device, c.cage, points, 4, &options, weights, &report),
        CUTIS_INVALID_ARGUMENT);
    assert_non_null(strstr(cutis_context_error(c.context),
                           "2 of 4 vertices lie outside, the worst is vertex 2, 0.5 outside"));
    assert_null(report);
    options.coordinates = CUTIS_COORDINATES_MVC;
    assert_ok(c.context, cutis_cage_coordinates(c.context, c.device, c.cage, points, 4, &options,
                                                weights, &report));
    assert_int_equal(report->outside_count, 2);
    assert_int_equal(report->outside_worst, 2);
    assert_near(report->outside_distance, 0.5, 1e-12);
    cutis_cage_report_destroy(report);
    free_cage(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mean_value_coordinates_sum_to_one_and_reproduce_points_everywhere),
        cmocka_unit_test(mean_value_coordinates_are_those_of_the_angle_form),
        cmocka_unit_test(controls_and_faces_interpolate),
        cmocka_unit_test(face_planes_and_edge_lines_outside_are_smooth),
        cmocka_unit_test(a_regular_tetrahedron_has_quarters_in_its_middle),
        cmocka_unit_test(near_a_face_plane_no_digits_are_lost),
        cmocka_unit_test(chunks_threads_and_floats_do_not_matter),
        cmocka_unit_test(harmonic_coordinates_stay_in_range_and_reproduce_points),
        cmocka_unit_test(harmonic_coordinates_of_a_tetrahedron_are_barycentric),
        cmocka_unit_test(harmonic_weights_stay_in_their_prong_where_mean_value_ones_do_not),
        cmocka_unit_test(harmonic_coordinates_solve_laplace_s_equation),
        cmocka_unit_test(open_and_turned_cages_are_refused),
        cmocka_unit_test(an_inside_out_cage_is_turned_and_seams_are_welded),
        cmocka_unit_test(vertices_outside_are_counted_and_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
