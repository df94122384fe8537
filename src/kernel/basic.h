/// Item kernels that every program needs: filling, and sums of fixed order.
#ifndef CUTIS_KERNEL_BASIC_H
#define CUTIS_KERNEL_BASIC_H

#include "arguments.h"
#include "basic_arguments.h"
#include "item.h"

ITEM_KERNEL(fill_words, FILL_WORDS_BUFFERS)
{
    ITEM_BEGIN
    words[item] = given.value;
    ITEM_END
}

ITEM_KERNEL(sum_stretches, SUM_STRETCHES_BUFFERS)
{
    ITEM_BEGIN
    INDEX at = (INDEX)item * given.stretch, end = at + given.stretch;
    double sum = 0;
    if (end > given.count) end = given.count;
    for (; at < end; at++) sum += values[at];
    sums[item] = sum;
    ITEM_END
}

#endif
