// A bake in steps that several processes share: any of them look at some frames, one learns from
// some, any find tracks of others, and one builds. What goes from one to the other is bytes.
// Invariant: whoever did a step, the model has the bits of cutis_bake; bytes of another bake are
// refused.
#include "fit/bake/job.h"

#include <math.h>
#include <string.h>

#include "base/error.h"

struct cutis_baker {
    cutis_context *context;
    cutis_arena arena;
    cutis_bake_frames frames;
    cutis_bake_job job;
    bool learned;
    uint8_t *seen; ///< per frame: somebody has looked at it; NULL: nobody has
    uint8_t *done; ///< per frame of the others: its tracks are there
};

#define LEARNED 0x316c4243u // "CBl1" where bytes are little-endian: of another order it is another
#define LOOKED  0x31734243u // "CBs1"
#define TRACKS  0x31744243u // "CBt1"

typedef struct head {
    uint32_t magic, vertices, points, joints, helpers, influences, learned, others;
    uint32_t first, end; ///< of tracks: frames of the call
    uint32_t own, reserved;
} head;

// Where things are in the bytes of what was learned; all a multiple of 8.
typedef struct layout {
    uint64_t tracks, weights, sums, bones, counts, own, apart, end;
} layout;

static uint64_t round_up(uint64_t size)
{
    return (size + 7) / 8 * 8;
}

// Nothing of it overflows: what bytes say of themselves is compared with how many they are.
static layout lay_out(const head *h)
{
    const uint64_t n = h->points, slots = n * h->influences;
    layout l = { .tracks = sizeof(head) };
    l.weights = l.tracks + UINT64_C(12) * sizeof(double) * h->helpers * h->learned;
    l.sums = l.weights + sizeof(double) * slots;
    l.bones = l.sums + 4 * sizeof(double) * n;
    l.counts = l.bones + round_up(sizeof(uint32_t) * slots);
    l.own = l.counts + round_up(n);
    l.apart = l.own + (h->own ? round_up(n) : 0);
    l.end = l.apart + round_up(h->vertices);
    return l;
}

static head head_of(const cutis_bake_job *job)
{
    return (head){ .magic = LEARNED,
                   .vertices = job->vertex_count,
                   .points = job->point_count,
                   .joints = job->joint_count,
                   .helpers = job->solution.helper_count,
                   .influences = job->options.influences,
                   .learned = job->learned.count,
                   .others = job->others.count,
                   .own = job->own != NULL };
}

// Tracks of some frames, without what stands beyond the last.
static void put_tracks(const double *tracks, size_t stride, uint32_t count, uint32_t helpers,
                       unsigned char *bytes)
{
    const size_t size = count * sizeof(double);
    for (size_t k = 0; k < 12 * (size_t)helpers; k++)
        memcpy(bytes + k * size, tracks + k * stride, size);
}

static void take_tracks(double *tracks, size_t stride, uint32_t count, uint32_t helpers,
                        const unsigned char *bytes)
{
    const size_t size = count * sizeof(double);
    for (size_t k = 0; k < 12 * (size_t)helpers; k++)
        memcpy(tracks + k * stride, bytes + k * size, size);
}

static cutis_result put_learned(cutis_bake_job *job, void **out, size_t *out_size)
{
    const head h = head_of(job);
    const layout l = lay_out(&h);
    const cutis_bake_solution *s = &job->solution;
    const double *const sums[4] = { s->residual, s->plain, s->turn, s->plain_turn };
    const size_t n = h.points;
    unsigned char *bytes =
        cutis_alloc_zero(job->context, (size_t)l.end + 1, 1); // cutis_memory_free
    if (!bytes) return cutis_alloc_result(job->context);
    memcpy(bytes, &h, sizeof h);
    put_tracks(job->learned.helpers, job->learned.stride, h.learned, h.helpers, bytes + l.tracks);
    for (size_t i = 0; i < n; i++) { // what is beyond the count was never set
        const size_t at = i * h.influences;
        memcpy(bytes + l.weights + at * sizeof(double), s->weight + at,
               s->count[i] * sizeof(double));
        memcpy(bytes + l.bones + at * sizeof(uint32_t), s->bone + at,
               s->count[i] * sizeof(uint32_t));
    }
    for (size_t k = 0; k < 4; k++)
        memcpy(bytes + l.sums + k * n * sizeof(double), sums[k], n * sizeof(double));
    memcpy(bytes + l.counts, s->count, n);
    if (h.own) memcpy(bytes + l.own, job->own, n);
    memcpy(bytes + l.apart, job->apart, h.vertices);
    *out = bytes, *out_size = (size_t)l.end;
    return CUTIS_OK;
}

static bool is_sound(const cutis_bake_solution *s, const head *h)
{
    for (size_t i = 0; i < h->points; i++) {
        if (s->count[i] > h->influences) return false;
        for (size_t k = i * h->influences; k < i * h->influences + s->count[i]; k++)
            if (s->bone[k] >= h->joints + h->helpers || !isfinite(s->weight[k])) return false;
    }
    return true;
}

static cutis_result not_ours(const cutis_bake_job *job)
{
    return INVALID(job->context, "bake: what another process made is of another bake, or damaged");
}

static cutis_result take_solution(cutis_bake_job *job, const unsigned char *bytes, const head *h)
{
    const layout l = lay_out(h);
    const size_t n = h->points, slots = n * h->influences;
    cutis_bake_solution *s = &job->solution;
    double *const copy = cutis_arena_copy(job->arena, bytes + l.sums, 4 * n, sizeof *copy);
    s->helper_count = h->helpers;
    s->helpers = cutis_arena_zero(job->arena, 12 * (size_t)h->helpers * job->learned.stride + 1,
                                  sizeof *s->helpers);
    s->weight = cutis_arena_copy(job->arena, bytes + l.weights, slots, sizeof *s->weight);
    s->bone = cutis_arena_copy(job->arena, bytes + l.bones, slots, sizeof *s->bone);
    s->count = cutis_arena_copy(job->arena, bytes + l.counts, n, 1);
    if (h->own) job->own = cutis_arena_copy(job->arena, bytes + l.own, n, 1);
    if (!copy || !s->helpers || !s->weight || !s->bone || !s->count || (h->own && !job->own))
        return cutis_alloc_result(job->context);
    s->residual = copy, s->plain = copy + n, s->turn = copy + 2 * n, s->plain_turn = copy + 3 * n;
    take_tracks(s->helpers, job->learned.stride, h->learned, h->helpers, bytes + l.tracks);
    job->learned.helpers = s->helpers;
    return is_sound(s, h) ? CUTIS_OK : not_ours(job);
}

static cutis_result take_learned(cutis_baker *b, const unsigned char *bytes, size_t size)
{
    cutis_bake_job *job = &b->job;
    head h;
    if (size < sizeof h) return not_ours(job);
    memcpy(&h, bytes, sizeof h);
    if (h.magic != LEARNED || h.influences != job->options.influences ||
        h.vertices != cutis_model_vertex_count(job->model) || h.points > h.vertices ||
        h.helpers > CUTIS_BAKE_BONES || h.learned > b->frames.count || h.own > 1 ||
        size != lay_out(&h).end)
        return not_ours(job);
    job->taken = bytes + lay_out(&h).apart;
    TRY(cutis_bake_prepare(job));
    job->taken = NULL; // the caller's
    const head ours = head_of(job);
    if (h.points != ours.points || h.joints != ours.joints || h.learned != ours.learned ||
        h.others != ours.others)
        return not_ours(job);
    TRY(take_solution(job, bytes, &h));
    TRY(cutis_bake_parents(job));
    return cutis_bake_others_open(job);
}

// The calls ---------------------------------------------------------------------------------------

void cutis_baker_destroy(cutis_baker *baker)
{
    if (!baker) return;
    cutis_arena_release(&baker->arena);
    cutis_free_array(baker->context, baker, 1, sizeof *baker);
}

cutis_result cutis_baker_create(const cutis_model *model, cutis_device *device,
                                const cutis_bake_frames *frames, const cutis_bake_options *options,
                                cutis_baker **out)
{
    if (out) *out = NULL;
    if (!model || !frames || !out) return CUTIS_INVALID_ARGUMENT;
    cutis_context *context = cutis_model_context(model);
    cutis_baker *made = cutis_alloc_zero(context, 1, sizeof *made);
    if (!made) return cutis_fail_in(context, cutis_alloc_result(context));
    made->context = made->arena.context = context;
    made->frames = *frames;
    cutis_result result =
        cutis_bake_open(&made->job, model, device, &made->frames, options, &made->arena);
    made->job.steps = true;
    if (result == CUTIS_OK && (made->job.options.morphs || made->job.options.drivers))
        result = UNSUPPORTED(context, "bake: %s are not made in steps",
                             made->job.options.morphs ? "morph targets" : "drivers");
    if (result != CUTIS_OK) {
        cutis_baker_destroy(made);
        return cutis_fail_in(context, result);
    }
    *out = made;
    return CUTIS_OK;
}

static cutis_result begin_done(cutis_baker *b)
{
    b->done = cutis_arena_zero(&b->arena, b->job.others.count + (size_t)1, 1);
    b->learned = b->done != NULL;
    return b->done ? CUTIS_OK : cutis_alloc_result(b->context);
}

static cutis_result expect(const cutis_baker *b, bool learned)
{
    if (b->learned == learned) return CUTIS_OK;
    return INVALID(b->context, learned ? "bake: nothing is learned yet" : "bake: it has learned");
}

static head looked_head(const cutis_baker *b, uint32_t first, uint32_t end)
{
    return (head){ .magic = LOOKED, .vertices = b->job.vertex_count, .first = first, .end = end };
}

cutis_result cutis_baker_look(cutis_baker *baker, uint32_t first, uint32_t end, void **bytes,
                              size_t *size)
{
    if (bytes) *bytes = NULL;
    if (size) *size = 0;
    if (!baker || !bytes || !size || first > end || end > baker->frames.count)
        return CUTIS_INVALID_ARGUMENT;
    cutis_result result = cutis_bake_gather_rest(&baker->job);
    const head h = looked_head(baker, first, end);
    const size_t all = sizeof h + h.vertices;
    unsigned char *made = NULL;
    if (result == CUTIS_OK && !(made = cutis_alloc_zero(baker->context, all + 1, 1)))
        result = cutis_alloc_result(baker->context);
    if (result == CUTIS_OK) {
        memcpy(made, &h, sizeof h);
        result = cutis_bake_look(&baker->job, first, end, made + sizeof h);
    }
    if (result != CUTIS_OK) {
        cutis_memory_free(baker->context, made, all);
        return cutis_fail_in(baker->context, result);
    }
    *bytes = made, *size = all;
    return CUTIS_OK;
}

static cutis_result put_looked(cutis_baker *b, uint32_t first, uint32_t end,
                               const unsigned char *bytes, size_t size)
{
    TRY(expect(b, false));
    TRY(cutis_bake_gather_rest(&b->job));
    const head want = looked_head(b, first, end);
    if (first > end || end > b->frames.count || size != sizeof want + want.vertices ||
        memcmp(bytes, &want, sizeof want) != 0)
        return not_ours(&b->job);
    if (!b->seen) b->seen = cutis_arena_zero(&b->arena, b->frames.count + (size_t)1, 1);
    if (!b->seen) return cutis_alloc_result(b->context);
    for (size_t v = 0; v < want.vertices; v++) b->job.apart[v] |= bytes[sizeof want + v] != 0;
    memset(b->seen + first, 1, end - first);
    return CUTIS_OK;
}

cutis_result cutis_baker_learn(cutis_baker *baker, void **bytes, size_t *size)
{
    if (bytes) *bytes = NULL;
    if (size) *size = 0;
    if (!baker || !bytes || !size) return CUTIS_INVALID_ARGUMENT;
    cutis_result result = expect(baker, false);
    baker->job.looked =
        baker->seen && memchr(baker->seen, 0, baker->frames.count) == NULL; // else it looks itself
    if (result == CUTIS_OK) result = cutis_bake_learn(&baker->job);
    if (result == CUTIS_OK) result = begin_done(baker);
    if (result == CUTIS_OK) result = put_learned(&baker->job, bytes, size);
    return result == CUTIS_OK ? CUTIS_OK : cutis_fail_in(baker->context, result);
}

cutis_result cutis_baker_take(cutis_baker *baker, const void *bytes, size_t size)
{
    if (!baker || !bytes) return CUTIS_INVALID_ARGUMENT;
    cutis_result result = expect(baker, false);
    if (result == CUTIS_OK) result = take_learned(baker, bytes, size);
    if (result == CUTIS_OK) result = begin_done(baker);
    return result == CUTIS_OK ? CUTIS_OK : cutis_fail_in(baker->context, result);
}

static head tracks_head(const cutis_baker *b, uint32_t first, uint32_t end, uint32_t others)
{
    head h = head_of(&b->job);
    h.magic = TRACKS, h.first = first, h.end = end, h.others = others, h.own = 0;
    return h;
}

cutis_result cutis_baker_follow(cutis_baker *baker, uint32_t first, uint32_t end, void **bytes,
                                size_t *size)
{
    if (bytes) *bytes = NULL;
    if (size) *size = 0;
    if (!baker || !bytes || !size) return CUTIS_INVALID_ARGUMENT;
    cutis_bake_job *job = &baker->job;
    uint32_t from = 0, to = 0;
    cutis_result result = expect(baker, true);
    if (result == CUTIS_OK) {
        cutis_bake_others_in(job, first, end, &from, &to);
        result = cutis_bake_others(job, from, to);
    }
    const size_t doubles = 12 * (size_t)job->solution.helper_count * (to - from);
    const head h = tracks_head(baker, first, end, to - from);
    unsigned char *made = NULL;
    if (result == CUTIS_OK &&
        !(made = cutis_alloc_zero(baker->context, sizeof h + doubles * sizeof(double) + 1, 1)))
        result = cutis_alloc_result(baker->context);
    if (result != CUTIS_OK) return cutis_fail_in(baker->context, result);
    memcpy(made, &h, sizeof h);
    put_tracks(job->others.helpers + from, job->others.stride, to - from, h.helpers,
               made + sizeof h);
    memset(baker->done + from, 1, to - from);
    *bytes = made, *size = sizeof h + doubles * sizeof(double);
    return CUTIS_OK;
}

static cutis_result put_followed(cutis_baker *b, uint32_t first, uint32_t end,
                                 const unsigned char *bytes, size_t size)
{
    cutis_bake_job *job = &b->job;
    uint32_t from, to;
    TRY(expect(b, true));
    cutis_bake_others_in(job, first, end, &from, &to);
    const head want = tracks_head(b, first, end, to - from);
    const size_t doubles = 12 * (size_t)want.helpers * (to - from);
    if (size != sizeof want + doubles * sizeof(double) || memcmp(bytes, &want, sizeof want) != 0)
        return not_ours(job);
    take_tracks(job->others.helpers + from, job->others.stride, to - from, want.helpers,
                bytes + sizeof want);
    memset(b->done + from, 1, to - from);
    return CUTIS_OK;
}

cutis_result cutis_baker_put(cutis_baker *baker, uint32_t first, uint32_t end, const void *bytes,
                             size_t size)
{
    if (!baker || !bytes) return CUTIS_INVALID_ARGUMENT;
    uint32_t magic = 0;
    if (size >= sizeof magic) memcpy(&magic, bytes, sizeof magic);
    return cutis_fail_in(baker->context, magic == LOOKED
                                             ? put_looked(baker, first, end, bytes, size)
                                             : put_followed(baker, first, end, bytes, size));
}

cutis_result cutis_baker_finish(cutis_baker *baker, cutis_model **out, cutis_bake_report **report)
{
    if (out) *out = NULL;
    if (report) *report = NULL;
    if (!baker || !out) return CUTIS_INVALID_ARGUMENT;
    cutis_bake_report *made = cutis_owner_create(baker->context, sizeof *made);
    cutis_result result = made ? expect(baker, true) : cutis_alloc_result(baker->context);
    for (uint32_t f = 0; result == CUTIS_OK && f < baker->job.others.count; f++)
        if (!baker->done[f])
            result = INVALID(baker->context, "bake: there are no tracks of frame %u",
                             baker->job.others.frame[f]);
    baker->job.kept_count = 0;
    if (result == CUTIS_OK) result = cutis_bake_finish(&baker->job, out, made);
    if (result != CUTIS_OK) {
        cutis_bake_report_destroy(made);
        return cutis_fail_in(baker->context, result);
    }
    if (report)
        *report = made;
    else
        cutis_bake_report_destroy(made);
    return CUTIS_OK;
}
