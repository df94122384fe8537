/// Baking: any motion of a mesh as joints, weights and tracks that every engine plays. A model's
/// own skeleton and clips stay; helper joints are added below the joints they follow, with tracks,
/// and weights are solved for all of them. Without a skin the joints are found from nothing.
/// Formulas: docs/spec/bake.md.
///
/// Threads: several may bake at once, the same model too; one device for several: see
/// cutis/device.h.
#ifndef CUTIS_BAKE_H
#define CUTIS_BAKE_H

#include <cutis/device.h>
#include <cutis/model.h>

#ifdef __cplusplus
extern "C" {
#endif

/// How the vertices of a model move: frame after frame, of several clips one after the other. All
/// arrays are borrowed for the call.
typedef struct cutis_bake_frames {
    uint32_t count;
    const cutis_transform *poses; ///< count * node_count local transforms; NULL: the rest pose
    const float *positions;  ///< count * cutis_model_vertex_count * 3, world space, output order
    const int32_t *clips;    ///< per frame: clip of the model that it is of, ascending, or, last of
                             ///< all, CUTIS_NONE: a pose to learn from (or to be judged by, held
                             ///< out) that has no keys; NULL: all are of a new clip
    const float *times;      ///< per frame: seconds, ascending within a clip; NULL: 30 a second
    const uint8_t *held_out; ///< per frame: 1: nothing is learned from it, but helpers have keys
                             ///< for it all the same; NULL: none. Needs a skin
    const float *normals;    ///< as `positions`, of unit length; NULL: not looked at. Needs a skin
    /// In place of `positions`, for sequences larger than memory: frames [first, first + count)
    /// into memory of count * cutis_model_vertex_count * 3 floats. Called from the thread that
    /// bakes, several times for each frame, each time with the same positions. An error ends the
    /// call with it.
    cutis_result (*read)(void *user, uint32_t first, uint32_t count, float *positions);
    void *user;
    uint64_t budget; ///< bytes of positions to learn from; 0 = 2 GiB. Of frames beyond it as many
                     ///< are taken evenly as fit, and weights are learned from these; helpers have
                     ///< keys in all. The result is the same for an array and for `read`
} cutis_bake_frames;

/// The zero value: weights on the joints there are, 4 a vertex.
typedef struct cutis_bake_options {
    uint32_t struct_size;  ///< sizeof of this struct where you compile; 0: as of version 0.1
    uint32_t helpers;      ///< joints to add; without a skin at least 1
    uint32_t morphs;       ///< morph targets for what joints leave over, with weights over time, at
                           ///< most 32; without helpers the model's own weights stay
    uint32_t influences;   ///< weights a vertex, 1 .. 16; 0 = 4
    double prior;          ///< how strongly weights are drawn to the model's own: a change by one
                           ///< is worth this part of the diagonal; 0 = 3e-5, negative: not
    const char *clip_name; ///< of a new clip; NULL: "baked"
    bool drivers;          ///< helpers and weights of morph targets also as functions of joints
                           ///< (cutis_drivers), so that they follow in any pose. Frames should be
                           ///< of random poses too (cutis_bake_swings): clips alone do not tell
                           ///< which joint does what. Needs a skin and poses
} cutis_bake_options;

/// What was done. Owned by whoever got it; cutis_bake_report_destroy. Errors are of the vertices
/// that were baked, on the frames that were learned from, in the model's units.
typedef struct cutis_bake_report {
    uint32_t helper_count;
    uint32_t morph_count;    ///< morph targets added
    uint32_t joint_count;    ///< that were there, over all skins that were baked
    uint64_t vertex_count;   ///< baked
    uint64_t kept_count;     ///< vertices whose own weights did better, and stay
    const uint32_t *helpers; ///< nodes of the new joints
    double rms;              ///< over vertices and frames, without morph targets; with drivers as
                             ///< these place the helpers (tracks are nearer)
    double plain_rms;        ///< of the model's own weights by linear blending; 0: it had none
    double seconds;          ///< of solving
    /// Drivers: poses held out that are of no clip, and the RMS over them of the model's own
    /// weights, of the best transforms that helpers could have, and of what drivers give them.
    uint32_t unseen_count;
    double unseen_plain_rms, unseen_free_rms, unseen_driven_rms;
    uint32_t learned_frames; ///< that weights are from: all, or what the budget holds
} cutis_bake_report;

CUTIS_API void cutis_bake_report_destroy(cutis_bake_report *baked); ///< NULL is fine

/// Random poses for drivers to be judged by: every joint but the root turned from rest for itself,
/// by a rotation vector within the box of those that `poses` have of it; nothing else moves.
/// @param poses pose_count * node_count local transforms: frames of clips
/// @param out   count * node_count of caller memory; the same for the same seed
/// @return CUTIS_OK, CUTIS_INVALID_ARGUMENT (a pose that is not finite), CUTIS_OUT_OF_MEMORY
CUTIS_API cutis_result cutis_bake_poses(const cutis_model *model, const cutis_transform *poses,
                                        uint32_t pose_count, uint64_t seed, uint32_t count,
                                        cutis_transform *out);

/// The same for drivers to be learned from (but of pose space, whose learn from even draws): in
/// every second one joints turn as those that swing to and fro, mostly near the ends of the box.
/// Learned from even draws alone drivers are least good where clips are most of the time.
/// @return as cutis_bake_poses
CUTIS_API cutis_result cutis_bake_swings(const cutis_model *model, const cutis_transform *poses,
                                         uint32_t pose_count, uint64_t seed, uint32_t count,
                                         cutis_transform *out);

/// A model that linear blending moves as the frames do, as nearly as so many joints can. Nodes,
/// names, clips and everything else of the model stay; new nodes come after the others. A pose
/// space and handles go: they belong to other weights. Morph targets are left out of account:
/// frames have them at rest. The result does not depend on the device or its threads.
/// @param device whose threads work; NULL: the calling one
/// @param report what was done (destroy it), or NULL
/// @return CUTIS_OK, CUTIS_INVALID_ARGUMENT (fewer than two frames, frames that do not move or are
/// not finite, more joints than vertices, frames held out without a skin), CUTIS_UNSUPPORTED (a
/// mesh that is shown twice; morph targets for one that has some), CUTIS_LIMIT_EXCEEDED,
/// CUTIS_CANCELLED, CUTIS_OUT_OF_MEMORY
CUTIS_API cutis_result cutis_bake(const cutis_model *model, cutis_device *device,
                                  const cutis_bake_frames *frames,
                                  const cutis_bake_options *options, cutis_model **out,
                                  cutis_bake_report **report);

/// A bake in steps, of which several processes may each do some: all of them look at frames, one
/// learns, all find tracks of frames that were not learned from, one finishes. The model has the
/// bits of cutis_bake, whoever did what. A baker is for one thread at a time; of one whose step
/// failed nothing is left but to destroy it.
typedef struct cutis_baker cutis_baker;

/// Nothing is read yet.
/// @param frames, options as of cutis_bake, without morph targets and drivers; what they point to,
/// model and device stay until the baker is destroyed
/// @return CUTIS_OK, CUTIS_INVALID_ARGUMENT, CUTIS_UNSUPPORTED (morph targets, drivers),
///         CUTIS_LIMIT_EXCEEDED, CUTIS_OUT_OF_MEMORY
CUTIS_API cutis_result cutis_baker_create(const cutis_model *model, cutis_device *device,
                                          const cutis_bake_frames *frames,
                                          const cutis_bake_options *options, cutis_baker **out);
CUTIS_API void cutis_baker_destroy(cutis_baker *baker); ///< NULL is fine

/// Look at frames [first, end): are they finite, and do vertices of one place stay together? What
/// cutis_baker_learn does itself unless it was given this of all frames.
/// @param bytes what the baker that learns is given (cutis_baker_put), in this machine's order;
/// released by cutis_memory_free with their size
/// @return as cutis_bake
CUTIS_API cutis_result cutis_baker_look(cutis_baker *baker, uint32_t first, uint32_t end,
                                        void **bytes, size_t *size);
/// The long step: find joints and weights, and the tracks of frames that are learned from.
/// @param bytes what the bakers of other processes take
/// @return as cutis_bake
CUTIS_API cutis_result cutis_baker_learn(cutis_baker *baker, void **bytes, size_t *size);
/// In place of it: what cutis_baker_learn made of the same model, frames and options. Frames are
/// not read.
/// @return as cutis_bake, and CUTIS_INVALID_ARGUMENT (bytes of another bake)
CUTIS_API cutis_result cutis_baker_take(cutis_baker *baker, const void *bytes, size_t size);
/// Tracks of those of frames [first, end) that were not learned from; after learn or take. Cuts are
/// the caller's: tracks of a frame depend on no other.
/// @param bytes what the baker that finishes is given
/// @return as cutis_bake
CUTIS_API cutis_result cutis_baker_follow(cutis_baker *baker, uint32_t first, uint32_t end,
                                          void **bytes, size_t *size);
/// What cutis_baker_look or cutis_baker_follow made of these frames in another process.
/// @return CUTIS_OK, CUTIS_INVALID_ARGUMENT (bytes of another bake, or other frames)
CUTIS_API cutis_result cutis_baker_put(cutis_baker *baker, uint32_t first, uint32_t end,
                                       const void *bytes, size_t size);
/// The model, after all frames were followed here or put.
/// @return CUTIS_OK, CUTIS_INVALID_ARGUMENT (frames without tracks), CUTIS_OUT_OF_MEMORY
CUTIS_API cutis_result cutis_baker_finish(cutis_baker *baker, cutis_model **out,
                                          cutis_bake_report **report);

#ifdef __cplusplus
}
#endif
#endif
