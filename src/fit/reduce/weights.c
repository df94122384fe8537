// Reducing the influences of a model: poses, groups, methods, errors, the new model. Invariant:
// nothing is published unless everything succeeded; the result depends on the model and the options
// only.
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/os/os.h"
#include "fit/reduce/bound.h"
#include "fit/reduce/joints.h"
#include "fit/reduce/repair.h"

enum { METHODS = CUTIS_REDUCE_METHODS };
// Weight of automatic poses beside real ones, and the anchor's radius on skeletons
// (docs/spec/reduction.md 1 and 2.4b).
static const double AUTOMATIC_WEIGHT = 0.05;
static const double RADIUS = 0.02;

static const char *const method_names[METHODS] = { "default",  "geometric", "smooth",
                                                   "klargest", "poisson",   "moments" };
static const char *const sets_names[3] = { "auto", "largest", "fitted" };

const char *cutis_reduce_method_name(cutis_reduce_method method)
{
    return (unsigned)method < METHODS ? method_names[method] : "unknown";
}

const char *cutis_reduce_sets_name(cutis_reduce_sets sets)
{
    return (unsigned)sets < 3 ? sets_names[sets] : "unknown";
}

void cutis_reduce_report_destroy(cutis_reduce_report *report)
{
    cutis_owner_destroy(report);
}

// Everything a run of methods shares.
typedef struct run {
    const cutis_model *model;
    cutis_context *context;
    cutis_device *device;
    cutis_reduce_options options;
    cutis_arena arena; ///< groups, poses, results
    cutis_reduce_poses poses;
    cutis_reduce_groups groups;
    double *column_weights;             ///< per pose that is learned from
    double **matrices;                  ///< per group: 12 per pose and joint
    cutis_reduce_colouring *colourings; ///< per group
    double shared_seconds;              ///< spent on groups, matrices
    uint32_t method_count;
    cutis_reduce_method methods[METHODS];
    cutis_reduce_weights *weights;                           ///< per method and group
    double *frame_position[METHODS], *frame_normal[METHODS]; ///< per method and judged pose
    cutis_bound_result bound;
    cutis_joints joints; ///< where fewer are asked for
    cutis_reduce_report *report;
    cutis_arena *report_arena;
    cutis_reduce_row *rows; ///< of the report
} run;

static bool is_bounded(const cutis_reduce_options *o)
{
    return o->max_error > 0 || o->max_normal > 0;
}

static cutis_reduce_method resolve(const cutis_reduce_options *o)
{
    if (o->method != CUTIS_REDUCE_DEFAULT) return o->method;
    const bool asked = o->energy != CUTIS_REDUCE_NORMALS || o->sets != CUTIS_REDUCE_SETS_AUTO ||
                       o->sweeps || o->influences > CUTIS_MOMENTS_SET;
    return asked ? CUTIS_REDUCE_POISSON : CUTIS_REDUCE_MOMENTS;
}

static cutis_result check_options(cutis_context *context, const cutis_reduce_options *o)
{
    if (o->influences < 1 || o->influences > CUTIS_REDUCE_SET)
        return cutis_fail(context, CUTIS_INVALID_ARGUMENT,
                          "reduce: %u influences; 1 to %d can be kept", o->influences,
                          CUTIS_REDUCE_SET);
    if ((unsigned)o->method >= METHODS || (unsigned)o->energy > CUTIS_REDUCE_LAPLACE ||
        (unsigned)o->sets > CUTIS_REDUCE_SETS_FITTED || (unsigned)o->effort > CUTIS_REDUCE_BEST)
        return cutis_fail(context, CUTIS_INVALID_ARGUMENT,
                          "reduce: unknown method, energy, sets or effort");
    if (!(o->mix >= 0) || isinf(o->mix) || !(o->memory >= 0))
        return cutis_fail(context, CUTIS_INVALID_ARGUMENT,
                          "reduce: the mix %g or the memory %g is negative or not finite", o->mix,
                          o->memory);
    if (o->method == CUTIS_REDUCE_MOMENTS && o->influences > CUTIS_MOMENTS_SET)
        return cutis_fail(
            context, CUTIS_INVALID_ARGUMENT,
            "reduce: moments keep at most %d influences, not %u; method poisson keeps "
            "up to %d",
            CUTIS_MOMENTS_SET, o->influences, CUTIS_REDUCE_SET);
    if (!(o->max_error >= 0) || !(o->max_normal >= 0))
        return cutis_fail(context, CUTIS_INVALID_ARGUMENT,
                          "reduce: the bound %g or %g is negative or not a number", o->max_error,
                          o->max_normal);
    if (o->weight_total > 65535)
        return cutis_fail(context, CUTIS_INVALID_ARGUMENT,
                          "reduce: weights are whole numbers over 65535 at most, not %u",
                          o->weight_total);
    if ((is_bounded(o) || o->joints) && resolve(o) != CUTIS_REDUCE_MOMENTS)
        return cutis_fail(context, CUTIS_INVALID_ARGUMENT,
                          "reduce: bounds and fewer joints are of the method moments, not of %s",
                          cutis_reduce_method_name(resolve(o)));
    if ((o->examples && !o->example_count) || (o->clips && !o->clip_count))
        return cutis_fail(context, CUTIS_INVALID_ARGUMENT,
                          "reduce: example poses are asked for, but there are none");
    return CUTIS_OK;
}

// Joint matrices of the poses that are learned from: examples, then added ones with their smaller
// weight.
static cutis_result make_matrices(run *r)
{
    const cutis_model_data *data = cutis_model_get(r->model);
    const cutis_reduce_poses *poses = &r->poses;
    uint32_t columns = poses->example_count + poses->added_count;
    cutis_mat34 *world = cutis_arena_alloc(&r->arena, data->node_count, sizeof *world);
    r->matrices = cutis_arena_alloc(&r->arena, r->groups.count, sizeof *r->matrices);
    r->column_weights = cutis_arena_alloc(&r->arena, columns, sizeof *r->column_weights);
    if (!world || !r->matrices || !r->column_weights) return cutis_alloc_result(r->context);
    for (uint32_t g = 0; g < r->groups.count; g++) {
        size_t joints = data->skins[r->groups.group[g].skin].joint_count, entries;
        r->matrices[g] = cutis_size_multiply(columns, joints, &entries)
                             ? cutis_arena_alloc(&r->arena, entries, 12 * sizeof(double))
                             : NULL;
        if (!r->matrices[g]) return cutis_alloc_result(r->context);
    }
    const double weight = poses->example_count ? AUTOMATIC_WEIGHT : 1, share = sqrt(weight);
    for (uint32_t c = 0; c < columns; c++) {
        bool added = c >= poses->example_count;
        r->column_weights[c] = added ? weight : 1;
        size_t pose = added ? (size_t)c + poses->held_out_count : c;
        cutis_pose_world(r->model, poses->transforms + pose * data->node_count, world);
        for (uint32_t g = 0; g < r->groups.count; g++) {
            size_t joints = data->skins[r->groups.group[g].skin].joint_count;
            double *palette = r->matrices[g] + 12 * c * joints;
            cutis_reduce_palette(r->model, &r->groups.group[g], world, palette);
            for (size_t i = 0; added && i < 12 * joints; i++) palette[i] *= share;
        }
    }
    return CUTIS_OK;
}

static cutis_reduce_problem make_problem(run *r, uint32_t g)
{
    const cutis_reduce_group *group = &r->groups.group[g];
    return (cutis_reduce_problem){
        .context = r->context,
        .device = r->device,
        .mesh = &group->mesh,
        .positions = group->positions,
        .first = group->first,
        .control = group->control,
        .weight = group->weight,
        .control_count = cutis_model_get(r->model)->skins[group->skin].joint_count,
        .column_count = r->poses.example_count + r->poses.added_count,
        .matrices = r->matrices[g],
        .influences = r->options.influences,
        .reselect = true,
        .radius = RADIUS,
        .sweeps = r->options.sweeps,
        .results = &r->arena,
    };
}

static cutis_reduce_surface surface_of(const run *r, uint32_t g)
{
    const cutis_reduce_group *group = &r->groups.group[g];
    return (cutis_reduce_surface){ group->triangle_count, group->welded, r->column_weights };
}

// Poisson sweeps; AUTO sets are decided first.
static cutis_result run_poisson(run *r, const cutis_reduce_problem *problem, uint32_t g,
                                cutis_arena *arena, cutis_reduce_state *state,
                                cutis_reduce_sets *sets)
{
    const cutis_reduce_surface surface = surface_of(r, g);
    const bool laplace = r->options.energy == CUTIS_REDUCE_LAPLACE;
    cutis_reduce_plan plan = { .energy = r->options.energy,
                               .fitted = *sets == CUTIS_REDUCE_SETS_FITTED,
                               .surface = &surface };
    cutis_reduce_colouring *colouring = &r->colourings[g];
    // A run makes its own where nothing else needs them, at a better time.
    if (*sets == CUTIS_REDUCE_SETS_AUTO) {
        TRY(cutis_reduce_colour(&r->arena, problem->mesh, colouring, laplace ? 2 : 1,
                                &plan.colours));
        TRY(cutis_reduce_choose(problem, r->poses.example_count,
                                laplace ? CUTIS_REDUCE_LAPLACE : CUTIS_REDUCE_GRADIENT,
                                plan.colours, &plan.fitted));
    }
    if (plan.energy == CUTIS_REDUCE_NORMALS)
        TRY(cutis_reduce_colour(&r->arena, problem->mesh, colouring, 2, &plan.far));
    plan.reselect = plan.fitted && problem->reselect && !laplace;
    *sets = plan.fitted ? CUTIS_REDUCE_SETS_FITTED : CUTIS_REDUCE_SETS_LARGEST;
    return cutis_reduce_poisson(problem, &plan, arena, state);
}

// A method that does not make the energy small has it measured.
static cutis_result run_method(run *r, cutis_reduce_method method, uint32_t g, cutis_arena *arena,
                               cutis_reduce_state *state, cutis_reduce_sets *sets)
{
    const cutis_reduce_problem problem = make_problem(r, g);
    const cutis_reduce_surface surface = surface_of(r, g);
    const bool normals = r->options.energy == CUTIS_REDUCE_NORMALS;
    *sets = r->options.sets;
    if (method == CUTIS_REDUCE_POISSON) return run_poisson(r, &problem, g, arena, state, sets);
    TRY(cutis_reduce_once(&problem, method, arena, &r->colourings[g], &r->arena, state, sets));
    return cutis_reduce_measure(&problem, r->options.energy, normals ? &surface : NULL,
                                state->error, &state->energy, NULL);
}

// Keep what a state comes down to: weights for the model, figures for the report.
static bool keep_result(run *r, const cutis_reduce_state *state, uint32_t g,
                        cutis_reduce_weights *out, cutis_reduce_row *row)
{
    const uint32_t most = cutis_reduce_most(state, r->groups.group[g].unit_count);
    *out = (cutis_reduce_weights){ state->first, state->control, state->weight };
    if (row->max_influences < most) row->max_influences = most;
    row->energy += state->energy;
    row->sweep_seconds += state->sweep_seconds;
    row->transfer_seconds += state->transfer_seconds;
    if (state->sweep_count <= row->sweep_count && row->curve) return true;
    row->sweep_count = state->sweep_count;
    row->curve_count = state->curve ? state->sweep_count + 1 : 0;
    row->curve = cutis_arena_copy(r->report_arena, state->curve, row->curve_count, sizeof(double));
    return row->curve != NULL;
}

static cutis_result run_row(run *r, uint32_t index)
{
    cutis_reduce_row *row = &r->rows[index];
    double start = cutis_os_seconds();
    *row = (cutis_reduce_row){ .method = r->methods[index] };
    for (uint32_t g = 0; g < r->groups.count; g++) {
        cutis_arena arena = { .context = r->context };
        cutis_reduce_state state;
        double begin = cutis_os_seconds();
        cutis_result result = run_method(r, row->method, g, &arena, &state, &row->sets);
        row->solve_seconds += cutis_os_seconds() - begin;
        if (result == CUTIS_OK &&
            !keep_result(r, &state, g, &r->weights[index * r->groups.count + g], row))
            result = cutis_alloc_result(r->context);
        cutis_arena_release(&arena);
        if (result != CUTIS_OK) return result;
    }
    row->seconds = cutis_os_seconds() - start + r->shared_seconds;
    return CUTIS_OK;
}

// Root of the mean square of errors over some of the judged poses.
static double pooled(const double *frames, uint32_t first, uint32_t count)
{
    double sum = 0;
    for (uint32_t i = first; i < first + count; i++) sum += frames[i] * frames[i];
    return count ? sqrt(sum / count) : 0;
}

// Moments ---------------------------------------------------------------------------------------

// Searches after the first; from the one on that the weight of what is worse grows faster.
enum { REPAIRS = 8, HURRY = 3 };
// What being secure is worth, in normals: not everything, since k-largest's weights are it.
static const double INSECURE = 0.15;

static cutis_result keep_mixed(run *r, const cutis_mixed *x, cutis_reduce_row *row)
{
    row->max_influences = 0;
    for (uint32_t g = 0; g < r->groups.count; g++) {
        if (!cutis_mixed_weights(x, g, &r->arena, &r->weights[g]))
            return cutis_alloc_result(r->context);
        const cutis_reduce_state state = { .first = r->weights[g].first,
                                           .weight = r->weights[g].weight };
        const uint32_t most = cutis_reduce_most(&state, r->groups.group[g].unit_count);
        if (row->max_influences < most) row->max_influences = most;
    }
    row->energy = x->energy;
    row->sweep_count = x->curve_count ? x->curve_count - 1 : 0;
    row->curve_count = x->curve_count;
    row->curve = cutis_arena_copy(r->report_arena, x->curve, x->curve_count, sizeof(double));
    return row->curve ? CUTIS_OK : cutis_alloc_result(r->context);
}

// Below this, in % of the diagonal and in radians, two errors differ by the rounding of floats.
static const double ROUNDING = 1e-6;

// Where the first row is worse than k-largest beside it, by unseen poses: of clips, random;
// normals, positions. As the weights are written: in whole numbers too, and by whatever method.
static void find_worse(run *r)
{
    const cutis_reduce_poses *p = &r->poses;
    const bool of_clips = p->held_out_count && p->origins[p->example_count].clip != CUTIS_NONE;
    const uint32_t clips = of_clips ? p->held_out_count - p->held_out_random_count : 0;
    int bits = 0;
    for (int i = 0; i < 4; i++) {
        double *const *frames = i % 2 ? r->frame_position : r->frame_normal;
        const uint32_t first = p->example_count + (i < 2 ? 0 : clips),
                       count = i < 2 ? clips : p->held_out_count - clips;
        const double ours = pooled(frames[0], first, count),
                     largest = pooled(frames[1], first, count);
        bits |= ours > largest * (1 + 1e-9) && ours > largest + ROUNDING ? 1 << i : 0;
    }
    r->report->worse = (cutis_reduce_worse)bits;
}

static cutis_result judge_rows(run *r, uint32_t first, uint32_t count)
{
    return cutis_reduce_evaluate(r->model, r->device, &r->groups, &r->poses, count,
                                 r->weights + (size_t)first * r->groups.count,
                                 r->frame_position + first, r->frame_normal + first);
}

// Arrays of its own, so that a row can change.
static cutis_result copy_weights(run *r, const cutis_reduce_weights *from, cutis_reduce_weights *to)
{
    for (uint32_t g = 0; g < r->groups.count; g++) {
        const size_t units = r->groups.group[g].unit_count, slots = from[g].first[units];
        to[g] = (cutis_reduce_weights){
            cutis_arena_copy(&r->arena, from[g].first, units + 1, sizeof *from[g].first),
            cutis_arena_copy(&r->arena, from[g].control, slots, sizeof *from[g].control),
            cutis_arena_copy(&r->arena, from[g].weight, slots, sizeof *from[g].weight),
        };
        if (!to[g].first || !to[g].control || !to[g].weight) return cutis_alloc_result(r->context);
    }
    return CUTIS_OK;
}

// Measures that are worse than k-largest's, or may be found so, count more: little more where
// little is missing, since what is gained there is lost elsewhere.
static void strengthen(const cutis_repair *p, const cutis_repair_verdict *v, int round,
                       cutis_mixed *x)
{
    for (int i = 0; i < CUTIS_REPAIR_MEASURES; i++) {
        const double over = cutis_repair_missing(v, i);
        if (!cutis_repair_counts(p, i) || !(over > 0)) continue;
        const double by = over < 0.01 ? 1.3 : over < 0.05 ? 1.6 : 2.5;
        *(i % 2 ? &x->position[i / 2] : &x->normal[i / 2]) *= round < HURRY ? by : by * by;
    }
}

// The best of several results.
typedef struct choice {
    cutis_reduce_weights *weights; ///< per group
    cutis_repair_verdict verdict;
    bool any, largest;
} choice;

static void choose(run *r, const cutis_repair_verdict *v, bool largest, choice *best)
{
    const cutis_repair_verdict *b = &best->verdict;
    const double own = v->normals + (v->secure ? 0 : INSECURE),
                 other = b->normals + (b->secure ? 0 : INSECURE);
    const bool better = v->good != b->good ? v->good : own < other;
    if (best->any && !better) return;
    memcpy(best->weights, r->weights, r->groups.count * sizeof *best->weights);
    best->verdict = *v, best->any = true, best->largest = largest;
}

// A step about the surface that the weights make, taken if poses that decide gain by it.
static cutis_result bend(run *r, cutis_repair *p, cutis_mixed *x, cutis_reduce_row *row,
                         choice *best)
{
    cutis_repair_verdict bent;
    TRY(cutis_mixed_bend(x));
    TRY(keep_mixed(r, x, row));
    TRY(cutis_repair_judge(p, r->weights, &bent));
    choose(r, &bent, false, best);
    return CUTIS_OK;
}

// Search on while poses that decide show the first row worse than k-largest, or others may find it
// so; the best of all rounds is kept, with k-largest's weights where nothing better was found.
static cutis_result search_on(run *r, cutis_repair *p, cutis_mixed *x, cutis_reduce_row *row,
                              choice *best)
{
    for (int round = 0;; round++) {
        cutis_repair_verdict found, mixed;
        bool largest = false;
        TRY(cutis_repair_judge(p, r->weights, &found));
        mixed = found;
        if (!found.good) TRY(cutis_repair_mix(p, &r->arena, r->weights, &largest, &mixed));
        choose(r, &mixed, largest, best);
        if (found.secure && r->options.effort != CUTIS_REDUCE_FAST) TRY(bend(r, p, x, row, best));
        if (found.secure || round == REPAIRS) return CUTIS_OK;
        strengthen(p, &found, round, x);
        TRY(cutis_mixed_solve(x));
        TRY(keep_mixed(r, x, row));
    }
}

// Hold the first row against k-largest in unseen poses, mend it, and judge it by others.
static cutis_result repair(run *r, cutis_mixed *x, cutis_reduce_row *row)
{
    cutis_repair p = { .model = r->model,
                       .context = r->context,
                       .device = r->device,
                       .options = &r->options,
                       .groups = &r->groups,
                       .poses = &r->poses,
                       .largest = r->weights + r->groups.count,
                       .arena.context = r->context };
    choice best = { .weights =
                        cutis_arena_alloc(&r->arena, r->groups.count, sizeof *best.weights) };
    cutis_result result =
        best.weights ? search_on(r, &p, x, row, &best) : cutis_alloc_result(r->context);
    cutis_repair_close(&p);
    if (result != CUTIS_OK) return result;
    TRY(copy_weights(r, best.weights, r->weights));
    r->report->fell_back = best.largest;
    return judge_rows(r, 0, 2);
}

// The second row: as many of the largest weights as are kept elsewhere, or as are allowed; of
// joints that stay.
static cutis_result take_largest(run *r, const cutis_reduce_weights *counts)
{
    for (uint32_t g = 0; g < r->groups.count; g++)
        if (!cutis_bound_largest(&r->groups.group[g], counts ? &counts[g] : NULL,
                                 r->options.influences, &r->arena,
                                 &r->weights[r->groups.count + g]))
            return cutis_alloc_result(r->context);
    return CUTIS_OK;
}

static uint32_t count_used(const uint32_t *first, const double *weight, uint32_t unit)
{
    uint32_t count = 0;
    for (uint32_t i = first[unit]; i < first[unit + 1]; i++) count += weight[i] != 0;
    return count;
}

// Vertices that keep fewer weights than they had.
static void count_fewer(run *r)
{
    r->report->reduced_count = 0;
    for (uint32_t g = 0; g < r->groups.count; g++)
        for (uint32_t u = 0; u < r->groups.group[g].unit_count; u++)
            r->report->reduced_count +=
                count_used(r->weights[g].first, r->weights[g].weight, u) <
                count_used(r->groups.group[g].first, r->groups.group[g].weight, u);
}

static cutis_result fail_bound(const run *r, const cutis_bound_result *found)
{
    const cutis_reduce_options *o = &r->options;
    const bool far = o->max_error > 0 && found->position > o->max_error;
    return cutis_fail(r->context, CUTIS_UNSUPPORTED,
                      "reduce: at most %u influences%s%s do not keep the bound: vertices are up to "
                      "%.4g %s off in poses that were checked or not seen; allow more influences "
                      "or a larger error",
                      o->influences, o->weight_total ? " in whole numbers" : "",
                      o->joints ? " on fewer joints" : "",
                      far ? 1e3 * found->position : found->normal * 57.29577951308232,
                      far ? "mm (1/1000 unit)" : "degrees");
}

// As few influences as a bound allows; k-largest with as many, vertex by vertex.
static cutis_result run_bounded(run *r, cutis_mixed *x, cutis_reduce_row *row)
{
    cutis_bound_result found = { 0 };
    TRY(cutis_bound_search(x, &found));
    if (!found.kept) return fail_bound(r, &found);
    r->bound = found;
    TRY(keep_mixed(r, x, row));
    TRY(take_largest(r, r->weights));
    count_fewer(r);
    return judge_rows(r, 0, 2);
}

static double held_out_error(const run *r, const double *frames)
{
    return pooled(frames, r->poses.example_count, r->poses.held_out_count);
}

// The first row's weights as whole numbers, beside plain rounding.
static cutis_result run_quantised(run *r, cutis_mixed *x)
{
    const uint32_t groups = r->groups.count, total = r->options.weight_total;
    const size_t count = (size_t)r->poses.example_count + r->poses.held_out_count;
    cutis_reduce_weights *rounded = cutis_arena_alloc(&r->arena, groups, sizeof *rounded);
    double *position = cutis_arena_alloc(&r->arena, count, sizeof *position);
    double *normal = cutis_arena_alloc(&r->arena, count, sizeof *normal);
    cutis_quantise_result found = { 0 };
    if (!rounded || !position || !normal) return cutis_alloc_result(r->context);
    TRY(copy_weights(r, r->weights, rounded));
    for (uint32_t g = 0; g < groups; g++) {
        cutis_quantise_round(&r->groups.group[g], total, &rounded[g]);
        TRY(cutis_quantise(x, g, total, &r->weights[g], &found));
    }
    if (x->bounded) { // what rounding keeps, better numbers must keep too
        TRY(cutis_bound_mix(x, rounded, &r->arena, r->weights, &r->bound));
        if (!r->bound.kept) {
            memcpy(r->weights, rounded, groups * sizeof *rounded);
            found.chosen = found.rounded;
            TRY(cutis_bound_check(x, r->weights, &r->bound));
        }
        if (!r->bound.kept) return fail_bound(r, &r->bound);
    }
    // What exporters do, in the same numbers.
    for (uint32_t g = 0; g < groups; g++)
        cutis_quantise_round(&r->groups.group[g], total, &r->weights[groups + g]);
    TRY(judge_rows(r, 0, 2));
    TRY(cutis_reduce_evaluate(r->model, r->device, &r->groups, &r->poses, 1, rounded, &position,
                              &normal));
    r->report->quantised = (cutis_reduce_quantised){
        total,
        found.rounded,
        found.chosen,
        found.real,
        held_out_error(r, position),
        held_out_error(r, normal),
        held_out_error(r, r->frame_position[0]),
        held_out_error(r, r->frame_normal[0]),
    };
    return CUTIS_OK;
}

// The first row by moments, the second (k-largest) beside it. @param fits false: too large
static cutis_result run_moments(run *r, bool *fits)
{
    cutis_mixed x = { .model = r->model,
                      .context = r->context,
                      .device = r->device,
                      .options = &r->options,
                      .groups = &r->groups,
                      .poses = &r->poses,
                      .bounded = is_bounded(&r->options),
                      .arena.context = r->context };
    cutis_reduce_row *row = &r->rows[0];
    const double start = cutis_os_seconds();
    *row = (cutis_reduce_row){ .method = CUTIS_REDUCE_MOMENTS, .sets = CUTIS_REDUCE_SETS_FITTED };
    cutis_result result = cutis_mixed_open(&x, fits);
    const bool free = result == CUTIS_OK && *fits && !x.bounded;
    if (free) result = cutis_mixed_solve(&x);
    if (free && result == CUTIS_OK) result = keep_mixed(r, &x, row);
    const double first_energy = x.curve_count ? x.curve[0] : 0;
    row->solve_seconds = row->sweep_seconds = cutis_os_seconds() - start;
    if (result == CUTIS_OK && *fits) result = run_row(r, 1);
    if (result == CUTIS_OK && *fits && r->joints.into) result = take_largest(r, NULL);
    if (result == CUTIS_OK && *fits)
        result = x.bounded ? run_bounded(r, &x, row) : repair(r, &x, row);
    if (result == CUTIS_OK && *fits && r->options.weight_total) result = run_quantised(r, &x);
    row->seconds = cutis_os_seconds() - start + r->shared_seconds;
    r->rows[1].energy =
        x.bounded ? NAN : first_energy; // with a bound their form is not k-largest's
    r->report->narrow = x.narrow;
    r->report->form_bytes = x.size;
    for (uint32_t g = 0; g < r->groups.count && x.forms; g++) {
        r->report->form_seconds += x.forms[g].form_seconds;
        r->report->form_products += x.forms[g].form_products;
    }
    cutis_mixed_close(&x);
    return result;
}

// The report ------------------------------------------------------------------------------------

static bool open_frames(run *r)
{
    const size_t count = (size_t)r->poses.example_count + r->poses.held_out_count;
    bool good = true;
    for (uint32_t m = 0; m < r->method_count && good; m++) {
        r->frame_position[m] = cutis_arena_alloc(r->report_arena, count, sizeof(double));
        r->frame_normal[m] = cutis_arena_alloc(r->report_arena, count, sizeof(double));
        good = r->frame_position[m] && r->frame_normal[m];
    }
    return good;
}

static void fill_rows(run *r)
{
    const uint32_t examples = r->poses.example_count, random = r->poses.held_out_random_count,
                   clips = r->poses.held_out_count - random;
    for (uint32_t m = 0; m < r->method_count; m++) {
        cutis_reduce_row *row = &r->rows[m];
        const double *position = r->frame_position[m], *normal = r->frame_normal[m];
        row->frame_position = position;
        row->frame_normal = normal;
        row->example_position = pooled(position, 0, examples);
        row->example_normal = pooled(normal, 0, examples);
        const bool judged = clips + random > 0;
        row->held_out_position = judged ? pooled(position, examples, clips ? clips : random) : NAN;
        row->held_out_normal = judged ? pooled(normal, examples, clips ? clips : random) : NAN;
        row->random_position = pooled(position, examples + clips, random);
        row->random_normal = pooled(normal, examples + clips, random);
    }
}

// What the report says besides its rows.
static bool fill_report(run *r)
{
    cutis_reduce_report *report = r->report;
    size_t judged = (size_t)r->poses.example_count + r->poses.held_out_count;
    report->row_count = r->method_count;
    report->rows = r->rows;
    report->example_count = r->poses.example_count;
    report->held_out_count = r->poses.held_out_count;
    report->held_out_random_count = r->poses.held_out_random_count;
    report->learned_count = r->poses.clip_count;
    report->learned_random_count = r->poses.random_count;
    report->automatic_count = r->poses.automatic_count;
    report->poses =
        cutis_arena_copy(r->report_arena, r->poses.origins, judged, sizeof *report->poses);
    report->transforms = cutis_arena_copy(r->report_arena, r->poses.transforms,
                                          judged * cutis_model_get(r->model)->node_count,
                                          sizeof *report->transforms);
    report->repaired_count = r->groups.repaired_count;
    report->bounds =
        (cutis_reduce_bounds){ r->bound.checked, r->bound.judged,      r->bound.position,
                               r->bound.normal,  r->bound.position_99, r->bound.normal_99,
                               r->bound.beyond };
    const uint32_t poses = r->poses.clip_count + r->poses.random_count;
    report->few_poses = 3 * (poses ? poses : r->poses.example_count + r->poses.added_count) <
                        r->options.influences + 3;
    return report->poses && report->transforms;
}

// Rows from `first` on, with their weights in whole numbers if these are written: so they are
// judged; what is returned is rounded by whoever writes it.
static cutis_result judge_written(run *r, uint32_t first)
{
    const uint32_t groups = r->groups.count, rows = r->method_count,
                   total = r->options.weight_total;
    cutis_reduce_weights *exact = r->weights;
    if (total) r->weights = cutis_arena_copy(&r->arena, exact, rows, groups * sizeof *exact);
    cutis_result result = r->weights ? CUTIS_OK : cutis_alloc_result(r->context);
    for (uint32_t m = first; m < rows && total && result == CUTIS_OK; m++) {
        cutis_reduce_weights *own = r->weights + (size_t)m * groups;
        result = copy_weights(r, exact + (size_t)m * groups, own);
        for (uint32_t g = 0; g < groups && result == CUTIS_OK; g++)
            cutis_quantise_round(&r->groups.group[g], total, &own[g]);
    }
    if (result == CUTIS_OK) result = judge_rows(r, first, rows - first);
    r->weights = exact;
    return result;
}

// The rows of all methods, each judged once.
static cutis_result run_rows(run *r, bool judged)
{
    const bool moments = r->options.method == CUTIS_REDUCE_MOMENTS;
    bool fits = true;
    if (moments) TRY(run_moments(r, &fits));
    const cutis_reduce_options *o = &r->options;
    if (!fits && (is_bounded(o) || o->joints))
        return cutis_fail(r->context, CUTIS_LIMIT_EXCEEDED,
                          "reduce: the form of moments would take %.3g GB, more than the memory it "
                          "may take",
                          1e-9 * r->report->form_bytes);
    if (!fits) {
        r->report->too_large = true;
        r->methods[0] = CUTIS_REDUCE_POISSON;
        if (r->options.compare && judged) r->method_count--; // the last of them
        for (uint32_t m = 1, n = 1; m <= r->method_count && r->options.compare && judged; m++)
            if (r->methods[m] != CUTIS_REDUCE_POISSON) r->methods[n++] = r->methods[m];
    }
    const uint32_t done = moments && fits ? 2 : 0;
    for (uint32_t m = done; m < r->method_count; m++) TRY(run_row(r, m));
    // Without a form there is nothing to choose whole numbers by.
    for (uint32_t m = 0; m < r->method_count && !fits && o->weight_total; m++)
        for (uint32_t g = 0; g < r->groups.count; g++)
            cutis_quantise_round(&r->groups.group[g], o->weight_total,
                                 &r->weights[m * r->groups.count + g]);
    if (judged && done < r->method_count) TRY(judge_written(r, done));
    const bool beside = r->method_count > 1 && r->methods[1] == CUTIS_REDUCE_KLARGEST;
    // With a bound k-largest has as many influences, vertex by vertex, which no exporter does.
    if (beside && (judged || done) && !is_bounded(o)) find_worse(r);
    if (judged) fill_rows(r);
    return CUTIS_OK;
}

static void count_vertices(run *r)
{
    for (uint32_t g = 0; g < r->groups.count; g++) {
        const cutis_reduce_group *group = &r->groups.group[g];
        r->report->vertex_count += group->unit_count;
        for (uint32_t v = 0; v < group->unit_count; v++)
            r->report->reduced_count +=
                group->first[v + 1] - group->first[v] > r->options.influences;
    }
}

// Joints that go, where fewer are asked for.
static cutis_result merge_joints(run *r)
{
    if (!r->options.joints) return CUTIS_OK;
    TRY(cutis_joints_merge(r->model, r->device, r->options.joints, &r->poses, &r->groups, &r->arena,
                           &r->joints));
    r->report->joints_before = r->joints.before;
    r->report->joints_after = r->joints.after;
    r->report->merged = cutis_arena_copy(r->report_arena, r->joints.into,
                                         cutis_model_get(r->model)->node_count, sizeof(int32_t));
    return r->report->merged ? CUTIS_OK : cutis_alloc_result(r->context);
}

static cutis_result apply(run *r, cutis_model **out)
{
    cutis_model *whole = NULL;
    TRY(cutis_reduce_apply(r->model, &r->groups, r->weights, r->joints.into ? &whole : out));
    if (!whole) return CUTIS_OK;
    cutis_result result = cutis_joints_drop(whole, &r->groups, &r->joints, out);
    cutis_model_destroy(whole);
    return result;
}

static cutis_result run_all(run *r, bool reported, cutis_model **out)
{
    const bool judged = reported && !r->options.skip_evaluation;
    r->options.method = resolve(&r->options);
    const bool moments = r->options.method == CUTIS_REDUCE_MOMENTS;
    TRY(moments ? cutis_reduce_poses_mix(r->model, r->device, &r->options, &r->arena, &r->poses)
                : cutis_reduce_poses_create(r->model, &r->options, &r->arena, &r->poses));
    double start = cutis_os_seconds();
    TRY(cutis_reduce_groups_create(r->model, r->device, r->options.repair, &r->arena, &r->groups));
    count_vertices(r);
    TRY(merge_joints(r));
    TRY(make_matrices(r));
    r->shared_seconds = cutis_os_seconds() - start;
    // Moments are held against k-largest, whoever asks.
    r->method_count = cutis_reduce_list_methods(r->options.method, judged || moments,
                                                judged && r->options.compare, r->methods);
    r->weights =
        cutis_arena_alloc(&r->arena, (size_t)r->method_count * r->groups.count, sizeof *r->weights);
    r->colourings = cutis_arena_zero(&r->arena, r->groups.count, sizeof *r->colourings);
    if (!r->weights || !r->colourings || !open_frames(r)) return cutis_alloc_result(r->context);
    TRY(run_rows(r, judged));
    if (!judged) r->method_count = 1;
    if (!fill_report(r)) return cutis_alloc_result(r->context);
    return apply(r, out);
}

cutis_result cutis_weights_reduce(const cutis_model *model, cutis_device *device,
                                  const cutis_reduce_options *options, cutis_model **out,
                                  cutis_reduce_report **report)
{
    if (out) *out = NULL;
    if (report) *report = NULL;
    if (!model || !out) return CUTIS_INVALID_ARGUMENT;
    cutis_context *context = cutis_model_context(model);
    run r = { .model = model, .context = context, .device = device, .arena.context = context };
    if (options) r.options = *options;
    if (!r.options.influences)
        r.options.influences = is_bounded(&r.options) ? CUTIS_MOMENTS_SET : 4;
    TRY(check_options(context, &r.options));
    r.report = cutis_owner_create(context, sizeof *r.report);
    if (!r.report) return cutis_alloc_result(context);
    r.report_arena = cutis_owner_arena(r.report);
    r.rows = cutis_arena_alloc(r.report_arena, METHODS, sizeof *r.rows);
    cutis_result result = r.rows ? run_all(&r, report != NULL, out) : cutis_alloc_result(context);
    cutis_arena_release(&r.arena);
    if (result == CUTIS_OK && report)
        *report = r.report;
    else
        cutis_reduce_report_destroy(r.report);
    return cutis_fail_in(context, result);
}
