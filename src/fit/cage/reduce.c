// Reduction of cage weights through the core that reduces skins: a control is a matrix without
// linear part, the rest pose is one of the examples, the prior and linear precision of cages are
// on. Invariant: vertices at the same place get the same weights; nothing depends on threads.
#include "fit/cage/reduce.h"

#include <math.h>
#include <string.h>

#include <cutis/measure.h>

#include "base/error.h"
#include "base/os/os.h"

// Anchor of the gradient energy, smooth prior, sweeps (docs/spec/reduction.md 2.4b and 2.6). A
// prior of a tenth is worse on unseen poses (docs/design/cages.md).
static const double RADIUS = 0.03, PRIOR = 1e-2;
enum { SWEEPS = 20 };
// The largest sets must have this part of the fitted ones' energy to be taken
// (docs/design/cages.md).
static const double MARGIN = 0.9;
// Smooth weights are tried where vertices times controls are no more than this, and taken where
// normals (squared) times positions are less wrong on automatic poses of another seed.
static const double SMOOTH_WORK = 1e6;
enum { DECIDING = 16, SEED_DECIDING = 51 };

typedef struct reducer {
    cutis_cage_binder *in;
    bool negative;
    cutis_arena arena;
    uint32_t unit_count, *unit; ///< per vertex
    uint32_t *first, *control;  ///< original weights of units
    double *weight, *positions;
    cutis_reduce_mesh mesh;
    cutis_reduce_problem problem;
    cutis_reduce_colouring colouring;
    const float *examples, *held_out;
    uint32_t example_count, held_out_count;
    uint32_t method_count;
    cutis_reduce_method methods[CUTIS_REDUCE_METHODS];
    cutis_reduce_state states[CUTIS_REDUCE_METHODS];
    double shared_seconds;
    cutis_cage_report *report;
    cutis_arena *report_arena;
    cutis_reduce_row *rows; ///< of the report
} reducer;

void cutis_cage_report_destroy(cutis_cage_report *report)
{
    cutis_owner_destroy(report);
}

// Vertices at the same place are one unit with the weights of the first of them, which sum to 1.
static cutis_result make_units(reducer *r)
{
    const cutis_handles_body *body = &r->in->body;
    const uint32_t count = body->shape.vertex_count;
    const cutis_cage_lists *lists = &r->in->lists;
    const size_t entries = lists->first[count];
    uint32_t used = 0;
    r->unit = cutis_arena_alloc(&r->arena, count, sizeof *r->unit);
    r->first = cutis_arena_alloc(&r->arena, (size_t)count + 1, sizeof *r->first);
    r->control = cutis_arena_alloc(&r->arena, entries, sizeof *r->control);
    r->weight = cutis_arena_alloc(&r->arena, entries, sizeof *r->weight);
    r->positions = cutis_arena_alloc(&r->arena, count, 3 * sizeof *r->positions);
    if (!r->unit || !r->first || !r->control || !r->weight || !r->positions)
        return cutis_alloc_result(r->in->context);
    cutis_result result =
        cutis_weld_positions_on(r->in->context, r->in->device, count, body->positions, r->unit);
    for (uint32_t v = 0; v < count && result == CUTIS_OK; v++) {
        if (r->unit[v] != v) {
            r->unit[v] = r->unit[r->unit[v]];
            continue;
        }
        const uint32_t begin = used, unit = r->unit_count++;
        double sum = 0;
        r->unit[v] = unit;
        r->first[unit] = begin;
        for (int c = 0; c < 3; c++)
            r->positions[3 * (size_t)unit + c] = body->positions[3 * (size_t)v + c];
        for (uint32_t i = lists->first[v]; i < lists->first[v + 1]; i++) {
            if (lists->weight[i] == 0) continue;
            r->control[used] = lists->control[i];
            r->weight[used++] = lists->weight[i];
            sum += lists->weight[i];
        }
        if (!(fabs(sum) > 1e-6))
            return cutis_fail(r->in->context, CUTIS_INVALID_ARGUMENT,
                              "cage: the weights of vertex %u sum to %g", v, sum);
        for (uint32_t i = begin; i < used; i++) r->weight[i] /= sum;
    }
    r->first[r->unit_count] = used;
    return result;
}

static bool make_mesh(reducer *r)
{
    const cutis_handles_body *body = &r->in->body;
    const size_t corners = 3 * (size_t)body->shape.triangle_count;
    uint32_t *welded = cutis_arena_alloc(&r->arena, corners, sizeof *welded);
    if (!welded) return false;
    for (size_t i = 0; i < corners; i++) welded[i] = r->unit[body->triangles[i]];
    return cutis_reduce_mesh_create(r->in->device, &r->arena, r->unit_count, r->positions,
                                    body->shape.triangle_count, welded, &r->mesh);
}

static bool make_poses(reducer *r)
{
    const cutis_cage_options *o = &r->in->options;
    const uint32_t n = r->in->cage->control_count;
    const uint64_t seed = o->seed ? o->seed : 1;
    r->examples = o->examples, r->example_count = o->example_count;
    r->held_out = o->held_out, r->held_out_count = o->held_out_count;
    if (!o->examples) r->example_count = CUTIS_CAGE_EXAMPLES;
    if (!o->held_out) r->held_out_count = 3 * CUTIS_CAGE_HELD_OUT;
    const size_t pose = 3 * (size_t)n;
    float *all = cutis_arena_alloc(r->report_arena, (size_t)r->example_count + r->held_out_count,
                                   pose * sizeof *all);
    if (!all) return false;
    if (o->examples)
        memcpy(all, o->examples, r->example_count * pose * sizeof *all);
    else
        cutis_cage_automatic_poses(r->in->cage, seed, r->example_count, all);
    float *judged = all + r->example_count * pose;
    if (o->held_out) memcpy(judged, o->held_out, r->held_out_count * pose * sizeof *all);
    for (uint32_t s = 0; s < 3 && !o->held_out; s++)
        cutis_cage_automatic_poses(r->in->cage, seed + 1 + s, CUTIS_CAGE_HELD_OUT,
                                   judged + s * CUTIS_CAGE_HELD_OUT * pose);
    r->examples = all, r->held_out = judged;
    r->report->poses = all;
    r->report->example_count = r->example_count;
    r->report->held_out_count = r->held_out_count;
    return true;
}

// Columns: the cage at rest, then the examples.
static bool make_problem(reducer *r)
{
    const cutis_cage_shape *shape = &r->in->shape;
    const cutis_cage_options *o = &r->in->options;
    const uint32_t n = shape->control_count, columns = r->example_count + 1;
    double *matrices = cutis_arena_zero(&r->arena, (size_t)columns * n, 12 * sizeof *matrices);
    if (!matrices) return false;
    for (size_t i = 0; i < (size_t)columns * n; i++)
        for (int c = 0; c < 3; c++)
            matrices[12 * i + 4 * (size_t)c + 3] =
                i < n ? shape->controls[3 * i + (size_t)c] : r->examples[3 * (i - n) + (size_t)c];
    r->problem = (cutis_reduce_problem){ .context = r->in->context,
                                         .device = r->in->device,
                                         .mesh = &r->mesh,
                                         .positions = r->positions,
                                         .first = r->first,
                                         .control = r->control,
                                         .weight = r->weight,
                                         .control_count = n,
                                         .column_count = columns,
                                         .matrices = matrices,
                                         .influences = o->influences,
                                         .negative = r->negative,
                                         .radius = RADIUS,
                                         .sweeps = o->sweeps,
                                         .prior = PRIOR,
                                         .rest = shape->controls };
    return true;
}

// Cages move too far for normals to first order.
static cutis_reduce_energy energy_of(const reducer *r)
{
    return r->in->options.energy == CUTIS_REDUCE_LAPLACE ? CUTIS_REDUCE_LAPLACE
                                                         : CUTIS_REDUCE_GRADIENT;
}

static cutis_result run_sets(reducer *r, bool fitted, cutis_reduce_state *state)
{
    cutis_reduce_plan plan = { .energy = energy_of(r), .fitted = fitted };
    const bool laplace = plan.energy == CUTIS_REDUCE_LAPLACE;
    cutis_reduce_problem problem = r->problem;
    if (!problem.sweeps && !laplace) problem.sweeps = SWEEPS;
    TRY(cutis_reduce_colour(&r->arena, &r->mesh, &r->colouring, laplace ? 2 : 1, &plan.colours));
    return cutis_reduce_poisson(&problem, &plan, &r->arena, state);
}

// AUTO: both kinds of sets, and the largest only where their energy is clearly less
// (docs/spec/reduction.md 1). Not by unseen poses, as skins have it: cages have few examples, and
// halves of them say little.
static cutis_result run_poisson(reducer *r, cutis_reduce_state *state, cutis_reduce_sets *sets)
{
    cutis_reduce_state other;
    const bool automatic = *sets == CUTIS_REDUCE_SETS_AUTO;
    if (automatic) *sets = CUTIS_REDUCE_SETS_FITTED;
    cutis_result result = run_sets(r, *sets == CUTIS_REDUCE_SETS_FITTED, state);
    if (result != CUTIS_OK || !automatic) return result;
    result = run_sets(r, false, &other);
    if (result == CUTIS_OK && other.gradient < MARGIN * state->gradient) {
        *state = other;
        *sets = CUTIS_REDUCE_SETS_LARGEST;
    }
    return result;
}

static cutis_result run_row(reducer *r, uint32_t index)
{
    cutis_reduce_row *row = &r->rows[index];
    cutis_reduce_state *state = &r->states[index];
    const double start = cutis_os_seconds();
    *row = (cutis_reduce_row){ .method = r->methods[index] };
    row->sets = r->in->options.sets;
    TRY(row->method == CUTIS_REDUCE_POISSON
            ? run_poisson(r, state, &row->sets)
            : cutis_reduce_once(&r->problem, row->method, &r->arena, &r->colouring, &r->arena,
                                state, &row->sets));
    row->solve_seconds = cutis_os_seconds() - start;
    row->sweep_seconds = state->sweep_seconds;
    row->transfer_seconds = state->transfer_seconds;
    row->max_influences = cutis_reduce_most(state, r->unit_count);
    TRY(cutis_reduce_measure(&r->problem, r->in->options.energy, NULL, state->error, &row->energy,
                             NULL));
    row->sweep_count = state->sweep_count;
    row->curve_count = state->curve ? state->sweep_count + 1 : 0;
    row->curve =
        cutis_arena_copy(r->report_arena, state->curve, row->curve_count, sizeof *row->curve);
    row->seconds = cutis_os_seconds() - start + r->shared_seconds;
    if (row->method == CUTIS_REDUCE_SMOOTH) r->report->infeasible_count = state->infeasible_count;
    return CUTIS_OK;
}

// Judging ---------------------------------------------------------------------------------------

static void place_vertices(const reducer *r, const uint32_t *first, const uint32_t *control,
                           const double *weight, const float *pose, float *out)
{
    for (uint32_t v = 0; v < r->in->body.shape.vertex_count; v++) {
        const uint32_t unit = r->unit[v];
        double x[3] = { 0 };
        for (uint32_t i = first[unit]; i < first[unit + 1]; i++)
            for (int c = 0; c < 3; c++)
                x[c] += weight[i] * pose[3 * (size_t)control[i] + (size_t)c];
        for (int c = 0; c < 3; c++) out[3 * (size_t)v + (size_t)c] = (float)x[c];
    }
}

static cutis_result judge(reducer *r)
{
    const cutis_handles_body *body = &r->in->body;
    const uint32_t poses = r->example_count + r->held_out_count, n = r->in->cage->control_count;
    const cutis_surface rest = { body->shape.vertex_count, body->shape.triangle_count,
                                 body->positions, body->triangles };
    float *full = cutis_arena_alloc(&r->arena, rest.vertex_count, 3 * sizeof *full);
    float *reduced = cutis_arena_alloc(&r->arena, rest.vertex_count, 3 * sizeof *reduced);
    double *figures =
        cutis_arena_alloc(r->report_arena, (size_t)poses * r->method_count, 2 * sizeof *figures);
    if (!full || !reduced || !figures) return cutis_alloc_result(r->in->context);
    cutis_result result = CUTIS_OK;
    for (uint32_t f = 0; f < poses && result == CUTIS_OK; f++) {
        const float *pose = r->examples + 3 * (size_t)f * n;
        result = cutis_progress(r->in->context, "judging poses", (double)f / poses);
        place_vertices(r, r->first, r->control, r->weight, pose, full);
        for (uint32_t m = 0; m < r->method_count && result == CUTIS_OK; m++) {
            cutis_difference difference = { 0 };
            const cutis_reduce_state *state = &r->states[m];
            place_vertices(r, state->first, state->control, state->weight, pose, reduced);
            result = cutis_surface_compare(r->in->context, &rest, reduced, full, &difference);
            figures[(size_t)m * 2 * poses + f] = difference.position_rms;
            figures[((size_t)m * 2 + 1) * poses + f] = difference.normal_rms;
        }
    }
    for (uint32_t m = 0; m < r->method_count; m++) {
        cutis_reduce_row *row = &r->rows[m];
        row->frame_position = figures + (size_t)m * 2 * poses;
        row->frame_normal = row->frame_position + poses;
        for (uint32_t f = 0; f < poses; f++) {
            bool held_out = f >= r->example_count;
            double share = 1.0 / (held_out ? r->held_out_count : r->example_count);
            *(held_out ? &row->held_out_position : &row->example_position) +=
                share * row->frame_position[f];
            *(held_out ? &row->held_out_normal : &row->example_normal) +=
                share * row->frame_normal[f];
        }
    }
    return result;
}

// Which method ----------------------------------------------------------------------------------

// Squares of errors over some poses: positions, normals.
static cutis_result sum_errors(reducer *r, const cutis_reduce_state *state, const float *poses,
                               double *sums)
{
    const cutis_handles_body *body = &r->in->body;
    const cutis_surface rest = { body->shape.vertex_count, body->shape.triangle_count,
                                 body->positions, body->triangles };
    float *full = cutis_arena_alloc(&r->arena, rest.vertex_count, 3 * sizeof *full);
    float *reduced = cutis_arena_alloc(&r->arena, rest.vertex_count, 3 * sizeof *reduced);
    if (!full || !reduced) return cutis_alloc_result(r->in->context);
    sums[0] = sums[1] = 0;
    for (uint32_t f = 0; f < DECIDING; f++) {
        const float *pose = poses + 3 * (size_t)f * r->in->cage->control_count;
        cutis_difference d = { 0 };
        place_vertices(r, r->first, r->control, r->weight, pose, full);
        place_vertices(r, state->first, state->control, state->weight, pose, reduced);
        TRY(cutis_surface_compare(r->in->context, &rest, reduced, full, &d));
        sums[0] += d.position_rms * d.position_rms, sums[1] += d.normal_rms * d.normal_rms;
    }
    return CUTIS_OK;
}

// Whether nobody has said what to learn from or how, so that unseen poses are those we would draw.
static bool may_choose(const reducer *r)
{
    const cutis_cage_options *o = &r->in->options;
    return !o->method && !o->examples && !o->sweeps && o->sets == CUTIS_REDUCE_SETS_AUTO &&
           o->energy == CUTIS_REDUCE_NORMALS &&
           (double)r->unit_count * r->in->cage->control_count <= SMOOTH_WORK;
}

// Poisson weights follow few poses, smooth ones the functions: in loose cages the latter may be the
// nearer ones elsewhere. Both stand in the first two rows afterwards.
static cutis_result choose_method(reducer *r, cutis_reduce_method *out)
{
    const uint64_t seed = r->in->options.seed ? r->in->options.seed : 1;
    double sums[2][2];
    float *poses = cutis_arena_alloc(&r->arena, (size_t)DECIDING * r->in->cage->control_count,
                                     3 * sizeof *poses);
    if (!poses) return cutis_alloc_result(r->in->context);
    cutis_cage_automatic_poses(r->in->cage, seed + SEED_DECIDING, DECIDING, poses);
    r->methods[0] = CUTIS_REDUCE_POISSON, r->methods[1] = CUTIS_REDUCE_SMOOTH;
    for (uint32_t m = 0; m < 2; m++) {
        TRY(run_row(r, m));
        TRY(sum_errors(r, &r->states[m], poses, sums[m]));
    }
    const double normals = sums[1][1] / sums[0][1], positions = sums[1][0] / sums[0][0];
    const bool smooth = sums[0][1] > 0 && sums[0][0] > 0 && normals * normals * positions < 1;
    *out = smooth ? CUTIS_REDUCE_SMOOTH : CUTIS_REDUCE_POISSON;
    return CUTIS_OK;
}

// All rows; those that the choice has made are not made again.
static cutis_result run_rows(reducer *r)
{
    const cutis_cage_options *o = &r->in->options;
    cutis_reduce_method chosen = o->method ? o->method : CUTIS_REDUCE_POISSON;
    const bool choice = may_choose(r);
    if (choice) TRY(choose_method(r, &chosen));
    const cutis_reduce_row rows[2] = { r->rows[0], r->rows[1] };
    const cutis_reduce_state states[2] = { r->states[0], r->states[1] };
    r->method_count =
        cutis_reduce_list_methods(chosen, !o->skip_evaluation, o->compare, r->methods);
    for (uint32_t m = 0; m < r->method_count; m++) {
        const int made = r->methods[m] == CUTIS_REDUCE_POISSON  ? 0
                         : r->methods[m] == CUTIS_REDUCE_SMOOTH ? 1
                                                                : -1;
        if (choice && made >= 0)
            r->rows[m] = rows[made], r->states[m] = states[made];
        else
            TRY(run_row(r, m));
    }
    if (choice && chosen != CUTIS_REDUCE_SMOOTH && !o->compare) r->report->infeasible_count = 0;
    return CUTIS_OK;
}

// The chosen method's weights for every vertex; zeros are left out.
static bool keep_lists(const reducer *r)
{
    cutis_arena *arena = &r->in->arena;
    cutis_cage_lists *out = &r->in->lists;
    const uint32_t count = r->in->body.shape.vertex_count;
    const cutis_reduce_state *state = &r->states[0];
    const size_t most = (size_t)count * r->in->options.influences;
    uint32_t used = 0;
    out->first = cutis_arena_alloc(arena, (size_t)count + 1, sizeof *out->first);
    out->control = cutis_arena_alloc(arena, most, sizeof *out->control);
    out->weight = cutis_arena_alloc(arena, most, sizeof *out->weight);
    if (!out->first || !out->control || !out->weight) return false;
    for (uint32_t v = 0; v < count; v++) {
        const uint32_t unit = r->unit[v];
        out->first[v] = used;
        for (uint32_t i = state->first[unit]; i < state->first[unit + 1]; i++) {
            if ((float)state->weight[i] == 0) continue;
            out->control[used] = state->control[i];
            out->weight[used++] = (float)state->weight[i];
        }
    }
    out->first[count] = used;
    return true;
}

static cutis_result check_options(const cutis_cage_binder *in)
{
    const cutis_cage_options *o = &in->options;
    if (o->influences < 4 || o->influences > CUTIS_REDUCE_SET)
        return cutis_fail(in->context, CUTIS_INVALID_ARGUMENT,
                          "%u influences for a cage; 4 (what places a point) to %d can be kept",
                          o->influences, CUTIS_REDUCE_SET);
    if ((unsigned)o->method >= CUTIS_REDUCE_METHODS || o->method == CUTIS_REDUCE_MOMENTS ||
        (unsigned)o->energy > CUTIS_REDUCE_LAPLACE || (unsigned)o->sets > CUTIS_REDUCE_SETS_FITTED)
        return cutis_fail(in->context, CUTIS_INVALID_ARGUMENT,
                          "cage: unknown method, energy or sets, or moments, which are for skins");
    if ((o->examples && !o->example_count) || (o->held_out && !o->held_out_count))
        return cutis_fail(in->context, CUTIS_INVALID_ARGUMENT,
                          "cage: poses are given, but there are none");
    const size_t pose = 3 * (size_t)in->cage->control_count;
    for (size_t i = 0; o->examples && i < pose * o->example_count; i++)
        if (!isfinite(o->examples[i]))
            return cutis_fail(in->context, CUTIS_INVALID_ARGUMENT,
                              "cage: example pose %zu is not finite", i / pose);
    for (size_t i = 0; o->held_out && i < pose * o->held_out_count; i++)
        if (!isfinite(o->held_out[i]))
            return cutis_fail(in->context, CUTIS_INVALID_ARGUMENT,
                              "cage: held-out pose %zu is not finite", i / pose);
    return CUTIS_OK;
}

cutis_result cutis_cage_reduce_lists(cutis_cage_binder *in, bool negative)
{
    TRY(check_options(in));
    const cutis_cage_options *o = &in->options;
    cutis_cage_report *report = in->report;
    reducer r = { .in = in,
                  .negative = negative,
                  .arena.context = in->context,
                  .report = report,
                  .report_arena = cutis_owner_arena(report) };
    r.rows = cutis_arena_zero(r.report_arena, CUTIS_REDUCE_METHODS, sizeof *r.rows);
    if (!r.rows) return cutis_alloc_result(in->context);
    const double start = cutis_os_seconds();
    cutis_result result = make_units(&r);
    if (result == CUTIS_OK && (!make_mesh(&r) || !make_poses(&r) || !make_problem(&r)))
        result = cutis_alloc_result(in->context);
    r.shared_seconds = cutis_os_seconds() - start;
    if (result == CUTIS_OK) result = run_rows(&r);
    if (result == CUTIS_OK && !o->skip_evaluation) result = judge(&r);
    if (result == CUTIS_OK && !keep_lists(&r)) result = cutis_alloc_result(in->context);
    if (result == CUTIS_OK) {
        report->row_count = r.method_count;
        report->rows = r.rows;
        report->few_poses = 3 * r.problem.column_count < o->influences + 3;
        for (uint32_t v = 0; v < r.unit_count; v++)
            report->reduced_count += r.first[v + 1] - r.first[v] > o->influences;
    }
    cutis_arena_release(&r.arena);
    return result;
}
