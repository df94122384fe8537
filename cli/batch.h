/// A verb for many files: those of folders and all that are named, in threads. Each file is one run
/// of the verb with its own context, whose words are kept and told in the order of the files, so
/// that nothing depends on which thread was faster and no file stops another.
#ifndef CUTIS_CLI_BATCH_H
#define CUTIS_CLI_BATCH_H

#include <cutis/render.h>

#include "app.h"

/// What a run said; each text is malloc'd and zero-terminated, or NULL.
typedef struct batch_said {
    char *words, *lines, *results;
    size_t sizes[3];
} batch_said;

typedef struct batch_job {
    char *shown;     ///< the path as it is printed
    char *path;      ///< as it is opened
    char *full;      ///< the same from the root, links to its folder followed; NULL: no such folder
    char *output;    ///< what it becomes (convert); NULL: nothing
    size_t existing; ///< how much of the output's path, in bytes, was a folder before the run
    char *refusal;   ///< why it is not even tried; or NULL
    int status;      ///< of its run
    bool done;
    batch_said said;
    struct {        ///< for --report
        bool known; ///< the counts are
        uint32_t vertices, joints, clips;
        uint64_t triangles, bytes;
        void *pictures[2]; ///< PNG, light and dark; NULL: none
        size_t picture_sizes[2];
    } looks;
} batch_job;

typedef struct batch {
    cli_app *app;
    int (*run)(cli_app *app);
    batch_job *jobs;
    uint32_t count, capacity, failed;
    uint32_t hidden, other, unreadable, links; ///< what folders have and is no job
} batch;

/// Whether the command line asks for more than one file: several operands, a folder, --to,
/// --report.
bool batch_wanted(const cli_app *app);
/// Run a verb on each file: EXIT_FAILED if any failed. The verb is called with app->batch set and
/// one operand; with --to its -o is the file's own output.
int batch_run(cli_app *app, int (*run)(cli_app *app));

// batch_walk.c
// -------------------------------------------------------------------------------------

/// All files of the operands, folders walked in the order of names' bytes.
int batch_find(batch *b);
/// Where each file goes, below the folder of -o: as it lies below the folder that all operands
/// share. Who would overwrite another's, or a file that the batch reads, is refused.
int batch_name(batch *b, const char *folder, const char *ending);
void batch_release(batch *b);

// batch_report.c
// -----------------------------------------------------------------------------------

/// Look at a file for the report: counts and pictures. `renderer` is the thread's own, made when it
/// is first needed; *blind is set where there is none.
void batch_look(cli_app *app, batch_job *job, cutis_renderer **renderer, bool *blind);
int batch_report(const batch *b, const char *path);

/// The line that tells how a job went: its last one, without the command's name.
void batch_verdict(const batch_job *job, char *out, size_t capacity);

#endif
