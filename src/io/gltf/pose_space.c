/// CUTIS_pose_space (docs/formats/pose_space.md): the root names RBF kernel, joints and poses; a
/// mesh names the morph target of the first displaced pose. Everything is JSON numbers that give
/// their floats back, so what is written is read with the same bits. Invariant: sizes are compared
/// with the JSON's own before anything is allocated; values are for the model's gate.
#include "io/gltf/parts.h"
#include "io/gltf/writer.h"

#include <string.h>

#define NAME "CUTIS_pose_space"

static const char *const KERNELS[] = { "exponential", "gaussian" };
static const char *const DISTANCES[] = { "geodesic", "rotvec", "euler" };

#define FAIL(...) return WRONG("CUTIS_POSE_SPACE_INVALID", __VA_ARGS__)

static cutis_result read_joints(const gltf_document *document, const json_t *list, uint32_t *out)
{
    for (size_t j = 0; j < json_array_size(list); j++) {
        const json_t *item = json_array_get(list, j);
        json_int_t node = json_is_integer(item) ? json_integer_value(item) : -1;
        if (node < 0 || node >= (json_int_t)document->node_count)
            FAIL("/extensions/" NAME "/joints/%zu: no node of the file", j);
        out[j] = document->model_of_node[node];
    }
    return CUTIS_OK;
}

static cutis_result read_poses(const gltf_document *document, const json_t *poses, size_t joints,
                               cutis_quat *rotations, cutis_float3 *translations, size_t fields,
                               float *coefficients)
{
    for (size_t k = 0; k < json_array_size(poses); k++) {
        const json_t *pose = json_array_get(poses, k);
        const json_t *turns = json_object_get(pose, "rotations");
        const json_t *places = json_object_get(pose, "translations");
        if (!cutis_gltf_all_numbers(turns, 4 * joints))
            FAIL("/extensions/" NAME "/poses/%zu/rotations: want %zu numbers", k, 4 * joints);
        if (translations ? !cutis_gltf_all_numbers(places, 3 * joints) : places != NULL)
            FAIL("/extensions/" NAME
                 "/poses/%zu/translations: want %zu numbers in all poses or in none",
                 k, 3 * joints);
        const json_t *shares = json_object_get(pose, "coefficients");
        if (k > 0 && fields ? !cutis_gltf_all_numbers(shares, fields) : shares != NULL)
            FAIL("/extensions/" NAME
                 "/poses/%zu/coefficients: want %zu numbers in all poses but the first",
                 k, fields);
        if (k > 0 && fields) cutis_gltf_floats(shares, coefficients + (k - 1) * fields);
        cutis_gltf_floats(turns, &rotations[k * joints].x);
        if (translations) cutis_gltf_floats(places, &translations[k * joints].x);
    }
    return CUTIS_OK;
}

static cutis_result read_targets(const gltf_document *document, uint32_t mesh_count, int32_t *out)
{
    for (uint32_t m = 0; m < mesh_count; m++) {
        const json_t *own = cutis_gltf_extension(cutis_gltf_item(document, "meshes", m), NAME);
        const json_t *target = json_object_get(own, "target");
        out[m] = CUTIS_NONE;
        if (!own) continue;
        if (!json_is_integer(target) || json_integer_value(target) < 0 ||
            json_integer_value(target) > INT32_MAX)
            FAIL("/meshes/%u/extensions/" NAME "/target: want the index of a morph target", m);
        out[m] = (int32_t)json_integer_value(target);
    }
    return CUTIS_OK;
}

cutis_result cutis_gltf_read_pose_space(gltf_document *document)
{
    cutis_model_data *data = &document->data;
    const json_t *json = cutis_gltf_extension(document->root, NAME);
    if (!json) return CUTIS_OK;
    const json_t *joints = json_object_get(json, "joints"), *poses = json_object_get(json, "poses");
    const json_t *sigma = json_object_get(json, "sigma"), *after = json_object_get(json, "after");
    int kernel = cutis_gltf_find_word(KERNELS, 2, cutis_gltf_string(json, "kernel"));
    int distance = cutis_gltf_find_word(DISTANCES, 3, cutis_gltf_string(json, "distance"));
    if (kernel < 0 || distance < 0 || !json_is_array(joints) || !json_is_array(poses) ||
        (sigma && !json_is_number(sigma)) || (after && !json_is_boolean(after)))
        FAIL("/extensions/" NAME ": needs kernel, distance, joints and poses");
    size_t joint_count = json_array_size(joints), pose_count = json_array_size(poses), entries;
    if (joint_count > UINT32_MAX || pose_count > UINT32_MAX ||
        !cutis_size_multiply(joint_count, pose_count, &entries) ||
        !cutis_gltf_all_numbers(json_object_get(json_array_get(poses, 0), "rotations"),
                                4 * joint_count))
        FAIL("/extensions/" NAME "/poses/0/rotations: want %zu numbers", 4 * joint_count);
    bool places = json_object_get(json_array_get(poses, 0), "translations") != NULL;
    // As many fields as the first displaced pose has coefficients; all have as many.
    size_t fields = json_array_size(json_object_get(json_array_get(poses, 1), "coefficients"));
    if (fields > UINT32_MAX) FAIL("/extensions/" NAME "/poses/1/coefficients: too many");
    cutis_result result = cutis_gltf_charge(document, entries, places ? 28 : 16);
    if (result == CUTIS_OK && fields) result = cutis_gltf_charge(document, pose_count, 4 * fields);
    if (result != CUTIS_OK) return result;
    float *coefficients =
        fields ? cutis_arena_alloc(&document->parts, pose_count, fields * sizeof *coefficients)
               : NULL;
    cutis_pose_space *space = cutis_arena_alloc(&document->parts, 1, sizeof *space);
    uint32_t *nodes = cutis_arena_alloc(&document->parts, joint_count, sizeof *nodes);
    int32_t *targets = cutis_arena_alloc(&document->parts, data->mesh_count, sizeof *targets);
    cutis_quat *rotations = cutis_arena_alloc(&document->parts, entries, sizeof *rotations);
    cutis_float3 *translations =
        places ? cutis_arena_alloc(&document->parts, entries, sizeof *translations) : NULL;
    if (!space || !nodes || !targets || !rotations || (places && !translations) ||
        (fields && !coefficients))
        return cutis_alloc_result(document->context);
    *space = (cutis_pose_space){ .joint_count = (uint32_t)joint_count,
                                 .pose_count = (uint32_t)pose_count,
                                 .joints = nodes,
                                 .rotations = rotations,
                                 .translations = translations,
                                 .targets = targets,
                                 .field_count = (uint32_t)fields,
                                 .coefficients = coefficients,
                                 .after = json_is_true(after),
                                 .kernel = (cutis_pose_kernel)kernel,
                                 .distance = (cutis_pose_distance)distance,
                                 .sigma = sigma ? (float)json_number_value(sigma) : 0.0f };
    result = read_joints(document, joints, nodes);
    if (result == CUTIS_OK)
        result =
            read_poses(document, poses, joint_count, rotations, translations, fields, coefficients);
    if (result == CUTIS_OK) result = read_targets(document, data->mesh_count, targets);
    data->pose_space = space;
    return result;
}

static json_t *write_pose(gltf_writer *writer, const cutis_pose_space *space, uint32_t k)
{
    size_t first = (size_t)k * space->joint_count;
    json_t *pose = json_object();
    cutis_gltf_set(
        writer, pose, "rotations",
        cutis_gltf_float_array(&space->rotations[first].x, 4 * (size_t)space->joint_count));
    if (space->translations)
        cutis_gltf_set(
            writer, pose, "translations",
            cutis_gltf_float_array(&space->translations[first].x, 3 * (size_t)space->joint_count));
    if (k > 0 && space->field_count)
        cutis_gltf_set(
            writer, pose, "coefficients",
            cutis_gltf_float_array(space->coefficients + (size_t)(k - 1) * space->field_count,
                                   space->field_count));
    return pose;
}

static json_t *write_space(gltf_writer *writer, const cutis_pose_space *space)
{
    json_t *json = json_object(), *joints = json_array(), *poses = json_array();
    for (uint32_t j = 0; j < space->joint_count; j++)
        cutis_gltf_append(writer, joints, json_integer(writer->node_of_model[space->joints[j]]));
    for (uint32_t k = 0; k < space->pose_count; k++)
        cutis_gltf_append(writer, poses, write_pose(writer, space, k));
    cutis_gltf_set(writer, json, "kernel", json_string(KERNELS[space->kernel]));
    cutis_gltf_set(writer, json, "distance", json_string(DISTANCES[space->distance]));
    if (space->sigma > 0) cutis_gltf_set(writer, json, "sigma", cutis_json_float(space->sigma));
    if (space->after) cutis_gltf_set(writer, json, "after", json_true());
    cutis_gltf_set(writer, json, "joints", joints);
    cutis_gltf_set(writer, json, "poses", poses);
    return json;
}

void cutis_gltf_write_pose_space(gltf_writer *writer)
{
    const cutis_pose_space *space = writer->data->pose_space;
    json_t *meshes = json_object_get(writer->root, "meshes");
    for (uint32_t m = 0; m < writer->data->mesh_count; m++) {
        json_t *own = NULL;
        if (space && space->targets[m] != CUTIS_NONE) {
            own = json_object();
            cutis_gltf_set(writer, own, "target", json_integer(space->targets[m]));
        }
        cutis_gltf_place_extension(writer, json_array_get(meshes, m), NAME, own);
    }
    cutis_gltf_root_extension(writer, NAME, space ? write_space(writer, space) : NULL);
}
