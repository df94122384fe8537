// The method CAGE. At bind: slots of controls and weights, and per vertex what its normal needs
// (spec 5): the centre of its controls at rest, and Y n. Per frame: one kernel for positions and
// normals, one for vertices whose controls lie in a plane, one for bounds. Invariant: a frame
// allocates nothing; the same bits on every device.
#include "deform/cage.h"

#include <math.h>
#include <string.h>

#include <cutis/clip.h>

#include "base/error.h"
#include "base/memory.h"
#include "device/compute/cage.h"
#include "math/mat3.h"

// Rest controls this flat (|Y n| against |Y|) do not define a normal (spec 5).
static const double FLAT = 1e-9;
// Vertices of one item of the bounds kernel.
enum { STRETCH = 1024 };
// Staging memory of one workspace on a GPU, and instances in one launch.
#define STAGING_BYTES (256u << 20)
enum { INSTANCES_MAX = 256 };

enum { SLOT_CONTROLS, SLOT_WEIGHTS, CENTRES, NORMALS, REST, FACE_FIRST, FACES, BOUND };

typedef struct cutis_cage_play {
    uint32_t control_count, slot_count, stretch_count;
    int32_t vertex_stride, slot_stride;
    bool gpu, normals;
    cutis_buffer *buffers[BOUND];
} cutis_cage_play;

enum { POSED, THIN, POSITIONS_OUT, NORMALS_OUT, BOUNDS_OUT, STAGED };

typedef struct cutis_cage_work {
    cutis_buffer *buffers[STAGED];
    float *host;   ///< GPU: what streams with gaps are copied through, vertex_count * 3
    float *bounds; ///< 6 per stretch
} cutis_cage_work;

cutis_result cutis_cage_check(cutis_context *context, const cutis_model *model,
                              const cutis_bind_options *options)
{
    const cutis_model_data *data = cutis_model_get(model);
    const cutis_instance *instances;
    const uint32_t count = cutis_model_instances(model, &instances);
    if (options->method != CUTIS_METHOD_CAGE) return CUTIS_OK;
    if (!data->cage)
        return cutis_fail(context, CUTIS_UNSUPPORTED,
                          "bind: the model has no cage; cutis cage binds one");
    if (options->tangents || options->raw_normals)
        return cutis_fail(context, CUTIS_UNSUPPORTED,
                          "bind: a cage gives unit normals and no tangents");
    if (options->max_influences)
        return cutis_fail(context, CUTIS_UNSUPPORTED,
                          "bind: cages are not cut to their largest weights; cutis reduce finds "
                          "fewer that deform alike");
    for (uint32_t i = 0; i < count; i++)
        if (!data->cage->meshes[instances[i].mesh].first)
            return cutis_fail(context, CUTIS_UNSUPPORTED, "bind: mesh %u is not bound to the cage",
                              instances[i].mesh);
    return CUTIS_OK;
}

// Bind ------------------------------------------------------------------------------------------

// Arrays of the binding while they are made.
typedef struct drafts {
    int32_t *slot_controls, *face_first, *faces;
    float *slot_weights, *centres, *normals;
    uint32_t face_count;
} drafts;

static size_t slot_at(const cutis_cage_play *play, uint32_t vertex, uint32_t slot)
{
    return (size_t)vertex * (size_t)play->vertex_stride + (size_t)slot * (size_t)play->slot_stride;
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

static void fill_slots(cutis_binding *binding, const cutis_cage_play *play, const float *normals,
                       drafts *d)
{
    const cutis_cage *cage = cutis_model_get(binding->model)->cage;
    const cutis_instance *instances;
    const uint32_t count = cutis_model_instances(binding->model, &instances);
    for (uint32_t k = 0; k < count; k++) {
        const cutis_cage_mesh *mesh = &cage->meshes[instances[k].mesh];
        for (uint32_t v = 0; v < instances[k].vertex_count; v++) {
            const uint32_t vertex = instances[k].vertex_first + v, begin = mesh->first[v],
                           used = mesh->first[v + 1] - begin;
            for (uint32_t s = 0; s < play->slot_count; s++) {
                const size_t at = slot_at(play, vertex, s);
                d->slot_controls[at] = s < used ? (int32_t)mesh->controls[begin + s] : 0;
                d->slot_weights[at] = s < used ? mesh->weights[begin + s] : 0;
            }
            if (play->normals)
                prepare_normal(cage, mesh, v, normals + 3 * (size_t)vertex,
                               d->centres + 4 * (size_t)vertex, d->normals + 3 * (size_t)vertex);
        }
    }
}

// Triangles around every vertex.
static bool list_faces(cutis_binding *binding, cutis_arena *arena, drafts *d)
{
    const uint32_t vertices = binding->layout.vertex_count;
    const size_t corners = 3 * (size_t)cutis_model_triangle_count(binding->model);
    uint32_t *indices = cutis_arena_alloc(arena, corners, sizeof *indices);
    int32_t *next = cutis_arena_alloc(arena, (size_t)vertices + 1, sizeof *next);
    d->face_first = cutis_arena_alloc(arena, (size_t)vertices + 1, sizeof *d->face_first);
    d->faces = cutis_arena_alloc(arena, corners, 3 * sizeof *d->faces);
    if (!indices || !next || !d->face_first || !d->faces) return false;
    cutis_model_triangles(binding->model, indices);
    memset(d->face_first, 0, ((size_t)vertices + 1) * sizeof *d->face_first);
    for (size_t i = 0; i < corners; i++) d->face_first[indices[i] + 1]++;
    for (uint32_t v = 0; v < vertices; v++) d->face_first[v + 1] += d->face_first[v];
    memcpy(next, d->face_first, ((size_t)vertices + 1) * sizeof *next);
    for (size_t i = 0; i < corners; i++) {
        int32_t *face = d->faces + 3 * (size_t)next[indices[i]]++;
        for (size_t c = 0; c < 3; c++) face[c] = (int32_t)indices[i / 3 * 3 + c];
    }
    d->face_count = (uint32_t)corners;
    return true;
}

// World normals at rest: what linear blending makes of the node rest pose.
static cutis_result rest_normals(cutis_binding *binding, cutis_arena *arena, float **out)
{
    const uint32_t nodes = cutis_model_get(binding->model)->node_count;
    const size_t vertices = binding->layout.vertex_count;
    cutis_transform *local = cutis_arena_alloc(arena, nodes, sizeof *local);
    float *positions = cutis_arena_alloc(arena, vertices, 3 * sizeof *positions);
    cutis_binding *linear = NULL;
    *out = cutis_arena_alloc(arena, vertices, 3 * sizeof **out);
    if (!local || !positions || !*out) return cutis_alloc_result(binding->context);
    cutis_result result = cutis_bind(binding->device, binding->model,
                                     &(cutis_bind_options){ .normals = true }, &linear);
    cutis_pose_rest(binding->model, local, NULL);
    if (result == CUTIS_OK)
        result =
            cutis_deform(linear, &(cutis_poses){ .local = local }, 1,
                         &(cutis_outputs){ .positions.data = positions, .normals.data = *out });
    cutis_binding_destroy(linear);
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

static cutis_result make_play(cutis_binding *binding, cutis_arena *arena, cutis_cage_play *play)
{
    const cutis_cage *cage = cutis_model_get(binding->model)->cage;
    const uint64_t vertices = binding->layout.vertex_count, slots = vertices * play->slot_count;
    drafts d = { 0 };
    float *normals = NULL;
    d.slot_controls = cutis_arena_alloc(arena, slots, sizeof *d.slot_controls);
    d.slot_weights = cutis_arena_alloc(arena, slots, sizeof *d.slot_weights);
    d.centres = cutis_arena_alloc(arena, play->normals ? vertices : 0, 4 * sizeof *d.centres);
    d.normals = cutis_arena_alloc(arena, play->normals ? vertices : 0, 3 * sizeof *d.normals);
    if (!d.slot_controls || !d.slot_weights || !d.centres || !d.normals)
        return cutis_alloc_result(binding->context);
    cutis_result result = play->normals ? rest_normals(binding, arena, &normals) : CUTIS_OK;
    if (result != CUTIS_OK) return result;
    fill_slots(binding, play, normals, &d);
    if (play->normals && !list_faces(binding, arena, &d))
        return cutis_alloc_result(binding->context);
    const uint64_t with = play->normals ? vertices : 0;
    const struct {
        const void *data;
        uint64_t size;
    } contents[BOUND] = { { d.slot_controls, 4 * slots },
                          { d.slot_weights, 4 * slots },
                          { d.centres, 16 * with },
                          { d.normals, 12 * with },
                          { cage->controls, 12 * (uint64_t)cage->control_count },
                          { d.face_first, with ? 4 * (vertices + 1) : 0 },
                          { d.faces, 12 * (uint64_t)d.face_count } };
    for (int b = 0; b < BOUND && result == CUTIS_OK; b++)
        result = upload(binding, contents[b].data, contents[b].size, &play->buffers[b]);
    return result;
}

static cutis_result make_work(cutis_binding *binding, const cutis_cage_play *play,
                              cutis_cage_work *work)
{
    const uint64_t vertices = binding->layout.vertex_count, capacity = binding->capacity;
    const uint64_t staged = 12 * vertices * capacity;
    // The CPU needs room for positions too: bounds alone may be asked for.
    const uint64_t sizes[STAGED] = { 12 * (uint64_t)play->control_count * capacity, 4, staged,
                                     play->gpu && play->normals ? staged : 4,
                                     24 * (uint64_t)play->stretch_count };
    cutis_result result = CUTIS_OK;
    for (int b = 0; b < STAGED && result == CUTIS_OK; b++) {
        result = cutis_buffer_create(binding->device, sizes[b] ? sizes[b] : 4, &work->buffers[b]);
        binding->memory_bytes += sizes[b];
    }
    work->bounds = cutis_binding_alloc(binding, play->stretch_count, 6 * sizeof *work->bounds);
    work->host = cutis_binding_alloc(binding, play->gpu ? vertices : 0, 3 * sizeof *work->host);
    if (result == CUTIS_OK && (!work->bounds || !work->host))
        result = cutis_alloc_result(binding->context);
    return result;
}

static cutis_result make_workspaces(cutis_binding *binding, const cutis_cage_play *play)
{
    const uint64_t bytes = 24 * (uint64_t)binding->layout.vertex_count + 1;
    const uint32_t calls =
        binding->options.concurrent_calls ? binding->options.concurrent_calls : 1;
    uint64_t capacity = STAGING_BYTES / bytes;
    if (!play->gpu) capacity = 1 + capacity / 16;
    if (capacity > INSTANCES_MAX) capacity = INSTANCES_MAX;
    if (capacity < 1) capacity = 1;
    binding->capacity = (uint32_t)capacity;
    if (binding->options.instance_capacity && binding->options.instance_capacity < capacity)
        binding->capacity = binding->options.instance_capacity;
    binding->workspaces = cutis_binding_alloc(binding, calls, sizeof *binding->workspaces);
    if (!binding->workspaces) return cutis_alloc_result(binding->context);
    cutis_result result = CUTIS_OK;
    for (uint32_t i = 0; i < calls && result == CUTIS_OK; i++) {
        cutis_workspace *workspace = &binding->workspaces[i];
        workspace->cage = cutis_binding_alloc(binding, 1, sizeof *workspace->cage);
        binding->workspace_count = i + 1;
        result = workspace->cage ? make_work(binding, play, workspace->cage)
                                 : cutis_alloc_result(binding->context);
        atomic_flag_clear(&workspace->busy);
    }
    return result;
}

cutis_result cutis_cage_open(cutis_binding *binding)
{
    const cutis_cage *cage = cutis_model_get(binding->model)->cage;
    const uint32_t vertices = binding->layout.vertex_count;
    cutis_cage_play *play = cutis_binding_alloc(binding, 1, sizeof *play);
    cutis_arena arena = { .context = binding->context };
    if (!play) return cutis_alloc_result(binding->context);
    binding->cage = play;
    play->control_count = cage->control_count;
    play->slot_count = 1;
    play->normals = binding->layout.normal_rule != CUTIS_NORMAL_NONE;
    play->gpu = binding->device->operations->compute_run != NULL;
    play->stretch_count = vertices / STRETCH + 1;
    for (uint32_t m = 0; m < cage->mesh_count; m++)
        for (uint32_t v = 0; cage->meshes[m].first && v < cage->meshes[m].vertex_count; v++) {
            uint32_t count = cage->meshes[m].first[v + 1] - cage->meshes[m].first[v];
            if (count > play->slot_count) play->slot_count = count;
        }
    // A GPU wants the slots of neighbours side by side, a CPU those of a vertex.
    play->vertex_stride = play->gpu ? 1 : (int32_t)play->slot_count;
    play->slot_stride = play->gpu ? (int32_t)vertices : 1;
    binding->bone_count = play->control_count;
    binding->max_influences = play->slot_count;
    cutis_result result = make_play(binding, &arena, play);
    cutis_arena_release(&arena);
    return result == CUTIS_OK ? make_workspaces(binding, play) : result;
}

void cutis_cage_close(cutis_binding *binding)
{
    if (!binding->cage) return;
    for (int b = 0; b < BOUND; b++) cutis_buffer_destroy(binding->cage->buffers[b]);
    for (uint32_t i = 0; i < binding->workspace_count; i++)
        for (int b = 0; binding->workspaces[i].cage && b < STAGED; b++)
            cutis_buffer_destroy(binding->workspaces[i].cage->buffers[b]);
}

// Frames ----------------------------------------------------------------------------------------

// A stream as a kernel sees it: a buffer, and floats from its start and from vertex to vertex.
typedef struct target {
    cutis_buffer own; ///< host memory as a buffer of the CPU device
    const cutis_buffer *buffer;
    uint64_t first;
    uint32_t stride;
    uint64_t between; ///< floats from instance to instance
    bool staged;      ///< goes to the caller's memory afterwards
} target;

static void aim(const cutis_binding *binding, const cutis_skin_stream *stream,
                const cutis_buffer *staging, bool needed, target *out)
{
    const uint64_t plane = 3 * (uint64_t)binding->layout.vertex_count;
    *out = (target){ .stride = 3, .between = plane };
    if (stream->buffer || (stream->data && !binding->cage->gpu)) {
        out->own = (cutis_buffer){ .device = binding->device,
                                   .size = UINT64_MAX,
                                   .handle = (uint64_t)(uintptr_t)stream->data };
        out->buffer = stream->buffer ? stream->buffer : &out->own;
        out->first = stream->buffer ? stream->offset / 4 : 0;
        out->stride = stream->stride / 4;
        out->between = stream->instance_stride / 4;
    } else if (stream->data || needed) {
        out->buffer = staging;
        out->staged = stream->data != NULL;
    }
}

static bool even(const cutis_binding *binding, const target *t)
{
    return !t->buffer || t->between == (uint64_t)binding->layout.vertex_count * t->stride;
}

typedef struct frame_run {
    const cutis_binding *binding;
    cutis_cage_work *work;
    target positions, normals, previous;
} frame_run;

// Kernels take offsets as ints.
static bool reachable(const target *t, uint32_t count)
{
    return !t->buffer || t->first + t->between * count < INT32_MAX;
}

// `count` instances from `at` in one launch of each kernel.
static cutis_result launch(const frame_run *r, uint32_t at, uint32_t count)
{
    const cutis_cage_play *play = r->binding->cage;
    const uint32_t vertices = r->binding->layout.vertex_count;
    const int position_first = (int)(r->positions.first + r->positions.between * at),
              normal_first = (int)(r->normals.first + r->normals.between * at);
    cutis_device *device = r->binding->device;
    cutis_result result =
        cage_deform_run(device, vertices * count,
                        (cage_deform_buffers){ .slot_controls = play->buffers[SLOT_CONTROLS],
                                               .slot_weights = play->buffers[SLOT_WEIGHTS],
                                               .centres = play->buffers[CENTRES],
                                               .rest_normals = play->buffers[NORMALS],
                                               .rest = play->buffers[REST],
                                               .posed = r->work->buffers[POSED],
                                               .positions = r->positions.buffer,
                                               .normals = r->normals.buffer,
                                               .previous = r->previous.buffer,
                                               .thin = r->work->buffers[THIN] },
                        (cage_deform_arguments){
                            .vertex_count = (int)vertices,
                            .slot_count = (int)play->slot_count,
                            .control_count = (int)play->control_count,
                            .vertex_stride = play->vertex_stride,
                            .slot_stride = play->slot_stride,
                            .posed_first = (int)(3 * play->control_count * at),
                            .position_first = position_first,
                            .position_stride = (int)r->positions.stride,
                            .normal_first = normal_first,
                            .normal_stride = (int)r->normals.stride,
                            .previous_first = (int)(r->previous.first + r->previous.between * at),
                            .previous_stride = (int)r->previous.stride,
                            .with_normals = r->normals.buffer != NULL,
                            .with_previous = r->previous.buffer != NULL,
                        });
    if (result != CUTIS_OK || !r->normals.buffer) return result;
    return cage_face_normals_run(
        device, vertices * count,
        (cage_face_normals_buffers){ .thin = r->work->buffers[THIN],
                                     .face_first = play->buffers[FACE_FIRST],
                                     .faces = play->buffers[FACES],
                                     .positions = r->positions.buffer,
                                     .normals = r->normals.buffer },
        (cage_face_normals_arguments){ .vertex_count = (int)vertices,
                                       .position_first = position_first,
                                       .position_stride = (int)r->positions.stride,
                                       .normal_first = normal_first,
                                       .normal_stride = (int)r->normals.stride });
}

static cutis_result find_bounds(const frame_run *r, uint32_t count, cutis_bounds *out)
{
    const cutis_cage_play *play = r->binding->cage;
    cutis_result result = CUTIS_OK;
    for (uint32_t i = 0; i < count && result == CUTIS_OK; i++) {
        result = cage_bounds_run(
            r->binding->device, play->stretch_count,
            (cage_bounds_buffers){ .positions = r->positions.buffer,
                                   .out = r->work->buffers[BOUNDS_OUT] },
            (cage_bounds_arguments){ .vertex_count = (int)r->binding->layout.vertex_count,
                                     .stretch = STRETCH,
                                     .position_first =
                                         (int)(r->positions.first + r->positions.between * i),
                                     .position_stride = (int)r->positions.stride });
        if (result == CUTIS_OK)
            result = cutis_buffer_read(r->work->buffers[BOUNDS_OUT], 0, r->work->bounds,
                                       24 * (uint64_t)play->stretch_count);
        float low[3] = { INFINITY, INFINITY, INFINITY },
              high[3] = { -INFINITY, -INFINITY, -INFINITY };
        for (uint32_t s = 0; s < play->stretch_count; s++)
            for (int c = 0; c < 3; c++) {
                low[c] = fminf(low[c], r->work->bounds[6 * s + c]);
                high[c] = fmaxf(high[c], r->work->bounds[6 * s + 3 + c]);
            }
        out[i] = (cutis_bounds){ { low[0], low[1], low[2] }, { high[0], high[1], high[2] } };
    }
    return result;
}

static char *stream_at(const cutis_skin_stream *stream, uint32_t instance, uint32_t vertex)
{
    return (char *)stream->data + stream->instance_stride * instance +
           (uint64_t)stream->stride * vertex;
}

// From staging to the caller's memory, instance by instance.
static cutis_result deliver(const frame_run *r, const target *t, const cutis_skin_stream *stream,
                            uint32_t count)
{
    const uint32_t vertices = r->binding->layout.vertex_count;
    const uint64_t size = 12 * (uint64_t)vertices;
    cutis_result result = CUTIS_OK;
    for (uint32_t i = 0; t->staged && i < count && result == CUTIS_OK; i++) {
        const bool tight = stream->stride == 12;
        result = cutis_buffer_read((cutis_buffer *)t->buffer, size * i,
                                   tight ? (void *)stream_at(stream, i, 0) : r->work->host, size);
        for (uint32_t v = 0; v < vertices && !tight && result == CUTIS_OK; v++)
            memcpy(stream_at(stream, i, v), r->work->host + 3 * (size_t)v, 12);
    }
    return result;
}

// What the caller's positions hold now, before they change (host memory on a GPU).
static void keep_previous(const cutis_binding *binding, const cutis_skin_outputs *outputs,
                          uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t v = 0; v < binding->layout.vertex_count; v++)
            memcpy(stream_at(&outputs->previous, i, v), stream_at(&outputs->positions, i, v), 12);
}

cutis_result cutis_cage_frames(const cutis_binding *binding, cutis_workspace *workspace,
                               const cutis_poses *poses, uint32_t first, uint32_t count,
                               const cutis_skin_outputs *outputs)
{
    const cutis_cage_play *play = binding->cage;
    const uint64_t pose = 12 * (uint64_t)play->control_count;
    frame_run r = { .binding = binding, .work = workspace->cage };
    static const int32_t ZERO = 0;
    aim(binding, &outputs->positions, r.work->buffers[POSITIONS_OUT], true, &r.positions);
    aim(binding, &outputs->normals, r.work->buffers[NORMALS_OUT], false, &r.normals);
    const bool host_previous = play->gpu && outputs->previous.data && outputs->positions.data;
    if (play->gpu && !host_previous && outputs->previous.data)
        return cutis_fail(binding->context, CUTIS_UNSUPPORTED,
                          "deform: positions and previous positions go both to host memory or both "
                          "to buffers");
    if (host_previous)
        keep_previous(binding, outputs, count);
    else
        aim(binding, &outputs->previous, NULL, false, &r.previous);
    if (!reachable(&r.positions, count) || !reachable(&r.normals, count) ||
        !reachable(&r.previous, count) ||
        (uint64_t)binding->layout.vertex_count * count > INT32_MAX)
        return cutis_fail(binding->context, CUTIS_UNSUPPORTED,
                          "deform: cages reach 8 GiB into a buffer");
    cutis_result result =
        cutis_buffer_write(r.work->buffers[POSED], 0,
                           poses->controls + (size_t)first * play->control_count, pose * count);
    if (result == CUTIS_OK) result = cutis_buffer_write(r.work->buffers[THIN], 0, &ZERO, 4);
    const bool whole =
        even(binding, &r.positions) && even(binding, &r.normals) && even(binding, &r.previous);
    for (uint32_t i = 0; i < count && result == CUTIS_OK; i += whole ? count : 1)
        result = launch(&r, i, whole ? count : 1);
    if (result == CUTIS_OK && outputs->bounds) result = find_bounds(&r, count, outputs->bounds);
    if (result == CUTIS_OK) result = deliver(&r, &r.positions, &outputs->positions, count);
    if (result == CUTIS_OK) result = deliver(&r, &r.normals, &outputs->normals, count);
    return result;
}
