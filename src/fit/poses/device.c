// Weights of a span learned on a GPU: problems are gathered on the host, solved by an item each,
// and taken back in the order of the tasks. Invariant: the same numbers go in, the same text solves
// them, and sums are added in the same order as on the CPU, so the result has its bits.
#include "fit/poses/fit.h"

#include <string.h>

#include "base/error.h"
#include "device/compute/learn.h"

#define TASK ((uint32_t)CUTIS_FIT_TASK) // vertices: sums are those of poses/vertices.c
// Scratch of one launch, at most; columns are most of it.
static const uint64_t SCRATCH_BYTES = 256ull << 20;
// Below this many vertices a launch and its compilation are not worth it.
#define WORTH 2048u

enum {
    PLACES,
    RESTS,
    JOINTS,
    PRIORS,
    COUNTS,
    PALETTES,
    COLUMNS,
    CANDIDATES,
    WEIGHTS,
    VALUES,
    BUFFERS
};

typedef struct learn_batch {
    cutis_fit_problem *p;
    const cutis_fit_span *span;
    uint32_t candidates, total; ///< most of a vertex; items of the launch
    uint32_t first, count;      ///< vertices of the span
    double *places, *rests, *priors;
    int32_t *joints, *counts, *found;
    double *weights, *values;
    cutis_fit_sums *sums; ///< per task
    cutis_buffer *buffers[BUFFERS];
} learn_batch;

static void gather(void *data, uint32_t task)
{
    learn_batch *b = data;
    const size_t total = b->total, rows = 3 * (size_t)b->p->examples->count;
    uint32_t joint[CUTIS_NNLS_MAX];
    double prior[CUTIS_NNLS_MAX], *places = b->places + rows * (total + task); // behind the rest
    for (uint32_t i = task * TASK; i < (task + 1) * TASK && i < b->count; i++) {
        const uint32_t v = b->first + i;
        uint32_t influences = 1;
        uint32_t count = cutis_fit_learn_begin(b->p, b->span, v, joint, prior, places, &influences);
        b->counts[i] = (int32_t)count;
        b->counts[total + i] = (int32_t)influences;
        for (size_t c = 0; c < 3; c++)
            b->rests[c * total + i] = b->span->positions[3 * (size_t)v + c];
        for (size_t j = 0; j < count; j++) {
            b->joints[j * total + i] = (int32_t)joint[j];
            b->priors[j * total + i] = prior[j];
        }
        for (size_t r = 0; r < rows && count; r++) b->places[r * total + i] = places[r];
    }
}

static void take_back(void *data, uint32_t task)
{
    learn_batch *b = data;
    const size_t total = b->total;
    for (uint32_t i = task * TASK; i < (task + 1) * TASK && i < b->count; i++) {
        uint32_t joint[CUTIS_NNLS_MAX];
        cutis_example_weights found = { .count = (uint32_t)b->values[i],
                                        .deficient = b->values[total + i] != 0,
                                        .discarded = b->values[2 * total + i] };
        if (!b->counts[i]) continue;
        for (size_t j = 0; j < (size_t)b->counts[i]; j++)
            joint[j] = (uint32_t)b->joints[j * total + i];
        for (size_t k = 0; k < found.count; k++) {
            found.candidate[k] = (uint32_t)b->found[k * total + i];
            found.weight[k] = b->weights[k * total + i];
        }
        cutis_fit_learn_end(b->p, b->span, b->first + i, joint, &found, &b->sums[task]);
    }
}

static cutis_result solve(learn_batch *b)
{
    const cutis_fit_problem *p = b->p;
    const size_t total = b->total, rows = 3 * (size_t)p->examples->count;
    const struct {
        int buffer;
        const void *data;
        size_t size;
    } in[] = {
        { PLACES, b->places, rows * total * sizeof(double) },
        { RESTS, b->rests, 3 * total * sizeof(double) },
        { JOINTS, b->joints, b->candidates * total * sizeof(int32_t) },
        { PRIORS, b->priors, b->candidates * total * sizeof(double) },
        { COUNTS, b->counts, 2 * total * sizeof(int32_t) },
    };
    for (size_t i = 0; i < sizeof in / sizeof *in; i++)
        TRY(cutis_buffer_write(b->buffers[in[i].buffer], 0, in[i].data, in[i].size));
    TRY(learn_weights_run(
        p->device, b->count,
        (learn_weights_buffers){ .places = b->buffers[PLACES],
                                 .rests = b->buffers[RESTS],
                                 .joints = b->buffers[JOINTS],
                                 .priors = b->buffers[PRIORS],
                                 .counts = b->buffers[COUNTS],
                                 .palettes = b->buffers[PALETTES],
                                 .columns = b->buffers[COLUMNS],
                                 .out_candidates = b->buffers[CANDIDATES],
                                 .out_weights = b->buffers[WEIGHTS],
                                 .out_values = b->buffers[VALUES] },
        (learn_weights_arguments){ .examples = (int)p->examples->count,
                                   .palette_count = (int)p->data->skins[b->span->skin].joint_count,
                                   .normalise = p->options.paper.normalise,
                                   .total = (int)b->total }));
    TRY(cutis_buffer_read(b->buffers[CANDIDATES], 0, b->found,
                          b->candidates * total * sizeof(int32_t)));
    TRY(cutis_buffer_read(b->buffers[WEIGHTS], 0, b->weights,
                          b->candidates * total * sizeof(double)));
    return cutis_buffer_read(b->buffers[VALUES], 0, b->values, 3 * total * sizeof(double));
}

static cutis_result open_batch(learn_batch *b)
{
    const cutis_fit_problem *p = b->p;
    const size_t total = b->total, rows = 3 * (size_t)p->examples->count;
    const size_t tasks = (total + TASK - 1) / TASK, c = b->candidates;
    const cutis_fit_skin *skin = &p->skins[b->span->skin];
    const size_t palette_bytes = 12 * (size_t)p->examples->count *
                                 p->data->skins[b->span->skin].joint_count * sizeof(double);
    const uint64_t sizes[BUFFERS] = { rows * total * 8,     3 * total * 8, c * total * 4,
                                      c * total * 8,        2 * total * 4, palette_bytes,
                                      rows * c * total * 8, c * total * 4, c * total * 8,
                                      3 * total * 8 };
    b->places = cutis_arena_zero(p->arena, rows, (total + tasks) * sizeof *b->places);
    b->rests = cutis_arena_zero(p->arena, 3, total * sizeof *b->rests);
    b->priors = cutis_arena_zero(p->arena, c, total * sizeof *b->priors);
    b->joints = cutis_arena_zero(p->arena, c, total * sizeof *b->joints);
    b->counts = cutis_arena_zero(p->arena, 2, total * sizeof *b->counts);
    b->found = cutis_arena_alloc(p->arena, c, total * sizeof *b->found);
    b->weights = cutis_arena_alloc(p->arena, c, total * sizeof *b->weights);
    b->values = cutis_arena_alloc(p->arena, 3, total * sizeof *b->values);
    b->sums = cutis_arena_alloc(p->arena, tasks, sizeof *b->sums);
    if (!b->places || !b->rests || !b->priors || !b->joints || !b->counts || !b->found ||
        !b->weights || !b->values || !b->sums)
        return cutis_alloc_result(p->context);
    for (int i = 0; i < BUFFERS; i++) TRY(cutis_buffer_create(p->device, sizes[i], &b->buffers[i]));
    return cutis_buffer_write(b->buffers[PALETTES], 0, skin->palettes, palette_bytes);
}

static cutis_result run_batches(learn_batch *b)
{
    cutis_fit_problem *p = b->p;
    const uint32_t vertices = b->span->primitive->vertex_count;
    for (b->first = 0; b->first < vertices; b->first += b->total) {
        b->count = vertices - b->first < b->total ? vertices - b->first : b->total;
        const uint32_t tasks = (b->count + TASK - 1) / TASK;
        TRY(cutis_progress(p->context, "learning",
                           (b->span->vertex_first + (double)b->first) / p->vertex_count));
        TRY(cutis_fit_window_range(p, b->span->vertex_first + b->first, b->count));
        memset(b->sums, 0, tasks * sizeof *b->sums);
        cutis_device_run(p->device, gather, b, tasks);
        TRY(solve(b));
        cutis_device_run(p->device, take_back, b, tasks);
        cutis_fit_add_sums(p, b->sums, tasks);
    }
    return CUTIS_OK;
}

cutis_result cutis_fit_learn_on_device(cutis_fit_problem *p, const cutis_fit_span *span, bool *done)
{
    const uint32_t joints = p->data->skins[span->skin].joint_count;
    const uint32_t vertices = span->primitive->vertex_count;
    *done = false;
    if (!p->device || cutis_device_describe(p->device).kind == CUTIS_DEVICE_CPU || vertices < WORTH)
        return CUTIS_OK;
    learn_batch b = { .p = p, .span = span, .candidates = joints };
    if (joints > CUTIS_NNLS_MAX) b.candidates = CUTIS_LEARN_CANDIDATES; // the nearest ones
    if (b.candidates > CUTIS_LEARN_CANDIDATES) return CUTIS_OK;
    uint64_t each = 3ull * p->examples->count * (b.candidates + 1) * 8;
    uint64_t most = SCRATCH_BYTES / each / TASK * TASK;
    b.total = most < TASK ? TASK : most < vertices ? (uint32_t)most : vertices;
    cutis_result result = open_batch(&b);
    if (result == CUTIS_OK) result = run_batches(&b);
    for (int i = 0; i < BUFFERS; i++) cutis_buffer_destroy(b.buffers[i]);
    *done = result == CUTIS_OK;
    return result;
}
