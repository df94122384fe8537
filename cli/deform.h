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

/// deform --method patches.
int deform_patches(cli_app *app);

#endif
