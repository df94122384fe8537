/// cutis farm: many runs of verbs on all cores, under mpirun, or slice by slice.
#include "farm.h"

#include <errno.h>
#include <limits.h>
#include <unistd.h>

int (*farm_run_mpi)(farm *f);

/// mpirun, or a srun that speaks PMI, has started this process.
static bool under_mpi(void)
{
    static const char *const NAMES[] = { "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK" };
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
        if (getenv(NAMES[i])) return true;
    return false;
}

/// The program with MPI in it takes over: beside this one, or where helpers are installed.
static int become_mpi(cli_app *app)
{
    static const char *const PLACES[] = { "%s/libexec/cutis/cutis-farm",
                                          "%s/../libexec/cutis/cutis-farm" };
    char self[PATH_MAX], path[PATH_MAX + 64];
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    const char *told = getenv("CUTIS_FARM");
    if (told) execv(told, app->arguments);
    self[length > 0 ? length : 0] = 0;
    char *slash = strrchr(self, '/');
    if (slash) *slash = 0;
    for (size_t i = 0; slash && i < sizeof PLACES / sizeof *PLACES; i++) {
        snprintf(path, sizeof path, PLACES[i], self);
        execv(path, app->arguments);
    }
    return app_fail_text(app, "farm: under mpirun it needs the program cutis-farm, which is built "
                              "where MPI is, in libexec/cutis");
}

static int read_slice(farm *f)
{
    const char *text = option_text(f->app, OPTION_PIECE);
    char rest;
    if (!text) return EXIT_GOOD;
    if (strspn(text, "0123456789/") != strlen(text) ||
        sscanf(text, "%u/%u%c", &f->slice, &f->slices, &rest) != 2 || f->slice < 1 ||
        f->slice > f->slices || f->slices > 4000)
        return app_usage(f->app, "--piece %s: want I/N, 1/N to N/N, N at most 4000", text);
    return EXIT_GOOD;
}

static int open_output(farm *f)
{
    const char *out = option_text(f->app, OPTION_OUTPUT);
    if (!out) return app_usage(f->app, "-o FOLDER is missing: where should the results go?");
    TRY(app_make_folder(f->app, out));
    f->out = realpath(out, NULL);
    return f->out ? EXIT_GOOD : app_fail_text(f->app, "%s: %s", out, strerror(errno));
}

static void tell(farm *f)
{
    app_say(f->app, "%s: %u pieces of %u units in %.1f s by %u rank%s%s\n", f->out, f->done_now,
            f->unit_count, app_seconds() - f->began, f->ranks, f->ranks == 1 ? "" : "s",
            f->slices ? "; `cutis farm join` finishes when all slices are there" : "");
}

int farm_run(farm *f, farm_ways *ways)
{
    TRY(farm_open_book(f, false));
    if (option_given(f->app, OPTION_RESUME)) TRY(farm_book_read(f, false));
    TRY(farm_survey(f, ways));
    TRY(farm_cut(f));
    if (option_given(f->app, OPTION_RESUME)) TRY(farm_book_read(f, true));
    // What was put in place is read back: a piece that is not as its sum says is done again.
    for (uint32_t i = 0; i < f->unit_count && option_given(f->app, OPTION_RESUME) && !f->dry; i++)
        farm_recheck_unit(f, &f->units[i]);
    if (!f->dry) TRY(farm_make_places(f));
    TRY(farm_give_out(f, ways));
    for (uint32_t i = 0; i < f->unit_count && !f->slices; i++) // a run before may have ended here
        if (f->units[i].done == f->units[i].piece_count && !f->units[i].finished)
            TRY(farm_finish_unit(f, &f->units[i]));
    // At the end: what a killed run left may still have been closing its files when this one began.
    if (!f->slices && !f->dry) farm_clean(f);
    if (!f->slices && !f->dry) TRY(farm_write_results(f));
    tell(f);
    if (f->failed == 0) return EXIT_GOOD;
    return app_fail_text(f->app, "%s: %u of %u piece%s failed; --resume tries them again", f->out,
                         f->failed, f->wanted, f->wanted == 1 ? "" : "s");
}

static int run_verb(farm *f)
{
    cli_app *app = f->app;
    const bool two = app->operand_count == 2;
    const bool join = two && strcmp(app->operands[0], "join") == 0;
    const bool plan = two && strcmp(app->operands[0], "plan") == 0;
    if (two && !join && !plan)
        return app_usage(app, "unknown %s; want join or plan", app->operands[0]);
    if (!plan && option_given(app, OPTION_DISK)) return app_usage(app, "--disk is for plan");
    if ((join || plan) && option_given(app, OPTION_PIECE))
        return app_usage(app, "--piece is not for %s", app->operands[0]);
    if (f->ranks == 0) f->ranks = 1;
    TRY(read_slice(f));
    if (plan) return farm_plan(f);
    if (farm_run_mpi && !join) return farm_run_mpi(f);
    TRY(open_output(f));
    TRY(farm_read_jobs(f, app->operands[app->operand_count - 1]));
    return join ? farm_join(f) : farm_run_local(f, farm_run);
}

int verb_farm(cli_app *app)
{
    if (under_mpi() && !farm_run_mpi && !option_given(app, OPTION_PIECE) && app->operand_count == 1)
        return become_mpi(app);
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    farm f = { .app = app,
               .ranks = option_count(app, OPTION_RANKS, cores > 0 ? (uint32_t)cores : 1),
               .threads = option_count(app, OPTION_RANK_THREADS, 1),
               .dry = option_given(app, OPTION_DRY_RUN),
               .lock = -1,
               .slice_lock = -1 };
    const int status = run_verb(&f);
    app_progress_done(app);
    farm_close_book(&f);
    farm_release(&f);
    return status;
}
