/// Levels of the multigrid: nodes colour by colour (parity of the coordinates' sum), voxels in
/// their order, blocks of 2 x 2 x 2 in the order of their first children; and conductances between
/// them.
///
/// Counts and prefix sums (scan.h) give every item its place. A level has a map: per place of its
/// own grid, each twice as coarse as the one before, the node there, or HANDLES_NONE.
#ifndef CUTIS_KERNEL_HANDLES_LEVELS_H
#define CUTIS_KERNEL_HANDLES_LEVELS_H

#include "handles.h"

/// Two blocks' centres are two steps apart, their faces' conductances one step long: half of the
/// sum is what the block grid would have. Without it the coarse correction comes out half as long.
#define HANDLES_STRETCH 0.5

FN int handles_colour(handles_cell c)
{
    return (c.x + c.y + c.z) & 1;
}

/// Where a block's first place is.
FN handles_cell handles_block(int block, int size_x, int size_y)
{
    handles_cell c = handles_cell_of((unsigned)block, (size_x + 1) / 2, (size_y + 1) / 2);
    c.x *= 2;
    c.y *= 2;
    c.z *= 2;
    return c;
}

/// The children of a block, ascending. @return how many
FN int handles_family(GLOBAL const unsigned *map, GLOBAL const unsigned *node, handles_cell low,
                      int size_x, int size_y, int size_z, unsigned *children)
{
    int used = 0;
    for (int c = 0; c < 8; c++) {
        int x = low.x + c % 2, y = low.y + c / 2 % 2, z = low.z + c / 4;
        unsigned at = HANDLES_NONE;
        if (x < size_x && y < size_y && z < size_z) at = map[((INDEX)z * size_y + y) * size_x + x];
        if (at != HANDLES_NONE && node != 0) at = node[at];
        if (at == HANDLES_NONE) continue;
        int place = used++;
        for (; place > 0 && children[place - 1] > at; place--)
            children[place] = children[place - 1];
        children[place] = at;
    }
    return used;
}

ITEM_KERNEL(handles_split, HANDLES_SPLIT_BUFFERS)
{
    ITEM_BEGIN
    int colour =
        handles_colour(handles_cell_of(place[item], given.grid.size[0], given.grid.size[1]));
    int free = owner[item] == HANDLES_NONE;
    places[item] = free && colour == 0;
    places[given.grid.voxel_count + item] = free && colour == 1;
    ITEM_END
}

ITEM_KERNEL(handles_nodes, HANDLES_NODES_BUFFERS)
{
    ITEM_BEGIN
    int colour =
        handles_colour(handles_cell_of(place[item], given.grid.size[0], given.grid.size[1]));
    int i = places[(INDEX)colour * given.grid.voxel_count + item];
    int free = owner[item] == HANDLES_NONE;
    node[item] = free ? (unsigned)i : HANDLES_NONE;
    if (free) {
        voxel[i] = (unsigned)item;
        cell[i] = place[item];
    }
    ITEM_END
}

ITEM_KERNEL(handles_firsts, HANDLES_FIRSTS_BUFFERS)
{
    ITEM_BEGIN
    unsigned children[8];
    int used = handles_family(map, node, handles_block(item, given.size[0], given.size[1]),
                              given.size[0], given.size[1], given.size[2], children);
    first_child[item] = used > 0 ? children[0] : HANDLES_NONE;
    ITEM_END
}

ITEM_KERNEL(handles_heads, HANDLES_HEADS_BUFFERS)
{
    ITEM_BEGIN
    handles_cell c = handles_cell_of(cell[given.at + item], given.size[0], given.size[1]);
    c.x /= 2;
    c.y /= 2;
    c.z /= 2;
    INDEX block = ((INDEX)c.z * ((given.size[1] + 1) / 2) + c.y) * ((given.size[0] + 1) / 2) + c.x;
    int head = first_child[block] == (unsigned)item, colour = handles_colour(c);
    places[item] = head && colour == 0;
    places[given.count + item] = head && colour == 1;
    ITEM_END
}

ITEM_KERNEL(handles_blocks, HANDLES_BLOCKS_BUFFERS)
{
    ITEM_BEGIN
    unsigned head = first_child[item], own = HANDLES_NONE, children[8];
    if (head != HANDLES_NONE) {
        handles_cell low = handles_block(item, given.size[0], given.size[1]);
        int red = places[head], black = places[given.count + (int)head];
        own = (unsigned)((low.x + low.y + low.z) / 2 & 1 ? black : red);
        cell[given.to + (int)own] = (unsigned)item;
        order[given.to + red + black - places[given.count]] = own;
        family[own] =
            handles_family(map, node, low, given.size[0], given.size[1], given.size[2], children);
    }
    other_map[item] = own;
    ITEM_END
}

ITEM_KERNEL(handles_children, HANDLES_CHILDREN_BUFFERS)
{
    ITEM_BEGIN
    child_first[given.list + item] = (unsigned)family[item];
    if (item < given.count) {
        unsigned children[8];
        handles_cell low = handles_block((int)cell[given.to + item], given.size[0], given.size[1]);
        int used =
            handles_family(map, node, low, given.size[0], given.size[1], given.size[2], children);
        for (int c = 0; c < used; c++) {
            child[given.at + family[item] + c] = children[c];
            parent[given.at + (int)children[c]] = (unsigned)item;
        }
    }
    ITEM_END
}

/// The exponent is the nearer one's, so that both directions agree.
ITEM_KERNEL(handles_conduct, HANDLES_CONDUCT_BUFFERS)
{
    ITEM_BEGIN
    for (int d = 0; d < 6; d++) {
        unsigned m = neighbour[6 * (INDEX)item + d], near = label[item];
        double value = m != HANDLES_NONE ? 1 : 0;
        if (m != HANDLES_NONE && near != HANDLES_NONE) {
            if (distance[m] < distance[item] || (distance[m] == distance[item] && (int)m < item))
                near = label[m];
            value = handles_fall(((double)distance[item] + distance[m]) / 2, given.grid.step,
                                 bars[near]);
        }
        conductance[6 * (INDEX)item + d] = value;
    }
    ITEM_END
}

ITEM_KERNEL(handles_finest, HANDLES_FINEST_BUFFERS)
{
    ITEM_BEGIN
    INDEX v = voxel[item], to = 6 * (INDEX)item;
    double sum = 0;
    for (int d = 0; d < 6; d++) {
        unsigned m = neighbour[6 * v + d], other = m;
        double c = conductance[6 * v + d];
        if (m != HANDLES_NONE) {
            sum += c;
            other = node[m];
        }
        level_neighbour[to + d] = other != HANDLES_NONE ? other : (unsigned)item;
        level_conductance[to + d] = other != HANDLES_NONE ? c : 0.0;
    }
    diagonal[item] = sum;
    inverse[item] = 1 / sum;
    ITEM_END
}

ITEM_KERNEL(handles_coarse, HANDLES_COARSE_BUFFERS)
{
    ITEM_BEGIN
    INDEX to = (INDEX)(given.to + item) * 6;
    double leak = 0;
    for (int d = 0; d < 6; d++) {
        level_neighbour[to + d] = (unsigned)item;
        level_conductance[to + d] = 0;
    }
    for (unsigned e = child_first[given.list + item]; e < child_first[given.list + item + 1]; e++) {
        INDEX i = given.at + (INDEX)child[given.at + (INDEX)e];
        double inner = 0;
        for (int d = 0; d < 6; d++) {
            double c = level_conductance[6 * i + d];
            unsigned other = parent[given.at + (INDEX)level_neighbour[6 * i + d]];
            inner += c;
            if (c != 0 && other != (unsigned)item) {
                level_neighbour[to + d] = other;
                level_conductance[to + d] += HANDLES_STRETCH * c;
            }
        }
        leak += diagonal[i] - inner;
    }
    double sum = leak > 0 ? leak : 0;
    for (int d = 0; d < 6; d++) sum += level_conductance[to + d];
    diagonal[given.to + item] = sum;
    inverse[given.to + item] = sum > 0 ? 1 / sum : 0;
    ITEM_END
}

#endif
