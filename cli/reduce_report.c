/// The page of `reduce`. Filled in below.
#include "reduce.h"

int reduce_report(cli_app *app, reduce_job *job, const char *report)
{
    (void)job;
    return app_fail_text(app, "%s: no report", report);
}
