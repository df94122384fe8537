// Reports of handle binds. Invariant: a report owns its names.
#include "fit/handles/report.h"

#include "base/memory.h"

void cutis_handles_report_destroy(cutis_handles_report *report)
{
    cutis_owner_destroy(report);
}

cutis_handles_report *cutis_handles_report_create(cutis_context *context, uint32_t handle_count)
{
    cutis_handles_report *report = cutis_owner_create(context, sizeof *report);
    if (!report) return NULL;
    report->context = context;
    report->separation_min = -1; // no pair yet
    report->handle_count = handle_count;
    report->handles =
        cutis_arena_zero(cutis_owner_arena(report), handle_count, sizeof *report->handles);
    if (report->handles) return report;
    cutis_handles_report_destroy(report);
    return NULL;
}

bool cutis_handles_report_name(cutis_handles_report *report, uint32_t handle, const char *name)
{
    report->handles[handle].name = cutis_arena_string(cutis_owner_arena(report), name);
    return !name || report->handles[handle].name;
}

void cutis_handles_report_finish(cutis_handles_report *report, uint32_t vertex_count)
{
    report->dropped_mass_mean = vertex_count ? report->dropped_mass_mean / vertex_count : 0;
    if (report->separation_min < 0) report->separation_min = 0;
}
