/// Crowds on OpenCL and CUDA: bits against the CPU device, then whole frames against the skinning
/// kernel alone.
///
///     bench_crowd --bits    every method, with and without roots, blends, packing;
///                           exit 1 if a bit differs
///     bench_crowd --time    1024 bipeds of 46036 vertices;
///                           10,000 of 3000 with levels of detail
///     --device opencl|cuda    one of them; --small: sizes for a machine without a GPU
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cutis/cutis.h>

#include "deform/crowd.h"
#include "device/gpu/gpu.h"

static cutis_context *context;
static bool small;

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cutis_result result_ = (call);                                                             \
        if (result_ != CUTIS_OK) {                                                                 \
            printf("%s: %s: %s\n", #call, cutis_result_text(result_),                              \
                   cutis_context_error(context));                                                  \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/// A crowd with what it stands on.
typedef struct stage {
    cutis_model *models[CUTIS_CROWD_LEVELS];
    cutis_binding *bindings[CUTIS_CROWD_LEVELS];
    cutis_crowd_level levels[CUTIS_CROWD_LEVELS];
    uint32_t level_count;
    cutis_crowd *crowd;
    cutis_crowd_info info;
    cutis_crowd_output outputs[CUTIS_CROWD_LEVELS];
} stage;

static void stage_close(stage *s)
{
    cutis_crowd_destroy(s->crowd);
    for (uint32_t l = 0; l < s->level_count; l++) {
        cutis_buffer_destroy(s->outputs[l].vertices);
        cutis_buffer_destroy(s->outputs[l].previous);
        cutis_binding_destroy(s->bindings[l]);
        cutis_model_destroy(s->models[l]);
    }
    *s = (stage){ 0 };
}

static void stage_open(stage *s, cutis_device *device, cutis_method method,
                       const uint32_t *vertices, const float *distances, uint32_t levels,
                       const uint32_t *capacities, cutis_crowd_options options)
{
    *s = (stage){ .level_count = levels };
    for (uint32_t l = 0; l < levels; l++) {
        const cutis_synth_options synth = { .vertex_count = vertices[l] };
        CHECK(cutis_synth_create(context, &synth, &s->models[l]));
        CHECK(cutis_bind(device, s->models[l],
                         &(cutis_bind_options){ .method = method, .normals = true },
                         &s->bindings[l]));
        s->levels[l] = (cutis_crowd_level){ s->bindings[l], distances[l] };
    }
    options.levels = s->levels;
    options.level_count = levels;
    CHECK(cutis_crowd_create(&options, &s->crowd));
    s->info = cutis_crowd_describe(s->crowd);
    for (uint32_t l = 0; l < levels; l++) {
        CHECK(cutis_buffer_create(device, s->info.levels[l].slot_bytes * capacities[l],
                                  &s->outputs[l].vertices));
        if (options.previous)
            CHECK(cutis_buffer_create(device, s->info.levels[l].previous_slot_bytes * capacities[l],
                                      &s->outputs[l].previous));
    }
}

/// Walkers on a grid, everyone at another place in time; every third blends a second clip over the
/// first.
static void fill(cutis_crowd *crowd, uint32_t count, double pitch)
{
    const uint32_t clips = cutis_crowd_describe(crowd).clip_count;
    const uint32_t columns = (uint32_t)ceil(sqrt(count));
    CHECK(cutis_crowd_resize(crowd, count));
    for (uint32_t i = 0; i < count; i++) {
        cutis_crowd_instance one = { .root = cutis_transform_identity(), .track_count = 1 };
        one.root.translation =
            (cutis_float3){ (float)((i % columns) * pitch), 0, (float)((i / columns) * pitch) };
        one.root.rotation = cutis_quat_from_axis_angle((cutis_float3){ 0, 1, 0 },
                                                       (float)(6.28 * cutis_random_unit(1, 0, i)));
        one.tracks[0] = (cutis_crowd_track){ .clip = i % clips,
                                             .seconds = 3 * cutis_random_unit(2, 0, i),
                                             .speed = 1 };
        one.tracks[1] = (cutis_crowd_track){ .clip = (i / 3) % clips,
                                             .seconds = 3 * cutis_random_unit(3, 0, i),
                                             .speed = 0.9f,
                                             .weight = 0.4f };
        if (i % 3 == 0) one.track_count = 2;
        CHECK(cutis_crowd_set(crowd, i, 1, &one));
    }
}

// Bits ------------------------------------------------------------------------------------------

static uint64_t differ(stage *a, stage *b, uint64_t *total)
{
    uint64_t bad = 0;
    for (uint32_t l = 0; l < a->level_count; l++) {
        const uint32_t count = cutis_crowd_drawn(a->crowd, l, NULL);
        if (count != cutis_crowd_drawn(b->crowd, l, NULL)) return printf("other counts\n"), 1;
        for (int previous = 0; previous < (a->outputs[l].previous ? 2 : 1); previous++) {
            const cutis_crowd_level_info *info = &a->info.levels[l];
            const uint64_t slot = previous ? info->previous_slot_bytes : info->slot_bytes;
            const uint64_t record = previous ? info->previous_record_bytes : info->record_bytes;
            uint32_t *x = malloc(slot * count + 16), *y = malloc(slot * count + 16);
            CHECK(cutis_buffer_read(previous ? a->outputs[l].previous : a->outputs[l].vertices, 0,
                                    x, slot * count));
            CHECK(cutis_buffer_read(previous ? b->outputs[l].previous : b->outputs[l].vertices, 0,
                                    y, slot * count));
            for (uint32_t i = 0; i < count; i++)
                for (uint64_t w = 0; w < info->vertex_count * record / 4; w++)
                    bad += x[i * slot / 4 + w] != y[i * slot / 4 + w];
            *total += count * info->vertex_count * record / 4;
            free(x), free(y);
        }
    }
    return bad;
}

static uint64_t compare(cutis_device *cpu, cutis_device *device, cutis_method method,
                        cutis_crowd_options options, uint64_t *total)
{
    const uint32_t vertices[] = { small ? 3000 : 9000, 1500 };
    const uint32_t count = small ? 40 : 500, capacities[] = { count, count };
    const float distances[] = { 12, 0 };
    stage a, b;
    uint64_t bad = 0;
    options.instance_capacity = count;
    setenv("CUTIS_CROWD_POSES", "host", 1); // also where both are the CPU
    stage_open(&a, cpu, method, vertices, distances, 2, capacities, options);
    setenv("CUTIS_CROWD_POSES", "device", 1);
    stage_open(&b, device, method, vertices, distances, 2, capacities, options);
    if (!b.info.levels[0].on_device) printf("not on the device: ");
    fill(a.crowd, count, 1.5);
    fill(b.crowd, count, 1.5);
    for (int frame = 0; frame < 3; frame++) {
        const double clock = 0.7 + 0.31 * frame;
        const cutis_crowd_view view = { .eye = { (float)frame, 1, 3 } };
        CHECK(cutis_crowd_run(a.crowd, clock, &view, a.outputs));
        CHECK(cutis_crowd_run(b.crowd, clock, &view, b.outputs));
        bad += differ(&a, &b, total);
        cutis_transform root = cutis_transform_identity();
        root.translation.x = (float)frame;
        CHECK(cutis_crowd_place(a.crowd, (uint32_t)frame, 1, &root));
        CHECK(cutis_crowd_place(b.crowd, (uint32_t)frame, 1, &root));
    }
    stage_close(&a);
    stage_close(&b);
    return bad;
}

static int bits(cutis_device *cpu, cutis_device *device)
{
    static const cutis_method METHODS[] = { CUTIS_METHOD_LBS, CUTIS_METHOD_RIGID, CUTIS_METHOD_SBS,
                                            CUTIS_METHOD_DQS, CUTIS_METHOD_COR };
    static const cutis_crowd_options OPTIONS[] = {
        { .normal = CUTIS_CROWD_NORMAL_F32 },
        { .normal = CUTIS_CROWD_NORMAL_F32, .placed = true, .previous = true },
        { .position = CUTIS_CROWD_POSITION_F16,
          .normal = CUTIS_CROWD_NORMAL_OCTAHEDRAL,
          .clip_error = 1e-3f },
    };
    uint64_t all = 0;
    for (size_t m = 0; m < sizeof METHODS / sizeof *METHODS; m++)
        for (size_t o = 0; o < sizeof OPTIONS / sizeof *OPTIONS; o++) {
            uint64_t total = 0, bad = compare(cpu, device, METHODS[m], OPTIONS[o], &total);
            printf("bits %s %s: %llu of %llu words differ\n", cutis_method_name(METHODS[m]),
                   o == 0   ? "f32"
                   : o == 1 ? "f32, placed, previous"
                            : "f16, octahedral, compressed",
                   (unsigned long long)bad, (unsigned long long)total);
            fflush(stdout);
            all += bad;
        }
    return all != 0;
}

// Time ------------------------------------------------------------------------------------------

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

enum { ROUNDS = 7, FRAMES = 20 };

typedef struct timing {
    stage *s;
    cutis_device *device;
    const cutis_crowd_view *view;
    double clock;
    bool kernel;  ///< repeat the first level's launch alone
    bool poses;   ///< repeat the poses alone
    bool waiting; ///< wait after every frame
} timing;

/// Median milliseconds of a frame; the host's part of it too.
static double measure(timing *t, double *host)
{
    double rounds[ROUNDS], hosts[ROUNDS];
    const int frames = small ? 2 : FRAMES;
    for (int r = -1; r < ROUNDS; r++) {
        CHECK(cutis_device_finish(t->device));
        const double begin = now();
        double queued = 0;
        for (int f = 0; f < frames; f++) {
            const double start = now();
            if (t->kernel)
                CHECK(cutis_gpu_skin_repeat(cutis_skin_of(t->s->bindings[0])->skin));
            else if (t->poses)
                CHECK(cutis_crowd_frame_poses(t->s->crowd, t->clock += 0.01));
            else
                CHECK(cutis_crowd_run(t->s->crowd, t->clock += 0.01, t->view, t->s->outputs));
            queued += now() - start;
            if (t->waiting) CHECK(cutis_device_finish(t->device));
        }
        CHECK(cutis_device_finish(t->device));
        if (r >= 0) rounds[r] = 1e3 * (now() - begin) / frames, hosts[r] = 1e3 * queued / frames;
    }
    qsort(rounds, ROUNDS, sizeof *rounds, by_size);
    qsort(hosts, ROUNDS, sizeof *hosts, by_size);
    if (host) *host = hosts[ROUNDS / 2];
    return rounds[ROUNDS / 2];
}

/// One level, everybody drawn: the whole frame beside its skinning kernel.
static void time_whole(cutis_device *device, cutis_method method, cutis_crowd_options options,
                       const char *what)
{
    const uint32_t vertices[] = { small ? 3000 : 46036 }, count = small ? 16 : 1024;
    const float distances[] = { 0 };
    const bool gpu = cutis_device_describe(device).kind != CUTIS_DEVICE_CPU;
    stage s;
    options.instance_capacity = count;
    stage_open(&s, device, method, vertices, distances, 1, &count, options);
    fill(s.crowd, count, 1.5);
    timing t = { .s = &s, .device = device };
    double host = 0, whole = measure(&t, &host), alone = 0;
    t.waiting = true;
    const double waiting = measure(&t, NULL);
    t.waiting = false;
    t.poses = true;
    const double poses = gpu ? measure(&t, NULL) : 0;
    t.kernel = true;
    if (gpu) alone = measure(&t, NULL);
    printf("whole %s %s %u x %u: frame %.4f ms (waiting %.4f, host %.4f), kernel alone %.4f ms, "
           "poses alone %.4f ms, ratio %.3f (goal 1.15), uploaded %llu bytes\n",
           cutis_method_name(method), what, s.info.levels[0].vertex_count, count, whole, waiting,
           host, alone, poses, alone > 0 ? whole / alone : 0,
           (unsigned long long)cutis_crowd_uploaded(s.crowd));
    fflush(stdout);
    stage_close(&s);
}

static void time_levels(cutis_device *device, cutis_method method, cutis_crowd_options options,
                        const char *what)
{
    const uint32_t vertices[] = { 3000, 2400, 1900, 1500 };
    const float distances[] = { 20, 45, 90, 0 };
    const uint32_t count = small ? 200 : 10000;
    const uint32_t capacities[] = { count, count, count, count };
    stage s;
    options.instance_capacity = count;
    stage_open(&s, device, method, vertices, distances, 4, capacities, options);
    fill(s.crowd, count, 1.2);
    cutis_crowd_view view = { .eye = { 60, 2, 60 } };
    timing t = { .s = &s, .device = device, .view = &view };
    double host = 0;
    const double ms = measure(&t, &host);
    printf("levels %s %s: %u bipeds (%u, %u, %u, %u at 3000, 2400, 1900, 1500): %.4f ms, %.0f "
           "frames/s "
           "(goal 1000), host %.4f ms\n",
           cutis_method_name(method), what, count, cutis_crowd_drawn(s.crowd, 0, NULL),
           cutis_crowd_drawn(s.crowd, 1, NULL), cutis_crowd_drawn(s.crowd, 2, NULL),
           cutis_crowd_drawn(s.crowd, 3, NULL), ms, 1e3 / ms, host);
    t.poses = true;
    printf("levels %s %s: poses alone %.4f ms\n", cutis_method_name(method), what,
           measure(&t, NULL));
    t.poses = false;
    t.view = NULL;
    const double all = measure(&t, &host);
    printf("levels %s %s: the same, all at 3000: %.4f ms, %.0f frames/s, host %.4f ms\n",
           cutis_method_name(method), what, all, 1e3 / all, host);
    fflush(stdout);
    stage_close(&s);
}

static void times(cutis_device *device)
{
    const cutis_crowd_options plain = { .normal = CUTIS_CROWD_NORMAL_F32 };
    const cutis_crowd_options half = { .position = CUTIS_CROWD_POSITION_F16,
                                       .normal = CUTIS_CROWD_NORMAL_OCTAHEDRAL };
    static const cutis_method METHODS[] = { CUTIS_METHOD_LBS, CUTIS_METHOD_SBS, CUTIS_METHOD_DQS,
                                            CUTIS_METHOD_COR };
    for (int m = 0; m < 4; m++) time_whole(device, METHODS[m], plain, "f32");
    time_whole(device, CUTIS_METHOD_LBS, half, "f16+oct");
    for (int m = 0; m < 3; m++) time_levels(device, METHODS[m], plain, "f32");
    time_levels(device, CUTIS_METHOD_LBS, half, "f16+oct");
}

int main(int count, char **arguments)
{
    bool want_bits = false, want_time = false;
    const char *only = NULL;
    int bad = 0;
    for (int i = 1; i < count; i++) {
        want_bits |= strcmp(arguments[i], "--bits") == 0;
        want_time |= strcmp(arguments[i], "--time") == 0;
        small |= strcmp(arguments[i], "--small") == 0;
        if (strcmp(arguments[i], "--device") == 0 && i + 1 < count) only = arguments[++i];
    }
    cutis_device *cpu = NULL;
    CHECK(cutis_context_create(NULL, &context));
    CHECK(cutis_device_create(context, NULL, &cpu));
    for (int kind = CUTIS_DEVICE_CPU; kind <= CUTIS_DEVICE_CUDA; kind++) {
        cutis_device *device = NULL;
        const char *name = cutis_device_kind_name((cutis_device_kind)kind);
        if (only ? strcmp(only, name) != 0 : kind == CUTIS_DEVICE_CPU) continue;
        if (cutis_device_create(context, &(cutis_device_options){ .kind = (cutis_device_kind)kind },
                                &device) != CUTIS_OK) {
            printf("%s: %s\n", name, cutis_context_error(context));
            continue;
        }
        printf("-- %s: %s\n", name, cutis_device_describe(device).name);
        if (want_bits || !want_time) bad |= bits(cpu, device);
        if (want_time || !want_bits) times(device);
        cutis_device_destroy(device);
    }
    cutis_device_destroy(cpu);
    cutis_context_destroy(context);
    return bad;
}
