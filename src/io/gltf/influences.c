/// Influences as they are meant, where a file breaks the letter: weights that do not sum to one, a
/// joint twice in a vertex, vertices without any weight, joints out of range that have none.
/// Invariant: what is settled is what blending by the file's own numbers gives, and weights that
/// no blend could use (negative, not finite, of joints the skin does not have) stay for the gate.
#include "io/gltf/parts.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

// The Khronos validator's own tolerance of a sum of weights, for each of them.
static const double WEIGHT_STEP = 2e-7;

typedef struct settling {
    gltf_document *document;
    const gltf_sets *sets;
    uint32_t vertex_count, limit;  ///< joints of the smallest skin
    uint32_t *seen;                ///< per joint: one more than where it stands in the list
    uint64_t doubled, sums, empty; ///< vertices
    double worst;                  ///< the sum furthest from 1
} settling;

/// The influences from `begin` to `end` to where `at` is; what is not usable stays as it is.
static void settle_vertex(settling *s, uint32_t *joints, float *weights, uint32_t begin,
                          uint32_t end, uint32_t *at)
{
    const uint32_t first = *at;
    double sum = 0;
    bool usable = true, doubled = false;
    for (uint32_t i = begin; i < end; i++)
        usable &= joints[i] < s->limit && weights[i] > 0 && weights[i] <= FLT_MAX;
    for (uint32_t i = begin; i < end; i++) {
        const uint32_t joint = joints[i];
        const float weight = weights[i];
        if (usable) sum += (double)weight;
        if (usable && s->seen[joint] > first) {
            weights[s->seen[joint] - 1] += weight;
            doubled = true;
            continue;
        }
        joints[*at] = joint;
        weights[(*at)++] = weight;
        if (usable) s->seen[joint] = *at;
    }
    s->doubled += doubled;
    s->empty += begin == end;
    if (!usable || begin == end) return;
    if (fabs(sum - 1) <= WEIGHT_STEP * (double)(*at - first)) return;
    s->sums++;
    if (fabs(sum - 1) > fabs(s->worst - 1)) s->worst = sum;
    for (uint32_t i = first; i < *at; i++) weights[i] = (float)((double)weights[i] / sum);
}

/// Vertices without any weight beside others that have some follow the joint they name first, as
/// every player has it. Where no vertex has one the file is a template and stays as it is.
static cutis_result fill_empty(settling *s, cutis_arena *arena, cutis_influences *list)
{
    gltf_document *document = s->document;
    const uint32_t count = s->vertex_count, total = list->first[count];
    const uint32_t empty = (uint32_t)s->empty;
    if (empty == 0 || empty == count || total > UINT32_MAX - empty) return CUTIS_OK;
    cutis_result result =
        cutis_gltf_charge(document, (uint64_t)total + empty + count + 1, 2 * sizeof(uint32_t));
    if (result != CUTIS_OK) return result;
    uint32_t *first = cutis_arena_alloc(arena, (size_t)count + 1, sizeof *first), out = 0;
    uint32_t *joints = cutis_arena_alloc(arena, (size_t)total + empty, sizeof *joints);
    float *weights = cutis_arena_alloc(arena, (size_t)total + empty, sizeof *weights);
    if (!first || !joints || !weights) return cutis_alloc_result(document->context);
    for (size_t v = 0; v < count; v++) {
        const uint32_t from = list->first[v], own = list->first[v + 1] - from;
        const uint32_t named = s->sets->joints[0][4 * v];
        first[v] = out;
        joints[out] = named < s->limit ? named : 0;
        weights[out] = 1;
        if (own > 0) memcpy(joints + out, list->joints + from, own * sizeof *joints);
        if (own > 0) memcpy(weights + out, list->weights + from, own * sizeof *weights);
        out += own ? own : 1;
    }
    first[count] = out;
    *list = (cutis_influences){ .first = first, .joints = joints, .weights = weights };
    return CUTIS_OK;
}

/// Joints out of range whose weight is 0 do nothing, but no file may name them.
static uint64_t count_strays(const settling *s, uint32_t set)
{
    uint64_t strays = 0;
    for (size_t i = 0; i < 4 * (size_t)s->vertex_count; i++)
        strays += s->sets->joints[set][i] >= s->limit && s->sets->weights[set][i] == 0;
    return strays;
}

static cutis_result note_settled(const settling *s, const char *place)
{
    const gltf_document *document = s->document;
    if (s->doubled)
        FORGIVE("ACCESSOR_JOINTS_INDEX_DUPLICATE",
                "%s/JOINTS_0: %llu vertices had a joint more than once; its weights were added",
                place, (unsigned long long)s->doubled);
    if (s->sums)
        FORGIVE("ACCESSOR_WEIGHTS_NON_NORMALIZED",
                "%s/WEIGHTS_0: the weights of %llu vertices did not sum to 1 (one to %.9g) and "
                "were normalised",
                place, (unsigned long long)s->sums, s->worst);
    if (s->empty && s->empty < s->vertex_count)
        FORGIVE("VERTEX_UNWEIGHTED",
                "%s/WEIGHTS_0: %llu of %u vertices had no weight and follow the first joint they "
                "name",
                place, (unsigned long long)s->empty, s->vertex_count);
    return CUTIS_OK;
}

static void settle_all(settling *s, uint32_t mesh, cutis_influences *list)
{
    uint32_t *first = (uint32_t *)list->first, *joints = (uint32_t *)list->joints;
    uint32_t begin = 0, at = 0, used = s->document->joints_used[mesh];
    for (uint32_t v = 0; v < s->vertex_count; v++) {
        const uint32_t end = first[v + 1], from = at;
        settle_vertex(s, joints, (float *)list->weights, begin, end, &at);
        for (uint32_t i = from; i < at; i++)
            if (joints[i] >= used && joints[i] < s->limit) used = joints[i] + 1;
        first[v + 1] = at;
        begin = end;
    }
    s->document->joints_used[mesh] = used;
}

/// Sets that name joints the skin does not have are not written again.
static cutis_result drop_strays(const settling *s, const char *place, const json_t *attributes)
{
    gltf_document *document = s->document;
    for (uint32_t set = 0; set < s->sets->count; set++) {
        char name[24];
        uint64_t strays = count_strays(s, set);
        if (!strays) continue;
        FORGIVE("ACCESSOR_JOINTS_INDEX_OOB",
                "%s/JOINTS_%u: %llu joints that the skin does not have, their weights are 0", place,
                set, (unsigned long long)strays);
        snprintf(name, sizeof name, "JOINTS_%u", set);
        document->accessors[cutis_gltf_index(attributes, name)].unfit = true;
    }
    return CUTIS_OK;
}

cutis_result cutis_gltf_settle_influences(gltf_document *document, uint32_t mesh,
                                          uint32_t primitive, const gltf_sets *sets,
                                          uint32_t vertex_count, cutis_arena *arena,
                                          cutis_influences *list)
{
    settling s = { .document = document,
                   .sets = sets,
                   .vertex_count = vertex_count,
                   .limit = document->joint_limits[mesh],
                   .worst = 1 };
    const json_t *primitives =
        json_object_get(cutis_gltf_item(document, "meshes", mesh), "primitives");
    const json_t *attributes = json_object_get(json_array_get(primitives, primitive), "attributes");
    char place[96];
    if (s.limit == UINT32_MAX) return CUTIS_OK; // nobody deforms it
    snprintf(place, sizeof place, "/meshes/%u/primitives/%u/attributes", mesh, primitive);
    s.seen = cutis_alloc_zero(document->context, s.limit, sizeof *s.seen);
    if (!s.seen) return cutis_alloc_result(document->context);
    settle_all(&s, mesh, list);
    cutis_free_array(document->context, s.seen, s.limit, sizeof *s.seen);
    cutis_result result = note_settled(&s, place);
    if (result == CUTIS_OK && sets->greatest >= s.limit)
        result = drop_strays(&s, place, attributes);
    return result == CUTIS_OK ? fill_empty(&s, arena, list) : result;
}
