/// Weight reduction, one vertex a lane: Gram matrices, inverses, backward elimination and the
/// updates of sweeps, over REAL of kernel.h (with KERNEL_DOUBLE). A CPU compiles the text with 8
/// lanes, a GPU and the CPU's search with one; all of them read records of blocks of 8 vertices,
/// entry i of lane l at 8 * i + l. After item.h.
///
/// Invariant: a lane's result is a function of that lane's numbers alone, and every sum runs in a
/// fixed order, so the bits do not depend on the number of lanes or on the neighbours in a block.
/// Defined by whoever includes it: REDUCE_SET (most controls a vertex keeps), REDUCE_CANDIDATES
/// (most it chooses from).
#ifndef CUTIS_KERNEL_REDUCE_WIDE_H
#define CUTIS_KERNEL_REDUCE_WIDE_H

#define REDUCE_BLOCK 8 // lanes of a block's records
#define REDUCE_POSES 8 // whose rows are held at a time
#define REDUCE_TINY  1e-10
#define REDUCE_MOST  1.7976931348623157e308
#define TRIANGLE(n)  ((n) * ((n) + 1) / 2) // entries of the lower triangle of n rows

// Longer still: OpenCL's compilers take seconds where they put them into each other.
#ifndef WIDE_FN
#ifdef KERNEL_OPENCL
#define WIDE_FN static __attribute__((noinline))
#else
#define WIDE_FN FN
#endif
#endif

#if KERNEL_LANES > 1
typedef float reduce_floats __attribute__((vector_size(4 * KERNEL_LANES), aligned(4), may_alias));
typedef INT1 reduce_loose __attribute__((vector_size(8 * KERNEL_LANES), aligned(8), may_alias));
#define LANE(x, l)         ((x)[l])
#define ENTRY(p, i)        LOAD((p) + (i)*REDUCE_BLOCK)
#define PUT_ENTRY(p, i, x) STORE((p) + (i)*REDUCE_BLOCK, x)
#define FLOAT_ENTRY(p, i)                                                                          \
    __builtin_convertvector(*(const reduce_floats *)((p) + (i)*REDUCE_BLOCK), REAL)
FN int reduce_any(INT m)
{
    INT1 any = 0;
    for (int l = 0; l < KERNEL_LANES; l++) any |= m[l];
    return any != 0;
}
#else
#define LANE(x, l)         (x)
#define ENTRY(p, i)        ((p)[(i)*REDUCE_BLOCK])
#define PUT_ENTRY(p, i, x) ((p)[(i)*REDUCE_BLOCK] = (x))
#define FLOAT_ENTRY(p, i)  ((double)(p)[(i)*REDUCE_BLOCK])
#define reduce_any(m)      ((m) != 0)
#endif
#define ZERO SPLAT(0.0)
#define ONE  SPLAT(1.0)

// Is bit i of every lane set?
#define HAS(bits, i) ((((bits) >> (i)) & 1) != 0)

// gram += offset^T offset: the lower triangle row after row, rows of the offsets ascending. Four
// entries at a time, so that none waits for the others' sums.
WIDE_FN void reduce_gram(int n, int rows, GLOBAL const float *offset, REAL *gram)
{
    for (int i = 0, at = 0; i < n; i++) {
        int k = 0;
        for (; k + 4 <= i + 1; k += 4, at += 4) {
            REAL a = gram[at], b = gram[at + 1], c = gram[at + 2], d = gram[at + 3];
            for (int r = 0; r < rows; r++) {
                REAL own = FLOAT_ENTRY(offset, i * rows + r);
                a += own * FLOAT_ENTRY(offset, k * rows + r);
                b += own * FLOAT_ENTRY(offset, (k + 1) * rows + r);
                c += own * FLOAT_ENTRY(offset, (k + 2) * rows + r);
                d += own * FLOAT_ENTRY(offset, (k + 3) * rows + r);
            }
            gram[at] = a;
            gram[at + 1] = b;
            gram[at + 2] = c;
            gram[at + 3] = d;
        }
        for (; k <= i; k++, at++) {
            REAL sum = gram[at];
            for (int r = 0; r < rows; r++)
                sum += FLOAT_ENTRY(offset, i * rows + r) * FLOAT_ENTRY(offset, k * rows + r);
            gram[at] = sum;
        }
    }
}

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
WIDE_FN void reduce_gram_turned(int n, int rows, GLOBAL const float *offset,
                                GLOBAL const double *metric, REAL *gram)
{
    REAL turned[3 * REDUCE_POSES];
    for (int i = 0, at = 0; i < n; at += ++i)
        for (int from = 0; from < rows; from += 3 * REDUCE_POSES) {
            int some = rows - from < 3 * REDUCE_POSES ? rows - from : 3 * REDUCE_POSES;
            for (int r = 0; r < some; r++) turned[r] = FLOAT_ENTRY(offset, i * rows + from + r);
            reduce_apply_metric(some, metric + 2 * from * REDUCE_BLOCK, turned);
            for (int k = 0; k <= i; k++) {
                REAL sum = gram[at + k];
                for (int r = 0; r < some; r++)
                    sum += turned[r] * FLOAT_ENTRY(offset, k * rows + from + r);
                gram[at + k] = sum;
            }
        }
}

// a -= f f^T share, in the lower triangle.
FN void reduce_downdate(int n, const REAL *f, REAL share, REAL *a)
{
    for (int r = 0; r < n; r++) {
        REAL factor = f[r] * share, *line = a + TRIANGLE(r);
        int c = 0;
        for (; c + 4 <= r + 1; c += 4) {
            line[c] -= factor * f[c];
            line[c + 1] -= factor * f[c + 1];
            line[c + 2] -= factor * f[c + 2];
            line[c + 3] -= factor * f[c + 3];
        }
        for (; c <= r; c++) line[c] -= factor * f[c];
    }
}

FN REAL reduce_mean_diagonal(int n, const REAL *gram)
{
    REAL sum = ZERO;
    for (int i = 0; i < n; i++) sum += gram[TRIANGLE(i) + i];
    return sum / SPLAT((double)n);
}

// Inverse of positive definite matrices in place (lower triangles), pivot after pivot: what is
// swept stands with its sign changed until the end. `row`: scratch. @return lanes whose pivots were
// all positive
WIDE_FN INT reduce_invert(int n, REAL *a, REAL *row)
{
    INT good = ZERO == ZERO;
    for (int p = 0; p < n; p++) {
        REAL pivot = a[TRIANGLE(p) + p];
        good = good & (pivot > ZERO) & (pivot <= SPLAT(REDUCE_MOST));
        REAL inverse = ONE / SELECT(good, pivot, ONE);
        for (int i = 0; i < p; i++) row[i] = a[TRIANGLE(p) + i];
        for (int i = p + 1; i < n; i++) row[i] = a[TRIANGLE(i) + p];
        row[p] = ZERO; // its row and column stay as they are
        reduce_downdate(n, row, inverse, a);
        for (int i = 0; i < p; i++) a[TRIANGLE(p) + i] = row[i] * inverse;
        for (int i = p + 1; i < n; i++) a[TRIANGLE(i) + p] = row[i] * inverse;
        a[TRIANGLE(p) + p] = -inverse;
    }
    for (int i = 0; i < TRIANGLE(n); i++) a[i] = -a[i];
    return good;
}

// Row sums of an inverse and its product with `right`.
WIDE_FN void reduce_products(int n, const REAL *inverse, const REAL *right, REAL *ones,
                             REAL *product)
{
    for (int i = 0, at = 0; i < n; i++) {
        ones[i] = product[i] = ZERO;
        for (int c = 0; c < i; c++, at++) {
            ones[i] += inverse[at];
            product[i] += inverse[at] * right[c];
            ones[c] += inverse[at];
            product[c] += inverse[at] * right[i];
        }
        ones[i] += inverse[at];
        product[i] += inverse[at++] * right[i];
    }
}

// What a vertex keeps between sweeps: its Gram matrix and the pulls never change, so for as long as
// the same controls are active the solution is a = K h + s with nu = 1 / t - s . h, where I is the
// inverse of the active system, n = I 1, t = 1 . n, s = n / t, K = I - n s^T; rows of other
// controls are zero. `kept`: mean diagonal of the Gram matrix, 1 / t, s, lower triangle of K.
#define REDUCE_KEPT_SIZE(n) (2 + (n) + TRIANGLE(n))

// Invert the active part of a Gram matrix (spoilt) with `shift` on its diagonal. `row`: scratch.
// @return lanes that could be inverted
WIDE_FN INT reduce_keep(int n, REAL *gram, REAL mean, REAL shift, INT active, REAL *row,
                        GLOBAL double *kept)
{
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
        for (int c = 0; c < n; c++) sum += gram[c < i ? TRIANGLE(i) + c : TRIANGLE(c) + i];
        row[i] = SELECT(HAS(active, i), sum, ZERO);
        total += row[i];
    }
    good = good & (total > ZERO) & (total <= SPLAT(REDUCE_MOST));
    REAL share = ONE / SELECT(good, total, ONE);
    PUT_ENTRY(kept, 0, mean);
    PUT_ENTRY(kept, 1, share);
    for (int i = 0, at = 0; i < n; i++) {
        INT mine = HAS(active, i);
        REAL part = row[i] * share;
        PUT_ENTRY(kept, 2 + i, part);
        for (int c = 0; c <= i; c++, at++)
            PUT_ENTRY(kept, 2 + n + at,
                      SELECT(mine & HAS(active, c), gram[at] - part * row[c], ZERO));
    }
    return good;
}

// The step of a vertex from `old` if its active controls stay as they are: d = K h for the rows
// that are missing (`rest`). `push`: a further pull, per slot. @return lanes whose `now` is within
// bounds
FN INT reduce_step_kept(int n, int rows, GLOBAL const float *offset, GLOBAL const double *kept,
                        INT active, int negative, const REAL *rest, const REAL *push,
                        const REAL *old, REAL *h, REAL *now)
{
    REAL total = ZERO;
    INT good = active != 0;
    for (int i = 0; i < n; i++) {
        REAL sum = ZERO;
        for (int r = 0; r < rows; r++) sum += FLOAT_ENTRY(offset, i * rows + r) * rest[r];
        h[i] = sum + push[i];
    }
    for (int i = 0, at = 2 + n; i < n; i++) {
        REAL sum = ZERO, own_h = h[i];
        for (int c = 0; c < i; c++, at++) {
            REAL k = ENTRY(kept, at);
            sum += k * h[c];
            now[c] += k * own_h;
        }
        now[i] = sum + ENTRY(kept, at) * own_h;
        at++;
    }
    for (int i = 0; i < n; i++) {
        now[i] += old[i];
        total += now[i];
    }
    good = good & (total - total == ZERO);
    if (negative) return good;
    for (int i = 0; i < n; i++) good = good & ((now[i] < ZERO) == 0);
    return good;
}

// Is a control not active in some lane?
FN int reduce_any_outside(int n, INT active)
{
    INT outside = active - active;
    for (int i = 0; i < n; i++) outside = outside | (HAS(active, i) == 0);
    return reduce_any(outside);
}

// `slope`: what half the energy's derivative by the rows is at `now`. @return lanes where no
// multiplier of a control that is not active is negative
FN INT reduce_none_wanted(int n, int rows, GLOBAL const float *offset, GLOBAL const double *kept,
                          INT active, const REAL *slope, const REAL *push, const REAL *h)
{
    INT good = ZERO == ZERO;
    REAL nu = ZERO, largest = ENTRY(kept, 0);
    for (int i = 0; i < n; i++) {
        REAL size = SELECT(h[i] < ZERO, -h[i], h[i]);
        nu -= ENTRY(kept, 2 + i) * h[i];
        largest = SELECT(largest < size, size, largest);
    }
    for (int i = 0; i < n; i++) {
        REAL z = -push[i] - nu;
        INT mine = HAS(active, i);
        if (!reduce_any(mine == 0)) continue;
        for (int r = 0; r < rows; r++) z += FLOAT_ENTRY(offset, i * rows + r) * slope[r];
        good = good & (mine | ((z < -REDUCE_TINY * largest) == 0));
    }
    return good;
}

// The update of a vertex from `old` towards the wished error, if its active controls stay as they
// are. `rest`: scratch of `rows`. @return lanes whose `now` is the solution
FN INT reduce_attempt(int n, int rows, GLOBAL const float *offset, GLOBAL const double *kept,
                      INT active, int negative, const REAL *wish, const REAL *own, const REAL *push,
                      const REAL *old, REAL *rest, REAL *now)
{
    REAL h[REDUCE_SET];
    for (int r = 0; r < rows; r++) rest[r] = wish[r] - own[r];
    INT good = reduce_step_kept(n, rows, offset, kept, active, negative, rest, push, old, h, now);
    if (negative || !reduce_any_outside(n, active)) return good;
    for (int r = 0; r < rows; r++) {
        REAL sum = -wish[r];
        for (int i = 0; i < n; i++) sum += FLOAT_ENTRY(offset, i * rows + r) * now[i];
        rest[r] = sum;
    }
    return good & reduce_none_wanted(n, rows, offset, kept, active, rest, push, h);
}

// The same where a metric weighs the error (energy of normals): the energy is s^T A s - 2 F^T s of
// the error's step s, F the force. `metric`: of the block, 6 entries a pose.
FN INT reduce_attempt_turned(int n, int rows, GLOBAL const float *offset, GLOBAL const double *kept,
                             GLOBAL const double *metric, INT active, int negative,
                             const REAL *force, const REAL *own, const REAL *old, REAL *rest,
                             REAL *now)
{
    REAL h[REDUCE_SET], push[REDUCE_SET];
    for (int i = 0; i < n; i++) push[i] = ZERO;
    INT good = reduce_step_kept(n, rows, offset, kept, active, negative, force, push, old, h, now);
    if (negative || !reduce_any_outside(n, active)) return good;
    for (int r = 0; r < rows; r++) {
        REAL sum = -own[r];
        for (int i = 0; i < n; i++) sum += FLOAT_ENTRY(offset, i * rows + r) * now[i];
        rest[r] = sum;
    }
    reduce_apply_metric(rows, metric, rest);
    for (int r = 0; r < rows; r++) rest[r] -= force[r];
    return good & reduce_none_wanted(n, rows, offset, kept, active, rest, push, h);
}

// By how much a step from error `own` to `now` lowers the energy. `rest`: scratch of `rows`
FN REAL reduce_fall_turned(int rows, GLOBAL const double *metric, const REAL *force,
                           const REAL *own, const REAL *now, REAL *rest)
{
    REAL fall = ZERO;
    for (int r = 0; r < rows; r++) rest[r] = now[r] - own[r];
    reduce_apply_metric(rows, metric, rest);
    for (int r = 0; r < rows; r++) fall += (now[r] - own[r]) * (SPLAT(2.0) * force[r] - rest[r]);
    return fall;
}

// From a solution to the vertex's new weights: the last rounding out of their sum, then further by
// `omega`, as far as the bounds allow. Lanes that are `idle` keep their weights. `error` = offsets
// times weights.
FN void reduce_finish(int n, int rows, GLOBAL const float *offset, int negative, double omega,
                      INT idle, const REAL *old, REAL *now, REAL *error)
{
    REAL total = ZERO, far = SPLAT(omega);
    INT low = idle - idle;
    for (int i = 0; i < n; i++) total += now[i];
    total = ONE / total;
    for (int i = 0; i < n; i++) now[i] = now[i] * total - old[i]; // the step
    for (int i = 0; i < n && !negative; i++) low = low | (old[i] + far * now[i] < ZERO);
    if (reduce_any(low))
        for (int i = 0; i < n; i++) {
            INT bound = old[i] + omega * now[i] < ZERO;
            REAL ratio = -old[i] / SELECT(bound, now[i], ONE);
            far = SELECT(bound & (ratio < far), ratio, far);
        }
    for (int i = 0; i < n; i++) {
        REAL weight = old[i] + far * now[i];
        if (!negative) weight = SELECT(weight < ZERO, ZERO, weight); // rounding at the bound
        now[i] = SELECT(idle, old[i], weight);
    }
    for (int r = 0; r < rows; r++) {
        REAL sum = ZERO;
        for (int i = 0; i < n; i++) sum += FLOAT_ENTRY(offset, i * rows + r) * now[i];
        error[r] = sum;
    }
}

// The candidate whose removal costs least, a^2 / K_ii; with bounds first one that is not positive.
// Fractions are compared by products. @return its index
WIDE_FN REAL reduce_cheapest(int n, INT gone, const REAL *k, const REAL *a, int negative)
{
    REAL above = ZERO, below = ONE, found = ZERO;
    INT none = ZERO == ZERO;
    for (int i = 0; i < n; i++) {
        REAL diagonal = k[TRIANGLE(i) + i];
        // A diagonal that rounding has eaten belongs to a control that others replace exactly.
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

// Backward elimination from n candidates to `keep`: `k` holds their Gram matrix (lower triangle)
// and is spoilt, `right` the right side. @return bits of the candidates that go
WIDE_FN INT reduce_eliminate(int n, REAL *k, const REAL *right, const REAL *reference, int keep,
                             int negative)
{
    REAL a[REDUCE_CANDIDATES], column[REDUCE_CANDIDATES], total = ZERO, sum = ZERO;
    INT good = reduce_invert(n, k, column), gone = good - good;
    reduce_products(n, k, right, column, a);
    for (int i = 0; i < n; i++) {
        total += column[i];
        sum += a[i];
    }
    for (int i = 0, at = 0; i < n; i++) {
        REAL share = column[i] / total;
        a[i] = SELECT(good, a[i] + (ONE - sum) * share, reference[i]);
        for (int c = 0; c <= i; c++, at++) // no motion at all: the largest will do
            k[at] = SELECT(good, k[at] - share * column[c], c == i ? ONE : ZERO);
    }
    for (int left = n; left > keep; left--) {
        REAL out = reduce_cheapest(n, gone, k, a, negative);
        REAL removed = ZERO, pivot = ZERO;
        for (int l = 0; l < KERNEL_LANES; l++) {
            int o = (int)LANE(out, l);
            LANE(gone, l) |= (INT1)1 << o;
            LANE(removed, l) = LANE(a[o], l);
            LANE(pivot, l) = LANE(k[TRIANGLE(o) + o], l);
            for (int r = 0; r < o; r++) LANE(column[r], l) = LANE(k[TRIANGLE(o) + r], l);
            for (int r = o; r < n; r++) LANE(column[r], l) = LANE(k[TRIANGLE(r) + o], l);
        }
        INT sound = pivot > ZERO;
        REAL share = SELECT(sound, ONE / SELECT(sound, pivot, ONE), ZERO);
        removed = removed * share;
        // Rows that are gone take part: nobody reads them again.
        for (int r = 0; r < n; r++) a[r] -= column[r] * removed;
        reduce_downdate(n, column, share, k);
    }
    return gone;
}

// The first weights: minimise with sum 1 on all n controls, `gram` (spoilt) and `right` with their
// pulls. @return lanes whose `weight` is the solution, without a bound in the way unless negative
// weights are allowed
WIDE_FN INT reduce_first(int n, REAL *gram, const REAL *right, int negative, REAL *row,
                         REAL *weight)
{
    REAL total = ZERO, sum = ZERO, last = ZERO;
    INT good = reduce_invert(n, gram, row);
    reduce_products(n, gram, right, row, weight);
    for (int i = 0; i < n; i++) {
        total += row[i];
        sum += weight[i];
    }
    REAL nu = (ONE - sum) / total;
    for (int i = 0; i < n; i++) {
        weight[i] += nu * row[i];
        last += weight[i];
    }
    good = good & (last - last == ZERO);
    for (int i = 0; i < n; i++) {
        weight[i] /= last; // the last rounding out of the sum
        if (!negative) good = good & (weight[i] > ZERO);
    }
    return good;
}

#if KERNEL_LANES == 1

// Bits of the first n controls.
FN INDEX reduce_all_bits(int n)
{
    INDEX bits = 0;
    for (int i = 0; i < n; i++) bits |= (INDEX)1 << i;
    return bits;
}

// From `now` towards the solution on the active controls, as far as the first bound. 1: all the
// way; else the control that is at its bound is no longer active.
FN int reduce_towards(int n, const double *solution, INDEX *active, double *now)
{
    double alpha = 1;
    int bound = n;
    for (int i = 0; i < n; i++) {
        if (!HAS(*active, i) || solution[i] > 0) continue;
        double step = now[i] / (now[i] - solution[i]);
        if (!(step >= 0)) step = 0; // old and new both zero
        if (step < alpha || bound == n) {
            alpha = step < alpha ? step : alpha;
            bound = i;
        }
    }
    for (int i = 0; i < n; i++) {
        if (!HAS(*active, i)) continue;
        double moved = now[i] + alpha * (solution[i] - now[i]);
        if (!(moved > 0)) moved = 0;
        now[i] = bound == n ? solution[i] : moved;
    }
    if (bound == n) return 1;
    now[bound] = 0;
    *active = *active & ~((INDEX)1 << bound);
    return 0;
}

// The control that is not active and whose multiplier is most negative; n if none is.
FN int reduce_wanted(int n, int rows, GLOBAL const float *offset, GLOBAL const double *kept,
                     GLOBAL const double *metric, const double *right, INDEX active, double nu,
                     const double *now, double *rest)
{
    double largest = ENTRY(kept, 0);
    for (int i = 0; i < n; i++) {
        double size = MAGNITUDE(right[i]);
        if (size > largest) largest = size;
    }
    for (int r = 0; r < rows; r++) {
        rest[r] = 0;
        for (int i = 0; i < n; i++) rest[r] += FLOAT_ENTRY(offset, i * rows + r) * now[i];
    }
    if (metric) reduce_apply_metric(rows, metric, rest);
    double worst = -REDUCE_TINY * largest;
    int found = n;
    for (int i = 0; i < n; i++) {
        double z = -right[i] - nu;
        if (HAS(active, i)) continue;
        for (int r = 0; r < rows; r++) z += FLOAT_ENTRY(offset, i * rows + r) * rest[r];
        if (z < worst) {
            worst = z;
            found = i;
        }
    }
    return found;
}

// The update of a vertex whose active controls change: the active set is searched from the one that
// is kept, whose inverse follows. A singular system leaves the weights as they were.
// relative: proximal pull, in mean diagonals; lambda: a further one; rest: scratch of `rows`.
// metric: of the lane, or NULL; with it `wish` is the force and A times the current error.
PROC void reduce_search(int n, int rows, GLOBAL const float *offset, GLOBAL double *kept,
                        GLOBAL const double *metric, GLOBAL INDEX *mask, int negative,
                        double relative, double lambda, const double *wish, const double *push,
                        const double *old, double *rest, double *now)
{
    double gram[TRIANGLE(REDUCE_SET)], right[REDUCE_SET], solution[REDUCE_SET];
    double mean = ENTRY(kept, 0), nu;
    INDEX active = *mask;
    if (active == 0) {
        active = negative ? reduce_all_bits(n) : 0;
        mean = 0;
        for (int i = 0; i < n; i++) {
            double sum = 0;
            if (old[i] > 0) active |= (INDEX)1 << i;
            for (int r = 0; r < rows; r++)
                sum += FLOAT_ENTRY(offset, i * rows + r) * FLOAT_ENTRY(offset, i * rows + r);
            mean += sum;
        }
        mean = mean / n;
        if (metric) {
            for (int i = 0; i < TRIANGLE(n); i++) gram[i] = 0;
            reduce_gram_turned(n, rows, offset, metric, gram);
            mean = reduce_mean_diagonal(n, gram);
        }
    }
    const double shift = relative * mean + lambda;
    for (int i = 0; i < n; i++) {
        double sum = 0;
        for (int r = 0; r < rows; r++) sum += FLOAT_ENTRY(offset, i * rows + r) * wish[r];
        right[i] = sum + push[i] + shift * old[i];
        now[i] = old[i];
    }
    for (int iteration = 0; iteration < REDUCE_ITERATIONS && active != 0; iteration++) {
        if (*mask != active) {
            for (int i = 0; i < TRIANGLE(n); i++) gram[i] = 0;
            if (metric)
                reduce_gram_turned(n, rows, offset, metric, gram);
            else
                reduce_gram(n, rows, offset, gram);
            *mask = reduce_keep(n, gram, mean, shift, active, solution, kept) ? active : 0;
            if (*mask == 0) return;
        }
        nu = ENTRY(kept, 1);
        for (int i = 0; i < n; i++) {
            double part = ENTRY(kept, 2 + i), sum = part;
            nu -= part * right[i];
            for (int c = 0; c < n; c++) {
                int at = c < i ? TRIANGLE(i) + c : TRIANGLE(c) + i;
                sum += ENTRY(kept, 2 + n + at) * right[c];
            }
            solution[i] = sum;
        }
        if (negative) {
            for (int i = 0; i < n; i++) now[i] = solution[i];
            return;
        }
        if (!reduce_towards(n, solution, &active, now)) continue;
        int next = reduce_wanted(n, rows, offset, kept, metric, right, active, nu, now, rest);
        if (next == n) return;
        active |= (INDEX)1 << next;
    }
}
#endif

#endif
