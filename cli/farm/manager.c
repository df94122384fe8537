/// Handing out. A rank gets pieces of the unit it has open while there are some, else the dearest
/// unit that nobody has begun, else a share of the one with most left; and, while its pieces are
/// short, one ahead, so that it does not wait for the next. Invariant: a piece is with one rank at
/// a time, and is done when the manifest has it.
#include "farm.h"

typedef struct rank_state {
    uint32_t unit;    // that it has open; UINT32_MAX: none
    uint32_t pending; // messages not answered yet
    bool quick;       // its last piece was short: waiting for the next one would show
} rank_state;

// Pieces that take longer are handed out one by one: who is free first gets the next.
static const double QUICK_SECONDS = 0.1;

typedef struct manager {
    farm *farm;
    farm_ways *ways;
    rank_state *ranks;
    uint32_t begun;                 // of farm->order: units before it were begun
    uint32_t *open;                 // units that are begun and have pieces left
    uint32_t open_count, left, out; // pieces not given; given and not answered
    uint32_t *again;                // pieces to be tried again
    uint32_t again_count;
} manager;

// Which piece -------------------------------------------------------------------------------------

/// Whether what a piece of a unit needs of others is done; a plan asks when (farm_simulate).
static bool may_begin(farm *f, farm_unit *u, uint32_t k)
{
    if (!u->parts || f->planned_ranks) return true;
    while (u->ready < u->piece_count && f->pieces[u->piece_first + u->ready].state == PIECE_DONE)
        u->ready++;
    return u->ready >= farm_needs(u, k);
}

/// The next piece of a unit that is to be done; UINT32_MAX: none is left, or it waits for others
/// (wake).
static uint32_t next_of(farm *f, uint32_t unit)
{
    farm_unit *u = &f->units[unit];
    for (; u->given < u->piece_count; u->given++) {
        const farm_piece *p = &f->pieces[u->piece_first + u->given];
        if (p->state != PIECE_TODO || p->elsewhere || p->tries > 0) continue;
        if (!may_begin(f, u, u->given)) return UINT32_MAX;
        u->given++;
        return (uint32_t)(p - f->pieces);
    }
    return UINT32_MAX;
}

static void list_open(manager *m, farm_unit *u)
{
    if (u->listed || u->given == u->piece_count) return;
    u->listed = true;
    m->open[m->open_count++] = (uint32_t)(u - m->farm->units);
}

static uint32_t from_open(manager *m)
{
    while (m->open_count) {
        uint32_t most = 0;
        for (uint32_t i = 1; i < m->open_count; i++) {
            const farm_unit *a = &m->farm->units[m->open[i]], *b = &m->farm->units[m->open[most]];
            if (a->piece_count - a->given > b->piece_count - b->given) most = i;
        }
        const uint32_t piece = next_of(m->farm, m->open[most]);
        if (piece != UINT32_MAX) return piece;
        m->farm->units[m->open[most]].listed = false;
        m->open[most] = m->open[--m->open_count];
    }
    return UINT32_MAX;
}

/// One that failed elsewhere; where there are others it is not for who failed.
static uint32_t from_again(manager *m, uint32_t rank)
{
    for (uint32_t i = 0; i < m->again_count; i++) {
        const uint32_t piece = m->again[i];
        if (m->ways->count > 1 && m->farm->pieces[piece].tried_by == rank) continue;
        m->again[i] = m->again[--m->again_count];
        return piece;
    }
    return UINT32_MAX;
}

/// A part is done: others may have waited for it.
static void wake(manager *m, farm_unit *u)
{
    if (u->parts) list_open(m, u);
}

static uint32_t choose(manager *m, uint32_t rank)
{
    farm *f = m->farm;
    uint32_t piece = UINT32_MAX;
    if (m->ranks[rank].unit != UINT32_MAX) piece = next_of(f, m->ranks[rank].unit);
    while (piece == UINT32_MAX && m->begun < f->unit_count) {
        const uint32_t unit = f->order[m->begun++];
        piece = next_of(f, unit);
        if (piece != UINT32_MAX) list_open(m, &f->units[unit]);
    }
    if (piece == UINT32_MAX) piece = from_open(m);
    return piece != UINT32_MAX ? piece : from_again(m, rank);
}

static int give(manager *m, uint32_t rank)
{
    farm *f = m->farm;
    const uint32_t piece = choose(m, rank);
    if (piece == UINT32_MAX) return EXIT_GOOD;
    farm_piece *p = &f->pieces[piece];
    const farm_message message = farm_piece_message(f, FARM_PIECE, piece);
    p->state = PIECE_GIVEN;
    p->tries++;
    p->tried_by = rank;
    m->ranks[rank].unit = p->unit;
    m->ranks[rank].pending++;
    m->left--, m->out++;
    if (m->ways->send(m->ways, rank, &message)) return EXIT_GOOD;
    char name[96];
    m->ways->name(m->ways, rank, name, sizeof name);
    return app_fail_text(f->app, "%s is lost; --resume goes on", name);
}

// Answers -----------------------------------------------------------------------------------------

static int take_done(manager *m, const farm_message *reply, const char *rank, const char *text)
{
    farm *f = m->farm;
    farm_piece *p = &f->pieces[reply->piece];
    farm_unit *u = &f->units[p->unit];
    p->state = PIECE_DONE;
    p->seconds = reply->seconds, p->sum = reply->sum;
    u->done++;
    f->done_now++;
    f->done_cost += u->cost / u->piece_count;
    TRY(farm_book_done(f, reply->piece, text));
    farm_event_piece(f, reply->piece, rank, NULL);
    wake(m, u);
    if (u->done < u->piece_count || f->slices) return EXIT_GOOD;
    if (u->cut) TRY(farm_book_sync(f, true)); // the manifest knows it before the name says it
    return farm_finish_unit(f, u);
}

/// What needs a part that failed for good waits for nothing any more.
static int fail_later(manager *m, uint32_t piece)
{
    farm *f = m->farm;
    const farm_unit *u = &f->units[f->pieces[piece].unit];
    const uint32_t failed = piece - u->piece_first;
    for (uint32_t k = failed + 1; k < u->piece_count && u->parts; k++) {
        farm_piece *p = &f->pieces[u->piece_first + k];
        if (p->state != PIECE_TODO || p->tries > 0 || farm_needs(u, k) <= failed) continue;
        p->state = PIECE_FAILED;
        f->failed++, m->left--;
        TRY(farm_book_failed(f, u->piece_first + k, "a part of it failed"));
    }
    return EXIT_GOOD;
}

static int take_failed(manager *m, const farm_message *reply, const char *rank, const char *text)
{
    farm *f = m->farm;
    farm_piece *p = &f->pieces[reply->piece];
    char name[512];
    farm_name_piece(f, reply->piece, name, sizeof name);
    if (!text) text = "no reason given";
    farm_event_piece(f, reply->piece, rank, text);
    if (p->tries < FARM_TRIES) {
        app_note(f->app, "%s: %s: %s; it is tried again", rank, name, text);
        p->state = PIECE_TODO;
        m->again[m->again_count++] = reply->piece;
        m->left++;
        return EXIT_GOOD;
    }
    p->state = PIECE_FAILED;
    f->failed++;
    (void)app_fail_text(f->app, "%s: %s: failed %d times: %s", rank, name, FARM_TRIES, text);
    TRY(fail_later(m, reply->piece));
    return farm_book_failed(f, reply->piece, text);
}

/// Ranks that idle get something; those with short pieces one ahead, while many are left.
static int feed(manager *m)
{
    for (uint32_t depth = 0; depth < 2; depth++)
        for (uint32_t r = 0; r < m->ways->count; r++) {
            if (m->left == 0 || (depth == 1 && m->left < 2 * m->ways->count)) return EXIT_GOOD;
            if (m->ranks[r].pending == depth && (depth == 0 || m->ranks[r].quick)) TRY(give(m, r));
        }
    return EXIT_GOOD;
}

/// Wait for an answer; EXIT_GOOD also when none came.
static int hear(manager *m, int milliseconds)
{
    farm_message reply;
    uint32_t rank;
    char *text, name[96];
    const int got = m->ways->receive(m->ways, milliseconds, &rank, &reply, &text);
    if (got == 0) return EXIT_GOOD;
    m->ways->name(m->ways, rank, name, sizeof name);
    if (got < 0) return app_fail_text(m->farm->app, "%s is lost; --resume goes on", name);
    int status = EXIT_GOOD;
    m->ranks[rank].pending--;
    m->out--;
    m->ranks[rank].quick = reply.kind == FARM_DONE && reply.seconds < QUICK_SECONDS;
    if (reply.kind == FARM_DONE) {
        status = take_done(m, &reply, name, text);
    } else {
        m->ranks[rank].unit = UINT32_MAX; // its process has ended
        status = take_failed(m, &reply, name, text);
    }
    free(text);
    if (status != EXIT_GOOD) return status;
    // Whoever answered is fed first: its next piece is of the unit that it has open.
    if (m->left && m->ranks[rank].pending == 0) TRY(give(m, rank));
    return EXIT_GOOD;
}

static int run_all(manager *m)
{
    farm *f = m->farm;
    while (m->left + m->out > 0) {
        TRY(feed(m));
        if (!m->out)
            return app_fail_text(f->app, "%u pieces are left that wait for others", m->left);
        TRY(hear(m, 100));
        TRY(farm_book_sync(f, false));
        if (!farm_progress(f, false)) return app_stopped(f->app);
    }
    return EXIT_GOOD;
}

static void count_left(manager *m)
{
    farm *f = m->farm;
    f->done_before = 0, f->wanted = 0, f->all_cost = 0;
    for (uint32_t i = 0; i < f->piece_count; i++) {
        farm_piece *p = &f->pieces[i];
        farm_unit *u = &f->units[p->unit];
        u->done += p->state == PIECE_DONE;
        if (p->elsewhere) continue;
        f->wanted++;
        f->done_before += p->state == PIECE_DONE;
        if (p->state == PIECE_DONE) continue;
        m->left++;
        f->all_cost += u->cost / u->piece_count;
    }
}

// Playing it through ------------------------------------------------------------------------------

/// A rank that is free at a time; a heap has the first to be free on top.
typedef struct free_rank {
    double at;
    uint32_t rank;
} free_rank;

static void sink_top(free_rank *heap, uint32_t count)
{
    for (uint32_t i = 0;;) {
        uint32_t least = i;
        for (uint32_t k = 2 * i + 1; k <= 2 * i + 2 && k < count; k++)
            if (heap[k].at < heap[least].at) least = k;
        if (least == i) return;
        const free_rank moved = heap[i];
        heap[i] = heap[least], heap[least] = moved;
        i = least;
    }
}

/// A part that needs others begins when the last of them ends.
static void wait_for_parts(farm *f, uint32_t piece, double *at)
{
    farm_unit *u = &f->units[f->pieces[piece].unit];
    const uint32_t k = piece - u->piece_first;
    if (k && farm_needs(u, k) > farm_needs(u, k - 1)) u->stage_began = u->stage_ends;
    if (*at < u->stage_began) *at = u->stage_began;
}

int farm_simulate(farm *f, double *seconds, double *open_seconds)
{
    farm_ways ways = { .count = f->ranks };
    manager m = { .farm = f, .ways = &ways };
    OWN_MEMORY rank_state *ranks = m.ranks = calloc(f->ranks + 1u, sizeof *ranks);
    OWN_MEMORY uint32_t *open = m.open = calloc(f->unit_count + 1u, sizeof *open);
    OWN_MEMORY free_rank *heap = calloc(f->ranks + 1u, sizeof *heap);
    if (!ranks || !open || !heap) return app_fail_text(f->app, "not enough memory");
    for (uint32_t r = 0; r < f->ranks; r++) ranks[r].unit = UINT32_MAX, heap[r].rank = r;
    for (uint32_t piece; (piece = choose(&m, heap[0].rank)) != UINT32_MAX;) {
        const farm_piece *p = &f->pieces[piece];
        const double opening =
            ranks[heap[0].rank].unit == p->unit ? 0 : f->units[p->unit].open_seconds;
        ranks[heap[0].rank].unit = p->unit;
        wait_for_parts(f, piece, &heap[0].at);
        heap[0].at += p->seconds + opening;
        *open_seconds += opening;
        farm_unit *u = &f->units[p->unit];
        if (heap[0].at > u->stage_ends) u->stage_ends = heap[0].at;
        if (heap[0].at > *seconds) *seconds = heap[0].at;
        sink_top(heap, f->ranks);
    }
    return EXIT_GOOD;
}

int farm_give_out(farm *f, farm_ways *ways)
{
    manager m = { .farm = f, .ways = ways };
    OWN_MEMORY rank_state *ranks = m.ranks = calloc(ways->count + 1u, sizeof *ranks);
    OWN_MEMORY uint32_t *open = m.open = calloc(f->unit_count + 1u, sizeof *open);
    OWN_MEMORY uint32_t *again = m.again = calloc(f->piece_count + 1u, sizeof *again);
    if (!ranks || !open || !again) return app_fail_text(f->app, "not enough memory");
    for (uint32_t r = 0; r < ways->count; r++) ranks[r].unit = UINT32_MAX;
    count_left(&m);
    farm_event_start(f);
    if (m.left && m.left < ways->count)
        app_note(f->app, "%u ranks for %u piece%s: %u of them have nothing to do", ways->count,
                 m.left, m.left == 1 ? "" : "s", ways->count - m.left);
    f->began = app_seconds();
    const int status = run_all(&m);
    const int synced = farm_book_sync(f, true);
    if (status == EXIT_GOOD && synced == EXIT_GOOD) farm_progress(f, true);
    app_progress_done(f->app);
    return status == EXIT_GOOD ? synced : status;
}

// Surveys -----------------------------------------------------------------------------------------

/// A unit that cannot be surveyed is not cut: its one piece says why, three times.
static int take_survey(farm *f, const farm_message *reply, uint32_t rank)
{
    farm_unit *u = &f->units[reply->unit];
    if (reply->kind == FARM_DONE) {
        u->first = reply->first, u->end = reply->end, u->vertices = reply->vertices;
    } else if (++u->survey_tries < FARM_TRIES) {
        u->surveyed_by = rank;
        return EXIT_GOOD;
    } else { // not noted: --resume surveys it again
        u->cut = u->parts = false;
        u->surveyed = true;
        return EXIT_GOOD;
    }
    u->surveyed = true;
    return farm_book_survey(f, reply->unit);
}

typedef struct surveyor {
    farm_ways *ways;
    uint8_t *busy;
    uint32_t *todo, count, out;
} surveyor;

static int ask_survey(farm *f, surveyor *s, uint32_t rank)
{
    for (uint32_t i = s->count; i-- > 0;) {
        const farm_unit *u = &f->units[s->todo[i]];
        if (u->survey_tries && u->surveyed_by == rank && s->ways->count > 1) continue;
        const farm_message ask = { .kind = FARM_SURVEY,
                                   .unit = s->todo[i],
                                   .which = farm_cut_of(u) };
        s->todo[i] = s->todo[--s->count];
        s->busy[rank] = 1, s->out++;
        if (s->ways->send(s->ways, rank, &ask)) return EXIT_GOOD;
        return app_fail_text(f->app, "a rank is lost; --resume goes on");
    }
    return EXIT_GOOD;
}

static int hear_survey(farm *f, surveyor *s)
{
    farm_message reply;
    char *text;
    uint32_t rank;
    const int got = s->ways->receive(s->ways, 100, &rank, &reply, &text);
    if (got < 0) return app_fail_text(f->app, "a rank is lost; --resume goes on");
    if (app_interrupted()) return app_stopped(f->app);
    if (got == 0) return EXIT_GOOD;
    free(text);
    s->busy[rank] = 0, s->out--;
    TRY(take_survey(f, &reply, rank));
    if (!f->units[reply.unit].surveyed) s->todo[s->count++] = reply.unit;
    return EXIT_GOOD;
}

int farm_survey(farm *f, farm_ways *ways)
{
    surveyor s = { .ways = ways };
    OWN_MEMORY uint8_t *busy = s.busy = calloc(ways->count + 1u, 1);
    OWN_MEMORY uint32_t *todo = s.todo = calloc(f->unit_count + 1u, sizeof *todo);
    if (!busy || !todo) return app_fail_text(f->app, "not enough memory");
    for (uint32_t i = f->unit_count; i-- > 0;) { // taken from the end
        farm_unit *u = &f->units[i];
        if (u->surveyed) continue;
        if ((u->cut || u->parts) && !f->dry) {
            s.todo[s.count++] = i;
        } else {
            u->surveyed = true, u->cut = u->parts = false;
            TRY(farm_book_survey(f, i));
        }
    }
    while (s.count + s.out > 0) {
        for (uint32_t r = 0; r < ways->count && s.count; r++)
            if (!busy[r]) TRY(ask_survey(f, &s, r));
        TRY(hear_survey(f, &s));
    }
    return farm_book_sync(f, true);
}
