/// The update that all energies share, KERNEL_LANES vertices of a block side by side: what a vertex
/// keeps between sweeps, the step from it, and the search where the active controls change. After
/// reduce_sets.h.
///
/// Of a vertex's weights a the energy is |C a - desired|^2, or with a metric A of the error's step
/// s s^T A s - 2 F^T s, F the force; C: offsets. Weights stay where they are or lower the energy.
#ifndef CUTIS_KERNEL_REDUCE_LANES_H
#define CUTIS_KERNEL_REDUCE_LANES_H

#include "reduce_sets.h"

// KERNEL_LANES lanes of a block at work. n is read from memory even where all vertices keep as
// many: with the number as a constant NVRTC 13 makes code that stops with error 717 or gives
// weights that are wrong.
STRUCT(reduce_block)
{
    int n, rows, negative;
    double lambda;                      // a pull of the weights besides the proximal one
    GLOBAL double *weight;              // these five: of the lanes, n slots or rows of them
    GLOBAL float *offset;               // n * rows
    GLOBAL double *kept;                // REDUCE_KEPT_SIZE(n)
    GLOBAL INDEX *active;               // 1
    GLOBAL const double *metric;        // 2 * rows; 0: none
    REAL *desired, *own, *rest, *error; // rows: desired error, or the force; error before; scratch;
                                        // error after
};

// Weights on their way: before, after, and a further pull on each.
STRUCT(reduce_change)
{
    INT settled; // lanes whose weights are not changed
    REAL old[REDUCE_SET], now[REDUCE_SET], push[REDUCE_SET];
};

FN reduce_block reduce_block_at(const reduce_blocks *blocks, int lane, int rows, int negative)
{
    reduce_block b;
    const int block = lane / REDUCE_BLOCK, l = lane % REDUCE_BLOCK;
    const INDEX slot = (INDEX)blocks->slot_first[block] * REDUCE_BLOCK;
    b.n = blocks->block_size[block];
    b.rows = rows;
    b.negative = negative;
    b.lambda = 0;
    b.weight = blocks->block_weight + slot + l;
    b.offset = blocks->block_offset + slot * rows + l;
    b.kept = blocks->block_kept + (INDEX)blocks->kept_first[block] * REDUCE_BLOCK + l;
    b.active = blocks->block_active + lane;
    b.metric = 0;
    b.desired = b.own = b.rest = b.error = 0;
    return b;
}

// Memory for the rows of an update: arrays of a work item, a task's scratch on a CPU.
#ifdef REDUCE_COLUMNS
#define REDUCE_SCRATCH_ROW(name, k) REAL name[3 * REDUCE_COLUMNS];
#else
#define REDUCE_SCRATCH_ROW(name, k)                                                                \
    REAL *name =                                                                                   \
        (REAL *)scratch +                                                                          \
        ((INDEX)(given.item_first / REDUCE_TASK) * REDUCE_SCRATCH_ROWS + (k)) * 3 * COLUMNS;
#endif
// In a kernel that updates: `block`, its first `lane`, the vertices of its lanes, and a `line` that
// one lane's desired row is made in.
#define TAKE_BLOCK                                                                                 \
    const int lane = given.lane_first + item * KERNEL_LANES;                                       \
    GLOBAL const int *vertex = lane_vertex + lane;                                                 \
    REDUCE_SCRATCH_ROW(desired, 0)                                                                 \
    REDUCE_SCRATCH_ROW(own, 1)                                                                     \
    REDUCE_SCRATCH_ROW(rest, 2)                                                                    \
    REDUCE_SCRATCH_ROW(error_after, 3)                                                             \
    reduce_block block = reduce_block_at(&blocks, lane, 3 * COLUMNS, given.sizes.negative);        \
    double *line = LINE(desired, rest);                                                            \
    block.desired = desired;                                                                       \
    block.own = own;                                                                               \
    block.rest = rest;                                                                             \
    block.error = error_after

// x = A x: a symmetric 3x3 matrix a pose, its xx, yy, zz, xy, xz, yz in `metric`.
FN void reduce_apply_metric(int rows, GLOBAL const double *metric, REAL *x)
{
    for (int r = 0; r < rows; r += 3) {
        // There are three rows a pose.
        // NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign)
        REAL a = x[r], b = x[r + 1], c = x[r + 2];
        REAL ab = ENTRY(metric, 2 * r + 3), ac = ENTRY(metric, 2 * r + 4);
        REAL bc = ENTRY(metric, 2 * r + 5);
        x[r] = ENTRY(metric, 2 * r) * a + ab * b + ac * c;
        x[r + 1] = ab * a + ENTRY(metric, 2 * r + 1) * b + bc * c;
        x[r + 2] = ac * a + bc * b + ENTRY(metric, 2 * r + 2) * c;
    }
}

// gram += offset^T A offset.
WIDE_FN void reduce_gram_metric(int n, int rows, const float *offset, GLOBAL const double *metric,
                                REAL *gram)
{
    REAL scaled[REDUCE_CHUNK];
    for (int i = 0, at = 0; i < n; at += ++i) {
        for (int r = 0; r < rows; r++) scaled[r] = NEAR_FLOAT(offset, i * rows + r);
        reduce_apply_metric(rows, metric, scaled);
        for (int k = 0; k <= i; k++) {
            REAL sum = gram[at + k];
            for (int r = 0; r < rows; r++) sum += scaled[r] * NEAR_FLOAT(offset, k * rows + r);
            gram[at + k] = sum;
        }
    }
}

// gram = C^T C or C^T A C of a block's offsets.
WIDE_FN void reduce_block_gram(const reduce_block *b, REAL *gram)
{
    float chunk[REDUCE_SET * REDUCE_CHUNK * KERNEL_LANES];
    for (int i = 0; i < TRIANGLE(b->n); i++) gram[i] = ZERO;
    for (int from = 0; from < b->rows; from += REDUCE_CHUNK) {
        const int rows = b->rows - from < REDUCE_CHUNK ? b->rows - from : REDUCE_CHUNK;
        for (int i = 0; i < b->n; i++)
            for (int r = 0; r < rows; r++)
                for (int l = 0; l < KERNEL_LANES; l++)
                    chunk[(i * rows + r) * KERNEL_LANES + l] =
                        b->offset[(i * b->rows + from + r) * REDUCE_BLOCK + l];
        if (b->metric)
            reduce_gram_metric(b->n, rows, chunk, b->metric + 2 * from * REDUCE_BLOCK, gram);
        else
            reduce_gram(b->n, rows, chunk, gram);
    }
}

// What a vertex keeps between sweeps: its Gram matrix and the pulls never change, so for as long as
// the same controls are active the solution is a = K h + s with nu = 1 / t - s . h, where I is the
// inverse of the active system, n = I 1, t = 1 . n, s = n / t, K = I - n s^T; rows of other
// controls are zero. `kept`: mean diagonal of the Gram matrix, 1 / t, s, lower triangle of K.
#if KERNEL_LANES > 1
#define PUT_LANES(p, i, lanes, x) PUT_ENTRY(p, i, SELECT(lanes, x, ENTRY(p, i)))
#else
#define PUT_LANES(p, i, lanes, x) PUT_ENTRY(p, i, x)
#endif

// Invert the active part of a Gram matrix (overwritten) and keep it for `lanes` (one of them at
// least). `row`: scratch. @return lanes that could be inverted
WIDE_FN INT reduce_keep_inverse(const reduce_block *b, REAL *gram, REAL mean, INT active, INT lanes,
                                REAL *row)
{
    const int n = b->n;
    const REAL shift = REDUCE_PROXIMAL * mean + b->lambda;
    REAL total = ZERO;
    for (int i = 0, at = 0; i < n; i++) {
        INT mine = HAS(active, i);
        for (int c = 0; c < i; c++, at++) gram[at] = SELECT(mine & HAS(active, c), gram[at], ZERO);
        gram[at] = SELECT(mine, gram[at] + shift, ONE);
        at++;
    }
    INT good = reduce_invert(n, gram, row);
    for (int i = 0; i < n; i++) {
        REAL sum = ZERO;
        for (int c = 0; c < n; c++) sum += gram[reduce_packed(i, c)];
        row[i] = SELECT(HAS(active, i), sum, ZERO);
        total += row[i];
    }
    good = good & (total > ZERO) & (total <= SPLAT(REDUCE_MOST));
    REAL share = ONE / SELECT(good, total, ONE);
    PUT_LANES(b->kept, 0, lanes, mean);
    PUT_LANES(b->kept, 1, lanes, share);
    for (int i = 0, at = 0; i < n; i++) {
        INT mine = HAS(active, i);
        REAL part = row[i] * share;
        PUT_LANES(b->kept, 2 + i, lanes, part);
        for (int c = 0; c <= i; c++, at++) {
            REAL k = SELECT(mine & HAS(active, c), gram[at] - part * row[c], ZERO);
            PUT_LANES(b->kept, 2 + n + at, lanes, k);
        }
    }
    return good;
}

// Bits of controls that a vertex starts from: those with positive weights, all if negative ones are
// allowed.
FN INT reduce_positive(const reduce_block *b, const REAL *weight)
{
    INT active = NO_LANES;
    for (int i = 0; i < b->n; i++) {
        INT positive = b->negative ? ALL_LANES : weight[i] > ZERO;
        active = active | SELECT_BITS(positive, (INT1)1 << i, (INT1)0);
    }
    return active;
}

ITEM_KERNEL(reduce_keep, REDUCE_KEEP_BUFFERS)
{
    TAKE_BLOCKS;
    ITEM_BEGIN
    const int lane = item * KERNEL_LANES, rows = 3 * COLUMNS;
    reduce_block block = reduce_block_at(&blocks, lane, rows, given.sizes.negative);
    REAL gram[TRIANGLE(REDUCE_SET)], row[REDUCE_SET];
    INT active = NO_LANES;
    block.lambda = given.lambda;
    if (block_metric)
        block.metric = block_metric + (INDEX)(lane / REDUCE_BLOCK) * 2 * rows * REDUCE_BLOCK +
                       lane % REDUCE_BLOCK;
    if (block.n >= 2 && lane_vertex[lane] >= 0) { // else it is never solved
        for (int i = 0; i < block.n; i++) row[i] = ENTRY(block.weight, i);
        active = reduce_positive(&block, row);
        reduce_block_gram(&block, gram);
        INT good = reduce_keep_inverse(&block, gram, reduce_mean_diagonal(block.n, gram), active,
                                       ALL_LANES, row);
        active = SELECT_BITS(good, active, (INT1)0);
    }
    STORE_BITS(block.active, active);
    ITEM_END
}

// Steps -----------------------------------------------------------------------------------------

// Bits of controls that are not active in some lane that is not settled.
FN INDEX reduce_outside(int n, INT active, INT settled)
{
    INDEX inside = ~(INDEX)0, all = 0;
    for (int l = 0; l < KERNEL_LANES; l++)
        if (!LANE(settled, l)) inside = inside & LANE(active, l);
    for (int i = 0; i < n; i++) all |= (INDEX)1 << i;
    return all & ~inside;
}

// The step from `old` if the active controls stay as they are: d = K h for the rows that are
// missing (`rest`). @return lanes whose `now` is within bounds
FN INT reduce_step_kept(const reduce_block *b, INT active, const REAL *rest, REAL *h,
                        reduce_change *s)
{
    const int n = b->n, rows = b->rows;
    REAL total = ZERO;
    INT good = active != 0;
    for (int i = 0; i < n; i++) {
        REAL sum = ZERO;
        for (int r = 0; r < rows; r++) sum += FLOAT_ENTRY(b->offset, i * rows + r) * rest[r];
        h[i] = sum + s->push[i];
    }
    for (int i = 0, at = 2 + n; i < n; i++) {
        REAL sum = ZERO, own_h = h[i];
        for (int c = 0; c < i; c++, at++) {
            REAL k = ENTRY(b->kept, at);
            sum += k * h[c];
            s->now[c] += k * own_h;
        }
        s->now[i] = sum + ENTRY(b->kept, at) * own_h;
        at++;
    }
    for (int i = 0; i < n; i++) {
        s->now[i] += s->old[i];
        total += s->now[i];
    }
    good = good & (total - total == ZERO);
    if (b->negative) return good;
    for (int i = 0; i < n; i++) good = good & ((s->now[i] < ZERO) == 0);
    return good;
}

// `slope`: what half the energy's derivative by the rows is at `now`. @return lanes where no
// multiplier of a control that is not active is negative
FN INT reduce_none_wanted(const reduce_block *b, INT active, INDEX outside, const REAL *slope,
                          const REAL *h, const reduce_change *s)
{
    const int n = b->n, rows = b->rows;
    INT good = ALL_LANES;
    REAL nu = ZERO, largest = ENTRY(b->kept, 0);
    for (int i = 0; i < n; i++) {
        REAL size = reduce_size_of(h[i]);
        nu -= ENTRY(b->kept, 2 + i) * h[i];
        largest = SELECT(largest < size, size, largest);
    }
    for (int i = 0; i < n; i++) {
        REAL z = -s->push[i] - nu;
        if (!HAS(outside, i)) continue;
        for (int r = 0; r < rows; r++) z += FLOAT_ENTRY(b->offset, i * rows + r) * slope[r];
        good = good & (HAS(active, i) | ((z < -REDUCE_TINY * largest) == 0));
    }
    return good;
}

// rows = C a - from
FN void reduce_blend(const reduce_block *b, const REAL *a, const REAL *from, REAL *out)
{
    for (int r = 0; r < b->rows; r++) {
        REAL sum = -from[r];
        for (int i = 0; i < b->n; i++) sum += FLOAT_ENTRY(b->offset, i * b->rows + r) * a[i];
        out[r] = sum;
    }
}

// The update if the active controls stay as they are. @return lanes whose `now` is the solution
FN INT reduce_attempt(const reduce_block *b, INT active, reduce_change *s)
{
    REAL h[REDUCE_SET];
    for (int r = 0; r < b->rows && !b->metric; r++) b->rest[r] = b->desired[r] - b->own[r];
    INT good = reduce_step_kept(b, active, b->metric ? b->desired : b->rest, h, s);
    const INDEX outside = b->negative ? 0 : reduce_outside(b->n, active, s->settled);
    if (outside == 0) return good;
    reduce_blend(b, s->now, b->metric ? b->own : b->desired, b->rest);
    if (b->metric) {
        reduce_apply_metric(b->rows, b->metric, b->rest);
        for (int r = 0; r < b->rows; r++) b->rest[r] -= b->desired[r];
    }
    return good & reduce_none_wanted(b, active, outside, b->rest, h, s);
}

// Active sets -----------------------------------------------------------------------------------

// From `now` of the busy lanes towards the solution on their active controls, as far as the first
// bound, whose control is then no longer active. @return lanes that went all the way
FN INT reduce_towards(int n, INT busy, const REAL *solution, INT *active, REAL *now)
{
    REAL alpha = ONE, bound = SPLAT((double)n);
    for (int i = 0; i < n; i++) {
        INT low = busy & HAS(*active, i) & ((solution[i] > ZERO) == 0);
        REAL step = now[i] / (now[i] - solution[i]);
        step = SELECT(step >= ZERO, step, ZERO); // old and new both zero
        INT nearer = step < alpha, take = low & (nearer | (bound == SPLAT((double)n)));
        alpha = SELECT(take & nearer, step, alpha);
        bound = SELECT(take, SPLAT((double)i), bound);
    }
    INT whole = bound == SPLAT((double)n);
    for (int i = 0; i < n; i++) {
        INT mine = busy & HAS(*active, i), out = mine & (bound == SPLAT((double)i));
        REAL moved = now[i] + alpha * (solution[i] - now[i]);
        moved = SELECT(moved > ZERO, moved, ZERO);
        moved = SELECT(whole, solution[i], SELECT(out, ZERO, moved));
        now[i] = SELECT(mine, moved, now[i]);
        *active = *active & ~SELECT_BITS(out, (INT1)1 << i, (INT1)0);
    }
    return busy & whole;
}

// The control that is not active and whose multiplier is most negative, as a bit of `lanes`; 0: no
// control's is.
FN INT reduce_wanted(const reduce_block *b, INT lanes, const REAL *right, INT active, REAL nu,
                     const REAL *now)
{
    const int n = b->n, rows = b->rows;
    REAL largest = ENTRY(b->kept, 0);
    INT found = NO_LANES;
    for (int i = 0; i < n; i++) {
        REAL size = reduce_size_of(right[i]);
        largest = SELECT(size > largest, size, largest);
    }
    for (int r = 0; r < rows; r++) {
        REAL sum = ZERO;
        for (int i = 0; i < n; i++) sum += FLOAT_ENTRY(b->offset, i * rows + r) * now[i];
        b->rest[r] = sum;
    }
    if (b->metric) reduce_apply_metric(rows, b->metric, b->rest);
    REAL worst = -REDUCE_TINY * largest;
    for (int i = 0; i < n; i++) {
        REAL z = -right[i] - nu;
        INT outside = lanes & (HAS(active, i) == 0);
        if (!reduce_any(outside)) continue;
        for (int r = 0; r < rows; r++) z += FLOAT_ENTRY(b->offset, i * rows + r) * b->rest[r];
        INT take = outside & (z < worst);
        worst = SELECT(take, z, worst);
        found = SELECT_BITS(take, (INT1)1 << i, found);
    }
    return found;
}

// The right side of the search: C^T desired (with a metric C^T (F + A e)) and the pulls.
FN void reduce_search_right(const reduce_block *b, REAL mean, const reduce_change *s, REAL *right)
{
    const int n = b->n, rows = b->rows;
    const REAL shift = REDUCE_PROXIMAL * mean + b->lambda;
    for (int r = 0; r < rows; r++) b->rest[r] = b->metric ? b->own[r] : b->desired[r];
    if (b->metric) {
        reduce_apply_metric(rows, b->metric, b->rest);
        for (int r = 0; r < rows; r++) b->rest[r] += b->desired[r];
    }
    for (int i = 0; i < n; i++) {
        REAL sum = ZERO;
        for (int r = 0; r < rows; r++) sum += FLOAT_ENTRY(b->offset, i * rows + r) * b->rest[r];
        right[i] = sum + s->push[i] + shift * s->old[i];
    }
}

// The solution on the controls that are kept. @return nu
FN REAL reduce_solve_kept(const reduce_block *b, const REAL *right, REAL *solution)
{
    const int n = b->n;
    REAL nu = ENTRY(b->kept, 1);
    for (int i = 0; i < n; i++) {
        REAL part = ENTRY(b->kept, 2 + i), sum = part;
        nu -= part * right[i];
        for (int c = 0; c < n; c++) sum += ENTRY(b->kept, 2 + n + reduce_packed(i, c)) * right[c];
        solution[i] = sum;
    }
    return nu;
}

// The update of lanes (`wrong`) whose active controls change: the active set is searched from the
// one that is kept, whose inverse follows. A singular system leaves the weights as they were.
PROC void reduce_search(const reduce_block *b, const INT *wrong, reduce_change *s)
{
    REAL gram[TRIANGLE(REDUCE_SET)], right[REDUCE_SET], solution[REDUCE_SET];
    const int n = b->n;
    INT busy = *wrong, kept = LOAD_BITS(b->active), active = kept, fresh = busy & (kept == 0);
    REAL mean = ENTRY(b->kept, 0);
    if (reduce_any(fresh)) {
        active = SELECT_BITS(fresh, reduce_positive(b, s->old), active);
        reduce_block_gram(b, gram);
        mean = SELECT(fresh, reduce_mean_diagonal(n, gram), mean);
    }
    reduce_search_right(b, mean, s, right);
    for (int i = 0; i < n; i++) s->now[i] = SELECT(busy, s->old[i], s->now[i]);
    for (int iteration = 0; iteration < REDUCE_ITERATIONS; iteration++) {
        busy = busy & (active != 0);
        INT changed = busy & (kept != active);
        if (reduce_any(changed)) {
            reduce_block_gram(b, gram);
            INT good = reduce_keep_inverse(b, gram, mean, active, changed, solution);
            kept = SELECT_BITS(changed, SELECT_BITS(good, active, (INT1)0), kept);
            busy = busy & ((changed == 0) | good);
        }
        if (!reduce_any(busy)) break;
        REAL nu = reduce_solve_kept(b, right, solution);
        if (b->negative) {
            for (int i = 0; i < n; i++) s->now[i] = SELECT(busy, solution[i], s->now[i]);
            break;
        }
        INT whole = reduce_towards(n, busy, solution, &active, s->now);
        if (!reduce_any(whole)) continue;
        INT wanted = reduce_wanted(b, whole, right, active, nu, s->now);
        active = active | wanted;
        busy = busy & ((whole == 0) | (wanted != 0));
    }
    STORE_BITS(b->active, kept);
}

// Updates ---------------------------------------------------------------------------------------

// From a solution to new weights: the last rounding out of their sum, then further by `omega`, as
// far as the bounds allow. Lanes that are settled keep theirs. error = C a
FN void reduce_finish(const reduce_block *b, double omega, reduce_change *s)
{
    const int n = b->n;
    const REAL *old = s->old;
    REAL total = ZERO, far = SPLAT(omega), *now = s->now;
    INT low = NO_LANES;
    for (int i = 0; i < n; i++) total += now[i];
    total = ONE / total;
    for (int i = 0; i < n; i++) now[i] = now[i] * total - old[i]; // the step
    for (int i = 0; i < n && !b->negative; i++) low = low | (old[i] + far * now[i] < ZERO);
    if (reduce_any(low))
        for (int i = 0; i < n; i++) {
            INT bound = old[i] + omega * now[i] < ZERO;
            REAL ratio = -old[i] / SELECT(bound, now[i], ONE);
            far = SELECT(bound & (ratio < far), ratio, far);
        }
    for (int i = 0; i < n; i++) {
        REAL weight = old[i] + far * now[i];
        if (!b->negative) weight = SELECT(weight < ZERO, ZERO, weight); // rounding at the bound
        now[i] = SELECT(s->settled, old[i], weight);
    }
    for (int r = 0; r < b->rows; r++) {
        REAL sum = ZERO;
        for (int i = 0; i < n; i++) sum += FLOAT_ENTRY(b->offset, i * b->rows + r) * now[i];
        b->error[r] = sum;
    }
}

// The desired error of lane l (in `line`) and its error; zeros where it does not move.
FN void reduce_gather(const reduce_block *b, int l, int v, int moves, GLOBAL const double *error,
                      double *line)
{
    for (int r = 0; r < b->rows && !moves; r++) line[r] = 0;
    lane_put(b->desired, l, b->rows, line);
    for (int r = 0; r < b->rows; r++)
        LANE(b->own[r], l) = moves ? error[(INDEX)v * b->rows + r] : 0;
}

// The new error of lane l to its vertex. step: by how much it moved; 0: not wanted
FN void reduce_scatter(const reduce_block *b, int l, int v, GLOBAL double *error, double *step)
{
    GLOBAL double *out = error + (INDEX)v * b->rows;
    for (int r = 0; r < b->rows; r++) out[r] = LANE(b->error[r], l);
    for (int r = 0; r < b->rows && step; r++) step[r] = LANE(b->error[r], l) - LANE(b->own[r], l);
}

FN void reduce_begin(const reduce_block *b, INT idle, reduce_change *s)
{
    s->settled = idle;
    for (int i = 0; i < b->n; i++) s->push[i] = ZERO;
}

// From desired errors to weights and errors of the lanes that are not settled. Errors of the others
// are those of their weights.
FN void reduce_update(const reduce_block *b, double omega, reduce_change *s)
{
    for (int i = 0; i < b->n; i++) s->now[i] = s->old[i] = ENTRY(b->weight, i);
    if (reduce_any(s->settled == 0)) {
        INT wrong = (reduce_attempt(b, LOAD_BITS(b->active), s) == 0) & (s->settled == 0);
        if (reduce_any(wrong)) reduce_search(b, &wrong, s);
    }
    reduce_finish(b, omega, s);
    for (int i = 0; i < b->n; i++) PUT_ENTRY(b->weight, i, s->now[i]);
}

// Squared distances from the desired.
FN void reduce_distances(const reduce_block *b, REAL *before, REAL *after)
{
    *before = *after = ZERO;
    for (int r = 0; r < b->rows; r++) {
        *before += (b->own[r] - b->desired[r]) * (b->own[r] - b->desired[r]);
        *after += (b->error[r] - b->desired[r]) * (b->error[r] - b->desired[r]);
    }
}

#endif
