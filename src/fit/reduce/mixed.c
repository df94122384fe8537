// Reduction by moments on a whole model. Invariant: what was found before is a start of the next
// search, so solving again with other weights of the kinds begins where it ended.
#include "fit/reduce/mixed.h"

#include <string.h>

#include "base/error.h"

// Of positions beside normals, in units of what k-largest does: 0.1 is too little for limbs.
static const double POSITIONS = 0.3;
static const double BUDGET = 4e9; // bytes of the forms
static const double GPU_WORTH =
    3e8; // below, a GPU's start (0.3 s) takes longer than the host's work
static const uint32_t STARTS[3] = { 24, 0, 96 }; // by effort: normal, fast, best

static cutis_result open_device(cutis_mixed *x)
{
    if (x->device && !x->device->operations->compute_run) return CUTIS_OK;
    const cutis_device_options options = { .thread_count =
                                               x->device ? x->device->task_threads : 1 };
    cutis_result result = cutis_device_create(x->context, &options, &x->own);
    x->gpu = x->device;
    x->device = x->own;
    return result;
}

static cutis_result open_forms(cutis_mixed *x, uint32_t limit)
{
    x->size = 0;
    for (uint32_t g = 0; g < x->groups->count; g++) {
        const cutis_reduce_group *group = &x->groups->group[g];
        x->forms[g] = (cutis_moments){
            .context = x->context,
            .device = x->device,
            .gpu = x->gpu,
            .group = group,
            .control_count = cutis_model_get(x->model)->skins[group->skin].joint_count,
            .influences = x->options->influences,
            .limit = limit,
            .every = x->bounded,
        };
        if (group->closed) x->forms[g].closed = group->closed, x->forms[g].prior = group->prior;
        TRY(cutis_moments_open(&x->forms[g], &x->arena));
        if (x->bounded) { // vertices begin with one influence (bound.c)
            uint8_t *most = cutis_arena_alloc(&x->arena, x->forms[g].free_count, 1);
            if (!most) return cutis_alloc_result(x->context);
            memset(most, 1, x->forms[g].free_count);
            x->forms[g].most = most;
        }
        x->size += cutis_moments_size(&x->forms[g]);
    }
    return CUTIS_OK;
}

// Poses of a kind on their way to matrices.
typedef struct palettes {
    const cutis_mixed *mixed;
    const cutis_transform *poses;
    uint32_t count;
    cutis_mat34 *world; ///< node_count a task
    double **matrices;  ///< per group
} palettes;
enum { PALETTE_TASKS = 16 };

static void palette_task(void *data, uint32_t task)
{
    const palettes *p = data;
    const cutis_mixed *x = p->mixed;
    const size_t nodes = cutis_model_get(x->model)->node_count;
    cutis_mat34 *world = p->world + task * nodes;
    for (uint32_t i = task; i < p->count; i += PALETTE_TASKS) {
        cutis_pose_world(x->model, p->poses + i * nodes, world);
        for (uint32_t g = 0; g < x->groups->count; g++)
            cutis_reduce_palette(x->model, &x->groups->group[g], world,
                                 p->matrices[g] + 12 * (size_t)x->forms[g].control_count * i);
    }
}

static bool make_matrices(cutis_mixed *x, const cutis_transform *poses, uint32_t count, int kind)
{
    const size_t nodes = cutis_model_get(x->model)->node_count;
    palettes p = { .mixed = x, .poses = poses, .count = count };
    p.world = cutis_arena_alloc(&x->arena, PALETTE_TASKS * nodes, sizeof *p.world);
    p.matrices = cutis_arena_alloc(&x->arena, x->groups->count, sizeof *p.matrices);
    if (!p.world || !p.matrices) return false;
    for (uint32_t g = 0; g < x->groups->count; g++) {
        const size_t entries = 12 * (size_t)x->forms[g].control_count;
        p.matrices[g] = cutis_arena_alloc(&x->arena, count, entries * sizeof(double));
        if (!p.matrices[g]) return false;
        x->kinds[g][kind] = (cutis_moments_poses){ .matrices = p.matrices[g], .count = count };
    }
    cutis_device_run(x->device, palette_task, &p, PALETTE_TASKS);
    return true;
}

// k-largest as weights of all candidates.
static bool make_start(cutis_mixed *x, uint32_t g)
{
    const cutis_moments *m = &x->forms[g];
    cutis_moments_state *state = &x->states[g];
    double *start = cutis_arena_zero(&x->arena, m->slot_first[m->free_count], sizeof *start);
    double *keys = cutis_arena_alloc(&x->arena, m->slot_first[m->free_count], sizeof *keys);
    if (!start || !keys || !cutis_moments_state_create(m, &x->arena, state)) return false;
    for (uint32_t f = 0; f < m->free_count; f++)
        for (uint32_t i = m->slot_first[f]; i < m->slot_first[f + 1]; i++)
            keys[i] = cutis_moments_prior(m, m->free_unit[f], m->slot[i]);
    cutis_moments_pick(m, keys, state);
    for (uint32_t f = 0; f < m->free_count; f++)
        for (uint32_t i = 0; i < state->count[f]; i++) {
            const size_t at = (size_t)f * m->influences + i;
            start[m->slot_first[f] + state->index[at]] = state->weight[at];
        }
    x->start[g] = start;
    return true;
}

cutis_result cutis_mixed_open(cutis_mixed *x, bool *fits)
{
    const uint32_t groups = x->groups->count;
    const double budget = x->budget = x->options->memory > 0 ? x->options->memory : BUDGET;
    const uint32_t few = x->options->influences > CUTIS_MOMENTS_NARROW / 2 ? CUTIS_MOMENTS_WIDE
                                                                           : CUTIS_MOMENTS_NARROW;
    x->forms = cutis_arena_zero(&x->arena, groups, sizeof *x->forms);
    x->start = cutis_arena_zero(&x->arena, groups, sizeof *x->start);
    x->states = cutis_arena_zero(&x->arena, groups, sizeof *x->states);
    x->kinds = cutis_arena_zero(&x->arena, groups, sizeof *x->kinds);
    if (!x->forms || !x->start || !x->states || !x->kinds) return cutis_alloc_result(x->context);
    TRY(open_device(x));
    TRY(open_forms(x, CUTIS_MOMENTS_WIDE));
    if (x->size > budget) {
        x->narrow = true;
        TRY(open_forms(x, few));
    }
    *fits = x->size <= budget;
    if (!*fits) return CUTIS_OK;
    for (uint32_t g = 0; g < groups; g++) {
        x->forms[g].roomy = 3 * x->size <= budget;
        if (x->size < GPU_WORTH) x->forms[g].gpu = NULL;
    }
    const cutis_reduce_poses *poses = x->poses;
    bool good = make_matrices(x, poses->clip_learned, poses->clip_count, CUTIS_MIXED_CLIPS) &&
                make_matrices(x, poses->random_learned, poses->random_count, CUTIS_MIXED_RANDOM);
    for (uint32_t g = 0; g < groups && good; g++) good = make_start(x, g);
    const double mix = x->options->mix > 0 ? x->options->mix : 1;
    x->normal[CUTIS_MIXED_CLIPS] = 1, x->position[CUTIS_MIXED_CLIPS] = POSITIONS;
    x->normal[CUTIS_MIXED_RANDOM] = mix, x->position[CUTIS_MIXED_RANDOM] = mix * POSITIONS;
    return good ? CUTIS_OK : cutis_alloc_result(x->context);
}

uint32_t cutis_mixed_kinds(const cutis_mixed *x, uint32_t g, cutis_moments_poses *out)
{
    uint32_t count = 0;
    for (int k = 0; k < CUTIS_MIXED_KINDS; k++) {
        if (x->kinds[g][k].count == 0) continue;
        out[count] = x->kinds[g][k];
        out[count].normal = x->normal[k];
        out[count++].position = x->position[k];
    }
    return count;
}

static cutis_result solve_group(cutis_mixed *x, uint32_t g, bool again, cutis_arena *own)
{
    cutis_moments *m = &x->forms[g];
    cutis_moments_poses kinds[CUTIS_MIXED_KINDS];
    const uint32_t kind_count = cutis_mixed_kinds(x, g, kinds);
    uint32_t curve_count = 0;
    double curve[CUTIS_MOMENTS_CURVE] = { 0 };
    const uint64_t seed = x->options->seed ? x->options->seed : 1;
    const cutis_moments_effort effort = { again ? 0 : STARTS[x->options->effort], seed };
    TRY(cutis_moments_form(m, &x->arena, kinds, kind_count, x->start[g]));
    if (again) x->states[g].energy = 0; // the weights found before are a start
    TRY(cutis_moments_solve(m, own, &effort, &x->states[g], curve, &curve_count));
    x->energy += x->states[g].energy;
    x->curve_count = curve_count;
    for (uint32_t i = 0; i < curve_count; i++) x->curve[i] += curve[i];
    return CUTIS_OK;
}

cutis_result cutis_mixed_solve(cutis_mixed *x)
{
    const bool again = x->curve_count > 0;
    cutis_result result = CUTIS_OK;
    x->energy = 0;
    memset(x->curve, 0, sizeof x->curve);
    for (uint32_t g = 0; g < x->groups->count && result == CUTIS_OK; g++) {
        cutis_arena own = { .context = x->context };
        if (x->forms[g].free_count) result = solve_group(x, g, again, &own);
        cutis_arena_release(&own);
    }
    return result;
}

cutis_result cutis_mixed_bend(cutis_mixed *x)
{
    cutis_result result = CUTIS_OK;
    for (uint32_t g = 0; g < x->groups->count && result == CUTIS_OK; g++) {
        cutis_moments_poses kinds[CUTIS_MIXED_KINDS];
        const uint32_t kind_count = cutis_mixed_kinds(x, g, kinds);
        cutis_arena own = { .context = x->context };
        cutis_moments *m = &x->forms[g];
        if (m->free_count) {
            result = cutis_moments_bend(m, &own, kinds, kind_count, &x->states[g]);
            if (result == CUTIS_OK) result = cutis_moments_settle(m, &own, true, &x->states[g]);
        }
        m->linear = NULL;
        cutis_arena_release(&own);
    }
    return result;
}

bool cutis_mixed_weights(const cutis_mixed *x, uint32_t g, cutis_arena *arena,
                         cutis_reduce_weights *out)
{
    const cutis_moments *m = &x->forms[g];
    const cutis_reduce_group *group = m->group;
    const cutis_moments_state *state = &x->states[g];
    const size_t units = group->unit_count, most = group->first[units];
    out->first = cutis_arena_alloc(arena, units + 1, sizeof *out->first);
    out->control = cutis_arena_alloc(arena, most, sizeof *out->control);
    out->weight = cutis_arena_alloc(arena, most, sizeof *out->weight);
    if (!out->first || !out->control || !out->weight) return false;
    uint32_t used = 0;
    for (uint32_t u = 0; u < units; u++) {
        const uint32_t begin = group->first[u], count = group->first[u + 1] - begin;
        const int32_t f = m->unit_free[u];
        double dense[CUTIS_MOMENTS_WIDE] = { 0 };
        out->first[u] = used;
        for (uint32_t i = 0; f < 0 && i < count; i++) {
            out->control[used] = group->control[begin + i];
            out->weight[used++] = group->weight[begin + i];
        }
        if (f < 0) continue;
        const size_t at = (size_t)f * m->influences;
        for (uint32_t i = 0; i < state->count[f]; i++)
            dense[state->index[at + i]] = state->weight[at + i];
        for (uint32_t i = m->slot_first[f]; i < m->slot_first[f + 1]; i++) {
            if (!(dense[i - m->slot_first[f]] > 0)) continue;
            out->control[used] = group->control[begin + m->slot[i]];
            out->weight[used++] = dense[i - m->slot_first[f]];
        }
    }
    out->first[units] = used;
    return true;
}

void cutis_mixed_close(cutis_mixed *x)
{
    cutis_arena_release(&x->arena);
    cutis_device_destroy(x->own);
}
