// Updates of sweeps, one vertex a lane (kernel/reduce_wide.h with eight): what the neighbours wish
// is gathered lane by lane, the solves run side by side, and lanes whose active set changes are
// searched one by one. Invariant: vertices of a block are of one colour, so nothing that one of
// them writes is read by another.
#include "fit/reduce_lanes.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "fit/clones.h"
#include "fit/reduce_exchange.h"
#include "fit/reduce_normals.h"
#include "fit/reduce_solve.h"
#include "fit/reduce_vertex.h"
//
#define KERNEL_DOUBLE
#define KERNEL_LANES 8
#include "kernel/kernel.h"
//
#include "kernel/item.h"

#define REDUCE_SET        CUTIS_REDUCE_SET
#define REDUCE_CANDIDATES CUTIS_REDUCE_CANDIDATES
#include "kernel/reduce_wide.h"

_Static_assert(KERNEL_LANES == CUTIS_REDUCE_LANES && KERNEL_LANES == REDUCE_BLOCK,
               "a block is a vector");
enum { LANES = CUTIS_REDUCE_LANES };

// The arrays of one update: per row, and lines of one lane. Under the energy of normals `wish` is
// the force.
typedef struct workspace {
    REAL *wish, *own, *rest, *error;
    double *line;
} workspace;
enum { LINES = 8 };

size_t cutis_reduce_lanes_scratch(const cutis_reduce_problem *problem)
{
    const size_t rows = 3 * (size_t)problem->column_count;
    return 4 * rows * sizeof(REAL) + LINES * rows * sizeof(double) + sizeof(REAL);
}

static workspace lay_out(void *scratch, uint32_t rows)
{
    const uintptr_t align = sizeof(REAL);
    REAL *wish = (REAL *)(((uintptr_t)scratch + align - 1) / align * align);
    return (workspace){ wish, wish + rows, wish + 2 * rows, wish + 3 * rows,
                        (double *)(wish + 4 * rows) };
}

// What lane-wise gathering finds out about the vertices of a block.
typedef struct gathered {
    REAL stiffness; ///< what multiplies the squared distance from the wish in the energy
    INT idle;       ///< nothing to do here
} gathered;

// The error a vertex would have if it were free: its neighbours' average. false: zero, as it is
// now.
static bool free_error(const cutis_reduce_problem *problem, const double *error, uint32_t v,
                       uint32_t rows, double weight, double *restrict out)
{
    const cutis_reduce_mesh *mesh = problem->mesh;
    const double *own = error + (size_t)v * rows;
    for (uint32_t r = 0; r < rows; r++) out[r] = 0;
    for (uint32_t i = mesh->first[v]; i < mesh->first[v + 1]; i++) {
        const double *other = error + (size_t)mesh->neighbour[i] * rows, l = mesh->cotangent[i];
        for (uint32_t r = 0; r < rows; r++) out[r] += l * other[r];
    }
    double size = 0;
    for (uint32_t r = 0; r < rows; r++) out[r] *= weight;
    for (uint32_t r = 0; r < rows; r++) size += fabs(out[r]) + fabs(own[r]);
    return size > 0;
}

// Row weight of the paper's energy: 1 / area, so that the sum approximates the integral.
static double row_weight(const cutis_reduce_mesh *mesh, uint32_t v)
{
    return 1 / mesh->area[v];
}

// The same under the paper's energy. @return what multiplies the square, or 0: nothing to do
static double free_laplace(const cutis_reduce_sweeper *s, uint32_t v, uint32_t rows,
                           double *restrict out)
{
    const cutis_reduce_mesh *mesh = s->problem->mesh;
    const double *own = s->state->error + (size_t)v * rows;
    double m = row_weight(mesh, v), l = -mesh->diagonal[v], a = m * l * l, size = 0;
    for (uint32_t r = 0; r < rows; r++) out[r] = m * l * s->rho[(size_t)v * rows + r];
    for (uint32_t i = mesh->first[v]; i < mesh->first[v + 1]; i++) {
        const uint32_t u = mesh->neighbour[i];
        const double w = row_weight(mesh, u), c = mesh->cotangent[i];
        a += w * c * c;
        for (uint32_t r = 0; r < rows; r++) out[r] += w * c * s->rho[(size_t)u * rows + r];
    }
    if (!(a > 0)) return 0;
    for (uint32_t r = 0; r < rows; r++) {
        size += fabs(out[r]);
        out[r] = own[r] - out[r] / a;
    }
    return size > 0 ? a : 0;
}

// Wishes and errors of a block's vertices into their lanes.
static gathered gather(const cutis_reduce_sweeper *s, uint32_t block, workspace w)
{
    const cutis_reduce_problem *problem = s->problem;
    const uint32_t rows = 3 * problem->column_count;
    const uint32_t *vertex = s->blocks->vertex + (size_t)block * LANES;
    double *wish = (double *)w.wish, *own = (double *)w.own;
    gathered out = { ZERO, ZERO != ZERO };
    for (uint32_t l = 0; l < LANES; l++) {
        const uint32_t v = vertex[l];
        double d = 0;
        if (v != UINT32_MAX && s->turns) {
            d = cutis_reduce_turns_force(s->turns, v, s->state->error, w.line, w.line + rows);
        } else if (v != UINT32_MAX && s->laplace) {
            d = free_laplace(s, v, rows, w.line);
        } else if (v != UINT32_MAX) {
            d = problem->mesh->diagonal[v] + cutis_reduce_anchor(problem, v);
            if (!free_error(problem, s->state->error, v, rows, 1 / d, w.line) &&
                !(s->prior->lambda > 0))
                d = 0;
        }
        out.stiffness[l] = d;
        out.idle[l] = d > 0 ? 0 : -1;
        const double *error = s->state->error + (size_t)(v == UINT32_MAX ? 0 : v) * rows;
        for (uint32_t r = 0; r < rows; r++) {
            wish[r * LANES + l] = d > 0 ? w.line[r] : 0;
            own[r * LANES + l] = d > 0 ? error[r] : 0;
        }
    }
    return out;
}

// What the prior wishes the weights of a block to be.
static void gather_prior(const cutis_reduce_sweeper *s, uint32_t block, const gathered *g,
                         REAL *wished)
{
    const uint32_t n = s->blocks->size[block];
    double line[CUTIS_REDUCE_SET];
    for (uint32_t i = 0; i < n; i++) wished[i] = ZERO;
    for (uint32_t l = 0; l < LANES; l++) {
        const uint32_t v = s->blocks->vertex[(size_t)block * LANES + l];
        if (v == UINT32_MAX) continue;
        cutis_reduce_prior_wish(s->problem, s->state, s->prior, v, 1 / g->stiffness[l], line);
        for (uint32_t i = 0; i < n; i++) wished[i][l] = line[i];
    }
}

// New errors of a block to their vertices; under the paper's energy also to the residuals around,
// under that of normals to the turns.
static void scatter(const cutis_reduce_sweeper *s, uint32_t block, const gathered *g, workspace w)
{
    const cutis_reduce_mesh *mesh = s->problem->mesh;
    const uint32_t rows = 3 * s->problem->column_count;
    const double *error = (const double *)w.error, *own = (const double *)w.own;
    for (uint32_t l = 0; l < LANES; l++) {
        const uint32_t v = s->blocks->vertex[(size_t)block * LANES + l];
        if (g->idle[l]) continue;
        double *out = s->state->error + (size_t)v * rows, *step = w.line;
        for (uint32_t r = 0; r < rows; r++) out[r] = error[r * LANES + l];
        if (!s->laplace && !s->turns) continue;
        for (uint32_t r = 0; r < rows; r++) step[r] = out[r] - own[r * LANES + l];
        if (s->turns) {
            cutis_reduce_turns_move(s->turns, v, step, step + rows);
            continue;
        }
        double *rho = s->rho + (size_t)v * rows;
        for (uint32_t r = 0; r < rows; r++) rho[r] += -mesh->diagonal[v] * step[r];
        for (uint32_t i = mesh->first[v]; i < mesh->first[v + 1]; i++) {
            rho = s->rho + (size_t)mesh->neighbour[i] * rows;
            for (uint32_t r = 0; r < rows; r++) rho[r] += mesh->cotangent[i] * step[r];
        }
    }
}

// The metric of a block's lanes, or NULL.
static const double *metric_of(const cutis_reduce_sweeper *s, uint32_t block)
{
    const size_t entries = 6 * (size_t)s->problem->column_count;
    return s->turns ? s->blocks->metric + (size_t)block * entries * LANES : NULL;
}

// Lanes whose active controls change, one by one.
static void search_lanes(const cutis_reduce_sweeper *s, uint32_t block, INT wrong, const REAL *push,
                         const REAL *old, workspace w, REAL *now)
{
    const cutis_reduce_blocks *blocks = s->blocks;
    const uint32_t n = blocks->size[block], rows = 3 * s->problem->column_count;
    const size_t slot = (size_t)blocks->slot_first[block] * LANES;
    cutis_reduce_search search = {
        .count = n, .rows = rows, .negative = s->problem->negative, .lambda = s->prior->lambda
    };
    double push_line[CUTIS_REDUCE_SET], old_line[CUTIS_REDUCE_SET], now_line[CUTIS_REDUCE_SET];
    const double *metric = metric_of(s, block);
    const REAL *wish = w.wish;
    if (metric) { // F + A e
        for (uint32_t r = 0; r < rows; r++) w.rest[r] = w.own[r];
        reduce_apply_metric((int)rows, metric, w.rest);
        for (uint32_t r = 0; r < rows; r++) w.rest[r] += w.wish[r];
        wish = w.rest;
    }
    for (uint32_t l = 0; l < LANES; l++) {
        if (!wrong[l]) continue;
        for (uint32_t i = 0; i < n; i++) {
            push_line[i] = push[i][l];
            old_line[i] = old[i][l];
        }
        for (uint32_t r = 0; r < rows; r++) w.line[r] = wish[r][l];
        search.metric = metric ? metric + l : NULL;
        search.offset = blocks->offset + slot * rows + l;
        search.kept = blocks->kept + (size_t)blocks->kept_first[block] * LANES + l;
        search.active = &blocks->active[(size_t)block * LANES + l];
        search.wish = w.line, search.rest = w.line + rows;
        search.push = push_line, search.old = old_line;
        cutis_reduce_search_set(&search, now_line);
        for (uint32_t i = 0; i < n; i++) now[i][l] = now_line[i];
    }
}

static INT attempt(const cutis_reduce_sweeper *s, uint32_t block, const REAL *push, workspace w,
                   REAL *old, REAL *now)
{
    const cutis_reduce_blocks *blocks = s->blocks;
    const int n = (int)blocks->size[block], rows = 3 * (int)s->problem->column_count;
    const size_t slot = (size_t)blocks->slot_first[block] * LANES;
    const double *weight = blocks->weight + slot;
    INT active = *(const reduce_loose *)(blocks->active + (size_t)block * LANES);
    for (int i = 0; i < n; i++) old[i] = ENTRY(weight, i);
    if (s->turns)
        return reduce_attempt_turned(n, rows, blocks->offset + slot * (size_t)rows,
                                     blocks->kept + (size_t)blocks->kept_first[block] * LANES,
                                     metric_of(s, block), active, s->problem->negative, w.wish,
                                     w.own, old, w.rest, now);
    return reduce_attempt(n, rows, blocks->offset + slot * (size_t)rows,
                          blocks->kept + (size_t)blocks->kept_first[block] * LANES, active,
                          s->problem->negative, w.wish, w.own, push, old, w.rest, now);
}

// Weights and errors from the solutions. @return by how much the energy fell, per lane
static REAL finish(const cutis_reduce_sweeper *s, uint32_t block, const gathered *g,
                   const REAL *wished, workspace w, const REAL *old, REAL *now)
{
    const cutis_reduce_blocks *blocks = s->blocks;
    const int n = (int)blocks->size[block], rows = 3 * (int)s->problem->column_count;
    const size_t slot = (size_t)blocks->slot_first[block] * LANES;
    double *weight = blocks->weight + slot;
    REAL before = ZERO, after = ZERO, strayed = ZERO, stray = ZERO;
    reduce_finish(n, rows, blocks->offset + slot * (size_t)rows, s->problem->negative, s->omega,
                  g->idle, old, now, w.error);
    for (int i = 0; i < n; i++) PUT_ENTRY(weight, i, now[i]);
    if (s->turns)
        return SELECT(
            g->idle, ZERO,
            reduce_fall_turned(rows, metric_of(s, block), w.wish, w.own, w.error, w.rest));
    for (int r = 0; r < rows; r++) {
        before += (w.own[r] - w.wish[r]) * (w.own[r] - w.wish[r]);
        after += (w.error[r] - w.wish[r]) * (w.error[r] - w.wish[r]);
    }
    if (s->prior->lambda > 0) {
        for (int i = 0; i < n; i++) {
            strayed += (old[i] - wished[i]) * (old[i] - wished[i]);
            stray += (now[i] - wished[i]) * (now[i] - wished[i]);
        }
        before += s->prior->lambda * strayed;
        after += s->prior->lambda * stray;
    }
    return SELECT(g->idle, ZERO, g->stiffness * (before - after));
}

// Vertices of the block that look for a better set do so alone, and are left out of the rest.
static void reselect_lanes(const cutis_reduce_sweeper *s, uint32_t block, gathered *g, workspace w,
                           double *falls)
{
    const uint32_t rows = 3 * s->problem->column_count;
    for (uint32_t l = 0; l < LANES; l++) {
        const uint32_t v = s->blocks->vertex[(size_t)block * LANES + l];
        if (g->idle[l] || !cutis_reduce_may_exchange(s->problem, s->state, v)) continue;
        for (uint32_t r = 0; r < rows; r++) w.line[r] = w.wish[r][l];
        if (s->turns)
            falls[l] = cutis_reduce_normals_exchange(s->problem, s->state, s->blocks, s->turns, v,
                                                     w.line, w.line + rows, (float *)w.rest);
        else
            falls[l] = g->stiffness[l] * cutis_reduce_exchange(s->problem, s->state, s->blocks, v,
                                                               w.line, w.line + rows);
        g->idle[l] = -1;
    }
}

// The lanes that are not idle. `falls`: theirs are set.
static void update_lanes(const cutis_reduce_sweeper *s, uint32_t block, const gathered *g,
                         workspace w, double *falls)
{
    const uint32_t n = s->blocks->size[block];
    const bool prior = s->prior->lambda > 0;
    const double *weight = s->blocks->weight + (size_t)s->blocks->slot_first[block] * LANES;
    REAL old[CUTIS_REDUCE_SET], now[CUTIS_REDUCE_SET], push[CUTIS_REDUCE_SET],
        wished[CUTIS_REDUCE_SET];
    old[0] = push[0] = ZERO; // for the analyzer, which takes n for 0
    if (prior) gather_prior(s, block, g, wished);
    for (uint32_t i = 0; i < n; i++)
        push[i] = prior ? s->prior->lambda * (wished[i] - ENTRY(weight, i)) : ZERO;
    INT wrong = (attempt(s, block, push, w, old, now) == 0) & (g->idle == 0);
    if (reduce_any(wrong)) search_lanes(s, block, wrong, push, old, w, now);
    REAL down = finish(s, block, g, wished, w, old, now);
    scatter(s, block, g, w);
    if (prior) cutis_reduce_prior_note(s->state, s->blocks, block);
    for (uint32_t l = 0; l < LANES; l++)
        if (!g->idle[l]) falls[l] = down[l];
}

CUTIS_FIT_CLONES_WHOLE
double cutis_reduce_lanes_update(const cutis_reduce_sweeper *s, uint32_t block, void *scratch)
{
    const uint32_t n = s->blocks->size[block], rows = 3 * s->problem->column_count;
    double falls[LANES] = { 0 }, fall = 0;
    if (n < 2) return 0;
    workspace w = lay_out(scratch, rows);
    gathered g = gather(s, block, w);
    if (s->reselect) reselect_lanes(s, block, &g, w, falls);
    if (reduce_any(g.idle == 0)) update_lanes(s, block, &g, w, falls);
    for (uint32_t l = 0; l < LANES; l++) fall += falls[l];
    return fall;
}
// A block's own records are read straight on, but the errors around lie apart: ask for them while
// another block is solved.
void cutis_reduce_lanes_fetch(const cutis_reduce_sweeper *s, uint32_t block)
{
    const cutis_reduce_mesh *mesh = s->problem->mesh;
    const size_t rows = 3 * (size_t)s->problem->column_count;
    for (uint32_t l = 0; l < LANES; l++) {
        const uint32_t v = s->blocks->vertex[(size_t)block * LANES + l];
        if (v == UINT32_MAX) continue;
        for (uint32_t i = mesh->first[v]; i < mesh->first[v + 1]; i++) {
            const double *error = s->state->error + mesh->neighbour[i] * rows;
            __builtin_prefetch(error);
            __builtin_prefetch(error + rows - 1);
        }
        if (s->turns) cutis_reduce_turns_fetch(s->turns, v);
    }
}

CUTIS_FIT_CLONES
void cutis_reduce_lanes_keep(const cutis_reduce_problem *problem, const cutis_reduce_blocks *blocks,
                             double lambda, uint32_t block)
{
    const int n = (int)blocks->size[block], rows = 3 * (int)problem->column_count;
    const size_t slot = (size_t)blocks->slot_first[block] * LANES;
    const double *weight = blocks->weight + slot;
    REAL gram[TRIANGLE(CUTIS_REDUCE_SET)], row[CUTIS_REDUCE_SET];
    INT active = ZERO != ZERO;
    if (n < 2) return; // never solved
    for (int i = 0; i < TRIANGLE(n); i++) gram[i] = ZERO;
    if (blocks->metric)
        reduce_gram_turned(n, rows, blocks->offset + slot * (size_t)rows,
                           blocks->metric + (size_t)block * 2 * (size_t)rows * LANES, gram);
    else
        reduce_gram(n, rows, blocks->offset + slot * (size_t)rows, gram);
    REAL mean = reduce_mean_diagonal(n, gram);
    for (int i = 0; i < n; i++) {
        INT positive = problem->negative ? ZERO == ZERO : ENTRY(weight, i) > ZERO;
        active |= positive & ((INT1)1 << i);
    }
    INT good = reduce_keep(n, gram, mean, CUTIS_REDUCE_PROXIMAL * mean + lambda, active, row,
                           blocks->kept + (size_t)blocks->kept_first[block] * LANES);
    *(reduce_loose *)(blocks->active + (size_t)block * LANES) = good & active;
}
