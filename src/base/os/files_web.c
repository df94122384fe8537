/// Files on the web: there are none. The page hands over what it read as arrays.
#include "base/os/os.h"
#include "base/error.h"

#if defined(__wasm__)

static cutis_result no_files(cutis_context *context, cutis_result result, const char *path)
{
    return cutis_fail(context, result, "%s: a web page has no files", path);
}

cutis_result cutis_os_read_file(cutis_context *context, const char *path, void **data, size_t *size)
{
    (void)data, (void)size;
    return no_files(context, CUTIS_FILE_NOT_FOUND, path);
}

cutis_result cutis_os_resolve_below(cutis_context *context, const char *base_file,
                                    const char *relative, char *out, size_t capacity)
{
    (void)relative, (void)out, (void)capacity;
    return no_files(context, CUTIS_FILE_NOT_FOUND, base_file);
}

cutis_result cutis_os_list_folder(cutis_context *context, const char *folder,
                                  void (*visit)(void *user, const char *name), void *user)
{
    (void)visit, (void)user;
    return no_files(context, CUTIS_FILE_READ, folder);
}

bool cutis_os_file_exists(const char *path)
{
    (void)path;
    return false;
}

bool cutis_os_cache_folder(char *out, size_t capacity)
{
    (void)out, (void)capacity;
    return false;
}

cutis_result cutis_os_write_begin(cutis_context *context, const char *path, cutis_os_write **out)
{
    (void)out;
    return no_files(context, CUTIS_FILE_WRITE, path);
}

// Never reached: no write begins.
cutis_result cutis_os_write_append(cutis_os_write *write, const void *data, size_t size)
{
    (void)write, (void)data, (void)size;
    return CUTIS_FILE_WRITE;
}

cutis_result cutis_os_write_commit(cutis_os_write *write)
{
    (void)write;
    return CUTIS_FILE_WRITE;
}

cutis_result cutis_os_write_commit_both(cutis_os_write *beside, cutis_os_write *write)
{
    (void)beside, (void)write;
    return CUTIS_FILE_WRITE;
}

void cutis_os_write_abort(cutis_os_write *write)
{
    (void)write;
}

#else
typedef int cutis_files_web_empty; // ISO C wants a declaration in every file
#endif
