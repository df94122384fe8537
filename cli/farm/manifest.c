/// The manifest, OUT/farm/manifest (of --piece I/N: manifest.I-N): what is known and finished, a
/// line each, appended and put on the disk. A line begins with a sum of the rest, so that what a
/// crash left of one does not count, nor what follows it. Locks are files of their own, of which
/// this process opens each once: closing any descriptor of a file gives POSIX's locks back.
#include "farm.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

static const double SYNC_SECONDS = 0.25; // pieces that a crash can cost: those of this long

struct farm_manifest {
    char *path;
    int file;
    char *text; // what is not written yet
    size_t size, capacity;
    double synced;
};

// Lines -------------------------------------------------------------------------------------------

static uint32_t line_sum(const char *line, size_t size)
{
    return (uint32_t)farm_digest(0xcbf29ce484222325u, line, size);
}

static int add_line(farm *f, const char *line, size_t size)
{
    struct farm_manifest *b = f->book;
    if (!b) return EXIT_GOOD;
    if (b->size + size + 16 > b->capacity) {
        const size_t capacity = 2 * (b->size + size) + 65536;
        char *grown = realloc(b->text, capacity);
        if (!grown) return app_fail_text(f->app, "%s: not enough memory", b->path);
        b->text = grown, b->capacity = capacity;
    }
    b->size += (size_t)sprintf(b->text + b->size, "%08x ", line_sum(line, size));
    memcpy(b->text + b->size, line, size);
    b->size += size;
    b->text[b->size++] = '\n';
    return EXIT_GOOD;
}

/// A line and, behind it, a text without ends of lines.
static int add_text(farm *f, const char *head, const char *text)
{
    OWN_MEMORY char *line = malloc(strlen(head) + strlen(text) + 1);
    if (!line) return app_fail_text(f->app, "not enough memory");
    char *at = stpcpy(stpcpy(line, head), text);
    for (char *c = line; *c; c++)
        if (*c == '\n') *c = ' ';
    return add_line(f, line, (size_t)(at - line));
}

int farm_book_survey(farm *f, uint32_t unit)
{
    farm_unit *u = &f->units[unit];
    char line[160];
    u->noted = true;
    snprintf(line, sizeof line, "survey %u %u %u %u %016" PRIx64, unit, u->first, u->end,
             u->vertices, u->stamp);
    return add_line(f, line, strlen(line));
}

// A piece is named by its unit and its frames, not by its number: those of other units stay what
// they are when a unit that could not be surveyed is cut after all. The unit's survey is in the
// same manifest before it, so that another file in its place is noticed whoever had surveyed it.
int farm_book_done(farm *f, uint32_t piece, const char *result)
{
    const farm_piece *p = &f->pieces[piece];
    char head[128];
    if (!f->units[p->unit].noted) TRY(farm_book_survey(f, p->unit));
    snprintf(head, sizeof head, "done %u %u %u %.6f %016" PRIx64 " ", p->unit, p->first, p->end,
             p->seconds, p->sum);
    return add_text(f, head, result ? result : "-");
}

int farm_book_failed(farm *f, uint32_t piece, const char *why)
{
    const farm_piece *p = &f->pieces[piece];
    char head[64];
    snprintf(head, sizeof head, "failed %u %u %u ", p->unit, p->first, p->end);
    return add_text(f, head, why);
}

int farm_book_sync(farm *f, bool now)
{
    struct farm_manifest *b = f->book;
    if (!b || b->size == 0 || (!now && app_seconds() - b->synced < SYNC_SECONDS)) return EXIT_GOOD;
    for (size_t at = 0; at < b->size;) {
        const ssize_t wrote = write(b->file, b->text + at, b->size - at);
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote <= 0) return app_fail_text(f->app, "%s: %s", b->path, strerror(errno));
        at += (size_t)wrote;
    }
    b->size = 0;
    if (fdatasync(b->file) != 0) return app_fail_text(f->app, "%s: %s", b->path, strerror(errno));
    b->synced = app_seconds();
    return EXIT_GOOD;
}

// Reading -----------------------------------------------------------------------------------------

/// Everything that a manifest has, ended by 0; NULL: it cannot be read, errno says why.
static char *read_whole(const char *path)
{
    struct stat info;
    char *text = NULL;
    FILE *file = fopen(path, "re");
    if (!file) return NULL;
    if (fstat(fileno(file), &info) == 0) text = malloc((size_t)info.st_size + 1);
    // Others append to theirs meanwhile: what is there now is read.
    const bool whole = text && fread(text, 1, (size_t)info.st_size, file) == (size_t)info.st_size;
    if (whole) text[info.st_size] = 0;
    const int problem = text ? EIO : errno;
    fclose(file);
    if (whole) return text;
    free(text);
    errno = problem;
    return NULL;
}

/// The next line whose sum is right, without it, ended by 0 in place; NULL: no more.
static char *next_line(char **at)
{
    char *line = *at, *end = strchr(line, '\n'), *rest;
    if (!end || end - line < 10) return NULL;
    const unsigned long sum = strtoul(line, &rest, 16);
    if (rest != line + 8 || *rest != ' ' || sum != line_sum(line + 9, (size_t)(end - line - 9)))
        return NULL;
    *end = 0;
    *at = end + 1;
    return line + 9;
}

static void head_line(const farm *f, char out[128])
{
    snprintf(out, 128, "cutis-farm 2 %s %016" PRIx64, cutis_version(), f->digest);
}

typedef enum book_part { BOOK_HEADS, BOOK_SURVEYS, BOOK_PIECES, BOOK_RESULTS } book_part;

typedef struct book_reader {
    farm *farm;
    book_part part; // what is wanted of the manifests
    char **results; // BOOK_RESULTS: per piece what was said last, "done ..." or "failed ..."
    char **texts;   // of the manifests, where results point
    uint32_t text_count, number; // of this manifest
} book_reader;

/// Surveys count where the files are those of now. Where they are not, nothing may have been done.
static int take_survey(farm *f, const char *line, const char *path)
{
    uint32_t unit, first, end, vertices;
    uint64_t stamp;
    if (sscanf(line, "survey %u %u %u %u %" SCNx64, &unit, &first, &end, &vertices, &stamp) != 5 ||
        unit >= f->unit_count)
        return app_fail_text(f->app, "%s: there is no such unit: %s", path, line);
    farm_unit *u = &f->units[unit];
    u->stale = u->stamp != stamp;
    if (u->stale) return EXIT_GOOD;
    u->first = first, u->end = end, u->vertices = vertices, u->surveyed = true;
    if (vertices == 0) u->cut = false;
    return EXIT_GOOD;
}

static int check_stale(farm *f, const char *line)
{
    uint32_t unit;
    if (sscanf(line, "done %u ", &unit) != 1 || unit >= f->unit_count || !f->units[unit].stale)
        return EXIT_GOOD;
    return app_fail_text(f->app,
                         "%s: it, or a file that goes with it, has changed since the run in %s "
                         "began; remove %s/farm to begin anew",
                         f->units[unit].file, f->out, f->out);
}

/// The piece of a unit that has these frames; UINT32_MAX: none has.
static uint32_t find_piece(const farm *f, uint32_t unit, uint32_t first, uint32_t end)
{
    if (unit >= f->unit_count || f->units[unit].piece_count == 0) return UINT32_MAX;
    const farm_unit *u = &f->units[unit];
    const farm_piece *at = &f->pieces[u->piece_first];
    if (u->parts && end == 0) return u->piece_first + u->piece_count - 1;
    const uint32_t size = at->end > at->first ? at->end - at->first : 1;
    const uint32_t k = first >= at->first ? (first - at->first) / size : UINT32_MAX;
    if (k >= u->piece_count || at[k].first != first || at[k].end != end) return UINT32_MAX;
    return u->piece_first + k;
}

/// "done ..." or "failed ..." of a piece.
static void take_piece(book_reader *r, char *line)
{
    farm *f = r->farm;
    uint32_t unit, first, end;
    double seconds = 0;
    uint64_t sum = 0;
    const bool done =
        sscanf(line, "done %u %u %u %lf %" SCNx64, &unit, &first, &end, &seconds, &sum) == 5;
    if (!done && sscanf(line, "failed %u %u %u", &unit, &first, &end) != 3) return;
    const uint32_t piece = find_piece(f, unit, first, end);
    if (piece == UINT32_MAX) return;
    farm_piece *p = &f->pieces[piece];
    if (r->part == BOOK_RESULTS) { // what became of it is known: what was said to that is wanted
        if (done == (p->state == PIECE_DONE)) r->results[piece] = line;
    } else if (done) {
        p->state = PIECE_DONE, p->seconds = seconds, p->sum = sum, p->book = r->number;
    } else if (p->state == PIECE_DONE && p->book == r->number) {
        p->state = PIECE_TODO; // it was tried again, and failed
    }
}

static int read_one(book_reader *r, const char *path)
{
    farm *f = r->farm;
    char head[128];
    char *text = read_whole(path), *at = text;
    if (!text) return app_fail_text(f->app, "%s: %s", path, strerror(errno));
    r->texts[r->text_count++] = text;
    head_line(f, head);
    char *line = next_line(&at);
    if (!line) return EXIT_GOOD; // a crash before its first line
    if (strcmp(line, head) != 0)
        return app_fail_text(f->app,
                             "%s: it is of other jobs, other files, another device or another "
                             "version of cutis; remove %s/farm to begin anew",
                             path, f->out);
    for (uint32_t i = 0; i < f->unit_count; i++) f->units[i].stale = false;
    while (r->part != BOOK_HEADS && (line = next_line(&at))) {
        if (r->part != BOOK_SURVEYS)
            take_piece(r, line);
        else if (strncmp(line, "survey ", 7) == 0)
            TRY(take_survey(f, line, path));
        else
            TRY(check_stale(f, line));
    }
    if (r->part == BOOK_RESULTS) return EXIT_GOOD;
    free(text);
    r->text_count--;
    return EXIT_GOOD;
}

static int is_manifest(const struct dirent *entry)
{
    return strcmp(entry->d_name, "manifest") == 0 || strncmp(entry->d_name, "manifest.", 9) == 0;
}

static int read_books(book_reader *r)
{
    struct dirent **names = NULL;
    OWN_MEMORY char *folder = farm_path(r->farm, "farm", "");
    const int count = folder ? scandir(folder, &names, is_manifest, alphasort) : -1;
    int status = count < 0 ? app_fail_text(r->farm->app, "%s/farm: %s", r->farm->out,
                                           strerror(folder ? errno : ENOMEM))
                           : EXIT_GOOD;
    r->texts = calloc(count > 0 ? (size_t)count : 1, sizeof *r->texts);
    if (!r->texts && status == EXIT_GOOD) status = app_fail_text(r->farm->app, "not enough memory");
    for (int i = 0; i < count; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]->d_name);
        r->number = (uint32_t)i;
        if (status == EXIT_GOOD) status = read_one(r, path);
        free(names[i]);
    }
    free(names);
    return status;
}

static void end_reader(book_reader *r)
{
    for (uint32_t i = 0; i < r->text_count; i++) free(r->texts[i]);
    free(r->texts);
}

static int read_part(farm *f, book_part part)
{
    book_reader r = { .farm = f, .part = part };
    const int status = read_books(&r);
    end_reader(&r);
    return status;
}

/// What pieces say of a unit, beside what is there of it.
static void settle_unit(farm *f, const farm_unit *u)
{
    farm_piece *pieces = &f->pieces[u->piece_first];
    const bool joined = u->parts && farm_last_piece(f, u)->state == PIECE_DONE;
    if (u->parts && !joined) return; // its parts wait for what puts them together
    // A whole output that is gone since was not finished; parts went when they were put together.
    const bool there = farm_unit_is_there(f, u);
    for (uint32_t k = 0; k < u->piece_count && (!there || joined); k++)
        pieces[k].state = there ? PIECE_DONE : PIECE_TODO;
}

int farm_book_read(farm *f, bool pieces)
{
    TRY(read_part(f, pieces ? BOOK_PIECES : BOOK_SURVEYS));
    for (uint32_t i = 0; i < f->unit_count && pieces; i++) settle_unit(f, &f->units[i]);
    return EXIT_GOOD;
}

// Beginning ---------------------------------------------------------------------------------------

static int take_lock(farm *f, const char *name, bool alone, int *out)
{
    struct flock lock = { .l_type = alone ? F_WRLCK : F_RDLCK, .l_whence = SEEK_SET };
    OWN_MEMORY char *path = farm_path(f, name, "");
    *out = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666) : -1;
    if (*out < 0) return app_fail_text(f->app, "%s: %s", path ? path : name, strerror(errno));
    if (fcntl(*out, F_SETLK, &lock) == 0) return EXIT_GOOD;
    if (errno != EACCES && errno != EAGAIN)
        return app_fail_text(f->app, "%s: it cannot be locked: %s", path, strerror(errno));
    return app_fail_text(f->app, "%s: another farm is at work on it%s", f->out,
                         f->slices ? ", or on this piece of it" : "");
}

static int begin_book(farm *f)
{
    struct farm_manifest *b = f->book;
    char head[128];
    char *text = read_whole(b->path), *at = text;
    if (!text && errno != ENOENT) // it is there: what it says is not to be lost
        return app_fail_text(f->app, "%s: %s", b->path, strerror(errno));
    while (at && next_line(&at)) continue;
    const off_t whole = at ? at - text : 0;
    free(text);
    b->file = open(b->path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    // What a crash left of a line goes: another one comes after it.
    if (b->file < 0 || ftruncate(b->file, whole) != 0)
        return app_fail_text(f->app, "%s: %s", b->path, strerror(errno));
    if (whole) return EXIT_GOOD;
    head_line(f, head);
    TRY(add_line(f, head, strlen(head)));
    return farm_book_sync(f, true);
}

/// Is there a run already: the slice's own, or any where all is wanted.
static bool has_run(const farm *f)
{
    struct dirent **names = NULL;
    OWN_MEMORY char *folder = farm_path(f, "farm", "");
    if (f->slices || !folder) return f->book->path && access(f->book->path, F_OK) == 0;
    const int count = scandir(folder, &names, is_manifest, NULL);
    for (int i = 0; i < count; i++) free(names[i]);
    free(names);
    return count > 0;
}

int farm_open_book(farm *f, bool join)
{
    char name[64] = "farm/manifest", lock[64] = "farm/lock";
    OWN_MEMORY char *folder = farm_path(f, "farm/", "");
    if (!folder) return app_fail_text(f->app, "not enough memory");
    TRY(farm_make_parents(f->app, folder));
    TRY(take_lock(f, "farm/lock", !f->slices, &f->lock));
    if (join) return EXIT_GOOD;
    if (f->slices) {
        snprintf(name, sizeof name, "farm/manifest.%u-%u", f->slice, f->slices);
        snprintf(lock, sizeof lock, "farm/lock.%u-%u", f->slice, f->slices);
        TRY(take_lock(f, lock, true, &f->slice_lock));
    }
    f->book = calloc(1, sizeof *f->book);
    if (!f->book) return app_fail_text(f->app, "not enough memory");
    f->book->file = -1;
    f->book->path = farm_path(f, name, "");
    if (!f->book->path) return app_fail_text(f->app, "not enough memory");
    if (has_run(f) && !option_given(f->app, OPTION_RESUME))
        return app_fail_text(f->app,
                             "%s: there is a run in it: --resume goes on with it; to begin "
                             "anew, remove %s/farm",
                             f->out, f->out);
    TRY(read_part(f, BOOK_HEADS)); // nothing is written beside manifests of other jobs
    return begin_book(f);
}

void farm_close_book(farm *f)
{
    if (f->book) {
        if (f->book->file >= 0) close(f->book->file);
        free(f->book->path);
        free(f->book->text);
        free(f->book);
    }
    if (f->slice_lock >= 0) close(f->slice_lock);
    if (f->lock >= 0) close(f->lock);
    f->book = NULL, f->lock = f->slice_lock = -1;
}

// Results -----------------------------------------------------------------------------------------

static void put_unit(FILE *out, const farm *f, const farm_unit *u, char *const *results)
{
    json_out json = { .file = out, .compact = true };
    emit(&json, "{ job %u verb %s file %s clip %s output %s", u->job, u->verb, u->file, u->clip,
         u->output);
    if (u->cut) emit(&json, "frames %u vertices %u", u->end - u->first, u->vertices);
    const char *failed = NULL, *result = results[u->piece_first + u->piece_count - 1];
    int used = 0;
    for (uint32_t k = 0; k < u->piece_count && !failed; k++) {
        const uint32_t p = u->piece_first + k;
        if (f->pieces[p].state == PIECE_DONE) continue;
        failed = "not done";
        if (results[p] && sscanf(results[p], "failed %*u %*u %*u %n", &used) == 0 && used)
            failed = results[p] + used;
    }
    if (failed) emit(&json, "error %s", failed);
    used = 0;
    if (result) sscanf(result, "done %*u %*u %*u %*f %*x %n", &used);
    if (!failed && !u->cut)
        emit_raw(&json, "result", used && result[used] == '{' ? result + used : "null");
    emit(&json, "}");
}

int farm_write_results(farm *f)
{
    char *text = NULL;
    size_t size;
    OWN_MEMORY char *path = farm_path(f, "results.json", "");
    OWN_MEMORY char **results = calloc(f->piece_count + (size_t)1, sizeof *results);
    book_reader r = { .farm = f, .part = BOOK_RESULTS, .results = results };
    FILE *out = open_memstream(&text, &size);
    if (!path || !results || !out) return app_fail_text(f->app, "not enough memory");
    int status = read_books(&r);
    fputs("[\n", out);
    for (uint32_t i = 0; i < f->unit_count; i++) {
        if (i) fseek(out, -1, SEEK_CUR), fputs(",\n", out);
        put_unit(out, f, &f->units[i], results);
    }
    fputs("]\n", out);
    if (fclose(out) != 0) status = app_fail_text(f->app, "not enough memory");
    if (status == EXIT_GOOD)
        status = app_result(f->app, path, cutis_file_write(f->app->context, path, text, size));
    free(text);
    end_reader(&r);
    return status;
}
