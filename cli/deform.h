/// What the methods of deform share.
#ifndef CUTIS_CLI_DEFORM_H
#define CUTIS_CLI_DEFORM_H

#include "app.h"

/// --frames over a clip of `whole` frames: [first, end).
int deform_frame_range(cli_app *app, const char *path, uint32_t whole, uint32_t *first,
                       uint32_t *end);

/// deform --method patches.
int deform_patches(cli_app *app);

#endif
