/// Poses in time: sample clips, blend poses, go from local transforms to world matrices. Nothing
/// here allocates but cutis_sampler_create and cutis_clips_drive.
///
/// Threads: a sampler is immutable, and several may sample it (and use the model) at once, each
/// into a pose of its own.
///
/// A pose is `node_count` local transforms, one per node of the model, and cutis_model_target_count
/// morph weights.
#ifndef CUTIS_CLIP_H
#define CUTIS_CLIP_H

#include <cutis/model.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The node rest pose.
/// @param transforms    node_count of caller memory
/// @param morph_weights cutis_model_target_count of caller memory, or NULL
CUTIS_API void cutis_pose_rest(const cutis_model *model, cutis_transform *transforms,
                               float *morph_weights);

/// A clip prepared for fast sampling: keys sorted into lanes, one cursor-free search per channel
/// group.
typedef struct cutis_sampler cutis_sampler;

/// @param model not needed any more afterwards
/// @return CUTIS_OK, CUTIS_NOT_FOUND (no such clip), CUTIS_OUT_OF_MEMORY
CUTIS_API cutis_result cutis_sampler_create(const cutis_model *model, uint32_t clip_index,
                                            cutis_sampler **out);
CUTIS_API void cutis_sampler_destroy(cutis_sampler *sampler); ///< NULL is fine

/// The pose at `seconds` (clamped to the clip). Nodes and targets without a channel get their rest
/// value.
/// @param morph_weights cutis_model_target_count of caller memory, or NULL: not wanted
CUTIS_API void cutis_sampler_sample(const cutis_sampler *sampler, float seconds,
                                    cutis_transform *transforms, float *morph_weights);

/// Seconds.
CUTIS_API float cutis_sampler_duration(const cutis_sampler *sampler);

/// Blend two poses: linear for translations and scales, shortest-arc normalised linear for
/// rotations.
/// @param weight 0 gives a, 1 gives b; @param out may be a or b
CUTIS_API void cutis_pose_blend(const cutis_transform *a, const cutis_transform *b, float weight,
                                uint32_t count, cutis_transform *out);

/// Compute the driven nodes of a pose from its joints (cutis_drivers); nothing for a model without
/// drivers. cutis_pose_world and local poses of cutis_deform do so themselves (RESTING; a binding
/// as its options say). Before poses are blended of which some have tracks of driven nodes and some
/// have not, this gives all of them what they lack.
/// @param transforms node_count, of which driven ones are written
CUTIS_API void cutis_pose_drive(const cutis_model *model, cutis_drive drive,
                                cutis_transform *transforms);

/// Compute the driven morph weights of a pose from its joints. Local poses of cutis_deform do so
/// themselves.
/// @param transforms    node_count
/// @param morph_weights cutis_model_target_count, of which driven ones are written
CUTIS_API void cutis_pose_drive_weights(const cutis_model *model, cutis_drive drive,
                                        const cutis_transform *transforms, float *morph_weights);

/// A model with tracks of its driven nodes and morph weights in its clips, for players without
/// drivers; the drivers stay.
/// @param first_clip clips from this on
/// @param drive      RESTING: of nodes that a clip has no tracks of; ALL: of all, in place of
/// theirs
/// @param fps        keys a second; 0 = 30. Where a joint that drives turns in steps there are keys
/// of each step besides, so that what follows it steps too
/// @return CUTIS_OK, CUTIS_INVALID_ARGUMENT, CUTIS_LIMIT_EXCEEDED (a clip of days),
/// CUTIS_OUT_OF_MEMORY
CUTIS_API cutis_result cutis_clips_drive(const cutis_model *model, uint32_t first_clip,
                                         cutis_drive drive, double fps, cutis_model **out);

/// World matrices of all nodes. Driven nodes that the pose leaves at rest follow their drivers. A
/// node given by a matrix keeps it, shear and all, while its
/// transform is at rest (to rounding); a pose that moves it is taken at its word.
/// @param transforms node_count local transforms; @param world node_count of caller memory
CUTIS_API void cutis_pose_world(const cutis_model *model, const cutis_transform *transforms,
                                cutis_mat34 *world);

/// A joint of a skin by name, or "#i" = index in the skin (of all skins that have as many joints,
/// if they agree). Nodes that are no joints are found by name too, after the joints.
/// @return CUTIS_NOT_FOUND (lists what there is), CUTIS_INVALID_ARGUMENT (ambiguous name)
CUTIS_API cutis_result cutis_model_find_joint(const cutis_model *model, const char *name,
                                              uint32_t *node);

#ifdef __cplusplus
}
#endif
#endif
