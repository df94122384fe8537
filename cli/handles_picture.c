/// The weights of each handle painted on the model at rest: one tile per handle, one legend.
#include "handles.h"

#include <stdlib.h>

#include "picture.h"

#define TILES_MAX   24 ///< more would be too small to look at
#define TILE_WIDTH  320
#define TILE_HEIGHT 420

// Nodes that vertices have weight on, in order; at most TILES_MAX.
static uint32_t find_joints(const cutis_model *model, float *values, uint32_t *nodes)
{
    const cutis_model_data *data = cutis_model_get(model);
    const uint32_t vertices = cutis_model_vertex_count(model);
    uint32_t count = 0;
    for (uint32_t n = 0; n < data->node_count && count < TILES_MAX; n++) {
        bool joint = false, used = false;
        for (uint32_t s = 0; s < data->skin_count && !joint; s++)
            for (uint32_t j = 0; j < data->skins[s].joint_count && !joint; j++)
                joint = data->skins[s].joints[j] == n;
        if (!joint) continue;
        picture_joint_weights(model, n, values);
        for (uint32_t v = 0; v < vertices && !used; v++) used = values[v] > 0;
        if (used) nodes[count++] = n;
    }
    return count;
}

typedef struct sheet {
    cutis_renderer *renderer;
    rest_shape rest;
    float *values;
    cutis_image images[TILES_MAX];
    cutis_tile tiles[TILES_MAX];
} sheet;

static cutis_result draw_sheet(const handles_job *job, sheet *s, cutis_image *out)
{
    const cutis_model_data *data = cutis_model_get(job->result);
    uint32_t nodes[TILES_MAX], count = find_joints(job->result, s->values, nodes);
    for (uint32_t i = 0; i < count; i++) {
        picture_joint_weights(job->result, nodes[i], s->values);
        const cutis_scene_surface surface = {
            .surface = rest_shape_surface(&s->rest, s->rest.positions),
            .values = s->values,
            .high = 1,
            .map = CUTIS_COLORMAP_WEIGHT,
        };
        const cutis_scene scene = { .surface_count = 1,
                                    .surfaces = &surface,
                                    .camera = { .yaw = 25, .pitch = 10 } };
        TRY(cutis_renderer_draw(s->renderer, &scene, TILE_WIDTH, TILE_HEIGHT, &s->images[i]));
        s->tiles[i] = (cutis_tile){ .image = &s->images[i], .title = data->nodes[nodes[i]].name };
    }
    const cutis_legend legend = { CUTIS_COLORMAP_WEIGHT, 0, 1, "weight" };
    return cutis_sheet_create(cutis_model_context(job->result), s->tiles, count, 0, NULL, &legend,
                              false, out);
}

int handles_picture(cli_app *app, const handles_job *job, const char *path)
{
    sheet s = { 0 };
    cutis_image image = { 0 };
    int status = rest_shape_make(app, job->path, job->result, &s.rest);
    if (status != EXIT_GOOD) return status;
    s.values = malloc(sizeof(float) * (size_t)s.rest.vertex_count);
    cutis_result result =
        s.values ? cutis_renderer_create(app->context, &s.renderer) : CUTIS_OUT_OF_MEMORY;
    if (result == CUTIS_OK) result = draw_sheet(job, &s, &image);
    if (result == CUTIS_OK) result = cutis_image_write_png(app->context, &image, path);
    if (result != CUTIS_OK) status = app_fail(app, path, result);
    for (uint32_t i = 0; i < TILES_MAX; i++) cutis_image_destroy(app->context, &s.images[i]);
    cutis_image_destroy(app->context, &image);
    cutis_renderer_destroy(s.renderer);
    free(s.values);
    rest_shape_release(&s.rest);
    return status;
}
