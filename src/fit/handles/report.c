// Reports of handle binds. Invariant: a report owns its names and can be destroyed half-made.
#include "fit/handles/report.h"

#include <string.h>

#include "base/memory.h"

void cutis_handles_report_destroy(cutis_handles_report *report)
{
    if (!report) return;
    cutis_context *context = report->context;
    for (uint32_t i = 0; report->handles && i < report->handle_count; i++)
        if (report->handles[i].name)
            cutis_free(context, (char *)report->handles[i].name,
                       strlen(report->handles[i].name) + 1);
    cutis_free_array(context, report->handles, report->handle_count, sizeof *report->handles);
    cutis_free(context, report, sizeof *report);
}

cutis_handles_report *cutis_handles_report_create(cutis_context *context, uint32_t handle_count)
{
    cutis_handles_report *report = cutis_alloc_zero(context, 1, sizeof *report);
    if (!report) return NULL;
    report->context = context;
    report->separation_min = -1; // no pair yet
    report->handles = cutis_alloc_zero(context, handle_count, sizeof *report->handles);
    if (report->handles) report->handle_count = handle_count;
    if (report->handles) return report;
    cutis_handles_report_destroy(report);
    return NULL;
}

bool cutis_handles_report_name(cutis_context *context, const char *name,
                               cutis_handle_result *result)
{
    if (!name) return true;
    const size_t size = strlen(name) + 1;
    char *copy = cutis_alloc(context, size);
    if (copy) memcpy(copy, name, size);
    result->name = copy;
    return copy != NULL;
}

void cutis_handles_report_finish(cutis_handles_report *report, uint32_t vertex_count)
{
    report->dropped_mass_mean = vertex_count ? report->dropped_mass_mean / vertex_count : 0;
    if (report->separation_min < 0) report->separation_min = 0;
}
