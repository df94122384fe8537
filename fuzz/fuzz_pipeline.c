// The whole way of a character: read, pass the gate, deform one pose with every method, write, read
// again. What was written must be readable, whatever the first file was.
#define MUTATE_GLTF
#include "target.h"

#include <cutis/deform.h>
#include <unistd.h>

enum { VERTICES_MAX = 20000, NODES_MAX = 2000 };

/// A pose that moves every node a little, by bits of the file.
static void make_pose(const cutis_model *model, const uint8_t *data, size_t size,
                      cutis_transform *pose)
{
    uint32_t count = cutis_model_get(model)->node_count;
    cutis_pose_rest(model, pose, NULL);
    for (uint32_t n = 0; n < count; n++) {
        float turn = (float)(data[n % size] - 128) / 64.0f;
        cutis_float3 axis = { n % 3 == 0, n % 3 == 1, n % 3 == 2 };
        cutis_quat by = cutis_quat_from_axis_angle(axis, turn);
        pose[n].rotation = cutis_quat_multiply(pose[n].rotation, by);
    }
}

static void deform(cutis_device *device, const cutis_model *model, cutis_method method,
                   const cutis_transform *pose)
{
    cutis_binding *binding = NULL;
    const cutis_cage *cage = cutis_model_get(model)->cage;
    cutis_bind_options options = { .method = method, .normals = true, .tangents = true };
    if (cutis_bind(device, model, &options, &binding) != CUTIS_OK) return;
    size_t count = cutis_model_vertex_count(model);
    float *values = malloc((10 * count + 1) * sizeof *values);
    cutis_bounds bounds;
    RUN_MUST(values);
    cutis_poses poses = { .local = pose };
    if (method == CUTIS_METHOD_CAGE && cage)
        poses = (cutis_poses){ .kind = CUTIS_POSE_CONTROLS, .controls = cage->controls };
    cutis_outputs outputs = { .positions = { .data = values },
                              .normals = { .data = values + 3 * count },
                              .tangents = { .data = values + 6 * count },
                              .bounds = &bounds };
    cutis_deform(binding, &poses, 1, &outputs);
    cutis_binding_destroy(binding);
    free(values);
}

/// What was repaired may still break rules that cannot be repaired (joints without a common root);
/// then it must at least repair again.
static void write_and_read(cutis_context *context, const cutis_model *model, cutis_gate gate)
{
    static char path[64];
    cutis_model *again = NULL;
    if (!path[0]) snprintf(path, sizeof path, "/dev/shm/cutis-fuzz-%d.glb", (int)getpid());
    cutis_result result = cutis_model_write(model, path, NULL);
    if (result == CUTIS_OK) {
        result = cutis_model_read(context, path, &(cutis_read_options){ .gate = gate }, &again);
        // What one file may say in few bytes (an accessor without data) takes more when written.
        if (result != CUTIS_OK && result != CUTIS_LIMIT_EXCEEDED)
            fprintf(stderr, "written, not read: %s\n", cutis_context_error(context));
        RUN_MUST(result == CUTIS_OK || result == CUTIS_LIMIT_EXCEEDED);
        if (again) RUN_MUST(cutis_model_vertex_count(again) == cutis_model_vertex_count(model));
    }
    unlink(path);
    cutis_model_destroy(again);
}

static void target(const uint8_t *data, size_t size)
{
    cutis_context *context = run_begin();
    cutis_model *model = NULL;
    cutis_device *device = NULL;
    if (size == 0) size = 1, data = (const uint8_t *)"";
    cutis_gate gate = data[size - 1] & 1 ? CUTIS_GATE_REPAIR : CUTIS_GATE_REFUSE;
    cutis_result result = cutis_model_read_memory(context, data, size, "fuzz.glb",
                                                  &(cutis_read_options){ .gate = gate }, &model);
    if (result == CUTIS_OK && cutis_model_vertex_count(model) <= VERTICES_MAX &&
        cutis_model_get(model)->node_count <= NODES_MAX) {
        cutis_transform *pose = malloc((cutis_model_get(model)->node_count + 1) * sizeof *pose);
        RUN_MUST(pose);
        RUN_MUST(cutis_device_create(context, &(cutis_device_options){ .thread_count = 1 },
                                     &device) == CUTIS_OK);
        make_pose(model, data, size, pose);
        for (int method = CUTIS_METHOD_LBS; method <= CUTIS_METHOD_CAGE; method++)
            deform(device, model, (cutis_method)method, pose);
        free(pose);
        cutis_device_destroy(device);
        write_and_read(context, model, gate);
    }
    cutis_model_destroy(model);
    run_end(context, result);
}
