// Material libraries (.mtl) of OBJ files. Looks are not what a skin needs, so a library that is
// missing, outside the asset's folder or malformed is logged and left out; the materials keep their
// names.
#include "io/obj.h"

#include <string.h>

#include "base/error.h"
#include "base/os/os.h"

// More libraries than this are no asset but an attack on the file system.
enum { LIBRARIES_MAX = 64 };

static float clamp01(float value)
{
    return value < 0 ? 0 : value > 1 ? 1 : value;
}

static bool take_color(cutis_text *text, float rgb[3])
{
    for (int k = 0; k < 3; k++) {
        float value;
        if (!cutis_parse_float(cutis_text_token(text), &value)) {
            if (k != 1) return false;
            rgb[1] = rgb[2] = rgb[0]; // one number stands for three
            return true;
        }
        rgb[k] = clamp01(value);
    }
    return true;
}

static void take_property(cutis_material *look, cutis_span word, cutis_text *text)
{
    float value, rgb[3];
    if (cutis_span_is(word, "Kd")) {
        if (take_color(text, rgb)) memcpy(look->base_color, rgb, sizeof rgb);
        return;
    }
    if (!cutis_parse_float(cutis_text_token(text), &value)) return;
    if (cutis_span_is(word, "d")) look->base_color[3] = clamp01(value);
    if (cutis_span_is(word, "Tr")) look->base_color[3] = clamp01(1 - value);
    if (cutis_span_is(word, "Pr")) look->roughness = clamp01(value);
    if (cutis_span_is(word, "Pm")) look->metallic = clamp01(value);
}

static void parse_library(obj_file *file, const char *data, size_t size)
{
    cutis_text text = cutis_text_begin(data, size);
    cutis_material *look = NULL;
    if (size == 0 || cutis_text_is_wide(data, size)) return;
    do {
        cutis_span word = cutis_text_token(&text);
        if (cutis_span_is(word, "newmtl")) {
            uint32_t number = cutis_names_find(&file->materials, cutis_text_rest(&text));
            look = number == UINT32_MAX ? NULL : &file->looks[number];
        } else if (word.size && look) {
            take_property(look, word, &text);
        }
        cutis_text_rest(&text);
    } while (cutis_text_next_line(&text));
}

static void read_library(obj_file *file, const char *name)
{
    const cutis_input *input = file->input;
    cutis_context *context = input->context;
    char path[4096], local[1024];
    void *data = NULL;
    size_t size = 0;
    const size_t length = strlen(name);
    if (length >= sizeof local) return;
    memcpy(local, name, length + 1);
    for (char *c = local; *c; c++)
        if (*c == '\\') *c = '/'; // written on Windows
    const char *relative = local;
    while (relative[0] == '.' && relative[1] == '/') relative += 2;
    cutis_result result = cutis_os_resolve_below(context, input->name, relative, path, sizeof path);
    if (result == CUTIS_OK) result = cutis_os_read_file(context, path, &data, &size);
    if (result != CUTIS_OK) {
        cutis_log(context, "%s: material library left out: %s", input->name,
                  cutis_context_error(context));
        return;
    }
    parse_library(file, data, size);
    cutis_free(context, data, size + 1);
}

cutis_result cutis_obj_read_materials(obj_file *file)
{
    uint32_t count = file->materials.count;
    file->looks = cutis_arena_alloc(&file->arena, count, sizeof *file->looks);
    if (!file->looks) return cutis_alloc_result(file->input->context);
    for (uint32_t i = 0; i < count; i++)
        file->looks[i] = (cutis_material){ .base_color = { 0.8f, 0.8f, 0.8f, 1 }, .roughness = 1 };
    if (!file->input->on_disk || count == 0) return CUTIS_OK;
    for (uint32_t i = 0; i < file->libraries.count && i < LIBRARIES_MAX; i++)
        read_library(file, file->libraries.names[i]);
    return CUTIS_OK;
}
