/// What a unit reads, as a stamp: names, sizes and times of its file, of the files that its options
/// name, and of those that these name themselves (a .gltf its buffers and images, an .obj its
/// materials, a Cal3D .cfg its parts).
/// Invariant: a run goes on only with the files that it began with.
#include "farm.h"

#include <dirent.h>
#include <jansson.h>
#include <sys/stat.h>

static uint64_t stamp_file(uint64_t sum, const char *path, const struct stat *info)
{
    const int64_t values[] = { info->st_size, info->st_mtim.tv_sec, info->st_mtim.tv_nsec };
    sum = farm_digest(sum, path, strlen(path) + 1);
    return farm_digest(sum, values, sizeof values);
}

/// A name beside a file; false: it is too long.
static bool beside(const char *file, const char *name, size_t length, char out[4096])
{
    const char *slash = strrchr(file, '/');
    const int folder = slash ? (int)(slash + 1 - file) : 0;
    return snprintf(out, 4096, "%.*s%.*s", folder, file, (int)length, name) < 4096;
}

static uint64_t stamp_beside(uint64_t sum, const char *file, const char *name, size_t length)
{
    char path[4096];
    struct stat info;
    return length && beside(file, name, length, path) && stat(path, &info) == 0
               ? stamp_file(sum, path, &info)
               : sum;
}

/// "a%20b" is "a b".
static void decode_uri(const char *uri, char *out, size_t capacity)
{
    size_t used = 0;
    for (unsigned byte; *uri && used + 1 < capacity; used++) {
        const bool escape = *uri == '%' && sscanf(uri + 1, "%2x", &byte) == 1 && uri[1] && uri[2];
        out[used] = escape ? (char)byte : *uri;
        uri += escape ? 3 : 1;
    }
    out[used] = 0;
}

static uint64_t stamp_uris(uint64_t sum, const char *file, const json_t *list)
{
    json_t *entry;
    size_t index;
    char name[4096];
    json_array_foreach(list, index, entry)
    {
        const char *uri = json_string_value(json_object_get(entry, "uri"));
        if (!uri || strncmp(uri, "data:", 5) == 0) continue;
        decode_uri(uri, name, sizeof name);
        sum = stamp_beside(sum, file, name, strlen(name));
    }
    return sum;
}

static uint64_t stamp_gltf(uint64_t sum, const char *file)
{
    json_t *root = json_load_file(file, 0, NULL);
    sum = stamp_uris(sum, file, json_object_get(root, "buffers"));
    sum = stamp_uris(sum, file, json_object_get(root, "images"));
    json_decref(root);
    return sum;
}

/// Materials, which programs name before anything else.
static uint64_t stamp_obj(uint64_t sum, const char *file)
{
    char line[4096];
    FILE *stream = fopen(file, "re");
    for (int i = 0; stream && i < 1000 && fgets(line, sizeof line, stream); i++)
        if (strncmp(line, "mtllib ", 7) == 0)
            sum = stamp_beside(sum, file, line + 7, strcspn(line + 7, "\r\n"));
    if (stream) fclose(stream);
    return sum;
}

/// Lines "mesh=body.cmf"; who finds no such file there says so when it is read.
static uint64_t stamp_cal3d(uint64_t sum, const char *file)
{
    char line[4096];
    FILE *stream = fopen(file, "re");
    while (stream && fgets(line, sizeof line, stream)) {
        const char *equals = strchr(line, '=');
        if (equals) sum = stamp_beside(sum, file, equals + 1, strcspn(equals + 1, "\r\n"));
    }
    if (stream) fclose(stream);
    return sum;
}

static uint64_t stamp_folder(uint64_t sum, const char *folder)
{
    struct dirent **names = NULL;
    struct stat info;
    char path[4096];
    const int count = scandir(folder, &names, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]->d_name);
        if (stat(path, &info) == 0 && S_ISREG(info.st_mode)) sum = stamp_file(sum, path, &info);
        free(names[i]);
    }
    free(names);
    return sum;
}

static uint64_t stamp_input(uint64_t sum, const char *path)
{
    struct stat info;
    if (stat(path, &info) != 0) return sum;
    if (S_ISDIR(info.st_mode)) return stamp_folder(sum, path);
    sum = stamp_file(sum, path, &info);
    if (has_extension(path, ".gltf")) sum = stamp_gltf(sum, path);
    if (has_extension(path, ".obj")) sum = stamp_obj(sum, path);
    return has_extension(path, ".cfg") ? stamp_cal3d(sum, path) : sum;
}

/// An option's text: a name, several with commas between, or "file:NAME".
static uint64_t stamp_text(uint64_t sum, const char *text)
{
    char name[4096];
    size_t length;
    for (const char *entry; (entry = next_entry(&text, ",", &length));) {
        const size_t skip = length > 5 && strncmp(entry, "file:", 5) == 0 ? 5 : 0;
        snprintf(name, sizeof name, "%.*s", (int)(length - skip), entry + skip);
        if (*name) sum = stamp_input(sum, name);
    }
    return sum;
}

void farm_stamp_inputs(farm_unit *u, const cli_app *app)
{
    struct stat info;
    uint64_t sum = stamp_input(0xcbf29ce484222325u, u->file);
    for (int i = 0; i < OPTION_ID_COUNT; i++) {
        const option_value *value = &app->values[i];
        const option_kind kind = cli_options[i].kind;
        if (i == OPTION_OUTPUT || i == OPTION_NORMALS || i == OPTION_REPORT) continue;
        if (kind != KIND_TEXT && kind != KIND_PATH && kind != KIND_PATHS && kind != KIND_EACH)
            continue;
        for (int w = 0; value->words && w < value->word_count; w++)
            sum = stamp_text(sum, value->words[w]);
        if (!value->words && value->text) sum = stamp_text(sum, value->text);
    }
    u->stamp = sum;
    if (stat(u->file, &info) == 0) u->file_bytes = (uint64_t)info.st_size;
}
