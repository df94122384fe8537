// Findings about models and files. An entry is complete or not there: the texts are copied before
// the entry is counted.
#include "model/report.h"

cutis_check_report *cutis_report_create(cutis_context *context)
{
    cutis_check_report *report = cutis_alloc_zero(context, 1, sizeof *report);
    if (!report) return NULL;
    report->context = context;
    report->arena.context = context;
    return report;
}

bool cutis_report_add(cutis_check_report *report, const char *code, uint8_t severity,
                      uint64_t count, const char *place, const char *text)
{
    cutis_issue issue = { .code = code, .count = count, .severity = severity };
    if (!cutis_grow(report->context, &report->issues, &report->capacity, (size_t)report->count + 1,
                    sizeof issue) ||
        !(issue.place = cutis_arena_string(&report->arena, place)) ||
        !(issue.text = cutis_arena_string(&report->arena, text))) {
        report->failed = true;
        return false;
    }
    report->issues[report->count++] = issue;
    return true;
}

void cutis_check_report_destroy(cutis_check_report *report)
{
    if (!report) return;
    cutis_free_array(report->context, report->issues, report->capacity, sizeof *report->issues);
    cutis_arena_release(&report->arena);
    cutis_free(report->context, report, sizeof *report);
}

uint32_t cutis_check_report_issues(const cutis_check_report *report, const cutis_issue **out)
{
    if (out) *out = report ? report->issues : NULL;
    return report ? report->count : 0;
}
