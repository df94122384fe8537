/// A run of a verb in parts, for the farm: parts that any process does, in an order that what they
/// need of each other allows, and one that puts them together, with the bytes of the verb itself.
/// Invariant: what the parts are depends on the command line and its files alone.
#ifndef CUTIS_CLI_PARTS_H
#define CUTIS_CLI_PARTS_H

#include "app.h"

/// What a part has made: memory of the library (cutis_memory_free), or of malloc.
typedef struct part_bytes {
    void *data;
    size_t size;
    bool of_library;
} part_bytes;

static inline void part_bytes_free(cli_app *app, part_bytes *bytes)
{
    if (bytes->of_library)
        cutis_memory_free(app->context, bytes->data, bytes->size);
    else
        free(bytes->data);
    *bytes = (part_bytes){ 0 };
}

/// Where a run finds parts that are done.
typedef struct part_source {
    int (*get)(const struct part_source *source, cli_app *app, uint32_t part, part_bytes *out);
    const void *user;
} part_source;

/// A verb that can be done so.
typedef struct part_verb {
    const char *verb;
    /// How many parts and vertices the run has (1 part: it is done as a whole). close in any case.
    int (*open)(cli_app *app, uint32_t *parts, uint32_t *vertices, void **job);
    /// How many of the first parts must be done before this one may begin; `part` = `parts`: before
    /// they are put together.
    uint32_t (*needs)(uint32_t parts, uint32_t part);
    /// What comes before a part, once for all that a process does.
    int (*prepare)(cli_app *app, void *job);
    int (*learn)(cli_app *app, void *job, const part_source *source, uint32_t part,
                 part_bytes *out);
    /// Put all parts together: write and say what the verb does.
    int (*finish)(cli_app *app, void *job, const part_source *source, uint32_t parts);
    void (*close)(void *job); ///< NULL is fine
} part_verb;

extern const part_verb fit_in_parts, bake_in_parts;

#endif
