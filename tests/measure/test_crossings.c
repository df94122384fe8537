/// Closedness, self-intersections and the paper's curvature: against solids whose figures are
/// known, 128-bit integers, and separating axes in exact integers over all pairs of triangles.
#include "support.h"

#include "measure/predicates.h"

__extension__ typedef __int128 wide;

typedef struct body {
    float positions[3 * 8192];
    uint32_t indices[3 * 8192];
    uint32_t parts[8192];
    uint32_t vertex_count, triangle_count;
} body;

static cutis_context *context;
static body b; // one at a time

static int setup(void **state)
{
    (void)state;
    memset(&b, 0, sizeof b);
    return cutis_context_create(NULL, &context) == CUTIS_OK ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    uint64_t left = cutis_context_memory(context);
    cutis_context_destroy(context);
    return left == 0 ? 0 : -1;
}

static cutis_surface surface(void)
{
    return (cutis_surface){ b.vertex_count, b.triangle_count, b.positions, b.indices };
}

static uint32_t point(double x, double y, double z)
{
    float *p = b.positions + 3 * b.vertex_count;
    p[0] = (float)x, p[1] = (float)y, p[2] = (float)z;
    return b.vertex_count++;
}

static void face(uint32_t x, uint32_t y, uint32_t z)
{
    uint32_t *i = b.indices + 3 * b.triangle_count++;
    i[0] = x, i[1] = y, i[2] = z;
}

static void add_cube(double x, double y, double z, double size)
{
    static const int SIDES[6][4] = { { 0, 2, 3, 1 }, { 4, 5, 7, 6 }, { 0, 1, 5, 4 },
                                     { 2, 6, 7, 3 }, { 0, 4, 6, 2 }, { 1, 3, 7, 5 } };
    uint32_t first = b.vertex_count;
    for (int i = 0; i < 8; i++)
        point(x + size * (i & 1), y + size * (i >> 1 & 1), z + size * (i >> 2 & 1));
    for (int s = 0; s < 6; s++) {
        const int *q = SIDES[s];
        face(first + q[0], first + q[1], first + q[2]);
        face(first + q[0], first + q[2], first + q[3]);
    }
}

static cutis_manifold manifold(void)
{
    cutis_manifold m;
    cutis_surface s = surface();
    assert_ok(context, cutis_surface_manifold(context, &s, NULL, &m));
    return m;
}

static void cubes_are_closed_with_euler_characteristic_two_each(void **state)
{
    (void)state;
    add_cube(0, 0, 0, 1);
    cutis_surface s = surface();
    assert_near(cutis_surface_volume(&s), 1, 1e-12);
    add_cube(3, 0, 0, 2);
    cutis_manifold m = manifold();
    assert_true(m.watertight);
    assert_int_equal(m.euler, 4);
    assert_int_equal(m.piece_count, 2);
    assert_int_equal(m.boundary_edges + m.crowded_edges + m.turned_edges + m.collapsed_faces, 0);
}

static void a_torus_has_euler_characteristic_zero_and_seams_are_no_border(void **state)
{
    (void)state;
    enum { N = 24, M = 16 };
    for (int i = 0; i <= N; i++) // the last row and column repeat the first: a texture seam
        for (int k = 0; k <= M; k++) {
            double u = 2 * M_PI * (i % N) / N, v = 2 * M_PI * (k % M) / M;
            point((2 + 0.7 * cos(v)) * cos(u), (2 + 0.7 * cos(v)) * sin(u), 0.7 * sin(v));
        }
    for (uint32_t i = 0; i < N; i++)
        for (uint32_t k = 0; k < M; k++) {
            uint32_t a = i * (M + 1) + k, c = a + M + 1;
            face(a, c, c + 1);
            face(a, c + 1, a + 1);
        }
    cutis_manifold m = manifold();
    assert_true(m.watertight);
    assert_int_equal(m.euler, 0);
    cutis_surface s = surface();
    cutis_crossings x;
    assert_ok(context, cutis_surface_crossings(context, &s, NULL, NULL, &x));
    assert_int_equal(x.triangle_count, 0);
}

static void holes_turned_faces_fins_and_collapsed_faces_are_counted(void **state)
{
    (void)state;
    add_cube(0, 0, 0, 1);
    b.triangle_count -= 2; // one side open
    cutis_manifold m = manifold();
    assert_false(m.watertight);
    assert_int_equal(m.boundary_edges, 4);
    assert_int_equal(m.euler, 1); // a disc
    b.triangle_count += 2;
    uint32_t swap = b.indices[0];
    b.indices[0] = b.indices[1], b.indices[1] = swap;
    m = manifold();
    assert_false(m.watertight);
    assert_int_equal(m.turned_edges, 3);
    b.indices[1] = b.indices[0], b.indices[0] = swap;
    face(0, 1, point(0, -1, -1)); // a third face on the edge 0 1
    m = manifold();
    assert_int_equal(m.crowded_edges, 1);
    assert_int_equal(m.boundary_edges, 2);
    b.triangle_count--;
    face(0, 1, point(0, 0, 0)); // two corners in one place
    m = manifold();
    assert_true(m.watertight);
    assert_int_equal(m.collapsed_faces, 1);
}

// 128-bit determinant of integer points, for the predicates.
static int exact_side(const long long p[4][3])
{
    wide r[3][3];
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) r[i][k] = p[i][k] - p[3][k];
    wide d = r[0][0] * (r[1][1] * r[2][2] - r[1][2] * r[2][1]) -
             r[0][1] * (r[1][0] * r[2][2] - r[1][2] * r[2][0]) +
             r[0][2] * (r[1][0] * r[2][1] - r[1][1] * r[2][0]);
    return (d > 0) - (d < 0);
}

static void sides_of_nearly_flat_tetrahedra_are_those_of_128_bit_integers(void **state)
{
    (void)state;
    uint32_t flat = 0, zero = 0;
    for (uint64_t n = 0; n < 20000; n++) {
        long long p[4][3];
        float f[4][3];
        // A point of the plane abc, moved by 0 or 1: determinants far below double's rounding.
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++)
                p[i][k] = (long long)random_in(3, 64 * n + 3u * i + k, -4000000, 4000000);
        long long u = (long long)random_in(3, 64 * n + 20, -2, 3),
                  v = (long long)random_in(3, 64 * n + 21, -2, 3);
        for (int k = 0; k < 3; k++) {
            p[3][k] = p[0][k] + u * (p[1][k] - p[0][k]) / 2 + v * (p[2][k] - p[0][k]) / 2;
            if (n % 3 == 0) p[3][k] += (long long)random_in(3, 64 * n + 22 + k, 0, 2);
        }
        for (int i = 0; i < 4; i++)
            for (int k = 0; k < 3; k++) {
                f[i][k] = (float)p[i][k];
                p[i][k] = (long long)f[i][k]; // what a float holds of it
            }
        int wanted = exact_side(p);
        assert_int_equal(cutis_side_of_plane(f[0], f[1], f[2], f[3]), wanted);
        flat += n % 3 != 0;
        zero += wanted == 0;
        for (int axis = 0; axis < 3; axis++) {
            int x = (axis + 1) % 3, y = (axis + 2) % 3;
            wide area = (wide)(p[0][x] - p[2][x]) * (p[1][y] - p[2][y]) -
                        (wide)(p[0][y] - p[2][y]) * (p[1][x] - p[2][x]);
            assert_int_equal(cutis_side_of_line(f[0], f[1], f[2], axis), (area > 0) - (area < 0));
        }
    }
    assert_true(zero > flat / 4); // the hard cases were there
}

// Separating axes, in integers
// ---------------------------------------------------------------------

static void cross(const int *x, const int *y, int *out)
{
    for (int k = 0; k < 3; k++)
        out[k] = x[(k + 1) % 3] * y[(k + 2) % 3] - x[(k + 2) % 3] * y[(k + 1) % 3];
}

static bool separates(const int *axis, int t[2][3][3])
{
    long long low[2], high[2];
    for (int i = 0; i < 2; i++) {
        low[i] = INT64_MAX, high[i] = INT64_MIN;
        for (int c = 0; c < 3; c++) {
            long long d = 0;
            for (int k = 0; k < 3; k++) d += (long long)axis[k] * t[i][c][k];
            if (d < low[i]) low[i] = d;
            if (d > high[i]) high[i] = d;
        }
    }
    return high[0] < low[1] || high[1] < low[0];
}

// Two triangles with area are apart exactly if one of these axes separates them: both normals, the
// products of their edges, and (in one plane) normals times edges.
static bool meet_by_axes(int t[2][3][3])
{
    int edge[2][3][3], normal[2][3], axis[3];
    for (int i = 0; i < 2; i++) {
        for (int c = 0; c < 3; c++)
            for (int k = 0; k < 3; k++) edge[i][c][k] = t[i][(c + 1) % 3][k] - t[i][c][k];
        cross(edge[i][0], edge[i][1], normal[i]);
    }
    for (int i = 0; i < 2; i++) {
        if (separates(normal[i], t)) return false;
        for (int c = 0; c < 3; c++) {
            cross(normal[i], edge[i][c], axis);
            if (separates(axis, t)) return false;
        }
    }
    for (int c = 0; c < 3; c++)
        for (int d = 0; d < 3; d++) {
            cross(edge[0][c], edge[1][d], axis);
            if (separates(axis, t)) return false;
        }
    return true;
}

static bool has_area(int t[3][3])
{
    int x[3], y[3], n[3];
    for (int k = 0; k < 3; k++) x[k] = t[1][k] - t[0][k], y[k] = t[2][k] - t[0][k];
    cross(x, y, n);
    return n[0] || n[1] || n[2];
}

static void corners(uint32_t triangle, int out[3][3])
{
    for (int c = 0; c < 3; c++)
        for (int k = 0; k < 3; k++)
            out[c][k] = (int)b.positions[3 * b.indices[3 * triangle + (uint32_t)c] + (uint32_t)k];
}

static void count_by_axes(const uint32_t *weld, bool *crossing, cutis_crossings *out)
{
    *out = (cutis_crossings){ 0 };
    for (uint32_t i = 0; i < b.triangle_count; i++) {
        int t[2][3][3];
        corners(i, t[0]);
        if (!has_area(t[0])) {
            out->flat_count++;
            continue;
        }
        for (uint32_t k = i + 1; k < b.triangle_count; k++) {
            bool shared = false;
            for (int x = 0; x < 9; x++)
                shared = shared || weld[b.indices[3 * i + (uint32_t)x % 3]] ==
                                       weld[b.indices[3 * k + (uint32_t)x / 3]];
            corners(k, t[1]);
            if (shared || !has_area(t[1]) || !meet_by_axes(t)) continue;
            out->pair_count++;
            crossing[i] = crossing[k] = true;
        }
    }
    for (uint32_t i = 0; i < b.triangle_count; i++) out->triangle_count += crossing[i];
}

static void crossings_of_soups_are_those_that_separating_axes_find_pair_by_pair(void **state)
{
    (void)state;
    static uint32_t weld[8192];
    static bool wanted_flags[8192], flags[8192];
    uint64_t all = 0;
    for (uint64_t soup = 0; soup < 60; soup++) {
        // A coarse grid: touching points, edges in faces, faces in one plane, triangles without
        // area.
        const double size = soup % 3 == 0 ? 4 : soup % 3 == 1 ? 9 : 60;
        memset(&b, 0, sizeof b);
        memset(wanted_flags, 0, sizeof wanted_flags);
        for (uint32_t v = 0; v < 120; v++)
            point(floor(random_in(soup, 3 * v, 0, size)),
                  floor(random_in(soup, 3 * v + 1, 0, size)),
                  soup % 4 == 3 ? 0 : floor(random_in(soup, 3 * v + 2, 0, size)));
        for (uint32_t t = 0; t < 40; t++) face(3 * t, 3 * t + 1, 3 * t + 2);
        cutis_crossings wanted, got;
        cutis_surface s = surface();
        assert_ok(context, cutis_weld_positions(context, b.vertex_count, b.positions, weld));
        count_by_axes(weld, wanted_flags, &wanted);
        assert_ok(context, cutis_surface_crossings(context, &s, NULL, flags, &got));
        assert_int_equal(got.pair_count, wanted.pair_count);
        assert_int_equal(got.triangle_count, wanted.triangle_count);
        assert_int_equal(got.flat_count, wanted.flat_count);
        assert_memory_equal(flags, wanted_flags, b.triangle_count * sizeof *flags);
        all += wanted.pair_count;
    }
    assert_true(all > 3000);
}

static void cubes_that_cut_each_other_cross_and_nested_or_near_ones_do_not(void **state)
{
    (void)state;
    static uint32_t weld[8192];
    static bool flags[8192];
    cutis_crossings wanted, got;
    add_cube(0, 0, 0, 10);
    add_cube(2, 3, 4, 5); // inside
    cutis_surface s = surface();
    assert_ok(context, cutis_surface_crossings(context, &s, NULL, NULL, &got));
    assert_int_equal(got.pair_count, 0);
    add_cube(9, 8, 7, 6); // through a corner
    s = surface();
    assert_ok(context, cutis_weld_positions(context, b.vertex_count, b.positions, weld));
    count_by_axes(weld, flags, &wanted);
    assert_ok(context, cutis_surface_crossings(context, &s, NULL, NULL, &got));
    assert_true(got.pair_count > 0);
    assert_int_equal(got.pair_count, wanted.pair_count);
    assert_int_equal(got.triangle_count, wanted.triangle_count);

    memset(&b, 0, sizeof b);
    add_cube(0, 0, 0, 1);
    add_cube(nextafterf(1, 2), 0.25, 0.25, 0.5); // one ULP away
    s = surface();
    assert_ok(context, cutis_surface_crossings(context, &s, NULL, NULL, &got));
    assert_int_equal(got.pair_count, 0);
    for (uint32_t v = 8; v < 16; v++) // and now touching, in the plane x = 1
        if (b.positions[3 * v] < 1.2f) b.positions[3 * v] = 1;
    assert_ok(context, cutis_surface_crossings(context, &s, NULL, NULL, &got));
    assert_true(got.pair_count > 0);
}

static void add_tube(uint32_t sides, double x, uint32_t part)
{
    const uint32_t first = b.vertex_count, rings = 7;
    for (uint32_t r = 0; r < rings; r++)
        for (uint32_t i = 0; i < sides; i++)
            point(x + cos(2 * M_PI * i / sides), r, sin(2 * M_PI * i / sides));
    for (uint32_t r = 0; r + 1 < rings; r++)
        for (uint32_t i = 0; i < sides; i++) {
            uint32_t a = first + r * sides + i, c = first + r * sides + (i + 1) % sides;
            b.parts[b.triangle_count] = b.parts[b.triangle_count + 1] = part;
            face(a, a + sides, c + sides);
            face(a, c + sides, c);
        }
}

static void tubes_bend_by_a_full_turn_over_their_sides(void **state)
{
    (void)state;
    double medians[3];
    float bend[8192];
    add_tube(40, 0, 2);
    uint32_t second = b.vertex_count;
    add_tube(64, 5, 0);
    cutis_surface s = surface();
    assert_ok(context, cutis_surface_bend(context, &s, NULL, b.parts, 3, medians, bend));
    assert_near(medians[2], 360.0 / 40, 1e-4);
    assert_near(medians[0], 360.0 / 64, 1e-4);
    assert_true(isnan(medians[1]));
    assert_near(bend[3 * 40 + 5], 360.0 / 40, 1e-4);
    assert_near(bend[second + 3 * 64], 360.0 / 64, 1e-4);
}

static void a_cube_bends_by_the_angle_between_its_corners(void **state)
{
    (void)state;
    double median;
    // Sides as eight triangles about their middles: corner normals are the space diagonals. The
    // largest angle at a corner is that to a side's middle or to the next corner, arccos 1/3.
    add_cube(0, 0, 0, 1);
    b.triangle_count = 0;
    static const int SIDES[6][4] = { { 0, 2, 3, 1 }, { 4, 5, 7, 6 }, { 0, 1, 5, 4 },
                                     { 2, 6, 7, 3 }, { 0, 4, 6, 2 }, { 1, 3, 7, 5 } };
    for (int side = 0; side < 6; side++) {
        const int *q = SIDES[side];
        double m[3] = { 0 };
        for (int i = 0; i < 4; i++)
            for (int k = 0; k < 3; k++) m[k] += (double)b.positions[3 * q[i] + k] / 4;
        uint32_t centre = point(m[0], m[1], m[2]);
        for (int i = 0; i < 4; i++) face((uint32_t)q[i], (uint32_t)q[(i + 1) % 4], centre);
    }
    float bend[16];
    cutis_surface s = surface();
    assert_ok(context, cutis_surface_bend(context, &s, NULL, NULL, 1, &median, bend));
    assert_near(bend[0], acos(1.0 / 3) * 180 / M_PI, 1e-4);
    assert_near(bend[8], acos(1 / sqrt(3)) * 180 / M_PI, 1e-4);
    assert_near(median, acos(1.0 / 3) * 180 / M_PI, 1e-4); // 8 corners against 6 middles
}

static void nothing_at_all_and_points_that_are_not_finite_are_measured_without_harm(void **state)
{
    (void)state;
    cutis_crossings x;
    double median;
    cutis_surface s = surface();
    cutis_manifold m = manifold();
    assert_false(m.watertight);
    assert_ok(context, cutis_surface_crossings(context, &s, NULL, NULL, &x));
    assert_ok(context, cutis_surface_bend(context, &s, NULL, NULL, 1, &median, NULL));
    assert_true(isnan(median));
    add_cube(0, 0, 0, 1);
    add_cube(0.5, 0.5, 0.5, 1);
    b.positions[0] = NAN;
    b.positions[30] = INFINITY;
    s = surface();
    assert_ok(context, cutis_surface_crossings(context, &s, NULL, NULL, &x));
    assert_true(x.flat_count > 0);
}

static long allocations, allocations_max = -1;

static void *counted_allocate(void *user, size_t size, size_t alignment)
{
    (void)user;
    if (allocations_max >= 0 && allocations++ >= allocations_max) return NULL;
    return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

static void counted_release(void *user, void *memory, size_t size)
{
    (void)user, (void)size;
    free(memory);
}

static void every_allocation_may_fail_and_nothing_leaks(void **state)
{
    (void)state;
    cutis_context *own;
    cutis_context_options options = { .allocator = { .allocate = counted_allocate,
                                                     .release = counted_release } };
    assert_int_equal(cutis_context_create(&options, &own), CUTIS_OK);
    for (int i = 0; i < 20; i++) add_cube(0.9 * i, 0.3 * (i % 3), 0, 1);
    cutis_surface s = surface();
    uint64_t before = cutis_context_memory(own);
    for (int run = 0; run < 3; run++) {
        cutis_result result = CUTIS_OUT_OF_MEMORY;
        for (long most = 0; result != CUTIS_OK; most++) {
            cutis_manifold m;
            cutis_crossings x;
            double median;
            allocations = 0, allocations_max = most;
            result = run == 0   ? cutis_surface_manifold(own, &s, NULL, &m)
                     : run == 1 ? cutis_surface_crossings(own, &s, NULL, NULL, &x)
                                : cutis_surface_bend(own, &s, NULL, NULL, 1, &median, NULL);
            allocations_max = -1;
            if (result != CUTIS_OK) assert_int_equal(result, CUTIS_OUT_OF_MEMORY);
            assert_true(cutis_context_memory(own) == before);
        }
    }
    cutis_context_destroy(own);
}

int main(void)
{
#define claim(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        claim(cubes_are_closed_with_euler_characteristic_two_each),
        claim(a_torus_has_euler_characteristic_zero_and_seams_are_no_border),
        claim(holes_turned_faces_fins_and_collapsed_faces_are_counted),
        claim(sides_of_nearly_flat_tetrahedra_are_those_of_128_bit_integers),
        claim(crossings_of_soups_are_those_that_separating_axes_find_pair_by_pair),
        claim(cubes_that_cut_each_other_cross_and_nested_or_near_ones_do_not),
        claim(tubes_bend_by_a_full_turn_over_their_sides),
        claim(a_cube_bends_by_the_angle_between_its_corners),
        claim(nothing_at_all_and_points_that_are_not_finite_are_measured_without_harm),
        claim(every_allocation_may_fail_and_nothing_leaks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
