/// A model being played: a clip or a pose, a binding, and memory for a batch of frames.
#ifndef CUTIS_CLI_PLAY_H
#define CUTIS_CLI_PLAY_H

#include "app.h"

typedef struct play_options {
    int32_t clip;          ///< index, or CUTIS_NONE
    const char *pose_file; ///< or NULL
    uint32_t batch;        ///< frames in one dispatch, >= 1
    const float *controls; ///< method cage: control_frames poses, borrowed; NULL: the cage at rest
    uint32_t control_frames;
    cutis_bind_options bind;
} play_options;

typedef struct play {
    const cutis_model *model; ///< borrowed
    cutis_binding *binding;
    cutis_binding_info info;
    cutis_sampler *sampler; ///< NULL: the pose in `transforms` stays
    uint32_t batch, node_count, target_count, vertex_count;
    const float *controls; ///< method cage: control_frames poses, borrowed; else NULL
    uint32_t control_frames, control_count;
    cutis_float3 *posed;         ///< batch * control_count
    cutis_transform *transforms; ///< batch * node_count
    float *morphs;               ///< batch * target_count
    float *positions, *normals;  ///< batch * vertex_count * 3; normals NULL unless bound with them
    cutis_bounds *bounds;        ///< batch
    double seconds;              ///< spent in cutis_deform so far
} play;

/// `path` is named in error lines. On failure nothing is left to close.
int play_open(cli_app *app, const char *path, const cutis_model *model, cutis_device *device,
              const play_options *options, play *out);
/// Frames [first, first + count) at i / fps seconds into the clip; count <= batch.
cutis_result play_frames(play *play, uint32_t first, uint32_t count, double fps);
/// Deform the poses that stand in `transforms`, `morphs` (method cage: in `posed`).
cutis_result play_deform(play *play, uint32_t count);
void play_close(play *play);

/// Frames of a whole clip at `fps`, the last one at or before its end.
uint32_t clip_frame_count(const cutis_model *model, int32_t clip, double fps);

/// --clip: a clip of the model by name or index, or one from another file; CUTIS_NONE without it.
/// `model` may be replaced by one that has the file's clip too.
int clip_find(cli_app *app, const char *path, cutis_model **model, int32_t *clip);
/// The same for the text of another option.
int clip_find_text(cli_app *app, const char *path, const char *text, cutis_model **model,
                   int32_t *clip);

/// The time of the clip at which linear blending stretches the edges of the rest shape most, among
/// its frames at 30 a second (64 of them at most); 0 without a clip.
int clip_peak(cli_app *app, const char *path, const cutis_model *model, cutis_device *device,
              int32_t clip, double *seconds);

#endif
