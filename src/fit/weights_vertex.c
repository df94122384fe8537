// The influences of one vertex in their clean form. The result depends on the influences and their
// order in the file only, never on the machine's sort.
#include "fit/weights_vertex.h"

#include <stdlib.h>

size_t cutis_vertex_longest(const cutis_model *model)
{
    const cutis_model_data *data = cutis_model_get(model);
    size_t longest = 1;
    for (uint32_t m = 0; m < data->mesh_count; m++)
        for (uint32_t p = 0; p < data->meshes[m].primitive_count; p++) {
            const cutis_primitive *primitive = &data->meshes[m].primitives[p];
            const uint32_t *first = primitive->influences.first;
            for (uint32_t v = 0; first && v < primitive->vertex_count; v++)
                if (first[v + 1] - first[v] > longest) longest = first[v + 1] - first[v];
        }
    return longest;
}

static int by_joint(const void *a, const void *b)
{
    const cutis_influence *x = a, *y = b;
    if (x->joint != y->joint) return x->joint < y->joint ? -1 : 1;
    return (x->weight > y->weight) -
           (x->weight < y->weight); // fixes the order of the sums for any qsort
}

// Up to this many are sorted by insertion, which merges at once.
enum { INSERTION_MAX = 48 };

static uint32_t insert(cutis_influence *list, uint32_t count, uint32_t joint, double weight)
{
    uint32_t at = count;
    while (at > 0 && list[at - 1].joint > joint) at--;
    if (at > 0 && list[at - 1].joint == joint) {
        list[at - 1].weight += weight;
        return count;
    }
    for (uint32_t i = count; i > at; i--) list[i] = list[i - 1];
    list[at] = (cutis_influence){ joint, weight };
    return count + 1;
}

uint32_t cutis_vertex_gather(const cutis_influences *influences, uint32_t vertex,
                             cutis_influence *list)
{
    if (!influences->first) return 0;
    uint32_t begin = influences->first[vertex], end = influences->first[vertex + 1], count = 0;
    bool few = end - begin <= INSERTION_MAX, sorted = true;
    for (uint32_t i = begin + 1; i < end; i++)
        sorted &= influences->joints[i - 1] < influences->joints[i];
    if (sorted) { // as most files have them
        for (uint32_t i = begin; i < end; i++)
            if (influences->weights[i] > 0)
                list[count++] = (cutis_influence){ influences->joints[i], influences->weights[i] };
        return count;
    }
    for (uint32_t i = begin; i < end; i++) {
        if (!(influences->weights[i] > 0)) continue;
        if (few)
            count = insert(list, count, influences->joints[i], influences->weights[i]);
        else
            list[count++] = (cutis_influence){ influences->joints[i], influences->weights[i] };
    }
    if (few || count == 0) return count;
    qsort(list, count, sizeof *list, by_joint);
    uint32_t kept = 0;
    for (uint32_t i = 1; i < count; i++)
        if (list[i].joint == list[kept].joint)
            list[kept].weight += list[i].weight;
        else
            list[++kept] = list[i];
    return kept + 1;
}

void cutis_vertex_normalise(cutis_influence *list, uint32_t count)
{
    double sum = 0;
    for (uint32_t i = 0; i < count; i++) sum += list[i].weight;
    for (uint32_t i = 0; i < count; i++) list[i].weight /= sum;
}
