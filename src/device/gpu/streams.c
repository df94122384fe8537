/// Outputs of a GPU skin: device buffers are written in place; host outputs are written to a shadow
/// on the device, packed as one record per vertex, and copied from there. Invariant: nothing
/// outside a stream's own floats is written, on the host or on the device.
#include <device/gpu/skin.h>

#include <base/error.h>
#include <string.h>

int32_t cutis_gpu_ordered_bits(float value)
{
    int32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits < 0 ? bits ^ 0x7fffffff : bits;
}

float cutis_gpu_ordered_float(int32_t bits)
{
    float value;
    if (bits < 0) bits ^= 0x7fffffff;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static bool is_wanted(const cutis_skin_stream *stream)
{
    return stream->data || stream->buffer;
}

static cutis_result check_stream(const gpu_skin *skin, const cutis_skin_stream *s, uint32_t width,
                                 uint32_t instances, const char *name)
{
    cutis_context *context = skin->gpu->base.context;
    const char *driver = skin->gpu->driver->name;
    uint32_t vertices = skin->arguments.vertex_count;
    if (!is_wanted(s)) return CUTIS_OK;
    if (s->data && s->buffer)
        return cutis_fail(context, CUTIS_INVALID_ARGUMENT,
                          "%s: %s: host memory and a buffer at once", driver, name);
    if (s->stride % 4 || s->instance_stride % 4 || s->offset % 4 || s->stride < width * 4)
        return cutis_fail(context, CUTIS_INVALID_ARGUMENT,
                          "%s: %s: offset and strides are multiples of 4, a stride at least %u",
                          driver, name, width * 4);
    if (!s->buffer || !vertices || !instances) return CUTIS_OK;
    if (s->buffer->device != &skin->gpu->base)
        return cutis_fail(context, CUTIS_INVALID_ARGUMENT, "%s: %s: a buffer of another device",
                          driver, name);
    uint64_t used = (uint64_t)(vertices - 1) * s->stride + width * 4, size = s->buffer->size;
    if (s->offset > size || used > size - s->offset ||
        (s->instance_stride &&
         (size - s->offset - used) / s->instance_stride < (uint64_t)instances - 1))
        return cutis_fail(context, CUTIS_INVALID_ARGUMENT,
                          "%s: %s: %u instances do not fit in a buffer of %llu bytes", driver, name,
                          instances, (unsigned long long)size);
    return CUTIS_OK;
}

cutis_result cutis_gpu_check_streams(const gpu_skin *skin, uint32_t instance_count,
                                     const cutis_skin_outputs *outputs)
{
    cutis_context *context = skin->gpu->base.context;
    const char *driver = skin->gpu->driver->name;
    cutis_result result = check_stream(skin, &outputs->positions, 3, instance_count, "positions");
    if (result == CUTIS_OK)
        result = check_stream(skin, &outputs->normals, 3, instance_count, "normals");
    if (result == CUTIS_OK)
        result = check_stream(skin, &outputs->tangents, 4, instance_count, "tangents");
    if (result == CUTIS_OK)
        result = check_stream(skin, &outputs->previous, 3, instance_count, "previous positions");
    if (result != CUTIS_OK) return result;
    if (is_wanted(&outputs->normals) && !skin->has_normals)
        return cutis_fail(context, CUTIS_INVALID_ARGUMENT, "%s: this skin has no normals", driver);
    if (is_wanted(&outputs->tangents) && !skin->has_tangents)
        return cutis_fail(context, CUTIS_INVALID_ARGUMENT, "%s: this skin has no tangents", driver);
    if (is_wanted(&outputs->previous) && !is_wanted(&outputs->positions))
        return cutis_fail(context, CUTIS_INVALID_ARGUMENT,
                          "%s: previous positions without positions", driver);
    return CUTIS_OK;
}

// Host outputs
// ----------------------------------------------------------------------------------------

static uint32_t shadow_record(const cutis_skin_outputs *outputs)
{
    return (outputs->positions.data ? 3u : 0u) + (outputs->normals.data ? 3u : 0u) +
           (outputs->tangents.data ? 4u : 0u);
}

static uint64_t shadow_step(const gpu_skin *skin, uint32_t record)
{
    return ((uint64_t)skin->arguments.vertex_count * record + 3) / 4 *
           4; // 16-byte pieces stay aligned
}

uint64_t cutis_gpu_host_bytes(const gpu_skin *skin, const cutis_skin_outputs *outputs)
{
    uint64_t bytes = shadow_step(skin, shadow_record(outputs)) * sizeof(float);
    return outputs->previous.data && bytes == 0 ? (uint64_t)skin->arguments.vertex_count * 12
                                                : bytes;
}

/// A stream's target: its buffer from the batch's first instance on, or the next floats of the
/// shadow's record.
static void open_target(const gpu_skin *skin, const gpu_batch *batch, const cutis_skin_stream *s,
                        uint32_t width, uint32_t *shadow_at, gpu_target *out)
{
    *out = (gpu_target){ .wanted = is_wanted(s) };
    if (s->buffer) {
        out->handle = s->buffer->handle;
        out->first = (s->offset + batch->first * s->instance_stride) / 4;
        out->step = s->instance_stride / 4;
        out->stride = s->stride / 4;
    } else if (s->data) {
        out->handle = skin->shadow.device;
        // The previous frame's stream, the one without a place in the shadow, is a buffer.
        // NOLINTNEXTLINE(clang-analyzer-core.NullDereference)
        out->first = *shadow_at;
        out->step = batch->shadow_step;
        out->stride = batch->shadow_record;
        *shadow_at += width;
    }
}

cutis_result cutis_gpu_open_targets(gpu_skin *skin, gpu_batch *batch,
                                    const cutis_skin_outputs *outputs)
{
    uint32_t at = 0;
    batch->shadow_record = shadow_record(outputs);
    batch->shadow_step = shadow_step(skin, batch->shadow_record);
    cutis_result result =
        cutis_gpu_grow_slot(skin, &skin->shadow, batch->count * batch->shadow_step * sizeof(float));
    if (result != CUTIS_OK) return result;
    open_target(skin, batch, &outputs->positions, 3, &at, &batch->positions);
    open_target(skin, batch, &outputs->normals, 3, &at, &batch->normals);
    open_target(skin, batch, &outputs->tangents, 4, &at, &batch->tangents);
    return CUTIS_OK;
}

/// Move `width` floats per vertex between packed records and a host stream.
static void copy_stream(const gpu_skin *skin, const gpu_batch *batch, const cutis_skin_stream *s,
                        float *records, uint64_t step, uint32_t record, uint32_t width,
                        bool to_host)
{
    for (uint32_t i = 0; i < batch->count; i++) {
        char *host = (char *)s->data + (batch->first + i) * s->instance_stride;
        float *packed = records + i * step;
        for (uint32_t v = 0; v < skin->arguments.vertex_count;
             v++, host += s->stride, packed += record)
            if (to_host)
                memcpy(host, packed, width * sizeof(float));
            else
                // Only streams with data come here.
                // NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker)
                memcpy(packed, host, width * sizeof(float));
    }
}

/// Do the host streams look exactly like the shadow, so that one copy does?
static bool is_shadow_like(const gpu_batch *batch, const cutis_skin_outputs *outputs)
{
    const cutis_skin_stream *p = &outputs->positions, *n = &outputs->normals,
                            *t = &outputs->tangents;
    uint32_t stride = batch->shadow_record * 4;
    const char *base = p->data;
    if (!base || p->stride != stride || p->instance_stride != batch->shadow_step * 4) return false;
    if (n->data && ((const char *)n->data != base + 12 || n->stride != stride ||
                    n->instance_stride != p->instance_stride))
        return false;
    return !t->data || (n->data && (const char *)t->data == base + 24 && t->stride == stride &&
                        t->instance_stride == p->instance_stride);
}

cutis_result cutis_gpu_close_targets(gpu_skin *skin, const gpu_batch *batch,
                                     const cutis_skin_outputs *outputs)
{
    const cutis_gpu_driver *driver = skin->gpu->driver;
    uint32_t record = batch->shadow_record;
    uint64_t step = batch->shadow_step, bytes = batch->count * step * sizeof(float);
    if (record == 0) return CUTIS_OK;
    if (is_shadow_like(batch, outputs)) {
        char *to =
            (char *)outputs->positions.data + batch->first * outputs->positions.instance_stride;
        return driver->read(skin->gpu, skin->shadow.device, 0, to, bytes, true);
    }
    float *at = skin->shadow.pinned.data;
    cutis_result result = driver->read(skin->gpu, skin->shadow.device, 0, at, bytes, true);
    if (result != CUTIS_OK) return result;
    if (outputs->positions.data) {
        copy_stream(skin, batch, &outputs->positions, at, step, record, 3, true);
        at += 3;
    }
    if (outputs->normals.data) {
        copy_stream(skin, batch, &outputs->normals, at, step, record, 3, true);
        at += 3;
    }
    if (outputs->tangents.data)
        copy_stream(skin, batch, &outputs->tangents, at, step, record, 4, true);
    return CUTIS_OK;
}

// Previous positions
// ----------------------------------------------------------------------------------

static cutis_result launch_copy(gpu_skin *skin, const gpu_batch *batch, const gpu_target *from,
                                const gpu_target *to)
{
    skin_arguments a = skin->arguments;
    cutis_gpu_kernel kernel;
    const cutis_gpu_argument arguments[] = { { &a, sizeof a },
                                             { &from->handle, 8 },
                                             { &to->handle, 8 } };
    a.position_first = from->first, a.position_step = from->step, a.position_stride = from->stride;
    a.previous_first = to->first, a.previous_step = to->step, a.previous_stride = to->stride;
    cutis_gpu_launch launch = {
        .group_count = (uint64_t)batch->count * ((a.vertex_count + 255) / 256),
        .group_size = 256,
        .local_bytes = 16,
        .arguments = arguments,
        .argument_count = 3,
    };
    cutis_result result =
        cutis_gpu_kernel_get(skin->gpu, "#define COPY_POSITIONS 1\n", "cutis_copy", 0, &kernel);
    return result == CUTIS_OK ? skin->gpu->driver->launch(skin->gpu, &kernel, &launch) : result;
}

static void copy_on_host(const gpu_skin *skin, const gpu_batch *batch,
                         const cutis_skin_stream *from, const cutis_skin_stream *to)
{
    for (uint32_t i = batch->first; i < batch->first + batch->count; i++)
        for (uint64_t v = 0; v < skin->arguments.vertex_count; v++)
            memcpy((char *)to->data + i * to->instance_stride + v * to->stride,
                   (char *)from->data + i * from->instance_stride + v * from->stride, 12);
}

cutis_result cutis_gpu_keep_previous(gpu_skin *skin, const gpu_batch *batch,
                                     const cutis_skin_outputs *outputs)
{
    const cutis_skin_stream *from = &outputs->positions, *to = &outputs->previous;
    const cutis_gpu_driver *driver = skin->gpu->driver;
    uint64_t step = (uint64_t)skin->arguments.vertex_count * 3, bytes = batch->count * step * 4;
    if (!is_wanted(to)) return CUTIS_OK;
    if (from->data && to->data) {
        copy_on_host(skin, batch, from, to);
        return CUTIS_OK;
    }
    if (from->buffer && to->buffer) {
        gpu_target kept;
        open_target(skin, batch, to, 3, NULL, &kept);
        return launch_copy(skin, batch, &batch->positions, &kept);
    }
    // One of the two is on the host: through packed memory on the device.
    cutis_result result = cutis_gpu_grow_slot(skin, &skin->kept, bytes);
    gpu_target packed = { true, skin->kept.device, 0, step, 3 }, kept;
    if (result != CUTIS_OK) return result;
    if (from->buffer) {
        result = launch_copy(skin, batch, &batch->positions, &packed);
        if (result == CUTIS_OK)
            result =
                driver->read(skin->gpu, skin->kept.device, 0, skin->kept.pinned.data, bytes, true);
        if (result == CUTIS_OK)
            copy_stream(skin, batch, to, skin->kept.pinned.data, step, 3, 3, true);
        return result;
    }
    copy_stream(skin, batch, from, skin->kept.pinned.data, step, 3, 3, false);
    result = driver->write(skin->gpu, skin->kept.device, 0, skin->kept.pinned.data, bytes, true);
    open_target(skin, batch, to, 3, NULL, &kept);
    return result == CUTIS_OK ? launch_copy(skin, batch, &packed, &kept) : result;
}
