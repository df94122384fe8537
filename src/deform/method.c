/// Names of the methods: one list, both directions.
#include <cutis/deform.h>

#include <string.h>

static const char *const NAMES[] = { "lbs", "rigid", "sbs",           "dqs", "cor",
                                     "psd", "wpsd",  "handles-rigid", "cage" };
#define METHOD_COUNT (sizeof NAMES / sizeof *NAMES)

const char *cutis_method_name(cutis_method method)
{
    return (size_t)method < METHOD_COUNT ? NAMES[method] : "unknown";
}

cutis_result cutis_method_from_name(const char *name, cutis_method *out)
{
    if (!name || !out) return CUTIS_INVALID_ARGUMENT;
    for (size_t i = 0; i < METHOD_COUNT; i++)
        if (strcmp(name, NAMES[i]) == 0) {
            *out = (cutis_method)i;
            return CUTIS_OK;
        }
    return CUTIS_NOT_FOUND;
}
