// What reading may cost, measured on files built to cost much: peak memory at most 64 times the
// file plus 16 MiB (everything the context counts, parsed JSON included), at most a second for a
// mebibyte; and every limit of a context refuses what exceeds it, before memory is taken.
#include "support.h"

#include <unistd.h>

static const double SECONDS_MAX = 1 * SLOWED;

/// An allocator that remembers the largest sum there was. `charged` is what the context counts for
/// others (the JSON parser), so the context's own figure is looked at.
typedef struct meter {
    cutis_context *context;
    uint64_t peak;
} meter;

static void *metered_allocate(void *user, size_t size, size_t alignment)
{
    meter *m = user;
    if (m->context && cutis_context_memory(m->context) > m->peak)
        m->peak = cutis_context_memory(m->context); // the size asked for is already in it
    return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

static void metered_release(void *user, void *memory, size_t size)
{
    (void)user;
    (void)size;
    free(memory);
}

typedef struct cost {
    double seconds, ratio;
    cutis_result result;
} cost;

static cost measure(const char *name, const void *data, size_t size, bool inspect)
{
    meter m = { 0 };
    cutis_context_options options = { .allocator = { metered_allocate, metered_release, &m } };
    cutis_context *context = NULL;
    cutis_model *model = NULL;
    cutis_check_report *report = NULL;
    assert_int_equal(cutis_context_create(&options, &context), CUTIS_OK);
    m.context = context;
    double began = processor_seconds();
    cutis_result result = inspect
                              ? cutis_file_inspect_memory(context, data, size, name, &report)
                              : cutis_model_read_memory(context, data, size, name, NULL, &model);
    double seconds = processor_seconds() - began;
    cutis_check_report_destroy(report);
    cutis_model_destroy(model);
    assert_int_equal(cutis_context_memory(context), 0);
    cutis_context_destroy(context);
    // The file itself is the caller's memory here; read from a disk it counts once more.
    double allowed = 64.0 * (double)size + 16.0 * 1048576;
    return (cost){ .seconds = seconds,
                   .ratio = ((double)m.peak + (double)size) / allowed,
                   .result = result };
}

typedef struct text {
    char *data;
    size_t size;
} text;

enum { MEBIBYTE = 1 << 20 };

/// `head`, then `body` again and again (a %d in it counts), then `tail`, just under a mebibyte.
static text fill(const char *head, const char *body, const char *tail)
{
    text t = { malloc(MEBIBYTE + 4096), 0 };
    size_t end = MEBIBYTE - strlen(tail);
    t.size = (size_t)sprintf(t.data, "%s", head);
    for (int i = 0; t.size + strlen(body) + 32 < end; i++)
        t.size += (size_t)snprintf(t.data + t.size, 1024, body, i, i, i, i);
    t.size += (size_t)sprintf(t.data + t.size, "%s", tail);
    return t;
}

#define GLTF "{\"asset\":{\"version\":\"2.0\"},"
#define ACCESSOR(n)                                                                                \
    "{\"componentType\":5126,\"count\":" n ",\"type\":\"VEC3\",\"min\":[0,0,0],\"max\":[0,0,0]}"

#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-security"

static const struct {
    const char *name, *head, *body, *tail;
} WORST[] = {
    // JSON: values, strings, keys, names
    { "numbers.gltf", GLTF "\"extras\":[0", ",0", "]}" },
    { "objects.gltf", GLTF "\"extras\":[0", ",{}", "]}" },
    { "arrays.gltf", GLTF "\"extras\":[0", ",[]", "]}" },
    { "strings.gltf", GLTF "\"extras\":[0", ",\"\"", "]}" },
    { "keys.gltf", GLTF "\"extras\":{\"k\":0", ",\"k%d\":0", "}}" },
    { "nodes.gltf", GLTF "\"nodes\":[{}", ",{\"x\":0}", "]}" },
    { "named.gltf", GLTF "\"nodes\":[{}", ",{\"name\":\"%d\"}", "]}" },
    { "roots.gltf", GLTF "\"nodes\":[{}],\"scenes\":[{\"nodes\":[0]}", ",{\"nodes\":[0]}", "]}" },
    { "chain.gltf", GLTF "\"nodes\":[{\"children\":[1]}", ",{\"children\":[1%06d]}", "]}" },
    { "skins.gltf", GLTF "\"nodes\":[{}],\"skins\":[{\"joints\":[0]}", ",{\"joints\":[0]}", "]}" },
    { "instances.gltf",
      GLTF "\"accessors\":[" ACCESSOR("100000") "],\"meshes\":[{\"primitives\":[{\"attributes\":{"
                                                "\"POSITION\":0}}]}],\"nodes\":[{\"mesh\":0}",
      ",{\"mesh\":0}", "]}" },
    { "primitives.gltf",
      GLTF "\"accessors\":[" ACCESSOR("100000") "],\"meshes\":[{\"primitives\":[{\"attributes\":{"
                                                "\"POSITION\":0}}",
      ",{\"attributes\":{\"POSITION\":0}}", "]}]}" },
    { "targets.gltf",
      GLTF "\"accessors\":[" ACCESSOR("20000") "],\"meshes\":[{\"primitives\":[{\"attributes\":{"
                                               "\"POSITION\":0},\"targets\":[{\"POSITION\":0}",
      ",{\"POSITION\":0}", "]}]}]}" },
    { "accessors.gltf", GLTF "\"accessors\":[" ACCESSOR("1"), "," ACCESSOR("4000000000"), "]}" },
    { "views.gltf",
      GLTF "\"buffers\":[{\"byteLength\":3,\"uri\":\"data:application/octet-stream;base64,AAAA\"}],"
           "\"bufferViews\":[{\"buffer\":0,\"byteLength\":3}",
      ",{\"buffer\":0,\"byteLength\":3}", "]}" },
    { "meshopt.gltf",
      GLTF
      "\"extensionsUsed\":[\"EXT_meshopt_compression\"],\"buffers\":[{\"byteLength\":3,\"uri\":"
      "\"data:application/octet-stream;base64,AAAA\"}],\"bufferViews\":[{\"buffer\":0,"
      "\"byteLength\":3}",
      ",{\"buffer\":0,\"byteLength\":3,\"extensions\":{\"EXT_meshopt_compression\":{\"buffer\":0,"
      "\"byteLength\":3,\"byteStride\":256,\"count\":%d000,\"mode\":\"ATTRIBUTES\"}}}",
      "]}" },
    { "channels.gltf",
      GLTF "\"nodes\":[{}],\"accessors\":[{\"componentType\":5126,\"count\":100000,\"type\":"
           "\"SCALAR\",\"min\":[0],\"max\":[0]}," ACCESSOR(
               "100000") "],\"animations\":[{\"samplers\":"
                         "[{\"input\":0,\"output\":1}],\"channels\":[{\"sampler\":0,\"target\":{"
                         "\"path\":\"scale\"}}",
      ",{\"sampler\":0,\"target\":{\"node\":0,\"path\":\"scale\"}}", "]}]}" },
    // OBJ: corners, names, numbers, polygons
    { "corners.obj", "v 0 0 0\n", "f 1 1 1\n", "" },
    { "full.obj", "v 0 0 0 1 1 1\nvn 0 0 1\nvt 0 0\n", "f 1/1/1 1/1/1 1/1/1\n", "" },
    { "polygon.obj", "v 0 0 0\nv 1 0 0\nv .5 .1 0\nv 0 1 0\nf", " 1 2 3 4", "\n" },
    { "vertices.obj", "", "v 0 0 0\n", "" },
    { "different.obj", "v 0 0 0\n", "vt %d 0\nf 1/-1 1/-1 1/-1\n", "" },
    { "materials.obj", "v 0 0 0\n", "usemtl m%d\nf 1 1 1\n", "" },
    { "groups.obj", "v 0 0 0\n", "g p%d\nf 1 1 1\n", "" },
    { "points.obj", "v 0 0 0\n", "p 1 1 1 1\n", "" },
    { "lines.obj", "v 0 0 0\n", "l 1 1 1 1\n", "" },
    // PLY
    { "text.ply",
      "ply\nformat ascii 1.0\nelement vertex 170000\nproperty uchar x\nproperty uchar y\nproperty "
      "uchar "
      "z\nend_header\n",
      "0 0 0\n", "" },
    { "faces.ply",
      "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float "
      "z\nelement face 80000\nproperty list uchar uchar vertex_indices\nend_header\n0 0 0 1 0 0 .5 "
      ".1 "
      "0 0 1 0\n",
      "5 0 1 2 3 1\n", "" },
    // OFF, STL
    { "vertices.off", "OFF\n170000 0 0\n", "0 0 0\n", "" },
    { "faces.off", "OFF\n4 80000 0\n0 0 0\n1 0 0\n.5 .1 0\n0 1 0\n", "5 0 1 2 3 1\n", "" },
    { "colors.off", "OFF\n1 200000 0\n0 0 0\n", "0 1\n", "" },
    { "facets.stl", "solid\n",
      "facet normal 0 0 0 outer loop vertex %d 0 0 vertex 0 %d 0 vertex 0 0 %d endloop endfacet\n",
      "endsolid\n" },
    { "solids.stl", "",
      "solid %d\nfacet normal 0 0 0 outer loop vertex 0 0 0 vertex 0 0 0 vertex 0 0 0 endloop "
      "endfacet endsolid\n",
      "" },
    // BVH
    { "joints.bvh", "HIERARCHY\nROOT a { OFFSET 0 0 0\n",
      "JOINT b { OFFSET 0 0 0 CHANNELS 1 Xrotation }\n", "}\nMOTION Frames: 0\nFrame Time: 1\n" },
    { "frames.bvh",
      "HIERARCHY\nROOT a { OFFSET 0 0 0 CHANNELS 1 Xrotation JOINT b { OFFSET 0 0 0 CHANNELS 1 "
      "Yposition } }\nMOTION Frames: 262000\nFrame Time: .1\n",
      "0 0\n", "" },
    // Cal3D
    { "bones.xsf", "<SKELETON>", "<BONE/>", "</SKELETON>" },
    { "vertices.xmf", "<MESH><SUBMESH>", "<VERTEX/>", "</SUBMESH></MESH>" },
    { "faces.xmf", "<MESH><SUBMESH><VERTEX/>", "<FACE VERTEXID=\"0 0 0\"/>", "</SUBMESH></MESH>" },
    { "influences.xmf", "<MESH><SUBMESH><VERTEX>", "<INFLUENCE ID=\"%d\">1</INFLUENCE>",
      "</VERTEX></SUBMESH></MESH>" },
    { "submeshes.xmf", "<MESH>", "<SUBMESH/>", "</MESH>" },
};

static void check_cost(const char *name, const void *data, size_t size, double *worst)
{
    for (int inspect = 0; inspect < 2; inspect++) {
        cost c = measure(name, data, size, inspect);
        if (c.ratio > *worst) *worst = c.ratio;
        if (c.ratio > 0.75 || c.seconds > 0.3)
            print_message("%-18s %s: %.2f s, %.0f %% of the allowance, %s\n", name,
                          inspect ? "inspected" : "read", c.seconds, 100 * c.ratio,
                          cutis_result_name(c.result));
        if (c.ratio > 1) fail_msg("%s: %.0f %% of the allowance", name, 100 * c.ratio);
        if (c.seconds > SECONDS_MAX) fail_msg("%s: %.2f s", name, c.seconds);
    }
}

static void a_mebibyte_of_the_worst_stays_in_memory_and_time(void **state)
{
    double worst = 0;
    (void)state;
    for (size_t i = 0; i < sizeof WORST / sizeof *WORST; i++) {
        text t = fill(WORST[i].head, WORST[i].body, WORST[i].tail);
        check_cost(WORST[i].name, t.data, t.size, &worst);
        free(t.data);
    }
    print_message("the worst takes %.0f %% of 64 times the file plus 16 MiB\n", 100 * worst);
}

static void a_binary_mebibyte_of_the_worst_stays_in_memory_and_time(void **state)
{
    static const char VERTICES[] =
        "ply\nformat binary_little_endian 1.0\nelement vertex 349000\nproperty uchar x\nproperty "
        "uchar y\nproperty uchar z\nend_header\n";
    static const char FACES[] =
        "ply\nformat binary_little_endian 1.0\nelement vertex 1\nproperty uchar x\nproperty uchar "
        "y\nproperty uchar z\nelement face 4000\nproperty list uchar uchar vertex_indices\n"
        "end_header\n";
    double worst = 0;
    uint8_t *data = calloc(1, MEBIBYTE);
    (void)state;
    strcpy((char *)data, VERTICES);
    check_cost("vertices.ply", data, MEBIBYTE, &worst);
    strcpy((char *)data, FACES);
    for (size_t i = strlen(FACES) + 3; i + 256 < MEBIBYTE; i += 256) data[i] = 255;
    check_cost("polygons.ply", data, MEBIBYTE, &worst);
    // STL: as many corners as there can be, each in its own place; or all of them in one.
    memset(data, 0, MEBIBYTE);
    static const uint32_t TRIANGLES = (MEBIBYTE - 84) / 50;
    memcpy(data + 80, &TRIANGLES, 4);
    check_cost("one.stl", data, 84 + 50 * TRIANGLES, &worst);
    for (uint32_t t = 0; t < TRIANGLES; t++)
        for (uint32_t k = 0; k < 9; k++) {
            float place = (float)(9 * t + k);
            memcpy(data + 84 + 50 * t + 12 + 4 * k, &place, 4);
        }
    check_cost("many.stl", data, 84 + 50 * TRIANGLES, &worst);
    // Cal3D: one submesh of vertices without influences.
    memset(data, 0, MEBIBYTE);
    static const uint32_t HEAD[] = { 910, 1, 0, 28000, 0, 0, 0, 0 };
    memcpy(data, "CMF", 4);
    memcpy(data + 4, HEAD, sizeof HEAD);
    check_cost("vertices.cmf", data, MEBIBYTE, &worst);
    free(data);
}

/// The 16 MiB hide nothing: the same in a larger file.
static void seven_mebibytes_of_nodes_stay_in_memory(void **state)
{
    static const struct {
        const char *name, *head, *body, *tail;
    } FILES[] = { { "nodes.gltf", GLTF "\"nodes\":[{}", ",{\"x\":0}", "]}" },
                  { "bones.xsf", "<SKELETON>", "<BONE/>", "</SKELETON>" } };
    enum { SIZE = 7 << 20 };
    char *data = malloc(SIZE + 4096);
    (void)state;
    for (int i = 0; i < 2; i++) {
        size_t size = (size_t)sprintf(data, "%s", FILES[i].head);
        while (size < SIZE) size += (size_t)sprintf(data + size, "%s", FILES[i].body);
        size += (size_t)sprintf(data + size, "%s", FILES[i].tail);
        cost c = measure(FILES[i].name, data, size, false);
        print_message("%s of 7 MiB: %.0f %% of the allowance, %s\n", FILES[i].name, 100 * c.ratio,
                      cutis_result_name(c.result));
        assert_true(c.ratio <= 1);
    }
    free(data);
}

/// Two long lists in one file, each half of it: what compares all of one with all of the other is
/// quadratic.
static void two_long_lists_stay_in_time(void **state)
{
    static const struct {
        const char *name, *head, *first, *middle, *second, *tail;
    } FILES[] = {
        { "handles.gltf",
          GLTF "\"extensionsUsed\":[\"CUTIS_handles\"],\"extensions\":{\"CUTIS_handles\":{"
               "\"handles\":[{\"node\":0,\"kind\":\"point\",\"position\":[0,0,0]}]}},"
               "\"accessors\":[" ACCESSOR("1") "],\"meshes\":[{\"primitives\":[{\"attributes\":{"
                                               "\"POSITION\":0}}]}",
          ",{\"primitives\":[{\"attributes\":{\"POSITION\":0}}],\"extensions\":{"
          "\"CUTIS_handles\":{\"first\":0}}}",
          "],\"nodes\":[{}", ",{\"x\":0}", "]}" },
        { "scenes.gltf",
          GLTF "\"accessors\":[" ACCESSOR(
              "1") ",{\"componentType\":5121,\"count\":1,\"type\":"
                   "\"VEC4\"},{\"componentType\":5126,\"count\":1,\"type\":\"VEC4\"}],\"meshes\":[{"
                   "\"primitives\":[{\"attributes\":{\"POSITION\":0,\"JOINTS_0\":1,\"WEIGHTS_0\":2}"
                   "}"
                   "]}],\"skins\":[{\"joints\":[0]}],\"nodes\":[{}",
          ",{\"mesh\":0,\"skin\":0}", "],\"scenes\":[{\"nodes\":[0]}", ",{\"nodes\":[0]}", "]}" },
        { "clips.gltf",
          GLTF "\"accessors\":[{\"componentType\":5126,\"count\":1,\"type\":\"SCALAR\",\"min\":"
               "[0],\"max\":[0]}," ACCESSOR("1") "],\"nodes\":[{}",
          ",{\"x\":0}",
          "],\"animations\":[{\"channels\":[{\"sampler\":0,\"target\":{\"path\":\"scale\"}}],"
          "\"samplers\":[{\"input\":0,\"output\":1}]}",
          ",{\"channels\":[{\"sampler\":0,\"target\":{\"path\":\"scale\"}}],\"samplers\":[{"
          "\"input\":0,\"output\":1}]}",
          "]}" },
        { "skins.gltf", GLTF "\"nodes\":[{}", ",{\"x\":0}", "],\"skins\":[{\"joints\":[0]}",
          ",{\"joints\":[0]}", "]}" },
        { "extensions.gltf", GLTF "\"extensionsUsed\":[\"A\"", ",\"A%d\"", "],\"materials\":[{}",
          ",{\"extensions\":{\"A%d\":{}}}", "]}" },
        { "required.gltf", GLTF "\"extensionsUsed\":[\"A\"", ",\"A%d\"",
          "],\"extensionsRequired\":[\"A\"", ",\"A%d\"", "]}" },
    };
    double worst = 0;
    (void)state;
    for (size_t i = 0; i < sizeof FILES / sizeof *FILES; i++) {
        char *data = malloc(MEBIBYTE + 4096);
        size_t size = (size_t)sprintf(data, "%s", FILES[i].head);
        for (int k = 0; size < MEBIBYTE / 2; k++)
            size += (size_t)snprintf(data + size, 1024, FILES[i].first, k);
        size += (size_t)sprintf(data + size, "%s", FILES[i].middle);
        for (int k = 0; size < MEBIBYTE - 512; k++)
            size += (size_t)snprintf(data + size, 1024, FILES[i].second, k);
        size += (size_t)sprintf(data + size, "%s", FILES[i].tail);
        check_cost(FILES[i].name, data, size, &worst);
        free(data);
    }
}

/// A context with one limit.
static cutis_context *limited(cutis_limits limits)
{
    cutis_context *context = NULL;
    assert_int_equal(cutis_context_create(&(cutis_context_options){ .limits = limits }, &context),
                     CUTIS_OK);
    return context;
}

static void expect_limit(cutis_limits limits, const char *file)
{
    cutis_context *context = limited(limits);
    cutis_model *model = NULL;
    assert_int_equal(cutis_model_read_memory(context, file, strlen(file), "x.gltf", NULL, &model),
                     CUTIS_LIMIT_EXCEEDED);
    assert_int_equal(cutis_context_memory(context), 0);
    cutis_context_destroy(context);
    context = limited((cutis_limits){ 0 });
    assert_ok(context,
              cutis_model_read_memory(context, file, strlen(file), "x.gltf", NULL, &model));
    cutis_model_destroy(model);
    cutis_context_destroy(context);
}

static void every_limit_refuses_what_exceeds_it(void **state)
{
    static const char CHARACTER[] = GLTF
        "\"nodes\":[{\"mesh\":0,\"skin\":0},{\"children\":[2]},{\"children\":[3]},{}],"
        "\"skins\":[{\"joints\":[1,2,3]}],\"meshes\":[{\"primitives\":[{\"attributes\":{"
        "\"POSITION\":0,\"JOINTS_0\":1,\"WEIGHTS_0\":2}}]}],\"accessors\":[" ACCESSOR(
            "9") ",{\"componentType\":5121,\"count\":9,\"type\":\"VEC4\"},{\"componentType\":5126,"
                 "\"count\":9,\"type\":\"VEC4\"}]}";
    (void)state;
    expect_limit((cutis_limits){ .memory_bytes = 4096 }, CHARACTER);
    expect_limit((cutis_limits){ .vertex_count = 8 }, CHARACTER);
    expect_limit((cutis_limits){ .node_count = 3 }, CHARACTER);
    expect_limit((cutis_limits){ .joint_count = 2 }, CHARACTER);
    expect_limit((cutis_limits){ .nesting = 2 }, CHARACTER);
    char path[] = "/tmp/cutis_budget_XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, CHARACTER, sizeof CHARACTER - 1), sizeof CHARACTER - 1);
    close(file);
    cutis_context *context = limited((cutis_limits){ .file_bytes = 100 });
    cutis_model *model = NULL;
    assert_int_equal(cutis_model_read(context, path, NULL, &model), CUTIS_LIMIT_EXCEEDED);
    cutis_context_destroy(context);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_mebibyte_of_the_worst_stays_in_memory_and_time),
        cmocka_unit_test(a_binary_mebibyte_of_the_worst_stays_in_memory_and_time),
        cmocka_unit_test(seven_mebibytes_of_nodes_stay_in_memory),
        cmocka_unit_test(two_long_lists_stay_in_time),
        cmocka_unit_test(every_limit_refuses_what_exceeds_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
