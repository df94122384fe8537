// OFF, Geomview's Object File Format: [ST][C][N]OFF, text or binary; vertices with normals, colours
// and texture coordinates; faces of any number of corners. Colours of faces are read past.
// Invariant: counts are proven to fit into what is left of the file before anything is allocated.
#include "io/bytes.h"
#include "io/surface.h"
#include "io/text.h"

#include <math.h>
#include <string.h>

#include "base/error.h"

enum { NUMBERS_MAX = 3 + 3 + 4 + 2 }; // of a vertex: position, normal, colour, texture coordinate

typedef struct reader {
    const cutis_input *input;
    cutis_context *context;
    cutis_surface_draft draft;
    cutis_text text;
    const unsigned char *at, *end; // binary
    bool binary, normals, colors, texcoords;
    uint32_t width; // numbers a vertex must have
    uint64_t vertex_count, face_count;
    uint32_t *corners; // of the face at work
    size_t corner_capacity;
    bool face_colors, byte_colors;
} reader;

static cutis_result fail_at(const reader *r, cutis_result result, const char *reason)
{
    if (!r->binary)
        return cutis_fail(r->context, result, "%s: line %zu: %s", r->input->name, r->text.line,
                          reason);
    return cutis_fail(r->context, result, "%s: byte %zu: %s", r->input->name,
                      (size_t)((const char *)r->at - r->input->data), reason);
}

static cutis_result cut_off(const reader *r)
{
    return fail_at(r, CUTIS_CORRUPT_DATA, "the data ends too early");
}

// The next word on this or a later line; comments are stepped over.
static cutis_span take_word(reader *r)
{
    for (;;) {
        cutis_span word = cutis_text_word(&r->text);
        if (word.size == 0 || word.data[0] != '#') return word;
        while (r->text.at < r->text.end && *r->text.at != '\n' && *r->text.at != '\r') r->text.at++;
    }
}

// The next word of this line, or an empty one.
static cutis_span take_token(reader *r)
{
    cutis_span token = cutis_text_token(&r->text);
    if (token.size && token.data[0] == '#') {
        cutis_text_rest(&r->text);
        token.size = 0;
    }
    return token;
}

static cutis_result parse_count(const reader *r, cutis_span word, uint64_t *out)
{
    int64_t value;
    if (word.size == 0) return cut_off(r);
    if (!cutis_parse_int(word, &value) || value < 0)
        return cutis_text_bad(r->input, &r->text, "not a count:", word);
    *out = (uint64_t)value;
    return CUTIS_OK;
}

static cutis_result take_big(reader *r, uint32_t *out)
{
    if (r->end - r->at < 4) return cut_off(r);
    *out = (uint32_t)r->at[0] << 24 | (uint32_t)r->at[1] << 16 | (uint32_t)r->at[2] << 8 | r->at[3];
    r->at += 4;
    return CUTIS_OK;
}

static cutis_result take_float(reader *r, float *out)
{
    uint32_t bits = 0;
    if (!r->binary) {
        cutis_span word = take_word(r);
        if (word.size == 0) return cut_off(r);
        return cutis_parse_float(word, out)
                   ? CUTIS_OK
                   : cutis_text_bad(r->input, &r->text, "not a number:", word);
    }
    TRY(take_big(r, &bits));
    memcpy(out, &bits, 4);
    return isfinite(*out)
               ? CUTIS_OK
               : fail_at(r, CUTIS_CORRUPT_DATA, "a vertex has a number that is not finite");
}

// The keyword: its letters, and where counts stand right behind it ("OFF8 6 12", as ModelNet's
// files have it) the text goes on there. Without any, which Geomview allows, the counts come first.
static cutis_result parse_keyword(reader *r)
{
    cutis_text start = r->text;
    cutis_span word = take_word(r);
    const char *at = word.data, *end = word.data + word.size;
    int64_t ignored;
    if (cutis_parse_int(word, &ignored)) {
        r->text = start;
        return CUTIS_OK;
    }
    if (end - at >= 2 && at[0] == 'S' && at[1] == 'T') r->texcoords = true, at += 2;
    if (at < end && *at == 'C') r->colors = true, at++;
    if (at < end && *at == 'N') r->normals = true, at++;
    if (at < end && (*at == '4' || *at == 'n'))
        return cutis_fail(r->context, CUTIS_UNSUPPORTED_FORMAT,
                          "%s: line %zu: OFF of points with four or n coordinates is not read",
                          r->input->name, r->text.line);
    if (end - at < 3 || memcmp(at, "OFF", 3) != 0)
        return cutis_text_bad(r->input, &r->text, "an OFF file starts with 'OFF', not", word);
    at += 3;
    if (at < end && !(*at >= '0' && *at <= '9'))
        return cutis_text_bad(r->input, &r->text, "an OFF file starts with 'OFF', not", word);
    if (at < end) r->text.at = at;
    return CUTIS_OK;
}

// "OFF BINARY": from the next line on, big-endian.
static bool turns_binary(reader *r)
{
    cutis_text ahead = r->text;
    if (!cutis_span_is(cutis_text_token(&ahead), "BINARY")) return false;
    cutis_text_next_line(&ahead);
    r->text = ahead;
    r->at = (const unsigned char *)ahead.at;
    r->end = (const unsigned char *)ahead.end;
    return true;
}

// Vertices, faces, and edges, which may be missing and mean nothing.
static cutis_result parse_counts(reader *r)
{
    uint32_t counts[3];
    if (r->binary) {
        for (int k = 0; k < 3; k++) TRY(take_big(r, &counts[k]));
        r->vertex_count = counts[0];
        r->face_count = counts[1];
        return CUTIS_OK;
    }
    TRY(parse_count(r, take_word(r), &r->vertex_count));
    size_t line = r->text.line;
    TRY(parse_count(r, take_word(r), &r->face_count));
    bool together = line == r->text.line;
    uint64_t ignored;
    cutis_span edges = together ? take_token(r) : take_word(r);
    return edges.size || !together ? parse_count(r, edges, &ignored) : CUTIS_OK;
}

static cutis_result make_vertices(reader *r)
{
    cutis_surface_draft *d = &r->draft;
    size_t count = (size_t)r->vertex_count, least;
    r->width = 3 + (r->normals ? 3 : 0) + (r->colors ? 3 : 0) + (r->texcoords ? 2 : 0);
    size_t left = r->binary ? (size_t)(r->end - r->at) : (size_t)(r->text.end - r->text.at);
    // A number takes four bytes, or a digit and a blank; a face its count. The last of a text needs
    // no line end.
    uint64_t each = r->binary ? 4 : 2, faces = r->face_count;
    if (!cutis_size_multiply(count, (size_t)each * r->width, &least) || least > left + 1 ||
        faces > (left + 1 - least) / each)
        return cut_off(r);
    if (count == 0) return fail_at(r, CUTIS_CORRUPT_DATA, "the file has no vertices");
    if (count > UINT32_MAX) return fail_at(r, CUTIS_LIMIT_EXCEEDED, "more than 2^32 vertices");
    d->vertex_count = count;
    d->positions = cutis_arena_alloc(&d->arena, count, 3 * sizeof(float));
    if (r->normals) d->normals = cutis_arena_alloc(&d->arena, count, 3 * sizeof(float));
    if (r->colors) d->colors = cutis_arena_alloc(&d->arena, count, 4 * sizeof(float));
    if (r->texcoords) d->texcoords = cutis_arena_alloc(&d->arena, count, 2 * sizeof(float));
    return d->positions && (d->normals || !r->normals) && (d->colors || !r->colors) &&
                   (d->texcoords || !r->texcoords)
               ? CUTIS_OK
               : cutis_alloc_result(r->context);
}

// The numbers of a vertex; a colour may lack its alpha where the line ends before it.
static cutis_result take_numbers(reader *r, float *n, uint32_t *count)
{
    uint32_t most = r->width + r->colors;
    *count = r->binary ? most : r->width;
    for (uint32_t k = 0; k < *count; k++) TRY(take_float(r, &n[k]));
    if (r->binary) return CUTIS_OK;
    for (cutis_span token; (token = take_token(r)).size;) {
        if (*count == most)
            return cutis_text_bad(r->input, &r->text,
                                  "more numbers than a vertex of this header has, from", token);
        if (!cutis_parse_float(token, &n[(*count)++]))
            return cutis_text_bad(r->input, &r->text, "not a number:", token);
    }
    return CUTIS_OK;
}

static cutis_result read_vertices(reader *r)
{
    cutis_surface_draft *d = &r->draft;
    for (size_t v = 0; v < d->vertex_count; v++) {
        float n[NUMBERS_MAX] = { 0 };
        const float *at = n;
        uint32_t count = 0;
        TRY(take_numbers(r, n, &count));
        for (int k = 0; k < 3; k++) d->positions[3 * v + (size_t)k] = *at++ * r->input->scale;
        for (int k = 0; r->normals && k < 3; k++) d->normals[3 * v + (size_t)k] = *at++;
        const bool alpha = count > r->width;
        for (int k = 0; r->colors && k < 4; k++) {
            float value = k < 3 || alpha ? *at++ : -1; // none: full, whatever the others' unit
            d->colors[4 * v + (size_t)k] = value;
            r->byte_colors |= value > 1;
        }
        if (r->texcoords) {
            d->texcoords[2 * v] = at[0];
            d->texcoords[2 * v + 1] = 1 - at[1]; // OFF counts upwards, the model downwards
        }
    }
    // Geomview's colours run to 1, everybody else's to 255: one above 1 tells.
    for (size_t i = 0; r->colors && i < 4 * d->vertex_count; i++)
        d->colors[i] = d->colors[i] < 0 ? 1 : r->byte_colors ? d->colors[i] / 255 : d->colors[i];
    return CUTIS_OK;
}

static cutis_result take_index(reader *r, uint32_t *out)
{
    uint64_t value = 0;
    uint32_t big = 0;
    if (r->binary) {
        TRY(take_big(r, &big));
        value = big;
    } else {
        TRY(parse_count(r, take_word(r), &value));
    }
    if (value >= r->vertex_count)
        return fail_at(r, CUTIS_CORRUPT_DATA, "a face refers to a vertex that is not there");
    *out = (uint32_t)value;
    return CUTIS_OK;
}

// What is behind the corners of a face: its colour.
static cutis_result skip_color(reader *r)
{
    uint32_t count = 0;
    if (!r->binary) {
        cutis_span token = take_token(r);
        double ignored;
        if (token.size == 0) return CUTIS_OK;
        if (!cutis_parse_double(token, &ignored))
            return cutis_text_bad(r->input, &r->text, "not a colour:", token);
        r->face_colors = true;
        cutis_text_rest(&r->text);
        return CUTIS_OK;
    }
    TRY(take_big(r, &count));
    if (count > (size_t)(r->end - r->at) / 4) return cut_off(r);
    r->face_colors |= count > 0;
    r->at += 4 * (size_t)count;
    return CUTIS_OK;
}

static cutis_result read_face(reader *r)
{
    uint64_t count = 0;
    uint32_t big = 0;
    if (r->binary) {
        TRY(take_big(r, &big));
        count = big;
    } else {
        TRY(parse_count(r, take_word(r), &count));
    }
    size_t left =
        r->binary ? (size_t)(r->end - r->at) / 4 : ((size_t)(r->text.end - r->text.at) + 1) / 2;
    if (count > left) return cut_off(r);
    if (!cutis_arena_grow(&r->draft.arena, &r->corners, &r->corner_capacity, (size_t)count,
                          sizeof *r->corners))
        return cutis_alloc_result(r->context);
    for (size_t i = 0; i < count; i++) TRY(take_index(r, &r->corners[i]));
    TRY(skip_color(r));
    cutis_result result = cutis_surface_polygon(&r->draft, r->corners, (uint32_t)count);
    return result == CUTIS_UNSUPPORTED ? fail_at(r, CUTIS_LIMIT_EXCEEDED,
                                                 "a concave polygon of many corners takes too long")
                                       : result;
}

static cutis_result read_file(reader *r)
{
    TRY(parse_keyword(r));
    r->binary = turns_binary(r);
    TRY(parse_counts(r));
    TRY(make_vertices(r));
    TRY(read_vertices(r));
    for (uint64_t f = 0; f < r->face_count; f++) TRY(read_face(r));
    if (r->face_colors)
        cutis_log(r->context, "%s: colours of faces are left out; vertices have them in COFF",
                  r->input->name);
    return CUTIS_OK;
}

cutis_result cutis_off_read(const cutis_input *input, cutis_model **out)
{
    reader r = { .input = input, .context = input->context };
    if (cutis_text_is_wide(input->data, input->size))
        return cutis_fail(input->context, CUTIS_UNSUPPORTED_FORMAT,
                          "%s: byte 0: UTF-16 text; OFF is read as UTF-8 or ASCII", input->name);
    cutis_surface_begin(&r.draft, input);
    r.text = cutis_text_begin(input->data, input->size);
    cutis_result result = read_file(&r);
    if (result == CUTIS_OK) result = cutis_surface_publish(&r.draft, out);
    cutis_surface_end(&r.draft);
    return result;
}
