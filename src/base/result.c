/// Texts of results, from the one list in base.h; the version.
#include <cutis/base.h>

const char *cutis_result_text(cutis_result result)
{
    switch (result) {
#define TEXT(name, number, text)                                                                   \
    case CUTIS_##name:                                                                             \
        return text;
        CUTIS_RESULTS(TEXT)
#undef TEXT
    }
    return "unknown result";
}

const char *cutis_result_name(cutis_result result)
{
    switch (result) {
#define NAME(name, number, text)                                                                   \
    case CUTIS_##name:                                                                             \
        return #name;
        CUTIS_RESULTS(NAME)
#undef NAME
    }
    return "UNKNOWN";
}

#define STRING_(x) #x
#define STRING(x)  STRING_(x)

const char *cutis_version(void)
{
    return STRING(CUTIS_VERSION_MAJOR) "." STRING(CUTIS_VERSION_MINOR) "." STRING(
        CUTIS_VERSION_PATCH);
}

uint32_t cutis_version_number(void)
{
    return CUTIS_VERSION_NUMBER;
}
