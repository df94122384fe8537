// Poisson sweeps: Gauss-Seidel over vertices, colour after colour. Every update solves the vertex's
// own weights with everything else fixed. There is one wait a sweep, for the fall of the energy
// that decides whether to go on. Invariants: the energy never rises, and the bits depend neither on
// the device nor on its threads.
#include <math.h>

#include "base/error.h"
#include "base/os/os.h"
#include "fit/reduce/run.h"

// Sweeps that may exchange controls, and the most that may not, after them.
enum { RESELECTING = 2, SWEEPS = 12, LAPLACE_SWEEPS = 20 };
// Exchanges tried for one vertex: beyond this the search costs more than it finds (few candidates,
// docs/spec/reduction.md 2.7).
enum { TRIALS = 48 };
// Large meshes, and cages, whose every vertex is reduced: steps are made longer, which halves the
// sweeps (docs/spec/reduction.md 2.6). The paper's energy is kept as it is as long as that ends.
enum { LARGE_MESH = 100000 };
static const double OVER_RELAXATION = 1.5;
static const double STOP = 1e-3;

// The prior's weight, tables and first energy.
static cutis_result prepare_prior(cutis_reduce_run *run, double *energy)
{
    const cutis_reduce_problem *p = run->problem;
    const uint32_t vertices = p->mesh->vertex_count, *first = run->state->first;
    const cutis_reduce_array tables[] = {
        { NULL, first[vertices], 8, &run->buffers.base, false },
        { NULL, p->mesh->first[vertices], p->influences, &run->buffers.match, false },
    };
    double sum = 0;
    uint32_t used = 0;
    *energy = 0;
    if (!(p->prior > 0)) return CUTIS_OK;
    for (uint32_t v = 0; v < vertices; v++) used += first[v + 1] > first[v];
    TRY(CUTIS_REDUCE_MAKE(run, tables));
    TRY(cutis_reduce_store(run));
    TRY(CUTIS_REDUCE_LAUNCH(reduce_trace, REDUCE_TRACE_BUFFERS,
                            cutis_reduce_items(run, run->blocks.count)));
    TRY(cutis_reduce_sum(run, run->buffers.part, false, &sum));
    run->lambda = used ? p->prior * sum / used : 0;
    TRY(CUTIS_REDUCE_LAUNCH(reduce_match, REDUCE_MATCH_BUFFERS, vertices,
                            .stride = (int)p->influences));
    TRY(CUTIS_REDUCE_LAUNCH(reduce_stray, REDUCE_STRAY_BUFFERS, vertices));
    return cutis_reduce_sum(run, run->buffers.part, false, energy);
}

// What the updates of one colour work in: a CPU's tasks.
static cutis_result make_scratch(cutis_reduce_run *run)
{
    const cutis_reduce_blocks *blocks = &run->blocks;
    uint64_t most = 0;
    for (uint32_t c = 0; c < blocks->colour_count; c++) {
        const uint32_t count = blocks->colour_first[c + 1] - blocks->colour_first[c];
        if (count > most) most = count;
    }
    const cutis_reduce_array scratch = { NULL,
                                         (most / REDUCE_TASK + 1) * REDUCE_SCRATCH_ROWS * 3 *
                                             run->problem->column_count,
                                         8 * REDUCE_BLOCK, &run->buffers.scratch, false };
    return run->gpu ? CUTIS_OK : cutis_reduce_make(run, &scratch, 1);
}

cutis_result cutis_reduce_keep(cutis_reduce_run *run)
{
    TRY(make_scratch(run));
    return CUTIS_REDUCE_LAUNCH(reduce_keep, REDUCE_KEEP_BUFFERS,
                               cutis_reduce_items(run, run->blocks.count), .lambda = run->lambda);
}

static double relaxation_of(const cutis_reduce_problem *problem, bool laplace)
{
    const bool cage = problem->prior > 0 && !laplace;
    return cage || problem->mesh->vertex_count >= LARGE_MESH ? OVER_RELAXATION : 1;
}

cutis_result cutis_reduce_prepare(cutis_reduce_run *run, cutis_reduce_energy energy,
                                  double *energy_out)
{
    const bool laplace = energy == CUTIS_REDUCE_LAPLACE;
    const uint64_t vertices = run->problem->mesh->vertex_count;
    const cutis_reduce_array rho = { NULL, 3 * vertices * run->problem->column_count, 8,
                                     &run->buffers.rho, false };
    double strayed = 0;
    run->energy = energy;
    run->omega = relaxation_of(run->problem, laplace);
    TRY(cutis_reduce_send_mesh(run, laplace));
    if (!laplace) TRY(prepare_prior(run, &strayed));
    TRY(cutis_reduce_keep(run));
    if (laplace) {
        TRY(cutis_reduce_make(run, &rho, 1));
        TRY(CUTIS_REDUCE_LAUNCH(reduce_residual, REDUCE_RESIDUAL_BUFFERS, (uint32_t)vertices));
    }
    TRY(cutis_reduce_find_energy(run, laplace, energy_out, &run->state->gradient));
    *energy_out += run->lambda * strayed;
    return CUTIS_OK;
}

// Sweeps ----------------------------------------------------------------------------------------

// Is there a vertex that has candidates outside its set, and few enough of them?
static bool may_exchange(const cutis_reduce_run *run)
{
    const cutis_reduce_problem *p = run->problem;
    for (uint32_t v = 0; v < p->mesh->vertex_count; v++) {
        const uint32_t count = run->state->first[v + 1] - run->state->first[v];
        const uint32_t had = p->first[v + 1] - p->first[v], limit = (uint32_t)run->sizes.limit;
        const uint32_t outside = (had < limit ? had : limit) - count;
        if (count >= 2 && outside > 0 && count * outside <= TRIALS) return true;
    }
    return false;
}

cutis_result cutis_reduce_sweep_colour(cutis_reduce_run *run, uint32_t colour, bool exchange)
{
    const uint32_t *first = run->blocks.colour_first + colour, trials = exchange ? TRIALS : 0;
    const uint32_t items = cutis_reduce_items(run, first[1] - first[0]);
    const int lane = (int)(first[0] * REDUCE_BLOCK);
    if (run->energy == CUTIS_REDUCE_NORMALS)
        return CUTIS_REDUCE_LAUNCH_TRYING(trials, reduce_tilted, REDUCE_TILTED_BUFFERS, items,
                                          .lane_first = lane, .trials = (int)trials,
                                          .share = run->share);
    if (run->energy == CUTIS_REDUCE_LAPLACE)
        return CUTIS_REDUCE_LAUNCH(reduce_laplace, REDUCE_LAPLACE_BUFFERS, items,
                                   .lane_first = lane, .omega = run->omega);
    return CUTIS_REDUCE_LAUNCH_TRYING(trials, reduce_gradient, REDUCE_GRADIENT_BUFFERS, items,
                                      .lane_first = lane, .trials = (int)trials,
                                      .stride = (int)run->problem->influences, .omega = run->omega,
                                      .lambda = run->lambda);
}

cutis_result cutis_reduce_sweep(cutis_reduce_run *run, bool reselect, uint32_t limit)
{
    cutis_reduce_state *state = run->state;
    const cutis_reduce_problem *p = run->problem;
    const bool normals = run->energy == CUTIS_REDUCE_NORMALS;
    // The paper's count of sweeps is kept whole, for comparison; ours end when they gain little.
    const double stop = p->stop > 0 ? p->stop : run->energy == CUTIS_REDUCE_LAPLACE ? 0 : STOP;
    const double start = cutis_os_seconds();
    const uint32_t early = reselect && !(run->lambda > 0) ? RESELECTING : 0; // a prior fixes sets
    const bool exchange = early && may_exchange(run);
    cutis_result result = CUTIS_OK;
    state->sweep_count = 0;
    for (uint32_t s = 0; s < limit && result == CUTIS_OK; s++) {
        double fall = 0;
        result = cutis_progress(p->context, normals ? "fitting normals" : "reducing weights",
                                (double)s / limit);
        for (uint32_t c = 0; c < run->blocks.colour_count && result == CUTIS_OK; c++)
            result = cutis_reduce_sweep_colour(run, c, exchange && s < early);
        if (result == CUTIS_OK) result = cutis_reduce_sum(run, run->buffers.fall, true, &fall);
        if (result != CUTIS_OK) break;
        state->curve[s + 1] = state->curve[s] - fall;
        state->sweep_count = s + 1;
        if (state->curve[s] <= 0 || (fall < stop * state->curve[s] && s >= early)) break;
    }
    state->sweep_seconds += cutis_os_seconds() - start;
    return result;
}

static uint32_t sweep_limit(const cutis_reduce_problem *problem, const cutis_reduce_plan *plan)
{
    if (problem->sweeps) return problem->sweeps;
    if (plan->energy != CUTIS_REDUCE_LAPLACE) return SWEEPS + (plan->reselect ? RESELECTING : 0);
    const uint32_t paper = (uint32_t)ceil(0.001 * problem->mesh->vertex_count);
    return paper > LAPLACE_SWEEPS ? paper : LAPLACE_SWEEPS;
}

// Blocks of the plan's colours, which are made here where there are none yet.
static cutis_result lay_out(cutis_reduce_run *run, const cutis_reduce_plan *plan)
{
    cutis_reduce_colours own;
    if (plan->colours) return cutis_reduce_lay_out(run, plan->colours);
    if (!cutis_reduce_colours_create(&run->arena, run->problem->mesh,
                                     plan->energy == CUTIS_REDUCE_LAPLACE ? 2 : 1, &own))
        return cutis_alloc_result(run->problem->context);
    return cutis_reduce_lay_out(run, &own);
}

// All kernels of a run together, before the first is launched: a GPU's compiler takes seconds for
// some of them.
static cutis_result compile_poisson(const cutis_reduce_run *run, const cutis_reduce_plan *plan)
{
    const bool laplace = plan->energy == CUTIS_REDUCE_LAPLACE;
    const bool normals = plan->energy == CUTIS_REDUCE_NORMALS;
    const bool prior = !laplace && run->problem->prior > 0, exchange = plan->reselect;
    const struct {
        const cutis_compute_kernel *kernel;
        bool wanted, tries;
    } all[] = {
        { &cutis_compute_reduce_target, true, false },
        { &cutis_compute_reduce_choose, true, false },
        { &cutis_compute_reduce_load, true, false },
        { &cutis_compute_reduce_weigh, true, false },
        { &cutis_compute_reduce_keep, true, false },
        { &cutis_compute_reduce_store, true, false },
        { &cutis_compute_reduce_energy, true, false },
        { &cutis_compute_reduce_sum, true, false },
        { &cutis_compute_reduce_gradient, !laplace, exchange },
        { &cutis_compute_reduce_laplace, laplace, false },
        { &cutis_compute_reduce_residual, laplace, false },
        { &cutis_compute_reduce_trace, prior, false },
        { &cutis_compute_reduce_match, prior, false },
        { &cutis_compute_reduce_stray, prior, false },
        { &cutis_compute_reduce_normal, normals, false },
        { &cutis_compute_reduce_tilt, normals, false },
        { &cutis_compute_reduce_metric, normals, false },
        { &cutis_compute_reduce_tilted, normals, exchange },
    };
    cutis_reduce_kernel list[CUTIS_REDUCE_COMPILED];
    uint32_t count = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (all[i].wanted) list[count++] = (cutis_reduce_kernel){ all[i].kernel, 0 };
        if (all[i].wanted && all[i].tries)
            list[count++] = (cutis_reduce_kernel){ all[i].kernel, TRIALS };
    }
    return cutis_reduce_compile(run, list, count);
}

static cutis_result run_poisson(cutis_reduce_run *run, const cutis_reduce_plan *plan,
                                uint32_t limit)
{
    cutis_reduce_state *state = run->state;
    const bool laplace = plan->energy == CUTIS_REDUCE_LAPLACE;
    TRY(compile_poisson(run, plan));
    TRY(cutis_reduce_choose_sets(run));
    TRY(lay_out(run, plan));
    TRY(cutis_reduce_weigh(run, true));
    TRY(cutis_reduce_prepare(run, laplace ? CUTIS_REDUCE_LAPLACE : CUTIS_REDUCE_GRADIENT,
                             &state->curve[0]));
    TRY(cutis_reduce_sweep(run, plan->reselect, limit));
    if (plan->energy != CUTIS_REDUCE_NORMALS)
        return cutis_reduce_find_energy(run, laplace, &state->energy, &state->gradient);
    TRY(cutis_reduce_prepare_normals(run, plan->surface, plan->far, &state->curve[0]));
    TRY(cutis_reduce_sweep(run, plan->reselect, limit));
    state->energy = state->curve[state->sweep_count];
    return CUTIS_OK;
}

cutis_result cutis_reduce_poisson(const cutis_reduce_problem *problem,
                                  const cutis_reduce_plan *plan, cutis_arena *arena,
                                  cutis_reduce_state *state)
{
    const uint32_t limit = sweep_limit(problem, plan);
    cutis_reduce_run run;
    if (!cutis_reduce_state_create(problem, arena, state))
        return cutis_alloc_result(problem->context);
    state->curve = cutis_arena_alloc(arena, (size_t)limit + 1, sizeof *state->curve);
    if (!state->curve) return cutis_alloc_result(problem->context);
    cutis_result result = cutis_reduce_open(problem, plan->fitted, state, &run);
    if (result == CUTIS_OK) result = run_poisson(&run, plan, limit);
    if (result == CUTIS_OK) result = cutis_reduce_read_back(&run, !problem->results);
    cutis_reduce_close(&run);
    return result;
}
