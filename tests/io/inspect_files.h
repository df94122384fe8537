/// `--inspect`: the findings of files named on standard input, one line each: path, result, codes
/// of the errors, their places and texts, codes of the warnings and informations. The scripts that
/// compare with the Khronos validator start one process for all files.
#ifndef CUTIS_TESTS_IO_INSPECT_FILES_H
#define CUTIS_TESTS_IO_INSPECT_FILES_H

#include <stdio.h>
#include <string.h>

#include <cutis/cutis.h>
#include <cutis/io.h>
#include <cutis/weights.h>

static inline int inspect_files(void)
{
    char path[4096];
    cutis_context *context = NULL;
    if (cutis_context_create(NULL, &context) != CUTIS_OK) return 1;
    while (fgets(path, sizeof path, stdin)) {
        cutis_check_report *report = NULL;
        const cutis_issue *issues = NULL;
        path[strcspn(path, "\n")] = 0;
        cutis_result result = cutis_file_inspect(context, path, &report);
        uint32_t count = report ? cutis_check_report_issues(report, &issues) : 0;
        printf("%s\t%s\t", path, cutis_result_name(result));
        for (uint32_t i = 0; i < count; i++)
            if (issues[i].severity == 0) printf("%s ", issues[i].code);
        printf("\t");
        for (uint32_t i = 0; i < count; i++)
            if (issues[i].severity == 0) printf("%s: %s; ", issues[i].place, issues[i].text);
        printf("\t");
        for (uint32_t i = 0; i < count; i++)
            if (issues[i].severity != 0) printf("%s ", issues[i].code);
        printf("\n");
        cutis_check_report_destroy(report);
    }
    bool clean = cutis_context_memory(context) == 0;
    cutis_context_destroy(context);
    return clean ? 0 : 1;
}

#endif
