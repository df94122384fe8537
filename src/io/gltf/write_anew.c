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
        if (strcmp(key, "camera") == 0) return true;
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
static bool loses(const gltf_writer *writer)
{
    const json_t *before = writer->before;
    static const char *const PARTS[] = { "scenes", "meshes", "skins", "animations" };
    const char *name;
    json_t *value;
    size_t i;
    for (size_t k = 0; k < sizeof PARTS / sizeof *PARTS; k++)
        if (holds_foreign(json_object_get(before, PARTS[k]))) return true;
    // Nodes: as many with something of their own as there were.
    size_t then = 0, now = 0;
    json_array_foreach(json_object_get(before, "nodes"), i, value) then += holds_foreign(value);
    json_array_foreach(writer->nodes, i, value) now += holds_foreign(value);
    if (now < then) return true;
    json_object_foreach(json_object_get(before, "extensions"), name, value)
    {
        if (!is_ours(name) &&
            cutis_gltf_find_word(OF_THE_WHOLE, sizeof OF_THE_WHOLE / sizeof *OF_THE_WHOLE, name) <
                0)
            return true;
    }
    return false;
}

/// For each node of the model that a node of the source has the name of, alone among the source's:
/// what that one holds beside its place in the tree and its shape. Else null.
static void gather_nodes(gltf_writer *writer)
{
    static const char *const OWN[] = { "children", "mesh",        "skin",     "weights",
                                       "matrix",   "translation", "rotation", "scale" };
    const json_t *nodes = json_object_get(writer->before, "nodes");
    json_t *named = json_object();
    writer->nodes = json_array();
    for (size_t n = 0; n < json_array_size(nodes); n++) {
        json_t *node = json_array_get(nodes, n);
        const char *name = cutis_gltf_string(node, "name");
        if (name && json_object_set(named, name, json_object_get(named, name) ? json_null() : node))
            writer->failed = true;
    }
    for (uint32_t i = 0; i < writer->data->node_count && !writer->failed; i++) {
        const char *name = writer->data->nodes[i].name;
        const json_t *old = name ? json_object_get(named, name) : NULL;
        json_t *copy = json_is_object(old) ? json_deep_copy(old) : json_null();
        for (size_t k = 0; k < sizeof OWN / sizeof *OWN; k++) json_object_del(copy, OWN[k]);
        cutis_gltf_append(writer, writer->nodes, copy);
    }
    json_decref(named);
}

json_t *cutis_gltf_new_node(gltf_writer *writer, uint32_t index)
{
    json_t *node = json_array_get(writer->nodes, index), *value;
    const char *name;
    if (!json_is_object(node)) return json_object();
    json_object_foreach(json_object_get(node, "extensions"), name, value)
        cutis_gltf_use_extension(writer, name);
    return json_incref(node);
}

void cutis_gltf_keep_scene(gltf_writer *writer)
{
    json_t *scene = json_array_get(json_object_get(writer->root, "scenes"), 0);
    const json_t *scenes = json_object_get(writer->before, "scenes");
    const json_t *old =
        json_array_get(scenes, (size_t)cutis_gltf_integer(writer->before, "scene", 0));
    if (!scene) return;
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
    gather_nodes(writer);
    foreign = drop_foreign(writer->nodes) || foreign;
    drop_unused(writer);
    // Views of images stay; those of accessors go when the buffer is laid out.
    writer->source_views = writer->source.view_count;
    writer->source.node_count = writer->source.mesh_count = 0;
    writer->source.skin_count = writer->source.clip_count = 0;
    if (loses(writer) || foreign)
        cutis_log(writer->context,
                  "%s: nodes of %s were removed or moved: written anew, with its materials and "
                  "textures, without the cameras, lights, extras and foreign extensions that "
                  "belonged to what has gone",
                  path, writer->source.file);
    if (textures)
        cutis_log(writer->context,
                  "%s: textures of %s on a second set of coordinates are not carried over", path,
                  writer->source.file);
}
