// Where a ray meets a surface, against the plane's own equation.
#include "support.h"

static void a_ray_meets_the_nearer_of_two_sheets_where_the_plane_says(void **state)
{
    (void)state;
    const float positions[] = { 0, 0, 1, 4, 0, 1, 0, 4, 1, 0, 0, -1, 4, 0, -1, 0, 4, -1 };
    const uint32_t indices[] = { 0, 1, 2, 5, 4, 3 }; // turned two ways: both sides count
    const cutis_surface surface = { 6, 2, positions, indices };
    for (uint64_t i = 0; i < 200; i++) {
        const double x = random_in(1, i, -1, 5), y = random_in(2, i, -1, 5);
        const double origin[3] = { random_in(3, i, -2, 2), random_in(4, i, -2, 2), i % 2 ? 3 : -3 };
        const double far = i % 2 ? 1 : -1, along = random_in(5, i, 0.5, 2);
        const double direction[3] = { (x - origin[0]) * along, (y - origin[1]) * along,
                                      (far - origin[2]) * along };
        cutis_surface_point at;
        const bool inside = x > 0 && y > 0 && x + y < 4;
        const cutis_result result = cutis_surface_pick(&surface, origin, direction, &at);
        if (!inside) { // past the nearer one it may still meet the other
            assert_true(result == CUTIS_NOT_FOUND || at.triangle == (i % 2 ? 1u : 0u));
            continue;
        }
        assert_int_equal(result, CUTIS_OK);
        assert_int_equal(at.triangle, i % 2 ? 0 : 1);
        assert_near(at.distance, 1 / along, 1e-12);
        assert_near(at.corners[0] + at.corners[1] + at.corners[2], 1, 1e-15);
        assert_near(at.corners[1], x / 4, 1e-12);
        assert_near(at.corners[i % 2 ? 2 : 0], y / 4, 1e-12);
    }
}

static void what_lies_behind_or_has_no_area_is_not_met(void **state)
{
    (void)state;
    const float positions[] = { 0, 0, 1, 4, 0, 1, 0, 4, 1, 1, 1, 2 };
    const uint32_t indices[] = { 0, 1, 2, 3, 3, 3 };
    const cutis_surface surface = { 4, 2, positions, indices };
    cutis_surface_point at;
    const double origin[3] = { 1, 1, 3 }, up[3] = { 0, 0, 1 }, none[3] = { 0 },
                 bad[3] = { NAN, 0, 0 };
    assert_int_equal(cutis_surface_pick(&surface, origin, up, &at), CUTIS_NOT_FOUND);
    assert_int_equal(cutis_surface_pick(&surface, origin, none, &at), CUTIS_INVALID_ARGUMENT);
    assert_int_equal(cutis_surface_pick(&surface, bad, up, &at), CUTIS_INVALID_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ray_meets_the_nearer_of_two_sheets_where_the_plane_says),
        cmocka_unit_test(what_lies_behind_or_has_no_area_is_not_met),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
