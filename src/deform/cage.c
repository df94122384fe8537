// The method CAGE as a deformer. At bind: slots of controls and weights, and per vertex what its
// normal needs (docs/spec/reduction.md 5): the centre of its controls at rest, and Y n. Per frame:
// one kernel for positions and normals, one for vertices whose controls lie in a plane. Invariant:
// a frame allocates nothing; the same bits on every device.
#include <math.h>

#include <cutis/clip.h>

#include "base/error.h"
#include "base/memory.h"
#include "deform/deformer.h"
#include "device/compute/cage.h"
#include "device/compute/basic.h"
#include "geometry/order.h"
#include "math/mat3.h"

// Rest controls this flat (|Y n| against |Y|) do not define a normal (docs/spec/reduction.md 5).
static const double FLAT = 1e-9;
// Instances in one launch, and the bytes of their outputs.
enum { INSTANCES_MAX = 256 };
#define BATCH_BYTES (256u << 20)

typedef struct cage_binding {
    cutis_binding base;
    uint32_t control_count, slot_count;
    int vertex_stride, slot_stride;
    bool normals;
    cutis_buffer *slot_controls, *slot_weights, *centres, *rest_normals, *rest;
    cutis_buffer *face_first, *faces;
} cage_binding;

typedef struct cage_workspace {
    cutis_workspace base;
    cutis_buffer *posed; ///< controls of a batch
    cutis_buffer *thin;  ///< was a normal left to the faces?
    cutis_stage_bounds bounds;
} cage_workspace;

static const cage_binding *cage_of(const cutis_binding *binding)
{
    return (const cage_binding *)binding;
}

static cutis_result check_model(cutis_context *context, const cutis_model *model,
                                const cutis_bind_options *options)
{
    const cutis_model_data *data = cutis_model_get(model);
    const cutis_instance *instances;
    const uint32_t count = cutis_model_instances(model, &instances);
    if (!data->cage)
        return UNSUPPORTED(context, "bind: the model has no cage; cutis cage binds one");
    if (options->max_influences)
        return UNSUPPORTED(context,
                           "bind: cages are not cut to their largest weights; cutis reduce finds "
                           "fewer that deform alike");
    for (uint32_t i = 0; i < count; i++)
        if (!data->cage->meshes[instances[i].mesh].first)
            return UNSUPPORTED(context, "bind: mesh %u is not bound to the cage",
                               instances[i].mesh);
    return CUTIS_OK;
}

// Bind ------------------------------------------------------------------------------------------

// Arrays of the binding while they are made.
typedef struct drafts {
    int32_t *slot_controls, *faces;
    uint32_t *face_first;
    float *slot_weights, *centres, *normals;
    uint32_t face_count;
} drafts;

static size_t slot_at(const cage_binding *binding, uint32_t vertex, uint32_t slot)
{
    return (size_t)vertex * (size_t)binding->vertex_stride +
           (size_t)slot * (size_t)binding->slot_stride;
}

// Centre and scale of the squared weights, and the rest normal times Y, at unit length.
static void prepare_normal(const cutis_cage *cage, const cutis_cage_mesh *mesh, uint32_t v,
                           const float *rest_normal, float *centre, float *normal)
{
    double sum = 0, middle[3] = { 0 }, y[9] = { 0 }, n[3], q[3];
    for (uint32_t i = mesh->first[v]; i < mesh->first[v + 1]; i++) {
        const double w = (double)mesh->weights[i] * mesh->weights[i];
        sum += w;
        for (int c = 0; c < 3; c++) middle[c] += w * (&cage->controls[mesh->controls[i]].x)[c];
    }
    for (int c = 0; c < 3; c++) {
        middle[c] = sum > 0 ? middle[c] / sum : 0;
        centre[c] = (float)middle[c];
        n[c] = rest_normal[c];
    }
    for (uint32_t i = mesh->first[v]; i < mesh->first[v + 1]; i++) {
        const double w = (double)mesh->weights[i] * mesh->weights[i];
        double d[3];
        for (int c = 0; c < 3; c++) d[c] = (&cage->controls[mesh->controls[i]].x)[c] - middle[c];
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++) y[3 * r + c] += w * d[r] * d[c];
    }
    const double trace = y[0] + y[4] + y[8];
    double33_vector(y, n, q);
    const double length = sqrt(double3_dot(q, q));
    const bool flat = !(length > FLAT * sqrt(double33_square(y)));
    centre[3] = (float)(trace > 0 ? 1 / trace : 0);
    for (int c = 0; c < 3; c++) normal[c] = flat ? 0 : (float)(q[c] / length);
}

static void fill_slots(const cage_binding *binding, const float *normals, drafts *d)
{
    const cutis_cage *cage = cutis_model_get(binding->base.model)->cage;
    const cutis_instance *instances;
    const uint32_t count = cutis_model_instances(binding->base.model, &instances);
    for (uint32_t k = 0; k < count; k++) {
        const cutis_cage_mesh *mesh = &cage->meshes[instances[k].mesh];
        for (uint32_t v = 0; v < instances[k].vertex_count; v++) {
            const uint32_t vertex = instances[k].vertex_first + v, begin = mesh->first[v],
                           used = mesh->first[v + 1] - begin;
            for (uint32_t s = 0; s < binding->slot_count; s++) {
                const size_t at = slot_at(binding, vertex, s);
                d->slot_controls[at] = s < used ? (int32_t)mesh->controls[begin + s] : 0;
                d->slot_weights[at] = s < used ? mesh->weights[begin + s] : 0;
            }
            if (binding->normals)
                prepare_normal(cage, mesh, v, normals + 3 * (size_t)vertex,
                               d->centres + 4 * (size_t)vertex, d->normals + 3 * (size_t)vertex);
        }
    }
}

// Triangles around every vertex.
static bool list_faces(const cage_binding *binding, cutis_arena *arena, drafts *d)
{
    const uint32_t vertices = binding->base.vertex_count;
    const size_t corners = 3 * (size_t)cutis_model_triangle_count(binding->base.model);
    uint32_t *indices = cutis_arena_alloc(arena, corners, sizeof *indices);
    uint32_t *list = cutis_arena_alloc(arena, corners, sizeof *list);
    d->face_first = cutis_arena_alloc(arena, (size_t)vertices + 1, sizeof *d->face_first);
    d->faces = cutis_arena_alloc(arena, corners, 3 * sizeof *d->faces);
    if (!indices || !list || !d->face_first || !d->faces) return false;
    cutis_model_triangles(binding->base.model, indices);
    order_by_key(indices, corners, vertices, d->face_first, list);
    for (size_t i = 0; i < 3 * corners; i++)
        d->faces[i] = (int32_t)indices[list[i / 3] / 3 * 3 + i % 3];
    d->face_count = (uint32_t)corners;
    return true;
}

// World normals at rest: what linear blending makes of the node rest pose. On the host, whatever
// the device is: there and back again would cost more than it saves.
static cutis_result rest_normals(const cage_binding *binding, cutis_arena *arena, float **out)
{
    cutis_context *context = binding->base.context;
    const cutis_model *model = binding->base.model;
    const size_t vertices = binding->base.vertex_count;
    cutis_transform *local =
        cutis_arena_alloc(arena, cutis_model_get(model)->node_count, sizeof *local);
    float *positions = cutis_arena_alloc(arena, vertices, 3 * sizeof *positions);
    cutis_device *own = NULL, *host = binding->base.device;
    cutis_binding *linear = NULL;
    *out = cutis_arena_alloc(arena, vertices, 3 * sizeof **out);
    if (!local || !positions || !*out) return cutis_alloc_result(context);
    cutis_result result = CUTIS_OK;
    if (host->operations->staging_create) {
        result = cutis_device_create(context, &(cutis_device_options){ .thread_count = 1 }, &own);
        host = own;
    }
    if (result == CUTIS_OK)
        result = cutis_bind(host, model, &(cutis_bind_options){ .normals = true }, &linear);
    cutis_pose_rest(model, local, NULL);
    if (result == CUTIS_OK)
        result =
            cutis_deform(linear, &(cutis_poses){ .local = local }, 1,
                         &(cutis_outputs){ .positions.data = positions, .normals.data = *out });
    cutis_binding_destroy(linear);
    cutis_device_destroy(own);
    return result;
}

static cutis_result upload(cutis_binding *binding, const void *data, uint64_t size,
                           cutis_buffer **out)
{
    cutis_result result = cutis_buffer_create(binding->device, size ? size : 4, out);
    if (result == CUTIS_OK && size) result = cutis_buffer_write(*out, 0, data, size);
    binding->memory_bytes += size;
    return result;
}

static cutis_result fill_buffers(cage_binding *binding, cutis_arena *arena)
{
    const cutis_cage *cage = cutis_model_get(binding->base.model)->cage;
    const uint64_t vertices = binding->base.vertex_count, slots = vertices * binding->slot_count;
    const uint64_t with = binding->normals ? vertices : 0;
    drafts d = { 0 };
    float *normals = NULL;
    d.slot_controls = cutis_arena_alloc(arena, slots, sizeof *d.slot_controls);
    d.slot_weights = cutis_arena_alloc(arena, slots, sizeof *d.slot_weights);
    d.centres = cutis_arena_alloc(arena, with, 4 * sizeof *d.centres);
    d.normals = cutis_arena_alloc(arena, with, 3 * sizeof *d.normals);
    if (!d.slot_controls || !d.slot_weights || !d.centres || !d.normals)
        return cutis_alloc_result(binding->base.context);
    if (binding->normals) TRY(rest_normals(binding, arena, &normals));
    fill_slots(binding, normals, &d);
    if (binding->normals && !list_faces(binding, arena, &d))
        return cutis_alloc_result(binding->base.context);
    const struct {
        const void *data;
        uint64_t size;
        cutis_buffer **out;
    } all[] = { { d.slot_controls, 4 * slots, &binding->slot_controls },
                { d.slot_weights, 4 * slots, &binding->slot_weights },
                { d.centres, 16 * with, &binding->centres },
                { d.normals, 12 * with, &binding->rest_normals },
                { cage->controls, 12 * (uint64_t)cage->control_count, &binding->rest },
                { d.face_first, with ? 4 * (vertices + 1) : 0, &binding->face_first },
                { d.faces, 12 * (uint64_t)d.face_count, &binding->faces } };
    for (size_t b = 0; b < sizeof all / sizeof *all; b++)
        TRY(upload(&binding->base, all[b].data, all[b].size, all[b].out));
    return CUTIS_OK;
}

static void choose_capacity(cutis_binding *binding)
{
    uint64_t capacity = BATCH_BYTES / (24 * (uint64_t)binding->vertex_count + 1);
    if (!binding->device->operations->staging_create) capacity = 1 + capacity / 16;
    if (capacity > INSTANCES_MAX) capacity = INSTANCES_MAX;
    if (capacity < 1) capacity = 1;
    binding->capacity = (uint32_t)capacity;
    if (binding->options.instance_capacity && binding->options.instance_capacity < capacity)
        binding->capacity = binding->options.instance_capacity;
}

static cutis_result bind(cutis_binding *base)
{
    cage_binding *binding = (cage_binding *)base;
    const cutis_cage *cage = cutis_model_get(base->model)->cage;
    const bool gpu = base->device->operations->staging_create != NULL;
    cutis_arena arena = { .context = base->context };
    base->vertex_count = cutis_model_vertex_count(base->model);
    binding->control_count = cage->control_count;
    binding->slot_count = 1;
    binding->normals = base->options.normals;
    for (uint32_t m = 0; m < cage->mesh_count; m++)
        for (uint32_t v = 0; cage->meshes[m].first && v < cage->meshes[m].vertex_count; v++) {
            uint32_t count = cage->meshes[m].first[v + 1] - cage->meshes[m].first[v];
            if (count > binding->slot_count) binding->slot_count = count;
        }
    // A GPU wants the slots of neighbours side by side, a CPU those of a vertex.
    binding->vertex_stride = gpu ? 1 : (int)binding->slot_count;
    binding->slot_stride = gpu ? (int)base->vertex_count : 1;
    choose_capacity(base);
    cutis_result result = fill_buffers(binding, &arena);
    cutis_arena_release(&arena);
    return result;
}

static void destroy(cutis_binding *base)
{
    cage_binding *binding = (cage_binding *)base;
    cutis_buffer *all[] = { binding->slot_controls, binding->slot_weights, binding->centres,
                            binding->rest_normals,  binding->rest,         binding->face_first,
                            binding->faces };
    for (size_t b = 0; b < sizeof all / sizeof *all; b++) cutis_buffer_destroy(all[b]);
}

static void describe(const cutis_binding *binding, cutis_binding_info *info)
{
    info->bone_count = cage_of(binding)->control_count;
    info->max_influences = cage_of(binding)->slot_count;
}

static cutis_result workspace_create(cutis_binding *binding, cutis_workspace *base)
{
    cage_workspace *workspace = (cage_workspace *)base;
    const uint64_t posed = 12ull * cage_of(binding)->control_count * binding->capacity;
    cutis_result result =
        cutis_buffer_create(binding->device, posed ? posed : 4, &workspace->posed);
    if (result == CUTIS_OK) result = cutis_buffer_create(binding->device, 4, &workspace->thin);
    binding->memory_bytes += posed;
    return result;
}

static void workspace_destroy(cutis_binding *binding, cutis_workspace *base)
{
    cage_workspace *workspace = (cage_workspace *)base;
    cutis_buffer_destroy(workspace->posed);
    cutis_buffer_destroy(workspace->thin);
    cutis_stage_bounds_destroy(binding->device, &workspace->bounds);
}

// Frames ----------------------------------------------------------------------------------------

static cutis_result check_call(const cutis_binding *binding, cutis_deform_call *call)
{
    return call->poses ? cutis_poses_check(binding, call, 0, cage_of(binding)->control_count)
                       : CUTIS_OK;
}

// Kernels take offsets as ints.
static bool is_reachable(const cutis_target *t, uint32_t count)
{
    return !t->buffer || t->first + t->step * count < INT32_MAX;
}

// Do instances follow each other, so that one launch does all of them?
static bool is_packed(const cutis_binding *binding, const cutis_target *t)
{
    return !t->buffer || t->step == binding->vertex_count * t->stride;
}

// `count` instances from `at` on in one launch of each kernel.
static cutis_result launch(const cage_binding *binding, const cage_workspace *workspace,
                           const cutis_target *positions, const cutis_target *normals, uint32_t at,
                           uint32_t count)
{
    cutis_device *device = binding->base.device;
    const uint32_t vertices = binding->base.vertex_count;
    const int position_first = (int)(positions->first + positions->step * at);
    const int normal_first = (int)(normals->first + normals->step * at);
    TRY(cage_deform_run(
        device, vertices * count,
        (cage_deform_buffers){ .slot_controls = binding->slot_controls,
                               .slot_weights = binding->slot_weights,
                               .centres = binding->centres,
                               .rest_normals = binding->rest_normals,
                               .rest = binding->rest,
                               .posed = workspace->posed,
                               .positions = positions->buffer,
                               .normals = normals->buffer,
                               .thin = workspace->thin },
        (cage_deform_arguments){ .vertex_count = (int)vertices,
                                 .slot_count = (int)binding->slot_count,
                                 .control_count = (int)binding->control_count,
                                 .vertex_stride = binding->vertex_stride,
                                 .slot_stride = binding->slot_stride,
                                 .posed_first = (int)(3 * binding->control_count * at),
                                 .position_first = position_first,
                                 .position_stride = (int)positions->stride,
                                 .normal_first = normal_first,
                                 .normal_stride = (int)normals->stride,
                                 .with_normals = normals->buffer != NULL }));
    if (!normals->buffer) return CUTIS_OK;
    return cage_face_normals_run(
        device, vertices * count,
        (cage_face_normals_buffers){ .thin = workspace->thin,
                                     .face_first = binding->face_first,
                                     .faces = binding->faces,
                                     .positions = positions->buffer,
                                     .normals = normals->buffer },
        (cage_face_normals_arguments){ .vertex_count = (int)vertices,
                                       .position_first = position_first,
                                       .position_stride = (int)positions->stride,
                                       .normal_first = normal_first,
                                       .normal_stride = (int)normals->stride });
}

static cutis_result run(const cutis_binding *base, cutis_workspace *workspace,
                        const cutis_deform_call *call, cutis_stage_batch *batch)
{
    static const int32_t ZERO = 0;
    const cage_binding *binding = cage_of(base);
    cage_workspace *w = (cage_workspace *)workspace;
    const uint32_t count = batch->count;
    cutis_target positions = batch->targets[CUTIS_OUTPUT_POSITIONS];
    const cutis_target *normals = &batch->targets[CUTIS_OUTPUT_NORMALS];
    cutis_bounds *bounds = call->outputs->bounds;
    if (bounds)
        TRY(cutis_stage_open_bounds(base->device, &w->bounds, base->vertex_count, base->capacity,
                                    &positions));
    if (!is_reachable(&positions, count) || !is_reachable(normals, count) ||
        (uint64_t)base->vertex_count * count > INT32_MAX)
        return UNSUPPORTED(base->context, "deform: cages reach 8 GiB into a buffer");
    TRY(cutis_buffer_write(w->posed, 0,
                           call->poses->controls + (size_t)batch->first * binding->control_count,
                           12ull * binding->control_count * count));
    TRY(cutis_buffer_write(w->thin, 0, &ZERO, sizeof ZERO));
    const bool whole = is_packed(base, &positions) && is_packed(base, normals);
    for (uint32_t i = 0; i < count; i += whole ? count : 1)
        TRY(launch(binding, w, &positions, normals, i, whole ? count : 1));
    if (bounds)
        TRY(cutis_stage_find_bounds(base->device, &w->bounds, &positions, base->vertex_count, NULL,
                                    count, bounds + batch->first));
    return CUTIS_OK;
}

static cutis_result prepare(const cutis_binding *base, cutis_workspace *workspace,
                            const cutis_deform_call *call, cutis_stage_batch *batch)
{
    cutis_target positions = batch->targets[CUTIS_OUTPUT_POSITIONS];
    cutis_device *device = base->device;
    const cutis_compute_kernel *kernels[3] = { &cutis_compute_cage_deform };
    uint32_t count = 1;
    if (batch->targets[CUTIS_OUTPUT_NORMALS].buffer)
        kernels[count++] = &cutis_compute_cage_face_normals;
    if (call->outputs->bounds) kernels[count++] = &cutis_compute_stream_bounds;
    TRY(cutis_compute_prepare(device, kernels, count));
    if (!call->outputs->bounds) return CUTIS_OK;
    return cutis_stage_open_bounds(device, &((cage_workspace *)workspace)->bounds,
                                   base->vertex_count, base->capacity, &positions);
}

const cutis_deformer cutis_cage_deformer = {
    .binding_size = sizeof(cage_binding),
    .workspace_size = sizeof(cage_workspace),
    .check = check_model,
    .bind = bind,
    .destroy = destroy,
    .describe = describe,
    .workspace_create = workspace_create,
    .workspace_destroy = workspace_destroy,
    .check_call = check_call,
    .run = run,
    .prepare = prepare,
};
