/// cutis deform: a clip or a pose, a method, a device; out come vertices.
#include "app.h"
#include "cage_poses.h"
#include "deform.h"
#include "play.h"
#include "rest_shape.h"
#include "sink.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct deform_job {
    const char *path, *output, *normals_path;
    cutis_model *model;
    cutis_device *device;
    int32_t clip;
    uint32_t first, end;
    double fps;
    cutis_array blend;
    cage_poses cage;
    play play;
    frame_sink *sink, *normals_sink;
    cutis_bounds bounds;
};

static const uint32_t FRAMES_MAX = 100000000;

static bool parse_frame(const char *text, size_t length, uint32_t *out)
{
    uint64_t value = 0;
    if (length == 0 || length > 9) return false;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9') return false;
        value = 10 * value + (uint64_t)(text[i] - '0');
    }
    *out = (uint32_t)value;
    return value <= FRAMES_MAX;
}

int deform_check_motion(cli_app *app, const cutis_model *model, bool moves)
{
    const cutis_model_data *data = cutis_model_get(model);
    const char *option = option_given(app, OPTION_FRAMES) ? "frames" : "fps";
    char names[512] = "";
    if (moves || !(option_given(app, OPTION_FRAMES) || option_given(app, OPTION_FPS)))
        return EXIT_GOOD;
    if (data->clip_count == 0 || option_given(app, OPTION_POSE)) return EXIT_GOOD; // a still
    for (uint32_t c = 0; c < data->clip_count && c < 8; c++) {
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%.40s", c ? ", " : " there are ",
                 data->clips[c].name ? data->clips[c].name : "(no name)");
    }
    return app_usage(app, "--%s wants --clip: which one?%s%s", option, names,
                     data->clip_count > 8 ? ", ..." : "");
}

// "A:B" is half-open, either end may be missing; "A" is one frame.
int deform_frame_range(cli_app *app, const char *path, uint32_t whole, uint32_t *first,
                       uint32_t *end)
{
    const char *text = option_text(app, OPTION_FRAMES);
    *first = 0;
    *end = whole;
    if (text) {
        size_t head = strcspn(text, ":");
        const char *tail = text[head] ? text + head + 1 : NULL;
        bool good = (head == 0 && tail) || parse_frame(text, head, first);
        if (!tail)
            *end = *first + 1;
        else if (*tail)
            good = good && parse_frame(tail, strlen(tail), end);
        if (!good) return app_usage(app, "--frames %s: want A:B, for example 0:30", text);
        if (*end <= *first)
            return app_usage(
                app, "--frames %s: there is no frame in it (A:B ends before B; the clip has %u)",
                text, whole);
    }
    if (*end - *first > FRAMES_MAX)
        return app_fail_text(app, "%s: %u frames are too many; use --frames", path, *end - *first);
    return EXIT_GOOD;
}

static int set_frames(cli_app *app, deform_job *job)
{
    uint32_t whole =
        job->cage.count ? job->cage.count : clip_frame_count(job->model, job->clip, job->fps);
    TRY(deform_check_motion(app, job->model, job->cage.count > 0 || job->clip != CUTIS_NONE));
    return deform_frame_range(app, job->path, whole, &job->first, &job->end);
}

static int read_blend(cli_app *app, deform_job *job, cutis_method method)
{
    const char *path = option_text(app, OPTION_BLEND);
    if (!path) return EXIT_GOOD;
    if (method == CUTIS_METHOD_LBS || method == CUTIS_METHOD_RIGID)
        return app_usage(app, "--blend mixes lbs with sbs, dqs or cor: name one with --method");
    TRY(app_result(app, path, cutis_array_read(app->context, path, &job->blend)));
    const uint64_t count = array_size(&job->blend);
    if (count != cutis_model_vertex_count(job->model))
        return app_fail_text(app, "%s: %ju numbers for %u vertices", path, count,
                             cutis_model_vertex_count(job->model));
    for (uint64_t i = 0; i < count; i++)
        if (!(job->blend.values[i] >= 0.0f && job->blend.values[i] <= 1.0f))
            return app_fail_text(app, "%s: entry %ju is %g, outside 0 to 1", path, i,
                                 job->blend.values[i]);
    return EXIT_GOOD;
}

static int read_cage_poses(cli_app *app, deform_job *job, cutis_method method)
{
    const char *list = option_text(app, OPTION_CAGE_POSES);
    const cutis_cage *cage = cutis_model_get(job->model)->cage;
    if (method == CUTIS_METHOD_CAGE && (job->clip != CUTIS_NONE || option_given(app, OPTION_POSE)))
        return app_usage(app, "--method cage is moved by --cage-poses, not by --clip or --pose");
    if (!list) return EXIT_GOOD;
    if (method != CUTIS_METHOD_CAGE) return app_usage(app, "--cage-poses is for --method cage");
    if (!cage) return app_fail_text(app, "%s: it has no cage; cutis cage binds one", job->path);
    return cage_poses_read(app, list, cage, job->fps, &job->cage);
}

static int check_outputs(cli_app *app, deform_job *job)
{
    TRY(app_output(app, NULL, &job->output));
    job->normals_path = option_text(app, OPTION_NORMALS);
    if (!sink_is_array(job->output) && !sink_is_mesh(job->output))
        return app_usage(app,
                         "-o %s: want a name that ends in .npy .pc2 .obj .ply .stl .gltf or .glb",
                         job->output);
    TRY(app_check_writing(app, job->output));
    if (!job->normals_path) return EXIT_GOOD;
    if (!sink_is_array(job->normals_path))
        return app_usage(app, "--normals %s: want a name that ends in .npy or .pc2",
                         job->normals_path);
    if (strcmp(job->normals_path, job->output) == 0)
        return app_usage(app, "--normals and -o name the same file");
    return app_check_output(app, job->normals_path);
}

static int read_job(cli_app *app, deform_job *job)
{
    const cutis_method method = (cutis_method)option_choice(app, OPTION_METHOD);
    if (option_given(app, OPTION_WEIGHTED) && method != CUTIS_METHOD_SBS)
        return app_usage(app, "--weighted is for --method sbs");
    cutis_device_options device; // a wrong --device should not wait for a large file to be read
    TRY(app_device_options(app, &device));
    TRY(check_outputs(app, job));
    job->fps = option_number(app, OPTION_FPS, 30.0);
    TRY(app_read_model(app, job->path, &job->model));
    TRY(clip_find(app, job->path, &job->model, &job->clip));
    TRY(read_cage_poses(app, job, method));
    TRY(set_frames(app, job));
    return read_blend(app, job, method);
}

static int bind_job(cli_app *app, deform_job *job)
{
    const cutis_method method = (cutis_method)option_choice(app, OPTION_METHOD);
    TRY(app_open_device(app, &job->device));
    uint32_t frames = job->end - job->first;
    play_options options = {
        .clip = job->clip,
        .pose_file = option_text(app, OPTION_POSE),
        .batch = option_count(app, OPTION_INSTANCES, 1),
        .controls = job->cage.values,
        .control_frames = job->cage.count,
        .bind = { .method = method,
                  .normals = job->normals_path || !sink_is_array(job->output),
                  .weighted_centres = option_given(app, OPTION_WEIGHTED),
                  .max_influences = option_count(app, OPTION_INFLUENCES, 0),
                  .blend = job->blend.values,
                  .drive = (cutis_drive)option_choice(app, OPTION_DRIVERS) },
    };
    if (options.batch > frames) options.batch = frames;
    options.bind.instance_capacity = options.batch;
    return play_open(app, job->path, job->model, job->device, &options, &job->play);
}

static int open_sinks(cli_app *app, deform_job *job)
{
    sink_options options = { .path = job->output,
                             .first = job->first,
                             .frame_count = job->end - job->first,
                             .fps = job->fps };
    TRY(sink_open(app, job->model, &options, &job->sink));
    if (!job->normals_path) return EXIT_GOOD;
    options.path = job->normals_path;
    return sink_open(app, job->model, &options, &job->normals_sink);
}

int deform_range(cli_app *app, deform_job *job, uint32_t first, uint32_t end, deform_put put,
                 void *user)
{
    play *p = &job->play;
    size_t plane = 3 * (size_t)p->vertex_count;
    for (uint32_t f = first; f < end;) {
        uint32_t count = end - f < p->batch ? end - f : p->batch;
        TRY(app_result(app, job->path, play_frames(p, f, count, job->fps)));
        for (uint32_t i = 0; i < count; i++) {
            if (f == first && i == 0) job->bounds = p->bounds[0];
            bounds_add(&job->bounds, p->bounds[i]);
            TRY(put(user, f + i, p->positions + plane * i,
                    p->normals ? p->normals + plane * i : NULL));
        }
        f += count;
        if (!app_progress(app, "deforming", (double)(f - first) / (end - first)))
            return app_stopped(app);
    }
    return EXIT_GOOD;
}

static int put_in_sinks(void *user, uint32_t frame, const float *positions, const float *normals)
{
    deform_job *job = user;
    (void)frame; // they come in order
    TRY(sink_add(job->sink, positions, normals));
    return job->normals_sink ? sink_add(job->normals_sink, normals, NULL) : EXIT_GOOD;
}

static void close_job(cli_app *app, deform_job *job)
{
    sink_drop(job->sink);
    sink_drop(job->normals_sink);
    if (job->model) play_close(&job->play);
    cage_poses_release(&job->cage);
    cutis_array_destroy(app->context, &job->blend);
    cutis_device_destroy(job->device);
    cutis_model_destroy(job->model);
}

int deform_open(cli_app *app, bool bind, deform_extent *extent, deform_job **out)
{
    deform_job *job = *out = calloc(1, sizeof *job);
    if (!job) return app_fail_text(app, "not enough memory");
    job->path = app->operands[0];
    TRY(read_job(app, job));
    *extent = (deform_extent){ .first = job->first,
                               .end = job->end,
                               .vertex_count = cutis_model_vertex_count(job->model) };
    return bind ? bind_job(app, job) : EXIT_GOOD;
}

void deform_close(cli_app *app, deform_job *job)
{
    if (job) close_job(app, job);
    free(job);
}

static int finish_sinks(deform_job *job)
{
    frame_sink *sink = job->sink, *normals = job->normals_sink;
    job->sink = job->normals_sink = NULL;
    int status = normals ? sink_finish(normals) : EXIT_GOOD;
    if (status != EXIT_GOOD) {
        sink_drop(sink);
        return status;
    }
    status = sink_finish(sink);
    if (status != EXIT_GOOD && normals) unlink(job->normals_path); // both or none
    return status;
}

static void report(cli_app *app, const deform_job *job)
{
    const play *p = &job->play;
    uint32_t frames = job->end - job->first;
    cutis_device_info device = cutis_device_describe(job->device);
    const char *method = option_text(app, OPTION_METHOD) ? option_text(app, OPTION_METHOD) : "lbs";
    double ns = 1e9 * p->seconds / ((double)frames * p->vertex_count);
    const char *isa = device.kind == CUTIS_DEVICE_CPU ? cutis_isa_name(device.isa) : NULL;
    char names[8192];
    sink_names(job->output, job->first, frames, names, sizeof names);
    app_say(app, "%s: %u frame%s of %u vertices, %s on %s%s%s\n", names, frames,
            frames == 1 ? "" : "s", p->vertex_count, method, cutis_device_kind_name(device.kind),
            isa ? " " : "", isa ? isa : "");
    if (!app->json) return;
    json_out json = { .file = stdout };
    emit(&json,
         "{ file %s output %s method %s device %s isa %s threads %u vertices %u frames %u seconds "
         "%g "
         "ns_per_vertex %g bone_sets %u large_bone_sets %u",
         job->path, job->output, method, cutis_device_kind_name(device.kind), isa,
         device.thread_count, p->vertex_count, frames, p->seconds, ns, p->info.bone_set_count,
         p->info.large_set_count);
    emit_bounds(&json, "bounds", job->bounds);
    emit_end(&json);
}

int verb_deform(cli_app *app)
{
    const int method = option_choice(app, OPTION_METHOD);
    if (method == CUTIS_METHOD_PATCHES) return deform_patches(app);
    if (option_given(app, OPTION_REMOVE) || option_given(app, OPTION_FILL) ||
        option_given(app, OPTION_BAND) || option_given(app, OPTION_TRIANGULATE) ||
        option_given(app, OPTION_FIXED))
        return app_usage(app, "--remove, --fill, --band, --triangulate and --fixed are for "
                              "--method patches");
    deform_job job = { .path = app->operands[0] };
    int status = read_job(app, &job);
    if (status == EXIT_GOOD) status = bind_job(app, &job);
    if (status == EXIT_GOOD) status = open_sinks(app, &job);
    if (status == EXIT_GOOD)
        status = deform_range(app, &job, job.first, job.end, put_in_sinks, &job);
    if (status == EXIT_GOOD) status = finish_sinks(&job);
    app_progress_done(app);
    if (status == EXIT_GOOD) {
        if (method != CUTIS_METHOD_CAGE && !job.play.sampler && !option_given(app, OPTION_POSE) &&
            cutis_model_get(job.play.model)->skin_count == 0)
            app_note(app, "%s: no mesh has a skin, and no --clip moves its nodes", job.path);
        if (method == CUTIS_METHOD_SBS && !option_given(app, OPTION_WEIGHTED) &&
            job.play.info.large_set_count > 0)
            app_note(app,
                     "%s: sbs may crease at its %u sets of three or more bones; --weighted "
                     "has no creases, --method dqs is close to that and cheaper",
                     job.path, job.play.info.large_set_count);
        report(app, &job);
    }
    close_job(app, &job);
    return status;
}
