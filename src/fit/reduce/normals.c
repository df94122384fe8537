// The energy of tilted normals (kernel/reduce_tilts.h): the fans that normals are made of, records
// of the vertices, and what sweeps need. Colours of distance 2: an update reads and writes its
// neighbours' tilts.
#include <string.h>

#include "base/error.h"
#include "fit/reduce/run.h"

// Weight of the gradient energy, in tilts of normals: the best of 0.001, 0.01, 0.1 on MakeHuman
// with face units; a tenth and ten times this are 1 and 6 % worse (docs/benchmarks.md).
static const double GRADIENT_SHARE = 0.01;
enum { TASK_TRIANGLES = 1024 };

typedef struct fan_job {
    const cutis_reduce_mesh *mesh;
    const cutis_reduce_surface *surface;
    uint8_t *used;             ///< per triangle
    uint32_t *fan_first, *fan; ///< vertex_count + 2 (the last is spare); 2 per corner
} fan_job;

static bool has_edge(const cutis_reduce_mesh *mesh, uint32_t from, uint32_t to)
{
    for (uint32_t i = mesh->first[from]; i < mesh->first[from + 1]; i++)
        if (mesh->neighbour[i] == to) return true;
    return false;
}

// Triangles that the mesh has left out (no shape) are left out here too: colours keep vertices
// apart along the mesh's edges only.
static void use_task(void *data, uint32_t index)
{
    const fan_job *job = data;
    uint32_t t = index * TASK_TRIANGLES;
    for (uint32_t end = t + TASK_TRIANGLES; t < end && t < job->surface->triangle_count; t++) {
        const uint32_t *corner = job->surface->triangles + 3 * (size_t)t;
        job->used[t] = true;
        for (int k = 0; k < 3; k++)
            job->used[t] &= has_edge(job->mesh, corner[k], corner[(k + 1) % 3]);
    }
}

static void fill_fans(const fan_job *job)
{
    const uint32_t vertices = job->mesh->vertex_count, triangles = job->surface->triangle_count;
    memset(job->fan_first, 0, ((size_t)vertices + 2) * sizeof *job->fan_first);
    for (uint32_t i = 0; i < triangles; i++)
        for (int k = 0; k < 3 && job->used[i]; k++)
            job->fan_first[job->surface->triangles[3 * (size_t)i + k] + 2]++;
    for (uint32_t v = 0; v < vertices; v++) job->fan_first[v + 2] += job->fan_first[v + 1];
    for (uint32_t i = 0; i < triangles; i++) {
        const uint32_t *corner = job->surface->triangles + 3 * (size_t)i;
        for (int k = 0; k < 3 && job->used[i]; k++) {
            uint32_t *fan = job->fan + 2 * (size_t)job->fan_first[corner[k] + 1]++;
            fan[0] = corner[(k + 1) % 3];
            fan[1] = corner[(k + 2) % 3];
        }
    }
}

static cutis_result make_fans(cutis_reduce_run *run, const cutis_reduce_surface *surface)
{
    const cutis_reduce_problem *p = run->problem;
    const size_t vertices = p->mesh->vertex_count, columns = p->column_count;
    cutis_arena *arena = &run->arena;
    fan_job job = { .mesh = p->mesh, .surface = surface };
    double *weights = cutis_arena_alloc(arena, columns, sizeof *weights), area = 0;
    job.used = cutis_arena_alloc(arena, surface->triangle_count, sizeof *job.used);
    job.fan_first = cutis_arena_alloc(arena, vertices + 2, sizeof *job.fan_first);
    job.fan = cutis_arena_alloc(arena, surface->triangle_count, 6 * sizeof *job.fan);
    if (!weights || !job.used || !job.fan_first || !job.fan) return cutis_alloc_result(p->context);
    for (size_t j = 0; j < columns; j++)
        weights[j] = surface->column_weights ? surface->column_weights[j] : 1;
    cutis_device_run_items(run->device, use_task, &job, surface->triangle_count, TASK_TRIANGLES);
    fill_fans(&job);
    for (size_t v = 0; v < vertices; v++) area += p->mesh->area[v];
    run->share = vertices ? GRADIENT_SHARE * (double)vertices / area : 0;
    const cutis_reduce_array all[] = {
        { job.fan_first, vertices + 1, 4, &run->buffers.fan_first, false },
        { job.fan, 2 * (uint64_t)job.fan_first[vertices], 4, &run->buffers.fan, false },
        { weights, columns, 8, &run->buffers.pose_weights, false },
        { NULL, 8 * columns * vertices, 8, &run->buffers.record, false },
    };
    return CUTIS_REDUCE_MAKE(run, all);
}

cutis_result cutis_reduce_find_tilts(cutis_reduce_run *run, const cutis_reduce_surface *surface,
                                     double *energy)
{
    const uint32_t vertices = run->problem->mesh->vertex_count;
    TRY(make_fans(run, surface));
    TRY(CUTIS_REDUCE_LAUNCH(reduce_normal, REDUCE_NORMAL_BUFFERS, vertices));
    TRY(CUTIS_REDUCE_LAUNCH(reduce_tilt, REDUCE_TILT_BUFFERS, vertices));
    return cutis_reduce_sum(run, run->buffers.part, false, energy);
}

cutis_result cutis_reduce_prepare_normals(cutis_reduce_run *run,
                                          const cutis_reduce_surface *surface,
                                          const cutis_reduce_colours *colours, double *energy)
{
    double tilts, plain, gradient;
    TRY(cutis_reduce_store(run));
    TRY(cutis_reduce_lay_out(run, colours));
    TRY(cutis_reduce_find_tilts(run, surface, &tilts));
    TRY(cutis_reduce_find_energy(run, false, &plain, &gradient));
    *energy = tilts + run->share * plain;
    const uint32_t items = cutis_reduce_items(run, run->blocks.count);
    const cutis_reduce_array metric = { NULL,
                                        (uint64_t)run->blocks.count * run->problem->column_count,
                                        48 * REDUCE_BLOCK, &run->buffers.block_metric, false };
    TRY(cutis_reduce_make(run, &metric, 1));
    TRY(CUTIS_REDUCE_LAUNCH(reduce_metric, REDUCE_METRIC_BUFFERS, items, .share = run->share));
    TRY(CUTIS_REDUCE_LAUNCH(reduce_load, REDUCE_LOAD_BUFFERS, items));
    run->energy = CUTIS_REDUCE_NORMALS;
    return cutis_reduce_keep(run);
}
