/// The table as JSON, for programs: `cutis help --json`, `cutis VERB --help --json`.
#include "help.h"

#include <cutis/base.h>

#include "app.h"

static const char *const KIND[] = {
    [KIND_FLAG] = "flag",     [KIND_TEXT] = "text",     [KIND_PATH] = "path",
    [KIND_PATHS] = "paths",   [KIND_EACH] = "each",     [KIND_COUNT] = "count",
    [KIND_NUMBER] = "number", [KIND_CHOICE] = "choice",
};

static void put_option(json_out *json, const option_row *row)
{
    const char *choices = row->choices ? row->choices : "";
    const char letter[2] = { row->letter, 0 };
    char word[64];
    size_t span;
    emit(json, "{ name %s letter %s kind %s value %s choices [", row->name,
         row->letter ? letter : NULL, KIND[row->kind], row->value);
    for (const char *entry; (entry = next_entry(&choices, " ", &span));) {
        snprintf(word, sizeof word, "%.*s", (int)span, entry);
        emit_string(json, NULL, word);
    }
    emit_end(json);
    if (row->kind == KIND_COUNT || row->kind == KIND_NUMBER)
        emit(json, "min %.17g max %.17g", row->min, row->max);
    emit(json, "help %s }", row->help);
}

static void put_examples(json_out *json, const verb_row *verb)
{
    const char *cursor = verb->examples, *meaning;
    int command_length, meaning_length;
    char command[512], text[512];
    emit_array(json, "examples");
    while (help_next_example(&cursor, &command_length, &meaning, &meaning_length)) {
        snprintf(command, sizeof command, "%.*s", command_length, cursor);
        snprintf(text, sizeof text, "%.*s", meaning_length, meaning);
        emit(json, "{ command %s meaning %s }", command, text);
        cursor = meaning + meaning_length + 1;
    }
    emit_end(json);
}

static void put_verb(json_out *json, const verb_row *verb)
{
    emit(json, "{ name %s operands %s summary %s details %s options [", verb->name, verb->operands,
         verb->summary, verb->details);
    for (int i = 0; i < OPTION_ID_COUNT; i++)
        if (verb->options[i]) put_option(json, &cli_options[i]);
    emit_end(json);
    put_examples(json, verb);
    emit_end(json);
}

void help_json(FILE *file, const verb_row *verb)
{
    json_out json = { .file = file };
    if (verb) {
        put_verb(&json, verb);
        return;
    }
    emit(&json, "{ version %s verbs [", cutis_version());
    for (uint32_t i = 0; i < cli_verb_count; i++) put_verb(&json, &cli_verbs[i]);
    emit(&json, "] methods [");
    for (int i = 0; cutis_method_describe((cutis_method)i); i++) {
        const cutis_method_info *method = cutis_method_describe((cutis_method)i);
        emit(&json, "{ name %s title %s help %s needs %s }", method->name, method->title,
             method->help, help_method_needs(method));
    }
    emit(&json, "] }");
}
