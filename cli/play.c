/// Sampling and deforming frames for deform, measure and demo. Everything is allocated when opened,
/// so that a frame is only cutis_sampler_sample and cutis_deform.
#include "play.h"
#include "rest_shape.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

uint32_t clip_frame_count(const cutis_model *model, int32_t clip, double fps)
{
    if (clip == CUTIS_NONE) return 1;
    // 1e-4 of a frame: durations are floats, and 1 s at 30 fps must have its last frame.
    double last = floor((double)cutis_model_get(model)->clips[clip].duration * fps + 1e-4);
    return last < 1e9 ? (uint32_t)last + 1 : UINT32_MAX;
}

static bool allocate(play *p, bool normals)
{
    size_t floats = 3 * (size_t)p->vertex_count * sizeof(float);
    p->transforms = calloc(p->batch, (p->node_count + (size_t)1) * sizeof *p->transforms);
    p->morphs = calloc(p->batch, (p->target_count + (size_t)1) * sizeof *p->morphs);
    p->positions = calloc(p->batch, floats);
    p->normals = normals ? calloc(p->batch, floats) : NULL;
    p->bounds = calloc(p->batch, sizeof *p->bounds);
    p->posed = calloc(p->batch, (p->control_count + (size_t)1) * sizeof *p->posed);
    if (!p->posed) return false;
    return p->transforms && p->morphs && p->positions && p->bounds && (p->normals || !normals);
}

// The pose that does not move: rest, or rest with what a pose file replaces; one copy per instance.
static cutis_result set_still_pose(play *p, const char *pose_file)
{
    cutis_pose_rest(p->model, p->transforms, p->morphs);
    if (pose_file) { TRY(cutis_pose_read(p->model, pose_file, p->transforms)); }
    for (uint32_t i = 1; i < p->batch; i++) {
        memcpy(p->transforms + (size_t)i * p->node_count, p->transforms,
               p->node_count * sizeof *p->transforms);
        memcpy(p->morphs + (size_t)i * p->target_count, p->morphs,
               p->target_count * sizeof *p->morphs);
    }
    return CUTIS_OK;
}

int play_open(cli_app *app, const char *path, const cutis_model *model, cutis_device *device,
              const play_options *options, play *out)
{
    *out = (play){ .model = model, .batch = options->batch };
    out->node_count = cutis_model_get(model)->node_count;
    out->target_count = cutis_model_target_count(model);
    out->vertex_count = cutis_model_vertex_count(model);
    if (options->bind.method == CUTIS_METHOD_CAGE && cutis_model_get(model)->cage) {
        const cutis_cage *cage = cutis_model_get(model)->cage;
        out->control_count = cage->control_count;
        out->controls = options->controls ? options->controls : &cage->controls->x;
        out->control_frames = options->controls ? options->control_frames : 1;
    }
    if (out->vertex_count == 0)
        return app_fail_text(app, "%s: there is no mesh in its scene to deform", path);
    const char *place = path;
    cutis_result result = cutis_bind(device, model, &options->bind, &out->binding);
    if (result == CUTIS_OK && options->clip != CUTIS_NONE)
        result = cutis_sampler_create(model, (uint32_t)options->clip, &out->sampler);
    if (result == CUTIS_OK && !allocate(out, options->bind.normals)) {
        play_close(out);
        return app_fail_text(app, "%s: not enough memory for %u frames at once", path,
                             options->batch);
    }
    if (result == CUTIS_OK) {
        place = options->pose_file ? options->pose_file : path;
        result = set_still_pose(out, options->pose_file);
    }
    if (result == CUTIS_OK) {
        out->info = cutis_binding_describe(out->binding);
        return EXIT_GOOD;
    }
    play_close(out);
    return app_fail(app, place, result);
}

// Frame i of a cage is its i-th pose, the last one is held.
static void pose_controls(play *p, uint32_t first, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t frame = first + i < p->control_frames ? first + i : p->control_frames - 1;
        memcpy(p->posed + (size_t)i * p->control_count,
               p->controls + 3 * (size_t)frame * p->control_count,
               p->control_count * sizeof *p->posed);
    }
}

cutis_result play_deform(play *p, uint32_t count)
{
    cutis_poses poses = { .kind = p->controls ? CUTIS_POSE_CONTROLS : CUTIS_POSE_LOCAL,
                          .local = p->transforms,
                          .controls = p->posed,
                          .morph_weights = p->target_count ? p->morphs : NULL };
    cutis_outputs outputs = { .positions.data = p->positions,
                              .normals.data = p->normals,
                              .bounds = p->bounds };
    double start = app_seconds();
    cutis_result result = cutis_deform(p->binding, &poses, count, &outputs);
    p->seconds += app_seconds() - start;
    return result;
}

cutis_result play_frames(play *p, uint32_t first, uint32_t count, double fps)
{
    for (uint32_t i = 0; p->sampler && i < count; i++)
        cutis_sampler_sample(p->sampler, (float)((first + (double)i) / fps),
                             p->transforms + (size_t)i * p->node_count,
                             p->morphs + (size_t)i * p->target_count);
    if (p->controls) pose_controls(p, first, count);
    return play_deform(p, count);
}

void play_close(play *p)
{
    cutis_binding_destroy(p->binding);
    cutis_sampler_destroy(p->sampler);
    free(p->transforms);
    free(p->morphs);
    free(p->positions);
    free(p->normals);
    free(p->bounds);
    free(p->posed);
    *p = (play){ 0 };
}

static bool is_file(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

// The clip file that `text` names: as it stands, or in the folder of the model, where Cal3D keeps
// them.
static bool find_file(const char *path, const char *text, char *out, size_t capacity)
{
    if (!has_extension(text, ".caf .xaf .bvh .gltf .glb")) return false;
    int length = snprintf(out, capacity, "%s", text);
    if (length > 0 && (size_t)length < capacity && is_file(out)) return true;
    const char *slash = strrchr(path, '/');
    if (!slash) return false;
    length = snprintf(out, capacity, "%.*s/%s", (int)(slash - path), path, text);
    return length > 0 && (size_t)length < capacity && is_file(out);
}

int clip_find_text(cli_app *app, const char *path, const char *text, cutis_model **model,
                   int32_t *clip)
{
    char file[4096];
    uint32_t index = 0;
    if (find_file(path, text, file, sizeof file)) {
        cutis_model *extended = NULL;
        TRY(app_result(app, file, cutis_model_read_clip(*model, file, &extended)));
        cutis_model_destroy(*model);
        *model = extended;
        index = cutis_model_get(extended)->clip_count - 1;
    } else {
        TRY(app_result(app, path, cutis_model_find_clip(*model, text, &index)));
    }
    *clip = (int32_t)index;
    return EXIT_GOOD;
}

int clip_find(cli_app *app, const char *path, cutis_model **model, int32_t *clip)
{
    const char *text = option_text(app, OPTION_CLIP);
    *clip = CUTIS_NONE;
    if (!text) return EXIT_GOOD;
    if (option_given(app, OPTION_POSE))
        return app_usage(app, "--clip and --pose exclude each other");
    return clip_find_text(app, path, text, model, clip);
}

// Root mean square of how much longer or shorter edges are than at rest.
static double edge_stretch(const rest_shape *rest, const float *positions)
{
    double sum = 0, count = 0;
    for (uint64_t e = 0; e < 3 * rest->triangle_count; e++) {
        const size_t a = 3 * (size_t)rest->indices[e],
                     b = 3 * (size_t)rest->indices[e % 3 == 2 ? e - 2 : e + 1];
        double before = 0, after = 0;
        for (int k = 0; k < 3; k++) {
            const double old = (double)rest->positions[a + k] - rest->positions[b + k],
                         new = (double)positions[a + k] - positions[b + k];
            before += old * old, after += new *new;
        }
        if (!(before > 0)) continue;
        const double stretch = sqrt(after / before) - 1;
        sum += stretch * stretch, count++;
    }
    return count ? sqrt(sum / count) : 0;
}

int clip_peak(cli_app *app, const char *path, const cutis_model *model, cutis_device *device,
              int32_t clip, double *seconds)
{
    enum { FPS = 30, MOST = 64 };
    const play_options options = { .clip = clip, .batch = 1 };
    ENDS_BY(rest_shape_release) rest_shape rest = { 0 };
    ENDS_BY(play_close) play p = { 0 };
    *seconds = 0;
    if (clip == CUTIS_NONE) return EXIT_GOOD;
    TRY(rest_shape_make(app, path, model, &rest));
    TRY(play_open(app, path, model, device, &options, &p));
    const uint32_t frames = clip_frame_count(model, clip, FPS),
                   step = frames > MOST ? (frames + MOST - 1) / MOST : 1;
    double most = 1e-6; // what does not deform is shown in its middle
    *seconds = 0.5 * cutis_model_get(model)->clips[clip].duration;
    for (uint32_t f = 0; f < frames; f += step) {
        TRY(app_result(app, path, play_frames(&p, f, 1, FPS)));
        const double stretch = edge_stretch(&rest, p.positions);
        if (stretch > 1.01 * most) // of peaks that are alike, the first
            most = stretch, *seconds = (double)f / FPS;
    }
    return EXIT_GOOD;
}
