/// Frames for bake from files: an array, a folder of meshes, or a model whose clip moves it. What
/// they move is --rest, --rig, or the first of them; its vertices are found in the frames as fit
/// finds them in sculpts.
#include "bake.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "play.h"
#include "rest_shape.h"

/// Frames as the files have them.
typedef struct raw_frames {
    uint32_t count, vertex_count;
    float *positions;
    FILE *file; ///< in place of positions, where they are too many: float32, from byte `at` on
    int64_t at;
    cutis_model *first; ///< the mesh of the first one, or NULL: an array
} raw_frames;

static void raw_release(raw_frames *raw)
{
    free(raw->positions);
    if (raw->file) fclose(raw->file);
    cutis_model_destroy(raw->first);
}

/// Frames that stay in their file: read one by one, in the order of the model's vertices.
struct bake_stream {
    FILE *file;
    int64_t at;
    uint32_t raw_count, count; ///< vertices of the file, of the model
    uint32_t *map;
    float *raw;   ///< one frame of the file
    float *frame; ///< one frame of the model, for bake_target
};

void bake_stream_close(bake_stream *stream)
{
    if (!stream) return;
    if (stream->file) fclose(stream->file);
    free(stream->map);
    free(stream->raw);
    free(stream->frame);
    free(stream);
}

static cutis_result stream_read(void *user, uint32_t first, uint32_t count, float *positions)
{
    const bake_stream *s = user;
    const size_t size = 3 * (size_t)s->raw_count;
    for (uint32_t f = 0; f < count; f++) {
        const int64_t at = s->at + (int64_t)(sizeof(float) * size) * (first + f);
        if (fseeko(s->file, (off_t)at, SEEK_SET) != 0 ||
            fread(s->raw, sizeof(float), size, s->file) != size)
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
    // The file was read to its end before: one that is cut off since gives the frame before.
    (void)stream_read(job->stream, frame, 1, job->stream->frame);
    return job->stream->frame;
}

// A .npy as NumPy writes float32 [frames, vertices, 3], or a .pc2: @return where the numbers begin,
// or 0 for any other, which is read whole.
static int64_t find_frames(const unsigned char *head, size_t size, raw_frames *raw)
{
    if (size >= 32 && memcmp(head, "POINTCACHE2", 12) == 0) {
        uint32_t word[8];
        memcpy(word, head, sizeof word);
        if (word[3] != 1) return 0;
        raw->vertex_count = word[4], raw->count = word[7];
        return raw->count <= BAKE_FRAMES_MOST ? 32 : 0;
    }
    if (size < 128 || memcmp(head, "\x93NUMPY\x01", 7) != 0) return 0;
    const size_t length = head[8] + 256 * (size_t)head[9];
    char text[513];
    if (length + 10 > size || length >= sizeof text) return 0;
    memcpy(text, head + 10, length);
    text[length] = 0;
    const char *shape = strstr(text, "'shape': (");
    unsigned long long frames, vertices;
    int used = 0;
    if (!shape || !strstr(text, "'descr': '<f4'") || !strstr(text, "'fortran_order': False") ||
        sscanf(shape, "'shape': (%llu, %llu, 3)%n", &frames, &vertices, &used) != 2 || !used ||
        frames > BAKE_FRAMES_MOST || vertices < 1 || vertices > UINT32_MAX)
        return 0;
    raw->count = (uint32_t)frames, raw->vertex_count = (uint32_t)vertices;
    return (int64_t)(10 + length);
}

// Open an array that is larger than what may be in memory. @return false: it is none, or another
static bool open_large(const bake_job *job, raw_frames *raw)
{
    unsigned char head[512];
    const uint16_t one = 1;
    struct stat info;
    unsigned char low;
    memcpy(&low, &one, 1);
    if (low != 1 || stat(job->path, &info) != 0 || (uint64_t)info.st_size <= job->frames.budget)
        return false;
    raw->file = fopen(job->path, "rb");
    if (!raw->file) return false;
    const size_t size = fread(head, 1, sizeof head, raw->file);
    raw->at = find_frames(head, size, raw);
    const double end =
        (double)raw->at + 3.0 * sizeof(float) * raw->count * (double)raw->vertex_count;
    if (raw->at > 0 && end <= (double)info.st_size) return true;
    fclose(raw->file);
    raw->file = NULL, raw->count = raw->vertex_count = 0;
    return false;
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

static int read_folder(cli_app *app, const char *path, raw_frames *raw)
{
    struct dirent **names = NULL;
    const int count = scandir(path, &names, is_mesh, alphasort);
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
    data.pose_space = NULL, data.handles = NULL, data.cage = NULL;
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
    if (raw->file) {
        bake_stream *s = job->stream = calloc(1, sizeof *s);
        if (!s) return bake_no_memory(app, job);
        *s = (bake_stream){ .file = raw->file, .at = raw->at, .map = map };
        s->raw_count = raw->vertex_count, s->count = (uint32_t)vertices;
        raw->file = NULL, map = NULL;
        s->raw = malloc(3 * (size_t)s->raw_count * sizeof *s->raw);
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
    if (has_extension(job->path, ".npy .pc2"))
        return open_large(job, raw) ? EXIT_GOOD : read_array(app, job->path, raw);
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
