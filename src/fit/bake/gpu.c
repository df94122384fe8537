// Baking's large stages on a GPU. What does not change stays on the device: targets, turns and
// joints' tracks of a level. What the host's stages made goes up before a launch, and what they
// need comes back after it. Invariant: as in gpu.h.
#include "fit/bake/gpu.h"

#include <string.h>

#include "base/error.h"
#include "device/compute/bake.h"

// Below this many numbers (points times frames) launches cost more than they save.
static const uint64_t LEAST = 1u << 18;
// Joints whose sums are in memory together; doubles of errors that are.
enum { JOINTS_TOGETHER = 64 };
static const size_t ERRORS_TOGETHER = (size_t)1 << 24;

#define BAKE_BUFFERS(X)                                                                            \
    X(targets)                                                                                     \
    X(columns)                                                                                     \
    X(turns)                                                                                       \
    X(turned_columns)                                                                              \
    X(tracks)                                                                                      \
    X(positions)                                                                                   \
    X(normals)                                                                                     \
    X(mass)                                                                                        \
    X(square)                                                                                      \
    X(lengths)                                                                                     \
    X(joint_first)                                                                                 \
    X(joint_near)                                                                                  \
    X(joint)                                                                                       \
    X(joint_product)                                                                               \
    X(products)                                                                                    \
    X(turned)                                                                                      \
    X(allowed)                                                                                     \
    X(form)                                                                                        \
    X(given_first)                                                                                 \
    X(given_end)                                                                                   \
    X(given_joint)                                                                                 \
    X(given_weight)                                                                                \
    X(limits)                                                                                      \
    X(slots)                                                                                       \
    X(bone)                                                                                        \
    X(weight)                                                                                      \
    X(used)                                                                                        \
    X(energy)                                                                                      \
    X(loss)                                                                                        \
    X(product_of)                                                                                  \
    X(diagonal_of)                                                                                 \
    X(listed)                                                                                      \
    X(list_first) X(list) X(share) X(goals) X(begin) X(end) X(off) X(off_sums)

struct cutis_bake_gpu {
    cutis_device *device;
    size_t points, length; ///< of the level; floats of a point's targets
    double *form;          ///< [bone][bone][10]
    int32_t *list_first, *list, *begin, *end;
    double *share;
    uint8_t *limits;
    struct {
#define FIELD(name) cutis_buffer *name;
        BAKE_BUFFERS(FIELD)
    } buffers;
};

// Memory for so many bytes at least; what is there stays if it is enough.
static cutis_result make_room(const cutis_bake_gpu *gpu, cutis_buffer **buffer, size_t bytes)
{
    if (*buffer && (*buffer)->size >= bytes) return CUTIS_OK;
    cutis_buffer_destroy(*buffer);
    *buffer = NULL;
    return cutis_buffer_create(gpu->device, bytes ? bytes : 8, buffer);
}

static cutis_result send(const cutis_bake_gpu *gpu, cutis_buffer **buffer, const void *data,
                         size_t bytes)
{
    TRY(make_room(gpu, buffer, bytes));
    return bytes ? cutis_buffer_write(*buffer, 0, data, bytes) : CUTIS_OK;
}

static bool fits(const cutis_bake_work *work)
{
    const cutis_bake_problem *p = work->problem;
    const cutis_device *device = p->device;
    if (!device || !device->operations->compute_run) return false;
    const uint64_t points = p->point_count, length = 3 * (uint64_t)p->stride,
                   bones = work->bone_capacity;
    const uint64_t bytes = 16 * points * length + 20 * points * bones +
                           16 * points * (bones > JOINTS_TOGETHER ? bones : JOINTS_TOGETHER) +
                           96 * bones * p->stride + 8 * ERRORS_TOGETHER;
    return points * p->stride >= LEAST && points * length / 8 <= INT32_MAX &&
           points * bones <= INT32_MAX && points * p->influences <= INT32_MAX &&
           bytes <= device->operations->describe(device).memory_bytes / 2;
}

// Targets or turns, as they are and as columns.
static cutis_result send_frames(const cutis_bake_gpu *gpu, const float *frames, cutis_buffer **rows,
                                cutis_buffer **columns)
{
    const size_t bytes = gpu->points * gpu->length * sizeof(float);
    TRY(send(gpu, rows, frames, bytes));
    TRY(make_room(gpu, columns, bytes));
    return bake_columns_run(
        gpu->device, (uint32_t)(gpu->points * gpu->length / 8),
        (bake_columns_buffers){ .targets = *rows, .columns = *columns },
        (bake_columns_arguments){ .points = (int)gpu->points, .length = (int)gpu->length });
}

static cutis_result send_level(const cutis_bake_work *work, cutis_bake_gpu *gpu)
{
    const cutis_bake_problem *p = work->problem;
    const cutis_bake_level *level = work->level;
    const size_t n = gpu->points, listed = level->joint_first[n], track = 12 * p->stride,
                 given = p->first ? p->first[n] : 0;
    TRY(send_frames(gpu, p->targets, &gpu->buffers.targets, &gpu->buffers.columns));
    TRY(make_room(gpu, &gpu->buffers.tracks, work->bone_capacity * track * sizeof(double)));
    if (p->joint_count)
        TRY(cutis_buffer_write(gpu->buffers.tracks, 0, p->joints,
                               p->joint_count * track * sizeof(double)));
    TRY(send(gpu, &gpu->buffers.positions, p->positions, 3 * n * sizeof(double)));
    TRY(send(gpu, &gpu->buffers.mass, p->mass, n * sizeof(double)));
    TRY(send(gpu, &gpu->buffers.joint_first, level->joint_first, (n + 1) * sizeof(uint32_t)));
    TRY(send(gpu, &gpu->buffers.joint_near, level->joint_near, n * sizeof(uint32_t)));
    TRY(send(gpu, &gpu->buffers.joint, level->joint, listed * sizeof(uint32_t)));
    for (size_t i = 0; i < n; i++) gpu->limits[i] = (uint8_t)cutis_bake_limit(p, (uint32_t)i);
    TRY(send(gpu, &gpu->buffers.limits, gpu->limits, n));
    TRY(make_room(gpu, &gpu->buffers.product_of, n * work->bone_capacity * sizeof(double)));
    TRY(make_room(gpu, &gpu->buffers.diagonal_of, n * work->bone_capacity * sizeof(double)));
    TRY(make_room(gpu, &gpu->buffers.listed, n * work->capacity * sizeof(int32_t)));
    TRY(make_room(gpu, &gpu->buffers.energy, n * sizeof(double)));
    TRY(make_room(gpu, &gpu->buffers.used, n * p->influences * sizeof(double)));
    TRY(make_room(gpu, &gpu->buffers.lengths, n * sizeof(double)));
    if (!p->first) return CUTIS_OK;
    TRY(send(gpu, &gpu->buffers.given_first, p->first, n * sizeof(uint32_t) + 4));
    TRY(send(gpu, &gpu->buffers.given_end, p->first + 1, n * sizeof(uint32_t)));
    TRY(send(gpu, &gpu->buffers.given_joint, p->joint, given * sizeof(uint32_t)));
    return send(gpu, &gpu->buffers.given_weight, p->weight, given * sizeof(double));
}

cutis_result cutis_bake_gpu_open(cutis_bake_work *work)
{
    const cutis_bake_problem *p = work->problem;
    if (work->gpu || !fits(work)) return CUTIS_OK;
    const size_t n = p->point_count, slots = n * p->influences, bones = work->bone_capacity;
    cutis_bake_gpu *gpu = cutis_arena_zero(work->arena, 1, sizeof *gpu);
    if (!gpu) return cutis_alloc_result(p->context);
    gpu->device = p->device, gpu->points = n, gpu->length = 3 * p->stride;
    gpu->form = cutis_arena_alloc(work->arena, bones * bones, BAKE_SQUARE * sizeof(double));
    gpu->list_first = cutis_arena_zero(work->arena, work->capacity + (size_t)1, sizeof(int32_t));
    gpu->list = cutis_arena_alloc(work->arena, slots, sizeof(int32_t));
    gpu->share = cutis_arena_alloc(work->arena, slots, sizeof(double));
    gpu->begin = cutis_arena_alloc(work->arena, n, sizeof(int32_t));
    gpu->end = cutis_arena_alloc(work->arena, n, sizeof(int32_t));
    gpu->limits = cutis_arena_alloc(work->arena, n, 1);
    if (!gpu->form || !gpu->list_first || !gpu->list || !gpu->share || !gpu->begin || !gpu->end ||
        !gpu->limits)
        return cutis_alloc_result(p->context);
    work->gpu = gpu;
    const cutis_result result = send_level(work, gpu);
    // Its memory is somebody else's now, or it has no doubles: the host has the same bits.
    if (result != CUTIS_DEVICE_OUT_OF_MEMORY && result != CUTIS_DEVICE_BUILD_FAILED) return result;
    cutis_bake_gpu_close(work);
    return CUTIS_OK;
}

void cutis_bake_gpu_close(cutis_bake_work *work)
{
    if (!work->gpu) return;
#define DESTROY(name) cutis_buffer_destroy(work->gpu->buffers.name);
    BAKE_BUFFERS(DESTROY)
    work->gpu = NULL;
}

// Normals come after the level was opened.
static cutis_result send_turns(const cutis_bake_work *work)
{
    const cutis_bake_problem *p = work->problem;
    cutis_bake_gpu *gpu = work->gpu;
    if (!p->turns || gpu->buffers.turns) return CUTIS_OK;
    TRY(send(gpu, &gpu->buffers.normals, p->normals, 3 * gpu->points * sizeof(double)));
    return send_frames(gpu, p->turns, &gpu->buffers.turns, &gpu->buffers.turned_columns);
}

static cutis_result send_helpers(const cutis_bake_work *work)
{
    const size_t track = 12 * work->problem->stride * sizeof(double);
    if (work->helper_count == 0) return CUTIS_OK;
    return cutis_buffer_write(work->gpu->buffers.tracks, work->problem->joint_count * track,
                              work->helpers, work->helper_count * track);
}

// Sums of bones [first, first + count) and all points.
static cutis_result run_sums(const cutis_bake_work *work, bool turns, uint32_t first,
                             uint32_t count, cutis_buffer **sums)
{
    cutis_bake_gpu *gpu = work->gpu;
    const uint32_t pairs = (uint32_t)((gpu->points + 1) / 2),
                   groups = (count + BAKE_GROUP - 1) / BAKE_GROUP;
    if (count == 0) return make_room(gpu, sums, 8);
    TRY(make_room(gpu, sums, gpu->points * count * sizeof(double)));
    return bake_sums_run(
        gpu->device, pairs * groups,
        (bake_sums_buffers){ .columns = turns ? gpu->buffers.turned_columns : gpu->buffers.columns,
                             .tracks = gpu->buffers.tracks,
                             .places = turns ? gpu->buffers.normals : gpu->buffers.positions,
                             .sums = *sums },
        (bake_sums_arguments){ .points = (int)gpu->points,
                               .length = (int)gpu->length,
                               .bone_first = (int)first,
                               .bones = (int)count,
                               .one = !turns });
}

cutis_result cutis_bake_gpu_products(const cutis_bake_work *work, bool turns, double *out)
{
    cutis_bake_gpu *gpu = work->gpu;
    const uint32_t joints = work->problem->joint_count;
    const size_t bytes = work->level->joint_first[gpu->points] * sizeof(double);
    if (bytes == 0) return CUTIS_OK;
    TRY(send_turns(work));
    TRY(make_room(gpu, &gpu->buffers.joint_product, bytes));
    for (uint32_t first = 0; first < joints; first += JOINTS_TOGETHER) {
        const uint32_t count = joints - first < JOINTS_TOGETHER ? joints - first : JOINTS_TOGETHER;
        TRY(run_sums(work, turns, first, count, &gpu->buffers.products));
        TRY(bake_pick_run(gpu->device, (uint32_t)gpu->points,
                          (bake_pick_buffers){ .sums = gpu->buffers.products,
                                               .joint_first = gpu->buffers.joint_first,
                                               .joint = gpu->buffers.joint,
                                               .picked = gpu->buffers.joint_product },
                          (bake_pick_arguments){ .points = (int)gpu->points,
                                                 .bone_first = (int)first,
                                                 .bones = (int)count }));
    }
    return cutis_buffer_read(gpu->buffers.joint_product, 0, out, bytes);
}

cutis_result cutis_bake_gpu_lengths(const cutis_bake_work *work)
{
    const cutis_bake_problem *p = work->problem;
    const cutis_bake_level *level = work->level;
    cutis_bake_gpu *gpu = work->gpu;
    const size_t n = gpu->points;
    TRY(send_turns(work));
    // What weights are solved from goes with it: it changes with what normals are worth.
    TRY(send(gpu, &gpu->buffers.square, level->square, n * BAKE_SQUARE * sizeof(double)));
    TRY(send(gpu, &gpu->buffers.joint_product, level->joint_product,
             level->joint_first[n] * sizeof(double)));
    TRY(bake_lengths_run(gpu->device, (uint32_t)n,
                         (bake_lengths_buffers){ .columns = gpu->buffers.columns,
                                                 .turned_columns = gpu->buffers.turned_columns,
                                                 .lengths = gpu->buffers.lengths },
                         (bake_lengths_arguments){ .points = (int)n,
                                                   .length = (int)gpu->length,
                                                   .turns = p->turns != NULL,
                                                   .worth = p->worth * p->worth }));
    return cutis_buffer_read(gpu->buffers.lengths, 0, level->target_square, n * sizeof(double));
}

// Weights ---------------------------------------------------------------------------------------

static cutis_result send_form(const cutis_bake_work *work)
{
    cutis_bake_gpu *gpu = work->gpu;
    const size_t bones = work->problem->joint_count + (size_t)work->helper_count,
                 n = work->bone_capacity;
    for (size_t b = 0; b < bones; b++)
        for (size_t k = 0; k < BAKE_SQUARE; k++)
            for (size_t c = 0; c < bones; c++)
                gpu->form[(b * bones + c) * BAKE_SQUARE + k] =
                    work->form[(b * BAKE_SQUARE + k) * n + c];
    return send(gpu, &gpu->buffers.form, gpu->form, bones * bones * BAKE_SQUARE * sizeof(double));
}

static cutis_result send_state(const cutis_bake_work *work)
{
    const cutis_bake_level *level = work->level;
    cutis_bake_gpu *gpu = work->gpu;
    const size_t slots = gpu->points * work->problem->influences;
    if (level->allowed)
        TRY(send(gpu, &gpu->buffers.allowed, level->allowed, work->helper_count * gpu->points));
    TRY(send(gpu, &gpu->buffers.slots, level->slots, gpu->points));
    TRY(send(gpu, &gpu->buffers.bone, level->bone, slots * sizeof(uint32_t)));
    return send(gpu, &gpu->buffers.weight, level->weight, slots * sizeof(double));
}

static cutis_result read_state(const cutis_bake_work *work)
{
    const cutis_bake_level *level = work->level;
    const cutis_bake_gpu *gpu = work->gpu;
    const size_t n = gpu->points, slots = n * work->problem->influences;
    TRY(cutis_buffer_read(gpu->buffers.slots, 0, level->slots, n));
    TRY(cutis_buffer_read(gpu->buffers.bone, 0, level->bone, slots * sizeof(uint32_t)));
    TRY(cutis_buffer_read(gpu->buffers.weight, 0, level->weight, slots * sizeof(double)));
    TRY(cutis_buffer_read(gpu->buffers.used, 0, level->product, slots * sizeof(double)));
    TRY(cutis_buffer_read(gpu->buffers.energy, 0, level->energy, n * sizeof(double)));
    return level->loss
               ? cutis_buffer_read(gpu->buffers.loss, 0, level->loss, slots * sizeof(double))
               : CUTIS_OK;
}

#define PASS(type, name) .name = gpu->buffers.name,

cutis_result cutis_bake_gpu_weights(const cutis_bake_work *work, uint32_t sweeps, double prior,
                                    double beyond)
{
    const cutis_bake_problem *p = work->problem;
    const cutis_bake_level *level = work->level;
    cutis_bake_gpu *gpu = work->gpu;
    const uint32_t n = (uint32_t)gpu->points;
    TRY(send_helpers(work));
    TRY(run_sums(work, false, p->joint_count, work->helper_count, &gpu->buffers.products));
    if (p->turns)
        TRY(run_sums(work, true, p->joint_count, work->helper_count, &gpu->buffers.turned));
    TRY(send_form(work));
    TRY(send_state(work));
    if (level->loss)
        TRY(make_room(gpu, &gpu->buffers.loss, (size_t)n * p->influences * sizeof(double)));
    const bake_weigh_arguments given = { .points = (int)n,
                                         .joints = (int)p->joint_count,
                                         .helpers = (int)work->helper_count,
                                         .influences = (int)p->influences,
                                         .sweeps = (int)sweeps,
                                         .turns = p->turns != NULL,
                                         .masked = level->allowed != NULL,
                                         .losses = level->loss != NULL,
                                         .affinity = p->affinity,
                                         .prior = prior,
                                         .beyond = beyond,
                                         .worth = p->worth * p->worth };
    const bake_weigh_buffers buffers = { BAKE_WEIGH_BUFFERS(PASS, PASS) };
    TRY(cutis_compute_run(gpu->device,
                          p->influences <= 4 ? &cutis_compute_bake_weigh
                                             : &cutis_compute_bake_weigh_many,
                          n, &buffers, &given));
    return read_state(work);
}

// Goals -----------------------------------------------------------------------------------------

// Points of each helper, ascending, and what they count for.
static void list_points(const cutis_bake_work *work)
{
    const cutis_bake_problem *p = work->problem;
    const cutis_bake_level *level = work->level;
    cutis_bake_gpu *gpu = work->gpu;
    int32_t *first = gpu->list_first;
    memset(first, 0, (work->helper_count + (size_t)1) * sizeof *first);
    for (int pass = 0; pass < 2; pass++) { // how many, then which
        for (uint32_t i = 0; i < level->count; i++)
            for (uint32_t k = 0; k < level->slots[i]; k++) {
                const size_t at = (size_t)i * p->influences + k;
                if (level->bone[at] < p->joint_count) continue;
                const uint32_t h = level->bone[at] - p->joint_count;
                if (pass == 0) {
                    first[h + 1]++;
                    continue;
                }
                const double w = level->weight[at];
                gpu->share[first[h]] = p->mass[i] * (w + p->affinity * w * w);
                gpu->list[first[h]++] = (int32_t)i;
            }
        for (uint32_t h = 0; h < work->helper_count && pass == 0; h++) first[h + 1] += first[h];
    }
    for (uint32_t h = work->helper_count; h > 0; h--) first[h] = first[h - 1];
    first[0] = 0;
}

cutis_result cutis_bake_gpu_goals(const cutis_bake_work *work)
{
    const cutis_bake_problem *p = work->problem;
    cutis_bake_gpu *gpu = work->gpu;
    const size_t bytes = work->helper_count * 12 * p->stride * sizeof(double);
    list_points(work);
    const size_t listed = (size_t)gpu->list_first[work->helper_count];
    TRY(send_turns(work));
    TRY(send(gpu, &gpu->buffers.list_first, gpu->list_first,
             (work->helper_count + (size_t)1) * sizeof(int32_t)));
    TRY(send(gpu, &gpu->buffers.list, gpu->list, listed * sizeof(int32_t)));
    TRY(send(gpu, &gpu->buffers.share, gpu->share, listed * sizeof(double)));
    TRY(make_room(gpu, &gpu->buffers.goals, bytes));
    TRY(bake_goals_run(gpu->device, (uint32_t)(work->helper_count * 3 * p->stride),
                       (bake_goals_buffers){ .list_first = gpu->buffers.list_first,
                                             .list = gpu->buffers.list,
                                             .share = gpu->buffers.share,
                                             .places = gpu->buffers.positions,
                                             .normals = gpu->buffers.normals,
                                             .targets = gpu->buffers.targets,
                                             .turned = gpu->buffers.turns,
                                             .goals = gpu->buffers.goals },
                       (bake_goals_arguments){ .stride = (int)p->stride,
                                               .turns = p->turns != NULL,
                                               .worth = p->worth * p->worth }));
    return cutis_buffer_read(gpu->buffers.goals, 0, work->goals, bytes);
}

// Errors ----------------------------------------------------------------------------------------

static cutis_result send_weights(const cutis_bake_work *work)
{
    const cutis_bake_problem *p = work->problem;
    cutis_bake_gpu *gpu = work->gpu;
    for (size_t i = 0; i < gpu->points; i++) {
        gpu->begin[i] = (int32_t)(i * p->influences);
        gpu->end[i] = gpu->begin[i] + work->level->slots[i];
    }
    TRY(send_helpers(work));
    TRY(send_state(work));
    TRY(send(gpu, &gpu->buffers.begin, gpu->begin, gpu->points * sizeof(int32_t)));
    return send(gpu, &gpu->buffers.end, gpu->end, gpu->points * sizeof(int32_t));
}

static cutis_result run_errors(const cutis_bake_work *work, const cutis_bake_errors *e,
                               uint32_t first, uint32_t count)
{
    const cutis_bake_problem *p = work->problem;
    cutis_bake_gpu *gpu = work->gpu;
    TRY(bake_off_run(
        gpu->device, (uint32_t)(count * p->stride),
        (bake_off_buffers){ .begin = e->own ? gpu->buffers.given_first : gpu->buffers.begin,
                            .end = e->own ? gpu->buffers.given_end : gpu->buffers.end,
                            .bone = e->own ? gpu->buffers.given_joint : gpu->buffers.bone,
                            .weight = e->own ? gpu->buffers.given_weight : gpu->buffers.weight,
                            .tracks = gpu->buffers.tracks,
                            .places = e->normals ? gpu->buffers.normals : gpu->buffers.positions,
                            .targets = e->normals ? gpu->buffers.turns : gpu->buffers.targets,
                            .off = gpu->buffers.off },
        (bake_off_arguments){
            .point_first = (int)first, .stride = (int)p->stride, .one = !e->normals }));
    if (e->per_point)
        TRY(bake_off_points_run(
            gpu->device, count,
            (bake_off_points_buffers){ .off = gpu->buffers.off, .sums = gpu->buffers.energy },
            (bake_off_points_arguments){ .point_first = (int)first,
                                         .stride = (int)p->stride,
                                         .frames = (int)p->frame_count }));
    if (!e->per_frame) return CUTIS_OK;
    return bake_off_frames_run(
        gpu->device, p->frame_count,
        (bake_off_frames_buffers){
            .off = gpu->buffers.off, .mass = gpu->buffers.mass, .sums = gpu->buffers.off_sums },
        (bake_off_frames_arguments){
            .point_first = (int)first, .points = (int)count, .stride = (int)p->stride });
}

cutis_result cutis_bake_gpu_errors(const cutis_bake_work *work, const cutis_bake_errors *errors)
{
    const cutis_bake_problem *p = work->problem;
    cutis_bake_gpu *gpu = work->gpu;
    const size_t n = gpu->points;
    size_t together = ERRORS_TOGETHER / p->stride < n ? ERRORS_TOGETHER / p->stride : n;
    if (together == 0) together = 1;
    TRY(send_turns(work));
    if (!errors->own) TRY(send_weights(work));
    TRY(make_room(gpu, &gpu->buffers.off, together * p->stride * sizeof(double)));
    if (errors->per_frame)
        TRY(send(gpu, &gpu->buffers.off_sums, errors->per_frame, p->frame_count * sizeof(double)));
    for (size_t first = 0; first < n; first += together)
        TRY(run_errors(work, errors, (uint32_t)first,
                       (uint32_t)(n - first < together ? n - first : together)));
    if (errors->per_point)
        TRY(cutis_buffer_read(gpu->buffers.energy, 0, errors->per_point, n * sizeof(double)));
    return errors->per_frame ? cutis_buffer_read(gpu->buffers.off_sums, 0, errors->per_frame,
                                                 p->frame_count * sizeof(double))
                             : CUTIS_OK;
}
