/// Vasilakis and Fudos: the sizes of their models (Table 1), skeleton extraction (Table 2), and a
/// knee that bends (Table 3, Figures 2, 21 and 22): volume and curvature by fill, time of a frame.
#include "reproduce/reproduce.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cutis/patches.h>

#include "bench/bench.h"
#include "bench/measure.h"

static const struct {
    const char *name;
    double components, vertices, triangles; ///< Table 1
} MODELS[BENCH_SKELETON_ROWS] = {
    { "Cow", 16, 3825, 7646 },
    { "Horse", 17, 8964, 17924 },
    { "Dilo", 37, 26214, 48924 },
    { "Human", 31, 74014, 140544 },
};

static cutis_result show_skeletons(reproduce_job *job)
{
    reproduce_table *sizes = reproduce_table_add(job, "Table 1", "the models");
    reproduce_table *times = reproduce_table_add(job, "Table 2", "extracting their skeletons");
    const char *const size_names[3] = { "components", "vertices", "triangles" };
    const char *const time_names[3] = { "kernel centroid", "principal axis", "total" };
    cutis_result result = CUTIS_OK;
    for (int k = 0; k < 3; k++) {
        reproduce_metric_add(sizes, size_names[k], NULL, REPRODUCE_PLAIN);
        reproduce_metric_add(times, time_names[k], "s", REPRODUCE_LESS);
    }
    sizes->ours = "bodies made by code, with as many parts: the smallest leaves join their parents";
    times->ours = "one thread, the best of five";
    for (int i = 0; i < BENCH_SKELETON_ROWS && result == CUTIS_OK; i++) {
        const bench_skeleton_row *row = &bench_skeleton_rows[i];
        const double paper[3] = { row->paper_kernel, row->paper_axes, row->paper_total };
        const char *body = cutis_body_name(row->body);
        bench_skeleton_figures f;
        reproduce_cell *size = reproduce_row_add(sizes, MODELS[i].name, body);
        reproduce_cell *time = reproduce_row_add(times, MODELS[i].name, body);
        size[0].paper = MODELS[i].components, size[1].paper = MODELS[i].vertices;
        size[2].paper = MODELS[i].triangles;
        for (int k = 0; k < 3; k++) time[k].paper = paper[k];
        if (!reproduce_progress(job, MODELS[i].name, i / 8.0)) return CUTIS_CANCELLED;
        if (job->quick && !row->quick) continue;
        result = bench_skeleton_measure(job->app, row, &f);
        if (result != CUTIS_OK) break;
        size[0].ours = row->parts, size[1].ours = row->vertices;
        size[2].ours = (double)f.triangles;
        time[0].ours = f.kernel, time[1].ours = f.axes, time[2].ours = f.total;
    }
    if (result != CUTIS_OK) return result;
    reproduce_show(job, sizes);
    reproduce_show(job, times);
    if (job->quick)
        reproduce_missing(job, "large bodies of Tables 1 and 2", "a quick run leaves them out");
    return CUTIS_OK;
}

// The knee
// -----------------------------------------------------------------------------------------

enum { ANGLES = 6, FILLS = 5 };
#define PATCHES(removal, fill)                                                                     \
    {                                                                                              \
        .method = CUTIS_METHOD_PATCHES, .normals = true, .patch_removal = removal,                 \
        .patch_fill = fill                                                                         \
    }
static const double DEGREES[ANGLES] = { 10, 30, 50, 70, 90, 110 };
static const struct {
    const char *name;
    cutis_bind_options options;
} FILL[FILLS] = {
    { "mean", PATCHES(CUTIS_PATCH_BOX, CUTIS_PATCH_FILL_MEAN) },
    { "intersection", PATCHES(CUTIS_PATCH_BOX, CUTIS_PATCH_FILL_INTERSECTION) },
    { "reduced", PATCHES(CUTIS_PATCH_BOX, CUTIS_PATCH_FILL_REDUCED) },
    { "between", PATCHES(CUTIS_PATCH_BOX, CUTIS_PATCH_FILL_BETWEEN) },
    { "volume kept", PATCHES(CUTIS_PATCH_CUT, CUTIS_PATCH_FILL_KEEP) },
};
enum { REDUCED = 2, KEPT = 4 };

/// What is measured of one fill at one angle. Curvature: medians, % against rest; the patch's in
/// degrees.
typedef struct knee_figures {
    double volume, seconds;
    double thigh, shin, patch;
} knee_figures;

/// One body and memory for its frames.
typedef struct knee {
    cutis_model *model;
    uint32_t node;
    cutis_transform *pose;
    float *positions, *normals;
    uint32_t *indices, *labels, counts[2];
    knee_figures figures[FILLS][ANGLES];
    double lbs[ANGLES];
} knee;

static void set_angle(knee *k, double degrees)
{
    cutis_pose_rest(k->model, k->pose, NULL);
    k->pose[k->node].rotation = cutis_quat_from_axis_angle(
        (cutis_float3){ 1, 0, 0 }, (float)(degrees * 3.14159265358979 / 180));
}

typedef struct frame_call {
    cutis_binding *patches;
    knee *knee;
} frame_call;

static cutis_result run_frame(void *data)
{
    const frame_call *call = data;
    knee *k = call->knee;
    const cutis_outputs output = { .positions.data = k->positions,
                                   .normals.data = k->normals,
                                   .topology.indices.data = k->indices,
                                   .topology.labels.data = k->labels,
                                   .topology.counts.data = k->counts };
    return cutis_deform(call->patches, &(cutis_poses){ .local = k->pose }, 1, &output);
}

static bool knee_grow(knee *k, const cutis_patches_info *info)
{
    free(k->positions), free(k->normals), free(k->indices), free(k->labels);
    k->positions = calloc(info->vertex_capacity, 3 * sizeof *k->positions);
    k->normals = calloc(info->vertex_capacity, 3 * sizeof *k->normals);
    k->indices = calloc(info->triangle_capacity, 3 * sizeof *k->indices);
    k->labels = calloc(info->triangle_capacity, sizeof *k->labels);
    return k->positions && k->normals && k->indices && k->labels;
}

static double frame_volume(const knee *k)
{
    const cutis_surface surface = { k->counts[0], k->counts[1], k->positions, k->indices };
    return cutis_surface_volume(&surface);
}

static cutis_result measure_bend(reproduce_job *job, const knee *k, uint32_t labels, double *out)
{
    const cutis_surface surface = { k->counts[0], k->counts[1], k->positions, k->indices };
    return cutis_surface_bend(job->app->context, &surface, NULL, k->labels, labels, out, NULL);
}

// All angles with one fill: volume of the joint, medians of its parts, time of a frame.
static cutis_result measure_fill(reproduce_job *job, knee *k, int fill, cutis_binding *patches)
{
    const cutis_patches_info info = cutis_patches_describe(patches);
    const uint32_t labels = info.part_count + info.joint_count;
    frame_call call = { patches, k };
    double *bends = calloc(2 * (size_t)labels, sizeof *bends);
    cutis_patches_joint joint = { 0 };
    uint32_t at = 0;
    for (uint32_t j = 0; j < info.joint_count; j++)
        if (cutis_patches_joint_at(patches, j).node == k->node)
            joint = cutis_patches_joint_at(patches, at = j);
    cutis_result result = bends && knee_grow(k, &info) ? CUTIS_OK : CUTIS_OUT_OF_MEMORY;
    double rest = 0;
    set_angle(k, 0);
    if (result == CUTIS_OK) result = run_frame(&call);
    if (result == CUTIS_OK) rest = frame_volume(k);
    if (result == CUTIS_OK) result = measure_bend(job, k, labels, bends);
    for (int a = 0; a < ANGLES && result == CUTIS_OK; a++) {
        knee_figures *f = &k->figures[fill][a];
        double *now = bends + labels;
        set_angle(k, DEGREES[a]);
        result = run_frame(&call);
        if (result == CUTIS_OK) result = measure_bend(job, k, labels, now);
        if (result != CUTIS_OK) break;
        f->volume = 100 * (frame_volume(k) - rest) / (joint.parent_volume + joint.child_volume);
        f->thigh = 100 * (now[joint.parent] - bends[joint.parent]) / bends[joint.parent];
        f->shin = 100 * (now[joint.child] - bends[joint.child]) / bends[joint.child];
        f->patch = now[info.part_count + at];
        if (fill == REDUCED || fill == KEPT) // the two whose times are shown, on the paper's knee
            result = bench_patches_knee(job->app->context, job->single, &FILL[fill].options,
                                        DEGREES[a], job->budget, &f->seconds);
    }
    free(bends);
    return result;
}

/// A view of the last frame, with its own copy of the arrays.
typedef struct shot {
    float *positions, *normals;
    uint32_t *indices;
    char subtitle[48];
    reproduce_view view;
} shot;

static void *copied(const void *data, size_t size)
{
    void *out = malloc(size ? size : 1);
    if (out) memcpy(out, data, size);
    return out;
}

static cutis_result take_shot(const knee *k, const char *title, double volume, shot *out)
{
    const size_t vertices = 12 * (size_t)k->counts[0];
    out->positions = copied(k->positions, vertices);
    out->normals = copied(k->normals, vertices);
    out->indices = copied(k->indices, 12 * (size_t)k->counts[1]);
    snprintf(out->subtitle, sizeof out->subtitle, "joint volume %+.2f %%", volume);
    if (!out->positions || !out->normals || !out->indices) return CUTIS_OUT_OF_MEMORY;
    out->view =
        (reproduce_view){ .surface = { k->counts[0], k->counts[1], out->positions, out->indices },
                          .normals = out->normals,
                          .title = title,
                          .subtitle = out->subtitle };
    return CUTIS_OK;
}

// Linear blending loses volume of the whole body; told as a part of the two parts' as well.
static cutis_result measure_lbs(reproduce_job *job, knee *k, double parts, shot *out)
{
    cutis_binding *binding = NULL;
    rest_shape rest = { 0 };
    cutis_result result = reproduce_rest(job, k->model, &rest);
    if (result == CUTIS_OK)
        result =
            cutis_bind(job->device, k->model, &(cutis_bind_options){ .normals = true }, &binding);
    cutis_surface surface = rest_shape_surface(&rest, rest.positions);
    const double volume = result == CUTIS_OK ? cutis_surface_volume(&surface) : 0;
    float *positions = malloc(12 * (size_t)rest.vertex_count + 1);
    float *normals = malloc(12 * (size_t)rest.vertex_count + 1);
    if (result == CUTIS_OK && (!positions || !normals)) result = CUTIS_OUT_OF_MEMORY;
    surface.positions = positions;
    for (int a = 0; a < ANGLES && result == CUTIS_OK; a++) {
        set_angle(k, DEGREES[a]);
        result =
            cutis_deform(binding, &(cutis_poses){ .local = k->pose }, 1,
                         &(cutis_outputs){ .positions.data = positions, .normals.data = normals });
        if (result == CUTIS_OK) k->lbs[a] = 100 * (cutis_surface_volume(&surface) - volume) / parts;
        if (result == CUTIS_OK && DEGREES[a] == 90) {
            knee still = { .positions = positions,
                           .normals = normals,
                           .indices = rest.indices,
                           .counts = { rest.vertex_count, (uint32_t)rest.triangle_count } };
            result = take_shot(&still, "LBS", k->lbs[a], out);
        }
    }
    cutis_binding_destroy(binding);
    rest_shape_release(&rest);
    free(positions), free(normals);
    return result;
}

static cutis_result measure_knee(reproduce_job *job, knee *k, shot *shots)
{
    double parts = 0;
    cutis_result result = CUTIS_OK;
    for (int f = 0; f < FILLS && result == CUTIS_OK; f++) {
        cutis_binding *patches = NULL;
        if (!reproduce_progress(job, FILL[f].name, 0.5 + f / 10.0)) return CUTIS_CANCELLED;
        result = cutis_bind(job->single, k->model, &FILL[f].options, &patches);
        if (result == CUTIS_OK) result = measure_fill(job, k, f, patches);
        if (result == CUTIS_OK && (f == REDUCED || f == KEPT)) {
            frame_call call = { patches, k };
            set_angle(k, 90);
            result = run_frame(&call);
            if (result == CUTIS_OK)
                result = take_shot(k,
                                   f == KEPT ? "plane cut, volume kept: ours"
                                             : "box, reduced volume: the paper's",
                                   k->figures[f][4].volume, &shots[f == KEPT ? 2 : 1]);
        }
        for (uint32_t j = 0; patches && j < cutis_patches_describe(patches).joint_count; j++) {
            const cutis_patches_joint joint = cutis_patches_joint_at(patches, j);
            if (joint.node == k->node) parts = joint.parent_volume + joint.child_volume;
        }
        cutis_binding_destroy(patches);
    }
    return result == CUTIS_OK ? measure_lbs(job, k, parts, &shots[0]) : result;
}

static void show_volume(reproduce_job *job, const knee *k)
{
    reproduce_table *t = reproduce_table_add(
        job, "Figure 22", "volume of thigh and shin as the knee bends, against rest");
    for (int f = 0; f < FILLS; f++) reproduce_metric_add(t, FILL[f].name, "%", REPRODUCE_PLAIN);
    reproduce_metric_add(t, "LBS", "%", REPRODUCE_PLAIN);
    t->own = "its four alternatives, in its order";
    t->ours = "the cut along a plane, whose patch keeps the volume";
    snprintf(
        t->note, sizeof t->note,
        "The figure is a picture; its text says 'up to 0.1 %%'. With the paper's alternatives "
        "that holds for small bends only. Angles are from the straight knee: the paper's 170 to "
        "80 degrees are 10 to 100 here.");
    for (int a = 0; a < ANGLES; a++) {
        char label[32];
        snprintf(label, sizeof label, "%g degrees", DEGREES[a]);
        reproduce_cell *cells = reproduce_row_add(t, label, NULL);
        for (int f = 0; f < FILLS; f++)
            *(f == KEPT ? &cells[f].ours : &cells[f].own) = k->figures[f][a].volume;
        cells[FILLS].ours = k->lbs[a];
    }
    reproduce_show(job, t);
}

static void show_curvature(reproduce_job *job, const knee *k)
{
    reproduce_table *t =
        reproduce_table_add(job, "Figure 21", "curvature of the parts as the knee bends");
    reproduce_metric_add(t, "thigh, median", "% against rest", REPRODUCE_PLAIN);
    reproduce_metric_add(t, "shin, median", "% against rest", REPRODUCE_PLAIN);
    reproduce_metric_add(t, "patch, median", "degrees", REPRODUCE_PLAIN);
    t->own = "its third alternative, reduced volume";
    t->ours = "as in Figure 22";
    snprintf(t->note, sizeof t->note,
             "The largest angle between a vertex's normal and a neighbour's. The paper finds "
             "negligible changes of the parts.");
    for (int a = 0; a < ANGLES; a++) {
        char label[32];
        snprintf(label, sizeof label, "%g degrees", DEGREES[a]);
        reproduce_cell *cells = reproduce_row_add(t, label, NULL);
        const knee_figures *own = &k->figures[REDUCED][a], *ours = &k->figures[KEPT][a];
        cells[0].own = own->thigh, cells[0].ours = ours->thigh;
        cells[1].own = own->shin, cells[1].ours = ours->shin;
        cells[2].own = own->patch, cells[2].ours = ours->patch;
    }
    reproduce_show(job, t);
}

static void show_times(reproduce_job *job, const knee *k)
{
    reproduce_table *t = reproduce_table_add(job, "Table 3", "a frame of the knee, CPU and GPU");
    reproduce_metric_add(t, "CPU", "ms", REPRODUCE_LESS);
    reproduce_metric_add(t, "GPU gains", "times", REPRODUCE_MORE);
    t->own = "its third alternative";
    t->ours = "one core, a knee of 891 and 1000 vertices, normals included";
    snprintf(t->note, sizeof t->note,
             "The table is a picture in the paper: its text says 'around 10x' for GPU against CPU, "
             "at 891 and 1000 vertices.");
    for (int a = 0; a < ANGLES; a++) {
        char label[32];
        snprintf(label, sizeof label, "%g degrees", DEGREES[a]);
        reproduce_cell *cells = reproduce_row_add(t, label, NULL);
        cells[0].own = 1e3 * k->figures[REDUCED][a].seconds;
        cells[0].ours = 1e3 * k->figures[KEPT][a].seconds;
    }
    reproduce_row_add(t, "10 to 100 degrees", NULL)[1].paper = 10;
    reproduce_show(job, t);
    reproduce_missing(job, "GPU gain of Table 3",
                      "one knee fills no GPU; cutis bench patches --device cuda measures a "
                      "thousand bodies");
}

static cutis_result plot_knee(reproduce_job *job, const knee *k)
{
    double values[FILLS + 1][ANGLES];
    cutis_series series[FILLS + 1];
    for (int f = 0; f <= FILLS; f++) {
        for (int a = 0; a < ANGLES; a++)
            values[f][a] = f < FILLS ? k->figures[f][a].volume : k->lbs[a];
        series[f] = (cutis_series){ f < FILLS ? FILL[f].name : "LBS", ANGLES, DEGREES, values[f] };
    }
    html_markup(&job->page, "<div class=\"grid\">\n");
    cutis_plot plot = { .title = "Figure 22: volume by fill",
                        .x_title = "bend, degrees",
                        .y_title = "% of thigh and shin",
                        .series_count = FILLS + 1,
                        .series = series };
    cutis_result result = html_put_plot(job->app->context, &job->page, plot);
    for (int f = 0; f < FILLS; f++)
        for (int a = 0; a < ANGLES; a++) values[f][a] = k->figures[f][a].patch;
    plot.title = "Figure 21: curvature of the patch", plot.y_title = "median, degrees";
    plot.series_count = FILLS, plot.from_zero = true;
    if (result == CUTIS_OK) result = html_put_plot(job->app->context, &job->page, plot);
    html_markup(&job->page, "</div>\n");
    return result;
}

static cutis_result show_knee(reproduce_job *job)
{
    knee *k = calloc(1, sizeof *k);
    shot shots[3] = { 0 };
    if (!k) return CUTIS_OUT_OF_MEMORY;
    const cutis_synth_options synth = { .vertex_count = job->quick ? 3000 : 12000 };
    cutis_result result = cutis_synth_create(job->app->context, &synth, &k->model);
    if (result == CUTIS_OK) result = cutis_model_find_joint(k->model, "shin_l", &k->node);
    if (result == CUTIS_OK) {
        k->pose = calloc(cutis_model_get(k->model)->node_count + (size_t)1, sizeof *k->pose);
        result = k->pose ? measure_knee(job, k, shots) : CUTIS_OUT_OF_MEMORY;
    }
    if (result == CUTIS_OK) {
        const reproduce_view views[3] = { shots[0].view, shots[1].view, shots[2].view };
        const cutis_camera camera = {
            .yaw = 75, .pitch = 6, .frame = { { -0.02f, 0.32f, -0.42f }, { 0.22f, 0.75f, 0.1f } }
        };
        show_times(job, k);
        result = reproduce_pictures(job, views, 3, camera, NULL,
                                    "Figure 2: the left knee bent by 90 degrees.");
    }
    if (result == CUTIS_OK) {
        show_volume(job, k);
        show_curvature(job, k);
        result = plot_knee(job, k);
    }
    for (int i = 0; i < 3; i++)
        free(shots[i].positions), free(shots[i].normals), free(shots[i].indices);
    free(k->positions), free(k->normals), free(k->indices), free(k->labels);
    free(k->pose);
    cutis_model_destroy(k->model);
    free(k);
    return result;
}

cutis_result reproduce_patches(reproduce_job *job)
{
    cutis_result result = show_skeletons(job);
    return result == CUTIS_OK ? show_knee(job) : result;
}
