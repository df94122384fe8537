/// CUTIS_drivers (docs/formats/drivers.md): the root has the joints that are read, the nodes and
/// the weights of morph targets that are driven; ranges and coefficients are accessors of their own
/// bits. Invariant: sizes are compared with the accessors' before anything is allocated; values are
/// for the model's gate.
#include "io/gltf/parts.h"
#include "io/gltf/writer.h"

#include <stdlib.h>
#include <string.h>

#define NAME "CUTIS_drivers"

#define FAIL(...) return WRONG("CUTIS_EXTENSION_INVALID", __VA_ARGS__)

static size_t term_count(size_t inputs)
{
    const size_t n = 4 * inputs;
    return n + n * (n + 1) / 2;
}

static cutis_result read_node(const gltf_document *document, const json_t *json, const char *key,
                              size_t index, uint32_t *out)
{
    int64_t node = -1;
    if (!cutis_json_integer(json, &node) || node < 0 || node >= (int64_t)document->node_count)
        FAIL("/extensions/" NAME "/%s/%zu: no node of the file", key, index);
    *out = document->model_of_node[node];
    return CUTIS_OK;
}

// Places among the joints that are read.
static cutis_result read_inputs(const gltf_document *document, const json_t *json, const char *key,
                                size_t index, uint32_t joint_count, uint32_t *input_count,
                                uint32_t *out)
{
    const json_t *inputs = json_object_get(json, "inputs");
    const size_t count = json_array_size(inputs);
    if (!json_is_array(inputs) || count > CUTIS_DRIVER_INPUTS)
        FAIL("/extensions/" NAME "/%s/%zu/inputs: want at most %d joints", key, index,
             CUTIS_DRIVER_INPUTS);
    *input_count = (uint32_t)count;
    for (size_t i = 0; i < count; i++) {
        int64_t joint = -1;
        if (!cutis_json_integer(json_array_get(inputs, i), &joint) || joint < 0 ||
            joint >= (int64_t)joint_count)
            FAIL("/extensions/" NAME "/%s/%zu/inputs/%zu: there are %u joints", key, index, i,
                 joint_count);
        out[i] = (uint32_t)joint;
    }
    return CUTIS_OK;
}

// Nodes and inputs; coefficients are handed out one driver after the other.
static cutis_result read_driver(const gltf_document *document, const json_t *json, size_t index,
                                uint32_t joint_count, cutis_driver *out)
{
    const cutis_result result =
        read_node(document, json_object_get(json, "node"), "drivers", index, &out->node);
    return result != CUTIS_OK ? result
                              : read_inputs(document, json, "drivers", index, joint_count,
                                            &out->input_count, out->inputs);
}

static cutis_result read_weight(const gltf_document *document, const json_t *json, size_t index,
                                uint32_t joint_count, cutis_weight_driver *out)
{
    int64_t target = -1;
    const cutis_result result =
        read_node(document, json_object_get(json, "node"), "weights", index, &out->node);
    if (result != CUTIS_OK) return result;
    if (!cutis_json_integer(json_object_get(json, "target"), &target) || target < 0 ||
        target > INT32_MAX)
        FAIL("/extensions/" NAME "/weights/%zu/target: want the number of a morph target", index);
    out->target = (uint32_t)target;
    return read_inputs(document, json, "weights", index, joint_count, &out->input_count,
                       out->inputs);
}

// Floats of the accessor that a key names: `count` of them, or none if that is 0.
static cutis_result read_floats(gltf_document *document, const json_t *json, const char *key,
                                gltf_shape shape, size_t count, const float **out)
{
    if (count == 0) return CUTIS_OK;
    const int64_t at = cutis_gltf_accessor_of(document, json_object_get(json, key));
    const gltf_accessor *a = at < 0 ? NULL : &document->accessors[at];
    if (!a || a->shape != shape || a->component != GLTF_F32 || a->count != count)
        FAIL("/extensions/" NAME "/%s: want an accessor of %zu (%s, float)", key, count,
             shape == GLTF_VEC4 ? "VEC4" : "SCALAR");
    return cutis_gltf_new_floats(document, (uint32_t)at, out);
}

static int by_node(const void *a, const void *b)
{
    const cutis_weight_driver *x = a, *y = b;
    if (x->node != y->node) return x->node < y->node ? -1 : 1;
    return (x->target > y->target) - (x->target < y->target);
}

// Drivers of morph targets, in the model's order of nodes.
static cutis_result read_weights(gltf_document *document, const json_t *json, cutis_drivers *all)
{
    const json_t *list = json_object_get(json, "weights");
    const size_t count = json_array_size(list);
    if (!list) return CUTIS_OK;
    if (!json_is_array(list) || count == 0 || count > UINT32_MAX)
        FAIL("/extensions/" NAME "/weights: want at least one driver of a morph target");
    cutis_weight_driver *weights = cutis_arena_zero(&document->parts, count, sizeof *weights);
    if (!weights) return cutis_alloc_result(document->context);
    size_t total = 0;
    for (size_t d = 0; d < count; d++) {
        const cutis_result result =
            read_weight(document, json_array_get(list, d), d, all->joint_count, &weights[d]);
        if (result != CUTIS_OK) return result;
        total += term_count(weights[d].input_count);
    }
    const float *coefficients = NULL;
    const cutis_result result =
        read_floats(document, json, "weightCoefficients", GLTF_SCALAR, total, &coefficients);
    for (size_t d = 0; d < count && result == CUTIS_OK && coefficients; d++) {
        weights[d].coefficients = coefficients;
        coefficients += term_count(weights[d].input_count);
    }
    qsort(weights, count, sizeof *weights, by_node);
    all->weight_count = (uint32_t)count, all->weights = weights;
    return result;
}

cutis_result cutis_gltf_read_drivers(gltf_document *document)
{
    const json_t *json = cutis_gltf_extension(document->root, NAME);
    if (!json) return CUTIS_OK;
    const json_t *joints = json_object_get(json, "joints");
    const json_t *list = json_object_get(json, "drivers");
    const size_t joint_count = json_array_size(joints), driver_count = json_array_size(list);
    const bool other = json_object_get(json, "weights") && !list; // nothing but weights
    if (!json_is_array(joints) || (!other && (!json_is_array(list) || driver_count == 0)) ||
        joint_count > document->node_count || driver_count > document->node_count)
        FAIL("/extensions/" NAME ": needs joints and drivers, no more than there are nodes");
    cutis_drivers *all = cutis_arena_alloc(&document->parts, 1, sizeof *all);
    uint32_t *nodes = cutis_arena_alloc(&document->parts, joint_count + 1, sizeof *nodes);
    cutis_driver *drivers = cutis_arena_zero(&document->parts, driver_count + 1, sizeof *drivers);
    if (!all || !nodes || !drivers) return cutis_alloc_result(document->context);
    *all = (cutis_drivers){ .joint_count = (uint32_t)joint_count,
                            .joints = nodes,
                            .driver_count = (uint32_t)driver_count,
                            .drivers = drivers };
    cutis_result result = CUTIS_OK;
    size_t total = 0;
    for (size_t j = 0; j < joint_count && result == CUTIS_OK; j++)
        result = read_node(document, json_array_get(joints, j), "joints", j, &nodes[j]);
    for (size_t d = 0; d < driver_count && result == CUTIS_OK; d++) {
        result = read_driver(document, json_array_get(list, d), d, all->joint_count, &drivers[d]);
        total += 6 * term_count(drivers[d].input_count);
    }
    const float *coefficients = NULL;
    if (result == CUTIS_OK)
        result = read_floats(document, json, "ranges", GLTF_VEC4, 2 * joint_count, &all->ranges);
    if (result == CUTIS_OK)
        result = read_floats(document, json, "coefficients", GLTF_SCALAR, total, &coefficients);
    for (size_t d = 0; d < driver_count && result == CUTIS_OK && coefficients; d++) {
        drivers[d].coefficients = coefficients;
        coefficients += 6 * term_count(drivers[d].input_count);
    }
    if (result == CUTIS_OK) result = read_weights(document, json, all);
    document->data.drivers = all;
    return result;
}

static void write_coefficients(gltf_writer *writer, const cutis_drivers *all, json_t *json)
{
    size_t total = 0, at = 0;
    for (uint32_t d = 0; d < all->driver_count; d++)
        total += 6 * term_count(all->drivers[d].input_count);
    if (total == 0) return;
    float *values = cutis_alloc_array(writer->context, total, sizeof *values);
    if (!values) {
        writer->failed = true;
        return;
    }
    for (uint32_t d = 0; d < all->driver_count; d++) {
        const size_t count = 6 * term_count(all->drivers[d].input_count);
        if (count) memcpy(values + at, all->drivers[d].coefficients, count * sizeof *values);
        at += count;
    }
    cutis_gltf_set_numbers(writer, json, "coefficients", values, total, GLTF_SCALAR, GLTF_F32);
    cutis_free_array(writer->context, values, total, sizeof *values);
}

// One driver, but for what it drives.
static json_t *make_driver(gltf_writer *writer, uint32_t node, uint32_t count,
                           const uint32_t *inputs)
{
    json_t *one = json_object(), *list = json_array();
    for (uint32_t i = 0; i < count; i++) cutis_gltf_append(writer, list, json_integer(inputs[i]));
    cutis_gltf_set(writer, one, "node", json_integer(writer->node_of_model[node]));
    cutis_gltf_set(writer, one, "inputs", list);
    return one;
}

static void write_weights(gltf_writer *writer, const cutis_drivers *all, json_t *json)
{
    size_t total = 0, at = 0;
    json_t *list = json_array();
    for (uint32_t d = 0; d < all->weight_count; d++)
        total += term_count(all->weights[d].input_count);
    float *values = cutis_alloc_array(writer->context, total + 1, sizeof *values);
    if (!values) writer->failed = true;
    for (uint32_t d = 0; d < all->weight_count && values; d++) {
        const cutis_weight_driver *driver = &all->weights[d];
        const size_t count = term_count(driver->input_count);
        json_t *one = make_driver(writer, driver->node, driver->input_count, driver->inputs);
        cutis_gltf_set(writer, one, "target", json_integer(driver->target));
        cutis_gltf_append(writer, list, one);
        if (count) memcpy(values + at, driver->coefficients, count * sizeof *values);
        at += count;
    }
    if (total && values)
        cutis_gltf_set_numbers(writer, json, "weightCoefficients", values, total, GLTF_SCALAR,
                               GLTF_F32);
    cutis_free_array(writer->context, values, total + 1, sizeof *values);
    cutis_gltf_set(writer, json, "weights", list);
}

void cutis_gltf_write_drivers(gltf_writer *writer)
{
    const cutis_drivers *all = writer->data->drivers;
    if (!all) {
        cutis_gltf_root_extension(writer, NAME, NULL);
        return;
    }
    json_t *json = json_object(), *joints = json_array(), *list = json_array();
    for (uint32_t j = 0; j < all->joint_count; j++)
        cutis_gltf_append(writer, joints, json_integer(writer->node_of_model[all->joints[j]]));
    for (uint32_t d = 0; d < all->driver_count; d++) {
        const cutis_driver *driver = &all->drivers[d];
        cutis_gltf_append(writer, list,
                          make_driver(writer, driver->node, driver->input_count, driver->inputs));
    }
    cutis_gltf_set(writer, json, "joints", joints);
    if (all->joint_count)
        cutis_gltf_set_numbers(writer, json, "ranges", all->ranges, 2 * (size_t)all->joint_count,
                               GLTF_VEC4, GLTF_F32);
    write_coefficients(writer, all, json);
    if (all->driver_count)
        cutis_gltf_set(writer, json, "drivers", list);
    else
        json_decref(list);
    if (all->weight_count) write_weights(writer, all, json);
    cutis_gltf_root_extension(writer, NAME, json);
}
