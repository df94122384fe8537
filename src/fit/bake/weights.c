// Weights of points on the simplex with few influences, each point for itself (docs/spec/bake.md
// 2). The form of all bones is shared; a point needs its rows of the bones it follows. Invariant: a
// point's energy never rises, and what is written for it depends on it alone.
#include "fit/bake/gpu.h"

#include <float.h>
#include <math.h>
#include <string.h>

// What a weight on a joint that none of the neighbours has costs beyond others, as a part of the
// prior: where two joints move alike in the frames, the one beyond is not meant.
static const double FAR = 1e4;
// Frames of a product that are in work together: a panel of them stays in the first cache.
enum { CHUNK = 192 };

const double *cutis_bake_track(const cutis_bake_work *work, uint32_t bone)
{
    const cutis_bake_problem *p = work->problem;
    const size_t size = 12 * p->stride;
    return bone < p->joint_count ? p->joints + bone * size
                                 : work->helpers + (bone - p->joint_count) * size;
}

// Columns of two bones side by side, [3 stride][8].
static void pack_left(cutis_bake_work *work, uint32_t panel)
{
    const size_t length = 3 * work->problem->stride;
    double *to = work->left + panel * 8 * length;
    for (uint32_t b = 0; b < 2; b++) {
        const double *track = cutis_bake_track(work, 2 * panel + b);
        for (size_t j = 0; j < 4; j++)
            for (size_t k = 0; k < length; k++) to[8 * k + 4 * b + j] = track[j * length + k];
    }
}

// Forms -------------------------------------------------------------------------------------------

typedef struct form_job {
    cutis_bake_work *work;
    uint32_t first, end;
} form_job;

// Where entries (j, l) and (l, j) of a 4 x 4 matrix are added up.
static const uint8_t PLACE[4][4] = {
    { 0, 1, 2, 3 }, { 1, 4, 5, 6 }, { 2, 5, 7, 8 }, { 3, 6, 8, 9 }
};

static void form_pair(cutis_bake_work *work, uint32_t b, uint32_t c, const double *sums)
{
    const size_t n = work->bone_capacity;
    double entry[CUTIS_BAKE_SQUARE] = { 0 };
    for (int j = 0; j < 4; j++)
        for (int l = 0; l < 4; l++) entry[PLACE[j][l]] += sums[8 * j + l];
    // The form is multiplied with products of coordinates that stand there once.
    for (size_t k = 0; k < CUTIS_BAKE_SQUARE; k++) {
        work->form[(b * (size_t)CUTIS_BAKE_SQUARE + k) * n + c] = entry[k];
        work->form[(c * (size_t)CUTIS_BAKE_SQUARE + k) * n + b] = entry[k];
        if (b == c) work->diagonal[k * n + b] = entry[k];
    }
}

// One bone with all up to itself, and with those that are no helpers of this call.
static void form_task(void *data, uint32_t index)
{
    const form_job *job = data;
    cutis_bake_work *work = job->work;
    const uint32_t b = job->first + index;
    const size_t length = 3 * work->problem->stride;
    const double *track = cutis_bake_track(work, b);
    double chunk[4 * CHUNK];
    for (uint32_t panel = 0; 2 * panel <= b; panel++) {
        double sums[32] = { 0 };
        const double *left = work->left + panel * 8 * length;
        for (size_t k = 0; k < length; k += CHUNK) {
            const size_t count = length - k < CHUNK ? length - k : CHUNK;
            for (size_t j = 0; j < 4; j++)
                for (size_t i = 0; i < count; i++) chunk[4 * i + j] = track[j * length + k + i];
            work->wide->products(left + 8 * k, chunk, count, sums);
        }
        form_pair(work, b, 2 * panel, sums);
        if (2 * panel + 1 <= b) form_pair(work, b, 2 * panel + 1, sums + 4);
    }
}

void cutis_bake_form(cutis_bake_work *work, uint32_t first, uint32_t end)
{
    // Panels of the bones that changed; those of others are there.
    for (uint32_t panel = first / 2; 2 * panel < end; panel++) pack_left(work, panel);
    form_job job = { work, first, end };
    cutis_device_run(work->problem->device, form_task, &job, end - first);
}

// Products of targets and bones -------------------------------------------------------------------

// u = sum over frames of M_b^T v for points of a block and panels [first, end):
// out[panel][point][8].
static void block_products(const cutis_bake_work *work, const float *targets, uint32_t point,
                           uint32_t count, uint32_t first, uint32_t end, double *right, double *out)
{
    const cutis_bake_problem *p = work->problem;
    const size_t length = 3 * p->stride, quads = (count + 3) / 4;
    memset(out, 0, (end - first) * quads * 32 * sizeof *out);
    for (size_t k = 0; k < length; k += CHUNK) {
        const size_t size = length - k < CHUNK ? length - k : CHUNK;
        for (size_t quad = 0; quad < quads; quad++) {
            const float *from[4]; // beyond the last point the last one again
            for (size_t i = 0; i < 4; i++) {
                const size_t at = 4 * quad + i < count ? 4 * quad + i : count - 1;
                from[i] = targets + (point + at) * length + k;
            }
            work->wide->pack(from, size, right + quad * 4 * CHUNK);
        }
        for (uint32_t panel = first; panel < end; panel++)
            for (size_t quad = 0; quad < quads; quad++)
                work->wide->products(work->left + panel * 8 * length + 8 * k,
                                     right + quad * 4 * CHUNK, size,
                                     out + ((panel - first) * quads + quad) * 32);
    }
}

// c_b of a bone from the products of its point.
static double bone_product(const double *sums, uint32_t bone, uint32_t panel_first, uint32_t i,
                           uint32_t count, const double *at)
{
    const size_t quads = (count + 3) / 4;
    const double *u =
        sums + ((bone / 2 - panel_first) * quads + i / 4) * 32 + 8 * (i % 4) + 4 * (bone % 2);
    return u[0] * at[0] + u[1] * at[1] + u[2] * at[2] + u[3];
}

// The same of turns: directions do not move.
static double bone_turn(const double *sums, uint32_t bone, uint32_t panel_first, uint32_t i,
                        uint32_t count, const double *normal)
{
    const size_t quads = (count + 3) / 4;
    const double *u =
        sums + ((bone / 2 - panel_first) * quads + i / 4) * 32 + 8 * (i % 4) + 4 * (bone % 2);
    return u[0] * normal[0] + u[1] * normal[1] + u[2] * normal[2];
}

typedef struct level_job {
    cutis_bake_work *work;
    cutis_bake_level *level;
    uint32_t sweeps;
    bool turns; ///< of products
    uint32_t candidates;
    const uint8_t *region_joints;
    double *gains; ///< [candidate][point]
} level_job;

static uint32_t block_count(const cutis_bake_level *level)
{
    return (level->count + CUTIS_BAKE_BLOCK - 1) / CUTIS_BAKE_BLOCK;
}

static uint32_t block_size(const cutis_bake_level *level, uint32_t block)
{
    const uint32_t left = level->count - block * CUTIS_BAKE_BLOCK;
    return left < CUTIS_BAKE_BLOCK ? left : CUTIS_BAKE_BLOCK;
}

// Panels in work together, so that a task's memory does not grow with the joints.
enum { PANELS = 32 };

// A task's memory: packed targets, products, and the rows of a point.
typedef struct task_memory {
    double *right, *sums, *turned, *rows, *product, *diagonal;
} task_memory;

static task_memory memory_of(const cutis_bake_work *work, uint32_t task)
{
    const size_t n = work->bone_capacity;
    task_memory m = { .right = work->scratch + task * work->scratch_size };
    m.sums = m.right + (size_t)CUTIS_BAKE_BLOCK * CHUNK;
    m.turned = m.sums + (size_t)CUTIS_BAKE_BLOCK * 8 * (n / 2 > PANELS ? n / 2 : PANELS);
    m.rows = m.turned + (size_t)CUTIS_BAKE_BLOCK * 8 * (n / 2 > PANELS ? n / 2 : PANELS);
    m.product = m.rows + (CUTIS_BAKE_SLOTS + 2) * n;
    m.diagonal = m.product + n;
    return m;
}

size_t cutis_bake_weights_scratch(uint32_t bone_capacity)
{
    const size_t n = bone_capacity, panels = n / 2 > PANELS ? n / 2 : PANELS;
    return (size_t)CUTIS_BAKE_BLOCK * CHUNK + (size_t)CUTIS_BAKE_BLOCK * 16 * panels +
           (CUTIS_BAKE_SLOTS + 4) * n;
}

// Sums of targets, or of turns, and all joints, of which those of candidates are kept.
static void products_task(void *data, uint32_t task)
{
    const level_job *job = data;
    const cutis_bake_level *level = job->level;
    const cutis_bake_problem *p = job->work->problem;
    const task_memory m = memory_of(job->work, task);
    const uint32_t end = (p->joint_count + 1) / 2;
    const float *frames = job->turns ? p->turns : p->targets;
    const double *places = job->turns ? p->normals : p->positions;
    double *out = job->turns ? level->joint_turn : level->joint_target;
    for (uint32_t b = task; b < block_count(level); b += CUTIS_BAKE_TASKS) {
        const uint32_t at = b * CUTIS_BAKE_BLOCK, count = block_size(level, b);
        for (uint32_t first = 0; first < end; first += PANELS) {
            const uint32_t last = first + PANELS < end ? first + PANELS : end;
            block_products(job->work, frames, at, count, first, last, m.right, m.sums);
            for (uint32_t i = 0; i < count; i++)
                for (uint32_t c = level->joint_first[at + i]; c < level->joint_first[at + i + 1];
                     c++) {
                    const uint32_t joint = level->joint[c];
                    const double *place = places + 3 * (size_t)(at + i);
                    if (joint / 2 < first || joint / 2 >= last) continue;
                    out[c] = job->turns ? bone_turn(m.sums, joint, first, i, count, place)
                                        : bone_product(m.sums, joint, first, i, count, place);
                }
        }
    }
}

static void squares_task(void *data, uint32_t task)
{
    const level_job *job = data;
    cutis_bake_level *level = job->level;
    const cutis_bake_problem *p = job->work->problem;
    const size_t length = 3 * p->stride;
    for (uint32_t b = task; b < block_count(level); b += CUTIS_BAKE_TASKS)
        for (uint32_t i = b * CUTIS_BAKE_BLOCK, k = 0; k < block_size(level, b); i++, k++) {
            const float *v = p->targets + i * length;
            double sum = 0;
            for (size_t e = 0; e < length; e++) sum += (double)v[e] * (double)v[e];
            for (size_t e = 0; p->turns && e < length; e++) {
                const double t = (double)p->turns[i * length + e];
                sum += p->worth * p->worth * t * t;
            }
            level->target_square[i] = sum;
        }
}

// Sums of targets (turns: of turns), unless they are there.
static cutis_result find_products(cutis_bake_work *work, cutis_bake_level *level, bool turns)
{
    double **out = turns ? &level->joint_turn : &level->joint_target;
    level_job job = { .work = work, .level = level, .turns = turns };
    if (*out) return CUTIS_OK;
    *out =
        cutis_arena_zero(work->arena, level->joint_first[level->count] + (size_t)1, sizeof(double));
    if (!*out) return cutis_alloc_result(work->problem->context);
    if (work->gpu) return cutis_bake_gpu_products(work, turns, *out);
    cutis_device_run(work->problem->device, products_task, &job, CUTIS_BAKE_TASKS);
    return CUTIS_OK;
}

void cutis_bake_level_products(cutis_bake_work *work, cutis_bake_level *level)
{
    const cutis_bake_problem *p = work->problem;
    const size_t count = level->joint_first[level->count];
    level_job job = { .work = work, .level = level };
    cutis_bake_try(work, cutis_bake_gpu_open(work));
    cutis_bake_try(work, work->result ? work->result : find_products(work, level, false));
    if (p->turns)
        cutis_bake_try(work, work->result ? work->result : find_products(work, level, true));
    if (work->result != CUTIS_OK) return;
    for (size_t c = 0; c < count; c++)
        level->joint_product[c] =
            level->joint_target[c] + (p->turns ? p->worth * p->worth * level->joint_turn[c] : 0);
    if (work->gpu)
        cutis_bake_try(work, cutis_bake_gpu_lengths(work));
    else
        cutis_device_run(p->device, squares_task, &job, CUTIS_BAKE_TASKS);
}

// One point ---------------------------------------------------------------------------------------

// Where a point's numbers are on a CPU: c_b with the prior's part and Q_bb per bone, and a row of Q
// for each bone of the support.
#define BAKE_MOST (CUTIS_BAKE_SLOTS + 1)
#define BAKE_STATE                                                                                 \
    const cutis_bake_work *work;                                                                   \
    uint32_t bones;                                                                                \
    size_t n;                                                                                      \
    double square_sum, given_square;                                                               \
    const double *square;                                                                          \
    double *product, *diagonal, *rows;                                                             \
    const uint32_t *candidates;
#define BAKE_ENTRY(s, i, b)  ((s)->rows[(size_t)(i) * (s)->n + (size_t)(b)])
#define BAKE_DIAGONAL(s, b)  ((s)->diagonal[b])
#define BAKE_CANDIDATE(s, k) ((int)(s)->candidates[k])
#define BAKE_JOIN(s, i, b)   fill_row(s, (uint32_t)(b), (s)->rows + (size_t)(i) * (s)->n)
#define BAKE_MOVE(s, i, from)                                                                      \
    memcpy((s)->rows + (size_t)(i) * (s)->n, (s)->rows + (size_t)(from) * (s)->n,                  \
           (s)->bones * sizeof(double))

struct bake_solver;
static void fill_row(const struct bake_solver *s, uint32_t bone, double *row);
#include "kernel/bake.h"

// Q_bc of a bone and all others; Q_bb is in `diagonal`.
static void fill_row(const struct bake_solver *s, uint32_t bone, double *row)
{
    s->work->wide->row(s->work->form + bone * (size_t)CUTIS_BAKE_SQUARE * s->n, s->square, s->n,
                       row);
    const double own = s->square_sum - s->product[bone];
    for (uint32_t c = 0; c < s->bones; c++) row[c] += own - s->product[c];
    row[bone] = s->diagonal[bone];
}

// All points --------------------------------------------------------------------------------------

static double prior_of(const cutis_bake_problem *p)
{
    return p->first ? p->prior * p->prior * p->frame_count : 0;
}

// What of the prior concerns a point: its given weights go into the products. @return |w0|^2
static double add_given(const cutis_bake_problem *p, uint32_t point, double *product)
{
    const double prior = prior_of(p);
    double sum = 0;
    if (!(prior > 0)) return 0;
    for (uint32_t i = p->first[point]; i < p->first[point + 1]; i++) {
        product[p->joint[i]] += prior * p->weight[i];
        sum += p->weight[i] * p->weight[i];
    }
    return prior * sum;
}

static double point_square(const cutis_bake_work *work, uint32_t b, uint32_t c,
                           const double *square)
{
    double sum = 0;
    for (size_t k = 0; k < CUTIS_BAKE_SQUARE; k++)
        sum +=
            work->form[(b * (size_t)CUTIS_BAKE_SQUARE + k) * work->bone_capacity + c] * square[k];
    return sum;
}

static void add_far(const cutis_bake_level *level, uint32_t v, double prior, double *diagonal)
{
    for (uint32_t k = level->joint_near[v]; k < level->joint_first[v + 1]; k++)
        diagonal[level->joint[k]] += FAR * prior;
}

static void weigh(const level_job *job, const task_memory *m, uint32_t at, uint32_t i,
                  uint32_t count, uint32_t *candidates)
{
    const cutis_bake_work *work = job->work;
    const cutis_bake_problem *p = work->problem;
    cutis_bake_level *level = job->level;
    const uint32_t v = at + i, joints = p->joint_count, first = joints / 2;
    const double *place = p->positions + 3 * (size_t)v;
    bake_solver s;
    s.work = work, s.n = work->bone_capacity, s.bones = joints + work->helper_count;
    s.limit = (int)cutis_bake_limit(p, v), s.candidate_count = 0,
    s.square = level->square + CUTIS_BAKE_SQUARE * (size_t)v;
    s.product = m->product, s.diagonal = m->diagonal, s.rows = m->rows, s.candidates = candidates;
    for (uint32_t k = level->joint_first[v]; k < level->joint_first[v + 1]; k++) {
        candidates[s.candidate_count++] = level->joint[k];
        s.product[level->joint[k]] = level->joint_product[k];
    }
    for (uint32_t h = 0; h < work->helper_count; h++) {
        s.product[joints + h] = bone_product(m->sums, joints + h, first, i, count, place);
        if (p->turns)
            s.product[joints + h] +=
                p->worth * p->worth *
                bone_turn(m->turned, joints + h, first, i, count, p->normals + 3 * (size_t)v);
        if (!level->allowed || level->allowed[(size_t)h * level->count + v])
            candidates[s.candidate_count++] = joints + h;
    }
    // Q_bb first: affinity is of the residual, the prior comes after it.
    work->wide->row(work->diagonal, s.square, s.n, s.diagonal);
    const double prior = prior_of(p), sum = level->target_square[v];
    for (int k = 0; k < s.candidate_count; k++) {
        const uint32_t b = candidates[k];
        s.diagonal[b] = (1 + p->affinity) * (s.diagonal[b] - 2 * s.product[b] + sum) + prior;
    }
    for (uint32_t k = 0; k < level->slots[v]; k++) {
        s.bone[k] = (int)level->bone[(size_t)v * p->influences + k];
        s.weight[k] = level->weight[(size_t)v * p->influences + k];
    }
    s.count = level->slots[v];
    s.given_square = add_given(p, v, s.product);
    s.square_sum = sum + s.given_square;
    for (uint32_t k = p->first && prior > 0 ? p->first[v] : 0; prior > 0 && k < p->first[v + 1];
         k++)
        s.diagonal[p->joint[k]] -= 2 * prior * p->weight[k];
    if (prior > 0)
        for (int k = 0; k < s.candidate_count; k++) s.diagonal[candidates[k]] += s.given_square;
    add_far(level, v, prior, s.diagonal);
    bake_point(&s, (int)job->sweeps);
    level->slots[v] = (uint8_t)s.count;
    level->energy[v] = s.energy;
    for (int k = 0; k < s.count; k++) {
        level->bone[(size_t)v * p->influences + k] = (uint32_t)s.bone[k];
        level->weight[(size_t)v * p->influences + k] = s.weight[k];
        level->product[(size_t)v * p->influences + k] = s.product[s.bone[k]];
    }
    if (level->loss) bake_losses(&s, level->loss + (size_t)v * p->influences);
}

static void weights_task(void *data, uint32_t task)
{
    const level_job *job = data;
    cutis_bake_level *level = job->level;
    const cutis_bake_problem *p = job->work->problem;
    const task_memory m = memory_of(job->work, task);
    const uint32_t bones = p->joint_count + job->work->helper_count;
    uint32_t candidates[CUTIS_BAKE_BONES];
    for (uint32_t b = task; b < block_count(level); b += CUTIS_BAKE_TASKS) {
        const uint32_t at = b * CUTIS_BAKE_BLOCK, count = block_size(level, b);
        if (job->work->helper_count)
            block_products(job->work, p->targets, at, count, p->joint_count / 2, (bones + 1) / 2,
                           m.right, m.sums);
        if (job->work->helper_count && p->turns)
            block_products(job->work, p->turns, at, count, p->joint_count / 2, (bones + 1) / 2,
                           m.right, m.turned);
        for (uint32_t i = 0; i < count; i++) weigh(job, &m, at, i, count, candidates);
    }
}

double cutis_bake_weights(cutis_bake_work *work, uint32_t sweeps)
{
    cutis_bake_level *level = work->level;
    level_job job = { .work = work, .level = level, .sweeps = sweeps };
    if (work->result != CUTIS_OK) return work->energy;
    if (work->gpu)
        cutis_bake_try(work, cutis_bake_gpu_weights(work, sweeps, prior_of(work->problem), FAR));
    else
        cutis_device_run(work->problem->device, weights_task, &job, CUTIS_BAKE_TASKS);
    double sum = 0;
    for (uint32_t i = 0; i < level->count; i++) sum += work->problem->mass[i] * level->energy[i];
    return sum;
}

// Candidates for helpers --------------------------------------------------------------------------

bool cutis_bake_may(const cutis_bake_level *level, uint32_t v, const uint8_t *joints)
{
    if (!level->allowed) return true;
    for (uint32_t k = level->joint_first[v]; k < level->joint_near[v]; k++)
        if (joints[level->joint[k]]) return true;
    return false;
}

static double gain_of(const level_job *job, uint32_t v, uint32_t bone, double product)
{
    const cutis_bake_work *work = job->work;
    const cutis_bake_problem *p = work->problem;
    const cutis_bake_level *level = job->level;
    const double *square = level->square + CUTIS_BAKE_SQUARE * (size_t)v;
    const double prior = prior_of(p);
    double given = 0, g = 0;
    for (uint32_t i = prior > 0 ? p->first[v] : 0; prior > 0 && i < p->first[v + 1]; i++)
        given += prior * p->weight[i] * p->weight[i];
    const double sum = level->target_square[v] + given, mu = level->energy[v];
    for (uint32_t k = 0; k < level->slots[v]; k++) {
        const size_t at = (size_t)v * p->influences + k;
        g += level->weight[at] * (point_square(work, bone, level->bone[at], square) - product -
                                  level->product[at] + sum);
    }
    const double own = (1 + p->affinity) * (point_square(work, bone, bone, square) - 2 * product +
                                            level->target_square[v]) +
                       prior + given;
    const double slope = mu - g, bend = own - 2 * g + mu;
    if (!(slope > 0) || !(bend > 0)) return 0;
    return slope < bend ? slope * slope / bend : mu - own;
}

static void gains_task(void *data, uint32_t task)
{
    const level_job *job = data;
    const cutis_bake_work *work = job->work;
    const cutis_bake_problem *p = work->problem;
    const cutis_bake_level *level = job->level;
    const task_memory m = memory_of(work, task);
    const uint32_t first = p->joint_count + work->helper_count, end = first + job->candidates;
    for (uint32_t b = task; b < block_count(level); b += CUTIS_BAKE_TASKS) {
        const uint32_t at = b * CUTIS_BAKE_BLOCK, count = block_size(level, b);
        block_products(work, p->targets, at, count, first / 2, (end + 1) / 2, m.right, m.sums);
        if (p->turns)
            block_products(work, p->turns, at, count, first / 2, (end + 1) / 2, m.right, m.turned);
        for (uint32_t i = 0; i < count; i++)
            for (uint32_t c = 0; c < job->candidates; c++) {
                const double product =
                    bone_product(m.sums, first + c, first / 2, i, count,
                                 p->positions + 3 * (size_t)(at + i)) +
                    (p->turns ? p->worth * p->worth *
                                    bone_turn(m.turned, first + c, first / 2, i, count,
                                              p->normals + 3 * (size_t)(at + i))
                              : 0);
                const bool may =
                    cutis_bake_may(level, at + i, job->region_joints + c * (size_t)p->joint_count);
                job->gains[(size_t)c * level->count + at + i] =
                    may ? p->mass[(at + i)] * gain_of(job, at + i, first + c, product) : 0;
            }
    }
}

void cutis_bake_gains(cutis_bake_work *work, uint32_t candidates, const uint8_t *region_joints,
                      double *gains)
{
    level_job job = { .work = work,
                      .level = work->level,
                      .candidates = candidates,
                      .region_joints = region_joints,
                      .gains = gains };
    cutis_device_run(work->problem->device, gains_task, &job, CUTIS_BAKE_TASKS);
}
