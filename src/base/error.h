/// Setting a context's error text, logging, progress.
#ifndef CUTIS_BASE_ERROR_H
#define CUTIS_BASE_ERROR_H

#include <cutis/base.h>

// cutis-io and cutis-render use these across the border of libcutis.so; they are not part of its
// interface.
#pragma GCC visibility push(default)

/// Set this thread's error text for the context and return `result`, so that a check is one line:
/// `return cutis_fail(context, CUTIS_CORRUPT_DATA, "%s: accessor %u: ...", file, i);`
/// Control characters in arguments come out as '?', so an error is always one line.
cutis_result cutis_fail(cutis_context *context, cutis_result result, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
#ifdef __clang_analyzer__ // it looks at one file at a time, and must know what comes back
#define cutis_fail(context, result, ...) (cutis_fail(context, result, __VA_ARGS__), (result))
#endif

/// For the two reasons that are most common; as CORRUPT of model/validate.h.
#define INVALID(context, ...)     cutis_fail(context, CUTIS_INVALID_ARGUMENT, __VA_ARGS__)
#define UNSUPPORTED(context, ...) cutis_fail(context, CUTIS_UNSUPPORTED, __VA_ARGS__)

/// Hand the error just set, if `result` is one, over to a context: for calls whose objects may have
/// several.
cutis_result cutis_fail_in(cutis_context *context, cutis_result result);

/// Between true and false, failures in this thread leave no text: they are tolerated.
void cutis_errors_ignore(bool ignore);

void cutis_log(cutis_context *context, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/// CUTIS_OK, or CUTIS_CANCELLED (with the error text set) when the caller asked to stop.
cutis_result cutis_progress(cutis_context *context, const char *stage, double fraction);

/// The limits in force, defaults filled in.
const cutis_limits *cutis_context_limits(const cutis_context *context);

/// Options that begin with their struct_size, and have `size` bytes in this library: a copy, zeros
/// where an older caller's end, or all if `from` is NULL. false: they are a newer library's.
/// @param first their size in version 0.1, which a struct_size of 0 stands for
bool cutis_options_copy(void *to, size_t size, size_t first, const void *from);

#pragma GCC visibility pop

/// Return what a call returns unless it is CUTIS_OK; for functions with nothing to release.
#define TRY(call)                                                                                  \
    do {                                                                                           \
        const cutis_result tried = (call);                                                         \
        if (tried != CUTIS_OK) return tried;                                                       \
    } while (0)

/// Of a struct_size that this library does not know.
#define CUTIS_NEWER "%s: the options are of a newer version of the library than this one"

#endif
