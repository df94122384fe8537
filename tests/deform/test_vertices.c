/// cutis_skin_vertices: against a binding, against the formula in double, types, strides, refusals.
#include "../support.h"

enum { MOST = 8 };

typedef struct fixture {
    cutis_context *context;
    cutis_device *device;
    cutis_model *model;
    uint32_t vertices, bones;
    const float *positions, *normals;
    uint32_t *joints;
    float *weights;
    cutis_mat34 *palette;
    float *expected[2][2]; ///< LBS and DQS by a binding: positions, normals
} fixture;

static void run_binding(fixture *f, int which, const cutis_transform *pose)
{
    cutis_binding *binding = NULL;
    const cutis_bind_options options = { .method = which ? CUTIS_METHOD_DQS : CUTIS_METHOD_LBS,
                                         .normals = true };
    assert_ok(f->context, cutis_bind(f->device, f->model, &options, &binding));
    f->bones = cutis_binding_describe(binding).bone_count;
    f->palette = realloc(f->palette, f->bones * sizeof *f->palette);
    cutis_binding_palette(binding, pose, f->palette);
    for (int i = 0; i < 2; i++) f->expected[which][i] = malloc(12ull * f->vertices);
    const cutis_outputs outputs = { .positions = { .data = f->expected[which][0] },
                                    .normals = { .data = f->expected[which][1] } };
    const cutis_poses poses = { .kind = CUTIS_POSE_PALETTE, .matrices = f->palette };
    assert_ok(f->context, cutis_deform(binding, &poses, 1, &outputs));
    cutis_binding_destroy(binding);
}

static int set_up(void **state)
{
    fixture *f = *state = calloc(1, sizeof *f);
    cutis_sampler *sampler = NULL;
    assert_int_equal(cutis_context_create(NULL, &f->context), CUTIS_OK);
    assert_ok(f->context, cutis_device_create(f->context, NULL, &f->device));
    assert_ok(f->context,
              cutis_synth_create(f->context, &(cutis_synth_options){ .size = CUTIS_BODY_SIZE_LOW },
                                 &f->model));
    const cutis_model_data *data = cutis_model_get(f->model);
    const cutis_primitive *p = &data->meshes[0].primitives[0];
    assert_int_equal(cutis_model_vertex_count(f->model), p->vertex_count);
    f->vertices = p->vertex_count, f->positions = p->positions, f->normals = p->normals;
    f->joints = calloc(f->vertices, MOST * sizeof *f->joints);
    f->weights = calloc(f->vertices, MOST * sizeof *f->weights);
    for (uint32_t v = 0; v < f->vertices; v++)
        for (uint32_t i = p->influences.first[v], k = 0; i < p->influences.first[v + 1]; i++, k++) {
            assert_true(k < MOST);
            f->joints[MOST * v + k] = p->influences.joints[i];
            f->weights[MOST * v + k] = p->influences.weights[i];
        }
    cutis_transform *pose = malloc(data->node_count * sizeof *pose);
    assert_ok(f->context, cutis_sampler_create(f->model, 0, &sampler));
    cutis_sampler_sample(sampler, 0.3f * cutis_sampler_duration(sampler), pose, NULL);
    for (int which = 0; which < 2; which++) run_binding(f, which, pose);
    assert_int_equal(f->bones, data->skins[0].joint_count);
    cutis_sampler_destroy(sampler);
    free(pose);
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    cutis_model_destroy(f->model);
    cutis_device_destroy(f->device);
    cutis_context_destroy(f->context);
    for (int i = 0; i < 4; i++) free(f->expected[i / 2][i % 2]);
    free(f->joints), free(f->weights), free(f->palette), free(f);
    return 0;
}

static cutis_vertices vertices_of(const fixture *f)
{
    return (cutis_vertices){ .vertex_count = f->vertices,
                             .influence_count = MOST,
                             .positions = { .data = f->positions },
                             .normals = { .data = f->normals },
                             .joints = { .data = f->joints, .type = CUTIS_NUMBER_U32 },
                             .weights = { .data = f->weights } };
}

static double farthest(const float *a, const float *b, size_t count)
{
    double most = 0;
    for (size_t i = 0; i < count; i++) most = fmax(most, fabs((double)a[i] - b[i]));
    return most;
}

static void a_binding_gives_the_same(void **state)
{
    const fixture *f = *state;
    const cutis_vertices in = vertices_of(f);
    float *out[2] = { malloc(12ull * f->vertices), malloc(12ull * f->vertices) };
    for (int which = 0; which < 2; which++) {
        const cutis_outputs outputs = { .positions = { .data = out[0] },
                                        .normals = { .data = out[1] } };
        assert_int_equal(cutis_skin_vertices(&in, which ? CUTIS_METHOD_DQS : CUTIS_METHOD_LBS,
                                             f->palette, f->bones, &outputs),
                         CUTIS_OK);
        // Metres of a body 1.7 m high; the binding normalises weights in double.
        assert_true(farthest(out[0], f->expected[which][0], 3 * f->vertices) < 1e-6);
        assert_true(farthest(out[1], f->expected[which][1], 3 * f->vertices) < 2e-6);
    }
    assert_true(farthest(f->expected[0][0], f->expected[1][0], 3 * f->vertices) > 1e-3);
    free(out[0]), free(out[1]);
}

/// A bone that stretches and one that mirrors, a vertex between them: by the definition.
static void the_formula_in_double_gives_the_same(void **state)
{
    (void)state;
    const cutis_mat34 palette[2] = { { { 2, 0, 0, 1, 0, 0.5f, 0, 2, 0, 0, 1, 3 } },
                                     { { 0, -1, 0, 4, 1, 0, 0, 5, 0, 0, -1, 6 } } };
    const float position[3] = { 0.3f, -0.7f, 1.1f }, normal[3] = { 0.6f, 0, 0.8f };
    const uint8_t joints[2] = { 0, 1 }, weights[2] = { 3, 1 }; // 3/4 and 1/4
    float p[3], n[3];
    const cutis_vertices in = { .vertex_count = 1,
                                .influence_count = 2,
                                .positions = { .data = position },
                                .normals = { .data = normal },
                                .joints = { .data = joints, .type = CUTIS_NUMBER_U8 },
                                .weights = { .data = weights, .type = CUTIS_NUMBER_U8 } };
    const cutis_outputs outputs = { .positions = { .data = p }, .normals = { .data = n } };
    assert_int_equal(cutis_skin_vertices(&in, CUTIS_METHOD_LBS, palette, 2, &outputs), CUTIS_OK);
    double m[12], normal_out[3], length = 0;
    for (int i = 0; i < 12; i++) m[i] = 0.75 * palette[0].m[i] + 0.25 * palette[1].m[i];
    for (int r = 0; r < 3; r++)
        assert_near(p[r],
                    m[4 * r] * position[0] + m[4 * r + 1] * position[1] +
                        m[4 * r + 2] * position[2] + m[4 * r + 3],
                    1e-6);
    for (int r = 0; r < 3; r++) { // rows of the cofactor matrix, whose determinant is positive here
        const double *a = m + 4 * ((r + 1) % 3), *b = m + 4 * ((r + 2) % 3);
        normal_out[r] = (a[1] * b[2] - a[2] * b[1]) * normal[0] +
                        (a[2] * b[0] - a[0] * b[2]) * normal[1] +
                        (a[0] * b[1] - a[1] * b[0]) * normal[2];
        length += normal_out[r] * normal_out[r];
    }
    for (int r = 0; r < 3; r++) assert_near(n[r], normal_out[r] / sqrt(length), 1e-6);
}

// As a binding has it: what no vertex uses does not count, be it bones of the palette or joints
// of influences without weight.
static void what_no_vertex_uses_does_not_count(void **state)
{
    fixture *f = *state;
    cutis_vertices in = vertices_of(f);
    cutis_mat34 *palette = malloc((f->bones + 2ull) * sizeof *palette);
    uint32_t *joints = malloc(4ull * f->vertices * MOST);
    float *out = malloc(12ull * f->vertices), *normals = malloc(12ull * f->vertices);
    memcpy(palette, f->palette, f->bones * sizeof *palette);
    palette[f->bones] = (cutis_mat34){ { 3, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0 } };
    palette[f->bones + 1] = (cutis_mat34){ { NAN } };
    for (uint32_t i = 0; i < f->vertices * MOST; i++)
        joints[i] = f->weights[i] > 0 ? f->joints[i] : UINT32_MAX - i;
    in.joints = (cutis_vertex_array){ .data = joints, .type = CUTIS_NUMBER_U32 };
    const cutis_outputs outputs = { .positions = { .data = out }, .normals = { .data = normals } };
    assert_int_equal(cutis_skin_vertices(&in, CUTIS_METHOD_LBS, palette, f->bones + 2, &outputs),
                     CUTIS_OK);
    assert_true(farthest(out, f->expected[0][0], 3 * f->vertices) < 1e-5);
    assert_true(farthest(normals, f->expected[0][1], 3 * f->vertices) < 1e-5);
    free(palette), free(joints), free(out), free(normals);
}

static void every_type_and_stride_is_read(void **state)
{
    const fixture *f = *state;
    typedef struct record {
        float position[3], normal[3];
        uint16_t joints[MOST], weights[MOST];
        uint8_t small[MOST];
    } record;
    record *records = calloc(f->vertices, sizeof *records);
    float *plain = malloc(12ull * f->vertices);
    for (uint32_t v = 0; v < f->vertices; v++) {
        memcpy(records[v].position, f->positions + 3 * v, 12);
        for (int i = 0; i < MOST; i++) {
            records[v].joints[i] = (uint16_t)f->joints[MOST * v + i];
            records[v].small[i] = (uint8_t)f->joints[MOST * v + i];
            records[v].weights[i] = (uint16_t)(65535 * f->weights[MOST * v + i] + 0.5f);
        }
    }
    cutis_vertices in = { .vertex_count = f->vertices,
                          .influence_count = MOST,
                          .positions = { records->position, sizeof(record), CUTIS_NUMBER_F32 },
                          .joints = { records->small, sizeof(record), CUTIS_NUMBER_U8 },
                          .weights = { records->weights, sizeof(record), CUTIS_NUMBER_U16 } };
    const cutis_outputs apart = { .positions = { .data = plain } };
    const cutis_outputs in_place = { .positions = { .data = records->position,
                                                    .stride = sizeof(record) } };
    assert_int_equal(cutis_skin_vertices(&in, CUTIS_METHOD_DQS, f->palette, f->bones, &apart),
                     CUTIS_OK);
    assert_true(farthest(plain, f->expected[1][0], 3 * f->vertices) < 1e-4); // 1/65535 of a weight
    in.joints = (cutis_vertex_array){ records->joints, sizeof(record), CUTIS_NUMBER_U16 };
    assert_int_equal(cutis_skin_vertices(&in, CUTIS_METHOD_DQS, f->palette, f->bones, &in_place),
                     CUTIS_OK);
    for (uint32_t v = 0; v < f->vertices; v++)
        assert_memory_equal(records[v].position, plain + 3 * v, 12);
    free(records), free(plain);
}

static void what_cannot_be_is_refused_and_nothing_is_written(void **state)
{
    const fixture *f = *state;
    cutis_vertices in = vertices_of(f);
    float *out = calloc(f->vertices, 12), *untouched = calloc(f->vertices, 12);
    const cutis_outputs outputs = { .positions = { .data = out } };
    cutis_bounds bounds;
    const cutis_outputs wrong[] = { { .normals = { .data = out } },
                                    { .positions = { .data = out, .stride = 13 } },
                                    { .positions = { .data = out, .stride = 8 } },
                                    { .positions = { .data = out },
                                      .topology.counts.data = &bounds },
                                    { .positions = { .data = out }, .bounds = &bounds } };
    for (int i = 0; i < 5; i++)
        assert_int_equal(
            cutis_skin_vertices(&in, CUTIS_METHOD_LBS, f->palette, f->bones, &wrong[i]),
            CUTIS_INVALID_ARGUMENT);
    assert_int_equal(cutis_skin_vertices(&in, CUTIS_METHOD_SBS, f->palette, f->bones, &outputs),
                     CUTIS_UNSUPPORTED);
    assert_int_equal(cutis_skin_vertices(&in, CUTIS_METHOD_DQS, f->palette, 1025, &outputs),
                     CUTIS_UNSUPPORTED);
    assert_int_equal(cutis_skin_vertices(NULL, CUTIS_METHOD_LBS, f->palette, 1, &outputs),
                     CUTIS_INVALID_ARGUMENT);
    assert_int_equal(cutis_skin_vertices(&in, CUTIS_METHOD_LBS, f->palette, 3, &outputs),
                     CUTIS_INVALID_ARGUMENT); // joints beyond the palette
    in.weights.type = CUTIS_NUMBER_U32;
    assert_int_equal(cutis_skin_vertices(&in, CUTIS_METHOD_LBS, f->palette, f->bones, &outputs),
                     CUTIS_INVALID_ARGUMENT);
    in = vertices_of(f), in.influence_count = 65;
    assert_int_equal(cutis_skin_vertices(&in, CUTIS_METHOD_LBS, f->palette, f->bones, &outputs),
                     CUTIS_INVALID_ARGUMENT);
    in = vertices_of(f), in.positions.stride = 8;
    assert_int_equal(cutis_skin_vertices(&in, CUTIS_METHOD_LBS, f->palette, f->bones, &outputs),
                     CUTIS_INVALID_ARGUMENT);
    static const float BAD[] = { NAN, INFINITY, -1, 3e38f };
    float *weights = malloc(4ull * f->vertices * MOST);
    memcpy(weights, f->weights, 4ull * f->vertices * MOST);
    for (int i = 0; i < 4; i++) {
        weights[f->vertices * MOST - 1] = BAD[i];
        in = vertices_of(f), in.weights.data = weights;
        assert_int_equal(cutis_skin_vertices(&in, CUTIS_METHOD_LBS, f->palette, f->bones, &outputs),
                         CUTIS_INVALID_ARGUMENT);
    }
    cutis_mat34 *palette = malloc(f->bones * sizeof *palette);
    memcpy(palette, f->palette, f->bones * sizeof *palette);
    palette[f->joints[0]].m[5] = INFINITY;
    in = vertices_of(f);
    assert_int_equal(cutis_skin_vertices(&in, CUTIS_METHOD_LBS, palette, f->bones, &outputs),
                     CUTIS_INVALID_ARGUMENT);
    assert_memory_equal(out, untouched, 12ull * f->vertices);
    free(out), free(untouched), free(weights), free(palette);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_binding_gives_the_same),
        cmocka_unit_test(the_formula_in_double_gives_the_same),
        cmocka_unit_test(what_no_vertex_uses_does_not_count),
        cmocka_unit_test(every_type_and_stride_is_read),
        cmocka_unit_test(what_cannot_be_is_refused_and_nothing_is_written),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
