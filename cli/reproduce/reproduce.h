/// The five source papers' tables and figures made again: what the papers' files fill in and the
/// page and reproduce.json show. A cell holds the published figure, the paper's own method run
/// here, and ours; what is not a number there was not published, or not measured.
#ifndef CUTIS_CLI_REPRODUCE_H
#define CUTIS_CLI_REPRODUCE_H

#include "html.h"
#include "picture.h"

enum { REPRODUCE_METRICS = 6, REPRODUCE_ROWS = 12, REPRODUCE_TABLES = 32, REPRODUCE_NOTES = 16 };

typedef struct reproduce_cell {
    double paper, own, ours; ///< NAN: none
} reproduce_cell;

typedef enum reproduce_sense {
    REPRODUCE_PLAIN = 0, ///< a size
    REPRODUCE_LESS = 1,  ///< less is better: a time, an error
    REPRODUCE_MORE = 2,  ///< more is better: a rate
} reproduce_sense;

typedef struct reproduce_metric {
    const char *name, *unit; ///< unit NULL: a number
    reproduce_sense sense;
} reproduce_metric;

/// One table of a paper, or figures of its text or of a plot.
typedef struct reproduce_table {
    const char *paper; ///< its key
    const char *place; ///< "Table 3"
    const char *title;
    const char *own;  ///< what "its method here" is; NULL: no such column
    const char *ours; ///< what "ours" is
    char note[512];
    uint32_t metric_count, row_count;
    reproduce_metric metrics[REPRODUCE_METRICS];
    char labels[REPRODUCE_ROWS][64]; ///< as in the paper
    char bodies[REPRODUCE_ROWS][64]; ///< what we measured on; empty: the same for all
    reproduce_cell cells[REPRODUCE_ROWS][REPRODUCE_METRICS];
} reproduce_table;

/// Something a paper has and this page does not.
typedef struct reproduce_note {
    const char *paper, *what, *why;
} reproduce_note;

typedef struct reproduce_job {
    cli_app *app;
    bool quick;
    double budget;        ///< seconds for one timing
    const char *paper;    ///< key of the one being made
    cutis_device *device; ///< all threads
    cutis_device *single; ///< one thread: what the papers' CPU rows are
    cutis_device *gpu;    ///< what --device names, if it is no CPU; or NULL
    cutis_renderer *renderer;
    bool spoken; ///< the error line was printed
    html_page page;
    uint32_t table_count, note_count;
    reproduce_table tables[REPRODUCE_TABLES];
    reproduce_note notes[REPRODUCE_NOTES];
} reproduce_job;

/// Measure one paper and write its part of the page.
cutis_result reproduce_sbs(reproduce_job *job);
cutis_result reproduce_pose_space(reproduce_job *job);
cutis_result reproduce_reduction(reproduce_job *job);
cutis_result reproduce_handles(reproduce_job *job);
cutis_result reproduce_patches(reproduce_job *job);

/// A new, empty table; shown by reproduce_show. Never NULL: the papers have fewer than there is
/// space for.
reproduce_table *reproduce_table_add(reproduce_job *job, const char *place, const char *title);
void reproduce_metric_add(reproduce_table *table, const char *name, const char *unit,
                          reproduce_sense sense);
/// A new row, all cells empty. `body` may be NULL; the label is printed.
reproduce_cell *reproduce_row_add(reproduce_table *table, const char *body, const char *label, ...)
    __attribute__((format(printf, 3, 4)));
void reproduce_show(reproduce_job *job, const reproduce_table *table);
/// Say what is not there, and why.
void reproduce_missing(reproduce_job *job, const char *what, const char *why);
bool reproduce_progress(reproduce_job *job, const char *stage, double fraction);

/// What a step of the command that speaks for itself came to.
cutis_result reproduce_status(reproduce_job *job, int status);
/// Triangles and rest positions.
cutis_result reproduce_rest(reproduce_job *job, const cutis_model *model, rest_shape *out);

/// Pictures side by side with a caption, all framed alike. `legend` (its ends and map colour
/// `values`) may be NULL.
cutis_result reproduce_pictures(reproduce_job *job, const picture_view *views, uint32_t count,
                                cutis_camera camera, const cutis_legend *legend,
                                const char *caption);

#endif
