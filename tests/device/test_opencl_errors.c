/// What can go wrong with an OpenCL device: no device, bad streams, no memory, a lost device, a
/// kernel that does not build, a broken cache. Each is a named error, never a crash or a wrong
/// result. Skips visibly without OpenCL.
#include "support.h"

#include "device/gpu/gpu.h"
#include "skin_case.h"
#include "skin_run.h"

#include <dirent.h>
#include <unistd.h>

typedef struct rig {
    cutis_context *context;
    cutis_device *device;
    cutis_gpu *gpu;
    skin_case c;
    cutis_device_skin *skin;
    cutis_buffer *buffer;
    skin_streams to;
} rig;

static cutis_device *device_or_skip(cutis_context *context)
{
    cutis_device *device = NULL;
    if (cutis_device_create(context, &(cutis_device_options){ .kind = CUTIS_DEVICE_OPENCL },
                            &device)) {
        print_message("skip: %s\n", cutis_context_error(context));
        cutis_context_destroy(context);
        skip();
    }
    return device;
}

static rig rig_make(void)
{
    rig r = { 0 };
    const skin_options o = { .seed = 3,
                             .normal_rule = CUTIS_NORMAL_UNIT,
                             .block_size = 32,
                             .vertex_count = 100,
                             .bone_count = 5,
                             .influences = 4,
                             .instance_count = 8 };
    assert_int_equal(cutis_context_create(NULL, &r.context), CUTIS_OK);
    r.device = device_or_skip(r.context);
    r.gpu = (cutis_gpu *)r.device;
    skin_case_make(&r.c, &o);
    assert_ok(r.context, r.device->operations->skin_create(r.device, &r.c.layout, &r.skin));
    assert_ok(r.context, cutis_buffer_create(r.device, 100 * 24 * 8, &r.buffer));
    r.to = (skin_streams){ .positions = { NULL, r.buffer, 0, 24, 2400 },
                           .normals = { NULL, r.buffer, 12, 24, 2400 } };
    return r;
}

static void rig_free(rig *r)
{
    cutis_buffer_destroy(r->buffer);
    r->device->operations->skin_destroy(r->skin);
    cutis_device_destroy(r->device);
    skin_case_free(&r->c);
    assert_int_equal(cutis_context_memory(r->context), 0);
    cutis_context_destroy(r->context);
}

static cutis_result run(rig *r, const skin_streams *to)
{
    return skin_run(r->skin, &r->c.layout, &r->c.frames, to);
}

static void a_device_that_is_not_there_says_so(void **state)
{
    (void)state;
    cutis_context *context;
    cutis_device *device = NULL;
    assert_int_equal(cutis_context_create(NULL, &context), CUTIS_OK);
    for (int kind = CUTIS_DEVICE_OPENCL; kind <= CUTIS_DEVICE_CUDA; kind++) {
        const cutis_device_options options = { .kind = (cutis_device_kind)kind, .index = 4000 };
        assert_int_equal(cutis_device_create(context, &options, &device), CUTIS_DEVICE_UNAVAILABLE);
        assert_null(device);
        assert_true(strlen(cutis_context_error(context)) > 10);
    }
    cutis_device_info infos[32];
    uint32_t count = 0, kinds[3] = { 0, 0, 0 };
    assert_ok(context, cutis_device_list(context, 32, infos, &count));
    for (uint32_t i = 0; i < count && i < 32; i++) {
        kinds[infos[i].kind]++;
        assert_true(infos[i].available || infos[i].detail[0]);
    }
    assert_true(kinds[0] && kinds[1] && kinds[2]); // every kind has an entry, there or not
    cutis_context_destroy(context);
}

static void streams_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    rig r = rig_make();
    skin_streams to = r.to;
    assert_ok(r.context, run(&r, &to));
    to.positions.offset = 4; // one float too far for the last vertex's normal
    to.normals.offset = 16;
    assert_int_equal(run(&r, &to), CUTIS_INVALID_ARGUMENT);
    to = r.to;
    to.positions.stride = 22;
    assert_int_equal(run(&r, &to), CUTIS_INVALID_ARGUMENT);
    to = r.to;
    to.positions.stride = 8;
    assert_int_equal(run(&r, &to), CUTIS_INVALID_ARGUMENT);
    to = r.to;
    to.positions.offset = UINT64_MAX - 3;
    assert_int_equal(run(&r, &to), CUTIS_INVALID_ARGUMENT);
    to = r.to;
    to.normals.instance_stride = UINT64_MAX - 3;
    assert_int_equal(run(&r, &to), CUTIS_INVALID_ARGUMENT);
    to = r.to;
    to.tangents = to.positions; // the skin has none
    to.tangents.instance_stride = 0;
    assert_int_equal(run(&r, &to), CUTIS_INVALID_ARGUMENT);
    to = r.to;
    to.previous = to.positions;
    to.positions.buffer = NULL;
    assert_int_equal(run(&r, &to), CUTIS_INVALID_ARGUMENT);
    rig_free(&r);
}

// A driver that fails on demand, around the real one.
static cutis_gpu_driver real;
static uint64_t allocation_limit;
static uint32_t launches;

static cutis_result limited_allocate(cutis_gpu *gpu, uint64_t size, uint64_t *handle)
{
    if (size > allocation_limit)
        return cutis_gpu_fail(gpu, CUTIS_DEVICE_OUT_OF_MEMORY, "allocate", "the test says so");
    return real.allocate(gpu, size, handle);
}

static cutis_result counted_launch(cutis_gpu *gpu, const cutis_gpu_kernel *kernel,
                                   const cutis_gpu_launch *launch)
{
    launches++;
    return real.launch(gpu, kernel, launch);
}

static cutis_result lost_launch(cutis_gpu *gpu, const cutis_gpu_kernel *kernel,
                                const cutis_gpu_launch *launch)
{
    (void)kernel;
    (void)launch;
    return cutis_gpu_fail(gpu, CUTIS_DEVICE_LOST, "launch", "the test says so");
}

static void a_batch_that_does_not_fit_in_device_memory_is_split(void **state)
{
    (void)state;
    rig r = rig_make();
    float whole[8 * 600], split[8 * 600];
    const skin_streams to = { .positions = { whole, NULL, 0, 24, 2400 },
                              .normals = { whole + 3, NULL, 0, 24, 2400 } };
    skin_streams to_split = to;
    to_split.positions.data = split;
    to_split.normals.data = split + 3;
    assert_ok(r.context, run(&r, &to));
    r.device->operations->skin_destroy(r.skin);
    real = *r.gpu->driver;
    cutis_gpu_driver limited = real;
    limited.allocate = limited_allocate;
    limited.launch = counted_launch;
    r.gpu->driver = &limited;
    allocation_limit = 100000;
    assert_ok(r.context, r.device->operations->skin_create(r.device, &r.c.layout, &r.skin));
    allocation_limit = 2400 * 3; // three instances of outputs
    launches = 0;
    assert_ok(r.context, run(&r, &to_split));
    assert_int_equal(launches, 4); // 8 do not fit, 4 do not, four times 2
    assert_memory_equal(whole, split, sizeof whole);
    r.device->operations->skin_destroy(r.skin);
    allocation_limit = 100000;
    assert_ok(r.context, r.device->operations->skin_create(r.device, &r.c.layout, &r.skin));
    allocation_limit = 2000; // not even one
    assert_int_equal(run(&r, &to_split), CUTIS_DEVICE_OUT_OF_MEMORY);
    assert_non_null(strstr(cutis_context_error(r.context), "even one instance"));
    r.gpu->driver = &real;
    rig_free(&r);
}

static void a_lost_device_fails_at_once_ever_after(void **state)
{
    (void)state;
    rig r = rig_make();
    real = *r.gpu->driver;
    cutis_gpu_driver lost = real;
    lost.launch = lost_launch;
    r.gpu->driver = &lost;
    assert_int_equal(run(&r, &r.to), CUTIS_DEVICE_LOST);
    r.gpu->driver = &real;
    assert_int_equal(run(&r, &r.to), CUTIS_DEVICE_LOST);
    assert_int_equal(cutis_device_finish(r.device), CUTIS_DEVICE_LOST);
    float value;
    assert_int_equal(cutis_buffer_read(r.buffer, 0, &value, 4), CUTIS_DEVICE_LOST);
    rig_free(&r);
}

static void a_kernel_that_does_not_build_gives_the_compilers_log(void **state)
{
    (void)state;
    rig r = rig_make();
    cutis_gpu_kernel kernel;
    assert_int_equal(cutis_gpu_kernel_get(r.gpu, (const char *const[]){ NULL },
                                          "#error marker_of_the_test\n", "cutis_skin", 0, &kernel),
                     CUTIS_DEVICE_BUILD_FAILED);
    assert_non_null(strstr(cutis_context_error(r.context), "marker_of_the_test"));
    rig_free(&r);
}

static uint32_t spoil_cache(const char *folder)
{
    uint32_t count = 0;
    char path[4096];
    DIR *list = opendir(folder);
    assert_non_null(list);
    for (struct dirent *entry; (entry = readdir(list));) {
        if (!strstr(entry->d_name, ".bin")) continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        FILE *file = fopen(path, "r+b");
        assert_non_null(file);
        fseek(file, count % 2 ? 60 : 3, SEEK_SET); // in the binary, or in the header
        fwrite("spoiled", 1, 7, file);
        fclose(file);
        count++;
    }
    closedir(list);
    return count;
}

static void a_spoiled_cache_is_ignored_and_mended(void **state)
{
    (void)state;
    char folder[] = "/tmp/cutis_test_XXXXXX", cutis[64];
    const char *before = getenv("XDG_CACHE_HOME");
    char *kept = before ? strdup(before) : NULL;
    assert_non_null(mkdtemp(folder));
    setenv("XDG_CACHE_HOME", folder, 1);
    snprintf(cutis, sizeof cutis, "%s/cutis", folder);
    unsigned char first[100 * 24 * 8], again[100 * 24 * 8];
    for (int i = 0; i < 2; i++) {
        rig r = rig_make();
        assert_ok(r.context, run(&r, &r.to));
        assert_ok(r.context, cutis_buffer_read(r.buffer, 0, i ? again : first, sizeof first));
        rig_free(&r);
        if (i == 0) assert_true(spoil_cache(cutis) > 0);
    }
    assert_memory_equal(first, again, sizeof first);
    if (kept)
        setenv("XDG_CACHE_HOME", kept, 1);
    else
        unsetenv("XDG_CACHE_HOME");
    free(kept);
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_device_that_is_not_there_says_so),
        cmocka_unit_test(streams_that_do_not_fit_are_refused),
        cmocka_unit_test(a_batch_that_does_not_fit_in_device_memory_is_split),
        cmocka_unit_test(a_lost_device_fails_at_once_ever_after),
        cmocka_unit_test(a_kernel_that_does_not_build_gives_the_compilers_log),
        cmocka_unit_test(a_spoiled_cache_is_ignored_and_mended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
