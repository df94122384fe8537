/// Weight reduction on a device, one vertex an item: choosing sets and the first weights, then the
/// updates of a sweep, a colour a launch. After reduce.h and reduce_wide.h; the same arithmetic in
/// the same order as src/fit/reduce_*.c, which has the CPU's schedule (eight vertices a vector).
/// Items are lanes of the blocks that both work on.
///
/// Defined by the host: KERNEL_DOUBLE, REDUCE_SET, REDUCE_CANDIDATES, REDUCE_LIST (the larger of
/// the two) and REDUCE_ROWS (3 per pose), so that a work item's arrays are no larger than they must
/// be; and REDUCE_ONLY_name of the one kernel that is wanted, for compilers take seconds for all.
#ifndef CUTIS_KERNEL_REDUCE_ITEMS_H
#define CUTIS_KERNEL_REDUCE_ITEMS_H

#define REDUCE_PULL     1e-2 // of the first weights towards the original ones
#define REDUCE_PROXIMAL 1e-3 // of a sweep towards the current ones
#define REDUCE_SUM_MIN  1e-6
// An exchange must lower the vertex's energy by this share of what is there.
#define REDUCE_EXCHANGE_MARGIN 1e-6
#define REDUCE_EXCHANGES       4
#define REDUCE_NONE            255

// What every kernel is told of the problem.
#define REDUCE_PROBLEM                                                                             \
    GLOBAL const double *positions, GLOBAL const int *first, GLOBAL const int *control,            \
        GLOBAL const double *weight, GLOBAL const double *matrices, int columns, int controls,     \
        int limit, int negative
// Vertices of the lanes (-1: none), shapes of the blocks, and what their lanes hold.
#define REDUCE_BLOCKS                                                                              \
    GLOBAL const int *lane_vertex, GLOBAL const int *block_size, GLOBAL const int *slot_first,     \
        GLOBAL const int *kept_first, GLOBAL double *block_weight, GLOBAL float *block_offset,     \
        GLOBAL double *block_kept, GLOBAL INDEX *block_active
// Neighbours with their weights; diagonal: of the mesh, plus the anchor under the gradient energy.
#define REDUCE_MESH                                                                                \
    GLOBAL const int *ring_first, GLOBAL const int *ring, GLOBAL const double *edge,               \
        GLOBAL const double *diagonal

// Controls that the vertices of a lane's block keep. Read even where all keep as many: with the
// number as a constant NVRTC 13 makes code that stops with error 717 or gives weights that are
// wrong.
#define REDUCE_COUNT(lane) block_size[(lane) / REDUCE_BLOCK]
// Where the records of a lane begin.
#define LANE_SLOTS(lane)        ((INDEX)slot_first[(lane) / REDUCE_BLOCK] * REDUCE_BLOCK)
#define LANE_WEIGHT(lane)       (block_weight + LANE_SLOTS(lane) + (lane) % REDUCE_BLOCK)
#define LANE_OFFSET(lane, rows) (block_offset + LANE_SLOTS(lane) * (rows) + (lane) % REDUCE_BLOCK)
#define LANE_KEPT(lane)                                                                            \
    (block_kept + (INDEX)kept_first[(lane) / REDUCE_BLOCK] * REDUCE_BLOCK + (lane) % REDUCE_BLOCK)

// The `limit` largest original influences of a vertex by magnitude (ties: the lower control), as
// ascending indices into the influence arrays.
PROC int reduce_largest(GLOBAL const int *first, GLOBAL const double *weight, int vertex, int limit,
                        int *list)
{
    int begin = first[vertex], end = first[vertex + 1], count = 0;
    if (end - begin <= limit) {
        for (int i = begin; i < end; i++) list[count++] = i;
        return count;
    }
    for (int i = begin; i < end; i++) {
        double size = MAGNITUDE(weight[i]);
        if (count == limit && !(size > MAGNITUDE(weight[list[count - 1]]))) continue;
        int at = count < limit ? count++ : count - 1;
        for (; at > 0 && MAGNITUDE(weight[list[at - 1]]) < size; at--) list[at] = list[at - 1];
        list[at] = i;
    }
    for (int i = 1; i < count; i++) { // ascending again
        int moved = list[i], at = i;
        for (; at > 0 && list[at - 1] > moved; at--) list[at] = list[at - 1];
        list[at] = moved;
    }
    return count;
}

// The vertex by its original weights, in all poses.
PROC void reduce_target(GLOBAL const double *positions, GLOBAL const int *first,
                        GLOBAL const int *control, GLOBAL const double *weight,
                        GLOBAL const double *matrices, int columns, int controls, int vertex,
                        double *target)
{
    double x = positions[3 * vertex], y = positions[3 * vertex + 1], z = positions[3 * vertex + 2];
    for (int j = 0; j < columns; j++) {
        GLOBAL const double *palette = matrices + 12 * (INDEX)j * controls;
        double sum[12];
        for (int c = 0; c < 12; c++) sum[c] = 0;
        for (int i = first[vertex]; i < first[vertex + 1]; i++) {
            GLOBAL const double *m = palette + 12 * (INDEX)control[i];
            double w = weight[i];
            for (int c = 0; c < 12; c++) sum[c] += w * m[c];
        }
        for (int r = 0; r < 3; r++)
            target[3 * j + r] =
                sum[4 * r] * x + sum[4 * r + 1] * y + sum[4 * r + 2] * z + sum[4 * r + 3];
    }
}

// One row of where a control takes the vertex, less the target.
PROC float reduce_offset(GLOBAL const double *matrices, int controls, int which, int row, double x,
                         double y, double z, const double *target)
{
    GLOBAL const double *m = matrices + 12 * ((INDEX)(row / 3) * controls + which) + 4 * (row % 3);
    return (float)(m[0] * x + m[1] * y + m[2] * z + m[3] - target[row]);
}

// Add candidates' Gram matrix (lower triangle, packed), poses a few at a time.
PROC void reduce_candidates(GLOBAL const double *positions, GLOBAL const int *control,
                            GLOBAL const double *matrices, int columns, int controls, int vertex,
                            const double *target, const int *list, int n, double *gram)
{
    float offset[REDUCE_CANDIDATES * 3 * REDUCE_POSES];
    double x = positions[3 * vertex], y = positions[3 * vertex + 1], z = positions[3 * vertex + 2];
    for (int i = 0; i < TRIANGLE(n); i++) gram[i] = 0;
    for (int begin = 0; begin < REDUCE_ROWS; begin += 3 * REDUCE_POSES) {
        int rows = REDUCE_ROWS - begin;
        if (rows > 3 * REDUCE_POSES) rows = 3 * REDUCE_POSES;
        for (int i = 0; i < n; i++)
            for (int r = 0; r < rows; r++)
                offset[i * rows + r] =
                    reduce_offset(matrices, controls, control[list[i]], begin + r, x, y, z, target);
        for (int i = 0, at = 0; i < n; i++)
            for (int k = 0; k <= i; k++, at++) {
                double sum = gram[at];
                for (int r = 0; r < rows; r++)
                    sum += (double)offset[i * rows + r] * (double)offset[k * rows + r];
                gram[at] = sum;
            }
    }
}

// Replace a list of n candidates by the `keep` of them that explain the poses best.
PROC void reduce_fit_set(GLOBAL const double *positions, GLOBAL const int *control,
                         GLOBAL const double *weight, GLOBAL const double *matrices, int columns,
                         int controls, int negative, int vertex, const double *target, int n,
                         int keep, int *list)
{
    double gram[TRIANGLE(REDUCE_CANDIDATES)], right[REDUCE_CANDIDATES];
    double reference[REDUCE_CANDIDATES];
    reduce_candidates(positions, control, matrices, columns, controls, vertex, target, list, n,
                      gram);
    double mu = REDUCE_PULL * reduce_mean_diagonal(n, gram);
    for (int i = 0; i < n; i++) {
        reference[i] = weight[list[i]];
        gram[TRIANGLE(i) + i] += mu;
        right[i] = mu * reference[i];
    }
    INDEX gone = reduce_eliminate(n, gram, right, reference, keep, negative);
    for (int i = 0, used = 0; i < n; i++)
        if (!HAS(gone, i)) list[used++] = list[i];
}

// The geometric fit with bounds in the way, from `weight`.
PROC void reduce_fit_bounded(int n, GLOBAL const float *offset, int rows, const double *original,
                             int negative, double *weight)
{
    double packed[TRIANGLE(REDUCE_SET)], gram[REDUCE_SET * REDUCE_SET], right[REDUCE_SET];
    for (int i = 0; i < TRIANGLE(n); i++) packed[i] = 0;
    reduce_gram(n, rows, offset, packed);
    double mu = REDUCE_PULL * reduce_mean_diagonal(n, packed);
    for (int r = 0, at = 0; r < n; r++) {
        packed[TRIANGLE(r) + r] += mu;
        right[r] = mu * original[r];
        for (int c = 0; c <= r; c++, at++) gram[r * n + c] = gram[c * n + r] = packed[at];
    }
    reduce_solve(n, gram, right, weight, negative);
}

// The first weights of a kept set: the original ones divided by their sum, or the geometric fit.
PROC void reduce_weigh(const double *original, int n, GLOBAL const float *offset, int rows,
                       int geometric, int negative, double *out)
{
    double gram[TRIANGLE(REDUCE_SET)], right[REDUCE_SET], row[REDUCE_SET], sum = 0;
    for (int i = 0; i < n; i++) sum += original[i];
    int small = MAGNITUDE(sum) < REDUCE_SUM_MIN;
    for (int i = 0; i < n; i++) out[i] = small ? 1.0 / n : original[i] / sum;
    if (!geometric && !small) return;
    for (int i = 0; i < TRIANGLE(n); i++) gram[i] = 0;
    reduce_gram(n, rows, offset, gram);
    double mu = REDUCE_PULL * reduce_mean_diagonal(n, gram), solution[REDUCE_SET];
    for (int i = 0; i < n; i++) {
        gram[TRIANGLE(i) + i] += mu;
        right[i] = mu * original[i];
    }
    if (reduce_first(n, gram, right, negative, row, solution))
        for (int i = 0; i < n; i++) out[i] = solution[i];
    else
        reduce_fit_bounded(n, offset, rows, original, negative, out);
}

// Sets (fitted or the largest), offsets, first weights and errors. chosen: the influences that
// vertices keep, with REDUCE_CHOSEN: reduce_choose.h has found them.
#ifdef REDUCE_ONLY_begin
OLD_ITEM_KERNEL cutis_reduce_begin(REDUCE_PROBLEM, REDUCE_BLOCKS, GLOBAL const int *set_first,
                                   GLOBAL int *set_control, GLOBAL double *error, int geometric,
                                   GLOBAL const int *chosen, ITEM_ARGS)
{
    OLD_BEGIN ITEM_BEGIN int v = lane_vertex[item], rows = REDUCE_ROWS;
    if (v >= 0) {
        int list[REDUCE_LIST], count = first[v + 1] - first[v];
        int begin = set_first[v], keep = REDUCE_COUNT(item);
        double target[REDUCE_ROWS], original[REDUCE_SET], now[REDUCE_SET];
        double x = positions[3 * v], y = positions[3 * v + 1], z = positions[3 * v + 2];
        GLOBAL double *own = error + (INDEX)v * rows, *slots = LANE_WEIGHT(item);
        GLOBAL float *offset = LANE_OFFSET(item, rows);
        reduce_target(positions, first, control, weight, matrices, columns, controls, v, target);
#ifdef REDUCE_CHOSEN
        for (int i = 0; i < keep; i++) list[i] = chosen[begin + i];
#else
        int fit = limit > keep && count > keep;
        int found = reduce_largest(first, weight, v, fit ? limit : keep, list);
        if (fit)
            reduce_fit_set(positions, control, weight, matrices, columns, controls, negative, v,
                           target, found, keep, list);
#endif
        for (int i = 0; i < keep; i++) {
            set_control[begin + i] = control[list[i]];
            now[i] = original[i] = weight[list[i]];
            for (int r = 0; r < rows; r++)
                PUT_ENTRY(offset, i * rows + r,
                          reduce_offset(matrices, controls, control[list[i]], r, x, y, z, target));
        }
        if (count > keep) reduce_weigh(original, keep, offset, rows, geometric, negative, now);
        for (int i = 0; i < keep; i++) PUT_ENTRY(slots, i, now[i]);
        for (int r = 0; r < rows; r++) {
            double sum = 0;
            for (int i = 0; i < keep; i++) sum += now[i] * FLOAT_ENTRY(offset, i * rows + r);
            own[r] = count > keep ? sum : 0;
        }
    }
    ITEM_END
}
#endif

// What the lanes keep between sweeps. lambda: of the prior, or 0.
#ifdef REDUCE_ONLY_keep
OLD_ITEM_KERNEL cutis_reduce_keep(REDUCE_BLOCKS, int columns, int negative, double lambda,
                                  ITEM_ARGS)
{
    OLD_BEGIN ITEM_BEGIN int n = REDUCE_COUNT(item), rows = REDUCE_ROWS;
    block_active[item] = 0;
    if (n >= 2 && lane_vertex[item] >= 0) {
        double gram[TRIANGLE(REDUCE_SET)], row[REDUCE_SET];
        GLOBAL const double *slots = LANE_WEIGHT(item);
        INDEX active = 0;
        for (int i = 0; i < TRIANGLE(n); i++) gram[i] = 0;
        reduce_gram(n, rows, LANE_OFFSET(item, rows), gram);
        double mean = reduce_mean_diagonal(n, gram);
        for (int i = 0; i < n; i++)
            if (negative || ENTRY(slots, i) > 0) active |= (INDEX)1 << i;
        if (reduce_keep(n, gram, mean, REDUCE_PROXIMAL * mean + lambda, active, row,
                        LANE_KEPT(item)))
            block_active[item] = active;
    }
    ITEM_END
}
#endif

// The neighbours' average error. 0: it is zero, and so is the vertex's own.
FN int reduce_wish(GLOBAL const int *ring_first, GLOBAL const int *ring, GLOBAL const double *edge,
                   GLOBAL const double *error, int v, int rows, double share, double *wish,
                   double *own)
{
    double size = 0;
    for (int r = 0; r < rows; r++) wish[r] = 0;
    for (int i = ring_first[v]; i < ring_first[v + 1]; i++) {
        GLOBAL const double *other = error + (INDEX)ring[i] * rows;
        double l = edge[i];
        for (int r = 0; r < rows; r++) wish[r] += l * other[r];
    }
    for (int r = 0; r < rows; r++) {
        wish[r] *= share;
        own[r] = error[(INDEX)v * rows + r];
        size += MAGNITUDE(wish[r]) + MAGNITUDE(own[r]);
    }
    return size > 0;
}

FN double reduce_distance(const double *a, const double *b, int count)
{
    double sum = 0;
    for (int r = 0; r < count; r++) sum += (a[r] - b[r]) * (a[r] - b[r]);
    return sum;
}

// The update of a lane: weights and, in `own`, the new error. `push`: the prior's, or zeros; `old`
// holds the weights before.
FN void reduce_update(int n, int rows, GLOBAL const float *offset, GLOBAL double *kept,
                      GLOBAL INDEX *active, int negative, double omega, double lambda,
                      const double *wish, double *own, const double *push, const double *old,
                      double *now)
{
    double rest[REDUCE_ROWS];
    if (!reduce_attempt(n, rows, offset, kept, *active, negative, wish, own, push, old, rest, now))
        reduce_search(n, rows, offset, kept, 0, active, negative, REDUCE_PROXIMAL, lambda, wish,
                      push, old, rest, now);
    reduce_finish(n, rows, offset, negative, omega, 0, old, now, own);
}

// One colour under the gradient energy, sets fixed. With a prior (lambda > 0) neighbours read
// weights from set_weight.
#ifdef REDUCE_ONLY_gradient
OLD_ITEM_KERNEL cutis_reduce_gradient(REDUCE_MESH, REDUCE_BLOCKS, GLOBAL double *error, int columns,
                                      int negative, double omega, double lambda,
                                      GLOBAL const int *set_first, GLOBAL double *set_weight,
                                      GLOBAL const double *base, GLOBAL const unsigned char *match,
                                      int stride, int lane_first, GLOBAL double *fall, ITEM_ARGS)
{
    OLD_BEGIN ITEM_BEGIN int lane = lane_first + item, v = lane_vertex[lane], rows = REDUCE_ROWS;
    int n = REDUCE_COUNT(lane);
    double gain = 0;
    if (v >= 0 && n >= 2) {
        double wish[REDUCE_ROWS], own[REDUCE_ROWS], old[REDUCE_SET], now[REDUCE_SET];
        double push[REDUCE_SET], wished[REDUCE_SET], d = diagonal[v];
        GLOBAL double *slots = LANE_WEIGHT(lane);
        int moves = reduce_wish(ring_first, ring, edge, error, v, rows, 1 / d, wish, own);
        for (int i = 0; i < n; i++) {
            old[i] = ENTRY(slots, i);
            push[i] = wished[i] = 0;
        }
        if (lambda > 0) {
            moves = d > 0;
            for (int e = ring_first[v]; e < ring_first[v + 1]; e++) {
                GLOBAL const double *near = set_weight + set_first[ring[e]];
                GLOBAL const unsigned char *same = match + (INDEX)e * stride;
                double l = edge[e];
                for (int i = 0; i < n; i++)
                    wished[i] += same[i] == REDUCE_NONE ? 0 : l * near[same[i]];
            }
            for (int i = 0; i < n; i++) {
                wished[i] = base[set_first[v] + i] + 1 / d * wished[i];
                push[i] = lambda * (wished[i] - old[i]);
            }
        }
        if (moves) {
            double before = reduce_distance(own, wish, rows);
            reduce_update(n, rows, LANE_OFFSET(lane, rows), LANE_KEPT(lane), block_active + lane,
                          negative, omega, lambda, wish, own, push, old, now);
            double after = reduce_distance(own, wish, rows);
            if (lambda > 0) {
                before += lambda * reduce_distance(old, wished, n);
                after += lambda * reduce_distance(now, wished, n);
                for (int i = 0; i < n; i++) set_weight[set_first[v] + i] = now[i];
            }
            for (int i = 0; i < n; i++) PUT_ENTRY(slots, i, now[i]);
            for (int r = 0; r < rows; r++) error[(INDEX)v * rows + r] = own[r];
            gain = d * (before - after);
        }
    }
    fall[lane] = gain;
    ITEM_END
}
#endif

// Where entry (a, b) of a symmetric matrix stands in its lower triangle.
FN int reduce_packed(int a, int b)
{
    return a < b ? TRIANGLE(b) + a : TRIANGLE(a) + b;
}

// Weights and value a^T G a - 2 h^T a of a set of candidates; `reference` is dense.
PROC double reduce_try(const double *gram, const double *right, const double *reference,
                       const int *member, int count, int negative, double *weight)
{
    double part[REDUCE_SET * REDUCE_SET], h[REDUCE_SET], pull[REDUCE_SET], sum = 0, value = 0;
    int largest = 0;
    for (int r = 0; r < count; r++) {
        pull[r] = weight[r] = reference[member[r]];
        h[r] = right[member[r]];
        for (int c = 0; c < count; c++)
            part[r * count + c] = gram[reduce_packed(member[r], member[c])];
    }
    // What left the set goes to its largest member, so that the start is feasible.
    for (int r = 0; r < count; r++) {
        sum += weight[r];
        if (weight[r] > weight[largest]) largest = r;
    }
    weight[largest] += 1 - sum;
    reduce_regularise(count, part, h, REDUCE_PROXIMAL, pull);
    reduce_solve(count, part, h, weight, negative);
    for (int r = 0; r < count; r++) {
        double row = -2 * right[member[r]];
        for (int c = 0; c < count; c++)
            row += gram[reduce_packed(member[r], member[c])] * weight[c];
        value += weight[r] * row;
    }
    return value;
}

// All exchanges of one member for one outsider; the best, if it is better than `value`.
PROC int reduce_exchange(int n, const double *gram, const double *right, int count, int negative,
                         double scale, int *member, double *weight, double *value)
{
    double reference[REDUCE_CANDIDATES], tried[REDUCE_SET];
    int inside[REDUCE_CANDIDATES], start[REDUCE_SET], next[REDUCE_SET], better = 0;
    for (int i = 0; i < n; i++) {
        reference[i] = 0;
        inside[i] = 0;
    }
    for (int r = 0; r < count; r++) {
        start[r] = member[r];
        inside[member[r]] = 1;
        reference[member[r]] = weight[r];
    }
    for (int j = 0; j < n; j++) {
        if (inside[j]) continue;
        for (int r = 0; r < count; r++) {
            for (int c = 0; c < count; c++) next[c] = start[c];
            next[r] = j;
            double found = reduce_try(gram, right, reference, next, count, negative, tried);
            if (found < *value - REDUCE_EXCHANGE_MARGIN * scale) {
                *value = found;
                better = 1;
                for (int c = 0; c < count; c++) {
                    member[c] = next[c];
                    weight[c] = tried[c];
                }
            }
        }
    }
    return better;
}

// Look for a better set at the wished error, and keep it. `own`: in and out, the error.
PROC void reduce_reselect(REDUCE_PROBLEM, GLOBAL const int *set_first, GLOBAL int *set_control,
                          GLOBAL double *slots, GLOBAL float *offset, int v, int count,
                          const double *wish, double *own)
{
    double gram[TRIANGLE(REDUCE_CANDIDATES)], right[REDUCE_CANDIDATES];
    double reference[REDUCE_CANDIDATES], target[REDUCE_ROWS], now[REDUCE_SET], scale = 0;
    int list[REDUCE_LIST], member[REDUCE_SET], begin = set_first[v], rows = REDUCE_ROWS;
    int n = reduce_largest(first, weight, v, limit, list);
    double x = positions[3 * v], y = positions[3 * v + 1], z = positions[3 * v + 2];
    reduce_target(positions, first, control, weight, matrices, columns, controls, v, target);
    reduce_candidates(positions, control, matrices, columns, controls, v, target, list, n, gram);
    for (int i = 0; i < n; i++) {
        reference[i] = right[i] = 0;
        for (int from = 0; from < rows; from += 3 * REDUCE_POSES) { // as cutis_reduce_dot does
            double part[8];
            for (int l = 0; l < 8; l++) part[l] = 0;
            for (int r = from; r < rows && r < from + 3 * REDUCE_POSES; r++)
                part[(r - from) & 7] +=
                    reduce_offset(matrices, controls, control[list[i]], r, x, y, z, target) *
                    wish[r];
            right[i] += ((part[0] + part[4]) + (part[1] + part[5])) +
                        ((part[2] + part[6]) + (part[3] + part[7]));
        }
    }
    for (int r = 0; r < count; r++)
        for (int i = 0; i < n; i++)
            if (control[list[i]] == set_control[begin + r]) {
                member[r] = i;
                reference[i] = ENTRY(slots, r);
            }
    for (int r = 0; r < rows; r++) scale += wish[r] * wish[r];
    double value = reduce_try(gram, right, reference, member, count, negative, now);
    for (int e = 0; e < REDUCE_EXCHANGES; e++)
        if (!reduce_exchange(n, gram, right, count, negative, scale + value, member, now, &value))
            break;
    for (int i = 1; i < count; i++) // controls ascending
        for (int k = i; k > 0 && member[k - 1] > member[k]; k--) {
            int moved = member[k];
            double carried = now[k];
            member[k] = member[k - 1];
            now[k] = now[k - 1];
            member[k - 1] = moved;
            now[k - 1] = carried;
        }
    for (int r = 0; r < rows; r++) own[r] = 0;
    for (int i = 0; i < count; i++) {
        set_control[begin + i] = control[list[member[i]]];
        PUT_ENTRY(slots, i, now[i]);
        for (int r = 0; r < rows; r++) {
            float o = reduce_offset(matrices, controls, set_control[begin + i], r, x, y, z, target);
            PUT_ENTRY(offset, i * rows + r, o);
            own[r] += now[i] * o;
        }
    }
}

// One colour under the gradient energy, where vertices with few candidates may exchange controls.
// trials: exchanges tried for one, at most.
#ifdef REDUCE_ONLY_exchanging
OLD_ITEM_KERNEL cutis_reduce_exchanging(REDUCE_MESH, REDUCE_PROBLEM, REDUCE_BLOCKS,
                                        GLOBAL const int *set_first, GLOBAL int *set_control,
                                        GLOBAL double *error, double omega, int trials,
                                        int lane_first, GLOBAL double *fall, ITEM_ARGS)
{
    OLD_BEGIN ITEM_BEGIN int lane = lane_first + item, v = lane_vertex[lane], rows = REDUCE_ROWS;
    int n = REDUCE_COUNT(lane);
    double gain = 0;
    if (v >= 0 && n >= 2) {
        int had = first[v + 1] - first[v], outside = (had < limit ? had : limit) - n;
        double wish[REDUCE_ROWS], own[REDUCE_ROWS], old[REDUCE_SET], now[REDUCE_SET];
        double push[REDUCE_SET], d = diagonal[v];
        GLOBAL double *slots = LANE_WEIGHT(lane);
        if (reduce_wish(ring_first, ring, edge, error, v, rows, 1 / d, wish, own)) {
            double before = reduce_distance(own, wish, rows);
            if (outside > 0 && n * outside <= trials) {
                reduce_reselect(positions, first, control, weight, matrices, columns, controls,
                                limit, negative, set_first, set_control, slots,
                                LANE_OFFSET(lane, rows), v, n, wish, own);
                block_active[lane] = 0; // another set, another inverse
            } else {
                for (int i = 0; i < n; i++) {
                    old[i] = ENTRY(slots, i);
                    push[i] = 0;
                }
                reduce_update(n, rows, LANE_OFFSET(lane, rows), LANE_KEPT(lane),
                              block_active + lane, negative, omega, 0, wish, own, push, old, now);
                for (int i = 0; i < n; i++) PUT_ENTRY(slots, i, now[i]);
            }
            for (int r = 0; r < rows; r++) error[(INDEX)v * rows + r] = own[r];
            gain = d * (before - reduce_distance(own, wish, rows));
        }
    }
    fall[lane] = gain;
    ITEM_END
}
#endif

// One colour (of distance 2) under the paper's energy; rho = L e is kept up to date.
#ifdef REDUCE_ONLY_laplace
OLD_ITEM_KERNEL cutis_reduce_laplace(REDUCE_MESH, GLOBAL const double *area, GLOBAL double *rho,
                                     REDUCE_BLOCKS, GLOBAL double *error, int columns, int negative,
                                     double omega, int lane_first, GLOBAL double *fall, ITEM_ARGS)
{
    OLD_BEGIN ITEM_BEGIN int lane = lane_first + item, v = lane_vertex[lane], rows = REDUCE_ROWS;
    int n = REDUCE_COUNT(lane);
    double gain = 0;
    if (v >= 0 && n >= 2) {
        double wish[REDUCE_ROWS], step[REDUCE_ROWS], own[REDUCE_ROWS], old[REDUCE_SET];
        double now[REDUCE_SET], push[REDUCE_SET], m = 1 / area[v], l = -diagonal[v];
        double a = m * l * l, size = 0;
        GLOBAL double *slots = LANE_WEIGHT(lane);
        for (int r = 0; r < rows; r++) step[r] = m * l * rho[(INDEX)v * rows + r];
        for (int i = ring_first[v]; i < ring_first[v + 1]; i++) {
            int u = ring[i];
            double w = 1 / area[u], c = edge[i];
            a += w * c * c;
            for (int r = 0; r < rows; r++) step[r] += w * c * rho[(INDEX)u * rows + r];
        }
        for (int r = 0; r < rows; r++) {
            own[r] = error[(INDEX)v * rows + r];
            wish[r] = a > 0 ? own[r] - step[r] / a : own[r];
            size += MAGNITUDE(step[r]);
            step[r] = own[r];
        }
        if (a > 0 && size > 0) {
            for (int i = 0; i < n; i++) {
                old[i] = ENTRY(slots, i);
                push[i] = 0;
            }
            gain = reduce_distance(own, wish, rows);
            reduce_update(n, rows, LANE_OFFSET(lane, rows), LANE_KEPT(lane), block_active + lane,
                          negative, omega, 0, wish, own, push, old, now);
            gain = a * (gain - reduce_distance(own, wish, rows));
            for (int i = 0; i < n; i++) PUT_ENTRY(slots, i, now[i]);
            for (int r = 0; r < rows; r++) {
                error[(INDEX)v * rows + r] = own[r];
                step[r] = own[r] - step[r];
                rho[(INDEX)v * rows + r] += l * step[r];
            }
            for (int i = ring_first[v]; i < ring_first[v + 1]; i++) {
                GLOBAL double *near = rho + (INDEX)ring[i] * rows;
                double c = edge[i];
                for (int r = 0; r < rows; r++) near[r] += c * step[r];
            }
        }
    }
    fall[lane] = gain;
    ITEM_END
}
#endif

// Per vertex: the energy of its edges to later vertices, and its anchor's (gradient); or the square
// of its Laplacian (laplace), twice. docs/design/reduction.md.
#ifdef REDUCE_ONLY_energy
OLD_ITEM_KERNEL cutis_reduce_energy(GLOBAL const int *ring_first, GLOBAL const int *ring,
                                    GLOBAL const double *edge, GLOBAL const double *diagonal,
                                    GLOBAL const double *anchor, GLOBAL const double *error,
                                    int columns, int laplace, GLOBAL double *edges,
                                    GLOBAL double *anchors, ITEM_ARGS)
{
    OLD_BEGIN ITEM_BEGIN reduce_energy(ring_first, ring, edge, diagonal[item], anchor[item], error,
                                       3 * columns, laplace, item, edges + item, anchors + item);
    ITEM_END
}
#endif

// The mean diagonal of a vertex's Gram matrix.
#ifdef REDUCE_ONLY_trace
OLD_ITEM_KERNEL cutis_reduce_trace(REDUCE_BLOCKS, int columns, GLOBAL double *trace, ITEM_ARGS)
{
    OLD_BEGIN ITEM_BEGIN int v = lane_vertex[item], n = REDUCE_COUNT(item), rows = REDUCE_ROWS;
    if (v >= 0) {
        GLOBAL const float *offset = LANE_OFFSET(item, rows);
        double sum = 0;
        for (int i = 0; i < n * rows; i++) sum += FLOAT_ENTRY(offset, i) * FLOAT_ENTRY(offset, i);
        trace[v] = n > 0 ? sum / n : 0;
    }
    ITEM_END
}
#endif

// The original influences of vertices and their kept ones: lists of ascending controls.
#define REDUCE_LISTS                                                                               \
    GLOBAL const int *first, GLOBAL const int *control, GLOBAL const double *weight,               \
        GLOBAL const int *set_first, GLOBAL const int *set_control,                                \
        GLOBAL const double *set_weight

// The weight of a control in a list, 0 if it is not there.
FN double reduce_look_up(GLOBAL const int *control, GLOBAL const double *weight, int begin, int end,
                         int which)
{
    int last = end;
    while (begin < end) {
        int middle = begin + (end - begin) / 2;
        if (control[middle] < which)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin < last && control[begin] == which ? weight[begin] : 0;
}

// The smooth prior of cages: which slots of neighbours have the same control, and what the original
// weights add to the wish.
#ifdef REDUCE_ONLY_match
OLD_ITEM_KERNEL cutis_reduce_match(REDUCE_MESH, REDUCE_LISTS, int stride, GLOBAL double *base,
                                   GLOBAL unsigned char *match, ITEM_ARGS)
{
    OLD_BEGIN ITEM_BEGIN int begin = set_first[item], n = set_first[item + 1] - begin;
    for (int e = ring_first[item]; e < ring_first[item + 1]; e++) {
        int other = set_first[ring[e]], end = set_first[ring[e] + 1], k = other;
        for (int i = 0; i < n; i++) {
            while (k < end && set_control[k] < set_control[begin + i]) k++;
            match[(INDEX)e * stride + i] = k < end && set_control[k] == set_control[begin + i]
                                               ? (unsigned char)(k - other)
                                               : (unsigned char)REDUCE_NONE;
        }
    }
    for (int i = begin; i < begin + n; i++) {
        double sum = 0;
        for (int e = ring_first[item]; e < ring_first[item + 1]; e++)
            sum += edge[e] * reduce_look_up(control, weight, first[ring[e]], first[ring[e] + 1],
                                            set_control[i]);
        base[i] = reduce_look_up(control, weight, first[item], first[item + 1], set_control[i]) -
                  sum / diagonal[item];
    }
    ITEM_END
}
#endif

// Square of the difference of A - Abar at two vertices, over all controls; u < 0: at v alone.
PROC double reduce_stray(REDUCE_LISTS, int v, int u)
{
    int a = first[v], a_end = first[v + 1], b = set_first[v], b_end = set_first[v + 1];
    int c = u < 0 ? 0 : first[u], c_end = u < 0 ? 0 : first[u + 1];
    int d = u < 0 ? 0 : set_first[u], d_end = u < 0 ? 0 : set_first[u + 1];
    double sum = 0;
    while (a < a_end || b < b_end || c < c_end || d < d_end) {
        int least = 2147483647;
        double own = 0, other = 0;
        if (a < a_end && control[a] < least) least = control[a];
        if (b < b_end && set_control[b] < least) least = set_control[b];
        if (c < c_end && control[c] < least) least = control[c];
        if (d < d_end && set_control[d] < least) least = set_control[d];
        if (a < a_end && control[a] == least) own = -weight[a++];
        if (b < b_end && set_control[b] == least) own += set_weight[b++];
        if (c < c_end && control[c] == least) other = -weight[c++];
        if (d < d_end && set_control[d] == least) other += set_weight[d++];
        sum += (own - other) * (own - other);
    }
    return sum;
}

// The prior's energy: a vertex's anchor and its edges to later vertices.
#ifdef REDUCE_ONLY_stray
OLD_ITEM_KERNEL cutis_reduce_stray(REDUCE_MESH, GLOBAL const double *anchor, REDUCE_LISTS,
                                   GLOBAL double *out, ITEM_ARGS)
{
    OLD_BEGIN ITEM_BEGIN double sum =
        anchor[item] *
        reduce_stray(first, control, weight, set_first, set_control, set_weight, item, -1);
    for (int e = ring_first[item]; e < ring_first[item + 1]; e++)
        if (ring[e] >= item)
            sum += edge[e] * reduce_stray(first, control, weight, set_first, set_control,
                                          set_weight, item, ring[e]);
    out[item] = sum;
    ITEM_END
}
#endif

// Values of the items of a task, in order: blocks of `block` first, then these. Tasks are
// stretches.
#ifdef REDUCE_ONLY_falls
OLD_ITEM_KERNEL cutis_reduce_falls(GLOBAL const double *fall, GLOBAL const int *task_first,
                                   GLOBAL const int *task_end, int block, GLOBAL double *out,
                                   ITEM_ARGS)
{
    OLD_BEGIN ITEM_BEGIN double sum = 0;
    for (int i = task_first[item]; i < task_end[item]; i += block) {
        double part = 0;
        for (int k = i; k < i + block && k < task_end[item]; k++) part += fall[k];
        sum += part;
    }
    out[item] = sum;
    ITEM_END
}
#endif

// Weights of the lanes, in the order of the vertices.
#ifdef REDUCE_ONLY_store
OLD_ITEM_KERNEL cutis_reduce_store(REDUCE_BLOCKS, GLOBAL const int *set_first,
                                   GLOBAL double *set_weight, ITEM_ARGS)
{
    OLD_BEGIN ITEM_BEGIN int v = lane_vertex[item];
    GLOBAL const double *slots = LANE_WEIGHT(item);
    for (int i = 0; v >= 0 && i < block_size[item / REDUCE_BLOCK]; i++)
        set_weight[set_first[v] + i] = ENTRY(slots, i);
    ITEM_END
}
#endif

#endif
