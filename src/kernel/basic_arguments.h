/// What the kernels of basic.h take.
#ifndef CUTIS_KERNEL_BASIC_ARGUMENTS_H
#define CUTIS_KERNEL_BASIC_ARGUMENTS_H

/// words[item] = value, for 4-byte words.
#define FILL_WORDS_BUFFERS(IN, OUT) OUT(int, words)
KERNEL_TAKES(fill_words, int value)

/// Sums of doubles in a fixed order: sums[item] = sum of values[item * stretch ...], at most
/// `stretch` of them and not beyond `count`.
#define SUM_STRETCHES_BUFFERS(IN, OUT) IN(double, values) OUT(double, sums)
KERNEL_TAKES(sum_stretches, int count; int stretch)

#endif
