// Characters through the gate and the sampler: every clip of the biped made by code and of the glTF
// sample assets against glTF's formulas in double, and the counts published for the spherical-blend
// paper's characters.
#include "support.h"
#include "gltf_sampling.h"

#include <cutis/weights.h>

static cutis_context *context;

static int setup(void **state)
{
    (void)state;
    return cutis_context_create(NULL, &context) != CUTIS_OK;
}

static int teardown(void **state)
{
    (void)state;
    int leaked = cutis_context_memory(context) != 0;
    cutis_context_destroy(context);
    return leaked;
}

static cutis_model *read_model(const char *name)
{
    cutis_model *model = NULL;
    assert_ok(context, cutis_model_read(context, shared_path(name), NULL, &model));
    return model;
}

// Difference of a pose from the formulas, relative to the channel's largest value.
static double clip_error(const cutis_model *model, uint32_t index, float t, cutis_transform *pose)
{
    const cutis_clip *clip = &cutis_model_get(model)->clips[index];
    static const int place[3] = { 0, 3, 7 };
    double worst = 0;
    for (uint32_t i = 0; i < clip->channel_count; i++) {
        const cutis_channel *c = &clip->channels[i];
        if (c->path == CUTIS_PATH_WEIGHTS) continue;
        const int width = c->path == CUTIS_PATH_ROTATION ? 4 : 3;
        const uint32_t cubic = c->interpolation == CUTIS_INTERPOLATION_CUBIC ? 3 : 1;
        const float *got = (const float *)&pose[c->node] + place[c->path];
        double want[4], dot = 0, size = 1;
        gltf_sample(c, t, want);
        for (uint32_t k = 0; k < c->key_count * (uint32_t)width * cubic; k++)
            size = fmax(size, fabs(c->values[k]));
        for (int k = 0; k < width; k++) dot += got[k] * want[k];
        for (int k = 0; k < width; k++)
            worst = fmax(worst, fabs(got[k] - (c->path == CUTIS_PATH_ROTATION && dot < 0 ? -1 : 1) *
                                                  want[k]) /
                                    size);
    }
    return worst;
}

static cutis_model *make_biped(void)
{
    cutis_model *model = NULL;
    cutis_synth_options options = { .vertex_count = 1500 };
    assert_ok(context, cutis_synth_create(context, &options, &model));
    return model;
}

static void check_clips(cutis_model *model, uint32_t clip_count)
{
    const cutis_model_data *data = cutis_model_get(model);
    assert_int_equal(data->clip_count, clip_count);
    cutis_transform *pose = malloc(data->node_count * sizeof *pose);
    for (uint32_t c = 0; c < data->clip_count; c++) {
        cutis_sampler *sampler = NULL;
        assert_ok(context, cutis_sampler_create(model, c, &sampler));
        for (int i = 0; i <= 40; i++) {
            float t = cutis_sampler_duration(sampler) * (float)i / 40;
            cutis_sampler_sample(sampler, t, pose, NULL);
            // Times reach 4 s with keys 1/24 s apart: u is good to 4 s * 6e-8 * 24 = 6e-6 of a
            // key's step, and a step is a fraction of the largest value.
            assert_near(clip_error(model, c, t, pose), 0, 2e-6);
        }
        cutis_sampler_destroy(sampler);
    }
    free(pose);
    cutis_model_destroy(model);
}

#define ASSETS "gltf-sample-assets/"
static void clips_play_as_gltf_says(void **state)
{
    static const struct {
        const char *path;
        uint32_t clip_count;
    } FILES[] = { { ASSETS "Fox/glTF/Fox.gltf", 3 },
                  { ASSETS "CesiumMan/glTF/CesiumMan.gltf", 1 },
                  { ASSETS "RiggedFigure/glTF/RiggedFigure.gltf", 1 },
                  { ASSETS "InterpolationTest/glTF/InterpolationTest.gltf", 9 } };
    (void)state;
    check_clips(make_biped(), 5);
    for (size_t i = 0; i < sizeof FILES / sizeof *FILES; i++)
        if (shared_is_there(FILES[i].path))
            check_clips(read_model(FILES[i].path), FILES[i].clip_count);
}

static void check_counts(const char *name, uint32_t vertices, uint32_t joints, uint32_t sets)
{
    cutis_model *model = read_model(name);
    cutis_weight_summary w;
    assert_ok(context, cutis_weights_summarize(model, &w));
    assert_int_equal(cutis_model_vertex_count(model), vertices);
    assert_int_equal(w.joint_count, joints);
    assert_int_equal(w.bone_set_count, sets);
    cutis_model_destroy(model);
}

static void the_papers_characters_have_the_published_bone_sets(void **state)
{
    (void)state;
    check_counts("cal3d/data/cally/cally.cfg", 1844, 37, 62);
    check_counts("cal3d/data/skeleton/skeleton.cfg", 2527, 23, 0);
}

static void check_limits(cutis_model *model)
{
    cutis_model *limited = NULL;
    for (uint32_t k = 1; k <= 4; k++) {
        assert_ok(context, cutis_weights_limit(model, k, &limited));
        const cutis_primitive *p = &cutis_model_get(limited)->meshes[0].primitives[0];
        for (uint32_t v = 0; v < p->vertex_count; v++) {
            double sum = 0;
            assert_in_range(p->influences.first[v + 1] - p->influences.first[v], 1, k);
            for (uint32_t i = p->influences.first[v]; i < p->influences.first[v + 1]; i++)
                sum += p->influences.weights[i];
            assert_near(sum, 1, 1.2e-7 * k);
        }
        cutis_model_destroy(limited);
    }
    cutis_model_destroy(model);
}

static void limiting_a_skin_leaves_unit_sums_of_at_most_k(void **state)
{
    (void)state;
    check_limits(make_biped());
    if (shared_is_there(ASSETS "CesiumMan/glTF/CesiumMan.gltf"))
        check_limits(read_model(ASSETS "CesiumMan/glTF/CesiumMan.gltf"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(clips_play_as_gltf_says),
        TEST(the_papers_characters_have_the_published_bone_sets),
        TEST(limiting_a_skin_leaves_unit_sums_of_at_most_k),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
