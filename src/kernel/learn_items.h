/// Kernel text: weights from examples on a GPU, an item a vertex. After examples.h.
///
/// What belongs to a vertex stands `total` apart, so that neighbouring items read neighbouring
/// numbers. Sums run as the CPU's do (src/fit/examples_weights.c): the same bits.
#ifndef CUTIS_KERNEL_LEARN_ITEMS_H
#define CUTIS_KERNEL_LEARN_ITEMS_H

// Four sums: rows 0, 4, ..., rows 1, 5, ... and so on; what is left over goes to the first.
NNLS_PROC double learn_dot(GLOBAL const double *a, GLOBAL const double *b, int rows, int total)
{
    double s[4];
    int i = 0;
    for (int l = 0; l < 4; l++) s[l] = 0;
    for (; i + 4 <= rows; i += 4)
        for (int l = 0; l < 4; l++) s[l] += a[(INDEX)(i + l) * total] * b[(INDEX)(i + l) * total];
    for (; i < rows; i++) s[0] += a[(INDEX)i * total] * b[(INDEX)i * total];
    return (s[0] + s[1]) + (s[2] + s[3]);
}

// places: 3 per example; rests: 3; joints and priors: `candidates` each, of which counts[item] are
// there, and as many weights wanted as stand `total` behind; columns: scratch, 3 per example and
// candidate. Out: candidates and weights, and how many, whether deficient, how much was discarded.
ITEM_KERNEL cutis_learn(GLOBAL const double *places, GLOBAL const double *rests,
                        GLOBAL const int *joints, GLOBAL const double *priors,
                        GLOBAL const int *counts, GLOBAL const double *palettes,
                        GLOBAL double *columns, GLOBAL int *out_candidates,
                        GLOBAL double *out_weights, GLOBAL double *out_values, int examples,
                        int palette_count, int normalise, int total, ITEM_ARGS)
{
    ITEM_BEGIN
    double g[NNLS_MAX * NNLS_MAX], part[NNLS_MAX * NNLS_MAX], h[NNLS_MAX], prior[NNLS_MAX];
    double weight[NNLS_MAX], discarded = 0, rest[3];
    int candidate[NNLS_MAX], n = counts[item], rows = 3 * examples, count = 0, open = 0;
    for (int c = 0; c < 3; c++) rest[c] = rests[(INDEX)c * total + item];
    for (int j = 0; j < n; j++) {
        GLOBAL const double *own = palettes + 12 * (INDEX)joints[(INDEX)j * total + item];
        prior[j] = priors[(INDEX)j * total + item];
        for (int e = 0; e < examples; e++) {
            GLOBAL const double *m = own + 12 * (INDEX)e * palette_count;
            for (int c = 0; c < 3; c++) {
                INDEX row = 3 * e + c;
                double at = m[4 * c] * rest[0] + m[4 * c + 1] * rest[1] + m[4 * c + 2] * rest[2] +
                            m[4 * c + 3];
                if (!normalise) at -= places[row * total + item];
                columns[((INDEX)j * rows + row) * total + item] = at;
            }
        }
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++)
            g[i * n + j] = g[j * n + i] =
                learn_dot(columns + (INDEX)i * rows * total + item,
                          columns + (INDEX)j * rows * total + item, rows, total);
        h[i] = normalise
                   ? learn_dot(columns + (INDEX)i * rows * total + item, places + item, rows, total)
                   : 0;
    }
    if (n > 0) {
        examples_equations q;
        q.n = n;
        q.normalise = normalise;
        q.g = g;
        q.h = h;
        q.part = part;
        q.prior = prior;
        open = examples_ridge(&q);
        count = examples_weights(&q, counts[total + item], candidate, weight, &discarded);
    }
    for (int i = 0; i < count; i++) {
        out_candidates[(INDEX)i * total + item] = candidate[i];
        out_weights[(INDEX)i * total + item] = weight[i];
    }
    out_values[item] = count;
    out_values[total + item] = open;
    out_values[2 * (INDEX)total + item] = discarded;
    ITEM_END
}

#endif
