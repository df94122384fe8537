/// The measure room against bodies whose volume, normals and curvature are known from formulas.
#include "support.h"

#define PI 3.14159265358979323846

typedef struct body {
    float *positions;
    uint32_t *indices;
    uint32_t vertex_count;
    uint64_t triangle_count;
} body;

static cutis_context *context;

static int setup(void **state)
{
    (void)state;
    return cutis_context_create(NULL, &context) == CUTIS_OK ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    uint64_t left = cutis_context_memory(context);
    cutis_context_destroy(context);
    return left == 0 ? 0 : -1;
}

static body body_create(uint32_t vertices, uint64_t triangles)
{
    body b = { calloc(vertices, 12), calloc(triangles, 12), vertices, triangles };
    assert_non_null(b.positions);
    assert_non_null(b.indices);
    return b;
}

static void body_free(body *b)
{
    free(b->positions);
    free(b->indices);
}

static cutis_surface surface_of(const body *b)
{
    return (cutis_surface){ b->vertex_count, b->triangle_count, b->positions, b->indices };
}

static void corner(body *b, const double p[3])
{
    uint32_t v = b->vertex_count++;
    for (int k = 0; k < 3; k++) b->positions[3 * v + k] = (float)p[k];
    b->indices[v] = v;
}

static void midpoint(const double a[3], const double b[3], double radius, double out[3])
{
    for (int k = 0; k < 3; k++) out[k] = a[k] + b[k];
    double length = sqrt(out[0] * out[0] + out[1] * out[1] + out[2] * out[2]);
    for (int k = 0; k < 3; k++) out[k] *= radius / length;
}

// A triangle soup: every triangle has its own corners, so all connectivity comes from welding.
static void split(body *b, const double p[3][3], double radius, int levels)
{
    if (levels == 0) {
        for (int k = 0; k < 3; k++) corner(b, p[k]);
        return;
    }
    double m[3][3];
    for (int k = 0; k < 3; k++) midpoint(p[k], p[(k + 1) % 3], radius, m[k]);
    for (int k = 0; k < 3; k++) {
        double child[3][3];
        memcpy(child[0], p[k], sizeof child[0]);
        memcpy(child[1], m[k], sizeof child[1]);
        memcpy(child[2], m[(k + 2) % 3], sizeof child[2]);
        split(b, child, radius, levels - 1);
    }
    split(b, m, radius, levels - 1);
}

static body sphere_create(double radius, int levels)
{
    uint64_t triangles = 8;
    for (int i = 0; i < levels; i++) triangles *= 4;
    body b = body_create((uint32_t)(3 * triangles), triangles);
    b.vertex_count = 0;
    for (int octant = 0; octant < 8; octant++) {
        double sx = octant & 1 ? -radius : radius, sy = octant & 2 ? -radius : radius;
        double sz = octant & 4 ? -radius : radius;
        bool flip = sx * sy * sz < 0.0;
        double p[3][3] = { { sx, 0, 0 }, { 0, sy, 0 }, { 0, 0, sz } };
        double q[3][3] = { { sx, 0, 0 }, { 0, 0, sz }, { 0, sy, 0 } };
        split(&b, flip ? q : p, radius, levels);
    }
    return b;
}

// A prism of `sides` sides along z, `rings` rings of shared vertices, flat caps with a centre.
static body cylinder_create(double radius, double length, uint32_t sides, uint32_t rings)
{
    body b = body_create(sides * rings + 2, 2 * (uint64_t)sides * rings);
    uint64_t t = 0;
    for (uint32_t r = 0; r < rings; r++)
        for (uint32_t s = 0; s < sides; s++) {
            float *p = b.positions + 3 * (r * sides + s);
            p[0] = (float)(radius * cos(2.0 * PI * s / sides));
            p[1] = (float)(radius * sin(2.0 * PI * s / sides));
            p[2] = (float)(length * r / (rings - 1) - length / 2);
        }
    uint32_t low = sides * rings, high = low + 1;
    b.positions[3 * low + 2] = (float)(-length / 2);
    b.positions[3 * high + 2] = (float)(length / 2);
#define TRIANGLE(i, j, k)                                                                          \
    (b.indices[3 * t] = (i), b.indices[3 * t + 1] = (j), b.indices[3 * t + 2] = (k), t++)
    for (uint32_t s = 0; s < sides; s++) {
        uint32_t n = (s + 1) % sides, top = sides * (rings - 1);
        for (uint32_t r = 0; r + 1 < rings; r++) {
            TRIANGLE(r * sides + s, r * sides + n, (r + 1) * sides + n);
            TRIANGLE(r * sides + s, (r + 1) * sides + n, (r + 1) * sides + s);
        }
        TRIANGLE(low, n, s);
        TRIANGLE(high, top + s, top + n);
    }
#undef TRIANGLE
    assert_int_equal(t, b.triangle_count);
    return b;
}

static void volume_of_a_prism_is_its_polygon_times_its_length(void **state)
{
    (void)state;
    body b = cylinder_create(1.5, 8.0, 64, 33);
    cutis_surface s = surface_of(&b);
    double exact = 0.5 * 64 * sin(2.0 * PI / 64) * 1.5 * 1.5 * 8.0;
    assert_near(cutis_surface_volume(&s), exact, 1e-5 * exact); // floats in the rim
    for (uint64_t t = 0; t < b.triangle_count; t++) {           // turned inside out
        uint32_t swap = b.indices[3 * t];
        b.indices[3 * t] = b.indices[3 * t + 1];
        b.indices[3 * t + 1] = swap;
    }
    assert_near(cutis_surface_volume(&s), -exact, 1e-5 * exact);
    body_free(&b);
}

static void volume_of_a_sphere_converges_with_the_square_of_the_edge(void **state)
{
    (void)state;
    double last = 0.0, exact = 4.0 / 3.0 * PI * 8.0;
    for (int levels = 3; levels <= 5; levels++) {
        body b = sphere_create(2.0, levels);
        cutis_surface s = surface_of(&b);
        double error = (exact - cutis_surface_volume(&s)) / exact;
        assert_true(error > 0.0);
        if (levels > 3) assert_near(last / error, 4.0, 0.15);
        last = error;
        body_free(&b);
    }
}

static void volume_does_not_depend_on_where_a_closed_body_stands(void **state)
{
    (void)state;
    body b = sphere_create(1.0, 4);
    cutis_surface s = surface_of(&b);
    double before = cutis_surface_volume(&s);
    for (uint32_t v = 0; v < b.vertex_count; v++) b.positions[3 * v + 1] += 64.0f;
    assert_near(cutis_surface_volume(&s), before, 1e-4); // moving by 64 rounds the floats by 4e-6
    body_free(&b);
}

static void bounds_and_diagonal_of_a_cylinder_are_its_box(void **state)
{
    (void)state;
    body b = cylinder_create(1.0, 8.0, 64, 5);
    cutis_surface s = surface_of(&b);
    cutis_bounds box = cutis_surface_bounds(&s);
    assert_near(box.min.x, -1.0, 1e-6);
    assert_near(box.max.y, 1.0, 1e-6);
    assert_near(box.max.z, 4.0, 0.0);
    assert_near(cutis_surface_diagonal(&s), sqrt(4.0 + 4.0 + 64.0), 1e-6);
    body_free(&b);
}

static void welding_finds_the_lowest_vertex_and_takes_both_zeros_for_one(void **state)
{
    (void)state;
    float p[] = { 1, 2, 3, 0.0f, 5, 6, 1, 2, 3, -0.0f, 5, 6, 1, 2, 3.0000002f, 1, 2, 3 };
    uint32_t weld[6], expected[6] = { 0, 1, 0, 1, 4, 0 };
    assert_ok(context, cutis_weld_positions(context, 6, p, weld));
    assert_memory_equal(weld, expected, sizeof weld);
}

// 60,000 vertices on 1000 places, in an order that lets copies of a place meet in several tasks.
static void welding_on_threads_finds_the_lowest_vertex_too(void **state)
{
    (void)state;
    enum { COUNT = 60000, PLACES = 1000 };
    float *p = calloc(COUNT, 12);
    uint32_t *weld = calloc(COUNT, sizeof *weld), lowest[PLACES];
    cutis_device *device = NULL;
    assert_ok(context,
              cutis_device_create(context, &(cutis_device_options){ .thread_count = 4 }, &device));
    for (uint32_t i = 0; i < PLACES; i++) lowest[i] = UINT32_MAX;
    for (uint32_t v = 0; v < COUNT; v++) {
        const uint32_t place = v * 7919u % PLACES;
        p[3 * v] = (float)(place % 10), p[3 * v + 1] = (float)(place / 10);
        if (lowest[place] == UINT32_MAX) lowest[place] = v;
    }
    for (int run = 0; run < 10; run++) {
        assert_ok(context, cutis_weld_positions_on(context, device, COUNT, p, weld));
        for (uint32_t v = 0; v < COUNT; v++) assert_int_equal(weld[v], lowest[v * 7919u % PLACES]);
    }
    cutis_device_destroy(device);
    free(p), free(weld);
}

// The definition, by trying every triangle for every vertex: sum of the faces' area vectors at the
// same place.
static void area_vector_at(const body *b, const float *place, double out[3])
{
    out[0] = out[1] = out[2] = 0.0;
    for (uint64_t t = 0; t < b->triangle_count; t++) {
        const float *p[3];
        bool touches = false;
        for (int k = 0; k < 3; k++) {
            p[k] = b->positions + 3 * b->indices[3 * t + k];
            touches |= p[k][0] == place[0] && p[k][1] == place[1] && p[k][2] == place[2];
        }
        for (int k = 0; touches && k < 3; k++) {
            int i = (k + 1) % 3, j = (k + 2) % 3;
            out[k] += ((double)p[1][i] - p[0][i]) * ((double)p[2][j] - p[0][j]) -
                      ((double)p[1][j] - p[0][j]) * ((double)p[2][i] - p[0][i]);
        }
    }
}

static void welded_normals_are_the_area_weighted_mean_of_all_faces_at_a_place(void **state)
{
    (void)state;
    body b = sphere_create(3.0, 2);
    cutis_surface s = surface_of(&b);
    uint32_t *weld = calloc(b.vertex_count, sizeof *weld);
    float *normals = calloc(b.vertex_count, 12);
    assert_ok(context, cutis_weld_positions(context, b.vertex_count, b.positions, weld));
    assert_ok(context, cutis_surface_normals(context, &s, weld, normals));
    for (uint32_t v = 0; v < b.vertex_count; v++) {
        double sum[3], outward = 0.0;
        area_vector_at(&b, b.positions + 3 * v, sum);
        double length = sqrt(sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]);
        for (int k = 0; k < 3; k++) {
            assert_near(normals[3 * v + k], sum[k] / length, 1e-7);
            outward += normals[3 * v + k] * b.positions[3 * v + k] / 3.0;
        }
        assert_true(outward > 0.98);
    }
    free(weld);
    free(normals);
    body_free(&b);
}

static void unwelded_normals_of_a_soup_are_the_face_normals(void **state)
{
    (void)state;
    float p[] = { 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1 };
    uint32_t i[] = { 0, 1, 2, 3, 4, 5 };
    float n[18];
    cutis_surface s = { 6, 2, p, i };
    assert_ok(context, cutis_surface_normals(context, &s, NULL, n));
    for (int v = 0; v < 3; v++) {
        assert_near(n[3 * v + 2], 1.0, 0.0);
        assert_near(n[9 + 3 * v], 1.0, 0.0);
    }
}

static void mean_curvature_of_a_sphere_is_one_over_its_radius(void **state)
{
    (void)state;
    body b = sphere_create(2.5, 5);
    cutis_surface s = surface_of(&b);
    float *h = calloc(b.vertex_count, sizeof *h);
    cutis_curvature c;
    assert_ok(context, cutis_surface_curvature(context, &s, NULL, h, &c));
    assert_near(c.mean_rms, 0.4, 0.002);
    // 2 %: the six corners of the octahedron have four neighbours and never become round.
    for (uint32_t v = 0; v < b.vertex_count; v++) assert_near(h[v], 0.4, 0.008);
    for (uint64_t t = 0; t < b.triangle_count; t++) { // seen from inside it is concave
        uint32_t swap = b.indices[3 * t];
        b.indices[3 * t] = b.indices[3 * t + 1];
        b.indices[3 * t + 1] = swap;
    }
    assert_ok(context, cutis_surface_curvature(context, &s, NULL, h, &c));
    assert_near(h[0], -0.4, 0.008);
    free(h);
    body_free(&b);
}

static void mean_curvature_of_a_cylinder_side_is_half_of_one_over_its_radius(void **state)
{
    (void)state;
    body b = cylinder_create(2.0, 8.0, 128, 65);
    cutis_surface s = surface_of(&b);
    float *h = calloc(b.vertex_count, sizeof *h);
    cutis_curvature c;
    assert_ok(context, cutis_surface_curvature(context, &s, NULL, h, &c));
    for (uint32_t r = 2; r < 63; r++)
        for (uint32_t side = 0; side < 128; side++) assert_near(h[128 * r + side], 0.25, 1e-3);
    assert_near(h[128 * 65], 0.0,
                1e-4); // the middle of a flat cap; rounding of the rim over tiny areas
    free(h);
    body_free(&b);
}

static void open_edges_count_the_border_and_not_the_seams(void **state)
{
    (void)state;
    body b = sphere_create(1.0, 2);
    cutis_surface s = surface_of(&b);
    uint64_t open = 99;
    assert_ok(context, cutis_surface_open_edges(context, &s, &open));
    assert_int_equal(open, 0);
    s.triangle_count--;
    assert_ok(context, cutis_surface_open_edges(context, &s, &open));
    assert_int_equal(open, 3);
    body_free(&b);
}

static void edge_stretch_of_a_scaled_body_is_the_logarithm_of_the_scale(void **state)
{
    (void)state;
    body rest = sphere_create(1.0, 3), big = sphere_create(1.25, 3);
    cutis_surface s = surface_of(&big);
    cutis_curvature c;
    assert_ok(context, cutis_surface_curvature(context, &s, rest.positions, NULL, &c));
    assert_near(c.edge_stretch_rms, log(1.25), 1e-6);
    body_free(&rest);
    body_free(&big);
}

static void moving_a_body_differs_by_the_distance_in_percent_of_the_diagonal(void **state)
{
    (void)state;
    body rest = cylinder_create(1.0, 8.0, 32, 9);
    cutis_surface s = surface_of(&rest);
    float *moved = malloc(12 * (size_t)rest.vertex_count);
    for (uint32_t v = 0; v < rest.vertex_count; v++)
        for (int k = 0; k < 3; k++)
            moved[3 * v + k] = rest.positions[3 * v + k] + (k == 0 ? 0.75f : k == 2 ? 1.0f : 0.0f);
    cutis_difference d;
    assert_ok(context, cutis_surface_compare(context, &s, moved, rest.positions, &d));
    double percent = 100.0 * 1.25 / sqrt(72.0);
    assert_near(d.position_rms, percent, 1e-5 * percent);
    assert_near(d.position_max, percent, 1e-5 * percent);
    assert_near(d.normal_max, 0.0, 1e-5);
    moved[3 * 17] += 4.0f;
    assert_ok(context, cutis_surface_compare(context, &s, moved, rest.positions, &d));
    assert_int_equal(d.worst_vertex, 17);
    assert_near(d.position_max, 100.0 * sqrt(4.75 * 4.75 + 1.0) / sqrt(72.0), 1e-3);
    free(moved);
    body_free(&rest);
}

static void turning_a_plane_turns_its_normals_by_the_angle(void **state)
{
    (void)state;
    float rest[] = { 0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0 }, turned[12];
    uint32_t indices[] = { 0, 1, 2, 1, 3, 2 };
    cutis_surface s = { 4, 2, rest, indices };
    cutis_difference d;
    const double angle = 1e-4; // small, where an arc cosine of floats would see nothing
    for (int v = 0; v < 4; v++) {
        turned[3 * v] = rest[3 * v];
        turned[3 * v + 1] = (float)(rest[3 * v + 1] * cos(angle));
        turned[3 * v + 2] = (float)(rest[3 * v + 1] * sin(angle));
    }
    assert_ok(context, cutis_surface_compare(context, &s, turned, rest, &d));
    assert_near(d.normal_rms, angle, 1e-9);
    assert_near(d.normal_max, angle, 1e-9);
}

static void a_body_without_extent_is_refused(void **state)
{
    (void)state;
    float p[] = { 1, 1, 1, 1, 1, 1 };
    cutis_surface s = { 2, 0, p, NULL };
    cutis_difference d;
    assert_int_equal(cutis_surface_compare(context, &s, p, p, &d), CUTIS_INVALID_ARGUMENT);
    assert_true(strlen(cutis_context_error(context)) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(volume_of_a_prism_is_its_polygon_times_its_length),
        cmocka_unit_test(volume_of_a_sphere_converges_with_the_square_of_the_edge),
        cmocka_unit_test(volume_does_not_depend_on_where_a_closed_body_stands),
        cmocka_unit_test(bounds_and_diagonal_of_a_cylinder_are_its_box),
        cmocka_unit_test(welding_finds_the_lowest_vertex_and_takes_both_zeros_for_one),
        cmocka_unit_test(welding_on_threads_finds_the_lowest_vertex_too),
        cmocka_unit_test(welded_normals_are_the_area_weighted_mean_of_all_faces_at_a_place),
        cmocka_unit_test(unwelded_normals_of_a_soup_are_the_face_normals),
        cmocka_unit_test(mean_curvature_of_a_sphere_is_one_over_its_radius),
        cmocka_unit_test(mean_curvature_of_a_cylinder_side_is_half_of_one_over_its_radius),
        cmocka_unit_test(open_edges_count_the_border_and_not_the_seams),
        cmocka_unit_test(edge_stretch_of_a_scaled_body_is_the_logarithm_of_the_scale),
        cmocka_unit_test(moving_a_body_differs_by_the_distance_in_percent_of_the_diagonal),
        cmocka_unit_test(turning_a_plane_turns_its_normals_by_the_angle),
        cmocka_unit_test(a_body_without_extent_is_refused),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
