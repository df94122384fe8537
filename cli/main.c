/// The `cutis` command: parse, make a context, run the verb, make sure that what it printed
/// arrived.
#include "app.h"
#include "help.h"

#include <string.h>
#include <unistd.h>

static void log_note(void *user, const char *line)
{
    app_note(user, "%s", line);
}

static int run(cli_app *app)
{
    if (!app->verb) {
        help_overview(stdout);
        return EXIT_USAGE;
    }
    if (option_given(app, OPTION_HELP)) {
        if (app->json)
            help_json(stdout, app->verb);
        else
            help_verb(stdout, app->verb);
        return EXIT_GOOD;
    }
    cutis_context_options options = {
        .progress = app_progress_callback,
        .progress_user = app,
        .log = log_note,
        .log_user = app,
        .replace_read_only = option_given(app, OPTION_FORCE),
    };
    cutis_result result = cutis_context_create(&options, &app->context);
    if (result != CUTIS_OK) return app_fail_text(app, "%s", cutis_result_text(result));
    app_catch_interrupt();
    int status = app->verb->run(app);
    app_progress_done(app);
    cutis_context_destroy(app->context);
    return status;
}

int main(int count, char **arguments)
{
    cli_app app = { .program = count > 0 && strchr(arguments[0], '/') ? arguments[0] : "cutis",
                    .arguments = arguments,
                    .color = isatty(STDOUT_FILENO),
                    .terminal = isatty(STDERR_FILENO) };
    int status = args_parse(&app, count, arguments);
    if (status == EXIT_GOOD) status = run(&app);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        if (status == EXIT_GOOD) fputs("cutis: standard output cannot be written\n", stderr);
        if (status == EXIT_GOOD) status = EXIT_FAILED;
    }
    args_release(&app);
    app_end_interrupted();
    return status;
}
