/// Files on Windows: whole regular files in, atomic files out. Paths are UTF-8 and of any length.
///
/// Invariant of writing, as on POSIX systems: the target's name refers to the old content or to the
/// new content, whole, at any moment; a kill leaves at most a temporary file named
/// ".NAME.cutis-XXXX" beside it. A file that is replaced keeps its permissions and attributes; a
/// link stays a link; a read-only file stays as it is unless the context allows otherwise.
#include "base/os/os.h"
#include "base/context.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/os/files.h"
#include "base/os/wide.h"
#include "base/path.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

enum { SHARE_ALL = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE };
static const DWORD PIECE = 1u << 30; // a call reads and writes less than 4 GiB

static cutis_result fail_with(cutis_context *context, cutis_result result, const char *path,
                              DWORD error)
{
    char reason[OS_REASON];
    return cutis_fail(context, result, "%s: %s", path, cutis_os_reason(error, reason));
}

// Reading ---------------------------------------------------------------------------------------

static cutis_result refuse_opening(cutis_context *context, const char *path, DWORD error)
{
    const bool missing = error == ERROR_FILE_NOT_FOUND || error == ERROR_PATH_NOT_FOUND ||
                         error == ERROR_INVALID_DRIVE || error == ERROR_BAD_NETPATH ||
                         error == ERROR_BAD_NET_NAME || error == ERROR_INVALID_NAME;
    return fail_with(context, missing ? CUTIS_FILE_NOT_FOUND : CUTIS_FILE_READ, path, error);
}

static cutis_result open_regular(cutis_context *context, const char *path, HANDLE *out,
                                 size_t *size)
{
    wchar_t *wide = cutis_os_wide_path(path);
    if (!wide) return refuse_opening(context, path, GetLastError());
    // Folders too, so that they can be told from what may not be read. Others may replace or
    // remove the file while it is read: what is open stays whole.
    HANDLE file = CreateFileW(wide, GENERIC_READ, SHARE_ALL, NULL, OPEN_EXISTING,
                              FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_SEQUENTIAL_SCAN, NULL);
    const DWORD error = GetLastError();
    free(wide);
    if (file == INVALID_HANDLE_VALUE) return refuse_opening(context, path, error);
    BY_HANDLE_FILE_INFORMATION info;
    if (GetFileType(file) != FILE_TYPE_DISK || !GetFileInformationByHandle(file, &info) ||
        info.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) {
        CloseHandle(file);
        return cutis_fail(context, CUTIS_FILE_READ, "%s: not a regular file", path);
    }
    const uint64_t length = (uint64_t)info.nFileSizeHigh << 32 | info.nFileSizeLow;
    const uint64_t limit = cutis_context_limits(context)->file_bytes;
    if (length > limit) {
        CloseHandle(file);
        return cutis_fail(context, CUTIS_LIMIT_EXCEEDED, "%s: %llu bytes, the limit is %llu", path,
                          (unsigned long long)length, (unsigned long long)limit);
    }
    *out = file;
    *size = (size_t)length;
    return CUTIS_OK;
}

static cutis_result read_fully(cutis_context *context, const char *path, HANDLE file, char *data,
                               size_t size)
{
    for (size_t done = 0; done < size;) {
        const size_t left = size - done;
        DWORD got = 0;
        if (!ReadFile(file, data + done, left < PIECE ? (DWORD)left : PIECE, &got, NULL))
            return fail_with(context, CUTIS_FILE_READ, path, GetLastError());
        if (got == 0)
            return cutis_fail(context, CUTIS_FILE_READ, "%s: shrank while it was read", path);
        done += got;
    }
    return CUTIS_OK;
}

cutis_result cutis_os_read_file(cutis_context *context, const char *path, void **data, size_t *size)
{
    HANDLE file = INVALID_HANDLE_VALUE;
    size_t length = 0;
    TRY(open_regular(context, path, &file, &length));
    char *bytes = cutis_alloc(context, length + 1);
    cutis_result result =
        bytes ? read_fully(context, path, file, bytes, length) : cutis_alloc_result(context);
    CloseHandle(file);
    if (result != CUTIS_OK) {
        cutis_free(context, bytes, length + 1);
        return result;
    }
    bytes[length] = 0;
    *data = bytes;
    *size = length;
    return CUTIS_OK;
}

// Paths -----------------------------------------------------------------------------------------

/// The path with all links followed, of malloc's. NULL: GetLastError says why.
static wchar_t *real_path(const wchar_t *path)
{
    HANDLE file = CreateFileW(path, 0, SHARE_ALL, NULL, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS,
                              NULL);
    if (file == INVALID_HANDLE_VALUE) return NULL;
    wchar_t *real = malloc(OS_WIDE_PATH * sizeof *real);
    const DWORD length = real ? GetFinalPathNameByHandleW(file, real, OS_WIDE_PATH, 0) : 0;
    const DWORD error = real ? GetLastError() : ERROR_NOT_ENOUGH_MEMORY;
    CloseHandle(file);
    if (length > 0 && length < OS_WIDE_PATH) return real;
    free(real);
    SetLastError(length ? ERROR_FILENAME_EXCED_RANGE : error);
    return NULL;
}

static wchar_t *real_path_of(const char *path)
{
    wchar_t *wide = cutis_os_wide_path(path), *real = wide ? real_path(wide) : NULL;
    const DWORD error = GetLastError();
    free(wide);
    SetLastError(error);
    return real;
}

static DWORD attributes_of(const char *path)
{
    wchar_t *wide = cutis_os_wide_path(path);
    const DWORD attributes = wide ? GetFileAttributesW(wide) : INVALID_FILE_ATTRIBUTES;
    const DWORD error = GetLastError();
    free(wide);
    SetLastError(error);
    return attributes;
}

/// Whether a step of `path` behind its first `folder` bytes is a link (a junction, a mount).
static bool has_link(char *path, size_t folder)
{
    bool found = false;
    for (size_t i = folder; !found; i++) {
        const char end = path[i];
        if (end != '/' && end != 0) continue;
        path[i] = 0;
        const DWORD attributes = attributes_of(path);
        path[i] = end;
        found = attributes != INVALID_FILE_ATTRIBUTES && attributes & FILE_ATTRIBUTE_REPARSE_POINT;
        if (end == 0) break;
    }
    return found;
}

static bool links_stay_below(const char *folder_path, const char *path)
{
    wchar_t *folder = real_path_of(folder_path), *file = real_path_of(path);
    size_t inside = folder ? wcslen(folder) : 0;
    if (inside && folder[inside - 1] == L'\\') inside--; // the root of a drive
    const bool below =
        inside && file && wcsncmp(folder, file, inside) == 0 && file[inside] == L'\\';
    free(folder), free(file);
    return below;
}

cutis_result cutis_os_resolve_below(cutis_context *context, const char *base_file,
                                    const char *relative, char *out, size_t capacity)
{
    // A colon names a drive or a second stream of a file; neither is an asset's.
    if (!os_stays_below(relative) || strchr(relative, ':'))
        return cutis_fail(context, CUTIS_CORRUPT_DATA,
                          "%s: '%.200s' does not name a file below the asset's folder", base_file,
                          relative);
    const size_t length = cutis_path_folder(base_file), more = strlen(relative);
    if (length + more >= capacity)
        return cutis_fail(context, CUTIS_CORRUPT_DATA, "%s: a path in it is too long", base_file);
    memcpy(out, base_file, length);
    memcpy(out + length, relative, more + 1);
    if (attributes_of(out) == INVALID_FILE_ATTRIBUTES) {
        const DWORD error = GetLastError();
        return fail_with(context,
                         error == ERROR_BAD_DEVICE ? CUTIS_CORRUPT_DATA : CUTIS_FILE_NOT_FOUND, out,
                         error);
    }
    if (!has_link(out, length)) return CUTIS_OK;
    char *folder = malloc(length + 2);
    if (!folder) return cutis_fail(context, CUTIS_OUT_OF_MEMORY, "%s: no memory", base_file);
    memcpy(folder, length ? base_file : ".", length ? length : 2);
    folder[length ? length : 1] = 0;
    const bool below = links_stay_below(folder, out);
    free(folder);
    if (below) return CUTIS_OK;
    return cutis_fail(context, CUTIS_CORRUPT_DATA, "%s: '%.200s' leads out of the asset's folder",
                      base_file, relative);
}

/// What FindFirstFileW wants: the folder and "\*". NULL: GetLastError says why.
static wchar_t *all_in(const char *folder)
{
    wchar_t *path = cutis_os_wide_path(folder[0] ? folder : "."), *all = NULL;
    if (!path) return NULL;
    const size_t length = wcslen(path);
    if ((all = malloc((length + 3) * sizeof *all))) {
        memcpy(all, path, length * sizeof *all);
        wcscpy(all + length, length && path[length - 1] == L'\\' ? L"*" : L"\\*");
    }
    free(path);
    if (!all) SetLastError(ERROR_NOT_ENOUGH_MEMORY);
    return all;
}

cutis_result cutis_os_list_folder(cutis_context *context, const char *folder,
                                  void (*visit)(void *user, const char *name), void *user)
{
    WIN32_FIND_DATAW found;
    wchar_t *all = all_in(folder);
    HANDLE search = all ? FindFirstFileW(all, &found) : INVALID_HANDLE_VALUE;
    const DWORD error = GetLastError();
    free(all);
    if (search == INVALID_HANDLE_VALUE) return fail_with(context, CUTIS_FILE_READ, folder, error);
    os_names list = { .arena = { .context = context } };
    cutis_result result = CUTIS_OK;
    do {
        // What has no name in UTF-8 could not be opened by it.
        char *name = found.dwFileAttributes & (FILE_ATTRIBUTE_DIRECTORY | FILE_ATTRIBUTE_DEVICE)
                         ? NULL
                         : cutis_os_narrow(found.cFileName);
        if (name) result = os_names_add(&list, name);
        free(name);
    } while (result == CUTIS_OK && FindNextFileW(search, &found));
    FindClose(search);
    if (result != CUTIS_OK) list.count = 0;
    os_names_visit(&list, visit, user);
    return result;
}

bool cutis_os_file_exists(const char *path)
{
    const DWORD attributes = attributes_of(path);
    return attributes != INVALID_FILE_ATTRIBUTES &&
           !(attributes & (FILE_ATTRIBUTE_DIRECTORY | FILE_ATTRIBUTE_DEVICE));
}

bool cutis_os_cache_folder(char *out, size_t capacity)
{
    wchar_t folder[1024];
    const DWORD length = GetEnvironmentVariableW(L"LOCALAPPDATA", folder, 1024);
    if (length < 3 || length >= 1024 || folder[1] != L':') return false;
    char *narrow = cutis_os_narrow(folder);
    const int size = narrow ? snprintf(out, capacity, "%s/cutis", narrow) : -1;
    free(narrow);
    if (size < 0 || (size_t)size >= capacity) return false;
    wchar_t *wide = cutis_os_wide_path(out);
    const bool there =
        wide && (CreateDirectoryW(wide, NULL) || GetLastError() == ERROR_ALREADY_EXISTS);
    free(wide);
    return there;
}

// Writing ---------------------------------------------------------------------------------------

struct cutis_os_write {
    cutis_context *context;
    HANDLE file; // INVALID_HANDLE_VALUE: not open
    bool replaces;
    DWORD old_attributes; // of the file that is replaced
    char *path;           // as the caller named it
    wchar_t *target, *temporary;
};

// What a replaced file keeps; the others are the file system's own affair.
static const DWORD KEPT = FILE_ATTRIBUTE_READONLY | FILE_ATTRIBUTE_HIDDEN | FILE_ATTRIBUTE_SYSTEM |
                          FILE_ATTRIBUTE_ARCHIVE | FILE_ATTRIBUTE_NOT_CONTENT_INDEXED;

static cutis_result write_failure(const cutis_os_write *write, DWORD error)
{
    return fail_with(write->context, CUTIS_FILE_WRITE, write->path, error);
}

/// Through links, so that the file a link leads to is replaced, not the link. @return an error
static DWORD resolve_target(cutis_os_write *write)
{
    wchar_t *path = cutis_os_wide_path(write->path);
    if (!path) return GetLastError();
    write->old_attributes = GetFileAttributesW(path);
    write->replaces = write->old_attributes != INVALID_FILE_ATTRIBUTES;
    write->target = path;
    if (!write->replaces || !(write->old_attributes & FILE_ATTRIBUTE_REPARSE_POINT)) return 0;
    write->target = real_path(path);
    const DWORD error = GetLastError();
    free(path);
    if (!write->target) return error;
    write->old_attributes = GetFileAttributesW(write->target);
    return 0;
}

/// What stands under the name: nothing, or a file that may be replaced.
static cutis_result check_target(const cutis_os_write *write)
{
    if (!write->replaces) return CUTIS_OK;
    if (write->old_attributes & FILE_ATTRIBUTE_DIRECTORY)
        return cutis_fail(write->context, CUTIS_FILE_WRITE, "%s: Is a directory", write->path);
    if (write->context->options.replace_read_only) return CUTIS_OK;
    bool allowed = !(write->old_attributes & FILE_ATTRIBUTE_READONLY);
    if (allowed) { // by its list of who may
        HANDLE file = CreateFileW(write->target, GENERIC_WRITE, SHARE_ALL, NULL, OPEN_EXISTING,
                                  FILE_ATTRIBUTE_NORMAL, NULL);
        allowed = file != INVALID_HANDLE_VALUE || GetLastError() != ERROR_ACCESS_DENIED;
        if (file != INVALID_HANDLE_VALUE) CloseHandle(file);
    }
    if (allowed) return CUTIS_OK;
    return cutis_fail(write->context, CUTIS_FILE_WRITE,
                      "%s: the file is read-only; only force replaces it", write->path);
}

/// The new file gets the old one's list of who may do what, where that is allowed, before anything
/// is in it. One that only inherits its folder's list does so by being made there.
static void keep_permissions(const cutis_os_write *write)
{
    DWORD size = 0, kept;
    if (!write->replaces) return;
    GetFileSecurityW(write->target, DACL_SECURITY_INFORMATION, NULL, 0, &size);
    void *list = size ? malloc(size) : NULL;
    SECURITY_DESCRIPTOR_CONTROL control = 0;
    if (list &&
        GetFileSecurityW(write->target, DACL_SECURITY_INFORMATION, list, size, &kept) &&
        GetSecurityDescriptorControl(list, &control, &kept))
        SetFileSecurityW(write->temporary,
                         DACL_SECURITY_INFORMATION |
                             (control & SE_DACL_PROTECTED ? PROTECTED_DACL_SECURITY_INFORMATION
                                                          : UNPROTECTED_DACL_SECURITY_INFORMATION),
                         list);
    free(list);
}

/// @return an error
static DWORD open_temporary(cutis_os_write *write)
{
    const wchar_t *slash = wcsrchr(write->target, L'\\');
    const size_t folder = (size_t)(slash + 1 - write->target); // there is one after the root
    static atomic_uint made;
    enum { NAME = 200, ENDING = 32 };
    if (!slash[1]) return ERROR_FILENAME_EXCED_RANGE;
    write->temporary = malloc((folder + NAME + ENDING + 8) * sizeof(wchar_t));
    if (!write->temporary) return ERROR_NOT_ENOUGH_MEMORY;
    memcpy(write->temporary, write->target, folder * sizeof(wchar_t));
    for (int tries = 0; tries < 1000; tries++) {
        swprintf(write->temporary + folder, NAME + ENDING + 8, L".%.200ls.cutis-%x-%x", slash + 1,
                 (unsigned)GetCurrentProcessId(), atomic_fetch_add(&made, 1));
        write->file = CreateFileW(write->temporary, GENERIC_READ | GENERIC_WRITE | DELETE,
                                  FILE_SHARE_READ | FILE_SHARE_DELETE, NULL, CREATE_NEW,
                                  FILE_ATTRIBUTE_NORMAL, NULL);
        if (write->file != INVALID_HANDLE_VALUE) return keep_permissions(write), 0;
        if (GetLastError() != ERROR_FILE_EXISTS) break;
    }
    const DWORD error = GetLastError();
    free(write->temporary);
    write->temporary = NULL;
    return error;
}

cutis_result cutis_os_write_begin(cutis_context *context, const char *path, cutis_os_write **out)
{
    cutis_os_write *write = cutis_alloc_zero(context, 1, sizeof *write);
    if (!write) return cutis_alloc_result(context);
    write->context = context;
    write->file = INVALID_HANDLE_VALUE;
    write->path = _strdup(path);
    DWORD error = write->path ? resolve_target(write) : ERROR_NOT_ENOUGH_MEMORY;
    cutis_result result = error ? CUTIS_OK : check_target(write);
    if (result == CUTIS_OK && !error) error = open_temporary(write);
    if (result == CUTIS_OK && error) result = fail_with(context, CUTIS_FILE_WRITE, path, error);
    if (result != CUTIS_OK) {
        cutis_os_write_abort(write);
        return result;
    }
    *out = write;
    return CUTIS_OK;
}

cutis_result cutis_os_write_append(cutis_os_write *target, const void *data, size_t size)
{
    for (const char *bytes = data; size;) {
        DWORD done = 0;
        if (!WriteFile(target->file, bytes, size < PIECE ? (DWORD)size : PIECE, &done, NULL))
            return write_failure(target, GetLastError());
        bytes += done;
        size -= done;
    }
    return CUTIS_OK;
}

/// All of the content is on the disk; only the name is missing.
static cutis_result settle(cutis_os_write *target)
{
    const DWORD error = FlushFileBuffers(target->file) ? 0 : GetLastError();
    CloseHandle(target->file);
    target->file = INVALID_HANDLE_VALUE;
    return error ? write_failure(target, error) : CUTIS_OK;
}

/// The name moves from one content to the other in one step of the file system, and is on the disk
/// when the call returns. ReplaceFileW, which would keep more of the old file, takes two, with
/// nothing under the name between them.
static DWORD move_over(const cutis_os_write *target)
{
    // Who looks into every new file (virus scanners, search) has it open for a moment.
    for (DWORD pause = 1;; pause *= 2) {
        if (MoveFileExW(target->temporary, target->target,
                        MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH))
            return 0;
        const DWORD error = GetLastError();
        if (pause > 512 || (error != ERROR_ACCESS_DENIED && error != ERROR_SHARING_VIOLATION))
            return error;
        Sleep(pause);
    }
}

static cutis_result put_in_place(cutis_os_write *target)
{
    const bool read_only = target->replaces && target->old_attributes & FILE_ATTRIBUTE_READONLY;
    const DWORD kept = target->replaces ? target->old_attributes & KEPT : 0;
    if (kept & ~(DWORD)(FILE_ATTRIBUTE_READONLY | FILE_ATTRIBUTE_ARCHIVE))
        SetFileAttributesW(target->temporary, kept & ~(DWORD)FILE_ATTRIBUTE_READONLY);
    if (read_only) // it could not be replaced otherwise; somebody has said force
        SetFileAttributesW(target->target, target->old_attributes & ~(DWORD)FILE_ATTRIBUTE_READONLY);
    const DWORD error = move_over(target);
    if (read_only) SetFileAttributesW(target->target, kept);
    if (error) return write_failure(target, error);
    free(target->temporary);
    target->temporary = NULL;
    return CUTIS_OK;
}

cutis_result cutis_os_write_commit(cutis_os_write *target)
{
    return cutis_os_write_commit_both(NULL, target);
}

cutis_result cutis_os_write_commit_both(cutis_os_write *beside, cutis_os_write *target)
{
    cutis_result result = beside ? settle(beside) : CUTIS_OK;
    if (result == CUTIS_OK) result = settle(target);
    if (result == CUTIS_OK && beside) result = put_in_place(beside);
    if (result == CUTIS_OK) {
        result = put_in_place(target);
        if (result != CUTIS_OK && beside && !beside->replaces) DeleteFileW(beside->target);
    }
    cutis_os_write_abort(beside);
    cutis_os_write_abort(target);
    return result;
}

void cutis_os_write_abort(cutis_os_write *target)
{
    if (!target) return;
    if (target->file != INVALID_HANDLE_VALUE) CloseHandle(target->file);
    if (target->temporary) DeleteFileW(target->temporary);
    free(target->temporary), free(target->target), free(target->path);
    cutis_free(target->context, target, sizeof *target);
}
