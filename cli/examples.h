/// The arm's eight example poses (docs/spec/pose-space.md 11.14).
#ifndef CUTIS_CLI_EXAMPLES_H
#define CUTIS_CLI_EXAMPLES_H

#include "app.h"

/// Replace *model (an arm) by one that also has the clip `examples`, and write the eight shapes
/// into `folder`: example_0000.obj ... example_0007.obj and examples.npy, in world space of their
/// poses.
int examples_write(cli_app *app, cutis_model **model, const char *folder);

#endif
