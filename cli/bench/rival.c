/// Plain C on the same character, through the loops of bench/plain.c.
#include "bench/bench.h"

#include <stdlib.h>
#include <string.h>

#include "bench/plain.h"

typedef struct plain_work {
    bench_plain_mesh mesh;
    const float *palette;
    bool unit;
    memory_list memory;
    uint32_t *first, *bones;
    float *weights, *rest, *rest_normals; // what the mesh borrows
    float *positions, *normals;
} plain_work;

static cutis_result run_plain(void *data)
{
    plain_work *w = data;
    bench_plain_lbs(&w->mesh, w->palette, w->unit, w->positions, w->normals);
    return CUTIS_OK;
}

static bool allocate(plain_work *w, size_t vertex_count, size_t influence_count)
{
    w->first = memory_take(&w->memory, vertex_count, sizeof *w->first);
    w->bones = memory_take(&w->memory, influence_count, sizeof *w->bones);
    w->weights = memory_take(&w->memory, influence_count, sizeof *w->weights);
    w->rest = memory_take(&w->memory, 3 * vertex_count, sizeof *w->rest);
    w->rest_normals = memory_take(&w->memory, 3 * vertex_count, sizeof *w->rest_normals);
    w->positions = memory_take(&w->memory, 3 * vertex_count, sizeof *w->positions);
    w->normals = memory_take(&w->memory, 3 * vertex_count, sizeof *w->normals);
    return !w->memory.failed;
}

// Bodies to measure on are one skinned mesh with normals and weights that sum to one.
static void gather(plain_work *w, const cutis_mesh *mesh)
{
    uint32_t vertex = 0, entry = 0;
    bool four = true;
    for (uint32_t p = 0; p < mesh->primitive_count; p++) {
        const cutis_primitive *primitive = &mesh->primitives[p];
        memcpy(w->rest + 3 * (size_t)vertex, primitive->positions,
               3 * sizeof(float) * primitive->vertex_count);
        memcpy(w->rest_normals + 3 * (size_t)vertex, primitive->normals,
               3 * sizeof(float) * primitive->vertex_count);
        for (uint32_t v = 0; v < primitive->vertex_count; v++) {
            const uint32_t *first = primitive->influences.first + v;
            w->first[vertex++] = entry;
            four &= first[1] - first[0] == 4;
            for (uint32_t i = first[0]; i < first[1]; i++, entry++) {
                w->bones[entry] = primitive->influences.joints[i];
                w->weights[entry] = primitive->influences.weights[i];
            }
        }
    }
    w->first[vertex] = entry;
    w->mesh = (bench_plain_mesh){ .vertex_count = vertex,
                                  .four = four,
                                  .first = w->first,
                                  .bones = w->bones,
                                  .weights = w->weights,
                                  .positions = w->rest,
                                  .normals = w->rest_normals };
}

cutis_result bench_plain_time(const cutis_model *model, const cutis_mat34 *palette,
                              bool unit_normals, double budget, double *seconds)
{
    const cutis_model_data *data = cutis_model_get(model);
    const cutis_instance *instances;
    if (cutis_model_instances(model, &instances) != 1 || instances[0].skin == CUTIS_NONE)
        return CUTIS_UNSUPPORTED;
    const cutis_mesh *mesh = &data->meshes[instances[0].mesh];
    plain_work w = { .palette = palette->m, .unit = unit_normals };
    size_t influences = 0;
    for (uint32_t p = 0; p < mesh->primitive_count; p++) {
        const cutis_primitive *primitive = &mesh->primitives[p];
        if (!primitive->normals || !primitive->influences.first) return CUTIS_UNSUPPORTED;
        influences += primitive->influences.first[primitive->vertex_count];
    }
    cutis_result result = CUTIS_OUT_OF_MEMORY;
    if (allocate(&w, cutis_model_vertex_count(model), influences)) {
        gather(&w, mesh);
        result = bench_best(run_plain, &w, budget, seconds);
    }
    memory_release(&w.memory);
    return result;
}
