/// What glTF says about data, where reading does not need it: unit normals, signs of tangents,
/// colours up to 1, weights that sum to 1 over distinct joints, scenes that hold the joints of
/// their skins; with uses.c. Runs last, when everything else holds.
/// Invariant: every array is decoded within the document's allowance, one at a time.
#include "io/gltf/parts.h"
#include "model/validate.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// The Khronos validator's own tolerances, so that both say the same of a file: what 8 bits per
// component make of a unit vector, and of each weight in a float.
static const double UNIT_VECTOR = 0.00674;
static const double WEIGHT_STEP = 2e-7;

/// Vectors of unit length; of a tangent also the sign.
static cutis_result check_directions(const gltf_document *document, const char *place,
                                     const char *name, const float *values, uint32_t count,
                                     int width)
{
    for (size_t v = 0; values && v < count; v++) {
        const float *n = values + v * (size_t)width;
        double length = sqrt((double)n[0] * n[0] + (double)n[1] * n[1] + (double)n[2] * n[2]);
        if (!(fabs(length - 1) <= UNIT_VECTOR))
            return WRONG("ACCESSOR_VECTOR3_NON_UNIT",
                         "%s/attributes/%s: the length of vector %zu is %g", place, name, v,
                         length);
        if (width == 4 && n[3] != 1 && n[3] != -1)
            return WRONG("ACCESSOR_INVALID_SIGN", "%s/attributes/%s: w of vector %zu is %g", place,
                         name, v, (double)n[3]);
    }
    return CUTIS_OK;
}

static cutis_result check_colors(const gltf_document *document, const char *place,
                                 const float *values, uint32_t count)
{
    for (size_t i = 0; values && i < 4 * (size_t)count; i++) {
        if (!(values[i] >= 0 && values[i] <= 1))
            return WRONG("ACCESSOR_NON_CLAMPED",
                         "%s/attributes/COLOR_0: component %zu of vertex %zu is %g", place, i % 4,
                         i / 4, (double)values[i]);
    }
    return CUTIS_OK;
}

/// Whether the file holds data for an attribute; templates leave it to an extension to fill in.
static bool filled(const gltf_document *document, const json_t *map, const char *name)
{
    int32_t accessor = cutis_gltf_index(map, name);
    return accessor != CUTIS_NONE && cutis_gltf_has_data(&document->accessors[accessor]);
}

static const json_t *attributes_of(const gltf_document *document, uint32_t mesh, uint32_t primitive)
{
    const json_t *list = json_object_get(cutis_gltf_item(document, "meshes", mesh), "primitives");
    return json_object_get(json_array_get(list, primitive), "attributes");
}

static cutis_result check_looks(gltf_document *document)
{
    const cutis_model_data *data = &document->data;
    for (uint32_t m = 0; m < data->mesh_count; m++) {
        for (uint32_t p = 0; p < data->meshes[m].primitive_count; p++) {
            const cutis_primitive *primitive = &data->meshes[m].primitives[p];
            char place[96];
            snprintf(place, sizeof place, "/meshes/%u/primitives/%u", m,
                     document->primitives[m][p]);
            const json_t *map = attributes_of(document, m, document->primitives[m][p]);
            uint32_t count = primitive->vertex_count;
            cutis_result result = CUTIS_OK;
            if (filled(document, map, "NORMAL"))
                result = check_directions(document, place, "NORMAL", primitive->normals, count, 3);
            if (cutis_gltf_go_on(document, &result) && filled(document, map, "TANGENT"))
                result =
                    check_directions(document, place, "TANGENT", primitive->tangents, count, 4);
            if (cutis_gltf_go_on(document, &result) && filled(document, map, "COLOR_0"))
                result = check_colors(document, place, primitive->colors, count);
            if (!cutis_gltf_go_on(document, &result)) return result;
        }
    }
    return CUTIS_OK;
}

/// One vertex. `stamps` (one per joint) finds doubled joints in linear time.
static cutis_result check_vertex(const gltf_document *document, const char *place,
                                 const gltf_sets *s, uint32_t v, uint32_t joint_count,
                                 uint32_t *stamps, uint32_t stamp)
{
    size_t used = 0;
    double sum = 0;
    for (size_t i = 0; i < 4 * (size_t)s->count; i++) {
        const uint32_t joint = s->joints[i / 4][4 * (size_t)v + i % 4];
        const float weight = s->weights[i / 4][4 * (size_t)v + i % 4];
        if (joint >= joint_count)
            return WRONG("ACCESSOR_JOINTS_INDEX_OOB",
                         "%s/attributes/JOINTS_%zu: joint %zu of vertex %u is %u, the skin has %u",
                         place, i / 4, i % 4, v, joint, joint_count);
        if (weight < 0)
            return WRONG("ACCESSOR_WEIGHTS_NEGATIVE",
                         "%s/attributes/WEIGHTS_%zu: weight %zu of vertex %u is %g", place, i / 4,
                         i % 4, v, (double)weight);
        if (weight == 0) continue;
        if (stamps[joint] == stamp)
            return WRONG("ACCESSOR_JOINTS_INDEX_DUPLICATE",
                         "%s/attributes/JOINTS_%zu: vertex %u has joint %u twice", place, i / 4, v,
                         joint);
        stamps[joint] = stamp;
        sum += weight;
        used++;
    }
    if (!(fabs(sum - 1) <= WEIGHT_STEP * (double)(used ? used : 1)))
        return WRONG("ACCESSOR_WEIGHTS_NON_NORMALIZED",
                     "%s/attributes/WEIGHTS_0: the weights of vertex %u sum to %.9g", place, v,
                     sum);
    return CUTIS_OK;
}

/// Joints without weight should be joint 0: some readers look at them all the same.
static void remark_idle(const gltf_document *document, const char *place, const gltf_sets *s,
                        uint32_t count)
{
    size_t idle = 0;
    for (uint32_t set = 0; set < s->count; set++)
        for (size_t i = 0; i < 4 * (size_t)count; i++)
            idle += s->weights[set][i] == 0 && s->joints[set][i] != 0;
    if (idle)
        cutis_gltf_remark(document, CUTIS_ISSUE_WARNING, "ACCESSOR_JOINTS_USED_ZERO_WEIGHT",
                          "%s/attributes/JOINTS_0: %zu joints without weight are not 0", place,
                          idle);
}

static cutis_result check_skinning(gltf_document *document, uint32_t mesh, uint32_t joint_count,
                                   uint32_t *stamps, uint32_t *stamp)
{
    const json_t *list = json_object_get(cutis_gltf_item(document, "meshes", mesh), "primitives");
    cutis_result result = CUTIS_OK;
    for (uint32_t p = 0; p < json_array_size(list) && result == CUTIS_OK; p++) {
        const json_t *map = json_object_get(json_array_get(list, p), "attributes");
        char place[96];
        gltf_sets s;
        if (!filled(document, map, "JOINTS_0") || !filled(document, map, "WEIGHTS_0")) continue;
        const uint32_t count = document->accessors[cutis_gltf_index(map, "JOINTS_0")].count;
        snprintf(place, sizeof place, "/meshes/%u/primitives/%u", mesh, p);
        gltf_glance before = cutis_gltf_glance(document);
        result = cutis_gltf_read_sets(document, map, &s);
        for (uint32_t v = 0; v < count && result == CUTIS_OK; v++)
            result = check_vertex(document, place, &s, v, joint_count, stamps, ++*stamp);
        if (result == CUTIS_OK) remark_idle(document, place, &s, count);
        before.charged = document->charged; // primitives that share sets pay for each time
        cutis_gltf_forget(document, &before);
        cutis_gltf_go_on(document, &result);
    }
    return result;
}

/// Joints and weights of every mesh with the smallest skin it is used with: what holds there holds
/// for the others.
static cutis_result check_influences(gltf_document *document)
{
    const cutis_model_data *data = &document->data;
    cutis_context *context = document->context;
    uint32_t *smallest = cutis_smallest_skins(context, data);
    uint32_t *stamps = cutis_alloc_zero(context, document->node_count, sizeof *stamps);
    uint32_t stamp = 0;
    cutis_result result = smallest && stamps ? CUTIS_OK : cutis_alloc_result(context);
    for (uint32_t m = 0; m < data->mesh_count && result == CUTIS_OK; m++) {
        if (smallest[m] == UINT32_MAX) continue;
        uint64_t charged = document->charged; // the arrays are gone when the next mesh is looked at
        result = check_skinning(document, m, smallest[m], stamps, &stamp);
        document->charged = charged;
    }
    cutis_free_array(context, smallest, data->mesh_count, sizeof *smallest);
    cutis_free_array(context, stamps, document->node_count, sizeof *stamps);
    return result;
}

static cutis_result check_binds(gltf_document *document, uint32_t index)
{
    const json_t *json = cutis_gltf_item(document, "skins", index);
    int32_t accessor = cutis_gltf_index(json, "inverseBindMatrices");
    if (accessor == CUTIS_NONE || !cutis_gltf_has_data(&document->accessors[accessor]))
        return CUTIS_OK;
    const float *matrices = NULL;
    const gltf_glance before = cutis_gltf_glance(document);
    cutis_result result = cutis_gltf_new_floats(document, (uint32_t)accessor, &matrices);
    for (size_t i = 0; result == CUTIS_OK && i < document->accessors[accessor].count; i++) {
        const float *m = matrices + 16 * i;
        if (m[3] != 0 || m[7] != 0 || m[11] != 0 || m[15] != 1)
            result =
                WRONG("ACCESSOR_INVALID_IBM",
                      "/skins/%u/inverseBindMatrices: the last row of matrix %zu is not 0 0 0 1",
                      index, i);
    }
    cutis_gltf_forget(document, &before);
    return result;
}

// Scenes and skinned nodes that are compared; a file that needs more is built to take time.
enum { SCENE_WORK = 20000000 };

/// The topmost ancestor of every node (file indices); the model's order has parents first.
static void find_tops(const gltf_document *document, uint32_t *tops)
{
    for (uint32_t k = 0; k < document->node_count; k++) {
        uint32_t node = document->node_of_model[k];
        int32_t parent = document->parent_of_node[node];
        tops[node] = parent == CUTIS_NONE ? node : tops[parent];
    }
}

/// A scene that shows a skinned mesh holds its joints, too. `marks` (one per node) is scratch.
static cutis_result check_scene(gltf_document *document, size_t scene, const uint32_t *skinned,
                                const uint32_t *roots, uint32_t skinned_count, uint32_t *marks)
{
    const json_t *list = json_object_get(cutis_gltf_item(document, "scenes", scene), "nodes");
    for (size_t i = 0; i < json_array_size(list); i++)
        marks[cutis_gltf_entry(list, i)] = (uint32_t)scene + 1;
    for (uint32_t k = 0; k < skinned_count; k++) {
        if (marks[roots[2 * k]] == scene + 1 && marks[roots[2 * k + 1]] != scene + 1)
            return WRONG("NODE_SKIN_NO_SCENE",
                         "/nodes/%u: scene %zu shows it without the joints of its skin", skinned[k],
                         scene);
    }
    return CUTIS_OK;
}

static cutis_result check_scenes(gltf_document *document)
{
    cutis_arena scratch = { .context = document->context };
    size_t scenes = json_array_size(json_object_get(document->root, "scenes"));
    size_t count = document->node_count;
    uint32_t *marks = cutis_arena_zero(&scratch, count, sizeof *marks);
    uint32_t *skinned = cutis_arena_alloc(&scratch, count, sizeof *skinned);
    uint32_t *roots = cutis_arena_alloc(&scratch, count, 2 * sizeof *roots);
    uint32_t *tops = cutis_arena_alloc(&scratch, count, sizeof *tops);
    uint32_t found = 0;
    cutis_result result =
        marks && skinned && roots && tops ? CUTIS_OK : cutis_alloc_result(scratch.context);
    if (result == CUTIS_OK) find_tops(document, tops);
    for (uint32_t n = 0; n < count && result == CUTIS_OK; n++) {
        int32_t skin = cutis_gltf_index(cutis_gltf_item(document, "nodes", n), "skin");
        if (skin == CUTIS_NONE) continue;
        const json_t *joints =
            json_object_get(cutis_gltf_item(document, "skins", (size_t)skin), "joints");
        skinned[found] = n;
        roots[2 * (size_t)found] = tops[n];
        roots[2 * (size_t)found + 1] = tops[cutis_gltf_entry(joints, 0)];
        if (roots[2 * (size_t)found] != roots[2 * (size_t)found + 1]) found++;
    }
    if (result == CUTIS_OK && (uint64_t)found * scenes > SCENE_WORK)
        result = cutis_gltf_issue(document, CUTIS_LIMIT_EXCEEDED, NULL,
                                  "/scenes: too many scenes and skinned nodes to compare");
    for (size_t s = 0; s < scenes && found && result == CUTIS_OK; s++) {
        result = check_scene(document, s, skinned, roots, found, marks);
        cutis_gltf_go_on(document, &result);
    }
    cutis_arena_release(&scratch);
    return result;
}

cutis_result cutis_gltf_check_strict(gltf_document *document)
{
    cutis_result result = cutis_gltf_check_uses(document);
    if (result == CUTIS_OK) result = check_looks(document);
    if (result == CUTIS_OK) result = check_influences(document);
    for (uint32_t s = 0; s < document->data.skin_count && result == CUTIS_OK; s++) {
        result = check_binds(document, s);
        cutis_gltf_go_on(document, &result);
    }
    if (result == CUTIS_OK) result = check_scenes(document);
    return cutis_gltf_end_phase(document, result);
}
