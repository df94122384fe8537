/// What baking came to: the baked model and the plain one, played by linear blending as an engine
/// would play the file, against the frames. Nothing of the solver's own figures is used.
#include "bake.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// A model that is played: clip after clip.
typedef struct player {
    cutis_model *model;
    cutis_binding *binding;
    cutis_transform *pose;
    float *morphs, *positions;
} player;

static void player_close(player *p)
{
    cutis_binding_destroy(p->binding);
    free(p->pose);
    free(p->morphs);
    free(p->positions);
}

static int player_open(cli_app *app, const bake_job *job, cutis_model *model, player *out)
{
    out->model = model;
    out->pose = calloc(cutis_model_get(model)->node_count + (size_t)1, sizeof *out->pose);
    out->morphs = calloc(cutis_model_target_count(model) + (size_t)1, sizeof *out->morphs);
    out->positions = calloc(cutis_model_vertex_count(model) + (size_t)1, 3 * sizeof(float));
    if (!out->pose || !out->morphs || !out->positions) return bake_no_memory(app, job);
    return app_result(app, job->path, cutis_bind(job->device, model, NULL, &out->binding));
}

// Which vertices count: those of meshes that are baked.
static int count_vertices(cli_app *app, bake_job *job)
{
    const cutis_instance *instances;
    const uint32_t count = cutis_model_instances(job->baked, &instances);
    free(job->counted);
    job->counted = calloc(cutis_model_vertex_count(job->baked) + (size_t)1, 1);
    if (!job->counted) return bake_no_memory(app, job);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t v = 0; instances[i].skin != CUTIS_NONE && v < instances[i].vertex_count; v++)
            job->counted[instances[i].vertex_first + v] = 1;
    return EXIT_GOOD;
}

static int play_frame(cli_app *app, const bake_job *job, player *p, const cutis_sampler *sampler,
                      float seconds)
{
    if (sampler)
        cutis_sampler_sample(sampler, seconds, p->pose, p->morphs);
    else
        cutis_pose_rest(p->model, p->pose, p->morphs);
    const cutis_poses pose = { .kind = CUTIS_POSE_LOCAL,
                               .local = p->pose,
                               // Frames were made with the model's own targets at rest.
                               .morph_weights = job->report->morph_count ? p->morphs : NULL };
    const cutis_outputs outputs = { .positions.data = p->positions };
    return app_result(app, job->path, cutis_deform(p->binding, &pose, 1, &outputs));
}

// Sum of squares of one frame, and the largest distance.
static double frame_error(const bake_job *job, uint32_t frame, const float *positions, double *most)
{
    const uint32_t count = cutis_model_vertex_count(job->model);
    const float *target = bake_target(job, frame);
    double sum = 0;
    for (uint32_t v = 0; v < count; v++) {
        if (!job->counted[v]) continue;
        double square = 0;
        for (size_t c = 0; c < 3; c++) {
            const double d = (double)positions[3 * (size_t)v + c] - target[3 * (size_t)v + c];
            square += d * d;
        }
        sum += square;
        *most = fmax(*most, sqrt(square));
    }
    return sum;
}

static int judge_clip(cli_app *app, const bake_job *job, player *p, uint32_t row, uint32_t clip,
                      double vertices, bool plain)
{
    bake_clip *r = &job->rows[row];
    OWN(cutis_sampler) *sampler = NULL;
    if (clip < cutis_model_get(p->model)->clip_count)
        TRY(app_result(app, job->path, cutis_sampler_create(p->model, clip, &sampler)));
    double sum = 0, most = 0, worst = -1;
    for (uint32_t f = r->first; f < r->first + r->count; f++) {
        TRY(play_frame(app, job, p, sampler, job->times[f]));
        const double square = frame_error(job, f, p->positions, &most);
        if (!plain && square > worst) worst = square, r->worst = f - r->first;
        sum += square;
        job->series[plain][f] = sqrt(square / vertices);
    }
    const double rms = sqrt(sum / vertices / r->count);
    if (plain)
        r->plain_rms = rms, r->plain_max = most;
    else
        r->rms = rms, r->max = most;
    return EXIT_GOOD;
}

// The model that is played, and the number of a row's clip in it; UINT32_MAX: it rests.
static cutis_model *played(const bake_job *job, bool plain, uint32_t row, uint32_t *clip)
{
    cutis_model *model = !plain ? job->baked : job->plain ? job->plain : job->model;
    const uint32_t last = cutis_model_get(model)->clip_count - 1;
    *clip = job->clips            ? (uint32_t)job->clips[job->rows[row].first]
            : model == job->model ? UINT32_MAX
                                  : last;
    return model;
}

int bake_frame(cli_app *app, const bake_job *job, bool plain, uint32_t frame, float *positions)
{
    ENDS_BY(player_close) player p = { 0 };
    OWN(cutis_sampler) *sampler = NULL;
    uint32_t row = 0, clip;
    while (row + 1 < job->clip_count && frame >= job->rows[row + 1].first) row++;
    cutis_model *model = played(job, plain, row, &clip);
    TRY(player_open(app, job, model, &p));
    if (clip < cutis_model_get(model)->clip_count)
        TRY(app_result(app, job->path, cutis_sampler_create(model, clip, &sampler)));
    TRY(play_frame(app, job, &p, sampler, job->times[frame]));
    memcpy(positions, p.positions, 3 * (size_t)cutis_model_vertex_count(model) * sizeof(float));
    return EXIT_GOOD;
}

int bake_judge(cli_app *app, bake_job *job)
{
    double vertices = 0, frames = 0;
    TRY(count_vertices(app, job));
    for (int k = 0; k < 2; k++) {
        if (!job->series[k]) job->series[k] = calloc(job->frames.count + (size_t)1, sizeof(double));
        if (!job->series[k]) return bake_no_memory(app, job);
    }
    for (uint32_t v = 0; v < cutis_model_vertex_count(job->baked); v++) vertices += job->counted[v];
    for (int plain = 0; plain < 2; plain++) {
        ENDS_BY(player_close) player p = { 0 };
        uint32_t clip;
        TRY(player_open(app, job, played(job, plain, 0, &clip), &p));
        for (uint32_t r = 0; r < job->clip_count; r++) {
            played(job, plain, r, &clip);
            TRY(judge_clip(app, job, &p, r, clip, vertices, plain));
        }
    }
    job->rms = job->plain_rms = job->max = job->plain_max = 0;
    for (uint32_t r = 0; r < job->clip_count; r++) {
        const bake_clip *row = &job->rows[r];
        frames += row->count;
        job->rms += row->rms * row->rms * row->count;
        job->plain_rms += row->plain_rms * row->plain_rms * row->count;
        job->max = fmax(job->max, row->max);
        job->plain_max = fmax(job->plain_max, row->plain_max);
    }
    job->rms = sqrt(job->rms / frames), job->plain_rms = sqrt(job->plain_rms / frames);
    return EXIT_GOOD;
}
