/// cutis synth: a character made by code.
#include "convert.h"
#include "examples.h"

#include <string.h>

static int read_options(cli_app *app, cutis_synth_options *out)
{
    const char *size = option_text(app, OPTION_SIZE);
    *out = (cutis_synth_options){ .vertex_count = option_count(app, OPTION_VERTICES, 0),
                                  .seed = (uint64_t)option_number(app, OPTION_SEED, 0.0),
                                  .count = option_count(app, OPTION_COUNT, 0) };
    cutis_body_from_name(app->operands[0], &out->body); // the table lets only bodies through
    if (size)
        out->size = strcmp(size, "low") == 0   ? CUTIS_BODY_SIZE_LOW
                    : strcmp(size, "mid") == 0 ? CUTIS_BODY_SIZE_MID
                                               : CUTIS_BODY_SIZE_HIGH;
    if (size && out->vertex_count)
        return app_usage(app, "--size and --vertices exclude each other");
    bool crowd = out->body == CUTIS_BODY_CROWD;
    if (!crowd && (option_given(app, OPTION_SEED) || option_given(app, OPTION_COUNT)))
        return app_usage(app, "--seed and --count are for crowd");
    if (option_given(app, OPTION_EXAMPLES) && out->body != CUTIS_BODY_ARM)
        return app_usage(app, "--examples is for arm");
    return EXIT_GOOD;
}

static void report(cli_app *app, const char *output, const cutis_model *model)
{
    const cutis_model_data *data = cutis_model_get(model);
    app_say(app, "%s: %s, %u vertices, %llu triangles, clips:", output, app->operands[0],
            cutis_model_vertex_count(model), (unsigned long long)cutis_model_triangle_count(model));
    uint32_t shown = data->clip_count < 8 ? data->clip_count : 8;
    for (uint32_t c = 0; c < shown; c++)
        app_say(app, " %s", data->clips[c].name ? data->clips[c].name : "(no name)");
    app_say(app, shown < data->clip_count ? " ...\n" : "\n");
    if (!app->json) return;
    json_out json = { .file = stdout };
    emit_object(&json, NULL);
    emit_string(&json, "output", output);
    emit_string(&json, "body", app->operands[0]);
    emit_count(&json, "vertices", cutis_model_vertex_count(model));
    emit_count(&json, "triangles", cutis_model_triangle_count(model));
    emit_array(&json, "clips");
    for (uint32_t c = 0; c < data->clip_count; c++) emit_string(&json, NULL, data->clips[c].name);
    emit_end(&json);
    emit_end(&json);
}

int verb_synth(cli_app *app)
{
    const char *output, *folder = option_text(app, OPTION_EXAMPLES);
    cutis_synth_options options;
    cutis_model *model = NULL;
    int status = read_options(app, &options);
    if (status == EXIT_GOOD) status = app_output(app, &output);
    if (status == EXIT_GOOD) status = check_write_options(app, output);
    if (status != EXIT_GOOD) return status;
    cutis_result result = cutis_synth_create(app->context, &options, &model);
    app_progress_done(app);
    if (result != CUTIS_OK) return app_fail(app, app->operands[0], result);
    if (folder) status = examples_write(app, &model, folder);
    if (status == EXIT_GOOD) status = limit_influences(app, app->operands[0], &model);
    if (status == EXIT_GOOD) {
        cutis_write_options writing = write_options(app);
        result = cutis_model_write(model, output, &writing);
        if (result != CUTIS_OK) status = app_fail(app, output, result);
    }
    if (status == EXIT_GOOD) report(app, output, model);
    cutis_model_destroy(model);
    return status;
}
