/// Files in the page's memory (web/src/wasi.js) have no links, owners or modes: a path is what it
/// says, below "/".
#include "missing.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

char *realpath(const char *path, char *out)
{
    char real[PATH_MAX];
    size_t length = 0;
    struct stat info;
    if (stat(path, &info) != 0) return NULL;
    while (*path) {
        const size_t step = strcspn(path, "/");
        if (step == 2 && path[0] == '.' && path[1] == '.') {
            while (length && real[--length] != '/') continue;
        } else if (step && !(step == 1 && path[0] == '.')) {
            if (length + step + 2 > PATH_MAX) return errno = ENAMETOOLONG, NULL;
            real[length] = '/';
            memcpy(real + length + 1, path, step);
            length += step + 1;
        }
        path += step + (path[step] == '/');
    }
    if (!length) real[length++] = '/';
    real[length] = 0;
    return out ? memcpy(out, real, length + 1) : strdup(real);
}

// Everybody may read and write: wasi-libc, which knows of no modes, says nobody (-Wl,--wrap).
#define ALLOWING(name, parameters, arguments)                                                      \
    int __real_##name parameters;                                                                  \
    int __wrap_##name parameters                                                                   \
    {                                                                                              \
        const int result = __real_##name arguments;                                                \
        if (result == 0) info->st_mode |= S_ISDIR(info->st_mode) ? 0777 : 0666;                    \
        return result;                                                                             \
    }
ALLOWING(stat, (const char *path, struct stat *info), (path, info))
ALLOWING(lstat, (const char *path, struct stat *info), (path, info))
ALLOWING(fstat, (int file, struct stat *info), (file, info))
ALLOWING(fstatat, (int folder, const char *path, struct stat *info, int flags),
         (folder, path, info, flags))
