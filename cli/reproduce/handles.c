/// Xian, Huang, Jin, Luo and Wang: the stages of binding handles (Table 1), and weights and a
/// dragged pose like their Figure 3. Their models are not to be had and their sizes not published:
/// generated bodies with the same kinds of handles stand in for them.
#include "reproduce/reproduce.h"

#include <math.h>
#include <stdlib.h>

#include "bench/bench.h"
#include "bench/measure.h"

enum { STAGES = 4 };
typedef enum handle_kind { POINTS, POINTS_AND_BARS, BONES } handle_kind;

static const struct {
    const char *name;
    double milliseconds[STAGES]; ///< t_v t_h t_w t_u
    cutis_body body;
    handle_kind kind;
} MODELS[] = {
    { "Dragon", { 200, 1537, 80, 11 }, CUTIS_BODY_QUADRUPED, POINTS },
    { "Human", { 205, 2901, 140, 19 }, CUTIS_BODY_BIPED, BONES },
    { "Dino", { 266, 986, 16, 4 }, CUTIS_BODY_QUADRUPED, POINTS_AND_BARS },
    { "Armadillo", { 422, 21968, 94, 16 }, CUTIS_BODY_BIPED, POINTS },
};
enum { COUNT = sizeof MODELS / sizeof MODELS[0] };
static const char *const STAGE_NAMES[STAGES] = { "voxels t_v", "handles t_h", "weights t_w",
                                                 "update t_u" };
static const char *const KIND_NAMES[] = { "20 points", "14 points, 6 bars", "its bones" };

static void set_stages(const bench_handles_row *row, bool own, reproduce_cell *cells)
{
    const double stages[STAGES] = { row->stages.voxelise,
                                    row->stages.distances + row->stages.insertion,
                                    row->stages.weights, row->update };
    for (int k = 0; k < STAGES; k++) *(own ? &cells[k].own : &cells[k].ours) = 1e3 * stages[k];
}

// Six of the points become bars, each half way to the nearest other point.
static void make_bars(cutis_handle *handles)
{
    for (uint32_t h = 0; h < 6; h++) {
        double least = INFINITY;
        cutis_float3 to = handles[h].from;
        for (uint32_t k = 0; k < BENCH_HANDLES; k++) {
            cutis_float3 a = handles[h].from, b = handles[k].from;
            double d = hypot(hypot((double)a.x - b.x, (double)a.y - b.y), (double)a.z - b.z);
            if (k != h && d < least)
                least = d, to = (cutis_float3){ 0.6f * a.x + 0.4f * b.x, 0.6f * a.y + 0.4f * b.y,
                                                0.6f * a.z + 0.4f * b.z };
        }
        handles[h].kind = CUTIS_HANDLE_BAR;
        handles[h].to = to;
    }
}

static cutis_result time_bones(reproduce_job *job, const cutis_model *model, bench_handles_row *row)
{
    const cutis_handles_options options = { .weighting = row->weighting };
    OWN(cutis_model) *bound = NULL;
    row->bind = INFINITY;
    for (int run = 0; run < 2; run++) {
        OWN(cutis_handles_report) *report = NULL;
        cutis_model_destroy(bound);
        bound = NULL;
        const double start = app_seconds();
        TRY(cutis_handles_skeleton(model, job->device, &options, &bound, &report));
        if (app_seconds() - start < row->bind)
            row->bind = app_seconds() - start, row->stages = report->seconds;
    }
    return bench_frame_time(job->device, bound, &(cutis_bind_options){ 0 }, job->budget,
                            &row->update);
}

static cutis_result time_model(reproduce_job *job, int i, const cutis_model *model,
                               reproduce_cell *cells)
{
    cutis_handle handles[BENCH_HANDLES];
    if (MODELS[i].kind != BONES) bench_handles_spread(model, handles);
    if (MODELS[i].kind == POINTS_AND_BARS) make_bars(handles);
    for (int own = 0; own < 2; own++) {
        bench_handles_row row = { .voxels = 128,
                                  .weighting =
                                      own ? CUTIS_WEIGHTING_VIRTUAL : CUTIS_WEIGHTING_FIELD };
        if (MODELS[i].kind == BONES) {
            TRY(time_bones(job, model, &row));
        } else {
            TRY(bench_handles_bind(job->device, job->budget, model, handles, BENCH_HANDLES, &row));
            TRY(bench_handles_update(job->device, job->budget, model, handles, BENCH_HANDLES,
                                     &row));
        }
        set_stages(&row, own, cells);
    }
    return CUTIS_OK;
}

static cutis_result show_stages(reproduce_job *job, cutis_model *const *bodies)
{
    reproduce_table *t = reproduce_table_add(job, "Table 1", "time cost of the stages");
    for (int k = 0; k < STAGES; k++) reproduce_metric_add(t, STAGE_NAMES[k], "ms", REPRODUCE_LESS);
    t->own = "supports of limited size, virtual handles inserted until all is covered";
    t->ours = "one harmonic field a handle on the voxels; t_h is the distances, since nothing is "
              "inserted";
    snprintf(t->note, sizeof t->note,
             "128 voxels along the longest side, all threads. The paper's grids, vertices and "
             "handles are not published.");
    for (int i = 0; i < COUNT; i++) {
        const cutis_model *model = bodies[MODELS[i].body == CUTIS_BODY_QUADRUPED];
        char body[64];
        snprintf(body, sizeof body, "%s %u, %s", cutis_body_name(MODELS[i].body),
                 cutis_model_vertex_count(model), KIND_NAMES[MODELS[i].kind]);
        reproduce_cell *cells = reproduce_row_add(t, body, "%s", MODELS[i].name);
        for (int k = 0; k < STAGES; k++) cells[k].paper = MODELS[i].milliseconds[k];
        if (!reproduce_progress(job, MODELS[i].name, (double)i / COUNT)) return CUTIS_CANCELLED;
        TRY(time_model(job, i, model, cells));
    }
    reproduce_show(job, t);
    return CUTIS_OK;
}

// Figure 3 --------------------------------------------------------------------------------------

/// The body at rest, the weight of one handle, and the body dragged by it.
typedef struct dragged {
    float *positions, *values;
    cutis_handle handles[BENCH_HANDLES];
    uint32_t taken; ///< the handle that is dragged
} dragged;

static cutis_result read_weights(reproduce_job *job, const cutis_model *model, dragged *d)
{
    OWN(cutis_handle_session) *session = NULL;
    const cutis_handles_options options = { .influences = 8 };
    TRY(cutis_handle_session_create(model, job->device, &options, &session));
    TRY(cutis_handles_set(session, d->handles, BENCH_HANDLES));
    const cutis_handles_view view = cutis_handles_look(session);
    for (size_t v = 0; v < view.vertex_count; v++)
        for (uint32_t k = 0; k < view.influences; k++)
            if (view.joints[v * view.influences + k] == d->taken)
                d->values[v] += view.weights[v * view.influences + k];
    return CUTIS_OK;
}

static cutis_result drag(reproduce_job *job, const cutis_model *model, dragged *d)
{
    const cutis_handle_motion motion = { .handle = d->taken,
                                         .rotation = cutis_quat_from_axis_angle(
                                             (cutis_float3){ 1, 0, 0 }, -0.5f),
                                         .translation = { 0, 0.12f, 0.06f } };
    const cutis_handle_pose pose = { .name = "dragged", .motion_count = 1, .motions = &motion };
    const cutis_handle_set set = { BENCH_HANDLES, d->handles, 1, &pose };
    const cutis_handles_options options = { .influences = 8 };
    OWN(cutis_model) *bound = NULL;
    OWN_MEMORY cutis_transform *local = NULL;
    TRY(cutis_handles_weights(model, job->device, &set, &options, &bound, NULL));
    const cutis_model_data *data = cutis_model_get(bound);
    const uint32_t last = data->clip_count - 1;
    local = calloc(data->node_count + (size_t)1, sizeof *local);
    TRY(local ? bench_sample(bound, last, data->clips[last].duration, local) : CUTIS_OUT_OF_MEMORY);
    return bench_deform(job->device, bound, NULL, &(cutis_poses){ .local = local }, 1,
                        &(cutis_outputs){ .positions.data = d->positions });
}

static void make_dots(const dragged *d, cutis_scene_line *lines)
{
    for (uint32_t h = 0; h < BENCH_HANDLES; h++)
        lines[h] =
            (cutis_scene_line){ .from = d->handles[h].from,
                                .to = d->handles[h].kind == CUTIS_HANDLE_BAR ? d->handles[h].to
                                                                             : d->handles[h].from,
                                .width = 4,
                                .dot = h == d->taken ? 9.0f : 6.0f,
                                .color = h == d->taken ? 0xd9472bffu : 0x2b5fb3ffu };
}

static cutis_result show_drag(reproduce_job *job, const cutis_model *model)
{
    const size_t count = cutis_model_vertex_count(model);
    OWN_MEMORY float *positions = calloc(count + 1, 3 * sizeof *positions);
    OWN_MEMORY float *values = calloc(count + 1, sizeof *values);
    dragged d = { .positions = positions, .values = values };
    cutis_scene_line lines[BENCH_HANDLES];
    ENDS_BY(rest_shape_release) rest_shape rest = { 0 };
    if (!positions || !values) return CUTIS_OUT_OF_MEMORY;
    bench_handles_spread(model, d.handles);
    make_bars(d.handles);
    for (uint32_t h = 0; h < BENCH_HANDLES; h++) // the foremost point: the head
        if (d.handles[h].from.z > d.handles[d.taken].from.z) d.taken = h;
    TRY(read_weights(job, model, &d));
    TRY(drag(job, model, &d));
    TRY(reproduce_rest(job, model, &rest));
    make_dots(&d, lines);
    const cutis_legend legend = { .map = CUTIS_COLORMAP_WEIGHT,
                                  .high = 1,
                                  .title = "weight of the red handle" };
    const picture_view views[3] = {
        { .surface = rest_shape_surface(&rest, rest.positions),
          .title = "handles",
          .line_count = BENCH_HANDLES,
          .lines = lines },
        { .surface = rest_shape_surface(&rest, rest.positions),
          .values = d.values,
          .title = "weight of one" },
        { .surface = rest_shape_surface(&rest, d.positions),
          .values = d.values,
          .title = "dragged by it" },
    };
    return reproduce_pictures(
        job, views, 3,
        (cutis_camera){ .yaw = 60, .pitch = 10, .frame = cutis_surface_bounds(&views[2].surface) },
        &legend,
        "Figure 3: points and bars on a quadruped, the weight of the one "
        "at the head, and the body dragged by it.");
}

cutis_result reproduce_handles(reproduce_job *job)
{
    cutis_model *bodies[2] = { NULL, NULL };
    cutis_result result = CUTIS_OK;
    for (int i = 0; i < 2 && result == CUTIS_OK; i++) {
        const cutis_synth_options synth = { .body = i ? CUTIS_BODY_QUADRUPED : CUTIS_BODY_BIPED,
                                            .vertex_count = job->quick ? 3000 : 46036 };
        result = cutis_synth_create(job->app->context, &synth, &bodies[i]);
    }
    if (result == CUTIS_OK) result = show_stages(job, bodies);
    if (result == CUTIS_OK) result = show_drag(job, bodies[1]);
    for (int i = 0; i < 2; i++) cutis_model_destroy(bodies[i]);
    reproduce_missing(job, "Figure 4",
                      "compares with Spokes-and-Rims and SR-ARAP, which Cutis does not have; the "
                      "text gives no figures");
    return result;
}
