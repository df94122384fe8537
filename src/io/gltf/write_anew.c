/// A document for a model whose nodes are no longer the source's: how it looks stays (materials,
/// textures, samplers, images and their bytes), cameras and lights stay where they stood at rest,
/// and what is said of the whole; everything else that belonged to nodes goes. Invariant: what
/// stays refers only to what stays, so the result is as valid as the source was.
#include "io/gltf/writer.h"

#include <string.h>

static const char *const GONE[] = { "scene", "scenes",     "nodes",    "meshes",
                                    "skins", "animations", "accessors" };
// Extensions of the root that refer to nothing of that.
static const char *const OF_THE_WHOLE[] = { "KHR_lights_punctual", "KHR_xmp_json_ld" };

static bool is_ours(const char *extension)
{
    return strncmp(extension, "CUTIS_", 6) == 0;
}

/// A camera or a light: it has a place, and no part in the rig.
static bool is_prop(const json_t *node)
{
    return json_object_get(node, "camera") || cutis_gltf_extension(node, "KHR_lights_punctual");
}

/// Is there something in a part of the source that a model does not hold?
static bool holds_foreign(const json_t *json)
{
    const char *key;
    json_t *value;
    size_t i;
    if (json_is_array(json)) {
        json_array_foreach((json_t *)json, i, value)
        {
            if (holds_foreign(value)) return true;
        }
        return false;
    }
    json_object_foreach((json_t *)json, key, value)
    {
        if (strcmp(key, "extras") == 0) {
            if (!json_is_object(value) || json_object_size(value) > 1 ||
                !json_object_get(value, "targetNames"))
                return true;
        } else if (strcmp(key, "extensions") == 0) {
            const char *name;
            json_t *own;
            json_object_foreach(value, name, own)
            {
                if (!is_ours(name)) return true;
            }
        } else if (holds_foreign(value)) {
            return true;
        }
    }
    return false;
}

/// A texture on coordinates that a model does not hold would look at nothing.
static bool needs_other_coordinates(const json_t *info)
{
    const json_t *transform = cutis_gltf_extension(info, "KHR_texture_transform");
    return json_object_get(info, "index") && (cutis_gltf_integer(info, "texCoord", 0) > 0 ||
                                              cutis_gltf_integer(transform, "texCoord", 0) > 0);
}

/// @return whether any was removed
static bool drop_textures(json_t *material)
{
    const char *key;
    json_t *value;
    void *next;
    bool any = false;
    json_object_foreach_safe(material, next, key, value)
    {
        if (!json_is_object(value) || strcmp(key, "extras") == 0) continue;
        if (needs_other_coordinates(value)) {
            json_object_del(material, key);
            any = true;
        } else {
            any = drop_textures(value) || any;
        }
    }
    return any;
}

/// Whether there is a number in it that might be an index.
static bool holds_index(const json_t *json)
{
    const char *key;
    json_t *value;
    size_t i;
    int64_t number;
    if (cutis_json_integer(json, &number)) return true;
    json_array_foreach((json_t *)json, i, value)
    {
        if (holds_index(value)) return true;
    }
    json_object_foreach((json_t *)json, key, value)
    {
        if (holds_index(value)) return true;
    }
    return false;
}

/// Extensions nobody knows may refer to what has gone. @return whether any was removed
static bool drop_foreign(json_t *json)
{
    const char *key, *name;
    json_t *value, *own;
    void *next;
    size_t i;
    bool any = false;
    json_array_foreach(json, i, value) any = drop_foreign(value) || any;
    json_object_foreach(json, key, value)
    {
        if (strcmp(key, "extras") == 0) continue;
        if (strcmp(key, "extensions") == 0 && json_is_object(value)) {
            json_object_foreach_safe(value, next, name, own)
            {
                if (cutis_gltf_extension_known(name) || !holds_index(own)) continue;
                json_object_del(value, name);
                any = true;
            }
        }
        any = drop_foreign(value) || any;
    }
    return any;
}

/// Names of extensions that nothing uses any more go from the lists.
static void drop_unused(gltf_writer *writer)
{
    const json_t *used = json_object_get(writer->before, "extensionsUsed");
    for (size_t i = 0; i < json_array_size(used); i++) {
        const char *name = json_string_value(json_array_get(used, i));
        if (name) cutis_gltf_drop_extension(writer, name);
    }
}

/// Does the source hold something that goes and that no model could have kept?
static bool loses(const json_t *before)
{
    static const char *const PARTS[] = { "scenes", "meshes", "skins", "animations" };
    const char *name;
    json_t *value;
    size_t i;
    for (size_t k = 0; k < sizeof PARTS / sizeof *PARTS; k++)
        if (holds_foreign(json_object_get(before, PARTS[k]))) return true;
    json_array_foreach(json_object_get(before, "nodes"), i, value)
    {
        if (!is_prop(value) && holds_foreign(value)) return true;
    }
    json_object_foreach(json_object_get(before, "extensions"), name, value)
    {
        if (!is_ours(name) &&
            cutis_gltf_find_word(OF_THE_WHOLE, sizeof OF_THE_WHOLE / sizeof *OF_THE_WHOLE, name) <
                0)
            return true;
    }
    return false;
}

/// Copies of the source's cameras and lights as roots, placed as the nodes above them put them.
static void gather_props(gltf_writer *writer)
{
    gltf_document *source = &writer->source;
    const json_t *nodes = json_object_get(writer->before, "nodes");
    cutis_mat34 *world =
        cutis_alloc_array(writer->context, source->node_count, sizeof *world); // by file index
    writer->props = json_array();
    if (!world || !writer->props) writer->failed = true;
    for (uint32_t i = 0; i < source->node_count && !writer->failed; i++) { // parents come first
        const uint32_t index = source->node_of_model[i];
        const int32_t parent = source->parent_of_node[index];
        const json_t *json = json_array_get(nodes, index);
        cutis_node node;
        if (cutis_gltf_read_node(source, index, &node) != CUTIS_OK) {
            writer->failed = true; // it was read before: there is no memory
            break;
        }
        world[index] = node.matrix ? *node.matrix : cutis_mat34_from_transform(&node.rest);
        if (parent != CUTIS_NONE)
            world[index] = cutis_mat34_multiply(&world[parent], &world[index]);
        if (is_prop(json) && source->in_scene[index]) {
            json_t *prop = json_deep_copy(json);
            node = (cutis_node){ .rest = cutis_transform_from_mat34(&world[index]) };
            json_object_del(prop, "children");
            json_object_del(prop, "mesh");
            json_object_del(prop, "skin");
            json_object_del(prop, "weights");
            cutis_gltf_write_transform(writer, &node, prop);
            cutis_gltf_append(writer, writer->props, prop);
        }
        cutis_arena_release(&source->parts);
    }
    cutis_free_array(writer->context, world, source->node_count, sizeof *world);
}

void cutis_gltf_write_props(gltf_writer *writer)
{
    json_t *nodes = cutis_gltf_collection(writer, "nodes"), *prop;
    json_t *scene = json_array_get(json_object_get(writer->root, "scenes"), 0);
    const json_t *scenes = json_object_get(writer->before, "scenes");
    const json_t *old =
        json_array_get(scenes, (size_t)cutis_gltf_integer(writer->before, "scene", 0));
    const char *name;
    size_t i;
    if (!scene) return;
    json_array_foreach(writer->props, i, prop)
    {
        json_t *own;
        json_object_foreach(json_object_get(prop, "extensions"), name, own)
            cutis_gltf_use_extension(writer, name);
        json_t *list = json_object_get(scene, "nodes");
        cutis_gltf_append(writer, list, json_integer((json_int_t)json_array_size(nodes)));
        cutis_gltf_append(writer, nodes, json_incref(prop));
    }
    cutis_gltf_set_string(writer, scene, "name", cutis_gltf_string(old, "name"));
    if (json_object_get(old, "extras"))
        cutis_gltf_set(writer, scene, "extras", json_deep_copy(json_object_get(old, "extras")));
}

static void keep_of_the_whole(gltf_writer *writer)
{
    json_t *extensions = json_object_get(writer->root, "extensions"), *value;
    const char *name;
    void *next;
    json_object_foreach_safe(extensions, next, name, value)
    {
        if (cutis_gltf_find_word(OF_THE_WHOLE, sizeof OF_THE_WHOLE / sizeof *OF_THE_WHOLE, name) <
            0)
            json_object_del(extensions, name);
    }
    if (extensions && json_object_size(extensions) == 0)
        json_object_del(writer->root, "extensions");
}

void cutis_gltf_start_anew(gltf_writer *writer, const char *path)
{
    bool textures = false, foreign;
    json_t *material;
    size_t i;
    writer->before = writer->source.root;
    writer->root = json_deep_copy(writer->before);
    if (!writer->root) {
        writer->failed = true;
        return;
    }
    for (size_t k = 0; k < sizeof GONE / sizeof *GONE; k++) json_object_del(writer->root, GONE[k]);
    keep_of_the_whole(writer);
    foreign = drop_foreign(writer->root);
    json_array_foreach(json_object_get(writer->root, "materials"), i, material)
    {
        textures = drop_textures(material) || textures;
    }
    gather_props(writer);
    foreign = drop_foreign(writer->props) || foreign;
    drop_unused(writer);
    // Views of images stay; those of accessors go when the buffer is laid out.
    writer->source_views = writer->source.view_count;
    writer->source.node_count = writer->source.mesh_count = 0;
    writer->source.skin_count = writer->source.clip_count = 0;
    if (loses(writer->before) || foreign)
        cutis_log(writer->context,
                  "%s: nodes of %s were removed or moved: written anew, with its materials, "
                  "textures, cameras and lights, without the extras and foreign extensions that "
                  "belonged to what has gone",
                  path, writer->source.file);
    if (textures)
        cutis_log(writer->context,
                  "%s: textures of %s on a second set of coordinates are not carried over", path,
                  writer->source.file);
}
