/// Meshes: attributes to floats, strips, loops and fans to lists, any number of joint sets to
/// influences, morph targets, named parts. Formats and counts have been checked by mesh_check.c.
#include "io/gltf/parts.h"
#include "model/validate.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/// POSITION and the like; nothing happens if the attribute is not there.
static cutis_result read_attribute(gltf_document *document, const json_t *map, const char *name,
                                   const float **out)
{
    int32_t accessor = cutis_gltf_index(map, name);
    if (accessor == CUTIS_NONE) return CUTIS_OK;
    return cutis_gltf_new_floats(document, (uint32_t)accessor, out);
}

static cutis_result read_directions(gltf_document *document, const char *place, const json_t *map,
                                    const char *name, const float **out)
{
    char full[128];
    int32_t accessor = cutis_gltf_index(map, name);
    if (accessor == CUTIS_NONE) return CUTIS_OK;
    snprintf(full, sizeof full, "%s/attributes/%s", place, name);
    return cutis_gltf_new_directions(document, (uint32_t)accessor, full, out);
}

/// Shares of light are from 0 to 1; others are cut to that.
static cutis_result check_colors(const gltf_document *document, const char *place,
                                 const gltf_accessor *a, float *values)
{
    size_t off = 0;
    if (a->component != GLTF_F32 || !cutis_gltf_mends(document)) return CUTIS_OK;
    for (size_t i = 0; i < (size_t)a->count * a->width; i++) {
        if ((values[i] >= 0 && values[i] <= 1) || isnan(values[i])) continue;
        values[i] = values[i] < 0 ? 0.0f : 1.0f;
        off++;
    }
    if (off)
        FORGIVE("ACCESSOR_NON_CLAMPED", "%s/attributes/COLOR_0: %zu numbers are not from 0 to 1",
                place, off);
    return CUTIS_OK;
}

/// Colours have 3 or 4 components; the model always 4.
static cutis_result read_colors(gltf_document *document, const char *place, const json_t *map,
                                const float **out)
{
    float *values = NULL;
    int32_t accessor = cutis_gltf_index(map, "COLOR_0");
    if (accessor == CUTIS_NONE) return CUTIS_OK;
    cutis_result result = cutis_gltf_own_floats(document, (uint32_t)accessor, &values);
    if (result != CUTIS_OK) return result;
    const gltf_accessor *a = &document->accessors[accessor];
    *out = values;
    result = check_colors(document, place, a, values);
    if (result != CUTIS_OK || a->width == 4) return result;
    result = cutis_gltf_charge(document, a->count, 4 * sizeof(float));
    if (result != CUTIS_OK) return result;
    float *colors = cutis_arena_alloc(&document->parts, a->count, 4 * sizeof *colors);
    if (!colors) return cutis_alloc_result(document->context);
    for (size_t v = 0; v < a->count; v++) {
        memcpy(colors + 4 * v, values + 3 * v, 3 * sizeof *colors);
        colors[4 * v + 3] = 1;
    }
    *out = colors;
    return CUTIS_OK;
}

/// Corner `k` of item `i` of a primitive of `count` corners, in the order of the specification.
static uint32_t corner(int mode, uint32_t count, uint32_t i, uint32_t k)
{
    switch (mode) {
    case 2:
        return (i + k) % count; // line loop
    case 3:
        return i + k; // line strip
    case 5:
        return k == 0 ? i : k == 1 ? i + 1 + i % 2 : i + 2 - i % 2; // triangle strip
    case 6:
        return k == 2 ? 0 : i + 1 + k; // triangle fan
    default:
        return i * (mode == 4 ? 3 : mode == 1 ? 2 : 1) + k;
    }
}

/// Points, lines or triangles of `per` corners each that `count` corners make.
static uint32_t item_count(int mode, uint32_t count, uint32_t per)
{
    if (mode == 0 || mode == 1 || mode == 4) return count / per;
    if (count < per) return 0;
    return mode == 2 ? count : count - per + 1;
}

static cutis_result check_index_values(const gltf_document *document, const char *place,
                                       uint32_t accessor, const uint32_t *corners,
                                       uint32_t vertex_count)
{
    const gltf_accessor *a = &document->accessors[accessor];
    uint32_t restart = a->component == GLTF_U8    ? 0xff
                       : a->component == GLTF_U16 ? 0xffff
                                                  : UINT32_MAX;
    // Where the restart is out of range anyway, as that of 32 bits always is, the rest is one look.
    const bool far = restart >= vertex_count;
    for (size_t i = far ? cutis_first_not_below(corners, a->count, vertex_count) : 0; i < a->count;
         i++) {
        if (corners[i] >= vertex_count || corners[i] == restart)
            return WRONG(corners[i] >= vertex_count ? "ACCESSOR_INDEX_OOB"
                                                    : "ACCESSOR_INDEX_PRIMITIVE_RESTART",
                         "%s/indices: index %zu of accessor %u is %u, there are %u vertices", place,
                         i, accessor, corners[i], vertex_count);
    }
    return CUTIS_OK;
}

static cutis_result read_indices(gltf_document *document, const char *place, const json_t *json,
                                 cutis_primitive *out)
{
    static const uint8_t CORNERS[] = { 1, 2, 2, 2, 3, 3, 3 };
    int mode = (int)cutis_gltf_integer(json, "mode", 4);
    int32_t accessor = cutis_gltf_index(json, "indices");
    uint32_t count =
        accessor == CUTIS_NONE ? out->vertex_count : document->accessors[accessor].count;
    uint64_t per = CORNERS[mode], items = item_count(mode, count, CORNERS[mode]);
    cutis_result result = cutis_gltf_charge(document, items * per, sizeof(uint32_t));
    if (result != CUTIS_OK) return result;
    if (items * per > UINT32_MAX)
        return cutis_gltf_issue(document, CUTIS_LIMIT_EXCEEDED, NULL, "%s/indices: too many",
                                place);
    const uint32_t *corners = NULL;
    if (accessor != CUTIS_NONE) {
        result = cutis_gltf_new_integers(document, (uint32_t)accessor, &corners);
        if (result == CUTIS_OK)
            result =
                check_index_values(document, place, (uint32_t)accessor, corners, out->vertex_count);
        if (result != CUTIS_OK) return result;
    }
    const bool as_is = corners && (mode == 0 || mode == 1 || mode == 4); // corner after corner
    uint32_t *indices =
        as_is ? NULL : cutis_arena_alloc(&document->parts, items * per, sizeof *indices);
    if (!indices && !as_is) return cutis_alloc_result(document->context);
    for (uint32_t i = 0; i < items && indices; i++) {
        for (uint32_t k = 0; k < per; k++) {
            uint32_t c = corner(mode, count, i, k);
            indices[i * per + k] = corners ? corners[c] : c;
        }
    }
    out->topology = per == 3   ? CUTIS_TOPOLOGY_TRIANGLES
                    : per == 2 ? CUTIS_TOPOLOGY_LINES
                               : CUTIS_TOPOLOGY_POINTS;
    out->indices = as_is ? corners : indices;
    out->index_count = (uint32_t)(items * per);
    return CUTIS_OK;
}

cutis_result cutis_gltf_read_sets(gltf_document *document, const json_t *attributes, gltf_sets *out)
{
    char name[24];
    *out = (gltf_sets){ 0 };
    do {
        snprintf(name, sizeof name, "JOINTS_%u", out->count++);
    } while (cutis_gltf_index(attributes, name) != CUTIS_NONE);
    out->count--;
    out->joints = cutis_arena_alloc(&document->parts, out->count, sizeof *out->joints);
    out->weights = cutis_arena_alloc(&document->parts, out->count, sizeof *out->weights);
    cutis_result result =
        out->joints && out->weights ? CUTIS_OK : cutis_alloc_result(document->context);
    for (uint32_t s = 0; s < out->count && result == CUTIS_OK; s++) {
        snprintf(name, sizeof name, "JOINTS_%u", s);
        result = cutis_gltf_new_integers(document, (uint32_t)cutis_gltf_index(attributes, name),
                                         &out->joints[s]);
        snprintf(name, sizeof name, "WEIGHTS_%u", s);
        if (result == CUTIS_OK)
            result = cutis_gltf_new_floats(document, (uint32_t)cutis_gltf_index(attributes, name),
                                           &out->weights[s]);
    }
    return result;
}

cutis_result cutis_gltf_list_influences(gltf_document *document, gltf_sets *sets,
                                        uint32_t vertex_count, cutis_arena *arena,
                                        cutis_influences *out)
{
    uint64_t total = 0;
    for (uint32_t s = 0; s < sets->count; s++)
        for (size_t i = 0; i < 4 * (size_t)vertex_count; i++) total += sets->weights[s][i] != 0;
    cutis_result result = cutis_gltf_charge(document, (uint64_t)vertex_count + 1, sizeof(uint32_t));
    if (result == CUTIS_OK)
        result = cutis_gltf_charge(document, total, sizeof(uint32_t) + sizeof(float));
    if (result == CUTIS_OK && total > UINT32_MAX)
        result =
            cutis_gltf_issue(document, CUTIS_LIMIT_EXCEEDED, NULL, "/meshes: too many influences");
    if (result != CUTIS_OK) return result;
    uint32_t *first = cutis_arena_alloc(arena, (size_t)vertex_count + 1, sizeof *first), at = 0;
    uint32_t *joints = cutis_arena_alloc(arena, total, sizeof *joints);
    float *weights = cutis_arena_alloc(arena, total, sizeof *weights);
    if (!first || !joints || !weights) return cutis_alloc_result(document->context);
    for (size_t v = 0; v < vertex_count; v++) {
        first[v] = at;
        for (uint32_t k = 0; k < 4 * sets->count; k++) {
            const float weight = sets->weights[k / 4][4 * v + k % 4];
            const uint32_t joint = sets->joints[k / 4][4 * v + k % 4];
            if (joint > sets->greatest) sets->greatest = joint;
            if (weight == 0) continue;
            joints[at] = joint;
            weights[at++] = weight;
        }
    }
    first[vertex_count] = at;
    *out = (cutis_influences){ .first = first, .joints = joints, .weights = weights };
    return CUTIS_OK;
}

static cutis_result read_influences(gltf_document *document, uint32_t mesh, uint32_t primitive,
                                    uint32_t vertex_count, cutis_influences *out)
{
    const json_t *map = json_object_get(
        json_array_get(json_object_get(cutis_gltf_item(document, "meshes", mesh), "primitives"),
                       primitive),
        "attributes");
    gltf_sets sets;
    gltf_glance before = cutis_gltf_glance(document);
    cutis_result result = cutis_gltf_read_sets(document, map, &sets);
    if (result == CUTIS_OK && sets.count)
        result = cutis_gltf_list_influences(document, &sets, vertex_count, &before.parts, out);
    if (result == CUTIS_OK && sets.count && cutis_gltf_mends(document))
        result = cutis_gltf_settle_influences(document, mesh, primitive, &sets, vertex_count,
                                              &before.parts, out);
    before.charged = document->charged; // primitives that share sets pay for each time
    cutis_gltf_forget(document, &before);
    return result;
}

static cutis_result read_targets(gltf_document *document, const json_t *list, cutis_primitive *out)
{
    size_t count = json_array_size(list);
    if (count == 0) return CUTIS_OK;
    cutis_morph_target *targets = cutis_arena_zero(&document->parts, count, sizeof *targets);
    if (!targets) return cutis_alloc_result(document->context);
    for (size_t t = 0; t < count; t++) {
        const json_t *map = json_array_get(list, t);
        cutis_result result = read_attribute(document, map, "POSITION", &targets[t].positions);
        if (result == CUTIS_OK)
            result = read_attribute(document, map, "NORMAL", &targets[t].normals);
        if (result == CUTIS_OK)
            result = read_attribute(document, map, "TANGENT", &targets[t].tangents);
        if (result != CUTIS_OK) return result;
    }
    out->targets = targets;
    return CUTIS_OK;
}

static cutis_result read_primitive(gltf_document *document, uint32_t mesh, uint32_t index,
                                   cutis_primitive *out)
{
    const json_t *json = json_array_get(
        json_object_get(cutis_gltf_item(document, "meshes", mesh), "primitives"), index);
    const json_t *map = json_object_get(json, "attributes");
    char place[96];
    snprintf(place, sizeof place, "/meshes/%u/primitives/%u", mesh, index);
    out->vertex_count = document->accessors[cutis_gltf_index(map, "POSITION")].count;
    out->material = cutis_gltf_index(json, "material");
    cutis_result result = read_attribute(document, map, "POSITION", &out->positions);
    if (result == CUTIS_OK) result = read_indices(document, place, json, out);
    if (result == CUTIS_OK) result = read_directions(document, place, map, "NORMAL", &out->normals);
    if (result == CUTIS_OK)
        result = read_directions(document, place, map, "TANGENT", &out->tangents);
    if (result == CUTIS_OK) result = read_attribute(document, map, "TEXCOORD_0", &out->texcoords);
    if (result == CUTIS_OK) result = read_colors(document, place, map, &out->colors);
    if (result == CUTIS_OK)
        result = read_influences(document, mesh, index, out->vertex_count, &out->influences);
    if (result == CUTIS_OK) result = read_targets(document, json_object_get(json, "targets"), out);
    return result;
}

static cutis_result read_labels(gltf_document *document, uint32_t mesh, const json_t *label,
                                uint32_t part_count, cutis_primitive *out)
{
    const int64_t accessor = cutis_gltf_accessor_of(document, label);
    if (json_is_null(label)) return CUTIS_OK;
    if (accessor < 0 || out->topology != CUTIS_TOPOLOGY_TRIANGLES ||
        document->accessors[accessor].width != 1 ||
        document->accessors[accessor].count != out->index_count / 3)
        return WRONG("CUTIS_PARTS_INVALID",
                     "/meshes/%u/extensions/CUTIS_parts/labels: not one accessor or null per "
                     "primitive, one number per triangle",
                     mesh);
    cutis_result result = cutis_gltf_new_integers(document, (uint32_t)accessor, &out->parts);
    for (uint32_t t = 0; result == CUTIS_OK && t < out->index_count / 3; t++) {
        if (out->parts[t] >= part_count)
            result = WRONG("CUTIS_PARTS_INVALID",
                           "/meshes/%u/extensions/CUTIS_parts: triangle %u is of part %u of %u",
                           mesh, t, out->parts[t], part_count);
    }
    return result;
}

static cutis_result read_names(gltf_document *document, const json_t *list, const char *const **out)
{
    const char **names = cutis_arena_alloc(&document->parts, json_array_size(list), sizeof *names);
    if (!names) return cutis_alloc_result(document->context);
    for (size_t i = 0; i < json_array_size(list); i++)
        names[i] = json_string_value(json_array_get(list, i));
    *out = names;
    return CUTIS_OK;
}

static bool all_strings(const json_t *list)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        if (!json_is_string(json_array_get(list, i))) return false;
    }
    return json_is_array(list);
}

static cutis_result read_parts(gltf_document *document, uint32_t index, cutis_mesh *out,
                               cutis_primitive *primitives)
{
    const json_t *json =
        cutis_gltf_extension(cutis_gltf_item(document, "meshes", index), "CUTIS_parts");
    const json_t *names = json_object_get(json, "names"), *labels = json_object_get(json, "labels");
    size_t file_count =
        json_array_size(json_object_get(cutis_gltf_item(document, "meshes", index), "primitives"));
    if (!json) return CUTIS_OK;
    if (!all_strings(names) || json_array_size(names) == 0 || json_array_size(labels) != file_count)
        return WRONG("CUTIS_PARTS_INVALID",
                     "/meshes/%u/extensions/CUTIS_parts: needs names and one label per primitive",
                     index);
    out->part_count = (uint32_t)json_array_size(names);
    cutis_result result = read_names(document, names, &out->part_names);
    for (uint32_t p = 0; p < out->primitive_count && result == CUTIS_OK; p++) {
        const json_t *label = json_array_get(labels, document->primitives[index][p]);
        result = read_labels(document, index, label, out->part_count, &primitives[p]);
    }
    if (result == CUTIS_OK) result = cutis_gltf_read_part_tree(document, index, json, out);
    return result;
}

cutis_result cutis_gltf_read_mesh(gltf_document *document, uint32_t index, void *item)
{
    cutis_mesh *out = item;
    const json_t *json = cutis_gltf_item(document, "meshes", index);
    const json_t *first = json_array_get(json_object_get(json, "primitives"), 0);
    const json_t *weights = json_object_get(json, "weights");
    const json_t *names = json_object_get(json_object_get(json, "extras"), "targetNames");
    cutis_result result = CUTIS_OK;
    *out = (cutis_mesh){
        .name = cutis_gltf_string(json, "name"),
        .primitive_count = document->primitive_counts[index],
        .target_count = (uint32_t)json_array_size(json_object_get(first, "targets")),
    };
    cutis_primitive *primitives =
        cutis_arena_zero(&document->parts, out->primitive_count, sizeof *primitives);
    if (!primitives) return cutis_alloc_result(document->context);
    out->primitives = primitives;
    for (uint32_t p = 0; p < out->primitive_count && result == CUTIS_OK; p++)
        result = read_primitive(document, index, document->primitives[index][p], &primitives[p]);
    if (result == CUTIS_OK && weights) {
        float *values = cutis_arena_alloc(&document->parts, out->target_count, sizeof *values);
        if (!values) return cutis_alloc_result(document->context);
        cutis_gltf_floats(weights, values);
        out->target_weights = values;
    }
    // Names are a convention of exporters: what does not look like them is somebody else's extras.
    if (result == CUTIS_OK && out->target_count && json_array_size(names) == out->target_count &&
        all_strings(names))
        result = read_names(document, names, &out->target_names);
    if (result == CUTIS_OK) result = read_parts(document, index, out, primitives);
    return result;
}
