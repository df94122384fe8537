// Joints by the names of VRM 1.0's humanoid bones and of Mixamo's rigs, so that clips made for
// either find them. Invariant: no bone of either twice; a name is told only of a joint that is
// there.
#include "skeleton/humanoid.h"

#include <stdio.h>
#include <string.h>

// Sided: "left" and "right" stand before VRM's, "Left" and "Right" before Mixamo's.
typedef struct humanoid_row {
    const char *joint, *vrm, *mixamo;
    bool sided;
} humanoid_row;

static const humanoid_row HUMAN[] = {
    { "hips", "hips", "Hips", false },
    { "spine", "spine", "Spine", false },
    { "chest", "chest", "Spine1", false },
    { "neck", "neck", "Neck", false },
    { "head", "head", "Head", false },
    { "clavicle", "Shoulder", "Shoulder", true },
    { "upperarm", "UpperArm", "Arm", true },
    { "forearm", "LowerArm", "ForeArm", true },
    { "hand", "Hand", "Hand", true },
    { "thigh", "UpperLeg", "UpLeg", true },
    { "shin", "LowerLeg", "Leg", true },
    { "foot", "Foot", "Foot", true },
    { "toes", "Toes", "ToeBase", true },
    { "thumb1", "ThumbMetacarpal", "HandThumb1", true },
    { "thumb2", "ThumbProximal", "HandThumb2", true },
    { "thumb3", "ThumbDistal", "HandThumb3", true },
    { "index1", "IndexProximal", "HandIndex1", true },
    { "index2", "IndexIntermediate", "HandIndex2", true },
    { "index3", "IndexDistal", "HandIndex3", true },
    { "middle1", "MiddleProximal", "HandMiddle1", true },
    { "middle2", "MiddleIntermediate", "HandMiddle2", true },
    { "middle3", "MiddleDistal", "HandMiddle3", true },
    { "ring1", "RingProximal", "HandRing1", true },
    { "ring2", "RingIntermediate", "HandRing2", true },
    { "ring3", "RingDistal", "HandRing3", true },
    { "pinky1", "LittleProximal", "HandPinky1", true },
    { "pinky2", "LittleIntermediate", "HandPinky2", true },
    { "pinky3", "LittleDistal", "HandPinky3", true },
};

// One bone of the trunk, which VRM wants to be the spine; no hands, no knees.
static const humanoid_row BEAR[] = {
    { "hips", "hips", "Hips", false },          { "chest", "spine", "Spine", false },
    { "head", "head", "Head", false },          { "upperarm", "UpperArm", "Arm", true },
    { "forearm", "LowerArm", "ForeArm", true }, { "thigh", "UpperLeg", "UpLeg", true },
    { "foot", "Foot", "Foot", true },
};

#define COUNT(rows) (sizeof(rows) / sizeof *(rows))

// The row of a joint; `right`: which side. NULL: it has none.
static const humanoid_row *find_row(cutis_kind kind, const char *joint, bool *right)
{
    const humanoid_row *rows = kind == CUTIS_KIND_BEAR ? BEAR : HUMAN;
    size_t count = kind == CUTIS_KIND_BEAR ? COUNT(BEAR) : COUNT(HUMAN);
    for (size_t i = 0; i < count; i++) {
        size_t size = strlen(rows[i].joint);
        if (strncmp(joint, rows[i].joint, size) != 0) continue;
        *right = strcmp(joint + size, "_r") == 0;
        if (rows[i].sided ? *right || strcmp(joint + size, "_l") == 0 : !joint[size])
            return &rows[i];
    }
    return NULL;
}

bool cutis_humanoid_map(cutis_arena *arena, const cutis_plan *plan, const cutis_rig_bone **out,
                        uint32_t *count)
{
    *out = NULL, *count = 0;
    if (plan->kind != CUTIS_KIND_HUMAN && plan->kind != CUTIS_KIND_BEAR) return true;
    cutis_rig_bone *bones = cutis_arena_alloc(arena, plan->joint_count, sizeof *bones);
    if (!bones) return false;
    for (uint32_t j = 0; j < plan->joint_count; j++) {
        bool right = false;
        const humanoid_row *row = find_row(plan->kind, plan->joints[j].name, &right);
        if (!row) continue;
        cutis_rig_bone *bone = &bones[*count];
        bone->joint = cutis_arena_string(arena, plan->joints[j].name);
        bone->vrm = cutis_arena_format(arena, "%s%s",
                                       !row->sided ? ""
                                       : right     ? "right"
                                                   : "left",
                                       row->vrm);
        bone->mixamo = cutis_arena_format(arena, "mixamorig:%s%s",
                                          !row->sided ? ""
                                          : right     ? "Right"
                                                      : "Left",
                                          row->mixamo);
        if (!bone->joint || !bone->vrm || !bone->mixamo) return false;
        ++*count;
    }
    *out = bones;
    return true;
}

// Names are ours: letters, digits and signs that JSON takes as they are.
char *cutis_humanoid_extras(cutis_arena *arena, cutis_kind kind, const cutis_rig_bone *bones,
                            uint32_t count)
{
    const size_t room = 128 + (size_t)count * 160;
    char *text = cutis_arena_alloc(arena, room, 1);
    if (!text) return NULL;
    size_t at = (size_t)snprintf(text, room, "{" CUTIS_KIND_KEY "%s\"", cutis_kind_name(kind));
    if (count > 0) at += (size_t)snprintf(text + at, room - at, ",\"humanoid\":{\"vrm\":{");
    for (uint32_t i = 0; i < count; i++)
        at += (size_t)snprintf(text + at, room - at, "%s\"%s\":\"%s\"", i ? "," : "", bones[i].vrm,
                               bones[i].joint);
    if (count > 0) at += (size_t)snprintf(text + at, room - at, "},\"mixamo\":{");
    for (uint32_t i = 0; i < count; i++)
        at += (size_t)snprintf(text + at, room - at, "%s\"%s\":\"%s\"", i ? "," : "",
                               bones[i].mixamo, bones[i].joint);
    if (count > 0) at += (size_t)snprintf(text + at, room - at, "}}");
    snprintf(text + at, room - at, "}}");
    return text;
}
