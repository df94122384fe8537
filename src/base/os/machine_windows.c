/// Time, cores, memory, environment, streams and dynamic libraries on Windows.
#include "base/os/os.h"
#include "base/os/wide.h"

#include <fcntl.h>
#include <io.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

double cutis_os_seconds(void)
{
    LARGE_INTEGER now, frequency; // neither can fail since Windows XP
    QueryPerformanceFrequency(&frequency);
    QueryPerformanceCounter(&now);
    return (double)now.QuadPart / (double)frequency.QuadPart;
}

static double seconds_of(FILETIME time) // units of 100 ns
{
    return 1e-7 * (4294967296.0 * (double)time.dwHighDateTime + (double)time.dwLowDateTime);
}

double cutis_os_processor_seconds(void)
{
    FILETIME made, ended, kernel, user;
    if (!GetProcessTimes(GetCurrentProcess(), &made, &ended, &kernel, &user))
        return cutis_os_seconds();
    return seconds_of(kernel) + seconds_of(user);
}

uint32_t cutis_os_core_count(void)
{
    DWORD_PTR ours = 0, all = 0; // what the process may use, in its group of at most 64
    if (GetProcessAffinityMask(GetCurrentProcess(), &ours, &all) && ours)
        return (uint32_t)__builtin_popcountll(ours);
    const DWORD count = GetActiveProcessorCount(ALL_PROCESSOR_GROUPS);
    return count ? count : 1;
}

/// Values are looked at and not kept: a thread's next question may have the last one's memory.
const char *cutis_os_environment(const char *name)
{
    static _Thread_local char value[1024];
    wchar_t *wide = cutis_os_wide(name), found[sizeof value];
    const DWORD length = wide ? GetEnvironmentVariableW(wide, found, sizeof value) : 0;
    free(wide);
    if (length >= sizeof value || (length == 0 && GetLastError() == ERROR_ENVVAR_NOT_FOUND))
        return NULL;
    if (length == 0) found[0] = 0;
    return WideCharToMultiByte(CP_UTF8, WC_ERR_INVALID_CHARS, found, -1, value, sizeof value, NULL,
                               NULL)
               ? value
               : NULL;
}

// Memory ------------------------------------------------------------------------------------------

void *cutis_os_memory_take(size_t size, size_t alignment)
{
    return _aligned_malloc(size, alignment);
}

void cutis_os_memory_give(void *memory)
{
    _aligned_free(memory);
}

void cutis_os_large_pages(void *memory, size_t size)
{
    (void)memory, (void)size; // those take a privilege that nobody has by default
}

// Streams -----------------------------------------------------------------------------------------

/// A file that goes when it is closed, or with the process. Windows has no stream into memory.
static HANDLE scratch_file(void)
{
    wchar_t folder[MAX_PATH + 1], path[MAX_PATH + 1];
    if (!GetTempPathW(MAX_PATH + 1, folder) || !GetTempFileNameW(folder, L"cut", 0, path))
        return INVALID_HANDLE_VALUE;
    return CreateFileW(path, GENERIC_READ | GENERIC_WRITE | DELETE, FILE_SHARE_DELETE, NULL,
                       CREATE_ALWAYS, FILE_ATTRIBUTE_TEMPORARY | FILE_FLAG_DELETE_ON_CLOSE, NULL);
}

FILE *cutis_os_stream_open(char *text, size_t size)
{
    (void)text, (void)size;
    HANDLE handle = scratch_file();
    if (handle == INVALID_HANDLE_VALUE) return NULL;
    const int file = _open_osfhandle((intptr_t)handle, _O_RDWR | _O_BINARY);
    FILE *stream = file >= 0 ? _fdopen(file, "w+b") : NULL;
    if (stream) return stream;
    if (file >= 0)
        _close(file);
    else
        CloseHandle(handle);
    return NULL;
}

void cutis_os_stream_close(FILE *stream, char *text, size_t size)
{
    rewind(stream);
    text[fread(text, 1, size - 1, stream)] = 0;
    fclose(stream);
}

// Dynamic libraries -------------------------------------------------------------------------------

/// Only from the program's folder and the system's, or by a path from the root: a library that
/// lies where the user happens to stand is nobody's we know. CUDA's compiler is found where its
/// installer says it is.
void *cutis_os_library_open(const char *name)
{
    wchar_t *wide = cutis_os_wide(name), path[MAX_PATH + 64], folder[MAX_PATH];
    if (!wide) return NULL;
    const bool full = wide[0] && wide[1] == L':';
    HMODULE library =
        LoadLibraryExW(wide, NULL,
                       full ? LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR | LOAD_LIBRARY_SEARCH_DEFAULT_DIRS
                            : LOAD_LIBRARY_SEARCH_DEFAULT_DIRS);
    const DWORD length = library ? 0 : GetEnvironmentVariableW(L"CUDA_PATH", folder, MAX_PATH);
    if (length > 2 && length < MAX_PATH && folder[1] == L':' && wcslen(wide) < 48 &&
        wcsncmp(wide, L"nvrtc", 5) == 0) {
        wcscpy(path, folder);
        wcscat(path, L"\\bin\\");
        wcscat(path, wide);
        library = LoadLibraryExW(
            path, NULL, LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR | LOAD_LIBRARY_SEARCH_DEFAULT_DIRS);
    }
    free(wide);
    return (void *)library;
}

void *cutis_os_library_symbol(void *library, const char *name)
{
    FARPROC symbol = GetProcAddress(library, name);
    void *out;
    memcpy(&out, &symbol, sizeof out);
    return out;
}

void cutis_os_library_close(void *library)
{
    if (library) FreeLibrary(library);
}
