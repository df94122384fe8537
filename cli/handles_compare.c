/// Automatic weights against those the model came with: in weights, and in positions over its
/// clips.
#include "handles.h"

#include <math.h>
#include <stdlib.h>

#include "play.h"
#include "rest_shape.h"

#define FRAMES_MAX     64 ///< evenly spaced frames of a clip that are compared
#define UPDATE_REPEATS 5  ///< frames timed, of which the best counts

static bool has_weights(const cutis_model *model)
{
    const cutis_model_data *data = cutis_model_get(model);
    for (uint32_t m = 0; m < data->mesh_count; m++)
        for (uint32_t p = 0; p < data->meshes[m].primitive_count; p++)
            if (data->meshes[m].primitives[p].influences.first) return true;
    return false;
}

// Sum of |a - b| of one vertex; both lists are short.
static double vertex_difference(const cutis_influences *a, const cutis_influences *b, uint32_t v)
{
    double sum = 0, total = 0;
    for (uint32_t i = a->first[v]; i < a->first[v + 1]; i++) sum += a->weights[i];
    for (uint32_t i = a->first[v]; i < a->first[v + 1]; i++) {
        double other = 0, own = 0;
        bool first = true;
        for (uint32_t j = a->first[v]; j < a->first[v + 1]; j++)
            if (a->joints[j] == a->joints[i]) first &= j >= i, own += a->weights[j];
        for (uint32_t j = b->first[v]; j < b->first[v + 1]; j++)
            if (b->joints[j] == a->joints[i]) other += b->weights[j];
        if (first && sum > 0) total += fabs(own / sum - other);
    }
    for (uint32_t j = b->first[v]; j < b->first[v + 1]; j++) {
        bool shared = false;
        for (uint32_t i = a->first[v]; i < a->first[v + 1]; i++)
            shared |= a->joints[i] == b->joints[j];
        if (!shared) total += b->weights[j];
    }
    return total;
}

static double compare_weights(const cutis_model *a, const cutis_model *b)
{
    const cutis_model_data *x = cutis_model_get(a), *y = cutis_model_get(b);
    double total = 0;
    uint64_t count = 0;
    for (uint32_t m = 0; m < x->mesh_count; m++)
        for (uint32_t p = 0; p < x->meshes[m].primitive_count; p++) {
            const cutis_primitive *u = &x->meshes[m].primitives[p];
            const cutis_primitive *w = &y->meshes[m].primitives[p];
            for (uint32_t v = 0; u->influences.first && v < u->vertex_count; v++, count++)
                total += vertex_difference(&u->influences, &w->influences, v);
        }
    return count ? total / (double)count : 0;
}

static int compare_clip(cli_app *app, handles_job *job, int32_t clip, double *square,
                        uint64_t *values)
{
    ENDS_BY(play_close) play old = { 0 }, new = { 0 };
    const play_options options = { .clip = clip, .batch = 1 };
    TRY(play_open(app, job->path, job->model, job->device, &options, &old));
    TRY(play_open(app, job->path, job->result, job->device, &options, &new));
    double fps = 30;
    uint32_t frames = clip_frame_count(job->model, clip, fps);
    if (frames > FRAMES_MAX) fps *= (double)FRAMES_MAX / frames, frames = FRAMES_MAX;
    for (uint32_t i = 0; i < frames; i++) {
        TRY(app_result(app, job->path, play_frames(&old, i, 1, fps)));
        TRY(app_result(app, job->path, play_frames(&new, i, 1, fps)));
        for (size_t k = 0; k < 3 * (size_t)old.vertex_count; k++)
            *square += pow((double)old.positions[k] - new.positions[k], 2);
        *values += old.vertex_count;
    }
    return EXIT_GOOD;
}

static int time_update(cli_app *app, handles_job *job)
{
    ENDS_BY(play_close) play frame = { 0 };
    const play_options options = { .clip = CUTIS_NONE, .batch = 1 };
    TRY(play_open(app, job->output, job->result, job->device, &options, &frame));
    job->update = INFINITY;
    for (int i = 0; i < UPDATE_REPEATS; i++) {
        double start = app_seconds();
        TRY(app_result(app, job->output, play_frames(&frame, 0, 1, 30)));
        job->update = fmin(job->update, app_seconds() - start);
    }
    return EXIT_GOOD;
}

int handles_compare(cli_app *app, handles_job *job)
{
    TRY(time_update(app, job));
    if (job->file || !has_weights(job->model)) return EXIT_GOOD;
    job->compared = true;
    job->weight_difference = compare_weights(job->model, job->result);
    ENDS_BY(rest_shape_release) rest_shape rest = { 0 };
    double square = 0;
    uint64_t values = 0;
    TRY(rest_shape_make(app, job->path, job->model, &rest));
    cutis_surface surface = rest_shape_surface(&rest, rest.positions);
    double diagonal = cutis_surface_diagonal(&surface);
    for (uint32_t c = 0; c < cutis_model_get(job->model)->clip_count; c++)
        TRY(compare_clip(app, job, (int32_t)c, &square, &values));
    job->position_difference = values ? 100 * sqrt(square / (double)values) / diagonal : NAN;
    return EXIT_GOOD;
}
