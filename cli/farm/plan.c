/// `farm plan`: some pieces of each job and clip are done here as a run does them, written and
/// synced too, as many at once as ranks would be on this machine, and what they took is carried
/// over to all pieces by cost. Then the hand-out is played through with as many ranks as asked for.
/// What is measured is left nowhere.
#include "farm.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    SAMPLES = 12,    // units of a job, at least one of each clip
    CLASSES = 64,    // clips of a job that are measured by themselves, at most
    CUT_PIECES = 16, // of a unit that is cut by frames
    DISK_BYTES = 1 << 28,
    DISK_CHUNK = 1 << 22
};
// A unit that is cut is not measured longer than this, once every rank had two pieces of it.
static const double CUT_SECONDS = 4;
// What handing out a piece takes rank 0 (docs/benchmarks.md, The farm).
static const double MANAGER_SECONDS = 2e-5;

/// Units of one job and one clip: files differ in size, which tells what they cost, but clips
/// differ in length, which no size tells.
typedef struct class_cost {
    uint32_t job, units, sampled; // of the job; there are; measured
    const char *clip;
    double cost, seconds, files, open_seconds; // of what was measured
    double first_cost, first_seconds; // of the first piece of a process, where others follow
    double bytes, began;
    uint32_t samples;
} class_cost;

typedef struct planner {
    farm *farm;
    class_cost *classes, *jobs; // jobs: of all that was measured of a job
    uint32_t *unit_class, class_count, job_count;
    uint32_t *samples, sample_count; // pieces
    uint32_t here;                   // ranks that pieces were measured on at once
    bool written;                    // what is measured is written, too: --disk says nothing
    double disk, bytes, work, open, longest;
} planner;

// Measuring ---------------------------------------------------------------------------------------

static double piece_cost(const farm *f, const farm_piece *p)
{
    const farm_unit *u = &f->units[p->unit];
    return u->cut ? (double)(p->end - p->first) * u->vertices : u->cost / u->piece_count;
}

/// Which class each unit is of.
static int classify(planner *plan)
{
    farm *f = plan->farm;
    plan->unit_class = calloc(f->unit_count + 1u, sizeof *plan->unit_class);
    plan->classes = calloc(f->unit_count + 1u, sizeof *plan->classes);
    plan->jobs = calloc(plan->job_count + 1u, sizeof *plan->jobs);
    if (!plan->unit_class || !plan->classes || !plan->jobs)
        return app_fail_text(f->app, "not enough memory");
    for (uint32_t i = 0, first = 0; i < f->unit_count; i++) { // units stand job by job
        const farm_unit *u = &f->units[i];
        while (first < plan->class_count && plan->classes[first].job != u->job) first++;
        uint32_t at = first;
        for (; at < plan->class_count && u->clip; at++)
            if (plan->classes[at].clip && strcmp(plan->classes[at].clip, u->clip) == 0) break;
        if (at - first >= CLASSES) at = first + CLASSES - 1; // the others are taken together
        if (at == plan->class_count)
            plan->classes[plan->class_count++] = (class_cost){ .job = u->job, .clip = u->clip };
        plan->unit_class[i] = at;
        plan->classes[at].units++;
        plan->jobs[u->job].units++;
    }
    return EXIT_GOOD;
}

/// Of each class some units, evenly from the dearest to the cheapest; of a unit that is cut some
/// pieces, evenly.
static int choose_samples(planner *plan)
{
    farm *f = plan->farm;
    OWN_MEMORY uint32_t *seen = calloc(plan->class_count + 1u, sizeof *seen);
    plan->samples = calloc((size_t)f->unit_count * CUT_PIECES + 1, sizeof *plan->samples);
    if (!seen || !plan->samples) return app_fail_text(f->app, "not enough memory");
    for (uint32_t i = 0; i < f->unit_count; i++) {
        const farm_unit *u = &f->units[f->order[i]];
        class_cost *c = &plan->classes[plan->unit_class[f->order[i]]];
        const uint32_t at = seen[c - plan->classes]++, all = c->units;
        uint32_t most = (uint32_t)((uint64_t)SAMPLES * all / plan->jobs[u->job].units);
        if (most < 1) most = 1;
        if (most > all) most = all;
        // The at-th of `all` is taken where a step of `most` equal ones begins.
        // NOLINTNEXTLINE(clang-analyzer-core.DivideZero): all counts this one
        if (at > 0 && (uint64_t)at * most / all == (uint64_t)(at - 1) * most / all) continue;
        uint32_t pieces = u->cut ? CUT_PIECES : 1;
        if (pieces > u->piece_count) pieces = u->piece_count;
        if (most > 1 && pieces > 2 * f->ranks) pieces = 2 * f->ranks; // units are many
        for (uint32_t k = 0; k < pieces; k++)
            plan->samples[plan->sample_count++] =
                u->piece_first + (uint32_t)((uint64_t)k * u->piece_count / pieces);
    }
    return EXIT_GOOD;
}

static double output_bytes(const farm *f, const farm_unit *u)
{
    struct stat info = { 0 };
    OWN_MEMORY char *path = u->output ? farm_path(f, u->output, "") : NULL;
    return path && stat(path, &info) == 0 ? (double)info.st_size : 0;
}

static int take_sample(planner *plan, const farm_message *reply, const char *text)
{
    farm *f = plan->farm;
    const farm_piece *p = &f->pieces[reply->piece];
    const farm_unit *u = &f->units[p->unit];
    char name[512];
    farm_name_piece(f, reply->piece, name, sizeof name);
    if (reply->kind != FARM_DONE)
        return app_fail_text(f->app, "%s: %s", name, text ? text : "it failed");
    class_cost *const to[] = { &plan->classes[plan->unit_class[p->unit]], &plan->jobs[u->job] };
    for (int i = 0; i < 2; i++) {
        class_cost *c = to[i];
        c->samples++;
        if (u->cut && reply->opened) { // memory and caches are new: not what the others take
            c->first_cost += piece_cost(f, p);
            c->first_seconds += reply->seconds;
        } else {
            c->cost += piece_cost(f, p);
            c->seconds += reply->seconds;
        }
        if (!u->cut || reply->opened) {
            c->files += (double)u->file_bytes + 1;
            c->open_seconds += reply->open_seconds;
        }
        c->bytes += output_bytes(f, u);
    }
    return EXIT_GOOD;
}

/// The next piece that is worth measuring; UINT32_MAX: none is left.
static uint32_t next_sample(planner *plan, uint32_t *next)
{
    const farm *f = plan->farm;
    while (*next < plan->sample_count) {
        const uint32_t piece = plan->samples[(*next)++], unit = f->pieces[piece].unit;
        class_cost *c = &plan->classes[plan->unit_class[unit]];
        if (c->began == 0) c->began = app_seconds();
        if (!f->units[unit].cut || c->samples < 2 * f->ranks ||
            app_seconds() - c->began < CUT_SECONDS)
            return piece;
    }
    return UINT32_MAX;
}

static int ask(planner *plan, farm_ways *ways, uint32_t rank, uint32_t piece)
{
    const farm *f = plan->farm;
    farm_message message = farm_piece_message(f, FARM_MEASURE, piece);
    message.opened = plan->written;
    return ways->send(ways, rank, &message) ? EXIT_GOOD : app_fail_text(f->app, "a worker is lost");
}

static int measure(planner *plan, farm_ways *ways)
{
    farm *f = plan->farm;
    uint32_t next = 0, out = 0, rank, piece = 0;
    OWN_MEMORY uint8_t *busy = calloc(ways->count + 1u, 1);
    if (!busy) return app_fail_text(f->app, "not enough memory");
    while (piece != UINT32_MAX || out) {
        for (uint32_t r = 0; r < ways->count && piece != UINT32_MAX; r++) {
            if (busy[r] || (piece = next_sample(plan, &next)) == UINT32_MAX) continue;
            TRY(ask(plan, ways, r, piece));
            busy[r] = 1, out++;
        }
        farm_message reply;
        char *text;
        if (!out) break;
        const int got = ways->receive(ways, 100, &rank, &reply, &text);
        if (!app_progress(f->app, "measuring", (next - (double)out) / plan->sample_count))
            return app_stopped(f->app);
        if (got < 0) return app_fail_text(f->app, "a worker is lost");
        if (got == 0) continue;
        busy[rank] = 0, out--;
        const int status = take_sample(plan, &reply, text);
        free(text);
        if (status != EXIT_GOOD) return status;
    }
    return EXIT_GOOD;
}

/// "20GB/s" as bytes a second; 0: it is none.
static double read_rate(const char *text)
{
    static const struct {
        const char *unit;
        double bytes;
    } UNITS[] = { { "MB/s", 1e6 }, { "GB/s", 1e9 }, { "TB/s", 1e12 } };
    char *rest;
    const double value = strtod(text, &rest);
    for (size_t i = 0; i < 3; i++)
        if (strcmp(rest, UNITS[i].unit) == 0 && value > 0 && value < 1e9)
            return value * UNITS[i].bytes;
    return 0;
}

static int measure_disk(planner *plan)
{
    farm *f = plan->farm;
    OWN_MEMORY char *path = farm_path(f, "disk", "");
    static unsigned char bytes[DISK_CHUNK];
    if (!path) return app_fail_text(f->app, "not enough memory");
    const int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0) return app_fail_text(f->app, "%s: %s", f->out, strerror(errno));
    for (uint32_t i = 0; i < DISK_CHUNK; i++) bytes[i] = (unsigned char)(i * 2654435761u >> 24);
    const double start = app_seconds();
    int problem = 0;
    for (uint64_t at = 0; at < DISK_BYTES && !problem; at += DISK_CHUNK) {
        problem = farm_write_at(file, bytes, DISK_CHUNK, at);
        if (!problem && (at + DISK_CHUNK) % FARM_PIECE_BYTES == 0 && fdatasync(file) != 0)
            problem = errno;
    }
    plan->disk = DISK_BYTES / (app_seconds() - start);
    close(file);
    return problem ? app_fail_text(f->app, "%s: %s", path, strerror(problem)) : EXIT_GOOD;
}

// Carrying over -----------------------------------------------------------------------------------

/// Seconds a unit of cost takes: of pieces that were not the first of their process, if there were.
static double rate_of(const class_cost *c)
{
    if (c->cost > 0) return c->seconds / c->cost;
    return c->first_cost > 0 ? c->first_seconds / c->first_cost : 0;
}

/// What a process takes before its first piece, and that piece takes more than others.
static double open_of(const class_cost *c, const farm_unit *u)
{
    const double extra =
        c->cost > 0 && c->first_cost > 0 ? c->first_seconds - rate_of(c) * c->first_cost : 0;
    const double all = c->open_seconds + (extra > 0 ? extra : 0);
    return c->files > 0 ? all / c->files * ((double)u->file_bytes + 1) : 0;
}

static void estimate(planner *plan)
{
    farm *f = plan->farm;
    for (uint32_t i = 0; i < f->piece_count; i++) {
        farm_piece *p = &f->pieces[i];
        farm_unit *u = &f->units[p->unit];
        const class_cost *own = &plan->classes[plan->unit_class[p->unit]];
        const class_cost *c = own->samples ? own : &plan->jobs[u->job];
        const double bytes = u->cut
                                 ? 12.0 * (p->end - p->first) * u->vertices * (u->normals ? 2 : 1)
                                 : c->bytes / c->samples / u->piece_count;
        p->seconds = rate_of(c) * piece_cost(f, p);
        if (u->cut && !plan->written) p->seconds += bytes / plan->disk;
        u->open_seconds = open_of(c, u);
        plan->bytes += bytes;
        plan->work += p->seconds;
        plan->longest = p->seconds + u->open_seconds > plan->longest ? p->seconds + u->open_seconds
                                                                     : plan->longest;
    }
}

static void tell(planner *plan, double compute)
{
    const farm *f = plan->farm;
    const double disk = plan->bytes / plan->disk, manager = MANAGER_SECONDS * f->piece_count;
    const char *bound = "compute";
    double most = compute;
    // Ranks that were all here have shared the disk while they were measured.
    if (disk > most && (!plan->written || f->ranks > plan->here)) most = disk, bound = "disk";
    if (manager > most) most = manager, bound = "manager";
    // One piece is most of it: more ranks would not help.
    if (strcmp(bound, "compute") == 0 && plan->longest > 0.9 * compute && f->ranks > 1)
        bound = "longest";
    const double efficiency = most > 0 ? plan->work / (most * f->ranks) : 1;
    app_say(f->app, "%u pieces of %u units on %u rank%s: %.4g s, bound by %s\n", f->piece_count,
            f->unit_count, f->ranks, f->ranks == 1 ? "" : "s", most,
            strcmp(bound, "compute") == 0 ? "what there is to compute"
            : strcmp(bound, "disk") == 0  ? "the disk"
            : *bound == 'l'               ? "the longest piece"
                                          : "handing out");
    app_say(f->app, "  work     %.4g s of one rank, and %.4g s of reading\n", plan->work,
            plan->open);
    app_say(f->app, "  writes   %.4g GB, %.4g s at %.4g GB/s\n", 1e-9 * plan->bytes, disk,
            1e-9 * plan->disk);
    app_say(f->app, "  longest  %.4g s, handing out %.3g s; ranks are busy %.0f %% of the time\n",
            plan->longest, manager, 100 * efficiency);
    if (!f->app->json) return;
    json_out json = { .file = stdout };
    emit(
        &json,
        "{ ranks %u units %u pieces %u work_seconds %g open_seconds %g bytes %g disk_rate %g "
        "disk_seconds %g compute_seconds %g longest_seconds %g manager_seconds %g seconds %g bound "
        "%s efficiency %g }",
        f->ranks, f->unit_count, f->piece_count, plan->work, plan->open, plan->bytes, plan->disk,
        disk, compute, plan->longest, manager, most, bound, efficiency);
}

static int plan_all(farm *f, farm_ways *ways)
{
    const char *disk = option_text(f->app, OPTION_DISK);
    planner plan = { .farm = f, .here = f->ranks, .written = !disk };
    for (uint32_t i = 0; i < f->unit_count; i++)
        if (f->units[i].job >= plan.job_count) plan.job_count = f->units[i].job + 1;
    if (disk) plan.disk = read_rate(disk);
    TRY(farm_survey(f, ways));
    TRY(farm_cut(f));
    int status = classify(&plan);
    if (status == EXIT_GOOD) status = choose_samples(&plan);
    if (status == EXIT_GOOD) status = measure(&plan, ways);
    if (status == EXIT_GOOD && !disk) status = measure_disk(&plan);
    app_progress_done(f->app);
    if (status == EXIT_GOOD) {
        double compute = 0;
        f->ranks = f->planned_ranks;
        estimate(&plan);
        status = farm_simulate(f, &compute, &plan.open);
        if (status == EXIT_GOOD) tell(&plan, compute);
    }
    free(plan.samples), free(plan.unit_class), free(plan.classes), free(plan.jobs);
    return status;
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *place)
{
    (void)info, (void)kind, (void)place;
    return remove(path);
}

int farm_plan(farm *f)
{
    const char *out = option_text(f->app, OPTION_OUTPUT), *disk = option_text(f->app, OPTION_DISK);
    const char *base = getenv("TMPDIR");
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    char folder[4096];
    if (disk && !(read_rate(disk) > 0))
        return app_usage(f->app, "--disk %s: want a rate, 20GB/s or 500MB/s", disk);
    f->planned_ranks = f->ranks;
    if (cores > 0 && f->ranks > (uint32_t)cores) f->ranks = (uint32_t)cores;
    if (out && access(out, W_OK) == 0) base = out;
    snprintf(folder, sizeof folder, "%s/cutis-plan-XXXXXX", base ? base : "/tmp");
    if (!mkdtemp(folder)) return app_fail_text(f->app, "%s: %s", folder, strerror(errno));
    f->out = realpath(folder, NULL);
    int status = f->out ? EXIT_GOOD : app_fail_text(f->app, "not enough memory");
    if (status == EXIT_GOOD) status = farm_read_jobs(f, f->app->operands[1]);
    if (status == EXIT_GOOD) status = farm_run_local(f, plan_all);
    if (f->out) nftw(f->out, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    return status;
}
