/// The room of points and triangles: heap order, welding, edges, counting sort, groups, sets,
/// boxes, and sine and cosine, each against the plain way to say it.
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cutis/measure.h>
#include <cutis/synth.h>

#include "geometry/half_edge.h"
#include "geometry/heap.h"
#include "geometry/order.h"
#include "geometry/sets.h"
#include "geometry/sincos.h"
#include "geometry/vector.h"

enum { MANY = 3000 };
static cutis_context *context;

static uint32_t below(uint64_t stream, uint64_t k, uint32_t limit)
{
    return (uint32_t)(cutis_random_bits(11, stream, k) % limit);
}

static int by_distance_and_vertex(const void *a, const void *b)
{
    const cutis_waiting *x = a, *y = b;
    if (x->distance != y->distance) return x->distance < y->distance ? -1 : 1;
    return (x->vertex > y->vertex) - (x->vertex < y->vertex);
}

static void heap_gives_what_sorting_gives_also_with_equal_distances(void **state)
{
    (void)state;
    cutis_waiting sorted[MANY];
    cutis_heap heap = { .context = context };
    for (uint32_t i = 0; i < MANY; i++) {
        sorted[i] = (cutis_waiting){ below(0, i, 100) / 8.0, below(1, i, 1000) };
        assert_true(cutis_heap_push(&heap, sorted[i].distance, sorted[i].vertex));
    }
    qsort(sorted, MANY, sizeof *sorted, by_distance_and_vertex);
    for (uint32_t i = 0; i < MANY; i++) {
        cutis_waiting next = cutis_heap_pop(&heap);
        assert_true(next.distance == sorted[i].distance && next.vertex == sorted[i].vertex);
    }
    assert_int_equal(heap.count, 0);
    cutis_heap_release(&heap);
}

static void weld_names_the_lowest_vertex_of_a_place(void **state)
{
    (void)state;
    float positions[3 * MANY];
    uint32_t weld[MANY];
    for (uint32_t i = 0; i < 3 * MANY; i++) {
        positions[i] = (float)below(2, i, 9) - 4;
        if (positions[i] == 0 && below(3, i, 2)) positions[i] = -0.0f; // one place with +0
    }
    assert_int_equal(cutis_weld_positions(context, MANY, positions, weld), CUTIS_OK);
    for (uint32_t v = 0; v < MANY; v++) {
        uint32_t lowest = 0;
        const float *p = positions + 3 * (size_t)v;
        while (positions[3 * lowest] != p[0] || positions[3 * lowest + 1] != p[1] ||
               positions[3 * lowest + 2] != p[2])
            lowest++;
        assert_int_equal(weld[v], lowest);
    }
}

static void next_and_previous_go_round_a_triangle(void **state)
{
    (void)state;
    for (uint32_t h = 0; h < 30; h++) {
        assert_int_equal(half_next(h) / 3, h / 3);
        assert_int_equal(half_next(half_next(h)), half_previous(h));
        assert_int_equal(half_next(half_previous(h)), h);
    }
}

static void every_edge_of_an_octahedron_is_a_run_of_two_that_run_against_each_other(void **state)
{
    (void)state;
    static const uint32_t FACES[8][3] = { { 0, 2, 4 }, { 2, 1, 4 }, { 1, 3, 4 }, { 3, 0, 4 },
                                          { 2, 0, 5 }, { 1, 2, 5 }, { 3, 1, 5 }, { 0, 3, 5 } };
    const uint32_t *corners = FACES[0];
    cutis_arena arena = { .context = context };
    cutis_edge *edges;
    size_t count, runs = 0;
    assert_int_equal(cutis_edges_sort(&arena, corners, NULL, 8, &edges, &count), CUTIS_OK);
    assert_int_equal(count, 24);
    for (size_t i = 0, n; i < count; i += n, runs++) {
        n = cutis_edges_run(edges, count, i);
        assert_int_equal(n, 2);
        uint32_t a = (uint32_t)edges[i].half, b = (uint32_t)edges[i + 1].half;
        assert_true(a < b && edges[i].low < edges[i].high);
        assert_int_equal(corners[a], corners[half_next(b)]);
        assert_int_equal(corners[b], corners[half_next(a)]);
        if (i > 0)
            assert_true(edges[i - 1].low < edges[i].low ||
                        (edges[i - 1].low == edges[i].low && edges[i - 1].high < edges[i].high));
    }
    assert_int_equal(runs, 12); // Euler: 6 - 12 + 8 = 2
    // Welding 4 to 2 leaves the six faces that do not have both.
    const uint32_t weld[6] = { 0, 1, 2, 3, 2, 5 };
    assert_int_equal(cutis_edges_sort(&arena, corners, weld, 8, &edges, &count), CUTIS_OK);
    assert_int_equal(count, 3 * 6);
    cutis_arena_release(&arena);
}

static void counting_sort_is_stable_and_complete(void **state)
{
    (void)state;
    uint32_t keys[MANY], first[51], list[MANY], used = 0;
    for (uint32_t i = 0; i < MANY; i++) keys[i] = below(4, i, 47);
    order_by_key(keys, MANY, 50, first, list); // 47 .. 49 are empty
    for (uint32_t k = 0; k < 50; k++) {
        assert_int_equal(first[k], used);
        for (uint32_t i = 0; i < MANY; i++)
            if (keys[i] == k) assert_int_equal(list[used++], i);
    }
    assert_int_equal(first[50], MANY);
}

static void groups_are_the_connected_pieces(void **state)
{
    (void)state;
    uint32_t up[200];
    for (uint32_t i = 0; i < 200; i++) up[i] = i;
    for (uint32_t i = 0; i + 7 < 200; i++) up[group_of(up, i)] = group_of(up, i + 7);
    for (uint32_t i = 0; i < 200; i++)
        for (uint32_t k = 0; k < 200; k++)
            assert_true((group_of(up, i) == group_of(up, k)) == (i % 7 == k % 7));
}

static void equal_lists_are_one_set_in_order_of_first_sight(void **state)
{
    (void)state;
    uint32_t lists[400][3], count = 0;
    cutis_sets sets = { .context = context };
    for (uint32_t i = 0; i < 400; i++) {
        uint32_t size = 1 + below(5, i, 3), set, same = 0;
        for (uint32_t k = 0; k < 3; k++) lists[i][k] = k < size ? below(6 + k, i, 6) : UINT32_MAX;
        assert_true(cutis_sets_find(&sets, lists[i], size, &set));
        while (memcmp(lists[same], lists[i], sizeof lists[i]) != 0) same++;
        if (same == i) {
            assert_int_equal(set, count++);
            continue;
        }
        uint32_t before;
        assert_true(cutis_sets_find(&sets, lists[same], size, &before));
        assert_int_equal(set, before);
    }
    assert_int_equal(sets.count, count);
    cutis_sets_release(&sets);
}

/// Units in the last place of b between a and b.
static double ulps(double a, double b)
{
    return fabs(a - b) / (nextafter(fabs(b), INFINITY) - fabs(b));
}

static void sine_and_cosine_are_within_two_ulp_and_exact_at_quarters(void **state)
{
    (void)state;
    double s, c;
    for (uint64_t k = 0; k < 100000; k++) {
        double degrees = 720 * (2 * cutis_random_unit(12, 0, k) - 1);
        // The reduction in degrees is exact; in radians even extended precision would show.
        double rest = remainder(degrees, 90);
        int quarter = (int)lround((degrees - rest) / 90);
        long double x = (long double)rest * 3.14159265358979323846264338327950288L / 180;
        double of[4] = { (double)sinl(x), (double)cosl(x), -(double)sinl(x), -(double)cosl(x) };
        sincos_degrees(degrees, &s, &c);
        assert_true(ulps(s, of[quarter & 3]) <= 2 && ulps(c, of[(quarter + 1) & 3]) <= 2);
        sincos_degrees_any(degrees, &s, &c);
        assert_true(ulps(s, of[quarter & 3]) <= 2 && ulps(c, of[(quarter + 1) & 3]) <= 2);
    }
    for (int q = -8; q <= 8; q++) {
        static const int SINE[4] = { 0, 1, 0, -1 };
        sincos_degrees(90.0 * q, &s, &c);
        assert_true(s == SINE[q & 3] && c == SINE[(q + 1) & 3]);
        sincos_degrees_any(90.0 * q, &s, &c);
        assert_true(s == SINE[q & 3] && c == SINE[(q + 1) & 3]);
    }
}

static void vectors_and_boxes_keep_their_formulas(void **state)
{
    (void)state;
    vec3 a = v3(1, 2, 2), b = v3(-2, 0.5, 4), n = v3_cross(a, b);
    assert_true(v3_length(a) == 3 && v3_dot(n, a) == 0 && v3_dot(n, b) == 0);
    assert_near(v3_length(v3_direction(b)), 1, 1e-15);
    assert_true(v3_length(v3_direction(v3(0, 0, 0))) == 0 && v3_length(v3_unit(v3(0, 0, 0))) == 0);
    assert_near(v3_angle(v3(1, 0, 0), v3(1, 1e-9, 0)), 1e-9, 1e-24);
    assert_near(v3_cotangent(v3(0, 0, 0), v3(3, 0, 0), v3(1, 1, 0)), 1, 1e-15);
    box3 box = box3_empty();
    assert_true(box3_diagonal(&box) == 0);
    box3_add(&box, v3(-1, 0, 5));
    assert_true(box3_diagonal(&box) == 0);
    box3_add(&box, v3(1, 1, 3));
    assert_true(box3_diagonal(&box) == 3 && box.low[2] == 3 && box.high[0] == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heap_gives_what_sorting_gives_also_with_equal_distances),
        cmocka_unit_test(weld_names_the_lowest_vertex_of_a_place),
        cmocka_unit_test(next_and_previous_go_round_a_triangle),
        cmocka_unit_test(every_edge_of_an_octahedron_is_a_run_of_two_that_run_against_each_other),
        cmocka_unit_test(counting_sort_is_stable_and_complete),
        cmocka_unit_test(groups_are_the_connected_pieces),
        cmocka_unit_test(equal_lists_are_one_set_in_order_of_first_sight),
        cmocka_unit_test(sine_and_cosine_are_within_two_ulp_and_exact_at_quarters),
        cmocka_unit_test(vectors_and_boxes_keep_their_formulas),
    };
    if (cutis_context_create(NULL, &context) != CUTIS_OK) return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    cutis_context_destroy(context);
    return failed;
}
