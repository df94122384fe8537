/// What `handles` passes to its picture and its comparison.
#ifndef CUTIS_CLI_HANDLES_H
#define CUTIS_CLI_HANDLES_H

#include "app.h"

typedef struct handles_job {
    const char *path, *output;
    cutis_model *model, *result;
    cutis_device *device;
    cutis_handle_file *file; ///< NULL with --skeleton
    cutis_handles_options options;
    cutis_handles_report *report;
    double update;              ///< seconds of one frame, linear blending
    bool compared;              ///< the model had weights
    double weight_difference;   ///< mean over vertices of the sum of |difference|
    double position_difference; ///< RMS over its clips, % of the diagonal; NaN without clips
} handles_job;

/// Time one frame of the result, and compare it with the weights the model had.
int handles_compare(cli_app *app, handles_job *job);

/// A sheet with the weights of each handle (at most 24 of them).
int handles_picture(cli_app *app, const handles_job *job, const char *path);

#endif
