/// The outputs of deform. A mesh frame is a model of its own: one node per mesh instance, the
/// deformed vertices, the faces and materials of the source, no skin.
#include "sink.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct frame_sink {
    cli_app *app;
    const cutis_model *model;
    sink_options options;
    uint32_t vertex_count, added;
    cutis_frame_writer *writer; // arrays
    float *frames;              // glTF: frame_count * (positions, normals)
    uint32_t written;           // numbered files so far
};

bool sink_is_array(const char *path)
{
    return has_extension(path, ".npy .pc2");
}

bool sink_is_mesh(const char *path)
{
    return has_extension(path, ".obj .ply .stl .gltf .glb");
}

static bool is_gltf(const char *path)
{
    return has_extension(path, ".gltf .glb");
}

// All of it is borrowed by cutis_model_create for the call.
typedef struct scratch {
    memory_list memory;
    cutis_node *nodes;
    cutis_mesh *meshes;
    cutis_primitive *primitives;
    cutis_morph_target *targets; // primitives * (frames - 1)
    cutis_channel *channels;
    float *times, *values;
    uint32_t *corners; // 3 a triangle, as they turn in the world
} scratch;

static bool scratch_allocate(scratch *s, uint32_t instances, size_t primitives, size_t frames,
                             size_t triangles)
{
    s->nodes = memory_take(&s->memory, instances, sizeof *s->nodes);
    s->meshes = memory_take(&s->memory, instances, sizeof *s->meshes);
    s->primitives = memory_take(&s->memory, primitives, sizeof *s->primitives);
    s->channels = memory_take(&s->memory, instances, sizeof *s->channels);
    s->targets = memory_take(&s->memory, frames, (primitives + 1) * sizeof *s->targets);
    s->times = memory_take(&s->memory, frames, sizeof *s->times);
    s->values = memory_take(&s->memory, frames * frames, sizeof *s->values);
    s->corners = memory_take(&s->memory, triangles + 1, 3 * sizeof *s->corners);
    return !s->memory.failed;
}

// `frames` holds per frame the positions, then the normals; frames after the first are already
// differences to it.
static void fill_primitive(const frame_sink *sink, const float *frames, uint32_t frame_count,
                           size_t first, cutis_morph_target *targets, cutis_primitive *primitive)
{
    size_t plane = 3 * (size_t)sink->vertex_count;
    primitive->positions = frames + 3 * first;
    primitive->normals = frames + plane + 3 * first;
    primitive->tangents = NULL;
    primitive->influences = (cutis_influences){ 0 };
    primitive->targets = frame_count > 1 ? targets : NULL;
    for (uint32_t f = 1; f < frame_count; f++) {
        targets[f - 1].positions = frames + 2 * plane * f + 3 * first;
        targets[f - 1].normals = frames + 2 * plane * f + plane + 3 * first;
    }
}

static void fill_instance(const frame_sink *sink, const cutis_instance *instance, uint32_t index,
                          const float *frames, uint32_t frame_count, size_t *next, size_t *corner,
                          scratch *s)
{
    const cutis_model_data *data = cutis_model_get(sink->model);
    const cutis_mesh *mesh = &data->meshes[instance->mesh];
    size_t vertex = instance->vertex_first;
    s->nodes[index] = (cutis_node){ .name = data->nodes[instance->node].name,
                                    .parent = CUTIS_NONE,
                                    .rest = cutis_transform_identity(),
                                    .mesh = (int32_t)index,
                                    .skin = CUTIS_NONE };
    s->meshes[index] = *mesh;
    s->meshes[index].primitives = s->primitives + *next;
    s->meshes[index].target_count = frame_count - 1;
    s->meshes[index].target_names = NULL;
    s->meshes[index].target_weights = NULL;
    for (uint32_t p = 0; p < mesh->primitive_count; p++, (*next)++) {
        cutis_primitive *own = &s->primitives[*next];
        *own = mesh->primitives[p];
        if (own->topology == CUTIS_TOPOLOGY_TRIANGLES) {
            for (uint32_t k = 0; k < own->index_count; k++)
                s->corners[*corner + k] -= (uint32_t)vertex;
            own->indices = s->corners + *corner;
            *corner += own->index_count;
        }
        fill_primitive(sink, frames, frame_count, vertex, s->targets + *next * (frame_count - 1),
                       &s->primitives[*next]);
        vertex += mesh->primitives[p].vertex_count;
    }
    s->channels[index] = (cutis_channel){ .node = index,
                                          .path = CUTIS_PATH_WEIGHTS,
                                          .key_count = frame_count,
                                          .times = s->times,
                                          .values = s->values };
}

static cutis_result make_model(const frame_sink *sink, const float *frames, uint32_t frame_count,
                               cutis_model **out)
{
    const cutis_model_data *source = cutis_model_get(sink->model);
    const cutis_instance *instances;
    uint32_t instance_count = cutis_model_instances(sink->model, &instances);
    size_t primitive_count = 0, next = 0, corner = 0;
    scratch s = { 0 };
    for (uint32_t i = 0; i < instance_count; i++)
        primitive_count += source->meshes[instances[i].mesh].primitive_count;
    cutis_result result = CUTIS_OUT_OF_MEMORY;
    if (!scratch_allocate(&s, instance_count, primitive_count, frame_count,
                          (size_t)cutis_model_triangle_count(sink->model)))
        goto done;
    cutis_model_triangles(sink->model, s.corners);
    for (uint32_t f = 0; f < frame_count; f++) {
        s.times[f] = (float)(f / sink->options.fps);
        if (f > 0) s.values[(size_t)f * (frame_count - 1) + f - 1] = 1.0f;
    }
    for (uint32_t i = 0; i < instance_count; i++)
        fill_instance(sink, &instances[i], i, frames, frame_count, &next, &corner, &s);
    cutis_clip clip = { .name = "frames", .channel_count = instance_count, .channels = s.channels };
    cutis_model_data data = { .node_count = instance_count,
                              .mesh_count = instance_count,
                              .clip_count = frame_count > 1,
                              .material_count = source->material_count,
                              .nodes = s.nodes,
                              .meshes = s.meshes,
                              .clips = &clip,
                              .materials = source->materials };
    result = cutis_model_create(sink->app->context, &data, CUTIS_GATE_REFUSE, out);
done:
    memory_release(&s.memory);
    return result;
}

// Deformed normals may be a hair off unit length or, where a mesh degenerates, gone: formats want
// unit ones.
static void unit_normals(float *normals, uint32_t count)
{
    for (uint32_t v = 0; v < count; v++) {
        float *n = normals + 3 * (size_t)v;
        double square = (double)n[0] * n[0] + (double)n[1] * n[1] + (double)n[2] * n[2];
        if (square > 0.25 && square < 4.0) continue;
        n[0] = n[1] = 0.0f;
        n[2] = 1.0f;
    }
}

static int write_mesh(frame_sink *sink, float *frames, uint32_t frame_count, const char *path)
{
    size_t plane = 3 * (size_t)sink->vertex_count;
    OWN(cutis_model) *model = NULL;
    for (uint32_t f = 0; f < frame_count; f++)
        unit_normals(frames + 2 * plane * f + plane, sink->vertex_count);
    for (uint32_t f = 1; f < frame_count; f++)
        for (size_t i = 0; i < 2 * plane; i++) frames[2 * plane * f + i] -= frames[i];
    TRY(app_result(sink->app, path, make_model(sink, frames, frame_count, &model)));
    return app_write_model(sink->app, model, path);
}

void sink_frame_path(const char *path, uint32_t frame_count, uint32_t frame, char *out,
                     size_t capacity)
{
    const char *dot = strrchr(path, '.');
    if (frame_count == 1)
        snprintf(out, capacity, "%s", path);
    else
        snprintf(out, capacity, "%.*s_%04u%s", (int)(dot - path), path, frame, dot);
}

void sink_remove_frame(const char *path, uint32_t frame_count, uint32_t frame,
                       const cutis_model *model)
{
    char name[4096];
    sink_frame_path(path, frame_count, frame, name, sizeof name);
    unlink(name);
    if (!has_extension(name, ".obj") || cutis_model_get(model)->material_count == 0) return;
    snprintf(strrchr(name, '.'), sizeof ".mtl", ".mtl");
    unlink(name);
}

void sink_names(const char *path, uint32_t first, uint32_t frame_count, char *out, size_t capacity)
{
    char last[4096];
    if (frame_count == 1 || !has_extension(path, ".obj .ply .stl")) {
        snprintf(out, capacity, "%s", path);
        return;
    }
    sink_frame_path(path, frame_count, first, out, capacity);
    sink_frame_path(path, frame_count, first + frame_count - 1, last, sizeof last);
    size_t used = strlen(out);
    snprintf(out + used, capacity - used, " to %s", last);
}

int sink_open(cli_app *app, const cutis_model *model, const sink_options *options, frame_sink **out)
{
    const char *path = options->path;
    if (is_gltf(path) && options->frame_count > SINK_MORPH_FRAMES)
        return app_fail_text(app,
                             "%s: %u frames are too many for glTF (at most %d); use --frames, "
                             ".npy or .pc2",
                             path, options->frame_count, SINK_MORPH_FRAMES);
    frame_sink *sink = calloc(1, sizeof *sink);
    if (!sink) return app_fail_text(app, "%s: not enough memory", path);
    *sink = (frame_sink){ .app = app, .model = model, .options = *options };
    sink->vertex_count = cutis_model_vertex_count(model);
    cutis_result result = CUTIS_OK;
    if (sink_is_array(path)) {
        result = cutis_frame_writer_create(app->context, path, options->frame_count,
                                           sink->vertex_count, (float)options->fps, &sink->writer);
    } else {
        uint32_t kept = is_gltf(path) ? options->frame_count : 1;
        sink->frames = calloc(kept, 6 * (size_t)sink->vertex_count * sizeof *sink->frames);
        if (!sink->frames) result = CUTIS_OUT_OF_MEMORY;
    }
    if (result != CUTIS_OK) {
        free(sink);
        return app_fail(app, path, result);
    }
    *out = sink;
    return EXIT_GOOD;
}

int sink_add(frame_sink *sink, const float *positions, const float *normals)
{
    size_t plane = 3 * (size_t)sink->vertex_count;
    if (sink->writer) {
        return app_result(sink->app, sink->options.path,
                          cutis_frame_writer_add(sink->writer, positions));
    }
    bool gltf = is_gltf(sink->options.path);
    float *frame = sink->frames + 2 * plane * (gltf ? sink->added : 0);
    memcpy(frame, positions, plane * sizeof *frame);
    memcpy(frame + plane, normals, plane * sizeof *frame);
    int status = EXIT_GOOD;
    if (!gltf) {
        char path[4096];
        sink_frame_path(sink->options.path, sink->options.frame_count,
                        sink->options.first + sink->added, path, sizeof path);
        status = write_mesh(sink, frame, 1, path);
        if (status == EXIT_GOOD) sink->written++;
    }
    sink->added++;
    return status;
}

static void sink_free(frame_sink *sink)
{
    cutis_frame_writer_destroy(sink->writer);
    free(sink->frames);
    free(sink);
}

int sink_finish(frame_sink *sink)
{
    int status = EXIT_GOOD;
    if (sink->writer) {
        cutis_result result = cutis_frame_writer_finish(sink->writer);
        sink->writer = NULL;
        if (result != CUTIS_OK) status = app_fail(sink->app, sink->options.path, result);
    } else if (is_gltf(sink->options.path)) {
        status = write_mesh(sink, sink->frames, sink->added, sink->options.path);
    }
    sink_free(sink);
    return status;
}

void sink_drop(frame_sink *sink)
{
    if (!sink) return;
    for (uint32_t i = 0; i < sink->written; i++) // numbered files of a run that failed later
        sink_remove_frame(sink->options.path, sink->options.frame_count, sink->options.first + i,
                          sink->model);
    sink_free(sink);
}
