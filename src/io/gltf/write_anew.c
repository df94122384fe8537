/// A document for a model whose nodes are no longer the source's: how it looks stays (materials,
/// textures, samplers, images and their bytes), everything that belonged to nodes goes. Invariant:
/// what stays refers only to what stays, so the result is as valid as the source was.
#include "io/gltf/writer.h"

#include <string.h>

static const char *const GONE[] = { "scene",      "scenes",    "nodes",   "meshes",     "skins",
                                    "animations", "accessors", "cameras", "extensions", "extras" };

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
    static const char *const PARTS[] = { "scenes", "nodes", "meshes", "skins", "animations" };
    json_t *root = json_object(), *value;
    const char *key;
    bool lost = false;
    // What is in the root itself counts too, what stays does not.
    json_object_foreach((json_t *)before, key, value)
    {
        if (strcmp(key, "extras") == 0 || strcmp(key, "extensions") == 0)
            json_object_set(root, key, value);
        if (strcmp(key, "cameras") == 0) lost = true;
        for (size_t k = 0; k < sizeof PARTS / sizeof *PARTS; k++)
            if (strcmp(key, PARTS[k]) == 0) lost = lost || holds_foreign(value);
    }
    lost = lost || holds_foreign(root);
    json_decref(root);
    return lost;
}

void cutis_gltf_start_anew(gltf_writer *writer, const char *path)
{
    bool textures = false;
    json_t *material;
    size_t i;
    writer->before = writer->source.root;
    writer->root = json_deep_copy(writer->before);
    if (!writer->root) {
        writer->failed = true;
        return;
    }
    for (size_t k = 0; k < sizeof GONE / sizeof *GONE; k++) json_object_del(writer->root, GONE[k]);
    json_array_foreach(json_object_get(writer->root, "materials"), i, material)
    {
        textures = drop_textures(material) || textures;
    }
    drop_unused(writer);
    // Views of images stay; those of accessors go when the buffer is laid out.
    writer->source_views = writer->source.view_count;
    writer->source.node_count = writer->source.mesh_count = 0;
    writer->source.skin_count = writer->source.clip_count = 0;
    if (loses(writer->before))
        cutis_log(writer->context,
                  "%s: nodes of %s were removed or moved: written anew, with its materials and "
                  "textures, without the cameras, lights, extras and foreign extensions that "
                  "belonged to them",
                  path, writer->source.file);
    if (textures)
        cutis_log(writer->context,
                  "%s: textures of %s on a second set of coordinates are not carried over", path,
                  writer->source.file);
}
