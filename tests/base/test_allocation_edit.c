/// Every allocation of what an editor calls may fail (base/allocation.h): paintings of weights,
/// their dabs, strokes and models, and changes of joints.
#include "base/allocation.h"

#include <cutis/brush.h>
#include <cutis/clip.h>
#include <cutis/skeleton.h>
#include <cutis/synth.h>

static struct {
    cutis_context *context;
    cutis_model *body;
    float *rest;
    uint32_t vertex_count, left_arm, head;
    cutis_surface_point on_arm;
} w;

static uint32_t node_named(const char *name)
{
    const cutis_model_data *data = cutis_model_get(w.body);
    for (uint32_t i = 0; i < data->node_count; i++)
        if (data->nodes[i].name && strcmp(data->nodes[i].name, name) == 0) return i;
    fail_msg("no node %s", name);
    return 0;
}

/// The triangle whose first corner has most of a joint's weight.
static uint32_t triangle_of(uint32_t node)
{
    const cutis_model_data *data = cutis_model_get(w.body);
    const cutis_primitive *p = &data->meshes[0].primitives[0];
    double most = -1;
    uint32_t best = 0;
    for (uint32_t t = 0; t < p->index_count / 3; t++)
        for (uint32_t i = p->influences.first[p->indices[3 * t]];
             i < p->influences.first[p->indices[3 * t] + 1]; i++)
            if (data->skins[0].joints[p->influences.joints[i]] == node &&
                (double)p->influences.weights[i] > most)
                most = (double)p->influences.weights[i], best = t;
    assert_true(most > 0);
    return best;
}

static int set_up(void **state)
{
    (void)state;
    w.context = fault_context();
    assert_ok(w.context, cutis_synth_create(w.context,
                                            &(cutis_synth_options){ .body = CUTIS_BODY_BIPED,
                                                                    .vertex_count = 1500 },
                                            &w.body));
    w.vertex_count = cutis_model_vertex_count(w.body);
    const cutis_primitive *p = &cutis_model_get(w.body)->meshes[0].primitives[0];
    assert_int_equal(p->vertex_count, w.vertex_count);
    w.rest = malloc(12 * (size_t)w.vertex_count);
    memcpy(w.rest, p->positions, 12 * (size_t)w.vertex_count);
    w.left_arm = node_named("forearm_l");
    w.head = node_named("head");
    w.on_arm = (cutis_surface_point){ triangle_of(w.left_arm), { 1, 0, 0 }, 0 };
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    free(w.rest);
    cutis_model_destroy(w.body);
    bool clean = cutis_context_memory(w.context) == 0;
    cutis_context_destroy(w.context);
    return clean && atomic_load(&faults.live) == 0 ? 0 : -1;
}

static void fold_objects(uint64_t *digest)
{
    fold_model(digest, w.body);
}

// Paintings --------------------------------------------------------------------------------------

static void fold_painting(uint64_t *digest, const cutis_painting *painting)
{
    uint32_t joints[64];
    double weights[64];
    for (uint32_t v = 0; v < w.vertex_count; v++) {
        const uint32_t count = cutis_painting_influences(painting, v, joints, weights);
        fold(digest, joints, count * sizeof *joints);
        fold(digest, weights, count * sizeof *weights);
    }
}

static cutis_painting *painting_with(uint32_t dabs)
{
    cutis_painting *painting = NULL;
    pause_faults();
    assert_ok(w.context, cutis_painting_create(w.body, w.rest, &painting));
    const cutis_brush brush = { .joint = w.head, .radius = 0.1, .strength = 0.5 };
    for (uint32_t i = 0; i < dabs; i++)
        assert_ok(w.context, cutis_painting_dab(painting, &w.on_arm, &brush));
    resume_faults();
    return painting;
}

static cutis_result paint_open(uint64_t *digest)
{
    cutis_painting *out = NULL;
    const cutis_result result = cutis_painting_create(w.body, w.rest, &out);
    assert_int_equal(result == CUTIS_OK, out != NULL);
    if (out) fold_painting(digest, out);
    cutis_painting_destroy(out);
    return result;
}

/// A dab that fails leaves the weights, what was told and the stroke as they were, and works when
/// it is tried again.
static cutis_result dab_with(uint64_t *digest, const cutis_brush *brush)
{
    cutis_painting *painting = painting_with(0);
    uint64_t before = 0, after = 0;
    uint32_t changed = 0;
    fold_painting(&before, painting);
    const cutis_result result = cutis_painting_dab(painting, &w.on_arm, brush);
    pause_faults();
    fold_painting(&after, painting);
    assert_int_equal(result != CUTIS_OK, before == after);
    if (result != CUTIS_OK) {
        cutis_painting *other = painting_with(0);
        uint64_t again = 0, wanted = 0;
        pause_faults();
        (void)cutis_painting_changed(painting, &changed);
        assert_int_equal(changed, 0);
        assert_ok(w.context, cutis_painting_dab(painting, &w.on_arm, brush));
        assert_ok(w.context, cutis_painting_dab(other, &w.on_arm, brush));
        fold_painting(&again, painting);
        fold_painting(&wanted, other);
        assert_true(again == wanted);
        cutis_painting_destroy(other);
    }
    fold_painting(digest, painting);
    (void)cutis_painting_changed(painting, &changed);
    fold(digest, &changed, sizeof changed);
    cutis_painting_destroy(painting);
    return result;
}

static cutis_result dab_add(uint64_t *digest)
{
    return dab_with(digest, &(cutis_brush){ .joint = w.head, .radius = 0.1, .strength = 0.5 });
}

/// The other arm's joint on the other side: two layers, of which the second must not fail alone.
static cutis_result dab_mirrored(uint64_t *digest)
{
    return dab_with(digest, &(cutis_brush){ .kind = CUTIS_BRUSH_SUBTRACT,
                                            .joint = w.left_arm,
                                            .radius = 0.1,
                                            .strength = 0.5,
                                            .mirror = true });
}

static cutis_result dab_smooth(uint64_t *digest)
{
    return dab_with(digest, &(cutis_brush){ .kind = CUTIS_BRUSH_SMOOTH,
                                            .radius = 0.3,
                                            .strength = 1,
                                            .mirror = true,
                                            .influences = 4 });
}

static void fold_stroke(uint64_t *digest, const cutis_stroke *stroke)
{
    assert_true(stroke->vertex_count > 0);
    fold(digest, stroke->vertices, stroke->vertex_count * sizeof(uint32_t));
    fold(digest, stroke->joints, stroke->first[stroke->vertex_count] * sizeof(uint32_t));
    fold(digest, stroke->weights, stroke->first[stroke->vertex_count] * sizeof(double));
}

/// A stroke that could not be told is told the next time.
static cutis_result stroke(uint64_t *digest)
{
    cutis_painting *painting = painting_with(2);
    cutis_stroke out;
    const cutis_result result = cutis_painting_stroke(painting, &out);
    pause_faults();
    if (result != CUTIS_OK) {
        assert_int_equal(out.vertex_count, 0);
        assert_ok(w.context, cutis_painting_stroke(painting, &out));
    }
    fold_stroke(digest, &out);
    cutis_painting_destroy(painting);
    return result;
}

static cutis_result paint_finish(uint64_t *digest)
{
    cutis_painting *painting = painting_with(1);
    cutis_model *out = NULL;
    const cutis_result result = cutis_painting_finish(painting, &out);
    assert_int_equal(result == CUTIS_OK, out != NULL);
    if (out) fold_model(digest, out);
    cutis_model_destroy(out);
    cutis_painting_destroy(painting);
    return result;
}

// Joints -----------------------------------------------------------------------------------------

static cutis_result joints_edit(uint64_t *digest)
{
    const cutis_joint_edit edits[] = {
        { CUTIS_JOINT_MOVE, w.left_arm, NULL, { 0.6f, 1.1f, 0.05f } },
        { CUTIS_JOINT_ADD, w.head, "hat", { 0, 1.9f, 0 } },
        { CUTIS_JOINT_RENAME, w.head, "skull", { 0, 0, 0 } },
        { CUTIS_JOINT_REMOVE, node_named("forearm_r"), NULL, { 0, 0, 0 } },
    };
    cutis_model *out = NULL;
    const cutis_result result =
        cutis_joints_edit(w.body, edits, sizeof edits / sizeof *edits, &out);
    assert_int_equal(result == CUTIS_OK, out != NULL);
    if (out) fold_model(digest, out);
    cutis_model_destroy(out);
    return result;
}

// ------------------------------------------------------------------------------------------------

static const scenario SCENARIOS[] = {
    { "cutis_painting_create", "a biped", paint_open, 1, false },
    { "cutis_painting_dab", "add", dab_add, 1, false },
    { "cutis_painting_dab", "subtract on both sides", dab_mirrored, 1, false },
    { "cutis_painting_dab", "smooth on both sides", dab_smooth, 1, false },
    { "cutis_painting_stroke", "two dabs", stroke, 1, false },
    { "cutis_painting_finish", "a dab", paint_finish, 1, false },
    { "cutis_joints_edit", "every kind of change", joints_edit, 1, false },
};
enum { SCENARIO_COUNT = sizeof SCENARIOS / sizeof *SCENARIOS };

static void every_allocation_of_every_function_may_fail(void **state)
{
    (void)state;
    run_scenarios(&(fault_suite){ w.context, fold_objects }, SCENARIOS, SCENARIO_COUNT);
}

static void nothing_outside_its_memory_is_touched_and_nothing_unset_is_used(void **state)
{
    (void)state;
    guard_scenarios(&(fault_suite){ w.context, fold_objects }, SCENARIOS, SCENARIO_COUNT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_of_every_function_may_fail),
        cmocka_unit_test(nothing_outside_its_memory_is_touched_and_nothing_unset_is_used),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
