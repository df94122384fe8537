// The voxel domain and distances in it, against spheres, boxes, corridors, and Dijkstra written
// here.
#include "handles_case.h"

static const double PI = 3.14159265358979323846;

static void add_sphere(shape_case *s, int rows, int skip)
{
    uint32_t first = s->shape.vertex_count;
    for (int i = 0; i <= rows; i++)
        for (int j = 0; j < 2 * rows; j++)
            add_vertex(s, sin(PI * i / rows) * cos(PI * j / rows),
                       sin(PI * i / rows) * sin(PI * j / rows), cos(PI * i / rows));
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < 2 * rows; j++) {
            uint32_t a = first + (uint32_t)(i * 2 * rows + j);
            uint32_t b = first + (uint32_t)(i * 2 * rows + (j + 1) % (2 * rows));
            if (skip && (i * 2 * rows + j) % skip == 0) continue;
            add_triangle(s, a, a + (uint32_t)(2 * rows), b + (uint32_t)(2 * rows));
            add_triangle(s, a, b + (uint32_t)(2 * rows), b);
        }
}

static void a_sphere_has_the_volume_of_a_sphere(void **state)
{
    fixture *f = *state;
    shape_case *s = new_shape();
    cutis_handles_grid grid;
    add_sphere(s, 64, 0);
    assert_ok(f->context, cutis_handles_grid_create(&f->arena, &f->work, &s->shape, 128, &grid));
    double volume = grid.voxel_count * pow(grid.step, 3), inside = 0;
    for (uint32_t v = 0; v < grid.voxel_count; v++) {
        double c[3];
        cutis_handles_voxel_centre(&grid, v, c);
        inside += c[0] * c[0] + c[1] * c[1] + c[2] * c[2] < 1;
    }
    // Conservative: all centres inside are there, the shell adds some.
    assert_near(inside * pow(grid.step, 3), 4 * PI / 3, 0.005 * 4 * PI / 3);
    assert_true(volume > 4 * PI / 3 * 0.995 && volume < 4 * PI / 3 * 1.05);
    assert_int_equal(grid.component_count, 1);
    for (uint32_t v = 0; v < s->shape.vertex_count; v++) {
        double p[3];
        for (int c = 0; c < 3; c++) p[c] = s->positions[3 * v + c];
        assert_int_not_equal(cutis_handles_voxel_of(&grid, p), CUTIS_HANDLES_NONE);
    }
    free(s);
}

static void a_soup_with_holes_smaller_than_a_voxel_is_solid(void **state)
{
    fixture *f = *state;
    shape_case *s = new_shape();
    cutis_handles_grid grid;
    add_sphere(s, 64, 97); // quads of 1/20 of the radius are missing; voxels are of 1/12
    assert_ok(f->context, cutis_handles_grid_create(&f->arena, &f->work, &s->shape, 24, &grid));
    double centre[3] = { 0.01, 0.02, 0.03 };
    assert_int_not_equal(cutis_handles_voxel_of(&grid, centre), CUTIS_HANDLES_NONE);
    free(s);
}

static void two_cubes_stay_two_pieces(void **state)
{
    fixture *f = *state;
    shape_case *s = new_shape();
    cutis_handles_grid grid;
    add_box(s, (double[]){ 0, 0, 0 }, (double[]){ 1, 1, 1 });
    add_box(s, (double[]){ 1.2, 0, 0 }, (double[]){ 2.2, 1, 1 });
    assert_ok(f->context, cutis_handles_grid_create(&f->arena, &f->work, &s->shape, 64, &grid));
    assert_int_equal(grid.component_count, 2);
    free(s);
}

static void a_large_slanted_triangle_is_one_piece_and_thin(void **state)
{
    fixture *f = *state;
    shape_case *s = new_shape();
    cutis_handles_grid grid;
    add_triangle(s, add_vertex(s, 0, 0, 0), add_vertex(s, 1, 0.9, 0.1), add_vertex(s, 0.1, 1, 0.8));
    assert_ok(f->context, cutis_handles_grid_create(&f->arena, &f->work, &s->shape, 64, &grid));
    assert_int_equal(grid.component_count, 1);
    // Area in voxels, a conservative layer of one to three voxels.
    double n[3] = { 0.9 * 0.8 - 0.1 * 1, 0.1 * 0.1 - 1 * 0.8, 1 * 1 - 0.9 * 0.1 };
    double area = 0.5 * sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]) / (grid.step * grid.step);
    assert_true(grid.voxel_count > area && grid.voxel_count < 3.2 * area);
    free(s);
}

static void a_grid_beyond_the_limit_is_refused(void **state)
{
    fixture *f = *state;
    shape_case *s = new_shape();
    cutis_handles_grid grid;
    add_box(s, (double[]){ 0, 0, 0 }, (double[]){ 1, 1, 1 });
    assert_int_equal(cutis_handles_grid_create(&f->arena, &f->work, &s->shape, 1024, &grid),
                     CUTIS_LIMIT_EXCEEDED);
    assert_non_null(strstr(cutis_context_error(f->context), "fewer voxels"));
    free(s);
}

static cutis_handles_front march_from(fixture *f, const cutis_handles_grid *grid, const double *p)
{
    cutis_handles_front front;
    cutis_handles_segment point;
    memcpy(point.a, p, sizeof point.a), memcpy(point.b, p, sizeof point.b);
    const cutis_handles_site site = { .segments = &point, .segment_count = 1 };
    assert_true(cutis_handles_front_init(&f->arena, grid, &front));
    cutis_handles_front_start(&front, &site, 0);
    cutis_handles_front_finish(&front);
    return front;
}

static void distances_in_a_box_are_euclidean(void **state)
{
    fixture *f = *state;
    shape_case *s = new_shape();
    cutis_handles_grid grid;
    add_box(s, (double[]){ 0, 0, 0 }, (double[]){ 1, 0.6, 0.5 });
    assert_ok(f->context, cutis_handles_grid_create(&f->arena, &f->work, &s->shape, 128, &grid));
    const double site[3] = { 0.213, 0.307, 0.129 };
    cutis_handles_front front = march_from(f, &grid, site);
    assert_int_equal(front.touched_count, grid.voxel_count); // all of it is reached
    for (uint32_t v = 0; v < grid.voxel_count; v++) {
        double c[3];
        cutis_handles_voxel_centre(&grid, v, c);
        double exact =
            sqrt(pow(c[0] - site[0], 2) + pow(c[1] - site[1], 2) + pow(c[2] - site[2], 2));
        double error = fabs(front.distance[v] - exact);
        if (error > 2 * grid.step || (exact > 20 * grid.step && error > 0.045 * exact))
            fail_msg("distance %g, exact %g, voxel %g", front.distance[v], exact, grid.step);
    }
    free(s);
}

// Dijkstra over 26 neighbours, simple and slow: the lower bound 1 and the upper bound 1.1281 of its
// metric.
static void dijkstra(const cutis_handles_grid *grid, uint32_t start, double *distance)
{
    uint8_t *done = calloc(grid->voxel_count, 1);
    for (uint32_t v = 0; v < grid->voxel_count; v++) distance[v] = INFINITY;
    distance[start] = 0;
    for (;;) {
        uint32_t best = UINT32_MAX;
        for (uint32_t v = 0; v < grid->voxel_count; v++)
            if (!done[v] && distance[v] < INFINITY &&
                (best == UINT32_MAX || distance[v] < distance[best]))
                best = v;
        if (best == UINT32_MAX) break;
        done[best] = 1;
        uint32_t cell[3];
        voxel_cell(grid, best, cell);
        for (int i = 0; i < 27; i++) {
            int64_t d[3] = { i % 3 - 1, i / 3 % 3 - 1, i / 9 - 1 };
            int64_t to[3] = { cell[0] + d[0], cell[1] + d[1], cell[2] + d[2] };
            uint32_t m = cutis_handles_voxel_at(grid, to);
            double length = grid->step * sqrt((double)(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]));
            if (m != CUTIS_HANDLES_NONE) distance[m] = fmin(distance[m], distance[best] + length);
        }
    }
    free(done);
}

static void marching_lies_within_the_metric_of_dijkstra(void **state)
{
    fixture *f = *state;
    shape_case *s = new_shape();
    cutis_handles_grid grid;
    add_box(s, (double[]){ 0, 0, 0 }, (double[]){ 1, 0.3, 0.3 });
    add_box(s, (double[]){ 0.7, 0, 0 }, (double[]){ 1, 1, 0.3 });
    assert_ok(f->context, cutis_handles_grid_create(&f->arena, &f->work, &s->shape, 24, &grid));
    uint32_t start = grid.voxel_count / 3;
    double centre[3], *reference = malloc(grid.voxel_count * sizeof *reference);
    cutis_handles_voxel_centre(&grid, start, centre);
    cutis_handles_front front = march_from(f, &grid, centre);
    dijkstra(&grid, start, reference);
    // True length L: Dijkstra is in [L, 1.1281 L], marching at most two voxels above L and never
    // far below.
    for (uint32_t v = 0; v < grid.voxel_count; v++)
        if (front.distance[v] > reference[v] + 2 * grid.step ||
            front.distance[v] < reference[v] / 1.1281 - grid.step)
            fail_msg("marching %g, Dijkstra %g, voxel %g", front.distance[v], reference[v],
                     grid.step);
    free(reference);
    free(s);
}

static void the_way_around_a_corner_is_two_segments_long(void **state)
{
    fixture *f = *state;
    shape_case *s = new_shape();
    cutis_handles_grid grid;
    add_box(s, (double[]){ 0, 0, 0 }, (double[]){ 1, 0.15, 0.15 });
    add_box(s, (double[]){ 0.85, 0, 0 }, (double[]){ 1, 1, 0.15 });
    assert_ok(f->context, cutis_handles_grid_create(&f->arena, &f->work, &s->shape, 128, &grid));
    const double a[3] = { 0.1, 0.075, 0.075 }, b[3] = { 0.925, 0.9, 0.075 };
    cutis_handles_front front = march_from(f, &grid, a);
    // The inner corner, less the conservative layer that widens the corridors on its inside.
    double corner[2] = { 0.85 - grid.step / 2, 0.15 + grid.step / 2 }, centre[3];
    uint32_t v = cutis_handles_voxel_of(&grid, b);
    cutis_handles_voxel_centre(&grid, v, centre);
    double exact = hypot(corner[0] - a[0], corner[1] - a[1]) +
                   hypot(centre[0] - corner[0], centre[1] - corner[1]);
    assert_near(front.distance[v], exact, 0.02 * exact);
    free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        claim(a_sphere_has_the_volume_of_a_sphere),
        claim(a_soup_with_holes_smaller_than_a_voxel_is_solid),
        claim(two_cubes_stay_two_pieces),
        claim(a_large_slanted_triangle_is_one_piece_and_thin),
        claim(a_grid_beyond_the_limit_is_refused),
        claim(distances_in_a_box_are_euclidean),
        claim(marching_lies_within_the_metric_of_dijkstra),
        claim(the_way_around_a_corner_is_two_segments_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
