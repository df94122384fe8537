// What linear blending, PSD and WPSD are off in examples that are left out: each in turn is taken
// away, weights are learned and poses interpolated without it as a fit without it would do, and its
// shape is compared. Of many examples stretches are left out. Invariant: a figure depends on model,
// examples and options alone; sums run in the order of the vertices.
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "base/error.h"
#include "device/device.h"
#include "fit/poses/fit.h"
#include "math/mat3.h"

#define GROUPS      32u ///< at most are left out
#define GROUPS_MANY 8u  ///< of more poses than this: the cube of their number is work for each
#define POSES_MANY  128u
#define VERTICES    400u ///< about as many are looked at, evenly taken; of many poses fewer
#define QUERIES     64u  ///< random poses that denominators are looked at
#define TASK        8u
// Poses cubed, times vertices and groups: some seconds.
static const double WORK = 3e9;

typedef struct out_sample {
    const cutis_fit_span *span;
    uint32_t vertex;
} out_sample;

typedef struct out_job {
    const cutis_fit_problem *trial; ///< fitted without the group
    const cutis_fit_poses *poses;   ///< NULL: linear blending alone
    const out_sample *samples;
    uint32_t sample_count, first, end; ///< examples first .. end - 1 are left out
    const uint8_t *out;                ///< per example: it, or another of its pose, is left out
    uint32_t count;                    ///< poses that are still there
    uint32_t *keep;                    ///< their numbers, ascending; 0 is rest
    cutis_pose_table table;            ///< of them
    const double *rows;   ///< per example left out: squares to each of them (pose, joint)
    const double *shares; ///< per example left out: PSD's weights
    const int32_t *place; ///< per node: joint of the space, or -1
    double *off;          ///< per sample, example left out and method: squares
    atomic_bool failed;
} out_job;

// Memory of one task.
typedef struct out_scratch {
    cutis_rbf rbf;
    double *fit, *g, *r, *d, *weight;
    uint32_t *joint;
} out_scratch;

static size_t scratch_bytes(const out_job *job)
{
    const size_t n = job->count, slots = job->trial->slots;
    return (cutis_rbf_scratch(job->count) + n * n + n + 2 * n + 3 * n + slots) * sizeof(double) +
           (n + slots) * sizeof(uint32_t);
}

static void divide(const out_job *job, double *memory, out_scratch *out)
{
    const size_t n = job->count;
    out->fit = memory;
    out->rbf.matrix = out->fit + cutis_rbf_scratch(job->count);
    out->rbf.sums = out->rbf.matrix + n * n;
    out->g = out->rbf.sums + n;
    out->r = out->g + n;
    out->d = out->r + n;
    out->weight = out->d + 3 * n;
    out->joint = (uint32_t *)(out->weight + job->trial->slots);
    out->rbf.cluster = out->joint + job->trial->slots;
    out->rbf.near = 0;
}

// Mean displacements of the poses that are still there, by examples that are.
static void load_displacements(const out_job *job, size_t vertex, double *d)
{
    const cutis_fit_problem *p = job->trial;
    memset(d, 0, 3 * (size_t)job->count * sizeof *d);
    for (uint32_t k = 1; k < job->count; k++) {
        uint32_t members = 0;
        for (uint32_t e = 0; e < p->examples->count; e++) {
            if (job->poses->pose_of[e] != job->keep[k] || job->out[e]) continue;
            members++;
            for (size_t c = 0; c < 3; c++)
                d[3 * k + c] += p->displacements[3 * (e * (size_t)p->vertex_count + vertex) + c];
        }
        for (size_t c = 0; c < 3; c++) d[3 * k + c] /= members;
    }
}

static void weigh(const double *r, const double *d, uint32_t count, double sign, double *out)
{
    for (size_t k = 0; k < count; k++)
        for (size_t c = 0; c < 3; c++) out[c] += sign * r[k] * d[3 * k + c];
}

// WPSD at a row of squares: the vertex's own interpolation, and what it misses in the very poses by
// PSD's weights (docs/spec/pose-space.md 5.3).
static void interpolate(const out_job *job, out_scratch *s, const cutis_joint_weights *weights,
                        const double *row, const double *shares, double *out)
{
    const size_t n = job->count, entries = n * job->table.joint_count;
    memset(out, 0, 3 * sizeof *out);
    cutis_rbf_distances(&job->table, weights, row, s->g);
    cutis_rbf_weights(&s->rbf, s->g, s->g, s->r);
    weigh(s->r, s->d, job->count, 1, out);
    if (s->rbf.cluster_count == n) return;
    weigh(shares, s->d, job->count, 1, out);
    for (size_t t = 0; t < n; t++) {
        cutis_rbf_distances(&job->table, weights, job->table.squares + t * entries, s->g);
        cutis_rbf_weights(&s->rbf, s->g, s->g, s->r);
        weigh(s->r, s->d, job->count, -shares[t], out);
    }
}

// Squares that a displacement leaves in an example.
static double square_off(const out_job *job, const out_sample *s, uint32_t e, const double *d)
{
    const cutis_fit_problem *p = job->trial;
    const size_t vertex = s->span->vertex_first + s->vertex;
    const size_t joints = p->data->skins[s->span->skin].joint_count;
    const double *palette = p->skins[s->span->skin].palettes + 12 * e * joints;
    const float *shape = p->examples->positions + 3 * (e * (size_t)p->vertex_count + vertex);
    double matrix[12], turn[9], rest[3], image[3], moved[3] = { 0 }, sum = 0;
    const double scale = cutis_fit_blend(palette, p->counts[vertex], p->joints + vertex * p->slots,
                                         p->weights + vertex * p->slots, matrix);
    for (size_t c = 0; c < 3; c++)
        rest[c] = s->span->primitive->positions[3 * (size_t)s->vertex + c] +
                  (p->options.after ? 0 : d[c]);
    double34_point(matrix, rest, image);
    if (p->options.after) {
        cutis_example_turn(palette, p->counts[vertex], p->joints + vertex * p->slots,
                           p->weights + vertex * p->slots, turn);
        double33_vector(turn, d, moved);
    }
    for (int c = 0; c < 3; c++) {
        const double off = image[c] + scale * moved[c] - shape[c];
        sum += off * off;
    }
    return sum;
}

static void try_sample(const out_job *job, const out_sample *s, out_scratch *scratch, double *off)
{
    static const double nothing[3] = { 0 };
    const cutis_fit_problem *p = job->trial;
    const size_t vertex = s->span->vertex_first + s->vertex, n = job->count;
    const cutis_skin *skin = &p->data->skins[s->span->skin];
    cutis_joint_weights weights = { 0, scratch->joint, scratch->weight };
    if (job->poses) {
        load_displacements(job, vertex, scratch->d);
        for (uint32_t i = 0; i < p->counts[vertex]; i++) {
            const int32_t at = job->place[skin->joints[p->joints[vertex * p->slots + i]]];
            if (at < 0) continue;
            scratch->joint[weights.count] = (uint32_t)at;
            scratch->weight[weights.count++] = p->weights[vertex * p->slots + i];
        }
        cutis_rbf_fit(&job->table, &weights, p->options.kernel == CUTIS_POSE_GAUSSIAN,
                      p->options.sigma, scratch->fit, &scratch->rbf);
    }
    for (uint32_t e = job->first; e < job->end; e++, off += 3) {
        double d[3] = { 0 };
        off[0] = square_off(job, s, e, nothing);
        if (!job->poses) continue;
        const double *shares = job->shares + (e - job->first) * n;
        weigh(shares, scratch->d, job->count, 1, d);
        off[1] = square_off(job, s, e, d);
        interpolate(job, scratch, &weights,
                    job->rows + (e - job->first) * n * job->table.joint_count, shares, d);
        off[2] = square_off(job, s, e, d);
    }
}

static void run_task(void *data, uint32_t index)
{
    out_job *job = data;
    out_scratch scratch = { 0 };
    cutis_context *context = job->trial->context;
    const size_t bytes = scratch_bytes(job);
    double *memory = cutis_alloc_array(context, bytes, 1);
    if (!memory) {
        atomic_store(&job->failed, true);
        return;
    }
    divide(job, memory, &scratch);
    for (uint32_t i = index * TASK; i < (index + 1) * TASK && i < job->sample_count; i++)
        try_sample(job, &job->samples[i], &scratch,
                   job->off + 3 * (size_t)i * (job->end - job->first));
    cutis_free_array(context, memory, bytes, 1);
}

// Squares of some poses to those that are kept.
static void pick_rows(const cutis_pose_table *all, const double *row, const out_job *job,
                      double *to)
{
    for (uint32_t k = 0; k < job->count; k++)
        memcpy(to + (size_t)k * all->joint_count, row + (size_t)job->keep[k] * all->joint_count,
               all->joint_count * sizeof *to);
}

// The poses that are still there without the group, their table, and PSD's weights.
static bool pick_poses(const cutis_pose_table *all, cutis_arena *arena, out_job *job)
{
    const cutis_fit_problem *p = job->trial;
    const size_t joints = all->joint_count, own = (size_t)all->pose_count * joints;
    job->keep = cutis_arena_zero(arena, all->pose_count, sizeof *job->keep);
    if (!job->keep) return false;
    job->count = 1;
    for (uint32_t k = 1; k < all->pose_count; k++)
        for (uint32_t e = 0; e < p->examples->count; e++)
            if (job->poses->pose_of[e] == k && !job->out[e]) {
                job->keep[job->count++] = k;
                break;
            }
    const size_t n = job->count, left = job->end - job->first, entries = n * joints;
    const uint32_t queries = all->query_count < QUERIES ? all->query_count : QUERIES;
    double *squares = cutis_arena_alloc(arena, n, entries * sizeof *squares);
    double *query = cutis_arena_alloc(arena, queries, entries * sizeof *query);
    double *rows = cutis_arena_alloc(arena, left, entries * sizeof *rows);
    double *shares = cutis_arena_alloc(arena, left, n * sizeof *shares);
    double *fit = cutis_arena_alloc(arena, cutis_rbf_scratch(job->count) + n, sizeof *fit);
    cutis_rbf rbf = { .cluster = cutis_arena_alloc(arena, n, sizeof *rbf.cluster),
                      .matrix = cutis_arena_alloc(arena, n, n * sizeof(double)),
                      .sums = cutis_arena_alloc(arena, n, sizeof(double)) };
    if (!squares || !query || !rows || !shares || !fit || !rbf.cluster || !rbf.matrix || !rbf.sums)
        return false;
    for (size_t k = 0; k < n; k++)
        pick_rows(all, all->squares + job->keep[k] * own, job, squares + k * entries);
    for (uint32_t q = 0; q < queries; q++)
        pick_rows(all, all->query_squares + q * own, job, query + q * entries);
    job->table = (cutis_pose_table){ job->count, all->joint_count, squares, queries, query };
    cutis_rbf_fit(&job->table, &(cutis_joint_weights){ 0 },
                  p->options.kernel == CUTIS_POSE_GAUSSIAN, p->options.sigma, fit, &rbf);
    for (uint32_t e = job->first; e < job->end; e++) {
        double *g = fit, *row = rows + (e - job->first) * entries;
        pick_rows(all, all->squares + job->poses->pose_of[e] * own, job, row);
        cutis_rbf_distances(&job->table, &(cutis_joint_weights){ 0 }, row, g);
        cutis_rbf_weights(&rbf, g, g, shares + (e - job->first) * n);
    }
    job->rows = rows, job->shares = shares;
    return true;
}

// The examples of a group, and others of their poses, which would tell the answer.
static uint8_t *mark_out(const cutis_fit_problem *p, const uint32_t *pose_of, const out_job *job,
                         cutis_arena *arena)
{
    uint8_t *out = cutis_arena_zero(arena, p->examples->count, 1);
    for (uint32_t e = 0; e < p->examples->count && out; e++)
        for (uint32_t left = job->first; left < job->end; left++)
            out[e] = out[e] || e == left || (pose_of[e] && pose_of[e] == pose_of[left]);
    return out;
}

// Fit the samples without a group, and add what is off in it.
static cutis_result try_group(cutis_fit_problem *p, const cutis_pose_table *all,
                              const uint32_t *pose_of, out_job *job, uint32_t stride)
{
    const uint32_t count = p->examples->count, left = job->end - job->first;
    cutis_arena arena = { .context = p->context };
    cutis_fit_problem trial = *p;
    uint32_t *use = cutis_arena_alloc(&arena, count, sizeof *use);
    job->off = cutis_arena_zero(&arena, (size_t)job->sample_count * left, 3 * sizeof *job->off);
    job->out = mark_out(p, pose_of, job, &arena);
    cutis_result result = use && job->off && job->out ? CUTIS_OK : cutis_alloc_result(p->context);
    if (p->options.learn_weights && result == CUTIS_OK) {
        trial.arena = &arena;
        trial.example_normals = trial.normal_displacements = NULL;
        trial.stride = stride;
        trial.use = use;
        for (uint32_t e = 0; e < count; e++)
            if (!job->out[e]) use[trial.use_count++] = e;
        result = cutis_fit_vertices(&trial);
    }
    job->trial = &trial;
    job->count = 1;
    if (result == CUTIS_OK && job->poses && !pick_poses(all, &arena, job))
        result = cutis_alloc_result(p->context);
    if (result == CUTIS_OK)
        cutis_device_run(p->device, run_task, job, (job->sample_count + TASK - 1) / TASK);
    if (result == CUTIS_OK && atomic_load(&job->failed))
        result = cutis_fail(p->context, CUTIS_OUT_OF_MEMORY, "fit: no memory for a task");
    for (size_t i = 0; i < job->sample_count && result == CUTIS_OK; i++)
        for (uint32_t e = job->first; e < job->end; e++)
            for (size_t m = 0; m < 3; m++)
                p->one_out[m][e] += job->off[3 * (i * left + e - job->first) + m];
    cutis_arena_release(&arena);
    return result;
}

// Vertices that are looked at, and how many groups.
static out_sample *list_samples(cutis_fit_problem *p, uint32_t poses, uint32_t *stride,
                                uint32_t *count)
{
    const double n = poses, cube = n * n * n;
    p->one_out_groups = poses > POSES_MANY ? GROUPS_MANY : GROUPS;
    if (p->examples->count < p->one_out_groups) p->one_out_groups = p->examples->count;
    const double most = fmin(VERTICES, fmax(16, WORK / (cube * p->one_out_groups)));
    *stride = (uint32_t)(p->vertex_count / most) + 1;
    *count = 0;
    for (uint32_t s = 0; s < p->span_count; s++)
        *count += (p->spans[s].primitive->vertex_count + *stride - 1) / *stride;
    out_sample *list = cutis_arena_alloc(p->arena, *count, sizeof *list), *to = list;
    for (uint32_t s = 0; s < p->span_count && list; s++)
        for (uint32_t v = 0; v < p->spans[s].primitive->vertex_count; v += *stride)
            *to++ = (out_sample){ &p->spans[s], v };
    return list;
}

cutis_result cutis_fit_left_out(cutis_fit_problem *p, const cutis_fit_poses *poses)
{
    const uint32_t count = p->examples->count;
    cutis_pose_measure measure;
    cutis_pose_table all = { 0 };
    out_job job = { .poses = p->displacements ? poses : NULL };
    uint32_t stride;
    if (count < 2) return CUTIS_OK;
    int32_t *place = cutis_arena_alloc(p->arena, p->data->node_count, sizeof *place);
    job.samples = list_samples(p, poses->space.pose_count, &stride, &job.sample_count);
    for (int m = 0; m < 3; m++) p->one_out[m] = cutis_arena_zero(p->arena, count, sizeof(double));
    if (!place || !job.samples || !p->one_out[0] || !p->one_out[1] || !p->one_out[2] ||
        (job.poses && (!cutis_pose_measure_create(p->model, &poses->space, p->arena, &measure) ||
                       !cutis_pose_table_create(&measure, p->arena, &all))))
        return cutis_alloc_result(p->context);
    for (uint32_t n = 0; n < p->data->node_count; n++) place[n] = -1;
    for (uint32_t j = 0; j < poses->space.joint_count; j++)
        place[poses->space.joints[j]] = (int32_t)j;
    job.place = place;
    atomic_init(&job.failed, false);
    for (uint32_t g = 0; g < p->one_out_groups; g++) {
        TRY(cutis_progress(p->context, "leaving out", (double)g / p->one_out_groups));
        job.first = job.end;
        while (job.end < count && (uint64_t)job.end * p->one_out_groups / count == g) job.end++;
        TRY(try_group(p, &all, poses->pose_of, &job, stride));
    }
    for (int m = 0; m < 3; m++)
        for (uint32_t e = 0; e < count; e++)
            p->one_out[m][e] = sqrt(p->one_out[m][e] / job.sample_count);
    p->one_out_vertices = job.sample_count;
    return CUTIS_OK;
}
