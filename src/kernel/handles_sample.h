/// Weights of vertices: cubic B-splines of the sites' values at voxels, the largest kept. After
/// handles.h.
#ifndef CUTIS_KERNEL_HANDLES_SAMPLE_H
#define CUTIS_KERNEL_HANDLES_SAMPLE_H

#include "handles.h"

/// B-splines of the values of `width` sites from `first` on, sums[s * stride] of site s.
FN void handles_blend_some(GLOBAL const float *values, handles_taps *taps, int sites, int first,
                           GLOBAL double *sums, INDEX stride, const int width)
{
    double sum[LANED_MOST];
    for (int s = 0; s < width; s++) sum[s] = 0;
    for (int t = 0; t < taps->count; t++) {
        GLOBAL const float *from = values + (INDEX)taps->voxel[t] * sites + first;
        const double weight = taps->weight[t];
        for (int s = 0; s < width; s++) sum[s] += weight * from[s];
    }
    for (int s = 0; s < width; s++) sums[(first + s) * stride] = sum[s];
}

/// The same of all sites. @return their sum: values are floats, so it is the density only to
/// rounding, and this one makes the sum of weights one
FN double handles_blend(GLOBAL const float *values, handles_taps *taps, int sites,
                        GLOBAL double *sums, INDEX stride)
{
    int first = 0;
    double all = 0;
#if LANED_MOST == 8
    for (; first + 8 <= sites; first += 8)
        handles_blend_some(values, taps, sites, first, sums, stride, 8);
    for (; first + 4 <= sites; first += 4)
        handles_blend_some(values, taps, sites, first, sums, stride, 4);
    for (; first + 2 <= sites; first += 2)
        handles_blend_some(values, taps, sites, first, sums, stride, 2);
#endif
    for (; first < sites; first++) handles_blend_some(values, taps, sites, first, sums, stride, 1);
    for (int s = 0; s < sites; s++) all += sums[s * stride];
    return all;
}

/// Influences that are kept: falling weights, then ascending joints.
STRUCT(handles_choice)
{
    double weight[HANDLES_SLOTS];
    unsigned joint[HANDLES_SLOTS];
};

/// Keep the largest; ties go to the joint that came first, which is the lower one.
FN void handles_choose(handles_choice *kept, int slots, unsigned joint, double weight)
{
    int to = slots - 1;
    if (weight > kept->weight[to]) {
        for (; to > 0 && weight > kept->weight[to - 1]; to--)
            kept->weight[to] = kept->weight[to - 1], kept->joint[to] = kept->joint[to - 1];
        kept->weight[to] = weight, kept->joint[to] = joint;
    }
}

/// The kept ones by ascending joint; those without weight stay behind.
FN void handles_order(handles_choice *kept, int slots)
{
    for (int i = 1; i < slots; i++)
        for (int j = i; j > 0 && kept->weight[j] > 0 && kept->joint[j] < kept->joint[j - 1]; j--) {
            const double weight = kept->weight[j];
            const unsigned joint = kept->joint[j];
            kept->weight[j] = kept->weight[j - 1], kept->joint[j] = kept->joint[j - 1];
            kept->weight[j - 1] = weight, kept->joint[j - 1] = joint;
        }
}

/// The largest weights at some taps. @param sums of all sites, scratch @return what was dropped
FN double handles_weigh(GLOBAL const float *values, handles_taps *taps,
                        GLOBAL const unsigned *joint_site, GLOBAL const unsigned *sharers,
                        handles_sample_arguments given, GLOBAL double *sums,
                        GLOBAL unsigned *joints, GLOBAL float *weights)
{
    handles_choice kept;
    double sum = 0;
    const double all = handles_blend(values, taps, given.sites, sums, given.site_stride);
    for (int i = 0; i < given.slots; i++) kept.weight[i] = 0, kept.joint[i] = 0;
    for (int j = 0; j < given.joint_count; j++) {
        const unsigned site = joint_site[j];
        if (site != HANDLES_NONE && all > 0)
            handles_choose(&kept, given.slots, (unsigned)j,
                           sums[(INDEX)site * given.site_stride] / all / sharers[site]);
    }
    for (int i = 0; i < given.slots; i++) sum += kept.weight[i];
    handles_order(&kept, given.slots);
    for (int i = 0; i < given.slots; i++) {
        joints[i] = kept.joint[i];
        weights[i] = (float)(kept.weight[i] / sum);
    }
    return 1 - sum > 0 ? 1 - sum : 0;
}

ITEM_KERNEL(handles_sample, HANDLES_SAMPLE_BUFFERS)
{
    ITEM_BEGIN
    const INDEX scratch = (INDEX)item * given.item_stride;
    int v = item * given.stretch, end = v + given.stretch;
    if (end > given.vertices) end = given.vertices;
    for (; v < end; v++) {
        if (given.passes && passed[v]) continue;
        handles_taps taps;
        const INDEX at = 3 * (INDEX)v, to = (INDEX)v * given.slots;
        handles_taps_at(index, given.grid,
                        handles_make(positions[at], positions[at + 1], positions[at + 2]), 1,
                        &taps);
        dropped[v] = handles_weigh(values, &taps, joint_site, sharers, given, sums + scratch,
                                   joints + to, weights + to);
    }
    ITEM_END
}

#endif
