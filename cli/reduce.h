/// What `reduce` passes to its report.
#ifndef CUTIS_CLI_REDUCE_H
#define CUTIS_CLI_REDUCE_H

#include "app.h"

#define CLIPS_MAX 256 ///< clips that can be named in one list

typedef struct clip_list {
    uint32_t count, clips[CLIPS_MAX];
} clip_list;

typedef struct reduce_job {
    const char *path, *output;
    cutis_model *model, *reduced;
    cutis_device *device;
    clip_list learn, judge; ///< what the options below point to
    cutis_reduce_options options;
    cutis_reduce_report *reduction;
    uint8_t *unneeded; ///< per node: it is no longer a joint
    cutis_weight_summary before, after;
} reduce_job;

/// The rows of a report, as a table and as JSON (with a figure per frame).
const char *reduce_error_text(double value, char text[32]);
void reduce_say_rows(const cli_app *app, const cutis_reduce_row *rows, uint32_t count);
void reduce_emit_row(json_out *json, const cutis_reduce_row *row, uint32_t frame_count);

/// Reduce the weights of a model's cage as the options say, and write it.
int cage_reduce(cli_app *app, const char *path, const char *output, const cutis_model *model,
                cutis_device *device);

/// Bounds, whole numbers, merged joints (reduce_limits.c).
struct html_page;
void reduce_say_limits(const cli_app *app, const reduce_job *job);
void reduce_emit_limits(json_out *json, const reduce_job *job);
void reduce_page_limits(struct html_page *page, const reduce_job *job);

/// Write the page that --report names.
int reduce_report(cli_app *app, reduce_job *job, const char *report);

#endif
