/// Distances inside a shape by sweeps of all voxels, many fields at once: what a GPU does in place
/// of marching. The end is the one solution that no step lowers any more, however it is reached.
///
/// Voxels of many fields go in units: unit u is of field u / units_of_a_field.
#ifndef CUTIS_KERNEL_HANDLES_DISTANCE_H
#define CUTIS_KERNEL_HANDLES_DISTANCE_H

#include "handles.h"

STRUCT(handles_spot)
{
    int field, voxel; // beyond the last one in a field's last unit
};

/// Where an item works: `work` lists its units; NULL: all.
FN handles_spot handles_spot_of(GLOBAL const unsigned *work, int voxel_count, int item)
{
    handles_spot s;
    int units = (voxel_count + HANDLES_UNIT - 1) / HANDLES_UNIT;
    int unit = work != 0 ? (int)work[item / HANDLES_UNIT] : item / HANDLES_UNIT;
    s.field = unit / units;
    s.voxel = HANDLES_UNIT * (unit - s.field * units) + item % HANDLES_UNIT;
    return s;
}

ITEM_KERNEL(handles_start, HANDLES_START_BUFFERS)
{
    ITEM_BEGIN
    handles_spot s = handles_spot_of(units, given.grid.voxel_count, item);
    if (s.voxel < given.grid.voxel_count) {
        INDEX to = (INDEX)s.field * given.grid.voxel_count + s.voxel;
        handles_point centre = handles_centre_at(given.grid, place[s.voxel]);
        float best = start[to];
        unsigned owner = start_label != 0 ? start_label[to] : 0;
        for (INDEX g = segment_first[s.field]; g < segment_first[s.field + 1]; g++) {
            handles_point nearest = handles_nearest(
                handles_make(segments[6 * g], segments[6 * g + 1], segments[6 * g + 2]),
                handles_make(segments[6 * g + 3], segments[6 * g + 4], segments[6 * g + 5]),
                centre);
            double d = handles_length(centre, nearest);
            unsigned mine = start_label != 0 ? segment_labels[g] : 0;
            if (d <= given.reach && d <= (double)best &&
                handles_nearer((float)d, mine, best, owner) &&
                handles_sees(index, given.grid, centre, nearest))
                best = (float)d, owner = mine;
        }
        start[to] = best;
        if (start_label != 0) start_label[to] = owner;
    }
    ITEM_END
}

ITEM_KERNEL(handles_sweep, HANDLES_SWEEP_BUFFERS)
{
    ITEM_BEGIN
    float low[3], least = HANDLES_INFINITY, best = start[item];
    unsigned own = HANDLES_NONE, owner = start_label[item];
    for (int axis = 0; axis < 3; axis++) {
        low[axis] = HANDLES_INFINITY;
        for (int side = 0; side < 2; side++) {
            unsigned m = neighbour[6 * (INDEX)item + 2 * axis + side];
            if (m != HANDLES_NONE) {
                float d = distance[m];
                low[axis] = d < low[axis] ? d : low[axis];
                if (handles_nearer(d, label[m], least, own)) least = d, own = label[m];
            }
        }
    }
    if (least < HANDLES_INFINITY) {
        float value = handles_godunov(low[0], low[1], low[2], given.grid.step);
        if (handles_nearer(value, own, best, owner)) best = value, owner = own;
    }
    if (best != distance[item] || owner != label[item]) RAISE(flag[0]);
    other_distance[item] = best;
    other_label[item] = owner;
    ITEM_END
}

ITEM_KERNEL(handles_fields, HANDLES_FIELDS_BUFFERS)
{
    ITEM_BEGIN
    handles_spot s = handles_spot_of(units, given.grid.voxel_count, item);
    if (s.voxel < given.grid.voxel_count) {
        INDEX base = (INDEX)s.field * given.grid.voxel_count;
        float low[3], known = field[base + s.voxel];
        for (int axis = 0; axis < 3; axis++) {
            unsigned a = neighbour[6 * (INDEX)s.voxel + 2 * axis];
            unsigned b = neighbour[6 * (INDEX)s.voxel + 2 * axis + 1];
            float one = a != HANDLES_NONE ? field[base + a] : HANDLES_INFINITY;
            float two = b != HANDLES_NONE ? field[base + b] : HANDLES_INFINITY;
            low[axis] = one < two ? one : two;
        }
        float value = handles_godunov(low[0], low[1], low[2], given.grid.step);
        if (value < known && value < bound[s.field])
            RAISE(flag[0]);
        else
            value = known;
        other_field[base + s.voxel] = value;
    }
    ITEM_END
}

ITEM_KERNEL(handles_scatter, HANDLES_SCATTER_BUFFERS)
{
    ITEM_BEGIN
    field[seed[item]] = seed_value[item];
    ITEM_END
}

#endif
