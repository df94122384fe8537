/// Helper programs in processes of their own: what they are given comes from files that nobody has
/// checked, and the code they run is not ours. Invariants: a helper has nothing of ours but one
/// socket, which is its input and its output; no memory and no time beyond its limits; and when
/// cutis_os_run_helper returns it is gone, whatever it did.
#include "base/os/os.h"
#include "base/error.h"

// There are no processes in WebAssembly. Limits that are set from outside, before a helper has got
// a byte, and a list of open files that is closed as it starts are Linux' own: elsewhere we start
// none.
#if !defined(__linux__) || !defined(_GNU_SOURCE)

bool cutis_os_find_helper(const char *name, const char *variable, const void *beside, char *out,
                          size_t capacity)
{
    (void)name, (void)variable, (void)beside, (void)out, (void)capacity;
    return false;
}

cutis_result cutis_os_run_helper(cutis_context *context, const cutis_os_helper *helper, size_t *got)
{
    *got = 0;
    return cutis_fail(context, CUTIS_UNSUPPORTED, "%s cannot be started", helper->program);
}

#else

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/// A program that only root, or who runs us, can have put there.
static bool is_helper(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode) &&
           !(info.st_mode & (S_IWGRP | S_IWOTH)) &&
           (info.st_uid == 0 || info.st_uid == geteuid()) && access(path, X_OK) == 0;
}

/// `name` below the folder of `file`: beside a build's programs, or one or two folders up, as
/// bin, lib and lib/TRIPLET stand beside libexec.
static bool find_beside(const char *file, const char *name, char *out, size_t capacity)
{
    static const char *const UP[] = { "", "../", "../../" };
    const char *slash = strrchr(file, '/');
    for (size_t i = 0; slash && i < sizeof UP / sizeof *UP; i++) {
        int length = snprintf(out, capacity, "%.*s/%slibexec/cutis/%s", (int)(slash - file), file,
                              UP[i], name);
        if (length > 0 && (size_t)length < capacity && is_helper(out)) return true;
    }
    return false;
}

bool cutis_os_find_helper(const char *name, const char *variable, const void *beside, char *out,
                          size_t capacity)
{
    const char *given = getenv(variable);
    char real[PATH_MAX];
    Dl_info library;
    if (given)
        return given[0] == '/' && snprintf(out, capacity, "%s", given) < (int)capacity &&
               is_helper(out);
    // For the program itself this may be what it was called by, which says nothing of where it is.
    if (dladdr(beside, &library) && library.dli_fname && library.dli_fname[0] == '/' &&
        realpath(library.dli_fname, real) && find_beside(real, name, out, capacity))
        return true;
    ssize_t length = readlink("/proc/self/exe", real, sizeof real - 1);
    if (length <= 0) return false;
    real[length] = 0;
    return find_beside(real, name, out, capacity);
}

static bool start(const char *program, int theirs, pid_t *process)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    char library[PATH_MAX + 20] = "LD_LIBRARY_PATH=";
    const char *path = getenv("LD_LIBRARY_PATH");
    char *arguments[] = { (char *)program, NULL }, *environment[] = { NULL, NULL };
    if (path && strlen(path) < PATH_MAX) {
        memcpy(library + strlen(library), path, strlen(path) + 1);
        environment[0] = library;
    }
    sigemptyset(&none);
    sigfillset(&all);
    if (posix_spawn_file_actions_init(&files) != 0) return false;
    if (posix_spawnattr_init(&attributes) != 0) {
        posix_spawn_file_actions_destroy(&files);
        return false;
    }
    bool good =
        posix_spawn_file_actions_adddup2(&files, theirs, 0) == 0 &&
        posix_spawn_file_actions_adddup2(&files, theirs, 1) == 0 &&
        posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0) == 0 &&
        posix_spawn_file_actions_addclosefrom_np(&files, 3) == 0 &&
        posix_spawnattr_setsigmask(&attributes, &none) == 0 &&
        posix_spawnattr_setsigdefault(&attributes, &all) == 0 &&
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF) == 0;
    good = good && posix_spawn(process, program, &files, &attributes, arguments, environment) == 0;
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return good;
}

/// From outside, before it has got its first byte: it waits for that.
static void limit(pid_t process, const cutis_os_helper *helper)
{
    const struct rlimit memory = { helper->memory_bytes, helper->memory_bytes }, none = { 0, 0 };
    const struct rlimit time = { helper->seconds, helper->seconds + 1 };
    prlimit(process, RLIMIT_AS, &memory, NULL);
    prlimit(process, RLIMIT_CPU, &time, NULL);
    prlimit(process, RLIMIT_CORE, &none, NULL);
    prlimit(process, RLIMIT_FSIZE, &none, NULL);
}

// A busy machine gives a process a fraction of its time; one that sleeps is stopped by this.
enum { CLOCK_FACTOR = 15 };

/// How long a helper may go on.
typedef struct watch {
    cutis_context *context;
    double end, ask; ///< when its time is over, and when to ask the caller again
    bool cancelled;
} watch;

static bool go_on(watch *w)
{
    const double now = cutis_os_seconds();
    if (!w->cancelled && now >= w->ask) {
        w->cancelled = cutis_progress(w->context, "waiting for a helper", 0.5) != CUTIS_OK;
        w->ask = now + 0.1;
    }
    return !w->cancelled && now < w->end;
}

/// Both ways at once, or each would wait for the other. @return false: its time is over
static bool talk(int ours, const cutis_os_helper *helper, watch *w, size_t *got)
{
    size_t sent = 0;
    bool open = true; // to it
    *got = 0;
    while (go_on(w)) {
        struct pollfd wait = { .fd = ours, .events = POLLIN | (open ? POLLOUT : 0) };
        int ready = poll(&wait, 1, 100);
        if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
        if (ready < 0) return false;
        if (open && wait.revents & (POLLOUT | POLLHUP | POLLERR)) {
            ssize_t count = send(ours, (const char *)helper->input + sent,
                                 helper->input_size - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
            if (count > 0) sent += (size_t)count;
            bool gone = count < 0 && errno != EAGAIN && errno != EINTR;
            if (gone || sent == helper->input_size) {
                shutdown(ours, SHUT_WR);
                open = false;
            }
        }
        if (!(wait.revents & (POLLIN | POLLHUP | POLLERR))) continue;
        char more;
        const bool full = *got == helper->output_size;
        ssize_t count = recv(ours, full ? &more : (char *)helper->output + *got,
                             full ? 1 : helper->output_size - *got, MSG_DONTWAIT);
        if (count < 0 && (errno == EAGAIN || errno == EINTR)) continue;
        if (count <= 0) return true;
        if (full) { // it says more than it was asked for
            *got = SIZE_MAX;
            return true;
        }
        *got += (size_t)count;
    }
    return false;
}

/// Its end: what it left by, or 0 where somebody else (a handler of the host's) took that away.
static int reap(pid_t process, watch *w)
{
    int status = 0;
    struct timespec pause = { .tv_nsec = 50000 };
    for (;;) {
        pid_t found = waitpid(process, &status, WNOHANG);
        if (found == process) return status;
        if (found < 0 && errno != EINTR) return 0;
        if (!go_on(w)) kill(process, SIGKILL);
        nanosleep(&pause, NULL);
        if (pause.tv_nsec < 5000000) pause.tv_nsec *= 2;
    }
}

static cutis_result judge(cutis_context *context, const cutis_os_helper *helper, bool in_time,
                          int status, size_t got)
{
    const bool killed = WIFSIGNALED(status);
    if (got == SIZE_MAX)
        return cutis_fail(context, CUTIS_CORRUPT_DATA, "%s says more than it was asked for",
                          helper->program);
    if (!in_time || (killed && (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL)))
        return cutis_fail(context, CUTIS_LIMIT_EXCEEDED, "%s needs more than %u s", helper->program,
                          helper->seconds);
    if (WIFEXITED(status) && WEXITSTATUS(status) == CUTIS_HELPER_NO_MEMORY)
        return cutis_fail(context, CUTIS_LIMIT_EXCEEDED, "%s needs more than %llu MiB",
                          helper->program, (unsigned long long)(helper->memory_bytes >> 20));
    if (killed || (WIFEXITED(status) && WEXITSTATUS(status) != 0))
        return cutis_fail(context, CUTIS_CORRUPT_DATA, "%s %s", helper->program,
                          killed ? "crashed" : "failed");
    return CUTIS_OK;
}

cutis_result cutis_os_run_helper(cutis_context *context, const cutis_os_helper *helper, size_t *got)
{
    int ends[2];
    pid_t process;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return cutis_fail(context, CUTIS_UNSUPPORTED, "%s: %s", helper->program, strerror(errno));
    const bool started = start(helper->program, ends[1], &process);
    close(ends[1]);
    if (!started) {
        close(ends[0]);
        return cutis_fail(context, CUTIS_UNSUPPORTED, "%s cannot be started", helper->program);
    }
    limit(process, helper);
    const double now = cutis_os_seconds();
    watch w = { context, now + CLOCK_FACTOR * (double)helper->seconds, now + 0.1, false };
    const bool in_time = talk(ends[0], helper, &w, got);
    if (!in_time || *got == SIZE_MAX) kill(process, SIGKILL);
    close(ends[0]);
    const int status = reap(process, &w);
    // Ctrl-C ends a helper as it ends us: what it left by says nothing then.
    w.ask = 0;
    go_on(&w);
    return w.cancelled ? CUTIS_CANCELLED : judge(context, helper, in_time, status, *got);
}

#endif
