/// What the files of `cutis rig` share: the body, its rig, and the motions on it.
#ifndef CUTIS_CLI_RIG_H
#define CUTIS_CLI_RIG_H

#include <cutis/io.h>
#include <cutis/retarget.h>
#include <cutis/rig.h>

#include "app.h"
#include "html.h"

/// A motion, and what became of it.
typedef struct rig_motion {
    const char *path;
    cutis_model *model;
    uint32_t clip; ///< of the result
    cutis_retarget_report moved;
    cutis_rig_motion seen; ///< on the skin
    double seconds;
} rig_motion;

typedef struct rig_job {
    const char *path, *output;
    cutis_model *model, *rigged; ///< rigged: with the clips of the motions
    cutis_device *device;
    cutis_rig_options options;
    cutis_rig_report *report;
    cutis_handle_file *strokes;
    uint32_t *labels;
    uint64_t label_count;
    rig_motion *motions;
    uint32_t motion_count;
    double read_seconds, write_seconds;
} rig_job;

/// rig_motions.c: read the files of --motion; what is not there is said before the work begins.
int rig_motions_read(cli_app *app, rig_job *job);
/// Put them on the rigged body, a clip each: with its own name or its file's, each name once.
int rig_motions_add(cli_app *app, rig_job *job);
void rig_motions_release(rig_job *job);

/// "" where a clip has no name.
const char *rig_clip_name(const rig_job *job, uint32_t motion);

/// The page of --report (rig_report.c), and its pictures (rig_picture.c).
int rig_report(cli_app *app, const rig_job *job, const char *path);
int rig_pictures(cli_app *app, html_page *page, const rig_job *job);

#endif
