/// Frames of the blending patches: a dozen launches (five where all joints bend in bands) and one
/// for every rank of bands, one after the other, for all instances of a batch at once. Invariant:
/// between the first launch and the last nothing comes back to the host; counts and reports are
/// read afterwards, and only by those who want them.
#include "deform/patches_binding.h"

#include <string.h>

#include <cutis/clip.h>

#include "base/error.h"
#include "deform/finite.h"
#include "device/compute/basic.h"
#include "math/mat3.h"
#include "model/drivers.h"

// Poses -------------------------------------------------------------------------------------------

static void palette_of_worlds(const patches_binding *binding, const cutis_mat34 *worlds,
                              cutis_mat34 *palette)
{
    for (uint32_t p = 0; p < binding->info.part_count; p++) {
        double a[12], b[12], product[12];
        double34_from_floats(worlds[binding->part_nodes[p]].m, a);
        double34_from_floats(binding->inverse_binds[p].m, b);
        double34_multiply(a, b, product);
        for (int k = 0; k < 12; k++) palette[p].m[k] = (float)product[k];
    }
}

void cutis_patches_palette(const cutis_binding *base, cutis_workspace *workspace,
                           const cutis_transform *local, cutis_mat34 *palette)
{
    patches_workspace *w = (patches_workspace *)workspace;
    cutis_pose_world_driven(base->model, local, base->options.drive, w->worlds);
    palette_of_worlds(patches_of(base), w->worlds, palette);
}

static cutis_result check_finite(const patches_binding *binding, const cutis_mat34 *matrices,
                                 size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!floats_finite(matrices[i].m, 12))
            return INVALID(binding->base.context, "the matrix of part %s is not finite",
                           binding->part_names[i % binding->info.part_count]);
    return CUTIS_OK;
}

static cutis_result set_poses(const patches_binding *binding, patches_workspace *w,
                              const cutis_poses *poses, uint32_t first, uint32_t count)
{
    const size_t parts = binding->info.part_count, nodes = binding->node_count;
    const cutis_mat34 *matrices = w->matrices;
    if (poses->kind == CUTIS_POSE_PALETTE) matrices = poses->matrices + first * parts;
    for (uint32_t i = 0; i < count && poses->kind != CUTIS_POSE_PALETTE; i++) {
        cutis_mat34 *out = w->matrices + i * parts;
        const size_t at = first + (size_t)i;
        if (poses->kind == CUTIS_POSE_LOCAL)
            cutis_patches_palette(&binding->base, &w->base, poses->local + at * nodes, out);
        else
            palette_of_worlds(binding, poses->matrices + at * nodes, out);
    }
    TRY(check_finite(binding, matrices, count * parts));
    return cutis_buffer_write(w->palette, 0, matrices, count * parts * sizeof *matrices);
}

cutis_result cutis_patches_check_call(const cutis_binding *base, cutis_deform_call *call)
{
    const patches_binding *binding = patches_of(base);
    const bool positions = cutis_output_wanted(call, CUTIS_OUTPUT_POSITIONS);
    cutis_context *context = base->context;
    if (positions && (!cutis_output_wanted(call, CUTIS_OUTPUT_INDICES) ||
                      !cutis_output_wanted(call, CUTIS_OUTPUT_COUNTS)))
        return INVALID(context, "deform: positions of patches need indices and counts beside them");
    if (cutis_output_wanted(call, CUTIS_OUTPUT_SOURCE_VERTICES) !=
        cutis_output_wanted(call, CUTIS_OUTPUT_SOURCE_WEIGHTS))
        return INVALID(context, "deform: source_vertices and source_weights, both or none");
    call->finite = true; // looked at by part, so that it can be named
    return call->poses
               ? cutis_poses_check(base, call, binding->node_count, binding->info.part_count)
               : CUTIS_OK;
}

// Launches ----------------------------------------------------------------------------------------

/// A batch on its way: what its launches share.
typedef struct frame {
    const patches_binding *binding;
    patches_workspace *w;
    patch_arguments arguments;
    const cutis_target *targets;
    uint32_t count;
} frame;

// Launch a kernel of the frame, and go on if that worked.
#define RUN(kernel, items, ...)                                                                    \
    do {                                                                                           \
        cutis_result launched = kernel##_run(                                                      \
            f->binding->base.device, items,                                                        \
            (kernel##_buffers){ .body = f->binding->body, .work = f->w->work, __VA_ARGS__ },       \
            f->arguments);                                                                         \
        if (launched != CUTIS_OK) return launched;                                                 \
    } while (0)

// Bands, rank after rank of the joints that share vertices.
static cutis_result bend(frame *f)
{
    const uint32_t blocks = f->binding->rank_count > 0 ? f->count * f->binding->vertex_blocks : 0;
    const uint32_t *ranks = f->binding->rank_first;
    f->arguments.rank = -1;
    if (blocks > 0) RUN(patch_overlaps, blocks);
    for (uint32_t rank = 0; rank < f->binding->rank_count; rank++) {
        const uint32_t joints = ranks[rank + 1] - ranks[rank];
        f->arguments.rank = (int)rank;
        f->arguments.rank_first = (int)ranks[rank];
        f->arguments.rank_count = (int)joints;
        RUN(patch_bands, f->count * joints);
    }
    if (blocks > 0 && !f->arguments.whole) RUN(patch_overlaps, blocks);
    return CUTIS_OK;
}

// Everything up to where samples stand: what a new topology and the old one begin with.
static cutis_result solve(frame *f)
{
    const uint32_t parts = f->count * f->binding->info.part_count;
    const uint32_t joints = f->count * f->binding->info.joint_count;
    RUN(patch_parts, parts, .palette = f->w->palette);
    RUN(patch_joints, joints);
    TRY(bend(f));
    if (f->arguments.whole) return CUTIS_OK;
    RUN(patch_cut, parts);
    RUN(patch_rungs, joints);
    RUN(patch_cut_volume, parts);
    RUN(patch_solve, joints);
    return CUTIS_OK;
}

static const cutis_buffer *buffer_of(const frame *f, cutis_output_kind kind)
{
    return f->targets[kind].buffer;
}

static cutis_result emit_sources(const frame *f)
{
    const uint32_t joints = f->count * f->binding->info.joint_count;
    const cutis_buffer *counts = f->w->counts, *origins = buffer_of(f, CUTIS_OUTPUT_ORIGINS);
    const cutis_buffer *vertices = buffer_of(f, CUTIS_OUTPUT_SOURCE_VERTICES);
    const cutis_buffer *weights = buffer_of(f, CUTIS_OUTPUT_SOURCE_WEIGHTS);
    if (origins) {
        RUN(patch_origins, f->count * f->binding->face_blocks, .counts = counts,
            .origins = origins);
        if (!f->arguments.whole)
            RUN(patch_no_origins, joints, .counts = counts, .origins = origins);
    }
    if (!vertices) return CUTIS_OK;
    RUN(patch_vertex_sources, f->count * f->binding->vertex_blocks, .counts = counts,
        .source_vertices = vertices, .source_weights = weights);
    if (!f->arguments.whole)
        RUN(patch_joint_sources, joints, .counts = counts, .source_vertices = vertices,
            .source_weights = weights);
    return CUTIS_OK;
}

// The mesh of a body whose joints all bend in bands.
static cutis_result emit_whole(const frame *f)
{
    const patches_binding *binding = f->binding;
    TRY(patch_bent_faces_run(
        binding->base.device, f->count * binding->face_blocks,
        (patch_bent_faces_buffers){ .body = binding->body,
                                    .indices = buffer_of(f, CUTIS_OUTPUT_INDICES),
                                    .labels = buffer_of(f, CUTIS_OUTPUT_LABELS) },
        f->arguments));
    RUN(patch_bent, f->count * binding->vertex_blocks, .counts = f->w->counts,
        .wanted_counts = buffer_of(f, CUTIS_OUTPUT_COUNTS),
        .positions = buffer_of(f, CUTIS_OUTPUT_POSITIONS),
        .normals = buffer_of(f, CUTIS_OUTPUT_NORMALS));
    return emit_sources(f);
}

static cutis_result emit(const frame *f)
{
    const cutis_buffer *counts = f->w->counts;
    const cutis_buffer *positions = buffer_of(f, CUTIS_OUTPUT_POSITIONS);
    const cutis_buffer *normals = buffer_of(f, CUTIS_OUTPUT_NORMALS);
    const cutis_buffer *indices = buffer_of(f, CUTIS_OUTPUT_INDICES);
    const cutis_buffer *labels = buffer_of(f, CUTIS_OUTPUT_LABELS);
    const patches_binding *binding = f->binding;
    if (f->arguments.whole) return emit_whole(f);
    RUN(patch_count, f->count * (binding->vertex_blocks + binding->face_blocks));
    RUN(patch_sum, f->count, .counts = counts, .wanted_counts = buffer_of(f, CUTIS_OUTPUT_COUNTS));
    RUN(patch_vertices, f->count * binding->vertex_blocks, .counts = counts, .positions = positions,
        .normals = normals);
    RUN(patch_faces, f->count * binding->face_blocks, .counts = counts, .indices = indices,
        .labels = labels);
    RUN(patch_strips, f->count * binding->info.joint_count, .counts = counts,
        .positions = positions, .normals = normals, .indices = indices, .labels = labels);
    return emit_sources(f);
}

// The rest topology, beside a new one or in place of it.
static cutis_result place_rest(const frame *f)
{
    const cutis_buffer *positions = buffer_of(f, CUTIS_OUTPUT_REST_POSITIONS);
    if (positions) RUN(patch_rest, f->count * f->binding->rest_blocks, .rest_positions = positions);
    return CUTIS_OK;
}

static patch_stream stream_of(const cutis_target *t)
{
    return (patch_stream){ (int64_t)t->first, (int64_t)t->step, (int64_t)t->stride };
}

static patch_arguments arguments_of(const patches_binding *binding, const cutis_deform_call *call,
                                    const cutis_target *t)
{
    patch_arguments a = binding->arguments;
    a.vertex_capacity = (int)call->vertex_capacity;
    a.face_capacity = (int)call->triangle_capacity;
    a.positions = stream_of(&t[CUTIS_OUTPUT_POSITIONS]);
    a.normals = stream_of(&t[CUTIS_OUTPUT_NORMALS]);
    a.source_vertices = stream_of(&t[CUTIS_OUTPUT_SOURCE_VERTICES]);
    a.source_weights = stream_of(&t[CUTIS_OUTPUT_SOURCE_WEIGHTS]);
    a.indices = stream_of(&t[CUTIS_OUTPUT_INDICES]);
    a.labels = stream_of(&t[CUTIS_OUTPUT_LABELS]);
    a.origins = stream_of(&t[CUTIS_OUTPUT_ORIGINS]);
    a.counts = stream_of(&t[CUTIS_OUTPUT_COUNTS]);
    a.rest_positions = stream_of(&t[CUTIS_OUTPUT_REST_POSITIONS]);
    return a;
}

// What comes back ---------------------------------------------------------------------------------

static cutis_result read_reports(const frame *f, uint32_t instance, cutis_patches_report *reports)
{
    const cutis_patches_info *info = &f->binding->info;
    const patch_arguments *a = &f->arguments;
    patches_workspace *w = f->w;
    const uint64_t base = (uint64_t)instance * a->work_stride;
    TRY(cutis_buffer_read(w->work, PATCH_UNIT * (base + a->at.work_joint), w->host_joints,
                          info->joint_count * sizeof *w->host_joints));
    memset(w->host_tries, 0, info->part_count * sizeof *w->host_tries);
    if (!a->whole) // else nothing is cut, and there was nothing to try
        TRY(cutis_buffer_read(w->work, PATCH_UNIT * (base + a->at.work_tries), w->host_tries,
                              info->part_count * sizeof *w->host_tries));
    for (uint32_t k = 0; k < info->joint_count; k++) {
        const patch_joint *j = &w->host_joints[k];
        const cutis_patches_joint *joint = &f->binding->joints[k];
        const int32_t parent = w->host_tries[joint->parent], child = w->host_tries[joint->child];
        reports[k] =
            (cutis_patches_report){ .bend = j->bend_all,
                                    .twist = j->twist_angle,
                                    .weight = j->weight,
                                    .flatness = j->flat,
                                    .volume_left = j->left,
                                    .triangles = (uint32_t)j->faces,
                                    .retries = (uint32_t)(parent > child ? parent : child) };
    }
    return CUTIS_OK;
}

// Counts that the host wants are there even where a frame does not fit.
static void give_counts(const frame *f, const cutis_deform_call *call,
                        const cutis_stage_batch *batch)
{
    const cutis_output_stream *s = &call->streams[CUTIS_OUTPUT_COUNTS].stream;
    for (uint32_t i = 0; s->data && i < f->count; i++)
        memcpy((char *)s->data + (batch->first + i) * s->instance_stride, f->w->host_counts + 2 * i,
               2 * sizeof(uint32_t));
}

// A frame that does not fit says so. Only the caller's own capacities can be too small, so only
// then is the device waited for; else the host reads counts where it must deliver what they count.
static cutis_result look_at_counts(const frame *f, const cutis_deform_call *call,
                                   cutis_stage_batch *batch)
{
    const cutis_binding *base = &f->binding->base;
    const bool small = call->vertex_capacity < base->vertex_count ||
                       call->triangle_capacity < base->triangle_count;
    bool staged = false;
    for (int k = 0; k < CUTIS_OUTPUT_KINDS; k++)
        staged |= call->streams[k].used != CUTIS_STAGE_ALL && call->streams[k].stream.data;
    staged = staged && base->device->operations->staging_create;
    if (!small && !staged) return CUTIS_OK;
    uint32_t *counts = f->w->host_counts;
    TRY(cutis_buffer_read(f->w->counts, 0, counts, 8ull * f->count));
    give_counts(f, call, batch);
    for (uint32_t i = 0; i < f->count; i++)
        if (counts[2 * i] > call->vertex_capacity || counts[2 * i + 1] > call->triangle_capacity)
            return cutis_fail(base->context, CUTIS_BUFFER_TOO_SMALL,
                              "deform: %u vertices and %u triangles where there is space for %u "
                              "and %u",
                              counts[2 * i], counts[2 * i + 1], call->vertex_capacity,
                              call->triangle_capacity);
    batch->used = counts;
    return CUTIS_OK;
}

// Bounds of a frame that is not wanted: its positions and indices go to memory of the workspace.
// What is made here suffices for any frame, whatever the capacities of this call.
static cutis_result open_bounds(const cutis_binding *base, patches_workspace *w,
                                cutis_target *targets)
{
    cutis_target *positions = &targets[CUTIS_OUTPUT_POSITIONS];
    const uint64_t triangles = base->triangle_count;
    const bool given = positions->buffer != NULL;
    TRY(cutis_stage_open_bounds(base->device, &w->bounds, base->vertex_count, base->capacity,
                                positions));
    if (given) return CUTIS_OK;
    if (!w->indices)
        TRY(cutis_buffer_create(base->device, 12 * triangles * base->capacity, &w->indices));
    targets[CUTIS_OUTPUT_INDICES] =
        (cutis_target){ .buffer = w->indices, .step = 3 * triangles, .stride = 3 };
    return CUTIS_OK;
}

static cutis_result run_topology(frame *f, const cutis_deform_call *call, cutis_stage_batch *batch)
{
    const cutis_binding *base = &f->binding->base;
    cutis_bounds *bounds = call->outputs->bounds;
    cutis_patches_report *reports = call->outputs->topology.reports;
    const uint32_t joints = f->binding->info.joint_count;
    TRY(emit(f));
    TRY(look_at_counts(f, call, batch));
    if (bounds)
        TRY(cutis_stage_find_bounds(base->device, &f->w->bounds,
                                    &f->targets[CUTIS_OUTPUT_POSITIONS], base->vertex_count,
                                    f->w->counts, f->count, bounds + batch->first));
    for (uint32_t i = 0; reports && i < f->count; i++)
        TRY(read_reports(f, i, reports + (size_t)(batch->first + i) * joints));
    return CUTIS_OK;
}

// All kernels that such a call launches, compiled together.
static cutis_result compile(const cutis_binding *base, const cutis_deform_call *call)
{
    const bool bends = patches_of(base)->arguments.whole, cuts = !bends;
    const bool origins = cutis_output_wanted(call, CUTIS_OUTPUT_ORIGINS);
    const bool sources = cutis_output_wanted(call, CUTIS_OUTPUT_SOURCE_VERTICES);
    const struct {
        const cutis_compute_kernel *kernel;
        bool wanted;
    } all[] = { { &cutis_compute_patch_parts, true },
                { &cutis_compute_patch_joints, true },
                { &cutis_compute_patch_bands, true },
                { &cutis_compute_patch_overlaps, true },
                { &cutis_compute_patch_bent, bends },
                { &cutis_compute_patch_bent_faces, bends },
                { &cutis_compute_patch_cut, cuts },
                { &cutis_compute_patch_rungs, cuts },
                { &cutis_compute_patch_cut_volume, cuts },
                { &cutis_compute_patch_solve, cuts },
                { &cutis_compute_patch_count, cuts },
                { &cutis_compute_patch_sum, cuts },
                { &cutis_compute_patch_vertices, cuts },
                { &cutis_compute_patch_faces, cuts },
                { &cutis_compute_patch_strips, cuts },
                { &cutis_compute_patch_rest,
                  cutis_output_wanted(call, CUTIS_OUTPUT_REST_POSITIONS) },
                { &cutis_compute_patch_origins, origins },
                { &cutis_compute_patch_no_origins, origins && cuts },
                { &cutis_compute_patch_vertex_sources, sources },
                { &cutis_compute_patch_joint_sources, sources && cuts },
                { &cutis_compute_stream_bounds, call->outputs->bounds != NULL } };
    const cutis_compute_kernel *kernels[sizeof all / sizeof *all];
    uint32_t count = 0;
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        if (all[k].wanted) kernels[count++] = all[k].kernel;
    return cutis_compute_prepare(base->device, kernels, count);
}

cutis_result cutis_patches_run(const cutis_binding *base, cutis_workspace *workspace,
                               const cutis_deform_call *call, cutis_stage_batch *batch)
{
    const patches_binding *binding = patches_of(base);
    patches_workspace *w = (patches_workspace *)workspace;
    cutis_target targets[CUTIS_OUTPUT_KINDS];
    memcpy(targets, batch->targets, sizeof targets);
    if (!w->compiled) TRY(compile(base, call));
    w->compiled = true;
    if (call->outputs->bounds) TRY(open_bounds(base, w, targets));
    TRY(set_poses(binding, w, call->poses, batch->first, batch->count));
    frame f = { .binding = binding,
                .w = w,
                .arguments = arguments_of(binding, call, targets),
                .targets = targets,
                .count = batch->count };
    TRY(solve(&f));
    TRY(place_rest(&f));
    if (targets[CUTIS_OUTPUT_POSITIONS].buffer) TRY(run_topology(&f, call, batch));
    return CUTIS_OK;
}

cutis_result cutis_patches_prepare(const cutis_binding *base, cutis_workspace *workspace,
                                   const cutis_deform_call *call, cutis_stage_batch *batch)
{
    TRY(compile(base, call));
    cutis_target targets[CUTIS_OUTPUT_KINDS];
    memcpy(targets, batch->targets, sizeof targets);
    if (!call->outputs->bounds) return CUTIS_OK;
    return open_bounds(base, (patches_workspace *)workspace, targets);
}
