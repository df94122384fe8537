/// Reading cage poses (docs/spec/conventions.md 3). A mesh without a clip has the controls in the
/// cage's order, further vertices (other corners of a seam) stand where one of them does; a model
/// with a clip is matched with the cage by its rest shape, so its vertices may come in any order.
#include "cage_poses.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "play.h"
#include "rest_shape.h"

// Vertices of a moving cage stand at its controls at rest to this part of the diagonal.
static const double SAME_PLACE = 1e-5;
enum { FRAMES_MAX = 1000000 };

static int add_poses(cli_app *app, const cutis_cage *cage, uint32_t count, cage_poses *out,
                     float **added)
{
    const size_t pose = 3 * (size_t)cage->control_count;
    if (count > FRAMES_MAX - out->count)
        return app_fail_text(app, "more than %d cage poses are too many", FRAMES_MAX);
    float *more = realloc(out->values, ((size_t)out->count + count) * pose * sizeof *more + 1);
    if (!more) return app_fail_text(app, "not enough memory for %u cage poses", count);
    out->values = more;
    *added = more + out->count * pose;
    out->count += count;
    return EXIT_GOOD;
}

static int read_array(cli_app *app, const char *path, const cutis_cage *cage, cage_poses *out)
{
    const size_t pose = 3 * (size_t)cage->control_count;
    cutis_array array = { 0 };
    TRY(app_result(app, path, cutis_array_read(app->context, path, &array)));
    const uint64_t total = array_size(&array);
    int status = EXIT_GOOD;
    float *to = NULL;
    if (total == 0 || pose == 0 || total % pose || total / pose > FRAMES_MAX)
        status = app_fail_text(app, "%s: %ju numbers are no poses of %u controls (3 each)", path,
                               total, cage->control_count);
    if (status == EXIT_GOOD) status = add_poses(app, cage, (uint32_t)(total / pose), out, &to);
    if (status == EXIT_GOOD) memcpy(to, array.values, total * sizeof *to);
    cutis_array_destroy(app->context, &array);
    return status;
}

// Vertices beyond the controls must be copies of them.
static int read_mesh(cli_app *app, const char *path, const rest_shape *shape,
                     const cutis_cage *cage, cage_poses *out)
{
    const uint32_t n = cage->control_count;
    float *to;
    bool good = shape->vertex_count >= n;
    for (uint32_t v = n; v < shape->vertex_count && good; v++) {
        good = false;
        for (uint32_t c = 0; c < n && !good; c++)
            good =
                memcmp(shape->positions + 3 * (size_t)v, shape->positions + 3 * (size_t)c, 12) == 0;
    }
    if (!good)
        return app_fail_text(app, "%s: %u vertices for a cage of %u controls", path,
                             shape->vertex_count, n);
    int status = add_poses(app, cage, 1, out, &to);
    if (status == EXIT_GOOD) memcpy(to, shape->positions, 12 * (size_t)n);
    return status;
}

// For every control the vertex that stands there at rest.
static int match_controls(cli_app *app, const char *path, const rest_shape *shape,
                          const cutis_cage *cage, uint32_t *vertex)
{
    cutis_surface controls = { .vertex_count = cage->control_count,
                               .positions = &cage->controls->x };
    const double close = SAME_PLACE * cutis_surface_diagonal(&controls);
    for (uint32_t c = 0; c < cage->control_count; c++) {
        double best = INFINITY;
        for (uint32_t v = 0; v < shape->vertex_count; v++) {
            double square = 0;
            for (int k = 0; k < 3; k++) {
                double d = (double)shape->positions[3 * (size_t)v + k] - (&cage->controls[c].x)[k];
                square += d * d;
            }
            if (square < best) best = square, vertex[c] = v;
        }
        if (!(sqrt(best) <= close))
            return app_fail_text(app, "%s: no vertex stands at control %u of the cage at rest",
                                 path, c);
    }
    return EXIT_GOOD;
}

static int read_clip(cli_app *app, const char *path, const cutis_model *model,
                     const rest_shape *shape, const cutis_cage *cage, double fps, cage_poses *out)
{
    const uint32_t frames = clip_frame_count(model, 0, fps), n = cage->control_count;
    OWN_MEMORY uint32_t *vertex = calloc(n, sizeof *vertex);
    OWN(cutis_device) *device = NULL;
    ENDS_BY(play_close) play p = { 0 };
    float *to = NULL;
    if (!vertex) return app_fail_text(app, "%s: not enough memory", path);
    TRY(match_controls(app, path, shape, cage, vertex));
    TRY(add_poses(app, cage, frames, out, &to));
    const cutis_device_options one = { .thread_count = 1 };
    TRY(app_result(app, path, cutis_device_create(app->context, &one, &device)));
    TRY(play_open(app, path, model, device, &(play_options){ .clip = 0, .batch = 1 }, &p));
    for (uint32_t f = 0; f < frames; f++) {
        TRY(app_result(app, path, play_frames(&p, f, 1, fps)));
        for (uint32_t c = 0; c < n; c++)
            memcpy(to + 3 * ((size_t)f * n + c), p.positions + 3 * (size_t)vertex[c], 12);
    }
    return EXIT_GOOD;
}

static int read_model(cli_app *app, const char *path, const cutis_cage *cage, double fps,
                      cage_poses *out)
{
    OWN(cutis_model) *model = NULL;
    ENDS_BY(rest_shape_release) rest_shape shape = { 0 };
    TRY(app_read_model(app, path, &model));
    TRY(rest_shape_make(app, path, model, &shape));
    return cutis_model_get(model)->clip_count ? read_clip(app, path, model, &shape, cage, fps, out)
                                              : read_mesh(app, path, &shape, cage, out);
}

int cage_poses_read(cli_app *app, const char *list, const cutis_cage *cage, double fps,
                    cage_poses *out)
{
    *out = (cage_poses){ 0 };
    int status = EXIT_GOOD;
    const char *left = list, *at;
    size_t length;
    while (status == EXIT_GOOD && (at = next_entry(&left, ",", &length))) {
        char path[4096];
        if (length == 0 || length >= sizeof path) {
            status = app_usage(app, "\"%s\": want files separated by commas", list);
            break;
        }
        memcpy(path, at, length);
        path[length] = 0;
        status = has_extension(path, ".npy .pc2") ? read_array(app, path, cage, out)
                                                  : read_model(app, path, cage, fps, out);
    }
    for (size_t i = 0; status == EXIT_GOOD && i < 3 * (size_t)out->count * cage->control_count; i++)
        if (!isfinite(out->values[i]))
            status = app_fail_text(app, "%s: pose %zu of the cage is not finite", list,
                                   i / (3 * (size_t)cage->control_count));
    if (status == EXIT_GOOD && out->count == 0) status = app_usage(app, "no cage poses are named");
    if (status != EXIT_GOOD) cage_poses_release(out);
    return status;
}

void cage_poses_release(cage_poses *poses)
{
    free(poses->values);
    *poses = (cage_poses){ 0 };
}
