/// Influences as kernels want them: bones ascending, duplicates merged, weights > 0 with sum 1
/// (normalised in double, stored as float). Invariant: every vertex has at least one influence.
#include "base/error.h"
#include "base/memory.h"
#include "deform/skin.h"

#include <stdlib.h>

typedef struct influence {
    double weight;
    uint32_t bone,
        order; ///< order: place in the file, so that sorting never depends on the C library
} influence;

static int by_bone(const void *a, const void *b)
{
    const influence *x = a, *y = b;
    if (x->bone != y->bone) return x->bone < y->bone ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

/// Largest weight first; ties: the lower bone.
static int by_weight(const void *a, const void *b)
{
    const influence *x = a, *y = b;
    if (x->weight != y->weight) return x->weight > y->weight ? -1 : 1;
    return x->bone < y->bone ? -1 : x->bone > y->bone;
}

static void sort(influence *items, uint32_t count, int (*order)(const void *, const void *))
{
    if (count > 32) {
        qsort(items, count, sizeof *items, order);
        return;
    }
    for (uint32_t i = 1; i < count; i++)
        for (uint32_t j = i; j > 0 && order(&items[j - 1], &items[j]) > 0; j--) {
            influence swap = items[j];
            items[j] = items[j - 1], items[j - 1] = swap;
        }
}

/// Merge equal bones, drop zeros, keep the `limit` largest (0: all). @return how many are left
static uint32_t clean(influence *items, uint32_t count, uint32_t limit)
{
    sort(items, count, by_bone);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!(items[i].weight > 0.0)) continue;
        if (kept && items[kept - 1].bone == items[i].bone)
            items[kept - 1].weight += items[i].weight;
        else
            items[kept++] = items[i];
    }
    if (limit && kept > limit) {
        sort(items, kept, by_weight);
        kept = limit;
        sort(items, kept, by_bone);
    }
    return kept;
}

/// Write one vertex at entry `at`. @return the entry after it
static uint32_t write_vertex(cutis_skin_binding *binding, influence *items, uint32_t count,
                             uint32_t first_bone, uint32_t *bones, float *weights, uint32_t at)
{
    uint32_t limit = binding->base.options.method == CUTIS_METHOD_RIGID
                         ? 1
                         : binding->base.options.max_influences;
    count = clean(items, count, limit);
    double sum = 0.0;
    for (uint32_t i = 0; i < count; i++) sum += items[i].weight;
    uint32_t begin = at;
    for (uint32_t i = 0; i < count; i++) {
        float weight = count == 1 ? 1.0f : (float)(items[i].weight / sum);
        if (!(weight > 0.0f)) continue; // vanished in float: absent
        bones[at] = items[i].bone;
        weights[at++] = weight;
    }
    if (at == begin) { // no weight at all: the skin's first joint
        bones[at] = first_bone;
        weights[at++] = 1.0f;
    }
    for (uint32_t i = begin; i < at; i++) binding->bone_used[bones[i]] = UINT32_MAX;
    return at;
}

/// An upper bound on the influences of all vertices, and the most a vertex has in the file.
static uint64_t count_influences(const cutis_skin_binding *binding, uint32_t *most)
{
    const cutis_model_data *data = cutis_model_get(binding->base.model);
    const cutis_instance *instances;
    uint32_t instance_count = cutis_model_instances(binding->base.model, &instances);
    uint64_t total = 0;
    *most = 1;
    for (uint32_t i = 0; i < instance_count; i++) {
        const cutis_mesh *mesh = &data->meshes[instances[i].mesh];
        for (uint32_t p = 0; p < mesh->primitive_count; p++) {
            const cutis_primitive *primitive = &mesh->primitives[p];
            const uint32_t *first = cutis_bound_influences(binding, instances[i].mesh, p)->first;
            total += primitive->vertex_count; // one for each vertex that has none
            if (instances[i].skin == CUTIS_NONE || !first) continue;
            total += first[primitive->vertex_count];
            for (uint32_t v = 0; v < primitive->vertex_count; v++)
                if (first[v + 1] - first[v] > *most) *most = first[v + 1] - first[v];
        }
    }
    return total;
}

/// All vertices of one primitive of one instance.
static uint32_t bind_primitive(cutis_skin_binding *binding, const cutis_instance *instance,
                               uint32_t p, uint32_t skin_bone, uint32_t node_bone, influence *items,
                               uint32_t *first, uint32_t *bones, float *weights, uint32_t at)
{
    const cutis_primitive *primitive =
        &cutis_model_get(binding->base.model)->meshes[instance->mesh].primitives[p];
    const cutis_influences *source = cutis_bound_influences(binding, instance->mesh, p);
    bool skinned = skin_bone != UINT32_MAX && source->first;
    for (uint32_t v = 0; v < primitive->vertex_count; v++) {
        uint32_t count = 0, begin = skinned ? source->first[v] : 0;
        if (skinned) count = source->first[v + 1] - begin;
        for (uint32_t i = 0; i < count; i++)
            items[i] = (influence){ source->weights[begin + i],
                                    cutis_bound_bone(binding, source, instance->mesh,
                                                     instance->skin, skin_bone, begin + i),
                                    i };
        first[v] = at;
        at = write_vertex(binding, items, count, skinned ? skin_bone : node_bone, bones, weights,
                          at);
    }
    return at;
}

cutis_result cutis_bind_influences(cutis_skin_binding *binding, cutis_arena *arena,
                                   const uint32_t *skin_bone, const uint32_t *node_bone)
{
    const cutis_model_data *data = cutis_model_get(binding->base.model);
    const cutis_instance *instances;
    uint32_t instance_count = cutis_model_instances(binding->base.model, &instances), most, at = 0;
    uint64_t total = count_influences(binding, &most);
    if (total > INT32_MAX)
        return cutis_fail(binding->base.context, CUTIS_LIMIT_EXCEEDED,
                          "bind: %llu influences are too many", (unsigned long long)total);
    cutis_skin_layout *layout = &binding->layout;
    uint32_t *first = cutis_layout_alloc(binding, (size_t)layout->vertex_count + 1, sizeof *first);
    uint32_t *bones = cutis_layout_alloc(binding, (size_t)total, sizeof *bones);
    float *weights = cutis_layout_alloc(binding, (size_t)total, sizeof *weights);
    influence *items = cutis_arena_alloc(arena, most, sizeof *items);
    if (!first || !bones || !weights || !items) return cutis_alloc_result(binding->base.context);
    for (uint32_t i = 0; i < instance_count; i++) {
        const cutis_mesh *mesh = &data->meshes[instances[i].mesh];
        uint32_t joints =
            instances[i].skin == CUTIS_NONE ? UINT32_MAX : skin_bone[instances[i].skin];
        uint32_t vertex = instances[i].vertex_first;
        for (uint32_t p = 0; p < mesh->primitive_count; p++) {
            at = bind_primitive(binding, &instances[i], p, joints, node_bone[instances[i].node],
                                items, first + vertex, bones, weights, at);
            vertex += mesh->primitives[p].vertex_count;
        }
    }
    first[layout->vertex_count] = at;
    layout->first = first, layout->bone = bones, layout->weight = weights;
    return CUTIS_OK;
}
