// Keeping the largest influences of every vertex. The new model differs from the old one in its
// influences only.
#include <cutis/weights.h>

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "fit/weights_vertex.h"

static int by_weight(const void *a, const void *b)
{
    const cutis_influence *x = a, *y = b;
    if (x->weight != y->weight) return x->weight > y->weight ? -1 : 1;
    return (x->joint > y->joint) - (x->joint < y->joint);
}

static int by_joint(const void *a, const void *b)
{
    const cutis_influence *x = a, *y = b;
    return (x->joint > y->joint) - (x->joint < y->joint);
}

// Drop the smallest one by one while few are too many: the list stays sorted by joint.
static uint32_t drop_smallest(cutis_influence *list, uint32_t count, uint32_t limit)
{
    for (; count > limit; count--) {
        uint32_t worst = 0;
        for (uint32_t i = 1; i < count; i++)
            if (by_weight(&list[i], &list[worst]) > 0) worst = i;
        for (uint32_t i = worst; i + 1 < count; i++) list[i] = list[i + 1];
    }
    return count;
}

static uint32_t keep_largest(cutis_influence *list, uint32_t count, uint32_t limit)
{
    if (limit > 0 && count > limit && count <= 32) {
        count = drop_smallest(list, count, limit);
    } else if (limit > 0 && count > limit) {
        qsort(list, count, sizeof *list, by_weight);
        count = limit;
        qsort(list, count, sizeof *list, by_joint);
    }
    cutis_vertex_normalise(list, count);
    return count;
}

static bool limit_primitive(cutis_arena *arena, cutis_primitive *primitive, uint32_t limit,
                            cutis_influence *list)
{
    const cutis_influences old = primitive->influences;
    if (!old.first) return true;
    uint32_t total = old.first[primitive->vertex_count], used = 0;
    uint32_t *first = cutis_arena_alloc(arena, (size_t)primitive->vertex_count + 1, sizeof *first);
    uint32_t *joints = cutis_arena_alloc(arena, total, sizeof *joints);
    float *weights = cutis_arena_alloc(arena, total, sizeof *weights);
    if (!first || !joints || !weights) return false;
    for (uint32_t v = 0; v < primitive->vertex_count; v++) {
        uint32_t count = keep_largest(list, cutis_vertex_gather(&old, v, list), limit);
        first[v] = used;
        for (uint32_t i = 0; i < count; i++) {
            float weight = (float)list[i].weight;
            if (weight == 0) continue; // below the smallest float after the division: no influence
            joints[used] = list[i].joint;
            weights[used++] = weight;
        }
    }
    first[primitive->vertex_count] = used;
    primitive->influences = (cutis_influences){ first, joints, weights };
    return true;
}

cutis_result cutis_weights_limit(const cutis_model *model, uint32_t max_influences,
                                 cutis_model **out)
{
    if (out) *out = NULL;
    if (!model || !out) return CUTIS_INVALID_ARGUMENT;
    cutis_context *context = cutis_model_context(model);
    cutis_model_data data = *cutis_model_get(model);
    cutis_arena arena = { .context = context };
    cutis_influence *list = cutis_arena_alloc(&arena, cutis_vertex_longest(model), sizeof *list);
    cutis_mesh *meshes = cutis_arena_copy(&arena, data.meshes, data.mesh_count, sizeof *meshes);
    bool good = list && meshes;
    for (uint32_t m = 0; m < data.mesh_count && good; m++) {
        cutis_primitive *primitives = cutis_arena_copy(
            &arena, meshes[m].primitives, meshes[m].primitive_count, sizeof *primitives);
        good = primitives != NULL;
        for (uint32_t p = 0; p < meshes[m].primitive_count && good; p++)
            good = limit_primitive(&arena, &primitives[p], max_influences, list);
        meshes[m].primitives = primitives;
    }
    data.meshes = meshes;
    cutis_result result = good ? cutis_model_create(context, &data, CUTIS_GATE_REFUSE, out)
                               : cutis_alloc_result(context);
    cutis_arena_release(&arena);
    return result;
}
