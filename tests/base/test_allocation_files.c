/// Every allocation of the libraries `cutis-io`, `cutis-skeleton` and `cutis-render` may fail
/// (base/allocation.h): readers and writers of every format, skeletons, retargeting, pictures and
/// plots. jansson's allocations are counted and fail like our own; those of qhull, libpng, cairo
/// and the graphics driver are theirs.
#include "base/allocation.h"

#include "../fuzz/run.h"
#include "deform/patches_case.h"
#include "io/gltf/draco.h"

#include <assert.h>
#include <cutis/render.h>
#include <cutis/retarget.h>
#include <cutis/rig.h>
#include <cutis/skeleton.h>
#include <jansson.h>
#include <unistd.h>

#define SEED(name) CUTIS_SOURCE_DIR "/fuzz/seeds/" name

#define LENGTHENED 5.0f
enum { AROUND = 6, RINGS = 4, VERTICES = (RINGS + 1) * AROUND + 2 };

static struct {
    cutis_context *context;
    cutis_model *limb, *character, *walk, *arm, *bare;
    cutis_renderer *renderer; ///< NULL without EGL
    cutis_device *device;
    uint32_t triangles[3 * 2 * AROUND * (RINGS + 1)];
    cutis_surface surface;
    cutis_model *person, *moved, *rigged;
    cutis_retarget_report how;
    cutis_rig_report *found;
    char folder[32], path[64];
    char *glb;
    size_t glb_size;
    char meshopt[64], draco[64]; ///< compressed files
} w;

/// The lexer of jansson 2.14 goes on when the buffer of a token (a power of two) cannot grow, loses
/// bytes and may then read past its end. Nothing outside it can help, so that buffer always grows.
static void *json_allocate(size_t size)
{
    bool buffer = atomic_load(&faults.lexes) && (size & (size - 1)) == 0;
    if (!buffer && fault_here()) return NULL;
    atomic_fetch_add(&faults.live, 1);
    return malloc(size ? size : 1);
}

static void json_release(void *memory)
{
    if (memory) atomic_fetch_sub(&faults.live, 1);
    free(memory);
}

static cutis_model *read_seed(const char *path)
{
    cutis_model *out = NULL;
    assert_ok(w.context, cutis_model_read(w.context, path, KEEP_SOURCE, &out));
    return out;
}

/// The arm drawn out, as thin as a straw: the cells that a plan is found in are counted along the
/// longest side, and few of them make a quick scenario.
static cutis_model *drawn_out(cutis_context *context)
{
    cutis_model *arm = NULL, *out = NULL;
    const cutis_synth_options options = { .body = CUTIS_BODY_ARM, .vertex_count = 1000 };
    assert_ok(context, cutis_synth_create(context, &options, &arm));
    cutis_model_data data = *cutis_model_get(arm);
    cutis_mesh mesh = data.meshes[0];
    cutis_primitive primitive = mesh.primitives[0];
    const size_t size = 3 * sizeof(float) * primitive.vertex_count;
    float *positions = malloc(size);
    assert_non_null(positions);
    memcpy(positions, primitive.positions, size);
    for (uint32_t i = 0; i < 3 * primitive.vertex_count; i += 3) positions[i] *= LENGTHENED;
    primitive.positions = positions;
    mesh.primitives = &primitive;
    data.meshes = &mesh;
    assert_ok(context, cutis_model_create(context, &data, CUTIS_GATE_REFUSE, &out));
    free(positions);
    cutis_model_destroy(arm);
    return out;
}

static int set_up(void **state)
{
    (void)state;
    setenv("LIBGL_ALWAYS_SOFTWARE", "1", 1);
    json_set_alloc_funcs(json_allocate, json_release);
    strcpy(w.folder, "/tmp/cutis-memory-XXXXXX");
    assert_non_null(mkdtemp(w.folder));
    w.context = fault_context();
    w.limb =
        limb_create(w.context, &(limb_options){ .length = 2, .around = AROUND, .rings = RINGS });
    w.character = read_seed(SEED("everything.glb"));
    w.walk = read_seed(SEED("walk.bvh"));
    w.arm = drawn_out(w.context);
    assert_ok(w.context, cutis_synth_create(w.context,
                                            &(cutis_synth_options){ .body = CUTIS_BODY_FAMILY,
                                                                    .kind = CUTIS_FAMILY_FISH,
                                                                    .vertex_count = 2000,
                                                                    .unrigged = true },
                                            &w.bare));
    assert_ok(w.context, cutis_synth_create(w.context,
                                            &(cutis_synth_options){ .body = CUTIS_BODY_BIPED,
                                                                    .vertex_count = 1500 },
                                            &w.person));
    assert_ok(w.context, cutis_retarget(w.person, w.person, NULL, &w.moved, &w.how));
    assert_ok(w.context, cutis_rig(w.bare, NULL, NULL, &w.rigged, &w.found));
    cutis_model_triangles(w.limb, w.triangles);
    w.surface =
        (cutis_surface){ VERTICES, 2 * AROUND * (RINGS + 1),
                         cutis_model_get(w.limb)->meshes[0].primitives[0].positions, w.triangles };
    if (cutis_renderer_create(w.context, &w.renderer) != CUTIS_OK) w.renderer = NULL;
    assert_ok(w.context, cutis_device_create(
                             w.context, &(cutis_device_options){ .thread_count = 1 }, &w.device));
    snprintf(w.meshopt, sizeof w.meshopt, "%s/meshopt.glb", w.folder);
    snprintf(w.draco, sizeof w.draco, "%s/draco.glb", w.folder);
    cutis_write_options compressed = { .compression = CUTIS_COMPRESSION_MESHOPT };
    assert_ok(w.context, cutis_model_write(w.limb, w.meshopt, &compressed));
    compressed.compression = CUTIS_COMPRESSION_DRACO;
    if (cutis_gltf_has_draco())
        assert_ok(w.context, cutis_model_write(w.limb, w.draco, &compressed));
    void *data;
    assert_ok(w.context, cutis_file_read(w.context, SEED("everything.glb"), &data, &w.glb_size));
    w.glb = malloc(w.glb_size);
    memcpy(w.glb, data, w.glb_size);
    cutis_memory_free(w.context, data, w.glb_size);
    return 0;
}

static int tear_down(void **state)
{
    char command[64];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", w.folder);
    assert_int_equal(system(command), 0);
    free(w.glb);
    cutis_device_destroy(w.device);
    cutis_renderer_destroy(w.renderer);
    cutis_model_destroy(w.limb);
    cutis_model_destroy(w.character);
    cutis_model_destroy(w.walk);
    cutis_model_destroy(w.arm);
    cutis_model_destroy(w.bare);
    cutis_model_destroy(w.person);
    cutis_model_destroy(w.moved);
    cutis_model_destroy(w.rigged);
    cutis_rig_report_destroy(w.found);
    bool clean = cutis_context_memory(w.context) == 0;
    cutis_context_destroy(w.context);
    return clean && atomic_load(&faults.live) == 0 ? 0 : -1;
}

static void fold_objects(uint64_t *digest)
{
    fold_model(digest, w.limb);
    fold_model(digest, w.character);
    fold_model(digest, w.walk);
}

#define MAKES(name, type, call, look, destroy)                                                     \
    static cutis_result name(uint64_t *digest)                                                     \
    {                                                                                              \
        type *out = NULL;                                                                          \
        cutis_result result = call;                                                                \
        assert_int_equal(result == CUTIS_OK, out != NULL);                                         \
        if (result == CUTIS_OK) look;                                                              \
        destroy(out);                                                                              \
        return result;                                                                             \
    }

// Models -----------------------------------------------------------------------------------------

#define READS(name, seed)                                                                          \
    MAKES(name, cutis_model, cutis_model_read(w.context, SEED(seed), NULL, &out),                  \
          fold_model(digest, out), cutis_model_destroy)
READS(read_glb, "everything.glb")
MAKES(read_meshopt, cutis_model, cutis_model_read(w.context, w.meshopt, KEEP_SOURCE, &out),
      fold_model(digest, out), cutis_model_destroy)
MAKES(read_draco, cutis_model, cutis_model_read(w.context, w.draco, KEEP_SOURCE, &out),
      fold_model(digest, out), cutis_model_destroy)
READS(read_gltf, "skinned.gltf")
READS(read_handled, "handled.glb")
READS(read_parted, "parted.glb")
READS(read_sparse, "sparse.gltf")
READS(read_generous, "generous.glb")
READS(read_obj, "box.obj")
READS(read_ply, "quad.ply")
READS(read_off, "colors.off")
READS(read_stl, "two.stl")
READS(read_bvh, "walk.bvh")
READS(read_skeleton, "two.xsf")
READS(read_mesh, "one.cmf")
MAKES(read_guessed, cutis_model,
      cutis_model_read(w.context, SEED("walk.bvh"),
                       &(cutis_read_options){ .up = CUTIS_UP_AUTO, .units = CUTIS_UNITS_AUTO },
                       &out),
      fold_model(digest, out), cutis_model_destroy)
MAKES(read_turned, cutis_model,
      cutis_model_read(w.context, SEED("one.cmf"),
                       &(cutis_read_options){ .up = CUTIS_UP_Z, .units = CUTIS_UNITS_CM }, &out),
      fold_model(digest, out), cutis_model_destroy)
MAKES(read_kept, cutis_model,
      cutis_model_read(w.context, SEED("everything.glb"), KEEP_SOURCE, &out),
      fold_model(digest, out), cutis_model_destroy)
MAKES(read_generous_kept, cutis_model,
      cutis_model_read(w.context, SEED("generous.glb"), KEEP_SOURCE, &out), fold_model(digest, out),
      cutis_model_destroy)
MAKES(read_repairing, cutis_model,
      cutis_model_read(w.context, SEED("everything.glb"),
                       &(cutis_read_options){ .gate = CUTIS_GATE_REPAIR, .strict = true }, &out),
      fold_model(digest, out), cutis_model_destroy)
MAKES(read_memory, cutis_model,
      cutis_model_read_memory(w.context, w.glb, w.glb_size, "a.glb", NULL, &out),
      fold_model(digest, out), cutis_model_destroy)
MAKES(read_clip, cutis_model, cutis_model_read_clip(w.walk, SEED("walk.bvh"), &out),
      fold_model(digest, out), cutis_model_destroy)

static void fold_issues(uint64_t *digest, const cutis_check_report *report)
{
    const cutis_issue *issues;
    uint32_t count = cutis_check_report_issues(report, &issues);
    for (uint32_t i = 0; i < count; i++) fold(digest, issues[i].text, strlen(issues[i].text));
}

MAKES(inspect, cutis_check_report, cutis_file_inspect(w.context, SEED("looks.gltf"), &out),
      fold_issues(digest, out), cutis_check_report_destroy)
MAKES(inspect_memory, cutis_check_report,
      cutis_file_inspect_memory(w.context, w.glb, w.glb_size - 4, "a.glb", &out),
      fold_issues(digest, out), cutis_check_report_destroy)

static void fold_file(uint64_t *digest, const char *path)
{
    char bytes[4096];
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    for (size_t size; (size = fread(bytes, 1, sizeof bytes, file)) > 0;) fold(digest, bytes, size);
    fclose(file);
}

/// What is written over an old file: a failure leaves the old one and nothing beside it.
static const char *target(const char *name)
{
    snprintf(w.path, sizeof w.path, "%s/%s", w.folder, name);
    FILE *file = fopen(w.path, "wb");
    assert_non_null(file);
    fputs("old", file);
    fclose(file);
    return w.path;
}

static void fold_written(uint64_t *digest, const char *path, cutis_result result)
{
    uint64_t old = 0, now = 0;
    fold(&old, "old", 3);
    if (result != CUTIS_OK) fold_file(&now, path);
    assert_true(result == CUTIS_OK || old == now);
    if (result == CUTIS_OK) fold_file(digest, path);
    unlink(path);
}

#define WRITES(name, file, call)                                                                   \
    static cutis_result name(uint64_t *digest)                                                     \
    {                                                                                              \
        const char *path = target(file);                                                           \
        cutis_result result = call;                                                                \
        fold_written(digest, path, result);                                                        \
        return result;                                                                             \
    }
WRITES(write_glb, "a.glb", cutis_model_write(w.character, path, NULL))
WRITES(write_gltf, "a.gltf", cutis_model_write(w.limb, path, NULL))
WRITES(write_meshopt, "a.glb",
       cutis_model_write(w.limb, path,
                         &(cutis_write_options){ .compression = CUTIS_COMPRESSION_MESHOPT }))
WRITES(write_draco, "a.glb",
       cutis_model_write(w.limb, path,
                         &(cutis_write_options){ .compression = CUTIS_COMPRESSION_DRACO }))
WRITES(write_obj, "a.obj", cutis_model_write(w.limb, path, NULL))
WRITES(write_ply, "a.ply", cutis_model_write(w.limb, path, NULL))
WRITES(write_stl, "a.stl", cutis_model_write(w.limb, path, NULL))
WRITES(write_bvh, "a.bvh", cutis_model_write(w.walk, path, NULL))
WRITES(write_bytes, "a.bin", cutis_file_write(w.context, path, w.glb, 100))

static cutis_result write_frames(const char *name, uint64_t *digest)
{
    float frame[6] = { 1, 2, 3, 4, 5, 6 };
    const char *path = target(name);
    cutis_frame_writer *writer = NULL;
    cutis_result result = cutis_frame_writer_create(w.context, path, 2, 2, 30, &writer);
    for (int f = 0; f < 2 && result == CUTIS_OK; f++)
        result = cutis_frame_writer_add(writer, frame);
    if (result == CUTIS_OK)
        result = cutis_frame_writer_finish(writer);
    else
        cutis_frame_writer_destroy(writer);
    fold_written(digest, path, result);
    return result;
}

static cutis_result write_npy(uint64_t *digest)
{
    return write_frames("a.npy", digest);
}

static cutis_result write_pc2(uint64_t *digest)
{
    return write_frames("a.pc2", digest);
}

// Smaller files ----------------------------------------------------------------------------------

static cutis_result read_array(const char *path, uint64_t *digest)
{
    cutis_array array = { 0 };
    cutis_result result = cutis_array_read(w.context, path, &array);
    size_t count = 1;
    for (uint32_t d = 0; d < array.dimension_count; d++) count *= array.dimensions[d];
    if (result == CUTIS_OK) fold(digest, array.values, count * sizeof *array.values);
    cutis_array_destroy(w.context, &array);
    return result;
}

static cutis_result read_npy(uint64_t *digest)
{
    return read_array(SEED("fortran.npy"), digest);
}

static cutis_result read_pc2(uint64_t *digest)
{
    return read_array(SEED("frames.pc2"), digest);
}

static cutis_result read_bytes(uint64_t *digest)
{
    void *data = NULL;
    size_t size = 0;
    cutis_result result = cutis_file_read(w.context, SEED("box.obj"), &data, &size);
    if (result == CUTIS_OK) {
        fold(digest, data, size);
        cutis_memory_free(w.context, data, size);
    }
    return result;
}

static cutis_result read_labels(uint64_t *digest)
{
    uint32_t *labels = NULL;
    uint64_t count = 0;
    cutis_result result = cutis_part_labels_read(w.context, SEED("parts.seg"), &labels, &count);
    if (result == CUTIS_OK) {
        fold(digest, labels, (size_t)count * sizeof *labels);
        cutis_memory_free(w.context, labels, count * sizeof(uint32_t));
    }
    return result;
}

static const cutis_handle_set *set_of(const cutis_handle_file *file)
{
    return cutis_handle_file_get(file);
}

MAKES(read_handles, cutis_handle_file, cutis_handles_read(w.context, SEED("handles.json"), &out),
      fold(digest, &set_of(out)->handles[0].from, sizeof set_of(out)->handles[0].from),
      cutis_handle_file_destroy)

/// The character that the seeds of poses and maps are about.
static cutis_model *seeds_character(void)
{
    pause_faults();
    cutis_model *out = run_character(w.context);
    resume_faults();
    return out;
}

static cutis_result read_pose(uint64_t *digest)
{
    cutis_transform pose[4];
    cutis_model *model = seeds_character();
    cutis_pose_rest(model, pose, NULL);
    cutis_result result = cutis_pose_read(model, SEED("pose.json"), pose);
    if (result == CUTIS_OK) fold(digest, pose, sizeof pose);
    cutis_model_destroy(model);
    return result;
}

static cutis_result read_map(uint64_t *digest)
{
    int32_t map[4] = { 7, 8, 9, 10 };
    cutis_model *model = seeds_character();
    cutis_result result = cutis_joint_map_read(model, model, SEED("joint_map.json"), map);
    if (result == CUTIS_OK)
        fold(digest, map, sizeof map);
    else
        assert_true(map[0] == 7 && map[1] == 8 && map[2] == 9 && map[3] == 10);
    cutis_model_destroy(model);
    return result;
}

static cutis_result read_limits(uint64_t *digest)
{
    cutis_player_limits limits = { .joints = 7 };
    cutis_result result = cutis_player_limits_read(w.context, SEED("limits.json"), &limits);
    if (result == CUTIS_OK)
        fold(digest, &limits, sizeof limits);
    else
        assert_true(limits.joints == 7 && limits.influences == 0);
    return result;
}

static cutis_result write_map(uint64_t *digest)
{
    static const int32_t map[4] = { CUTIS_NONE, 1, CUTIS_NONE, 3 };
    cutis_model *model = seeds_character();
    const char *path = target("map.json");
    cutis_result result = cutis_joint_map_write(model, model, map, path);
    fold_written(digest, path, result);
    cutis_model_destroy(model);
    return result;
}

// Skeletons --------------------------------------------------------------------------------------

static cutis_result extract(const cutis_model *model, const cutis_skeleton_options *options,
                            uint64_t *digest)
{
    cutis_model *out = NULL;
    cutis_skeleton_report *report = NULL;
    cutis_result result = cutis_skeleton_extract(model, options, &out, &report);
    assert_int_equal(result == CUTIS_OK, out != NULL);
    assert_int_equal(result == CUTIS_OK, report != NULL);
    if (out) fold_model(digest, out);
    if (report) fold(digest, &report->part_count, sizeof report->part_count);
    cutis_model_destroy(out);
    cutis_skeleton_report_destroy(report);
    return result;
}

#define EXTRACTS(name, model, ...)                                                                 \
    static cutis_result name(uint64_t *digest)                                                     \
    {                                                                                              \
        return extract(model, &(cutis_skeleton_options){ __VA_ARGS__ }, digest);                   \
    }
EXTRACTS(extract_parts, w.limb, .source = CUTIS_PART_SOURCE_PARTS, .extra = true)
EXTRACTS(extract_joints, w.limb, .source = CUTIS_PART_SOURCE_JOINTS, .straighten = true)
EXTRACTS(extract_auto, w.arm, .source = CUTIS_PART_SOURCE_AUTO)

static cutis_result retarget_map(uint64_t *digest)
{
    int32_t map[64] = { 0 };
    assert_true(cutis_model_get(w.walk)->node_count <= 64);
    cutis_result result = cutis_retarget_map(w.walk, w.walk, map, NULL, NULL);
    if (result == CUTIS_OK) fold(digest, map, sizeof map);
    return result;
}

MAKES(retarget, cutis_model, cutis_retarget(w.walk, w.walk, NULL, &out, NULL),
      fold_model(digest, out), cutis_model_destroy)

static cutis_result rig(uint64_t *digest)
{
    cutis_model *out = NULL;
    cutis_rig_report *report = NULL;
    const cutis_rig_options options = { .largest = true, .patches = true };
    cutis_result result = cutis_rig(w.bare, w.device, &options, &out, &report);
    assert_int_equal(result == CUTIS_OK, out && report);
    if (result == CUTIS_OK) fold_model(digest, out);
    if (report) fold(digest, &report->deviation, sizeof report->deviation);
    cutis_rig_report_destroy(report);
    cutis_model_destroy(out);
    return result;
}

static cutis_result check_motion(uint64_t *digest)
{
    cutis_result result = cutis_rig_check_motion(w.moved, w.person, 0, &w.how, w.found);
    if (result == CUTIS_OK) fold(digest, &w.found->motion, sizeof w.found->motion);
    return result;
}

// Pictures ---------------------------------------------------------------------------------------

static void fold_image(uint64_t *digest, cutis_image *image)
{
    fold(digest, image->pixels, (size_t)4 * image->width * image->height);
    cutis_image_destroy(w.context, image);
}

#define PAINTS(name, call)                                                                         \
    static cutis_result name(uint64_t *digest)                                                     \
    {                                                                                              \
        cutis_image out = { 0 };                                                                   \
        cutis_result result = call;                                                                \
        assert_int_equal(result == CUTIS_OK, out.pixels != NULL);                                  \
        if (result == CUTIS_OK) fold_image(digest, &out);                                          \
        return result;                                                                             \
    }
PAINTS(image, cutis_image_create(w.context, 5, 4, 0x102030ff, &out))

static cutis_image blank(uint32_t side)
{
    cutis_image out = { 0 };
    pause_faults();
    assert_ok(w.context, cutis_image_create(w.context, side, side, 0x80a0c0ff, &out));
    resume_faults();
    return out;
}

static cutis_result write_png(uint64_t *digest)
{
    cutis_image picture = blank(9);
    const char *path = target("a.png");
    cutis_result result = cutis_image_write_png(w.context, &picture, path);
    fold_written(digest, path, result);
    cutis_image_destroy(w.context, &picture);
    return result;
}

static cutis_result encode_png(uint64_t *digest)
{
    cutis_image picture = blank(9);
    void *data = NULL;
    size_t size = 0;
    cutis_result result = cutis_image_encode_png(w.context, &picture, &data, &size);
    if (result == CUTIS_OK) {
        fold(digest, data, size);
        cutis_memory_free(w.context, data, size);
    }
    cutis_image_destroy(w.context, &picture);
    return result;
}

static cutis_result read_png(uint64_t *digest)
{
    cutis_image picture = blank(9), out = { 0 };
    pause_faults();
    const char *path = target("b.png");
    assert_ok(w.context, cutis_image_write_png(w.context, &picture, path));
    cutis_image_destroy(w.context, &picture);
    resume_faults();
    cutis_result result = cutis_image_read_png(w.context, path, &out);
    assert_int_equal(result == CUTIS_OK, out.pixels != NULL);
    if (result == CUTIS_OK) fold_image(digest, &out);
    unlink(path);
    return result;
}

static cutis_result sheet(uint64_t *digest)
{
    cutis_image picture = blank(16), out = { 0 };
    cutis_tile tiles[2] = { { &picture, "one", "first" }, { &picture, "two", NULL } };
    cutis_legend legend = { CUTIS_COLORMAP_HEAT, 0, 1, "degrees" };
    cutis_result result = cutis_sheet_create(w.context, tiles, 2, 0, "title", &legend, false, &out);
    assert_int_equal(result == CUTIS_OK, out.pixels != NULL);
    if (result == CUTIS_OK) fold_image(digest, &out);
    cutis_image_destroy(w.context, &picture);
    return result;
}

static const double SERIES[4] = { 1, 3, NAN, 2 };
static const cutis_series CURVE[1] = { { "curve", 4, NULL, SERIES } };
static const cutis_plot PLOT = { .title = "t", .series_count = 1, .series = CURVE };

/// cairo numbers what it makes through the life of a process: the bytes of two SVGs differ.
static cutis_result plot_svg_file(uint64_t *digest)
{
    uint64_t ignored = 0;
    const char *path = target("a.svg");
    cutis_result result = cutis_plot_write(w.context, &PLOT, path);
    (void)digest;
    fold_written(&ignored, path, result);
    return result;
}

WRITES(plot_png_file, "p.png", cutis_plot_write(w.context, &PLOT, path))

static cutis_result plot_svg(uint64_t *digest)
{
    void *data = NULL;
    size_t size = 0;
    cutis_result result = cutis_plot_svg(w.context, &PLOT, &data, &size);
    if (result == CUTIS_OK) {
        fold(digest, data, 5);
        cutis_memory_free(w.context, data, size);
    }
    return result;
}

PAINTS(draw,
       cutis_renderer_draw(w.renderer,
                           &(cutis_scene){ .surface_count = 1,
                                           .surfaces = &(cutis_scene_surface){ .surface = w.surface,
                                                                               .wire = true } },
                           32, 24, &out))
MAKES(renderer, cutis_renderer, cutis_renderer_create(w.context, &out), (void)digest,
      cutis_renderer_destroy)

/// A live body, one frame of it deformed, drawn and read.
static cutis_result live(uint64_t *digest)
{
    cutis_live *body = NULL;
    cutis_binding *binding = NULL;
    cutis_image out = { 0 };
    cutis_transform pose[3];
    cutis_camera camera = { .frame = { { -2, -2, -2 }, { 2, 2, 2 } } };
    pause_faults();
    assert_ok(w.context,
              cutis_bind(w.device, w.limb, &(cutis_bind_options){ .normals = true }, &binding));
    cutis_pose_rest(w.limb, pose, NULL);
    resume_faults();
    cutis_result result = cutis_live_create(w.renderer, w.device, VERTICES,
                                            w.surface.triangle_count, w.triangles, 24, 16, &body);
    assert_int_equal(result == CUTIS_OK, body != NULL);
    if (result == CUTIS_OK)
        result = cutis_live_deform(body, binding, &(cutis_poses){ .local = pose });
    if (result == CUTIS_OK) result = cutis_live_draw(body, &camera, true);
    if (result == CUTIS_OK) result = cutis_live_read(body, &out);
    if (result == CUTIS_OK) fold_image(digest, &out);
    cutis_live_destroy(body);
    cutis_binding_destroy(binding);
    return result;
}

// ------------------------------------------------------------------------------------------------

static const scenario FILES[] = {
    { "cutis_model_read", "glb", read_glb, 1, true },
    { "cutis_model_read", "glb, kept", read_kept, 1, true },
    { "cutis_model_read", "meshopt", read_meshopt, 1, true },
    { "cutis_model_read", "gltf", read_gltf, 1, true },
    { "cutis_model_read", "handles", read_handled, 1, true },
    { "cutis_model_read", "parts", read_parted, 1, true },
    { "cutis_model_read", "sparse", read_sparse, 1, true },
    { "cutis_model_read", "generous", read_generous, 1, true },
    { "cutis_model_read", "generous, kept", read_generous_kept, 1, true },
    { "cutis_model_read", "obj", read_obj, 1, true },
    { "cutis_model_read", "ply", read_ply, 1, true },
    { "cutis_model_read", "off", read_off, 1, true },
    { "cutis_model_read", "stl", read_stl, 1, true },
    { "cutis_model_read", "guessed", read_guessed, 1, true },
    { "cutis_model_read", "turned", read_turned, 1, true },
    { "cutis_model_read", "bvh", read_bvh, 1, true },
    { "cutis_model_read", "xsf", read_skeleton, 1, true },
    { "cutis_model_read", "cmf", read_mesh, 1, true },
    { "cutis_model_read", "repairing, strict", read_repairing, 1, true },
    { "cutis_model_read_memory", "glb", read_memory, 1, true },
    { "cutis_model_read_clip", "bvh", read_clip, 1, true },
    { "cutis_file_inspect", "gltf", inspect, 1, true },
    { "cutis_file_inspect_memory", "a cut glb", inspect_memory, 1, true },
    { "cutis_model_write", "glb", write_glb, 13, false },
    { "cutis_model_write", "gltf", write_gltf, 3, false },
    { "cutis_model_write", "meshopt", write_meshopt, 3, false },
    { "cutis_model_write", "obj", write_obj, 1, false },
    { "cutis_model_write", "ply", write_ply, 1, false },
    { "cutis_model_write", "stl", write_stl, 1, false },
    { "cutis_model_write", "bvh", write_bvh, 1, false },
    { "cutis_file_write", "bytes", write_bytes, 1, false },
    { "cutis_frame_writer_create", "npy", write_npy, 1, false },
    { "cutis_frame_writer_create", "pc2", write_pc2, 1, false },
    { "cutis_array_read", "npy", read_npy, 1, false },
    { "cutis_array_read", "pc2", read_pc2, 1, false },
    { "cutis_file_read", "bytes", read_bytes, 1, false },
    { "cutis_part_labels_read", "seg", read_labels, 1, false },
    { "cutis_handles_read", "json", read_handles, 1, true },
    { "cutis_pose_read", "json", read_pose, 1, true },
    { "cutis_joint_map_read", "json", read_map, 1, true },
    { "cutis_player_limits_read", "json", read_limits, 1, true },
    { "cutis_joint_map_write", "json", write_map, 1, false },
    { "cutis_skeleton_extract", "parts", extract_parts, 1, false },
    { "cutis_skeleton_extract", "joints, straightened", extract_joints, 1, false },
    { "cutis_skeleton_extract", "automatic", extract_auto, 16, false },
    { "cutis_retarget_map", "itself", retarget_map, 1, false },
    { "cutis_retarget", "itself", retarget, 1, false },
    { "cutis_rig", "a fish, for patches", rig, 128, false },
    { "cutis_rig_check_motion", "a person", check_motion, 1, false },
};

static const scenario DRACO[] = {
    { "cutis_model_read", "draco", read_draco, 5, true },
    { "cutis_model_write", "draco", write_draco, 7, false },
};

static const scenario PICTURES[] = {
    { "cutis_image_create", "5 x 4", image, 1, false },
    { "cutis_image_write_png", "9 x 9", write_png, 1, false },
    { "cutis_image_encode_png", "9 x 9", encode_png, 1, false },
    { "cutis_image_read_png", "9 x 9", read_png, 1, false },
    { "cutis_sheet_create", "two tiles", sheet, 1, false },
    { "cutis_plot_write", "svg", plot_svg_file, 1, false },
    { "cutis_plot_write", "png", plot_png_file, 1, false },
    { "cutis_plot_svg", "lines", plot_svg, 1, false },
};

static const scenario SCENES[] = {
    { "cutis_renderer_draw", "wire", draw, 1, false },
    { "cutis_renderer_create", "software", renderer, 1, false },
    { "cutis_live_create", "one frame", live, 1, false },
};

#define COUNT(table) (sizeof table / sizeof *table)

static void every_allocation_of_files_and_skeletons_may_fail(void **state)
{
    (void)state;
    run_scenarios(&(fault_suite){ w.context, fold_objects }, FILES, COUNT(FILES));
}

static void files_and_skeletons_touch_nothing_outside_their_memory(void **state)
{
    (void)state;
    guard_scenarios(&(fault_suite){ w.context, fold_objects }, FILES, COUNT(FILES));
}

static void every_allocation_around_draco_may_fail(void **state)
{
    (void)state;
    if (!cutis_gltf_has_draco()) {
        print_message("skip: cutis-draco is not built\n");
        skip();
    }
    run_scenarios(&(fault_suite){ w.context, fold_objects }, DRACO, COUNT(DRACO));
}

static void every_allocation_of_pictures_may_fail(void **state)
{
    (void)state;
    run_scenarios(&(fault_suite){ w.context, fold_objects }, PICTURES, COUNT(PICTURES));
}

static void every_allocation_of_scenes_may_fail(void **state)
{
    (void)state;
    if (!w.renderer) {
        print_message("skip: EGL gives no renderer here\n");
        skip();
    }
    run_scenarios(&(fault_suite){ w.context, fold_objects }, SCENES, COUNT(SCENES));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_of_files_and_skeletons_may_fail),
        cmocka_unit_test(files_and_skeletons_touch_nothing_outside_their_memory),
        cmocka_unit_test(every_allocation_around_draco_may_fail),
        cmocka_unit_test(every_allocation_of_pictures_may_fail),
        cmocka_unit_test(every_allocation_of_scenes_may_fail),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
