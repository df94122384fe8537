// Every reader under libFuzzer: the first byte chooses the format, the rest is the file.
//
//   clang -fsanitize=fuzzer,address,undefined ...   the fuzzer (tools/fuzz builds it and collects
//   seeds) with -DCUTIS_FUZZ_REPLAY and no fuzzer          a program that replays the files it is
//   given, for any compiler
//
// What is read is written again to nowhere: a model that passed the gate must hold for every
// consumer, so its counts, triangles and rest pose are walked too. The context must end without a
// byte allocated.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cutis/clip.h>
#include <cutis/io.h>

#include "io/format.h"

static const struct {
    const char *name;
    cutis_format format;
} KINDS[] = {
    { "fuzz", CUTIS_FORMAT_AUTO },      { "fuzz.gltf", CUTIS_FORMAT_GLTF },
    { "fuzz.glb", CUTIS_FORMAT_GLB },   { "fuzz.obj", CUTIS_FORMAT_OBJ },
    { "fuzz.ply", CUTIS_FORMAT_PLY },   { "fuzz.bvh", CUTIS_FORMAT_BVH },
    { "fuzz.csf", CUTIS_FORMAT_CAL3D },
};

static void walk(const cutis_model *model)
{
    const cutis_model_data *data = cutis_model_get(model);
    uint64_t triangles = cutis_model_triangle_count(model);
    uint32_t *indices = malloc((size_t)(3 * triangles + 1) * sizeof *indices);
    float *positions =
        malloc(((size_t)cutis_model_vertex_count(model) * 3 + 1) * sizeof *positions);
    cutis_transform *pose = malloc(((size_t)data->node_count + 1) * sizeof *pose);
    cutis_mat34 *world = malloc(((size_t)data->node_count + 1) * sizeof *world);
    if (!indices || !positions || !pose || !world) abort();
    cutis_model_triangles(model, indices);
    for (uint64_t i = 0; i < 3 * triangles; i++)
        if (indices[i] >= cutis_model_vertex_count(model)) abort();
    cutis_model_file_positions(model, positions);
    cutis_pose_rest(model, pose, NULL);
    cutis_pose_world(model, pose, world);
    free(indices);
    free(positions);
    free(pose);
    free(world);
}

// A Cal3D animation needs a skeleton to move.
static const char SKELETON[] =
    "<SKELETON><BONE/><BONE><PARENTID>0</PARENTID></BONE><BONE/></SKELETON>";

static cutis_result read_any(cutis_context *context, size_t kind, const uint8_t *data, size_t size,
                             const cutis_read_options *options, cutis_model **out)
{
    if (kind < sizeof KINDS / sizeof *KINDS)
        return cutis_model_read_memory(context, data, size, KINDS[kind].name, options, out);
    cutis_model *model = NULL;
    if (cutis_model_read_memory(context, SKELETON, sizeof SKELETON - 1, "s.xsf", NULL, &model) !=
        CUTIS_OK)
        abort();
    cutis_input input = {
        .context = context, .name = "fuzz.caf", .data = (const char *)data, .size = size, .scale = 1
    };
    cutis_result result = cutis_cal3d_read_clip(model, &input, out);
    cutis_model_destroy(model);
    return result;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1) return 0;
    size_t kinds = sizeof KINDS / sizeof *KINDS, kind = data[0] % (kinds + 1);
    // The allowance is what no file of fuzzing size needs; running into it is an error like any
    // other.
    cutis_context_options options = { .limits = { .memory_bytes = UINT64_C(1) << 30 } };
    cutis_read_options read = { .format = kind < kinds ? KINDS[kind].format : CUTIS_FORMAT_AUTO,
                                .gate = data[0] & 128 ? CUTIS_GATE_REPAIR : CUTIS_GATE_REFUSE };
    cutis_context *context;
    cutis_model *model = NULL;
    if (cutis_context_create(&options, &context) != CUTIS_OK) abort();
    cutis_result result = read_any(context, kind, data + 1, size - 1, &read, &model);
    if ((result == CUTIS_OK) != (model != NULL)) abort();
    if (result != CUTIS_OK && !cutis_context_error(context)[0]) abort();
    if (strchr(cutis_context_error(context), '\n')) abort();
    if (model) walk(model);
    cutis_model_destroy(model);
    if (cutis_context_memory(context) != 0) abort();
    cutis_context_destroy(context);
    return 0;
}

#ifdef CUTIS_FUZZ_REPLAY
int main(int count, char **arguments)
{
    for (int i = 1; i < count; i++) {
        FILE *file = fopen(arguments[i], "rb");
        if (!file) {
            fprintf(stderr, "%s: cannot be opened\n", arguments[i]);
            return 1;
        }
        uint8_t *data = NULL;
        size_t size = 0, got;
        do {
            data = realloc(data, size + 65536);
            if (!data) abort();
            got = fread(data + size, 1, 65536, file);
            size += got;
        } while (got);
        fclose(file);
        LLVMFuzzerTestOneInput(data, size);
        free(data);
    }
    printf("%d files replayed\n", count - 1);
    return 0;
}
#endif
