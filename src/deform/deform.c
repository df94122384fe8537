/// cutis_deform: checks every argument, takes a workspace, and runs chunks of instances through
/// frames and device. Invariant: an argument error leaves all outputs as they were; nothing is
/// allocated.
#include "base/error.h"
#include "deform/binding.h"
#include "deform/cage.h"
#include "deform/finite.h"
#include "deform/handles.h"
#include "math/mat3.h"

#include <string.h>

/// One stream as the device sees it, checked against the binding.
static cutis_result check_stream(const cutis_binding *binding, const char *name, bool possible,
                                 uint32_t element, const cutis_stream *in, uint32_t instance_count,
                                 cutis_skin_stream *out)
{
    cutis_context *context = binding->context;
    memset(out, 0, sizeof *out);
    if (!in->data && !in->buffer) return CUTIS_OK;
    uint64_t vertices = binding->layout.vertex_count, stride = in->stride ? in->stride : element;
    uint64_t between = in->instance_stride ? in->instance_stride : vertices * stride;
    if (!possible)
        return cutis_fail(context, CUTIS_INVALID_ARGUMENT,
                          "deform: %s were not asked for when binding", name);
    if (in->data && in->buffer)
        return cutis_fail(context, CUTIS_INVALID_ARGUMENT,
                          "deform: %s go to host memory or to a buffer, not both", name);
    if (stride % 4 || between % 4 || in->offset % 4 || (uintptr_t)in->data % 4 || stride < element)
        return cutis_fail(
            context, CUTIS_INVALID_ARGUMENT,
            "deform: %s: stride %llu, instance stride %llu, offset %llu: multiples of 4 "
            "and a stride of %u at least",
            name, (unsigned long long)stride, (unsigned long long)between,
            (unsigned long long)in->offset, (unsigned)element);
    uint64_t span = vertices ? (vertices - 1) * stride + element : 0;
    uint64_t others = instance_count - 1;
    bool apart = between >= span || (between >= element && others <= (stride - element) / between);
    if (others && !apart)
        return cutis_fail(context, CUTIS_INVALID_ARGUMENT,
                          "deform: %s: an instance stride of %llu makes instances overlap", name,
                          (unsigned long long)between);
    if (others && between > (UINT64_MAX / 2 - span - in->offset % (UINT64_MAX / 4)) / others)
        return cutis_fail(context, CUTIS_INVALID_ARGUMENT, "deform: %s: instance stride too large",
                          name);
    if (in->buffer) {
        uint64_t size = in->buffer->size, need = others * between + span;
        if (in->buffer->device != binding->device)
            return cutis_fail(context, CUTIS_INVALID_ARGUMENT,
                              "deform: the buffer of %s belongs to another device", name);
        if (in->offset > size || need > size - in->offset)
            return cutis_fail(context, CUTIS_INVALID_ARGUMENT,
                              "deform: %s need %llu bytes at %llu, the buffer has %llu", name,
                              (unsigned long long)need, (unsigned long long)in->offset,
                              (unsigned long long)size);
    }
    *out = (cutis_skin_stream){ .data = in->data,
                                .buffer = in->buffer,
                                .offset = in->offset,
                                .stride = (uint32_t)stride,
                                .instance_stride = between };
    return CUTIS_OK;
}

static cutis_result check_outputs(const cutis_binding *binding, const cutis_outputs *in,
                                  uint32_t instance_count, cutis_skin_outputs *out)
{
    const cutis_skin_layout *layout = &binding->layout;
    bool normals = layout->normal_rule != CUTIS_NORMAL_NONE;
    cutis_result result = check_stream(binding, "positions", true, 12, &in->positions,
                                       instance_count, &out->positions);
    if (result == CUTIS_OK)
        result = check_stream(binding, "normals", normals, 12, &in->normals, instance_count,
                              &out->normals);
    if (result == CUTIS_OK)
        result = check_stream(binding, "tangents", layout->tangents, 16, &in->tangents,
                              instance_count, &out->tangents);
    if (result == CUTIS_OK)
        result = check_stream(binding, "previous positions", true, 12, &in->previous_positions,
                              instance_count, &out->previous);
    if (result != CUTIS_OK) return result;
    out->bounds = in->bounds;
    bool positions = out->positions.data || out->positions.buffer;
    bool others = out->normals.data || out->normals.buffer || out->tangents.data ||
                  out->tangents.buffer || out->previous.data || out->previous.buffer;
    if (!positions && (others || !in->bounds))
        return cutis_fail(
            binding->context, CUTIS_INVALID_ARGUMENT,
            "deform: positions can be left out only when nothing but bounds is wanted");
    return CUTIS_OK;
}

/// @param rigid set if the poses are found to be palettes of rigid bones (finite, too) on the way
static cutis_result check_poses(const cutis_binding *binding, const cutis_poses *poses,
                                uint32_t instance_count, bool *rigid)
{
    cutis_context *context = binding->context;
    size_t nodes = binding->node_count, bones = binding->bone_count, count = instance_count;
    size_t targets = binding->target_count;
    bool fine = true;
    if ((binding->cage != NULL) != (poses->kind == CUTIS_POSE_CONTROLS))
        return cutis_fail(context, CUTIS_INVALID_ARGUMENT,
                          "deform: controls move cages, and nothing else does; this is %s",
                          cutis_method_name(binding->options.method));
    if (binding->cage) {
        if (!poses->controls)
            return cutis_fail(context, CUTIS_INVALID_ARGUMENT, "deform: poses.controls is NULL");
        return floats_finite(&poses->controls->x, 3 * bones * count)
                   ? CUTIS_OK
                   : cutis_fail(context, CUTIS_INVALID_ARGUMENT,
                                "deform: a pose holds a value that is not finite");
    }
    if (binding->play && poses->kind != CUTIS_POSE_LOCAL)
        return cutis_fail(context, CUTIS_INVALID_ARGUMENT,
                          "deform: %s needs local poses to measure distances of",
                          cutis_method_name(binding->options.method));
    if (poses->kind == CUTIS_POSE_LOCAL) {
        if (!poses->local && nodes > 0)
            return cutis_fail(context, CUTIS_INVALID_ARGUMENT, "deform: poses.local is NULL");
        _Static_assert(sizeof(cutis_transform) == 10 * sizeof(float), "no padding");
        if (nodes > 0) fine = floats_finite(&poses->local->translation.x, 10 * nodes * count);
    } else if (poses->kind == CUTIS_POSE_WORLD || poses->kind == CUTIS_POSE_PALETTE) {
        size_t matrices = poses->kind == CUTIS_POSE_WORLD ? nodes : bones;
        if (!poses->matrices && matrices > 0)
            return cutis_fail(context, CUTIS_INVALID_ARGUMENT, "deform: poses.matrices is NULL");
        // One look tells both, and nearly all frames are rigid; only linear blending asks.
        *rigid =
            poses->kind == CUTIS_POSE_PALETTE && matrices > 0 &&
            binding->layout.formula == CUTIS_FORMULA_LBS &&
            cutis_device_bone_work(binding->device)->rigid(poses->matrices->m, matrices * count);
        if (matrices > 0 && !*rigid)
            fine = floats_finite(poses->matrices->m, 12 * matrices * count);
    } else {
        return cutis_fail(context, CUTIS_INVALID_ARGUMENT, "deform: there is no pose kind %d",
                          (int)poses->kind);
    }
    if (!fine)
        return cutis_fail(context, CUTIS_INVALID_ARGUMENT,
                          "deform: a pose holds a value that is not finite");
    if (poses->morph_weights && !floats_finite(poses->morph_weights, targets * count))
        return cutis_fail(context, CUTIS_INVALID_ARGUMENT, "deform: a morph weight is not finite");
    return CUTIS_OK;
}

/// A free workspace; waits while all are in use.
static cutis_workspace *take_workspace(const cutis_binding *binding)
{
    for (uint32_t round = 0;; round++) {
        cutis_workspace *workspace = &binding->workspaces[round % binding->workspace_count];
        if (!atomic_flag_test_and_set_explicit(&workspace->busy, memory_order_acquire))
            return workspace;
#if defined(__x86_64__) || defined(__i386__)
        __builtin_ia32_pause();
#endif
    }
}

static void advance(cutis_skin_stream *stream, uint32_t instances)
{
    uint64_t bytes = stream->instance_stride * instances;
    if (stream->data) stream->data = (char *)stream->data + bytes;
    if (stream->buffer) stream->offset += bytes;
}

static cutis_result run_chunk(const cutis_binding *binding, cutis_workspace *w, uint32_t count,
                              const cutis_skin_outputs *outputs)
{
    cutis_skin_frames frames = { .instance_count = count,
                                 .matrices = w->run_matrices,
                                 .rotations = w->rotations,
                                 .duals = w->duals,
                                 .stretches = w->stretches,
                                 .centres = w->centres,
                                 .scales = w->scales,
                                 .uneven = w->uneven,
                                 .targets = binding->layout.morph_first ? w->targets : NULL,
                                 .pose_squares = w->pose_squares };
    return binding->device->operations->skin_run(binding->skin, &frames, outputs);
}

cutis_result cutis_deform(const cutis_binding *binding, const cutis_poses *poses,
                          uint32_t instance_count, const cutis_outputs *outputs)
{
    if (!binding) return CUTIS_INVALID_ARGUMENT;
    if (!poses || !outputs)
        return cutis_fail(binding->context, CUTIS_INVALID_ARGUMENT,
                          "deform: poses and outputs may not be NULL");
    if (instance_count == 0) return CUTIS_OK;
    cutis_skin_outputs streams;
    bool rigid = false;
    cutis_result result = check_outputs(binding, outputs, instance_count, &streams);
    if (result == CUTIS_OK) result = check_poses(binding, poses, instance_count, &rigid);
    if (result != CUTIS_OK) return result;
    cutis_workspace *workspace = take_workspace(binding);
    for (uint32_t first = 0; first < instance_count && result == CUTIS_OK;) {
        uint32_t left = instance_count - first;
        uint32_t count = left < binding->capacity ? left : binding->capacity;
        if (binding->cage)
            result = cutis_cage_frames(binding, workspace, poses, first, count, &streams);
        else if (!cutis_frames_prepare(binding, workspace, poses, first, count, rigid))
            result = cutis_fail(binding->context, CUTIS_INVALID_ARGUMENT,
                                "deform: a bone matrix is too large for float");
        else
            result = run_chunk(binding, workspace, count, &streams);
        first += count;
        advance(&streams.positions, count);
        advance(&streams.normals, count);
        advance(&streams.tangents, count);
        advance(&streams.previous, count);
        if (streams.bounds) streams.bounds += count;
    }
    atomic_flag_clear_explicit(&workspace->busy, memory_order_release);
    return result;
}

void cutis_binding_palette(const cutis_binding *binding, const cutis_transform *local,
                           cutis_mat34 *palette)
{
    if (!binding || !local || !palette || binding->cage) return;
    cutis_workspace *w = take_workspace(binding);
    cutis_palette_local(binding, local, w->worlds, w->palettes);
    if (binding->handle_skin_count) cutis_handles_palette(binding, w->palettes, w->handle_scratch);
    for (size_t b = 0; b < binding->bone_count; b++)
        for (int i = 0; i < 12; i++) palette[b].m[i] = (float)w->palettes[12 * b + i];
    atomic_flag_clear_explicit(&w->busy, memory_order_release);
}
