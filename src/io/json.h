/// JSON by jansson, made safe for hostile text and deterministic on the way out: nesting and memory
/// are bounded before the parser runs, and numbers are written with the fewest digits that read
/// back as the same double.
#ifndef CUTIS_IO_JSON_H
#define CUTIS_IO_JSON_H

#include <cutis/base.h>
#include <jansson.h>

/// Bytes that grow; the zero value with `context` set is empty. Once an append fails, `failed`
/// stays set and appends do nothing, so a writer checks once at its end.
typedef struct cutis_bytes {
    cutis_context *context;
    uint8_t *data;
    size_t size, capacity;
    bool failed;
} cutis_bytes;

void cutis_bytes_append(cutis_bytes *bytes, const void *data, size_t size);
void cutis_bytes_pad(cutis_bytes *bytes, size_t alignment, uint8_t value);
void cutis_bytes_drop(cutis_bytes *bytes);

/// A parsed document, and what it counts for in the context's memory.
typedef struct cutis_json {
    json_t *root;
    size_t charged;
    bool overflow; ///< parsing failed because of a number beyond what a double holds
} cutis_json;

/// Parse one JSON value; duplicate keys, invalid UTF-8 and anything after it are errors. What it
/// can take is estimated and charged to the context before the parser runs. The error reads "file:
/// byte B, line L column C: reason". Release with cutis_json_release.
/// @return CUTIS_OK, CUTIS_CORRUPT_DATA, CUTIS_OUT_OF_MEMORY, CUTIS_LIMIT_EXCEEDED (nested deeper
/// than the context allows, more memory than 48 times the text plus 8 MiB, or than the limit)
cutis_result cutis_json_parse(cutis_context *context, const char *file, const char *text,
                              size_t size, cutis_json *out);
void cutis_json_release(cutis_context *context, cutis_json *json);

/// Write a value with two spaces of indentation; arrays of numbers stand on one line. `compact`: no
/// white space at all.
void cutis_json_write(cutis_bytes *bytes, const json_t *value, bool compact);

/// A real that holds a float: the shortest decimal that reads back as that float, so that files
/// show 0.1, not 0.10000000149011612.
json_t *cutis_json_float(float value);

/// Whole number of an integer or an integral real, below 2^53 either way (more becomes that:
/// no file has that many of anything); false for anything else.
bool cutis_json_integer(const json_t *value, int64_t *out);

#endif
