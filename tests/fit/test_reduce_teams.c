// Sets chosen by teams of 32 lanes, one vertex a team as on a GPU, are those of one lane that does
// eight vertices, as on a CPU. Lanes are contexts that take turns between two TEAM_SYNC, first lane
// first or last lane first: a lane that reads what another writes in the same stretch, or
// a TEAM_SYNC that not all lanes reach, shows.
#include <ucontext.h>

#include "reduce_case.h"

#define TEAM_LANES 32
enum { LANES = TEAM_LANES, STACK = 64 * 1024 };
static int team_host_lane, team_host_words[LANES];
static ucontext_t lanes[LANES], caller;
static char stacks[LANES][STACK];
static bool ended[LANES], backwards;

static void team_host_sync(void)
{
    swapcontext(&lanes[team_host_lane], &caller);
}

#define TEAM_HOST 1
#define KERNEL_DOUBLE
#define REDUCE_SET        CUTIS_REDUCE_SET
#define REDUCE_CANDIDATES CUTIS_REDUCE_CANDIDATES
#define REDUCE_LIST       CUTIS_REDUCE_SET
#include "kernel/reduce_sets.h"

static struct {
    const reduce_case *c;
    const double *target;
    const cutis_reduce_state *state;
    reduce_choose_arguments given;
} team;

static void lane_main(void)
{
    const reduce_case *c = team.c;
    reduce_choose(c->positions, (const int *)c->first, (const int *)c->control, c->weight,
                  c->matrices, team.target, NULL, (const int *)team.state->first,
                  (int *)team.state->control, team.state->weight, team.given);
    ended[team_host_lane] = true;
    swapcontext(&lanes[team_host_lane], &caller);
}

// Lanes by turns, from one TEAM_SYNC to the next. All must end in the same turn.
static void run_team(void)
{
    static uint32_t left; // contexts are switched: no registers
    static int i;
    left = LANES;
    for (i = 0; i < LANES; i++) {
        getcontext(&lanes[i]);
        lanes[i].uc_stack.ss_sp = stacks[i];
        lanes[i].uc_stack.ss_size = STACK;
        makecontext(&lanes[i], lane_main, 0);
        ended[i] = false;
    }
    while (left > 0) {
        for (i = 0; i < LANES; i++) {
            team_host_lane = backwards ? LANES - 1 - i : i;
            swapcontext(&caller, &lanes[team_host_lane]);
            left -= ended[team_host_lane];
        }
        if (left != 0 && left != LANES) fail_msg("%u lanes are left behind", left);
    }
}

static void check_sets(case_shape shape, bool fitted)
{
    reduce_case c = make_case(shape);
    BIND(c);
    cutis_reduce_state here, there;
    cutis_reduce_run run;
    assert_true(cutis_reduce_state_create(&c.problem, &c.arena, &here));
    assert_true(cutis_reduce_state_create(&c.problem, &c.arena, &there));
    assert_ok(c.context, cutis_reduce_open(&c.problem, fitted, &here, &run));
    assert_ok(c.context, cutis_reduce_choose_sets(&run));
    team.c = &c;
    team.state = &there;
    team.target = (const double *)(uintptr_t)cutis_buffer_handle(run.buffers.target);
    team.given.sizes = run.sizes;
    for (int v = 0; v < (int)c.mesh.vertex_count; v++) {
        backwards = v % 2;
        team.given.item_first = v, team.given.item_end = v + 1;
        run_team();
    }
    const uint32_t slots = here.first[c.mesh.vertex_count];
    assert_memory_equal(there.control, here.control, slots * sizeof *here.control);
    assert_memory_equal(there.weight, here.weight, slots * sizeof *here.weight);
    cutis_reduce_close(&run);
    free_case(&c);
}

static void teams_choose_the_sets_of_one_lane(void **state)
{
    (void)state;
    check_sets((case_shape){ 7, 30, 20, 5, 4, false, false, 1 }, true);
    check_sets((case_shape){ 7, 40, 37, 11, 12, true, true, 2 }, true);
    check_sets((case_shape){ 7, 24, 10, 3, 8, false, false, 3 }, true);
    check_sets((case_shape){ 7, 24, 10, 3, 8, true, false, 4 }, false);
    check_sets((case_shape){ 3, 300, 290, 4, 8, false, true, 5 }, true); // too long to rank
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(teams_choose_the_sets_of_one_lane) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
