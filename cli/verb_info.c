/// cutis info: what is in a model.
#include "app.h"

#include <stdlib.h>

typedef struct facts {
    const cutis_model *model;
    const cutis_model_data *data;
    cutis_weight_summary weights;
    uint32_t primitive_count, joint_count;
    cutis_bounds bounds; // of the vertices as the file has them
    double diagonal;
    uint32_t repaired;
} facts;

static cutis_result collect(const cutis_model *model, facts *out)
{
    const cutis_issue *issues;
    uint32_t vertex_count = cutis_model_vertex_count(model);
    *out = (facts){ .model = model, .data = cutis_model_get(model) };
    cutis_result result = cutis_weights_summarize(model, &out->weights);
    if (result != CUTIS_OK) return result;
    for (uint32_t m = 0; m < out->data->mesh_count; m++)
        out->primitive_count += out->data->meshes[m].primitive_count;
    out->joint_count =
        out->weights.joint_count ? out->weights.joint_count : count_joints(out->data);
    out->repaired = cutis_model_issues(model, &issues);
    if (vertex_count == 0) return CUTIS_OK;
    float *positions = malloc(3 * sizeof(float) * (size_t)vertex_count);
    if (!positions) return CUTIS_OUT_OF_MEMORY;
    cutis_model_file_positions(model, positions);
    cutis_surface surface = { .vertex_count = vertex_count, .positions = positions };
    out->bounds = cutis_surface_bounds(&surface);
    out->diagonal = cutis_surface_diagonal(&surface);
    free(positions);
    return CUTIS_OK;
}

static void print_json(const char *path, const facts *f)
{
    const cutis_weight_summary *w = &f->weights;
    json_out json = { .file = stdout };
    emit(&json,
         "{ file %s vertices %u triangles %ju joints %u max_influences %u bone_sets %u "
         "large_bone_sets %u clips [",
         path, cutis_model_vertex_count(f->model), cutis_model_triangle_count(f->model),
         f->joint_count, w->max_influences, w->bone_set_count, w->large_set_count);
    for (uint32_t c = 0; c < f->data->clip_count; c++)
        emit(&json, "{ name %s duration %g channels %u }", f->data->clips[c].name,
             f->data->clips[c].duration, f->data->clips[c].channel_count);
    emit(&json,
         "] nodes %u meshes %u primitives %u skins %u materials %u morph_targets %u "
         "drivers %u unused_joints %u unweighted_vertices %ju influence_histogram [",
         f->data->node_count, f->data->mesh_count, f->primitive_count, f->data->skin_count,
         f->data->material_count, cutis_model_target_count(f->model),
         f->data->drivers ? f->data->drivers->driver_count + f->data->drivers->weight_count : 0,
         w->unused_joint_count, w->unweighted_count);
    for (int i = 0; i < 17; i++) emit_count(&json, NULL, w->histogram[i]);
    emit_end(&json);
    emit_bounds(&json, "bounds", f->bounds);
    emit(&json, "diagonal %g repaired %u }", f->diagonal, f->repaired);
}

static void print_text(const cli_app *app, const char *path, const facts *f)
{
    const cutis_bounds *b = &f->bounds;
    app_say(app, "%s%s%s\n", app_style(app, "1"), path, app_style(app, "0"));
    app_say(app, "  %-15s %u\n", "vertices", cutis_model_vertex_count(f->model));
    app_say(app, "  %-15s %ju\n", "triangles", cutis_model_triangle_count(f->model));
    app_say(app, "  %-15s %u nodes, %u meshes, %u skins\n", "scene", f->data->node_count,
            f->data->mesh_count, f->data->skin_count);
    app_say(app, "  %-15s %u", "joints", f->joint_count);
    if (f->weights.unused_joint_count) app_say(app, " (%u unused)", f->weights.unused_joint_count);
    app_say(app, "\n  %-15s %u a vertex at most", "influences", f->weights.max_influences);
    if (f->weights.unweighted_count)
        app_say(app, "; %ju vertices have none", f->weights.unweighted_count);
    app_say(app, "\n  %-15s %u", "bone sets", f->weights.bone_set_count);
    if (f->weights.large_set_count)
        app_say(app, ", %u of them of three or more bones", f->weights.large_set_count);
    app_say(app, "\n  %-15s %.4g x %.4g x %.4g\n", "size", b->max.x - b->min.x, b->max.y - b->min.y,
            b->max.z - b->min.z);
    if (cutis_model_target_count(f->model))
        app_say(app, "  %-15s %u\n", "morph targets", cutis_model_target_count(f->model));
    if (f->data->drivers)
        app_say(app, "  %-15s %u, of %u joints\n", "drivers",
                f->data->drivers->driver_count + f->data->drivers->weight_count,
                f->data->drivers->joint_count);
    if (f->repaired) app_say(app, "  %-15s %u (cutis check lists them)\n", "repaired", f->repaired);
    for (uint32_t c = 0; c < f->data->clip_count; c++) {
        const cutis_clip *clip = &f->data->clips[c];
        app_say(app, "  %-15s #%u %s, %.4g s, %u channels\n", c == 0 ? "clips" : "", c,
                clip->name ? clip->name : "(no name)", clip->duration, clip->channel_count);
    }
}

// What --clip takes, and what fits on a line: a name with control characters goes by its index.
static void print_clips(const cli_app *app, const cutis_model_data *data)
{
    for (uint32_t c = 0; c < data->clip_count; c++) {
        const char *name = data->clips[c].name ? data->clips[c].name : "";
        bool plain = *name != 0;
        for (const char *s = name; *s; s++) plain &= (unsigned char)*s >= 0x20 && *s != 0x7f;
        if (plain)
            app_say(app, "%s\n", name);
        else
            app_say(app, "%u\n", c);
    }
}

int verb_info(cli_app *app)
{
    const char *path = app->operands[0];
    cutis_model *model = NULL;
    facts found;
    int status = app_read_model(app, path, &model);
    if (status != EXIT_GOOD) return status;
    if (option_given(app, OPTION_CLIPS) && !app->json) {
        print_clips(app, cutis_model_get(model));
        cutis_model_destroy(model);
        return EXIT_GOOD;
    }
    cutis_result result = collect(model, &found);
    if (result != CUTIS_OK)
        status = app_fail(app, path, result);
    else if (app->json)
        print_json(path, &found);
    else
        print_text(app, path, &found);
    cutis_model_destroy(model);
    return status;
}
