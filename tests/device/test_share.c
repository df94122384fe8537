/// Whether threads pay is found by trial: the way that was quicker is taken, and asked again.
#include "device/cpu/share.h"

#include "support.h"

/// One round of calls whose times are these. @return how many of those after the trials were shared
static uint32_t play(cutis_share *share, uint64_t work, uint64_t alone, uint64_t shared,
                     uint32_t *trials_shared)
{
    uint32_t count = 0;
    *trials_shared = 0;
    for (uint32_t call = 0; call < CUTIS_SHARE_ROUND; call++) {
        const cutis_share_choice choice = cutis_share_choose(share, work);
        assert_int_equal(choice.trial, call < CUTIS_SHARE_TRIALS);
        if (choice.trial) {
            *trials_shared += choice.shared;
            cutis_share_tell(&choice, (choice.shared ? shared : alone) + (call < 2 ? 900000 : 0));
        } else {
            count += choice.shared;
        }
    }
    return count;
}

static void the_quicker_way_is_taken_and_asked_again_every_round(void **state)
{
    static cutis_share share;
    const uint32_t rest = CUTIS_SHARE_ROUND - CUTIS_SHARE_TRIALS;
    uint32_t tried;
    (void)state;
    assert_int_equal(play(&share, 186, 4000, 9000, &tried), 0); // 2972 vertices, sleeping workers
    assert_int_equal(tried, CUTIS_SHARE_TRIALS / 2);            // both ways are tried
    assert_int_equal(play(&share, 186, 4000, 2500, &tried), rest); // they are awake now
    assert_int_equal(play(&share, 186, 4000, 4000, &tried), 0);    // no gain: one thread
}

static void sizes_are_judged_apart(void **state)
{
    static cutis_share share;
    const uint32_t rest = CUTIS_SHARE_ROUND - CUTIS_SHARE_TRIALS;
    uint32_t tried;
    (void)state;
    for (int round = 0; round < 2; round++) {
        assert_int_equal(play(&share, 186, 4000, 9000, &tried), 0);
        assert_int_equal(play(&share, 2878, 60000, 35000, &tried), rest);
    }
}

/// Calls of one size whose costs differ and come in turn, `period` of them: threads cost each a
/// quarter more, or a quarter less. @return how many of those after the trials were shared
static uint32_t play_in_turn(uint32_t period, uint32_t cheap, double threads)
{
    static cutis_share share; // every call of it plays a whole round
    uint32_t count = 0;
    for (uint32_t call = 0; call < CUTIS_SHARE_ROUND; call++) {
        const cutis_share_choice choice = cutis_share_choose(&share, 186);
        const double cost = call % period == cheap ? 4000 : 7000;
        if (choice.trial)
            cutis_share_tell(&choice, (uint64_t)(choice.shared ? threads * cost : cost));
        else
            count += choice.shared;
    }
    return count;
}

static void calls_that_differ_and_come_in_turn_are_each_tried_both_ways(void **state)
{
    (void)state;
    for (uint32_t period = 1; period <= 4; period++)
        for (uint32_t cheap = 0; cheap < period; cheap++) {
            assert_int_equal(play_in_turn(period, cheap, 1.25), 0);
            assert_int_equal(play_in_turn(period, cheap, 0.75),
                             CUTIS_SHARE_ROUND - CUTIS_SHARE_TRIALS);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_quicker_way_is_taken_and_asked_again_every_round),
        cmocka_unit_test(sizes_are_judged_apart),
        cmocka_unit_test(calls_that_differ_and_come_in_turn_are_each_tried_both_ways),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
