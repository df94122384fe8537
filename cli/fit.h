/// A fit of weights in parts, for the farm: what `cutis fit --weights-only` would write, learned
/// part by part in any process, and put together by one.
#ifndef CUTIS_CLI_FIT_H
#define CUTIS_CLI_FIT_H

#include "app.h"

typedef struct fit_job fit_job;

/// Read the model that the command line names, and say how many parts it has. fit_close in any
/// case.
int fit_open(cli_app *app, uint32_t *parts, uint32_t *vertices, fit_job **out);
/// Read the examples, and choose how weights are learned: what comes before the first part.
int fit_prepare(cli_app *app, fit_job *job);
/// Learn a part; cutis_memory_free(app->context, *bytes, *size).
int fit_learn(cli_app *app, fit_job *job, uint32_t part, void **bytes, size_t *size);
/// Put all parts together, in their order: write the model and say what `cutis fit` says.
int fit_finish(cli_app *app, fit_job *job, uint32_t count, const void *const *parts,
               const size_t *sizes);
void fit_close(fit_job *job); ///< NULL is fine

#endif
