/// Where the arrays of kernel/patches_fields.h lie in the two buffers of a body.
#ifndef CUTIS_DEFORM_PATCHES_PLACES_H
#define CUTIS_DEFORM_PATCHES_PLACES_H

#include "device/compute/patches.h"

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
