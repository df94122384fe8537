/// --clip: a clip of the model by name or index, or one from another file.
#include "clip_find.h"

#include <sys/stat.h>

static bool is_clip_file(const char *text)
{
    struct stat info;
    return has_extension(text, ".caf .xaf .bvh .gltf .glb") && stat(text, &info) == 0;
}

int clip_find_text(cli_app *app, const char *path, const char *text, cutis_model **model,
                   int32_t *clip)
{
    uint32_t index = 0;
    if (is_clip_file(text)) {
        cutis_model *extended = NULL;
        cutis_result result = cutis_model_read_clip(*model, text, &extended);
        if (result != CUTIS_OK) return app_fail(app, text, result);
        cutis_model_destroy(*model);
        *model = extended;
        index = cutis_model_get(extended)->clip_count - 1;
    } else {
        cutis_result result = cutis_model_find_clip(*model, text, &index);
        if (result != CUTIS_OK) return app_fail(app, path, result);
    }
    *clip = (int32_t)index;
    return EXIT_GOOD;
}

int clip_find(cli_app *app, const char *path, cutis_model **model, int32_t *clip)
{
    const char *text = option_text(app, OPTION_CLIP);
    *clip = CUTIS_NONE;
    if (!text) return EXIT_GOOD;
    if (option_given(app, OPTION_POSE))
        return app_usage(app, "--clip and --pose exclude each other");
    return clip_find_text(app, path, text, model, clip);
}
