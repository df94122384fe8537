// What a frame does with drivers: inputs of four joints at a time, then the drivers, eight side by
// side, sorted by how many inputs they have. Invariant: sums run in the order of the terms, in
// float, and one of zeros that fill up a group adds nothing, so a driven node has the same bits
// whatever stands beside it and however wide the vectors are.
#include "model/drivers.h"

#include <math.h>
#include <string.h>

#include <cutis/clip.h>

#include "base/error.h"
#include "math/quat.h"
#include "model/lanes.h"

enum { GROUP = CUTIS_DRIVE_GROUP, INPUTS = 4 * CUTIS_DRIVER_INPUTS, OUTPUTS = 6 };
enum { NO_INPUT = 4 * CUTIS_DRIVER_JOINTS }; // one that is always zero

// Drivers side by side; where there are fewer the last lanes are of nodes that rest.
typedef struct drive_group {
    uint32_t count, input_count; ///< the most that a driver of it has
    uint32_t nodes[GROUP];
    uint16_t inputs[INPUTS][GROUP]; ///< into the values of cutis_drive_inputs
    /// Of each input i: its own term, then those of its products with inputs i, i + 1, ...; of each
    /// term r and d of all drivers: [OUTPUTS][GROUP]
    float *terms;
    double turns[4][GROUP]; ///< w x y z of the rest rotation
    cutis_transform rest[GROUP];
} drive_group;

// Four joints: components side by side.
typedef struct drive_joints {
    uint32_t nodes[4];
    lanes rest[4];         ///< x y z w: conjugate of the rest rotation, of unit length
    lanes low[4], high[4]; ///< of inputs
} drive_joints;

struct cutis_drive_table {
    uint32_t quad_count, group_count;
    drive_joints *quads;
    drive_group *groups;
};

// Making ------------------------------------------------------------------------------------------

static size_t term_place(uint32_t i, uint32_t j, uint32_t n) // of a product, j >= i
{
    return n + (size_t)i * n - (size_t)i * (i + 1) / 2 + j;
}

static bool adds(const cutis_driver *driver, size_t term)
{
    bool any = false;
    for (size_t k = 0; k < OUTPUTS; k++) any |= driver->coefficients[OUTPUTS * term + k] != 0;
    return any;
}

// Inputs of a driver that can be other than zero, and that a term reads. @return how many
static uint32_t list_used(const cutis_drivers *all, const cutis_driver *driver, uint8_t *used)
{
    const uint32_t n = 4 * driver->input_count;
    uint32_t count = 0;
    for (uint32_t i = 0; i < n; i++) {
        const float *range = all->ranges + 8 * (size_t)driver->inputs[i / 4] + i % 4;
        bool any = adds(driver, i);
        for (uint32_t j = 0; j < n && !any; j++)
            any = adds(driver, i < j ? term_place(i, j, n) : term_place(j, i, n));
        if (any && (range[0] != 0 || range[4] != 0)) used[count++] = (uint8_t)i;
    }
    return count;
}

static void pack_driver(const cutis_model *model, const cutis_driver *driver, uint32_t lane,
                        drive_group *out)
{
    const uint32_t n = 4 * driver->input_count;
    const cutis_transform *rest = &model->rest[driver->node];
    uint8_t used[INPUTS];
    const uint32_t count = list_used(model->data.drivers, driver, used);
    float *to = out->terms + lane;
    for (uint32_t i = 0; i < out->input_count; i++) {
        if (i < count)
            out->inputs[i][lane] = (uint16_t)(4 * driver->inputs[used[i] / 4] + used[i] % 4);
        for (uint32_t j = i; j <= out->input_count; j++, to += OUTPUTS * GROUP) {
            if (i >= count || j > count) continue;
            const size_t term = j == i ? used[i] : term_place(used[i], used[j - 1], n);
            for (size_t k = 0; k < OUTPUTS; k++)
                to[k * GROUP] = driver->coefficients[OUTPUTS * term + k];
        }
    }
    const float turn[4] = { rest->rotation.w, rest->rotation.x, rest->rotation.y,
                            rest->rotation.z };
    for (int k = 0; k < 4; k++) out->turns[k][lane] = turn[k];
    out->nodes[lane] = driver->node;
    out->rest[lane] = *rest;
}

static bool pack_group(cutis_model *model, const uint32_t *order, uint32_t count, uint32_t most,
                       drive_group *out)
{
    const size_t terms = most + (size_t)most * (most + 1) / 2;
    // Whole lines of the cache: a vector that straddles two costs twice.
    float *room = cutis_arena_zero(&model->arena, terms * OUTPUTS * GROUP + 16, sizeof *room);
    if (!room) return false;
    out->terms = (float *)(((uintptr_t)room + 63) / 64 * 64);
    out->count = count, out->input_count = most;
    for (uint32_t i = 0; i < INPUTS; i++)
        for (uint32_t l = 0; l < GROUP; l++) out->inputs[i][l] = NO_INPUT;
    for (uint32_t l = 0; l < GROUP; l++) {
        out->rest[l] = (cutis_transform){ .rotation.w = 1, .scale = { 1, 1, 1 } };
        out->turns[0][l] = 1;
    }
    for (uint32_t l = 0; l < count; l++)
        pack_driver(model, &model->data.drivers->drivers[order[l]], l, out);
    return true;
}

// Drivers by the number of their inputs, most first: such with as many stand side by side.
static bool make_groups(cutis_model *model, struct cutis_drive_table *table)
{
    const cutis_drivers *all = model->data.drivers;
    const uint32_t count = all->driver_count;
    uint32_t place[INPUTS + 2] = { 0 };
    uint32_t *order = cutis_arena_alloc(&model->arena, count + (size_t)1, sizeof *order);
    uint8_t *sizes = cutis_arena_alloc(&model->arena, count + (size_t)1, 1);
    table->group_count = (count + GROUP - 1) / GROUP;
    table->groups =
        cutis_arena_zero(&model->arena, table->group_count + (size_t)1, sizeof *table->groups);
    if (!order || !sizes || !table->groups) return false;
    for (uint32_t d = 0; d < count; d++) {
        uint8_t used[INPUTS];
        sizes[d] = (uint8_t)list_used(all, &all->drivers[d], used);
        place[INPUTS - sizes[d] + 1]++;
    }
    for (int k = 0; k < INPUTS; k++) place[k + 1] += place[k];
    for (uint32_t d = 0; d < count; d++) order[place[INPUTS - sizes[d]]++] = d;
    for (uint32_t g = 0; g < table->group_count; g++) {
        const uint32_t first = g * GROUP, some = count - first < GROUP ? count - first : GROUP;
        if (!pack_group(model, order + first, some, sizes[order[first]], &table->groups[g]))
            return false;
    }
    return true;
}

static void pack_joint(const cutis_model *model, uint32_t joint, uint32_t lane, drive_joints *out)
{
    const cutis_drivers *all = model->data.drivers;
    const cutis_quat q = model->rest[all->joints[joint]].rotation;
    const double x = q.x, y = q.y, z = q.z, w = q.w;
    const double length = sqrt(x * x + y * y + z * z + w * w), by = length > 0 ? 1 / length : 0;
    const double unit[4] = { -x * by, -y * by, -z * by, length > 0 ? w * by : 1 };
    out->nodes[lane] = all->joints[joint];
    for (size_t c = 0; c < 4; c++) {
        out->rest[c][lane] = (float)unit[c];
        out->low[c][lane] = all->ranges[8 * (size_t)joint + c];
        out->high[c][lane] = all->ranges[8 * (size_t)joint + 4 + c];
    }
}

bool cutis_drive_create(cutis_model *model)
{
    const cutis_drivers *all = model->data.drivers;
    if (!all) return true;
    struct cutis_drive_table *table = cutis_arena_zero(&model->arena, 1, sizeof *table);
    if (!table) return false;
    table->quad_count = (all->joint_count + 3) / 4;
    table->quads =
        cutis_arena_zero(&model->arena, table->quad_count + (size_t)1, sizeof *table->quads);
    if (!table->quads || !make_groups(model, table) || !cutis_drive_weights_create(model))
        return false;
    for (uint32_t j = 0; j < 4 * table->quad_count; j++) // the last again, to fill up
        pack_joint(model, j < all->joint_count ? j : all->joint_count - 1, j % 4,
                   &table->quads[j / 4]);
    model->drive = table;
    return true;
}

uint32_t cutis_drive_groups(const cutis_model *model)
{
    return model->drive ? model->drive->group_count : 0;
}

uint32_t cutis_drive_nodes(const cutis_model *model, uint32_t group, const uint32_t **nodes)
{
    *nodes = model->drive->groups[group].nodes;
    return model->drive->groups[group].count;
}

// Frames ------------------------------------------------------------------------------------------

void cutis_drive_read(const cutis_model *model, const cutis_transform *transforms,
                      cutis_drive_inputs *out)
{
    const lanes zero = lanes_all(0), one = lanes_all(1);
    lanes_store(out->values[CUTIS_DRIVER_JOINTS], zero);
    for (uint32_t k = 0; k < model->drive->quad_count; k++) {
        const drive_joints *joints = &model->drive->quads[k];
        const lanes *a = joints->rest;
        lanes b[4], q[4];
        LANES_UNROLL
        for (int l = 0; l < 4; l++) b[l] = lanes_load(&transforms[joints->nodes[l]].rotation.x);
        lanes_transpose(&b[0], &b[1], &b[2], &b[3]);
        q[0] = a[3] * b[0] + a[0] * b[3] + (a[1] * b[2] - a[2] * b[1]);
        q[1] = a[3] * b[1] + a[1] * b[3] + (a[2] * b[0] - a[0] * b[2]);
        q[2] = a[3] * b[2] + a[2] * b[3] + (a[0] * b[1] - a[1] * b[0]);
        q[3] = a[3] * b[3] - (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]);
        const lanes square = (q[0] * q[0] + q[1] * q[1]) + (q[2] * q[2] + q[3] * q[3]);
        const lanes_int there = square > 0; // no rotation at all counts as none
        lanes by = lanes_select(there, one / lanes_sqrt(square), zero);
        by = lanes_select(q[3] < 0, -by, by);
        LANES_UNROLL
        for (int c = 0; c < 4; c++) {
            q[c] *= by;
            if (c == 3) q[c] = lanes_select(there, q[c] - one, zero);
            q[c] = lanes_select(q[c] < joints->low[c], joints->low[c], q[c]);
            q[c] = lanes_select(q[c] > joints->high[c], joints->high[c], q[c]);
        }
        lanes_transpose(&q[0], &q[1], &q[2], &q[3]);
        LANES_UNROLL
        for (int l = 0; l < 4; l++) lanes_store(out->values[4 * k + (uint32_t)l], q[l]);
    }
}

// What drivers come to, side by side.
typedef struct drive_sums {
    float inputs[INPUTS][GROUP];
    float turns[4][GROUP]; ///< x y z w
    float shifts[3][GROUP];
} drive_sums;

#if defined(__GNUC__) && !defined(__clang__)
#define DRIVE_UNROLL _Pragma("GCC unroll 8")
#else
#define DRIVE_UNROLL
#endif

#define DRIVE_LANES   4
#define DRIVE_NAME(x) x##_plain
#define DRIVE_TARGET
#include "model/drive_text.h"
#undef DRIVE_LANES
#undef DRIVE_NAME
#undef DRIVE_TARGET

#if defined(__x86_64__) && !defined(CUTIS_SCALAR_ONLY)
#define DRIVE_LANES   8
#define DRIVE_NAME(x) x##_avx2
#define DRIVE_TARGET  __attribute__((target("avx2")))
#include "model/drive_text.h"
#endif

void cutis_drive_evaluate(const cutis_model *model, const cutis_drive_inputs *inputs,
                          uint32_t group, bool avx2, cutis_transform *out)
{
    const drive_group *g = &model->drive->groups[group];
    const float *values = inputs->values[0];
    float turns[3][GROUP];
    drive_sums sums;
    for (uint32_t i = 0; i < g->input_count; i++)
        for (uint32_t l = 0; l < GROUP; l++) sums.inputs[i][l] = values[g->inputs[i][l]];
#if defined(__x86_64__) && !defined(CUTIS_SCALAR_ONLY)
    if (avx2) {
        sum_avx2(g, &sums, turns);
        turn_avx2(g, turns, &sums);
    } else
#endif
    {
        sum_plain(g, &sums, turns);
        turn_plain(g, turns, &sums);
    }
    (void)avx2;
    for (uint32_t l = 0; l < GROUP; l++) {
        out[l] = g->rest[l];
        out[l].rotation =
            (cutis_quat){ sums.turns[0][l], sums.turns[1][l], sums.turns[2][l], sums.turns[3][l] };
        out[l].translation.x += sums.shifts[0][l];
        out[l].translation.y += sums.shifts[1][l];
        out[l].translation.z += sums.shifts[2][l];
    }
}

void cutis_pose_drive(const cutis_model *model, cutis_drive drive, cutis_transform *transforms)
{
    if (!model || !transforms || !model->drive || drive == CUTIS_DRIVE_NONE) return;
    cutis_drive_inputs inputs;
    cutis_drive_read(model, transforms, &inputs);
    for (uint32_t g = 0; g < cutis_drive_groups(model); g++) {
        const uint32_t *nodes, count = cutis_drive_nodes(model, g, &nodes);
        cutis_transform own[GROUP];
        cutis_drive_evaluate(model, &inputs, g, false, own);
        for (uint32_t l = 0; l < count; l++)
            if (drive == CUTIS_DRIVE_ALL || cutis_pose_rests(model, transforms, nodes[l]))
                transforms[nodes[l]] = own[l];
    }
}
