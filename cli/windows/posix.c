/// POSIX's calls for files by those of Windows: names are UTF-8, from the root, with "\\?\" before
/// them, so that neither their letters nor their length matter.
#include "posix.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <wchar.h>
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#undef stat
#undef fopen
#undef fclose

enum { WIDE = 32768 };

// Names -------------------------------------------------------------------------------------------

static int fail(void)
{
    switch (GetLastError()) {
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND:
    case ERROR_INVALID_NAME:
    case ERROR_INVALID_DRIVE:
    case ERROR_BAD_NETPATH: errno = ENOENT; break;
    case ERROR_FILE_EXISTS:
    case ERROR_ALREADY_EXISTS: errno = EEXIST; break;
    case ERROR_DIR_NOT_EMPTY: errno = ENOTEMPTY; break;
    case ERROR_NOT_ENOUGH_MEMORY: errno = ENOMEM; break;
    default: errno = EACCES;
    }
    return -1;
}

static wchar_t *widen(const char *text)
{
    const int size = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text, -1, NULL, 0);
    wchar_t *wide = size > 0 ? malloc((size_t)size * sizeof *wide) : NULL;
    if (wide) MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text, -1, wide, size);
    return wide;
}

/// `more` is put behind it.
static wchar_t *wide_path(const char *path, const wchar_t *more)
{
    wchar_t *wide = path[0] ? widen(path) : NULL, *out = NULL;
    wchar_t *full = wide ? malloc((WIDE + 16) * sizeof *full) : NULL;
    const DWORD length = full ? GetFullPathNameW(wide, WIDE, full + 8, NULL) : 0;
    if (length && length < WIDE) {
        wchar_t *start = full + 8;
        if (wcsncmp(start, L"\\\\?\\", 4) != 0 && wcsncmp(start, L"\\\\.\\", 4) != 0) {
            const bool share = wcsncmp(start, L"\\\\", 2) == 0;
            start -= share ? 6 : 4; // "\\server" becomes "\\?\UNC\server"
            memcpy(start, share ? L"\\\\?\\UNC\\" : L"\\\\?\\", (share ? 8 : 4) * sizeof *start);
        }
        const size_t used = wcslen(start);
        if ((out = malloc((used + wcslen(more) + 1) * sizeof *out)))
            wcscat(wcscpy(out, start), more + (start[used - 1] == L'\\' && *more == L'\\'));
    }
    free(wide), free(full);
    if (!out) SetLastError(path[0] ? ERROR_INVALID_NAME : ERROR_PATH_NOT_FOUND);
    return out;
}

static int finish(wchar_t *path, BOOL done)
{
    const DWORD error = GetLastError();
    free(path);
    SetLastError(error);
    return done ? 0 : fail();
}

int posix_mkdir(const char *path)
{
    wchar_t *wide = wide_path(path, L"");
    return finish(wide, wide && CreateDirectoryW(wide, NULL));
}

int posix_unlink(const char *path)
{
    wchar_t *wide = wide_path(path, L"");
    return finish(wide, wide && DeleteFileW(wide));
}

int posix_rmdir(const char *path)
{
    wchar_t *wide = wide_path(path, L"");
    return finish(wide, wide && RemoveDirectoryW(wide));
}

static HANDLE look_at(const char *path)
{
    wchar_t *wide = wide_path(path, L"");
    HANDLE file = INVALID_HANDLE_VALUE;
    if (wide)
        file = CreateFileW(wide, 0, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
                           OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, NULL);
    finish(wide, TRUE);
    return file;
}

int posix_stat(const char *path, struct posix_stat *out)
{
    BY_HANDLE_FILE_INFORMATION info;
    HANDLE file = look_at(path);
    if (file == INVALID_HANDLE_VALUE) return fail();
    const bool disk = GetFileType(file) == FILE_TYPE_DISK;
    const BOOL known = disk && GetFileInformationByHandle(file, &info);
    CloseHandle(file);
    if (!disk) return *out = (struct posix_stat){ .st_ino = 1, .st_mode = S_IFCHR | 0666 }, 0;
    if (!known) return fail();
    const bool folder = (info.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) != 0;
    const bool read_only = !folder && info.dwFileAttributes & FILE_ATTRIBUTE_READONLY;
    *out = (struct posix_stat){
        .st_dev = info.dwVolumeSerialNumber,
        .st_ino = (unsigned long long)info.nFileIndexHigh << 32 | info.nFileIndexLow,
        .st_mode = (unsigned)(folder ? S_IFDIR | 0777 : S_IFREG | (read_only ? 0444 : 0666)),
        .st_size = (long long)((uint64_t)info.nFileSizeHigh << 32 | info.nFileSizeLow)
    };
    return 0;
}

int posix_access(const char *path, int mode)
{
    struct posix_stat info;
    if (posix_stat(path, &info) != 0) return -1;
    if (!(mode & W_OK) || info.st_mode & 0222) return 0;
    return errno = EACCES, -1;
}

char *posix_realpath(const char *path, char *out)
{
    HANDLE file = look_at(path);
    if (file == INVALID_HANDLE_VALUE) return fail(), NULL;
    wchar_t *wide = malloc(WIDE * sizeof *wide);
    char *real = malloc(3 * WIDE);
    const DWORD length = wide && real ? GetFinalPathNameByHandleW(file, wide, WIDE, 0) : 0;
    CloseHandle(file);
    const bool found = length && length < WIDE &&
                       WideCharToMultiByte(CP_UTF8, 0, wide + 4, -1, real, 3 * WIDE, NULL, NULL);
    free(wide);
    if (!found) return free(real), fail(), NULL;
    for (char *c = real; *c; c++)
        if (*c == '\\') *c = '/';
    if (strncmp(real, "UNC/", 4) == 0) memcpy(real, "///", 3), memmove(real, real + 2, strlen(real) - 1);
    if (!out) return real;
    strcpy(out, real);
    return free(real), out;
}

// Folders -----------------------------------------------------------------------------------------

struct posix_folder {
    HANDLE search;
    WIN32_FIND_DATAW found;
    bool more;
    struct posix_dirent entry;
};

posix_folder *posix_opendir(const char *path)
{
    posix_folder *folder = calloc(1, sizeof *folder);
    wchar_t *all = folder ? wide_path(path, L"\\*") : NULL;
    if (!all) return free(folder), fail(), NULL;
    folder->search = FindFirstFileW(all, &folder->found);
    folder->more = folder->search != INVALID_HANDLE_VALUE;
    if (finish(all, folder->more) == 0) return folder;
    return free(folder), NULL;
}

struct posix_dirent *posix_readdir(posix_folder *folder)
{
    while (folder->more) {
        const DWORD attributes = folder->found.dwFileAttributes;
        const int size =
            WideCharToMultiByte(CP_UTF8, WC_ERR_INVALID_CHARS, folder->found.cFileName, -1,
                                folder->entry.d_name, sizeof folder->entry.d_name, NULL, NULL);
        folder->entry.d_type = attributes & FILE_ATTRIBUTE_DIRECTORY ? DT_DIR : DT_REG;
        folder->more = FindNextFileW(folder->search, &folder->found);
        if (size > 0) return &folder->entry;
    }
    return NULL;
}

int posix_closedir(posix_folder *folder)
{
    FindClose(folder->search);
    free(folder);
    return 0;
}

int posix_alphasort(const struct posix_dirent **a, const struct posix_dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

int posix_scandir(const char *path, struct posix_dirent ***out,
                  int (*wanted)(const struct posix_dirent *),
                  int (*order)(const struct posix_dirent **, const struct posix_dirent **))
{
    posix_folder *folder = posix_opendir(path);
    struct posix_dirent **list = NULL, **grown;
    size_t count = 0;
    if (!folder) return -1;
    for (struct posix_dirent *entry; (entry = posix_readdir(folder));) {
        if (wanted && !wanted(entry)) continue;
        if (!(grown = realloc(list, (count + 1) * sizeof *list))) break;
        list = grown;
        if (!(list[count] = malloc(sizeof *entry))) break;
        *list[count++] = *entry;
    }
    posix_closedir(folder);
    if (count) qsort(list, count, sizeof *list, (int (*)(const void *, const void *))order);
    *out = list;
    return (int)count;
}

// Streams -----------------------------------------------------------------------------------------

int posix_isatty(int file)
{
    DWORD mode;
    return GetConsoleMode((HANDLE)_get_osfhandle(file), &mode) != 0;
}

/// Always of bytes: no line ends are turned.
FILE *posix_fopen(const char *path, const char *mode)
{
    wchar_t kind[8] = L"", *wide = wide_path(strcmp(path, "/dev/null") == 0 ? "NUL" : path, L"");
    for (int i = 0; mode[i] && i < 6; i++) kind[i] = (wchar_t)mode[i];
    if (!strchr(mode, 'b')) wcscat(kind, L"b");
    FILE *file = wide ? _wfopen(wide, kind) : NULL;
    free(wide);
    if (!wide) errno = ENOENT;
    return file;
}

/// Streams into memory are files that go when they are closed; their content is read first.
typedef struct memory_stream {
    FILE *file;
    char **text;
    size_t *size;
    struct memory_stream *next;
} memory_stream;
static memory_stream *streams;
static SRWLOCK streams_lock = SRWLOCK_INIT;

FILE *posix_open_memstream(char **text, size_t *size)
{
    wchar_t folder[MAX_PATH + 1], path[MAX_PATH + 1];
    memory_stream *made = calloc(1, sizeof *made);
    HANDLE handle = INVALID_HANDLE_VALUE;
    if (made && GetTempPathW(MAX_PATH + 1, folder) && GetTempFileNameW(folder, L"cut", 0, path))
        handle = CreateFileW(path, GENERIC_READ | GENERIC_WRITE | DELETE, FILE_SHARE_DELETE, NULL,
                             CREATE_ALWAYS, FILE_ATTRIBUTE_TEMPORARY | FILE_FLAG_DELETE_ON_CLOSE,
                             NULL);
    const int file = handle == INVALID_HANDLE_VALUE
                         ? -1
                         : _open_osfhandle((intptr_t)handle, _O_RDWR | _O_BINARY);
    FILE *stream = file < 0 ? NULL : _fdopen(file, "w+b");
    if (!stream) return free(made), NULL;
    *made = (memory_stream){ .file = stream, .text = text, .size = size };
    AcquireSRWLockExclusive(&streams_lock);
    made->next = streams, streams = made;
    ReleaseSRWLockExclusive(&streams_lock);
    return stream;
}

static int read_back(const memory_stream *stream)
{
    const long long size = _ftelli64(stream->file);
    if (size < 0 || fflush(stream->file) != 0) return -1;
    rewind(stream->file);
    *stream->text = malloc((size_t)size + 1);
    if (!*stream->text) return -1;
    *stream->size = fread(*stream->text, 1, (size_t)size, stream->file);
    (*stream->text)[*stream->size] = 0;
    return *stream->size == (size_t)size ? 0 : -1;
}

int posix_fclose(FILE *file)
{
    memory_stream *found = NULL;
    int status = 0;
    AcquireSRWLockExclusive(&streams_lock);
    for (memory_stream **at = &streams; *at && !found;)
        if ((*at)->file == file)
            found = *at, *at = found->next;
        else
            at = &(*at)->next;
    ReleaseSRWLockExclusive(&streams_lock);
    if (found) status = read_back(found);
    free(found);
    return fclose(file) == 0 && status == 0 ? 0 : EOF;
}

char *posix_strndup(const char *text, size_t most)
{
    const size_t length = strnlen(text, most);
    char *copy = malloc(length + 1);
    if (!copy) return NULL;
    memcpy(copy, text, length);
    copy[length] = 0;
    return copy;
}

// The machine -------------------------------------------------------------------------------------

long sysconf(int name)
{
    (void)name; // there is one
    return (long)GetActiveProcessorCount(ALL_PROCESSOR_GROUPS);
}

void *dlopen(const char *name, int flags)
{
    (void)flags;
    return LoadLibraryExA(strncmp(name, "libcuda", 7) == 0 ? "nvcuda.dll" : "OpenCL.dll", NULL,
                          LOAD_LIBRARY_SEARCH_SYSTEM32);
}

void *dlsym(void *library, const char *name)
{
    FARPROC symbol = GetProcAddress(library, name);
    void *out;
    memcpy(&out, &symbol, sizeof out);
    return out;
}

int dlclose(void *library)
{
    return FreeLibrary(library) ? 0 : -1;
}
