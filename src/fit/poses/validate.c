// How much learned weights are drawn to the model's own: by examples that were not learned from,
// stretch by stretch, for every region of the body by itself. A region is a joint's vertices, those
// that follow it alone and those that blend. Plain learning and the model's own weights are among
// the choices, so that neither does better there. Invariant: a choice depends on model, examples
// and options alone.
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "base/error.h"
#include "device/device.h"
#include "fit/poses/fit.h"

#define FOLDS    8u ///< at most: stretches of examples, so that a frame's neighbours are left out too
#define VERTICES 1000u ///< about as many are learned for a choice, evenly taken
#define TASK     16u   ///< of them
/// What a change in a random pose counts of one in an example, weakest first: nothing, then so
/// little that it decides alone what the examples leave open.
static const double STRENGTHS[] = { 0, 1e-6, 1e-4, 1e-3, 1e-2, 1e-1, 1 };
#define CHOICES (sizeof STRENGTHS / sizeof *STRENGTHS)
#define OWN     CHOICES ///< the model's own weights stay
/// Squares that a stronger choice may cost, of the best choices' in the mean: poses of another kind
/// are better served by it. A region that is off by little anyway stays as it is.
static const double AS_GOOD = 5e-4;
/// Where the model's own weights stay, they are drawn to so strongly that nothing else shows.
static const double KEEP = 1e6;
/// A vertex with this on one joint follows it alone.
static const double ALONE = 0.98;

typedef struct choice_vertex {
    const cutis_fit_span *span;
    uint32_t vertex, region;
    double off[CHOICES + 1]; ///< squares in the examples left out; negative: its weights stay
} choice_vertex;

typedef struct choice_job {
    cutis_fit_problem *problem;
    choice_vertex *vertices;
    uint32_t vertex_count, folds, choices;
    uint32_t bounds[FOLDS + 1]; ///< first example of each fold
    double strengths[CHOICES];
    atomic_bool failed;
} choice_job;

uint32_t cutis_fit_region(const cutis_fit_span *span, uint32_t v)
{
    const cutis_influences *own = &span->primitive->influences;
    uint32_t joint = 0;
    double most = 0, sum = 0;
    for (uint32_t i = own->first ? own->first[v] : 0; own->first && i < own->first[v + 1]; i++) {
        sum += own->weights[i];
        if (own->weights[i] > most) most = own->weights[i], joint = own->joints[i];
    }
    return 2 * joint + (most < ALONE * sum);
}

static double left_over(uint32_t n, const double *g, const double *w)
{
    double sum = 0;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n && w[i] != 0; j++) sum += w[i] * g[i * n + j] * w[j];
    return fmax(0, sum);
}

// The normal equations of every fold; the vertex's example list is one fold's after another.
static void form_folds(const choice_job *job, cutis_example_vertex *v, double *columns, double *g,
                       double *h)
{
    const double *places = v->places;
    const size_t n = v->joint_count;
    for (uint32_t f = 0; f < job->folds; f++) {
        const uint32_t first = job->bounds[f];
        cutis_example_vertex part = *v;
        part.example_count = job->bounds[f + 1] - first;
        part.palettes = v->palettes + 12 * (size_t)first * v->palette_count;
        part.places = places + 3 * (size_t)first;
        cutis_example_form(&part, false, columns, g + f * n * n, h);
    }
}

// Squares of one choice in the folds, each learned without it.
static double try_choice(const choice_job *job, const cutis_example_vertex *v, double strength,
                         uint32_t influences, const double *folds, double *g)
{
    const size_t n = v->joint_count, square = n * n;
    const double *random = folds + job->folds * square;
    double *part = g + square, *h = part + square, sum = 0, w[CUTIS_NNLS_MAX];
    for (uint32_t f = 0; f < job->folds; f++) {
        cutis_example_weights found;
        const double share =
            strength * v->example_count * (1 - 1.0 / job->folds); // of examples learned from
        for (size_t i = 0; i < square; i++) {
            g[i] = share * random[i];
            for (uint32_t o = 0; o < job->folds; o++)
                if (o != f) g[i] += folds[o * square + i];
        }
        memset(h, 0, n * sizeof *h);
        cutis_example_finish(v, influences, false, g, h, part, &found);
        memset(w, 0, sizeof w);
        for (uint32_t i = 0; i < found.count; i++) w[found.candidate[i]] = found.weight[i];
        sum += left_over((uint32_t)n, folds + f * square, w);
    }
    return sum;
}

static size_t scratch_size(const choice_job *job)
{
    const size_t square = CUTIS_NNLS_MAX * CUTIS_NNLS_MAX, count = job->problem->examples->count;
    return (job->folds + 3) * square + CUTIS_NNLS_MAX + 3 * count * (CUTIS_NNLS_MAX + 1);
}

static void try_vertex(const choice_job *job, choice_vertex *c, double *scratch)
{
    cutis_fit_problem trial = *job->problem;
    const uint32_t count = trial.examples->count;
    const cutis_fit_skin *skin = &trial.skins[c->span->skin];
    uint32_t joint[CUTIS_NNLS_MAX], influences = 0;
    double prior[CUTIS_NNLS_MAX], own[CUTIS_NNLS_MAX], *places = scratch;
    double *folds = places + 3 * (size_t)count;
    trial.options.prior = 0; // nearness decides for plain learning
    cutis_example_vertex v = { .example_count = count,
                               .joint = joint,
                               .prior = prior,
                               .palettes = skin->palettes,
                               .palette_count = trial.data->skins[c->span->skin].joint_count,
                               .random = skin->random,
                               .random_count = CUTIS_FIT_RANDOM,
                               .places = places };
    for (uint32_t k = 0; k < 3; k++)
        v.rest[k] = c->span->primitive->positions[3 * (size_t)c->vertex + k];
    v.joint_count =
        cutis_fit_learn_begin(&trial, c->span, c->vertex, joint, prior, places, &influences);
    for (size_t s = 0; s <= OWN && !v.joint_count; s++) c->off[s] = -1;
    if (!v.joint_count) return;
    memcpy(own, prior, sizeof own);
    trial.options.prior = 1;
    cutis_fit_learn_begin(&trial, c->span, c->vertex, joint, own, places, &influences);
    const size_t square = (size_t)v.joint_count * v.joint_count;
    double *g = folds + (job->folds + 1) * square, *columns = g + 2 * square + v.joint_count;
    form_folds(job, &v, columns, folds, g);
    v.prior = own;
    cutis_example_random(&v, columns, folds + job->folds * square);
    c->off[OWN] = 0;
    for (uint32_t f = 0; f < job->folds; f++)
        c->off[OWN] += left_over(v.joint_count, folds + f * square, own);
    for (uint32_t s = 0; s < job->choices; s++) {
        v.prior = job->strengths[s] > 0 ? own : prior;
        c->off[s] = try_choice(job, &v, job->strengths[s], influences, folds, g);
    }
}

static void run_task(void *data, uint32_t index)
{
    choice_job *job = data;
    const size_t size = scratch_size(job);
    cutis_context *context = job->problem->context;
    double *scratch = cutis_alloc_array(context, size, sizeof *scratch);
    if (!scratch) atomic_store(&job->failed, true);
    for (uint32_t i = index * TASK; i < (index + 1) * TASK && i < job->vertex_count && scratch; i++)
        try_vertex(job, &job->vertices[i], scratch);
    cutis_free_array(context, scratch, size, sizeof *scratch);
}

// How far a pose is from the one before it, by the joints' rotations.
static double jump(const cutis_fit_problem *p, uint32_t e)
{
    const size_t nodes = p->data->node_count;
    const cutis_transform *a = p->examples->poses + (e - 1) * nodes, *b = a + nodes;
    double sum = 0;
    for (size_t n = 0; n < nodes; n++) {
        const cutis_quat q = a[n].rotation, r = b[n].rotation;
        const double dot =
            (double)q.w * r.w + (double)q.x * r.x + (double)q.y * r.y + (double)q.z * r.z;
        sum += 1 - dot * dot;
    }
    return sum;
}

// Folds are stretches of about the same length that end where poses jump: of examples that belong
// together (half and whole of one expression, a clip's frames) one would tell of the other.
static void bound_folds(const cutis_fit_problem *p, choice_job *job)
{
    const uint32_t count = p->examples->count, reach = count / (3 * job->folds);
    for (uint32_t f = 0; f <= job->folds; f++) {
        const uint32_t middle = (uint32_t)(((uint64_t)f * count + job->folds - 1) / job->folds);
        uint32_t best = middle;
        for (uint32_t e = middle - reach; e <= middle + reach && f > 0 && f < job->folds; e++)
            if (jump(p, e) > 1.01 * jump(p, best)) best = e;
        job->bounds[f] = best;
    }
}

static cutis_result list_vertices(cutis_fit_problem *p, choice_job *job)
{
    const uint32_t stride = p->vertex_count / VERTICES + 1;
    for (uint32_t s = 0; s < p->span_count; s++)
        job->vertex_count += (p->spans[s].primitive->vertex_count + stride - 1) / stride;
    job->vertices = cutis_arena_zero(p->arena, job->vertex_count, sizeof *job->vertices);
    if (!job->vertices) return cutis_alloc_result(p->context);
    choice_vertex *to = job->vertices;
    for (uint32_t s = 0; s < p->span_count; s++)
        for (uint32_t v = 0; v < p->spans[s].primitive->vertex_count; v += stride)
            *to++ = (choice_vertex){ .span = &p->spans[s],
                                     .vertex = v,
                                     .region = cutis_fit_region(&p->spans[s], v) };
    return CUTIS_OK;
}

// Sums of one region (UINT32_MAX: all) of a skin. @return vertices in it
static uint32_t add_region(const choice_job *job, uint32_t skin, uint32_t region, double *sums)
{
    uint32_t count = 0;
    memset(sums, 0, (CHOICES + 1) * sizeof *sums);
    for (uint32_t i = 0; i < job->vertex_count; i++) {
        const choice_vertex *c = &job->vertices[i];
        if (c->off[0] < 0 ||
            (region != UINT32_MAX && (c->span->skin != skin || c->region != region)))
            continue;
        for (size_t s = 0; s <= OWN; s++) sums[s] += c->off[s];
        count++;
    }
    return count;
}

// The strongest choice that costs a region no more than `slack` squares.
static size_t choose(const double *sums, bool weighted, double slack)
{
    double best = INFINITY;
    size_t chosen = 1; // drawn a little at least
    for (size_t s = 1; s < CHOICES; s++) best = fmin(best, sums[s]);
    if (weighted) best = fmin(best, sums[OWN]);
    for (size_t s = 1; s < (weighted ? OWN + 1 : OWN); s++)
        if (sums[s] <= best + slack) chosen = s;
    return chosen;
}

// A strength for every region, and what they give together.
static cutis_result choose_regions(cutis_fit_problem *p, const choice_job *job, bool weighted,
                                   double *total, uint32_t *kept)
{
    double sums[CHOICES + 1], slack;
    const uint32_t count = add_region(job, 0, UINT32_MAX, sums);
    slack = AS_GOOD * sums[choose(sums, weighted, 0)] / (count ? count : 1);
    const size_t other = choose(sums, weighted, slack * count);
    *total = 0, *kept = 0;
    for (uint32_t k = 0; k < p->data->skin_count; k++) {
        const uint32_t regions = 2 * p->data->skins[k].joint_count;
        if (!p->skins[k].used) continue;
        double *to = p->skins[k].strengths = cutis_arena_alloc(p->arena, regions, sizeof *to);
        if (!to) return cutis_alloc_result(p->context);
        for (uint32_t r = 0; r < regions; r++) {
            const uint32_t own = add_region(job, k, r, sums);
            const size_t s = own ? choose(sums, weighted, slack * own) : other;
            to[r] = s == OWN ? KEEP : STRENGTHS[s];
            *total += own ? sums[s] : 0;
            *kept += s == OWN ? own : 0;
        }
    }
    return CUTIS_OK;
}

// The strength of the vertex in the middle.
static double middle_strength(const cutis_fit_problem *p, const choice_job *job, uint32_t count)
{
    uint32_t below = 0;
    for (size_t s = 1; s < CHOICES; s++) {
        for (uint32_t i = 0; i < job->vertex_count; i++)
            below += job->vertices[i].off[0] >= 0 &&
                     p->skins[job->vertices[i].span->skin].strengths[job->vertices[i].region] ==
                         STRENGTHS[s];
        if (2 * below >= count) return STRENGTHS[s];
    }
    return KEEP;
}

static cutis_result settle(cutis_fit_problem *p, const choice_job *job, bool weighted)
{
    double sums[CHOICES + 1], total;
    const uint32_t count = add_region(job, 0, UINT32_MAX, sums);
    const double each = (double)count * p->examples->count;
    uint32_t kept;
    if (!count) return CUTIS_OK;
    p->left_out[0] = weighted ? sqrt(sums[OWN] / each) : 0;
    p->left_out[1] = sqrt(sums[0] / each);
    p->left_out[2] = sqrt(sums[p->options.prior > 0] / each);
    if (p->options.prior >= 0) return CUTIS_OK;
    TRY(choose_regions(p, job, weighted, &total, &kept));
    p->options.prior = kept == count ? INFINITY : middle_strength(p, job, count);
    p->kept_part = (double)kept / count;
    p->left_out[2] = sqrt(total / each);
    if (sums[0] < total / (1 + 2 * AS_GOOD)) { // what the model's own weights say misleads
        p->options.prior = p->kept_part = 0;
        p->left_out[2] = p->left_out[1];
    }
    return CUTIS_OK;
}

cutis_result cutis_fit_validate(cutis_fit_problem *p)
{
    const uint32_t count = p->examples->count;
    const bool free = p->options.prior < 0;
    bool weighted;
    choice_job job = { .problem = p, .folds = count < FOLDS ? count : FOLDS };
    if (!p->options.learn_weights || count < 2 || p->options.paper.normalise) {
        if (free) p->options.prior = 0;
        return CUTIS_OK;
    }
    atomic_init(&job.failed, false);
    job.choices = free ? CHOICES : 2;
    memcpy(job.strengths, STRENGTHS, sizeof STRENGTHS);
    if (!free) job.strengths[1] = p->options.prior;
    TRY(cutis_fit_own_weights(p, &weighted));
    bound_folds(p, &job);
    TRY(list_vertices(p, &job));
    for (uint32_t first = 0; first < job.vertex_count; first += 64 * TASK) {
        choice_job some = job;
        TRY(cutis_progress(p->context, "choosing", (double)first / job.vertex_count));
        some.vertices += first;
        some.vertex_count =
            job.vertex_count - first < 64 * TASK ? job.vertex_count - first : 64 * TASK;
        cutis_device_run(p->device, run_task, &some, (some.vertex_count + TASK - 1) / TASK);
        if (atomic_load(&some.failed))
            return cutis_fail(p->context, CUTIS_OUT_OF_MEMORY, "fit: no memory for a task");
    }
    return settle(p, &job, weighted);
}
