// Maps of joints: {"joints": {"thigh_l": "LeftUpLeg", "toes_l": null}}. Invariant: on any error the
// caller's map is as it was; what was written reads back as the same map.
#include "io/format.h"
#include "io/json.h"

#include <stdio.h>
#include <string.h>

#include <cutis/clip.h>

#include "base/error.h"
#include "base/memory.h"

// A joint by name, with the place in the file in its error.
static cutis_result find_joint(cutis_context *context, const cutis_model *model, const char *path,
                               const char *key, const char *name, uint32_t *out)
{
    char reason[512];
    cutis_result result = cutis_model_find_joint(model, name, out);
    if (result == CUTIS_OK) return result;
    snprintf(reason, sizeof reason, "%s", cutis_context_error(cutis_model_context(model)));
    return cutis_fail(context, result, "%s: /joints/%s: %s", path, key, reason);
}

static cutis_result take_joints(const cutis_model *model, const cutis_model *motion,
                                const char *path, json_t *joints, int32_t *map)
{
    cutis_context *context = cutis_model_context(model);
    const char *key;
    json_t *value;
    json_object_foreach(joints, key, value)
    {
        uint32_t node, source;
        if (!json_is_string(value) && !json_is_null(value))
            return cutis_fail(context, CUTIS_CORRUPT_DATA,
                              "%s: /joints/%s: must be the name of a joint, or null", path, key);
        cutis_result result = find_joint(context, model, path, key, key, &node);
        if (result != CUTIS_OK) return result;
        if (json_is_null(value)) continue;
        result = find_joint(context, motion, path, key, json_string_value(value), &source);
        if (result != CUTIS_OK) return result;
        map[node] = (int32_t)source;
    }
    return CUTIS_OK;
}

static cutis_result parse_map(const cutis_input *input, const cutis_model *model,
                              const cutis_model *motion, int32_t *map)
{
    cutis_context *context = input->context;
    cutis_json json;
    cutis_result result = cutis_json_parse(context, input->name, input->data, input->size, &json);
    if (result != CUTIS_OK) return result;
    json_t *joints = json_object_get(json.root, "joints");
    if (!json_is_object(joints))
        result = cutis_fail(context, CUTIS_CORRUPT_DATA,
                            "%s: /joints: must be there and be an object", input->name);
    else if (json_object_size(json.root) != 1)
        result = cutis_fail(context, CUTIS_CORRUPT_DATA, "%s: only the key \"joints\" is known",
                            input->name);
    else
        result = take_joints(model, motion, input->name, joints, map);
    cutis_json_release(context, &json);
    return result;
}

cutis_result cutis_joint_map_parse(const cutis_input *input, const cutis_model *model,
                                   const cutis_model *motion, int32_t *map)
{
    const uint32_t count = cutis_model_get(model)->node_count;
    int32_t *draft = cutis_alloc_array(input->context, count, sizeof *draft);
    if (!draft) return cutis_alloc_result(input->context);
    for (uint32_t n = 0; n < count; n++) draft[n] = CUTIS_NONE;
    cutis_result result = parse_map(input, model, motion, draft);
    if (result == CUTIS_OK) memcpy(map, draft, count * sizeof *draft);
    cutis_free_array(input->context, draft, count, sizeof *draft);
    return result;
}

cutis_result cutis_joint_map_read(const cutis_model *model, const cutis_model *motion,
                                  const char *path, int32_t *map)
{
    if (!model || !motion || !path || !map) return CUTIS_INVALID_ARGUMENT;
    cutis_input input;
    cutis_result result = cutis_input_open(cutis_model_context(model), path, NULL, &input);
    if (result == CUTIS_OK) result = cutis_joint_map_parse(&input, model, motion, map);
    cutis_input_close(&input);
    return result;
}

// What finds the node again: its name, or its number in a skin where the name does not.
static const char *joint_key(const cutis_model *model, uint32_t node, char *number, size_t capacity)
{
    const cutis_model_data *data = cutis_model_get(model);
    uint32_t found;
    const char *name = data->nodes[node].name;
    if (name && *name && cutis_model_find_joint(model, name, &found) == CUTIS_OK && found == node)
        return name;
    for (uint32_t s = 0; s < data->skin_count; s++)
        for (uint32_t j = 0; j < data->skins[s].joint_count; j++) {
            if (data->skins[s].joints[j] != node) continue;
            snprintf(number, capacity, "#%u", j);
            if (cutis_model_find_joint(model, number, &found) == CUTIS_OK && found == node)
                return number;
        }
    return NULL;
}

static bool is_joint(const cutis_model_data *data, uint32_t node)
{
    for (uint32_t s = 0; s < data->skin_count; s++)
        for (uint32_t j = 0; j < data->skins[s].joint_count; j++)
            if (data->skins[s].joints[j] == node) return true;
    return data->skin_count == 0 && data->nodes[node].mesh == CUTIS_NONE;
}

static cutis_result list_joints(const cutis_model *model, const cutis_model *motion,
                                const int32_t *map, json_t *joints)
{
    const cutis_model_data *data = cutis_model_get(model);
    for (uint32_t n = 0; n < data->node_count; n++) {
        char here[32], there[32];
        if (map[n] == CUTIS_NONE && !is_joint(data, n)) continue;
        const char *key = joint_key(model, n, here, sizeof here);
        const char *from =
            map[n] == CUTIS_NONE ? NULL : joint_key(motion, (uint32_t)map[n], there, sizeof there);
        if (!key && map[n] == CUTIS_NONE) continue;
        if (!key || (!from && map[n] != CUTIS_NONE))
            return cutis_fail(cutis_model_context(model), CUTIS_UNSUPPORTED,
                              "node %u has no name to stand in a map", n);
        if (json_object_set_new(joints, key, from ? json_string(from) : json_null()) != 0)
            return CUTIS_OUT_OF_MEMORY;
    }
    return CUTIS_OK;
}

cutis_result cutis_joint_map_write(const cutis_model *model, const cutis_model *motion,
                                   const int32_t *map, const char *path)
{
    if (!model || !motion || !map || !path) return CUTIS_INVALID_ARGUMENT;
    cutis_context *context = cutis_model_context(model);
    cutis_bytes bytes = { .context = context };
    json_t *root = json_object(), *joints = json_object();
    cutis_result result = root && joints && json_object_set(root, "joints", joints) == 0
                              ? list_joints(model, motion, map, joints)
                              : CUTIS_OUT_OF_MEMORY;
    if (result == CUTIS_OK) {
        cutis_json_write(&bytes, root, false);
        cutis_bytes_append(&bytes, "\n", 1);
        result = bytes.failed ? cutis_alloc_result(context)
                              : cutis_file_write(context, path, bytes.data, bytes.size);
    }
    cutis_bytes_drop(&bytes);
    json_decref(joints);
    json_decref(root);
    return result;
}
