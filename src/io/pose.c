// Pose files: {"joints": {"elbow": {"rotation": [x, y, z, w]}, "#7": {"translation": [..], "scale":
// [..]}}}. Invariant: on any error the caller's transforms are as they were.
#include "io/format.h"
#include "io/json.h"

#include <math.h>
#include <string.h>

#include <cutis/clip.h>

#include "base/error.h"
#include "base/memory.h"

typedef struct pose_file {
    cutis_context *context;
    const char *path;
    const char *joint; // the one being read
} pose_file;

// `count` finite numbers.
static cutis_result take_numbers(const pose_file *file, const char *key, const json_t *value,
                                 size_t count, float *out)
{
    if (!json_is_array(value) || json_array_size(value) != count)
        return cutis_fail(file->context, CUTIS_CORRUPT_DATA,
                          "%s: /joints/%s/%s: must be %zu numbers", file->path, file->joint, key,
                          count);
    for (size_t i = 0; i < count; i++) {
        const json_t *number = json_array_get(value, i);
        out[i] = (float)json_number_value(number);
        if (!json_is_number(number) || !isfinite(out[i]))
            return cutis_fail(file->context, CUTIS_CORRUPT_DATA,
                              "%s: /joints/%s/%s/%zu: not a finite number", file->path, file->joint,
                              key, i);
    }
    return CUTIS_OK;
}

static cutis_result take_rotation(const pose_file *file, const json_t *value, cutis_quat *out)
{
    float q[4];
    cutis_result result = take_numbers(file, "rotation", value, 4, q);
    if (result != CUTIS_OK) return result;
    double length =
        sqrt((double)q[0] * q[0] + (double)q[1] * q[1] + (double)q[2] * q[2] + (double)q[3] * q[3]);
    if (!(length > 1e-6))
        return cutis_fail(file->context, CUTIS_CORRUPT_DATA,
                          "%s: /joints/%s/rotation: a quaternion of length 0", file->path,
                          file->joint);
    *out = (cutis_quat){ (float)(q[0] / length), (float)(q[1] / length), (float)(q[2] / length),
                         (float)(q[3] / length) };
    return CUTIS_OK;
}

static cutis_result take_joint(const pose_file *file, json_t *object, cutis_transform *out)
{
    const char *key;
    json_t *value;
    if (!json_is_object(object))
        return cutis_fail(file->context, CUTIS_CORRUPT_DATA, "%s: /joints/%s: must be an object",
                          file->path, file->joint);
    json_object_foreach(object, key, value)
    {
        cutis_result result = CUTIS_OK;
        if (strcmp(key, "rotation") == 0)
            result = take_rotation(file, value, &out->rotation);
        else if (strcmp(key, "translation") == 0)
            result = take_numbers(file, key, value, 3, &out->translation.x);
        else if (strcmp(key, "scale") == 0)
            result = take_numbers(file, key, value, 3, &out->scale.x);
        else
            result = cutis_fail(file->context, CUTIS_CORRUPT_DATA,
                                "%s: /joints/%s/%s: unknown key (rotation, translation, scale)",
                                file->path, file->joint, key);
        if (result != CUTIS_OK) return result;
    }
    return CUTIS_OK;
}

static cutis_result take_joints(const cutis_model *model, pose_file *file, json_t *joints,
                                cutis_transform *transforms)
{
    json_t *value;
    const cutis_model_data *data = cutis_model_get(model);
    json_object_foreach(joints, file->joint, value)
    {
        uint32_t node;
        cutis_result result = cutis_model_find_joint(model, file->joint, &node);
        if (result != CUTIS_OK) {
            char reason[512];
            strncpy(reason, cutis_context_error(file->context), sizeof reason - 1);
            reason[sizeof reason - 1] = 0;
            return cutis_fail(file->context, result, "%s: /joints: %s", file->path, reason);
        }
        if (data->nodes[node].matrix)
            return cutis_fail(
                file->context, CUTIS_UNSUPPORTED,
                "%s: /joints/%s: this joint's node has a fixed matrix in place of a transform",
                file->path, file->joint);
        result = take_joint(file, value, &transforms[node]);
        if (result != CUTIS_OK) return result;
    }
    return CUTIS_OK;
}

static cutis_result parse_pose(const cutis_input *input, const cutis_model *model,
                               cutis_transform *transforms)
{
    pose_file file = { input->context, input->name, "" };
    cutis_json json;
    cutis_result result =
        cutis_json_parse(input->context, input->name, input->data, input->size, &json);
    if (result != CUTIS_OK) return result;
    json_t *joints = json_object_get(json.root, "joints");
    if (!json_is_object(joints))
        result = cutis_fail(input->context, CUTIS_CORRUPT_DATA,
                            "%s: /joints: must be there and be an object", input->name);
    else
        result = take_joints(model, &file, joints, transforms);
    cutis_json_release(input->context, &json);
    return result;
}

cutis_result cutis_pose_parse(const cutis_input *input, const cutis_model *model,
                              cutis_transform *transforms)
{
    uint32_t count = cutis_model_get(model)->node_count;
    cutis_transform *draft = cutis_alloc_array(input->context, count, sizeof *draft);
    if (!draft) return cutis_alloc_result(input->context);
    memcpy(draft, transforms, count * sizeof *draft);
    cutis_result result = parse_pose(input, model, draft);
    if (result == CUTIS_OK) memcpy(transforms, draft, count * sizeof *draft);
    cutis_free_array(input->context, draft, count, sizeof *draft);
    return result;
}

cutis_result cutis_pose_read(const cutis_model *model, const char *path,
                             cutis_transform *transforms)
{
    if (!model || !path || !transforms) return CUTIS_INVALID_ARGUMENT;
    cutis_input input;
    cutis_result result = cutis_input_open(cutis_model_context(model), path, NULL, &input);
    if (result == CUTIS_OK) result = cutis_pose_parse(&input, model, transforms);
    cutis_input_close(&input);
    return result;
}
