// Sampling of the handles' own supports. A task has a list of its own, and the lists are joined in
// the order of tasks: the same bits for any number of threads. Invariant: every vertex in the
// domain has at least one handle, because every voxel has one.
#include "fit/handles/virtual.h"

#include "base/error.h"
#include "fit/handles/text.h"

#define CHUNK 1024 ///< vertices a task

typedef struct entry {
    uint32_t handle;
    float weight;
} entry;

typedef struct part {
    cutis_arena arena;
    entry *entries;
    size_t count, capacity;
    bool good;
} part;

typedef struct spreading {
    cutis_context *context;
    const cutis_handles_grid *grid;
    const cutis_handles_virtual *virtual;
    const cutis_handles_shape *shape;
    uint32_t joint_count;
    uint32_t *holder_first, *holder; ///< per site: its joints
    uint32_t *lengths;               ///< per vertex
    double *sums;                    ///< per task and handle; all zero between vertices
    uint32_t *seen;                  ///< per task and handle
    part *parts;
} spreading;

static bool push(part *to, uint32_t handle, double weight)
{
    if (!((float)weight > 0)) return true;
    if (!cutis_arena_grow(&to->arena, &to->entries, &to->capacity, to->count + 1,
                          sizeof *to->entries))
        return false;
    to->entries[to->count++] = (entry){ handle, (float)weight };
    return true;
}

// Handles that reach the vertex, ascending in `seen`, with the B-splines of their values in `sums`.
static uint32_t gather(const spreading *s, uint32_t vertex, double *sums, uint32_t *seen,
                       double *total)
{
    handles_taps taps;
    double point[3];
    uint32_t count = 0;
    for (int c = 0; c < 3; c++) point[c] = s->shape->positions[3 * (size_t)vertex + c];
    cutis_handles_taps_at(s->grid, point, true, &taps);
    *total = 0;
    for (int t = 0; t < taps.count; t++) {
        const uint32_t v = taps.voxel[t];
        for (uint32_t e = s->virtual->list_first[v]; e < s->virtual->list_first[v + 1]; e++) {
            const uint32_t h = s->virtual->list_handle[e];
            const double value = taps.weight[t] * s->virtual->list_value[e];
            if (!(value > 0)) continue;
            if (sums[h] == 0) {
                uint32_t at = count++;
                for (; at > 0 && seen[at - 1] > h; at--) seen[at] = seen[at - 1];
                seen[at] = h;
            }
            sums[h] += value;
        }
    }
    for (uint32_t i = 0; i < count; i++) *total += sums[seen[i]];
    return count;
}

// Joints before virtual handles; the joints of all sites need sorting only where sites share.
static bool write_vertex(const spreading *s, uint32_t count, const uint32_t *seen,
                         const double *sums, double total, part *to)
{
    const uint32_t sites = s->virtual->site_count;
    const size_t begin = to->count;
    bool good = true;
    for (uint32_t i = 0; i < count && good; i++) {
        const uint32_t h = seen[i];
        const double weight = sums[h] / total;
        if (h >= sites) {
            good = push(to, s->joint_count + h - sites, weight);
            continue;
        }
        const uint32_t holders = s->holder_first[h + 1] - s->holder_first[h];
        for (uint32_t j = s->holder_first[h]; j < s->holder_first[h + 1] && good; j++)
            good = push(to, s->holder[j], weight / holders);
    }
    for (size_t i = begin + 1; i < to->count; i++)
        for (size_t j = i; j > begin && to->entries[j].handle < to->entries[j - 1].handle; j--) {
            const entry swap = to->entries[j];
            to->entries[j] = to->entries[j - 1], to->entries[j - 1] = swap;
        }
    return good;
}

static void spread_task(void *data, uint32_t task)
{
    spreading *s = data;
    part *to = &s->parts[task];
    const size_t all = (size_t)s->virtual->site_count + s->virtual->virtual_count;
    double *sums = s->sums + task * all, total;
    uint32_t *seen = s->seen + task * all, end = s->shape->vertex_count;
    if (end - task * CHUNK > CHUNK) end = (task + 1) * CHUNK;
    to->good = true;
    to->arena.context = s->context;
    for (uint32_t v = task * CHUNK; v < end && to->good; v++) {
        const size_t begin = to->count;
        uint32_t count = gather(s, v, sums, seen, &total);
        to->good = write_vertex(s, count, seen, sums, total, to);
        s->lengths[v] = (uint32_t)(to->count - begin);
        for (uint32_t i = 0; i < count; i++) sums[seen[i]] = 0;
    }
}

static bool list_holders(cutis_arena *scratch, const uint32_t *joint_site, spreading *s)
{
    const uint32_t sites = s->virtual->site_count;
    s->holder_first = cutis_arena_alloc(scratch, (size_t)sites + 1, sizeof *s->holder_first);
    s->holder = cutis_arena_alloc(scratch, s->joint_count, sizeof *s->holder);
    if (!s->holder_first || !s->holder) return false;
    uint32_t used = 0;
    for (uint32_t site = 0; site < sites; site++) {
        s->holder_first[site] = used;
        for (uint32_t j = 0; j < s->joint_count; j++)
            if (joint_site[j] == site) s->holder[used++] = j;
    }
    s->holder_first[sites] = used;
    return true;
}

static bool join(cutis_arena *arena, const spreading *s, uint32_t tasks, cutis_handles_spread *out)
{
    const uint32_t vertices = s->shape->vertex_count;
    size_t total = 0, at = 0;
    for (uint32_t t = 0; t < tasks; t++) total += s->parts[t].count;
    if (total > UINT32_MAX) return false;
    out->first = cutis_arena_alloc(arena, (size_t)vertices + 1, sizeof *out->first);
    out->handles = cutis_arena_alloc(arena, total, sizeof *out->handles);
    out->weights = cutis_arena_alloc(arena, total, sizeof *out->weights);
    if (!out->first || !out->handles || !out->weights) return false;
    out->first[0] = 0;
    for (uint32_t v = 0; v < vertices; v++) out->first[v + 1] = out->first[v] + s->lengths[v];
    for (const part *from = s->parts; from < s->parts + tasks; from++)
        for (size_t i = 0; i < from->count; i++, at++)
            out->handles[at] = from->entries[i].handle, out->weights[at] = from->entries[i].weight;
    return true;
}

cutis_result cutis_handles_spread_make(cutis_arena *arena, cutis_device *device,
                                       const cutis_handles_grid *grid,
                                       const cutis_handles_virtual *virtual,
                                       const cutis_handles_shape *shape, uint32_t joint_count,
                                       const uint32_t *joint_site, cutis_handles_spread *out)
{
    cutis_context *context = arena->context;
    cutis_arena scratch = { .context = context };
    const uint32_t tasks = (shape->vertex_count + CHUNK - 1) / CHUNK;
    const size_t all = (size_t) virtual->site_count + virtual->virtual_count;
    spreading s = { .context = context,
                    .grid = grid,
                    .virtual = virtual,
                    .shape = shape,
                    .joint_count = joint_count };
    s.lengths = cutis_arena_alloc(&scratch, shape->vertex_count, sizeof *s.lengths);
    s.sums = cutis_arena_zero(&scratch, tasks * all, sizeof *s.sums);
    s.seen = cutis_arena_alloc(&scratch, tasks * all, sizeof *s.seen);
    s.parts = cutis_arena_zero(&scratch, tasks, sizeof *s.parts);
    bool good = s.lengths && s.sums && s.seen && s.parts && list_holders(&scratch, joint_site, &s);
    if (good) {
        cutis_device_run(device, spread_task, &s, tasks);
        for (uint32_t t = 0; t < tasks; t++) good &= s.parts[t].good;
        good = good && join(arena, &s, tasks, out);
        for (uint32_t t = 0; t < tasks; t++) cutis_arena_release(&s.parts[t].arena);
    }
    cutis_arena_release(&scratch);
    return good ? CUTIS_OK : cutis_alloc_result(context);
}
