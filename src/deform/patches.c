/// Binding a body to its patches, and the frames: eleven launches, one after the other, for all
/// instances at once. Invariant: between the first launch and the last nothing comes back to the
/// host; counts and reports are read afterwards.
#include "deform/patches.h"

#include <string.h>

#include <cutis/clip.h>

#include "base/error.h"
#include "deform/patches_bound.h"
#include "kernel/kernel.h"
//
#include "kernel/item.h"
//
#include "kernel/team.h"
//
#include "kernel/patches.h"
#include "math/mat3.h"

static const char *const REMOVALS[] = { "cut", "box" };
static const char *const FILLS[] = {
    "default", "keep", "mean", "intersection", "reduced", "between"
};

const char *cutis_patch_removal_name(cutis_patch_removal removal)
{
    return (uint32_t)removal < 2 ? REMOVALS[removal] : "unknown";
}

cutis_result cutis_patch_removal_from_name(const char *name, cutis_patch_removal *out)
{
    for (int i = 0; i < 2; i++)
        if (strcmp(name, REMOVALS[i]) == 0) {
            *out = (cutis_patch_removal)i;
            return CUTIS_OK;
        }
    return CUTIS_NOT_FOUND;
}

const char *cutis_patch_fill_name(cutis_patch_fill fill)
{
    return (uint32_t)fill < 6 ? FILLS[fill] : "unknown";
}

cutis_result cutis_patch_fill_from_name(const char *name, cutis_patch_fill *out)
{
    for (int i = 0; i < 6; i++)
        if (strcmp(name, FILLS[i]) == 0) {
            *out = (cutis_patch_fill)i;
            return CUTIS_OK;
        }
    return CUTIS_NOT_FOUND;
}

// What the binding keeps on the host: names, joints, inverse binds, the volume.
static cutis_result keep_facts(cutis_patches *patches, const patch_body *body,
                               const patch_pieces *parts, const patch_pack *pack)
{
    const cutis_model_data *data = cutis_model_get(body->model);
    const cutis_instance *instances;
    cutis_model_instances(body->model, &instances);
    const cutis_skin *skin = &data->skins[instances[body->instance].skin];
    cutis_arena *arena = &patches->arena;
    const patch_work packed = patch_work_of(pack->body, NULL, &pack->arguments, 0);
    patches->node_count = data->node_count;
    patches->joints = cutis_arena_alloc(arena, body->loop_count, sizeof *patches->joints);
    patches->part_nodes = cutis_arena_alloc(arena, body->part_count, sizeof(uint32_t));
    patches->inverse_binds = cutis_arena_alloc(arena, body->part_count, sizeof(cutis_mat34));
    patches->part_names = cutis_arena_alloc(arena, body->part_count, sizeof(char *));
    patches->worlds = cutis_arena_alloc(arena, data->node_count, sizeof(cutis_mat34));
    if (!patches->joints || !patches->part_nodes || !patches->inverse_binds ||
        !patches->part_names || !patches->worlds)
        return cutis_alloc_result(body->context);
    for (uint32_t p = 0; p < body->part_count; p++) {
        const char *name = body->mesh->part_names ? body->mesh->part_names[p] : NULL;
        patches->part_nodes[p] = skin->joints[body->joints[p]];
        patches->inverse_binds[p] = skin->inverse_binds
                                        ? skin->inverse_binds[body->joints[p]]
                                        : (cutis_mat34){ { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0 } };
        patches->part_names[p] = cutis_arena_string(arena, name ? name : "");
        if (!patches->part_names[p]) return cutis_alloc_result(body->context);
        patches->info.volume += parts->shapes[p].volume;
    }
    for (uint32_t j = 0; j < body->loop_count; j++) {
        const patch_loop *loop = &body->loops[j];
        cutis_patches_joint *joint = &patches->joints[j];
        *joint = (cutis_patches_joint){ .parent = loop->parent,
                                        .child = loop->child,
                                        .node = patches->part_nodes[loop->child],
                                        .loop_length = loop->count,
                                        .seam = loop->seam,
                                        .parent_volume = parts->shapes[loop->parent].volume,
                                        .child_volume = parts->shapes[loop->child].volume };
        memcpy(joint->centre, body->centres + 3 * (size_t)j, sizeof joint->centre);
        memcpy(joint->limb, &body_joint_limb(packed)[j], sizeof joint->limb);
    }
    return CUTIS_OK;
}

static void fill_info(cutis_patches *patches, const patch_body *body, const patch_pieces *parts,
                      const patch_pack *pack)
{
    cutis_patches_info *info = &patches->info;
    const uint64_t *n = pack->counts;
    info->part_count = body->part_count;
    info->joint_count = body->loop_count;
    info->vertex_count = body->vertex_count;
    info->triangle_count = body->face_count;
    info->vertex_capacity = (uint32_t)(parts->vertex_count + n[PATCH_SLOTS] + n[PATCH_POINTS]);
    info->triangle_capacity =
        (uint32_t)(body->face_count + n[PATCH_SLOTS] + 2 * n[PATCH_POINTS] + 2 * n[PATCH_RUNGS]);
    info->diagonal = body->diagonal;
    patches->vertex_blocks = (uint32_t)n[PATCH_VERTEX_BLOCKS];
    patches->face_blocks = (uint32_t)n[PATCH_FACE_BLOCKS];
    patches->arguments = pack->arguments;
}

static cutis_result make_buffer(cutis_patches *patches, uint64_t size, const void *data,
                                cutis_buffer **out)
{
    cutis_result result = cutis_buffer_create(patches->device, size > 0 ? size : 4, out);
    patches->info.memory_bytes += size;
    if (result == CUTIS_OK && data) result = cutis_buffer_write(*out, 0, data, size);
    return result;
}

static cutis_result make_buffers(cutis_patches *patches, const patch_pack *pack)
{
    const uint64_t n = patches->capacity, parts = patches->info.part_count;
    const uint64_t joints = patches->info.joint_count;
    cutis_result result =
        make_buffer(patches, PATCH_UNIT * (uint64_t)pack->body_units, pack->body, &patches->body);
    if (result == CUTIS_OK)
        result = make_buffer(patches, n * PATCH_UNIT * pack->arguments.work_stride, NULL,
                             &patches->work);
    if (result == CUTIS_OK)
        result = make_buffer(patches, n * parts * sizeof(cutis_mat34), NULL, &patches->palette);
    if (result == CUTIS_OK)
        result = make_buffer(patches, n * 2 * sizeof(uint32_t), NULL, &patches->counts);
    if (result != CUTIS_OK) return result;
    patches->matrices =
        cutis_arena_alloc(&patches->arena, (size_t)(n * parts), sizeof *patches->matrices);
    patches->host_counts = cutis_arena_alloc(&patches->arena, (size_t)n, 2 * sizeof(uint32_t));
    patches->host_joints =
        cutis_arena_alloc(&patches->arena, (size_t)joints, sizeof *patches->host_joints);
    patches->host_tries =
        cutis_arena_alloc(&patches->arena, (size_t)parts, sizeof *patches->host_tries);
    return patches->matrices && patches->host_counts && patches->host_joints && patches->host_tries
               ? CUTIS_OK
               : cutis_alloc_result(patches->arena.context);
}

static cutis_result check_options(cutis_context *context, const cutis_patches_options *options)
{
    if ((uint32_t)options->removal > CUTIS_PATCH_BOX ||
        (uint32_t)options->fill > CUTIS_PATCH_FILL_BETWEEN)
        return cutis_fail(context, CUTIS_INVALID_ARGUMENT, "patches: no such removal or fill");
    if (options->instance_capacity > 1u << 20)
        return cutis_fail(context, CUTIS_LIMIT_EXCEEDED, "patches: %u instances at once",
                          options->instance_capacity);
    return CUTIS_OK;
}

cutis_result cutis_patches_create(cutis_device *device, const cutis_model *model,
                                  const cutis_patches_options *options, cutis_patches **out)
{
    static const cutis_patches_options defaults = { 0 };
    cutis_context *context = cutis_model_context(model);
    cutis_arena scratch = { .context = context };
    patch_body body;
    patch_pieces parts;
    patch_pack pack;
    cutis_patches *patches = NULL;
    if (!options) options = &defaults;
    cutis_result result = check_options(context, options);
    if (result != CUTIS_OK) return result;
    bool box = options->removal == CUTIS_PATCH_BOX;
    cutis_patch_fill fill = options->fill;
    if (fill == CUTIS_PATCH_FILL_DEFAULT)
        fill = box ? CUTIS_PATCH_FILL_REDUCED : CUTIS_PATCH_FILL_KEEP;
    result = cutis_patch_body_read(model, &scratch, &body);
    if (result == CUTIS_OK) result = cutis_patch_parts_make(&body, &parts);
    if (result == CUTIS_OK) result = cutis_patch_shapes_make(&body, &parts);
    if (result == CUTIS_OK)
        result =
            cutis_patch_pack_make(&body, &parts, box, (int)fill - CUTIS_PATCH_FILL_KEEP, &pack);
    if (result != CUTIS_OK) goto fail;
    patches = cutis_alloc_zero(context, 1, sizeof *patches);
    result = patches ? CUTIS_OK : cutis_alloc_result(context);
    if (result != CUTIS_OK) goto fail;
    patches->device = device;
    patches->arena.context = context;
    patches->capacity = options->instance_capacity ? options->instance_capacity : 1;
    fill_info(patches, &body, &parts, &pack);
    result = keep_facts(patches, &body, &parts, &pack);
    if (result == CUTIS_OK) result = cutis_patches_bind_fixed(patches, &body, &parts, &pack);
    if (result == CUTIS_OK) result = make_buffers(patches, &pack);
    if (result != CUTIS_OK) goto fail;
    cutis_arena_release(&scratch);
    *out = patches;
    return CUTIS_OK;

fail:
    cutis_arena_release(&scratch);
    cutis_patches_destroy(patches);
    return result;
}

void cutis_patches_destroy(cutis_patches *patches)
{
    if (!patches) return;
    cutis_context *context = patches->arena.context;
    cutis_buffer *buffers[] = { patches->body, patches->work, patches->palette, patches->counts };
    for (size_t b = 0; b < sizeof buffers / sizeof *buffers; b++) cutis_buffer_destroy(buffers[b]);
    for (size_t b = 0; b < STREAMS; b++) cutis_buffer_destroy(patches->out[b]);
    cutis_arena_release(&patches->arena);
    cutis_free(context, patches, sizeof *patches);
}

cutis_patches_info cutis_patches_describe(const cutis_patches *patches)
{
    return patches->info;
}

cutis_patches_joint cutis_patches_joint_at(const cutis_patches *patches, uint32_t joint)
{
    return patches->joints[joint < patches->info.joint_count ? joint : 0];
}

const char *cutis_patches_part_name(const cutis_patches *patches, uint32_t part)
{
    return part < patches->info.part_count ? patches->part_names[part] : "";
}

// Poses -------------------------------------------------------------------------------------------

static void palette_of_worlds(const cutis_patches *patches, const cutis_mat34 *worlds,
                              cutis_mat34 *palette)
{
    for (uint32_t p = 0; p < patches->info.part_count; p++) {
        double a[12], b[12], product[12];
        double34_from_floats(worlds[patches->part_nodes[p]].m, a);
        double34_from_floats(patches->inverse_binds[p].m, b);
        double34_multiply(a, b, product);
        for (int k = 0; k < 12; k++) palette[p].m[k] = (float)product[k];
    }
}

void cutis_patches_palette(const cutis_patches *patches, const cutis_model *model,
                           const cutis_transform *local, cutis_mat34 *palette)
{
    cutis_pose_world(model, local, patches->worlds);
    palette_of_worlds(patches, patches->worlds, palette);
}

// Exponents all ones are infinite or NaN; the largest of the bits shows whether there is one.
static cutis_result check_finite(const cutis_patches *patches, const cutis_mat34 *matrices,
                                 size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t bits[12], most = 0;
        memcpy(bits, matrices[i].m, sizeof bits);
        for (int k = 0; k < 12; k++) {
            uint32_t size = bits[k] & 0x7fffffffu;
            most = size > most ? size : most;
        }
        if (most >= 0x7f800000u)
            return cutis_fail(patches->arena.context, CUTIS_INVALID_ARGUMENT,
                              "the matrix of part %s is not finite",
                              patches->part_names[i % patches->info.part_count]);
    }
    return CUTIS_OK;
}

static cutis_result set_poses(cutis_patches *patches, const cutis_model *model,
                              const cutis_poses *poses, uint32_t first, uint32_t count)
{
    uint32_t parts = patches->info.part_count, nodes = patches->node_count;
    const cutis_mat34 *matrices = patches->matrices;
    if (poses->kind == CUTIS_POSE_PALETTE) matrices = poses->matrices + (size_t)first * parts;
    for (uint32_t i = 0; i < count && poses->kind != CUTIS_POSE_PALETTE; i++) {
        cutis_mat34 *out = patches->matrices + (size_t)i * parts;
        size_t at = first + (size_t)i;
        if (poses->kind == CUTIS_POSE_LOCAL)
            cutis_patches_palette(patches, model, poses->local + at * nodes, out);
        else
            palette_of_worlds(patches, poses->matrices + at * nodes, out);
    }
    cutis_result result = check_finite(patches, matrices, (size_t)count * parts);
    if (result != CUTIS_OK) return result;
    return cutis_buffer_write(patches->palette, 0, matrices,
                              (uint64_t)count * parts * sizeof *matrices);
}

// Frames ------------------------------------------------------------------------------------------

// Launch a kernel of the frame, and go on if that worked.
#define RUN(kernel, items, ...)                                                                    \
    do {                                                                                           \
        cutis_result launched = kernel##_run(                                                      \
            patches->device, items,                                                                \
            (kernel##_buffers){ .body = patches->body, .work = patches->work, __VA_ARGS__ },       \
            *arguments);                                                                           \
        if (launched != CUTIS_OK) return launched;                                                 \
    } while (0)

cutis_result cutis_patches_solve(cutis_patches *patches, const cutis_model *model,
                                 const cutis_poses *poses, uint32_t first, uint32_t count)
{
    const patch_arguments *arguments = &patches->arguments;
    cutis_result result = set_poses(patches, model, poses, first, count);
    if (result != CUTIS_OK) return result;
    uint32_t parts = count * patches->info.part_count, joints = count * patches->info.joint_count;
    RUN(patch_parts, parts, .palette = patches->palette);
    RUN(patch_joints, joints);
    RUN(patch_cut, parts);
    RUN(patch_rungs, joints);
    RUN(patch_cut_volume, parts);
    RUN(patch_solve, joints);
    return CUTIS_OK;
}

/// Where a batch goes: buffers of the device, made from host memory where that is the device's own.
typedef struct batch_output {
    cutis_buffer wrapped[STREAMS];
    const cutis_buffer *buffers[STREAMS]; // as stream_list has them
    uint32_t vertex_room, face_room;
} batch_output;

static cutis_result emit_sources(cutis_patches *patches, const patch_arguments *arguments,
                                 const batch_output *out, uint32_t count)
{
    const cutis_buffer *const *b = out->buffers, *counts = patches->counts;
    uint32_t joints = count * patches->info.joint_count;
    if (b[4]) {
        RUN(patch_origins, count * patches->face_blocks, .counts = counts, .origins = b[4]);
        RUN(patch_no_origins, joints, .counts = counts, .origins = b[4]);
    }
    if (!b[5]) return CUTIS_OK;
    RUN(patch_vertex_sources, count * patches->vertex_blocks, .counts = counts,
        .source_vertices = b[5], .source_weights = b[6]);
    RUN(patch_joint_sources, joints, .counts = counts, .source_vertices = b[5],
        .source_weights = b[6]);
    return CUTIS_OK;
}

static cutis_result emit(cutis_patches *patches, const batch_output *out, uint32_t count)
{
    const cutis_buffer *const *b = out->buffers, *counts = patches->counts;
    patch_arguments roomy = patches->arguments, *arguments = &roomy;
    roomy.vertex_room = (int)out->vertex_room;
    roomy.face_room = (int)out->face_room;
    RUN(patch_count, count * (patches->vertex_blocks + patches->face_blocks));
    RUN(patch_sum, count, .counts = counts);
    RUN(patch_vertices, count * patches->vertex_blocks, .counts = counts, .positions = b[0],
        .normals = b[1]);
    RUN(patch_faces, count * patches->face_blocks, .counts = counts, .indices = b[2],
        .labels = b[3]);
    RUN(patch_strips, count * patches->info.joint_count, .counts = counts, .positions = b[0],
        .normals = b[1], .indices = b[2], .labels = b[3]);
    return emit_sources(patches, arguments, out, count);
}

static void stream_list(const cutis_patches_output *output, cutis_stream *streams)
{
    streams[0] = output->positions;
    streams[1] = output->normals;
    streams[2] = output->indices;
    streams[3] = output->labels;
    streams[4] = output->origins;
    streams[5] = output->source_vertices;
    streams[6] = output->source_weights;
}

static const uint32_t STREAM_BYTES[STREAMS] = { 12, 12, 12, 4, 4, 16, 16 };

// Is there one entry of a stream a vertex (else: a triangle)?
static bool of_vertices(int k)
{
    return k < 2 || k >= 5;
}

static uint64_t stream_size(const batch_output *out, int k)
{
    return (uint64_t)STREAM_BYTES[k] * (of_vertices(k) ? out->vertex_room : out->face_room);
}

// Host outputs of a device with its own memory go through buffers that are made once.
static cutis_result own_buffer(cutis_patches *patches, const batch_output *out, int k)
{
    uint64_t size = stream_size(out, k) * patches->capacity;
    if (patches->out[k] && patches->out[k]->size >= size) return CUTIS_OK;
    cutis_buffer_destroy(patches->out[k]);
    patches->out[k] = NULL;
    return cutis_buffer_create(patches->device, size, &patches->out[k]);
}

static cutis_result open_batch(cutis_patches *patches, const cutis_patches_output *output,
                               uint32_t first, batch_output *out)
{
    bool host = cutis_device_describe(patches->device).kind == CUTIS_DEVICE_CPU;
    cutis_stream streams[STREAMS];
    stream_list(output, streams);
    for (int k = 0; k < STREAMS; k++) {
        out->buffers[k] = streams[k].buffer;
        if (streams[k].buffer) continue; // one batch, from its beginning (cutis_patches_run)
        if (streams[k].data && host) {
            char *at = (char *)streams[k].data + stream_size(out, k) * first;
            out->wrapped[k] = (cutis_buffer){ .device = patches->device,
                                              .size = stream_size(out, k) * patches->capacity,
                                              .handle = (uint64_t)(uintptr_t)at };
            out->buffers[k] = &out->wrapped[k];
        } else if (streams[k].data) {
            cutis_result result = own_buffer(patches, out, k);
            if (result != CUTIS_OK) return result;
            out->buffers[k] = patches->out[k];
        }
    }
    return CUTIS_OK;
}

// What a device with its own memory made, instance by instance, and no more than there is.
static cutis_result fetch(cutis_patches *patches, const cutis_patches_output *output,
                          const batch_output *out, uint32_t first, uint32_t count)
{
    cutis_stream streams[STREAMS];
    stream_list(output, streams);
    for (int k = 0; k < STREAMS; k++) {
        if (!streams[k].data || out->buffers[k] != patches->out[k]) continue;
        for (uint32_t i = 0; i < count; i++) {
            uint64_t used =
                STREAM_BYTES[k] * (uint64_t)patches->host_counts[2 * i + !of_vertices(k)];
            cutis_result result = cutis_buffer_read(
                patches->out[k], stream_size(out, k) * i,
                (char *)streams[k].data + stream_size(out, k) * (first + i), used);
            if (result != CUTIS_OK) return result;
        }
    }
    return CUTIS_OK;
}

static cutis_result read_reports(cutis_patches *patches, uint32_t instance,
                                 cutis_patches_report *reports)
{
    const uint32_t joints = patches->info.joint_count, parts = patches->info.part_count;
    const patch_arguments *a = &patches->arguments;
    const uint64_t base = (uint64_t)instance * a->work_stride;
    cutis_result result =
        cutis_buffer_read(patches->work, PATCH_UNIT * (base + a->at.work_joint),
                          patches->host_joints, joints * sizeof *patches->host_joints);
    if (result == CUTIS_OK)
        result = cutis_buffer_read(patches->work, PATCH_UNIT * (base + a->at.work_tries),
                                   patches->host_tries, parts * sizeof *patches->host_tries);
    for (uint32_t k = 0; k < joints && result == CUTIS_OK; k++) {
        const patch_joint *j = &patches->host_joints[k];
        const int32_t *tries = patches->host_tries;
        int32_t parent = tries[patches->joints[k].parent], child = tries[patches->joints[k].child];
        reports[k] =
            (cutis_patches_report){ .bend = j->angle,
                                    .twist = j->twist_angle,
                                    .weight = j->weight,
                                    .flatness = j->flat,
                                    .volume_left = j->left,
                                    .triangles = (uint32_t)j->faces,
                                    .retries = (uint32_t)(parent > child ? parent : child) };
    }
    return result;
}

static cutis_result finish_batch(cutis_patches *patches, const cutis_patches_output *output,
                                 const batch_output *out, uint32_t first, uint32_t count)
{
    bool host = output->positions.data || output->indices.data || output->counts.data;
    cutis_result result = CUTIS_OK;
    if (host) {
        result = cutis_buffer_read(patches->counts, 0, patches->host_counts, 8 * (uint64_t)count);
        if (result != CUTIS_OK) return result;
        if (output->counts.data)
            memcpy((uint32_t *)output->counts.data + 2 * (size_t)first, patches->host_counts,
                   8 * (size_t)count);
        for (uint32_t i = 0; i < count; i++)
            if (patches->host_counts[2 * i] > out->vertex_room ||
                patches->host_counts[2 * i + 1] > out->face_room)
                return cutis_fail(patches->arena.context, CUTIS_BUFFER_TOO_SMALL,
                                  "patches: %u vertices and %u triangles where there is room for "
                                  "%u and %u",
                                  patches->host_counts[2 * i], patches->host_counts[2 * i + 1],
                                  out->vertex_room, out->face_room);
        result = fetch(patches, output, out, first, count);
    }
    for (uint32_t i = 0; output->reports && i < count && result == CUTIS_OK; i++)
        result = read_reports(patches, i,
                              output->reports + (size_t)(first + i) * patches->info.joint_count);
    return result;
}

cutis_result cutis_patches_check(const cutis_patches *patches, const cutis_model *model,
                                 const cutis_poses *poses, uint32_t instance_count)
{
    cutis_context *context = patches->arena.context;
    if (poses->kind == CUTIS_POSE_LOCAL && !model)
        return cutis_fail(context, CUTIS_INVALID_ARGUMENT, "patches: local poses need the model");
    if (poses->kind == CUTIS_POSE_LOCAL ? !poses->local : !poses->matrices)
        return cutis_fail(context, CUTIS_INVALID_ARGUMENT, "patches: no poses");
    if (model && cutis_model_get(model)->node_count != patches->node_count)
        return cutis_fail(context, CUTIS_INVALID_ARGUMENT, "patches: another model was bound");
    if (instance_count == 0)
        return cutis_fail(context, CUTIS_INVALID_ARGUMENT, "patches: no instances");
    return CUTIS_OK;
}

cutis_result cutis_patches_run(cutis_patches *patches, const cutis_model *model,
                               const cutis_poses *poses, uint32_t instance_count,
                               const cutis_patches_output *output)
{
    const cutis_patches_info *info = &patches->info;
    batch_output out = {
        .vertex_room = output->vertex_capacity ? output->vertex_capacity : info->vertex_capacity,
        .face_room =
            output->triangle_capacity ? output->triangle_capacity : info->triangle_capacity,
    };
    cutis_result result = cutis_patches_check(patches, model, poses, instance_count);
    bool host = output->positions.data && output->indices.data && output->counts.data;
    bool device = output->positions.buffer && output->indices.buffer;
    if (result == CUTIS_OK && !host && !device)
        result = cutis_fail(patches->arena.context, CUTIS_INVALID_ARGUMENT,
                            "patches: positions, indices and counts go to host memory or to "
                            "buffers");
    if (result == CUTIS_OK && (!output->source_vertices.data != !output->source_weights.data ||
                               !output->source_vertices.buffer != !output->source_weights.buffer))
        result = cutis_fail(patches->arena.context, CUTIS_INVALID_ARGUMENT,
                            "patches: source_vertices and source_weights, both or none");
    if (result == CUTIS_OK && device && instance_count > patches->capacity)
        result = cutis_fail(patches->arena.context, CUTIS_INVALID_ARGUMENT,
                            "patches: %u instances into buffers at once, bound for %u",
                            instance_count, patches->capacity);
    if (result == CUTIS_OK &&
        (output->positions.offset || output->normals.offset || output->indices.offset ||
         output->labels.offset || output->origins.offset || output->source_vertices.offset ||
         output->source_weights.offset))
        result = cutis_fail(patches->arena.context, CUTIS_INVALID_ARGUMENT,
                            "patches: buffers are written from their beginning");
    for (uint32_t first = 0; first < instance_count && result == CUTIS_OK;) {
        uint32_t left = instance_count - first;
        uint32_t count = left < patches->capacity ? left : patches->capacity;
        result = open_batch(patches, output, first, &out);
        if (result == CUTIS_OK) result = cutis_patches_solve(patches, model, poses, first, count);
        if (result == CUTIS_OK) result = emit(patches, &out, count);
        if (result == CUTIS_OK) result = finish_batch(patches, output, &out, first, count);
        first += count;
    }
    return result;
}
