/// The CPU device as users see it: creation, listing, instruction sets, buffers, refusals.
#include "support.h"

#include "device/cpu/cpu.h"

static cutis_context *context_of(void **state)
{
    return *state;
}

static int setup(void **state)
{
    cutis_context *context = NULL;
    unsetenv("CUTIS_ISA");
    if (cutis_context_create(NULL, &context) != CUTIS_OK) return -1;
    *state = context;
    return 0;
}

static int teardown(void **state)
{
    const uint64_t left = cutis_context_memory(*state);
    unsetenv("CUTIS_ISA");
    cutis_context_destroy(*state);
    return left == 0 ? 0 : -1;
}

static void the_default_device_is_the_cpu_with_all_cores(void **state)
{
    cutis_device *device = NULL;
    assert_ok(context_of(state), cutis_device_create(context_of(state), NULL, &device));
    const cutis_device_info info = cutis_device_describe(device);
    assert_int_equal(info.kind, CUTIS_DEVICE_CPU);
    assert_true(info.available && info.thread_count >= 1 && info.name[0] && info.detail[0]);
    assert_true(info.isa != CUTIS_ISA_AUTO);
    cutis_device_destroy(device);
    cutis_device_destroy(NULL);
}

static void the_list_begins_with_the_cpu_and_counts_beyond_its_capacity(void **state)
{
    cutis_device_info infos[16];
    uint32_t none = 0, count = 0;
    assert_ok(context_of(state), cutis_device_list(context_of(state), 0, NULL, &none));
    assert_ok(context_of(state), cutis_device_list(context_of(state), 16, infos, &count));
    assert_int_equal(none, count);
    assert_true(count >= 1);
    assert_int_equal(infos[0].kind, CUTIS_DEVICE_CPU);
    assert_true(infos[0].available);
    for (uint32_t i = 0; i < count && i < 16; i++)
        if (!infos[i].available) assert_true(infos[i].detail[0] != '\0'); // it says why
}

static void the_environment_lowers_the_instruction_set_and_never_raises_it(void **state)
{
    cutis_cpu_variant best, chosen;
    assert_true(cutis_cpu_choose(CUTIS_ISA_AUTO, &best));
    setenv("CUTIS_ISA", "scalar", 1);
    assert_true(cutis_cpu_choose(CUTIS_ISA_AUTO, &chosen));
    assert_int_equal(chosen.isa, CUTIS_ISA_SCALAR);
    cutis_device *device = NULL;
    const cutis_device_options options = { .isa = best.isa };
    assert_ok(context_of(state), cutis_device_create(context_of(state), &options, &device));
    assert_int_equal(cutis_device_describe(device).isa, CUTIS_ISA_SCALAR);
    cutis_device_destroy(device);
    setenv("CUTIS_ISA", "avx512", 1);
    assert_true(cutis_cpu_choose(CUTIS_ISA_SCALAR, &chosen));
    assert_int_equal(chosen.isa, CUTIS_ISA_SCALAR);
    setenv("CUTIS_ISA", "no such thing", 1);
    assert_true(cutis_cpu_choose(CUTIS_ISA_AUTO, &chosen));
    assert_int_equal(chosen.isa, best.isa);
}

static void an_instruction_set_of_another_machine_is_refused_with_its_name(void **state)
{
#if defined(__aarch64__)
    const cutis_isa foreign = CUTIS_ISA_AVX2;
#else
    const cutis_isa foreign = CUTIS_ISA_NEON;
#endif
    cutis_device *device = NULL;
    const cutis_device_options options = { .isa = foreign };
    assert_int_equal(cutis_device_create(context_of(state), &options, &device),
                     CUTIS_DEVICE_UNAVAILABLE);
    assert_null(device);
    assert_non_null(strstr(cutis_context_error(context_of(state)), cutis_isa_name(foreign)));
}

static void buffers_keep_what_is_written_and_refuse_what_lies_outside(void **state)
{
    cutis_device *device = NULL;
    cutis_buffer *buffer = NULL, *wrapped = NULL;
    unsigned char data[100], back[100] = { 0 };
    for (int i = 0; i < 100; i++) data[i] = (unsigned char)(i * 7);
    assert_ok(context_of(state), cutis_device_create(context_of(state), NULL, &device));
    assert_ok(context_of(state), cutis_buffer_create(device, 100, &buffer));
    assert_ok(context_of(state), cutis_buffer_write(buffer, 0, data, 100));
    assert_ok(context_of(state), cutis_buffer_read(buffer, 10, back, 90));
    assert_memory_equal(back, data + 10, 90);
    assert_int_equal(cutis_buffer_write(buffer, 1, data, 100), CUTIS_INVALID_ARGUMENT);
    assert_int_equal(cutis_buffer_read(buffer, UINT64_MAX, back, 2), CUTIS_INVALID_ARGUMENT);
    assert_int_equal(cutis_buffer_read(buffer, 101, back, 0), CUTIS_INVALID_ARGUMENT);
    assert_int_equal(cutis_buffer_create(device, 0, &wrapped), CUTIS_INVALID_ARGUMENT);
    assert_int_equal(cutis_buffer_wrap(device, 0, 10, &wrapped), CUTIS_INVALID_ARGUMENT);
    assert_ok(context_of(state),
              cutis_buffer_wrap(device, (uint64_t)(uintptr_t)back, 100, &wrapped));
    assert_int_equal(cutis_buffer_handle(wrapped), (uint64_t)(uintptr_t)back);
    assert_ok(context_of(state), cutis_buffer_write(wrapped, 5, data, 3));
    assert_memory_equal(back + 5, data, 3);
    assert_ok(context_of(state), cutis_device_finish(device));
    cutis_buffer_destroy(wrapped);
    cutis_buffer_destroy(buffer);
    cutis_buffer_destroy(NULL);
    cutis_device_destroy(device);
}

static void every_kind_and_instruction_set_has_a_name(void **state)
{
    (void)state;
    static const char *const ISAS[] = {
        "auto", "scalar", "sse2", "neon", "avx2", "avx512", "wasm"
    };
    for (int i = 0; i < 7; i++) assert_string_equal(cutis_isa_name((cutis_isa)i), ISAS[i]);
    assert_string_equal(cutis_device_kind_name(CUTIS_DEVICE_CPU), "cpu");
    assert_string_equal(cutis_device_kind_name(CUTIS_DEVICE_OPENCL), "opencl");
    assert_string_equal(cutis_device_kind_name(CUTIS_DEVICE_CUDA), "cuda");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_default_device_is_the_cpu_with_all_cores, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(the_list_begins_with_the_cpu_and_counts_beyond_its_capacity,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(
            the_environment_lowers_the_instruction_set_and_never_raises_it, setup, teardown),
        cmocka_unit_test_setup_teardown(
            an_instruction_set_of_another_machine_is_refused_with_its_name, setup, teardown),
        cmocka_unit_test_setup_teardown(buffers_keep_what_is_written_and_refuse_what_lies_outside,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(every_kind_and_instruction_set_has_a_name, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
