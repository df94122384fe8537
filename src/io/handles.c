// Handle files: {"handles": [{"name", "kind": "point", "position"} | {"kind": "bar", "from",
// "to"}], "poses": [{"name", "handles": {"NAME": {"rotation", "translation"}}}]}. Invariant: what
// is handed out is finite, rotations are of unit length, names of handles differ, and poses name
// handles that exist.
#include "io/format.h"
#include "io/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

struct cutis_handle_file {
    cutis_arena arena;
    cutis_handle_set set;
};

typedef struct reader {
    cutis_context *context;
    const char *path;
    cutis_arena *arena;
    cutis_handle *handles;
    uint32_t handle_count;
    const cutis_handle **by_name; ///< sorted, those that have a name
    uint32_t name_count;
    char place[256]; ///< JSON pointer of what is being read
} reader;

static cutis_result bad(const reader *r, const char *key, const char *reason)
{
    return cutis_fail(r->context, CUTIS_CORRUPT_DATA, "%s: %s%s%s: %s", r->path, r->place,
                      key[0] ? "/" : "", key, reason);
}

static cutis_result take_numbers(const reader *r, const char *key, const json_t *value,
                                 size_t count, float *out)
{
    if (!json_is_array(value) || json_array_size(value) != count)
        return bad(r, key, count == 3 ? "must be 3 numbers" : "must be 4 numbers");
    for (size_t i = 0; i < count; i++) {
        const json_t *number = json_array_get(value, i);
        out[i] = (float)json_number_value(number);
        if (!json_is_number(number) || !isfinite(out[i]))
            return bad(r, key, "holds what is not a finite number");
    }
    return CUTIS_OK;
}

static cutis_result take_rotation(const reader *r, const json_t *value, cutis_quat *out)
{
    float q[4];
    cutis_result result = take_numbers(r, "rotation", value, 4, q);
    if (result != CUTIS_OK) return result;
    double length =
        sqrt((double)q[0] * q[0] + (double)q[1] * q[1] + (double)q[2] * q[2] + (double)q[3] * q[3]);
    if (!(length > 1e-6)) return bad(r, "rotation", "a quaternion of length 0");
    *out = (cutis_quat){ (float)(q[0] / length), (float)(q[1] / length), (float)(q[2] / length),
                         (float)(q[3] / length) };
    return CUTIS_OK;
}

// A string member, copied; absent gives NULL.
static cutis_result take_name(const reader *r, const json_t *object, const char **out)
{
    const json_t *name = json_object_get(object, "name");
    *out = NULL;
    if (!name) return CUTIS_OK;
    if (!json_is_string(name)) return bad(r, "name", "must be a string");
    *out = cutis_arena_string(r->arena, json_string_value(name));
    return *out ? CUTIS_OK : cutis_alloc_result(r->context);
}

// Only keys of a space-separated list.
static cutis_result check_keys(const reader *r, json_t *object, const char *allowed)
{
    const char *key;
    json_t *value;
    if (!json_is_object(object)) return bad(r, "", "must be an object");
    json_object_foreach(object, key, value)
    {
        bool known = false;
        for (const char *word = allowed; *word && !known;) {
            size_t span = strcspn(word, " ");
            known = strlen(key) == span && strncmp(word, key, span) == 0;
            word += span + (word[span] == ' ');
        }
        if (!known)
            return cutis_fail(r->context, CUTIS_CORRUPT_DATA, "%s: %s/%s: unknown key (%s)",
                              r->path, r->place, key, allowed);
    }
    return CUTIS_OK;
}

static cutis_result take_handle(reader *r, json_t *object, cutis_handle *out)
{
    const char *kind = json_string_value(json_object_get(object, "kind"));
    const bool bar = kind && strcmp(kind, "bar") == 0;
    if (!json_is_object(object)) return bad(r, "", "must be an object");
    if (!kind || (!bar && strcmp(kind, "point") != 0))
        return bad(r, "kind", "must be \"point\" or \"bar\"");
    cutis_result result = check_keys(r, object, bar ? "name kind from to" : "name kind position");
    if (result == CUTIS_OK) result = take_name(r, object, &out->name);
    out->kind = bar ? CUTIS_HANDLE_BAR : CUTIS_HANDLE_POINT;
    const char *first = bar ? "from" : "position";
    if (result == CUTIS_OK)
        result = take_numbers(r, first, json_object_get(object, first), 3, &out->from.x);
    out->to = out->from;
    if (result == CUTIS_OK && bar)
        result = take_numbers(r, "to", json_object_get(object, "to"), 3, &out->to.x);
    return result;
}

static int by_name(const void *a, const void *b)
{
    const cutis_handle *const *x = a, *const *y = b;
    return strcmp((*x)->name, (*y)->name);
}

static cutis_result sort_names(reader *r)
{
    r->by_name = cutis_arena_alloc(r->arena, r->handle_count, sizeof *r->by_name);
    if (!r->by_name) return cutis_alloc_result(r->context);
    for (uint32_t h = 0; h < r->handle_count; h++)
        if (r->handles[h].name) r->by_name[r->name_count++] = &r->handles[h];
    qsort(r->by_name, r->name_count, sizeof *r->by_name, by_name);
    for (uint32_t i = 1; i < r->name_count; i++)
        if (strcmp(r->by_name[i - 1]->name, r->by_name[i]->name) == 0)
            return cutis_fail(r->context, CUTIS_CORRUPT_DATA,
                              "%s: /handles: two handles are named \"%s\"", r->path,
                              r->by_name[i]->name);
    return CUTIS_OK;
}

static cutis_result take_handles(reader *r, const json_t *array)
{
    snprintf(r->place, sizeof r->place, "/handles");
    if (!json_is_array(array) || json_array_size(array) == 0)
        return bad(r, "", "must be there and be an array of handles");
    if (json_array_size(array) > cutis_context_limits(r->context)->node_count)
        return cutis_fail(r->context, CUTIS_LIMIT_EXCEEDED, "%s: /handles: too many", r->path);
    r->handles = cutis_arena_alloc(r->arena, json_array_size(array), sizeof *r->handles);
    if (!r->handles) return cutis_alloc_result(r->context);
    for (size_t i = 0; i < json_array_size(array); i++) {
        snprintf(r->place, sizeof r->place, "/handles/%zu", i);
        cutis_result result = take_handle(r, json_array_get(array, i), &r->handles[i]);
        if (result != CUTIS_OK) return result;
        r->handle_count++;
    }
    return sort_names(r);
}

static cutis_result take_motion(reader *r, const char *name, json_t *object,
                                cutis_handle_motion *out)
{
    const cutis_handle key = { .name = name }, *wanted = &key;
    const cutis_handle *const *found =
        bsearch(&wanted, r->by_name, r->name_count, sizeof *r->by_name, by_name);
    if (!found) return bad(r, name, "there is no handle of that name");
    *out = (cutis_handle_motion){ .handle = (uint32_t)(*found - r->handles),
                                  .rotation = { 0, 0, 0, 1 } };
    size_t length = strlen(r->place);
    snprintf(r->place + length, sizeof r->place - length, "/%s", name);
    cutis_result result = check_keys(r, object, "rotation translation");
    const json_t *rotation = json_object_get(object, "rotation");
    const json_t *translation = json_object_get(object, "translation");
    if (result == CUTIS_OK && rotation) result = take_rotation(r, rotation, &out->rotation);
    if (result == CUTIS_OK && translation)
        result = take_numbers(r, "translation", translation, 3, &out->translation.x);
    r->place[length] = 0;
    return result;
}

static cutis_result take_pose(reader *r, json_t *object, cutis_handle_pose *out)
{
    cutis_result result = check_keys(r, object, "name handles");
    if (result == CUTIS_OK) result = take_name(r, object, &out->name);
    if (result != CUTIS_OK) return result;
    json_t *motions = json_object_get(object, "handles"), *value;
    if (!json_is_object(motions)) return bad(r, "handles", "must be there and be an object");
    size_t length = strlen(r->place);
    snprintf(r->place + length, sizeof r->place - length, "/handles");
    cutis_handle_motion *list =
        cutis_arena_alloc(r->arena, json_object_size(motions), sizeof *list);
    if (!list) return cutis_alloc_result(r->context);
    const char *name;
    json_object_foreach(motions, name, value)
    {
        result = take_motion(r, name, value, &list[out->motion_count]);
        if (result != CUTIS_OK) return result;
        out->motion_count++;
    }
    out->motions = list;
    return CUTIS_OK;
}

static cutis_result take_poses(reader *r, const json_t *array, cutis_handle_set *set)
{
    if (!array) return CUTIS_OK;
    snprintf(r->place, sizeof r->place, "/poses");
    if (!json_is_array(array)) return bad(r, "", "must be an array of poses");
    cutis_handle_pose *poses = cutis_arena_alloc(r->arena, json_array_size(array), sizeof *poses);
    if (!poses) return cutis_alloc_result(r->context);
    for (size_t i = 0; i < json_array_size(array); i++) {
        snprintf(r->place, sizeof r->place, "/poses/%zu", i);
        poses[i] = (cutis_handle_pose){ 0 };
        cutis_result result = take_pose(r, json_array_get(array, i), &poses[i]);
        if (result != CUTIS_OK) return result;
        set->pose_count++;
    }
    set->poses = poses;
    return CUTIS_OK;
}

static cutis_result parse_file(cutis_handle_file *file, const cutis_input *input)
{
    reader r = { .context = input->context, .path = input->name, .arena = &file->arena };
    cutis_json json;
    cutis_result result = cutis_json_parse(r.context, input->name, input->data, input->size, &json);
    if (result != CUTIS_OK) return result;
    json_t *root = json.root;
    result = check_keys(&r, root, "handles poses");
    if (result == CUTIS_OK) result = take_handles(&r, json_object_get(root, "handles"));
    if (result == CUTIS_OK) result = take_poses(&r, json_object_get(root, "poses"), &file->set);
    file->set.handles = r.handles;
    file->set.handle_count = r.handle_count;
    cutis_json_release(r.context, &json);
    return result;
}

cutis_result cutis_handles_parse(const cutis_input *input, cutis_handle_file **out)
{
    cutis_handle_file *file = cutis_alloc_zero(input->context, 1, sizeof *file);
    if (!file) return cutis_alloc_result(input->context);
    file->arena.context = input->context;
    cutis_result result = parse_file(file, input);
    if (result == CUTIS_OK)
        *out = file;
    else
        cutis_handle_file_destroy(file);
    return result;
}

cutis_result cutis_handles_read(cutis_context *context, const char *path, cutis_handle_file **out)
{
    if (out) *out = NULL;
    if (!context || !path || !out) return CUTIS_INVALID_ARGUMENT;
    cutis_input input;
    cutis_result result = cutis_input_open(context, path, NULL, &input);
    if (result == CUTIS_OK) result = cutis_handles_parse(&input, out);
    cutis_input_close(&input);
    return result;
}

const cutis_handle_set *cutis_handle_file_get(const cutis_handle_file *file)
{
    return &file->set;
}

void cutis_handle_file_destroy(cutis_handle_file *file)
{
    if (!file) return;
    cutis_context *context = file->arena.context;
    cutis_arena_release(&file->arena);
    cutis_free(context, file, sizeof *file);
}
