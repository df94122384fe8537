// Counting influences and bone sets over the skinned instances of a model. A bone set is the set of
// nodes with weight > 0 on a vertex; the count is exact.
#include <cutis/weights.h>

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "fit/weights_vertex.h"
#include "geometry/order.h"
#include "geometry/sets.h"

typedef struct {
    uint32_t mesh, skin;
} mesh_use;

static int compare_uses(const void *a, const void *b)
{
    const mesh_use *x = a, *y = b;
    if (x->mesh != y->mesh) return x->mesh < y->mesh ? -1 : 1;
    return (x->skin > y->skin) - (x->skin < y->skin);
}

// Skins mostly list their joints in node order, so the nodes mostly stand sorted already.
static void sort_nodes(uint32_t *nodes, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++)
        if (nodes[i] < nodes[i - 1]) {
            qsort(nodes, count, sizeof *nodes, order_u32);
            return;
        }
}

// What one pass over a mesh needs. `state` per node: 1 a joint of a skin in use, 2 with weight.
typedef struct {
    const cutis_model_data *data;
    cutis_influence *list; // of one vertex
    uint32_t *nodes;       // of one vertex
    uint8_t *state;
    cutis_sets sets;
    cutis_weight_summary *out;
} pass;

// `times` instances show this mesh with this skin: counted together, looked at once.
static bool count_mesh(pass *p, mesh_use use, uint64_t times)
{
    const cutis_mesh *mesh = &p->data->meshes[use.mesh];
    const cutis_skin *skin = &p->data->skins[use.skin];
    for (uint32_t j = 0; j < skin->joint_count; j++) p->state[skin->joints[j]] |= 1;
    for (uint32_t i = 0; i < mesh->primitive_count; i++) {
        const cutis_primitive *primitive = &mesh->primitives[i];
        for (uint32_t v = 0; v < primitive->vertex_count; v++) {
            uint32_t count = cutis_vertex_gather(&primitive->influences, v, p->list);
            if (count > p->out->max_influences) p->out->max_influences = count;
            p->out->histogram[count < 16 ? count : 16] += times;
            p->out->unweighted_count += count == 0 ? times : 0;
            for (uint32_t k = 0; k < count; k++) {
                p->nodes[k] = skin->joints[p->list[k].joint];
                p->state[p->nodes[k]] |= 2;
            }
            if (count < 2) continue;
            sort_nodes(p->nodes, count);
            uint32_t set;
            if (!cutis_sets_find(&p->sets, p->nodes, count, &set)) return false;
        }
    }
    return true;
}

static uint32_t list_uses(const cutis_model *model, mesh_use *uses)
{
    const cutis_instance *instances;
    uint32_t count = 0, instance_count = cutis_model_instances(model, &instances);
    for (uint32_t i = 0; i < instance_count; i++)
        if (instances[i].skin != CUTIS_NONE)
            uses[count++] = (mesh_use){ instances[i].mesh, (uint32_t)instances[i].skin };
    qsort(uses, count, sizeof *uses, compare_uses);
    return count;
}

cutis_result cutis_weights_summarize(const cutis_model *model, cutis_weight_summary *out)
{
    if (!model || !out) return CUTIS_INVALID_ARGUMENT;
    cutis_context *context = cutis_model_context(model);
    const cutis_model_data *data = cutis_model_get(model);
    const cutis_instance *instances;
    uint32_t instance_count = cutis_model_instances(model, &instances);
    cutis_weight_summary summary = { 0 };
    pass p = { .data = data, .sets = { .context = context }, .out = &summary };
    const size_t longest = cutis_vertex_longest(model);
    cutis_arena arena = { .context = context };
    mesh_use *uses = cutis_arena_alloc(&arena, instance_count, sizeof *uses);
    p.state = cutis_arena_zero(&arena, data->node_count, 1);
    p.list = cutis_arena_alloc(&arena, longest, sizeof *p.list);
    p.nodes = cutis_arena_alloc(&arena, longest, sizeof *p.nodes);
    bool good = uses && p.state && p.list && p.nodes;
    uint32_t use_count = good ? list_uses(model, uses) : 0;
    for (uint32_t i = 0, end; i < use_count && good; i = end) {
        for (end = i + 1; end < use_count && compare_uses(&uses[i], &uses[end]) == 0;) end++;
        good = count_mesh(&p, uses[i], end - i);
    }
    cutis_result result = good ? CUTIS_OK : cutis_alloc_result(context);
    for (uint32_t n = 0; good && n < data->node_count; n++) {
        summary.joint_count += p.state[n] & 1;
        summary.unused_joint_count += p.state[n] == 1;
    }
    summary.bone_set_count = p.sets.count;
    for (uint32_t s = 0; s < p.sets.count; s++)
        summary.large_set_count += p.sets.first[s + 1] - p.sets.first[s] >= 3;
    cutis_sets_release(&p.sets);
    cutis_arena_release(&arena);
    if (good) *out = summary;
    return result;
}
