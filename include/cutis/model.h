/// Models: nodes, meshes, skins, clips. A model is immutable; editing makes a new one.
///
/// `cutis_model_data` is both what you fill in to create a model and what you read from one: plain
/// structs with borrowed arrays. cutis_model_create checks every count, index, parent, weight, time
/// and float (the one gate for data from outside), then copies all of it; what cutis_model_get
/// returns is owned by the model and has passed the gate. To edit, copy the structs you change,
/// point them at new arrays, and create again.
///
/// Threads: any number may use a model at once, and make others from it.
#ifndef CUTIS_MODEL_H
#define CUTIS_MODEL_H

#include <cutis/math.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CUTIS_NONE (-1) ///< "no such index" in the int32_t fields below

typedef enum cutis_topology {
    CUTIS_TOPOLOGY_TRIANGLES = 0, ///< 3 indices each; strips and fans are expanded by the readers
    CUTIS_TOPOLOGY_LINES = 1,     ///< 2 indices each
    CUTIS_TOPOLOGY_POINTS = 2,    ///< 1 index each
} cutis_topology;

/// Displacements of one morph target; each array 3 floats per vertex, or NULL.
typedef struct cutis_morph_target {
    const float *positions;
    const float *normals;
    const float *tangents;
} cutis_morph_target;

/// Any number of influences per vertex, as the file has them: not sorted, not normalised (binding
/// does that). Influences of vertex v are entries [first[v], first[v + 1]). All NULL: the primitive
/// has none.
typedef struct cutis_influences {
    const uint32_t *first;  ///< vertex_count + 1
    const uint32_t *joints; ///< index into the joints of the skin the mesh is used with
    const float *weights;   ///< finite and >= 0
} cutis_influences;

typedef struct cutis_primitive {
    cutis_topology topology;
    uint32_t vertex_count;
    uint32_t index_count;
    const uint32_t *indices; ///< index_count; NULL with index_count 0 when creating: 0, 1, 2, ...
    const float *positions;  ///< 3 per vertex, mesh space, metres
    const float *normals;    ///< 3 per vertex, or NULL
    const float *tangents;   ///< 4 per vertex (w = handedness), or NULL
    const float *texcoords;  ///< 2 per vertex (set 0), or NULL
    const float *colors;     ///< 4 per vertex (set 0, linear), or NULL
    cutis_influences influences;
    const cutis_morph_target *targets; ///< target_count of the mesh, or NULL
    const uint32_t *parts;             ///< per triangle, index into the mesh's part_names, or NULL
    int32_t material;                  ///< index into materials, or CUTIS_NONE
} cutis_primitive;

/// Triangles without vertices and without material (all zero has the first one).
CUTIS_API cutis_primitive cutis_primitive_default(void);

/// One part of a body and how it is attached to the others. Positions are mesh space, in double:
/// joints and boxes are made from sums over many vertices, and patches are closed to 1e-12 with
/// them.
typedef struct cutis_part {
    int32_t parent;       ///< smaller than the part's own index, or CUTIS_NONE: the root
    int32_t loop;         ///< joint boundary with the parent, index into `loops`; CUTIS_NONE: the
                          ///< root, or a part that only touches its parent (no patch there)
    uint32_t joint;       ///< index into the joints of the skin the mesh is used with
    double position[3];   ///< J, the point the part turns about: mean of the loop by edge length
    double end[3];        ///< where its bone ends: tip of a leaf, the child's joint, or their mean
    double centroid[3];   ///< m: of the kernel, or of the volume where there is none
    double kernel_radius; ///< largest ball in the kernel; 0: not star-shaped
    double axes[3][3];    ///< unit, right-handed, principal axis first, refined
    double box_min[3], box_max[3]; ///< oriented box: range of axes[k] . x over the part's vertices
} cutis_part;

/// A closed ring of edges between two parts. No vertex is in two rings, or twice in one.
typedef struct cutis_part_loop {
    uint32_t parent, child;   ///< parts; the child's index is larger
    uint32_t vertex_count;    ///< >= 3
    const uint32_t *vertices; ///< welded vertices in order: v[i] -> v[i + 1] is an edge of a face
                              ///< of the child, v[i + 1] -> v[i] of one of the parent
} cutis_part_loop;

/// A line of the skeleton graph inside a part (drawn, never animated).
typedef struct cutis_part_link {
    uint32_t part;
    double from[3], to[3];
} cutis_part_link;

/// The parts of a mesh as a tree with boxes and joint boundaries: what cutis_skeleton_extract
/// (cutis/skeleton.h) finds and CUTIS_parts stores. Every triangle
/// of the mesh has a part (`parts` of its primitives), every part a triangle. Over the welded
/// vertices the triangles are closed, manifold and consistently oriented; the gate checks ranges,
/// binding checks this.
typedef struct cutis_part_tree {
    const cutis_part *parts; ///< part_count of the mesh, parents first
    uint32_t loop_count;
    const cutis_part_loop *loops; ///< joints and, on bodies with handles, seams: loops no part
                                  ///< names, which stay stitched
    uint32_t welded_count;
    const uint32_t *weld; ///< per vertex of the mesh (primitives one after the other) its welded
                          ///< vertex, < welded_count; all vertices of one have the same position
    uint32_t link_count;
    const cutis_part_link *links; ///< or NULL
} cutis_part_tree;

typedef struct cutis_mesh {
    const char *name; ///< UTF-8, or NULL
    uint32_t primitive_count;
    const cutis_primitive *primitives;
    uint32_t target_count;           ///< morph targets of every primitive
    const char *const *target_names; ///< target_count, or NULL
    const float *target_weights;     ///< target_count rest weights, or NULL (zeros)
    uint32_t part_count;
    const char *const *part_names;    ///< part_count, or NULL
    const cutis_part_tree *part_tree; ///< or NULL: the parts are only names
} cutis_mesh;

/// Parents come before children, so a cycle cannot be written down. Nodes of the scene stand
/// depth-first, so mesh instances in node order are the order of all outputs.
typedef struct cutis_node {
    const char *name;     ///< UTF-8, or NULL
    int32_t parent;       ///< smaller than the node's own index, or CUTIS_NONE
    cutis_transform rest; ///< local
    bool outside;         ///< not part of the default scene: animated, but never deformed or drawn
    const cutis_mat34
        *matrix;  ///< local matrix in place of `rest` (may hold shear; never animated), or NULL
    int32_t mesh; ///< or CUTIS_NONE
    int32_t skin; ///< or CUTIS_NONE; needs a mesh
    const float *target_weights; ///< overrides the mesh's, or NULL
    const char *extras; ///< a JSON object for a file's "extras" (glTF), or NULL; of what was read
                        ///< the source keeps them
} cutis_node;

/// A node at rest where its parent is, without parent, mesh and skin. (All zero would be a child of
/// node 0 that shows mesh 0, shrunk to a point.)
CUTIS_API cutis_node cutis_node_default(void);

typedef struct cutis_skin {
    const char *name; ///< UTF-8, or NULL
    uint32_t joint_count;
    const uint32_t *joints;           ///< node of each joint, no node twice
    const cutis_mat34 *inverse_binds; ///< joint_count, or NULL (identities)
    int32_t root;                     ///< the file's skeleton root node, or CUTIS_NONE; informative
} cutis_skin;

/// No joints, no root.
CUTIS_API cutis_skin cutis_skin_default(void);

typedef enum cutis_path {
    CUTIS_PATH_TRANSLATION = 0, ///< 3 floats
    CUTIS_PATH_ROTATION = 1,    ///< 4 floats, x y z w
    CUTIS_PATH_SCALE = 2,       ///< 3 floats
    CUTIS_PATH_WEIGHTS = 3,     ///< target_count of the node's mesh
} cutis_path;

typedef enum cutis_interpolation {
    CUTIS_INTERPOLATION_LINEAR = 0, ///< slerp for rotations
    CUTIS_INTERPOLATION_STEP = 1,
    CUTIS_INTERPOLATION_CUBIC = 2, ///< values hold in-tangent, value, out-tangent per key
} cutis_interpolation;

typedef struct cutis_channel {
    uint32_t node;
    cutis_path path;
    cutis_interpolation interpolation;
    uint32_t key_count;  ///< >= 1
    const float *times;  ///< key_count, seconds, >= 0, strictly ascending
    const float *values; ///< key_count * width (* 3 if cubic)
} cutis_channel;

/// A clip starts at time 0 and ends at its last key; before its first key a channel holds the first
/// value.
typedef struct cutis_clip {
    const char *name; ///< UTF-8, or NULL
    uint32_t channel_count;
    const cutis_channel *channels; ///< no two for the same node and path
    float duration;                ///< seconds; filled in by cutis_model_create
} cutis_clip;

typedef struct cutis_material {
    const char *name;    ///< UTF-8, or NULL
    float base_color[4]; ///< linear
    float metallic, roughness;
    bool double_sided;
} cutis_material;

/// glTF's default: white, metallic 1, roughness 1.
CUTIS_API cutis_material cutis_material_default(void);

typedef enum cutis_pose_kernel {
    CUTIS_POSE_EXPONENTIAL =
        0, ///< exp(-g / sigma): continuous, never steps, holds the last example beyond it
    CUTIS_POSE_GAUSSIAN = 1, ///< exp(-g^2 / 2 sigma^2): the 2006 paper's
} cutis_pose_kernel;

/// Distance of two rotations of one joint, radians.
typedef enum cutis_pose_distance {
    CUTIS_POSE_GEODESIC = 0, ///< angle of the rotation between them
    CUTIS_POSE_ROTVEC = 1,   ///< difference of rotation vectors (from rest)
    CUTIS_POSE_EULER = 2, ///< three angles (from rest, x first, then y, z), each difference wrapped
} cutis_pose_distance;

/// Example poses whose displacements are morph targets: what the methods PSD and WPSD interpolate
/// between. cutis_poses_fit (cutis/poses.h) makes it; CUTIS_pose_space stores it in glTF.
typedef struct cutis_pose_space {
    uint32_t joint_count, pose_count;
    const uint32_t
        *joints; ///< nodes whose rotation (and translation) tells poses apart, no node twice
    const cutis_quat
        *rotations; ///< pose_count * joint_count, local, pose after pose; pose 0 is the rest pose
    const cutis_float3 *translations; ///< the same for translations, or NULL: only rotations count
    const int32_t *targets; ///< per mesh: morph target of pose 1 (pose k: k - 1 further), or
                            ///< CUTIS_NONE: not displaced
    uint32_t field_count;   ///< principal poses: targets a mesh has then, in place of one per pose;
                            ///< 0: none
    const float *coefficients; ///< (pose_count - 1) * field_count: displacement of pose k >= 1 =
                               ///< sum over fields m of [(k - 1) * field_count + m] target m
    bool after; ///< displacements are added after skinning, turned by the vertex's blended rotation
    cutis_pose_kernel kernel;
    cutis_pose_distance distance;
    float sigma; ///< width of the kernel: factor on the rule of its kind; 0 = 1 (exponential), 0.5
                 ///< (Gaussian)
} cutis_pose_space;

typedef enum cutis_handle_kind {
    CUTIS_HANDLE_POINT = 0,
    CUTIS_HANDLE_BAR = 1, ///< every point of a segment, moved as one
} cutis_handle_kind;

/// World space of the model at rest.
typedef struct cutis_handle {
    const char *name; ///< UTF-8, or NULL
    cutis_handle_kind kind;
    cutis_float3 from; ///< a point's position; a bar's start, which it turns about
    cutis_float3 to;   ///< a bar's end; not read for points
} cutis_handle;

/// Weights of a primitive's vertices on handles (below handle_count) and virtual handles (from
/// there on). influences.first NULL: the primitive has none.
typedef struct cutis_handle_weights {
    uint32_t vertex_count;       ///< of the primitive
    cutis_influences influences; ///< joints are handles here
} cutis_handle_weights;

/// The handles a model was bound with, and its virtual ones: what `render --show handles` draws and
/// the method HANDLES_RIGID moves. cutis_handles_weights (cutis/handles.h) makes it; CUTIS_handles
/// stores it in glTF.
typedef struct cutis_handle_rig {
    uint32_t handle_count, virtual_count;
    const cutis_handle *handles;        ///< names are those of the nodes and not kept here
    const uint32_t *nodes;              ///< per handle: the node that moves it
    const cutis_float3 *virtual_places; ///< world space at rest
    const uint32_t *share_first;        ///< virtual_count + 1, into the shares; NULL without any
    const uint32_t *share_handles;
    const float *shares; ///< part of each handle's motion that a virtual one takes: > 0, sum one
    uint32_t mesh_count, primitive_count; ///< of the model (primitives of all meshes, in order)
    const int32_t *first_handles; ///< per mesh: the handle that is joint 0 of its skin (the others
                                  ///< follow), or CUTIS_NONE: no handle holds it
    const cutis_handle_weights *weights; ///< per primitive, or NULL: no virtual handles
} cutis_handle_rig;

/// Which function of space gives a cage's weights.
typedef enum cutis_coordinates {
    CUTIS_COORDINATES_MVC = 0,      ///< mean value: defined everywhere, may be negative
    CUTIS_COORDINATES_HARMONIC = 1, ///< solved inside the cage: never negative, stays in its prong
} cutis_coordinates;

/// A cage's weights on the vertices of one mesh, its primitives one after the other.
typedef struct cutis_cage_mesh {
    uint32_t vertex_count;    ///< of the mesh's primitives together
    const uint32_t *first;    ///< vertex_count + 1; NULL: the cage does not move this mesh
    const uint32_t *controls; ///< ascending per vertex
    const float *weights;     ///< finite, may be negative
} cutis_cage_mesh;

/// A closed triangle mesh around a model, whose vertices (controls) move it: a vertex is at the sum
/// of weight times control. cutis_cage_bind (cutis/cage.h) makes it, the method CAGE plays it,
/// CUTIS_cage stores it in glTF.
typedef struct cutis_cage {
    uint32_t control_count, triangle_count;
    const cutis_float3 *controls; ///< world space of the model at rest
    const uint32_t *triangles;    ///< 3 controls each, outward
    cutis_coordinates coordinates;
    uint32_t mesh_count;           ///< of the model
    const cutis_cage_mesh *meshes; ///< mesh_count
} cutis_cage;

#define CUTIS_DRIVER_INPUTS 4 ///< joints that a driver reads at most

/// A node whose local transform is a function of the local rotations of some joints.
///
/// Each joint gives four inputs: x, y, z, w - 1 of its rotation relative to rest, inverse(rest) *
/// rotation, w >= 0, clamped to the joint's range. Of the n inputs u of all of them the terms are
/// u[0] .. u[n - 1], then u[i] u[j] for i <= j, i first: n + n (n + 1) / 2. A term has six
/// coefficients; the sums are a rotation vector r (held at pi where it is longer) and a shift d,
/// both along the axes of the node's parent: rotation = exp(r) * rest, translation = rest + d,
/// scale = rest. So at rest a driven node rests.
typedef struct cutis_driver {
    uint32_t node;                        ///< that is driven, by no other; not given by a matrix
    uint32_t input_count;                 ///< joints, 0 .. CUTIS_DRIVER_INPUTS; 0: it rests
    uint32_t inputs[CUTIS_DRIVER_INPUTS]; ///< places in `joints`, none twice
    const float *coefficients;            ///< 6 per term: r, d
} cutis_driver;

/// A morph target's weight as a function of joints: the weight at rest and the sum of
/// cutis_driver's terms times one coefficient each.
typedef struct cutis_weight_driver {
    uint32_t node;        ///< that shows a mesh
    uint32_t target;      ///< of the mesh; none of a pose space
    uint32_t input_count; ///< as of cutis_driver
    uint32_t inputs[CUTIS_DRIVER_INPUTS];
    const float *coefficients; ///< 1 per term
} cutis_weight_driver;

/// Nodes that follow joints in any pose, as helper joints of a bake do: cutis_bake (cutis/bake.h)
/// learns them, every pose of local transforms plays them (cutis_drive), CUTIS_drivers stores them
/// in glTF. A driven node is never read, so there is no order among drivers and no cycle.
typedef struct cutis_drivers {
    uint32_t joint_count;
    const uint32_t *joints; ///< nodes that are read, none twice, none driven
    const float *ranges;    ///< 8 per joint: least x y z w - 1, greatest x y z w - 1
    uint32_t driver_count;
    const cutis_driver *drivers;
    uint32_t weight_count;              ///< drivers of morph targets: the same joints move them
    const cutis_weight_driver *weights; ///< ascending by node, then target
} cutis_drivers;

/// Which driven nodes of a pose are computed, in place of what the pose has for them; and driven
/// weights of morph targets, those of a node together.
typedef enum cutis_drive {
    CUTIS_DRIVE_RESTING = 0, ///< those that the pose leaves at rest (to rounding): a clip's own
                             ///< tracks, or a hand that moves a helper, are taken at their word
    CUTIS_DRIVE_ALL = 1,
    CUTIS_DRIVE_NONE = 2,
} cutis_drive;

/// What a reader keeps of its file so that writing loses nothing; shared between a model and those
/// made from it.
typedef struct cutis_source cutis_source;

typedef struct cutis_model_data {
    uint32_t node_count, mesh_count, skin_count, clip_count, material_count;
    const cutis_node *nodes;
    const cutis_mesh *meshes;
    const cutis_skin *skins;
    const cutis_clip *clips;
    const cutis_material *materials;
    const cutis_pose_space *pose_space; ///< or NULL
    const cutis_handle_rig *handles;    ///< or NULL
    const cutis_cage *cage;             ///< or NULL
    const cutis_drivers *drivers;       ///< or NULL
    cutis_source *source;               ///< from the model this one was made of, or NULL
} cutis_model_data;

typedef struct cutis_model cutis_model;

/// What the gate does about what can be repaired: weights that are NaN or negative, joints out of
/// range, keys out of order, singular inverse binds, second channels, normals that are not finite,
/// rotations of length zero. Both let pass what the format allows and binding sorts out: doubled
/// joints, sums other than one and vertices without weight. Repairing merges and normalises them
/// and gives those vertices to the skin's first joint. Names that are no UTF-8 and incomplete last
/// triangles are put right, and noted, in both.
typedef enum cutis_gate {
    CUTIS_GATE_REFUSE = 0, ///< an error that names the first one
    CUTIS_GATE_REPAIR = 1, ///< repair, and list it in the model's issues
} cutis_gate;

/// Check and copy everything.
/// @return CUTIS_OK, CUTIS_CORRUPT_DATA (the context's error names the place),
/// CUTIS_LIMIT_EXCEEDED, CUTIS_OUT_OF_MEMORY
CUTIS_API cutis_result cutis_model_create(cutis_context *context, const cutis_model_data *data,
                                          cutis_gate gate, cutis_model **out);

CUTIS_API void cutis_model_destroy(cutis_model *model); ///< NULL is fine

/// Everything in the model; owned by it.
CUTIS_API const cutis_model_data *cutis_model_get(const cutis_model *model);

/// The context the model was made with.
CUTIS_API cutis_context *cutis_model_context(const cutis_model *model);

/// One finding about a model: by the gate while repairing, by a reader, or by cutis_model_check.
typedef struct cutis_issue {
    const char *code;  ///< stable, upper case: "WEIGHTS_NON_NORMALIZED"
    const char *place; ///< "meshes/0/primitives/1"
    const char *text;  ///< one sentence with the figures
    uint64_t count;    ///< how many vertices, keys, ... are concerned
    uint8_t severity;  ///< 0 error, 1 warning, 2 information
    bool repaired;
} cutis_issue;

/// What the gate repaired when the model was made, and what reading its file put right
/// (cutis/io.h); owned by the model.
CUTIS_API uint32_t cutis_model_issues(const cutis_model *model, const cutis_issue **out);

/// Findings about a model or a file: what cutis_model_check (cutis/weights.h) and
/// cutis_file_inspect (cutis/io.h) make.
typedef struct cutis_check_report cutis_check_report;
CUTIS_API void cutis_check_report_destroy(cutis_check_report *report); ///< NULL is fine
CUTIS_API uint32_t cutis_check_report_issues(const cutis_check_report *report,
                                             const cutis_issue **out);

/// A mesh in the scene: which node shows it, and where its vertices stand in every output.
typedef struct cutis_instance {
    uint32_t node, mesh;
    int32_t skin;          ///< or CUTIS_NONE
    uint32_t vertex_first; ///< into outputs
    uint32_t vertex_count; ///< of all its primitives
    uint32_t target_first; ///< into the morph weights of a pose
    uint32_t target_count;
} cutis_instance;

/// The mesh instances of the scene in output order; owned by the model.
CUTIS_API uint32_t cutis_model_instances(const cutis_model *model, const cutis_instance **out);

/// Sum of vertex_count over the instances: vertices of one output frame.
CUTIS_API uint32_t cutis_model_vertex_count(const cutis_model *model);

/// Triangles over the instances.
CUTIS_API uint64_t cutis_model_triangle_count(const cutis_model *model);

/// Morph weights of one pose: sum of target_count over the instances.
CUTIS_API uint32_t cutis_model_target_count(const cutis_model *model);

/// A clip by name, or by index written in decimal ("#2" or "2") if no clip has that name.
/// @return CUTIS_NOT_FOUND; the error lists the clips there are
CUTIS_API cutis_result cutis_model_find_clip(const cutis_model *model, const char *name_or_index,
                                             uint32_t *out);

/// All triangles of all instances as indices into one output frame, instance after instance,
/// primitives in order. Where the rest pose mirrors an instance they turn the other way round than
/// in its mesh, so that outside stays outside.
/// @param indices 3 * cutis_model_triangle_count entries of caller memory
CUTIS_API void cutis_model_triangles(const cutis_model *model, uint32_t *indices);

/// Rest positions of one output frame: mesh space moved by `world(joint) * inverse_bind` blended at
/// the node rest pose is what deform gives; this is the plain file position of each vertex instead.
/// @param positions 3 * cutis_model_vertex_count floats of caller memory
CUTIS_API void cutis_model_file_positions(const cutis_model *model, float *positions);

#ifdef __cplusplus
}
#endif
#endif
