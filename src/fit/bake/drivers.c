// Helpers as functions of joints: samples from the solved tracks, a regression each, then weights
// again with what drivers make of them (docs/spec/bake.md 8). Invariant: a vertex and the helpers
// it follows are never on two sides of a joint that no learned frame moves, so that moving it is as
// plain blending has it.
#include "fit/bake/drive.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "math/mat3.h"
#include "math/quat.h"

// A joint moves if an input of its ranges over more than this: a tenth of a degree.
static const double MOVES = 1e-3;
// A helper's joints are those with this much of its weight.
static const double JOINT_LEAST = 1e-3;
// Rounds of drivers and weights, fewer where one gains less than this part of the energy.
// Steps of transforms between two rounds: further ones only go where vertices feel nothing.
enum { ROUNDS = 16, REACH = 2, FIT_TASKS = 8, NEXT_STEPS = 4 };
static const double STALLED = 0.004;

// Joints and their inputs -------------------------------------------------------------------------

static int order_nodes(const uint32_t *a, const uint32_t *b)
{
    return (*a > *b) - (*a < *b);
}

static uint32_t find_joint(const struct cutis_bake_drive *d, uint32_t node)
{
    uint32_t low = 0, high = d->joint_count;
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        if (order_nodes(&d->node[middle], &node) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < d->joint_count && d->node[low] == node ? low : UINT32_MAX;
}

static bool list_joints(cutis_bake_job *job)
{
    struct cutis_bake_drive *d = job->drive;
    uint8_t *seen = cutis_arena_zero(job->arena, job->data->node_count, 1);
    d->node = cutis_arena_alloc(job->arena, job->joint_count + (size_t)1, sizeof *d->node);
    d->above = cutis_arena_alloc(job->arena, job->joint_count + (size_t)1, sizeof *d->above);
    d->bone_joint = cutis_arena_alloc(job->arena, job->joint_count + (size_t)1, sizeof(uint32_t));
    if (!seen || !d->node || !d->above || !d->bone_joint) return false;
    for (uint32_t b = 0; b < job->joint_count; b++) seen[job->bone_node[b]] = 1;
    for (uint32_t n = 0; n < job->data->node_count; n++)
        if (seen[n]) d->node[d->joint_count++] = n;
    for (uint32_t j = 0; j < d->joint_count; j++) {
        int32_t up = job->data->nodes[d->node[j]].parent;
        while (up != CUTIS_NONE && !seen[up]) up = job->data->nodes[up].parent;
        d->above[j] = up == CUTIS_NONE ? -1 : (int32_t)find_joint(d, (uint32_t)up);
    }
    for (uint32_t b = 0; b < job->joint_count; b++)
        d->bone_joint[b] = find_joint(d, job->bone_node[b]);
    return true;
}

// x, y, z, w - 1 of a joint relative to rest, as a pose has it.
static void read_input(const cutis_bake_job *job, uint32_t node, const cutis_transform *pose,
                       double *u)
{
    const cutis_quat a = job->data->nodes[node].rest.rotation, b = pose[node].rotation;
    const double rest[4] = { a.w, -(double)a.x, -(double)a.y, -(double)a.z };
    double q[4] = { b.w, b.x, b.y, b.z };
    double_quat_multiply(rest, q, q);
    const double square = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
    const double by = square > 0 ? (q[0] < 0 ? -1 : 1) / sqrt(square) : 0;
    u[0] = q[1] * by, u[1] = q[2] * by, u[2] = q[3] * by;
    u[3] = square > 0 ? q[0] * by - 1 : 0;
}

static void clamp_input(const float *range, double *u)
{
    for (int c = 0; c < 4; c++) u[c] = fmax((double)range[c], fmin((double)range[4 + c], u[c]));
}

static bool list_inputs(cutis_bake_job *job)
{
    struct cutis_bake_drive *d = job->drive;
    const cutis_bake_part *part = &job->learned;
    d->inputs =
        cutis_arena_alloc(job->arena, (size_t)d->joint_count * part->count, 4 * sizeof *d->inputs);
    d->ranges = cutis_arena_zero(job->arena, d->joint_count, 8 * sizeof *d->ranges);
    d->moves = cutis_arena_zero(job->arena, d->joint_count, 1);
    if (!d->inputs || !d->ranges || !d->moves) return false;
    for (uint32_t j = 0; j < d->joint_count; j++) {
        float *range = d->ranges + 8 * (size_t)j; // rest is always within
        for (uint32_t f = 0; f < part->count; f++) {
            double u[4];
            read_input(job, d->node[j],
                       job->frames->poses + (size_t)part->frame[f] * job->data->node_count, u);
            for (size_t c = 0; c < 4; c++) {
                d->inputs[(4 * (size_t)j + c) * part->count + f] = u[c];
                range[c] = fminf(range[c], (float)u[c]);
                range[4 + c] = fmaxf(range[4 + c], (float)u[c]);
            }
        }
        for (size_t c = 0; c < 4; c++) {
            const bool moves = range[4 + c] - range[c] > MOVES;
            if (d->above[j] >= 0) d->moves[j] |= moves;
            if (moves) continue; // rounding: no term is spent on it
            range[c] = range[4 + c] = 0;
            memset(d->inputs + (4 * (size_t)j + c) * part->count, 0,
                   part->count * sizeof *d->inputs);
        }
    }
    return true;
}

// Frames of a clip that are left out together stand together; of single poses every fifth.
static bool deal_folds(cutis_bake_job *job)
{
    struct cutis_bake_drive *d = job->drive;
    const cutis_bake_part *part = &job->learned;
    const int32_t *clips = job->frames->clips;
    d->fold = cutis_arena_zero(job->arena, part->count, 1);
    if (!d->fold) return false;
    for (uint32_t first = 0, end = 0; first < part->count; first = end) {
        const int32_t clip = clips ? clips[part->frame[first]] : 0;
        while (end < part->count && (clips ? clips[part->frame[end]] : 0) == clip) end++;
        for (uint32_t f = first; f < end; f++)
            d->fold[f] = (uint8_t)(clip == CUTIS_NONE ? f % CUTIS_REGRESS_FOLDS
                                                      : (uint64_t)(f - first) *
                                                            CUTIS_REGRESS_FOLDS / (end - first));
    }
    return true;
}

// Islands -----------------------------------------------------------------------------------------

// Joints that move hang together with the one above; others begin an island of their own.
static cutis_result find_islands(cutis_bake_job *job)
{
    struct cutis_bake_drive *d = job->drive;
    uint32_t *island = cutis_arena_alloc(job->arena, d->joint_count, sizeof *island);
    d->island = cutis_arena_alloc(job->arena, job->joint_count + (size_t)1, sizeof *d->island);
    if (!island || !d->island) return cutis_alloc_result(job->context);
    for (uint32_t j = 0; j < d->joint_count; j++) // parents have smaller numbers
        island[j] = d->moves[j] ? island[d->above[j]] : j;
    for (uint32_t b = 0; b < job->joint_count; b++) d->island[b] = island[d->bone_joint[b]];
    return cutis_bake_islands_part(job, d->island, &d->islands);
}

cutis_result cutis_bake_drive_open(cutis_bake_job *job)
{
    if (job->bare || !job->frames->poses)
        return INVALID(job->context, "bake: drivers need a skeleton that moves the frames");
    if (job->data->drivers) return UNSUPPORTED(job->context, "bake: the model has drivers already");
    job->drive = cutis_arena_zero(job->arena, 1, sizeof *job->drive);
    if (!job->drive || !list_joints(job) || !list_inputs(job) || !deal_folds(job))
        return cutis_alloc_result(job->context);
    return find_islands(job);
}

// Tracks and locals -------------------------------------------------------------------------------

static void parent_world(const cutis_bake_job *job, uint32_t helper, const cutis_mat34 *world,
                         double *out)
{
    if (job->parent[helper] == CUTIS_NONE)
        double34_identity(out);
    else
        double34_from_floats(world[job->parent[helper]].m, out);
}

// Local matrix of a helper's node from its centred matrix.
static void to_local(const cutis_bake_job *job, uint32_t helper, const cutis_mat34 *world,
                     const double *m, double *local)
{
    double above[12], inverse[12], w[12];
    const double *pivot = job->pivot + 3 * (size_t)helper;
    parent_world(job, helper, world, above);
    if (!double34_invert(above, inverse)) double34_identity(inverse);
    memcpy(w, m, sizeof w);
    for (size_t i = 0; i < 3; i++)
        w[4 * i + 3] = double3_dot(m + 4 * i, pivot) + m[4 * i + 3] + job->centre[i];
    double34_multiply(inverse, w, local);
}

static void from_local(const cutis_bake_job *job, uint32_t helper, const cutis_mat34 *world,
                       const double *local, double *m)
{
    double above[12];
    const double *pivot = job->pivot + 3 * (size_t)helper;
    parent_world(job, helper, world, above);
    double34_multiply(above, local, m);
    for (size_t i = 0; i < 3; i++) m[4 * i + 3] -= job->centre[i] + double3_dot(m + 4 * i, pivot);
}

// Rotation vector and shift that take the rest local to this one.
static void difference(const double *rest, const double *local, double *y)
{
    double a[9], b[9], r[9], q[4];
    double34_linear(local, a);
    double34_linear(rest, b);
    double33_multiply_transpose(a, b, r);
    const double square = double33_square(r), scale = square > 0 ? sqrt(square / 3) : 1;
    for (int k = 0; k < 9; k++) r[k] /= scale;
    cutis_quat_from_mat3(r, q);
    cutis_quat_log(q, y);
    for (size_t c = 0; c < 3; c++) y[3 + c] = local[4 * c + 3] - rest[4 * c + 3];
}

static void apply(const double *rest, const double *y, double *local)
{
    double q[4], r[9], a[9], b[9];
    cutis_quat_exp(y, q);
    cutis_mat3_from_quat(q, r);
    double34_linear(rest, a);
    double33_multiply(r, a, b);
    for (size_t i = 0; i < 3; i++) {
        memcpy(local + 4 * i, b + 3 * i, 3 * sizeof *local);
        local[4 * i + 3] = rest[4 * i + 3] + y[3 + i];
    }
}

static const cutis_mat34 *world_of(const cutis_bake_job *job, const cutis_bake_part *part,
                                   uint32_t f)
{
    return job->world + (size_t)part->frame[f] * job->data->node_count;
}

void cutis_bake_drive_above(const cutis_bake_job *job, const cutis_bake_part *part, uint32_t helper,
                            uint32_t frame, double *out)
{
    parent_world(job, helper, world_of(job, part, frame), out);
}

void cutis_bake_drive_difference(const cutis_bake_job *job, const cutis_bake_part *part,
                                 uint32_t helper, uint32_t frame, const double *m, double *y)
{
    double local[12];
    to_local(job, helper, world_of(job, part, frame), m, local);
    difference(job->drive->rest + 12 * (size_t)helper, local, y);
}

// Where a helper rests and how far its vertices reach.
static void measure_helpers(cutis_bake_job *job)
{
    struct cutis_bake_drive *d = job->drive;
    const cutis_bake_solution *s = &job->solution;
    const uint32_t slots = job->problem.influences;
    for (uint32_t h = 0; h < s->helper_count; h++) {
        double m[12], sum = 0, square = 0;
        const double *pivot = job->pivot + 3 * (size_t)h;
        cutis_bake_joint(job, job->parent_bone[h], job->rest_world, m);
        cutis_bake_rigid(m, pivot);
        to_local(job, h, job->rest_world, m, d->rest + 12 * (size_t)h);
        for (uint32_t i = 0; i < job->point_count; i++)
            for (uint32_t k = 0; k < s->count[i]; k++) {
                if (s->bone[(size_t)i * slots + k] != job->joint_count + h) continue;
                const double w = s->weight[(size_t)i * slots + k], by = job->mass[i] * w * w;
                for (size_t c = 0; c < 3; c++) {
                    const double off = job->positions[3 * (size_t)i + c] - pivot[c];
                    square += by * off * off;
                }
                sum += by;
            }
        d->lever[h] = sum > 0 ? sqrt(square / sum) : 0;
    }
}

// Bones whose vertices a helper may move: those with some of its weight, of its parent's island.
static void find_mask(cutis_bake_job *job)
{
    struct cutis_bake_drive *d = job->drive;
    const cutis_bake_solution *s = &job->solution;
    const uint32_t slots = job->problem.influences, bones = job->joint_count;
    for (uint32_t h = 0; h < s->helper_count; h++) {
        double total = 0, *shared = d->scratch;
        uint8_t *mask = d->mask + (size_t)h * bones;
        const uint32_t island = d->island[job->parent_bone[h]];
        memset(shared, 0, bones * sizeof *shared);
        for (uint32_t i = 0; i < job->point_count; i++)
            for (uint32_t k = 0; k < s->count[i]; k++)
                if (s->bone[(size_t)i * slots + k] == job->joint_count + h)
                    for (uint32_t j = job->first[i]; j < job->first[i + 1]; j++) {
                        const double w =
                            job->mass[i] * job->weight[j] * s->weight[(size_t)i * slots + k];
                        shared[job->joint[j]] += w, total += w;
                    }
        for (uint32_t b = 0; b < bones; b++)
            mask[b] = shared[b] > JOINT_LEAST * total && d->island[b] == island;
        mask[job->parent_bone[h]] = 1;
    }
}

// Regression --------------------------------------------------------------------------------------

static bool within_reach(const struct cutis_bake_drive *d, uint32_t a, uint32_t b)
{
    int32_t up = (int32_t)a;
    for (int i = 0; i <= REACH && up >= 0; i++, up = d->above[up]) {
        int32_t other = (int32_t)b;
        for (int k = 0; k <= REACH - i && other >= 0; k++, other = d->above[other])
            if (other == up) return true;
    }
    return false;
}

static uint32_t list_candidates(const cutis_bake_job *job, uint32_t helper, uint32_t *out)
{
    const struct cutis_bake_drive *d = job->drive;
    const uint32_t parent = d->bone_joint[job->parent_bone[helper]];
    uint32_t count = 0;
    for (uint32_t j = 0; j < d->joint_count; j++) {
        bool near = within_reach(d, parent, j);
        for (uint32_t b = 0; b < job->joint_count && !near; b++)
            near = d->bone_joint[b] == j && d->mask[(size_t)helper * job->joint_count + b];
        if (near && d->moves[j]) out[count++] = j;
    }
    return count;
}

typedef struct fit_job {
    const cutis_bake_job *job;
    double *targets;      ///< [task][frame][6]
    uint32_t *candidates; ///< [task][joint]
} fit_job;

static void fit_task(void *data, uint32_t task)
{
    const fit_job *f = data;
    const cutis_bake_job *job = f->job;
    const struct cutis_bake_drive *d = job->drive;
    const cutis_bake_part *part = &job->learned;
    double *targets = f->targets + (size_t)task * part->count * 6;
    uint32_t *candidates = f->candidates + (size_t)task * d->joint_count;
    for (uint32_t h = task; h < job->solution.helper_count; h += FIT_TASKS) {
        for (uint32_t k = 0; k < part->count; k++) {
            double m[12];
            cutis_bake_matrix(part->helpers + h * 12 * part->stride, part->stride, k, m);
            cutis_bake_drive_difference(job, part, h, k, m, targets + 6 * (size_t)k);
        }
        const cutis_regress_samples samples = { .frame_count = part->count,
                                                .inputs = d->inputs,
                                                .targets = targets,
                                                .fold = d->fold,
                                                .lever = d->lever[h],
                                                .candidate_count =
                                                    list_candidates(job, h, candidates),
                                                .candidates = candidates };
        cutis_regress(&samples, false, d->scratch + task * cutis_regress_scratch(), &d->fits[h]);
    }
}

void cutis_bake_drive_part(const cutis_bake_job *job, const cutis_bake_part *part, double *helpers)
{
    const struct cutis_bake_drive *d = job->drive;
    for (uint32_t h = 0; h < job->solution.helper_count; h++) {
        const cutis_regress_fit *fit = &d->fits[h];
        double *track = helpers + h * 12 * part->stride;
        for (uint32_t f = 0; f < part->count; f++) {
            const cutis_transform *pose =
                job->frames->poses + (size_t)part->frame[f] * job->data->node_count;
            double u[4 * CUTIS_DRIVER_INPUTS], y[6] = { 0 }, local[12], m[12];
            for (uint32_t k = 0; k < fit->input_count; k++) {
                read_input(job, d->node[fit->inputs[k]], pose, u + 4 * (size_t)k);
                clamp_input(d->ranges + 8 * (size_t)fit->inputs[k], u + 4 * (size_t)k);
            }
            if (fit->input_count) cutis_regress_evaluate(fit, u, y);
            apply(d->rest + 12 * (size_t)h, y, local);
            from_local(job, h, world_of(job, part, f), local, m);
            for (size_t i = 0; i < 3; i++)
                for (size_t j = 0; j < 4; j++) track[(3 * j + i) * part->stride + f] = m[4 * i + j];
        }
    }
}

// The whole ---------------------------------------------------------------------------------------

static cutis_result fit_all(cutis_bake_job *job)
{
    struct cutis_bake_drive *d = job->drive;
    fit_job f = { .job = job };
    f.targets = cutis_arena_alloc(job->arena, (size_t)FIT_TASKS * job->learned.count,
                                  6 * sizeof *f.targets);
    f.candidates =
        cutis_arena_alloc(job->arena, (size_t)FIT_TASKS * d->joint_count + 1, sizeof(uint32_t));
    if (!f.targets || !f.candidates) return cutis_alloc_result(job->context);
    cutis_device_run(job->device, fit_task, &f, FIT_TASKS);
    return CUTIS_OK;
}

// What a round changes.
typedef struct drive_state {
    cutis_regress_fit *fits;
    uint8_t *count;
    uint32_t *bone;
    double *weight, *residual, *turn;
} drive_state;

static bool open_state(cutis_bake_job *job, drive_state *s)
{
    const size_t points = job->point_count, slots = points * job->problem.influences;
    s->fits = cutis_arena_alloc(job->arena, job->solution.helper_count, sizeof *s->fits);
    s->count = cutis_arena_alloc(job->arena, points, 1);
    s->bone = cutis_arena_alloc(job->arena, slots, sizeof *s->bone);
    s->weight = cutis_arena_alloc(job->arena, slots, sizeof *s->weight);
    s->residual = cutis_arena_alloc(job->arena, points, sizeof *s->residual);
    s->turn = cutis_arena_alloc(job->arena, points, sizeof *s->turn);
    return s->fits && s->count && s->bone && s->weight && s->residual && s->turn;
}

static void copy(void *now, void *kept, size_t size, bool back)
{
    memcpy(back ? now : kept, back ? kept : now, size);
}

static void copy_state(cutis_bake_job *job, drive_state *s, bool back)
{
    cutis_bake_solution *now = &job->solution;
    const size_t points = job->point_count, slots = points * job->problem.influences;
    copy(job->drive->fits, s->fits, now->helper_count * sizeof *s->fits, back);
    copy(now->count, s->count, points, back);
    copy(now->bone, s->bone, slots * sizeof *s->bone, back);
    copy(now->weight, s->weight, slots * sizeof *s->weight, back);
    copy(now->residual, s->residual, points * sizeof *s->residual, back);
    copy(now->turn, s->turn, points * sizeof *s->turn, back);
}

// Drivers, weights for what they do, drivers for what these weights would like better, and so on; a
// round that gains nothing is undone.
static cutis_result drive_rounds(cutis_bake_job *job, const cutis_bake_problem *problem,
                                 drive_state *kept, double *driven)
{
    cutis_bake_part *part = &job->learned;
    const size_t tracks = job->solution.helper_count * 12 * part->stride;
    double before = INFINITY;
    for (int round = 0; round < ROUNDS; round++) {
        TRY(cutis_progress(job->context, "driving", (double)round / ROUNDS));
        TRY(round == 0 ? fit_all(job) : cutis_bake_drive_couple(job, driven, part->helpers));
        cutis_bake_drive_part(job, part, driven);
        TRY(cutis_bake_weigh(problem, driven, job->drive->mask, &job->solution));
        double energy = 0;
        for (uint32_t i = 0; i < job->point_count; i++)
            energy += problem->mass[i] * job->solution.residual[i];
        if (round == 0 || energy < before)
            copy_state(job, kept, false);
        else
            copy_state(job, kept, true);
        if (energy >= before) cutis_bake_drive_part(job, part, driven);
        // What these weights would like best, from there; at the end as tracks of clips.
        memcpy(part->helpers, driven, tracks * sizeof *driven);
        const bool last = round + 1 == ROUNDS || energy > (1 - STALLED) * before;
        TRY(cutis_bake_follow(problem, &job->solution, last ? CUTIS_BAKE_FOLLOW_STEPS : NEXT_STEPS,
                              part->helpers));
        if (last) break;
        before = energy;
    }
    return CUTIS_OK;
}

cutis_result cutis_bake_drive(cutis_bake_job *job)
{
    struct cutis_bake_drive *d = job->drive;
    const size_t count = job->solution.helper_count;
    size_t scratch = FIT_TASKS * cutis_regress_scratch();
    if (scratch < job->joint_count) scratch = job->joint_count;
    if (count == 0) {
        cutis_bake_islands_join(job, &d->islands, NULL);
        return CUTIS_OK;
    }
    drive_state kept;
    d->rest = cutis_arena_alloc(job->arena, count, 12 * sizeof *d->rest);
    d->lever = cutis_arena_alloc(job->arena, count, sizeof *d->lever);
    d->mask = cutis_arena_zero(job->arena, count, job->joint_count + (size_t)1);
    d->fits = cutis_arena_zero(job->arena, count, sizeof *d->fits);
    d->scratch = cutis_arena_alloc(job->arena, scratch, sizeof *d->scratch);
    double *driven = cutis_arena_zero(job->arena, count * 12 * job->learned.stride, sizeof *driven);
    if (!d->rest || !d->lever || !d->mask || !d->fits || !d->scratch || !driven ||
        !open_state(job, &kept))
        return cutis_alloc_result(job->context);
    find_mask(job);
    measure_helpers(job);
    cutis_bake_problem problem = job->problem;
    problem.helper_count = (uint32_t)count;
    TRY(drive_rounds(job, &problem, &kept, driven));
    cutis_bake_islands_join(job, &d->islands, driven);
    return CUTIS_OK;
}

// The joints that fits read, each once, with their ranges: place[joint] - 1 is where one stands.
static void list_read(const struct cutis_bake_drive *d, const cutis_regress_fit *fits,
                      uint32_t count, uint32_t *place, cutis_drivers *all)
{
    for (uint32_t h = 0; h < count; h++)
        for (uint32_t k = 0; k < fits[h].input_count; k++) {
            const uint32_t j = fits[h].inputs[k];
            if (place[j]) continue;
            ((uint32_t *)all->joints)[all->joint_count] = d->node[j];
            memcpy((float *)all->ranges + 8 * (size_t)all->joint_count, d->ranges + 8 * (size_t)j,
                   8 * sizeof(float));
            place[j] = ++all->joint_count;
        }
}

cutis_result cutis_bake_drive_table(cutis_bake_job *job, const cutis_drivers **out)
{
    const struct cutis_bake_drive *d = job->drive;
    const uint32_t count = job->solution.helper_count, morphs = d->morph_count;
    if (count == 0 && morphs == 0) return CUTIS_OK;
    cutis_drivers *all = cutis_arena_zero(job->arena, 1, sizeof *all);
    cutis_driver *drivers = cutis_arena_zero(job->arena, count + (size_t)1, sizeof *drivers);
    uint32_t *joints = cutis_arena_alloc(job->arena, d->joint_count + (size_t)1, sizeof *joints);
    uint32_t *place = cutis_arena_zero(job->arena, d->joint_count + (size_t)1, sizeof *place);
    float *ranges = cutis_arena_alloc(job->arena, d->joint_count + (size_t)1, 8 * sizeof *ranges);
    if (!all || !drivers || !joints || !place || !ranges) return cutis_alloc_result(job->context);
    *all = (cutis_drivers){
        .joints = joints, .ranges = ranges, .driver_count = count, .drivers = drivers
    };
    list_read(d, d->fits, count, place, all);
    list_read(d, d->morph_fits, morphs, place, all);
    for (uint32_t h = 0; h < count; h++) {
        const cutis_regress_fit *fit = &d->fits[h];
        cutis_driver *driver = &drivers[job->order[h]];
        *driver = (cutis_driver){ .node = job->data->node_count + job->order[h],
                                  .input_count = fit->input_count,
                                  .coefficients = fit->coefficients };
        for (uint32_t k = 0; k < fit->input_count; k++)
            driver->inputs[k] = place[fit->inputs[k]] - 1;
    }
    *out = all;
    return morphs ? cutis_bake_drive_weights(job, place, all) : CUTIS_OK;
}

// Judging -----------------------------------------------------------------------------------------

// Sum of squared distances of a frame held out, of the weights that are written.
static double frame_error(const cutis_bake_job *job, const cutis_bake_part *part, uint32_t f,
                          const double *helpers)
{
    double sum = 0;
    for (uint32_t i = 0; i < job->point_count; i++)
        sum += job->mass[i] * cutis_bake_point_error(job, part, helpers,
                                                     !helpers || cutis_bake_is_kept(job, i), i, f);
    return sum;
}

typedef struct judgement {
    double sums[3];
    uint32_t count;
} judgement;

static cutis_result judge_part(cutis_bake_job *job, cutis_bake_part *part, uint32_t first,
                               void *data)
{
    judgement *j = data;
    const int32_t *clips = job->frames->clips;
    cutis_arena arena = { .context = job->context };
    double *driven = cutis_arena_zero(
        &arena, (size_t)job->solution.helper_count * 12 * part->stride + 1, sizeof *driven);
    (void)first;
    if (!driven) return cutis_alloc_result(job->context);
    if (job->solution.helper_count) cutis_bake_drive_part(job, part, driven);
    for (uint32_t f = 0; f < part->count; f++) {
        if (!clips || clips[part->frame[f]] != CUTIS_NONE) continue;
        j->sums[0] += frame_error(job, part, f, NULL);
        j->sums[1] += frame_error(job, part, f, part->helpers);
        j->sums[2] += frame_error(job, part, f, driven);
        j->count++;
    }
    cutis_arena_release(&arena);
    return CUTIS_OK;
}

cutis_result cutis_bake_drive_judge(cutis_bake_job *job, cutis_bake_report *report)
{
    judgement j = { 0 };
    double vertices = 0;
    for (uint32_t i = 0; i < job->point_count; i++) vertices += job->mass[i];
    TRY(cutis_bake_each(job, 0, job->others.count, judge_part, &j));
    for (int k = 0; k < 3 && j.count; k++) j.sums[k] = sqrt(j.sums[k] / vertices / j.count);
    report->unseen_count = j.count;
    report->unseen_plain_rms = j.sums[0];
    report->unseen_free_rms = j.sums[1];
    report->unseen_driven_rms = j.sums[2];
    return CUTIS_OK;
}
