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

/// @param box 1: the paper's removal; @param fill patch_fill_kind; @param band joints bend softly.
/// The body lies in its arena.
cutis_result cutis_patch_pack_make(const patch_body *body, const patch_pieces *parts, int box,
                                   int fill, bool band, patch_pack *out);

// patches_rest.c
/// What the rest topology needs (body_place, body_rest_vertex), when all else is filled.
cutis_result cutis_patch_pack_rest(const patch_body *body, const patch_pieces *parts,
                                   const patch_pack *pack);

// patches_band.c
/// The bands in which joints bend softly, when all else is filled; not `wanted`: none.
cutis_result cutis_patch_pack_bands(const patch_body *body, const patch_pieces *parts,
                                    const patch_pack *pack, bool wanted);

// patches_places.c: where the arrays of kernel/patches_fields.h lie in the two buffers of a body
/// A row of the tables, as numbers.
typedef struct patch_field {
    const char *name;
    uint32_t size;       ///< bytes of an element, all of its `width`
    uint32_t count;      ///< patch_count: what there are elements of
    uint32_t from, last; ///< patch_step: when it lives; of a body: always
    size_t place;        ///< its offset in patch_places
} patch_field;

/// @param work the fields of an instance's work; else those of the body
const patch_field *cutis_patch_fields(bool work, uint32_t *count);

/// Give every field a place: those that live at the same time do not overlap.
/// @param counts PATCH_COUNTS; @param units out: size of the buffer (work: of an instance)
/// @return false: more than the places can say
bool cutis_patch_places(bool work, const uint64_t *counts, patch_places *places, unsigned *units);

#endif
