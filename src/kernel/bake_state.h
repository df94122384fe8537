/// Kernel text: where a GPU's work item has the numbers of its point for bake.h: [bone][points], so
/// that neighbouring items read neighbouring ones; entries of Q are made when they are asked for.
/// After bake_arguments.h, before bake.h.
#ifndef CUTIS_KERNEL_BAKE_STATE_H
#define CUTIS_KERNEL_BAKE_STATE_H

#define BAKE_STATE                                                                                 \
    GLOBAL const double *form;                                                                     \
    GLOBAL double *product;                                                                        \
    GLOBAL double *diagonal;                                                                       \
    GLOBAL const int *joint;                                                                       \
    GLOBAL int *listed;                                                                            \
    int joint_count, bones, points;                                                                \
    double square_sum, square[BAKE_SQUARE];
#define BAKE_AT(s, field, b) ((s)->field[(INDEX)(b) * (s)->points])
#define BAKE_ENTRY(s, i, b)  bake_entry(s, i, b)
#define BAKE_DIAGONAL(s, b)  BAKE_AT(s, diagonal, b)
#define BAKE_CANDIDATE(s, k)                                                                       \
    ((k) < (s)->joint_count ? (s)->joint[k] : BAKE_AT(s, listed, (k) - (s)->joint_count))
#define BAKE_JOIN(s, i, b)
#define BAKE_MOVE(s, i, from)

struct bake_solver;
FN double bake_entry(const struct bake_solver *s, int i, int b);

#endif
