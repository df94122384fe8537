/// Kernels compiled before anybody waits for them.
#ifndef CUTIS_CLI_PREPARE_H
#define CUTIS_CLI_PREPARE_H

#include "app.h"

/// cutis devices --prepare: what a GPU runs is compiled into the user's cache, by doing each kind
/// of work once on a small body.
int prepare_devices(cli_app *app);

#endif
