/// Texts made from the table of verbs.h.
#ifndef CUTIS_CLI_HELP_H
#define CUTIS_CLI_HELP_H

#include <stdio.h>

#include "verbs.h"

void help_overview(FILE *file);
void help_verb(FILE *file, const verb_row *verb);

#endif
