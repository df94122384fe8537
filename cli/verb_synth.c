/// cutis synth: a character made by code.
///
/// Example shapes of the arm: rest, elbow 45 and 90 degrees, shoulder 45 and 90, wrist 45 and 90,
/// collar 20, one joint at a time. The truth they are made with: before skinning, each joint's
/// muscle bulges the front (+z) side by BULGE * sin(angle) * weight along the normal; then linear
/// blending. Constants in place of sin and cos keep the bytes the same on every machine.
#include "play.h"
#include "sink.h"

#include <stdlib.h>
#include <string.h>

#define EXAMPLE_COUNT 8
#define JOINT_COUNT   4

// docs/spec/pose-space.md 11.14 bulges by 0.2 where collar and wrist are 5 apart; here they are
// 0.66 m apart, and thinner.
static const double BULGE = 0.02;
static const double EXAMPLE_FPS = 30.0; // frame i of `deform --clip examples` is example i

typedef struct example {
    int joint; // into joint_names, or -1: rest
    double sine, half_sine, half_cosine;
} example;

static const char *const joint_names[JOINT_COUNT] = { "collar", "shoulder", "elbow", "wrist" };
static const float joint_axes[JOINT_COUNT][3] = {
    { 0, 0, 1 }, { 0, 0, 1 }, { 0, -1, 0 }, { 0, -1, 0 }
};

#define DEGREES_20 0.34202014332566873, 0.17364817766693035, 0.98480775301220806
#define DEGREES_45 0.70710678118654752, 0.38268343236508977, 0.92387953251128676
#define DEGREES_90 1.0, 0.70710678118654752, 0.70710678118654752

static const example examples[EXAMPLE_COUNT] = {
    { -1, 0.0, 0.0, 1.0 }, { 2, DEGREES_45 }, { 2, DEGREES_90 }, { 1, DEGREES_45 },
    { 1, DEGREES_90 },     { 3, DEGREES_45 }, { 3, DEGREES_90 }, { 0, DEGREES_20 },
};

// The clip: the four joints' rotations, one key per example.
static cutis_result add_clip(cli_app *app, const cutis_model *model, const uint32_t *nodes,
                             cutis_model **out)
{
    cutis_model_data data = *cutis_model_get(model);
    float times[EXAMPLE_COUNT], values[JOINT_COUNT][EXAMPLE_COUNT][4];
    cutis_channel channels[JOINT_COUNT];
    cutis_clip *clips = calloc(data.clip_count + (size_t)1, sizeof *clips);
    if (!clips) return CUTIS_OUT_OF_MEMORY;
    for (int e = 0; e < EXAMPLE_COUNT; e++) {
        times[e] = (float)(e / EXAMPLE_FPS);
        for (int j = 0; j < JOINT_COUNT; j++) {
            bool moves = examples[e].joint == j;
            for (int k = 0; k < 3; k++)
                values[j][e][k] = moves ? (float)(joint_axes[j][k] * examples[e].half_sine) : 0.0f;
            values[j][e][3] = moves ? (float)examples[e].half_cosine : 1.0f;
        }
    }
    for (int j = 0; j < JOINT_COUNT; j++)
        channels[j] = (cutis_channel){ .node = nodes[j],
                                       .path = CUTIS_PATH_ROTATION,
                                       .key_count = EXAMPLE_COUNT,
                                       .times = times,
                                       .values = values[j][0] };
    if (data.clip_count) memcpy(clips, data.clips, data.clip_count * sizeof *clips);
    clips[data.clip_count++] =
        (cutis_clip){ .name = "examples", .channel_count = JOINT_COUNT, .channels = channels };
    data.clips = clips;
    cutis_result result = cutis_model_create(app->context, &data, CUTIS_GATE_REFUSE, out);
    free(clips);
    return result;
}

// Rest positions of one example: the arm's only primitive, bulged where `node`'s joint has weight.
static void bulge(const cutis_primitive *primitive, const cutis_skin *skin, uint32_t node,
                  double sine, float *positions)
{
    for (uint32_t v = 0; v < primitive->vertex_count; v++) {
        const float *normal = primitive->normals + 3 * (size_t)v;
        double weight = 0.0, front = normal[2] > 0.0f ? normal[2] : 0.0;
        for (uint32_t i = primitive->influences.first[v]; i < primitive->influences.first[v + 1];
             i++)
            if (skin->joints[primitive->influences.joints[i]] == node)
                weight += primitive->influences.weights[i];
        for (int k = 0; k < 3; k++)
            positions[3 * (size_t)v + k] += (float)(BULGE * sine * weight * front * normal[k]);
    }
}

// The model of one example, posed and deformed, into both sinks.
static int write_shape(cli_app *app, const cutis_model *model, cutis_device *device, int index,
                       const uint32_t *nodes, frame_sink *const sinks[2])
{
    cutis_model_data data = *cutis_model_get(model);
    cutis_mesh mesh = data.meshes[0];
    cutis_primitive primitive = mesh.primitives[0];
    OWN(cutis_model) *bulged = NULL;
    ENDS_BY(play_close) play p = { 0 };
    size_t bytes = 3 * sizeof(float) * (size_t)primitive.vertex_count;
    OWN_MEMORY float *positions = malloc(bytes);
    if (!positions) return app_fail_text(app, "examples: not enough memory");
    memcpy(positions, primitive.positions, bytes);
    if (examples[index].joint >= 0)
        bulge(&primitive, &data.skins[0], nodes[examples[index].joint], examples[index].sine,
              positions);
    primitive.positions = positions;
    mesh.primitives = &primitive;
    data.meshes = &mesh;
    TRY(app_result(app, "examples",
                   cutis_model_create(app->context, &data, CUTIS_GATE_REFUSE, &bulged)));
    const play_options options = { .clip = (int32_t)data.clip_count - 1,
                                   .batch = 1,
                                   .bind = { .normals = true } };
    TRY(play_open(app, "examples", bulged, device, &options, &p));
    TRY(app_result(app, "examples", play_frames(&p, (uint32_t)index, 1, EXAMPLE_FPS)));
    for (int k = 0; k < 2; k++) TRY(sink_add(sinks[k], p.positions, p.normals));
    return EXIT_GOOD;
}

static int write_shapes(cli_app *app, const cutis_model *model, const uint32_t *nodes,
                        const char *folder)
{
    char paths[2][4096];
    frame_sink *sinks[2] = { NULL, NULL };
    cutis_device *device = NULL;
    int status = app_make_folder(app, folder);
    snprintf(paths[0], sizeof paths[0], "%s/example.obj", folder);
    snprintf(paths[1], sizeof paths[1], "%s/examples.npy", folder);
    if (status == EXIT_GOOD)
        status = app_result(app, "cpu", cutis_device_create(app->context, NULL, &device));
    for (int k = 0; k < 2 && status == EXIT_GOOD; k++)
        status = sink_open(
            app, model,
            &(sink_options){ .path = paths[k], .frame_count = EXAMPLE_COUNT, .fps = EXAMPLE_FPS },
            &sinks[k]);
    for (int e = 0; e < EXAMPLE_COUNT && status == EXIT_GOOD; e++)
        status = write_shape(app, model, device, e, nodes, sinks);
    for (int k = 0; k < 2; k++) {
        if (status == EXIT_GOOD)
            status = sink_finish(sinks[k]);
        else
            sink_drop(sinks[k]);
    }
    cutis_device_destroy(device);
    return status;
}

// Replace *model (an arm) by one that also has the clip `examples`, and write the eight shapes into
// `folder`: example_0000.obj ... example_0007.obj and examples.npy, in world space of their poses
// (docs/spec/pose-space.md 11.14).
static int examples_write(cli_app *app, cutis_model **model, const char *folder)
{
    const cutis_model_data *data = cutis_model_get(*model);
    uint32_t nodes[JOINT_COUNT];
    cutis_model *extended = NULL;
    if (data->mesh_count != 1 || data->meshes[0].primitive_count != 1 || data->skin_count != 1 ||
        !data->meshes[0].primitives[0].normals)
        return app_fail_text(app, "examples: the arm is not one skinned mesh; please report it");
    for (int j = 0; j < JOINT_COUNT; j++)
        TRY(app_result(app, "examples", cutis_model_find_joint(*model, joint_names[j], &nodes[j])));
    TRY(app_result(app, "examples", add_clip(app, *model, nodes, &extended)));
    cutis_model_destroy(*model);
    *model = extended;
    return write_shapes(app, extended, nodes, folder);
}

// Options that only some bodies have.
static int check_body(cli_app *app, const cutis_synth_options *o)
{
    static const option_id family[] = { OPTION_KIND, OPTION_REST_POSE, OPTION_SCAN, OPTION_UNRIGGED,
                                        OPTION_TRUTH };
    bool crowd = o->body == CUTIS_BODY_CROWD, drawn = o->body == CUTIS_BODY_FAMILY;
    if (option_given(app, OPTION_SIZE) && drawn)
        return app_usage(app, "--size is not for family; --vertices N is");
    if (option_given(app, OPTION_SIZE) && o->vertex_count)
        return app_usage(app, "--size and --vertices exclude each other");
    if (!crowd && option_given(app, OPTION_COUNT)) return app_usage(app, "--count is for crowd");
    if (!crowd && !drawn && option_given(app, OPTION_SEED))
        return app_usage(app, "--seed is for crowd and family");
    if (option_given(app, OPTION_EXAMPLES) && o->body != CUTIS_BODY_ARM)
        return app_usage(app, "--examples is for arm");
    if (o->motions && o->body != CUTIS_BODY_BIPED && o->body != CUTIS_BODY_QUADRUPED)
        return app_usage(app, "--motions is for biped and quadruped");
    for (size_t i = 0; i < sizeof family / sizeof *family && !drawn; i++)
        if (option_given(app, family[i]))
            return app_usage(app, "--%s is for family", cli_options[family[i]].name);
    if (o->unrigged && (option_given(app, OPTION_WEIGHTS) || option_given(app, OPTION_INFLUENCES)))
        return app_usage(app,
                         "--unrigged writes no weights: --weights and --influences say nothing");
    return EXIT_GOOD;
}

static int read_options(cli_app *app, cutis_synth_options *out)
{
    const int kind = (int)option_choice(app, OPTION_KIND); // 0: auto, which is the first
    if (kind > CUTIS_FAMILY_KIND_COUNT)
        return app_usage(app, "--kind any is for rig: a body that is made has a kind");
    *out = (cutis_synth_options){
        .vertex_count = option_count(app, OPTION_VERTICES, 0),
        .seed = (uint64_t)option_number(app, OPTION_SEED, 0.0),
        .count = option_count(app, OPTION_COUNT, 0),
        .kind = (cutis_family_kind)(kind > 0 ? kind - 1 : 0),
        .pose = (cutis_family_pose)option_choice(app, OPTION_REST_POSE),
        .scan = (cutis_family_scan)option_choice(app, OPTION_SCAN),
        .unrigged = option_given(app, OPTION_UNRIGGED),
        .motions = option_given(app, OPTION_SYNTH_MOTIONS),
    };
    cutis_body_from_name(app->operands[0], &out->body); // the table lets only bodies through
    if (option_given(app, OPTION_SIZE))
        out->size = (cutis_body_size)(CUTIS_BODY_SIZE_LOW + option_choice(app, OPTION_SIZE));
    return check_body(app, out);
}

// A line for each triangle: the number of its part.
static int write_labels(cli_app *app, const cutis_model *model, const char *path)
{
    enum { LINE = 11 }; // a 32-bit number and its line end
    const cutis_primitive *p = cutis_model_get(model)->meshes[0].primitives;
    size_t count = p->index_count / 3, size = 0;
    char *text = malloc(count * LINE + 1);
    if (!text) return app_fail_text(app, "%s: not enough memory", path);
    for (size_t t = 0; t < count; t++)
        size += (size_t)snprintf(text + size, LINE + 1, "%u\n", (unsigned)p->parts[t]);
    cutis_result result = cutis_file_write(app->context, path, text, size);
    free(text);
    return app_result(app, path, result);
}

// The second file of a family: the same body with everything that is known about it.
static int write_truth(cli_app *app, const cutis_synth_options *options, const char *path)
{
    cutis_synth_options rigged = *options;
    OWN(cutis_model) *model = NULL;
    rigged.unrigged = false;
    TRY(app_result(app, app->operands[0], cutis_synth_create(app->context, &rigged, &model)));
    app_progress_done(app);
    return has_extension(path, ".seg") ? write_labels(app, model, path)
                                       : app_write_model(app, model, path);
}

// What is drawn from the seed, for a program.
static void report_family(json_out *json, const cutis_synth_options *options,
                          const cutis_model *model)
{
    static const char *const poses[] = { "auto", "a", "t", "sitting", "bent" };
    const cutis_model_data *data = cutis_model_get(model);
    cutis_synth_options o;
    if (cutis_family_resolve(options, &o) != CUTIS_OK) return;
    emit(json, "kind %s seed %ju pose %s scan %d joints %u parts [", cutis_family_kind_name(o.kind),
         (uintmax_t)o.seed, poses[o.pose], o.scan == CUTIS_FAMILY_SCAN_ON, count_joints(data));
    for (uint32_t i = 0; i < data->meshes[0].part_count; i++)
        emit_string(json, NULL, data->meshes[0].part_names[i]);
    emit(json, "]");
}

static void report(cli_app *app, const char *output, const cutis_synth_options *options,
                   const cutis_model *model)
{
    const cutis_model_data *data = cutis_model_get(model);
    bool family = options->body == CUTIS_BODY_FAMILY;
    app_say(app, "%s: %s, %u vertices, %ju triangles", output,
            family ? cutis_family_kind_name(options->kind) : app->operands[0],
            cutis_model_vertex_count(model), cutis_model_triangle_count(model));
    if (family && !options->unrigged)
        app_say(app, ", %u parts, %u joints", data->meshes[0].part_count, count_joints(data));
    uint32_t shown = data->clip_count < 8 ? data->clip_count : 8;
    if (shown) app_say(app, ", clips:");
    for (uint32_t c = 0; c < shown; c++)
        app_say(app, " %s", data->clips[c].name ? data->clips[c].name : "(no name)");
    app_say(app, shown < data->clip_count ? " ...\n" : "\n");
    if (!app->json) return;
    json_out json = { .file = stdout };
    emit(&json, "{ output %s body %s vertices %u triangles %ju clips [", output, app->operands[0],
         cutis_model_vertex_count(model), cutis_model_triangle_count(model));
    for (uint32_t c = 0; c < data->clip_count; c++) emit_string(&json, NULL, data->clips[c].name);
    emit(&json, "]");
    if (family) report_family(&json, options, model);
    emit(&json, "}");
}

int verb_synth(cli_app *app)
{
    const char *output, *folder = option_text(app, OPTION_EXAMPLES);
    const char *truth = option_text(app, OPTION_TRUTH);
    cutis_synth_options options;
    OWN(cutis_model) *model = NULL;
    TRY(read_options(app, &options));
    TRY(app_output(app, NULL, &output));
    TRY(app_check_writing(app, output));
    if (truth) TRY(app_check_output_as(app, "--truth", truth, ".glb .gltf .seg"));
    TRY(app_result(app, app->operands[0], cutis_synth_create(app->context, &options, &model)));
    app_progress_done(app);
    if (folder) TRY(examples_write(app, &model, folder));
    TRY(app_limit_influences(app, app->operands[0], &model));
    TRY(app_write_model(app, model, output));
    if (truth) TRY(write_truth(app, &options, truth));
    report(app, output, &options, model);
    return EXIT_GOOD;
}
