/// Straight lines between points of a plane, listed by the cells of a grid that they pass: which
/// may cross another is asked of few.
#ifndef CUTIS_MEASURE_UNITE_GRID_H
#define CUTIS_MEASURE_UNITE_GRID_H

#include "base/memory.h"

typedef struct unite_link {
    uint32_t line, next; ///< next + 1; 0: none
} unite_link;

typedef struct unite_grid {
    cutis_arena *arena;
    const double *points; ///< 2 each
    uint32_t side;        ///< cells each way; 0: there is no grid
    double low[2], size;
    uint32_t *heads; ///< per cell, + 1
    unite_link *links;
    size_t link_count, link_capacity;
} unite_grid;

/// About as many cells as points. false: out of memory.
bool unite_grid_open(unite_grid *grid, cutis_arena *arena, const double *points, uint32_t count);
bool unite_grid_add(unite_grid *grid, uint32_t a, uint32_t b, uint32_t line);
/// Does `crosses` say so of any line near that from a to b?
bool unite_grid_any(const unite_grid *grid, uint32_t a, uint32_t b,
                    bool (*crosses)(const void *user, uint32_t a, uint32_t b, uint32_t line),
                    const void *user);

#endif
