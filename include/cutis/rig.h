/// Rigs for bodies that have none: kind, parts, joints and weights, found from the shape alone.
///
/// Method and limits: docs/design/rig.md. Needs cutis-skeleton. Threads: several may rig at once.
#ifndef CUTIS_RIG_H
#define CUTIS_RIG_H

#include <cutis/device.h>
#include <cutis/handles.h>
#include <cutis/model.h>
#include <cutis/retarget.h>

#ifdef __cplusplus
extern "C" {
#endif

/// What a body is. Its joints and parts are named after it (docs/spec/rig.md).
typedef enum cutis_rig_kind {
    CUTIS_RIG_AUTO = 0, ///< whichever its limbs fit best
    CUTIS_RIG_HUMAN = 1,
    CUTIS_RIG_QUADRUPED = 2,
    CUTIS_RIG_BIRD = 3,
    CUTIS_RIG_OCTOPUS = 4,
    CUTIS_RIG_INSECT = 5,
    CUTIS_RIG_BEAR = 6, ///< a plump toy
    CUTIS_RIG_HAND = 7,
    CUTIS_RIG_FISH = 8,
    CUTIS_RIG_ANY = 9, ///< nothing of these: every limb a chain of bones
} cutis_rig_kind;

CUTIS_API const char *cutis_rig_kind_name(cutis_rig_kind kind);

/// The zero value: any kind, four influences.
typedef struct cutis_rig_options {
    cutis_rig_kind kind;
    uint32_t influences; ///< weights kept per vertex; 0 = 4
    bool largest;        ///< keep the largest weights, in place of those that deform alike
    bool twist;   ///< joints halfway along upper arms, forearms and thighs that take half of what
                  ///< these are twisted by; cutis_retarget moves them
    bool patches; ///< for CUTIS_METHOD_PATCHES: the body becomes one closed mesh in world space
                  ///< (holes capped, borders that coincide welded) with a part for every joint
    uint32_t part_count; ///< of CUTIS_RIG_ANY: at most so many parts; 0: all that stand out
    /// What limbs are, where it is not seen: points and bars on them, in the world, whose names
    /// begin with head, arm, leg, tail, ear, antenna, wing, abdomen, finger, wrist, dorsal, anal,
    /// pectoral, caudal, or body (no limb): "leg_2".
    const cutis_handle *strokes;
    uint32_t stroke_count;
    /// Parts as they are told, as of cutis_skeleton_options: one label per triangle. Every part
    /// gets a joint where it meets its parent, and the kind is CUTIS_RIG_ANY; NULL: found.
    const uint32_t *labels;
    uint64_t label_count;
} cutis_rig_options;

/// How a motion looks on a rigged body, measured on its skin, on two legs or four; 0 where it has
/// none. Lengths in % of the height.
typedef struct cutis_rig_motion {
    double torn;       ///< % of the surface in triangles stretched more than 4 times
    double lean;       ///< degrees: feet to head against the motion's, median over the frames; on
                       ///< four legs 0
    double off_ground; ///< of the lowest of a foot where the motion's stands, the largest
    double sunk;       ///< of any foot into the ground, the largest
    double slide;      ///< of what touches the ground over a contact, the largest; NAN: in place
    uint32_t contact_count;
} cutis_rig_motion;

/// A joint, by the names that other tools have for such a bone. The report's memory.
typedef struct cutis_rig_bone {
    const char *joint;  ///< "upperarm_l"
    const char *vrm;    ///< of VRM 1.0's humanoid: "leftUpperArm"
    const char *mixamo; ///< "mixamorig:LeftArm"
} cutis_rig_bone;

/// What was found; owns its arrays.
typedef struct cutis_rig_report {
    cutis_rig_kind kind;
    double deviation; ///< of its limbs from the kind's: below 0.5 usual, beyond 1.5 it is none;
                      ///< NAN: parts were told
    cutis_rig_kind second; ///< the kind that fits next best; AUTO: the kind was given
    double second_deviation;
    uint32_t joint_count, part_count;
    uint32_t moved_inside; ///< joints that had to be moved into the body
    uint32_t problem_count;
    const char *const *problems; ///< what its own check found, one line each
    uint32_t note_count;
    const char *const *notes; ///< told parts, patches: what was done to the mesh, what stays behind
    double seconds;
    cutis_rig_motion motion; ///< of the last motion that was checked
    uint32_t humanoid_count; ///< of people and toy bears; else 0
    const cutis_rig_bone *humanoid;
} cutis_rig_report;

CUTIS_API void cutis_rig_report_destroy(cutis_rig_report *report); ///< NULL is fine

/// Rig a body. The new model is the old one with joints below a node "rig", whose extras say the
/// kind and the names of `humanoid`, skins and weights; its triangles are named by part.
/// @param device whose threads find the weights; NULL: the calling one
/// @param report what was found (destroy it), or NULL
/// @return CUTIS_OK (also when the report lists problems), CUTIS_INVALID_ARGUMENT (no triangles,
///         unknown kind, labels that do not match, two strokes on one limb), CUTIS_NOT_FOUND (a
///         stroke on no limb, or of no known name), CUTIS_UNSUPPORTED (a skin is there already, or
///         no closed surface comes of it), CUTIS_CANCELLED, CUTIS_LIMIT_EXCEEDED,
///         CUTIS_OUT_OF_MEMORY
CUTIS_API cutis_result cutis_rig(const cutis_model *model, cutis_device *device,
                                 const cutis_rig_options *options, cutis_model **out,
                                 cutis_rig_report **report);

/// Look at the last clip of a model that cutis_retarget put there: is the skin torn, does the body
/// stand as the motion does, do feet stand on the ground where the motion's do? What is wrong is
/// added to the report's problems, its figures are `report->motion`.
/// @param motion_clip of the motion; @param how what cutis_retarget reported
/// @return CUTIS_OK (also when there are problems), CUTIS_INVALID_ARGUMENT (no clip, or a report
///         that is not of it), CUTIS_NOT_FOUND (no such clip of the motion), CUTIS_CANCELLED,
///         CUTIS_OUT_OF_MEMORY
CUTIS_API cutis_result cutis_rig_check_motion(const cutis_model *moved, const cutis_model *motion,
                                              uint32_t motion_clip,
                                              const cutis_retarget_report *how,
                                              cutis_rig_report *report);

#ifdef __cplusplus
}
#endif
#endif
