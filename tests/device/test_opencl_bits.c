/// The OpenCL device writes the bits of the scalar CPU reference: every formula, both paths, every
/// option and layout of the outputs, in one launch for many instances. Runs on whatever OpenCL
/// there is (PoCL in CI); skips visibly without.
#include "support.h"

#include <stdatomic.h>

#include "device/cpu/cpu.h"
#include "device/gpu/gpu.h"
#include "device/opencl/opencl.h"
#include "skin_case.h"
#include "skin_run.h"

#include <dlfcn.h>
#include <pthread.h>

#define POISON 0xc7

typedef struct fixture {
    cutis_context *context;
    cutis_device *cpu, *gpu; ///< gpu: NULL where there is none
    char why[256];
} fixture;

static fixture F;

static int setup(void **state)
{
    (void)state;
    cutis_cpu_variant all[8];
    if (cutis_context_create(NULL, &F.context) != CUTIS_OK) return -1;
    if (cutis_cpu_device_create(F.context, &(cutis_device_options){ .thread_count = 1 }, &F.cpu) !=
        CUTIS_OK)
        return -1;
    cutis_cpu_variants(all);
    cutis_cpu_device_use(F.cpu, &all[0]); // the plain scalar reference
    if (cutis_device_create(F.context, &(cutis_device_options){ .kind = CUTIS_DEVICE_OPENCL },
                            &F.gpu) != CUTIS_OK)
        snprintf(F.why, sizeof F.why, "%s", cutis_context_error(F.context));
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    cutis_device_destroy(F.gpu);
    cutis_device_destroy(F.cpu);
    cutis_context_destroy(F.context);
    return 0;
}

static cutis_gpu *gpu_or_skip(void)
{
    if (!F.gpu) {
        print_message("skip: %s\n", F.why);
        skip();
    }
    return (cutis_gpu *)F.gpu;
}

// Runs
// ------------------------------------------------------------------------------------------------

/// Interleaved outputs: position, normal, tangent, previous of each vertex, with a gap; or a stream
/// each.
typedef struct outputs {
    uint32_t stride; ///< of a vertex, bytes
    uint64_t step;   ///< of an instance
    size_t size;
    unsigned char *bytes;
    uint32_t normal, tangent, previous; ///< offsets in a vertex; 0: not wanted
    cutis_bounds *bounds;
} outputs;

/// `gap` bytes between vertices; `previous`: keep the old positions too.
static outputs outputs_make(const skin_case *c, uint32_t gap, bool previous)
{
    outputs out = { .stride = 12 };
    if (c->layout.normals) out.normal = out.stride, out.stride += 12;
    if (c->layout.tangents) out.tangent = out.stride, out.stride += 16;
    if (previous) out.previous = out.stride, out.stride += 12;
    out.stride += gap;
    out.step = (uint64_t)out.stride * c->options.vertex_count + gap;
    out.size = (size_t)out.step * c->options.instance_count;
    out.bytes = malloc(out.size);
    memset(out.bytes, POISON, out.size);
    out.bounds = calloc(c->options.instance_count, sizeof *out.bounds);
    return out;
}

static void outputs_free(outputs *out)
{
    free(out->bytes);
    free(out->bounds);
}

static cutis_output_stream stream(const outputs *out, uint32_t offset, cutis_buffer *buffer,
                                  bool wanted)
{
    if (!wanted) return (cutis_output_stream){ .stride = 12, .instance_stride = 12 };
    return (cutis_output_stream){ buffer ? NULL : out->bytes + offset, buffer, buffer ? offset : 0,
                                  out->stride, out->step };
}

static skin_streams streams(const outputs *out, cutis_buffer *buffer, bool bounds)
{
    return (skin_streams){
        .positions = stream(out, 0, buffer, true),
        .normals = stream(out, out->normal, buffer, out->normal),
        .tangents = stream(out, out->tangent, buffer, out->tangent),
        .previous = stream(out, out->previous, buffer, out->previous),
        .bounds = bounds ? out->bounds : NULL,
    };
}

static cutis_device_skin *skin_make(cutis_device *device, const skin_case *c)
{
    cutis_device_skin *skin = NULL;
    assert_ok(device->context, device->operations->skin_create(device, &c->layout, &skin));
    return skin;
}

static void run_host(cutis_device *device, const skin_case *c, outputs *out, bool bounds)
{
    cutis_device_skin *skin = skin_make(device, c);
    const skin_streams to = streams(out, NULL, bounds);
    assert_ok(device->context, skin_run(skin, &c->layout, &c->frames, &to));
    device->operations->skin_destroy(skin);
}

static void run_buffer(cutis_device *device, const skin_case *c, outputs *out, bool bounds)
{
    cutis_buffer *buffer = NULL;
    cutis_device_skin *skin = skin_make(device, c);
    assert_ok(F.context, cutis_buffer_create(device, out->size, &buffer));
    assert_ok(F.context, cutis_buffer_write(buffer, 0, out->bytes, out->size));
    const skin_streams to = streams(out, buffer, bounds);
    assert_ok(F.context, skin_run(skin, &c->layout, &c->frames, &to));
    assert_ok(F.context, cutis_buffer_read(buffer, 0, out->bytes, out->size));
    device->operations->skin_destroy(skin);
    cutis_buffer_destroy(buffer);
}

static bool same_bits(const void *a, const void *b)
{
    float f, g;
    memcpy(&f, a, 4);
    memcpy(&g, b, 4);
    return memcmp(a, b, 4) == 0 || (isnan(f) && isnan(g));
}

/// Every byte: outputs, gaps, what was kept.
static void compare(const skin_case *c, const char *name, const outputs *a, const outputs *expected)
{
    assert_int_equal(a->size, expected->size);
    for (size_t i = 0; i + 4 <= a->size; i += 4)
        if (!same_bits(a->bytes + i, expected->bytes + i)) {
            float f, g;
            size_t instance = i / a->step, byte = i % a->step;
            memcpy(&f, a->bytes + i, 4);
            memcpy(&g, expected->bytes + i, 4);
            fail_msg("%s: formula %d, instance %zu, vertex %zu, byte %zu: %a, the reference has %a",
                     name, c->options.formula, instance, byte / a->stride, byte % a->stride, f, g);
        }
    assert_memory_equal(a->bounds, expected->bounds, c->options.instance_count * sizeof *a->bounds);
}

static void check(const skin_options *options, const char *name, uint32_t gap, bool previous,
                  bool bounds, bool buffer)
{
    skin_case c;
    skin_options reference_options = *options;
    reference_options.block_size = 16;
    skin_case_make(&c, &reference_options);
    outputs expected = outputs_make(&c, gap, previous), out = outputs_make(&c, gap, previous);
    run_host(F.cpu, &c, &expected, bounds);
    if (options->block_size != 16) {
        skin_case_free(&c);
        skin_case_make(&c, options);
    }
    if (buffer)
        run_buffer(F.gpu, &c, &out, bounds);
    else
        run_host(F.gpu, &c, &out, bounds);
    compare(&c, name, &out, &expected);
    outputs_free(&expected);
    outputs_free(&out);
    skin_case_free(&c);
}

static const cutis_formula FORMULAS[5] = { CUTIS_FORMULA_LBS, CUTIS_FORMULA_SBS,
                                           CUTIS_FORMULA_SBS_WEIGHTED, CUTIS_FORMULA_DQS,
                                           CUTIS_FORMULA_COR };

static skin_options base_options(cutis_formula formula)
{
    return (skin_options){ .seed = 700 + (uint64_t)formula,
                           .formula = formula,
                           .normal_rule = CUTIS_NORMAL_UNIT,
                           .block_size = 32,
                           .vertex_count = 1237,
                           .bone_count = 24,
                           .influences = 8,
                           .instance_count = 20,
                           .nasty = true,
                           .shuffled = true,
                           .nonuniform = true };
}

// Tests
// -----------------------------------------------------------------------------------------------

static void every_formula_has_the_reference_bits_on_even_and_nonuniform_frames(void **state)
{
    (void)state;
    gpu_or_skip();
    for (int f = 0; f < 5; f++) {
        skin_options o = base_options(FORMULAS[f]);
        check(&o, "nasty", 0, false, false, false);
        o.nasty = false;
        check(&o, "tame", 0, false, false, true);
        o.block_size = 16; // the runtime packs it again
        check(&o, "packed again", 0, false, false, true);
    }
}

static void raw_normals_and_no_normals_have_the_reference_bits(void **state)
{
    (void)state;
    gpu_or_skip();
    skin_options o = base_options(CUTIS_FORMULA_LBS);
    o.normal_rule = CUTIS_NORMAL_RAW;
    check(&o, "raw", 0, false, false, true);
    o.formula = CUTIS_FORMULA_DQS;
    check(&o, "raw", 0, false, false, true);
    o.normal_rule = CUTIS_NORMAL_NONE;
    check(&o, "none", 0, false, false, true);
}

static void tangents_morphs_and_blend_factors_have_the_reference_bits(void **state)
{
    (void)state;
    gpu_or_skip();
    for (int f = 0; f < 5; f++) {
        skin_options o = base_options(FORMULAS[f]);
        o.block_size = 16; // morph targets of a case depend on its blocks
        o.vertex_count = 333;
        o.instance_count = 5;
        o.tangents = true;
        o.target_count = 5;
        o.blend = f > 0;
        // Huge morphs times huge bones overflow in DQS's images, and 0 * inf of a bone that a
        // vertex does not have is NaN.
        o.nasty = FORMULAS[f] != CUTIS_FORMULA_DQS;
        o.linear_normals = FORMULAS[f] == CUTIS_FORMULA_SBS;
        check(&o, "everything", 0, false, false, false);
    }
    skin_options o = base_options(CUTIS_FORMULA_LBS);
    o.tangents = true;
    o.normal_rule = CUTIS_NORMAL_NONE;
    o.instance_count = 3;
    check(&o, "tangents alone", 0, false, false, true);
    o = base_options(CUTIS_FORMULA_LBS); // amounts of targets in shared memory, and too many for it
    o.block_size = 16;
    o.instance_count = 21;
    for (o.target_count = 5; o.target_count <= 150; o.target_count += 145)
        check(&o, "morphs without tangents", 0, false, o.target_count == 5, true);
}

static skin_options pose_options(uint32_t kind)
{
    static const uint32_t POSES[4] = { 8, 4, 12, 24 };
    skin_options o = base_options(CUTIS_FORMULA_LBS);
    o.seed += 40000 + kind;
    o.vertex_count = 333;
    o.influences = 4;
    o.instance_count = 21; // an odd one, in groups of several
    o.pose_count = POSES[kind % 4];
    o.gaussian = kind / 4 % 2;
    o.shuffled = kind % 3 != 1;
    o.nasty = kind % 2;
    return o;
}

static void weighted_pose_space_has_the_reference_bits(void **state)
{
    (void)state;
    cutis_gpu *gpu = gpu_or_skip();
    const uint32_t tile = gpu->pose_tile;
    for (uint32_t kind = 0; kind < 8; kind++) {
        skin_options o = pose_options(kind);
        gpu->pose_tile = 1 + kind % 3;
        check(&o, "poses", 0, false, kind == 5, kind % 2);
    }
    gpu->pose_tile = tile;
    skin_options o = pose_options(0);
    o.normal_rule = CUTIS_NORMAL_NONE;
    check(&o, "poses without normals", 0, false, false, true);
    o = pose_options(2);
    o.normal_rule = CUTIS_NORMAL_RAW;
    o.block_size = 16; // the runtime packs it again; morph targets of a case depend on its blocks
    o.tangents = true;
    o.target_count = 3;
    check(&o, "poses, tangents and morphs", 0, false, false, false);
}

static void weighted_pose_space_has_the_same_bits_through_shared_memory_and_without(void **state)
{
    (void)state;
    cutis_gpu *gpu = gpu_or_skip();
    const uint32_t warps = gpu->warps, local = gpu->local_bytes_max;
    const bool staged = gpu->staged;
    gpu->warps = 1;
    gpu->staged = true;
    for (uint32_t kind = 0; kind < 3; kind++) {
        skin_options o = pose_options(kind);
        check(&o, "staged poses", 0, false, false, true);
    }
    gpu->warps = warps;
    gpu->staged = staged;
    gpu->local_bytes_max = 8 * 1024;
    skin_options o = pose_options(3);
    o.bone_count = 100;
    o.shuffled = false;
    check(&o, "far poses", 0, false, false, true);
    gpu->local_bytes_max = local;
}

static void gaps_previous_positions_and_bounds_are_as_on_the_cpu(void **state)
{
    (void)state;
    gpu_or_skip();
    skin_options o = base_options(CUTIS_FORMULA_LBS);
    o.nasty = false;
    o.instance_count = 7;
    for (int buffer = 0; buffer < 2; buffer++) {
        check(&o, "gaps", 20, false, false, buffer);
        check(&o, "previous", 8, true, false, buffer);
        check(&o, "bounds", 0, false, true, buffer);
    }
}

/// Packed records through shared memory, as on NVIDIA devices, one warp a group; both orders of
/// vertices.
static void packed_records_through_shared_memory_have_the_same_bits(void **state)
{
    (void)state;
    cutis_gpu *gpu = gpu_or_skip();
    const uint32_t warps = gpu->warps;
    const bool staged = gpu->staged;
    gpu->warps = 1;
    gpu->staged = true;
    for (int order = 0; order < 3; order++) {
        static const char *const orders[] = { "output", "bound", "fours" };
        setenv("CUTIS_GPU_ORDER", orders[order], 1);
        skin_options o = base_options(CUTIS_FORMULA_LBS);
        check(&o, "staged", 0, false, false, true);
        o.normal_rule = CUTIS_NORMAL_NONE;
        o.vertex_count = 1024; // instances stay aligned without normals
        check(&o, "staged positions", 0, false, false, true);
        o = base_options(CUTIS_FORMULA_SBS); // blocks of one bone set share their centre's images
        o.nasty = order != 0;
        o.influences = 3;
        o.bone_count = 4;
        check(&o, "staged centres", 0, false, false, true);
        o = base_options(CUTIS_FORMULA_DQS);
        o.tangents = true;
        o.vertex_count = 640;
        o.shuffled = false;
        check(&o, "staged tangents", 0, false, true, true);
    }
    unsetenv("CUTIS_GPU_ORDER");
    gpu->warps = warps;
    gpu->staged = staged;
}

/// NVIDIA's compiler did that (-9999): the skin runs all the same, and the reference's bits come.
static void a_compiler_that_refuses_lists_in_registers_gets_a_kernel_without(void **state)
{
    (void)state;
    cutis_gpu *gpu = gpu_or_skip();
    const cutis_gpu before = *gpu;
    gpu->warps = 1;
    gpu->staged = true;
    gpu->tuning = "#if SKIN_LISTS\n#error too many loops\n#endif\n";
    skin_options o = base_options(CUTIS_FORMULA_DQS);
    o.nonuniform = false;
    check(&o, "refused", 0, false, false, true);
    assert_true(gpu->lists_refused);
    gpu->warps = before.warps;
    gpu->staged = before.staged;
    gpu->tuning = before.tuning;
    gpu->lists_refused = before.lists_refused;
}

static void palettes_too_large_for_shared_memory_are_read_from_global_memory(void **state)
{
    (void)state;
    cutis_gpu *gpu = gpu_or_skip();
    const uint32_t local = gpu->local_bytes_max;
    gpu->local_bytes_max = 8 * 1024;
    skin_options o = base_options(CUTIS_FORMULA_SBS);
    o.instance_count = 3;
    o.bone_count = 300;
    o.shuffled = false;
    check(&o, "far palettes", 0, false, false, true);
    gpu->local_bytes_max = local;
}

static void a_hundred_instances_and_one_of_few_vertices_have_the_reference_bits(void **state)
{
    (void)state;
    gpu_or_skip();
    skin_options o = base_options(CUTIS_FORMULA_LBS);
    o.vertex_count = 77;
    o.instance_count = 103;
    check(&o, "many", 0, false, false, true);
    o.vertex_count = 1;
    o.instance_count = 1;
    check(&o, "one", 0, false, false, true);
}

static void a_foreign_buffer_is_written_in_place(void **state)
{
    (void)state;
    gpu_or_skip();
    skin_case c;
    skin_options o = base_options(CUTIS_FORMULA_LBS);
    o.instance_count = 3;
    o.block_size = 16;
    skin_case_make(&c, &o);
    outputs expected = outputs_make(&c, 0, false), out = outputs_make(&c, 0, false);
    run_host(F.cpu, &c, &expected, false);

    void *library = dlopen("libOpenCL.so.1", RTLD_NOW);
    cl_mem (*create)(cl_context, cl_bitfield, size_t, void *, cl_int *);
    cl_int (*release)(cl_mem);
    *(void **)&create = dlsym(library, "clCreateBuffer");
    *(void **)&release = dlsym(library, "clReleaseMemObject");
    uint64_t context, queue;
    cutis_device_native(F.gpu, &context, &queue);
    cl_mem memory = create((cl_context)(uintptr_t)context, CL_MEM_READ_WRITE, out.size, NULL, NULL);
    cutis_buffer *buffer = NULL;
    assert_ok(F.context, cutis_buffer_wrap(F.gpu, (uint64_t)(uintptr_t)memory, out.size, &buffer));
    cutis_device_skin *skin = skin_make(F.gpu, &c);
    const skin_streams to = streams(&out, buffer, false);
    assert_ok(F.context, skin_run(skin, &c.layout, &c.frames, &to));
    assert_ok(F.context, cutis_device_finish(F.gpu));
    assert_ok(F.context, cutis_buffer_read(buffer, 0, out.bytes, out.size));
    compare(&c, "foreign", &out, &expected);
    F.gpu->operations->skin_destroy(skin);
    cutis_buffer_destroy(buffer);
    assert_int_equal(release(memory), 0); // still the caller's
    dlclose(library);
    outputs_free(&expected);
    outputs_free(&out);
    skin_case_free(&c);
}

typedef struct thread_job {
    const skin_case *c;
    outputs out;
    int repeats;
} thread_job;

static void *run_thread(void *data)
{
    thread_job *job = data;
    for (int i = 0; i < job->repeats; i++) run_host(F.gpu, job->c, &job->out, false);
    return NULL;
}

static void two_threads_share_a_device(void **state)
{
    (void)state;
    gpu_or_skip();
    skin_case c;
    skin_options o = base_options(CUTIS_FORMULA_LBS);
    o.instance_count = 6;
    o.block_size = 16;
    skin_case_make(&c, &o);
    outputs expected = outputs_make(&c, 0, false);
    run_host(F.cpu, &c, &expected, false);
    thread_job jobs[2];
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) {
        jobs[i] = (thread_job){ &c, outputs_make(&c, 0, false), 5 };
        assert_int_equal(pthread_create(&threads[i], NULL, run_thread, &jobs[i]), 0);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
        compare(&c, "thread", &jobs[i].out, &expected);
        outputs_free(&jobs[i].out);
    }
    outputs_free(&expected);
    skin_case_free(&c);
}

// Host work of a GPU device -----------------------------------------------------------------------

typedef struct tally {
    atomic_uint done[1000];
    atomic_uint callers;
} tally;

static void count_task(void *data, uint32_t index)
{
    atomic_fetch_add(&((tally *)data)->done[index], 1);
}

static void run_backwards(void *user, void (*task)(void *data, uint32_t index), void *data,
                          uint32_t count)
{
    atomic_fetch_add(&((tally *)user)->callers, 1);
    while (count-- > 0) task(data, count);
}

static void host_work_runs_once_on_the_devices_threads_or_the_callers(void **state)
{
    (void)state;
    gpu_or_skip();
    for (int own = 0; own < 2; own++) {
        static tally t;
        cutis_device *device = NULL;
        memset(&t, 0, sizeof t);
        const cutis_device_options options = { .kind = CUTIS_DEVICE_OPENCL,
                                               .thread_count = 3,
                                               .run_tasks = own ? NULL : run_backwards,
                                               .run_tasks_user = &t };
        assert_int_equal(cutis_device_create(F.context, &options, &device), CUTIS_OK);
        assert_int_equal(device->task_threads, 3);
        cutis_device_run(device, count_task, &t, 1000);
        cutis_device_run(device, count_task, &t, 0);
        for (int i = 0; i < 1000; i++) assert_int_equal(atomic_load(&t.done[i]), 1);
        assert_int_equal(atomic_load(&t.callers), own ? 0 : 1);
        cutis_device_destroy(device);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_formula_has_the_reference_bits_on_even_and_nonuniform_frames),
        cmocka_unit_test(raw_normals_and_no_normals_have_the_reference_bits),
        cmocka_unit_test(tangents_morphs_and_blend_factors_have_the_reference_bits),
        cmocka_unit_test(weighted_pose_space_has_the_reference_bits),
        cmocka_unit_test(weighted_pose_space_has_the_same_bits_through_shared_memory_and_without),
        cmocka_unit_test(gaps_previous_positions_and_bounds_are_as_on_the_cpu),
        cmocka_unit_test(packed_records_through_shared_memory_have_the_same_bits),
        cmocka_unit_test(a_compiler_that_refuses_lists_in_registers_gets_a_kernel_without),
        cmocka_unit_test(palettes_too_large_for_shared_memory_are_read_from_global_memory),
        cmocka_unit_test(a_hundred_instances_and_one_of_few_vertices_have_the_reference_bits),
        cmocka_unit_test(a_foreign_buffer_is_written_in_place),
        cmocka_unit_test(two_threads_share_a_device),
        cmocka_unit_test(host_work_runs_once_on_the_devices_threads_or_the_callers),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
