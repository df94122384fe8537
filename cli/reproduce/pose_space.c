/// Rhee, Lewis and Neumann 2006: frames a second (Table 1), memory (Table 2), and how near each
/// method comes to the true shape of poses it has not seen (their Figures 5 and 6 show such poses).
///
/// Truth in those poses: the arm's muscles swell by sin(angle) * weight, so their displacement is
/// the sum of the 90-degree examples' own, each by the sine of its joint's angle.
#include "reproduce/reproduce.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cutis/poses.h>

#include "bench/bench.h"
#include "bench/measure.h"

enum { SIZES = 3, METHODS = BENCH_SPACE_METHODS, POSES = CUTIS_ARM_EXAMPLE_COUNT, JOINTS = 4 };

static const char *const SIZE_NAMES[SIZES] = { "low", "mid", "high" };
static const char *const METHOD_NAMES[METHODS] = { "SSD", "PSD", "WPSD" };

enum { TEXTURES = 5 };
/// Table 2, KB: two textures of positions and normals, two of weights and indices, displacements,
/// pose data, and all together.
static const char *const TEXTURE_NAMES[TEXTURES] = { "Tv, Tn each", "Tw1, Tw2 each", "Td", "Tx",
                                                     "total" };
static const double MEMORY[SIZES][TEXTURES] = { { 35, 46, 278, 1, 441 },
                                                { 135, 180, 1080, 1, 1711 },
                                                { 539, 719, 4315, 1, 6832 } };

static cutis_result show_rates(reproduce_job *job)
{
    reproduce_table *t = reproduce_table_add(job, "Table 1", "frames a second");
    const uint32_t instances = 256;
    bench_space_row cpu[SIZES], gpu[SIZES];
    reproduce_metric_add(t, "CPU", "frames/s", REPRODUCE_MORE);
    reproduce_metric_add(t, "GPU", "frames/s", REPRODUCE_MORE);
    reproduce_metric_add(t, "times the cost of SSD", "CPU", REPRODUCE_PLAIN);
    t->ours = "positions and unit normals, one core; the arm, 4 joints, 8 examples";
    snprintf(
        t->note, sizeof t->note,
        "With the interpolation matrix folded into the displacements a vertex costs O(np), not "
        "O(np^2).%s",
        job->gpu ? " GPU: characters a second, 256 in one dispatch." : "");
    for (int i = 0; i < SIZES; i++) {
        const cutis_body_size size = (cutis_body_size)(CUTIS_BODY_SIZE_LOW + i);
        TRY(bench_space_measure(job->app, job->single, 1, job->budget, size, &cpu[i]));
        if (job->gpu)
            TRY(bench_space_measure(job->app, job->gpu, instances, job->budget, size, &gpu[i]));
    }
    for (int m = 0; m < METHODS; m++)
        for (int i = 0; i < SIZES; i++) {
            char body[64];
            snprintf(body, sizeof body, "arm, %u vertices", cpu[i].vertices);
            reproduce_cell *cells =
                reproduce_row_add(t, body, "%s, %s", METHOD_NAMES[m], SIZE_NAMES[i]);
            for (int k = 0; k < 2; k++) cells[k].paper = bench_space_paper[i][m][k];
            cells[0].ours = 1 / cpu[i].seconds[m];
            if (job->gpu) cells[1].ours = instances / gpu[i].seconds[m];
            cells[2].paper =
                round(10 * bench_space_paper[i][0][0] / bench_space_paper[i][m][0]) / 10;
            cells[2].ours = cpu[i].seconds[m] / cpu[i].seconds[0];
        }
    reproduce_show(job, t);
    if (!job->gpu)
        reproduce_missing(job, "GPU column of Table 1", "no GPU: --device cuda measures it");
    return CUTIS_OK;
}

static cutis_result show_memory(reproduce_job *job)
{
    reproduce_table *t = reproduce_table_add(job, "Table 2", "memory of a character");
    for (int k = 0; k < TEXTURES; k++)
        reproduce_metric_add(t, TEXTURE_NAMES[k], "KB", REPRODUCE_PLAIN);
    t->own =
        "the paper's textures counted for our arm: 12 bytes a position, 16 for four weights or "
        "four indices, 12 a displacement";
    t->ours =
        "rest shape, weights and fields of WPSD as Cutis stores them, with a fourth number for "
        "every displacement and every normal's change";
    for (int i = 0; i < SIZES; i++) {
        ENDS_BY(bench_arm_close) bench_arm s = { 0 };
        TRY(bench_arm_open(job->app->context, job->device,
                           (cutis_body_size)(CUTIS_BODY_SIZE_LOW + i), 0, NULL, &s));
        const double vertices = cutis_model_vertex_count(s.arm);
        const double own[TEXTURES] = { 12 * vertices, 16 * vertices, 12 * POSES * vertices, NAN,
                                       (double)s.report->paper_bytes };
        reproduce_cell *cells = reproduce_row_add(t, NULL, "%.0f (%s)", vertices, SIZE_NAMES[i]);
        for (int k = 0; k < TEXTURES; k++)
            cells[k].paper = MEMORY[i][k], cells[k].own = own[k] / 1024;
        cells[TEXTURES - 1].ours = (double)s.report->wpsd_bytes / 1024;
    }
    reproduce_show(job, t);
    return CUTIS_OK;
}

// Poses that were not learned -------------------------------------------------------------------

/// Each joint's farthest example, and what its target must be multiplied by at full angle.
static const struct {
    const char *joint;
    int example;
    double degrees;
} LIMITS[JOINTS] = {
    { "elbow", 2, 90 }, { "shoulder", 4, 90 }, { "wrist", 6, 90 }, { "collar", 7, 20 }
};

/// A pose with every joint somewhere between rest and its example; `weights` of the targets that
/// give the true shape.
static cutis_result make_unseen(const bench_arm *s, uint32_t index, cutis_transform *pose,
                                float *weights)
{
    const size_t nodes = cutis_model_get(s->arm)->node_count;
    memcpy(pose, s->poses, nodes * sizeof *pose); // example 0 is rest
    memset(weights, 0, (POSES - 1) * sizeof *weights);
    for (int j = 0; j < JOINTS; j++) {
        double part = cutis_random_unit(7, index, (uint64_t)j), degree = 3.14159265358979 / 180;
        uint32_t node = 0;
        TRY(cutis_model_find_joint(s->arm, LIMITS[j].joint, &node));
        const cutis_quat rest = s->poses[node].rotation,
                         full = s->poses[(size_t)LIMITS[j].example * nodes + node].rotation;
        // Examples turn about one axis: the same axis by a part of the angle.
        const double all = LIMITS[j].degrees * degree, t = part * all / 2;
        const double a = cos(t) - sin(t) / tan(all / 2), b = sin(t) / sin(all / 2);
        pose[node].rotation =
            (cutis_quat){ (float)(a * rest.x + b * full.x), (float)(a * rest.y + b * full.y),
                          (float)(a * rest.z + b * full.z), (float)(a * rest.w + b * full.w) };
        weights[LIMITS[j].example - 1] = (float)(sin(part * all) / sin(all));
    }
    return CUTIS_OK;
}

typedef struct unseen_set {
    memory_list memory;
    uint32_t count;
    cutis_transform *poses;
    float *weights, *truth, *shapes; ///< count each
} unseen_set;

static void unseen_end(unseen_set *u)
{
    memory_release(&u->memory);
}

static cutis_result play_all(reproduce_job *job, const cutis_model *model, cutis_method method,
                             const unseen_set *u, const float *weights, float *out)
{
    return bench_deform(job->device, model, &(cutis_bind_options){ .method = method },
                        &(cutis_poses){ .local = u->poses, .morph_weights = weights }, u->count,
                        &(cutis_outputs){ .positions.data = out });
}

static double rms_distance(const unseen_set *u, size_t vertices)
{
    double sum = 0;
    for (size_t i = 0; i < 3 * vertices * u->count; i++) {
        double d = (double)u->shapes[i] - u->truth[i];
        sum += d * d;
    }
    return sqrt(sum / (double)(vertices * u->count));
}

static cutis_result make_set(reproduce_job *job, const bench_arm *s, unseen_set *u)
{
    const size_t nodes = cutis_model_get(s->arm)->node_count,
                 vertices = cutis_model_vertex_count(s->arm);
    u->count = 20;
    u->poses = memory_take(&u->memory, u->count * nodes, sizeof *u->poses);
    u->weights = memory_take(&u->memory, u->count * (size_t)(POSES - 1), sizeof *u->weights);
    u->truth = memory_take(&u->memory, u->count * vertices, 3 * sizeof *u->truth);
    u->shapes = memory_take(&u->memory, u->count * vertices, 3 * sizeof *u->shapes);
    if (u->memory.failed) return CUTIS_OUT_OF_MEMORY;
    if (cutis_model_target_count(s->fitted) != POSES - 1)
        return CUTIS_INTERNAL; // the truth is told in these targets
    for (uint32_t i = 0; i < u->count; i++)
        TRY(make_unseen(s, i, u->poses + i * nodes, u->weights + (size_t)i * (POSES - 1)));
    return play_all(job, s->fitted, CUTIS_METHOD_LBS, u, u->weights, u->truth);
}

// The first pose by every method, painted with its distance from the truth.
static cutis_result draw_unseen(reproduce_job *job, const bench_arm *s, unseen_set *u)
{
    ENDS_BY(rest_shape_release) rest_shape rest = { 0 };
    const uint32_t vertices = cutis_model_vertex_count(s->arm);
    OWN_MEMORY float *memory = calloc(METHODS * 4 * (size_t)vertices, sizeof *memory);
    picture_view views[METHODS];
    TRY(memory ? reproduce_rest(job, s->arm, &rest) : CUTIS_OUT_OF_MEMORY);
    for (int m = 0; m < METHODS; m++) {
        float *positions = memory + 4 * (size_t)m * vertices, *error = positions + 3 * vertices;
        TRY(play_all(job, m ? s->fitted : s->arm, bench_space_methods[m], u, NULL, u->shapes));
        memcpy(positions, u->shapes, 3 * sizeof(float) * vertices);
        for (uint32_t v = 0; v < vertices; v++) {
            const float *a = positions + 3 * (size_t)v, *b = u->truth + 3 * (size_t)v;
            error[v] = 1e3f * hypotf(hypotf(a[0] - b[0], a[1] - b[1]), a[2] - b[2]);
        }
        views[m] = (picture_view){ .surface = rest_shape_surface(&rest, positions),
                                   .values = error,
                                   .title = METHOD_NAMES[m] };
    }
    cutis_legend legend = { .map = CUTIS_COLORMAP_HEAT,
                            .high = 8,
                            .title = "distance from the true shape, mm" };
    return reproduce_pictures(
        job, views, METHODS,
        (cutis_camera){ .yaw = 10, .pitch = 15, .frame = cutis_surface_bounds(&views[0].surface) },
        &legend,
        "Figures 5 and 6: an arm in a pose between the examples. SSD has "
        "no muscle, PSD mixes the joints' muscles, WPSD keeps them apart.");
}

static cutis_result show_unseen(reproduce_job *job)
{
    reproduce_table *t = reproduce_table_add(
        job, "Figures 5, 6", "distance from the true shape in 20 poses that were not learned");
    double errors[2][METHODS];
    for (int kernel = 1; kernel >= 0; kernel--) {
        ENDS_BY(bench_arm_close) bench_arm s = { 0 };
        ENDS_BY(unseen_end) unseen_set u = { 0 };
        const cutis_pose_fit_options fit = { .kernel = kernel ? CUTIS_POSE_GAUSSIAN
                                                              : CUTIS_POSE_EXPONENTIAL };
        TRY(bench_arm_open(job->app->context, job->device, CUTIS_BODY_SIZE_LOW, 0, &fit, &s));
        TRY(make_set(job, &s, &u));
        for (int m = 0; m < METHODS; m++) {
            TRY(play_all(job, m ? s.fitted : s.arm, bench_space_methods[m], &u, NULL, u.shapes));
            errors[kernel][m] = 1e3 * rms_distance(&u, cutis_model_vertex_count(s.arm));
        }
        if (kernel == 0) TRY(draw_unseen(job, &s, &u));
    }
    reproduce_metric_add(t, "RMS", "mm", REPRODUCE_PLAIN);
    t->own = "the Gaussian kernel";
    t->ours = "the exponential kernel, which never overshoots";
    snprintf(
        t->note, sizeof t->note,
        "Joints at random angles between rest and their examples, all at once; muscles swell by "
        "9 mm at most. The paper shows such poses and gives no figures.");
    for (int m = 0; m < METHODS; m++) {
        reproduce_cell *cells = reproduce_row_add(t, NULL, "%s", METHOD_NAMES[m]);
        cells[0].own = m ? errors[1][m] : NAN;
        cells[0].ours = errors[0][m];
    }
    reproduce_show(job, t);
    return CUTIS_OK;
}

cutis_result reproduce_pose_space(reproduce_job *job)
{
    TRY(show_rates(job));
    TRY(show_memory(job));
    return show_unseen(job);
}
