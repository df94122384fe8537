/// Every instruction set, thread count and output layout of the CPU device writes the bits of the
/// scalar reference.
#include "support.h"

#include "device/cpu/cpu.h"
#include "skin_case.h"
#include "skin_run.h"

#define POISON 0xc7

/// Host outputs of one run, each stream with room between vertices that must stay as it is.
typedef struct outputs {
    uint32_t stride, tangent_stride;
    size_t size, tangent_size;
    unsigned char *positions, *normals, *tangents, *previous;
    cutis_bounds *bounds;
} outputs;

static outputs outputs_make(const skin_case *c, uint32_t stride, uint32_t tangent_stride)
{
    const size_t vertices = (size_t)c->options.vertex_count * c->options.instance_count;
    outputs out = { .stride = stride, .tangent_stride = tangent_stride };
    out.size = vertices * stride;
    out.tangent_size = vertices * tangent_stride;
    out.positions = aligned_alloc(64, (out.size + 63) / 64 * 64);
    out.normals = aligned_alloc(64, (out.size + 63) / 64 * 64);
    out.previous = malloc(out.size);
    out.tangents = malloc(out.tangent_size);
    out.bounds = malloc(c->options.instance_count * sizeof *out.bounds);
    return out;
}

static void outputs_free(outputs *out)
{
    free(out->positions);
    free(out->normals);
    free(out->previous);
    free(out->tangents);
    free(out->bounds);
}

static void outputs_poison(const skin_case *c, outputs *out)
{
    memset(out->positions, POISON, out->size);
    memset(out->normals, POISON, out->size);
    memset(out->previous, 0, out->size);
    memset(out->tangents, POISON, out->tangent_size);
    memset(out->bounds, POISON, c->options.instance_count * sizeof *out->bounds);
}

static void run(cutis_device *device, const skin_case *c, const outputs *out)
{
    const uint64_t step = (uint64_t)c->options.vertex_count * out->stride;
    const uint64_t tangent_step = (uint64_t)c->options.vertex_count * out->tangent_stride;
    const skin_streams skin_outputs = {
        .positions = { out->positions, NULL, 0, out->stride, step },
        .normals = { c->layout.normals ? out->normals : NULL, NULL, 0, out->stride, step },
        .tangents = { c->layout.tangents ? out->tangents : NULL, NULL, 0, out->tangent_stride,
                      tangent_step },
        .previous = { out->previous, NULL, 0, out->stride, step },
        .bounds = out->bounds,
    };
    cutis_device_skin *skin = NULL;
    assert_ok(device->context, device->operations->skin_create(device, &c->layout, &skin));
    assert_ok(device->context, skin_run(skin, &c->layout, &c->frames, &skin_outputs));
    device->operations->skin_destroy(skin);
}

static bool same_bits(const void *a, const void *b)
{
    uint32_t x, y;
    float f, g;
    memcpy(&x, a, 4);
    memcpy(&y, b, 4);
    memcpy(&f, a, 4);
    memcpy(&g, b, 4);
    return x == y || (isnan(f) && isnan(g));
}

static void compare_stream(const char *what, const char *name, const unsigned char *a,
                           uint32_t stride_a, const unsigned char *b, uint32_t stride_b,
                           size_t vertices, uint32_t width)
{
    for (size_t v = 0; v < vertices; v++) {
        for (uint32_t i = 0; i < width; i++)
            if (!same_bits(a + v * stride_a + 4 * i, b + v * stride_b + 4 * i)) {
                float f, g;
                memcpy(&f, a + v * stride_a + 4 * i, 4);
                memcpy(&g, b + v * stride_b + 4 * i, 4);
                fail_msg("%s: %s of vertex %zu, component %u: %a, the reference has %a", name, what,
                         v, i, f, g);
            }
        for (uint32_t i = 4 * width; i < stride_a; i++)
            if (a[v * stride_a + i] != POISON)
                fail_msg("%s: %s: byte %u between vertices %zu and %zu was written", name, what, i,
                         v, v + 1);
    }
}

static void compare(const skin_case *c, const char *name, const outputs *a, const outputs *b)
{
    const size_t vertices = (size_t)c->options.vertex_count * c->options.instance_count;
    compare_stream("position", name, a->positions, a->stride, b->positions, b->stride, vertices, 3);
    if (c->layout.normals)
        compare_stream("normal", name, a->normals, a->stride, b->normals, b->stride, vertices, 3);
    if (c->layout.tangents)
        compare_stream("tangent", name, a->tangents, a->tangent_stride, b->tangents,
                       b->tangent_stride, vertices, 4);
    for (uint32_t n = 0; n < c->options.instance_count; n++)
        for (size_t i = 0; i < 6; i++)
            if (!same_bits((const float *)&a->bounds[n] + i, (const float *)&b->bounds[n] + i))
                fail_msg("%s: bounds of instance %u, value %zu: %a, the reference has %a", name, n,
                         i, ((const float *)&a->bounds[n])[i], ((const float *)&b->bounds[n])[i]);
}

// What positions held before (all poison) must be in `previous`, and nothing else.
static void check_previous(const skin_case *c, const char *name, const outputs *out)
{
    const size_t vertices = (size_t)c->options.vertex_count * c->options.instance_count;
    for (size_t v = 0; v < vertices; v++)
        for (uint32_t i = 0; i < out->stride; i++)
            if (out->previous[v * out->stride + i] != (i < 12 ? POISON : 0))
                fail_msg("%s: previous position of vertex %zu, byte %u", name, v, i);
}

// A vertex whose positions are still poison in the reference was never written.
static void check_written(const skin_case *c, const outputs *out)
{
    static const unsigned char UNTOUCHED[4] = { POISON, POISON, POISON, POISON };
    const size_t vertices = (size_t)c->options.vertex_count * c->options.instance_count;
    for (size_t v = 0; v < vertices; v++)
        for (uint32_t i = 0; i < 3; i++) {
            assert_memory_not_equal(out->positions + v * out->stride + 4 * i, UNTOUCHED, 4);
            if (c->layout.normals)
                assert_memory_not_equal(out->normals + v * out->stride + 4 * i, UNTOUCHED, 4);
        }
}

static cutis_device *device_with(cutis_context *context, uint32_t threads)
{
    cutis_device *device = NULL;
    const cutis_device_options options = { .thread_count = threads };
    assert_ok(context, cutis_cpu_device_create(context, &options, &device));
    return device;
}

// All variants and thread counts against the plain scalar one on one thread.
static void check_case(cutis_context *context, const skin_options *options, const uint32_t *threads,
                       uint32_t thread_count)
{
    skin_case c;
    cutis_cpu_variant all[8];
    const uint32_t count = cutis_cpu_variants(all);
    skin_case_make(&c, options);
    outputs expected = outputs_make(&c, 12, 16);
    cutis_device *one = device_with(context, 1);
    outputs_poison(&c, &expected);
    cutis_cpu_device_use(one, &all[0]);
    run(one, &c, &expected);
    check_written(&c, &expected);
    cutis_device_destroy(one);
    for (uint32_t t = 0; t < thread_count; t++) {
        cutis_device *device = device_with(context, threads[t]);
        for (uint32_t i = 0; i < count; i++) {
            if (!all[i].supported) continue;
            cutis_cpu_device_use(device, &all[i]);
            for (uint32_t layout = 0; layout < 2; layout++) {
                outputs out = outputs_make(&c, layout ? 32 : 12, layout ? 40 : 16);
                outputs_poison(&c, &out);
                run(device, &c, &out);
                compare(&c, all[i].name, &out, &expected);
                check_previous(&c, all[i].name, &out);
                outputs_free(&out);
            }
        }
        cutis_device_destroy(device);
    }
    outputs_free(&expected);
    skin_case_free(&c);
}

static const uint32_t ONE_AND_THREE[2] = { 1, 3 };
static const cutis_formula FORMULAS[5] = { CUTIS_FORMULA_LBS, CUTIS_FORMULA_SBS,
                                           CUTIS_FORMULA_SBS_WEIGHTED, CUTIS_FORMULA_DQS,
                                           CUTIS_FORMULA_COR };

static skin_options base_options(cutis_formula formula)
{
    return (skin_options){ .seed = 100 + (uint64_t)formula,
                           .formula = formula,
                           .normal_rule = CUTIS_NORMAL_UNIT,
                           .block_size = 16,
                           .vertex_count = 1237,
                           .bone_count = 24,
                           .influences = 8,
                           .instance_count = 4,
                           .nasty = true,
                           .shuffled = true,
                           .nonuniform = true };
}

static void context_setup(cutis_context **context)
{
    assert_int_equal(cutis_context_create(NULL, context), CUTIS_OK);
}

static void every_formula_and_normal_rule_has_the_reference_bits(void **state)
{
    (void)state;
    cutis_context *context;
    context_setup(&context);
    for (int f = 0; f < 5; f++)
        for (int rule = CUTIS_NORMAL_NONE; rule <= CUTIS_NORMAL_UNIT; rule++)
            for (int shuffled = 0; shuffled < 2; shuffled++) {
                skin_options o = base_options(FORMULAS[f]);
                o.normal_rule = (cutis_normal_rule)rule;
                o.shuffled = shuffled;
                check_case(context, &o, ONE_AND_THREE, 2);
            }
    cutis_context_destroy(context);
}

static void tame_poses_have_the_reference_bits_with_short_and_long_lists(void **state)
{
    (void)state;
    cutis_context *context;
    context_setup(&context);
    for (int f = 0; f < 5; f++)
        for (uint32_t influences = 1; influences <= 8; influences++) {
            skin_options o = base_options(FORMULAS[f]);
            o.seed += 1000 * influences;
            o.influences = influences;
            o.nasty = false;
            o.vertex_count = 500;
            o.bone_count =
                influences == 8 ? 40 : 6; // 40: lists of more than 32 bones when not sorted
            o.shuffled = influences != 8;
            check_case(context, &o, ONE_AND_THREE, 1);
        }
    cutis_context_destroy(context);
}

static void tangents_morphs_and_blend_factors_have_the_reference_bits(void **state)
{
    (void)state;
    cutis_context *context;
    context_setup(&context);
    for (int f = 0; f < 5; f++)
        for (int kind = 0; kind < 16; kind++) {
            skin_options o = base_options(FORMULAS[f]);
            o.vertex_count = 333;
            o.seed += 10000 + (uint64_t)kind;
            o.tangents = (kind & 1) != 0;
            o.target_count = kind & 2 ? 5 : 0;
            o.blend = (kind & 4) && FORMULAS[f] != CUTIS_FORMULA_LBS;
            o.linear_normals = (kind & 8) && FORMULAS[f] == CUTIS_FORMULA_SBS;
            o.normal_rule = kind % 3 == 0   ? CUTIS_NORMAL_RAW
                            : kind % 3 == 1 ? CUTIS_NORMAL_UNIT
                                            : CUTIS_NORMAL_NONE;
            o.nasty = kind % 5 != 0;
            check_case(context, &o, ONE_AND_THREE, 1);
        }
    cutis_context_destroy(context);
}

// Positions and normals alone, packed: the walks that engines take.
static void check_plain(cutis_context *context, const skin_options *options)
{
    skin_case c;
    cutis_cpu_variant all[8];
    const uint32_t count = cutis_cpu_variants(all);
    cutis_device *device = device_with(context, 2);
    skin_case_make(&c, options);
    const uint64_t step = (uint64_t)options->vertex_count * 12;
    outputs expected = outputs_make(&c, 12, 16), out = outputs_make(&c, 12, 16);
    for (uint32_t i = 0; i < count; i++) {
        outputs *to = i ? &out : &expected;
        if (!all[i].supported) continue;
        cutis_cpu_device_use(device, &all[i]);
        cutis_device_skin *skin = NULL;
        outputs_poison(&c, to);
        assert_ok(context, device->operations->skin_create(device, &c.layout, &skin));
        assert_ok(context,
                  skin_run(skin, &c.layout, &c.frames,
                           &(skin_streams){ .positions = { to->positions, NULL, 0, 12, step },
                                            .normals = { to->normals, NULL, 0, 12, step } }));
        device->operations->skin_destroy(skin);
        if (i) compare(&c, all[i].name, &out, &expected);
    }
    outputs_free(&expected);
    outputs_free(&out);
    skin_case_free(&c);
    cutis_device_destroy(device);
}

static void weighted_pose_space_has_the_reference_bits(void **state)
{
    (void)state;
    static const uint32_t POSES[4] = { 4, 8, 12, 24 };
    cutis_context *context;
    context_setup(&context);
    for (uint32_t kind = 0; kind < 16; kind++) {
        // COR: displacements after skinning.
        skin_options o = base_options(kind % 5 == 4 ? CUTIS_FORMULA_COR : CUTIS_FORMULA_LBS);
        o.seed += 20000 + kind;
        o.vertex_count = 333;
        o.pose_count = POSES[kind % 4];
        o.gaussian = kind / 4 % 2;
        o.shuffled = kind / 8 % 2;
        o.nonuniform = kind % 3 == 0;
        o.tangents = kind % 5 == 0;
        o.target_count = kind % 7 == 0 ? 3 : 0;
        o.nasty = kind % 2;
        o.normal_rule = kind % 6 == 0   ? CUTIS_NORMAL_RAW
                        : kind % 6 == 1 ? CUTIS_NORMAL_NONE
                                        : CUTIS_NORMAL_UNIT;
        check_case(context, &o, ONE_AND_THREE, 1);
        o.tangents = false;
        o.target_count = 0;
        if (o.normal_rule != CUTIS_NORMAL_NONE) check_plain(context, &o);
    }
    cutis_context_destroy(context);
}

static void one_to_sixteen_threads_write_the_same_bits(void **state)
{
    (void)state;
    static const uint32_t THREADS[16] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 };
    cutis_context *context;
    context_setup(&context);
    for (int f = 0; f < 5; f++) {
        skin_options o = base_options(FORMULAS[f]);
        o.vertex_count = 4000;
        o.influences = 4;
        o.instance_count = 3;
        check_case(context, &o, THREADS, 16);
    }
    cutis_context_destroy(context);
}

static void tiny_meshes_and_partial_blocks_are_written_whole_and_bounded_tightly(void **state)
{
    (void)state;
    static const uint32_t COUNTS[6] = { 1, 15, 16, 17, 31, 33 };
    cutis_context *context;
    context_setup(&context);
    for (int i = 0; i < 6; i++)
        for (int f = 0; f < 5; f++) {
            skin_options o = base_options(FORMULAS[f]);
            o.vertex_count = COUNTS[i];
            o.nasty = false;
            o.instance_count = 7;
            check_case(context, &o, ONE_AND_THREE, 2);
        }
    cutis_context_destroy(context);
}

// Streaming stores are taken when the outputs exceed the cache; here the cache is made small
// instead.
static void stores_past_the_cache_write_the_same_bits(void **state)
{
    (void)state;
    cutis_context *context;
    context_setup(&context);
    cutis_cpu_variant all[8];
    const uint32_t count = cutis_cpu_variants(all);
    skin_options o = base_options(CUTIS_FORMULA_LBS);
    o.shuffled = false;
    o.vertex_count = 2048 + 5; // so instances begin at multiples of 64, 16 and only 4 bytes
    o.instance_count = 5;
    skin_case c;
    skin_case_make(&c, &o);
    outputs expected = outputs_make(&c, 12, 16), out = outputs_make(&c, 12, 16);
    cutis_device *device = device_with(context, 2);
    const uint64_t step = (uint64_t)o.vertex_count * 12;
    for (uint32_t i = 0; i < count; i++) {
        if (!all[i].supported) continue;
        cutis_cpu_device_use(device, &all[i]);
        for (int streaming = 0; streaming < 2; streaming++) {
            outputs *to = streaming ? &out : &expected;
            const skin_streams streams = { .positions = { to->positions, NULL, 0, 12, step },
                                           .normals = { to->normals, NULL, 0, 12, step },
                                           .bounds = to->bounds };
            cutis_device_skin *skin = NULL;
            outputs_poison(&c, to);
            ((cutis_cpu_device *)device)->cache_bytes = streaming ? 1 : (uint64_t)1 << 40;
            assert_ok(context, device->operations->skin_create(device, &c.layout, &skin));
            assert_ok(context, skin_run(skin, &c.layout, &c.frames, &streams));
            device->operations->skin_destroy(skin);
        }
        compare(&c, all[i].name, &out, &expected);
    }
    cutis_device_destroy(device);
    outputs_free(&expected);
    outputs_free(&out);
    skin_case_free(&c);
    cutis_context_destroy(context);
}

/// One run into records: a normal 12 bytes behind its position, `gap` bytes behind that, the first
/// `offset` bytes into a line; compared with a run into arrays of their own.
static void check_records(cutis_device *device, const char *name, const skin_case *c,
                          const outputs *expected, uint32_t gap, uint32_t offset)
{
    const size_t vertices = (size_t)c->options.vertex_count * c->options.instance_count;
    const uint32_t stride = 24 + gap;
    const size_t size = vertices * stride;
    unsigned char *memory = aligned_alloc(64, (size + offset + 127) / 64 * 64);
    unsigned char *records = memory + offset;
    memset(memory, POISON, size + offset + 64);
    const uint64_t step = (uint64_t)c->options.vertex_count * stride;
    const skin_streams streams = { .positions = { records, NULL, 0, stride, step },
                                   .normals = { records + 12, NULL, 0, stride, step } };
    cutis_device_skin *skin = NULL;
    assert_ok(device->context, device->operations->skin_create(device, &c->layout, &skin));
    assert_ok(device->context, skin_run(skin, &c->layout, &c->frames, &streams));
    device->operations->skin_destroy(skin);
    for (size_t v = 0; v < vertices; v++) {
        const unsigned char *at = records + v * stride;
        for (uint32_t i = 0; i < 3; i++) {
            if (!same_bits(at + 4 * i, expected->positions + v * expected->stride + 4 * i))
                fail_msg("%s: records: position of vertex %zu", name, v);
            if (!same_bits(at + 12 + 4 * i, expected->normals + v * expected->stride + 4 * i))
                fail_msg("%s: records: normal of vertex %zu", name, v);
        }
        for (uint32_t i = 24; i < stride; i++)
            if (at[i] != POISON) fail_msg("%s: records: byte %u behind vertex %zu", name, i, v);
    }
    for (uint32_t i = 0; i < offset; i++) assert_int_equal(memory[i], POISON);
    for (uint32_t i = 0; i < 64; i++) assert_int_equal(records[size + i], POISON);
    free(memory);
}

// Runs and scattered blocks, within the cache and beyond it.
static void records_have_the_bits_of_arrays(void **state)
{
    (void)state;
    static const uint32_t PLACES[][2] = { { 0, 0 }, { 0, 16 }, { 0, 4 }, { 8, 0 }, { 40, 12 } };
    cutis_context *context;
    context_setup(&context);
    cutis_cpu_variant all[8];
    const uint32_t count = cutis_cpu_variants(all);
    cutis_device *device = device_with(context, 2);
    for (int shuffled = 0; shuffled < 2; shuffled++) {
        skin_options o = base_options(shuffled ? CUTIS_FORMULA_DQS : CUTIS_FORMULA_LBS);
        o.shuffled = shuffled;
        o.vertex_count = 2048 + 5;
        o.instance_count = 3;
        skin_case c;
        skin_case_make(&c, &o);
        outputs expected = outputs_make(&c, 12, 16);
        cutis_cpu_device_use(device, &all[0]);
        outputs_poison(&c, &expected);
        run(device, &c, &expected);
        for (uint32_t i = 0; i < 2 * count; i++) {
            if (!all[i / 2].supported) continue;
            cutis_cpu_device_use(device, &all[i / 2]);
            ((cutis_cpu_device *)device)->cache_bytes = i % 2 ? 1 : (uint64_t)1 << 40;
            for (size_t p = 0; p < sizeof PLACES / sizeof *PLACES; p++)
                check_records(device, all[i / 2].name, &c, &expected, PLACES[p][0], PLACES[p][1]);
        }
        outputs_free(&expected);
        skin_case_free(&c);
    }
    cutis_device_destroy(device);
    cutis_context_destroy(context);
}

// A batch of two instances of 24 bytes a vertex that the cache holds many times over, of a call of
// a hundred that it does not hold.
static void what_the_whole_call_writes_decides_how_it_is_stored(void **state)
{
    (void)state;
    static const struct {
        uint32_t call_count, vertex, instance; // bytes between vertices and instances
        bool shuffled, streaming, ahead;
    } CASES[] = {
        { 2, 24, 0, true, false, false },      { 100, 24, 0, true, false, true },
        { 100, 24, 0, false, true, false },    { 100, 32, 0, false, false, true },
        { 100, 2400, 24, true, false, false }, // instances side by side: neighbours have the line
    };
    cutis_context *context;
    context_setup(&context);
    cutis_device *device = device_with(context, 1);
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        skin_options o = base_options(CUTIS_FORMULA_LBS);
        o.shuffled = CASES[i].shuffled;
        o.instance_count = 2;
        skin_case c;
        skin_case_make(&c, &o);
        cutis_device_skin *skin = NULL;
        assert_ok(context, device->operations->skin_create(device, &c.layout, &skin));
        const uint64_t vertices = c.layout.vertex_count,
                       step = CASES[i].instance ? CASES[i].instance : vertices * CASES[i].vertex;
        char nothing[16];
        cutis_cpu_job job = { .layout = &c.layout,
                              .frames = &c.frames,
                              .positions = { nothing, CASES[i].vertex, step },
                              .normals = { nothing + 12, CASES[i].vertex, step } };
        ((cutis_cpu_device *)device)->cache_bytes =
            10 * 24 * vertices + ((cutis_cpu_skin *)skin)->bytes;
        cutis_cpu_choose_stores((cutis_cpu_device *)device, (cutis_cpu_skin *)skin,
                                CASES[i].call_count, &job);
        if (job.streaming != CASES[i].streaming || job.ahead != CASES[i].ahead)
            fail_msg("case %zu: streaming %d, ahead %d", i, job.streaming, job.ahead);
        device->operations->skin_destroy(skin);
        skin_case_free(&c);
    }
    cutis_device_destroy(device);
    cutis_context_destroy(context);
}

// The caller's own threads: backwards and in one go is a legal order.
static void run_backwards(void *user, void (*task)(void *data, uint32_t index), void *data,
                          uint32_t count)
{
    ++*(uint32_t *)user;
    for (uint32_t i = count; i-- > 0;) task(data, i);
}

static void the_callers_task_runner_is_used_and_gives_the_same_bits(void **state)
{
    (void)state;
    cutis_context *context;
    context_setup(&context);
    uint32_t calls = 0;
    const cutis_device_options options = { .thread_count = 4,
                                           .run_tasks = run_backwards,
                                           .run_tasks_user = &calls };
    cutis_device *own = NULL, *one = device_with(context, 1);
    assert_ok(context, cutis_cpu_device_create(context, &options, &own));
    skin_options o = base_options(CUTIS_FORMULA_DQS);
    o.vertex_count = 5000;
    o.influences = 4;
    skin_case c;
    skin_case_make(&c, &o);
    outputs a = outputs_make(&c, 12, 16), b = outputs_make(&c, 12, 16);
    outputs_poison(&c, &a);
    outputs_poison(&c, &b);
    run(own, &c, &a);
    run(one, &c, &b);
    compare(&c, "caller's tasks", &a, &b);
    assert_int_equal(calls, 1);
    outputs_free(&a);
    outputs_free(&b);
    skin_case_free(&c);
    cutis_device_destroy(own);
    cutis_device_destroy(one);
    cutis_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_formula_and_normal_rule_has_the_reference_bits),
        cmocka_unit_test(tame_poses_have_the_reference_bits_with_short_and_long_lists),
        cmocka_unit_test(tangents_morphs_and_blend_factors_have_the_reference_bits),
        cmocka_unit_test(weighted_pose_space_has_the_reference_bits),
        cmocka_unit_test(one_to_sixteen_threads_write_the_same_bits),
        cmocka_unit_test(tiny_meshes_and_partial_blocks_are_written_whole_and_bounded_tightly),
        cmocka_unit_test(stores_past_the_cache_write_the_same_bits),
        cmocka_unit_test(records_have_the_bits_of_arrays),
        cmocka_unit_test(what_the_whole_call_writes_decides_how_it_is_stored),
        cmocka_unit_test(the_callers_task_runner_is_used_and_gives_the_same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
