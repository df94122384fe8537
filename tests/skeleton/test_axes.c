// Visibility kernels, hulls, covariances, grouping and refinement against analytic solids and
// against the formulas of docs/spec/skeleton.md written out again.
#include "support.h"

#include "skeleton/axes.h"
#include "skeleton/graph.h"
#include "skeleton/hull.h"

static cutis_context *context;

static int setup(void **state)
{
    (void)state;
    return cutis_context_create(NULL, &context);
}

static int teardown(void **state)
{
    (void)state;
    uint64_t left = cutis_context_memory(context);
    cutis_context_destroy(context);
    return left != 0;
}

// Half-spaces of polygons given counter-clockwise from outside, after the bounding box.
typedef struct {
    double planes[64][4];
    uint32_t count;
} halfspaces;

static void add_plane(halfspaces *h, double x, double y, double z, double b)
{
    double length = sqrt(x * x + y * y + z * z);
    double *p = h->planes[h->count++];
    p[0] = x / length, p[1] = y / length, p[2] = z / length, p[3] = b / length;
}

static void add_box(halfspaces *h, const double *low, const double *high)
{
    add_plane(h, 1, 0, 0, high[0]), add_plane(h, -1, 0, 0, -low[0]);
    add_plane(h, 0, 1, 0, high[1]), add_plane(h, 0, -1, 0, -low[1]);
    add_plane(h, 0, 0, 1, high[2]), add_plane(h, 0, 0, -1, -low[2]);
}

// A prism over a polygon in x and y, z from 0 to 1.
static halfspaces prism(const double (*p)[2], uint32_t n, double *diagonal)
{
    halfspaces h = { .count = 0 };
    double low[3] = { 1e9, 1e9, 0 }, high[3] = { -1e9, -1e9, 1 };
    for (uint32_t i = 0; i < n; i++)
        for (int k = 0; k < 2; k++)
            low[k] = fmin(low[k], p[i][k]), high[k] = fmax(high[k], p[i][k]);
    add_box(&h, low, high);
    for (uint32_t i = 0; i < n; i++) {
        const double *a = p[i], *b = p[(i + 1) % n];
        double x = b[1] - a[1], y = a[0] - b[0];
        add_plane(&h, x, y, 0, x * a[0] + y * a[1]);
    }
    *diagonal = v3_distance_of(low, high);
    return h;
}

static cutis_intersection intersection_of(const halfspaces *h, double diagonal)
{
    cutis_arena arena = { .context = context };
    cutis_intersection seen;
    assert_ok(context, cutis_intersection_make(&arena, h->planes, h->count, diagonal, &seen));
    cutis_arena_release(&arena);
    return seen;
}

static void the_visibility_kernel_of_a_cube_is_the_cube(void **state)
{
    (void)state;
    halfspaces h = { .count = 0 };
    double low[3] = { 2, -1, 5 }, high[3] = { 3, 0, 6 };
    add_box(&h, low, high);
    add_box(&h, low, high); // its faces
    cutis_intersection k = intersection_of(&h, sqrt(3));
    assert_true(k.star_shaped);
    assert_near(k.radius, 0.5, 1e-9);
    assert_near(k.volume, 1.0, 1e-9);
    assert_near(k.centroid[0], 2.5, 1e-9);
    assert_near(k.centroid[1], -0.5, 1e-9);
    assert_near(k.centroid[2], 5.5, 1e-9);
}

static void an_l_prism_is_star_shaped_and_its_visibility_kernel_is_the_common_corner(void **state)
{
    (void)state;
    static const double L[6][2] = { { 0, 0 }, { 3, 0 }, { 3, 1 }, { 1, 1 }, { 1, 2 }, { 0, 2 } };
    double diagonal;
    halfspaces h = prism(L, 6, &diagonal);
    cutis_intersection k = intersection_of(&h, diagonal);
    assert_true(k.star_shaped);
    assert_near(k.volume, 1.0, 1e-9); // the unit cube at the corner
    for (uint32_t i = 0; i < h.count; i++)
        assert_true(double3_dot(h.planes[i], k.centroid) <= h.planes[i][3] + 1e-12);
    assert_near(k.centroid[0], 0.5, 1e-9);
    assert_near(k.centroid[1], 0.5, 1e-9);
}

static void a_u_prism_is_not_star_shaped(void **state)
{
    (void)state;
    static const double U[8][2] = { { 0, 0 }, { 3, 0 }, { 3, 2 }, { 2, 2 },
                                    { 2, 1 }, { 1, 1 }, { 1, 2 }, { 0, 2 } };
    double diagonal;
    halfspaces h = prism(U, 8, &diagonal);
    cutis_intersection k = intersection_of(&h, diagonal);
    assert_false(k.star_shaped);
    assert_true(k.radius <= 1e-6 * diagonal);
}

static void the_largest_ball_of_random_polytopes_touches_four_planes_and_crosses_none(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        halfspaces h = { .count = 0 };
        double low[3] = { -2, -2, -2 }, high[3] = { 2, 2, 2 };
        add_box(&h, low, high);
        for (int i = 0; i < 40; i++)
            add_plane(&h, random_in(seed, 4 * i, -1, 1), random_in(seed, 4 * i + 1, -1, 1),
                      random_in(seed, 4 * i + 2, -1, 1) + 1e-9, random_in(seed, 4 * i + 3, 0.2, 1));
        cutis_intersection k = intersection_of(&h, 4 * sqrt(3));
        int touching = 0;
        for (uint32_t i = 0; i < h.count; i++) {
            double gap = h.planes[i][3] - double3_dot(h.planes[i], k.centre);
            assert_true(gap >= k.radius - 1e-11);
            touching += gap < k.radius + 1e-9;
        }
        assert_true(touching >= 4); // fewer could grow
        assert_true(k.volume >= 4.0 / 3 * 3.14159 * pow(k.radius, 3));
    }
}

static void hulls_have_the_volume_and_centroid_of_the_solid_they_come_from(void **state)
{
    (void)state;
    cutis_arena arena = { .context = context };
    double points[3000][3], centroid[3], volume;
    cutis_hull hull;
    for (int i = 0; i < 3000; i++) // corners of a box, and points inside it
        for (int k = 0; k < 3; k++)
            points[i][k] = (k + 1) * (i < 8 ? (double)(i >> k & 1)
                                            : random_in(3, (uint64_t)(3 * i + k), 0, 1));
    assert_ok(context, cutis_hull_make(&arena, points, 3000, 1e-9, &hull));
    cutis_hull_centroid(&hull, centroid, &volume);
    assert_int_equal(hull.count, 12);
    assert_near(volume, 6, 1e-12);
    for (int k = 0; k < 3; k++) assert_near(centroid[k], 0.5 * (k + 1), 1e-12);
    for (int i = 0; i < 3000; i++) points[i][2] = 2 * points[i][0] - points[i][1];
    assert_ok(context, cutis_hull_make(&arena, points, 3000, 1e-9, &hull));
    assert_int_equal(hull.count, 0); // a plane has no hull
    cutis_arena_release(&arena);
}

// Covariance ------------------------------------------------------------------------------------

typedef double triangle[3][3];

static uint32_t box_triangles(double a, double b, double c, triangle *out)
{
    static const int faces[6][4] = { { 0, 2, 3, 1 }, { 4, 5, 7, 6 }, { 0, 1, 5, 4 },
                                     { 2, 6, 7, 3 }, { 0, 4, 6, 2 }, { 1, 3, 7, 5 } };
    double size[3] = { a, b, c };
    uint32_t n = 0;
    for (int f = 0; f < 6; f++)
        for (int half = 0; half < 2; half++, n++)
            for (int v = 0; v < 3; v++) {
                int corner = faces[f][half && v ? v + 1 : v];
                if (half && v == 0) corner = faces[f][0];
                for (int k = 0; k < 3; k++) out[n][v][k] = corner >> k & 1 ? size[k] : 0;
            }
    return n;
}

static uint32_t quarter(const triangle *in, uint32_t n, triangle *out)
{
    for (uint32_t i = 0; i < n; i++) {
        double m[3][3];
        for (int e = 0; e < 3; e++)
            for (int k = 0; k < 3; k++) m[e][k] = 0.5 * (in[i][e][k] + in[i][(e + 1) % 3][k]);
        for (int c = 0; c < 3; c++) {
            memcpy(out[4 * i + c][0], in[i][c], sizeof m[0]);
            memcpy(out[4 * i + c][1], m[c], sizeof m[0]);
            memcpy(out[4 * i + c][2], m[(c + 2) % 3], sizeof m[0]);
        }
        memcpy(out[4 * i + 3], m, sizeof m);
    }
    return 4 * n;
}

static void covariance_does_not_see_the_tessellation_and_turns_with_the_box(void **state)
{
    (void)state;
    triangle *a = malloc(12 * 1024 * sizeof *a), *b = malloc(12 * 1024 * sizeof *b);
    double c[6], d[6], axes[9], turned[9];
    uint32_t n = box_triangles(3, 1, 2, a);
    cutis_covariance((const triangle *)a, n, c);
    cutis_principal_axes(c, axes);
    static const double expected[9] = { 1, 0, 0, 0, 0, 1, 0, -1, 0 };
    for (int i = 0; i < 9; i++) assert_near(axes[i], expected[i], 1e-6);
    // The surface of a box: two faces at each end, four sides. Variance along x of the definition.
    double A = 2 * (3 * 1 + 1 * 2 + 3 * 2), xx = (2 * 2 * 2.25 + (2 * 3 + 2 * 6) * 9.0 / 12) / A;
    assert_near(c[0], xx, 1e-12);
    for (int level = 0; level < 5; level++) {
        n = quarter((const triangle *)a, n, b);
        triangle *t = a;
        a = b, b = t;
    }
    cutis_covariance((const triangle *)a, n, d);
    for (int i = 0; i < 6; i++) assert_near(d[i], c[i], 1e-10);
    double s = sin(0.4), k = cos(0.4); // about z
    for (uint32_t i = 0; i < n; i++)
        for (int v = 0; v < 3; v++) {
            double x = a[i][v][0], y = a[i][v][1];
            a[i][v][0] = k * x - s * y, a[i][v][1] = s * x + k * y;
        }
    cutis_covariance((const triangle *)a, n, d);
    cutis_principal_axes(d, turned);
    assert_near(turned[0], k, 1e-9);
    assert_near(turned[1], s, 1e-9);
    free(a);
    free(b);
}

// Grouping --------------------------------------------------------------------------------------

// The criteria of docs/spec/skeleton.md A6, in their own words.
typedef struct {
    int n;
    double (*bc)[3], (*foot)[3], length;
} criteria;

static double variation(const criteria *c, int i, int j)
{
    double link[3] = { 0 }, sum = 0;
    for (int k = i; k <= j; k++)
        for (int x = 0; x < 3; x++) link[x] += c->foot[k][x] / (j - i + 1);
    for (int k = i; k <= j; k++) {
        double least = v3_distance_of(c->bc[k], c->foot[k]), most = 0;
        for (int l = 0; l < c->n; l++) most = fmax(most, v3_distance_of(c->bc[k], c->bc[l]));
        double v = (v3_distance_of(c->bc[k], link) - least) / fmax(most - least, 0.15 * c->length);
        sum += fmin(1, fmax(0, v));
    }
    return sum / (j - i + 1);
}

static double between(const criteria *c, int i, int j)
{
    return v3_distance_of(c->foot[i], c->foot[j]);
}

// Algorithm 1 by plain recursion: the groups as a bit mask of "cut after k", and VG.
static uint32_t best_groups(const criteria *c, int i, int j, double *vg)
{
    double whole = fmax(between(c, 0, c->n - 1), 0.15 * c->length);
    *vg = i == j ? 0 : variation(c, i, j);
    double best = (*vg + between(c, i, j) / whole) / 2;
    uint32_t cuts = 0;
    for (int k = i; k < j; k++) {
        double x, y;
        uint32_t left = best_groups(c, i, k, &x), right = best_groups(c, k + 1, j, &y);
        double score = (x + y + 1 - fmin(1, between(c, k, k + 1) / whole)) / 3;
        if (!(score < best - 1e-12)) continue;
        best = score;
        cuts = left | right | 1u << k;
        *vg = ((k - i + 1) * x + (j - k) * y) / (j - i + 1);
    }
    return cuts;
}

static int by_x(const void *a, const void *b)
{
    double x = ((const double *)a)[0], y = ((const double *)b)[0];
    return x < y ? -1 : x > y;
}

static void grouping_equals_the_recursion_it_stands_for(void **state)
{
    (void)state;
    static const double a[3] = { 0, 0, 0 }, b[3] = { 1, 0, 0 };
    for (uint64_t seed = 1; seed <= 300; seed++) {
        cutis_arena arena = { .context = context };
        int n = 1 + (int)(seed % 8);
        double bc[8][3], foot[8][3], links[8][3], vg;
        uint32_t groups[8];
        for (int i = 0; i < n; i++)
            for (int k = 0; k < 3; k++)
                bc[i][k] = random_in(seed, (uint64_t)(3 * i + k), k ? -0.3 : -0.1, k ? 0.3 : 1.1);
        qsort(bc, (size_t)n, sizeof *bc, by_x);
        for (int i = 0; i < n; i++)
            foot[i][0] = fmin(1, fmax(0, bc[i][0])), foot[i][1] = foot[i][2] = 0;
        criteria c = { n, bc, foot, 1 };
        uint32_t cuts = best_groups(&c, 0, n - 1, &vg), expected = 0;
        uint32_t count =
            cutis_group_points(&arena, a, b, (const double(*)[3])bc, (uint32_t)n, groups, links);
        for (int i = 0; i < n; i++) {
            if (i > 0) expected += cuts >> (i - 1) & 1;
            assert_int_equal(groups[i], expected);
        }
        assert_int_equal(count, expected + 1);
        cutis_arena_release(&arena);
    }
}

static void close_joints_share_a_link_point_and_far_ones_do_not(void **state)
{
    (void)state;
    cutis_arena arena = { .context = context };
    static const double a[3] = { 0, 0, 0 }, b[3] = { 1, 0, 0 };
    double three[3][3] = { { 0, 0.05, 0 }, { 0.02, -0.05, 0 }, { 1, 0.02, 0 } }, links[3][3];
    uint32_t groups[3];
    assert_int_equal(cutis_group_points(&arena, a, b, (const double(*)[3])three, 3, groups, links),
                     2);
    assert_int_equal(groups[0], groups[1]);
    assert_int_not_equal(groups[1], groups[2]);
    assert_near(links[0][0], 0.01, 1e-12);
    double same[3][3] = { { 0.4, 0, 0 }, { 0.4, 0, 0 }, { 0.4, 0, 0 } };
    assert_int_equal(cutis_group_points(&arena, a, b, (const double(*)[3])same, 3, groups, links),
                     1);
    assert_int_equal(cutis_group_points(&arena, a, a, (const double(*)[3])three, 2, groups, links),
                     1); // no axis at all: no division by zero
    assert_int_equal(cutis_group_points(&arena, a, b, (const double(*)[3])three, 1, groups, links),
                     1);
    cutis_arena_release(&arena);
}

// Refinement ------------------------------------------------------------------------------------

// Three boxes in a row, each with its own axes; only what refinement looks at is filled in.
typedef struct {
    cutis_closed mesh;
    cutis_parts parts;
    cutis_piece pieces[3];
    cutis_ring rings[2];
    double points[8][3];
    uint32_t leaving[8], faces[12][3], list[12], vertices[8], children[2];
} chain;

static void chain_make(chain *c, double tilt, const double *joint, const double *child)
{
    *c = (chain){ 0 };
    triangle t[12];
    box_triangles(4, 1, 1.5, t);
    for (uint32_t v = 0; v < 8; v++) {
        for (int k = 0; k < 3; k++)
            c->points[v][k] = (v >> k & 1 ? 0.5 : -0.5) * (k == 0 ? 4 : k == 1 ? 1 : 1.5);
        c->vertices[v] = v;
    }
    static const int corners[12][3] = { { 0, 2, 3 }, { 0, 3, 1 }, { 4, 5, 7 }, { 4, 7, 6 },
                                        { 0, 1, 5 }, { 0, 5, 4 }, { 2, 6, 7 }, { 2, 7, 3 },
                                        { 0, 4, 6 }, { 0, 6, 2 }, { 1, 3, 7 }, { 1, 7, 5 } };
    for (uint32_t f = 0; f < 12; f++) {
        for (int k = 0; k < 3; k++) c->faces[f][k] = (uint32_t)corners[f][k];
        c->list[f] = f;
    }
    c->mesh = (cutis_closed){ .context = context,
                              .points = c->points,
                              .faces = c->faces,
                              .vertex_count = 8,
                              .face_count = 12,
                              .diagonal = 5 };
    c->parts = (cutis_parts){
        .mesh = &c->mesh, .count = 3, .parts = c->pieces, .rings = c->rings, .ring_count = 2
    };
    c->children[0] = 1, c->children[1] = 2;
    for (uint32_t p = 0; p < 3; p++) {
        c->pieces[p] = (cutis_piece){ .parent = (int32_t)p - 1,
                                      .ring = (int32_t)p - 1,
                                      .face_count = 12,
                                      .faces = c->list,
                                      .vertex_count = 8,
                                      .vertices = c->vertices,
                                      .child_count = p < 2,
                                      .children = &c->children[p] };
        double33_identity(c->pieces[p].axes);
    }
    double *axes = c->pieces[1].axes;
    axes[0] = cos(tilt), axes[1] = sin(tilt), axes[3] = -sin(tilt), axes[4] = cos(tilt);
    memcpy(c->rings[0].centre, joint, sizeof c->rings[0].centre);
    memcpy(c->rings[1].centre, child, sizeof c->rings[1].centre);
}

static void assert_orthonormal(const double *axes)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            assert_near(double3_dot(axes + 3 * i, axes + 3 * j), i == j, 1e-12);
    assert_near(double33_determinant(axes), 1, 1e-12);
}

static void a_box_tilted_by_ten_degrees_turns_onto_the_line_of_its_joints(void **state)
{
    (void)state;
    static const double from[3] = { -2, 0, 0 }, to[3] = { 2, 0, 0 };
    chain c;
    chain_make(&c, 10 * 3.14159265358979 / 180, from, to);
    assert_ok(context, cutis_parts_refine(&c.parts, CUTIS_REFINE_LOCAL_HIERARCHY, 0.2617993878));
    assert_near(c.pieces[1].axes[0], 1, 1e-9);
    assert_near(c.pieces[1].axes[1], 0, 1e-9);
    for (int p = 0; p < 3; p++) assert_orthonormal(c.pieces[p].axes);
    assert_near(c.pieces[1].box_high[0] - c.pieces[1].box_low[0], 4, 1e-9);
    chain_make(&c, 20 * 3.14159265358979 / 180, from, to); // beyond the bound: left alone
    assert_ok(context, cutis_parts_refine(&c.parts, CUTIS_REFINE_LOCAL, 0.2617993878));
    assert_near(atan2(c.pieces[1].axes[1], c.pieces[1].axes[0]), 20 * 3.14159265358979 / 180,
                1e-12);
}

static void the_papers_refinement_keeps_frames_and_a_turn_is_exact(void **state)
{
    (void)state;
    static const double from[3] = { -2, 0, 0 }, to[3] = { 2, 0.2, 0 };
    chain c;
    chain_make(&c, 0, from, to);
    assert_ok(context, cutis_parts_refine(&c.parts, CUTIS_REFINE_PAPER, 0.2617993878));
    for (int p = 0; p < 3; p++) assert_orthonormal(c.pieces[p].axes);
    double axes[9], f[3] = { 1, 0, 0 }, d[3] = { 2, 0.2, 0 }, length = sqrt(4.04);
    double33_identity(axes);
    for (int k = 0; k < 3; k++) d[k] /= length;
    cutis_turn_axes(axes, f, d, acos(2 / length));
    for (int k = 0; k < 3; k++) assert_near(axes[k], d[k], 1e-9);
    assert_orthonormal(axes);
}

// Specification D4: with one joint the paper turns by the whole angle, here of a leaf.
static void in_the_papers_way_a_leaf_tilted_by_ten_degrees_turns_onto_its_joint(void **state)
{
    (void)state;
    static const double from[3] = { -6, 0, 0 }, to[3] = { -2, 0, 0 };
    const double tilt = 10 * 3.14159265358979 / 180;
    chain c;
    chain_make(&c, 0, from, to);
    double *axes = c.pieces[2].axes; // the leaf: its only joint is at -2 0 0, its middle at 0
    axes[0] = cos(tilt), axes[1] = sin(tilt), axes[3] = -sin(tilt), axes[4] = cos(tilt);
    assert_ok(context, cutis_parts_refine(&c.parts, CUTIS_REFINE_PAPER, 0.2617993878));
    assert_near(fabs(axes[0]), 1, 1e-9);
    assert_near(axes[1], 0, 1e-9);
    assert_orthonormal(axes);
    axes[0] = cos(2 * tilt), axes[1] = sin(2 * tilt); // 20 degrees: beyond the bound
    axes[3] = -sin(2 * tilt), axes[4] = cos(2 * tilt);
    assert_ok(context, cutis_parts_refine(&c.parts, CUTIS_REFINE_PAPER, 0.2617993878));
    assert_near(atan2(axes[1], axes[0]), 2 * tilt, 1e-9);
}

static void every_turn_of_random_chains_respects_the_bound(void **state)
{
    (void)state;
    static const cutis_skeleton_refine how[] = { CUTIS_REFINE_LOCAL, CUTIS_REFINE_HIERARCHY };
    for (uint64_t seed = 1; seed <= 60; seed++)
        for (int h = 0; h < 2; h++) {
            double from[3], to[3];
            for (int k = 0; k < 3; k++)
                from[k] = random_in(seed, (uint64_t)k, -2, 2),
                to[k] = random_in(seed, (uint64_t)k + 3, -2, 2);
            chain c;
            chain_make(&c, random_in(seed, 7, -1.5, 1.5), from, to);
            double before[9], product[9];
            memcpy(before, c.pieces[1].axes, sizeof before);
            assert_ok(context, cutis_parts_refine(&c.parts, how[h], 0.2));
            assert_orthonormal(c.pieces[1].axes);
            double33_transpose_multiply(before, c.pieces[1].axes, product);
            double trace = product[0] + product[4] + product[8];
            assert_true(acos(fmin(1, fmax(-1, (trace - 1) / 2))) <= 0.2 + 1e-7);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_visibility_kernel_of_a_cube_is_the_cube),
        cmocka_unit_test(an_l_prism_is_star_shaped_and_its_visibility_kernel_is_the_common_corner),
        cmocka_unit_test(a_u_prism_is_not_star_shaped),
        cmocka_unit_test(the_largest_ball_of_random_polytopes_touches_four_planes_and_crosses_none),
        cmocka_unit_test(hulls_have_the_volume_and_centroid_of_the_solid_they_come_from),
        cmocka_unit_test(covariance_does_not_see_the_tessellation_and_turns_with_the_box),
        cmocka_unit_test(grouping_equals_the_recursion_it_stands_for),
        cmocka_unit_test(close_joints_share_a_link_point_and_far_ones_do_not),
        cmocka_unit_test(a_box_tilted_by_ten_degrees_turns_onto_the_line_of_its_joints),
        cmocka_unit_test(the_papers_refinement_keeps_frames_and_a_turn_is_exact),
        cmocka_unit_test(in_the_papers_way_a_leaf_tilted_by_ten_degrees_turns_onto_its_joint),
        cmocka_unit_test(every_turn_of_random_chains_respects_the_bound),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
