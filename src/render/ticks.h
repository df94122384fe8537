/// Round numbers on an axis.
#ifndef CUTIS_RENDER_TICKS_H
#define CUTIS_RENDER_TICKS_H

#include <stddef.h>

typedef struct cutis_ticks {
    double first, step;
    int count;
} cutis_ticks;

/// Multiples of 1, 2 or 5 times a power of ten within [low, high], about `wanted` of them; count 0
/// if the range is empty.
cutis_ticks cutis_ticks_choose(double low, double high, int wanted);
/// The text of tick `index`, with as many digits as the step needs.
void cutis_ticks_label(const cutis_ticks *ticks, int index, char *out, size_t capacity);

#endif
