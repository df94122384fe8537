/// Files on POSIX systems, and on the web in the page's memory (web/src/wasi.js), as wasi-libc
/// shows it: whole regular files in, atomic files out.
///
/// Invariant of writing: the target's name refers to the old content or to the new content, whole,
/// at any moment; a kill leaves at most a temporary file named ".NAME.cutis-XXXXXX" beside it. A
/// file that is replaced keeps its mode; a link stays a link; a read-only file stays as it is
/// unless the context allows otherwise.
#include "base/os/os.h"
#include "base/context.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/os/files.h"
#include "base/path.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Reading ---------------------------------------------------------------------------------------

static cutis_result open_regular(cutis_context *context, const char *path, int *descriptor,
                                 size_t *size)
{
    // O_NONBLOCK: opening a FIFO must not hang before fstat can refuse it.
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0) {
        cutis_result result =
            errno == ENOENT || errno == ENOTDIR ? CUTIS_FILE_NOT_FOUND : CUTIS_FILE_READ;
        return cutis_fail(context, result, "%s: %s", path, strerror(errno));
    }
    struct stat info;
    if (fstat(file, &info) != 0 || !S_ISREG(info.st_mode)) {
        close(file);
        return cutis_fail(context, CUTIS_FILE_READ, "%s: not a regular file", path);
    }
    uint64_t limit = cutis_context_limits(context)->file_bytes;
    if ((uint64_t)info.st_size > limit) {
        close(file);
        return cutis_fail(context, CUTIS_LIMIT_EXCEEDED, "%s: %lld bytes, the limit is %llu", path,
                          (long long)info.st_size, (unsigned long long)limit);
    }
    *descriptor = file;
    *size = (size_t)info.st_size;
    return CUTIS_OK;
}

static cutis_result read_fully(cutis_context *context, const char *path, int file, char *data,
                               size_t size)
{
    size_t done = 0;
    while (done < size) {
        ssize_t got = read(file, data + done, size - done);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return cutis_fail(context, CUTIS_FILE_READ, "%s: %s", path, strerror(errno));
        if (got == 0)
            return cutis_fail(context, CUTIS_FILE_READ, "%s: shrank while it was read", path);
        done += (size_t)got;
    }
    return CUTIS_OK;
}

cutis_result cutis_os_read_file(cutis_context *context, const char *path, void **data, size_t *size)
{
    int file = -1;
    size_t length = 0;
    TRY(open_regular(context, path, &file, &length));
    char *bytes = cutis_alloc(context, length + 1);
    cutis_result result =
        bytes ? read_fully(context, path, file, bytes, length) : cutis_alloc_result(context);
    close(file);
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

cutis_result cutis_os_resolve_below(cutis_context *context, const char *base_file,
                                    const char *relative, char *out, size_t capacity)
{
    if (!os_stays_below(relative))
        return cutis_fail(context, CUTIS_CORRUPT_DATA,
                          "%s: '%.200s' does not name a file below the asset's folder", base_file,
                          relative);
    char folder[PATH_MAX], real_folder[PATH_MAX], real_file[PATH_MAX], joined[PATH_MAX];
    size_t length = cutis_path_folder(base_file);
    int folder_size = snprintf(folder, sizeof folder, "%.*s", (int)length, length ? base_file : "");
    int joined_size = snprintf(joined, sizeof joined, "%s%s", folder, relative);
    if (folder_size >= PATH_MAX || joined_size >= PATH_MAX || (size_t)joined_size >= capacity)
        return cutis_fail(context, CUTIS_CORRUPT_DATA, "%s: a path in it is too long", base_file);
    if (!realpath(length ? folder : ".", real_folder) || !realpath(joined, real_file))
        return cutis_fail(context, CUTIS_FILE_NOT_FOUND, "%s: %s", joined, strerror(errno));
    size_t inside = strlen(real_folder);
    if (inside == 1) inside = 0; // the folder is "/"
    if (strncmp(real_folder, real_file, inside) != 0 || real_file[inside] != '/')
        return cutis_fail(context, CUTIS_CORRUPT_DATA,
                          "%s: '%.200s' leads out of the asset's folder", base_file, relative);
    memcpy(out, joined, (size_t)joined_size + 1);
    return CUTIS_OK;
}

cutis_result cutis_os_list_folder(cutis_context *context, const char *folder,
                                  void (*visit)(void *user, const char *name), void *user)
{
    DIR *directory = opendir(folder[0] ? folder : ".");
    if (!directory) return cutis_fail(context, CUTIS_FILE_READ, "%s: %s", folder, strerror(errno));
    os_names list = { .arena = { .context = context } };
    cutis_result result = CUTIS_OK;
    for (struct dirent *entry; result == CUTIS_OK && (entry = readdir(directory));) {
        struct stat info;
        if (fstatat(dirfd(directory), entry->d_name, &info, 0) != 0 || !S_ISREG(info.st_mode))
            continue;
        result = os_names_add(&list, entry->d_name);
    }
    closedir(directory);
    if (result != CUTIS_OK) list.count = 0;
    os_names_visit(&list, visit, user);
    return result;
}

bool cutis_os_file_exists(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

bool cutis_os_cache_folder(char *out, size_t capacity)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int length;
    if (cache && cache[0] == '/')
        length = snprintf(out, capacity, "%s", cache);
    else if (home && home[0] == '/')
        length = snprintf(out, capacity, "%s/.cache", home);
    else
        return false;
    if (length < 0 || (size_t)length + sizeof "/cutis" > capacity) return false;
    if (mkdir(out, 0700) != 0 && errno != EEXIST) return false;
    memcpy(out + length, "/cutis", sizeof "/cutis");
    return mkdir(out, 0700) == 0 || errno == EEXIST;
}

// Writing ---------------------------------------------------------------------------------------

struct cutis_os_write {
    cutis_context *context;
    int file, folder; // -1: not open
    bool has_temporary, replaces;
    struct stat old; // of the file that is replaced
    char target[PATH_MAX], temporary[PATH_MAX];
};

static cutis_result write_failure(cutis_os_write *write)
{
    return cutis_fail(write->context, CUTIS_FILE_WRITE, "%s: %s", write->target, strerror(errno));
}

/// Where a link at the end of the target leads, which may be nowhere yet. @return false: errno says
static bool follow_link(cutis_os_write *write)
{
    char next[PATH_MAX], joined[PATH_MAX];
    ssize_t length = readlink(write->target, next, sizeof next - 1);
    if (length < 0) return false;
    next[length] = 0;
    int folder = next[0] == '/' ? 0 : (int)cutis_path_folder(write->target);
    if (snprintf(joined, sizeof joined, "%.*s%s", folder, write->target, next) >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return false;
    }
    memcpy(write->target, joined, sizeof joined);
    return true;
}

/// Through symbolic links, so that the file a link points to is replaced or made, not the link.
static bool resolve_target(cutis_os_write *write, const char *path)
{
    enum { LINKS = 40 }; // as many as Linux follows
    struct stat info;
    if (realpath(path, write->target)) return true;
    if (errno != ENOENT) return false;
    if (snprintf(write->target, sizeof write->target, "%s", path) >= (int)sizeof write->target) {
        errno = ENAMETOOLONG;
        return false;
    }
    for (int i = 0; i < LINKS; i++) {
        if (lstat(write->target, &info) != 0) return errno == ENOENT;
        if (!S_ISLNK(info.st_mode)) return true;
        if (!follow_link(write)) return false;
    }
    errno = ELOOP;
    return false;
}

/// What stands under the name: nothing, or a file that may be replaced. No write bit at all is a
/// word of its owner that root, who may write everything, keeps too.
static cutis_result check_target(cutis_os_write *write, const char *path)
{
    if (stat(write->target, &write->old) != 0) {
        if (errno == ENOENT) return CUTIS_OK;
        return cutis_fail(write->context, CUTIS_FILE_WRITE, "%s: %s", path, strerror(errno));
    }
    if (!S_ISREG(write->old.st_mode))
        return cutis_fail(write->context, CUTIS_FILE_WRITE, "%s: %s", path,
                          strerror(S_ISDIR(write->old.st_mode) ? EISDIR : EINVAL));
    write->replaces = true;
    if (write->context->options.replace_read_only) return CUTIS_OK;
    if ((write->old.st_mode & 0222) && faccessat(AT_FDCWD, write->target, W_OK, AT_EACCESS) == 0)
        return CUTIS_OK;
    return cutis_fail(write->context, CUTIS_FILE_WRITE,
                      "%s: the file is read-only; only force replaces it", path);
}

/// The new file gets the old one's owner and group, where that is allowed, and its mode, before
/// anything is in it. setuid and its like are not for what somebody else wrote.
static bool keep_mode(const cutis_os_write *write)
{
    struct stat made;
    const mode_t mode = write->old.st_mode & 0777;
    if (!write->replaces) return true;
    if (fstat(write->file, &made) != 0) return false;
    if (made.st_uid != write->old.st_uid || made.st_gid != write->old.st_gid) {
        if (fchown(write->file, write->old.st_uid, write->old.st_gid) != 0 &&
            fchown(write->file, (uid_t)-1, write->old.st_gid) != 0)
            errno = 0; // whoever may write here owns it now, as after a copy
    }
    return (made.st_mode & 0777) == mode || fchmod(write->file, mode) == 0;
}

static bool open_temporary(cutis_os_write *write)
{
    int folder = (int)cutis_path_folder(write->target);
    const char *name = write->target + folder;
    if (!name[0]) {
        errno = ENAMETOOLONG;
        return false;
    }
    char parent[PATH_MAX];
    snprintf(parent, sizeof parent, "%.*s", folder, write->target);
    write->folder = open(folder ? parent : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (write->folder < 0) return false;
    // Not mkstemp, which makes 0600: here the kernel applies the umask, which belongs to the whole
    // process and cannot be asked for without changing it under other threads.
    static atomic_uint made;
    for (int tries = 0; tries < 1000 && !write->has_temporary; tries++) {
        int length =
            snprintf(write->temporary, sizeof write->temporary, "%.*s.%.200s.cutis-%x-%x", folder,
                     write->target, name, (unsigned)getpid(), atomic_fetch_add(&made, 1));
        if (length >= (int)sizeof write->temporary) {
            errno = ENAMETOOLONG;
            return false;
        }
        write->file = open(write->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        write->has_temporary = write->file >= 0;
        if (!write->has_temporary && errno != EEXIST) return false;
    }
    return write->has_temporary && keep_mode(write);
}

cutis_result cutis_os_write_begin(cutis_context *context, const char *path, cutis_os_write **out)
{
    cutis_os_write *write = cutis_alloc_zero(context, 1, sizeof *write);
    if (!write) return cutis_alloc_result(context);
    write->context = context;
    write->file = write->folder = -1;
    bool found = resolve_target(write, path);
    cutis_result result = found ? check_target(write, path) : CUTIS_OK;
    if (result == CUTIS_OK && !(found && open_temporary(write)))
        result = cutis_fail(context, CUTIS_FILE_WRITE, "%s: %s", path, strerror(errno));
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
        ssize_t done = write(target->file, bytes, size);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) return write_failure(target);
        bytes += done;
        size -= (size_t)done;
    }
    return CUTIS_OK;
}

/// All of the content is on the disk; only the name is missing.
static cutis_result settle(cutis_os_write *target)
{
    cutis_result result = CUTIS_OK;
    if (fsync(target->file) != 0) result = write_failure(target);
    int closed = close(target->file); // a network file system may report a full disk only now
    target->file = -1;
    if (result == CUTIS_OK && closed != 0) result = write_failure(target);
    return result;
}

static cutis_result put_in_place(cutis_os_write *target)
{
    if (rename(target->temporary, target->target) != 0) return write_failure(target);
    target->has_temporary = false;
    fsync(target->folder); // the name; some file systems refuse, the data is safe
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
        if (result != CUTIS_OK && beside && !beside->replaces) unlink(beside->target);
    }
    cutis_os_write_abort(beside);
    cutis_os_write_abort(target);
    return result;
}

void cutis_os_write_abort(cutis_os_write *target)
{
    if (!target) return;
    if (target->file >= 0) close(target->file);
    if (target->has_temporary) unlink(target->temporary);
    if (target->folder >= 0) close(target->folder);
    cutis_free(target->context, target, sizeof *target);
}
