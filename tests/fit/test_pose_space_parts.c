// Weights learned from shapes that stay in their file, and part by part as a farm does it: the bits
// of one fit with everything in memory.
#include "support.h"

#include <cutis/poses.h>
#include <cutis/synth.h>

enum { VERTICES = 4500, POSES = 4 };

typedef struct body {
    cutis_context *context;
    cutis_model *model;
    cutis_device *device;
    uint32_t vertices, nodes;
    cutis_transform *poses;
    float *shapes;
    uint32_t reads, most; ///< calls of read_shapes; vertices asked for at once, at most
} body;

// A biped in frames of its clip, by dual quaternions: no linear weights meet these shapes.
static void open_body(body *b)
{
    cutis_binding *binding = NULL;
    cutis_sampler *sampler = NULL;
    *b = (body){ 0 };
    assert_int_equal(cutis_context_create(NULL, &b->context), CUTIS_OK);
    assert_ok(b->context,
              cutis_synth_create(b->context, &(cutis_synth_options){ .vertex_count = VERTICES },
                                 &b->model));
    b->vertices = cutis_model_vertex_count(b->model);
    b->nodes = cutis_model_get(b->model)->node_count;
    b->poses = calloc((size_t)POSES * b->nodes, sizeof *b->poses);
    b->shapes = calloc((size_t)POSES * b->vertices, 3 * sizeof *b->shapes);
    assert_ok(b->context, cutis_sampler_create(b->model, 0, &sampler));
    for (uint32_t k = 0; k < POSES; k++)
        cutis_sampler_sample(sampler, 0.15f * (float)k, b->poses + (size_t)k * b->nodes, NULL);
    assert_ok(b->context, cutis_device_create(b->context, NULL, &b->device));
    assert_ok(b->context,
              cutis_bind(b->device, b->model, &(cutis_bind_options){ .method = CUTIS_METHOD_DQS },
                         &binding));
    assert_ok(b->context, cutis_deform(binding, &(cutis_poses){ .local = b->poses }, POSES,
                                       &(cutis_outputs){ .positions = { .data = b->shapes } }));
    cutis_binding_destroy(binding);
    cutis_sampler_destroy(sampler);
}

static void close_body(body *b)
{
    free(b->shapes), free(b->poses);
    cutis_device_destroy(b->device);
    cutis_model_destroy(b->model);
    assert_int_equal(cutis_context_memory(b->context), 0);
    cutis_context_destroy(b->context);
}

static cutis_result read_shapes(void *user, uint32_t example, uint32_t first, uint32_t count,
                                float *positions)
{
    body *b = user;
    assert_true(example < POSES && count > 0 && first + count <= b->vertices);
    b->reads++;
    if (count > b->most) b->most = count;
    memcpy(positions, b->shapes + 3 * ((size_t)example * b->vertices + first),
           3 * (size_t)count * sizeof *positions);
    return CUTIS_OK;
}

static void assert_same_weights(const cutis_model *a, const cutis_model *b)
{
    const cutis_model_data *x = cutis_model_get(a), *y = cutis_model_get(b);
    for (uint32_t m = 0; m < x->mesh_count; m++)
        for (uint32_t k = 0; k < x->meshes[m].primitive_count; k++) {
            const cutis_primitive *p = &x->meshes[m].primitives[k],
                                  *q = &y->meshes[m].primitives[k];
            const size_t n = p->vertex_count;
            assert_memory_equal(p->influences.first, q->influences.first, 4 * (n + 1));
            const size_t total = p->influences.first[n];
            assert_true(total > n); // more than one influence a vertex: something was learned
            assert_memory_equal(p->influences.joints, q->influences.joints, 4 * total);
            assert_memory_equal(p->influences.weights, q->influences.weights, 4 * total);
        }
}

static void assert_same_reports(const cutis_pose_fit_report *a, const cutis_pose_fit_report *b)
{
    assert_memory_equal(a->after, b->after, POSES * sizeof *a->after);
    assert_memory_equal(a->before, b->before, POSES * sizeof *a->before);
    assert_memory_equal(a->one_out.ssd, b->one_out.ssd, POSES * sizeof *a->one_out.ssd);
    const double x[] = {
        a->prior,         a->left_out_rms, a->left_out_own,           a->discarded_mean,
        a->discarded_max, a->after_rms,    (double)a->deficient_count
    };
    const double y[] = {
        b->prior,         b->left_out_rms, b->left_out_own,           b->discarded_mean,
        b->discarded_max, b->after_rms,    (double)b->deficient_count
    };
    assert_memory_equal(x, y, sizeof x);
    assert_true(a->after_rms > 0);
}

// How a fit is asked for: each chooses its weights in another way.
static cutis_pose_fit_options options_of(int kind)
{
    cutis_pose_fit_options o = { .learn_weights = true, .weights_only = true };
    if (kind == 0) o.prior = CUTIS_PRIOR_AUTO;
    if (kind == 1) o.paper.normalise = true, o.influences = 6;
    return o;
}

static void shapes_that_are_read_give_the_bits_of_shapes_in_memory(void **state)
{
    (void)state;
    body b;
    open_body(&b);
    for (int kind = 0; kind < 2; kind++) {
        cutis_pose_fit_options o = options_of(kind);
        cutis_pose_examples examples = { POSES, b.poses, b.shapes, NULL };
        cutis_model *models[2] = { NULL, NULL };
        cutis_pose_fit_report *reports[2] = { NULL, NULL };
        assert_ok(b.context,
                  cutis_poses_fit(b.model, b.device, &examples, &o, &models[0], &reports[0]));
        examples.positions = NULL;
        o.read = read_shapes, o.user = &b;
        assert_ok(b.context,
                  cutis_poses_fit(b.model, b.device, &examples, &o, &models[1], &reports[1]));
        assert_true(b.reads > POSES && b.most <= 65536);
        assert_same_weights(models[0], models[1]);
        assert_same_reports(reports[0], reports[1]);
        for (int i = 0; i < 2; i++)
            cutis_model_destroy(models[i]), cutis_pose_fit_report_destroy(reports[i]);
    }
    close_body(&b);
}

// Learned last to first by two learners, of which one reads its shapes.
static void parts_put_together_give_the_bits_of_one_fit(void **state)
{
    (void)state;
    enum { MOST = 16 };
    body b;
    open_body(&b);
    const uint32_t count = cutis_poses_part_count(b.model);
    assert_in_range(count, 2, MOST);
    for (int kind = 0; kind < 2; kind++) {
        cutis_pose_fit_options o = options_of(kind);
        const cutis_pose_examples examples = { POSES, b.poses, b.shapes, NULL };
        cutis_model *models[2] = { NULL, NULL };
        cutis_pose_fit_report *reports[2] = { NULL, NULL };
        cutis_pose_learner *learners[2] = { NULL, NULL };
        void *parts[MOST];
        size_t sizes[MOST];
        assert_ok(b.context,
                  cutis_poses_fit(b.model, b.device, &examples, &o, &models[0], &reports[0]));
        assert_ok(b.context,
                  cutis_pose_learner_create(b.model, b.device, &examples, &o, &learners[0]));
        cutis_pose_fit_options read = o;
        read.read = read_shapes, read.user = &b;
        assert_ok(b.context,
                  cutis_pose_learner_create(b.model, NULL,
                                            &(cutis_pose_examples){ POSES, b.poses, NULL, NULL },
                                            &read, &learners[1]));
        for (uint32_t p = count; p-- > 0;)
            assert_ok(b.context,
                      cutis_pose_learner_learn(learners[p % 2], p, &parts[p], &sizes[p]));
        void *none = NULL;
        size_t size = 0;
        assert_int_equal(cutis_pose_learner_learn(learners[0], count, &none, &size),
                         CUTIS_INVALID_ARGUMENT);
        o.part_count = count, o.parts = (const void *const *)parts, o.part_sizes = sizes;
        assert_ok(b.context,
                  cutis_poses_fit(b.model, b.device, &examples, &o, &models[1], &reports[1]));
        assert_same_weights(models[0], models[1]);
        assert_same_reports(reports[0], reports[1]);
        for (int i = 0; i < 2; i++) {
            cutis_model_destroy(models[i]), cutis_pose_fit_report_destroy(reports[i]);
            cutis_pose_learner_destroy(learners[i]);
        }
        for (uint32_t p = 0; p < count; p++) cutis_memory_free(b.context, parts[p], sizes[p]);
    }
    close_body(&b);
}

static cutis_result fail_to_read(void *user, uint32_t example, uint32_t first, uint32_t count,
                                 float *positions)
{
    return example == 2 ? CUTIS_FILE_READ : read_shapes(user, example, first, count, positions);
}

static cutis_result read_nothing(void *user, uint32_t example, uint32_t first, uint32_t count,
                                 float *positions)
{
    (void)user, (void)first;
    memset(positions, 0, 3 * (size_t)count * sizeof *positions);
    if (example == 3) positions[0] = NAN;
    return CUTIS_OK;
}

static void parts_of_other_fits_and_what_cannot_be_read_are_refused(void **state)
{
    (void)state;
    body b;
    open_body(&b);
    cutis_pose_fit_options o = options_of(1);
    const cutis_pose_examples examples = { POSES, b.poses, b.shapes, NULL };
    const cutis_pose_examples poses = { POSES, b.poses, NULL, NULL };
    cutis_pose_learner *learner = NULL;
    cutis_model *out = NULL;
    void *parts[16] = { NULL };
    size_t sizes[16] = { 0 };
    const uint32_t count = cutis_poses_part_count(b.model);
    assert_ok(b.context, cutis_pose_learner_create(b.model, b.device, &examples, &o, &learner));
    for (uint32_t p = 0; p < count; p++)
        assert_ok(b.context, cutis_pose_learner_learn(learner, p, &parts[p], &sizes[p]));
    void *swapped[16];
    memcpy(swapped, parts, sizeof parts);
    swapped[0] = parts[1], swapped[1] = parts[0];
    o.part_count = count, o.part_sizes = sizes, o.parts = (const void *const *)swapped;
    assert_int_equal(cutis_poses_fit(b.model, NULL, &examples, &o, &out, NULL),
                     CUTIS_INVALID_ARGUMENT);
    o.parts = (const void *const *)parts;
    sizes[count - 1]--;
    assert_int_equal(cutis_poses_fit(b.model, NULL, &examples, &o, &out, NULL),
                     CUTIS_INVALID_ARGUMENT);
    sizes[count - 1]++;
    o.influences = 5; // parts have six
    assert_int_equal(cutis_poses_fit(b.model, NULL, &examples, &o, &out, NULL),
                     CUTIS_INVALID_ARGUMENT);
    o.part_count = count - 1;
    assert_int_equal(cutis_poses_fit(b.model, NULL, &examples, &o, &out, NULL),
                     CUTIS_INVALID_ARGUMENT);
    o = options_of(1);
    o.read = read_nothing;
    assert_int_equal(cutis_poses_fit(b.model, NULL, &poses, &o, &out, NULL),
                     CUTIS_INVALID_ARGUMENT);
    assert_non_null(strstr(cutis_context_error(b.context), "example 3: vertex 0 is not finite"));
    o.read = fail_to_read, o.user = &b;
    assert_int_equal(cutis_poses_fit(b.model, NULL, &poses, &o, &out, NULL), CUTIS_FILE_READ);
    assert_int_equal(cutis_pose_learner_create(b.model, NULL, &poses,
                                               &(cutis_pose_fit_options){ .read = read_nothing },
                                               &(cutis_pose_learner *){ NULL }),
                     CUTIS_INVALID_ARGUMENT); // displacements are as many as shapes
    for (uint32_t p = 0; p < count; p++) cutis_memory_free(b.context, parts[p], sizes[p]);
    cutis_pose_learner_destroy(learner);
    assert_null(out);
    close_body(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_that_are_read_give_the_bits_of_shapes_in_memory),
        cmocka_unit_test(parts_put_together_give_the_bits_of_one_fit),
        cmocka_unit_test(parts_of_other_fits_and_what_cannot_be_read_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
