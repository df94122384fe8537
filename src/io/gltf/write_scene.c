/// Nodes, scene, skins and materials to JSON; what has not changed since the source keeps its text.
#include "io/gltf/writer.h"

#include <string.h>

/// 12 numbers by rows to glTF's 16 by columns.
static void to_columns(const cutis_mat34 *matrix, float *columns)
{
    for (int c = 0; c < 4; c++) {
        for (int r = 0; r < 3; r++) columns[c * 4 + r] = matrix->m[r * 4 + c];
        columns[c * 4 + 3] = c == 3;
    }
}

static void write_transform(gltf_writer *writer, const cutis_node *node, json_t *json)
{
    cutis_transform identity = cutis_transform_identity();
    const cutis_transform *rest = &node->rest;
    json_object_del(json, "matrix");
    json_object_del(json, "translation");
    json_object_del(json, "rotation");
    json_object_del(json, "scale");
    if (node->matrix) {
        float columns[16];
        to_columns(node->matrix, columns);
        cutis_gltf_set(writer, json, "matrix", cutis_gltf_float_array(columns, 16));
        return;
    }
    if (memcmp(&rest->translation, &identity.translation, sizeof rest->translation) != 0)
        cutis_gltf_set(writer, json, "translation",
                       cutis_gltf_float_array(&rest->translation.x, 3));
    if (memcmp(&rest->rotation, &identity.rotation, sizeof rest->rotation) != 0)
        cutis_gltf_set(writer, json, "rotation", cutis_gltf_float_array(&rest->rotation.x, 4));
    if (memcmp(&rest->scale, &identity.scale, sizeof rest->scale) != 0)
        cutis_gltf_set(writer, json, "scale", cutis_gltf_float_array(&rest->scale.x, 3));
}

/// Beside what the source's had.
static void write_extras(gltf_writer *writer, const cutis_node *node, json_t *json)
{
    cutis_json own = { 0 };
    json_t *extras = json_object_get(json, "extras");
    if (!node->extras) return;
    if (cutis_json_parse(writer->context, "extras", node->extras, strlen(node->extras), &own) !=
        CUTIS_OK)
        writer->failed = true; // only memory: check_model has seen that it is an object
    else if (!json_is_object(extras))
        cutis_gltf_set(writer, json, "extras", json_incref(own.root));
    else if (json_object_update(extras, own.root))
        writer->failed = true;
    cutis_json_release(writer->context, &own);
}

static void write_node(gltf_writer *writer, uint32_t index, const cutis_node *before, json_t *json)
{
    const cutis_node *node = &writer->data->nodes[index];
    uint32_t targets = node->mesh == CUTIS_NONE ? 0 : writer->data->meshes[node->mesh].target_count;
    cutis_gltf_set_string(writer, json, "name", node->name);
    if (!before || !cutis_gltf_same(before->matrix, node->matrix, 1, sizeof *node->matrix) ||
        (!node->matrix && memcmp(&before->rest, &node->rest, sizeof node->rest) != 0))
        write_transform(writer, node, json);
    cutis_gltf_set_index(writer, json, "mesh", node->mesh);
    cutis_gltf_set_index(writer, json, "skin", node->skin);
    write_extras(writer, node, json);
    if (before && before->mesh == node->mesh &&
        cutis_gltf_same(before->target_weights, node->target_weights, targets, sizeof(float)))
        return;
    json_object_del(json, "weights");
    if (node->target_weights && targets)
        cutis_gltf_set(writer, json, "weights",
                       cutis_gltf_float_array(node->target_weights, targets));
}

/// The root of a new node goes to the default scene; a child to its parent.
static void link_node(gltf_writer *writer, uint32_t index, json_t *nodes)
{
    const cutis_node *node = &writer->data->nodes[index];
    json_t *owner, *list;
    const char *key = "children";
    if (node->parent == CUTIS_NONE && node->outside) return;
    if (node->parent == CUTIS_NONE) {
        json_t *scenes = cutis_gltf_collection(writer, "scenes");
        if (json_array_size(scenes) == 0) cutis_gltf_append(writer, scenes, json_object());
        if (!writer->before || writer->source.node_count == 0)
            cutis_gltf_set(writer, writer->root, "scene", json_integer(0));
        int32_t scene = cutis_gltf_index(writer->root, "scene");
        owner = json_array_get(scenes, scene < 0 ? 0 : (size_t)scene);
        key = "nodes";
    } else {
        owner = json_array_get(nodes, writer->node_of_model[node->parent]);
    }
    list = json_object_get(owner, key);
    if (!list) {
        list = json_array();
        cutis_gltf_set(writer, owner, key, list);
    }
    cutis_gltf_append(writer, list, json_integer(writer->node_of_model[index]));
}

/// A rig's extras map bones of VRM and Mixamo to names of joints (cutis/rig.h): those that were
/// renamed have their new ones there, too.
static void rename_bones(gltf_writer *writer, json_t *nodes, const json_t *renamed)
{
    size_t i;
    json_t *node, *bones, *name;
    const char *standard, *bone;
    json_array_foreach(nodes, i, node)
    {
        json_t *own = json_object_get(json_object_get(node, "extras"), "cutis");
        json_object_foreach(json_object_get(own, "humanoid"), standard, bones)
        {
            for (void *at = json_object_iter(bones); at; at = json_object_iter_next(bones, at)) {
                bone = json_string_value(json_object_iter_value(at));
                name = bone ? json_object_get(renamed, bone) : NULL;
                if (name && json_object_iter_set_new(bones, at, json_copy(name)))
                    writer->failed = true;
            }
        }
    }
}

void cutis_gltf_write_nodes(gltf_writer *writer)
{
    json_t *nodes = cutis_gltf_collection(writer, "nodes"), *renamed = json_object();
    uint32_t source_count = writer->before ? writer->source.node_count : 0;
    for (uint32_t i = 0; i < writer->data->node_count && !writer->failed; i++) {
        cutis_node old;
        uint32_t file_index = writer->node_of_model[i];
        bool kept = i < source_count;
        if (kept && cutis_gltf_read_node(&writer->source, file_index, &old) != CUTIS_OK)
            writer->failed = true;
        else if (kept && old.name && writer->data->nodes[i].name &&
                 strcmp(old.name, writer->data->nodes[i].name) != 0)
            cutis_gltf_set(writer, renamed, old.name, json_string(writer->data->nodes[i].name));
        if (!kept) cutis_gltf_append(writer, nodes, cutis_gltf_new_node(writer, i));
        if (!writer->failed)
            write_node(writer, i, kept ? &old : NULL, json_array_get(nodes, file_index));
        if (!kept && !writer->failed) link_node(writer, i, nodes);
        cutis_arena_release(&writer->source.parts);
    }
    if (json_object_size(renamed) && !writer->failed) rename_bones(writer, nodes, renamed);
    json_decref(renamed);
}

static void write_inverse_binds(gltf_writer *writer, const cutis_skin *skin, json_t *json)
{
    json_object_del(json, "inverseBindMatrices");
    if (!skin->inverse_binds) return;
    float *columns = cutis_alloc_array(writer->context, skin->joint_count, 16 * sizeof *columns);
    if (!columns) {
        writer->failed = true;
        return;
    }
    for (size_t j = 0; j < skin->joint_count; j++)
        to_columns(&skin->inverse_binds[j], columns + 16 * j);
    cutis_gltf_set_numbers(writer, json, "inverseBindMatrices", columns, skin->joint_count,
                           GLTF_MAT4, GLTF_F32);
    cutis_free_array(writer->context, columns, skin->joint_count, 16 * sizeof *columns);
}

void cutis_gltf_write_skin(gltf_writer *writer, uint32_t index)
{
    const cutis_skin *skin = &writer->data->skins[index];
    json_t *skins = cutis_gltf_collection(writer, "skins");
    cutis_skin old = { 0 };
    bool kept = writer->before && index < writer->source.skin_count;
    writer->source.charged = 0;
    if (kept && cutis_gltf_read_skin(&writer->source, index, &old) != CUTIS_OK)
        writer->failed = true;
    if (!kept) cutis_gltf_append(writer, skins, json_object());
    json_t *json = json_array_get(skins, index);
    cutis_gltf_set_string(writer, json, "name", skin->name);
    bool same_joints = kept && old.joint_count == skin->joint_count;
    const int32_t binds = kept ? cutis_gltf_index(json, "inverseBindMatrices") : CUTIS_NONE;
    if (!same_joints || (binds != CUTIS_NONE && writer->source.accessors[binds].unfit) ||
        !cutis_gltf_same(old.inverse_binds, skin->inverse_binds, skin->joint_count,
                         sizeof(cutis_mat34)))
        write_inverse_binds(writer, skin, json);
    if (!kept || old.root != skin->root)
        cutis_gltf_set_index(writer, json, "skeleton",
                             skin->root == CUTIS_NONE ? CUTIS_NONE
                                                      : (int32_t)writer->node_of_model[skin->root]);
    if (!same_joints ||
        !cutis_gltf_same(old.joints, skin->joints, skin->joint_count, sizeof(uint32_t))) {
        json_t *joints = json_array();
        for (uint32_t j = 0; j < skin->joint_count; j++)
            cutis_gltf_append(writer, joints, json_integer(writer->node_of_model[skin->joints[j]]));
        cutis_gltf_set(writer, json, "joints", joints);
    }
    cutis_arena_release(&writer->source.parts);
}

void cutis_gltf_write_material(gltf_writer *writer, uint32_t index)
{
    static const float WHITE[4] = { 1, 1, 1, 1 };
    const cutis_material *material = &writer->data->materials[index];
    json_t *materials = cutis_gltf_collection(writer, "materials");
    cutis_material old = { .base_color = { 1, 1, 1, 1 }, .metallic = 1, .roughness = 1 };
    if (writer->before && index < writer->source.material_count) {
        cutis_gltf_read_material(&writer->source, index, &old);
    } else {
        cutis_gltf_append(writer, materials, json_object());
    }
    json_t *json = json_array_get(materials, index);
    cutis_gltf_set_string(writer, json, "name", material->name);
    if (old.double_sided != material->double_sided)
        cutis_gltf_set(writer, json, "doubleSided", json_boolean(material->double_sided));
    bool same_color = cutis_gltf_same(old.base_color, material->base_color, 4, sizeof(float));
    if (same_color && old.metallic == material->metallic && old.roughness == material->roughness)
        return;
    json_t *pbr = cutis_gltf_member(writer, json, "pbrMetallicRoughness");
    if (!same_color) {
        json_object_del(pbr, "baseColorFactor");
        if (!cutis_gltf_same(WHITE, material->base_color, 4, sizeof(float)))
            cutis_gltf_set(writer, pbr, "baseColorFactor",
                           cutis_gltf_float_array(material->base_color, 4));
    }
    if (old.metallic != material->metallic)
        cutis_gltf_set(writer, pbr, "metallicFactor", cutis_json_float(material->metallic));
    if (old.roughness != material->roughness)
        cutis_gltf_set(writer, pbr, "roughnessFactor", cutis_json_float(material->roughness));
}
