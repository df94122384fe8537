/// `farm join`: what the slices of --piece left is checked, byte by byte where it was put in place,
/// and finished.
#include "farm.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/// The sum of a range of a file, as it lies there. @return false: it cannot be read
static bool sum_range(int file, uint64_t from, uint64_t to, uint64_t *sum)
{
    static unsigned char bytes[1 << 20];
    *sum = 0;
    while (from < to) {
        const size_t want = to - from < sizeof bytes ? (size_t)(to - from) : sizeof bytes;
        for (size_t used = 0; used < want;) {
            const ssize_t got = pread(file, bytes + used, want - used, (off_t)(from + used));
            if (got <= 0) return false;
            used += (size_t)got;
        }
        *sum = farm_sum(*sum, bytes, want);
        from += want;
    }
    return true;
}

static int open_either(const farm *f, const char *name)
{
    OWN_MEMORY char *part = farm_path(f, name, ".part");
    OWN_MEMORY char *path = farm_path(f, name, "");
    const int file = part ? open(part, O_RDONLY | O_CLOEXEC) : -1;
    return file >= 0 || !path ? file : open(path, O_RDONLY | O_CLOEXEC);
}

/// Parts that were not put together yet, as their files have them.
static bool check_parts(farm *f, const farm_unit *u)
{
    bool whole = true;
    if (farm_last_piece(f, u)->state == PIECE_DONE) return true;
    for (uint32_t k = 0; k + 1 < u->piece_count; k++) {
        farm_piece *p = &f->pieces[u->piece_first + k];
        OWN_MEMORY char *path = farm_part_path(f, u, p->first);
        const int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
        const off_t size = file >= 0 ? lseek(file, 0, SEEK_END) : -1;
        uint64_t sum = 0;
        const bool same = size > 0 && sum_range(file, 0, (uint64_t)size, &sum) && sum == p->sum;
        if (!same && p->state == PIECE_DONE) p->state = PIECE_TODO;
        whole &= same;
        if (file >= 0) close(file);
    }
    return whole;
}

bool farm_check_unit(farm *f, const farm_unit *u)
{
    if (u->parts) return check_parts(f, u);
    const char *const names[2] = { u->output, u->normals };
    int files[2] = { -1, -1 };
    bool whole = true;
    if (!u->cut) return true;
    for (int n = 0; n < 2 && names[n]; n++) files[n] = open_either(f, names[n]);
    for (uint32_t k = 0; k < u->piece_count; k++) {
        farm_piece *p = &f->pieces[u->piece_first + k];
        uint64_t sums[2] = { 0, 0 };
        bool same = p->state == PIECE_DONE;
        for (int n = 0; n < 2 && names[n] && same; n++)
            same = files[n] >= 0 && sum_range(files[n], farm_place(u, p->first, n),
                                              farm_place(u, p->end, n), &sums[n]);
        same = same && sums[0] + 31 * sums[1] == p->sum;
        if (!same && p->state == PIECE_DONE) p->state = PIECE_TODO;
        whole &= same;
    }
    for (int n = 0; n < 2; n++)
        if (files[n] >= 0) close(files[n]);
    return whole;
}

void farm_recheck_unit(farm *f, const farm_unit *u)
{
    OWN_MEMORY char *part = u->cut ? farm_path(f, u->output, ".part") : NULL;
    if (farm_check_unit(f, u) || (part && access(part, F_OK) == 0)) return;
    for (uint32_t k = 0; u->cut && k < u->piece_count; k++)
        if (f->pieces[u->piece_first + k].state == PIECE_DONE)
            f->pieces[u->piece_first + k].state = PIECE_TODO;
}

/// The first piece of a unit that is not there.
static uint32_t first_missing(const farm *f, const farm_unit *u)
{
    for (uint32_t k = 0; k < u->piece_count; k++)
        if (f->pieces[u->piece_first + k].state != PIECE_DONE) return u->piece_first + k;
    return UINT32_MAX;
}

int farm_join(farm *f)
{
    uint32_t missing = 0, first = UINT32_MAX;
    char name[512];
    TRY(farm_open_book(f, true));
    TRY(farm_book_read(f, false));
    for (uint32_t i = 0; i < f->unit_count; i++) // what no slice could survey is one piece: missing
        if (!f->units[i].surveyed) f->units[i].cut = false;
    TRY(farm_cut(f));
    TRY(farm_book_read(f, true));
    for (uint32_t i = 0; i < f->unit_count; i++) {
        farm_unit *u = &f->units[i];
        farm_check_unit(f, u);
        if (!app_progress(f->app, "checking", (double)i / f->unit_count))
            return app_stopped(f->app);
        for (uint32_t k = 0; k < u->piece_count; k++)
            missing += f->pieces[u->piece_first + k].state != PIECE_DONE;
        if (first == UINT32_MAX) first = first_missing(f, u);
    }
    app_progress_done(f->app);
    if (missing) {
        farm_name_piece(f, first, name, sizeof name);
        return app_fail_text(f->app,
                             "%s: %u of %u pieces are not there, the first is %s; run them "
                             "again with --resume",
                             f->out, missing, f->piece_count, name);
    }
    for (uint32_t i = 0; i < f->unit_count; i++) TRY(farm_finish_unit(f, &f->units[i]));
    farm_clean(f);
    TRY(farm_write_results(f));
    app_say(f->app, "%s: %u pieces of %u units, all there\n", f->out, f->piece_count,
            f->unit_count);
    if (f->app->json) {
        json_out json = { .file = stdout };
        emit(&json, "{ output %s units %u pieces %u }", f->out, f->unit_count, f->piece_count);
    }
    return EXIT_GOOD;
}
