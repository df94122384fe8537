// The order in which GPU devices deal vertices to blocks (src/device/gpu/regroup.h), by the bones
// that its blocks then have.
#include "support.h"

#include <stdlib.h>

#include "device/gpu/regroup.h"

typedef struct skin {
    cutis_context *context;
    cutis_arena arena;
    cutis_skin_layout layout;
    uint32_t first[40002], bone[80002];
} skin;

// Vertex v has the bones `of` says, two of them or one.
static skin *make_skin(uint32_t vertices, uint32_t bones, void (*of)(uint32_t v, uint32_t pair[2]))
{
    skin *s = calloc(1, sizeof *s);
    assert_non_null(s);
    assert_int_equal(cutis_context_create(NULL, &s->context), CUTIS_OK);
    s->arena.context = s->context;
    uint32_t count = 0;
    for (uint32_t v = 0; v < vertices; v++) {
        uint32_t pair[2];
        of(v, pair);
        s->first[v] = count;
        s->bone[count++] = pair[0];
        if (pair[1] != pair[0]) s->bone[count++] = pair[1];
    }
    s->first[vertices] = count;
    s->layout = (cutis_skin_layout){
        .vertex_count = vertices, .bone_count = bones, .first = s->first, .bone = s->bone
    };
    return s;
}

static void free_skin(skin *s)
{
    cutis_arena_release(&s->arena);
    cutis_context_destroy(s->context);
    free(s);
}

// All vertices once, fours together, what is left of four last. @return bones of all blocks
static uint32_t check_order(skin *s, uint32_t block_size)
{
    const uint32_t count = s->layout.vertex_count, *order = NULL;
    assert_int_equal(cutis_gpu_regroup(&s->arena, &s->layout, block_size, &order), CUTIS_OK);
    uint8_t *seen = calloc(count + 1, 1), *has = calloc(s->layout.bone_count + 1, 1);
    uint32_t bones = 0;
    assert_true(seen && has);
    for (uint32_t slot = 0; slot < count; slot++) {
        const uint32_t v = order[slot];
        assert_true(v < count && !seen[v]);
        seen[v] = 1;
        if (slot / 4 < count / 4) {
            assert_int_equal(v % 4, slot % 4);
            assert_int_equal(v / 4, order[slot / 4 * 4] / 4);
        } else {
            assert_int_equal(v, slot);
        }
        if (slot % block_size == 0) memset(has, 0, s->layout.bone_count);
        for (uint32_t i = s->first[v]; i < s->first[v + 1]; i++)
            if (!has[s->bone[i]]) has[s->bone[i]] = 1, bones++;
    }
    free(seen);
    free(has);
    return bones;
}

static void by_turns(uint32_t v, uint32_t pair[2]) // fours of bone 0, 1, 2, 3, 0, ...
{
    pair[0] = pair[1] = v / 4 % 4;
}

static void fours_of_four_bones_by_turns_become_blocks_of_one_bone(void **state)
{
    (void)state;
    skin *s = make_skin(4 * 4 * 64, 4, by_turns);
    assert_int_equal(check_order(s, 64), 4 * 4 * 64 / 64);
    assert_int_equal(check_order(s, 32), 4 * 4 * 64 / 32);
    free_skin(s);
}

static void sharing(uint32_t v, uint32_t pair[2]) // {0, 1}, {2, 3}, {0}, {2} by turns
{
    const uint32_t kind = v / 4 % 4;
    pair[0] = kind % 2 * 2;
    pair[1] = kind < 2 ? pair[0] + 1 : pair[0];
}

static void a_block_takes_first_what_shares_its_bones(void **state)
{
    (void)state;
    skin *s = make_skin(4 * 64, 4, sharing); // a block of each: 1 + 2 + 1 + 2 bones
    assert_true(check_order(s, 64) <= 6);
    free_skin(s);
}

static void all_different(uint32_t v, uint32_t pair[2])
{
    pair[0] = v / 4 % 211;
    pair[1] = v / 4 / 3 % 200;
}

static void more_kinds_than_are_looked_at_together_are_dealt_in_stretches(void **state)
{
    (void)state;
    static const uint32_t counts[] = { 40000, 39999, 4097, 67, 4, 3, 0 };
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        skin *s = make_skin(counts[i], 211, all_different);
        check_order(s, 64);
        check_order(s, 32);
        free_skin(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fours_of_four_bones_by_turns_become_blocks_of_one_bone),
        cmocka_unit_test(a_block_takes_first_what_shares_its_bones),
        cmocka_unit_test(more_kinds_than_are_looked_at_together_are_dealt_in_stretches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
