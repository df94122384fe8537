// CUTIS_handles in broken files: every contradiction is refused with its place, none is followed.
#include "support.h"

#include <jansson.h>
#include <unistd.h>

#include <cutis/handles.h>

static char folder[] = "/tmp/cutis_handle_rig_XXXXXX"; // several builds are tested at a time
static char file_name[64], beside[64], broken[64];

static void write_rigged(cutis_context *context)
{
    cutis_model *model = NULL, *bound = NULL;
    const cutis_handle handles[3] = {
        { "head", CUTIS_HANDLE_POINT, { 0, 1.6f, 0 }, { 0, 0, 0 } },
        { "back", CUTIS_HANDLE_BAR, { 0, 1.05f, 0 }, { 0, 1.2f, 0 } },
        { "foot", CUTIS_HANDLE_POINT, { 0.1f, 0.2f, 0 }, { 0, 0, 0 } },
    };
    const cutis_handle_set set = { .handle_count = 3, .handles = handles };
    const cutis_handles_options options = { .voxels = 40, .weighting = CUTIS_WEIGHTING_VIRTUAL };
    assert_ok(context,
              cutis_synth_create(context, &(cutis_synth_options){ .vertex_count = 1500 }, &model));
    assert_ok(context, cutis_handles_weights(model, NULL, &set, &options, &bound, NULL));
    assert_true(cutis_model_get(bound)->handles->virtual_count > 0);
    assert_ok(context, cutis_model_write(bound, file_name, NULL));
    cutis_model_destroy(bound), cutis_model_destroy(model);
}

static json_t *extension(json_t *object)
{
    return json_object_get(json_object_get(object, "extensions"), "CUTIS_handles");
}

static json_t *primitive(json_t *root)
{
    json_t *mesh = json_array_get(json_object_get(root, "meshes"), 0);
    return json_array_get(json_object_get(mesh, "primitives"), 0);
}

static json_t *handle(json_t *root, size_t index)
{
    return json_array_get(json_object_get(extension(root), "handles"), index);
}

// One contradiction each; the words that the error must have.
static const char *damage(json_t *root, int kind)
{
    json_t *own = extension(root), *virtual = json_object_get(own, "virtual");
    json_t *lists = extension(primitive(root));
    json_t *mesh = extension(json_array_get(json_object_get(root, "meshes"), 0));
    json_t *places = json_object_get(virtual, "places"),
           *shares = json_object_get(virtual, "shares");
    switch (kind) {
    case 0:
        return json_object_set_new(own, "handles", json_array()), "at least one handle";
    case 1:
        return json_object_set_new(handle(root, 0), "node", json_integer(100000)), "node";
    case 2:
        return json_object_set_new(handle(root, 0), "kind", json_string("blob")), "handles/0";
    case 3:
        return json_object_del(handle(root, 1), "to"), "handles/1";
    case 4:
        return json_object_set_new(handle(root, 0), "position", json_string("here")), "handles/0";
    case 5:
        return json_object_set_new(virtual, "places", json_integer(100000)), "places";
    case 6:
        return json_object_set(virtual, "places", shares), "places";
    case 7:
        return json_object_set(virtual, "first", places), "virtual";
    case 8:
        return json_object_set(virtual, "first", json_object_get(lists, "first")), "virtual";
    case 9:
        return json_object_set(virtual, "shares", json_object_get(virtual, "handles")), "virtual";
    case 10:
        return json_object_set_new(mesh, "first", json_integer(3)), "first";
    case 11:
        return json_object_set_new(mesh, "first", json_integer(2)), "handles";
    case 12:
        return json_object_set(lists, "weights", shares), "primitives/0";
    case 13:
        return json_object_del(lists, "handles"), "primitives/0";
    case 14: // the mesh is not held, but its primitive has weights
        json_object_del(
            json_object_get(json_array_get(json_object_get(root, "meshes"), 0), "extensions"),
            "CUTIS_handles");
        return "handles";
    case 15: // weights on virtual handles that are no longer there
        return json_object_del(own, "virtual"), NULL;
    }
    return NULL;
}

static void contradictions_are_refused_with_their_place(void **state)
{
    (void)state;
    cutis_context *context = NULL;
    assert_non_null(mkdtemp(folder));
    snprintf(file_name, sizeof file_name, "%s/rig.gltf", folder);
    snprintf(beside, sizeof beside, "%s/rig.bin", folder);
    snprintf(broken, sizeof broken, "%s/broken.gltf", folder);
    assert_int_equal(cutis_context_create(NULL, &context), CUTIS_OK);
    write_rigged(context);
    for (int kind = 0; kind < 16; kind++) {
        cutis_model *model = NULL;
        json_error_t error;
        json_t *root = json_load_file(file_name, 0, &error);
        assert_non_null(root);
        const char *words = damage(root, kind);
        assert_int_equal(json_dump_file(root, broken, 0), 0);
        json_decref(root);
        cutis_result result = cutis_model_read(context, broken, NULL, &model);
        if (!words) { // without virtual handles their weights are not read
            assert_ok(context, result);
            assert_null(cutis_model_get(model)->handles->weights);
            cutis_model_destroy(model);
            continue;
        }
        if (result != CUTIS_CORRUPT_DATA || !strstr(cutis_context_error(context), words))
            fail_msg("case %d: %s: %s", kind, cutis_result_text(result),
                     cutis_context_error(context));
    }
    unlink(broken), unlink(file_name), unlink(beside), rmdir(folder);
    assert_int_equal(cutis_context_memory(context), 0);
    cutis_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contradictions_are_refused_with_their_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
