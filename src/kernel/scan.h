/// Prefix sums of counts, in stretches: sums of stretches, the same for those sums, and then each
/// stretch from where it begins. After item.h.
#ifndef CUTIS_KERNEL_SCAN_H
#define CUTIS_KERNEL_SCAN_H

#define SCAN_STRETCH 64

/// words[to + item] = sum of stretch `item` of the `count` words from `at` on.
ITEM_KERNEL cutis_scan_sums(GLOBAL int *words, int at, int count, int to, ITEM_ARGS)
{
    ITEM_BEGIN
    int first = item * SCAN_STRETCH, sum = 0;
    for (int i = first; i < first + SCAN_STRETCH && i < count; i++) sum += words[at + i];
    words[to + item] = sum;
    ITEM_END
}

/// Each of the `count` words becomes the sum of those before it, and one more behind them the sum
/// of all. `to`: where the sums before each stretch are; < 0: there is one stretch.
ITEM_KERNEL cutis_scan_spread(GLOBAL int *words, int at, int count, int to, ITEM_ARGS)
{
    ITEM_BEGIN
    int first = item * SCAN_STRETCH, sum = to < 0 ? 0 : words[to + item];
    for (int i = first; i < first + SCAN_STRETCH && i <= count; i++) {
        int own = i < count ? words[at + i] : 0;
        words[at + i] = sum;
        sum += own;
    }
    ITEM_END
}

#endif
