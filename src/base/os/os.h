/// The only door to the operating system: files, threads, time, memory, dynamic libraries, helper
/// programs. Everything else is portable C. NAME_posix.c and NAME_windows.c are twins; a file
/// without such an ending is for all. Paths are UTF-8 everywhere, with slashes; Windows takes
/// backslashes, too.
#ifndef CUTIS_BASE_OS_H
#define CUTIS_BASE_OS_H

#include <cutis/base.h>

#include <stdio.h>

// cutis-io and cutis-render use these across the border of libcutis.so; they are not part of its
// interface.
#pragma GCC visibility push(default)

// Files -----------------------------------------------------------------------------------------

/// Read a regular file whole (FIFOs, devices and directories are refused), up to the context's file
/// limit. `data` has one zero byte after its end. Release with cutis_free(context, *data, *size +
/// 1).
cutis_result cutis_os_read_file(cutis_context *context, const char *path, void **data,
                                size_t *size);

/// Resolve `relative` (already percent-decoded) against the folder of `base_file`: refuses absolute
/// paths, "..", schemes, and symbolic links that lead out of the folder. `out` has `capacity`
/// bytes.
cutis_result cutis_os_resolve_below(cutis_context *context, const char *base_file,
                                    const char *relative, char *out, size_t capacity);

/// An atomic write in progress: a temporary file beside the target; fsync, rename, fsync the folder
/// on commit (on Windows: flush, replace by name). Links are followed, to where there is nothing yet too; a replaced file keeps its
/// mode, and its owner and group where that is allowed. A file without write permission is refused
/// unless the context's replace_read_only says otherwise.
typedef struct cutis_os_write cutis_os_write;
cutis_result cutis_os_write_begin(cutis_context *context, const char *path, cutis_os_write **out);
cutis_result cutis_os_write_append(cutis_os_write *write, const void *data, size_t size);
cutis_result cutis_os_write_commit(cutis_os_write *write); ///< gone afterwards, also when it fails
/// Two files that belong together, `beside` (may be NULL) first, so that who finds the other finds
/// it too. Both or none: neither has its name before both are on the disk. Both are gone
/// afterwards.
cutis_result cutis_os_write_commit_both(cutis_os_write *beside, cutis_os_write *write);
void cutis_os_write_abort(cutis_os_write *write); ///< NULL is fine

/// Names of the regular files in a folder, sorted by bytes; an arena-owned array is the caller's
/// job: called once per name.
cutis_result cutis_os_list_folder(cutis_context *context, const char *folder,
                                  void (*visit)(void *user, const char *name), void *user);
bool cutis_os_file_exists(const char *path);

// Time, machine ---------------------------------------------------------------------------------

double cutis_os_seconds(void);           ///< monotonic
double cutis_os_processor_seconds(void); ///< of all threads; where it is not told: cutis_os_seconds
uint32_t cutis_os_core_count(void);      ///< cores this process may use
/// NULL if unset; good until the thread asks again.
const char *cutis_os_environment(const char *name);
/// `size` is a multiple of `alignment`, a power of two; NULL: none is left. It goes back by
/// cutis_os_memory_give, and by nothing else.
void *cutis_os_memory_take(size_t size, size_t alignment);
void cutis_os_memory_give(void *memory); ///< NULL is fine
/// Memory that will be filled as a whole: pages of it may be large.
void cutis_os_large_pages(void *memory, size_t size);

/// A stream for a library that speaks to one: what it says stands in `text`, as far as `size` goes,
/// when the stream is closed. NULL: there is none to be had.
FILE *cutis_os_stream_open(char *text, size_t size);
void cutis_os_stream_close(FILE *stream, char *text, size_t size);

// Threads ---------------------------------------------------------------------------------------

/// A pool of `thread_count - 1` workers; the caller of cutis_os_pool_run is the last thread.
/// thread_count 1 never starts a thread.
typedef struct cutis_os_pool cutis_os_pool;
cutis_result cutis_os_pool_create(cutis_context *context, uint32_t thread_count,
                                  cutis_os_pool **out);
void cutis_os_pool_destroy(cutis_os_pool *pool); ///< NULL is fine
/// task(data, 0 .. count - 1), each once, any order; returns when all are done. Several callers
/// take turns. A task must not call run on the same pool. Who waits spins a short while, so that
/// frames start and end fast, and then sleeps.
void cutis_os_pool_run(cutis_os_pool *pool, void (*task)(void *data, uint32_t index), void *data,
                       uint32_t count);

/// A lock that one thread holds at a time; not recursive.
typedef struct cutis_os_lock cutis_os_lock;
cutis_result cutis_os_lock_create(cutis_context *context, cutis_os_lock **out);
void cutis_os_lock_destroy(cutis_os_lock *lock); ///< NULL is fine
void cutis_os_lock_take(cutis_os_lock *lock);
void cutis_os_lock_give(cutis_os_lock *lock);
/// Give the lock, sleep until someone wakes those who wait, take it again. May wake by itself.
void cutis_os_lock_wait(cutis_os_lock *lock);
void cutis_os_lock_wake(cutis_os_lock *lock); ///< all who wait; with the lock held

// Dynamic libraries -----------------------------------------------------------------------------

void *cutis_os_library_open(const char *name); ///< NULL if it is not there
void *cutis_os_library_symbol(void *library, const char *name);
void cutis_os_library_close(void *library);

// Helper programs -------------------------------------------------------------------------------

/// What a helper exits with when its memory is used up.
enum { CUTIS_HELPER_NO_MEMORY = 3 };

/// A program that gets `input` on its standard input and answers on its standard output.
typedef struct cutis_os_helper {
    const char *program; ///< its path
    const void *input;
    size_t input_size;
    void *output;
    size_t output_size;    ///< it may not answer more
    uint64_t memory_bytes; ///< of address space
    uint32_t seconds;      ///< of processor time; on the clock it has several times as many
} cutis_os_helper;

/// The path of a helper of ours: what the environment's `variable` says (an absolute path), else
/// "libexec/cutis/NAME" beside or above the library that `beside` is in, or the running program. It
/// must be root's or the user's own, and not writable by a group or everybody.
bool cutis_os_find_helper(const char *name, const char *variable, const void *beside, char *out,
                          size_t capacity);

/// Run a helper and wait for its end. It inherits nothing, and whatever it does ends with it.
/// @param got bytes of its answer
/// @return CUTIS_LIMIT_EXCEEDED: it needs more time or memory; CUTIS_CORRUPT_DATA: it crashed,
/// failed or said too much; CUTIS_UNSUPPORTED: it cannot be started; CUTIS_CANCELLED: the caller
/// asked for it, and the helper was ended. The error text says so, without a file.
cutis_result cutis_os_run_helper(cutis_context *context, const cutis_os_helper *helper,
                                 size_t *got);

/// The user's cache folder for Cutis ("$XDG_CACHE_HOME/cutis" or "~/.cache/cutis"; on Windows
/// "%LOCALAPPDATA%/cutis"), created if needed; false if there is none.
bool cutis_os_cache_folder(char *out, size_t capacity);

#pragma GCC visibility pop

#endif
