// Driven weights of morph targets. Invariant: as drive.c has it, sums run in the order of the
// terms, in float.
#include "model/drivers.h"

#include <math.h>
#include <string.h>

#include <cutis/clip.h>

#include "base/error.h"

enum { INPUTS = 4 * CUTIS_DRIVER_INPUTS };

// A driven weight of one instance.
typedef struct drive_weight {
    uint32_t place;       ///< into the weights of a pose
    uint32_t input_count; ///< that can be other than zero
    uint16_t inputs[INPUTS];
    float *terms; ///< of each input its own coefficient, then those of its products
} drive_weight;

// Those of one instance, which are driven together or not at all.
typedef struct drive_run {
    uint32_t node, count;
    drive_weight *weights;
} drive_run;

struct cutis_drive_weights {
    uint32_t run_count;
    drive_run *runs;
};

static bool pack(cutis_model *model, const cutis_weight_driver *driver, uint32_t place,
                 drive_weight *out)
{
    const uint32_t n = 4 * driver->input_count;
    const float *product = driver->coefficients + n;
    float *to =
        cutis_arena_alloc(&model->arena, cutis_driver_terms(driver->input_count) + 1, sizeof *to);
    bool used[INPUTS];
    if (!to) return false;
    *out = (drive_weight){ .place = place, .terms = to };
    for (uint32_t i = 0; i < n; i++) {
        const float *range =
            model->data.drivers->ranges + 8 * (size_t)driver->inputs[i / 4] + i % 4;
        used[i] = range[0] != 0 || range[4] != 0;
        if (used[i])
            out->inputs[out->input_count++] = (uint16_t)(4 * driver->inputs[i / 4] + i % 4);
    }
    for (uint32_t i = 0; i < n; i++) {
        if (used[i]) *to++ = driver->coefficients[i];
        for (uint32_t j = i; j < n; j++, product++)
            if (used[i] && used[j]) *to++ = *product;
    }
    return true;
}

static bool pack_run(cutis_model *model, uint32_t first, uint32_t end,
                     const cutis_instance *instance, drive_run *out)
{
    const cutis_weight_driver *all = model->data.drivers->weights;
    out->node = instance->node, out->count = end - first;
    out->weights = cutis_arena_zero(&model->arena, end - first, sizeof *out->weights);
    if (!out->weights) return false;
    for (uint32_t d = first; d < end; d++)
        if (!pack(model, &all[d], instance->target_first + all[d].target, &out->weights[d - first]))
            return false;
    return true;
}

bool cutis_drive_weights_create(cutis_model *model)
{
    const cutis_drivers *all = model->data.drivers;
    if (all->weight_count == 0) return true;
    struct cutis_drive_weights *table = cutis_arena_zero(&model->arena, 1, sizeof *table);
    uint32_t *starts = cutis_arena_zero(&model->arena, model->data.node_count + (size_t)1,
                                        sizeof *starts); // of each node, from 1 on
    if (!table || !starts) return false;
    table->runs =
        cutis_arena_zero(&model->arena, model->instance_count + (size_t)1, sizeof *table->runs);
    if (!table->runs) return false;
    for (uint32_t d = all->weight_count; d-- > 0;) starts[all->weights[d].node] = d + 1;
    for (uint32_t i = 0; i < model->instance_count; i++) {
        const cutis_instance *instance = &model->instances[i];
        if (!starts[instance->node]) continue;
        const uint32_t first = starts[instance->node] - 1;
        uint32_t end = first;
        while (end < all->weight_count && all->weights[end].node == instance->node) end++;
        if (!pack_run(model, first, end, instance, &table->runs[table->run_count++])) return false;
    }
    model->drive_weights = table;
    return true;
}

static bool rests(const cutis_model *model, const drive_run *run, const float *weights)
{
    for (uint32_t k = 0; k < run->count; k++) {
        const uint32_t at = run->weights[k].place;
        const float rest = model->rest_targets[at];
        if (!(fabsf(weights[at] - rest) <= 1e-6f * (1 + fabsf(rest)))) return false;
    }
    return true;
}

static float evaluate(const drive_weight *w, const cutis_drive_inputs *inputs)
{
    const float *values = inputs->values[0], *at = w->terms;
    float u[INPUTS], sum = 0;
    for (uint32_t i = 0; i < w->input_count; i++) u[i] = values[w->inputs[i]];
    for (uint32_t i = 0; i < w->input_count; i++) {
        float part = *at++;
        for (uint32_t j = i; j < w->input_count; j++) part += u[j] * *at++;
        sum += u[i] * part;
    }
    return sum;
}

void cutis_pose_drive_weights(const cutis_model *model, cutis_drive drive,
                              const cutis_transform *transforms, float *morph_weights)
{
    if (!model || !transforms || !morph_weights || !model->drive_weights ||
        drive == CUTIS_DRIVE_NONE)
        return;
    cutis_drive_inputs inputs;
    cutis_drive_read(model, transforms, &inputs);
    for (uint32_t r = 0; r < model->drive_weights->run_count; r++) {
        const drive_run *run = &model->drive_weights->runs[r];
        if (drive != CUTIS_DRIVE_ALL && !rests(model, run, morph_weights)) continue;
        for (uint32_t k = 0; k < run->count; k++) {
            const uint32_t at = run->weights[k].place;
            morph_weights[at] = model->rest_targets[at] + evaluate(&run->weights[k], &inputs);
        }
    }
}
