/// What baking came to: the baked model and the plain one, played by linear blending as an engine
/// would play the file, against the frames. Nothing of the solver's own figures is used.
#include "bake.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "threads.h"

// A model that is played, some frames at a time: clip after clip.
typedef struct player {
    cutis_model *model;
    cutis_binding *binding;
    cutis_sampler *sampler; ///< of the row; NULL: it rests
    uint32_t row;           ///< that is played; UINT32_MAX: none yet
    uint32_t batch;
    cutis_transform *poses;              ///< [batch]
    float *morphs, *positions, *normals; ///< [batch]
    bake_score *score;
    double *chunk; ///< of score->squares, over the frames of a part so far
} player;

// The normals of what was baked, a frame at a time.
typedef struct truth {
    memory_list memory;
    uint32_t vertex_count;
    uint64_t triangle_count;
    uint32_t *indices, *weld;
    float *normals; ///< of what was baked
} truth;

static void player_close(player *p)
{
    cutis_sampler_destroy(p->sampler);
    free(p->chunk);
    cutis_binding_destroy(p->binding);
    free(p->poses);
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
    // Frames from files and normals of surfaces are there one at a time.
    const size_t batch = out->batch = job->normals && !job->surfaces ? bake_batch(job) : 1;
    out->model = model, out->row = UINT32_MAX;
    out->chunk = calloc(cutis_model_vertex_count(model) + (size_t)1, sizeof *out->chunk);
    out->poses = calloc(batch * cutis_model_get(model)->node_count + 1, sizeof *out->poses);
    out->morphs = calloc(batch * cutis_model_target_count(model) + 1, sizeof *out->morphs);
    out->positions = calloc(batch * cutis_model_vertex_count(model) + 1, 3 * sizeof(float));
    out->normals = calloc(batch * cutis_model_vertex_count(model) + 1, 3 * sizeof(float));
    if (!out->chunk || !out->poses || !out->morphs || !out->positions || !out->normals)
        return bake_no_memory(app, job);
    const cutis_bind_options options = { .normals = true };
    return app_result(app, job->path, cutis_bind(job->device, model, &options, &out->binding));
}

static int truth_begin(cli_app *app, const bake_job *job, truth *t)
{
    const size_t count = t->vertex_count = cutis_model_vertex_count(job->model);
    if (job->normals && !job->surfaces) return EXIT_GOOD;
    t->normals = memory_take(&t->memory, 3 * count, sizeof(float));
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
static int surface_normals(cli_app *app, const bake_job *job, const truth *t,
                           const float *positions, float *normals)
{
    if (job->normals && !job->surfaces) return EXIT_GOOD;
    const cutis_surface surface = { t->vertex_count, t->triangle_count, positions, t->indices };
    return app_result(app, job->path,
                      cutis_surface_normals(app->context, &surface, t->weld, normals));
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

// The number of a row's clip in a model; UINT32_MAX: it rests.
static uint32_t clip_of(const bake_job *job, const cutis_model *model, uint32_t row)
{
    const uint32_t count = cutis_model_get(model)->clip_count;
    const uint32_t clip = job->clips            ? (uint32_t)job->clips[job->rows[row].first]
                          : model == job->model ? UINT32_MAX
                                                : count - 1;
    return clip < count ? clip : UINT32_MAX;
}

static uint32_t row_of(const bake_job *job, uint32_t frame)
{
    uint32_t row = 0;
    while (row + 1 < job->clip_count && frame >= job->rows[row + 1].first) row++;
    return row;
}

// Some frames of one row, at most a batch.
static int play_frames(cli_app *app, const bake_job *job, player *p, uint32_t first, uint32_t count)
{
    const size_t nodes = cutis_model_get(p->model)->node_count;
    const size_t targets = cutis_model_target_count(p->model);
    const uint32_t row = row_of(job, first);
    if (row != p->row) {
        const uint32_t clip = clip_of(job, p->model, row);
        cutis_sampler_destroy(p->sampler);
        p->sampler = NULL, p->row = row;
        if (clip != UINT32_MAX)
            TRY(app_result(app, job->path, cutis_sampler_create(p->model, clip, &p->sampler)));
    }
    for (uint32_t f = 0; f < count; f++)
        if (p->sampler)
            cutis_sampler_sample(p->sampler, job->times[first + f], p->poses + f * nodes,
                                 p->morphs + f * targets);
        else
            cutis_pose_rest(p->model, p->poses + f * nodes, p->morphs + f * targets);
    const cutis_poses pose = { .kind = CUTIS_POSE_LOCAL,
                               .local = p->poses,
                               // Frames were made with the model's own targets at rest.
                               .morph_weights = job->report->morph_count ? p->morphs : NULL };
    const cutis_outputs outputs = { .positions.data = p->positions, .normals.data = p->normals };
    return app_result(app, job->path, cutis_deform(p->binding, &pose, count, &outputs));
}

// A frame that is judged, and what came of it.
typedef struct judged {
    const float *target, *truth, *positions, *normals;
    double square, angles, most;
} judged;

// Frames that are judged side by side: tasks are the frames, then ranges of vertices. Every sum is
// made by one task, in order, so threads do not show.
typedef struct judging {
    const bake_job *job;
    size_t vertex_count;
    uint32_t count;
    judged *frames;
    double *squares; ///< per vertex
    atomic_uint next;
} judging;

enum { RANGES = 16, THREADS_MOST = 64 };

// Sum of the angles between two sets of normals, degrees. Vertices without one count as right.
static double frame_angles(const bake_job *job, size_t vertex_count, const judged *f)
{
    double sum = 0;
    for (size_t v = 0; v < vertex_count; v++) {
        if (!job->counted[v]) continue;
        const float *a = f->normals + 3 * v, *b = f->truth + 3 * v;
        const double x = (double)a[1] * b[2] - (double)a[2] * b[1],
                     y = (double)a[2] * b[0] - (double)a[0] * b[2],
                     z = (double)a[0] * b[1] - (double)a[1] * b[0];
        sum += atan2(sqrt(x * x + y * y + z * z),
                     (double)a[0] * b[0] + (double)a[1] * b[1] + (double)a[2] * b[2]);
    }
    return sum * 57.29577951308232;
}

static double vertex_square(const judged *f, size_t v)
{
    double square = 0;
    for (size_t c = 0; c < 3; c++) {
        const double d = (double)f->positions[3 * v + c] - f->target[3 * v + c];
        square += d * d;
    }
    return square;
}

static void judge_task(judging *j, uint32_t task)
{
    const uint8_t *counted = j->job->counted;
    if (task < j->count) {
        judged *f = &j->frames[task];
        f->square = f->most = 0;
        for (size_t v = 0; v < j->vertex_count; v++) {
            if (!counted[v]) continue;
            const double square = vertex_square(f, v);
            f->square += square;
            f->most = fmax(f->most, sqrt(square));
        }
        f->angles = frame_angles(j->job, j->vertex_count, f);
        return;
    }
    const size_t range = task - j->count;
    const size_t end = j->vertex_count * (range + 1) / RANGES;
    for (size_t v = j->vertex_count * range / RANGES; v < end; v++)
        for (uint32_t f = 0; f < j->count && counted[v]; f++)
            j->squares[v] += vertex_square(&j->frames[f], v);
}

static void *judge_thread(void *data)
{
    judging *j = data;
    for (uint32_t task; (task = atomic_fetch_add(&j->next, 1)) < j->count + RANGES;)
        judge_task(j, task);
    return NULL;
}

// On as many threads as the device has; where one cannot be started the others do its part.
static void judge_frames(judging *j)
{
    pthread_t threads[THREADS_MOST];
    uint32_t started = 0, wanted = j->count > 1 ? j->job->threads : 1;
    atomic_init(&j->next, 0);
    for (; started + 1 < wanted && started < THREADS_MOST; started++)
        if (pthread_create(&threads[started], NULL, judge_thread, j) != 0) break;
    judge_thread(j);
    for (uint32_t k = 0; k < started; k++) pthread_join(threads[k], NULL);
}

// A batch, within a row and within a part.
static uint32_t count_together(const bake_job *job, const player *p, uint32_t first, uint32_t end)
{
    const uint32_t part = bake_part_frames(bake_clip_frames(job));
    const bake_clip *row = &job->rows[row_of(job, first)];
    uint32_t count = p->batch;
    if (count > end - first) count = end - first;
    if (count > part - first % part) count = part - first % part;
    if (count > row->first + row->count - first) count = row->first + row->count - first;
    return count;
}

static int judge_together(cli_app *app, const bake_job *job, player *p, truth *t, uint32_t first,
                          uint32_t count)
{
    judged frames[BAKE_BATCH_MOST];
    judging j = { .job = job, .vertex_count = t->vertex_count, .count = count, .frames = frames };
    j.squares = p->chunk;
    TRY(play_frames(app, job, p, first, count));
    for (uint32_t i = 0; i < count; i++) {
        float *positions = p->positions + i * 3 * (size_t)t->vertex_count;
        float *normals = p->normals + i * 3 * (size_t)t->vertex_count;
        if (count > 1) TRY(truth_frame(app, job, t, first + i)); // one alone is for all players
        TRY(surface_normals(app, job, t, positions, normals));
        frames[i] = (judged){ .target = bake_target(job, first + i),
                              .truth = t->normals,
                              .positions = positions,
                              .normals = normals };
    }
    judge_frames(&j);
    for (uint32_t i = 0; i < count; i++) {
        p->score->sum[first + i] = frames[i].square;
        p->score->angles[first + i] = frames[i].angles;
        p->score->most[first + i] = frames[i].most;
    }
    return EXIT_GOOD;
}

// Sums per vertex are of the frames of a part, then of parts: whoever judged them.
static void end_part(player *p, size_t vertices)
{
    for (size_t v = 0; v < vertices; v++) p->score->squares[v] += p->chunk[v], p->chunk[v] = 0;
}

static int judge_range(cli_app *app, const bake_job *job, player *players, uint32_t count,
                       uint32_t first, uint32_t end)
{
    const uint32_t part = bake_part_frames(bake_clip_frames(job));
    ENDS_BY(truth_end) truth t = { 0 };
    TRY(truth_begin(app, job, &t));
    for (uint32_t f = first; f < end;) {
        const uint32_t together = count_together(job, &players[0], f, end);
        if (together == 1) TRY(truth_frame(app, job, &t, f));
        for (uint32_t k = 0; k < count; k++)
            TRY(judge_together(app, job, &players[k], &t, f, together));
        f += together;
        for (uint32_t k = 0; k < count && (f % part == 0 || f == end); k++)
            end_part(&players[k], t.vertex_count);
    }
    return bake_check_targets(app, job);
}

// Threads of the device; of one that is no CPU the machine's cores.
static uint32_t count_threads(cli_app *app, const bake_job *job)
{
    cutis_device_info info = cutis_device_describe(job->device), all[8];
    uint32_t count = 0;
    if (info.kind != CUTIS_DEVICE_CPU &&
        cutis_device_list(app->context, 8, all, &count) == CUTIS_OK)
        for (uint32_t i = 0; i < count && i < 8; i++)
            if (all[i].kind == CUTIS_DEVICE_CPU) info = all[i];
    return info.kind == CUTIS_DEVICE_CPU && info.thread_count ? info.thread_count : 1;
}

int bake_judge_range(cli_app *app, bake_job *job, const bake_shown *shown, uint32_t count,
                     uint32_t first, uint32_t end)
{
    player players[BAKE_SCORES] = { 0 };
    if (!job->threads) job->threads = count_threads(app, job);
    int status = count_vertices(app, job);
    for (uint32_t k = 0; k < count && status == EXIT_GOOD; k++) {
        status = player_open(app, job, shown[k].model, &players[k]);
        players[k].score = shown[k].score;
    }
    if (status == EXIT_GOOD) status = judge_range(app, job, players, count, first, end);
    for (uint32_t k = 0; k < count; k++) player_close(&players[k]);
    return status;
}

cutis_model *bake_plain(const bake_job *job)
{
    return job->plain ? job->plain : job->model;
}

int bake_frame(cli_app *app, const bake_job *job, bool plain, uint32_t frame, float *positions)
{
    ENDS_BY(player_close) player p = { 0 };
    cutis_model *model = plain ? bake_plain(job) : job->baked;
    TRY(player_open(app, job, model, &p));
    TRY(play_frames(app, job, &p, frame, 1));
    memcpy(positions, p.positions, 3 * (size_t)cutis_model_vertex_count(model) * sizeof(float));
    return EXIT_GOOD;
}

// Rows from frames -------------------------------------------------------------------------------

bool bake_score_make(const bake_job *job, memory_list *memory, bake_score *out)
{
    const uint32_t frames = bake_clip_frames(job);
    out->sum = memory_take(memory, frames, sizeof *out->sum);
    out->angles = memory_take(memory, frames, sizeof *out->angles);
    out->most = memory_take(memory, frames, sizeof *out->most);
    out->squares = memory_take(memory, cutis_model_vertex_count(job->model), sizeof *out->squares);
    return !memory->failed;
}

static void fold_row(bake_job *job, const bake_score *score, bake_clip *r, double vertices,
                     bool plain)
{
    double sum = 0, angles = 0, most = 0, worst = -1;
    for (uint32_t f = r->first; f < r->first + r->count; f++) {
        if (!plain && score->sum[f] > worst) worst = score->sum[f], r->worst = f - r->first;
        sum += score->sum[f], angles += score->angles[f];
        most = fmax(most, score->most[f]);
        job->series[plain][f] = sqrt(score->sum[f] / vertices);
    }
    const double rms = sqrt(sum / vertices / r->count), normal = angles / vertices / r->count;
    if (plain)
        r->plain_rms = rms, r->plain_max = most, r->plain_normal = normal;
    else
        r->rms = rms, r->max = most, r->normal = normal;
}

static int fold(cli_app *app, bake_job *job, const bake_score *score, bool plain)
{
    const size_t count = cutis_model_vertex_count(job->model);
    double vertices = 0;
    double **series = &job->series[plain], **squares = &job->squares[plain];
    if (!*series) *series = calloc(job->frames.count + (size_t)1, sizeof **series);
    if (!*squares) *squares = calloc(count + 1, sizeof **squares);
    if (!*series || !*squares) return bake_no_memory(app, job);
    memcpy(*squares, score->squares, count * sizeof **squares);
    for (size_t v = 0; v < count; v++) vertices += job->counted[v];
    for (uint32_t r = 0; r < job->clip_count; r++)
        fold_row(job, score, &job->rows[r], vertices, plain);
    return EXIT_GOOD;
}

static void fold_all(bake_job *job)
{
    double frames = 0;
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
}

// Both in one pass over the frames.
static int judge_here(cli_app *app, bake_job *job)
{
    ENDS_BY(memory_release) memory_list memory = { 0 };
    const uint32_t count = job->plain_judged ? 1 : 2;
    bake_score scores[2];
    const bake_shown shown[2] = { { job->baked, &scores[0] }, { bake_plain(job), &scores[1] } };
    for (uint32_t k = 0; k < count; k++)
        if (!bake_score_make(job, &memory, &scores[k])) return bake_no_memory(app, job);
    TRY(bake_judge_range(app, job, shown, count, 0, bake_clip_frames(job)));
    for (uint32_t k = 0; k < count; k++) TRY(fold(app, job, &scores[k], k == 1));
    return EXIT_GOOD;
}

int bake_judge(cli_app *app, bake_job *job, cutis_weight_format format)
{
    if (!job->known) {
        TRY(judge_here(app, job));
    } else {
        TRY(count_vertices(app, job));
        TRY(fold(app, job, &job->known[format], false));
        if (!job->plain_judged) TRY(fold(app, job, &job->known[BAKE_SCORE_PLAIN], true));
    }
    job->plain_judged = true;
    fold_all(job);
    return EXIT_GOOD;
}
