/// The outside of surfaces that cross themselves, against what rays say: along a ray the space that
/// the given surface goes round once or more is what the outside encloses. Rays cross triangles by
/// Moeller and Trumbore in double, over all triangles; nothing is shared with the library.
#include "support.h"

enum { MOST = 40000, HITS = 512 };

static cutis_context *context;
static float positions[3 * MOST];
static uint32_t indices[3 * MOST];
static uint32_t vertex_count, triangle_count;

static int setup(void **state)
{
    (void)state;
    vertex_count = triangle_count = 0;
    return cutis_context_create(NULL, &context) == CUTIS_OK ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    const uint64_t left = cutis_context_memory(context);
    cutis_context_destroy(context);
    return left == 0 ? 0 : -1;
}

static cutis_surface surface(void)
{
    return (cutis_surface){ vertex_count, triangle_count, positions, indices };
}

static uint32_t point(double x, double y, double z)
{
    float *p = positions + 3 * vertex_count;
    p[0] = (float)x, p[1] = (float)y, p[2] = (float)z;
    return vertex_count++;
}

static void face(uint32_t x, uint32_t y, uint32_t z)
{
    uint32_t *i = indices + 3 * triangle_count++;
    i[0] = x, i[1] = y, i[2] = z;
}

/// Turned by no special angles.
static void add_cube(double x, double y, double z, double size, double turn)
{
    static const int SIDES[6][4] = { { 0, 2, 3, 1 }, { 4, 5, 7, 6 }, { 0, 1, 5, 4 },
                                     { 2, 6, 7, 3 }, { 0, 4, 6, 2 }, { 1, 3, 7, 5 } };
    const uint32_t first = vertex_count;
    for (int i = 0; i < 8; i++) {
        const double a = size * (i & 1), b = size * (i >> 1 & 1), c = size * (i >> 2 & 1);
        const double d = a * cos(turn) - b * sin(turn), e = a * sin(turn) + b * cos(turn);
        point(x + d * cos(turn) + c * sin(turn), y + e, z - d * sin(turn) + c * cos(turn));
    }
    for (int s = 0; s < 6; s++) {
        const int *q = SIDES[s];
        face(first + q[0], first + q[1], first + q[2]);
        face(first + q[0], first + q[2], first + q[3]);
    }
}

/// A closed tube of radius r about a curve, a torus in itself.
static void add_tube(void (*curve)(double t, double *out), double r, uint32_t rounds,
                     uint32_t sides)
{
    const uint32_t first = vertex_count;
    for (uint32_t i = 0; i < rounds; i++) {
        const double t = 2 * M_PI * i / rounds;
        double a[3], b[3], way[3], side[3], up[3] = { 0, 0, 1 };
        curve(t - 1e-4, a), curve(t + 1e-4, b);
        for (int k = 0; k < 3; k++) way[k] = (b[k] - a[k]) / 2e-4;
        for (int k = 0; k < 3; k++)
            side[k] = way[(k + 1) % 3] * up[(k + 2) % 3] - way[(k + 2) % 3] * up[(k + 1) % 3];
        const double length = sqrt(side[0] * side[0] + side[1] * side[1] + side[2] * side[2]);
        curve(t, a);
        for (uint32_t s = 0; s < sides; s++) {
            const double u = r * cos(2 * M_PI * s / sides) / length,
                         v = r * sin(2 * M_PI * s / sides);
            point(a[0] + u * side[0], a[1] + u * side[1], a[2] + u * side[2] + v);
        }
    }
    for (uint32_t i = 0; i < rounds; i++)
        for (uint32_t s = 0; s < sides; s++) {
            const uint32_t n = (i + 1) % rounds, m = (s + 1) % sides;
            const uint32_t p = first + i * sides + s, q = first + n * sides + s;
            const uint32_t x = first + n * sides + m, y = first + i * sides + m;
            face(p, q, x), face(p, x, y);
        }
}

static void add_ball(double x, double y, double z, double r, uint32_t rounds)
{
    const uint32_t south = point(x, y, z - r), first = vertex_count;
    for (uint32_t i = 1; i < rounds; i++)
        for (uint32_t s = 0; s < 2 * rounds; s++) {
            const double a = M_PI * i / rounds, b = M_PI * s / rounds;
            point(x + r * sin(a) * cos(b), y + r * sin(a) * sin(b), z - r * cos(a));
        }
    const uint32_t north = point(x, y, z + r), n = 2 * rounds;
    for (uint32_t s = 0; s < n; s++) {
        const uint32_t m = (s + 1) % n, last = first + (rounds - 2) * n;
        face(south, first + m, first + s);
        face(north, last + s, last + m);
        for (uint32_t i = 0; i + 2 < rounds; i++) {
            const uint32_t p = first + i * n;
            face(p + s, p + m, p + n + m), face(p + s, p + n + m, p + n + s);
        }
    }
}

// Rays --------------------------------------------------------------------------------------------

typedef struct hit {
    double at;
    int turn; ///< 1: into the body
} hit;

static int by_place(const void *a, const void *b)
{
    const double x = ((const hit *)a)->at, y = ((const hit *)b)->at;
    return (x > y) - (x < y);
}

/// Where a ray enters and leaves what the surface goes round once or more. @return how many numbers
static int spans(const cutis_surface *s, const double *from, const double *way, double *out)
{
    static hit hits[HITS];
    int count = 0, around = 0, numbers = 0;
    for (uint64_t t = 0; t < s->triangle_count; t++) {
        const float *c[3];
        for (int k = 0; k < 3; k++) c[k] = s->positions + 3 * (size_t)s->indices[3 * t + k];
        double e[3], f[3], g[3], h[3], q[3];
        for (int k = 0; k < 3; k++) {
            e[k] = (double)c[1][k] - c[0][k], f[k] = (double)c[2][k] - c[0][k];
            g[k] = from[k] - c[0][k];
        }
        for (int k = 0; k < 3; k++) {
            const int i = (k + 1) % 3, j = (k + 2) % 3;
            h[k] = way[i] * f[j] - way[j] * f[i], q[k] = g[i] * e[j] - g[j] * e[i];
        }
        const double whole = e[0] * h[0] + e[1] * h[1] + e[2] * h[2];
        const double u = (g[0] * h[0] + g[1] * h[1] + g[2] * h[2]) / whole;
        const double v = (way[0] * q[0] + way[1] * q[1] + way[2] * q[2]) / whole;
        if (whole == 0 || u < 0 || v < 0 || u + v > 1) continue;
        assert_true(count < HITS);
        hits[count++] =
            (hit){ (f[0] * q[0] + f[1] * q[1] + f[2] * q[2]) / whole, whole > 0 ? 1 : -1 };
    }
    qsort(hits, (size_t)count, sizeof *hits, by_place);
    for (int i = 0; i < count; i++) {
        const int before = around;
        around += hits[i].turn;
        if ((before >= 1) != (around >= 1)) out[numbers++] = hits[i].at;
    }
    assert_int_equal(around, 0);
    return numbers;
}

/// What is shorter than this along a ray may be there in one and not in the other.
static int drop_short(double *numbers, int count, double least)
{
    int kept = 0;
    for (int i = 0; i < count; i++) {
        if (kept && numbers[i] - numbers[kept - 1] < least)
            kept--;
        else
            numbers[kept++] = numbers[i];
    }
    return kept;
}

static void compare_along_rays(const cutis_surface *given, const cutis_surface *united,
                               double reach)
{
    static double a[HITS], b[HITS];
    for (uint32_t r = 0; r < 300; r++) {
        double from[3], way[3], to[3];
        for (uint32_t k = 0; k < 3; k++) {
            to[k] = random_in(7, 6 * r + k, -reach, reach);
            from[k] = random_in(7, 6 * r + 3 + k, -reach, reach);
        }
        double length = 0;
        for (int k = 0; k < 3; k++) way[k] = to[k] - from[k], length += way[k] * way[k];
        for (int k = 0; k < 3; k++) way[k] /= sqrt(length);
        const int n = drop_short(a, spans(given, from, way, a), 2e-4);
        const int m = drop_short(b, spans(united, from, way, b), 2e-4);
        assert_int_equal(n, m);
        for (int i = 0; i < n; i++) assert_near(a[i], b[i], 1e-4);
    }
}

/// Closed, no crossings, the space that rays find; every corner where its parts say.
static const cutis_united_data *check(cutis_united **united, double reach, uint32_t pieces)
{
    const cutis_surface given = surface();
    cutis_manifold m;
    cutis_crossings x;
    assert_ok(context, cutis_surface_unite(context, &given, NULL, united));
    const cutis_united_data *u = cutis_united_get(*united);
    assert_ok(context, cutis_surface_manifold(context, &u->surface, NULL, &m));
    assert_true(m.watertight);
    assert_int_equal(m.piece_count, pieces);
    assert_ok(context, cutis_surface_crossings(context, &u->surface, NULL, NULL, &x));
    assert_int_equal(x.triangle_count, 0);
    for (uint64_t c = 0; c < 3 * u->surface.triangle_count; c++)
        for (int k = 0; k < 3; k++) {
            const float *part = u->parts + 3 * c;
            const uint32_t *of = indices + 3 * (size_t)u->origins[c / 3];
            const double at = part[0] * (double)positions[3 * (size_t)of[0] + k] +
                              part[1] * (double)positions[3 * (size_t)of[1] + k] +
                              part[2] * (double)positions[3 * (size_t)of[2] + k];
            assert_near(u->surface.positions[3 * (size_t)u->surface.indices[c] + k], at,
                        2e-5 * reach);
        }
    compare_along_rays(&given, &u->surface, reach);
    return u;
}

static void two_cubes_become_one_body_of_their_volume(void **state)
{
    (void)state;
    cutis_united *united;
    add_cube(0, 0, 0, 1, 0.3), add_cube(0.31, 0.47, 0.23, 1.2, 1.1);
    check(&united, 2, 1);
    cutis_united_destroy(united);
}

static void what_touches_along_planes_and_edges_is_nudged(void **state)
{
    (void)state;
    cutis_united *united;
    add_cube(0, 0, 0, 1, 0), add_cube(0.5, 0, 0, 1, 0), add_cube(0.25, 0.5, 0, 0.5, 0);
    const cutis_united_data *u = check(&united, 2, 1);
    assert_near(cutis_surface_volume(&u->surface), 1.5, 1e-4);
    cutis_united_destroy(united);
}

/// Welded they share edges, and four triangles each.
static void bodies_on_each_other_are_nudged_apart(void **state)
{
    (void)state;
    cutis_united *united;
    add_cube(0, 0, 0, 1, 0), add_cube(1, 0, 0, 1, 0);
    const cutis_united_data *u = check(&united, 2, 1);
    assert_near(cutis_surface_volume(&u->surface), 2, 1e-4);
    cutis_united_destroy(united);
    vertex_count = triangle_count = 0;
    add_ball(0, 0, 0, 1, 12), add_ball(0, 0, 0, 1, 12);
    check(&united, 2, 1);
    cutis_united_destroy(united);
}

/// Only slivers are left of it, and their corners are still mixed of parts that sum to one.
static void a_body_and_its_own_hollow_leave_nothing(void **state)
{
    (void)state;
    cutis_united *united;
    add_ball(0, 0, 0, 1, 12);
    const uint32_t before = triangle_count;
    add_ball(0, 0, 0, 1, 12);
    for (uint32_t t = before; t < triangle_count; t++) {
        const uint32_t swap = indices[3 * t];
        indices[3 * t] = indices[3 * t + 1], indices[3 * t + 1] = swap;
    }
    const cutis_surface given = surface();
    assert_ok(context, cutis_surface_unite(context, &given, NULL, &united));
    const cutis_united_data *u = cutis_united_get(united);
    assert_near(cutis_surface_volume(&u->surface), 0, 1e-4);
    for (uint64_t c = 0; c < 3 * u->surface.triangle_count; c++) {
        const float *part = u->parts + 3 * c;
        assert_near(part[0] + (double)part[1] + part[2], 1, 1e-6);
    }
    cutis_united_destroy(united);
}

static void a_face_with_a_hundred_cubes_through_it_is_cut(void **state)
{
    (void)state;
    cutis_united *united;
    add_cube(-2, -2, -2, 4, 0);
    for (uint32_t i = 0; i < 100; i++)
        add_cube(0.33 * (i % 10) - 1.7 + random_in(3, 3 * i, 0, 0.01),
                 0.33 * (i / 10) - 1.7 + random_in(3, 3 * i + 1, 0, 0.01), 1.93, 0.15,
                 random_in(3, 3 * i + 2, 0.3, 1.3));
    check(&united, 3, 1);
    cutis_united_destroy(united);
}

static void three_balls_meet_in_points(void **state)
{
    (void)state;
    cutis_united *united;
    add_ball(0, 0, 0, 1, 24), add_ball(0.7, 0.1, 0.05, 0.9, 21), add_ball(0.35, 0.6, -0.1, 0.8, 26);
    check(&united, 2, 1);
    cutis_united_destroy(united);
}

static void eight(double t, double *out)
{
    out[0] = sin(t), out[1] = sin(2 * t) / 2, out[2] = 0.07 * cos(t);
}

static void a_tube_that_runs_through_itself_is_cut(void **state)
{
    (void)state;
    cutis_united *united;
    add_tube(eight, 0.15, 120, 24);
    check(&united, 1.3, 1);
    cutis_united_destroy(united);
}

static void bodies_inside_go_and_a_hollow_stays(void **state)
{
    (void)state;
    cutis_united *united;
    add_ball(0, 0, 0, 1, 16), add_ball(0.1, 0, 0, 0.3, 8), add_ball(5, 0, 0, 1, 16);
    const uint32_t before = triangle_count;
    add_ball(5, 0.1, 0, 0.5, 8);
    for (uint32_t t = before; t < triangle_count; t++) { // turned: a hollow
        const uint32_t swap = indices[3 * t];
        indices[3 * t] = indices[3 * t + 1], indices[3 * t + 1] = swap;
    }
    check(&united, 6, 3);
    cutis_united_destroy(united);
}

static void what_crosses_nothing_stays_as_it_is(void **state)
{
    (void)state;
    cutis_united *united;
    add_ball(0, 0, 0, 1, 16);
    const cutis_united_data *u = check(&united, 1.5, 1);
    assert_int_equal(u->surface.triangle_count, triangle_count);
    for (uint32_t c = 0; c < 3 * triangle_count; c++)
        assert_memory_equal(u->surface.positions + 3 * (size_t)u->surface.indices[c],
                            positions + 3 * (size_t)indices[c], 12);
    cutis_united_destroy(united);
}

static void an_open_surface_is_refused(void **state)
{
    (void)state;
    cutis_united *united;
    add_ball(0, 0, 0, 1, 8), add_ball(0.5, 0, 0, 1, 8);
    triangle_count--;
    const cutis_surface s = surface();
    assert_int_equal(cutis_surface_unite(context, &s, NULL, &united), CUTIS_INVALID_ARGUMENT);
    assert_null(united);
    assert_int_equal(cutis_surface_unite(context, NULL, NULL, &united), CUTIS_INVALID_ARGUMENT);
    triangle_count = 0;
    const cutis_surface none = surface();
    assert_ok(context, cutis_surface_unite(context, &none, NULL, &united));
    assert_int_equal(cutis_united_get(united)->surface.triangle_count, 0);
    cutis_united_destroy(united);
}

/// Before anything is cut: these would be for minutes.
static void scraps_that_cross_are_refused_at_once(void **state)
{
    (void)state;
    cutis_united *united;
    for (uint32_t i = 0; i < 600; i++)
        point(random_in(5, 3 * i, -1, 1), random_in(5, 3 * i + 1, -1, 1),
              random_in(5, 3 * i + 2, -1, 1));
    for (uint32_t t = 0; t < 600; t++) face(t, (t + 211) % 600, (t + 397) % 600);
    const cutis_surface scraps = surface();
    assert_int_equal(cutis_surface_unite(context, &scraps, NULL, &united), CUTIS_INVALID_ARGUMENT);
}

int main(void)
{
#define claim(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        claim(two_cubes_become_one_body_of_their_volume),
        claim(what_touches_along_planes_and_edges_is_nudged),
        claim(bodies_on_each_other_are_nudged_apart),
        claim(a_body_and_its_own_hollow_leave_nothing),
        claim(a_face_with_a_hundred_cubes_through_it_is_cut),
        claim(three_balls_meet_in_points),
        claim(a_tube_that_runs_through_itself_is_cut),
        claim(bodies_inside_go_and_a_hollow_stays),
        claim(what_crosses_nothing_stays_as_it_is),
        claim(an_open_surface_is_refused),
        claim(scraps_that_cross_are_refused_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
