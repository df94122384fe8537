/// Paths and texts as Windows wants them, for this folder: UTF-8 outside, UTF-16 inside.
#ifndef CUTIS_BASE_OS_WIDE_H
#define CUTIS_BASE_OS_WIDE_H

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

#include <stdbool.h>
#include <stddef.h>

/// The longest path Windows knows, in UTF-16, with its end.
enum { OS_WIDE_PATH = 32768, OS_REASON = 256 };

/// A path from the root with "\\?\" before it, which lifts the limit of 260 characters; memory of
/// malloc's. Windows' own rules for names ("." and "..", slashes of both kinds, names it keeps for
/// devices) are applied first. NULL: GetLastError says why; a name that is no UTF-8 is
/// ERROR_INVALID_NAME, a device ERROR_BAD_DEVICE.
wchar_t *cutis_os_wide_path(const char *path);

/// UTF-8 of malloc's; NULL: no memory, or half a pair of surrogates.
char *cutis_os_narrow(const wchar_t *wide);
wchar_t *cutis_os_wide(const char *text); ///< the way back; NULL: no memory, or no UTF-8

/// What GetLastError's number means, in the words POSIX systems have where there are such.
const char *cutis_os_reason(DWORD error, char out[OS_REASON]);

#endif
