/// Nodes of the multigrid and their blocks, numbered as src/fit/handles_multigrid.c does: colour by
/// colour (parity of the coordinates' sum), voxels in their order, blocks in the order of their
/// first children. Counts and prefix sums (scan.h) give every item its place. After item.h.
///
/// A level has a map: per place of its own grid (each twice as coarse as the one before) the node
/// there, or HANDLES_NOWHERE. Nodes keep their places.
#ifndef CUTIS_KERNEL_HANDLES_LEVELS_H
#define CUTIS_KERNEL_HANDLES_LEVELS_H

#define HANDLES_NOWHERE 0xffffffffu

FN int handles_colour(int place, int size_x, int size_y)
{
    return (place % size_x + place / size_x % size_y + place / size_x / size_y) & 1;
}

/// The block of a place, in a grid of (size + 1) / 2 blocks along each axis.
FN int handles_block(int place, int size_x, int size_y)
{
    int x = place % size_x / 2, y = place / size_x % size_y / 2, z = place / size_x / size_y / 2;
    return (z * ((size_y + 1) / 2) + y) * ((size_x + 1) / 2) + x;
}

/// Whether a voxel is free and of a colour: n flags for the first, n for the second.
#if !defined(HANDLES_ONE) || defined(HANDLES_SPLIT)
OLD_ITEM_KERNEL cutis_handles_split(GLOBAL const unsigned *owner, GLOBAL const unsigned *places,
                                    GLOBAL int *flag, int n, int size_x, int size_y, ITEM_ARGS)
{
    OLD_BEGIN ITEM_BEGIN int colour = handles_colour((int)places[item], size_x, size_y);
    int free = owner[item] == HANDLES_NOWHERE;
    flag[item] = free && colour == 0;
    flag[n + item] = free && colour == 1;
    ITEM_END
}
#endif

/// The finest level. `before`: sums of the flags.
#if !defined(HANDLES_ONE) || defined(HANDLES_NODES)
OLD_ITEM_KERNEL cutis_handles_nodes(GLOBAL const unsigned *owner, GLOBAL const unsigned *places,
                                    GLOBAL const int *before, GLOBAL unsigned *node,
                                    GLOBAL unsigned *voxel, GLOBAL unsigned *cell, int n,
                                    int size_x, int size_y, ITEM_ARGS)
{
    OLD_BEGIN ITEM_BEGIN int place = (int)places[item], free = owner[item] == HANDLES_NOWHERE;
    int i = before[handles_colour(place, size_x, size_y) * n + item];
    node[item] = free ? (unsigned)i : HANDLES_NOWHERE;
    if (free) {
        voxel[i] = (unsigned)item;
        cell[i] = (unsigned)place;
    }
    ITEM_END
}
#endif

/// The finest map; an item is a place.
#if !defined(HANDLES_ONE) || defined(HANDLES_MAP)
OLD_ITEM_KERNEL cutis_handles_map(GLOBAL const unsigned *index, GLOBAL const unsigned *node,
                                  GLOBAL unsigned *map, ITEM_ARGS)
{
    OLD_BEGIN ITEM_BEGIN unsigned v = index[item];
    map[item] = v == HANDLES_NOWHERE ? HANDLES_NOWHERE : node[v];
    ITEM_END
}
#endif

/// The first child of each block, if it has one. Sizes are of the finer grid.
#if !defined(HANDLES_ONE) || defined(HANDLES_FIRSTS)
OLD_ITEM_KERNEL cutis_handles_firsts(GLOBAL const unsigned *map, GLOBAL unsigned *first, int size_x,
                                     int size_y, int size_z, ITEM_ARGS)
{
    OLD_BEGIN ITEM_BEGIN int blocks_x = (size_x + 1) / 2, blocks_y = (size_y + 1) / 2;
    int x = item % blocks_x * 2, y = item / blocks_x % blocks_y * 2;
    int z = item / blocks_x / blocks_y * 2;
    unsigned least = HANDLES_NOWHERE;
    for (int c = 0; c < 8; c++) {
        int i = x + c % 2, j = y + c / 2 % 2, k = z + c / 4;
        if (i < size_x && j < size_y && k < size_z) {
            unsigned child = map[((INDEX)k * size_y + j) * size_x + i];
            least = child < least ? child : least;
        }
    }
    first[item] = least;
    ITEM_END
}
#endif

/// Whether a node is its block's first child, by the block's colour.
#if !defined(HANDLES_ONE) || defined(HANDLES_HEADS)
OLD_ITEM_KERNEL cutis_handles_heads(GLOBAL const unsigned *cell, GLOBAL const unsigned *first,
                                    GLOBAL int *flag, int at, int count, int size_x, int size_y,
                                    ITEM_ARGS)
{
    OLD_BEGIN ITEM_BEGIN int block = handles_block((int)cell[at + item], size_x, size_y);
    int colour = handles_colour(block, (size_x + 1) / 2, (size_y + 1) / 2);
    int head = first[block] == (unsigned)item;
    flag[item] = head && colour == 0;
    flag[count + item] = head && colour == 1;
    ITEM_END
}
#endif

/// The coarser map and the places of its nodes; an item is a block. `count`: of the finer nodes.
#if !defined(HANDLES_ONE) || defined(HANDLES_BLOCKS)
OLD_ITEM_KERNEL cutis_handles_blocks(GLOBAL const unsigned *first, GLOBAL const int *before,
                                     GLOBAL unsigned *map, GLOBAL unsigned *cell, int to, int count,
                                     int size_x, int size_y, ITEM_ARGS)
{
    OLD_BEGIN ITEM_BEGIN unsigned head = first[item], own = HANDLES_NOWHERE;
    if (head != HANDLES_NOWHERE) {
        int colour = handles_colour(item, (size_x + 1) / 2, (size_y + 1) / 2);
        own = (unsigned)before[colour * count + (int)head];
        cell[to + (int)own] = (unsigned)item;
    }
    map[item] = own;
    ITEM_END
}
#endif

/// How many children the nodes of a coarser level have.
#if !defined(HANDLES_ONE) || defined(HANDLES_FAMILY)
OLD_ITEM_KERNEL cutis_handles_family(GLOBAL const unsigned *map, GLOBAL const unsigned *cell,
                                     GLOBAL int *size, int to, int size_x, int size_y, int size_z,
                                     ITEM_ARGS)
{
    OLD_BEGIN ITEM_BEGIN int block = (int)cell[to + item], blocks_x = (size_x + 1) / 2,
                             blocks_y = (size_y + 1) / 2;
    int x = block % blocks_x * 2, y = block / blocks_x % blocks_y * 2;
    int z = block / blocks_x / blocks_y * 2, used = 0;
    for (int c = 0; c < 8; c++) {
        int i = x + c % 2, j = y + c / 2 % 2, k = z + c / 4;
        if (i < size_x && j < size_y && k < size_z)
            used += map[((INDEX)k * size_y + j) * size_x + i] != HANDLES_NOWHERE;
    }
    size[item] = used;
    ITEM_END
}
#endif

/// Children in ascending order, and their parent. `before`: sums of the sizes, which the list of
/// the level gets too, with one item more than it has nodes.
#if !defined(HANDLES_ONE) || defined(HANDLES_CHILDREN)
OLD_ITEM_KERNEL cutis_handles_children(GLOBAL const unsigned *map, GLOBAL const unsigned *cell,
                                       GLOBAL const int *before, GLOBAL unsigned *child_first,
                                       GLOBAL unsigned *child, GLOBAL unsigned *parent, int at,
                                       int to, int list, int count, int size_x, int size_y,
                                       int size_z, ITEM_ARGS)
{
    OLD_BEGIN ITEM_BEGIN child_first[list + item] = (unsigned)before[item];
    if (item < count) {
        int block = (int)cell[to + item], blocks_x = (size_x + 1) / 2, blocks_y = (size_y + 1) / 2;
        int x = block % blocks_x * 2, y = block / blocks_x % blocks_y * 2;
        int z = block / blocks_x / blocks_y * 2, used = 0;
        unsigned own[8];
        for (int c = 0; c < 8; c++) {
            int i = x + c % 2, j = y + c / 2 % 2, k = z + c / 4;
            unsigned next = HANDLES_NOWHERE;
            if (i < size_x && j < size_y && k < size_z)
                next = map[((INDEX)k * size_y + j) * size_x + i];
            if (next != HANDLES_NOWHERE) {
                int place = used++;
                for (; place > 0 && own[place - 1] > next; place--) own[place] = own[place - 1];
                own[place] = next;
            }
        }
        for (int c = 0; c < used; c++) {
            child[at + before[item] + c] = own[c];
            parent[at + (int)own[c]] = (unsigned)item;
        }
    }
    ITEM_END
}
#endif

#endif
