/// Steps of convert that check and synth share.
#ifndef CUTIS_CLI_CONVERT_H
#define CUTIS_CLI_CONVERT_H

#include "app.h"

/// What --weights and --ascii say.
cutis_write_options write_options(const cli_app *app);
/// EXIT_USAGE where they say something about a format that has no such choice.
int check_write_options(cli_app *app, const char *output);
/// Replace *model by one with at most --influences weights a vertex, if that was asked for.
int limit_influences(cli_app *app, const char *path, cutis_model **model);

#endif
