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
    float *morphs, *positions, *normals;
} player;

// The normals of what was baked, a frame at a time.
typedef struct truth {
    memory_list memory;
    uint32_t vertex_count;
    uint64_t triangle_count;
    uint32_t *indices, *weld;
    float *normals, *surface; ///< of what was baked; memory of our own
} truth;

static void player_close(player *p)
{
    cutis_binding_destroy(p->binding);
    free(p->pose);
    free(p->morphs);
    free(p->positions);
    free(p->normals);
}

static void truth_end(truth *t)
{
    memory_release(&t->memory);
}

static int player_open(cli_app *app, const bake_job *job, cutis_model *model, player *out)
{
    out->model = model;
    out->pose = calloc(cutis_model_get(model)->node_count + (size_t)1, sizeof *out->pose);
    out->morphs = calloc(cutis_model_target_count(model) + (size_t)1, sizeof *out->morphs);
    out->positions = calloc(cutis_model_vertex_count(model) + (size_t)1, 3 * sizeof(float));
    out->normals = calloc(cutis_model_vertex_count(model) + (size_t)1, 3 * sizeof(float));
    if (!out->pose || !out->morphs || !out->positions || !out->normals)
        return bake_no_memory(app, job);
    const cutis_bind_options options = { .normals = true };
    return app_result(app, job->path, cutis_bind(job->device, model, &options, &out->binding));
}

static int truth_begin(cli_app *app, const bake_job *job, truth *t)
{
    const size_t count = t->vertex_count = cutis_model_vertex_count(job->model);
    if (job->normals && !job->surfaces) return EXIT_GOOD;
    t->normals = t->surface = memory_take(&t->memory, 3 * count, sizeof(float));
    t->weld = memory_take(&t->memory, count, sizeof *t->weld);
    t->triangle_count = cutis_model_triangle_count(job->model);
    t->indices = memory_take(&t->memory, 3 * t->triangle_count, sizeof *t->indices);
    if (t->memory.failed) return bake_no_memory(app, job);
    cutis_model_triangles(job->model, t->indices);
    return app_result(
        app, job->path,
        cutis_weld_positions(app->context, t->vertex_count, bake_target(job, 0), t->weld));
}

static int truth_frame(cli_app *app, const bake_job *job, truth *t, uint32_t frame)
{
    const size_t at = 3 * (size_t)frame * t->vertex_count;
    if (job->normals) {
        t->normals = job->normals + at;
        return EXIT_GOOD;
    }
    const cutis_surface surface = { t->vertex_count, t->triangle_count, bake_target(job, frame),
                                    t->indices };
    return app_result(app, job->path,
                      cutis_surface_normals(app->context, &surface, t->weld, t->normals));
}

// Where the truth is of surfaces, so is what is played: authored normals would differ at rest.
static int surface_normals(cli_app *app, const bake_job *job, const truth *t, player *p)
{
    if (job->normals && !job->surfaces) return EXIT_GOOD;
    const cutis_surface surface = { t->vertex_count, t->triangle_count, p->positions, t->indices };
    return app_result(app, job->path,
                      cutis_surface_normals(app->context, &surface, t->weld, p->normals));
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
    const cutis_outputs outputs = { .positions.data = p->positions, .normals.data = p->normals };
    return app_result(app, job->path, cutis_deform(p->binding, &pose, 1, &outputs));
}

// Sum of the angles between two sets of normals, degrees. Vertices without one count as right.
static double frame_angles(const bake_job *job, const truth *t, const float *normals)
{
    double sum = 0;
    for (size_t v = 0; v < t->vertex_count; v++) {
        if (!job->counted[v]) continue;
        const float *a = normals + 3 * v, *b = t->normals + 3 * v;
        const double x = (double)a[1] * b[2] - (double)a[2] * b[1],
                     y = (double)a[2] * b[0] - (double)a[0] * b[2],
                     z = (double)a[0] * b[1] - (double)a[1] * b[0];
        sum += atan2(sqrt(x * x + y * y + z * z),
                     (double)a[0] * b[0] + (double)a[1] * b[1] + (double)a[2] * b[2]);
    }
    return sum * 57.29577951308232;
}

// Sum of squares of one frame, and the largest distance.
static double frame_error(const bake_job *job, uint32_t frame, const float *positions,
                          double *squares, double *most)
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
        squares[v] += square;
        *most = fmax(*most, sqrt(square));
    }
    return sum;
}

static int judge_clip(cli_app *app, const bake_job *job, player *p, truth *t, uint32_t row,
                      uint32_t clip, double vertices, bool plain)
{
    bake_clip *r = &job->rows[row];
    OWN(cutis_sampler) *sampler = NULL;
    if (clip < cutis_model_get(p->model)->clip_count)
        TRY(app_result(app, job->path, cutis_sampler_create(p->model, clip, &sampler)));
    double sum = 0, angles = 0, most = 0, worst = -1;
    for (uint32_t f = r->first; f < r->first + r->count; f++) {
        TRY(play_frame(app, job, p, sampler, job->times[f]));
        TRY(truth_frame(app, job, t, f));
        TRY(surface_normals(app, job, t, p));
        const double square = frame_error(job, f, p->positions, job->squares[plain], &most);
        angles += frame_angles(job, t, p->normals);
        if (!plain && square > worst) worst = square, r->worst = f - r->first;
        sum += square;
        job->series[plain][f] = sqrt(square / vertices);
    }
    const double rms = sqrt(sum / vertices / r->count), normal = angles / vertices / r->count;
    if (plain)
        r->plain_rms = rms, r->plain_max = most, r->plain_normal = normal;
    else
        r->rms = rms, r->max = most, r->normal = normal;
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
    const size_t count = cutis_model_vertex_count(job->baked);
    ENDS_BY(truth_end) truth t = { 0 };
    TRY(truth_begin(app, job, &t));
    for (int k = 0; k < 2; k++) {
        if (!job->series[k]) job->series[k] = calloc(job->frames.count + (size_t)1, sizeof(double));
        if (!job->squares[k]) job->squares[k] = calloc(count + 1, sizeof(double));
        if (!job->series[k] || !job->squares[k]) return bake_no_memory(app, job);
        if (k == 0 || !job->plain_judged) memset(job->squares[k], 0, count * sizeof(double));
    }
    for (size_t v = 0; v < count; v++) vertices += job->counted[v];
    for (int plain = 0; plain < (job->plain_judged ? 1 : 2); plain++) {
        ENDS_BY(player_close) player p = { 0 };
        uint32_t clip;
        TRY(player_open(app, job, played(job, plain, 0, &clip), &p));
        for (uint32_t r = 0; r < job->clip_count; r++) {
            played(job, plain, r, &clip);
            TRY(judge_clip(app, job, &p, &t, r, clip, vertices, plain));
        }
    }
    job->plain_judged = true;
    job->rms = job->plain_rms = job->max = job->plain_max = job->normal = job->plain_normal = 0;
    for (uint32_t r = 0; r < job->clip_count; r++) {
        const bake_clip *row = &job->rows[r];
        frames += row->count;
        job->rms += row->rms * row->rms * row->count;
        job->plain_rms += row->plain_rms * row->plain_rms * row->count;
        job->normal += row->normal * row->count;
        job->plain_normal += row->plain_normal * row->count;
        job->max = fmax(job->max, row->max);
        job->plain_max = fmax(job->plain_max, row->plain_max);
    }
    job->rms = sqrt(job->rms / frames), job->plain_rms = sqrt(job->plain_rms / frames);
    job->normal /= frames, job->plain_normal /= frames;
    return EXIT_GOOD;
}
