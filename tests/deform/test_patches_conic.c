/// The curve of the rear rungs and the closed forms that stand for it (kernel/patches_conic.h,
/// patches_keep.h) are held together: the share of the triangle is the integral of the curve, the
/// table of weights is its inverse, mixes are points of the curve, and the sums over the rear
/// strips are the volume of the triangles that come out.
#include "patches_memory.h"

#include "kernel/patches_keep.h"

// The area between the chord (-1, 0) (1, 0) and the curve with control point (0, 1), of the
// triangle's 1: the integral of y dx over the points that the curve's own function gives.
static double integrated_share(double w)
{
    enum { STEPS = 16384 };
    const pvec p = pvec_make(-1, 0, 0), k = pvec_make(0, 1, 0), c = pvec_make(1, 0, 0);
    double area = 0.0;
    pvec last = p;
    for (int i = 1; i <= STEPS; i++) { // trapezoids
        const pvec at = patch_conic(p, k, c, w, i / (double)STEPS);
        area += 0.5 * (at.y + last.y) * (at.x - last.x);
        last = at;
    }
    return area;
}

static void the_closed_form_is_the_integral_of_the_curve(void **state)
{
    (void)state;
    double worst = 0.0;
    for (double w = 0.01; w < 60.0; w *= 1.07) {
        worst = fmax(worst, fabs(patch_conic_share(w) - integrated_share(w)));
        assert_near(patch_conic_share(w), integrated_share(w), 1e-7);
    }
    for (double w = 1.0 - 2e-4; w < 1.0 + 2.1e-4; w += 2e-5) // where the forms meet
        assert_near(patch_conic_share(w), integrated_share(w), 1e-7);
    assert_near(patch_conic_share(1.0), 2.0 / 3.0, 1e-15);                    // a parabola
    assert_near(patch_conic_share(sqrt(0.5)), (M_PI / 4 - 0.5) / 0.5, 1e-12); // a quarter circle
    print_message("closed form and integral: %.1e apart at most\n", worst);
}

static void mixes_are_points_of_the_curve(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 2000; i++) {
        const double w = exp(random_in(3, 2 * i, -3, 3)), t = random_in(3, 2 * i + 1, 0, 1);
        const patch_mix m = patch_mix_at(w, t);
        assert_near(m.p + m.k + m.c, 1.0, 1e-14);
        // The conic of weight w in barycentric coordinates: k^2 = 4 w^2 p c.
        assert_near(m.k * m.k, 4.0 * w * w * m.p * m.c, 1e-13);
    }
}

static void the_table_of_weights_is_the_inverse_of_the_share(void **state)
{
    (void)state;
    patch_run r = patch_run_open(context, device, make_body(CUTIS_BODY_QUADRUPED, true),
                                 CUTIS_PATCH_CUT, CUTIS_PATCH_FILL_KEEP);
    const patches_binding *binding = patches_of(r.patches);
    const patch_work w =
        patch_work_of((const char *)(uintptr_t)binding->body->handle, NULL, &binding->arguments, 0);
    const double *table = body_conic_weight(w);
    for (int i = 1; i < PATCH_CONIC_STEPS; i++) {
        assert_true(table[i] > table[i - 1]);
        if (table[i] > 1e-3 && table[i] < 1e3)
            assert_near(patch_conic_share(table[i]), i / (double)PATCH_CONIC_STEPS, 1e-9);
    }
    patch_run_close(&r);
}

// Six times the volume over the joint's centre: of the triangles that came out.
static double volume_out(const patch_run *r, uint32_t joint, const cutis_mat34 *parent)
{
    const cutis_patches_joint j = cutis_patches_joint_at(r->patches, joint);
    double sum = 0.0, from[3];
    for (int k = 0; k < 3; k++)
        from[k] = parent->m[4 * k] * j.centre[0] + parent->m[4 * k + 1] * j.centre[1] +
                  parent->m[4 * k + 2] * j.centre[2] + parent->m[4 * k + 3];
    for (uint32_t t = 0; t < r->counts[1]; t++) {
        pvec x[3];
        if (r->labels[t] != r->info.part_count + joint) continue;
        for (int k = 0; k < 3; k++) {
            const float *at = r->positions + 3 * (size_t)r->indices[3 * t + k];
            x[k] = pvec_make(at[0] - from[0], at[1] - from[1], at[2] - from[2]);
        }
        sum += pvec_det(x[0], x[1], x[2]);
    }
    return sum;
}

// And by the closed form, from what the solving step left.
static double volume_closed(const patch_run *r, uint32_t joint, double *rear)
{
    const patches_binding *binding = patches_of(r->patches);
    const patch_work w = patch_work_of((const char *)(uintptr_t)binding->body->handle,
                                       (char *)(uintptr_t)patch_workspace_of(r)->work->handle,
                                       &binding->arguments, 0);
    const patch_joint *j = work_joint(w) + joint;
    patch_keeping keep = { .c = patch_case_of(w, (int)joint), .rungs = j->rungs, .flat = j->flat };
    double sum = 0.0;
    for (int i = 0; i < keep.rungs; i++) {
        const int *kinds = work_rung_kind(w) + keep.c.rung;
        if (kinds[i] == PATCH_RUNG_REAR) keep.count = work_rung_count(w)[keep.c.rung + i];
    }
    *rear = patch_rear_now(w, keep);
    for (int i = 0; i < keep.rungs; i++) {
        const int *kinds = work_rung_kind(w) + keep.c.rung;
        if (!patch_is_summed(kinds[i], kinds[i + 1 == keep.rungs ? 0 : i + 1]))
            sum += patch_loose_volume(w, work_sums(w)[joint].mix, keep, i);
    }
    return *rear + sum;
}

static void the_sums_over_rear_strips_are_the_volume_of_what_comes_out(void **state)
{
    (void)state;
    uint32_t joints = 0;
    double worst = 0.0;
    patch_run r = patch_run_open(context, device, make_body(CUTIS_BODY_QUADRUPED, true),
                                 CUTIS_PATCH_CUT, CUTIS_PATCH_FILL_KEEP);
    cutis_mat34 *palette = calloc(r.info.part_count, sizeof *palette);
    patch_run_separate(&r);
    for (int angle = 20; angle <= 100; angle += 20) {
        patch_pose_rest(&r);
        for (uint32_t j = 0; j < r.info.joint_count; j++)
            patch_pose_joint(&r, j, random_in(9, j, 0, 6.28), angle * DEGREES, 0.2);
        patch_run_now(&r);
        cutis_binding_palette(r.patches, r.pose, palette);
        for (uint32_t j = 0; j < r.info.joint_count; j++) {
            const cutis_patches_joint joint = cutis_patches_joint_at(r.patches, j);
            double rear, size = joint.parent_volume + joint.child_volume;
            const double closed = volume_closed(&r, j, &rear);
            const double out = volume_out(&r, j, &palette[joint.parent]);
            if (rear == 0.0) continue;
            worst = fmax(worst, fabs(closed - out) / size);
            assert_near(closed / size, out / size, 1e-5); // frames are floats
            joints++;
        }
    }
    print_message("%u joints: closed form and triangles %.1e of the parts' volume apart\n", joints,
                  worst);
    assert_true(joints > 30);
    free(palette);
    patch_run_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_closed_form_is_the_integral_of_the_curve),
        cmocka_unit_test(mixes_are_points_of_the_curve),
        cmocka_unit_test(the_table_of_weights_is_the_inverse_of_the_share),
        cmocka_unit_test(the_sums_over_rear_strips_are_the_volume_of_what_comes_out),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
