/// The methods as data: the rows of CUTIS_METHODS.
#include <cutis/deform.h>

#include <string.h>

#define ROW(name, number, text, title, needs, abilities, help)                                     \
    { CUTIS_METHOD_##name, text, title, needs, abilities, help },
static const cutis_method_info METHODS[] = { CUTIS_METHODS(ROW) };
#define METHOD_COUNT (sizeof METHODS / sizeof *METHODS)

const cutis_method_info *cutis_method_describe(cutis_method method)
{
    return (size_t)method < METHOD_COUNT ? &METHODS[method] : NULL;
}

const char *cutis_method_name(cutis_method method)
{
    const cutis_method_info *info = cutis_method_describe(method);
    return info ? info->name : "unknown";
}

cutis_result cutis_method_from_name(const char *name, cutis_method *out)
{
    if (!name || !out) return CUTIS_INVALID_ARGUMENT;
    for (size_t i = 0; i < METHOD_COUNT; i++)
        if (strcmp(name, METHODS[i].name) == 0) {
            *out = METHODS[i].method;
            return CUTIS_OK;
        }
    return CUTIS_NOT_FOUND;
}
