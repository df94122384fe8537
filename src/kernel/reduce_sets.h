/// Sets of controls by backward elimination, KERNEL_LANES vertices a team (kernel/team.h): on
/// a GPU 32 lanes do one vertex, whose matrices do not fit into a work item's near memory; on a CPU
/// one lane does eight. Also what other kernels do alone: lists of candidates, Gram matrices,
/// inverses.
///
/// Invariant: entries of a matrix are shared out among the lanes of a team, every entry with the
/// same sums in the same order whatever their number.
#ifndef CUTIS_KERNEL_REDUCE_SETS_H
#define CUTIS_KERNEL_REDUCE_SETS_H

#include "reduce.h"
#include "team.h"

// Memory of a team, as a variable and behind a pointer.
#if defined(KERNEL_OPENCL) && !defined(TEAM_ALONE)
#define TEAM_MEMORY LOCAL
#define TEAM_SPACE  LOCAL
#elif defined(KERNEL_CUDA) && !defined(TEAM_ALONE)
#define TEAM_MEMORY LOCAL
#define TEAM_SPACE
#elif defined(TEAM_HOST)
#define TEAM_MEMORY static
#define TEAM_SPACE
#else
#define TEAM_MEMORY
#define TEAM_SPACE
#endif

// A team finds the place of an influence among the others by comparing it with all of them, if they
// are no more than this.
#define REDUCE_RANKED 256

// The `limit` largest influences of [begin, end) by magnitude (ties: the lower), ascending.
FN void reduce_largest(GLOBAL const double *weight, int begin, int end, int limit,
                       TEAM_SPACE int *list)
{
    int count = 0;
    // Held by falling magnitude while the list fills; strict comparison keeps the lower of equals.
    for (int i = begin; i < end; i++) {
        double size = MAGNITUDE(weight[i]);
        if (count == limit && !(size > MAGNITUDE(weight[list[count - 1]]))) continue;
        int at = count < limit ? count++ : count - 1;
        for (; at > 0 && MAGNITUDE(weight[list[at - 1]]) < size; at--) list[at] = list[at - 1];
        list[at] = i;
    }
    for (int i = 1; i < count; i++) {
        int moved = list[i], at = i;
        for (; at > 0 && list[at - 1] > moved; at--) list[at] = list[at - 1];
        list[at] = moved;
    }
}

// The same by the lanes of a team.
FN void reduce_ranked(GLOBAL const double *weight, int begin, int end, int limit,
                      TEAM_SPACE int *list TEAM_PARAM)
{
    int used = 0;
    for (int base = begin; base < end; base += TEAM_LANES) {
        int i = base + TEAM_LANE, mine = 0, rank = 0;
        if (i < end) {
            double size = MAGNITUDE(weight[i]);
            for (int k = begin; k < end; k++) {
                double other = MAGNITUDE(weight[k]);
                rank += other > size || (other == size && k < i);
            }
            mine = rank < limit;
        }
        int at = used + team_before(mine);
        if (mine) list[at] = i;
        used += team_total(mine);
    }
}

// The candidates of a vertex, as ascending indices into the influence arrays. @return how many
WIDE_FN int reduce_candidates(const reduce_problem *p, int v, TEAM_SPACE int *list TEAM_PARAM)
{
    const int begin = p->first[v], end = p->first[v + 1], limit = p->sizes.limit;
    if (end - begin <= limit) {
        TEAM_EACH (i, 0, end - begin) list[i] = begin + i;
    } else if (TEAM_LANES > 1 && end - begin <= REDUCE_RANKED) {
        reduce_ranked(p->weight, begin, end, limit, list TEAM_PASS);
    } else if (TEAM_LANE == 0) {
        reduce_largest(p->weight, begin, end, limit, list);
    }
    TEAM_SYNC;
    return end - begin < limit ? end - begin : limit;
}

// Offsets ---------------------------------------------------------------------------------------

// Where a control takes a vertex along one axis, less the target. m: a row of its matrix
FN float reduce_offset(GLOBAL const double *m, GLOBAL const double *position, double target)
{
    return (float)(m[0] * position[0] + m[1] * position[1] + m[2] * position[2] + m[3] - target);
}

FN GLOBAL const double *reduce_matrix(const reduce_problem *p, int pose, int control)
{
    return p->matrices + 12 * ((INDEX)pose * p->sizes.controls + control);
}

// Offsets of the n controls of a list in poses [from, from + poses), into lane l of `chunk`.
FN void reduce_offsets(const reduce_problem *p, int v, TEAM_SPACE const int *list, int n, int from,
                       int poses, int l, TEAM_SPACE float *chunk)
{
    GLOBAL const double *position = p->positions + 3 * (INDEX)v;
    GLOBAL const double *target = p->target + 3 * ((INDEX)v * p->columns + from);
    TEAM_EACH (i, 0, n) {
        TEAM_SPACE float *out = chunk + 3 * i * poses * KERNEL_LANES + l;
        const int control = p->control[list[i]];
        for (int j = 0; j < poses; j++) {
            GLOBAL const double *m = reduce_matrix(p, from + j, control);
            for (int c = 0; c < 3; c++)
                out[(3 * j + c) * KERNEL_LANES] =
                    reduce_offset(m + 4 * c, position, target[3 * j + c]);
        }
    }
}

// Matrices --------------------------------------------------------------------------------------

// gram += offset^T offset: the lower triangle row after row, rows of the offsets ascending. A
// column a lane, four rows at a time, so that none waits for the others' sums.
WIDE_FN void reduce_gram(int n, int rows, TEAM_SPACE const float *offset,
                         TEAM_SPACE REAL *gram TEAM_PARAM)
{
    int i = 0;
    for (; i + 4 <= n; i += 4) {
        TEAM_EACH (k, 0, i + 1) {
            const int at = TRIANGLE(i) + k;
            REAL a = gram[at], b = gram[at + i + 1], c = gram[at + 2 * i + 3];
            REAL d = gram[at + 3 * i + 6];
            for (int r = 0; r < rows; r++) {
                REAL other = NEAR_FLOAT(offset, k * rows + r);
                a += NEAR_FLOAT(offset, i * rows + r) * other;
                b += NEAR_FLOAT(offset, (i + 1) * rows + r) * other;
                c += NEAR_FLOAT(offset, (i + 2) * rows + r) * other;
                d += NEAR_FLOAT(offset, (i + 3) * rows + r) * other;
            }
            gram[at] = a;
            gram[at + i + 1] = b;
            gram[at + 2 * i + 3] = c;
            gram[at + 3 * i + 6] = d;
        }
        TEAM_EACH (e, 0, 6) { // what is left of these rows: 1, 2 and 3 entries
            const int down = e < 1 ? 1 : e < 3 ? 2 : 3, row = i + down;
            const int column = i + 1 + e - TRIANGLE(down - 1), at = TRIANGLE(row) + column;
            REAL sum = gram[at];
            for (int r = 0; r < rows; r++)
                sum += NEAR_FLOAT(offset, row * rows + r) * NEAR_FLOAT(offset, column * rows + r);
            gram[at] = sum;
        }
    }
    for (; i < n; i++)
        TEAM_EACH (k, 0, i + 1) {
            REAL sum = gram[TRIANGLE(i) + k];
            for (int r = 0; r < rows; r++)
                sum += NEAR_FLOAT(offset, i * rows + r) * NEAR_FLOAT(offset, k * rows + r);
            gram[TRIANGLE(i) + k] = sum;
        }
    TEAM_SYNC;
}

FN REAL reduce_mean_diagonal(int n, TEAM_SPACE const REAL *gram)
{
    REAL sum = ZERO;
    for (int i = 0; i < n; i++) sum += gram[TRIANGLE(i) + i];
    return sum / SPLAT((double)n);
}

// a -= f f^T share, in the lower triangle, a row a lane.
FN void reduce_downdate(int n, TEAM_SPACE const REAL *f, REAL share, TEAM_SPACE REAL *a TEAM_PARAM)
{
    TEAM_EACH (r, 0, n) {
        REAL factor = f[r] * share;
        TEAM_SPACE REAL *line = a + TRIANGLE(r);
        int c = 0;
        for (; c + 4 <= r + 1; c += 4) {
            line[c] -= factor * f[c];
            line[c + 1] -= factor * f[c + 1];
            line[c + 2] -= factor * f[c + 2];
            line[c + 3] -= factor * f[c + 3];
        }
        for (; c <= r; c++) line[c] -= factor * f[c];
    }
    TEAM_SYNC;
}

// Inverse of positive definite matrices in place (lower triangles), pivot after pivot: what is
// swept stands with its sign changed until the end. `row`: scratch. @return lanes whose pivots were
// all positive
WIDE_FN INT reduce_invert(int n, TEAM_SPACE REAL *a, TEAM_SPACE REAL *row TEAM_PARAM)
{
    INT good = ALL_LANES;
    for (int p = 0; p < n; p++) {
        REAL pivot = a[TRIANGLE(p) + p];
        good = good & (pivot > ZERO) & (pivot <= SPLAT(REDUCE_MOST));
        REAL inverse = ONE / SELECT(good, pivot, ONE);
        TEAM_EACH (i, 0, n) // its own row and column stay as they are
            row[i] = i == p ? ZERO : a[reduce_packed(p, i)];
        TEAM_SYNC;
        reduce_downdate(n, row, inverse, a TEAM_PASS);
        TEAM_EACH (i, 0, n) a[reduce_packed(p, i)] = i == p ? -inverse : row[i] * inverse;
        TEAM_SYNC;
    }
    TEAM_EACH (e, 0, TRIANGLE(n)) a[e] = -a[e];
    TEAM_SYNC;
    return good;
}

// Row sums of an inverse and its product with `right`.
WIDE_FN void reduce_products(int n, TEAM_SPACE const REAL *inverse, TEAM_SPACE const REAL *right,
                             TEAM_SPACE REAL *ones, TEAM_SPACE REAL *product TEAM_PARAM)
{
    TEAM_EACH (i, 0, n) {
        REAL one = ZERO, sum = ZERO;
        for (int c = 0; c < n; c++) {
            REAL entry = inverse[reduce_packed(i, c)];
            one += entry;
            sum += entry * right[c];
        }
        ones[i] = one;
        product[i] = sum;
    }
    TEAM_SYNC;
}

// Elimination -----------------------------------------------------------------------------------

// The candidate whose removal costs least, a^2 / K_ii; with bounds first one that is not positive.
// Fractions are compared by products. @return its index
FN REAL reduce_cheapest(int n, INT gone, TEAM_SPACE const REAL *k, TEAM_SPACE const REAL *a,
                        int negative)
{
    REAL above = ZERO, below = ONE, found = ZERO;
    INT none = ALL_LANES;
    for (int i = 0; i < n; i++) {
        REAL diagonal = k[TRIANGLE(i) + i];
        // A diagonal lost to rounding belongs to a control that others replace exactly.
        INT sound = diagonal > ZERO;
        REAL over = SELECT(sound, a[i] * a[i], ZERO), under = SELECT(sound, diagonal, ONE);
        if (!negative) {
            INT lost = a[i] <= ZERO;
            over = SELECT(lost, a[i] - ONE, over);
            under = SELECT(lost, ONE, under);
        }
        INT take = (HAS(gone, i) == 0) & (none | (over * below < above * under));
        above = SELECT(take, over, above);
        below = SELECT(take, under, below);
        found = SELECT(take, SPLAT((double)i), found);
        none = none & (take == 0);
    }
    return found;
}

// From the Gram matrix to K (reduce_lanes.h) and the weights `a` of all candidates. `column`:
// scratch; `right` is overwritten
FN void reduce_weigh_all(int n, TEAM_SPACE REAL *k, TEAM_SPACE REAL *right,
                         TEAM_SPACE const REAL *reference, TEAM_SPACE REAL *column,
                         TEAM_SPACE REAL *a TEAM_PARAM)
{
    REAL total = ZERO, sum = ZERO;
    INT good = reduce_invert(n, k, column TEAM_PASS);
    reduce_products(n, k, right, column, a TEAM_PASS);
    for (int i = 0; i < n; i++) {
        total += column[i];
        sum += a[i];
    }
    TEAM_SYNC;
    TEAM_EACH (i, 0, n) {
        right[i] = column[i] / total;
        a[i] = SELECT(good, a[i] + (ONE - sum) * right[i], reference[i]);
        for (int c = 0; c <= i; c++) { // no motion at all: the largest will do
            const int at = TRIANGLE(i) + c;
            k[at] = SELECT(good, k[at] - right[i] * column[c], c == i ? ONE : ZERO);
        }
    }
    TEAM_SYNC;
}

// Backward elimination from n candidates to `keep`. @return bits of those that go
FN INT reduce_eliminate(int n, TEAM_SPACE REAL *k, TEAM_SPACE REAL *column, TEAM_SPACE REAL *a,
                        int keep, int negative TEAM_PARAM)
{
    INT gone = NO_LANES;
    for (int left = n; left > keep; left--) {
        REAL out = reduce_cheapest(n, gone, k, a, negative), removed = ZERO, pivot = ZERO;
        for (int l = 0; l < KERNEL_LANES; l++) {
            const int o = (int)LANE(out, l);
            LANE(gone, l) |= (INT1)1 << o;
            LANE(removed, l) = LANE(a[o], l);
            LANE(pivot, l) = LANE(k[TRIANGLE(o) + o], l);
            TEAM_EACH (r, 0, n) LANE(column[r], l) = LANE(k[reduce_packed(o, r)], l);
        }
        TEAM_SYNC;
        INT sound = pivot > ZERO;
        REAL share = SELECT(sound, ONE / SELECT(sound, pivot, ONE), ZERO);
        removed = removed * share;
        // Rows that are gone take part: they are not read again.
        TEAM_EACH (r, 0, n) a[r] -= column[r] * removed;
        reduce_downdate(n, column, share, k TEAM_PASS);
    }
    return gone;
}

#define CHOOSE_VERTEX(l) (order ? order[lane + (l)] : lane + (l))

// Gram matrices of n candidates of every lane. `vertex`: the lanes'; `chunk`: scratch
FN void reduce_candidates_gram(const reduce_problem *p, const int *vertex,
                               TEAM_SPACE const int *list, int n, TEAM_SPACE float *chunk,
                               TEAM_SPACE REAL *gram TEAM_PARAM)
{
    TEAM_EACH (e, 0, TRIANGLE(n)) gram[e] = ZERO;
    for (int from = 0; from < p->columns; from += REDUCE_POSES) {
        const int left = p->columns - from, poses = left < REDUCE_POSES ? left : REDUCE_POSES;
        for (int l = 0; l < KERNEL_LANES; l++)
            reduce_offsets(p, vertex[l], list + l * REDUCE_LIST, n, from, poses, l, chunk);
        TEAM_SYNC;
        reduce_gram(n, 3 * poses, chunk, gram TEAM_PASS);
    }
}

TEAM_KERNEL(reduce_choose, REDUCE_CHOOSE_BUFFERS)
{
    TEAM_MEMORY REAL gram[TRIANGLE(REDUCE_CANDIDATES)], right[REDUCE_CANDIDATES];
    TEAM_MEMORY REAL reference[REDUCE_CANDIDATES], column[REDUCE_CANDIDATES], a[REDUCE_CANDIDATES];
    TEAM_MEMORY float chunk[REDUCE_CANDIDATES * REDUCE_CHUNK * KERNEL_LANES];
    TEAM_MEMORY int list[REDUCE_LIST * KERNEL_LANES];
    TAKE_PROBLEM;
    TEAM_BEGIN
    const int lane = item * KERNEL_LANES, some = CHOOSE_VERTEX(0);
    const int keep = set_first[some + 1] - set_first[some];
    int vertex[KERNEL_LANES], n = 0;
    INT gone = NO_LANES;
    for (int l = 0; l < KERNEL_LANES; l++) {
        // Lanes without a vertex repeat the first one; their results are discarded.
        vertex[l] = CHOOSE_VERTEX(l) < 0 ? some : CHOOSE_VERTEX(l);
        n = reduce_candidates(&problem, vertex[l], list + l * REDUCE_LIST TEAM_PASS);
    }
    if (n > keep) {
        reduce_candidates_gram(&problem, vertex, list, n, chunk, gram TEAM_PASS);
        REAL mu = REDUCE_PULL * reduce_mean_diagonal(n, gram);
        TEAM_SYNC;
        TEAM_EACH (i, 0, n) {
            for (int l = 0; l < KERNEL_LANES; l++)
                LANE(reference[i], l) = weight[list[l * REDUCE_LIST + i]];
            gram[TRIANGLE(i) + i] += mu;
            right[i] = mu * reference[i];
        }
        TEAM_SYNC;
        reduce_weigh_all(n, gram, right, reference, column, a TEAM_PASS);
        gone = reduce_eliminate(n, gram, column, a, keep, given.sizes.negative TEAM_PASS);
    }
    for (int l = TEAM_LANE; l < KERNEL_LANES; l += TEAM_LANES) {
        const int v = CHOOSE_VERTEX(l);
        for (int i = 0, at = v < 0 ? 0 : set_first[v]; v >= 0 && i < n; i++) {
            if (HAS(LANE(gone, l), i)) continue;
            set_control[at] = control[list[l * REDUCE_LIST + i]];
            set_weight[at++] = weight[list[l * REDUCE_LIST + i]];
        }
    }
    ITEM_END
}

#endif
