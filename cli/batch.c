/// Running a verb on many files. Workers take jobs in order; the main thread tells them in the same
/// order, as far as they are done.
#include "batch.h"
#include "threads.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct crew {
    batch *batch;
    atomic_uint next;
    pthread_mutex_t lock;
    pthread_cond_t done; // a job is
} crew;

typedef struct worker {
    crew *crew;
    pthread_t thread;
    cli_app *app; // of the job at work
    cutis_renderer *renderer;
    bool blind; // there is no renderer
} worker;

bool batch_wanted(const cli_app *app)
{
    struct stat info;
    if (app->batch || app->operand_count == 0) return false;
    return app->operand_count > 1 || option_given(app, OPTION_REPORT) ||
           option_given(app, OPTION_TO) ||
           (stat(app->operands[0], &info) == 0 && S_ISDIR(info.st_mode));
}

// One file ---------------------------------------------------------------------------------------

static bool keep_going(void *user, const char *stage, double fraction)
{
    (void)user, (void)stage, (void)fraction;
    return !app_interrupted();
}

static void note_line(void *user, const char *line)
{
    const worker *w = user;
    app_note(w->app, "%s", line);
}

static int make_folder_of(cli_app *app, const char *path)
{
    char *folder = strndup(path, (size_t)(strrchr(path, '/') - path));
    const int status = folder ? app_make_folder(app, folder) : EXIT_FAILED;
    free(folder);
    return status;
}

static int run_verb(const worker *w, batch_job *job)
{
    if (job->refusal) return app_fail_text(w->app, "%s: %s", job->path, job->refusal);
    if (job->output && make_folder_of(w->app, job->output) != EXIT_GOOD) return EXIT_FAILED;
    return w->crew->batch->run(w->app);
}

/// The app of one file: the command's own, but for what it says and where.
static void run_job(worker *w, batch_job *job, cutis_context *context)
{
    cli_app app = *w->crew->batch->app;
    const char *operand = job->path;
    FILE *said[3] = { open_memstream(&job->said.words, &job->said.sizes[0]),
                      open_memstream(&job->said.lines, &job->said.sizes[1]),
                      open_memstream(&job->said.results, &job->said.sizes[2]) };
    app.context = context;
    app.operands = &operand;
    app.operand_count = 1;
    app.batch = app.json = true;
    app.quiet = app.color = app.terminal = app.bar = false;
    app.words = said[0], app.lines = said[1], app.results = said[2];
    app.values[OPTION_OUTPUT].set = job->output != NULL;
    app.values[OPTION_OUTPUT].text = job->output;
    w->app = &app;
    app_forget_notes();
    job->status = said[0] && said[1] && said[2] ? run_verb(w, job) : EXIT_FAILED;
    app_forget_notes();
    if (option_given(&app, OPTION_REPORT) && !app_interrupted() && said[1]) {
        // Whatever it has to say, the run has said.
        FILE *nothing = fopen("/dev/null", "w");
        app.lines = nothing ? nothing : app.lines;
        batch_look(&app, job, &w->renderer, &w->blind);
        app_forget_notes();
        if (nothing) fclose(nothing);
    }
    for (int k = 0; k < 3; k++)
        if (said[k]) fclose(said[k]);
    w->app = NULL;
}

static void *work(void *data)
{
    worker *w = data;
    crew *c = w->crew;
    cutis_context *context = NULL;
    const cutis_context_options options = {
        .progress = keep_going,
        .log = note_line,
        .log_user = w,
        .replace_read_only = option_given(c->batch->app, OPTION_FORCE),
    };
    const bool ready = cutis_context_create(&options, &context) == CUTIS_OK;
    for (uint32_t i; (i = atomic_fetch_add(&c->next, 1)) < c->batch->count;) {
        batch_job *job = &c->batch->jobs[i];
        job->status = EXIT_FAILED;
        if (ready && !app_interrupted()) run_job(w, job, context);
        pthread_mutex_lock(&c->lock);
        job->done = true;
        pthread_cond_signal(&c->done);
        pthread_mutex_unlock(&c->lock);
    }
    cutis_renderer_destroy(w->renderer);
    cutis_context_destroy(context);
    return NULL;
}

// Telling ----------------------------------------------------------------------------------------

static const char NAME[] = "cutis: ", NOTE[] = "cutis: note: ";

/// The next line of a text; `text` moves behind it. NULL: no more.
static const char *next_line(const char **text, size_t *length)
{
    return *text ? next_entry(text, "\n", length) : NULL;
}

/// The next note among a run's lines, `text` moves behind it; what is said twice in a row (a file
/// is looked at twice) counts once. false: no more.
static bool next_note(const char **text, char note[4096])
{
    const char *line;
    for (size_t length; (line = next_line(text, &length));) {
        char next[4096];
        if (strncmp(line, NOTE, strlen(NOTE)) != 0) continue;
        snprintf(next, sizeof next, "%.*s", (int)length - (int)strlen(NOTE), line + strlen(NOTE));
        if (strcmp(next, note) == 0) continue;
        return memcpy(note, next, sizeof next), true;
    }
    return false;
}

void batch_verdict(const batch_job *job, char *out, size_t capacity)
{
    const bool good = job->status == EXIT_GOOD;
    const char *text = good ? job->said.words : job->said.lines;
    const char *line, *last = NULL;
    size_t length, size = 0;
    while ((line = next_line(&text, &length)))
        if (good || strncmp(line, NOTE, strlen(NOTE)) != 0) last = line, size = length;
    if (!last) last = good ? "done" : "not enough memory", size = strlen(last);
    if (strncmp(last, NAME, strlen(NAME)) == 0) last += strlen(NAME), size -= strlen(NAME);
    snprintf(out, capacity, "%.*s", (int)(size < 4000 ? size : 4000), last);
    app_clean(out);
}

static void tell_text(cli_app *app, const batch_job *job)
{
    char verdict[4096], note[4096] = "";
    const char *text = job->said.lines;
    const bool good = job->status == EXIT_GOOD;
    batch_verdict(job, verdict, sizeof verdict);
    app_progress_done(app);
    while (next_note(&text, note)) app_note(app, "%s", note);
    if (app->quiet && !good) (void)app_fail_text(app, "%s", verdict);
    const bool begins = strncmp(verdict, job->shown, strlen(job->shown)) == 0;
    app_say(app, "%s%-8s%s%s%s%s\n", app_style(app, good ? "32" : "31"), good ? "ok" : "failed",
            app_style(app, "0"), begins ? "" : job->shown, begins ? "" : ": ", verdict);
}

static void tell_json(json_out *json, const batch_job *job)
{
    char verdict[4096], note[4096] = "";
    const char *text = job->said.lines;
    const bool good = job->status == EXIT_GOOD;
    batch_verdict(job, verdict, sizeof verdict);
    emit(json, "{ file %s", job->path);
    if (job->output) emit(json, "output %s", job->output);
    emit(json, "status %s error %s notes [", good ? "ok" : "failed", good ? NULL : verdict);
    while (next_note(&text, note)) emit_string(json, NULL, note);
    emit_end(json);
    emit_raw(json, "result", job->said.results && *job->said.results ? job->said.results : "null");
    emit_end(json);
}

static void tell_skipped(const batch *b, char *out, size_t capacity)
{
    const struct {
        uint32_t count;
        const char *what;
    } kinds[] = { { b->hidden, "hidden" },
                  { b->other, "of other kinds" },
                  { b->unreadable, "unreadable folders" },
                  { b->links, "links that lead nowhere or back" } };
    size_t used = 0;
    *out = 0;
    for (int i = 0; i < 4; i++)
        if (kinds[i].count && used < capacity)
            used += (size_t)snprintf(out + used, capacity - used, "%s%u %s",
                                     used ? ", " : "; skipped: ", kinds[i].count, kinds[i].what);
}

static int sum_up(const batch *b)
{
    char skipped[256];
    json_out json = { .file = stdout };
    tell_skipped(b, skipped, sizeof skipped);
    app_say(b->app, "%u file%s: %u ok, %u failed%s\n", b->count, b->count == 1 ? "" : "s",
            b->count - b->failed, b->failed, skipped);
    if (b->app->json) { // only now: Ctrl-C must not leave half a document
        emit(&json, "{ verb %s files [", b->app->verb->name);
        for (uint32_t i = 0; i < b->count; i++) tell_json(&json, &b->jobs[i]);
        emit(&json,
             "] total %u ok %u failed %u skipped { hidden %u other %u unreadable %u links %u } }",
             b->count, b->count - b->failed, b->failed, b->hidden, b->other, b->unreadable,
             b->links);
    }
    if (b->failed == 0) return EXIT_GOOD;
    return app_fail_text(b->app, "%u of %u file%s failed", b->failed, b->count,
                         b->count == 1 ? "" : "s");
}

/// Wait for jobs in their order and tell each; false once Ctrl-C was pressed.
static bool tell_jobs(crew *c)
{
    batch *b = c->batch;
    char stage[64];
    for (uint32_t i = 0; i < b->count; i++) {
        pthread_mutex_lock(&c->lock);
        while (!b->jobs[i].done) pthread_cond_wait(&c->done, &c->lock);
        pthread_mutex_unlock(&c->lock);
        if (app_interrupted()) return false;
        b->failed += b->jobs[i].status != EXIT_GOOD;
        if (!b->app->json) tell_text(b->app, &b->jobs[i]);
        snprintf(stage, sizeof stage, "%u of %u files", i + 1, b->count);
        app_progress(b->app, stage, (i + 1.0) / b->count);
    }
    app_progress_done(b->app);
    return true;
}

static int run_jobs(batch *b)
{
    enum { MOST = 256 };
    static worker workers[MOST];
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    uint32_t wanted = option_count(b->app, OPTION_THREADS, cores > 0 ? (uint32_t)cores : 1);
    uint32_t started = 0;
    crew c = { .batch = b };
    if (wanted > b->count) wanted = b->count;
    if (wanted > MOST) wanted = MOST;
    pthread_mutex_init(&c.lock, NULL);
    pthread_cond_init(&c.done, NULL);
    for (; started < wanted; started++) {
        workers[started] = (worker){ .crew = &c };
        if (pthread_create(&workers[started].thread, NULL, work, &workers[started]) != 0) break;
    }
    int status = started ? EXIT_GOOD : app_fail_text(b->app, "no thread can be started");
    if (started && !tell_jobs(&c)) status = app_stopped(b->app);
    for (uint32_t i = 0; i < started; i++) pthread_join(workers[i].thread, NULL);
    pthread_cond_destroy(&c.done);
    pthread_mutex_destroy(&c.lock);
    const char *report = option_text(b->app, OPTION_REPORT);
    if (status == EXIT_GOOD && report) status = batch_report(b, report);
    if (status == EXIT_GOOD) status = sum_up(b);
    return status;
}

/// Folders that this run made for files which failed: gone again where nothing is in them.
static void remove_empty(const batch *b)
{
    for (uint32_t i = 0; i < b->count; i++) {
        char *path = b->jobs[i].output;
        if (!path || b->jobs[i].status == EXIT_GOOD) continue;
        for (char *slash; (slash = strrchr(path, '/')) && slash > path + b->jobs[i].existing;) {
            *slash = 0;
            if (rmdir(path) != 0) break;
        }
    }
}

int batch_run(cli_app *app, int (*run)(cli_app *app))
{
    batch b = { .app = app, .run = run };
    const char *to = option_text(app, OPTION_TO), *output = option_text(app, OPTION_OUTPUT);
    const char *report = option_text(app, OPTION_REPORT);
    int status = EXIT_GOOD;
    struct stat info;
    const bool made = to && stat(output, &info) != 0;
    if (option_given(app, OPTION_SCALE) && option_given(app, OPTION_UNITS))
        return app_usage(app, "--scale and --units exclude each other");
    if (report) status = app_check_output_as(app, "--report", report, ".html");
    if (status == EXIT_GOOD && to) status = app_make_folder(app, output);
    if (status == EXIT_GOOD) status = batch_find(&b);
    if (status == EXIT_GOOD && to) status = batch_name(&b, output, to);
    if (status == EXIT_GOOD) status = run_jobs(&b);
    if (to) remove_empty(&b);
    if (made) rmdir(output); // stays unless it is empty
    batch_release(&b);
    return status;
}
