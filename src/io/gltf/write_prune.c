/// Nodes that the caller no longer needs leave the document, where nothing in it needs them either.
/// Invariant: every index that is left names the node it named before.
#include "io/gltf/writer.h"

#include <string.h>

// Extensions, by how their names begin, that never name a node; beside others nodes stay.
static const char *const HARMLESS[] = { "KHR_materials_",
                                        "KHR_texture_",
                                        "EXT_texture_",
                                        "MSFT_texture_",
                                        "KHR_mesh_quantization",
                                        "EXT_meshopt_compression",
                                        "KHR_draco_mesh_compression",
                                        "KHR_lights_punctual",
                                        "KHR_xmp",
                                        "CUTIS_parts",
                                        "CUTIS_cage" };

static bool is_harmless(const char *name)
{
    for (size_t i = 0; i < sizeof HARMLESS / sizeof *HARMLESS; i++)
        if (name && strncmp(name, HARMLESS[i], strlen(HARMLESS[i])) == 0) return true;
    return false;
}

/// Something in the document that may name nodes, or NULL.
static const char *find_doubtful(const gltf_writer *writer)
{
    json_t *value;
    size_t i;
    json_array_foreach(json_object_get(writer->root, "extensionsUsed"), i, value)
    {
        if (!is_harmless(json_string_value(value))) return json_string_value(value);
    }
    // So may what a program of its own has written beside the scene.
    if (json_object_get(writer->root, "extras")) return "extras";
    json_array_foreach(json_object_get(writer->root, "scenes"), i, value)
    {
        if (json_object_get(value, "extras")) return "extras";
    }
    return NULL;
}

static void keep_index(const json_t *value, bool *gone, size_t count)
{
    if (json_is_integer(value) && (size_t)json_integer_value(value) < count)
        gone[json_integer_value(value)] = false;
}

static void keep_used(const gltf_writer *writer, bool *gone, size_t count)
{
    json_t *item, *value;
    size_t i, k;
    json_array_foreach(json_object_get(writer->root, "skins"), i, item)
    {
        keep_index(json_object_get(item, "skeleton"), gone, count);
        json_array_foreach(json_object_get(item, "joints"), k, value)
            keep_index(value, gone, count);
    }
    json_array_foreach(json_object_get(writer->root, "animations"), i, item)
    {
        json_array_foreach(json_object_get(item, "channels"), k, value)
            keep_index(json_object_get(json_object_get(value, "target"), "node"), gone, count);
    }
}

/// A node with something under it that stays, or something on it, stays.
static bool is_needed(const json_t *node, const bool *gone, size_t count)
{
    static const char *const ON_IT[] = { "mesh", "skin", "camera", "extensions", "extras" };
    json_t *child;
    size_t i;
    for (size_t k = 0; k < sizeof ON_IT / sizeof *ON_IT; k++)
        if (json_object_get(node, ON_IT[k])) return true;
    json_array_foreach(json_object_get(node, "children"), i, child)
    {
        const size_t index = (size_t)json_integer_value(child);
        if (index >= count || !gone[index]) return true;
    }
    return false;
}

/// A list of nodes without those that go; the others by their new numbers.
static void renumber_list(json_t *object, const char *key, const bool *gone, const uint32_t *place)
{
    json_t *list = json_object_get(object, key);
    for (size_t i = json_array_size(list); i-- > 0;) {
        const size_t index = (size_t)json_integer_value(json_array_get(list, i));
        if (gone[index])
            json_array_remove(list, i);
        else
            json_integer_set(json_array_get(list, i), place[index]);
    }
    if (list && json_array_size(list) == 0) json_object_del(object, key);
}

static void renumber_one(json_t *object, const char *key, const uint32_t *place)
{
    json_t *value = json_object_get(object, key);
    if (json_is_integer(value)) json_integer_set(value, place[json_integer_value(value)]);
}

static void renumber(gltf_writer *writer, const bool *gone, const uint32_t *place)
{
    json_t *item, *value;
    size_t i, k;
    json_array_foreach(json_object_get(writer->root, "nodes"), i, item)
        renumber_list(item, "children", gone, place);
    json_array_foreach(json_object_get(writer->root, "scenes"), i, item)
        renumber_list(item, "nodes", gone, place);
    json_array_foreach(json_object_get(writer->root, "skins"), i, item)
    {
        renumber_list(item, "joints", gone, place);
        renumber_one(item, "skeleton", place);
    }
    json_array_foreach(json_object_get(writer->root, "animations"), i, item)
    {
        json_array_foreach(json_object_get(item, "channels"), k, value)
            renumber_one(json_object_get(value, "target"), "node", place);
    }
}

/// Which nodes go: those that are not needed, and what is needed only by them.
static void find_gone(const gltf_writer *writer, bool *gone, size_t count)
{
    const json_t *nodes = json_object_get(writer->root, "nodes");
    bool changed = true;
    memset(gone, 0, count * sizeof *gone);
    for (uint32_t n = 0; n < writer->data->node_count; n++)
        gone[writer->node_of_model[n]] = writer->options.unneeded_nodes[n];
    keep_used(writer, gone, count);
    while (changed) {
        changed = false;
        for (size_t i = 0; i < count; i++)
            if (gone[i] && is_needed(json_array_get(nodes, i), gone, count))
                gone[i] = false, changed = true;
    }
}

void cutis_gltf_prune(gltf_writer *writer)
{
    json_t *nodes = json_object_get(writer->root, "nodes");
    const size_t count = json_array_size(nodes);
    const char *doubtful = find_doubtful(writer);
    if (!writer->options.unneeded_nodes) return;
    if (doubtful) {
        cutis_log(writer->context, "nodes that are no longer joints stay: %s may name them",
                  doubtful);
        return;
    }
    bool *gone = cutis_alloc_array(writer->context, count, sizeof *gone);
    uint32_t *place = cutis_alloc_array(writer->context, count, sizeof *place), used = 0;
    if (gone && place) {
        find_gone(writer, gone, count);
        for (size_t i = 0; i < count; i++) place[i] = gone[i] ? 0 : used++;
        renumber(writer, gone, place);
        for (size_t i = count; i-- > 0;)
            if (gone[i]) json_array_remove(nodes, i);
    } else {
        writer->failed = true;
    }
    cutis_free_array(writer->context, place, count, sizeof *place);
    cutis_free_array(writer->context, gone, count, sizeof *gone);
}
