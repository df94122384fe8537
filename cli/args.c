/// The command line against the table: `cutis VERB OPERANDS [--option VALUE | --option=VALUE | -o
/// VALUE] [--]`. Every number is checked against its range here, so no verb sees one that is not.
#include "app.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *next_entry(const char **list, const char *separator, size_t *length)
{
    const char *entry = *list;
    if (!*entry) return NULL;
    *length = strcspn(entry, separator);
    *list = entry + *length + (entry[*length] != 0);
    return entry;
}

// Letters to change, drop or add to turn one word into the other; words are short, so two rows are
// enough.
static unsigned edit_distance(const char *a, size_t m, const char *b, size_t n)
{
    unsigned row[64];
    if (n > 62 || m > 62) return 1000;
    for (size_t j = 0; j <= n; j++) row[j] = (unsigned)j;
    for (size_t i = 1; i <= m; i++) {
        unsigned corner = row[0];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= n; j++) {
            unsigned change = corner + (a[i - 1] != b[j - 1]);
            unsigned gap = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            corner = row[j];
            row[j] = change < gap ? change : gap;
        }
    }
    return row[n];
}

const char *nearest_word(const char *word, const char *list, char *out)
{
    size_t length = strlen(word), span;
    unsigned best = length < 4 ? 2 : 3; // further away it would be a guess
    bool found = false;
    for (const char *entry; (entry = next_entry(&list, " ", &span));) {
        size_t longer = span > length ? span - length : length - span; // no distance is less
        unsigned distance = longer < best ? edit_distance(word, length, entry, span) : best;
        // What was typed so far counts as near: "--inf" for "--influences".
        if (length >= 2 && span > length && strncmp(entry, word, length) == 0) distance = 1;
        if (distance < best && span < 64) {
            best = distance;
            memcpy(out, entry, span);
            out[span] = 0;
            found = true;
        }
    }
    return found ? out : NULL;
}

bool option_given(const cli_app *app, option_id id)
{
    return app->values[id].set;
}

const char *option_text(const cli_app *app, option_id id)
{
    return app->values[id].text;
}

double option_number(const cli_app *app, option_id id, double fallback)
{
    return app->values[id].set ? app->values[id].number : fallback;
}

uint32_t option_count(const cli_app *app, option_id id, uint32_t fallback)
{
    return app->values[id].set ? (uint32_t)app->values[id].number : fallback;
}

// The place of a word in a list, or -1.
static int find_word(const char *word, const char *list)
{
    size_t span;
    for (int place = 0; *list; place++) {
        const char *entry = next_entry(&list, " ", &span);
        if (entry && span == strlen(word) && strncmp(entry, word, span) == 0) return place;
    }
    return -1;
}

int option_choice(const cli_app *app, option_id id)
{
    const char *text = option_text(app, id);
    return text ? find_word(text, cli_options[id].choices) : 0;
}

static int set_number(cli_app *app, const option_row *row, const char *text, double *out)
{
    char *end = NULL;
    errno = 0;
    double value = strtod(text, &end);
    bool whole = row->kind == KIND_COUNT;
    // strtod also takes hexadecimal, "nan" and "infinity", which are not meant here.
    bool plain = *text && strspn(text, "0123456789+-.eE") == strlen(text);
    if (!plain || *end || errno == ERANGE || !isfinite(value) || (whole && value != floor(value)))
        return app_usage(app, "--%s %s: want %s", row->name, text,
                         whole ? "a whole number" : "a number");
    if (value < row->min || value > row->max)
        return app_usage(app, "--%s %s: want %.15g to %.15g", row->name, text, row->min, row->max);
    *out = value;
    return EXIT_GOOD;
}

static int set_value(cli_app *app, option_id id, const char *text)
{
    const option_row *row = &cli_options[id];
    option_value *value = &app->values[id];
    char near[64];
    if (value->set && row->kind != KIND_FLAG && row->kind != KIND_EACH)
        return app_usage(app, "--%s is given twice", row->name);
    value->set = true;
    if (row->kind != KIND_EACH || !value->text) value->text = text;
    if (!text) return EXIT_GOOD; // a flag
    if (row->kind == KIND_COUNT || row->kind == KIND_NUMBER)
        return set_number(app, row, text, &value->number);
    if (row->kind == KIND_CHOICE && find_word(text, row->choices) < 0) {
        if (nearest_word(text, row->choices, near))
            return app_usage(app, "--%s %s: did you mean %s? (one of: %s)", row->name, text, near,
                             row->choices);
        return app_usage(app, "--%s %s: want one of: %s", row->name, text, row->choices);
    }
    if (row->kind != KIND_CHOICE && !*text)
        return app_usage(app, "--%s: the value is empty", row->name);
    return EXIT_GOOD;
}

static int unknown_option(cli_app *app, const char *word)
{
    char list[1024] = "", near[64];
    size_t length = 0;
    for (int i = 0; i < OPTION_ID_COUNT; i++)
        if (app->verb->options[i])
            length +=
                (size_t)snprintf(list + length, sizeof list - length, "%s ", cli_options[i].name);
    const char *bare = word + strspn(word, "-");
    char name[64];
    size_t span = strcspn(bare, "=");
    snprintf(name, sizeof name, "%.*s", (int)(span < 63 ? span : 63), bare);
    if (nearest_word(name, list, near))
        return app_usage(app, "unknown option %s; did you mean --%s?", word, near);
    return app_usage(app, "unknown option %s", word);
}

// Which option of the verb is spelled at `word`? `value` gets what stands behind "=", or NULL.
static int find_option(const cli_app *app, const char *word, const char **value)
{
    *value = NULL;
    for (int i = 0; i < OPTION_ID_COUNT; i++) {
        const option_row *row = &cli_options[i];
        if (!app->verb->options[i]) continue;
        if (word[1] != '-') {
            if (row->letter && word[1] == row->letter && word[2] == 0) return i;
            continue;
        }
        size_t length = strlen(row->name);
        if (strncmp(word + 2, row->name, length) != 0) continue;
        if (word[2 + length] == 0) return i;
        if (word[2 + length] == '=') {
            *value = word + 3 + length;
            return i;
        }
    }
    return -1;
}

// One more of an option that may be given again: never more than the line has words.
static int add_word(cli_app *app, option_value *value, size_t most, char *word)
{
    if (!value->words) value->words = calloc(most, sizeof *value->words);
    if (!value->words) return app_fail_text(app, "not enough memory");
    value->words[value->word_count++] = word;
    return EXIT_GOOD;
}

static int parse_option(cli_app *app, int count, char **arguments, int *position)
{
    const char *word = arguments[*position], *value;
    int id = find_option(app, word, &value);
    if (id < 0) return unknown_option(app, word);
    const option_row *row = &cli_options[id];
    if (row->kind == KIND_FLAG) {
        if (value) return app_usage(app, "--%s takes no value", row->name);
        return set_value(app, (option_id)id, NULL);
    }
    bool attached = value != NULL;
    if (!attached) {
        if (*position + 1 >= count)
            return app_usage(app, "--%s needs a value: %s", row->name, row->value);
        value = arguments[++*position];
    }
    int status = set_value(app, (option_id)id, value);
    option_value *set = &app->values[id];
    if (row->kind == KIND_EACH && status == EXIT_GOOD)
        return add_word(app, set, (size_t)count,
                        arguments[*position] + (attached ? value - word : 0));
    if (status != EXIT_GOOD || row->kind != KIND_PATHS || attached) return status;
    set->words = arguments + *position;
    set->word_count = 1;
    while (*position + 1 < count && arguments[*position + 1][0] != '-') {
        ++*position;
        set->word_count++;
    }
    return EXIT_GOOD;
}

static int find_verb(cli_app *app, const char *word)
{
    char list[512] = "", near[64];
    size_t length = 0;
    for (uint32_t i = 0; i < cli_verb_count; i++)
        if (strcmp(word, cli_verbs[i].name) == 0) app->verb = &cli_verbs[i];
    if (app->verb) return EXIT_GOOD;
    for (uint32_t i = 0; i < cli_verb_count; i++)
        length += (size_t)snprintf(list + length, sizeof list - length, "%s ", cli_verbs[i].name);
    if (nearest_word(word, list, near))
        return app_usage(app, "unknown verb %s; did you mean %s?", word, near);
    return app_usage(app, "unknown verb %s", word);
}

static int check_operands(cli_app *app)
{
    const verb_row *verb = app->verb;
    char near[64];
    if (option_given(app, OPTION_HELP)) return EXIT_GOOD;
    if (app->operand_count < verb->operand_min)
        return app_usage(app, "%s is missing", verb->operands);
    for (uint32_t i = 0; i < app->operand_count; i++)
        if (!*app->operands[i]) return app_usage(app, "a name is empty: %s", verb->operands);
    if (verb->operand_choices && app->operand_count > 0 &&
        find_word(app->operands[0], verb->operand_choices) < 0) {
        if (nearest_word(app->operands[0], verb->operand_choices, near))
            return app_usage(app, "unknown %s; did you mean %s?", app->operands[0], near);
        return app_usage(app, "unknown %s; want one of: %s", app->operands[0],
                         verb->operand_choices);
    }
    return EXIT_GOOD;
}

int args_parse(cli_app *app, int count, char **arguments)
{
    bool only_operands = false;
    if (count < 2) return EXIT_GOOD;
    const char *first = arguments[1];
    if (strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0) first = "help";
    if (strcmp(first, "--version") == 0 || strcmp(first, "-v") == 0) first = "version";
    int status = find_verb(app, first);
    app->operands = calloc((size_t)count, sizeof *app->operands);
    if (!app->operands) return app_fail_text(app, "not enough memory");
    for (int i = 2; i < count && status == EXIT_GOOD; i++) {
        const char *word = arguments[i];
        if (!only_operands && strcmp(word, "--") == 0) {
            only_operands = true;
        } else if (!only_operands && word[0] == '-' && word[1] != 0) {
            status = parse_option(app, count, arguments, &i);
        } else if (app->operand_count == app->verb->operand_max) {
            status = app_usage(app, "unexpected %s", word);
        } else {
            app->operands[app->operand_count++] = word;
        }
    }
    app->json = option_given(app, OPTION_JSON);
    app->quiet = option_given(app, OPTION_QUIET);
    return status == EXIT_GOOD ? check_operands(app) : status;
}

void args_release(cli_app *app)
{
    for (int i = 0; i < OPTION_ID_COUNT; i++)
        if (cli_options[i].kind == KIND_EACH) free(app->values[i].words);
    free(app->operands);
}
