/// cutis bench reduce: weight reduction on generated bodies of the paper's sizes (Landreneau and
/// Schaefer 2010, Table 1). Controls are points that move by translation, every vertex has weight
/// on all of them and none is negative: the paper's harmonic rows.
#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct reduce_row {
    const char *name;
    uint32_t vertices, controls, influences, poses;
    double paper; ///< seconds in the paper's Table 1: its non-negative rows, and the signed one
                  ///< where there is no other
    bool quick;
} reduce_row;

static const reduce_row rows[] = {
    { "Armadillo's size", 15002, 110, 8, 7, 133.6, true },
    { "Horse's size", 48485, 51, 8, 3, 420.8, false },
    { "Buddha's size", 427616, 45, 12, 3, 360.3, false },
};
enum { ROWS = sizeof rows / sizeof rows[0] };

// A model whose arrays are ours until cutis_model_create has copied them.
typedef struct dense_skin {
    cutis_node *nodes;
    uint32_t *joints, *first, *influence_joints;
    cutis_mat34 *binds;
    float *weights;
} dense_skin;

static void release(dense_skin *s)
{
    free(s->nodes), free(s->joints), free(s->binds);
    free(s->first), free(s->influence_joints), free(s->weights);
}

static bool allocate(const reduce_row *row, dense_skin *s)
{
    size_t entries = (size_t)row->vertices * row->controls;
    s->nodes = calloc(row->controls + 1, sizeof *s->nodes);
    s->joints = calloc(row->controls, sizeof *s->joints);
    s->binds = calloc(row->controls, sizeof *s->binds);
    s->first = calloc((size_t)row->vertices + 1, sizeof *s->first);
    s->influence_joints = malloc(entries * sizeof *s->influence_joints);
    s->weights = malloc(entries * sizeof *s->weights);
    return s->nodes && s->joints && s->binds && s->first && s->influence_joints && s->weights;
}

// Weights fall with the distance to the controls, which are spread over the body's own vertices.
static void fill_weights(const reduce_row *row, const float *positions, double extent,
                         dense_skin *s)
{
    const double soft = 0.01 * extent * extent;
    for (uint32_t v = 0; v < row->vertices; v++) {
        float *w = s->weights + (size_t)v * row->controls;
        double sum = 0;
        for (uint32_t c = 0; c < row->controls; c++) {
            cutis_float3 at = s->nodes[c].rest.translation;
            double x = positions[3 * v] - at.x, y = positions[3 * v + 1] - at.y,
                   z = positions[3 * v + 2] - at.z;
            double d = x * x + y * y + z * z + soft;
            w[c] = (float)(soft * soft / (d * d));
            sum += w[c];
            s->influence_joints[(size_t)v * row->controls + c] = c;
        }
        for (uint32_t c = 0; c < row->controls; c++) w[c] = (float)(w[c] / sum);
        s->first[v + 1] = (v + 1) * row->controls;
    }
}

static cutis_result make_model(cli_app *app, const reduce_row *row, dense_skin *s,
                               cutis_model **out)
{
    cutis_model *body = NULL;
    cutis_synth_options synth = { .vertex_count = row->vertices };
    cutis_result result = cutis_synth_create(app->context, &synth, &body);
    if (result != CUTIS_OK) return result;
    cutis_primitive primitive = cutis_model_get(body)->meshes[0].primitives[0];
    if (primitive.vertex_count != row->vertices) { // the arrays are made for exactly that many
        cutis_model_destroy(body);
        return CUTIS_INTERNAL;
    }
    cutis_surface surface = { primitive.vertex_count, primitive.index_count / 3,
                              primitive.positions, primitive.indices };
    for (uint32_t c = 0; c <= row->controls; c++) {
        bool shows = c == row->controls;
        s->nodes[c] = (cutis_node){ .parent = CUTIS_NONE,
                                    .rest = cutis_transform_identity(),
                                    .mesh = shows ? 0 : CUTIS_NONE,
                                    .skin = shows ? 0 : CUTIS_NONE };
        if (shows) break;
        const float *p =
            primitive.positions + 3 * ((size_t)c * primitive.vertex_count / row->controls);
        s->nodes[c].rest.translation = (cutis_float3){ p[0], p[1], p[2] };
        s->joints[c] = c;
        s->binds[c] = (cutis_mat34){ { 1, 0, 0, -p[0], 0, 1, 0, -p[1], 0, 0, 1, -p[2] } };
    }
    fill_weights(row, primitive.positions, cutis_surface_diagonal(&surface), s);
    primitive.influences = (cutis_influences){ s->first, s->influence_joints, s->weights };
    primitive.targets = NULL, primitive.parts = NULL, primitive.material = CUTIS_NONE;
    cutis_mesh mesh = { .primitive_count = 1, .primitives = &primitive };
    cutis_skin skin = { .joint_count = row->controls,
                        .joints = s->joints,
                        .inverse_binds = s->binds,
                        .root = CUTIS_NONE };
    cutis_model_data data = { .node_count = row->controls + 1,
                              .mesh_count = 1,
                              .skin_count = 1,
                              .nodes = s->nodes,
                              .meshes = &mesh,
                              .skins = &skin };
    result = cutis_model_create(app->context, &data, CUTIS_GATE_REFUSE, out);
    cutis_model_destroy(body);
    return result;
}

// Bends and shifts of the controls: waves over the body, and a little of each control's own.
static void make_poses(const reduce_row *row, const dense_skin *s, cutis_transform *poses)
{
    for (uint32_t j = 0; j < row->poses; j++)
        for (uint32_t c = 0; c <= row->controls; c++) {
            cutis_transform *t = &poses[(size_t)j * (row->controls + 1) + c];
            *t = s->nodes[c].rest;
            for (int k = 0; k < 3; k++) {
                float *out = k == 0   ? &t->translation.x
                             : k == 1 ? &t->translation.y
                                      : &t->translation.z;
                double wave = 4 * s->nodes[c].rest.translation.y +
                              6.28 * cutis_random_unit(1, j, (uint64_t)k);
                *out +=
                    (float)(0.15 * sin(wave) +
                            0.02 * (cutis_random_unit(2, j, 3 * (uint64_t)c + (uint64_t)k) - 0.5));
            }
        }
}

typedef struct reduce_figures {
    double seconds;     ///< on the clock: sets, solves
    double solve;       ///< of these: the solver alone, transfers to a device included
    double cpu_seconds; ///< of all threads, for the whole call: what a machine that is busy
                        ///< otherwise does not change
    double energy_ratio;
    uint32_t sweeps;
} reduce_figures;

static cutis_result measure(cli_app *app, cutis_device *device, const reduce_row *row,
                            reduce_figures *out)
{
    dense_skin s = { 0 };
    cutis_model *model = NULL, *reduced = NULL;
    cutis_reduction *report = NULL;
    cutis_transform *poses = calloc((size_t)row->poses * (row->controls + 1), sizeof *poses);
    cutis_result result =
        allocate(row, &s) && poses ? make_model(app, row, &s, &model) : CUTIS_OUT_OF_MEMORY;
    if (result == CUTIS_OK) make_poses(row, &s, poses);
    release(&s); // the model has its own copy
    cutis_reduce_options options = { .influences = row->influences,
                                     .examples = poses,
                                     .example_count = row->poses,
                                     .examples_only = true,
                                     .energy = CUTIS_REDUCE_GRADIENT,
                                     .sets = CUTIS_REDUCE_SETS_FITTED,
                                     .skip_evaluation = true };
    *out = (reduce_figures){ 0 };
    clock_t start = clock();
    if (result == CUTIS_OK)
        result = cutis_weights_reduce(model, device, &options, &reduced, &report);
    app_progress_done(app);
    if (result == CUTIS_OK) {
        const cutis_reduction_row *r = &report->rows[0];
        *out =
            (reduce_figures){ .seconds = r->seconds,
                              .solve = r->solve_seconds,
                              .cpu_seconds = (double)(clock() - start) / CLOCKS_PER_SEC,
                              .energy_ratio =
                                  r->curve[0] > 0 ? r->curve[r->curve_count - 1] / r->curve[0] : 0,
                              .sweeps = r->sweep_count };
    }
    cutis_reduction_destroy(report);
    cutis_model_destroy(reduced);
    cutis_model_destroy(model);
    free(poses);
    return result;
}

static void emit_row(json_out *json, const reduce_row *row, const reduce_figures *f)
{
    emit_object(json, NULL);
    emit_count(json, "vertices", row->vertices);
    emit_count(json, "controls", row->controls);
    emit_count(json, "influences", row->influences);
    emit_count(json, "poses", row->poses);
    emit_number(json, "seconds", f->seconds);
    emit_number(json, "solve_seconds", f->solve);
    emit_number(json, "cpu_seconds", f->cpu_seconds);
    emit_count(json, "sweeps", f->sweeps);
    emit_number(json, "energy_ratio", f->energy_ratio);
    emit_number(json, "paper_seconds", row->paper);
    emit_end(json);
}

int bench_reduce(cli_app *app)
{
    cutis_device *device = NULL;
    json_out json = { .file = stdout };
    int status = app_open_device(app, &device);
    if (status != EXIT_GOOD) return status;
    app_say(app, "fitted sets and poisson, weights dense and not negative; Table 1 is Landreneau "
                 "and Schaefer's of 2010\n");
    app_say(app, "%-18s %9s %9s %4s %6s %9s %9s %9s %7s %7s %9s\n", "body", "vertices", "controls",
            "K", "poses", "seconds", "solver", "CPU s", "sweeps", "E/E0", "Table 1");
    if (app->json) emit_object(&json, NULL), emit_array(&json, "rows");
    for (int i = 0; i < ROWS && status == EXIT_GOOD; i++) {
        const reduce_row *row = &rows[i];
        reduce_figures f;
        if (option_given(app, OPTION_QUICK) && !row->quick) continue;
        cutis_result result = measure(app, device, row, &f);
        fflush(stdout); // rows take a while
        if (result != CUTIS_OK) {
            status = app_fail(app, "bench reduce", result);
            break;
        }
        app_say(app, "%-18s %9u %9u %4u %6u %9.3f %9.3f %9.3f %7u %7.3f %9.1f\n", row->name,
                row->vertices, row->controls, row->influences, row->poses, f.seconds, f.solve,
                f.cpu_seconds, f.sweeps, f.energy_ratio, row->paper);
        if (app->json) emit_row(&json, row, &f);
    }
    if (app->json) emit_end(&json), emit_end(&json);
    cutis_device_destroy(device);
    return status;
}
