/// One call of cutis_bake: the model and its frames as a problem, and the way back.
///
/// Points live in a common space: a vertex p of a mesh stands at bind * p, where `bind` belongs to
/// the skin, so that a helper is one rigid motion whatever the spaces of meshes are; the middle of
/// the body is its origin.
#ifndef CUTIS_FIT_BAKE_JOB_H
#define CUTIS_FIT_BAKE_JOB_H

#include <cutis/bake.h>

#include "fit/bake/solver.h"

/// Frames of one kind: learned from, or held out.
typedef struct cutis_bake_part {
    uint32_t count;
    uint32_t *frame; ///< of the call
    size_t stride;
    float *targets;  ///< [point][3][stride]; NULL: there is no room for all (cutis_bake_each)
    float *turns;    ///< the same of normals; NULL: none
    double *joints;  ///< a track each
    double *helpers; ///< a track each
} cutis_bake_part;

typedef struct cutis_bake_job {
    const cutis_model *model;
    const cutis_model_data *data;
    cutis_context *context;
    cutis_device *device;
    cutis_arena *arena;
    const cutis_bake_frames *frames;
    cutis_bake_options options;
    double begun;
    bool steps;           ///< of a baker: the others' positions are never all in memory
    const uint8_t *taken; ///< `apart` as another process found it, which has checked the frames and
                          ///< learned from them: no positions are read; NULL: this one does
    bool looked;          ///< others have looked at the frames: `apart` is what they found
    float *places;        ///< of vertices at rest, common space but for the centre
    uint32_t *weld;       ///< per vertex: the first one of its place
    struct cutis_bake_source *sources; ///< per vertex
    uint8_t *apart; ///< per vertex: it does not move with the one it is welded to
    uint32_t vertex_count, instance_count;
    const cutis_instance *instances;
    bool bare;            ///< there is no skin: joints come from nothing
    uint8_t *baked;       ///< per instance
    double (*bind)[12];   ///< per skin, or per instance of a bare body: mesh to common space
    uint32_t *bone_first; ///< per skin: its first bone; UINT32_MAX: it has none
    uint32_t joint_count; ///< bones that are there
    uint32_t *bone_node;  ///< per bone: node
    uint32_t *bone_skin;  ///< per bone
    double centre[3], diagonal;
    cutis_mat34 *world, *rest_world; ///< of nodes, per frame; at rest

    float *chunk; ///< frames that were read last

    uint32_t point_count;
    uint32_t *vertex_point; ///< per output vertex, or UINT32_MAX: not baked
    double *positions, *mass;
    double *normals; ///< 3 per point, common space; NULL: none
    uint32_t *space; ///< per point: its skin or instance
    uint32_t *first, *joint;
    double *weight;
    cutis_bake_part learned, others;
    cutis_bake_problem problem; ///< of the learned frames
    cutis_bake_solution solution;

    int32_t *parent;       ///< per helper: node of the model; bare: another helper; or CUTIS_NONE
    uint32_t *parent_bone; ///< per helper, in a skeleton: the joint it follows
    double *pivot;         ///< 3 per helper, common space
    uint32_t *order;       ///< per helper: place among the new nodes, parents first
    uint64_t kept_count;
    uint8_t *own; ///< per point: it has its own weights back for a clip's sake; NULL: none has

    uint32_t morph_count;
    double *morphs;        ///< [morph][point][3], common space
    double *morph_weights; ///< [morph][frame]

    struct cutis_bake_drive *drive; ///< drivers.c; NULL: not asked for
} cutis_bake_job;

#define CUTIS_BAKE_MORPHS 32 ///< most morph targets

// The steps of a call (bake.c)
// ---------------------------------------------------------------------

cutis_result cutis_bake_open(cutis_bake_job *job, const cutis_model *model, cutis_device *device,
                             const cutis_bake_frames *frames, const cutis_bake_options *options,
                             cutis_arena *arena);
/// The problem of the learned frames.
cutis_result cutis_bake_prepare(cutis_bake_job *job);
/// Joints, weights, and tracks in the learned frames.
cutis_result cutis_bake_learn(cutis_bake_job *job);
/// After all tracks are there.
cutis_result cutis_bake_finish(cutis_bake_job *job, cutis_model **out, cutis_bake_report *report);

// Their parts
// --------------------------------------------------------------------------------------

/// Check everything; points, weights, tracks and targets of both parts.
cutis_result cutis_bake_gather(cutis_bake_job *job);
/// Normals of the frames that are learned from, where there are some.
cutis_result cutis_bake_gather_normals(cutis_bake_job *job);
/// Everything that needs no frames; once.
cutis_result cutis_bake_gather_rest(cutis_bake_job *job);
/// Are positions of frames [first, end) finite, and which vertices do not move with the one they
/// are welded to? @param apart 1 is set
cutis_result cutis_bake_look(cutis_bake_job *job, uint32_t first, uint32_t end, uint8_t *apart);
/// Frames to learn from, as many as the budget holds, and the others: held out, or one too many.
cutis_result cutis_bake_split(cutis_bake_job *job);
/// @param part the others or a piece of them, with targets, joints and helpers, whose tracks it may
/// change; @param first where among the others it begins
typedef cutis_result cutis_bake_visit(cutis_bake_job *job, cutis_bake_part *part, uint32_t first,
                                      void *data);
/// The frames that are not learned from, of these [from, to), piece after piece.
cutis_result cutis_bake_each(cutis_bake_job *job, uint32_t from, uint32_t to,
                             cutis_bake_visit *visit, void *data);
/// Which joint each helper follows, or which helper, and where it turns.
cutis_result cutis_bake_parents(cutis_bake_job *job);
/// Drivers (drivers.c): what joints do in the learned frames, and which of them no frame moves;
/// after gathering, before solving.
cutis_result cutis_bake_drive_open(cutis_bake_job *job);
/// Helpers as functions of joints, and weights that suit them; after the parents are known.
cutis_result cutis_bake_drive(cutis_bake_job *job);
/// Tracks of a part's frames as drivers have them.
void cutis_bake_drive_part(const cutis_bake_job *job, const cutis_bake_part *part, double *helpers);
/// The drivers for the model that comes out.
cutis_result cutis_bake_drive_table(cutis_bake_job *job, const cutis_drivers **out);
/// How they do in frames held out that are of no clip.
cutis_result cutis_bake_drive_judge(cutis_bake_job *job, cutis_bake_report *report);
/// Memory for tracks of helpers in the frames that were not learned from.
cutis_result cutis_bake_others_open(cutis_bake_job *job);
/// Tracks of helpers in these frames, of them [from, to): of each what it alone asks for.
cutis_result cutis_bake_others(cutis_bake_job *job, uint32_t from, uint32_t to);
/// Which of them are frames [first, end) of the call: [*from, *to).
void cutis_bake_others_in(const cutis_bake_job *job, uint32_t first, uint32_t end, uint32_t *from,
                          uint32_t *to);
/// Morph targets and their weights for what is left, as many as options ask for.
cutis_result cutis_bake_morph(cutis_bake_job *job);
/// Give points their weights back where a learned clip would be worse than plain blending.
cutis_result cutis_bake_keep_own(cutis_bake_job *job);
/// Does a point keep the weights it came with?
bool cutis_bake_is_kept(const cutis_bake_job *job, uint32_t point);
/// Do the morph targets of a mesh go, because they are a pose space's alone?
bool cutis_bake_loses_targets(const cutis_bake_job *job, uint32_t mesh);
/// The model, with helpers, weights and tracks.
cutis_result cutis_bake_build(cutis_bake_job *job, cutis_model **out, uint32_t *helper_nodes);

/// A joint's matrix world * inverse bind * bind^-1 in common space, centred, in a pose.
void cutis_bake_joint(const cutis_bake_job *job, uint32_t bone, const cutis_mat34 *world,
                      double *out);

/// A bone's or helper's matrix (row-major 3 x 4) in a frame of a part.
void cutis_bake_matrix(const double *track, size_t stride, size_t frame, double *out);

/// A joint's matrix without scale and shear: where it takes a point, and the rotation nearest to
/// it.
void cutis_bake_rigid(double *m, const double *about);

#endif
