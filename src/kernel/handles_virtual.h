/// VIRTUAL handle weights: cover, its maxima, supports of candidates and what accepted ones gain,
/// faces between Voronoi cells, and folding.
///
/// A CPU inserts handles in order, by marching (src/fit/handles/insert.c); kernels of candidates
/// are a GPU's way to the same handles.
#ifndef CUTIS_KERNEL_HANDLES_VIRTUAL_H
#define CUTIS_KERNEL_HANDLES_VIRTUAL_H

#include "handles.h"

ITEM_KERNEL(handles_keep, HANDLES_KEEP_BUFFERS)
{
    ITEM_BEGIN
    int f = item / given.grid.voxel_count;
    site_fields[((INDEX)new_slot[f] - f) * given.grid.voxel_count + item] = field[item];
    ITEM_END
}

/// Least distance of a field to every `step`-th core from `first` on.
FN float handles_least_core(GLOBAL const float *field, GLOBAL const unsigned *cores, unsigned first,
                            unsigned end, unsigned step)
{
    float least = HANDLES_INFINITY;
    for (unsigned c = first; c < end; c += step) {
        float d = field[cores[c]];
        least = d < least ? d : least;
    }
    return least;
}

ITEM_KERNEL(handles_apart, HANDLES_APART_BUFFERS)
{
    ITEM_BEGIN
    int j = item % given.sites;
    apart[item] =
        handles_least_core(site_fields + (INDEX)slot[item / given.sites] * given.voxel_count, cores,
                           core_first[j], core_first[j + 1], 1);
    ITEM_END
}

ITEM_KERNEL(handles_cover, HANDLES_COVER_BUFFERS)
{
    ITEM_BEGIN
    float best = HANDLES_INFINITY;
    int used = 0, reached = held[item] != HANDLES_NONE;
    for (int s = 0; s < given.sites; s++) {
        float ratio =
            handles_ratio(site_fields[(INDEX)slot[s] * given.voxel_count + item], radius[s]);
        best = ratio < best ? ratio : best;
        if (given.capacity) {
            float own = reached ? (float)handles_basis(ratio) : owner[item] == (unsigned)s ? 1 : 0;
            if (own > 0 && used < given.capacity) {
                unpacked_handle[(INDEX)item * given.capacity + used] = (unsigned)s;
                unpacked_value[(INDEX)item * given.capacity + used] = own;
                used++;
            } else if (own > 0) {
                RAISE(overflow[0]);
            }
        }
    }
    cover[item] = reached ? best : 0.0f;
    if (given.capacity) unpacked_count[item] = (unsigned)used;
    ITEM_END
}

ITEM_KERNEL(handles_peaks, HANDLES_PEAKS_BUFFERS)
{
    ITEM_BEGIN
    unsigned bits = 0;
    for (int i = 0; i < 32; i++) {
        int v = 32 * item + i;
        if (v < given.grid.voxel_count && cover[v] > HANDLES_TAU) {
            int peak = 1;
            for (int d = 0; d < 6 && peak; d++) {
                unsigned m = neighbour[6 * (INDEX)v + d];
                if (m != HANDLES_NONE) peak = cover[v] >= cover[m];
            }
            if (peak) bits |= 1u << i;
        }
    }
    mask[item] = bits;
    ITEM_END
}

// Candidates of a GPU ---------------------------------------------------------------------------

ITEM_KERNEL(handles_rank, HANDLES_RANK_BUFFERS)
{
    ITEM_BEGIN
    unsigned own = candidate[item];
    float height = cover[own];
    int before = 0;
    for (int i = 0; i < given.count; i++) {
        float other = cover[candidate[i]];
        before += other > height || (other == height && candidate[i] < own);
    }
    sorted[before] = own;
    ITEM_END
}

ITEM_KERNEL(handles_boxes, HANDLES_BOXES_BUFFERS)
{
    ITEM_BEGIN
    int low[3], high[3];
    for (int c = 0; c < 3; c++) low[c] = 1 << 30, high[c] = -1;
    for (int v = HANDLES_UNIT * item; v < HANDLES_UNIT * (item + 1) && v < given.grid.voxel_count;
         v++) {
        handles_cell cell = handles_cell_of(place[v], given.grid.size[0], given.grid.size[1]);
        int at[3];
        at[0] = cell.x, at[1] = cell.y, at[2] = cell.z;
        for (int c = 0; c < 3; c++) {
            low[c] = at[c] < low[c] ? at[c] : low[c];
            high[c] = at[c] > high[c] ? at[c] : high[c];
        }
    }
    for (int c = 0; c < 3; c++) boxes[6 * item + c] = low[c], boxes[6 * item + 3 + c] = high[c];
    ITEM_END
}

ITEM_KERNEL(handles_bound, HANDLES_BOUND_BUFFERS)
{
    ITEM_BEGIN
    unsigned v = sorted[given.first + item];
    handles_point centre = handles_centre_at(given.grid, place[v]);
    double near = given.most;
    for (int s = 0; s < given.sites; s++) {
        double d = site_fields[(INDEX)slot[s] * given.grid.voxel_count + v] + 0.5 * given.grid.step;
        near = d < near ? d : near;
    }
    near = near > given.least ? near : given.least;
    bound[item] = (float)(near * 1.000001);
    middle[item] = v;
    for (int end = 0; end < 2; end++) {
        segments[6 * item + 3 * end] = centre.x;
        segments[6 * item + 3 * end + 1] = centre.y;
        segments[6 * item + 3 * end + 2] = centre.z;
    }
    if (item == 0) segment_first[0] = 0;
    segment_first[item + 1] = (unsigned)item + 1;
    ITEM_END
}

ITEM_KERNEL(handles_around, HANDLES_AROUND_BUFFERS)
{
    ITEM_BEGIN
    int units = (given.grid.voxel_count + HANDLES_UNIT - 1) / HANDLES_UNIT;
    int words = (units + 31) / 32, f = item / words, first = 32 * (item - f * words), at[3];
    handles_cell cell = handles_cell_of(place[middle[f]], given.grid.size[0], given.grid.size[1]);
    double reach = bound[f] / given.grid.step + 2;
    unsigned bits = 0;
    at[0] = cell.x, at[1] = cell.y, at[2] = cell.z;
    for (int i = 0; i < 32; i++)
        if (first + i < units) {
            double square = 0;
            for (int c = 0; c < 3; c++) {
                int below = boxes[6 * (first + i) + c] - at[c];
                int above = at[c] - boxes[6 * (first + i) + 3 + c];
                int gap = below > above ? below : above;
                square += gap > 0 ? (double)gap * gap : 0.0;
            }
            if (square < reach * reach) bits |= 1u << i;
        }
    around[item] = bits;
    ITEM_END
}

ITEM_KERNEL(handles_near, HANDLES_NEAR_BUFFERS)
{
    ITEM_BEGIN
    core_distance[item] = handles_least_core(
        field + (INDEX)(item / given.parts) * given.voxel_count, cores,
        (unsigned)(item % given.parts), (unsigned)given.core_count, (unsigned)given.parts);
    ITEM_END
}

ITEM_KERNEL(handles_support, HANDLES_SUPPORT_BUFFERS)
{
    ITEM_BEGIN
    float near = HANDLES_INFINITY;
    for (int p = 0; p < given.parts; p++) {
        float d = core_distance[item * given.parts + p];
        near = d < near ? d : near;
    }
    double radius = given.most;
    if (near < HANDLES_INFINITY) {
        double own = given.part * near > given.least ? given.part * near : given.least;
        radius = own < radius ? own : radius;
    } else if ((double)bound[item] < given.most) {
        bound[item] = 2 * bound[item];
        RAISE(flag[0]);
    }
    support[2 * item] = radius;
    support[2 * item + 1] = (double)middle[item];
    ITEM_END
}

ITEM_KERNEL(handles_clash, HANDLES_CLASH_BUFFERS)
{
    ITEM_BEGIN
    int i = item / given.batch, j = item - i * given.batch;
    unsigned hit = 0;
    if (i < j) {
        float d = field[(INDEX)i * given.voxel_count + middle[j]];
        hit = (double)d < support[2 * i] && (double)handles_ratio(d, support[2 * i]) <= HANDLES_TAU;
    } else if (i == j) {
        hit = !((double)cover[middle[i]] > HANDLES_TAU);
    }
    clash[item] = hit;
    ITEM_END
}

ITEM_KERNEL(handles_gain, HANDLES_GAIN_BUFFERS)
{
    ITEM_BEGIN
    float best = cover[item];
    int used = (int)unpacked_count[item];
    for (int k = 0; k < given.accepted_count; k++) {
        double radius = support[2 * accepted[k]];
        float d = field[(INDEX)accepted[k] * given.voxel_count + item];
        if ((double)d < radius) {
            float ratio = handles_ratio(d, radius), own = (float)handles_basis(ratio);
            best = ratio < best ? ratio : best;
            if (own > 0 && used < given.capacity) {
                unpacked_handle[(INDEX)item * given.capacity + used] =
                    (unsigned)(given.first_handle + k);
                unpacked_value[(INDEX)item * given.capacity + used] = own;
                used++;
            } else if (own > 0) {
                RAISE(overflow[0]);
            }
        }
    }
    cover[item] = best;
    unpacked_count[item] = (unsigned)used;
    ITEM_END
}

ITEM_KERNEL(handles_pack, HANDLES_PACK_BUFFERS)
{
    ITEM_BEGIN
    unsigned count = list_first[item + 1] - list_first[item];
    for (unsigned e = 0; e < count; e++) {
        list_handle[list_first[item] + e] = unpacked_handle[(INDEX)item * given.capacity + e];
        list_value[list_first[item] + e] = unpacked_value[(INDEX)item * given.capacity + e];
    }
    ITEM_END
}

// Cells and shares ------------------------------------------------------------------------------

/// Whether voxel v has a face with a cell of another handle towards m.
FN int handles_borders_on(GLOBAL const float *distance, GLOBAL const unsigned *label, int v,
                          unsigned m)
{
    return distance[v] < HANDLES_INFINITY && m != HANDLES_NONE && label[m] != label[v];
}

ITEM_KERNEL(handles_borders, HANDLES_BORDERS_BUFFERS)
{
    ITEM_BEGIN
    int used = 0;
    for (int d = 1; d < 6; d += 2)
        used += handles_borders_on(distance, label, item, neighbour[6 * (INDEX)item + d]);
    borders[item] = used;
    ITEM_END
}

ITEM_KERNEL(handles_faces, HANDLES_FACES_BUFFERS)
{
    ITEM_BEGIN
    INDEX at = borders[item];
    for (int d = 1; d < 6; d += 2) {
        unsigned m = neighbour[6 * (INDEX)item + d];
        if (handles_borders_on(distance, label, item, m)) {
            unsigned a = label[item], b = label[m];
            double least = HANDLES_INFINITY;
            int line = 0;
            for (int s = 0; s < given.sites; s++) {
                INDEX base = (INDEX)slot[s] * given.voxel_count;
                double mean = ((double)site_fields[base + item] + site_fields[base + m]) / 2;
                if (mean < least) least = mean, line = bars[s];
            }
            face_cells[2 * at] = a < b ? a : b;
            face_cells[2 * at + 1] = a < b ? b : a;
            face_lengths[2 * at] = (double)distance[item] + distance[m];
            face_lengths[2 * at + 1] = handles_fall(least, given.step, line);
            at++;
        }
    }
    ITEM_END
}

ITEM_KERNEL(handles_fold, HANDLES_FOLD_BUFFERS)
{
    ITEM_BEGIN
    INDEX to = (INDEX)item * given.sites;
    double sum = 0;
    for (int s = 0; s < given.sites; s++) values[to + s] = 0;
    for (unsigned e = list_first[item]; e < list_first[item + 1]; e++) {
        unsigned h = list_handle[e];
        double own = list_value[e];
        if (h < (unsigned)given.sites)
            values[to + h] = list_value[e];
        else
            for (int s = 0; s < given.sites; s++)
                values[to + s] +=
                    (float)(own * share[(INDEX)(h - (unsigned)given.sites) * given.sites + s]);
    }
    for (int s = 0; s < given.sites; s++) sum += values[to + s];
    density[item] = (float)sum;
    ITEM_END
}

#endif
