/// How the command prints: errors as one line, notes, progress on a terminal. It needs nothing but
/// a context's last error, so that the parser of the command line can be fuzzed by itself.
#include "app.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>

double app_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void app_clean(char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f) *text = '?';
}

// An error is one line whatever a file name or a file's own text contains, and one write:
// stderr has no buffer.
static void print_line(cli_app *app, const char *head, const char *text)
{
    char line[4200];
    int length = snprintf(line, sizeof line - 1, "%s%s", head, text);
    if (length < 0) return;
    if ((size_t)length > sizeof line - 2) length = (int)sizeof line - 2;
    app_clean(line);
    line[length] = '\n';
    app_progress_done(app);
    fflush(stdout);
    FILE *lines = app->lines ? app->lines : stderr;
    fwrite(line, 1, (size_t)length + 1, lines);
    fflush(lines); // on Windows it has one
}

int(app_fail)(cli_app *app, const char *file, cutis_result result)
{
    const char *reason = cutis_context_error(app->context);
    char line[4096];
    if (result == CUTIS_CANCELLED) return app_stopped(app);
    if (!reason || !*reason) reason = cutis_result_text(result);
    if (file && strncmp(reason, file, strlen(file)) != 0)
        snprintf(line, sizeof line, "%s: %s", file, reason);
    else
        snprintf(line, sizeof line, "%s", reason);
    print_line(app, "cutis: ", line);
    return EXIT_FAILED;
}

int(app_result)(cli_app *app, const char *file, cutis_result result)
{
    return result == CUTIS_OK ? EXIT_GOOD : app_fail(app, file, result);
}

int(app_fail_text)(cli_app *app, const char *format, ...)
{
    char line[4096];
    va_list list;
    va_start(list, format);
    vsnprintf(line, sizeof line, format, list);
    va_end(list);
    print_line(app, "cutis: ", line);
    return EXIT_FAILED;
}

int(app_stopped)(cli_app *app)
{
    return app_fail_text(app, "%s: stopped", app->verb->name);
}

int(app_usage)(cli_app *app, const char *format, ...)
{
    char text[2048], line[2400];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (app->verb)
        snprintf(line, sizeof line, "%s: %s (see: cutis help %s)", app->verb->name, text,
                 app->verb->name);
    else
        snprintf(line, sizeof line, "%s (see: cutis help)", text);
    print_line(app, "cutis: ", line);
    return EXIT_USAGE;
}

void app_note(cli_app *app, const char *format, ...)
{
    char line[2048];
    va_list list;
    if (app->quiet) return;
    va_start(list, format);
    vsnprintf(line, sizeof line, format, list);
    va_end(list);
    print_line(app, "cutis: note: ", line);
}

void app_say(const cli_app *app, const char *format, ...)
{
    va_list list;
    if (app->quiet || (app->json && !app->words)) return;
    va_start(list, format);
    vfprintf(app->words ? app->words : stdout, format, list);
    va_end(list);
}

const char *app_style(const cli_app *app, const char *code)
{
    static char ring[4][16];
    static int next;
    if (!app->color) return "";
    char *out = ring[next++ & 3];
    snprintf(out, sizeof ring[0], "\033[%sm", code);
    return out;
}

bool app_progress(cli_app *app, const char *stage, double fraction)
{
    static double last;
    if (app->terminal && !app->quiet) {
        double now = app_seconds();
        if (now - last > 0.05) {
            char bar[31];
            int filled = (int)(fmin(fmax(fraction, 0.0), 1.0) * 30.0);
            for (int i = 0; i < 30; i++) bar[i] = i < filled ? '#' : '.';
            bar[30] = 0;
            fprintf(stderr, "\r\033[K[%s] %3.0f %% %s", bar, 100.0 * fraction, stage);
            fflush(stderr);
            last = now;
            app->bar = true;
        }
    }
    return app_goes_on(stage, fraction);
}

bool app_progress_callback(void *user, const char *stage, double fraction)
{
    return app_progress(user, stage, fraction);
}

void app_progress_done(cli_app *app)
{
    if (!app->bar) return;
    fputs("\r\033[K", stderr);
    fflush(stderr);
    app->bar = false;
}
