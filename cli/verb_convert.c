/// cutis convert: read one format, write another.
#include "convert.h"

#include <string.h>

cutis_write_options write_options(const cli_app *app)
{
    const char *weights = option_text(app, OPTION_WEIGHTS);
    cutis_write_options options = { .ascii = option_given(app, OPTION_ASCII) };
    if (weights && strcmp(weights, "u16") == 0) options.weights = CUTIS_WEIGHTS_U16;
    if (weights && strcmp(weights, "u8") == 0) options.weights = CUTIS_WEIGHTS_U8;
    return options;
}

int check_write_options(cli_app *app, const char *output)
{
    if (option_given(app, OPTION_ASCII) && !has_extension(output, ".ply"))
        return app_usage(app, "--ascii is for .ply");
    if (option_given(app, OPTION_WEIGHTS) && !has_extension(output, ".glb .gltf"))
        return app_usage(app, "--weights is for .glb and .gltf");
    return EXIT_GOOD;
}

int limit_influences(cli_app *app, const char *path, cutis_model **model)
{
    cutis_model *limited = NULL;
    if (!option_given(app, OPTION_INFLUENCES)) return EXIT_GOOD;
    cutis_result result =
        cutis_weights_limit(*model, option_count(app, OPTION_INFLUENCES, 0), &limited);
    if (result != CUTIS_OK) return app_fail(app, path, result);
    cutis_model_destroy(*model);
    *model = limited;
    return EXIT_GOOD;
}

static int add_clip(cli_app *app, cutis_model **model)
{
    const char *clip = option_text(app, OPTION_CLIP);
    cutis_model *extended = NULL;
    if (!clip) return EXIT_GOOD;
    cutis_result result = cutis_model_read_clip(*model, clip, &extended);
    if (result != CUTIS_OK) return app_fail(app, clip, result);
    cutis_model_destroy(*model);
    *model = extended;
    return EXIT_GOOD;
}

int verb_convert(cli_app *app)
{
    const char *path = app->operands[0], *output;
    cutis_model *model = NULL;
    int status = app_output(app, &output);
    if (status == EXIT_GOOD) status = check_write_options(app, output);
    if (status == EXIT_GOOD) status = app_read_model(app, path, &model);
    if (status == EXIT_GOOD) status = add_clip(app, &model);
    if (status == EXIT_GOOD) status = limit_influences(app, path, &model);
    if (status == EXIT_GOOD) {
        cutis_write_options options = write_options(app);
        cutis_result result = cutis_model_write(model, output, &options);
        if (result != CUTIS_OK) status = app_fail(app, output, result);
    }
    if (status == EXIT_GOOD) {
        app_say(app, "%s: %u vertices, %llu triangles, %u clips\n", output,
                cutis_model_vertex_count(model),
                (unsigned long long)cutis_model_triangle_count(model),
                cutis_model_get(model)->clip_count);
        if (app->json) {
            json_out json = { .file = stdout };
            emit_object(&json, NULL);
            emit_string(&json, "file", path);
            emit_string(&json, "output", output);
            emit_count(&json, "vertices", cutis_model_vertex_count(model));
            emit_count(&json, "triangles", cutis_model_triangle_count(model));
            emit_end(&json);
        }
    }
    cutis_model_destroy(model);
    return status;
}
