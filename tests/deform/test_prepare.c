/// The first frame is like the others: after cutis_binding_prepare a frame of any method allocates
/// nothing, on the CPU, OpenCL or CUDA (the last two made up: tests/device/fake_drivers.h), and
/// compiles nothing. Calls that wait sleep; a job system that does other jobs while it waits, and
/// so comes back into cutis_deform, is not waited for ever.
#include "device/fake_drivers.h"

#include "every_method.h"

#include "deform/deformer.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

static cutis_context *context;
static every_method every;
static atomic_long allocations;

static void *count_allocate(void *user, size_t size, size_t alignment)
{
    (void)user;
    atomic_fetch_add(&allocations, 1);
    return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

static void count_release(void *user, void *memory, size_t size)
{
    (void)user, (void)size;
    free(memory);
}

static int set_up(void **state)
{
    (void)state;
    setenv("XDG_CACHE_HOME", "/nowhere/at/all", 1); // else compiling is seen only once
    const cutis_context_options options = { .allocator = { count_allocate, count_release, NULL } };
    assert_int_equal(cutis_context_create(&options, &context), CUTIS_OK);
    every = every_method_open(context);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    every_method_close(&every);
    cutis_context_destroy(context);
    return 0;
}

/// Memory for the outputs of some instances.
typedef struct frames {
    cutis_device *device; ///< of the buffers; NULL: host memory
    cutis_outputs outputs;
    void *memory[8];
    cutis_buffer *buffers[8];
} frames;

/// Where the outputs go, and which.
typedef enum where { IN_HOST, IN_BUFFERS, BOUNDS_ONLY, PLACES } where;

static cutis_stream stream_to(frames *f, int k, uint64_t size)
{
    if (f->device) {
        assert_ok(context, cutis_buffer_create(f->device, size, &f->buffers[k]));
        return (cutis_stream){ .buffer = f->buffers[k] };
    }
    f->memory[k] = calloc(1, size);
    return (cutis_stream){ .data = f->memory[k] };
}

/// Everything a binding can give, or its bounds alone.
static frames frames_open(const cutis_binding *binding, uint32_t instances, where place)
{
    frames f = { .device = place == IN_BUFFERS ? binding->device : NULL };
    const cutis_binding_info info = cutis_binding_describe(binding);
    const uint32_t can = binding->method->abilities;
    const uint64_t vertices = (uint64_t)info.vertex_count * instances;
    const uint64_t triangles = (uint64_t)info.triangle_count * instances;
    f.outputs.bounds = f.memory[0] = calloc(instances, sizeof(cutis_bounds));
    if (place == BOUNDS_ONLY) return f;
    f.outputs.positions = stream_to(&f, 1, 12 * vertices);
    f.outputs.normals = stream_to(&f, 2, 12 * vertices);
    if (can & CUTIS_CAN_TANGENTS) f.outputs.tangents = stream_to(&f, 3, 16 * vertices);
    if (can & CUTIS_CAN_PREVIOUS) f.outputs.previous_positions = stream_to(&f, 4, 12 * vertices);
    if (can & CUTIS_CHANGES_TOPOLOGY) {
        f.outputs.topology.indices = stream_to(&f, 5, 12 * triangles);
        f.outputs.topology.counts = stream_to(&f, 6, 8ull * instances);
        f.outputs.topology.rest_positions =
            stream_to(&f, 7, 12ull * instances * cutis_model_vertex_count(binding->model));
    }
    return f;
}

static void frames_close(frames *f)
{
    for (int k = 0; k < 8; k++) free(f->memory[k]), cutis_buffer_destroy(f->buffers[k]);
}

static void frames_are_like_each_other(const cutis_device_options *options, where place)
{
    for (int m = 0; cutis_method_describe((cutis_method)m); m++) {
        const cutis_method method = (cutis_method)m;
        const cutis_model *model = every_model(&every, method);
        const uint32_t can = cutis_method_describe(method)->abilities;
        const cutis_bind_options bind = { .method = method,
                                          .normals = true,
                                          .tangents = (can & CUTIS_CAN_TANGENTS) != 0,
                                          .instance_capacity = 3 };
        cutis_device *device = NULL; // of its own: nothing is ready from the method before
        cutis_binding *binding = NULL;
        assert_ok(context, cutis_device_create(context, options, &device));
        assert_ok(context, cutis_bind(device, model, &bind, &binding));
        frames f = frames_open(binding, 8, place);
        cutis_poses poses = every_poses(&every, method, 8);
        const long compiled = fake.compiled;
        assert_ok(context, cutis_binding_prepare(binding, &f.outputs, 8));
        if (options->kind != CUTIS_DEVICE_CPU) assert_true(fake.compiled > compiled);
        const long before[3] = { atomic_load(&allocations), fake.made, fake.compiled };
        for (uint32_t instances = 8; instances > 0; instances /= 2) {
            assert_ok(context, cutis_deform(binding, &poses, instances, &f.outputs));
            if (atomic_load(&allocations) != before[0] || fake.made != before[1] ||
                fake.compiled != before[2])
                fail_msg("%s: a frame allocates %ld times on the host, %ld on the device, and "
                         "compiles %ld programs",
                         cutis_method_name(method), atomic_load(&allocations) - before[0],
                         fake.made - before[1], fake.compiled - before[2]);
        }
        every_poses_free(&poses);
        frames_close(&f);
        cutis_binding_destroy(binding);
        cutis_device_destroy(device);
    }
    assert_int_equal(fake.live, 0);
}

static void after_prepare_no_frame_allocates_or_compiles(void **state)
{
    (void)state;
    const cutis_device_options devices[] = { { .kind = CUTIS_DEVICE_CPU, .thread_count = 1 },
                                             { .kind = CUTIS_DEVICE_CPU, .thread_count = 3 },
                                             { .kind = CUTIS_DEVICE_OPENCL },
                                             { .kind = CUTIS_DEVICE_CUDA } };
    for (size_t d = 0; d < sizeof devices / sizeof *devices; d++)
        for (int place = 0; place < PLACES; place++)
            frames_are_like_each_other(&devices[d], (where)place);
}

// The counters above count: without prepare, the first frame of a GPU does allocate and compile.
static void without_prepare_the_first_frame_pays(void **state)
{
    (void)state;
    const cutis_device_kind kinds[] = { CUTIS_DEVICE_OPENCL, CUTIS_DEVICE_CUDA };
    for (int k = 0; k < 2; k++) {
        cutis_device *device = NULL;
        cutis_binding *binding = NULL;
        assert_ok(context, cutis_device_create(context, &(cutis_device_options){ .kind = kinds[k] },
                                               &device));
        assert_ok(context,
                  cutis_bind(device, every.limb,
                             &(cutis_bind_options){ .method = CUTIS_METHOD_DQS, .normals = true },
                             &binding));
        frames f = frames_open(binding, 2, BOUNDS_ONLY);
        cutis_poses poses = every_poses(&every, CUTIS_METHOD_DQS, 2);
        const long made = fake.made, compiled = fake.compiled;
        assert_ok(context, cutis_deform(binding, &poses, 2, &f.outputs));
        assert_true(fake.made > made && fake.compiled > compiled);
        every_poses_free(&poses);
        frames_close(&f);
        cutis_binding_destroy(binding);
        cutis_device_destroy(device);
    }
}

static void what_cannot_be_deformed_cannot_be_prepared(void **state)
{
    (void)state;
    cutis_binding *binding = NULL;
    float out[3];
    assert_ok(context, cutis_bind(every.device, every.limb, NULL, &binding));
    assert_int_equal(cutis_binding_prepare(NULL, &(cutis_outputs){ 0 }, 1), CUTIS_INVALID_ARGUMENT);
    assert_int_equal(cutis_binding_prepare(binding, NULL, 1), CUTIS_INVALID_ARGUMENT);
    assert_int_equal(cutis_binding_prepare(binding, &(cutis_outputs){ .normals.data = out }, 1),
                     CUTIS_INVALID_ARGUMENT);
    assert_int_equal(cutis_binding_prepare(binding, &(cutis_outputs){ .positions.data = out }, 0),
                     CUTIS_OK);
    cutis_binding_destroy(binding);
}

/// A thread that deforms.
typedef struct waiter {
    const cutis_binding *binding;
    const cutis_poses *poses;
    frames *f;
    double busy; ///< seconds of its processor
    atomic_bool done;
} waiter;

static void *deform_often(void *data)
{
    waiter *w = data;
    for (int i = 0; i < 2000; i++)
        if (cutis_deform(w->binding, w->poses, 8, &w->f->outputs)) return data;
    return NULL;
}

// As many as the binding was told of, each into its own memory.
static void calls_at_the_same_time_allocate_nothing_either(void **state)
{
    (void)state;
    enum { CALLS = 6 };
    const cutis_device_kind kinds[] = { CUTIS_DEVICE_CPU, CUTIS_DEVICE_OPENCL, CUTIS_DEVICE_CUDA };
    for (int k = 0; k < 3; k++) {
        cutis_device *device = NULL;
        cutis_binding *binding = NULL;
        pthread_t threads[CALLS];
        waiter waiters[CALLS];
        frames f[CALLS];
        const cutis_bind_options bind = { .concurrent_calls = CALLS, .normals = true };
        cutis_poses poses = every_poses(&every, CUTIS_METHOD_LBS, 8);
        assert_ok(context, cutis_device_create(context, &(cutis_device_options){ .kind = kinds[k] },
                                               &device));
        assert_ok(context, cutis_bind(device, every.limb, &bind, &binding));
        for (int i = 0; i < CALLS; i++) f[i] = frames_open(binding, 8, BOUNDS_ONLY);
        assert_ok(context, cutis_binding_prepare(binding, &f[0].outputs, 8));
        const long before[2] = { atomic_load(&allocations), fake.made };
        for (int i = 0; i < CALLS; i++) {
            waiters[i] = (waiter){ .binding = binding, .poses = &poses, .f = &f[i] };
            assert_int_equal(pthread_create(&threads[i], NULL, deform_often, &waiters[i]), 0);
        }
        for (int i = 0; i < CALLS; i++) {
            void *failed = NULL;
            pthread_join(threads[i], &failed);
            assert_null(failed);
        }
        assert_int_equal(atomic_load(&allocations) - before[0], 0);
        assert_int_equal(fake.made - before[1], 0);
        for (int i = 0; i < CALLS; i++) frames_close(&f[i]);
        every_poses_free(&poses);
        cutis_binding_destroy(binding);
        cutis_device_destroy(device);
    }
}

// Memory ----------------------------------------------------------------------------------------

// A limb of many vertices, so that what goes with them outweighs what does not.
static void a_vertex_is_on_the_host_at_most_twice_after_a_gpu_bind(void **state)
{
    (void)state;
    const limb_options limb = { .length = 4.5, .knee = true, .around = 120, .rings = 160 };
    const cutis_method methods[] = { CUTIS_METHOD_LBS, CUTIS_METHOD_RIGID, CUTIS_METHOD_SBS,
                                     CUTIS_METHOD_DQS, CUTIS_METHOD_COR,   CUTIS_METHOD_PATCHES };
    cutis_device *device = NULL;
    assert_ok(context, cutis_device_create(
                           context, &(cutis_device_options){ .kind = CUTIS_DEVICE_CUDA }, &device));
    const uint64_t before = cutis_context_memory(context);
    cutis_model *model = limb_create(context, &limb);
    const double vertices = cutis_model_vertex_count(model);
    const double own = (double)(cutis_context_memory(context) - before) / vertices;
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
        cutis_binding *binding = NULL;
        const cutis_bind_options options = { .method = methods[m],
                                             .normals = true,
                                             .instance_capacity = 1 };
        assert_ok(context, cutis_bind(device, model, &options, &binding));
        const double bound = (double)(cutis_context_memory(context) - before) / vertices - own;
        print_message("%s: %.1f bytes a vertex beside the model's %.1f\n",
                      cutis_method_name(methods[m]), bound, own);
        assert_true(bound < 12); // a copy would be 24, for positions and normals alone
        cutis_binding_destroy(binding);
    }
    cutis_model_destroy(model);
    cutis_device_destroy(device);
}

// Waiting -----------------------------------------------------------------------------------------

static void *wait_for_turn(void *data)
{
    waiter *w = data;
    struct timespec used;
    assert_ok(context, cutis_deform(w->binding, w->poses, 1, &w->f->outputs));
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    w->busy = (double)used.tv_sec + 1e-9 * (double)used.tv_nsec;
    atomic_store(&w->done, true);
    return NULL;
}

// Three calls and one workspace, which somebody holds for 0.3 seconds.
static void calls_that_wait_sleep(void **state)
{
    (void)state;
    enum { CALLS = 3 };
    cutis_binding *binding = NULL;
    pthread_t threads[CALLS];
    waiter waiters[CALLS];
    frames f[CALLS];
    cutis_poses poses = every_poses(&every, CUTIS_METHOD_LBS, 1);
    assert_ok(context,
              cutis_bind(every.device, every.limb,
                         &(cutis_bind_options){ .normals = true, .tangents = true }, &binding));
    cutis_workspace *held = cutis_workspace_take(binding);
    for (int i = 0; i < CALLS; i++) {
        f[i] = frames_open(binding, 1, IN_HOST);
        waiters[i] = (waiter){ .binding = binding, .poses = &poses, .f = &f[i] };
        assert_int_equal(pthread_create(&threads[i], NULL, wait_for_turn, &waiters[i]), 0);
    }
    usleep(300000);
    for (int i = 0; i < CALLS; i++) assert_false(atomic_load(&waiters[i].done));
    cutis_workspace_give(binding, held);
    for (int i = 0; i < CALLS; i++) {
        pthread_join(threads[i], NULL);
        assert_true(waiters[i].busy < 0.1); // who spins uses all of the 0.3
        frames_close(&f[i]);
    }
    every_poses_free(&poses);
    cutis_binding_destroy(binding);
}

enum { CROWD = 64 }; // instances of a call: enough to be split into tasks

/// A job system in miniature: jobs wait in a list, and who waits for a list to end takes from it,
/// whatever it is, the next character's frame among it.
static struct {
    const cutis_binding *binding;
    const cutis_poses *poses;
    frames *frames;
    atomic_int left; ///< characters that nobody has begun
    int deepest, depth;
} system_;

static void deform_next(void)
{
    const int index = atomic_fetch_sub(&system_.left, 1) - 1;
    if (index < 0) return;
    system_.deepest = ++system_.depth > system_.deepest ? system_.depth : system_.deepest;
    assert_ok(context,
              cutis_deform(system_.binding, system_.poses, CROWD, &system_.frames[index].outputs));
    system_.depth--;
}

// Half of the tasks, then another job, as one does who waits for a thread that has the other half.
static void run_and_help(void *user, void (*task)(void *data, uint32_t index), void *data,
                         uint32_t count)
{
    (void)user;
    uint32_t i = 0;
    for (; i < count / 2; i++) task(data, i);
    deform_next();
    for (; i < count; i++) task(data, i);
}

static void a_job_system_that_helps_while_it_waits_does_not_deadlock(void **state)
{
    (void)state;
    enum { CHARACTERS = 5 };
    const cutis_method methods[] = { CUTIS_METHOD_LBS, CUTIS_METHOD_SBS, CUTIS_METHOD_WPSD,
                                     CUTIS_METHOD_CAGE, CUTIS_METHOD_PATCHES };
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
        const cutis_device_options options = { .thread_count = 2, .run_tasks = run_and_help };
        cutis_device *device = NULL;
        cutis_binding *binding = NULL;
        frames f[CHARACTERS];
        system_.binding = NULL;
        atomic_store(&system_.left, 0);
        assert_ok(context, cutis_device_create(context, &options, &device));
        assert_ok(context, cutis_bind(device, every_model(&every, methods[m]),
                                      &(cutis_bind_options){ .method = methods[m],
                                                             .normals = true,
                                                             // patches of one instance are one task
                                                             .instance_capacity = 8 },
                                      &binding));
        cutis_poses poses = every_poses(&every, methods[m], CROWD);
        for (int i = 0; i < CHARACTERS; i++)
            f[i] = frames_open(binding, CROWD, IN_HOST), f[i].outputs.tangents.data = NULL;
        system_.binding = binding;
        system_.poses = &poses;
        system_.frames = f;
        system_.deepest = 0;
        alarm(30); // a deadlock ends the test
        atomic_store(&system_.left, CHARACTERS);
        while (atomic_load(&system_.left) > 0) deform_next();
        alarm(0);
        assert_true(system_.deepest > 1);
        const size_t size = 12ull * CROWD * cutis_binding_describe(binding).vertex_count;
        for (int i = 1; i < CHARACTERS; i++)
            assert_memory_equal(f[0].memory[1], f[i].memory[1], size);
        for (int i = 0; i < CHARACTERS; i++) frames_close(&f[i]);
        every_poses_free(&poses);
        cutis_binding_destroy(binding);
        cutis_device_destroy(device);
    }
}

static void *prepare_often(void *data)
{
    const waiter *w = data;
    for (int i = 0; i < 2000; i++)
        if (cutis_binding_prepare((cutis_binding *)w->binding, &w->f->outputs, 1) != CUTIS_OK)
            return data;
    return NULL;
}

/// Each takes all workspaces, one by one: without order among them they would hold some each and
/// wait for the rest.
static void several_threads_may_prepare_at_once(void **state)
{
    (void)state;
    enum { THREADS = 4 };
    cutis_binding *binding = NULL;
    pthread_t threads[THREADS];
    assert_ok(context, cutis_bind(every.device, every.limb,
                                  &(cutis_bind_options){
                                      .normals = true, .tangents = true, .concurrent_calls = 3 },
                                  &binding));
    frames f = frames_open(binding, 1, IN_HOST);
    waiter w = { .binding = binding, .f = &f };
    alarm(120); // a deadlock ends the test
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, prepare_often, &w), 0);
    for (int i = 0; i < THREADS; i++) {
        void *failed = NULL;
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
    alarm(0);
    frames_close(&f);
    cutis_binding_destroy(binding);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(after_prepare_no_frame_allocates_or_compiles),
        cmocka_unit_test(without_prepare_the_first_frame_pays),
        cmocka_unit_test(what_cannot_be_deformed_cannot_be_prepared),
        cmocka_unit_test(calls_at_the_same_time_allocate_nothing_either),
        cmocka_unit_test(a_vertex_is_on_the_host_at_most_twice_after_a_gpu_bind),
        cmocka_unit_test(several_threads_may_prepare_at_once),
        cmocka_unit_test(calls_that_wait_sleep),
        cmocka_unit_test(a_job_system_that_helps_while_it_waits_does_not_deadlock),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
