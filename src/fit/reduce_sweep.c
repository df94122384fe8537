// Poisson sweeps: Gauss-Seidel over vertices, colour after colour. Every update solves the vertex's
// own weights for a moved target with everything else fixed. Invariants: the energy never rises,
// and the bits do not depend on threads.
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "fit/clones.h"
#include "fit/reduce_prior.h"
#include "fit/reduce_device.h"
#include "fit/reduce_vertex.h"
//
#include "kernel/kernel.h"
//
#include "kernel/item.h"

#define REDUCE_SET        CUTIS_REDUCE_SET
#define REDUCE_CANDIDATES CUTIS_REDUCE_CANDIDATES
#include "kernel/reduce.h"

// Pull of a sweep towards the vertex's current weights: proximal, so the fixed point is the
// energy's own (spec 3).
static const double PROXIMAL = 1e-3;
// An exchange must lower the vertex's energy by this share of what is there, or rounding would
// decide.
static const double EXCHANGE_MARGIN = 1e-6;
// Exchanges at one vertex in one sweep.
enum { EXCHANGES = 4 };
// Exchanges tried for one: beyond this the search costs more than it finds (few candidates,
// spec 2.7).
enum { EXCHANGE_TRIALS = 48 };
// Sweeps of the gradient energy: so many that may exchange controls, then at most so many that may
// not.
enum { RESELECTING = 2, GRADIENT_SWEEPS = 12, LAPLACE_SWEEPS = 20 };
// Large meshes: steps are made longer, which halves the sweeps (spec 2.6).
enum { LARGE_MESH = 100000 };
static const double OVER_RELAXATION = 1.5;
static const double STOP = 1e-3;

double cutis_reduce_anchor(const cutis_reduce_problem *problem, uint32_t v)
{
    double ell = problem->radius * problem->mesh->extent;
    return problem->mesh->area[v] / (ell * ell);
}

// The error a vertex would have if it were free: its neighbours' average. false: zero, as it is
// now.
CUTIS_FIT_CLONES
static bool free_error(const cutis_reduce_problem *problem, const double *error, uint32_t v,
                       uint32_t rows, double *restrict out, double weight)
{
    const cutis_reduce_mesh *mesh = problem->mesh;
    const double *own = error + (size_t)v * rows;
    for (uint32_t r = 0; r < rows; r++) out[r] = 0;
    for (uint32_t i = mesh->first[v]; i < mesh->first[v + 1]; i++) {
        const double *other = error + (size_t)mesh->neighbour[i] * rows, l = mesh->cotangent[i];
        for (uint32_t r = 0; r < rows; r++) out[r] += l * other[r];
    }
    double size = 0;
    for (uint32_t r = 0; r < rows; r++) out[r] *= weight;
    for (uint32_t r = 0; r < rows; r++) size += fabs(out[r]) + fabs(own[r]);
    return size > 0;
}

CUTIS_FIT_CLONES
static double square_distance(const double *a, const double *b, uint32_t rows)
{
    double sum = 0;
    for (uint32_t r = 0; r < rows; r++) sum += (a[r] - b[r]) * (a[r] - b[r]);
    return sum;
}

// Solve the vertex for the wished error on its set and store weights. The error is left to the
// caller.
CUTIS_FIT_CLONES
static void solve_vertex(const cutis_reduce_problem *problem, cutis_reduce_state *state, uint32_t v,
                         const double *wish, double omega)
{
    const uint32_t begin = state->first[v], n = state->first[v + 1] - begin,
                   rows = 3 * problem->column_count;
    const size_t gram = state->gram_first[v];
    double *weight = state->weight + begin, right[CUTIS_REDUCE_SET], now[CUTIS_REDUCE_SET];
    for (uint32_t i = 0; i < n; i++)
        right[i] = reduce_dot((int)rows, state->offset + (size_t)(begin + i) * rows, wish);
    memcpy(now, weight, n * sizeof *weight);
    reduce_kept_solve((int)n, state->gram + gram, PROXIMAL, right, now, problem->negative,
                      state->inverse + state->inverse_first[v], &state->active[v]);
    if (omega != 1) reduce_relax(weight, now, (int)n, problem->negative, omega);
    memcpy(weight, now, n * sizeof *weight);
}

// A set being tried for a vertex: indices into its candidates.
typedef struct trial {
    uint32_t count, member[CUTIS_REDUCE_SET];
    double weight[CUTIS_REDUCE_SET];
    double value; ///< a^T G a - 2 h^T a
} trial;

// The candidates of one vertex with their Gram matrix; too large for arrays on the stack when there
// are many poses.
typedef struct choice {
    uint32_t count, control[CUTIS_REDUCE_CANDIDATES];
    double gram[CUTIS_REDUCE_CANDIDATES * CUTIS_REDUCE_CANDIDATES], right[CUTIS_REDUCE_CANDIDATES];
} choice;

static void try_set(const choice *all, const double *reference, bool negative, trial *out)
{
    cutis_reduce_local local;
    double pull[CUTIS_REDUCE_SET];
    uint32_t n = local.count = out->count;
    if (n == 0) return; // never: sets have at least two members here
    for (uint32_t r = 0; r < n; r++) {
        pull[r] = local.weight[r] = reference[out->member[r]];
        local.right[r] = all->right[out->member[r]];
        for (uint32_t c = 0; c < n; c++)
            local.gram[r * n + c] = all->gram[out->member[r] * all->count + out->member[c]];
    }
    // What left the set goes to its largest member, so that the start is feasible.
    double sum = 0;
    uint32_t largest = 0;
    for (uint32_t r = 0; r < n; r++) {
        sum += local.weight[r];
        if (local.weight[r] > local.weight[largest]) largest = r;
    }
    local.weight[largest] += 1 - sum;
    cutis_reduce_regularise(&local, PROXIMAL, pull);
    cutis_reduce_solve(&local, negative);
    out->value = 0;
    for (uint32_t r = 0; r < n; r++) {
        double row = -2 * all->right[out->member[r]];
        for (uint32_t c = 0; c < n; c++)
            row += all->gram[out->member[r] * all->count + out->member[c]] * local.weight[c];
        out->value += local.weight[r] * row;
        out->weight[r] = local.weight[r];
    }
}

// All exchanges of one member for one outsider; the best, if it is better than `best`.
static bool exchange(const choice *all, bool negative, double scale, trial *best)
{
    double reference[CUTIS_REDUCE_CANDIDATES] = { 0 };
    bool inside[CUTIS_REDUCE_CANDIDATES] = { false }, better = false;
    trial start = *best, next;
    for (uint32_t r = 0; r < start.count; r++) {
        inside[start.member[r]] = true;
        reference[start.member[r]] = start.weight[r];
    }
    for (uint32_t j = 0; j < all->count; j++) {
        if (inside[j]) continue;
        for (uint32_t r = 0; r < start.count; r++) {
            next = start;
            next.member[r] = j;
            try_set(all, reference, negative, &next);
            if (next.value < best->value - EXCHANGE_MARGIN * scale) *best = next, better = true;
        }
    }
    return better;
}

static void gather_choice(const cutis_reduce_problem *problem, uint32_t v, const double *target,
                          const double *wish, choice *out, uint32_t *list)
{
    enum { POSES = 8 };
    float offset[CUTIS_REDUCE_CANDIDATES * 3 * POSES];
    double part[CUTIS_REDUCE_CANDIDATES * CUTIS_REDUCE_CANDIDATES];
    const uint32_t n = out->count;
    memset(out->gram, 0, (size_t)n * n * sizeof *out->gram);
    memset(out->right, 0, n * sizeof *out->right);
    for (uint32_t begin = 0; begin < problem->column_count; begin += POSES) {
        cutis_reduce_problem some = *problem;
        some.matrices += 12 * (size_t)begin * problem->control_count;
        some.column_count = problem->column_count - begin;
        if (some.column_count > POSES) some.column_count = POSES;
        uint32_t rows = 3 * some.column_count;
        for (uint32_t i = 0; i < n; i++) {
            out->control[i] = problem->control[list[i]];
            cutis_reduce_offset(&some, v, out->control[i], target + 3 * (size_t)begin,
                                offset + (size_t)i * rows);
            out->right[i] +=
                cutis_reduce_dot(rows, offset + (size_t)i * rows, wish + 3 * (size_t)begin);
        }
        cutis_reduce_gram(n, rows, offset, part);
        for (uint32_t i = 0; i < n * n; i++) out->gram[i] += part[i];
    }
}

// Keep a new set: controls ascending, offsets and Gram matrix to match.
static void adopt(const cutis_reduce_problem *problem, cutis_reduce_state *state, uint32_t v,
                  const choice *all, trial *set, const double *target)
{
    uint32_t begin = state->first[v], n = set->count, rows = 3 * problem->column_count;
    for (uint32_t i = 1; i < n; i++)
        for (uint32_t k = i; k > 0 && set->member[k - 1] > set->member[k]; k--) {
            uint32_t member = set->member[k];
            double weight = set->weight[k];
            set->member[k] = set->member[k - 1], set->weight[k] = set->weight[k - 1];
            set->member[k - 1] = member, set->weight[k - 1] = weight;
        }
    double *packed = state->gram + state->gram_first[v];
    state->active[v] = 0; // another set, another inverse
    for (uint32_t r = 0; r < n; r++) {
        state->control[begin + r] = all->control[set->member[r]];
        state->weight[begin + r] = set->weight[r];
        cutis_reduce_offset(problem, v, state->control[begin + r], target,
                            state->offset + (size_t)(begin + r) * rows);
        for (uint32_t c = 0; c <= r; c++)
            *packed++ = all->gram[set->member[r] * all->count + set->member[c]];
    }
}

// Look for a better set at the wished error. `target` is scratch of 3 * column_count.
static void reselect_vertex(const cutis_reduce_problem *problem, cutis_reduce_state *state,
                            uint32_t v, const double *wish, double *target)
{
    choice all;
    trial best = { .count = state->first[v + 1] - state->first[v] };
    double reference[CUTIS_REDUCE_CANDIDATES] = { 0 }, scale = 0;
    uint32_t list[CUTIS_REDUCE_SET];
    all.count = cutis_reduce_largest(problem, v, cutis_reduce_candidate_limit(problem), list);
    cutis_reduce_target(problem, v, target);
    gather_choice(problem, v, target, wish, &all, list);
    for (uint32_t r = 0; r < best.count; r++)
        for (uint32_t i = 0; i < all.count; i++)
            if (all.control[i] == state->control[state->first[v] + r]) {
                best.member[r] = i;
                reference[i] = state->weight[state->first[v] + r];
            }
    for (uint32_t r = 0; r < 3 * problem->column_count; r++) scale += wish[r] * wish[r];
    try_set(&all, reference, problem->negative, &best);
    for (int n = 0; n < EXCHANGES; n++)
        if (!exchange(&all, problem->negative, scale + best.value, &best)) break;
    adopt(problem, state, v, &all, &best, target);
}

typedef struct sweep_job {
    const cutis_reduce_problem *problem;
    cutis_reduce_state *state;
    const cutis_reduce_colours *colours;
    uint32_t colour;
    bool laplace, reselect;
    double omega;
    double prior;    ///< weight of the smooth prior, or 0
    double *rho;     ///< laplace
    double *scratch; ///< 2 * 3 * column_count per task of the largest colour
    double *fall;    ///< per task: by how much the energy fell
} sweep_job;

// One update under the gradient energy. @return the fall of the energy
static double gradient_vertex(const sweep_job *job, uint32_t v, double *scratch)
{
    const cutis_reduce_problem *problem = job->problem;
    cutis_reduce_state *state = job->state;
    if (job->prior > 0)
        return cutis_reduce_prior_update(problem, state, job->prior, v, job->omega, scratch);
    uint32_t rows = 3 * problem->column_count, begin = state->first[v];
    uint32_t count = state->first[v + 1] - begin;
    double *own = state->error + (size_t)v * rows, *wish = scratch;
    double d = problem->mesh->diagonal[v] + cutis_reduce_anchor(problem, v);
    if (count < 2 || !free_error(problem, state->error, v, rows, wish, 1 / d)) return 0;
    double before = square_distance(own, wish, rows);
    uint32_t had = problem->first[v + 1] - problem->first[v],
             limit = cutis_reduce_candidate_limit(problem);
    uint32_t outside = (had < limit ? had : limit) - count;
    if (job->reselect && outside > 0 && count * outside <= EXCHANGE_TRIALS)
        reselect_vertex(problem, state, v, wish, scratch + rows);
    else
        solve_vertex(problem, state, v, wish, job->omega);
    cutis_reduce_blend(count, rows, state->offset + (size_t)begin * rows, state->weight + begin,
                       own);
    return d * (before - square_distance(own, wish, rows));
}

// Row weight of the paper's energy: 1 / area, so that the sum approximates the integral.
static double row_weight(const cutis_reduce_mesh *mesh, uint32_t v)
{
    return 1 / mesh->area[v];
}

// One update under the paper's energy; rho is brought up to date. @return the fall of the energy
static double laplace_vertex(const sweep_job *job, uint32_t v, double *scratch)
{
    const cutis_reduce_problem *problem = job->problem;
    const cutis_reduce_mesh *mesh = problem->mesh;
    cutis_reduce_state *state = job->state;
    uint32_t rows = 3 * problem->column_count, begin = state->first[v];
    uint32_t count = state->first[v + 1] - begin;
    double *own = state->error + (size_t)v * rows, *wish = scratch, *step = scratch + rows;
    double m = row_weight(mesh, v), l = -mesh->diagonal[v], a = m * l * l, fall = 0;
    if (count < 2) return 0;
    for (uint32_t r = 0; r < rows; r++) step[r] = m * l * job->rho[(size_t)v * rows + r];
    for (uint32_t i = mesh->first[v]; i < mesh->first[v + 1]; i++) {
        uint32_t u = mesh->neighbour[i];
        double w = row_weight(mesh, u), c = mesh->cotangent[i];
        a += w * c * c;
        for (uint32_t r = 0; r < rows; r++) step[r] += w * c * job->rho[(size_t)u * rows + r];
    }
    if (!(a > 0)) return 0;
    double size = 0;
    for (uint32_t r = 0; r < rows; r++) {
        wish[r] = own[r] - step[r] / a;
        size += fabs(step[r]);
    }
    if (size == 0) return 0;
    fall = square_distance(own, wish, rows);
    solve_vertex(problem, state, v, wish, job->omega);
    memcpy(step, own, rows * sizeof *step);
    cutis_reduce_blend(count, rows, state->offset + (size_t)begin * rows, state->weight + begin,
                       own);
    fall -= square_distance(own, wish, rows);
    for (uint32_t r = 0; r < rows; r++) job->rho[(size_t)v * rows + r] += l * (own[r] - step[r]);
    for (uint32_t i = mesh->first[v]; i < mesh->first[v + 1]; i++) {
        double *rho = job->rho + (size_t)mesh->neighbour[i] * rows, c = mesh->cotangent[i];
        for (uint32_t r = 0; r < rows; r++) rho[r] += c * (own[r] - step[r]);
    }
    return a * fall;
}

// Vertices of a colour lie apart, so the processor does not see them coming: ask for the records of
// a later one while this one is solved.
static void fetch_ahead(const sweep_job *job, uint32_t v)
{
    const cutis_reduce_state *state = job->state;
    const size_t rows = 3 * (size_t)job->problem->column_count, line = 64;
    const char *offset = (const char *)(state->offset + state->first[v] * rows);
    const char *offset_end = (const char *)(state->offset + state->first[v + 1] * rows);
    const char *inverse = (const char *)(state->inverse + state->inverse_first[v]);
    const char *inverse_end = (const char *)(state->inverse + state->inverse_first[v + 1]);
    for (; offset < offset_end; offset += line) __builtin_prefetch(offset);
    for (; inverse < inverse_end; inverse += line) __builtin_prefetch(inverse);
    __builtin_prefetch(state->weight + state->first[v]);
    __builtin_prefetch(state->error + v * rows);
    __builtin_prefetch(&state->active[v]);
}

static void sweep_task(void *data, uint32_t index)
{
    const sweep_job *job = data;
    const cutis_reduce_colours *colours = job->colours;
    double *scratch = job->scratch + 6 * (size_t)job->problem->column_count * index, fall = 0;
    uint32_t i = colours->first[job->colour] + index * CUTIS_REDUCE_TASK;
    uint32_t end = colours->first[job->colour + 1];
    if (end - i > CUTIS_REDUCE_TASK) end = i + CUTIS_REDUCE_TASK;
    for (; i < end; i++) {
        if (i + 2 < end) fetch_ahead(job, colours->vertex[i + 2]);
        fall += job->laplace ? laplace_vertex(job, colours->vertex[i], scratch)
                             : gradient_vertex(job, colours->vertex[i], scratch);
    }
    job->fall[index] = fall;
}

// All vertices once. @return the fall of the energy
static double sweep_once(sweep_job *job)
{
    double fall = 0;
    for (job->colour = 0; job->colour < job->colours->count; job->colour++) {
        uint32_t count = job->colours->first[job->colour + 1] - job->colours->first[job->colour];
        uint32_t tasks = (count + CUTIS_REDUCE_TASK - 1) / CUTIS_REDUCE_TASK;
        cutis_reduce_run(job->problem, sweep_task, job, tasks);
        for (uint32_t t = 0; t < tasks; t++) fall += job->fall[t];
    }
    return fall;
}

static uint32_t sweep_limit(const cutis_reduce_problem *problem, bool laplace, bool reselect)
{
    if (problem->sweeps) return problem->sweeps;
    if (!laplace) return GRADIENT_SWEEPS + (reselect ? RESELECTING : 0);
    uint32_t paper = (uint32_t)ceil(0.001 * problem->mesh->vertex_count);
    return paper > LAPLACE_SWEEPS ? paper : LAPLACE_SWEEPS;
}

// The paper's count of sweeps is kept whole, for comparison; ours end when they gain little.
static double stop_of(const cutis_reduce_problem *problem, bool laplace)
{
    return problem->stop > 0 ? problem->stop : laplace ? 0 : STOP;
}

static cutis_result sweep_all(sweep_job *job, uint32_t limit)
{
    cutis_reduce_state *state = job->state;
    const double stop = stop_of(job->problem, job->laplace);
    bool may_reselect = job->reselect;
    for (uint32_t s = 0; s < limit; s++) {
        cutis_result result =
            cutis_progress(job->problem->context, "reducing weights", (double)s / limit);
        if (result != CUTIS_OK) return result;
        job->reselect = may_reselect && s < RESELECTING;
        double fall = sweep_once(job);
        state->curve[s + 1] = state->curve[s] - fall;
        state->sweep_count = s + 1;
        if (state->curve[s] <= 0 || (fall < stop * state->curve[s] && !job->reselect)) break;
    }
    return CUTIS_OK;
}

cutis_result cutis_reduce_sweep(const cutis_reduce_problem *problem, cutis_arena *arena,
                                cutis_reduce_energy energy, const cutis_reduce_colours *colours,
                                bool reselect, cutis_reduce_state *state)
{
    cutis_context *context = problem->context;
    const uint32_t vertices = problem->mesh->vertex_count;
    const size_t rows = 3 * (size_t)problem->column_count;
    sweep_job job = { .problem = problem,
                      .state = state,
                      .colours = colours,
                      .laplace = energy == CUTIS_REDUCE_LAPLACE,
                      .reselect = reselect,
                      .omega = vertices >= LARGE_MESH ? OVER_RELAXATION : 1 };
    const uint32_t limit = sweep_limit(problem, job.laplace, reselect);
    const size_t tasks = vertices / CUTIS_REDUCE_TASK + 1, rho_count = job.laplace ? vertices : 0;
    state->curve = cutis_arena_alloc(arena, (size_t)limit + 1, sizeof *state->curve);
    job.scratch = cutis_alloc_array(context, tasks * 2, rows * sizeof(double));
    job.fall = cutis_alloc_array(context, tasks, sizeof(double));
    job.rho = cutis_alloc_array(context, rho_count, rows * sizeof(double));
    cutis_result result = CUTIS_OK;
    if (!state->curve || !job.scratch || !job.fall || !job.rho) {
        result = cutis_alloc_result(context);
    } else {
        if (job.laplace) cutis_reduce_residual(problem, state->error, job.rho);
        if (!job.laplace) job.prior = cutis_reduce_prior_weight(problem, state);
        state->curve[0] = cutis_reduce_measure(problem, energy, state->error, NULL) +
                          job.prior * cutis_reduce_prior_energy(problem, state);
        result = sweep_all(&job, limit);
        state->energy = cutis_reduce_measure(problem, energy, state->error, &state->gradient);
    }
    if (job.scratch) cutis_free_array(context, job.scratch, tasks * 2, rows * sizeof(double));
    if (job.fall) cutis_free_array(context, job.fall, tasks, sizeof(double));
    if (job.rho) cutis_free_array(context, job.rho, rho_count, rows * sizeof(double));
    return result;
}

void cutis_reduce_update(const cutis_reduce_problem *problem, cutis_reduce_state *state,
                         cutis_reduce_energy energy, double *rho, uint32_t vertex, double *scratch)
{
    sweep_job job = { .problem = problem, .state = state, .omega = 1, .rho = rho };
    if (energy == CUTIS_REDUCE_GRADIENT) job.prior = cutis_reduce_prior_weight(problem, state);
    if (energy == CUTIS_REDUCE_LAPLACE)
        laplace_vertex(&job, vertex, scratch);
    else
        gradient_vertex(&job, vertex, scratch);
}

void cutis_reduce_residual(const cutis_reduce_problem *problem, const double *error, double *rho)
{
    const cutis_reduce_mesh *mesh = problem->mesh;
    const uint32_t rows = 3 * problem->column_count;
    for (uint32_t v = 0; v < mesh->vertex_count; v++) {
        double *out = rho + (size_t)v * rows;
        for (uint32_t r = 0; r < rows; r++)
            out[r] = -mesh->diagonal[v] * error[(size_t)v * rows + r];
        for (uint32_t i = mesh->first[v]; i < mesh->first[v + 1]; i++)
            for (uint32_t r = 0; r < rows; r++)
                out[r] += mesh->cotangent[i] * error[(size_t)mesh->neighbour[i] * rows + r];
    }
}

typedef struct measure_job {
    const cutis_reduce_problem *problem;
    const double *error;
    bool laplace;
    double (*sums)[2]; ///< per task: edges, anchors
} measure_job;

// Energy of a task's vertices, in order.
CUTIS_FIT_CLONES
static void measure_stretch(const measure_job *job, uint32_t index, double sums[2])
{
    const cutis_reduce_problem *problem = job->problem;
    const cutis_reduce_mesh *mesh = problem->mesh;
    uint32_t v = index * CUTIS_REDUCE_TASK;
    sums[0] = sums[1] = 0;
    for (uint32_t end = v + CUTIS_REDUCE_TASK; v < end && v < mesh->vertex_count; v++) {
        double edges, anchors;
        double pull = job->laplace ? row_weight(mesh, v) : cutis_reduce_anchor(problem, v);
        reduce_energy((const int *)mesh->first, (const int *)mesh->neighbour, mesh->cotangent,
                      mesh->diagonal[v], pull, job->error, (int)(3 * problem->column_count),
                      job->laplace, (int)v, &edges, &anchors);
        sums[0] += edges;
        sums[1] += anchors;
    }
}

static void measure_task(void *data, uint32_t index)
{
    const measure_job *job = data;
    measure_stretch(job, index, job->sums[index]);
}

double cutis_reduce_measure(const cutis_reduce_problem *problem, cutis_reduce_energy energy,
                            const double *error, double *gradient)
{
    const uint32_t tasks =
        (problem->mesh->vertex_count + CUTIS_REDUCE_TASK - 1) / CUTIS_REDUCE_TASK;
    measure_job job = { problem, error, energy == CUTIS_REDUCE_LAPLACE, NULL };
    double edges = 0, anchors = 0, one[2];
    job.sums = cutis_alloc_array(problem->context, tasks, sizeof *job.sums);
    if (job.sums) cutis_reduce_run(problem, measure_task, &job, tasks);
    for (uint32_t t = 0; t < tasks; t++) { // without memory for the sums: one after the other
        if (!job.sums) measure_stretch(&job, t, one);
        edges += job.sums ? job.sums[t][0] : one[0];
        anchors += job.sums ? job.sums[t][1] : one[1];
    }
    if (job.sums) cutis_free_array(problem->context, job.sums, tasks, sizeof *job.sums);
    if (gradient) *gradient = edges;
    return edges + anchors;
}

static cutis_result poisson_on_device(const cutis_reduce_problem *problem, cutis_arena *arena,
                                      cutis_reduce_energy energy,
                                      const cutis_reduce_colours *colours, bool fitted,
                                      bool reselect, cutis_reduce_state *state)
{
    const bool laplace = energy == CUTIS_REDUCE_LAPLACE;
    cutis_reduce_schedule schedule = {
        .fitted = fitted,
        .laplace = laplace,
        .limit = sweep_limit(problem, laplace, reselect),
        .reselecting = reselect ? RESELECTING : 0,
        .trials = EXCHANGE_TRIALS,
        .omega = problem->mesh->vertex_count >= LARGE_MESH ? OVER_RELAXATION : 1,
        .stop = stop_of(problem, laplace),
    };
    if (!cutis_reduce_state_create(problem, arena, false, state))
        return cutis_alloc_result(problem->context);
    state->curve = cutis_arena_alloc(arena, (size_t)schedule.limit + 1, sizeof *state->curve);
    if (!state->curve) return cutis_alloc_result(problem->context);
    return cutis_reduce_device_run(problem, colours, &schedule, state);
}

cutis_result cutis_reduce_poisson(const cutis_reduce_problem *problem, cutis_arena *arena,
                                  cutis_reduce_energy energy, const cutis_reduce_colours *colours,
                                  bool fitted, bool reselect, cutis_reduce_state *state)
{
    if (cutis_reduce_on_device(problem))
        return poisson_on_device(problem, arena, energy, colours, fitted, reselect, state);
    if (!cutis_reduce_start(problem, arena, fitted, true, state))
        return cutis_alloc_result(problem->context);
    return cutis_reduce_sweep(problem, arena, energy, colours, reselect, state);
}
