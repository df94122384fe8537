/// The small solves of weight reduction (docs/design/reduction.md) in double, on arrays of one
/// work item: minimise a^T G a - 2 h^T a with sum a = 1, and a >= 0 unless negative weights are
/// allowed; influence sets by backward elimination. After item.h.
///
/// Invariant: every sum runs in ascending index order and ties go to the lower index, so the result
/// is a function of the numbers alone, on every device. Defined by whoever includes it: REDUCE_SET
/// (most controls a vertex keeps), REDUCE_CANDIDATES (most it chooses from).
#ifndef CUTIS_KERNEL_REDUCE_H
#define CUTIS_KERNEL_REDUCE_H

#ifdef KERNEL_CUDA
#define PROC static __device__
#elif defined(KERNEL_OPENCL)
#define PROC static
#else
#define PROC static __attribute__((unused))
#endif

#define REDUCE_ITERATIONS 50
// A multiplier this far below zero (relative to the system's size) asks for its control; nearer is
// rounding.
#define REDUCE_MULTIPLIER_TOLERANCE 1e-10
#define REDUCE_HUGE                 1.7976931348623157e308

// sum of offset * direction over the rows: eight partial sums, added in a fixed tree, whatever the
// machine's vectors are.
FN double reduce_dot(int rows, GLOBAL const float *offset, const double *direction)
{
    double part[8];
    for (int l = 0; l < 8; l++) part[l] = 0;
    int r = 0;
    for (; r + 8 <= rows; r += 8)
        for (int l = 0; l < 8; l++) part[l] += offset[r + l] * direction[r + l];
    for (int l = 0; r < rows; r++, l++) part[l] += offset[r] * direction[r];
    return ((part[0] + part[4]) + (part[1] + part[5])) +
           ((part[2] + part[6]) + (part[3] + part[7]));
}

// Add mu I and mu * reference: mu = relative * trace / n.
FN void reduce_regularise(int n, double *gram, double *right, double relative,
                          const double *reference)
{
    double trace = 0;
    for (int i = 0; i < n; i++) trace += gram[i * n + i];
    double mu = relative * trace / n;
    for (int i = 0; i < n; i++) {
        gram[i * n + i] += mu;
        right[i] += mu * reference[i];
    }
}

// Cholesky in place, of the lower triangle. 0: a pivot is not positive.
PROC int reduce_factor(int n, double *a)
{
    for (int j = 0; j < n; j++) {
        double pivot = a[j * n + j];
        for (int k = 0; k < j; k++) pivot -= a[j * n + k] * a[j * n + k];
        if (!(pivot > 0.0) || pivot > REDUCE_HUGE) return 0;
        pivot = ROOT(pivot);
        a[j * n + j] = pivot;
        for (int i = j + 1; i < n; i++) {
            double sum = a[i * n + j];
            for (int k = 0; k < j; k++) sum -= a[i * n + k] * a[j * n + k];
            a[i * n + j] = sum / pivot;
        }
    }
    return 1;
}

PROC void reduce_substitute(int n, const double *a, double *b)
{
    for (int i = 0; i < n; i++) {
        double sum = b[i];
        for (int k = 0; k < i; k++) sum -= a[i * n + k] * b[k];
        b[i] = sum / a[i * n + i];
    }
    for (int i = n - 1; i >= 0; i--) {
        double sum = b[i];
        for (int k = i + 1; k < n; k++) sum -= a[k * n + i] * b[k];
        b[i] = sum / a[i * n + i];
    }
}

// The equality problem on the controls of `list`. 0: singular.
PROC int reduce_equality(int n, const double *gram, const double *right, const int *list, int count,
                         double *weight, double *multiplier)
{
    double factor[REDUCE_SET * REDUCE_SET], ones[REDUCE_SET];
    if (count < 1) return 0;
    for (int r = 0; r < count; r++)
        for (int c = 0; c <= r; c++) factor[r * count + c] = gram[list[r] * n + list[c]];
    if (!reduce_factor(count, factor)) return 0;
    for (int r = 0; r < count; r++) {
        weight[r] = right[list[r]];
        ones[r] = 1;
    }
    reduce_substitute(count, factor, weight);
    reduce_substitute(count, factor, ones);
    double sum = 0, one_sum = 0;
    for (int r = 0; r < count; r++) {
        sum += weight[r];
        one_sum += ones[r];
    }
    double nu = (1 - sum) / one_sum;
    for (int r = 0; r < count; r++) weight[r] += nu * ones[r];
    *multiplier = nu;
    return nu - nu == 0; // finite
}

// The control off the list whose multiplier is most negative; n if none is.
PROC int reduce_most_wanted(int n, const double *gram, const double *right, const double *weight,
                            const int *active, double nu)
{
    double largest = 0, trace = 0;
    for (int i = 0; i < n; i++) {
        double size = MAGNITUDE(right[i]);
        if (size > largest) largest = size;
        trace += gram[i * n + i];
    }
    double scale = trace / n > largest ? trace / n : largest;
    double worst = -REDUCE_MULTIPLIER_TOLERANCE * scale;
    int found = n;
    for (int i = 0; i < n; i++) {
        if (active[i]) continue;
        double z = -right[i] - nu;
        for (int j = 0; j < n; j++) z += gram[i * n + j] * weight[j];
        if (z < worst) {
            worst = z;
            found = i;
        }
    }
    return found;
}

// Go from the current weights towards the solution on the list, as far as the first bound. 1: all
// the way.
PROC int reduce_step(double *weight, const int *list, int count, const double *solution,
                     int *active)
{
    double alpha = 1;
    int bound = count;
    for (int r = 0; r < count; r++) {
        double old = weight[list[r]];
        if (solution[r] > 0) continue;
        double step = old / (old - solution[r]);
        if (!(step >= 0)) step = 0; // old and new both zero
        if (step < alpha || bound == count) {
            alpha = step < alpha ? step : alpha;
            bound = r;
        }
    }
    for (int r = 0; r < count; r++) {
        double w = weight[list[r]];
        double moved = w + alpha * (solution[r] - w);
        if (!(moved > 0)) moved = 0;
        weight[list[r]] = bound == count ? solution[r] : moved;
    }
    if (bound == count) return 1;
    weight[list[bound]] = 0;
    active[list[bound]] = 0;
    return 0;
}

PROC void reduce_bounded(int n, const double *gram, const double *right, double *weight)
{
    int active[REDUCE_SET], list[REDUCE_SET];
    double solution[REDUCE_SET], nu = 0;
    for (int i = 0; i < n; i++) active[i] = weight[i] > 0;
    for (int iteration = 0; iteration < REDUCE_ITERATIONS; iteration++) {
        int count = 0;
        for (int i = 0; i < n; i++)
            if (active[i]) list[count++] = i;
        if (!reduce_equality(n, gram, right, list, count, solution, &nu)) return;
        if (!reduce_step(weight, list, count, solution, active)) continue;
        int wanted = reduce_most_wanted(n, gram, right, weight, active, nu);
        if (wanted == n) return;
        active[wanted] = 1;
    }
}

// In: where to start (sum 1, feasible). A singular system leaves the weights as they were.
PROC void reduce_solve(int n, const double *gram, const double *right, double *weight, int negative)
{
    if (n < 2) {
        weight[0] = 1;
        return;
    }
    if (!negative) {
        reduce_bounded(n, gram, right, weight);
    } else {
        int list[REDUCE_SET];
        double solution[REDUCE_SET], nu = 0;
        for (int i = 0; i < n; i++) list[i] = i;
        if (reduce_equality(n, gram, right, list, n, solution, &nu))
            for (int i = 0; i < n; i++) weight[i] = solution[i];
    }
    // The sum is 1 by construction; this takes the last rounding out of it.
    double sum = 0;
    for (int i = 0; i < n; i++) sum += weight[i];
    for (int i = 0; i < n; i++) weight[i] /= sum;
}

// What a vertex keeps between sweeps. Its Gram matrix and the pull never change, so the solution is
// a fixed linear function of the right side for as long as the same controls are active: a = K h +
// s, nu = (1 - n . h) / t with the inverse I of the active system, n = I 1, t = 1 . n, s = n / t, K
// = I - n s^T. `mask` says for which controls (0: none); `kept` holds the pull, t, n (count), K
// (count rows of count).
#define REDUCE_KEPT         GLOBAL double *kept, GLOBAL INDEX *mask
#define REDUCE_KEPT_SIZE(n) ((n) * (n) + (n) + 2)

// Invert the active part of a packed Gram matrix with `mu` on its diagonal, and keep what solves
// need. 0: singular.
PROC int reduce_keep(GLOBAL const double *packed, double mu, const int *list, int count,
                     INDEX wanted, REDUCE_KEPT)
{
    double work[REDUCE_SET * REDUCE_SET], column[REDUCE_SET], total = 0;
    *mask = 0;
    if (count < 1) return 0;
    for (int r = 0; r < count; r++) {
        GLOBAL const double *row = packed + list[r] * (list[r] + 1) / 2;
        for (int c = 0; c < r; c++) work[r * count + c] = row[list[c]];
        work[r * count + r] = row[list[r]] + mu;
    }
    if (!reduce_factor(count, work)) return 0;
    GLOBAL double *ones = kept + 2, *matrix = ones + count;
    for (int c = 0; c < count; c++) {
        for (int r = 0; r < count; r++) column[r] = r == c;
        reduce_substitute(count, work, column);
        for (int r = 0; r < count; r++) matrix[c * count + r] = column[r];
    }
    for (int r = 0; r < count; r++) {
        double sum = 0;
        for (int c = 0; c < count; c++) sum += matrix[c * count + r];
        ones[r] = sum;
        total += sum;
    }
    for (int c = 0; c < count; c++) {
        double share = ones[c] / total;
        for (int r = 0; r < count; r++) matrix[c * count + r] -= share * ones[r];
    }
    kept[0] = mu;
    kept[1] = total;
    if (total - total != 0) return 0; // not finite
    *mask = wanted;
    return 1;
}

// The equality problem on the active controls, with what is kept.
FN int reduce_kept_equality(GLOBAL const double *packed, double mu, const double *right,
                            const int *list, int count, INDEX wanted, REDUCE_KEPT, double *weight,
                            double *multiplier)
{
    if (*mask != wanted && !reduce_keep(packed, mu, list, count, wanted, kept, mask)) return 0;
    GLOBAL const double *ones = kept + 2, *matrix = ones + count;
    double total = kept[1], sum = 0;
    for (int r = 0; r < count; r++) weight[r] = ones[r] / total;
    for (int c = 0; c < count; c++) {
        double h = right[list[c]];
        sum += ones[c] * h;
        for (int r = 0; r < count; r++) weight[r] += matrix[c * count + r] * h;
    }
    *multiplier = (1 - sum) / total;
    return sum - sum == 0; // finite
}

// reduce_most_wanted of a packed Gram matrix with `mu` on its diagonal.
PROC int reduce_kept_wanted(int n, GLOBAL const double *packed, double mu, const double *right,
                            const double *weight, const int *active, double nu)
{
    double largest = 0, trace = 0;
    for (int i = 0; i < n; i++) {
        double size = MAGNITUDE(right[i]);
        if (size > largest) largest = size;
        trace += packed[i * (i + 1) / 2 + i] + mu;
    }
    double scale = trace / n > largest ? trace / n : largest;
    double worst = -REDUCE_MULTIPLIER_TOLERANCE * scale;
    int found = n;
    for (int i = 0; i < n; i++) {
        if (active[i]) continue;
        double z = -right[i] - nu;
        for (int j = 0; j < n; j++) {
            double g = j < i ? packed[i * (i + 1) / 2 + j] : packed[j * (j + 1) / 2 + i];
            if (j == i) g += mu;
            z += g * weight[j];
        }
        if (z < worst) {
            worst = z;
            found = i;
        }
    }
    return found;
}

// reduce_solve for sweeps: the system is the packed Gram matrix with a pull of `relative` towards
// the weights there are, and its inverse is kept. `weight`: in and out; `right`: spoilt.
FN void reduce_kept_solve(int n, GLOBAL const double *packed, double relative, double *right,
                          double *weight, int negative, REDUCE_KEPT)
{
    int active[REDUCE_SET], list[REDUCE_SET];
    double solution[REDUCE_SET], trace = 0, nu = 0, sum = 0, mu = kept[0];
    if (*mask == 0) { // kept with the first inverse: the diagonal is far apart in memory
        for (int i = 0; i < n; i++) trace += packed[i * (i + 1) / 2 + i];
        mu = relative * trace / n;
    }
    for (int i = 0; i < n; i++) {
        right[i] += mu * weight[i];
        active[i] = negative || weight[i] > 0;
    }
    for (int iteration = 0; iteration < REDUCE_ITERATIONS; iteration++) {
        INDEX wanted = 0;
        int count = 0;
        for (int i = 0; i < n; i++)
            if (active[i]) {
                list[count++] = i;
                wanted |= (INDEX)1 << i;
            }
        if (!reduce_kept_equality(packed, mu, right, list, count, wanted, kept, mask, solution,
                                  &nu))
            break;
        if (negative) {
            for (int i = 0; i < n; i++) weight[i] = solution[i];
            break;
        }
        if (!reduce_step(weight, list, count, solution, active)) continue;
        int next = count == n ? n : reduce_kept_wanted(n, packed, mu, right, weight, active, nu);
        if (next == n) break;
        active[next] = 1;
    }
    for (int i = 0; i < n; i++) sum += weight[i];
    for (int i = 0; i < n; i++) weight[i] /= sum;
}

// Go further than the solution, as far as the bounds allow.
FN void reduce_relax(const double *old, double *weight, int n, int negative, double omega)
{
    for (int i = 0; i < n && !negative; i++) {
        double step = weight[i] - old[i];
        if (step < 0 && -old[i] / step < omega) omega = -old[i] / step;
    }
    for (int i = 0; i < n; i++) {
        weight[i] = old[i] + omega * (weight[i] - old[i]);
        if (!negative && weight[i] < 0) weight[i] = 0; // rounding at the bound
    }
}

// Inverse of a positive definite matrix in place, by Gauss and Jordan: rows are long enough for
// vectors, and the pull has made the matrix well conditioned. 0: a pivot is not positive.
FN int reduce_invert(int n, double *a)
{
    double row[REDUCE_CANDIDATES];
    for (int p = 0; p < n; p++) {
        double pivot = a[p * n + p];
        if (!(pivot > 0) || !(pivot <= REDUCE_HUGE)) return 0;
        for (int c = 0; c < n; c++) row[c] = a[p * n + c] / pivot;
        row[p] = 1 / pivot;
        for (int r = 0; r < n; r++) {
            double factor = a[r * n + p];
            if (r == p) continue;
            a[r * n + p] = 0;
            for (int c = 0; c < n; c++) a[r * n + c] -= factor * row[c];
        }
        for (int c = 0; c < n; c++) a[p * n + c] = row[c];
    }
    return 1;
}

// K = G^-1 - g1 g1^T / (1 . g1), and the weights with sum 1; `k` holds G. 0: singular.
FN int reduce_eliminate_start(int n, const double *right, double *k, double *a)
{
    double g1[REDUCE_CANDIDATES], one_sum = 0, sum = 0;
    if (!reduce_invert(n, k)) return 0;
    for (int r = 0; r < n; r++) {
        g1[r] = a[r] = 0;
        for (int c = 0; c < n; c++) {
            g1[r] += k[r * n + c];
            a[r] += k[r * n + c] * right[c];
        }
        one_sum += g1[r];
        sum += a[r];
    }
    for (int r = 0; r < n; r++) {
        double share = g1[r] / one_sum;
        for (int c = 0; c < n; c++) k[r * n + c] -= share * g1[c];
        a[r] += (1 - sum) * share;
    }
    return 1;
}

// The candidate whose removal costs least; with bounds first one that is not positive.
FN int reduce_cheapest(int n, const int *gone, const double *k, const double *a, int negative)
{
    double least = 0;
    int found = n;
    for (int i = 0; i < n; i++) {
        if (gone[i]) continue;
        double diagonal = k[i * n + i];
        // A diagonal that rounding has eaten belongs to a control that others replace exactly.
        double cost = diagonal > 0 ? a[i] * a[i] / diagonal : 0;
        if (!negative && a[i] <= 0) cost = -1 + a[i];
        if (found == n || cost < least) {
            least = cost;
            found = i;
        }
    }
    return found;
}

// Backward elimination from n candidates to `keep`. `k` holds the Gram matrix in and is spoilt;
// `kept`: ascending indices of the candidates that stay.
FN void reduce_eliminate(int n, double *k, const double *right, const double *reference, int keep,
                         int negative, int *kept)
{
    double a[REDUCE_CANDIDATES], column[REDUCE_CANDIDATES];
    int gone[REDUCE_CANDIDATES];
    for (int i = 0; i < n; i++) gone[i] = 0;
    if (!reduce_eliminate_start(n, right, k, a)) { // no motion at all: the largest will do
        for (int i = 0; i < n * n; i++) k[i] = 0;
        for (int i = 0; i < n; i++) {
            a[i] = reference[i];
            k[i * n + i] = 1;
        }
    }
    for (int left = n; left > keep; left--) {
        int i = reduce_cheapest(n, gone, k, a, negative);
        double pivot = k[i * n + i], share = pivot > 0 ? 1 / pivot : 0;
        double removed = a[i] * share;
        gone[i] = 1;
        for (int r = 0; r < n; r++) column[r] = k[r * n + i];
        for (int r = 0; r < n; r++) {
            if (gone[r]) continue;
            a[r] -= column[r] * removed;
            double factor = column[r] * share;
            for (int c = 0; c < n; c++) k[r * n + c] -= factor * column[c];
        }
    }
    int used = 0;
    for (int i = 0; i < n; i++)
        if (!gone[i]) kept[used++] = i;
}

// Energy of one vertex: its edges to later vertices and its anchor (gradient: `anchor` is area over
// ell^2), or the weighted square of its Laplacian (laplace: `anchor` is 1 / area, the result stands
// in *edges).
FN void reduce_energy(GLOBAL const int *ring_first, GLOBAL const int *ring,
                      GLOBAL const double *edge, double diagonal, double anchor,
                      GLOBAL const double *error, int rows, int laplace, int v,
                      GLOBAL double *edges, GLOBAL double *anchors)
{
    GLOBAL const double *own = error + (INDEX)v * rows;
    double far = 0, near = 0;
    if (laplace) {
        for (int r = 0; r < rows; r++) {
            double rho = -diagonal * own[r];
            for (int i = ring_first[v]; i < ring_first[v + 1]; i++)
                rho += edge[i] * error[(INDEX)ring[i] * rows + r];
            far += anchor * rho * rho;
        }
    } else {
        for (int r = 0; r < rows; r++) near += own[r] * own[r];
        near = anchor * near;
        for (int i = ring_first[v]; i < ring_first[v + 1]; i++) {
            GLOBAL const double *other = error + (INDEX)ring[i] * rows;
            double sum = 0;
            if (ring[i] <= v) continue;
            for (int r = 0; r < rows; r++) sum += (own[r] - other[r]) * (own[r] - other[r]);
            far += edge[i] * sum;
        }
    }
    *edges = far;
    *anchors = near;
}

#endif
