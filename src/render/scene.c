/// Draws a scene: two shadow maps, the surfaces at twice the size in each direction, an average in
/// linear light, then lines.
///
/// Everything GL that a draw makes is listed in one struct and deleted at its end, so a failed draw
/// leaves nothing behind.
#include "render/renderer.h"
#include "render/cairo_image.h"
#include "base/error.h"
#include "base/memory.h"

#include <math.h>
#include <string.h>

enum { SHADOW_SIZE = 2048, SAMPLES = 2, VERTEX_FLOATS = 11 };

/// What one draw owns.
typedef struct draw_state {
    cutis_renderer *renderer;
    const cutis_scene *scene;
    cutis_bounds box;
    cutis_view view;
    cutis_mat4 key, dome;
    double key_direction[3], ground;
    cutis_target target; // the large picture
    GLuint key_map, dome_map, key_frame, dome_frame, ramp, empty;
    GLuint *arrays, *vertices, *indices, *edges; // per surface
    uint32_t *edge_counts;
} draw_state;

// Data of the scene -----------------------------------------------------------------------------

static void extend(cutis_bounds *box, const float *p)
{
    box->min.x = fminf(box->min.x, p[0]), box->max.x = fmaxf(box->max.x, p[0]);
    box->min.y = fminf(box->min.y, p[1]), box->max.y = fmaxf(box->max.y, p[1]);
    box->min.z = fminf(box->min.z, p[2]), box->max.z = fmaxf(box->max.z, p[2]);
}

static cutis_bounds scene_box(const cutis_scene *scene)
{
    cutis_bounds box = { { INFINITY, INFINITY, INFINITY }, { -INFINITY, -INFINITY, -INFINITY } };
    for (uint32_t s = 0; s < scene->surface_count; s++) {
        const cutis_surface *surface = &scene->surfaces[s].surface;
        for (uint32_t v = 0; v < surface->vertex_count; v++)
            extend(&box, surface->positions + 3 * (size_t)v);
    }
    if (!(box.min.x <= box.max.x)) box = (cutis_bounds){ { -1, -1, -1 }, { 1, 1, 1 } };
    return box;
}

static bool box_is_given(const cutis_bounds *box)
{
    return box->max.x > box->min.x || box->max.y > box->min.y || box->max.z > box->min.z;
}

static void face_normals(const cutis_surface *surface, float *vertices)
{
    for (uint64_t t = 0; t < surface->triangle_count; t++) {
        const uint32_t *corner = surface->indices + 3 * t;
        const float *a = surface->positions + 3 * (size_t)corner[0];
        const float *b = surface->positions + 3 * (size_t)corner[1];
        const float *c = surface->positions + 3 * (size_t)corner[2];
        float u[3], v[3];
        for (int i = 0; i < 3; i++) u[i] = b[i] - a[i], v[i] = c[i] - a[i];
        float n[3] = { u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2],
                       u[0] * v[1] - u[1] * v[0] };
        for (int k = 0; k < 3; k++)
            for (int i = 0; i < 3; i++) vertices[(size_t)VERTEX_FLOATS * corner[k] + 3 + i] += n[i];
    }
    for (uint32_t k = 0; k < surface->vertex_count; k++) {
        float *n = vertices + (size_t)VERTEX_FLOATS * k + 3;
        float length = sqrtf(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
        for (int i = 0; i < 3 && length > 0; i++) n[i] /= length;
    }
}

static void fill_vertices(const cutis_scene_surface *item, float *vertices)
{
    static const float CLAY[4] = { 0.56f, 0.50f, 0.44f, 1 };
    const float *plain =
        item->color[0] + item->color[1] + item->color[2] + item->color[3] > 0 ? item->color : CLAY;
    double range = item->high - item->low;
    for (uint32_t v = 0; v < item->surface.vertex_count; v++) {
        float *to = vertices + (size_t)VERTEX_FLOATS * v;
        memcpy(to, item->surface.positions + 3 * (size_t)v, 12);
        if (item->normals) memcpy(to + 3, item->normals + 3 * (size_t)v, 12);
        memcpy(to + 6, item->colors ? item->colors + 4 * (size_t)v : plain, 16);
        to[10] = item->values ? (float)(range > 0 ? (item->values[v] - item->low) / range : 0) : 0;
    }
    if (!item->normals) face_normals(&item->surface, vertices);
}

/// Every edge as two indices, those of shared edges once: taken where the first index is the
/// smaller one.
static uint32_t list_edges(const cutis_surface *surface, uint32_t *edges)
{
    uint32_t count = 0;
    for (uint64_t t = 0; t < surface->triangle_count; t++)
        for (int k = 0; k < 3; k++) {
            uint32_t a = surface->indices[3 * t + k], b = surface->indices[3 * t + (k + 1) % 3];
            if (a < b) edges[count++] = a, edges[count++] = b;
        }
    return count;
}

static cutis_result upload_surface(draw_state *draw, uint32_t index)
{
    cutis_context *context = draw->renderer->context;
    const cutis_scene_surface *item = &draw->scene->surfaces[index];
    const cutis_surface *surface = &item->surface;
    size_t index_count = 3 * (size_t)surface->triangle_count;
    if (index_count > INT32_MAX / 2)
        return cutis_fail(context, CUTIS_LIMIT_EXCEEDED, "a picture of %zu triangles",
                          index_count / 3);
    float *vertices = cutis_alloc_zero(context, (size_t)surface->vertex_count * VERTEX_FLOATS, 4);
    uint32_t *edges =
        vertices && item->wire ? cutis_alloc_array(context, 2 * index_count, 4) : NULL;
    if (!vertices || (item->wire && !edges)) {
        cutis_free_array(context, vertices, (size_t)surface->vertex_count * VERTEX_FLOATS, 4);
        return cutis_alloc_result(context);
    }
    fill_vertices(item, vertices);
    glBindVertexArray(draw->arrays[index]);
    glBindBuffer(GL_ARRAY_BUFFER, draw->vertices[index]);
    glBufferData(GL_ARRAY_BUFFER, (GLsizeiptr)surface->vertex_count * VERTEX_FLOATS * 4, vertices,
                 GL_STATIC_DRAW);
    glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, draw->indices[index]);
    glBufferData(GL_ELEMENT_ARRAY_BUFFER, (GLsizeiptr)index_count * 4, surface->indices,
                 GL_STATIC_DRAW);
    static const int SIZES[] = { 3, 3, 4, 1 }, OFFSETS[] = { 0, 12, 24, 40 };
    for (GLuint a = 0; a < 4; a++) {
        glEnableVertexAttribArray(a);
        glVertexAttribPointer(a, SIZES[a], GL_FLOAT, GL_FALSE, VERTEX_FLOATS * 4,
                              (void *)(uintptr_t)OFFSETS[a]);
    }
    if (edges) {
        draw->edge_counts[index] = list_edges(surface, edges);
        glBindVertexArray(draw->empty);
        glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, draw->edges[index]);
        glBufferData(GL_ELEMENT_ARRAY_BUFFER, (GLsizeiptr)draw->edge_counts[index] * 4, edges,
                     GL_STATIC_DRAW);
    }
    cutis_free_array(context, edges, 2 * index_count, 4);
    cutis_free_array(context, vertices, (size_t)surface->vertex_count * VERTEX_FLOATS, 4);
    return CUTIS_OK;
}

// Light -----------------------------------------------------------------------------------------

/// Orthographic maps around the scene's sphere, from the key light and from above (for contact with
/// the floor).
static void place_lights(draw_state *draw)
{
    const cutis_view *view = &draw->view;
    double yaw = atan2(view->eye[0] - view->target[0], view->eye[2] - view->target[2]);
    double side = yaw - 0.70, lift = 0.86; // to the upper left of the viewer
    double toward[3] = { sin(side) * cos(lift), sin(lift), cos(side) * cos(lift) };
    memcpy(draw->key_direction, toward, sizeof toward);
    double centre[3] = { 0.5 * (draw->box.min.x + draw->box.max.x),
                         0.5 * (draw->box.min.y + draw->box.max.y),
                         0.5 * (draw->box.min.z + draw->box.max.z) };
    double dx = draw->box.max.x - draw->box.min.x, dy = draw->box.max.y - draw->box.min.y,
           dz = draw->box.max.z - draw->box.min.z;
    double r = fmax(0.51 * sqrt(dx * dx + dy * dy + dz * dz), 1e-6), eye[3], above[3];
    for (int i = 0; i < 3; i++)
        eye[i] = centre[i] + 3 * r * toward[i], above[i] = centre[i] + (i == 1) * 3 * r;
    cutis_mat4 look = cutis_mat4_look(eye, centre, (double[3]){ 0, 1, 0 });
    cutis_mat4 flat = cutis_mat4_orthographic(1.05 * r, 1.05 * r, r, 9 * r);
    draw->key = cutis_mat4_multiply(&flat, &look);
    look = cutis_mat4_look(above, centre, (double[3]){ 0, 0, -1 });
    draw->dome = cutis_mat4_multiply(&flat, &look);
}

static void set_float(GLuint program, const char *name, double value)
{
    glUniform1f(glGetUniformLocation(program, name), (float)value);
}

static GLuint shadow_map(GLuint *frame)
{
    GLuint map;
    glGenTextures(1, &map);
    glBindTexture(GL_TEXTURE_2D, map);
    glTexStorage2D(GL_TEXTURE_2D, 1, GL_DEPTH_COMPONENT24, SHADOW_SIZE, SHADOW_SIZE);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_COMPARE_MODE, GL_COMPARE_REF_TO_TEXTURE);
    glGenFramebuffers(1, frame);
    glBindFramebuffer(GL_FRAMEBUFFER, *frame);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_TEXTURE_2D, map, 0);
    return map;
}

static void draw_triangles(const draw_state *draw, uint32_t index)
{
    glBindVertexArray(draw->arrays[index]);
    glDrawElements(GL_TRIANGLES, (GLsizei)(3 * draw->scene->surfaces[index].surface.triangle_count),
                   GL_UNSIGNED_INT, NULL);
}

static void draw_shadow_map(const draw_state *draw, GLuint frame, const cutis_mat4 *clip)
{
    glBindFramebuffer(GL_FRAMEBUFFER, frame);
    glViewport(0, 0, SHADOW_SIZE, SHADOW_SIZE);
    glClear(GL_DEPTH_BUFFER_BIT);
    glUseProgram(draw->renderer->depth_program);
    cutis_renderer_set_matrix(draw->renderer->depth_program, "clip", clip);
    glEnable(GL_POLYGON_OFFSET_FILL);
    glPolygonOffset(1.5f, 2.0f);
    for (uint32_t s = 0; s < draw->scene->surface_count; s++) draw_triangles(draw, s);
    glDisable(GL_POLYGON_OFFSET_FILL);
}

// Passes ----------------------------------------------------------------------------------------

/// The backdrop's colours, linear: light studio grey or a dark one.
static void set_backdrop(const draw_state *draw, GLuint program)
{
    float low = draw->scene->dark ? 0.020f : 0.60f, high = draw->scene->dark ? 0.045f : 0.86f;
    glUniform3f(glGetUniformLocation(program, "backdrop_low"), low, low * 1.01f, low * 1.04f);
    glUniform3f(glGetUniformLocation(program, "backdrop_high"), high, high * 1.01f, high * 1.03f);
    glUniform2f(glGetUniformLocation(program, "picture"), (float)draw->target.width,
                (float)draw->target.height);
}

static void bind_map(GLuint program, const char *name, GLint unit, GLuint map)
{
    glActiveTexture((GLenum)(GL_TEXTURE0 + unit));
    glBindTexture(GL_TEXTURE_2D, map);
    glUniform1i(glGetUniformLocation(program, name), unit);
}

static void draw_backdrop(const draw_state *draw)
{
    GLuint program = draw->renderer->background_program;
    glUseProgram(program);
    set_backdrop(draw, program);
    glBindVertexArray(draw->empty);
    glDisable(GL_DEPTH_TEST);
    glDrawArrays(GL_TRIANGLES, 0, 3);
    glEnable(GL_DEPTH_TEST);
}

static void draw_ground(const draw_state *draw)
{
    if (draw->scene->no_ground || draw->view.eye[1] <= draw->ground) return;
    GLuint program = draw->renderer->ground_program;
    glUseProgram(program);
    set_backdrop(draw, program);
    cutis_renderer_set_matrix(program, "clip", &draw->view.both);
    cutis_renderer_set_matrix(program, "key_clip", &draw->key);
    cutis_renderer_set_matrix(program, "dome_clip", &draw->dome);
    bind_map(program, "key_map", 0, draw->key_map);
    bind_map(program, "dome_map", 1, draw->dome_map);
    set_float(program, "key_texel", 1.0 / SHADOW_SIZE);
    set_float(program, "dome_soft", 0.045);
    set_float(program, "depth", draw->scene->dark ? 0.8 : 1.0);
    double reach = 2.6 * fmax(draw->view.radius, 1e-6);
    glUniform4f(glGetUniformLocation(program, "ground"), 0.5f * (draw->box.min.x + draw->box.max.x),
                0.5f * (draw->box.min.z + draw->box.max.z), (float)draw->ground, (float)reach);
    glBindVertexArray(draw->empty);
    glDepthMask(GL_FALSE); // the floor lies under everything: feet that touch it stay whole
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    glDepthMask(GL_TRUE);
}

static void upload_ramp(const draw_state *draw, cutis_colormap map)
{
    uint8_t bytes[256 * 4];
    for (int i = 0; i < 256; i++) {
        uint32_t color = cutis_colormap_srgb(map, i / 255.0);
        for (int c = 0; c < 4; c++) bytes[4 * i + c] = (uint8_t)(color >> (24 - 8 * c));
    }
    glActiveTexture(GL_TEXTURE2);
    glBindTexture(GL_TEXTURE_2D, draw->ramp);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_SRGB8_ALPHA8, 256, 1, 0, GL_RGBA, GL_UNSIGNED_BYTE, bytes);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
}

static void draw_surfaces(const draw_state *draw)
{
    GLuint program = draw->renderer->surface_program;
    glUseProgram(program);
    set_backdrop(draw, program);
    cutis_renderer_set_matrix(program, "clip", &draw->view.both);
    cutis_renderer_set_matrix(program, "key_clip", &draw->key);
    set_float(program, "key_bias", 0.004 * draw->view.radius);
    set_float(program, "key_texel", 1.0 / SHADOW_SIZE);
    glUniform3f(glGetUniformLocation(program, "eye"), (float)draw->view.eye[0],
                (float)draw->view.eye[1], (float)draw->view.eye[2]);
    glUniform3f(glGetUniformLocation(program, "key_direction"), (float)draw->key_direction[0],
                (float)draw->key_direction[1], (float)draw->key_direction[2]);
    bind_map(program, "key_map", 0, draw->key_map);
    glUniform1i(glGetUniformLocation(program, "ramp"), 2);
    glEnable(GL_POLYGON_OFFSET_FILL);
    glPolygonOffset(1, 1);
    for (uint32_t s = 0; s < draw->scene->surface_count; s++) {
        const cutis_scene_surface *item = &draw->scene->surfaces[s];
        upload_ramp(draw, item->map);
        set_float(program, "roughness", item->roughness > 0 ? item->roughness : 0.6);
        set_float(program, "painted", item->values ? 1 : 0);
        draw_triangles(draw, s);
    }
    glDisable(GL_POLYGON_OFFSET_FILL);
}

static void draw_wires(const draw_state *draw)
{
    GLuint program = draw->renderer->wire_program;
    glUseProgram(program);
    cutis_renderer_set_matrix(program, "clip", &draw->view.both);
    glUniform4f(glGetUniformLocation(program, "ink"), 0.08f, 0.09f, 0.12f, 0.75f);
    glEnable(GL_BLEND);
    glBlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
    for (uint32_t s = 0; s < draw->scene->surface_count; s++) {
        if (!draw->scene->surfaces[s].wire) continue;
        glBindVertexArray(draw->arrays[s]);
        glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, draw->edges[s]);
        glDrawElements(GL_LINES, (GLsizei)draw->edge_counts[s], GL_UNSIGNED_INT, NULL);
        glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, draw->indices[s]);
    }
    glDisable(GL_BLEND);
}

// Out -------------------------------------------------------------------------------------------

/// Average SAMPLES x SAMPLES pixels in linear light; rows turn over (GL's first row is the lowest).
static void reduce_pixels(const uint8_t *large, uint32_t width, uint32_t height, cutis_image *image)
{
    float linear[256];
    for (int i = 0; i < 256; i++) {
        double s = i / 255.0;
        linear[i] = (float)(s <= 0.04045 ? s / 12.92 : pow((s + 0.055) / 1.055, 2.4));
    }
    uint8_t srgb[4097];
    for (int i = 0; i <= 4096; i++) {
        double v = i / 4096.0;
        srgb[i] =
            (uint8_t)(255 * (v <= 0.0031308 ? 12.92 * v : 1.055 * pow(v, 1 / 2.4) - 0.055) + 0.5);
    }
    for (uint32_t y = 0; y < image->height; y++)
        for (uint32_t x = 0; x < image->width; x++) {
            float sum[3] = { 0 };
            for (uint32_t j = 0; j < SAMPLES; j++)
                for (uint32_t i = 0; i < SAMPLES; i++) {
                    const uint8_t *p =
                        large +
                        4 * ((size_t)(height - 1 - (SAMPLES * y + j)) * width + SAMPLES * x + i);
                    for (int c = 0; c < 3; c++) sum[c] += linear[p[c]];
                }
            uint8_t *to = image->pixels + 4 * ((size_t)y * image->width + x);
            for (int c = 0; c < 3; c++)
                to[c] = srgb[(int)(sum[c] * (4096.0f / (SAMPLES * SAMPLES)) + 0.5f)];
            to[3] = 255;
        }
}

static cutis_result read_picture(draw_state *draw, cutis_image *image)
{
    cutis_context *context = draw->renderer->context;
    size_t size = 4 * (size_t)draw->target.width * draw->target.height;
    uint8_t *large = cutis_alloc(context, size);
    if (!large) return cutis_alloc_result(context);
    glPixelStorei(GL_PACK_ALIGNMENT, 1);
    glReadPixels(0, 0, (GLsizei)draw->target.width, (GLsizei)draw->target.height, GL_RGBA,
                 GL_UNSIGNED_BYTE, large);
    cutis_result result = cutis_renderer_error(draw->renderer);
    if (result == CUTIS_OK) reduce_pixels(large, draw->target.width, draw->target.height, image);
    cutis_free(context, large, size);
    return result;
}

static void line_end(cairo_t *cairo, const double p[2], double radius, uint32_t color)
{
    cairo_arc(cairo, p[0], p[1], radius, 0, 6.283185307179586);
    cutis_canvas_color(cairo, color);
    cairo_fill_preserve(cairo);
    cutis_canvas_color(cairo, 0xffffffe0u);
    cairo_set_line_width(cairo, 0.3 * radius);
    cairo_stroke(cairo);
}

static cutis_result draw_lines(const draw_state *draw, cutis_image *image)
{
    if (!draw->scene->line_count) return CUTIS_OK;
    cutis_canvas canvas;
    TRY(cutis_canvas_open(draw->renderer->context, image, &canvas));
    double unit = image->height / 720.0;
    cairo_set_line_cap(canvas.cairo, CAIRO_LINE_CAP_ROUND);
    for (int pass = 0; pass < 2; pass++) // lines first, then their dots
        for (uint32_t i = 0; i < draw->scene->line_count; i++) {
            const cutis_scene_line *line = &draw->scene->lines[i];
            double ends[2][3] = { { line->from.x, line->from.y, line->from.z },
                                  { line->to.x, line->to.y, line->to.z } },
                   p[2][3];
            if (!cutis_mat4_project(&draw->view.both, ends[0], p[0]) ||
                !cutis_mat4_project(&draw->view.both, ends[1], p[1]))
                continue;
            for (int e = 0; e < 2; e++)
                p[e][0] = (0.5 + 0.5 * p[e][0]) * image->width,
                p[e][1] = (0.5 - 0.5 * p[e][1]) * image->height;
            if (pass == 0) {
                cairo_move_to(canvas.cairo, p[0][0], p[0][1]);
                cairo_line_to(canvas.cairo, p[1][0], p[1][1]);
                cutis_canvas_color(canvas.cairo, line->color);
                cairo_set_line_width(canvas.cairo, fmax(line->width * unit, 0.5));
                cairo_stroke(canvas.cairo);
            } else if (line->dot > 0) {
                line_end(canvas.cairo, p[0], line->dot * unit, line->color);
                line_end(canvas.cairo, p[1], line->dot * unit, line->color);
            }
        }
    return cutis_canvas_close(draw->renderer->context, image, &canvas);
}

// Life of a draw --------------------------------------------------------------------------------

static cutis_result open_frame(draw_state *draw)
{
    draw->key_map = shadow_map(&draw->key_frame);
    draw->dome_map = shadow_map(&draw->dome_frame);
    glGenTextures(1, &draw->ramp);
    glGenVertexArrays(1, &draw->empty);
    if (cutis_target_make(&draw->target)) return CUTIS_OK;
    return cutis_fail(draw->renderer->context, CUTIS_DEVICE_OUT_OF_MEMORY,
                      "the renderer has no frame buffer of %ux%u", draw->target.width,
                      draw->target.height);
}

static cutis_result open_surfaces(draw_state *draw)
{
    cutis_context *context = draw->renderer->context;
    uint32_t count = draw->scene->surface_count;
    draw->arrays = cutis_alloc_zero(context, 5 * (size_t)count, 4);
    if (!draw->arrays) return cutis_alloc_result(context);
    draw->vertices = draw->arrays + count;
    draw->indices = draw->vertices + count;
    draw->edges = draw->indices + count;
    draw->edge_counts = draw->edges + count;
    glGenVertexArrays((GLsizei)count, draw->arrays);
    glGenBuffers((GLsizei)(3 * count), draw->vertices);
    for (uint32_t s = 0; s < count; s++) { TRY(upload_surface(draw, s)); }
    return CUTIS_OK;
}

static void close_draw(draw_state *draw)
{
    GLuint frames[] = { draw->key_frame, draw->dome_frame };
    GLuint textures[] = { draw->key_map, draw->dome_map, draw->ramp };
    uint32_t count = draw->scene->surface_count;
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    cutis_target_release(&draw->target);
    glDeleteFramebuffers(2, frames);
    glDeleteTextures(3, textures);
    glDeleteVertexArrays(1, &draw->empty);
    if (!draw->arrays) return;
    glDeleteVertexArrays((GLsizei)count, draw->arrays);
    glDeleteBuffers((GLsizei)(3 * count), draw->vertices);
    cutis_free_array(draw->renderer->context, draw->arrays, 5 * (size_t)count, 4);
}

static void draw_passes(draw_state *draw)
{
    glEnable(GL_DEPTH_TEST);
    glDisable(GL_CULL_FACE);
    draw_shadow_map(draw, draw->key_frame, &draw->key);
    draw_shadow_map(draw, draw->dome_frame, &draw->dome);
    glBindFramebuffer(GL_FRAMEBUFFER, draw->target.frame);
    glViewport(0, 0, (GLsizei)draw->target.width, (GLsizei)draw->target.height);
    glClear(GL_DEPTH_BUFFER_BIT);
    draw_backdrop(draw);
    draw_ground(draw);
    draw_surfaces(draw);
    draw_wires(draw);
}

cutis_result cutis_renderer_draw(cutis_renderer *renderer, const cutis_scene *scene, uint32_t width,
                                 uint32_t height, cutis_image *out)
{
    if (!renderer || !scene || !out) return CUTIS_INVALID_ARGUMENT;
    cutis_image image = { 0 };
    TRY(cutis_image_create(renderer->context, width, height, 0, &image));
    draw_state draw = { .renderer = renderer,
                        .scene = scene,
                        .box = scene_box(scene),
                        .target = { .width = SAMPLES * width, .height = SAMPLES * height } };
    cutis_bounds framed = box_is_given(&scene->camera.frame) ? scene->camera.frame : draw.box;
    draw.view = cutis_view_frame(&scene->camera, &framed, (double)width / height);
    draw.ground = scene->ground_fixed ? scene->ground : draw.box.min.y;
    place_lights(&draw);
    cutis_result result = cutis_renderer_use(renderer);
    if (result == CUTIS_OK) result = open_frame(&draw);
    if (result == CUTIS_OK) result = open_surfaces(&draw);
    if (result == CUTIS_OK) {
        draw_passes(&draw);
        result = read_picture(&draw, &image);
    }
    if (result == CUTIS_OK) result = draw_lines(&draw, &image);
    close_draw(&draw);
    if (result != CUTIS_OK)
        cutis_image_destroy(renderer->context, &image);
    else
        *out = image;
    return result;
}
