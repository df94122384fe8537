// Built by test_install.sh against an installed Cutis, as C and as C++: something of each library,
// and of what it stands on.
#include <cutis/cutis.h>
#include <cutis/io.h>
#include <cutis/render.h>
#include <cutis/skeleton.h>
#include <stdio.h>
#include <string.h>

static cutis_result try_all(cutis_context *context)
{
    cutis_model *body = NULL, *rigged = NULL;
    cutis_synth_options options;
    memset(&options, 0, sizeof options);
    options.body = CUTIS_BODY_CYLINDER;
    cutis_result result = cutis_synth_create(context, &options, &body);
    if (result == CUTIS_OK) result = cutis_skeleton_extract(body, NULL, &rigged, NULL);
    cutis_plot plot;
    memset(&plot, 0, sizeof plot);
    void *svg = NULL;
    size_t size = 0;
    if (result == CUTIS_OK) result = cutis_plot_svg(context, &plot, &svg, &size);
    if (result == CUTIS_OK) cutis_memory_free(context, svg, size);
    cutis_model_destroy(rigged);
    cutis_model_destroy(body);
    if (result == CUTIS_OK && cutis_context_memory(context) != 0) return CUTIS_INTERNAL;
    return result;
}

int main(int argc, char **argv)
{
    (void)argv;
    cutis_context *context = NULL;
    cutis_model *model = NULL;
    cutis_renderer *renderer = NULL;
    cutis_result result = cutis_context_create(NULL, &context);
    if (result != CUTIS_OK) return 1;
    result = try_all(context);
    if (argc > 1)
        cutis_renderer_create(context, &renderer); // linked, not run: it may have no driver here
    if (result != CUTIS_OK) fprintf(stderr, "%s\n", cutis_context_error(context));
    cutis_result missing = cutis_model_read(context, "no such file.glb", NULL, &model);
    // The error is set in one library and read from another.
    bool said = strstr(cutis_context_error(context), "no such file.glb") != NULL;
    printf("%s %s %s\n", cutis_version(), cutis_result_name(result), cutis_result_name(missing));
    cutis_renderer_destroy(renderer);
    cutis_context_destroy(context);
    if (cutis_version_number() != CUTIS_VERSION_NUMBER) return 2;
    return result == CUTIS_OK && missing == CUTIS_FILE_NOT_FOUND && said ? 0 : 1;
}
