/// What the farm says while it works: a line of progress on a terminal, with --json an object a
/// line for dashboards.
#include "farm.h"

static json_out line(void)
{
    return (json_out){ .file = stdout, .compact = true };
}

static uint32_t pieces_done(const farm *f)
{
    uint32_t done = 0;
    for (uint32_t i = 0; i < f->unit_count; i++) done += f->units[i].done;
    return done;
}

void farm_event_start(const farm *f)
{
    if (!f->app->json) return;
    json_out json = line();
    emit(&json, "{ event %s version %s jobs %s output %s ranks %u units %u pieces %u done %u }",
         "start", cutis_version(), f->jobs_name, f->out, f->ranks, f->unit_count, f->piece_count,
         pieces_done(f));
    fflush(stdout);
}

void farm_event_piece(const farm *f, uint32_t piece, const char *rank, const char *error)
{
    const farm_piece *p = &f->pieces[piece];
    const farm_unit *u = &f->units[p->unit];
    if (!f->app->json) return;
    json_out json = line();
    emit(&json, "{ event %s piece %u job %u verb %s file %s clip %s rank %s tries %u seconds %g",
         error ? "failed" : "piece", piece, u->job, u->verb, u->file, u->clip, rank,
         (uint32_t)p->tries, p->seconds);
    if (u->cut) emit(&json, "first %u end %u", p->first, p->end);
    if (error) emit(&json, "error %s", error);
    emit(&json, "}");
    fflush(stdout);
}

bool farm_progress(farm *f, bool last)
{
    const double now = app_seconds(), passed = now - f->began;
    if (!last && now - f->told < (f->app->json ? 1 : 0.1)) return !app_interrupted();
    f->told = now;
    const uint32_t done = f->done_before + f->done_now;
    const double rate = passed > 0 ? f->done_now / passed : 0;
    // By cost, not by count: pieces differ.
    const double left = f->done_cost > 0 ? passed * (f->all_cost - f->done_cost) / f->done_cost : 0;
    if (f->app->json) {
        json_out json = line();
        emit(&json, "{ event %s done %u failed %u pieces %u seconds %g rate %g seconds_left %g }",
             last ? "end" : "progress", done, f->failed, f->wanted, passed, rate,
             last ? 0.0 : left);
        fflush(stdout);
    }
    char stage[128];
    snprintf(stage, sizeof stage, "%u of %u pieces, %.3g a second, %u:%02u left", done, f->wanted,
             rate, (unsigned)left / 60, (unsigned)left % 60);
    if (f->progress_lines && !last && !f->app->json && now - f->noted > 10) {
        if (f->noted > 0) app_note(f->app, "%s", stage);
        f->noted = now;
    }
    return app_progress(f->app, stage, f->wanted ? (double)done / f->wanted : 1);
}
