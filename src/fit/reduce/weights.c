// Reducing the influences of a model: poses, groups, methods, errors, the new model. Invariant:
// nothing is published unless everything succeeded; the result depends on the model and the options
// only.
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/os/os.h"
#include "fit/reduce/model.h"

enum { METHODS = CUTIS_REDUCE_METHODS };
// Weight of automatic poses beside real ones, and the anchor's radius on skeletons
// (docs/spec/reduction.md 1 and 2.4b).
static const double AUTOMATIC_WEIGHT = 0.05;
static const double RADIUS = 0.02;

static const char *const method_names[METHODS] = { "poisson", "geometric", "smooth", "klargest" };
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
    cutis_reduce_weights *weights; ///< per method and group
    cutis_reduce_report *report;
    cutis_arena *report_arena;
    cutis_reduce_row *rows; ///< of the report
} run;

static cutis_result check_options(cutis_context *context, const cutis_reduce_options *o)
{
    if (o->influences < 1 || o->influences > CUTIS_REDUCE_SET)
        return cutis_fail(context, CUTIS_INVALID_ARGUMENT,
                          "reduce: %u influences; 1 to %d can be kept", o->influences,
                          CUTIS_REDUCE_SET);
    if ((unsigned)o->method >= METHODS || (unsigned)o->energy > CUTIS_REDUCE_LAPLACE ||
        (unsigned)o->sets > CUTIS_REDUCE_SETS_FITTED)
        return cutis_fail(context, CUTIS_INVALID_ARGUMENT,
                          "reduce: unknown method, energy or sets");
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

static double mean(const double *values, uint32_t count)
{
    double sum = 0;
    for (uint32_t i = 0; i < count; i++) sum += values[i];
    return count ? sum / count : 0;
}

static cutis_result evaluate(run *r)
{
    const uint32_t examples = r->poses.example_count, held_out = r->poses.held_out_count;
    double *position[METHODS], *normal[METHODS];
    for (uint32_t m = 0; m < r->method_count; m++) {
        position[m] =
            cutis_arena_alloc(r->report_arena, (size_t)examples + held_out, sizeof(double));
        normal[m] = cutis_arena_alloc(r->report_arena, (size_t)examples + held_out, sizeof(double));
        if (!position[m] || !normal[m]) return cutis_alloc_result(r->context);
    }
    TRY(cutis_reduce_evaluate(r->model, &r->groups, &r->poses, r->method_count, r->weights,
                              position, normal));
    for (uint32_t m = 0; m < r->method_count; m++) {
        cutis_reduce_row *row = &r->rows[m];
        row->frame_position = position[m];
        row->frame_normal = normal[m];
        row->example_position = mean(position[m], examples);
        row->example_normal = mean(normal[m], examples);
        row->held_out_position = mean(position[m] + examples, held_out);
        row->held_out_normal = mean(normal[m] + examples, held_out);
    }
    return CUTIS_OK;
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
    report->automatic_count = r->poses.automatic_count;
    report->poses =
        cutis_arena_copy(r->report_arena, r->poses.origins, judged, sizeof *report->poses);
    report->transforms = cutis_arena_copy(r->report_arena, r->poses.transforms,
                                          judged * cutis_model_get(r->model)->node_count,
                                          sizeof *report->transforms);
    report->repaired_count = r->groups.repaired_count;
    report->few_poses =
        3 * (r->poses.example_count + r->poses.added_count) < r->options.influences + 3;
    for (uint32_t g = 0; g < r->groups.count; g++) {
        const cutis_reduce_group *group = &r->groups.group[g];
        report->vertex_count += group->unit_count;
        for (uint32_t v = 0; v < group->unit_count; v++)
            report->reduced_count += group->first[v + 1] - group->first[v] > r->options.influences;
    }
    return report->poses && report->transforms;
}

static cutis_result run_all(run *r, bool reported, cutis_model **out)
{
    TRY(cutis_reduce_poses_create(r->model, &r->options, &r->arena, &r->poses));
    double start = cutis_os_seconds();
    TRY(cutis_reduce_groups_create(r->model, r->device, r->options.repair, &r->arena, &r->groups));
    TRY(make_matrices(r));
    r->shared_seconds = cutis_os_seconds() - start;
    r->method_count = cutis_reduce_list_methods(
        r->options.method, reported && !r->options.skip_evaluation, r->options.compare, r->methods);
    r->weights =
        cutis_arena_alloc(&r->arena, (size_t)r->method_count * r->groups.count, sizeof *r->weights);
    r->colourings = cutis_arena_zero(&r->arena, r->groups.count, sizeof *r->colourings);
    if (!r->weights || !r->colourings) return cutis_alloc_result(r->context);
    for (uint32_t m = 0; m < r->method_count; m++) TRY(run_row(r, m));
    if (reported && !r->options.skip_evaluation) TRY(evaluate(r));
    if (!fill_report(r)) return cutis_alloc_result(r->context);
    return cutis_reduce_apply(r->model, &r->groups, r->weights, out);
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
    if (!r.options.influences) r.options.influences = 4;
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
