/// What the tests use of POSIX beyond the command (cli/windows/posix.h), on Windows: included
/// before every test there. Links cannot be made: their tests see that they were not.
#ifndef CUTIS_TESTS_STANDIN_WINDOWS_H
#define CUTIS_TESTS_STANDIN_WINDOWS_H

#include "../../cli/windows/posix.h"

#define WIN32_LEAN_AND_MEAN
#define NOMINMAX
#include <stdbool.h>
// Names that tests have for their own.
#define POINTS windows_points
#define WORD   windows_word
#define BYTE   windows_byte
#include <windows.h>
#undef POINTS
#undef WORD
#undef BYTE
#undef near
#undef far

/// The folder of caches has another name there, and wine's drive of POSIX's root.
static inline int setenv(const char *name, const char *value, int replace)
{
    if (strcmp(name, "XDG_CACHE_HOME") == 0) {
        char path[4096];
        snprintf(path, sizeof path, "Z:%s", value);
        _putenv_s("LOCALAPPDATA", path);
    }
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
        char digits[7];
        snprintf(digits, sizeof digits, "%06x", (unsigned)(getpid() * 7919 + made++) & 0xffffff);
        memcpy(mark, digits, 6);
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

/// "rm -rf FOLDER", which is what tests do at their end.
static inline bool standin_removes(const char *command)
{
    char path[4096];
    if (sscanf(command, "rm -rf '%4095[^']'", path) != 1 &&
        sscanf(command, "rm -rf %4095s", path) != 1)
        return false;
    return standin_remove(path), true;
}
/// A test that needs a shell for more (links, pipes) is skipped and says so.
#define system(command)                                                                            \
    (standin_removes(command)                                                                      \
         ? 0                                                                                       \
         : (print_message("skip: it needs a POSIX shell: %.60s\n", command), skip(), 1))

#undef popen
#undef pclose
#define popen(command, mode)                                                                       \
    (print_message("skip: it needs a POSIX shell: %.60s\n", command), skip(), (FILE *)NULL)
#define pclose(pipe) fclose(pipe) // never reached

static inline int symlink(const char *target, const char *path)
{
    (void)target, (void)path;
    return -1;
}

/// There is none: ctest's limit stops what hangs.
static inline unsigned alarm(unsigned seconds)
{
    (void)seconds;
    return 0;
}

/// Pipes with a name cannot be made either.
static inline int mkfifo(const char *path, int mode)
{
    (void)path, (void)mode;
    return -1;
}

/// A file that is there and empty; it is opened by its name.
static inline int mkstemps(char *path, int ending)
{
    char *mark = strstr(path, "XXXXXX");
    static unsigned made;
    (void)ending;
    if (!mark) return -1;
    char digits[7];
    snprintf(digits, sizeof digits, "%06x", (unsigned)(getpid() * 7919 + made++) & 0xffffff);
    memcpy(mark, digits, 6);
    FILE *file = posix_fopen(path, "wb");
    return file ? (posix_fclose(file), _open("NUL", 0)) : -1;
}

#endif
