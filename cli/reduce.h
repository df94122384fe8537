/// What `reduce` hands to its report.
#ifndef CUTIS_CLI_REDUCE_H
#define CUTIS_CLI_REDUCE_H

#include "app.h"

typedef struct reduce_job {
    const char *path, *output;
    cutis_model *model, *reduced;
    cutis_device *device;
    cutis_reduce_options options;
    cutis_reduction *reduction;
    cutis_weight_summary before, after;
} reduce_job;

/// Write the page that --report names.
int reduce_report(cli_app *app, reduce_job *job, const char *report);

#endif
