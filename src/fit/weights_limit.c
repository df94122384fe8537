// Keeping the largest influences of every vertex, and weights as whole numbers over a total. The
// new model differs from the old one in its influences only.
#include <cutis/weights.h>

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "fit/weights_vertex.h"
#include "math/shares.h"

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

// What is done to the weights of every vertex, and where.
typedef struct edit {
    uint32_t limit; ///< influences a vertex; 0: all
    uint32_t total; ///< weights become whole numbers over it; 0: as they are
    cutis_arena arena;
    cutis_influence *list;
    double *shares;
    uint32_t *numbers;
} edit;

// As readers of files make them of the numbers there.
static void round_list(const edit *e, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) e->shares[i] = e->list[i].weight;
    cutis_shares_round(e->shares, count, e->total, e->numbers);
    for (uint32_t i = 0; i < count; i++)
        e->list[i].weight = (double)((float)e->numbers[i] / (float)e->total);
}

static bool edit_primitive(edit *e, cutis_primitive *primitive)
{
    const cutis_influences old = primitive->influences;
    if (!old.first) return true;
    uint32_t total = old.first[primitive->vertex_count], used = 0;
    uint32_t *first =
        cutis_arena_alloc(&e->arena, (size_t)primitive->vertex_count + 1, sizeof *first);
    uint32_t *joints = cutis_arena_alloc(&e->arena, total, sizeof *joints);
    float *weights = cutis_arena_alloc(&e->arena, total, sizeof *weights);
    if (!first || !joints || !weights) return false;
    for (uint32_t v = 0; v < primitive->vertex_count; v++) {
        uint32_t count = keep_largest(e->list, cutis_vertex_gather(&old, v, e->list), e->limit);
        if (e->total) round_list(e, count);
        first[v] = used;
        for (uint32_t i = 0; i < count; i++) {
            float weight = (float)e->list[i].weight;
            if (weight == 0) continue; // below the smallest float, or half a unit: no influence
            joints[used] = e->list[i].joint;
            weights[used++] = weight;
        }
    }
    first[primitive->vertex_count] = used;
    primitive->influences = (cutis_influences){ first, joints, weights };
    return true;
}

static cutis_result edit_model(const cutis_model *model, uint32_t limit, uint32_t total,
                               cutis_model **out)
{
    cutis_context *context = cutis_model_context(model);
    cutis_model_data data = *cutis_model_get(model);
    const size_t longest = cutis_vertex_longest(model);
    edit e = { .limit = limit, .total = total, .arena = { .context = context } };
    e.list = cutis_arena_alloc(&e.arena, longest, sizeof *e.list);
    e.shares = cutis_arena_alloc(&e.arena, longest, sizeof *e.shares);
    e.numbers = cutis_arena_alloc(&e.arena, longest, sizeof *e.numbers);
    cutis_mesh *meshes = cutis_arena_copy(&e.arena, data.meshes, data.mesh_count, sizeof *meshes);
    bool good = e.list && e.shares && e.numbers && meshes;
    for (uint32_t m = 0; m < data.mesh_count && good; m++) {
        cutis_primitive *primitives = cutis_arena_copy(
            &e.arena, meshes[m].primitives, meshes[m].primitive_count, sizeof *primitives);
        good = primitives != NULL;
        for (uint32_t p = 0; p < meshes[m].primitive_count && good; p++)
            good = edit_primitive(&e, &primitives[p]);
        meshes[m].primitives = primitives;
    }
    data.meshes = meshes;
    cutis_result result = good ? cutis_model_create(context, &data, CUTIS_GATE_REFUSE, out)
                               : cutis_alloc_result(context);
    cutis_arena_release(&e.arena);
    return result;
}

cutis_result cutis_weights_limit(const cutis_model *model, uint32_t max_influences,
                                 cutis_model **out)
{
    if (out) *out = NULL;
    if (!model || !out) return CUTIS_INVALID_ARGUMENT;
    return edit_model(model, max_influences, 0, out);
}

cutis_result cutis_weights_round(const cutis_model *model, uint32_t total, cutis_model **out)
{
    if (out) *out = NULL;
    if (!model || !out) return CUTIS_INVALID_ARGUMENT;
    if (total < 1 || total > 65535)
        return cutis_fail(cutis_model_context(model), CUTIS_INVALID_ARGUMENT,
                          "weights over %u: 1 to 65535", total);
    return edit_model(model, 0, total, out);
}
