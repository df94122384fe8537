/// Texts made from the table of verbs.h.
#ifndef CUTIS_CLI_HELP_H
#define CUTIS_CLI_HELP_H

#include <stdbool.h>
#include <stdio.h>

#include "verbs.h"

void help_overview(FILE *file);
void help_verb(FILE *file, const verb_row *verb);
void help_completion(FILE *file);                 ///< for bash
void help_json(FILE *file, const verb_row *verb); ///< NULL: all verbs, and the methods

/// The next example of a verb: true while there is one. Texts are not terminated; the lengths are.
bool help_next_example(const char **cursor, int *command_length, const char **meaning,
                       int *meaning_length);
/// What a model must have for a method, or "".
const char *help_method_needs(const cutis_method_info *method);

#endif
