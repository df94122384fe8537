/// Landreneau and Schaefer 2009: reduction times (Table 1), frame rates (Section 5), errors by the
/// number of weights (Figure 11) and over an animation (Figure 12), and a picture (Figure 10).
/// Bodies of the papers' sizes are in cages of as many controls: balls fitted around them.
#include "reproduce/reproduce.h"

#include <math.h>
#include <stdlib.h>

#include <cutis/cage.h>
#include <cutis/handles.h>

#include "bench/bench.h"
#include "bench/measure.h"

enum { METHODS = 4, BALL = -1, BIPED = CUTIS_BODY_BIPED, QUADRUPED = CUTIS_BODY_QUADRUPED };

static const char *const METHOD_NAMES[METHODS] = { "kL", "G", "S", "P" };
static const cutis_reduce_method KINDS[METHODS] = { CUTIS_REDUCE_KLARGEST, CUTIS_REDUCE_GEOMETRIC,
                                                    CUTIS_REDUCE_SMOOTH, CUTIS_REDUCE_POISSON };

typedef enum coordinate_kind { MVC, HC, SD } coordinate_kind;

typedef struct time_row {
    const char *name;
    coordinate_kind kind;
    uint32_t vertices, weights, kept, poses;
    double seconds[METHODS];
    int body;                 ///< a cutis_body, or BALL
    uint32_t rings, segments; ///< of the cage
    bool quick;
} time_row;

static const time_row TIMES[] = {
    { "Buddha", MVC, 427616, 45, 12, 3, { 5.48, 72.3, 464.9, 360.3 }, BALL, 4, 11, false },
    { "Bunny", MVC, 35947, 47, 8, 4, { 0.5, 2.5, 18.0, 25.3 }, QUADRUPED, 5, 9, false },
    { "Armadillo", MVC, 15002, 110, 8, 7, { 0.4, 1.6, 9.6, 16.9 }, BIPED, 9, 12, true },
    { "Horse", MVC, 48485, 51, 8, 3, { 0.7, 3.3, 22.7, 24.4 }, QUADRUPED, 7, 7, false },
    { "Armadillo", HC, 15002, 110, 8, 7, { 0.4, 2.3, 124.3, 133.6 }, BIPED, 9, 12, false },
    { "Horse", HC, 48485, 51, 8, 3, { 0.7, 6.1, 379.2, 420.8 }, QUADRUPED, 7, 7, false },
    { "Cheb", SD, 6669, 17, 5, 7, { 0.2, 0.3, 6.4, 7.9 }, BIPED, 0, 0, true },
    { "Human", SD, 120226, 17, 5, 8, { 2.6, 5.3, 129.5, 163.2 }, BIPED, 0, 0, false },
};
enum { TIMED = sizeof TIMES / sizeof TIMES[0] };

/// A body in a cage, with all its weights.
typedef struct caged {
    cutis_model *body, *bound;
    cutis_cage *cage;
} caged;

static void caged_close(caged *c)
{
    cutis_cage_destroy(c->cage);
    cutis_model_destroy(c->bound);
    cutis_model_destroy(c->body);
}

// Bring the ball's vertices around the body: an ellipsoid through its farthest vertex, and a third
// more, since a coarse ball cuts its corners.
static cutis_result fit_ball(const cutis_model *body, bench_ball *ball)
{
    const size_t count = cutis_model_vertex_count(body);
    OWN_MEMORY float *p = malloc(3 * count * sizeof *p);
    double centre[3], half[3], most = 0;
    if (!p) return CUTIS_OUT_OF_MEMORY;
    cutis_model_file_positions(body, p);
    const cutis_surface surface = { .vertex_count = (uint32_t)count, .positions = p };
    const cutis_bounds box = cutis_surface_bounds(&surface);
    const float *low = &box.min.x, *high = &box.max.x;
    for (int k = 0; k < 3; k++)
        centre[k] = 0.5 * ((double)low[k] + high[k]), half[k] = 0.5 * ((double)high[k] - low[k]);
    for (size_t v = 0; v < count; v++) {
        double sum = 0;
        for (int k = 0; k < 3; k++) sum += pow((p[3 * v + (size_t)k] - centre[k]) / half[k], 2);
        most = fmax(most, sqrt(sum));
    }
    for (uint32_t v = 0; v < ball->vertex_count; v++)
        for (int k = 0; k < 3; k++) {
            float *out = &ball->positions[3 * (size_t)v + (size_t)k];
            *out = (float)(centre[k] + 1.35 * most * half[k] * *out / (k == 1 ? 1.6 : 1));
        }
    return CUTIS_OK;
}

static cutis_result make_body(reproduce_job *job, int body, uint32_t vertices, cutis_model **out)
{
    if (body == BALL) {
        ENDS_BY(bench_ball_release) bench_ball ball = { 0 };
        const uint32_t segments = (uint32_t)sqrt(vertices / 1.4);
        return bench_ball_make((vertices - 2) / segments, segments, 1, 0.1, &ball)
                   ? bench_ball_model(job->app->context, &ball, NULL, out)
                   : CUTIS_OUT_OF_MEMORY;
    }
    const cutis_synth_options synth = { .body = (cutis_body)body, .vertex_count = vertices };
    return cutis_synth_create(job->app->context, &synth, out);
}

static cutis_result caged_open(reproduce_job *job, const time_row *row, uint32_t vertices, caged *c)
{
    ENDS_BY(bench_ball_release) bench_ball ball = { 0 };
    OWN(cutis_model) *around = NULL;
    const cutis_cage_options options = { .coordinates = row->kind == HC ? CUTIS_COORDINATES_HARMONIC
                                                                        : CUTIS_COORDINATES_MVC };
    TRY(make_body(job, row->body, vertices, &c->body));
    if (!bench_ball_make(row->rings, row->segments, 1, 0, &ball)) return CUTIS_OUT_OF_MEMORY;
    TRY(fit_ball(c->body, &ball));
    TRY(bench_ball_model(job->app->context, &ball, NULL, &around));
    TRY(cutis_cage_create(around, &c->cage));
    return cutis_cage_bind(c->body, job->device, c->cage, &options, &c->bound, NULL);
}

// Table 1 ---------------------------------------------------------------------------------------

// Sweeps of S and of the paper's P are 0.1 % of the vertices; from here on 20 must do, and from
// there on S is too slow for a page that is to be made in minutes.
static const uint32_t SWEEPS_LIMIT = 20000, SMOOTH_LIMIT = 200000;

/// What is reduced: a cage's weights or a skin's.
typedef struct reduction_subject {
    caged caged;
    cutis_model *skinned;
    float *controls;        ///< poses of the cage
    cutis_transform *poses; ///< poses of the skin
} reduction_subject;

static void close_subject(reduction_subject *s)
{
    caged_close(&s->caged);
    cutis_model_destroy(s->skinned);
    free(s->controls), free(s->poses);
}

// Weights as wide as bone heat's: harmonic fields of the biped's joints, 17 kept.
static cutis_result open_skin(reproduce_job *job, const time_row *row, reduction_subject *s)
{
    OWN(cutis_model) *body = NULL;
    uint32_t clip = 0;
    const cutis_handles_options options = { .influences = row->weights };
    TRY(make_body(job, row->body, row->vertices, &body));
    TRY(cutis_handles_skeleton(body, job->device, &options, &s->skinned, NULL));
    TRY(cutis_model_find_clip(s->skinned, "bend", &clip));
    const cutis_model_data *data = cutis_model_get(s->skinned);
    s->poses = calloc(row->poses * (size_t)data->node_count, sizeof *s->poses);
    if (!s->poses) return CUTIS_OUT_OF_MEMORY;
    for (uint32_t j = 0; j < row->poses; j++)
        TRY(bench_sample(s->skinned, clip,
                         data->clips[clip].duration * (float)j / (float)row->poses,
                         s->poses + j * (size_t)data->node_count));
    return CUTIS_OK;
}

static cutis_result open_subject(reproduce_job *job, const time_row *row, reduction_subject *s)
{
    if (row->kind == SD) return open_skin(job, row, s);
    TRY(caged_open(job, row, row->vertices, &s->caged));
    s->controls = calloc(row->poses * (size_t)s->caged.cage->control_count, 3 * sizeof(float));
    if (!s->controls) return CUTIS_OUT_OF_MEMORY;
    cutis_cage_automatic_poses(s->caged.cage, 1, row->poses, s->controls);
    return CUTIS_OK;
}

static cutis_result time_method(reproduce_job *job, const time_row *row, const reduction_subject *s,
                                cutis_reduce_method method, bool paper, double *seconds)
{
    // As bench reduce: AUTO would do the whole work twice.
    const bool fitted = method == CUTIS_REDUCE_POISSON || method == CUTIS_REDUCE_GEOMETRIC;
    const cutis_cage_options options = {
        .influences = row->kept,
        .signed_weights = row->kind == MVC,
        .method = method,
        .energy = paper ? CUTIS_REDUCE_LAPLACE : CUTIS_REDUCE_GRADIENT,
        .sets = paper    ? CUTIS_REDUCE_SETS_LARGEST
                : fitted ? CUTIS_REDUCE_SETS_FITTED
                         : CUTIS_REDUCE_SETS_AUTO,
        .examples = s->controls,
        .example_count = row->poses,
        .sweeps = row->vertices > SWEEPS_LIMIT ? 20 : 0,
    };
    bench_reduced reduced;
    cutis_result result = bench_reduce_once(
        job->device, row->kind == SD ? s->skinned : s->caged.bound, &options, s->poses, &reduced);
    if (result == CUTIS_OK) *seconds = reduced.seconds;
    return result;
}

static cutis_result time_row_methods(reproduce_job *job, const time_row *row, reproduce_cell *cells)
{
    ENDS_BY(close_subject) reduction_subject s = { 0 };
    TRY(open_subject(job, row, &s));
    for (int m = 0; m < METHODS; m++) {
        if (KINDS[m] == CUTIS_REDUCE_SMOOTH && row->vertices > SMOOTH_LIMIT) {
            reproduce_missing(job, "S of Buddha in Table 1", "takes longer than all other rows");
            continue;
        }
        TRY(time_method(job, row, &s, KINDS[m], false, &cells[m].ours));
        if (m == 1 || m == 3) TRY(time_method(job, row, &s, KINDS[m], true, &cells[m].own));
    }
    return CUTIS_OK;
}

static void name_body(const time_row *row, char *out, size_t size)
{
    const char *body = row->body == BALL ? "ball" : cutis_body_name((cutis_body)row->body);
    const uint32_t all = row->kind == SD ? row->weights : row->rings * row->segments + 2;
    snprintf(out, size, "%s %u, %u to %u, %u poses", body, row->vertices, all, row->kept,
             row->poses);
}

static cutis_result show_times(reproduce_job *job)
{
    static const char *const kinds[] = { "MVC", "HC", "SD" };
    reproduce_table *t = reproduce_table_add(job, "Table 1", "reduction times");
    for (int m = 0; m < METHODS; m++) reproduce_metric_add(t, METHOD_NAMES[m], "s", REPRODUCE_LESS);
    t->own = "the largest weights stay; P makes the error's Laplacian small";
    t->ours = "weights that explain the poses stay; P makes the error's gradient small";
    snprintf(
        t->note, sizeof t->note,
        "kL k-largest, G geometric, S smooth weights, P Poisson. MVC mean value (signed), HC "
        "harmonic, SD a skeleton with harmonic fields for weights; the same vertices, poses and "
        "weights as published, but 46 controls for Buddha's 45. All threads. Above 20 000 "
        "vertices S and the paper's P make 20 sweeps in "
        "place of 0.1 %% of the vertices.");
    for (int i = 0; i < TIMED; i++) {
        const time_row *row = &TIMES[i];
        char body[64];
        name_body(row, body, sizeof body);
        reproduce_cell *cells = reproduce_row_add(t, body, "%s, %s", row->name, kinds[row->kind]);
        for (int m = 0; m < METHODS; m++) cells[m].paper = row->seconds[m];
        if (!reproduce_progress(job, row->name, (double)i / TIMED)) return CUTIS_CANCELLED;
        if (!job->quick || row->quick) TRY(time_row_methods(job, row, cells));
    }
    reproduce_show(job, t);
    if (job->quick)
        reproduce_missing(job, "large bodies of Table 1", "a quick run leaves them out");
    return CUTIS_OK;
}

// Section 5 -------------------------------------------------------------------------------------

static cutis_result show_rates(reproduce_job *job)
{
    reproduce_table *t =
        reproduce_table_add(job, "Section 5", "frame rates, 702538 triangles, 137 controls");
    bench_cage_figures cpu = { 0 }, gpu = { 0 };
    const uint32_t vertices = job->quick ? 20000 : 351271;
    TRY(bench_cage_measure(job->app, job->device, vertices, job->budget, &cpu));
    if (job->gpu) TRY(bench_cage_measure(job->app, job->gpu, vertices, job->budget, &gpu));
    char body[64];
    snprintf(body, sizeof body, "bumpy ball, %u triangles", cpu.triangles);
    reproduce_metric_add(t, "frames a second", NULL, REPRODUCE_MORE);
    t->ours = "positions and normals, all threads";
    reproduce_cell *cells = reproduce_row_add(t, body, "CPU, all 137 weights");
    cells[0].paper = 1.2, cells[0].ours = 1 / cpu.full;
    cells = reproduce_row_add(t, body, "CPU, 8 weights");
    cells[0].paper = 13.9, cells[0].ours = 1 / cpu.few;
    cells = reproduce_row_add(t, body, "GPU, 8 weights");
    cells[0].paper = 142.9, cells[0].ours = job->gpu ? 1 / gpu.few : NAN;
    reproduce_show(job, t);
    if (!job->gpu)
        reproduce_missing(job, "GPU frame rate of Section 5", "no GPU: --device cuda measures it");
    return CUTIS_OK;
}

// Figures 10, 11 and 12 -------------------------------------------------------------------------

enum { LEAST_KEPT = 4, MOST_KEPT = 8, KEPT = MOST_KEPT - LEAST_KEPT + 1, HELD_OUT = 24 };

typedef struct held_errors {
    double position[2][KEPT], normal[2][KEPT]; ///< ours, the paper's
} held_errors;

static cutis_cage_options judged(const caged *c, uint32_t kept, uint32_t examples, bool paper,
                                 const float *poses)
{
    return (cutis_cage_options){
        .influences = kept,
        .signed_weights = true,
        .energy = paper ? CUTIS_REDUCE_LAPLACE : CUTIS_REDUCE_GRADIENT,
        .sets = paper ? CUTIS_REDUCE_SETS_LARGEST : CUTIS_REDUCE_SETS_AUTO,
        .examples = poses,
        .example_count = examples,
        .held_out = poses + 3 * (size_t)examples * c->cage->control_count,
        .held_out_count = HELD_OUT,
    };
}

// Examples, then poses to judge by: of other seeds, blended into one another like an animation.
static float *make_poses(const caged *c, uint32_t examples)
{
    enum { KEYS = 5 };
    const size_t plane = 3 * (size_t)c->cage->control_count;
    float *out = calloc((examples + HELD_OUT) * plane, sizeof *out);
    float *keys = calloc(KEYS * plane, sizeof *keys);
    if (out && keys) {
        cutis_cage_automatic_poses(c->cage, 1, examples, out);
        cutis_cage_automatic_poses(c->cage, 11, KEYS, keys);
        for (uint32_t f = 0; f < HELD_OUT; f++) {
            const double at = (double)f * (KEYS - 1) / (HELD_OUT - 1);
            const uint32_t key = at < KEYS - 2 ? (uint32_t)at : KEYS - 2;
            const float part = (float)(at - key);
            for (size_t i = 0; i < plane; i++)
                out[(examples + f) * plane + i] =
                    (1 - part) * keys[key * plane + i] + part * keys[(key + 1) * plane + i];
        }
    } else {
        free(out);
        out = NULL;
    }
    free(keys);
    return out;
}

static cutis_result draw_kept(reproduce_job *job, const caged *c, cutis_model *const *models,
                              const float *poses)
{
    static const char *const titles[4] = { "all 51 weights", "4", "6", "8" };
    const cutis_model *shown[4] = { c->bound, models[0], models[2], models[4] };
    const size_t count = cutis_model_vertex_count(c->body);
    OWN_MEMORY float *memory = calloc(4 * 6 * count, sizeof *memory);
    ENDS_BY(rest_shape_release) rest_shape rest = { 0 };
    picture_view views[4];
    TRY(memory ? reproduce_rest(job, c->body, &rest) : CUTIS_OUT_OF_MEMORY);
    for (int i = 0; i < 4; i++) {
        float *positions = memory + 6 * count * (size_t)i, *normals = positions + 3 * count;
        const cutis_poses pose = { .kind = CUTIS_POSE_CONTROLS,
                                   .controls = (const cutis_float3 *)poses };
        TRY(bench_deform(job->device, shown[i],
                         &(cutis_bind_options){ .method = CUTIS_METHOD_CAGE }, &pose, 1,
                         &(cutis_outputs){ .positions.data = positions }));
        views[i] =
            (picture_view){ .surface = rest_shape_surface(&rest, positions), .title = titles[i] };
        // of the reduced positions themselves: what the eye judges
        TRY(cutis_surface_normals(job->app->context, &views[i].surface, NULL, normals));
        views[i].normals = normals;
    }
    return reproduce_pictures(
        job, views, 4,
        (cutis_camera){ .yaw = 60, .pitch = 10, .frame = cutis_surface_bounds(&views[0].surface) },
        NULL,
        "Figure 10: a quadruped in a cage, reduced to 4, 6 and 8 weights a vertex by our "
        "Poisson reduction, in a pose that was not learned from.");
}

static cutis_result show_kept(reproduce_job *job)
{
    const time_row *horse = &TIMES[3];
    ENDS_BY(caged_close) caged c = { 0 };
    cutis_model *models[KEPT] = { NULL };
    held_errors errors;
    cutis_result result = caged_open(job, horse, job->quick ? 1500 : 4000, &c);
    if (result != CUTIS_OK) return result;
    OWN_MEMORY float *poses = make_poses(&c, 7);
    if (!poses) result = CUTIS_OUT_OF_MEMORY;
    for (uint32_t k = 0; k < KEPT && result == CUTIS_OK; k++)
        for (int paper = 0; paper < 2 && result == CUTIS_OK; paper++) {
            OWN(cutis_cage_report) *report = NULL;
            OWN(cutis_model) *model = NULL; // of the paper's; ours is kept
            const cutis_cage_options options = judged(&c, LEAST_KEPT + k, 7, paper, poses);
            result = cutis_cage_reduce(c.bound, job->device, &options, paper ? &model : &models[k],
                                       &report);
            if (result != CUTIS_OK) break;
            errors.position[paper][k] = report->rows[0].held_out_position;
            errors.normal[paper][k] = report->rows[0].held_out_normal;
        }
    if (result == CUTIS_OK)
        result = draw_kept(job, &c, models, poses + 3 * (size_t)(7 + 10) * c.cage->control_count);
    for (int k = 0; k < KEPT; k++) cutis_model_destroy(models[k]);
    if (result != CUTIS_OK) return result;
    reproduce_table *t =
        reproduce_table_add(job, "Figure 11", "errors by the number of weights kept");
    reproduce_metric_add(t, "normals", "rad RMS", REPRODUCE_PLAIN);
    reproduce_metric_add(t, "positions", "% of the diagonal", REPRODUCE_PLAIN);
    t->own = "P with the Laplacian, on the largest weights";
    t->ours = "P with the gradient, on fitted weights";
    snprintf(
        t->note, sizeof t->note,
        "Quadruped in a cage of 51 controls, learned from 7 poses, judged by %d others. The "
        "paper's figure is a curve without readable numbers: both errors fall from 4 to 8, and "
        "4 is poor.",
        HELD_OUT);
    for (int k = 0; k < KEPT; k++) {
        reproduce_cell *cells = reproduce_row_add(t, NULL, "%d weights", LEAST_KEPT + k);
        cells[0].own = errors.normal[1][k], cells[0].ours = errors.normal[0][k];
        cells[1].own = errors.position[1][k], cells[1].ours = errors.position[0][k];
    }
    reproduce_show(job, t);
    return CUTIS_OK;
}

static cutis_result plot_frames(reproduce_job *job, const cutis_cage_report *r,
                                const cutis_cage_report *paper)
{
    cutis_series position[METHODS + 1], normal[METHODS + 1];
    const uint32_t count = r->row_count < METHODS ? r->row_count : METHODS;
    for (uint32_t i = 0; i <= count; i++) {
        const cutis_reduce_row *row = i < count ? &r->rows[i] : &paper->rows[0];
        const char *name =
            i < count ? cutis_reduce_method_name(row->method) : "the paper's poisson";
        position[i] =
            (cutis_series){ name, HELD_OUT, NULL, row->frame_position + r->example_count };
        normal[i] = (cutis_series){ name, HELD_OUT, NULL, row->frame_normal + r->example_count };
    }
    html_markup(&job->page, "<div class=\"grid\">\n");
    cutis_plot plot = { .title = "Figure 12: normal deviation",
                        .x_title = "frame",
                        .y_title = "RMS, radians",
                        .series_count = count + 1,
                        .series = normal,
                        .from_zero = true };
    TRY(html_put_plot(job->app->context, &job->page, plot));
    plot.title = "Figure 12: position error", plot.y_title = "RMS, % of the diagonal";
    plot.series = position;
    TRY(html_put_plot(job->app->context, &job->page, plot));
    html_markup(&job->page, "</div>\n");
    return CUTIS_OK;
}

// `reports`: our four methods, the paper's P, its G.
static void fill_animation(reproduce_table *t, cutis_cage_report *const *reports)
{
    const cutis_cage_report *ours = reports[0];
    for (int m = 0; m < METHODS; m++) {
        reproduce_cell *cells = reproduce_row_add(t, NULL, "%s", METHOD_NAMES[m]);
        for (uint32_t i = 0; i < ours->row_count; i++)
            if (ours->rows[i].method == KINDS[m]) {
                cells[0].ours = ours->rows[i].held_out_normal;
                cells[1].ours = ours->rows[i].held_out_position;
            }
        if (m != 1 && m != 3) continue;
        const cutis_reduce_row *own = &reports[m == 3 ? 1 : 2]->rows[0];
        cells[0].own = own->held_out_normal;
        cells[1].own = own->held_out_position;
    }
}

static cutis_result show_animation(reproduce_job *job)
{
    reproduce_table *t =
        reproduce_table_add(job, "Figure 12", "errors over an animation, 110 to 8");
    const time_row *armadillo = &TIMES[2];
    ENDS_BY(caged_close) caged c = { 0 };
    cutis_cage_report *reports[3] = { NULL };
    cutis_result result = caged_open(job, armadillo, job->quick ? 3000 : 8000, &c);
    if (result != CUTIS_OK) return result;
    OWN_MEMORY float *poses = make_poses(&c, 6);
    if (!poses) result = CUTIS_OUT_OF_MEMORY;
    for (int i = 0; i < 3 && result == CUTIS_OK; i++) {
        OWN(cutis_model) *model = NULL;
        cutis_cage_options options = judged(&c, 8, 6, i > 0, poses);
        options.compare = i == 0;
        if (i == 2) options.method = CUTIS_REDUCE_GEOMETRIC;
        if (!reproduce_progress(job, "Figure 12", i / 3.0)) result = CUTIS_CANCELLED;
        if (result == CUTIS_OK)
            result = cutis_cage_reduce(c.bound, job->device, &options, &model, &reports[i]);
    }
    reproduce_metric_add(t, "normals", "rad RMS", REPRODUCE_PLAIN);
    reproduce_metric_add(t, "positions", "% of the diagonal", REPRODUCE_PLAIN);
    t->own = "G and P on the largest weights, P with the Laplacian";
    t->ours = "G and P on fitted weights, P with the gradient; kL and S are the same for both";
    snprintf(
        t->note, sizeof t->note,
        "Biped in a cage of 110 controls, six examples, %d frames that none of them is in. The "
        "paper's figure is a curve without readable numbers; its order is P, S, G, kL for "
        "normals and G, S, P, kL for positions, best first.",
        HELD_OUT);
    if (result == CUTIS_OK) {
        fill_animation(t, reports);
        reproduce_show(job, t);
        result = plot_frames(job, reports[0], reports[1]);
    }
    for (int i = 0; i < 3; i++) cutis_cage_report_destroy(reports[i]);
    return result;
}

cutis_result reproduce_reduction(reproduce_job *job)
{
    TRY(show_times(job));
    TRY(show_rates(job));
    if (!reproduce_progress(job, "Figure 11", 0)) return CUTIS_CANCELLED;
    TRY(show_kept(job));
    return show_animation(job);
}
