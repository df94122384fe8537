/// The CPU's kernels touch nothing but their arrays: every instruction set, 0 to 67 vertices, every
/// formula with normals, tangents, morphs, blend factors and pose space, every array of the layout,
/// the frames and the outputs cut to its exact size against a page that may not be touched, behind
/// it and before it; and what the lanes without a vertex hold is nobody's business.
#include "support.h"

#include "device/cpu/cpu.h"
#include "guard.h"
#include "skin_case.h"
#include "skin_run.h"

enum { MOST_VERTICES = 67, MOST_BLOCKS = 40 };

typedef struct guarded {
    guard_block blocks[MOST_BLOCKS];
    uint32_t count;
    guard_place place;
} guarded;

static void *cut(guarded *g, const void *data, size_t size)
{
    if (!data) return NULL;
    assert_true(g->count < MOST_BLOCKS);
    guard_block *b = &g->blocks[g->count++];
    *b = guard_take(size, 4, g->place);
    if (size) memcpy(guard_memory(b), data, size);
    return guard_memory(b);
}

static void *cut_room(guarded *g, size_t size)
{
    assert_true(g->count < MOST_BLOCKS);
    guard_block *b = &g->blocks[g->count++];
    *b = guard_take(size, 4, g->place);
    return guard_memory(b);
}

static void give_all(guarded *g)
{
    while (g->count) guard_give(&g->blocks[--g->count]);
}

/// Every array of a layout in the size its counts say.
static cutis_skin_layout cut_layout(guarded *g, const cutis_skin_layout *from)
{
    cutis_skin_layout l = *from;
    const size_t blocks = l.block_count, slots = blocks * l.block_size,
                 entries = l.list_first[blocks];
    const size_t influences = l.first[l.vertex_count], plane = slots * sizeof(float);
    const size_t groups = 1u + (l.normals != NULL) + l.tangents;
    const size_t morphs = l.morph_first ? l.morph_first[blocks] : 0;
    l.list_first = cut(g, l.list_first, (blocks + 1) * 4);
    l.list_bone = cut(g, l.list_bone, entries * 4);
    l.weights = cut(g, l.weights, entries * l.block_size * 4);
    l.positions = cut(g, l.positions, 3 * plane);
    l.normals = cut(g, l.normals, 3 * plane);
    l.tangents_rest = cut(g, l.tangents_rest, 4 * plane);
    l.vertices = cut(g, l.vertices, slots * 4);
    l.sets = cut(g, l.sets, slots * 4);
    l.centres = cut(g, l.centres, 3 * plane);
    l.origins = cut(g, l.origins, (size_t)l.bone_count * 12);
    l.blend = cut(g, l.blend, plane);
    l.morph_first = cut(g, l.morph_first, (blocks + 1) * 4);
    l.morph_target = cut(g, l.morph_target, morphs * 4);
    l.morph_delta = cut(g, l.morph_delta, morphs * groups * 3 * l.block_size * 4);
    l.pose_scales = cut(g, l.pose_scales, plane);
    l.pose_fields = cut(g, l.pose_fields, (from->normals ? 7u : 4u) * l.pose_count * plane);
    l.vertex_slot = cut(g, l.vertex_slot, (size_t)l.vertex_count * 4);
    l.first = cut(g, l.first, ((size_t)l.vertex_count + 1) * 4);
    l.bone = cut(g, l.bone, influences * 4);
    l.weight = cut(g, l.weight, influences * 4);
    return l;
}

static cutis_skin_frames cut_frames(guarded *g, const cutis_skin_frames *from,
                                    const cutis_skin_layout *l)
{
    cutis_skin_frames f = *from;
    const size_t count = f.instance_count, bones = count * l->bone_count;
    f.matrices = cut(g, f.matrices, bones * 48);
    f.rotations = cut(g, f.rotations, bones * 16);
    f.duals = cut(g, f.duals, bones * 16);
    f.stretches = cut(g, f.stretches, bones * 24);
    f.centres = cut(g, f.centres, count * l->set_count * 16);
    f.scales = cut(g, f.scales, count * 4);
    f.nonuniform = cut(g, f.nonuniform, count * 4);
    f.targets = cut(g, f.targets, count * l->target_count * 4);
    f.pose_squares = cut(g, f.pose_squares, bones * l->pose_count * 4);
    return f;
}

/// NaN in every lane that has no vertex, of `width` planes per block.
static void poison_planes(const cutis_skin_layout *l, const float *planes, size_t width)
{
    if (!planes) return;
    for (uint32_t k = 0; k < l->block_count; k++)
        for (uint32_t s = 0; s < l->block_size; s++)
            for (size_t p = 0; p < width && l->vertices[k * l->block_size + s] == CUTIS_NO_VERTEX;
                 p++)
                ((float *)(uintptr_t)planes)[(k * width + p) * l->block_size + s] = NAN;
}

static void poison_padding(const cutis_skin_layout *l)
{
    const size_t groups = 1u + (l->normals != NULL) + l->tangents;
    poison_planes(l, l->positions, 3);
    poison_planes(l, l->normals, 3);
    poison_planes(l, l->tangents_rest, 4);
    poison_planes(l, l->centres, 3);
    poison_planes(l, l->blend, 1);
    poison_planes(l, l->pose_scales, 1);
    poison_planes(l, l->pose_fields, (l->normals ? 7u : 4u) * l->pose_count);
    for (uint32_t k = 0; k < l->block_count; k++)
        for (uint32_t s = 0; s < l->block_size; s++) {
            if (l->vertices[k * l->block_size + s] != CUTIS_NO_VERTEX) continue;
            for (uint32_t e = l->list_first[k]; e < l->list_first[k + 1]; e++)
                ((float *)(uintptr_t)l->weights)[(size_t)e * l->block_size + s] = NAN;
            if (!l->morph_first) continue;
            for (size_t e = l->morph_first[k] * groups * 3; e < l->morph_first[k + 1] * groups * 3;
                 e++)
                ((float *)(uintptr_t)l->morph_delta)[e * l->block_size + s] = NAN;
        }
}

/// Values from a stream: the last vertex ends where its own bytes end, not where its stride does.
static size_t stream_size(size_t vertices, uint32_t stride, uint32_t bytes)
{
    return vertices ? (vertices - 1) * stride + bytes : 0;
}

typedef struct result {
    float positions[2 * MOST_VERTICES][3], normals[2 * MOST_VERTICES][3],
        tangents[2 * MOST_VERTICES][4];
    cutis_bounds bounds[2];
} result;

static void gather(void *out, const unsigned char *from, size_t vertices, uint32_t stride,
                   uint32_t bytes)
{
    for (size_t v = 0; v < vertices && from; v++)
        memcpy((unsigned char *)out + v * bytes, from + v * stride, bytes);
}

/// Stride 24 with normals: records, both in one array.
static void run(cutis_device *device, const cutis_skin_layout *layout,
                const cutis_skin_frames *frames, guarded *g, uint32_t stride, result *out)
{
    const size_t vertices = (size_t)layout->vertex_count * frames->instance_count;
    const uint64_t step = (uint64_t)layout->vertex_count * stride;
    const bool records = layout->normals && stride == 24;
    unsigned char *positions = cut_room(g, stream_size(vertices, stride, records ? 24 : 12));
    unsigned char *normals = records           ? positions + 12
                             : layout->normals ? cut_room(g, stream_size(vertices, stride, 12))
                                               : NULL;
    unsigned char *tangents =
        layout->tangents ? cut_room(g, stream_size(vertices, stride, 16)) : NULL;
    unsigned char *previous = cut_room(g, stream_size(vertices, stride, 12));
    cutis_bounds *bounds = cut_room(g, frames->instance_count * sizeof *bounds);
    const skin_streams outputs = { .positions = { positions, NULL, 0, stride, step },
                                   .normals = { normals, NULL, 0, stride, step },
                                   .tangents = { tangents, NULL, 0, stride, step },
                                   .previous = { previous, NULL, 0, stride, step },
                                   .bounds = bounds };
    cutis_device_skin *skin = NULL;
    assert_ok(device->context, device->operations->skin_create(device, layout, &skin));
    assert_ok(device->context, skin_run(skin, layout, frames, &outputs));
    device->operations->skin_destroy(skin);
    memset(out, 0, sizeof *out);
    gather(out->positions, positions, vertices, stride, 12);
    gather(out->normals, normals, vertices, stride, 12);
    gather(out->tangents, tangents, vertices, stride, 16);
    memcpy(out->bounds, bounds, frames->instance_count * sizeof *bounds);
}

static bool same(const result *a, const result *b)
{
    const float *x = &a->positions[0][0], *y = &b->positions[0][0];
    for (size_t i = 0; i < sizeof *a / sizeof *x; i++)
        if (memcmp(x + i, y + i, 4) != 0 && !(isnan(x[i]) && isnan(y[i]))) return false;
    return true;
}

static long runs;

/// One case: the scalar run on ordinary memory is what all others must give.
static void check_case(cutis_device *device, const skin_options *options)
{
    skin_case c;
    cutis_cpu_variant all[8];
    result expected, found;
    const uint32_t count = cutis_cpu_variants(all);
    skin_case_make(&c, options);
    for (int place = 0; place < 2; place++) {
        guarded arrays = { .place = (guard_place)place }, streams = arrays;
        cutis_cpu_device_use(device, &all[0]);
        run(device, &c.layout, &c.frames, &streams, 16, &expected);
        give_all(&streams);
        const cutis_skin_layout layout = cut_layout(&arrays, &c.layout);
        const cutis_skin_frames frames = cut_frames(&arrays, &c.frames, &c.layout);
        for (int poisoned = 0; poisoned < 2; poisoned++) {
            if (poisoned) poison_padding(&layout);
            for (uint32_t i = 0; i < count; i++) {
                if (!all[i].supported) continue;
                cutis_cpu_device_use(device, &all[i]);
                for (uint32_t stride = layout.tangents ? 16 : 12; stride <= 28; stride += 12) {
                    run(device, &layout, &frames, &streams, stride, &found);
                    give_all(&streams);
                    if (!same(&found, &expected))
                        fail_msg("%s, formula %d, %u vertices, stride %u%s: other values",
                                 all[i].name, options->formula, options->vertex_count, stride,
                                 poisoned ? ", padding poisoned" : "");
                    runs++;
                }
            }
        }
        give_all(&arrays);
    }
    skin_case_free(&c);
}

static void check_lengths(const skin_options *options)
{
    cutis_context *context = NULL;
    cutis_device *device = NULL;
    assert_int_equal(cutis_context_create(NULL, &context), CUTIS_OK);
    assert_ok(context, cutis_cpu_device_create(
                           context, &(cutis_device_options){ .thread_count = 1 }, &device));
    for (uint32_t n = 0; n <= MOST_VERTICES; n++) {
        skin_options o = *options;
        o.vertex_count = n;
        o.seed += n;
        check_case(device, &o);
    }
    cutis_device_destroy(device);
    cutis_context_destroy(context);
}

static const cutis_formula FORMULAS[5] = { CUTIS_FORMULA_LBS, CUTIS_FORMULA_SBS,
                                           CUTIS_FORMULA_SBS_WEIGHTED, CUTIS_FORMULA_DQS,
                                           CUTIS_FORMULA_COR };

static skin_options base_options(cutis_formula formula)
{
    return (skin_options){ .seed = 5000 + 100 * (uint64_t)formula,
                           .formula = formula,
                           .normal_rule = CUTIS_NORMAL_UNIT,
                           .block_size = CUTIS_CPU_BLOCK,
                           .bone_count = 9,
                           .influences = 4,
                           .instance_count = 2,
                           .shuffled = true,
                           .nonuniform = true };
}

static void every_formula_stays_within_its_arrays(void **state)
{
    (void)state;
    for (int f = 0; f < 5; f++)
        for (int rule = CUTIS_NORMAL_NONE; rule <= CUTIS_NORMAL_UNIT; rule++) {
            skin_options o = base_options(FORMULAS[f]);
            o.normal_rule = (cutis_normal_rule)rule;
            o.shuffled = rule != CUTIS_NORMAL_RAW; // runs of vertices take another path
            o.nonuniform = rule != CUTIS_NORMAL_UNIT;
            check_lengths(&o);
        }
    print_message("%ld runs\n", runs);
    assert_true(runs >= 8000); // of one instruction set
}

static void tangents_morphs_and_blend_factors_stay_within_their_arrays(void **state)
{
    (void)state;
    for (int f = 0; f < 5; f++)
        for (int kind = 0; kind < 3; kind++) {
            skin_options o = base_options(FORMULAS[f]);
            o.seed += 10000 + (uint64_t)kind;
            o.tangents = kind != 1;
            o.target_count = kind != 0 ? 5 : 0;
            o.blend = kind != 1 && FORMULAS[f] != CUTIS_FORMULA_LBS;
            o.linear_normals = kind == 2 && FORMULAS[f] == CUTIS_FORMULA_SBS;
            check_lengths(&o);
        }
}

static void pose_space_stays_within_its_arrays(void **state)
{
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        skin_options o = base_options(kind & 2 ? CUTIS_FORMULA_COR : CUTIS_FORMULA_LBS);
        o.seed += 20000 + (uint64_t)kind;
        o.pose_count = 8;
        o.gaussian = kind & 1;
        o.normal_rule = kind & 1 ? CUTIS_NORMAL_UNIT : CUTIS_NORMAL_NONE;
        o.nonuniform = false;
        check_lengths(&o);
    }
}

static void work_on_bones_stays_within_its_arrays(void **state)
{
    (void)state;
    cutis_cpu_variant all[8];
    const uint32_t variants = cutis_cpu_variants(all);
    for (uint32_t count = 0; count <= MOST_VERTICES; count++) {
        double palette[12 * MOST_VERTICES], quats[4 * MOST_VERTICES], squares[MOST_VERTICES];
        float matrices[12 * MOST_VERTICES];
        uint32_t used[MOST_VERTICES];
        uint64_t seed = count;
        for (uint32_t b = 0; b < count; b++) {
            double q[4] = { 1, case_in(&seed, -1, 1), case_in(&seed, -1, 1),
                            case_in(&seed, -1, 1) };
            double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]), r[9];
            for (int i = 0; i < 4; i++) q[i] /= length;
            case_rotation(q, r);
            for (int i = 0; i < 12; i++) {
                palette[12 * b + i] = i % 4 == 3 ? case_in(&seed, -2, 2) : r[i / 4 * 3 + i % 4];
                matrices[12 * b + i] = (float)palette[12 * b + i];
            }
            used[b] = b % 3 != 1;
        }
        cutis_bone_range range;
        memset(quats, 0, sizeof quats), memset(squares, 0, sizeof squares);
        all[0].bones->shapes(palette, used, count, squares, &range);
        all[0].bones->turns(palette, count, 1, quats);
        const bool rigid = all[0].bones->rigid(matrices, count);
        for (uint32_t i = 0; i < 2 * variants; i++) {
            guarded g = { .place = (guard_place)(i % 2) };
            const cutis_bone_work *work = all[i / 2].bones;
            if (!all[i / 2].supported) continue;
            cutis_bone_range other;
            const double *p = cut(&g, palette, count * 96u);
            double *q = cut_room(&g, count * 32u), *s = cut_room(&g, count * 8u);
            work->shapes(p, cut(&g, used, count * 4u), count, s, &other);
            work->turns(p, count, 1, q);
            assert_int_equal(work->rigid(cut(&g, matrices, count * 48u), count), rigid);
            assert_memory_equal(&range, &other, sizeof range);
            if (count) assert_memory_equal(q, quats, count * 32u);
            if (count) assert_memory_equal(s, squares, count * 8u);
            give_all(&g);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_formula_stays_within_its_arrays),
        cmocka_unit_test(tangents_morphs_and_blend_factors_stay_within_their_arrays),
        cmocka_unit_test(pose_space_stays_within_its_arrays),
        cmocka_unit_test(work_on_bones_stays_within_its_arrays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
