/// cutis deform --method patches: a mesh of its own for every frame, or (--fixed) the model's.
#include "deform.h"
#include "patches_facts.h"
#include "patches_look.h"
#include "play.h"
#include "sink.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct patch_job {
    const char *path, *output;
    cutis_model *model;
    cutis_device *device;
    int32_t clip;
    uint32_t first, end, written;
    double fps;
    bool fixed, baked, local;
    bool shell; ///< one mesh for a printer: it is checked, and `facts` are told
    patch_facts facts;
    bool united; ///< it was cut where it crossed itself, into
    patch_outside outside;
    uint64_t open_edges; ///< local: most in a frame
    patch_play play;
    patch_look *frames; ///< baked: all of them
    const char **part_names;
    char *name_text;
    frame_sink *sink;
    float *positions, *normals; ///< --fixed: of the model
    uint32_t *weld;
    uint32_t vertices_max, triangles_max;
    double rest_volume, variation, fixed_variation;
} patch_job;

// What is for weights, and for arrays of the model's vertices.
static int check_options(cli_app *app)
{
    static const option_id OTHERS[] = { OPTION_NORMALS,    OPTION_BLEND,     OPTION_WEIGHTED,
                                        OPTION_INFLUENCES, OPTION_INSTANCES, OPTION_CAGE_POSES };
    for (size_t i = 0; i < sizeof OTHERS / sizeof *OTHERS; i++)
        if (option_given(app, OTHERS[i]))
            return app_usage(app, "--%s is not for --method patches", cli_options[OTHERS[i]].name);
    return patch_check_options(app);
}

static int check_output(cli_app *app, patch_job *job)
{
    TRY(app_output(app, NULL, &job->output));
    job->local = option_choice(app, OPTION_TRIANGULATE) == 1;
    job->fixed = option_given(app, OPTION_FIXED);
    if (job->local && job->fixed)
        return app_usage(app, "--triangulate local makes triangles, --fixed keeps the model's");
    job->baked = has_extension(job->output, ".gltf .glb") && !job->fixed;
    if (!job->fixed && !sink_is_mesh(job->output))
        return app_usage(
            app,
            "-o %s: every frame has its own vertices; want .obj, .ply, .stl or .glb, or "
            "--fixed",
            job->output);
    if (job->fixed && !sink_is_mesh(job->output) && !sink_is_array(job->output))
        return app_usage(app,
                         "-o %s: want a name that ends in .npy .pc2 .obj .ply .stl .gltf or .glb",
                         job->output);
    return app_check_writing(app, job->output);
}

// Names of parts, then of patches: what --show parts of a written mesh shows.
static bool name_parts(patch_job *job)
{
    const cutis_patches_info *info = &job->play.info;
    uint32_t count = info->part_count + info->joint_count;
    job->part_names = calloc(count, sizeof *job->part_names);
    job->name_text = calloc(info->joint_count, 128);
    if (!job->part_names || !job->name_text) return false;
    for (uint32_t p = 0; p < info->part_count; p++)
        job->part_names[p] = cutis_patches_part_name(job->play.patches, p);
    for (uint32_t j = 0; j < info->joint_count; j++) {
        cutis_patches_joint joint = cutis_patches_joint_at(job->play.patches, j);
        char *text = job->name_text + 128 * (size_t)j;
        snprintf(text, 128, "%.100s patch",
                 cutis_patches_part_name(job->play.patches, joint.child));
        job->part_names[info->part_count + j] = text;
    }
    return true;
}

static int open_fixed(cli_app *app, patch_job *job)
{
    uint32_t count = cutis_model_vertex_count(job->model);
    job->positions = calloc(count + (size_t)1, 3 * sizeof(float));
    job->normals = calloc(count + (size_t)1, 3 * sizeof(float));
    job->weld = calloc(count + (size_t)1, sizeof *job->weld);
    if (!job->positions || !job->normals || !job->weld)
        return app_fail_text(app, "%s: not enough memory", job->path);
    cutis_model_file_positions(job->model, job->positions);
    TRY(app_result(app, job->path,
                   cutis_weld_positions(app->context, count, job->positions, job->weld)));
    sink_options options = { .path = job->output,
                             .first = job->first,
                             .frame_count = job->end - job->first,
                             .fps = job->fps };
    return sink_open(app, job->model, &options, &job->sink);
}

static int prepare(cli_app *app, patch_job *job)
{
    TRY(check_options(app));
    TRY(check_output(app, job));
    job->fps = option_number(app, OPTION_FPS, 30.0);
    TRY(app_read_model(app, job->path, &job->model));
    TRY(clip_find(app, job->path, &job->model, &job->clip));
    TRY(deform_check_motion(app, job->model, job->clip != CUTIS_NONE));
    TRY(deform_frame_range(app, job->path, clip_frame_count(job->model, job->clip, job->fps),
                           &job->first, &job->end));
    if (job->baked && job->end - job->first > SINK_MORPH_FRAMES)
        return app_fail_text(app, "%s: %u frames are too many for glTF (at most %d); use --frames",
                             job->output, job->end - job->first, SINK_MORPH_FRAMES);
    job->shell = !job->fixed && !job->baked && !job->local && job->end - job->first == 1;
    TRY(app_open_device(app, &job->device));
    const play_options options = { .clip = job->clip,
                                   .pose_file = option_text(app, OPTION_POSE),
                                   .bind = patch_options(app) };
    TRY(patch_play_open(app, job->path, job->model, job->device, &options, &job->play));
    job->rest_volume = job->play.info.volume;
    job->frames = calloc(job->end - job->first, sizeof *job->frames);
    if (!job->frames || !name_parts(job))
        return app_fail_text(app, "%s: not enough memory", job->path);
    return job->fixed ? open_fixed(app, job) : EXIT_GOOD;
}

/// Borrowed by cutis_model_create for the call.
typedef struct baked_scene {
    memory_list memory;
    cutis_node *nodes;
    cutis_mesh *meshes;
    cutis_primitive *primitives;
    cutis_channel *channels;
    float *times, *values; // per frame: up to 3 keys
} baked_scene;

// The pieces that have triangles. @return how many
static uint32_t fill_pieces(const patch_look *look, cutis_primitive *out)
{
    uint32_t count = 0;
    for (uint32_t p = 0; p < look->count; p++) {
        const look_piece *piece = &look->pieces[p];
        if (piece->triangle_count == 0) continue;
        out[count++] = (cutis_primitive){ .topology = CUTIS_TOPOLOGY_TRIANGLES,
                                          .vertex_count = piece->vertex_count,
                                          .index_count = 3 * piece->triangle_count,
                                          .indices = piece->indices,
                                          .positions = piece->positions,
                                          .normals = piece->normals,
                                          .texcoords = piece->texcoords,
                                          .colors = piece->colors,
                                          .parts = piece->labels,
                                          .material = piece->material };
    }
    return count;
}

static void fill_frame(const patch_job *job, const patch_look *frame, uint32_t index,
                       uint32_t count, baked_scene *s)
{
    float *times = s->times + 3 * (size_t)index, *values = s->values + 9 * (size_t)index;
    cutis_primitive *primitives = s->primitives + (size_t)frame->count * index;
    uint32_t keys = 0;
    s->meshes[index] =
        (cutis_mesh){ .primitive_count = fill_pieces(frame, primitives),
                      .primitives = primitives,
                      .part_count = job->play.info.part_count + job->play.info.joint_count,
                      .part_names = job->part_names };
    s->nodes[index] = (cutis_node){ .parent = CUTIS_NONE,
                                    .rest = cutis_transform_identity(),
                                    .mesh = (int32_t)index,
                                    .skin = CUTIS_NONE };
    if (index > 0) s->nodes[index].rest.scale = (cutis_float3){ 0, 0, 0 };
    // Hidden (scale 0), shown from its time on, hidden again at the next.
    if (index > 0) times[keys++] = 0.0f;
    times[keys] = (float)(index / job->fps);
    for (int k = 0; k < 3; k++) values[3 * keys + k] = 1.0f;
    keys++;
    times[keys++] = (float)((index + 1) / job->fps);
    s->channels[index] = (cutis_channel){ .node = index,
                                          .path = CUTIS_PATH_SCALE,
                                          .interpolation = CUTIS_INTERPOLATION_STEP,
                                          .key_count = index + 1 < count ? keys : keys - 1,
                                          .times = times,
                                          .values = values };
}

static int write_model(cli_app *app, const patch_job *job, const patch_look *frames, uint32_t count,
                       const char *path)
{
    baked_scene s = { 0 };
    s.nodes = memory_take(&s.memory, count, sizeof *s.nodes);
    s.meshes = memory_take(&s.memory, count, sizeof *s.meshes);
    s.primitives = memory_take(&s.memory, (size_t)count * frames[0].count, sizeof *s.primitives);
    s.channels = memory_take(&s.memory, count, sizeof *s.channels);
    s.times = memory_take(&s.memory, count, 3 * sizeof *s.times);
    s.values = memory_take(&s.memory, count, 9 * sizeof *s.values);
    const cutis_model_data *source = cutis_model_get(job->model);
    cutis_model *model = NULL;
    cutis_result result = CUTIS_OUT_OF_MEMORY;
    if (!s.memory.failed) {
        for (uint32_t f = 0; f < count; f++) fill_frame(job, &frames[f], f, count, &s);
        cutis_clip clip = { .name = "frames", .channel_count = count, .channels = s.channels };
        cutis_model_data data = { .node_count = count,
                                  .mesh_count = count,
                                  .clip_count = count > 1,
                                  .material_count = source->material_count,
                                  .materials = source->materials,
                                  .nodes = s.nodes,
                                  .meshes = s.meshes,
                                  .clips = &clip,
                                  .source = source->source };
        result = cutis_model_create(app->context, &data, CUTIS_GATE_REFUSE, &model);
    }
    int status =
        result == CUTIS_OK ? app_write_model(app, model, path) : app_fail(app, path, result);
    cutis_model_destroy(model);
    memory_release(&s.memory);
    return status;
}

static void note_extreme(double value, double *extreme)
{
    if (fabs(value) > fabs(*extreme)) *extreme = value;
}

static int add_fixed(cli_app *app, patch_job *job)
{
    patch_play *p = &job->play;
    uint32_t count = cutis_model_vertex_count(job->model);
    cutis_poses poses = { .kind = CUTIS_POSE_LOCAL, .local = p->transforms };
    uint64_t triangles = cutis_model_triangle_count(job->model);
    OWN_MEMORY uint32_t *indices = calloc((size_t)triangles + 1, 3 * sizeof *indices);
    if (!indices) return app_fail_text(app, "%s: not enough memory", job->path);
    cutis_model_triangles(job->model, indices);
    const cutis_outputs outputs = { .topology.rest_positions.data = job->positions };
    TRY(app_result(app, job->path, cutis_deform(p->patches, &poses, 1, &outputs)));
    cutis_surface surface = { .vertex_count = count,
                              .positions = job->positions,
                              .triangle_count = triangles,
                              .indices = indices };
    TRY(app_result(app, job->path,
                   cutis_surface_normals(app->context, &surface, job->weld, job->normals)));
    note_extreme(100.0 * (cutis_surface_volume(&surface) / job->rest_volume - 1.0),
                 &job->fixed_variation);
    return sink_add(job->sink, job->positions, job->normals);
}

// The paper's triangulation in place of the strips, and how many edges it leaves open.
static cutis_result triangulate_local(cli_app *app, patch_job *job)
{
    patch_play *p = &job->play;
    cutis_manifold manifold;
    TRY(cutis_patches_local(app->context, &p->info, p->positions, p->normals, p->indices, p->labels,
                            p->info.triangle_capacity, p->counts));
    for (uint32_t t = 0; t < p->counts[1]; t++)
        if (p->labels[t] >= p->info.part_count) p->origins[t] = UINT32_MAX;
    cutis_surface surface = patch_play_surface(p);
    cutis_result result = cutis_surface_manifold(app->context, &surface, NULL, &manifold);
    if (result == CUTIS_OK && manifold.boundary_edges > job->open_edges)
        job->open_edges = manifold.boundary_edges;
    return result;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// A part that is less than a hundredth as long as it should be beside the others, or turned inside
// out. The volume of the whole need not show it.
static int check_parts(cli_app *app, const patch_job *job)
{
    const patch_play *p = &job->play;
    const uint32_t count = p->info.part_count;
    OWN_MEMORY cutis_mat34 *palette = calloc(count, sizeof *palette);
    OWN_MEMORY double *sizes = calloc(count, sizeof *sizes);
    OWN_MEMORY double *sorted = calloc(count, sizeof *sorted);
    if (!palette || !sizes || !sorted)
        return app_fail_text(app, "%s: not enough memory", job->path);
    TRY(app_result(app, job->path, cutis_binding_palette(p->patches, p->transforms, palette)));
    for (uint32_t i = 0; i < count; i++) {
        const float *m = palette[i].m;
        sizes[i] = m[0] * ((double)m[5] * m[10] - (double)m[6] * m[9]) -
                   m[1] * ((double)m[4] * m[10] - (double)m[6] * m[8]) +
                   m[2] * ((double)m[4] * m[9] - (double)m[5] * m[8]);
        sorted[i] = fabs(sizes[i]);
    }
    qsort(sorted, count, sizeof *sorted, by_size);
    const double usual = count ? sorted[count / 2] : 0;
    for (uint32_t i = 0; i < count; i++) {
        const char *name = cutis_patches_part_name(p->patches, i);
        if (sizes[i] < 0)
            return app_fail_text(app, "%s: this pose turns part %s inside out: nothing is written",
                                 job->path, name);
        if (!(sizes[i] > 1e-6 * usual))
            return app_fail_text(
                app,
                "%s: this pose shrinks part %s to nothing (%g of its volume): nothing is written",
                job->path, name, sizes[i]);
    }
    return EXIT_GOOD;
}

// A mesh that a printer can make: closed, and its faces look outwards.
static int check_shell(cli_app *app, patch_job *job)
{
    patch_facts *f = &job->facts;
    TRY(check_parts(app, job));
    TRY(patch_facts_make(app, job->path, &job->play, f));
    if (f->manifold.watertight && f->volume > 0.0) return EXIT_GOOD;
    return app_fail_text(
        app,
        "%s: in this pose it is no closed shell (%ju edges with one face, %ju with "
        "more than two, volume %g): nothing is written",
        job->path, f->manifold.boundary_edges, f->manifold.crowded_edges, f->volume);
}

static int add_frame(cli_app *app, patch_job *job, uint32_t frame)
{
    patch_play *p = &job->play;
    TRY(app_result(app, job->path, patch_play_frame(p, frame / job->fps)));
    if (job->local) TRY(app_result(app, job->path, triangulate_local(app, job)));
    cutis_surface surface = patch_play_surface(p);
    note_extreme(100.0 * (cutis_surface_volume(&surface) / job->rest_volume - 1.0),
                 &job->variation);
    if (p->counts[0] > job->vertices_max) job->vertices_max = p->counts[0];
    if (p->counts[1] > job->triangles_max) job->triangles_max = p->counts[1];
    if (job->fixed) return add_fixed(app, job);
    if (job->shell) TRY(check_shell(app, job));
    patch_look *kept = &job->frames[frame - job->first];
    if (!patch_look_make(p, kept)) return app_fail_text(app, "%s: not enough memory", job->path);
    if (job->shell && job->facts.crossings.triangle_count > 0)
        TRY(patch_look_unite(app, job->path, p, kept, &job->united, &job->outside));
    if (job->united) { // a shell is one frame
        job->vertices_max = job->outside.vertex_count;
        job->triangles_max = job->outside.triangle_count;
    }
    if (job->baked) return EXIT_GOOD;
    char path[4096];
    sink_frame_path(job->output, job->end - job->first, frame, path, sizeof path);
    TRY(write_model(app, job, kept, 1, path));
    patch_look_release(kept);
    job->written++;
    return EXIT_GOOD;
}

static int run_frames(cli_app *app, patch_job *job)
{
    for (uint32_t f = job->first; f < job->end; f++) {
        TRY(add_frame(app, job, f));
        if (!app_progress(app, "patching", (f + 1.0 - job->first) / (job->end - job->first)))
            return app_stopped(app);
    }
    if (job->baked) return write_model(app, job, job->frames, job->end - job->first, job->output);
    if (!job->fixed) return EXIT_GOOD;
    frame_sink *sink = job->sink;
    job->sink = NULL;
    return sink_finish(sink);
}

static void say_shell(cli_app *app, const patch_job *job, const char *names)
{
    const patch_facts *f = &job->facts;
    const uint32_t pieces = job->united ? job->outside.piece_count : f->manifold.piece_count;
    app_say(app, "%s: closed, %u piece%s, volume %.6g, ", names, pieces, pieces == 1 ? "" : "s",
            job->united ? job->outside.volume : f->volume);
    if (f->crossings.triangle_count == 0)
        app_say(app, "no triangles cross\n");
    else
        app_say(app, "%s%ju crossing triangles (%ju at joints, %ju by the pose)%s\n",
                job->united ? "cut along " : "", f->crossings.triangle_count, f->own, f->posed,
                job->united ? ", of which the inside is gone" : "");
    if (job->united && job->outside.crossing_count)
        app_say(app, "%s: %ju slivers still cross, by less than floats tell apart\n", names,
                job->outside.crossing_count);
}

static void report(cli_app *app, const patch_job *job)
{
    const char *removal = option_text(app, OPTION_REMOVE), *fill = option_text(app, OPTION_FILL);
    uint32_t frames = job->end - job->first;
    if (!removal) removal = "cut";
    if (!fill) fill = strcmp(removal, "box") == 0 ? "reduced" : "keep";
    const bool bands = patch_has_bands(app);
    char names[8192];
    sink_names(job->output, job->first, frames, names, sizeof names);
    app_say(app,
            "%s: %u frame%s of at most %u vertices and %u triangles, %s%s and %s, volume %+.4f "
            "%%\n",
            names, frames, frames == 1 ? "" : "s", job->vertices_max, job->triangles_max,
            bands ? "bands; beyond them " : "", removal, fill, job->variation);
    if (job->shell) say_shell(app, job, names);
    if (job->fixed)
        app_say(app, "%s: with the model's own triangles the volume varies by %+.4f %%\n", names,
                job->fixed_variation);
    if (job->local)
        app_say(app, "%s: local triangulation leaves up to %ju edges open in a frame\n", names,
                job->open_edges);
    if (!app->json) return;
    json_out json = { .file = stdout };
    emit(&json,
         "{ file %s output %s method %s band %s remove %s fill %s fixed %d frames %u vertices_max "
         "%u "
         "triangles_max %u volume_variation %g",
         job->path, job->output, "patches", bands ? "girth" : "none", removal, fill, job->fixed,
         frames, job->vertices_max, job->triangles_max, job->variation);
    if (job->shell)
        emit(&json,
             "watertight %d pieces %u volume %.17g united %d self_intersections %ju own_crossings "
             "%ju posed_crossings %ju",
             job->facts.manifold.watertight,
             job->united ? job->outside.piece_count : job->facts.manifold.piece_count,
             job->united ? job->outside.volume : job->facts.volume, job->united,
             job->united ? job->outside.crossing_count : job->facts.crossings.triangle_count,
             job->facts.own, job->facts.posed);
    if (job->fixed) emit_number(&json, "fixed_volume_variation", job->fixed_variation);
    if (job->local) emit_count(&json, "open_edges", job->open_edges);
    emit(&json, "seconds %g }", job->play.seconds);
}

static void close_job(patch_job *job, bool failed)
{
    for (uint32_t i = 0; failed && i < job->written; i++)
        sink_remove_frame(job->output, job->end - job->first, job->first + i, job->model);
    for (uint32_t i = 0; job->frames && i < job->end - job->first; i++)
        patch_look_release(&job->frames[i]);
    free(job->frames);
    free(job->part_names);
    free(job->name_text);
    free(job->positions);
    free(job->normals);
    free(job->weld);
    sink_drop(job->sink);
    patch_facts_release(&job->facts);
    patch_play_close(&job->play);
    cutis_device_destroy(job->device);
    cutis_model_destroy(job->model);
}

int deform_patches(cli_app *app)
{
    patch_job job = { .path = app->operands[0] };
    int status = prepare(app, &job);
    if (status == EXIT_GOOD) status = run_frames(app, &job);
    app_progress_done(app);
    if (status == EXIT_GOOD) report(app, &job);
    close_job(&job, status != EXIT_GOOD);
    return status;
}
