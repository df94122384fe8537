// Harmonic coordinates: red and black successive over-relaxation of the grid's values, a batch of
// controls at a time, on any device; then interpolation at the points. Invariants: values stay
// between 0 and 1 up to the solver's residual; the same bits for any number of threads, and for any
// device that runs the same batches.
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "device/compute/cage.h"
#include "fit/cage/coordinates.h"
#include "fit/cage/grid.h"
#include "math/elementary.h"

// Controls solved together: a CPU keeps a batch in its cache, a GPU wants many items.
enum { LANES_CPU = 16, LANES_GPU = 64 };
enum { TASK = 64, STRETCH = 256 };
// Sweeps between two looks at the residual, and in all.
enum { CHECK = 10, SWEEPS_MAX = 20000 };
// Sweeps that the slowest part needs to stand out, then those it is measured over.
enum { WARM_UP = 60, MEASURED = 20 };
// Over-relaxation that has made the residual this much larger is given up for plain sweeps.
static const double DIVERGED = 1e3;

enum { NEIGHBOURS, COEFFICIENTS, ROWS, FIXED, VALUES, RESIDUAL, BUFFERS };

typedef struct solver {
    cutis_device *device;
    const cutis_cage_grid *grid;
    cutis_buffer *buffers[BUFFERS];
    uint32_t lanes;
    double *fixed, *values; ///< host copies
    double *residuals;
    uint32_t stretches;
    double square; ///< of the spectral radius of one averaging step
    cutis_cage_grid_report *report;
} solver;

static cutis_result relax(const solver *s, uint32_t lanes, int colour, double omega)
{
    const cutis_cage_grid *g = s->grid;
    const bool gpu = s->device->operations->compute_run != NULL;
    const uint32_t first = colour ? g->red_count : 0,
                   count = colour ? g->node_count - g->red_count : g->red_count;
    const uint32_t groups = gpu ? lanes : 1;
    return cage_relax_run(s->device, count * groups,
                          (cage_relax_buffers){ .neighbours = s->buffers[NEIGHBOURS],
                                                .coefficients = s->buffers[COEFFICIENTS],
                                                .rows = s->buffers[ROWS],
                                                .fixed = s->buffers[FIXED],
                                                .values = s->buffers[VALUES] },
                          (cage_relax_arguments){ .first = (int)first,
                                                  .groups = (int)groups,
                                                  .width = (int)(lanes / groups),
                                                  .lanes = (int)lanes,
                                                  .omega = omega });
}

static cutis_result measure(solver *s, double *out)
{
    TRY(cage_relax_residual_run(
        s->device, s->stretches,
        (cage_relax_residual_buffers){ .neighbours = s->buffers[NEIGHBOURS],
                                       .coefficients = s->buffers[COEFFICIENTS],
                                       .rows = s->buffers[ROWS],
                                       .fixed = s->buffers[FIXED],
                                       .values = s->buffers[VALUES],
                                       .out = s->buffers[RESIDUAL] },
        (cage_relax_residual_arguments){
            .node_count = (int)s->grid->node_count, .stretch = STRETCH, .lanes = (int)s->lanes }));
    TRY(cutis_buffer_read(s->buffers[RESIDUAL], 0, s->residuals,
                          s->stretches * sizeof *s->residuals));
    *out = 0;
    for (uint32_t i = 0; i < s->stretches; i++)
        *out = s->residuals[i] > *out ? s->residuals[i] : *out;
    return CUTIS_OK;
}

// The largest value after `sweeps` plain sweeps from all ones, with nothing fixed.
static cutis_result decay(solver *s, int sweeps, double *largest)
{
    const uint32_t count = s->grid->node_count;
    for (int i = 0; i < 2 * sweeps; i++) TRY(relax(s, 1, i % 2, 1));
    TRY(cutis_buffer_read(s->buffers[VALUES], 0, s->values, count * sizeof *s->values));
    *largest = 0;
    for (uint32_t i = 0; i < count; i++) *largest = fmax(*largest, s->values[i]);
    return CUTIS_OK;
}

// How slowly plain sweeps are: decides the over-relaxation.
static cutis_result find_rate(solver *s)
{
    const uint32_t count = s->grid->node_count;
    double before, after;
    memset(s->fixed, 0, (size_t)s->grid->row_count * sizeof *s->fixed);
    for (uint32_t i = 0; i < count; i++) s->values[i] = 1;
    TRY(cutis_buffer_write(s->buffers[FIXED], 0, s->fixed, s->grid->row_count * sizeof *s->fixed));
    TRY(cutis_buffer_write(s->buffers[VALUES], 0, s->values, count * sizeof *s->values));
    TRY(decay(s, WARM_UP, &before));
    TRY(decay(s, MEASURED, &after));
    double rate = before > 0 && after > 0 ? fixed_pow(after / before, 1.0 / MEASURED) : 0;
    s->square = rate < 0.999999 ? rate : 0.999999;
    return CUTIS_OK;
}

// Values of controls [first, first + lanes) on the cage, zero inside.
static cutis_result load_batch(solver *s, uint32_t first)
{
    const cutis_cage_grid *g = s->grid;
    const size_t fixed = (size_t)g->row_count * s->lanes, values = (size_t)g->node_count * s->lanes;
    memset(s->fixed, 0, fixed * sizeof *s->fixed);
    memset(s->values, 0, values * sizeof *s->values);
    for (uint32_t r = 0; r < g->row_count; r++)
        for (uint32_t i = g->row_first[r]; i < g->row_first[r + 1]; i++) {
            uint32_t lane = g->row_control[i] - first; // wraps around for lower controls
            if (lane < s->lanes) s->fixed[(size_t)r * s->lanes + lane] += g->row_value[i];
        }
    TRY(cutis_buffer_write(s->buffers[FIXED], 0, s->fixed, fixed * sizeof *s->fixed));
    return cutis_buffer_write(s->buffers[VALUES], 0, s->values, values * sizeof *s->values);
}

static cutis_result solve_batch(solver *s, uint32_t first, double tolerance)
{
    double omega = 1, residual = INFINITY, least = INFINITY;
    bool plain = false;
    uint32_t sweeps = 0;
    TRY(load_batch(s, first));
    while (residual > tolerance && sweeps < SWEEPS_MAX) {
        for (int i = 0; i < CHECK; i++, sweeps++)
            for (int colour = 0; colour < 2; colour++) {
                TRY(relax(s, s->lanes, colour, omega));
                if (plain) continue; // Chebyshev's sequence: towards the best omega, safely
                omega = sweeps == 0 && colour == 0 ? 1 / (1 - s->square / 2)
                                                   : 1 / (1 - s->square * omega / 4);
            }
        TRY(measure(s, &residual));
        TRY(cutis_progress(s->grid->shape->context, "harmonic coordinates",
                           (double)first / s->grid->shape->control_count));
        if (!plain && !(residual < DIVERGED * least) && least < INFINITY) {
            plain = true, omega = 1, residual = INFINITY;
            TRY(load_batch(s, first));
        }
        least = fmin(least, residual);
    }
    if (sweeps > s->report->sweep_count) s->report->sweep_count = sweeps;
    s->report->residual = fmax(s->report->residual, residual);
    return cutis_buffer_read(s->buffers[VALUES], 0, s->values,
                             (size_t)s->grid->node_count * s->lanes * sizeof *s->values);
}

// Points ----------------------------------------------------------------------------------------

typedef struct point_job {
    const solver *solver;
    const double *points;
    uint32_t point_count, first, count; ///< controls of the batch
    cutis_cage_weights weights;
} point_job;

static void store(const point_job *job, size_t at, double value)
{
    value = value > 0 ? value : 0; // the solver's residual
    if (job->weights.wide)
        job->weights.wide[at] = value;
    else
        job->weights.narrow[at] = (float)value;
}

static void point_task(void *data, uint32_t index)
{
    const point_job *job = data;
    const solver *s = job->solver;
    const uint32_t n = s->grid->shape->control_count;
    uint32_t p = index * TASK, end = p + TASK;
    if (end > job->point_count) end = job->point_count;
    for (; p < end; p++) {
        cutis_cage_blend blend;
        double sum[LANES_GPU] = { 0 };
        cutis_cage_grid_blend(s->grid, job->points + 3 * (size_t)p, &blend);
        for (uint32_t i = 0; i < blend.node_count; i++)
            for (uint32_t l = 0; l < job->count; l++)
                sum[l] += blend.node_weight[i] * s->values[(size_t)blend.node[i] * s->lanes + l];
        for (uint32_t i = 0; i < blend.control_count; i++) {
            uint32_t lane = blend.control[i] - job->first;
            if (lane < job->count) sum[lane] += blend.control_weight[i];
        }
        for (uint32_t l = 0; l < job->count; l++)
            store(job, (size_t)p * n + job->first + l, sum[l]);
    }
}

// The sum is 1 up to the residual; this takes the rest out of it.
static void normalise(const cutis_cage_weights *weights, uint32_t point_count, uint32_t n)
{
    for (size_t p = 0; p < point_count; p++) {
        double sum = 0;
        for (size_t i = p * n; i < (p + 1) * n; i++)
            sum += weights->wide ? weights->wide[i] : (double)weights->narrow[i];
        for (size_t i = p * n; i < (p + 1) * n && sum > 0; i++) {
            if (weights->wide) weights->wide[i] /= sum;
            if (weights->narrow) weights->narrow[i] = (float)(weights->narrow[i] / sum);
        }
    }
}

static cutis_result create_buffers(solver *s)
{
    const cutis_cage_grid *g = s->grid;
    const uint64_t nodes = g->node_count;
    const uint64_t sizes[BUFFERS] = { 24 * nodes,
                                      48 * nodes,
                                      4 * nodes,
                                      8 * ((uint64_t)g->row_count * s->lanes + 1),
                                      8 * nodes * s->lanes,
                                      8 * (uint64_t)s->stretches };
    const void *contents[BUFFERS] = { g->neighbours, g->coefficients, g->rows };
    for (int b = 0; b < BUFFERS; b++) {
        TRY(cutis_buffer_create(s->device, sizes[b], &s->buffers[b]));
        if (contents[b]) TRY(cutis_buffer_write(s->buffers[b], 0, contents[b], sizes[b]));
    }
    return CUTIS_OK;
}

static cutis_result solve_all(solver *s, cutis_arena *arena, double tolerance, const double *points,
                              uint32_t point_count, cutis_cage_weights weights)
{
    const cutis_cage_grid *g = s->grid;
    const uint32_t n = g->shape->control_count;
    s->fixed = cutis_arena_alloc(arena, (size_t)g->row_count * s->lanes + 1, sizeof *s->fixed);
    s->values = cutis_arena_alloc(arena, (size_t)g->node_count * s->lanes, sizeof *s->values);
    s->residuals = cutis_arena_alloc(arena, s->stretches, sizeof *s->residuals);
    if (!s->fixed || !s->values || !s->residuals)
        return cutis_alloc_result(s->grid->shape->context);
    TRY(create_buffers(s));
    TRY(find_rate(s));
    for (uint32_t first = 0; first < n; first += s->lanes) {
        point_job job = { s, points, point_count, first, n - first, weights };
        if (job.count > s->lanes) job.count = s->lanes;
        TRY(solve_batch(s, first, tolerance));
        cutis_device_run(s->device, point_task, &job, (point_count + TASK - 1) / TASK);
    }
    normalise(&weights, point_count, n);
    return CUTIS_OK;
}

cutis_result cutis_cage_harmonic(cutis_device *device, const cutis_cage_shape *shape,
                                 uint32_t resolution, bool simple, double tolerance,
                                 const double *points, uint32_t point_count,
                                 cutis_cage_weights weights, cutis_cage_grid_report *report)
{
    cutis_arena arena = { .context = shape->context };
    cutis_cage_grid grid;
    *report = (cutis_cage_grid_report){ 0 };
    cutis_result result = cutis_cage_grid_create(&arena, shape, resolution, simple, &grid);
    if (result == CUTIS_OK) {
        const uint32_t most = device->operations->compute_run ? LANES_GPU : LANES_CPU;
        solver s = { .device = device,
                     .grid = &grid,
                     .lanes = shape->control_count < most ? shape->control_count : most,
                     .stretches = (grid.node_count + STRETCH - 1) / STRETCH,
                     .report = report };
        report->node_count = grid.node_count;
        result = solve_all(&s, &arena, tolerance, points, point_count, weights);
        if (result == CUTIS_OK && !(report->residual <= tolerance))
            result = cutis_fail(shape->context, CUTIS_INTERNAL,
                                "harmonic coordinates: a residual of %g is left after %u sweeps",
                                report->residual, report->sweep_count);
        for (int b = 0; b < BUFFERS; b++) cutis_buffer_destroy(s.buffers[b]);
    }
    cutis_arena_release(&arena);
    return result;
}
