/// Helper programs on Windows: none. `cutis-draco` is built on POSIX systems alone; who needs it is
/// told that it is not there, before anything is started.
#include "base/os/os.h"

#include "base/error.h"

bool cutis_os_find_helper(const char *name, const char *variable, const void *beside, char *out,
                          size_t capacity)
{
    (void)name, (void)variable, (void)beside, (void)out, (void)capacity;
    return false;
}

cutis_result cutis_os_run_helper(cutis_context *context, const cutis_os_helper *helper, size_t *got)
{
    *got = 0;
    return cutis_fail(context, CUTIS_UNSUPPORTED, "%s cannot be started", helper->program);
}
