/// The writer of json_out.h. Invariant: what has been written, closed by the open brackets, is
/// valid JSON.
#include "json_out.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

static void put_string(FILE *file, const char *text);

static void new_line(json_out *json)
{
    if (json->compact) return;
    fputc('\n', json->file);
    for (uint32_t i = 0; i < json->depth; i++) fputs("  ", json->file);
}

static void start_value(json_out *json, const char *key)
{
    if (json->depth > 0) {
        if (json->any[json->depth - 1]) fputc(',', json->file);
        json->any[json->depth - 1] = true;
        new_line(json);
    }
    if (key) {
        put_string(json->file, key);
        fputs(json->compact ? ":" : ": ", json->file);
    }
}

static void open_bracket(json_out *json, const char *key, bool array)
{
    start_value(json, key);
    fputc(array ? '[' : '{', json->file);
    if (json->depth == JSON_DEPTH)
        return; // our own code never nests so deep; stay in bounds anyway
    json->any[json->depth] = false;
    json->array[json->depth] = array;
    json->depth++;
}

void emit_object(json_out *json, const char *key)
{
    open_bracket(json, key, false);
}

void emit_array(json_out *json, const char *key)
{
    open_bracket(json, key, true);
}

static _Thread_local struct {
    FILE *file;
    void (*add)(json_out *json, const void *user);
    const void *user;
} at_end;

void emit_at_end(FILE *file, void (*add)(json_out *json, const void *user), const void *user)
{
    at_end.file = file;
    at_end.add = add;
    at_end.user = user;
}

void emit_end(json_out *json)
{
    if (json->depth == 0) return;
    if (json->depth == 1 && !json->array[0] && json->file == at_end.file && at_end.add) {
        void (*add)(json_out *, const void *) = at_end.add;
        at_end.add = NULL;
        add(json, at_end.user);
    }
    json->depth--;
    if (json->any[json->depth]) new_line(json);
    fputc(json->array[json->depth] ? ']' : '}', json->file);
    if (json->depth == 0) fputc('\n', json->file);
}

int utf8_length(const unsigned char *s)
{
    if (s[0] < 0x80) return 1;
    int length = s[0] >= 0xc2 && s[0] <= 0xdf   ? 2
                 : s[0] >= 0xe0 && s[0] <= 0xef ? 3
                 : s[0] >= 0xf0 && s[0] <= 0xf4 ? 4
                                                : 0;
    for (int i = 1; i < length; i++)
        if ((s[i] & 0xc0) != 0x80) return 0;
    if (s[0] == 0xe0 && s[1] < 0xa0) return 0;
    if (s[0] == 0xed && s[1] > 0x9f) return 0;
    if (s[0] == 0xf0 && s[1] < 0x90) return 0;
    if (s[0] == 0xf4 && s[1] > 0x8f) return 0;
    return length;
}

static void put_string(FILE *file, const char *text)
{
    fputc('"', file);
    for (const unsigned char *s = (const unsigned char *)text; *s;) {
        int length = utf8_length(s);
        if (length == 0) {
            fputs("\\ufffd", file);
            s++;
        } else if (*s == '"' || *s == '\\') {
            fprintf(file, "\\%c", *s++);
        } else if (*s < 0x20 || *s == 0x7f) {
            fprintf(file, "\\u%04x", *s++);
        } else {
            fwrite(s, 1, (size_t)length, file);
            s += length;
        }
    }
    fputc('"', file);
}

void emit_string(json_out *json, const char *key, const char *text)
{
    start_value(json, key);
    if (text)
        put_string(json->file, text);
    else
        fputs("null", json->file);
}

static void put_text(json_out *json, const char *key, const char *text)
{
    start_value(json, key);
    fputs(text, json->file);
}

static void put_number(json_out *json, const char *key, double value, int digits)
{
    char text[40];
    snprintf(text, sizeof text, "%.*g", digits, value);
    put_text(json, key, isfinite(value) ? text : "null");
}

void emit_number(json_out *json, const char *key, double value)
{
    put_number(json, key, value, 9);
}

void emit_count(json_out *json, const char *key, uint64_t value)
{
    start_value(json, key);
    fprintf(json->file, "%llu", (unsigned long long)value);
}

// Texts of ours have line ends only between values: strings escape them.
void emit_raw(json_out *json, const char *key, const char *text)
{
    start_value(json, key);
    for (; *text && strcmp(text, "\n") != 0; text++) {
        fputc(*text, json->file);
        if (*text != '\n') continue;
        for (uint32_t i = 0; i < json->depth; i++) fputs("  ", json->file);
    }
}

void emit_numbers(json_out *json, const char *key, const double *values, uint32_t count)
{
    emit_array(json, key);
    for (uint32_t i = 0; values && i < count; i++) emit_number(json, NULL, values[i]);
    emit_end(json);
}

void emit(json_out *json, const char *format, ...)
{
    char word[64], key[64] = "";
    va_list values;
    va_start(values, format);
    for (const char *at = format; *at;) {
        const size_t span = strcspn(at, " ");
        const char *name = *key ? key : NULL;
        snprintf(word, sizeof word, "%.*s", (int)span, at);
        at += span + (at[span] == ' ');
        if (strcmp(word, "}") == 0 || strcmp(word, "]") == 0)
            emit_end(json);
        else if (strcmp(word, "{") == 0 || strcmp(word, "[") == 0)
            open_bracket(json, name, *word == '[');
        else if (strcmp(word, "%s") == 0)
            emit_string(json, name, va_arg(values, const char *));
        else if (strcmp(word, "%u") == 0)
            emit_count(json, name, va_arg(values, uint32_t));
        else if (strcmp(word, "%ju") == 0)
            emit_count(json, name, va_arg(values, uintmax_t));
        else if (strcmp(word, "%g") == 0)
            emit_number(json, name, va_arg(values, double));
        else if (strcmp(word, "%.17g") == 0)
            put_number(json, name, va_arg(values, double), 17);
        else if (strcmp(word, "%d") == 0)
            put_text(json, name, va_arg(values, int) ? "true" : "false");
        else {
            assert(*word != '%'); // its value would be the next one's
            memcpy(key, word, sizeof key);
            continue;
        }
        *key = 0;
    }
    va_end(values);
}
