/// Reading of fit_shapes.h. Sculpts may have fewer vertices than the model, which has seams, or
/// another order: where one of the poses is the rest pose, its shape tells which is which.
#include "fit_shapes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rest_shape.h"

/// Shapes as the files have them.
typedef struct raw_shapes {
    uint32_t count, vertex_count;
    float *positions; ///< count * vertex_count * 3; NULL: in `large`
    frame_file large;
    const char *file; ///< the last one read
} raw_shapes;

static int no_memory(cli_app *app)
{
    return app_fail_text(app, "fit: not enough memory");
}

static int add_shape(cli_app *app, const char *path, uint32_t pose_count, raw_shapes *raw)
{
    OWN(cutis_model) *shape = NULL;
    if (raw->count == pose_count)
        return app_fail_text(app, "%s: more shapes than the clip has poses (%u)", path, pose_count);
    TRY(app_read_model(app, path, &shape));
    uint32_t vertices = cutis_model_vertex_count(shape);
    if (raw->count == 0) {
        raw->vertex_count = vertices;
        raw->positions = calloc((size_t)pose_count * vertices + 1, 3 * sizeof *raw->positions);
    }
    if (!raw->positions) return no_memory(app);
    if (vertices != raw->vertex_count)
        return app_fail_text(app, "%s: pose %u: %u vertices, the shape before it has %u", path,
                             raw->count, vertices, raw->vertex_count);
    cutis_model_file_positions(shape,
                               raw->positions + 3 * (size_t)raw->count++ * raw->vertex_count);
    raw->file = path;
    return EXIT_GOOD;
}

static int wrong_counts(cli_app *app, const char *path, uint64_t shapes, uint64_t shape_vertices,
                        uint32_t poses, uint32_t vertices)
{
    return app_fail_text(
        app, "%s: %ju shapes of %ju vertices; the clip has %u poses, the model %u vertices", path,
        (uintmax_t)shapes, (uintmax_t)shape_vertices, poses, vertices);
}

// An array that stays where it is.
static int take_large(cli_app *app, const char *path, uint32_t pose_count, uint32_t vertices,
                      raw_shapes *raw)
{
    raw->count = raw->large.count, raw->vertex_count = raw->large.vertex_count, raw->file = path;
    return raw->count == pose_count
               ? EXIT_GOOD
               : wrong_counts(app, path, raw->count, raw->vertex_count, pose_count, vertices);
}

static int read_array(cli_app *app, const char *path, uint32_t pose_count, uint32_t vertices,
                      raw_shapes *raw)
{
    cutis_array array = { 0 };
    TRY(app_result(app, path, cutis_array_read(app->context, path, &array)));
    int status = EXIT_GOOD;
    if (array.dimension_count != 3 || array.dimensions[0] != pose_count ||
        array.dimensions[1] < 1 || array.dimensions[1] > UINT32_MAX || array.dimensions[2] != 3) {
        status =
            wrong_counts(app, path, array.dimension_count ? array.dimensions[0] : 0,
                         array.dimension_count > 1 ? array.dimensions[1] : 0, pose_count, vertices);
    } else {
        raw->count = pose_count;
        raw->vertex_count = (uint32_t)array.dimensions[1];
        raw->file = path;
        size_t size = 3 * (size_t)raw->count * raw->vertex_count * sizeof *raw->positions;
        raw->positions = malloc(size);
        if (raw->positions)
            memcpy(raw->positions, array.values, size);
        else
            status = no_memory(app);
    }
    cutis_array_destroy(app->context, &array);
    return status;
}

// A word may hold several names, separated by commas.
static int read_word(cli_app *app, char *word, uint32_t pose_count, raw_shapes *raw)
{
    for (char *entry = word; *entry;) {
        size_t span = strcspn(entry, ",");
        char *next = entry + span + (entry[span] == ',');
        if (span == 0) return app_usage(app, "--shapes: an empty name");
        entry[span] = 0;
        TRY(add_shape(app, entry, pose_count, raw));
        entry = next;
    }
    return EXIT_GOOD;
}

static bool is_rest(const cutis_transform *a, const cutis_transform *b, uint32_t nodes)
{
    for (uint32_t n = 0; n < nodes; n++) {
        const float *p = &a[n].translation.x, *q = &b[n].translation.x;
        for (int i = 0; i < 10; i++)
            if (fabsf(p[i] - q[i]) > 1e-6f * (1 + fabsf(q[i]))) return false;
    }
    return true;
}

/// The shape of the rest pose, or NULL: no pose is it. @param shape room for one
static const float *rest_of(const cutis_model *model, const cutis_transform *poses,
                            const raw_shapes *raw, float *shape)
{
    const uint32_t nodes = cutis_model_get(model)->node_count;
    const float *found = NULL;
    cutis_transform *rest = calloc(nodes + (size_t)1, sizeof *rest);
    if (rest) cutis_pose_rest(model, rest, NULL);
    for (uint32_t k = 0; k < raw->count && rest && !found; k++)
        if (is_rest(poses + (size_t)k * nodes, rest, nodes)) {
            if (raw->positions)
                found = raw->positions + 3 * (size_t)k * raw->vertex_count;
            else if (frame_file_read(&raw->large, k, 0, raw->vertex_count, shape))
                found = shape;
        }
    free(rest);
    return found;
}

static int match(cli_app *app, const char *path, const cutis_model *model,
                 const cutis_transform *poses, raw_shapes *raw, fit_shapes *out)
{
    const size_t vertices = cutis_model_vertex_count(model);
    ENDS_BY(rest_shape_release) rest_shape rest = { 0 };
    TRY(rest_shape_make(app, path, model, &rest));
    out->vertex_count = (uint32_t)vertices;
    out->map = malloc((vertices + 1) * sizeof *out->map);
    out->raw = malloc((raw->vertex_count + (size_t)1) * 3 * sizeof *out->raw);
    if (!out->map || !out->raw) return no_memory(app);
    TRY(app_result(app, raw->file,
                   cutis_poses_match(app->context, (uint32_t)vertices, rest.positions,
                                     raw->vertex_count, rest_of(model, poses, raw, out->raw),
                                     out->map)));
    const size_t kept = raw->positions ? raw->count * vertices : vertices;
    float *room = malloc((kept + 1) * 3 * sizeof *room);
    if (!room) return no_memory(app);
    if (!raw->positions) {
        out->shape = room, out->file = raw->large;
        raw->large = (frame_file){ 0 };
        return EXIT_GOOD;
    }
    out->positions = room;
    for (size_t i = 0; i < kept; i++)
        memcpy(room + 3 * i,
               raw->positions + 3 * (i / vertices * raw->vertex_count + out->map[i % vertices]),
               3 * sizeof *room);
    return EXIT_GOOD;
}

cutis_result fit_shapes_some(void *user, uint32_t pose, uint32_t first, uint32_t count,
                             float *positions)
{
    const fit_shapes *s = user;
    const uint32_t *map = s->map + first;
    uint32_t low = map[0], high = map[0];
    for (uint32_t i = 1; i < count; i++) {
        if (map[i] < low) low = map[i];
        if (map[i] > high) high = map[i];
    }
    if (!frame_file_read(&s->file, pose, low, high - low + 1, s->raw)) return CUTIS_FILE_READ;
    for (uint32_t i = 0; i < count; i++)
        memcpy(positions + 3 * (size_t)i, s->raw + 3 * (size_t)(map[i] - low),
               3 * sizeof *positions);
    return CUTIS_OK;
}

const float *fit_shapes_get(const fit_shapes *s, uint32_t pose)
{
    if (s->positions) return s->positions + 3 * (size_t)pose * s->vertex_count;
    const bool there = fit_shapes_some((void *)s, pose, 0, s->vertex_count, s->shape) == CUTIS_OK;
    return there ? s->shape : NULL;
}

void fit_shapes_release(fit_shapes *s)
{
    frame_file_close(&s->file);
    free(s->positions), free(s->map), free(s->raw), free(s->shape);
    *s = (fit_shapes){ 0 };
}

int fit_shapes_read(cli_app *app, const char *path, const cutis_model *model, uint32_t pose_count,
                    const cutis_transform *poses, bool stay, fit_shapes *out)
{
    const option_value *value = &app->values[OPTION_SHAPES];
    const char *text = value->text;
    raw_shapes raw = { 0 };
    int status = EXIT_GOOD;
    if (value->word_count <= 1 && has_extension(text, ".npy .pc2") && !strchr(text, ',')) {
        const double budget = 1e9 * option_number(app, OPTION_MEMORY, 2);
        if (stay && frame_file_open(text, (uint64_t)budget, UINT32_MAX, &raw.large))
            status = take_large(app, text, pose_count, cutis_model_vertex_count(model), &raw);
        else
            status = read_array(app, text, pose_count, cutis_model_vertex_count(model), &raw);
    } else {
        for (int i = 0; i < (value->words ? value->word_count : 1) && status == EXIT_GOOD; i++) {
            char *word = strdup(value->words ? value->words[i] : text);
            status = word ? read_word(app, word, pose_count, &raw) : no_memory(app);
            raw.file = text;
            free(word);
        }
        if (status == EXIT_GOOD && raw.count != pose_count)
            status = app_fail_text(app, "%s: %u shape%s, the clip of --poses has %u pose%s", path,
                                   raw.count, raw.count == 1 ? "" : "s", pose_count,
                                   pose_count == 1 ? "" : "s");
    }
    if (status == EXIT_GOOD) status = match(app, path, model, poses, &raw, out);
    free(raw.positions);
    frame_file_close(&raw.large);
    return status;
}
