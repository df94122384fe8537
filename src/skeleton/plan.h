/// The plan of a body: its kind, its parts as people name them, its joints.
#ifndef CUTIS_SKELETON_PLAN_H
#define CUTIS_SKELETON_PLAN_H

#include "skeleton/hints.h"

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

/// @param kind CUTIS_KIND_COUNT: whichever fits best; @param hints NULL: nobody says anything
cutis_result cutis_plan_make(cutis_arena *arena, const cutis_centrelines *lines, cutis_kind kind,
                             const cutis_hints *hints, cutis_plan *out);

/// Lines through the middle of a body and its plan; where it looks like nothing usual, with limbs
/// that touch taken apart, if it is something then.
/// @param lines, out in `arena`
cutis_result cutis_plan_body(cutis_arena *arena, const cutis_closed *mesh, cutis_kind kind,
                             const cutis_hints *hints, cutis_centrelines *lines, cutis_plan *out);

/// Borders of parts put where they are short, and every part one piece.
cutis_result cutis_plan_tidy(const cutis_closed *mesh, uint32_t *labels, uint32_t part_count);

/// Parts of a mesh's faces; every part is one piece.
cutis_result cutis_plan_label(const cutis_plan *plan, const cutis_centrelines *lines,
                              const cutis_closed *mesh, uint32_t *labels);

/// The part called so; CUTIS_NOTHING: there is none. @param side as below
uint32_t cutis_plan_part(const cutis_plan *plan, const char *name, const char *side);

/// The joint called so; CUTIS_NONE: there is none. @param side "_l", "_r" or ""
int32_t cutis_plan_find(const cutis_plan *plan, const char *name, const char *side);

/// Parts for what bends within one: the waist, the neck.
cutis_result cutis_plan_bends(const cutis_closed *mesh, uint32_t *labels, cutis_plan *plan);

/// Joints of fingers, where both hands of a person show all five.
/// @param labels per face, of cutis_plan_label; @param parts fingers are parts, too
cutis_result cutis_plan_fingers(const cutis_closed *mesh, uint32_t *labels, bool parts,
                                cutis_plan *plan);

#endif
