// Staging of outputs. Vertex attributes of the host are staged as one record a vertex, which GPUs
// write best; other outputs one behind the other. Invariant: see stage.h.
#include "device/stage.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "device/compute/basic.h"

// Host outputs of one batch are staged in memory of about this size, so that a large batch does not
// double its memory.
#define HOST_BATCH_BYTES (64ull << 20)
// Elements that one task moves between staging and the caller's memory.
enum { TASK_ELEMENTS = 4096 };
// Points of one item of the kernel of bounds.
enum { STRETCH = 1024 };

static bool is_wanted(const cutis_stage_output *o)
{
    return o->stream.data || o->stream.buffer;
}

static bool has_own_memory(const cutis_device *device)
{
    return device->operations->staging_create != NULL;
}

// What goes from the host's memory to the host's memory does not pass through the device.
static bool is_staged(const cutis_device *device, const cutis_stage_output *o)
{
    if (!has_own_memory(device)) return false;
    return o->stream.data && !(o->old_of && o->old_of->stream.data);
}

// Checks ------------------------------------------------------------------------------------------

static cutis_result check_stream(cutis_device *device, const char *what,
                                 const cutis_stage_output *o, uint32_t instance_count)
{
    cutis_context *context = device->context;
    const cutis_output_stream *s = &o->stream;
    const uint64_t element = 4ull * o->words, between = s->instance_stride, stride = s->stride;
    if (!is_wanted(o)) return CUTIS_OK;
    if (s->data && s->buffer)
        return INVALID(context, "%s: %s go to host memory or to a buffer, not both", what, o->name);
    if (stride % 4 || between % 4 || s->offset % 4 || (uintptr_t)s->data % 4 || stride < element)
        return INVALID(context,
                       "%s: %s: stride %llu, instance stride %llu, offset %llu: multiples of 4 "
                       "and a stride of %u at least",
                       what, o->name, (unsigned long long)stride, (unsigned long long)between,
                       (unsigned long long)s->offset, (unsigned)element);
    const uint64_t span = o->elements ? (o->elements - 1) * stride + element : 0;
    const uint64_t others = instance_count ? instance_count - 1ull : 0;
    const bool apart =
        between >= span || (between >= element && others <= (stride - element) / between);
    if (others && !apart)
        return INVALID(context, "%s: %s: an instance stride of %llu makes instances overlap", what,
                       o->name, (unsigned long long)between);
    if (others && between > (UINT64_MAX / 2 - span - s->offset % (UINT64_MAX / 4)) / others)
        return INVALID(context, "%s: %s: instance stride too large", what, o->name);
    if (!s->buffer) return CUTIS_OK;
    const uint64_t size = s->buffer->size, need = others * between + span;
    if (s->buffer->device != device)
        return INVALID(context, "%s: the buffer of %s belongs to another device", what, o->name);
    if (s->offset > size || need > size - s->offset)
        return INVALID(context, "%s: %s need %llu bytes at %llu, the buffer has %llu", what,
                       o->name, (unsigned long long)need, (unsigned long long)s->offset,
                       (unsigned long long)size);
    return CUTIS_OK;
}

cutis_result cutis_stage_check(cutis_device *device, const char *what,
                               const cutis_stage_output *outputs, uint32_t output_count,
                               uint32_t instance_count)
{
    for (uint32_t k = 0; k < output_count; k++) {
        TRY(check_stream(device, what, &outputs[k], instance_count));
        if (outputs[k].old_of && is_wanted(&outputs[k]) && !is_wanted(outputs[k].old_of))
            return INVALID(device->context, "%s: %s without %s", what, outputs[k].name,
                           outputs[k].old_of->name);
    }
    return CUTIS_OK;
}

// Places in the staging memory --------------------------------------------------------------------

/// Where the outputs of a batch are staged, in words.
typedef struct plan {
    uint32_t record;                  ///< words of an element of those that are together
    uint64_t record_step;             ///< from instance to instance
    uint64_t at[CUTIS_STAGE_OUTPUTS]; ///< first word; of those together: in the record
    uint64_t words;                   ///< of all
} plan;

static plan make_plan(const cutis_stage *stage, const cutis_stage_call *call, uint32_t count)
{
    plan p = { 0 };
    uint64_t elements = 0;
    for (uint32_t k = 0; k < call->output_count; k++) {
        const cutis_stage_output *o = &call->outputs[k];
        if (!is_staged(stage->device, o) || !o->together) continue;
        p.at[k] = p.record;
        p.record += o->words;
        elements = o->elements;
    }
    p.record_step = (elements * p.record + 3) / 4 * 4; // 16-byte pieces stay aligned
    p.words = p.record_step * count;
    for (uint32_t k = 0; k < call->output_count; k++) {
        const cutis_stage_output *o = &call->outputs[k];
        if (!is_staged(stage->device, o) || o->together) continue;
        p.at[k] = p.words;
        p.words += (o->elements * o->words * count + 3) / 4 * 4;
    }
    return p;
}

static cutis_result grow(cutis_stage *stage, uint64_t bytes)
{
    const cutis_device_operations *operations = stage->device->operations;
    if (bytes == 0 || (stage->memory && stage->memory->size >= bytes)) return CUTIS_OK;
    const uint64_t half_more = stage->memory ? stage->memory->size / 2 * 3 : 0;
    operations->staging_destroy(stage->memory); // a growing crowd settles
    stage->memory = NULL;
    return operations->staging_create(stage->device, bytes > half_more ? bytes : half_more,
                                      &stage->memory);
}

void cutis_stage_release(cutis_stage *stage)
{
    if (stage->memory) stage->device->operations->staging_destroy(stage->memory);
    stage->memory = NULL;
}

// The caller's own memory or buffer, from the batch's first instance on.
static cutis_target own_target(cutis_stage *stage, const cutis_stage_output *o, uint32_t k,
                               uint32_t first)
{
    const cutis_output_stream *s = &o->stream;
    cutis_target t = { .buffer = s->buffer,
                       .first = (s->offset + s->instance_stride * first) / 4,
                       .step = s->instance_stride / 4,
                       .stride = s->stride / 4 };
    if (s->data && !has_own_memory(stage->device)) {
        stage->wrapped[k] = (cutis_buffer){ .device = stage->device,
                                            .size = UINT64_MAX,
                                            .handle = (uint64_t)(uintptr_t)s->data };
        t.buffer = &stage->wrapped[k];
        t.first = t.step * first;
    }
    return t;
}

static cutis_target staged_target(const cutis_stage *stage, const cutis_stage_output *o, uint32_t k,
                                  const plan *p)
{
    return (cutis_target){ .buffer = stage->memory ? stage->memory->buffer : NULL,
                           .first = p->at[k],
                           .step = o->together ? p->record_step : o->elements * o->words,
                           .stride = o->together ? p->record : o->words };
}

static void open_targets(cutis_stage *stage, const cutis_stage_call *call, const plan *p,
                         cutis_stage_batch *batch)
{
    for (uint32_t k = 0; k < call->output_count; k++) {
        const cutis_stage_output *o = &call->outputs[k];
        if (!is_wanted(o)) continue;
        batch->targets[k] = is_staged(stage->device, o) ? staged_target(stage, o, k, p)
                                                        : own_target(stage, o, k, batch->first);
    }
}

// Between staging and the caller's memory ---------------------------------------------------------

/// Elements of one output of some instances, moved on the device's threads.
typedef struct move_job {
    const cutis_stage_output *output;
    uint32_t first, tasks; ///< instance; tasks of an instance
    char *packed;          ///< staging memory, or another stream of the host
    uint64_t step, stride; ///< bytes, there
    const uint32_t *used;
    bool to_host;
} move_job;

static uint64_t used_elements(const cutis_stage_output *o, const uint32_t *used, uint32_t instance)
{
    if (!used || o->used == CUTIS_STAGE_ALL) return o->elements;
    return used[2 * instance + (o->used == CUTIS_STAGE_USED_SECOND)];
}

static void move_task(void *data, uint32_t index)
{
    const move_job *job = data;
    const cutis_output_stream *s = &job->output->stream;
    const uint32_t instance = index / job->tasks;
    uint64_t e = index % job->tasks * (uint64_t)TASK_ELEMENTS, end = e + TASK_ELEMENTS;
    const uint64_t last = used_elements(job->output, job->used, instance);
    const size_t size = 4ull * job->output->words;
    char *host = (char *)s->data + (job->first + instance) * s->instance_stride + e * s->stride;
    char *packed = job->packed + instance * job->step + e * job->stride;
    for (; e < end && e < last; e++, host += s->stride, packed += job->stride)
        memcpy(job->to_host ? host : packed, job->to_host ? packed : host, size);
}

static void run_moves(const cutis_stage *stage, const cutis_stage_batch *batch, move_job job)
{
    job.first = batch->first;
    job.tasks = (uint32_t)(job.output->elements / TASK_ELEMENTS) + 1;
    cutis_device_run(stage->device, move_task, &job, job.tasks * batch->count);
}

static void move_elements(const cutis_stage *stage, const cutis_stage_output *o,
                          const cutis_stage_batch *batch, uint32_t k, bool to_host)
{
    const cutis_target *t = &batch->targets[k];
    run_moves(stage, batch,
              (move_job){ .output = o,
                          .packed = (char *)stage->memory->host + 4 * t->first,
                          .step = 4 * t->step,
                          .stride = 4 * t->stride,
                          .used = batch->used,
                          .to_host = to_host });
}

// Do the host's streams look exactly like the records, so that one copy does?
static bool is_record_like(const cutis_stage_call *call, const cutis_stage *stage, const plan *p)
{
    const char *base = NULL;
    for (uint32_t k = 0; k < call->output_count; k++) {
        const cutis_stage_output *o = &call->outputs[k];
        if (!is_staged(stage->device, o) || !o->together) continue;
        if (o->elements * p->record != p->record_step) return false; // the gap is the caller's
        if (!base) base = (const char *)o->stream.data - 4 * p->at[k];
        if (o->stream.stride != 4 * p->record || o->stream.instance_stride != 4 * p->record_step ||
            (const char *)o->stream.data != base + 4 * p->at[k])
            return false;
    }
    return base != NULL;
}

static cutis_result deliver_records(cutis_stage *stage, const cutis_stage_call *call, const plan *p,
                                    const cutis_stage_batch *batch)
{
    const uint64_t bytes = 4 * p->record_step * batch->count;
    if (p->record == 0) return CUTIS_OK;
    if (is_record_like(call, stage, p))
        for (uint32_t k = 0; k < call->output_count; k++)
            if (is_staged(stage->device, &call->outputs[k]) && call->outputs[k].together)
                return cutis_buffer_read(stage->memory->buffer, 0,
                                         (char *)call->outputs[k].stream.data +
                                             4 * p->record_step * batch->first,
                                         bytes);
    TRY(stage->device->operations->staging_read(stage->memory, bytes));
    for (uint32_t k = 0; k < call->output_count; k++)
        if (is_staged(stage->device, &call->outputs[k]) && call->outputs[k].together)
            move_elements(stage, &call->outputs[k], batch, k, true);
    return CUTIS_OK;
}

// An output that is staged by itself.
static cutis_result deliver_output(cutis_stage *stage, const cutis_stage_output *o,
                                   const cutis_stage_batch *batch, uint32_t k)
{
    const cutis_output_stream *s = &o->stream;
    const cutis_target *t = &batch->targets[k];
    const uint64_t element = 4ull * o->words;
    const bool tight = s->stride == element;
    const bool whole = tight && (!batch->used || o->used == CUTIS_STAGE_ALL) &&
                       s->instance_stride == element * o->elements;
    for (uint32_t i = 0; i < batch->count; i += whole ? batch->count : 1) {
        const uint64_t at = 4 * (t->first + i * t->step);
        const uint64_t size = whole ? element * o->elements * batch->count
                                    : element * used_elements(o, batch->used, i);
        char *to = tight ? (char *)s->data + (batch->first + i) * s->instance_stride
                         : (char *)stage->memory->host + at;
        TRY(cutis_buffer_read(stage->memory->buffer, at, to, size));
    }
    if (!tight) move_elements(stage, o, batch, k, true);
    return CUTIS_OK;
}

// What an output held before ----------------------------------------------------------------------

static stream_place place_of(const cutis_target *t)
{
    return (stream_place){ (int64_t)t->first, (int64_t)t->step, (int64_t)t->stride };
}

static cutis_result copy_on_device(cutis_stage *stage, const cutis_stage_output *o,
                                   cutis_target from, cutis_target to, uint32_t count)
{
    const uint32_t most = o->elements ? (uint32_t)(INT32_MAX / o->elements) : count;
    for (uint32_t done = 0, some; done < count; done += some) {
        some = count - done < most ? count - done : most;
        TRY(stream_copy_run(stage->device, (uint32_t)o->elements * some,
                            (stream_copy_buffers){ .from = from.buffer, .to = to.buffer },
                            (stream_copy_arguments){ .elements = (int)o->elements,
                                                     .words = (int)o->words,
                                                     .source = place_of(&from),
                                                     .target = place_of(&to) }));
        from.first += from.step * some;
        to.first += to.step * some;
    }
    return CUTIS_OK;
}

// Both on the host: there. Both on the device: there. Else through the staging memory, in which the
// one that is on the host has a place.
static cutis_result keep_old(cutis_stage *stage, const cutis_stage_call *call, const plan *p,
                             const cutis_stage_batch *batch, uint32_t k)
{
    const cutis_stage_output *to = &call->outputs[k], *from = to->old_of;
    const uint32_t source = (uint32_t)(from - call->outputs);
    if (from->stream.data && to->stream.data) {
        const cutis_output_stream *s = &from->stream;
        run_moves(stage, batch,
                  (move_job){ .output = to,
                              .packed = (char *)s->data + batch->first * s->instance_stride,
                              .step = s->instance_stride,
                              .stride = s->stride,
                              .to_host = true });
        return CUTIS_OK;
    }
    if (from->stream.data) { // up, and from there
        move_elements(stage, from, batch, source, false);
        TRY(stage->device->operations->staging_write(stage->memory, 4 * p->words));
    }
    return copy_on_device(stage, to, batch->targets[source], batch->targets[k], batch->count);
}

static cutis_result deliver(cutis_stage *stage, const cutis_stage_call *call, const plan *p,
                            const cutis_stage_batch *batch)
{
    TRY(deliver_records(stage, call, p, batch));
    for (uint32_t k = 0; k < call->output_count; k++) {
        const cutis_stage_output *o = &call->outputs[k];
        if (is_staged(stage->device, o) && !o->together) TRY(deliver_output(stage, o, batch, k));
    }
    return CUTIS_OK;
}

// Batches -----------------------------------------------------------------------------------------

static cutis_result run_batch(cutis_stage *stage, const cutis_stage_call *call,
                              cutis_stage_batch *batch)
{
    const plan p = make_plan(stage, call, batch->count);
    TRY(grow(stage, 4 * p.words));
    open_targets(stage, call, &p, batch);
    for (uint32_t k = 0; k < call->output_count; k++)
        if (call->outputs[k].old_of && is_wanted(&call->outputs[k]) && !call->keeps_old)
            TRY(keep_old(stage, call, &p, batch, k));
    TRY(call->run(call->data, batch));
    if (p.words) TRY(deliver(stage, call, &p, batch));
    return CUTIS_OK;
}

// Instances that are staged at once.
static uint32_t batch_size(const cutis_stage *stage, const cutis_stage_call *call)
{
    const uint64_t bytes = 4 * make_plan(stage, call, 1).words;
    uint64_t most = call->batch_max ? call->batch_max : 1;
    if (bytes && most > HOST_BATCH_BYTES / bytes) most = HOST_BATCH_BYTES / bytes;
    if (most > call->instance_count) most = call->instance_count;
    return most ? (uint32_t)most : 1;
}

cutis_result cutis_stage_run(cutis_stage *stage, const cutis_stage_call *call)
{
    cutis_context *context = stage->device->context;
    uint32_t size = batch_size(stage, call), done = 0;
    while (done < call->instance_count) {
        const uint32_t left = call->instance_count - done;
        cutis_stage_batch batch = { .first = done, .count = left < size ? left : size };
        cutis_result result = run_batch(stage, call, &batch);
        if (result == CUTIS_DEVICE_OUT_OF_MEMORY && batch.count > 1) {
            size = (batch.count + 1) / 2;
            cutis_log(context, "%s: no memory for %u instances at once, trying %u",
                      cutis_device_kind_name(cutis_device_describe(stage->device).kind),
                      batch.count, size);
            continue;
        }
        if (result == CUTIS_DEVICE_OUT_OF_MEMORY)
            return cutis_fail(context, result, "%s: the device has no memory for even one instance",
                              cutis_device_kind_name(cutis_device_describe(stage->device).kind));
        if (result != CUTIS_OK) return result;
        done += batch.count;
    }
    return CUTIS_OK;
}

cutis_result cutis_stage_prepare(cutis_stage *stage, const cutis_stage_call *call)
{
    cutis_stage_batch batch = { .count = batch_size(stage, call) };
    const plan p = make_plan(stage, call, batch.count);
    TRY(grow(stage, 4 * p.words));
    for (uint32_t k = 0; k < call->output_count; k++) {
        const cutis_stage_output *o = &call->outputs[k];
        const bool copied = o->old_of && !call->keeps_old && is_wanted(o) &&
                            !(o->stream.data && o->old_of->stream.data);
        if (copied)
            TRY(cutis_compute_prepare(
                stage->device, &(const cutis_compute_kernel *){ &cutis_compute_stream_copy }, 1));
    }
    open_targets(stage, call, &p, &batch);
    return call->run ? call->run(call->data, &batch) : CUTIS_OK;
}

// Bounds ------------------------------------------------------------------------------------------

cutis_result cutis_stage_open_bounds(cutis_device *device, cutis_stage_bounds *bounds,
                                     uint64_t elements, uint32_t capacity, cutis_target *points)
{
    bounds->stretches = (uint32_t)(elements / STRETCH + 1);
    bounds->capacity = capacity;
    const size_t count = (size_t)bounds->stretches * capacity;
    if (!bounds->buffer)
        TRY(cutis_buffer_create(device, count * 6 * sizeof(float), &bounds->buffer));
    if (!bounds->host) {
        bounds->host = cutis_alloc_array(device->context, count, 6 * sizeof(float));
        if (!bounds->host) TRY(cutis_alloc_result(device->context));
    }
    if (points->buffer) return CUTIS_OK;
    if (!bounds->points)
        TRY(cutis_buffer_create(device, elements ? 12 * elements * capacity : 4, &bounds->points));
    *points = (cutis_target){ .buffer = bounds->points, .step = 3 * elements, .stride = 3 };
    return CUTIS_OK;
}

void cutis_stage_bounds_destroy(cutis_device *device, cutis_stage_bounds *bounds)
{
    cutis_buffer_destroy(bounds->buffer);
    cutis_buffer_destroy(bounds->points);
    if (bounds->host)
        cutis_free_array(device->context, bounds->host,
                         (size_t)bounds->stretches * bounds->capacity, 6 * sizeof(float));
    *bounds = (cutis_stage_bounds){ 0 };
}

cutis_result cutis_stage_find_bounds(cutis_device *device, cutis_stage_bounds *bounds,
                                     const cutis_target *points, uint64_t elements,
                                     const cutis_buffer *used, uint32_t count, cutis_bounds *out)
{
    const uint32_t items = bounds->stretches * count;
    TRY(stream_bounds_run(
        device, items,
        (stream_bounds_buffers){ .points = points->buffer, .used = used, .bounds = bounds->buffer },
        (stream_bounds_arguments){ .elements = (int)elements,
                                   .stretch = STRETCH,
                                   .stretches = (int)bounds->stretches,
                                   .source = place_of(points) }));
    TRY(cutis_buffer_read(bounds->buffer, 0, bounds->host, items * 6ull * sizeof(float)));
    for (uint32_t i = 0; i < count; i++) {
        float low[3] = { INFINITY, INFINITY, INFINITY },
              high[3] = { -INFINITY, -INFINITY, -INFINITY };
        for (uint32_t s = 0; s < bounds->stretches; s++) {
            const float *box = bounds->host + 6 * ((size_t)i * bounds->stretches + s);
            if (box[0] > box[3]) continue; // a stretch without points
            for (int c = 0; c < 3; c++) {
                low[c] = fminf(low[c], box[c]);
                high[c] = fmaxf(high[c], box[3 + c]);
            }
        }
        // + 0: which of -0 and +0 a minimum keeps depends on the order.
        out[i] = (cutis_bounds){ { low[0] + 0.0f, low[1] + 0.0f, low[2] + 0.0f },
                                 { high[0] + 0.0f, high[1] + 0.0f, high[2] + 0.0f } };
    }
    return CUTIS_OK;
}
