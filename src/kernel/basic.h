/// Item kernels that every program needs: filling, sums of fixed order, prefix sums, copies of
/// streams of outputs and boxes around their points.
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

// Prefix sums of counts, in stretches: sums of stretches, the same for those sums, and then each
// stretch from where it begins.

ITEM_KERNEL(scan_sums, SCAN_SUMS_BUFFERS)
{
    ITEM_BEGIN
    int first = item * SCAN_STRETCH, sum = 0;
    for (int i = first; i < first + SCAN_STRETCH && i < given.count; i++)
        sum += words[given.at + i];
    words[given.to + item] = sum;
    ITEM_END
}

/// Each of the `count` words becomes the sum of those before it, and one more behind them the sum
/// of all.
ITEM_KERNEL(scan_spread, SCAN_SPREAD_BUFFERS)
{
    ITEM_BEGIN
    int first = item * SCAN_STRETCH, sum = given.from < 0 ? 0 : words[given.from + item];
    for (int i = first; i < first + SCAN_STRETCH && i <= given.count; i++) {
        int own = i < given.count ? words[given.at + i] : 0;
        words[given.at + i] = sum;
        sum += own;
    }
    ITEM_END
}

// Streams

FN INDEX stream_at(stream_place s, int instance, int element)
{
    return s.first + s.step * instance + s.stride * element;
}

ITEM_KERNEL(stream_copy, STREAM_COPY_BUFFERS)
{
    ITEM_BEGIN
    int instance = item / given.elements, element = item % given.elements;
    INDEX at = stream_at(given.source, instance, element);
    INDEX out = stream_at(given.target, instance, element);
    for (int k = 0; k < given.words; k++) to[out + k] = from[at + k];
    ITEM_END
}

ITEM_KERNEL(stream_bounds, STREAM_BOUNDS_BUFFERS)
{
    ITEM_BEGIN
    int instance = item / given.stretches, element = item % given.stretches * given.stretch;
    int end = element + given.stretch, last = used ? used[2 * instance] : given.elements;
    float low[3], high[3];
    for (int c = 0; c < 3; c++) {
        low[c] = REAL_MAX;
        high[c] = -REAL_MAX;
    }
    if (end > last) end = last;
    for (; element < end; element++) {
        INDEX at = stream_at(given.source, instance, element);
        for (int c = 0; c < 3; c++) {
            float x = points[at + c];
            low[c] = x < low[c] ? x : low[c];
            high[c] = x > high[c] ? x : high[c];
        }
    }
    for (int c = 0; c < 3; c++) {
        bounds[6 * (INDEX)item + c] = low[c];
        bounds[6 * (INDEX)item + 3 + c] = high[c];
    }
    ITEM_END
}

#endif
