// Where helpers are: from nothing, by starts that differ, then by exchanging some for others, which
// also at random (docs/spec/bake.md 5). Invariant: the state that is kept never has a higher energy
// than one before it.
#include "fit/bake/search.h"

#include <string.h>

#include "base/error.h"

// Exchanges at random that may fail in turn.
enum { SEED_ROUNDS = 2, START_STEPS = 24, SIZES = 3, PATIENCE = 24, START_SEED = 97 };
// Exchanges that come this near to the best go on: valleys are long.
static const double NEARLY = 1.15;
// Exchanges that gain less than this part have failed.
static const double FAILED = 5e-5;
// At random: what would be missed is lowered by up to this part; so many of the helpers at most go.
static const double SHAKEN = 0.8, SHAKEN_MOST = 0.5;

uint32_t cutis_bake_extra(uint32_t wanted)
{
    return wanted < 4 ? 1 : wanted < 16 ? wanted / 4 : wanted / 8;
}

// Take away the helpers that would be missed least.
static bool drop_least(cutis_bake_work *work, cutis_arena *arena, uint32_t count)
{
    const cutis_bake_problem *p = work->problem;
    cutis_bake_level *level = work->level;
    const size_t slots = (size_t)level->count * p->influences;
    double *loss = cutis_arena_zero(arena, slots, sizeof *loss);
    double *sums = cutis_arena_zero(arena, work->helper_count, sizeof *sums);
    if (!loss || !sums) return false;
    level->loss = loss;
    cutis_bake_settle(work);
    level->loss = NULL;
    for (uint32_t i = 0; i < level->count; i++)
        for (uint32_t k = 0; k < level->slots[i]; k++) {
            const size_t at = (size_t)i * p->influences + k;
            if (level->bone[at] >= p->joint_count)
                sums[level->bone[at] - p->joint_count] += p->mass[i] * loss[at];
        }
    for (uint32_t h = 0; h < work->helper_count; h++)
        sums[h] *= 1 - SHAKEN * cutis_bake_random(&work->random);
    for (uint32_t k = 0; k < count; k++) {
        uint32_t least = 0;
        for (uint32_t h = 1; h < work->helper_count; h++)
            if (sums[h] < sums[least]) least = h;
        memmove(sums + least, sums + least + 1, (work->helper_count - 1 - least) * sizeof *sums);
        cutis_bake_drop(work, least);
    }
    cutis_bake_form(work, p->joint_count, p->joint_count + work->helper_count);
    cutis_bake_weights(work, 2);
    return true;
}

// Another set of helpers from this one: some more and then the least missed away, or the other way
// round, in turn. Either finds what the other does not.
static cutis_result exchange(cutis_bake_work *work, cutis_arena *arena, cutis_bake_snapshot *kept,
                             bool add, uint32_t few, uint32_t steps, double progress)
{
    const uint32_t wanted = work->problem->helper_count;
    if (add) {
        cutis_bake_settle(work);
        TRY(cutis_bake_seed(work, wanted + few, 1));
        TRY(cutis_bake_relax(work, kept, steps / 2, progress, progress));
    }
    const uint32_t away = add ? work->helper_count - wanted : few;
    if (!drop_least(work, arena, away)) return cutis_alloc_result(arena->context);
    if (!add) TRY(cutis_bake_seed(work, wanted, 1));
    return cutis_bake_relax(work, kept, steps, progress, progress + 0.1);
}

// Exchanges until `count`, or until fewer and fewer at once gain nothing; then some at random.
static cutis_result refill(cutis_bake_work *work, cutis_arena *arena, cutis_bake_snapshot *kept,
                           const cutis_bake_effort *effort)
{
    cutis_bake_snapshot best = { 0 };
    if (work->helper_count < 2 || work->helper_count < work->problem->helper_count) return CUTIS_OK;
    if (!cutis_bake_snapshot_create(work, arena, &best)) return cutis_alloc_result(arena->context);
    const uint32_t helpers = work->helper_count, rounds = effort->exchanges + effort->shaken;
    uint32_t failed = 0, few = cutis_bake_extra(helpers), random = 1;
    for (uint32_t round = 0; round < rounds; round++) {
        cutis_arena own = { .context = arena->context };
        bool add = round % 2 == 0;
        cutis_bake_keep(work, &best);
        work->levers = effort->levers && round / 2 % 2;
        if (round >= effort->exchanges) {
            few = 1 + (uint32_t)(cutis_bake_random(&random) * SHAKEN_MOST * helpers);
            if (few >= helpers) few = helpers - 1;
            add = add && few <= cutis_bake_extra(helpers); // there is no room for more
            work->random = random;
            work->region_factor = 1u << (uint32_t)(cutis_bake_random(&work->random) * SIZES);
        }
        const double progress = 0.2 + 0.6 * round / rounds;
        cutis_result result = exchange(work, &own, kept, add, few, effort->steps, progress);
        if (result == CUTIS_OK && work->energy < NEARLY * best.energy)
            result = cutis_bake_relax(work, kept, effort->longer, progress, progress);
        if (work->random) random = work->random;
        work->random = 0, work->region_factor = 1;
        cutis_arena_release(&own);
        TRY(result);
        failed = work->energy < best.energy * (1 - FAILED) ? 0 : failed + 1;
        if (work->energy > best.energy) cutis_bake_restore(work, &best);
        if (round >= effort->exchanges && failed >= PATIENCE) break;
        if (failed < 2 || round >= effort->exchanges) continue;
        if (few == 1) round = effort->exchanges - 1; // on to those at random
        few = few > 1 ? few / 2 : 1, failed = 0;     // fewer at once may do what many did not
    }
    return CUTIS_OK;
}

// Starts from small regions and from larger ones, then with seeds at random: where they end differs
// by a fifth.
static cutis_result start(cutis_bake_work *work, cutis_arena *arena, cutis_bake_snapshot *kept,
                          const cutis_bake_effort *effort)
{
    const uint32_t starts = effort->starts;
    const uint32_t wanted = work->problem->helper_count;
    cutis_bake_snapshot none = { 0 }, best = { 0 };
    if (!cutis_bake_snapshot_create(work, arena, &none) ||
        !cutis_bake_snapshot_create(work, arena, &best))
        return cutis_alloc_result(arena->context);
    cutis_bake_keep(work, &none);
    for (uint32_t k = 0; k < starts; k++) {
        if (k > 0) {
            cutis_bake_restore(work, &none);
            if (work->problem->joint_count) work->energy = cutis_bake_weights(work, 0);
        }
        work->region_factor = 1u << k % SIZES, work->levers = effort->levers && k % 2;
        work->random = k < SIZES ? 0 : START_SEED + k;
        const cutis_result result = cutis_bake_seed(work, wanted, SEED_ROUNDS);
        work->region_factor = 1, work->random = 0;
        TRY(result);
        TRY(cutis_bake_relax(work, kept, effort->first, 0.2 * k / starts, 0.2 * (k + 1) / starts));
        if (k == 0 || work->energy < best.energy) cutis_bake_keep(work, &best);
        if (wanted < 2) break;
    }
    cutis_bake_restore(work, &best);
    return CUTIS_OK;
}

cutis_result cutis_bake_search(cutis_bake_work *work, cutis_arena *arena,
                               const cutis_bake_effort *effort)
{
    cutis_bake_snapshot kept = { 0 };
    if (!cutis_bake_snapshot_create(work, arena, &kept)) return cutis_alloc_result(arena->context);
    if (effort->starts)
        TRY(start(work, arena, &kept, effort));
    else
        TRY(cutis_bake_relax(work, &kept, START_STEPS, 0.1, 0.2));
    return refill(work, arena, &kept, effort);
}
