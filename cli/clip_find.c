/// --clip: a clip of the model by name or index, or one from another file.
#include "clip_find.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static bool is_file(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

// The clip file that `text` names: as it stands, or in the folder of the model, where Cal3D keeps
// them.
static bool find_file(const char *path, const char *text, char *out, size_t capacity)
{
    if (!has_extension(text, ".caf .xaf .bvh .gltf .glb")) return false;
    int length = snprintf(out, capacity, "%s", text);
    if (length > 0 && (size_t)length < capacity && is_file(out)) return true;
    const char *slash = strrchr(path, '/');
    if (!slash) return false;
    length = snprintf(out, capacity, "%.*s/%s", (int)(slash - path), path, text);
    return length > 0 && (size_t)length < capacity && is_file(out);
}

int clip_find_text(cli_app *app, const char *path, const char *text, cutis_model **model,
                   int32_t *clip)
{
    char file[4096];
    uint32_t index = 0;
    if (find_file(path, text, file, sizeof file)) {
        cutis_model *extended = NULL;
        cutis_result result = cutis_model_read_clip(*model, file, &extended);
        if (result != CUTIS_OK) return app_fail(app, file, result);
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
