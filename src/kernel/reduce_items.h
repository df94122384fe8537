/// Weight reduction on a device, one vertex an item: choosing sets and the first weights, then the
/// updates of a sweep, a colour a launch. After reduce.h; the same arithmetic in the same order as
/// src/fit/reduce_*.c, which has the CPU's schedule (rows in vectors).
///
/// Defined by the host: REDUCE_SET, REDUCE_CANDIDATES, REDUCE_LIST (the larger of the two) and
/// REDUCE_ROWS (3 per pose), so that a work item's arrays are no larger than they must be; and
/// REDUCE_ONLY_name of the one kernel that is wanted, for compilers take seconds for all.
#ifndef CUTIS_KERNEL_REDUCE_ITEMS_H
#define CUTIS_KERNEL_REDUCE_ITEMS_H

#define REDUCE_PULL     1e-2 // of the first weights towards the original ones
#define REDUCE_PROXIMAL 1e-3 // of a sweep towards the current ones
#define REDUCE_SUM_MIN  1e-6
// An exchange must lower the vertex's energy by this share of what is there.
#define REDUCE_EXCHANGE_MARGIN 1e-6
#define REDUCE_EXCHANGES       4
#define REDUCE_POSES           8 // whose Gram matrix is summed at a time

// What every kernel is told of the problem.
#define REDUCE_PROBLEM                                                                             \
    GLOBAL const double *positions, GLOBAL const int *first, GLOBAL const int *control,            \
        GLOBAL const double *weight, GLOBAL const double *matrices, int columns, int controls,     \
        int limit, int negative
// What is kept for every vertex.
#define REDUCE_STATE                                                                               \
    GLOBAL const int *set_first, GLOBAL const int *gram_first, GLOBAL int *set_control,            \
        GLOBAL double *set_weight, GLOBAL float *set_offset, GLOBAL double *set_gram,              \
        GLOBAL double *error, GLOBAL double *inverses, GLOBAL const int *inverse_first,            \
        GLOBAL INDEX *masks

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

// Gram matrix of candidates, and their products with `wish` (may be NULL in C: pass `right` NULL
// too), poses a few at a time.
PROC void reduce_candidates(GLOBAL const double *positions, GLOBAL const int *control,
                            GLOBAL const double *matrices, int columns, int controls, int vertex,
                            const double *target, const double *wish, const int *list, int n,
                            double *gram, double *right)
{
    float offset[REDUCE_CANDIDATES * 3 * REDUCE_POSES];
    double x = positions[3 * vertex], y = positions[3 * vertex + 1], z = positions[3 * vertex + 2];
    for (int i = 0; i < n * n; i++) gram[i] = 0;
    for (int i = 0; i < n; i++) right[i] = 0;
    for (int begin = 0; begin < 3 * columns; begin += 3 * REDUCE_POSES) {
        int rows = 3 * columns - begin;
        if (rows > 3 * REDUCE_POSES) rows = 3 * REDUCE_POSES;
        for (int i = 0; i < n; i++) {
            double part[8];
            for (int l = 0; l < 8; l++) part[l] = 0;
            for (int r = 0; r < rows; r++) {
                float o =
                    reduce_offset(matrices, controls, control[list[i]], begin + r, x, y, z, target);
                offset[i * rows + r] = o;
                part[r & 7] += o * wish[begin + r];
            }
            right[i] += ((part[0] + part[4]) + (part[1] + part[5])) +
                        ((part[2] + part[6]) + (part[3] + part[7]));
        }
        for (int i = 0; i < n; i++)
            for (int k = 0; k <= i; k++) {
                double sum = 0;
                for (int r = 0; r < rows; r++)
                    sum += (double)offset[i * rows + r] * (double)offset[k * rows + r];
                gram[i * n + k] += sum;
            }
    }
    for (int i = 0; i < n; i++)
        for (int k = 0; k < i; k++) gram[k * n + i] = gram[i * n + k];
}

// Offsets and Gram matrix of the kept set.
PROC void reduce_store(GLOBAL const double *positions, GLOBAL const double *matrices, int columns,
                       int controls, int vertex, const double *target, int begin, int n,
                       GLOBAL const int *set_control, GLOBAL float *set_offset,
                       GLOBAL double *packed)
{
    int rows = 3 * columns;
    double x = positions[3 * vertex], y = positions[3 * vertex + 1], z = positions[3 * vertex + 2];
    GLOBAL float *offset = set_offset + (INDEX)begin * rows;
    for (int i = 0; i < n; i++)
        for (int r = 0; r < rows; r++)
            offset[i * rows + r] =
                reduce_offset(matrices, controls, set_control[begin + i], r, x, y, z, target);
    for (int i = 0; i < n; i++)
        for (int k = 0; k <= i; k++) {
            double sum = 0;
            for (int r = 0; r < rows; r++)
                sum += (double)offset[i * rows + r] * (double)offset[k * rows + r];
            *packed++ = sum;
        }
}

FN void reduce_unpack(GLOBAL const double *packed, int n, double *gram)
{
    for (int r = 0; r < n; r++)
        for (int c = 0; c <= r; c++) gram[r * n + c] = gram[c * n + r] = *packed++;
}

// error = sum of weight * offset.
FN void reduce_blend(GLOBAL const float *offset, GLOBAL const double *weight, int n, int rows,
                     GLOBAL double *error)
{
    for (int r = 0; r < rows; r++) {
        double sum = 0;
        for (int i = 0; i < n; i++) sum += weight[i] * offset[i * rows + r];
        error[r] = sum;
    }
}

// The first weights of a kept set: the original ones divided by their sum, or the geometric fit.
PROC void reduce_weigh(const double *original, int n, GLOBAL const double *packed, int geometric,
                       int negative, GLOBAL double *out)
{
    double gram[REDUCE_SET * REDUCE_SET], right[REDUCE_SET], weight[REDUCE_SET], sum = 0;
    for (int i = 0; i < n; i++) sum += original[i];
    int small = MAGNITUDE(sum) < REDUCE_SUM_MIN;
    for (int i = 0; i < n; i++) weight[i] = small ? 1.0 / n : original[i] / sum;
    if (geometric || small) {
        reduce_unpack(packed, n, gram);
        for (int i = 0; i < n; i++) right[i] = 0;
        reduce_regularise(n, gram, right, REDUCE_PULL, original);
        reduce_solve(n, gram, right, weight, negative);
    }
    for (int i = 0; i < n; i++) out[i] = weight[i];
}

// Sets (fitted or the largest), offsets, Gram matrices, first weights and errors.
#ifdef REDUCE_ONLY_begin
ITEM_KERNEL cutis_reduce_begin(REDUCE_PROBLEM, REDUCE_STATE, int fitted, int geometric, ITEM_ARGS)
{
    ITEM_BEGIN
    int list[REDUCE_LIST], rows = 3 * columns, count = first[item + 1] - first[item];
    int begin = set_first[item], keep = set_first[item + 1] - begin;
    double target[REDUCE_ROWS], original[REDUCE_SET];
    GLOBAL double *own = error + (INDEX)item * rows;
    GLOBAL double *packed = set_gram + gram_first[item];
    reduce_target(positions, first, control, weight, matrices, columns, controls, item, target);
    masks[item] = 0;
    int fit = fitted && count > keep && keep < REDUCE_CANDIDATES;
    int chosen = reduce_largest(first, weight, item, fit ? limit : keep, list);
    if (fit) {
        double gram[REDUCE_CANDIDATES * REDUCE_CANDIDATES], right[REDUCE_CANDIDATES];
        double reference[REDUCE_CANDIDATES];
        int kept[REDUCE_CANDIDATES];
        reduce_candidates(positions, control, matrices, columns, controls, item, target, target,
                          list, chosen, gram, right);
        for (int i = 0; i < chosen; i++) {
            reference[i] = weight[list[i]];
            right[i] = 0;
        }
        reduce_regularise(chosen, gram, right, REDUCE_PULL, reference);
        reduce_eliminate(chosen, gram, right, reference, keep, negative, kept);
        for (int i = 0; i < keep; i++) list[i] = list[kept[i]];
    }
    for (int i = 0; i < keep; i++) {
        set_control[begin + i] = control[list[i]];
        original[i] = weight[list[i]];
    }
    reduce_store(positions, matrices, columns, controls, item, target, begin, keep, set_control,
                 set_offset, packed);
    if (count == keep) {
        for (int i = 0; i < keep; i++) set_weight[begin + i] = original[i];
        for (int r = 0; r < rows; r++) own[r] = 0;
    } else {
        reduce_weigh(original, keep, packed, geometric, negative, set_weight + begin);
        reduce_blend(set_offset + (INDEX)begin * rows, set_weight + begin, keep, rows, own);
    }
    ITEM_END
}
#endif

// Solve the vertex for the wished error on its set and store weights.
PROC void reduce_update(const double *wish, int rows, int n, GLOBAL const float *offset,
                        GLOBAL const double *packed, int negative, double omega, REDUCE_KEPT,
                        GLOBAL double *weight)
{
    double right[REDUCE_SET], old[REDUCE_SET], now[REDUCE_SET];
    for (int i = 0; i < n; i++) {
        right[i] = reduce_dot(rows, offset + i * rows, wish);
        now[i] = old[i] = weight[i];
    }
    reduce_kept_solve(n, packed, REDUCE_PROXIMAL, right, now, negative, kept, mask);
    if (omega != 1) reduce_relax(old, now, n, negative, omega);
    for (int i = 0; i < n; i++) weight[i] = now[i];
}

// The neighbours' average error. 0: it is zero, and so is the vertex's own.
FN int reduce_wish(GLOBAL const int *ring_first, GLOBAL const int *ring, GLOBAL const double *edge,
                   GLOBAL const double *error, int v, int rows, double share, double *wish)
{
    double size = 0;
    for (int r = 0; r < rows; r++) wish[r] = 0;
    for (int i = ring_first[v]; i < ring_first[v + 1]; i++) {
        GLOBAL const double *other = error + (INDEX)ring[i] * rows;
        double l = edge[i];
        for (int r = 0; r < rows; r++) wish[r] += l * other[r];
    }
    for (int r = 0; r < rows; r++) wish[r] *= share;
    for (int r = 0; r < rows; r++)
        size += MAGNITUDE(wish[r]) + MAGNITUDE(error[(INDEX)v * rows + r]);
    return size > 0;
}

FN double reduce_distance(GLOBAL const double *a, const double *b, int rows)
{
    double sum = 0;
    for (int r = 0; r < rows; r++) sum += (a[r] - b[r]) * (a[r] - b[r]);
    return sum;
}

// One colour under the gradient energy, sets fixed. diagonal: of the mesh plus the anchor.
#ifdef REDUCE_ONLY_gradient
ITEM_KERNEL cutis_reduce_gradient(GLOBAL const int *colour, GLOBAL const int *ring_first,
                                  GLOBAL const int *ring, GLOBAL const double *edge,
                                  GLOBAL const double *diagonal, REDUCE_STATE, int columns,
                                  int negative, double omega, int colour_first, GLOBAL double *fall,
                                  ITEM_ARGS)
{
    ITEM_BEGIN
    int v = colour[colour_first + item], rows = 3 * columns, begin = set_first[v];
    int n = set_first[v + 1] - begin;
    double wish[REDUCE_ROWS], d = diagonal[v], gain = 0;
    GLOBAL double *own = error + (INDEX)v * rows;
    GLOBAL const float *offset = set_offset + (INDEX)begin * rows;
    if (n >= 2 && reduce_wish(ring_first, ring, edge, error, v, rows, 1 / d, wish)) {
        double before = reduce_distance(own, wish, rows);
        reduce_update(wish, rows, n, offset, set_gram + gram_first[v], negative, omega,
                      inverses + inverse_first[v], masks + v, set_weight + begin);
        reduce_blend(offset, set_weight + begin, n, rows, own);
        gain = d * (before - reduce_distance(own, wish, rows));
    }
    fall[colour_first + item] = gain;
    ITEM_END
}
#endif

// Weights and value a^T G a - 2 h^T a of a set of candidates; `reference` is dense.
PROC double reduce_try(int n, const double *gram, const double *right, const double *reference,
                       const int *member, int count, int negative, double *weight)
{
    double part[REDUCE_SET * REDUCE_SET], h[REDUCE_SET], pull[REDUCE_SET], sum = 0, value = 0;
    int largest = 0;
    for (int r = 0; r < count; r++) {
        pull[r] = weight[r] = reference[member[r]];
        h[r] = right[member[r]];
        for (int c = 0; c < count; c++) part[r * count + c] = gram[member[r] * n + member[c]];
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
        for (int c = 0; c < count; c++) row += gram[member[r] * n + member[c]] * weight[c];
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
            double found = reduce_try(n, gram, right, reference, next, count, negative, tried);
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

// Look for a better set at the wished error, and keep it.
PROC void reduce_reselect(REDUCE_PROBLEM, REDUCE_STATE, int v, const double *wish)
{
    double gram[REDUCE_CANDIDATES * REDUCE_CANDIDATES], right[REDUCE_CANDIDATES];
    double reference[REDUCE_CANDIDATES], target[REDUCE_ROWS], now[REDUCE_SET], scale = 0;
    int list[REDUCE_LIST], member[REDUCE_SET];
    int begin = set_first[v], count = set_first[v + 1] - begin;
    int n = reduce_largest(first, weight, v, limit, list);
    reduce_target(positions, first, control, weight, matrices, columns, controls, v, target);
    reduce_candidates(positions, control, matrices, columns, controls, v, target, wish, list, n,
                      gram, right);
    for (int i = 0; i < n; i++) reference[i] = 0;
    for (int r = 0; r < count; r++)
        for (int i = 0; i < n; i++)
            if (control[list[i]] == set_control[begin + r]) {
                member[r] = i;
                reference[i] = set_weight[begin + r];
            }
    for (int r = 0; r < 3 * columns; r++) scale += wish[r] * wish[r];
    double value = reduce_try(n, gram, right, reference, member, count, negative, now);
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
    double x = positions[3 * v], y = positions[3 * v + 1], z = positions[3 * v + 2];
    GLOBAL double *packed = set_gram + gram_first[v];
    int rows = 3 * columns;
    masks[v] = 0; // another set, another inverse
    for (int r = 0; r < count; r++) {
        GLOBAL float *offset = set_offset + (INDEX)(begin + r) * rows;
        set_control[begin + r] = control[list[member[r]]];
        set_weight[begin + r] = now[r];
        for (int i = 0; i < rows; i++)
            offset[i] =
                reduce_offset(matrices, controls, set_control[begin + r], i, x, y, z, target);
        for (int c = 0; c <= r; c++) *packed++ = gram[member[r] * n + member[c]];
    }
}

// One colour under the gradient energy, where vertices with few candidates may exchange controls.
// trials: exchanges tried for one, at most.
#ifdef REDUCE_ONLY_exchanging
ITEM_KERNEL cutis_reduce_exchanging(GLOBAL const int *colour, GLOBAL const int *ring_first,
                                    GLOBAL const int *ring, GLOBAL const double *edge,
                                    GLOBAL const double *diagonal, REDUCE_PROBLEM, REDUCE_STATE,
                                    double omega, int trials, int colour_first, GLOBAL double *fall,
                                    ITEM_ARGS)
{
    ITEM_BEGIN
    int v = colour[colour_first + item], rows = 3 * columns, begin = set_first[v];
    int n = set_first[v + 1] - begin, had = first[v + 1] - first[v];
    int outside = (had < limit ? had : limit) - n;
    double wish[REDUCE_ROWS], d = diagonal[v], gain = 0;
    GLOBAL double *own = error + (INDEX)v * rows;
    GLOBAL const float *offset = set_offset + (INDEX)begin * rows;
    if (n >= 2 && reduce_wish(ring_first, ring, edge, error, v, rows, 1 / d, wish)) {
        double before = reduce_distance(own, wish, rows);
        if (outside > 0 && n * outside <= trials)
            reduce_reselect(positions, first, control, weight, matrices, columns, controls, limit,
                            negative, set_first, gram_first, set_control, set_weight, set_offset,
                            set_gram, error, inverses, inverse_first, masks, v, wish);
        else
            reduce_update(wish, rows, n, offset, set_gram + gram_first[v], negative, omega,
                          inverses + inverse_first[v], masks + v, set_weight + begin);
        reduce_blend(offset, set_weight + begin, n, rows, own);
        gain = d * (before - reduce_distance(own, wish, rows));
    }
    fall[colour_first + item] = gain;
    ITEM_END
}
#endif

// One colour (of distance 2) under the paper's energy; rho = L e is kept up to date.
#ifdef REDUCE_ONLY_laplace
ITEM_KERNEL cutis_reduce_laplace(GLOBAL const int *colour, GLOBAL const int *ring_first,
                                 GLOBAL const int *ring, GLOBAL const double *edge,
                                 GLOBAL const double *diagonal, GLOBAL const double *area,
                                 GLOBAL double *rho, REDUCE_STATE, int columns, int negative,
                                 double omega, int colour_first, GLOBAL double *fall, ITEM_ARGS)
{
    ITEM_BEGIN
    int v = colour[colour_first + item], rows = 3 * columns, begin = set_first[v];
    int n = set_first[v + 1] - begin;
    double wish[REDUCE_ROWS], step[REDUCE_ROWS], m = 1 / area[v], l = -diagonal[v];
    double a = m * l * l, size = 0, gain = 0;
    GLOBAL double *own = error + (INDEX)v * rows;
    GLOBAL const float *offset = set_offset + (INDEX)begin * rows;
    for (int r = 0; r < rows; r++) step[r] = m * l * rho[(INDEX)v * rows + r];
    for (int i = ring_first[v]; i < ring_first[v + 1]; i++) {
        int u = ring[i];
        double w = 1 / area[u], c = edge[i];
        a += w * c * c;
        for (int r = 0; r < rows; r++) step[r] += w * c * rho[(INDEX)u * rows + r];
    }
    for (int r = 0; r < rows; r++) {
        wish[r] = a > 0 ? own[r] - step[r] / a : own[r];
        size += MAGNITUDE(step[r]);
    }
    if (n >= 2 && a > 0 && size != 0) {
        gain = reduce_distance(own, wish, rows);
        reduce_update(wish, rows, n, offset, set_gram + gram_first[v], negative, omega,
                      inverses + inverse_first[v], masks + v, set_weight + begin);
        for (int r = 0; r < rows; r++) step[r] = own[r];
        reduce_blend(offset, set_weight + begin, n, rows, own);
        gain -= reduce_distance(own, wish, rows);
        for (int r = 0; r < rows; r++) rho[(INDEX)v * rows + r] += l * (own[r] - step[r]);
        for (int i = ring_first[v]; i < ring_first[v + 1]; i++) {
            GLOBAL double *near = rho + (INDEX)ring[i] * rows;
            double c = edge[i];
            for (int r = 0; r < rows; r++) near[r] += c * (own[r] - step[r]);
        }
        gain = a * gain;
    }
    fall[colour_first + item] = gain;
    ITEM_END
}
#endif

// Per vertex: the energy of its edges to later vertices, and its anchor's (gradient); or the square
// of its Laplacian (laplace), twice. docs/design/reduction.md.
#ifdef REDUCE_ONLY_energy
ITEM_KERNEL cutis_reduce_energy(GLOBAL const int *ring_first, GLOBAL const int *ring,
                                GLOBAL const double *edge, GLOBAL const double *diagonal,
                                GLOBAL const double *anchor, GLOBAL const double *error,
                                int columns, int laplace, GLOBAL double *edges,
                                GLOBAL double *anchors, ITEM_ARGS)
{
    ITEM_BEGIN
    reduce_energy(ring_first, ring, edge, diagonal[item], anchor[item], error, 3 * columns, laplace,
                  item, edges + item, anchors + item);
    ITEM_END
}
#endif

// Falls of the vertices of a task, in order: tasks are stretches of the colour list.
#ifdef REDUCE_ONLY_falls
ITEM_KERNEL cutis_reduce_falls(GLOBAL const double *fall, GLOBAL const int *task_first,
                               GLOBAL const int *task_end, GLOBAL double *out, ITEM_ARGS)
{
    ITEM_BEGIN
    double sum = 0;
    for (int i = task_first[item]; i < task_end[item]; i++) sum += fall[i];
    out[item] = sum;
    ITEM_END
}
#endif

#endif
