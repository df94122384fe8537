/// Time, cores, memory, environment, streams and dynamic libraries on POSIX systems.
#include "base/os/os.h"

#include <stdlib.h>
#include <time.h>
#if !defined(__wasm__)
#include <dlfcn.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>
#endif

double cutis_os_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double cutis_os_processor_seconds(void)
{
    struct timespec now;
    if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now)) return cutis_os_seconds();
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void *cutis_os_memory_take(size_t size, size_t alignment)
{
    return aligned_alloc(alignment, size);
}

void cutis_os_memory_give(void *memory)
{
    free(memory);
}

FILE *cutis_os_stream_open(char *text, size_t size)
{
    return fmemopen(text, size, "w");
}

void cutis_os_stream_close(FILE *stream, char *text, size_t size)
{
    (void)text, (void)size; // it was written there
    fclose(stream);
}

void cutis_os_large_pages(void *memory, size_t size)
{
#if defined(MADV_HUGEPAGE)
    (void)madvise(memory, size, MADV_HUGEPAGE); // a hint: what it says does not matter
#else
    (void)memory, (void)size;
#endif
}

const char *cutis_os_environment(const char *name)
{
    return getenv(name);
}

#if defined(__wasm__)

uint32_t cutis_os_core_count(void)
{
    return 1;
}
void *cutis_os_library_open(const char *name)
{
    return (void)name, NULL;
}
void *cutis_os_library_symbol(void *library, const char *name)
{
    return (void)library, (void)name, NULL;
}
void cutis_os_library_close(void *library)
{
    (void)library;
}

#else

uint32_t cutis_os_core_count(void)
{
#if defined(__linux__) && defined(_GNU_SOURCE)
    cpu_set_t set; // what taskset or a container leaves us, not what the machine has
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
        return (uint32_t)CPU_COUNT(&set);
#endif
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count > 0 ? (uint32_t)count : 1;
}

void *cutis_os_library_open(const char *name)
{
    return dlopen(name, RTLD_NOW | RTLD_LOCAL);
}

void *cutis_os_library_symbol(void *library, const char *name)
{
    return dlsym(library, name);
}

void cutis_os_library_close(void *library)
{
    if (library) dlclose(library);
}

#endif
