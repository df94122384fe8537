// Tokens and numbers of text files. The cursor never leaves [at, end); line counts every '\n' and
// every '\r' that stands alone. Number parsing and formatting are in number.c.
#include "io/text.h"

#include <string.h>

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\v' || c == '\f';
}
static bool is_break(char c)
{
    return c == '\n' || c == '\r';
}

cutis_text cutis_text_begin(const char *data, size_t size)
{
    cutis_text text = { data, data + size, 1 };
    if (size >= 3 && memcmp(data, "\xEF\xBB\xBF", 3) == 0) text.at += 3;
    return text;
}

bool cutis_text_is_wide(const char *data, size_t size)
{
    if (size < 2) return false;
    const unsigned char *bytes = (const unsigned char *)data;
    if (bytes[0] == 0xFF && bytes[1] == 0xFE) return true;
    if (bytes[0] == 0xFE && bytes[1] == 0xFF) return true;
    // Without a byte order mark: ASCII in two bytes has every other byte zero.
    return size >= 4 && ((!bytes[0] && bytes[1] && !bytes[2] && bytes[3]) ||
                         (bytes[0] && !bytes[1] && bytes[2] && !bytes[3]));
}

// Steps over one line end ("\n", "\r\n" or "\r") at `at`.
static void step_break(cutis_text *text)
{
    if (*text->at == '\r' && text->at + 1 < text->end && text->at[1] == '\n') text->at++;
    text->at++;
    text->line++;
}

// Blanks, and line ends that a backslash escapes.
static void skip_blanks(cutis_text *text)
{
    while (text->at < text->end) {
        if (is_blank(*text->at)) {
            text->at++;
        } else if (*text->at == '\\' && text->at + 1 < text->end && is_break(text->at[1])) {
            text->at++;
            step_break(text);
        } else {
            return;
        }
    }
}

cutis_span cutis_text_token(cutis_text *text)
{
    skip_blanks(text);
    cutis_span span = { text->at, 0 };
    while (text->at < text->end && !is_blank(*text->at) && !is_break(*text->at)) {
        if (*text->at == '\\' && text->at + 1 < text->end && is_break(text->at[1])) break;
        text->at++;
    }
    span.size = (size_t)(text->at - span.data);
    return span;
}

cutis_span cutis_text_rest(cutis_text *text)
{
    skip_blanks(text);
    cutis_span span = { text->at, 0 };
    while (text->at < text->end && !is_break(*text->at)) text->at++;
    span.size = (size_t)(text->at - span.data);
    while (span.size && is_blank(span.data[span.size - 1])) span.size--;
    return span;
}

bool cutis_text_next_line(cutis_text *text)
{
    for (;;) {
        const char *start = text->at;
        while (text->at < text->end && !is_break(*text->at)) text->at++;
        if (text->at == text->end) return false;
        bool escaped = text->at > start && text->at[-1] == '\\';
        step_break(text);
        if (!escaped) return text->at < text->end;
    }
}

cutis_span cutis_text_word(cutis_text *text)
{
    while (text->at < text->end && (is_blank(*text->at) || is_break(*text->at))) {
        if (is_break(*text->at))
            step_break(text);
        else
            text->at++;
    }
    cutis_span span = { text->at, 0 };
    while (text->at < text->end && !is_blank(*text->at) && !is_break(*text->at)) text->at++;
    span.size = (size_t)(text->at - span.data);
    return span;
}

bool cutis_span_is(cutis_span span, const char *word)
{
    size_t size = strlen(word);
    return span.size == size && memcmp(span.data, word, size) == 0;
}

bool cutis_span_equal(cutis_span a, cutis_span b)
{
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

bool cutis_span_is_any_case(cutis_span span, const char *word)
{
    size_t size = strlen(word);
    if (span.size != size) return false;
    for (size_t i = 0; i < size; i++)
        if (lower(span.data[i]) != lower(word[i])) return false;
    return true;
}
