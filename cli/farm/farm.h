/// The farm: many runs of verbs, cut into pieces that any number of ranks work on
/// (docs/design/farm.md). A unit is one run of a verb as one process would do it: a job's verb, one
/// of its files, one of its clips. A piece is a unit, a range of frames of a `deform` into an
/// array, a part of what a `fit` or a `bake` learns (parts.h), or, after those, their putting
/// together.
/// Invariant: what is under an output's own name is whole; what is being put together stands beside
/// it as NAME.part; a piece is finished when its line is in the manifest, on the disk.
#ifndef CUTIS_CLI_FARM_H
#define CUTIS_CLI_FARM_H

#include "app.h"
#include "parts.h"

enum {
    FARM_TRIES = 3,            ///< a piece that failed so often is left
    FARM_PIECE_BYTES = 1 << 26 ///< of an array that is cut by frames
};

typedef struct farm_unit {
    uint32_t job;
    const char *verb, *file, *clip; ///< clip: NULL: none
    char *output;                   ///< below OUT; NULL: the result is what the verb says
    char *normals, *report;         ///< the same of --normals and --report
    char **words;                   ///< the command line, words[0] the command
    int word_count;
    bool cut, surveyed;      ///< cut by frames; how many there are is known
    bool parts;              ///< cut into parts: `first`, `end`; its last piece joins them
    uint32_t frames_a_piece; ///< as the job says; 0: by FARM_PIECE_BYTES
    uint32_t number_first, number_end; ///< frames that may get files of their own, OUT_0007.obj
    uint32_t first, end, vertices;     ///< of one that is cut, once it was surveyed
    uint32_t survey_tries, surveyed_by;
    uint64_t file_bytes;
    uint64_t stamp;      ///< of all files that it reads: their names, sizes and times
    bool stale;          ///< the manifest that is being read knows it by another stamp
    bool noted;          ///< the manifest of this run has its survey
    double cost;         ///< an estimate that orders pieces; no unit
    double open_seconds; ///< plan: what a rank takes to read and bind it
    uint32_t piece_first, piece_count;
    // While it runs:
    uint32_t given, done;           ///< pieces handed out in order; finished
    uint32_t ready;                 ///< of its pieces the first so many are done
    bool listed;                    ///< it is among those that are begun and have pieces left
    bool finished;                  ///< everything of it is under its own name
    double stage_began, stage_ends; ///< played through: when its parts of now may begin, and end
} farm_unit;

enum { PIECE_TODO, PIECE_GIVEN, PIECE_DONE, PIECE_FAILED };

typedef struct farm_piece {
    uint32_t unit, first, end; ///< frames or parts; of a unit that is not cut 0, 0, and of one
                               ///< in parts the last piece, which is for when all others are done
    uint8_t state, tries;
    bool elsewhere; ///< not of this slice
    uint32_t tried_by;
    double seconds;
    uint64_t sum;  ///< of the bytes in place
    uint32_t book; ///< which manifest said last that it is done
} farm_piece;

/// A run of the farm.
typedef struct farm {
    cli_app *app;
    const char *jobs_name; ///< as it was given
    char *jobs_path, *out; ///< from the root
    void *tree;            ///< jansson's, of the file of jobs
    char *text;            ///< the same as text
    size_t text_size;
    uint64_t digest; ///< of jobs, names of files, device and version: runs go on only with the same
    farm_unit *units;
    uint32_t unit_count, unit_capacity;
    farm_piece *pieces;
    uint32_t piece_count;
    uint32_t *order;            ///< units, the dearest first
    uint32_t slice, slices;     ///< --piece I/N: 1 .. N; 0: all
    uint32_t planned_ranks;     ///< plan: those of the cluster
    uint32_t ranks, threads;    ///< at work at once; threads of each
    uint32_t local_rank;        ///< of this process on its machine
    bool dry;                   ///< pieces are given out, and nothing is done
    bool progress_lines;        ///< progress as lines, a few a minute: there is no terminal
    bool parent_writes;         ///< a rank's own process puts frames into place (MPI-IO)
    struct farm_manifest *book; ///< what is finished; NULL: plan
    int lock, slice_lock;       ///< descriptors; -1: none
    uint32_t failed;            ///< pieces
    double began, told, noted;  ///< when the work began, when progress was told last
    uint32_t wanted, done_before, done_now; ///< pieces: ours, finished before this run and in it
    double done_cost, all_cost;             ///< of those that this run does
} farm;

// jobs.c ------------------------------------------------------------------------------------------

/// Read JOBS.json; names in it are relative to its folder, which becomes the working one. Every
/// command line is parsed once: EXIT_FAILED with one line that names the job.
int farm_read_jobs(farm *f, const char *path);
void farm_release(farm *f);
/// The app of one unit, parsed; `lines` gets what is said. args_release it.
int farm_parse_unit(const farm *f, const farm_unit *unit, cli_app *out, FILE *lines);
/// "piece 17 (deform fox.glb Walk, frames 0:30)".
void farm_name_piece(const farm *f, uint32_t piece, char *out, size_t capacity);
char *farm_path(const farm *f, const char *below, const char *ending); ///< OUT/below.ending, malloc
/// The folder that a path is in, and those above it.
int farm_make_parents(cli_app *app, const char *path);
uint64_t farm_digest(uint64_t sum, const void *data, size_t size); ///< FNV-1a

// inputs.c ----------------------------------------------------------------------------------------

/// Size and stamp of what a unit reads: its file, the files of its options, and what those name.
void farm_stamp_inputs(farm_unit *u, const cli_app *app);

// pieces.c ----------------------------------------------------------------------------------------

/// Cut all units, after their survey, and order them; of --piece I/N those of slice I stay.
int farm_cut(farm *f);
/// The files that frames are put into: made with their header and their whole size.
int farm_make_places(farm *f);
/// Where a frame begins in the array of positions, or of normals; of `end`: how long that is.
uint64_t farm_place(const farm_unit *unit, uint32_t frame, bool normals);
/// An output that is cut is whole: under its own name from now on.
int farm_finish_unit(farm *f, farm_unit *unit);
/// What a kill left of outputs that were being written (".NAME.cutis-..."): nobody else writes
/// them.
void farm_clean(const farm *f);
bool farm_unit_is_there(const farm *f, const farm_unit *unit); ///< its outputs, as far as seen
char *farm_part_path(const farm *f, const farm_unit *unit, uint32_t part); ///< malloc
/// How its verb is done in parts; NULL: it is not.
const part_verb *farm_parted(const farm_unit *unit);
/// How many of a unit's first pieces must be done before another begins.
uint32_t farm_needs(const farm_unit *unit, uint32_t piece);
/// The piece that puts a unit's parts together.
static inline farm_piece *farm_last_piece(const farm *f, const farm_unit *unit)
{
    return &f->pieces[unit->piece_first + unit->piece_count - 1];
}

// manifest.c --------------------------------------------------------------------------------------

/// Lock OUT, and begin a manifest or, with --resume, go on with one.
int farm_open_book(farm *f, bool join);
void farm_close_book(farm *f);
int farm_book_survey(farm *f, uint32_t unit);
int farm_book_done(farm *f, uint32_t piece, const char *result);
int farm_book_failed(farm *f, uint32_t piece, const char *line);
/// What was noted goes to the disk now, or, unless `now`, when that was last done long ago.
int farm_book_sync(farm *f, bool now);
/// Take over what all manifests of OUT say: surveys (before pieces are cut) or pieces.
int farm_book_read(farm *f, bool pieces);
/// results.json: what every unit said, in order.
int farm_write_results(farm *f);

// worker.c ----------------------------------------------------------------------------------------

typedef enum farm_kind {
    FARM_SURVEY,  ///< how many frames and vertices has a unit?
    FARM_PIECE,   ///< do a piece
    FARM_DONE,    ///< it is done; text: what the verb said (JSON on one line)
    FARM_FAILED,  ///< it is not; text: why
    FARM_WRITE,   ///< to the rank: bytes in the shared memory, to be put into place
    FARM_WROTE,   ///< they are; `sum`: 0, or why not
    FARM_MEASURE, ///< do a piece where nothing counts (plan)
} farm_kind;

typedef struct farm_message {
    uint32_t kind, unit, piece, first, end, vertices, text_size;
    uint32_t which;               ///< of FARM_WRITE: 1: normals; to a worker: how the unit is cut
    uint32_t opened;              ///< the piece is the first of its process; of FARM_MEASURE: write
    double seconds, open_seconds; ///< of a piece; of what was read and bound before it
    uint64_t sum, offset;         ///< to a worker: the unit's frames, first << 32 | end
} farm_message;

/// How a worker is to take a unit: 1: by frames, 2: in parts.
static inline uint32_t farm_cut_of(const farm_unit *unit)
{
    return unit->cut ? 1 : unit->parts ? 2 : 0;
}
/// What a worker must know of a piece: FARM_PIECE or FARM_MEASURE.
static inline farm_message farm_piece_message(const farm *f, farm_kind kind, uint32_t piece)
{
    const farm_piece *p = &f->pieces[piece];
    const farm_unit *u = &f->units[p->unit];
    return (farm_message){ .kind = kind,
                           .unit = p->unit,
                           .piece = piece,
                           .first = p->first,
                           .end = p->end,
                           .vertices = u->vertices,
                           .which = farm_cut_of(u),
                           .offset = (uint64_t)u->first << 32 | u->end };
}

/// Memory that a rank and its workers share.
typedef struct farm_shared {
    farm_message pending, current; ///< each where it is said to be there
    bool has_pending, has_current;
    unsigned char bytes[2][1 << 22]; ///< of FARM_WRITE: positions, normals
} farm_shared;

typedef struct farm_worker {
    int pid, socket; ///< socket -1: none
    farm_shared *shared;
} farm_worker;

/// Start a worker: a process that forks one more for each unit, so that whatever a piece does ends
/// with it. Before anything starts threads, MPI too.
int farm_worker_start(farm *f, uint32_t local_rank, farm_worker *out);
void farm_worker_stop(farm_worker *worker);
/// Both false where the other end is gone. `text` is malloc'd, or NULL.
bool farm_send(int socket, const farm_message *message, const char *text);
bool farm_receive(int socket, farm_message *message, char **text);
/// Put bytes into a file at an offset: 0, or errno.
int farm_write_at(int file, const void *data, size_t size, uint64_t offset);
/// A sum that tells whether bytes are those that were written. Piece after piece of them: all but
/// the last of a multiple of 4.
uint64_t farm_sum(uint64_t sum, const void *data, size_t size);

// manager.c ---------------------------------------------------------------------------------------

/// How messages reach ranks: by sockets (local.c) or MPI (mpi.c).
typedef struct farm_ways {
    uint32_t count;
    bool (*send)(struct farm_ways *ways, uint32_t rank, const farm_message *message);
    /// One message, waiting at most so many milliseconds: 1, 0: none came, -1: the rank is lost.
    int (*receive)(struct farm_ways *ways, int milliseconds, uint32_t *rank, farm_message *message,
                   char **text);
    void (*name)(struct farm_ways *ways, uint32_t rank, char *out, size_t capacity);
    void *user;
} farm_ways;

/// Survey what is not surveyed yet.
int farm_survey(farm *f, farm_ways *ways);
/// Give out all pieces that are not done; EXIT_FAILED if any could not be.
int farm_give_out(farm *f, farm_ways *ways);

/// Play the hand-out through with pieces that take what they say: when the last rank is done, and
/// what all ranks spent on opening units.
int farm_simulate(farm *f, double *seconds, double *open_seconds);

/// Everything of `cutis farm` with ways that stand: survey, cut, hand out, finish.
int farm_run(farm *f, farm_ways *ways);

// local.c, join.c, plan.c -------------------------------------------------------------------------

int farm_run_local(farm *f, int (*run)(farm *f, farm_ways *ways));
int farm_join(farm *f);
/// Read back what a unit has in place: pieces that are not as they were written are to do again.
bool farm_check_unit(farm *f, const farm_unit *unit);
/// The same before a run goes on: an array that has its name already and is not as it was is made
/// again whole, for its pieces are put into a new file.
void farm_recheck_unit(farm *f, const farm_unit *u);
int farm_plan(farm *f);

/// Set by cutis-farm: what runs under mpirun.
extern int (*farm_run_mpi)(farm *f);

// events.c: lines of JSON -------------------------------------------------------------------------

void farm_event_start(const farm *f);
void farm_event_piece(const farm *f, uint32_t piece, const char *rank, const char *error);
/// Progress: a line on a terminal, with --json an object a second.
bool farm_progress(farm *f, bool last);

#endif
