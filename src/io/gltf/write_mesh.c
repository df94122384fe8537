/// Meshes to JSON. A primitive that came from the source is compared with what the source decodes
/// to: what is the same keeps its accessor (quantised, sparse, shared as it was), what differs gets
/// a new one, what Cutis does not model stays.
#include "io/gltf/writer.h"

#include <stdio.h>
#include <string.h>

/// Whether the source holds in good order what a property of a kept object names: an accessor that
/// may stay, with data of its own.
static const gltf_accessor *source_accessor(const gltf_writer *writer, const json_t *object,
                                            const char *key)
{
    const int32_t index = cutis_gltf_index(object, key);
    if (!writer->before || index < 0 || (uint32_t)index >= writer->source.accessor_count)
        return NULL;
    return &writer->source.accessors[index];
}

static bool is_unfit(const gltf_writer *writer, const json_t *object, const char *key)
{
    const gltf_accessor *a = source_accessor(writer, object, key);
    return a && a->unfit;
}

/// One float attribute of `width` components: keep, replace or remove.
static void write_attribute(gltf_writer *writer, json_t *map, const char *name, const float *values,
                            const float *before, uint32_t count, uint32_t width)
{
    if (cutis_gltf_same(values, before, count, width * sizeof *values) &&
        !(before && is_unfit(writer, map, name)))
        return;
    if (!values) {
        json_object_del(map, name);
        return;
    }
    gltf_array array = { .data = values,
                         .count = count,
                         .shape = (gltf_shape)(width - 1),
                         .component = GLTF_F32,
                         .target = GLTF_ARRAY_BUFFER,
                         .bounds = strcmp(name, "POSITION") == 0 };
    cutis_gltf_set_array(writer, map, name, &array);
}

static void remove_prefixed(json_t *map, const char *prefix)
{
    const char *key;
    json_t *value;
    void *next;
    json_object_foreach_safe(map, next, key, value)
    {
        if (strncmp(key, prefix, strlen(prefix)) == 0) json_object_del(map, key);
    }
}

/// A set of joints or weights that must not be written again.
static bool any_unfit_set(const gltf_writer *writer, json_t *map)
{
    const char *key;
    json_t *value;
    json_object_foreach(map, key, value)
    {
        if ((strncmp(key, "JOINTS_", 7) == 0 || strncmp(key, "WEIGHTS_", 8) == 0) &&
            is_unfit(writer, map, key))
            return true;
    }
    return false;
}

/// Conform unless the source has a template there, without any data.
static bool conforms_there(const gltf_writer *writer, const json_t *map, const char *name)
{
    const gltf_accessor *a = source_accessor(writer, map, name);
    return !a || cutis_gltf_has_data(a);
}

static bool same_influences(const cutis_primitive *a, const cutis_primitive *b)
{
    const cutis_influences *x = &a->influences, *y = &b->influences;
    if (!cutis_gltf_same(x->first, y->first, (size_t)a->vertex_count + 1, sizeof *x->first))
        return false;
    if (!x->first) return true;
    uint32_t count = x->first[a->vertex_count];
    return count == 0 || (cutis_gltf_same(x->joints, y->joints, count, sizeof *x->joints) &&
                          cutis_gltf_same(x->weights, y->weights, count, sizeof *x->weights));
}

static bool counts_up(const cutis_primitive *primitive)
{
    if (primitive->index_count != primitive->vertex_count) return false;
    for (uint32_t i = 0; i < primitive->index_count; i++) {
        if (primitive->indices[i] != i) return false;
    }
    return true;
}

/// The narrowest type whose greatest value, which means "restart", is not an index.
static void write_indices(gltf_writer *writer, const cutis_primitive *primitive, json_t *json)
{
    static const int MODES[] = { 4, 1, 0 };
    json_object_del(json, "mode");
    json_object_del(json, "indices");
    if (primitive->topology != CUTIS_TOPOLOGY_TRIANGLES)
        cutis_gltf_set(writer, json, "mode", json_integer(MODES[primitive->topology]));
    if (counts_up(primitive) || primitive->index_count == 0) return;
    cutis_gltf_set(writer, json, "indices",
                   json_integer(cutis_gltf_add_integers(
                       writer, primitive->indices, primitive->index_count,
                       primitive->vertex_count < 65536 ? 2 : 4, GLTF_ELEMENT_ARRAY_BUFFER)));
}

static void write_targets(gltf_writer *writer, const cutis_primitive *primitive,
                          const cutis_primitive *before, uint32_t count, uint32_t count_before,
                          json_t *json)
{
    static const cutis_morph_target NONE;
    json_t *list = json_object_get(json, "targets");
    if (!list && count == 0) return;
    if (!list || count == 0 || count != count_before) {
        json_object_del(json, "targets");
        if (count == 0) return;
        list = json_array();
        for (uint32_t t = 0; t < count; t++) cutis_gltf_append(writer, list, json_object());
        cutis_gltf_set(writer, json, "targets", list);
        before = NULL;
    }
    for (uint32_t t = 0; t < count; t++) {
        const cutis_morph_target *now = primitive->targets ? &primitive->targets[t] : &NONE;
        const cutis_morph_target *old = before && before->targets ? &before->targets[t] : &NONE;
        json_t *map = json_array_get(list, t);
        uint32_t vertices = primitive->vertex_count;
        write_attribute(writer, map, "POSITION", now->positions, old->positions, vertices, 3);
        write_attribute(writer, map, "NORMAL", now->normals, old->normals, vertices, 3);
        write_attribute(writer, map, "TANGENT", now->tangents, old->tangents, vertices, 3);
    }
}

static void write_attributes(gltf_writer *writer, const cutis_primitive *primitive,
                             const cutis_primitive *before, json_t *map)
{
    static const cutis_primitive NONE;
    const cutis_primitive *old = before ? before : &NONE;
    uint32_t count = primitive->vertex_count;
    cutis_arena arena = { .context = writer->context };
    // What came from the source stays as long as it conforms.
    const float *normals = primitive->normals, *tangents = primitive->tangents;
    const float *colors = primitive->colors;
    if (!before || conforms_there(writer, map, "NORMAL"))
        normals = cutis_gltf_unit_normals(writer, &arena, primitive);
    if (!before || conforms_there(writer, map, "TANGENT"))
        tangents = cutis_gltf_unit_tangents(writer, &arena, primitive);
    if (!before || conforms_there(writer, map, "COLOR_0"))
        colors = cutis_gltf_clamped_colors(writer, &arena, primitive);
    write_attribute(writer, map, "POSITION", primitive->positions, old->positions, count, 3);
    write_attribute(writer, map, "NORMAL", normals, old->normals, count, 3);
    write_attribute(writer, map, "TANGENT", tangents, old->tangents, count, 4);
    // A set 1 without a set 0 is invalid, so the sets go together.
    if (!primitive->texcoords && old->texcoords) remove_prefixed(map, "TEXCOORD_");
    if (!primitive->colors && old->colors) remove_prefixed(map, "COLOR_");
    write_attribute(writer, map, "TEXCOORD_0", primitive->texcoords, old->texcoords, count, 2);
    write_attribute(writer, map, "COLOR_0", colors, old->colors, count, 4);
    cutis_arena_release(&arena);
    if (before && writer->options.weights == CUTIS_WEIGHTS_FLOAT &&
        same_influences(primitive, before) && !any_unfit_set(writer, map))
        return;
    remove_prefixed(map, "JOINTS_");
    remove_prefixed(map, "WEIGHTS_");
    cutis_gltf_write_influences(writer, primitive, map);
}

/// @param before what the source has there, or NULL
static void write_primitive(gltf_writer *writer, const cutis_mesh *mesh,
                            const cutis_primitive *primitive, const cutis_primitive *before,
                            uint32_t targets_before, json_t *json)
{
    json_t *map = json_object_get(json, "attributes"), *copy = json_deep_copy(json);
    if (!map || !before || before->vertex_count != primitive->vertex_count) {
        // With another number of vertices no array of the old primitive fits any more.
        map = json_object();
        cutis_gltf_set(writer, json, "attributes", map);
        json_object_del(json, "targets");
        before = NULL;
    }
    write_attributes(writer, primitive, before, map);
    if (!before || before->topology != primitive->topology ||
        before->index_count != primitive->index_count ||
        !cutis_gltf_same(before->indices, primitive->indices, primitive->index_count,
                         sizeof *primitive->indices) ||
        is_unfit(writer, json, "indices"))
        write_indices(writer, primitive, json);
    cutis_gltf_set_index(writer, json, "material", primitive->material);
    write_targets(writer, primitive, before, mesh->target_count, targets_before, json);
    if (!json_equal(json, copy)) // it holds the old geometry
        cutis_gltf_place_extension(writer, json, "KHR_draco_mesh_compression", NULL);
    json_decref(copy);
}

/// Labels in the narrowest type that holds them.
static json_t *write_labels(gltf_writer *writer, const cutis_mesh *mesh,
                            const cutis_primitive *primitive)
{
    uint32_t count = primitive->index_count / 3;
    if (!primitive->parts || count == 0) return json_null();
    size_t size = mesh->part_count <= 256 ? 1 : mesh->part_count <= 65536 ? 2 : 4;
    return json_integer(cutis_gltf_add_integers(writer, primitive->parts, count, size, 0));
}

static bool same_parts(const cutis_mesh *a, const cutis_mesh *b)
{
    if (a->part_count != b->part_count || a->primitive_count != b->primitive_count) return false;
    for (uint32_t i = 0; i < a->part_count; i++) {
        if (!cutis_gltf_same_text(a->part_names ? a->part_names[i] : NULL,
                                  b->part_names ? b->part_names[i] : NULL))
            return false;
    }
    for (uint32_t p = 0; p < a->primitive_count; p++) {
        const cutis_primitive *x = &a->primitives[p], *y = &b->primitives[p];
        if (x->index_count != y->index_count ||
            !cutis_gltf_same(x->parts, y->parts, x->index_count / 3, sizeof *x->parts))
            return false;
    }
    return cutis_gltf_same_part_tree(a, b);
}

/// @param map file index of each primitive of the model
static void write_parts(gltf_writer *writer, const cutis_mesh *mesh, const cutis_mesh *before,
                        const uint32_t *map, json_t *json)
{
    if (before ? same_parts(mesh, before) : mesh->part_count == 0) return;
    json_t *extensions = cutis_gltf_member(writer, json, "extensions");
    json_object_del(extensions, "CUTIS_parts");
    if (mesh->part_count > 0) {
        json_t *parts = json_object(), *names = json_array(), *labels = json_array();
        char unnamed[32];
        for (uint32_t i = 0; i < mesh->part_count; i++) {
            snprintf(unnamed, sizeof unnamed, "part%u", i);
            const char *name = mesh->part_names ? mesh->part_names[i] : NULL;
            cutis_gltf_append(writer, names, json_string(name ? name : unnamed));
        }
        size_t file_count = json_array_size(json_object_get(json, "primitives"));
        for (size_t f = 0; f < file_count; f++) cutis_gltf_append(writer, labels, json_null());
        for (uint32_t p = 0; p < mesh->primitive_count; p++)
            if (json_array_set_new(labels, map[p],
                                   write_labels(writer, mesh, &mesh->primitives[p])) != 0)
                writer->failed = true;
        cutis_gltf_set(writer, parts, "names", names);
        cutis_gltf_set(writer, parts, "labels", labels);
        cutis_gltf_write_part_tree(writer, mesh, map, file_count, parts);
        cutis_gltf_set(writer, extensions, "CUTIS_parts", parts);
        cutis_gltf_use_extension(writer, "CUTIS_parts");
    }
    if (json_object_size(extensions) == 0) json_object_del(json, "extensions");
}

static void write_target_names(gltf_writer *writer, const cutis_mesh *mesh,
                               const cutis_mesh *before, json_t *json)
{
    bool same = before && before->target_count == mesh->target_count &&
                !before->target_names == !mesh->target_names;
    for (uint32_t t = 0; same && mesh->target_names && t < mesh->target_count; t++)
        same = cutis_gltf_same_text(mesh->target_names[t], before->target_names[t]);
    if (same || (!before && !mesh->target_names)) return;
    json_t *extras = json_object_get(json, "extras");
    if (!mesh->target_names) {
        json_object_del(extras, "targetNames");
        return;
    }
    if (extras && !json_is_object(extras))
        return; // somebody else's; the names are lost, not theirs
    json_t *names = json_array();
    for (uint32_t t = 0; t < mesh->target_count; t++)
        cutis_gltf_append(writer, names,
                          json_string(mesh->target_names[t] ? mesh->target_names[t] : ""));
    cutis_gltf_set(writer, cutis_gltf_member(writer, json, "extras"), "targetNames", names);
}

static void write_target_weights(gltf_writer *writer, const cutis_mesh *mesh,
                                 const cutis_mesh *before, json_t *json)
{
    if (before && before->target_count == mesh->target_count &&
        cutis_gltf_same(mesh->target_weights, before->target_weights, mesh->target_count,
                        sizeof(float)))
        return;
    json_object_del(json, "weights");
    if (mesh->target_weights && mesh->target_count)
        cutis_gltf_set(writer, json, "weights",
                       cutis_gltf_float_array(mesh->target_weights, mesh->target_count));
}

/// Where each primitive of the model is in the file: the source's places, then new ones.
/// Surplus old ones are removed.
static void place_primitives(gltf_writer *writer, const cutis_mesh *mesh, uint32_t index,
                             uint32_t count_before, json_t *list, uint32_t *map)
{
    for (uint32_t p = 0; p < mesh->primitive_count; p++) {
        if (p < count_before) {
            map[p] = writer->source.primitives[index][p];
        } else {
            map[p] = (uint32_t)json_array_size(list);
            cutis_gltf_append(writer, list, json_object());
        }
    }
    for (uint32_t p = count_before; p > mesh->primitive_count; p--)
        json_array_remove(list, writer->source.primitives[index][p - 1]);
}

void cutis_gltf_write_mesh(gltf_writer *writer, uint32_t index)
{
    const cutis_mesh *mesh = &writer->data->meshes[index];
    json_t *meshes = cutis_gltf_collection(writer, "meshes"), *json, *list;
    cutis_arena *arena = &writer->source.parts;
    cutis_mesh old = { 0 };
    bool kept = writer->before && index < writer->source.mesh_count;
    writer->source.charged = 0;
    if (kept && cutis_gltf_read_mesh(&writer->source, index, &old) != CUTIS_OK)
        writer->failed = true;
    while (json_array_size(meshes) <= index && !writer->failed)
        cutis_gltf_append(writer, meshes, json_object());
    uint32_t *map = cutis_arena_alloc(arena, mesh->primitive_count, sizeof *map);
    if (!map) writer->failed = true;
    if (!writer->failed) {
        json = json_array_get(meshes, index);
        cutis_gltf_set_string(writer, json, "name", mesh->name);
        if (!kept) cutis_gltf_set(writer, json, "primitives", json_array());
        list = json_object_get(json, "primitives");
        place_primitives(writer, mesh, index, old.primitive_count, list, map);
        for (uint32_t p = 0; p < mesh->primitive_count; p++)
            write_primitive(writer, mesh, &mesh->primitives[p],
                            p < old.primitive_count ? &old.primitives[p] : NULL, old.target_count,
                            json_array_get(list, map[p]));
        write_target_weights(writer, mesh, kept ? &old : NULL, json);
        write_target_names(writer, mesh, kept ? &old : NULL, json);
        write_parts(writer, mesh, kept ? &old : NULL, map, json);
    }
    cutis_arena_release(arena);
}
