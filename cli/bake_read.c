/// Frames for bake from files: an array, a folder of meshes, or a model whose clip moves it. What
/// they move is --rest, --rig, or the first of them; its vertices are found in the frames as fit
/// finds them in sculpts.
#include "bake.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "frame_file.h"
#include "play.h"
#include "rest_shape.h"

/// Frames as the files have them.
typedef struct raw_frames {
    uint32_t count, vertex_count;
    float *positions;
    frame_file large;   ///< in place of positions, where they are too many
    cutis_model *first; ///< the mesh of the first one, or NULL: an array
} raw_frames;

static void raw_release(raw_frames *raw)
{
    free(raw->positions);
    frame_file_close(&raw->large);
    cutis_model_destroy(raw->first);
}

/// Frames that stay in their file: read one by one, in the order of the model's vertices.
struct bake_stream {
    frame_file file;
    uint32_t count; ///< vertices of the model
    uint32_t *map;
    float *raw;    ///< one frame of the file
    float *frame;  ///< one frame of the model, for bake_target
    uint32_t held; ///< which it is, 1 the first; 0: none
    bool failed;   ///< a frame could not be read
};

void bake_stream_close(bake_stream *stream)
{
    if (!stream) return;
    frame_file_close(&stream->file);
    free(stream->map);
    free(stream->raw);
    free(stream->frame);
    free(stream);
}

static cutis_result stream_read(void *user, uint32_t first, uint32_t count, float *positions)
{
    const bake_stream *s = user;
    for (uint32_t f = 0; f < count; f++) {
        if (!frame_file_read(&s->file, first + f, 0, s->file.vertex_count, s->raw))
            return CUTIS_FILE_READ;
        for (size_t v = 0; v < s->count; v++, positions += 3)
            memcpy(positions, s->raw + 3 * (size_t)s->map[v], 3 * sizeof *positions);
    }
    return CUTIS_OK;
}

const float *bake_target(const bake_job *job, uint32_t frame)
{
    if (job->frames.positions)
        return job->frames.positions + 3 * (size_t)frame * cutis_model_vertex_count(job->model);
    bake_stream *s = job->stream;
    if (s->held != frame + 1) s->failed |= stream_read(s, frame, 1, s->frame) != CUTIS_OK;
    s->held = frame + 1;
    return s->frame;
}

int bake_check_targets(cli_app *app, const bake_job *job)
{
    const bool failed = job->stream && job->stream->failed;
    return failed ? app_fail_text(app, "%s: it cannot be read any more", job->path) : EXIT_GOOD;
}

static int read_array(cli_app *app, const char *path, raw_frames *raw)
{
    cutis_array array = { 0 };
    TRY(app_result(app, path, cutis_array_read(app->context, path, &array)));
    int status = EXIT_GOOD;
    if (array.dimension_count != 3 || array.dimensions[2] != 3 || array.dimensions[1] < 1 ||
        array.dimensions[1] > UINT32_MAX || array.dimensions[0] > BAKE_FRAMES_MOST) {
        status = app_fail_text(app, "%s: want an array [frames, vertices, 3]", path);
    } else {
        raw->count = (uint32_t)array.dimensions[0];
        raw->vertex_count = (uint32_t)array.dimensions[1];
        const size_t size = 3 * (size_t)raw->count * raw->vertex_count * sizeof *raw->positions;
        raw->positions = malloc(size + 1);
        if (raw->positions)
            memcpy(raw->positions, array.values, size);
        else
            status = app_fail_text(app, "%s: not enough memory", path);
    }
    cutis_array_destroy(app->context, &array);
    return status;
}

static int is_mesh(const struct dirent *entry)
{
    return entry->d_name[0] != '.' &&
           has_extension(entry->d_name, ".obj .ply .off .stl .glb .gltf");
}

static int add_mesh(cli_app *app, const char *path, uint32_t total, raw_frames *raw)
{
    OWN(cutis_model) *shape = NULL;
    TRY(app_read_model(app, path, &shape));
    const uint32_t vertices = cutis_model_vertex_count(shape);
    if (raw->count == 0) {
        raw->vertex_count = vertices;
        raw->positions = malloc(((size_t)total * vertices + 1) * 3 * sizeof *raw->positions);
        if (!raw->positions) return app_fail_text(app, "%s: not enough memory", path);
    }
    if (vertices != raw->vertex_count)
        return app_fail_text(app, "%s: %u vertices, the frame before it has %u", path, vertices,
                             raw->vertex_count);
    ENDS_BY(rest_shape_release) rest_shape rest = { 0 };
    TRY(rest_shape_make(app, path, shape, &rest));
    memcpy(raw->positions + 3 * (size_t)raw->count++ * vertices, rest.positions,
           3 * (size_t)vertices * sizeof *raw->positions);
    if (!raw->first) raw->first = shape, shape = NULL;
    return EXIT_GOOD;
}

// Runs of digits count as numbers: exporters write frame_2 and frame_10, and by letters alone the
// motion would jump. Names that are alike then (01 and 1) are told apart by letters.
static int by_number(const struct dirent **a, const struct dirent **b)
{
    static const char DIGITS[] = "0123456789";
    const char *p = (*a)->d_name, *q = (*b)->d_name;
    while (*p && *q) {
        if (!strchr(DIGITS, *p) || !strchr(DIGITS, *q)) {
            if (*p != *q) break;
            p++, q++;
            continue;
        }
        p += strspn(p, "0"), q += strspn(q, "0");
        const size_t m = strspn(p, DIGITS), n = strspn(q, DIGITS);
        const int order = m != n ? (m < n ? -1 : 1) : strncmp(p, q, m);
        if (order) return order;
        p += m, q += n;
    }
    if (*p != *q) return (unsigned char)*p < (unsigned char)*q ? -1 : 1;
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int read_folder(cli_app *app, const char *path, raw_frames *raw)
{
    struct dirent **names = NULL;
    const int count = scandir(path, &names, is_mesh, by_number);
    int status =
        count > BAKE_FRAMES_MOST ? app_fail_text(app, "%s: too many files", path) : EXIT_GOOD;
    if (count <= 0) status = app_fail_text(app, "%s: there are no meshes in it", path);
    for (int i = 0; i < count; i++) {
        char file[4096];
        const int length = snprintf(file, sizeof file, "%s/%s", path, names[i]->d_name);
        if (status == EXIT_GOOD && (length < 0 || (size_t)length >= sizeof file))
            status = app_fail_text(app, "%s: a name in it is too long", path);
        if (status == EXIT_GOOD) status = add_mesh(app, file, (uint32_t)count, raw);
        if (status == EXIT_GOOD && !app_progress(app, "reading", (double)i / count))
            status = app_stopped(app);
        free(names[i]);
    }
    free(names);
    return status;
}

// A model that a clip moves: morph targets, nodes.
static int read_moving(cli_app *app, const bake_job *job, raw_frames *raw)
{
    TRY(app_read_model(app, job->path, &raw->first));
    const cutis_model_data *data = cutis_model_get(raw->first);
    if (data->clip_count == 0)
        return app_fail_text(app, "%s: it has no clip, so it does not move", job->path);
    if (data->skin_count)
        return app_fail_text(app, "%s: it has a skin: --method bakes it, and --rig keeps it",
                             job->path);
    ENDS_BY(play_close) play p = { 0 };
    TRY(play_open(app, job->path, raw->first, job->device, &(play_options){ .clip = 0, .batch = 1 },
                  &p));
    raw->count = clip_frame_count(raw->first, 0, job->fps), raw->vertex_count = p.vertex_count;
    if (raw->count > BAKE_FRAMES_MOST) return app_fail_text(app, "%s: too many frames", job->path);
    const size_t plane = 3 * (size_t)p.vertex_count;
    raw->positions = malloc((raw->count * plane + 1) * sizeof *raw->positions);
    if (!raw->positions) return bake_no_memory(app, job);
    for (uint32_t f = 0; f < raw->count; f++) {
        TRY(app_result(app, job->path, play_frames(&p, f, 1, job->fps)));
        memcpy(raw->positions + f * plane, p.positions, plane * sizeof *p.positions);
    }
    return EXIT_GOOD;
}

// The bare body of a model: what moves it goes.
static int strip(cli_app *app, const char *path, const cutis_model *model, cutis_model **out)
{
    cutis_model_data data = *cutis_model_get(model);
    ENDS_BY(memory_release) memory_list memory = { 0 };
    cutis_node *nodes = memory_take(&memory, data.node_count, sizeof *nodes);
    cutis_mesh *meshes = memory_take(&memory, data.mesh_count, sizeof *meshes);
    size_t total = 0, at = 0;
    for (uint32_t m = 0; m < data.mesh_count; m++) total += data.meshes[m].primitive_count;
    cutis_primitive *primitives = memory_take(&memory, total, sizeof *primitives);
    if (memory.failed) return app_fail_text(app, "%s: not enough memory", path);
    for (uint32_t n = 0; n < data.node_count; n++) {
        nodes[n] = data.nodes[n];
        nodes[n].target_weights = NULL;
    }
    for (uint32_t m = 0; m < data.mesh_count; m++) {
        meshes[m] = data.meshes[m];
        meshes[m].primitives = primitives + at;
        meshes[m].target_count = 0, meshes[m].target_names = NULL, meshes[m].target_weights = NULL;
        meshes[m].part_tree = NULL;
        for (uint32_t k = 0; k < meshes[m].primitive_count; k++, at++) {
            primitives[at] = data.meshes[m].primitives[k];
            primitives[at].targets = NULL;
            primitives[at].influences = (cutis_influences){ 0 };
        }
    }
    data.nodes = nodes, data.meshes = meshes;
    data.clip_count = 0;
    data.pose_space = NULL, data.drivers = NULL, data.handles = NULL, data.cage = NULL;
    return app_result(app, path, cutis_model_create(app->context, &data, CUTIS_GATE_REFUSE, out));
}

// Frames in the order of the model's vertices.
static int match(cli_app *app, bake_job *job, const char *path, raw_frames *raw)
{
    const size_t vertices = cutis_model_vertex_count(job->model);
    ENDS_BY(rest_shape_release) rest_shape rest = { 0 };
    TRY(rest_shape_make(app, path, job->model, &rest));
    OWN_MEMORY uint32_t *map = malloc((vertices + 1) * sizeof *map);
    if (!map) return bake_no_memory(app, job);
    if (raw->vertex_count != vertices && raw->vertex_count > vertices)
        return app_fail_text(app, "%s: frames have %u vertices, %s has %zu", job->path,
                             raw->vertex_count, path, vertices);
    TRY(app_result(app, job->path,
                   cutis_poses_match(app->context, (uint32_t)vertices, rest.positions,
                                     raw->vertex_count, NULL, map)));
    if (raw->large.file) {
        bake_stream *s = job->stream = calloc(1, sizeof *s);
        if (!s) return bake_no_memory(app, job);
        *s = (bake_stream){ .file = raw->large, .count = (uint32_t)vertices, .map = map };
        raw->large = (frame_file){ 0 }, map = NULL;
        s->raw = malloc(3 * (size_t)s->file.vertex_count * sizeof *s->raw);
        s->frame = calloc(3 * vertices + 1, sizeof *s->frame);
        return s->raw && s->frame ? EXIT_GOOD : bake_no_memory(app, job);
    }
    job->positions = malloc((raw->count * vertices + 1) * 3 * sizeof *job->positions);
    if (!job->positions) return bake_no_memory(app, job);
    for (size_t i = 0; i < raw->count * vertices; i++)
        memcpy(job->positions + 3 * i,
               raw->positions + 3 * (i / vertices * raw->vertex_count + map[i % vertices]),
               3 * sizeof *job->positions);
    return EXIT_GOOD;
}

// The rig's own motion beside the frames: its clip, which has as many.
static int pose_rig(cli_app *app, bake_job *job, const char *path, uint32_t count)
{
    int32_t clip = CUTIS_NONE;
    const cutis_model_data *data = cutis_model_get(job->model);
    if (option_given(app, OPTION_CLIP))
        TRY(clip_find(app, path, &job->model, &clip));
    else if (data->clip_count)
        clip = 0;
    if (clip == CUTIS_NONE) return EXIT_GOOD;
    data = cutis_model_get(job->model);
    const uint32_t frames = clip_frame_count(job->model, clip, job->fps);
    if (frames != count)
        return app_fail_text(app, "%s: clip %s has %u frames at --fps %g, %s has %u", path,
                             data->clips[clip].name ? data->clips[clip].name : "0", frames,
                             job->fps, job->path, count);
    OWN(cutis_sampler) *sampler = NULL;
    job->poses = calloc((size_t)count * data->node_count + 1, sizeof *job->poses);
    job->clips = calloc(count + (size_t)1, sizeof *job->clips);
    if (!job->poses || !job->clips) return bake_no_memory(app, job);
    TRY(app_result(app, path, cutis_sampler_create(job->model, (uint32_t)clip, &sampler)));
    for (uint32_t f = 0; f < count; f++) {
        cutis_sampler_sample(sampler, (float)(f / job->fps),
                             job->poses + (size_t)f * data->node_count, NULL);
        job->clips[f] = clip;
    }
    job->rows[0].name = data->clips[clip].name;
    return EXIT_GOOD;
}

static int read_frames(cli_app *app, const bake_job *job, raw_frames *raw)
{
    struct stat info;
    if (has_extension(job->path, ".npy .pc2")) {
        if (!frame_file_open(job->path, job->frames.budget, BAKE_FRAMES_MOST, &raw->large))
            return read_array(app, job->path, raw);
        raw->count = raw->large.count, raw->vertex_count = raw->large.vertex_count;
        return EXIT_GOOD;
    }
    if (stat(job->path, &info) == 0 && S_ISDIR(info.st_mode))
        return read_folder(app, job->path, raw);
    return read_moving(app, job, raw);
}

int bake_read(cli_app *app, bake_job *job)
{
    ENDS_BY(raw_release) raw_frames raw = { 0 };
    OWN(cutis_model) *rest = NULL;
    const char *rig = option_text(app, OPTION_RIG), *body = option_text(app, OPTION_BAKE_REST);
    const char *path = rig ? rig : body ? body : job->path;
    TRY(read_frames(app, job, &raw));
    if (rig) {
        TRY(app_read_model(app, rig, &job->model));
    } else {
        if (body) TRY(app_read_model(app, body, &rest));
        if (!rest && !raw.first)
            return app_usage(app, "an array has no triangles: --rest MESH says what it moves");
        const cutis_model *still = rest ? rest : raw.first;
        if (cutis_model_get(still)->skin_count)
            return app_fail_text(app, "%s: it has a skin: --rig keeps it", path);
        TRY(strip(app, path, still, &job->model));
    }
    TRY(match(app, job, path, &raw));
    job->rows = calloc(1, sizeof *job->rows);
    job->times = calloc(raw.count + (size_t)1, sizeof *job->times);
    if (!job->rows || !job->times) return bake_no_memory(app, job);
    job->rows[0] = (bake_clip){ .name = "baked", .count = raw.count };
    job->clip_count = 1;
    for (uint32_t f = 0; f < raw.count; f++) job->times[f] = (float)(f / job->fps);
    if (rig) TRY(pose_rig(app, job, rig, raw.count));
    job->frames = (cutis_bake_frames){ .count = raw.count,
                                       .poses = job->poses,
                                       .positions = job->positions,
                                       .clips = job->clips,
                                       .times = job->times,
                                       .read = job->stream ? stream_read : NULL,
                                       .user = job->stream,
                                       .budget = job->frames.budget };
    return EXIT_GOOD;
}
