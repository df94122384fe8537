// The least value of the form that can be found: several starts, each swept to a standstill, fused
// where they differ (docs/spec/reduction.md 2.8). Starts are dealt to a fixed number of chains,
// each of which fuses its own in their order; then chains are joined two by two. Threads take
// whatever turn has what it needs: nobody waits for the longest of many. Invariants: what a turn
// does does not depend on when it is taken, so the result not on threads; fusing never raises the
// form's value.
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/os/os.h"
#include "fit/reduce/moments.h"
#include "fit/reduce/poses.h"

enum {
    CHAINS = 8,
    SLOTS = 4 * CHAINS,
    SELECTING = 6,
    FIXED = 30,
    AFTER = 3,
    FUSE_ROUNDS = 4,
    STEPS = 4
};
static const double STANDSTILL = 1e-4; // of a sweep's fall, relative
// Subsets of all vertices that a sweep may try before starts become fewer; those of a dear vertex.
static const double WORK = 2e6, DEAR = 1500;
static const double SPREAD = 0.7; // of random starts, in natural logarithms

// One chain at work: its best so far, the trial that is fused into it.
typedef struct chain {
    const cutis_moments *m;
    cutis_moments_state best, trial, saved;
    uint8_t *dirty;
    uint32_t *list, *component; ///< free units of a region; number of a free unit's component
    bool any;                   ///< it has a best one
    bool busy;                  ///< somebody is at work on it
    uint32_t number;            ///< of the start that it takes next
    uint32_t joined;            ///< 0 while it takes starts, then 1, one more with every join
} chain;

// One start at work. Its state's energy is below 0 where there is none.
typedef struct starter {
    cutis_moments_state state;
    uint8_t *dirty;
    double *keys; ///< per candidate
} starter;

typedef struct search {
    const cutis_moments *m;
    const cutis_moments_effort *effort;
    const double *original; ///< per candidate
    chain chains[CHAINS];
    starter starters[SLOTS];          ///< a start's is that of its number, modulo SLOTS
    bool swept[SLOTS];                ///< it waits for its chain
    uint32_t number;                  ///< of the start that is begun next
    const cutis_moments_state *given; ///< a start of the caller's, or NULL
    double *curve;                    ///< of the first chain, by `joined`
    cutis_os_lock *lock;              ///< of what says who does what
} search;

// A chain's next step, or a start.
typedef struct turn {
    chain *chain; ///< NULL: the start
    uint32_t number;
} turn;

static void settle(cutis_moments_work *w, uint32_t selecting)
{
    memset(w->dirty, 1, w->m->free_count);
    for (uint32_t i = 0; i < selecting; i++)
        if (!(cutis_moments_sweep(w, true) > STANDSTILL * w->state->energy)) break;
    for (uint32_t i = 0; i < FIXED; i++)
        if (!(cutis_moments_sweep(w, false) > STANDSTILL * w->state->energy)) break;
}

// Fusing -----------------------------------------------------------------------------------------

static bool same_set(const cutis_moments *m, const cutis_moments_state *a,
                     const cutis_moments_state *b, uint32_t f)
{
    const size_t at = (size_t)f * m->influences;
    uint32_t sets[2] = { 0 };
    for (uint32_t i = 0; i < a->count[f]; i++)
        if (a->weight[at + i] > 0) sets[0] |= 1u << a->index[at + i];
    for (uint32_t i = 0; i < b->count[f]; i++)
        if (b->weight[at + i] > 0) sets[1] |= 1u << b->index[at + i];
    return sets[0] == sets[1];
}

// The component of differing units that `seed` is in, and after it their surroundings.
// @return all of them; @param inner those of the component
static uint32_t gather_region(chain *c, uint32_t seed, uint32_t number, bool wide, uint32_t *inner)
{
    const cutis_moments *m = c->m;
    uint32_t count = 0;
    c->list[count++] = seed;
    c->component[seed] = number;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t f = c->list[i];
        const size_t begin = wide ? m->near_first[f] : m->edge_first[f],
                     end = wide ? m->near_first[f + 1] : m->edge_first[f + 1];
        for (size_t e = begin; e < end; e++) {
            const uint32_t g = wide ? m->near[e] : m->edge[e];
            if (c->component[g] || same_set(m, &c->best, &c->trial, g)) continue;
            c->component[g] = number;
            c->list[count++] = g;
        }
    }
    *inner = count;
    for (uint32_t i = 0; i < *inner; i++)
        for (size_t b = m->near_first[c->list[i]]; b < m->near_first[c->list[i] + 1]; b++) {
            const uint32_t g = m->near[b];
            bool known = c->dirty[g] == 2;
            if (known || c->component[g] == number) continue;
            c->dirty[g] = 2;
            c->list[count++] = g;
        }
    for (uint32_t i = *inner; i < count; i++) c->dirty[c->list[i]] = 0;
    return count;
}

// Take the trial's weights on one component, let it settle, keep it if that pays.
static void fuse_component(chain *c, uint32_t seed, uint32_t number, bool wide)
{
    cutis_moments_work w = { .m = c->m, .places = 1, .state = &c->best, .dirty = c->dirty };
    uint32_t inner, count = gather_region(c, seed, number, wide, &inner);
    double rise = 0;
    for (uint32_t i = 0; i < count; i++) cutis_moments_copy(c->m, &c->best, c->list[i], &c->saved);
    for (uint32_t i = 0; i < inner; i++) rise += cutis_moments_replace(&w, c->list[i], &c->trial);
    for (uint32_t round = 0; round < FUSE_ROUNDS; round++)
        for (uint32_t i = 0; i < count; i++)
            if (c->dirty[c->list[i]]) rise -= cutis_moments_update(&w, c->list[i], false);
    if (rise < 0) {
        c->best.energy += rise;
        return;
    }
    for (uint32_t i = 0; i < count; i++) cutis_moments_copy(c->m, &c->saved, c->list[i], &c->best);
}

static void fuse(chain *c)
{
    const uint32_t count = c->m->free_count;
    cutis_moments_work w = { .m = c->m, .places = 1, .state = &c->best, .dirty = c->dirty };
    if (c->trial.energy < c->best.energy) {
        const cutis_moments_state better = c->trial;
        c->trial = c->best;
        c->best = better;
    }
    uint32_t number = 0;
    for (int wide = 0; wide < 2; wide++) {
        memset(c->component, 0, count * sizeof *c->component);
        memset(c->dirty, 0, count);
        for (uint32_t f = 0; f < count; f++)
            if (!c->component[f] && !same_set(c->m, &c->best, &c->trial, f))
                fuse_component(c, f, ++number, wide);
    }
    memset(c->dirty, 1, count);
    for (uint32_t i = 0; i < AFTER; i++)
        if (!(cutis_moments_sweep(&w, true) > STANDSTILL * c->best.energy)) break;
}

// Starts -----------------------------------------------------------------------------------------

// Sets by positions alone; then these count less and less.
static void start_by_places(const search *s, starter *c)
{
    const cutis_moments *m = s->m;
    cutis_moments_state *out = &c->state;
    cutis_moments_work w = { .m = m, .state = out, .dirty = c->dirty };
    cutis_moments_pick(m, s->original, out);
    for (uint32_t f = 0; f < m->free_count; f++) {
        const size_t at = (size_t)f * m->influences;
        const uint32_t n = m->slot_first[f + 1] - m->slot_first[f];
        const double zero[CUTIS_MOMENTS_WIDE] = { 0 };
        double gram[CUTIS_MOMENTS_WIDE * CUTIS_MOMENTS_WIDE], trace = 0;
        memcpy(gram, m->place + m->place_first[f], (size_t)n * n * sizeof *gram);
        for (uint32_t i = 0; i < n; i++) trace += gram[i * n + i];
        if (!(trace > 0)) continue;
        for (uint32_t i = 0; i < n; i++) gram[i * n + i] += 1e-6 * trace / n;
        cutis_moments_local(n, gram, zero, cutis_moments_most(m, f), &out->count[f],
                            out->index + at, out->weight + at);
    }
    for (int step = STEPS - 1; step >= 0; step--) {
        w.places = (double)(1 << (2 * step));
        out->energy = cutis_moments_energy(m, out); // only its order matters
        memset(c->dirty, 1, m->free_count);
        for (int i = 0; i < 2 * AFTER; i++) cutis_moments_sweep(&w, i < AFTER);
    }
    out->energy = cutis_moments_energy(m, out);
    settle(&w, AFTER);
}

// 1 / e^-x to a few per cent, the same bits everywhere: only the order of keys matters.
static double grows(double x)
{
    double y = 1 + x / 8;
    y *= y, y *= y;
    return y * y;
}

// number 0: k-largest, 1: positions, 2: the caller's, then random ones.
static void run_start(const search *s, starter *c, uint32_t number)
{
    const cutis_moments *m = s->m;
    cutis_moments_state *out = &c->state;
    cutis_moments_work w = { .m = m, .places = 1, .state = out, .dirty = c->dirty };
    if (number == 1) {
        start_by_places(s, c);
        return;
    }
    const uint32_t slots = m->slot_first[m->free_count];
    for (uint32_t i = 0; i < slots; i++)
        c->keys[i] =
            s->original[i] *
            (number < 3 ? 1 : grows(SPREAD * cutis_random_gaussian(s->effort->seed, number, i)));
    cutis_moments_pick(m, c->keys, out);
    for (uint32_t f = 0; f < m->free_count && number == 2; f++)
        cutis_moments_copy(m, s->given, f, out);
    out->energy = cutis_moments_energy(m, out);
    settle(&w, SELECTING);
}

static bool has_start(const search *s, uint32_t number)
{
    return number < 3 + s->effort->starts && (number != 2 || s->given);
}

// Turns ------------------------------------------------------------------------------------------

static uint32_t start_count(const search *s)
{
    return 3 + s->effort->starts;
}

// The chain's next start, which has been swept.
static void take_start(search *s, chain *c)
{
    starter *from = &s->starters[c->number % SLOTS];
    if (!has_start(s, c->number)) return;
    c->trial = from->state;
    if (c->any) {
        fuse(c);
    } else {
        const cutis_moments_state spare = c->best;
        c->best = c->trial, c->trial = spare;
    }
    from->state = c->trial; // its memory, or that of the one before
    c->any = true;
}

// Chains two by two: the one `joined` says becomes the other's trial.
static chain *partner(chain *c)
{
    return c + (1u << (c->joined - 1));
}

static void join_chain(chain *c)
{
    chain *from = partner(c);
    if (!from->any) return;
    c->trial = from->best;
    if (c->any)
        fuse(c);
    else
        c->best = from->best;
    c->any = true;
}

static bool is_over(const search *s)
{
    return s->chains->joined && 1u << (s->chains->joined - 1) >= CHAINS;
}

// What the chain does next has what it needs.
static bool is_ready(const search *s, uint32_t index)
{
    const chain *c = &s->chains[index];
    if (c->busy) return false;
    if (c->joined == 0) return s->swept[c->number % SLOTS];
    const uint32_t step = 1u << (c->joined - 1);
    return index % (2 * step) == 0 && step < CHAINS && (c + step)->joined == c->joined;
}

// Chains before starts: they hold the others up.
static bool find_turn(search *s, turn *out)
{
    *out = (turn){ .number = s->number };
    for (uint32_t i = 0; i < CHAINS && !out->chain; i++)
        if (is_ready(s, i)) out->chain = &s->chains[i];
    if (out->chain) return out->chain->busy = true;
    // A slot is free when its chain has taken what stood there.
    const bool begun =
        s->number < start_count(s) && s->chains[s->number % CHAINS].number + SLOTS > s->number;
    s->number += begun;
    return begun;
}

static void take_turn(search *s, const turn *t)
{
    if (t->chain && t->chain->joined) join_chain(t->chain);
    if (t->chain && !t->chain->joined) take_start(s, t->chain);
    if (!t->chain && has_start(s, t->number))
        run_start(s, &s->starters[t->number % SLOTS], t->number);
}

static void end_turn(search *s, const turn *t)
{
    chain *c = t->chain;
    if (!c) {
        s->swept[t->number % SLOTS] = true;
        return;
    }
    if (c->joined == 0) {
        s->swept[c->number % SLOTS] = false;
        c->number += CHAINS;
    }
    if (c->joined || c->number >= start_count(s)) c->joined++;
    if (c == s->chains && c->joined) s->curve[c->joined] = c->best.energy;
    c->busy = false;
}

static void search_task(void *data, uint32_t index)
{
    search *s = data;
    turn t;
    (void)index; // who comes takes what there is
    cutis_os_lock_take(s->lock);
    while (!is_over(s)) {
        if (!find_turn(s, &t)) {
            cutis_os_lock_wait(s->lock);
            continue;
        }
        cutis_os_lock_give(s->lock);
        take_turn(s, &t);
        cutis_os_lock_take(s->lock);
        end_turn(s, &t);
        cutis_os_lock_wake(s->lock);
    }
    cutis_os_lock_give(s->lock);
}

static bool open_chain(search *s, uint32_t index, const cutis_moments *m, cutis_arena *arena)
{
    const uint32_t count = m->free_count;
    chain *c = &s->chains[index];
    *c = (chain){ .m = m, .number = index, .joined = index >= start_count(s) };
    c->dirty = cutis_arena_alloc(arena, count, 1);
    c->list = cutis_arena_alloc(arena, count, sizeof *c->list);
    c->component = cutis_arena_alloc(arena, count, sizeof *c->component);
    return c->dirty && c->list && c->component && cutis_moments_state_create(m, arena, &c->best) &&
           cutis_moments_state_create(m, arena, &c->saved);
}

static bool open_starter(starter *c, const cutis_moments *m, cutis_arena *arena)
{
    c->dirty = cutis_arena_alloc(arena, m->free_count, 1);
    c->keys = cutis_arena_alloc(arena, m->slot_first[m->free_count], sizeof *c->keys);
    return c->dirty && c->keys && cutis_moments_state_create(m, arena, &c->state);
}

static const double *original_weights(const cutis_moments *m, cutis_arena *arena)
{
    double *out = cutis_arena_alloc(arena, m->slot_first[m->free_count], sizeof *out);
    for (uint32_t f = 0; f < m->free_count && out; f++)
        for (uint32_t i = m->slot_first[f]; i < m->slot_first[f + 1]; i++)
            out[i] = cutis_moments_prior(m, m->free_unit[f], m->slot[i]);
    return out;
}

// Random starts that are worth their time: where vertices choose among many influences each costs
// more and gains less.
static uint32_t affordable(const cutis_moments *m, uint32_t starts)
{
    double work = 0;
    for (uint32_t f = 0; f < m->free_count; f++) {
        const uint32_t n = m->slot_first[f + 1] - m->slot_first[f];
        work += n < 10 ? (double)(1u << n) : DEAR;
    }
    const double most = ceil(WORK * starts / fmax(1, work));
    return most < starts ? (uint32_t)most : starts;
}

// @return how many values of the curve there are
static uint32_t find_least(search *s)
{
    chain *c = &s->chains[0];
    cutis_device *device = s->m->device;
    cutis_moments_work w = { .m = s->m, .places = 1, .state = &c->best, .dirty = c->dirty };
    cutis_moments_pick(s->m, s->original, &c->best);
    s->curve[0] = cutis_moments_energy(s->m, &c->best);
    cutis_device_run(device, search_task, s, device ? device->task_threads : 1);
    settle(&w, SELECTING);
    c->best.energy = cutis_moments_energy(s->m, &c->best);
    s->curve[c->joined + 1] = c->best.energy;
    return c->joined + 2;
}

cutis_result cutis_moments_solve(const cutis_moments *m, cutis_arena *arena,
                                 const cutis_moments_effort *effort, cutis_moments_state *state,
                                 double *curve, uint32_t *curve_count)
{
    const cutis_moments_effort fewer = { affordable(m, effort->starts), effort->seed };
    search s = { .m = m, .effort = &fewer, .curve = curve };
    if (state->energy >= 0) s.given = state;
    s.original = original_weights(m, arena);
    bool good = s.original != NULL;
    for (uint32_t i = 0; i < CHAINS && good; i++) good = open_chain(&s, i, m, arena);
    for (uint32_t i = 0; i < SLOTS && good; i++) good = open_starter(&s.starters[i], m, arena);
    if (!good) return cutis_alloc_result(m->context);
    TRY(cutis_progress(m->context, "choosing weights", 0));
    TRY(cutis_os_lock_create(m->context, &s.lock));
    *curve_count = find_least(&s);
    cutis_os_lock_destroy(s.lock);
    for (uint32_t f = 0; f < m->free_count; f++) cutis_moments_copy(m, &s.chains[0].best, f, state);
    state->energy = s.chains[0].best.energy;
    return CUTIS_OK;
}

cutis_result cutis_moments_settle(const cutis_moments *m, cutis_arena *arena, bool select,
                                  cutis_moments_state *state)
{
    cutis_moments_work w = { .m = m, .places = 1, .state = state };
    w.dirty = cutis_arena_alloc(arena, m->free_count, 1);
    if (!w.dirty) return cutis_alloc_result(m->context);
    state->energy = cutis_moments_energy(m, state);
    settle(&w, select ? SELECTING : 0);
    return CUTIS_OK;
}
