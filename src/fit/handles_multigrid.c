// Multigrid on voxels: coarse nodes are blocks of 2 x 2 x 2, so every level has the same
// six-neighbour form. Smoothing goes by colours (red, black; on the way up black, red), which makes
// the cycle symmetric and independent of the order of nodes within a colour. Sums run in chunks of
// fixed size, then over the chunks in order: the same bits for any number of threads.
#include "fit/handles_multigrid.h"

#include <math.h>
#include <string.h>

#include "fit/clones.h"

#define LANES      CUTIS_HANDLES_LANES
#define CHUNK      1024 ///< nodes a task
#define SUM        CUTIS_HANDLES_SUM
#define COARSE     CUTIS_HANDLES_COARSE
#define SWEEPS     CUTIS_HANDLES_SWEEPS
#define CYCLES_MAX CUTIS_HANDLES_CYCLES
#define AHEAD      12 ///< nodes: neighbours of the node so far on are fetched into the caches
/// Two blocks' centres are two steps apart, their faces' conductances one step long: half of the
/// sum is what the block grid would have. Without it the coarse correction comes out half as long.
static const double STRETCH = 0.5;

// Levels
// --------------------------------------------------------------------------------------------

// A node without a neighbour reads itself with conductance 0: what it reads must be finite from the
// start.
static double *alloc_zero(cutis_arena *arena, uint32_t count)
{
    double *values = cutis_arena_alloc(arena, count, LANES * sizeof *values);
    if (values) memset(values, 0, (size_t)count * LANES * sizeof *values);
    return values;
}

static bool alloc_level(cutis_arena *arena, uint32_t count, bool coarse, cutis_handles_level *level)
{
    level->count = count;
    level->cell = cutis_arena_alloc(arena, count, 3 * sizeof(uint32_t));
    level->parent = cutis_arena_alloc(arena, count, sizeof(uint32_t));
    level->neighbour = cutis_arena_alloc(arena, (size_t)count + AHEAD, 6 * sizeof(uint32_t));
    level->conductance = cutis_arena_alloc(arena, count, 6 * sizeof(double));
    level->diagonal = cutis_arena_alloc(arena, count, sizeof(double));
    level->inverse = cutis_arena_alloc(arena, count, sizeof(double));
    if (coarse) {
        level->b = cutis_arena_alloc(arena, count, LANES * sizeof(double));
        level->x = alloc_zero(arena, count);
    }
    if (level->neighbour)
        memset(level->neighbour + 6 * (size_t)count, 0, AHEAD * 6 * sizeof(uint32_t));
    return level->neighbour && level->conductance && level->diagonal && level->inverse &&
           level->cell && level->parent && (!coarse || (level->b && level->x));
}

static bool number_finest(cutis_arena *arena, const uint32_t *fixed, cutis_handles_system *system)
{
    const cutis_handles_grid *grid = system->grid;
    cutis_handles_level *level = &system->levels[0];
    uint32_t count = 0, at = 0, cell[3];
    for (uint32_t v = 0; v < grid->voxel_count; v++) count += fixed[v] == CUTIS_HANDLES_NONE;
    if (!alloc_level(arena, count, false, level)) return false;
    for (uint32_t color = 0; color < 2; color++) {
        for (uint32_t v = 0; v < grid->voxel_count; v++) {
            if (fixed[v] != CUTIS_HANDLES_NONE) continue;
            cutis_handles_voxel_cell(grid, v, cell);
            if (((cell[0] + cell[1] + cell[2]) & 1) != color) continue;
            memcpy(level->cell + 3 * (size_t)at, cell, sizeof cell);
            system->voxel[at] = v;
            system->node[v] = at++;
        }
        if (color == 0) level->red_count = at;
    }
    return true;
}

static void fill_finest(const uint32_t *fixed, const double *conductance,
                        cutis_handles_system *system)
{
    const cutis_handles_grid *grid = system->grid;
    cutis_handles_level *level = &system->levels[0];
    for (uint32_t i = 0; i < level->count; i++) {
        size_t v = system->voxel[i];
        double sum = 0;
        for (int d = 0; d < 6; d++) {
            uint32_t m = grid->neighbour[6 * v + d];
            bool free = m != CUTIS_HANDLES_NONE && fixed[m] == CUTIS_HANDLES_NONE;
            if (m != CUTIS_HANDLES_NONE) sum += conductance[6 * v + d];
            level->neighbour[6 * (size_t)i + d] = free ? system->node[m] : i;
            level->conductance[6 * (size_t)i + d] = free ? conductance[6 * v + d] : 0;
        }
        level->diagonal[i] = sum;
        level->inverse[i] = 1 / sum;
    }
}

// Number the blocks: colour by colour, each in the order of its first child.
static uint32_t number_blocks(cutis_handles_level *fine, const uint32_t *size, uint32_t *block,
                              uint32_t *red_count)
{
    uint32_t used = 0;
    size_t total = (size_t)size[0] * size[1] * size[2];
    for (size_t i = 0; i < total; i++) block[i] = CUTIS_HANDLES_NONE;
    for (uint32_t color = 0; color < 2; color++) {
        for (uint32_t i = 0; i < fine->count; i++) {
            const uint32_t *cell = fine->cell + 3 * (size_t)i;
            uint32_t x = cell[0] / 2, y = cell[1] / 2, z = cell[2] / 2;
            if (((x + y + z) & 1) != color) continue;
            uint32_t *at = &block[((size_t)z * size[1] + y) * size[0] + x];
            if (*at == CUTIS_HANDLES_NONE) *at = used++;
            fine->parent[i] = *at;
        }
        if (color == 0) *red_count = used;
    }
    return used;
}

static bool link_children(cutis_arena *arena, const cutis_handles_level *fine,
                          cutis_handles_level *coarse)
{
    coarse->child_first = cutis_arena_alloc(arena, (size_t)coarse->count + 1, sizeof(uint32_t));
    coarse->child = cutis_arena_alloc(arena, fine->count, sizeof(uint32_t));
    coarse->order = cutis_arena_alloc(arena, coarse->count, sizeof(uint32_t));
    if (!coarse->child_first || !coarse->child || !coarse->order) return false;
    memset(coarse->child_first, 0, ((size_t)coarse->count + 1) * sizeof(uint32_t));
    for (uint32_t i = 0; i < fine->count; i++) coarse->child_first[fine->parent[i] + 1]++;
    for (uint32_t i = 0; i < coarse->count; i++)
        coarse->child_first[i + 1] += coarse->child_first[i];
    for (uint32_t i = 0; i < fine->count; i++)
        coarse->child[coarse->child_first[fine->parent[i]]++] = i;
    for (uint32_t i = coarse->count; i > 0; i--)
        coarse->child_first[i] = coarse->child_first[i - 1];
    coarse->child_first[0] = 0;
    for (uint32_t i = 0, at = 0; i < fine->count; i++)
        if (coarse->child[coarse->child_first[fine->parent[i]]] == i)
            coarse->order[at++] = fine->parent[i];
    for (uint32_t i = 0; i < fine->count; i++)
        for (int c = 0; c < 3; c++)
            coarse->cell[3 * (size_t)fine->parent[i] + c] = fine->cell[3 * (size_t)i + c] / 2;
    return true;
}

static void sum_conductances(const cutis_handles_level *fine, cutis_handles_level *coarse)
{
    for (uint32_t i = 0; i < coarse->count; i++) {
        uint32_t *neighbour = coarse->neighbour + 6 * (size_t)i;
        double *conductance = coarse->conductance + 6 * (size_t)i, leak = 0;
        for (int d = 0; d < 6; d++) neighbour[d] = i, conductance[d] = 0;
        for (uint32_t e = coarse->child_first[i]; e < coarse->child_first[i + 1]; e++) {
            size_t child = coarse->child[e];
            double inner = 0;
            for (int d = 0; d < 6; d++) {
                double c = fine->conductance[6 * child + d];
                uint32_t other = fine->parent[fine->neighbour[6 * child + d]];
                inner += c;
                if (c == 0 || other == i) continue;
                neighbour[d] = other;
                conductance[d] += STRETCH * c;
            }
            leak += fine->diagonal[child] - inner;
        }
        double sum = fmax(leak, 0);
        for (int d = 0; d < 6; d++) sum += conductance[d];
        coarse->diagonal[i] = sum;
        coarse->inverse[i] = sum > 0 ? 1 / sum : 0;
    }
}

static bool number_coarse(cutis_arena *arena, cutis_handles_system *system, uint32_t *block)
{
    uint32_t size[3];
    memcpy(size, system->grid->size, sizeof size);
    system->level_count = 1;
    while (system->level_count < CUTIS_HANDLES_LEVELS) {
        cutis_handles_level *fine = &system->levels[system->level_count - 1];
        if (fine->count <= COARSE) break;
        for (int c = 0; c < 3; c++) size[c] = (size[c] + 1) / 2;
        uint32_t red = 0, count = number_blocks(fine, size, block, &red);
        if (count == fine->count) break; // pieces of single voxels do not get coarser
        cutis_handles_level *coarse = &system->levels[system->level_count];
        if (!alloc_level(arena, count, true, coarse) || !link_children(arena, fine, coarse))
            return false;
        coarse->red_count = red;
        system->level_count++;
    }
    return true;
}

// Number nodes and blocks, link them: everything but values.
static bool number_levels(cutis_arena *arena, const cutis_handles_grid *grid, const uint32_t *fixed,
                          cutis_handles_system *out)
{
    *out = (cutis_handles_system){ .grid = grid };
    out->node = cutis_arena_alloc(arena, grid->voxel_count, sizeof(uint32_t));
    out->voxel = cutis_arena_alloc(arena, grid->voxel_count, sizeof(uint32_t));
    if (!out->node || !out->voxel) return false;
    for (uint32_t v = 0; v < grid->voxel_count; v++) out->node[v] = CUTIS_HANDLES_NONE;
    if (!number_finest(arena, fixed, out)) return false;
    size_t blocks = 1;
    for (int c = 0; c < 3; c++) blocks *= (grid->size[c] + 1) / 2;
    uint32_t *block = cutis_alloc_array(arena->context, blocks, sizeof *block);
    if (!block) return false;
    bool good = number_coarse(arena, out, block);
    cutis_free_array(arena->context, block, blocks, sizeof *block);
    out->visits = cutis_handles_visits(out);
    out->lanes = LANES;
    return good;
}

bool cutis_handles_system_create(cutis_arena *arena, const cutis_handles_grid *grid,
                                 const uint32_t *fixed, const double *conductance,
                                 cutis_handles_system *out)
{
    if (!number_levels(arena, grid, fixed, out)) return false;
    fill_finest(fixed, conductance, out);
    for (uint32_t l = 1; l < out->level_count; l++)
        sum_conductances(&out->levels[l - 1], &out->levels[l]);
    const uint32_t n = out->levels[0].count;
    double **vectors[] = { &out->x, &out->z, &out->r, &out->p, &out->q };
    bool good = true;
    for (int i = 0; i < 5; i++) { // the last three are written before they are read
        *vectors[i] =
            i < 2 ? alloc_zero(arena, n) : cutis_arena_alloc(arena, n, LANES * sizeof(double));
        good &= *vectors[i] != NULL;
    }
    out->partial = cutis_arena_alloc(arena, (size_t)n / SUM + 1, LANES * sizeof(double));
    return good && out->partial;
}

// Work on ranges of nodes
// ---------------------------------------------------------------------------

typedef struct work {
    cutis_handles_system *system;
    const cutis_handles_level *level, *coarse;
    const double *b;
    double *x;
    uint32_t begin, end; ///< nodes
    double scale[LANES]; ///< alpha or beta
} work;

/// A task for eight, four or two fields.
typedef struct laned {
    void (*of[3])(void *data, uint32_t task);
} laned;

// One text, compiled for each number of fields, so that loops over them are vectors.
#define INLINE static inline __attribute__((always_inline))
#define LANED(name)                                                                                \
    INLINE void name##_lanes(void *data, uint32_t task, const int lanes);                          \
    CUTIS_FIT_CLONES static void name##_8(void *data, uint32_t task)                               \
    {                                                                                              \
        name##_lanes(data, task, 8);                                                               \
    }                                                                                              \
    CUTIS_FIT_CLONES static void name##_4(void *data, uint32_t task)                               \
    {                                                                                              \
        name##_lanes(data, task, 4);                                                               \
    }                                                                                              \
    CUTIS_FIT_CLONES static void name##_2(void *data, uint32_t task)                               \
    {                                                                                              \
        name##_lanes(data, task, 2);                                                               \
    }                                                                                              \
    static const laned name = { { name##_8, name##_4, name##_2 } };                                \
    INLINE void name##_lanes(void *data, uint32_t task, const int lanes)

// sum of conductance * neighbour value
INLINE void around(const cutis_handles_level *level, const double *x, size_t i, const int lanes,
                   double *sum)
{
    for (int d = 0; d < 6; d++)
        __builtin_prefetch(x + lanes * (size_t)level->neighbour[6 * (i + AHEAD) + d]);
    for (int l = 0; l < lanes; l++) sum[l] = 0;
    for (int d = 0; d < 6; d++) {
        const double c = level->conductance[6 * i + d];
        const double *other = x + lanes * (size_t)level->neighbour[6 * i + d];
        for (int l = 0; l < lanes; l++) sum[l] += c * other[l];
    }
}

static bool chunk_of(const work *w, uint32_t task, uint32_t *begin, uint32_t *end)
{
    *begin = w->begin + task * CHUNK;
    *end = w->end - *begin > CHUNK ? *begin + CHUNK : w->end;
    return *begin < *end;
}

LANED(smooth_task)
{
    const work *w = data;
    uint32_t begin, end;
    chunk_of(w, task, &begin, &end);
    for (size_t i = begin; i < end; i++) {
        double sum[LANES];
        around(w->level, w->x, i, lanes, sum);
        for (int l = 0; l < lanes; l++)
            w->x[lanes * i + l] = (w->b[lanes * i + l] + sum[l]) * w->level->inverse[i];
    }
}

LANED(divide_task)
{
    const work *w = data;
    uint32_t begin, end;
    chunk_of(w, task, &begin, &end);
    for (size_t i = begin; i < end; i++)
        for (int l = 0; l < lanes; l++)
            w->x[lanes * i + l] = w->b[lanes * i + l] * w->level->inverse[i];
}

// Residuals of the red children (black ones have none after their sweep), summed into their block.
LANED(restrict_task)
{
    const work *w = data;
    const cutis_handles_level *fine = w->level, *coarse = w->coarse;
    uint32_t begin, end;
    chunk_of(w, task, &begin, &end);
    for (size_t k = begin; k < end; k++) {
        const size_t j = coarse->order[k];
        double total[LANES] = { 0 };
        for (uint32_t e = coarse->child_first[j]; e < coarse->child_first[j + 1]; e++) {
            size_t i = coarse->child[e];
            if (i >= fine->red_count) continue;
            double sum[LANES];
            around(fine, w->x, i, lanes, sum);
            for (int l = 0; l < lanes; l++)
                total[l] += w->b[lanes * i + l] + sum[l] - fine->diagonal[i] * w->x[lanes * i + l];
        }
        for (int l = 0; l < lanes; l++) coarse->b[lanes * j + l] = total[l];
    }
}

LANED(prolong_task)
{
    const work *w = data;
    uint32_t begin, end;
    chunk_of(w, task, &begin, &end);
    for (size_t i = begin; i < end; i++) {
        const double *from = w->coarse->x + lanes * (size_t)w->level->parent[i];
        for (int l = 0; l < lanes; l++) w->x[lanes * i + l] += from[l];
    }
}

static void run(cutis_device *device, const laned *task, work *w, uint32_t begin, uint32_t end)
{
    const uint32_t lanes = w->system->lanes;
    w->begin = begin, w->end = end;
    // A range of two chunks is done before another thread has woken up.
    uint32_t count = (end - begin + CHUNK - 1) / CHUNK;
    cutis_device_run(count > 2 ? device : NULL,
                     task->of[lanes == 8   ? 0
                              : lanes == 4 ? 1
                                           : 2],
                     w, count);
}

// One cycle on a level: x = M^-1 b, where x counts as zero at first, or x += M^-1 (b - A x).
static void cycle(cutis_handles_system *system, cutis_device *device, uint32_t visits,
                  uint32_t depth, bool zero, const double *b, double *x)
{
    const cutis_handles_level *level = &system->levels[depth];
    work w = { .system = system, .level = level, .b = b, .x = x };
    const uint32_t red = level->red_count, all = level->count;
    run(device, zero ? &divide_task : &smooth_task, &w, 0, red);
    run(device, &smooth_task, &w, red, all);
    if (depth + 1 == system->level_count) {
        for (int sweep = 0; sweep < SWEEPS; sweep++) {
            run(device, &smooth_task, &w, 0, red);
            run(device, &smooth_task, &w, red, all);
        }
    } else {
        cutis_handles_level *coarse = &system->levels[depth + 1];
        w.coarse = coarse;
        run(device, &restrict_task, &w, 0, coarse->count);
        for (uint32_t visit = 0; visit < (depth == 0 ? visits : 1); visit++)
            cycle(system, device, visits, depth + 1, visit == 0, coarse->b, coarse->x);
        run(device, &prolong_task, &w, 0, red);
        run(device, &smooth_task, &w, red, all);
    }
    run(device, &smooth_task, &w, 0, red);
}

// Conjugate gradients
// -------------------------------------------------------------------------------

// Sums of a task's nodes go SUM nodes at a time, whatever CHUNK is.
static size_t sum_end(size_t begin, size_t end)
{
    return end - begin > SUM ? begin + SUM : end;
}

LANED(apply_task)
{
    work *w = data;
    cutis_handles_system *s = w->system;
    uint32_t begin, end;
    chunk_of(w, task, &begin, &end);
    for (size_t from = begin; from < end; from += SUM) {
        double total[LANES] = { 0 };
        for (size_t i = from; i < sum_end(from, end); i++) {
            double sum[LANES];
            around(w->level, s->p, i, lanes, sum);
            for (int l = 0; l < lanes; l++) {
                double value = w->level->diagonal[i] * s->p[lanes * i + l] - sum[l];
                s->q[lanes * i + l] = value;
                total[l] += value * s->p[lanes * i + l];
            }
        }
        memcpy(s->partial + lanes * (from / SUM), total, lanes * sizeof *total);
    }
}

// x += alpha p, r -= alpha q; the partial "sum" is the largest |r| / diagonal.
LANED(advance_task)
{
    work *w = data;
    cutis_handles_system *s = w->system;
    uint32_t begin, end;
    chunk_of(w, task, &begin, &end);
    for (size_t from = begin; from < end; from += SUM) {
        double worst[LANES] = { 0 };
        for (size_t i = from; i < sum_end(from, end); i++)
            for (int l = 0; l < lanes; l++) {
                size_t at = lanes * i + l;
                s->x[at] += w->scale[l] * s->p[at];
                s->r[at] -= w->scale[l] * s->q[at];
                double size = fabs(s->r[at]) * w->level->inverse[i];
                worst[l] = size > worst[l] ? size : worst[l];
            }
        memcpy(s->partial + lanes * (from / SUM), worst, lanes * sizeof *worst);
    }
}

LANED(dot_task)
{
    work *w = data;
    cutis_handles_system *s = w->system;
    uint32_t begin, end;
    chunk_of(w, task, &begin, &end);
    for (size_t from = begin; from < end; from += SUM) {
        double total[LANES] = { 0 };
        for (size_t i = from; i < sum_end(from, end); i++)
            for (int l = 0; l < lanes; l++) total[l] += s->r[lanes * i + l] * s->z[lanes * i + l];
        memcpy(s->partial + lanes * (from / SUM), total, lanes * sizeof *total);
    }
}

LANED(turn_task)
{
    work *w = data;
    cutis_handles_system *s = w->system;
    uint32_t begin, end;
    chunk_of(w, task, &begin, &end);
    for (size_t i = begin; i < end; i++)
        for (int l = 0; l < lanes; l++)
            s->p[lanes * i + l] = s->z[lanes * i + l] + w->scale[l] * s->p[lanes * i + l];
}

static void sum_partials(const cutis_handles_system *system, double *out)
{
    const int lanes = (int)system->lanes;
    uint32_t sums = (system->levels[0].count + SUM - 1) / SUM;
    for (int l = 0; l < lanes; l++) out[l] = 0;
    for (uint32_t c = 0; c < sums; c++)
        for (int l = 0; l < lanes; l++) out[l] += system->partial[lanes * (size_t)c + l];
}

// Which fields have converged: they stop for good, so what else is solved beside them does not
// matter.
static bool all_done(const cutis_handles_system *system, double tolerance, bool *done)
{
    const int lanes = (int)system->lanes;
    uint32_t sums = (system->levels[0].count + SUM - 1) / SUM;
    bool all = true;
    for (int l = 0; l < lanes; l++) {
        double worst = 0;
        for (uint32_t c = 0; c < sums; c++)
            worst = fmax(worst, system->partial[lanes * (size_t)c + l]);
        done[l] |= worst < tolerance;
        all &= done[l];
    }
    return all;
}

// r = b - A x for the start in x, where b gathers the fixed neighbours of each owner.
static void first_residual(cutis_handles_system *s, const uint32_t *fixed,
                           const double *conductance, uint32_t first)
{
    const uint32_t lanes = s->lanes;
    const cutis_handles_level *level = &s->levels[0];
    for (size_t i = 0; i < level->count; i++) {
        double sum[LANES];
        around(level, s->x, i, (int)lanes, sum);
        for (uint32_t l = 0; l < lanes; l++)
            s->r[lanes * i + l] = sum[l] - level->diagonal[i] * s->x[lanes * i + l];
        size_t v = s->voxel[i];
        for (int d = 0; d < 6; d++) {
            uint32_t m = s->grid->neighbour[6 * v + d];
            if (m == CUTIS_HANDLES_NONE || fixed[m] < first || fixed[m] - first >= lanes) continue;
            s->r[lanes * i + (fixed[m] - first)] += conductance[6 * v + d];
        }
    }
}

void cutis_handles_system_solve(cutis_handles_system *system, cutis_device *device,
                                const uint32_t *fixed, const double *conductance, uint32_t first,
                                double tolerance)
{
    const uint32_t n = system->levels[0].count;
    const int lanes = (int)system->lanes;
    work w = { .system = system, .level = &system->levels[0] };
    double rho[LANES] = { 0 }, next[LANES] = { 0 }, curvature[LANES] = { 0 };
    uint32_t visits = system->visits;
    bool done[LANES] = { false };
    if (n == 0) return;
    first_residual(system, fixed, conductance, first);
    memset(system->p, 0, (size_t)lanes * n * sizeof *system->p);
    for (uint32_t iteration = 1; iteration <= CYCLES_MAX; iteration++) {
        if (iteration > CUTIS_HANDLES_PATIENCE && visits > 1) {
            visits = 1;
            memset(rho, 0, sizeof rho); // another preconditioner: from here on anew
        }
        cycle(system, device, visits, 0, true, system->r, system->z);
        run(device, &dot_task, &w, 0, n);
        sum_partials(system, next);
        for (int l = 0; l < lanes; l++) {
            w.scale[l] = rho[l] > 0 ? next[l] / rho[l] : 0;
            rho[l] = next[l];
        }
        run(device, &turn_task, &w, 0, n);
        run(device, &apply_task, &w, 0, n);
        sum_partials(system, curvature);
        // A field that has converged to the last bit has nothing left to go along.
        for (int l = 0; l < lanes; l++)
            w.scale[l] = !done[l] && curvature[l] > 0 && rho[l] > 0 ? rho[l] / curvature[l] : 0;
        run(device, &advance_task, &w, 0, n);
        if (iteration > system->iteration_count) system->iteration_count = iteration;
        if (all_done(system, tolerance, done)) break;
    }
}
