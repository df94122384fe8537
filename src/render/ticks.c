/// Round numbers on an axis: steps of 1, 2 or 5 times a power of ten.
#include "render/ticks.h"

#include <math.h>
#include <stdio.h>

cutis_ticks cutis_ticks_choose(double low, double high, int wanted)
{
    double range = high - low;
    if (!(range > 0) || !isfinite(range) || wanted < 1) return (cutis_ticks){ low, 1, 0 };
    double rough = range / wanted, power = pow(10, floor(log10(rough))), digit = rough / power;
    double step = power * (digit < 1.5 ? 1 : digit < 3.5 ? 2 : digit < 7.5 ? 5 : 10);
    double first = ceil(low / step - 1e-9) * step;
    int count = (int)floor((high - first) / step + 1e-9) + 1;
    return (cutis_ticks){ first, step, count < 0 ? 0 : count > 100 ? 100 : count };
}

void cutis_ticks_label(const cutis_ticks *ticks, int index, char *out, size_t capacity)
{
    double value = ticks->first + index * ticks->step;
    if (fabs(value) < 1e-9 * ticks->step) value = 0;
    int digits = (int)ceil(-log10(ticks->step) - 1e-9);
    if (fabs(value) >= 1e6 || (value != 0 && digits > 5))
        snprintf(out, capacity, "%.3g", value);
    else
        snprintf(out, capacity, "%.*f", digits < 0 ? 0 : digits, value);
}
