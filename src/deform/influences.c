/// Influences as kernels want them: bones ascending, duplicates merged, weights > 0 with sum 1
/// (normalised in double, stored as float). Invariant: every vertex has at least one influence.
#include "base/error.h"
#include "base/memory.h"
#include "deform/skin.h"

#include <stdlib.h>

/// Joints of a vertex whose order is kept for the next one.
enum { ORDERED_MAX = 32 };

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

/// By bone, ascending: equal ones merged, their weights added in the file's order, zeros dropped.
/// @return how many are left
static uint32_t merge(influence *items, uint32_t count)
{
    uint32_t kept = 0;
    sort(items, count, by_bone);
    for (uint32_t i = 0; i < count; i++) {
        if (!(items[i].weight > 0.0)) continue;
        if (kept && items[kept - 1].bone == items[i].bone)
            items[kept - 1].weight += items[i].weight;
        else
            items[kept++] = items[i];
    }
    return kept;
}

/// The `limit` largest. @return how many are left
static uint32_t keep_largest(influence *items, uint32_t count, uint32_t limit)
{
    if (count <= limit) return count;
    sort(items, count, by_weight);
    sort(items, limit, by_bone);
    return limit;
}

static uint32_t influence_limit(const cutis_skin_binding *binding)
{
    const uint32_t most = binding->base.options.max_influences;
    if (binding->base.options.method == CUTIS_METHOD_RIGID) return 1;
    return most ? most : UINT32_MAX;
}

/// Write one vertex at entry `at`. @return the entry after it
static uint32_t write_vertex(uint32_t limit, influence *items, uint32_t count, uint32_t first_bone,
                             uint32_t *bones, float *weights, uint32_t at)
{
    count = keep_largest(items, count, limit);
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
    return at;
}

/// The joints of a vertex in ascending order of their bones. Neighbours in a file mostly name the
/// same joints, and then only weights are looked at.
typedef struct joint_order {
    const uint32_t *joints; ///< of the vertex it was made for; NULL: none
    uint32_t count;
    uint32_t bones[ORDERED_MAX];
    uint8_t places[ORDERED_MAX]; ///< in the file
} joint_order;

static inline bool is_order_of(const joint_order *order, const uint32_t *joints, uint32_t count)
{
    if (!order->joints || order->count != count) return false;
    uint32_t same = 0;
    while (same < count && order->joints[same] == joints[same]) same++;
    return same == count;
}

/// @return false, and no order, if they are too many or one comes twice
static bool order_joints(joint_order *order, const cutis_bone_numbers *numbers,
                         const uint32_t *joints, uint32_t count)
{
    order->joints = NULL;
    if (count == 0 || count > ORDERED_MAX) return false;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t bone = cutis_bone_of(numbers, joints[i]);
        uint32_t at = i;
        for (; at > 0 && order->bones[at - 1] > bone; at--) {
            order->bones[at] = order->bones[at - 1];
            order->places[at] = order->places[at - 1];
        }
        if (at > 0 && order->bones[at - 1] == bone) return false;
        order->bones[at] = bone, order->places[at] = (uint8_t)i;
    }
    order->joints = joints, order->count = count;
    return true;
}

/// @return the entry after the vertex; `at` if a weight is zero or vanishes in float
static inline uint32_t write_ordered(const joint_order *order, const float *given, uint32_t *bones,
                                     float *weights, uint32_t at)
{
    const uint32_t count = order->count;
    double sum = 0.0;
    bool good = true;
    for (uint32_t i = 0; i < count; i++) {
        const float weight = given[order->places[i]];
        good &= weight > 0.0f;
        sum += weight;
    }
    for (uint32_t i = 0; i < count; i++) {
        bones[at + i] = order->bones[i];
        weights[at + i] = count == 1 ? 1.0f : (float)(given[order->places[i]] / sum);
        good &= weights[at + i] > 0.0f;
    }
    return good ? at + count : at;
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
    const uint32_t limit = influence_limit(binding);
    cutis_bone_numbers numbers = { 0 };
    if (skinned)
        numbers = cutis_bound_bones(binding, source, instance->mesh, instance->skin, skin_bone);
    joint_order order = { 0 };
    for (uint32_t v = 0; v < primitive->vertex_count; v++) {
        const uint32_t begin = skinned ? source->first[v] : 0;
        uint32_t count = skinned ? source->first[v + 1] - begin : 0;
        first[v] = at;
        if (count > 0 && count <= limit &&
            (is_order_of(&order, source->joints + begin, count) ||
             order_joints(&order, &numbers, source->joints + begin, count)))
            at = write_ordered(&order, source->weights + begin, bones, weights, at);
        if (at != first[v]) continue;
        for (uint32_t i = 0; i < count; i++)
            items[i] = (influence){ source->weights[begin + i],
                                    cutis_bone_of(&numbers, source->joints[begin + i]), i };
        count = merge(items, count);
        at = write_vertex(limit, items, count, skinned ? skin_bone : node_bone, bones, weights, at);
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
