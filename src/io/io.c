// The entry points of cutis-io: which format a file is, whole files, and who reads and writes what.
// Invariant: a reader only ever sees bytes in memory; files are opened here (or below the asset's
// folder by the reader).
#include "io/format.h"
#include "io/text.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/os/os.h"
#include "base/path.h"
#include "io/gltf/gltf.h"
#include "io/place.h"
#include "model/report.h"

static const struct {
    const char *end;
    cutis_format format;
} NAMES[] = {
    { ".gltf", CUTIS_FORMAT_GLTF }, { ".glb", CUTIS_FORMAT_GLB },   { ".vrm", CUTIS_FORMAT_GLB },
    { ".obj", CUTIS_FORMAT_OBJ },   { ".ply", CUTIS_FORMAT_PLY },   { ".bvh", CUTIS_FORMAT_BVH },
    { ".cfg", CUTIS_FORMAT_CAL3D }, { ".csf", CUTIS_FORMAT_CAL3D }, { ".cmf", CUTIS_FORMAT_CAL3D },
    { ".caf", CUTIS_FORMAT_CAL3D }, { ".xsf", CUTIS_FORMAT_CAL3D }, { ".xmf", CUTIS_FORMAT_CAL3D },
    { ".xaf", CUTIS_FORMAT_CAL3D }, { ".npy", CUTIS_FORMAT_NPY },   { ".pc2", CUTIS_FORMAT_PC2 },
    { ".off", CUTIS_FORMAT_OFF },   { ".stl", CUTIS_FORMAT_STL },
};

cutis_format cutis_format_of_name(const char *path)
{
    size_t size = strlen(path);
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        size_t end = strlen(NAMES[i].end);
        if (size < end) continue;
        if (cutis_span_is_any_case((cutis_span){ path + size - end, end }, NAMES[i].end))
            return NAMES[i].format;
    }
    return CUTIS_FORMAT_AUTO;
}

static bool starts(const char *data, size_t size, const char *magic, size_t length)
{
    return size >= length && memcmp(data, magic, length) == 0;
}

// OBJ has no magic: its first statement must be one that only OBJ has.
static bool looks_like_obj(cutis_text text)
{
    static const char *const WORDS[] = { "v", "vt", "vn", "f", "o", "g", "mtllib", "usemtl", "s" };
    for (int lines = 0; lines < 1000; lines++) {
        cutis_span word = cutis_text_token(&text);
        for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++)
            if (cutis_span_is(word, WORDS[i])) return true;
        if (word.size && word.data[0] != '#') return false;
        cutis_text_rest(&text);
        if (!cutis_text_next_line(&text)) return false;
    }
    return false;
}

// [ST][C][N][4][n]OFF, and counts may stand right behind it.
static bool looks_like_off(cutis_span word)
{
    size_t at = 0;
    while (at < word.size && strchr("STCN4n", word.data[at]) && word.data[at]) at++;
    if (word.size - at < 3 || memcmp(word.data + at, "OFF", 3) != 0) return false;
    return word.size == at + 3 || (word.data[at + 3] >= '0' && word.data[at + 3] <= '9');
}

cutis_format cutis_format_of_content(const char *data, size_t size)
{
    if (starts(data, size, "glTF", 4)) return CUTIS_FORMAT_GLB;
    if (starts(data, size, "\x93NUMPY", 6)) return CUTIS_FORMAT_NPY;
    if (starts(data, size, "POINTCACHE2", 12)) return CUTIS_FORMAT_PC2;
    if (starts(data, size, "ply\n", 4) || starts(data, size, "ply\r", 4)) return CUTIS_FORMAT_PLY;
    if (starts(data, size, "CSF", 4) || starts(data, size, "CMF", 4) ||
        starts(data, size, "CAF", 4))
        return CUTIS_FORMAT_CAL3D;
    cutis_text text = cutis_text_begin(data, size);
    cutis_span word = cutis_text_word(&text);
    if (word.size && word.data[0] == '{') return CUTIS_FORMAT_GLTF;
    if (word.size && word.data[0] == '<') return CUTIS_FORMAT_CAL3D;
    if (cutis_span_is_any_case(word, "HIERARCHY")) return CUTIS_FORMAT_BVH;
    if (cutis_stl_is_binary(data, size) || cutis_stl_is_text(data, size)) return CUTIS_FORMAT_STL;
    if (looks_like_off(word)) return CUTIS_FORMAT_OFF;
    if (looks_like_obj(cutis_text_begin(data, size))) return CUTIS_FORMAT_OBJ;
    return CUTIS_FORMAT_AUTO;
}

char *cutis_stem(struct cutis_arena *arena, const char *path)
{
    const char *start = cutis_path_name(path);
    const char *dot = strrchr(start, '.');
    size_t size = dot && dot != start ? (size_t)(dot - start) : strlen(start);
    if (size == 0) return cutis_arena_string(arena, "model");
    return cutis_arena_format(arena, "%.*s", (int)(size < 4096 ? size : 4096), start);
}

cutis_result cutis_text_bad(const cutis_input *input, const cutis_text *text, const char *reason,
                            cutis_span what)
{
    return cutis_fail(input->context, CUTIS_CORRUPT_DATA, "%s: line %zu: %s%s%.*s%s", input->name,
                      text->line, reason, what.size ? " '" : "", CUTIS_SPAN_SHOW(what),
                      what.size ? "'" : "");
}

/// What the caller, the content or the name says, in this order; CUTIS_FORMAT_GLTF for a GLB too.
static cutis_format choose_format(const cutis_input *input, const cutis_read_options *options)
{
    cutis_format format = options ? options->format : CUTIS_FORMAT_AUTO;
    if (format == CUTIS_FORMAT_AUTO) format = cutis_format_of_content(input->data, input->size);
    if (format == CUTIS_FORMAT_AUTO || format == CUTIS_FORMAT_OBJ) {
        // What OBJ statements look like is weak evidence; a name that says something else wins.
        cutis_format named = cutis_format_of_name(input->name);
        if (!options || options->format == CUTIS_FORMAT_AUTO)
            format = named != CUTIS_FORMAT_AUTO ? named : format;
    }
    return format == CUTIS_FORMAT_GLB ? CUTIS_FORMAT_GLTF : format;
}

static cutis_result read_input(cutis_input *input, const cutis_read_options *options,
                               cutis_model **out)
{
    input->format = choose_format(input, options);
    if (input->guess) *input->guess = (cutis_read_guess){ 0 };
    switch (input->format) {
    case CUTIS_FORMAT_GLTF:
        return cutis_gltf_read(input, options, out);
    case CUTIS_FORMAT_OBJ:
        return cutis_obj_read(input, out);
    case CUTIS_FORMAT_PLY:
        return cutis_ply_read(input, out);
    case CUTIS_FORMAT_OFF:
        return cutis_off_read(input, out);
    case CUTIS_FORMAT_STL:
        return cutis_stl_read(input, out);
    case CUTIS_FORMAT_BVH:
        return cutis_bvh_read(input, out);
    case CUTIS_FORMAT_CAL3D:
        return cutis_cal3d_read(input, out);
    case CUTIS_FORMAT_NPY:
    case CUTIS_FORMAT_PC2:
        return cutis_fail(input->context, CUTIS_UNSUPPORTED_FORMAT,
                          "%s: an array of positions, not a model", input->name);
    default:
        return cutis_fail(
            input->context, CUTIS_UNSUPPORTED_FORMAT,
            "%s: not a format Cutis reads (glTF, GLB, OBJ, PLY, OFF, STL, BVH, Cal3D)",
            input->name);
    }
}

/// The caller's options, or none, as a copy that has been looked at.
static cutis_result take_options(cutis_context *context, const cutis_read_options *given,
                                 cutis_read_options *options)
{
    if (!cutis_options_copy(options, sizeof *options, sizeof *options, given))
        return cutis_fail(context, CUTIS_UNSUPPORTED, CUTIS_NEWER, "cutis_model_read");
    if (!isfinite(options->unit_scale) || options->unit_scale < 0)
        return cutis_fail(context, CUTIS_INVALID_ARGUMENT,
                          "unit_scale: must be a positive number, or 0 for 1");
    if ((unsigned)options->format > CUTIS_FORMAT_STL)
        return cutis_fail(context, CUTIS_INVALID_ARGUMENT, "format: no such format");
    if ((unsigned)options->up > CUTIS_UP_AUTO || (unsigned)options->units > CUTIS_UNITS_AUTO)
        return cutis_fail(context, CUTIS_INVALID_ARGUMENT, "up, units: no such axis or unit");
    if (options->unit_scale != 0 && options->units != CUTIS_UNITS_M)
        return cutis_fail(context, CUTIS_INVALID_ARGUMENT,
                          "unit_scale and units exclude each other");
    return CUTIS_OK;
}

static cutis_input make_input(cutis_context *context, const char *name, bool on_disk,
                              const void *data, size_t size, const cutis_read_options *options)
{
    static const cutis_read_options NONE = { 0 };
    const cutis_read_options *o = options ? options : &NONE;
    return (cutis_input){ .context = context,
                          .name = name,
                          .on_disk = on_disk,
                          .data = data,
                          .size = size,
                          .scale = o->unit_scale != 0 ? o->unit_scale
                                                      : (float)cutis_units_metres(o->units),
                          .gate = o->gate,
                          .up = o->up,
                          .guess_units = o->units == CUTIS_UNITS_AUTO,
                          .guess = o->guess };
}

cutis_result cutis_input_open(cutis_context *context, const char *path,
                              const cutis_read_options *options, cutis_input *out)
{
    void *data = NULL;
    size_t size = 0;
    cutis_result result = cutis_os_read_file(context, path, &data, &size);
    *out = make_input(context, path, true, data, size, options);
    return result;
}

void cutis_input_close(cutis_input *input)
{
    cutis_free(input->context, (void *)input->data, input->size + 1);
}

cutis_result cutis_model_read(cutis_context *context, const char *path,
                              const cutis_read_options *options, cutis_model **out)
{
    if (out) *out = NULL;
    if (!context || !path || !out) return CUTIS_INVALID_ARGUMENT;
    cutis_input input;
    cutis_read_options taken;
    cutis_result result = take_options(context, options, &taken);
    if (result != CUTIS_OK) return result;
    result = cutis_input_open(context, path, &taken, &input);
    if (result == CUTIS_OK) result = read_input(&input, &taken, out);
    cutis_input_close(&input);
    return result;
}

cutis_result cutis_model_read_memory(cutis_context *context, const void *data, size_t size,
                                     const char *name, const cutis_read_options *options,
                                     cutis_model **out)
{
    if (out) *out = NULL;
    if (!context || (!data && size) || !out) return CUTIS_INVALID_ARGUMENT;
    cutis_read_options taken;
    cutis_result result = take_options(context, options, &taken);
    if (result != CUTIS_OK) return result;
    cutis_input input =
        make_input(context, name ? name : "memory", false, data ? data : "", size, &taken);
    return read_input(&input, &taken, out);
}

/// The error that a reader left, "file: line 3: reason", as a finding: its place is "line 3" (or
/// "byte 3"), and the file where the error names none.
static bool report_refusal(const cutis_input *input, cutis_result result,
                           cutis_check_report *report)
{
    const char *text = cutis_context_error(input->context);
    const size_t length = strlen(input->name);
    char place[64] = "";
    if (strncmp(text, input->name, length) == 0 && strncmp(text + length, ": ", 2) == 0)
        text += length + 2;
    const size_t span = strcspn(text, ":");
    if ((strncmp(text, "line ", 5) == 0 || strncmp(text, "byte ", 5) == 0) && span < sizeof place &&
        strncmp(text + span, ": ", 2) == 0) {
        memcpy(place, text, span);
        text += span + 2;
    }
    return cutis_report_add(report, cutis_result_name(result), CUTIS_ISSUE_ERROR, 1,
                            *place ? place : input->name, text);
}

/// Formats without a validator of their own: what the reader refuses is the one finding.
static cutis_result inspect_input(cutis_input *input, cutis_check_report *report)
{
    cutis_model *model = NULL;
    if (choose_format(input, NULL) == CUTIS_FORMAT_GLTF) return cutis_gltf_inspect(input, report);
    cutis_result result = read_input(input, NULL, &model);
    cutis_model_destroy(model);
    if (result != CUTIS_CORRUPT_DATA && result != CUTIS_UNSUPPORTED_FORMAT) return result;
    if (!report_refusal(input, result, report)) return cutis_alloc_result(input->context);
    return CUTIS_OK;
}

static cutis_result inspect(cutis_input *input, cutis_check_report **out)
{
    cutis_check_report *report = cutis_report_create(input->context);
    if (!report) return cutis_alloc_result(input->context);
    cutis_result result = inspect_input(input, report);
    if (result == CUTIS_OK)
        *out = report;
    else
        cutis_check_report_destroy(report);
    return result;
}

cutis_result cutis_file_inspect(cutis_context *context, const char *path, cutis_check_report **out)
{
    if (out) *out = NULL;
    if (!context || !path || !out) return CUTIS_INVALID_ARGUMENT;
    cutis_input input;
    cutis_result result = cutis_input_open(context, path, NULL, &input);
    if (result == CUTIS_OK) result = inspect(&input, out);
    cutis_input_close(&input);
    return result;
}

cutis_result cutis_file_inspect_memory(cutis_context *context, const void *data, size_t size,
                                       const char *name, cutis_check_report **out)
{
    if (out) *out = NULL;
    if (!context || (!data && size) || !out) return CUTIS_INVALID_ARGUMENT;
    cutis_input input =
        make_input(context, name ? name : "memory", false, data ? data : "", size, NULL);
    return inspect(&input, out);
}

static bool is_cal3d_clip(const cutis_input *input)
{
    const char *data = input->data;
    const size_t size = input->size;
    cutis_format format = cutis_format_of_content(data, size);
    if (format == CUTIS_FORMAT_AUTO) format = cutis_format_of_name(input->name);
    if (format != CUTIS_FORMAT_CAL3D) return false;
    if (starts(data, size, "CAF", 4)) return true;
    // XML: the magic is in the first element or two.
    size_t window = size < 512 ? size : 512;
    for (size_t i = 0; i < window; i++)
        if (starts(data + i, window - i, "XAF", 3) ||
            starts(data + i, window - i, "<ANIMATION", 10))
            return true;
    return false;
}

cutis_result cutis_model_read_clip(const cutis_model *model, const char *path, cutis_model **out)
{
    if (out) *out = NULL;
    if (!model || !path || !out) return CUTIS_INVALID_ARGUMENT;
    cutis_model *other = NULL;
    cutis_input input;
    cutis_result result = cutis_input_open(cutis_model_context(model), path, NULL, &input);
    const cutis_place place = cutis_place_of(cutis_model_get(model)->source, NULL);
    input.up = place.up;
    input.scale = place.scale;
    if (result == CUTIS_OK && is_cal3d_clip(&input)) {
        result = cutis_cal3d_read_clip(model, &input, out);
    } else if (result == CUTIS_OK) {
        result = read_input(&input, NULL, &other);
        if (result == CUTIS_OK) result = cutis_clip_merge(model, other, path, out);
    }
    cutis_model_destroy(other);
    cutis_input_close(&input);
    return result;
}

cutis_result cutis_model_write(const cutis_model *model, const char *path,
                               const cutis_write_options *options)
{
    if (!model || !path) return CUTIS_INVALID_ARGUMENT;
    cutis_context *context = cutis_model_context(model);
    cutis_format format = options ? options->format : CUTIS_FORMAT_AUTO;
    if (options && (unsigned)options->weights > CUTIS_WEIGHTS_U8)
        return cutis_fail(context, CUTIS_INVALID_ARGUMENT, "%s: unknown format of weights", path);
    if (format == CUTIS_FORMAT_AUTO) format = cutis_format_of_name(path);
    switch (format) {
    case CUTIS_FORMAT_GLTF:
    case CUTIS_FORMAT_GLB:
        return cutis_gltf_write(model, path, options);
    case CUTIS_FORMAT_OBJ:
        return cutis_obj_write(model, path);
    case CUTIS_FORMAT_PLY:
        return cutis_ply_write(model, path, options && options->ascii);
    case CUTIS_FORMAT_STL:
        return cutis_stl_write(model, path, options && options->ascii);
    case CUTIS_FORMAT_OFF:
        return cutis_fail(context, CUTIS_UNSUPPORTED, "%s: OFF is read, not written; write .ply",
                          path);
    case CUTIS_FORMAT_BVH:
        return cutis_bvh_write(model, path);
    case CUTIS_FORMAT_CAL3D:
        return cutis_fail(context, CUTIS_UNSUPPORTED, "%s: Cal3D is read, not written; write .glb",
                          path);
    case CUTIS_FORMAT_NPY:
    case CUTIS_FORMAT_PC2:
        return cutis_fail(context, CUTIS_UNSUPPORTED,
                          "%s: an array holds positions, not a model; deform writes it", path);
    default:
        return cutis_fail(context, CUTIS_UNSUPPORTED_FORMAT,
                          "%s: the name does not say a format Cutis writes "
                          "(.gltf, .glb, .obj, .ply, .stl, .bvh)",
                          path);
    }
}

cutis_result cutis_file_read(cutis_context *context, const char *path, void **data, size_t *size)
{
    if (!context || !path || !data || !size) return CUTIS_INVALID_ARGUMENT;
    return cutis_os_read_file(context, path, data, size);
}

cutis_result cutis_file_write(cutis_context *context, const char *path, const void *data,
                              size_t size)
{
    if (!context || !path || (!data && size)) return CUTIS_INVALID_ARGUMENT;
    cutis_os_write *write = NULL;
    cutis_result result = cutis_os_write_begin(context, path, &write);
    if (result != CUTIS_OK) return result;
    result = cutis_os_write_append(write, data, size);
    if (result == CUTIS_OK) return cutis_os_write_commit(write);
    cutis_os_write_abort(write);
    return result;
}
