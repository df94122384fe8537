/// Every allocation of the library `cutis` may fail (base/allocation.h): contexts, models, clips,
/// devices, bindings, patches, measures, synthetic bodies and everything that fits.
#include "base/allocation.h"

#include "deform/patches_case.h"

#include <cutis/cage.h>
#include <cutis/handles.h>
#include <cutis/poses.h>
#include <assert.h>

enum { AROUND = 6, RINGS = 4, VERTICES = (RINGS + 1) * AROUND + 2, NODES = 3, EXAMPLES = 2 };

static struct {
    cutis_context *context;
    cutis_device *device;
    cutis_model *limb;   ///< parts and weights
    cutis_model *moving; ///< the limb with a clip and a morph target
    cutis_model *box;    ///< around it
    cutis_model *caged, *posed, *handled;
    cutis_cage *cage;
    cutis_transform poses[EXAMPLES * NODES], turned[NODES];
    float shapes[EXAMPLES * VERTICES * 3], rest[VERTICES * 3];
    uint32_t triangles[3 * 2 * AROUND * (RINGS + 1)];
    cutis_surface surface;
    double inner[12];
} w;

static const cutis_handle HANDLES[3] = {
    { .name = "low", .from = { 0, 0, -1.5f } },
    { .name = "bar", .kind = CUTIS_HANDLE_BAR, .from = { 0, 0, 0.2f }, .to = { 0, 0, 0.6f } },
    { .name = "high", .from = { 0, 0, 1.6f } },
};
static const cutis_handle_motion MOTIONS[1] = {
    { .handle = 2, .rotation = { 0, 0.6f, 0, 0.8f }, .translation = { 0.1f, 0, 0 } }
};
static const cutis_handle_pose HANDLE_POSES[1] = { { "bent", 1, MOTIONS } };
static const cutis_handle_set SET = { 3, HANDLES, 1, HANDLE_POSES };

static cutis_model *make_moving(void)
{
    static const float times[3] = { 0, 0.5f, 1 };
    static const float turns[12] = { 0, 0, 0, 1, 0.6f, 0, 0, 0.8f, 0, 0, 0, 1 };
    static float bulge[VERTICES * 3];
    for (int v = 0; v < VERTICES; v++) bulge[3 * v] = 0.01f * (float)(v % 5);
    cutis_model_data data = *cutis_model_get(w.limb);
    cutis_primitive primitive = data.meshes[0].primitives[0];
    cutis_morph_target target = { .positions = bulge };
    primitive.targets = &target;
    cutis_mesh mesh = data.meshes[0];
    mesh.primitives = &primitive;
    mesh.target_count = 1;
    cutis_channel channel = {
        .node = 1, .path = CUTIS_PATH_ROTATION, .key_count = 3, .times = times, .values = turns
    };
    cutis_clip clip = { .name = "bend", .channel_count = 1, .channels = &channel };
    data.meshes = &mesh;
    data.clip_count = 1;
    data.clips = &clip;
    cutis_model *out = NULL;
    assert_ok(w.context, cutis_model_create(w.context, &data, CUTIS_GATE_REFUSE, &out));
    return out;
}

static cutis_model *make_box(void)
{
    static const uint32_t faces[36] = { 0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4,
                                        2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5 };
    float corners[24];
    for (int i = 0; i < 8; i++) {
        corners[3 * i] = i & 1 ? 1.6f : -1.6f;
        corners[3 * i + 1] = i & 2 ? 1.6f : -1.6f;
        corners[3 * i + 2] = i & 4 ? 2.5f : -2.5f;
    }
    cutis_primitive primitive = { .vertex_count = 8,
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
    assert_ok(w.context, cutis_model_create(w.context, &data, CUTIS_GATE_REFUSE, &out));
    return out;
}

static int set_up(void **state)
{
    (void)state;
    w.context = fault_context();
    assert_ok(w.context, cutis_device_create(
                             w.context, &(cutis_device_options){ .thread_count = 1 }, &w.device));
    w.limb =
        limb_create(w.context, &(limb_options){ .length = 2, .around = AROUND, .rings = RINGS });
    w.moving = make_moving();
    w.box = make_box();
    cutis_model_triangles(w.limb, w.triangles);
    memcpy(w.rest, cutis_model_get(w.limb)->meshes[0].primitives[0].positions, sizeof w.rest);
    w.surface = (cutis_surface){ VERTICES, 2 * AROUND * (RINGS + 1), w.rest, w.triangles };
    cutis_pose_rest(w.limb, w.turned, NULL);
    w.turned[1].rotation = (cutis_quat){ 0.6f, 0, 0, 0.8f };
    for (int e = 0; e < EXAMPLES; e++) {
        cutis_pose_rest(w.limb, w.poses + e * NODES, NULL);
        w.poses[e * NODES + 1].rotation =
            (cutis_quat){ e ? 0 : 0.6f, e ? 0.28f : 0, 0, e ? 0.96f : 0.8f };
        for (int i = 0; i < VERTICES * 3; i++)
            w.shapes[e * VERTICES * 3 + i] = w.rest[i] * (1 + 0.05f * (float)(i % 3 + e));
    }
    for (int i = 0; i < 12; i++) w.inner[i] = 0.1 * i - 0.5;
    assert_ok(w.context, cutis_cage_create(w.box, &w.cage));
    assert_ok(w.context, cutis_cage_bind(w.limb, w.device, w.cage, NULL, &w.caged, NULL));
    assert_ok(w.context,
              cutis_poses_fit(w.limb, w.device,
                              &(cutis_pose_examples){ EXAMPLES, w.poses, w.shapes, NULL }, NULL,
                              &w.posed, NULL));
    assert_ok(w.context,
              cutis_handles_weights(w.limb, w.device, &SET,
                                    &(cutis_handles_options){ .voxels = 24,
                                                              .weighting = CUTIS_WEIGHTING_VIRTUAL,
                                                              .radius = 0.7 },
                                    &w.handled, NULL));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    cutis_model *models[] = { w.limb, w.moving, w.box, w.caged, w.posed, w.handled };
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) cutis_model_destroy(models[i]);
    cutis_cage_destroy(w.cage);
    cutis_device_destroy(w.device);
    bool clean = cutis_context_memory(w.context) == 0;
    cutis_context_destroy(w.context);
    return clean && atomic_load(&faults.live) == 0 ? 0 : -1;
}

static void fold_objects(uint64_t *digest)
{
    const cutis_model *models[] = { w.limb, w.moving, w.box, w.caged, w.posed, w.handled };
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) fold_model(digest, models[i]);
    fold(digest, w.poses, sizeof w.poses);
    fold(digest, w.shapes, sizeof w.shapes);
    fold(digest, w.rest, sizeof w.rest);
    fold(digest, w.triangles, sizeof w.triangles);
    fold(digest, w.cage->triangles, (size_t)w.cage->triangle_count * 12);
}

/// A scenario whose call makes one object, is judged by what `look` folds, and destroys it.
#define MAKES(name, type, call, look, destroy)                                                     \
    static cutis_result name(uint64_t *digest)                                                     \
    {                                                                                              \
        type *out = NULL;                                                                          \
        cutis_result result = call;                                                                \
        assert_int_equal(result == CUTIS_OK, out != NULL);                                         \
        if (result == CUTIS_OK) look;                                                              \
        destroy(out);                                                                              \
        return result;                                                                             \
    }
#define MAKES_MODEL(name, call)                                                                    \
    MAKES(name, cutis_model, call, fold_model(digest, out), cutis_model_destroy)
/// The same with a report, of which `field` is judged.
#define MAKES_BOTH(name, kind, call, field, destroy)                                               \
    static cutis_result name(uint64_t *digest)                                                     \
    {                                                                                              \
        cutis_model *out = NULL;                                                                   \
        kind *report = NULL;                                                                       \
        cutis_result result = call;                                                                \
        assert_int_equal(result == CUTIS_OK, out != NULL);                                         \
        assert_int_equal(result == CUTIS_OK, report != NULL);                                      \
        if (report) fold(digest, &report->field, sizeof report->field);                            \
        if (out) fold_model(digest, out);                                                          \
        cutis_model_destroy(out);                                                                  \
        destroy(report);                                                                           \
        return result;                                                                             \
    }

// Models and clips -------------------------------------------------------------------------------

MAKES_MODEL(model_refusing,
            cutis_model_create(w.context, cutis_model_get(w.moving), CUTIS_GATE_REFUSE, &out))
MAKES_MODEL(model_posed,
            cutis_model_create(w.context, cutis_model_get(w.posed), CUTIS_GATE_REFUSE, &out))
MAKES_MODEL(model_handled,
            cutis_model_create(w.context, cutis_model_get(w.handled), CUTIS_GATE_REFUSE, &out))
MAKES_MODEL(model_caged,
            cutis_model_create(w.context, cutis_model_get(w.caged), CUTIS_GATE_REFUSE, &out))

/// Weights that are negative and not numbers, a normal that is not finite, keys out of order.
static cutis_result model_repairing(uint64_t *digest)
{
    cutis_model_data data = *cutis_model_get(w.moving);
    cutis_primitive primitive = data.meshes[0].primitives[0];
    float weights[2 * VERTICES], normals[3 * VERTICES] = { NAN };
    memcpy(weights, primitive.influences.weights, sizeof weights);
    weights[0] = NAN, weights[5] = -1;
    primitive.influences.weights = weights;
    primitive.normals = normals;
    cutis_mesh mesh = data.meshes[0];
    mesh.primitives = &primitive;
    data.meshes = &mesh;
    cutis_channel channel = data.clips[0].channels[0];
    static const float times[3] = { 1, 0, 0.5f };
    channel.times = times;
    cutis_clip clip = { .name = "bend", .channel_count = 1, .channels = &channel };
    data.clips = &clip;
    cutis_model *out = NULL;
    cutis_result result = cutis_model_create(w.context, &data, CUTIS_GATE_REPAIR, &out);
    assert_int_equal(result == CUTIS_OK, out != NULL);
    if (out) {
        const cutis_issue *issues;
        uint32_t count = cutis_model_issues(out, &issues);
        assert_true(count >= 3);
        fold(digest, &count, sizeof count);
        fold_model(digest, out);
    }
    cutis_model_destroy(out);
    return result;
}

static cutis_result sampler(uint64_t *digest)
{
    cutis_sampler *out = NULL;
    cutis_transform pose[NODES];
    cutis_result result = cutis_sampler_create(w.moving, 0, &out);
    assert_int_equal(result == CUTIS_OK, out != NULL);
    if (out) {
        cutis_sampler_sample(out, 0.3f, pose, NULL);
        fold(digest, pose, sizeof pose);
    }
    cutis_sampler_destroy(out);
    return result;
}

// Weights ----------------------------------------------------------------------------------------

static cutis_result summarize(uint64_t *digest)
{
    cutis_weight_summary out = { 0 };
    cutis_result result = cutis_weights_summarize(w.limb, &out);
    fold(digest, out.histogram, sizeof out.histogram);
    return result;
}

static void fold_issues(uint64_t *digest, const cutis_check_report *report)
{
    const cutis_issue *issues;
    uint32_t count = cutis_check_report_issues(report, &issues);
    for (uint32_t i = 0; i < count; i++) fold(digest, issues[i].text, strlen(issues[i].text));
}

MAKES(check, cutis_check_report, cutis_model_check(w.limb, 1, &out), fold_issues(digest, out),
      cutis_check_report_destroy)
MAKES_MODEL(limit, cutis_weights_limit(w.limb, 1, &out))
MAKES_MODEL(round_weights, cutis_weights_round(w.limb, 255, &out))

#define REDUCES(name, ...)                                                                         \
    MAKES_BOTH(name, cutis_reduce_report,                                                          \
               cutis_weights_reduce(w.moving, w.device,                                            \
                                    &(cutis_reduce_options){ .influences = 1, __VA_ARGS__ }, &out, \
                                    &report),                                                      \
               reduced_count, cutis_reduce_report_destroy)
REDUCES(reduce_poisson, .sweeps = 2)
REDUCES(reduce_laplace, .energy = CUTIS_REDUCE_LAPLACE, .sweeps = 2)
REDUCES(reduce_geometric, .method = CUTIS_REDUCE_GEOMETRIC)
REDUCES(reduce_smooth, .method = CUTIS_REDUCE_SMOOTH, .sweeps = 2)
REDUCES(reduce_largest, .method = CUTIS_REDUCE_KLARGEST)
REDUCES(reduce_automatic, .automatic = true, .skip_evaluation = true, .sweeps = 1)

// Devices and buffers ----------------------------------------------------------------------------

static void fold_info(uint64_t *digest, const cutis_device *device)
{
    cutis_device_info info = cutis_device_describe(device);
    fold(digest, &info.isa, sizeof info.isa);
}

#define OPENS(name, ...)                                                                           \
    MAKES(name, cutis_device,                                                                      \
          cutis_device_create(w.context, &(cutis_device_options){ __VA_ARGS__ }, &out),            \
          fold_info(digest, out), cutis_device_destroy)
OPENS(device_default, .thread_count = 1)
OPENS(device_scalar, .thread_count = 1, .isa = CUTIS_ISA_SCALAR)
OPENS(device_threads, .thread_count = 3)

static void fold_buffer(uint64_t *digest, cutis_buffer *buffer)
{
    uint32_t out[2] = { 0 }, in[2] = { 5, 7 };
    cutis_buffer_write(buffer, 8, in, sizeof in);
    cutis_buffer_read(buffer, 8, out, sizeof out);
    fold(digest, out, sizeof out);
}

MAKES(buffer, cutis_buffer, cutis_buffer_create(w.device, 64, &out), fold_buffer(digest, out),
      cutis_buffer_destroy)
MAKES(wrapped_buffer, cutis_buffer,
      cutis_buffer_wrap(w.device, (uint64_t)(uintptr_t)w.shapes, 64, &out), (void)digest,
      cutis_buffer_destroy)

// Bindings ---------------------------------------------------------------------------------------

/// Bind, and one frame of every output the binding has.
static cutis_result bind(const cutis_model *model, const cutis_bind_options *options,
                         uint64_t *digest)
{
    cutis_binding *out = NULL;
    cutis_result result = cutis_bind(w.device, model, options, &out);
    assert_int_equal(result == CUTIS_OK, out != NULL);
    if (result == CUTIS_OK) {
        float frame[2][3 * VERTICES] = { 0 };
        bool controls = options->method == CUTIS_METHOD_CAGE;
        cutis_transform pose[NODES + 8];
        cutis_pose_rest(model, pose, NULL);
        pose[1].rotation = (cutis_quat){ 0.6f, 0, 0, 0.8f };
        cutis_poses poses = { .kind = controls ? CUTIS_POSE_CONTROLS : CUTIS_POSE_LOCAL,
                              .local = pose,
                              .controls = w.cage->controls };
        cutis_outputs outputs = { .positions = { .data = frame[0] } };
        if (options->normals) outputs.normals.data = frame[1];
        result = cutis_deform(out, &poses, 1, &outputs);
        fold(digest, frame, sizeof frame);
    }
    cutis_binding_destroy(out);
    return result;
}

#define BINDS(name, model, ...)                                                                    \
    static cutis_result name(uint64_t *digest)                                                     \
    {                                                                                              \
        return bind(model, &(cutis_bind_options){ __VA_ARGS__ }, digest);                          \
    }

/// Bind, make ready and take one frame's bounds alone: what only that needs is allocated here.
static cutis_result prepare(const cutis_model *model, cutis_method method, uint64_t *digest)
{
    cutis_binding *out = NULL;
    cutis_bounds bounds = { 0 };
    const cutis_outputs outputs = { .bounds = &bounds };
    const bool controls = method == CUTIS_METHOD_CAGE;
    const cutis_poses poses = { .kind = controls ? CUTIS_POSE_CONTROLS : CUTIS_POSE_LOCAL,
                                .local = w.turned,
                                .controls = w.cage->controls };
    cutis_result result =
        cutis_bind(w.device, model, &(cutis_bind_options){ .method = method }, &out);
    if (result == CUTIS_OK) result = cutis_binding_prepare(out, &outputs, 1);
    if (result == CUTIS_OK) result = cutis_deform(out, &poses, 1, &outputs);
    if (result == CUTIS_OK) fold(digest, &bounds, sizeof bounds);
    cutis_binding_destroy(out);
    return result;
}

static cutis_result prepare_lbs(uint64_t *digest)
{
    return prepare(w.limb, CUTIS_METHOD_LBS, digest);
}

static cutis_result prepare_cage(uint64_t *digest)
{
    return prepare(w.caged, CUTIS_METHOD_CAGE, digest);
}

static cutis_result prepare_patches(uint64_t *digest)
{
    return prepare(w.limb, CUTIS_METHOD_PATCHES, digest);
}

BINDS(bind_lbs, w.moving, .normals = true, .tangents = true)
BINDS(bind_rigid, w.limb, .method = CUTIS_METHOD_RIGID, .normals = true)
BINDS(bind_sbs, w.limb, .method = CUTIS_METHOD_SBS, .normals = true)
BINDS(bind_weighted, w.limb, .method = CUTIS_METHOD_SBS, .weighted_centres = true)
BINDS(bind_dqs, w.limb, .method = CUTIS_METHOD_DQS, .normals = true, .concurrent_calls = 2)
BINDS(bind_cor, w.limb, .method = CUTIS_METHOD_COR, .normals = true)
BINDS(bind_psd, w.posed, .method = CUTIS_METHOD_PSD, .normals = true)
BINDS(bind_wpsd, w.posed, .method = CUTIS_METHOD_WPSD, .normals = true)
BINDS(bind_handles, w.handled, .method = CUTIS_METHOD_HANDLES_RIGID)
BINDS(bind_cage, w.caged, .method = CUTIS_METHOD_CAGE, .normals = true)
BINDS(bind_limited, w.limb, .max_influences = 1, .instance_capacity = 4)

// Patches ----------------------------------------------------------------------------------------

static cutis_result patches(cutis_patch_removal removal, uint64_t *digest)
{
    cutis_binding *out = NULL;
    cutis_result result = cutis_bind(
        w.device, w.limb,
        &(cutis_bind_options){ .method = CUTIS_METHOD_PATCHES, .patch_removal = removal }, &out);
    assert_int_equal(result == CUTIS_OK, out != NULL);
    if (result == CUTIS_OK) {
        float positions[3 * VERTICES];
        result = cutis_deform(out, &(cutis_poses){ .local = w.turned }, 1,
                              &(cutis_outputs){ .topology.rest_positions.data = positions });
        if (result == CUTIS_OK) fold(digest, positions, sizeof positions);
    }
    cutis_binding_destroy(out);
    return result;
}

/// A crowd and a frame of it: of the host's poses, and of the device's kernels run on the CPU.
static cutis_result make_crowd(const char *poses, uint64_t *digest)
{
    cutis_binding *skin = NULL;
    cutis_buffer *vertices = NULL;
    cutis_crowd *out = NULL;
    cutis_result result =
        cutis_bind(w.device, w.moving,
                   &(cutis_bind_options){ .method = CUTIS_METHOD_SBS, .normals = true }, &skin);
    const cutis_crowd_level level = { skin, 0 };
    const cutis_crowd_options options = { .levels = &level,
                                          .level_count = 1,
                                          .instance_capacity = 2,
                                          .clip_error = 1e-3f,
                                          .normal = CUTIS_CROWD_NORMAL_OCTAHEDRAL,
                                          .placed = true,
                                          .previous = true };
    setenv("CUTIS_CROWD_POSES", poses, 1);
    if (result == CUTIS_OK) result = cutis_crowd_create(&options, &out);
    unsetenv("CUTIS_CROWD_POSES");
    assert_true(result == CUTIS_OK || !out);
    if (result == CUTIS_OK) {
        const uint64_t slot = cutis_crowd_describe(out).levels[0].slot_bytes;
        const cutis_crowd_instance one = { .root = cutis_transform_identity(),
                                           .track_count = 1,
                                           .tracks = { { .seconds = 0.3 } } };
        result = cutis_buffer_create(w.device, 2 * slot, &vertices);
        if (result == CUTIS_OK) result = cutis_crowd_resize(out, 1);
        if (result == CUTIS_OK) result = cutis_crowd_set(out, 0, 1, &one);
        if (result == CUTIS_OK)
            result = cutis_crowd_run(out, 0, NULL, &(cutis_crowd_output){ .vertices = vertices });
        if (result == CUTIS_OK)
            fold(digest, (const void *)(uintptr_t)cutis_buffer_handle(vertices), (size_t)slot);
    }
    cutis_crowd_destroy(out);
    cutis_buffer_destroy(vertices);
    cutis_binding_destroy(skin);
    return result;
}

static cutis_result crowd_host(uint64_t *digest)
{
    return make_crowd("host", digest);
}

static cutis_result crowd_device(uint64_t *digest)
{
    return make_crowd("device", digest);
}

static cutis_result patches_local(uint64_t *digest)
{
    cutis_binding *out = NULL;
    cutis_result result =
        cutis_bind(w.device, w.limb,
                   &(cutis_bind_options){ .method = CUTIS_METHOD_PATCHES, .normals = true }, &out);
    if (result != CUTIS_OK) return result;
    cutis_patches_info info = cutis_patches_describe(out);
    uint32_t counts[2], *indices = calloc(4 * (size_t)info.triangle_capacity, sizeof *indices);
    uint32_t *labels = indices + 3 * (size_t)info.triangle_capacity;
    float *positions = calloc(6 * (size_t)info.vertex_capacity, sizeof *positions);
    float *normals = positions + 3 * (size_t)info.vertex_capacity;
    cutis_outputs output = { .positions = { .data = positions },
                             .normals = { .data = normals },
                             .topology.indices = { .data = indices },
                             .topology.labels = { .data = labels },
                             .topology.counts = { .data = counts } };
    result = cutis_deform(out, &(cutis_poses){ .local = w.turned }, 1, &output);
    if (result == CUTIS_OK)
        result = cutis_patches_local(w.context, &info, positions, normals, indices, labels,
                                     info.triangle_capacity, counts);
    if (result == CUTIS_OK) fold(digest, indices, 3 * (size_t)counts[1] * sizeof *indices);
    free(indices), free(positions);
    cutis_binding_destroy(out);
    return result;
}

static cutis_result patches_cut(uint64_t *digest)
{
    return patches(CUTIS_PATCH_CUT, digest);
}

static cutis_result patches_box(uint64_t *digest)
{
    return patches(CUTIS_PATCH_BOX, digest);
}

// Measures ---------------------------------------------------------------------------------------

/// Scenarios whose call fills caller memory.
#define FILLS(name, type, count, call)                                                             \
    static cutis_result name(uint64_t *digest)                                                     \
    {                                                                                              \
        type out[count] = { 0 };                                                                   \
        cutis_result result = call;                                                                \
        if (result == CUTIS_OK) fold(digest, out, sizeof out);                                     \
        return result;                                                                             \
    }
FILLS(normals, float, 3 * VERTICES, cutis_surface_normals(w.context, &w.surface, NULL, out))
FILLS(weld, uint32_t, VERTICES, cutis_weld_positions(w.context, VERTICES, w.rest, out))
FILLS(weld_on, uint32_t, VERTICES,
      cutis_weld_positions_on(w.context, w.device, VERTICES, w.rest, out))
FILLS(compare, cutis_difference, 1,
      cutis_surface_compare(w.context, &w.surface, w.shapes, w.rest, out))
FILLS(curvature, cutis_curvature, 1,
      cutis_surface_curvature(w.context, &w.surface, w.shapes, NULL, out))
FILLS(open_edges, uint64_t, 1, cutis_surface_open_edges(w.context, &w.surface, out))
FILLS(manifold, cutis_manifold, 1, cutis_surface_manifold(w.context, &w.surface, NULL, out))
FILLS(crossings, cutis_crossings, 1,
      cutis_surface_crossings(w.context, &w.surface, NULL, NULL, out))

/// Two tetrahedra, each with a corner in the other.
static const float CROSSED[] = { 0,    0,    0,    1,   0,    0,     0,    1,
                                 0,    0,    0,    1,   0.2f, 0.15f, 0.1f, 2.f,
                                 0.3f, 0.2f, 0.3f, 2.f, 0.1f, 0.2f,  0.1f, 2.f };
static const uint32_t CROSSED_TRIANGLES[] = { 0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3,
                                              4, 6, 5, 4, 5, 7, 4, 7, 6, 5, 6, 7 };
static void fold_united(uint64_t *digest, const cutis_united *united)
{
    const cutis_surface *s = &cutis_united_get(united)->surface;
    assert_true(s->triangle_count > 8);
    fold(digest, s->positions, 12 * (size_t)s->vertex_count);
    fold(digest, s->indices, 12 * (size_t)s->triangle_count);
}
MAKES(unite, cutis_united,
      cutis_surface_unite(w.context, &(cutis_surface){ 8, 8, CROSSED, CROSSED_TRIANGLES }, NULL,
                          &out),
      fold_united(digest, out), cutis_united_destroy)
FILLS(bend, double, 1, cutis_surface_bend(w.context, &w.surface, NULL, NULL, 1, out, NULL))

// Synthetic bodies -------------------------------------------------------------------------------

#define GROWS(name, ...)                                                                           \
    MAKES_MODEL(name, cutis_synth_create(w.context, &(cutis_synth_options){ __VA_ARGS__ }, &out))
GROWS(synth_arm, .body = CUTIS_BODY_ARM, .vertex_count = 1000, .examples = true)
GROWS(synth_cylinder, .body = CUTIS_BODY_CYLINDER)
GROWS(synth_family, .body = CUTIS_BODY_FAMILY, .kind = CUTIS_FAMILY_FISH, .vertex_count = 2000,
      .scan = CUTIS_FAMILY_SCAN_ON)

// Pose space -------------------------------------------------------------------------------------

static cutis_result match(uint64_t *digest)
{
    uint32_t map[VERTICES] = { 0 };
    float few[3 * (VERTICES - 1)];
    memcpy(few, w.rest, sizeof few); // by place: the last vertex is one of the others
    float doubled[3 * VERTICES];
    memcpy(doubled, w.rest, sizeof doubled);
    memcpy(doubled + 3 * (VERTICES - 1), few, 12);
    cutis_result result = cutis_poses_match(w.context, VERTICES, doubled, VERTICES - 1, few, map);
    if (result == CUTIS_OK) fold(digest, map, sizeof map);
    return result;
}

#define FITS(name, ...)                                                                            \
    MAKES_BOTH(name, cutis_pose_fit_report,                                                        \
               cutis_poses_fit(w.limb, w.device,                                                   \
                               &(cutis_pose_examples){ EXAMPLES, w.poses, w.shapes, NULL },        \
                               &(cutis_pose_fit_options){ __VA_ARGS__ }, &out, &report),           \
               displacement_max, cutis_pose_fit_report_destroy)
FITS(fit_displacements, .kernel = CUTIS_POSE_GAUSSIAN)
FITS(fit_weights, .learn_weights = true)
FITS(fit_weights_only, .learn_weights = true, .weights_only = true)
FITS(fit_after, .after = true)
FITS(fit_principal, .principal_poses = 1)

static cutis_result read_shape(void *user, uint32_t example, uint32_t first, uint32_t count,
                               float *positions)
{
    (void)user;
    memcpy(positions, w.shapes + 3 * ((size_t)example * cutis_model_vertex_count(w.limb) + first),
           3 * (size_t)count * sizeof *positions);
    return CUTIS_OK;
}
FITS(fit_read, .learn_weights = true, .weights_only = true, .read = read_shape)

// A part, learned from shapes that are read.
static cutis_result learn_part(uint64_t *digest)
{
    cutis_pose_learner *learner = NULL;
    void *bytes = NULL;
    size_t size = 0;
    cutis_result result = cutis_pose_learner_create(
        w.limb, w.device, &(cutis_pose_examples){ EXAMPLES, w.poses, NULL, NULL },
        &(cutis_pose_fit_options){
            .learn_weights = true, .weights_only = true, .read = read_shape },
        &learner);
    assert_int_equal(result == CUTIS_OK, learner != NULL);
    if (result == CUTIS_OK) result = cutis_pose_learner_learn(learner, 0, &bytes, &size);
    assert_int_equal(result == CUTIS_OK, bytes != NULL);
    if (result == CUTIS_OK) fold(digest, bytes, size);
    cutis_memory_free(w.context, bytes, size);
    cutis_pose_learner_destroy(learner);
    return result;
}

// Cages ------------------------------------------------------------------------------------------

MAKES(cage, cutis_cage, cutis_cage_create(w.box, &out),
      fold(digest, out->triangles, (size_t)out->triangle_count * 12), cutis_cage_destroy)

static cutis_result cage_coordinates(cutis_coordinates kind, uint64_t *digest)
{
    float weights[4 * 8] = { 0 };
    cutis_cage_report *report = NULL;
    cutis_result result = cutis_cage_coordinates(
        w.context, w.device, w.cage, w.inner, 4,
        &(cutis_cage_options){ .coordinates = kind, .resolution = 8 }, weights, &report);
    assert_int_equal(result == CUTIS_OK, report != NULL);
    if (result == CUTIS_OK) fold(digest, weights, sizeof weights);
    cutis_cage_report_destroy(report);
    return result;
}

static cutis_result cage_mvc(uint64_t *digest)
{
    return cage_coordinates(CUTIS_COORDINATES_MVC, digest);
}

static cutis_result cage_harmonic(uint64_t *digest)
{
    return cage_coordinates(CUTIS_COORDINATES_HARMONIC, digest);
}

static cutis_result cage_limb(const cutis_cage_options *options, cutis_model **out,
                              cutis_cage_report **report)
{
    return cutis_cage_bind(w.limb, w.device, w.cage, options, out, report);
}

static cutis_result reduce_caged(const cutis_cage_options *options, cutis_model **out,
                                 cutis_cage_report **report)
{
    return cutis_cage_reduce(w.caged, w.device, options, out, report);
}

#define CAGES(name, call, ...)                                                                     \
    MAKES_BOTH(name, cutis_cage_report, call(&(cutis_cage_options){ __VA_ARGS__ }, &out, &report), \
               precision, cutis_cage_report_destroy)
CAGES(cage_bind, cage_limb, .influences = 0)
CAGES(cage_bind_harmonic, cage_limb, .resolution = 8, .coordinates = CUTIS_COORDINATES_HARMONIC)
CAGES(cage_bind_reduced, cage_limb, .influences = 4, .method = CUTIS_REDUCE_GEOMETRIC)
CAGES(cage_reduce, reduce_caged, .influences = 5, .sweeps = 2)

static cutis_result cage_to_skin(uint64_t *digest)
{
    cutis_model *out = NULL;
    cutis_cage_skin_report how;
    cutis_result result = cutis_cage_to_skin(w.caged, &w.cage->controls->x, 1, 30, &out, &how);
    assert_int_equal(result == CUTIS_OK, out != NULL);
    if (out) fold_model(digest, out);
    cutis_model_destroy(out);
    return result;
}

// Handles ----------------------------------------------------------------------------------------

static cutis_result weigh_limb(const cutis_handles_options *options, cutis_model **out,
                               cutis_handles_report **report)
{
    return cutis_handles_weights(w.limb, w.device, &SET, options, out, report);
}

static cutis_result weigh_moving(const cutis_handles_options *options, cutis_model **out,
                                 cutis_handles_report **report)
{
    return cutis_handles_weights(w.moving, w.device, &SET, options, out, report);
}

static cutis_result weigh_skeleton(const cutis_handles_options *options, cutis_model **out,
                                   cutis_handles_report **report)
{
    return cutis_handles_skeleton(w.moving, w.device, options, out, report);
}

#define HANDLED(name, call, ...)                                                                   \
    MAKES_BOTH(name, cutis_handles_report,                                                         \
               call(&(cutis_handles_options){ .voxels = 8, __VA_ARGS__ }, &out, &report),          \
               domain_voxels, cutis_handles_report_destroy)
HANDLED(handles_field, weigh_limb, .influences = 2)
HANDLED(handles_virtual, weigh_limb, .weighting = CUTIS_WEIGHTING_VIRTUAL)
HANDLED(handles_reduced, weigh_moving, .influences = 1, .reduce = true)
HANDLED(handles_skeleton, weigh_skeleton, .influences = 2)

static cutis_result bake_limb(cutis_model **out, cutis_bake_report **report)
{
    const cutis_bake_frames frames = { .count = EXAMPLES, .poses = w.poses, .positions = w.shapes };
    const cutis_bake_options options = { .helpers = 1, .morphs = 1 };
    return cutis_bake(w.limb, w.device, &frames, &options, out, report);
}

/// The box without a skin, sheared more and more.
static cutis_result bake_box(cutis_model **out, cutis_bake_report **report)
{
    float positions[3 * 24];
    const float *rest = cutis_model_get(w.box)->meshes[0].primitives[0].positions;
    for (int i = 0; i < 72; i++)
        positions[i] = rest[i % 24] + 0.1f * (float)(i / 24) * (i % 3 == 0 ? rest[i % 24 + 2] : 0);
    const cutis_bake_frames frames = { .count = 3, .positions = positions };
    const cutis_bake_options options = { .helpers = 2 };
    return cutis_bake(w.box, w.device, &frames, &options, out, report);
}

static cutis_result bake_driven(cutis_model **out, cutis_bake_report **report)
{
    const cutis_bake_frames frames = { .count = EXAMPLES, .poses = w.poses, .positions = w.shapes };
    const cutis_bake_options options = { .helpers = 1, .morphs = 1, .drivers = true };
    return cutis_bake(w.limb, w.device, &frames, &options, out, report);
}

/// As two processes share it: one looks and learns, the other takes, follows and finishes.
static cutis_result bake_in_steps(cutis_model **out, cutis_bake_report **report)
{
    const cutis_bake_frames frames = { .count = EXAMPLES, .poses = w.poses, .positions = w.shapes };
    const cutis_bake_options options = { .helpers = 1 };
    cutis_baker *learner = NULL, *other = NULL;
    void *looked = NULL, *learned = NULL, *tracks = NULL;
    size_t looked_size = 0, learned_size = 0, tracks_size = 0;
    cutis_result r = cutis_baker_create(w.limb, w.device, &frames, &options, &learner);
    if (!r) r = cutis_baker_create(w.limb, w.device, &frames, &options, &other);
    if (!r) r = cutis_baker_look(other, 0, EXAMPLES, &looked, &looked_size);
    if (!r) r = cutis_baker_put(learner, 0, EXAMPLES, looked, looked_size);
    if (!r) r = cutis_baker_learn(learner, &learned, &learned_size);
    if (!r) r = cutis_baker_take(other, learned, learned_size);
    if (!r) r = cutis_baker_follow(other, 0, EXAMPLES, &tracks, &tracks_size);
    if (!r) r = cutis_baker_finish(other, out, report);
    cutis_memory_free(w.context, looked, looked_size);
    cutis_memory_free(w.context, learned, learned_size);
    cutis_memory_free(w.context, tracks, tracks_size);
    cutis_baker_destroy(learner), cutis_baker_destroy(other);
    return r;
}

static cutis_result bake_poses(uint64_t *digest)
{
    cutis_transform poses[2 * NODES];
    const cutis_result result = cutis_bake_poses(w.limb, w.poses, EXAMPLES, 1, 2, poses);
    if (result == CUTIS_OK) fold(digest, poses, sizeof poses);
    return result;
}

static cutis_result bake_swings(uint64_t *digest)
{
    cutis_transform poses[2 * NODES];
    const cutis_result result = cutis_bake_swings(w.limb, w.poses, EXAMPLES, 1, 2, poses);
    if (result == CUTIS_OK) fold(digest, poses, sizeof poses);
    return result;
}

/// The moving limb's last node driven by the joint that its clip turns.
static cutis_result drive_clips(cutis_model **out)
{
    static const uint32_t joint = 1;
    static const float ranges[8] = { -1, -1, -1, -1, 1, 1, 1, 0 };
    static float coefficients[84];
    for (int i = 0; i < 84; i++) coefficients[i] = 0.01f * (float)(i % 7);
    const cutis_driver driver = { .node = 0, .input_count = 1, .coefficients = coefficients };
    const cutis_weight_driver weight = { .node = 0,
                                         .input_count = 1,
                                         .coefficients = coefficients };
    const bool morphs = cutis_model_get(w.moving)->nodes[0].mesh != CUTIS_NONE &&
                        cutis_model_target_count(w.moving) > 0;
    const cutis_drivers drivers = { .joint_count = 1,
                                    .joints = &joint,
                                    .ranges = ranges,
                                    .driver_count = 1,
                                    .drivers = &driver,
                                    .weight_count = morphs,
                                    .weights = &weight };
    cutis_model_data data = *cutis_model_get(w.moving);
    cutis_model *model = NULL;
    data.drivers = &drivers;
    cutis_result result = cutis_model_create(w.context, &data, CUTIS_GATE_REFUSE, &model);
    if (result == CUTIS_OK) result = cutis_clips_drive(model, 0, CUTIS_DRIVE_RESTING, 4, out);
    cutis_model_destroy(model);
    return result;
}
MAKES_MODEL(clips_drive, drive_clips(&out))

MAKES_BOTH(bake_stepwise, cutis_bake_report, bake_in_steps(&out, &report), vertex_count,
           cutis_bake_report_destroy)
MAKES_BOTH(bake_with_drivers, cutis_bake_report, bake_driven(&out, &report), vertex_count,
           cutis_bake_report_destroy)
MAKES_BOTH(bake_skinned, cutis_bake_report, bake_limb(&out, &report), vertex_count,
           cutis_bake_report_destroy)
MAKES_BOTH(bake_bare, cutis_bake_report, bake_box(&out, &report), vertex_count,
           cutis_bake_report_destroy)

static void fold_session(uint64_t *digest, const cutis_handle_session *session)
{
    cutis_handles_view view = cutis_handles_look(session);
    fold(digest, &view.handle_count, sizeof view.handle_count);
    for (uint32_t i = 0; i < view.handle_count; i++) {
        fold(digest, view.handles[i].name, strlen(view.handles[i].name));
        fold(digest, &view.handles[i].from, sizeof view.handles[i].from);
    }
    fold(digest, view.joints, (size_t)view.vertex_count * view.influences * 4);
    fold(digest, view.weights, (size_t)view.vertex_count * view.influences * 4);
}

static cutis_handle_session *session_with(uint32_t handles, cutis_weighting weighting)
{
    cutis_handle_session *session = NULL;
    pause_faults();
    assert_ok(w.context,
              cutis_handle_session_create(
                  w.limb, w.device, &(cutis_handles_options){ .voxels = 8, .weighting = weighting },
                  &session));
    if (handles) assert_ok(w.context, cutis_handles_set(session, HANDLES, handles));
    resume_faults();
    return session;
}

MAKES(session_open, cutis_handle_session,
      cutis_handle_session_create(w.limb, w.device, &(cutis_handles_options){ .voxels = 8 }, &out),
      fold_session(digest, out), cutis_handle_session_destroy)

/// A change of a session: one that fails leaves everything as it was, and can be tried again.
#define CHANGES(name, handles, weighting, call)                                                    \
    static cutis_result name(uint64_t *digest)                                                     \
    {                                                                                              \
        cutis_handle_session *session = session_with(handles, weighting);                          \
        uint64_t before = 0, after = 0;                                                            \
        fold_session(&before, session);                                                            \
        cutis_result result = call;                                                                \
        fold_session(&after, session);                                                             \
        assert_int_equal(result != CUTIS_OK, before == after);                                     \
        pause_faults();                                                                            \
        if (result != CUTIS_OK) assert_ok(w.context, call);                                        \
        fold_session(digest, session);                                                             \
        cutis_handle_session_destroy(session);                                                     \
        return result;                                                                             \
    }
CHANGES(session_set, 0, CUTIS_WEIGHTING_FIELD, cutis_handles_set(session, HANDLES, 3))
CHANGES(session_add, 2, CUTIS_WEIGHTING_FIELD, cutis_handles_add(session, &HANDLES[2], NULL))
CHANGES(session_add_virtual, 2, CUTIS_WEIGHTING_VIRTUAL,
        cutis_handles_add(session, &HANDLES[2], NULL))
CHANGES(session_move, 2, CUTIS_WEIGHTING_FIELD, cutis_handles_move(session, 0, &HANDLES[2]))
CHANGES(session_move_virtual, 2, CUTIS_WEIGHTING_VIRTUAL,
        cutis_handles_move(session, 0, &HANDLES[2]))
CHANGES(session_remove, 3, CUTIS_WEIGHTING_VIRTUAL, cutis_handles_remove(session, 1))

static cutis_result session_finish(uint64_t *digest)
{
    cutis_handle_session *session = session_with(3, CUTIS_WEIGHTING_VIRTUAL);
    cutis_model *out = NULL;
    cutis_result result = cutis_handles_finish(session, HANDLE_POSES, 1, &out);
    assert_int_equal(result == CUTIS_OK, out != NULL);
    if (out) fold_model(digest, out);
    cutis_model_destroy(out);
    cutis_handle_session_destroy(session);
    return result;
}

// ------------------------------------------------------------------------------------------------

static const scenario SCENARIOS[] = {
    { "cutis_model_create", "everything but extensions", model_refusing, 1, false },
    { "cutis_model_create", "pose space", model_posed, 1, false },
    { "cutis_model_create", "handles", model_handled, 1, false },
    { "cutis_model_create", "cage", model_caged, 1, false },
    { "cutis_model_create", "repairing", model_repairing, 1, false },
    { "cutis_sampler_create", "rotations", sampler, 1, false },
    { "cutis_weights_summarize", "limb", summarize, 1, false },
    { "cutis_model_check", "limb", check, 1, false },
    { "cutis_weights_limit", "one", limit, 1, false },
    { "cutis_weights_round", "8 bits", round_weights, 1, false },
    { "cutis_weights_reduce", "poisson", reduce_poisson, 1, false },
    { "cutis_weights_reduce", "laplace", reduce_laplace, 1, false },
    { "cutis_weights_reduce", "geometric", reduce_geometric, 1, false },
    { "cutis_weights_reduce", "smooth", reduce_smooth, 1, false },
    { "cutis_weights_reduce", "k largest", reduce_largest, 1, false },
    { "cutis_weights_reduce", "automatic poses", reduce_automatic, 1, false },
    { "cutis_device_create", "the best", device_default, 1, false },
    { "cutis_device_create", "scalar", device_scalar, 1, false },
    { "cutis_device_create", "three threads", device_threads, 1, false },
    { "cutis_buffer_create", "64 bytes", buffer, 1, false },
    { "cutis_buffer_wrap", "64 bytes", wrapped_buffer, 1, false },
    { "cutis_bind", "lbs, morph, tangents", bind_lbs, 1, false },
    { "cutis_bind", "rigid", bind_rigid, 1, false },
    { "cutis_bind", "sbs", bind_sbs, 1, false },
    { "cutis_bind", "weighted sbs", bind_weighted, 1, false },
    { "cutis_bind", "dqs, two calls", bind_dqs, 1, false },
    { "cutis_bind", "cor", bind_cor, 1, false },
    { "cutis_crowd_create", "poses of the host", crowd_host, 1, false },
    { "cutis_crowd_create", "poses of the device", crowd_device, 1, false },
    { "cutis_bind", "psd", bind_psd, 1, false },
    { "cutis_bind", "wpsd", bind_wpsd, 1, false },
    { "cutis_bind", "rigid handles", bind_handles, 1, false },
    { "cutis_bind", "cage", bind_cage, 1, false },
    { "cutis_bind", "one influence", bind_limited, 1, false },
    { "cutis_bind", "patches, cut", patches_cut, 1, false },
    { "cutis_bind", "patches, box", patches_box, 1, false },
    { "cutis_binding_prepare", "lbs", prepare_lbs, 1, false },
    { "cutis_binding_prepare", "cage", prepare_cage, 1, false },
    { "cutis_binding_prepare", "patches", prepare_patches, 1, false },
    { "cutis_patches_local", "a frame", patches_local, 1, false },
    { "cutis_surface_normals", "limb", normals, 1, false },
    { "cutis_weld_positions", "limb", weld, 1, false },
    { "cutis_weld_positions_on", "limb", weld_on, 1, false },
    { "cutis_surface_compare", "limb", compare, 1, false },
    { "cutis_surface_curvature", "limb", curvature, 1, false },
    { "cutis_surface_open_edges", "limb", open_edges, 1, false },
    { "cutis_surface_manifold", "limb", manifold, 1, false },
    { "cutis_surface_crossings", "limb", crossings, 1, false },
    { "cutis_surface_unite", "two tetrahedra", unite, 1, false },
    { "cutis_surface_bend", "limb", bend, 1, false },
    { "cutis_synth_create", "arm", synth_arm, 48, false },
    { "cutis_synth_create", "cylinder", synth_cylinder, 1, false },
    { "cutis_synth_create", "family", synth_family, 24, false },
    { "cutis_poses_match", "by place", match, 1, false },
    { "cutis_poses_fit", "displacements", fit_displacements, 1, false },
    { "cutis_poses_fit", "weights", fit_weights, 1, false },
    { "cutis_poses_fit", "weights only", fit_weights_only, 1, false },
    { "cutis_poses_fit", "after skinning", fit_after, 1, false },
    { "cutis_poses_fit", "principal", fit_principal, 1, false },
    { "cutis_poses_fit", "shapes that are read", fit_read, 1, false },
    { "cutis_pose_learner_create", "shapes that are read", learn_part, 1, false },
    { "cutis_pose_learner_learn", "one part", learn_part, 1, false },
    { "cutis_cage_create", "box", cage, 1, false },
    { "cutis_cage_coordinates", "mean value", cage_mvc, 1, false },
    { "cutis_cage_coordinates", "harmonic", cage_harmonic, 1, false },
    { "cutis_cage_bind", "mean value", cage_bind, 1, false },
    { "cutis_cage_bind", "harmonic", cage_bind_harmonic, 1, false },
    { "cutis_cage_bind", "reduced", cage_bind_reduced, 1, false },
    { "cutis_cage_reduce", "poisson", cage_reduce, 1, false },
    { "cutis_cage_to_skin", "one frame", cage_to_skin, 1, false },
    { "cutis_handles_weights", "field", handles_field, 1, false },
    { "cutis_handles_weights", "virtual", handles_virtual, 1, false },
    { "cutis_handles_weights", "reduced", handles_reduced, 1, false },
    { "cutis_handles_skeleton", "two influences", handles_skeleton, 1, false },
    { "cutis_bake", "a helper and a morph target", bake_skinned, 1, false },
    { "cutis_bake", "joints from nothing", bake_bare, 1, false },
    { "cutis_bake", "a helper with a driver", bake_with_drivers, 1, false },
    { "cutis_baker_create", "all steps, by two", bake_stepwise, 1, false },
    { "cutis_bake_poses", "two poses", bake_poses, 1, false },
    { "cutis_bake_swings", "two poses", bake_swings, 1, false },
    { "cutis_clips_drive", "a clip without tracks", clips_drive, 1, false },
    { "cutis_handle_session_create", "field", session_open, 1, false },
    { "cutis_handles_set", "field", session_set, 1, false },
    { "cutis_handles_add", "field", session_add, 1, false },
    { "cutis_handles_add", "virtual", session_add_virtual, 1, false },
    { "cutis_handles_move", "field", session_move, 1, false },
    { "cutis_handles_move", "virtual", session_move_virtual, 1, false },
    { "cutis_handles_remove", "virtual", session_remove, 1, false },
    { "cutis_handles_finish", "virtual", session_finish, 1, false },
};
enum { SCENARIO_COUNT = sizeof SCENARIOS / sizeof *SCENARIOS };
static_assert(SCENARIO_COUNT >= 60, "the claim of docs/reliability.md");

static void every_allocation_of_every_function_may_fail(void **state)
{
    (void)state;
    run_scenarios(&(fault_suite){ w.context, fold_objects }, SCENARIOS, SCENARIO_COUNT);
}

static void nothing_outside_its_memory_is_touched_and_nothing_unset_is_used(void **state)
{
    (void)state;
    guard_scenarios(&(fault_suite){ w.context, fold_objects }, SCENARIOS, SCENARIO_COUNT);
}

/// cutis_context_create: there is no context yet to ask for a text.
static void a_context_may_get_no_memory(void **state)
{
    (void)state;
    cutis_context *context = NULL;
    cutis_context_options options = { .allocator = { fault_allocate, fault_release, NULL } };
    long long live = atomic_load(&faults.live);
    atomic_store(&faults.seen, 0);
    atomic_store(&faults.fail_at, 0);
    atomic_store(&faults.persistent, true);
    resume_faults();
    assert_int_equal(cutis_context_create(&options, &context), CUTIS_OUT_OF_MEMORY);
    pause_faults();
    assert_null(context);
    assert_int_equal(atomic_load(&faults.live), live);
    assert_int_equal(cutis_context_create(&options, &context), CUTIS_OK);
    cutis_context_destroy(context);
    assert_int_equal(atomic_load(&faults.live), live);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_context_may_get_no_memory),
        cmocka_unit_test(every_allocation_of_every_function_may_fail),
        cmocka_unit_test(nothing_outside_its_memory_is_touched_and_nothing_unset_is_used),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
