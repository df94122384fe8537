// What the weights promise (docs/spec/handles.md 9): partition of unity, interpolation, coverage,
// locality, intrinsic and not Euclidean, consistency, C2, symmetry, the profile between two
// handles, bending.
#include "handles_case.h"

static const double PI = 3.14159265358979323846;
static const cutis_weighting BOTH[2] = { CUTIS_WEIGHTING_FIELD, CUTIS_WEIGHTING_VIRTUAL };
static const double LOW[3] = { 0, 0, 0 }, HIGH[3] = { 1, 0.7, 0.6 };

static void basis_has_the_values_of_its_formula_and_is_c2(void **state)
{
    (void)state;
    assert_near(handles_basis(0), 1, 0);
    assert_near(handles_basis(0.5), 0.5, 1e-15);
    assert_near(handles_basis(0.8), 0.05792, 1e-12);
    assert_near(handles_basis(1), 0, 0);
    for (int end = 0; end < 2; end++) {
        // At 0 the function of |x| is even, beyond 1 it is 0: derivatives from both sides vanish.
        double h = 1e-4, at = end, f0 = handles_basis(at);
        double fm = handles_basis(fabs(at - h)), fp = handles_basis(at + h);
        assert_near((fp - fm) / (2 * h), 0, 1e-6);
        assert_near((fp - 2 * f0 + fm) / (h * h), 0, 1e-2); // O(h): third derivative 60
        h = 1e-6;
        assert_near((handles_basis(fabs(at - h)) - f0) / h, 0, 1e-6);
    }
}

static void box_with_points(fixture *f, cutis_weighting weighting, uint64_t seed, uint32_t count,
                            double gap_voxels, domain_case *d)
{
    double points[32][3];
    shape_case *s = new_shape();
    add_box(s, LOW, HIGH);
    count = random_points(seed, count, LOW, HIGH, gap_voxels / 64, points);
    solve_domain(f, s, 64, weighting, 0, count, (const double(*)[3])points,
                 (const double(*)[3])points, d);
    free(s);
}

static void weights_are_a_partition_of_unity(void **state)
{
    fixture *f = *state;
    for (int w = 0; w < 2; w++) {
        domain_case d;
        double least = INFINITY;
        box_with_points(f, BOTH[w], 5, 10, 8, &d);
        for (uint64_t i = 0; i < 50000; i++) {
            double p[3], weights[32], sum = 0;
            for (int c = 0; c < 3; c++) p[c] = random_in(9, 3 * i + (uint64_t)c, LOW[c], HIGH[c]);
            least = fmin(least, weights_at(&d, p, weights));
            for (uint32_t k = 0; k < d.solution.sites.site_count; k++) {
                assert_true(weights[k] >= 0);
                sum += weights[k];
            }
            assert_near(sum, 1, 1e-12);
        }
        assert_true(least > 0.006);
    }
}

static void handles_interpolate_exactly(void **state)
{
    fixture *f = *state;
    for (int w = 0; w < 2; w++)
        for (uint32_t count = 2; count <= 30; count += 14) {
            domain_case d;
            box_with_points(f, BOTH[w], count, count, w ? 8 : 6, &d);
            assert_near(d.report.interpolation_error_max, 0, 1e-12);
            double weights[32];
            for (uint32_t h = 0; h < d.solution.sites.site_count; h++) {
                weights_at(&d, d.solution.sites.sites[h].segments[0].a, weights);
                for (uint32_t k = 0; k < d.solution.sites.site_count; k++)
                    assert_near(weights[k], k == h, 1e-12);
            }
        }
}

static void handles_too_close_still_give_weights_and_a_small_error(void **state)
{
    fixture *f = *state;
    shape_case *s = new_shape();
    add_box(s, LOW, HIGH);
    for (int w = 0; w < 2; w++) {
        domain_case d;
        const double h = 1.0 / 64;
        const double points[3][3] = { { 0.4, 0.3, 0.3 },
                                      { 0.4 + 3 * h, 0.3, 0.3 },
                                      { 0.8, 0.5, 0.2 } };
        solve_domain(f, s, 64, BOTH[w], 0, 3, points, points, &d);
        assert_true(d.report.interpolation_error_max > 0 && d.report.interpolation_error_max < 0.3);
        assert_near(d.report.separation_min, 3 * h, 1e-9);
        if (w) assert_true(d.report.floored_handles >= 2);
        for (uint64_t i = 0; i < 5000; i++) {
            double p[3], weights[32];
            for (int c = 0; c < 3; c++) p[c] = random_in(9, 3 * i + (uint64_t)c, LOW[c], HIGH[c]);
            assert_true(weights_at(&d, p, weights) > 0.006);
            assert_near(weights[0] + weights[1] + weights[2], 1, 1e-12);
        }
    }
    free(s);
}

static void virtual_handles_cover_everything_in_few_rounds(void **state)
{
    fixture *f = *state;
    domain_case d;
    box_with_points(f, CUTIS_WEIGHTING_VIRTUAL, 3, 10, 8, &d);
    assert_true(d.report.coverage_max <= 0.8);
    assert_true(d.report.virtual_handles > 0 && d.report.virtual_handles < 400);
    assert_true(d.report.insertion_rounds <= 12);
}

// One at a time, where cover is worst (docs/spec/handles.md 3.2): what batches must be as good as.
static void insertion_one_by_one_covers_and_interpolates_like_batches(void **state)
{
    fixture *f = *state;
    for (uint64_t seed = 3; seed < 6; seed++) {
        domain_case d;
        box_with_points(f, CUTIS_WEIGHTING_VIRTUAL, seed, 10, 8, &d);
        cutis_handles_solution serial = d.solution;
        const uint32_t n = serial.grid.voxel_count, sites = serial.sites.site_count;
        uint32_t *label = cutis_arena_alloc(&f->arena, n, sizeof *label);
        memset(label, 0, n * sizeof *label); // one piece
        bool fits;
        assert_ok(f->context,
                  cutis_handles_virtual_solve(
                      &f->work, &f->arena, &serial.grid, &serial.sites, label, label,
                      &(cutis_handles_virtual_options){ .radius_floor = 1, .serial = true }, &fits,
                      &serial.virtual, &serial.field));
        assert_int_equal(serial.virtual.round_count, serial.virtual.virtual_count);
        assert_true(serial.virtual.coverage_max <= 0.8);
        assert_true(serial.virtual.virtual_count > 0 && serial.virtual.virtual_count < 400);
        assert_near((double)d.report.virtual_handles / serial.virtual.virtual_count, 1, 0.12);
        for (uint32_t h = 0; h < sites; h++) {
            double weights[32];
            cutis_handles_field_at(&serial.grid, &serial.field, serial.sites.sites[h].segments[0].a,
                                   true, weights);
            for (uint32_t k = 0; k < sites; k++) assert_near(weights[k], k == h, 1e-12);
        }
        for (uint64_t i = 0; i < 20000; i++) {
            double p[3], weights[32], sum = 0;
            for (int c = 0; c < 3; c++) p[c] = random_in(9, 3 * i + (uint64_t)c, LOW[c], HIGH[c]);
            assert_true(cutis_handles_field_at(&serial.grid, &serial.field, p, true, weights) >
                        0.006);
            for (uint32_t k = 0; k < sites; k++) {
                assert_true(weights[k] >= 0);
                sum += weights[k];
            }
            assert_near(sum, 1, 1e-12);
        }
    }
}

static void any_number_of_threads_gives_the_same_bits(void **state)
{
    fixture *f = *state;
    static const uint32_t threads[2] = { 1, 8 };
    for (int w = 0; w < 2; w++) {
        domain_case two, other;
        box_with_points(f, BOTH[w], 3, 10, 8, &two);
        for (int t = 0; t < 2; t++) {
            fixture with = *f;
            assert_ok(f->context,
                      cutis_device_create(f->context,
                                          &(cutis_device_options){ .thread_count = threads[t] },
                                          &with.device));
            cutis_handles_work_init(&with.work, with.device, with.device->context);
            box_with_points(&with, BOTH[w], 3, 10, 8, &other);
            assert_int_equal(two.report.virtual_handles, other.report.virtual_handles);
            assert_memory_equal(two.solution.field.values, other.solution.field.values,
                                sizeof(float) * two.solution.grid.voxel_count *
                                    two.solution.sites.site_count);
            cutis_handles_work_release(&with.work);
            cutis_device_destroy(with.device);
            f->arena = with.arena;
        }
    }
}

static void supports_are_local(void **state)
{
    // What real handle i holds itself is zero beyond its radius: F_i is phi(d_i / r_i). Read off
    // the virtual weighting's own radii; the distance is marched again here.
    fixture *f = *state;
    shape_case *s = new_shape();
    cutis_handles_grid grid;
    cutis_handles_sites sites;
    cutis_handles_front front;
    cutis_handles_virtual virtual;
    cutis_handles_field field;
    double points[10][3];
    add_box(s, LOW, HIGH);
    uint32_t count = random_points(11, 10, LOW, HIGH, 8.0 / 64, points);
    assert_ok(f->context, cutis_handles_grid_create(&f->arena, &f->work, &s->shape, 64, &grid));
    assert_true(cutis_handles_sites_init(&f->arena, count, &sites));
    for (uint32_t h = 0; h < count; h++)
        assert_non_null(cutis_handles_sites_add(&sites, &grid, points[h], points[h], false));
    assert_true(cutis_handles_sites_cores(&sites, &grid));
    assert_true(cutis_handles_front_init(&f->arena, &grid, &front));
    for (uint32_t h = 0; h < count; h++) cutis_handles_front_start(&front, &sites.sites[h], h);
    cutis_handles_front_finish(&front);
    const cutis_handles_virtual_options options = { .radius_floor = 1 };
    bool fits;
    assert_ok(f->context,
              cutis_handles_virtual_solve(&f->work, &f->arena, &grid, &sites, front.label,
                                          front.label, &options, &fits, &virtual, &field));
    // A point whose value is a site's alone, far from it, must come through virtual handles: shares
    // sum to one.
    for (uint32_t h = 0; h < virtual.virtual_count; h++) {
        double sum = 0;
        for (uint32_t k = 0; k < count; k++) {
            double share = virtual.share[h * count + k];
            assert_true(share >= 0 && share <= 1);
            sum += share;
        }
        assert_near(sum, 1, 1e-10);
    }
    // No support reaches another site's core, so radii are at most half the longest distance and
    // less than the way there.
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = 0; j < count; j++) {
            double straight =
                sqrt(pow(points[i][0] - points[j][0], 2) + pow(points[i][1] - points[j][1], 2) +
                     pow(points[i][2] - points[j][2], 2));
            if (i != j) assert_true(virtual.radius[i] < straight);
        }
    free(s);
}

// A U: two prongs along z, `side` voxels wide, with a gap of two voxels between their domains,
// joined at the bottom. The largest weight of the far handle in the first third of a prong.
static double far_prong(fixture *f, cutis_weighting weighting, double side, double *euclid)
{
    shape_case *s = new_shape();
    const double h = 1.0 / 64, e = side * h, next = e + 4 * h;
    add_box(s, (double[]){ 0, 0, 0 }, (double[]){ e, e, 1 });
    add_box(s, (double[]){ next, 0, 0 }, (double[]){ next + e, e, 1 });
    add_box(s, (double[]){ 0, 0, 0 }, (double[]){ next + e, e, e });
    const double tips[2][3] = { { e / 2, e / 2, 0.95 }, { next + e / 2, e / 2, 0.95 } };
    domain_case d;
    double weights[2], worst = 0;
    solve_domain(f, s, 64, weighting, 0, 2, tips, tips, &d);
    assert_int_equal(d.solution.grid.component_count, 1);
    weights_at(&d, tips[0], weights);
    assert_near(weights[1], 0, 0);
    *euclid = 0;
    for (uint64_t i = 0; i < 5000; i++) {
        double p[3] = { random_in(1, 3 * i, 0, e), random_in(1, 3 * i + 1, 0, e),
                        random_in(1, 3 * i + 2, 2.0 / 3, 1) };
        double square[2];
        weights_at(&d, p, weights);
        worst = fmax(worst, weights[1]);
        for (int k = 0; k < 2; k++)
            square[k] = 1 / (pow(p[0] - tips[k][0], 2) + pow(p[1] - tips[k][1], 2) +
                             pow(p[2] - tips[k][2], 2));
        *euclid = fmax(*euclid, square[1] / (square[0] + square[1]));
    }
    free(s);
    return worst;
}

static void weights_follow_the_shape_and_not_the_straight_line(void **state)
{
    for (int w = 0; w < 2; w++)
        for (int side = 8; side <= 16; side += 4) {
            double euclid, worst = far_prong(*state, BOTH[w], side, &euclid);
            if (!(worst < 0.05))
                fail_msg("%s, %d voxels: %g", cutis_weighting_name(BOTH[w]), side, worst);
            assert_true(euclid > 0.3);
        }
}

// Along a segment: the largest change of the second difference from one step to the next, relative
// to its largest value.
static double roughness(const domain_case *d, const double *a, const double *b, int steps,
                        uint32_t k)
{
    double w[512][32], worst = 0, most = 0, last = 0;
    for (int i = 0; i <= steps; i++) {
        double p[3];
        for (int c = 0; c < 3; c++) p[c] = a[c] + (b[c] - a[c]) * i / steps;
        if (cutis_handles_field_at(&d->solution.grid, &d->solution.field, p, false, w[i]) == 0)
            return -1;
    }
    for (int i = 1; i < steps; i++) {
        double second = w[i - 1][k] - 2 * w[i][k] + w[i + 1][k];
        if (i > 1) worst = fmax(worst, fabs(second - last));
        most = fmax(most, fabs(second));
        last = second;
    }
    return most > 1e-9 ? worst / most : -1;
}

static void second_derivatives_are_continuous(void **state)
{
    fixture *f = *state;
    const double h = 1.0 / 64;
    for (int w = 0; w < 2; w++) {
        domain_case d;
        double worst[3] = { 0 };
        int used = 0;
        box_with_points(f, BOTH[w], 5, 10, 8, &d);
        for (uint64_t i = 0; i < 100; i++) {
            double a[3], b[3], direction[3], length = 0;
            for (int c = 0; c < 3; c++) {
                a[c] = random_in(21, 6 * i + (uint64_t)c, LOW[c] + 0.1, HIGH[c] - 0.1);
                direction[c] = random_in(21, 6 * i + 3 + (uint64_t)c, -1, 1);
                length += direction[c] * direction[c];
            }
            // Four voxels: every segment crosses voxel borders, where a spline of lower order would
            // jump.
            for (int c = 0; c < 3; c++) b[c] = a[c] + 4 * h * direction[c] / sqrt(length);
            double r[3];
            for (int n = 0; n < 3; n++) r[n] = roughness(&d, a, b, 100 << n, (uint32_t)i % 10);
            if (r[0] < 0 || r[1] < 0 || r[2] < 0) continue;
            used++;
            for (int n = 0; n < 3; n++) worst[n] = fmax(worst[n], r[n]);
        }
        assert_true(used > 50);
        // A jump would stay as it is; continuous second derivatives halve.
        assert_true(worst[0] < 0.3 && worst[1] < 0.6 * worst[0] && worst[2] < 0.6 * worst[1]);
    }
}

static void mirrored_handles_give_mirrored_weights(void **state)
{
    fixture *f = *state;
    shape_case *s = new_shape();
    add_box(s, LOW, HIGH);
    double points[8][3];
    for (int i = 0; i < 4; i++) {
        const double half[4][3] = {
            { 0.1, 0.2, 0.1 }, { 0.3, 0.5, 0.3 }, { 0.2, 0.1, 0.5 }, { 0.4, 0.3, 0.2 }
        };
        memcpy(points[2 * i], half[i], sizeof half[i]);
        memcpy(points[2 * i + 1], half[i], sizeof half[i]);
        points[2 * i + 1][0] = 1 - points[2 * i][0];
    }
    for (int w = 0; w < 2; w++) {
        domain_case d;
        double worst = 0, square = 0;
        solve_domain(f, s, 48, BOTH[w], 1e-10, 8, (const double(*)[3])points,
                     (const double(*)[3])points, &d);
        for (uint64_t i = 0; i < 2000; i++) {
            double p[3], q[3], a[8], b[8];
            for (int c = 0; c < 3; c++)
                q[c] = p[c] = random_in(2, 3 * i + (uint64_t)c, LOW[c], HIGH[c]);
            q[0] = 1 - p[0];
            weights_at(&d, p, a);
            weights_at(&d, q, b);
            for (int k = 0; k < 8; k++) {
                assert_true(a[k] >= 0 && b[k] >= 0);
                worst = fmax(worst, fabs(a[k] - b[k ^ 1]));
                square += pow(a[k] - b[k ^ 1], 2);
            }
        }
        if (w == 0 && !(worst < 1e-6)) fail_msg("field: %g", worst);
        if (w == 1 && !(sqrt(square / 16000) < 0.05)) fail_msg("virtual: %g", sqrt(square / 16000));
    }
    free(s);
}

static void turned_shapes_give_turned_weights(void **state)
{
    // By 90 degrees about z voxels are permuted; by 30 degrees they are not, and weights change
    // little.
    fixture *f = *state;
    static const struct {
        double degrees, limit[2];
        bool largest;
    } TURNS[] = { { 90, { 1e-6, 1 }, true }, { 30, { 0.02, 0.05 }, false } };
    double points[6][3];
    uint32_t count = random_points(4, 6, LOW, HIGH, 0.15, points);
    for (int t = 0; t < 2; t++)
        for (int w = 0; w < 2; w++) {
            domain_case d[2];
            double turned[6][3], c = cos(TURNS[t].degrees * PI / 180),
                                 n = sin(TURNS[t].degrees * PI / 180);
            if (TURNS[t].degrees == 90) c = 0, n = 1;
            for (int side = 0; side < 2; side++) {
                shape_case *s = new_shape();
                add_box(s, LOW, HIGH);
                for (uint32_t v = 0; side && v < s->shape.vertex_count; v++) {
                    float x = s->positions[3 * v], y = s->positions[3 * v + 1];
                    s->positions[3 * v] = (float)(c * x - n * y),
                                     s->positions[3 * v + 1] = (float)(n * x + c * y);
                }
                for (uint32_t h = 0; h < count; h++) {
                    turned[h][0] = side ? c * points[h][0] - n * points[h][1] : points[h][0];
                    turned[h][1] = side ? n * points[h][0] + c * points[h][1] : points[h][1];
                    turned[h][2] = points[h][2];
                }
                solve_domain(f, s, 48, BOTH[w], 1e-10, count, (const double(*)[3])turned,
                             (const double(*)[3])turned, &d[side]);
                free(s);
            }
            double worst = 0, square = 0;
            for (uint64_t i = 0; i < 2000; i++) {
                double p[3], a[8], b[8];
                for (int k = 0; k < 3; k++)
                    p[k] = random_in(2, 3 * i + (uint64_t)k, LOW[k], HIGH[k]);
                double q[3] = { c * p[0] - n * p[1], n * p[0] + c * p[1], p[2] };
                weights_at(&d[0], p, a);
                weights_at(&d[1], q, b);
                for (uint32_t k = 0; k < count; k++) {
                    assert_true(a[k] >= 0 && b[k] >= 0);
                    worst = fmax(worst, fabs(a[k] - b[k]));
                    square += pow(a[k] - b[k], 2);
                }
            }
            double error = TURNS[t].largest ? worst : sqrt(square / (2000 * count));
            if (!(error <= TURNS[t].limit[w]))
                fail_msg("%g degrees, %s: %g", TURNS[t].degrees, cutis_weighting_name(BOTH[w]),
                         error);
        }
}

static void the_profile_between_two_points_is_monotone_and_does_not_depend_on_the_grid(void **state)
{
    fixture *f = *state;
    shape_case *s = new_shape();
    add_box(s, (double[]){ 0, 0, 0 }, (double[]){ 1, 0.5, 0.5 });
    const double points[2][3] = { { 0.2, 0.25, 0.25 }, { 0.8, 0.25, 0.25 } };
    double tenths[2][11];
    for (int run = 0; run < 3; run++) {
        domain_case d;
        cutis_weighting weighting = run == 2 ? CUTIS_WEIGHTING_VIRTUAL : CUTIS_WEIGHTING_FIELD;
        double last = 1, weights[2];
        solve_domain(f, s, run == 1 ? 128 : 64, weighting, 0, 2, points, points, &d);
        for (int i = 0; i <= 300; i++) {
            double p[3] = { 0.2 + 0.6 * i / 300, 0.25, 0.25 };
            weights_at(&d, p, weights);
            assert_true(weights[0] <= last + 1e-7);
            last = weights[0];
            if (i == 150) assert_near(weights[0], 0.5, run == 2 ? 0.05 : 1e-3);
            if (i % 30 == 0 && run < 2) tenths[run][i / 30] = weights[0];
        }
    }
    for (int i = 0; i <= 10; i++) assert_near(tenths[0][i], tenths[1][i], 0.03);
    assert_true(tenths[0][1] > 0.9); // no plateau next to the point
    free(s);
}

// Volume of the cylinder's closed surface after linear blending about the middle.
static double bent_volume(const domain_case *d, const shape_case *s, double degrees)
{
    double volume = 0, (*moved)[3] = malloc(s->shape.vertex_count * sizeof *moved);
    double c = cos(degrees * PI / 180), n = sin(degrees * PI / 180);
    for (uint32_t v = 0; v < s->shape.vertex_count; v++) {
        double p[3], w[2];
        for (int k = 0; k < 3; k++) p[k] = s->positions[3 * v + k];
        weights_at(d, p, w);
        double y = p[1], z = p[2] - 0.5;
        double q[3] = { p[0], c * y - n * z, n * y + c * z + 0.5 };
        for (int k = 0; k < 3; k++) moved[v][k] = w[0] * p[k] + w[1] * q[k];
    }
    for (uint32_t t = 0; t < s->shape.triangle_count; t++) {
        const double *a = moved[s->triangles[3 * t]], *b = moved[s->triangles[3 * t + 1]],
                     *e = moved[s->triangles[3 * t + 2]];
        volume += (a[0] * (b[1] * e[2] - b[2] * e[1]) + a[1] * (b[2] * e[0] - b[0] * e[2]) +
                   a[2] * (b[0] * e[1] - b[1] * e[0])) /
                  6;
    }
    free(moved);
    return volume;
}

static void a_bent_cylinder_is_smooth_round_and_keeps_its_volume(void **state)
{
    fixture *f = *state;
    for (int w = 0; w < 2; w++) {
        shape_case *s = new_shape();
        domain_case d;
        add_cylinder(s, 0.06, 1, 48, 100);
        // Bones of 0.5 that meet in the middle, a quarter of each trimmed there.
        const double a[2][3] = { { 0, 0, 0 }, { 0, 0, 0.625 } },
                     b[2][3] = { { 0, 0, 0.375 }, { 0, 0, 1 } };
        solve_domain(f, s, 128, BOTH[w], 0, 2, a, b, &d);
        assert_near(d.report.interpolation_error_max, 0, 1e-12);
        double weights[2], last = 0, spread = 0, line = 0;
        for (int i = 0; i <= 400; i++) {
            double axis[3] = { 0, 0, i / 400.0 }, low = 1, high = 0,
                   surface[3] = { 0.059, 0, i / 400.0 };
            weights_at(&d, axis, weights);
            assert_true(weights[1] >= last - 1e-7); // fields are floats
            last = weights[1];
            weights_at(&d, surface, weights);
            assert_true(weights[1] >= line - 0.002);
            line = weights[1];
            for (int k = 0; k < 24; k++) {
                double p[3] = { 0.059 * cos(k * PI / 12), 0.059 * sin(k * PI / 12), i / 400.0 };
                weights_at(&d, p, weights);
                low = fmin(low, weights[1]), high = fmax(high, weights[1]);
            }
            spread = fmax(spread, high - low);
        }
        if (!(spread < (w ? 0.35 : 0.02)))
            fail_msg("%s: spread %g", cutis_weighting_name(BOTH[w]), spread);
        double loss = 1 - bent_volume(&d, s, 60) / bent_volume(&d, s, 0);
        if (!(loss < 0.025)) fail_msg("%s: loses %g", cutis_weighting_name(BOTH[w]), loss);
        free(s);
    }
}

static void a_piece_without_a_handle_follows_the_nearest_one(void **state)
{
    fixture *f = *state;
    shape_case *s = new_shape();
    add_box(s, (double[]){ 0, 0, 0 }, (double[]){ 1, 0.3, 0.3 });
    add_box(s, (double[]){ 0.8, 0.4, 0 }, (double[]){ 1, 0.6, 0.3 });
    const double points[2][3] = { { 0.1, 0.15, 0.15 }, { 0.9, 0.15, 0.15 } };
    for (int w = 0; w < 2; w++) {
        domain_case d;
        double weights[2], p[3] = { 0.9, 0.5, 0.15 };
        solve_domain(f, s, 64, BOTH[w], 0, 2, points, points, &d);
        assert_int_equal(d.report.components, 2);
        assert_int_equal(d.report.orphan_components, 1);
        weights_at(&d, p, weights);
        assert_near(weights[1], 1, 0);
    }
    free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        claim(basis_has_the_values_of_its_formula_and_is_c2),
        claim(weights_are_a_partition_of_unity),
        claim(handles_interpolate_exactly),
        claim(handles_too_close_still_give_weights_and_a_small_error),
        claim(virtual_handles_cover_everything_in_few_rounds),
        claim(insertion_one_by_one_covers_and_interpolates_like_batches),
        claim(any_number_of_threads_gives_the_same_bits),
        claim(supports_are_local),
        claim(weights_follow_the_shape_and_not_the_straight_line),
        claim(second_derivatives_are_continuous),
        claim(mirrored_handles_give_mirrored_weights),
        claim(turned_shapes_give_turned_weights),
        claim(the_profile_between_two_points_is_monotone_and_does_not_depend_on_the_grid),
        claim(a_bent_cylinder_is_smooth_round_and_keeps_its_volume),
        claim(a_piece_without_a_handle_follows_the_nearest_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
