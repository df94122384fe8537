/// Contexts: options with their defaults, error texts, logging, progress.
///
/// The error text is one buffer per thread, tagged with the context it belongs to: a failing call
/// never races with another thread's, and reading it takes no lock. It is always one line of valid
/// text without control characters.
#include "base/context.h"
#include "base/error.h"
#include "base/os/os.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { ERROR_CAPACITY = 1024 };

static _Thread_local struct {
    uint64_t context; ///< its id; 0: none
    bool ignore;
    char text[ERROR_CAPACITY];
} last_error;

// From this size on whole large pages are asked for: a page fault each 2 MiB in place of 512 of
// them halves the time to fill such arrays (docs/benchmarks.md, weight reduction).
static const size_t LARGE = 4u << 20, LARGE_PAGE = 2u << 20;

static void *default_allocate(void *user, size_t size, size_t alignment)
{
    (void)user;
    if (size >= LARGE && alignment < LARGE_PAGE) alignment = LARGE_PAGE;
    size_t rounded = (size + alignment - 1) / alignment * alignment;
    void *memory = rounded < size ? NULL : cutis_os_memory_take(rounded, alignment);
    // What is over stays in small pages: nobody touches the rest of a large one.
    if (memory && size >= LARGE) cutis_os_large_pages(memory, size / LARGE_PAGE * LARGE_PAGE);
    return memory;
}

static void default_release(void *user, void *memory, size_t size)
{
    (void)user;
    (void)size;
    cutis_os_memory_give(memory);
}

static void fill_defaults(cutis_context_options *options)
{
    if (!options->allocator.allocate) {
        options->allocator =
            (cutis_allocator){ .allocate = default_allocate, .release = default_release };
    }
    cutis_limits *limits = &options->limits;
    if (!limits->memory_bytes) limits->memory_bytes = UINT64_MAX;
    if (!limits->file_bytes) limits->file_bytes = (uint64_t)4 << 30;
    if (!limits->vertex_count) limits->vertex_count = 64u << 20;
    if (!limits->node_count) limits->node_count = 1u << 20;
    if (!limits->joint_count) limits->joint_count = 1u << 20;
    if (!limits->nesting) limits->nesting = 512;
}

bool cutis_options_copy(void *to, size_t size, size_t first, const void *from)
{
    uint32_t given = 0;
    memset(to, 0, size);
    if (!from) return true;
    memcpy(&given, from, sizeof given);
    if (given > size) return false;
    memcpy(to, from, given ? given : first);
    return true;
}

cutis_result cutis_context_create(const cutis_context_options *options, cutis_context **out)
{
    cutis_context_options filled;
    if (out) *out = NULL;
    if (!cutis_options_copy(&filled, sizeof filled, sizeof filled, options))
        return CUTIS_UNSUPPORTED;
    if (!out || !filled.allocator.allocate != !filled.allocator.release)
        return CUTIS_INVALID_ARGUMENT;
    fill_defaults(&filled);
    cutis_context *context = filled.allocator.allocate(filled.allocator.user, sizeof *context, 64);
    if (!context) return CUTIS_OUT_OF_MEMORY;
    static _Atomic uint64_t contexts;
    context->options = filled;
    context->id = atomic_fetch_add(&contexts, 1) + 1;
    atomic_init(&context->memory_used, 0);
    *out = context;
    return CUTIS_OK;
}

void cutis_context_destroy(cutis_context *context)
{
    if (!context) return;
    cutis_allocator allocator = context->options.allocator;
    allocator.release(allocator.user, context, sizeof *context);
}

const char *cutis_context_error(const cutis_context *context)
{
    return context && last_error.context == context->id ? last_error.text : "";
}

uint64_t cutis_context_memory(const cutis_context *context)
{
    return context ? atomic_load(&context->memory_used) : 0;
}

const cutis_limits *cutis_context_limits(const cutis_context *context)
{
    return &context->options.limits;
}

/// Names in files are hostile too: nothing in them may start a new line or move a terminal's cursor
/// (U+009B does that as well as ESC [). A text that was cut to fit ends with a whole character.
static void make_one_line(char *text)
{
    unsigned char *c = (unsigned char *)text;
    for (; *c; c++) {
        if (*c < 0x20 || *c == 0x7f) *c = '?';
        if (c[0] == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0) c[0] = c[1] = '?';
    }
    int back = 0; // continuation bytes at the end
    while (back < 3 && c - back > (unsigned char *)text && (c[-1 - back] & 0xc0) == 0x80) back++;
    unsigned char *lead = c - 1 - back;
    if (lead < (unsigned char *)text || *lead < 0xc0) return;
    if (back + 1 < (*lead >= 0xf0 ? 4 : *lead >= 0xe0 ? 3 : 2)) *lead = 0;
}

cutis_result(cutis_fail)(cutis_context *context, cutis_result result, const char *format, ...)
{
    char text[ERROR_CAPACITY]; // arguments may point into last_error.text itself
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    make_one_line(text);
    if (!context || last_error.ignore) return result;
    last_error.context = context->id;
    snprintf(last_error.text, sizeof last_error.text, "%s", text);
    return result;
}

cutis_result cutis_fail_in(cutis_context *context, cutis_result result)
{
    if (result != CUTIS_OK) last_error.context = context->id;
    return result;
}

void cutis_errors_ignore(bool ignore)
{
    last_error.ignore = ignore;
}

void cutis_log(cutis_context *context, const char *format, ...)
{
    if (!context->options.log) return;
    char line[ERROR_CAPACITY];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    make_one_line(line);
    context->options.log(context->options.log_user, line);
}

cutis_result cutis_progress(cutis_context *context, const char *stage, double fraction)
{
    const cutis_context_options *options = &context->options;
    if (!options->progress || options->progress(options->progress_user, stage, fraction))
        return CUTIS_OK;
    return cutis_fail(context, CUTIS_CANCELLED, "%s: stopped on request", stage);
}
