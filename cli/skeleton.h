/// What the files of `cutis skeleton` share.
#ifndef CUTIS_CLI_SKELETON_H
#define CUTIS_CLI_SKELETON_H

#include <cutis/skeleton.h>

#include "app.h"

typedef struct skeleton_job {
    const char *path, *output, *source;
    cutis_skeleton_options options;
    uint32_t *labels; ///< of file:LABELS, or NULL
    uint64_t label_count;
    cutis_model *model, *result;
    cutis_skeleton_report *report;
} skeleton_job;

/// Parts, boxes and skeleton, before and after refinement, side by side.
int skeleton_picture(cli_app *app, const skeleton_job *job, const char *path);

#endif
