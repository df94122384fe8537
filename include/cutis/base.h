/// Results, contexts, memory, limits, progress: what every other header stands on.
///
/// A context carries an allocator, limits and callbacks. These headers are C99 or C++11.
///
/// Threads: a context may be used by several at once; the text of the last error belongs to the
/// thread whose call failed. Progress and log are called in the thread whose call they are about,
/// the allocator in any. Here and in all other headers, an object is destroyed when no other thread
/// uses it, and functions without an object may be called from anywhere.
///
/// Calls that make objects: on failure `*out` and `*report` are NULL. Options may be NULL, `report`
/// too (not wanted); other pointers may not unless it is said. A call that lacks one returns
/// CUTIS_INVALID_ARGUMENT and sets no error text, or does nothing. The results named at a call are
/// those it is known for.
#ifndef CUTIS_BASE_H
#define CUTIS_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#define CUTIS_API
#else
#define CUTIS_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/// The version of these headers. While the major number is 0 a new minor number may change anything
/// (and the soname: libcutis.so.0.1); a new patch number changes neither source nor binary
/// interface.
#define CUTIS_VERSION_MAJOR 0
#define CUTIS_VERSION_MINOR 1
#define CUTIS_VERSION_PATCH 0
/// One number to compare: 1002003 is 1.2.3.
#define CUTIS_VERSION_NUMBER                                                                       \
    (CUTIS_VERSION_MAJOR * 1000000 + CUTIS_VERSION_MINOR * 1000 + CUTIS_VERSION_PATCH)

/// Every result: name, number, text. The enum, cutis_result_text and the tests grow from this list.
/// Numbers never change.
#define CUTIS_RESULTS(X)                                                                           \
    X(OK, 0, "success")                                                                            \
    X(CANCELLED, 1, "stopped because the caller asked for it")                                     \
    X(INVALID_ARGUMENT, 10, "an argument breaks the function's contract")                          \
    X(BUFFER_TOO_SMALL, 11, "the caller's memory is too small; the counts needed are returned")    \
    X(UNSUPPORTED, 12, "this combination of model, method and device is not possible")             \
    X(NOT_FOUND, 13, "there is no clip, joint, mesh or device of that name")                       \
    X(OUT_OF_MEMORY, 20, "the allocator returned NULL")                                            \
    X(LIMIT_EXCEEDED, 21, "a limit of the context was reached")                                    \
    X(CORRUPT_DATA, 30, "the data contradicts itself or its format")                               \
    X(UNSUPPORTED_FORMAT, 31, "the format, or a feature the file requires, is not supported")      \
    X(FILE_NOT_FOUND, 40, "the file does not exist")                                               \
    X(FILE_READ, 41, "the file cannot be read")                                                    \
    X(FILE_WRITE, 42, "the file cannot be written")                                                \
    X(DEVICE_UNAVAILABLE, 50, "the device, its driver or its compiler is not there")               \
    X(DEVICE_LOST, 51, "the device stopped answering")                                             \
    X(DEVICE_OUT_OF_MEMORY, 52, "the device has no memory left")                                   \
    X(DEVICE_BUILD_FAILED, 53, "the device's compiler refused a kernel")                           \
    X(INTERNAL, 90, "a promise of our own code does not hold; please report it")

typedef enum cutis_result {
#define CUTIS_RESULT_ENUM(name, number, text) CUTIS_##name = number,
    CUTIS_RESULTS(CUTIS_RESULT_ENUM)
#undef CUTIS_RESULT_ENUM
} cutis_result;

/// One English sentence for a result, without full stop; "unknown result" for other numbers. Static
/// memory.
CUTIS_API const char *cutis_result_text(cutis_result result);

/// The name of a result as in the list ("CORRUPT_DATA"). Static memory.
CUTIS_API const char *cutis_result_name(cutis_result result);

/// The library's version, for example "0.1.0". Static memory.
CUTIS_API const char *cutis_version(void);
/// The library's CUTIS_VERSION_NUMBER, which may be another than that of the headers.
CUTIS_API uint32_t cutis_version_number(void);

/// Where memory comes from. Both functions may be called from any thread.
typedef struct cutis_allocator {
    /// @return `size` bytes (never 0) aligned to `alignment` (a power of two), or NULL
    void *(*allocate)(void *user, size_t size, size_t alignment);
    /// @param memory what allocate returned, never NULL; @param size the size asked for then
    void (*release)(void *user, void *memory, size_t size);
    void *user; ///< handed to both
} cutis_allocator;

/// What data from outside may ask for. Zero means the default in brackets.
typedef struct cutis_limits {
    uint64_t memory_bytes; ///< allocated through one context at any time [no limit]
    uint64_t file_bytes;   ///< one file read whole [4 GiB]
    uint32_t vertex_count; ///< of one model, and of its instances together [2^26]
    uint32_t node_count;   ///< nodes of one model [2^20]
    uint32_t joint_count;  ///< joints of one skin [2^20]
    uint32_t nesting;      ///< depth of JSON, XML and node hierarchies [512]
} cutis_limits;

/// Told about long work. `fraction` runs from 0 to 1 within a `stage`, or stays where the end of
/// the stage is not known.
/// @return false to stop: the call then cleans up and returns CUTIS_CANCELLED
typedef bool (*cutis_progress_function)(void *user, const char *stage, double fraction);

/// Told about what is worth knowing but no error, one line without newline.
typedef void (*cutis_log_function)(void *user, const char *line);

/// The zero value is a good default: malloc, default limits, silence.
///
/// Structs with a `struct_size` will grow, at their end. A library takes those of older versions;
/// of a newer one than its own it takes none (CUTIS_UNSUPPORTED).
typedef struct cutis_context_options {
    uint32_t struct_size;      ///< sizeof of this struct where you compile; 0: as of version 0.1
    cutis_allocator allocator; ///< all zero: malloc and free
    cutis_limits limits;
    cutis_progress_function progress; ///< NULL: none
    void *progress_user;
    cutis_log_function log; ///< NULL: none
    void *log_user;
    bool replace_read_only; ///< writers replace files without write permission too; else they are
                            ///< refused (CUTIS_FILE_WRITE)
} cutis_context_options;

typedef struct cutis_context cutis_context;

/// Create a context. It must outlive everything made with it.
/// @param options NULL for the defaults; copied
CUTIS_API cutis_result cutis_context_create(const cutis_context_options *options,
                                            cutis_context **out);

/// Destroy a context; NULL is fine.
CUTIS_API void cutis_context_destroy(cutis_context *context);

/// What went wrong in this thread's last failing call with this context: what, where, what to do;
/// one line. Empty if nothing did. Valid until the thread's next failing call, with any context.
/// Objects given to one call may have different contexts: the error is in that of the call's first
/// argument.
CUTIS_API const char *cutis_context_error(const cutis_context *context);

/// Release memory that a call gave away with its size (cutis_file_read, cutis_image_encode_png,
/// ...). NULL is fine.
/// @param size as the call gave it
CUTIS_API void cutis_memory_free(cutis_context *context, void *memory, size_t size);

/// Bytes allocated through the context now.
CUTIS_API uint64_t cutis_context_memory(const cutis_context *context);

#ifdef __cplusplus
}
#endif
#endif
