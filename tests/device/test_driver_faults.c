/// Every call of an OpenCL or CUDA driver may fail, once or from then on: each step of a program
/// gives a result code and a text, nothing is leaked on host or device, a step that failed once
/// works when tried again (unless the device is lost), and nothing hangs.
#include "support.h"

#include "device/compute/basic.h"
#include "fake_drivers.h"
#include "skin_case.h"
#include "skin_run.h"

#include <unistd.h>

static size_t host_live; ///< bytes of the context's memory that are not given back

static void *count_allocate(void *user, size_t size, size_t alignment)
{
    (void)user;
    void *memory = aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
    if (memory) host_live += size;
    return memory;
}

static void count_release(void *user, void *memory, size_t size)
{
    (void)user;
    host_live -= size;
    free(memory);
}

typedef struct session {
    cutis_context *context;
    cutis_device *device;
    cutis_buffer *buffer;
    cutis_device_skin *skin;
    skin_case c;
    float *host;
    bool lost;
} session;

enum { VERTICES = 100, INSTANCES = 4, BYTES = VERTICES * 24 * INSTANCES, STEPS = 8 };

/// One step of a program that deforms on a device.
static cutis_result step(session *s, int index, cutis_device_kind kind)
{
    unsigned char bytes[64] = { 1, 2, 3 }, back[64] = { 0 };
    cutis_result result = CUTIS_OK;
    switch (index) {
    case 0:
        return cutis_device_create(s->context, &(cutis_device_options){ .kind = kind }, &s->device);
    case 1:
        return cutis_buffer_create(s->device, BYTES, &s->buffer);
    case 2:
        result = cutis_buffer_write(s->buffer, 8, bytes, sizeof bytes);
        if (result == CUTIS_OK) result = cutis_buffer_read(s->buffer, 8, back, sizeof back);
        if (result == CUTIS_OK) assert_memory_equal(bytes, back, sizeof bytes);
        return result;
    case 3:
        return fill_words_run(s->device, 16, (fill_words_buffers){ .words = s->buffer },
                              (fill_words_arguments){ .value = 0 });
    case 4:
        return s->device->operations->skin_create(s->device, &s->c.layout, &s->skin);
    case 5: {
        const skin_streams there = { .positions = { NULL, s->buffer, 0, 24, 2400 },
                                     .normals = { NULL, s->buffer, 12, 24, 2400 } };
        return skin_run(s->skin, &s->c.layout, &s->c.frames, &there);
    }
    case 6: {
        const skin_streams here = { .positions = { s->host, NULL, 0, 24, 2400 },
                                    .normals = { s->host + 3, NULL, 0, 24, 2400 } };
        return skin_run(s->skin, &s->c.layout, &s->c.frames, &here);
    }
    default:
        return cutis_device_finish(s->device);
    }
}

/// All steps, with call `fail_at` failing. @return whether that call was reached
static bool run_program(cutis_device_kind kind, int code, long fail_at, bool persistent)
{
    const skin_options o = { .seed = 3,
                             .normal_rule = CUTIS_NORMAL_UNIT,
                             .block_size = 32,
                             .vertex_count = VERTICES,
                             .bone_count = 5,
                             .influences = 4,
                             .instance_count = INSTANCES };
    const cutis_context_options options = { .allocator = { count_allocate, count_release, NULL } };
    session s = { .host = calloc(1, BYTES) };
    assert_int_equal(cutis_context_create(&options, &s.context), CUTIS_OK);
    skin_case_make(&s.c, &o);
    fake.calls = fake.failed = 0;
    fake.fail_at = fail_at, fake.persistent = persistent, fake.code = code;
    for (int i = 0; i < STEPS; i++) {
        cutis_result result = step(&s, i, kind);
        if (result == CUTIS_OK) continue;
        assert_true(cutis_context_error(s.context)[0] != 0);
        if (fake.failed == 0) fail_msg("step %d failed though no call did", i);
        s.lost = s.lost || result == CUTIS_DEVICE_LOST;
        if (persistent || s.lost) break;
        result = step(&s, i, kind); // once more: the fault has passed
        if (result != CUTIS_OK)
            fail_msg("step %d, call %ld: again: %s", i, fail_at, cutis_context_error(s.context));
    }
    bool reached = fake.failed > 0;
    if (s.skin) s.device->operations->skin_destroy(s.skin);
    cutis_buffer_destroy(s.buffer);
    if (s.device) cutis_device_destroy(s.device);
    cutis_context_destroy(s.context);
    skin_case_free(&s.c);
    free(s.host);
    if (fake.live)
        fail_msg("call %ld (%d): %ld objects of the driver leak", fail_at, code, fake.live);
    if (host_live) fail_msg("call %ld (%d): %zu bytes leak", fail_at, code, host_live);
    return reached;
}

static void every_call_fails_in_turn(cutis_device_kind kind, const int *codes, int code_count)
{
    long calls = 0;
    for (int c = 0; c < code_count; c++)
        for (int persistent = 0; persistent < 2; persistent++)
            for (long k = 1;; k++) {
                if (!run_program(kind, codes[c], k, persistent)) break;
                calls = k;
            }
    print_message("%ld calls, each failing %d ways\n", calls, 2 * code_count);
    assert_true(calls > 40);
}

static void every_opencl_call_may_fail(void **state)
{
    (void)state;
    const int codes[] = { -4, -5, -30, -36 }; // no memory, lost, nonsense, lost
    every_call_fails_in_turn(CUTIS_DEVICE_OPENCL, codes, 4);
}

static void every_cuda_call_may_fail(void **state)
{
    (void)state;
    const int codes[] = { 2, 700, 1 }; // no memory, illegal address (lost), invalid value
    every_call_fails_in_turn(CUTIS_DEVICE_CUDA, codes, 3);
}

static int no_cache(void **state) // else compiling is seen only once
{
    (void)state;
    return setenv("XDG_CACHE_HOME", "/nowhere/at/all", 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_opencl_call_may_fail),
        cmocka_unit_test(every_cuda_call_may_fail),
    };
    return cmocka_run_group_tests(tests, no_cache, NULL);
}
