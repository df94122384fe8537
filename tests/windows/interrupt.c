/// interrupt.exe MILLISECONDS LOG COMMAND...: runs a command, presses Ctrl-C (both are on one
/// console) after a while, and says what it ended by and how long that took: "pressed, exit
/// 0xC000013A after 12 ms". What both say goes to the file LOG.
#define WIN32_LEAN_AND_MEAN
#include <windows.h>

#include <stdio.h>
#include <stdlib.h>
#include <wchar.h>

static BOOL WINAPI stay(DWORD kind)
{
    (void)kind;
    return TRUE;
}

int wmain(int count, wchar_t **words);
int wmain(int count, wchar_t **words)
{
    static wchar_t line[32768];
    STARTUPINFOW start = { .cb = sizeof start };
    PROCESS_INFORMATION made;
    DWORD code = 0;
    if (count < 4) return 2;
    if (!GetConsoleWindow() && !GetConsoleCP()) AllocConsole();
    SetConsoleCtrlHandler(NULL, FALSE); // or the command would inherit that it is ignored
    SetConsoleCtrlHandler(stay, TRUE);
    SECURITY_ATTRIBUTES inherited = { sizeof inherited, NULL, TRUE };
    HANDLE log = CreateFileW(words[2], FILE_APPEND_DATA, FILE_SHARE_READ | FILE_SHARE_WRITE,
                             &inherited, CREATE_ALWAYS, 0, NULL);
    start.dwFlags = STARTF_USESTDHANDLES;
    start.hStdInput = GetStdHandle(STD_INPUT_HANDLE);
    start.hStdOutput = start.hStdError = log;
    for (int i = 3; i < count; i++) {
        wcscat(line, L"\"");
        wcscat(line, words[i]);
        wcscat(line, L"\" ");
    }
    if (!CreateProcessW(NULL, line, NULL, NULL, TRUE, 0, NULL, NULL, &start, &made)) return 2;
    const DWORD early = WaitForSingleObject(made.hProcess, (DWORD)_wtoi(words[1]));
    const ULONGLONG pressed = GetTickCount64();
    const BOOL sent = early == WAIT_TIMEOUT && GenerateConsoleCtrlEvent(CTRL_C_EVENT, 0);
    if (WaitForSingleObject(made.hProcess, 60000) != WAIT_OBJECT_0)
        TerminateProcess(made.hProcess, 99);
    GetExitCodeProcess(made.hProcess, &code);
    char said[128];
    DWORD written;
    const int length = snprintf(said, sizeof said, "%s, exit 0x%08lX after %llu ms\n",
                                early != WAIT_TIMEOUT ? "ended by itself"
                                : sent                ? "pressed"
                                                      : "not pressed",
                                code, GetTickCount64() - pressed);
    return !WriteFile(log, said, (DWORD)length, &written, NULL);
}
