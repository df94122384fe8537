/// Workers. A worker is a process that forks one more for each unit and waits for it, so that a
/// crash, a leak or a limit of memory ends a piece and not the farm. The child takes its messages
/// from the rank itself; one for another unit it leaves in shared memory and ends. Invariant: every
/// message that a worker gets is answered once, whatever the piece does.
#include "farm.h"

#include "deform.h"
#include "parts.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TEXT_MOST = 1 << 26 };

// Messages ----------------------------------------------------------------------------------------

static bool send_all(int socket, const void *data, size_t size)
{
    for (const char *at = data; size;) {
        const ssize_t sent = send(socket, at, size, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) return false;
        at += sent, size -= (size_t)sent;
    }
    return true;
}

static bool receive_all(int socket, void *data, size_t size)
{
    for (char *at = data; size;) {
        const ssize_t got = read(socket, at, size);
        if (got < 0 && errno == EINTR && !app_interrupted()) continue;
        if (got <= 0) return false;
        at += got, size -= (size_t)got;
    }
    return true;
}

bool farm_send(int socket, const farm_message *message, const char *text)
{
    farm_message sent = *message;
    sent.text_size = text ? (uint32_t)strlen(text) : 0;
    return send_all(socket, &sent, sizeof sent) &&
           (!sent.text_size || send_all(socket, text, sent.text_size));
}

bool farm_receive(int socket, farm_message *message, char **text)
{
    *text = NULL;
    if (!receive_all(socket, message, sizeof *message)) return false;
    if (!message->text_size) return true;
    *text = malloc((size_t)message->text_size + 1);
    if (!*text || !receive_all(socket, *text, message->text_size)) return false;
    (*text)[message->text_size] = 0;
    return true;
}

// Frames in their places --------------------------------------------------------------------------

uint64_t farm_sum(uint64_t sum, const void *data, size_t size)
{
    // Two sums in one, of little-endian words: order counts, and a hole of zeros shows. Zeros fill
    // up the last word.
    const unsigned char *bytes = data;
    uint32_t a = (uint32_t)sum, b = (uint32_t)(sum >> 32), word;
    for (; size >= 4; bytes += 4, size -= 4) {
        memcpy(&word, bytes, 4);
        a += word + 1;
        b += a;
    }
    if (size) {
        word = 0;
        memcpy(&word, bytes, size);
        a += word + 1;
        b += a;
    }
    return a | (uint64_t)b << 32;
}

int farm_write_at(int file, const void *data, size_t size, uint64_t offset)
{
    for (const char *at = data; size;) {
        const ssize_t wrote = pwrite(file, at, size, (off_t)offset);
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote <= 0) return wrote < 0 ? errno : EIO;
        at += wrote, size -= (size_t)wrote, offset += (uint64_t)wrote;
    }
    return 0;
}

typedef struct place {
    char *path; // NULL: not wanted
    int file;   // -1: the rank writes
    unsigned char *bytes;
    size_t used;
    uint64_t offset; // of bytes[0] in the file
    uint64_t sum;
} place;

typedef struct child {
    const farm *farm;
    const farm_unit *unit;
    int socket;
    farm_shared *shared;
    cli_app app;
    deform_job *deform;
    deform_extent extent;
    const part_verb *parted; // of a unit in parts
    void *job;               // its run; NULL: none
    double open_seconds;
    place places[2];
    bool nowhere; // plan: nothing is written
} child;

/// Ask the rank to write; a message for later may come before its answer.
static int write_by_parent(child *c, uint32_t which)
{
    const place *p = &c->places[which];
    const farm_message ask = { .kind = FARM_WRITE,
                               .unit = (uint32_t)(c->unit - c->farm->units),
                               .which = which,
                               .end = (uint32_t)p->used,
                               .offset = p->offset };
    farm_message got;
    char *text;
    if (!farm_send(c->socket, &ask, NULL)) _exit(1);
    for (;;) {
        if (!farm_receive(c->socket, &got, &text)) _exit(1);
        free(text);
        if (got.kind == FARM_WROTE) return (int)got.sum;
        c->shared->pending = got, c->shared->has_pending = true;
    }
}

static int flush_place(child *c, uint32_t which)
{
    place *p = &c->places[which];
    int problem = 0;
    if (!p->path || p->used == 0) return EXIT_GOOD;
    p->sum = farm_sum(p->sum, p->bytes, p->used);
    if (!c->nowhere)
        problem = p->file < 0 ? write_by_parent(c, which)
                              : farm_write_at(p->file, p->bytes, p->used, p->offset);
    p->offset += p->used;
    p->used = 0;
    return problem ? app_fail_text(&c->app, "%s: %s", p->path, strerror(problem)) : EXIT_GOOD;
}

static int put_values(child *c, uint32_t which, const float *values)
{
    place *p = &c->places[which];
    const size_t count = 3 * (size_t)c->unit->vertices, room = sizeof c->shared->bytes[0];
    for (size_t i = 0; i < count;) {
        size_t most = (room - p->used) / 4;
        if (most > count - i) most = count - i;
        for (size_t k = 0; k < most; k++) {
            uint32_t bits;
            memcpy(&bits, values + i + k, 4);
            unsigned char *at = p->bytes + p->used + 4 * k;
            for (int b = 0; b < 4; b++) at[b] = (unsigned char)(bits >> 8 * b);
        }
        p->used += 4 * most, i += most;
        if (p->used == room) TRY(flush_place(c, which));
    }
    return EXIT_GOOD;
}

static int put_frame(void *user, uint32_t frame, const float *positions, const float *normals)
{
    child *c = user;
    (void)frame; // they come in order
    TRY(put_values(c, 0, positions));
    return c->places[1].path ? put_values(c, 1, normals) : EXIT_GOOD;
}

/// Room for a piece that is measured: a run has it before it begins.
static void reserve(const child *c, const farm_message *m)
{
    for (uint32_t w = 0; w < 2; w++) {
        if (c->places[w].file < 0) continue;
        const uint64_t from = farm_place(c->unit, m->first, w), to = farm_place(c->unit, m->end, w);
        if (fallocate(c->places[w].file, 0, (off_t)from, (off_t)(to - from)) != 0) return;
    }
}

static int run_range(child *c, const farm_message *m)
{
    c->nowhere = m->kind == FARM_MEASURE && !m->opened;
    for (uint32_t w = 0; w < 2; w++) {
        if (c->places[w].path) c->places[w].offset = farm_place(c->unit, m->first, w);
        c->places[w].used = 0, c->places[w].sum = 0;
    }
    TRY(deform_range(&c->app, c->deform, m->first, m->end, put_frame, c));
    for (uint32_t w = 0; w < 2; w++) {
        const place *p = &c->places[w];
        TRY(flush_place(c, w));
        if (!c->nowhere && p->path && p->file >= 0 && fdatasync(p->file) != 0)
            return app_fail_text(&c->app, "%s: %s", p->path, strerror(errno));
    }
    return EXIT_GOOD;
}

/// Where frames go: opened here, unless the rank itself writes.
static int open_place(child *c, const farm_message *m, const char *name, int which)
{
    place *p = &c->places[which];
    p->bytes = c->shared->bytes[which];
    p->file = -1;
    if (!name) return EXIT_GOOD;
    p->path = farm_path(c->farm, name, ".part");
    if (!p->path) return app_fail_text(&c->app, "not enough memory");
    const bool measured = m->kind == FARM_MEASURE;
    if (c->farm->parent_writes || (measured && !m->opened)) return EXIT_GOOD;
    if (measured) TRY(farm_make_parents(&c->app, p->path));
    p->file = open(p->path, O_WRONLY | O_CLOEXEC | (measured ? O_CREAT : 0), 0666);
    return p->file >= 0 ? EXIT_GOOD : app_fail_text(&c->app, "%s: %s", p->path, strerror(errno));
}

static int open_cut(child *c, const farm_message *m)
{
    farm_unit *u = &c->farm->units[c->unit - c->farm->units];
    const double start = app_seconds();
    TRY(deform_open(&c->app, m->kind != FARM_SURVEY, &c->extent, &c->deform));
    c->open_seconds = app_seconds() - start;
    if (m->kind == FARM_SURVEY) return EXIT_GOOD;
    u->first = m->offset >> 32, u->end = (uint32_t)m->offset, u->vertices = m->vertices;
    if (c->extent.first != u->first || c->extent.end != u->end ||
        c->extent.vertex_count != u->vertices)
        return app_fail_text(&c->app, "%s: it has other frames or vertices here than in the survey",
                             u->file);
    TRY(open_place(c, m, u->output, 0));
    return open_place(c, m, u->normals, 1);
}

// Parts -------------------------------------------------------------------------------------------

static int open_parts(child *c, const farm_message *m)
{
    uint32_t parts, vertices;
    farm_unit *u = &c->farm->units[c->unit - c->farm->units];
    c->parted = farm_parted(u);
    if (!c->job) {
        TRY(c->parted->open(&c->app, &parts, &vertices, &c->job));
        c->extent = (deform_extent){ 0, parts, vertices };
    }
    if (m->kind == FARM_SURVEY) return EXIT_GOOD;
    u->first = m->offset >> 32, u->end = (uint32_t)m->offset, u->vertices = m->vertices;
    if (c->extent.end != u->end || c->extent.vertex_count != u->vertices)
        return app_fail_text(&c->app, "%s: it has other parts or vertices here than in the survey",
                             u->file);
    return m->end ? c->parted->prepare(&c->app, c->job) : EXIT_GOOD;
}

static int get_part(const part_source *source, cli_app *app, uint32_t part, part_bytes *out)
{
    const child *c = source->user;
    OWN_MEMORY char *path = farm_part_path(c->farm, c->unit, part);
    if (!path) return app_fail_text(app, "not enough memory");
    out->of_library = true;
    return app_result(app, path, cutis_file_read(app->context, path, &out->data, &out->size));
}

/// Do a part, and leave what it made where others find it.
static int run_part(child *c, const farm_message *m, uint64_t *sum)
{
    const part_source source = { get_part, c };
    part_bytes made = { 0 };
    int status = c->parted->learn(&c->app, c->job, &source, m->first, &made);
    if (status == EXIT_GOOD) {
        OWN_MEMORY char *path = farm_part_path(c->farm, c->unit, m->first);
        if (!path) status = app_fail_text(&c->app, "not enough memory");
        *sum = farm_sum(0, made.data, made.size);
        if (status == EXIT_GOOD && m->kind != FARM_MEASURE) {
            status = farm_make_parents(&c->app, path);
            if (status == EXIT_GOOD)
                status = app_result(&c->app, path,
                                    cutis_file_write(c->app.context, path, made.data, made.size));
        }
    }
    part_bytes_free(&c->app, &made);
    return status;
}

static int join_parts(child *c)
{
    const part_source source = { get_part, c };
    const int status = c->parted->finish(&c->app, c->job, &source, c->unit->end);
    c->parted->close(c->job); // nothing of it is left to do
    c->job = NULL;
    return status;
}

// What a verb says --------------------------------------------------------------------------------

/// Times, and what depends on the machine, go: results are the same wherever they were made.
static void drop_times(json_t *value)
{
    static const char *const KEYS[] = { "seconds", "ns_per_vertex", "device",
                                        "isa",     "threads",       "output" };
    size_t index;
    json_t *entry;
    const char *key;
    for (size_t i = 0; json_is_object(value) && i < sizeof KEYS / sizeof *KEYS; i++)
        json_object_del(value, KEYS[i]);
    json_array_foreach(value, index, entry)
    {
        drop_times(entry);
    }
    json_object_foreach(value, key, entry)
    {
        drop_times(entry);
    }
}

/// Everything that was written to a temporary file; malloc'd.
static char *read_back(int file)
{
    fflush(NULL);
    const off_t size = lseek(file, 0, SEEK_END);
    const size_t kept = size < 0 ? 0 : size > TEXT_MOST ? TEXT_MOST : (size_t)size;
    char *text = malloc(kept + 1);
    if (!text) return NULL;
    const ssize_t got = pread(file, text, kept, 0);
    text[got < 0 ? 0 : got] = 0;
    return text;
}

static char *result_text(void)
{
    char *said = read_back(STDOUT_FILENO), *line = NULL;
    json_t *value = said ? json_loads(said, JSON_DECODE_ANY, NULL) : NULL;
    free(said);
    if (value) drop_times(value), line = json_dumps(value, JSON_COMPACT | JSON_REAL_PRECISION(15));
    json_decref(value);
    return line;
}

/// The last line that is no note, without the command's name; in place.
static const char *last_line(char *said)
{
    const char *last = "it ended without a word";
    for (char *line = said, *next; line && *line; line = next) {
        next = strchr(line, '\n');
        if (next) *next++ = 0;
        if (*line && strncmp(line, "cutis: note: ", 13) != 0) last = line;
    }
    return strncmp(last, "cutis: ", 7) == 0 ? last + 7 : last;
}

static void redirect(int stream, const char *name)
{
    const int file = memfd_create(name, 0);
    if (file < 0 || dup2(file, stream) < 0) _exit(1);
    if (file != stream) close(file);
}

// A unit ------------------------------------------------------------------------------------------

/// The N-th GPU for the N-th rank of a machine, around again where there are fewer.
static void choose_device(child *c, const char *wanted)
{
    static char text[64];
    uint32_t available = 0;
    if (!wanted || !c->app.verb->options[OPTION_DEVICE]) return;
    snprintf(text, sizeof text, "%s", wanted);
    if (!strchr(wanted, ':') && strcmp(wanted, "cpu") != 0) {
        static cutis_device_info infos[64];
        uint32_t count = 0;
        if (cutis_device_list(c->app.context, 64, infos, &count) != CUTIS_OK) count = 0;
        for (uint32_t i = 0; i < count && i < 64; i++)
            available +=
                infos[i].available && strcmp(cutis_device_kind_name(infos[i].kind), wanted) == 0;
        snprintf(text, sizeof text, "%s:%u", wanted,
                 available ? c->farm->local_rank % available : 0);
    }
    c->app.values[OPTION_DEVICE] = (option_value){ .set = true, .text = text };
}

static bool keep_going(void *user, const char *stage, double fraction)
{
    (void)user, (void)stage, (void)fraction;
    return !app_interrupted();
}

static void note_line(void *user, const char *line)
{
    app_note(user, "%s", line);
}

static int open_child(child *c)
{
    const cutis_context_options options = {
        .progress = keep_going,
        .log = note_line,
        .log_user = &c->app,
        .replace_read_only = option_given(c->farm->app, OPTION_FORCE),
    };
    TRY(farm_parse_unit(c->farm, c->unit, &c->app, NULL));
    if (cutis_context_create(&options, &c->app.context) != CUTIS_OK)
        return app_fail_text(&c->app, "not enough memory");
    choose_device(c, option_text(c->farm->app, OPTION_DEVICE));
    for (int i = 0; i < c->unit->word_count; i++) // outputs; verbs make no folders
        if (strncmp(c->unit->words[i], c->farm->out, strlen(c->farm->out)) == 0)
            TRY(farm_make_parents(&c->app, c->unit->words[i]));
    return EXIT_GOOD;
}

static int do_message(child *c, const farm_message *m, farm_message *reply)
{
    const double start = app_seconds();
    int status = EXIT_GOOD;
    if (c->farm->dry) return EXIT_GOOD;
    reply->opened = !c->app.context;
    if (!c->app.context) status = open_child(c);
    if (status == EXIT_GOOD && c->unit->cut && !c->deform) status = open_cut(c, m);
    if (status == EXIT_GOOD && c->unit->parts) status = open_parts(c, m);
    reply->open_seconds = reply->opened ? app_seconds() - start : 0;
    if (status == EXIT_GOOD && c->unit->cut && m->kind == FARM_MEASURE && m->opened) reserve(c, m);
    const double opened = app_seconds();
    if (status == EXIT_GOOD && m->kind == FARM_SURVEY) {
        reply->first = c->extent.first, reply->end = c->extent.end;
        reply->vertices = c->extent.vertex_count;
        return EXIT_GOOD;
    }
    if (status == EXIT_GOOD && c->unit->cut) {
        status = run_range(c, m);
        reply->sum = c->places[0].sum + 31 * c->places[1].sum;
    } else if (status == EXIT_GOOD && c->unit->parts) {
        status = m->end ? run_part(c, m, &reply->sum) : join_parts(c);
    } else if (status == EXIT_GOOD) {
        status = c->app.verb->run(&c->app);
    }
    reply->seconds = app_seconds() - opened;
    return status;
}

/// A verdict of `check`, and of a rig that is kept whatever it is, is a result.
static bool counts(const child *c, int status, const char *result)
{
    if (status == EXIT_GOOD) return true;
    return result && c->app.verb &&
           (strcmp(c->unit->verb, "check") == 0 || option_given(&c->app, OPTION_KEEP));
}

/// @return whether it was done
static bool answer(child *c, const farm_message *m)
{
    farm_message reply = { .unit = m->unit, .piece = m->piece };
    if (ftruncate(STDOUT_FILENO, 0) != 0 || ftruncate(STDERR_FILENO, 0) != 0) _exit(1);
    lseek(STDOUT_FILENO, 0, SEEK_SET), lseek(STDERR_FILENO, 0, SEEK_SET);
    const int status = do_message(c, m, &reply);
    char *result = c->unit->cut || c->farm->dry ? NULL : result_text();
    const bool good = counts(c, status, result);
    if (good) {
        reply.kind = FARM_DONE;
        if (!farm_send(c->socket, &reply, result)) _exit(1);
    } else {
        char *said = read_back(STDERR_FILENO);
        reply.kind = FARM_FAILED;
        if (!farm_send(c->socket, &reply, last_line(said))) _exit(1);
        free(said);
    }
    free(result);
    c->shared->has_current = false;
    return good;
}

/// A process for messages of one unit; the first of another is left for the worker.
static _Noreturn void serve(const farm *f, int socket, farm_shared *shared, farm_message m)
{
    child c = { .farm = f, .unit = &f->units[m.unit], .socket = socket, .shared = shared };
    f->units[m.unit].cut = m.which == 1; // the survey was after the fork
    f->units[m.unit].parts = m.which == 2;
    redirect(STDOUT_FILENO, "said");
    redirect(STDERR_FILENO, "lines");
    app_catch_interrupt();
    for (;;) {
        char *text;
        shared->current = m, shared->has_current = true, shared->has_pending = false;
        const bool good = answer(&c, &m);
        if (app_interrupted()) _exit(1);
        if (shared->has_pending)
            m = shared->pending;
        else if (!farm_receive(socket, &m, &text))
            _exit(0);
        shared->has_pending = false;
        // A failure may have left anything: the next piece begins anew. So does another unit.
        const bool open = (c.unit->cut && c.deform && c.places[0].path) || (c.unit->parts && c.job);
        const bool again = f->dry || (good && open && &f->units[m.unit] == c.unit &&
                                      m.kind != FARM_SURVEY && m.which == farm_cut_of(c.unit));
        if (again) continue;
        shared->pending = m, shared->has_pending = true;
        _exit(0);
    }
}

// The worker --------------------------------------------------------------------------------------

static volatile sig_atomic_t child_pid;

static void pass_on(int signal_number)
{
    if (child_pid > 0) kill(child_pid, signal_number);
    if (child_pid <= 0) _exit(0);
}

static void die_with(pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(0);
}

static void tell_death(int socket, farm_shared *shared, int status)
{
    farm_message reply = shared->current;
    char text[96];
    if (WIFSIGNALED(status))
        snprintf(text, sizeof text, "its process died of signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    else
        snprintf(text, sizeof text, "its process ended with status %d", WEXITSTATUS(status));
    reply.kind = FARM_FAILED;
    shared->has_current = false;
    if (!farm_send(socket, &reply, text)) _exit(0);
}

static _Noreturn void work(farm *f, int socket, farm_shared *shared)
{
    const pid_t self = getpid();
    struct sigaction action = { .sa_handler = pass_on };
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    for (;;) {
        farm_message m;
        char *text;
        int status = 0;
        if (shared->has_pending)
            m = shared->pending;
        else if (!farm_receive(socket, &m, &text))
            _exit(0);
        shared->has_pending = false;
        shared->current = m, shared->has_current = true;
        const pid_t pid = fork();
        if (pid == 0) {
            die_with(self);
            signal(SIGTERM, SIG_DFL), signal(SIGINT, SIG_DFL);
            serve(f, socket, shared, m);
        }
        child_pid = pid;
        while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
        child_pid = 0;
        if (pid < 0) status = 1 << 8;
        if (shared->has_current) tell_death(socket, shared, status);
    }
}

int farm_worker_start(farm *f, uint32_t local_rank, farm_worker *out)
{
    int pair[2];
    const pid_t parent = getpid();
    *out = (farm_worker){ .socket = -1 };
    out->shared =
        mmap(NULL, sizeof *out->shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (out->shared == MAP_FAILED) return out->shared = NULL, EXIT_FAILED;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return EXIT_FAILED;
    fflush(NULL);
    const pid_t pid = fork();
    if (pid == 0) {
        // The others' sockets, too: who holds one keeps its worker from seeing the end.
        close_range(3, (unsigned)pair[1] - 1, 0), close_range((unsigned)pair[1] + 1, ~0u, 0);
        die_with(parent);
        f->local_rank = local_rank;
        work(f, pair[1], out->shared);
    }
    close(pair[1]);
    out->pid = pid, out->socket = pair[0];
    return pid > 0 ? EXIT_GOOD : EXIT_FAILED;
}

void farm_worker_stop(farm_worker *worker)
{
    if (worker->socket >= 0) close(worker->socket);
    if (worker->pid > 0) {
        kill(worker->pid, SIGTERM);
        while (waitpid(worker->pid, NULL, 0) < 0 && errno == EINTR) continue;
    }
    if (worker->shared) munmap(worker->shared, sizeof *worker->shared);
    *worker = (farm_worker){ .socket = -1 };
}
