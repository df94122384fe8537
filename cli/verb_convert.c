/// cutis convert: read one format, write another.
#include "app.h"

#include <string.h>

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
    int status = app_output(app, NULL, &output);
    if (status == EXIT_GOOD) status = app_check_writing(app, output);
    if (status == EXIT_GOOD) status = app_read_model(app, path, &model);
    if (status == EXIT_GOOD) status = add_clip(app, &model);
    if (status == EXIT_GOOD) status = app_limit_influences(app, path, &model);
    if (status == EXIT_GOOD) status = app_write_model(app, model, output);
    if (status == EXIT_GOOD) {
        app_say(app, "%s: %u vertices, %ju triangles, %u clips\n", output,
                cutis_model_vertex_count(model), cutis_model_triangle_count(model),
                cutis_model_get(model)->clip_count);
        if (app->json)
            emit(&(json_out){ .file = stdout }, "{ file %s output %s vertices %u triangles %ju }",
                 path, output, cutis_model_vertex_count(model), cutis_model_triangle_count(model));
    }
    cutis_model_destroy(model);
    return status;
}
