/// --help, the man page and docs/cli.md: three walks over the one table (help_completion.c and
/// help_json.c have two more).
#include "help.h"

#include <cutis/base.h>
#include <string.h>

#include "app.h"

static const char exit_text[] =
    "0 success; 1 failure, with one line on stderr (cutis: file: place: reason); 2 wrong usage. "
    "Ctrl-C ends it by SIGINT, after cleaning up. What was put right while reading a file is a "
    "note on "
    "stderr, and under notes in --json.";

static void option_spelling(const option_row *row, char *out, size_t capacity)
{
    char letter[8] = "";
    if (row->letter) snprintf(letter, sizeof letter, "-%c, ", row->letter);
    snprintf(out, capacity, "%s--%s%s%s", letter, row->name, row->value ? " " : "",
             row->value ? row->value : "");
}

static bool needs_output(const verb_row *verb)
{
    static int (*const ALL[])(
        cli_app * app) = { verb_convert, verb_synth,   verb_deform, verb_render,   verb_reduce,
                           verb_cage,    verb_handles, verb_fit,    verb_skeleton, verb_reproduce };
    for (size_t i = 0; i < sizeof ALL / sizeof *ALL; i++)
        if (verb->run == ALL[i]) return true;
    return false;
}

bool help_next_example(const char **cursor, int *command_length, const char **meaning,
                       int *meaning_length)
{
    if (!**cursor) return false;
    const char *tab = strchr(*cursor, '\t'), *end = strchr(*cursor, '\n');
    *command_length = (int)(tab - *cursor);
    *meaning = tab + 1;
    *meaning_length = (int)(end - tab - 1);
    return true;
}

void help_overview(FILE *file)
{
    fprintf(file, "cutis %s: character skinning. Usage: cutis VERB INPUT [options] -o OUTPUT\n\n",
            cutis_version());
    for (uint32_t i = 0; i < cli_verb_count; i++)
        fprintf(file, "  %-9s %s\n", cli_verbs[i].name, cli_verbs[i].summary);
    fputs(
        "\nTry:\n"
        "  cutis demo                                            everything once, under a minute\n"
        "  cutis synth biped -o biped.glb                        a character to play with\n"
        "  cutis deform biped.glb --clip walk --method dqs -o walk.npy\n"
        "  cutis help deform                                     one verb in full\n",
        file);
}

void help_verb(FILE *file, const verb_row *verb)
{
    char spelling[96];
    fprintf(file, "Usage: cutis %s%s%s [options]%s\n\n%c%s.\n", verb->name,
            *verb->operands ? " " : "", verb->operands, needs_output(verb) ? " -o OUTPUT" : "",
            verb->summary[0] - 'a' + 'A', verb->summary + 1);
    if (*verb->details) fprintf(file, "\n%s", verb->details);
    fputs("\nOptions:\n", file);
    for (int i = 0; i < OPTION_ID_COUNT; i++) {
        const option_row *row = &cli_options[i];
        if (!verb->options[i]) continue;
        option_spelling(row, spelling, sizeof spelling);
        fprintf(file, "  %-20s %s\n", spelling, row->help);
        if (row->choices && row->kind == KIND_CHOICE)
            fprintf(file, "  %-20s one of: %s\n", "", row->choices);
    }
    fputs("\nExamples:\n", file);
    const char *cursor = verb->examples, *meaning;
    int command_length, meaning_length;
    while (help_next_example(&cursor, &command_length, &meaning, &meaning_length)) {
        fprintf(file, "  %.*s%s%.*s\n", command_length, cursor, meaning_length ? "\n      " : "",
                meaning_length, meaning);
        cursor = meaning + meaning_length + 1;
    }
    fprintf(file, "\nExit status: %s\n", exit_text);
}

const char *help_method_needs(const cutis_method_info *method)
{
    if (method->needs & CUTIS_NEEDS_POSE_SPACE) return "a model of cutis fit";
    if (method->needs & CUTIS_NEEDS_VIRTUAL_HANDLES)
        return "a model of cutis handles --weighting virtual";
    if (method->needs & CUTIS_NEEDS_CAGE) return "a model of cutis cage, and --cage-poses";
    if (method->needs & CUTIS_NEEDS_PARTS) return "a closed mesh with parts, as of cutis skeleton";
    return "";
}

static const cutis_method_info *method_at(int index)
{
    return cutis_method_describe((cutis_method)index);
}

// A line for each --method.
static void help_methods(FILE *file)
{
    fputs("Methods of --method (and --methods, which knows sbs-weighted too):\n\n", file);
    for (int i = 0; method_at(i); i++) {
        const cutis_method_info *m = method_at(i);
        fprintf(file, "  %-14s %s: %s\n", m->name, m->title, m->help);
        if (*help_method_needs(m)) fprintf(file, "  %-14s needs %s\n", "", help_method_needs(m));
    }
}

// troff: a dash that is typed must stay one, a line must not start with a dot or quote.
static void man_text(FILE *file, const char *text, int length)
{
    for (int i = 0; i < length; i++) {
        bool start = i == 0 || text[i - 1] == '\n';
        if (start && (text[i] == '.' || text[i] == '\'')) fputs("\\&", file);
        if (text[i] == '-')
            fputs("\\-", file);
        else if (text[i] == '\\')
            fputs("\\e", file);
        else
            fputc(text[i], file);
    }
}

static void man_paragraphs(FILE *file, const char *text)
{
    for (const char *line = text; *line;) {
        int length = (int)strcspn(line, "\n");
        if (length == 0)
            fputs(".PP", file);
        else
            man_text(file, line, length);
        fputc('\n', file);
        line += length + 1;
    }
}

static void man_verb(FILE *file, const verb_row *verb)
{
    char spelling[96];
    fprintf(file, ".SH %s\n.B cutis %s\n.I %s\n.PP\n", verb->name, verb->name,
            *verb->operands ? verb->operands : "\\&");
    man_text(file, verb->summary, (int)strlen(verb->summary));
    fputs(".\n.PP\n", file);
    man_paragraphs(file, verb->details);
    for (int i = 0; i < OPTION_ID_COUNT; i++) {
        const option_row *row = &cli_options[i];
        if (!verb->options[i]) continue;
        option_spelling(row, spelling, sizeof spelling);
        fputs(".TP\n.B ", file);
        man_text(file, spelling, (int)strlen(spelling));
        fputc('\n', file);
        man_text(file, row->help, (int)strlen(row->help));
        if (row->kind == KIND_CHOICE) fprintf(file, " (%s)", row->choices);
        fputc('\n', file);
    }
    const char *cursor = verb->examples, *meaning;
    int command_length, meaning_length;
    fputs(".PP\nExamples:\n", file);
    while (help_next_example(&cursor, &command_length, &meaning, &meaning_length)) {
        fputs(".TP\n.B ", file);
        man_text(file, cursor, command_length);
        fputc('\n', file);
        man_text(file, meaning_length ? meaning : "\\&", meaning_length);
        fputc('\n', file);
        cursor = meaning + meaning_length + 1;
    }
}

static void help_man(FILE *file)
{
    fprintf(file, ".TH CUTIS 1 \"\" \"cutis %s\" \"User Commands\"\n", cutis_version());
    fputs(".SH NAME\ncutis \\- character skinning: deform, convert, check and measure models\n"
          ".SH SYNOPSIS\n.B cutis\n.I VERB INPUT\n[options]\n.B \\-o\n.I OUTPUT\n"
          ".SH DESCRIPTION\nVerbs:\n",
          file);
    for (uint32_t i = 0; i < cli_verb_count; i++) {
        fprintf(file, ".TP\n.B %s\n", cli_verbs[i].name);
        man_text(file, cli_verbs[i].summary, (int)strlen(cli_verbs[i].summary));
        fputc('\n', file);
    }
    for (uint32_t i = 0; i < cli_verb_count; i++) man_verb(file, &cli_verbs[i]);
    fputs(".SH METHODS\n", file);
    for (int i = 0; method_at(i); i++) {
        fprintf(file, ".TP\n.B %s\n", method_at(i)->name);
        man_text(file, method_at(i)->title, (int)strlen(method_at(i)->title));
        fputs(": ", file);
        man_text(file, method_at(i)->help, (int)strlen(method_at(i)->help));
        fputc('\n', file);
    }
    fprintf(
        file,
        ".SH EXIT STATUS\n%s\n.SH ENVIRONMENT\n.TP\n.B CUTIS_ISA\nlowers the instruction set of "
        "the CPU device (scalar, sse2, avx2, avx512)\n",
        exit_text);
}

static void help_markdown(FILE *file)
{
    char spelling[96];
    fputs("# The command\n\nMade from the table in `cli/verbs.h` and `cli/table.c` by `cutis help "
          "--markdown`; a test compares them.\n\n"
          "`cutis VERB INPUT [options] -o OUTPUT`\n\n| verb | what it does |\n|---|---|\n",
          file);
    for (uint32_t i = 0; i < cli_verb_count; i++)
        fprintf(file, "| [%s](#%s) | %s |\n", cli_verbs[i].name, cli_verbs[i].name,
                cli_verbs[i].summary);
    fprintf(file, "\nExit status: %s\n", exit_text);
    fputs("\n## Methods\n\n| `--method` | what it is | needs |\n|---|---|---|\n", file);
    for (int i = 0; method_at(i); i++)
        fprintf(file, "| `%s` | %s: %s | %s |\n", method_at(i)->name, method_at(i)->title,
                method_at(i)->help, help_method_needs(method_at(i)));
    for (uint32_t i = 0; i < cli_verb_count; i++) {
        const verb_row *verb = &cli_verbs[i];
        fprintf(file, "\n## %s\n\n`cutis %s%s%s [options]%s`: %s.\n\n", verb->name, verb->name,
                *verb->operands ? " " : "", verb->operands, needs_output(verb) ? " -o OUTPUT" : "",
                verb->summary);
        if (*verb->details) fprintf(file, "%s\n", verb->details);
        fputs("| option | meaning |\n|---|---|\n", file);
        for (int k = 0; k < OPTION_ID_COUNT; k++) {
            const option_row *row = &cli_options[k];
            if (!verb->options[k]) continue;
            option_spelling(row, spelling, sizeof spelling);
            fprintf(file, "| `%s` | %s", spelling, row->help);
            if (row->kind == KIND_CHOICE) fprintf(file, " (%s)", row->choices);
            fputs(" |\n", file);
        }
        fputs("\n```sh\n", file);
        const char *cursor = verb->examples, *meaning;
        int command_length, meaning_length;
        while (help_next_example(&cursor, &command_length, &meaning, &meaning_length)) {
            fprintf(file, "%.*s%s%.*s\n", command_length, cursor, meaning_length ? "   # " : "",
                    meaning_length, meaning);
            cursor = meaning + meaning_length + 1;
        }
        fputs("```\n", file);
    }
}

static int help_of(cli_app *app, const char *word)
{
    for (uint32_t i = 0; i < cli_verb_count; i++) {
        if (strcmp(cli_verbs[i].name, word) != 0) continue;
        if (app->json)
            help_json(stdout, &cli_verbs[i]);
        else
            help_verb(stdout, &cli_verbs[i]);
        return EXIT_GOOD;
    }
    app->verb = NULL; // "see: cutis help", not the help of help
    return app_usage(app, "help: unknown verb %s", word);
}

int verb_help(cli_app *app)
{
    const bool methods = app->operand_count && strcmp(app->operands[0], "methods") == 0;
    if (option_given(app, OPTION_MAN))
        help_man(stdout);
    else if (option_given(app, OPTION_COMPLETION))
        help_completion(stdout);
    else if (option_given(app, OPTION_MARKDOWN))
        help_markdown(stdout);
    else if (app->operand_count && !methods)
        return help_of(app, app->operands[0]);
    else if (app->json)
        help_json(stdout, NULL);
    else if (methods)
        help_methods(stdout);
    else
        help_overview(stdout);
    return EXIT_GOOD;
}

int verb_version(cli_app *app)
{
    if (app->json)
        emit(&(json_out){ .file = stdout }, "{ version %s }", cutis_version());
    else
        printf("cutis %s\n", cutis_version());
    return EXIT_GOOD;
}
