/// Skeletons from parts: a body cut into parts gets a joint where two parts meet, one rigid bone
/// per part, oriented boxes, and joint boundaries that blending patches can close.
///
/// Method: docs/spec/skeleton.md. Limits: docs/design/skeleton.md. Needs cutis-skeleton.
/// Threads: several may extract at once, the same model too.
#ifndef CUTIS_SKELETON_H
#define CUTIS_SKELETON_H

#include <cutis/model.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Where the part of every triangle comes from.
typedef enum cutis_part_source {
    CUTIS_PART_SOURCE_AUTO = 0,      ///< found, as cutis_rig names them; waist, neck, fingers
    CUTIS_PART_SOURCE_LABELS = 1,    ///< `labels` of the options
    CUTIS_PART_SOURCE_PARTS = 2,     ///< the parts the model carries (CUTIS_parts, OBJ groups)
    CUTIS_PART_SOURCE_MATERIALS = 3, ///< one part per material
    CUTIS_PART_SOURCE_MESHES = 4,    ///< one part per mesh
    CUTIS_PART_SOURCE_SHELLS = 5,    ///< one part per connected piece
    CUTIS_PART_SOURCE_JOINTS = 6,    ///< the deepest joint whose subtree holds most weight
} cutis_part_source;

/// How the skeleton graph of a part is drawn (docs/spec/skeleton.md A7). The rig is the same.
typedef enum cutis_skeleton_method {
    CUTIS_SKELETON_AXIS = 0,     ///< along the principal axis, joints grouped
    CUTIS_SKELETON_CENTROID = 1, ///< every joint to the centroid
    CUTIS_SKELETON_BOUNDARY = 2, ///< joint to joint
} cutis_skeleton_method;

/// What is done to the principal axes.
typedef enum cutis_skeleton_refine {
    CUTIS_REFINE_LOCAL_HIERARCHY = 0, ///< towards the joints, then rolled towards the parent
    CUTIS_REFINE_LOCAL = 1,
    CUTIS_REFINE_HIERARCHY = 2,
    CUTIS_REFINE_PAPER = 3, ///< both refinements as Vasilakis and Fudos print them
    CUTIS_REFINE_NONE = 4,
} cutis_skeleton_refine;

/// The zero value: automatic parts, axis, both refinements, 15 degrees, bone frames.
typedef struct cutis_skeleton_options {
    cutis_part_source source;
    const uint32_t *labels; ///< LABELS: one per triangle of the instances, in output order
    uint64_t label_count;
    const char *root; ///< name of the root part; NULL: chosen
    cutis_skeleton_method method;
    cutis_skeleton_refine refine;
    double angle;          ///< largest turn of an axis, degrees, 5 .. 20; 0 = 15
    bool root_at_centroid; ///< the root joint stands at the part's centroid, not at its link point
    bool world_frames;     ///< joints without rotation (as BVH has them)
    bool keep_curved;      ///< curved leaves stay whole
    uint32_t heal_rounds;  ///< labels that do not heal in so many are refused; 0 = 20 and 4
                           ///< for every part, from the 20th on 8
    bool straighten;       ///< cut triangles so that joint loops lie in planes
    bool extra;            ///< nodes for link points and axis ends
    uint32_t part_count;   ///< AUTO: at most so many parts; 0 = chosen
} cutis_skeleton_options;

/// What is known of one part. Axes are rows, principal first.
typedef struct cutis_skeleton_part {
    const char *name;
    uint32_t vertex_count, face_count; ///< boundary vertices count in both parts
    bool star_shaped;
    double volume;         ///< closed by fans over its loops
    double axes_before[9]; ///< principal axes before refinement
    double box_before[2][3];
    uint32_t group_count;      ///< groups of joints along the axis = link points
    const double *link_points; ///< 3 per group
    uint32_t joint_count;      ///< loops it has
    const uint32_t *groups; ///< group of each of its joints: the children in order, the parent last
} cutis_skeleton_part;

/// What was done to the mesh and its labels before anything else.
typedef struct cutis_skeleton_repairs {
    uint32_t welded_edges; ///< open edges of different pieces that coincide
    uint32_t capped_holes, cap_faces;
    uint32_t split_edges;   ///< edges of more than two triangles
    uint32_t dropped_faces; ///< without area, or twice there
    uint32_t flipped_faces;
    uint32_t rounds; ///< of healing
    uint64_t relabelled_faces;
    uint32_t touching_parts; ///< pieces that only touch: a joint, no patch
    uint32_t seam_count;     ///< loops beyond the tree
    uint32_t curved_splits;  ///< leaves that were cut into several parts
    uint32_t straightened, not_straightened;
} cutis_skeleton_repairs;

/// What an extraction did; owns its arrays.
typedef struct cutis_skeleton_report {
    uint32_t part_count;
    const cutis_skeleton_part *parts; ///< in the order of the new model's parts
    cutis_skeleton_repairs repairs;
    uint32_t note_count;
    const char *const *notes; ///< what was healed, one line each, parts by name
    double kernel_seconds, axes_seconds, total_seconds; ///< as in the paper's Table 2
} cutis_skeleton_report;

CUTIS_API void cutis_skeleton_report_destroy(cutis_skeleton_report *report); ///< NULL is fine

/// Extract a skeleton. The new model has one mesh (all instances at rest, in world space, welded
/// and closed) with a part tree, one joint per part, one end node per leaf and rigid weights.
/// Materials (with their textures, when written as glTF), normals, texture coordinates, colours and
/// morph targets are kept; clips where the joints they move are the same in the new rig (names,
/// parents, rests). What stays behind is in the report's notes, first.
/// @param report what was done (destroy it), or NULL
/// @return CUTIS_OK, CUTIS_INVALID_ARGUMENT (no triangles, labels that do not match, no such part),
///         CUTIS_UNSUPPORTED (a mesh that cannot be closed, labels that do not heal; the error
///         names the part), CUTIS_CANCELLED, CUTIS_OUT_OF_MEMORY
CUTIS_API cutis_result cutis_skeleton_extract(const cutis_model *model,
                                              const cutis_skeleton_options *options,
                                              cutis_model **out, cutis_skeleton_report **report);

typedef enum cutis_joint_change {
    CUTIS_JOINT_MOVE = 0, ///< its neighbours stay where they are
    CUTIS_JOINT_ADD = 1,  ///< a child, turned as its parent is; no weights yet
    CUTIS_JOINT_REMOVE =
        2, ///< the joint above it takes its weights; its node stays, as a plain one
    CUTIS_JOINT_RENAME = 3,
} cutis_joint_change;

/// One change of a rig at rest.
typedef struct cutis_joint_edit {
    cutis_joint_change change;
    uint32_t node;         ///< a joint of some skin; ADD: the parent
    const char *name;      ///< ADD, RENAME: UTF-8, of no other joint
    cutis_float3 position; ///< MOVE, ADD: world space at rest
} cutis_joint_edit;

/// Change the joints of a rig. Edits are made one after the other; a joint that was added has the
/// next node (node_count of the model, then one more each). The skin stays where it is at rest,
/// with the weights it has: cutis_handles_skeleton makes new ones. Clips stay; a joint's own
/// translations are shifted with it. A mesh that loses a joint keeps the names of its parts, not
/// their tree.
/// @return CUTIS_OK, CUTIS_INVALID_ARGUMENT (no joint, no name, a name twice), CUTIS_UNSUPPORTED
/// (the
///         topmost joint cannot be removed, nor handles; a scale of 0), CUTIS_OUT_OF_MEMORY
CUTIS_API cutis_result cutis_joints_edit(const cutis_model *model, const cutis_joint_edit *edits,
                                         uint32_t count, cutis_model **out);

#ifdef __cplusplus
}
#endif
#endif
