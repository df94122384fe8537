/// A small limb with what every method needs of a model, and poses of it: for tests that go through
/// all methods.
#ifndef CUTIS_TESTS_EVERY_METHOD_H
#define CUTIS_TESTS_EVERY_METHOD_H

#include "patches_case.h"

#include <cutis/cage.h>
#include <cutis/handles.h>
#include <cutis/poses.h>

enum { EVERY_NODES = 3, EVERY_EXAMPLES = 2, EVERY_CONTROLS = 8 };

typedef struct every_method {
    cutis_context *context;
    cutis_device *device; ///< the CPU that the models were made on
    cutis_model *limb, *box, *caged, *posed, *handled;
    cutis_cage *cage;
    uint32_t node_count; ///< of the limb, and of all but `handled`
} every_method;

static inline cutis_model *every_box(cutis_context *context)
{
    static const uint32_t faces[36] = { 0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4,
                                        2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5 };
    float corners[3 * EVERY_CONTROLS];
    for (int i = 0; i < EVERY_CONTROLS; i++) {
        corners[3 * i] = i & 1 ? 1.6f : -1.6f;
        corners[3 * i + 1] = i & 2 ? 1.6f : -1.6f;
        corners[3 * i + 2] = i & 4 ? 2.5f : -2.5f;
    }
    cutis_primitive primitive = { .vertex_count = EVERY_CONTROLS,
                                  .index_count = 36,
                                  .indices = faces,
                                  .positions = corners,
                                  .material = CUTIS_NONE };
    cutis_mesh mesh = { .primitive_count = 1, .primitives = &primitive };
    cutis_node node = {
        .parent = CUTIS_NONE, .rest = cutis_transform_identity(), .mesh = 0, .skin = CUTIS_NONE
    };
    cutis_model_data data = { .node_count = 1, .nodes = &node, .mesh_count = 1, .meshes = &mesh };
    cutis_model *out = NULL;
    assert_ok(context, cutis_model_create(context, &data, CUTIS_GATE_REFUSE, &out));
    return out;
}

static inline cutis_model *every_posed(const every_method *e)
{
    const uint32_t count = 3 * cutis_model_vertex_count(e->limb);
    const float *rest = cutis_model_get(e->limb)->meshes[0].primitives[0].positions;
    cutis_transform poses[EVERY_EXAMPLES * EVERY_NODES];
    float *shapes = malloc(EVERY_EXAMPLES * count * sizeof *shapes);
    cutis_model *out = NULL;
    for (uint32_t k = 0; k < EVERY_EXAMPLES; k++) {
        cutis_pose_rest(e->limb, poses + k * EVERY_NODES, NULL);
        poses[k * EVERY_NODES + 1].rotation =
            (cutis_quat){ k ? 0 : 0.6f, k ? 0.28f : 0, 0, k ? 0.96f : 0.8f };
        for (uint32_t i = 0; i < count; i++)
            shapes[k * count + i] = rest[i] * (1 + 0.05f * (float)(i % 3 + k));
    }
    assert_ok(e->context,
              cutis_poses_fit(e->limb, e->device,
                              &(cutis_pose_examples){ EVERY_EXAMPLES, poses, shapes, NULL }, NULL,
                              &out, NULL));
    free(shapes);
    return out;
}

static inline cutis_model *every_handled(const every_method *e)
{
    static const cutis_handle handles[] = {
        { .name = "low", .from = { 0, 0, -1.5f } },
        { .name = "bar", .kind = CUTIS_HANDLE_BAR, .from = { 0, 0, 0.2f }, .to = { 0, 0, 0.6f } },
        { .name = "high", .from = { 0, 0, 1.6f } },
    };
    const cutis_handle_set set = { .handle_count = 3, .handles = handles };
    const cutis_handles_options options = { .voxels = 24,
                                            .weighting = CUTIS_WEIGHTING_VIRTUAL,
                                            .radius = 0.7 };
    cutis_model *out = NULL;
    assert_ok(e->context, cutis_handles_weights(e->limb, e->device, &set, &options, &out, NULL));
    return out;
}

static inline every_method every_method_open(cutis_context *context)
{
    every_method e = { .context = context, .node_count = EVERY_NODES };
    const limb_options limb = { .length = 2, .around = 12, .rings = 10 };
    assert_ok(context, cutis_device_create(context, &(cutis_device_options){ .thread_count = 1 },
                                           &e.device));
    e.limb = limb_create(context, &limb);
    assert_int_equal(cutis_model_get(e.limb)->node_count, EVERY_NODES);
    e.box = every_box(context);
    assert_ok(context, cutis_cage_create(e.box, &e.cage));
    assert_ok(context, cutis_cage_bind(e.limb, e.device, e.cage, NULL, &e.caged, NULL));
    e.posed = every_posed(&e);
    e.handled = every_handled(&e);
    return e;
}

static inline void every_method_close(every_method *e)
{
    cutis_model *const models[] = { e->limb, e->box, e->caged, e->posed, e->handled };
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) cutis_model_destroy(models[i]);
    cutis_cage_destroy(e->cage);
    cutis_device_destroy(e->device);
}

/// The model that a method runs on.
static inline const cutis_model *every_model(const every_method *e, cutis_method method)
{
    const uint32_t needs = cutis_method_describe(method)->needs;
    if (needs & CUTIS_NEEDS_POSE_SPACE) return e->posed;
    if (needs & CUTIS_NEEDS_VIRTUAL_HANDLES) return e->handled;
    if (needs & CUTIS_NEEDS_CAGE) return e->caged;
    return e->limb;
}

/// Poses of `instances`, all different. Memory of malloc, in `local` or `controls`.
static inline cutis_poses every_poses(const every_method *e, cutis_method method,
                                      uint32_t instances)
{
    const cutis_model *model = every_model(e, method);
    const uint32_t nodes = cutis_model_get(model)->node_count;
    if (cutis_method_describe(method)->abilities & CUTIS_CAN_CONTROLS) {
        cutis_float3 *controls = malloc(instances * EVERY_CONTROLS * sizeof *controls);
        for (uint32_t i = 0; i < instances * EVERY_CONTROLS; i++) {
            const float *at = &e->cage->controls[i % EVERY_CONTROLS].x;
            controls[i] = (cutis_float3){ at[0] + (float)random_in(21, 3 * i, -0.3, 0.3),
                                          at[1] + (float)random_in(21, 3 * i + 1, -0.3, 0.3),
                                          at[2] + (float)random_in(21, 3 * i + 2, -0.3, 0.3) };
        }
        return (cutis_poses){ .kind = CUTIS_POSE_CONTROLS, .controls = controls };
    }
    cutis_transform *local = malloc((size_t)instances * nodes * sizeof *local);
    for (uint32_t i = 0; i < instances; i++) {
        cutis_pose_rest(model, local + (size_t)i * nodes, NULL);
        for (uint32_t n = 0; n < nodes; n++) {
            cutis_transform *t = &local[(size_t)i * nodes + n];
            const uint64_t at = 4 * ((uint64_t)i * nodes + n);
            const cutis_float3 axis = { (float)random_in(22, at, -1, 1),
                                        (float)random_in(22, at + 1, -1, 1),
                                        (float)random_in(22, at + 2, -1, 1) };
            const cutis_quat turn =
                cutis_quat_from_axis_angle(axis, (float)random_in(22, at + 3, 0, 1));
            t->rotation = cutis_quat_multiply(turn, t->rotation);
        }
    }
    return (cutis_poses){ .local = local };
}

static inline void every_poses_free(cutis_poses *poses)
{
    free((void *)(uintptr_t)poses->local);
    free((void *)(uintptr_t)poses->controls);
}

#endif
