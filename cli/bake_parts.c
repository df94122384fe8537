/// `cutis bake` of a sequence that stays in its file, in parts: some frames each are looked at, one
/// part learns, then the tracks of some frames each are found, then some frames each are judged.
/// Invariant: the file and what is said are those of one process; a part is as many frames as that
/// one sums up at a time (bake_part_frames).
#include "bake.h"

#include <stdlib.h>
#include <string.h>

#include "frame_file.h"
#include "parts.h"

enum { BAKERS = 2 };

typedef struct bake_parts {
    bake_job job;
    uint32_t frames, size, count; ///< of the sequence; of a part; parts of frames
    bool begun, learned;
    cutis_baker *bakers[BAKERS]; ///< of what is baked, and of what it is compared with, or NULL
    cutis_bake_report *plain_report;
    cutis_model *rounded[BAKE_SCORES]; ///< by format; of floats it is job.baked
    memory_list memory;
} bake_parts;

/// A judged part as bytes: this, and the scores of each model.
typedef struct scores_head {
    uint32_t first, end, models, vertices;
} scores_head;

static void close_parts(void *data)
{
    bake_parts *p = data;
    if (!p) return;
    for (int k = 0; k < BAKERS; k++) cutis_baker_destroy(p->bakers[k]);
    for (int f = 1; f < BAKE_SCORES; f++) cutis_model_destroy(p->rounded[f]);
    cutis_bake_report_destroy(p->plain_report);
    memory_release(&p->memory);
    bake_close(&p->job);
    free(p);
}

static int open_parts(cli_app *app, uint32_t *parts, uint32_t *vertices, void **out)
{
    frame_file file;
    bake_parts *p = *out = calloc(1, sizeof *p);
    *parts = *vertices = 1;
    if (!p) return app_fail_text(app, "bake: not enough memory");
    p->job.path = app->operands[0];
    TRY(bake_read_options(app, &p->job));
    const bake_job *job = &p->job;
    if (!job->sequence || job->max_error > 0 || job->options.morphs) return EXIT_GOOD;
    if (!has_extension(job->path, ".npy .pc2") ||
        !frame_file_open(job->path, job->frames.budget, BAKE_FRAMES_MOST, &file))
        return EXIT_GOOD;
    p->frames = file.count, p->size = bake_part_frames(file.count);
    p->count = (p->frames + p->size - 1) / p->size;
    *parts = 1 + 3 * p->count, *vertices = file.vertex_count;
    frame_file_close(&file);
    return EXIT_GOOD;
}

// Parts that look, the one that learns, those of tracks, those that judge.
static uint32_t needs(uint32_t parts, uint32_t part)
{
    const uint32_t count = (parts - 1) / 3;
    if (part < count) return 0;
    if (part == count) return count;
    return part <= 2 * count ? count + 1 : part < parts ? 2 * count + 1 : parts;
}

static int prepare(cli_app *app, void *data)
{
    bake_parts *p = data;
    bake_job *job = &p->job;
    const cutis_bake_options one = { .helpers = 1 };
    if (p->begun) return EXIT_GOOD;
    TRY(bake_begin(app, job));
    if (job->frames.count != p->frames || !job->stream)
        return app_fail_text(app, "%s: it has changed while it was read", job->path);
    TRY(app_result(
        app, job->path,
        cutis_baker_create(job->model, job->device, &job->frames, &job->options, &p->bakers[0])));
    if (bake_is_bare(job))
        TRY(app_result(
            app, job->path,
            cutis_baker_create(job->model, job->device, &job->frames, &one, &p->bakers[1])));
    p->begun = true;
    return EXIT_GOOD;
}

// Bytes of both bakers as those of one part: the length of the first, both ------------------------

static int pack(cli_app *app, const bake_parts *p, part_bytes both[BAKERS], part_bytes *out)
{
    const uint64_t size = both[0].size;
    unsigned char *bytes = malloc(sizeof size + both[0].size + both[1].size);
    if (bytes) {
        memcpy(bytes, &size, sizeof size);
        if (both[0].size) memcpy(bytes + sizeof size, both[0].data, both[0].size);
        if (both[1].size) memcpy(bytes + sizeof size + size, both[1].data, both[1].size);
    }
    *out = (part_bytes){ bytes, sizeof size + both[0].size + both[1].size, false };
    return bytes ? EXIT_GOOD : bake_no_memory(app, &p->job);
}

static int unpack(cli_app *app, const bake_parts *p, const part_bytes *in, part_bytes both[BAKERS])
{
    uint64_t size = 0;
    if (in->size >= sizeof size) memcpy(&size, in->data, sizeof size);
    if (in->size < sizeof size || size > in->size - sizeof size)
        return app_fail_text(app, "%s: a part of the bake is damaged", p->job.path);
    both[0] = (part_bytes){ (char *)in->data + sizeof size, size, false };
    both[1] = (part_bytes){ (char *)both[0].data + size, in->size - sizeof size - size, false };
    return EXIT_GOOD;
}

static uint32_t first_of(const bake_parts *p, uint32_t k)
{
    return k * p->size;
}

static uint32_t end_of(const bake_parts *p, uint32_t k)
{
    return k + 1 < p->count ? first_of(p, k + 1) : p->frames;
}

// Both see the same in the frames.
static int look(cli_app *app, const bake_parts *p, uint32_t k, part_bytes *out)
{
    out->of_library = true;
    return app_result(
        app, p->job.path,
        cutis_baker_look(p->bakers[0], first_of(p, k), end_of(p, k), &out->data, &out->size));
}

static int put_looked(cli_app *app, const bake_parts *p, const part_source *source)
{
    for (uint32_t k = 0; k < p->count; k++) {
        part_bytes bytes = { 0 };
        int status = source->get(source, app, k, &bytes);
        for (int b = 0; b < BAKERS && p->bakers[b] && status == EXIT_GOOD; b++)
            status = app_result(app, p->job.path,
                                cutis_baker_put(p->bakers[b], first_of(p, k), end_of(p, k),
                                                bytes.data, bytes.size));
        part_bytes_free(app, &bytes);
        if (status != EXIT_GOOD) return status;
    }
    return EXIT_GOOD;
}

static int learn(cli_app *app, bake_parts *p, const part_source *source, part_bytes *out)
{
    part_bytes both[BAKERS] = { 0 };
    int status = put_looked(app, p, source);
    for (int k = 0; k < BAKERS && p->bakers[k] && status == EXIT_GOOD; k++) {
        both[k].of_library = true;
        status = app_result(app, p->job.path,
                            cutis_baker_learn(p->bakers[k], &both[k].data, &both[k].size));
    }
    p->learned = status == EXIT_GOOD;
    if (status == EXIT_GOOD) status = pack(app, p, both, out);
    for (int k = 0; k < BAKERS; k++) part_bytes_free(app, &both[k]);
    return status;
}

static int ensure_learned(cli_app *app, bake_parts *p, const part_source *source)
{
    part_bytes bytes = { 0 }, both[BAKERS];
    if (p->learned) return EXIT_GOOD;
    int status = source->get(source, app, p->count, &bytes);
    if (status == EXIT_GOOD) status = unpack(app, p, &bytes, both);
    for (int k = 0; k < BAKERS && p->bakers[k] && status == EXIT_GOOD; k++)
        status = app_result(app, p->job.path,
                            cutis_baker_take(p->bakers[k], both[k].data, both[k].size));
    part_bytes_free(app, &bytes);
    p->learned = status == EXIT_GOOD;
    return status;
}

static int follow(cli_app *app, bake_parts *p, uint32_t k, part_bytes *out)
{
    part_bytes both[BAKERS] = { 0 };
    int status = EXIT_GOOD;
    for (int b = 0; b < BAKERS && p->bakers[b] && status == EXIT_GOOD; b++) {
        both[b].of_library = true;
        status = app_result(app, p->job.path,
                            cutis_baker_follow(p->bakers[b], first_of(p, k), end_of(p, k),
                                               &both[b].data, &both[b].size));
    }
    if (status == EXIT_GOOD) status = pack(app, p, both, out);
    for (int b = 0; b < BAKERS; b++) part_bytes_free(app, &both[b]);
    return status;
}

// Models ------------------------------------------------------------------------------------------

static int put_tracks(cli_app *app, bake_parts *p, const part_source *source)
{
    for (uint32_t k = 0; k < p->count; k++) {
        part_bytes bytes = { 0 }, both[BAKERS];
        int status = source->get(source, app, p->count + 1 + k, &bytes);
        if (status == EXIT_GOOD) status = unpack(app, p, &bytes, both);
        for (int b = 0; b < BAKERS && p->bakers[b] && status == EXIT_GOOD; b++)
            status = app_result(app, p->job.path,
                                cutis_baker_put(p->bakers[b], first_of(p, k), end_of(p, k),
                                                both[b].data, both[b].size));
        part_bytes_free(app, &bytes);
        if (status != EXIT_GOOD) return status;
    }
    return EXIT_GOOD;
}

// The models that one process would have after baking.
static int ensure_built(cli_app *app, bake_parts *p, const part_source *source)
{
    bake_job *job = &p->job;
    if (job->baked) return EXIT_GOOD;
    TRY(ensure_learned(app, p, source));
    TRY(put_tracks(app, p, source));
    if (p->bakers[1])
        TRY(app_result(app, job->path,
                       cutis_baker_finish(p->bakers[1], &job->plain, &p->plain_report)));
    TRY(app_result(app, job->path, cutis_baker_finish(p->bakers[0], &job->baked, &job->report)));
    for (int b = 0; b < BAKERS; b++) { // what was learned from need not stay
        cutis_baker_destroy(p->bakers[b]);
        p->bakers[b] = NULL;
    }
    return EXIT_GOOD;
}

static bool is_judged(const cli_app *app, const bake_parts *p, uint32_t score)
{
    return score == CUTIS_WEIGHTS_FLOAT || score == BAKE_SCORE_PLAIN ||
           bake_formats(app, &p->job) >> score & 1;
}

// What is judged, in the order of scores. @return how many
static uint32_t list_judged(const cli_app *app, bake_parts *p, bake_score *scores,
                            bake_shown shown[BAKE_SCORES])
{
    uint32_t count = 0;
    for (uint32_t s = 0; s < BAKE_SCORES; s++) {
        cutis_model *model = s == BAKE_SCORE_PLAIN      ? bake_plain(&p->job)
                             : s == CUTIS_WEIGHTS_FLOAT ? p->job.baked
                                                        : p->rounded[s];
        if (is_judged(app, p, s)) shown[count++] = (bake_shown){ model, &scores[s] };
    }
    return count;
}

static int ensure_rounded(cli_app *app, bake_parts *p)
{
    for (uint32_t f = CUTIS_WEIGHTS_FLOAT + 1; f < BAKE_SCORE_PLAIN; f++)
        if (is_judged(app, p, f) && !p->rounded[f])
            TRY(app_result(app, p->job.path,
                           bake_round(p->job.baked, (cutis_weight_format)f, &p->rounded[f])));
    return EXIT_GOOD;
}

// Judging -----------------------------------------------------------------------------------------

static bool make_scores(cli_app *app, const bake_parts *p, memory_list *memory,
                        bake_score scores[BAKE_SCORES])
{
    for (uint32_t s = 0; s < BAKE_SCORES; s++)
        if (is_judged(app, p, s) && !bake_score_make(&p->job, memory, &scores[s])) return false;
    return true;
}

static scores_head head_of(const bake_parts *p, uint32_t k, uint32_t models)
{
    return (scores_head){ first_of(p, k), end_of(p, k), models,
                          cutis_model_vertex_count(p->job.model) };
}

static size_t scores_size(const scores_head *h)
{
    return sizeof *h + sizeof(double) * h->models * (3 * (size_t)(h->end - h->first) + h->vertices);
}

static void put_scores(const scores_head *h, const bake_shown *shown, unsigned char *bytes)
{
    const size_t frames = sizeof(double) * (h->end - h->first);
    memcpy(bytes, h, sizeof *h);
    bytes += sizeof *h;
    for (uint32_t m = 0; m < h->models; m++) {
        const bake_score *s = shown[m].score;
        const double *const per_frame[3] = { s->sum, s->angles, s->most };
        for (int i = 0; i < 3; i++, bytes += frames) memcpy(bytes, per_frame[i] + h->first, frames);
        memcpy(bytes, s->squares, sizeof(double) * h->vertices);
        bytes += sizeof(double) * h->vertices;
    }
}

static void take_scores(const scores_head *h, const bake_shown *shown, const unsigned char *bytes)
{
    const size_t frames = sizeof(double) * (h->end - h->first);
    bytes += sizeof *h;
    for (uint32_t m = 0; m < h->models; m++) {
        const bake_score *s = shown[m].score;
        double *const per_frame[3] = { s->sum, s->angles, s->most };
        for (int i = 0; i < 3; i++, bytes += frames) memcpy(per_frame[i] + h->first, bytes, frames);
        for (size_t v = 0; v < h->vertices; v++, bytes += sizeof(double)) {
            double square;
            memcpy(&square, bytes, sizeof square);
            s->squares[v] += square;
        }
    }
}

static int judge(cli_app *app, bake_parts *p, uint32_t k, part_bytes *out)
{
    ENDS_BY(memory_release) memory_list memory = { 0 };
    bake_score scores[BAKE_SCORES] = { 0 };
    bake_shown shown[BAKE_SCORES];
    TRY(ensure_rounded(app, p));
    if (!make_scores(app, p, &memory, scores)) return bake_no_memory(app, &p->job);
    const uint32_t count = list_judged(app, p, scores, shown);
    const scores_head h = head_of(p, k, count);
    TRY(bake_judge_range(app, &p->job, shown, count, h.first, h.end));
    *out = (part_bytes){ malloc(scores_size(&h)), scores_size(&h), false };
    if (!out->data) return bake_no_memory(app, &p->job);
    put_scores(&h, shown, out->data);
    return EXIT_GOOD;
}

static int take_part(cli_app *app, const bake_parts *p, const scores_head *want,
                     const bake_shown *shown, const part_bytes *bytes)
{
    if (bytes->size != scores_size(want) || memcmp(bytes->data, want, sizeof *want) != 0)
        return app_fail_text(app, "%s: a part of the bake is of another one, or damaged",
                             p->job.path);
    take_scores(want, shown, bytes->data);
    return EXIT_GOOD;
}

// The calls ---------------------------------------------------------------------------------------

static int run_part(cli_app *app, void *data, const part_source *source, uint32_t part,
                    part_bytes *out)
{
    bake_parts *p = data;
    if (part < p->count) return look(app, p, part, out);
    if (part == p->count) return learn(app, p, source, out);
    if (part <= 2 * p->count) {
        TRY(ensure_learned(app, p, source));
        return follow(app, p, part - 1 - p->count, out);
    }
    TRY(ensure_built(app, p, source));
    return judge(app, p, part - 1 - 2 * p->count, out);
}

static int finish(cli_app *app, void *data, const part_source *source, uint32_t parts)
{
    bake_parts *p = data;
    bake_score scores[BAKE_SCORES] = { 0 };
    bake_shown shown[BAKE_SCORES];
    (void)parts;
    TRY(prepare(app, p));
    TRY(ensure_built(app, p, source));
    if (!make_scores(app, p, &p->memory, scores)) return bake_no_memory(app, &p->job);
    const uint32_t count = list_judged(app, p, scores, shown);
    for (uint32_t k = 0; k < p->count; k++) {
        part_bytes bytes = { 0 };
        const scores_head want = head_of(p, k, count);
        int status = source->get(source, app, 2 * p->count + 1 + k, &bytes);
        if (status == EXIT_GOOD) status = take_part(app, p, &want, shown, &bytes);
        part_bytes_free(app, &bytes);
        if (status != EXIT_GOOD) return status;
    }
    p->job.known = scores;
    const int status = bake_end(app, &p->job);
    p->job.known = NULL;
    return status;
}

const part_verb bake_in_parts = {
    "bake", open_parts, needs, prepare, run_part, finish, close_parts
};
