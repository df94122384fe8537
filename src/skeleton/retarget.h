/// What the files of retargeting share: a rig with roles, and the frame that is being made.
///
/// A rig is a model's nodes with world places and rotations at rest, in double. A role says what a
/// joint is in a body; joints of one role and side on one path are numbered from the body outwards
/// (`order`).
#ifndef CUTIS_SKELETON_RETARGET_H
#define CUTIS_SKELETON_RETARGET_H

#include <cutis/clip.h>
#include <cutis/retarget.h>

#include "base/memory.h"
#include "geometry/vector.h"

typedef enum retarget_role {
    ROLE_NONE,
    ROLE_HIPS,
    ROLE_SPINE,
    ROLE_NECK,
    ROLE_HEAD,
    ROLE_CLAVICLE,
    ROLE_UPPERARM,
    ROLE_FOREARM,
    ROLE_HAND,
    ROLE_THUMB,
    ROLE_INDEX,
    ROLE_MIDDLE,
    ROLE_RING,
    ROLE_PINKY,
    ROLE_HIPJOINT, ///< between hips and thigh (MakeHuman's pelvis.L, CMU's LHipJoint)
    ROLE_THIGH,
    ROLE_SHIN,
    ROLE_FOOT,
    ROLE_TOES,
    ROLE_COUNT
} retarget_role;

enum { SIDE_NONE, SIDE_LEFT, SIDE_RIGHT, SIDE_COUNT };

typedef struct retarget_rig {
    const cutis_model_data *data;
    uint32_t count;   ///< nodes
    double *place;    ///< 3 per node, world, at rest
    double *rotation; ///< 9 per node, world, at rest
    bool *joint;      ///< moves something: joints of the main skin; without skins every node that
                      ///< has children or is no end
    uint8_t *role;    ///< retarget_role per node
    uint8_t *side;    ///< SIDE_ per node
    uint8_t *order;   ///< per node, among its role and side
    double *centre;   ///< 3 per node: mean of the skin it moves most, NAN without; NULL for motions
    double *world;    ///< 12 per node, at rest
    box3 bounds;      ///< of the skin at rest, or of the nodes
    double up[3];     ///< one of the world's axes
    bool four_legged; ///< thighs and shins are the hind legs, arms the fore legs
    cutis_retarget_found found;
} retarget_rig;

/// Nodes at bind pose: joints by their inverse binds, other nodes as they stand under those.
cutis_result cutis_retarget_rig_bind(cutis_arena *arena, const cutis_model *model,
                                     retarget_rig *out);
/// Nodes at the given pose.
cutis_result cutis_retarget_rig_pose(cutis_arena *arena, const cutis_model *model,
                                     const cutis_transform *pose, retarget_rig *out);
/// World places and rotations of a pose; scales move places and are taken out of rotations.
/// @param matrices 12 per node, scratch; @param rotation may be NULL
void cutis_retarget_world(const cutis_model_data *data, const cutis_transform *pose,
                          double *matrices, double *place, double *rotation);

/// Extent along up.
double cutis_retarget_height(const retarget_rig *rig);

/// Roles by names. @return true if there are whole legs or whole arms on both sides
bool cutis_retarget_roles_by_name(retarget_rig *rig);
/// Roles by the shape of the tree; roles of before are forgotten. @return the same
cutis_result cutis_retarget_roles_by_topology(cutis_arena *arena, retarget_rig *rig, bool *whole);
/// Roles of a body on four legs, by the shape of the tree; without one nothing changes.
cutis_result cutis_retarget_roles_of_four(cutis_arena *arena, retarget_rig *rig, bool *four);
/// One of them; sets `found`.
cutis_result cutis_retarget_roles(cutis_arena *arena, retarget_rig *rig);
/// Number joints of one role and side along their paths.
void cutis_retarget_number(retarget_rig *rig);
/// The first joint of a role and side (lowest order, lowest index), or CUTIS_NONE.
int32_t cutis_retarget_joint(const retarget_rig *rig, retarget_role role, int side);
/// Are there thigh and shin, or upper arm and forearm, on both sides?
bool cutis_retarget_whole(const retarget_rig *rig);
int32_t cutis_retarget_ancestor(const retarget_rig *rig, int32_t a, int32_t b); ///< common, or NONE
bool cutis_retarget_is_end(const cutis_node *node); ///< called NAME_end, as readers of BVH do

typedef struct retarget_limb {
    int32_t target[3], motion[3]; ///< thigh, shin, foot; upper arm, forearm, hand; or CUTIS_NONE
} retarget_limb;

/// One retargeting: both rigs, the map, the alignment. Rotations are row-major 3x3.
typedef struct retarget_job {
    cutis_context *context;
    cutis_arena *arena;
    retarget_rig target, motion;
    const int32_t *map;
    double turn[9];       ///< motion world to target world (their ups agree)
    double *align;        ///< K, 9 per target node
    double scale;         ///< motion to target lengths
    int32_t root;         ///< the node that travels: common ancestor of all mapped
    int32_t root_motion;  ///< what it follows when there are no legs
    retarget_limb leg[2]; ///< left, right
    retarget_limb arm[2];
    bool legs, feet; ///< both thighs; both legs whole, to the feet
    /// Feet whose parent is not their shin (goals of a rig's own inverse kinematics), which
    /// carry them nevertheless; or CUTIS_NONE.
    int32_t loose[2];
} retarget_job;

/// Fill in everything after `map`. Rigs have their roles.
cutis_result cutis_retarget_align(retarget_job *job);

/// One frame of both rigs. Turned: in the target's world axes.
typedef struct retarget_frame {
    double *matrices;         ///< scratch
    double *place, *rotation; ///< of the motion's nodes, turned, not scaled
    double *turned;           ///< D: 9 per target node, from its rest rotation
    double *placed;           ///< 3 per target node
} retarget_frame;

cutis_result cutis_retarget_frame_alloc(const retarget_job *job, retarget_frame *out);
/// Motion pose to target pose, the root where the hips ask for it; `lift` goes along up.
void cutis_retarget_frame_make(const retarget_job *job, const cutis_transform *pose, double lift,
                               retarget_frame *frame);
/// The lowest of the target's foot nodes, along up; NAN without feet.
double cutis_retarget_lowest(const retarget_job *job, const double *places);

/// Is a node `top` or below it? Parents come before children.
static inline bool cutis_retarget_is_under(const retarget_rig *rig, int32_t node, int32_t top)
{
    while (node > top) node = rig->data->nodes[node].parent;
    return node == top;
}

/// The place of a node, and from one to another; 3 numbers a place.
static inline vec3 cutis_retarget_at(const double *places, int32_t node)
{
    return v3_of(places + 3 * (size_t)node);
}
static inline vec3 cutis_retarget_between(const double *places, int32_t from, int32_t to)
{
    return v3_sub(cutis_retarget_at(places, to), cutis_retarget_at(places, from));
}

/// Where a foot stands: [first, last], both frames included.
typedef struct retarget_stance {
    uint32_t first, last;
} retarget_stance;

/// Stances of one ankle: slower than a bound for long enough.
/// @param path 3 per frame; @param leg its leg's length; @param stances frame_count / 2 + 1
uint32_t cutis_retarget_stances(const double *path, uint32_t frame_count, double seconds_per_frame,
                                double leg, retarget_stance *stances);
/// How far each frame's ankle must move so that it stands still in its stances.
void cutis_retarget_hold(const double *path, uint32_t frame_count, double seconds_per_frame,
                         const retarget_stance *stances, uint32_t stance_count, double *offsets);
/// Move an ankle by `offset`: two-bone IK, the knee in its plane, the foot turned as before.
void cutis_retarget_reach(const retarget_job *job, int side, const double *offset,
                          retarget_frame *frame);

#endif
