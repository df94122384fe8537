// CUTIS_cage: what is written is read with the same bits, from new and from read models; what is
// wrong is refused by name. And the cage as a skin: linear blending is the cage's own result.
#include "fit/cage_case.h"

#include <unistd.h>

typedef struct {
    cutis_context *context;
    cutis_device *device;
    cutis_model *model;
    char folder[64], path[128];
} scene;

static scene open_scene(uint32_t influences, cutis_coordinates coordinates)
{
    static cage_mesh ball, around;
    scene s = { 0 };
    cutis_cage *cage;
    make_icosphere(&ball, 2, 1);
    make_icosphere(&around, 1, 1.5);
    // Mean value weights are negative only where a cage is not convex, so it gets a dent.
    for (int k = 0; k < 3 && coordinates == CUTIS_COORDINATES_MVC; k++) around.positions[k] *= 0.5f;
    assert_int_equal(cutis_context_create(NULL, &s.context), CUTIS_OK);
    assert_ok(s.context, cutis_device_create(s.context, NULL, &s.device));
    cutis_model *body = mesh_model(s.context, ball.vertex_count, ball.positions,
                                   ball.triangle_count, ball.triangles),
                *model = mesh_model(s.context, around.vertex_count, around.positions,
                                    around.triangle_count, around.triangles);
    assert_ok(s.context, cutis_cage_create(model, &cage));
    cutis_cage_options options = { .influences = influences,
                                   .coordinates = coordinates,
                                   .resolution = 16,
                                   .skip_evaluation = true };
    assert_ok(s.context, cutis_cage_bind(body, s.device, cage, &options, &s.model, NULL));
    cutis_model_destroy(body), cutis_model_destroy(model);
    cutis_cage_destroy(cage);
    snprintf(s.folder, sizeof s.folder, "/tmp/cutis_cage_XXXXXX");
    assert_non_null(mkdtemp(s.folder));
    return s;
}

static const char *place(scene *s, const char *name)
{
    snprintf(s->path, sizeof s->path, "%s/%s", s->folder, name);
    return s->path;
}

static void close_scene(scene *s)
{
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", s->folder);
    assert_int_equal(system(command), 0);
    cutis_model_destroy(s->model);
    cutis_device_destroy(s->device);
    assert_int_equal(cutis_context_memory(s->context), 0);
    cutis_context_destroy(s->context);
}

static void assert_same_cage(const cutis_model *x, const cutis_model *y)
{
    const cutis_cage *a = cutis_model_get(x)->cage, *b = cutis_model_get(y)->cage;
    assert_non_null(a), assert_non_null(b);
    assert_int_equal(a->control_count, b->control_count);
    assert_int_equal(a->triangle_count, b->triangle_count);
    assert_int_equal(a->coordinates, b->coordinates);
    assert_memory_equal(a->controls, b->controls, a->control_count * sizeof *a->controls);
    assert_memory_equal(a->triangles, b->triangles, 12 * a->triangle_count);
    for (uint32_t m = 0; m < a->mesh_count; m++) {
        const cutis_cage_mesh *p = &a->meshes[m], *q = &b->meshes[m];
        assert_int_equal(p->vertex_count, q->vertex_count);
        assert_memory_equal(p->first, q->first, (p->vertex_count + 1) * sizeof *p->first);
        assert_memory_equal(p->controls, q->controls, p->first[p->vertex_count] * 4);
        assert_memory_equal(p->weights, q->weights, p->first[p->vertex_count] * 4);
    }
}

static void cages_survive_writing_and_reading_bit_by_bit(void **state)
{
    (void)state;
    static const char *const names[] = { "a.glb", "a.gltf" };
    for (int k = 0; k < 4; k++) {
        scene s =
            open_scene(k % 2 ? 6 : 0, k / 2 ? CUTIS_COORDINATES_HARMONIC : CUTIS_COORDINATES_MVC);
        for (int f = 0; f < 2; f++) {
            cutis_model *read, *again;
            assert_ok(s.context, cutis_model_write(s.model, place(&s, names[f]), NULL));
            assert_ok(s.context, cutis_model_read(s.context, s.path, NULL, &read));
            assert_same_cage(s.model, read);
            // Once more, now from a model that came from a file.
            assert_ok(s.context, cutis_model_write(read, place(&s, "b.glb"), NULL));
            assert_ok(s.context, cutis_model_read(s.context, s.path, NULL, &again));
            assert_same_cage(s.model, again);
            cutis_model_destroy(again);
            // Without its cage nothing of it is left.
            cutis_model_data data = *cutis_model_get(read);
            cutis_model *bare;
            data.cage = NULL;
            assert_ok(s.context, cutis_model_create(s.context, &data, CUTIS_GATE_REFUSE, &bare));
            assert_ok(s.context, cutis_model_write(bare, place(&s, "c.gltf"), NULL));
            void *text;
            size_t size;
            assert_ok(s.context, cutis_file_read(s.context, s.path, &text, &size));
            assert_null(strstr(text, "CUTIS_cage"));
            cutis_memory_free(s.context, text, size);
            cutis_model_destroy(bare), cutis_model_destroy(read);
        }
        close_scene(&s);
    }
}

// Replace the first `from` in the JSON by `to` (as long or shorter), and read it.
static void expect_refusal(scene *s, const char *from, const char *to, const char *error)
{
    void *text;
    size_t size;
    cutis_model *model = NULL;
    assert_ok(s->context, cutis_model_write(s->model, place(s, "a.gltf"), NULL));
    assert_ok(s->context, cutis_file_read(s->context, s->path, &text, &size));
    char *copy = calloc(1, size + 1), *at;
    memcpy(copy, text, size);
    cutis_memory_free(s->context, text, size);
    at = strstr(copy, from);
    if (!at) fail_msg("no %s in %s", from, copy);
    assert_true(strlen(to) <= strlen(from));
    memset(at, ' ', strlen(from));
    memcpy(at, to, strlen(to));
    assert_ok(s->context, cutis_file_write(s->context, s->path, copy, size));
    free(copy);
    assert_int_not_equal(cutis_model_read(s->context, s->path, NULL, &model), CUTIS_OK);
    assert_null(model);
    if (!strstr(cutis_context_error(s->context), error))
        fail_msg("%s instead of %s", cutis_context_error(s->context), error);
}

static void wrong_cages_are_refused_by_name(void **state)
{
    (void)state;
    scene s = open_scene(6, CUTIS_COORDINATES_MVC);
    expect_refusal(&s, "\"coordinates\": \"mvc\"", "\"coordinates\": \"mv\"", "coordinates");
    expect_refusal(&s, "\"coordinates\": \"mvc\"", "\"coordinates\": []", "coordinates");
    expect_refusal(&s, "\"slots\": 6", "\"slots\": 7", "weights: want an accessor");
    expect_refusal(&s, "\"slots\": 6", "\"slots\": 0", "slots");
    expect_refusal(&s, "\"slots\": 6", "\"slots\": x", "");
    expect_refusal(&s, "\"slots\": 6,", "", "slots");
    expect_refusal(&s, "\"triangles\": ", "\"triangle\": ", "triangles");
    close_scene(&s);
}

static void the_gate_refuses_cages_that_do_not_fit(void **state)
{
    (void)state;
    scene s = open_scene(6, CUTIS_COORDINATES_MVC);
    for (int k = 0; k < 8; k++) {
        cutis_model_data data = *cutis_model_get(s.model);
        cutis_cage cage = *data.cage;
        cutis_cage_mesh mesh = cage.meshes[0];
        const uint32_t count = mesh.first[mesh.vertex_count];
        uint32_t *controls = malloc(count * 4), *triangles = malloc(12 * cage.triangle_count);
        float *weights = malloc(count * 4);
        cutis_model *model = NULL;
        memcpy(controls, mesh.controls, count * 4);
        memcpy(weights, mesh.weights, count * 4);
        memcpy(triangles, cage.triangles, 12 * cage.triangle_count);
        mesh.controls = controls, mesh.weights = weights, cage.triangles = triangles;
        cage.meshes = &mesh, data.cage = &cage;
        if (k == 0) controls[3] = 1000;
        if (k == 1) controls[0] = controls[1];
        if (k == 2) weights[9] = NAN;
        if (k == 3) triangles[4] = 42;
        if (k == 4) mesh.vertex_count--;
        if (k == 5) cage.mesh_count = 2;
        if (k == 6) cage.control_count = 3;
        if (k == 7) cage.coordinates = (cutis_coordinates)9;
        assert_int_equal(cutis_model_create(s.context, &data, CUTIS_GATE_REFUSE, &model),
                         CUTIS_CORRUPT_DATA);
        assert_non_null(strstr(cutis_context_error(s.context), "cage"));
        assert_null(model);
        free(controls), free(weights), free(triangles);
    }
    close_scene(&s);
}

// Both kinds of skins against the cage's own frames, 1e-5 of the diagonal; also through a file.
static void a_cage_as_a_skin_moves_as_the_cage_does(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        scene s =
            open_scene(kind ? 4 : 7, kind ? CUTIS_COORDINATES_HARMONIC : CUTIS_COORDINATES_MVC);
        const cutis_cage *cage = cutis_model_get(s.model)->cage;
        const uint32_t n = cage->control_count, frames = 6,
                       vertices = cutis_model_vertex_count(s.model);
        float *poses = malloc(3 * n * frames * sizeof *poses);
        float *own = malloc(3 * vertices * sizeof *own),
              *skinned = malloc(3 * vertices * sizeof *skinned);
        cutis_model *skin, *read;
        cutis_cage_skin_report how;
        cutis_binding *a, *b;
        cutis_sampler *sampler;
        cutis_cage_automatic_poses(cage, 4, frames, poses);
        assert_ok(s.context, cutis_cage_to_skin(s.model, poses, frames, 30, &skin, &how));
        assert_int_equal(how.paired, kind == 0);
        assert_int_equal(how.joint_count, kind ? n : 2 * n + 1);
        assert_true(how.max_influences <= (kind ? 4u : 8u));
        assert_null(cutis_model_get(skin)->cage);
        assert_ok(s.context, cutis_model_write(skin, place(&s, "skin.glb"), NULL));
        assert_ok(s.context, cutis_model_read(s.context, s.path, NULL, &read));
        uint32_t clip;
        assert_ok(s.context, cutis_model_find_clip(read, "cage", &clip));
        assert_ok(s.context, cutis_sampler_create(read, clip, &sampler));
        assert_ok(s.context, cutis_bind(s.device, s.model,
                                        &(cutis_bind_options){ .method = CUTIS_METHOD_CAGE }, &a));
        assert_ok(s.context, cutis_bind(s.device, read, NULL, &b));
        cutis_transform *local = malloc(cutis_model_get(read)->node_count * sizeof *local);
        for (uint32_t f = 0; f < frames; f++) {
            cutis_poses controls = { .kind = CUTIS_POSE_CONTROLS,
                                     .controls = (cutis_float3 *)(poses + 3 * n * f) };
            assert_ok(s.context,
                      cutis_deform(a, &controls, 1, &(cutis_outputs){ .positions.data = own }));
            cutis_sampler_sample(sampler, (float)(f / 30.0), local, NULL);
            assert_ok(s.context, cutis_deform(b, &(cutis_poses){ .local = local }, 1,
                                              &(cutis_outputs){ .positions.data = skinned }));
            for (uint32_t i = 0; i < 3 * vertices; i++)
                assert_near(own[i], skinned[i], 1e-5 * 2 * sqrt(3));
        }
        free(local), free(poses), free(own), free(skinned);
        cutis_sampler_destroy(sampler);
        cutis_binding_destroy(a), cutis_binding_destroy(b);
        cutis_model_destroy(skin), cutis_model_destroy(read);
        close_scene(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cages_survive_writing_and_reading_bit_by_bit),
        cmocka_unit_test(wrong_cages_are_refused_by_name),
        cmocka_unit_test(the_gate_refuses_cages_that_do_not_fit),
        cmocka_unit_test(a_cage_as_a_skin_moves_as_the_cage_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
