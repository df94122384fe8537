/// How many joints and morph targets are baked, and in how many bits weights are written: as few as
/// keep --max-error, within what a player can play. Invariant: what is kept was judged with the
/// weights that the file will have.
#include "bake.h"

#include <math.h>
#include <string.h>

// Helpers that --max-error tries at most.
enum { HELPERS_MOST = 256 };
// Twice as many helpers divide what is left by 2 to 3, here and there by 5; before so many, by
// anything: a body of few pieces is exact by as many.
static const double FALL_LEAST = 6;
enum { REACH_FROM = 8 };
// Weights in fewer bits may cost this much of the error.
static const double FORMAT_COST = 1.02;
static const char *const FORMATS[] = { "float", "u16", "u8" };

int bake_read_limits(cli_app *app, bake_job *job)
{
    cutis_bake_options *o = &job->options;
    const cutis_player_limits *limits = &job->limits;
    job->player = option_text(app, OPTION_LIMITS);
    if (!job->player) return EXIT_GOOD;
    TRY(app_result(app, job->player,
                   cutis_player_limits_read(app->context, job->player, &job->limits)));
    if (limits->influences && o->influences > limits->influences) {
        if (option_given(app, OPTION_INFLUENCES))
            return app_usage(app, "--influences %u: %s plays %u", o->influences, job->player,
                             limits->influences);
        o->influences = limits->influences;
    }
    if (limits->morphs && o->morphs > limits->morphs)
        return app_usage(app, "--morphs %u: %s plays %u", o->morphs, job->player, limits->morphs);
    const int format = option_choice(app, OPTION_WEIGHTS);
    if (option_given(app, OPTION_WEIGHTS) && limits->weights && !(limits->weights >> format & 1))
        return app_usage(app, "--weights %s: %s does not read them", FORMATS[format], job->player);
    return EXIT_GOOD;
}

// How many helpers the largest skin has space for.
static int helper_space(cli_app *app, const bake_job *job, uint32_t *out)
{
    const cutis_model_data *data = cutis_model_get(job->model);
    uint32_t most = 0;
    *out = UINT32_MAX;
    if (!job->limits.joints) return EXIT_GOOD;
    for (uint32_t s = 0; s < data->skin_count; s++)
        if (data->skins[s].joint_count > most) most = data->skins[s].joint_count;
    if (most > job->limits.joints)
        return app_fail_text(app, "%s: a skin of %u joints, %s plays %u: cutis reduce --joints %u",
                             job->path, most, job->player, job->limits.joints, job->limits.joints);
    *out = job->limits.joints - most;
    return EXIT_GOOD;
}

// What the file has beyond what was baked: other meshes, other skins.
static int check_limits(cli_app *app, const bake_job *job)
{
    const cutis_model_data *data = cutis_model_get(job->baked);
    const cutis_player_limits *limits = &job->limits;
    cutis_weight_summary summary;
    for (uint32_t s = 0; s < data->skin_count; s++)
        if (limits->joints && data->skins[s].joint_count > limits->joints)
            return app_fail_text(app, "%s: skin %u would have %u joints, %s plays %u", job->path, s,
                                 data->skins[s].joint_count, job->player, limits->joints);
    for (uint32_t m = 0; m < data->mesh_count; m++)
        if (limits->morphs && data->meshes[m].target_count > limits->morphs)
            return app_fail_text(app, "%s: mesh %u has %u morph targets, %s plays %u", job->path, m,
                                 data->meshes[m].target_count, job->player, limits->morphs);
    TRY(app_result(app, job->path, cutis_weights_summarize(job->baked, &summary)));
    if (limits->influences && summary.max_influences > limits->influences)
        return app_fail_text(app, "%s: a vertex has %u influences, %s plays %u: cutis reduce",
                             job->path, summary.max_influences, job->player, limits->influences);
    return EXIT_GOOD;
}

static int bake_with(cli_app *app, bake_job *job, uint32_t helpers, uint32_t morphs)
{
    job->options.helpers = helpers, job->options.morphs = morphs;
    if (!job->known) { // else it is there already
        cutis_bake_report_destroy(job->report);
        cutis_model_destroy(job->baked);
        job->report = NULL, job->baked = NULL;
        TRY(app_result(app, job->path,
                       cutis_bake(job->model, job->device, &job->frames, &job->options, &job->baked,
                                  &job->report)));
    }
    TRY(bake_judge(app, job, CUTIS_WEIGHTS_FLOAT));
    return bake_judge_driven(app, job);
}

// Whether as many joints as the source has may explain it to rounding, so that too few tell
// nothing.
static bool may_be_exact(const bake_job *job)
{
    return job->sequence || job->method == CUTIS_METHOD_HANDLES_RIGID;
}

// Refuse a bound that the most helpers would not keep if every doubling still to come did as well
// as the best so far: the last ones take longest by far.
static int check_reach(cli_app *app, const bake_job *job, uint32_t helpers, uint32_t limit,
                       double fall)
{
    double left = job->max;
    if (helpers < REACH_FROM || helpers >= limit || may_be_exact(job)) return EXIT_GOOD;
    for (uint32_t h = helpers; h < limit; h *= 2) left /= fall;
    if (left <= job->max_error) return EXIT_GOOD;
    return app_fail_text(app,
                         "%s: %g mm is probably out of reach: %g mm are left by %u helpers, and "
                         "about %.3g mm would be by %u: a larger --max-error?",
                         job->path, 1e3 * job->max_error, 1e3 * job->max, helpers, 1e3 * left,
                         limit);
}

// As few helpers as keep every vertex within the bound: twice as many until they do, then halving.
static int fewest_helpers(cli_app *app, bake_job *job, uint32_t space, uint32_t morphs)
{
    const uint32_t least = cutis_model_get(job->model)->skin_count && !job->options.drivers ? 0 : 1;
    const uint32_t vertices = cutis_model_vertex_count(job->model);
    uint32_t limit = vertices < HELPERS_MOST ? vertices : HELPERS_MOST;
    uint32_t low = least, high = least;
    double fall = FALL_LEAST;
    if (limit > space) limit = space;
    TRY(bake_with(app, job, high, morphs));
    while (job->max > job->max_error) {
        const double before = job->max;
        TRY(check_reach(app, job, high, limit, fall));
        low = high;
        high = high ? 2 * high : 1;
        if (high > limit && low < limit) high = limit;
        if (high > limit)
            return app_fail_text(
                app, "%s: %g mm is not kept by %u helpers (%g mm): a larger --max-error?",
                job->path, 1e3 * job->max_error, low, 1e3 * job->max);
        TRY(bake_with(app, job, high, morphs));
        if (low) fall = fmax(fall, before / job->max);
    }
    while (high - low > 1 && high > least) {
        const uint32_t middle = low + (high - low) / 2;
        TRY(bake_with(app, job, middle, morphs));
        if (job->max > job->max_error)
            low = middle;
        else
            high = middle;
    }
    return job->report->helper_count == high ? EXIT_GOOD : bake_with(app, job, high, morphs);
}

// Then as few morph targets as that needs beside them.
static int fewest_morphs(cli_app *app, bake_job *job, uint32_t morphs)
{
    const uint32_t helpers = job->report->helper_count;
    uint32_t low = 0, high = morphs, last = morphs;
    if (morphs == 0) return EXIT_GOOD;
    while (high > low) {
        last = low + (high - low) / 2;
        TRY(bake_with(app, job, helpers, last));
        if (job->max > job->max_error)
            low = last + 1;
        else
            high = last;
    }
    return last == high ? EXIT_GOOD : bake_with(app, job, helpers, high);
}

uint32_t bake_formats(const cli_app *app, const bake_job *job)
{
    if (option_given(app, OPTION_WEIGHTS)) return 1u << option_choice(app, OPTION_WEIGHTS);
    return job->limits.weights ? job->limits.weights : 7;
}

cutis_result bake_round(const cutis_model *exact, cutis_weight_format format, cutis_model **out)
{
    static const uint32_t TOTALS[] = { 0, 65535, 255 };
    return cutis_weights_round(exact, TOTALS[format], out);
}

// The baked model with weights as a file of that format has them.
static int round_weights(cli_app *app, bake_job *job, cutis_model *exact,
                         cutis_weight_format format)
{
    if (job->baked != exact) cutis_model_destroy(job->baked);
    job->baked = NULL;
    TRY(app_result(app, job->path, bake_round(exact, format, &job->baked)));
    TRY(bake_judge(app, job, format));
    return bake_judge_driven(app, job);
}

// What was found of the exact weights, to come back to.
typedef struct found {
    memory_list memory;
    bake_clip *rows;
    double *series, *squares, rms, max, normal;
    bake_driven driven;
} found;

static void found_end(found *f)
{
    memory_release(&f->memory);
}

static int keep_found(cli_app *app, const bake_job *job, found *f)
{
    const size_t vertices = cutis_model_vertex_count(job->baked);
    f->rows = memory_take(&f->memory, job->clip_count, sizeof *f->rows);
    f->series = memory_take(&f->memory, job->frames.count, sizeof *f->series);
    f->squares = memory_take(&f->memory, vertices, sizeof *f->squares);
    if (f->memory.failed) return bake_no_memory(app, job);
    memcpy(f->rows, job->rows, job->clip_count * sizeof *f->rows);
    memcpy(f->series, job->series[0], job->frames.count * sizeof *f->series);
    memcpy(f->squares, job->squares[0], vertices * sizeof *f->squares);
    f->rms = job->rms, f->max = job->max, f->normal = job->normal, f->driven = job->driven;
    return EXIT_GOOD;
}

static void put_back(bake_job *job, cutis_model *exact, const found *f)
{
    if (job->baked != exact) cutis_model_destroy(job->baked);
    job->baked = exact;
    memcpy(job->rows, f->rows, job->clip_count * sizeof *f->rows);
    memcpy(job->series[0], f->series, job->frames.count * sizeof *f->series);
    memcpy(job->squares[0], f->squares, cutis_model_vertex_count(exact) * sizeof *f->squares);
    job->rms = f->rms, job->max = f->max, job->normal = f->normal, job->driven = f->driven;
}

// Whether a clip is worse than plain blending by fewer bits that is not by exact weights.
static bool bits_spoil(const bake_job *job, const found *floats)
{
    for (uint32_t r = 0; r < job->clip_count; r++)
        if (bake_is_worse(job, &job->rows[r]) && !bake_is_worse(job, &floats->rows[r])) return true;
    return false;
}

// Eight bits where they cost next to nothing, else sixteen.
static int choose_format(cli_app *app, bake_job *job, cutis_model *exact)
{
    const uint32_t allowed = bake_formats(app, job);
    const double rms = job->rms, free = 0.1 * bake_unseen(job),
                 bound = job->max_error > 0 ? job->max_error : INFINITY;
    ENDS_BY(found_end) found floats = { 0 };
    TRY(keep_found(app, job, &floats));
    for (int f = CUTIS_WEIGHTS_U8; f >= CUTIS_WEIGHTS_FLOAT; f--) {
        if (!(allowed >> f & 1)) continue;
        if (f == CUTIS_WEIGHTS_FLOAT)
            put_back(job, exact, &floats);
        else
            TRY(round_weights(app, job, exact, (cutis_weight_format)f));
        job->format = (cutis_weight_format)f;
        job->format_ratios[f] = rms > 0 ? job->rms / rms : 1;
        if (job->rms <= FORMAT_COST * rms + free && job->max <= bound && !bits_spoil(job, &floats))
            return EXIT_GOOD;
    }
    if (job->max > bound)
        return app_fail_text(app, "%s: %g mm is not kept by weights of %s (%g mm)", job->path,
                             1e3 * job->max_error, FORMATS[job->format], 1e3 * job->max);
    return EXIT_GOOD;
}

int bake_search(cli_app *app, bake_job *job)
{
    const uint32_t morphs = job->options.morphs;
    uint32_t space;
    TRY(helper_space(app, job, &space));
    if (job->max_error > 0) {
        TRY(fewest_helpers(app, job, space, morphs));
        TRY(fewest_morphs(app, job, morphs));
    } else if (job->options.helpers > space) {
        return app_fail_text(app, "%s: %u joints more, %s plays %u a skin: --helpers %u at most",
                             job->path, job->options.helpers, job->player, job->limits.joints,
                             space);
    } else {
        TRY(bake_with(app, job, job->options.helpers, morphs));
    }
    cutis_model *exact = job->baked;
    const int status = choose_format(app, job, exact);
    if (job->baked != exact) cutis_model_destroy(exact);
    TRY(status);
    return job->player ? check_limits(app, job) : EXIT_GOOD;
}
