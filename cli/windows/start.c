/// Where Windows starts the command: its words come in UTF-16 and go on in UTF-8, with the slashes
/// the rest of it knows; what it prints are bytes, UTF-8 on a console, too.
#include <fcntl.h>
#include <io.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>
#define WIN32_LEAN_AND_MEAN
#include <windows.h>

int main(int count, char **arguments);
int wmain(int count, wchar_t **words);

static UINT code_page; // the console's, before us

static void give_back_console(void)
{
    SetConsoleOutputCP(code_page);
}

/// Colours and the line of progress are escape sequences: Windows 10 obeys them when asked.
static void prepare_console(void)
{
    static const DWORD OUTPUTS[] = { STD_OUTPUT_HANDLE, STD_ERROR_HANDLE };
    for (int i = 0; i < 2; i++) {
        DWORD mode;
        HANDLE console = GetStdHandle(OUTPUTS[i]);
        if (!GetConsoleMode(console, &mode)) continue;
        SetConsoleMode(console, mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING);
        if (code_page == 0 && (code_page = GetConsoleOutputCP()) != 0) {
            SetConsoleOutputCP(CP_UTF8);
            atexit(give_back_console);
        }
    }
}

/// Half a pair of surrogates, which no name in UTF-8 can have, becomes U+FFFD: no such file.
static char *narrow(const wchar_t *word)
{
    const int size = WideCharToMultiByte(CP_UTF8, 0, word, -1, NULL, 0, NULL, NULL);
    char *text = size > 0 ? malloc((size_t)size) : NULL;
    if (!text) return NULL;
    WideCharToMultiByte(CP_UTF8, 0, word, -1, text, size, NULL, NULL);
    for (char *c = strncmp(text, "\\\\?\\", 4) == 0 ? "" : text; *c; c++)
        if (*c == '\\') *c = '/';
    return text;
}

int wmain(int count, wchar_t **words)
{
    char **arguments = calloc((size_t)count + 1, sizeof *arguments);
    _setmode(_fileno(stdout), _O_BINARY);
    _setmode(_fileno(stderr), _O_BINARY);
    setvbuf(stderr, NULL, _IOFBF, 8192); // without one each letter is a write; who prints a line flushes it
    for (int i = 0; arguments && i < count; i++)
        if (!(arguments[i] = narrow(words[i]))) arguments = NULL;
    if (!arguments) return fputs("cutis: not enough memory\n", stderr), 1;
    prepare_console();
    return main(count, arguments); // what was taken goes with the process
}
