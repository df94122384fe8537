/// Item kernels (device/compute.h): the same bits on the CPU with any number of threads and on
/// OpenCL as a plain loop in this file; wrong calls are named.
#include "support.h"

#include "device/compute/basic.h"
#include "device/compute/crowd.h"
#include "kernel/kernel.h"
#include "kernel/pack.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 100003, STRETCH = 257, SUMS = (COUNT + STRETCH - 1) / STRETCH };

static double draw(uint64_t *state)
{
    *state = *state * 6364136223846793005ull + 1442695040888963407ull;
    return ((double)(*state >> 11) / 0x1p53 - 0.5) * pow(10, (double)(*state >> 60) - 8);
}

static double *numbers(void)
{
    uint64_t state = 7;
    double *all = malloc(COUNT * sizeof *all);
    for (int i = 0; i < COUNT; i++) all[i] = draw(&state);
    return all;
}

static cutis_device *open_device(cutis_context *context, cutis_device_kind kind, uint32_t threads)
{
    cutis_device *device = NULL;
    cutis_device_options options = { .kind = kind, .thread_count = threads };
    if (cutis_device_create(context, &options, &device) == CUTIS_OK) return device;
    print_message("skip: %s\n", cutis_context_error(context));
    cutis_context_destroy(context);
    skip();
    return NULL;
}

static void check_sums(cutis_device_kind kind, uint32_t threads)
{
    cutis_context *context = NULL;
    assert_int_equal(cutis_context_create(NULL, &context), CUTIS_OK);
    cutis_device *device = open_device(context, kind, threads);
    double *in = numbers(), out[SUMS];
    cutis_buffer *from = NULL, *to = NULL;
    assert_ok(context, cutis_buffer_create(device, COUNT * 8, &from));
    assert_ok(context, cutis_buffer_create(device, SUMS * 8, &to));
    assert_ok(context, cutis_buffer_write(from, 0, in, COUNT * 8));
    assert_ok(context, fill_words_run(device, SUMS * 2, (fill_words_buffers){ .words = to },
                                      (fill_words_arguments){ .value = -1 }));
    assert_ok(context, sum_stretches_run(
                           device, SUMS - 1, (sum_stretches_buffers){ .values = from, .sums = to },
                           (sum_stretches_arguments){ .count = COUNT, .stretch = STRETCH }));
    assert_ok(context, cutis_buffer_read(to, 0, out, sizeof out));
    for (int s = 0; s < SUMS - 1; s++) {
        double expected = 0;
        for (int i = 0; i < STRETCH; i++) expected += in[s * STRETCH + i];
        assert_memory_equal(&out[s], &expected, 8);
    }
    int64_t untouched; // the last was filled, and no item ran for it
    memcpy(&untouched, &out[SUMS - 1], 8);
    assert_true(untouched == -1);
    cutis_buffer_destroy(from);
    cutis_buffer_destroy(to);
    cutis_device_destroy(device);
    cutis_context_destroy(context);
    free(in);
}

static void sums_have_the_bits_of_a_plain_loop_on_any_number_of_threads(void **state)
{
    (void)state;
    check_sums(CUTIS_DEVICE_CPU, 1);
    check_sums(CUTIS_DEVICE_CPU, 2);
    check_sums(CUTIS_DEVICE_CPU, 7);
}

static void sums_have_the_bits_of_a_plain_loop_on_a_gpu(void **state)
{
    (void)state;
    check_sums(gpu_kind(), 0);
}

// What item.h promises of double: division and roots are correctly rounded. The kernel is this
// test's own.
static const char PROBE[] =
    "typedef struct { int first, end; } range;\n"
    "__kernel void probe(__global const double *in, __global double *out, range given)\n"
    "{\n"
    "    int i = given.first + (int)get_global_id(0);\n"
    "    if (i < given.end) {\n"
    "        out[3 * i] = in[i] / in[i + 1];\n"
    "        out[3 * i + 1] = sqrt(fabs(in[i]));\n"
    "        out[3 * i + 2] = (float)((double)(float)in[i] / (double)(float)in[i + 1]);\n"
    "    }\n"
    "}\n";

static void division_and_roots_have_the_bits_of_c_on_opencl(void **state)
{
    (void)state;
    static const char *const none[] = { NULL };
    const cutis_compute_kernel probe = { .entry = "probe",
                                         .texts = none,
                                         .defines = PROBE,
                                         .buffer_count = 2,
                                         .argument_size = 2 * sizeof(int),
                                         .writes = (const bool[]){ false, true } };
    cutis_context *context = NULL;
    assert_int_equal(cutis_context_create(NULL, &context), CUTIS_OK);
    cutis_device *device = open_device(context, CUTIS_DEVICE_OPENCL, 0);
    double *in = numbers(), *out = malloc(3 * COUNT * 8);
    cutis_buffer *from = NULL, *to = NULL;
    assert_ok(context, cutis_buffer_create(device, COUNT * 8, &from));
    assert_ok(context, cutis_buffer_create(device, 3 * COUNT * 8, &to));
    assert_ok(context, cutis_buffer_write(from, 0, in, COUNT * 8));
    const cutis_buffer *buffers[] = { from, to };
    const int range[2] = { 0 };
    assert_ok(context, cutis_compute_run(device, &probe, COUNT - 1, buffers, range));
    assert_ok(context, cutis_buffer_read(to, 0, out, (COUNT - 1) * 24));
    int differ = 0;
    for (int i = 0; i < COUNT - 1; i++) {
        float quotient = (float)in[i] / (float)in[i + 1];
        double expected[3] = { in[i] / in[i + 1], sqrt(fabs(in[i])), quotient };
        differ += memcmp(expected, out + 3 * i, 24) != 0;
    }
    assert_int_equal(differ, 0);
    cutis_buffer_destroy(from);
    cutis_buffer_destroy(to);
    cutis_device_destroy(device);
    cutis_context_destroy(context);
    free(in);
    free(out);
}

static void check_scan(cutis_device_kind kind)
{
    static const uint32_t sizes[] = { 0, 1, 63, 64, 65, 4095, 4096, 5000, 300001 };
    cutis_context *context = NULL;
    assert_int_equal(cutis_context_create(NULL, &context), CUTIS_OK);
    cutis_device *device = open_device(context, kind, 2);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        const uint32_t count = sizes[s];
        const uint64_t words = cutis_compute_scan_words(count);
        int32_t *in = malloc(words * 4), *out = malloc(words * 4), sum = 0;
        cutis_buffer *buffer = NULL;
        for (uint32_t i = 0; i < words; i++) in[i] = (int32_t)(i * 2654435761u >> 24);
        assert_ok(context, cutis_buffer_create(device, words * 4, &buffer));
        assert_ok(context, cutis_buffer_write(buffer, 0, in, words * 4));
        assert_ok(context, cutis_compute_scan(device, buffer, count));
        assert_ok(context, cutis_buffer_read(buffer, 0, out, words * 4));
        for (uint32_t i = 0; i <= count; sum += in[i++]) assert_int_equal(out[i], sum);
        cutis_buffer_destroy(buffer);
        free(in), free(out);
    }
    cutis_device_destroy(device);
    cutis_context_destroy(context);
}

static void prefix_sums_are_those_of_a_loop(void **state)
{
    (void)state;
    check_scan(CUTIS_DEVICE_CPU);
}

static void prefix_sums_are_those_of_a_loop_on_a_gpu(void **state)
{
    (void)state;
    check_scan(gpu_kind());
}

static void a_buffer_of_another_device_is_refused(void **state)
{
    (void)state;
    cutis_context *context = NULL;
    assert_int_equal(cutis_context_create(NULL, &context), CUTIS_OK);
    cutis_device *one = open_device(context, CUTIS_DEVICE_CPU, 1);
    cutis_device *two = open_device(context, CUTIS_DEVICE_CPU, 1);
    cutis_buffer *buffer = NULL;
    assert_ok(context, cutis_buffer_create(one, 64, &buffer));
    assert_int_equal(fill_words_run(two, 4, (fill_words_buffers){ .words = buffer },
                                    (fill_words_arguments){ .value = 0 }),
                     CUTIS_INVALID_ARGUMENT);
    assert_non_null(strstr(cutis_context_error(context), "another device"));
    // What a kernel reads, it does not write: one buffer as both is a mistake of the program.
    assert_int_equal(sum_stretches_run(one, 1,
                                       (sum_stretches_buffers){ .values = buffer, .sums = buffer },
                                       (sum_stretches_arguments){ .count = 1, .stretch = 1 }),
                     CUTIS_INTERNAL);
    cutis_buffer_destroy(buffer);
    cutis_device_destroy(one);
    cutis_device_destroy(two);
    cutis_context_destroy(context);
}

// Large transfers go in pieces through pinned memory: sizes around whole pieces, the source changed
// as soon as a write returns.
static void large_buffers_come_back_as_they_went(void **state)
{
    (void)state;
    enum { MEGABYTE = 1 << 20 };
    static const size_t sizes[] = { 8 * MEGABYTE - 1, 8 * MEGABYTE, 24 * MEGABYTE + 12345 };
    cutis_context *context = NULL;
    assert_int_equal(cutis_context_create(NULL, &context), CUTIS_OK);
    cutis_device *device = open_device(context, gpu_kind(), 2);
    for (int i = 0; i < 3; i++) {
        const size_t size = sizes[i], offset = 7;
        uint8_t *data = malloc(size), *back = malloc(size), *copy = malloc(size);
        cutis_buffer *buffer = NULL;
        for (size_t k = 0; k < size; k++) copy[k] = data[k] = (uint8_t)(k * 2654435761u >> 13);
        assert_ok(context, cutis_buffer_create(device, size + 16, &buffer));
        assert_ok(context, cutis_buffer_write(buffer, offset, data, size));
        memset(data, 0xee, size);
        assert_ok(context, cutis_buffer_read(buffer, offset, back, size));
        assert_true(memcmp(back, copy, size) == 0);
        cutis_buffer_destroy(buffer);
        free(data), free(back), free(copy);
    }
    cutis_device_destroy(device);
    cutis_context_destroy(context);
}

enum { PACK_VERTICES = 131, PACK_SLOTS = 3, PACK_ALL = PACK_VERTICES * PACK_SLOTS };

/// One vertex of six floats by the functions of kernel/pack.h; @return how many words.
static int pack_one(const float *v, int half_positions, int normals, unsigned *out)
{
    int count = 2;
    if (half_positions) {
        out[0] = pack_half(v[0]) | pack_half(v[1]) << 16;
        out[1] = pack_half(v[2]) | 0x3c000000u;
    } else {
        memcpy(out, v, 12);
        count = 3;
    }
    if (normals == 1) memcpy(out + count, v + 3, 12);
    if (normals == 2) out[count] = pack_octahedral(v[3], v[4], v[5]);
    return count + (normals == 1 ? 3 : normals == 2);
}

static void check_packing(cutis_context *context, cutis_device *device, const float *vertices,
                          int half_positions, int normals)
{
    unsigned packed[6 * PACK_ALL] = { 0 }, one[6];
    cutis_buffer *from = NULL, *to = NULL;
    const int words = pack_one(vertices, half_positions, normals, one);
    assert_ok(context, cutis_buffer_create(device, sizeof packed, &from));
    assert_ok(context, cutis_buffer_create(device, sizeof packed, &to));
    assert_ok(context, cutis_buffer_write(from, 0, vertices, sizeof packed));
    const crowd_pack_arguments arguments = { .from_step = 6 * PACK_VERTICES,
                                             .to_step = words * PACK_VERTICES,
                                             .vertex_count = PACK_VERTICES,
                                             .from_words = 6,
                                             .to_words = words,
                                             .half_positions = half_positions,
                                             .normals = normals };
    assert_ok(context, crowd_pack_run(device, PACK_ALL,
                                      (crowd_pack_buffers){ .from = from, .to = to }, arguments));
    assert_ok(context, cutis_buffer_read(to, 0, packed, sizeof packed));
    for (int i = 0; i < PACK_ALL; i++) {
        pack_one(vertices + (size_t)6 * i, half_positions, normals, one);
        for (int w = 0; w < words; w++) assert_int_equal(packed[words * i + w], one[w]);
    }
    cutis_buffer_destroy(from);
    cutis_buffer_destroy(to);
}

static void every_width_of_vectors_packs_the_same_words(void **state)
{
    (void)state;
    cutis_context *context = NULL;
    assert_int_equal(cutis_context_create(NULL, &context), CUTIS_OK);
    float vertices[6 * PACK_ALL];
    uint64_t seed = 5;
    for (int i = 0; i < 6 * PACK_ALL; i++)
        vertices[i] = i % 37 == 5 ? -0.0f : i % 53 == 7 ? INFINITY : (float)draw(&seed);
    for (cutis_isa isa = CUTIS_ISA_AUTO; isa <= CUTIS_ISA_AVX512; isa++) {
        cutis_device *device = NULL;
        const cutis_device_options options = { .thread_count = 1, .isa = isa };
        if (cutis_device_create(context, &options, &device) != CUTIS_OK) continue;
        for (int half = 0; half < 2; half++)
            for (int normals = 0; normals < 3; normals++)
                check_packing(context, device, vertices, half, normals);
        cutis_device_destroy(device);
    }
    cutis_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_width_of_vectors_packs_the_same_words),
        cmocka_unit_test(sums_have_the_bits_of_a_plain_loop_on_any_number_of_threads),
        cmocka_unit_test(sums_have_the_bits_of_a_plain_loop_on_a_gpu),
        cmocka_unit_test(division_and_roots_have_the_bits_of_c_on_opencl),
        cmocka_unit_test(prefix_sums_are_those_of_a_loop),
        cmocka_unit_test(prefix_sums_are_those_of_a_loop_on_a_gpu),
        cmocka_unit_test(a_buffer_of_another_device_is_refused),
        cmocka_unit_test(large_buffers_come_back_as_they_went),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
