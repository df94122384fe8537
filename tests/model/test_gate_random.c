// Random damage: whatever a model's arrays hold, the gate refuses it or everything behind the gate
// works on it. Run under sanitizers this is where a missing check shows.
#include "rig.h"

#include <cutis/weights.h>

enum { ROUNDS = 6000 };

static uint64_t draws;
static uint64_t draw(uint64_t below)
{
    return cutis_random_bits(5, 0, draws++) % below;
}

static const float odd_floats[] = { 0,           -0.0f,  1,        -1,        1e-30f, 1e30f,
                                    3e38f,       -3e38f, 1e-45f,   0.5f,      2,      -0.25f,
                                    16777216.0f, 1e-6f,  INFINITY, -INFINITY, NAN };
static const uint32_t odd_words[] = { 0, 1, 2, 3,   4,          5,          6,
                                      7, 8, 9, 100, 0x7fffffff, 0x80000000, 0xffffffff };

static float odd_float(void)
{
    return odd_floats[draw(sizeof odd_floats / sizeof *odd_floats)];
}

static uint32_t odd_word(void)
{
    return odd_words[draw(sizeof odd_words / sizeof *odd_words)];
}

// One float or one index somewhere; never a count that would lie about the length of a caller's
// array, which no gate can know.
static void damage(rig *r)
{
    const struct {
        float *values;
        size_t count;
    } floats[] = { { r->positions, 12 },
                   { r->normals, 12 },
                   { r->tangents, 16 },
                   { r->texcoords, 8 },
                   { r->colors, 16 },
                   { r->target_positions[0], 24 },
                   { r->target_weights, 2 },
                   { r->node_target_weights, 2 },
                   { r->weights, 8 },
                   { r->times, RIG_KEYS },
                   { r->translations, 9 },
                   { r->rotations, 12 },
                   { r->scales, 27 },
                   { r->morphs, 6 },
                   { r->inverse_binds[0].m, 24 },
                   { r->matrix.m, 12 },
                   { &r->material.metallic, 1 } };
    const size_t kinds = sizeof floats / sizeof *floats;
    uint64_t kind = draw(kinds + 14);
    if (kind < kinds) {
        floats[kind].values[draw(floats[kind].count)] = odd_float();
        return;
    }
    cutis_node *node = &r->nodes[draw(RIG_NODES)];
    cutis_channel *channel = &r->channels[draw(4)];
    switch (kind - kinds) {
    case 0:
        r->indices[draw(6)] = odd_word();
        break;
    case 1:
        r->joints[draw(8)] = odd_word();
        break;
    case 2:
        r->parts[draw(2)] = odd_word();
        break;
    case 3:
        r->first[draw(5)] = (uint32_t)draw(9);
        break; // the arrays hold 8
    case 4:
        node->parent = (int32_t)odd_word();
        break;
    case 5:
        node->mesh = (int32_t)odd_word();
        break;
    case 6:
        node->skin = (int32_t)odd_word();
        break;
    case 7:
        ((float *)&node->rest)[draw(10)] = odd_float();
        break;
    case 8:
        r->skin_joints[draw(2)] = odd_word();
        break;
    case 9:
        r->skin.root = (int32_t)odd_word();
        break;
    case 10:
        channel->node = odd_word();
        break;
    case 11:
        channel->path = (cutis_path)(channel->path == CUTIS_PATH_WEIGHTS ? 9 : 7);
        break;
    case 12:
        channel->interpolation = (cutis_interpolation)draw(2);
        break; // never longer than it was
    case 13:
        node->outside = true;
        break;
    }
}

static void use(cutis_context *context, const cutis_model *model)
{
    const cutis_model_data *data = cutis_model_get(model);
    cutis_transform pose[2][RIG_NODES];
    cutis_mat34 world[RIG_NODES];
    float weights[RIG_NODES * 2];
    uint32_t indices[RIG_NODES * 9];
    float positions[RIG_NODES * 21];
    cutis_pose_rest(model, pose[0], weights);
    for (uint32_t c = 0; c < data->clip_count; c++) {
        cutis_sampler *sampler = NULL;
        assert_ok(context, cutis_sampler_create(model, c, &sampler));
        const float times[] = { -1, 0, 0.3f, 0.5f, 0.99f, 1, 1e30f };
        for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
            cutis_sampler_sample(sampler, times[i], pose[1], weights);
            cutis_pose_blend(pose[0], pose[1], 0.5f, RIG_NODES, pose[1]);
            cutis_pose_world(model, pose[1], world);
        }
        cutis_sampler_destroy(sampler);
    }
    cutis_model_triangles(model, indices);
    cutis_model_file_positions(model, positions);
    for (uint64_t i = 0; i < 3 * cutis_model_triangle_count(model); i++)
        assert_true(indices[i] < cutis_model_vertex_count(model));
    cutis_weight_summary summary;
    cutis_check_report *report = NULL;
    cutis_model *limited = NULL;
    assert_ok(context, cutis_weights_summarize(model, &summary));
    assert_ok(context, cutis_model_check(model, 4, &report));
    assert_ok(context, cutis_weights_limit(model, 1 + (uint32_t)draw(3), &limited));
    cutis_check_report_destroy(report);
    cutis_model_destroy(limited);
}

static void damaged_models_are_refused_or_work(void **state)
{
    (void)state;
    cutis_context *context;
    assert_int_equal(cutis_context_create(NULL, &context), CUTIS_OK);
    uint32_t passed[2] = { 0 };
    for (int round = 0; round < ROUNDS; round++) {
        rig r;
        rig_init(&r);
        for (uint64_t k = 1 + draw(4); k > 0; k--) damage(&r);
        for (int gate = 0; gate < 2; gate++) {
            cutis_model *model = NULL;
            cutis_result result = cutis_model_create(context, &r.data, (cutis_gate)gate, &model);
            if (result != CUTIS_OK) {
                assert_int_equal(result, CUTIS_CORRUPT_DATA);
                assert_true(strlen(cutis_context_error(context)) > 10);
                continue;
            }
            passed[gate]++;
            use(context, model);
            if (gate == CUTIS_GATE_REPAIR) { // what was repaired is healthy
                cutis_model *again = NULL;
                assert_ok(context, cutis_model_create(context, cutis_model_get(model),
                                                      CUTIS_GATE_REFUSE, &again));
                cutis_model_destroy(again);
            }
            cutis_model_destroy(model);
        }
        assert_int_equal(cutis_context_memory(context), 0);
    }
    // Both ends are exercised, and repairing lets more through.
    assert_true(passed[0] > ROUNDS / 20 && passed[0] < ROUNDS * 3 / 4);
    assert_true(passed[1] > passed[0]);
    cutis_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(damaged_models_are_refused_or_work) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
