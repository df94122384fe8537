/// UTF-8 and UTF-16, paths of any length, and what an error number means.
#include "base/os/wide.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

wchar_t *cutis_os_wide(const char *text)
{
    const int size = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text, -1, NULL, 0);
    wchar_t *wide = size > 0 ? malloc((size_t)size * sizeof *wide) : NULL;
    if (wide) MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text, -1, wide, size);
    return wide;
}

char *cutis_os_narrow(const wchar_t *wide)
{
    const int size =
        WideCharToMultiByte(CP_UTF8, WC_ERR_INVALID_CHARS, wide, -1, NULL, 0, NULL, NULL);
    char *text = size > 0 ? malloc((size_t)size) : NULL;
    if (text) WideCharToMultiByte(CP_UTF8, WC_ERR_INVALID_CHARS, wide, -1, text, size, NULL, NULL);
    return text;
}

static wchar_t *fail(DWORD error)
{
    SetLastError(error);
    return NULL;
}

/// What comes before a full path ("C:\x", "\\server\share\x", "\\?\C:\x"), and what it replaces.
static const wchar_t *prefix_of(const wchar_t *full, size_t *replaced)
{
    *replaced = 0;
    if (wcsncmp(full, L"\\\\?\\", 4) == 0) return L"";
    if (wcsncmp(full, L"\\\\", 2) != 0) return L"\\\\?\\";
    *replaced = 2;
    return L"\\\\?\\UNC\\";
}

wchar_t *cutis_os_wide_path(const char *path)
{
    if (!path[0]) return fail(ERROR_PATH_NOT_FOUND);
    wchar_t *wide = cutis_os_wide(path), *full = malloc(OS_WIDE_PATH * sizeof *full);
    if (!wide || !full) {
        free(wide), free(full);
        return fail(ERROR_INVALID_NAME);
    }
    // A path that says "\\?\" is taken as it stands, backslashes and all: so are its rules.
    const bool plain = wcsncmp(wide, L"\\\\?\\", 4) == 0;
    const DWORD length = plain ? 0 : GetFullPathNameW(wide, OS_WIDE_PATH, full, NULL);
    if (plain ? wcslen(wide) >= OS_WIDE_PATH : length == 0 || length >= OS_WIDE_PATH) {
        free(wide), free(full);
        return fail(ERROR_FILENAME_EXCED_RANGE);
    }
    if (plain) wcscpy(full, wide);
    free(wide);
    if (wcsncmp(full, L"\\\\.\\", 4) == 0) { // CON, NUL, COM1, with whatever ending
        free(full);
        return fail(ERROR_BAD_DEVICE);
    }
    size_t replaced;
    const wchar_t *prefix = prefix_of(full, &replaced);
    const size_t before = wcslen(prefix), rest = wcslen(full + replaced) + 1;
    wchar_t *out = malloc((before + rest) * sizeof *out);
    if (out) {
        memcpy(out, prefix, before * sizeof *out);
        memcpy(out + before, full + replaced, rest * sizeof *out);
    }
    free(full);
    return out ? out : fail(ERROR_NOT_ENOUGH_MEMORY);
}

/// So that a script, and a test, finds one word for one thing on every system.
static const char *known_reason(DWORD error)
{
    switch (error) {
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND:
    case ERROR_INVALID_DRIVE:
    case ERROR_BAD_NETPATH:
    case ERROR_BAD_NET_NAME: return "No such file or directory";
    case ERROR_ACCESS_DENIED:
    case ERROR_WRITE_PROTECT: return "Permission denied";
    case ERROR_SHARING_VIOLATION:
    case ERROR_LOCK_VIOLATION: return "Another program has the file open";
    case ERROR_DISK_FULL:
    case ERROR_HANDLE_DISK_FULL: return "No space left on device";
    case ERROR_FILENAME_EXCED_RANGE:
    case ERROR_BUFFER_OVERFLOW: return "File name too long";
    case ERROR_INVALID_NAME: return "Windows allows no such name";
    case ERROR_BAD_DEVICE: return "Windows keeps this name for a device";
    case ERROR_CANT_RESOLVE_FILENAME: return "Too many levels of symbolic links";
    case ERROR_NOT_ENOUGH_MEMORY: return "Cannot allocate memory";
    default: return NULL;
    }
}

const char *cutis_os_reason(DWORD error, char out[OS_REASON])
{
    wchar_t wide[OS_REASON / 3]; // a character of UTF-16 has at most three bytes of UTF-8
    const char *known = known_reason(error);
    if (known) return known;
    DWORD length = FormatMessageW(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS, NULL,
                                  error, 0, wide, sizeof wide / sizeof *wide, NULL);
    while (length && (wide[length - 1] <= L' ' || wide[length - 1] == L'.')) wide[--length] = 0;
    if (!length || !WideCharToMultiByte(CP_UTF8, 0, wide, -1, out, OS_REASON, NULL, NULL))
        snprintf(out, OS_REASON, "the system's error %lu", error);
    return out;
}
