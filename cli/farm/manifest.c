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
    const farm_unit *u = &f->units[unit];
    char line[160];
    snprintf(line, sizeof line, "survey %u %u %u %u %" PRIu64 " %" PRId64, unit, u->first, u->end,
             u->vertices, u->file_bytes, u->file_time);
    return add_line(f, line, strlen(line));
}

int farm_book_done(farm *f, uint32_t piece, const char *result)
{
    const farm_piece *p = &f->pieces[piece];
    char head[96];
    snprintf(head, sizeof head, "done %u %.6f %016" PRIx64 " ", piece, p->seconds, p->sum);
    return add_text(f, head, result ? result : "-");
}

int farm_book_failed(farm *f, uint32_t piece, const char *why)
{
    char head[32];
    snprintf(head, sizeof head, "failed %u ", piece);
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

static void cut_line(const farm *f, char out[64])
{
    uint64_t sum = 0xcbf29ce484222325u;
    for (uint32_t i = 0; i < f->unit_count; i++)
        sum = farm_digest(sum, &f->units[i].piece_count, sizeof f->units[i].piece_count);
    snprintf(out, 64, "pieces %u %016" PRIx64, f->piece_count, sum);
}

int farm_book_cut(farm *f)
{
    char line[64];
    cut_line(f, line);
    TRY(add_line(f, line, strlen(line)));
    return farm_book_sync(f, true);
}

// Reading -----------------------------------------------------------------------------------------

static char *read_whole(const char *path, size_t *size)
{
    struct stat info;
    char *text = NULL;
    *size = 0;
    FILE *file = fopen(path, "re");
    if (file && fstat(fileno(file), &info) == 0) text = malloc((size_t)info.st_size + 1);
    if (text) *size = fread(text, 1, (size_t)info.st_size, file), text[*size] = 0;
    if (file) fclose(file);
    return text;
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
    snprintf(out, 128, "cutis-farm 1 %s %016" PRIx64, cutis_version(), f->digest);
}

static int take_survey(farm *f, const char *line, const char *path)
{
    uint32_t unit, first, end, vertices;
    uint64_t bytes;
    int64_t time;
    if (sscanf(line, "survey %u %u %u %u %" SCNu64 " %" SCNd64, &unit, &first, &end, &vertices,
               &bytes, &time) != 6 ||
        unit >= f->unit_count)
        return app_fail_text(f->app, "%s: there is no such unit: %s", path, line);
    farm_unit *u = &f->units[unit];
    if (u->file_bytes != bytes || u->file_time != time)
        return app_fail_text(f->app,
                             "%s: it has changed since the run in %s began; remove %s/farm "
                             "to begin anew",
                             u->file, f->out, f->out);
    u->first = first, u->end = end, u->vertices = vertices, u->surveyed = true;
    if (vertices == 0) u->cut = false;
    return EXIT_GOOD;
}

/// @return the result behind a line that says that a piece is done; NULL: it says something else
static const char *take_done(farm *f, const char *line, uint32_t *piece)
{
    double seconds;
    uint64_t sum;
    int used = 0;
    if (sscanf(line, "done %u %lf %" SCNx64 " %n", piece, &seconds, &sum, &used) != 3 || !used ||
        *piece >= f->piece_count)
        return NULL;
    f->pieces[*piece].state = PIECE_DONE;
    f->pieces[*piece].seconds = seconds;
    f->pieces[*piece].sum = sum;
    return line + used;
}

typedef struct book_reader {
    farm *farm;
    bool pieces;
    char ***results;      // per piece: what was said; NULL: not wanted
    char *texts[1 << 12]; // of all manifests
    uint32_t text_count;
} book_reader;

static int read_one(book_reader *r, const char *path)
{
    farm *f = r->farm;
    char head[128], cut[64];
    size_t size;
    uint32_t piece;
    char *text = read_whole(path, &size), *at = text;
    if (!text) return app_fail_text(f->app, "%s: %s", path, strerror(errno));
    r->texts[r->text_count++] = text;
    head_line(f, head);
    const char *line = next_line(&at);
    if (!line) return EXIT_GOOD; // a crash before its first line
    if (strcmp(line, head) != 0)
        return app_fail_text(f->app,
                             "%s: it is of other jobs, other files or another version of "
                             "cutis; remove %s/farm to begin anew",
                             path, f->out);
    cut_line(f, cut);
    while ((line = next_line(&at))) {
        if (r->pieces && strncmp(line, "pieces ", 7) == 0 && strcmp(line, cut) != 0)
            return app_fail_text(f->app, "%s: its pieces are others; remove %s/farm to begin anew",
                                 path, f->out);
        if (!r->pieces) {
            if (strncmp(line, "survey ", 7) == 0) TRY(take_survey(f, line, path));
            continue;
        }
        const char *result = strncmp(line, "done ", 5) == 0 ? take_done(f, line, &piece) : NULL;
        if (result && r->results) (*r->results)[piece] = (char *)result;
        if (!result && r->results && sscanf(line, "failed %u ", &piece) == 1 &&
            piece < f->piece_count && f->pieces[piece].state != PIECE_DONE)
            (*r->results)[piece] = (char *)line;
    }
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
    const int count = folder ? scandir(folder, &names, is_manifest, alphasort) : 0;
    int status = EXIT_GOOD;
    for (int i = 0; i < count; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]->d_name);
        if (status == EXIT_GOOD && r->text_count < sizeof r->texts / sizeof *r->texts)
            status = read_one(r, path);
        free(names[i]);
    }
    free(names);
    return status;
}

static void end_reader(book_reader *r)
{
    for (uint32_t i = 0; i < r->text_count; i++) free(r->texts[i]);
}

int farm_book_read(farm *f, bool pieces)
{
    OWN_MEMORY book_reader *r = calloc(1, sizeof *r);
    if (!r) return app_fail_text(f->app, "not enough memory");
    r->farm = f, r->pieces = pieces;
    const int status = read_books(r);
    end_reader(r);
    if (status != EXIT_GOOD || !pieces) return status;
    // A whole output that is gone since was not finished.
    for (uint32_t i = 0; i < f->unit_count; i++)
        for (uint32_t k = 0; !farm_unit_is_there(f, &f->units[i]) && k < f->units[i].piece_count;
             k++)
            f->pieces[f->units[i].piece_first + k].state = PIECE_TODO;
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
    size_t size;
    char *text = read_whole(b->path, &size), *at = text;
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
    if (!folder || !farm_make_parents(folder))
        return app_fail_text(f->app, "%s: %s", f->out, strerror(errno));
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
    const char *failed = NULL, *result = results[u->piece_first];
    for (uint32_t k = 0; k < u->piece_count; k++) {
        const uint32_t p = u->piece_first + k;
        if (f->pieces[p].state == PIECE_DONE || failed) continue;
        int used = 0;
        failed = "not done";
        if (results[p] && sscanf(results[p], "failed %*u %n", &used) == 0 && used)
            failed = results[p] + used;
    }
    if (failed) emit(&json, "error %s", failed);
    if (!failed && !u->cut) emit_raw(&json, "result", result && *result == '{' ? result : "null");
    emit(&json, "}");
}

int farm_write_results(farm *f)
{
    char *text = NULL;
    size_t size;
    OWN_MEMORY char *path = farm_path(f, "results.json", "");
    OWN_MEMORY char **results = calloc(f->piece_count + (size_t)1, sizeof *results);
    OWN_MEMORY book_reader *r = calloc(1, sizeof *r);
    FILE *out = open_memstream(&text, &size);
    if (!path || !results || !r || !out) return app_fail_text(f->app, "not enough memory");
    r->farm = f, r->pieces = true, r->results = &results;
    int status = read_books(r);
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
    end_reader(r);
    return status;
}
