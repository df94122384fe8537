// Where labels come from: a file, parts, materials, meshes, joints. Invariant: every triangle of
// the instances, in output order, gets a label that has a name, and names differ.
#include "skeleton/source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "geometry/order.h"

typedef struct {
    const cutis_model_data *data;
    const cutis_instance *instances;
    uint32_t instance_count;
    cutis_labels *names;
    uint32_t *labels;
} lister;

static cutis_result no_memory(const lister *l)
{
    return cutis_alloc_result(l->names->arena->context);
}

// The label of a name, added if it is new; another thing of the same name gets a number.
static uint32_t fresh_label(lister *l, const char *name, const char *kind, uint32_t index)
{
    char text[300];
    if (name && *name)
        snprintf(text, sizeof text, "%.250s", name);
    else
        snprintf(text, sizeof text, "%s%u", kind, index);
    for (uint32_t i = 0; i < l->names->count; i++)
        if (strcmp(l->names->names[i], text) == 0) {
            size_t used = strlen(text);
            snprintf(text + used, sizeof text - used, "#%u", index);
            break;
        }
    return cutis_labels_add(l->names, "%s", text);
}

static uint32_t triangles_of(const cutis_primitive *primitive)
{
    return primitive->topology == CUTIS_TOPOLOGY_TRIANGLES ? primitive->index_count / 3 : 0;
}

static cutis_result label_primitives(lister *l, cutis_part_source source)
{
    bool materials = source == CUTIS_PART_SOURCE_MATERIALS;
    size_t keys = materials ? (size_t)l->data->material_count + 1 : l->data->node_count;
    uint32_t *table = cutis_nothings(l->names->arena, keys), at = 0;
    if (!table) return no_memory(l);
    for (uint32_t i = 0; i < l->instance_count; i++) {
        const cutis_mesh *mesh = &l->data->meshes[l->instances[i].mesh];
        for (uint32_t p = 0; p < mesh->primitive_count; p++) {
            const cutis_primitive *primitive = &mesh->primitives[p];
            uint32_t n = triangles_of(primitive), node = l->instances[i].node;
            uint32_t key = materials ? (uint32_t)(primitive->material + 1) : node;
            const char *name = !materials ? mesh->name
                               : primitive->material == CUTIS_NONE
                                   ? "default"
                                   : l->data->materials[key - 1].name;
            if (n == 0) continue;
            if (!materials && !(name && *name)) name = l->data->nodes[node].name;
            if (table[key] == CUTIS_NOTHING)
                table[key] = fresh_label(l, name, materials ? "material" : "mesh", key);
            if (table[key] == CUTIS_NOTHING) return no_memory(l);
            for (uint32_t t = 0; t < n; t++) l->labels[at++] = table[key];
        }
    }
    return CUTIS_OK;
}

static cutis_result label_parts(lister *l)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < l->instance_count; i++) {
        const cutis_mesh *mesh = &l->data->meshes[l->instances[i].mesh];
        uint32_t *table = cutis_nothings(l->names->arena, (size_t)mesh->part_count + 1);
        if (!table) return no_memory(l);
        for (uint32_t p = 0; p < mesh->primitive_count; p++) {
            const cutis_primitive *primitive = &mesh->primitives[p];
            uint32_t n = triangles_of(primitive);
            for (uint32_t t = 0; t < n; t++) {
                uint32_t key = primitive->parts ? primitive->parts[t] : mesh->part_count;
                const char *name = key < mesh->part_count && mesh->part_names
                                       ? mesh->part_names[key]
                                   : key == mesh->part_count ? mesh->name
                                                             : NULL;
                if (table[key] == CUTIS_NOTHING) table[key] = fresh_label(l, name, "part", key);
                if (table[key] == CUTIS_NOTHING) return no_memory(l);
                l->labels[at++] = table[key];
            }
        }
    }
    if (l->names->count < 2)
        return INVALID(l->names->arena->context,
                       "the model carries no parts; name another source for them");
    return CUTIS_OK;
}

// The deepest joint that, with all below it, holds more than half of the weight at the corners of a
// triangle. Borders of a joint are then level sets of one function, and those of siblings do not
// cross: the largest weight alone leaves points where three joints meet all over a face or a hip.
// Without any such joint (several roots) the heaviest.
static uint32_t triangle_joint(const lister *l, const cutis_skin *skin,
                               const cutis_primitive *primitive, uint32_t t, double *sums,
                               const uint32_t *depths)
{
    const cutis_influences *influences = &primitive->influences;
    uint32_t best = skin->joints[0], heaviest = best;
    double total = 0;
    bool half = false;
    for (int pass = 0; pass < 3 && influences->first; pass++)
        for (uint32_t c = 0; c < 3; c++) {
            uint32_t v = primitive->indices[3 * (size_t)t + c];
            for (uint32_t e = influences->first[v]; e < influences->first[v + 1]; e++) {
                int32_t node = (int32_t)skin->joints[influences->joints[e]];
                if (pass == 0) total += influences->weights[e];
                for (; node != CUTIS_NONE; node = l->data->nodes[node].parent) {
                    uint32_t n = (uint32_t)node;
                    if (pass == 0) sums[n] += influences->weights[e];
                    if (pass == 1 && depths[n] && sums[n] > 0.5 * total &&
                        (!half || depths[n] > depths[best]))
                        best = n, half = true;
                    if (pass == 1 && depths[n] && (sums[n] > sums[heaviest])) heaviest = n;
                    if (pass == 2) sums[n] = 0;
                }
            }
        }
    return half ? best : heaviest;
}

// 1 + the number of joints above, for joints; 0 for other nodes.
static void joint_depths(const lister *l, uint32_t *depths)
{
    const cutis_model_data *data = l->data;
    for (uint32_t s = 0; s < data->skin_count; s++)
        for (uint32_t j = 0; j < data->skins[s].joint_count; j++)
            depths[data->skins[s].joints[j]] = 1;
    for (uint32_t n = 0; n < data->node_count; n++) { // parents come first
        if (!depths[n]) continue;
        int32_t up = data->nodes[n].parent;
        while (up != CUTIS_NONE && !depths[up]) up = data->nodes[up].parent;
        if (up != CUTIS_NONE) depths[n] = depths[up] + 1;
    }
}

// The parent of a part is that of its joint: the next joint above that has triangles.
static cutis_result list_parents(lister *l, const uint32_t *table)
{
    const cutis_node *nodes = l->data->nodes;
    uint32_t *parents = cutis_nothings(l->names->arena, l->names->count);
    if (!parents) return no_memory(l);
    for (uint32_t n = 0; n < l->data->node_count; n++) {
        int32_t up = nodes[n].parent;
        if (table[n] == CUTIS_NOTHING) continue;
        while (up != CUTIS_NONE && table[up] == CUTIS_NOTHING) up = nodes[up].parent;
        if (up != CUTIS_NONE) parents[table[n]] = table[up];
    }
    l->names->parents = parents;
    return CUTIS_OK;
}

static cutis_result label_joints(lister *l)
{
    uint32_t *table = cutis_nothings(l->names->arena, l->data->node_count), at = 0;
    uint32_t *depths = cutis_arena_zero(l->names->arena, l->data->node_count, sizeof *depths);
    double *sums = cutis_arena_zero(l->names->arena, l->data->node_count, sizeof *sums);
    bool skinned = false;
    if (!table || !sums || !depths) return no_memory(l);
    joint_depths(l, depths);
    for (uint32_t i = 0; i < l->instance_count; i++) {
        const cutis_mesh *mesh = &l->data->meshes[l->instances[i].mesh];
        const cutis_skin *skin =
            l->instances[i].skin == CUTIS_NONE ? NULL : &l->data->skins[l->instances[i].skin];
        skinned = skinned || skin;
        for (uint32_t p = 0; p < mesh->primitive_count; p++)
            for (uint32_t t = 0; t < triangles_of(&mesh->primitives[p]); t++) {
                uint32_t key = skin ? triangle_joint(l, skin, &mesh->primitives[p], t, sums, depths)
                                    : l->instances[i].node;
                if (table[key] == CUTIS_NOTHING)
                    table[key] = fresh_label(l, l->data->nodes[key].name, "joint", key);
                if (table[key] == CUTIS_NOTHING) return no_memory(l);
                l->labels[at++] = table[key];
            }
    }
    if (!skinned)
        return INVALID(l->names->arena->context,
                       "parts from joints need a skin, and the model has none");
    return list_parents(l, table);
}

// Numbers of a file: each value that occurs is a part named after it.
static cutis_result label_numbers(lister *l, const cutis_skeleton_options *options)
{
    size_t n = options->label_count;
    uint32_t *values = cutis_arena_copy(l->names->arena, options->labels, n, sizeof *values);
    uint32_t count = 0;
    if (!values) return no_memory(l);
    qsort(values, n, sizeof *values, order_u32);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || values[i] != values[count - 1]) values[count++] = values[i];
    for (uint32_t i = 0; i < count; i++)
        if (cutis_labels_add(l->names, CUTIS_LABEL_NAME, values[i]) == CUTIS_NOTHING)
            return no_memory(l);
    for (size_t i = 0; i < n; i++) {
        const uint32_t *found =
            bsearch(&options->labels[i], values, count, sizeof *values, order_u32);
        l->labels[i] = (uint32_t)(found - values);
    }
    return CUTIS_OK;
}

cutis_result cutis_source_labels(const cutis_model *model, const cutis_skeleton_options *options,
                                 cutis_labels *names, const uint32_t **labels)
{
    cutis_context *context = cutis_model_context(model);
    uint64_t count = cutis_model_triangle_count(model);
    lister l = { .data = cutis_model_get(model), .names = names };
    *labels = NULL;
    l.instance_count = cutis_model_instances(model, &l.instances);
    if (options->source == CUTIS_PART_SOURCE_AUTO || options->source == CUTIS_PART_SOURCE_SHELLS)
        return CUTIS_OK;
    if (options->source == CUTIS_PART_SOURCE_LABELS && options->label_count != count)
        return INVALID(context, "there are %llu labels, but the model has %llu triangles",
                       (unsigned long long)options->label_count, (unsigned long long)count);
    l.labels = cutis_arena_alloc(names->arena, count, sizeof *l.labels);
    if (!l.labels) return cutis_alloc_result(context);
    *labels = l.labels;
    switch (options->source) {
    case CUTIS_PART_SOURCE_LABELS:
        return label_numbers(&l, options);
    case CUTIS_PART_SOURCE_PARTS:
        return label_parts(&l);
    case CUTIS_PART_SOURCE_JOINTS:
        return label_joints(&l);
    case CUTIS_PART_SOURCE_MATERIALS:
    case CUTIS_PART_SOURCE_MESHES:
        return label_primitives(&l, options->source);
    default:
        return INVALID(context, "unknown source of parts %d", (int)options->source);
    }
}
