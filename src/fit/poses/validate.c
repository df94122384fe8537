// How much learned weights are drawn to the model's own: by examples that were not learned from,
// and by what is played, linear blending or a pose space. Examples are left out in stretches and,
// where there are more poses than folds, every so many of them too: a frame's neighbours tell
// nearly all of it, so the first asks for what is beyond the examples and the second for what is
// between. Examples of one pose are left out together. Invariant: a choice depends on model,
// examples and options alone.
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <cutis/clip.h>

#include "base/error.h"
#include "device/device.h"
#include "fit/poses/choose.h"
#include "fit/poses/left_out.h"
#include "geometry/order.h"

#define VERTICES 1000u ///< about as many are learned for a choice, evenly taken
#define PLAYED   300u  ///< the same where a pose space is judged; of many poses fewer
#define TASK     16u   ///< of them
/// What a change in a random pose counts of one in an example, weakest first: nothing, then so
/// little that it decides alone what the examples leave open, and so much that nothing else shows.
/// There is nothing between the second and a tenth: such strengths gain what plain learning gains
/// in left-out examples and lose in poses unlike all of them, which no left-out example shows.
static const double STRENGTHS[CUTIS_CHOICES] = { 0, 1e-6, 1e-1, 1, 1e6 };
/// Of the squares of the vertex in the middle: more is held back in one of the figures. The middle
/// of those that are off by more than this part of the mean: most of a body that waves stands
/// still.
static const double HELD_BACK = 4, OFF = 1e-3;
/// Squared cosine between two poses' turns from rest, above which they go the same way: 1.8
/// degrees.
static const double SAME_WAY = 0.999;
/// The strength where one pose is all there is.
static const double ONE_POSE = 1e-2;
/// Poses cubed, times vertices, folds and choices: some seconds.
static const double WORK = 3e9;

typedef struct choice_vertex {
    const cutis_fit_span *span;
    uint32_t vertex;
    bool learned; ///< false: its weights stay
    /// The last: linear blending; or PSD, WPSD, and blending beside them.
    double off[CUTIS_SCHEMES][CUTIS_FOLDS][CUTIS_CHOICES][3];
} choice_vertex;

typedef struct choice_scheme {
    uint32_t folds;
    uint32_t *order; ///< examples, one fold's after another
    uint32_t bounds[CUTIS_FOLDS + 1];
    cutis_out_group groups[CUTIS_FOLDS];
} choice_scheme;

typedef struct choice_job {
    cutis_fit_problem *problem;
    cutis_out_space space;
    choice_scheme schemes[CUTIS_SCHEMES];
    uint32_t methods;               ///< linear blending, or PSD and WPSD
    uint32_t scheme_count, choices; ///< choices tried of the first strengths; the last is, always
    double strengths[CUTIS_CHOICES];
    choice_vertex *vertices;
    uint32_t vertex_count;
    atomic_bool failed;
} choice_job;

static double left_over(uint32_t n, const double *g, const double *w)
{
    double sum = 0;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n && w[i] != 0; j++) sum += w[i] * g[i * n + j] * w[j];
    return fmax(0, sum);
}

// One vertex in one scheme.
typedef struct choice_work {
    const choice_job *job;
    const choice_scheme *scheme;
    choice_vertex *to;
    cutis_example_vertex v;
    uint32_t influences, joint[CUTIS_NNLS_MAX];
    double near[CUTIS_NNLS_MAX], own[CUTIS_NNLS_MAX]; ///< priors
    double *folds, *g, *columns, *scratch; ///< folds: normal equations; then the random poses'
} choice_work;

// Squares of weights found, in the fold they were found without.
static void judge(const choice_work *w, const cutis_fit_problem *trial, uint32_t f,
                  const cutis_example_weights *found, double *off)
{
    const size_t n = w->v.joint_count;
    if (!w->job->space.poses) {
        double dense[CUTIS_NNLS_MAX] = { 0 };
        for (uint32_t i = 0; i < found->count; i++) dense[found->candidate[i]] = found->weight[i];
        *off = left_over((uint32_t)n, w->folds + f * n * n, dense);
        return;
    }
    const cutis_out_group *group = &w->scheme->groups[f];
    uint32_t joints[CUTIS_LEARN_LIST];
    float weights[CUTIS_LEARN_LIST];
    const cutis_out_weights list = { cutis_fit_learn_list(trial, w->to->span, w->to->vertex,
                                                          w->joint, found, joints, weights),
                                     joints, weights };
    double *squares = w->scratch, *scratch = squares + 3 * (size_t)group->left_count;
    cutis_out_try(group, w->to->span, w->to->vertex, &list, scratch, squares);
    for (uint32_t e = 0; e < group->left_count; e++)
        for (uint32_t m = 0; m < 3; m++) off[m] += squares[3 * (size_t)e + (1 + m) % 3];
}

static void try_choice(choice_work *w, const cutis_fit_problem *trial, uint32_t s, uint32_t choice)
{
    const double strength = w->job->strengths[choice];
    const size_t n = w->v.joint_count, square = n * n;
    const uint32_t folds = w->scheme->folds;
    const double *random = w->folds + folds * square;
    double *part = w->g + square, *h = part + square;
    w->v.prior = strength > 0 ? w->own : w->near;
    for (uint32_t f = 0; f < folds; f++) {
        const uint32_t out = w->scheme->bounds[f + 1] - w->scheme->bounds[f];
        const double share = strength * (trial->use_count - out); // of examples learned from
        cutis_example_weights found;
        for (size_t i = 0; i < square; i++) {
            w->g[i] = share * random[i];
            for (uint32_t o = 0; o < folds; o++)
                if (o != f) w->g[i] += w->folds[o * square + i];
        }
        memset(h, 0, n * sizeof *h);
        cutis_example_finish(&w->v, w->influences, false, w->g, h, part, &found);
        judge(w, trial, f, &found, w->to->off[s][f][choice]);
    }
}

static size_t scratch_size(const choice_job *job)
{
    const size_t square = CUTIS_NNLS_MAX * CUTIS_NNLS_MAX, count = job->problem->examples->count;
    size_t most = 0;
    for (uint32_t s = 0; s < job->scheme_count; s++)
        for (uint32_t f = 0; f < job->schemes[s].folds; f++) {
            const size_t own = cutis_out_scratch(&job->schemes[s].groups[f], CUTIS_LEARN_LIST);
            if (own > most) most = own;
        }
    return (CUTIS_FOLDS + 3) * square + CUTIS_NNLS_MAX + 3 * count * (CUTIS_NNLS_MAX + 2) + most;
}

static void try_scheme(const choice_job *job, uint32_t s, choice_vertex *c, double *scratch)
{
    cutis_fit_problem trial = *job->problem;
    const cutis_fit_skin *skin = &trial.skins[c->span->skin];
    choice_work w = { .job = job, .scheme = &job->schemes[s], .to = c };
    double *places = scratch;
    trial.use = w.scheme->order;
    trial.use_count = trial.examples->count;
    trial.options.prior = 0; // nearness decides for plain learning
    w.v = (cutis_example_vertex){ .joint = w.joint,
                                  .palettes = skin->palettes,
                                  .palette_count = trial.data->skins[c->span->skin].joint_count,
                                  .random = skin->random,
                                  .random_count = CUTIS_FIT_RANDOM };
    for (uint32_t k = 0; k < 3; k++) w.v.rest[k] = c->span->positions[3 * (size_t)c->vertex + k];
    w.v.joint_count =
        cutis_fit_learn_begin(&trial, c->span, c->vertex, w.joint, w.near, places, &w.influences);
    c->learned = w.v.joint_count > 0;
    if (!c->learned) return;
    trial.options.prior = 1;
    cutis_fit_learn_begin(&trial, c->span, c->vertex, w.joint, w.own, places, &w.influences);
    const size_t square = (size_t)w.v.joint_count * w.v.joint_count;
    w.folds = places + 3 * (size_t)trial.examples->count;
    w.g = w.folds + (w.scheme->folds + 1) * square;
    w.columns = w.g + 2 * square + w.v.joint_count;
    w.scratch = w.columns + 3 * (size_t)trial.examples->count * w.v.joint_count;
    for (uint32_t f = 0; f < w.scheme->folds; f++) {
        cutis_example_vertex part = w.v;
        part.example_count = w.scheme->bounds[f + 1] - w.scheme->bounds[f];
        part.example = w.scheme->order + w.scheme->bounds[f];
        part.places = places + 3 * (size_t)w.scheme->bounds[f];
        cutis_example_form(&part, false, w.columns, w.folds + f * square, w.g);
    }
    w.v.prior = w.own;
    cutis_example_random(&w.v, w.columns, w.folds + w.scheme->folds * square);
    for (uint32_t k = 0; k < job->choices; k++) try_choice(&w, &trial, s, k);
    try_choice(&w, &trial, s, CUTIS_CHOICE_OWN);
}

static void run_task(void *data, uint32_t index)
{
    choice_job *job = data;
    const size_t size = scratch_size(job);
    cutis_context *context = job->problem->context;
    double *scratch = cutis_alloc_array(context, size, sizeof *scratch);
    if (!scratch) atomic_store(&job->failed, true);
    for (uint32_t i = index * TASK; i < (index + 1) * TASK && i < job->vertex_count && scratch; i++)
        for (uint32_t s = 0; s < job->scheme_count; s++)
            try_scheme(job, s, &job->vertices[i], scratch);
    cutis_free_array(context, scratch, size, sizeof *scratch);
}

// How far the poses of two examples are apart, by the joints' rotations.
static double jump(const cutis_fit_problem *p, uint32_t first, uint32_t second)
{
    const size_t nodes = p->data->node_count;
    const cutis_transform *a = p->examples->poses + first * nodes;
    const cutis_transform *b = p->examples->poses + second * nodes;
    double sum = 0;
    for (size_t n = 0; n < nodes; n++) {
        const cutis_quat q = a[n].rotation, r = b[n].rotation;
        const double dot =
            (double)q.w * r.w + (double)q.x * r.x + (double)q.y * r.y + (double)q.z * r.z;
        sum += 1 - dot * dot;
    }
    return sum;
}

// How the nodes of an example are turned from rest: three each, half-angle tangents of halves,
// which grow with the angle.
static void turns_from(const cutis_fit_problem *p, const cutis_transform *rest, uint32_t example,
                       double *out)
{
    const size_t nodes = p->data->node_count;
    const cutis_transform *pose = p->examples->poses + example * nodes;
    for (size_t n = 0; n < nodes; n++, out += 3) {
        const cutis_quat r = rest[n].rotation, back = { .x = -r.x, .y = -r.y, .z = -r.z, .w = r.w };
        const cutis_quat q = cutis_quat_multiply(back, pose[n].rotation);
        const double scale = q.w < 0 ? -1 / (1 - (double)q.w) : 1 / (1 + (double)q.w);
        out[0] = scale * q.x, out[1] = scale * q.y, out[2] = scale * q.z;
    }
}

// Is one pose the other, weaker or stronger (half and whole of an expression)?
static bool same_way(size_t count, const double *a, const double *b)
{
    double aa = 0, bb = 0, ab = 0;
    for (size_t i = 0; i < count; i++) aa += a[i] * a[i], bb += b[i] * b[i], ab += a[i] * b[i];
    return ab > 0 && ab * ab > SAME_WAY * aa * bb;
}

// Distinct poses in the order in which they are shown, and how far each is from the one before: a
// weaker or stronger one is no step away, since it would tell of the other. @param shown per pose:
// its place; @return how many; 0: out of memory
static uint32_t list_poses(const cutis_fit_problem *p, const cutis_fit_poses *poses,
                           uint32_t *shown, double *jumps)
{
    const size_t nodes = p->data->node_count;
    cutis_transform *rest = cutis_arena_alloc(p->arena, nodes, sizeof *rest);
    double *turns = cutis_arena_zero(p->arena, 2 * nodes, 3 * sizeof *turns);
    uint32_t distinct = 0, last = 0;
    if (!rest || !turns) return 0;
    double *now = turns, *before = turns + 3 * nodes;
    cutis_pose_rest(p->model, rest, NULL);
    for (uint32_t k = 0; k < poses->space.pose_count; k++) shown[k] = UINT32_MAX;
    for (uint32_t e = 0; e < p->examples->count; e++) {
        if (shown[poses->pose_of[e]] != UINT32_MAX) continue;
        turns_from(p, rest, e, now);
        if (distinct) jumps[distinct] = same_way(3 * nodes, before, now) ? 0 : jump(p, last, e);
        shown[poses->pose_of[e]] = distinct++;
        last = e;
        double *free = before;
        before = now, now = free;
    }
    return distinct;
}

// Stretches of about the same length that end where poses jump: of examples that belong together
// (half and whole of one expression, a clip's frames) one would tell of the other.
// @param jumps per pose: from the one before; @param fold per pose
static void make_stretches(uint32_t poses, const double *jumps, uint32_t folds, uint32_t *fold)
{
    const uint32_t reach = poses / (3 * folds);
    uint32_t first = 0;
    for (uint32_t f = 1; f <= folds; f++) {
        const uint32_t middle = (uint32_t)(((uint64_t)f * poses + folds - 1) / folds);
        uint32_t end = middle;
        for (uint32_t k = middle - reach; k <= middle + reach && f < folds; k++)
            if (jumps[k] > 1.01 * jumps[end]) end = k;
        for (; first < end; first++) fold[first] = f - 1;
    }
}

// Every so many poses; those that are nearer to each other than poses are in the mean stay
// together. @return folds
static uint32_t make_turns(uint32_t poses, const double *jumps, uint32_t folds, uint32_t *fold)
{
    double mean = 0;
    uint32_t unit = 0;
    for (uint32_t k = 1; k < poses; k++) mean += jumps[k] / (poses - 1);
    for (uint32_t k = 0; k < poses; k++) {
        unit += k > 0 && jumps[k] >= 0.5 * mean;
        fold[k] = unit % folds;
    }
    return unit + 1 < folds ? unit + 1 : folds;
}

// Examples by fold, given the fold of each pose that they show.
static cutis_result list_folds(choice_job *job, const uint32_t *pose_of, const uint32_t *shown,
                               const uint32_t *fold, choice_scheme *to)
{
    const uint32_t count = job->problem->examples->count;
    cutis_arena *arena = job->problem->arena;
    uint32_t at = 0;
    to->order = cutis_arena_alloc(arena, count, sizeof *to->order);
    if (!to->order) return cutis_alloc_result(job->problem->context);
    for (uint32_t f = 0; f < to->folds; f++) {
        for (uint32_t e = 0; e < count; e++)
            if (fold[shown[pose_of[e]]] == f) to->order[at++] = e;
        to->bounds[f + 1] = at;
    }
    for (uint32_t f = 0; f < to->folds; f++)
        TRY(cutis_out_group_create(&job->space, pose_of, to->bounds[f + 1] - to->bounds[f],
                                   to->order + to->bounds[f], arena, &to->groups[f]));
    return CUTIS_OK;
}

static cutis_result make_schemes(choice_job *job, const cutis_fit_poses *poses)
{
    const cutis_fit_problem *p = job->problem;
    const uint32_t most = poses->space.pose_count;
    uint32_t *shown = cutis_arena_alloc(p->arena, most, sizeof *shown);
    uint32_t *fold = cutis_arena_alloc(p->arena, most, sizeof *fold);
    double *jumps = cutis_arena_zero(p->arena, most, sizeof *jumps);
    if (!shown || !fold || !jumps) return cutis_alloc_result(p->context);
    const uint32_t distinct = list_poses(p, poses, shown, jumps);
    if (!distinct) return cutis_alloc_result(p->context);
    job->scheme_count = 1;
    job->schemes[0].folds = distinct < CUTIS_FOLDS ? distinct : CUTIS_FOLDS;
    make_stretches(distinct, jumps, job->schemes[0].folds, fold);
    TRY(list_folds(job, poses->pose_of, shown, fold, &job->schemes[0]));
    if (distinct <= CUTIS_FOLDS) return CUTIS_OK;
    job->schemes[1].folds = make_turns(distinct, jumps, CUTIS_FOLDS, fold);
    if (job->schemes[1].folds < 2) return CUTIS_OK;
    job->scheme_count = 2;
    return list_folds(job, poses->pose_of, shown, fold, &job->schemes[1]);
}

static cutis_result list_vertices(choice_job *job)
{
    cutis_fit_problem *p = job->problem;
    const double n = job->space.poses ? job->space.table.pose_count : 0;
    const double work = fmax(1, n * n * n * CUTIS_FOLDS * CUTIS_SCHEMES * CUTIS_CHOICES);
    const double most = n > 0 ? fmin(PLAYED, fmax(16, WORK / work)) : VERTICES;
    const uint32_t stride = (uint32_t)(p->vertex_count / most) + 1;
    for (uint32_t s = 0; s < p->span_count; s++)
        job->vertex_count += (p->spans[s].primitive->vertex_count + stride - 1) / stride;
    job->vertices = cutis_arena_zero(p->arena, job->vertex_count, sizeof *job->vertices);
    if (!job->vertices) return cutis_alloc_result(p->context);
    choice_vertex *to = job->vertices;
    for (uint32_t s = 0; s < p->span_count; s++)
        for (uint32_t v = 0; v < p->spans[s].primitive->vertex_count; v += stride)
            *to++ = (choice_vertex){ .span = &p->spans[s], .vertex = v };
    if (!p->window) return CUTIS_OK;
    uint32_t *shown = cutis_arena_alloc(p->arena, job->vertex_count, sizeof *shown);
    if (!shown) return cutis_alloc_result(p->context);
    for (uint32_t i = 0; i < job->vertex_count; i++)
        shown[i] = job->vertices[i].span->vertex_first + job->vertices[i].vertex;
    return cutis_fit_window_load(p, shown, job->vertex_count);
}

// Squares of a vertex with the model's own weights, or plainly learned ones, in the first scheme.
static double own_square(const choice_job *job, const choice_vertex *c, bool weighted)
{
    double sum = 0;
    for (uint32_t f = 0; f < job->schemes[0].folds; f++)
        for (uint32_t m = 0; m < job->methods; m++)
            sum += c->off[0][f][weighted ? CUTIS_CHOICE_OWN : 0][m];
    return sum;
}

// More than this, a vertex counts as if it had so much. false: out of memory
static bool find_most(const choice_job *job, bool weighted, uint32_t *learned, double *most)
{
    double *all = cutis_arena_alloc(job->problem->arena, job->vertex_count, sizeof *all);
    uint32_t still = 0;
    double sum = 0;
    *learned = 0;
    for (uint32_t i = 0; i < job->vertex_count && all; i++)
        if (job->vertices[i].learned)
            sum += all[(*learned)++] = own_square(job, &job->vertices[i], weighted);
    if (!all) return false;
    qsort(all, *learned, sizeof *all, order_double);
    while (still < *learned && all[still] * *learned <= OFF * sum) still++;
    *most = still < *learned ? HELD_BACK * all[still + (*learned - still) / 2] : 0;
    return true;
}

// Sums of all vertices. Blending has two figures: its squares, and the same with few vertices held
// back, which would hide what is gained or lost everywhere else. Displacements fit every vertex, so
// PSD's and WPSD's are as they are. false: out of memory
static bool add_up(const choice_job *job, uint32_t *learned, cutis_choice_input *out)
{
    double most;
    if (!find_most(job, out->weighted, learned, &most)) return false;
    for (uint32_t i = 0; i < job->vertex_count; i++) {
        const choice_vertex *c = &job->vertices[i];
        const double own = own_square(job, c, out->weighted), held = own > most ? most / own : 1;
        for (uint32_t s = 0; s < job->scheme_count && c->learned; s++)
            for (uint32_t f = 0; f < job->schemes[s].folds; f++)
                for (uint32_t k = 0; k < CUTIS_CHOICES; k++) {
                    double *to = out->off[s][f][k];
                    to[0] += c->off[s][f][k][0];
                    to[1] += job->methods > 1 ? c->off[s][f][k][1] : held * c->off[s][f][k][0];
                    out->blended[s][f][k] += c->off[s][f][k][job->methods > 1 ? 2 : 0];
                }
    }
    return true;
}

// RMS of a choice in the first way of leaving out, over what is played.
static double rms_of(const choice_job *job, const cutis_choice_input *in, uint32_t choice,
                     uint32_t learned)
{
    double sum = 0;
    for (uint32_t f = 0; f < in->fold_counts[0]; f++)
        for (uint32_t m = 0; m < job->methods; m++) sum += in->off[0][f][choice][m];
    return sqrt(sum / ((double)learned * job->problem->examples->count * job->methods));
}

static cutis_result settle(choice_job *job, bool weighted)
{
    cutis_fit_problem *p = job->problem;
    const bool given = p->options.prior >= 0;
    uint32_t learned;
    cutis_choice_input input = { .scheme_count = job->scheme_count,
                                 .weighted = weighted,
                                 .relative = job->methods > 1 };
    for (uint32_t s = 0; s < job->scheme_count; s++) input.fold_counts[s] = job->schemes[s].folds;
    if (!add_up(job, &learned, &input)) return cutis_alloc_result(p->context);
    if (!learned) return CUTIS_OK;
    const uint32_t choice = given ? p->options.prior > 0 : cutis_fit_choose(&input);
    p->left_out[0] = weighted ? rms_of(job, &input, CUTIS_CHOICE_OWN, learned) : 0;
    p->left_out[1] = rms_of(job, &input, 0, learned);
    p->left_out[2] = rms_of(job, &input, choice, learned);
    if (!given) p->options.prior = choice == CUTIS_CHOICE_OWN ? INFINITY : STRENGTHS[choice];
    return CUTIS_OK;
}

cutis_result cutis_fit_validate(cutis_fit_problem *p, const cutis_fit_poses *poses, bool weighted)
{
    const bool free = p->options.prior < 0;
    choice_job job = { .problem = p, .choices = free ? CUTIS_CHOICE_OWN : 2 };
    if (p->options.paper.normalise) {
        if (free) p->options.prior = 0;
        return CUTIS_OK;
    }
    atomic_init(&job.failed, false);
    memcpy(job.strengths, STRENGTHS, sizeof STRENGTHS);
    if (!free) job.strengths[1] = p->options.prior;
    TRY(cutis_out_open(p, p->options.weights_only ? NULL : poses, p->arena, &job.space));
    job.methods = job.space.poses ? 2 : 1;
    TRY(make_schemes(&job, poses));
    if (job.schemes[0].folds < 2) { // nothing to judge by: the examples decide what they can
        if (free) p->options.prior = weighted ? ONE_POSE : 0;
        return CUTIS_OK;
    }
    TRY(list_vertices(&job));
    for (uint32_t first = 0; first < job.vertex_count; first += 16 * TASK) {
        choice_job some = job;
        TRY(cutis_progress(p->context, "choosing", (double)first / job.vertex_count));
        some.vertices += first;
        some.vertex_count =
            job.vertex_count - first < 16 * TASK ? job.vertex_count - first : 16 * TASK;
        cutis_device_run(p->device, run_task, &some, (some.vertex_count + TASK - 1) / TASK);
        if (atomic_load(&some.failed))
            return cutis_fail(p->context, CUTIS_OUT_OF_MEMORY, "fit: no memory for a task");
    }
    return settle(&job, weighted);
}
