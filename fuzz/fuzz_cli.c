// The command line: one argument a line. Only parsed; a line that parses has a verb, and every
// option it was given can be asked for. Linked with the parser, its table and what it says alone:
// libFuzzer walks the counters of all that is linked after each execution.
#define MUTATE_LINES
#include "target.h"

#include "../cli/app.h"

// The table names the verbs; nobody runs them here.
#define NOT_RUN(name)                                                                              \
    int verb_##name(struct cli_app *app)                                                           \
    {                                                                                              \
        (void)app;                                                                                 \
        abort();                                                                                   \
    }
CLI_VERBS(NOT_RUN)

static void target(const uint8_t *data, size_t size)
{
    enum { ARGUMENTS = 64, LENGTH = 4096 };
    static char text[LENGTH];
    char *arguments[ARGUMENTS + 1] = { "cutis" };
    int count = 1;
    if (size >= LENGTH) size = LENGTH - 1;
    memcpy(text, data, size);
    text[size] = 0;
    for (char *at = strtok(text, "\n"); at && count < ARGUMENTS; at = strtok(NULL, "\n"))
        arguments[count++] = at;
    cli_app app = { 0 };
    int status = args_parse(&app, count, arguments);
    RUN_MUST(app.operand_count < (uint32_t)count || count == 1);
    free(app.operands);
    if (status != EXIT_GOOD || !app.verb) return;
    for (int id = 0; id < OPTION_ID_COUNT; id++) {
        if (!option_given(&app, (option_id)id)) continue;
        const char *word = option_text(&app, (option_id)id);
        RUN_MUST(!word || strlen(word) < LENGTH);
        (void)option_number(&app, (option_id)id, 0);
    }
}
