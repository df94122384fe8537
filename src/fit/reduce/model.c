// Groups of a model: vertices that share a skin, welded where position and weights are equal.
// Invariants: influences of a unit are clean (ascending, positive, sum 1); vertices of one unit get
// the same weights.
#include "fit/reduce/model.h"

#include <string.h>

#include <cutis/measure.h>

#include "base/error.h"
#include "fit/handles/model.h"
#include "fit/weights_vertex.h"

// Count what a primitive adds to its group.
static bool count_primitive(const cutis_primitive *primitive, cutis_reduce_group *group,
                            size_t *influences)
{
    if (!primitive->influences.first) return true;
    if (primitive->topology == CUTIS_TOPOLOGY_TRIANGLES)
        group->triangle_count += primitive->index_count / 3;
    group->source_count += primitive->vertex_count;
    // One more per vertex, for those that have none.
    *influences +=
        (size_t)primitive->influences.first[primitive->vertex_count] + primitive->vertex_count;
    return *influences <= UINT32_MAX && group->triangle_count <= UINT32_MAX / 6;
}

// Vertices of one task, and influences of a vertex that a task can hold itself.
enum { TASK_VERTICES = 1024, TASK_INFLUENCES = 256 };

typedef struct filler {
    const cutis_model *model;
    cutis_device *device; ///< whose threads work; NULL: the caller's
    cutis_reduce_group *group;
    cutis_influence *list; ///< for vertices with more influences than a task can hold
    uint32_t vertex, influence, triangle;
    bool repair;
    uint64_t repaired;
} filler;

// One primitive on its way into a group: vertices are first counted, then written.
typedef struct fill_job {
    const cutis_primitive *primitive;
    cutis_reduce_group *group;
    uint32_t vertex;    ///< of the group, that its first one becomes
    uint32_t influence; ///< these two: where its own go
    uint32_t *triangles;
    bool write;
    bool mixed; ///< a vertex's influences are not clean as they stand
} fill_job;

// The clean influences of a vertex: their number, or themselves. One without weight follows the
// first joint.
static void fill_vertex(const fill_job *job, uint32_t v, cutis_influence *list)
{
    cutis_reduce_group *group = job->group;
    uint32_t count = cutis_vertex_gather(&job->primitive->influences, v, list);
    if (!job->write) {
        group->first[job->vertex + v + 1] = count;
        return;
    }
    if (count == 0) list[count++] = (cutis_influence){ 0, 1 };
    cutis_vertex_normalise(list, count);
    uint32_t at = group->first[job->vertex + v];
    for (uint32_t i = 0; i < count; i++) {
        group->control[at] = list[i].joint;
        group->weight[at++] = list[i].weight;
    }
}

static bool is_long(const cutis_primitive *primitive, uint32_t v)
{
    return primitive->influences.first[v + 1] - primitive->influences.first[v] > TASK_INFLUENCES;
}

static void fill_task(void *data, uint32_t index)
{
    const fill_job *job = data;
    cutis_influence list[TASK_INFLUENCES];
    uint32_t v = index * TASK_VERTICES;
    for (uint32_t end = v + TASK_VERTICES; v < end && v < job->primitive->vertex_count; v++)
        if (!is_long(job->primitive, v)) fill_vertex(job, v, list);
}

// Influences that are clean as they stand (ascending, none zero) are written at once, where the
// primitive has them.
static void clean_task(void *data, uint32_t index)
{
    fill_job *job = data;
    const cutis_influences *in = &job->primitive->influences;
    cutis_reduce_group *group = job->group;
    uint32_t v = index * TASK_VERTICES;
    for (uint32_t end = v + TASK_VERTICES; v < end && v < job->primitive->vertex_count; v++) {
        const uint32_t begin = in->first[v], count = in->first[v + 1] - begin;
        uint32_t *control = group->control + job->influence + begin;
        double *weight = group->weight + job->influence + begin, sum = 0;
        bool clean = count > 0 && !__atomic_load_n(&job->mixed, __ATOMIC_RELAXED);
        for (uint32_t i = 0; i < count && clean; i++) {
            control[i] = in->joints[begin + i];
            weight[i] = in->weights[begin + i];
            sum += weight[i];
            clean = weight[i] > 0 && (i == 0 || control[i - 1] < control[i]);
        }
        if (!clean) {
            __atomic_store_n(&job->mixed, true, __ATOMIC_RELAXED);
            return;
        }
        for (uint32_t i = 0; i < count; i++) weight[i] /= sum;
        group->first[job->vertex + v + 1] = job->influence + begin + count;
    }
}

static void triangle_task(void *data, uint32_t index)
{
    const fill_job *job = data;
    const uint32_t count = job->primitive->index_count / 3 * 3;
    uint64_t i = 3 * (uint64_t)TASK_VERTICES * index;
    for (uint64_t end = i + 3 * (uint64_t)TASK_VERTICES; i < end && i < count; i++)
        job->triangles[i] = job->vertex + job->primitive->indices[i];
}

static void fill_all(filler *f, fill_job *job, bool write)
{
    job->write = write;
    cutis_device_run_items(f->device, fill_task, job, job->primitive->vertex_count, TASK_VERTICES);
    for (uint32_t v = 0; v < job->primitive->vertex_count; v++)
        if (is_long(job->primitive, v)) fill_vertex(job, v, f->list);
}

static cutis_result fill_primitive(filler *f, uint32_t mesh, uint32_t p)
{
    const cutis_primitive *primitive = &cutis_model_get(f->model)->meshes[mesh].primitives[p];
    if (!primitive->influences.first) return CUTIS_OK;
    cutis_reduce_group *group = f->group;
    fill_job job = { .primitive = primitive,
                     .group = group,
                     .vertex = f->vertex,
                     .influence = f->influence,
                     .triangles = group->triangles + f->triangle };
    memcpy(group->source_positions + 3 * (size_t)f->vertex, primitive->positions,
           3 * (size_t)primitive->vertex_count * sizeof(float));
    if (primitive->topology == CUTIS_TOPOLOGY_TRIANGLES) {
        cutis_device_run_items(f->device, triangle_task, &job, primitive->index_count / 3,
                               TASK_VERTICES);
        f->triangle += primitive->index_count / 3 * 3;
    }
    cutis_device_run_items(f->device, clean_task, &job, primitive->vertex_count, TASK_VERTICES);
    if (!job.mixed) {
        f->vertex += primitive->vertex_count;
        f->influence += primitive->influences.first[primitive->vertex_count];
        return CUTIS_OK;
    }
    fill_all(f, &job, false);
    for (uint32_t v = 0; v < primitive->vertex_count; v++) {
        uint32_t count = group->first[f->vertex + 1];
        if (count == 0) {
            if (!f->repair)
                return cutis_fail(cutis_model_context(f->model), CUTIS_INVALID_ARGUMENT,
                                  "meshes/%u/primitives/%u: vertex %u has no weight; repair it "
                                  "(--fix) to let it follow the skin's first joint",
                                  mesh, p, v);
            f->repaired++;
            count = 1;
        }
        f->influence += count;
        group->first[++f->vertex] = f->influence;
    }
    fill_all(f, &job, true);
    return CUTIS_OK;
}

static bool same_weights(const cutis_reduce_group *group, uint32_t a, uint32_t b)
{
    const uint32_t *first = group->first, count = first[a + 1] - first[a];
    if (first[b + 1] - first[b] != count) return false;
    return memcmp(group->control + first[a], group->control + first[b],
                  count * sizeof *group->control) == 0 &&
           memcmp(group->weight + first[a], group->weight + first[b],
                  count * sizeof *group->weight) == 0;
}

// Weld by position first; copies whose weights differ stay apart, each with those that share its
// own. `next` links the different ones of a place.
static cutis_result weld_units(cutis_context *context, cutis_device *device,
                               cutis_reduce_group *group)
{
    const uint32_t count = group->source_count;
    cutis_arena own = { .context = context };
    uint32_t *place = cutis_arena_alloc(&own, count, sizeof *place);
    uint32_t *next = cutis_arena_alloc(&own, count, sizeof *next);
    cutis_result result = place && next ? CUTIS_OK : cutis_alloc_result(context);
    if (result == CUTIS_OK)
        result = cutis_weld_positions_on(context, device, count, group->source_positions, place);
    for (uint32_t v = 0; v < count && result == CUTIS_OK; v++) {
        uint32_t other = place[v], last = v;
        next[v] = UINT32_MAX;
        while (other != UINT32_MAX && other < v && !same_weights(group, other, v)) {
            last = other;
            other = next[other];
        }
        if (other != UINT32_MAX && other < v) {
            group->unit[v] = group->unit[other];
            continue;
        }
        if (last != v) next[last] = v;
        group->unit[v] = group->unit_count++;
    }
    cutis_arena_release(&own);
    return result;
}

// Influences and positions of the units: those of their first source vertex. Lists move up within
// the same arrays; a unit never comes after its source.
static void keep_units(cutis_reduce_group *group)
{
    uint32_t unit = 0, used = 0;
    for (uint32_t v = 0; v < group->source_count; v++) {
        const uint32_t begin = group->first[v], count = group->first[v + 1] - begin;
        if (group->unit[v] != unit) continue;
        for (int c = 0; c < 3; c++)
            group->positions[3 * (size_t)unit + c] = group->source_positions[3 * (size_t)v + c];
        group->first[unit++] = used;
        if (used != begin) {
            memmove(group->control + used, group->control + begin, count * sizeof *group->control);
            memmove(group->weight + used, group->weight + begin, count * sizeof *group->weight);
        }
        used += count;
    }
    group->first[unit] = used;
}

// All vertices are units of their own: only positions are wanted.
static void position_task(void *data, uint32_t index)
{
    cutis_reduce_group *group = data;
    const size_t count = 3 * (size_t)group->source_count;
    size_t i = 3 * (size_t)TASK_VERTICES * index;
    for (size_t end = i + 3 * (size_t)TASK_VERTICES; i < end && i < count; i++)
        group->positions[i] = group->source_positions[i];
}

static void weld_task(void *data, uint32_t index)
{
    cutis_reduce_group *group = data;
    const size_t corners = 3 * (size_t)group->triangle_count;
    size_t i = 3 * (size_t)TASK_VERTICES * index;
    for (size_t end = i + 3 * (size_t)TASK_VERTICES; i < end && i < corners; i++)
        group->welded[i] = group->unit[group->triangles[i]];
}

static bool build_mesh(cutis_device *device, cutis_arena *arena, cutis_reduce_group *group)
{
    group->welded = cutis_arena_alloc(arena, group->triangle_count, 3 * sizeof *group->welded);
    if (!group->welded) return false;
    cutis_device_run_items(device, weld_task, group, group->triangle_count, TASK_VERTICES);
    return cutis_reduce_mesh_create(device, arena, group->unit_count, group->positions,
                                    group->triangle_count, group->welded, &group->mesh);
}

static bool alloc_group(cutis_arena *arena, size_t influences, cutis_reduce_group *group)
{
    const size_t count = group->source_count;
    group->unit = cutis_arena_alloc(arena, count, sizeof *group->unit);
    group->source_positions = cutis_arena_alloc(arena, count, 3 * sizeof(float));
    group->triangles = cutis_arena_alloc(arena, group->triangle_count, 3 * sizeof(uint32_t));
    group->positions = cutis_arena_alloc(arena, count, 3 * sizeof(double));
    group->first = cutis_arena_alloc(arena, count + 1, sizeof *group->first);
    group->control = cutis_arena_alloc(arena, influences, sizeof *group->control);
    group->weight = cutis_arena_alloc(arena, influences, sizeof *group->weight);
    return group->unit && group->source_positions && group->triangles && group->positions &&
           group->first && group->control && group->weight;
}

static cutis_result build_group(filler *f, const int32_t *mesh_group, int32_t index,
                                cutis_arena *arena)
{
    const cutis_model_data *data = cutis_model_get(f->model);
    cutis_context *context = arena->context;
    cutis_reduce_group *group = f->group;
    size_t influences = 0;
    bool fits = true;
    for (uint32_t m = 0; m < data->mesh_count; m++)
        for (uint32_t p = 0; mesh_group[m] == index && p < data->meshes[m].primitive_count; p++)
            fits &= count_primitive(&data->meshes[m].primitives[p], group, &influences);
    if (!fits)
        return cutis_fail(context, CUTIS_LIMIT_EXCEEDED, "skins/%u: too many influences to reduce",
                          group->skin);
    if (!alloc_group(arena, influences, group)) return cutis_alloc_result(context);
    f->vertex = f->influence = f->triangle = 0;
    group->first[0] = 0;
    for (uint32_t m = 0; m < data->mesh_count; m++)
        for (uint32_t p = 0; mesh_group[m] == index && p < data->meshes[m].primitive_count; p++)
            TRY(fill_primitive(f, m, p));
    TRY(weld_units(context, f->device, group));
    if (group->unit_count == group->source_count)
        cutis_device_run_items(f->device, position_task, group, group->source_count, TASK_VERTICES);
    else
        keep_units(group);
    return build_mesh(f->device, arena, group) ? CUTIS_OK : cutis_alloc_result(context);
}

// Skins that some mesh is fitted with, in order of their index.
static bool number_groups(const cutis_model *model, cutis_arena *arena, cutis_reduce_groups *out)
{
    const cutis_model_data *data = cutis_model_get(model);
    int32_t *skin_group = cutis_arena_alloc(arena, data->skin_count, sizeof *skin_group);
    out->mesh_group = cutis_arena_alloc(arena, data->mesh_count, sizeof *out->mesh_group);
    if (!skin_group || !out->mesh_group) return false;
    cutis_handles_mesh_skins(model, out->mesh_group);
    for (uint32_t s = 0; s < data->skin_count; s++) skin_group[s] = -1;
    for (uint32_t m = 0; m < data->mesh_count; m++)
        if (out->mesh_group[m] != CUTIS_NONE) skin_group[out->mesh_group[m]] = 0;
    for (uint32_t s = 0; s < data->skin_count; s++)
        if (skin_group[s] == 0) skin_group[s] = (int32_t)out->count++;
    out->group = cutis_arena_alloc(arena, out->count, sizeof *out->group);
    if (!out->group) return false;
    for (uint32_t s = 0; s < data->skin_count; s++)
        if (skin_group[s] >= 0) out->group[skin_group[s]] = (cutis_reduce_group){ .skin = s };
    for (uint32_t m = 0; m < data->mesh_count; m++)
        if (out->mesh_group[m] != CUTIS_NONE) out->mesh_group[m] = skin_group[out->mesh_group[m]];
    return true;
}

cutis_result cutis_reduce_groups_create(const cutis_model *model, cutis_device *device, bool repair,
                                        cutis_arena *arena, cutis_reduce_groups *out)
{
    *out = (cutis_reduce_groups){ 0 };
    if (!number_groups(model, arena, out)) return cutis_alloc_result(arena->context);
    filler f = { .model = model, .device = device, .repair = repair };
    f.list = cutis_arena_alloc(arena, cutis_vertex_longest(model), sizeof *f.list);
    if (!f.list) return cutis_alloc_result(arena->context);
    uint64_t vertices = 0;
    for (uint32_t g = 0; g < out->count; g++) {
        TRY(cutis_progress(arena->context, "reading weights", (double)g / out->count));
        f.group = &out->group[g];
        TRY(build_group(&f, out->mesh_group, (int32_t)g, arena));
        vertices += out->group[g].source_count;
    }
    out->repaired_count = f.repaired;
    if (vertices == 0)
        return cutis_fail(arena->context, CUTIS_INVALID_ARGUMENT,
                          "there is nothing to reduce: no mesh of the scene has a skin");
    return CUTIS_OK;
}

static bool apply_primitive(cutis_arena *arena, const cutis_reduce_group *group,
                            const cutis_reduce_weights *weights, uint32_t *source_first,
                            cutis_primitive *primitive)
{
    if (!primitive->influences.first) return true;
    const uint32_t *unit = group->unit + *source_first;
    size_t total = 0;
    for (uint32_t v = 0; v < primitive->vertex_count; v++)
        total += weights->first[unit[v] + 1] - weights->first[unit[v]];
    uint32_t *first = cutis_arena_alloc(arena, (size_t)primitive->vertex_count + 1, sizeof *first);
    uint32_t *joints = cutis_arena_alloc(arena, total, sizeof *joints), used = 0;
    float *values = cutis_arena_alloc(arena, total, sizeof *values);
    if (!first || !joints || !values) return false;
    for (uint32_t v = 0; v < primitive->vertex_count; v++) {
        first[v] = used;
        for (uint32_t i = weights->first[unit[v]]; i < weights->first[unit[v] + 1]; i++) {
            float weight = (float)weights->weight[i];
            if (!(weight > 0)) continue;
            joints[used] = weights->control[i];
            values[used++] = weight;
        }
    }
    first[primitive->vertex_count] = used;
    primitive->influences = (cutis_influences){ first, joints, values };
    *source_first += primitive->vertex_count;
    return true;
}

cutis_result cutis_reduce_apply(const cutis_model *model, const cutis_reduce_groups *groups,
                                const cutis_reduce_weights *weights, cutis_model **out)
{
    cutis_context *context = cutis_model_context(model);
    cutis_model_data data = *cutis_model_get(model);
    cutis_arena arena = { .context = context };
    cutis_mesh *meshes = cutis_arena_copy(&arena, data.meshes, data.mesh_count, sizeof *meshes);
    uint32_t *source_first = cutis_arena_zero(&arena, groups->count, sizeof *source_first);
    bool good = meshes && source_first;
    for (uint32_t m = 0; m < data.mesh_count && good; m++) {
        int32_t g = groups->mesh_group[m];
        if (g < 0) continue;
        cutis_primitive *primitives = cutis_arena_copy(
            &arena, meshes[m].primitives, meshes[m].primitive_count, sizeof *primitives);
        good = primitives != NULL;
        for (uint32_t p = 0; p < meshes[m].primitive_count && good; p++)
            good = apply_primitive(&arena, &groups->group[g], &weights[g], &source_first[g],
                                   &primitives[p]);
        meshes[m].primitives = primitives;
    }
    data.meshes = meshes;
    cutis_result result = good ? cutis_model_create(context, &data, CUTIS_GATE_REFUSE, out)
                               : cutis_alloc_result(context);
    cutis_arena_release(&arena);
    return result;
}
