/// One hostile file through the reader its name asks for: what the fuzzers, their replay and the
/// generated malformed files share. A reader must end with a result, one line of error text if it
/// failed, and not a byte allocated; what it accepts must hold for everybody who uses it.
#ifndef CUTIS_FUZZ_RUN_H
#define CUTIS_FUZZ_RUN_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cutis/clip.h>
#include <cutis/io.h>
#include <cutis/weights.h>

#include "io/format.h"
#ifdef CUTIS_FUZZ_FAST
#include "guard.h"
#endif

#define RUN_MUST(condition)                                                                        \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                        \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

// The allowance is what no file of this size needs; running into it is an error like any other. The
// fast programs have twice of what a file of their size gets by default: files that share a large
// accessor often would take most of the time.
static inline cutis_context *run_begin(void)
{
    cutis_context *context = NULL;
    cutis_context_options options = { .limits = { .memory_bytes = UINT64_C(1) << 30 } };
#ifdef CUTIS_FUZZ_FAST
    options.limits.memory_bytes = UINT64_C(1) << 25;
    options.allocator = (cutis_allocator){ .allocate = guard_allocate, .release = guard_release };
#endif
    RUN_MUST(cutis_context_create(&options, &context) == CUTIS_OK);
    return context;
}

static inline void run_end(cutis_context *context, cutis_result result)
{
    if (result != CUTIS_OK) RUN_MUST(cutis_context_error(context)[0]);
    RUN_MUST(!strchr(cutis_context_error(context), '\n'));
    RUN_MUST(cutis_context_memory(context) == 0);
    cutis_context_destroy(context);
}

/// Everything a consumer relies on without asking: counts, triangles, the rest pose.
static inline void run_walk(const cutis_model *model)
{
    const cutis_model_data *data = cutis_model_get(model);
    uint64_t triangles = cutis_model_triangle_count(model);
    uint32_t *indices = malloc((size_t)(3 * triangles + 1) * sizeof *indices);
    float *positions =
        malloc(((size_t)cutis_model_vertex_count(model) * 3 + 1) * sizeof *positions);
    cutis_transform *pose = malloc(((size_t)data->node_count + 1) * sizeof *pose);
    cutis_mat34 *world = malloc(((size_t)data->node_count + 1) * sizeof *world);
    RUN_MUST(indices && positions && pose && world);
    cutis_model_triangles(model, indices);
    for (uint64_t i = 0; i < 3 * triangles; i++)
        RUN_MUST(indices[i] < cutis_model_vertex_count(model));
    cutis_model_file_positions(model, positions);
    cutis_pose_rest(model, pose, NULL);
    cutis_pose_world(model, pose, world);
    free(indices);
    free(positions);
    free(pose);
    free(world);
}

/// Read a model by the format of `name`.
static inline void run_read(const char *name, const uint8_t *data, size_t size, cutis_gate gate)
{
    cutis_context *context = run_begin();
    cutis_model *model = NULL;
    cutis_read_guess guess;
    cutis_read_options options = { .gate = gate, .guess = &guess };
    if (gate == CUTIS_GATE_REPAIR) options.up = CUTIS_UP_AUTO, options.units = CUTIS_UNITS_AUTO;
    cutis_result result = cutis_model_read_memory(context, data, size, name, &options, &model);
    RUN_MUST((result == CUTIS_OK) == (model != NULL));
    if (model) run_walk(model);
    cutis_model_destroy(model);
    run_end(context, result);
}

/// The strict report of a file.
static inline void run_inspect(const char *name, const uint8_t *data, size_t size)
{
    cutis_context *context = run_begin();
    cutis_check_report *report = NULL;
    cutis_result result = cutis_file_inspect_memory(context, data, size, name, &report);
    RUN_MUST((result == CUTIS_OK) == (report != NULL));
    cutis_check_report_destroy(report);
    run_end(context, result);
}

/// Read a model; glTF is inspected, too.
static inline void run_model(const char *name, const uint8_t *data, size_t size, cutis_gate gate)
{
    run_read(name, data, size, gate);
    if (strstr(name, ".gl")) run_inspect(name, data, size);
}

/// A character with a skin, for poses, handles and clips to be about.
static const char RUN_CHARACTER[] =
    "{\"asset\":{\"version\":\"2.0\"},\"nodes\":[{\"mesh\":0,\"skin\":0},{\"name\":\"j0\","
    "\"children\":[2]},{\"name\":\"j1\",\"children\":[3]},{\"name\":\"j2\"}],\"skins\":[{"
    "\"joints\":[1,2,3]}],\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0,\"JOINTS_"
    "0\":"
    "1,\"WEIGHTS_0\":2}}]}],\"accessors\":[{\"componentType\":5126,\"count\":3,\"type\":\"VEC3\","
    "\"min\":[0,0,0],\"max\":[0,0,0]},{\"componentType\":5121,\"count\":3,\"type\":\"VEC4\"},{"
    "\"componentType\":5126,\"count\":3,\"type\":\"VEC4\"}]}";

/// A model that is made once: `*model` keeps it from call to call. `*used` is what its context
/// counts for it, and must count again when a call is over.
static inline const cutis_model *run_keep(cutis_model **model, uint64_t *used, const char *name,
                                          const char *text, size_t size)
{
    if (!*model) {
        cutis_context *context = run_begin();
        RUN_MUST(cutis_model_read_memory(context, text, size, name, NULL, model) == CUTIS_OK);
        *used = cutis_context_memory(context);
#ifdef CUTIS_FUZZ_FAST
        guard_keep();
#endif
    }
    return *model;
}

static inline void run_kept(const cutis_model *model, uint64_t used, cutis_result result)
{
    cutis_context *context = cutis_model_context(model);
    if (result != CUTIS_OK) RUN_MUST(cutis_context_error(context)[0]);
    RUN_MUST(!strchr(cutis_context_error(context), '\n'));
    RUN_MUST(cutis_context_memory(context) == used);
}

static inline cutis_input run_input(cutis_context *context, const char *name, const uint8_t *data,
                                    size_t size)
{
    return (cutis_input){
        .context = context, .name = name, .data = (const char *)data, .size = size, .scale = 1
    };
}

/// A Cal3D animation, which needs a skeleton to move.
static inline void run_clip(const uint8_t *data, size_t size)
{
    static const char SKELETON[] =
        "<SKELETON><BONE/><BONE><PARENTID>0</PARENTID></BONE><BONE/></SKELETON>";
    static cutis_model *kept;
    static uint64_t used;
    const cutis_model *model = run_keep(&kept, &used, "s.xsf", SKELETON, sizeof SKELETON - 1);
    cutis_model *moved = NULL;
    cutis_input input = run_input(cutis_model_context(model), "fuzz.caf", data, size);
    cutis_result result = cutis_cal3d_read_clip(model, &input, &moved);
    RUN_MUST((result == CUTIS_OK) == (moved != NULL));
    if (moved) run_walk(moved);
    cutis_model_destroy(moved);
    run_kept(model, used, result);
}

static inline void run_array(const uint8_t *data, size_t size)
{
    cutis_context *context = run_begin();
    cutis_array array = { 0 };
    cutis_input input = run_input(context, "fuzz.npy", data, size);
    cutis_result result = cutis_array_parse(&input, &array);
    if (result == CUTIS_OK) {
        uint64_t count = 1;
        float sum = 0;
        for (uint32_t d = 0; d < array.dimension_count; d++) count *= array.dimensions[d];
        for (uint64_t i = 0; i < count; i++) sum += array.values[i];
        RUN_MUST(sum == sum || sum != sum); // every value was there to be read
        cutis_array_destroy(context, &array);
    }
    run_end(context, result);
}

static inline void run_handles(const uint8_t *data, size_t size)
{
    cutis_context *context = run_begin();
    cutis_handle_file *handles = NULL;
    cutis_input input = run_input(context, "handles.json", data, size);
    cutis_result result = cutis_handles_parse(&input, &handles);
    RUN_MUST((result == CUTIS_OK) == (handles != NULL));
    cutis_handle_file_destroy(handles);
    run_end(context, result);
}

static inline cutis_model *run_character(cutis_context *context)
{
    cutis_model *model = NULL;
    RUN_MUST(cutis_model_read_memory(context, RUN_CHARACTER, sizeof RUN_CHARACTER - 1, "c.gltf",
                                     NULL, &model) == CUTIS_OK);
    return model;
}

static inline const cutis_model *run_kept_character(uint64_t *used)
{
    static cutis_model *kept;
    static uint64_t bytes;
    run_keep(&kept, &bytes, "c.gltf", RUN_CHARACTER, sizeof RUN_CHARACTER - 1);
    *used = bytes;
    return kept;
}

static inline void run_pose(const uint8_t *data, size_t size)
{
    cutis_transform pose[8];
    uint64_t used;
    const cutis_model *model = run_kept_character(&used);
    cutis_pose_rest(model, pose, NULL);
    cutis_input input = run_input(cutis_model_context(model), "pose.json", data, size);
    run_kept(model, used, cutis_pose_parse(&input, model, pose));
}

static inline void run_joint_map(const uint8_t *data, size_t size)
{
    int32_t map[8];
    uint64_t used;
    const cutis_model *model = run_kept_character(&used);
    cutis_input input = run_input(cutis_model_context(model), "map.json", data, size);
    run_kept(model, used, cutis_joint_map_parse(&input, model, model, map));
}

static inline void run_limits(const uint8_t *data, size_t size)
{
    cutis_player_limits limits;
    cutis_context *context = run_begin();
    cutis_input input = run_input(context, "limits.json", data, size);
    run_end(context, cutis_limits_parse(&input, &limits));
}

static inline void run_labels(const uint8_t *data, size_t size)
{
    uint32_t *labels = NULL;
    uint64_t count = 0;
    cutis_context *context = run_begin();
    cutis_input input = run_input(context, "fuzz.seg", data, size);
    cutis_result result = cutis_part_labels_parse(&input, &labels, &count);
    if (result == CUTIS_OK) cutis_memory_free(context, labels, count * sizeof(uint32_t));
    run_end(context, result);
}

/// By the end of a file's name.
static inline void run_any(const char *name, const uint8_t *data, size_t size, cutis_gate gate)
{
    const char *end = strrchr(name, '.');
    if (!end) return;
    if (strcmp(end, ".caf") == 0 || strcmp(end, ".xaf") == 0)
        run_clip(data, size);
    else if (strcmp(end, ".npy") == 0 || strcmp(end, ".pc2") == 0)
        run_array(data, size);
    else if (strstr(name, "handles.json"))
        run_handles(data, size);
    else if (strstr(name, "pose.json"))
        run_pose(data, size);
    else if (strstr(name, "map.json"))
        run_joint_map(data, size);
    else if (strstr(name, "limits.json"))
        run_limits(data, size);
    else if (strcmp(end, ".seg") == 0)
        run_labels(data, size);
    else if (strcmp(end, ".cli") != 0)
        run_model(name, data, size, gate);
}

#endif
