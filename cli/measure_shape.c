/// Facts of a shape for `cutis measure`. Vertices that are one at rest stay one, so that a seam is
/// no hole and a pose that brings two places together closes none.
#include "measure_shape.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "play.h"

// Parts ------------------------------------------------------------------------------------------

static void name_part(measure_parts *parts, uint32_t p, const char *name)
{
    uint32_t copies = 1;
    if (name && *name)
        snprintf(parts->names[p], sizeof parts->names[p], "%.100s", name);
    else
        snprintf(parts->names[p], sizeof parts->names[p], "part %u", p);
    size_t length = strlen(parts->names[p]);
    for (uint32_t other = 0; other < p;) {
        if (strcmp(parts->names[other], parts->names[p]) != 0) {
            other++;
            continue;
        }
        snprintf(parts->names[p] + length, sizeof parts->names[p] - length, "#%u", ++copies);
        other = 0;
    }
}

// Every mesh of the scene brings its parts once, and one more for triangles without a part.
static uint32_t list_names(const cutis_model *model, measure_parts *parts, uint32_t *first)
{
    const cutis_model_data *data = cutis_model_get(model);
    uint32_t count = 0;
    for (uint32_t m = 0; m < data->mesh_count; m++) {
        const cutis_mesh *mesh = &data->meshes[m];
        first[m] = count;
        for (uint32_t p = 0; p < mesh->part_count; p++, count++)
            if (parts) name_part(parts, count, mesh->part_names ? mesh->part_names[p] : NULL);
        if (parts) name_part(parts, count, mesh->name);
        count++;
    }
    return count;
}

static bool any_parts(const cutis_model *model)
{
    const cutis_model_data *data = cutis_model_get(model);
    for (uint32_t m = 0; m < data->mesh_count; m++)
        for (uint32_t p = 0; p < data->meshes[m].primitive_count; p++)
            if (data->meshes[m].primitives[p].parts) return true;
    return false;
}

static void fill_parts(const cutis_model *model, const uint32_t *first, measure_parts *out)
{
    const cutis_model_data *data = cutis_model_get(model);
    const cutis_instance *instances;
    const uint32_t count = cutis_model_instances(model, &instances);
    uint64_t t = 0;
    for (uint32_t i = 0; i < count; i++) {
        const cutis_mesh *mesh = &data->meshes[instances[i].mesh];
        for (uint32_t p = 0; p < mesh->primitive_count; p++) {
            const cutis_primitive *primitive = &mesh->primitives[p];
            if (primitive->topology != CUTIS_TOPOLOGY_TRIANGLES) continue;
            for (uint32_t k = 0; k < primitive->index_count / 3; k++)
                out->of[t++] = first[instances[i].mesh] +
                               (primitive->parts ? primitive->parts[k] : mesh->part_count);
        }
    }
}

int measure_parts_make(cli_app *app, const cutis_model *model, measure_parts *out)
{
    const cutis_model_data *data = cutis_model_get(model);
    const bool any = any_parts(model);
    uint32_t *first = calloc(data->mesh_count + (size_t)1, sizeof *first);
    *out = (measure_parts){ .count = 1 };
    if (!first) return app_fail_text(app, "not enough memory");
    if (any) out->count = list_names(model, NULL, first);
    out->names = calloc(out->count, sizeof *out->names);
    out->of = calloc((size_t)cutis_model_triangle_count(model) + 1, sizeof *out->of);
    if (!out->names || !out->of) {
        free(first);
        measure_parts_release(out);
        return app_fail_text(app, "not enough memory");
    }
    if (any) {
        list_names(model, out, first);
        fill_parts(model, first, out);
    } else {
        snprintf(out->names[0], sizeof out->names[0], "all");
    }
    free(first);
    return EXIT_GOOD;
}

void measure_parts_release(measure_parts *parts)
{
    free(parts->names);
    free(parts->of);
    *parts = (measure_parts){ 0 };
}

// Facts ------------------------------------------------------------------------------------------

int measure_facts_make(cli_app *app, const char *path, const cutis_surface *rest,
                       const cutis_surface *surface, const measure_parts *parts, measure_facts *out)
{
    OWN_MEMORY uint32_t *weld = malloc(((size_t)rest->vertex_count + 1) * sizeof *weld);
    *out = (measure_facts){ .curvature = calloc(parts->count, sizeof *out->curvature) };
    if (!weld || !out->curvature) return app_fail_text(app, "not enough memory");
    TRY(app_result(app, path,
                   cutis_weld_positions(app->context, rest->vertex_count, rest->positions, weld)));
    TRY(app_result(app, path, cutis_surface_manifold(app->context, surface, weld, &out->manifold)));
    TRY(app_result(app, path,
                   cutis_surface_crossings(app->context, surface, weld, NULL, &out->crossings)));
    return app_result(app, path,
                      cutis_surface_bend(app->context, surface, weld, parts->of, parts->count,
                                         out->curvature, NULL));
}

void measure_facts_release(measure_facts *facts)
{
    free(facts->curvature);
    *facts = (measure_facts){ 0 };
}

void measure_facts_json(json_out *json, const measure_parts *parts, const measure_facts *facts)
{
    static const char *const KEYS[] = { "watertight",         "euler",
                                        "boundary_edges",     "self_intersections",
                                        "intersecting_pairs", "curvature_median" };
    for (size_t i = 0; !facts && i < sizeof KEYS / sizeof *KEYS; i++)
        emit_string(json, KEYS[i], NULL);
    if (!facts) return;
    emit(json,
         "watertight %d euler %.17g boundary_edges %ju self_intersections %ju intersecting_pairs "
         "%ju "
         "curvature_median {",
         facts->manifold.watertight, (double)facts->manifold.euler, facts->manifold.boundary_edges,
         facts->crossings.triangle_count, facts->crossings.pair_count);
    for (uint32_t p = 0; p < parts->count; p++)
        if (isfinite(facts->curvature[p])) emit_number(json, parts->names[p], facts->curvature[p]);
    emit_end(json);
}

void measure_facts_print(const cli_app *app, const measure_parts *parts, const measure_facts *facts)
{
    const cutis_manifold *m = &facts->manifold;
    const cutis_crossings *x = &facts->crossings;
    app_say(app, "%-18s %s, euler characteristic %lld, %u pieces\n", "watertight",
            m->watertight ? "yes" : "no", (long long)m->euler, m->piece_count);
    if (!m->watertight)
        app_say(app, "%-18s %ju with one face, %ju with more than two, %ju turned\n", "bad edges",
                m->boundary_edges, m->crowded_edges, m->turned_edges);
    app_say(app, "%-18s %ju triangles in %ju pairs\n", "self-intersections", x->triangle_count,
            x->pair_count);
    for (uint32_t p = 0; p < parts->count; p++)
        if (isfinite(facts->curvature[p]))
            app_say(app, "%-18s %-20s %.4g degrees\n", p == 0 ? "curvature, median" : "",
                    parts->names[p], facts->curvature[p]);
}

// Poses ------------------------------------------------------------------------------------------

bool measure_wants_pose(const cli_app *app)
{
    return option_given(app, OPTION_CLIP) || option_given(app, OPTION_POSE) ||
           option_given(app, OPTION_METHOD);
}

int measure_pose(cli_app *app, const char *path, cutis_model **model, float **positions)
{
    play_options options = { .batch = 1, .pose_file = option_text(app, OPTION_POSE) };
    OWN(cutis_device) *device = NULL;
    ENDS_BY(play_close) play p = { 0 };
    options.bind.method = (cutis_method)option_choice(app, OPTION_METHOD);
    options.bind.weighted_centres = option_given(app, OPTION_WEIGHTED);
    if (options.bind.weighted_centres && options.bind.method != CUTIS_METHOD_SBS)
        return app_usage(app, "--weighted is for --method sbs");
    TRY(clip_find(app, path, model, &options.clip));
    TRY(app_open_device(app, &device));
    TRY(play_open(app, path, *model, device, &options, &p));
    double time = option_number(app, OPTION_TIME, 0);
    if (!option_given(app, OPTION_TIME))
        TRY(clip_peak(app, path, *model, device, options.clip, &time));
    // Frame 1 at 1 / t frames a second is time t; frame 0 is time 0.
    TRY(app_result(app, path, play_frames(&p, time > 0, 1, time > 0 ? 1 / time : 1)));
    *positions = p.positions; // taken over
    p.positions = NULL;
    return EXIT_GOOD;
}
