/// Influences to JOINTS_n and WEIGHTS_n: largest first, so that a reader of the first set alone
/// gets the best four; a joint once per vertex; weights that sum to one (in integers: exactly).
#include "io/gltf/writer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "math/shares.h"

typedef struct influence {
    uint32_t joint;
    double weight;
} influence;

// The validator's own tolerance per influence; sums closer to 1 are left alone, so that weights
// survive a round trip.
static const double SUM_TOLERANCE = 2e-7;

/// The influences of a vertex, merged and sorted; returns how many. A sum of zero stays as it is:
/// nobody's vertex.
static uint32_t collect(const cutis_influences *from, uint32_t vertex, influence *out)
{
    uint32_t count = 0;
    double sum = 0;
    for (uint32_t i = from->first[vertex]; i < from->first[vertex + 1]; i++) {
        uint32_t same = 0;
        if (!(from->weights[i] > 0)) continue;
        while (same < count && out[same].joint != from->joints[i]) same++;
        if (same == count) out[count++] = (influence){ .joint = from->joints[i] };
        out[same].weight += (double)from->weights[i];
        sum += (double)from->weights[i];
    }
    if (count && fabs(sum - 1) > SUM_TOLERANCE * count) {
        for (uint32_t i = 0; i < count; i++) out[i].weight /= sum;
    }
    for (uint32_t i = 1; i < count; i++) { // insertion: a vertex has few
        influence moving = out[i];
        uint32_t at = i;
        while (at > 0 &&
               (out[at - 1].weight < moving.weight ||
                (out[at - 1].weight == moving.weight && out[at - 1].joint > moving.joint))) {
            out[at] = out[at - 1];
            at--;
        }
        out[at] = moving;
    }
    return count;
}

/// Whole numbers that sum to `total`.
static void quantize(const influence *from, uint32_t count, uint32_t total, double *shares,
                     uint32_t *out)
{
    double sum = 0;
    for (uint32_t i = 0; i < count; i++) sum += from[i].weight;
    for (uint32_t i = 0; i < count; i++) shares[i] = from[i].weight / sum;
    cutis_shares_round(shares, count, total, out);
}

/// All sets of a primitive, set after set, each 4 entries a vertex.
typedef struct sets {
    uint32_t count;
    void *joints, *weights;
    size_t joint_size, weight_size; ///< bytes of an entry
    size_t entries;                 ///< over all sets
    influence *scratch;
    double *shares;
    uint32_t *numbers;
    uint32_t most;
} sets;

static void put(void *array, size_t size, size_t at, uint32_t value)
{
    uint16_t narrow = (uint16_t)value;
    if (size == 1) ((uint8_t *)array)[at] = (uint8_t)value;
    if (size == 2) memcpy((uint8_t *)array + at * 2, &narrow, 2);
}

static void fill(const cutis_primitive *primitive, sets *s)
{
    uint32_t total = s->weight_size == 1 ? 255 : 65535;
    for (uint32_t v = 0; v < primitive->vertex_count; v++) {
        uint32_t count = collect(&primitive->influences, v, s->scratch);
        if (s->weight_size < 4) quantize(s->scratch, count, total, s->shares, s->numbers);
        for (uint32_t i = 0; i < count; i++) {
            size_t at = ((size_t)(i / 4) * primitive->vertex_count + v) * 4 + i % 4;
            float weight = (float)s->scratch[i].weight;
            bool used = s->weight_size < 4 ? s->numbers[i] > 0 : weight > 0;
            if (s->weight_size == 4) {
                memcpy((uint8_t *)s->weights + at * 4, &weight, 4);
            } else {
                put(s->weights, s->weight_size, at, s->numbers[i]);
            }
            if (used)
                put(s->joints, s->joint_size, at, s->scratch[i].joint); // padding names joint 0
        }
    }
}

static void measure(const cutis_primitive *primitive, sets *s)
{
    const cutis_influences *from = &primitive->influences;
    uint32_t joint_max = 0;
    for (uint32_t v = 0; v < primitive->vertex_count; v++) {
        uint32_t count = from->first[v + 1] - from->first[v];
        if (count > s->most) s->most = count;
    }
    for (uint32_t i = 0; i < from->first[primitive->vertex_count]; i++) {
        if (from->joints[i] > joint_max) joint_max = from->joints[i];
    }
    s->joint_size = joint_max < 256 ? 1 : 2;
    s->count = s->most ? (s->most + 3) / 4 : 1;
    s->entries = (size_t)s->count * primitive->vertex_count * 4;
}

static void write_sets(gltf_writer *writer, const cutis_primitive *primitive, json_t *attributes,
                       const sets *s)
{
    char name[24];
    size_t per_set = (size_t)primitive->vertex_count * 4;
    gltf_array array = { .count = primitive->vertex_count,
                         .shape = GLTF_VEC4,
                         .target = GLTF_ARRAY_BUFFER };
    for (uint32_t set = 0; set < s->count; set++) {
        array.data = (const uint8_t *)s->joints + set * per_set * s->joint_size;
        array.component = s->joint_size == 1 ? GLTF_U8 : GLTF_U16;
        array.normalized = false;
        snprintf(name, sizeof name, "JOINTS_%u", set);
        cutis_gltf_set_array(writer, attributes, name, &array);
        array.data = (const uint8_t *)s->weights + set * per_set * s->weight_size;
        array.component = s->weight_size == 1 ? GLTF_U8 : s->weight_size == 2 ? GLTF_U16 : GLTF_F32;
        array.normalized = s->weight_size < 4;
        snprintf(name, sizeof name, "WEIGHTS_%u", set);
        cutis_gltf_set_array(writer, attributes, name, &array);
    }
}

void cutis_gltf_write_influences(gltf_writer *writer, const cutis_primitive *primitive,
                                 json_t *attributes)
{
    sets s = { .weight_size = writer->options.weights == CUTIS_WEIGHTS_U8    ? 1
                              : writer->options.weights == CUTIS_WEIGHTS_U16 ? 2
                                                                             : 4 };
    cutis_arena arena = { .context = writer->context };
    if (!primitive->influences.first) return;
    measure(primitive, &s);
    s.joints = cutis_arena_zero(&arena, s.entries, s.joint_size);
    s.weights = cutis_arena_zero(&arena, s.entries, s.weight_size);
    s.scratch = cutis_arena_alloc(&arena, s.most, sizeof *s.scratch);
    s.shares = cutis_arena_alloc(&arena, s.most, sizeof *s.shares);
    s.numbers = cutis_arena_alloc(&arena, s.most, sizeof *s.numbers);
    if (s.joints && s.weights && s.scratch && s.shares && s.numbers) {
        fill(primitive, &s);
        write_sets(writer, primitive, attributes, &s);
    } else {
        writer->failed = true;
    }
    cutis_arena_release(&arena);
}
