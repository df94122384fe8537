/// Retargeting: motion of one rig on another, whatever their names, sizes and rest poses.
///
/// Method: docs/spec/retarget.md. Limits: docs/design/retarget.md. Needs cutis-skeleton.
/// Threads: several may retarget at once, the same models too.
#ifndef CUTIS_RETARGET_H
#define CUTIS_RETARGET_H

#include <cutis/model.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Which pose of the motion's rig stands for the target's rest pose.
typedef enum cutis_retarget_rest {
    CUTIS_RETARGET_REST_AUTO = 0, ///< the first frame if it is a T-pose, else all channels 0
    CUTIS_RETARGET_TPOSE = 1,     ///< the first frame, which is then no part of the motion
    CUTIS_RETARGET_ZERO = 2,      ///< all channels 0: the rest pose of the file's nodes
} cutis_retarget_rest;

typedef enum cutis_retarget_feet {
    CUTIS_RETARGET_FEET_LOCKED = 0, ///< a foot that stands in the motion stands on the target
    CUTIS_RETARGET_FEET_FREE = 1,
} cutis_retarget_feet;

/// Which of the target's axes is up.
typedef enum cutis_retarget_up {
    CUTIS_RETARGET_UP_AUTO = 0, ///< found from trunk, legs, feet and head
    CUTIS_RETARGET_UP_X = 1,
    CUTIS_RETARGET_UP_Y = 2,
    CUTIS_RETARGET_UP_Z = 3,
} cutis_retarget_up;

/// What joints of a rig were recognised by.
typedef enum cutis_retarget_found {
    CUTIS_RETARGET_BY_NOTHING = 0,
    CUTIS_RETARGET_BY_NAMES = 1,
    CUTIS_RETARGET_BY_TOPOLOGY = 2,
    CUTIS_RETARGET_BY_FILE = 3,       ///< the map that was given
    CUTIS_RETARGET_BY_SAME_NAMES = 4, ///< both rigs call their joints alike
} cutis_retarget_found;

/// For every node of the target the node of the motion's rig that moves it, or CUTIS_NONE.
/// Found by names (sides and synonyms), else by the shape of the tree: legs are the two lowest
/// branches, arms the two that reach farthest to the sides, the head is the highest. Bodies on four
/// legs always by their shape: fore legs, below the head, go with arms.
/// @param motion a model with the motion's rig; its meshes, if any, do not matter
/// @param map    node_count entries of the target, caller memory
/// @param target_by, motion_by how each rig was understood, or NULL
/// @return CUTIS_OK, CUTIS_NOT_FOUND (nothing in common), CUTIS_OUT_OF_MEMORY
CUTIS_API cutis_result cutis_retarget_map(const cutis_model *target, const cutis_model *motion,
                                          int32_t *map, cutis_retarget_found *target_by,
                                          cutis_retarget_found *motion_by);

/// The zero value: automatic map, first clip, automatic rest, locked feet, the motion's own rate.
typedef struct cutis_retarget_options {
    const int32_t *map; ///< as cutis_retarget_map gives it, or NULL: automatic
    uint32_t clip;      ///< of the motion
    cutis_retarget_rest rest;
    cutis_retarget_feet feet;
    double fps;       ///< keys per second of the result; 0: those of the motion
    const char *name; ///< of the new clip; NULL: the motion clip's
    cutis_retarget_up up;
    bool across; ///< motions of two legs on bodies with four, and the other way round, too
} cutis_retarget_options;

/// What was done, and how near the result is to the motion. Lengths in the target's units; NAN
/// where a rig lacks the joints.
typedef struct cutis_retarget_report {
    uint32_t joint_count;  ///< joints of the target
    uint32_t mapped_count; ///< of them, moved by the motion
    uint32_t frame_count;
    double fps;
    cutis_retarget_rest rest; ///< TPOSE or ZERO
    cutis_retarget_found target_by, motion_by;
    double scale;  ///< motion units to the target's
    double height; ///< of the target when it stands, whatever its rest pose
    double ground; ///< how far the motion was lifted so that feet stand on the rest ground
    double up[3];  ///< of the target
    uint32_t stance_count[2]; ///< times a foot stands: left, right
    double stance_seconds[2];
    double ankle_mean, ankle_max; ///< from the scaled source path, % of the height
    /// How far the skin that touches the ground slides along it in one whole contact, % of the
    /// height, the largest of all contacts; free: as bones bring it, without the lock; source: the
    /// motion's own foot, scaled.
    double slide, slide_free, slide_source;
    double hand_mean, hand_max; ///< shoulder-to-hand direction against the motion's, degrees
} cutis_retarget_report;

/// The target with the motion as one more clip, its last. Driven nodes (cutis_drivers) have tracks
/// in it as their drivers say, for players without them.
/// @param report what was done, or NULL
/// @return CUTIS_OK, CUTIS_INVALID_ARGUMENT, CUTIS_NOT_FOUND (nothing to map, no such clip; two
///         legs and four without `across`), CUTIS_CANCELLED, CUTIS_LIMIT_EXCEEDED,
///         CUTIS_OUT_OF_MEMORY
CUTIS_API cutis_result cutis_retarget(const cutis_model *target, const cutis_model *motion,
                                      const cutis_retarget_options *options, cutis_model **out,
                                      cutis_retarget_report *report);

#ifdef __cplusplus
}
#endif
#endif
