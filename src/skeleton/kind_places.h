/// How limbs of a kind lie to each other: pairs across one plane, legs that go the same way, a head
/// beyond the arms. What a body's proportions do not change.
#ifndef CUTIS_SKELETON_KIND_PLACES_H
#define CUTIS_SKELETON_KIND_PLACES_H

#include "skeleton/kinds.h"

/// What limbs cost that do not lie as the kind's do: 0 they do; a few for every rule that is
/// broken.
double cutis_kind_places(cutis_kind kind, const cutis_limb *limbs, const cutis_role *roles,
                         uint32_t count, double diagonal);

/// What two limbs cost that should be a pair, for the difference of their lengths and thicknesses.
double cutis_limbs_unlike(const cutis_limb *a, const cutis_limb *b);

#endif
