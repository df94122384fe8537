/// Prefix sums of counts, in stretches: sums of stretches, the same for those sums, and then each
/// stretch from where it begins.
#ifndef CUTIS_KERNEL_SCAN_H
#define CUTIS_KERNEL_SCAN_H

#include "item.h"
#include "scan_arguments.h"

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

#endif
