/// Reports of handle binds: made, named, finished.
#ifndef CUTIS_FIT_HANDLES_REPORT_H
#define CUTIS_FIT_HANDLES_REPORT_H

#include <cutis/handles.h>

/// NULL if memory ran out.
cutis_handles_report *cutis_handles_report_create(cutis_context *context, uint32_t handle_count);

/// Copy a name (or NULL) into a result. false: out of memory.
bool cutis_handles_report_name(cutis_context *context, const char *name,
                               cutis_handle_result *result);

/// Sums into means, once all vertices are counted.
void cutis_handles_report_finish(cutis_handles_report *report, uint32_t vertex_count);

#endif
