// From examples to poses: which are the same, which joints tell them apart, the mean displacement
// of each, and what weighted distances cannot see. Invariant: pose 0 is the rest pose and has no
// displacement; poses are in the order of their first examples.
#include "fit/poses/fit.h"

#include <math.h>
#include <string.h>

#include <cutis/clip.h>

#include "base/error.h"

// Poses agree where every joint does to this, in radians (docs/spec/pose-space.md 5.3).
static const double SAME = 1e-6;
// Weighted distances below this make one pose of two (docs/spec/pose-space.md 5.3;
// math/pose_rbf.c).
static const double NEAR = 1e-3;
// Displacements that differ by more, of the diagonal, are more than noise
// (docs/spec/pose-space.md 5.3).
static const double APART = 1e-3;
// Poses that differ by less, in radians over all joints, cannot ask for shapes that are apart: half
// a degree of a joint.
static const double CLOSE = 1e-2;

typedef struct pose_work {
    const cutis_fit_problem *p;
    cutis_transform *rest;
    uint32_t joint_count;
    uint32_t *joints;     ///< nodes, ascending
    uint8_t *root;        ///< per joint: none of the others is above it
    cutis_pose_table all; ///< rest and examples, all joints
} pose_work;

static const cutis_transform *transforms_of(const pose_work *w, uint32_t entry)
{
    return entry ? w->p->examples->poses + (size_t)(entry - 1) * w->p->data->node_count : w->rest;
}

static bool list_joints(pose_work *w)
{
    const cutis_model_data *data = w->p->data;
    uint8_t *used = cutis_arena_zero(w->p->arena, data->node_count, 1);
    w->joints = cutis_arena_alloc(w->p->arena, data->node_count, sizeof *w->joints);
    w->root = cutis_arena_alloc(w->p->arena, data->node_count, 1);
    w->rest = cutis_arena_alloc(w->p->arena, data->node_count, sizeof *w->rest);
    if (!used || !w->joints || !w->root || !w->rest) return false;
    cutis_pose_rest(w->p->model, w->rest, NULL);
    for (uint32_t s = 0; s < data->skin_count; s++)
        for (uint32_t j = 0; j < data->skins[s].joint_count && w->p->skins[s].used; j++)
            used[data->skins[s].joints[j]] = 1;
    for (uint32_t n = 0; n < data->node_count; n++) {
        if (!used[n]) continue;
        int32_t above = data->nodes[n].parent;
        while (above != CUTIS_NONE && !used[above]) above = data->nodes[above].parent;
        w->root[w->joint_count] = above == CUTIS_NONE;
        w->joints[w->joint_count++] = n;
    }
    return true;
}

// A space of some entries (0: rest, e + 1: example e) over some joints.
static bool make_space(const pose_work *w, uint32_t count, const uint32_t *entries, bool roots,
                       cutis_pose_space *out)
{
    cutis_arena *arena = w->p->arena;
    uint32_t joints = 0, *list = cutis_arena_alloc(arena, w->joint_count, sizeof *list);
    cutis_quat *rotations =
        cutis_arena_alloc(arena, (size_t)count * w->joint_count, sizeof *rotations);
    cutis_float3 *places = cutis_arena_alloc(arena, (size_t)count * w->joint_count, sizeof *places);
    if (!list || !rotations || !places) return false;
    for (uint32_t j = 0; j < w->joint_count; j++)
        if (roots || !w->root[j]) list[joints++] = w->joints[j];
    for (uint32_t k = 0; k < count; k++)
        for (uint32_t j = 0; j < joints; j++) {
            const cutis_transform *t = &transforms_of(w, entries[k])[list[j]];
            rotations[(size_t)k * joints + j] = t->rotation;
            places[(size_t)k * joints + j] = t->translation;
        }
    *out = (cutis_pose_space){ .joint_count = joints,
                               .pose_count = count,
                               .joints = list,
                               .rotations = rotations,
                               .translations = places,
                               .after = w->p->options.after,
                               .kernel = w->p->options.kernel,
                               .distance = w->p->options.distance,
                               .sigma = w->p->options.sigma };
    return true;
}

static bool measure_all(pose_work *w)
{
    const uint32_t count = w->p->examples->count + 1;
    cutis_pose_space space;
    cutis_pose_measure measure;
    uint32_t *entries = cutis_arena_alloc(w->p->arena, count, sizeof *entries);
    if (!entries) return false;
    for (uint32_t i = 0; i < count; i++) entries[i] = i;
    return make_space(w, count, entries, true, &space) &&
           cutis_pose_measure_create(w->p->model, &space, w->p->arena, &measure) &&
           cutis_pose_table_create(&measure, w->p->arena, &w->all);
}

static bool same(const pose_work *w, uint32_t a, uint32_t b, bool roots)
{
    const double *row = w->all.squares + ((size_t)a * w->all.pose_count + b) * w->all.joint_count;
    for (uint32_t j = 0; j < w->joint_count; j++)
        if ((roots || !w->root[j]) && !(row[j] < SAME * SAME)) return false;
    return true;
}

static double largest_difference(const cutis_fit_problem *p, const float *a, const float *b)
{
    double largest = 0;
    for (size_t v = 0; v < p->vertex_count; v++) {
        double sum = 0;
        for (int c = 0; c < 3; c++) {
            double d = (a ? a[3 * v + (size_t)c] : 0) - (b ? b[3 * v + (size_t)c] : 0);
            sum += d * d;
        }
        largest = fmax(largest, sum);
    }
    return sqrt(largest);
}

static const float *displacement_of(const cutis_fit_problem *p, uint32_t entry)
{
    return entry ? p->displacements + 3 * (size_t)(entry - 1) * p->vertex_count : NULL;
}

// Turning the whole body must not change the skin, so a root's rotation does not count, unless
// examples that differ in nothing else ask for different shapes.
static bool root_counts(const pose_work *w)
{
    bool others = false;
    for (uint32_t j = 0; j < w->joint_count; j++) others = others || !w->root[j];
    if (!others || !w->p->displacements) return true;
    for (uint32_t a = 0; a < w->all.pose_count; a++)
        for (uint32_t b = 0; b < a; b++)
            if (same(w, a, b, false) && !same(w, a, b, true) &&
                largest_difference(w->p, displacement_of(w->p, a), displacement_of(w->p, b)) >
                    APART * w->p->diagonal)
                return true;
    return false;
}

static double pose_distance(const pose_work *w, uint32_t a, uint32_t b, bool roots)
{
    const double *row = w->all.squares + ((size_t)a * w->all.pose_count + b) * w->all.joint_count;
    double sum = 0;
    for (uint32_t j = 0; j < w->joint_count; j++)
        if (roots || !w->root[j]) sum += row[j];
    return sqrt(sum);
}

static void compare(const cutis_fit_problem *p, uint32_t a, uint32_t b,
                    cutis_pose_contradiction *out)
{
    const float *x = displacement_of(p, a), *y = displacement_of(p, b);
    for (size_t v = 0; v < p->vertex_count; v++) {
        double square = 0;
        for (size_t c = 0; c < 3; c++) {
            const double d = (x ? x[3 * v + c] : 0.0) - (y ? y[3 * v + c] : 0.0);
            square += d * d;
        }
        const double off = sqrt(square);
        out->vertex_count += off > APART * p->diagonal;
        if (off > out->off) out->off = off, out->vertex = (uint32_t)v;
    }
}

// Examples whose poses are all but the same and whose shapes are not.
static cutis_result find_contradictions(const pose_work *w, cutis_fit_poses *out)
{
    out->contradictions =
        cutis_arena_alloc(w->p->arena, CUTIS_CONTRADICTIONS, sizeof *out->contradictions);
    if (!out->contradictions) return cutis_alloc_result(w->p->context);
    for (uint32_t a = 0; a < w->all.pose_count; a++)
        for (uint32_t b = a + 1; b < w->all.pose_count; b++) {
            cutis_pose_contradiction c = { .first = a ? a - 1 : UINT32_MAX, .second = b - 1 };
            c.radians = pose_distance(w, a, b, out->root_counts);
            if (c.radians > CLOSE) continue;
            compare(w->p, a, b, &c);
            if (!c.vertex_count) continue;
            if (out->contradiction_count < CUTIS_CONTRADICTIONS)
                out->contradictions[out->contradiction_count] = c;
            out->contradiction_count++;
        }
    return CUTIS_OK;
}

static cutis_result merge_poses(const pose_work *w, cutis_fit_poses *out)
{
    const uint32_t examples = w->p->examples->count;
    cutis_arena *arena = w->p->arena;
    out->pose_of = cutis_arena_alloc(arena, examples, sizeof *out->pose_of);
    out->example = cutis_arena_alloc(arena, (size_t)examples + 1, sizeof *out->example);
    out->still = cutis_arena_alloc(arena, w->joint_count, sizeof *out->still);
    uint32_t *entries = cutis_arena_alloc(arena, (size_t)examples + 1, sizeof *entries);
    if (!out->pose_of || !out->example || !out->still || !entries)
        return cutis_alloc_result(w->p->context);
    uint32_t count = 1;
    entries[0] = 0;
    for (uint32_t e = 0; e < examples; e++) {
        uint32_t k = 0;
        while (k < count && !same(w, e + 1, entries[k], out->root_counts)) k++;
        out->pose_of[e] = k;
        if (k < count) continue;
        out->example[count] = e;
        entries[count++] = e + 1;
    }
    if (count < 2)
        return cutis_fail(w->p->context, CUTIS_INVALID_ARGUMENT,
                          "fit: no joint moves: all %u examples are in the rest pose", examples);
    for (uint32_t j = 0; j < w->joint_count; j++) {
        bool moves = false;
        for (uint32_t e = 1; e <= examples; e++)
            moves = moves || !(w->all.squares[(size_t)e * w->all.joint_count + j] < SAME * SAME);
        if (!moves) out->still[out->still_count++] = w->joints[j];
    }
    return make_space(w, count, entries, out->root_counts, &out->space)
               ? CUTIS_OK
               : cutis_alloc_result(w->p->context);
}

// Without a joint that slides, translations are left out.
static void drop_places(const pose_work *w, cutis_pose_space *space)
{
    double length = 0;
    for (uint32_t j = 0; j < space->joint_count; j++) {
        cutis_float3 t = w->rest[space->joints[j]].translation;
        length = fmax(length, sqrt((double)t.x * t.x + (double)t.y * t.y + (double)t.z * t.z));
    }
    for (size_t i = 0; i < (size_t)space->pose_count * space->joint_count; i++) {
        cutis_float3 a = space->translations[i],
                     b = w->rest[space->joints[i % space->joint_count]].translation;
        double x = (double)a.x - b.x, y = (double)a.y - b.y, z = (double)a.z - b.z;
        if (sqrt(x * x + y * y + z * z) > SAME * length) return;
    }
    space->translations = NULL;
}

static bool mean_fields(const cutis_fit_problem *p, const cutis_fit_poses *poses,
                        const float *fields, float ***out)
{
    const size_t per = 3 * (size_t)p->vertex_count;
    const uint32_t count = poses->space.pose_count - 1;
    float **list = cutis_arena_alloc(p->arena, count, sizeof *list);
    double *sum = cutis_arena_alloc(p->arena, per, sizeof *sum);
    if (!list || !sum) return false;
    for (uint32_t k = 1; k <= count; k++) {
        uint32_t members = 0;
        float *to = list[k - 1] = cutis_arena_alloc(p->arena, per, sizeof *to);
        if (!to) return false;
        memset(sum, 0, per * sizeof *sum);
        for (uint32_t e = 0; e < p->examples->count; e++) {
            if (poses->pose_of[e] != k) continue;
            members++;
            for (size_t i = 0; i < per; i++) sum[i] += fields[e * per + i];
        }
        for (size_t i = 0; i < per; i++) to[i] = (float)(sum[i] / members);
    }
    *out = list;
    return true;
}

// Does a vertex have two poses that its weights cannot tell apart, but its displacements can?
static bool is_ambiguous(const cutis_fit_problem *p, const cutis_fit_poses *poses,
                         const cutis_pose_table *table, const cutis_joint_weights *weights,
                         uint32_t vertex)
{
    for (uint32_t a = 1; a < table->pose_count; a++)
        for (uint32_t b = 0; b < a; b++) {
            const double *row =
                table->squares + ((size_t)a * table->pose_count + b) * table->joint_count;
            double square = 0, difference = 0;
            for (uint32_t i = 0; i < weights->count; i++)
                square += weights->weight[i] * row[weights->joint[i]];
            if (!(square < NEAR * NEAR)) continue;
            for (int c = 0; c < 3; c++) {
                size_t at = 3 * (size_t)vertex + (size_t)c;
                double d = poses->positions[a - 1][at] - (b ? poses->positions[b - 1][at] : 0);
                difference += d * d;
            }
            if (sqrt(difference) > APART * p->diagonal) return true;
        }
    return false;
}

static cutis_result count_ambiguous(cutis_fit_problem *p, const cutis_pose_table *table,
                                    cutis_fit_poses *poses)
{
    int32_t *place = cutis_arena_alloc(p->arena, p->data->node_count, sizeof *place);
    uint32_t *joint = cutis_arena_alloc(p->arena, p->slots, sizeof *joint);
    double *weight = cutis_arena_alloc(p->arena, p->slots, sizeof *weight);
    if (!place || !joint || !weight) return cutis_alloc_result(p->context);
    for (uint32_t n = 0; n < p->data->node_count; n++) place[n] = -1;
    for (uint32_t j = 0; j < poses->space.joint_count; j++)
        place[poses->space.joints[j]] = (int32_t)j;
    for (uint32_t s = 0; s < p->span_count; s++) {
        const cutis_skin *skin = &p->data->skins[p->spans[s].skin];
        TRY(cutis_progress(p->context, "comparing", (double)s / p->span_count));
        for (uint32_t v = 0; v < p->spans[s].primitive->vertex_count; v++) {
            size_t vertex = p->spans[s].vertex_first + v;
            cutis_joint_weights weights = { 0, joint, weight };
            for (uint32_t i = 0; i < p->counts[vertex]; i++) {
                int32_t at = place[skin->joints[p->joints[vertex * p->slots + i]]];
                if (at < 0) continue;
                joint[weights.count] = (uint32_t)at;
                weight[weights.count++] = p->weights[vertex * p->slots + i];
            }
            poses->ambiguous += is_ambiguous(p, poses, table, &weights, (uint32_t)vertex);
        }
    }
    return CUTIS_OK;
}

// Width and condition of the RBF kernel that PSD will use.
static bool fit_kernel(const cutis_fit_problem *p, const cutis_pose_table *table,
                       cutis_fit_poses *poses)
{
    size_t n = table->pose_count;
    cutis_rbf rbf = { .cluster = cutis_arena_alloc(p->arena, n, sizeof(uint32_t)),
                      .matrix = cutis_arena_alloc(p->arena, n, n * sizeof(double)),
                      .sums = cutis_arena_alloc(p->arena, n, sizeof(double)) };
    double *scratch =
        cutis_arena_alloc(p->arena, cutis_rbf_scratch(table->pose_count), sizeof *scratch);
    if (!rbf.cluster || !rbf.matrix || !rbf.sums || !scratch) return false;
    cutis_rbf_fit(table, &(cutis_joint_weights){ 0 }, p->options.kernel == CUTIS_POSE_GAUSSIAN,
                  p->options.sigma, scratch, &rbf);
    poses->sigma = rbf.sigma;
    poses->condition = rbf.condition;
    return true;
}

cutis_result cutis_fit_poses_create(cutis_fit_problem *p, cutis_fit_poses *out)
{
    pose_work w = { .p = p };
    cutis_pose_measure measure;
    cutis_pose_table table;
    *out = (cutis_fit_poses){ .energy = 1 };
    int32_t *targets = cutis_arena_alloc(p->arena, p->data->mesh_count, sizeof *targets);
    if (!targets || !list_joints(&w) || !measure_all(&w)) return cutis_alloc_result(p->context);
    out->root_counts = root_counts(&w);
    cutis_result result = merge_poses(&w, out);
    if (result != CUTIS_OK || !p->displacements) return result;
    TRY(find_contradictions(&w, out));
    drop_places(&w, &out->space);
    for (uint32_t m = 0; m < p->data->mesh_count; m++) targets[m] = CUTIS_NONE;
    for (uint32_t s = 0; s < p->span_count; s++) targets[p->spans[s].mesh] = 0;
    out->space.targets = targets;
    if (!mean_fields(p, out, p->displacements, &out->positions) ||
        (p->normal_displacements && !mean_fields(p, out, p->normal_displacements, &out->normals)) ||
        !cutis_pose_measure_create(p->model, &out->space, p->arena, &measure) ||
        !cutis_pose_table_create(&measure, p->arena, &table) || !fit_kernel(p, &table, out))
        return cutis_alloc_result(p->context);
    TRY(count_ambiguous(p, &table, out));
    return cutis_fit_compress(p, out);
}
