// The gate's second half for meshes, on the model's own copy: one pass over every array. After it
// all vertex floats are finite, indices and parts in range, weights finite and >= 0, and joints
// inside every skin the mesh is used with, so no later loop needs a check.
#include "model/validate.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

// Where we are, for errors and notes.
typedef struct {
    cutis_model *model;
    cutis_gate gate;
    uint32_t mesh, index;
    char place[64];
} spot;

static cutis_result refuse_float(const spot *at, const char *what, size_t entry, size_t width,
                                 float value)
{
    return cutis_fail(at->model->context, CUTIS_CORRUPT_DATA,
                      "%s: %s of vertex %zu is not finite (%g)", at->place, what, entry / width,
                      value);
}

// Positions and morph targets: there is nothing to repair them from.
static cutis_result require_finite(const spot *at, const char *what, const float *values,
                                   uint32_t count, size_t width)
{
    if (!values) return CUTIS_OK;
    size_t bad = cutis_first_not_finite(values, count * width);
    return bad < count * width ? refuse_float(at, what, bad, width, values[bad]) : CUTIS_OK;
}

// Area-weighted normals of the faces around the vertices that are marked by a NaN, in double.
static bool recompute_normals(spot *at, const cutis_primitive *primitive, float *normals)
{
    cutis_context *context = at->model->context;
    uint32_t count = primitive->vertex_count;
    double(*sums)[3] = cutis_alloc_zero(context, count, sizeof *sums);
    if (!sums) return false;
    bool faces = primitive->topology == CUTIS_TOPOLOGY_TRIANGLES;
    for (uint32_t i = 0; faces && i + 2 < primitive->index_count; i += 3) {
        const uint32_t *t = primitive->indices + i;
        const float *a = primitive->positions + 3 * (size_t)t[0];
        const float *b = primitive->positions + 3 * (size_t)t[1];
        const float *c = primitive->positions + 3 * (size_t)t[2];
        double u[3], v[3];
        for (int k = 0; k < 3; k++) u[k] = (double)b[k] - a[k], v[k] = (double)c[k] - a[k];
        for (int k = 0; k < 3; k++) {
            int l = (k + 1) % 3, m = (k + 2) % 3;
            for (int corner = 0; corner < 3; corner++)
                sums[t[corner]][k] += u[l] * v[m] - u[m] * v[l];
        }
    }
    for (uint32_t v = 0; v < count; v++) {
        float *n = normals + 3 * (size_t)v;
        if (cutis_first_not_finite(n, 3) == 3) continue;
        double length =
            sqrt(sums[v][0] * sums[v][0] + sums[v][1] * sums[v][1] + sums[v][2] * sums[v][2]);
        for (int k = 0; k < 3; k++) n[k] = length > 0 ? (float)(sums[v][k] / length) : k == 2;
    }
    cutis_free_array(context, sums, count, sizeof *sums);
    return true;
}

// Attributes that only affect looks: repaired to something harmless, vertex by vertex.
static cutis_result check_attribute(spot *at, const char *what, const cutis_primitive *primitive,
                                    const float *values, size_t width)
{
    if (!values) return CUTIS_OK;
    size_t total = primitive->vertex_count * width;
    size_t bad = cutis_first_not_finite(values, total);
    if (bad == total) return CUTIS_OK;
    if (at->gate == CUTIS_GATE_REFUSE) return refuse_float(at, what, bad, width, values[bad]);
    uint64_t vertices = 0;
    float *own = (float *)values;
    bool normals = values == primitive->normals;
    for (size_t v = bad / width; v < primitive->vertex_count; v++) {
        float *entry = own + v * width;
        if (cutis_first_not_finite(entry, width) == width) continue;
        vertices++;
        for (size_t k = 0; k < width && !normals; k++)
            entry[k] =
                values == primitive->tangents ? k == 0 || k == 3 : values == primitive->colors;
    }
    if (normals && !recompute_normals(at, primitive, own))
        return cutis_alloc_result(at->model->context);
    return cutis_model_note(at->model, "VERTEX_NOT_FINITE", 0, vertices, at->place,
                            "%ss that were not finite were %s", what,
                            normals ? "recomputed" : "replaced");
}

static cutis_result check_indices(spot *at, cutis_primitive *primitive)
{
    cutis_context *context = at->model->context;
    uint32_t rest = primitive->index_count % cutis_topology_corners(primitive->topology);
    if (rest) { // an incomplete last triangle or line is not drawn by anybody
        primitive->index_count -= rest;
        TRY(cutis_model_note(at->model, "INDEX_COUNT_INCOMPLETE", 1, rest, at->place,
                             "%u indices after the last whole one were dropped", rest));
    }
    const size_t i =
        cutis_first_not_below(primitive->indices, primitive->index_count, primitive->vertex_count);
    if (i < primitive->index_count)
        return CORRUPT("%s: index %zu of %u is %u, the primitive has %u vertices", at->place, i,
                       primitive->index_count, primitive->indices[i], primitive->vertex_count);
    uint32_t part_count = at->model->data.meshes[at->mesh].part_count;
    for (uint32_t t = 0; primitive->parts && t < primitive->index_count / 3; t++)
        if (primitive->parts[t] >= part_count)
            return CORRUPT("%s: part of triangle %u is %u, the mesh has %u parts", at->place, t,
                           primitive->parts[t], part_count);
    return CUTIS_OK;
}

// Refusing: the first weight or joint that is wrong. Duplicates and sums other than one are no
// fault of the format: binding merges and normalises.
static cutis_result check_influences(spot *at, const cutis_primitive *primitive,
                                     uint32_t joint_count)
{
    const cutis_influences *influences = &primitive->influences;
    for (uint32_t v = 0; v < primitive->vertex_count; v++) {
        for (uint32_t i = influences->first[v]; i < influences->first[v + 1]; i++) {
            float weight = influences->weights[i];
            if (!(weight >= 0 && weight <= 3.402823466e38f))
                return cutis_fail(at->model->context, CUTIS_CORRUPT_DATA,
                                  "%s: weight %u of vertex %u is %g", at->place,
                                  i - influences->first[v], v, weight);
            if (influences->joints[i] >= joint_count)
                return cutis_fail(
                    at->model->context, CUTIS_CORRUPT_DATA,
                    "%s: joint %u of vertex %u is %u, the smallest skin it is used with "
                    "has %u joints",
                    at->place, i - influences->first[v], v, influences->joints[i], joint_count);
        }
    }
    return CUTIS_OK;
}

typedef struct {
    uint64_t bad, range, duplicate, sum; // vertices or influences repaired
    double worst;                        // largest |sum - 1|
} influence_repairs;

// Heap sort of a vertex with very many influences, so that finding doubled joints stays n log n.
static void sort_by_joint(uint32_t *joints, float *weights, uint32_t count)
{
    for (uint32_t size = count, start = count / 2; size > 1;) {
        if (start > 0) {
            start--;
        } else {
            size--;
            uint32_t joint = joints[0];
            float weight = weights[0];
            joints[0] = joints[size], weights[0] = weights[size];
            joints[size] = joint, weights[size] = weight;
        }
        for (uint32_t root = start, child; (child = 2 * root + 1) < size; root = child) {
            if (child + 1 < size && joints[child] < joints[child + 1]) child++;
            if (joints[root] >= joints[child]) break;
            uint32_t joint = joints[root];
            float weight = weights[root];
            joints[root] = joints[child], weights[root] = weights[child];
            joints[child] = joint, weights[child] = weight;
        }
    }
}

// Repairs the influences of one vertex where they stand and returns how many are left.
static uint32_t repair_vertex(uint32_t *joints, float *weights, uint32_t count,
                              uint32_t joint_count, influence_repairs *done)
{
    uint32_t kept = 0;
    bool merged = false;
    bool many = count > 64;
    double sum = 0;
    if (many) sort_by_joint(joints, weights, count);
    for (uint32_t i = 0; i < count; i++) {
        float weight = weights[i];
        uint32_t joint = joints[i], same = many && kept ? kept - 1 : 0;
        if (!(weight >= 0 && weight <= 3.402823466e38f)) done->bad++, weight = 0;
        if (joint >= joint_count) {
            done->range++;
            continue;
        }
        while (same < kept && joints[same] != joint) same++;
        if (same < kept && weight > 0) {
            merged |= weights[same] > 0;
            weights[same] += weight;
        } else if (same == kept) {
            joints[kept] = joint;
            weights[kept++] = weight;
        }
        sum += weight;
    }
    done->duplicate += merged;
    // The Khronos validator's own tolerance, so that what is repaired passes it.
    if (sum > 0 && fabs(sum - 1) > 2e-7 * (kept > 1 ? kept : 1)) {
        done->sum++;
        done->worst = fmax(done->worst, fabs(sum - 1));
        for (uint32_t i = 0; i < kept; i++) weights[i] = (float)(weights[i] / sum);
    }
    return kept;
}

static bool has_weight(const cutis_influences *influences, uint32_t v)
{
    for (uint32_t i = influences->first[v]; i < influences->first[v + 1]; i++)
        if (influences->weights[i] > 0) return true;
    return false;
}

// Vertices without any influence, beside others that have some, follow the first joint: what
// binding does with them, written down. Where no vertex has one the file is a template and stays as
// it is.
static cutis_result fill_unweighted(spot *at, cutis_primitive *primitive, uint32_t joint_count)
{
    const cutis_influences old = primitive->influences;
    const uint32_t count = primitive->vertex_count, total = old.first[count];
    uint32_t empty = 0, out = 0;
    for (uint32_t v = 0; v < count; v++) empty += !has_weight(&old, v);
    if (empty == 0 || empty == count || joint_count == UINT32_MAX || total > UINT32_MAX - empty)
        return CUTIS_OK;
    cutis_arena *arena = &at->model->arena;
    uint32_t *first = cutis_arena_alloc(arena, (size_t)count + 1, sizeof *first);
    uint32_t *joints = cutis_arena_alloc(arena, (size_t)total + empty, sizeof *joints);
    float *weights = cutis_arena_alloc(arena, (size_t)total + empty, sizeof *weights);
    if (!first || !joints || !weights) return cutis_alloc_result(at->model->context);
    for (uint32_t v = 0; v < count; v++) {
        const uint32_t own = has_weight(&old, v) ? old.first[v + 1] - old.first[v] : 0;
        first[v] = out;
        joints[out] = 0;
        weights[out] = 1;
        if (own > 0) memcpy(joints + out, old.joints + old.first[v], own * sizeof *joints);
        if (own > 0) memcpy(weights + out, old.weights + old.first[v], own * sizeof *weights);
        out += own ? own : 1;
    }
    first[count] = out;
    primitive->influences =
        (cutis_influences){ .first = first, .joints = joints, .weights = weights };
    return cutis_model_note(
        at->model, "VERTEX_UNWEIGHTED", 0, empty, at->place,
        "%u of %u vertices had no weight on any joint and follow the skin's first", empty, count);
}

static cutis_result repair_influences(spot *at, const cutis_primitive *primitive,
                                      uint32_t joint_count)
{
    const cutis_influences *influences = &primitive->influences;
    uint32_t *first = (uint32_t *)influences->first, *joints = (uint32_t *)influences->joints;
    float *weights = (float *)influences->weights;
    influence_repairs done = { 0 };
    uint32_t begin = 0, out = 0;
    for (uint32_t v = 0; v < primitive->vertex_count; v++) {
        uint32_t end = first[v + 1], count = end - begin;
        if (count == 0) { // without any influence in the primitive the arrays are NULL
            first[v] = out;
            continue;
        }
        uint32_t kept = repair_vertex(joints + begin, weights + begin, count, joint_count, &done);
        memmove(joints + out, joints + begin, kept * sizeof *joints);
        memmove(weights + out, weights + begin, kept * sizeof *weights);
        first[v] = out;
        out += kept;
        begin = end;
    }
    first[primitive->vertex_count] = out;
    // Nobody deforms a mesh without a skin by its weights.
    const uint8_t slip = joint_count == UINT32_MAX ? 1 : 0;
    const struct {
        uint64_t count;
        const char *code;
        int severity;
        const char *text;
    } NOTES[] = {
        { done.bad, "WEIGHT_INVALID", 0, "weights that were negative or not finite became 0" },
        { done.range, "JOINT_OUT_OF_RANGE", 0,
          "influences of joints the skin does not have were dropped" },
        { done.duplicate, "JOINT_DUPLICATED", slip,
          "vertices had a joint more than once; its weights were added" },
        { done.sum, "WEIGHTS_NON_NORMALIZED", done.worst > 1e-3 ? slip : 2,
          "vertices had weights that did not sum to 1 and were normalised" },
    };
    for (int i = 0; i < 4; i++)
        if (NOTES[i].count)
            TRY(cutis_model_note(at->model, NOTES[i].code, (uint8_t)NOTES[i].severity,
                                 NOTES[i].count, at->place, "%llu %s",
                                 (unsigned long long)NOTES[i].count, NOTES[i].text));
    return CUTIS_OK;
}

static cutis_result check_primitive(spot *at, uint32_t joint_count)
{
    const cutis_mesh *mesh = &at->model->data.meshes[at->mesh];
    cutis_primitive *primitive = (cutis_primitive *)&mesh->primitives[at->index];
    uint32_t count = primitive->vertex_count;
    TRY(require_finite(at, "position", primitive->positions, count, 3));
    TRY(check_indices(at, primitive));
    TRY(check_attribute(at, "normal", primitive, primitive->normals, 3));
    TRY(check_attribute(at, "tangent", primitive, primitive->tangents, 4));
    TRY(check_attribute(at, "texcoord", primitive, primitive->texcoords, 2));
    TRY(check_attribute(at, "color", primitive, primitive->colors, 4));
    for (uint32_t t = 0; primitive->targets && t < mesh->target_count; t++) {
        const cutis_morph_target *target = &primitive->targets[t];
        snprintf(at->place, sizeof at->place, "meshes/%u/primitives/%u/targets/%u", at->mesh,
                 at->index, t);
        TRY(require_finite(at, "position", target->positions, count, 3));
        TRY(require_finite(at, "normal", target->normals, count, 3));
        TRY(require_finite(at, "tangent", target->tangents, count, 3));
    }
    snprintf(at->place, sizeof at->place, "meshes/%u/primitives/%u", at->mesh, at->index);
    if (primitive->influences.first)
        TRY(at->gate == CUTIS_GATE_REPAIR ? repair_influences(at, primitive, joint_count)
                                          : check_influences(at, primitive, joint_count));
    if (primitive->influences.first && at->gate == CUTIS_GATE_REPAIR)
        TRY(fill_unweighted(at, primitive, joint_count));
    return CUTIS_OK;
}

uint32_t *cutis_smallest_skins(cutis_context *context, const cutis_model_data *data)
{
    uint32_t *smallest = cutis_alloc_array(context, data->mesh_count, sizeof *smallest);
    for (uint32_t m = 0; smallest && m < data->mesh_count; m++) smallest[m] = UINT32_MAX;
    for (uint32_t n = 0; smallest && n < data->node_count; n++) {
        const cutis_node *node = &data->nodes[n];
        if (node->skin == CUTIS_NONE) continue;
        uint32_t count = data->skins[node->skin].joint_count;
        if (count < smallest[node->mesh]) smallest[node->mesh] = count;
    }
    return smallest;
}

cutis_result cutis_validate_meshes(cutis_model *model, cutis_gate gate)
{
    const cutis_model_data *data = &model->data;
    uint32_t *joint_count = cutis_smallest_skins(model->context, data);
    if (!joint_count) return cutis_alloc_result(model->context);
    cutis_result result = CUTIS_OK;
    for (uint32_t m = 0; m < data->mesh_count && result == CUTIS_OK; m++) {
        const cutis_mesh *mesh = &data->meshes[m];
        for (uint32_t p = 0; p < mesh->primitive_count && result == CUTIS_OK; p++) {
            spot at = { model, gate, m, p, "" };
            snprintf(at.place, sizeof at.place, "meshes/%u/primitives/%u", m, p);
            result = check_primitive(&at, joint_count[m]);
        }
        if (result == CUTIS_OK)
            result = cutis_validate_part_values(model->context, mesh, m, joint_count[m]);
        size_t bad = mesh->target_weights
                         ? cutis_first_not_finite(mesh->target_weights, mesh->target_count)
                         : mesh->target_count;
        if (result == CUTIS_OK && bad < mesh->target_count)
            result =
                cutis_fail(model->context, CUTIS_CORRUPT_DATA, "meshes/%u: morph weight %zu is %g",
                           m, bad, mesh->target_weights[bad]);
    }
    cutis_free_array(model->context, joint_count, data->mesh_count, sizeof *joint_count);
    return result;
}
