/// Who may stop the command: Ctrl-C (on Windows Ctrl-Break and a closed window, too); on the web the page, which is told how far it is.
#include "app.h"

#if defined(__wasm__)

/// Imported from the page: how far a long job is; 0 stops it.
__attribute__((import_module("studio"), import_name("progress"))) extern int
page_progress(const char *stage, double fraction);

static bool interrupted;

bool app_goes_on(const char *stage, double fraction)
{
    interrupted |= !page_progress(stage, fraction);
    return !interrupted;
}

void app_catch_interrupt(void) {}

void app_end_interrupted(void) {}

void app_forget_interrupt(void)
{
    interrupted = false;
}

#elif defined(_WIN32)

#define WIN32_LEAN_AND_MEAN
#include <stdatomic.h>
#include <windows.h>

static atomic_bool interrupted;

// Windows calls it in a thread of its own. The first Ctrl-C asks, a later one kills, as below. A
// closed window, the end of a session: the process ends when this returns, so it waits for the
// main thread to end first.
static BOOL WINAPI on_interrupt(DWORD kind)
{
    static double first;
    const bool asked = atomic_exchange(&interrupted, true);
    const double now = app_seconds();
    if (!asked) first = now;
    if (kind != CTRL_C_EVENT && kind != CTRL_BREAK_EVENT) Sleep(INFINITE);
    return !asked || now - first <= 0.5;
}

void app_catch_interrupt(void)
{
    SetConsoleCtrlHandler(on_interrupt, TRUE);
}

void app_end_interrupted(void)
{
    if (!interrupted) return;
    fflush(NULL);
    ExitProcess((UINT)STATUS_CONTROL_C_EXIT); // what the system's own handler leaves by
}

void app_forget_interrupt(void)
{
    interrupted = false;
}

bool app_goes_on(const char *stage, double fraction)
{
    (void)stage, (void)fraction;
    return !interrupted;
}

#else

#include <signal.h>

static volatile sig_atomic_t interrupted; // 0, or the signal that asked

// The first Ctrl-C asks, a second one kills. Programs that run others pass it on beside the
// terminal (timeout does), so what comes right after the first is still the first.
static void on_interrupt(int signal_number)
{
    static double first;
    double now = app_seconds();
    if (!interrupted) {
        first = now;
        interrupted = signal_number;
    } else if (now - first > 0.5) {
        signal(signal_number, SIG_DFL);
        raise(signal_number);
    }
}

void app_catch_interrupt(void)
{
    struct sigaction action = { .sa_handler = on_interrupt };
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

void app_end_interrupted(void)
{
    if (!interrupted) return;
    int signal_number = interrupted;
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

void app_forget_interrupt(void)
{
    interrupted = 0;
}

bool app_goes_on(const char *stage, double fraction)
{
    (void)stage, (void)fraction;
    return !interrupted;
}

#endif

bool app_interrupted(void)
{
    return interrupted != 0;
}
