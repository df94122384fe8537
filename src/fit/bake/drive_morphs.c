// Weights of morph targets as functions of joints: a regression each, of any joints that move, for
// a target may be of the whole body (docs/spec/bake.md 8). Invariant: a task makes what is of one
// target, in the order of frames.
#include "fit/bake/drive.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

enum { SHIFT = 3, OUTPUTS = 6 }; // of a driver's outputs the one that is a weight

typedef struct morph_job {
    const struct cutis_bake_drive *drive;
    uint32_t frame_count, count, candidate_count;
    const uint32_t *candidates;
    bool chosen;
    double *weights; ///< [frame][count]
    double *targets; ///< [target][frame][OUTPUTS]
    double *scratch; ///< [target]
} morph_job;

static void morph_task(void *data, uint32_t m)
{
    const morph_job *j = data;
    const struct cutis_bake_drive *d = j->drive;
    double *targets = j->targets + (size_t)m * j->frame_count * OUTPUTS;
    cutis_regress_fit *fit = &d->morph_fits[m];
    for (size_t f = 0; f < j->frame_count; f++)
        targets[f * OUTPUTS + SHIFT] = j->weights[f * j->count + m];
    const cutis_regress_samples samples = { .frame_count = j->frame_count,
                                            .inputs = d->inputs,
                                            .targets = targets,
                                            .fold = d->fold,
                                            .candidate_count = j->candidate_count,
                                            .candidates = j->candidates };
    cutis_regress(&samples, j->chosen, j->scratch + m * cutis_regress_scratch(), fit);
    for (size_t f = 0; f < j->frame_count; f++) {
        double u[4 * CUTIS_DRIVER_INPUTS], y[OUTPUTS] = { 0 };
        for (size_t k = 0; k < fit->input_count; k++)
            for (size_t c = 0; c < 4; c++)
                u[4 * k + c] = d->inputs[(4 * fit->inputs[k] + c) * j->frame_count + f];
        if (fit->input_count) cutis_regress_evaluate(fit, u, y);
        j->weights[f * j->count + m] = y[SHIFT];
    }
}

cutis_result cutis_bake_drive_morphs(cutis_bake_job *job, uint32_t count, bool chosen,
                                     double *weights)
{
    struct cutis_bake_drive *d = job->drive;
    cutis_arena arena = { .context = job->context };
    uint32_t *candidates =
        cutis_arena_alloc(&arena, d->joint_count + (size_t)1, sizeof *candidates);
    morph_job j = { .drive = d,
                    .frame_count = job->learned.count,
                    .count = count,
                    .candidates = candidates,
                    .chosen = chosen,
                    .weights = weights };
    if (!chosen) d->morph_fits = cutis_arena_zero(job->arena, count, sizeof *d->morph_fits);
    d->morph_count = count;
    j.targets = cutis_arena_zero(&arena, (size_t)count * j.frame_count, OUTPUTS * sizeof(double));
    j.scratch = cutis_arena_alloc(&arena, count * cutis_regress_scratch(), sizeof *j.scratch);
    const bool there = candidates && d->morph_fits && j.targets && j.scratch;
    for (uint32_t k = 0; k < d->joint_count && there; k++)
        if (d->moves[k]) candidates[j.candidate_count++] = k;
    if (there) cutis_device_run(job->device, morph_task, &j, count);
    cutis_arena_release(&arena);
    return there ? CUTIS_OK : cutis_alloc_result(job->context);
}

static int by_node(const void *a, const void *b)
{
    const cutis_weight_driver *x = a, *y = b;
    if (x->node != y->node) return x->node < y->node ? -1 : 1;
    return (x->target > y->target) - (x->target < y->target);
}

cutis_result cutis_bake_drive_weights(cutis_bake_job *job, const uint32_t *place,
                                      cutis_drivers *all)
{
    const struct cutis_bake_drive *d = job->drive;
    const uint32_t morphs = d->morph_count;
    cutis_weight_driver *drivers =
        cutis_arena_zero(job->arena, (size_t)morphs * job->instance_count + 1, sizeof *drivers);
    float *coefficients =
        cutis_arena_alloc(job->arena, (size_t)morphs * CUTIS_REGRESS_TERMS, sizeof *coefficients);
    if (!drivers || !coefficients) return cutis_alloc_result(job->context);
    for (size_t m = 0; m < morphs; m++)
        for (size_t k = 0; k < CUTIS_REGRESS_TERMS; k++)
            coefficients[m * CUTIS_REGRESS_TERMS + k] =
                d->morph_fits[m].coefficients[OUTPUTS * k + SHIFT];
    for (uint32_t i = 0; i < job->instance_count; i++)
        for (uint32_t m = 0; m < morphs && job->baked[i]; m++) {
            const cutis_regress_fit *fit = &d->morph_fits[m];
            cutis_weight_driver *driver = &drivers[all->weight_count++];
            *driver = (cutis_weight_driver){ .node = job->instances[i].node,
                                             .target = m,
                                             .input_count = fit->input_count,
                                             .coefficients =
                                                 coefficients + (size_t)m * CUTIS_REGRESS_TERMS };
            for (uint32_t k = 0; k < fit->input_count; k++)
                driver->inputs[k] = place[fit->inputs[k]] - 1;
        }
    qsort(drivers, all->weight_count, sizeof *drivers, by_node);
    all->weights = drivers;
    return CUTIS_OK;
}
