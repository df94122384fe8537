/// What the kernels of stream.h take. Streams are words of 4 bytes: `first` of the first instance's
/// first element, `step` from instance to instance, `stride` from element to element.
#ifndef CUTIS_KERNEL_STREAM_ARGUMENTS_H
#define CUTIS_KERNEL_STREAM_ARGUMENTS_H

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
