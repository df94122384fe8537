/// What the files of retargeting share: a rig with roles, and the frame that is being made.
///
/// A rig is a model's nodes with world places and rotations at rest, in double. A role says what a
/// joint is in a body; joints of one role and side on one path are numbered from the body outwards
/// (`order`).
#ifndef CUTIS_SKELETON_RETARGET_H
#define CUTIS_SKELETON_RETARGET_H

#include <cutis/clip.h>
#include <cutis/retarget.h>

#include <string.h>

#include "base/memory.h"
#include "geometry/vector.h"
#include "math/mat3.h"

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
    const cutis_model *model;
    const cutis_model_data *data;
    uint32_t count;   ///< nodes
    double *place;    ///< 3 per node, world, at rest
    double *rotation; ///< 9 per node, world, at rest
    bool *joint;      ///< moves something: joints of the main skin; without skins every node that
                      ///< has children or is no end
    bool *driven;     ///< follows by drivers, so it is no joint here
    uint8_t *role;    ///< retarget_role per node
    uint8_t *side;    ///< SIDE_ per node
    uint8_t *order;   ///< per node, among its role and side
    double *centre;   ///< 3 per node: mean of the skin it moves most, NAN without; NULL for motions
    bool *moves_skin; ///< per node: has weights of the main skin; NULL for motions
    double *world;    ///< 12 per node, at rest
    int32_t skin;     ///< the main one, or CUTIS_NONE
    double frame[12]; ///< from the skin's own space to the world, at rest
    box3 bounds;      ///< of the skin at rest, or of the nodes
    double up[3];     ///< one of the world's axes
    bool up_told;     ///< by the caller: it is not looked for
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
/// What is up, if the caller says so.
void cutis_retarget_tell_up(retarget_rig *rig, cutis_retarget_up up);
/// cutis_retarget_map with the target's up told.
cutis_result cutis_retarget_map_up(const cutis_model *target, const cutis_model *motion,
                                   cutis_retarget_up up, int32_t *map,
                                   cutis_retarget_found *target_by,
                                   cutis_retarget_found *motion_by);
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

enum { RETARGET_SOLE_NODES = 8, RETARGET_FEET = 4 };

/// Points of a foot's skin, blended from the nodes that move them; without skin its nodes.
typedef struct retarget_sole {
    uint32_t count;
    bool skin;
    double *place;  ///< 3 per point, world, at rest
    int32_t *node;  ///< RETARGET_SOLE_NODES per point
    double *weight; ///< their weights, sum 1
} retarget_sole;

/// A joint that takes half of the twist of the bone it hangs from: forearms against the hand, upper
/// arms and thighs (`near`) against what carries them.
typedef struct retarget_twist {
    int32_t node, bone, other;
    bool near;
    vec3 axis; ///< of the bone, world, at rest
} retarget_twist;

/// One retargeting: both rigs, the map, the alignment. Rotations are row-major 3x3.
typedef struct retarget_job {
    cutis_context *context;
    cutis_arena *arena;
    retarget_rig target, motion;
    const int32_t *map;
    double turn[9];      ///< motion world to target world (their ups agree)
    double *align;       ///< K, 9 per target node
    double scale;        ///< motion to target lengths
    int32_t root;        ///< the node that travels: common ancestor of all mapped
    int32_t root_motion; ///< what it follows when there are no legs
    union {
        struct {
            retarget_limb leg[2]; ///< left, right
            retarget_limb arm[2];
        };
        retarget_limb limb[RETARGET_FEET]; ///< what feet end, in their order
    };
    bool legs, feet;     ///< both thighs; both legs whole, to the feet
    uint32_t foot_count; ///< that stand: both feet; of bodies on four legs their paws, too
    bool on_four;        ///< both bodies have four legs, and the motion's stands on them at rest
    double back[9];      ///< then, K of the target's trunk
    /// Per target node what carries it in place of its parent, or CUTIS_NONE: shins their feet that
    /// hang elsewhere (goals of a rig's own inverse kinematics); the joint next to it a joint that
    /// moves skin and follows nothing; the hips whatever is above them and moves skin.
    int32_t *carrier;
    retarget_sole sole[RETARGET_FEET]; ///< of the target
    vec3 sole_front[RETARGET_FEET],    ///< of the target's feet at rest: along the sole,
        sole_up[RETARGET_FEET];        ///< away from it
    double stature;                    ///< standing height of the target
    retarget_twist *twists;
    uint32_t twist_count;
} retarget_job;

/// Fill in everything after `map`. Rigs have their roles.
cutis_result cutis_retarget_align(retarget_job *job);

/// The least rotation that takes direction a to b; opposite ones: half a turn about anything
/// across.
void cutis_retarget_least(vec3 from, vec3 to, double *out);
/// Places and rotations of the motion's nodes to the target's world axes.
void cutis_retarget_turn(const retarget_job *job, double *place, double *rotation);
/// Where a foot points, seen from above; without toes, where its skin lies. @return false: nowhere
bool cutis_retarget_heading(const retarget_rig *rig, int32_t foot, vec3 *out);

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
/// Find the target's twist joints; limbs and carriers are known.
cutis_result cutis_retarget_twists(retarget_job *job);
/// Turn them in a frame whose other joints are turned.
void cutis_retarget_twist(const retarget_job *job, retarget_frame *frame);
/// The ground the target stands on: the lowest of its skin or feet at rest, along up; NAN without
/// feet.
double cutis_retarget_ground(const retarget_job *job);

/// The points of one of the target's feet at rest. Carriers are known.
cutis_result cutis_retarget_sole(const retarget_job *job, int32_t foot, retarget_sole *out);
/// Points in a frame, seen from a place. @param out 3 per point
void cutis_retarget_skin_at(const retarget_job *job, const retarget_sole *sole, vec3 from,
                            const retarget_frame *frame, double *out);
/// Those of a foot, seen from its ankle.
void cutis_retarget_sole_at(const retarget_job *job, int side, const retarget_frame *frame,
                            double *out);
/// Which way a foot points and its sole faces at rest: up and its heading where the sole is flat,
/// else by what its skin would rest on.
/// @param leg thigh, shin, foot; @param left the body's
cutis_result cutis_retarget_foot_frame(cutis_arena *arena, const retarget_rig *rig,
                                       const retarget_sole *sole, const int32_t *leg, vec3 left,
                                       vec3 *front, vec3 *normal);

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

static inline vec3 cutis_retarget_rotated(const double *r, vec3 v)
{
    return v3(v3_dot(v3_of(r), v), v3_dot(v3_of(r + 3), v), v3_dot(v3_of(r + 6), v));
}
/// rotation = by rotation
static inline void cutis_retarget_rotate(const double *by, double *rotation)
{
    double out[9];
    double33_multiply(by, rotation, out);
    memcpy(rotation, out, sizeof out);
}

/// Where a foot stands: [first, last], both frames included.
typedef struct retarget_stance {
    uint32_t first, last;
    double level; ///< of what it stands on, along up; NAN: where it comes
} retarget_stance;

enum { RETARGET_FOOT_POINTS = 3 };

/// What one foot does, per frame. Lengths are the target's.
typedef struct retarget_foot {
    double *points[RETARGET_FOOT_POINTS]; ///< of the motion's foot, scaled: ankle, ball, tip
    uint32_t point_count;
    double *path;   ///< where the ankle would be: the motion's, set aside for hips much wider
    double *free;   ///< the target's ankle as bones bring it
    double *thigh;  ///< and its hip joint
    double *low;    ///< the lowest of the sole, from the ankle, along up
    double *step;   ///< how far what touches the ground went since the frame before, seen from the
                    ///< ankle: along the ground by its mean, along up by `low`
    double *offset; ///< what standing adds to where the ankle goes
    bool *near;     ///< per point of the sole: it came near to the ground
    double
        higher;   ///< how much higher the ankle goes than the motion's: as it stands above its sole
    double other; ///< how much farther from its path it may go: by how the feet differ
    double *goal; ///< where the ankle shall be, then where it went
    retarget_stance *stances;
    uint32_t stance_count;
} retarget_foot;

/// Nodes of a motion's foot that may touch the ground: ankle, ball and tip.
/// @param out RETARGET_FOOT_POINTS
void cutis_retarget_foot_points(const retarget_rig *rig, int32_t foot, int32_t *out,
                                uint32_t *count);

/// Stances of one foot: one of its points is slow against its own swing, all of it is low, for long
/// enough (docs/spec/retarget.md E5).
/// @param points 3 per frame each; @param leg its leg's length; @param scratch 3 frame_count
/// @param stances frame_count / 2 + 1
uint32_t cutis_retarget_stances(double *const *points, uint32_t point_count, const double *up,
                                uint32_t frame_count, double seconds_per_frame, double leg,
                                double *scratch, retarget_stance *stances);
/// How far each frame's ankle must move so that its foot stands, or rolls without sliding, in its
/// stances.
/// @param step, low as in retarget_foot, or NULL: the ankle itself stands
void cutis_retarget_hold(const double *path, const double *step, const double *low,
                         const double *up, uint32_t frame_count, double seconds_per_frame,
                         const retarget_stance *stances, uint32_t stance_count, double *offsets);
/// How far what touches the ground slides along it in one stance, given the ankle's path.
double cutis_retarget_slide(const double *path, const double *step, const double *up,
                            const retarget_stance *stance);
/// `step` and `low` of one frame from the points of a sole in it and in the one before (NULL:
/// none).
void cutis_retarget_touch(const double *before, const double *now, uint32_t count, const double *up,
                          double touch, double *step, double *low);

/// Move an ankle to a place: two-bone IK, the knee in its plane, the foot turned as before.
void cutis_retarget_reach(const retarget_job *job, int side, const double *place,
                          retarget_frame *frame);

#endif
