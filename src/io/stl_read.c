// STL: triangles as three corners each, text or binary. Corners in the same place become one
// vertex, so that a closed body is closed; the solids of a text are parts. What the file says of
// normals and attributes is not used: a facet's normal follows from its corners.
// Invariant: a file is binary exactly if its size is what the count of triangles at byte 80 asks
// for, or it does not begin like a text; its first word alone says nothing, because many binary
// files begin with "solid".
#include "io/bytes.h"
#include "io/names.h"
#include "io/surface.h"
#include "io/text.h"

#include <math.h>
#include <string.h>

#include "base/error.h"

enum { HEADER = 84, RECORD = 50 };

typedef struct reader {
    const cutis_input *input;
    cutis_context *context;
    cutis_surface_draft draft;
    cutis_text text;
    size_t position_capacity, part_capacity;
    uint32_t *slots; // of the hash table: vertex + 1, or 0
    size_t slot_count;
    uint64_t probes; // left, before a file is one that was made to collide
    cutis_names solids;
} reader;

// What a binary file's count says of its size; 0 if it is too short to have one.
static uint64_t announced_size(const char *data, size_t size)
{
    return size < HEADER ? 0 : HEADER + RECORD * (uint64_t)cutis_load_u32(data + 80);
}

// Bytes 80 to 83 of a text, read as a count, would make a binary file of 8 GB at least.
bool cutis_stl_is_binary(const char *data, size_t size)
{
    uint64_t announced = announced_size(data, size);
    return announced == size && announced > HEADER;
}

bool cutis_stl_is_text(const char *data, size_t size)
{
    cutis_text text = cutis_text_begin(data, size);
    if (!cutis_span_is_any_case(cutis_text_word(&text), "solid")) return false;
    cutis_text_rest(&text);
    cutis_span next = cutis_text_word(&text);
    return cutis_span_is_any_case(next, "facet") || cutis_span_is_any_case(next, "endsolid");
}

static uint64_t mix(const uint32_t bits[3])
{
    uint64_t h = (uint64_t)bits[0] * UINT64_C(0x9E3779B97F4A7C15);
    h = (h ^ h >> 29 ^ bits[1]) * UINT64_C(0xBF58476D1CE4E5B9);
    h = (h ^ h >> 32 ^ bits[2]) * UINT64_C(0x94D049BB133111EB);
    return h ^ h >> 31;
}

static bool rehash(reader *r, size_t slots)
{
    uint32_t *table = cutis_arena_zero(&r->draft.arena, slots, sizeof *table);
    if (!table) return false;
    for (size_t i = 0; i < r->slot_count; i++) {
        uint32_t bits[3];
        if (!r->slots[i]) continue;
        memcpy(bits, r->draft.positions + 3 * (size_t)(r->slots[i] - 1), sizeof bits);
        size_t slot = (size_t)mix(bits) & (slots - 1);
        while (table[slot] && r->probes) slot = (slot + 1) & (slots - 1), r->probes--;
        if (!r->probes) break;
        table[slot] = r->slots[i];
    }
    r->slots = table;
    r->slot_count = slots;
    return true;
}

// The vertex in this place, a new one if there was none.
static cutis_result find_vertex(reader *r, const float place[3], uint32_t *out)
{
    cutis_surface_draft *d = &r->draft;
    uint32_t bits[3];
    float plain[3];
    for (int k = 0; k < 3; k++) plain[k] = place[k] * r->input->scale + 0.0f; // -0 is 0
    memcpy(bits, plain, sizeof bits);
    if (2 * (d->vertex_count + 1) > r->slot_count &&
        !rehash(r, r->slot_count ? 2 * r->slot_count : 1024))
        return cutis_alloc_result(r->context);
    size_t slot = (size_t)mix(bits) & (r->slot_count - 1);
    for (; r->slots[slot] && r->probes; slot = (slot + 1) & (r->slot_count - 1), r->probes--)
        if (memcmp(d->positions + 3 * (size_t)(r->slots[slot] - 1), bits, sizeof bits) == 0) {
            *out = r->slots[slot] - 1;
            return CUTIS_OK;
        }
    if (!r->probes)
        return cutis_fail(r->context, CUTIS_LIMIT_EXCEEDED,
                          "%s: its corners take too long to tell apart", r->input->name);
    if (!cutis_arena_grow(&d->arena, &d->positions, &r->position_capacity, d->vertex_count + 1,
                          3 * sizeof(float)))
        return cutis_alloc_result(r->context);
    memcpy(d->positions + 3 * d->vertex_count, plain, sizeof plain);
    *out = (uint32_t)d->vertex_count++;
    r->slots[slot] = *out + 1;
    return CUTIS_OK;
}

static cutis_result add_triangle(reader *r, const float corners[9])
{
    uint32_t vertices[3];
    for (int k = 0; k < 3; k++) TRY(find_vertex(r, corners + 3 * k, &vertices[k]));
    if (r->draft.index_count > UINT32_MAX - 3)
        return cutis_fail(r->context, CUTIS_LIMIT_EXCEEDED, "%s: more than 2^32 corners",
                          r->input->name);
    return cutis_surface_triangle(&r->draft, vertices[0], vertices[1], vertices[2]);
}

// Binary
// ------------------------------------------------------------------------------------------------

static cutis_result read_binary(reader *r)
{
    const unsigned char *data = (const unsigned char *)r->input->data;
    size_t size = r->input->size;
    if (size < HEADER)
        return cutis_fail(r->context, CUTIS_CORRUPT_DATA,
                          "%s: byte %zu: the data ends too early: no text, and a binary STL has a "
                          "header of 84 bytes",
                          r->input->name, size);
    uint32_t count = cutis_load_u32(data + 80);
    if (announced_size(r->input->data, size) > size)
        return cutis_fail(r->context, CUTIS_CORRUPT_DATA,
                          "%s: byte %zu: the data ends too early: %u triangles were announced, "
                          "%zu are there",
                          r->input->name, size, count, (size - HEADER) / RECORD);
    if (announced_size(r->input->data, size) < size)
        cutis_log(r->context, "%s: %zu bytes behind its triangles are left out", r->input->name,
                  size - (size_t)announced_size(r->input->data, size));
    for (size_t t = 0; t < count; t++) {
        const unsigned char *at = data + HEADER + RECORD * t;
        float corners[9];
        for (int k = 0; k < 9; k++) {
            corners[k] = cutis_load_f32(at + 12 + 4 * k);
            if (!isfinite(corners[k]))
                return cutis_fail(r->context, CUTIS_CORRUPT_DATA,
                                  "%s: byte %zu: a corner has a number that is not finite",
                                  r->input->name, HEADER + RECORD * t + 12 + 4 * (size_t)k);
        }
        TRY(add_triangle(r, corners));
    }
    return CUTIS_OK;
}

// Text
// ------------------------------------------------------------------------------------------------

static cutis_result expect(reader *r, const char *wanted)
{
    cutis_span word = cutis_text_word(&r->text);
    if (cutis_span_is_any_case(word, wanted)) return CUTIS_OK;
    return cutis_fail(r->context, CUTIS_CORRUPT_DATA, "%s: line %zu: expected '%s', found '%.*s'",
                      r->input->name, r->text.line, wanted, CUTIS_SPAN_SHOW(word));
}

// After "facet". Its normal may be anything: degenerate facets have "nan".
static cutis_result read_facet(reader *r, uint32_t part)
{
    float corners[9];
    TRY(expect(r, "normal"));
    for (int k = 0; k < 3; k++) cutis_text_token(&r->text);
    TRY(expect(r, "outer"));
    TRY(expect(r, "loop"));
    for (int k = 0; k < 9; k++) {
        if (k % 3 == 0) TRY(expect(r, "vertex"));
        cutis_span word = cutis_text_word(&r->text);
        if (!cutis_parse_float(word, &corners[k]))
            return cutis_text_bad(r->input, &r->text, "not a number:", word);
    }
    TRY(expect(r, "endloop"));
    TRY(expect(r, "endfacet"));
    TRY(add_triangle(r, corners));
    size_t triangles = r->draft.index_count / 3;
    if (!cutis_arena_grow(&r->draft.arena, &r->draft.parts, &r->part_capacity, triangles,
                          sizeof *r->draft.parts))
        return cutis_alloc_result(r->context);
    r->draft.parts[triangles - 1] = part;
    return CUTIS_OK;
}

// After "solid": its name, its facets, and "endsolid" with whatever follows on that line.
static cutis_result read_solid(reader *r)
{
    cutis_span name = cutis_text_rest(&r->text);
    uint32_t part = r->solids.count; // it gets a number once it has a facet: no part is empty
    bool named = false;
    for (;;) {
        cutis_span word = cutis_text_word(&r->text);
        if (cutis_span_is_any_case(word, "endsolid")) break;
        if (!cutis_span_is_any_case(word, "facet"))
            return cutis_text_bad(r->input, &r->text,
                                  word.size ? "expected 'facet' or 'endsolid', found"
                                            : "the data ends inside a solid",
                                  word);
        if (!named &&
            !cutis_names_add(&r->solids, name.size ? name : (cutis_span){ "solid", 5 }, &part))
            return cutis_alloc_result(r->context);
        named = true;
        TRY(read_facet(r, part));
    }
    cutis_text_rest(&r->text);
    return CUTIS_OK;
}

static cutis_result read_text(reader *r)
{
    r->text = cutis_text_begin(r->input->data, r->input->size);
    for (cutis_span word; (word = cutis_text_word(&r->text)).size;) {
        if (!cutis_span_is_any_case(word, "solid"))
            return cutis_text_bad(r->input, &r->text, "expected 'solid', found", word);
        TRY(read_solid(r));
    }
    cutis_names_repair(&r->solids);
    r->draft.part_count = r->solids.count;
    r->draft.part_names = (const char *const *)r->solids.names;
    if (r->solids.count < 2) r->draft.parts = NULL; // one solid is the whole, not a part
    return CUTIS_OK;
}

cutis_result cutis_stl_read(const cutis_input *input, cutis_model **out)
{
    reader r = { .input = input, .context = input->context };
    cutis_surface_begin(&r.draft, input);
    r.solids.arena = &r.draft.arena;
    // An ordinary file needs about one probe a corner, of which there is one in 16 bytes at most.
    r.probes = (UINT64_C(1) << 24) + 8 * (uint64_t)input->size;
    bool text = !cutis_stl_is_binary(input->data, input->size) &&
                cutis_stl_is_text(input->data, input->size);
    cutis_result result = text ? read_text(&r) : read_binary(&r);
    if (result == CUTIS_OK && r.draft.index_count == 0)
        result = cutis_fail(r.context, CUTIS_CORRUPT_DATA,
                            text ? "%s: line %zu: no triangles" : "%s: byte %zu: no triangles",
                            input->name, text ? r.text.line : 80);
    if (result == CUTIS_OK) result = cutis_surface_publish(&r.draft, out);
    cutis_surface_end(&r.draft);
    return result;
}
