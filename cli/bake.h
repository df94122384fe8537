/// What the parts of `cutis bake` share: where frames come from, what is judged, what is said.
#ifndef CUTIS_CLI_BAKE_H
#define CUTIS_CLI_BAKE_H

#include "app.h"
#include "cage_poses.h"

enum {
    BAKE_FRAMES_MOST = 100000,
    BAKE_LEFT_LISTED = 16,
    BAKE_SCORE_PLAIN = 3, ///< others are of cutis_weight_format
    BAKE_SCORES
};

/// Frames of a part: of which sums are made by themselves, and what a process of several does at a
/// time. They depend on how many frames there are, and on nothing else.
static inline uint32_t bake_part_frames(uint32_t frames)
{
    const uint32_t least = 64, most_parts = 128, size = (frames + most_parts - 1) / most_parts;
    return size <= least ? least : (size + least - 1) / least * least;
}

/// Frames that are played in one call, so that launches are few: as many as these bytes hold.
enum { BAKE_BATCH_BYTES = 1 << 25, BAKE_BATCH_MOST = 64 };

/// Frames of one clip, and how well they came out. Distances in the model's units.
typedef struct bake_clip {
    const char *name;
    uint32_t first, count;
    bool held_out;
    double rms, max, plain_rms, plain_max;
    double normal, plain_normal; ///< mean angle to the normals of what was baked, degrees
    uint32_t worst;              ///< frame of the clip with the largest RMS
} bake_clip;

/// Vertices that stay far off, because no joint can follow them.
typedef struct bake_left {
    uint32_t count; ///< vertices that are off by more than `beyond`, RMS over all frames
    uint32_t torn;  ///< of those, at an edge that the frames tear
    double beyond;  ///< in the model's units
    uint32_t worst[BAKE_LEFT_LISTED];  ///< the first of them, farthest first
    double distance[BAKE_LEFT_LISTED]; ///< of the same, RMS
} bake_left;

/// Random poses that nothing was learned from: by drivers, or with helpers at rest.
typedef struct bake_driven {
    uint32_t poses;  ///< 0: none were tried
    uint32_t inputs; ///< joints, summed over drivers
    double rms, max, plain_rms, plain_max;
} bake_driven;

/// How far a model is off: sums of squares, angles of normals (degrees) and the largest distance of
/// each frame; per vertex the sum of squares.
typedef struct bake_score {
    double *sum, *angles, *most, *squares;
} bake_score;
typedef struct bake_shown {
    cutis_model *model; ///< that is played
    bake_score *score;
} bake_shown;

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
    uint32_t threads;  ///< to judge with
    uint32_t deformed; ///< frames there are positions of: those of `frames`, and random poses
    float *normals;    ///< of frames that a method made; NULL: their surfaces have them
    bool plain_judged; ///< which does not change from one try to the next
    bool surfaces;     ///< normals are those of surfaces, also of what is played
    int32_t *clips;
    uint8_t *held_out;
    uint32_t clip_count;
    bake_clip *rows;
    uint8_t *counted; ///< per vertex: of a mesh that is baked
    cutis_bake_report *report;
    double rms, max, plain_rms, plain_max, normal, plain_normal;
    double *series[2];  ///< RMS per frame: baked, plain
    double *squares[2]; ///< sum over frames, per vertex: baked, plain
    const char *player; ///< whose limits these are, or NULL
    cutis_player_limits limits;
    cutis_weight_format format;
    const bake_score *known; ///< by format, found in parts; NULL: not yet
    bake_left left;
    double format_ratios[3]; ///< RMS of weights rounded so over that of floats; 0: not tried
    bake_driven driven;
} bake_job;

/// Frames of all clips, or of a cage's poses, by the method.
int bake_play(cli_app *app, bake_job *job);
/// Frames from files, and the model that they move: --rest, --rig, or the first of them.
int bake_read(cli_app *app, bake_job *job);
/// Play the baked model and the plain one by linear blending against the frames.
/// @param format of the baked one's weights
int bake_judge(cli_app *app, bake_job *job, cutis_weight_format format);
/// The same of frames [first, end) alone and of any models, which begin and end parts: what is
/// found is added to their scores.
int bake_judge_range(cli_app *app, bake_job *job, const bake_shown *shown, uint32_t count,
                     uint32_t first, uint32_t end);
bool bake_score_make(const bake_job *job, memory_list *memory, bake_score *out); ///< zeros
/// What the baked model is compared with.
cutis_model *bake_plain(const bake_job *job);

// The steps of the verb ---------------------------------------------------------------------------

int bake_read_options(cli_app *app, bake_job *job);
int bake_begin(cli_app *app, bake_job *job); ///< device, frames and model, after the options
bool bake_is_bare(const bake_job *job);      ///< there is no skin to compare with
int bake_end(cli_app *app, bake_job *job);   ///< search, judge, write and say
void bake_close(bake_job *job);
/// Weights in fewer bits that are to be tried, as bits of cutis_weight_format; floats always are.
uint32_t bake_formats(const cli_app *app, const bake_job *job);
cutis_result bake_round(const cutis_model *exact, cutis_weight_format format, cutis_model **out);

/// Bake: as few joints and morph targets as keep --max-error, or as many as were asked for, within
/// the limits of the player, and with weights in as few bits as cost nothing.
int bake_search(cli_app *app, bake_job *job);
/// Which player, and what does not need any baking to be beyond its limits.
int bake_read_limits(cli_app *app, bake_job *job);

/// Positions of a frame as the baked model (or the plain one) plays it.
int bake_frame(cli_app *app, const bake_job *job, bool plain, uint32_t frame, float *positions);
/// Write the page that --report names.
int bake_report(cli_app *app, const bake_job *job, const char *report);

/// After bake_judge.
int bake_find_left(cli_app *app, bake_job *job);
/// Where the surface tears, on stderr; the rest as one of the results.
void bake_note_left(cli_app *app, const bake_job *job);
void bake_say_left(const cli_app *app, const bake_job *job);
void bake_emit_left(json_out *json, const bake_job *job);

/// How many frames are played in one call.
uint32_t bake_batch(const bake_job *job);
/// Frames of clips: random poses may stand behind them.
uint32_t bake_clip_frames(const bake_job *job);
/// What nobody sees: a hundred-thousandth or two of where vertices are.
double bake_unseen(const bake_job *job);
/// Whether a clip came out worse than by plain blending, beyond rounding.
bool bake_is_worse(const bake_job *job, const bake_clip *clip);
/// All clips as one row.
bake_clip bake_all(const bake_job *job);
/// Random poses to judge by and, with --drivers, to learn from, behind the frames of clips.
int bake_add_poses(cli_app *app, bake_job *job);
/// Play the poses to judge by.
int bake_judge_driven(cli_app *app, bake_job *job);

/// Where the vertices are to be in a frame: valid until the next call. Of one that cannot be read
/// anything; bake_check_targets says so afterwards.
const float *bake_target(const bake_job *job, uint32_t frame);
int bake_check_targets(cli_app *app, const bake_job *job);
void bake_stream_close(bake_stream *stream); ///< NULL is fine

int bake_no_memory(cli_app *app, const bake_job *job);

#endif
