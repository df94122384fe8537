// A result held against k-largest: ratios by a blend written out here, components that are worse
// are taken back and others are not, and errors brought up to date are those found anew.
#include <math.h>
#include <string.h>

#include <cutis/synth.h>

#include "fit/reduce/bound.h"
#include "fit/reduce/repair.h"
#include "support.h"

enum { KEPT = 2 };

typedef struct body {
    cutis_context *context;
    cutis_model *model;
    cutis_arena arena;
    cutis_reduce_groups groups;
    cutis_reduce_poses poses;
    cutis_reduce_options options;
    cutis_reduce_weights largest, weights;
} body;

static void open_body(body *b)
{
    const cutis_synth_options synth = { .body = CUTIS_BODY_BIPED, .vertex_count = 1500 };
    *b =
        (body){ .options = { .influences = KEPT, .automatic = true, .effort = CUTIS_REDUCE_FAST } };
    assert_int_equal(cutis_context_create(NULL, &b->context), CUTIS_OK);
    assert_int_equal(cutis_synth_create(b->context, &synth, &b->model), CUTIS_OK);
    b->arena.context = b->context;
    assert_int_equal(cutis_reduce_groups_create(b->model, NULL, false, &b->arena, &b->groups),
                     CUTIS_OK);
    assert_int_equal(cutis_reduce_poses_mix(b->model, NULL, &b->options, &b->arena, &b->poses),
                     CUTIS_OK);
    assert_int_equal(b->groups.count, 1);
    assert_true(cutis_bound_largest(&b->groups.group[0], NULL, KEPT, &b->arena, &b->largest));
}

static void close_body(body *b)
{
    cutis_arena_release(&b->arena);
    cutis_model_destroy(b->model);
    cutis_context_destroy(b->context);
}

static cutis_repair repair_of(body *b)
{
    return (cutis_repair){ .model = b->model,
                           .context = b->context,
                           .options = &b->options,
                           .groups = &b->groups,
                           .poses = &b->poses,
                           .largest = &b->largest,
                           .arena.context = b->context };
}

typedef enum choice { LARGEST, ORIGINAL, WRONG } choice;

// Feet as the caller says, the head as well, k-largest elsewhere.
static choice choice_of(const body *b, uint32_t unit, choice feet, choice head)
{
    const double y = b->groups.group[0].positions[3 * (size_t)unit + 1];
    return y < 0.3 ? feet : y > 1.5 ? head : LARGEST;
}

static void make_weights(body *b, choice feet, choice head)
{
    const cutis_reduce_group *g = &b->groups.group[0];
    const cutis_reduce_weights original = { g->first, g->control, g->weight };
    const size_t most = (size_t)g->first[g->unit_count] + g->unit_count;
    cutis_reduce_weights *w = &b->weights;
    uint32_t used = 0;
    w->first = cutis_arena_alloc(&b->arena, (size_t)g->unit_count + 1, sizeof *w->first);
    w->control = cutis_arena_alloc(&b->arena, most, sizeof *w->control);
    w->weight = cutis_arena_alloc(&b->arena, most, sizeof *w->weight);
    for (uint32_t u = 0; u < g->unit_count; u++) {
        const choice c = choice_of(b, u, feet, head);
        const cutis_reduce_weights *from = c == ORIGINAL ? &original : &b->largest;
        w->first[u] = used;
        for (uint32_t i = from->first[u]; i < from->first[u + 1] && c != WRONG; i++) {
            w->control[used] = from->control[i];
            w->weight[used++] = from->weight[i];
        }
        if (c == WRONG) w->control[used] = 5, w->weight[used++] = 1;
    }
    w->first[g->unit_count] = used;
}

static void blend(const body *b, const cutis_reduce_weights *w, uint32_t unit,
                  const double *palette, double *out)
{
    const double *p = b->groups.group[0].positions + 3 * (size_t)unit;
    for (int c = 0; c < 3; c++) out[c] = 0;
    for (uint32_t i = w->first[unit]; i < w->first[unit + 1]; i++)
        for (int c = 0; c < 3; c++) {
            const double *row = palette + 12 * (size_t)w->control[i] + 4 * c;
            out[c] += w->weight[i] * (row[0] * p[0] + row[1] * p[1] + row[2] * p[2] + row[3]);
        }
}

// Root of squared distances to the original over the poses that decided, over k-largest's.
static double position_ratio(const body *b, const cutis_repair *r)
{
    const cutis_reduce_group *g = &b->groups.group[0];
    const cutis_reduce_weights rows[3] = { { g->first, g->control, g->weight },
                                           b->weights,
                                           b->largest };
    const size_t nodes = cutis_model_get(b->model)->node_count;
    cutis_mat34 *world = calloc(nodes, sizeof *world);
    double *palette = calloc(cutis_model_get(b->model)->skins[0].joint_count, 12 * sizeof *palette);
    double sums[3] = { 0 };
    for (size_t p = 0; p < r->random_count; p++) {
        cutis_pose_world(b->model, r->transforms + (r->clip_count + p) * nodes, world);
        cutis_reduce_palette(b->model, g, world, palette);
        for (uint32_t v = 0; v < g->source_count; v++) {
            double at[3][3];
            for (int k = 0; k < 3; k++) blend(b, &rows[k], g->unit[v], palette, at[k]);
            for (int k = 1; k < 3; k++)
                for (int c = 0; c < 3; c++)
                    sums[k] += (at[k][c] - at[0][c]) * (at[k][c] - at[0][c]);
        }
    }
    free(world);
    free(palette);
    return sqrt(sums[1] / sums[2]);
}

static void the_verdict_is_what_another_blend_finds(void **state)
{
    (void)state;
    body b;
    open_body(&b);
    const struct {
        choice feet, head;
        bool good;
    } cases[] = { { ORIGINAL, ORIGINAL, true }, { ORIGINAL, WRONG, false } };
    for (size_t i = 0; i < 2; i++) {
        cutis_repair r = repair_of(&b);
        cutis_repair_verdict v;
        make_weights(&b, cases[i].feet, cases[i].head);
        assert_int_equal(cutis_repair_judge(&r, &b.weights, &v), CUTIS_OK);
        const double expected = position_ratio(&b, &r);
        assert_true(r.random_count >= 192 && r.clip_count == 0);
        assert_true(fabs(v.ratio[3] - expected) < 1e-9 * expected);
        assert_int_equal(v.good, cases[i].good);
        assert_true(v.high[3] <= v.most[3]);
        assert_true(cases[i].good == (expected < 1));
        cutis_repair_close(&r);
    }
    close_body(&b);
}

static bool same(const cutis_reduce_weights *a, const cutis_reduce_weights *b, uint32_t u)
{
    const uint32_t n = a->first[u + 1] - a->first[u];
    return n == b->first[u + 1] - b->first[u] &&
           !memcmp(a->control + a->first[u], b->control + b->first[u], n * sizeof *a->control) &&
           !memcmp(a->weight + a->first[u], b->weight + b->first[u], n * sizeof *a->weight);
}

static void what_is_worse_is_taken_back_and_the_rest_stays(void **state)
{
    (void)state;
    body b;
    open_body(&b);
    const cutis_reduce_group *g = &b.groups.group[0];
    cutis_repair r = repair_of(&b);
    cutis_repair_verdict v;
    bool all;
    make_weights(&b, ORIGINAL, WRONG);
    cutis_reduce_weights mixed = b.weights;
    assert_int_equal(cutis_repair_mix(&r, &b.arena, &mixed, &all, &v), CUTIS_OK);
    assert_true(v.good && !all && v.ratio[3] < 1 && v.ratio[2] < 1);
    for (uint32_t u = 0; u < g->unit_count; u++) {
        const bool head = choice_of(&b, u, LARGEST, WRONG) == WRONG;
        assert_true(same(&mixed, head ? &b.largest : &b.weights, u));
    }
    make_weights(&b, WRONG, WRONG);
    mixed = b.weights;
    assert_int_equal(cutis_repair_mix(&r, &b.arena, &mixed, &all, &v), CUTIS_OK);
    assert_true(v.good && all);
    for (int i = 2; i < 4; i++) assert_true(fabs(v.ratio[i] - 1) < 1e-9);
    for (uint32_t u = 0; u < g->unit_count; u++) assert_true(same(&mixed, &b.largest, u));
    cutis_repair_close(&r);
    close_body(&b);
}

static void errors_brought_up_to_date_are_those_found_anew(void **state)
{
    (void)state;
    enum { POSES = 40 };
    body b;
    open_body(&b);
    cutis_judge judge = { .model = b.model, .groups = &b.groups };
    assert_int_equal(cutis_judge_open(&judge, &b.arena), CUTIS_OK);
    const size_t count = judge.vertex_count;
    cutis_reduce_worst worst[2];
    for (int i = 0; i < 2; i++) {
        worst[i].position = cutis_arena_alloc(&b.arena, count, sizeof(double));
        worst[i].normal = cutis_arena_alloc(&b.arena, count, sizeof(double));
        worst[i].pose = cutis_arena_alloc(&b.arena, count, sizeof(uint32_t));
    }
    assert_int_equal(cutis_reduce_find_worst(&judge, b.poses.random_learned, POSES, &b.largest,
                                             NULL, NULL, &worst[0]),
                     CUTIS_OK);
    uint8_t *changed = cutis_arena_zero(&b.arena, count, 1);
    double before = 0, after = 0;
    for (size_t v = 0; v < count; v++) before += worst[0].normal[v];
    make_weights(&b, ORIGINAL, WRONG);
    cutis_judge_mark(&judge, &b.weights, &b.largest, changed);
    assert_int_equal(cutis_reduce_find_worst(&judge, b.poses.random_learned, POSES, &b.weights,
                                             changed, NULL, &worst[0]),
                     CUTIS_OK);
    assert_int_equal(cutis_reduce_find_worst(&judge, b.poses.random_learned, POSES, &b.weights,
                                             NULL, NULL, &worst[1]),
                     CUTIS_OK);
    for (size_t v = 0; v < count; v++) {
        after += worst[1].normal[v];
        assert_true(worst[0].position[v] == worst[1].position[v]);
        assert_true(worst[0].normal[v] == worst[1].normal[v]);
        if (worst[1].normal[v] > 0) assert_int_equal(worst[0].pose[v], worst[1].pose[v]);
    }
    assert_true(after > before);
    close_body(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_verdict_is_what_another_blend_finds),
        cmocka_unit_test(what_is_worse_is_taken_back_and_the_rest_stays),
        cmocka_unit_test(errors_brought_up_to_date_are_those_found_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
