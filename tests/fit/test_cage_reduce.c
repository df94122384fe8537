// Reduced cage weights: the paper's ordering on an arm made by code and on the arm of SuperCages
// where it is there, what docs/spec/reduction.md 10.1 to 10.3, 10.7, 10.13 and 10.14 say of cages,
// and the smooth prior against its definition.
#include "fit/cage_case.h"

#include "fit/reduce_case.h"

typedef struct {
    cutis_context *context;
    cutis_device *device;
    cutis_model *body;
    cutis_cage *cage;
} scene;

#define ARM_FOLDER "supercages/__DataExamples/Arm/"
static bool real_arm; ///< main runs the tests of arms for each arm

static scene open_arm(void)
{
    scene s = { 0 };
    cutis_model *model;
    assert_int_equal(cutis_context_create(NULL, &s.context), CUTIS_OK);
    assert_ok(s.context, cutis_device_create(s.context, NULL, &s.device));
    if (real_arm) {
        assert_ok(s.context,
                  cutis_model_read(s.context, shared_path(ARM_FOLDER "arm.obj"), NULL, &s.body));
        assert_ok(s.context, cutis_model_read(s.context, shared_path(ARM_FOLDER "arm_cage.obj"),
                                              NULL, &model));
    } else {
        make_arm(s.context, &s.body, &model);
    }
    assert_ok(s.context, cutis_cage_create(model, &s.cage));
    cutis_model_destroy(model);
    return s;
}

static void close_scene(scene *s)
{
    cutis_cage_destroy(s->cage);
    cutis_model_destroy(s->body);
    cutis_device_destroy(s->device);
    assert_int_equal(cutis_context_memory(s->context), 0);
    cutis_context_destroy(s->context);
}

static const cutis_reduce_row *row_of(const cutis_cage_report *report, cutis_reduce_method method)
{
    for (uint32_t i = 0; i < report->row_count; i++)
        if (report->rows[i].method == method) return &report->rows[i];
    fail();
    return NULL;
}

static cutis_cage_report *bind(const scene *s, cutis_cage_options options, cutis_model **out)
{
    cutis_cage_report *report = NULL;
    assert_ok(s->context, cutis_cage_bind(s->body, s->device, s->cage, &options, out, &report));
    return report;
}

static void the_papers_order_holds_on_the_arm_and_errors_fall_with_k(void **state)
{
    (void)state;
    scene s = open_arm();
    double position[2], normal[2];
    for (int i = 0; i < 2; i++) {
        cutis_model *model;
        cutis_cage_report *r =
            bind(&s, (cutis_cage_options){ .influences = i ? 8 : 4, .compare = true }, &model);
        const cutis_reduce_row *p = row_of(r, CUTIS_REDUCE_POISSON),
                               *g = row_of(r, CUTIS_REDUCE_GEOMETRIC),
                               *smooth = row_of(r, CUTIS_REDUCE_SMOOTH),
                               *largest = row_of(r, CUTIS_REDUCE_KLARGEST);
        for (uint32_t k = 0; k < r->row_count; k++)
            print_message("K = %d %-10s %-8s examples %.4f %.4f held out %.4f %.4f\n", i ? 8 : 4,
                          cutis_reduce_method_name(r->rows[k].method),
                          cutis_reduce_sets_name(r->rows[k].sets), r->rows[k].example_position,
                          r->rows[k].example_normal, r->rows[k].held_out_position,
                          r->rows[k].held_out_normal);
        print_message("outside %llu, precision %g %%, infeasible %llu\n",
                      (unsigned long long)r->outside_count, r->precision,
                      (unsigned long long)r->infeasible_count);
        position[i] = p->held_out_position, normal[i] = p->held_out_normal;
        if (i == 1) {
            assert_true(p->held_out_normal < smooth->held_out_normal);
            // The paper has S before G, where the nearest controls carry most of the weight.
            if (real_arm) assert_true(smooth->held_out_normal < g->held_out_normal);
            assert_true(smooth->held_out_normal < largest->held_out_normal);
            assert_true(g->held_out_normal < largest->held_out_normal);
            assert_true(p->held_out_normal <= 0.35 * largest->held_out_normal);
            assert_true(p->held_out_position <= 0.3 * largest->held_out_position);
        }
        assert_int_equal(r->example_count, 7);
        assert_int_equal(r->held_out_count, 12);
        cutis_cage_report_destroy(r);
        cutis_model_destroy(model);
    }
    assert_true(position[1] < position[0] && normal[1] < normal[0]);
    close_scene(&s);
}

// Weights of a model's only mesh, dense.
static double *dense_weights(const cutis_model *model)
{
    const cutis_cage *cage = cutis_model_get(model)->cage;
    const cutis_cage_mesh *mesh = &cage->meshes[0];
    double *out = calloc((size_t)mesh->vertex_count * cage->control_count, sizeof *out);
    for (uint32_t v = 0; v < mesh->vertex_count; v++)
        for (uint32_t i = mesh->first[v]; i < mesh->first[v + 1]; i++)
            out[v * cage->control_count + mesh->controls[i]] = mesh->weights[i];
    return out;
}

static void as_many_as_there_are_returns_the_original_weights(void **state)
{
    (void)state;
    scene s = open_arm();
    const uint32_t count = cutis_model_vertex_count(s.body);
    cutis_model *all, *kept, *again;
    cutis_cage_report_destroy(bind(&s, (cutis_cage_options){ 0 }, &all));
    cutis_cage_report_destroy(bind(&s, (cutis_cage_options){ .influences = ARM_CONTROLS }, &kept));
    cutis_cage_options options = { .influences = ARM_CONTROLS };
    assert_ok(s.context, cutis_cage_reduce(all, s.device, &options, &again, NULL));
    double *a = dense_weights(all), *b = dense_weights(kept), *c = dense_weights(again);
    for (uint32_t i = 0; i < count * ARM_CONTROLS; i++) {
        assert_near(a[i], b[i], 1e-6);
        assert_near(a[i], c[i], 1e-6);
    }
    free(a), free(b), free(c);
    cutis_model_destroy(all), cutis_model_destroy(kept), cutis_model_destroy(again);
    close_scene(&s);
}

// A rule for every method and kind of weights: sums, signs, counts.
static void reduced_weights_sum_to_one_keep_their_sign_and_their_count(void **state)
{
    (void)state;
    scene s = open_arm();
    for (int kind = 0; kind < 2; kind++)
        for (int method = 0; method < 4; method++) {
            cutis_model *model;
            cutis_cage_options options = { .influences = 6,
                                           .coordinates = (cutis_coordinates)kind,
                                           .resolution = 24,
                                           .method = (cutis_reduce_method)method,
                                           .skip_evaluation = true };
            cutis_cage_report_destroy(bind(&s, options, &model));
            const cutis_cage_mesh *mesh = &cutis_model_get(model)->cage->meshes[0];
            bool negative = false;
            for (uint32_t v = 0; v < mesh->vertex_count; v++) {
                double sum = 0;
                assert_true(mesh->first[v + 1] - mesh->first[v] <= 6);
                for (uint32_t i = mesh->first[v]; i < mesh->first[v + 1]; i++) {
                    sum += mesh->weights[i];
                    negative |= mesh->weights[i] < 0;
                }
                assert_near(sum, 1, 1e-6);
            }
            // A tube's large weights are positive: G and kL need no others there.
            if (kind != 0)
                assert_false(negative);
            else if (real_arm || method == CUTIS_REDUCE_POISSON || method == CUTIS_REDUCE_SMOOTH)
                assert_true(negative);
            cutis_model_destroy(model);
        }
    close_scene(&s);
}

// Original weights with at most k controls: every method keeps them (docs/spec/reduction.md 10.2).
// They come from S, so that they reproduce the rest shape as coordinates do.
static void sparse_weights_are_kept_by_every_method(void **state)
{
    (void)state;
    scene s = open_arm();
    const uint32_t count = cutis_model_vertex_count(s.body);
    cutis_model *sparse;
    cutis_cage_options options = { .influences = 8,
                                   .method = CUTIS_REDUCE_SMOOTH,
                                   .skip_evaluation = true };
    cutis_cage_report_destroy(bind(&s, options, &sparse));
    float *pose = malloc(3 * ARM_CONTROLS * sizeof *pose);
    cutis_cage_automatic_poses(s.cage, 9, 1, pose);
    double *before = dense_weights(sparse);
    for (int method = 0; method < 4; method++) {
        cutis_model *model;
        options.influences = 9, options.method = (cutis_reduce_method)method;
        assert_ok(s.context, cutis_cage_reduce(sparse, s.device, &options, &model, NULL));
        double *after = dense_weights(model);
        for (uint32_t v = 0; v < count; v++)
            for (int c = 0; c < 3; c++) {
                double x = 0;
                for (uint32_t i = 0; i < ARM_CONTROLS; i++)
                    x += (after[v * ARM_CONTROLS + i] - before[v * ARM_CONTROLS + i]) *
                         pose[3 * i + c];
                assert_near(x, 0, 1e-4); // float weights on coordinates of a hundred
            }
        free(after);
        cutis_model_destroy(model);
    }
    free(before), free(pose);
    cutis_model_destroy(sparse);
    close_scene(&s);
}

static void smooth_weights_reproduce_every_vertex_they_can(void **state)
{
    (void)state;
    scene s = open_arm();
    for (int kind = 0; kind < 2; kind++) {
        cutis_model *model;
        cutis_cage_report *report =
            bind(&s,
                 (cutis_cage_options){ .influences = 8,
                                       .coordinates = (cutis_coordinates)kind,
                                       .resolution = 24,
                                       .method = CUTIS_REDUCE_SMOOTH },
                 &model);
        const cutis_cage *cage = cutis_model_get(model)->cage;
        const cutis_cage_mesh *mesh = &cage->meshes[0];
        const float *positions = cutis_model_get(model)->meshes[0].primitives[0].positions;
        uint64_t missed = 0;
        for (uint32_t v = 0; v < mesh->vertex_count; v++) {
            double worst = 0;
            for (int c = 0; c < 3; c++) {
                double x = -positions[3 * v + c];
                for (uint32_t i = mesh->first[v]; i < mesh->first[v + 1]; i++)
                    x += (double)mesh->weights[i] * (&cage->controls[mesh->controls[i]].x)[c];
                worst = fmax(worst, fabs(x));
            }
            missed += worst > 1e-4; // float weights, coordinates of a hundred
        }
        print_message("%s: %llu infeasible\n", cutis_coordinates_name((cutis_coordinates)kind),
                      (unsigned long long)report->infeasible_count);
        assert_true(missed <= report->infeasible_count);
        if (kind == 0) assert_int_equal(report->infeasible_count, 0);
        assert_true(report->infeasible_count < mesh->vertex_count / 2);
        cutis_cage_report_destroy(report);
        cutis_model_destroy(model);
    }
    close_scene(&s);
}

static void controls_moved_by_one_translation_move_every_vertex_by_it(void **state)
{
    (void)state;
    scene s = open_arm();
    const uint32_t count = cutis_model_vertex_count(s.body);
    cutis_model *model;
    cutis_cage_report_destroy(
        bind(&s, (cutis_cage_options){ .influences = 8, .skip_evaluation = true }, &model));
    double *w = dense_weights(model);
    for (uint32_t v = 0; v < count; v++) {
        double sum = 0;
        for (uint32_t i = 0; i < ARM_CONTROLS; i++) sum += w[v * ARM_CONTROLS + i];
        assert_near(sum, 1, 1e-6); // moves by sum times the translation
    }
    free(w);
    cutis_model_destroy(model);
    close_scene(&s);
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    scene s = open_arm();
    const uint32_t count = cutis_model_vertex_count(s.body);
    double *first = NULL;
    for (uint32_t threads = 1; threads <= 4; threads += 3) {
        cutis_device *device;
        cutis_model *model;
        cutis_cage_options options = { .influences = 8,
                                       .coordinates = CUTIS_COORDINATES_HARMONIC,
                                       .resolution = 20,
                                       .skip_evaluation = true };
        assert_ok(s.context,
                  cutis_device_create(s.context, &(cutis_device_options){ .thread_count = threads },
                                      &device));
        assert_ok(s.context, cutis_cage_bind(s.body, device, s.cage, &options, &model, NULL));
        double *w = dense_weights(model);
        if (first) assert_memory_equal(w, first, count * ARM_CONTROLS * sizeof *w);
        if (first)
            free(w);
        else
            first = w;
        cutis_model_destroy(model);
        cutis_device_destroy(device);
    }
    free(first);
    close_scene(&s);
}

// Specification, test 14: an icosphere of 42 controls around a bumpy sphere.
static void the_sphere_s_order_holds_too(void **state)
{
    (void)state;
    static cage_mesh ball, around;
    scene s = { 0 };
    cutis_model *model;
    make_icosphere(&ball, 4, 1);
    make_icosphere(&around, 1, 1.5);
    for (uint32_t v = 0; v < ball.vertex_count; v++) {
        float *p = ball.positions + 3 * v;
        double bump = 1 + 0.12 * sin(4 * p[0] + 1) * sin(5 * p[1]) * cos(3 * p[2]);
        for (int c = 0; c < 3; c++) p[c] *= (float)bump;
    }
    assert_int_equal(ball.vertex_count, 2562);
    assert_int_equal(cutis_context_create(NULL, &s.context), CUTIS_OK);
    assert_ok(s.context, cutis_device_create(s.context, NULL, &s.device));
    s.body = mesh_model(s.context, ball.vertex_count, ball.positions, ball.triangle_count,
                        ball.triangles);
    model = mesh_model(s.context, around.vertex_count, around.positions, around.triangle_count,
                       around.triangles);
    assert_ok(s.context, cutis_cage_create(model, &s.cage));
    cutis_model_destroy(model);
    const cutis_reduce_row *row;
    double normal[3], position[3], largest_normal = 0, largest_position = 0, geometric = 0;
    cutis_reduce_sets chosen = CUTIS_REDUCE_SETS_AUTO;
    for (int sets = 0; sets < 3; sets++) {
        cutis_cage_report *report =
            bind(&s,
                 (cutis_cage_options){
                     .influences = 8, .compare = true, .sets = (cutis_reduce_sets)sets },
                 &model);
        row = row_of(report, CUTIS_REDUCE_POISSON);
        normal[sets] = row->held_out_normal, position[sets] = row->held_out_position;
        if (sets == 0) chosen = row->sets;
        row = row_of(report, CUTIS_REDUCE_KLARGEST);
        largest_normal = row->held_out_normal, largest_position = row->held_out_position;
        if (sets == CUTIS_REDUCE_SETS_LARGEST)
            geometric = row_of(report, CUTIS_REDUCE_GEOMETRIC)->held_out_normal;
        cutis_cage_report_destroy(report);
        cutis_model_destroy(model);
    }
    print_message("P auto %.4f %.4f, largest %.4f, fitted %.4f; G largest %.4f; kL %.4f %.4f\n",
                  normal[0], position[0], normal[1], normal[2], geometric, largest_normal,
                  largest_position);
    assert_true(normal[0] <= 0.9 * largest_normal);
    assert_true(normal[0] <= 0.6 * geometric);
    assert_true(position[0] <= 0.2 * largest_position);
    assert_int_equal(chosen,
                     normal[1] < normal[2] ? CUTIS_REDUCE_SETS_LARGEST : CUTIS_REDUCE_SETS_FITTED);
    close_scene(&s);
}

// A cage of an ellipsoid's shape around a body, further out than its box.
static scene open_loose(cutis_body kind, double reach)
{
    static cage_mesh around;
    scene s = { 0 };
    cutis_model *model;
    const cutis_synth_options synth = { .body = kind, .vertex_count = 1500 };
    assert_int_equal(cutis_context_create(NULL, &s.context), CUTIS_OK);
    assert_ok(s.context, cutis_device_create(s.context, NULL, &s.device));
    assert_ok(s.context, cutis_synth_create(s.context, &synth, &s.body));
    const cutis_primitive *body = &cutis_model_get(s.body)->meshes[0].primitives[0];
    float low[3], high[3];
    for (int c = 0; c < 3; c++) low[c] = INFINITY, high[c] = -INFINITY;
    for (uint32_t i = 0; i < 3 * body->vertex_count; i++) {
        low[i % 3] = fminf(low[i % 3], body->positions[i]);
        high[i % 3] = fmaxf(high[i % 3], body->positions[i]);
    }
    make_icosphere(&around, 2, 1);
    for (uint32_t i = 0; i < 3 * around.vertex_count; i++)
        around.positions[i] = (float)((low[i % 3] + high[i % 3]) / 2 +
                                      reach * around.positions[i] * (high[i % 3] - low[i % 3]) / 2);
    model = mesh_model(s.context, around.vertex_count, around.positions, around.triangle_count,
                       around.triangles);
    assert_ok(s.context, cutis_cage_create(model, &s.cage));
    cutis_model_destroy(model);
    return s;
}

static double score(const cutis_reduce_row *row)
{
    return row->held_out_normal * row->held_out_normal * row->held_out_position;
}

// The default is the better of poisson and smooth on poses that neither saw and that did not
// choose.
static void the_default_is_the_better_of_both_in_loose_and_tight_cages(void **state)
{
    (void)state;
    uint32_t taken[CUTIS_REDUCE_METHODS] = { 0 };
    for (int i = 0; i < 4; i++) {
        scene s = i == 0 ? open_arm()
                         : open_loose(i == 1 ? CUTIS_BODY_BIPED : CUTIS_BODY_QUADRUPED,
                                      i == 3 ? 1.8 : 2.2);
        cutis_model *model;
        cutis_cage_report *r =
            bind(&s, (cutis_cage_options){ .influences = 8, .compare = true }, &model);
        const double both[2] = { score(row_of(r, CUTIS_REDUCE_POISSON)),
                                 score(row_of(r, CUTIS_REDUCE_SMOOTH)) };
        print_message("%s; poisson %.3g smooth %.3g\n", cutis_reduce_method_name(r->rows[0].method),
                      both[0], both[1]);
        assert_true(score(&r->rows[0]) <= 1.1 * fmin(both[0], both[1]));
        taken[r->rows[0].method]++;
        // Whether it is judged or not, the model is the same.
        cutis_model *plain;
        cutis_cage_report_destroy(
            bind(&s, (cutis_cage_options){ .influences = 8, .skip_evaluation = true }, &plain));
        const cutis_cage_mesh *a = &cutis_model_get(model)->cage->meshes[0],
                              *b = &cutis_model_get(plain)->cage->meshes[0];
        assert_memory_equal(a->first, b->first, (a->vertex_count + 1) * sizeof *a->first);
        assert_memory_equal(a->weights, b->weights, a->first[a->vertex_count] * sizeof *a->weights);
        cutis_model_destroy(plain);
        cutis_cage_report_destroy(r);
        cutis_model_destroy(model);
        close_scene(&s);
    }
    assert_true(taken[CUTIS_REDUCE_POISSON] >= 1 && taken[CUTIS_REDUCE_SMOOTH] >= 1);
}

// The smooth prior -------------------------------------------------------------------------------

// lambda sum_i integral |grad (A_i - Abar_i)|^2 with the anchor, from triangles.
static long double definition_prior(const reduce_case *c, const cutis_reduce_state *state)
{
    const uint32_t n = c->problem.control_count, count = c->mesh.vertex_count;
    long double sum = 0, *d = calloc((size_t)count * n, sizeof *d);
    for (uint32_t v = 0; v < count; v++) {
        for (uint32_t i = state->first[v]; i < state->first[v + 1]; i++)
            d[v * n + state->control[i]] += state->weight[i];
        for (uint32_t i = c->first[v]; i < c->first[v + 1]; i++)
            d[v * n + c->control[i]] -= c->weight[i];
    }
    for (uint32_t t = 0; t < c->triangle_count; t++)
        for (int k = 0; k < 3; k++) {
            const uint32_t *corner = c->triangles + 3 * t;
            uint32_t a = corner[(k + 1) % 3], b = corner[(k + 2) % 3];
            for (uint32_t i = 0; i < n; i++) {
                long double e = d[a * n + i] - d[b * n + i];
                sum += corner_cotangent(c->positions, corner, k) / 2 * e * e;
            }
        }
    long double ell = (long double)c->problem.radius * c->mesh.extent;
    for (size_t i = 0; i < (size_t)count * n; i++)
        sum += c->mesh.area[i / n] / (ell * ell) * d[i] * d[i];
    free(d);
    return sum;
}

static void the_prior_is_its_definition_and_sweeps_with_it_never_rise(void **state)
{
    (void)state;
    for (int negative = 0; negative < 2; negative++) {
        reduce_case c = make_case((case_shape){ .side = 7,
                                                .controls = 14,
                                                .reach = 10,
                                                .poses = 4,
                                                .keep = 5,
                                                .negative = negative,
                                                .cage = true,
                                                .seed = 5 });
        BIND(c);
        c.problem.prior = 1e-2;
        update_case u;
        open_updates(&c, CUTIS_REDUCE_GRADIENT, true, &u);
        const cutis_reduce_state s = u.state;
        const double lambda = u.run.lambda;
        assert_true(lambda > 0);
        double last = INFINITY;
        for (int sweep = 0; sweep < 4; sweep++)
            for (uint32_t v = 0; v < c.mesh.vertex_count; v++) {
                double total = (double)(definition_energy(&c, CUTIS_REDUCE_GRADIENT, s.error) +
                                        lambda * definition_prior(&c, &s));
                assert_true(total <= last * (1 + 1e-9));
                const double fall = update_vertex(&u, v);
                double now = (double)(definition_energy(&c, CUTIS_REDUCE_GRADIENT, s.error) +
                                      lambda * definition_prior(&c, &s));
                // Offsets are floats, so the library's error differs from the definition's a
                // little.
                assert_near(total - now, fall, 1e-5 * total);
                last = total;
            }
        double energy, part = lambda * (double)definition_prior(&c, &s);
        assert_ok(c.context, cutis_reduce_prepare(&u.run, CUTIS_REDUCE_GRADIENT, &energy));
        assert_near(energy - (double)definition_energy(&c, CUTIS_REDUCE_GRADIENT, s.error), part,
                    1e-9 * part);
        cutis_reduce_close(&u.run);
        free_case(&c);
    }
}

// Many updates of one vertex find the least of energy and prior over its own weights.
static void an_update_with_the_prior_goes_to_the_local_least(void **state)
{
    (void)state;
    for (int negative = 0; negative < 2; negative++) {
        reduce_case c = make_case((case_shape){ .side = 6,
                                                .controls = 12,
                                                .reach = 9,
                                                .poses = 5,
                                                .keep = 4,
                                                .negative = negative,
                                                .cage = true,
                                                .seed = 8 });
        BIND(c);
        c.problem.prior = 1e-2;
        update_case u;
        open_updates(&c, CUTIS_REDUCE_GRADIENT, false, &u);
        const cutis_reduce_state s = u.state;
        const double lambda = u.run.lambda;
        for (uint32_t v = 3; v < c.mesh.vertex_count; v += 7) {
            for (int i = 0; i < 400; i++) update_vertex(&u, v);
            const uint32_t begin = s.first[v], count = s.first[v + 1] - begin;
            const uint32_t rows = 3 * c.problem.column_count;
            long double least = definition_energy(&c, CUTIS_REDUCE_GRADIENT, s.error) +
                                lambda * definition_prior(&c, &s);
            double kept[8];
            memcpy(kept, s.weight + begin, count * sizeof *kept);
            for (uint64_t trial = 0; trial < 40; trial++) {
                double step[8], mean = 0;
                bool allowed = true;
                for (uint32_t i = 0; i < count; i++)
                    step[i] = noise(77, trial, i), mean += step[i] / count;
                for (uint32_t i = 0; i < count; i++) {
                    s.weight[begin + i] = kept[i] + 1e-3 * (step[i] - mean);
                    allowed = allowed && (negative || s.weight[begin + i] >= 0);
                }
                definition_error(&c, v, s.control + begin, s.weight + begin, count,
                                 s.error + (size_t)v * rows);
                long double other = definition_energy(&c, CUTIS_REDUCE_GRADIENT, s.error) +
                                    lambda * definition_prior(&c, &s);
                if (allowed) assert_true(other >= least * (1 - 1e-6L));
            }
            memcpy(s.weight + begin, kept, count * sizeof *kept);
            definition_error(&c, v, s.control + begin, kept, count, s.error + (size_t)v * rows);
        }
        cutis_reduce_close(&u.run);
        free_case(&c);
    }
}

static void bad_requests_are_named(void **state)
{
    (void)state;
    scene s = open_arm();
    cutis_model *model = NULL;
    float pose[3 * ARM_CONTROLS] = { 0 };
    static const struct {
        cutis_cage_options options;
        const char *text;
    } cases[] = {
        { { .influences = 3 }, "3 influences for a cage" },
        { { .influences = 70 }, NULL }, // more than there are: all
        { { .coordinates = CUTIS_COORDINATES_HARMONIC, .resolution = 5 }, "a resolution of 5" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cutis_result result =
            cutis_cage_bind(s.body, s.device, s.cage, &cases[i].options, &model, NULL);
        if (cases[i].text) {
            assert_int_equal(result, CUTIS_INVALID_ARGUMENT);
            assert_non_null(strstr(cutis_context_error(s.context), cases[i].text));
            assert_null(model);
        } else {
            assert_int_equal(result, CUTIS_OK);
            cutis_model_destroy(model);
            model = NULL;
        }
    }
    pose[7] = NAN;
    cutis_cage_options options = { .influences = 8, .examples = pose, .example_count = 1 };
    assert_int_equal(cutis_cage_bind(s.body, s.device, s.cage, &options, &model, NULL),
                     CUTIS_INVALID_ARGUMENT);
    assert_non_null(strstr(cutis_context_error(s.context), "not finite"));
    assert_int_equal(cutis_cage_reduce(s.body, s.device, &options, &model, NULL),
                     CUTIS_INVALID_ARGUMENT);
    assert_non_null(strstr(cutis_context_error(s.context), "no cage"));
    close_scene(&s);
}

static bool stop_at_once(void *user, const char *stage, double fraction)
{
    (void)stage, (void)fraction;
    return --*(int *)user > 0;
}

// Cancelled at any of its steps, or out of memory at any allocation, a call leaves nothing behind.
static void cancelling_leaves_nothing(void **state)
{
    (void)state;
    cage_mesh m;
    make_icosphere(&m, 1, 1.5);
    static cage_mesh ball;
    make_icosphere(&ball, 2, 1);
    for (int steps = 1; steps < 60; steps += 7) {
        int left = steps;
        cutis_context *context;
        cutis_context_options options = { .progress = stop_at_once, .progress_user = &left };
        assert_int_equal(cutis_context_create(&options, &context), CUTIS_OK);
        cutis_model *around = mesh_model(context, m.vertex_count, m.positions, m.triangle_count,
                                         m.triangles),
                    *body = mesh_model(context, ball.vertex_count, ball.positions,
                                       ball.triangle_count, ball.triangles),
                    *bound = NULL;
        cutis_cage *cage;
        assert_ok(context, cutis_cage_create(around, &cage));
        cutis_cage_options how = { .coordinates = CUTIS_COORDINATES_HARMONIC,
                                   .resolution = 16,
                                   .influences = 6 };
        cutis_result result = cutis_cage_bind(body, NULL, cage, &how, &bound, NULL);
        assert_true(result == CUTIS_CANCELLED || result == CUTIS_OK);
        cutis_model_destroy(bound);
        cutis_cage_destroy(cage);
        cutis_model_destroy(around), cutis_model_destroy(body);
        assert_int_equal(cutis_context_memory(context), 0);
        cutis_context_destroy(context);
    }
}

typedef struct {
    uint64_t left;
} short_memory;

static void *short_allocate(void *user, size_t size, size_t alignment)
{
    short_memory *m = user;
    if (m->left == 0) return NULL;
    m->left--;
    return aligned_alloc(alignment < 8 ? 8 : alignment,
                         (size + alignment - 1) / alignment * alignment);
}

static void short_release(void *user, void *memory, size_t size)
{
    (void)user, (void)size;
    free(memory);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    cage_mesh m;
    make_icosphere(&m, 1, 1.5);
    cage_mesh ball;
    make_icosphere(&ball, 1, 1);
    bool done = false;
    for (uint64_t allowed = 1; !done && allowed < 4000; allowed += allowed < 120 ? 1 : 9) {
        short_memory memory = { UINT64_MAX };
        cutis_context *context;
        cutis_context_options options = { .allocator = { short_allocate, short_release, &memory } };
        assert_int_equal(cutis_context_create(&options, &context), CUTIS_OK);
        cutis_model *around = mesh_model(context, m.vertex_count, m.positions, m.triangle_count,
                                         m.triangles),
                    *body = mesh_model(context, ball.vertex_count, ball.positions,
                                       ball.triangle_count, ball.triangles),
                    *bound = NULL, *skin = NULL;
        cutis_cage *cage = NULL;
        cutis_device *device;
        assert_ok(context, cutis_device_create(
                               context, &(cutis_device_options){ .thread_count = 1 }, &device));
        cutis_cage_options how = { .coordinates = CUTIS_COORDINATES_HARMONIC,
                                   .resolution = 8,
                                   .influences = 5,
                                   .compare = true };
        cutis_cage_report *report = NULL;
        memory.left = allowed;
        cutis_result result = cutis_cage_create(around, &cage);
        if (result == CUTIS_OK) result = cutis_cage_bind(body, device, cage, &how, &bound, &report);
        if (result == CUTIS_OK)
            result = cutis_cage_to_skin(bound, &cage->controls->x, 1, 30, &skin, NULL);
        done = result == CUTIS_OK;
        assert_true(done || result == CUTIS_OUT_OF_MEMORY);
        memory.left = UINT64_MAX;
        cutis_cage_report_destroy(report);
        cutis_model_destroy(bound), cutis_model_destroy(skin);
        cutis_cage_destroy(cage);
        cutis_device_destroy(device);
        cutis_model_destroy(around), cutis_model_destroy(body);
        assert_int_equal(cutis_context_memory(context), 0);
        cutis_context_destroy(context);
    }
    assert_true(done);
}

int main(void)
{
    const struct CMUnitTest arms[] = {
        cmocka_unit_test(the_papers_order_holds_on_the_arm_and_errors_fall_with_k),
        cmocka_unit_test(as_many_as_there_are_returns_the_original_weights),
        cmocka_unit_test(reduced_weights_sum_to_one_keep_their_sign_and_their_count),
        cmocka_unit_test(sparse_weights_are_kept_by_every_method),
        cmocka_unit_test(smooth_weights_reproduce_every_vertex_they_can),
        cmocka_unit_test(controls_moved_by_one_translation_move_every_vertex_by_it),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(bad_requests_are_named),
    };
    const struct CMUnitTest others[] = {
        cmocka_unit_test(the_sphere_s_order_holds_too),
        cmocka_unit_test(the_default_is_the_better_of_both_in_loose_and_tight_cages),
        cmocka_unit_test(the_prior_is_its_definition_and_sweeps_with_it_never_rise),
        cmocka_unit_test(an_update_with_the_prior_goes_to_the_local_least),
        cmocka_unit_test(cancelling_leaves_nothing),
        cmocka_unit_test(every_allocation_may_fail),
    };
    int failed = cmocka_run_group_tests(others, NULL, NULL);
    failed += cmocka_run_group_tests_name("an arm made by code", arms, NULL, NULL);
    real_arm = shared_is_there(ARM_FOLDER "arm_cage.obj");
    if (real_arm) failed += cmocka_run_group_tests_name("the arm of SuperCages", arms, NULL, NULL);
    return failed;
}
