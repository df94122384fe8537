// Judging a result against k-largest, and taking k-largest where it is better. Errors of components
// that share no normal add up, so one pass over the poses tells what any choice of them comes to.
// Invariant: with all components taken back, every ratio is 1.
#include "fit/reduce/repair.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

// Random poses that decide: as many as blending about so many vertices takes, within limits; they
// come from a seed of their own. Frames of clips: those held out.
static const double WORK = 1e6;
enum { LEAST_POSES = 192, MOST_POSES = 2048, SEED_DECIDING = 51 };
// Samples of random poses; components told apart (more are counted together).
enum { SAMPLES = 128, COMPONENTS = 256, VALUES = 4 };
// What a sample may show; what is equal but for rounding; what no file can hold (radians, parts of
// the diagonal).
static const double WORSE = 1.02, EQUAL = 1e-9, SMALL_ANGLE = 1e-6, SMALL_PART = 1e-7;

// One judgement: sums of squares of every pose and component: normals and positions of the result,
// those of k-largest.
typedef struct trial {
    cutis_repair *r;
    cutis_arena arena;
    cutis_judge_part part;
    uint32_t *component;       ///< per vertex of the body; 0: both are the same there
    uint32_t *place_component; ///< per representative
    uint32_t component_count;  ///< with the 0th
    double *sums;              ///< VALUES per pose and component
    double *totals;            ///< VALUES per pose
    uint8_t *taken;            ///< per component: k-largest
} trial;

bool cutis_repair_counts(const cutis_repair *r, int measure)
{
    return (measure < 2 ? r->poses->clip_count : r->poses->random_count) > 0;
}

// Components -------------------------------------------------------------------------------------

static uint32_t root_of(uint32_t *up, uint32_t v)
{
    while (up[v] != v) v = up[v] = up[up[v]];
    return v;
}

static void unite(uint32_t *up, uint32_t a, uint32_t b)
{
    const uint32_t x = root_of(up, a), y = root_of(up, b);
    if (x < y) up[y] = x;
    if (y < x) up[x] = y;
}

// Vertices that differ from k-largest are connected where they turn the same normal.
static bool connect(trial *t, const uint8_t *differs, uint32_t *up, uint32_t *head)
{
    const cutis_judge *j = &t->r->judge;
    uint32_t *unit_first = cutis_arena_alloc(&t->arena, j->vertex_count, sizeof *unit_first);
    if (!unit_first) return false;
    for (size_t v = 0; v < j->vertex_count; v++) up[v] = (uint32_t)v, head[v] = UINT32_MAX;
    for (uint32_t g = 0, base = 0; g < j->groups->count; g++) {
        const cutis_reduce_group *group = &j->groups->group[g];
        for (uint32_t u = 0; u < group->unit_count; u++) unit_first[u] = UINT32_MAX;
        for (uint32_t v = 0; v < group->source_count; v++) {
            uint32_t *first = &unit_first[group->unit[v]];
            if (*first == UINT32_MAX) *first = base + v;
            unite(up, *first, base + v);
        }
        base += group->source_count;
    }
    for (size_t i = 0; i < j->triangle_count; i++) {
        const uint32_t *corner = j->triangles + 3 * i;
        for (int k = 0; k < 9; k++) {
            const uint32_t v = corner[k % 3], place = j->weld[corner[k / 3]];
            if (!differs[v]) continue;
            if (head[place] == UINT32_MAX) head[place] = v;
            unite(up, head[place], v);
        }
    }
    return true;
}

static bool number_components(trial *t, const uint8_t *differs)
{
    const cutis_judge *j = &t->r->judge;
    const size_t count = j->vertex_count;
    uint32_t *up = cutis_arena_alloc(&t->arena, count, sizeof *up);
    uint32_t *head = cutis_arena_alloc(&t->arena, count, sizeof *head);
    uint32_t *number = cutis_arena_zero(&t->arena, count, sizeof *number);
    t->component = cutis_arena_zero(&t->arena, count, sizeof *t->component);
    t->place_component = cutis_arena_zero(&t->arena, count, sizeof *t->place_component);
    if (!up || !head || !number || !t->component || !t->place_component ||
        !connect(t, differs, up, head))
        return false;
    uint32_t found = 0;
    for (size_t v = 0; v < count; v++) {
        if (!differs[v]) continue;
        uint32_t *own = &number[root_of(up, (uint32_t)v)];
        if (*own == 0) *own = 1 + found++ % COMPONENTS;
        t->component[v] = *own;
    }
    t->component_count = 1 + (found < COMPONENTS ? found : COMPONENTS);
    for (size_t v = 0; v < count; v++)
        if (head[v] != UINT32_MAX) t->place_component[v] = t->component[head[v]];
    return true;
}

// Sums -------------------------------------------------------------------------------------------

static void look(void *data, const cutis_judge_view *view)
{
    const trial *t = data;
    const cutis_judge_part *part = view->part;
    double *sums = t->sums + (size_t)view->pose * t->component_count * VALUES + 2 * view->row;
    for (uint32_t s = 0; s < part->spot_count; s++) {
        if (!part->copies[s]) continue;
        const double angle = cutis_judge_angle(view, s);
        sums[VALUES * t->place_component[part->place[s]]] += part->copies[s] * (angle * angle);
    }
    for (uint32_t v = 0; v < part->vertex_count; v++) {
        if (!part->moved[v]) continue;
        double square = 0;
        for (int c = 0; c < 3; c++) {
            const double d = view->original[3 * (size_t)v + c] - view->reduced[3 * (size_t)v + c];
            square += d * d;
        }
        sums[VALUES * t->component[part->vertex[v]] + 1] += square;
    }
}

static void add_totals(trial *t)
{
    const size_t poses = (size_t)t->r->clip_count + t->r->random_count;
    for (size_t p = 0; p < poses; p++)
        for (uint32_t c = 0; c < t->component_count; c++)
            for (int i = 0; i < VALUES; i++)
                t->totals[VALUES * p + i] += t->sums[(p * t->component_count + c) * VALUES + i];
}

// The poses that decide, as soon as it is known how much there is to blend.
static bool choose_poses(cutis_repair *r, uint32_t vertex_count)
{
    const size_t nodes = cutis_model_get(r->model)->node_count;
    const cutis_reduce_poses *p = r->poses;
    const uint64_t seed = r->options->seed ? r->options->seed : 1;
    double wanted = WORK / (vertex_count + 1.0);
    if (r->options->effort == CUTIS_REDUCE_FAST) wanted *= 0.25;
    r->clip_count = p->decide_count;
    r->random_count = p->random_count ? (uint32_t)fmin(MOST_POSES, fmax(LEAST_POSES, wanted)) : 0;
    r->draw_size = p->held_out_random_count;
    cutis_transform *poses = cutis_reduce_random_poses(
        r->model, r->device, seed + SEED_DECIDING, r->random_count, 0, r->clip_count, &r->arena);
    r->draws = cutis_arena_alloc(&r->arena, (size_t)SAMPLES * r->draw_size, sizeof *r->draws);
    if (!poses || !r->draws) return false;
    const size_t clips = r->clip_count * nodes, random = r->random_count * nodes;
    memmove(poses + clips, poses, random * sizeof *poses);
    if (clips) memcpy(poses, p->decide, clips * sizeof *poses);
    r->transforms = poses;
    for (size_t i = 0; i < (size_t)SAMPLES * r->draw_size; i++)
        r->draws[i] = (uint32_t)(cutis_random_unit(SEED_DECIDING, 1, i) * r->random_count);
    return true;
}

static cutis_result open_trial(trial *t, const cutis_reduce_weights *rows, uint8_t *moved)
{
    cutis_repair *r = t->r;
    uint8_t *differs = cutis_arena_zero(&t->arena, r->judge.vertex_count, 1);
    if (!differs) return cutis_alloc_result(r->context);
    cutis_judge_mark(&r->judge, rows, NULL, moved);
    cutis_judge_mark(&r->judge, rows + r->groups->count, NULL, moved);
    cutis_judge_mark(&r->judge, rows, rows + r->groups->count, differs);
    if (!cutis_judge_take(&r->judge, moved, &t->arena, &t->part) || !number_components(t, differs))
        return cutis_alloc_result(r->context);
    if (!r->transforms && !choose_poses(r, t->part.vertex_count))
        return cutis_alloc_result(r->context);
    const size_t poses = (size_t)r->clip_count + r->random_count;
    t->sums = cutis_arena_zero(&t->arena, poses * t->component_count, VALUES * sizeof *t->sums);
    t->totals = cutis_arena_zero(&t->arena, poses, VALUES * sizeof *t->totals);
    t->taken = cutis_arena_zero(&t->arena, t->component_count, 1);
    return t->sums && t->totals && t->taken ? CUTIS_OK : cutis_alloc_result(r->context);
}

static cutis_result make_trial(trial *t, const cutis_reduce_weights *weights)
{
    cutis_repair *r = t->r;
    const uint32_t groups = r->groups->count;
    if (!r->judge.model) {
        r->judge = (cutis_judge){ .model = r->model, .device = r->device, .groups = r->groups };
        TRY(cutis_judge_open(&r->judge, &r->arena));
    }
    cutis_reduce_weights *rows = cutis_arena_alloc(&t->arena, 2 * (size_t)groups, sizeof *rows);
    uint8_t *moved = cutis_arena_zero(&t->arena, r->judge.vertex_count, 1);
    if (!rows || !moved) return cutis_alloc_result(r->context);
    memcpy(rows, weights, groups * sizeof *rows);
    memcpy(rows + groups, r->largest, groups * sizeof *rows);
    TRY(open_trial(t, rows, moved));
    TRY(cutis_judge_run(&r->judge, &t->part, r->transforms, r->clip_count + r->random_count, rows,
                        2, true, look, t));
    add_totals(t);
    return CUTIS_OK;
}

// The verdict ------------------------------------------------------------------------------------

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// @param ours, largest  sums of squares over so many poses; what no file can hold counts as equal
static double ratio_of(const trial *t, int measure, double ours, double largest, size_t poses)
{
    const cutis_judge *j = &t->r->judge;
    const double small = measure % 2 ? SMALL_PART * j->extent : SMALL_ANGLE;
    const double least = small * small * (double)poses * (double)j->vertex_count;
    if (ours <= fmax(largest, least)) return largest > 0 ? fmin(1, sqrt(ours / largest)) : 1;
    return largest > 0 ? sqrt(ours / largest) : INFINITY;
}

static void find_ratio(const trial *t, int measure, cutis_repair_verdict *out)
{
    const cutis_repair *r = t->r;
    const bool clips = measure < 2;
    const size_t count = clips ? r->clip_count : r->random_count;
    const double *values = t->totals + (clips ? 0 : (size_t)VALUES * r->clip_count) + measure % 2;
    double ours = 0, largest = 0, sample[SAMPLES];
    for (size_t p = 0; p < count; p++)
        ours += values[VALUES * p], largest += values[VALUES * p + 2];
    out->ratio[measure] = ratio_of(t, measure, ours, largest, count);
    out->high[measure] = out->most[measure] = out->ratio[measure];
    if (clips || count == 0) return; // of frames there are no others of their kind
    for (size_t s = 0; s < SAMPLES; s++) {
        ours = largest = 0;
        for (uint32_t i = 0; i < r->draw_size; i++) {
            const size_t p = r->draws[s * r->draw_size + i];
            ours += values[VALUES * p], largest += values[VALUES * p + 2];
        }
        sample[s] = ratio_of(t, measure, ours, largest, r->draw_size);
    }
    qsort(sample, SAMPLES, sizeof *sample, ascending);
    const double ratio = out->ratio[measure], share = (double)r->draw_size / (double)count,
                 high = sample[SAMPLES * 84 / 100] - ratio,
                 most = sample[SAMPLES * 97 / 100] - ratio;
    out->doubt[measure] = fmax(0, high) * sqrt(share);
    out->high[measure] = ratio + high * sqrt(1 + share);
    out->most[measure] = ratio + most * sqrt(1 + share);
}

// How far the measure is from good: without the doubt, or a whole body that gains much in normals
// and little in positions would have k-largest's weights.
static double far_from_good(const cutis_repair_verdict *v, int i)
{
    return fmax(v->ratio[i] - 1 - EQUAL, v->high[i] - WORSE);
}

double cutis_repair_missing(const cutis_repair_verdict *v, int measure)
{
    return fmax(v->ratio[measure] + 2 * v->doubt[measure] - 1 - EQUAL, v->most[measure] - WORSE);
}

static void find_verdict(const trial *t, cutis_repair_verdict *out)
{
    uint32_t kinds = 0;
    *out = (cutis_repair_verdict){ .good = true, .secure = true };
    for (int i = 0; i < CUTIS_REPAIR_MEASURES; i++) {
        find_ratio(t, i, out);
        if (!cutis_repair_counts(t->r, i)) continue;
        out->good &= far_from_good(out, i) <= 0;
        out->secure &= cutis_repair_missing(out, i) <= 0;
        if (i % 2 == 0) out->normals += out->ratio[i], kinds++;
    }
    if (kinds) out->normals /= kinds;
}

cutis_result cutis_repair_judge(cutis_repair *r, const cutis_reduce_weights *weights,
                                cutis_repair_verdict *out)
{
    trial t = { .r = r, .arena.context = r->context };
    cutis_result result = make_trial(&t, weights);
    if (result == CUTIS_OK) find_verdict(&t, out);
    cutis_arena_release(&t.arena);
    return result;
}

// Taking back ------------------------------------------------------------------------------------

// How much a component is to blame for a measure: what it loses against k-largest, with what others
// may find on poses of theirs.
static double guilt(const trial *t, uint32_t c, int measure)
{
    const cutis_repair *r = t->r;
    const size_t first = measure < 2 ? 0 : r->clip_count,
                 count = measure < 2 ? r->clip_count : r->random_count;
    double sum = 0, square = 0;
    for (size_t p = first; p < first + count; p++) {
        const double *v = t->sums + (p * t->component_count + c) * VALUES + measure % 2;
        sum += v[0] - v[2], square += (v[0] - v[2]) * (v[0] - v[2]);
    }
    if (count == 0) return 0;
    const double mean = sum / (double)count,
                 variance = fmax(0, square / (double)count - mean * mean);
    return mean + (measure < 2 ? 0 : sqrt(variance / r->draw_size));
}

// What taking it back costs: normals, in parts of k-largest's.
static double worth(const trial *t, uint32_t c)
{
    const cutis_repair *r = t->r;
    double sum = 0;
    for (int kind = 0; kind < 2; kind++) {
        const size_t first = kind ? r->clip_count : 0,
                     count = kind ? r->random_count : r->clip_count;
        double gain = 0, all = 0;
        for (size_t p = first; p < first + count && cutis_repair_counts(r, 2 * kind); p++) {
            const double *v = t->sums + (p * t->component_count + c) * VALUES;
            gain += v[2] - v[0], all += t->totals[VALUES * p + 2];
        }
        if (all > 0) sum += fmax(0, gain / all);
    }
    return sum;
}

static void take_back(trial *t, uint32_t c)
{
    const size_t poses = (size_t)t->r->clip_count + t->r->random_count;
    for (size_t p = 0; p < poses; p++)
        for (int i = 0; i < 2; i++) {
            double *v = t->sums + (p * t->component_count + c) * VALUES + i;
            t->totals[VALUES * p + i] += v[2] - v[0];
            v[0] = v[2];
        }
    t->taken[c] = 1;
}

// One more component, by the measure that is furthest from good. @return whether there was one
static bool take_worst(trial *t, const cutis_repair_verdict *verdict)
{
    int measure = -1;
    double furthest = 0, most = -INFINITY;
    uint32_t worst = 0;
    for (int i = 0; i < CUTIS_REPAIR_MEASURES; i++) {
        const double over = far_from_good(verdict, i);
        if (!cutis_repair_counts(t->r, i) || !(over > furthest)) continue;
        furthest = over, measure = i;
    }
    for (uint32_t c = 1; c < t->component_count && measure >= 0; c++) {
        if (t->taken[c]) continue;
        const double own = guilt(t, c, measure), value = own > 0 ? own / (worth(t, c) + 1e-3) : own;
        if (value > most) most = value, worst = c;
    }
    if (!worst) return false;
    take_back(t, worst);
    return true;
}

// Units of components that were taken back have k-largest's weights.
static bool mix_weights(const trial *t, cutis_arena *arena, cutis_reduce_weights *weights)
{
    const uint32_t *component = t->component;
    for (uint32_t g = 0; g < t->r->groups->count; g++) {
        const cutis_reduce_group *group = &t->r->groups->group[g];
        const cutis_reduce_weights *other = &t->r->largest[g];
        const uint32_t units = group->unit_count;
        const size_t most = (size_t)other->first[units] + weights[g].first[units];
        uint8_t *back = cutis_arena_zero(arena, units, 1);
        cutis_reduce_weights mix = { cutis_arena_alloc(arena, (size_t)units + 1, sizeof(uint32_t)),
                                     cutis_arena_alloc(arena, most, sizeof(uint32_t)),
                                     cutis_arena_alloc(arena, most, sizeof(double)) };
        if (!back || !mix.first || !mix.control || !mix.weight) return false;
        for (uint32_t v = 0; v < group->source_count; v++)
            back[group->unit[v]] |= t->taken[*component++];
        uint32_t used = 0;
        for (uint32_t u = 0; u < units; u++) {
            const cutis_reduce_weights *from = back[u] ? other : &weights[g];
            mix.first[u] = used;
            for (uint32_t i = from->first[u]; i < from->first[u + 1]; i++) {
                mix.control[used] = from->control[i];
                mix.weight[used++] = from->weight[i];
            }
        }
        mix.first[units] = used;
        weights[g] = mix;
    }
    return true;
}

cutis_result cutis_repair_mix(cutis_repair *r, cutis_arena *arena, cutis_reduce_weights *weights,
                              bool *all, cutis_repair_verdict *out)
{
    trial t = { .r = r, .arena.context = r->context };
    cutis_result result = make_trial(&t, weights);
    *all = false;
    if (result == CUTIS_OK) {
        find_verdict(&t, out);
        while (!out->good && take_worst(&t, out)) find_verdict(&t, out);
        *all = t.component_count > 1;
        for (uint32_t c = 1; c < t.component_count; c++) *all &= t.taken[c];
        if (!mix_weights(&t, arena, weights)) result = cutis_alloc_result(r->context);
    }
    cutis_arena_release(&t.arena);
    return result;
}

void cutis_repair_close(cutis_repair *r)
{
    cutis_arena_release(&r->arena);
}
