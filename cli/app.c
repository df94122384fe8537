/// The steps all verbs share: errors as one line, progress on a terminal, reading, devices, output
/// checks.
#include "app.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t interrupted;

static void on_interrupt(int signal_number)
{
    (void)signal_number;
    interrupted = 1;
}

void app_catch_interrupt(void)
{
    // SA_RESETHAND: the first Ctrl-C asks, the second one kills.
    struct sigaction action = { .sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND };
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

double app_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// An error is one line whatever a file name or a file's own text contains.
static void print_line(cli_app *app, const char *head, const char *text)
{
    app_progress_done(app);
    fflush(stdout);
    fputs(head, stderr);
    for (const char *s = text; *s; s++)
        fputc((unsigned char)*s < 0x20 || *s == 0x7f ? '?' : *s, stderr);
    fputc('\n', stderr);
}

int(app_fail)(cli_app *app, const char *file, cutis_result result)
{
    const char *reason = cutis_context_error(app->context);
    char line[4096];
    if (!reason || !*reason) reason = cutis_result_text(result);
    if (result == CUTIS_CANCELLED) reason = "stopped";
    if (file && strncmp(reason, file, strlen(file)) != 0)
        snprintf(line, sizeof line, "%s: %s", file, reason);
    else
        snprintf(line, sizeof line, "%s", reason);
    print_line(app, "cutis: ", line);
    return EXIT_FAILED;
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
    if (app->quiet || app->json) return;
    va_start(list, format);
    vprintf(format, list);
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
    return !interrupted;
}

bool app_interrupted(void)
{
    return interrupted != 0;
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

bool has_extension(const char *path, const char *list)
{
    const char *dot = strrchr(path, '.');
    if (!dot || strchr(dot, '/')) return false;
    size_t length = strlen(dot);
    for (const char *word = list; *word;) {
        size_t span = strcspn(word, " ");
        if (span == length && strncasecmp(word, dot, span) == 0) return true;
        word += span;
        word += *word == ' ';
    }
    return false;
}

int app_read_model(cli_app *app, const char *path, cutis_model **out)
{
    cutis_read_options options = {
        .gate = option_given(app, OPTION_FIX) ? CUTIS_GATE_REPAIR : CUTIS_GATE_REFUSE,
        .unit_scale = (float)option_number(app, OPTION_SCALE, 0.0),
    };
    if (has_extension(path, ".npy .pc2"))
        return app_fail_text(app, "%s: this is an array, not a model", path);
    if (option_given(app, OPTION_SCALE) && has_extension(path, ".gltf .glb"))
        return app_usage(app, "--scale: %s has its own unit, the metre", path);
    cutis_result result = cutis_model_read(app->context, path, &options, out);
    app_progress_done(app);
    if (result != CUTIS_OK) return app_fail(app, path, result);
    const cutis_issue *issues;
    uint32_t repairs = cutis_model_issues(*out, &issues);
    if (repairs > 0)
        app_note(app, "%s: %u repair%s; the first: %s: %s", path, repairs, repairs == 1 ? "" : "s",
                 issues[0].place, issues[0].text);
    return EXIT_GOOD;
}

int app_check_output(cli_app *app, const char *path)
{
    char folder[4096];
    struct stat info;
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) : 0;
    if (length >= sizeof folder) return app_fail_text(app, "%s: the name is too long", path);
    memcpy(folder, path, length);
    folder[length] = 0;
    if (!slash) strcpy(folder, ".");
    if (slash == path) strcpy(folder, "/");
    if (stat(folder, &info) != 0 || !S_ISDIR(info.st_mode))
        return app_fail_text(app, "%s: the folder %s does not exist", path, folder);
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode))
        return app_fail_text(app, "%s: this is a folder; name a file in it", path);
    return EXIT_GOOD;
}

int app_check_output_as(cli_app *app, const char *option, const char *path, const char *endings)
{
    char text[128] = "";
    if (has_extension(path, endings)) return app_check_output(app, path);
    for (const char *word = endings; *word;) {
        size_t span = strcspn(word, " "), used = strlen(text);
        const char *before = !used ? "" : word[span] ? ", " : " or ";
        snprintf(text + used, sizeof text - used, "%s%.*s", before, (int)span, word);
        word += span + (word[span] == ' ');
    }
    return app_usage(app, "%s %s: want a name that ends in %s", option, path, text);
}

int app_output(cli_app *app, const char **out)
{
    *out = option_text(app, OPTION_OUTPUT);
    if (!*out) return app_usage(app, "-o FILE is missing: where should the result go?");
    return app_check_output(app, *out);
}

int app_output_as(cli_app *app, const char *endings, const char **out)
{
    *out = option_text(app, OPTION_OUTPUT);
    if (!*out) return app_usage(app, "-o FILE is missing: where should the result go?");
    return app_check_output_as(app, "-o", *out, endings);
}

int app_device_options(cli_app *app, cutis_device_options *out)
{
    const char *text = option_text(app, OPTION_DEVICE), *isa = option_text(app, OPTION_ISA);
    *out = (cutis_device_options){ .thread_count = option_count(app, OPTION_THREADS, 0) };
    if (text) {
        size_t length = strcspn(text, ":");
        bool found = false;
        for (int kind = CUTIS_DEVICE_CPU; kind <= CUTIS_DEVICE_CUDA; kind++) {
            const char *name = cutis_device_kind_name((cutis_device_kind)kind);
            if (strlen(name) != length || strncmp(name, text, length) != 0) continue;
            out->kind = (cutis_device_kind)kind;
            found = true;
        }
        char *end = NULL;
        unsigned long index = text[length] ? strtoul(text + length + 1, &end, 10) : 0;
        if (end && (*end || text[length + 1] < '0' || text[length + 1] > '9' || index > 1000))
            found = false;
        if (!found) return app_usage(app, "--device %s: want cpu, opencl or cuda, or cuda:1", text);
        out->index = (uint32_t)index;
    }
    for (int i = CUTIS_ISA_AUTO; isa && i <= CUTIS_ISA_WASM; i++)
        if (strcmp(isa, cutis_isa_name((cutis_isa)i)) == 0) out->isa = (cutis_isa)i;
    if (out->kind != CUTIS_DEVICE_CPU && (isa || out->thread_count))
        return app_usage(app, "--isa and --threads are for the device cpu");
    return EXIT_GOOD;
}

int app_open_device(cli_app *app, cutis_device **out)
{
    cutis_device_options options;
    int status = app_device_options(app, &options);
    if (status != EXIT_GOOD) return status;
    cutis_result result = cutis_device_create(app->context, &options, out);
    if (result == CUTIS_OK) return EXIT_GOOD;
    const char *name = option_text(app, OPTION_DEVICE);
    return app_fail(app, name ? name : "cpu", result);
}

int app_make_folder(cli_app *app, const char *path)
{
    char partial[4096];
    size_t length = strlen(path);
    struct stat info;
    if (length == 0 || length >= sizeof partial)
        return app_fail_text(app, "%s: not a name for a folder", path);
    for (size_t i = 1; i <= length; i++) {
        if (path[i] != '/' && path[i] != 0) continue;
        memcpy(partial, path, i);
        partial[i] = 0;
        if (mkdir(partial, 0777) != 0 && errno != EEXIST)
            return app_fail_text(app, "%s: the folder cannot be made: %s", partial,
                                 strerror(errno));
    }
    if (stat(path, &info) != 0 || !S_ISDIR(info.st_mode))
        return app_fail_text(app, "%s: this is not a folder", path);
    return EXIT_GOOD;
}

void emit_bounds(json_out *json, const char *key, cutis_bounds bounds)
{
    const float *ends[2] = { &bounds.min.x, &bounds.max.x };
    emit_object(json, key);
    for (int i = 0; i < 2; i++) {
        emit_array(json, i == 0 ? "min" : "max");
        for (int k = 0; k < 3; k++) emit_number(json, NULL, ends[i][k]);
        emit_end(json);
    }
    emit_end(json);
}
