/// The tests of docs/spec/blending.md 9 that ask for double: the kernel text itself
/// built in double, with the library's own centres and bone splits, against formulas written apart
/// from them (rig.h).
#define KERNEL_DOUBLE
#include "kernel/kernel.h"
#include "kernel/algebra.h"
#include "kernel/blend.h"

#include "rig.h"

#include "deform/skin.h"
#include "math/quat.h"

typedef struct bone {
    double m[12], q[4], e[4], s[6], o[3];
} bone;

typedef struct vertex {
    int n;
    bone b[REF_BONES];
    double w[REF_BONES], v[3], normal[3], p[3];
    const double *c0; ///< SBS: reference point in place of the mean origin
} vertex;

static const cutis_formula FORMULAS[] = { CUTIS_FORMULA_LBS, CUTIS_FORMULA_SBS,
                                          CUTIS_FORMULA_SBS_WEIGHTED, CUTIS_FORMULA_DQS,
                                          CUTIS_FORMULA_COR };
static const ref_method METHODS[] = { REF_LBS, REF_SBS, REF_SBS_WEIGHTED, REF_DQS, REF_COR };
#define FORMULA_COUNT 5

/// Sets the matrix and everything that follows from it.
static void bone_set(bone *b, const double *m)
{
    memcpy(b->m, m, sizeof b->m);
    assert_true(cutis_bone_split(m, NULL, b->q, b->s));
    double t[4] = { 0, m[3] / 2, m[7] / 2, m[11] / 2 };
    ref_hamilton(t, b->q, b->e);
}

static real3 real3_of(const double *v)
{
    return real3_make(v[0], v[1], v[2]);
}

static real3 centre_of(const vertex *x, cutis_formula formula, mat34 blended)
{
    if (formula == CUTIS_FORMULA_COR) return real3_of(x->p);
    if (formula == CUTIS_FORMULA_SBS_WEIGHTED) {
        real3 o = real3_zero();
        double most = 0;
        centre_sum sum = centre_zero();
        for (int i = 0; i < x->n; i++) {
            o = real3_blend(o, x->w[i], real3_of(x->b[i].o));
            most = x->w[i] > most ? x->w[i] : most;
        }
        for (int i = 0; i < x->n; i++) {
            mat34 m;
            MAT34_AT(m, x->b[i].m, 0);
            sum = centre_add(sum, x->w[i], m, blended, o);
        }
        return centre_solve(sum, blended, o, most, real3_of(x->v));
    }
    if (x->n == 1) return real3_of(x->v);
    double palette[12 * REF_BONES], c0[3] = { 0 }, centre[3];
    uint32_t bones[REF_BONES];
    for (int i = 0; i < x->n; i++) {
        memcpy(palette + 12 * i, x->b[i].m, sizeof x->b[i].m);
        bones[i] = (uint32_t)i;
        for (int c = 0; c < 3; c++) c0[c] += x->b[i].o[c] / x->n;
    }
    centre_of_set(palette, bones, (uint32_t)x->n, x->c0 ? x->c0 : c0, 1e6, centre);
    return real3_of(centre);
}

/// The kernel text's walk, as its head describes it. sigma is 1.
static void walk(cutis_formula formula, bool nonuniform, const vertex *x, double *out,
                 double *normal)
{
    mat34 blended = mat34_zero(), m;
    dual_turn turned = dual_turn_zero();
    largest most = largest_zero();
    sym33 stretch = sym33_zero(), s;
    real3 v = real3_of(x->v), n = real3_of(x->normal), to = real3_zero(), p;
    for (int i = 0; i < x->n; i++) {
        MAT34_AT(m, x->b[i].m, 0);
        blended = mat34_blend(blended, x->w[i], m);
    }
    if (formula == CUTIS_FORMULA_LBS) {
        p = finish_point(mat34_point(blended, v), K(1.0));
        shaded r = linear_normal_nonuniform(blended, n);
        n = nonuniform ? finish_unit(r.v, r.sign) : finish_unit(mat34_vector(blended, n), K(1.0));
    } else {
        real3 c = formula == CUTIS_FORMULA_DQS ? v : centre_of(x, formula, blended);
        for (int i = 0; i < x->n; i++) {
            dual_quat d;
            MAT34_AT(m, x->b[i].m, 0);
            QUAT_AT(d.q, x->b[i].q, 0);
            QUAT_AT(d.e, x->b[i].e, 0);
            SYM33_AT(s, x->b[i].s, 0);
            if (nonuniform && formula == CUTIS_FORMULA_DQS) d = dual_of_image(m, d.q, v);
            turned = dual_turn_add(turned, x->w[i], d);
            most = largest_add(most, x->w[i], d);
            to = real3_blend(to, x->w[i], mat34_point(m, c));
            stretch = sym33_blend(stretch, x->w[i], s);
        }
        if (formula == CUTIS_FORMULA_SBS_WEIGHTED) to = mat34_point(blended, c);
        dual_quat d = turn_settled(turned.sum, most);
        double f = quat_factor(d.q);
        mat33 q = quat_matrix(d.q, f);
        shaded r = turned_normal_nonuniform(q, stretch, n);
        if (formula == CUTIS_FORMULA_DQS)
            p = nonuniform ? dual_point_nonuniform(d, f) : dual_point(d, f, q, v);
        else
            p = nonuniform ? spherical_point_nonuniform(q, stretch, to, v, c)
                           : spherical_point(q, to, v, c);
        p = finish_point(p, K(1.0));
        n = nonuniform ? finish_unit(r.v, r.sign) : finish_unit(mat33_vector(q, n), K(1.0));
    }
    out[0] = p.x, out[1] = p.y, out[2] = p.z;
    if (normal) normal[0] = n.x, normal[1] = n.y, normal[2] = n.z;
}

static void reference(ref_method method, bool even, const vertex *x, double *out, double *normal)
{
    ref_vertex r = { .n = x->n, .even = even };
    for (int i = 0; i < x->n; i++) {
        memcpy(r.m[i], x->b[i].m, sizeof r.m[i]);
        memcpy(r.o[i], x->b[i].o, sizeof r.o[i]);
        r.w[i] = x->w[i];
    }
    memcpy(r.v, x->v, sizeof r.v);
    memcpy(r.normal, x->normal, sizeof r.normal);
    memcpy(r.p, x->p, sizeof r.p);
    ref_deform(method, &r, out, normal);
}

static double distance(const double *a, const double *b)
{
    return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) +
                (a[2] - b[2]) * (a[2] - b[2]));
}

static double length(const double *a)
{
    return distance(a, (double[]){ 0, 0, 0 });
}

// Random rigs
// ---------------------------------------------------------------------------------------

typedef struct dice {
    uint64_t seed, index;
} dice;

static double roll(dice *d, double low, double high)
{
    return random_in(d->seed, d->index++, low, high);
}

static void roll3(dice *d, double size, double *v)
{
    for (int i = 0; i < 3; i++) v[i] = roll(d, -size, size);
}

typedef enum scaling { RIGID, UNIFORM, NON_UNIFORM } scaling;

static void roll_matrix(dice *d, scaling kind, double angle, double *m)
{
    double axis[3], t[3], s[12] = { 0 };
    roll3(d, 1, axis);
    roll3(d, 2, t);
    ref_rotation(axis, roll(d, -angle, angle), t, m);
    double even = roll(d, 0.5, 2);
    for (int i = 0; i < 3; i++)
        s[5 * i] = kind == RIGID ? 1 : kind == UNIFORM ? even : roll(d, 0.5, 2);
    ref_compose(m, s, m);
}

/// Rotations within 80 degrees of each other's identity, so that sums of quaternions stay far from
/// cancelling.
static void roll_vertex(dice *d, scaling kind, vertex *x)
{
    double sum = 0, axis[3];
    *x = (vertex){ .n = 2 + (int)roll(d, 0, 5) };
    for (int i = 0; i < x->n; i++) {
        double m[12];
        roll_matrix(d, kind, 80 * PI / 180, m);
        bone_set(&x->b[i], m);
        roll3(d, 1, x->b[i].o);
        sum += x->w[i] = roll(d, 0.05, 1);
    }
    for (int i = 0; i < x->n; i++) x->w[i] /= sum;
    roll3(d, 1, x->v);
    roll3(d, 1, x->p);
    roll3(d, 1, axis);
    for (int i = 0; i < 3; i++) x->normal[i] = axis[i] / length(axis);
}

// The tests
// -----------------------------------------------------------------------------------------

static void the_kernel_text_equals_the_formulas_of_the_specification(void **state)
{
    (void)state;
    dice d = { 1, 0 };
    for (int k = 0; k < 2000; k++) {
        scaling kind = (scaling)(k % 3);
        vertex x;
        roll_vertex(&d, kind, &x);
        for (int f = 0; f < FORMULA_COUNT; f++) {
            double a[3], b[3], na[3], nb[3];
            walk(FORMULAS[f], kind != RIGID, &x, a, na);
            reference(METHODS[f], kind == RIGID, &x, b, nb);
            assert_near(distance(a, b), 0, 1e-9 * (1 + length(b)));
            assert_near(distance(na, nb), 0, 1e-11);
        }
    }
}

static void rest_pose_returns_the_input_for_every_method(void **state)
{
    (void)state;
    dice d = { 2, 0 };
    const double identity[12] = { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0 };
    for (int k = 0; k < 200; k++) {
        vertex x;
        roll_vertex(&d, RIGID, &x);
        for (int i = 0; i < x.n; i++) bone_set(&x.b[i], identity);
        for (int f = 0; f < FORMULA_COUNT; f++)
            for (int nonuniform = 0; nonuniform < 2; nonuniform++) {
                double out[3], normal[3];
                walk(FORMULAS[f], nonuniform, &x, out, normal);
                assert_near(distance(out, x.v), 0, 1e-13);
                assert_near(distance(normal, x.normal), 0, 1e-13);
            }
    }
}

/// out(G M) = G out(M); relative to the size of the result.
static void check_motion(const vertex *x, scaling kind, const double *g, double tolerance)
{
    vertex moved = *x;
    for (int i = 0; i < x->n; i++) {
        double m[12];
        ref_compose(g, x->b[i].m, m);
        bone_set(&moved.b[i], m);
    }
    double l[9];
    ref_linear(g, l);
    bool rigid = kind == RIGID && fabs(ref_determinant(l) - 1) < 1e-9;
    for (int f = 0; f < FORMULA_COUNT; f++) {
        double before[3], after[3], expected[3];
        walk(FORMULAS[f], kind != RIGID, x, before, NULL);
        walk(FORMULAS[f], !rigid, &moved, after, NULL);
        ref_apply(g, before, expected);
        assert_near(distance(after, expected), 0, tolerance * (1 + length(expected)));
    }
}

static void a_global_motion_moves_the_result_with_it(void **state)
{
    (void)state;
    dice d = { 3, 0 };
    for (int k = 0; k < 600; k++) {
        scaling kind = (scaling)(k % 3);
        vertex x;
        double g[12], similar[12];
        roll_vertex(&d, kind, &x);
        roll_matrix(&d, RIGID, PI, g);
        check_motion(&x, kind, g, 1e-12);
        for (int s = 0; s < 2; s++) { // a similarity: |out| scales too, so relative stays relative
            const double scale = s ? 100 : 0.01;
            double by[12] = { scale, 0, 0, 0, 0, scale, 0, 0, 0, 0, scale, 0 };
            ref_compose(g, by, similar);
            check_motion(&x, kind, similar, 1e-12);
        }
        double mirror[12] = { -1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0 };
        ref_compose(g, mirror, similar);
        check_motion(&x, kind, similar, 1e-12);
    }
}

static void moving_the_world_origin_by_100_boxes_changes_nothing(void **state)
{
    (void)state;
    dice d = { 4, 0 };
    for (int k = 0; k < 600; k++) {
        scaling kind = (scaling)(k % 3);
        vertex x, moved;
        double shift[3];
        roll_vertex(&d, kind, &x);
        roll3(&d, 200, shift);
        moved = x;
        double to[12] = { 1, 0, 0, shift[0], 0, 1, 0, shift[1], 0, 0, 1, shift[2] };
        double back[12] = { 1, 0, 0, -shift[0], 0, 1, 0, -shift[1], 0, 0, 1, -shift[2] };
        for (int i = 0; i < x.n; i++) {
            double m[12];
            ref_compose(x.b[i].m, back, m);
            ref_compose(to, m, m);
            bone_set(&moved.b[i], m);
            for (int c = 0; c < 3; c++) moved.b[i].o[c] += shift[c];
        }
        for (int c = 0; c < 3; c++) moved.v[c] += shift[c], moved.p[c] += shift[c];
        for (int f = 0; f < FORMULA_COUNT; f++) {
            double a[3], b[3];
            walk(FORMULAS[f], kind != RIGID, &x, a, NULL);
            walk(FORMULAS[f], kind != RIGID, &moved, b, NULL);
            for (int c = 0; c < 3; c++) a[c] += shift[c];
            assert_near(distance(a, b), 0, 1e-9);
        }
    }
}

static void equal_bones_move_the_vertex_by_their_matrix(void **state)
{
    (void)state;
    dice d = { 5, 0 };
    for (int k = 0; k < 600; k++) {
        scaling kind = (scaling)(k % 3);
        vertex x;
        double m[12], expected[3];
        roll_vertex(&d, kind, &x);
        roll_matrix(&d, kind, PI, m);
        for (int i = 0; i < x.n; i++) bone_set(&x.b[i], m);
        ref_apply(m, x.v, expected);
        for (int f = 0; f < FORMULA_COUNT; f++) {
            double out[3];
            walk(FORMULAS[f], kind != RIGID, &x, out, NULL);
            assert_near(distance(out, expected), 0, 1e-12 * (1 + length(expected)));
        }
    }
}

/// Two bones that turn about a common joint.
static void roll_joint(dice *d, double low, double high, vertex *x, double *joint, double *axis)
{
    double base[12], about[12], m[12];
    *x = (vertex){ .n = 2 };
    roll3(d, 1, joint);
    roll3(d, 1, axis);
    double scale = 1 / length(axis);
    for (int i = 0; i < 3; i++) axis[i] *= scale;
    roll_matrix(d, RIGID, PI, base);
    ref_turn_about(axis, roll(d, low, high), joint, about);
    bone_set(&x->b[0], base);
    ref_compose(base, about, m);
    bone_set(&x->b[1], m);
    for (int i = 0; i < 2; i++) roll3(d, 1, x->b[i].o);
    x->w[0] = roll(d, 0, 1), x->w[1] = 1 - x->w[0];
    roll3(d, 2, x->v);
}

static void sbs_equals_dqs_for_two_bones_that_share_a_joint(void **state)
{
    (void)state;
    dice d = { 6, 0 };
    for (int k = 0; k < 1000; k++) {
        vertex x;
        double joint[3], axis[3], sbs[3], dqs[3], centre[3], across[3], along = 0;
        roll_joint(&d, 0.01, 170 * PI / 180, &x, joint, axis);
        walk(CUTIS_FORMULA_SBS, false, &x, sbs, NULL);
        walk(CUTIS_FORMULA_DQS, false, &x, dqs, NULL);
        assert_near(distance(sbs, dqs), 0, 1e-12);
        real3 c = centre_of(&x, CUTIS_FORMULA_SBS, mat34_zero());
        centre[0] = c.x, centre[1] = c.y, centre[2] = c.z;
        for (int i = 0; i < 3; i++) along += (centre[i] - joint[i]) * axis[i];
        for (int i = 0; i < 3; i++) across[i] = centre[i] - joint[i] - along * axis[i];
        assert_near(length(across), 0, 1e-9);
    }
    for (int k = 0; k < 1000; k++) { // below the cut the centre stays at c0
        vertex x;
        double joint[3], axis[3], sbs[3], dqs[3], c0[3];
        roll_joint(&d, 1e-6, 0.99e-3, &x, joint, axis);
        walk(CUTIS_FORMULA_SBS, false, &x, sbs, NULL);
        walk(CUTIS_FORMULA_DQS, false, &x, dqs, NULL);
        for (int i = 0; i < 3; i++) c0[i] = (x.b[0].o[i] + x.b[1].o[i]) / 2;
        assert_near(distance(sbs, dqs), 0, 1e-6 * (distance(joint, c0) + 1e-3));
    }
}

static void equal_rotations_with_different_translations_give_lbs(void **state)
{
    (void)state;
    dice d = { 7, 0 };
    for (int k = 0; k < 500; k++) {
        vertex x;
        double m[12], sbs[3], lbs[3];
        roll_vertex(&d, RIGID, &x);
        roll_matrix(&d, RIGID, PI, m);
        for (int i = 0; i < x.n; i++) {
            double t[3];
            roll3(&d, 1, t);
            m[3] = t[0], m[7] = t[1], m[11] = t[2];
            bone_set(&x.b[i], m);
        }
        walk(CUTIS_FORMULA_SBS, false, &x, sbs, NULL);
        walk(CUTIS_FORMULA_LBS, false, &x, lbs, NULL);
        assert_near(distance(sbs, lbs), 0, 1e-12);
    }
}

static void coaxial_rotations_do_not_see_the_reference_move_along_the_axis(void **state)
{
    (void)state;
    dice d = { 8, 0 };
    for (int k = 0; k < 500; k++) {
        vertex x = { .n = 3 };
        double axis[3], at[3], c0[3], far[3], a[3], b[3];
        roll3(&d, 1, axis);
        roll3(&d, 1, c0);
        for (int i = 0; i < 3; i++) {
            double m[12];
            roll3(&d, 1, at); // parallel axes through different points
            ref_turn_about(axis, roll(&d, 0.3 * i, 0.3 * i + 0.25), at, m);
            bone_set(&x.b[i], m);
            x.w[i] = i == 2 ? 1 - x.w[0] - x.w[1] : roll(&d, 0.1, 0.4);
            far[i] = c0[i] + 10 * axis[i] / length(axis);
        }
        roll3(&d, 1, x.v);
        x.c0 = c0;
        walk(CUTIS_FORMULA_SBS, false, &x, a, NULL);
        x.c0 = far;
        walk(CUTIS_FORMULA_SBS, false, &x, b, NULL);
        assert_near(distance(a, b), 0, 1e-10);
    }
}

static void nothing_pops_when_the_angle_passes_the_cut(void **state)
{
    (void)state;
    dice d = { 9, 0 };
    for (int k = 0; k < 50; k++) {
        vertex x = { .n = 2 };
        double axis[3], joint[3], last[3] = { 0 }, last_angle = 0;
        roll3(&d, 1, axis);
        roll3(&d, 1, x.v);
        roll3(&d, 1, joint); // the reference point stands at distance 1 from the joint
        for (int i = 0; i < 3; i++) x.b[0].o[i] = x.b[1].o[i] = joint[i] * (1 + 1 / length(joint));
        x.w[0] = roll(&d, 0.2, 0.8), x.w[1] = 1 - x.w[0];
        for (int step = 0; step <= 200; step++) {
            double angle = pow(10, -2 - 3.0 * step / 200), m[12], out[3];
            ref_turn_about(axis, 0, joint, m);
            bone_set(&x.b[0], m);
            ref_turn_about(axis, angle, joint, m);
            bone_set(&x.b[1], m);
            walk(CUTIS_FORMULA_SBS, false, &x, out, NULL);
            if (step > 0)
                assert_true(distance(out, last) < 2 * (last_angle - angle) * distance(x.v, joint));
            memcpy(last, out, sizeof last);
            last_angle = angle;
        }
    }
}

static void the_closed_form_equals_the_pseudo_inverse_of_the_stacked_system(void **state)
{
    (void)state;
    dice d = { 10, 0 };
    int checked = 0;
    for (int k = 0; k < 1000; k++) {
        double m[REF_BONES][12], palette[12 * REF_BONES], c0[3], ours[3], theirs[3], smallest;
        uint32_t bones[REF_BONES];
        int n = 2 + k % 5;
        scaling kind = k % 2 ? RIGID : NON_UNIFORM;
        roll3(&d, 1, c0);
        for (int i = 0; i < n; i++) {
            roll_matrix(&d, kind, PI, m[i]);
            memcpy(palette + 12 * i, m[i], sizeof m[i]);
            bones[i] = (uint32_t)i;
        }
        centre_of_set(palette, bones, (uint32_t)n, c0, 1e6, ours);
        ref_centre(n, m, c0, theirs, &smallest);
        if (smallest <= 1e-4) continue;
        checked++;
        assert_near(distance(ours, theirs), 0, 1e-8 * (1 + length(theirs)));
    }
    assert_true(checked > 900);
}

static void the_normal_matrix_is_n_squared_of_identity_minus_the_squared_mean(void **state)
{
    (void)state;
    dice d = { 11, 0 };
    for (int k = 0; k < 1000; k++) {
        double palette[12 * REF_BONES], mean[9] = { 0 };
        uint32_t bones[REF_BONES];
        int n = 2 + k % 5;
        for (int i = 0; i < n; i++) {
            double l[9];
            roll_matrix(&d, RIGID, PI, palette + 12 * i);
            ref_linear(palette + 12 * i, l);
            for (int c = 0; c < 9; c++) mean[c] += l[c] / n;
            bones[i] = (uint32_t)i;
        }
        cutis_centre_systems e;
        cutis_cpu_variant variant;
        double centres[3 * CUTIS_CENTRE_LANES];
        set_group set;
        group_of_set(palette, bones, (uint32_t)n, (double[3]){ 0 }, 1e6, &set);
        assert_true(cutis_cpu_choose(CUTIS_ISA_AUTO, &variant));
        variant.bones->centres(&set.group, centres, &e);
        assert_near(e.square[0], 1, 1e-12);
        static const int ROW[6] = { 0, 0, 0, 1, 1, 2 }, COLUMN[6] = { 0, 1, 2, 1, 2, 2 };
        for (int k6 = 0; k6 < 6; k6++) {
            double square = 0;
            for (int r = 0; r < 3; r++) square += mean[3 * r + ROW[k6]] * mean[3 * r + COLUMN[k6]];
            assert_near(e.n[k6][0], n * n * ((ROW[k6] == COLUMN[k6]) - square), 1e-12);
        }
    }
}

static void a_centre_that_runs_away_is_held_by_the_limit(void **state)
{
    (void)state;
    double palette[24], axis[3] = { 0, 0, 1 }, centre[3], c0[3] = { 0, 0, 0 };
    ref_rotation(axis, 0, (double[]){ 0, 0, 0 }, palette);
    ref_rotation(axis, 2e-3, (double[]){ 1, 0, 0 },
                 palette + 12); // a stretch: the centre is 500 away
    uint32_t bones[2] = { 0, 1 };
    centre_of_set(palette, bones, 2, c0, 1e3, centre);
    assert_near(length(centre), 500, 1);
    centre_of_set(palette, bones, 2, c0, 100, centre);
    assert_true(length(centre) <= 100);
}

static void
twist_keeps_the_ring_radius_under_sbs_and_cor_and_shrinks_it_by_the_cosine_under_lbs(void **state)
{
    (void)state;
    for (int degrees = 0; degrees < 180; degrees += 5)
        for (int side = 0; side < 16; side++) {
            double a = 2 * PI * side / 16, m[12], out[3];
            vertex x = { .n = 2, .w = { 0.5, 0.5 }, .v = { cos(a), sin(a), 0 } };
            cylinder_bone(true, 0, m);
            bone_set(&x.b[0], m);
            cylinder_bone(true, degrees, m);
            bone_set(&x.b[1], m);
            walk(CUTIS_FORMULA_SBS, false, &x, out, NULL);
            assert_near(hypot(out[0], out[1]), 1, 1e-12);
            walk(CUTIS_FORMULA_LBS, false, &x, out, NULL);
            assert_near(hypot(out[0], out[1]), fabs(cos(degrees * PI / 360)), 1e-12);
            x.p[2] = 0.03; // CoR: any centre on the axis
            walk(CUTIS_FORMULA_COR, false, &x, out, NULL);
            assert_near(hypot(out[0], out[1]), 1, 1e-9);
        }
}

static void qlerp_turns_by_the_angle_of_its_formula(void **state)
{
    (void)state;
    dice d = { 12, 0 };
    for (int k = 0; k < 1000; k++) {
        double axis[3], base[12], m[12], theta = roll(&d, 0.01, 179 * PI / 180), w = roll(&d, 0, 1);
        vertex x = { .n = 2, .w = { 1 - w, w } };
        roll3(&d, 1, axis);
        ref_rotation(axis, 0, NULL, base);
        bone_set(&x.b[0], base);
        ref_rotation(axis, theta, NULL, m);
        bone_set(&x.b[1], m);
        roll3(&d, 1, x.v);
        double phi = 2 * atan2(w * sin(theta / 2), (1 - w) + w * cos(theta / 2)), out[3],
               expected[3];
        ref_rotation(axis, phi, NULL, m);
        ref_apply(m, x.v, expected);
        walk(CUTIS_FORMULA_DQS, false, &x, out, NULL);
        assert_near(distance(out, expected), 0, 1e-12);
        walk(CUTIS_FORMULA_SBS, false, &x, out, NULL);
        assert_near(distance(out, expected), 0, 1e-12);
    }
}

static void the_signs_of_the_quaternions_do_not_matter(void **state)
{
    (void)state;
    dice d = { 13, 0 };
    for (int k = 0; k < 500; k++) {
        vertex x, flipped;
        roll_vertex(&d, (scaling)(k % 3), &x);
        flipped = x;
        for (int i = 0; i < x.n; i++)
            for (int c = 0; c < 4 && (k >> i & 1); c++)
                flipped.b[i].q[c] *= -1, flipped.b[i].e[c] *= -1;
        for (int f = 0; f < FORMULA_COUNT; f++) {
            double a[3], b[3];
            walk(FORMULAS[f], k % 3 != 0, &x, a, NULL);
            walk(FORMULAS[f], k % 3 != 0, &flipped, b, NULL);
            assert_near(distance(a, b), 0, 1e-12);
        }
    }
}

static void a_cancelled_sum_of_rotations_follows_the_largest_weight(void **state)
{
    (void)state;
    // Quaternions 1, i, -i (half turns about x, the second by -180 degrees): with pivot 1 both
    // count as they are.
    vertex x = { .n = 3, .w = { 1e-8, 0.5, 0.5 - 1e-8 }, .v = { 0, 1, 0 } };
    const double identity[12] = { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0 };
    double m[12], out[3];
    bone_set(&x.b[0], identity);
    ref_rotation((double[]){ 1, 0, 0 }, PI, NULL, m);
    bone_set(&x.b[1], m);
    bone_set(&x.b[2], m);
    memcpy(x.b[1].q, (double[]){ 0, 1, 0, 0 }, sizeof x.b[1].q);
    memcpy(x.b[2].q, (double[]){ 0, -1, 0, 0 }, sizeof x.b[2].q);
    memset(x.b[1].e, 0, sizeof x.b[1].e);
    memset(x.b[2].e, 0, sizeof x.b[2].e);
    walk(CUTIS_FORMULA_DQS, false, &x, out, NULL);
    assert_near(distance(out, (double[]){ 0, -1, 0 }), 0, 1e-7);
}

// The reference body
// --------------------------------------------------------------------------------

static const struct {
    int degrees;
    double lbs_bend, lbs_twist, sbs_bend, sbs_twist, cor_bend;
} TABLE[] = {
    { 30, 0.99441, 0.98880, 1.00000, 0.99996, 0.99996 },
    { 60, 0.97916, 0.95828, 0.99998, 0.99992, 0.99938 },
    { 90, 0.95831, 0.91660, 0.99996, 0.99987, 0.99705 },
    { 120, 0.93747, 0.87494, 0.99993, 0.99982, 0.99132 },
    { 150, 0.92221, 0.84447, 0.99989, 0.99976, 0.98070 },
    { 180, 0.91663, 0.83333, 0.99984, 0.99969, 0.96452 },
};
#define TABLE_COUNT (sizeof TABLE / sizeof *TABLE)

static double posed_volume(const cylinder *c, cutis_formula formula, bool twist, double degrees)
{
    static double points[CYLINDER_VERTICES][3];
    vertex x = { .n = 2 }, one = { .n = 1, .w = { 1 } };
    double m[12];
    cylinder_bone(twist, 0, m);
    bone_set(&x.b[0], m);
    cylinder_bone(twist, degrees, m);
    bone_set(&x.b[1], m);
    for (uint32_t v = 0; v < CYLINDER_VERTICES; v++) {
        vertex *use = &x;
        x.w[0] = 1 - c->upper[v], x.w[1] = c->upper[v];
        if (x.w[0] == 0 || x.w[1] == 0) use = &one, one.b[0] = x.b[x.w[0] == 0];
        memcpy(use->v, c->points[v], sizeof use->v);
        memcpy(use->p, (double[]){ 0, 0, c->points[v][2] }, sizeof use->p);
        walk(formula, false, use, points[v], NULL);
    }
    return cylinder_volume(c, points);
}

static void the_reference_body_keeps_the_volumes_of_the_table(void **state)
{
    (void)state;
    static cylinder c;
    cylinder_make(&c);
    double rest = cylinder_volume(&c, c.points);
    const double tolerance = 2e-5; // the table has five digits, checked to 1e-5
    for (size_t i = 0; i < TABLE_COUNT; i++) {
        int a = TABLE[i].degrees;
        assert_near(posed_volume(&c, CUTIS_FORMULA_LBS, false, a) / rest, TABLE[i].lbs_bend,
                    tolerance);
        assert_near(posed_volume(&c, CUTIS_FORMULA_LBS, true, a) / rest, TABLE[i].lbs_twist,
                    tolerance);
        assert_near(posed_volume(&c, CUTIS_FORMULA_SBS, false, a) / rest, TABLE[i].sbs_bend,
                    tolerance);
        assert_near(posed_volume(&c, CUTIS_FORMULA_SBS, true, a) / rest, TABLE[i].sbs_twist,
                    tolerance);
        assert_near(posed_volume(&c, CUTIS_FORMULA_DQS, false, a) / rest, TABLE[i].sbs_bend,
                    tolerance);
        assert_near(posed_volume(&c, CUTIS_FORMULA_DQS, true, a) / rest, TABLE[i].sbs_twist,
                    tolerance);
        assert_near(posed_volume(&c, CUTIS_FORMULA_COR, false, a) / rest, TABLE[i].cor_bend,
                    tolerance);
    }
}

// SBS_WEIGHTED
// --------------------------------------------------------------------------------------

static void weighted_centres_approach_the_rigid_bone_as_its_weight_approaches_one(void **state)
{
    (void)state;
    dice d = { 14, 0 };
    for (int k = 0; k < 2000; k++) {
        vertex x = { .n = 2 + k % 2 };
        double parent[12] = { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0 }, out[3], rigid[3];
        double rest = pow(10, roll(&d, -12, -1));
        for (int i = 0; i < x.n; i++) { // a chain of bones of length 1 along x
            double axis[3], joint[3] = { i, 0, 0 }, about[12];
            roll3(&d, 1, axis);
            ref_turn_about(axis, roll(&d, -2, 2), joint, about);
            ref_compose(parent, about, parent);
            bone_set(&x.b[i], parent);
            memcpy(x.b[i].o, joint, sizeof joint);
            x.w[i] = rest / (x.n - 1);
        }
        int main_bone = (int)roll(&d, 0, x.n);
        x.w[main_bone] = 1 - rest;
        roll3(&d, 0.5, x.v);
        x.v[0] += main_bone;
        walk(CUTIS_FORMULA_SBS_WEIGHTED, false, &x, out, NULL);
        ref_apply(x.b[main_bone].m, x.v, rigid);
        assert_true(distance(out, rigid) <= 10 * rest + 1e-14);
    }
}

static void weighted_centres_stay_close_to_dqs_for_two_bones_that_share_a_joint(void **state)
{
    (void)state;
    dice d = { 15, 0 };
    for (int k = 0; k < 2000; k++) {
        vertex x;
        double joint[3], axis[3], ours[3], dqs[3], c0[3];
        roll_joint(&d, 1e-4, 170 * PI / 180, &x, joint, axis);
        for (int i = 0; i < 3; i++) c0[i] = x.w[0] * x.b[0].o[i] + x.w[1] * x.b[1].o[i];
        walk(CUTIS_FORMULA_SBS_WEIGHTED, false, &x, ours, NULL);
        walk(CUTIS_FORMULA_DQS, false, &x, dqs, NULL);
        assert_near(distance(ours, dqs), 0, 1e-4 * distance(joint, c0) + 1e-14);
    }
}

/// The vertex of a binding with its smallest weight set to `smallest` and the rest renormalised; 0
/// removes the bone.
static void skin_vertex_with(const cutis_binding *binding, uint32_t v, const bone *bones,
                             const float *positions, double smallest, vertex *x)
{
    const cutis_skin_layout *layout = &cutis_skin_of(binding)->layout;
    uint32_t first = layout->first[v], count = layout->first[v + 1] - first, least = first;
    double sum = 0;
    for (uint32_t i = first; i < first + count; i++)
        if (layout->weight[i] < layout->weight[least]) least = i;
    x->n = 0, x->c0 = NULL;
    for (uint32_t i = first; i < first + count; i++) {
        if (i == least && smallest == 0) continue;
        x->b[x->n] = bones[layout->bone[i]];
        sum += x->w[x->n++] = i == least ? smallest : layout->weight[i];
    }
    for (int i = 0; i < x->n; i++) x->w[i] /= sum;
    for (int c = 0; c < 3; c++) x->v[c] = positions[3 * v + c];
}

/// Over a model's first clip; least_jump in diagonals.
static void check_jumps(cutis_context *context, const char *name, const cutis_model *model,
                        double least_jump)
{
    cutis_device *device = NULL;
    cutis_binding *binding = NULL;
    cutis_sampler *sampler = NULL;
    assert_ok(context, cutis_device_create(context, NULL, &device));
    assert_ok(context, cutis_bind(device, model,
                                  &(cutis_bind_options){ .method = CUTIS_METHOD_SBS }, &binding));
    assert_ok(context, cutis_sampler_create(model, 0, &sampler));
    const cutis_skin_binding *skin = cutis_skin_of(binding);
    uint32_t nodes = cutis_model_get(model)->node_count, bones = skin->bone_count;
    uint32_t vertices = skin->layout.vertex_count;
    cutis_transform *pose = calloc(nodes, sizeof *pose);
    double *worlds = calloc(skin->step_count, 12 * sizeof *worlds);
    double *palette = calloc(bones, 12 * sizeof *palette);
    bone *parts = calloc(bones, sizeof *parts);
    float *positions = calloc(vertices, 3 * sizeof *positions);
    cutis_model_file_positions(model, positions);
    double low[3] = { 1e9, 1e9, 1e9 }, high[3] = { -1e9, -1e9, -1e9 }, worst[2] = { 0 };
    for (uint32_t i = 0; i < 3 * vertices; i++) {
        low[i % 3] = fmin(low[i % 3], positions[i]);
        high[i % 3] = fmax(high[i % 3], positions[i]);
    }
    for (int frame = 0; frame < 24; frame++) {
        cutis_sampler_sample(sampler, cutis_sampler_duration(sampler) * (float)frame / 24, pose,
                             NULL);
        cutis_palette_local(skin, pose, NULL, worlds, palette);
        for (uint32_t b = 0; b < bones; b++) {
            bone_set(&parts[b], palette + 12 * b);
            memcpy(parts[b].o, skin->origins + 3 * b, sizeof parts[b].o);
        }
        for (uint32_t v = 0; v < vertices; v++) {
            if (skin->layout.first[v + 1] - skin->layout.first[v] < 2) continue;
            for (int f = 0; f < 2; f++) {
                cutis_formula formula = f ? CUTIS_FORMULA_SBS_WEIGHTED : CUTIS_FORMULA_SBS;
                vertex x = { 0 };
                double with[3], without[3];
                skin_vertex_with(binding, v, parts, positions, 1e-9, &x);
                walk(formula, true, &x, with, NULL); // exact inverse binds are not exactly rigid
                skin_vertex_with(binding, v, parts, positions, 0, &x);
                walk(formula, true, &x, without, NULL);
                worst[f] = fmax(worst[f], distance(with, without) / distance(low, high));
            }
        }
    }
    print_message("%s: jump at a vanishing weight, diagonals: sbs %.3g, weighted %.3g\n", name,
                  worst[0], worst[1]);
    assert_true(worst[0] > least_jump);
    assert_true(worst[1] <= 1e-8);
    free(pose), free(worlds), free(palette), free(parts), free(positions);
    cutis_sampler_destroy(sampler);
    cutis_binding_destroy(binding);
    cutis_device_destroy(device);
}

static void a_vanishing_weight_makes_sbs_jump_and_weighted_centres_not(void **state)
{
    (void)state;
    static const char MAN[] = "gltf-sample-assets/CesiumMan/glTF-Binary/CesiumMan.glb";
    cutis_synth_options options = { .vertex_count = 1500 };
    cutis_context *context = NULL;
    cutis_model *model = NULL;
    assert_int_equal(cutis_context_create(NULL, &context), CUTIS_OK);
    assert_ok(context, cutis_synth_create(context, &options, &model));
    check_jumps(context, "biped", model, 5e-4);
    cutis_model_destroy(model);
    if (shared_is_there(MAN)) {
        assert_ok(context, cutis_model_read(context, shared_path(MAN), NULL, &model));
        check_jumps(context, "CesiumMan", model, 5e-3);
        cutis_model_destroy(model);
    }
    cutis_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_kernel_text_equals_the_formulas_of_the_specification),
        cmocka_unit_test(rest_pose_returns_the_input_for_every_method),
        cmocka_unit_test(a_global_motion_moves_the_result_with_it),
        cmocka_unit_test(moving_the_world_origin_by_100_boxes_changes_nothing),
        cmocka_unit_test(equal_bones_move_the_vertex_by_their_matrix),
        cmocka_unit_test(sbs_equals_dqs_for_two_bones_that_share_a_joint),
        cmocka_unit_test(equal_rotations_with_different_translations_give_lbs),
        cmocka_unit_test(coaxial_rotations_do_not_see_the_reference_move_along_the_axis),
        cmocka_unit_test(nothing_pops_when_the_angle_passes_the_cut),
        cmocka_unit_test(the_closed_form_equals_the_pseudo_inverse_of_the_stacked_system),
        cmocka_unit_test(the_normal_matrix_is_n_squared_of_identity_minus_the_squared_mean),
        cmocka_unit_test(a_centre_that_runs_away_is_held_by_the_limit),
        cmocka_unit_test(
            twist_keeps_the_ring_radius_under_sbs_and_cor_and_shrinks_it_by_the_cosine_under_lbs),
        cmocka_unit_test(qlerp_turns_by_the_angle_of_its_formula),
        cmocka_unit_test(the_signs_of_the_quaternions_do_not_matter),
        cmocka_unit_test(a_cancelled_sum_of_rotations_follows_the_largest_weight),
        cmocka_unit_test(the_reference_body_keeps_the_volumes_of_the_table),
        cmocka_unit_test(weighted_centres_approach_the_rigid_bone_as_its_weight_approaches_one),
        cmocka_unit_test(weighted_centres_stay_close_to_dqs_for_two_bones_that_share_a_joint),
        cmocka_unit_test(a_vanishing_weight_makes_sbs_jump_and_weighted_centres_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
