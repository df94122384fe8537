/// What a person says of limbs: strokes on them, each named after what the limb is.
#ifndef CUTIS_SKELETON_HINTS_H
#define CUTIS_SKELETON_HINTS_H

#include <cutis/handles.h>

#include "skeleton/kinds.h"

typedef struct cutis_hints {
    const cutis_handle *strokes; ///< points and bars, in the world
    uint32_t stroke_count;
    uint32_t part_count; ///< of bodies of no kind: the most; 0: all that stand out
} cutis_hints;

/// What was said of every limb. CUTIS_NOT_FOUND: a stroke names nothing that is known, or lies on
/// no limb; CUTIS_INVALID_ARGUMENT: two that differ lie on one.
/// @param told CUTIS_LIMB_MOST of them: a role; CUTIS_ROLE_NONE: no limb, but the body;
///             CUTIS_ROLE_UNTOLD
cutis_result cutis_hints_find(cutis_context *context, const cutis_hints *hints,
                              const cutis_centrelines *lines, const cutis_limbs *limbs,
                              double diagonal, cutis_role *told);

#endif
