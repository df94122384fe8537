/// What the kernels of basic.h take.
#ifndef CUTIS_KERNEL_BASIC_ARGUMENTS_H
#define CUTIS_KERNEL_BASIC_ARGUMENTS_H

/// words[item] = value, for 4-byte words.
#define FILL_WORDS_BUFFERS(IN, OUT) OUT(int, words)
STRUCT(fill_words_arguments)
{
    ITEM_RANGE;
    int value;
};

/// Sums of doubles in a fixed order: sums[item] = sum of values[item * stretch ...], at most
/// `stretch` of them and not beyond `count`.
#define SUM_STRETCHES_BUFFERS(IN, OUT) IN(double, values) OUT(double, sums)
STRUCT(sum_stretches_arguments)
{
    ITEM_RANGE;
    int count, stretch;
};

#endif
