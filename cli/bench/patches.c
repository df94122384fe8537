/// cutis bench patches: one knee (891 + 1000 vertices) beside the paper's, and many instances of a
/// body of 31 parts and 10,000 vertices.
#include "bench/bench.h"
#include "bench/measure.h"

#include <cutis/patches.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define AROUND 33u
#define BELOW  27u // rings of the parent, the loop's among them: 891 vertices
#define ABOVE  30u // of the child: with its cap 1000

typedef struct patch_bench {
    cutis_binding *patches;
    cutis_patches_info info;
    cutis_mat34 *palette;
    uint32_t instance_count;
    cutis_device *device;
    cutis_outputs output;
    void *memory[4];
    cutis_buffer *buffers[4];
    bool host;
} patch_bench;

enum { RINGS = BELOW + ABOVE - 1, KNEE_VERTICES = RINGS * AROUND + 2 };
enum { KNEE_TRIANGLES = 2 * AROUND * (RINGS - 1) + 2 * AROUND };

// Rings, every other one turned by half a step, and the middles of the two caps.
static void fill_knee_points(float *positions)
{
    for (uint32_t r = 0; r < RINGS; r++)
        for (uint32_t i = 0; i < AROUND; i++) {
            double phi = 2 * M_PI * (i + 0.5 * (r % 2)) / AROUND,
                   z = 0.18 * ((double)r - (BELOW - 1));
            double radius = z < 0 ? 1.04 - 0.03 * z : 1.04 + 0.05 * z - 0.025 * z * z;
            float *p = positions + 3 * (size_t)(r * AROUND + i);
            p[0] = (float)(radius * cos(phi)), p[1] = (float)(radius * sin(phi)), p[2] = (float)z;
        }
    positions[3 * (KNEE_VERTICES - 2) + 2] = positions[2];
    positions[3 * (KNEE_VERTICES - 1) + 2] = positions[3 * (KNEE_VERTICES - 3) + 2];
}

static void fill_knee_triangles(uint32_t *indices, uint32_t *parts)
{
    uint32_t t = 0;
    for (uint32_t r = 0; r + 1 < RINGS; r++)
        for (uint32_t i = 0; i < AROUND; i++, t += 2) {
            uint32_t k = (i + 1) % AROUND, a = r * AROUND + i, b = r * AROUND + k;
            uint32_t even[6] = { a, b, a + AROUND, b, b + AROUND, a + AROUND };
            uint32_t odd[6] = { a, b, b + AROUND, a, b + AROUND, a + AROUND };
            memcpy(indices + 3 * (size_t)t, r % 2 ? odd : even, sizeof even);
            parts[t] = parts[t + 1] = r >= BELOW - 1;
        }
    for (uint32_t i = 0; i < AROUND; i++, t += 2) {
        uint32_t k = (i + 1) % AROUND, top = (RINGS - 1) * AROUND;
        uint32_t caps[6] = { KNEE_VERTICES - 2, k, i, KNEE_VERTICES - 1, top + i, top + k };
        memcpy(indices + 3 * (size_t)t, caps, sizeof caps);
        parts[t + 1] = 1;
    }
}

// A limb of two parts along z with its joint at the origin.
static cutis_result knee_of(cutis_context *context, const cutis_primitive *primitive,
                            cutis_model **out)
{
    static const char *const names[2] = { "thigh", "calf" };
    cutis_mesh mesh = {
        .primitive_count = 1, .primitives = primitive, .part_count = 2, .part_names = names
    };
    cutis_node nodes[3] = { cutis_node_default(), cutis_node_default(), cutis_node_default() };
    nodes[0].name = names[0], nodes[1].name = names[1];
    nodes[1].parent = nodes[2].mesh = nodes[2].skin = 0;
    uint32_t skin_joints[2] = { 0, 1 };
    cutis_skin skin = { .joint_count = 2, .joints = skin_joints, .root = CUTIS_NONE };
    cutis_model_data data = { .node_count = 3,
                              .nodes = nodes,
                              .mesh_count = 1,
                              .meshes = &mesh,
                              .skin_count = 1,
                              .skins = &skin };
    return cutis_model_create(context, &data, CUTIS_GATE_REFUSE, out);
}

static cutis_result make_knee(cutis_context *context, cutis_model **out)
{
    ENDS_BY(memory_release) memory_list memory = { 0 };
    float *positions = memory_take(&memory, KNEE_VERTICES, 12);
    float *weights = memory_take(&memory, KNEE_VERTICES, 4);
    uint32_t *indices = memory_take(&memory, KNEE_TRIANGLES, 12);
    uint32_t *parts = memory_take(&memory, KNEE_TRIANGLES, 4);
    uint32_t *first = memory_take(&memory, KNEE_VERTICES, 4);
    uint32_t *joints = memory_take(&memory, KNEE_VERTICES, 4);
    if (memory.failed) return CUTIS_OUT_OF_MEMORY;
    fill_knee_points(positions);
    fill_knee_triangles(indices, parts);
    for (uint32_t v = 0; v < KNEE_VERTICES; v++) first[v + 1] = v + 1, weights[v] = 1.0f;
    cutis_primitive primitive = { .vertex_count = KNEE_VERTICES,
                                  .index_count = 3 * KNEE_TRIANGLES,
                                  .indices = indices,
                                  .positions = positions,
                                  .influences = { first, joints, weights },
                                  .parts = parts,
                                  .material = CUTIS_NONE };
    return knee_of(context, &primitive, out);
}

// The biped with its smallest parts merged until `wanted` are left.
static cutis_result merge_parts(const cutis_model *biped, const cutis_binding *patches,
                                uint32_t wanted, cutis_model **out)
{
    const cutis_patches_info info = cutis_patches_describe(patches);
    cutis_model_data data = *cutis_model_get(biped);
    cutis_mesh mesh = data.meshes[0];
    cutis_primitive primitive = mesh.primitives[0];
    const uint32_t triangles = primitive.index_count / 3, count = mesh.part_count;
    ENDS_BY(memory_release) memory_list memory = { 0 };
    uint32_t *map = memory_take(&memory, count, 4), *number = memory_take(&memory, count, 4);
    uint32_t *parent = memory_take(&memory, count, 4), *parts = memory_take(&memory, triangles, 4);
    double *size = memory_take(&memory, count, sizeof *size);
    const char **names = memory_take(&memory, count, sizeof *names);
    if (memory.failed) return CUTIS_OUT_OF_MEMORY;
    for (uint32_t p = 0; p < count; p++) parent[p] = p;
    for (uint32_t j = 0; j < info.joint_count; j++) {
        const cutis_patches_joint joint = cutis_patches_joint_at(patches, j);
        parent[joint.child] = joint.parent;
    }
    for (uint32_t t = 0; t < triangles; t++) size[primitive.parts[t]]++;
    bench_merge_leaves(count, parent, size, wanted, map);
    mesh.part_count = 0;
    for (uint32_t p = 0; p < count; p++)
        if (map[p] == p) names[mesh.part_count] = mesh.part_names[p], number[p] = mesh.part_count++;
    for (uint32_t t = 0; t < triangles; t++) parts[t] = number[map[primitive.parts[t]]];
    primitive.parts = parts;
    mesh.primitives = &primitive;
    mesh.part_names = names;
    data.meshes = &mesh;
    data.source = NULL;
    return cutis_model_create(cutis_model_context(biped), &data, CUTIS_GATE_REFUSE, out);
}

static cutis_result make_body(cutis_context *context, cutis_device *device, uint32_t vertices,
                              uint32_t wanted, cutis_model **out)
{
    OWN(cutis_model) *model = NULL;
    OWN(cutis_binding) *patches = NULL;
    cutis_synth_options options = { .body = CUTIS_BODY_BIPED, .vertex_count = vertices };
    TRY(cutis_synth_create(context, &options, &model));
    TRY(cutis_bind(device, model, &(cutis_bind_options){ .method = CUTIS_METHOD_PATCHES },
                   &patches));
    return merge_parts(model, patches, wanted, out);
}

static cutis_result allocate_stream(patch_bench *b, int k, uint64_t size, cutis_stream *stream)
{
    if (b->host) {
        stream->data = b->memory[k] = calloc(1, size);
        return stream->data ? CUTIS_OK : CUTIS_OUT_OF_MEMORY;
    }
    cutis_result result = cutis_buffer_create(b->device, size, &b->buffers[k]);
    stream->buffer = b->buffers[k];
    return result;
}

// Memory for frames twice the size of the rest mesh: the capacity of every conceivable frame would
// not fit a thousand times.
static cutis_result open_bench(cutis_device *device, const cutis_model *model,
                               cutis_bind_options options, uint32_t instances, patch_bench *b)
{
    *b = (patch_bench){ .instance_count = instances, .device = device };
    b->host = cutis_device_describe(device).kind == CUTIS_DEVICE_CPU;
    options.method = CUTIS_METHOD_PATCHES;
    options.normals = true;
    options.instance_capacity = instances;
    TRY(cutis_bind(device, model, &options, &b->patches));
    b->info = cutis_patches_describe(b->patches);
    uint64_t vertices = 2 * (uint64_t)b->info.vertex_count, n = instances;
    uint64_t triangles = 2 * (uint64_t)b->info.triangle_count;
    b->output.topology.vertex_capacity = (uint32_t)vertices;
    b->output.topology.triangle_capacity = (uint32_t)triangles;
    b->palette = calloc(n * b->info.part_count, sizeof *b->palette);
    TRY(b->palette ? allocate_stream(b, 0, 12 * n * vertices, &b->output.positions)
                   : CUTIS_OUT_OF_MEMORY);
    TRY(allocate_stream(b, 1, 12 * n * vertices, &b->output.normals));
    TRY(allocate_stream(b, 2, 12 * n * triangles, &b->output.topology.indices));
    return allocate_stream(b, 3, 8 * n, &b->output.topology.counts);
}

static void close_bench(patch_bench *b)
{
    cutis_binding_destroy(b->patches);
    for (int k = 0; k < 4; k++) free(b->memory[k]);
    for (int k = 0; k < 4; k++) cutis_buffer_destroy(b->buffers[k]);
    free(b->palette);
    *b = (patch_bench){ 0 };
}

// Every joint bent by `angle` about an axis across its limb, instances a little apart.
static cutis_result pose_all(patch_bench *b, const cutis_model *model, double angle)
{
    uint32_t nodes = cutis_model_get(model)->node_count;
    cutis_transform *rest = calloc(nodes, sizeof *rest), *pose = calloc(nodes, sizeof *pose);
    if (!rest || !pose) return free(rest), free(pose), CUTIS_OUT_OF_MEMORY;
    cutis_pose_rest(model, rest, NULL);
    for (uint32_t i = 0; i < b->instance_count; i++) {
        memcpy(pose, rest, nodes * sizeof *pose);
        for (uint32_t j = 0; j < b->info.joint_count; j++) {
            cutis_patches_joint joint = cutis_patches_joint_at(b->patches, j);
            float bend = (float)(angle * (1.0 - 0.3 * (i % 16) / 16.0));
            cutis_quat turn = cutis_quat_from_axis_angle((cutis_float3){ 1, 0, 0 }, bend);
            pose[joint.node].rotation = cutis_quat_multiply(rest[joint.node].rotation, turn);
        }
        cutis_binding_palette(b->patches, pose, b->palette + (size_t)i * b->info.part_count);
    }
    free(rest), free(pose);
    return CUTIS_OK;
}

static cutis_result run_bench(void *data)
{
    patch_bench *b = data;
    cutis_poses poses = { .kind = CUTIS_POSE_PALETTE, .matrices = b->palette };
    TRY(cutis_deform(b->patches, &poses, b->instance_count, &b->output));
    if (!b->host) TRY(cutis_device_finish(b->device));
    return CUTIS_OK;
}

typedef struct patch_row {
    const char *what;
    uint32_t vertices, parts, instances, degrees;
    cutis_patch_band band;
    double seconds, goal; // goal 0: none
} patch_row;

static cutis_result time_bench(cutis_device *device, const cutis_model *model,
                               cutis_bind_options options, uint32_t instances, double degrees,
                               double budget, patch_bench *b, double *seconds)
{
    TRY(open_bench(device, model, options, instances, b));
    TRY(pose_all(b, model, degrees * M_PI / 180.0));
    return bench_best(run_bench, b, budget, seconds);
}

cutis_result bench_patches_knee(cutis_context *context, cutis_device *device,
                                const cutis_bind_options *options, double degrees, double budget,
                                double *seconds)
{
    OWN(cutis_model) *model = NULL;
    ENDS_BY(close_bench) patch_bench b = { 0 };
    TRY(make_knee(context, &model));
    return time_bench(device, model, *options, 1, degrees, budget, &b, seconds);
}

static int measure(cli_app *app, const cutis_model *model, cutis_device *device, patch_row *row)
{
    patch_bench b = { 0 };
    double budget = option_given(app, OPTION_QUICK) ? 0.2 : 1.0;
    const cutis_bind_options options = { .patch_band = row->band };
    cutis_result result =
        time_bench(device, model, options, row->instances, row->degrees, budget, &b, &row->seconds);
    row->vertices = b.info.vertex_count;
    row->parts = b.info.part_count;
    close_bench(&b);
    return app_result(app, row->what, result);
}

static void report(cli_app *app, const patch_row *rows, uint32_t count, const char *device)
{
    app_say(app, "%-28s %9s %6s %10s %8s %12s %10s\n", "what", "vertices", "parts", "instances",
            "degrees", "ms a frame", "goal");
    for (uint32_t i = 0; i < count; i++) {
        const patch_row *r = &rows[i];
        char goal[32] = "";
        if (r->goal > 0) snprintf(goal, sizeof goal, "%g ms", 1e3 * r->goal);
        app_say(app, "%-28s %9u %6u %10u %8u %12.4f %10s\n", r->what, r->vertices, r->parts,
                r->instances, r->degrees, 1e3 * r->seconds, goal);
    }
    app_say(app, "The paper (2.6 GHz Core Duo, GeForce 8800 Ultra) has its knee from 170 to 80 "
                 "degrees as a picture\n"
                 "only; it states that the GPU was about 10 times as fast as the CPU.\n");
    bench_figures figures = { 0 };
    for (const patch_row *r = rows; r < rows + count; r++) {
        char name[64];
        snprintf(name, sizeof name, "%s, %u degrees, ms", r->what, r->degrees);
        if (r->goal > 0)
            bench_figure_add(&figures, name, 0, 1e3 * r->seconds, false, 1e3 * r->goal);
    }
    bench_figures_say(app, &figures);
    if (!app->json) return;
    json_out json = { .file = stdout };
    emit(&json, "{ device %s rows [", device);
    for (const patch_row *r = rows; r < rows + count; r++)
        emit(&json,
             "{ what %s vertices %u parts %u instances %u degrees %u ms_per_frame %g goal_ms %g }",
             r->what, r->vertices, r->parts, r->instances, r->degrees, 1e3 * r->seconds,
             r->goal > 0 ? 1e3 * r->goal : NAN);
    emit(&json, "]");
    bench_figures_emit(&json, &figures);
    emit_end(&json);
}

int bench_patches(cli_app *app)
{
    static const uint32_t bends[4] = { 10, 30, 60, 90 };
    static const char *const KNEES[2] = { "knee", "knee, rigid parts" };
    static const char *const BODIES[2] = { "body, all joints", "body, rigid parts" };
    patch_row rows[10] = { 0 }, *row = rows;
    OWN(cutis_device) *device = NULL;
    OWN(cutis_model) *knee = NULL, *body = NULL;
    uint32_t instances = option_count(app, OPTION_INSTANCES, 16);
    TRY(app_open_device(app, &device));
    cutis_device_info info = cutis_device_describe(device);
    TRY(app_result(app, "bench patches", make_knee(app->context, &knee)));
    TRY(app_result(
        app, "bench patches",
        make_body(app->context, device, option_count(app, OPTION_VERTICES, 10000), 31, &body)));
    for (int band = 0; band < 2; band++) { // with bands, with patches
        for (int i = 0; i < 4; i++, row++) {
            *row = (patch_row){
                .what = KNEES[band], .instances = 1, .degrees = bends[i], .goal = 0.25e-3
            };
            row->band = (cutis_patch_band)band;
            if (!(info.kind == CUTIS_DEVICE_CPU)) row->goal = 0;
            TRY(measure(app, knee, device, row));
        }
        *row = (patch_row){ .what = BODIES[band], .instances = instances, .degrees = 45 };
        row->band = (cutis_patch_band)band;
        if (info.kind == CUTIS_DEVICE_CUDA && instances == 1024) row->goal = 3.5e-3;
        TRY(measure(app, body, device, row++));
    }
    report(app, rows, 10, cutis_device_kind_name(info.kind));
    return EXIT_GOOD;
}
