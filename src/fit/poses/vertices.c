// All vertices of a fit, in tasks of fixed size. Invariant: a vertex's result depends on it alone
// and sums are added in the order of the tasks, so any number of threads gives the same bits.
#include "fit/poses/fit.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "base/error.h"
#include "device/device.h"
#include "fit/weights_vertex.h"
#include "geometry/vector.h"
#include "math/mat3.h"

enum {
    TASK = CUTIS_FIT_TASK,       // vertices
    TASK_GROUP = CUTIS_FIT_GROUP // tasks between two looks at whether to stop; a part
};

typedef struct vertex_job {
    cutis_fit_problem *problem;
    const cutis_fit_span *span;
    uint32_t task_first;
    uint32_t part;        ///< the group, of all spans'
    cutis_fit_sums *sums; ///< per task of the group
    double *errors;       ///< per task of the group: before, after of every example
    atomic_bool failed;
} vertex_job;

double cutis_fit_blend(const double *palette, uint32_t count, const uint32_t *joints,
                       const float *weights, double *out)
{
    double sum = 0, scale = 0, linear[9];
    memset(out, 0, 12 * sizeof *out);
    for (uint32_t i = 0; i < count; i++) sum += weights[i];
    for (uint32_t i = 0; i < count; i++) {
        const double *m = palette + 12 * (size_t)joints[i];
        double w = weights[i] / sum;
        for (int c = 0; c < 12; c++) out[c] += w * m[c];
        double34_linear(m, linear);
        scale += w * sqrt(double33_square(linear) / 3);
    }
    return scale;
}

static double error_square(const double *matrix, const double *rest, const float *place)
{
    double image[3];
    double34_point(matrix, rest, image);
    vec3 d = v3_sub(v3_of(image), v3_of_floats(place));
    return v3_dot(d, d);
}

// The displacement after skinning: what is missing, turned back. Always there.
static void displace_after(cutis_fit_problem *p, const double *palette, const double *matrix,
                           double scale, uint32_t example, uint32_t vertex, const double *rest,
                           double *longest)
{
    size_t at = 3 * ((size_t)example * p->vertex_count + vertex);
    const float *place = cutis_fit_place(p, example, vertex);
    double turn[9], image[3], d[3] = { 0 }, n[3] = { 0 };
    cutis_example_turn(palette, p->counts[vertex], p->joints + (size_t)vertex * p->slots,
                       p->weights + (size_t)vertex * p->slots, turn);
    double34_point(matrix, rest, image);
    for (size_t r = 0; r < 3; r++)
        for (size_t c = 0; c < 3; c++) {
            d[c] += turn[3 * r + c] * (place[r] - image[r]) / scale;
            if (p->normal_displacements) n[c] += turn[3 * r + c] * p->example_normals[at + r];
        }
    *longest = fmax(*longest, sqrt(double3_dot(d, d)));
    for (size_t c = 0; c < 3; c++) {
        p->displacements[at + c] = (float)d[c];
        if (p->normal_displacements)
            p->normal_displacements[at + c] =
                (float)(n[c] - p->rest_normals[3 * (size_t)vertex + c]);
    }
}

static void displace(cutis_fit_problem *p, const double *matrix, double scale, uint32_t example,
                     uint32_t vertex, const double *rest, bool *exact, double *longest)
{
    size_t at = 3 * ((size_t)example * p->vertex_count + vertex);
    const float *shape = cutis_fit_place(p, example, vertex);
    double place[3] = { shape[0], shape[1], shape[2] }, normal[3], d[3];
    if (!cutis_example_pull(matrix, scale, rest, place, d)) *exact = false;
    *longest = fmax(*longest, sqrt(double3_dot(d, d)));
    for (int c = 0; c < 3; c++) p->displacements[at + (size_t)c] = (float)d[c];
    if (!p->normal_displacements) return;
    for (int c = 0; c < 3; c++) normal[c] = p->example_normals[at + (size_t)c];
    cutis_example_pull_normal(matrix, p->uniform[example], scale, normal, d);
    for (int c = 0; c < 3; c++)
        p->normal_displacements[at + (size_t)c] =
            (float)(d[c] - p->rest_normals[3 * (size_t)vertex + (size_t)c]);
}

// Displacements of a vertex, with the weights it has. @param errors squares are added: of the old
// weights, then of these, for every example
static void pull(cutis_fit_problem *p, const cutis_fit_span *span, uint32_t v, cutis_fit_sums *sums,
                 double *errors)
{
    const cutis_influences *old = &span->primitive->influences;
    const uint32_t vertex = span->vertex_first + v, examples = p->examples->count;
    const size_t joints = p->data->skins[span->skin].joint_count;
    double rest[3], matrix[12];
    bool exact = true;
    for (int c = 0; c < 3; c++) rest[c] = span->positions[3 * (size_t)v + c];
    for (uint32_t e = 0; e < examples; e++) {
        const double *palette = p->skins[span->skin].palettes + 12 * e * joints;
        const float *place = cutis_fit_place(p, e, vertex);
        if (p->before) {
            uint32_t first = old->first[v];
            cutis_fit_blend(palette, old->first[v + 1] - first, old->joints + first,
                            old->weights + first, matrix);
            errors[e] += error_square(matrix, rest, place);
        }
        double scale =
            cutis_fit_blend(palette, p->counts[vertex], p->joints + (size_t)vertex * p->slots,
                            p->weights + (size_t)vertex * p->slots, matrix);
        errors[examples + e] += error_square(matrix, rest, place);
        if (p->displacements && p->options.after)
            displace_after(p, palette, matrix, scale, e, vertex, rest, &sums->longest);
        else if (p->displacements)
            displace(p, matrix, scale, e, vertex, rest, &exact, &sums->longest);
    }
    sums->damped += !exact;
}

static void run_task(void *data, uint32_t index)
{
    vertex_job *job = data;
    cutis_fit_problem *p = job->problem;
    const uint32_t candidates = CUTIS_NNLS_MAX, examples = p->examples->count;
    size_t size = (size_t)cutis_example_scratch(candidates, examples) + 3 * (size_t)examples;
    double *scratch = NULL;
    if (p->options.learn_weights && !p->learned) {
        scratch = cutis_alloc_array(p->context, size, sizeof *scratch);
        if (!scratch) {
            atomic_store(&job->failed, true);
            return;
        }
    }
    uint32_t v = (job->task_first + index) * TASK, end = v + TASK;
    if (end > job->span->primitive->vertex_count) end = job->span->primitive->vertex_count;
    for (; v < end; v++) {
        uint32_t joint[CUTIS_NNLS_MAX];
        cutis_example_weights found;
        if (scratch && cutis_fit_learn(p, job->span, v, scratch, joint, &found))
            cutis_fit_learn_end(p, job->span, v, joint, &found, &job->sums[index]);
        pull(p, job->span, v, &job->sums[index], job->errors + 2 * (size_t)index * examples);
    }
    cutis_free_array(p->context, scratch, size, sizeof *scratch);
}

void cutis_fit_add_sums(cutis_fit_problem *p, const cutis_fit_sums *sums, uint32_t tasks)
{
    for (const cutis_fit_sums *s = sums; s < sums + tasks; s++) {
        p->sums.deficient += s->deficient;
        p->sums.damped += s->damped;
        p->sums.discarded += s->discarded;
        p->sums.discarded_max = fmax(p->sums.discarded_max, s->discarded_max);
        p->sums.longest = fmax(p->sums.longest, s->longest);
    }
}

static void add_errors(cutis_fit_problem *p, const double *errors, uint32_t tasks)
{
    const uint32_t examples = p->examples->count;
    for (uint32_t t = 0; t < tasks; t++, errors += 2 * (size_t)examples)
        for (uint32_t e = 0; e < examples; e++) {
            if (p->before) p->before[e] += errors[e];
            p->after[e] += errors[examples + e];
        }
}

// Results of a group of tasks: learned here, or by whoever has made its part.
static cutis_result run_group(cutis_fit_problem *p, vertex_job *job, uint32_t tasks)
{
    const uint32_t first = job->task_first * TASK, vertex = job->span->vertex_first + first,
                   left = job->span->primitive->vertex_count - first,
                   count = left < tasks * TASK ? left : tasks * TASK;
    if (p->options.part_count)
        return cutis_fit_part_take(p, job->part, vertex, count,
                                   p->data->skins[job->span->skin].joint_count, job->sums,
                                   job->errors);
    TRY(cutis_fit_window_range(p, vertex, count));
    memset(job->sums, 0, tasks * sizeof *job->sums);
    memset(job->errors, 0, 2 * (size_t)tasks * p->examples->count * sizeof *job->errors);
    cutis_device_run(p->device, run_task, job, tasks);
    if (atomic_load(&job->failed))
        return cutis_fail(p->context, CUTIS_OUT_OF_MEMORY, "fit: no memory for a task");
    return p->part ? cutis_fit_part_put(p, vertex, count, job->sums, job->errors) : CUTIS_OK;
}

static cutis_result run_span(cutis_fit_problem *p, vertex_job *job)
{
    const uint32_t count = job->span->primitive->vertex_count, tasks = (count + TASK - 1) / TASK;
    for (uint32_t first = 0; first < tasks; first += TASK_GROUP, job->part++) {
        const uint32_t group = tasks - first < TASK_GROUP ? tasks - first : TASK_GROUP;
        if (p->part && p->part->part != job->part) continue;
        TRY(cutis_progress(p->context, "fitting",
                           (job->span->vertex_first + (double)first * TASK) / p->vertex_count));
        job->task_first = first;
        TRY(run_group(p, job, group));
        cutis_fit_add_sums(p, job->sums, group);
        add_errors(p, job->errors, group);
    }
    return CUTIS_OK;
}

// The model's own weights, as they are used when none are learned, and kept where they are locked.
static bool copy_weights(cutis_fit_problem *p)
{
    cutis_influence *list =
        cutis_arena_alloc(p->arena, cutis_vertex_longest(p->model), sizeof *list);
    if (!list) return false;
    for (uint32_t i = 0; i < p->span_count; i++)
        for (uint32_t v = 0; v < p->spans[i].primitive->vertex_count; v++) {
            size_t vertex = p->spans[i].vertex_first + v;
            uint32_t count = cutis_vertex_gather(&p->spans[i].primitive->influences, v, list);
            p->counts[vertex] = count;
            if (p->options.learn_weights) cutis_vertex_normalise(list, count);
            for (uint32_t k = 0; k < count; k++) {
                p->joints[vertex * p->slots + k] = list[k].joint;
                p->weights[vertex * p->slots + k] = (float)list[k].weight;
            }
        }
    return true;
}

// How many slots, and does every vertex have weights of its own?
static cutis_result look_at_weights(cutis_fit_problem *p, bool *all)
{
    *all = true;
    p->slots = p->options.learn_weights ? p->options.influences : 1;
    for (uint32_t i = 0; i < p->span_count; i++) {
        const cutis_influences *old = &p->spans[i].primitive->influences;
        for (uint32_t v = 0; v < p->spans[i].primitive->vertex_count; v++) {
            double sum = 0;
            for (uint32_t k = old->first ? old->first[v] : 0; old->first && k < old->first[v + 1];
                 k++)
                sum += old->weights[k];
            if (!(sum > 0)) *all = false;
            if (p->options.learn_weights && !p->locks) continue;
            if (!(sum > 0))
                return cutis_fail(p->context, CUTIS_INVALID_ARGUMENT,
                                  p->locks ? "fit: vertex %u has no weights to keep"
                                           : "fit: vertex %u has no weight; weights can be learned",
                                  p->spans[i].vertex_first + v);
            // A sum above 0 has summands.
            // NOLINTNEXTLINE(clang-analyzer-core.NullDereference)
            if (old->first[v + 1] - old->first[v] > p->slots)
                p->slots = old->first[v + 1] - old->first[v];
        }
    }
    return CUTIS_OK;
}

cutis_result cutis_fit_own_weights(cutis_fit_problem *p, bool *weighted)
{
    TRY(look_at_weights(p, weighted));
    p->counts = cutis_arena_alloc(p->arena, p->vertex_count, sizeof *p->counts);
    p->joints = cutis_arena_alloc(p->arena, p->vertex_count, p->slots * sizeof *p->joints);
    p->weights = cutis_arena_alloc(p->arena, p->vertex_count, p->slots * sizeof *p->weights);
    if (!p->counts || !p->joints || !p->weights ||
        ((!p->options.learn_weights || p->locks) && !copy_weights(p)))
        return cutis_alloc_result(p->context);
    return CUTIS_OK;
}

cutis_result cutis_fit_vertices(cutis_fit_problem *p)
{
    const size_t vertices = p->vertex_count, examples = p->examples->count;
    bool weighted;
    TRY(cutis_fit_own_weights(p, &weighted));
    p->after = cutis_arena_zero(p->arena, examples, sizeof *p->after);
    if (weighted) p->before = cutis_arena_zero(p->arena, examples, sizeof *p->before);
    if (!p->options.weights_only)
        p->displacements = cutis_arena_zero(p->arena, vertices, 3 * examples * sizeof(float));
    if (p->example_normals)
        p->normal_displacements =
            cutis_arena_zero(p->arena, vertices, 3 * examples * sizeof(float));
    vertex_job job = { .problem = p };
    atomic_init(&job.failed, false);
    job.sums = cutis_arena_alloc(p->arena, TASK_GROUP, sizeof *job.sums);
    job.errors = cutis_arena_alloc(p->arena, examples, 2 * TASK_GROUP * sizeof *job.errors);
    if (!p->after || (weighted && !p->before) || (!p->options.weights_only && !p->displacements) ||
        (p->example_normals && !p->normal_displacements) || !job.sums || !job.errors)
        return cutis_alloc_result(p->context);
    for (uint32_t i = 0; i < p->span_count; i++) {
        job.span = &p->spans[i];
        p->learned = false;
        if (p->options.learn_weights && !p->use && !(p->options.prior > 0) && !p->part &&
            !p->options.part_count)
            TRY(cutis_fit_learn_on_device(p, job.span, &p->learned));
        TRY(run_span(p, &job));
    }
    return CUTIS_OK;
}
