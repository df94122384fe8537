/// Bash completion, made from the table: every word it offers belongs to the verb. Invariant: what
/// a file says (names of clips) reaches the shell quoted, never as text that is expanded.
#include "help.h"

#include <string.h>

#include "app.h"

static const char CLIPS[] =
    "# bash completion for cutis; made by `cutis help --completion bash`\n"
    "# Clips of the file $1 that begin with $word; of a list ($2 is ','), after its last comma.\n"
    "_cutis_clips()\n{\n"
    "    local program=${COMP_WORDS[0]/#\\~\\//$HOME/} file name head= limit=\n"
    "    read file <<<\"$1\" # as the shell takes away backslashes, then quotes\n"
    "    file=${file#[\\\"\\']} file=${file%[\\\"\\']} file=${file/#\\~\\//$HOME/}\n"
    "    [[ -f $file ]] || return\n"
    "    [[ -n $2 && $word == *,* ]] && head=${word%,*},\n"
    "    type -P timeout >/dev/null && limit='timeout 2'\n"
    "    while IFS= read -r name; do\n"
    "        printf -v name %q \"$name\"\n"
    "        [[ $name == \"${word#\"$head\"}\"* ]] && COMPREPLY+=(\"$head$name\")\n"
    "    done < <($limit \"$program\" info --clips -- \"$file\" 2>/dev/null </dev/null)\n"
    "}\n";

// The last word decides; `model` is the first operand, `motion` what retarget takes clips from.
static const char WORDS[] =
    "_cutis()\n{\n"
    "    local word=${COMP_WORDS[COMP_CWORD]} last=${COMP_WORDS[COMP_CWORD-1]} "
    "verb=${COMP_WORDS[1]}\n"
    "    local options= flags= operands= files= words= model= motion= i\n"
    "    COMPREPLY=()\n"
    "    [[ $last == = ]] && last=${COMP_WORDS[COMP_CWORD-2]} # --option=VALUE is three words\n"
    "    [[ $word == = ]] && word=\n";

static const char OPERANDS[] =
    "    for ((i = 2; i < COMP_CWORD; i++)); do\n"
    "        [[ ${COMP_WORDS[i]} != -* ]] && { model=${COMP_WORDS[i]}; break; }\n"
    "        [[ $flags == *\" ${COMP_WORDS[i]} \"* ]] && continue\n"
    "        ((i++)) # its value\n"
    "        [[ ${COMP_WORDS[i]} == = ]] && ((i++))\n"
    "    done\n"
    "    for ((i = 2; i < COMP_CWORD; i++)); do\n"
    "        [[ ${COMP_WORDS[i]} == --motion ]] && motion=${COMP_WORDS[i+1]}\n"
    "        [[ $motion == = ]] && motion=${COMP_WORDS[i+2]}\n"
    "    done\n"
    "    if [[ $last == -* && $flags != *\" $last \"* ]]; then\n"
    "        files=1\n"
    "        case $verb,$last in\n";

static const char ANSWER[] = "        esac\n"
                             "    elif [[ $word == -* ]]; then\n"
                             "        words=$options files=\n"
                             "    elif [[ -z $model ]]; then\n"
                             "        words=$operands\n"
                             "    fi\n"
                             "    if [[ -n $words ]]; then\n"
                             "        COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
                             "    elif [[ -n $files && ${#COMPREPLY[@]} -eq 0 ]]; then\n"
                             "        compopt -o filenames 2>/dev/null\n"
                             "        mapfile -t COMPREPLY < <(compgen -f -- \"$word\")\n"
                             "    fi\n}\ncomplete -F _cutis cutis\n";

static void put_verbs(FILE *file)
{
    for (uint32_t i = 0; i < cli_verb_count; i++)
        fprintf(file, "%s%s", i ? " " : "", cli_verbs[i].name);
}

static void put_verb(FILE *file, const verb_row *verb)
{
    fprintf(file, "    %s) options=\"", verb->name);
    for (int i = 0; i < OPTION_ID_COUNT; i++)
        if (verb->options[i]) fprintf(file, "--%s ", cli_options[i].name);
    fputs("\" flags=\" ", file);
    for (int i = 0; i < OPTION_ID_COUNT; i++) {
        const option_row *row = &cli_options[i];
        if (!verb->options[i] || row->kind != KIND_FLAG) continue;
        fprintf(file, "--%s ", row->name);
        if (row->letter) fprintf(file, "-%c ", row->letter);
    }
    fputs("\" operands=\"", file);
    if (verb->operand_choices) fputs(verb->operand_choices, file);
    if (verb->run == verb_help) {
        put_verbs(file);
        fputs(" methods", file);
    }
    const bool files = verb->operand_max > 0 && !verb->operand_choices && verb->run != verb_help;
    fprintf(file, "\" files=%s ;;\n", files ? "1" : "");
}

// What can stand behind an option; a path needs no line. Names of values say what they are:
// "CLIP,...|auto", "FILE,...".
static void put_value(FILE *file, const verb_row *verb, const option_row *row)
{
    const char *value = row->value ? row->value : "";
    const bool list = strstr(value, "CLIP,");
    if (row->kind == KIND_FLAG || row->kind == KIND_PATH || row->kind == KIND_PATHS ||
        row->kind == KIND_EACH)
        return;
    fprintf(file, "        %s,--%s) ", verb->name, row->name);
    if (row->choices) {
        fprintf(file, "words=\"%s\" ;;\n", row->choices);
        return;
    }
    if (strstr(value, "CLIP"))
        fprintf(file, "_cutis_clips \"%s\"%s", verb->run == verb_retarget ? "$motion" : "$model",
                list ? " ,; files=; " : "; ");
    else if (!strstr(value, "FILE") && !strstr(value, ".json"))
        fputs("files=; ", file);
    if (strstr(value, "auto")) fputs("[[ auto == \"$word\"* ]] && COMPREPLY+=(auto) ", file);
    fputs(";;\n", file);
}

void help_completion(FILE *file)
{
    fputs(CLIPS, file);
    fputs(WORDS, file);
    fputs("    if ((COMP_CWORD == 1)); then\n        COMPREPLY=($(compgen -W \"", file);
    put_verbs(file);
    fputs("\" -- \"$word\"))\n        return\n    fi\n    case $verb in\n", file);
    for (uint32_t i = 0; i < cli_verb_count; i++) put_verb(file, &cli_verbs[i]);
    fputs("    esac\n", file);
    fputs(OPERANDS, file);
    for (uint32_t i = 0; i < cli_verb_count; i++)
        for (int k = 0; k < OPTION_ID_COUNT; k++)
            if (cli_verbs[i].options[k]) put_value(file, &cli_verbs[i], &cli_options[k]);
    fputs(ANSWER, file);
}
