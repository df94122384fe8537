/// Item kernels that every program needs: filling, and sums of fixed order. After item.h.
#ifndef CUTIS_KERNEL_BASIC_H
#define CUTIS_KERNEL_BASIC_H

ITEM_KERNEL cutis_fill_words(GLOBAL int *words, int value, ITEM_ARGS)
{
    ITEM_BEGIN
    words[item] = value;
    ITEM_END
}

ITEM_KERNEL cutis_sum_stretches(GLOBAL const double *in, GLOBAL double *out, int count, int stretch,
                                ITEM_ARGS)
{
    ITEM_BEGIN
    INDEX at = (INDEX)item * stretch, end = at + stretch;
    double sum = 0;
    if (end > count) end = count;
    for (; at < end; at++) sum += in[at];
    out[item] = sum;
    ITEM_END
}

#endif
