/// A small JSON writer (emit_*, because jansson owns json_*): always well-formed, strings escaped
/// and made valid UTF-8, no locale, NaN and infinity as null.
#ifndef CUTIS_CLI_JSON_OUT_H
#define CUTIS_CLI_JSON_OUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define JSON_DEPTH 16 ///< deepest nesting the command ever writes

typedef struct json_out {
    FILE *file;
    uint32_t depth;
    bool compact;           ///< all of it on one line
    bool any[JSON_DEPTH];   ///< something was written at this depth
    bool array[JSON_DEPTH]; ///< the bracket to close with
} json_out;

/// What this thread adds, once, to the outermost object that it writes to `file`, before that ends;
/// NULL: nothing.
void emit_at_end(FILE *file, void (*add)(json_out *json, const void *user), const void *user);

/// In all of these `key` is NULL inside arrays and at the top.
void emit_object(json_out *json, const char *key);
void emit_array(json_out *json, const char *key);
void emit_end(json_out *json); ///< closes the innermost; the outermost ends the line
void emit_string(json_out *json, const char *key, const char *text); ///< NULL gives null
void emit_number(json_out *json, const char *key, double value);     ///< 9 digits
void emit_count(json_out *json, const char *key, uint64_t value);
/// A value that is JSON already, indented to fit.
void emit_raw(json_out *json, const char *key, const char *text);
/// An array; empty where `values` is NULL.
void emit_numbers(json_out *json, const char *key, const double *values, uint32_t count);

/// Several values at once, as the text will show them: words are keys, { [ ] } brackets, and each
/// conversion is a value whose type the compiler checks: %s text, %u and %ju counts, %g a number,
/// %.17g an exact one, %d true or false. Brackets may stay open for what follows:
/// emit(&json, "{ file %s vertices %u rows [", path, vertex_count).
void emit(json_out *json, const char *format, ...) __attribute__((format(printf, 2, 3)));

/// Length of the valid UTF-8 sequence at `s`, 0 if there is none (overlong forms and surrogates
/// included).
int utf8_length(const unsigned char *s);

#endif
