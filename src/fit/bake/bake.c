// Baking: gather, solve, build. Invariant: nothing is published unless everything succeeded; the
// result depends on model, frames and options only.
#include "fit/bake/job.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/os/os.h"
#include "math/mat3.h"
#include "math/quat.h"
#include "math/svd3.h"

// What keeps a bone near its vertices: so much of their squared distance to where it alone would
// take them (docs/spec/bake.md 2).
static const double AFFINITY = 3e-4;
static const double PRIOR = 3e-5;
// What a turn of a normal by one radian is worth, of the diagonal, to begin with.
static const double WORTH = 4e-3;

void cutis_bake_report_destroy(cutis_bake_report *baked)
{
    cutis_owner_destroy(baked);
}

static cutis_result read_options(cutis_bake_job *job, const cutis_bake_options *options)
{
    if (!cutis_options_copy(&job->options, sizeof job->options, sizeof job->options, options))
        return UNSUPPORTED(job->context, CUTIS_NEWER, "bake");
    if (job->options.influences == 0) job->options.influences = 4;
    if (job->options.influences > CUTIS_BAKE_SLOTS)
        return INVALID(job->context, "bake: %u influences; 1 to %d can be solved for",
                       job->options.influences, CUTIS_BAKE_SLOTS);
    if (job->options.morphs > CUTIS_BAKE_MORPHS)
        return INVALID(job->context, "bake: %u morph targets; %d are the most", job->options.morphs,
                       CUTIS_BAKE_MORPHS);
    if (job->options.helpers > CUTIS_BAKE_BONES / 4)
        return cutis_fail(job->context, CUTIS_LIMIT_EXCEEDED, "bake: %u joints; %d are the most",
                          job->options.helpers, CUTIS_BAKE_BONES / 4);
    return CUTIS_OK;
}

static cutis_bake_problem problem_of(const cutis_bake_job *job, const cutis_bake_part *part)
{
    const double prior = job->options.prior;
    return (cutis_bake_problem){
        .context = job->context,
        .device = job->device,
        .point_count = job->point_count,
        .frame_count = part->count,
        .joint_count = job->joint_count,
        .stride = part->stride,
        .positions = job->positions,
        .targets = part->targets,
        .joints = part->joints,
        .normals = part->turns ? job->normals : NULL,
        .turns = part->turns,
        .worth = job->diagonal * WORTH,
        .mass = job->mass,
        .space = job->bare ? NULL : job->space,
        .first = job->bare ? NULL : job->first,
        .joint = job->joint,
        .weight = job->weight,
        .helper_count = job->options.helpers,
        .influences = job->options.influences,
        .keep_weights = job->options.morphs && job->options.helpers == 0,
        .driven = job->options.drivers,
        .affinity = AFFINITY,
        .prior = job->diagonal * (prior > 0   ? prior
                                  : prior < 0 ? 0
                                              : PRIOR),
    };
}

void cutis_bake_rigid(double *m, const double *about)
{
    double a[9], r[9], at[3];
    double34_linear(m, a);
    if (!cutis_polar3(a, r)) double33_identity(r);
    double34_point(m, about, at);
    for (size_t i = 0; i < 3; i++) {
        memcpy(m + 4 * i, r + 3 * i, 3 * sizeof *m);
        m[4 * i + 3] = at[i] - double3_dot(r + 3 * i, about);
    }
}

// Where helpers start in a frame that was held out: where the joints they follow are. In one that
// was too many: where they are in the learned frame next to it.
static void start_frame(const cutis_bake_job *job, uint32_t f, uint32_t near)
{
    const cutis_bake_part *part = &job->others, *learned = &job->learned;
    const size_t stride = part->stride;
    const uint8_t *out = job->frames->held_out;
    for (uint32_t h = 0; h < job->solution.helper_count; h++) {
        double m[12], *to = part->helpers + h * 12 * stride + f;
        if (out && out[part->frame[f]]) {
            cutis_bake_matrix(part->joints + job->parent_bone[h] * 12 * stride, stride, f, m);
            cutis_bake_rigid(m, job->pivot + 3 * (size_t)h);
        } else {
            cutis_bake_matrix(learned->helpers + h * 12 * learned->stride, learned->stride, near,
                              m);
        }
        for (size_t i = 0; i < 3; i++)
            for (size_t j = 0; j < 4; j++) to[(3 * j + i) * stride] = m[4 * i + j];
    }
}

static cutis_result follow_part(cutis_bake_job *job, cutis_bake_part *part, uint32_t first,
                                void *data)
{
    (void)first, (void)data;
    const cutis_bake_problem problem = problem_of(job, part);
    return cutis_bake_follow(&problem, &job->solution, CUTIS_BAKE_FOLLOW_STEPS, part->helpers);
}

static uint32_t frame_of_other(const cutis_bake_job *job, uint32_t other)
{
    return other < job->others.count ? job->others.frame[other] : UINT32_MAX;
}

// Of the others those of frames [first, end): [*from, *to).
void cutis_bake_others_in(const cutis_bake_job *job, uint32_t first, uint32_t end, uint32_t *from,
                          uint32_t *to)
{
    for (*from = 0; frame_of_other(job, *from) < first;) ++*from;
    for (*to = *from; frame_of_other(job, *to) < end;) ++*to;
}

cutis_result cutis_bake_others_open(cutis_bake_job *job)
{
    cutis_bake_part *part = &job->others;
    part->helpers = cutis_arena_zero(job->arena, job->solution.helper_count * 12 * part->stride + 1,
                                     sizeof(double));
    return part->helpers ? CUTIS_OK : cutis_alloc_result(job->context);
}

cutis_result cutis_bake_others(cutis_bake_job *job, uint32_t from, uint32_t to)
{
    cutis_bake_part *part = &job->others;
    const cutis_bake_part *learned = &job->learned;
    uint32_t near = 0;
    if (from == to || job->solution.helper_count == 0) return CUTIS_OK;
    if (job->drive) cutis_bake_drive_part(job, part, part->helpers);
    for (uint32_t f = from; f < to && !job->drive; f++) {
        const uint32_t at = part->frame[f];
        while (near + 1 < learned->count && learned->frame[near + 1] <= at) near++;
        const bool next = near + 1 < learned->count && learned->frame[near] < at &&
                          learned->frame[near + 1] - at < at - learned->frame[near];
        start_frame(job, f, near + next);
    }
    return cutis_bake_each(job, from, to, follow_part, NULL);
}

static void fill_report(const cutis_bake_job *job, cutis_bake_report *report)
{
    double rest = 0, plain = 0, count = 0;
    for (uint32_t i = 0; i < job->point_count; i++) {
        const double own = job->solution.plain[i], found = job->solution.residual[i];
        rest += job->mass[i] * (cutis_bake_is_kept(job, i) ? own : found);
        plain += job->mass[i] * own;
        count += job->mass[i];
    }
    report->morph_count = job->morph_count;
    report->helper_count = job->solution.helper_count;
    report->joint_count = job->joint_count;
    report->vertex_count = (uint64_t)count;
    report->kept_count = job->kept_count;
    report->rms = sqrt(rest / count / job->learned.count);
    report->plain_rms = sqrt(plain / count / job->learned.count);
}

cutis_result cutis_bake_prepare(cutis_bake_job *job)
{
    TRY(cutis_bake_gather(job));
    TRY(cutis_bake_gather_normals(job));
    if (job->bare && job->options.helpers == 0)
        return INVALID(job->context, "bake: the model has no skin, and no joints are asked for");
    job->problem = problem_of(job, &job->learned);
    return CUTIS_OK;
}

cutis_result cutis_bake_learn(cutis_bake_job *job)
{
    TRY(cutis_bake_prepare(job));
    if (job->options.drivers) TRY(cutis_bake_drive_open(job));
    TRY(cutis_bake_solve(&job->problem, job->arena, &job->solution));
    job->learned.helpers = job->solution.helpers;
    TRY(cutis_bake_parents(job));
    if (job->drive) TRY(cutis_bake_drive(job));
    TRY(cutis_bake_keep_own(job));
    return cutis_bake_others_open(job);
}

cutis_result cutis_bake_finish(cutis_bake_job *job, cutis_model **out, cutis_bake_report *report)
{
    uint32_t *nodes = cutis_arena_zero(cutis_owner_arena(report),
                                       job->solution.helper_count + (size_t)1, sizeof *nodes);
    if (!nodes) return cutis_alloc_result(job->context);
    report->helpers = nodes;
    TRY(cutis_bake_build(job, out, nodes));
    fill_report(job, report);
    if (job->drive) TRY(cutis_bake_drive_judge(job, report));
    report->learned_frames = job->learned.count;
    report->seconds = cutis_os_seconds() - job->begun;
    return CUTIS_OK;
}

static cutis_result run(cutis_bake_job *job, cutis_model **out, cutis_bake_report *report)
{
    TRY(cutis_bake_learn(job));
    TRY(cutis_bake_others(job, 0, job->others.count));
    TRY(cutis_bake_morph(job));
    return cutis_bake_finish(job, out, report);
}

cutis_result cutis_bake_open(cutis_bake_job *job, const cutis_model *model, cutis_device *device,
                             const cutis_bake_frames *frames, const cutis_bake_options *options,
                             cutis_arena *arena)
{
    *job = (cutis_bake_job){ .model = model,
                             .data = cutis_model_get(model),
                             .context = cutis_model_context(model),
                             .device = device,
                             .arena = arena,
                             .frames = frames,
                             .begun = cutis_os_seconds() };
    return read_options(job, options);
}

cutis_result cutis_bake(const cutis_model *model, cutis_device *device,
                        const cutis_bake_frames *frames, const cutis_bake_options *options,
                        cutis_model **out, cutis_bake_report **report)
{
    if (out) *out = NULL;
    if (report) *report = NULL;
    if (!model || !frames || !out) return CUTIS_INVALID_ARGUMENT;
    cutis_context *context = cutis_model_context(model);
    cutis_arena arena = { .context = context };
    cutis_bake_job job;
    cutis_bake_report *made = cutis_owner_create(context, sizeof *made);
    cutis_result result = made ? cutis_bake_open(&job, model, device, frames, options, &arena)
                               : cutis_alloc_result(context);
    if (result == CUTIS_OK) result = run(&job, out, made);
    cutis_arena_release(&arena);
    if (result == CUTIS_OK && report)
        *report = made;
    else
        cutis_owner_destroy(made);
    return cutis_fail_in(context, result);
}
