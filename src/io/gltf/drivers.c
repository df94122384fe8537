/// CUTIS_drivers (docs/formats/drivers.md): the root has the joints that are read and the nodes
/// that are driven; ranges and coefficients are accessors of their own bits. Invariant: sizes are
/// compared with the accessors' before anything is allocated; values are for the model's gate.
#include "io/gltf/parts.h"
#include "io/gltf/writer.h"

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

// Nodes and inputs; coefficients are handed out one driver after the other.
static cutis_result read_driver(const gltf_document *document, const json_t *json, size_t index,
                                uint32_t joint_count, cutis_driver *out)
{
    const json_t *inputs = json_object_get(json, "inputs");
    const size_t count = json_array_size(inputs);
    cutis_result result =
        read_node(document, json_object_get(json, "node"), "drivers", index, &out->node);
    if (result != CUTIS_OK) return result;
    if (!json_is_array(inputs) || count > CUTIS_DRIVER_INPUTS)
        FAIL("/extensions/" NAME "/drivers/%zu/inputs: want at most %d joints", index,
             CUTIS_DRIVER_INPUTS);
    out->input_count = (uint32_t)count;
    for (size_t i = 0; i < count; i++) {
        int64_t joint = -1;
        if (!cutis_json_integer(json_array_get(inputs, i), &joint) || joint < 0 ||
            joint >= (int64_t)joint_count)
            FAIL("/extensions/" NAME "/drivers/%zu/inputs/%zu: there are %u joints", index, i,
                 joint_count);
        out->inputs[i] = (uint32_t)joint;
    }
    return CUTIS_OK;
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

cutis_result cutis_gltf_read_drivers(gltf_document *document)
{
    const json_t *json = cutis_gltf_extension(document->root, NAME);
    if (!json) return CUTIS_OK;
    const json_t *joints = json_object_get(json, "joints");
    const json_t *list = json_object_get(json, "drivers");
    const size_t joint_count = json_array_size(joints), driver_count = json_array_size(list);
    if (!json_is_array(joints) || !json_is_array(list) || driver_count == 0 ||
        joint_count > document->node_count || driver_count > document->node_count)
        FAIL("/extensions/" NAME ": needs joints and drivers, no more than there are nodes");
    cutis_drivers *all = cutis_arena_alloc(&document->parts, 1, sizeof *all);
    uint32_t *nodes = cutis_arena_alloc(&document->parts, joint_count + 1, sizeof *nodes);
    cutis_driver *drivers = cutis_arena_zero(&document->parts, driver_count, sizeof *drivers);
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
        json_t *one = json_object(), *inputs = json_array();
        for (uint32_t i = 0; i < driver->input_count; i++)
            cutis_gltf_append(writer, inputs, json_integer(driver->inputs[i]));
        cutis_gltf_set(writer, one, "node", json_integer(writer->node_of_model[driver->node]));
        cutis_gltf_set(writer, one, "inputs", inputs);
        cutis_gltf_append(writer, list, one);
    }
    cutis_gltf_set(writer, json, "joints", joints);
    if (all->joint_count)
        cutis_gltf_set_numbers(writer, json, "ranges", all->ranges, 2 * (size_t)all->joint_count,
                               GLTF_VEC4, GLTF_F32);
    write_coefficients(writer, all, json);
    cutis_gltf_set(writer, json, "drivers", list);
    cutis_gltf_root_extension(writer, NAME, json);
}
