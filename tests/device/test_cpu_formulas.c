/// The scalar reference computes the formulas of docs/spec/blending.md: against plain double code
/// written from them here, sharing nothing with the kernel text.
#include "support.h"

#include "device/cpu/cpu.h"
#include "skin_case.h"
#include "skin_run.h"

// Inputs are floats; the error is that of float arithmetic on values of size about 3, at most some
// ten roundings.
#define TOLERANCE 4e-6

typedef struct double_vertex {
    double p[3], n[3], t[4];
} double_vertex;

static void mul(const double *m, int columns, const double v[3], double out[3])
{
    double r[3];
    for (int i = 0; i < 3; i++)
        r[i] = m[columns * i] * v[0] + m[columns * i + 1] * v[1] + m[columns * i + 2] * v[2] +
               (columns == 4 ? m[4 * i + 3] : 0);
    memcpy(out, r, sizeof r);
}

static double determinant(const double m[9])
{
    return m[0] * (m[4] * m[8] - m[5] * m[7]) - m[1] * (m[3] * m[8] - m[5] * m[6]) +
           m[2] * (m[3] * m[7] - m[4] * m[6]);
}

static void cofactor(const double m[9], double c[9])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const int a = (i + 1) % 3, b = (i + 2) % 3, p = (j + 1) % 3, q = (j + 2) % 3;
            c[3 * i + j] = m[3 * a + p] * m[3 * b + q] - m[3 * a + q] * m[3 * b + p];
        }
}

static void unit(double v[3], double sign)
{
    const double length = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    for (int i = 0; i < 3; i++) v[i] *= length > 0 ? sign / length : 0;
}

// a b
static void hamilton(const double a[4], const double b[4], double out[4])
{
    const double r[4] = { a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
                          a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
                          a[0] * b[2] + a[2] * b[0] + a[3] * b[1] - a[1] * b[3],
                          a[0] * b[3] + a[3] * b[0] + a[1] * b[2] - a[2] * b[1] };
    memcpy(out, r, sizeof r);
}

/// Everything the formulas need of one vertex and frame, in double.
typedef struct problem {
    const skin_case *c;
    uint32_t instance, vertex, count;
    double w[64], m[64][12], q[64][4], e[64][4], s[64][9], o[64][3];
    double v[3], n[3], t[4], scale;
    bool nonuniform;
} problem;

static void problem_make(problem *p, const skin_case *c, uint32_t instance, uint32_t vertex)
{
    const cutis_skin_layout *l = &c->layout;
    const cutis_skin_frames *f = &c->frames;
    const uint32_t first = l->first[vertex];
    memset(p, 0, sizeof *p);
    p->c = c, p->instance = instance, p->vertex = vertex;
    p->count = l->first[vertex + 1] - first;
    p->nonuniform = f->nonuniform[instance];
    p->scale = f->scales[instance];
    for (uint32_t i = 0; i < p->count; i++) {
        const size_t local = l->bone[first + i], b = (size_t)instance * l->bone_count + local;
        const float *s = f->stretches + 6 * b;
        const double full[9] = { s[0], s[1], s[2], s[1], s[3], s[4], s[2], s[4], s[5] };
        p->w[i] = l->weight[first + i];
        for (int k = 0; k < 12; k++) p->m[i][k] = f->matrices[12 * b + k];
        for (int k = 0; k < 4; k++) p->q[i][k] = f->rotations[4 * b + k];
        for (int k = 0; k < 4; k++) p->e[i][k] = f->duals[4 * b + k];
        memcpy(p->s[i], full, sizeof full);
        for (int k = 0; k < 3 && l->origins; k++) p->o[i][k] = l->origins[3 * local + k];
    }
    for (int k = 0; k < 3; k++) p->v[k] = c->rest[3 * vertex + k];
    for (int k = 0; k < 3 && c->rest_normal; k++) p->n[k] = c->rest_normal[3 * vertex + k];
    for (int k = 0; k < 4 && c->rest_tangent; k++) p->t[k] = c->rest_tangent[4 * vertex + k];
    for (uint32_t t = 0; t < l->target_count; t++) {
        const float *d = c->delta + ((size_t)t * l->vertex_count + vertex) * 9;
        const double w = f->targets[(size_t)instance * l->target_count + t];
        for (int k = 0; k < 3; k++) {
            p->v[k] += w * d[k];
            p->n[k] += w * d[3 + k];
            p->t[k] += w * d[6 + k];
        }
    }
}

/// Section 3.2: the first bone is the pivot.
static double turn(const problem *p, double signs[64], double q[4])
{
    double sum[4] = { 0, 0, 0, 0 }, square = 0;
    for (uint32_t i = 0; i < p->count; i++) {
        double dot = 0;
        for (int k = 0; k < 4; k++) dot += p->q[0][k] * p->q[i][k];
        signs[i] = dot < 0 ? -1 : 1;
        for (int k = 0; k < 4; k++) sum[k] += p->w[i] * signs[i] * p->q[i][k];
    }
    for (int k = 0; k < 4; k++) square += sum[k] * sum[k];
    for (int k = 0; k < 4; k++) q[k] = sum[k] / sqrt(square);
    return sqrt(square);
}

static void solve3(double a[9], double b[3])
{
    const double d = determinant(a);
    double x[3];
    for (int k = 0; k < 3; k++) {
        double m[9];
        memcpy(m, a, sizeof m);
        for (int i = 0; i < 3; i++) m[3 * i + k] = b[i];
        x[k] = determinant(m) / d;
    }
    memcpy(b, x, sizeof x);
}

/// Section 7, SBS_WEIGHTED, as printed.
static void weighted_centre(const problem *p, double c[3])
{
    double mean[12] = { 0 }, c0[3] = { 0 }, n[9] = { 0 }, g[3] = { 0 }, square = 0;
    for (uint32_t i = 0; i < p->count; i++) {
        for (int k = 0; k < 12; k++) mean[k] += p->w[i] * p->m[i][k];
        for (int k = 0; k < 3; k++) c0[k] += p->w[i] * p->o[i][k];
        for (int r = 0; r < 3; r++)
            for (int k = 0; k < 3; k++)
                square += p->w[i] * p->m[i][4 * r + k] * p->m[i][4 * r + k] / 3;
    }
    for (uint32_t i = 0; i < p->count; i++)
        for (int a = 0; a < 3; a++)
            for (int r = 0; r < 3; r++) {
                const double d = p->m[i][4 * r + a] - mean[4 * r + a];
                g[a] -= p->w[i] * d * (p->m[i][4 * r + 3] - mean[4 * r + 3]);
                for (int b = 0; b < 3; b++)
                    n[3 * a + b] += p->w[i] * d * (p->m[i][4 * r + b] - mean[4 * r + b]);
            }
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++) g[a] -= n[3 * a + b] * c0[b];
    for (int a = 0; a < 3; a++) n[4 * a] += 1e-4 * square;
    solve3(n, g);
    for (int k = 0; k < 3; k++) c[k] = c0[k] + g[k];
}

static void centre_of(const problem *p, double centre[3])
{
    const skin_case *c = p->c;
    if (p->count == 1) {
        memcpy(centre, p->v, 3 * sizeof *centre);
    } else if (c->options.formula == CUTIS_FORMULA_COR) {
        for (int k = 0; k < 3; k++) centre[k] = c->centre[3 * p->vertex + k];
    } else if (c->options.formula == CUTIS_FORMULA_SBS) {
        const size_t set = (size_t)p->instance * c->layout.set_count + c->set[p->vertex];
        for (int k = 0; k < 3; k++) centre[k] = c->frames.centres[4 * set + k];
    } else {
        weighted_centre(p, centre);
    }
}

static void dual_point(const problem *p, const double signs[64], const double q[4], double length,
                       double out[3])
{
    double be[4] = { 0 }, r[4];
    for (uint32_t i = 0; i < p->count; i++) {
        double e[4], x[4] = { 0 };
        memcpy(e, p->e[i], sizeof e);
        if (p->nonuniform) {
            mul(p->m[i], 4, p->v, x + 1);
            hamilton(x, p->q[i], e);
            for (int k = 0; k < 4; k++) e[k] *= 0.5;
        }
        for (int k = 0; k < 4; k++) be[k] += p->w[i] * signs[i] * e[k] / length;
    }
    const double conjugate[4] = { q[0], -q[1], -q[2], -q[3] };
    hamilton(be, conjugate, r); // half the translation
    double turned[3] = { 0, 0, 0 }, m[9];
    case_rotation(q, m);
    if (!p->nonuniform) mul(m, 3, p->v, turned);
    for (int k = 0; k < 3; k++) out[k] = turned[k] + 2 * r[1 + k];
}

static double_vertex linear(const problem *p)
{
    double b[12] = { 0 }, l[9], c[9], sign = p->scale < 0 ? -1 : 1;
    double_vertex out;
    for (uint32_t i = 0; i < p->count; i++)
        for (int k = 0; k < 12; k++) b[k] += p->w[i] * p->m[i][k];
    for (int k = 0; k < 9; k++) c[k] = l[k] = b[k / 3 * 4 + k % 3];
    double tangent_sign = sign;
    if (p->nonuniform) {
        cofactor(l, c);
        sign = determinant(l) < 0 ? -1 : 1;
        tangent_sign = 1;
    }
    mul(b, 4, p->v, out.p);
    mul(c, 3, p->n, out.n);
    mul(l, 3, p->t, out.t);
    for (int k = 0; k < 3; k++) out.n[k] *= sign, out.t[k] *= tangent_sign;
    out.t[3] = p->t[3] * sign;
    return out;
}

static double_vertex turned(const problem *p)
{
    double signs[64], q[4], r[9], s[9] = { 0 }, c[9], centre[3] = { 0 }, x[3], to[3] = { 0 };
    double sign = p->scale < 0 ? -1 : 1, tangent_sign = sign;
    const double length = turn(p, signs, q);
    double_vertex out;
    case_rotation(q, r);
    for (int k = 0; k < 9; k++) c[k] = s[k] = k % 4 == 0;
    if (p->nonuniform) {
        memset(s, 0, sizeof s);
        for (uint32_t i = 0; i < p->count; i++)
            for (int k = 0; k < 9; k++) s[k] += p->w[i] * p->s[i][k];
        cofactor(s, c);
        sign = determinant(s) < 0 ? -1 : 1;
        tangent_sign = 1;
    }
    if (p->c->options.formula == CUTIS_FORMULA_DQS) {
        dual_point(p, signs, q, length, out.p);
    } else {
        centre_of(p, centre);
        for (uint32_t i = 0; i < p->count; i++) {
            mul(p->m[i], 4, centre, x);
            for (int k = 0; k < 3; k++) to[k] += p->w[i] * x[k];
        }
        for (int k = 0; k < 3; k++) x[k] = p->v[k] - centre[k];
        mul(s, 3, x, x);
        mul(r, 3, x, out.p);
        for (int k = 0; k < 3; k++) out.p[k] += to[k];
    }
    mul(c, 3, p->n, x);
    mul(r, 3, x, out.n);
    mul(s, 3, p->t, x);
    mul(r, 3, x, out.t);
    for (int k = 0; k < 3; k++) out.n[k] *= sign, out.t[k] *= tangent_sign;
    out.t[3] = p->t[3] * sign;
    return out;
}

static double_vertex expected(const problem *p)
{
    const skin_options *o = &p->c->options;
    const double_vertex l = linear(p);
    double_vertex r = o->formula == CUTIS_FORMULA_LBS ? l : turned(p);
    if (o->blend)
        for (int k = 0; k < 3; k++) {
            const double f = p->c->blend[p->vertex];
            r.p[k] = (1 - f) * l.p[k] + f * r.p[k];
            r.n[k] = (1 - f) * l.n[k] + f * r.n[k];
            r.t[k] = (1 - f) * l.t[k] + f * r.t[k];
        }
    if (o->linear_normals) memcpy(r.n, l.n, sizeof r.n);
    for (int k = 0; k < 3; k++) r.p[k] *= p->scale;
    if (o->normal_rule != CUTIS_NORMAL_RAW) {
        unit(r.n, 1);
        unit(r.t, 1);
    }
    return r;
}

static double length_of(const double v[3])
{
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

// Largest error of a vertex, in units of the tolerance: `weak` says how much a direction amplifies
// rounding.
static void check_vector(const char *what, const problem *p, const float *got, const double *want,
                         double size)
{
    for (int k = 0; k < 3; k++)
        if (!(fabs(got[k] - want[k]) <= TOLERANCE * size))
            fail_msg(
                "formula %d, instance %u%s, vertex %u of %u bones: %s[%d] = %.9g, expected %.9g",
                (int)p->c->options.formula, p->instance, p->nonuniform ? " (nonuniform)" : "",
                p->vertex, p->count, what, k, got[k], want[k]);
}

static void check_options(cutis_context *context, const skin_options *options)
{
    skin_case c;
    skin_case_make(&c, options);
    const uint32_t n = options->vertex_count, instances = options->instance_count;
    float *positions = malloc(12ull * n * instances), *normals = malloc(12ull * n * instances);
    float *tangents = malloc(16ull * n * instances);
    cutis_bounds *bounds = malloc(instances * sizeof *bounds);
    cutis_device *device = NULL;
    cutis_device_skin *skin = NULL;
    assert_ok(context,
              cutis_cpu_device_create(
                  context, &(cutis_device_options){ .isa = CUTIS_ISA_SCALAR, .thread_count = 1 },
                  &device));
    assert_ok(context, device->operations->skin_create(device, &c.layout, &skin));
    const skin_streams outputs = {
        .positions = { positions, NULL, 0, 12, 12ull * n },
        .normals = { c.layout.normals ? normals : NULL, NULL, 0, 12, 12ull * n },
        .tangents = { c.layout.tangents ? tangents : NULL, NULL, 0, 16, 16ull * n },
        .bounds = bounds,
    };
    assert_ok(context, skin_run(skin, &c.layout, &c.frames, &outputs));
    problem *p = malloc(sizeof *p);
    for (uint32_t i = 0; i < instances; i++) {
        cutis_bounds box = { { INFINITY, INFINITY, INFINITY },
                             { -INFINITY, -INFINITY, -INFINITY } };
        for (uint32_t v = 0; v < n; v++) {
            const size_t at = (size_t)i * n + v;
            const float *got = positions + 3 * at;
            problem_make(p, &c, i, v);
            double_vertex want = expected(p);
            double signs[64], q[4];
            // A short sum of quaternions, and the centre solve, amplify what rounding does to their
            // terms.
            double weak = options->formula == CUTIS_FORMULA_LBS ? 1 : 1 / turn(p, signs, q);
            if (options->formula == CUTIS_FORMULA_SBS_WEIGHTED) weak *= p->nonuniform ? 250 : 16;
            const double raw = options->normal_rule == CUTIS_NORMAL_RAW ? 1 + length_of(want.n) : 1;
            check_vector("position", p, got, want.p, (1 + fabs(p->scale) * 4) * weak);
            if (c.layout.normals && options->normal_rule == CUTIS_NORMAL_RAW)
                check_vector("normal", p, normals + 3 * at, want.n, 2 * raw * weak);
            if (c.layout.tangents) assert_true(tangents[4 * at + 3] == (float)want.t[3]);
            box.min.x = fminf(box.min.x, got[0]), box.max.x = fmaxf(box.max.x, got[0]);
            box.min.y = fminf(box.min.y, got[1]), box.max.y = fmaxf(box.max.y, got[1]);
            box.min.z = fminf(box.min.z, got[2]), box.max.z = fmaxf(box.max.z, got[2]);
            if (options->normal_rule != CUTIS_NORMAL_UNIT) continue;
            const double size =
                1 / fmax(length_of(p->n), 0.05); // directions of short vectors are weak
            const double tsize = 1 / fmax(length_of(p->t), 0.05);
            const double mixed =
                options->blend || p->nonuniform || options->formula == CUTIS_FORMULA_LBS ? 20 : 4;
            check_vector("normal", p, normals + 3 * at, want.n, mixed * size * weak);
            if (c.layout.tangents)
                check_vector("tangent", p, tangents + 4 * at, want.t, mixed * tsize * weak);
        }
        assert_memory_equal(&bounds[i], &box, sizeof box);
    }
    free(p);
    device->operations->skin_destroy(skin);
    cutis_device_destroy(device);
    free(positions), free(normals), free(tangents), free(bounds);
    skin_case_free(&c);
}

static skin_options tame(cutis_formula formula)
{
    return (skin_options){ .seed = 7 + (uint64_t)formula,
                           .formula = formula,
                           .normal_rule = CUTIS_NORMAL_UNIT,
                           .block_size = 16,
                           .vertex_count = 1500,
                           .bone_count = 20,
                           .influences = 6,
                           .instance_count = 6,
                           .shuffled = true,
                           .nonuniform = true };
}

static void reference_is_the_formula(cutis_formula formula)
{
    cutis_context *context = NULL;
    assert_int_equal(cutis_context_create(NULL, &context), CUTIS_OK);
    for (int kind = 0; kind < 16; kind++) {
        skin_options o = tame(formula);
        o.seed += 100 * (uint64_t)kind;
        o.normal_rule = kind & 1 ? CUTIS_NORMAL_RAW : CUTIS_NORMAL_UNIT;
        o.tangents = (kind & 2) != 0;
        o.target_count = kind & 4 ? 3 : 0;
        o.blend = (kind & 8) && formula != CUTIS_FORMULA_LBS;
        o.linear_normals = kind > 12 && formula == CUTIS_FORMULA_SBS;
        check_options(context, &o);
    }
    cutis_context_destroy(context);
}

static void linear_skinning_is_the_formula(void **state)
{
    (void)state, reference_is_the_formula(CUTIS_FORMULA_LBS);
}
static void spherical_skinning_is_the_formula(void **state)
{
    (void)state, reference_is_the_formula(CUTIS_FORMULA_SBS);
}
static void weighted_spherical_skinning_is_the_formula(void **state)
{
    (void)state, reference_is_the_formula(CUTIS_FORMULA_SBS_WEIGHTED);
}
static void dual_quaternion_skinning_is_the_formula(void **state)
{
    (void)state, reference_is_the_formula(CUTIS_FORMULA_DQS);
}
static void optimized_centres_are_the_formula(void **state)
{
    (void)state, reference_is_the_formula(CUTIS_FORMULA_COR);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(linear_skinning_is_the_formula),
        cmocka_unit_test(spherical_skinning_is_the_formula),
        cmocka_unit_test(weighted_spherical_skinning_is_the_formula),
        cmocka_unit_test(dual_quaternion_skinning_is_the_formula),
        cmocka_unit_test(optimized_centres_are_the_formula),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
