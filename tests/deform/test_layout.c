/// The packed layout a device gets: every vertex once, lists that are the union of their vertices'
/// bones, padding as the contract says, aligned, the same every time, and short lists on real
/// skins.
#include "rig.h"

#include "deform/skin.h"

static cutis_context *context;
static cutis_device *device;

static int group_setup(void **state)
{
    (void)state;
    return cutis_context_create(NULL, &context) || cutis_device_create(context, NULL, &device);
}

static int group_teardown(void **state)
{
    (void)state;
    cutis_device_destroy(device);
    int left = cutis_context_memory(context) != 0;
    cutis_context_destroy(context);
    return left;
}

static void check_lists(const cutis_skin_layout *l)
{
    for (uint32_t k = 0; k < l->block_count; k++)
        for (uint32_t i = l->list_first[k]; i < l->list_first[k + 1]; i++) {
            if (i > l->list_first[k]) assert_true(l->list_bone[i - 1] < l->list_bone[i]);
            bool used = false; // a bone nobody needs would cost a walk for nothing
            for (uint32_t lane = 0; lane < l->block_size; lane++)
                if (l->vertices[k * l->block_size + lane] != CUTIS_NO_VERTEX &&
                    l->weights[i * l->block_size + lane] > 0)
                    used = true;
            assert_true(used);
        }
}

static void check_padding(const cutis_skin_layout *l, uint32_t k, uint32_t lane)
{
    uint32_t size = l->block_size;
    for (uint32_t i = l->list_first[k]; i < l->list_first[k + 1]; i++)
        assert_true(l->weights[i * size + lane] == (i == l->list_first[k] ? 1.0f : 0.0f));
    for (uint32_t c = 0; c < 3; c++) assert_true(l->positions[(k * 3 + c) * size + lane] == 0);
    if (l->sets) assert_true(l->sets[k * size + lane] == CUTIS_NO_SET);
}

/// One vertex: the block's weights are its own influences, its planes the file's values.
static void check_vertex(const cutis_skin_layout *l, uint32_t slot, const float *positions)
{
    uint32_t size = l->block_size, k = slot / size, lane = slot % size, v = l->vertices[slot];
    uint32_t at = l->first[v];
    double sum = 0;
    assert_true(v < l->vertex_count && l->vertex_slot[v] == slot);
    for (uint32_t i = l->list_first[k]; i < l->list_first[k + 1]; i++) {
        float w = l->weights[i * size + lane];
        sum += w;
        if (w == 0) continue;
        assert_true(at < l->first[v + 1] && l->bone[at] == l->list_bone[i] && l->weight[at] == w);
        at++;
    }
    assert_true(at == l->first[v + 1]);
    assert_near(sum, 1, 1e-6);
    for (uint32_t c = 0; c < 3; c++)
        assert_true(l->positions[(k * 3 + c) * size + lane] == positions[3 * v + c]);
}

static void check_layout(const cutis_model *model, const cutis_binding *binding)
{
    const cutis_skin_layout *l = &cutis_skin_of(binding)->layout;
    uint32_t seen = 0, last = 0;
    float *positions = malloc(3 * sizeof *positions * l->vertex_count);
    cutis_model_file_positions(model, positions);
    const void *aligned[] = { l->weights, l->positions, l->normals, l->centres };
    for (size_t i = 0; i < sizeof aligned / sizeof *aligned; i++)
        assert_true((uintptr_t)aligned[i] % 64 == 0);
    check_lists(l);
    for (uint32_t k = 0; k < l->block_count; k++) {
        uint32_t first = l->vertices[k * l->block_size];
        assert_true(first != CUTIS_NO_VERTEX && (k == 0 || first > last)); // blocks in output order
        last = first;
        for (uint32_t lane = 0; lane < l->block_size; lane++) {
            uint32_t slot = k * l->block_size + lane;
            if (l->vertices[slot] == CUTIS_NO_VERTEX) {
                check_padding(l, k, lane);
                continue;
            }
            assert_true(lane == 0 || l->vertices[slot - 1] < l->vertices[slot]);
            check_vertex(l, slot, positions);
            seen++;
        }
    }
    assert_int_equal(seen, l->vertex_count); // with vertex_slot: each exactly once
    free(positions);
}

static void check_model(const char *name, const cutis_model *model, double bones_limit,
                        double padding_limit)
{
    for (int method = CUTIS_METHOD_LBS; method <= CUTIS_METHOD_DQS; method++) {
        cutis_binding *binding = NULL, *again = NULL;
        const cutis_bind_options options = { .method = (cutis_method)method, .normals = true };
        assert_ok(context, cutis_bind(device, model, &options, &binding));
        assert_ok(context, cutis_bind(device, model, &options, &again));
        check_layout(model, binding);
        const cutis_skin_layout *a = &cutis_skin_of(binding)->layout,
                                *b = &cutis_skin_of(again)->layout;
        assert_int_equal(a->block_count, b->block_count);
        assert_memory_equal(a->vertices, b->vertices, 4ul * a->block_count * a->block_size);
        assert_memory_equal(a->weights, b->weights,
                            4ul * a->list_first[a->block_count] * a->block_size);
        cutis_binding_info info = cutis_binding_describe(binding);
        double padding = (double)a->block_count * a->block_size / a->vertex_count;
        if (method == CUTIS_METHOD_LBS)
            print_message("%s: %u vertices, %u bone sets, %.2f bones per block, %.1f %% padding\n",
                          name, info.vertex_count, info.bone_set_count,
                          (double)info.bones_per_block, 100 * (padding - 1));
        assert_true(info.bones_per_block <= bones_limit);
        assert_true(padding <= padding_limit);
        cutis_binding_destroy(binding);
        cutis_binding_destroy(again);
    }
}

static void skins_pack_into_short_lists(void **state)
{
    (void)state;
    cutis_model *model = NULL;
    static const struct {
        const char *name, *path;
        double bones, padding;
    } SKINS[] = {
        { "CesiumMan", "gltf-sample-assets/CesiumMan/glTF-Binary/CesiumMan.glb", 4.3, 1.05 },
        { "Fox", "gltf-sample-assets/Fox/glTF-Binary/Fox.glb", 4.3, 1.1 },
        { "RiggedFigure", "gltf-sample-assets/RiggedFigure/glTF-Binary/RiggedFigure.glb", 4.3, 1.3 }
    };
    assert_ok(context, cutis_synth_create(
                           context, &(cutis_synth_options){ .size = CUTIS_BODY_SIZE_LOW }, &model));
    check_model("biped", model, 4.3, 1.1);
    cutis_model_destroy(model);
    for (size_t i = 0; i < sizeof SKINS / sizeof *SKINS; i++) {
        if (!shared_is_there(SKINS[i].path)) continue;
        assert_ok(context, cutis_model_read(context, shared_path(SKINS[i].path), NULL, &model));
        check_model(SKINS[i].name, model, SKINS[i].bones, SKINS[i].padding);
        cutis_model_destroy(model);
    }
}

/// As many bone sets as vertices: packing must stay fast and correct.
static void a_skin_of_random_sets_packs_in_reasonable_time(void **state)
{
    (void)state;
    enum { V = 30000, J = 200, K = 4 };
    float *positions = calloc(V, 3 * sizeof *positions), *weights = calloc(V, K * sizeof *weights);
    uint32_t *first = calloc(V + 1, sizeof *first), *joints = calloc(V, K * sizeof *joints);
    uint32_t *indices = calloc(V, sizeof *indices);
    for (uint32_t v = 0; v < V; v++) {
        first[v] = K * v, indices[v] = v, positions[3 * v] = (float)v;
        for (uint32_t i = 0; i < K; i++) {
            joints[K * v + i] = (uint32_t)random_in(3, K * v + i, 0, J / K) * K + i;
            weights[K * v + i] = 1 + (float)i;
        }
    }
    first[V] = K * V;
    cutis_model *model = rig_model(context, &(rig_data){ .vertex_count = V,
                                                         .joint_count = J,
                                                         .index_count = V,
                                                         .positions = positions,
                                                         .first = first,
                                                         .joints = joints,
                                                         .weights = weights,
                                                         .indices = indices });
    free(positions), free(weights), free(first), free(joints), free(indices);
    check_model("random sets", model, 64, 2);
    cutis_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(skins_pack_into_short_lists),
        cmocka_unit_test(a_skin_of_random_sets_packs_in_reasonable_time),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
