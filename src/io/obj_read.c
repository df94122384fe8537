// OBJ statements to arrays. Every statement is checked where it stands; indices, which may point
// forward, are checked against the counts when the file has ended. Invariant: after parse() every
// corner's index lies in its array.
#include "io/obj.h"

#include <string.h>

#include "base/error.h"
#include "base/os/os.h"

// Up to `capacity` numbers to the line's end.
static cutis_result take_floats(const obj_file *file, cutis_text *text, float *out,
                                uint32_t capacity, uint32_t *count)
{
    *count = 0;
    for (;;) {
        cutis_span token = cutis_text_token(text);
        if (token.size == 0 || token.data[0] == '#') return CUTIS_OK;
        if (*count == capacity)
            return cutis_text_bad(file->input, text, "too many numbers, from", token);
        if (!cutis_parse_float(token, &out[*count]))
            return cutis_text_bad(file->input, text, "not a number:", token);
        ++*count;
    }
}

static cutis_result grow_colors(obj_file *file)
{
    size_t old = file->color_capacity;
    cutis_context *context = file->input->context;
    if (!cutis_arena_grow(&file->arena, &file->colors, &file->color_capacity,
                          file->position_count + 1, 4 * sizeof(float)))
        return cutis_alloc_result(context);
    for (size_t i = 4 * old; i < 4 * file->color_capacity; i++)
        file->colors[i] = 1; // uncoloured is white
    return CUTIS_OK;
}

// v x y z [w] or v x y z r g b [a]; w only matters to curves and surfaces.
static cutis_result take_position(obj_file *file, cutis_text *text)
{
    float n[8];
    uint32_t count;
    cutis_result result = take_floats(file, text, n, 8, &count);
    if (result != CUTIS_OK) return result;
    if (count < 3 || count == 5 || count == 8)
        return cutis_text_bad(file->input, text, "a vertex needs 3, 4, 6 or 7 numbers",
                              (cutis_span){ "", 0 });
    if (!cutis_arena_grow(&file->arena, &file->positions, &file->position_capacity,
                          file->position_count + 1, 3 * sizeof(float)))
        return cutis_alloc_result(file->input->context);
    for (int k = 0; k < 3; k++)
        file->positions[3 * file->position_count + (size_t)k] = n[k] * file->input->scale;
    if (count >= 6 || file->has_colors) {
        result = grow_colors(file);
        if (result != CUTIS_OK) return result;
    }
    if (count >= 6) {
        file->has_colors = true;
        memcpy(file->colors + 4 * file->position_count, n + 3, (count - 3) * sizeof(float));
    }
    file->position_count++;
    return CUTIS_OK;
}

// OBJ counts v upwards, glTF and the model downwards. In double, so that writing and reading again
// loses nothing.
static cutis_result take_texcoord(obj_file *file, cutis_text *text)
{
    double n[2] = { 0, 0 };
    for (int k = 0; k < 3; k++) {
        cutis_span token = cutis_text_token(text);
        double value;
        if (token.size == 0 && k > 0) break;
        if (!cutis_parse_double(token, &value))
            return cutis_text_bad(file->input, text, "not a number:", token);
        if (k < 2) n[k] = value;
    }
    if (!cutis_arena_grow(&file->arena, &file->texcoords, &file->texcoord_capacity,
                          file->texcoord_count + 1, 2 * sizeof(float)))
        return cutis_alloc_result(file->input->context);
    file->texcoords[2 * file->texcoord_count] = (float)n[0];
    file->texcoords[2 * file->texcoord_count + 1] = (float)(1 - n[1]);
    file->texcoord_count++;
    return CUTIS_OK;
}

static cutis_result take_normal(obj_file *file, cutis_text *text)
{
    float n[3];
    uint32_t count;
    cutis_result result = take_floats(file, text, n, 3, &count);
    if (result != CUTIS_OK) return result;
    if (count != 3)
        return cutis_text_bad(file->input, text, "a normal needs 3 numbers", (cutis_span){ "", 0 });
    if (!cutis_arena_grow(&file->arena, &file->normals, &file->normal_capacity,
                          file->normal_count + 1, 3 * sizeof(float)))
        return cutis_alloc_result(file->input->context);
    memcpy(file->normals + 3 * file->normal_count++, n, sizeof n);
    return CUTIS_OK;
}

// "7", "7/3", "7//2", "7/3/2", each counted from 1, or from the end if negative.
static bool take_corner(obj_file *file, size_t line, cutis_span token, obj_corner *out)
{
    const size_t counts[3] = { file->position_count, file->texcoord_count, file->normal_count };
    int32_t *fields[3] = { &out->v, &out->vt, &out->vn };
    const char *at = token.data, *end = token.data + token.size;
    *out = (obj_corner){ -1, -1, -1 };
    for (int k = 0; k < 3 && at <= end; k++) {
        const char *slash = at < end ? memchr(at, '/', (size_t)(end - at)) : NULL;
        cutis_span number = { at, (size_t)((slash ? slash : end) - at) };
        if (number.size) {
            int64_t value;
            if (!cutis_parse_int(number, &value) || value == 0 || value > INT32_MAX) return false;
            if (value < 0) value += (int64_t)counts[k] + 1;
            if (value < 1) return false;
            *fields[k] = (int32_t)(value - 1);
            if (value - 1 > file->reach[k].index) file->reach[k] = (obj_reach){ value - 1, line };
        } else if (k == 0) {
            return false;
        }
        if (!slash) return true;
        at = slash + 1;
    }
    return false; // a third slash
}

static cutis_result take_element(obj_file *file, cutis_text *text, cutis_topology topology)
{
    static const char *const SHORT[] = { "a face needs at least 3 corners",
                                         "a line needs at least 2 corners",
                                         "a point statement needs a vertex" };
    static const uint32_t LEAST[] = { 3, 2, 1 };
    cutis_context *context = file->input->context;
    obj_element element = { .first = (uint32_t)file->corner_count,
                            .material = file->material,
                            .part = file->part,
                            .line = (uint32_t)text->line,
                            .topology = topology };
    for (;;) {
        cutis_span token = cutis_text_token(text);
        if (token.size == 0 || token.data[0] == '#') break;
        if (!cutis_arena_grow(&file->arena, &file->corners, &file->corner_capacity,
                              file->corner_count + 1, sizeof *file->corners))
            return cutis_alloc_result(context);
        if (!take_corner(file, text->line, token, &file->corners[file->corner_count]))
            return cutis_text_bad(file->input, text, "not a vertex reference:", token);
        if (++file->corner_count > UINT32_MAX)
            return cutis_fail(context, CUTIS_LIMIT_EXCEEDED, "%s: line %zu: more than 2^32 corners",
                              file->input->name, text->line);
        element.count++;
    }
    if (element.count < LEAST[topology])
        return cutis_text_bad(file->input, text, SHORT[topology], (cutis_span){ "", 0 });
    if (!cutis_arena_grow(&file->arena, &file->elements, &file->element_capacity,
                          file->element_count + 1, sizeof element))
        return cutis_alloc_result(context);
    file->elements[file->element_count++] = element;
    file->any_part |= file->part != UINT32_MAX;
    return CUTIS_OK;
}

static cutis_result take_name(obj_file *file, cutis_text *text, cutis_names *names,
                              uint32_t *number)
{
    cutis_span name = cutis_text_rest(text);
    if (!cutis_names_add(names, name, number)) return cutis_alloc_result(file->input->context);
    return CUTIS_OK;
}

static bool is_ignored(cutis_span word)
{
    // Smoothing, display attributes, and the free-form geometry that has no triangles.
    static const char *const WORDS[] = {
        "s",     "mg",    "vp",     "cstype", "deg",        "bmat",      "step",
        "curv",  "curv2", "surf",   "parm",   "trim",       "hole",      "scrv",
        "sp",    "end",   "con",    "bevel",  "c_interp",   "d_interp",  "lod",
        "call",  "csh",   "maplib", "usemap", "shadow_obj", "trace_obj", "ctech",
        "stech", "res",   "cdc",    "bzp",    "bsp",        "cdp",       "xv",
    };
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++)
        if (cutis_span_is(word, WORDS[i])) return true;
    return false;
}

static cutis_result take_statement(obj_file *file, cutis_text *text)
{
    cutis_span word = cutis_text_token(text);
    uint32_t number;
    cutis_result result;
    if (word.size == 0) return CUTIS_OK;
    if (word.data[0] == '#') {
        cutis_text_rest(text); // a backslash at the end of a comment continues nothing
        return CUTIS_OK;
    }
    if (cutis_span_is(word, "v")) return take_position(file, text);
    if (cutis_span_is(word, "vt")) return take_texcoord(file, text);
    if (cutis_span_is(word, "vn")) return take_normal(file, text);
    if (cutis_span_is(word, "f") || cutis_span_is(word, "fo"))
        return take_element(file, text, CUTIS_TOPOLOGY_TRIANGLES);
    if (cutis_span_is(word, "l")) return take_element(file, text, CUTIS_TOPOLOGY_LINES);
    if (cutis_span_is(word, "p")) return take_element(file, text, CUTIS_TOPOLOGY_POINTS);
    if (cutis_span_is(word, "o") || cutis_span_is(word, "g"))
        return take_name(file, text, &file->parts, &file->part);
    if (cutis_span_is(word, "mtllib")) return take_name(file, text, &file->libraries, &number);
    if (cutis_span_is(word, "usemtl")) {
        cutis_text ahead = *text;
        file->material = -1; // no name: no material
        if (cutis_text_rest(&ahead).size == 0) return CUTIS_OK;
        result = take_name(file, text, &file->materials, &number);
        if (result == CUTIS_OK) file->material = (int32_t)number;
        return result;
    }
    if (is_ignored(word)) return CUTIS_OK;
    return cutis_text_bad(file->input, text, "unknown statement", word);
}

static cutis_result check_reach(const obj_file *file)
{
    static const char *const KINDS[] = { "vertex", "texture coordinate", "normal" };
    const size_t counts[3] = { file->position_count, file->texcoord_count, file->normal_count };
    for (int k = 0; k < 3; k++)
        if (file->reach[k].index >= (int64_t)counts[k])
            return cutis_fail(file->input->context, CUTIS_CORRUPT_DATA,
                              "%s: line %zu: %s %lld of %zu", file->input->name,
                              file->reach[k].line, KINDS[k], (long long)file->reach[k].index + 1,
                              counts[k]);
    return CUTIS_OK;
}

static cutis_result parse(obj_file *file)
{
    const cutis_input *input = file->input;
    if (cutis_text_is_wide(input->data, input->size))
        return cutis_fail(input->context, CUTIS_UNSUPPORTED_FORMAT,
                          "%s: byte 0: UTF-16 text; OBJ is read as UTF-8 or ASCII", input->name);
    cutis_text text = cutis_text_begin(input->data, input->size);
    if (input->size) do {
            cutis_result result = take_statement(file, &text);
            if (result != CUTIS_OK) return result;
        } while (cutis_text_next_line(&text));
    if (file->position_count == 0)
        return cutis_fail(input->context, CUTIS_CORRUPT_DATA,
                          "%s: line %zu: the file ends without a vertex", input->name, text.line);
    if (file->position_count > INT32_MAX)
        return cutis_fail(input->context, CUTIS_LIMIT_EXCEEDED, "%s: more than 2^31 vertices",
                          input->name);
    return check_reach(file);
}

cutis_result cutis_obj_read(const cutis_input *input, cutis_model **out)
{
    obj_file file = { .input = input, .material = -1, .part = UINT32_MAX };
    file.arena.context = input->context;
    file.materials.arena = file.parts.arena = file.libraries.arena = &file.arena;
    for (int k = 0; k < 3; k++) file.reach[k].index = -1;
    cutis_result result = parse(&file);
    if (result == CUTIS_OK) result = cutis_obj_read_materials(&file);
    if (result == CUTIS_OK) result = cutis_obj_build(&file, out);
    cutis_arena_release(&file.arena);
    return result;
}
