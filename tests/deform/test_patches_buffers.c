/// Patches into buffers of a device, on the CPU and on a GPU (PoCL, or CUTIS_TEST_DEVICE): every
/// output of 1 and of 100 instances has the bytes that host memory gets; counts go to a buffer; a
/// buffer that is too small is refused before anything is launched; a frame that does not fit says
/// so, and leaves nothing but its counts.
#include "patches_device.h"

static cutis_device *gpu;

/// The outputs of some instances: in buffers of a device, and where they are read back to.
enum { POSITIONS, NORMALS, INDICES, LABELS, SOURCES, WEIGHTS, ORIGINS, COUNTS, REST, KINDS };

typedef struct frames {
    uint32_t instances, vertices, triangles; ///< room of each
    uint64_t sizes[KINDS];                   ///< bytes an instance
    cutis_buffer *buffers[KINDS];
    char *host[KINDS];
    cutis_outputs outputs;
    cutis_bounds *bounds;
} frames;

static cutis_stream *stream_of(cutis_outputs *outputs, int kind)
{
    cutis_topology_outputs *t = &outputs->topology;
    cutis_stream *const all[KINDS] = {
        &outputs->positions, &outputs->normals, &t->indices, &t->labels,        &t->source_vertices,
        &t->source_weights,  &t->origins,       &t->counts,  &t->rest_positions
    };
    return all[kind];
}

/// Room for frames of so many vertices and triangles, all bytes 0x5a; on `on`, or in host memory.
static frames frames_open(const patch_run *r, cutis_device *on, uint32_t instances,
                          uint32_t vertices, uint32_t triangles)
{
    frames f = { .instances = instances, .vertices = vertices, .triangles = triangles };
    const uint64_t v = vertices, t = triangles,
                   sizes[KINDS] = { 12 * v, 12 * v, 12 * t,
                                    4 * t,  16 * v, 16 * v,
                                    4 * t,  8,      12ull * cutis_model_vertex_count(r->model) };
    memcpy(f.sizes, sizes, sizeof sizes);
    f.outputs.topology.vertex_capacity = vertices;
    f.outputs.topology.triangle_capacity = triangles;
    f.outputs.bounds = f.bounds = calloc(instances, sizeof *f.bounds);
    for (int k = 0; k < KINDS; k++) {
        f.host[k] = malloc(instances * sizes[k]);
        memset(f.host[k], 0x5a, instances * sizes[k]);
        if (!on) {
            stream_of(&f.outputs, k)->data = f.host[k];
            continue;
        }
        assert_ok(context, cutis_buffer_create(on, instances * sizes[k], &f.buffers[k]));
        assert_ok(context, cutis_buffer_write(f.buffers[k], 0, f.host[k], instances * sizes[k]));
        stream_of(&f.outputs, k)->buffer = f.buffers[k];
    }
    return f;
}

static void frames_read(frames *f)
{
    for (int k = 0; k < KINDS; k++)
        if (f->buffers[k])
            assert_ok(context,
                      cutis_buffer_read(f->buffers[k], 0, f->host[k], f->instances * f->sizes[k]));
}

static void frames_close(frames *f)
{
    for (int k = 0; k < KINDS; k++) cutis_buffer_destroy(f->buffers[k]), free(f->host[k]);
    free(f->bounds);
}

static cutis_transform *poses_of(patch_run *r, uint32_t instances)
{
    const uint32_t nodes = cutis_model_get(r->model)->node_count;
    cutis_transform *poses = malloc((size_t)instances * nodes * sizeof *poses);
    for (uint32_t i = 0; i < instances; i++) {
        patch_pose_rest(r);
        for (uint32_t j = 0; j < r->info.joint_count; j++)
            patch_pose_joint(r, j, random_in(11, 100 * i + j, 0, 6.28),
                             random_in(12, 100 * i + j, 0, 1.5), random_in(13, 100 * i + j, -1, 1));
        memcpy(poses + (size_t)i * nodes, r->pose, nodes * sizeof *poses);
    }
    return poses;
}

static patch_run open_run(cutis_device *on, uint32_t capacity)
{
    const limb_options limb = { .length = 4.5, .knee = true, .around = 16, .rings = 28 };
    patch_run r = { .context = context, .device = on, .model = limb_create(context, &limb) };
    const cutis_bind_options options = { .method = CUTIS_METHOD_PATCHES,
                                         .normals = true,
                                         .instance_capacity = capacity,
                                         .patch_band = patch_case_band };
    assert_ok(context, cutis_bind(on, r.model, &options, &r.patches));
    r.info = cutis_patches_describe(r.patches);
    const uint32_t nodes = cutis_model_get(r.model)->node_count;
    r.rest = calloc(nodes, sizeof *r.rest);
    r.pose = calloc(nodes, sizeof *r.pose);
    cutis_pose_rest(r.model, r.rest, NULL);
    return r;
}

static void deform(const patch_run *r, const cutis_transform *poses, frames *f, cutis_result wanted)
{
    const cutis_result result =
        cutis_deform(r->patches, &(cutis_poses){ .local = poses }, f->instances, &f->outputs);
    if (result != wanted) fail_msg("%d: %s", (int)result, cutis_context_error(context));
    assert_ok(context, cutis_device_finish(r->device));
    frames_read(f);
}

static const uint32_t *counts_of(const frames *f, uint32_t instance)
{
    return (const uint32_t *)(const void *)f->host[COUNTS] + 2 * instance;
}

// What instance i has of output k, of what counts: the rest of its room is nobody's promise.
static uint64_t used_bytes(const frames *f, uint32_t i, int k)
{
    const uint64_t v = counts_of(f, i)[0], t = counts_of(f, i)[1];
    const uint64_t used[KINDS] = { 12 * v, 12 * v, 12 * t, 4 * t,         16 * v,
                                   16 * v, 4 * t,  8,      f->sizes[REST] };
    return used[k];
}

static void same_frames(const frames *a, const frames *b)
{
    for (uint32_t i = 0; i < a->instances; i++) {
        for (int k = 0; k < KINDS; k++)
            assert_memory_equal(a->host[k] + i * a->sizes[k], b->host[k] + i * b->sizes[k],
                                used_bytes(a, i, k));
        assert_memory_equal(&a->bounds[i], &b->bounds[i], sizeof a->bounds[i]);
    }
}

static void buffers_get_what_host_memory_gets(void **state)
{
    (void)state;
    const uint32_t counts[] = { 1, 100 };
    for (int c = 0; c < 2; c++) {
        patch_run reference = open_run(device, 1);
        const uint32_t n = counts[c], v = reference.info.vertex_capacity;
        const uint32_t t = reference.info.triangle_capacity;
        cutis_transform *poses = poses_of(&reference, n);
        frames host = frames_open(&reference, NULL, n, v, t);
        deform(&reference, poses, &host, CUTIS_OK);
        assert_true(counts_of(&host, n - 1)[0] > 300); // frames they are
        cutis_device *const devices[] = { device, gpu };
        for (int d = 0; d < 2; d++)
            for (int buffers = d == 0; buffers < 2; buffers++) { // the GPU to host memory, too
                if (!devices[d]) continue;
                patch_run r = open_run(devices[d], 7); // batches that do not divide 100
                frames f = frames_open(&r, buffers ? devices[d] : NULL, n, v, t);
                deform(&r, poses, &f, CUTIS_OK);
                same_frames(&host, &f);
                frames_close(&f);
                patch_run_close(&r);
            }
        frames_close(&host);
        free(poses);
        patch_run_close(&reference);
    }
}

static void buffers_that_are_too_small_are_refused_before_anything_is_written(void **state)
{
    (void)state;
    cutis_device *const devices[] = { device, gpu };
    for (int d = 0; d < 2; d++) {
        if (!devices[d]) continue;
        patch_run r = open_run(devices[d], 4);
        cutis_transform *poses = poses_of(&r, 3);
        for (int k = 0; k < KINDS; k++) {
            frames f =
                frames_open(&r, devices[d], 3, r.info.vertex_capacity, r.info.triangle_capacity);
            cutis_buffer *whole = f.buffers[k], *small = NULL;
            assert_ok(context, cutis_buffer_create(devices[d], 3 * f.sizes[k] - 4, &small));
            stream_of(&f.outputs, k)->buffer = small;
            deform(&r, poses, &f, CUTIS_INVALID_ARGUMENT);
            stream_of(&f.outputs, k)->buffer = whole;
            stream_of(&f.outputs, k)->offset = 4;
            deform(&r, poses, &f, CUTIS_INVALID_ARGUMENT);
            for (int other = 0; other < KINDS; other++)
                for (uint64_t i = 0; i < 3 * f.sizes[other]; i++)
                    assert_int_equal(f.host[other][i], 0x5a);
            cutis_buffer_destroy(small);
            frames_close(&f);
        }
        free(poses);
        patch_run_close(&r);
    }
}

static void a_frame_that_does_not_fit_says_so_on_every_path(void **state)
{
    (void)state;
    cutis_device *const devices[] = { device, gpu };
    patch_run reference = open_run(device, 1);
    cutis_transform *poses = poses_of(&reference, 2);
    frames whole = frames_open(&reference, NULL, 2, reference.info.vertex_capacity,
                               reference.info.triangle_capacity);
    deform(&reference, poses, &whole, CUTIS_OK);
    for (int d = 0; d < 2; d++)
        for (int way = 0; way < 4; way++) {
            if (!devices[d]) continue;
            const bool buffers = way & 1, vertices = way & 2;
            patch_run r = open_run(devices[d], 2);
            const uint32_t *need = counts_of(&whole, 0);
            frames f = frames_open(&r, buffers ? devices[d] : NULL, 2,
                                   vertices ? need[0] - 1 : r.info.vertex_capacity,
                                   vertices ? r.info.triangle_capacity : need[1] - 1);
            deform(&r, poses, &f, CUTIS_BUFFER_TOO_SMALL);
            assert_memory_equal(f.host[COUNTS], whole.host[COUNTS], 8); // of the one that fails
            for (int k = 0; k < COUNTS; k++) // of the instance that does not fit
                for (uint64_t i = 0; i < f.sizes[k]; i++) assert_int_equal(f.host[k][i], 0x5a);
            frames_close(&f);
            patch_run_close(&r);
        }
    frames_close(&whole);
    free(poses);
    patch_run_close(&reference);
}

static int open_both(void **state)
{
    if (open_device(state)) return -1;
    const cutis_device_options options = { .kind = gpu_kind() };
    if (cutis_device_create(context, &options, &gpu) != CUTIS_OK)
        print_message("skip: %s\n", cutis_context_error(context));
    return 0;
}

static int close_both(void **state)
{
    cutis_device_destroy(gpu);
    return close_device(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buffers_get_what_host_memory_gets),
        cmocka_unit_test(buffers_that_are_too_small_are_refused_before_anything_is_written),
        cmocka_unit_test(a_frame_that_does_not_fit_says_so_on_every_path),
    };
    return cmocka_run_group_tests(tests, open_both, close_both);
}
