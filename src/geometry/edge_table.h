/// Edges of triangles: how many triangles have each. Quicker than sorting where one look at every
/// edge is enough.
#ifndef CUTIS_GEOMETRY_EDGE_TABLE_H
#define CUTIS_GEOMETRY_EDGE_TABLE_H

#include "base/memory.h"

/// An open-addressing table; slots with count 0 are free.
typedef struct cutis_edge_table {
    size_t capacity;
    uint32_t *corner; ///< that the edge was last seen at: it runs to the triangle's next corner
    uint8_t *count;   ///< triangles that have it; 3: three or more
} cutis_edge_table;

/// Edges between different places of some triangles. @param weld per vertex: its place
/// @return false: out of memory
bool cutis_edge_table_create(cutis_arena *arena, const uint32_t *triangles, size_t triangle_count,
                             const uint32_t *weld, cutis_edge_table *out);

#endif
