// Normals of points, at rest and as they should point: a second thing that weights and joints are
// to explain (docs/spec/bake.md 2), so that what is lit moves no worse than before. A point of
// several vertices has the mean of theirs.
#include "fit/bake/job.h"

#include <math.h>

#include "base/error.h"
#include "math/mat3.h"
#include "model/validate.h"

// Joints whose matrices are this near to rotations turn.
static const double RIGID = 1e-3;

static void add_rest(const cutis_bake_job *job, uint32_t instance)
{
    const cutis_instance *shown = &job->instances[instance];
    const cutis_mesh *mesh = &job->data->meshes[shown->mesh];
    const double *m = job->bind[shown->skin];
    uint32_t at = shown->vertex_first;
    for (uint32_t k = 0; k < mesh->primitive_count; k++) {
        const cutis_primitive *p = &mesh->primitives[k];
        for (uint32_t v = 0; v < p->vertex_count; v++, at++) {
            if (!p->normals) continue;
            const float *from = p->normals + 3 * (size_t)v;
            const double n[3] = { (double)from[0], (double)from[1], (double)from[2] };
            double turned[3], square = 0;
            for (size_t c = 0; c < 3; c++) {
                turned[c] = m[4 * c] * n[0] + m[4 * c + 1] * n[1] + m[4 * c + 2] * n[2];
                square += turned[c] * turned[c];
            }
            double *to = job->normals + 3 * (size_t)job->vertex_point[at];
            for (size_t c = 0; c < 3 && square > 0; c++)
                to[c] += turned[c] / sqrt(square) / job->mass[job->vertex_point[at]];
        }
    }
}

// Whether all joints only turn: what scale does to normals is no blend of matrices.
static bool joints_turn(const cutis_bake_job *job)
{
    const cutis_bake_part *part = &job->learned;
    for (uint32_t b = 0; b < job->joint_count; b++)
        for (size_t f = 0; f < part->count; f++) {
            double m[12];
            cutis_bake_matrix(part->joints + b * 12 * part->stride, part->stride, f, m);
            for (size_t i = 0; i < 3; i++)
                for (size_t k = 0; k <= i; k++) {
                    const double dot = double3_dot(m + 4 * i, m + 4 * k);
                    if (fabs(dot - (i == k ? 1 : 0)) > RIGID) return false;
                }
        }
    return true;
}

enum { FRAMES = 16 }; ///< of a task: a line of memory

// What normals of some frames should be: means over the vertices of a point, in ascending order.
static void turns_task(void *data, uint32_t task)
{
    const cutis_bake_job *job = data;
    const cutis_bake_part *part = &job->learned;
    const size_t first = (size_t)task * FRAMES;
    const size_t end = first + FRAMES < part->stride ? first + FRAMES : part->stride;
    for (size_t row = 0; row < 3 * (size_t)job->point_count; row++)
        for (size_t f = first; f < end; f++) part->turns[row * part->stride + f] = 0;
    for (uint32_t v = 0; v < job->vertex_count; v++) {
        const uint32_t point = job->vertex_point[v];
        if (point == UINT32_MAX) continue;
        const double *n = job->normals + 3 * (size_t)point;
        if (n[0] == 0 && n[1] == 0 && n[2] == 0) continue;
        for (size_t f = first; f < end && f < part->count; f++) {
            const float *from =
                job->frames->normals + 3 * ((size_t)part->frame[f] * job->vertex_count + v);
            for (size_t c = 0; c < 3; c++)
                part->turns[(3 * (size_t)point + c) * part->stride + f] +=
                    (float)((double)from[c] / job->mass[point]);
        }
    }
}

cutis_result cutis_bake_gather_normals(cutis_bake_job *job)
{
    cutis_bake_part *part = &job->learned;
    if (!job->frames->normals || job->taken || job->bare || !joints_turn(job)) return CUTIS_OK;
    job->normals = cutis_arena_zero(job->arena, job->point_count, 3 * sizeof *job->normals);
    part->turns = cutis_arena_alloc(job->arena, (size_t)job->point_count * 3 * part->stride,
                                    sizeof *part->turns);
    if (!job->normals || !part->turns) return cutis_alloc_result(job->context);
    const size_t floats = 3 * (size_t)job->frames->count * job->vertex_count;
    if (cutis_first_not_finite(job->frames->normals, floats) < floats)
        return INVALID(job->context, "bake: a normal is not finite");
    for (uint32_t i = 0; i < job->instance_count; i++)
        if (job->baked[i]) add_rest(job, i);
    cutis_device_run_items(job->device, turns_task, job, (uint32_t)part->stride, FRAMES);
    return CUTIS_OK;
}
