/// Twist joints of a plan: what turns half of what a limb's bone is twisted by, and its share of
/// the skin.
#ifndef CUTIS_SKELETON_RIG_TWIST_H
#define CUTIS_SKELETON_RIG_TWIST_H

#include <cutis/model.h>

#include "base/memory.h"
#include "skeleton/plan.h"

/// Append a twist joint halfway along every upper arm, forearm and thigh that goes on to a next
/// joint.
/// @return how many
uint32_t cutis_twist_add(cutis_plan *plan);

/// Give the plan's last `count` joints, which cutis_twist_add made, their weights.
/// @param positions 3 per vertex, world, at rest; @param most weights kept per vertex
/// @param influences of the vertices; replaced
cutis_result cutis_twist_spread(cutis_arena *arena, const cutis_plan *plan, uint32_t count,
                                const float *positions, uint32_t vertex_count, uint32_t most,
                                cutis_influences *influences);

#endif
