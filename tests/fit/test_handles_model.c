// Handles on whole models: what comes out plays, interpolates and stays where it was; skeletons
// never fail; weights of real rigs are near their artists' (docs/spec/handles.md 9.16).
#include "handles_case.h"

#include <cutis/clip.h>

// A model of one mesh from a shape, its node moved by `rest`; topology points if there are no
// triangles.
static cutis_model *model_of(fixture *f, const shape_case *s, const cutis_transform *rest)
{
    cutis_primitive primitive = { .vertex_count = s->shape.vertex_count,
                                  .positions = s->positions,
                                  .index_count = 3 * s->shape.triangle_count,
                                  .indices = s->shape.triangle_count ? s->triangles : NULL,
                                  .topology = s->shape.triangle_count ? CUTIS_TOPOLOGY_TRIANGLES
                                                                      : CUTIS_TOPOLOGY_POINTS,
                                  .material = CUTIS_NONE };
    cutis_mesh mesh = { .name = "body", .primitive_count = 1, .primitives = &primitive };
    cutis_node node = { .name = "body", .parent = CUTIS_NONE, .mesh = 0, .skin = CUTIS_NONE };
    node.rest = rest ? *rest : cutis_transform_identity();
    cutis_model_data data = { .node_count = 1, .nodes = &node, .mesh_count = 1, .meshes = &mesh };
    cutis_model *model = NULL;
    assert_ok(f->context, cutis_model_create(f->context, &data, CUTIS_GATE_REFUSE, &model));
    return model;
}

static void deform(fixture *f, const cutis_model *model, int32_t clip, float seconds, float *out)
{
    cutis_binding *binding = NULL;
    uint32_t nodes = cutis_model_get(model)->node_count;
    cutis_transform *pose = malloc(nodes * sizeof *pose);
    cutis_pose_rest(model, pose, NULL);
    if (clip != CUTIS_NONE) {
        cutis_sampler *sampler = NULL;
        assert_ok(f->context, cutis_sampler_create(model, (uint32_t)clip, &sampler));
        cutis_sampler_sample(sampler, seconds, pose, NULL);
        cutis_sampler_destroy(sampler);
    }
    assert_ok(f->context, cutis_bind(f->device, model, NULL, &binding));
    cutis_outputs outputs = { .positions = { .data = out } };
    assert_ok(f->context, cutis_deform(binding, &(cutis_poses){ .local = pose }, 1, &outputs));
    cutis_binding_destroy(binding);
    free(pose);
}

static const cutis_quat QUARTER_Z = { 0, 0, 0.70710678f, 0.70710678f };

static void a_pose_turns_the_handle_about_itself_and_holds_the_others(void **state)
{
    fixture *f = *state;
    shape_case *s = new_shape();
    add_cylinder(s, 0.1, 1, 24, 60);
    // The node's own transform must be undone and done again: world space is what handles are given
    // in.
    cutis_transform rest = cutis_transform_identity();
    rest.translation = (cutis_float3){ 3, -1, 2 };
    rest.rotation = cutis_quat_from_axis_angle((cutis_float3){ 1, 2, 3 }, 0.7f);
    rest.scale = (cutis_float3){ 2, 2, 2 };
    cutis_model *model = model_of(f, s, &rest), *out = NULL;
    cutis_mat34 world = cutis_mat34_from_transform(&rest);
    cutis_float3 low = cutis_mat34_point(&world, (cutis_float3){ 0, 0, 0.1f });
    cutis_float3 mid = cutis_mat34_point(&world, (cutis_float3){ 0, 0, 0.4f });
    cutis_float3 top = cutis_mat34_point(&world, (cutis_float3){ 0, 0, 0.9f });
    const cutis_handle handles[2] = { { "base", CUTIS_HANDLE_BAR, low, mid },
                                      { "top", CUTIS_HANDLE_POINT, top, { 0, 0, 0 } } };
    const cutis_handle_motion motion = { 1, QUARTER_Z, { 0, 0.25f, 0 } };
    const cutis_handle_pose pose = { "nod", 1, &motion };
    const cutis_handle_set set = { 2, handles, 1, &pose };
    cutis_handles_report *report = NULL;
    assert_ok(f->context, cutis_handles_weights(model, f->device, &set, NULL, &out, &report));
    assert_near(report->interpolation_error_max, 0, 1e-12);
    assert_int_equal(report->handle_count, 2);
    assert_string_equal(report->handles[1].name, "top");
    uint32_t count = cutis_model_vertex_count(out);
    float *before = malloc(12 * count), *after = malloc(12 * count), *moved = malloc(12 * count);
    deform(f, model, CUTIS_NONE, 0, before);
    deform(f, out, CUTIS_NONE, 0, after);
    for (uint32_t i = 0; i < 3 * count; i++) assert_near(after[i], before[i], 2e-6);
    deform(f, out, 0, 0, moved);
    const cutis_primitive *p = &cutis_model_get(out)->meshes[0].primitives[0];
    for (uint32_t v = 0; v < count; v++) {
        float weight = 0, sum = 0;
        for (uint32_t i = p->influences.first[v]; i < p->influences.first[v + 1]; i++) {
            sum += p->influences.weights[i];
            if (p->influences.joints[i] == 1) weight = p->influences.weights[i];
        }
        assert_near(sum, 1, 1e-6);
        // R (x - h) + h + t, a quarter turn about z.
        const float *x = before + 3 * v;
        double to[3] = { -(x[1] - top.y) + top.x, x[0] - top.x + top.y + 0.25, x[2] };
        for (int c = 0; c < 3; c++)
            assert_near(moved[3 * v + c], x[c] + weight * (to[c] - x[c]), 1e-5);
    }
    free(before), free(after), free(moved), free(s);
    cutis_handles_report_destroy(report);
    cutis_model_destroy(out);
    cutis_model_destroy(model);
}

static void a_common_motion_moves_everything_as_one(void **state)
{
    fixture *f = *state;
    shape_case *s = new_shape();
    add_box(s, (double[]){ 0, 0, 0 }, (double[]){ 1, 0.5, 0.5 });
    cutis_model *model = model_of(f, s, NULL), *out = NULL;
    cutis_handle handles[3];
    cutis_handle_motion motions[3];
    // x -> R x + t for all: about each handle h that is t_h = R h - h + t.
    for (int h = 0; h < 3; h++) {
        cutis_float3 at = { 0.2f + 0.3f * h, 0.25f, 0.2f };
        handles[h] = (cutis_handle){ NULL, CUTIS_HANDLE_POINT, at, { 0, 0, 0 } };
        motions[h] = (cutis_handle_motion){ (uint32_t)h,
                                            QUARTER_Z,
                                            { -at.y - at.x + 1, at.x - at.y + 2, 3 } };
    }
    const cutis_handle_pose pose = { "all", 3, motions };
    const cutis_handle_set set = { 3, handles, 1, &pose };
    for (int w = 0; w < 2; w++) {
        float moved[24];
        assert_ok(f->context,
                  cutis_handles_weights(
                      model, f->device, &set,
                      &(cutis_handles_options){ .weighting = (cutis_weighting)w, .voxels = 64 },
                      &out, NULL));
        deform(f, out, 0, 0, moved);
        for (int v = 0; v < 8; v++) {
            assert_near(moved[3 * v], -s->positions[3 * v + 1] + 1, 1e-5);
            assert_near(moved[3 * v + 1], s->positions[3 * v] + 2, 1e-5);
            assert_near(moved[3 * v + 2], s->positions[3 * v + 2] + 3, 1e-5);
        }
        cutis_model_destroy(out);
    }
    cutis_model_destroy(model);
    free(s);
}

static void point_clouds_get_weights(void **state)
{
    fixture *f = *state;
    shape_case *s = new_shape();
    for (uint64_t i = 0; i < 20000; i++) {
        double angle = random_in(1, 2 * i, 0, 6.2831853), z = random_in(1, 2 * i + 1, 0, 1);
        add_vertex(s, 0.1 * cos(angle), 0.1 * sin(angle), z);
    }
    cutis_model *model = model_of(f, s, NULL), *out = NULL;
    const cutis_handle handles[2] = { { "a", CUTIS_HANDLE_POINT, { 0.1f, 0, 0.1f }, { 0, 0, 0 } },
                                      { "b", CUTIS_HANDLE_POINT, { 0.1f, 0, 0.9f }, { 0, 0, 0 } } };
    const cutis_handle_set set = { 2, handles, 0, NULL };
    cutis_handles_report *report = NULL;
    assert_ok(f->context, cutis_handles_weights(model, f->device, &set, NULL, &out, &report));
    assert_int_equal(report->components, 1);
    const cutis_primitive *p = &cutis_model_get(out)->meshes[0].primitives[0];
    for (uint32_t v = 0; v < p->vertex_count; v++)
        for (uint32_t i = p->influences.first[v]; i < p->influences.first[v + 1]; i++)
            if (p->influences.joints[i] == 1) {
                if (p->positions[3 * v + 2] < 0.3) assert_true(p->influences.weights[i] < 0.35);
                if (p->positions[3 * v + 2] > 0.7) assert_true(p->influences.weights[i] > 0.65);
            }
    cutis_handles_report_destroy(report);
    cutis_model_destroy(out);
    cutis_model_destroy(model);
    free(s);
}

static void what_is_wrong_with_handles_is_said(void **state)
{
    fixture *f = *state;
    shape_case *s = new_shape();
    add_box(s, (double[]){ 0, 0, 0 }, (double[]){ 1, 1, 1 });
    cutis_model *model = model_of(f, s, NULL), *out = NULL;
    cutis_handle handles[3] = { { "a", CUTIS_HANDLE_POINT, { 0.5f, 0.5f, 0.5f }, { 0, 0, 0 } },
                                { "b", CUTIS_HANDLE_POINT, { 0.5f, 0.5f, 0.53f }, { 0, 0, 0 } },
                                { "c", CUTIS_HANDLE_POINT, { 0.5f, 0.5f, 1.5f }, { 0, 0, 0 } } };
    cutis_handle_set set = { 3, handles, 0, NULL };
    cutis_handles_options options = { .voxels = 64, .strict = true };
    assert_int_equal(cutis_handles_weights(model, f->device, &set, &options, &out, NULL),
                     CUTIS_INVALID_ARGUMENT);
    assert_non_null(strstr(cutis_context_error(f->context), "voxels would do"));
    options.strict = false;
    cutis_handles_report *report = NULL;
    assert_ok(f->context, cutis_handles_weights(model, f->device, &set, &options, &out, &report));
    // Six voxels between points 0.03 apart.
    assert_true(report->voxels_needed >= 200 && report->voxels_needed < 210);
    assert_near(report->handles[2].snapped, 0.5, 0.02);
    assert_near(report->handles[0].snapped, 0, 0);
    cutis_handles_report_destroy(report);
    cutis_model_destroy(out);
    // Two handles at one place share their weight.
    handles[1].from = handles[0].from;
    assert_ok(f->context, cutis_handles_weights(model, f->device, &set, &options, &out, &report));
    assert_true(report->handles[1].shared && !report->handles[0].shared);
    const cutis_primitive *p = &cutis_model_get(out)->meshes[0].primitives[0];
    assert_int_equal(p->influences.first[1], 3);
    assert_near(p->influences.weights[0], p->influences.weights[1], 0);
    cutis_handles_report_destroy(report);
    cutis_model_destroy(out);
    handles[0].from.x = NAN;
    assert_int_equal(cutis_handles_weights(model, f->device, &set, &options, &out, NULL),
                     CUTIS_INVALID_ARGUMENT);
    set.handle_count = 0;
    assert_int_equal(cutis_handles_weights(model, f->device, &set, &options, &out, NULL),
                     CUTIS_INVALID_ARGUMENT);
    cutis_model_destroy(model);
    free(s);
}

// Skeletons
// -----------------------------------------------------------------------------------------

// A box with a skin of `count` joints in a chain (or all under joint 0 if `fan`) at the places
// given.
static cutis_model *rig_of(fixture *f, uint32_t count, const float (*at)[3], bool fan)
{
    shape_case *s = new_shape();
    cutis_node nodes[33] = { 0 };
    uint32_t joints[32];
    cutis_mat34 binds[32];
    add_box(s, (double[]){ 0, 0, 0 }, (double[]){ 1, 0.3, 0.3 });
    for (uint32_t j = 0; j < count; j++) {
        int32_t parent = j == 0 ? CUTIS_NONE : fan ? 0 : (int32_t)j - 1;
        nodes[j] = (cutis_node){ .parent = parent, .mesh = CUTIS_NONE, .skin = CUTIS_NONE };
        nodes[j].rest = cutis_transform_identity();
        joints[j] = j;
        binds[j] = (cutis_mat34){ { 1, 0, 0, -at[j][0], 0, 1, 0, -at[j][1], 0, 0, 1, -at[j][2] } };
    }
    nodes[count] = (cutis_node){ .parent = CUTIS_NONE, .mesh = 0, .skin = 0 };
    nodes[count].rest = cutis_transform_identity();
    cutis_primitive primitive = { .vertex_count = 8,
                                  .positions = s->positions,
                                  .index_count = 36,
                                  .indices = s->triangles,
                                  .material = CUTIS_NONE };
    cutis_mesh mesh = { .primitive_count = 1, .primitives = &primitive };
    cutis_skin skin = {
        .joint_count = count, .joints = joints, .inverse_binds = binds, .root = CUTIS_NONE
    };
    cutis_model_data data = { .node_count = count + 1,
                              .nodes = nodes,
                              .mesh_count = 1,
                              .meshes = &mesh,
                              .skin_count = 1,
                              .skins = &skin };
    cutis_model *model = NULL;
    assert_ok(f->context, cutis_model_create(f->context, &data, CUTIS_GATE_REFUSE, &model));
    free(s);
    return model;
}

// Its skin is not at rest, so vertices are written where its joints put them: also a far one that
// no triangle has, which is held near the body only while weights are looked for.
static void a_vertex_that_nothing_shows_is_written_where_it_was(void **state)
{
    fixture *f = *state;
    const float places[2][3] = { { 0.25f, 0.125f, 0.125f }, { 0.75f, 0.125f, 0.125f } };
    cutis_model *rig = rig_of(f, 2, places, false), *model = NULL, *out = NULL;
    cutis_model_data data = *cutis_model_get(rig);
    cutis_mesh mesh = data.meshes[0];
    cutis_primitive primitive = mesh.primitives[0];
    float positions[27] = { [24] = 50, [25] = 60, [26] = -70 };
    memcpy(positions, primitive.positions, 24 * sizeof *positions);
    primitive.positions = positions, primitive.vertex_count = 9;
    mesh.primitives = &primitive, data.meshes = &mesh;
    assert_ok(f->context, cutis_model_create(f->context, &data, CUTIS_GATE_REFUSE, &model));
    const cutis_handle handle = { "a", CUTIS_HANDLE_POINT, { 0.25f, 0, 0 }, { 0, 0, 0 } };
    const cutis_handle_set set = { 1, &handle, 0, NULL };
    assert_ok(f->context, cutis_handles_weights(model, f->device, &set, NULL, &out, NULL));
    const float *at = cutis_model_get(out)->meshes[0].primitives[0].positions;
    for (int i = 0; i < 27; i++) assert_near(at[i], positions[i] - places[0][i % 3], 1e-6);
    cutis_model_destroy(out), cutis_model_destroy(model), cutis_model_destroy(rig);
}

static void check_skin(fixture *f, const cutis_model *model, const char *what, uint32_t voxels)
{
    for (int w = 0; w < 2; w++) {
        cutis_model *out = NULL;
        cutis_handles_options options = { .weighting = (cutis_weighting)w, .voxels = voxels };
        if (cutis_handles_skeleton(model, f->device, &options, &out, NULL) != CUTIS_OK)
            fail_msg("%s: %s", what, cutis_context_error(f->context));
        const cutis_model_data *data = cutis_model_get(out);
        for (uint32_t m = 0; m < data->mesh_count; m++)
            for (uint32_t p = 0; p < data->meshes[m].primitive_count; p++) {
                const cutis_primitive *primitive = &data->meshes[m].primitives[p];
                for (uint32_t v = 0; primitive->influences.first && v < primitive->vertex_count;
                     v++) {
                    double sum = 0;
                    for (uint32_t i = primitive->influences.first[v];
                         i < primitive->influences.first[v + 1]; i++)
                        sum += primitive->influences.weights[i];
                    if (!(fabs(sum - 1) < 1e-3)) fail_msg("%s: vertex %u sums to %g", what, v, sum);
                }
            }
        cutis_model_destroy(out);
    }
}

static void no_skeleton_fails(void **state)
{
    fixture *f = *state;
    float places[20][3];
    static const struct {
        const char *what;
        uint32_t count;
        float start, step, away;
        bool fan;
    } CASES[] = {
        { "twenty bones of half a voxel", 20, 0.4f, 0.5f / 128, 0, false },
        { "all joints at one place", 6, 0.5f, 0, 0, false },
        { "two equal leaves", 3, 0.5f, 0, 0, true },
        { "all joints outside", 5, 0.5f, 0.1f, 9, false },
        { "some joints outside", 8, 0.3f, 0.3f, 0, false },
        { "one joint", 1, 0.5f, 0, 0, false },
        { "one joint outside", 1, 0.5f, 0, 5, false },
        { "a chain", 4, 0.1f, 0.25f, 0, false },
    };
    for (size_t c = 0; c < sizeof CASES / sizeof *CASES; c++) {
        for (uint32_t j = 0; j < CASES[c].count; j++) {
            places[j][0] = CASES[c].start + CASES[c].step * (float)j;
            places[j][1] = 0.15f + CASES[c].away, places[j][2] = 0.15f;
        }
        cutis_model *model = rig_of(f, CASES[c].count, (const float(*)[3])places, CASES[c].fan);
        check_skin(f, model, CASES[c].what, 64);
        cutis_model_destroy(model);
    }
}

// Mean over vertices of the sum of |difference|.
static double weight_difference(const cutis_model *a, const cutis_model *b)
{
    const cutis_model_data *x = cutis_model_get(a), *y = cutis_model_get(b);
    double total = 0, count = 0, joint[1024];
    for (uint32_t m = 0; m < x->mesh_count; m++)
        for (uint32_t p = 0; p < x->meshes[m].primitive_count; p++) {
            const cutis_influences *u = &x->meshes[m].primitives[p].influences,
                                   *v = &y->meshes[m].primitives[p].influences;
            for (uint32_t i = 0; u->first && i < x->meshes[m].primitives[p].vertex_count;
                 i++, count++) {
                double sum = 0;
                memset(joint, 0, sizeof joint);
                for (uint32_t e = u->first[i]; e < u->first[i + 1]; e++) sum += u->weights[e];
                for (uint32_t e = u->first[i]; e < u->first[i + 1]; e++)
                    joint[u->joints[e]] += u->weights[e] / sum;
                for (uint32_t e = v->first[i]; e < v->first[i + 1]; e++)
                    joint[v->joints[e]] -= v->weights[e];
                for (int j = 0; j < 1024; j++) total += fabs(joint[j]);
            }
        }
    return total / count;
}

// RMS of the difference over the first clips at 10 frames a second, % of the diagonal at rest.
static double clip_difference(fixture *f, const cutis_model *a, const cutis_model *b,
                              uint32_t clips)
{
    uint32_t count = cutis_model_vertex_count(a);
    float *x = malloc(12 * count), *y = malloc(12 * count);
    double square = 0, frames = 0, low[3] = { 1e30, 1e30, 1e30 }, high[3] = { -1e30, -1e30, -1e30 };
    deform(f, a, CUTIS_NONE, 0, x);
    for (uint32_t i = 0; i < 3 * count; i++)
        low[i % 3] = fmin(low[i % 3], x[i]), high[i % 3] = fmax(high[i % 3], x[i]);
    double diagonal =
        sqrt(pow(high[0] - low[0], 2) + pow(high[1] - low[1], 2) + pow(high[2] - low[2], 2));
    for (uint32_t c = 0; c < clips; c++)
        for (float t = 0; t <= cutis_model_get(a)->clips[c].duration; t += 0.1f, frames++) {
            deform(f, a, (int32_t)c, t, x);
            deform(f, b, (int32_t)c, t, y);
            for (uint32_t i = 0; i < 3 * count; i++) square += pow((double)x[i] - y[i], 2);
        }
    free(x), free(y);
    return 100 * sqrt(square / (frames * count)) / diagonal;
}

static void automatic_weights_are_near_the_artists(void **state)
{
    static const struct {
        const char *path;
        double positions, weights;
    } RIGS[] = { { "gltf-sample-assets/CesiumMan/glTF-Binary/CesiumMan.glb", 0.4, 0.3 },
                 { "gltf-sample-assets/RiggedFigure/glTF-Binary/RiggedFigure.glb", 0.25, 0.6 },
                 { "gltf-sample-assets/Fox/glTF-Binary/Fox.glb", 0.7, 0.65 } };
    fixture *f = *state;
    for (size_t i = 0; i < sizeof RIGS / sizeof *RIGS; i++)
        for (int w = 0; w < 2; w++) {
            cutis_model *model = NULL, *out = NULL;
            assert_ok(f->context,
                      cutis_model_read(f->context, shared_path(RIGS[i].path), NULL, &model));
            assert_ok(f->context,
                      cutis_handles_skeleton(
                          model, f->device,
                          &(cutis_handles_options){ .weighting = (cutis_weighting)w }, &out, NULL));
            // The limits are for the file's first clip, as the table they come from; all clips are
            // reported.
            double weights = weight_difference(model, out);
            double positions = clip_difference(f, model, out, 1);
            double all = clip_difference(f, model, out, cutis_model_get(model)->clip_count);
            print_message("%s, %s: %.3f %% of the diagonal (all clips %.3f), %.3f in weights\n",
                          RIGS[i].path, cutis_weighting_name((cutis_weighting)w), positions, all,
                          weights);
            assert_true(positions <= RIGS[i].positions);
            assert_true(weights <= RIGS[i].weights);
            cutis_model_destroy(out);
            cutis_model_destroy(model);
        }
}

// Memory
// -------------------------------------------------------------------------------------------

static long allocations, allocations_max = -1;

static void *counted_allocate(void *user, size_t size, size_t alignment)
{
    (void)user;
    if (allocations_max >= 0 && allocations++ >= allocations_max) return NULL;
    return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

static void counted_release(void *user, void *memory, size_t size)
{
    (void)user, (void)size;
    free(memory);
}

static void every_allocation_may_fail_and_nothing_leaks(void **state)
{
    (void)state;
    cutis_context_options options = { .allocator = { counted_allocate, counted_release, NULL } };
    fixture f = { 0 };
    assert_int_equal(cutis_context_create(&options, &f.context), CUTIS_OK);
    const float places[3][3] = { { 0.1f, 0.15f, 0.15f },
                                 { 0.5f, 0.15f, 0.15f },
                                 { 0.8f, 0.15f, 0.15f } };
    cutis_model *model = rig_of(&f, 3, places, false);
    const cutis_handle handles[2] = {
        { "a", CUTIS_HANDLE_POINT, { 0.1f, 0.1f, 0.1f }, { 0, 0, 0 } },
        { "b", CUTIS_HANDLE_BAR, { 0.7f, 0.1f, 0.1f }, { 0.9f, 0.1f, 0.1f } }
    };
    const cutis_handle_set set = { 2, handles, 0, NULL };
    uint64_t before = cutis_context_memory(f.context);
    for (int run = 0; run < 4; run++) {
        cutis_handles_options chosen = { .voxels = 16, .weighting = (cutis_weighting)(run & 1) };
        cutis_result result = CUTIS_OUT_OF_MEMORY;
        for (long most = 0; result != CUTIS_OK; most++) {
            cutis_model *out = NULL;
            cutis_handles_report *report = NULL;
            allocations = 0, allocations_max = most;
            result = run < 2 ? cutis_handles_weights(model, NULL, &set, &chosen, &out, &report)
                             : cutis_handles_skeleton(model, NULL, &chosen, &out, &report);
            allocations_max = -1;
            if (result != CUTIS_OK) assert_int_equal(result, CUTIS_OUT_OF_MEMORY);
            cutis_model_destroy(out);
            cutis_handles_report_destroy(report);
            assert_true(cutis_context_memory(f.context) == before);
        }
    }
    cutis_model_destroy(model);
    cutis_context_destroy(f.context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        claim(a_pose_turns_the_handle_about_itself_and_holds_the_others),
        claim(a_common_motion_moves_everything_as_one),
        claim(point_clouds_get_weights),
        claim(what_is_wrong_with_handles_is_said),
        claim(a_vertex_that_nothing_shows_is_written_where_it_was),
        claim(no_skeleton_fails),
        claim(automatic_weights_are_near_the_artists),
        claim(every_allocation_may_fail_and_nothing_leaks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
