// Reducing whole models: the limb of docs/spec/reduction.md 10.14, seams, threads, several skins,
// bad input, cancelling and running out of memory.
#include "support.h"

#include <cutis/weights.h>

enum { BONES = 17, RINGS = 100, AROUND = 50, NODES = BONES + 1, FEW_RINGS = 24 };

// A tube along x with bones at even distances; Gaussian weights of a tenth of its length, up to 15
// influences.
typedef struct {
    cutis_context *context;
    cutis_model *model;
    uint32_t *first, *joints, *indices, skin_joints[BONES];
    float *positions, *weights;
    cutis_node nodes[NODES];
    cutis_mat34 binds[BONES];
    cutis_primitive primitive;
    cutis_mesh mesh;
    cutis_skin skin;
    cutis_model_data data;
} limb;

static uint32_t limb_influences(limb *l, uint32_t v, double x)
{
    uint32_t used = l->first[v], begin = used;
    double sum = 0;
    for (uint32_t b = 0; b < BONES; b++) {
        double d = (x - (b + 0.5) / BONES) / 0.1, w = exp(-d * d / 2);
        if (w < 1e-6) continue;
        l->joints[used] = b;
        l->weights[used++] = (float)w;
        sum += w;
    }
    for (uint32_t i = begin; i < used; i++) l->weights[i] /= (float)sum;
    return used;
}

static void limb_surface(limb *l, uint32_t rings)
{
    for (uint32_t r = 0; r < rings; r++)
        for (uint32_t a = 0; a < AROUND; a++) {
            uint32_t v = r * AROUND + a;
            double x = (double)r / (rings - 1), phi = 2 * M_PI * a / AROUND,
                   radius = 0.08 + 0.015 * sin(9 * x);
            l->positions[3 * v] = (float)x;
            l->positions[3 * v + 1] = (float)(radius * cos(phi));
            l->positions[3 * v + 2] = (float)(radius * sin(phi));
            l->first[v + 1] = limb_influences(l, v, x);
            if (r + 1 == rings) continue;
            uint32_t b = r * AROUND + (a + 1) % AROUND, up = v + AROUND,
                     quad[6] = { v, b, up, b, b + AROUND, up };
            memcpy(l->indices + l->primitive.index_count, quad, sizeof quad);
            l->primitive.index_count += 6;
        }
}

static limb *make_limb(uint32_t rings)
{
    const uint32_t count = rings * AROUND;
    limb *l = calloc(1, sizeof *l);
    assert_int_equal(cutis_context_create(NULL, &l->context), CUTIS_OK);
    l->first = calloc(count + 1, sizeof *l->first);
    l->joints = malloc(count * BONES * sizeof *l->joints);
    l->weights = malloc(count * BONES * sizeof *l->weights);
    l->positions = malloc(3 * count * sizeof *l->positions);
    l->indices = malloc(6 * count * sizeof *l->indices);
    limb_surface(l, rings);
    l->primitive.vertex_count = count;
    l->primitive.indices = l->indices;
    l->primitive.positions = l->positions;
    l->primitive.influences = (cutis_influences){ l->first, l->joints, l->weights };
    l->primitive.material = CUTIS_NONE;
    l->mesh = (cutis_mesh){ .primitive_count = 1, .primitives = &l->primitive };
    for (uint32_t n = 0; n < NODES; n++) {
        l->nodes[n] = (cutis_node){ .parent = n < BONES ? (int32_t)n - 1 : CUTIS_NONE,
                                    .rest = cutis_transform_identity(),
                                    .mesh = n == BONES ? 0 : CUTIS_NONE,
                                    .skin = n == BONES ? 0 : CUTIS_NONE };
        if (n && n < BONES) l->nodes[n].rest.translation.x = 1.0f / BONES;
        if (n == BONES) break;
        l->skin_joints[n] = n;
        l->binds[n] = (cutis_mat34){ { 1, 0, 0, -(float)n / BONES, 0, 1, 0, 0, 0, 0, 1, 0 } };
    }
    l->skin = (cutis_skin){ .joint_count = BONES,
                            .joints = l->skin_joints,
                            .inverse_binds = l->binds,
                            .root = CUTIS_NONE };
    l->data = (cutis_model_data){ .node_count = NODES,
                                  .mesh_count = 1,
                                  .skin_count = 1,
                                  .nodes = l->nodes,
                                  .meshes = &l->mesh,
                                  .skins = &l->skin };
    assert_ok(l->context, cutis_model_create(l->context, &l->data, CUTIS_GATE_REFUSE, &l->model));
    return l;
}

static void free_limb(limb *l)
{
    cutis_model_destroy(l->model);
    assert_int_equal(cutis_context_memory(l->context), 0);
    cutis_context_destroy(l->context);
    free(l->first), free(l->joints), free(l->weights), free(l->positions), free(l->indices);
    free(l);
}

// Bends and twists that vary smoothly along the limb (waves), or every joint turned for itself
// about two axes.
static void limb_pose(const cutis_model *model, bool smooth, uint64_t seed, uint32_t pose,
                      cutis_transform *out)
{
    cutis_pose_rest(model, out, NULL);
    for (uint32_t b = 1; b < BONES; b++) {
        double turn[3] = { 0 };
        for (uint32_t k = 0; k < 3; k++)
            for (uint32_t f = 0; f < 4 && smooth; f++) {
                uint32_t wave = ((pose * 3 + k) * 4 + f) * 2;
                turn[k] += random_in(seed, wave, -0.2, 0.2) *
                           cos(M_PI * f * b / 16 + random_in(seed, wave + 1, 0, 2 * M_PI));
            }
        for (uint32_t k = 1; k < 3 && !smooth; k++)
            turn[k] = random_in(seed, pose * 64 + b + 32 * (k - 1), -0.5, 0.5);
        cutis_float3 axis = { (float)turn[0], (float)turn[1], (float)turn[2] };
        out[b].rotation = cutis_quat_from_axis_angle(
            axis, sqrtf(axis.x * axis.x + axis.y * axis.y + axis.z * axis.z));
    }
}

static cutis_reduce_row limb_row(const limb *l, cutis_reduce_options options,
                                 const cutis_transform *examples, const cutis_transform *held_out)
{
    cutis_model *reduced = NULL;
    cutis_reduce_report *report = NULL;
    options.examples = examples, options.example_count = 6;
    options.held_out = held_out, options.held_out_count = 20;
    assert_ok(l->context, cutis_weights_reduce(l->model, NULL, &options, &reduced, &report));
    cutis_reduce_row row = report->rows[0];
    print_message("%-9s %-7s normal %.4f position %.3f energy %.4g in %.2f s\n",
                  cutis_reduce_method_name(row.method), cutis_reduce_sets_name(row.sets),
                  row.held_out_normal, row.held_out_position, row.energy, row.seconds);
    cutis_reduce_report_destroy(report);
    cutis_model_destroy(reduced);
    return row;
}

typedef struct {
    cutis_reduce_row automatic, largest, fitted, geometric, klargest;
} limb_rows;

// All methods on 6 example poses and 20 unseen ones of the limb of RINGS; once, two tests look at
// it.
static limb_rows reduce_limb(const limb *l, bool smooth)
{
    static limb_rows done[2];
    static bool is_done[2];
    if (is_done[smooth]) return done[smooth];
    is_done[smooth] = true;
    static cutis_transform examples[6 * NODES], held_out[20 * NODES];
    for (uint32_t p = 0; p < 6; p++) limb_pose(l->model, smooth, 1, p, examples + p * NODES);
    for (uint32_t p = 0; p < 20; p++) limb_pose(l->model, smooth, 2, p, held_out + p * NODES);
    cutis_reduce_options geometric = { .method = CUTIS_REDUCE_GEOMETRIC,
                                       .sets = CUTIS_REDUCE_SETS_LARGEST };
    return done[smooth] = (limb_rows){
        .automatic = limb_row(l, (cutis_reduce_options){ .method = CUTIS_REDUCE_POISSON }, examples,
                              held_out),
        .largest = limb_row(l, (cutis_reduce_options){ .sets = CUTIS_REDUCE_SETS_LARGEST },
                            examples, held_out),
        .fitted = limb_row(l, (cutis_reduce_options){ .sets = CUTIS_REDUCE_SETS_FITTED }, examples,
                           held_out),
        .geometric = limb_row(l, geometric, examples, held_out),
        .klargest = limb_row(l, (cutis_reduce_options){ .method = CUTIS_REDUCE_KLARGEST }, examples,
                             held_out),
    };
}

static void poisson_follows_the_limbs_normals_better_than_the_others_on_unseen_poses(void **state)
{
    (void)state;
    limb *l = make_limb(RINGS);
    cutis_weight_summary summary;
    assert_ok(l->context, cutis_weights_summarize(l->model, &summary));
    assert_in_range(summary.max_influences, 14, 17);
    limb_rows r = reduce_limb(l, true);
    assert_true(r.automatic.held_out_normal <= 0.75 * r.klargest.held_out_normal);
    assert_true(r.largest.held_out_normal <= 0.9 * r.geometric.held_out_normal);
    assert_true(r.automatic.held_out_position <= r.klargest.held_out_position);
    free_limb(l);
}

static void automatic_sets_are_those_that_do_better_on_unseen_poses(void **state)
{
    (void)state;
    limb *l = make_limb(RINGS);
    for (int smooth = 0; smooth < 2;
         smooth++) { // fitted sets win on smooth bends, largest ones on jumbled joints
        limb_rows r = reduce_limb(l, smooth);
        assert_int_equal(r.fitted.held_out_normal < r.largest.held_out_normal, smooth);
        assert_int_equal(r.automatic.sets,
                         smooth ? CUTIS_REDUCE_SETS_FITTED : CUTIS_REDUCE_SETS_LARGEST);
        assert_true(r.automatic.held_out_normal <= 0.75 * r.klargest.held_out_normal);
    }
    free_limb(l);
}

static void check_same_influences(const cutis_model *a, const cutis_model *b)
{
    const cutis_primitive *p = cutis_model_get(a)->meshes[0].primitives,
                          *q = cutis_model_get(b)->meshes[0].primitives;
    uint32_t count = p->influences.first[p->vertex_count];
    assert_memory_equal(p->influences.first, q->influences.first,
                        (p->vertex_count + 1) * sizeof(uint32_t));
    assert_memory_equal(p->influences.joints, q->influences.joints, count * sizeof(uint32_t));
    assert_memory_equal(p->influences.weights, q->influences.weights, count * sizeof(float));
}

static void the_number_of_threads_does_not_change_a_bit(void **state)
{
    (void)state;
    limb *l = make_limb(FEW_RINGS);
    for (int variant = 0; variant < 4; variant++) {
        cutis_model *reference = NULL;
        cutis_reduce_options options = {
            .energy = variant == 1   ? CUTIS_REDUCE_LAPLACE
                      : variant == 3 ? CUTIS_REDUCE_NORMALS
                                     : CUTIS_REDUCE_GRADIENT,
            .method = variant == 2 ? CUTIS_REDUCE_SMOOTH : CUTIS_REDUCE_POISSON,
            .sets = variant == 1 ? CUTIS_REDUCE_SETS_LARGEST : CUTIS_REDUCE_SETS_AUTO
        };
        assert_ok(l->context, cutis_weights_reduce(l->model, NULL, &options, &reference, NULL));
        for (uint32_t threads = 1; threads <= 8; threads *= threads == 1 ? 2 : 4) {
            cutis_device *device = NULL;
            cutis_model *reduced = NULL;
            assert_ok(l->context,
                      cutis_device_create(
                          l->context, &(cutis_device_options){ .thread_count = threads }, &device));
            assert_ok(l->context, cutis_weights_reduce(l->model, device, &options, &reduced, NULL));
            check_same_influences(reference, reduced);
            cutis_model_destroy(reduced);
            cutis_device_destroy(device);
        }
        cutis_model_destroy(reference);
    }
    free_limb(l);
}

static void reduced_weights_are_few_positive_and_sum_to_one(void **state)
{
    (void)state;
    limb *l = make_limb(FEW_RINGS);
    for (uint32_t keep = 1; keep <= 16; keep *= 2) {
        cutis_model *reduced = NULL;
        assert_ok(l->context, cutis_weights_reduce(l->model, NULL,
                                                   &(cutis_reduce_options){ .influences = keep },
                                                   &reduced, NULL));
        const cutis_primitive *p = cutis_model_get(reduced)->meshes[0].primitives;
        for (uint32_t v = 0; v < p->vertex_count; v++) {
            double sum = 0;
            assert_in_range(p->influences.first[v + 1] - p->influences.first[v], 1, keep);
            for (uint32_t i = p->influences.first[v]; i < p->influences.first[v + 1]; i++) {
                assert_true(p->influences.weights[i] > 0);
                sum += p->influences.weights[i];
            }
            assert_near(sum, 1, 1e-6);
        }
        cutis_model_destroy(reduced);
    }
    free_limb(l);
}

// Vertices at one place with the same weights, across primitives and meshes, must not come apart.
static void check_seams(cutis_context *context, const cutis_model *model, uint32_t keep)
{
    cutis_model *reduced = NULL;
    assert_ok(context,
              cutis_weights_reduce(model, NULL, &(cutis_reduce_options){ .influences = keep },
                                   &reduced, NULL));
    const cutis_model_data *before = cutis_model_get(model), *after = cutis_model_get(reduced);
    uint64_t copies = 0;
    for (uint32_t m = 0; m < before->mesh_count; m++) {
        const cutis_primitive *p = before->meshes[m].primitives, *q = after->meshes[m].primitives;
        uint32_t *weld = malloc(p->vertex_count * sizeof *weld);
        if (!p->influences.first) continue;
        assert_ok(context, cutis_weld_positions(context, p->vertex_count, p->positions, weld));
        for (uint32_t v = 0; v < p->vertex_count; v++) {
            const uint32_t *f = p->influences.first, *g = q->influences.first, w = weld[v];
            uint32_t had = f[v + 1] - f[v], have = g[v + 1] - g[v];
            if (w == v || f[w + 1] - f[w] != had ||
                memcmp(p->influences.joints + f[v], p->influences.joints + f[w], had * 4) != 0 ||
                memcmp(p->influences.weights + f[v], p->influences.weights + f[w], had * 4) != 0)
                continue;
            copies++;
            assert_int_equal(have, g[w + 1] - g[w]);
            assert_memory_equal(q->influences.joints + g[v], q->influences.joints + g[w], have * 4);
            assert_memory_equal(q->influences.weights + g[v], q->influences.weights + g[w],
                                have * 4);
        }
        free(weld);
    }
    assert_true(copies > 80); // the low arm's seam has 90 vertices
    cutis_model_destroy(reduced);
}

static void seam_copies_keep_equal_weights(void **state)
{
    (void)state;
    static const char *const REAL[] = { "gltf-sample-assets/Fox/glTF-Binary/Fox.glb",
                                        "gltf-sample-assets/CesiumMan/glTF-Binary/CesiumMan.glb" };
    cutis_synth_options arm = { .body = CUTIS_BODY_ARM, .size = CUTIS_BODY_SIZE_LOW };
    cutis_context *context = NULL;
    cutis_model *model = NULL;
    assert_int_equal(cutis_context_create(NULL, &context), CUTIS_OK);
    assert_ok(context, cutis_synth_create(context, &arm, &model));
    check_seams(context, model, 1);
    cutis_model_destroy(model);
    for (int i = 0; i < 2; i++)
        if (shared_is_there(REAL[i])) {
            assert_ok(context, cutis_model_read(context, shared_path(REAL[i]), NULL, &model));
            check_seams(context, model, 2);
            cutis_model_destroy(model);
        }
    assert_int_equal(cutis_context_memory(context), 0);
    cutis_context_destroy(context);
}

static void check_scene(cutis_context *context, const cutis_model *model)
{
    cutis_model *reduced = NULL;
    cutis_reduce_report *report = NULL;
    assert_ok(context, cutis_weights_reduce(
                           model, NULL, &(cutis_reduce_options){ .influences = 1, .compare = true },
                           &reduced, &report));
    cutis_weight_summary summary;
    assert_ok(context, cutis_weights_summarize(reduced, &summary));
    assert_int_equal(summary.max_influences, 1);
    assert_int_equal(report->row_count, 5);
    const cutis_model_data *a = cutis_model_get(model), *b = cutis_model_get(reduced);
    assert_true(a->skin_count > 1);
    assert_int_equal(a->skin_count, b->skin_count);
    assert_int_equal(a->clip_count, b->clip_count);
    cutis_reduce_report_destroy(report);
    cutis_model_destroy(reduced);
}

static void every_skin_of_a_scene_is_reduced_and_the_rest_is_kept(void **state)
{
    (void)state;
    static const char REAL[] =
        "gltf-sample-assets/RecursiveSkeletons/glTF-Binary/RecursiveSkeletons.glb";
    cutis_synth_options crowd = { .body = CUTIS_BODY_CROWD, .vertex_count = 1500, .count = 2 };
    cutis_context *context = NULL;
    cutis_model *model = NULL;
    assert_int_equal(cutis_context_create(NULL, &context), CUTIS_OK);
    assert_ok(context, cutis_synth_create(context, &crowd, &model));
    check_scene(context, model);
    cutis_model_destroy(model);
    if (shared_is_there(REAL)) {
        assert_ok(context, cutis_model_read(context, shared_path(REAL), NULL, &model));
        check_scene(context, model);
        cutis_model_destroy(model);
    }
    assert_int_equal(cutis_context_memory(context), 0);
    cutis_context_destroy(context);
}

static void expect_error(const limb *l, const cutis_model *model, cutis_reduce_options options,
                         const char *words)
{
    cutis_model *reduced = NULL;
    cutis_reduce_report *report = NULL;
    assert_int_equal(cutis_weights_reduce(model, NULL, &options, &reduced, &report),
                     CUTIS_INVALID_ARGUMENT);
    assert_null(reduced);
    assert_null(report);
    if (!strstr(cutis_context_error(l->context), words))
        fail_msg("%s", cutis_context_error(l->context));
}

static void what_cannot_be_reduced_is_named(void **state)
{
    (void)state;
    limb *l = make_limb(FEW_RINGS);
    uint32_t clip = 3;
    expect_error(l, l->model, (cutis_reduce_options){ .influences = 65 }, "65 influences");
    expect_error(l, l->model, (cutis_reduce_options){ .clips = &clip, .clip_count = 1 },
                 "no clip 3");
    expect_error(l, l->model, (cutis_reduce_options){ .clips = &clip }, "there are none");
    expect_error(l, l->model, (cutis_reduce_options){ .method = (cutis_reduce_method)9 },
                 "unknown method");
    cutis_model *loose = NULL, *plain = NULL, *reduced = NULL;
    cutis_reduce_report *report = NULL;
    for (uint32_t i = l->first[7]; i < l->first[8]; i++) l->weights[i] = 0;
    assert_ok(l->context, cutis_model_create(l->context, &l->data, CUTIS_GATE_REFUSE, &loose));
    expect_error(l, loose, (cutis_reduce_options){ 0 }, "vertex 7 has no weight");
    assert_ok(l->context,
              cutis_weights_reduce(loose, NULL, &(cutis_reduce_options){ .repair = true }, &reduced,
                                   &report));
    assert_int_equal(report->repaired_count, 1);
    const cutis_influences *i = &cutis_model_get(reduced)->meshes[0].primitives[0].influences;
    assert_int_equal(i->first[8] - i->first[7], 1);
    assert_int_equal(i->joints[i->first[7]], 0);
    cutis_reduce_report_destroy(report);
    cutis_model_destroy(reduced);
    cutis_model_destroy(loose);
    l->nodes[BONES].skin = CUTIS_NONE;
    assert_ok(l->context, cutis_model_create(l->context, &l->data, CUTIS_GATE_REFUSE, &plain));
    expect_error(l, plain, (cutis_reduce_options){ 0 }, "nothing to reduce");
    cutis_model_destroy(plain);
    free_limb(l);
}

typedef struct {
    uint64_t calls, limit;
} budget;

static bool stop_after(void *user, const char *stage, double fraction)
{
    budget *b = user;
    assert_non_null(stage);
    assert_true(fraction >= 0 && fraction <= 1);
    return b->calls++ < b->limit;
}

static void cancelling_anywhere_leaves_nothing_behind(void **state)
{
    (void)state;
    limb *l = make_limb(FEW_RINGS);
    budget b = { 0 };
    cutis_context *context = NULL;
    assert_int_equal(
        cutis_context_create(
            &(cutis_context_options){ .progress = stop_after, .progress_user = &b }, &context),
        CUTIS_OK);
    cutis_model *model = NULL;
    b.limit = UINT64_MAX;
    assert_ok(context, cutis_model_create(context, &l->data, CUTIS_GATE_REFUSE, &model));
    uint64_t held = cutis_context_memory(context);
    cutis_result result = CUTIS_CANCELLED;
    for (uint64_t limit = 0; result != CUTIS_OK; limit += 41) {
        cutis_model *reduced = NULL;
        cutis_reduce_report *report = NULL;
        b = (budget){ 0, limit };
        result = cutis_weights_reduce(model, NULL, NULL, &reduced, &report);
        assert_true(result == CUTIS_OK || result == CUTIS_CANCELLED);
        cutis_reduce_report_destroy(report);
        cutis_model_destroy(reduced);
        assert_int_equal(cutis_context_memory(context), held);
        if (limit == 0) assert_int_equal(result, CUTIS_CANCELLED);
    }
    cutis_model_destroy(model);
    cutis_context_destroy(context);
    free_limb(l);
}

static void *failing_allocate(void *user, size_t size, size_t alignment)
{
    budget *b = user;
    if (b->calls++ >= b->limit) return NULL;
    return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

static void failing_release(void *user, void *memory, size_t size)
{
    (void)user, (void)size;
    free(memory);
}

static void running_out_of_memory_anywhere_is_an_error_without_a_leak(void **state)
{
    (void)state;
    limb *l = make_limb(FEW_RINGS);
    budget b = { 0, UINT64_MAX };
    cutis_context *context = NULL;
    cutis_allocator allocator = { failing_allocate, failing_release, &b };
    assert_int_equal(
        cutis_context_create(&(cutis_context_options){ .allocator = allocator }, &context),
        CUTIS_OK);
    cutis_model *model = NULL;
    l->primitive.vertex_count = 4 * AROUND; // a short piece, so that hundreds of runs are quick
    l->primitive.index_count = 18 * AROUND;
    assert_ok(context, cutis_model_create(context, &l->data, CUTIS_GATE_REFUSE, &model));
    uint64_t held = cutis_context_memory(context), limit = 0;
    cutis_result result = CUTIS_OUT_OF_MEMORY;
    for (; result != CUTIS_OK; limit += limit < 40 ? 1 : 9) {
        cutis_model *reduced = NULL;
        cutis_reduce_report *report = NULL;
        b = (budget){ 0, limit };
        result = cutis_weights_reduce(model, NULL,
                                      &(cutis_reduce_options){ .compare = true, .sweeps = 2 },
                                      &reduced, &report);
        assert_true(result == CUTIS_OK || result == CUTIS_OUT_OF_MEMORY);
        cutis_reduce_report_destroy(report);
        cutis_model_destroy(reduced);
        assert_int_equal(cutis_context_memory(context), held);
    }
    assert_true(limit > 50);
    b.limit = UINT64_MAX;
    cutis_model_destroy(model);
    cutis_context_destroy(context);
    free_limb(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(poisson_follows_the_limbs_normals_better_than_the_others_on_unseen_poses),
        cmocka_unit_test(automatic_sets_are_those_that_do_better_on_unseen_poses),
        cmocka_unit_test(the_number_of_threads_does_not_change_a_bit),
        cmocka_unit_test(reduced_weights_are_few_positive_and_sum_to_one),
        cmocka_unit_test(seam_copies_keep_equal_weights),
        cmocka_unit_test(every_skin_of_a_scene_is_reduced_and_the_rest_is_kept),
        cmocka_unit_test(what_cannot_be_reduced_is_named),
        cmocka_unit_test(cancelling_anywhere_leaves_nothing_behind),
        cmocka_unit_test(running_out_of_memory_anywhere_is_an_error_without_a_leak),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
