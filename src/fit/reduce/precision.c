// The projection of S onto weights with linear precision: four equations, solved with a pseudo
// inverse (kept controls may lie in a plane); with bounds the active set comes from a stiff penalty
// and is then solved exactly. Invariant: the sum is 1, whatever else can be kept.
#include "fit/reduce/problem.h"

#include <math.h>
#include <string.h>

#define REDUCE_SET CUTIS_REDUCE_SET
#include "kernel/reduce_solve.h"

// Eigenvalues below this part of the largest belong to directions the kept controls do not span.
static const double CUT = 1e-10;
// Determinant with the diagonal scaled to 1, and least entry of the diagonal relative to its sum,
// from which on there are none: 0.4e-6 * 1e-3 is above the cut.
static const double WELL = 1e-6, SIZED = 1e-3;
// Weights beyond this come from thin tetrahedra and tear the surface when it moves.
static const double HUGE_WEIGHT = 3;
// Penalties in place of the equations: where they fix all weights, and where no non-negative
// weights keep them (docs/spec/reduction.md 2.5). The third only finds the active set.
static const double SOFT = 100, INFEASIBLE = 1e4, STIFF = 1e7;
static const double PRECISION = 1e-8;

// Columns (1, (c - v) / extent) of the kept controls.
static void load_columns(const cutis_reduce_problem *problem, uint32_t v, const uint32_t *controls,
                         uint32_t count, double (*column)[4])
{
    const double *p = problem->positions + 3 * (size_t)v, scale = 1 / problem->mesh->extent;
    for (uint32_t i = 0; i < count; i++) {
        const double *c = problem->rest + 3 * (size_t)controls[i];
        column[i][0] = 1;
        for (int k = 0; k < 3; k++) column[i][k + 1] = (c[k] - p[k]) * scale;
    }
}

// Eigenvalues and vectors (columns of q) of a symmetric 4 x 4 matrix, by cyclic Jacobi.
static void eigen4(double a[4][4], double q[4][4])
{
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) q[i][j] = i == j;
    for (int sweep = 0; sweep < 30; sweep++) {
        double off = 0;
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < i; j++) off += a[i][j] * a[i][j];
        if (off == 0) return;
        for (int i = 1; i < 4; i++)
            for (int j = 0; j < i; j++) {
                if (a[i][j] == 0) continue;
                double theta = (a[j][j] - a[i][i]) / (2 * a[i][j]);
                double t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(theta * theta + 1));
                double c = 1 / sqrt(t * t + 1), s = t * c;
                for (int k = 0; k < 4; k++) {
                    double x = a[k][i], y = a[k][j];
                    a[k][i] = c * x - s * y, a[k][j] = s * x + c * y;
                }
                for (int k = 0; k < 4; k++) {
                    double x = a[i][k], y = a[j][k];
                    a[i][k] = c * x - s * y, a[j][k] = s * x + c * y;
                    x = q[k][i], y = q[k][j];
                    q[k][i] = c * x - s * y, q[k][j] = s * x + c * y;
                }
            }
    }
}

// The inverse by symmetric pivots, where no eigenvalue can be near the cut: with the diagonal
// scaled to 1 the least one is at least 0.4 of the determinant. @return whether that was seen
static bool plain_inverse(const double normal[4][4], double inverse[4][4])
{
    double a[4][4], part = 1, least = INFINITY, sum = 0;
    memcpy(a, normal, sizeof a);
    for (int k = 0; k < 4; k++) least = fmin(least, a[k][k]), sum += a[k][k];
    for (int k = 0; k < 4; k++) {
        const double pivot = 1 / a[k][k];
        part *= a[k][k] / normal[k][k];
        if (!(part > WELL && least > SIZED * sum)) return false;
        for (int r = 0; r < 4; r++) {
            if (r == k) continue;
            const double factor = a[r][k] * pivot;
            for (int c = 0; c < 4; c++)
                if (c != k) a[r][c] -= factor * a[k][c];
            a[r][k] = -factor;
        }
        for (int c = 0; c < 4; c++)
            if (c != k) a[k][c] *= pivot;
        a[k][k] = pivot;
    }
    for (int r = 0; r < 4; r++)
        for (int c = 0; c < 4; c++) inverse[r][c] = 0.5 * (a[r][c] + a[c][r]);
    return true;
}

// (B B^T)^+ of the controls.
static void pseudo_inverse(const double (*column)[4], uint32_t count, double inverse[4][4])
{
    double normal[4][4] = { { 0 } }, q[4][4], largest = 0;
    for (uint32_t i = 0; i < count; i++)
        for (int r = 0; r < 4; r++)
            for (int c = 0; c < 4; c++) normal[r][c] += column[i][r] * column[i][c];
    if (plain_inverse((const double(*)[4])normal, inverse)) return;
    eigen4(normal, q);
    for (int k = 0; k < 4; k++) largest = fmax(largest, normal[k][k]);
    for (int r = 0; r < 4; r++)
        for (int c = 0; c < 4; c++) {
            inverse[r][c] = 0;
            for (int k = 0; k < 4; k++)
                if (normal[k][k] > CUT * largest) inverse[r][c] += q[r][k] * q[c][k] / normal[k][k];
        }
}

// a = y - B^T (B B^T)^+ (B y - d), d = (1, 0, 0, 0). Twice: the second time takes rounding out.
static void project_hard(const double (*column)[4], uint32_t count, const double inverse[4][4],
                         double *weights)
{
    for (int pass = 0; pass < 2; pass++) {
        double miss[4] = { -1, 0, 0, 0 }, move[4] = { 0 };
        for (uint32_t i = 0; i < count; i++)
            for (int r = 0; r < 4; r++) miss[r] += column[i][r] * weights[i];
        for (int r = 0; r < 4; r++)
            for (int c = 0; c < 4; c++) move[r] += inverse[r][c] * miss[c];
        for (uint32_t i = 0; i < count; i++)
            for (int r = 0; r < 4; r++) weights[i] -= column[i][r] * move[r];
    }
}

static double distance_from_vertex(double (*column)[4], uint32_t count, const double *weights)
{
    double miss[3] = { 0 };
    for (uint32_t i = 0; i < count; i++)
        for (int r = 0; r < 3; r++) miss[r] += column[i][r + 1] * weights[i];
    return sqrt(miss[0] * miss[0] + miss[1] * miss[1] + miss[2] * miss[2]);
}

// min |a - y|^2 + penalty |sum a c - v|^2 / extent^2 with sum a = 1.
static void project_soft(double (*column)[4], uint32_t count, const double *desired, double penalty,
                         bool negative, double *weights)
{
    double gram[CUTIS_REDUCE_SET * CUTIS_REDUCE_SET];
    for (uint32_t r = 0; r < count; r++) {
        weights[r] = 1.0 / count;
        for (uint32_t c = 0; c < count; c++) {
            double sum = r == c;
            for (int k = 1; k < 4; k++) sum += penalty * column[r][k] * column[c][k];
            gram[r * count + c] = sum;
        }
    }
    reduce_solve((int)count, gram, desired, weights, negative);
}

static void precise_signed(double (*column)[4], uint32_t count, const double inverse[4][4],
                           const double *desired, double *weights)
{
    double largest = 0;
    memcpy(weights, desired, count * sizeof *weights);
    if (count > 4) project_hard((const double(*)[4])column, count, inverse, weights);
    for (uint32_t i = 0; i < count; i++) largest = fmax(largest, fabs(weights[i]));
    if (count <= 4 || largest > HUGE_WEIGHT)
        project_soft(column, count, desired, SOFT, true, weights);
}

static void precise_bounded(double (*column)[4], uint32_t count, const double *desired,
                            double *weights)
{
    uint32_t active = 0;
    double trial[CUTIS_REDUCE_SET] = { 0 }, inverse[4][4];
    double some[CUTIS_REDUCE_SET][4], part[CUTIS_REDUCE_SET];
    if (count <= 4) {
        project_soft(column, count, desired, SOFT, false, weights);
        return;
    }
    project_soft(column, count, desired, STIFF, false, weights);
    for (uint32_t i = 0; i < count; i++)
        if (weights[i] > 0) {
            memcpy(some[active], column[i], sizeof *some);
            part[active++] = desired[i];
        }
    pseudo_inverse((const double(*)[4])some, active, inverse);
    project_hard((const double(*)[4])some, active, (const double(*)[4])inverse, part);
    for (uint32_t i = 0, k = 0; i < count; i++)
        if (weights[i] > 0) trial[i] = part[k++];
    bool fits = distance_from_vertex(column, count, trial) <= PRECISION / 10;
    for (uint32_t i = 0; i < count; i++) fits = fits && trial[i] >= 0;
    if (fits)
        memcpy(weights, trial, count * sizeof *weights);
    else
        project_soft(column, count, desired, INFEASIBLE, false, weights);
}

void cutis_reduce_precision(const cutis_reduce_problem *problem, uint32_t vertex,
                            const uint32_t *controls, uint32_t count, double inverse[4][4])
{
    double column[CUTIS_REDUCE_SET][4];
    load_columns(problem, vertex, controls, count, column);
    pseudo_inverse((const double(*)[4])column, count, inverse);
}

void cutis_reduce_precise(const cutis_reduce_problem *problem, uint32_t vertex,
                          const uint32_t *controls, uint32_t count, const double inverse[4][4],
                          double *weights)
{
    double column[CUTIS_REDUCE_SET][4], desired[CUTIS_REDUCE_SET];
    memcpy(desired, weights, count * sizeof *desired);
    load_columns(problem, vertex, controls, count, column);
    if (problem->negative)
        precise_signed(column, count, inverse, desired, weights);
    else
        precise_bounded(column, count, desired, weights);
    double sum = 0;
    for (uint32_t i = 0; i < count; i++) sum += weights[i];
    for (uint32_t i = 0; i < count; i++) weights[i] /= sum;
}

uint32_t cutis_reduce_count_imprecise(const cutis_reduce_problem *problem,
                                      const cutis_reduce_state *state)
{
    uint32_t missed = 0;
    for (uint32_t v = 0; v < problem->mesh->vertex_count; v++) {
        double column[CUTIS_REDUCE_SET][4];
        uint32_t begin = state->first[v], count = state->first[v + 1] - begin;
        load_columns(problem, v, state->control + begin, count, column);
        missed += !(distance_from_vertex(column, count, state->weight + begin) <= PRECISION);
    }
    return missed;
}
