// What linear blending, PSD and WPSD are off in examples that are left out: poses are interpolated
// without them as a fit without them would do, and their shapes are compared. For the report each
// example in turn is taken away and weights are learned again; of many examples stretches are left
// out. Invariant: a figure depends on model, examples and options alone; sums run in the order of
// the vertices.
#include "fit/poses/left_out.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "base/error.h"
#include "device/device.h"
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
    cutis_fit_problem *problem;
    const cutis_out_group *group;
    const out_sample *samples;
    uint32_t sample_count;
    double *off; ///< per sample, example left out and method: squares
    atomic_bool failed;
} out_job;

// One vertex with its weights, and memory for it.
typedef struct out_work {
    const cutis_out_group *group;
    const cutis_fit_span *span;
    const cutis_out_weights *weights;
    size_t vertex; ///< in the outputs
    double rest[3];
    cutis_rbf rbf;
    double *fit, *g, *r, *d, *missed, *weight;
    uint32_t *joint, *members;
} out_work;

size_t cutis_out_scratch(const cutis_out_group *group, uint32_t weights)
{
    const size_t n = group->count;
    if (!group->space->poses) return 0;
    // Numbers of poses and joints stand in doubles too.
    return cutis_rbf_scratch(group->count) + n * n + 11 * n + 2 * (size_t)weights;
}

static void divide(double *memory, uint32_t weights, out_work *w)
{
    const size_t n = w->group->count;
    w->fit = memory;
    w->rbf.matrix = w->fit + cutis_rbf_scratch(w->group->count);
    w->rbf.sums = w->rbf.matrix + n * n;
    w->g = w->rbf.sums + n;
    w->r = w->g + n;
    w->d = w->r + n;
    w->missed = w->d + 3 * n;
    w->weight = w->missed + 3 * n;
    w->joint = (uint32_t *)(w->weight + weights);
    w->rbf.cluster = (uint32_t *)(w->weight + 2 * (size_t)weights);
    w->members = w->rbf.cluster + n;
    w->rbf.near = 0;
}

// The blend of an example, and its palette.
static double blend(const out_work *w, uint32_t e, const double **palette, double *matrix)
{
    const cutis_fit_problem *p = w->group->space->problem;
    const size_t joints = p->data->skins[w->span->skin].joint_count;
    *palette = p->skins[w->span->skin].palettes + 12 * e * joints;
    return cutis_fit_blend(*palette, w->weights->count, w->weights->joints, w->weights->weights,
                           matrix);
}

// The displacement that an example asks for, as a fit would store it.
static void pull_back(const out_work *w, uint32_t e, double *d)
{
    const cutis_fit_problem *p = w->group->space->problem;
    const float *shape = cutis_fit_place(p, e, w->vertex);
    const double *palette, place[3] = { shape[0], shape[1], shape[2] };
    double matrix[12], turn[9], image[3];
    const double scale = blend(w, e, &palette, matrix);
    if (!p->options.after) {
        cutis_example_pull(matrix, scale, w->rest, place, d);
        return;
    }
    cutis_example_turn(palette, w->weights->count, w->weights->joints, w->weights->weights, turn);
    double34_point(matrix, w->rest, image);
    for (size_t c = 0; c < 3; c++) {
        d[c] = 0;
        for (size_t r = 0; r < 3; r++) d[c] += turn[3 * r + c] * (place[r] - image[r]) / scale;
    }
}

// Mean displacements of the poses that are still there, by examples that are.
static void load_displacements(out_work *w)
{
    const cutis_out_group *g = w->group;
    memset(w->d, 0, 3 * (size_t)g->count * sizeof *w->d);
    memset(w->members, 0, g->count * sizeof *w->members);
    for (uint32_t i = 0; i < g->use_count; i++) {
        const size_t k = g->place[g->space->poses->pose_of[g->use[i]]];
        double d[3];
        if (k == 0) continue; // rest has none
        pull_back(w, g->use[i], d);
        for (size_t c = 0; c < 3; c++) w->d[3 * k + c] += d[c];
        w->members[k]++;
    }
    for (size_t k = 1; k < g->count; k++)
        for (size_t c = 0; c < 3; c++) w->d[3 * k + c] /= w->members[k];
}

static void weigh(const double *r, const double *d, uint32_t count, double sign, double *out)
{
    for (size_t k = 0; k < count; k++)
        for (size_t c = 0; c < 3; c++) out[c] += sign * r[k] * d[3 * k + c];
}

// The vertex's own interpolation, and what it misses in the very poses (docs/spec/pose-space.md
// 5.3).
static void prepare_own(out_work *w, cutis_joint_weights *weights)
{
    const cutis_out_group *g = w->group;
    const cutis_fit_problem *p = g->space->problem;
    const cutis_skin *skin = &p->data->skins[w->span->skin];
    const size_t n = g->count, entries = n * g->table.joint_count;
    *weights = (cutis_joint_weights){ 0, w->joint, w->weight };
    for (uint32_t i = 0; i < w->weights->count; i++) {
        const int32_t at = g->space->place[skin->joints[w->weights->joints[i]]];
        if (at < 0) continue;
        w->joint[weights->count] = (uint32_t)at;
        w->weight[weights->count++] = w->weights->weights[i];
    }
    cutis_rbf_fit(&g->table, weights, p->options.kernel == CUTIS_POSE_GAUSSIAN, p->options.sigma,
                  w->fit, &w->rbf);
    if (w->rbf.cluster_count == n) return;
    memcpy(w->missed, w->d, 3 * n * sizeof *w->missed);
    for (size_t t = 0; t < n; t++) {
        cutis_rbf_distances(&g->table, weights, g->table.squares + t * entries, w->g);
        cutis_rbf_weights(&w->rbf, w->g, w->g, w->r);
        weigh(w->r, w->d, g->count, -1, w->missed + 3 * t);
    }
}

// WPSD at an example left out: what its own interpolation misses is played by PSD's weights.
static void interpolate(out_work *w, const cutis_joint_weights *weights, uint32_t i, double *out)
{
    const cutis_out_group *g = w->group;
    const size_t n = g->count;
    memset(out, 0, 3 * sizeof *out);
    cutis_rbf_distances(&g->table, weights, g->rows + i * n * g->table.joint_count, w->g);
    cutis_rbf_weights(&w->rbf, w->g, w->g, w->r);
    weigh(w->r, w->d, g->count, 1, out);
    if (w->rbf.cluster_count < n) weigh(g->shares + i * n, w->missed, g->count, 1, out);
}

// Squares that a displacement leaves in an example.
static double square_off(const out_work *w, uint32_t e, const double *d)
{
    const cutis_fit_problem *p = w->group->space->problem;
    const float *shape = cutis_fit_place(p, e, w->vertex);
    const double *palette;
    double matrix[12], turn[9], rest[3], image[3], moved[3] = { 0 }, sum = 0;
    const double scale = blend(w, e, &palette, matrix);
    for (size_t c = 0; c < 3; c++) rest[c] = w->rest[c] + (p->options.after ? 0 : d[c]);
    double34_point(matrix, rest, image);
    if (p->options.after) {
        cutis_example_turn(palette, w->weights->count, w->weights->joints, w->weights->weights,
                           turn);
        double33_vector(turn, d, moved);
    }
    for (int c = 0; c < 3; c++) {
        const double off = image[c] + scale * moved[c] - shape[c];
        sum += off * off;
    }
    return sum;
}

void cutis_out_try(const cutis_out_group *group, const cutis_fit_span *span, uint32_t v,
                   const cutis_out_weights *weights, double *scratch, double *off)
{
    static const double nothing[3] = { 0 };
    out_work w = {
        .group = group, .span = span, .weights = weights, .vertex = span->vertex_first + v
    };
    cutis_joint_weights own;
    for (size_t c = 0; c < 3; c++) w.rest[c] = span->positions[3 * (size_t)v + c];
    if (group->space->poses) {
        divide(scratch, weights->count, &w);
        load_displacements(&w);
        prepare_own(&w, &own);
    }
    for (uint32_t i = 0; i < group->left_count; i++, off += 3) {
        double d[3] = { 0 };
        off[0] = square_off(&w, group->left[i], nothing);
        if (!group->space->poses) continue;
        weigh(group->shares + (size_t)i * group->count, w.d, group->count, 1, d);
        off[1] = square_off(&w, group->left[i], d);
        interpolate(&w, &own, i, d);
        off[2] = square_off(&w, group->left[i], d);
    }
}

// Squares of a pose to those that are kept.
static void pick_row(const double *row, const cutis_out_group *g, double *to)
{
    const size_t joints = g->table.joint_count;
    for (uint32_t k = 0; k < g->count; k++)
        memcpy(to + k * joints, row + g->keep[k] * joints, joints * sizeof *to);
}

// The table of the poses that are still there, and PSD's weights.
static bool pick_poses(cutis_arena *arena, cutis_out_group *g)
{
    const cutis_pose_table *all = &g->space->table;
    const cutis_pose_fit_options *o = &g->space->problem->options;
    const size_t joints = all->joint_count, own = (size_t)all->pose_count * joints;
    const size_t n = g->count, left = g->left_count, entries = n * joints;
    const uint32_t queries = all->query_count < QUERIES ? all->query_count : QUERIES;
    double *squares = cutis_arena_alloc(arena, n, entries * sizeof *squares);
    double *query = cutis_arena_alloc(arena, queries, entries * sizeof *query);
    double *rows = cutis_arena_alloc(arena, left, entries * sizeof *rows);
    double *shares = cutis_arena_alloc(arena, left, n * sizeof *shares);
    double *fit = cutis_arena_alloc(arena, cutis_rbf_scratch(g->count) + n, sizeof *fit);
    cutis_rbf rbf = { .cluster = cutis_arena_alloc(arena, n, sizeof *rbf.cluster),
                      .matrix = cutis_arena_alloc(arena, n, n * sizeof(double)),
                      .sums = cutis_arena_alloc(arena, n, sizeof(double)) };
    if (!squares || !query || !rows || !shares || !fit || !rbf.cluster || !rbf.matrix || !rbf.sums)
        return false;
    g->table = (cutis_pose_table){ g->count, all->joint_count, squares, queries, query };
    for (size_t k = 0; k < n; k++)
        pick_row(all->squares + g->keep[k] * own, g, squares + k * entries);
    for (uint32_t q = 0; q < queries; q++)
        pick_row(all->query_squares + q * own, g, query + q * entries);
    cutis_rbf_fit(&g->table, &(cutis_joint_weights){ 0 }, o->kernel == CUTIS_POSE_GAUSSIAN,
                  o->sigma, fit, &rbf);
    for (size_t i = 0; i < left; i++) {
        pick_row(all->squares + g->space->poses->pose_of[g->left[i]] * own, g, rows + i * entries);
        cutis_rbf_distances(&g->table, &(cutis_joint_weights){ 0 }, rows + i * entries, fit);
        cutis_rbf_weights(&rbf, fit, fit, shares + i * n);
    }
    g->rows = rows, g->shares = shares;
    return true;
}

// Is it left out, or another of its pose, which would tell the answer?
static bool is_out(const uint32_t *pose_of, const cutis_out_group *g, uint32_t e)
{
    for (uint32_t i = 0; i < g->left_count; i++)
        if (g->left[i] == e || (pose_of[e] && pose_of[e] == pose_of[g->left[i]])) return true;
    return false;
}

cutis_result cutis_out_group_create(const cutis_out_space *space, const uint32_t *pose_of,
                                    uint32_t left_count, const uint32_t *left, cutis_arena *arena,
                                    cutis_out_group *out)
{
    cutis_context *context = space->problem->context;
    const uint32_t count = space->problem->examples->count;
    const uint32_t poses = space->poses ? space->table.pose_count : 0;
    uint32_t *use = cutis_arena_alloc(arena, count, sizeof *use);
    *out = (cutis_out_group){ .space = space, .left_count = left_count, .left = left, .use = use };
    if (!use) return cutis_alloc_result(context);
    for (uint32_t e = 0; e < count; e++)
        if (!is_out(pose_of, out, e)) use[out->use_count++] = e;
    if (!space->poses) return CUTIS_OK;
    uint32_t *keep = cutis_arena_zero(arena, poses, sizeof *keep);
    uint32_t *place = cutis_arena_zero(arena, poses, sizeof *place);
    if (!keep || !place) return cutis_alloc_result(context);
    out->keep = keep, out->place = place;
    for (uint32_t i = 0; i < out->use_count; i++) place[pose_of[use[i]]] = 1;
    out->count = 1;
    place[0] = 0;
    for (uint32_t k = 1; k < poses; k++) {
        if (!place[k]) continue;
        place[k] = out->count;
        keep[out->count++] = k;
    }
    return pick_poses(arena, out) ? CUTIS_OK : cutis_alloc_result(context);
}

cutis_result cutis_out_open(const cutis_fit_problem *p, const cutis_fit_poses *poses,
                            cutis_arena *arena, cutis_out_space *out)
{
    cutis_pose_measure measure;
    *out = (cutis_out_space){ .problem = p, .poses = poses };
    if (!poses) return CUTIS_OK;
    int32_t *place = cutis_arena_alloc(arena, p->data->node_count, sizeof *place);
    if (!place || !cutis_pose_measure_create(p->model, &poses->space, arena, &measure) ||
        !cutis_pose_table_create(&measure, arena, &out->table))
        return cutis_alloc_result(p->context);
    for (uint32_t n = 0; n < p->data->node_count; n++) place[n] = -1;
    for (uint32_t j = 0; j < poses->space.joint_count; j++)
        place[poses->space.joints[j]] = (int32_t)j;
    out->place = place;
    return CUTIS_OK;
}

// Weights of a sample: as they are, or learned without the group.
static void try_sample(const out_job *job, const out_sample *s, double *learn, double *scratch,
                       double *off)
{
    cutis_fit_problem trial = *job->problem;
    const size_t vertex = s->span->vertex_first + s->vertex, at = vertex * trial.slots;
    uint32_t joint[CUTIS_NNLS_MAX], joints[CUTIS_LEARN_LIST];
    float weights[CUTIS_LEARN_LIST];
    cutis_example_weights found;
    cutis_out_weights list = { trial.counts[vertex], trial.joints + at, trial.weights + at };
    trial.use = job->group->use;
    trial.use_count = job->group->use_count;
    if (learn && cutis_fit_learn(&trial, s->span, s->vertex, learn, joint, &found))
        list = (cutis_out_weights){ cutis_fit_learn_list(&trial, s->span, s->vertex, joint, &found,
                                                         joints, weights),
                                    joints, weights };
    cutis_out_try(job->group, s->span, s->vertex, &list, scratch, off);
}

static void run_task(void *data, uint32_t index)
{
    out_job *job = data;
    cutis_fit_problem *p = job->problem;
    const size_t examples = p->examples->count;
    const uint32_t most = p->slots > CUTIS_LEARN_LIST ? p->slots : CUTIS_LEARN_LIST;
    const size_t own = cutis_out_scratch(job->group, most);
    const size_t learn =
        p->options.learn_weights
            ? (size_t)cutis_example_scratch(CUTIS_NNLS_MAX, (uint32_t)examples) + 3 * examples
            : 0;
    double *memory = cutis_alloc_array(p->context, own + learn + 1, sizeof *memory);
    if (!memory) {
        atomic_store(&job->failed, true);
        return;
    }
    for (uint32_t i = index * TASK; i < (index + 1) * TASK && i < job->sample_count; i++)
        try_sample(job, &job->samples[i], learn ? memory + own : NULL, memory,
                   job->off + 3 * (size_t)i * job->group->left_count);
    cutis_free_array(p->context, memory, own + learn + 1, sizeof *memory);
}

// Leave out a group, and add what is off in it.
static cutis_result try_group(const cutis_out_space *space, const uint32_t *pose_of, out_job *job,
                              uint32_t left, const uint32_t *list)
{
    cutis_fit_problem *p = job->problem;
    cutis_arena arena = { .context = p->context };
    cutis_out_group group;
    cutis_result result = cutis_out_group_create(space, pose_of, left, list, &arena, &group);
    job->group = &group; // cppcheck-suppress autoVariables ; until the end of this
    job->off = cutis_arena_zero(&arena, (size_t)job->sample_count * left, 3 * sizeof *job->off);
    if (result == CUTIS_OK && !job->off) result = cutis_alloc_result(p->context);
    if (result == CUTIS_OK)
        cutis_device_run(p->device, run_task, job, (job->sample_count + TASK - 1) / TASK);
    if (result == CUTIS_OK && atomic_load(&job->failed))
        result = cutis_fail(p->context, CUTIS_OUT_OF_MEMORY, "fit: no memory for a task");
    for (size_t i = 0; i < job->sample_count && result == CUTIS_OK; i++)
        for (size_t e = 0; e < left; e++)
            for (size_t m = 0; m < 3; m++)
                p->one_out[m][list[e]] += job->off[3 * (i * left + e) + m];
    job->group = NULL;
    cutis_arena_release(&arena);
    return result;
}

// Vertices that are looked at, and how many groups.
static out_sample *list_samples(cutis_fit_problem *p, uint32_t poses, uint32_t *count)
{
    const double n = poses, cube = n * n * n;
    p->one_out_groups = poses > POSES_MANY ? GROUPS_MANY : GROUPS;
    if (p->examples->count < p->one_out_groups) p->one_out_groups = p->examples->count;
    const double most = fmin(VERTICES, fmax(16, WORK / (cube * p->one_out_groups)));
    const uint32_t stride = (uint32_t)(p->vertex_count / most) + 1;
    *count = 0;
    for (uint32_t s = 0; s < p->span_count; s++)
        *count += (p->spans[s].primitive->vertex_count + stride - 1) / stride;
    out_sample *list = cutis_arena_alloc(p->arena, *count, sizeof *list), *to = list;
    for (uint32_t s = 0; s < p->span_count && list; s++)
        for (uint32_t v = 0; v < p->spans[s].primitive->vertex_count; v += stride)
            *to++ = (out_sample){ &p->spans[s], v };
    return list;
}

static cutis_result load_samples(cutis_fit_problem *p, const out_sample *samples, uint32_t count)
{
    if (!p->window) return CUTIS_OK;
    uint32_t *vertices = cutis_arena_alloc(p->arena, count, sizeof *vertices);
    if (!vertices) return cutis_alloc_result(p->context);
    for (uint32_t i = 0; i < count; i++)
        vertices[i] = samples[i].span->vertex_first + samples[i].vertex;
    return cutis_fit_window_load(p, vertices, count);
}

cutis_result cutis_fit_left_out(cutis_fit_problem *p, const cutis_fit_poses *poses)
{
    const uint32_t count = p->examples->count;
    cutis_out_space space;
    out_job job = { .problem = p };
    uint32_t first = 0, end = 0;
    if (count < 2) return CUTIS_OK;
    uint32_t *list = cutis_arena_alloc(p->arena, count, sizeof *list);
    job.samples = list_samples(p, poses->space.pose_count, &job.sample_count);
    for (int m = 0; m < 3; m++) p->one_out[m] = cutis_arena_zero(p->arena, count, sizeof(double));
    if (!list || !job.samples || !p->one_out[0] || !p->one_out[1] || !p->one_out[2])
        return cutis_alloc_result(p->context);
    TRY(load_samples(p, job.samples, job.sample_count));
    TRY(cutis_out_open(p, p->displacements ? poses : NULL, p->arena, &space));
    for (uint32_t e = 0; e < count; e++) list[e] = e;
    atomic_init(&job.failed, false);
    for (uint32_t g = 0; g < p->one_out_groups; g++, first = end) {
        TRY(cutis_progress(p->context, "leaving out", (double)g / p->one_out_groups));
        while (end < count && (uint64_t)end * p->one_out_groups / count == g) end++;
        TRY(try_group(&space, poses->pose_of, &job, end - first, list + first));
    }
    for (int m = 0; m < 3; m++)
        for (uint32_t e = 0; e < count; e++)
            p->one_out[m][e] = sqrt(p->one_out[m][e] / job.sample_count);
    p->one_out_vertices = job.sample_count;
    return CUTIS_OK;
}
