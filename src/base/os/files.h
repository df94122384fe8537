/// What files need on every system, for this folder: which names may stand in an asset, and names
/// of a folder in order.
#ifndef CUTIS_BASE_OS_FILES_H
#define CUTIS_BASE_OS_FILES_H

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/// "http:", and a drive's letter with its colon.
static inline bool os_has_scheme(const char *uri)
{
    size_t i = 0;
    while ((uri[i] >= 'a' && uri[i] <= 'z') || (uri[i] >= 'A' && uri[i] <= 'Z') ||
           (i > 0 &&
            ((uri[i] >= '0' && uri[i] <= '9') || uri[i] == '+' || uri[i] == '-' || uri[i] == '.')))
        i++;
    return i > 0 && uri[i] == ':';
}

static inline bool os_has_parent_step(const char *path)
{
    for (const char *part = path; part; part = strchr(part, '/') ? strchr(part, '/') + 1 : NULL)
        if (part[0] == '.' && part[1] == '.' && (part[2] == '/' || part[2] == 0)) return true;
    return false;
}

/// A name in an asset that cannot lead out of its folder by what it says; links are another matter.
static inline bool os_stays_below(const char *relative)
{
    return relative[0] && relative[0] != '/' && !strchr(relative, '\\') &&
           !os_has_scheme(relative) && !os_has_parent_step(relative);
}

/// Names that were found in a folder.
typedef struct os_names {
    cutis_arena arena;
    char **names;
    size_t count, capacity;
} os_names;

static inline cutis_result os_names_add(os_names *list, const char *name)
{
    char *kept = cutis_arena_string(&list->arena, name);
    if (!kept || !cutis_arena_grow(&list->arena, &list->names, &list->capacity, list->count + 1,
                                   sizeof *list->names))
        return cutis_alloc_result(list->arena.context);
    list->names[list->count++] = kept;
    return CUTIS_OK;
}

static inline int os_compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/// Each once, sorted by bytes; the list is gone afterwards.
static inline void os_names_visit(os_names *list, void (*visit)(void *user, const char *name),
                                  void *user)
{
    if (list->count) qsort(list->names, list->count, sizeof *list->names, os_compare_names);
    for (size_t i = 0; i < list->count; i++) visit(user, list->names[i]);
    cutis_arena_release(&list->arena);
}

#endif
