/// The plan of a body: its kind, its parts as people name them, its joints.
#ifndef CUTIS_SKELETON_PLAN_H
#define CUTIS_SKELETON_PLAN_H

#include "skeleton/kinds.h"

enum { CUTIS_PLAN_JOINTS = 320, CUTIS_PLAN_PARTS = 72, CUTIS_PLAN_NAME = 24 };

typedef struct cutis_plan_joint {
    char name[CUTIS_PLAN_NAME]; ///< sided ones end in _l or _r
    int32_t parent;             ///< earlier in the list; the root: CUTIS_NONE
    vec3 point;
} cutis_plan_joint;

typedef struct cutis_plan {
    cutis_kind kind;
    double cost, second; ///< as of cutis_kind_match, and of the kind that fits next best
    cutis_plan_joint joints[CUTIS_PLAN_JOINTS];
    uint32_t joint_count;
    char parts[CUTIS_PLAN_PARTS][CUTIS_PLAN_NAME];
    uint32_t part_count;
    uint32_t *node_parts; ///< per node of the centrelines
    vec3 front;           ///< where the body looks, unit
    cutis_kind next;      ///< the kind that fits next best
    cutis_role lacks;     ///< as cutis_kind_lacks says
    uint32_t has, needs;
} cutis_plan;

/// @param kind CUTIS_KIND_COUNT: whichever fits best
cutis_result cutis_plan_make(cutis_arena *arena, const cutis_centrelines *lines, double diagonal,
                             cutis_kind kind, cutis_plan *out);

/// Parts of a mesh's faces; every part is one piece.
cutis_result cutis_plan_label(const cutis_plan *plan, const cutis_centrelines *lines,
                              const cutis_closed *mesh, uint32_t *labels);

/// The joint called so; CUTIS_NONE: there is none. @param side "_l", "_r" or ""
int32_t cutis_plan_find(const cutis_plan *plan, const char *name, const char *side);

/// Joints of fingers, where a hand of a person shows all five.
/// @param labels per face, of cutis_plan_label
cutis_result cutis_plan_fingers(const cutis_closed *mesh, const uint32_t *labels, cutis_plan *plan);

#endif
