/// What `cage` and `reduce` share about cages.
#ifndef CUTIS_CLI_CAGE_H
#define CUTIS_CLI_CAGE_H

#include "cage_poses.h"

/// Reduce the weights of a model's cage as the options of `reduce` say, and write it.
int cage_reduce(cli_app *app, const char *path, const char *output, const cutis_model *model,
                cutis_device *device);

#endif
