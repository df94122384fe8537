// Weights of points in a cage: mean value coordinates in chunks on any device, the inside test, and
// what both kinds share. Invariant: nothing depends on the number of threads or the size of chunks.
#include "fit/cage/coordinates.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/os/os.h"
#include "device/compute/cage.h"
#include "math/mat3.h"

// Doubles of weights that are on the device at one time.
#define CHUNK_ENTRIES (1u << 25)
// A point this near to a control (in diagonals of the cage) is the control (docs/spec/reduction.md
// 6).
static const double SAME_PLACE = 1e-10;
// A vertex no farther outside than this (in diagonals) is on the cage: rounding of files.
static const double OUTSIDE_TOLERANCE = 1e-6;
enum { TASK = 64, RESOLUTION = 64, RESOLUTION_MIN = 8, RESOLUTION_MAX = 512 };
static const double TOLERANCE = 1e-9;

// Mean value ------------------------------------------------------------------------------------

enum { POINTS, CONTROLS, TRIANGLES, WEIGHTS, STATUS, NARROW, BUFFERS };

typedef struct mean_value_job {
    cutis_device *device;
    const cutis_cage_shape *shape;
    cutis_buffer *buffers[BUFFERS];
    bool wide;
    int32_t point_stride, control_stride;
} mean_value_job;

static cutis_result create_buffers(mean_value_job *job, uint32_t chunk)
{
    const cutis_cage_shape *s = job->shape;
    const uint64_t entries = (uint64_t)chunk * s->control_count;
    const uint64_t sizes[BUFFERS] = { chunk * (uint64_t)24,
                                      s->control_count * (uint64_t)24,
                                      s->triangle_count * (uint64_t)12,
                                      8 * entries,
                                      4 * (uint64_t)chunk,
                                      job->wide ? 0 : 4 * entries };
    for (int b = 0; b < BUFFERS; b++)
        if (sizes[b]) TRY(cutis_buffer_create(job->device, sizes[b], &job->buffers[b]));
    TRY(cutis_buffer_write(job->buffers[CONTROLS], 0, s->controls, sizes[CONTROLS]));
    return cutis_buffer_write(job->buffers[TRIANGLES], 0, s->triangles, sizes[TRIANGLES]);
}

static cutis_result run_chunk(mean_value_job *job, const double *points, uint32_t count,
                              cutis_cage_weights weights, int32_t *status)
{
    const uint32_t n = job->shape->control_count;
    cutis_buffer **b = job->buffers;
    TRY(cutis_buffer_write(b[POINTS], 0, points, 24 * (uint64_t)count));
    TRY(cage_mean_value_run(
        job->device, count,
        (cage_mean_value_buffers){ .points = b[POINTS],
                                   .controls = b[CONTROLS],
                                   .triangles = b[TRIANGLES],
                                   .weights = b[WEIGHTS],
                                   .status = b[STATUS] },
        (cage_mean_value_arguments){ .control_count = (int)n,
                                     .triangle_count = (int)job->shape->triangle_count,
                                     .point_stride = job->point_stride,
                                     .control_stride = job->control_stride,
                                     .nearest = SAME_PLACE * job->shape->extent }));
    if (!job->wide)
        TRY(cage_weights_to_float_run(
            job->device, count,
            (cage_weights_to_float_buffers){ .weights = b[WEIGHTS], .out = b[NARROW] },
            (cage_weights_to_float_arguments){ .control_count = (int)n,
                                               .point_stride = job->point_stride,
                                               .control_stride = job->control_stride }));
    TRY(job->wide ? cutis_buffer_read(b[WEIGHTS], 0, weights.wide, 8 * (uint64_t)count * n)
                  : cutis_buffer_read(b[NARROW], 0, weights.narrow, 4 * (uint64_t)count * n));
    return cutis_buffer_read(b[STATUS], 0, status, 4 * (uint64_t)count);
}

cutis_result cutis_cage_mean_value(cutis_device *device, const cutis_cage_shape *shape,
                                   const double *points, uint32_t point_count,
                                   cutis_cage_weights weights, int32_t *status)
{
    const uint32_t n = shape->control_count;
    uint32_t chunk = CHUNK_ENTRIES / n;
    if (chunk > point_count) chunk = point_count;
    mean_value_job job = { .device = device, .shape = shape, .wide = weights.wide != NULL };
    // A GPU wants neighbours in memory to be neighbours among items; a CPU keeps a point together.
    // A device is there: the caller made one.
    // NOLINTNEXTLINE(clang-analyzer-core.NullDereference)
    const bool beside = device->operations->compute_run && !job.wide;
    job.point_stride = beside ? 1 : (int32_t)n;
    job.control_stride = beside ? (int32_t)chunk : 1;
    cutis_result result = chunk ? create_buffers(&job, chunk) : CUTIS_OK;
    for (uint32_t at = 0; at < point_count && result == CUTIS_OK; at += chunk) {
        uint32_t count = point_count - at < chunk ? point_count - at : chunk;
        cutis_cage_weights part = { weights.narrow ? weights.narrow + (size_t)at * n : NULL,
                                    weights.wide ? weights.wide + (size_t)at * n : NULL };
        result = cutis_progress(shape->context, "cage coordinates", (double)at / point_count);
        if (result == CUTIS_OK)
            result = run_chunk(&job, points + 3 * (size_t)at, count, part, status + at);
    }
    for (int b = 0; b < BUFFERS; b++) cutis_buffer_destroy(job.buffers[b]);
    return result;
}

// Inside ----------------------------------------------------------------------------------------

typedef struct inside_job {
    const cutis_cage_shape *shape;
    const double *points;
    uint32_t point_count;
    int32_t *status; ///< in: bit 2 where it is known; out: bit 2 where the point is outside
    bool known;
    double *distance; ///< of outside points
} inside_job;

// Crossings of the ray from x along an axis: odd inside. Points on edges' projections may be
// counted wrongly, which is why two axes must agree.
static bool odd_crossings(const cutis_cage_shape *shape, const double *x, int axis)
{
    const int u = (axis + 1) % 3, v = (axis + 2) % 3;
    bool odd = false;
    for (uint32_t t = 0; t < shape->triangle_count; t++) {
        const double *p[3];
        for (int c = 0; c < 3; c++)
            p[c] = shape->controls + 3 * (size_t)shape->triangles[3 * (size_t)t + c];
        double area[3];
        for (int c = 0; c < 3; c++) {
            const double *a = p[(c + 1) % 3], *b = p[(c + 2) % 3];
            area[c] = (a[u] - x[u]) * (b[v] - x[v]) - (a[v] - x[v]) * (b[u] - x[u]);
        }
        bool positive = area[0] > 0 && area[1] > 0 && area[2] > 0;
        bool negative = area[0] < 0 && area[1] < 0 && area[2] < 0;
        if (!positive && !negative) continue;
        double sum = area[0] + area[1] + area[2];
        double at = (area[0] * p[0][axis] + area[1] * p[1][axis] + area[2] * p[2][axis]) / sum;
        odd ^= at > x[axis];
    }
    return odd;
}

static void inside_task(void *data, uint32_t index)
{
    const inside_job *job = data;
    const double close = OUTSIDE_TOLERANCE * job->shape->extent;
    uint32_t i = index * TASK, end = i + TASK;
    if (end > job->point_count) end = job->point_count;
    for (; i < end; i++) {
        const double *x = job->points + 3 * (size_t)i;
        bool outside =
            job->known ? (job->status[i] & 2) != 0
                       : !(odd_crossings(job->shape, x, 0) && odd_crossings(job->shape, x, 1)) &&
                             !cutis_cage_inside(job->shape, x);
        job->status[i] &= ~2;
        job->distance[i] = 0;
        if (!outside) continue;
        double distance = cutis_cage_nearest(job->shape, x, NULL, NULL);
        if (!(distance > close)) continue;
        job->distance[i] = distance;
        job->status[i] |= 2;
    }
}

static cutis_result find_outside(cutis_device *device, const cutis_cage_shape *shape,
                                 const double *points, uint32_t point_count, int32_t *status,
                                 bool known, cutis_cage_report *report)
{
    inside_job job = { shape, points, point_count, status, known, NULL };
    job.distance = cutis_alloc_array(shape->context, point_count, sizeof *job.distance);
    if (!job.distance) return cutis_alloc_result(shape->context);
    cutis_device_run(device, inside_task, &job, (point_count + TASK - 1) / TASK);
    for (uint32_t i = 0; i < point_count; i++) {
        if (!(status[i] & 2)) continue;
        report->outside_count++;
        if (job.distance[i] > report->outside_distance)
            report->outside_distance = job.distance[i], report->outside_worst = i;
    }
    cutis_free_array(shape->context, job.distance, point_count, sizeof *job.distance);
    return CUTIS_OK;
}

// Both ------------------------------------------------------------------------------------------

static void look_at_weights(const cutis_cage_shape *shape, const double *points,
                            uint32_t point_count, const cutis_cage_weights *weights,
                            cutis_cage_report *report)
{
    const uint32_t n = shape->control_count;
    double low = INFINITY, high = -INFINITY, worst = 0;
    for (uint32_t p = 0; p < point_count; p++) {
        double sum[3] = { 0 }, square = 0;
        for (uint32_t c = 0; c < n; c++) {
            size_t at = (size_t)p * n + c;
            double w = weights->wide ? weights->wide[at] : weights->narrow[at];
            low = fmin(low, w), high = fmax(high, w);
            for (int k = 0; k < 3; k++) sum[k] += w * shape->controls[3 * (size_t)c + k];
        }
        for (int k = 0; k < 3; k++) {
            double d = sum[k] - points[3 * (size_t)p + k];
            square += d * d;
        }
        worst = fmax(worst, square);
    }
    report->weight_min = low, report->weight_max = high;
    report->precision = 100 * sqrt(worst) / shape->extent;
}

static cutis_result weigh_harmonic(cutis_device *device, const cutis_cage_shape *shape,
                                   const cutis_cage_options *o, const double *points,
                                   uint32_t point_count, cutis_cage_weights weights,
                                   int32_t *status, cutis_cage_report *report)
{
    cutis_context *context = shape->context;
    const uint32_t resolution = o->resolution ? o->resolution : RESOLUTION;
    if (resolution < RESOLUTION_MIN || resolution > RESOLUTION_MAX)
        return cutis_fail(context, CUTIS_INVALID_ARGUMENT, "a resolution of %u; want %d to %d",
                          resolution, RESOLUTION_MIN, RESOLUTION_MAX);
    memset(status, 0, point_count * sizeof *status);
    TRY(find_outside(device, shape, points, point_count, status, false, report));
    if (report->outside_count)
        return cutis_fail(context, CUTIS_INVALID_ARGUMENT,
                          "the cage does not enclose the model: %llu of %u vertices lie outside, "
                          "the worst is vertex %u, %.4g outside",
                          (unsigned long long)report->outside_count, point_count,
                          report->outside_worst, report->outside_distance);
    cutis_cage_grid_report grid;
    cutis_result result = cutis_cage_harmonic(device, shape, resolution, o->simple,
                                              o->tolerance > 0 ? o->tolerance : TOLERANCE, points,
                                              point_count, weights, &grid);
    report->resolution = resolution;
    report->node_count = grid.node_count;
    report->sweep_count = grid.sweep_count;
    report->residual = grid.residual;
    return result;
}

cutis_result cutis_cage_weigh(cutis_context *context, cutis_device *device,
                              const cutis_cage_shape *shape, const cutis_cage_options *options,
                              const double *points, uint32_t point_count,
                              cutis_cage_weights weights, cutis_cage_report *report)
{
    if (shape->control_count == 0 || shape->triangle_count == 0)
        return cutis_fail(context, CUTIS_INVALID_ARGUMENT, "the cage has no faces");
    static const cutis_cage_options DEFAULTS;
    const cutis_cage_options *o = options ? options : &DEFAULTS;
    cutis_device *own = NULL;
    if ((unsigned)o->coordinates > CUTIS_COORDINATES_HARMONIC)
        return cutis_fail(context, CUTIS_INVALID_ARGUMENT, "cage: unknown coordinates");
    cutis_result result = CUTIS_OK;
    if (!device)
        result = cutis_device_create(context, &(cutis_device_options){ .thread_count = 1 }, &own);
    if (result != CUTIS_OK) return result;
    if (own) device = own;
    cutis_cage_report scratch = { 0 };
    cutis_cage_report *r = report ? report : &scratch;
    int32_t *status = cutis_alloc_array(context, point_count, sizeof *status);
    double start = cutis_os_seconds();
    if (!status) {
        result = cutis_alloc_result(context);
    } else if (o->coordinates == CUTIS_COORDINATES_HARMONIC) {
        result = weigh_harmonic(device, shape, o, points, point_count, weights, status, r);
        r->seconds = cutis_os_seconds() - start;
    } else {
        result = cutis_cage_mean_value(device, shape, points, point_count, weights, status);
        r->seconds = cutis_os_seconds() - start;
        for (uint32_t i = 0; i < point_count && result == CUTIS_OK; i++)
            r->unsure_count += status[i] & 1;
        if (result == CUTIS_OK && report)
            result = find_outside(device, shape, points, point_count, status, true, r);
    }
    r->vertex_count = point_count;
    if (result == CUTIS_OK && report) look_at_weights(shape, points, point_count, &weights, r);
    cutis_free_array(context, status, point_count, sizeof *status);
    cutis_device_destroy(own);
    return result;
}
