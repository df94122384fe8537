/// The steps all verbs share: reading, devices, output checks.
#include "app.h"

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

/// Whether the verb reads another file than this one, which --up and its like may be meant for.
static bool reads_others(const cli_app *app)
{
    return app->batch || app->operand_count > 1 || option_given(app, OPTION_MOTION) ||
           option_given(app, OPTION_MOTIONS) || option_given(app, OPTION_SHAPES) ||
           option_given(app, OPTION_CAGE) || option_given(app, OPTION_CAGE_POSES);
}

int app_placement(cli_app *app, const char *path, cutis_read_options *out)
{
    static const cutis_up UPS[] = { CUTIS_UP_X, CUTIS_UP_Y, CUTIS_UP_Z, CUTIS_UP_AUTO };
    static const option_id IDS[] = { OPTION_SCALE, OPTION_UP, OPTION_UNITS };
    if (option_given(app, OPTION_SCALE) && option_given(app, OPTION_UNITS))
        return app_usage(app, "--scale and --units exclude each other");
    for (int i = 0; i < 3; i++)
        if (option_given(app, IDS[i]) && has_extension(path, ".gltf .glb .vrm") &&
            !reads_others(app))
            return app_usage(app, "--%s: %s has its own, y up and metres", cli_options[IDS[i]].name,
                             path);
    out->unit_scale = (float)option_number(app, OPTION_SCALE, 0.0);
    out->up = option_given(app, OPTION_UP) ? UPS[option_choice(app, OPTION_UP)] : CUTIS_UP_Y;
    out->units = (cutis_units)option_choice(app, OPTION_UNITS);
    return EXIT_GOOD;
}

/// What reading put right, for `notes` in --json; texts are ours.
enum { NOTES_MAX = 256 };
static _Thread_local struct {
    char *texts[4]; ///< file, code, place, text
    uint64_t count;
} notes[NOTES_MAX];
static _Thread_local uint32_t note_count;

static void emit_notes(json_out *json)
{
    emit_array(json, "notes");
    for (uint32_t i = 0; i < note_count; i++) {
        emit(json, "{ file %s code %s place %s text %s count %ju }", notes[i].texts[0],
             notes[i].texts[1], notes[i].texts[2], notes[i].texts[3], (uintmax_t)notes[i].count);
        for (int k = 0; k < 4; k++) free(notes[i].texts[k]);
    }
    emit_end(json);
    note_count = 0;
}

void app_forget_notes(void)
{
    for (uint32_t i = 0; i < note_count; i++)
        for (int k = 0; k < 4; k++) free(notes[i].texts[k]);
    note_count = 0;
    emit_at_end(NULL, NULL, NULL);
}

/// What every verb that has read a model says at the end of its JSON.
static void emit_reading(json_out *json, const void *user)
{
    static const char *const UPS[] = { "y", "x", "z" };
    const cli_app *app = user;
    emit_notes(json);
    if (app->guess_count == 0) return;
    emit_array(json, "guesses");
    for (uint32_t i = 0; i < app->guess_count; i++) {
        const cutis_read_guess *g = &app->guesses[i].guess;
        emit(json, "{ file %s", app->guesses[i].file);
        if (*g->up_reason) emit(json, "up %s up_reason %s", UPS[g->up], g->up_reason);
        if (*g->units_reason) {
            static const char *const UNITS[] = { "m", "cm", "mm", "in" };
            emit(json, "units %s units_reason %s", UNITS[g->units], g->units_reason);
        }
        emit_end(json);
    }
    emit_end(json);
}

/// What was guessed stays for the JSON; the library's log has told it on stderr.
static void keep_guess(cli_app *app, const char *path, const cutis_read_guess *guess)
{
    if ((!*guess->up_reason && !*guess->units_reason) || app->guess_count == APP_GUESSES) return;
    snprintf(app->guesses[app->guess_count].file, sizeof app->guesses[0].file, "%s", path);
    app->guesses[app->guess_count++].guess = *guess;
    emit_at_end(app->results ? app->results : stdout, emit_reading, app);
}

cutis_result app_read_as(cli_app *app, const char *path, cutis_read_options options,
                         cutis_model **out)
{
    cutis_read_guess guess = { 0 };
    options.guess = &guess;
    cutis_result result = cutis_model_read(app->context, path, &options, out);
    if (result == CUTIS_OK) keep_guess(app, path, &guess);
    return result;
}

/// Say once what was put right: a line for each kind of it.
static void tell_issues(cli_app *app, const char *path, const cutis_model *model)
{
    const cutis_issue *issues;
    const uint32_t count = cutis_model_issues(model, &issues);
    emit_at_end(app->results ? app->results : stdout, emit_reading, app);
    for (uint32_t i = 0; i < count; i++) {
        const char *texts[4] = { path, issues[i].code, issues[i].place, issues[i].text };
        char more[48] = "";
        if (issues[i].count > 1)
            snprintf(more, sizeof more, " (%ju of these)", (uintmax_t)issues[i].count);
        app_note(app, "%s: %s: %s%s [%s]", path, texts[2], texts[3], more, texts[1]);
        if (!app->json || note_count == NOTES_MAX) continue;
        notes[note_count].count = issues[i].count;
        for (int k = 0; k < 4; k++) notes[note_count].texts[k] = strdup(texts[k]);
        note_count++;
    }
}

static int read_model(cli_app *app, const char *path, bool keep_source, cutis_model **out)
{
    cutis_read_options options = {
        .gate = option_given(app, OPTION_FIX) ? CUTIS_GATE_REPAIR : CUTIS_GATE_REFUSE,
        .keep_source = keep_source,
    };
    if (has_extension(path, ".npy .pc2"))
        return app_fail_text(app, "%s: this is an array, not a model", path);
    TRY(app_placement(app, path, &options));
    cutis_result result = app_read_as(app, path, options, out);
    app_progress_done(app);
    if (result != CUTIS_OK) return app_fail(app, path, result);
    if (cutis_model_vertex_count(*out) && !cutis_model_triangle_count(*out) &&
        app->verb->run != verb_handles) // which take points gladly
        app_note(app, "%s: it has no faces", path);
    tell_issues(app, path, *out);
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
    if (!has_extension(path, ".obj .ply .stl") && !option_given(app, OPTION_TURNTABLE) &&
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

cutis_result app_try_write(cli_app *app, const cutis_model *model, const char *path)
{
    const cutis_write_options options = {
        .weights = app->weight_format ? *app->weight_format
                                      : (cutis_weight_format)option_choice(app, OPTION_WEIGHTS),
        .ascii = option_given(app, OPTION_ASCII),
        .compression = (cutis_compression)option_choice(app, OPTION_COMPRESS),
        .position_bits = option_count(app, OPTION_BITS, 0),
        .exact = option_given(app, OPTION_BITS) && option_count(app, OPTION_BITS, 0) == 0,
        .unneeded_nodes = app->unneeded_nodes,
        .report = &app->compressed,
    };
    app->compressed = (cutis_compression_report){ 0 };
    return cutis_model_write(model, path, &options);
}

int app_write_model(cli_app *app, const cutis_model *model, const char *path)
{
    return app_result(app, path, app_try_write(app, model, path));
}

int app_check_writing(cli_app *app, const char *path)
{
    if (option_given(app, OPTION_ASCII) && !has_extension(path, ".ply .stl"))
        return app_usage(app, "--ascii is for .ply and .stl");
    if (option_given(app, OPTION_WEIGHTS) && !has_extension(path, ".glb .gltf"))
        return app_usage(app, "--weights is for .glb and .gltf");
    if (option_given(app, OPTION_COMPRESS) && !has_extension(path, ".glb .gltf"))
        return app_usage(app, "--compress is for .glb and .gltf");
    if (option_given(app, OPTION_BITS) && !option_choice(app, OPTION_COMPRESS))
        return app_usage(app, "--bits is for --compress meshopt and draco");
    const uint32_t bits = option_count(app, OPTION_BITS, 0);
    if (bits && bits < 8)
        return app_usage(app, "--bits %u: 8 to 22, or 0: nothing is rounded", bits);
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
    // No verb takes as many as there is room for.
    const bool full = list->count == sizeof list->pieces / sizeof *list->pieces;
    void *piece = full ? NULL : calloc(count + 1, size);
    if (piece) list->pieces[list->count++] = piece;
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
