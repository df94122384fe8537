// The gate for drivers. Invariant: no driver reads a driven node, so that they can be evaluated in
// any order and there is no cycle.
#include "model/drivers.h"

#include <math.h>

#include "base/error.h"
#include "model/pose_space.h"
#include "model/validate.h"

// Sums of terms with such coefficients are finite.
static const float MOST = 1e30f;

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

// Joints and coefficients of one driver.
static cutis_result check_function(cutis_context *context, const cutis_model_data *data,
                                   const char *list, uint32_t d, uint32_t input_count,
                                   const uint32_t *inputs, size_t count, const float *coefficients)
{
    const uint32_t joints = data->drivers->joint_count;
    if (input_count > CUTIS_DRIVER_INPUTS)
        FAIL("%s/%u: %u inputs, %d are the most", list, d, input_count, CUTIS_DRIVER_INPUTS);
    for (uint32_t i = 0; i < input_count; i++) {
        if (inputs[i] >= joints)
            FAIL("%s/%u: input %u is joint %u of %u", list, d, i, inputs[i], joints);
        for (uint32_t k = 0; k < i; k++)
            if (inputs[k] == inputs[i])
                FAIL("%s/%u: joint %u is an input twice", list, d, inputs[i]);
    }
    if (count && !coefficients) FAIL("%s/%u: coefficients are missing", list, d);
    for (size_t i = 0; i < count; i++)
        if (!(fabsf(coefficients[i]) <= MOST))
            FAIL("%s/%u: coefficient %zu is %g", list, d, i, (double)coefficients[i]);
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
    return check_function(context, data, "drivers", d, driver->input_count, driver->inputs,
                          6 * cutis_driver_terms(driver->input_count), driver->coefficients);
}

// Weights stand in order, so that none is driven twice.
static cutis_result check_weight(cutis_context *context, const cutis_model_data *data, uint32_t d)
{
    const cutis_weight_driver *driver = &data->drivers->weights[d];
    const cutis_weight_driver *before = d > 0 ? driver - 1 : driver;
    const cutis_pose_space *space = data->pose_space;
    if (driver->node >= data->node_count || data->nodes[driver->node].mesh == CUTIS_NONE)
        FAIL("weight drivers/%u: node %u shows no mesh", d, driver->node);
    const uint32_t mesh = (uint32_t)data->nodes[driver->node].mesh;
    const uint32_t targets = data->meshes[mesh].target_count;
    if (driver->target >= targets)
        FAIL("weight drivers/%u: target is %u, the mesh has %u", d, driver->target, targets);
    if (d > 0 && (before->node > driver->node ||
                  (before->node == driver->node && before->target >= driver->target)))
        FAIL("weight drivers/%u: target %u of node %u is driven already, or out of order", d,
             driver->target, driver->node);
    if (space && space->targets[mesh] != CUTIS_NONE &&
        driver->target >= (uint32_t)space->targets[mesh] &&
        driver->target - (uint32_t)space->targets[mesh] < cutis_pose_targets(space))
        FAIL("weight drivers/%u: target %u is one of the pose space", d, driver->target);
    return check_function(context, data, "weight drivers", d, driver->input_count, driver->inputs,
                          cutis_driver_terms(driver->input_count), driver->coefficients);
}

static cutis_result check_all(cutis_context *context, const cutis_model_data *data, uint8_t *used)
{
    TRY(check_joints(context, data, used));
    for (uint32_t d = 0; d < data->drivers->driver_count; d++)
        TRY(check_driver(context, data, d, used));
    for (uint32_t d = 0; d < data->drivers->weight_count; d++) TRY(check_weight(context, data, d));
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
    if ((all->driver_count == 0 && all->weight_count == 0) ||
        (all->driver_count && !all->drivers) || (all->weight_count && !all->weights))
        FAIL("drivers: there are none");
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
