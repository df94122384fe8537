/// What the parts of `cutis bake` share: where frames come from, what is judged, what is said.
#ifndef CUTIS_CLI_BAKE_H
#define CUTIS_CLI_BAKE_H

#include "app.h"
#include "cage_poses.h"

enum { BAKE_FRAMES_MOST = 100000 };

/// Frames of one clip, and how well they came out. Distances in the model's units.
typedef struct bake_clip {
    const char *name;
    uint32_t first, count;
    bool held_out;
    double rms, max, plain_rms, plain_max;
    uint32_t worst; ///< frame of the clip with the largest RMS
} bake_clip;

/// Frames that stay in their file.
typedef struct bake_stream bake_stream;

typedef struct bake_job {
    const char *path, *output;
    bool sequence; ///< frames from files, not from a method
    cutis_method method;
    double fps, max_error;
    cutis_device *device;
    cutis_model *model; ///< that joints are added to
    cutis_model *plain; ///< what it is compared with, where it is not the model: one rigid motion
    cutis_model *baked;
    cage_poses cage;
    cutis_bake_options options;
    cutis_bake_frames frames; ///< of the arrays below
    bake_stream *stream;      ///< NULL: they are in memory
    cutis_transform *poses;
    float *positions, *times;
    int32_t *clips;
    uint8_t *held_out;
    uint32_t clip_count;
    bake_clip *rows;
    uint8_t *counted; ///< per vertex: of a mesh that is baked
    cutis_bake_report *report;
    double rms, max, plain_rms, plain_max;
    double *series[2]; ///< RMS per frame: baked, plain
} bake_job;

/// Frames of all clips, or of a cage's poses, by the method.
int bake_play(cli_app *app, bake_job *job);
/// Frames from files, and the model that they move: --rest, --rig, or the first of them.
int bake_read(cli_app *app, bake_job *job);
/// Play the baked model and the plain one by linear blending against the frames.
int bake_judge(cli_app *app, bake_job *job);

/// Positions of a frame as the baked model (or the plain one) plays it.
int bake_frame(cli_app *app, const bake_job *job, bool plain, uint32_t frame, float *positions);
/// Write the page that --report names.
int bake_report(cli_app *app, const bake_job *job, const char *report);

/// Where the vertices are to be in a frame: valid until the next call.
const float *bake_target(const bake_job *job, uint32_t frame);
void bake_stream_close(bake_stream *stream); ///< NULL is fine

int bake_no_memory(cli_app *app, const bake_job *job);

#endif
