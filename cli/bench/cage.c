/// cutis bench cage: binding a body to a cage of 137 controls by mean value coordinates, and
/// deforming it with all weights and with 8, normals included, beside the frame rates of Landreneau
/// and Schaefer 2010 (702,538 triangles, 137 controls; Core i7 920 and GTX 280). The body is a
/// bumpy ball of 351,002 vertices, the cage a coarse ball around it.
#include "bench/bench.h"
#include "bench/measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RINGS = 9, SEGMENTS = 15, CONTROLS = RINGS * SEGMENTS + 2, FEW = 8, CHUNKED = 64 };
static const double PI = 3.14159265358979323846;
static const double PAPER_FULL = 1.2, PAPER_FEW = 13.9, PAPER_GPU = 142.9;

void bench_ball_release(bench_ball *b)
{
    free(b->positions), free(b->triangles);
}

static void ring_triangles(uint32_t rings, uint32_t segments, uint32_t *out)
{
    const uint32_t top = rings * segments, bottom = top + 1;
    for (uint32_t r = 0; r <= rings; r++)
        for (uint32_t s = 0; s < segments; s++) {
            const uint32_t next = (s + 1) % segments;
            const uint32_t a = (r - 1) * segments + s, b = (r - 1) * segments + next,
                           c = r * segments + s, d = r * segments + next;
            if (r == 0) {
                memcpy(out, (uint32_t[3]){ top, c, d }, 12), out += 3;
            } else if (r == rings) {
                memcpy(out, (uint32_t[3]){ bottom, b, a }, 12), out += 3;
            } else {
                memcpy(out, (uint32_t[6]){ a, c, b, b, c, d }, 24), out += 6;
            }
        }
}

bool bench_ball_make(uint32_t rings, uint32_t segments, double radius, double bumps,
                     bench_ball *out)
{
    *out = (bench_ball){ .vertex_count = rings * segments + 2,
                         .triangle_count = 2 * rings * segments };
    out->positions = malloc(12 * (size_t)out->vertex_count);
    out->triangles = malloc(12 * (size_t)out->triangle_count);
    if (!out->positions || !out->triangles) return false;
    for (uint32_t v = 0; v < out->vertex_count; v++) {
        const bool pole = v >= rings * segments;
        double polar =
            pole ? (v - rings * segments) * PI : (v / segments + 1.0) * PI / (rings + 1.0);
        double around = pole ? 0 : 2 * PI * (v % segments) / segments;
        double r = radius * (1 + bumps * sin(7 * polar) * cos(5 * around) * sin(polar));
        float *p = out->positions + 3 * (size_t)v;
        p[0] = (float)(r * sin(polar) * cos(around));
        p[1] = (float)(1.6 * r * cos(polar));
        p[2] = (float)(-r * sin(polar) * sin(around));
    }
    ring_triangles(rings, segments, out->triangles);
    return true;
}

cutis_result bench_ball_model(cutis_context *context, const bench_ball *b, const cutis_cage *cage,
                              cutis_model **out)
{
    cutis_primitive primitive = { .vertex_count = b->vertex_count,
                                  .index_count = 3 * b->triangle_count,
                                  .indices = b->triangles,
                                  .positions = b->positions,
                                  .material = CUTIS_NONE };
    cutis_mesh mesh = { .primitive_count = 1, .primitives = &primitive };
    cutis_node node = cutis_node_default();
    node.mesh = 0;
    cutis_model_data data = {
        .node_count = 1, .mesh_count = 1, .nodes = &node, .meshes = &mesh, .cage = cage
    };
    return cutis_model_create(context, &data, CUTIS_GATE_REFUSE, out);
}

typedef struct cage_bench {
    cli_app *app;
    cutis_device *device;
    bool gpu;
    double budget;
    bench_figures goals;
    bench_ball body, around;
    cutis_cage *cage;
    memory_list memory;
    double *points;
    float *weights; ///< all of them
    uint32_t *first, *controls;
    float *kept;
    json_out json;
    bench_cage_figures figures;
} cage_bench;

// The `count` largest weights of every vertex, renormalised (all: as they are).
static void keep_largest(cage_bench *b, uint32_t count)
{
    for (uint32_t v = 0; v < b->body.vertex_count; v++) {
        const float *w = b->weights + (size_t)v * CONTROLS;
        bool taken[CONTROLS] = { false };
        double sum = 0;
        for (uint32_t k = 0; k < count; k++) {
            uint32_t best = CONTROLS;
            for (uint32_t c = 0; c < CONTROLS && count < CONTROLS; c++)
                if (!taken[c] && (best == CONTROLS || fabsf(w[c]) > fabsf(w[best]))) best = c;
            taken[count < CONTROLS ? best : k] = true;
        }
        b->first[v] = v * count;
        for (uint32_t c = 0, k = v * count; c < CONTROLS; c++) {
            if (!taken[c]) continue;
            b->controls[k] = c, b->kept[k++] = w[c];
            sum += w[c];
        }
        for (uint32_t k = v * count; k < (v + 1) * count; k++)
            b->kept[k] = (float)(b->kept[k] / sum);
    }
    b->first[b->body.vertex_count] = b->body.vertex_count * count;
}

// Seconds of one frame; launches count.
static cutis_result time_frames(cage_bench *b, const cutis_model *model, uint32_t instances,
                                double *seconds)
{
    const cutis_bind_options options = { .method = CUTIS_METHOD_CAGE, .normals = true };
    OWN_MEMORY cutis_float3 *poses = malloc((size_t)instances * CONTROLS * sizeof *poses);
    ENDS_BY(bench_skin_close) bench_skin skin = { 0 };
    if (!poses) return CUTIS_OUT_OF_MEMORY;
    cutis_cage_automatic_poses(b->cage, 1, instances, &poses->x);
    TRY(bench_skin_open(b->device, model, &options, instances, &skin));
    skin.poses = (cutis_poses){ .kind = CUTIS_POSE_CONTROLS, .controls = poses };
    skin.queued = 1;
    TRY(bench_skin_time(&skin, b->budget, seconds));
    *seconds /= instances;
    return CUTIS_OK;
}

static void report_row(cage_bench *b, const char *what, uint32_t weights, double seconds,
                       double paper, const char *machine)
{
    char beside[64] = "";
    *(weights == FEW           ? &b->figures.few
      : strcmp(what, "deform") ? &b->figures.bind
                               : &b->figures.full) = seconds;
    if (paper > 0) snprintf(beside, sizeof beside, "%.1f (%s)", paper, machine);
    if (paper > 0) {
        char name[32];
        snprintf(name, sizeof name, "%s_%u_times_the_paper", what, weights);
        bench_figure_add(&b->goals, name, 0, 1 / (seconds * paper), true, 1);
    }
    app_say(b->app, "%-10s %8u %12.6f %12.1f   %s\n", what, weights, seconds, 1 / seconds, beside);
    if (!b->app->json) return;
    emit(&b->json,
         "{ what %s vertices %u controls %u weights %u seconds %g per_second %g "
         "paper_per_second %g }",
         what, b->body.vertex_count, CONTROLS, weights, seconds, 1 / seconds,
         paper > 0 ? paper : NAN);
}

static cutis_result run_deforms(cage_bench *b)
{
    uint32_t batch = option_count(b->app, OPTION_INSTANCES, b->gpu ? CHUNKED : 1);
    for (int few = 0; few < 2; few++) {
        OWN(cutis_model) *model = NULL;
        cutis_cage cage = *b->cage;
        double seconds = 0;
        keep_largest(b, few ? FEW : CONTROLS);
        const cutis_cage_mesh mesh = { b->body.vertex_count, b->first, b->controls, b->kept };
        cage.mesh_count = 1, cage.meshes = &mesh;
        TRY(bench_ball_model(b->app->context, &b->body, &cage, &model));
        TRY(time_frames(b, model, few ? batch : 1, &seconds));
        report_row(b, "deform", few ? FEW : CONTROLS, seconds,
                   !few     ? PAPER_FULL
                   : b->gpu ? PAPER_GPU
                            : PAPER_FEW,
                   few && b->gpu ? "GTX 280" : "i7 920");
    }
    return CUTIS_OK;
}

static cutis_result run_all(cage_bench *b)
{
    OWN(cutis_model) *model = NULL;
    double best = INFINITY;
    TRY(bench_ball_model(b->app->context, &b->around, NULL, &model));
    TRY(cutis_cage_create(model, &b->cage));
    // The first call of a GPU compiles; a CPU's takes long enough to be told once.
    for (int i = 0; i < (b->gpu ? 5 : 1); i++) {
        double start = app_seconds();
        TRY(cutis_cage_coordinates(b->app->context, b->device, b->cage, b->points,
                                   b->body.vertex_count, NULL, b->weights, NULL));
        best = fmin(best, app_seconds() - start);
    }
    app_progress_done(b->app);
    app_say(b->app, "%u vertices, %u triangles, %u controls, %s\n\n", b->body.vertex_count,
            b->body.triangle_count, CONTROLS,
            cutis_device_kind_name(cutis_device_describe(b->device).kind));
    app_say(b->app, "%-10s %8s %12s %12s   %s\n", "", "weights", "seconds", "a second", "paper");
    report_row(b, "bind mvc", CONTROLS, best, 0, NULL);
    return run_deforms(b);
}

static bool allocate(cage_bench *b, uint32_t vertices)
{
    uint32_t segments = (uint32_t)sqrt(vertices / 1.4), rings = (vertices - 2) / segments;
    if (!bench_ball_make(rings, segments, 1, 0.1, &b->body) ||
        !bench_ball_make(RINGS, SEGMENTS, 1.35, 0, &b->around))
        return false;
    const size_t count = b->body.vertex_count;
    b->points = memory_take(&b->memory, 3 * count, sizeof *b->points);
    b->weights = memory_take(&b->memory, count * CONTROLS, sizeof *b->weights);
    b->first = memory_take(&b->memory, count, sizeof *b->first);
    b->controls = memory_take(&b->memory, count * CONTROLS, sizeof *b->controls);
    b->kept = memory_take(&b->memory, count * CONTROLS, sizeof *b->kept);
    for (size_t i = 0; b->points && i < 3 * count; i++) b->points[i] = b->body.positions[i];
    return !b->memory.failed;
}

static void cage_bench_close(cage_bench *b)
{
    cutis_cage_destroy(b->cage);
    bench_ball_release(&b->body), bench_ball_release(&b->around);
    memory_release(&b->memory);
}

cutis_result bench_cage_measure(cli_app *app, cutis_device *device, uint32_t vertices,
                                double budget, bench_cage_figures *out)
{
    cli_app silent = *app; // rows go into the figures only
    silent.quiet = true, silent.json = false;
    cage_bench b = { .app = &silent, .budget = budget, .device = device };
    b.gpu = cutis_device_describe(device).kind != CUTIS_DEVICE_CPU;
    cutis_result result = allocate(&b, vertices) ? run_all(&b) : CUTIS_OUT_OF_MEMORY;
    b.figures.triangles = b.body.triangle_count;
    *out = b.figures;
    cage_bench_close(&b);
    return result;
}

int bench_cage(cli_app *app)
{
    const bool quick = option_given(app, OPTION_QUICK);
    OWN(cutis_device) *device = NULL;
    ENDS_BY(cage_bench_close)
    cage_bench b = { .app = app, .budget = quick ? 0.2 : 2, .json = { .file = stdout } };
    // 702,538 triangles, or the number asked for as nearly as rings and segments allow.
    const uint32_t vertices = option_count(app, OPTION_VERTICES, quick ? 20000 : 351271);
    TRY(app_open_device(app, &device));
    b.device = device;
    b.gpu = cutis_device_describe(device).kind != CUTIS_DEVICE_CPU;
    if (app->json) emit(&b.json, "{ rows [");
    cutis_result result = allocate(&b, vertices) ? run_all(&b) : CUTIS_OUT_OF_MEMORY;
    bench_figures_say(app, &b.goals);
    if (app->json) {
        emit(&b.json, "]");
        bench_figures_emit(&b.json, &b.goals);
        emit_end(&b.json);
    }
    return app_result(app, "bench cage", result);
}
