// Borders of parts on tubes whose cheapest cuts are known: a ring round a cylinder, the waist of an
// hourglass, and nothing at all where a part is too small to hold its own.
#include "extracted.h"

#include "skeleton/borders.h"

enum { SEGMENTS = 24, RINGS = 41, FACES = 2 * SEGMENTS * RINGS };

static double points[SEGMENTS * RINGS + 2][3];
static uint32_t faces[FACES][3], twins[3 * FACES], labels[FACES];
static cutis_closed mesh;

static double straight(double z)
{
    (void)z;
    return 1;
}

// Narrowest at 0.2, with a crease.
static double waisted(double z)
{
    double t = fmin(fabs(z - 0.2), 1);
    return 0.6 + 0.4 * t;
}

static void add_triangle(uint32_t a, uint32_t b, uint32_t c)
{
    const uint32_t face[3] = { a, b, c };
    memcpy(faces[mesh.face_count++], face, sizeof face);
}

// A closed tube along z from -2 to 2.
static void make_tube(double (*radius)(double))
{
    mesh = (cutis_closed){ .context = context,
                           .points = points,
                           .faces = faces,
                           .twins = twins,
                           .vertex_count = SEGMENTS * RINGS + 2 };
    for (uint32_t i = 0; i < RINGS; i++)
        for (uint32_t k = 0; k < SEGMENTS; k++) {
            double z = -2 + 4. * i / (RINGS - 1), angle = 6.283185307179586 * k / SEGMENTS;
            double *p = points[i * SEGMENTS + k];
            p[0] = radius(z) * cos(angle), p[1] = radius(z) * sin(angle), p[2] = z;
        }
    const uint32_t south = SEGMENTS * RINGS, north = south + 1;
    points[south][2] = -2, points[north][2] = 2;
    for (uint32_t k = 0; k < SEGMENTS; k++) {
        uint32_t n = (k + 1) % SEGMENTS;
        add_triangle(south, n, k);
        add_triangle(north, (RINGS - 1) * SEGMENTS + k, (RINGS - 1) * SEGMENTS + n);
        for (uint32_t i = 0; i + 1 < RINGS; i++) {
            uint32_t a = i * SEGMENTS + k, b = i * SEGMENTS + n;
            add_triangle(a, b, b + SEGMENTS);
            add_triangle(a, b + SEGMENTS, a + SEGMENTS);
        }
    }
    assert_int_equal(mesh.face_count, FACES);
    for (uint32_t h = 0; h < 3 * FACES; h++)
        for (uint32_t g = 0; g < h; g++)
            if (cutis_from(&mesh, h) == cutis_to(&mesh, g) &&
                cutis_to(&mesh, h) == cutis_from(&mesh, g))
                twins[h] = g, twins[g] = h;
}

static double middle(uint32_t face, int k)
{
    return (points[faces[face][0]][k] + points[faces[face][1]][k] + points[faces[face][2]][k]) / 3;
}

// Length of the border and the mean of its z.
static double border(double *z)
{
    double length = 0, sum = 0;
    for (uint32_t h = 0; h < 3 * FACES; h++) {
        if (labels[h / 3] >= labels[twins[h] / 3]) continue;
        double own = cutis_edge_length(&mesh, h);
        length += own;
        sum += own * (points[cutis_from(&mesh, h)][2] + points[cutis_to(&mesh, h)][2]) / 2;
    }
    *z = sum / length;
    return length;
}

static void label_by_wave(double height)
{
    for (uint32_t f = 0; f < FACES; f++)
        labels[f] = middle(f, 2) > height * sin(5 * atan2(middle(f, 1), middle(f, 0)));
}

static void a_wavy_border_of_a_cylinder_becomes_a_ring(void **state)
{
    (void)state;
    const double ring = 2 * SEGMENTS * sin(3.141592653589793 / SEGMENTS);
    double z, before;
    make_tube(straight);
    label_by_wave(0.25);
    before = border(&z);
    assert_int_equal(cutis_borders_smooth(&mesh, labels, 2), CUTIS_OK);
    double after = border(&z);
    print_message("%.3f becomes %.3f, a ring is %.3f\n", before, after, ring);
    assert_true(before > 1.4 * ring);
    assert_true(after < 1.001 * ring); // no shorter loop goes round
    assert_true(after > 0.999 * ring && fabs(z) < 0.11);
}

static void a_border_near_a_waist_goes_there(void **state)
{
    (void)state;
    double z;
    make_tube(waisted);
    label_by_wave(0);
    border(&z);
    assert_true(fabs(z) < 0.11);
    assert_int_equal(cutis_borders_smooth(&mesh, labels, 2), CUTIS_OK);
    border(&z);
    print_message("border at %.3f, waist at 0.2\n", z);
    assert_true(fabs(z - 0.2) < 0.01);
}

static void a_part_that_nothing_holds_keeps_its_faces(void **state)
{
    (void)state;
    make_tube(straight);
    for (uint32_t f = 0; f < FACES; f++) labels[f] = f == FACES / 2;
    assert_int_equal(cutis_borders_smooth(&mesh, labels, 2), CUTIS_OK);
    for (uint32_t f = 0; f < FACES; f++) assert_int_equal(labels[f], f == FACES / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wavy_border_of_a_cylinder_becomes_a_ring),
        cmocka_unit_test(a_border_near_a_waist_goes_there),
        cmocka_unit_test(a_part_that_nothing_holds_keeps_its_faces),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
