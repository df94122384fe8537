/// measure --plot.
#ifndef CUTIS_CLI_PATCHES_PLOT_H
#define CUTIS_CLI_PATCHES_PLOT_H

#include "app.h"

/// Plots of a model's joint under --plot's name: OUT_volume, OUT_curvature, OUT_patch.
int measure_plot(cli_app *app);

#endif
