/// Rest is the bind shape (docs/spec/conventions.md 1), seen in world units. When the node rest
/// pose only moves, turns or scales the bind shape, it is that pose; when the nodes bend it (a file
/// saved in the middle of a walk), it is the file's vertices, scaled and mirrored as the nodes do,
/// so that volumes and lengths still compare.
#include "rest_shape.h"

#include <math.h>
#include <stdlib.h>

#include "play.h"

// RMS of log edge stretch; file transforms are floats, so a pure similarity stays below 1e-4.
static const double BENT = 1e-3;

static double edge_length(const float *p, uint32_t a, uint32_t b)
{
    double x = (double)p[3 * (size_t)a] - p[3 * (size_t)b];
    double y = (double)p[3 * (size_t)a + 1] - p[3 * (size_t)b + 1];
    double z = (double)p[3 * (size_t)a + 2] - p[3 * (size_t)b + 2];
    return sqrt(x * x + y * y + z * z);
}

// Is an instance seen in a mirror? Then its triangles, which begin at `indices`, are not turned as
// the file's are.
static bool is_turned(const cutis_model *model, const cutis_instance *instance,
                      const uint32_t *indices)
{
    const cutis_mesh *mesh = &cutis_model_get(model)->meshes[instance->mesh];
    uint32_t first = instance->vertex_first;
    for (uint32_t p = 0; p < mesh->primitive_count; p++) {
        const cutis_primitive *primitive = &mesh->primitives[p];
        const bool faces = primitive->topology == CUTIS_TOPOLOGY_TRIANGLES;
        for (uint32_t k = 1; faces && k < primitive->index_count; k += 3)
            if (primitive->indices[k] != primitive->indices[k + 1])
                return indices[k] != first + primitive->indices[k];
        if (faces) indices += primitive->index_count;
        first += primitive->vertex_count;
    }
    return false;
}

// The triangles [*cursor, ...) that lie in the instance; outputs stand instance after instance, so
// do triangles.
static void settle_instance(const cutis_model *model, const cutis_instance *instance,
                            const float *file, rest_shape *shape, uint64_t *cursor)
{
    const uint64_t begin = *cursor;
    const uint32_t last = instance->vertex_first + instance->vertex_count;
    double now = 0.0, then = 0.0, sum = 0.0;
    uint64_t edges = 0;
    while (*cursor < shape->triangle_count && shape->indices[3 * *cursor] < last) ++*cursor;
    if (instance->skin == CUTIS_NONE) return;
    for (uint64_t i = 3 * begin; i < 3 * *cursor; i++) {
        uint32_t a = shape->indices[i], b = shape->indices[i % 3 == 2 ? i - 2 : i + 1];
        double world = edge_length(shape->positions, a, b), bound = edge_length(file, a, b);
        now += world * world;
        then += bound * bound;
    }
    if (!(then > 0.0) || !(now > 0.0)) return;
    double scale = sqrt(now / then);
    for (uint64_t i = 3 * begin; i < 3 * *cursor; i++) {
        uint32_t a = shape->indices[i], b = shape->indices[i % 3 == 2 ? i - 2 : i + 1];
        double world = edge_length(shape->positions, a, b), bound = edge_length(file, a, b);
        if (!(world > 0.0) || !(bound > 0.0)) continue;
        double stretch = log(world / (scale * bound));
        sum += stretch * stretch;
        edges++;
    }
    if (edges == 0 || sqrt(sum / (double)edges) < BENT) return;
    const double side = is_turned(model, instance, shape->indices + 3 * begin) ? -scale : scale;
    for (size_t i = 3 * (size_t)instance->vertex_first; i < 3 * (size_t)last; i++)
        shape->positions[i] = (float)((i % 3 == 0 ? side : scale) * file[i]);
}

static int node_rest(cli_app *app, const char *path, const cutis_model *model, rest_shape *shape)
{
    OWN(cutis_device) *device = NULL;
    ENDS_BY(play_close) play p = { 0 };
    TRY(app_result(app, "cpu", cutis_device_create(app->context, NULL, &device)));
    const play_options options = { .clip = CUTIS_NONE, .batch = 1 };
    TRY(play_open(app, path, model, device, &options, &p));
    TRY(app_result(app, path, play_frames(&p, 0, 1, 30.0)));
    shape->positions = p.positions; // taken over
    p.positions = NULL;
    return EXIT_GOOD;
}

int rest_shape_make(cli_app *app, const char *path, const cutis_model *model, rest_shape *out)
{
    const cutis_instance *instances;
    uint32_t count = cutis_model_instances(model, &instances);
    *out = (rest_shape){ .vertex_count = cutis_model_vertex_count(model),
                         .triangle_count = cutis_model_triangle_count(model) };
    int status = node_rest(app, path, model, out);
    float *file = malloc(3 * sizeof *file * ((size_t)out->vertex_count + 1));
    out->indices = malloc(3 * sizeof *out->indices * ((size_t)out->triangle_count + 1));
    if (status == EXIT_GOOD && (!file || !out->indices))
        status = app_fail_text(app, "%s: not enough memory", path);
    if (status == EXIT_GOOD) {
        uint64_t cursor = 0;
        cutis_model_triangles(model, out->indices);
        cutis_model_file_positions(model, file);
        for (uint32_t i = 0; i < count; i++)
            settle_instance(model, &instances[i], file, out, &cursor);
    } else {
        rest_shape_release(out);
    }
    free(file);
    return status;
}

void rest_shape_release(rest_shape *shape)
{
    free(shape->positions);
    free(shape->indices);
    *shape = (rest_shape){ 0 };
}

cutis_surface rest_shape_surface(const rest_shape *shape, const float *positions)
{
    return (cutis_surface){ .vertex_count = shape->vertex_count,
                            .triangle_count = shape->triangle_count,
                            .positions = positions,
                            .indices = shape->indices };
}

void bounds_add(cutis_bounds *box, cutis_bounds more)
{
    box->min.x = fminf(box->min.x, more.min.x), box->max.x = fmaxf(box->max.x, more.max.x);
    box->min.y = fminf(box->min.y, more.min.y), box->max.y = fmaxf(box->max.y, more.max.y);
    box->min.z = fminf(box->min.z, more.min.z), box->max.z = fmaxf(box->max.z, more.max.z);
}
