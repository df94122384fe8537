/// cutis measure: a result against rest and against a reference. Operands are told apart by their
/// names: .npy and .pc2 are arrays, everything else is a model. A model alone is measured as it is,
/// or in a pose.
#include "app.h"
#include "measure_shape.h"
#include "rest_shape.h"
#include "sink.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/// Frames of vertices, from an array file or from a model's own rest.
typedef struct shapes {
    const char *path;
    uint32_t frame_count, vertex_count;
    const float *values;
    cutis_array array;
    rest_shape own;
} shapes;

typedef struct row {
    double volume, variation;
    cutis_difference difference;
} row;

typedef struct measurement {
    rest_shape rest; // no triangles: arrays alone
    shapes result, reference;
    bool has_result, has_reference;
    measure_parts parts; // of the rest's triangles
    measure_facts facts; // of the extreme frame
    float *posed;        // the model in the pose asked for, or NULL
    row *rows;
    uint32_t frame_count, extreme; // extreme: the frame whose volume varies most
    row total;
    double rest_volume, diagonal;
    uint64_t open_edges;
    cutis_bounds bounds;
    cutis_curvature curvature;
} measurement;

static int load_array(cli_app *app, shapes *out)
{
    TRY(app_result(app, out->path, cutis_array_read(app->context, out->path, &out->array)));
    const cutis_array *a = &out->array;
    const uint64_t *d = a->dimensions;
    bool flat = a->dimension_count == 2 && d[1] == 3;
    bool deep = a->dimension_count == 3 && d[2] == 3;
    uint64_t frames = flat ? 1 : d[0], vertices = flat ? d[0] : d[1];
    if ((!flat && !deep) || frames == 0 || vertices == 0 || frames > UINT32_MAX ||
        vertices > UINT32_MAX)
        return app_fail_text(app, "%s: want an array of [frames, vertices, 3] or [vertices, 3]",
                             out->path);
    out->frame_count = (uint32_t)frames;
    out->vertex_count = (uint32_t)vertices;
    out->values = a->values;
    return EXIT_GOOD;
}

static int load_model(cli_app *app, const char *path, rest_shape *out)
{
    OWN(cutis_model) *model = NULL;
    TRY(app_read_model(app, path, &model));
    return rest_shape_make(app, path, model, out);
}

// The model that gives the triangles: its rest, its parts, and the pose that is asked for.
static int load_main(cli_app *app, const char *path, measurement *m)
{
    OWN(cutis_model) *model = NULL;
    TRY(app_read_model(app, path, &model));
    TRY(rest_shape_make(app, path, model, &m->rest));
    TRY(measure_parts_make(app, model, &m->parts));
    if (measure_wants_pose(app)) TRY(measure_pose(app, path, &model, &m->posed));
    if (!m->posed) return EXIT_GOOD;
    m->result = (shapes){
        .path = path, .frame_count = 1, .vertex_count = m->rest.vertex_count, .values = m->posed
    };
    return EXIT_GOOD;
}

static int load_shapes(cli_app *app, const char *path, shapes *out)
{
    out->path = path;
    if (sink_is_array(path)) return load_array(app, out);
    int status = load_model(app, path, &out->own);
    out->frame_count = 1;
    out->vertex_count = out->own.vertex_count;
    out->values = out->own.positions;
    return status;
}

// RESULT REFERENCE of two arrays; otherwise MODEL [RESULT [REFERENCE]], where --rest may be the
// model.
static int load(cli_app *app, measurement *m)
{
    const char *model = option_text(app, OPTION_REST);
    uint32_t next = 0;
    if (!model && !sink_is_array(app->operands[0])) model = app->operands[next++];
    if (app->operand_count - next > 2) return app_usage(app, "want [MODEL] RESULT [REFERENCE]");
    if (!model && app->operand_count == 1)
        return app_usage(app, "%s: an array needs a model (--rest MODEL) or a second array",
                         app->operands[0]);
    if (measure_wants_pose(app) && (!model || next < app->operand_count))
        return app_usage(app, "--clip, --pose and --method are for a model alone");
    if (model) TRY(load_main(app, model, m));
    m->has_result = next < app->operand_count || m->posed;
    if (next < app->operand_count) TRY(load_shapes(app, app->operands[next++], &m->result));
    m->has_reference = next < app->operand_count;
    if (m->has_reference) TRY(load_shapes(app, app->operands[next++], &m->reference));
    return EXIT_GOOD;
}

// Fill the gaps: no model: rest is the reference's first frame; no result: rest itself; no
// reference: rest.
static int settle(cli_app *app, measurement *m)
{
    if (!m->rest.positions) {
        size_t bytes = 3 * sizeof(float) * (size_t)m->reference.vertex_count;
        m->rest.vertex_count = m->reference.vertex_count;
        m->rest.positions = malloc(bytes);
        if (!m->rest.positions) return app_fail_text(app, "not enough memory");
        // Without a model a reference was read.
        // NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker)
        memcpy(m->rest.positions, m->reference.values, bytes);
    }
    shapes *both[2] = { &m->result, &m->reference };
    for (int k = 0; k < 2; k++) {
        if (!both[k]->values) {
            both[k]->frame_count = 1;
            both[k]->vertex_count = m->rest.vertex_count;
            both[k]->values = m->rest.positions;
        }
        if (both[k]->vertex_count != m->rest.vertex_count)
            return app_fail_text(app, "%s: %u vertices where %u are wanted", both[k]->path,
                                 both[k]->vertex_count, m->rest.vertex_count);
    }
    m->frame_count = m->result.frame_count;
    if (m->reference.frame_count != 1 && m->reference.frame_count != m->frame_count)
        return app_fail_text(app, "%s: %u frames where %s has %u", m->reference.path,
                             m->reference.frame_count, m->result.path, m->frame_count);
    m->rows = calloc(m->frame_count, sizeof *m->rows);
    return m->rows ? EXIT_GOOD : app_fail_text(app, "not enough memory");
}

static void add_frame(measurement *m, uint32_t frame, const cutis_surface *surface)
{
    row *r = &m->rows[frame];
    cutis_difference *total = &m->total.difference;
    r->volume = cutis_surface_volume(surface);
    r->variation = 100.0 * (r->volume - m->rest_volume) / m->rest_volume;
    if (fabs(r->variation) > fabs(m->rows[m->extreme].variation)) m->extreme = frame;
    total->position_rms += r->difference.position_rms * r->difference.position_rms;
    total->normal_rms += r->difference.normal_rms * r->difference.normal_rms;
    total->position_max = fmax(total->position_max, r->difference.position_max);
    total->normal_max = fmax(total->normal_max, r->difference.normal_max);
    bounds_add(&m->bounds, cutis_surface_bounds(surface));
}

static int measure_all(cli_app *app, measurement *m)
{
    const size_t plane = 3 * (size_t)m->rest.vertex_count;
    cutis_surface rest = rest_shape_surface(&m->rest, m->rest.positions);
    cutis_result result = cutis_surface_open_edges(app->context, &rest, &m->open_edges);
    m->rest_volume = cutis_surface_volume(&rest);
    m->diagonal = cutis_surface_diagonal(&rest);
    m->bounds =
        (cutis_bounds){ { INFINITY, INFINITY, INFINITY }, { -INFINITY, -INFINITY, -INFINITY } };
    for (uint32_t f = 0; f < m->frame_count && result == CUTIS_OK; f++) {
        const float *positions = m->result.values + plane * f;
        const float *against = m->reference.values + (m->reference.frame_count > 1 ? plane * f : 0);
        cutis_surface surface = rest_shape_surface(&m->rest, positions);
        result =
            cutis_surface_compare(app->context, &rest, positions, against, &m->rows[f].difference);
        if (result == CUTIS_OK) add_frame(m, f, &surface);
        if (!app_progress(app, "measuring", (f + 1.0) / m->frame_count)) return app_stopped(app);
    }
    if (result == CUTIS_OK) {
        cutis_surface surface = rest_shape_surface(&m->rest, m->result.values + plane * m->extreme);
        result =
            cutis_surface_curvature(app->context, &surface, m->rest.positions, NULL, &m->curvature);
    }
    if (result != CUTIS_OK) return app_fail(app, m->result.path, result);
    if (m->rest.triangle_count > 0) {
        cutis_surface surface = rest_shape_surface(&m->rest, m->result.values + plane * m->extreme);
        TRY(measure_facts_make(app, m->result.path, &rest, &surface, &m->parts, &m->facts));
    }
    m->total.volume = m->rows[m->extreme].volume;
    m->total.variation = m->rows[m->extreme].variation;
    m->total.difference.position_rms = sqrt(m->total.difference.position_rms / m->frame_count);
    m->total.difference.normal_rms = sqrt(m->total.difference.normal_rms / m->frame_count);
    return EXIT_GOOD;
}

static void json_row(json_out *json, const row *r, bool faces)
{
    emit(json, "volume %.17g volume_variation %g position_rms %g position_max %g normal_rms %g",
         faces ? r->volume : NAN, faces ? r->variation : NAN, r->difference.position_rms,
         r->difference.position_max, faces ? r->difference.normal_rms : NAN);
}

static void print_json(const measurement *m)
{
    const bool faces = m->rest.triangle_count > 0;
    json_out json = { .file = stdout };
    emit(&json, "{ vertices %u triangles %ju frames %u open_edges %g rest_volume %.17g",
         m->rest.vertex_count, m->rest.triangle_count, m->frame_count,
         faces ? (double)m->open_edges : NAN, faces ? m->rest_volume : NAN);
    json_row(&json, &m->total, faces);
    measure_facts_json(&json, &m->parts, faces ? &m->facts : NULL);
    emit_bounds(&json, "bounds", m->bounds);
    emit(&json, "diagonal %g curvature { mean_rms %g mean_max %g } edge_stretch_rms %g per_frame [",
         m->diagonal, faces ? m->curvature.mean_rms : NAN, faces ? m->curvature.mean_max : NAN,
         faces ? m->curvature.edge_stretch_rms : NAN);
    for (uint32_t f = 0; f < m->frame_count; f++) {
        emit(&json, "{ frame %u", f);
        json_row(&json, &m->rows[f], faces);
        emit_end(&json);
    }
    emit(&json, "] }");
}

static void print_text(const cli_app *app, const measurement *m)
{
    const cutis_bounds *b = &m->bounds;
    const cutis_difference *d = &m->total.difference;
    app_say(app, "%-18s %u of %u vertices, %ju triangles\n", "frames", m->frame_count,
            m->rest.vertex_count, m->rest.triangle_count);
    app_say(app, "%-18s %.6g x %.6g x %.6g from (%.6g, %.6g, %.6g)\n", "bounds",
            b->max.x - b->min.x, b->max.y - b->min.y, b->max.z - b->min.z, b->min.x, b->min.y,
            b->min.z);
    if (m->rest.triangle_count > 0) {
        app_say(app, "%-18s %.6g (rest %.6g)\n", "volume", m->total.volume, m->rest_volume);
        if (m->open_edges > 0)
            app_say(app, "%-18s the surface is not closed, its volume means little\n", "");
        app_say(app, "%-18s %+.4f %% (frame %u)\n", "volume variation", m->total.variation,
                m->extreme);
        measure_facts_print(app, &m->parts, &m->facts);
        app_say(app, "%-18s rms %.5g, max %.5g 1/m\n", "mean curvature", m->curvature.mean_rms,
                m->curvature.mean_max);
        app_say(app, "%-18s rms %.5g of log length\n", "edge stretch",
                m->curvature.edge_stretch_rms);
    }
    if (!m->has_result) return;
    app_say(app, "%-18s rms %.6g %%, max %.6g %% of the diagonal, against %s\n", "positions",
            d->position_rms, d->position_max, m->has_reference ? m->reference.path : "rest");
    if (m->rest.triangle_count > 0)
        app_say(app, "%-18s rms %.6g rad, max %.6g rad\n", "normals", d->normal_rms, d->normal_max);
}

// What would be accepted and do nothing.
static int check_options(cli_app *app)
{
    cutis_device_options device;
    const bool plot = option_given(app, OPTION_PLOT);
    if (plot && (app->operand_count > 1 || measure_wants_pose(app) ||
                 option_given(app, OPTION_TIME) || option_given(app, OPTION_REST)))
        return app_usage(app, "--plot takes a model and bends its --joint itself");
    if (!plot && option_given(app, OPTION_JOINT)) return app_usage(app, "--joint goes with --plot");
    if (option_given(app, OPTION_TIME) && !option_given(app, OPTION_CLIP))
        return app_usage(app, "--time goes with --clip");
    if (option_given(app, OPTION_WEIGHTED) && !option_given(app, OPTION_METHOD))
        return app_usage(app, "--weighted is for --method sbs");
    const bool patched = option_given(app, OPTION_METHOD) &&
                         option_choice(app, OPTION_METHOD) == CUTIS_METHOD_PATCHES;
    if (!patched && (option_given(app, OPTION_REMOVE) || option_given(app, OPTION_FILL) ||
                     option_given(app, OPTION_BAND)))
        return app_usage(app, "--remove, --fill and --band are for --method patches");
    return app_device_options(app, &device);
}

int verb_measure(cli_app *app)
{
    measurement m = { 0 };
    int status = check_options(app);
    if (status == EXIT_GOOD && option_given(app, OPTION_PLOT)) return measure_plot(app);
    if (status == EXIT_GOOD && option_given(app, OPTION_METHOD) &&
        option_choice(app, OPTION_METHOD) == CUTIS_METHOD_PATCHES)
        return measure_patches(app);
    if (status == EXIT_GOOD) status = load(app, &m);
    if (status == EXIT_GOOD) status = settle(app, &m);
    if (status == EXIT_GOOD) status = measure_all(app, &m);
    app_progress_done(app);
    if (status == EXIT_GOOD) {
        if (app->json)
            print_json(&m);
        else
            print_text(app, &m);
    }
    free(m.rows);
    free(m.posed);
    measure_parts_release(&m.parts);
    measure_facts_release(&m.facts);
    cutis_array_destroy(app->context, &m.result.array);
    cutis_array_destroy(app->context, &m.reference.array);
    rest_shape_release(&m.result.own);
    rest_shape_release(&m.reference.own);
    rest_shape_release(&m.rest);
    return status;
}
