/// Andersen 2007: its two characters (Table 2), skinning times (Table 3 and the ratios of its
/// text), and the three poses of Figures 5 to 7 with what each method does to the volume.
#include "reproduce/reproduce.h"

#include <math.h>
#include <stdlib.h>

#include "bench/bench.h"

enum { SKELETON, WOMAN, CHARACTERS };

static const struct {
    const char *name;
    double vertices, triangles, joints, sets; ///< Table 2
    uint32_t influences;                      ///< its vertices have at most
} CHARACTER[CHARACTERS] = {
    { "Skeleton", 2365, 4412, 23, 0, 1 },
    { "Woman", 1844, 3342, 37, 62, 4 },
};

/// Table 3, seconds. A method without a table of centres solves one for every vertex.
static const struct {
    const char *name;
    double seconds[CHARACTERS];
    bool gpu, has_own;
    cutis_bind_options bind, own;
} TIMES[] = {
    { .name = "LBS", .seconds = { 0.0133, 0.0102 } },
    { .name = "SBS",
      .seconds = { 0.0144, 0.0506 },
      .bind = { .method = CUTIS_METHOD_SBS, .weighted_centres = true } },
    { .name = "SBS with table",
      .seconds = { 0.0143, 0.0171 },
      .has_own = true,
      .bind = { .method = CUTIS_METHOD_SBS },
      .own = { .method = CUTIS_METHOD_SBS, .paper = { .centres = true, .normals = true } } },
    { .name = "LBS, GPU", .seconds = { 0.0006, 0.0006 }, .gpu = true },
    { .name = "SBS, GPU",
      .seconds = { 0.0006, 0.0358 },
      .gpu = true,
      .bind = { .method = CUTIS_METHOD_SBS, .weighted_centres = true } },
    { .name = "SBS with table, GPU",
      .seconds = { 0.0007, 0.0032 },
      .gpu = true,
      .has_own = true,
      .bind = { .method = CUTIS_METHOD_SBS },
      .own = { .method = CUTIS_METHOD_SBS, .paper = { .centres = true, .normals = true } } },
};
enum { TIMED = sizeof TIMES / sizeof TIMES[0] };

static cutis_result make_character(reproduce_job *job, int c, cutis_model **out)
{
    OWN(cutis_model) *biped = NULL;
    cutis_synth_options synth = { .vertex_count = (uint32_t)CHARACTER[c].vertices };
    TRY(cutis_synth_create(job->app->context, &synth, &biped));
    return cutis_weights_limit(biped, CHARACTER[c].influences, out);
}

static cutis_result show_sizes(reproduce_job *job, cutis_model *const *models)
{
    reproduce_table *t = reproduce_table_add(job, "Table 2", "the two characters");
    const char *const names[4] = { "vertices", "triangles", "joints", "bone sets" };
    for (int m = 0; m < 4; m++) reproduce_metric_add(t, names[m], NULL, REPRODUCE_PLAIN);
    t->ours = "bipeds made by code; the first follows one bone a vertex, as the paper's does";
    for (int c = 0; c < CHARACTERS; c++) {
        reproduce_cell *cells = reproduce_row_add(t, NULL, "%s", CHARACTER[c].name);
        cutis_weight_summary s;
        TRY(cutis_weights_summarize(models[c], &s));
        const double paper[4] = { CHARACTER[c].vertices, CHARACTER[c].triangles,
                                  CHARACTER[c].joints, CHARACTER[c].sets };
        const double ours[4] = { cutis_model_vertex_count(models[c]),
                                 (double)cutis_model_triangle_count(models[c]), s.joint_count,
                                 s.bone_set_count };
        for (int m = 0; m < 4; m++) cells[m].paper = paper[m], cells[m].ours = ours[m];
    }
    reproduce_show(job, t);
    return CUTIS_OK;
}

static cutis_result time_frame(reproduce_job *job, bool gpu, const cutis_model *model,
                               cutis_bind_options bind, double *milliseconds)
{
    double seconds = 0;
    bind.normals = true;
    cutis_result result =
        bench_frame_time(gpu ? job->gpu : job->single, model, &bind, job->budget, &seconds);
    if (result == CUTIS_OK) *milliseconds = 1e3 * seconds;
    return result;
}

static cutis_result show_times(reproduce_job *job, cutis_model *const *models,
                               double ours[TIMED][CHARACTERS])
{
    reproduce_table *t = reproduce_table_add(job, "Table 3", "skinning time of one frame");
    t->own = "centres about the world's origin, normals blended linearly";
    t->ours = "centres in closed form about the bones' mean, normals turned with the rotation; the "
              "rows without table solve a centre for every vertex (sbs --weighted)";
    snprintf(t->note, sizeof t->note,
             "Positions and normals, one core. Published as seconds over 1000 poses, without pose "
             "computation; here the best of many frames.%s",
             job->gpu ? " GPU: one character in a dispatch." : "");
    for (int c = 0; c < CHARACTERS; c++)
        reproduce_metric_add(t, CHARACTER[c].name, "ms", REPRODUCE_LESS);
    for (int i = 0; i < TIMED; i++) {
        reproduce_cell *cells = reproduce_row_add(t, NULL, "%s", TIMES[i].name);
        if (!reproduce_progress(job, TIMES[i].name, (double)i / TIMED)) return CUTIS_CANCELLED;
        for (int c = 0; c < CHARACTERS; c++) {
            cells[c].paper = 1e3 * TIMES[i].seconds[c];
            ours[i][c] = NAN;
            if (TIMES[i].gpu && !job->gpu) continue;
            TRY(time_frame(job, TIMES[i].gpu, models[c], TIMES[i].bind, &cells[c].ours));
            ours[i][c] = cells[c].ours;
            if (TIMES[i].has_own)
                TRY(time_frame(job, TIMES[i].gpu, models[c], TIMES[i].own, &cells[c].own));
        }
    }
    reproduce_show(job, t);
    if (!job->gpu)
        reproduce_missing(job, "GPU rows of Table 3", "no GPU: --device cuda measures them");
    return CUTIS_OK;
}

static void show_ratios(reproduce_job *job, double ours[TIMED][CHARACTERS])
{
    reproduce_table *t =
        reproduce_table_add(job, "Section 5.1", "the ratios it draws from Table 3");
    static const struct {
        const char *name;
        int over, under;
    } rows[] = {
        { "SBS with table / LBS, CPU", 2, 0 },          { "what the table gains, CPU", 1, 2 },
        { "SBS with table / LBS, GPU", 5, 3 },          { "what the table gains, GPU", 4, 5 },
        { "what the GPU gains, SBS with table", 2, 5 },
    };
    reproduce_metric_add(t, "Woman", "times", REPRODUCE_PLAIN);
    t->ours = "the same ratio of our times";
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        reproduce_cell *cells = reproduce_row_add(t, NULL, "%s", rows[i].name);
        cells[0].paper = TIMES[rows[i].over].seconds[WOMAN] / TIMES[rows[i].under].seconds[WOMAN];
        cells[0].paper = round(100 * cells[0].paper) / 100;
        cells[0].ours = ours[rows[i].over][WOMAN] / ours[rows[i].under][WOMAN];
    }
    reproduce_show(job, t);
}

// Figures 5, 6 and 7 ----------------------------------------------------------------------------

typedef struct turn {
    const char *joint;
    cutis_float3 axis;
    float degrees;
} turn;

static const struct {
    const char *name, *caption;
    turn turns[6];
    double yaw;
    cutis_bounds frame; ///< metres
} POSES[] = {
    { "Figure 5: a twisted arm",
      "Figure 5: an arm twisted. LBS narrows at the shoulder, SBS keeps it; the paper shows these "
      "two.",
      { { "upperarm_l", { 0.766f, -0.643f, 0 }, 150 }, { "upperarm_r", { 0, 0, 1 }, 15 } },
      20,
      { { -0.05f, 1.05f, -0.2f }, { 0.6f, 1.7f, 0.2f } } },
    { "Figure 6: a kicking leg",
      "Figure 6: a kick. The paper's SBS leaves artefacts at the hip, where bone sets change; a "
      "centre for every vertex does not.",
      { { "thigh_l", { 1, 0, 0 }, -95 },
        { "shin_l", { 1, 0, 0 }, 20 },
        { "thigh_r", { 1, 0, 0 }, 8 } },
      60,
      { { -0.25f, 0.55f, -0.2f }, { 0.25f, 1.25f, 0.6f } } },
    { "Figure 7: flexed legs",
      "Figure 7: both legs flexed.",
      { { "thigh_l", { 1, 0, 0 }, -100 },
        { "shin_l", { 1, 0, 0 }, 115 },
        { "thigh_r", { 1, 0, 0 }, -100 },
        { "shin_r", { 1, 0, 0 }, 115 } },
      60,
      { { -0.25f, 0.5f, -0.25f }, { 0.25f, 1.2f, 0.55f } } },
};
enum { SHOWN = 4 };
static const struct {
    const char *title;
    cutis_bind_options bind;
} METHODS[SHOWN] = {
    { "LBS", { 0 } },
    { "SBS, the paper's",
      { .method = CUTIS_METHOD_SBS, .paper = { .centres = true, .normals = true } } },
    { "SBS weighted, ours", { .method = CUTIS_METHOD_SBS, .weighted_centres = true } },
    { "optimized centres", { .method = CUTIS_METHOD_COR } },
};

static void make_pose(const cutis_model *model, const turn *turns, cutis_transform *pose)
{
    cutis_pose_rest(model, pose, NULL);
    for (int i = 0; i < 6 && turns[i].joint; i++) {
        uint32_t node = 0;
        if (cutis_model_find_joint(model, turns[i].joint, &node) == CUTIS_OK)
            pose[node].rotation = cutis_quat_multiply(
                pose[node].rotation,
                cutis_quat_from_axis_angle(turns[i].axis, turns[i].degrees * 0.01745329252f));
    }
}

static cutis_result show_pose(reproduce_job *job, const cutis_model *model, const rest_shape *rest,
                              size_t figure, reproduce_cell *cells)
{
    OWN_MEMORY cutis_transform *pose =
        calloc(cutis_model_get(model)->node_count + (size_t)1, sizeof *pose);
    OWN_MEMORY float *memory = calloc(SHOWN * 6 * (size_t)rest->vertex_count, sizeof *memory);
    picture_view views[SHOWN] = { 0 };
    char subtitles[SHOWN][48];
    if (!pose || !memory) return CUTIS_OUT_OF_MEMORY;
    cutis_surface still = rest_shape_surface(rest, rest->positions);
    const double volume = cutis_surface_volume(&still);
    make_pose(model, POSES[figure].turns, pose);
    for (int m = 0; m < SHOWN; m++) {
        cutis_bind_options bind = METHODS[m].bind;
        float *positions = memory + 6 * (size_t)m * rest->vertex_count;
        float *normals = positions + 3 * (size_t)rest->vertex_count;
        bind.normals = true;
        TRY(bench_deform(job->device, model, &bind, &(cutis_poses){ .local = pose }, 1,
                         &(cutis_outputs){ .positions.data = positions, .normals.data = normals }));
        views[m] = (picture_view){ .surface = rest_shape_surface(rest, positions),
                                   .normals = normals,
                                   .title = METHODS[m].title,
                                   .subtitle = subtitles[m] };
        double change = 100 * (cutis_surface_volume(&views[m].surface) - volume) / volume;
        *(m == 1 ? &cells[1].own : m == 2 ? &cells[1].ours : &cells[m == 0 ? 0 : 2].ours) = change;
        snprintf(subtitles[m], sizeof subtitles[m], "volume %+.2f %%", change);
    }
    return reproduce_pictures(
        job, views, SHOWN,
        (cutis_camera){ .yaw = POSES[figure].yaw, .pitch = 8, .frame = POSES[figure].frame }, NULL,
        POSES[figure].caption);
}

static cutis_result show_poses(reproduce_job *job)
{
    OWN(cutis_model) *model = NULL;
    ENDS_BY(rest_shape_release) rest_shape rest = { 0 };
    reproduce_table *t =
        reproduce_table_add(job, "Figures 5-7", "volume in three poses against rest");
    const char *const names[3] = { "LBS", "SBS", "optimized centres" };
    cutis_synth_options synth = { .vertex_count = job->quick ? 3000 : 12000 };
    TRY(cutis_synth_create(job->app->context, &synth, &model));
    TRY(reproduce_rest(job, model, &rest));
    for (int m = 0; m < 3; m++) reproduce_metric_add(t, names[m], "%", REPRODUCE_PLAIN);
    t->own = "as in Table 3";
    t->ours = "a centre for every vertex (sbs --weighted)";
    snprintf(t->note, sizeof t->note, "The paper shows these poses and gives no figures.");
    for (size_t f = 0; f < sizeof POSES / sizeof *POSES; f++)
        TRY(show_pose(job, model, &rest, f, reproduce_row_add(t, NULL, "%s", POSES[f].name)));
    reproduce_show(job, t);
    return CUTIS_OK;
}

cutis_result reproduce_sbs(reproduce_job *job)
{
    cutis_model *models[CHARACTERS] = { NULL };
    double ours[TIMED][CHARACTERS];
    cutis_result result = CUTIS_OK;
    for (int c = 0; c < CHARACTERS && result == CUTIS_OK; c++)
        result = make_character(job, c, &models[c]);
    if (result == CUTIS_OK) result = show_sizes(job, models);
    if (result == CUTIS_OK) result = show_times(job, models, ours);
    if (result == CUTIS_OK) show_ratios(job, ours);
    for (int c = 0; c < CHARACTERS; c++) cutis_model_destroy(models[c]);
    return result == CUTIS_OK ? show_poses(job) : result;
}
