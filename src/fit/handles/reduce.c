// From many weights to few. Invariant: a vertex keeps weight only on joints it had weight on; the
// model is replaced whole or stays.
#include "fit/handles/report.h"

#include <math.h>

#include <cutis/weights.h>

#include "base/os/os.h"

/// Three times what is kept, and no more than anyone can tell apart: beyond 16 of a vertex's
/// weights are below 1e-3.
uint32_t cutis_handles_wide(uint32_t influences)
{
    const uint32_t wide = 3 * influences;
    if (influences >= 16) return influences;
    return wide < 8 ? 8 : wide > 16 ? 16 : wide;
}

// Weight of a vertex on joints that the other list does not have.
static double lost(const cutis_influences *before, const cutis_influences *after, uint32_t v)
{
    double sum = 0, all = 0;
    for (uint32_t i = before->first[v]; i < before->first[v + 1]; i++) {
        bool kept = false;
        for (uint32_t j = after->first[v]; j < after->first[v + 1] && !kept; j++)
            kept = after->joints[j] == before->joints[i] && after->weights[j] > 0;
        all += before->weights[i];
        if (!kept) sum += before->weights[i];
    }
    return all > 0 ? sum / all : 0;
}

static void measure_loss(const cutis_model *before, const cutis_model *after,
                         cutis_handles_report *report)
{
    const cutis_model_data *a = cutis_model_get(before), *b = cutis_model_get(after);
    double sum = 0, worst = 0;
    uint64_t count = 0;
    for (uint32_t m = 0; m < a->mesh_count; m++)
        for (uint32_t p = 0; p < a->meshes[m].primitive_count; p++) {
            const cutis_primitive *x = &a->meshes[m].primitives[p];
            const cutis_primitive *y = &b->meshes[m].primitives[p];
            if (!x->influences.first || !y->influences.first) continue;
            for (uint32_t v = 0; v < x->vertex_count; v++, count++) {
                double gone = lost(&x->influences, &y->influences, v);
                sum += gone;
                worst = fmax(worst, gone);
            }
        }
    report->dropped_mass_max = fmax(report->dropped_mass_max, worst);
    report->dropped_mass_mean += count ? sum / (double)count : 0;
}

cutis_result cutis_handles_reduce(cutis_device *device, uint32_t influences, const uint32_t *clips,
                                  uint32_t clip_count, cutis_model **model,
                                  cutis_handles_report *report)
{
    double start = cutis_os_seconds();
    cutis_model *reduced = NULL;
    // Each vertex for itself: on held-out poses as near in position as sweeps over the whole
    // surface are, at a tenth of the time; these weights are smooth already. `cutis reduce` has the
    // rest.
    const cutis_reduce_options options = { .influences = influences,
                                           .method = CUTIS_REDUCE_GEOMETRIC,
                                           .clips = clips,
                                           .clip_count = clip_count,
                                           .automatic = clip_count == 0,
                                           .repair = true,
                                           .skip_evaluation = true };
    cutis_result result = cutis_weights_reduce(*model, device, &options, &reduced, NULL);
    // What the reduction will not take (other skins of the model may be anything) is no reason to
    // fail: the largest weights are always there.
    if (result != CUTIS_OK && result != CUTIS_CANCELLED && result != CUTIS_OUT_OF_MEMORY &&
        result != CUTIS_LIMIT_EXCEEDED)
        result = cutis_weights_limit(*model, influences, &reduced);
    if (result != CUTIS_OK) return result;
    measure_loss(*model, reduced, report);
    cutis_model_destroy(*model);
    *model = reduced;
    report->seconds.reduction = cutis_os_seconds() - start;
    return CUTIS_OK;
}
