// Holes that are closed before voxels are made: a closed surface has every edge twice, and what was
// added has the area of what was missing, counted from the shapes' own formulas.
#include "handles_case.h"

#include "fit/handles/caps.h"

static double area_of(const cutis_handles_shape *s, uint32_t t)
{
    double p[3][3], u[3], v[3], n[3];
    for (int k = 0; k < 3; k++)
        for (int c = 0; c < 3; c++) p[k][c] = s->positions[3 * s->triangles[3 * t + k] + c];
    for (int c = 0; c < 3; c++) u[c] = p[1][c] - p[0][c], v[c] = p[2][c] - p[0][c];
    for (int c = 0; c < 3; c++)
        n[c] = u[(c + 1) % 3] * v[(c + 2) % 3] - u[(c + 2) % 3] * v[(c + 1) % 3];
    return sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]) / 2;
}

// Every edge twice, by looking at all pairs; vertices stand for themselves.
static void assert_closed(const cutis_handles_shape *s)
{
    for (uint32_t i = 0; i < 3 * s->triangle_count; i++) {
        const uint32_t a = s->triangles[i], b = s->triangles[i - i % 3 + (i + 1) % 3];
        uint32_t count = 0;
        for (uint32_t k = 0; k < 3 * s->triangle_count; k++) {
            const uint32_t c = s->triangles[k], d = s->triangles[k - k % 3 + (k + 1) % 3];
            count += (a == c && b == d) || (a == d && b == c);
        }
        assert_int_equal(count, 2);
    }
}

// Two pyramids on one ring of 2 n vertices; every other triangle of the upper one is missing, so
// that n holes meet in its tip.
static void holes_that_meet_in_a_tip_are_closed_each_for_itself(void **state)
{
    fixture *f = *state;
    for (uint32_t n = 2; n <= 60; n += 29) {
        shape_case *s = new_shape();
        const uint32_t ring = 2 * n, top = add_vertex(s, 0, 0, 1), low = add_vertex(s, 0, 0, -3);
        cutis_handles_shape out;
        double added = 0;
        for (uint32_t i = 0; i < ring; i++)
            add_vertex(s, cos(2 * acos(-1) * i / ring), sin(2 * acos(-1) * i / ring), 0);
        for (uint32_t i = 0; i < ring; i++) {
            const uint32_t a = 2 + i, b = 2 + (i + 1) % ring;
            if (i % 2) add_triangle(s, a, b, top);
            add_triangle(s, b, a, low);
        }
        assert_ok(f->context, cutis_handles_caps(&f->arena, &s->shape, &out));
        assert_int_equal(out.cap_count, n);
        assert_closed(&out);
        for (uint32_t t = s->shape.triangle_count; t < out.triangle_count; t++) {
            added += area_of(&out, t);
            assert_true(out.triangles[3 * t] == top || out.triangles[3 * t + 1] == top ||
                        out.triangles[3 * t + 2] == top);
        }
        // A triangle of the upper pyramid: half of 2 sin(pi / 2n), its base, times its height.
        const double half = acos(-1) / ring, height = sqrt(1 + cos(half) * cos(half));
        assert_near(added, n * sin(half) * height, 1e-6 * n);
        free(s);
    }
}

// A grid of squares rolled to a ring of ten by ten, two of its squares missing that share a corner.
static void two_squares_that_share_a_corner_are_two_holes(void **state)
{
    fixture *f = *state;
    shape_case *s = new_shape();
    cutis_handles_shape out;
    double added = 0, missing = 0;
    uint32_t gone[2][4];
    for (int i = 0; i < 100; i++) {
        const double a = 2 * acos(-1) * (i % 10) / 10, b = 2 * acos(-1) * (i / 10) / 10.0;
        add_vertex(s, (3 + cos(b)) * cos(a), (3 + cos(b)) * sin(a), sin(b));
    }
    for (uint32_t i = 0; i < 100; i++) {
        const uint32_t x = i % 10, y = i / 10, right = (x + 1) % 10, up = (y + 1) % 10;
        const uint32_t q[4] = { i, 10 * y + right, 10 * up + right, 10 * up + x };
        const int hole = i == 44 ? 0 : i == 55 ? 1 : -1;
        if (hole >= 0) memcpy(gone[hole], q, sizeof q);
        if (hole >= 0) continue;
        add_triangle(s, q[0], q[1], q[2]);
        add_triangle(s, q[0], q[2], q[3]);
    }
    assert_int_equal(gone[0][2], gone[1][0]);
    assert_ok(f->context, cutis_handles_caps(&f->arena, &s->shape, &out));
    assert_int_equal(out.cap_count, 4);
    assert_closed(&out);
    for (uint32_t t = s->shape.triangle_count; t < out.triangle_count; t++) {
        int in[2] = { 0 };
        added += area_of(&out, t);
        for (int k = 0; k < 3; k++)
            for (int h = 0; h < 2; h++)
                for (int c = 0; c < 4; c++) in[h] += out.triangles[3 * t + k] == gone[h][c];
        assert_true(in[0] == 3 || in[1] == 3); // never from one hole to the other
    }
    for (int h = 0; h < 2; h++) {
        const uint32_t *q = gone[h], first = s->shape.triangle_count;
        add_triangle(s, q[0], q[1], q[2]);
        add_triangle(s, q[0], q[2], q[3]);
        missing += area_of(&s->shape, first) + area_of(&s->shape, first + 1);
    }
    assert_near(added, missing, 0.02 * missing); // squares of a ring are not quite flat
    free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        claim(holes_that_meet_in_a_tip_are_closed_each_for_itself),
        claim(two_squares_that_share_a_corner_are_two_holes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
