// Parts that a rig does not need, but a body of rigid parts does: people and beasts bend at the
// waist, people at the neck. Invariant: parts that are not named here keep their faces.
#include <stdio.h>

#include "skeleton/plan.h"

// What lies beyond a joint, on the way from another to a third, becomes a part of its own.
typedef struct {
    cutis_kind kind;
    const char *part, *stays, *beyond; // names: of what is cut, of both pieces
    const char *from, *at, *to;        // joints
} bend;

static const bend BENDS[] = {
    { CUTIS_KIND_HUMAN, "torso", "hips", "chest", "hips", "spine", "chest" },
    { CUTIS_KIND_HUMAN, "head", "neck", "head", "neck", "head", "head" },
    { CUTIS_KIND_QUADRUPED, "torso", "hips", "chest", "hips", "spine", "chest" },
};

static const double ROUND_ARM = 0.35; // of an upper arm's length: its skin is so near to its bone

// People call an arm what is below the shoulder; it turns in the shoulder's joint, and what lies
// beyond that round the bone turns with it.
static void reach_shoulder(const cutis_closed *mesh, uint32_t *labels, const cutis_plan *plan,
                           const char *side)
{
    const uint32_t chest = cutis_plan_part(plan, "chest", ""),
                   arm = cutis_plan_part(plan, "upperarm", side);
    const int32_t shoulder = cutis_plan_find(plan, "upperarm", side),
                  elbow = cutis_plan_find(plan, "forearm", side);
    if (chest == CUTIS_NOTHING || arm == CUTIS_NOTHING || shoulder == CUTIS_NONE ||
        elbow == CUTIS_NONE)
        return;
    const vec3 at = plan->joints[shoulder].point;
    const vec3 bone = v3_sub(plan->joints[elbow].point, at), way = v3_unit(bone);
    for (uint32_t f = 0; f < mesh->face_count; f++) {
        const vec3 d = v3_sub(cutis_face_middle(mesh, f), at);
        const double along = v3_dot(d, way);
        if (labels[f] == chest && along > 0 &&
            v3_length(v3_mad(d, -along, way)) < ROUND_ARM * v3_length(bone))
            labels[f] = arm;
    }
}

cutis_result cutis_plan_bends(const cutis_closed *mesh, uint32_t *labels, cutis_plan *plan)
{
    for (size_t i = 0; i < sizeof BENDS / sizeof *BENDS; i++) {
        const bend *b = &BENDS[i];
        const uint32_t part = cutis_plan_part(plan, b->part, "");
        const int32_t from = cutis_plan_find(plan, b->from, ""),
                      at = cutis_plan_find(plan, b->at, ""), to = cutis_plan_find(plan, b->to, "");
        if (plan->kind != b->kind || part == CUTIS_NOTHING || from == CUTIS_NONE ||
            at == CUTIS_NONE || to == CUTIS_NONE || plan->part_count == CUTIS_PLAN_PARTS)
            continue;
        const vec3 place = plan->joints[at].point;
        const vec3 way = v3_sub(plan->joints[to].point, plan->joints[from].point);
        for (uint32_t f = 0; f < mesh->face_count; f++)
            if (labels[f] == part && v3_dot(v3_sub(cutis_face_middle(mesh, f), place), way) > 0)
                labels[f] = plan->part_count;
        snprintf(plan->parts[part], CUTIS_PLAN_NAME, "%s", b->stays);
        snprintf(plan->parts[plan->part_count++], CUTIS_PLAN_NAME, "%s", b->beyond);
    }
    reach_shoulder(mesh, labels, plan, "_l");
    reach_shoulder(mesh, labels, plan, "_r");
    return cutis_plan_tidy(mesh, labels, plan->part_count);
}
