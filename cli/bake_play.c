/// Frames for bake from a model's own clips: every clip at --fps and at its end, posed by the
/// method that is to be baked. Morph targets rest, for they are played by engines as they are.
#include "bake.h"

#include <stdlib.h>
#include <string.h>

#include "play.h"

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

// Times of a clip: the grid, and its end if that is none of them.
static uint32_t clip_times(const cutis_model *model, uint32_t clip, double fps, float *times)
{
    const uint32_t grid = clip_frame_count(model, (int32_t)clip, fps);
    const float end = cutis_model_get(model)->clips[clip].duration;
    uint32_t count = 0;
    for (uint32_t f = 0; f < grid; f++, count++)
        if (times) times[f] = (float)(f / fps);
    if (end - (grid - 1) / fps > 1e-3 / fps) {
        if (times) times[count] = end;
        count++;
    }
    return count;
}

static int list_frames(cli_app *app, bake_job *job)
{
    const cutis_model_data *data = cutis_model_get(job->model);
    OWN_MEMORY uint8_t *learn = calloc(data->clip_count + (size_t)1, 1);
    uint64_t total = 0;
    if (!learn) return bake_no_memory(app, job);
    TRY(choose_clips(app, job, learn));
    for (uint32_t c = 0; c < data->clip_count; c++)
        total += clip_times(job->model, c, job->fps, NULL);
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

static int deform_frames(cli_app *app, bake_job *job)
{
    OWN(cutis_binding) *binding = NULL;
    const size_t plane = 3 * (size_t)cutis_model_vertex_count(job->model);
    const uint32_t nodes = cutis_model_get(job->model)->node_count;
    const cutis_bind_options options = { .method = job->method };
    TRY(app_result(app, job->path, cutis_bind(job->device, job->model, &options, &binding)));
    const cutis_method_info *method = cutis_method_describe(job->method);
    const bool fixed = method->abilities & CUTIS_CHANGES_TOPOLOGY;
    job->positions = malloc(((size_t)job->frames.count * plane + 1) * sizeof(float));
    if (!job->positions) return bake_no_memory(app, job);
    for (uint32_t f = 0; f < job->frames.count; f++) {
        cutis_poses pose = { .kind = CUTIS_POSE_LOCAL };
        cutis_outputs outputs = { 0 };
        if (job->cage.count) {
            const uint32_t controls = cutis_model_get(job->model)->cage->control_count;
            pose.kind = CUTIS_POSE_CONTROLS;
            pose.controls = (const cutis_float3 *)(job->cage.values + 3 * (size_t)f * controls);
        } else {
            pose.local = job->poses + (size_t)f * nodes;
        }
        float *to = job->positions + f * plane;
        if (fixed)
            outputs.topology.rest_positions.data = to;
        else
            outputs.positions.data = to;
        TRY(app_result(app, job->path, cutis_deform(binding, &pose, 1, &outputs)));
        if (!app_progress(app, "deforming", (double)f / job->frames.count)) return app_stopped(app);
    }
    return EXIT_GOOD;
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
        TRY(list_frames(app, job));
        TRY(sample_clips(app, job));
        if (job->options.drivers) TRY(bake_add_poses(app, job));
    }
    TRY(deform_frames(app, job));
    bool some = job->options.drivers;
    for (uint32_t c = 0; c < job->clip_count; c++) some |= job->rows[c].held_out;
    job->frames.poses = job->poses;
    job->frames.positions = job->positions;
    job->frames.clips = job->clips;
    job->frames.times = job->times;
    job->frames.held_out = some ? job->held_out : NULL;
    return EXIT_GOOD;
}
