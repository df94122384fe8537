// Which joints go, and into which (docs/spec/reduction.md 2.11). A joint's cost is what its merging
// adds to the sum of squared errors of the vertices, over poses, on top of what was merged before.
// Invariants: a joint goes only into one that all its skins have; the result does not depend on
// threads.
#include "fit/reduce/joints.h"

#include <math.h>
#include <string.h>

#include "base/error.h"

// Poses of each kind that costs are summed over; units of a skin that are looked at.
enum { POSES = 48, UNITS = 8192 };
// Candidates below a joint that went.
enum { BELOW = 6 };

// One skin's sample of units, with weights as they are after the merges so far.
typedef struct part {
    const cutis_reduce_group *group;
    uint32_t unit_count, *unit; ///< sampled
    uint32_t *first, *joint;    ///< joint: of the rig
    double *weight;
    double *error;    ///< 3 per pose and unit
    double *matrices; ///< 12 per pose and joint of the skin
    int32_t *of_rig;  ///< place in the skin of a joint of the rig, or -1
    uint32_t joint_count;
    uint32_t *list_first, *list; ///< slots by joint of the rig
} part;

typedef struct merger {
    const cutis_model *model;
    cutis_context *context;
    cutis_arena arena;
    cutis_reduce_frames rig; ///< joints and those above them
    uint32_t part_count, pose_count;
    part *parts;
    int32_t *into; ///< per joint: where it would go; -1: it stays whatever comes
    uint8_t *gone, *dirty;
    int32_t *went; ///< per joint: where it went, or -1
    double *cost;
} merger;

// The nearest joint above that is left and that all skins with this one have.
static int32_t find_above(const merger *m, uint32_t j)
{
    for (int32_t up = m->rig.above[j]; up >= 0; up = m->rig.above[up]) {
        bool shared = !m->gone[up];
        for (uint32_t p = 0; p < m->part_count; p++)
            shared &= m->parts[p].of_rig[j] < 0 || m->parts[p].of_rig[up] >= 0;
        if (shared) return up;
    }
    return -1;
}

static bool open_part(merger *m, part *p, const cutis_reduce_group *group, const int32_t *joint_of)
{
    const cutis_skin *skin = &cutis_model_get(m->model)->skins[group->skin];
    const uint32_t stride = (group->unit_count + UNITS - 1) / UNITS;
    p->group = group;
    p->joint_count = skin->joint_count;
    p->unit_count = stride ? (group->unit_count + stride - 1) / stride : 0;
    size_t slots = 0;
    for (uint32_t u = 0; u < p->unit_count; u++)
        slots += group->first[u * stride + 1] - group->first[u * stride];
    p->unit = cutis_arena_alloc(&m->arena, p->unit_count, sizeof *p->unit);
    p->first = cutis_arena_alloc(&m->arena, (size_t)p->unit_count + 1, sizeof *p->first);
    p->joint = cutis_arena_alloc(&m->arena, slots, sizeof *p->joint);
    p->weight = cutis_arena_alloc(&m->arena, slots, sizeof *p->weight);
    p->list = cutis_arena_alloc(&m->arena, slots, sizeof *p->list);
    p->list_first =
        cutis_arena_alloc(&m->arena, (size_t)m->rig.joint_count + 2, sizeof *p->list_first);
    p->of_rig = cutis_arena_alloc(&m->arena, m->rig.joint_count, sizeof *p->of_rig);
    p->error = cutis_arena_zero(&m->arena, (size_t)p->unit_count * m->pose_count, 24);
    p->matrices = cutis_arena_alloc(&m->arena, (size_t)p->joint_count * m->pose_count, 96);
    if (!p->unit || !p->first || !p->joint || !p->weight || !p->list || !p->list_first ||
        !p->of_rig || !p->error || !p->matrices)
        return false;
    uint32_t used = 0;
    for (uint32_t u = 0; u < p->unit_count; u++) {
        p->unit[u] = u * stride, p->first[u] = used;
        for (uint32_t i = group->first[u * stride]; i < group->first[u * stride + 1]; i++) {
            p->joint[used] = (uint32_t)joint_of[skin->joints[group->control[i]]];
            p->weight[used++] = group->weight[i];
        }
    }
    p->first[p->unit_count] = used;
    for (uint32_t j = 0; j < m->rig.joint_count; j++) p->of_rig[j] = -1;
    for (uint32_t j = 0; j < skin->joint_count; j++)
        p->of_rig[joint_of[skin->joints[j]]] = (int32_t)j;
    return true;
}

// Some of the poses that are learned from, evenly.
static void fill_matrices(merger *m, const cutis_transform *poses, uint32_t count, uint32_t *at,
                          cutis_mat34 *world)
{
    const uint32_t taken = count < POSES ? count : POSES;
    for (uint32_t i = 0; i < taken; i++, ++*at) {
        const size_t pose = (size_t)((uint64_t)i * count / taken);
        cutis_pose_world(m->model, poses + pose * cutis_model_get(m->model)->node_count, world);
        for (uint32_t p = 0; p < m->part_count; p++)
            cutis_reduce_palette(m->model, m->parts[p].group, world,
                                 m->parts[p].matrices + 12 * (size_t)*at * m->parts[p].joint_count);
    }
}

static cutis_result open_merger(merger *m, const cutis_reduce_poses *poses,
                                const cutis_reduce_groups *groups)
{
    const cutis_model_data *data = cutis_model_get(m->model);
    const uint32_t clips = poses->clip_count < POSES ? poses->clip_count : POSES,
                   random = poses->random_count < POSES ? poses->random_count : POSES;
    int32_t *joint_of = cutis_arena_alloc(&m->arena, data->node_count, sizeof *joint_of);
    cutis_mat34 *world = cutis_arena_alloc(&m->arena, data->node_count, sizeof *world);
    if (!joint_of || !world || !cutis_reduce_list_joints(m->model, &m->arena, &m->rig))
        return cutis_alloc_result(m->context);
    const uint32_t joints = m->rig.joint_count;
    for (uint32_t j = 0; j < joints; j++) joint_of[m->rig.joints[j]] = (int32_t)j;
    m->pose_count = clips + random;
    m->part_count = groups->count;
    m->parts = cutis_arena_zero(&m->arena, groups->count, sizeof *m->parts);
    m->into = cutis_arena_alloc(&m->arena, joints, sizeof *m->into);
    m->went = cutis_arena_alloc(&m->arena, joints, sizeof *m->went);
    m->gone = cutis_arena_zero(&m->arena, joints, 1);
    m->dirty = cutis_arena_alloc(&m->arena, joints, 1);
    m->cost = cutis_arena_alloc(&m->arena, joints, sizeof *m->cost);
    bool good = m->parts && m->into && m->went && m->gone && m->dirty && m->cost;
    for (uint32_t g = 0; g < groups->count && good; g++)
        good = open_part(m, &m->parts[g], &groups->group[g], joint_of);
    if (!good) return cutis_alloc_result(m->context);
    uint32_t at = 0;
    fill_matrices(m, poses->clip_learned, poses->clip_count, &at, world);
    fill_matrices(m, poses->random_learned, poses->random_count, &at, world);
    for (uint32_t j = 0; j < joints; j++)
        m->into[j] = find_above(m, j), m->went[j] = -1, m->dirty[j] = 1;
    return CUTIS_OK;
}

// Slots by joint, units ascending.
static void list_slots(const merger *m, part *p)
{
    const uint32_t joints = m->rig.joint_count;
    memset(p->list_first, 0, ((size_t)joints + 2) * sizeof *p->list_first);
    for (uint32_t i = 0; i < p->first[p->unit_count]; i++)
        if (p->weight[i] > 0) p->list_first[p->joint[i] + 2]++;
    for (uint32_t j = 0; j < joints; j++) p->list_first[j + 2] += p->list_first[j + 1];
    for (uint32_t u = 0; u < p->unit_count; u++)
        for (uint32_t i = p->first[u]; i < p->first[u + 1]; i++)
            if (p->weight[i] > 0) p->list[p->list_first[p->joint[i] + 1]++] = i;
}

static uint32_t unit_of(const part *p, uint32_t slot)
{
    uint32_t low = 0, high = p->unit_count;
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (p->first[middle] <= slot)
            low = middle;
        else
            high = middle;
    }
    return low;
}

// What a weight does to a unit when it goes from one joint to another, in one pose.
static void step(const part *p, uint32_t pose, uint32_t from, uint32_t to, double weight,
                 const double *v, double *out)
{
    const double *matrices = p->matrices + 12 * (size_t)pose * p->joint_count,
                 *a = matrices + 12 * (size_t)p->of_rig[from],
                 *b = matrices + 12 * (size_t)p->of_rig[to];
    for (int c = 0; c < 3; c++)
        out[c] = weight * ((b[4 * c] - a[4 * c]) * v[0] + (b[4 * c + 1] - a[4 * c + 1]) * v[1] +
                           (b[4 * c + 2] - a[4 * c + 2]) * v[2] + b[4 * c + 3] - a[4 * c + 3]);
}

static void cost_task(void *data, uint32_t j)
{
    merger *m = data;
    if (!m->dirty[j]) return;
    m->dirty[j] = 0;
    m->cost[j] = INFINITY;
    if (m->gone[j] || m->into[j] < 0) return;
    double sum = 0;
    for (uint32_t g = 0; g < m->part_count; g++) {
        const part *p = &m->parts[g];
        for (uint32_t k = p->list_first[j]; k < p->list_first[j + 1]; k++) {
            const uint32_t slot = p->list[k], u = unit_of(p, slot);
            const double *v = p->group->positions + 3 * (size_t)p->unit[u],
                         *error = p->error + 3 * (size_t)u * m->pose_count;
            for (uint32_t pose = 0; pose < m->pose_count; pose++) {
                double d[3];
                step(p, pose, j, (uint32_t)m->into[j], p->weight[slot], v, d);
                for (int c = 0; c < 3; c++) sum += d[c] * (2 * error[3 * pose + c] + d[c]);
            }
        }
    }
    m->cost[j] = sum;
}

// Move a joint's weights; all joints of the vertices that have it cost something else now.
static void merge_part(merger *m, part *p, uint32_t j)
{
    const uint32_t to = (uint32_t)m->into[j];
    for (uint32_t k = p->list_first[j]; k < p->list_first[j + 1]; k++) {
        const uint32_t slot = p->list[k], u = unit_of(p, slot);
        const double *v = p->group->positions + 3 * (size_t)p->unit[u];
        double *error = p->error + 3 * (size_t)u * m->pose_count;
        for (uint32_t pose = 0; pose < m->pose_count; pose++) {
            double d[3];
            step(p, pose, j, to, p->weight[slot], v, d);
            for (int c = 0; c < 3; c++) error[3 * pose + c] += d[c];
        }
        uint32_t same = slot;
        for (uint32_t i = p->first[u]; i < p->first[u + 1]; i++) {
            m->dirty[p->joint[i]] = 1;
            if (p->joint[i] == to && p->weight[i] > 0) same = i;
        }
        if (same != slot) {
            p->weight[same] += p->weight[slot];
            p->weight[slot] = 0;
        }
        p->joint[slot] = to;
    }
    m->dirty[to] = 1;
}

static void merge_joint(merger *m, uint32_t j)
{
    for (uint32_t g = 0; g < m->part_count; g++) merge_part(m, &m->parts[g], j);
    m->gone[j] = 1;
    m->went[j] = m->into[j];
    m->cost[j] = INFINITY;
    for (uint32_t i = 0; i < m->rig.joint_count; i++) {
        if (m->gone[i] || m->into[i] != (int32_t)j) continue;
        m->into[i] = find_above(m, i);
        m->dirty[i] = 1;
    }
}

static cutis_result merge_all(merger *m, cutis_device *device, uint32_t count)
{
    const uint32_t joints = m->rig.joint_count;
    for (uint32_t left = joints; left > count; left--) {
        uint32_t best = UINT32_MAX;
        TRY(cutis_progress(m->context, "merging joints", (double)(joints - left) / joints));
        for (uint32_t g = 0; g < m->part_count; g++) list_slots(m, &m->parts[g]);
        cutis_device_run(device, cost_task, m, joints);
        for (uint32_t j = 0; j < joints; j++) // of equal ones the last: leaves come first
            if (m->cost[j] < INFINITY && (best == UINT32_MAX || m->cost[j] <= m->cost[best]))
                best = j;
        if (best == UINT32_MAX)
            return cutis_fail(m->context, CUTIS_UNSUPPORTED,
                              "reduce: %u joints cannot be reached; %u have no joint above them to "
                              "go into",
                              count, left);
        merge_joint(m, best);
    }
    return CUTIS_OK;
}

// Groups -----------------------------------------------------------------------------------------

// Joints of a skin as the merges left them.
typedef struct outcome {
    uint32_t joint_count; ///< of the skin
    int32_t *last;        ///< per joint of the skin: where it is now, itself if it stays
    int32_t *below;       ///< BELOW per joint that went: those below it that stay, or -1
} outcome;

static int32_t last_of(const merger *m, int32_t j)
{
    while (m->went[j] >= 0) j = m->went[j];
    return j;
}

static bool make_outcome(const merger *m, const part *p, cutis_arena *arena, outcome *out)
{
    out->joint_count = p->joint_count;
    out->last = cutis_arena_alloc(arena, p->joint_count, sizeof *out->last);
    out->below = cutis_arena_alloc(arena, p->joint_count, BELOW * sizeof *out->below);
    if (!out->last || !out->below) return false;
    memset(out->below, 0xff, (size_t)p->joint_count * BELOW * sizeof *out->below);
    for (uint32_t j = 0; j < m->rig.joint_count; j++) {
        const int32_t own = p->of_rig[j];
        if (own < 0) continue;
        out->last[own] = p->of_rig[last_of(m, (int32_t)j)];
        if (m->gone[j]) continue;
        for (int32_t up = m->rig.above[j]; up >= 0 && m->gone[up]; up = m->rig.above[up]) {
            if (p->of_rig[up] < 0) continue;
            int32_t *list = out->below + (size_t)p->of_rig[up] * BELOW;
            for (int i = 0; i < BELOW; i++)
                if (list[i] < 0) {
                    list[i] = own;
                    break;
                }
        }
    }
    return true;
}

// One vertex's list while it is made: ascending by control; room for every joint of the skin.
typedef struct unit_list {
    uint32_t count, *control;
    double *weight, *prior;
} unit_list;

static bool make_list(uint32_t joint_count, cutis_arena *arena, unit_list *out)
{
    out->control = cutis_arena_alloc(arena, joint_count, sizeof *out->control);
    out->weight = cutis_arena_alloc(arena, joint_count, sizeof *out->weight);
    out->prior = cutis_arena_alloc(arena, joint_count, sizeof *out->prior);
    return out->control && out->weight && out->prior;
}

static void add(unit_list *list, uint32_t control, double weight, double prior)
{
    uint32_t at = 0;
    while (at < list->count && list->control[at] < control) at++;
    if (at == list->count || list->control[at] != control) {
        for (uint32_t i = list->count++; i > at; i--) {
            list->control[i] = list->control[i - 1];
            list->weight[i] = list->weight[i - 1], list->prior[i] = list->prior[i - 1];
        }
        list->control[at] = control;
        list->weight[at] = list->prior[at] = 0;
    }
    list->weight[at] += weight, list->prior[at] += prior;
}

static void list_unit(const cutis_reduce_group *group, const outcome *o, uint32_t u,
                      unit_list *list)
{
    list->count = 0;
    for (uint32_t i = group->first[u]; i < group->first[u + 1]; i++) {
        const uint32_t control = group->control[i];
        add(list, control, group->weight[i], 0);
        add(list, (uint32_t)o->last[control], 0, group->weight[i]);
        for (int k = 0; k < BELOW && o->last[control] != (int32_t)control; k++)
            if (o->below[control * BELOW + k] >= 0)
                add(list, (uint32_t)o->below[control * BELOW + k], 0, 0);
    }
}

static bool extend_group(const outcome *o, cutis_arena *arena, cutis_reduce_group *group)
{
    unit_list list;
    size_t total = 0;
    uint32_t used = 0;
    if (!make_list(o->joint_count, arena, &list)) return false;
    for (uint32_t u = 0; u < group->unit_count; u++) {
        list_unit(group, o, u, &list);
        total += list.count;
    }
    uint32_t *first = cutis_arena_alloc(arena, (size_t)group->unit_count + 1, sizeof *first);
    uint32_t *control = cutis_arena_alloc(arena, total, sizeof *control);
    double *weight = cutis_arena_alloc(arena, total, sizeof *weight);
    group->prior = cutis_arena_alloc(arena, total, sizeof *group->prior);
    group->closed = cutis_arena_alloc(arena, total, 1);
    if (!first || !control || !weight || !group->prior || !group->closed || total > UINT32_MAX)
        return false;
    for (uint32_t u = 0; u < group->unit_count; u++) {
        list_unit(group, o, u, &list);
        first[u] = used;
        for (uint32_t i = 0; i < list.count; i++, used++) {
            control[used] = list.control[i];
            weight[used] = list.weight[i];
            group->prior[used] = list.prior[i];
            group->closed[used] = o->last[list.control[i]] != (int32_t)list.control[i];
        }
    }
    first[group->unit_count] = used;
    group->first = first, group->control = control, group->weight = weight;
    return true;
}

static cutis_result check_skins(const cutis_model *model)
{
    const cutis_instance *instances;
    const uint32_t count = cutis_model_instances(model, &instances);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < i; k++)
            if (instances[i].mesh == instances[k].mesh && instances[i].skin != instances[k].skin)
                return cutis_fail(cutis_model_context(model), CUTIS_UNSUPPORTED,
                                  "meshes/%u is shown with several skins; joints cannot be merged",
                                  instances[i].mesh);
    return CUTIS_OK;
}

static cutis_result publish(const merger *m, cutis_reduce_groups *groups, cutis_arena *arena,
                            cutis_joints *out)
{
    const uint32_t nodes = cutis_model_get(m->model)->node_count;
    out->before = out->after = m->rig.joint_count;
    out->into = cutis_arena_alloc(arena, nodes, sizeof *out->into);
    if (!out->into) return cutis_alloc_result(m->context);
    for (uint32_t n = 0; n < nodes; n++) out->into[n] = CUTIS_NONE;
    for (uint32_t j = 0; j < m->rig.joint_count; j++) {
        if (!m->gone[j]) continue;
        out->into[m->rig.joints[j]] = (int32_t)m->rig.joints[last_of(m, (int32_t)j)];
        out->after--;
    }
    for (uint32_t g = 0; g < groups->count; g++) {
        outcome o;
        if (!make_outcome(m, &m->parts[g], arena, &o) ||
            !extend_group(&o, arena, &groups->group[g]))
            return cutis_alloc_result(m->context);
    }
    return CUTIS_OK;
}

cutis_result cutis_joints_merge(const cutis_model *model, cutis_device *device, uint32_t count,
                                const cutis_reduce_poses *poses, cutis_reduce_groups *groups,
                                cutis_arena *arena, cutis_joints *out)
{
    merger m = { .model = model, .context = arena->context, .arena.context = arena->context };
    cutis_result result = check_skins(model);
    if (result == CUTIS_OK) result = open_merger(&m, poses, groups);
    if (result == CUTIS_OK) result = merge_all(&m, device, count);
    if (result == CUTIS_OK) result = publish(&m, groups, arena, out);
    cutis_arena_release(&m.arena);
    return result;
}
