/// --clip: a clip of the model by name or index, or one from another file.
#ifndef CUTIS_CLI_CLIP_FIND_H
#define CUTIS_CLI_CLIP_FIND_H

#include "app.h"

/// `model` may be replaced by one that has the file's clip too. `clip` is CUTIS_NONE without
/// --clip.
int clip_find(cli_app *app, const char *path, cutis_model **model, int32_t *clip);

/// The same for the text of another option.
int clip_find_text(cli_app *app, const char *path, const char *text, cutis_model **model,
                   int32_t *clip);

#endif
