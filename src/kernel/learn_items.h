/// Kernel text: weights from examples on a GPU, an item a vertex. After examples.h and
/// learn_arguments.h.
///
/// What belongs to a vertex stands `total` apart, so that neighbouring items read neighbouring
/// numbers. Sums run as the CPU's do (src/fit/poses/weights.c): the same bits.
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

ITEM_KERNEL(learn_weights, LEARN_WEIGHTS_BUFFERS)
{
    ITEM_BEGIN
    double g[NNLS_MAX * NNLS_MAX], part[NNLS_MAX * NNLS_MAX], h[NNLS_MAX], prior[NNLS_MAX];
    double weight[NNLS_MAX], discarded = 0, rest[3];
    int candidate[NNLS_MAX], n = counts[item], rows = 3 * given.examples, count = 0, open = 0;
    for (int c = 0; c < 3; c++) rest[c] = rests[(INDEX)c * given.total + item];
    for (int j = 0; j < n; j++) {
        GLOBAL const double *own = palettes + 12 * (INDEX)joints[(INDEX)j * given.total + item];
        prior[j] = priors[(INDEX)j * given.total + item];
        for (int e = 0; e < given.examples; e++) {
            GLOBAL const double *m = own + 12 * (INDEX)e * given.palette_count;
            for (int c = 0; c < 3; c++) {
                INDEX row = 3 * e + c;
                double at = m[4 * c] * rest[0] + m[4 * c + 1] * rest[1] + m[4 * c + 2] * rest[2] +
                            m[4 * c + 3];
                if (!given.normalise) at -= places[row * given.total + item];
                columns[((INDEX)j * rows + row) * given.total + item] = at;
            }
        }
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++)
            g[i * n + j] = g[j * n + i] =
                learn_dot(columns + (INDEX)i * rows * given.total + item,
                          columns + (INDEX)j * rows * given.total + item, rows, given.total);
        h[i] = given.normalise ? learn_dot(columns + (INDEX)i * rows * given.total + item,
                                           places + item, rows, given.total)
                               : 0;
    }
    if (n > 0) {
        examples_equations q;
        q.n = n;
        q.normalise = given.normalise;
        q.g = g;
        q.h = h;
        q.part = part;
        q.prior = prior;
        open = examples_ridge(&q);
        count = examples_weights(&q, counts[given.total + item], candidate, weight, &discarded);
    }
    for (int i = 0; i < count; i++) {
        out_candidates[(INDEX)i * given.total + item] = candidate[i];
        out_weights[(INDEX)i * given.total + item] = weight[i];
    }
    out_values[item] = count;
    out_values[given.total + item] = open;
    out_values[2 * (INDEX)given.total + item] = discarded;
    ITEM_END
}

#endif
