// The fewest influences per vertex that keep a bound: all begin with one; vertices that are beyond
// the bound on poses that are checked may keep one more, until none is; other poses judge.
// Invariants: a vertex that keeps all its weights has the original ones, so that without a cap
// every bound can be kept; the result does not depend on threads.
#include "fit/reduce/bound.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "fit/reduce/judge.h"

// Random poses that are checked, and more that are turned as far as joints go; that judge; of one
// check.
enum { CHECKED = 512, FAR = 256, JUDGED = 256, CHUNK = 128 };
// How much less of the bound another search is held to; searches; rounds of each, the first of
// which raise by one; times that whole numbers go back.
static const double TIGHTER = 0.03;
enum { ATTEMPTS = 6, ROUNDS = 96, PATIENT = 24, MIXES = 6 };
// Seeds of checked, judged and last random poses, behind those that weights are learned from.
enum { SEED_CHECKED = 101, SEED_JUDGED = 201, SEED_LAST = 301 };
// What positions count beside normals where they alone are bounded.
static const double PLACES_ALONE = 10;
// Sweeps after counts were raised: those that may choose, those that only weigh; the least fall.
enum { SELECTING = 6, FIXED = 30 };
static const double STANDSTILL = 1e-4;

// What a chunk of poses has shown, and up to which change of weights.
typedef struct chunk {
    cutis_reduce_worst worst;
    uint32_t pose_count, change;
    bool known;
} chunk;

typedef struct search {
    cutis_mixed *x;
    cutis_arena arena;
    cutis_judge judge;
    double position, normal; ///< the bound; infinite: none
    double margin;
    size_t vertex_count;
    cutis_transform *poses;
    uint32_t pose_count; ///< checked: random ones first
    chunk *chunks;
    uint8_t *able, *raised;
    uint8_t *done;    ///< per free unit of all groups: raised in this round
    uint8_t *changed; ///< per vertex, scratch
    uint32_t *change; ///< per vertex: when its weights were last others
    uint32_t changes;
    cutis_reduce_worst worst;      ///< of poses that judge
    cutis_reduce_weights *weights; ///< of the round, per group; in the first arena
    cutis_arena round[2];          ///< this round's weights, those before
    uint32_t total;                ///< of weights in whole numbers, or 0
} search;

static size_t node_count(const search *s)
{
    return cutis_model_get(s->x->model)->node_count;
}

static uint64_t seed_of(const search *s)
{
    return s->x->options->seed ? s->x->options->seed : 1;
}

static bool open_worst(const search *s, cutis_reduce_worst *out, cutis_arena *arena)
{
    const bool normals = !isinf(s->normal);
    out->position = cutis_arena_alloc(arena, s->vertex_count, sizeof(double));
    out->normal = normals ? cutis_arena_alloc(arena, s->vertex_count, sizeof(double)) : NULL;
    out->pose = normals ? cutis_arena_alloc(arena, s->vertex_count, sizeof(uint32_t)) : NULL;
    return out->position && (!normals || (out->normal && out->pose));
}

static cutis_result open_search(search *s)
{
    const cutis_reduce_poses *p = s->x->poses;
    const cutis_reduce_options *o = s->x->options;
    const uint32_t random = p->random_count ? CHECKED : 0, far = p->random_count ? FAR : 0,
                   room = p->clip_count + ATTEMPTS * JUDGED;
    s->judge =
        (cutis_judge){ .model = s->x->model, .device = s->x->device, .groups = s->x->groups };
    TRY(cutis_judge_open(&s->judge, &s->arena));
    s->vertex_count = s->judge.vertex_count;
    s->position = o->max_error > 0 ? o->max_error : INFINITY;
    s->normal = o->max_normal > 0 ? o->max_normal : INFINITY;
    s->total = o->weight_total;
    s->round[0].context = s->round[1].context = s->x->context;
    s->poses = cutis_reduce_random_poses(s->x->model, s->x->device, seed_of(s) + SEED_CHECKED,
                                         random, far, room, &s->arena);
    s->able = cutis_arena_alloc(&s->arena, s->vertex_count, 1);
    s->raised = cutis_arena_alloc(&s->arena, s->vertex_count, 1);
    s->done = cutis_arena_zero(&s->arena, s->vertex_count, 1);
    s->changed = cutis_arena_alloc(&s->arena, s->vertex_count, 1);
    s->change = cutis_arena_zero(&s->arena, s->vertex_count, sizeof *s->change);
    s->chunks = cutis_arena_zero(&s->arena, (random + far + room) / CHUNK + 1, sizeof *s->chunks);
    s->weights = cutis_arena_zero(&s->arena, s->x->groups->count, sizeof *s->weights);
    if (!s->poses || !s->able || !s->raised || !s->done || !s->changed || !s->change ||
        !s->chunks || !s->weights || !open_worst(s, &s->worst, &s->arena))
        return cutis_alloc_result(s->x->context);
    s->pose_count = random + far + p->clip_count;
    if (p->clip_count)
        memcpy(s->poses + (random + far) * node_count(s), p->clip_learned,
               p->clip_count * node_count(s) * sizeof *s->poses);
    return CUTIS_OK;
}

static void close_search(search *s)
{
    cutis_arena_release(&s->round[0]);
    cutis_arena_release(&s->round[1]);
    cutis_arena_release(&s->arena);
}

// The most that a free unit may keep, and whether that is all it had.
static uint32_t most_of(const cutis_moments *m, uint32_t f, bool *all)
{
    const uint32_t n = m->slot_first[f + 1] - m->slot_first[f], unit = m->free_unit[f],
                   had = m->group->first[unit + 1] - m->group->first[unit];
    *all = n == had && n <= m->influences;
    return n < m->influences ? n : m->influences;
}

static void mark_able(search *s)
{
    uint8_t *able = s->able;
    for (uint32_t g = 0; g < s->x->groups->count; g++) {
        const cutis_moments *m = &s->x->forms[g];
        for (uint32_t v = 0; v < m->group->source_count; v++) {
            const int32_t f = m->unit_free[m->group->unit[v]];
            bool all;
            *able++ =
                f >= 0 && m->most[f] > 0 && (m->most[f] < most_of(m, (uint32_t)f, &all) || all);
        }
    }
}

// All weights of a unit, as they were; nothing changes them any more.
static void pin(cutis_moments *m, uint32_t f, cutis_moments_state *state)
{
    const uint32_t n = m->slot_first[f + 1] - m->slot_first[f], unit = m->free_unit[f];
    const size_t at = (size_t)f * m->influences;
    for (uint32_t i = 0; i < n; i++) {
        state->index[at + i] = (uint8_t)i;
        state->weight[at + i] =
            m->group->weight[m->group->first[unit] + m->slot[m->slot_first[f] + i]];
    }
    state->count[f] = (uint8_t)n;
    ((uint8_t *)m->most)[f] = 0;
}

// How many units may keep more than before. @param patient one more at a time
static uint32_t raise_some(search *s, bool patient)
{
    uint32_t count = 0;
    const uint8_t *raised = s->raised;
    // Vertices of one unit are raised as one: what a later one asks for is there already.
    uint8_t *done = s->done;
    for (uint32_t g = 0; g < s->x->groups->count; g++) {
        cutis_moments *m = &s->x->forms[g];
        uint8_t *most = (uint8_t *)m->most;
        memset(done, 0, m->free_count);
        for (uint32_t v = 0; v < m->group->source_count; v++) {
            const int32_t f = m->unit_free[m->group->unit[v]];
            if (!*raised++ || f < 0 || done[f]) continue;
            bool all;
            const uint32_t limit = most_of(m, (uint32_t)f, &all);
            done[f] = 1;
            most[f] = (uint8_t)(patient && most[f] < limit ? most[f] + 1u : limit);
            if (most[f] >= limit && all) pin(m, (uint32_t)f, &s->x->states[g]);
            count++;
        }
        done += m->free_count;
    }
    return count;
}

// Sweeps from those that were raised: elsewhere nothing has changed.
static cutis_result settle(search *s)
{
    const uint8_t *done = s->done;
    for (uint32_t g = 0; g < s->x->groups->count; g++) {
        const cutis_moments *m = &s->x->forms[g];
        cutis_arena own = { .context = s->x->context };
        cutis_moments_work w = { .m = m, .places = 1, .state = &s->x->states[g] };
        w.dirty = cutis_arena_zero(&own, m->free_count, 1);
        if (!w.dirty) return cutis_alloc_result(s->x->context);
        for (uint32_t f = 0; f < m->free_count; f++)
            for (size_t b = m->near_first[f]; b < m->near_first[f + 1] && done[f]; b++)
                w.dirty[m->near[b]] = 1;
        w.state->energy = m->free_count ? cutis_moments_energy(m, w.state) : 0;
        for (int i = 0; i < SELECTING + FIXED; i++) {
            const double fall = cutis_moments_sweep(&w, i < SELECTING);
            const bool still = !(fall > STANDSTILL * w.state->energy);
            if (still && i >= SELECTING) break;
            if (still) i = SELECTING - 1;
        }
        done += m->free_count;
        cutis_arena_release(&own);
    }
    return CUTIS_OK;
}

// Weights of the states, rounded where they will be; vertices that have others than before.
static cutis_result collect(search *s)
{
    const uint32_t groups = s->x->groups->count;
    const bool first = s->changes++ == 0;
    const cutis_arena before = s->round[1];
    s->round[1] = s->round[0], s->round[0] = before;
    cutis_arena_release(&s->round[0]);
    cutis_reduce_weights *old =
        cutis_arena_copy(&s->round[1], s->weights, groups, sizeof *s->weights);
    if (!old) return cutis_alloc_result(s->x->context);
    for (uint32_t g = 0; g < groups; g++) {
        if (!cutis_mixed_weights(s->x, g, &s->round[0], &s->weights[g]))
            return cutis_alloc_result(s->x->context);
        if (s->total) cutis_quantise_round(&s->x->groups->group[g], s->total, &s->weights[g]);
    }
    memset(s->changed, first, s->vertex_count);
    if (!first) cutis_judge_mark(&s->judge, s->weights, old, s->changed);
    for (size_t v = 0; v < s->vertex_count; v++)
        if (s->changed[v]) s->change[v] = s->changes;
    return CUTIS_OK;
}

// What a chunk of poses shows of the weights that were collected.
static cutis_result look(search *s, uint32_t index, const cutis_reduce_bound *bound)
{
    chunk *c = &s->chunks[index];
    const uint32_t first = index * CHUNK, left = s->pose_count - first,
                   count = left < CHUNK ? left : CHUNK;
    if (!c->worst.position && !open_worst(s, &c->worst, &s->arena))
        return cutis_alloc_result(s->x->context);
    const bool known = c->known && c->pose_count == count;
    for (size_t v = 0; v < s->vertex_count; v++) s->changed[v] = s->change[v] > c->change;
    TRY(cutis_reduce_find_worst(&s->judge, s->poses + first * node_count(s), count, s->weights,
                                known ? s->changed : NULL, bound, &c->worst));
    c->known = true, c->pose_count = count, c->change = s->changes;
    return CUTIS_OK;
}

// Check a chunk of poses. @param beyond vertices whose position is beyond the bound, and places
// whose normal is; with a vertex to blame for each marked in `raised`
static cutis_result check(search *s, uint32_t index, uint64_t *beyond)
{
    const cutis_reduce_bound bound = { s->margin * s->normal, s->able, s->raised };
    const cutis_reduce_worst *worst = &s->chunks[index].worst;
    mark_able(s);
    memset(s->raised, 0, s->vertex_count);
    TRY(collect(s));
    TRY(look(s, index, &bound));
    *beyond = 0;
    for (size_t v = 0; v < s->vertex_count; v++) {
        const bool far = worst->position[v] > s->margin * s->position;
        *beyond += far;
        if (worst->normal) *beyond += worst->normal[v] > s->margin * s->normal;
        if (far && s->able[v]) s->raised[v] = 1;
    }
    return CUTIS_OK;
}

static uint32_t chunk_count(const search *s)
{
    return (s->pose_count + CHUNK - 1) / CHUNK;
}

// Rounds until nothing that is checked is beyond the bound, or nobody can keep more. Poses go chunk
// by chunk, one that shows something until it no longer does; those turned furthest come first.
static cutis_result search_counts(search *s, bool *kept)
{
    const uint32_t chunks = chunk_count(s);
    uint32_t index = 0, clean = 0, round = 0;
    uint64_t beyond;
    *kept = false;
    while (round < ROUNDS && clean < chunks) {
        TRY(check(s, index, &beyond));
        if (beyond == 0) {
            clean++, index = (index + 1) % chunks;
            continue;
        }
        if (raise_some(s, round++ < PATIENT) == 0) return CUTIS_OK;
        TRY(settle(s));
        clean = 0;
    }
    *kept = clean == chunks;
    return CUTIS_OK;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// The largest, and what 99 % stay within. Sorts them.
static void summarise(double *values, size_t count, double *most, double *high)
{
    qsort(values, count, sizeof *values, ascending);
    *most = count ? values[count - 1] : 0;
    *high = count ? values[(size_t)ceil(0.99 * (double)count) - 1] : 0;
}

// Vertices beyond the bound itself.
static uint64_t count_beyond(const search *s, const cutis_reduce_worst *worst)
{
    uint64_t count = 0;
    for (size_t v = 0; v < s->vertex_count; v++)
        count +=
            worst->position[v] > s->position || (worst->normal && worst->normal[v] > s->normal);
    return count;
}

// Who judges: whether to search on, or last.
typedef enum word { FIRST_WORD, LAST_WORD } word;

static uint64_t seed_of_word(const search *s, word w, uint32_t attempt)
{
    return seed_of(s) + (w == LAST_WORD ? SEED_LAST : SEED_JUDGED) + attempt;
}

// Poses that nothing was chosen by: random ones of another seed, frames of clips that are held out.
// Of these every second one has the last word only.
static cutis_result judge(search *s, word w, uint32_t attempt, const cutis_reduce_weights *weights,
                          cutis_bound_result *out)
{
    const cutis_reduce_poses *p = s->x->poses;
    const size_t nodes = node_count(s);
    const uint32_t random = p->random_count ? JUDGED : 0,
                   frames = p->held_out_count - p->held_out_random_count;
    cutis_arena own = { .context = s->x->context };
    cutis_transform *poses = cutis_reduce_random_poses(
        s->x->model, s->x->device, seed_of_word(s, w, attempt), random, 0, frames, &own);
    if (!poses) return cutis_alloc_result(s->x->context);
    uint32_t count = random;
    for (uint32_t f = 0; f < frames; f++)
        if (frames == 1 || f % 2 == (w == LAST_WORD))
            memcpy(poses + count++ * nodes, p->transforms + (p->example_count + f) * nodes,
                   nodes * sizeof *poses);
    cutis_result result =
        cutis_reduce_find_worst(&s->judge, poses, count, weights, NULL, NULL, &s->worst);
    cutis_arena_release(&own);
    if (result != CUTIS_OK) return result;
    *out = (cutis_bound_result){ .checked = s->pose_count,
                                 .judged = count,
                                 .attempt = attempt,
                                 .beyond = count_beyond(s, &s->worst) };
    summarise(s->worst.position, s->vertex_count, &out->position, &out->position_99);
    if (s->worst.normal) summarise(s->worst.normal, s->vertex_count, &out->normal, &out->normal_99);
    return CUTIS_OK;
}

// Both words on some weights. The first one decides whether the bound is kept; the last one, on
// poses that decide nothing, has the figures where it is. @param broken  vertices that are beyond
// it in poses that were checked
static cutis_result judge_all(search *s, uint32_t attempt, const cutis_reduce_weights *weights,
                              uint64_t broken, cutis_bound_result *out)
{
    TRY(judge(s, FIRST_WORD, attempt, weights, out));
    out->beyond += broken;
    if (out->beyond) return CUTIS_OK;
    TRY(judge(s, LAST_WORD, attempt, weights, out));
    out->kept = true;
    return CUTIS_OK;
}

// Random poses that showed the bound broken are checked from then on.
static cutis_result add_judged(search *s, uint32_t attempt)
{
    cutis_arena own = { .context = s->x->context };
    if (!s->x->poses->random_count) return CUTIS_OK;
    const cutis_transform *poses = cutis_reduce_random_poses(
        s->x->model, s->x->device, seed_of_word(s, FIRST_WORD, attempt), JUDGED, 0, 0, &own);
    if (poses) {
        memcpy(s->poses + s->pose_count * node_count(s), poses,
               JUDGED * node_count(s) * sizeof *poses);
        s->pose_count += JUDGED;
    }
    cutis_arena_release(&own);
    return poses ? CUTIS_OK : cutis_alloc_result(s->x->context);
}

// What is beyond the bound itself in any pose that is checked, where the search ended without
// keeping it.
static cutis_result add_broken(search *s, cutis_bound_result *out)
{
    for (uint32_t c = 0; c < chunk_count(s); c++) {
        TRY(look(s, c, NULL));
        const cutis_reduce_worst *worst = &s->chunks[c].worst;
        out->beyond += count_beyond(s, worst);
        for (size_t v = 0; v < s->vertex_count; v++) {
            out->position = fmax(out->position, worst->position[v]);
            if (worst->normal) out->normal = fmax(out->normal, worst->normal[v]);
        }
    }
    out->kept &= out->beyond == 0;
    return CUTIS_OK;
}

static cutis_result search_all(search *s, cutis_bound_result *out)
{
    bool kept;
    if (isinf(s->normal))
        for (int k = 0; k < CUTIS_MIXED_KINDS; k++) s->x->position[k] *= PLACES_ALONE;
    TRY(cutis_mixed_solve(s->x));
    for (uint32_t attempt = 0; attempt < ATTEMPTS; attempt++) {
        s->margin = 1 - TIGHTER * attempt;
        TRY(search_counts(s, &kept));
        TRY(collect(s));
        TRY(judge_all(s, attempt, s->weights, 0, out));
        if (!kept) TRY(add_broken(s, out));
        if (out->kept || !kept || attempt + 1 == ATTEMPTS) break;
        TRY(add_judged(s, attempt));
    }
    s->x->energy = 0;
    for (uint32_t g = 0; g < s->x->groups->count; g++)
        if (s->x->forms[g].free_count)
            s->x->energy += cutis_moments_energy(&s->x->forms[g], &s->x->states[g]);
    return CUTIS_OK;
}

cutis_result cutis_bound_search(cutis_mixed *x, cutis_bound_result *out)
{
    search s = { .x = x, .arena.context = x->context };
    if (!x->poses->random_count && x->poses->held_out_count == x->poses->held_out_random_count)
        return cutis_fail(x->context, CUTIS_INVALID_ARGUMENT,
                          "reduce: a bound needs poses to judge by: random ones, longer clips, or "
                          "clips that are held out");
    cutis_result result = open_search(&s);
    if (result == CUTIS_OK) result = search_all(&s, out);
    close_search(&s);
    return result;
}

// With the poses that attempts before the one that succeeded had added.
static cutis_result open_again(search *s, const cutis_bound_result *found)
{
    TRY(open_search(s));
    for (uint32_t a = 0; a < found->attempt; a++) TRY(add_judged(s, a));
    return CUTIS_OK;
}

cutis_result cutis_bound_check(cutis_mixed *x, const cutis_reduce_weights *weights,
                               cutis_bound_result *out)
{
    search s = { .x = x, .arena.context = x->context };
    const uint32_t attempt = out->attempt;
    cutis_result result = open_again(&s, out);
    if (result == CUTIS_OK)
        result =
            cutis_reduce_find_worst(&s.judge, s.poses, s.pose_count, weights, NULL, NULL, &s.worst);
    if (result == CUTIS_OK)
        result = judge_all(&s, attempt, weights, count_beyond(&s, &s.worst), out);
    close_search(&s);
    return result;
}

// Units with a vertex that is marked take other weights. @return whether there is memory
static bool take_marked(search *s, const cutis_reduce_weights *other, cutis_arena *arena,
                        cutis_reduce_weights *weights)
{
    const uint8_t *marked = s->raised;
    uint8_t *able = s->able;
    for (uint32_t g = 0; g < s->x->groups->count; g++) {
        const cutis_reduce_group *group = &s->x->groups->group[g];
        const uint32_t units = group->unit_count, most = other[g].first[units];
        uint8_t *taken = cutis_arena_zero(&s->arena, units, 1);
        cutis_reduce_weights mix = { cutis_arena_alloc(arena, (size_t)units + 1, sizeof(uint32_t)),
                                     cutis_arena_alloc(arena, most, sizeof(uint32_t)),
                                     cutis_arena_alloc(arena, most, sizeof(double)) };
        if (!taken || !mix.first || !mix.control || !mix.weight) return false;
        for (uint32_t v = 0; v < group->source_count; v++) taken[group->unit[v]] |= marked[v];
        for (uint32_t v = 0; v < group->source_count; v++)
            if (taken[group->unit[v]]) able[v] = 0;
        uint32_t used = 0;
        for (uint32_t u = 0; u < units; u++) {
            const cutis_reduce_weights *from = taken[u] ? &other[g] : &weights[g];
            mix.first[u] = used;
            for (uint32_t i = from->first[u]; i < from->first[u + 1]; i++) {
                mix.control[used] = from->control[i];
                mix.weight[used++] = from->weight[i];
            }
        }
        mix.first[units] = used;
        weights[g] = mix;
        marked += group->source_count, able += group->source_count;
    }
    return true;
}

cutis_result cutis_bound_mix(cutis_mixed *x, const cutis_reduce_weights *other, cutis_arena *arena,
                             cutis_reduce_weights *weights, cutis_bound_result *out)
{
    search s = { .x = x, .arena.context = x->context };
    cutis_result result = open_again(&s, out);
    if (result == CUTIS_OK) memset(s.able, 1, s.vertex_count);
    for (uint32_t round = 0; round < MIXES && result == CUTIS_OK; round++) {
        const cutis_reduce_bound bound = { s.normal, s.able, s.raised };
        memset(s.raised, 0, s.vertex_count);
        result = cutis_reduce_find_worst(&s.judge, s.poses, s.pose_count, weights, NULL, &bound,
                                         &s.worst);
        if (result != CUTIS_OK || count_beyond(&s, &s.worst) == 0) break;
        for (size_t v = 0; v < s.vertex_count; v++) s.raised[v] |= s.worst.position[v] > s.position;
        if (!take_marked(&s, other, arena, weights)) result = cutis_alloc_result(x->context);
    }
    close_search(&s);
    return result == CUTIS_OK ? cutis_bound_check(x, weights, out) : result;
}

bool cutis_bound_largest(const cutis_reduce_group *group, const cutis_reduce_weights *counts,
                         uint32_t most, cutis_arena *arena, cutis_reduce_weights *out)
{
    const double *from = group->prior ? group->prior : group->weight;
    const uint32_t units = group->unit_count;
    out->first = cutis_arena_alloc(arena, (size_t)units + 1, sizeof *out->first);
    out->control = cutis_arena_alloc(arena, group->first[units], sizeof *out->control);
    out->weight = cutis_arena_alloc(arena, group->first[units], sizeof *out->weight);
    if (!out->first || !out->control || !out->weight) return false;
    uint32_t used = 0;
    for (uint32_t u = 0; u < units; u++) {
        const uint32_t begin = group->first[u], end = group->first[u + 1],
                       kept = counts ? counts->first[u + 1] - counts->first[u] : most;
        double sum = 0;
        out->first[u] = used;
        for (uint32_t i = begin; i < end; i++) {
            uint32_t larger = 0;
            for (uint32_t j = begin; j < end; j++)
                larger += from[j] > from[i] || (from[j] == from[i] && j < i);
            if (larger >= kept || !(from[i] > 0)) continue;
            out->control[used] = group->control[i];
            out->weight[used++] = from[i];
            sum += from[i];
        }
        for (uint32_t i = out->first[u]; i < used; i++) out->weight[i] /= sum;
    }
    out->first[units] = used;
    return true;
}
