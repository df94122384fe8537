/// What the methods of deform share.
#ifndef CUTIS_CLI_DEFORM_H
#define CUTIS_CLI_DEFORM_H

#include "app.h"

/// --frames and --fps of a model with clips, none of which is named, are wrong usage: the rest pose
/// over and over is not what was meant. The line names the clips.
int deform_check_motion(cli_app *app, const cutis_model *model, bool moves);
/// --frames over a clip of `whole` frames: [first, end).
int deform_frame_range(cli_app *app, const char *path, uint32_t whole, uint32_t *first,
                       uint32_t *end);

/// A deform in ranges of frames, for the farm: what `cutis deform` would write, piece by piece.
typedef struct deform_job deform_job;
typedef struct deform_extent {
    uint32_t first, end, vertex_count; ///< frames [first, end)
} deform_extent;
/// Read what the command line names; `bind`: to play it, too. deform_close in any case.
int deform_open(cli_app *app, bool bind, deform_extent *extent, deform_job **out);
/// What gets a frame: positions, and normals where they are asked for; an exit status.
typedef int (*deform_put)(void *user, uint32_t frame, const float *positions, const float *normals);
int deform_range(cli_app *app, deform_job *job, uint32_t first, uint32_t end, deform_put put,
                 void *user);
void deform_close(cli_app *app, deform_job *job); ///< NULL is fine

/// deform --method patches.
int deform_patches(cli_app *app);

#endif
