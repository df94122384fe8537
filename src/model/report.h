/// A list of findings with their texts. Checks of models and inspections of files fill it in.
#ifndef CUTIS_MODEL_REPORT_H
#define CUTIS_MODEL_REPORT_H

#include <cutis/weights.h>

#include "base/memory.h"

struct cutis_check_report {
    cutis_context *context;
    cutis_arena arena; ///< texts
    uint32_t count;
    size_t capacity;
    cutis_issue *issues;
    bool failed; ///< a finding is missing: there was no memory for it
};

enum { CUTIS_ISSUE_ERROR = 0, CUTIS_ISSUE_WARNING = 1, CUTIS_ISSUE_INFORMATION = 2 };

#pragma GCC visibility push(default)

/// An empty report, or NULL. Release with cutis_check_report_destroy.
cutis_check_report *cutis_report_create(cutis_context *context);

/// Add a finding; `code` is static, the other texts are copied. false: out of memory.
bool cutis_report_add(cutis_check_report *report, const char *code, uint8_t severity,
                      uint64_t count, const char *place, const char *text);

#pragma GCC visibility pop

#endif
