// The fewest influences per vertex that keep a bound: all begin with one; vertices that are beyond
// the bound on poses that are checked may keep one more, until none is; other poses judge.
// Invariants: a vertex that keeps all its weights has the original ones, so that without a cap
// every bound can be kept; the result does not depend on threads.
#include "fit/reduce/bound.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

// Random poses that are checked, and more that are turned as far as joints go; that judge; of one
// check.
enum { CHECKED = 512, FAR = 256, JUDGED = 256, CHUNK = 128 };
// How much less of the bound another search is held to; searches; rounds of each, the first of
// which raise by one; times that whole numbers go back.
static const double TIGHTER = 0.03;
enum { ATTEMPTS = 6, ROUNDS = 96, PATIENT = 24, MIXES = 6 };
// Seeds of checked and judged random poses, behind those that weights are learned from.
enum { SEED_CHECKED = 101, SEED_JUDGED = 201 };
// What positions count beside normals where they alone are bounded.
static const double PLACES_ALONE = 10;

typedef struct search {
    cutis_mixed *x;
    cutis_arena arena;
    double position, normal; ///< the bound; infinite: none
    double margin;
    size_t vertex_count;
    cutis_transform *poses;
    uint32_t pose_count; ///< checked: random ones first
    uint8_t *able, *raised;
    uint8_t *done; ///< per free unit of a group, scratch
    cutis_reduce_worst worst;
    cutis_reduce_weights *weights; ///< of the round, per group
    uint32_t total;                ///< of weights in whole numbers, or 0
} search;

static size_t node_count(const search *s)
{
    return cutis_model_get(s->x->model)->node_count;
}

static bool open_search(search *s)
{
    const cutis_reduce_poses *p = s->x->poses;
    const cutis_reduce_options *o = s->x->options;
    const uint32_t random = p->random_count ? CHECKED : 0, far = p->random_count ? FAR : 0;
    const uint64_t seed = o->seed ? o->seed : 1;
    for (uint32_t g = 0; g < s->x->groups->count; g++)
        s->vertex_count += s->x->groups->group[g].source_count;
    s->position = o->max_error > 0 ? o->max_error : INFINITY;
    s->normal = o->max_normal > 0 ? o->max_normal : INFINITY;
    s->total = o->weight_total;
    s->poses = cutis_reduce_random_poses(s->x->model, seed + SEED_CHECKED, random, far,
                                         p->clip_count + ATTEMPTS * JUDGED, &s->arena);
    s->able = cutis_arena_alloc(&s->arena, s->vertex_count, 1);
    s->raised = cutis_arena_alloc(&s->arena, s->vertex_count, 1);
    s->done = cutis_arena_alloc(&s->arena, s->vertex_count, 1);
    s->worst.position = cutis_arena_alloc(&s->arena, s->vertex_count, sizeof(double));
    s->worst.normal =
        isinf(s->normal) ? NULL : cutis_arena_alloc(&s->arena, s->vertex_count, sizeof(double));
    s->weights = cutis_arena_alloc(&s->arena, s->x->groups->count, sizeof *s->weights);
    if (!s->poses || !s->able || !s->raised || !s->done || !s->worst.position || !s->weights ||
        (!isinf(s->normal) && !s->worst.normal))
        return false;
    s->pose_count = random + far + p->clip_count;
    if (p->clip_count)
        memcpy(s->poses + (random + far) * node_count(s), p->clip_learned,
               p->clip_count * node_count(s) * sizeof *s->poses);
    return true;
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
    for (uint32_t g = 0; g < s->x->groups->count; g++) {
        cutis_moments *m = &s->x->forms[g];
        uint8_t *most = (uint8_t *)m->most;
        // Vertices of one unit are raised as one: what a later one asks for is there already.
        uint8_t *done = s->done;
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
    }
    return count;
}

static cutis_result settle(search *s)
{
    for (uint32_t g = 0; g < s->x->groups->count; g++) {
        cutis_arena own = { .context = s->x->context };
        cutis_result result =
            s->x->forms[g].free_count
                ? cutis_moments_settle(&s->x->forms[g], &own, true, &s->x->states[g])
                : CUTIS_OK;
        cutis_arena_release(&own);
        if (result != CUTIS_OK) return result;
    }
    return CUTIS_OK;
}

// Weights of the states, rounded where they will be; @param arena where they go
static cutis_result collect(search *s, cutis_arena *arena)
{
    for (uint32_t g = 0; g < s->x->groups->count; g++) {
        if (!cutis_mixed_weights(s->x, g, arena, &s->weights[g]))
            return cutis_alloc_result(s->x->context);
        if (s->total) cutis_quantise_round(&s->x->groups->group[g], s->total, &s->weights[g]);
    }
    return CUTIS_OK;
}

// Check some poses. @param beyond vertices whose position is beyond the bound, and places
// whose normal is; with a vertex to blame for each marked in `raised`
static cutis_result check(search *s, uint32_t first, uint32_t count, uint64_t *beyond)
{
    cutis_arena own = { .context = s->x->context };
    const cutis_reduce_bound bound = { s->margin * s->normal, s->able, s->raised };
    mark_able(s);
    memset(s->raised, 0, s->vertex_count);
    cutis_result result = collect(s, &own);
    if (result == CUTIS_OK)
        result = cutis_reduce_find_worst(s->x->model, s->x->device, s->x->groups,
                                         s->poses + first * node_count(s), count, s->weights,
                                         &bound, &s->worst);
    *beyond = 0;
    for (size_t v = 0; v < s->vertex_count && result == CUTIS_OK; v++) {
        const bool far = s->worst.position[v] > s->margin * s->position;
        *beyond += far;
        if (s->worst.normal) *beyond += s->worst.normal[v] > s->margin * s->normal;
        if (far && s->able[v]) s->raised[v] = 1;
    }
    cutis_arena_release(&own);
    return result;
}

// Rounds until nothing that is checked is beyond the bound, or nobody can keep more. Poses go chunk
// by chunk, one that shows something until it no longer does; those turned furthest come first.
static cutis_result search_counts(search *s, bool *kept)
{
    const uint32_t chunks = (s->pose_count + CHUNK - 1) / CHUNK;
    uint32_t chunk = 0, clean = 0, round = 0;
    uint64_t beyond;
    *kept = false;
    while (round < ROUNDS && clean < chunks) {
        const uint32_t first = chunk * CHUNK, left = s->pose_count - first;
        TRY(check(s, first, left < CHUNK ? left : CHUNK, &beyond));
        if (beyond == 0) {
            clean++, chunk = (chunk + 1) % chunks;
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
static uint64_t count_beyond(const search *s)
{
    uint64_t count = 0;
    for (size_t v = 0; v < s->vertex_count; v++)
        count += s->worst.position[v] > s->position ||
                 (s->worst.normal && s->worst.normal[v] > s->normal);
    return count;
}

// Poses that nothing was chosen by: random ones of another seed, frames of clips that are held out.
static cutis_result judge(search *s, uint32_t attempt, const cutis_reduce_weights *weights,
                          cutis_bound_result *out)
{
    const cutis_reduce_poses *p = s->x->poses;
    const uint64_t seed = s->x->options->seed ? s->x->options->seed : 1;
    const uint32_t random = p->random_count ? JUDGED : 0,
                   clips = p->held_out_count - p->held_out_random_count;
    cutis_arena own = { .context = s->x->context };
    cutis_transform *poses = cutis_reduce_random_poses(s->x->model, seed + SEED_JUDGED + attempt,
                                                       random, 0, clips, &own);
    if (!poses) return cutis_alloc_result(s->x->context);
    if (clips)
        memcpy(poses + random * node_count(s), p->transforms + p->example_count * node_count(s),
               clips * node_count(s) * sizeof *poses);
    cutis_result result = cutis_reduce_find_worst(s->x->model, s->x->device, s->x->groups, poses,
                                                  random + clips, weights, NULL, &s->worst);
    cutis_arena_release(&own);
    if (result != CUTIS_OK) return result;
    *out = (cutis_bound_result){ .checked = s->pose_count,
                                 .judged = random + clips,
                                 .attempt = attempt,
                                 .beyond = count_beyond(s) };
    summarise(s->worst.position, s->vertex_count, &out->position, &out->position_99);
    if (s->worst.normal) summarise(s->worst.normal, s->vertex_count, &out->normal, &out->normal_99);
    return CUTIS_OK;
}

// The same for the states as they are.
static cutis_result judge_states(search *s, uint32_t attempt, cutis_bound_result *out)
{
    cutis_arena own = { .context = s->x->context };
    cutis_result result = collect(s, &own);
    if (result == CUTIS_OK) result = judge(s, attempt, s->weights, out);
    cutis_arena_release(&own);
    return result;
}

// Random poses that showed the bound broken are checked from then on.
static cutis_result add_judged(search *s, uint32_t attempt)
{
    const uint64_t seed = s->x->options->seed ? s->x->options->seed : 1;
    cutis_arena own = { .context = s->x->context };
    if (!s->x->poses->random_count) return CUTIS_OK;
    const cutis_transform *poses =
        cutis_reduce_random_poses(s->x->model, seed + SEED_JUDGED + attempt, JUDGED, 0, 0, &own);
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
    uint64_t tighter;
    double high;
    cutis_bound_result found = { 0 };
    TRY(check(s, 0, s->pose_count, &tighter));
    found.beyond = count_beyond(s);
    summarise(s->worst.position, s->vertex_count, &found.position, &high);
    if (s->worst.normal) summarise(s->worst.normal, s->vertex_count, &found.normal, &high);
    out->beyond += found.beyond;
    out->position = fmax(out->position, found.position);
    out->normal = fmax(out->normal, found.normal);
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
        TRY(judge_states(s, attempt, out));
        if (!kept) TRY(add_broken(s, out));
        out->kept = out->beyond == 0;
        if (out->kept || !kept || attempt + 1 == ATTEMPTS) break;
        TRY(add_judged(s, attempt));
    }
    s->x->energy = 0;
    for (uint32_t g = 0; g < s->x->groups->count; g++)
        if (s->x->forms[g].free_count) s->x->energy += s->x->states[g].energy;
    return CUTIS_OK;
}

cutis_result cutis_bound_search(cutis_mixed *x, cutis_bound_result *out)
{
    search s = { .x = x, .arena.context = x->context };
    if (!x->poses->random_count && x->poses->held_out_count == x->poses->held_out_random_count)
        return cutis_fail(x->context, CUTIS_INVALID_ARGUMENT,
                          "reduce: a bound needs poses to judge by: random ones, longer clips, or "
                          "clips that are held out");
    cutis_result result = open_search(&s) ? CUTIS_OK : cutis_alloc_result(x->context);
    if (result == CUTIS_OK) result = search_all(&s, out);
    cutis_arena_release(&s.arena);
    return result;
}

cutis_result cutis_bound_check(cutis_mixed *x, const cutis_reduce_weights *weights,
                               cutis_bound_result *out)
{
    search s = { .x = x, .arena.context = x->context };
    cutis_result result = open_search(&s) ? CUTIS_OK : cutis_alloc_result(x->context);
    if (result == CUTIS_OK)
        result = cutis_reduce_find_worst(x->model, x->device, x->groups, s.poses, s.pose_count,
                                         weights, NULL, &s.worst);
    const uint64_t checked = result == CUTIS_OK ? count_beyond(&s) : 0;
    if (result == CUTIS_OK) result = judge(&s, out->attempt, weights, out);
    out->beyond += checked;
    out->kept = out->beyond == 0;
    cutis_arena_release(&s.arena);
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
    cutis_result result = open_search(&s) ? CUTIS_OK : cutis_alloc_result(x->context);
    if (result == CUTIS_OK) memset(s.able, 1, s.vertex_count);
    for (uint32_t round = 0; round < MIXES && result == CUTIS_OK; round++) {
        const cutis_reduce_bound bound = { s.normal, s.able, s.raised };
        memset(s.raised, 0, s.vertex_count);
        result = cutis_reduce_find_worst(x->model, x->device, x->groups, s.poses, s.pose_count,
                                         weights, &bound, &s.worst);
        if (result != CUTIS_OK || count_beyond(&s) == 0) break;
        for (size_t v = 0; v < s.vertex_count; v++) s.raised[v] |= s.worst.position[v] > s.position;
        if (!take_marked(&s, other, arena, weights)) result = cutis_alloc_result(x->context);
    }
    cutis_arena_release(&s.arena);
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
