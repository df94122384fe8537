// Frames of a call, from its array or from its source, some at a time: what is kept of them is the
// learned ones, within a budget, and tracks of the others, which are made in passes. Invariant: a
// source gives the same bits as an array of the same frames.
#include "fit/bake/job.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "math/mat3.h"
#include "model/validate.h"

enum { TASK = 64 };
// Bytes of frames that are read at once, and of positions that are learned from at most.
static const size_t CHUNK = (size_t)1 << 22;
static const uint64_t BUDGET = (uint64_t)1 << 31;
// Copies of a vertex at a seam may be this far apart in a frame, of the diagonal.
static const double SAME = 1e-6;

static uint32_t chunk_frames(const cutis_bake_job *job)
{
    const size_t frame = 3 * (size_t)job->vertex_count * sizeof(float);
    const size_t count =
        CHUNK / frame; // NOLINT(clang-analyzer-core.DivideZero): frames have vertices
    return count < 1 ? 1 : count > job->frames->count ? job->frames->count : (uint32_t)count;
}

// Some frames, at most chunk_frames of them.
static cutis_result read_frames(cutis_bake_job *job, uint32_t first, uint32_t count,
                                const float **out)
{
    const cutis_bake_frames *f = job->frames;
    const size_t plane = 3 * (size_t)job->vertex_count;
    if (f->positions) {
        *out = f->positions + first * plane;
        return CUTIS_OK;
    }
    if (!job->chunk)
        job->chunk = cutis_arena_alloc(job->arena, chunk_frames(job) * plane, sizeof(float));
    if (!job->chunk) return cutis_alloc_result(job->context);
    *out = job->chunk;
    return f->read(f->user, first, count, job->chunk);
}

static void find_apart(const cutis_bake_job *job, const float *frame, uint8_t *apart)
{
    const double most = SAME * job->diagonal;
    for (uint32_t v = 0; v < job->vertex_count; v++) {
        const float *a = frame + 3 * (size_t)v, *b = frame + 3 * (size_t)job->weld[v];
        for (size_t c = 0; c < 3 && job->weld[v] != v; c++)
            apart[v] |= fabs((double)a[c] - b[c]) > most;
    }
}

cutis_result cutis_bake_look(cutis_bake_job *job, uint32_t first, uint32_t end, uint8_t *apart)
{
    const size_t plane = 3 * (size_t)job->vertex_count;
    const uint32_t chunk = chunk_frames(job), begun = first;
    for (; first < end; first += chunk) {
        const uint32_t some = end - first < chunk ? end - first : chunk;
        const float *x;
        TRY(read_frames(job, first, some, &x));
        for (uint32_t i = 0; i < some; i++) {
            const size_t bad = cutis_first_not_finite(x + i * plane, plane);
            if (bad < plane)
                return INVALID(job->context, "bake: frame %u: vertex %zu is not finite", first + i,
                               bad / 3);
            find_apart(job, x + i * plane, apart);
        }
        if (!job->frames->positions)
            TRY(cutis_progress(job->context, "reading", (double)(first - begun) / (end - begun)));
    }
    return CUTIS_OK;
}

// A part ----------------------------------------------------------------------------------------

typedef struct part_job {
    const cutis_bake_job *job;
    cutis_bake_part *part;
    const uint32_t *vertex;   ///< per point: the first of its vertices
    const float *frames;      ///< of the call, from `first` on
    uint32_t first, from, to; ///< frames of the part that are among these
} part_job;

static void targets_task(void *data, uint32_t index)
{
    const part_job *p = data;
    const cutis_bake_job *job = p->job;
    const size_t plane = 3 * (size_t)job->vertex_count;
    uint32_t i = index * TASK;
    for (uint32_t end = i + TASK; i < end && i < job->point_count; i++)
        for (size_t c = 0; c < 3; c++) {
            float *to = p->part->targets + (3 * (size_t)i + c) * p->part->stride;
            const float *from = p->frames + 3 * (size_t)p->vertex[i] + c;
            for (uint32_t f = p->from; f < p->to; f++)
                to[f] =
                    (float)((double)from[(p->part->frame[f] - p->first) * plane] - job->centre[c]);
            // Zeros beyond the last; memory is touched first by the thread that fills it.
            for (size_t f = p->part->count; f < p->part->stride; f++) to[f] = 0;
        }
}

static void joint_task(void *data, uint32_t bone)
{
    const part_job *p = data;
    const cutis_bake_job *job = p->job;
    const size_t stride = p->part->stride;
    double *track = p->part->joints + bone * 12 * stride, out[12];
    for (uint32_t f = 0; f < p->part->count; f++) {
        const size_t frame = (size_t)p->part->frame[f] * job->data->node_count;
        cutis_bake_joint(job, bone, job->frames->poses ? job->world + frame : job->rest_world, out);
        for (size_t i = 0; i < 3; i++)
            for (size_t j = 0; j < 4; j++) track[(3 * j + i) * stride + f] = out[4 * i + j];
    }
}

static cutis_result fill_targets(cutis_bake_job *job, cutis_arena *arena, cutis_bake_part *part)
{
    uint32_t *vertex = cutis_arena_alloc(arena, job->point_count + (size_t)1, sizeof *vertex);
    size_t floats = 0;
    if (!cutis_size_multiply(job->point_count, 3 * part->stride, &floats))
        return cutis_fail(job->context, CUTIS_LIMIT_EXCEEDED, "bake: too many frames");
    part->targets = cutis_arena_alloc(arena, floats + 1, sizeof *part->targets);
    if (!vertex || !part->targets) return cutis_alloc_result(job->context);
    for (uint32_t v = job->vertex_count; v-- > 0;)
        if (job->vertex_point[v] != UINT32_MAX) vertex[job->vertex_point[v]] = v;
    part_job p = { .job = job, .part = part, .vertex = vertex };
    const uint32_t chunk = chunk_frames(job);
    for (; p.from < part->count; p.from = p.to) {
        p.first = part->frame[p.from];
        while (p.to < part->count && part->frame[p.to] - p.first < chunk) p.to++;
        TRY(read_frames(job, p.first, part->frame[p.to - 1] - p.first + 1, &p.frames));
        cutis_device_run_items(job->device, targets_task, &p, job->point_count, TASK);
    }
    return CUTIS_OK;
}

static cutis_result fill_joints(cutis_bake_job *job, cutis_arena *arena, cutis_bake_part *part)
{
    size_t doubles = 0;
    if (!cutis_size_multiply(job->joint_count + (size_t)1, 12 * part->stride, &doubles))
        return cutis_fail(job->context, CUTIS_LIMIT_EXCEEDED, "bake: too many frames");
    part->joints = cutis_arena_zero(arena, doubles, sizeof *part->joints);
    if (!part->joints) return cutis_alloc_result(job->context);
    part_job p = { .job = job, .part = part };
    cutis_device_run(job->device, joint_task, &p, job->joint_count);
    return CUTIS_OK;
}

static size_t stride_of(uint32_t count)
{
    return (count + CUTIS_BAKE_LANES - (size_t)1) / CUTIS_BAKE_LANES * CUTIS_BAKE_LANES;
}

// Frames whose positions fit into the budget.
static uint64_t budget_frames(const cutis_bake_job *job)
{
    const uint64_t bytes = job->frames->budget ? job->frames->budget : BUDGET;
    return bytes / (3 * sizeof(float) * (uint64_t)job->point_count);
}

cutis_result cutis_bake_split(cutis_bake_job *job)
{
    const uint32_t count = job->frames->count;
    const uint8_t *out = job->frames->held_out;
    cutis_bake_part *learned = &job->learned, *others = &job->others;
    const uint64_t most = budget_frames(job) > 2 ? budget_frames(job) : 2;
    uint64_t step = 1, given = 0, seen = 0;
    learned->frame = cutis_arena_alloc(job->arena, count, sizeof *learned->frame);
    others->frame = cutis_arena_alloc(job->arena, count, sizeof *others->frame);
    if (!learned->frame || !others->frame) return cutis_alloc_result(job->context);
    for (uint32_t f = 0; f < count; f++) given += !(out && out[f]);
    step = (given + most - 1) / most;
    for (uint32_t f = 0; f < count; f++) {
        const bool learn = !(out && out[f]) && seen++ % step == 0;
        if (learn)
            learned->frame[learned->count++] = f;
        else
            others->frame[others->count++] = f;
    }
    learned->stride = stride_of(learned->count), others->stride = stride_of(others->count);
    TRY(fill_joints(job, job->arena, learned));
    TRY(fill_joints(job, job->arena, others));
    if (job->taken) return CUTIS_OK;
    TRY(fill_targets(job, job->arena, learned));
    return others->count <= most && !job->steps ? fill_targets(job, job->arena, others) : CUTIS_OK;
}

// The others in passes --------------------------------------------------------------------------

// A piece of the others' tracks, or back.
static void move_tracks(const cutis_bake_part *all, uint32_t first, const cutis_bake_part *piece,
                        double *whole, double *part, size_t tracks, bool back)
{
    for (size_t k = 0; k < 12 * tracks; k++)
        memcpy(back ? whole + k * all->stride + first : part + k * piece->stride,
               back ? part + k * piece->stride : whole + k * all->stride + first,
               piece->count * sizeof(double));
}

cutis_result cutis_bake_each(cutis_bake_job *job, uint32_t from, uint32_t to,
                             cutis_bake_visit *visit, void *data)
{
    cutis_bake_part *all = &job->others;
    const size_t helpers = job->solution.helper_count;
    if (from == to) return CUTIS_OK;
    if (all->targets) return visit(job, all, 0, data);
    uint64_t most = budget_frames(job) / 2 / CUTIS_BAKE_LANES * CUTIS_BAKE_LANES;
    if (most < CUTIS_BAKE_LANES) most = CUTIS_BAKE_LANES;
    cutis_result result = CUTIS_OK;
    for (uint32_t first = from; first < to && result == CUTIS_OK; first += (uint32_t)most) {
        cutis_arena arena = { .context = job->context };
        cutis_bake_part piece = { .frame = all->frame + first };
        piece.count = to - first < most ? to - first : (uint32_t)most;
        piece.stride = stride_of(piece.count);
        piece.helpers = cutis_arena_zero(&arena, helpers * 12 * piece.stride + 1, sizeof(double));
        if (!piece.helpers) result = cutis_alloc_result(job->context);
        if (result == CUTIS_OK) result = fill_joints(job, &arena, &piece);
        if (result == CUTIS_OK) result = fill_targets(job, &arena, &piece);
        if (result == CUTIS_OK) {
            move_tracks(all, first, &piece, all->helpers, piece.helpers, helpers, false);
            result = visit(job, &piece, first, data);
            move_tracks(all, first, &piece, all->helpers, piece.helpers, helpers, true);
        }
        cutis_arena_release(&arena);
        if (result == CUTIS_OK)
            result =
                cutis_progress(job->context, "other frames", (double)(first - from) / (to - from));
    }
    return result;
}
