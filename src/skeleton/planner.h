/// What the makers of plans share: limbs by role, places along them, joints and parts.
#ifndef CUTIS_SKELETON_PLANNER_H
#define CUTIS_SKELETON_PLANNER_H

#include "skeleton/plan.h"

typedef struct cutis_planner {
    cutis_plan *plan;
    const cutis_centrelines *lines;
    const cutis_limbs *all;
    const cutis_limb *limbs; ///< of all
    cutis_role *roles;
    uint32_t count;
    double diagonal;
    const cutis_role *told; ///< per limb; CUTIS_ROLE_UNTOLD: nobody says
    uint32_t part_most;     ///< of a body of no kind; 0: any number
    uint32_t *side_parts;   ///< per node: of what branches off there; CUTIS_NOTHING: the node's own
    vec3 up, front, left;   ///< of the body
} cutis_planner;

/// @param list CUTIS_LIMB_MOST of them
uint32_t cutis_plan_limbs(const cutis_planner *p, cutis_role role, uint32_t *list);

/// A place along a limb, 0 its tip, 1 where it opens.
vec3 cutis_plan_limb_at(const cutis_planner *p, uint32_t limb, double share);

/// A point on the way from one limb to another through the body, by its share of that way.
/// @param from, to shares of the limbs where the way begins and ends
vec3 cutis_plan_between(const cutis_planner *p, uint32_t a, double from, uint32_t b, double to,
                        double t);

/// Names are put together from what is given.
int32_t cutis_plan_add_joint(cutis_planner *p, const char *base, const char *name, const char *side,
                             int32_t parent, vec3 point);
uint32_t cutis_plan_add_part(cutis_planner *p, const char *base, const char *name,
                             const char *side);

/// A limb and all that it carries beyond a place: nodes as far from the centre as that place.
void cutis_plan_mark(cutis_planner *p, const cutis_limb *limb, double along, uint32_t part);

/// By the rows of the kind, the one limb of a role, or its pair, left first.
int32_t cutis_plan_lay_single(cutis_planner *p, cutis_role role, const char *base, int32_t parent);
void cutis_plan_lay_pair(cutis_planner *p, cutis_role role, int variant, const char *base,
                         int32_t parent);

/// Kinds that take more than rows.
void cutis_plan_fish(cutis_planner *p);
void cutis_plan_any(cutis_planner *p);

/// Limbs that the kind has no role for, but anybody sees: horns, a tail. Bones by length.
void cutis_plan_extras(cutis_planner *p);

#endif
