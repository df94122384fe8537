/// Item kernels over streams of outputs: copies, and boxes around points.
#ifndef CUTIS_KERNEL_STREAM_H
#define CUTIS_KERNEL_STREAM_H

#include "item.h"
#include "stream_arguments.h"

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
