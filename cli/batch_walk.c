/// Finding the files of a batch and naming what becomes of them. Invariant: every folder is entered
/// once, whatever links lead to it, no two jobs have one output, and no output is a job's source.
#include "batch.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#define MODELS ".gltf .glb .vrm .obj .ply .off .stl .bvh"
enum { DEPTH = 128 }; // folders in folders

typedef struct place {
    dev_t device;
    ino_t inode;
} place;

typedef struct walk {
    batch *batch;
    place *seen; // folders
    uint32_t seen_count, seen_capacity;
    place output; // the folder of -o, which is not walked into unless it was named
    bool has_output, failed;
} walk;

static bool same_place(place a, place b)
{
    return a.device == b.device && a.inode == b.inode;
}

static bool enter(walk *w, const struct stat *info)
{
    const place here = { info->st_dev, info->st_ino };
    for (uint32_t i = 0; i < w->seen_count; i++)
        if (same_place(w->seen[i], here)) return false;
    if (w->seen_count == w->seen_capacity) {
        const uint32_t capacity = 2 * w->seen_capacity + 64;
        place *grown = realloc(w->seen, capacity * sizeof *grown);
        if (!grown) return !(w->failed = true);
        w->seen = grown;
        w->seen_capacity = capacity;
    }
    w->seen[w->seen_count++] = here;
    return true;
}

static char *join(const char *folder, const char *name)
{
    const size_t length = strlen(folder), size = length + strlen(name) + 2;
    char *path = malloc(size);
    const bool slash = length && folder[length - 1] == '/';
    if (path) snprintf(path, size, "%s%s%s", folder, slash ? "" : "/", name);
    return path;
}

/// Takes `path` and `full` over.
static void add_job(walk *w, char *path, char *full)
{
    batch *b = w->batch;
    if (b->count == b->capacity) {
        const uint32_t capacity = 2 * b->capacity + 64;
        batch_job *grown = realloc(b->jobs, capacity * sizeof *grown);
        if (grown) b->jobs = grown, b->capacity = capacity;
    }
    char *shown = path ? strdup(path) : NULL;
    if (shown && b->count < b->capacity) {
        app_clean(shown);
        b->jobs[b->count++] = (batch_job){ .path = path, .shown = shown, .full = full };
        return;
    }
    w->failed = true;
    free(shown), free(path), free(full);
}

// Many programs have a .cfg; Cal3D's names a skeleton.
static bool is_cal3d(const char *path)
{
    char text[4097];
    FILE *file = has_extension(path, ".cfg") ? fopen(path, "r") : NULL;
    if (!file) return false;
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    const char *word = strstr(text, "skeleton");
    return word && word[8 + strspn(word + 8, " \t")] == '=';
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

// Names of a folder in order, NULL at the end; NULL if it cannot be read.
static char **list_names(walk *w, const char *path)
{
    size_t count = 0, capacity = 64;
    char **names = malloc(capacity * sizeof *names);
    DIR *folder = names ? opendir(path) : NULL;
    if (!folder) {
        free(names);
        return NULL;
    }
    for (struct dirent *entry; (entry = readdir(folder));) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        if (entry->d_name[0] == '.') {
            w->batch->hidden++;
            continue;
        }
        if (count + 2 > capacity) {
            char **grown = realloc(names, 2 * capacity * sizeof *names);
            if (!grown) break;
            names = grown;
            capacity *= 2;
        }
        if ((names[count] = strdup(entry->d_name))) count++;
    }
    closedir(folder);
    names[count] = NULL;
    qsort(names, count, sizeof *names, by_bytes);
    return names;
}

/// `full` is the folder from the root.
static void walk_folder(walk *w, const char *path, const char *full, int depth)
{
    char **names = depth < DEPTH ? list_names(w, path) : NULL;
    if (!names) w->batch->unreadable++;
    for (char **name = names; name && *name; name++) {
        char *inner = join(path, *name), *inner_full = join(full, *name);
        struct stat info;
        const place here = inner && stat(inner, &info) == 0 ? (place){ info.st_dev, info.st_ino }
                                                            : (place){ 0, 0 };
        if (!inner || !inner_full) {
            w->failed = true;
        } else if (here.inode == 0) {
            w->batch->links++; // it leads nowhere, or round and round
        } else if (S_ISDIR(info.st_mode)) {
            if (w->has_output && same_place(here, w->output))
                ; // what an earlier run made
            else if (enter(w, &info))
                walk_folder(w, inner, inner_full, depth + 1);
            else
                w->batch->links++;
        } else if (S_ISREG(info.st_mode) && (has_extension(inner, MODELS) || is_cal3d(inner))) {
            add_job(w, inner, inner_full);
            inner = inner_full = NULL;
        } else {
            w->batch->other++;
        }
        free(inner), free(inner_full), free(*name);
    }
    free(names);
}

/// A file's path from the root, its folder's links followed.
static char *full_path(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    char *real = folder ? realpath(folder, NULL) : NULL, *full = real ? join(real, name) : NULL;
    free(folder), free(real);
    return full;
}

int batch_find(batch *b)
{
    cli_app *app = b->app;
    walk w = { .batch = b };
    struct stat info;
    const char *output = option_given(app, OPTION_TO) ? option_text(app, OPTION_OUTPUT) : NULL;
    if (output && stat(output, &info) == 0) {
        w.output = (place){ info.st_dev, info.st_ino };
        w.has_output = true;
    }
    for (uint32_t i = 0; i < app->operand_count; i++) {
        const char *path = app->operands[i];
        if (stat(path, &info) != 0 || !S_ISDIR(info.st_mode)) {
            add_job(&w, strdup(path), full_path(path)); // if it is not there, its run says so
            continue;
        }
        char *real = realpath(path, NULL);
        if (real && enter(&w, &info))
            walk_folder(&w, path, real, 0);
        else
            b->links++;
        free(real);
    }
    free(w.seen);
    if (w.failed) return app_fail_text(app, "not enough memory");
    if (b->count > 0) return EXIT_GOOD;
    return app_fail_text(app, "%s: there are no models in it (" MODELS " .cfg); %u other files",
                         app->operands[0], b->other);
}

// Names ------------------------------------------------------------------------------------------

/// How much of `a` is the folder that it shares with `b`, its last slash included.
static size_t shared_folder(const char *a, size_t length, const char *b)
{
    size_t shared = 0;
    for (size_t i = 0; i < length && a[i] == b[i]; i++)
        if (a[i] == '/') shared = i + 1;
    return shared;
}

/// The folder that holds all operands, from the root: of a file its own folder, of a folder itself.
static char *common_folder(const cli_app *app)
{
    char *common = NULL;
    size_t length = 0;
    for (uint32_t i = 0; i < app->operand_count; i++) {
        struct stat info;
        const char *path = app->operands[i];
        const bool folder = stat(path, &info) == 0 && S_ISDIR(info.st_mode);
        char *real = folder ? realpath(path, NULL) : NULL;
        char *full = folder ? (real ? join(real, "") : NULL) : full_path(path);
        free(real);
        if (!full) continue;
        if (!common) {
            common = full;
            length = shared_folder(full, strlen(full), full);
            continue;
        }
        length = shared_folder(common, length, full);
        free(full);
    }
    if (common) common[length] = 0;
    return common;
}

static int by_output(const void *a, const void *b)
{
    const batch_job *const *x = a, *const *y = b;
    const int order = strcmp((*x)->output, (*y)->output);
    return order ? order : (*x < *y ? -1 : *x > *y);
}

static char *format_text(const char *format, const char *a, const char *b)
{
    const size_t size = strlen(format) + strlen(a) + strlen(b);
    char *text = malloc(size);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    if (text) snprintf(text, size, format, a, b);
#pragma GCC diagnostic pop
    return text;
}

/// Of the jobs with one output the first has it; the others are refused.
static int refuse_doubles(batch *b)
{
    batch_job **order = malloc((b->count + 1) * sizeof(batch_job *));
    uint32_t count = 0, first = 0;
    if (!order) return app_fail_text(b->app, "not enough memory");
    for (uint32_t i = 0; i < b->count; i++)
        if (b->jobs[i].output) order[count++] = &b->jobs[i];
    qsort(order, count, sizeof *order, by_output);
    for (uint32_t i = 1; i < count; i++) {
        if (strcmp(order[i]->output, order[first]->output) != 0)
            first = i;
        else if (!order[i]->refusal)
            order[i]->refusal = format_text("%s is made of %s; rename one of them",
                                            order[i]->output, order[first]->path);
    }
    free(order);
    return EXIT_GOOD;
}

static place place_of(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 ? (place){ info.st_dev, info.st_ino } : (place){ 0, 0 };
}

/// What would be written over a file that the batch reads, by whatever name, is refused.
static int refuse_sources(batch *b)
{
    place *sources = malloc((b->count + (size_t)1) * sizeof *sources);
    if (!sources) return app_fail_text(b->app, "not enough memory");
    for (uint32_t i = 0; i < b->count; i++) sources[i] = place_of(b->jobs[i].path);
    for (uint32_t i = 0; i < b->count; i++) {
        batch_job *job = &b->jobs[i];
        const place target = job->output ? place_of(job->output) : (place){ 0, 0 };
        for (uint32_t k = 0; target.inode && !job->refusal && k < b->count; k++)
            if (same_place(target, sources[k]))
                job->refusal = format_text(
                    same_place(target, sources[i])
                        ? "%s is the file itself; name another folder%.0s"
                        : "%s would be written over %s, which is to be converted too; name "
                          "another folder",
                    job->output, b->jobs[k].path);
    }
    free(sources);
    return EXIT_GOOD;
}

/// How much of an output's path is there before anything is made.
static size_t existing_folder(const char *output)
{
    char *path = strdup(output);
    struct stat info;
    size_t length = path ? strlen(path) : 0;
    for (char *slash; length && (slash = strrchr(path, '/')) && slash > path;) {
        *slash = 0;
        length = strlen(path);
        if (stat(path, &info) == 0) break;
    }
    free(path);
    return length;
}

int batch_name(batch *b, const char *folder, const char *ending)
{
    char *common = common_folder(b->app);
    const size_t length = common ? strlen(common) : 0;
    for (uint32_t i = 0; i < b->count; i++) {
        batch_job *job = &b->jobs[i];
        if (!job->full || !common) {
            job->refusal = strdup("the folder it is in does not exist");
            continue;
        }
        const char *inner = job->full + length, *slash = strrchr(inner, '/');
        const char *dot = strrchr(slash ? slash : inner, '.');
        char *stem = strndup(inner, dot && dot != inner ? (size_t)(dot - inner) : strlen(inner));
        char *name = stem ? format_text("%s.%s", stem, ending) : NULL;
        job->output = name ? join(folder, name) : NULL;
        free(stem), free(name);
        if (!job->output) break;
        job->existing = existing_folder(job->output);
    }
    free(common);
    const int status = refuse_sources(b);
    return status == EXIT_GOOD ? refuse_doubles(b) : status;
}

void batch_release(batch *b)
{
    for (uint32_t i = 0; i < b->count; i++) {
        batch_job *job = &b->jobs[i];
        free(job->path), free(job->shown), free(job->full), free(job->output), free(job->refusal);
        free(job->said.words), free(job->said.lines), free(job->said.results);
        for (int k = 0; k < 2; k++) free(job->looks.pictures[k]);
    }
    free(b->jobs);
}
