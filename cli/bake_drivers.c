/// Random poses of a bake: to learn drivers from, and others to judge by; what came of it, played
/// as any program would play the file: joints posed, helpers at rest or driven.
#include "bake.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Corrections of pose space are no quadratics of joints: fewer poses were fitted by heart.
enum { LEARNED = 400, LEARNED_POSE_SPACE = 1200, UNSEEN = 100 };

// Room for more frames behind those of the clips.
static bool grow(bake_job *job, uint32_t more, uint32_t nodes)
{
    const size_t count = (size_t)job->frames.count + more;
    void *times = realloc(job->times, (count + 1) * sizeof *job->times);
    if (times) job->times = times;
    void *clips = realloc(job->clips, (count + 1) * sizeof *job->clips);
    if (clips) job->clips = clips;
    void *held_out = realloc(job->held_out, count + 1);
    if (held_out) job->held_out = held_out;
    void *poses = realloc(job->poses, (count * nodes + 1) * sizeof *job->poses);
    if (poses) job->poses = poses;
    return times && clips && held_out && poses;
}

int bake_add_poses(cli_app *app, bake_job *job)
{
    const uint32_t nodes = cutis_model_get(job->model)->node_count, count = job->frames.count;
    const bool space = job->method == CUTIS_METHOD_PSD || job->method == CUTIS_METHOD_WPSD;
    const uint32_t learned = !job->options.drivers ? 0 : space ? LEARNED_POSE_SPACE : LEARNED;
    if (!grow(job, learned + UNSEEN, nodes)) return bake_no_memory(app, job);
    // Ranges are those of all clips, also where nothing else is learned from them.
    cutis_transform *to = job->poses + (size_t)count * nodes;
    // Pose space gains nothing by the ends of ranges.
    if (learned)
        TRY(app_result(app, job->path,
                       (space ? cutis_bake_poses : cutis_bake_swings)(job->model, job->poses, count,
                                                                      1, learned, to)));
    TRY(app_result(
        app, job->path,
        cutis_bake_poses(job->model, job->poses, count, 2, UNSEEN, to + (size_t)learned * nodes)));
    for (uint32_t f = 0; f < learned + UNSEEN; f++) {
        job->times[count + f] = 0;
        job->clips[count + f] = CUTIS_NONE;
        job->held_out[count + f] = f >= learned;
    }
    job->frames.count += learned + UNSEEN;
    return EXIT_GOOD;
}

// RMS over the unseen poses of a model that linear blending plays.
static int play_unseen(cli_app *app, const bake_job *job, cutis_model *model, double *rms,
                       double *most)
{
    OWN(cutis_binding) *binding = NULL;
    const uint32_t vertices = cutis_model_vertex_count(model), count = job->deformed;
    const size_t nodes = cutis_model_get(job->model)->node_count, batch = bake_batch(job);
    const size_t own = cutis_model_get(model)->node_count; // helpers too
    OWN_MEMORY cutis_transform *poses = malloc((batch * own + 1) * sizeof *poses);
    OWN_MEMORY float *positions = malloc((3 * batch * vertices + 1) * sizeof *positions);
    double sum = 0, counted = 0;
    if (!poses || !positions) return bake_no_memory(app, job);
    TRY(app_result(app, job->path, cutis_bind(job->device, model, NULL, &binding)));
    for (size_t k = 0; k < batch; k++) cutis_pose_rest(model, poses + k * own, NULL);
    *most = 0;
    for (uint32_t k = 0; k < UNSEEN; k++) {
        // NOLINTNEXTLINE(clang-analyzer-core.DivideZero): a batch is one frame or more
        const size_t at = k % batch, left = UNSEEN - k, some = left < batch ? left : batch;
        const uint32_t f = count - UNSEEN + k;
        const float *target = job->positions + 3 * (size_t)f * vertices;
        const float *found = positions + 3 * at * vertices;
        for (size_t i = 0; i < some && at == 0; i++)
            memcpy(poses + i * own, job->poses + (f + i) * nodes, nodes * sizeof *poses);
        if (at == 0)
            TRY(app_result(
                app, job->path,
                cutis_deform(binding, &(cutis_poses){ .kind = CUTIS_POSE_LOCAL, .local = poses },
                             (uint32_t)some, &(cutis_outputs){ .positions.data = positions })));
        for (uint32_t v = 0; v < vertices; v++) {
            double square = 0;
            if (!job->counted[v]) continue;
            for (size_t c = 0; c < 3; c++) {
                const double d = (double)found[3 * (size_t)v + c] - target[3 * (size_t)v + c];
                square += d * d;
            }
            sum += square, counted++;
            *most = fmax(*most, sqrt(square));
        }
    }
    *rms = counted > 0 ? sqrt(sum / counted) : 0;
    return EXIT_GOOD;
}

int bake_judge_driven(cli_app *app, bake_job *job)
{
    bake_driven *d = &job->driven;
    if (job->deformed <= bake_clip_frames(job)) return EXIT_GOOD; // nothing but clips
    const cutis_drivers *drivers = cutis_model_get(job->baked)->drivers;
    const bool known = d->poses > 0; // of plain blending, which stays
    d->poses = UNSEEN, d->inputs = 0;
    for (uint32_t k = 0; drivers && k < drivers->driver_count; k++)
        d->inputs += drivers->drivers[k].input_count;
    if (!known) TRY(play_unseen(app, job, job->model, &d->plain_rms, &d->plain_max));
    return play_unseen(app, job, job->baked, &d->rms, &d->max);
}
