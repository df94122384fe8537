/// cutis bench pose: sample two clips, blend them half and half, go to model space; 64 joints.
#include "bench/bench.h"

typedef struct pose_work {
    const cutis_model *model;
    cutis_sampler *samplers[2];
    cutis_transform *transforms[2];
    cutis_mat34 *world;
    double seconds; // moves on, so that no call finds the last one's keys
} pose_work;

static cutis_result sample_both(void *data)
{
    pose_work *w = data;
    w->seconds += 0.0137;
    if (w->seconds > 1.0) w->seconds -= 1.0;
    for (int i = 0; i < 2; i++)
        cutis_sampler_sample(w->samplers[i], (float)w->seconds, w->transforms[i], NULL);
    return CUTIS_OK;
}

static cutis_result whole_pose(void *data)
{
    pose_work *w = data;
    sample_both(w);
    cutis_pose_blend(w->transforms[0], w->transforms[1], 0.5f,
                     cutis_model_get(w->model)->node_count, w->transforms[0]);
    cutis_pose_world(w->model, w->transforms[0], w->world);
    return CUTIS_OK;
}

static cutis_result measure(cli_app *app, double budget, double seconds[2])
{
    pose_work w = { 0 };
    memory_list memory = { 0 };
    cutis_model *model = NULL;
    cutis_result result = bench_body_create(app->context, 64, 2, &model);
    if (result != CUTIS_OK) return result;
    const uint32_t count = cutis_model_get(model)->node_count;
    w.model = model;
    w.world = memory_take(&memory, count, sizeof *w.world);
    for (uint32_t i = 0; i < 2 && result == CUTIS_OK; i++) {
        w.transforms[i] = memory_take(&memory, count, sizeof *w.transforms[i]);
        result =
            memory.failed ? CUTIS_OUT_OF_MEMORY : cutis_sampler_create(model, i, &w.samplers[i]);
    }
    if (result == CUTIS_OK) result = bench_best(sample_both, &w, budget, &seconds[0]);
    if (result == CUTIS_OK) result = bench_best(whole_pose, &w, budget, &seconds[1]);
    for (int i = 0; i < 2; i++) cutis_sampler_destroy(w.samplers[i]);
    memory_release(&memory);
    cutis_model_destroy(model);
    return result;
}

int bench_poses(cli_app *app)
{
    double seconds[2];
    TRY(app_result(app, "bench pose",
                   measure(app, option_given(app, OPTION_QUICK) ? 0.1 : 1.0, seconds)));
    app_say(app, "pose of %d joints: sample two clips, blend, to model space\n", BENCH_BONES);
    app_say(app, "  %-34s %7.3f us\n", "all three", 1e6 * seconds[1]);
    app_say(app, "  %-34s %7.3f us\n", "sampling the two clips", 1e6 * seconds[0]);
    bench_figures figures = { 0 };
    bench_figure_add(&figures, "microseconds_a_pose", 0, 1e6 * seconds[1], false, 1.5);
    bench_figures_say(app, &figures);
    if (!app->json) return EXIT_GOOD;
    json_out json = { .file = stdout };
    emit(&json, "{ rows [ { joints %u clips %u microseconds %g sample_microseconds %g } ]",
         BENCH_BONES, 2, 1e6 * seconds[1], 1e6 * seconds[0]);
    bench_figures_emit(&json, &figures);
    emit_end(&json);
    return EXIT_GOOD;
}
