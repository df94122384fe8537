/// Pictures and plots of docs/guide/pose-space.md: pictures_pose_space FOLDER. The arm's muscles,
/// learned from eight poses of one joint each, in poses of all joints at once: plain skinning, PSD,
/// WPSD and the truth.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cutis/cutis.h>
#include <cutis/render.h>

#define PI       3.14159265358979323846
#define EXAMPLES CUTIS_ARM_EXAMPLE_COUNT
#define METHODS  3

static const float BULGE = 0.03f; // metres; the library's own examples have 9 mm
static const char *const NAMES[METHODS] = { "SSD", "PSD", "WPSD" };
// Examples that bend a joint most: collar, shoulder, elbow, wrist.
static const uint32_t FARTHEST[4] = { 7, 4, 2, 6 };

typedef struct stage {
    cutis_context *context;
    cutis_device *device;
    cutis_model *arm, *fitted, *gaussian;
    cutis_binding *bindings[5];
    uint32_t nodes, vertices;
    cutis_transform *poses; ///< EXAMPLES
    float *shapes;          ///< EXAMPLES
    uint32_t *indices;
    uint64_t triangles;
    uint32_t joint_nodes[4];
    cutis_float3 axes[4];
} stage;

static void check(const stage *s, cutis_result result)
{
    if (result == CUTIS_OK) return;
    fprintf(stderr, "pictures: %s\n", cutis_context_error(s->context));
    exit(1);
}

static double angle_of(cutis_quat q)
{
    return 2 * atan2(sqrt(q.x * q.x + q.y * q.y + q.z * q.z), q.w);
}

static void set_pose(const stage *s, const double *degrees, cutis_transform *pose)
{
    memcpy(pose, s->poses, s->nodes * sizeof *pose); // example 0 is the rest pose
    for (int j = 0; j < 4; j++)
        pose[s->joint_nodes[j]].rotation =
            cutis_quat_from_axis_angle(s->axes[j], (float)(degrees[j] * PI / 180));
}

enum { ARM_PLAIN, FITTED_PLAIN, FITTED_PSD, FITTED_WPSD, GAUSSIAN_WPSD, BINDINGS };

static void play(const stage *s, int binding, const cutis_transform *pose, float *positions,
                 float *normals)
{
    check(s,
          cutis_deform(s->bindings[binding], &(cutis_poses){ .local = pose }, 1,
                       &(cutis_outputs){ .positions.data = positions, .normals.data = normals }));
}

// Every joint swells the front where it has weight; then linear blending. Normals are those of the
// surface, as a sculpt has them.
static void truth(const stage *s, const cutis_transform *pose, float *positions, float *normals)
{
    const cutis_model_data *data = cutis_model_get(s->arm);
    const cutis_primitive *p = data->meshes[0].primitives;
    cutis_mat34 *world = malloc(s->nodes * sizeof *world);
    cutis_pose_world(s->arm, pose, world);
    for (uint32_t j = 0; j < data->skins[0].joint_count; j++) // one node a joint, no node twice
        world[data->skins[0].joints[j]] = cutis_mat34_multiply(&world[data->skins[0].joints[j]],
                                                               &data->skins[0].inverse_binds[j]);
    for (size_t v = 0; v < s->vertices; v++) {
        const float *n = p->normals + 3 * v, *x = p->positions + 3 * v;
        float *out = positions + 3 * v, swell = 0;
        for (uint32_t i = p->influences.first[v]; i < p->influences.first[v + 1]; i++)
            swell += p->influences.weights[i] *
                     sinf((float)angle_of(
                         pose[data->skins[0].joints[p->influences.joints[i]]].rotation));
        swell *= BULGE * (n[2] > 0 ? n[2] : 0);
        out[0] = out[1] = out[2] = 0;
        for (uint32_t i = p->influences.first[v]; i < p->influences.first[v + 1]; i++) {
            cutis_float3 at = cutis_mat34_point(
                &world[data->skins[0].joints[p->influences.joints[i]]],
                (cutis_float3){ x[0] + swell * n[0], x[1] + swell * n[1], x[2] + swell * n[2] });
            out[0] += p->influences.weights[i] * at.x;
            out[1] += p->influences.weights[i] * at.y;
            out[2] += p->influences.weights[i] * at.z;
        }
    }
    free(world);
    if (!normals) return;
    cutis_surface surface = { s->vertices, s->triangles, positions, s->indices };
    uint32_t *weld = malloc(4 * (size_t)s->vertices);
    check(s, cutis_weld_positions(s->context, s->vertices, p->positions, weld));
    check(s, cutis_surface_normals(s->context, &surface, weld, normals));
    free(weld);
}

static void open_stage(stage *s)
{
    uint32_t clip;
    cutis_sampler *sampler = NULL;
    static const char *const names[4] = { "collar", "shoulder", "elbow", "wrist" };
    if (cutis_context_create(NULL, &s->context) != CUTIS_OK) exit(1);
    check(s, cutis_device_create(s->context, NULL, &s->device));
    check(s, cutis_synth_create(s->context,
                                &(cutis_synth_options){ .body = CUTIS_BODY_ARM,
                                                        .size = CUTIS_BODY_SIZE_MID,
                                                        .examples = true },
                                &s->arm));
    s->nodes = cutis_model_get(s->arm)->node_count;
    s->vertices = cutis_model_vertex_count(s->arm);
    s->triangles = cutis_model_triangle_count(s->arm);
    s->indices = malloc(12 * s->triangles);
    cutis_model_triangles(s->arm, s->indices);
    s->poses = calloc(EXAMPLES * (size_t)s->nodes, sizeof *s->poses);
    s->shapes = calloc(EXAMPLES * (size_t)s->vertices, 12);
    check(s, cutis_model_find_clip(s->arm, "examples", &clip));
    check(s, cutis_sampler_create(s->arm, clip, &sampler));
    for (uint32_t k = 0; k < EXAMPLES; k++) {
        cutis_sampler_sample(sampler, (float)k, s->poses + k * s->nodes, NULL);
        truth(s, s->poses + k * s->nodes, s->shapes + 3 * (size_t)k * s->vertices, NULL);
    }
    cutis_sampler_destroy(sampler);
    for (int j = 0; j < 4; j++) {
        check(s, cutis_model_find_joint(s->arm, names[j], &s->joint_nodes[j]));
        cutis_quat q = s->poses[FARTHEST[j] * s->nodes + s->joint_nodes[j]].rotation;
        s->axes[j] = (cutis_float3){ q.x, q.y, q.z };
    }
    cutis_pose_examples examples = { EXAMPLES, s->poses, s->shapes, NULL };
    check(s, cutis_poses_fit(s->arm, s->device, &examples, NULL, &s->fitted, NULL));
    check(s, cutis_poses_fit(s->arm, s->device, &examples,
                             &(cutis_pose_fit_options){ .kernel = CUTIS_POSE_GAUSSIAN },
                             &s->gaussian, NULL));
    const cutis_model *const models[BINDINGS] = { s->arm, s->fitted, s->fitted, s->fitted,
                                                  s->gaussian };
    static const cutis_method methods[BINDINGS] = { CUTIS_METHOD_LBS, CUTIS_METHOD_LBS,
                                                    CUTIS_METHOD_PSD, CUTIS_METHOD_WPSD,
                                                    CUTIS_METHOD_WPSD };
    for (int b = 0; b < BINDINGS; b++)
        check(s, cutis_bind(s->device, models[b],
                            &(cutis_bind_options){ .method = methods[b], .normals = true },
                            &s->bindings[b]));
}

static double rms(const stage *s, const float *a, const float *b)
{
    double sum = 0;
    for (size_t i = 0; i < 3 * (size_t)s->vertices; i++)
        sum += ((double)a[i] - b[i]) * ((double)a[i] - b[i]);
    return sqrt(sum / s->vertices);
}

// Four bodies side by side, and three painted with their distance to the truth.
static void draw_bodies(const stage *s, const char *folder)
{
    static const double unseen[4] = { 10, 30, 60, 30 };
    const size_t size = 12 * (size_t)s->vertices;
    cutis_renderer *renderer = NULL;
    cutis_image images[2 * METHODS + 1] = { { 0 } }, sheet = { 0 };
    cutis_tile tiles[2 * METHODS + 1];
    char titles[METHODS][64], path[4096];
    cutis_transform *pose = calloc(s->nodes, sizeof *pose);
    float *exact = malloc(size), *positions = malloc(size), *normals = malloc(size);
    float *errors = malloc(size / 3);
    check(s, cutis_renderer_create(s->context, &renderer));
    set_pose(s, unseen, pose);
    truth(s, pose, exact, normals);
    cutis_scene_surface look = { .surface = { s->vertices, s->triangles, exact, s->indices },
                                 .normals = normals,
                                 .high = 15 };
    cutis_scene scene = { .surface_count = 1,
                          .surfaces = &look,
                          .camera = { .yaw = -25, .pitch = 30, .distance = 3.45 },
                          .no_ground = true };
    check(s, cutis_renderer_draw(renderer, &scene, 560, 400, &images[2 * METHODS]));
    look.surface.positions = positions;
    for (int m = 0; m < METHODS; m++) {
        play(s, FITTED_PLAIN + m, pose, positions, normals);
        snprintf(titles[m], sizeof titles[m], "off by %.1f mm RMS", 1e3 * rms(s, positions, exact));
        for (size_t v = 0; v < s->vertices; v++) {
            double square = 0;
            for (size_t c = 0; c < 3; c++)
                square += pow((double)positions[3 * v + c] - exact[3 * v + c], 2);
            errors[v] = (float)(1e3 * sqrt(square));
        }
        look.values = NULL;
        check(s, cutis_renderer_draw(renderer, &scene, 560, 400, &images[m]));
        look.values = errors;
        check(s, cutis_renderer_draw(renderer, &scene, 560, 400, &images[METHODS + m]));
    }
    for (int m = 0; m < METHODS; m++) {
        tiles[m] = (cutis_tile){ &images[m], NAMES[m], titles[m] };
        tiles[METHODS + 1 + m] = (cutis_tile){ &images[METHODS + m], NAMES[m], titles[m] };
    }
    tiles[METHODS] = (cutis_tile){ &images[2 * METHODS], "truth",
                                   "collar 10, shoulder 30, elbow 60, wrist 30 degrees" };
    check(s, cutis_sheet_create(s->context, tiles, METHODS + 1, 2, NULL, NULL, false, &sheet));
    snprintf(path, sizeof path, "%s/pose-space-muscle.png", folder);
    check(s, cutis_image_write_png(s->context, &sheet, path));
    cutis_image_destroy(s->context, &sheet);
    const cutis_legend legend = { CUTIS_COLORMAP_HEAT, 0, 15, "distance to the truth, mm" };
    check(s, cutis_sheet_create(s->context, tiles + METHODS + 1, METHODS, 3, NULL, &legend, false,
                                &sheet));
    snprintf(path, sizeof path, "%s/pose-space-error.png", folder);
    check(s, cutis_image_write_png(s->context, &sheet, path));
    cutis_image_destroy(s->context, &sheet);
    for (int i = 0; i < 2 * METHODS + 1; i++) cutis_image_destroy(s->context, &images[i]);
    free(errors), free(normals), free(positions), free(exact), free(pose);
    cutis_renderer_destroy(renderer);
}

// Error against the elbow's angle, with the shoulder half bent: no example has both.
static void plot_angles(const stage *s, const char *folder)
{
    enum { STEPS = 61 };
    static double x[STEPS], y[METHODS][STEPS];
    cutis_series series[METHODS];
    char path[4096];
    cutis_transform *pose = calloc(s->nodes, sizeof *pose);
    float *exact = malloc(12 * (size_t)s->vertices), *out = malloc(12 * (size_t)s->vertices);
    for (int i = 0; i < STEPS; i++) {
        x[i] = 2.0 * i;
        set_pose(s, (double[]){ 0, 45, x[i], 0 }, pose);
        truth(s, pose, exact, NULL);
        for (int m = 0; m < METHODS; m++) {
            play(s, FITTED_PLAIN + m, pose, out, NULL);
            y[m][i] = 1e3 * rms(s, out, exact);
        }
    }
    for (int m = 0; m < METHODS; m++)
        series[m] = (cutis_series){ .name = NAMES[m], .count = STEPS, .x = x, .y = y[m] };
    snprintf(path, sizeof path, "%s/pose-space-angle.svg", folder);
    check(s, cutis_plot_write(s->context,
                              &(cutis_plot){ .title = "shoulder at 45 degrees, elbow turning",
                                             .x_title = "elbow, degrees",
                                             .y_title = "RMS distance to the truth, mm",
                                             .series_count = METHODS,
                                             .series = series,
                                             .from_zero = true },
                              path));
    free(out), free(exact), free(pose);
}

// One vertex's displacement while the elbow turns: the one the Gaussian moves most within a step.
static void plot_steps(const stage *s, const char *folder)
{
    enum { STEPS = 181, LINES = 3 };
    static double x[STEPS], y[LINES][STEPS];
    const size_t per = 3 * (size_t)s->vertices;
    cutis_series series[LINES];
    char path[4096];
    cutis_transform *pose = calloc(s->nodes, sizeof *pose);
    float *paths[LINES], *plain = malloc(per * sizeof *plain);
    for (int l = 0; l < LINES; l++) paths[l] = malloc(STEPS * per * sizeof **paths);
    size_t worst = 0;
    double most = 0;
    for (int i = 0; i < STEPS; i++) {
        x[i] = 0.5 * i;
        set_pose(s, (double[]){ 0, 0, x[i], 0 }, pose);
        play(s, ARM_PLAIN, pose, plain, NULL);
        play(s, FITTED_WPSD, pose, paths[0] + i * per, NULL);
        play(s, GAUSSIAN_WPSD, pose, paths[1] + i * per, NULL);
        truth(s, pose, paths[2] + i * per, NULL);
        for (int l = 0; l < LINES; l++)
            for (size_t k = 0; k < per; k++) paths[l][i * per + k] -= plain[k];
    }
#define LENGTH(l, i, v)                                                                            \
    sqrt(pow(paths[l][(i)*per + 3 * (v)], 2) + pow(paths[l][(i)*per + 3 * (v) + 1], 2) +           \
         pow(paths[l][(i)*per + 3 * (v) + 2], 2))
    for (size_t v = 0; v < s->vertices; v++)
        for (size_t i = 1; i < STEPS; i++) {
            double step = fabs(LENGTH(1, i, v) - LENGTH(1, i - 1, v));
            if (step > most) most = step, worst = v;
        }
    for (int l = 0; l < LINES; l++) {
        static const char *const names[LINES] = { "exponential (default)", "Gaussian (2006 paper)",
                                                  "truth" };
        for (size_t i = 0; i < STEPS; i++) y[l][i] = 1e3 * LENGTH(l, i, worst);
        series[l] = (cutis_series){ .name = names[l], .count = STEPS, .x = x, .y = y[l] };
        free(paths[l]);
    }
#undef LENGTH
    snprintf(path, sizeof path, "%s/pose-space-step.svg", folder);
    check(s, cutis_plot_write(s->context,
                              &(cutis_plot){ .title = "displacement of one vertex, WPSD",
                                             .x_title = "elbow, degrees",
                                             .y_title = "mm",
                                             .series_count = LINES,
                                             .series = series,
                                             .from_zero = true },
                              path));
    free(plain), free(pose);
}

int main(int count, char **arguments)
{
    stage s = { 0 };
    if (count != 2) return fprintf(stderr, "pictures_pose_space FOLDER\n"), 2;
    open_stage(&s);
    draw_bodies(&s, arguments[1]);
    plot_angles(&s, arguments[1]);
    plot_steps(&s, arguments[1]);
    free(s.shapes), free(s.poses), free(s.indices);
    for (int b = 0; b < BINDINGS; b++) cutis_binding_destroy(s.bindings[b]);
    cutis_model_destroy(s.gaussian);
    cutis_model_destroy(s.fitted);
    cutis_model_destroy(s.arm);
    cutis_device_destroy(s.device);
    cutis_context_destroy(s.context);
    return 0;
}
