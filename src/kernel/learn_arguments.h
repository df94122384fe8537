/// What the kernel of learn_items.h takes. What belongs to a vertex stands `total` apart.
#ifndef CUTIS_KERNEL_LEARN_ARGUMENTS_H
#define CUTIS_KERNEL_LEARN_ARGUMENTS_H

/// places: 3 per example; rests: 3; joints and priors: per candidate, of which counts[item] are
/// there, and as many weights wanted as stand `total` behind; columns: scratch, 3 per example and
/// candidate. Out: candidates and weights, and in `values` how many, whether deficient, how much
/// was discarded.
#define LEARN_WEIGHTS_BUFFERS(IN, OUT)                                                             \
    IN(double, places)                                                                             \
    IN(double, rests)                                                                              \
    IN(int, joints)                                                                                \
    IN(double, priors)                                                                             \
    IN(int, counts)                                                                                \
    IN(double, palettes)                                                                           \
    OUT(double, columns) OUT(int, out_candidates) OUT(double, out_weights) OUT(double, out_values)
KERNEL_TAKES(learn_weights, int examples; int palette_count; int normalise; int total)

#endif
