/// Frames for bake from a model's own clips: every clip at --fps and at its end, posed by the
/// method that is to be baked. Morph targets rest, for they are played by engines as they are.
#include "bake.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "play.h"
#include "rest_shape.h"

int bake_no_memory(cli_app *app, const bake_job *job)
{
    return app_fail_text(app, "%s: not enough memory for its frames", job->path);
}

// Which clips are learned from: all, or those that --clips names.
static int choose_clips(cli_app *app, const bake_job *job, uint8_t *learn)
{
    const char *list = option_text(app, OPTION_BAKE_CLIPS), *at;
    const cutis_model_data *data = cutis_model_get(job->model);
    size_t length;
    memset(learn, !list || strcmp(list, "all") == 0, data->clip_count);
    if (!list || strcmp(list, "all") == 0) return EXIT_GOOD;
    while ((at = next_entry(&list, ",", &length))) {
        char name[512];
        uint32_t clip;
        snprintf(name, sizeof name, "%.*s", (int)(length < 500 ? length : 500), at);
        TRY(app_result(app, job->path, cutis_model_find_clip(job->model, name, &clip)));
        learn[clip] = 1;
    }
    return EXIT_GOOD;
}

static int by_time(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

// Keys of a clip that something jumps at.
static uint32_t list_jumps(const cutis_clip *clip, float *times)
{
    uint32_t count = 0;
    for (uint32_t c = 0; c < clip->channel_count; c++) {
        const cutis_channel *channel = &clip->channels[c];
        const size_t width = channel->path == CUTIS_PATH_ROTATION ? 4 : 3;
        if (channel->interpolation != CUTIS_INTERPOLATION_STEP ||
            channel->path == CUTIS_PATH_WEIGHTS)
            continue;
        for (uint32_t k = 1; k < channel->key_count; k++) {
            const float *value = channel->values + k * width;
            if (memcmp(value, value - width, width * sizeof *value) == 0) continue;
            if (times) times[count] = channel->times[k];
            count++;
        }
    }
    return count;
}

// At most so many times has a clip: the grid, its end, and both sides of every jump.
static uint64_t clip_times_most(const cutis_model *model, uint32_t clip, double fps)
{
    return clip_frame_count(model, (int32_t)clip, fps) + UINT64_C(1) +
           2 * (uint64_t)list_jumps(&cutis_model_get(model)->clips[clip], NULL);
}

// The grid, but for what stands where a jump or the end does; joints that are added move evenly
// between frames, so a jump has one on either side.
static uint32_t clip_times(const cutis_model *model, uint32_t clip, double fps, float *times)
{
    const cutis_clip *c = &cutis_model_get(model)->clips[clip];
    const uint32_t grid = clip_frame_count(model, (int32_t)clip, fps);
    const double near = 1e-3 / fps;
    uint32_t jumps = list_jumps(c, times), count = 0;
    qsort(times, jumps, sizeof *times, by_time);
    for (uint32_t i = 0; i < jumps; i++)
        if (times[i] > 0 && times[i] <= c->duration && (count == 0 || times[count - 1] < times[i]))
            times[count++] = times[i];
    jumps = count;
    for (uint32_t i = 0; i < jumps; i++) times[count++] = nextafterf(times[i], 0);
    uint32_t at = 0;
    for (uint32_t f = 0; f < grid; f++) {
        const double t = f / fps;
        while (at < jumps && times[at] < t - near) at++;
        if (!(at < jumps && times[at] <= t + near)) times[count++] = (float)t;
    }
    if (c->duration - (grid - 1) / fps > near && !(jumps && times[jumps - 1] >= c->duration))
        times[count++] = c->duration;
    qsort(times, count, sizeof *times, by_time);
    return count;
}

// What is said of a clip's errors is said of the body without its morph targets.
static void note_resting(cli_app *app, const bake_job *job)
{
    const cutis_model_data *data = cutis_model_get(job->model);
    for (uint32_t c = 0; c < data->clip_count; c++)
        for (uint32_t k = 0; k < data->clips[c].channel_count; k++) {
            if (data->clips[c].channels[k].path != CUTIS_PATH_WEIGHTS) continue;
            app_note(app,
                     "%s: morph targets, which clip %u (%s) moves, rest while it is baked: errors "
                     "are of the body without them",
                     job->path, c, data->clips[c].name ? data->clips[c].name : "without a name");
            return;
        }
}

static int list_frames(cli_app *app, bake_job *job)
{
    const cutis_model_data *data = cutis_model_get(job->model);
    OWN_MEMORY uint8_t *learn = calloc(data->clip_count + (size_t)1, 1);
    uint64_t total = 0;
    if (!learn) return bake_no_memory(app, job);
    TRY(choose_clips(app, job, learn));
    for (uint32_t c = 0; c < data->clip_count; c++)
        total += clip_times_most(job->model, c, job->fps);
    if (total > BAKE_FRAMES_MOST)
        return app_fail_text(app, "%s: %ju frames are too many; a smaller --fps makes fewer",
                             job->path, (uintmax_t)total);
    job->times = calloc(total + 1, sizeof *job->times);
    job->clips = calloc(total + 1, sizeof *job->clips);
    job->held_out = calloc(total + 1, 1);
    job->rows = calloc(data->clip_count + (size_t)1, sizeof *job->rows);
    if (!job->times || !job->clips || !job->held_out || !job->rows) return bake_no_memory(app, job);
    uint32_t at = 0;
    for (uint32_t c = 0; c < data->clip_count; c++) {
        const uint32_t count = clip_times(job->model, c, job->fps, job->times + at);
        job->rows[job->clip_count++] = (bake_clip){
            .name = data->clips[c].name, .first = at, .count = count, .held_out = !learn[c]
        };
        for (uint32_t f = 0; f < count; f++) job->clips[at + f] = (int32_t)c;
        memset(job->held_out + at, !learn[c], count);
        at += count;
    }
    job->frames.count = at;
    return EXIT_GOOD;
}

static int sample_clips(cli_app *app, bake_job *job)
{
    const uint32_t nodes = cutis_model_get(job->model)->node_count;
    job->poses = calloc((size_t)job->frames.count * nodes + 1, sizeof *job->poses);
    if (!job->poses) return bake_no_memory(app, job);
    for (uint32_t c = 0; c < job->clip_count; c++) {
        OWN(cutis_sampler) *sampler = NULL;
        TRY(app_result(app, job->path, cutis_sampler_create(job->model, c, &sampler)));
        for (uint32_t f = job->rows[c].first; f < job->rows[c].first + job->rows[c].count; f++)
            cutis_sampler_sample(sampler, job->times[f], job->poses + (size_t)f * nodes, NULL);
    }
    return EXIT_GOOD;
}

uint32_t bake_batch(const bake_job *job)
{
    const size_t frame = 3 * ((size_t)cutis_model_vertex_count(job->model) + 1) * sizeof(float);
    const size_t count = BAKE_BATCH_BYTES / frame;
    return count < 1 ? 1 : count > BAKE_BATCH_MOST ? BAKE_BATCH_MOST : (uint32_t)count;
}

static cutis_poses pose_of(const bake_job *job, uint32_t frame)
{
    cutis_poses pose = { .kind = CUTIS_POSE_LOCAL };
    if (job->cage.count) {
        const size_t controls = cutis_model_get(job->model)->cage->control_count;
        pose.kind = CUTIS_POSE_CONTROLS;
        pose.controls = (const cutis_float3 *)(job->cage.values + 3 * frame * controls);
    } else {
        pose.local = job->poses + (size_t)frame * cutis_model_get(job->model)->node_count;
    }
    return pose;
}

// Of a method that has none for the model's own vertices: those of its surfaces.
static int make_normals(cli_app *app, bake_job *job)
{
    ENDS_BY(rest_shape_release) rest_shape rest = { 0 };
    TRY(rest_shape_make(app, job->path, job->model, &rest));
    const size_t plane = 3 * (size_t)rest.vertex_count;
    OWN_MEMORY uint32_t *weld = malloc((rest.vertex_count + (size_t)1) * sizeof *weld);
    if (!weld) return bake_no_memory(app, job);
    TRY(app_result(app, job->path,
                   cutis_weld_positions(app->context, rest.vertex_count, rest.positions, weld)));
    for (uint32_t f = 0; f < job->frames.count; f++) {
        const cutis_surface surface = rest_shape_surface(&rest, job->positions + f * plane);
        TRY(app_result(
            app, job->path,
            cutis_surface_normals(app->context, &surface, weld, job->normals + f * plane)));
    }
    return EXIT_GOOD;
}

static int deform_frames(cli_app *app, bake_job *job)
{
    OWN(cutis_binding) *binding = NULL;
    const size_t plane = 3 * (size_t)cutis_model_vertex_count(job->model);
    const cutis_method_info *method = cutis_method_describe(job->method);
    const bool fixed = method->abilities & CUTIS_CHANGES_TOPOLOGY;
    const cutis_bind_options options = { .method = job->method, .normals = !fixed };
    TRY(app_result(app, job->path, cutis_bind(job->device, job->model, &options, &binding)));
    job->positions = malloc(((size_t)job->frames.count * plane + 1) * sizeof(float));
    job->normals = malloc(((size_t)job->frames.count * plane + 1) * sizeof(float));
    if (!job->positions || !job->normals) return bake_no_memory(app, job);
    const uint32_t batch = fixed ? 1 : bake_batch(job);
    for (uint32_t f = 0; f < job->frames.count; f += batch) {
        const uint32_t left = job->frames.count - f, count = left < batch ? left : batch;
        const cutis_poses pose = pose_of(job, f); // and those after it
        cutis_outputs outputs = { 0 };
        float *to = job->positions + f * plane;
        if (fixed) {
            outputs.topology.rest_positions.data = to;
        } else {
            outputs.positions.data = to;
            outputs.normals.data = job->normals + f * plane;
        }
        TRY(app_result(app, job->path, cutis_deform(binding, &pose, count, &outputs)));
        if (!app_progress(app, "deforming", (double)f / job->frames.count)) return app_stopped(app);
    }
    job->surfaces = fixed;
    return fixed ? make_normals(app, job) : EXIT_GOOD;
}

// A cage moves by poses of its own, in place of clips.
static int read_cage(cli_app *app, bake_job *job)
{
    const cutis_cage *cage = cutis_model_get(job->model)->cage;
    if (!cage) return app_fail_text(app, "%s: it has no cage; cutis cage binds one", job->path);
    TRY(cage_poses_read(app, option_text(app, OPTION_CAGE_POSES), cage, job->fps, &job->cage));
    job->rows = calloc(1, sizeof *job->rows);
    job->times = calloc(job->cage.count + (size_t)1, sizeof *job->times);
    if (!job->rows || !job->times) return bake_no_memory(app, job);
    for (uint32_t f = 0; f < job->cage.count; f++) job->times[f] = (float)(f / job->fps);
    job->rows[0] = (bake_clip){ .name = "baked", .count = job->cage.count };
    job->clip_count = 1, job->frames.count = job->cage.count;
    return EXIT_GOOD;
}

int bake_play(cli_app *app, bake_job *job)
{
    const cutis_model_data *data = cutis_model_get(job->model);
    if (option_given(app, OPTION_CAGE_POSES)) {
        if (job->method != CUTIS_METHOD_CAGE)
            return app_usage(app, "--cage-poses is for --method cage");
        TRY(read_cage(app, job));
    } else {
        if (job->method == CUTIS_METHOD_CAGE)
            return app_usage(app, "--method cage is moved by --cage-poses");
        if (data->clip_count == 0)
            return app_fail_text(app, "%s: it has no clips to bake", job->path);
        note_resting(app, job);
        TRY(list_frames(app, job));
        TRY(sample_clips(app, job));
        TRY(bake_add_poses(app, job));
    }
    TRY(deform_frames(app, job));
    job->deformed = job->frames.count;
    if (!job->options.drivers) job->frames.count = bake_clip_frames(job); // the rest is to judge by
    bool some = job->options.drivers;
    for (uint32_t c = 0; c < job->clip_count; c++) some |= job->rows[c].held_out;
    job->frames.poses = job->poses;
    job->frames.positions = job->positions;
    job->frames.normals = job->normals;
    job->frames.clips = job->clips;
    job->frames.times = job->times;
    job->frames.held_out = some ? job->held_out : NULL;
    return EXIT_GOOD;
}
