// Where helpers hang and where they turn. In a skeleton: below the joint whose vertices they share
// most, about the middle of what they move. Without one: a tree of bones by co-motion, a child
// turning about the point that it and its parent move alike. Invariant: parents come before
// children in `order`, and there is one root.
#include "fit/bake/job.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "math/cholesky.h"
#include "math/mat3.h"

// How strongly the point that two bones share is drawn to the vertices that they share: along a
// hinge nothing else says where it is.
static const double DRAWN = 1e-3;
// A world matrix may be this far from a scaled rotation, and its scale from that of rest.
static const double SCALED = 1e-4;

void cutis_bake_matrix(const double *track, size_t stride, size_t frame, double *out)
{
    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < 4; j++) out[4 * i + j] = track[(3 * j + i) * stride + frame];
}

// In a skeleton ---------------------------------------------------------------------------------

// The scale of a matrix that is a scaled rotation; 0 for others, mirror images among them.
static double scale_of(const float *m)
{
    double square[3], across = 0, whole[12], linear[9];
    double34_from_floats(m, whole);
    double34_linear(whole, linear);
    if (!(double33_determinant(linear) > 0)) return 0;
    for (int a = 0; a < 3; a++) {
        square[a] = 0;
        for (int r = 0; r < 3; r++) square[a] += (double)m[4 * r + a] * m[4 * r + a];
    }
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < a; b++) {
            double sum = 0;
            for (int r = 0; r < 3; r++) sum += (double)m[4 * r + a] * m[4 * r + b];
            across = fmax(across, fabs(sum));
        }
    const double mean = (square[0] + square[1] + square[2]) / 3;
    for (int a = 0; a < 3; a++) across = fmax(across, fabs(square[a] - mean));
    return mean > 0 && across <= SCALED * mean ? sqrt(mean) : 0;
}

// Can something rigid hang there, with a scale that never changes?
static bool carries(const cutis_bake_job *job, uint32_t node)
{
    const double rest = scale_of(job->rest_world[node].m);
    if (!(rest > 0)) return false;
    for (uint32_t f = 0; f < (job->frames->poses ? job->frames->count : 0); f++) {
        const double now = scale_of(job->world[(size_t)f * job->data->node_count + node].m);
        if (!(fabs(now - rest) <= SCALED * rest)) return false;
    }
    return true;
}

static cutis_result hang_in_skeleton(cutis_bake_job *job)
{
    const cutis_bake_solution *s = &job->solution;
    const uint32_t slots = job->problem.influences;
    double *shared = cutis_arena_alloc(job->arena, job->joint_count, sizeof *shared);
    if (!shared) return cutis_alloc_result(job->context);
    for (uint32_t h = 0; h < s->helper_count; h++) {
        memset(shared, 0, job->joint_count * sizeof *shared);
        for (uint32_t i = 0; i < job->point_count; i++)
            for (uint32_t k = 0; k < s->count[i]; k++)
                if (s->bone[(size_t)i * slots + k] == job->joint_count + h)
                    for (uint32_t j = job->first[i]; j < job->first[i + 1]; j++)
                        shared[job->joint[j]] +=
                            job->mass[i] * job->weight[j] * s->weight[(size_t)i * slots + k];
        uint32_t best = 0;
        for (uint32_t j = 1; j < job->joint_count; j++)
            if (shared[j] > shared[best]) best = j;
        job->parent_bone[h] = best;
        int32_t node = (int32_t)job->bone_node[best];
        while (node != CUTIS_NONE && !carries(job, (uint32_t)node))
            node = job->data->nodes[node].parent;
        job->parent[h] = node;
        job->order[h] = h;
    }
    return CUTIS_OK;
}

// From nothing ----------------------------------------------------------------------------------

typedef struct link {
    double cost, place[3];
} link;

// The point that two bones move alike, and how well they do.
static link link_of(const cutis_bake_job *job, uint32_t a, uint32_t b)
{
    const cutis_bake_solution *s = &job->solution;
    const cutis_bake_part *part = &job->learned;
    const uint32_t slots = job->problem.influences;
    double shared = 0, middle[3] = { 0 }, m[9] = { 0 }, rhs[3] = { 0 }, error = 0;
    for (uint32_t i = 0; i < job->point_count; i++) {
        double w[2] = { 0, 0 };
        for (uint32_t k = 0; k < s->count[i]; k++) {
            if (s->bone[(size_t)i * slots + k] == a) w[0] = s->weight[(size_t)i * slots + k];
            if (s->bone[(size_t)i * slots + k] == b) w[1] = s->weight[(size_t)i * slots + k];
        }
        const double by = job->mass[i] * w[0] * w[1];
        shared += by;
        for (int c = 0; c < 3; c++) middle[c] += by * job->positions[3 * (size_t)i + (size_t)c];
    }
    for (int c = 0; c < 3; c++)
        middle[c] = shared > 0
                        ? middle[c] / shared
                        : 0.5 * (job->pivot[3 * a + (size_t)c] + job->pivot[3 * b + (size_t)c]);
    for (int pass = 0; pass < 2; pass++) { // the point, then what is left there
        double x[3] = { rhs[0], rhs[1], rhs[2] };
        for (uint32_t f = 0; f < part->count; f++) {
            double p[12], q[12], d[12];
            cutis_bake_matrix(part->helpers + a * 12 * part->stride, part->stride, f, p);
            cutis_bake_matrix(part->helpers + b * 12 * part->stride, part->stride, f, q);
            for (int k = 0; k < 12; k++) d[k] = p[k] - q[k];
            for (int i = 0; i < 3 && pass == 0; i++)
                for (int j = 0; j < 3; j++) {
                    for (int r = 0; r < 3; r++) m[3 * i + j] += d[4 * r + i] * d[4 * r + j];
                    if (j == 0)
                        for (int r = 0; r < 3; r++) rhs[i] -= d[4 * r + i] * d[4 * r + 3];
                }
            double off[3];
            double34_point(d, x, off);
            if (pass == 1) error += double3_dot(off, off);
        }
        if (pass == 1) break;
        const double drawn = DRAWN * (m[0] + m[4] + m[8]) + 1e-12 * part->count;
        for (int i = 0; i < 3; i++) m[4 * i] += drawn, rhs[i] += drawn * middle[i];
        if (cutis_cholesky_factor(3, m))
            cutis_cholesky_solve(3, m, rhs);
        else
            memcpy(rhs, middle, sizeof middle);
        const double off[3] = { rhs[0] - middle[0], rhs[1] - middle[1], rhs[2] - middle[2] };
        if (!(double3_dot(off, off) < job->diagonal * job->diagonal))
            memcpy(rhs, middle, sizeof middle);
    }
    link out = { .place = { rhs[0], rhs[1], rhs[2] } };
    const double gap[3] = { job->pivot[3 * a] - job->pivot[3 * b],
                            job->pivot[3 * a + 1] - job->pivot[3 * b + 1],
                            job->pivot[3 * a + 2] - job->pivot[3 * b + 2] };
    out.cost = sqrt(error / part->count);
    // Bones that share no vertex are linked only if nothing else is.
    if (!(shared > 0)) out.cost += job->diagonal + sqrt(double3_dot(gap, gap));
    return out;
}

typedef struct link_job {
    const cutis_bake_job *job;
    link *links; ///< [count][count], a > b
} link_job;

static void link_task(void *data, uint32_t a)
{
    const link_job *l = data;
    const uint32_t n = l->job->solution.helper_count;
    for (uint32_t b = 0; b < a; b++)
        l->links[(size_t)a * n + b] = l->links[(size_t)b * n + a] = link_of(l->job, a, b);
}

// The least tree (Prim), from the bone with most weight.
static cutis_result grow_tree(cutis_bake_job *job)
{
    const cutis_bake_solution *s = &job->solution;
    const uint32_t n = s->helper_count, slots = job->problem.influences;
    link_job l = { job, cutis_arena_zero(job->arena, (size_t)n * n, sizeof *l.links) };
    double *sum = cutis_arena_zero(job->arena, n, sizeof *sum);
    uint8_t *placed = cutis_arena_zero(job->arena, n, 1);
    if (!l.links || !sum || !placed) return cutis_alloc_result(job->context);
    cutis_device_run(job->device, link_task, &l, n);
    for (uint32_t i = 0; i < job->point_count; i++)
        for (uint32_t k = 0; k < s->count[i]; k++)
            sum[s->bone[(size_t)i * slots + k]] += job->mass[i] * s->weight[(size_t)i * slots + k];
    uint32_t root = 0;
    for (uint32_t h = 1; h < n; h++)
        if (sum[h] > sum[root]) root = h;
    job->parent[root] = CUTIS_NONE, job->order[root] = 0, placed[root] = 1;
    for (uint32_t k = 1; k < n; k++) {
        uint32_t from = UINT32_MAX, to = UINT32_MAX;
        for (uint32_t a = 0; a < n; a++)
            for (uint32_t b = 0; b < n && placed[a]; b++)
                if (!placed[b] && (to == UINT32_MAX || l.links[(size_t)a * n + b].cost <
                                                           l.links[(size_t)from * n + to].cost))
                    from = a, to = b;
        job->parent[to] = (int32_t)from, job->order[to] = k, placed[to] = 1;
        memcpy(job->pivot + 3 * (size_t)to, l.links[(size_t)from * n + to].place,
               3 * sizeof(double));
    }
    return CUTIS_OK;
}

cutis_result cutis_bake_parents(cutis_bake_job *job)
{
    const size_t n = job->solution.helper_count + (size_t)1;
    job->parent = cutis_arena_zero(job->arena, n, sizeof *job->parent);
    job->parent_bone = cutis_arena_zero(job->arena, n, sizeof *job->parent_bone);
    job->order = cutis_arena_zero(job->arena, n, sizeof *job->order);
    job->pivot = cutis_arena_zero(job->arena, n, 3 * sizeof *job->pivot);
    if (!job->parent || !job->parent_bone || !job->order || !job->pivot)
        return cutis_alloc_result(job->context);
    const cutis_bake_solution *s = &job->solution;
    cutis_bake_middles(&job->problem, s->helper_count, s->count, s->bone, s->weight, job->pivot);
    if (job->solution.helper_count == 0) return CUTIS_OK;
    return job->bare ? grow_tree(job) : hang_in_skeleton(job);
}
