/// Reports of handle binds: made, named, finished. And few influences, chosen by the weight
/// reduction (cutis/weights.h) in place of the largest ones.
#ifndef CUTIS_FIT_HANDLES_REPORT_H
#define CUTIS_FIT_HANDLES_REPORT_H

#include <cutis/handles.h>

/// NULL if memory ran out.
cutis_handles_report *cutis_handles_report_create(cutis_context *context, uint32_t handle_count);

/// Copy a name (or NULL). false: out of memory.
bool cutis_handles_report_name(cutis_handles_report *report, uint32_t handle, const char *name);

/// Sums into means, once all vertices are counted.
void cutis_handles_report_finish(cutis_handles_report *report, uint32_t vertex_count);

/// Influences to solve for when `influences` of them are to be chosen by reduction.
uint32_t cutis_handles_wide(uint32_t influences);

/// Reduce a model in place: `*model` is replaced. Dropped masses of the report become those of the
/// choice: what vertices had on joints they no longer have.
/// @param clips whose poses are learned from; none: automatic poses
cutis_result cutis_handles_reduce(cutis_device *device, uint32_t influences, const uint32_t *clips,
                                  uint32_t clip_count, cutis_model **model,
                                  cutis_handles_report *report);

#endif
