/// The buffer of a bound body (kernel/patches_fields.h), made on the host, and what kernels are
/// told of it.
#ifndef CUTIS_DEFORM_PATCHES_PACK_H
#define CUTIS_DEFORM_PATCHES_PACK_H

#include "deform/patches.h"
#include "device/compute/patches.h"

typedef struct patch_pack {
    char *body;
    unsigned body_units;
    uint64_t counts[PATCH_COUNTS];
    patch_arguments arguments; ///< without the capacities of outputs
} patch_pack;

/// @param box 1: the paper's removal; @param fill patch_fill_kind. The body lies in its arena.
cutis_result cutis_patch_pack_make(const patch_body *body, const patch_pieces *parts, int box,
                                   int fill, patch_pack *out);

// patches_rest.c
/// What the rest topology needs (body_place, body_rest_vertex), when all else is filled.
cutis_result cutis_patch_pack_rest(const patch_body *body, const patch_pieces *parts,
                                   const patch_pack *pack);

#endif
