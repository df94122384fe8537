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

#define SCAN_STRETCH 64

/// Sums of the stretches of `count` words from `at` on go to `to` and behind; spread has the sums
/// before each stretch at `from` (< 0: there is one stretch).
#define SCAN_SUMS_BUFFERS(IN, OUT)   OUT(int, words)
#define SCAN_SPREAD_BUFFERS(IN, OUT) OUT(int, words)
KERNEL_TAKES(scan_sums, int at; int count; int to)
KERNEL_TAKES(scan_spread, int at; int count; int from)

/// A stream of words of 4 bytes: `first` of the first instance's first element, `step` from
/// instance to instance, `stride` from element to element.
STRUCT(stream_place)
{
    KERNEL_LONG first, step, stride;
};

/// Element item % elements of instance item / elements from one stream to another. Both may lie in
/// one buffer, so neither is an IN.
#define STREAM_COPY_BUFFERS(IN, OUT) OUT(int, from) OUT(int, to)
KERNEL_TAKES(stream_copy, int elements; int words; stream_place source; stream_place target)

/// Least and greatest coordinates of a stretch of points: 6 floats each, `stretches` an instance.
/// used: per instance how many points there are, at 2 * instance; NULL: `elements`.
#define STREAM_BOUNDS_BUFFERS(IN, OUT) IN(float, points) IN(int, used) OUT(float, bounds)
KERNEL_TAKES(stream_bounds, int elements; int stretch; int stretches; stream_place source)

#endif
