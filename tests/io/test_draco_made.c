/// Draco's extension where files share, lie or ask for too much: hand-made files, compressed by us
/// and then changed. Needs the program cutis-draco.
#include "files.h"
#include "gltf_make.h"

#include "base/os/os.h"
#include "io/bytes.h"
#include "io/gltf/draco.h"

enum { SIDE = 20, VERTICES = SIDE * SIDE, CORNERS = 6 * (SIDE - 1) * (SIDE - 1) };

// Three primitives on one set of views: a grid with ids, a triangle, and a triangle of one point,
// which Draco drops.
static const char MADE[] =
    "\"buffers\":[{\"byteLength\":15544}],\"bufferViews\":[{\"buffer\":0,\"byteLength\":4800},"
    "{\"buffer\":0,\"byteOffset\":4800,\"byteLength\":4800},"
    "{\"buffer\":0,\"byteOffset\":9600,\"byteLength\":1600},"
    "{\"buffer\":0,\"byteOffset\":11200,\"byteLength\":4344}],\"accessors\":["
    "{\"bufferView\":0,\"componentType\":5126,\"count\":3,\"type\":\"VEC3\","
    "\"min\":[0,0,0],\"max\":[2,0,0]},"
    "{\"bufferView\":1,\"componentType\":5126,\"count\":3,\"type\":\"VEC3\"},"
    "{\"bufferView\":3,\"componentType\":5123,\"count\":3,\"type\":\"SCALAR\"},"
    "{\"bufferView\":0,\"componentType\":5126,\"count\":400,\"type\":\"VEC3\","
    "\"min\":[0,0,0],\"max\":[19,19,0]},"
    "{\"bufferView\":1,\"componentType\":5126,\"count\":400,\"type\":\"VEC3\"},"
    "{\"bufferView\":2,\"componentType\":5126,\"count\":400,\"type\":\"SCALAR\"},"
    "{\"bufferView\":3,\"byteOffset\":6,\"componentType\":5123,\"count\":2166,\"type\":\"SCALAR\"},"
    "{\"bufferView\":3,\"byteOffset\":4338,\"componentType\":5123,\"count\":3,\"type\":\"SCALAR\"}]"
    ","
    "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":3,\"NORMAL\":4,\"_FEATURE_ID_0\":5}"
    ",\"indices\":6},"
    "{\"attributes\":{\"POSITION\":0,\"NORMAL\":1},\"indices\":2},"
    "{\"attributes\":{\"POSITION\":0},\"indices\":7}]}],"
    "\"nodes\":[{\"mesh\":0}],\"scenes\":[{\"nodes\":[0]}],\"scene\":0}";

/// A GLB's JSON and bytes; there is one at a time.
typedef struct parts {
    json_t *root;
    uint8_t data[1 << 20];
    size_t size; ///< of the whole
} parts;

static parts *load(fixture *f, const char *name)
{
    static parts out;
    FILE *file = fopen(path_in(f, name), "rb");
    assert_non_null(file);
    out.size = fread(out.data, 1, sizeof out.data, file);
    fclose(file);
    out.root = json_loadb((char *)out.data + 20, cutis_load_u32(out.data + 12), 0, NULL);
    assert_non_null(out.root);
    return &out;
}

static const uint8_t *bytes_of(const parts *p)
{
    return p->data + 28 + cutis_load_u32(p->data + 12);
}

static json_t *primitive_at(const parts *p, size_t index)
{
    const json_t *mesh = json_array_get(json_object_get(p->root, "meshes"), 0);
    return json_array_get(json_object_get(mesh, "primitives"), index);
}

static json_t *extension_at(const parts *p, size_t index)
{
    return json_object_get(json_object_get(primitive_at(p, index), "extensions"),
                           "KHR_draco_mesh_compression");
}

static json_t *accessor_at(const parts *p, const json_t *map, const char *name)
{
    return json_array_get(json_object_get(p->root, "accessors"),
                          (size_t)json_integer_value(json_object_get(map, name)));
}

/// The made file, compressed.
static parts *compress(fixture *f)
{
    static uint8_t bin[15544];
    if (!cutis_gltf_has_draco()) {
        print_message("skip: cutis-draco is not built: libdraco-dev is not there\n");
        skip();
    }
    size_t corner = 0;
    uint16_t corners[3 + CORNERS] = { 0, 1, 2 };
    for (uint16_t v = 0; v < VERTICES; v++) {
        const float values[] = { v % SIDE, v / SIDE, 0, 0, 0, 1, 100000.0f + 37 * v };
        memcpy(bin + 12 * v, values, 12);
        memcpy(bin + 4800 + 12 * v, values + 3, 12);
        memcpy(bin + 9600 + 4 * v, values + 6, 4);
        if (v % SIDE == SIDE - 1 || v / SIDE == SIDE - 1) continue;
        const uint16_t cell[] = { v, v + 1, v + SIDE, v + SIDE, v + 1, v + SIDE + 1 };
        memcpy(corners + 3 + corner, cell, sizeof cell);
        corner += 6;
    }
    memcpy(bin + 11200, corners, sizeof corners);
    cutis_model *model = read_made(f->context, MADE, bin, sizeof bin);
    assert_ok(f->context,
              cutis_model_write(model, path_in(f, "packed.glb"),
                                &(cutis_write_options){ .compression = CUTIS_COMPRESSION_DRACO }));
    cutis_model_destroy(model);
    return load(f, "packed.glb");
}

/// The parts with their changed JSON must be refused.
static void refuse(fixture *f, parts *p, const char *words)
{
    json_object_del(p->root, "asset"); // make_glb has its own
    char *text = json_dumps(p->root, JSON_COMPACT);
    const uint8_t *bin = bytes_of(p);
    refuse_made(f->context, text + 1, bin, (size_t)(p->data + p->size - bin), CUTIS_CORRUPT_DATA,
                words);
    free(text);
    json_decref(p->root);
}

/// Seen by a sanitizer: 400 normals were walked in an array of 3.
static void an_accessor_of_a_smaller_mesh_is_refused_and_not_walked(void **state)
{
    parts *p = compress(*state);
    json_t *map = json_object_get(primitive_at(p, 0), "attributes");
    const json_t *small = json_object_get(primitive_at(p, 1), "attributes");
    json_object_set(map, "NORMAL", json_object_get(small, "NORMAL"));
    json_object_del(json_object_get(extension_at(p, 0), "attributes"), "NORMAL");
    refuse(*state, p, "MESH_PRIMITIVE_UNEQUAL_ACCESSOR_COUNT");
}

static void an_index_that_its_accessor_cannot_hold_is_refused(void **state)
{
    parts *p = compress(*state);
    json_object_set_new(accessor_at(p, primitive_at(p, 0), "indices"), "componentType",
                        json_integer(5121));
    refuse(*state, p, "cannot be decompressed");
}

static void a_primitive_that_draco_cannot_compress_stays_and_the_others_do_not(void **state)
{
    fixture *f = *state;
    parts *p = compress(f);
    assert_non_null(extension_at(p, 1));
    assert_non_null(extension_at(p, 0));
    assert_null(extension_at(p, 2));
    const json_t *map = json_object_get(primitive_at(p, 2), "attributes");
    assert_non_null(json_object_get(accessor_at(p, map, "POSITION"), "bufferView"));
    json_decref(p->root);
    cutis_model_destroy(read_ok(f, path_in(f, "packed.glb")));
}

static void attributes_of_an_application_stay_exact(void **state)
{
    fixture *f = *state;
    json_decref(compress(f)->root);
    cutis_model *model = NULL;
    assert_ok(f->context,
              cutis_model_read(f->context, path_in(f, "packed.glb"), KEEP_SOURCE, &model));
    assert_ok(f->context, cutis_model_write(model, path_in(f, "plain.glb"), NULL));
    cutis_model_destroy(model);
    parts *p = load(f, "plain.glb");
    const json_t *ids =
        accessor_at(p, json_object_get(primitive_at(p, 0), "attributes"), "_FEATURE_ID_0");
    const json_t *view =
        json_array_get(json_object_get(p->root, "bufferViews"),
                       (size_t)json_integer_value(json_object_get(ids, "bufferView")));
    const uint8_t *at = bytes_of(p) + json_integer_value(json_object_get(view, "byteOffset")) +
                        json_integer_value(json_object_get(ids, "byteOffset"));
    bool seen[VERTICES] = { false };
    assert_int_equal(json_integer_value(json_object_get(ids, "count")), VERTICES);
    for (int v = 0; v < VERTICES; v++) { // in any order
        const int id = (int)cutis_load_f32(at + 4 * v) - 100000;
        assert_true(id >= 0 && id < 37 * VERTICES && id % 37 == 0 && !seen[id / 37]);
        seen[id / 37] = true;
    }
    json_decref(p->root);
}

/// One stream of 400 kB that 300 primitives name, each with accessors of its own.
static void a_stream_that_many_share_is_charged_for_each(void **state)
{
    enum { STREAM = 400000, PRIMITIVES = 300 };
    fixture *f = *state;
    static char json[200000], primitives[80000];
    static uint8_t bin[STREAM];
    json_decref(compress(f)->root); // or skip
    int length = snprintf(json, sizeof json,
                          "\"extensionsUsed\":[\"KHR_draco_mesh_compression\"],"
                          "\"buffers\":[{\"byteLength\":%d}],"
                          "\"bufferViews\":[{\"buffer\":0,\"byteLength\":%d}],\"accessors\":[",
                          STREAM, STREAM),
        used = 0;
    for (int i = 0; i < PRIMITIVES; i++) {
        length += snprintf(json + length, sizeof json - (size_t)length,
                           "%s{\"componentType\":5126,\"count\":3,\"type\":\"VEC3\","
                           "\"min\":[0,0,0],\"max\":[1,1,1]},"
                           "{\"componentType\":5121,\"count\":3,\"type\":\"SCALAR\"}",
                           i ? "," : "");
        used += snprintf(primitives + used, sizeof primitives - (size_t)used,
                         "%s{\"attributes\":{\"POSITION\":%d},\"indices\":%d,\"extensions\":"
                         "{\"KHR_draco_mesh_compression\":{\"bufferView\":0,\"attributes\":"
                         "{\"POSITION\":0}}}}",
                         i ? "," : "", 2 * i, 2 * i + 1);
    }
    snprintf(json + length, sizeof json - (size_t)length,
             "],\"meshes\":[{\"primitives\":[%s]}],\"nodes\":[{\"mesh\":0}]}", primitives);
    refuse_made(f->context, json, bin, sizeof bin, CUTIS_LIMIT_EXCEEDED, "times its size");
}

static bool stop(void *user, const char *stage, double fraction)
{
    (void)stage;
    (void)fraction;
    return ++*(int *)user < 3;
}

static void a_decoder_at_work_can_be_cancelled(void **state)
{
    fixture *f = *state;
    json_decref(compress(f)->root);
    int asked = 0;
    cutis_context *context = NULL;
    cutis_model *model = NULL;
    assert_int_equal(
        cutis_context_create(&(cutis_context_options){ .progress = stop, .progress_user = &asked },
                             &context),
        CUTIS_OK);
    write_text(f, "helper", "#!/bin/sh\nexec sleep 100\n");
    assert_int_equal(chmod(path_in(f, "helper"), 0755), 0);
    setenv("CUTIS_DRACO", path_in(f, "helper"), 1);
    const double start = cutis_os_seconds();
    const cutis_result result = cutis_model_read(context, path_in(f, "packed.glb"), NULL, &model);
    unsetenv("CUTIS_DRACO");
    assert_int_equal(result, CUTIS_CANCELLED);
    assert_non_null(strstr(cutis_context_error(context), "stopped on request"));
    assert_true(cutis_os_seconds() - start < 8); // its own time would be 15 s
    assert_int_equal(cutis_context_memory(context), 0);
    cutis_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(an_accessor_of_a_smaller_mesh_is_refused_and_not_walked),
        TEST(an_index_that_its_accessor_cannot_hold_is_refused),
        TEST(a_primitive_that_draco_cannot_compress_stays_and_the_others_do_not),
        TEST(attributes_of_an_application_stay_exact),
        TEST(a_stream_that_many_share_is_charged_for_each),
        TEST(a_decoder_at_work_can_be_cancelled),
    };
    return cmocka_run_group_tests_name("draco made", tests, NULL, NULL);
}
