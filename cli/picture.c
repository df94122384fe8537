/// Building scenes from models: colours, painted values, bones.
#include "picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "play.h"

// Words -----------------------------------------------------------------------------------------

const char *picture_method_name(const picture_shot *shot)
{
    return shot->weighted ? "sbs-weighted" : cutis_method_name(shot->method);
}

const char *picture_method_title(const picture_shot *shot)
{
    return shot->weighted ? "spherical, weighted" : cutis_method_describe(shot->method)->title;
}

bool picture_is_patched(const picture_shot *shot)
{
    return shot->method == CUTIS_METHOD_PATCHES;
}

static int parse_method(cli_app *app, const char *text, size_t length, picture_shot *out)
{
    char name[32], near[64];
    snprintf(name, sizeof name, "%.*s", (int)(length < 31 ? length : 31), text);
    *out = (picture_shot){ .weighted = strcmp(name, "sbs-weighted") == 0 };
    if (out->weighted) out->method = CUTIS_METHOD_SBS;
    if (out->weighted || cutis_method_from_name(name, &out->method) == CUTIS_OK) return EXIT_GOOD;
    static const char ALL[] = "sbs-weighted" CLI_METHOD_WORDS;
    if (nearest_word(name, ALL, near))
        return app_usage(app, "unknown method '%s'; did you mean %s? (one of: %s)", name, near,
                         ALL);
    return app_usage(app, "unknown method '%s'; want one of: %s", name, ALL);
}

int picture_methods(cli_app *app, picture_shot *shots, uint32_t *count)
{
    const char *list = option_text(app, OPTION_METHODS), *single = option_text(app, OPTION_METHOD);
    if (list && single) return app_usage(app, "--method and --methods exclude each other");
    if (!list) list = single ? single : "lbs";
    *count = 0;
    for (const char *at = list;; at++) {
        size_t length = strcspn(at, ",");
        if (*count == PICTURE_METHODS)
            return app_usage(app, "--methods: at most %d", PICTURE_METHODS);
        TRY(parse_method(app, at, length, &shots[(*count)++]));
        at += length;
        if (!*at) return EXIT_GOOD;
    }
}

static int parse_size(cli_app *app, const char *text, uint32_t *width, uint32_t *height)
{
    unsigned w = 0, h = 0;
    int used = 0;
    if (sscanf(text, "%9ux%9u%n", &w, &h, &used) != 2 || text[used])
        return app_usage(app, "--size %s: want WIDTHxHEIGHT, for example 1280x720", text);
    if (w < 16 || h < 16 || w > CUTIS_IMAGE_SIDE_MAX || h > CUTIS_IMAGE_SIDE_MAX)
        return app_usage(app, "--size %s: each side must be 16 to %d pixels", text,
                         CUTIS_IMAGE_SIDE_MAX);
    *width = w;
    *height = h;
    return EXIT_GOOD;
}

static int parse_camera(cli_app *app, const char *text, cutis_camera *out)
{
    double yaw = 0, pitch = 0, distance = 0;
    int used = 0;
    *out = (cutis_camera){ .yaw = 28, .pitch = 9 };
    if (!text || strcmp(text, "auto") == 0) return EXIT_GOOD;
    int got = sscanf(text, "%lf,%lf%n,%lf%n", &yaw, &pitch, &used, &distance, &used);
    if (got < 2 || text[used] || !isfinite(yaw) || !isfinite(pitch) || !(fabs(pitch) <= 90) ||
        !(distance >= 0 && distance < 1e6))
        return app_usage(
            app, "--camera %s: want auto or YAW,PITCH[,DISTANCE] (degrees; distance in radii)",
            text);
    out->yaw = yaw;
    out->pitch = pitch;
    out->distance = distance;
    return EXIT_GOOD;
}

static int parse_show_entry(cli_app *app, const char *entry, picture_show *out)
{
    static const char ALL[] = "skeleton wire parts curvature handles cage weights error";
    const struct {
        const char *name;
        bool *flag;
    } flags[] = { { "skeleton", &out->skeleton }, { "wire", &out->wire },
                  { "parts", &out->parts },       { "curvature", &out->curvature },
                  { "handles", &out->handles },   { "cage", &out->cage } };
    char near[64];
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (strcmp(entry, flags[i].name) == 0) return *flags[i].flag = true, EXIT_GOOD;
    if (strncmp(entry, "weights:", 8) == 0 && entry[8])
        return snprintf(out->joint, sizeof out->joint, "%.127s", entry + 8), EXIT_GOOD;
    if (strncmp(entry, "error:", 6) == 0 && entry[6])
        return snprintf(out->reference, sizeof out->reference, "%s", entry + 6), EXIT_GOOD;
    if (nearest_word(entry, ALL, near) && strncmp(entry, near, strlen(near)) != 0)
        return app_usage(app, "--show %s: did you mean %s?", entry, near);
    return app_usage(app,
                     "--show %s: want skeleton, wire, handles, cage, weights:JOINT, "
                     "error:REFERENCE, curvature or parts",
                     entry);
}

static int parse_show(cli_app *app, const char *text, picture_show *out)
{
    *out = (picture_show){ 0 };
    size_t length;
    for (const char *at; text && (at = next_entry(&text, ",", &length));) {
        char entry[1024];
        snprintf(entry, sizeof entry, "%.*s", (int)(length < 1023 ? length : 1023), at);
        TRY(parse_show_entry(app, entry, out));
    }
    int painted = out->parts + out->curvature + (out->joint[0] != 0) + (out->reference[0] != 0);
    return painted > 1
               ? app_usage(app,
                           "--show: only one of weights, error, curvature and parts can be painted")
               : EXIT_GOOD;
}

// The stage -------------------------------------------------------------------------------------

void picture_model_colors(const cutis_model *model, float *colors)
{
    static const float CLAY[4] = { 0.56f, 0.50f, 0.44f, 1 };
    const cutis_model_data *data = cutis_model_get(model);
    const cutis_instance *instances;
    uint32_t count = cutis_model_instances(model, &instances);
    for (uint32_t i = 0; i < count; i++) {
        const cutis_mesh *mesh = &data->meshes[instances[i].mesh];
        float *to = colors + 4 * (size_t)instances[i].vertex_first;
        for (uint32_t p = 0; p < mesh->primitive_count; p++) {
            const cutis_primitive *primitive = &mesh->primitives[p];
            const float *base = primitive->material != CUTIS_NONE
                                    ? data->materials[primitive->material].base_color
                                    : CLAY;
            bool white =
                base[0] > 0.95f && base[1] > 0.95f && base[2] > 0.95f; // a texture we do not draw
            if (white && !primitive->colors) base = CLAY;
            for (uint32_t v = 0; v < primitive->vertex_count; v++, to += 4)
                for (int c = 0; c < 4; c++)
                    to[c] =
                        base[c] * (primitive->colors ? primitive->colors[4 * (size_t)v + c] : 1);
        }
    }
}

static int open_parts(picture_stage *stage, bool draws)
{
    cli_app *app = stage->app;
    TRY(app_read_model(app, stage->path, &stage->model));
    TRY(clip_find(app, stage->path, &stage->model, &stage->clip));
    TRY(app_open_device(app, &stage->device));
    TRY(rest_shape_make(app, stage->path, stage->model, &stage->rest));
    if (stage->rest.triangle_count == 0)
        return app_fail_text(app, "%s: it has no triangles to draw", stage->path);
    if (stage->show.handles && !cutis_model_get(stage->model)->handles)
        return app_fail_text(app, "%s: it has no handles to show (cutis handles makes them)",
                             stage->path);
    TRY(picture_open_cage(stage));
    cutis_surface surface = rest_shape_surface(&stage->rest, stage->rest.positions);
    stage->diagonal = cutis_surface_diagonal(&surface);
    stage->colors = malloc(16 * (size_t)stage->rest.vertex_count);
    if (!stage->colors) return app_fail_text(app, "%s: not enough memory", stage->path);
    picture_model_colors(stage->model, stage->colors);
    if (!draws) return EXIT_GOOD;
    return app_result(app, "render", cutis_renderer_create(app->context, &stage->renderer));
}

int picture_open(cli_app *app, const char *path, bool draws, picture_stage *out)
{
    *out = (picture_stage){ .app = app,
                            .path = path,
                            .clip = CUTIS_NONE,
                            .pose_file = option_text(app, OPTION_POSE),
                            .width = 1280,
                            .height = 720,
                            .dark = option_given(app, OPTION_DARK) };
    int status = parse_camera(app, option_text(app, OPTION_CAMERA), &out->camera);
    if (status == EXIT_GOOD) status = parse_show(app, option_text(app, OPTION_SHOW), &out->show);
    if (status == EXIT_GOOD && option_given(app, OPTION_PICTURE_SIZE))
        status = parse_size(app, option_text(app, OPTION_PICTURE_SIZE), &out->width, &out->height);
    if (status == EXIT_GOOD) status = open_parts(out, draws);
    if (status != EXIT_GOOD) picture_close(out);
    return status;
}

void picture_close(picture_stage *stage)
{
    cutis_renderer_destroy(stage->renderer);
    free(stage->colors);
    cage_poses_release(&stage->cage);
    rest_shape_release(&stage->rest);
    cutis_device_destroy(stage->device);
    cutis_model_destroy(stage->model);
    *stage = (picture_stage){ 0 };
}

int picture_bind(picture_stage *stage, picture_shot *shot)
{
    play_options options = {
        .clip = stage->clip,
        .pose_file = stage->pose_file,
        .batch = 1,
        .controls = stage->cage.values,
        .control_frames = stage->cage.count,
        .bind = { .method = shot->method, .weighted_centres = shot->weighted, .normals = true }
    };
    if (picture_is_patched(shot)) {
        options.bind.method = CUTIS_METHOD_LBS;
        TRY(picture_patches_open(stage, shot));
    }
    return play_open(stage->app, stage->path, stage->model, stage->device, &options, &shot->play);
}

int picture_pose(picture_stage *stage, picture_shot *shot, double seconds)
{
    play *p = &shot->play;
    if (p->sampler) cutis_sampler_sample(p->sampler, (float)seconds, p->transforms, p->morphs);
    if (p->controls) picture_pose_cage(p, seconds);
    TRY(app_result(stage->app, stage->path, play_deform(p, 1)));
    return picture_is_patched(shot) ? picture_patches_pose(stage, shot, seconds) : EXIT_GOOD;
}

// Painting --------------------------------------------------------------------------------------

void picture_joint_weights(const cutis_model *model, uint32_t node, float *values)
{
    const cutis_model_data *data = cutis_model_get(model);
    const cutis_instance *instances;
    const uint32_t count = cutis_model_instances(model, &instances);
    memset(values, 0, 4 * (size_t)cutis_model_vertex_count(model));
    for (uint32_t i = 0; i < count; i++) {
        if (instances[i].skin == CUTIS_NONE) continue;
        const cutis_skin *skin = &data->skins[instances[i].skin];
        const cutis_mesh *mesh = &data->meshes[instances[i].mesh];
        float *to = values + instances[i].vertex_first;
        for (uint32_t p = 0; p < mesh->primitive_count; to += mesh->primitives[p++].vertex_count) {
            const cutis_influences *in = &mesh->primitives[p].influences;
            for (uint32_t v = 0; in->first && v < mesh->primitives[p].vertex_count; v++)
                for (uint32_t k = in->first[v]; k < in->first[v + 1]; k++)
                    if (skin->joints[in->joints[k]] == node) to[v] += in->weights[k];
        }
    }
}

static int paint_weights(picture_stage *stage, picture_paint *out)
{
    uint32_t node = 0;
    TRY(app_result(stage->app, stage->path,
                   cutis_model_find_joint(stage->model, stage->show.joint, &node)));
    picture_joint_weights(stage->model, node, out->values);
    out->legend = (cutis_legend){ .map = CUTIS_COLORMAP_WEIGHT, .low = 0, .high = 1 };
    snprintf(out->title, sizeof out->title, "weight of %s", stage->show.joint);
    return EXIT_GOOD;
}

static void paint_error(picture_stage *stage, const picture_shot *shot, const float *reference,
                        picture_paint *out)
{
    double worst = 0;
    for (uint32_t v = 0; v < stage->rest.vertex_count; v++) {
        double sum = 0;
        for (int c = 0; c < 3; c++) {
            double d =
                (double)shot->play.positions[3 * (size_t)v + c] - reference[3 * (size_t)v + c];
            sum += d * d;
        }
        out->values[v] = (float)(100 * sqrt(sum) / stage->diagonal);
        worst = fmax(worst, out->values[v]);
    }
    out->legend = (cutis_legend){ .map = CUTIS_COLORMAP_HEAT, .low = 0, .high = worst };
    snprintf(out->title, sizeof out->title, "distance from %.100s, %% of the diagonal",
             stage->show.reference);
}

static int paint_curvature(picture_stage *stage, const picture_shot *shot, picture_paint *out)
{
    cutis_curvature summary;
    cutis_surface surface = rest_shape_surface(&stage->rest, shot->play.positions);
    TRY(app_result(stage->app, stage->path,
                   cutis_surface_curvature(stage->app->context, &surface, stage->rest.positions,
                                           out->values, &summary)));
    // A few sharp vertices would bleach the rest: the range is twice the RMS.
    double range = fmax(2 * summary.mean_rms, 1e-12);
    out->legend = (cutis_legend){ .map = CUTIS_COLORMAP_DIVERGING, .low = -range, .high = range };
    snprintf(out->title, sizeof out->title, "mean curvature, 1/m");
    return EXIT_GOOD;
}

int picture_paint_shot(picture_stage *stage, const picture_shot *shot, const float *reference,
                       picture_paint *out)
{
    *out = (picture_paint){ 0 };
    const picture_show *show = &stage->show;
    if (!show->joint[0] && !show->curvature && !(show->reference[0] && reference)) return EXIT_GOOD;
    out->values = malloc(4 * (size_t)stage->rest.vertex_count);
    if (!out->values) return app_fail_text(stage->app, "%s: not enough memory", stage->path);
    int status = EXIT_GOOD;
    if (show->joint[0])
        status = paint_weights(stage, out);
    else if (show->curvature)
        status = paint_curvature(stage, shot, out);
    else
        paint_error(stage, shot, reference, out);
    if (status != EXIT_GOOD) picture_paint_release(out);
    out->legend.title = out->title;
    return status;
}

void picture_paint_release(picture_paint *paint)
{
    free(paint->values);
    *paint = (picture_paint){ 0 };
}

// Drawing ---------------------------------------------------------------------------------------

/// One line per joint whose nearest joint above it is a joint too. Returns how many; `lines` may be
/// NULL to count.
static uint32_t bone_lines(const picture_stage *stage, const cutis_mat34 *world,
                           cutis_scene_line *lines)
{
    const cutis_model_data *data = cutis_model_get(stage->model);
    uint32_t count = 0;
    for (uint32_t s = 0; s < data->skin_count; s++)
        for (uint32_t j = 0; j < data->skins[s].joint_count; j++) {
            uint32_t node = data->skins[s].joints[j];
            int32_t above = data->nodes[node].parent;
            bool joint = false;
            for (uint32_t k = 0; above != CUTIS_NONE && k < data->skins[s].joint_count && !joint;
                 k++)
                joint = data->skins[s].joints[k] == (uint32_t)above;
            if (!joint) continue;
            if (lines)
                lines[count] = (cutis_scene_line){
                    .from = { world[above].m[3], world[above].m[7], world[above].m[11] },
                    .to = { world[node].m[3], world[node].m[7], world[node].m[11] },
                    .width = 3,
                    .dot = 3.5f,
                    .color = 0x1f6feaff
                };
            count++;
        }
    return count;
}

/// Triangles drawn in the colour of their part: corners are taken apart.
typedef struct part_mesh {
    float *positions, *normals, *colors;
    uint32_t *indices;
} part_mesh;

static void part_color(uint32_t part, float rgba[4])
{
    uint32_t srgb = cutis_color_category(part);
    for (int c = 0; c < 3; c++) {
        double v = (srgb >> (24 - 8 * c) & 255) / 255.0;
        rgba[c] = (float)(v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4));
    }
    rgba[3] = 1;
}

// Colours of the model's triangles, in those of their first corners.
static void part_colors(const picture_stage *stage, float *colors)
{
    const cutis_model_data *data = cutis_model_get(stage->model);
    const cutis_instance *instances;
    uint32_t count = cutis_model_instances(stage->model, &instances);
    size_t triangle = 0;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t p = 0; p < data->meshes[instances[i].mesh].primitive_count; p++) {
            const cutis_primitive *primitive = &data->meshes[instances[i].mesh].primitives[p];
            if (primitive->topology != CUTIS_TOPOLOGY_TRIANGLES) continue;
            for (uint32_t t = 0; t < primitive->index_count / 3; t++, triangle++)
                part_color(primitive->parts ? primitive->parts[t] : p, colors + 12 * triangle);
        }
}

static bool part_mesh_make(const picture_stage *stage, const picture_shot *shot,
                           const cutis_scene_surface *body, part_mesh *out)
{
    size_t corners = 3 * (size_t)body->surface.triangle_count;
    out->positions = malloc(12 * corners);
    out->normals = malloc(12 * corners);
    out->colors = malloc(16 * corners);
    out->indices = malloc(4 * corners);
    if (!out->positions || !out->normals || !out->colors || !out->indices) return false;
    if (!picture_is_patched(shot)) part_colors(stage, out->colors);
    for (size_t t = 0; picture_is_patched(shot) && t < corners / 3; t++)
        part_color(shot->patch.labels[t], out->colors + 12 * t);
    for (size_t k = 0; k < corners; k++) {
        uint32_t v = body->surface.indices[k];
        memcpy(out->positions + 3 * k, body->surface.positions + 3 * (size_t)v, 12);
        memcpy(out->normals + 3 * k, body->normals + 3 * (size_t)v, 12);
        if (k % 3) memcpy(out->colors + 4 * k, out->colors + 12 * (k / 3), 16);
        out->indices[k] = (uint32_t)k;
    }
    return true;
}

static void part_mesh_release(part_mesh *mesh)
{
    free(mesh->positions), free(mesh->normals), free(mesh->colors), free(mesh->indices);
}

int picture_draw(picture_stage *stage, const picture_shot *shot, const picture_paint *paint,
                 cutis_image *out)
{
    const play *p = &shot->play;
    cutis_scene_surface body = { .surface = rest_shape_surface(&stage->rest, p->positions),
                                 .normals = p->normals,
                                 .colors = stage->colors,
                                 .wire = stage->show.wire };
    part_mesh parts = { 0 };
    cutis_mat34 *world = malloc((p->node_count + 1) * sizeof *world);
    cutis_scene_line *lines = NULL;
    uint32_t line_count = 0;
    bool good = world != NULL;
    float *mixed = NULL;
    if (picture_is_patched(shot)) {
        body.surface = patch_play_surface(&shot->patch);
        body.normals = shot->patch.normals;
        body.colors = mixed = picture_patches_colors(stage, shot);
        good = good && mixed;
    }
    if (good && paint && paint->values)
        body.values = paint->values, body.low = paint->legend.low, body.high = paint->legend.high,
        body.map = paint->legend.map;
    if (good && stage->show.parts && (good = part_mesh_make(stage, shot, &body, &parts))) {
        uint64_t triangles = body.surface.triangle_count;
        body.surface =
            (cutis_surface){ (uint32_t)(3 * triangles), triangles, parts.positions, parts.indices };
        body.normals = parts.normals;
        body.colors = parts.colors;
    }
    if (good && (stage->show.skeleton || stage->show.handles || stage->show.cage)) {
        cutis_pose_world(stage->model, p->transforms, world);
        const uint32_t bones = stage->show.skeleton ? bone_lines(stage, world, NULL) : 0;
        const uint32_t handles = stage->show.handles ? picture_handle_count(stage) : 0;
        line_count = bones + handles + (stage->show.cage ? picture_cage_count(stage) : 0);
        lines = malloc((line_count + 1) * sizeof *lines);
        good = lines != NULL;
        if (good && bones) bone_lines(stage, world, lines);
        if (good && stage->show.handles) good = picture_handle_lines(stage, world, lines + bones);
        if (good && stage->show.cage) picture_cage_lines(stage, p, lines + bones + handles);
    }
    cutis_scene scene = { .surface_count = 1,
                          .surfaces = &body,
                          .line_count = line_count,
                          .lines = lines,
                          .camera = stage->camera,
                          .ground_fixed = stage->ground_fixed,
                          .ground = stage->ground,
                          .dark = stage->dark };
    cutis_result result =
        good ? cutis_renderer_draw(stage->renderer, &scene, stage->width, stage->height, out)
             : CUTIS_OK;
    free(lines);
    free(world);
    free(mixed);
    part_mesh_release(&parts);
    if (!good) return app_fail_text(stage->app, "%s: not enough memory", stage->path);
    return app_result(stage->app, stage->path, result);
}

cutis_result picture_views(cutis_context *context, cutis_renderer *renderer,
                           const picture_view *views, uint32_t count, cutis_camera camera,
                           const cutis_legend *legend, uint32_t width, uint32_t height,
                           cutis_image *out)
{
    cutis_image images[PICTURE_METHODS] = { 0 };
    cutis_tile tiles[PICTURE_METHODS];
    cutis_result result = CUTIS_OK;
    if (count > PICTURE_METHODS) return CUTIS_INVALID_ARGUMENT; // the grammar has no more
    for (uint32_t i = 0; i < count && result == CUTIS_OK; i++) {
        cutis_scene_surface body = { .surface = views[i].surface,
                                     .normals = views[i].normals,
                                     .values = legend ? views[i].values : NULL,
                                     .colors = views[i].colors };
        if (legend) body.low = legend->low, body.high = legend->high, body.map = legend->map;
        cutis_scene scene = { .surface_count = 1,
                              .surfaces = &body,
                              .line_count = views[i].line_count,
                              .lines = views[i].lines,
                              .camera = camera };
        result = cutis_renderer_draw(renderer, &scene, width, height, &images[i]);
        tiles[i] = (cutis_tile){ &images[i], views[i].title, views[i].subtitle };
    }
    if (result == CUTIS_OK)
        result = cutis_sheet_create(context, tiles, count, count, NULL, legend, false, out);
    for (uint32_t i = 0; i < count; i++) cutis_image_destroy(context, &images[i]);
    return result;
}

int report_views(cli_app *app, html_page *page, cutis_renderer *renderer, const picture_view *views,
                 uint32_t count, const cutis_legend *legend, const char *text)
{
    enum { TILE_WIDTH = 420, TILE_HEIGHT = 560 };
    const cutis_camera camera = { .yaw = 20,
                                  .pitch = 10,
                                  .frame = cutis_surface_bounds(&views[0].surface) };
    cutis_image sheet = { 0 };
    cutis_result result = picture_views(app->context, renderer, views, count, camera, legend,
                                        TILE_WIDTH, TILE_HEIGHT, &sheet);
    if (result == CUTIS_OK) result = html_put_picture(app->context, page, &sheet, text);
    cutis_image_destroy(app->context, &sheet);
    return app_result(app, "report", result);
}
