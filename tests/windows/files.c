/// The promises of base/os about files, on Windows: run under wine by test_windows.sh.
///
///   files.exe FOLDER            every claim below, in that (empty) folder; "ok" and "not ok" lines
///   files.exe FOLDER kills N    N savers are ended while they save; the file is the old or the new
///   files.exe FOLDER save       the saver: big files over each other, until somebody ends it
#define WIN32_LEAN_AND_MEAN
#include <windows.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/os/os.h"
#include "base/os/wide.h"

static cutis_context *context;
static char folder[400];
static int failed;

static void claim(bool good, const char *name)
{
    if (good)
        printf("ok windows: %s\n", name);
    else
        printf("not ok windows: %s: %s\n", name, cutis_context_error(context));
    failed |= !good;
    fflush(stdout);
}

static const char *at(const char *name)
{
    static char paths[4][4096];
    static int next;
    char *path = paths[next++ & 3];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static cutis_result save(const char *path, const char *text)
{
    cutis_os_write *write = NULL;
    cutis_result result = cutis_os_write_begin(context, path, &write);
    if (result != CUTIS_OK) return result;
    result = cutis_os_write_append(write, text, strlen(text));
    if (result == CUTIS_OK) return cutis_os_write_commit(write);
    cutis_os_write_abort(write);
    return result;
}

static bool holds(const char *path, const char *text)
{
    void *data = NULL;
    size_t size = 0;
    if (cutis_os_read_file(context, path, &data, &size) != CUTIS_OK) return false;
    const bool same = size == strlen(text) && memcmp(data, text, size) == 0;
    cutis_free(context, data, size + 1);
    return same;
}

static void count_name(void *user, const char *name)
{
    (void)name;
    ++*(int *)user;
}

static int count_files(const char *path)
{
    int count = 0;
    return cutis_os_list_folder(context, path, count_name, &count) == CUTIS_OK ? count : -1;
}

static DWORD attributes(const char *path, DWORD set)
{
    wchar_t *wide = cutis_os_wide_path(path);
    if (set) SetFileAttributesW(wide, set);
    const DWORD found = GetFileAttributesW(wide);
    free(wide);
    return found;
}

static bool make_folder(const char *path)
{
    wchar_t *wide = cutis_os_wide_path(path);
    const bool made = wide && CreateDirectoryW(wide, NULL);
    free(wide);
    return made;
}

static bool says(cutis_result result, cutis_result wanted, const char *text)
{
    return result == wanted && strstr(cutis_context_error(context), text);
}

// Claims ------------------------------------------------------------------------------------------

static void check_saving(void)
{
    claim(save(at("a.bin"), "first") == CUTIS_OK && holds(at("a.bin"), "first"), "a file is made");
    claim(save(at("a.bin"), "one\r\ntwo\n\x1a three") == CUTIS_OK &&
              holds(at("a.bin"), "one\r\ntwo\n\x1a three"),
          "a file is replaced, its bytes as they were given");
    cutis_os_write *write = NULL;
    const bool begun = cutis_os_write_begin(context, at("a.bin"), &write) == CUTIS_OK &&
                       cutis_os_write_append(write, "half", 4) == CUTIS_OK;
    const int during = count_files(folder);
    cutis_os_write_abort(write);
    claim(begun && during == 2 && count_files(folder) == 1 && !holds(at("a.bin"), "half"),
          "an abandoned save leaves the old file and nothing beside it");
    wchar_t *wide = cutis_os_wide_path(at("a.bin"));
    HANDLE reader = CreateFileW(wide, GENERIC_READ,
                                FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
                                OPEN_EXISTING, 0, NULL);
    free(wide);
    const bool replaced = save(at("a.bin"), "while read") == CUTIS_OK;
    CloseHandle(reader);
    // Windows may refuse while somebody reads; then the old one stands.
    claim(replaced ? holds(at("a.bin"), "while read") : holds(at("a.bin"), "one\r\ntwo\n\x1a three"),
          "a file that somebody reads is replaced whole or not at all");
    claim(says(save(folder, "x"), CUTIS_FILE_WRITE, "Is a directory"), "a folder is no target");
    claim(says(save(at("none/x"), "x"), CUTIS_FILE_WRITE, "No such file"),
          "a folder that is not there is named");
}

static void check_permissions(void)
{
    cutis_context *keeps = context, *forces = NULL;
    const cutis_context_options force = { .replace_read_only = true };
    save(at("locked.bin"), "mine");
    attributes(at("locked.bin"), FILE_ATTRIBUTE_READONLY);
    claim(says(save(at("locked.bin"), "yours"), CUTIS_FILE_WRITE, "read-only") &&
              holds(at("locked.bin"), "mine"),
          "a read-only file is refused before anything is written");
    if (cutis_context_create(&force, &forces) == CUTIS_OK) context = forces;
    claim(save(at("locked.bin"), "yours") == CUTIS_OK && holds(at("locked.bin"), "yours") &&
              attributes(at("locked.bin"), 0) & FILE_ATTRIBUTE_READONLY,
          "force replaces it, and it stays read-only");
    context = keeps;
    cutis_context_destroy(forces);
    attributes(at("locked.bin"), FILE_ATTRIBUTE_NORMAL);
    save(at("hidden.bin"), "a");
    attributes(at("hidden.bin"), FILE_ATTRIBUTE_HIDDEN);
    claim(save(at("hidden.bin"), "b") == CUTIS_OK &&
              attributes(at("hidden.bin"), 0) & FILE_ATTRIBUTE_HIDDEN,
          "a hidden file stays hidden");
}

static void check_names(void)
{
    char path[4096], out[4096];
    const char *unicode = "\xc3\x9c" "berma\xc3\x9f \xe7\x9a\xae\xe8\x86\x9a \xf0\x9f\xa6\xb4.bin";
    claim(save(at(unicode), "x") == CUTIS_OK && holds(at(unicode), "x") &&
              cutis_os_file_exists(at(unicode)),
          "names beyond the code page, and beyond 16 bits");
    claim(says(save(at("\xff.bin"), "x"), CUTIS_FILE_WRITE, "no such name"),
          "a name that is no UTF-8 is refused");
    snprintf(path, sizeof path, "%s", folder);
    for (int i = 0; i < 12; i++) { // 12 * 81 characters
        size_t used = strlen(path);
        snprintf(path + used, sizeof path - used, "/%080d", i);
        if (!make_folder(path)) break;
    }
    strcat(path, "/deep.bin");
    claim(strlen(path) > 900 && save(path, "deep") == CUTIS_OK && save(path, "deeper") == CUTIS_OK &&
              holds(path, "deeper") && cutis_os_file_exists(path),
          "a path of 1000 characters");
    claim(cutis_os_resolve_below(context, path, "deep.bin", out, sizeof out) == CUTIS_OK &&
              holds(out, "deeper"),
          "a name beside it");
    snprintf(path, sizeof path, "%s\\a.bin", folder);
    claim(holds(path, "while read") || holds(path, "one\r\ntwo\n\x1a three"), "backslashes");
    claim(says(save(at("NUL"), "x"), CUTIS_FILE_WRITE, "device") ||
              says(save("NUL", "x"), CUTIS_FILE_WRITE, "device"),
          "a device's name is refused");
    claim(save("COM1", "x") == CUTIS_FILE_WRITE && save("con", "x") == CUTIS_FILE_WRITE,
          "so are COM1 and con");
    void *data = NULL;
    size_t size;
    claim(says(cutis_os_read_file(context, folder, &data, &size), CUTIS_FILE_READ, "regular") &&
              cutis_os_read_file(context, "NUL", &data, &size) != CUTIS_OK &&
              says(cutis_os_read_file(context, at("none"), &data, &size), CUTIS_FILE_NOT_FOUND,
                   "No such file"),
          "folders, devices and nothing are not read");
}

static void check_below(void)
{
    static const char *const WRONG[] = { "C:/x.bin",  "c:x.bin",      "../x.bin", "/x.bin",
                                         "sub\\x",    "a.bin:stream", "",         "//server/x",
                                         "\\\\?\\C:", "file:///x" };
    char out[4096];
    int wrong = 0;
    for (size_t i = 0; i < sizeof WRONG / sizeof *WRONG; i++)
        wrong += cutis_os_resolve_below(context, at("a.bin"), WRONG[i], out, sizeof out) !=
                 CUTIS_CORRUPT_DATA;
    claim(wrong == 0, "drives, streams, steps up and shares lead nowhere from an asset");
    claim(cutis_os_resolve_below(context, at("a.bin"), "NUL", out, sizeof out) != CUTIS_OK &&
              cutis_os_resolve_below(context, at("a.bin"), "aux", out, sizeof out) != CUTIS_OK,
          "neither do devices");
    make_folder(at("sub"));
    save(at("sub/in.bin"), "in");
    claim(cutis_os_resolve_below(context, at("a.bin"), "sub/in.bin", out, sizeof out) == CUTIS_OK &&
              holds(out, "in"),
          "what is below is found");
}

static void check_machine(void)
{
    SetEnvironmentVariableW(L"CUTIS_TRY", L"\x00fc\x76ae");
    const char *value = cutis_os_environment("CUTIS_TRY");
    claim(value && strcmp(value, "\xc3\xbc\xe7\x9a\xae") == 0 &&
              !cutis_os_environment("CUTIS_NOT_THERE"),
          "the environment in UTF-8");
    const double first = cutis_os_seconds();
    Sleep(20);
    const double passed = cutis_os_seconds() - first;
    claim(passed > 0.01 && passed < 10 && cutis_os_core_count() >= 1, "time passes, cores are there");
    claim(cutis_os_library_open("no-such-library.dll") == NULL &&
              cutis_os_library_symbol(cutis_os_library_open("kernel32.dll"), "ReadFile") != NULL,
          "libraries of the system are opened, others are not there");
    char cache[1024];
    claim(cutis_os_cache_folder(cache, sizeof cache) && strstr(cache, "/cutis"), "a cache folder");
}

// Kills -------------------------------------------------------------------------------------------

enum { BIG = 1 << 20 };

/// Tells whoever waits to end it that it has begun.
static HANDLE begun_event(void)
{
    return CreateEventW(NULL, FALSE, FALSE, L"Local\\cutis-saver-has-begun");
}

/// A file of one letter, so that a mixture shows.
static int save_for_ever(void)
{
    char *text = malloc(BIG + 1);
    HANDLE begun = begun_event();
    if (!text) return 1;
    for (int i = 0;; i++) {
        memset(text, 'a' + i % 26, BIG);
        text[BIG] = 0;
        if (save(at("big.bin"), text) != CUTIS_OK) return 1;
        SetEvent(begun);
    }
}

static bool whole(void)
{
    void *data = NULL;
    size_t size = 0;
    if (cutis_os_read_file(context, at("big.bin"), &data, &size) != CUTIS_OK) return false;
    const char *text = data;
    bool same = size == BIG;
    for (size_t i = 1; same && i < size; i++) same = text[i] == text[0];
    cutis_free(context, data, size + 1);
    return same;
}

static bool kill_one(const wchar_t *program, DWORD after)
{
    wchar_t command[2048];
    STARTUPINFOW start = { .cb = sizeof start };
    PROCESS_INFORMATION made;
    swprintf(command, 2048, L"\"%ls\" \"%hs\" save", program, folder);
    if (!CreateProcessW(NULL, command, NULL, NULL, FALSE, 0, NULL, NULL, &start, &made))
        return false;
    HANDLE begun = begun_event();
    WaitForSingleObject(begun, 20000);
    CloseHandle(begun);
    Sleep(after);
    TerminateProcess(made.hProcess, 9);
    WaitForSingleObject(made.hProcess, INFINITE);
    CloseHandle(made.hThread), CloseHandle(made.hProcess);
    return whole();
}

static void remove_temporary(void *user, const char *name)
{
    wchar_t *path = cutis_os_wide_path(at(name));
    if (strstr(name, ".cutis-")) ++*(int *)user, DeleteFileW(path);
    free(path);
}

static void check_kills(const wchar_t *program, int count)
{
    char *text = malloc(BIG + 1);
    int torn = 0, left = 0;
    memset(text, 'z', BIG);
    text[BIG] = 0;
    save(at("big.bin"), text);
    free(text);
    for (int i = 0; i < count; i++) {
        torn += !kill_one(program, (DWORD)(cutis_os_seconds() * 1e6) % 20);
        cutis_os_list_folder(context, folder, remove_temporary, &left);
    }
    char name[128];
    snprintf(name, sizeof name, "%d savers ended while they save: %d torn (%d ended between)",
             count, torn, left);
    claim(torn == 0 && (count < 20 || left > 0), name);
}

int main(int count, char **arguments)
{
    wchar_t program[1024];
    if (count < 2 || cutis_context_create(NULL, &context) != CUTIS_OK) return 1;
    snprintf(folder, sizeof folder, "%s", arguments[1]);
    GetModuleFileNameW(NULL, program, 1024);
    if (count > 2 && strcmp(arguments[2], "save") == 0) return save_for_ever();
    if (count > 3 && strcmp(arguments[2], "kills") == 0) {
        check_kills(program, atoi(arguments[3]));
    } else {
        check_saving(), check_permissions(), check_names(), check_below(), check_machine();
        claim(cutis_context_memory(context) == 0, "no memory is left");
    }
    cutis_context_destroy(context);
    return failed;
}
