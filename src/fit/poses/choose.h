/// How strongly learned weights are drawn to the model's own, region by region: the choice, from
/// squares in examples that were left out.
#ifndef CUTIS_FIT_EXAMPLES_CHOOSE_H
#define CUTIS_FIT_EXAMPLES_CHOOSE_H

#include <stdbool.h>
#include <stdint.h>

#define CUTIS_CHOICES     5u ///< strengths: the first is plain learning, the last the model's own
#define CUTIS_CHOICE_OWN  (CUTIS_CHOICES - 1)
#define CUTIS_SCHEMES     2u ///< ways of leaving out
#define CUTIS_FOLDS       8u ///< at most that a scheme leaves out in turn
#define CUTIS_METHODS_OUT 4u ///< figures that weights are judged by, at most

/// Squares of a region's vertices.
typedef struct cutis_choice_region {
    uint32_t count; ///< vertices
    double off[CUTIS_SCHEMES][CUTIS_FOLDS][CUTIS_CHOICES][CUTIS_METHODS_OUT];
} cutis_choice_region;

typedef struct cutis_choice_input {
    uint32_t region_count, scheme_count;
    uint32_t method_count; ///< figures that decide
    uint32_t total_count;  ///< the first so many are squares of methods; others, the same with
                           ///< vertices held back that are off by far more than most
    uint32_t fold_counts[CUTIS_SCHEMES];
    bool weighted; ///< the model's own weights are among the choices
    const cutis_choice_region *regions;
} cutis_choice_input;

typedef struct cutis_choice {
    bool own, plain; ///< the model's own weights everywhere, or plain learning
    double total[3]; ///< squares of the first scheme, all methods, nothing held back: own, plain,
                     ///< chosen
} cutis_choice;

/// @param chosen region_count: a choice for each
void cutis_fit_choose(const cutis_choice_input *input, uint8_t *chosen, cutis_choice *out);

#endif
