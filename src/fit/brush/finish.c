// The model a painting makes. Invariant: influences of vertices that nobody painted are copied as
// they are, so that what is written differs where the brush was and nowhere else.
#include <string.h>

#include "base/error.h"
#include "fit/brush/painting.h"

static bool any_edited(const cutis_painting *p, uint32_t vertex, uint32_t count)
{
    for (uint32_t v = 0; v < count; v++)
        if (p->edited.has[p->weld[vertex + v]]) return true;
    return false;
}

/// New influences of a primitive whose first vertex is `vertex` of an output frame.
static bool paint_part(const cutis_painting *p, cutis_arena *arena, cutis_primitive *part,
                       uint32_t vertex)
{
    const cutis_influences old = part->influences;
    size_t total = old.first ? old.first[part->vertex_count] : 0;
    for (uint32_t v = 0; v < part->vertex_count; v++)
        if (p->edited.has[p->weld[vertex + v]]) total += p->count[p->weld[vertex + v]];
    uint32_t *first = cutis_arena_alloc(arena, (size_t)part->vertex_count + 1, sizeof *first);
    uint32_t *joints = cutis_arena_alloc(arena, total, sizeof *joints), used = 0;
    float *weights = cutis_arena_alloc(arena, total, sizeof *weights);
    if (!first || !joints || !weights) return false;
    for (uint32_t v = 0; v < part->vertex_count; v++) {
        const uint32_t weld = p->weld[vertex + v];
        first[v] = used;
        if (p->edited.has[weld]) {
            for (uint32_t k = 0; k < p->count[weld]; k++) {
                joints[used] = brush_list(p, weld)[k].joint;
                weights[used++] = (float)brush_list(p, weld)[k].weight;
            }
        } else if (old.first) {
            const uint32_t count = old.first[v + 1] - old.first[v];
            memcpy(joints + used, old.joints + old.first[v], count * sizeof *joints);
            memcpy(weights + used, old.weights + old.first[v], count * sizeof *weights);
            used += count;
        }
    }
    first[part->vertex_count] = used;
    part->influences = (cutis_influences){ first, joints, weights };
    return true;
}

cutis_result cutis_painting_finish(const cutis_painting *p, cutis_model **out)
{
    if (out) *out = NULL;
    if (!p || !out) return CUTIS_INVALID_ARGUMENT;
    cutis_model_data data = *cutis_model_get(p->model);
    cutis_arena arena = { .context = p->context };
    cutis_mesh *meshes = cutis_arena_copy(&arena, data.meshes, data.mesh_count, sizeof *meshes);
    bool *done = cutis_arena_zero(&arena, data.mesh_count, sizeof *done), good = meshes && done;
    const cutis_instance *instances;
    const uint32_t count = cutis_model_instances(p->model, &instances);
    for (uint32_t i = 0; i < count && good; i++) {
        cutis_mesh *mesh = &meshes[instances[i].mesh];
        uint32_t vertex = instances[i].vertex_first;
        if (done[instances[i].mesh] || instances[i].skin < 0) continue;
        done[instances[i].mesh] = true;
        cutis_primitive *parts =
            cutis_arena_copy(&arena, mesh->primitives, mesh->primitive_count, sizeof *parts);
        good = parts != NULL;
        for (uint32_t k = 0; k < mesh->primitive_count && good; k++) {
            if (any_edited(p, vertex, parts[k].vertex_count))
                good = paint_part(p, &arena, &parts[k], vertex);
            vertex += parts[k].vertex_count;
        }
        mesh->primitives = parts;
    }
    data.meshes = meshes;
    const cutis_result result = good ? cutis_model_create(p->context, &data, CUTIS_GATE_REFUSE, out)
                                     : cutis_alloc_result(p->context);
    cutis_arena_release(&arena);
    return result;
}
