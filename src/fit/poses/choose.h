/// How strongly learned weights are drawn to the model's own: the choice, from squares in examples
/// that were left out.
#ifndef CUTIS_FIT_EXAMPLES_CHOOSE_H
#define CUTIS_FIT_EXAMPLES_CHOOSE_H

#include <stdbool.h>
#include <stdint.h>

#define CUTIS_CHOICES     5u ///< strengths: the first is plain learning, the last the model's own
#define CUTIS_CHOICE_OWN  (CUTIS_CHOICES - 1)
#define CUTIS_SCHEMES     2u ///< ways of leaving out
#define CUTIS_FOLDS       8u ///< at most that a scheme leaves out in turn
#define CUTIS_METHODS_OUT 2u ///< figures that weights are judged by

typedef struct cutis_choice_input {
    uint32_t scheme_count;
    uint32_t fold_counts[CUTIS_SCHEMES]; ///< 2 and more each
    bool weighted;                       ///< the model's own weights are among the choices
    bool relative; ///< of a pose space: what a fold is off depends on how far poses left out are
                   ///< from those that stay, so folds are compared each in its own size
    double off[CUTIS_SCHEMES][CUTIS_FOLDS][CUTIS_CHOICES][CUTIS_METHODS_OUT]; ///< squares
    /// Squares of linear blending: those of `off`, or, of a pose space, without displacements.
    double blended[CUTIS_SCHEMES][CUTIS_FOLDS][CUTIS_CHOICES];
} cutis_choice_input;

/// @return the choice: a strength's number
uint32_t cutis_fit_choose(const cutis_choice_input *input);

#endif
