/// Sets of controls by backward elimination, one vertex a team (kernel/team.h): what reduce_fit_set
/// does for one work item, whose matrices do not fit into a GPU's near memory. Entries of a matrix
/// are shared out among the lanes, every entry with the same sums in the same order. After
/// reduce_items.h and team.h.
#ifndef CUTIS_KERNEL_REDUCE_CHOOSE_H
#define CUTIS_KERNEL_REDUCE_CHOOSE_H

// Memory of a team, as a variable and behind a pointer.
#if defined(KERNEL_OPENCL) && !defined(TEAM_ALONE)
#define TEAM_ROOM  LOCAL
#define TEAM_SPACE LOCAL
#elif defined(KERNEL_CUDA)
#define TEAM_ROOM LOCAL
#define TEAM_SPACE
#else
#define TEAM_ROOM
#define TEAM_SPACE
#endif

// The `limit` largest influences of a vertex by magnitude (ties: the lower), ascending. @return how
// many
TEAM_FN int choose_largest(GLOBAL const double *weight, int begin, int end, int limit,
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
    TEAM_SYNC;
    return used;
}

// The vertex by its original weights, a row a lane.
TEAM_FN void choose_target(REDUCE_PROBLEM, int v, TEAM_SPACE double *target TEAM_PARAM)
{
    double x = positions[3 * v], y = positions[3 * v + 1], z = positions[3 * v + 2];
    TEAM_EACH (r, 0, REDUCE_ROWS) {
        GLOBAL const double *palette = matrices + 12 * (INDEX)(r / 3) * controls + 4 * (r % 3);
        double a = 0, b = 0, c = 0, d = 0;
        for (int i = first[v]; i < first[v + 1]; i++) {
            GLOBAL const double *m = palette + 12 * (INDEX)control[i];
            double w = weight[i];
            a += w * m[0];
            b += w * m[1];
            c += w * m[2];
            d += w * m[3];
        }
        target[r] = a * x + b * y + c * z + d;
    }
    TEAM_SYNC;
}

// Gram matrix of the candidates, poses a few at a time.
TEAM_FN void choose_gram(REDUCE_PROBLEM, int v, TEAM_SPACE const double *target,
                         TEAM_SPACE const int *list, int n, TEAM_SPACE float *offset,
                         TEAM_SPACE double *gram TEAM_PARAM)
{
    double x = positions[3 * v], y = positions[3 * v + 1], z = positions[3 * v + 2];
    TEAM_EACH (e, 0, TRIANGLE(n)) gram[e] = 0;
    for (int begin = 0; begin < REDUCE_ROWS; begin += 3 * REDUCE_POSES) {
        int rows = REDUCE_ROWS - begin;
        if (rows > 3 * REDUCE_POSES) rows = 3 * REDUCE_POSES;
        TEAM_SYNC;
        TEAM_EACH (e, 0, n * rows) {
            int row = begin + e % rows, which = control[list[e / rows]];
            GLOBAL const double *m =
                matrices + 12 * ((INDEX)(row / 3) * controls + which) + 4 * (row % 3);
            offset[e] = (float)(m[0] * x + m[1] * y + m[2] * z + m[3] - target[row]);
        }
        TEAM_SYNC;
        for (int i = 0; i < n; i++)
            TEAM_EACH (k, 0, i + 1) {
                double sum = gram[TRIANGLE(i) + k];
                for (int r = 0; r < rows; r++)
                    sum += (double)offset[i * rows + r] * (double)offset[k * rows + r];
                gram[TRIANGLE(i) + k] = sum;
            }
    }
    TEAM_SYNC;
}

// a -= f f^T share, in the lower triangle, a column a lane.
TEAM_FN void choose_downdate(int n, TEAM_SPACE const double *f, double share,
                             TEAM_SPACE double *a TEAM_PARAM)
{
    TEAM_EACH (c, 0, n) {
        double mine = f[c];
        for (int r = c; r < n; r++) a[TRIANGLE(r) + c] -= f[r] * share * mine;
    }
    TEAM_SYNC;
}

// reduce_invert.
TEAM_FN int choose_invert(int n, TEAM_SPACE double *a, TEAM_SPACE double *row TEAM_PARAM)
{
    int good = 1;
    for (int p = 0; p < n; p++) {
        double pivot = a[TRIANGLE(p) + p];
        good = good && pivot > 0 && pivot <= REDUCE_MOST;
        double inverse = 1 / (good ? pivot : 1);
        TEAM_EACH (i, 0, n) {
            row[i] = i < p ? a[TRIANGLE(p) + i] : i > p ? a[TRIANGLE(i) + p] : 0;
        }
        TEAM_SYNC;
        choose_downdate(n, row, inverse, a TEAM_PASS);
        TEAM_EACH (i, 0, n) {
            int at = i < p ? TRIANGLE(p) + i : TRIANGLE(i) + p;
            a[at] = i == p ? -inverse : row[i] * inverse;
        }
        TEAM_SYNC;
    }
    TEAM_EACH (e, 0, TRIANGLE(n)) a[e] = -a[e];
    TEAM_SYNC;
    return good;
}

// The candidate whose removal costs least: reduce_cheapest, in every lane.
TEAM_FN int choose_cheapest(int n, INDEX gone, TEAM_SPACE const double *k,
                            TEAM_SPACE const double *a, int negative)
{
    double above = 0, below = 1;
    int found = 0, none = 1;
    for (int i = 0; i < n; i++) {
        double diagonal = k[TRIANGLE(i) + i];
        int sound = diagonal > 0;
        double over = sound ? a[i] * a[i] : 0, under = sound ? diagonal : 1;
        if (!negative && a[i] <= 0) {
            over = a[i] - 1;
            under = 1;
        }
        if (!HAS(gone, i) && (none || over * below < above * under)) {
            above = over;
            below = under;
            found = i;
            none = 0;
        }
    }
    return found;
}

// From the Gram matrix to K and the weights `a` of all candidates (reduce_eliminate's start).
// `column`, `right`: scratch
TEAM_FN void choose_first(int n, TEAM_SPACE double *k, TEAM_SPACE double *right,
                          TEAM_SPACE const double *reference, TEAM_SPACE double *column,
                          TEAM_SPACE double *a TEAM_PARAM)
{
    double total = 0, sum = 0;
    int good = choose_invert(n, k, column TEAM_PASS);
    TEAM_EACH (i, 0, n) {
        double ones = 0, product = 0;
        for (int c = 0; c < n; c++) {
            double entry = k[reduce_packed(i, c)];
            ones += entry;
            product += entry * right[c];
        }
        column[i] = ones;
        a[i] = product;
    }
    TEAM_SYNC;
    for (int i = 0; i < n; i++) {
        total += column[i];
        sum += a[i];
    }
    TEAM_SYNC;
    TEAM_EACH (i, 0, n) {
        right[i] = column[i] / total;
        a[i] = good ? a[i] + (1 - sum) * right[i] : reference[i];
    }
    TEAM_SYNC;
    TEAM_EACH (c, 0, n)
        for (int r = c; r < n; r++) {
            int at = TRIANGLE(r) + c;
            k[at] = good ? k[at] - right[r] * column[c] : c == r ? 1 : 0;
        }
    TEAM_SYNC;
}

// Backward elimination to `keep`. @return bits of the candidates that go
TEAM_FN INDEX choose_eliminate(int n, TEAM_SPACE double *k, TEAM_SPACE double *column,
                               TEAM_SPACE double *a, int keep, int negative TEAM_PARAM)
{
    INDEX gone = 0;
    for (int left = n; left > keep; left--) {
        int out = choose_cheapest(n, gone, k, a, negative);
        double removed = a[out], pivot = k[TRIANGLE(out) + out];
        TEAM_EACH (r, 0, n) column[r] = k[reduce_packed(out, r)];
        TEAM_SYNC;
        double share = pivot > 0 ? 1 / pivot : 0;
        removed = removed * share;
        gone |= (INDEX)1 << out;
        TEAM_EACH (r, 0, n) a[r] -= column[r] * removed;
        choose_downdate(n, column, share, k TEAM_PASS);
    }
    return gone;
}

// The influences that vertices keep, as indices into the influence arrays, ascending. set_first:
// vertices + 1.
#ifdef REDUCE_ONLY_choose
OLD_ITEM_KERNEL cutis_reduce_choose(REDUCE_PROBLEM, GLOBAL const int *set_first, GLOBAL int *chosen,
                                    ITEM_ARGS)
{
    TEAM_ROOM double gram[TRIANGLE(REDUCE_CANDIDATES)], target[REDUCE_ROWS];
    TEAM_ROOM double right[REDUCE_CANDIDATES], reference[REDUCE_CANDIDATES];
    TEAM_ROOM double column[REDUCE_CANDIDATES], a[REDUCE_CANDIDATES];
    TEAM_ROOM float offset[REDUCE_CANDIDATES * 3 * REDUCE_POSES];
    TEAM_ROOM int list[REDUCE_LIST];
    OLD_BEGIN TEAM_BEGIN int begin = set_first[item], keep = set_first[item + 1] - begin;
    int count = first[item + 1] - first[item];
    if (count <= keep) {
        TEAM_EACH (i, 0, keep) chosen[begin + i] = first[item] + i;
    } else {
        int n = choose_largest(weight, first[item], first[item + 1], limit, list TEAM_PASS);
        choose_target(positions, first, control, weight, matrices, columns, controls, limit,
                      negative, item, target TEAM_PASS);
        choose_gram(positions, first, control, weight, matrices, columns, controls, limit, negative,
                    item, target, list, n, offset, gram TEAM_PASS);
        double mean = 0;
        for (int i = 0; i < n; i++) mean += gram[TRIANGLE(i) + i];
        double mu = REDUCE_PULL * (mean / n);
        TEAM_SYNC;
        TEAM_EACH (i, 0, n) {
            reference[i] = weight[list[i]];
            gram[TRIANGLE(i) + i] += mu;
            right[i] = mu * reference[i];
        }
        TEAM_SYNC;
        choose_first(n, gram, right, reference, column, a TEAM_PASS);
        INDEX gone = choose_eliminate(n, gram, column, a, keep, negative TEAM_PASS);
        if (TEAM_LANE == 0)
            for (int i = 0, used = 0; i < n; i++)
                if (!HAS(gone, i)) chosen[begin + used++] = list[i];
    }
    ITEM_END
}
#endif

#endif
