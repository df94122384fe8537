/// Reading and writing text files: tokens with line numbers, numbers without locale.
///
/// A cursor never moves past `end`; the text needs no terminator. Numbers are correctly rounded, so
/// what "%.9g" wrote comes back in the same bits on every machine and under every locale.
#ifndef CUTIS_IO_TEXT_H
#define CUTIS_IO_TEXT_H

#include <cutis/base.h>

#include "base/utf8.h"

/// Bytes inside the text; not terminated. size 0: nothing there.
typedef struct cutis_span {
    const char *data;
    size_t size;
} cutis_span;

typedef struct cutis_text {
    const char *at, *end;
    size_t line; ///< of `at`, from 1
} cutis_text;

/// Starts at the first line, after a UTF-8 byte order mark if there is one.
cutis_text cutis_text_begin(const char *data, size_t size);

/// Whether the bytes look like UTF-16 or UTF-32, which no text format here may be.
bool cutis_text_is_wide(const char *data, size_t size);

/// The next token of this line (a backslash before the line's end continues it); empty at the
/// line's end.
cutis_span cutis_text_token(cutis_text *text);
/// What is left of this line, without blanks at its ends; does not leave the line.
cutis_span cutis_text_rest(cutis_text *text);
/// Go to the start of the next line (also past escaped line ends, unless cutis_text_rest came
/// first); false at the end of the text.
bool cutis_text_next_line(cutis_text *text);
/// The next token on this or any later line; empty at the end of the text.
cutis_span cutis_text_word(cutis_text *text);

bool cutis_span_is(cutis_span span, const char *word);
bool cutis_span_equal(cutis_span a, cutis_span b);
/// ASCII letters in either case.
bool cutis_span_is_any_case(cutis_span span, const char *word);

/// For "%.*s" in error texts: at most 40 bytes are shown.
#define CUTIS_SPAN_SHOW(span) ((int)((span).size < 40 ? (span).size : 40)), (span).data

/// A finite decimal number that fills the whole span, rounded correctly to the nearest, ties to
/// even. false: not one, or too large.
bool cutis_parse_float(cutis_span span, float *out);
bool cutis_parse_double(cutis_span span, double *out);
/// A whole number, with sign; false if it is not one or leaves int64.
bool cutis_parse_int(cutis_span span, int64_t *out);

/// As "%lld", without what printf costs: documents are full of indices. @return its length
enum { CUTIS_NUMBER_SIZE = 40 };
size_t cutis_print_whole(int64_t value, char text[CUTIS_NUMBER_SIZE]);
/// As "%.*g", with '.' under every locale. @return its length
size_t cutis_print_number(double value, int digits, char text[CUTIS_NUMBER_SIZE]);
/// The same with so many digits that it comes back in the same bits.
size_t cutis_format_float(float value, char text[CUTIS_NUMBER_SIZE]);
size_t cutis_format_double(double value, char text[CUTIS_NUMBER_SIZE]);

#endif
