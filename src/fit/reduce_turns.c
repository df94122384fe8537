// Turns of vertex normals by errors of the vertices around them. Invariant: `turn` is what the
// errors make of it; every change of an error goes through cutis_reduce_turns_move.
#include "fit/reduce_turns.h"

#include <string.h>

#include "fit/clones.h"
#include "fit/reduce_vertex.h"
//
#include "kernel/kernel.h"
//
#include "kernel/item.h"
//
#include "kernel/reduce_turns.h"

// Weight of the gradient energy, in turns of normals: the best of 0.001, 0.01, 0.1 on MakeHuman
// with face units; a tenth and ten times this are 1 and 6 % worse (docs/design/reduction.md).
static const double GRADIENT_SHARE = 0.01;
static bool has_edge(const cutis_reduce_mesh *mesh, uint32_t from, uint32_t to)
{
    for (uint32_t i = mesh->first[from]; i < mesh->first[from + 1]; i++)
        if (mesh->neighbour[i] == to) return true;
    return false;
}

// Triangles that the mesh has left out (no shape) are left out here too: colours keep vertices
// apart along the mesh's edges only.
static bool is_used(const cutis_reduce_mesh *mesh, const uint32_t *corner)
{
    for (int k = 0; k < 3; k++)
        if (!has_edge(mesh, corner[k], corner[(k + 1) % 3])) return false;
    return true;
}

typedef struct use_job {
    const cutis_reduce_mesh *mesh;
    const cutis_reduce_surface *surface;
    uint8_t *used; ///< per triangle
} use_job;

enum { TASK_TRIANGLES = 1024 };

static void use_task(void *data, uint32_t index)
{
    const use_job *job = data;
    uint32_t t = index * TASK_TRIANGLES;
    for (uint32_t end = t + TASK_TRIANGLES; t < end && t < job->surface->triangle_count; t++)
        job->used[t] = is_used(job->mesh, job->surface->triangles + 3 * (size_t)t);
}

static void fill_fans(cutis_reduce_turns *t, const cutis_reduce_surface *surface, uint8_t *used)
{
    const uint32_t vertices = t->problem->mesh->vertex_count, triangles = surface->triangle_count;
    use_job job = { t->problem->mesh, surface, used };
    cutis_device_run(t->problem->device, use_task, &job,
                     triangles / TASK_TRIANGLES + (triangles % TASK_TRIANGLES != 0));
    memset(t->fan_first, 0, ((size_t)vertices + 2) * sizeof *t->fan_first);
    for (uint32_t i = 0; i < triangles; i++)
        for (int k = 0; k < 3 && used[i]; k++)
            t->fan_first[surface->triangles[3 * (size_t)i + k] + 2]++;
    for (uint32_t v = 0; v < vertices; v++) t->fan_first[v + 2] += t->fan_first[v + 1];
    for (uint32_t i = 0; i < triangles; i++) {
        const uint32_t *corner = surface->triangles + 3 * (size_t)i;
        for (int k = 0; k < 3 && used[i]; k++) {
            uint32_t *fan = t->fan + 2 * (size_t)t->fan_first[corner[k] + 1]++;
            fan[0] = corner[(k + 1) % 3];
            fan[1] = corner[(k + 2) % 3];
        }
    }
}

bool cutis_reduce_turns_fans(const cutis_reduce_problem *problem,
                             const cutis_reduce_surface *surface, cutis_arena *arena,
                             cutis_reduce_turns *out)
{
    const size_t vertices = problem->mesh->vertex_count, columns = problem->column_count;
    double area = 0;
    for (size_t v = 0; v < vertices; v++) area += problem->mesh->area[v];
    *out = (cutis_reduce_turns){
        .problem = problem,
        .gradient = vertices ? GRADIENT_SHARE * (double)vertices / area : 0,
        .column_weights = cutis_arena_alloc(arena, columns, sizeof *out->column_weights),
        .fan_first = cutis_arena_alloc(arena, vertices + 2, sizeof *out->fan_first),
        .fan = cutis_arena_alloc(arena, surface->triangle_count, 6 * sizeof *out->fan),
    };
    uint8_t *used = cutis_arena_alloc(arena, surface->triangle_count, sizeof *used);
    if (!out->column_weights || !out->fan_first || !out->fan || !used) return false;
    for (size_t j = 0; j < columns; j++)
        out->column_weights[j] = surface->column_weights ? surface->column_weights[j] : 1;
    fill_fans(out, surface, used);
    return true;
}

bool cutis_reduce_turns_create(const cutis_reduce_problem *problem,
                               const cutis_reduce_surface *surface, cutis_arena *arena,
                               cutis_reduce_turns *out)
{
    if (!cutis_reduce_turns_fans(problem, surface, arena, out)) return false;
    out->record =
        cutis_arena_alloc(arena, problem->mesh->vertex_count,
                          TURN_RECORD_SIZE * (size_t)problem->column_count * sizeof *out->record);
    return out->record != NULL;
}

void cutis_reduce_turns_target(const cutis_reduce_turns *t, uint32_t v, double *scratch)
{
    const uint32_t n = t->problem->column_count;
    double *own = t->record + (size_t)v * TURN_RECORD_SIZE * n;
    cutis_reduce_target(t->problem, v, scratch);
    for (uint32_t j = 0; j < n; j++)
        for (uint32_t c = 0; c < 3; c++) own[c * n + j] = scratch[3 * j + c];
}

void cutis_reduce_turns_place(const cutis_reduce_turns *t, uint32_t v, double *target)
{
    const uint32_t n = t->problem->column_count;
    const double *own = t->record + (size_t)v * TURN_RECORD_SIZE * n;
    for (uint32_t j = 0; j < n; j++)
        for (uint32_t c = 0; c < 3; c++) target[3 * j + c] = own[c * n + j];
}

// Arguments that the text's functions share.
#define RING(t) (const int *)(t)->problem->mesh->first, (const int *)(t)->problem->mesh->neighbour
#define FANS(t) (const int *)(t)->fan_first, (const int *)(t)->fan, (int)(t)->problem->column_count

void cutis_reduce_turns_normal(const cutis_reduce_turns *t, uint32_t v)
{
    reduce_turn_normal(t->record, FANS(t), t->column_weights, t->problem->mesh->area[v], (int)v);
}

double cutis_reduce_turns_start(const cutis_reduce_turns *t, uint32_t v, const double *error,
                                double *scratch)
{
    const uint32_t n = t->problem->column_count;
    reduce_turn_start(t->record, FANS(t), error, (int)v, scratch);
    return reduce_turn_energy(t->record + (size_t)v * TURN_RECORD_SIZE * n, (int)n);
}

static double own_weight(const cutis_reduce_turns *t, uint32_t v)
{
    return t->gradient * (t->problem->mesh->diagonal[v] + cutis_reduce_anchor(t->problem, v));
}

CUTIS_FIT_CLONES
void cutis_reduce_turns_metric(const cutis_reduce_turns *t, uint32_t v, double *metric,
                               double *scratch)
{
    reduce_turn_metric(t->record, RING(t), FANS(t), own_weight(t, v), (int)v, metric, scratch);
}

CUTIS_FIT_CLONES
bool cutis_reduce_turns_force(const cutis_reduce_turns *t, uint32_t v, const double *error,
                              double *force, double *scratch)
{
    return reduce_turn_force(t->record, RING(t), t->problem->mesh->cotangent, FANS(t), error,
                             own_weight(t, v), t->gradient, (int)v, force, scratch);
}

CUTIS_FIT_CLONES
void cutis_reduce_turns_move(const cutis_reduce_turns *t, uint32_t v, const double *step,
                             double *scratch)
{
    reduce_turn_move(t->record, FANS(t), (int)v, step, scratch,
                     scratch + 3 * (size_t)t->problem->column_count);
}

void cutis_reduce_turns_fetch(const cutis_reduce_turns *t, uint32_t v)
{
    const cutis_reduce_mesh *mesh = t->problem->mesh;
    const size_t size = TURN_RECORD_SIZE * (size_t)t->problem->column_count;
    for (uint32_t i = mesh->first[v]; i < mesh->first[v + 1]; i++) {
        const double *record = t->record + mesh->neighbour[i] * size;
        for (size_t k = 0; k < size; k += TURN_RECORD_SIZE) __builtin_prefetch(record + k);
    }
}
