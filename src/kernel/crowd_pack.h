/// Vertices of crowds as they are drawn, from floats. Concatenated after pack.h.
#ifndef CUTIS_KERNEL_CROWD_PACK_H
#define CUTIS_KERNEL_CROWD_PACK_H

#include "item.h"
#include "crowd_arguments.h"
#include "pack.h"

ITEM_KERNEL(crowd_pack, CROWD_PACK_BUFFERS)
{
    ITEM_BEGIN
    int slot = item / given.vertex_count, vertex = item % given.vertex_count, w = 0;
    GLOBAL const float *v = from + slot * given.from_step + (INDEX)vertex * given.from_words;
    GLOBAL unsigned *record = to + given.to_first + slot * given.to_step;
    record = record + (INDEX)vertex * given.to_words;
    if (given.half_positions) {
        record[0] = pack_half(v[0]) | pack_half(v[1]) << 16;
        record[1] = pack_half(v[2]) | 0x3c000000u;
        w = 2;
    } else {
        for (; w < 3; w++) record[w] = (unsigned)BITS(v[w]);
    }
    if (given.normals == 1)
        for (int c = 0; c < 3; c++) record[w + c] = (unsigned)BITS(v[3 + c]);
    if (given.normals == 2) record[w] = pack_octahedral(v[3], v[4], v[5]);
    ITEM_END
}

#endif
