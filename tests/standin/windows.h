/// What the tests use of POSIX beyond the command (cli/windows/posix.h), on Windows: included before
/// every test there. Links cannot be made: their tests see that they were not.
#ifndef CUTIS_TESTS_STANDIN_WINDOWS_H
#define CUTIS_TESTS_STANDIN_WINDOWS_H

#include "../../cli/windows/posix.h"

#define WIN32_LEAN_AND_MEAN
#define NOMINMAX
#include <windows.h>
#undef near
#undef far

static inline int setenv(const char *name, const char *value, int replace)
{
    return !replace && getenv(name) ? 0 : _putenv_s(name, value);
}

static inline int unsetenv(const char *name)
{
    return _putenv_s(name, "");
}

static inline char *mkdtemp(char *place)
{
    char *mark = strstr(place, "XXXXXX");
    static unsigned made;
    for (int i = 0; mark && i < 1000; i++) {
        snprintf(mark, 7, "%06x", (unsigned)(getpid() * 7919 + made++) & 0xffffff);
        if (posix_mkdir(place) == 0) return place;
    }
    return NULL;
}

static inline void standin_remove(const char *path)
{
    char inner[4096];
    posix_folder *folder = posix_opendir(path);
    for (struct posix_dirent *entry; folder && (entry = posix_readdir(folder));) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name);
        if (entry->d_type == DT_DIR)
            standin_remove(inner);
        else
            posix_unlink(inner);
    }
    if (folder) posix_closedir(folder);
    posix_rmdir(path);
}

/// "rm -rf FOLDER", which is what tests do at their end; everything else fails.
static inline int standin_system(const char *command)
{
    char path[4096];
    if (sscanf(command, "rm -rf '%4095[^']'", path) != 1 &&
        sscanf(command, "rm -rf %4095s", path) != 1)
        return 1;
    return standin_remove(path), 0;
}
#define system standin_system

static inline int symlink(const char *target, const char *path)
{
    (void)target, (void)path;
    return -1;
}

#endif
