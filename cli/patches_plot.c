/// measure --plot: the paper's Figures 21 and 22 for a joint of a model. Curvature of the two parts
/// and of the patch, and volume of the two parts, against the bend, for five fills and linear
/// blending.
#include <cutis/render.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "measure_shape.h"
#include "patches.h"

#define WAYS  6u
#define STEPS 23u // 0 .. 110 degrees by 5

typedef struct plot_way {
    const char *name;
    cutis_patch_removal removal;
    cutis_patch_fill fill;
} plot_way;

static const plot_way ways[WAYS] = {
    { "keep (cut)", CUTIS_PATCH_CUT, CUTIS_PATCH_FILL_KEEP },
    { "mean point (box)", CUTIS_PATCH_BOX, CUTIS_PATCH_FILL_MEAN },
    { "intersection point (box)", CUTIS_PATCH_BOX, CUTIS_PATCH_FILL_INTERSECTION },
    { "reduced volume (box)", CUTIS_PATCH_BOX, CUTIS_PATCH_FILL_REDUCED },
    { "in-between point (box)", CUTIS_PATCH_BOX, CUTIS_PATCH_FILL_BETWEEN },
    { "linear blending", CUTIS_PATCH_CUT, CUTIS_PATCH_FILL_DEFAULT },
};

typedef struct plot_job {
    cli_app *app;
    const char *path;
    cutis_model *model;
    cutis_device *device;
    patch_play patched;
    play linear;
    rest_shape rest; // the model's own triangles, for `linear`
    cutis_patches_joint joint;
    uint32_t joint_index;
    memory_list memory;
    uint32_t *parts, *weld; // of the model's triangles and vertices
    double *medians;
    double values[3][WAYS][STEPS]; // volume, parts, patch: % of rest (patch: degrees)
} plot_job;

static int find_joint(plot_job *job)
{
    const char *name = option_text(job->app, OPTION_JOINT);
    for (uint32_t j = 0; j < job->patched.info.joint_count; j++) {
        cutis_patches_joint joint = cutis_patches_joint_at(job->patched.patches, j);
        if (name && strcmp(cutis_patches_part_name(job->patched.patches, joint.child), name) != 0)
            continue;
        job->joint = joint;
        job->joint_index = j;
        return EXIT_GOOD;
    }
    return app_fail_text(job->app, "%s: no joint leads to a part%s%s", job->path,
                         name ? " named " : "", name ? name : "");
}

// Bend the joint about the axis across its limb that is most lateral (x).
static bool bend(const plot_job *job, double angle, cutis_transform *pose)
{
    const double *d = job->joint.limb;
    double a[3] = { 1.0 - d[0] * d[0], -d[0] * d[1], -d[0] * d[2] };
    if (a[0] < 0.2) a[0] = -d[2] * d[0], a[1] = -d[2] * d[1], a[2] = 1.0 - d[2] * d[2];
    const cutis_model_data *data = cutis_model_get(job->model);
    cutis_mat34 *world = calloc(data->node_count, sizeof *world);
    cutis_pose_rest(job->model, pose, NULL);
    if (!world) return false;
    cutis_pose_world(job->model, pose, world);
    int32_t parent = data->nodes[job->joint.node].parent;
    double local[3];
    for (int k = 0; k < 3; k++) {
        const float *m = parent >= 0 ? world[parent].m : NULL;
        local[k] = m ? m[k] * a[0] + m[4 + k] * a[1] + m[8 + k] * a[2] : a[k];
    }
    free(world);
    cutis_quat turn = cutis_quat_from_axis_angle(
        (cutis_float3){ (float)local[0], (float)local[1], (float)local[2] }, (float)angle);
    pose[job->joint.node].rotation = cutis_quat_multiply(turn, pose[job->joint.node].rotation);
    return true;
}

static cutis_result measure_frame(plot_job *job, bool linear, double *volume, double *parts,
                                  double *patch)
{
    const patch_play *p = &job->patched;
    TRY(linear ? play_deform(&job->linear, 1) : patch_play_frame(&job->patched, 0));
    const cutis_surface surface =
        linear ? rest_shape_surface(&job->rest, job->linear.positions) : patch_play_surface(p);
    cutis_result result = cutis_surface_bend(
        job->app->context, &surface, linear ? job->weld : NULL, linear ? job->parts : p->labels,
        p->info.part_count + p->info.joint_count, job->medians, NULL);
    *volume = cutis_surface_volume(&surface);
    *parts = 0.5 * (job->medians[job->joint.parent] + job->medians[job->joint.child]);
    *patch = linear ? NAN : job->medians[p->info.part_count + job->joint_index];
    return result;
}

static int sweep(plot_job *job, uint32_t way)
{
    bool linear = way == WAYS - 1;
    double whole = job->joint.parent_volume + job->joint.child_volume, rest[2] = { 0, 0 };
    for (uint32_t s = 0; s < STEPS; s++) {
        double volume, parts, patch;
        if (!bend(job, 5.0 * s * M_PI / 180.0,
                  linear ? job->linear.transforms : job->patched.transforms))
            return app_fail_text(job->app, "%s: not enough memory", job->path);
        cutis_result result = measure_frame(job, linear, &volume, &parts, &patch);
        if (result != CUTIS_OK) return app_fail(job->app, job->path, result);
        if (s == 0) rest[0] = volume, rest[1] = parts;
        job->values[0][way][s] = 100.0 * (volume - rest[0]) / whole;
        job->values[1][way][s] = 100.0 * (parts - rest[1]) / rest[1];
        job->values[2][way][s] = patch;
        if (!app_progress(job->app, "sweeping", (way * STEPS + s + 1.0) / (WAYS * STEPS)))
            return app_stopped(job->app);
    }
    return EXIT_GOOD;
}

// The model's own triangles with their parts, and its linear play.
static int open_model(plot_job *job)
{
    const cutis_patches_info *info = &job->patched.info;
    const uint32_t count = cutis_model_vertex_count(job->model);
    const play_options options = { .clip = CUTIS_NONE, .batch = 1 };
    TRY(rest_shape_make(job->app, job->path, job->model, &job->rest));
    TRY(play_open(job->app, job->path, job->model, job->device, &options, &job->linear));
    uint32_t *part = job->parts = memory_take(&job->memory, job->rest.triangle_count, sizeof *part);
    job->weld = memory_take(&job->memory, count, sizeof *job->weld);
    job->medians =
        memory_take(&job->memory, info->part_count + info->joint_count, sizeof *job->medians);
    if (job->memory.failed) return app_fail(job->app, job->path, CUTIS_OUT_OF_MEMORY);
    const cutis_instance *instances;
    cutis_model_instances(job->model, &instances); // patches are of models with one
    const cutis_mesh *mesh = &cutis_model_get(job->model)->meshes[instances[0].mesh];
    for (uint32_t p = 0; p < mesh->primitive_count; p++) {
        const uint32_t triangles = mesh->primitives[p].index_count / 3;
        memcpy(part, mesh->primitives[p].parts, triangles * sizeof *part), part += triangles;
    }
    float *positions = job->linear.positions; // until the first frame: as the file has them
    cutis_model_file_positions(job->model, positions);
    return app_result(job->app, job->path,
                      cutis_weld_positions(job->app->context, count, positions, job->weld));
}

static int open_way(plot_job *job, uint32_t way)
{
    const play_options options = { .clip = CUTIS_NONE,
                                   .bind = { .method = CUTIS_METHOD_PATCHES,
                                             .normals = true,
                                             .patch_removal = ways[way].removal,
                                             .patch_fill = ways[way].fill,
                                             .patch_band = CUTIS_PATCH_BAND_NONE } };
    patch_play_close(&job->patched);
    int status =
        patch_play_open(job->app, job->path, job->model, job->device, &options, &job->patched);
    if (status == EXIT_GOOD && way == 0) status = open_model(job);
    return status == EXIT_GOOD && way == 0 ? find_joint(job) : status;
}

static const char *const endings[3] = { "volume", "curvature", "patch" };

// OUT.svg becomes OUT_volume.svg and so on.
static void plot_path(const char *output, int k, char *out, size_t capacity)
{
    const char *dot = strrchr(output, '.');
    snprintf(out, capacity, "%.*s_%s%s", (int)(dot - output), output, endings[k], dot);
}

static void print_json(const plot_job *job, const char *output)
{
    json_out json = { .file = stdout };
    emit(&json, "{ file %s joint %s plots [", job->path,
         cutis_patches_part_name(job->patched.patches, job->joint.child));
    for (int k = 0; k < 3; k++) {
        char path[4096];
        plot_path(output, k, path, sizeof path);
        emit_string(&json, NULL, path);
    }
    emit(&json, "] degrees [");
    for (uint32_t s = 0; s < STEPS; s++) emit_number(&json, NULL, 5.0 * s);
    emit(&json, "] ways [");
    for (uint32_t w = 0; w < WAYS; w++) {
        emit(&json, "{ name %s", ways[w].name);
        for (int k = 0; k < 3; k++) emit_numbers(&json, endings[k], job->values[k][w], STEPS);
        emit_end(&json);
    }
    emit(&json, "] }");
}

static int write_plots(plot_job *job, const char *output)
{
    static const char *const titles[3] = { "Volume of the two parts, change in %",
                                           "Curvature of the two parts, change of the medians in %",
                                           "Curvature of the patch, median in degrees" };
    double x[STEPS];
    for (uint32_t s = 0; s < STEPS; s++) x[s] = 5.0 * s;
    for (int k = 0; k < 3; k++) {
        cutis_series series[WAYS];
        char path[4096], title[256];
        for (uint32_t w = 0; w < WAYS; w++)
            series[w] = (cutis_series){ ways[w].name, STEPS, x, job->values[k][w] };
        plot_path(output, k, path, sizeof path);
        snprintf(title, sizeof title, "%s: %s",
                 cutis_patches_part_name(job->patched.patches, job->joint.child), titles[k]);
        cutis_plot plot = { .title = title,
                            .x_title = "bend, degrees",
                            .series_count = k == 2 ? WAYS - 1 : WAYS,
                            .series = series };
        TRY(app_result(job->app, path, cutis_plot_write(job->app->context, &plot, path)));
        app_say(job->app, "%s\n", path);
    }
    return EXIT_GOOD;
}

int measure_plot(cli_app *app)
{
    const char *output = option_text(app, OPTION_PLOT);
    plot_job *job = calloc(1, sizeof *job);
    if (!job) return app_fail_text(app, "not enough memory");
    job->app = app;
    job->path = app->operands[0];
    int status = app_check_output_as(app, "--plot", output, ".svg .png");
    if (status == EXIT_GOOD) status = app_read_model(app, job->path, &job->model);
    if (status == EXIT_GOOD) status = app_open_device(app, &job->device);
    for (uint32_t w = 0; w < WAYS && status == EXIT_GOOD; w++) {
        status = open_way(job, w);
        if (status == EXIT_GOOD) status = sweep(job, w);
    }
    app_progress_done(app);
    if (status == EXIT_GOOD) status = write_plots(job, output);
    if (status == EXIT_GOOD && app->json) print_json(job, output);
    patch_play_close(&job->patched);
    play_close(&job->linear);
    rest_shape_release(&job->rest);
    memory_release(&job->memory);
    cutis_device_destroy(job->device);
    cutis_model_destroy(job->model);
    free(job);
    return status;
}
