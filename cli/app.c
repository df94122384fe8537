/// The steps all verbs share: reading, devices, output checks.
#include "app.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

bool has_extension(const char *path, const char *list)
{
    const char *dot = strrchr(path, '.');
    size_t span;
    if (!dot || strchr(dot, '/')) return false;
    for (const char *word; (word = next_entry(&list, " ", &span));)
        if (span == strlen(dot) && strncasecmp(word, dot, span) == 0) return true;
    return false;
}

uint64_t array_size(const cutis_array *array)
{
    uint64_t total = 1;
    for (uint32_t i = 0; i < array->dimension_count; i++) total *= array->dimensions[i];
    return total;
}

uint32_t count_joints(const cutis_model_data *data)
{
    uint32_t count = 0;
    bool *seen = calloc(data->node_count ? data->node_count : 1, sizeof *seen);
    if (!seen) return 0;
    for (uint32_t s = 0; s < data->skin_count; s++)
        for (uint32_t j = 0; j < data->skins[s].joint_count; j++) {
            uint32_t node = data->skins[s].joints[j];
            count += !seen[node];
            seen[node] = true;
        }
    free(seen);
    // A skeleton without a skin, such as a BVH: all its nodes move.
    return data->skin_count == 0 && data->mesh_count == 0 ? data->node_count : count;
}

static int read_model(cli_app *app, const char *path, bool keep_source, cutis_model **out)
{
    cutis_read_options options = {
        .gate = option_given(app, OPTION_FIX) ? CUTIS_GATE_REPAIR : CUTIS_GATE_REFUSE,
        .unit_scale = (float)option_number(app, OPTION_SCALE, 0.0),
        .keep_source = keep_source,
    };
    if (has_extension(path, ".npy .pc2"))
        return app_fail_text(app, "%s: this is an array, not a model", path);
    if (option_given(app, OPTION_SCALE) && has_extension(path, ".gltf .glb"))
        return app_usage(app, "--scale: %s has its own unit, the metre", path);
    cutis_result result = cutis_model_read(app->context, path, &options, out);
    app_progress_done(app);
    if (result != CUTIS_OK) return app_fail(app, path, result);
    if (cutis_model_vertex_count(*out) && !cutis_model_triangle_count(*out) &&
        app->verb->run != verb_handles) // which take points gladly
        app_note(app, "%s: it has no faces", path);
    const cutis_issue *issues;
    uint32_t repairs = cutis_model_issues(*out, &issues);
    if (repairs > 0)
        app_note(app, "%s: %u repair%s; the first: %s: %s", path, repairs, repairs == 1 ? "" : "s",
                 issues[0].place, issues[0].text);
    return EXIT_GOOD;
}

int app_read_model(cli_app *app, const char *path, cutis_model **out)
{
    const char *output = option_text(app, OPTION_OUTPUT);
    return read_model(app, path, output && has_extension(output, ".gltf .glb .vrm"), out);
}

int app_read_source(cli_app *app, const char *path, cutis_model **out)
{
    return read_model(app, path, true, out);
}

int app_check_output(cli_app *app, const char *path)
{
    char folder[4096];
    struct stat info;
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) : 0;
    if (length >= sizeof folder) return app_fail_text(app, "%s: the name is too long", path);
    memcpy(folder, path, length);
    folder[length] = 0;
    if (!slash) strcpy(folder, ".");
    if (slash == path) strcpy(folder, "/");
    if (stat(folder, &info) != 0 || !S_ISDIR(info.st_mode))
        return app_fail_text(app, "%s: the folder %s does not exist", path, folder);
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode))
        return app_fail_text(app, "%s: this is a folder; name a file in it", path);
    // The library would say so too, but after the work. Meshes and pictures may get numbered names.
    if (!has_extension(path, ".obj .ply") && !option_given(app, OPTION_TURNTABLE) &&
        !option_given(app, OPTION_FORCE) && stat(path, &info) == 0 &&
        (!(info.st_mode & 0222) || access(path, W_OK) != 0))
        return app_fail_text(app, "%s: the file is read-only; --force replaces it", path);
    return EXIT_GOOD;
}

int app_check_output_as(cli_app *app, const char *option, const char *path, const char *endings)
{
    char text[128] = "";
    if (has_extension(path, endings)) return app_check_output(app, path);
    size_t span, used;
    for (const char *left = endings, *word; (word = next_entry(&left, " ", &span));) {
        used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%.*s",
                 !used   ? ""
                 : *left ? ", "
                         : " or ",
                 (int)span, word);
    }
    return app_usage(app, "%s %s: want a name that ends in %s", option, path, text);
}

int app_output(cli_app *app, const char *endings, const char **out)
{
    *out = option_text(app, OPTION_OUTPUT);
    if (!*out) return app_usage(app, "-o FILE is missing: where should the result go?");
    return endings ? app_check_output_as(app, "-o", *out, endings) : app_check_output(app, *out);
}

int app_write_model(cli_app *app, const cutis_model *model, const char *path)
{
    const cutis_write_options options = {
        .weights = (cutis_weight_format)option_choice(app, OPTION_WEIGHTS),
        .ascii = option_given(app, OPTION_ASCII),
    };
    return app_result(app, path, cutis_model_write(model, path, &options));
}

int app_check_writing(cli_app *app, const char *path)
{
    if (option_given(app, OPTION_ASCII) && !has_extension(path, ".ply"))
        return app_usage(app, "--ascii is for .ply");
    if (option_given(app, OPTION_WEIGHTS) && !has_extension(path, ".glb .gltf"))
        return app_usage(app, "--weights is for .glb and .gltf");
    return EXIT_GOOD;
}

int app_limit_influences(cli_app *app, const char *path, cutis_model **model)
{
    cutis_model *limited = NULL;
    if (!option_given(app, OPTION_INFLUENCES)) return EXIT_GOOD;
    TRY(app_result(app, path,
                   cutis_weights_limit(*model, option_count(app, OPTION_INFLUENCES, 0), &limited)));
    cutis_model_destroy(*model);
    *model = limited;
    return EXIT_GOOD;
}

int app_device_options(cli_app *app, cutis_device_options *out)
{
    const char *text = option_text(app, OPTION_DEVICE), *isa = option_text(app, OPTION_ISA);
    *out = (cutis_device_options){ .thread_count = option_count(app, OPTION_THREADS, 0) };
    if (text) {
        size_t length = strcspn(text, ":");
        bool found = false;
#define DEVICE(id, name, number) #name ", "
#define DEVICES                  CUTIS_DEVICES(DEVICE)
#define IS_KIND(id, name, number)                                                                  \
    if (length == strlen(#name) && strncmp(text, #name, length) == 0)                              \
        out->kind = CUTIS_DEVICE_##id, found = true;
        CUTIS_DEVICES(IS_KIND)
        char *end = NULL;
        unsigned long index = text[length] ? strtoul(text + length + 1, &end, 10) : 0;
        if (end && (*end || text[length + 1] < '0' || text[length + 1] > '9' || index > 1000))
            found = false;
        if (!found)
            return app_usage(app, "--device %s: want " DEVICES "or one with its number, cuda:1",
                             text);
        out->index = (uint32_t)index;
    }
    for (int i = CUTIS_ISA_AUTO; isa && i <= CUTIS_ISA_WASM; i++)
        if (strcmp(isa, cutis_isa_name((cutis_isa)i)) == 0) out->isa = (cutis_isa)i;
    if (out->kind != CUTIS_DEVICE_CPU && (isa || out->thread_count))
        return app_usage(app, "--isa and --threads are for the device cpu");
    return EXIT_GOOD;
}

int app_open_device(cli_app *app, cutis_device **out)
{
    cutis_device_options options;
    TRY(app_device_options(app, &options));
    cutis_result result = cutis_device_create(app->context, &options, out);
    if (result == CUTIS_OK) return EXIT_GOOD;
    const char *name = option_text(app, OPTION_DEVICE);
    return app_fail(app, name ? name : "cpu", result);
}

int app_make_folder(cli_app *app, const char *path)
{
    char partial[4096];
    size_t length = strlen(path);
    struct stat info;
    if (length == 0 || length >= sizeof partial)
        return app_fail_text(app, "%s: not a name for a folder", path);
    for (size_t i = 1; i <= length; i++) {
        if (path[i] != '/' && path[i] != 0) continue;
        memcpy(partial, path, i);
        partial[i] = 0;
        if (mkdir(partial, 0777) != 0 && errno != EEXIST)
            return app_fail_text(app, "%s: the folder cannot be made: %s", partial,
                                 strerror(errno));
    }
    if (stat(path, &info) != 0 || !S_ISDIR(info.st_mode))
        return app_fail_text(app, "%s: this is not a folder", path);
    return EXIT_GOOD;
}

void *memory_take(memory_list *list, size_t count, size_t size)
{
    void *piece = calloc(count + 1, size);
    assert(list->count < sizeof list->pieces / sizeof *list->pieces);
    list->pieces[list->count++] = piece;
    list->failed |= !piece;
    return piece;
}

void memory_release(memory_list *list)
{
    for (uint32_t i = 0; i < list->count; i++) free(list->pieces[i]);
    *list = (memory_list){ 0 };
}

void emit_bounds(json_out *json, const char *key, cutis_bounds bounds)
{
    emit_object(json, key);
    emit(json, "min [ %g %g %g ] max [ %g %g %g ] }", bounds.min.x, bounds.min.y, bounds.min.z,
         bounds.max.x, bounds.max.y, bounds.max.z);
}
