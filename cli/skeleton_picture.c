/// The picture of an extraction: parts in colours, boxes, and the skeleton inside; one tile before
/// refinement, one after.
#include "skeleton.h"

#include <string.h>

#include "picture.h"

#define TILE_WIDTH  720
#define TILE_HEIGHT 760

// A body whose triangles share nothing, so that each has its part's colour.
typedef struct part_body {
    memory_list memory;
    float *positions, *normals, *colors;
    uint32_t *indices;
    uint64_t triangles;
} part_body;

static void linear_color(uint32_t part, float *out)
{
    uint32_t color = cutis_color_category(part);
    for (int k = 0; k < 3; k++) {
        float c = (float)(color >> (24 - 8 * k) & 0xff) / 255.0f;
        out[k] = 0.25f + 0.6f * c * c; // pale, so that lines stand out
    }
    out[3] = 1;
}

static bool body_make(const cutis_mesh *mesh, part_body *out)
{
    size_t n = 0, t = 0;
    for (uint32_t p = 0; p < mesh->primitive_count; p++) n += mesh->primitives[p].index_count;
    out->positions = memory_take(&out->memory, n, 3 * sizeof(float));
    out->normals = memory_take(&out->memory, n, 3 * sizeof(float));
    out->colors = memory_take(&out->memory, n, 4 * sizeof(float));
    out->indices = memory_take(&out->memory, n, sizeof(uint32_t));
    if (out->memory.failed) return false;
    out->triangles = n / 3;
    bool smooth = true;
    for (uint32_t p = 0; p < mesh->primitive_count; p++) {
        const cutis_primitive *primitive = &mesh->primitives[p];
        smooth = smooth && primitive->normals;
        for (uint32_t i = 0; i < primitive->index_count; i++, t++) {
            size_t v = primitive->indices[i];
            memcpy(out->positions + 3 * t, primitive->positions + 3 * v, 3 * sizeof(float));
            if (primitive->normals)
                memcpy(out->normals + 3 * t, primitive->normals + 3 * v, 3 * sizeof(float));
            linear_color(primitive->parts[i / 3], out->colors + 4 * t);
            out->indices[t] = (uint32_t)t;
        }
    }
    if (!smooth) out->normals = NULL;
    return true;
}

typedef struct line_list {
    cutis_scene_line *lines;
    uint32_t count;
} line_list;

static void add_line(line_list *list, const double *a, const double *b, float width, float dot,
                     uint32_t color)
{
    list->lines[list->count++] =
        (cutis_scene_line){ .from = { (float)a[0], (float)a[1], (float)a[2] },
                            .to = { (float)b[0], (float)b[1], (float)b[2] },
                            .width = width,
                            .dot = dot,
                            .color = color };
}

static void add_box(line_list *list, const double *axes, const double *low, const double *high,
                    uint32_t color)
{
    double corners[8][3];
    for (int c = 0; c < 8; c++)
        for (int k = 0; k < 3; k++) {
            corners[c][k] = 0;
            for (int e = 0; e < 3; e++)
                corners[c][k] += (c >> e & 1 ? high[e] : low[e]) * axes[3 * e + k];
        }
    for (int c = 0; c < 8; c++)
        for (int e = 0; e < 3; e++)
            if (!(c >> e & 1)) add_line(list, corners[c], corners[c | 1 << e], 1.2f, 0, color);
}

static uint32_t dark_color(uint32_t part)
{
    uint32_t color = cutis_color_category(part), out = 0xff;
    for (int k = 0; k < 3; k++) out |= (color >> (24 - 8 * k) & 0xff) * 3 / 5 << (24 - 8 * k);
    return out;
}

static void add_lines(const skeleton_job *job, bool after, line_list *list)
{
    const cutis_part_tree *tree = cutis_model_get(job->result)->meshes[0].part_tree;
    const cutis_skeleton_report *r = job->report;
    for (uint32_t p = 0; p < r->part_count; p++) {
        const cutis_part *part = &tree->parts[p];
        const cutis_skeleton_part *before = &r->parts[p];
        const double *axes = after ? &part->axes[0][0] : before->axes_before;
        const double *low = after ? part->box_min : before->box_before[0];
        const double *high = after ? part->box_max : before->box_before[1];
        double ends[2][3], middle[3];
        for (int k = 0; k < 3; k++)
            middle[k] = 0.5 * ((low[1] + high[1]) * axes[3 + k] + (low[2] + high[2]) * axes[6 + k]);
        for (int k = 0; k < 3; k++) {
            ends[0][k] = middle[k] + low[0] * axes[k];
            ends[1][k] = middle[k] + high[0] * axes[k];
        }
        add_box(list, axes, low, high, dark_color(p));
        if (!after) add_line(list, ends[0], ends[1], 2, 0, 0x202020ff);
    }
    for (uint32_t i = 0; after && i < tree->link_count; i++)
        add_line(list, tree->links[i].from, tree->links[i].to, 1.5f, 0, 0x30303090);
    for (uint32_t p = 0; after && p < r->part_count; p++) {
        const cutis_part *part = &tree->parts[p];
        bool leaf = true;
        for (uint32_t q = p + 1; q < r->part_count; q++)
            leaf = leaf && tree->parts[q].parent != (int32_t)p;
        if (part->parent != CUTIS_NONE)
            add_line(list, tree->parts[part->parent].position, part->position, 3, 5, 0x1a5fd0ff);
        if (leaf) add_line(list, part->position, part->end, 3, 3, 0x1a5fd0ff);
    }
}

int skeleton_picture(cli_app *app, const skeleton_job *job, const char *path)
{
    const cutis_mesh *mesh = &cutis_model_get(job->result)->meshes[0];
    const size_t lines = 16 * (size_t)mesh->part_count + mesh->part_tree->link_count;
    part_body body = { 0 };
    cutis_renderer *renderer = NULL;
    cutis_image sheet = { 0 };
    picture_view views[2];
    cutis_result result = CUTIS_OUT_OF_MEMORY;
    line_list lists[2] = { { memory_take(&body.memory, lines, sizeof(cutis_scene_line)), 0 },
                           { memory_take(&body.memory, lines, sizeof(cutis_scene_line)), 0 } };
    if (body_make(mesh, &body)) result = cutis_renderer_create(app->context, &renderer);
    for (int i = 0; i < 2 && result == CUTIS_OK; i++) {
        add_lines(job, i == 1, &lists[i]);
        views[i] = (picture_view){ .surface = { (uint32_t)(3 * body.triangles), body.triangles,
                                                body.positions, body.indices },
                                   .normals = body.normals,
                                   .colors = body.colors,
                                   .line_count = lists[i].count,
                                   .lines = lists[i].lines,
                                   .title = i ? "after refinement" : "before refinement",
                                   .subtitle = i ? "boxes, skeleton graph, rig"
                                                 : "boxes and principal axes" };
    }
    if (result == CUTIS_OK)
        result = picture_views(app->context, renderer, views, 2,
                               (cutis_camera){ .yaw = 25, .pitch = 10 }, NULL, TILE_WIDTH,
                               TILE_HEIGHT, &sheet);
    if (result == CUTIS_OK) result = cutis_image_write_png(app->context, &sheet, path);
    cutis_image_destroy(app->context, &sheet);
    cutis_renderer_destroy(renderer);
    memory_release(&body.memory);
    return app_result(app, path, result);
}
