/// cutis convert: read one format, write another.
#include "app.h"
#include "batch.h"
#include "play.h"
#include "rest_shape.h"

#include <math.h>
#include <string.h>

// --clip: one from a file is added. A BVH holds one, which may be the model's too; elsewhere that
// would take the others away, and with them what the source says of them.
static int choose_clip(cli_app *app, const char *path, const char *output, cutis_model **model)
{
    const uint32_t before = cutis_model_get(*model)->clip_count;
    int32_t clip = CUTIS_NONE;
    int status = clip_find(app, path, model, &clip);
    if (status != EXIT_GOOD || clip == CUTIS_NONE) return status;
    cutis_model_data data = *cutis_model_get(*model);
    if (!has_extension(output, ".bvh"))
        return data.clip_count > before
                   ? EXIT_GOOD
                   : app_usage(app,
                               "--clip %s: a clip of the model is chosen for .bvh alone; "
                               "a file adds its clip",
                               option_text(app, OPTION_CLIP));
    cutis_model *chosen = NULL;
    data.clips += clip, data.clip_count = 1;
    cutis_result result = cutis_model_create(app->context, &data, CUTIS_GATE_REFUSE, &chosen);
    if (result != CUTIS_OK) return app_fail(app, path, result);
    cutis_model_destroy(*model);
    *model = chosen;
    return EXIT_GOOD;
}

// --drivers: tracks for players without them; drop: nothing else.
static int choose_drivers(cli_app *app, const char *path, cutis_model **model)
{
    const int how = option_choice(app, OPTION_CONVERT_DRIVERS);
    cutis_model *next = NULL;
    if (how == 0 || !cutis_model_get(*model)->drivers) return EXIT_GOOD;
    TRY(app_result(app, path, cutis_clips_drive(*model, 0, CUTIS_DRIVE_RESTING, 0, &next)));
    cutis_model_destroy(*model);
    *model = next;
    if (how == 1) return EXIT_GOOD;
    cutis_model_data data = *cutis_model_get(*model);
    data.drivers = NULL;
    TRY(app_result(app, path, cutis_model_create(app->context, &data, CUTIS_GATE_REFUSE, &next)));
    cutis_model_destroy(*model);
    *model = next;
    return EXIT_GOOD;
}

static const double UNPOSED = 1e-3; // of the mesh: nearer, it is rounding

/// What of a model is in the file that was made of it.
typedef struct {
    uint32_t vertices, joints, clips;
    uintmax_t triangles;
    char lost[128]; ///< what its format cannot hold; empty: nothing
} written;

static void lose(written *w, uint32_t count, const char *one, const char *many)
{
    const size_t used = strlen(w->lost);
    if (count)
        snprintf(w->lost + used, sizeof w->lost - used, "%s%u %s", used ? ", " : "", count,
                 count == 1 ? one : many);
}

static written look_at_written(const cutis_model *model, const char *output)
{
    const cutis_model_data *data = cutis_model_get(model);
    const bool motion = has_extension(output, ".bvh"),
               mesh = has_extension(output, ".obj .ply .stl");
    written w = { .vertices = motion ? 0 : cutis_model_vertex_count(model),
                  .triangles = motion ? 0 : cutis_model_triangle_count(model),
                  .clips = mesh                             ? 0
                           : motion && data->clip_count > 1 ? 1
                                                            : data->clip_count };
    const uint32_t joints = count_joints(data);
    w.joints = mesh ? 0 : joints;
    lose(&w, motion ? cutis_model_vertex_count(model) : 0, "vertex", "vertices");
    lose(&w, mesh ? joints : 0, "joint", "joints");
    lose(&w, data->clip_count - w.clips, "clip", "clips");
    return w;
}

static double apart_of(const float *a, const float *b)
{
    const double x = (double)a[0] - b[0], y = (double)a[1] - b[1], z = (double)a[2] - b[2];
    return sqrt(x * x + y * y + z * z);
}

// Formats without joints get a skinned mesh as its file has it. Where that is another size or place
// than the one at rest (a rig in centimetres, quantised positions), it is said.
static int note_unposed(cli_app *app, const char *path, const char *output,
                        const cutis_model *model)
{
    const cutis_instance *instances;
    const uint32_t count = cutis_model_instances(model, &instances);
    ENDS_BY(rest_shape_release) rest_shape rest = { 0 };
    double worst = 0, size = 0;
    bool skinned = false;
    for (uint32_t i = 0; i < count; i++) skinned |= instances[i].skin != CUTIS_NONE;
    if (!skinned || !has_extension(output, ".obj .ply .stl")) return EXIT_GOOD;
    TRY(rest_shape_make(app, path, model, &rest));
    OWN_MEMORY float *file = malloc(3 * sizeof *file * ((size_t)rest.vertex_count + 1));
    if (!file) return app_fail_text(app, "%s: not enough memory", path);
    cutis_model_file_positions(model, file);
    for (uint32_t i = 0; i < count; i++)
        for (size_t v = 0; v < instances[i].vertex_count && instances[i].skin != CUTIS_NONE; v++) {
            const size_t first = 3 * (size_t)instances[i].vertex_first, at = first + 3 * v;
            worst = fmax(worst, apart_of(rest.positions + at, file + at));
            size = fmax(size, apart_of(rest.positions + first, rest.positions + at));
        }
    if (worst > UNPOSED * size)
        app_note(app,
                 "%s: skinned meshes are written as the file has them, not where joints and morph "
                 "targets put them at rest: `cutis deform %s -o %s` writes that",
                 output, path, output);
    return EXIT_GOOD;
}

/// How far positions were moved: in millimetres where the model's unit is the metre.
static void say_compressed(cli_app *app)
{
    const cutis_compression_report *c = &app->compressed;
    if (!c->bytes_before) return;
    app_say(app, "%s: %ju bytes of %ju; ", option_text(app, OPTION_COMPRESS),
            (uintmax_t)c->bytes_after, (uintmax_t)c->bytes_before);
    if (c->position_error > 0)
        app_say(app, "a vertex moves by at most %.3g mm, %.2g %% of its mesh's diagonal\n",
                1000 * c->position_error, 100 * c->relative_error);
    else
        app_say(app, "no vertex moves\n");
}

static void print_json(cli_app *app, const char *path, const char *output, const written *w)
{
    const cutis_compression_report *c = &app->compressed;
    json_out out = { .file = app->results ? app->results : stdout };
    emit(&out, "{ file %s output %s vertices %u triangles %ju joints %u clips %u lost %s", path,
         output, w->vertices, w->triangles, w->joints, w->clips, w->lost);
    if (c->bytes_before)
        emit(&out,
             "compression { how %s position_error %g relative_error %g bytes_before %ju "
             "bytes_after %ju }",
             option_text(app, OPTION_COMPRESS), c->position_error, c->relative_error,
             (uintmax_t)c->bytes_before, (uintmax_t)c->bytes_after);
    emit(&out, "}");
}

int verb_convert(cli_app *app)
{
    const char *path = app->operands[0], *output;
    cutis_model *model = NULL;
    if (batch_wanted(app)) {
        if (!option_given(app, OPTION_TO) || !option_given(app, OPTION_OUTPUT))
            return app_usage(app, "many files need --to FORMAT -o FOLDER");
        char name[16];
        snprintf(name, sizeof name, "a.%s", option_text(app, OPTION_TO));
        TRY(app_check_writing(app, name));
        return batch_run(app, verb_convert);
    }
    int status = app_output(app, NULL, &output);
    if (status == EXIT_GOOD) status = app_check_writing(app, output);
    if (status == EXIT_GOOD) status = app_read_model(app, path, &model);
    if (status == EXIT_GOOD) status = choose_clip(app, path, output, &model);
    if (status == EXIT_GOOD) status = choose_drivers(app, path, &model);
    if (status == EXIT_GOOD) status = app_limit_influences(app, path, &model);
    if (status == EXIT_GOOD) status = app_write_model(app, model, output);
    if (status == EXIT_GOOD) {
        const written w = look_at_written(model, output);
        char shown[4096];
        snprintf(shown, sizeof shown, "%s", output);
        app_clean(shown);
        app_say(app, "%s: %u vertices, %ju triangles, %u joints, %u clip%s\n", shown, w.vertices,
                w.triangles, w.joints, w.clips, w.clips == 1 ? "" : "s");
        if (w.lost[0]) app_note(app, "%s: its format cannot hold %s", output, w.lost);
        status = note_unposed(app, path, output, model);
        say_compressed(app);
        if (app->json) print_json(app, path, output, &w);
    }
    cutis_model_destroy(model);
    return status;
}
