/// Where the folder of a path ends. On Windows a backslash and a drive's colon end one, too.
#ifndef CUTIS_BASE_PATH_H
#define CUTIS_BASE_PATH_H

#include <string.h>

static inline int cutis_path_is_slash(char c)
{
#if defined(_WIN32)
    return c == '/' || c == '\\';
#else
    return c == '/';
#endif
}

/// The name at a path's end, behind its folder.
static inline const char *cutis_path_name(const char *path)
{
    const char *name = path;
#if defined(_WIN32)
    if (path[0] && path[1] == ':') name = path + 2;
#endif
    for (const char *c = name; *c; c++)
        if (cutis_path_is_slash(*c)) name = c + 1;
    return name;
}

/// Length of the folder part of a path, with its slash; 0 if there is none.
static inline size_t cutis_path_folder(const char *path)
{
    return (size_t)(cutis_path_name(path) - path);
}

#endif
