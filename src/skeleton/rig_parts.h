/// Parts of a body that is rigged: whose borders are loops, and on a mesh that is closed.
#ifndef CUTIS_SKELETON_RIG_PARTS_H
#define CUTIS_SKELETON_RIG_PARTS_H

#include "skeleton/plan.h"

/// Parts of the body's own triangles, from the closed mesh's face in the same place. Borders are
/// loops that do not touch, as patches need them, where that costs no part.
/// @param parts one per triangle of the body
cutis_result cutis_rig_parts(cutis_plan *plan, const cutis_centrelines *lines, cutis_closed *mesh,
                             const cutis_gathered *body, uint32_t *parts);

/// Labels of the body's triangles: those of the mesh's nearest faces.
cutis_result cutis_rig_nearest(const cutis_closed *mesh, const uint32_t *labels,
                               const cutis_gathered *body, cutis_arena *scratch, uint32_t *parts);

/// The body as one closed mesh in world space, without parts and joints; what it looks like comes
/// along.
/// @param parts one per triangle; @param notes what was done to it
cutis_result cutis_rig_close(const cutis_model *model, const uint32_t *parts, uint32_t count,
                             cutis_notes *notes, cutis_model **out);

/// A model of one skinned, closed mesh again, with a part for every joint that holds triangles.
cutis_result cutis_rig_joint_parts(const cutis_model *model, cutis_model **out);

#endif
