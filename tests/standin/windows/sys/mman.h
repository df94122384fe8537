/// Pages that may not be touched (tests/guard.h), by Windows' calls.
#ifndef CUTIS_TESTS_STANDIN_MMAN_H
#define CUTIS_TESTS_STANDIN_MMAN_H

enum { PROT_NONE = 0, PROT_READ = 1, PROT_WRITE = 2 };
enum { MAP_PRIVATE = 1, MAP_ANONYMOUS = 2, MAP_NORESERVE = 4 };
#define MAP_FAILED NULL

static inline void *mmap(void *place, size_t size, int protection, int flags, int file, int at)
{
    (void)protection, (void)flags, (void)file, (void)at;
    return VirtualAlloc(place, size, MEM_RESERVE | MEM_COMMIT, PAGE_NOACCESS);
}

static inline int mprotect(void *place, size_t size, int protection)
{
    DWORD old;
    return VirtualProtect(place, size, protection == PROT_NONE ? PAGE_NOACCESS : PAGE_READWRITE,
                          &old)
               ? 0
               : -1;
}

static inline int munmap(void *place, size_t size)
{
    (void)size;
    return VirtualFree(place, 0, MEM_RELEASE) ? 0 : -1;
}

#endif
