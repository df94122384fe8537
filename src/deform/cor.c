/// Optimized centres of rotation: for every vertex the mean of the surface that is weighted alike
/// (docs/spec/blending.md 6).
///
/// The similarity of two weight vectors is a sum over bone pairs, so triangles are kept in buckets
/// by pair, and a vertex visits the buckets of its own pairs. Vertices with equal weights share a
/// centre. Invariant: double throughout, sums in a fixed order with four partial sums, exp of our
/// own: the same bits for any number of threads.
#include "base/error.h"
#include "base/memory.h"
#include "deform/skin.h"
#include "geometry/vector.h"
#include "math/exponential.h"
#include "math/mat3.h"

#include <string.h>

static const double SIGMA = 0.1;
// Edges whose ends differ more than this in weights are split for the integral.
static const double WEIGHT_STEP = 0.1;
#define LEVELS 8
// Less similar surface than this part of the whole: no centre, the vertex is as good as rigid.
static const double NO_CENTRE = 1e-12;
// Buckets of this many entries and more are merged by cells of 1 / CELLS in both weights.
#define MERGE_FROM        2048
#define CELLS             512
#define INFLUENCE_LIMIT   64u
#define CORNER_BONES      (3 * INFLUENCE_LIMIT)
#define VERTICES_PER_TASK 32
#define TASKS_PER_BATCH   64

typedef struct corner {
    double point[3];
    double weights[CORNER_BONES];
} corner;

typedef struct piece {
    corner corners[3];
    int level;
} piece;

/// What a small triangle adds to one pair of bones.
typedef struct entry {
    uint32_t pair;
    double wj, wk, area, c[3]; ///< c: centroid times area
} entry;

typedef struct centre_job {
    const cutis_skin_binding *binding;
    const float *positions; ///< 3 per output vertex
    cutis_sets pairs;       ///< lists of two bones
    uint32_t unique_count;
    uint32_t *unique;            ///< one vertex of each weight vector
    uint32_t *same_as;           ///< per vertex: index into `unique`
    uint32_t *pair_first, *pair; ///< per unique vertex: its pairs, in order
    entry *entries;              ///< of all small triangles, in their order
    size_t entry_count, entry_capacity;
    size_t *bucket_first;                  ///< pairs + 1, in multiples of 4
    size_t *bucket_used;                   ///< entries of each
    double *wj, *wk, *area, *cx, *cy, *cz; ///< of the entries, pair by pair
    double total_area;
    double *unique_centres; ///< 3 each
    piece *stack;           ///< LEVELS + 2
    uint32_t first_task;
} centre_job;

/// Weight vectors with equal bones and bits are one.
static cutis_result find_unique(centre_job *job, cutis_arena *arena)
{
    const cutis_skin_layout *layout = &job->binding->layout;
    cutis_sets vectors = { .context = job->binding->base.context }; // bones, then bits of weights
    job->unique = cutis_arena_alloc(arena, layout->vertex_count, sizeof *job->unique);
    job->same_as = cutis_arena_alloc(arena, layout->vertex_count, sizeof *job->same_as);
    bool good = job->unique && job->same_as;
    for (uint32_t v = 0; v < layout->vertex_count && good; v++) {
        uint32_t first = layout->first[v], count = layout->first[v + 1] - first;
        uint32_t both[2 * INFLUENCE_LIMIT];
        memcpy(both, layout->bone + first, count * sizeof *both);
        memcpy(both + count, layout->weight + first, count * sizeof *both);
        good = cutis_sets_find(&vectors, both, 2 * count, &job->same_as[v]);
        if (good && job->same_as[v] == job->unique_count) job->unique[job->unique_count++] = v;
    }
    cutis_sets_release(&vectors);
    return good ? CUTIS_OK : cutis_alloc_result(vectors.context);
}

/// Number the bone pairs of all weight vectors.
static cutis_result find_pairs(centre_job *job, cutis_arena *arena)
{
    const cutis_skin_layout *layout = &job->binding->layout;
    uint64_t total = 0;
    for (uint32_t u = 0; u < job->unique_count; u++) {
        uint32_t v = job->unique[u];
        uint64_t count = layout->first[v + 1] - layout->first[v];
        total += count * (count - 1) / 2;
    }
    if (total > INT32_MAX)
        return cutis_fail(job->binding->base.context, CUTIS_LIMIT_EXCEEDED,
                          "bind: cor: too many pairs of influences; use max_influences");
    job->pair_first = cutis_arena_alloc(arena, (size_t)job->unique_count + 1, sizeof(uint32_t));
    job->pair = cutis_arena_alloc(arena, (size_t)total, sizeof(uint32_t));
    if (!job->pair_first || !job->pair) return cutis_alloc_result(job->binding->base.context);
    uint32_t used = 0;
    for (uint32_t u = 0; u < job->unique_count; u++) {
        uint32_t v = job->unique[u], end = layout->first[v + 1];
        job->pair_first[u] = used;
        for (uint32_t j = layout->first[v]; j < end; j++)
            for (uint32_t k = j + 1; k < end; k++) {
                uint32_t bones[2] = { layout->bone[j], layout->bone[k] };
                if (!cutis_sets_find(&job->pairs, bones, 2, &job->pair[used++]))
                    return cutis_alloc_result(job->binding->base.context);
            }
    }
    job->pair_first[job->unique_count] = used;
    return CUTIS_OK;
}

/// The ascending union of the corners' bones, and each corner's weights on it. @return how many
/// bones
static uint32_t load_triangle(const centre_job *job, const uint32_t *triangle, uint32_t *bones,
                              piece *out)
{
    const cutis_skin_layout *layout = &job->binding->layout;
    uint32_t at[3], count = 0;
    for (int c = 0; c < 3; c++) at[c] = layout->first[triangle[c]];
    for (;;) {
        uint32_t bone = UINT32_MAX;
        for (int c = 0; c < 3; c++)
            if (at[c] < layout->first[triangle[c] + 1] && layout->bone[at[c]] < bone)
                bone = layout->bone[at[c]];
        if (bone == UINT32_MAX) break;
        for (int c = 0; c < 3; c++) {
            bool has = at[c] < layout->first[triangle[c] + 1] && layout->bone[at[c]] == bone;
            out->corners[c].weights[count] = has ? layout->weight[at[c]++] : 0.0;
        }
        bones[count++] = bone;
    }
    for (int c = 0; c < 3; c++)
        for (int i = 0; i < 3; i++)
            out->corners[c].point[i] = job->positions[3 * (size_t)triangle[c] + i];
    out->level = 0;
    return count;
}

static double weight_distance(const corner *a, const corner *b, uint32_t count)
{
    double sum = 0.0;
    for (uint32_t i = 0; i < count; i++)
        sum += (a->weights[i] - b->weights[i]) * (a->weights[i] - b->weights[i]);
    return sum;
}

/// One small triangle as entries of its pairs.
static bool emit(centre_job *job, const piece *p, const uint32_t *bones, uint32_t count,
                 cutis_arena *arena)
{
    double centroid[3], weights[CORNER_BONES];
    for (int i = 0; i < 3; i++)
        centroid[i] =
            (p->corners[0].point[i] + p->corners[1].point[i] + p->corners[2].point[i]) / 3.0;
    double area = v3_area_of(p->corners[0].point, p->corners[1].point, p->corners[2].point);
    if (!(area > 0.0)) return true;
    job->total_area += area;
    for (uint32_t i = 0; i < count; i++)
        weights[i] =
            (p->corners[0].weights[i] + p->corners[1].weights[i] + p->corners[2].weights[i]) / 3.0;
    for (uint32_t j = 0; j < count; j++)
        for (uint32_t k = j + 1; k < count; k++) {
            uint32_t pair, both[2] = { bones[j], bones[k] };
            if (!(weights[j] * weights[k] > 0.0)) continue;
            if (!cutis_sets_find(&job->pairs, both, 2, &pair) ||
                !cutis_arena_grow(arena, &job->entries, &job->entry_capacity, job->entry_count + 1,
                                  sizeof *job->entries))
                return false;
            job->entries[job->entry_count++] =
                (entry){ pair,
                         weights[j],
                         weights[k],
                         area,
                         { area * centroid[0], area * centroid[1], area * centroid[2] } };
        }
    return true;
}

/// Halve the edge whose ends differ most in weights until none differs by more than the step.
static bool refine(centre_job *job, const uint32_t *bones, uint32_t count, cutis_arena *arena)
{
    uint32_t height = 1;
    while (height > 0) {
        piece *top = &job->stack[height - 1];
        double worst = WEIGHT_STEP * WEIGHT_STEP;
        int edge = -1;
        for (int e = 0; e < 3 && top->level < LEVELS; e++) {
            double d = weight_distance(&top->corners[e], &top->corners[(e + 1) % 3], count);
            if (d > worst) worst = d, edge = e;
        }
        if (edge < 0) {
            height--;
            if (!emit(job, top, bones, count, arena)) return false;
            continue;
        }
        piece *other = &job->stack[height++];
        corner *a = &top->corners[edge], *b = &top->corners[(edge + 1) % 3], middle;
        for (int i = 0; i < 3; i++) middle.point[i] = 0.5 * (a->point[i] + b->point[i]);
        for (uint32_t i = 0; i < count; i++)
            middle.weights[i] = 0.5 * (a->weights[i] + b->weights[i]);
        top->level++;
        *other = *top;
        top->corners[(edge + 1) % 3] = middle;
        other->corners[edge] = middle;
    }
    return true;
}

static bool visit_triangles(centre_job *job, cutis_arena *arena)
{
    uint32_t bones[CORNER_BONES];
    uint64_t count = cutis_model_triangle_count(job->binding->base.model);
    uint32_t *triangles = cutis_arena_alloc(arena, (size_t)count, 3 * sizeof *triangles);
    job->stack = cutis_arena_alloc(arena, LEVELS + 2, sizeof *job->stack);
    if (!triangles || !job->stack) return false;
    cutis_model_triangles(job->binding->base.model, triangles);
    for (uint64_t t = 0; t < count; t++) {
        uint32_t bone_count = load_triangle(job, triangles + 3 * t, bones, &job->stack[0]);
        if (bone_count > 1 && !refine(job, bones, bone_count, arena)) return false;
    }
    return true;
}

/// Entries by pair, each in the order of the triangles.
static bool fill_buckets(centre_job *job, cutis_arena *arena)
{
    if (!visit_triangles(job, arena)) return false;
    size_t pairs = job->pairs.count;
    job->bucket_first = cutis_arena_zero(arena, pairs + 1, sizeof *job->bucket_first);
    job->bucket_used = cutis_arena_zero(arena, pairs + 1, sizeof *job->bucket_used);
    if (!job->bucket_first || !job->bucket_used) return false;
    for (size_t i = 0; i < job->entry_count; i++) job->bucket_used[job->entries[i].pair]++;
    for (size_t p = 0; p < pairs; p++) {
        job->bucket_first[p + 1] = job->bucket_first[p] + (job->bucket_used[p] + 3) / 4 * 4;
        job->bucket_used[p] = 0;
    }
    double **arrays[6] = { &job->wj, &job->wk, &job->area, &job->cx, &job->cy, &job->cz };
    for (int i = 0; i < 6; i++) {
        *arrays[i] = cutis_arena_zero(arena, job->bucket_first[pairs], sizeof(double));
        if (!*arrays[i]) return false; // zeroed: what pads a bucket has no area
    }
    for (size_t i = 0; i < job->entry_count; i++) {
        const entry *e = &job->entries[i];
        size_t at = job->bucket_first[e->pair] + job->bucket_used[e->pair]++;
        job->wj[at] = e->wj, job->wk[at] = e->wk, job->area[at] = e->area;
        job->cx[at] = e->c[0], job->cy[at] = e->c[1], job->cz[at] = e->c[2];
    }
    return true;
}

/// Entries of a large bucket whose weights fall into one small cell become one: area and moment
/// added, weights averaged by area. The similarity is smooth over SIGMA, so its error is of the
/// order (CELL / SIGMA)^2 / 24 of itself.
static void merge_bucket(centre_job *job, uint32_t pair, uint32_t *cells)
{
    size_t begin = job->bucket_first[pair], end = begin + job->bucket_used[pair], kept = begin;
    for (size_t i = begin; i < end; i++) {
        size_t row = (size_t)(job->wj[i] * CELLS), column = (size_t)(job->wk[i] * CELLS);
        uint32_t *cell = &cells[row * (CELLS + 1) + column];
        if (*cell == 0) {
            double area = job->area[i];
            job->wj[kept] = job->wj[i] * area, job->wk[kept] = job->wk[i] * area;
            job->area[kept] = area;
            job->cx[kept] = job->cx[i], job->cy[kept] = job->cy[i], job->cz[kept] = job->cz[i];
            *cell = (uint32_t)(++kept - begin);
            continue;
        }
        size_t at = begin + *cell - 1;
        job->wj[at] += job->wj[i] * job->area[i], job->wk[at] += job->wk[i] * job->area[i];
        job->area[at] += job->area[i];
        job->cx[at] += job->cx[i], job->cy[at] += job->cy[i], job->cz[at] += job->cz[i];
    }
    for (size_t i = begin; i < kept; i++) job->wj[i] /= job->area[i], job->wk[i] /= job->area[i];
    for (size_t i = kept; i < (kept + 3) / 4 * 4; i++)
        job->wj[i] = job->wk[i] = job->area[i] = job->cx[i] = job->cy[i] = job->cz[i] = 0.0;
    job->bucket_used[pair] = kept - begin;
}

static cutis_result merge_buckets(centre_job *job, cutis_arena *arena)
{
    size_t count = (size_t)(CELLS + 1) * (CELLS + 1);
    uint32_t *cells = cutis_arena_alloc(arena, count, sizeof *cells);
    if (!cells) return cutis_alloc_result(job->binding->base.context);
    for (uint32_t pair = 0; pair < job->pairs.count; pair++) {
        if (job->bucket_used[pair] < MERGE_FROM) continue;
        memset(cells, 0, count * sizeof *cells);
        merge_bucket(job, pair, cells);
    }
    return CUTIS_OK;
}

/// Add one bucket for a vertex with weights a, b on the pair: two pairs of lanes, four partial
/// sums.
static void add_bucket(const centre_job *job, uint32_t pair, double a, double b, double2 sums[8])
{
    const double sharp = -1.0 / (SIGMA * SIGMA);
    size_t begin = job->bucket_first[pair];
    for (size_t i = begin; i < begin + job->bucket_used[pair]; i += 4)
        for (size_t half = 0; half < 2; half++) {
            size_t at = i + 2 * half;
            double2 wj = double2_load(job->wj + at), wk = double2_load(job->wk + at);
            double2 apart = a * wk - b * wj;
            double2 s = (a * b) * (wj * wk) * exp_negative2(apart * apart * sharp);
            double2 *sum = sums + 4 * half;
            sum[0] += s * double2_load(job->cx + at);
            sum[1] += s * double2_load(job->cy + at);
            sum[2] += s * double2_load(job->cz + at);
            sum[3] += s * double2_load(job->area + at);
        }
}

static void solve_vertices(void *data, uint32_t index)
{
    const centre_job *job = data;
    const cutis_skin_layout *layout = &job->binding->layout;
    uint32_t begin = (job->first_task + index) * VERTICES_PER_TASK;
    for (uint32_t u = begin; u < begin + VERTICES_PER_TASK && u < job->unique_count; u++) {
        uint32_t v = job->unique[u], end = layout->first[v + 1], pair = job->pair_first[u];
        double2 sums[8];
        memset(sums, 0, sizeof sums);
        for (uint32_t j = layout->first[v]; j < end; j++)
            for (uint32_t k = j + 1; k < end; k++)
                add_bucket(job, job->pair[pair++], layout->weight[j], layout->weight[k], sums);
        double total[4];
        for (int c = 0; c < 4; c++)
            total[c] = (sums[c][0] + sums[c][1]) + (sums[4 + c][0] + sums[4 + c][1]);
        double *centre = job->unique_centres + 3 * (size_t)u;
        bool found = total[3] > NO_CENTRE * job->total_area;
        for (int c = 0; c < 3; c++) centre[c] = found ? total[c] / total[3] : NAN;
    }
}

static cutis_result solve_all(centre_job *job)
{
    cutis_device *device = job->binding->base.device;
    uint32_t tasks = (job->unique_count + VERTICES_PER_TASK - 1) / VERTICES_PER_TASK;
    for (uint32_t t = 0; t < tasks; t += TASKS_PER_BATCH) {
        TRY(cutis_progress(job->binding->base.context, "centres of rotation", (double)t / tasks));
        job->first_task = t;
        cutis_device_run(device, solve_vertices, job,
                         tasks - t < TASKS_PER_BATCH ? tasks - t : TASKS_PER_BATCH);
    }
    return CUTIS_OK;
}

cutis_result cutis_bind_centres(cutis_skin_binding *binding, float *centres)
{
    cutis_context *context = binding->base.context;
    uint32_t vertices = binding->layout.vertex_count;
    if (binding->max_influences > INFLUENCE_LIMIT)
        return UNSUPPORTED(
            context, "bind: cor takes at most %u influences, a vertex has %u; use max_influences",
            INFLUENCE_LIMIT, (unsigned)binding->max_influences);
    cutis_arena arena = { .context = context };
    centre_job job = { .binding = binding, .positions = centres, .pairs = { .context = context } };
    cutis_result result = find_unique(&job, &arena);
    if (result == CUTIS_OK) result = find_pairs(&job, &arena);
    if (result == CUTIS_OK && !fill_buckets(&job, &arena)) result = cutis_alloc_result(context);
    if (result == CUTIS_OK) result = merge_buckets(&job, &arena);
    if (result != CUTIS_OK) goto done;
    job.unique_centres = cutis_arena_alloc(&arena, job.unique_count, 3 * sizeof(double));
    result = job.unique_centres ? solve_all(&job) : cutis_alloc_result(context);
    for (size_t v = 0; result == CUTIS_OK && v < vertices; v++) {
        const double *centre = job.unique_centres + 3 * (size_t)job.same_as[v];
        for (size_t c = 0; c < 3 && !isnan(centre[0]); c++) centres[3 * v + c] = (float)centre[c];
    }
done:
    cutis_sets_release(&job.pairs);
    cutis_arena_release(&arena);
    return result;
}
