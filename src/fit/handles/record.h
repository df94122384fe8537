/// The handle rig of the model that a bind makes: what a cutis_handle_rig holds, gathered skin by
/// skin.
#ifndef CUTIS_FIT_HANDLES_RECORD_H
#define CUTIS_FIT_HANDLES_RECORD_H

#include "fit/handles/solve.h"

typedef struct cutis_handles_record {
    cutis_arena *arena;
    cutis_handle_rig rig;
    cutis_handle *handles;
    uint32_t *nodes;
    int32_t *first_handles;
    cutis_handle_weights *weights;
    cutis_float3 *places; ///< these four grow
    uint32_t *share_first, *share_handles;
    float *shares;
    size_t place_capacity, first_capacity, handle_capacity, share_capacity;
} cutis_handles_record;

/// @param handle_count of all skins that will be added
bool cutis_handles_record_init(cutis_arena *arena, uint32_t handle_count, uint32_t mesh_count,
                               uint32_t primitive_count, cutis_handles_record *out);

/// Virtual handles of a solution whose joints begin at `first_handle`. Their places are moved to
/// world space by the blend of `rest` (12 per joint), or stay (NULL).
/// @return the first of them, UINT32_MAX if memory ran out
uint32_t cutis_handles_record_virtual(cutis_handles_record *record,
                                      const cutis_handles_solution *solution, uint32_t first_handle,
                                      const double (*rest)[12]);

/// Weights of a primitive: vertices of the solution's shape from `vertex` on.
bool cutis_handles_record_primitive(cutis_handles_record *record,
                                    const cutis_handles_solution *solution, uint32_t primitive,
                                    size_t vertex, uint32_t vertex_count, uint32_t first_handle,
                                    uint32_t first_virtual);

/// The rig; borrowed from the record.
const cutis_handle_rig *cutis_handles_record_rig(cutis_handles_record *record);

#endif
