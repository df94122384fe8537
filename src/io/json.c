/// Bounded JSON in, deterministic JSON out. Nothing here recurses on the document: the scan before
/// parsing keeps a depth counter, and the writer an explicit stack.
#include "io/json.h"
#include "io/text.h"

#include "base/error.h"
#include "base/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// What jansson 2.14 allocates for each kind of value on a 64-bit machine, malloc's rounding
// included.
enum { OBJECT_BYTES = 240, ARRAY_BYTES = 144, VALUE_BYTES = 56, STRING_BYTES = 64 };

// JSON alone may take this much of a reader's allowance of 64 times the file plus 16 MiB; real
// documents take a tenth of it.
enum { PARSE_FACTOR = 48, PARSE_BASE = 8 << 20 };

void cutis_bytes_append(cutis_bytes *bytes, const void *data, size_t size)
{
    size_t needed;
    if (bytes->failed || size == 0) return;
    if (!cutis_size_add(bytes->size, size, &needed) ||
        (needed > bytes->capacity &&
         !cutis_grow(bytes->context, &bytes->data, &bytes->capacity, needed, 1))) {
        bytes->failed = true;
        return;
    }
    memcpy(bytes->data + bytes->size, data, size);
    bytes->size = needed;
}

void cutis_bytes_pad(cutis_bytes *bytes, size_t alignment, uint8_t value)
{
    while (!bytes->failed && bytes->size % alignment) cutis_bytes_append(bytes, &value, 1);
}

void cutis_bytes_drop(cutis_bytes *bytes)
{
    if (bytes->data) cutis_free(bytes->context, bytes->data, bytes->capacity);
    bytes->data = NULL;
    bytes->size = bytes->capacity = 0;
}

/// Bytes of memory that parsing `text` can take, counted by its brackets, commas and strings. Also
/// checks the nesting.
static cutis_result measure(cutis_context *context, const char *file, const char *text, size_t size,
                            uint64_t *out)
{
    uint32_t limit = cutis_context_limits(context)->nesting;
    uint64_t depth = 0, bytes = 0;
    for (size_t i = 0; i < size; i++) {
        switch (text[i]) {
        case '"':
            bytes += STRING_BYTES;
            for (i++; i < size && text[i] != '"'; i++, bytes++) {
                if (text[i] == '\\') i++;
            }
            break;
        case '{':
        case '[':
            bytes += text[i] == '{' ? OBJECT_BYTES : ARRAY_BYTES;
            // jansson itself stops at JSON_PARSER_MAX_DEPTH, with a less helpful text.
            if (++depth > limit || depth > JSON_PARSER_MAX_DEPTH) {
                return cutis_fail(context, CUTIS_LIMIT_EXCEEDED,
                                  "%s: byte %zu: JSON is nested deeper than %u levels", file, i,
                                  limit < JSON_PARSER_MAX_DEPTH ? limit : JSON_PARSER_MAX_DEPTH);
            }
            break;
        case '}':
        case ']':
            if (depth) depth--;
            break;
        case ',':
            bytes += VALUE_BYTES;
            break;
        default:
            break;
        }
    }
    *out = bytes;
    return CUTIS_OK;
}

cutis_result cutis_json_parse(cutis_context *context, const char *file, const char *text,
                              size_t size, cutis_json *out)
{
    json_error_t error;
    uint64_t cost = 0;
    *out = (cutis_json){ 0 };
    cutis_result result = measure(context, file, text, size, &cost);
    if (result != CUTIS_OK) return result;
    if (cost > size * PARSE_FACTOR + PARSE_BASE || !cutis_charge(context, (size_t)cost))
        return cutis_fail(context, CUTIS_LIMIT_EXCEEDED,
                          "%s: byte 0: parsing its JSON would take %llu bytes of memory", file,
                          (unsigned long long)cost);
    json_t *root = json_loadb(text, size, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
    if (!root && error.text[0]) {
        // jansson's lexer calls a string it has no memory for a wrong token. What is wrong with a
        // text is so at any time.
        json_error_t again;
        root = json_loadb(text, size, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &again);
        if (!root && strcmp(error.text, again.text) != 0) error = again;
    }
    if (root) {
        *out = (cutis_json){ .root = root, .charged = (size_t)cost };
        return CUTIS_OK;
    }
    cutis_uncharge(context, (size_t)cost);
    // What is wrong with a text has a name; without one jansson had no memory to begin with.
    if (json_error_code(&error) == json_error_out_of_memory || !error.text[0])
        return cutis_fail(context, CUTIS_OUT_OF_MEMORY, "%s: no memory for its JSON", file);
    out->overflow = json_error_code(&error) == json_error_numeric_overflow;
    return cutis_fail(context, CUTIS_CORRUPT_DATA,
                      "%s: byte %d, line %d column %d: invalid JSON: %s", file, error.position,
                      error.line, error.column, error.text);
}

void cutis_json_release(cutis_context *context, cutis_json *json)
{
    json_decref(json->root);
    cutis_uncharge(context, json->charged);
    *json = (cutis_json){ 0 };
}

bool cutis_json_integer(const json_t *value, int64_t *out)
{
    const int64_t most = INT64_C(9007199254740984); // below 2^53, and aligned for any component
    if (json_is_integer(value)) {
        json_int_t whole = json_integer_value(value);
        *out = whole > most ? most : whole < -most ? -most : (int64_t)whole;
        return true;
    }
    if (!json_is_real(value)) return false;
    double real = json_real_value(value);
    if (real != floor(real)) return false;
    *out = real > (double)most ? most : real < -(double)most ? -most : (int64_t)real;
    return true;
}

json_t *cutis_json_float(float value)
{
    char text[40];
    if (value == 0) return signbit(value) ? json_real(-0.0) : json_integer(0);
    if (value == floorf(value) && fabsf(value) < 1e6f) return json_integer((json_int_t)value);
    for (int digits = 6; digits <= 9; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, (double)value);
        if (strtof(text, NULL) == value) break;
    }
    return json_real(strtod(text, NULL));
}

static void write_text(cutis_bytes *bytes, const char *text)
{
    cutis_bytes_append(bytes, text, strlen(text));
}

static void write_real(cutis_bytes *bytes, double value)
{
    char text[CUTIS_NUMBER_SIZE];
    double back;
    for (int digits = 15; digits <= 17; digits++) {
        size_t size = cutis_print_number(value, digits, text);
        if (cutis_parse_double((cutis_span){ text, size }, &back) && back == value) break;
    }
    write_text(bytes, text);
    if (!strpbrk(text, ".e")) write_text(bytes, ".0"); // an integral real stays a real
}

static void write_string(cutis_bytes *bytes, const char *text, size_t size)
{
    char escape[8];
    size_t plain = 0; // characters that stand for themselves go together
    cutis_bytes_append(bytes, "\"", 1);
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)text[i];
        const bool slash = c == '"' || c == '\\';
        if (!slash && c >= 0x20) continue;
        cutis_bytes_append(bytes, text + plain, i - plain);
        snprintf(escape, sizeof escape, slash ? "\\%c" : "\\u%04x", c);
        write_text(bytes, escape);
        plain = i + 1;
    }
    cutis_bytes_append(bytes, text + plain, size - plain);
    cutis_bytes_append(bytes, "\"", 1);
}

/// A container being written: arrays walk `index`, objects `iterator`.
typedef struct frame {
    const json_t *value;
    size_t index;
    void *iterator;
    bool one_line;
} frame;

static bool is_flat(const json_t *array)
{
    for (size_t i = 0; i < json_array_size(array); i++) {
        const json_t *item = json_array_get(array, i);
        if (json_is_array(item) || json_is_object(item)) return false;
    }
    return true;
}

static void write_break(cutis_bytes *bytes, size_t depth)
{
    cutis_bytes_append(bytes, "\n", 1);
    for (size_t i = 0; i < depth; i++) cutis_bytes_append(bytes, "  ", 2);
}

/// A scalar is written; a container is opened and pushed.
static void write_value(cutis_bytes *bytes, frame **stack, size_t *capacity, size_t *depth,
                        const json_t *value, bool compact)
{
    char text[CUTIS_NUMBER_SIZE];
    switch (json_typeof(value)) {
    case JSON_OBJECT:
    case JSON_ARRAY:
        if (!cutis_grow(bytes->context, stack, capacity, *depth + 1, sizeof **stack)) {
            bytes->failed = true;
            return;
        }
        (*stack)[(*depth)++] = (frame){
            .value = value,
            .iterator = json_is_object(value) ? json_object_iter((json_t *)value) : NULL,
            .one_line = compact || (json_is_array(value) && is_flat(value)),
        };
        write_text(bytes, json_is_object(value) ? "{" : "[");
        break;
    case JSON_STRING:
        write_string(bytes, json_string_value(value), json_string_length(value));
        break;
    case JSON_INTEGER:
        cutis_bytes_append(bytes, text, cutis_print_whole(json_integer_value(value), text));
        break;
    case JSON_REAL:
        write_real(bytes, json_real_value(value));
        break;
    case JSON_TRUE:
        write_text(bytes, "true");
        break;
    case JSON_FALSE:
        write_text(bytes, "false");
        break;
    case JSON_NULL:
        write_text(bytes, "null");
        break;
    }
}

void cutis_json_write(cutis_bytes *bytes, const json_t *value, bool compact)
{
    frame *stack = NULL;
    size_t capacity = 0, depth = 0;
    write_value(bytes, &stack, &capacity, &depth, value, compact);
    while (depth > 0 && !bytes->failed) {
        frame *top = &stack[depth - 1];
        bool object = json_is_object(top->value);
        size_t size = object ? json_object_size(top->value) : json_array_size(top->value);
        if (top->index == size) {
            depth--;
            if (size && !top->one_line) write_break(bytes, depth);
            write_text(bytes, object ? "}" : "]");
            continue;
        }
        if (top->index > 0) write_text(bytes, ",");
        if (!top->one_line) {
            write_break(bytes, depth);
        } else if (top->index > 0 && !compact) {
            write_text(bytes, " ");
        }
        const json_t *item;
        if (object) {
            const char *key = json_object_iter_key(top->iterator);
            write_string(bytes, key, strlen(key));
            write_text(bytes, compact ? ":" : ": ");
            item = json_object_iter_value(top->iterator);
            top->iterator = json_object_iter_next((json_t *)top->value, top->iterator);
        } else {
            item = json_array_get(top->value, top->index);
        }
        top->index++;
        write_value(bytes, &stack, &capacity, &depth, item, compact);
    }
    if (stack) cutis_free(bytes->context, stack, capacity * sizeof *stack);
}
