/// What the kernels of scan.h take.
#ifndef CUTIS_KERNEL_SCAN_ARGUMENTS_H
#define CUTIS_KERNEL_SCAN_ARGUMENTS_H

#define SCAN_STRETCH 64

#define SCAN_SUMS_BUFFERS(IN, OUT)   OUT(int, words)
#define SCAN_SPREAD_BUFFERS(IN, OUT) OUT(int, words)
STRUCT(scan_sums_arguments)
{
    ITEM_RANGE;
    int at, count; // the words that are summed
    int to;        // where the sums of their stretches go
};
STRUCT(scan_spread_arguments)
{
    ITEM_RANGE;
    int at, count;
    int from; // where the sums before each stretch are; < 0: there is one stretch
};

#endif
