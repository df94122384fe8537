/// Kernel text: where the outputs of a frame go, and how parts move what they have.
#ifndef CUTIS_KERNEL_PATCHES_OUT_H
#define CUTIS_KERNEL_PATCHES_OUT_H

#include "patches_joint.h"

// Blocks that `count` vertices or faces make.
FN int patch_blocks(int count)
{
    return (count + PATCH_BLOCK - 1) / PATCH_BLOCK;
}
FN int patch_block_end(int block, int count)
{
    int end = (block + 1) * PATCH_BLOCK;
    return end > count ? count : end;
}

// Element `k` of an output of this instance.
FN INDEX patch_element(patch_work w, patch_stream s, int k)
{
    return s.first + s.step * w.instance + s.stride * k;
}

FN void patch_store(GLOBAL float *out, INDEX at, pvec v)
{
    out[at] = (float)v.x;
    out[at + 1] = (float)v.y;
    out[at + 2] = (float)v.z;
}

// A direction by a part's matrix.
FN pvec patch_rotated(GLOBAL const double *m, pvec n)
{
    return pvec_make(m[0] * n.x + m[1] * n.y + m[2] * n.z, m[4] * n.x + m[5] * n.y + m[6] * n.z,
                     m[8] * n.x + m[9] * n.y + m[10] * n.z);
}
FN pvec patch_direction(GLOBAL const double *m, pvec n)
{
    return pvec_unit(patch_rotated(m, n));
}

// A unit normal by a part's matrix. Where that scales unevenly, by its cofactors.
FN pvec patch_part_normal(patch_work w, int part, pvec n)
{
    GLOBAL const double *m = work_matrix(w) + 12 * part;
    double shrink = work_part_scale(w)[part];
    if (shrink > 0.0) return pvec_times(patch_rotated(m, n), shrink);
    pvec x = pvec_make(m[0], m[1], m[2]), y = pvec_make(m[4], m[5], m[6]);
    pvec z = pvec_make(m[8], m[9], m[10]);
    return pvec_unit(pvec_make(pvec_dot(pvec_cross(y, z), n), pvec_dot(pvec_cross(z, x), n),
                               pvec_dot(pvec_cross(x, y), n)));
}

#endif
