/// cutis bench handles: binding, moving one handle, one update, and how cost grows with the grid,
/// beside Table 1 of Xian et al. Bodies are generated; handles are the biped's joints farthest from
/// each other, so that they spread over it.
#include "bench/bench.h"
#include "bench/measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define HANDLES  BENCH_HANDLES
#define VERTICES 100000u

static const struct {
    const char *name;
    double voxelise, insertion, weights, update; ///< milliseconds: t_v t_h t_w t_u
} PAPER[] = {
    { "Dragon (paper)", 200, 1537, 80, 11 },
    { "Human (paper)", 205, 2901, 140, 19 },
    { "Dino (paper)", 266, 986, 16, 4 },
    { "Armadillo (paper)", 422, 21968, 94, 16 },
};

typedef struct handles_bench {
    cli_app *app;
    json_out json;
    cutis_device *device;
    double budget;
    bench_figures figures;
    bench_handles_row rows[3][3]; ///< body field, body virtual, box; at 64, 128, 256 voxels
} handles_bench;

static double apart(cutis_float3 a, cutis_float3 b)
{
    return hypot(hypot((double)a.x - b.x, (double)a.y - b.y), (double)a.z - b.z);
}

/// Farthest-point choice among the joints, from the first.
void bench_handles_spread(const cutis_model *model, cutis_handle *out)
{
    const cutis_skin *skin = &cutis_model_get(model)->skins[0];
    uint32_t used = 0;
    for (uint32_t pick = 0; used < HANDLES;) {
        cutis_mat34 bind;
        if (!cutis_mat34_invert(&skin->inverse_binds[pick], &bind)) bind = (cutis_mat34){ { 0 } };
        out[used++] = (cutis_handle){ .kind = CUTIS_HANDLE_POINT,
                                      .from = { bind.m[3], bind.m[7], bind.m[11] } };
        double farthest = -1;
        for (uint32_t j = 0; j < skin->joint_count; j++) {
            double least = INFINITY;
            if (!cutis_mat34_invert(&skin->inverse_binds[j], &bind)) continue;
            for (uint32_t k = 0; k < used; k++)
                least = fmin(
                    least, apart((cutis_float3){ bind.m[3], bind.m[7], bind.m[11] }, out[k].from));
            if (least > farthest) farthest = least, pick = j;
        }
    }
}

/// A solid box of 1 x 0.5 x 0.5, its faces divided, with ten handles inside.
static cutis_result make_box(cli_app *app, uint32_t side, cutis_handle *handles, cutis_model **out)
{
    const uint32_t row = side + 1, face = row * row;
    ENDS_BY(bench_ball_release)
    bench_ball box = { .vertex_count = 6 * face, .triangle_count = 12 * side * side };
    float *positions = box.positions = malloc(6 * (size_t)face * 3 * sizeof *positions);
    uint32_t *indices = box.triangles = malloc(36 * (size_t)side * side * sizeof *indices);
    if (!positions || !indices) return CUTIS_OUT_OF_MEMORY;
    for (uint32_t f = 0; f < 6; f++) {
        for (uint32_t i = 0; i < face; i++) {
            const float size[3] = { 1, 0.5f, 0.5f };
            float *p = positions + 3 * (size_t)(f * face + i);
            const uint32_t k = f / 2;
            p[k] = f % 2 ? size[k] : 0;
            p[(k + 1) % 3] = size[(k + 1) % 3] * (float)(i % row) / (float)side;
            p[(k + 2) % 3] = size[(k + 2) % 3] * (float)(i / row) / (float)side;
        }
        for (uint32_t i = 0; i < side * side; i++) {
            const uint32_t a = f * face + i / side * row + i % side;
            const uint32_t six[6] = { a, a + 1, a + row + 1, a, a + row + 1, a + row };
            memcpy(indices, six, sizeof six), indices += 6;
        }
    }
    for (uint32_t h = 0; h < 10; h++)
        handles[h] = (cutis_handle){ .kind = CUTIS_HANDLE_POINT,
                                     .from = { 0.1f + 0.8f * (float)(h / 2) / 4,
                                               h % 2 ? 0.15f : 0.35f, h % 4 / 2 ? 0.15f : 0.35f } };
    return bench_ball_model(app->context, &box, NULL, out);
}

cutis_result bench_handles_bind(cutis_device *device, double budget, const cutis_model *model,
                                const cutis_handle *handles, uint32_t count, bench_handles_row *row)
{
    const cutis_handles_options options = { .voxels = row->voxels, .weighting = row->weighting };
    double start = app_seconds();
    row->bind = row->move = INFINITY;
    for (int i = 0; i < 2 || app_seconds() - start < budget; i++) {
        OWN(cutis_handle_session) *session = NULL;
        double before = app_seconds();
        TRY(cutis_handle_session_create(model, device, &options, &session));
        TRY(cutis_handles_set(session, handles, count));
        double seconds = app_seconds() - before;
        if (seconds < row->bind) {
            const cutis_handles_report *report = cutis_handles_look(session).report;
            row->bind = seconds;
            row->stages = report->seconds;
            row->domain_voxels = report->domain_voxels;
            row->iterations = report->iterations;
            row->virtual_handles = report->virtual_handles;
        }
        for (int m = 1; m < 4; m++) { // one handle goes a little up
            cutis_handle moved = handles[count / 2];
            moved.from.y += 0.003f * (float)m;
            before = app_seconds();
            TRY(cutis_handles_move(session, count / 2, &moved));
            row->move = fmin(row->move, app_seconds() - before);
        }
    }
    return CUTIS_OK;
}

cutis_result bench_handles_update(cutis_device *device, double budget, const cutis_model *model,
                                  const cutis_handle *handles, uint32_t count,
                                  bench_handles_row *row)
{
    const cutis_handles_options options = { .voxels = row->voxels, .weighting = row->weighting };
    const cutis_handle_set set = { .handle_count = count, .handles = handles };
    OWN(cutis_model) *bound = NULL;
    TRY(cutis_handles_weights(model, device, &set, &options, &bound, NULL));
    return bench_frame_time(device, bound, &(cutis_bind_options){ 0 }, budget / 4, &row->update);
}

static void show_row(handles_bench *b, const bench_handles_row *r)
{
    const cutis_handles_seconds *t = &r->stages;
    app_say(b->app, "%-18s %-8s %6u %8ju %9.1f %9.1f %9.1f %9.1f %9.1f %9.1f", r->body,
            cutis_weighting_name(r->weighting), r->voxels, r->domain_voxels, 1e3 * t->voxelise,
            1e3 * t->distances, 1e3 * t->insertion, 1e3 * t->weights, 1e3 * r->bind, 1e3 * r->move);
    app_say(b->app, r->update > 0 ? " %9.3f\n" : "\n", 1e3 * r->update);
    if (!b->app->json) return;
    emit(&b->json,
         "{ body %s weighting %s voxels %u domain_voxels %ju iterations %u virtual_handles %u "
         "voxelise %g distances %g insertion %g weights %g bind %g move %g",
         r->body, cutis_weighting_name(r->weighting), r->voxels, r->domain_voxels, r->iterations,
         r->virtual_handles, t->voxelise, t->distances, t->insertion, t->weights, r->bind, r->move);
    if (r->update > 0) emit_number(&b->json, "update", r->update);
    emit_end(&b->json);
}

/// How much more a stage costs a doubling of the grid than there are more domain voxels; the issue
/// asks for 1.5 at most.
static void show_growth(handles_bench *b, const bench_handles_row *from,
                        const bench_handles_row *to)
{
    const double voxels = (double)to->domain_voxels / (double)from->domain_voxels;
    const struct {
        const char *name;
        double from, to;
    } stages[] = { { "voxelise", from->stages.voxelise, to->stages.voxelise },
                   { "distances", from->stages.distances, to->stages.distances },
                   { "insertion", from->stages.insertion, to->stages.insertion },
                   { "weights", from->stages.weights, to->stages.weights } };
    app_say(b->app, "%-18s %-8s %u to %u: %.2f x the voxels; cost a voxel", to->body,
            cutis_weighting_name(to->weighting), from->voxels, to->voxels, voxels);
    if (b->app->json)
        emit(&b->json, "{ body %s weighting %s from %u to %u domain_voxels %g", to->body,
             cutis_weighting_name(to->weighting), from->voxels, to->voxels, voxels);
    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++) {
        if (!(stages[i].from > 0)) continue;
        const double growth = stages[i].to / stages[i].from / voxels;
        char name[64];
        snprintf(name, sizeof name, "%s, %s, %s", to->body, cutis_weighting_name(to->weighting),
                 stages[i].name);
        bench_figure_add(&b->figures, name, to->voxels, growth, false, 1.5);
        app_say(b->app, ", %s %.2f", stages[i].name, growth);
        if (b->app->json) emit_number(&b->json, stages[i].name, growth);
    }
    app_say(b->app, "\n");
    if (b->app->json) emit_end(&b->json);
}

static cutis_result bench_body_rows(handles_bench *b)
{
    OWN(cutis_model) *model = NULL;
    cutis_handle handles[HANDLES];
    cutis_synth_options synth = { .vertex_count = option_count(b->app, OPTION_VERTICES, VERTICES) };
    static const uint32_t sizes[3] = { 128, 64, 256 };
    TRY(cutis_synth_create(b->app->context, &synth, &model));
    bench_handles_spread(model, handles);
    for (int i = 0; i < (option_given(b->app, OPTION_QUICK) ? 1 : 3); i++)
        for (int w = 0; w < 2; w++) {
            bench_handles_row row = { .body = "biped",
                                      .weighting = (cutis_weighting)w,
                                      .voxels = sizes[i] };
            TRY(bench_handles_bind(b->device, b->budget, model, handles, HANDLES, &row));
            if (i == 0)
                TRY(bench_handles_update(b->device, b->budget, model, handles, HANDLES, &row));
            show_row(b, &row);
            b->rows[w][sizes[i] / 128] = row;
        }
    return CUTIS_OK;
}

static cutis_result bench_box_rows(handles_bench *b)
{
    OWN(cutis_model) *model = NULL;
    cutis_handle handles[10];
    TRY(make_box(b->app, 40, handles, &model));
    for (uint32_t voxels = 64; voxels <= 256; voxels *= 2) {
        bench_handles_row row = { .body = "solid box", .voxels = voxels };
        TRY(bench_handles_bind(b->device, b->budget, model, handles, 10, &row));
        show_row(b, &row);
        b->rows[2][voxels / 128] = row;
    }
    return CUTIS_OK;
}

int bench_handles(cli_app *app)
{
    handles_bench b = { .app = app, .json = { .file = stdout } };
    const bool quick = option_given(app, OPTION_QUICK);
    b.budget = quick ? 0.5 : 2;
    TRY(app_open_device(app, &b.device));
    const cutis_device_info info = cutis_device_describe(b.device);
    app_say(app,
            "%s, milliseconds; %u points on the biped, 10 in the box; Table 1 is of Xian, "
            "Huang, Jin, Luo and Wang (GTX 760)\n",
            info.name, HANDLES);
    app_say(app, "%-18s %-8s %6s %8s %9s %9s %9s %9s %9s %9s %9s\n", "body", "kind", "voxels",
            "domain", "voxelise", "distances", "insertion", "weights", "bind", "move", "update");
    for (size_t i = 0; i < sizeof PAPER / sizeof *PAPER; i++)
        app_say(app, "%-18s %-8s %6s %8s %9.0f %9s %9.0f %9.0f %9.0f %9s %9.0f\n", PAPER[i].name,
                "virtual", "", "", PAPER[i].voxelise, "", PAPER[i].insertion, PAPER[i].weights,
                PAPER[i].voxelise + PAPER[i].insertion + PAPER[i].weights, "", PAPER[i].update);
    if (app->json) emit(&b.json, "{ device %s threads %u rows [", info.name, info.thread_count);
    cutis_result result = bench_body_rows(&b);
    if (result == CUTIS_OK && !quick) result = bench_box_rows(&b);
    if (app->json) emit(&b.json, "] growth [");
    for (int body = 0; body < 3 && result == CUTIS_OK && !quick; body++)
        for (int i = 1; i < 3; i++) show_growth(&b, &b.rows[body][i - 1], &b.rows[body][i]);
    bench_figures_say(app, &b.figures);
    if (app->json) {
        emit(&b.json, "]");
        bench_figures_emit(&b.json, &b.figures);
        emit_end(&b.json);
    }
    cutis_device_destroy(b.device);
    return app_result(app, "bench handles", result);
}
