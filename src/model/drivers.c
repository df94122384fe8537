// Drivers: the gate for them, and what a frame does with them. Invariant: no driver reads a driven
// node, so they can be evaluated in any order; sums run in the order of the terms, in float, so
// that every machine gets the same bits.
#include "model/drivers.h"

#include <math.h>
#include <string.h>

#include <cutis/clip.h>

#include "base/error.h"
#include "math/quat.h"
#include "model/lanes.h"
#include "model/validate.h"

_Static_assert(sizeof(cutis_drive_inputs) == CUTIS_DRIVER_JOINTS * 4 * sizeof(float), "as many");

// Sums of terms with such coefficients are finite.
static const float MOST = 1e30f;

// The gate ----------------------------------------------------------------------------------------

static cutis_result check_joints(cutis_context *context, const cutis_model_data *data,
                                 uint8_t *used)
{
    const cutis_drivers *all = data->drivers;
    for (uint32_t j = 0; j < all->joint_count; j++) {
        const uint32_t node = all->joints[j];
        if (node >= data->node_count || used[node])
            FAIL("drivers: joint %u is node %u, which %s", j, node,
                 node >= data->node_count ? "is not there" : "is there already");
        used[node] = 1;
        const float *range = all->ranges + 8 * (size_t)j;
        for (int c = 0; c < 4; c++)
            if (!(range[c] >= -2 && range[4 + c] <= 2 && range[c] <= range[4 + c]))
                FAIL("drivers: the range of joint %u runs from %g to %g", j, (double)range[c],
                     (double)range[4 + c]);
    }
    return CUTIS_OK;
}

static cutis_result check_driver(cutis_context *context, const cutis_model_data *data, uint32_t d,
                                 uint8_t *used)
{
    const cutis_drivers *all = data->drivers;
    const cutis_driver *driver = &all->drivers[d];
    if (driver->node >= data->node_count)
        FAIL("drivers/%u: node is %u, the model has %u", d, driver->node, data->node_count);
    if (used[driver->node])
        FAIL("drivers/%u: node %u is %s", d, driver->node,
             used[driver->node] == 1 ? "read by drivers: what is driven cannot drive"
                                     : "driven already");
    used[driver->node] = 2;
    if (data->nodes[driver->node].matrix)
        FAIL("drivers/%u: node %u is given by a matrix", d, driver->node);
    if (driver->input_count > CUTIS_DRIVER_INPUTS)
        FAIL("drivers/%u: %u inputs, %d are the most", d, driver->input_count, CUTIS_DRIVER_INPUTS);
    for (uint32_t i = 0; i < driver->input_count; i++) {
        if (driver->inputs[i] >= all->joint_count)
            FAIL("drivers/%u: input %u is joint %u of %u", d, i, driver->inputs[i],
                 all->joint_count);
        for (uint32_t k = 0; k < i; k++)
            if (driver->inputs[k] == driver->inputs[i])
                FAIL("drivers/%u: joint %u is an input twice", d, driver->inputs[i]);
    }
    const size_t count = 6 * cutis_driver_terms(driver->input_count);
    if (count && !driver->coefficients) FAIL("drivers/%u: coefficients are missing", d);
    for (size_t i = 0; i < count; i++)
        if (!(fabsf(driver->coefficients[i]) <= MOST))
            FAIL("drivers/%u: coefficient %zu is %g", d, i, (double)driver->coefficients[i]);
    return CUTIS_OK;
}

static cutis_result check_all(cutis_context *context, const cutis_model_data *data, uint8_t *used)
{
    TRY(check_joints(context, data, used));
    for (uint32_t d = 0; d < data->drivers->driver_count; d++)
        TRY(check_driver(context, data, d, used));
    const cutis_pose_space *space = data->pose_space;
    for (uint32_t j = 0; space && j < space->joint_count; j++)
        if (used[space->joints[j]] == 2)
            FAIL("pose_space: joint %u is node %u, which is driven", j, space->joints[j]);
    return CUTIS_OK;
}

cutis_result cutis_validate_drivers(cutis_context *context, const cutis_model_data *data)
{
    const cutis_drivers *all = data->drivers;
    if (!all) return CUTIS_OK;
    if (all->driver_count == 0 || !all->drivers) FAIL("drivers: there are none");
    if (all->driver_count > data->node_count)
        FAIL("drivers: %u of them, the model has %u nodes", all->driver_count, data->node_count);
    if (all->joint_count > CUTIS_DRIVER_JOINTS)
        return cutis_fail(context, CUTIS_LIMIT_EXCEEDED, "drivers: %u joints, %d are the most",
                          all->joint_count, CUTIS_DRIVER_JOINTS);
    if (all->joint_count && (!all->joints || !all->ranges))
        FAIL("drivers: joints or ranges are missing");
    uint8_t *used = cutis_alloc_zero(context, data->node_count, 1);
    if (!used) return cutis_alloc_result(context);
    const cutis_result result = check_all(context, data, used);
    cutis_free_array(context, used, data->node_count, 1);
    return result;
}

// Frames ------------------------------------------------------------------------------------------

// A driver's coefficients with r in the first four lanes and d in the second, for the inputs that
// can be other than zero.
typedef struct packed {
    uint32_t node, input_count;
    uint16_t inputs[4 * CUTIS_DRIVER_INPUTS]; ///< into the values of cutis_drive_inputs
    /// Of each input i: its own term, then those of its products with inputs i, i + 1, ...
    const lanes *terms; ///< r and d in turn
} packed;

struct cutis_drive_table {
    uint32_t joint_count, driver_count;
    const uint32_t *joints;
    float *rest;   ///< 4 per joint: conjugate of the rest rotation, of unit length
    float *ranges; ///< 8 per joint
    packed *drivers;
};

static lanes three(const float *from)
{
    return (lanes){ from[0], from[1], from[2], 0 };
}

static bool pack(cutis_arena *arena, const cutis_drivers *all, const cutis_driver *driver,
                 packed *out)
{
    const uint32_t n = 4 * driver->input_count;
    const float *linear = driver->coefficients, *product = linear + 6 * (size_t)n;
    lanes *to =
        cutis_arena_alloc(arena, cutis_driver_terms(driver->input_count) + 1, 2 * sizeof *to);
    bool used[4 * CUTIS_DRIVER_INPUTS];
    if (!to) return false;
    *out = (packed){ .node = driver->node, .terms = to };
    for (uint32_t i = 0; i < n; i++) {
        const float *range = all->ranges + 8 * (size_t)driver->inputs[i / 4] + i % 4;
        used[i] = range[0] != 0 || range[4] != 0;
        if (used[i])
            out->inputs[out->input_count++] = (uint16_t)(4 * driver->inputs[i / 4] + i % 4);
    }
    for (uint32_t i = 0; i < n; i++) {
        if (used[i])
            *to++ = three(linear + 6 * (size_t)i), *to++ = three(linear + 6 * (size_t)i + 3);
        for (uint32_t j = i; j < n; j++, product += 6)
            if (used[i] && used[j]) *to++ = three(product), *to++ = three(product + 3);
    }
    return true;
}

bool cutis_drive_create(cutis_model *model)
{
    const cutis_drivers *all = model->data.drivers;
    if (!all) return true;
    cutis_arena *arena = &model->arena;
    struct cutis_drive_table *table = cutis_arena_zero(arena, 1, sizeof *table);
    if (!table) return false;
    *table = (struct cutis_drive_table){ .joint_count = all->joint_count,
                                         .driver_count = all->driver_count,
                                         .joints = all->joints };
    table->ranges = (float *)all->ranges;
    table->rest = cutis_arena_alloc(arena, all->joint_count + (size_t)1, 4 * sizeof(float));
    table->drivers = cutis_arena_alloc(arena, all->driver_count, sizeof *table->drivers);
    if (!table->rest || !table->drivers) return false;
    for (uint32_t j = 0; j < all->joint_count; j++) {
        const cutis_quat q = model->rest[all->joints[j]].rotation;
        const double x = q.x, y = q.y, z = q.z, w = q.w;
        const double length = sqrt(x * x + y * y + z * z + w * w), by = length > 0 ? 1 / length : 0;
        float *to = table->rest + 4 * (size_t)j;
        to[0] = (float)(-x * by), to[1] = (float)(-y * by), to[2] = (float)(-z * by);
        to[3] = length > 0 ? (float)(w * by) : 1;
    }
    for (uint32_t d = 0; d < all->driver_count; d++)
        if (!pack(arena, all, &all->drivers[d], &table->drivers[d])) return false;
    model->drive = table;
    return true;
}

uint32_t cutis_drive_count(const cutis_model *model)
{
    return model->drive ? model->drive->driver_count : 0;
}

uint32_t cutis_drive_node(const cutis_model *model, uint32_t driver)
{
    return model->drive->drivers[driver].node;
}

void cutis_drive_read(const cutis_model *model, const cutis_transform *transforms,
                      cutis_drive_inputs *out)
{
    const struct cutis_drive_table *table = model->drive;
    for (uint32_t j = 0; j < table->joint_count; j++) {
        const float *a = table->rest + 4 * (size_t)j, *range = table->ranges + 8 * (size_t)j;
        const cutis_quat b = transforms[table->joints[j]].rotation;
        lanes q = { a[3] * b.x + a[0] * b.w + (a[1] * b.z - a[2] * b.y),
                    a[3] * b.y + a[1] * b.w + (a[2] * b.x - a[0] * b.z),
                    a[3] * b.z + a[2] * b.w + (a[0] * b.y - a[1] * b.x),
                    a[3] * b.w - (a[0] * b.x + a[1] * b.y + a[2] * b.z) };
        const float square = (q[0] * q[0] + q[1] * q[1]) + (q[2] * q[2] + q[3] * q[3]);
        const float by = square > 0 ? 1 / sqrtf(square) : 0;
        q *= lanes_all(q[3] < 0 ? -by : by);
        q[3] = square > 0 ? q[3] - 1 : 0; // no rotation at all counts as none
        const lanes low = lanes_load(range), high = lanes_load(range + 4);
        q = lanes_select(q < low, low, q);
        q = lanes_select(q > high, high, q);
        lanes_store(out->values[j], q);
    }
}

void cutis_drive_evaluate(const cutis_model *model, const cutis_drive_inputs *inputs,
                          uint32_t driver, cutis_transform *out)
{
    const packed *p = &model->drive->drivers[driver];
    const uint32_t n = p->input_count;
    lanes u[4 * CUTIS_DRIVER_INPUTS], r = lanes_all(0), d = lanes_all(0);
    for (uint32_t i = 0; i < n; i++)
        u[i] = lanes_all(inputs->values[p->inputs[i] / 4][p->inputs[i] % 4]);
    const lanes *at = p->terms;
    for (uint32_t i = 0; i < n; i++) { // u[i] times a sum: half the products
        lanes ri = at[0], di = at[1];
        at += 2;
        LANES_UNROLL
        for (uint32_t j = i; j < n; j++, at += 2) ri += u[j] * at[0], di += u[j] * at[1];
        r += u[i] * ri, d += u[i] * di;
    }
    const cutis_transform *rest = &model->rest[p->node];
    const double turn[3] = { r[0], r[1], r[2] };
    const double base[4] = { rest->rotation.w, rest->rotation.x, rest->rotation.y,
                             rest->rotation.z };
    double q[4];
    cutis_quat_exp(turn, q);
    double_quat_multiply(q, base, q);
    *out = *rest;
    out->rotation = (cutis_quat){ (float)q[1], (float)q[2], (float)q[3], (float)q[0] };
    out->translation.x += d[0], out->translation.y += d[1], out->translation.z += d[2];
}

void cutis_pose_drive(const cutis_model *model, cutis_drive drive, cutis_transform *transforms)
{
    if (!model || !transforms || !model->drive || drive == CUTIS_DRIVE_NONE) return;
    cutis_drive_inputs inputs;
    cutis_drive_read(model, transforms, &inputs);
    for (uint32_t d = 0; d < model->drive->driver_count; d++) {
        const uint32_t node = cutis_drive_node(model, d);
        if (drive == CUTIS_DRIVE_ALL || cutis_pose_rests(model, transforms, node))
            cutis_drive_evaluate(model, &inputs, d, &transforms[node]);
    }
}
