/// What other tools call the joints of a body that goes on two legs.
#ifndef CUTIS_SKELETON_HUMANOID_H
#define CUTIS_SKELETON_HUMANOID_H

#include <cutis/rig.h>

#include "skeleton/plan.h"

/// Joints of the plan that VRM and Mixamo have a bone for, in the plan's order; texts in `arena`.
/// None where the kind has no such bones. false: out of memory.
bool cutis_humanoid_map(cutis_arena *arena, const cutis_plan *plan, const cutis_rig_bone **out,
                        uint32_t *count);

/// What those extras say the kind after.
#define CUTIS_KIND_KEY "\"cutis\":{\"kind\":\""

/// The "extras" of the node above the joints: the kind, and the map (docs/spec/rig.md). NULL: out
/// of memory.
char *cutis_humanoid_extras(cutis_arena *arena, cutis_kind kind, const cutis_rig_bone *bones,
                            uint32_t count);

#endif
