/// The two static buffers of a bound body (kernel/patches.h), made on the host.
#ifndef CUTIS_DEFORM_PATCHES_PACK_H
#define CUTIS_DEFORM_PATCHES_PACK_H

#include "deform/patches.h"

typedef struct patch_pack {
    int32_t *ints; ///< S: fields first
    double *reals; ///< G
    uint32_t int_count, real_count;
    uint32_t slot_count, rung_count, point_count; ///< of all entries and joints
} patch_pack;

/// @param box 1: the paper's removal; @param fill patch_fill_kind. Arrays lie in the body's arena.
cutis_result cutis_patch_pack_make(const patch_body *body, const patch_pieces *parts, int box,
                                   int fill, patch_pack *out);

#endif
