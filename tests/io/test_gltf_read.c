// Decoding hand-made files: every value expected here is computed from the format's definition, in
// double.
#include "support.h"

#include "gltf_make.h"

#include <jansson.h>
#include <meshoptimizer.h>
#include <unistd.h>

static cutis_context *context;

static int set_up(void **state)
{
    (void)state;
    return cutis_context_create(NULL, &context) == CUTIS_OK ? 0 : -1;
}

static int tear_down(void **state)
{
    uint64_t left = cutis_context_memory(context);
    (void)state;
    cutis_context_destroy(context);
    return left == 0 ? 0 : -1;
}

static const cutis_primitive *primitive_of(const cutis_model *model, uint32_t index)
{
    return &cutis_model_get(model)->meshes[0].primitives[index];
}

#define SHOWN "\"nodes\":[{\"mesh\":0}],"

static void interleaved_attributes_are_taken_apart(void **state)
{
    float vertices[4][6];
    (void)state;
    for (int v = 0; v < 4; v++) {
        for (int k = 0; k < 6; k++) vertices[v][k] = k < 3 ? (float)(v * 10 + k) : k == 5;
    }
    cutis_model *model = read_made(
        context,
        SHOWN
        "\"meshes\":[{\"primitives\":[{\"mode\":0,\"attributes\":{\"POSITION\":0,\"NORMAL\":1}}]}],"
        "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":4,\"type\":\"VEC3\","
        "\"min\":[0,1,2],\"max\":[30,31,32]},"
        "{\"bufferView\":0,\"byteOffset\":12,\"componentType\":5126,\"count\":4,\"type\":\"VEC3\"}]"
        ","
        "\"bufferViews\":[{\"buffer\":0,\"byteLength\":96,\"byteStride\":24}],\"buffers\":[{"
        "\"byteLength\":96}]}",
        vertices, sizeof vertices);
    const cutis_primitive *p = primitive_of(model, 0);
    assert_int_equal(p->vertex_count, 4);
    for (int v = 0; v < 4; v++) {
        assert_memory_equal(p->positions + 3 * v, vertices[v], 12);
        assert_memory_equal(p->normals + 3 * v, vertices[v] + 3, 12);
    }
    cutis_model_destroy(model);
}

static void sparse_values_replace_base_values_and_zeros(void **state)
{
    struct {
        float base[4][3];
        uint8_t indices[4];
        float values[2][3];
    } bin = { .base = { { 1, 1, 1 }, { 2, 2, 2 }, { 3, 3, 3 }, { 4, 4, 4 } },
              .indices = { 1, 3 },
              .values = { { 7, 8, 9 }, { -7, -8, -9 } } };
    (void)state;
    cutis_model *model = read_made(
        context,
        SHOWN
        "\"meshes\":[{\"primitives\":[{\"mode\":0,\"attributes\":{\"POSITION\":0}},{\"mode\":0,"
        "\"attributes\":{\"POSITION\":1}}]}],"
        "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":4,\"type\":\"VEC3\","
        "\"min\":[-7,-8,-9],\"max\":[7,8,9],"
        "\"sparse\":{\"count\":2,\"indices\":{\"bufferView\":1,\"componentType\":5121},\"values\":{"
        "\"bufferView\":2}}},"
        "{\"componentType\":5126,\"count\":5,\"type\":\"VEC3\",\"min\":[-7,-8,-9],\"max\":[7,8,9],"
        "\"sparse\":{\"count\":2,\"indices\":{\"bufferView\":1,\"componentType\":5121},\"values\":{"
        "\"bufferView\":2}}}],"
        "\"bufferViews\":[{\"buffer\":0,\"byteLength\":48},{\"buffer\":0,\"byteOffset\":48,"
        "\"byteLength\":2},"
        "{\"buffer\":0,\"byteOffset\":52,\"byteLength\":24}],\"buffers\":[{\"byteLength\":76}]}",
        &bin, sizeof bin);
    const float with_base[4][3] = { { 1, 1, 1 }, { 7, 8, 9 }, { 3, 3, 3 }, { -7, -8, -9 } };
    const float without[5][3] = { { 0 }, { 7, 8, 9 }, { 0 }, { -7, -8, -9 }, { 0 } };
    assert_memory_equal(primitive_of(model, 0)->positions, with_base, sizeof with_base);
    assert_memory_equal(primitive_of(model, 1)->positions, without, sizeof without);
    cutis_model_destroy(model);
}

static void normalised_integers_become_fractions(void **state)
{
    struct {
        float positions[2][3];
        uint16_t texcoords[2][2];
        uint8_t colors[2][4];
    } bin = { .texcoords = { { 0, 65535 }, { 1, 32768 } },
              .colors = { { 255, 0, 51, 0 }, { 1, 2, 254, 0 } } };
    (void)state;
    cutis_model *model =
        read_made(context,
                  SHOWN "\"meshes\":[{\"primitives\":[{\"mode\":0,\"attributes\":{\"POSITION\":0,"
                        "\"TEXCOORD_0\":1,\"COLOR_0\":2}}]}],"
                        "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":2,"
                        "\"type\":\"VEC3\",\"min\":[0,0,0],\"max\":[0,0,0]},"
                        "{\"bufferView\":1,\"componentType\":5123,\"normalized\":true,\"count\":2,"
                        "\"type\":\"VEC2\"},"
                        "{\"bufferView\":2,\"componentType\":5121,\"normalized\":true,\"count\":2,"
                        "\"type\":\"VEC3\"}],"
                        "\"bufferViews\":[{\"buffer\":0,\"byteLength\":24},{\"buffer\":0,"
                        "\"byteOffset\":24,\"byteLength\":8},"
                        "{\"buffer\":0,\"byteOffset\":32,\"byteLength\":8,\"byteStride\":4}],"
                        "\"buffers\":[{\"byteLength\":40}]}",
                  &bin, sizeof bin);
    const cutis_primitive *p = primitive_of(model, 0);
    for (int v = 0; v < 2; v++) {
        for (int k = 0; k < 2; k++)
            assert_near(p->texcoords[2 * v + k], bin.texcoords[v][k] / 65535.0, 1e-7);
        for (int k = 0; k < 3; k++)
            assert_near(p->colors[4 * v + k], bin.colors[v][k] / 255.0, 1e-7);
        assert_true(p->colors[4 * v + 3] == 1.0f);
    }
    assert_true(p->texcoords[1] == 1.0f);
    cutis_model_destroy(model);
}

static const char QUANTIZED[] =
    "\"meshes\":[{\"primitives\":[{\"mode\":0,\"attributes\":{\"POSITION\":0,\"NORMAL\":1},"
    "\"targets\":[{\"POSITION\":2}]}]}],"
    "\"accessors\":[{\"bufferView\":0,\"componentType\":5122,\"count\":2,\"type\":\"VEC3\",\"min\":"
    "[-300,2,0],\"max\":[32767,2,1]},"
    "{\"bufferView\":1,\"componentType\":5120,\"normalized\":true,\"count\":2,\"type\":\"VEC3\"},"
    "{\"bufferView\":2,\"componentType\":5120,\"count\":2,\"type\":\"VEC3\",\"min\":[-128,-1,0],"
    "\"max\":[1,127,1]}],"
    "\"bufferViews\":[{\"buffer\":0,\"byteLength\":16,\"byteStride\":8},{\"buffer\":0,"
    "\"byteOffset\":16,\"byteLength\":8,\"byteStride\":4},"
    "{\"buffer\":0,\"byteOffset\":24,\"byteLength\":8,\"byteStride\":4}],\"buffers\":[{"
    "\"byteLength\":32}]}";

static void quantised_attributes_need_their_extension(void **state)
{
    const struct {
        int16_t positions[2][4];
        int8_t normals[2][4], moved[2][4];
    } bin = { { { -300, 2, 1 }, { 32767, 2, 0 } },
              { { 127, 0, -64 }, { -128, 0, 127 } },
              { { 1, 127, 1 }, { -128, -1, 0 } } };
    char text[2048];
    (void)state;
    snprintf(text, sizeof text, SHOWN "%s", QUANTIZED);
    refuse_made(context, text, &bin, sizeof bin, CUTIS_CORRUPT_DATA,
                "/meshes/0/primitives/0/attributes/POSITION");
    snprintf(text, sizeof text,
             "\"extensionsUsed\":[\"KHR_mesh_quantization\"],\"extensionsRequired\":[\"KHR_mesh_"
             "quantization\"]," SHOWN "%s",
             QUANTIZED);
    cutis_model *model = read_made(context, text, &bin, sizeof bin);
    const cutis_primitive *p = primitive_of(model, 0);
    for (int v = 0; v < 2; v++) {
        for (int k = 0; k < 3; k++) {
            assert_true(p->positions[3 * v + k] == bin.positions[v][k]);
            assert_true(p->targets[0].positions[3 * v + k] == bin.moved[v][k]);
            // Their length is none of a unit vector's, so it is put right.
            double length = sqrt(pow(fmax(bin.normals[v][0] / 127.0, -1.0), 2) +
                                 pow(fmax(bin.normals[v][2] / 127.0, -1.0), 2));
            assert_near(p->normals[3 * v + k], fmax(bin.normals[v][k] / 127.0, -1.0) / length,
                        1e-7);
        }
    }
    cutis_model_destroy(model);
}

static void strips_fans_and_loops_are_expanded_in_the_order_of_the_specification(void **state)
{
    // Five vertices; indices reversed for the strip, to see that they are followed.
    static const struct {
        int mode;
        uint32_t count;
        uint32_t expected[12];
    } CASES[] = {
        { 0, 5, { 0, 1, 2, 3, 4 } },
        { 1, 4, { 0, 1, 2, 3 } },
        { 2, 10, { 0, 1, 1, 2, 2, 3, 3, 4, 4, 0 } },
        { 3, 8, { 0, 1, 1, 2, 2, 3, 3, 4 } },
        { 4, 3, { 0, 1, 2 } },
        { 5, 9, { 0, 1, 2, 1, 3, 2, 2, 3, 4 } },
        { 6, 9, { 1, 2, 0, 2, 3, 0, 3, 4, 0 } },
    };
    struct {
        float positions[5][3];
        uint8_t indices[8];
    } bin = { .indices = { 4, 3, 2, 1, 0 } };
    char text[1024];
    (void)state;
    for (size_t i = 0; i < 2 * sizeof CASES / sizeof *CASES; i++) {
        int mode = CASES[i / 2].mode, indexed = i % 2;
        snprintf(text, sizeof text,
                 SHOWN
                 "\"meshes\":[{\"primitives\":[{\"mode\":%d,%s\"attributes\":{\"POSITION\":0}}]}],"
                 "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":5,\"type\":"
                 "\"VEC3\",\"min\":[0,0,0],\"max\":[0,0,0]},"
                 "{\"bufferView\":1,\"componentType\":5121,\"count\":5,\"type\":\"SCALAR\"}],"
                 "\"bufferViews\":[{\"buffer\":0,\"byteLength\":60},{\"buffer\":0,\"byteOffset\":"
                 "60,\"byteLength\":5}],\"buffers\":[{\"byteLength\":65}]}",
                 mode, indexed ? "\"indices\":1," : "");
        cutis_model *model = read_made(context, text, &bin, sizeof bin);
        const cutis_primitive *p = primitive_of(model, 0);
        assert_int_equal(p->index_count, CASES[i / 2].count);
        for (uint32_t k = 0; k < p->index_count; k++)
            assert_int_equal(p->indices[k],
                             indexed ? 4 - CASES[i / 2].expected[k] : CASES[i / 2].expected[k]);
        cutis_model_destroy(model);
    }
}

static void any_number_of_joint_sets_is_gathered_without_its_padding(void **state)
{
    const struct {
        float positions[2][3];
        uint8_t joints0[2][4];
        uint16_t joints1[2][4];
        uint8_t weights0[2][4];
        float weights1[2][4];
    } bin = { .joints0 = { { 2, 1, 0, 0 }, { 1, 0, 0, 0 } },
              .joints1 = { { 0, 0, 0, 0 }, { 0, 2, 0, 0 } },
              .weights0 = { { 51, 102, 0, 0 }, { 0, 0, 0, 0 } },
              .weights1 = { { 0.4f, 0, 0, 0 }, { 0, 1, 0, 0 } } };
    (void)state;
    cutis_model *model = read_made(
        context,
        "\"nodes\":[{\"mesh\":0,\"skin\":0},{\"children\":[2,3]},{},{}],\"skins\":[{\"joints\":[1,"
        "2,3]}],"
        "\"meshes\":[{\"primitives\":[{\"mode\":0,\"attributes\":{\"POSITION\":0,\"JOINTS_0\":1,"
        "\"JOINTS_1\":2,\"WEIGHTS_0\":3,\"WEIGHTS_1\":4}}]}],"
        "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":2,\"type\":\"VEC3\","
        "\"min\":[0,0,0],\"max\":[0,0,0]},"
        "{\"bufferView\":1,\"componentType\":5121,\"count\":2,\"type\":\"VEC4\"},{\"bufferView\":2,"
        "\"componentType\":5123,\"count\":2,\"type\":\"VEC4\"},"
        "{\"bufferView\":3,\"componentType\":5121,\"normalized\":true,\"count\":2,\"type\":"
        "\"VEC4\"},{\"bufferView\":4,\"componentType\":5126,\"count\":2,\"type\":\"VEC4\"}],"
        "\"bufferViews\":[{\"buffer\":0,\"byteLength\":24},{\"buffer\":0,\"byteOffset\":24,"
        "\"byteLength\":8},{\"buffer\":0,\"byteOffset\":32,\"byteLength\":16},"
        "{\"buffer\":0,\"byteOffset\":48,\"byteLength\":8},{\"buffer\":0,\"byteOffset\":56,"
        "\"byteLength\":32}],\"buffers\":[{\"byteLength\":88}]}",
        &bin, sizeof bin);
    const cutis_influences *found = &primitive_of(model, 0)->influences;
    const uint32_t first[] = { 0, 3, 4 }, joints[] = { 2, 1, 0, 2 };
    assert_memory_equal(found->first, first, sizeof first);
    assert_memory_equal(found->joints, joints, sizeof joints);
    assert_near(found->weights[0], 0.2, 1e-7);
    assert_near(found->weights[1], 0.4, 1e-7);
    assert_near(found->weights[2], 0.4, 1e-7);
    assert_true(found->weights[3] == 1.0f);
    cutis_model_destroy(model);
}

static void nodes_stand_depth_first_and_those_outside_the_scene_last(void **state)
{
    static const char *const ORDER[] = { "d", "f", "b", "a", "c", "e" };
    static const int32_t PARENTS[] = { -1, 0, 0, 2, -1, 4 };
    (void)state;
    cutis_model *model =
        read_made(context,
                  "\"scene\":0,\"scenes\":[{\"nodes\":[3]}],\"nodes\":[{\"name\":\"a\"},{\"name\":"
                  "\"b\",\"children\":[0]},{\"name\":\"c\",\"children\":[4]},"
                  "{\"name\":\"d\",\"children\":[5,1]},{\"name\":\"e\",\"matrix\":[1,0,0,0,0,1,0,0,"
                  "0,0,1,0,5,6,7,1]},{\"name\":\"f\",\"translation\":[1,2,3]}]}",
                  NULL, 0);
    const cutis_model_data *data = cutis_model_get(model);
    assert_int_equal(data->node_count, 6);
    for (int i = 0; i < 6; i++) {
        assert_string_equal(data->nodes[i].name, ORDER[i]);
        assert_int_equal(data->nodes[i].parent, PARENTS[i]);
        assert_int_equal(data->nodes[i].outside, i >= 4);
    }
    assert_true(data->nodes[1].rest.translation.z == 3);
    assert_true(data->nodes[5].matrix->m[3] == 5 && data->nodes[5].matrix->m[11] == 7);
    cutis_model_destroy(model);
}

static void splines_keep_their_tangents_and_integer_rotations_become_floats(void **state)
{
    struct {
        float times[2];
        int16_t rotations[2][3][4];
    } bin = { .times = { 0, 2 } };
    (void)state;
    for (int k = 0; k < 2; k++) {
        for (int c = 0; c < 4; c++) {
            bin.rotations[k][0][c] = (int16_t)(100 * k + c);
            bin.rotations[k][1][c] = c == 3 ? 32767 : 0;
            bin.rotations[k][2][c] = (int16_t)(-100 * k - c);
        }
    }
    cutis_model *model =
        read_made(context,
                  "\"nodes\":[{}],\"animations\":[{\"name\":\"turn\",\"channels\":[{\"sampler\":0,"
                  "\"target\":{\"node\":0,\"path\":\"rotation\"}},"
                  "{\"sampler\":0,\"target\":{\"path\":\"rotation\"}}],\"samplers\":[{\"input\":0,"
                  "\"output\":1,\"interpolation\":\"CUBICSPLINE\"}]}],"
                  "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":2,\"type\":"
                  "\"SCALAR\",\"min\":[0],\"max\":[2]},"
                  "{\"bufferView\":1,\"componentType\":5122,\"normalized\":true,\"count\":6,"
                  "\"type\":\"VEC4\"}],"
                  "\"bufferViews\":[{\"buffer\":0,\"byteLength\":8},{\"buffer\":0,\"byteOffset\":8,"
                  "\"byteLength\":48}],\"buffers\":[{\"byteLength\":56}]}",
                  &bin, sizeof bin);
    const cutis_clip *clip = cutis_model_get(model)->clips;
    assert_int_equal(clip->channel_count, 1);
    assert_int_equal(clip->channels[0].interpolation, CUTIS_INTERPOLATION_CUBIC);
    for (int i = 0; i < 24; i++)
        assert_near(clip->channels[0].values[i], (&bin.rotations[0][0][0])[i] / 32767.0, 1e-7);
    assert_true(clip->duration == 2);
    cutis_model_destroy(model);
}

typedef struct packed_file {
    uint8_t bin[4096];
    size_t size;
} packed_file;

static size_t add_packed(packed_file *file, const unsigned char *bytes, size_t size)
{
    size_t offset = (file->size + 3) / 4 * 4;
    memcpy(file->bin + offset, bytes, size);
    file->size = offset + size;
    return offset;
}

static void compressed_views_are_unpacked_filtered_and_written_plain(void **state)
{
    enum { COUNT = 16 };
    float positions[COUNT][4], normals[COUNT][4];
    unsigned char encoded[2048];
    uint32_t indices[] = { 0, 1, 2, 2, 1, 3, 2, 3, 4 };
    int8_t octahedral[COUNT][4];
    uint32_t exponential[COUNT][3];
    static packed_file file;
    char text[4096], path[] = "/tmp/cutis_meshopt_XXXXXX.gltf",
                     beside[] = "/tmp/cutis_meshopt_XXXXXX.bin";
    (void)state;
    file.size = 0;
    for (int v = 0; v < COUNT; v++) {
        for (int k = 0; k < 3; k++) positions[v][k] = (float)((v * 7 + k * 3) % 11) * 0.25f;
        double angle = v * 0.4, height = v / 16.0 - 0.5, radius = sqrt(1 - height * height);
        normals[v][0] = (float)(radius * cos(angle));
        normals[v][1] = (float)(radius * sin(angle));
        normals[v][2] = (float)height;
        normals[v][3] = 0;
    }
    // Exponential filter: a component is mantissa * 2^exponent, 24 and 8 bits; quarters are 2^-2.
    for (int v = 0; v < COUNT; v++) {
        for (int k = 0; k < 3; k++)
            exponential[v][k] =
                (uint32_t)((uint8_t)-2) << 24 | (uint32_t)(int32_t)(positions[v][k] * 4);
    }
    meshopt_encodeFilterOct(octahedral, COUNT, 4, 8, &normals[0][0]);
    size_t sizes[3], offsets[3];
    sizes[0] = meshopt_encodeVertexBuffer(encoded, sizeof encoded, exponential, COUNT, 12);
    offsets[0] = add_packed(&file, encoded, sizes[0]);
    sizes[1] = meshopt_encodeVertexBuffer(encoded, sizeof encoded, octahedral, COUNT, 4);
    offsets[1] = add_packed(&file, encoded, sizes[1]);
    sizes[2] = meshopt_encodeIndexBuffer(encoded, sizeof encoded, indices, 9);
    offsets[2] = add_packed(&file, encoded, sizes[2]);
    snprintf(text, sizeof text,
             SHOWN
             "\"extensionsUsed\":[\"EXT_meshopt_compression\",\"KHR_mesh_quantization\"],"
             "\"extensionsRequired\":[\"EXT_meshopt_compression\",\"KHR_mesh_quantization\"],"
             "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0,\"NORMAL\":1},"
             "\"indices\":2}]}],"
             "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":16,\"type\":"
             "\"VEC3\",\"min\":[0,0,0],\"max\":[2.5,2.5,2.5]},"
             "{\"bufferView\":1,\"componentType\":5120,\"normalized\":true,\"count\":16,\"type\":"
             "\"VEC3\"},{\"bufferView\":2,\"componentType\":5125,\"count\":9,\"type\":\"SCALAR\"}],"
             "\"bufferViews\":[{\"buffer\":1,\"byteLength\":192,\"byteStride\":12,\"extensions\":{"
             "\"EXT_meshopt_compression\":{\"buffer\":0,\"byteOffset\":%zu,\"byteLength\":%zu,"
             "\"byteStride\":12,\"count\":16,\"mode\":\"ATTRIBUTES\",\"filter\":\"EXPONENTIAL\"}}},"
             "{\"buffer\":1,\"byteOffset\":192,\"byteLength\":64,\"byteStride\":4,\"extensions\":{"
             "\"EXT_meshopt_compression\":{\"buffer\":0,\"byteOffset\":%zu,\"byteLength\":%zu,"
             "\"byteStride\":4,\"count\":16,\"mode\":\"ATTRIBUTES\",\"filter\":\"OCTAHEDRAL\"}}},"
             "{\"buffer\":1,\"byteOffset\":256,\"byteLength\":36,\"extensions\":{\"EXT_meshopt_"
             "compression\":{\"buffer\":0,\"byteOffset\":%zu,\"byteLength\":%zu,\"byteStride\":4,"
             "\"count\":9,\"mode\":\"TRIANGLES\"}}}],"
             "\"buffers\":[{\"byteLength\":%zu},{\"byteLength\":292,\"extensions\":{\"EXT_meshopt_"
             "compression\":{\"fallback\":true}}}]}",
             offsets[0], sizes[0], offsets[1], sizes[1], offsets[2], sizes[2], file.size);
    cutis_model *model = read_made(context, text, file.bin, file.size);
    const cutis_primitive *p = primitive_of(model, 0);
    for (int v = 0; v < COUNT; v++) {
        assert_memory_equal(p->positions + 3 * v, positions[v], 12);
        // Eight bits a coordinate on the octahedron: a step of 1/127 there, and of the stored
        // components.
        for (int k = 0; k < 3; k++) assert_near(p->normals[3 * v + k], normals[v][k], 0.02);
    }
    // The codec may turn a triangle, so compare by corners from its least index on.
    for (int t = 0; t < 3; t++) {
        const uint32_t *found = p->indices + 3 * t, *wanted = indices + 3 * t;
        bool same = false;
        for (int turn = 0; turn < 3; turn++)
            same |= found[0] == wanted[turn] && found[1] == wanted[(turn + 1) % 3] &&
                    found[2] == wanted[(turn + 2) % 3];
        assert_true(same);
    }
    int id = mkstemps(path, 5);
    assert_true(id >= 0);
    close(id);
    memcpy(beside, path, strlen(path) - 5);
    assert_ok(context, cutis_model_write(model, path, NULL));
    json_t *root = json_load_file(path, 0, NULL);
    assert_int_equal(json_array_size(json_object_get(root, "extensionsUsed")), 1);
    assert_int_equal(json_array_size(json_object_get(root, "buffers")), 1);
    assert_null(
        json_object_get(json_array_get(json_object_get(root, "bufferViews"), 0), "extensions"));
    json_decref(root);
    cutis_model *again = NULL;
    assert_ok(context, cutis_model_read(context, path, NULL, &again));
    assert_memory_equal(primitive_of(again, 0)->normals, p->normals, COUNT * 12);
    assert_memory_equal(primitive_of(again, 0)->indices, p->indices, 36);
    unlink(path);
    unlink(beside);
    cutis_model_destroy(again);
    cutis_model_destroy(model);
}

static void part_names_and_labels_are_read_from_their_extension(void **state)
{
    const struct {
        float positions[3][3];
        uint8_t labels[4];
    } bin = { .labels = { 1 } };
    static const char FORMAT[] =
        SHOWN "\"extensionsUsed\":[\"CUTIS_parts\"],\"meshes\":[{\"primitives\":[{\"attributes\":{"
              "\"POSITION\":0}}],"
              "\"extensions\":{\"CUTIS_parts\":{\"names\":[\"hand\"%s],\"labels\":[1]}}}],"
              "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":3,\"type\":"
              "\"VEC3\",\"min\":[0,0,0],\"max\":[0,0,0]},"
              "{\"bufferView\":1,\"componentType\":5121,\"count\":1,\"type\":\"SCALAR\"}],"
              "\"bufferViews\":[{\"buffer\":0,\"byteLength\":36},{\"buffer\":0,\"byteOffset\":36,"
              "\"byteLength\":1}],\"buffers\":[{\"byteLength\":37}]}";
    char text[1024];
    (void)state;
    snprintf(text, sizeof text, FORMAT, ",\"arm\"");
    cutis_model *model = read_made(context, text, &bin, sizeof bin);
    assert_string_equal(cutis_model_get(model)->meshes[0].part_names[1], "arm");
    assert_int_equal(primitive_of(model, 0)->parts[0], 1);
    cutis_model_destroy(model);
    snprintf(text, sizeof text, FORMAT, "");
    refuse_made(context, text, &bin, sizeof bin, CUTIS_CORRUPT_DATA,
                "/meshes/0/extensions/CUTIS_parts");
}

// 24,000 points: the file, kept, is as large as they are; not kept, only the model is there.
static void a_model_keeps_its_file_only_where_that_is_asked_for(void **state)
{
    enum { COUNT = 24000 };
    static float points[COUNT][3];
    static glb file;
    cutis_model *model = NULL, *copy = NULL;
    (void)state;
    make_glb(&file,
             SHOWN "\"meshes\":[{\"primitives\":[{\"mode\":0,\"attributes\":{\"POSITION\":0}}]}],"
                   "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":24000,"
                   "\"type\":\"VEC3\",\"min\":[0,0,0],\"max\":[0,0,0]}],"
                   "\"bufferViews\":[{\"buffer\":0,\"byteLength\":288000}],"
                   "\"buffers\":[{\"byteLength\":288000}]}",
             points, sizeof points);
    assert_ok(context,
              cutis_model_read_memory(context, file.bytes, file.size, "a.glb", NULL, &model));
    const uint64_t alone = cutis_context_memory(context);
    assert_ok(context,
              cutis_model_create(context, cutis_model_get(model), CUTIS_GATE_REFUSE, &copy));
    assert_true(alone <= cutis_context_memory(context) - alone + 64);
    cutis_model_destroy(model);
    assert_ok(context, cutis_model_read_memory(context, file.bytes, file.size, "a.glb", KEEP_SOURCE,
                                               &model));
    cutis_model_destroy(copy);
    assert_true(cutis_context_memory(context) >= alone + sizeof points);
    cutis_model_destroy(model);
}

static void a_required_extension_that_is_not_known_is_named(void **state)
{
    (void)state;
    refuse_made(context,
                "\"extensionsUsed\":[\"EXT_mesh_gpu_instancing\"],\"extensionsRequired\":[\"EXT_"
                "mesh_gpu_instancing\"]}",
                NULL, 0, CUTIS_UNSUPPORTED_FORMAT,
                "/extensionsRequired/0: the extension EXT_mesh_gpu_instancing");
    cutis_model *model = read_made(context,
                                   "\"extensionsUsed\":[\"KHR_materials_unlit\",\"ACME_x\"],"
                                   "\"extensionsRequired\":[\"KHR_materials_unlit\"]}",
                                   NULL, 0);
    cutis_model_destroy(model);
}

/// Colours out of range and rotations that are not of unit length are mended in the model, not in
/// the caller's memory, nor in what else uses the same bytes.
static void what_is_mended_is_not_the_memory_it_was_read_from(void **state)
{
    (void)state;
    const struct {
        float positions[3][3], normals[3][3], times[2], rotations[2][4];
    } bin = { .positions = { { 0, 0, 0 }, { 1, 0, 0 }, { 0, 1, 0 } },
              .normals = { { 0, -1, 0 }, { 0, -1, 0 }, { 0, -1, 0 } },
              .times = { 0, 1 },
              .rotations = { { 0, 0, 0, 2 }, { 0, 0, 2, 0 } } };
    static const char JSON[] =
        "\"scene\":0,\"scenes\":[{\"nodes\":[0]}],\"nodes\":[{\"mesh\":0}],"
        "\"buffers\":[{\"byteLength\":112}],"
        "\"bufferViews\":[{\"buffer\":0,\"byteLength\":36},"
        "{\"buffer\":0,\"byteOffset\":36,\"byteLength\":36},"
        "{\"buffer\":0,\"byteOffset\":72,\"byteLength\":8},"
        "{\"buffer\":0,\"byteOffset\":80,\"byteLength\":32}],"
        "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":3,\"type\":\"VEC3\","
        "\"min\":[0,0,0],\"max\":[1,1,0]},"
        "{\"bufferView\":1,\"componentType\":5126,\"count\":3,\"type\":\"VEC3\"},"
        "{\"bufferView\":2,\"componentType\":5126,\"count\":2,\"type\":\"SCALAR\","
        "\"min\":[0],\"max\":[1]},"
        "{\"bufferView\":3,\"componentType\":5126,\"count\":2,\"type\":\"VEC4\"}],"
        "\"animations\":[{\"samplers\":[{\"input\":2,\"output\":3}],"
        "\"channels\":[{\"sampler\":0,\"target\":{\"node\":0,\"path\":\"rotation\"}}]}],"
        "\"meshes\":[{\"primitives\":[{\"attributes\":"
        "{\"POSITION\":0,\"COLOR_0\":1,\"NORMAL\":1}}]}]}";
    static glb file, before;
    cutis_model *model = NULL;
    make_glb(&file, JSON, &bin, sizeof bin);
    memcpy(&before, &file, sizeof file);
    assert_ok(context, cutis_model_read_memory(context, file.bytes, file.size, "made.glb", NULL,
                                               &model)); // nothing is kept: the caller's bytes
    assert_memory_equal(file.bytes, before.bytes, file.size);
    const cutis_primitive *p = primitive_of(model, 0);
    assert_memory_equal(p->normals, bin.normals, sizeof bin.normals);
    assert_true(p->colors[1] == 0);
    assert_true(cutis_model_get(model)->clips[0].channels[0].values[3] == 1);
    cutis_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_mended_is_not_the_memory_it_was_read_from, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(interleaved_attributes_are_taken_apart, set_up, tear_down),
        cmocka_unit_test_setup_teardown(sparse_values_replace_base_values_and_zeros, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(normalised_integers_become_fractions, set_up, tear_down),
        cmocka_unit_test_setup_teardown(quantised_attributes_need_their_extension, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(
            strips_fans_and_loops_are_expanded_in_the_order_of_the_specification, set_up,
            tear_down),
        cmocka_unit_test_setup_teardown(any_number_of_joint_sets_is_gathered_without_its_padding,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(nodes_stand_depth_first_and_those_outside_the_scene_last,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            splines_keep_their_tangents_and_integer_rotations_become_floats, set_up, tear_down),
        cmocka_unit_test_setup_teardown(compressed_views_are_unpacked_filtered_and_written_plain,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(part_names_and_labels_are_read_from_their_extension, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_model_keeps_its_file_only_where_that_is_asked_for, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_required_extension_that_is_not_known_is_named, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
