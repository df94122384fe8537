/// The farm over MPI: the program cutis-farm. Rank 0 hands out and works, too; every rank has one
/// worker, forked before MPI starts, and puts the frames of its worker into place by MPI-IO.
/// Invariant: no rank waits in MPI while there is nothing to receive, so that workers have the
/// cores to themselves.
#include "farm.h"

#include <errno.h>
#include <mpi.h>
#include <poll.h>
#include <unistd.h>

enum { TAG_HELLO = 1, TAG_MESSAGE, STOP = 1000, NAP = 1 /* ms */, NO_UNIT = -1 };

/// What every rank says before anything is done.
typedef struct hello {
    char version[32], host[64], line[1024];
    uint64_t digest;
    int32_t status;
} hello;

typedef struct rank_io {
    farm *farm;
    farm_worker worker;
    MPI_File files[2]; // positions, normals
    int64_t units[2];  // whose places are open; NO_UNIT: none
    hello *hellos;     // rank 0: of all
} rank_io;

// Frames into place -------------------------------------------------------------------------------

static int problem_of(int error)
{
    int class = MPI_ERR_OTHER;
    if (error == MPI_SUCCESS) return 0;
    MPI_Error_class(error, &class);
    if (class == MPI_ERR_NO_SPACE) return ENOSPC;
    if (class == MPI_ERR_QUOTA) return EDQUOT;
    return class == MPI_ERR_NO_SUCH_FILE ? ENOENT : EIO;
}

static int close_place(rank_io *io, uint32_t which)
{
    if (io->units[which] == NO_UNIT) return 0;
    io->units[which] = NO_UNIT;
    return problem_of(MPI_File_close(&io->files[which]));
}

static int open_place(rank_io *io, const farm_message *m)
{
    const farm_unit *u = &io->farm->units[m->unit];
    if (io->units[m->which] == m->unit) return 0;
    const int closed = close_place(io, m->which);
    OWN_MEMORY char *path = farm_path(io->farm, m->which ? u->normals : u->output, ".part");
    if (closed || !path) return closed ? closed : ENOMEM;
    const int error =
        MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_WRONLY, MPI_INFO_NULL, &io->files[m->which]);
    if (error == MPI_SUCCESS) io->units[m->which] = m->unit;
    return problem_of(error);
}

static bool write_place(rank_io *io, const farm_message *m)
{
    farm_message answer = { .kind = FARM_WROTE };
    int problem = open_place(io, m);
    if (!problem)
        problem = problem_of(MPI_File_write_at(io->files[m->which], (MPI_Offset)m->offset,
                                               io->worker.shared->bytes[m->which], (int)m->end,
                                               MPI_BYTE, MPI_STATUS_IGNORE));
    answer.sum = (uint64_t)problem;
    return farm_send(io->worker.socket, &answer, NULL);
}

/// Take what the own worker says; false: nothing but frames, which are in place now. *lost: it is.
static bool hear_worker(rank_io *io, int milliseconds, farm_message *m, char **text, bool *lost)
{
    struct pollfd ready = { .fd = io->worker.socket, .events = POLLIN };
    *lost = false;
    if (poll(&ready, 1, milliseconds) <= 0) return false;
    if (!farm_receive(io->worker.socket, m, text)) return *lost = true, false;
    if (m->kind == FARM_WRITE) return *lost = !write_place(io, m), false;
    for (int w = 0; w < 2 && m->kind == FARM_DONE; w++) {
        if (io->units[w] != m->unit) continue;
        const int problem = problem_of(MPI_File_sync(io->files[w]));
        if (problem) { // a piece that is not on the disk is not done
            m->kind = FARM_FAILED;
            free(*text);
            *text = strdup(strerror(problem));
        }
    }
    return true;
}

// Messages ----------------------------------------------------------------------------------------

static void send_mpi(int rank, const farm_message *message, const char *text)
{
    farm_message sent = *message;
    sent.text_size = text ? (uint32_t)strlen(text) : 0;
    OWN_MEMORY char *bytes = malloc(sizeof sent + sent.text_size);
    if (!bytes) MPI_Abort(MPI_COMM_WORLD, 1);
    memcpy(bytes, &sent, sizeof sent);
    if (text) memcpy(bytes + sizeof sent, text, sent.text_size);
    MPI_Send(bytes, (int)(sizeof sent + sent.text_size), MPI_BYTE, rank, TAG_MESSAGE,
             MPI_COMM_WORLD);
}

/// A message that is there already; false: none is.
static bool receive_mpi(int from, uint32_t *rank, farm_message *message, char **text)
{
    MPI_Status status;
    int there = 0, size = 0;
    *text = NULL;
    MPI_Iprobe(from, TAG_MESSAGE, MPI_COMM_WORLD, &there, &status);
    if (!there) return false;
    MPI_Get_count(&status, MPI_BYTE, &size);
    char *bytes = malloc((size_t)size + 1);
    if (!bytes) MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Recv(bytes, size, MPI_BYTE, status.MPI_SOURCE, TAG_MESSAGE, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    memcpy(message, bytes, sizeof *message);
    bytes[size] = 0;
    if (message->text_size) *text = strdup(bytes + sizeof *message);
    free(bytes);
    *rank = (uint32_t)status.MPI_SOURCE;
    return true;
}

// Rank 0 ------------------------------------------------------------------------------------------

static bool send_to(farm_ways *ways, uint32_t rank, const farm_message *message)
{
    const rank_io *io = ways->user;
    if (rank == 0) return farm_send(io->worker.socket, message, NULL);
    send_mpi((int)rank, message, NULL);
    return true;
}

static int receive_any(farm_ways *ways, int milliseconds, uint32_t *rank, farm_message *message,
                       char **text)
{
    rank_io *io = ways->user;
    const double until = app_seconds() + 1e-3 * milliseconds;
    bool lost;
    *text = NULL;
    do {
        if (receive_mpi(MPI_ANY_SOURCE, rank, message, text)) return 1;
        *rank = 0;
        if (hear_worker(io, NAP, message, text, &lost)) return 1;
        if (lost) return app_interrupted() ? 0 : -1;
    } while (app_seconds() < until && !app_interrupted());
    return 0;
}

static void name_rank(farm_ways *ways, uint32_t rank, char *out, size_t capacity)
{
    const rank_io *io = ways->user;
    snprintf(out, capacity, "rank %u on %s", rank, io->hellos[rank].host);
}

/// One line if ranks do not fit together, which names the first that does not.
static int judge(farm *f, const hello *hellos, int count)
{
    const hello *first = &hellos[0];
    for (int r = 0; r < count; r++) {
        const hello *h = &hellos[r];
        // NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): there is a hello of each rank
        if (strcmp(h->version, first->version) != 0)
            return app_fail_text(f->app, "rank %d on %s is version %s of cutis, rank 0 on %s is %s",
                                 r, h->host, h->version, first->host, first->version);
        if (h->status != EXIT_GOOD)
            return app_fail_text(f->app, "rank %d on %s: %s", r, h->host,
                                 strncmp(h->line, "cutis: ", 7) == 0 ? h->line + 7 : h->line);
        if (h->digest != first->digest)
            return app_fail_text(f->app,
                                 "rank %d on %s: %s is not what rank 0 on %s has, or names other "
                                 "files",
                                 r, h->host, f->jobs_name, first->host);
    }
    return EXIT_GOOD;
}

static int lead(rank_io *io, int count)
{
    farm_ways ways = { .count = (uint32_t)count,
                       .send = send_to,
                       .receive = receive_any,
                       .name = name_rank,
                       .user = io };
    const farm_message stop = { .kind = STOP };
    const int status = farm_run(io->farm, &ways);
    for (int r = 1; r < count; r++) send_mpi(r, &stop, NULL);
    return status;
}

// The others --------------------------------------------------------------------------------------

static int follow(rank_io *io)
{
    for (;;) {
        farm_message m;
        uint32_t rank;
        char *text = NULL;
        bool lost;
        if (receive_mpi(0, &rank, &m, &text)) {
            free(text);
            if (m.kind == STOP) return EXIT_GOOD;
            if (!farm_send(io->worker.socket, &m, NULL)) break;
            continue;
        }
        if (hear_worker(io, NAP, &m, &text, &lost)) {
            send_mpi(0, &m, text);
            free(text);
        } else if (lost) {
            break;
        }
    }
    if (app_interrupted()) return EXIT_FAILED;
    app_fail_text(io->farm->app, "a worker is lost; --resume goes on");
    MPI_Abort(MPI_COMM_WORLD, 1);
    return EXIT_FAILED;
}

// Beginning ---------------------------------------------------------------------------------------

/// Which rank of its machine this is, as whoever started it says; it is asked before MPI starts.
static uint32_t local_rank(void)
{
    static const char *const NAMES[] = {
        "OMPI_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID",     "MPI_LOCALRANKID",
        "MV2_COMM_WORLD_LOCAL_RANK",  "PALS_LOCAL_RANKID", "PMI_LOCAL_RANK"
    };
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        const char *text = getenv(NAMES[i]);
        if (text) return (uint32_t)strtoul(text, NULL, 10);
    }
    return 0;
}

/// Everything that can go wrong before MPI is there; what is said is kept for rank 0 to say once.
static void prepare(rank_io *io, hello *out)
{
    farm *f = io->farm;
    FILE *const lines = f->app->lines;
    char *said = NULL;
    size_t size;
    const char *folder = option_text(f->app, OPTION_OUTPUT);
    f->app->lines = open_memstream(&said, &size);
    if (!folder)
        out->status = app_usage(f->app, "-o FOLDER is missing: where should the results go?");
    else
        out->status = app_make_folder(f->app, folder);
    if (out->status == EXIT_GOOD) f->out = realpath(folder, NULL);
    if (out->status == EXIT_GOOD && f->out) out->status = farm_read_jobs(f, f->app->operands[0]);
    if (out->status == EXIT_GOOD) out->status = farm_worker_start(f, local_rank(), &io->worker);
    if (f->app->lines) fclose(f->app->lines);
    f->app->lines = lines;
    snprintf(out->version, sizeof out->version, "%s", cutis_version());
    snprintf(out->line, sizeof out->line, "%s", said && *said ? said : "it cannot begin");
    out->line[strcspn(out->line, "\n")] = 0;
    out->digest = f->digest;
    if (gethostname(out->host, sizeof out->host - 1) != 0) out->host[0] = 0;
    free(said);
}

static int run_mpi(farm *f)
{
    rank_io io = { .farm = f, .units = { NO_UNIT, NO_UNIT }, .worker.socket = -1 };
    hello own = { .status = EXIT_FAILED };
    int rank, count, status = EXIT_FAILED;
    if (option_given(f->app, OPTION_RANKS))
        return app_usage(f->app, "--ranks: mpirun -n says how many there are");
    f->parent_writes = true;
    prepare(&io, &own);
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    f->ranks = (uint32_t)count;
    f->progress_lines = true;
    if (rank == 0) io.hellos = calloc((size_t)count, sizeof *io.hellos);
    if (rank == 0 && !io.hellos) MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Gather(&own, (int)sizeof own, MPI_BYTE, io.hellos, (int)sizeof own, MPI_BYTE, 0,
               MPI_COMM_WORLD);
    if (rank == 0) status = judge(f, io.hellos, count);
    int good = status == EXIT_GOOD;
    MPI_Bcast(&good, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (good) status = rank == 0 ? lead(&io, count) : follow(&io);
    if (!good && rank != 0) status = EXIT_GOOD; // rank 0 tells
    for (uint32_t w = 0; w < 2; w++) close_place(&io, w);
    farm_worker_stop(&io.worker);
    free(io.hellos);
    MPI_Finalize();
    return status;
}

__attribute__((constructor)) static void have_mpi(void)
{
    farm_run_mpi = run_mpi;
}
