// Sampling against glTF's own formulas in double (spherical interpolation by acos and sin, the
// cubic Hermite spline), over random clips with every mix of paths, interpolations and key times.
#include "rig.h"
#include "gltf_sampling.h"

enum { NODES = 13, TARGETS = 3, KEYS_MAX = 40, POOL = 6 };

// A clip with all its arrays; times come from a pool, so that some channels share an array, some
// have an equal copy and some have their own.
typedef struct {
    cutis_node nodes[NODES];
    cutis_mesh mesh;
    cutis_primitive primitive;
    float positions[9];
    cutis_channel channels[NODES * 4];
    cutis_clip clip;
    float times[POOL][KEYS_MAX], copies[NODES * 4][KEYS_MAX];
    uint32_t key_counts[POOL];
    float values[NODES * 4][KEYS_MAX * 12];
    cutis_model_data data;
    cutis_context *context;
    cutis_model *model;
    cutis_sampler *sampler;
} scene;

static uint64_t draws;
static double draw(double low, double high)
{
    return random_in(7, draws++, low, high);
}

static cutis_transform random_transform(void)
{
    cutis_transform t;
    float *f = (float *)&t;
    for (int i = 0; i < 10; i++) f[i] = (float)draw(-1, 1);
    return t;
}

static void fill_channel(scene *s, cutis_channel *channel, uint32_t node, cutis_path path,
                         float *values, float *copy)
{
    uint32_t pool = (uint32_t)draw(0, POOL);
    *channel = (cutis_channel){
        node, path, (cutis_interpolation)draw(0, 3), s->key_counts[pool], s->times[pool], values
    };
    if (draw(0, 1) < 0.3) { // an equal copy, sometimes moved in time
        memcpy(copy, s->times[pool], sizeof s->times[pool]);
        float shift = draw(0, 1) < 0.5 ? 0.0f : 0.125f;
        for (uint32_t k = 0; k < channel->key_count; k++) copy[k] += shift;
        channel->times = copy;
    }
    uint32_t width = path == CUTIS_PATH_ROTATION ? 4 : 3;
    if (channel->interpolation == CUTIS_INTERPOLATION_CUBIC) width *= 3;
    for (uint32_t i = 0; i < channel->key_count * width; i++) values[i] = (float)draw(-2, 2);
    if (path != CUTIS_PATH_ROTATION || channel->interpolation == CUTIS_INTERPOLATION_CUBIC) return;
    for (uint32_t k = 1; k < channel->key_count; k++) { // close, opposite and equal neighbours too
        double kind = draw(0, 4);
        for (int c = 0; c < 4; c++) {
            float before = values[4 * (k - 1) + (uint32_t)c];
            if (kind < 1)
                values[4 * k + (uint32_t)c] = before + (float)draw(-1e-3, 1e-3);
            else if (kind < 1.5)
                values[4 * k + (uint32_t)c] = -before;
            else if (kind < 2)
                values[4 * k + (uint32_t)c] = before;
        }
    }
}

static scene *make_scene(uint64_t seed)
{
    scene *s = calloc(1, sizeof *s);
    draws = seed << 32;
    for (int p = 0; p < POOL; p++) {
        float time = (float)draw(0, 0.5);
        s->key_counts[p] = p == 0 ? 1 : (uint32_t)draw(1, KEYS_MAX);
        for (int k = 0; k < KEYS_MAX;
             k++, time += (float)(p % 2 ? 1.0 / 30 : pow(10, draw(-4, -0.5))))
            s->times[p][k] = time;
    }
    for (int n = 0; n < NODES; n++)
        s->nodes[n] = (cutis_node){ .parent = n - 1,
                                    .rest = random_transform(),
                                    .mesh = n == 5 ? 0 : CUTIS_NONE,
                                    .skin = CUTIS_NONE };
    uint32_t count = 0;
    for (uint32_t n = 0; n < NODES; n++)
        for (int path = 0; path < 4; path++) {
            if (path == CUTIS_PATH_WEIGHTS ? n != 5 : draw(0, 1) < 0.3) continue;
            fill_channel(s, &s->channels[count], n, (cutis_path)path, s->values[count],
                         s->copies[count]);
            count++;
        }
    s->primitive =
        (cutis_primitive){ .vertex_count = 3, .positions = s->positions, .material = CUTIS_NONE };
    s->mesh =
        (cutis_mesh){ .primitive_count = 1, .primitives = &s->primitive, .target_count = TARGETS };
    s->clip = (cutis_clip){ .channel_count = count, .channels = s->channels };
    s->data = (cutis_model_data){ .node_count = NODES,
                                  .mesh_count = 1,
                                  .clip_count = 1,
                                  .nodes = s->nodes,
                                  .meshes = &s->mesh,
                                  .clips = &s->clip };
    assert_int_equal(cutis_context_create(NULL, &s->context), CUTIS_OK);
    assert_ok(s->context, cutis_model_create(s->context, &s->data, CUTIS_GATE_REFUSE, &s->model));
    assert_ok(s->context, cutis_sampler_create(s->model, 0, &s->sampler));
    return s;
}

static void free_scene(scene *s)
{
    cutis_sampler_destroy(s->sampler);
    cutis_model_destroy(s->model);
    assert_int_equal(cutis_context_memory(s->context), 0);
    cutis_context_destroy(s->context);
    free(s);
}

static void compare(const scene *s, float t, const cutis_transform *pose, const float *weights)
{
    float expected_held[NODES][10];
    for (int n = 0; n < NODES; n++) memcpy(expected_held[n], &s->nodes[n].rest, 40);
    for (uint32_t i = 0; i < s->clip.channel_count; i++) {
        const cutis_channel *c = &s->channels[i];
        static const int place[4] = { 0, 3, 7, 0 };
        int width = c->path == CUTIS_PATH_ROTATION ? 4 : 3;
        const float *got = c->path == CUTIS_PATH_WEIGHTS
                               ? weights
                               : (const float *)&pose[c->node] + place[c->path];
        double want[4], dot = 0;
        gltf_sample(c, t, want);
        for (int k = 0; k < width; k++) dot += got[k] * want[k];
        double sign = c->path == CUTIS_PATH_ROTATION && dot < 0 ? -1 : 1;
        // Values reach 2; u carries one float rounding of the time, and tangents scale with the
        // step.
        for (int k = 0; k < width; k++) assert_near(got[k], sign * want[k], 1.5e-6);
        if (c->path != CUTIS_PATH_WEIGHTS)
            memcpy(&expected_held[c->node][place[c->path]], got, 4 * (size_t)width);
    }
    for (int n = 0; n < NODES; n++) // what has no channel is at rest, to the bit
        assert_memory_equal(expected_held[n], &pose[n], 40);
}

static void sampling_equals_the_formulas_of_gltf_for_any_mix_of_channels(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 25; seed++) {
        scene *s = make_scene(seed);
        cutis_transform pose[NODES];
        float weights[TARGETS];
        for (int i = 0; i < 60; i++) {
            float t = (float)draw(-0.2, 1.2) * cutis_sampler_duration(s->sampler);
            cutis_sampler_sample(s->sampler, t, pose, weights);
            compare(s, t, pose, weights);
        }
        free_scene(s);
    }
}

static void at_every_key_a_step_channel_gives_that_key_to_the_bit(void **state)
{
    (void)state;
    uint32_t seen = 0;
    for (uint64_t seed = 30; seed < 40; seed++) {
        scene *s = make_scene(seed);
        for (uint32_t i = 0; i < s->clip.channel_count; i++) {
            const cutis_channel *c = &s->channels[i];
            if (c->interpolation != CUTIS_INTERPOLATION_STEP || c->path != CUTIS_PATH_TRANSLATION)
                continue;
            for (uint32_t k = 0; k < c->key_count; k++) {
                cutis_transform pose[NODES];
                cutis_sampler_sample(s->sampler, c->times[k], pose, NULL);
                assert_memory_equal(&pose[c->node].translation, c->values + 3 * k, 12);
                if (k == 0) continue;
                cutis_sampler_sample(s->sampler, nextafterf(c->times[k], 0), pose, NULL);
                assert_memory_equal(&pose[c->node].translation, c->values + 3 * (k - 1), 12);
                seen++;
            }
        }
        free_scene(s);
    }
    assert_true(seen > 50);
}

static void times_outside_the_clip_and_nan_hold_its_ends(void **state)
{
    (void)state;
    scene *s = make_scene(50);
    cutis_transform start[NODES], end[NODES], pose[NODES];
    float duration = cutis_sampler_duration(s->sampler);
    cutis_sampler_sample(s->sampler, 0, start, NULL);
    cutis_sampler_sample(s->sampler, duration, end, NULL);
    const float before[] = { -1, -INFINITY, NAN, -0.0f },
                after[] = { duration + 1, INFINITY, 1e30f };
    for (size_t i = 0; i < 4; i++) {
        cutis_sampler_sample(s->sampler, before[i], pose, NULL);
        assert_memory_equal(pose, start, sizeof pose);
    }
    for (size_t i = 0; i < 3; i++) {
        cutis_sampler_sample(s->sampler, after[i], pose, NULL);
        assert_memory_equal(pose, end, sizeof pose);
    }
    free_scene(s);
}

static void slerp_is_within_4e_7_of_sines_at_every_angle(void **state)
{
    (void)state;
    cutis_context *context;
    assert_int_equal(cutis_context_create(NULL, &context), CUTIS_OK);
    double worst = 0;
    for (int i = 0; i <= 400; i++) {
        double angle = i < 200 ? pow(10, -6 + i / 33.3) : 1.5707963 * (i - 200) / 200.0;
        if (angle > 1.5707963)
            continue; // half the rotation's angle: 90 degrees at most on the short way
        float times[2] = { 0, 1 };
        float values[8] = {
            0, 0, 0, 1, (float)(0.6 * sin(angle)), (float)(-0.8 * sin(angle)), 0, (float)cos(angle)
        };
        cutis_channel channel = { 0,     CUTIS_PATH_ROTATION, CUTIS_INTERPOLATION_LINEAR, 2, times,
                                  values };
        cutis_clip clip = { .channel_count = 1, .channels = &channel };
        cutis_node node = {
            .parent = -1, .rest = cutis_transform_identity(), .mesh = -1, .skin = -1
        };
        cutis_model_data data = {
            .node_count = 1, .clip_count = 1, .nodes = &node, .clips = &clip
        };
        cutis_model *model = NULL;
        cutis_sampler *sampler = NULL;
        assert_ok(context, cutis_model_create(context, &data, CUTIS_GATE_REFUSE, &model));
        assert_ok(context, cutis_sampler_create(model, 0, &sampler));
        for (int k = 0; k <= 32; k++) {
            double u = k / 32.0, a = u * angle;
            cutis_transform pose;
            cutis_sampler_sample(sampler, (float)u, &pose, NULL);
            double want[4] = { 0.6 * sin(a), -0.8 * sin(a), 0, cos(a) };
            const float *got = &pose.rotation.x;
            for (int c = 0; c < 4; c++) worst = fmax(worst, fabs(got[c] - want[c]));
        }
        cutis_sampler_destroy(sampler);
        cutis_model_destroy(model);
    }
    assert_near(worst, 0, 4e-7); // 1.2e-7 of it are the float keys themselves
    assert_true(worst > 0);
    cutis_context_destroy(context);
}

static void a_channels_bits_do_not_depend_on_its_neighbours(void **state)
{
    (void)state;
    scene *all = make_scene(60);
    for (uint32_t i = 0; i < all->clip.channel_count; i++) {
        const cutis_channel *c = &all->channels[i];
        if (c->path == CUTIS_PATH_WEIGHTS) continue;
        cutis_clip clip = { .channel_count = 1, .channels = c };
        cutis_model_data data = all->data;
        cutis_model *model = NULL;
        cutis_sampler *sampler = NULL;
        data.clips = &clip;
        assert_ok(all->context, cutis_model_create(all->context, &data, CUTIS_GATE_REFUSE, &model));
        assert_ok(all->context, cutis_sampler_create(model, 0, &sampler));
        static const size_t place[3] = { 0, 12, 28 }, size[3] = { 12, 16, 12 };
        for (int k = 0; k < 10; k++) {
            cutis_transform one[NODES], many[NODES];
            float t = (float)draw(0, 1) * cutis_sampler_duration(sampler);
            cutis_sampler_sample(sampler, t, one, NULL);
            cutis_sampler_sample(all->sampler, t, many, NULL);
            assert_memory_equal((char *)&one[c->node] + place[c->path],
                                (char *)&many[c->node] + place[c->path], size[c->path]);
        }
        cutis_sampler_destroy(sampler);
        cutis_model_destroy(model);
    }
    free_scene(all);
}

static void a_sampler_outlives_its_model(void **state)
{
    (void)state;
    scene *s = make_scene(70);
    cutis_transform before[NODES], after[NODES];
    cutis_sampler_sample(s->sampler, 0.3f, before, NULL);
    cutis_model_destroy(s->model);
    s->model = NULL;
    cutis_sampler_sample(s->sampler, 0.3f, after, NULL);
    assert_memory_equal(before, after, sizeof before);
    free_scene(s);
}

static void a_clip_that_is_not_there_is_not_found(void **state)
{
    (void)state;
    scene *s = make_scene(80);
    cutis_sampler *sampler = NULL;
    assert_int_equal(cutis_sampler_create(s->model, 1, &sampler), CUTIS_NOT_FOUND);
    assert_null(sampler);
    free_scene(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sampling_equals_the_formulas_of_gltf_for_any_mix_of_channels),
        cmocka_unit_test(at_every_key_a_step_channel_gives_that_key_to_the_bit),
        cmocka_unit_test(times_outside_the_clip_and_nan_hold_its_ends),
        cmocka_unit_test(slerp_is_within_4e_7_of_sines_at_every_angle),
        cmocka_unit_test(a_channels_bits_do_not_depend_on_its_neighbours),
        cmocka_unit_test(a_sampler_outlives_its_model),
        cmocka_unit_test(a_clip_that_is_not_there_is_not_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
