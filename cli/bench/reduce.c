/// cutis bench reduce: weight reduction on generated bodies of the paper's sizes (Landreneau and
/// Schaefer 2010, Table 1). Signed rows are cages with mean value coordinates, the others skins
/// whose controls are points that move by translation; every vertex has weight on all controls.
#include "bench/bench.h"
#include "bench/measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct reduce_row {
    const char *name;
    uint32_t vertices, controls, influences, poses;
    double asked;  ///< seconds on two cores; 0: a row of the cost against size
    double paper;  ///< seconds in the paper's Table 1; 0: not there
    bool negative; ///< weights may be: a cage
    bool normals;  ///< the default energy of skins, else the gradient's
    bool quick;
    bool smooth; ///< method smooth, else poisson on fitted sets
} reduce_row;

static const reduce_row rows[] = {
    { "Armadillo, signed", 15002, 110, 8, 7, 0.25, 16.9, true, false, true, false },
    { "Horse, signed", 48485, 51, 8, 3, 0.5, 24.4, true, false, false, false },
    { "Buddha, signed", 427616, 45, 12, 3, 4, 360.3, true, false, false, false },
    { "Horse, smooth", 48485, 51, 8, 3, 2, 22.7, true, false, false, true },
    { "Armadillo", 15002, 110, 8, 7, 0.5, 133.6, false, false, true, false },
    { "Horse", 48485, 51, 8, 3, 1, 420.8, false, false, false, false },
    { "Buddha", 427616, 45, 12, 3, 8, 0, false, false, false, false },
    { "Armadillo, normals", 15002, 110, 8, 7, 0.5, 133.6, false, true, true, false },
    { "Horse, normals", 48485, 51, 8, 3, 1, 420.8, false, true, false, false },
    { "Buddha, normals", 427616, 45, 12, 3, 8, 0, false, true, false, false },
    { "size", 15002, 51, 8, 3, 0, 0, false, false, true, false },
    { "size", 48485, 51, 8, 3, 0, 0, false, false, false, false },
    { "size", 427616, 51, 8, 3, 0, 0, false, false, false, false },
};
enum { ROWS = sizeof rows / sizeof rows[0], RUNS = 3 };

// A model whose arrays are ours until cutis_model_create has copied them.
typedef struct dense_skin {
    memory_list memory;
    cutis_node *nodes;
    uint32_t *joints, *first, *influence_joints;
    cutis_mat34 *binds;
    float *weights;
} dense_skin;

static bool allocate(const reduce_row *row, dense_skin *s)
{
    size_t entries = (size_t)row->vertices * row->controls;
    s->nodes = memory_take(&s->memory, row->controls, sizeof *s->nodes);
    s->joints = memory_take(&s->memory, row->controls, sizeof *s->joints);
    s->binds = memory_take(&s->memory, row->controls, sizeof *s->binds);
    s->first = memory_take(&s->memory, row->vertices, sizeof *s->first);
    s->influence_joints = memory_take(&s->memory, entries, sizeof *s->influence_joints);
    s->weights = memory_take(&s->memory, entries, sizeof *s->weights);
    return !s->memory.failed;
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

// Vertices in the middle of triangles, spread evenly, until there are `count`.
static bool split(bench_ball *ball, uint32_t count)
{
    const uint32_t more = count - ball->vertex_count, old = ball->triangle_count;
    float *positions = realloc(ball->positions, 12 * (size_t)count);
    if (positions) ball->positions = positions;
    uint32_t *triangles = realloc(ball->triangles, 12 * ((size_t)old + 2 * more));
    if (triangles) ball->triangles = triangles;
    if (!positions || !triangles) return false;
    for (uint32_t i = 0; i < more; i++) {
        const uint32_t v = ball->vertex_count++, a = ball->triangle_count;
        uint32_t *t = triangles + 3 * (size_t)((uint64_t)i * old / more);
        for (int c = 0; c < 3; c++)
            positions[3 * (size_t)v + c] =
                (positions[3 * (size_t)t[0] + c] + positions[3 * (size_t)t[1] + c] +
                 positions[3 * (size_t)t[2] + c]) /
                3;
        memcpy(triangles + 3 * (size_t)a, (uint32_t[6]){ t[1], t[2], v, t[2], t[0], v }, 24);
        t[2] = v;
        ball->triangle_count += 2;
    }
    return true;
}

// A coarse ball of exactly this many vertices: a cage.
static bool make_ball(uint32_t vertices, double radius, bench_ball *out)
{
    const uint32_t rings = (uint32_t)sqrt((vertices - 2) / 1.2), segments = (vertices - 2) / rings;
    return bench_ball_make(rings, segments, radius, 0, out) && split(out, vertices);
}

// Vertices in rings as of an octahedron whose sides are cut into n: 4, 8, .. 4 n, .. 8, 4 of them
// between two poles, so that no vertex has many neighbours (scans have none either).
static uint32_t ring_size(uint32_t n, uint32_t ring)
{
    return 4 * (ring <= n ? ring : 2 * n - ring);
}

// Triangles of the band between a shorter ring (or a pole) and the next longer one.
static uint32_t *band_triangles(uint32_t small, uint32_t large, uint32_t side, bool down,
                                uint32_t *out)
{
    const uint32_t small_size = side ? 4 * side : 1, large_size = 4 * (side + 1);
    for (uint32_t quarter = 0; quarter < 4; quarter++)
        for (uint32_t i = 0; i <= side; i++) {
            const uint32_t a = small + (quarter * side + i) % small_size;
            const uint32_t b = small + (quarter * side + i + 1) % small_size;
            const uint32_t c = large + (quarter * (side + 1) + i) % large_size;
            const uint32_t d = large + (quarter * (side + 1) + i + 1) % large_size;
            memcpy(out, down ? (uint32_t[3]){ a, c, d } : (uint32_t[3]){ a, d, c }, 12), out += 3;
            if (i == side) break;
            memcpy(out, down ? (uint32_t[3]){ a, d, b } : (uint32_t[3]){ a, b, d }, 12), out += 3;
        }
    return out;
}

// A bumpy body of exactly this many vertices.
static bool make_body(uint32_t vertices, double radius, double bumps, bench_ball *out)
{
    const double pi = 3.14159265358979323846;
    const uint32_t n = (uint32_t)sqrt((vertices - 2) / 4.0);
    *out = (bench_ball){ .vertex_count = 4 * n * n + 2, .triangle_count = 8 * n * n };
    out->positions = malloc(12 * (size_t)out->vertex_count);
    out->triangles = malloc(12 * (size_t)out->triangle_count);
    if (!out->positions || !out->triangles) return false;
    float *p = out->positions;
    uint32_t *t = out->triangles, begin = 0;
    for (uint32_t ring = 0; ring <= 2 * n; ring++) {
        const uint32_t size = ring % (2 * n) ? ring_size(n, ring) : 1;
        for (uint32_t i = 0; i < size; i++, p += 3) {
            const double polar = ring * pi / (2.0 * n), around = 2 * pi * i / size;
            const double r = radius * (1 + bumps * sin(7 * polar) * cos(5 * around) * sin(polar));
            p[0] = (float)(r * sin(polar) * cos(around));
            p[1] = (float)(1.6 * r * cos(polar));
            p[2] = (float)(-r * sin(polar) * sin(around));
        }
        if (ring < n) t = band_triangles(begin, begin + size, ring, true, t);
        if (ring >= n && ring < 2 * n)
            t = band_triangles(begin + size, begin, 2 * n - ring - 1, false, t);
        begin += size;
    }
    return split(out, vertices);
}

// A skin whose joints are points spread over the body's own vertices.
static cutis_result make_skin(cli_app *app, const reduce_row *row, const bench_ball *body,
                              dense_skin *s, cutis_model **out)
{
    cutis_surface surface = { body->vertex_count, body->triangle_count, body->positions,
                              body->triangles };
    if (!allocate(row, s)) return CUTIS_OUT_OF_MEMORY;
    s->nodes[row->controls] = cutis_node_default();
    s->nodes[row->controls].mesh = s->nodes[row->controls].skin = 0;
    for (uint32_t c = 0; c < row->controls; c++) {
        s->nodes[c] = cutis_node_default();
        const float *p = body->positions + 3 * ((size_t)c * row->vertices / row->controls);
        s->nodes[c].rest.translation = (cutis_float3){ p[0], p[1], p[2] };
        s->joints[c] = c;
        s->binds[c] = (cutis_mat34){ { 1, 0, 0, -p[0], 0, 1, 0, -p[1], 0, 0, 1, -p[2] } };
    }
    fill_weights(row, body->positions, cutis_surface_diagonal(&surface), s);
    cutis_primitive primitive = { .vertex_count = body->vertex_count,
                                  .index_count = 3 * body->triangle_count,
                                  .indices = body->triangles,
                                  .positions = body->positions,
                                  .material = CUTIS_NONE };
    primitive.influences = (cutis_influences){ s->first, s->influence_joints, s->weights };
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
    return cutis_model_create(app->context, &data, CUTIS_GATE_REFUSE, out);
}

// The body in a cage, with the weights of all controls.
static cutis_result make_cage(cli_app *app, cutis_device *device, const reduce_row *row,
                              const bench_ball *body, cutis_model **out)
{
    ENDS_BY(bench_ball_release) bench_ball around = { 0 };
    OWN(cutis_model) *shape = NULL, *bare = NULL;
    OWN(cutis_cage) *cage = NULL;
    TRY(make_ball(row->controls, 1.5, &around) ? CUTIS_OK : CUTIS_OUT_OF_MEMORY);
    TRY(bench_ball_model(app->context, &around, NULL, &shape));
    TRY(cutis_cage_create(shape, &cage));
    TRY(bench_ball_model(app->context, body, NULL, &bare));
    return cutis_cage_bind(bare, device, cage, NULL, out, NULL);
}

// Bends and shifts of a control: waves over the body, and a little of its own.
static double shift(uint32_t pose, uint32_t control, uint32_t axis, double height)
{
    double wave = 4 * height + 6.28 * cutis_random_unit(1, pose, axis);
    return 0.15 * sin(wave) +
           0.02 * (cutis_random_unit(2, pose, 3 * (uint64_t)control + axis) - 0.5);
}

static void make_poses(const reduce_row *row, const cutis_model *model, cutis_transform *poses)
{
    const cutis_node *nodes = cutis_model_get(model)->nodes;
    for (uint32_t j = 0; j < row->poses; j++)
        for (uint32_t c = 0; c <= row->controls; c++) {
            cutis_transform *t = &poses[(size_t)j * (row->controls + 1) + c];
            *t = nodes[c].rest;
            const double y = t->translation.y;
            t->translation.x += (float)shift(j, c, 0, y);
            t->translation.y += (float)shift(j, c, 1, y);
            t->translation.z += (float)shift(j, c, 2, y);
        }
}

static void make_cage_poses(const reduce_row *row, const cutis_model *model, float *poses)
{
    const cutis_cage *cage = cutis_model_get(model)->cage;
    for (uint32_t j = 0; j < row->poses; j++)
        for (uint32_t c = 0; c < row->controls; c++)
            for (uint32_t k = 0; k < 3; k++) {
                const float *rest = &cage->controls[c].x;
                *poses++ = rest[k] + (float)shift(j, c, k, rest[1]);
            }
}

static bench_reduced figures_of(const cutis_reduce_row *r, clock_t start)
{
    return (bench_reduced){ .seconds = r->seconds,
                            .solve = r->solve_seconds,
                            .transfer = r->transfer_seconds,
                            .sweep = r->sweep_count ? r->sweep_seconds / r->sweep_count : 0,
                            .first = r->seconds,
                            .cpu_seconds = (double)(clock() - start) / CLOCKS_PER_SEC,
                            .energy_ratio = r->curve_count && r->curve[0] > 0
                                                ? r->curve[r->curve_count - 1] / r->curve[0]
                                                : 0,
                            .sweeps = r->sweep_count };
}

cutis_result bench_reduce_once(cutis_device *device, const cutis_model *model,
                               const cutis_cage_options *options, const cutis_transform *poses,
                               bench_reduced *out)
{
    OWN(cutis_model) *reduced = NULL;
    OWN(cutis_reduce_report) *skins = NULL;
    OWN(cutis_cage_report) *cage = NULL;
    cutis_cage_options caged = *options;
    caged.skip_evaluation = true;
    const cutis_reduce_options skinned = { .influences = options->influences,
                                           .method = options->method,
                                           .energy = options->energy,
                                           .sets = options->sets,
                                           .examples = poses,
                                           .example_count = options->example_count,
                                           .examples_only = true,
                                           .sweeps = options->sweeps,
                                           .skip_evaluation = true };
    const clock_t start = clock();
    TRY(poses ? cutis_weights_reduce(model, device, &skinned, &reduced, &skins)
              : cutis_cage_reduce(model, device, &caged, &reduced, &cage));
    *out = figures_of(poses ? skins->rows : cage->rows, start);
    return CUTIS_OK;
}

// The best of a few runs, because noise only ever adds.
static cutis_result measure(cli_app *app, cutis_device *device, const reduce_row *row,
                            bench_reduced *out)
{
    dense_skin s = { 0 };
    bench_ball body = { 0 };
    cutis_model *model = NULL;
    cutis_transform *poses = calloc((size_t)row->poses * (row->controls + 1), sizeof *poses);
    float *cage_poses = calloc((size_t)row->poses * row->controls, 3 * sizeof *cage_poses);
    cutis_result result = poses && cage_poses && make_body(row->vertices, 1, 0.2, &body)
                              ? CUTIS_OK
                              : CUTIS_OUT_OF_MEMORY;
    if (result == CUTIS_OK)
        result = row->negative ? make_cage(app, device, row, &body, &model)
                               : make_skin(app, row, &body, &s, &model);
    memory_release(&s.memory); // the model has its own copies
    bench_ball_release(&body);
    if (result == CUTIS_OK && row->negative) make_cage_poses(row, model, cage_poses);
    if (result == CUTIS_OK && !row->negative) make_poses(row, model, poses);
    const cutis_cage_options options = {
        .influences = row->influences,
        .method = row->smooth ? CUTIS_REDUCE_SMOOTH : CUTIS_REDUCE_POISSON,
        .energy = row->normals ? CUTIS_REDUCE_NORMALS : CUTIS_REDUCE_GRADIENT,
        .sets = CUTIS_REDUCE_SETS_FITTED,
        .examples = cage_poses,
        .example_count = row->poses
    };
    for (int i = 0; i < RUNS && result == CUTIS_OK; i++) {
        bench_reduced f = { 0 };
        result = bench_reduce_once(device, model, &options, row->negative ? NULL : poses, &f);
        const double first = i ? out->first : f.first;
        const double sweep = i && out->sweep < f.sweep ? out->sweep : f.sweep;
        if (i == 0 || f.seconds < out->seconds) *out = f;
        out->first = first;
        out->sweep = sweep;
    }
    app_progress_done(app);
    cutis_model_destroy(model);
    free(poses), free(cage_poses);
    return result;
}

cutis_result bench_reduce_sized(cli_app *app, cutis_device *device, uint32_t vertices,
                                bench_reduced *out)
{
    const reduce_row row = {
        .name = "size", .vertices = vertices, .controls = 51, .influences = 8, .poses = 3
    };
    return measure(app, device, &row, out);
}

static double nanoseconds(const reduce_row *row, const bench_reduced *f)
{
    return 1e9 * f->sweep / row->vertices;
}

static void emit_row(json_out *json, const reduce_row *row, const bench_reduced *f)
{
    emit(json,
         "{ vertices %u controls %u influences %u poses %u signed %d energy %s seconds %g "
         "first_seconds %g solve_seconds %g transfer_seconds %g sweep_seconds %g "
         "sweep_nanoseconds_per_vertex %g cpu_seconds %g sweeps %u energy_ratio %g",
         row->vertices, row->controls, row->influences, row->poses, row->negative,
         row->normals ? "normals" : "gradient", f->seconds, f->first, f->solve, f->transfer,
         f->sweep * f->sweeps, nanoseconds(row, f), f->cpu_seconds, f->sweeps, f->energy_ratio);
    if (row->asked > 0) emit_number(json, "asked_seconds", row->asked);
    if (row->paper > 0) emit_number(json, "paper_seconds", row->paper);
    emit_end(json);
}

static void say_row(cli_app *app, const reduce_row *row, const bench_reduced *f)
{
    char asked[16] = "", paper[16] = "";
    if (row->asked > 0) snprintf(asked, sizeof asked, "%.2f", row->asked);
    if (row->paper > 0) snprintf(paper, sizeof paper, "%.1f", row->paper);
    app_say(app,
            "%-18s %7u %4u %3u %3u %8.3f %8.3f %8.3f %8.3f %8.3f %8.3f %7.0f %6u %6.3f %6s %7s\n",
            row->name, row->vertices, row->controls, row->influences, row->poses, f->seconds,
            f->seconds - f->solve, f->transfer, f->solve - f->transfer, f->first, f->cpu_seconds,
            nanoseconds(row, f), f->sweeps, f->energy_ratio, asked, paper);
}

// The goals are of two cores.
static void add_asked(bench_figures *figures, const reduce_row *row, const bench_reduced *f)
{
    char name[64];
    snprintf(name, sizeof name, "%s, seconds", row->name);
    bench_figure_add(figures, name, 0, f->seconds, false, row->asked);
}

int bench_reduce(cli_app *app)
{
    cutis_device *device = NULL;
    json_out json = { .file = stdout };
    bench_figures figures = { 0 };
    double cost[2] = { 0 }; // of the smallest and the largest body of the rows of size
    const uint32_t only = option_count(app, OPTION_VERTICES, 0); // rows of that size
    bool any = only == 0 || bench_moments_has(app);
    for (int i = 0; i < ROWS; i++)
        any |= rows[i].vertices == only && (rows[i].quick || !option_given(app, OPTION_QUICK));
    if (!any) return app_usage(app, "--vertices %u: no row has so many", only);
    int status = app_open_device(app, &device);
    if (status != EXIT_GOOD) return status;
    app_say(app,
            "fitted sets and poisson (smooth: as its name says); best of %d runs. signed: cages "
            "with mean value weights "
            "and the prior, else skins, by the gradient energy or by normals (the default);\n"
            "seconds: whole = prepare + transfer + solve; "
            "ns: of the sweeps, per vertex and sweep; asked: on two cores; Table 1 is "
            "Landreneau and Schaefer's of 2010\n",
            RUNS);
    app_say(app, "%-18s %7s %4s %3s %3s %8s %8s %8s %8s %8s %8s %7s %6s %6s %6s %7s\n", "body",
            "vertices", "ctrl", "K", "J", "whole", "prepare", "transfer", "solve", "first", "CPU s",
            "ns", "sweeps", "E/E0", "asked", "Table 1");
    if (app->json) emit(&json, "{ rows [");
    for (int i = 0; i < ROWS && status == EXIT_GOOD; i++) {
        const reduce_row *row = &rows[i];
        bench_reduced f = { 0 };
        if (option_given(app, OPTION_QUICK) && !row->quick) continue;
        if (only && row->vertices != only) continue;
        cutis_result result = measure(app, device, row, &f);
        if (result != CUTIS_OK) {
            status = app_fail(app, "bench reduce", result);
            break;
        }
        say_row(app, row, &f);
        fflush(stdout); // rows take a while
        if (app->json) emit_row(&json, row, &f);
        if (row->asked > 0) add_asked(&figures, row, &f);
        if (row->asked == 0 && cost[0] == 0)
            cost[0] = nanoseconds(row, &f);
        else if (row->asked == 0)
            cost[1] = nanoseconds(row, &f);
    }
    if (app->json) emit_end(&json);
    if (cost[0] > 0 && cost[1] > 0) {
        if (app->json) emit_number(&json, "size_ratio", cost[1] / cost[0]);
        bench_figure_add(&figures, "cost_of_a_vertex_and_sweep_largest_over_smallest", 0,
                         cost[1] / cost[0], false, 1.5);
    }
    bench_figures_say(app, &figures);
    if (app->json) bench_figures_emit(&json, &figures);
    if (status == EXIT_GOOD && bench_moments_has(app)) {
        const cutis_result result = bench_moments(app, device, &json);
        if (result != CUTIS_OK) status = app_fail(app, "bench reduce", result);
    }
    if (app->json) emit_end(&json);
    cutis_device_destroy(device);
    return status;
}
