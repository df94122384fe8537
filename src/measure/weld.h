/// The weld a measure works with: the caller's, or one by the surface's own positions.
#ifndef CUTIS_MEASURE_WELD_H
#define CUTIS_MEASURE_WELD_H

#include <cutis/measure.h>

#include "base/memory.h"

static inline cutis_result cutis_weld_or_own(cutis_arena *arena, const cutis_surface *surface,
                                             const uint32_t **weld)
{
    if (*weld) return CUTIS_OK;
    uint32_t *own = cutis_arena_alloc(arena, surface->vertex_count, sizeof *own);
    if (!own) return cutis_alloc_result(arena->context);
    *weld = own;
    return cutis_weld_positions(arena->context, surface->vertex_count, surface->positions, own);
}

#endif
