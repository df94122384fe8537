/// Bits and speed of the GPU devices, on the machine it runs on.
///
///   bench_gpu [--device opencl|cuda] [--bits] [--time] [--real] [--tune] [--registers N] [--plain]
///   [--instances N]
///   [--vertices N] [--total N] [--json FILE]
///
/// --bits: rigid and every formula over at least 10^8 vertices (--total: that many), half of them
/// hard (subnormals, zeros, huge values, lists of more bones than registers hold), half tame, even
/// and nonuniform frames, a new skin every five million, against the CPU device; a difference ends
/// the program with 1. Then whole methods (methods_bits.h): pose space, rigid handles, cage and
/// patches over as many floats, of which none may be more than 4 ULP of the largest off. --time:
/// kernels alone, against a fill of the same output buffer in the same run. --real: our own
/// characters in every order of vertices, or --model FILE; --brief: biped and quadruped, the order
/// that is chosen, kernels alone.
/// --tune: shapes of the launch side by side. Without a choice: --bits and --time.
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cutis/cutis.h>
#include <cutis/io.h>

#include "deform/skin.h"
#include "device/gpu/gpu.h"
#include "../tests/device/skin_case.h"
#include "../tests/device/skin_run.h"

typedef struct bench {
    cutis_context *context;
    cutis_device *cpu, *device;
    cutis_gpu *gpu;
    uint32_t vertices, instances;
    double fill_seconds; ///< of the last output buffer
    FILE *json;
    int rows, failures;
    bool even;         ///< bits of uniform frames only
    bool brief;        ///< of the real bodies not the arm, the chosen order alone, no frames
    const char *model; ///< a file in place of the real bodies, or NULL
    uint64_t total;    ///< vertices of a formula's bits, at least
} bench;

static const char *const FORMULA_NAMES[] = { "lbs", "sbs", "sbs_weighted", "dqs", "cor" };

/// What bits are compared of; rigid is LBS with one bone a vertex.
static const struct {
    const char *name;
    cutis_formula formula;
    bool rigid;
} KINDS[] = {
    { "lbs", CUTIS_FORMULA_LBS, false },
    { "sbs", CUTIS_FORMULA_SBS, false },
    { "sbs_weighted", CUTIS_FORMULA_SBS_WEIGHTED, false },
    { "dqs", CUTIS_FORMULA_DQS, false },
    { "cor", CUTIS_FORMULA_COR, false },
    { "rigid", CUTIS_FORMULA_LBS, true },
};
enum { KIND_COUNT = sizeof KINDS / sizeof *KINDS };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void must(bench *b, cutis_result result, const char *what)
{
    if (result == CUTIS_OK) return;
    fprintf(stderr, "bench_gpu: %s: %s: %s\n", what, cutis_result_text(result),
            cutis_context_error(b->context));
    exit(1);
}

// Cases
// -----------------------------------------------------------------------------------------------

/// Consecutive vertices share their bones: 32 of a block have the same `influences` ones.
static void coherent_influences(skin_case *c, uint64_t *state)
{
    const skin_options *o = &c->options;
    uint32_t *first = case_alloc(c, o->vertex_count + 1, sizeof *first);
    uint32_t *bone = case_alloc(c, (size_t)o->vertex_count * o->influences, sizeof *bone);
    float *weight = case_alloc(c, (size_t)o->vertex_count * o->influences, sizeof *weight);
    uint32_t n = 0, span = o->bone_count - o->influences + 1;
    for (uint32_t v = 0; v < o->vertex_count; v++) {
        uint32_t base = (uint32_t)((uint64_t)(v / 32) * span * 32 / (o->vertex_count + 31));
        double w[16], sum = 0;
        first[v] = n;
        for (uint32_t i = 0; i < o->influences; i++) sum += w[i] = case_in(state, 0.1, 1);
        for (uint32_t i = 0; i < o->influences; i++, n++) {
            bone[n] = (base < span ? base : span - 1) + i;
            weight[n] = (float)(w[i] / sum);
        }
    }
    first[o->vertex_count] = n;
    c->layout.first = first;
    c->layout.bone = bone;
    c->layout.weight = weight;
}

static void coherent_case(skin_case *c, const skin_options *options)
{
    uint64_t state = options->seed;
    memset(c, 0, sizeof *c);
    c->options = *options;
    cutis_skin_layout *l = &c->layout;
    const skin_options *o = &c->options;
    l->formula = o->formula;
    l->normal_rule = o->normal_rule;
    l->block_size = o->block_size;
    l->vertex_count = o->vertex_count;
    l->bone_count = o->bone_count;
    coherent_influences(c, &state);
    case_slots(c);
    case_lists(c);
    c->rest = case_random(c, &state, 3 * (size_t)o->vertex_count, 1, false);
    l->positions = case_planes(c, c->rest, 3);
    c->rest_normal = case_random(c, &state, 3 * (size_t)o->vertex_count, 1, false);
    l->normals = case_planes(c, c->rest_normal, 3);
    if (o->formula == CUTIS_FORMULA_SBS) case_sets(c);
    if (o->formula == CUTIS_FORMULA_COR)
        l->centres =
            case_planes(c, case_random(c, &state, 3 * (size_t)o->vertex_count, 1, false), 3);
    if (o->formula == CUTIS_FORMULA_SBS_WEIGHTED)
        l->origins = case_random(c, &state, 3 * (size_t)o->bone_count, 1, false);
    case_frames(c, &state);
}

// Bits
// ------------------------------------------------------------------------------------------------

static skin_streams packed_outputs(const skin_case *c, float *host, cutis_buffer *buffer)
{
    const uint64_t step = (uint64_t)c->options.vertex_count * 24;
    return (skin_streams){
        .positions = { host, buffer, 0, 24, step },
        .normals = { host ? host + 3 : NULL, buffer, buffer ? 12 : 0, 24, step },
    };
}

static void run_skin(bench *b, cutis_device *device, const skin_case *c, float *host)
{
    cutis_device_skin *skin = NULL;
    must(b, device->operations->skin_create(device, &c->layout, &skin), "create a skin");
    const skin_streams to = packed_outputs(c, host, NULL);
    must(b, skin_run(skin, &c->layout, &c->frames, &to), "run a skin");
    device->operations->skin_destroy(skin);
}

/// NaN is compared as NaN: which one it is, is nobody's promise.
static uint64_t count_different(const float *a, const float *b, size_t count)
{
    uint64_t different = 0;
    if (memcmp(a, b, count * sizeof *a) == 0) return 0;
    for (size_t i = 0; i < count; i++)
        if (memcmp(a + i, b + i, 4) != 0 && !(isnan(a[i]) && isnan(b[i]))) different++;
    return different;
}

/// One skin: hard in blocks that the device packs again, tame in the order of bone sets. `out` and
/// `expected` hold all its instances.
static uint64_t compare_round(bench *b, skin_options o, float *expected, float *out, size_t floats)
{
    skin_case c;
    memset(out, 0xc7, floats * 4);
    skin_case_make(&c, &o);
    run_skin(b, b->cpu, &c, expected);
    if (!o.nasty) {
        skin_case_free(&c);
        o.block_size = 32;
        skin_case_make(&c, &o);
    }
    run_skin(b, b->device, &c, out);
    skin_case_free(&c);
    return count_different(out, expected, floats);
}

/// One formula, one kind of data.
static void check_bits(bench *b, int kind, bool hard)
{
    skin_options o = { .seed = 90 + (uint64_t)kind,
                       .formula = KINDS[kind].formula,
                       .vertex_count = b->vertices,
                       .normal_rule = hard ? CUTIS_NORMAL_UNIT : CUTIS_NORMAL_RAW,
                       .block_size = 16,
                       .bone_count = hard ? 20 : 64,
                       .influences = KINDS[kind].rigid ? 1
                                     : hard            ? 8
                                                       : 4,
                       .nonuniform = !b->even,
                       .nasty = hard,
                       .shuffled = true,
                       .instance_count = (5000000 + b->vertices - 1) / b->vertices };
    uint64_t wanted = b->total / 2, vertices = 0, different = 0;
    size_t floats = (size_t)o.vertex_count * o.instance_count * 6;
    float *expected = malloc(floats * 4), *out = malloc(floats * 4);
    if (!expected || !out) exit(1);
    double start = now();
    for (; vertices < wanted; vertices += floats / 6, o.seed += 1000)
        different += compare_round(b, o, expected, out, floats);
    printf("bits  %-7s %-13s %-5s %9llu vertices, %llu floats: %llu differ (%.1f s)\n",
           b->gpu->driver->name, KINDS[kind].name, hard ? "hard" : "tame",
           (unsigned long long)vertices, 6 * (unsigned long long)vertices,
           (unsigned long long)different, now() - start);
    if (b->json)
        fprintf(b->json,
                "%s{\"kind\": \"bits\", \"device\": \"%s\", \"method\": \"%s\", \"data\": \"%s\", "
                "\"vertices\": %llu, \"different\": %llu}",
                b->rows++ ? ",\n" : "", b->gpu->driver->name, KINDS[kind].name,
                hard ? "hard" : "tame", (unsigned long long)vertices,
                (unsigned long long)different);
    b->failures += different != 0;
    fflush(stdout);
    free(expected);
    free(out);
}

#include "methods_bits.h"

// Time
// ------------------------------------------------------------------------------------------------

/// Fill the whole buffer once, by the driver's own fill.
static void fill(bench *b, cutis_buffer *buffer)
{
    static int (*cl_fill)(void *, void *, const void *, size_t, size_t, size_t, unsigned,
                          const void *, void *);
    static int (*cu_fill)(uint64_t, unsigned char, size_t, void *);
    static int (*cu_push)(void *), (*cu_pop)(void **);
    uint64_t context, queue;
    cutis_device_native(b->device, &context, &queue);
    uint64_t handle = cutis_buffer_handle(buffer);
    if (strcmp(b->gpu->driver->name, "opencl") == 0) {
        if (!cl_fill)
            *(void **)&cl_fill = dlsym(dlopen("libOpenCL.so.1", RTLD_NOW), "clEnqueueFillBuffer");
        const unsigned zero[4] = { 0 };
        cl_fill((void *)(uintptr_t)queue, (void *)(uintptr_t)handle, zero, 16, 0,
                buffer->size / 16 * 16, 0, NULL, NULL);
        return;
    }
    if (!cu_fill) {
        void *library = dlopen("libcuda.so.1", RTLD_NOW);
        *(void **)&cu_fill = dlsym(library, "cuMemsetD8Async");
        *(void **)&cu_push = dlsym(library, "cuCtxPushCurrent_v2");
        *(void **)&cu_pop = dlsym(library, "cuCtxPopCurrent_v2");
    }
    void *ignored;
    cu_push((void *)(uintptr_t)context);
    cu_fill(handle, 0, buffer->size, (void *)(uintptr_t)queue);
    cu_pop(&ignored);
}

/// Seconds of one launch (skin) or one fill (skin NULL): the median of rounds of `repeats` between
/// two waits.
static double time_launches(bench *b, cutis_device_skin *skin, cutis_buffer *buffer, int repeats)
{
    enum { ROUNDS = 7 };
    double times[ROUNDS];
    for (int r = -1; r < ROUNDS; r++) {
        must(b, cutis_device_finish(b->device), "finish");
        double start = now();
        for (int i = 0; i < repeats; i++)
            if (skin)
                must(b, cutis_gpu_skin_repeat(skin), "repeat");
            else
                fill(b, buffer);
        must(b, cutis_device_finish(b->device), "finish");
        if (r >= 0) times[r] = (now() - start) / repeats;
    }
    for (int i = 1; i < ROUNDS; i++)
        for (int j = i; j > 0 && times[j] < times[j - 1]; j--) {
            double t = times[j];
            times[j] = times[j - 1];
            times[j - 1] = t;
        }
    return times[ROUNDS / 2];
}

static void print_row(bench *b, const char *kind, const char *name, const char *normals,
                      uint32_t vertices, uint32_t instances, double seconds)
{
    double count = (double)vertices * instances;
    printf("%-5s %-7s %-20s %-5s %7u x %5u %9.4f ms %7.1f G vertices/s %5.1f %% of fill\n", kind,
           b->gpu->driver->name, name, normals, vertices, instances, 1e3 * seconds,
           1e-9 * count / seconds, 100 * b->fill_seconds / seconds);
    if (b->json)
        fprintf(b->json,
                "%s{\"kind\": \"%s\", \"device\": \"%s\", \"method\": \"%s\", \"normals\": \"%s\", "
                "\"vertices\": %u, \"instances\": %u, \"seconds\": %.9f, \"ns_per_vertex\": %.6f, "
                "\"of_limit\": %.4f}",
                b->rows++ ? ",\n" : "", kind, b->gpu->driver->name, name, normals, vertices,
                instances, seconds, 1e9 * seconds / count, b->fill_seconds / seconds);
    fflush(stdout);
}

/// A coherent character into one buffer of packed records.
static double time_case(bench *b, cutis_formula formula, bool unit, uint32_t influences,
                        uint32_t instances, int repeats)
{
    skin_options o = { .seed = 5,
                       .formula = formula,
                       .vertex_count = b->vertices,
                       .block_size = 32,
                       .normal_rule = unit ? CUTIS_NORMAL_UNIT : CUTIS_NORMAL_RAW,
                       .bone_count = 64,
                       .influences = influences,
                       .instance_count = instances };
    skin_case c;
    cutis_buffer *buffer = NULL;
    cutis_device_skin *skin = NULL;
    coherent_case(&c, &o);
    must(b, cutis_buffer_create(b->device, (uint64_t)b->vertices * instances * 24, &buffer),
         "buffer");
    must(b, b->device->operations->skin_create(b->device, &c.layout, &skin), "create a skin");
    const skin_streams to = packed_outputs(&c, NULL, buffer);
    must(b, skin_run(skin, &c.layout, &c.frames, &to), "run a skin");
    b->fill_seconds = time_launches(b, NULL, buffer, repeats);
    double seconds = time_launches(b, skin, buffer, repeats);
    b->device->operations->skin_destroy(skin);
    cutis_buffer_destroy(buffer);
    skin_case_free(&c);
    return seconds;
}

/// @param only the formula, -1: all
static void time_all(bench *b, int only)
{
    for (int f = only < 0 ? 0 : only; f < (only < 0 ? 5 : only + 1); f++)
        for (int unit = 0; unit < 2; unit++) {
            double seconds = time_case(b, (cutis_formula)f, unit, 4, b->instances, 20);
            if (f == 0 && unit == 0)
                printf("fill  %-7s %.4f ms, %.3f TB/s\n", b->gpu->driver->name,
                       1e3 * b->fill_seconds,
                       (double)b->vertices * b->instances * 24e-12 / b->fill_seconds);
            print_row(b, "time", FORMULA_NAMES[f], unit ? "unit" : "raw", b->vertices, b->instances,
                      seconds);
        }
    for (int n = only < 0 ? 1 : 16; n <= 8; n *= 2) {
        char name[32];
        snprintf(name, sizeof name, "lbs, %d bones", n);
        print_row(b, "time", name, "raw", b->vertices, b->instances,
                  time_case(b, CUTIS_FORMULA_LBS, false, (uint32_t)n, b->instances, 20));
    }
    print_row(b, "one", "lbs", "raw", b->vertices, 1,
              time_case(b, CUTIS_FORMULA_LBS, false, 4, 1, 200));
    print_row(b, "one", "lbs", "unit", b->vertices, 1,
              time_case(b, CUTIS_FORMULA_LBS, true, 4, 1, 200));
}

// Shapes of the launch
// ----------------------------------------------------------------------------------

typedef struct shape {
    const char *name, *defines;
    uint32_t warps, registers, instances, near_bytes;
} shape;

/// @param only the kind of kernel, -1: all
static void tune(bench *b, int only)
{
    static const shape shapes[] = {
        { "8 warps, 64 registers", "", 8, 64, 8, 32768 },
        { "8 warps, 48 registers", "", 8, 48, 8, 32768 },
        { "8 warps, 80 registers", "", 8, 80, 8, 32768 },
        { "4 warps, 48 registers", "", 4, 48, 8, 32768 },
        { "4 warps, 56 registers", "", 4, 56, 8, 32768 },
        { "4 warps, 64 registers", "", 4, 64, 8, 32768 },
        { "4 warps, 72 registers", "", 4, 72, 8, 32768 },
        { "2 warps, 64 registers", "", 2, 64, 8, 32768 },
    };
    static const struct {
        cutis_formula formula;
        bool unit;
    } kinds[] = { { CUTIS_FORMULA_LBS, false }, { CUTIS_FORMULA_LBS, true },
                  { CUTIS_FORMULA_SBS, false }, { CUTIS_FORMULA_SBS, true },
                  { CUTIS_FORMULA_DQS, false }, { CUTIS_FORMULA_DQS, true } };
    const cutis_gpu before = *b->gpu;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        b->gpu->warps = shapes[i].warps;
        b->gpu->registers_centred = 0;
        b->gpu->registers = b->gpu->registers_pairs = shapes[i].registers;
        b->gpu->group_instances = shapes[i].instances;
        b->gpu->near_bytes = shapes[i].near_bytes;
        b->gpu->tuning = shapes[i].defines;
        printf("tune  %-7s %-38s", b->gpu->driver->name, shapes[i].name);
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
            if (only >= 0 && (int)k != only) continue;
            double seconds = time_case(b, kinds[k].formula, kinds[k].unit, 4, b->instances, 10);
            printf(" %s %s %.4f ms %4.1f %%", FORMULA_NAMES[kinds[k].formula],
                   kinds[k].unit ? "unit" : "raw", 1e3 * seconds, 100 * b->fill_seconds / seconds);
        }
        printf("\n");
        fflush(stdout);
    }
    b->gpu->warps = before.warps;
    b->gpu->registers_centred = before.registers_centred;
    b->gpu->registers = before.registers;
    b->gpu->registers_pairs = before.registers_pairs;
    b->gpu->group_instances = before.group_instances;
    b->gpu->near_bytes = before.near_bytes;
    b->gpu->tuning = before.tuning;
}

// Our own characters
// --------------------------------------------------------------------------------------

static void time_binding(bench *b, const cutis_model *model, const char *name, cutis_method method,
                         const cutis_transform *poses)
{
    cutis_binding *binding = NULL;
    cutis_buffer *buffer = NULL;
    const cutis_bind_options options = { .method = method,
                                         .normals = true,
                                         .instance_capacity = b->instances };
    uint32_t vertices = cutis_model_vertex_count(model);
    must(b, cutis_bind(b->device, model, &options, &binding), "bind");
    must(b, cutis_buffer_create(b->device, (uint64_t)vertices * b->instances * 24, &buffer),
         "buffer");
    const cutis_outputs to = { .positions = { .buffer = buffer, .stride = 24 },
                               .normals = { .buffer = buffer, .offset = 12, .stride = 24 } };
    must(b, cutis_deform(binding, &(cutis_poses){ .local = poses }, b->instances, &to), "deform");
    b->fill_seconds = time_launches(b, NULL, buffer, 20);
    print_row(b, "real", name, "unit", vertices, b->instances,
              time_launches(b, cutis_skin_of(binding)->skin, buffer, 20));
    double start = now();
    for (int i = 0; i < 5 && !b->brief; i++)
        must(b, cutis_deform(binding, &(cutis_poses){ .local = poses }, b->instances, &to),
             "deform");
    must(b, cutis_device_finish(b->device), "finish");
    if (!b->brief) print_row(b, "frame", name, "unit", vertices, b->instances, (now() - start) / 5);
    cutis_buffer_destroy(buffer);
    cutis_binding_destroy(binding);
}

/// Instance n plays a clip, by turns, from n / 30 s on.
static cutis_transform *instance_poses(bench *b, const cutis_model *model)
{
    const uint32_t nodes = cutis_model_get(model)->node_count;
    const uint32_t clips = cutis_model_get(model)->clip_count;
    cutis_transform *poses = malloc((size_t)nodes * b->instances * sizeof *poses);
    if (!poses) exit(1);
    for (uint32_t n = 0; n < b->instances; n++)
        cutis_pose_rest(model, poses + (size_t)n * nodes, NULL);
    for (uint32_t clip = 0; clip < (b->model ? clips : 1); clip++) {
        cutis_sampler *sampler = NULL;
        must(b, cutis_sampler_create(model, clip, &sampler), "sampler");
        for (uint32_t n = clip; n < b->instances; n += b->model ? clips : 1)
            cutis_sampler_sample(sampler, (float)n / 30, poses + (size_t)n * nodes, NULL);
        cutis_sampler_destroy(sampler);
    }
    return poses;
}

static void time_model(bench *b, const cutis_model *model, const char *body)
{
    cutis_transform *poses = instance_poses(b, model);
    for (int order = 0; order < (b->brief ? 1 : 4); order++) {
        static const char *const orders[] = { "choose", "output", "fours", "bound" };
        static const cutis_method methods[] = { CUTIS_METHOD_LBS, CUTIS_METHOD_SBS,
                                                CUTIS_METHOD_DQS, CUTIS_METHOD_COR };
        if (!b->brief) setenv("CUTIS_GPU_ORDER", orders[order], 1);
        for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
            char name[64];
            snprintf(name, sizeof name, "%s %s, %s", body, cutis_method_name(methods[m]),
                     orders[order]);
            time_binding(b, model, name, methods[m], poses);
        }
    }
    if (!b->brief) unsetenv("CUTIS_GPU_ORDER");
    free(poses);
}

static void time_real(bench *b)
{
    static const cutis_body bodies[] = { CUTIS_BODY_ARM, CUTIS_BODY_BIPED, CUTIS_BODY_QUADRUPED };
    cutis_model *model = NULL;
    for (size_t i = b->brief; i < sizeof bodies / sizeof *bodies && !b->model; i++) {
        const cutis_synth_options options = { .body = bodies[i], .size = CUTIS_BODY_SIZE_HIGH };
        must(b, cutis_synth_create(b->context, &options, &model), "synth");
        time_model(b, model, cutis_body_name(bodies[i]));
        cutis_model_destroy(model);
    }
    if (!b->model) return;
    must(b, cutis_model_read(b->context, b->model, NULL, &model), b->model);
    time_model(b, model, "model");
    cutis_model_destroy(model);
}

/// What is to be done, and how kernels are launched for it.
typedef struct choices {
    const char *only, *json, *text; ///< device; file; kernel text before the schedule
    int registers, warps, formula, kernel;
    bool plain; ///< no packed records, no lists in registers
    bool bits, times, real, tuning;
} choices;

static bool read_flag(const char *name, bench *b, choices *c)
{
    const struct {
        const char *name;
        bool *is;
    } flags[] = { { "--bits", &c->bits },   { "--time", &c->times }, { "--real", &c->real },
                  { "--plain", &c->plain }, { "--even", &b->even },  { "--brief", &b->brief },
                  { "--tune", &c->tuning } };
    for (size_t k = 0; k < sizeof flags / sizeof *flags; k++)
        if (strcmp(name, flags[k].name) == 0) return *flags[k].is = true;
    return false;
}

static bool read_value(const char *name, const char *value, bench *b, choices *c)
{
    const struct {
        const char *name;
        const char **text;
        int *number;
        uint32_t *count;
    } values[] = { { "--model", &b->model, NULL, NULL },
                   { "--text", &c->text, NULL, NULL }, // "#define ..."
                   { "--device", &c->only, NULL, NULL },
                   { "--json", &c->json, NULL, NULL },
                   { "--formula", NULL, &c->formula, NULL },
                   { "--registers", NULL, &c->registers, NULL },
                   { "--warps", NULL, &c->warps, NULL },
                   { "--kernel", NULL, &c->kernel,
                     NULL }, // of --tune: 0 LBS raw, 1 unit, 2 SBS ...
                   { "--instances", NULL, NULL, &b->instances },
                   { "--vertices", NULL, NULL, &b->vertices } };
    if (strcmp(name, "--total") == 0) return b->total = strtoull(value, NULL, 10), true;
    for (size_t k = 0; k < sizeof values / sizeof *values; k++) {
        if (strcmp(name, values[k].name) != 0) continue;
        if (values[k].text) *values[k].text = value;
        if (values[k].number) *values[k].number = atoi(value);
        if (values[k].count) *values[k].count = (uint32_t)atoi(value);
        return true;
    }
    return false;
}

static bool read_choices(int argc, char **argv, bench *b, choices *c)
{
    for (int i = 1; i < argc; i++) {
        if (read_flag(argv[i], b, c)) continue;
        if (read_value(argv[i], i + 1 < argc ? argv[i + 1] : "", b, c)) {
            i++;
            continue;
        }
        fprintf(stderr, "bench_gpu: %s: see the top of bench/bench_gpu.c\n", argv[i]);
        return false;
    }
    c->real = c->real || b->model;
    if (!c->bits && !c->times && !c->real && !c->tuning) c->bits = c->times = true;
    return true;
}

static void run(bench *b, const choices *c, const char *name)
{
    b->gpu = (cutis_gpu *)b->device;
    if (c->registers >= 0) b->gpu->registers = b->gpu->registers_pairs = (uint32_t)c->registers;
    if (c->warps > 0) b->gpu->warps = (uint32_t)c->warps;
    if (c->registers >= 0 || c->warps > 0) b->gpu->registers_centred = 0;
    if (c->plain) b->gpu->staged = false;
    b->gpu->tuning = c->text;
    printf("%s: %s, %s\n", name, b->gpu->info.name, b->gpu->info.detail);
    for (int k = 0; c->bits && k < KIND_COUNT; k++)
        if (c->formula < 0 || k == c->formula)
            for (int hard = 0; hard < 2; hard++) check_bits(b, k, hard);
    if (c->bits && c->formula < 0) check_methods(b);
    if (c->tuning) tune(b, c->kernel);
    if (c->times) time_all(b, c->formula < 5 ? c->formula : -1);
    if (c->real) time_real(b);
}

int main(int argc, char **argv)
{
    bench b = { .vertices = 46036, .instances = 1024, .total = 100000000 };
    choices c = { .registers = -1, .formula = -1, .kernel = -1 };
    if (!read_choices(argc, argv, &b, &c)) return 2;
    if (cutis_context_create(NULL, &b.context) != CUTIS_OK) return 1;
    must(&b, cutis_device_create(b.context, NULL, &b.cpu), "cpu");
    if (c.json && !(b.json = fopen(c.json, "w"))) return 1;
    if (b.json) fprintf(b.json, "[");
    int found = 0;
    for (int kind = CUTIS_DEVICE_CUDA; kind >= CUTIS_DEVICE_OPENCL; kind--) {
        const char *name = cutis_device_kind_name((cutis_device_kind)kind);
        if (c.only && strcmp(c.only, name) != 0) continue;
        if (cutis_device_create(
                b.context, &(cutis_device_options){ .kind = (cutis_device_kind)kind }, &b.device)) {
            printf("skip  %s: %s\n", name, cutis_context_error(b.context));
            continue;
        }
        found++;
        run(&b, &c, name);
        cutis_device_destroy(b.device);
    }
    if (b.json) {
        fprintf(b.json, "]\n");
        fclose(b.json);
    }
    cutis_device_destroy(b.cpu);
    cutis_context_destroy(b.context);
    if (!found) return 0;
    printf("%s\n", b.failures ? "some bits DIFFER" : "done");
    return b.failures ? 1 : 0;
}
