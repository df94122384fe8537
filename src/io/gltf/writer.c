/// The tools of writing: JSON properties, new accessors. Invariant: equal content gives one
/// accessor, so channels that share their times share their input, whatever the model's arrays are.
#include "io/gltf/writer.h"

#include <string.h>

json_t *cutis_gltf_collection(gltf_writer *writer, const char *name)
{
    json_t *array = json_object_get(writer->root, name);
    if (array) return array;
    array = json_array();
    cutis_gltf_set(writer, writer->root, name, array);
    return array;
}

json_t *cutis_gltf_member(gltf_writer *writer, json_t *object, const char *key)
{
    json_t *member = json_object_get(object, key);
    if (json_is_object(member)) return member;
    member = json_object();
    cutis_gltf_set(writer, object, key, member);
    return member;
}

void cutis_gltf_set(gltf_writer *writer, json_t *object, const char *key, json_t *value)
{
    if (json_object_set_new(object, key, value) != 0) writer->failed = true;
}

void cutis_gltf_set_index(gltf_writer *writer, json_t *object, const char *key, int32_t index)
{
    if (index == CUTIS_NONE) {
        json_object_del(object, key);
    } else if (cutis_gltf_index(object, key) != index) {
        cutis_gltf_set(writer, object, key, json_integer(index));
    }
}

void cutis_gltf_set_string(gltf_writer *writer, json_t *object, const char *key, const char *text)
{
    if (!text) {
        json_object_del(object, key);
    } else if (!cutis_gltf_same_text(cutis_gltf_string(object, key), text)) {
        cutis_gltf_set(writer, object, key, json_string(text));
    }
}

void cutis_gltf_append(gltf_writer *writer, json_t *array, json_t *value)
{
    if (json_array_append_new(array, value) != 0) writer->failed = true;
}

json_t *cutis_gltf_float_array(const float *values, size_t count)
{
    json_t *array = json_array();
    for (size_t i = 0; array && i < count; i++) {
        if (json_array_append_new(array, cutis_json_float(values[i])) != 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

bool cutis_gltf_same(const void *a, const void *b, size_t count, size_t item)
{
    if (!a || !b) return a == b;
    return memcmp(a, b, count * item) == 0;
}

bool cutis_gltf_same_text(const char *a, const char *b)
{
    if (!a || !b) return a == b;
    return strcmp(a, b) == 0;
}

void cutis_gltf_use_extension(gltf_writer *writer, const char *name)
{
    json_t *used = cutis_gltf_collection(writer, "extensionsUsed");
    if (cutis_gltf_find_text(used, name) < 0) cutis_gltf_append(writer, used, json_string(name));
}

static void push_containers(gltf_writer *writer, json_t *value, json_t ***stack, size_t *capacity,
                            size_t *depth)
{
    if (!json_is_object(value) && !json_is_array(value)) return;
    if (cutis_grow(writer->context, stack, capacity, *depth + 1, sizeof **stack))
        (*stack)[(*depth)++] = value;
    else
        writer->failed = true;
}

/// Does anything that is kept of the source use the extension? Free-form extras do not count.
static bool is_used(gltf_writer *writer, const char *name)
{
    json_t **stack = NULL;
    size_t capacity = 0, depth = 0, i;
    bool found = false;
    push_containers(writer, writer->root, &stack, &capacity, &depth);
    while (depth > 0 && !found && !writer->failed) {
        json_t *top = stack[--depth], *value;
        const char *key;
        json_object_foreach(top, key, value)
        {
            if (strcmp(key, "extras") == 0) continue;
            found |= strcmp(key, "extensions") == 0 && json_object_get(value, name);
            push_containers(writer, value, &stack, &capacity, &depth);
        }
        json_array_foreach(top, i, value) push_containers(writer, value, &stack, &capacity, &depth);
    }
    cutis_free_array(writer->context, stack, capacity, sizeof *stack);
    return found;
}

void cutis_gltf_drop_extension(gltf_writer *writer, const char *name)
{
    static const char *const LISTS[] = { "extensionsUsed", "extensionsRequired" };
    bool listed = false;
    for (int i = 0; i < 2; i++)
        listed |= cutis_gltf_find_text(json_object_get(writer->root, LISTS[i]), name) >= 0;
    if (!listed) return;
    if (is_used(writer, name)) return; // by a primitive, say, that no reader of ours looks at
    for (int i = 0; i < 2; i++) {
        json_t *list = json_object_get(writer->root, LISTS[i]);
        int index = cutis_gltf_find_text(list, name);
        if (index >= 0) json_array_remove(list, (size_t)index);
        if (list && json_array_size(list) == 0) json_object_del(writer->root, LISTS[i]);
    }
}

static uint32_t width_of(gltf_shape shape)
{
    static const uint8_t WIDTHS[] = { 1, 2, 3, 4, 4, 9, 16 };
    return WIDTHS[shape];
}

static size_t size_of(const gltf_array *array)
{
    return (size_t)array->count * width_of(array->shape) *
           cutis_gltf_component_size(array->component);
}

/// FNV-1a; only to find candidates quickly, the content decides.
static uint64_t hash_bytes(const uint8_t *bytes, size_t size)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < size; i++) hash = (hash ^ bytes[i]) * UINT64_C(1099511628211);
    return hash;
}

static bool same_kind(const gltf_array *a, const gltf_array *b)
{
    return a->count == b->count && a->shape == b->shape && a->component == b->component &&
           a->normalized == b->normalized && a->target == b->target && a->bounds == b->bounds;
}

static json_t *bounds_of(gltf_writer *writer, const gltf_array *array, bool greatest)
{
    const float *values = array->data;
    uint32_t width = width_of(array->shape);
    json_t *list = json_array();
    for (uint32_t k = 0; k < width; k++) {
        float found = values[k];
        for (size_t i = 1; i < array->count; i++) {
            float value = values[i * width + k];
            if (greatest ? value > found : value < found) found = value;
        }
        // In full: a reader that does not round to float must find the very value.
        cutis_gltf_append(writer, list, json_real((double)found + 0.0));
    }
    return list;
}

/// Vertices, indices and inverse binds have views of their own, one for each accessor; keys and
/// labels share one.
static bool stands_alone(const gltf_array *array)
{
    return array->target || array->shape == GLTF_MAT4;
}

/// The view for a new accessor, and its offset there.
static int32_t place_array(gltf_writer *writer, const gltf_array *array, size_t size,
                           size_t *offset, size_t *byte_offset)
{
    json_t *views = cutis_gltf_collection(writer, "bufferViews");
    cutis_bytes *bytes = stands_alone(array) ? &writer->bytes : &writer->other;
    cutis_bytes_pad(bytes, 4, 0);
    *offset = bytes->size;
    cutis_bytes_append(bytes, array->data, size);
    if (!stands_alone(array)) {
        *byte_offset = *offset;
        if (writer->other_view == CUTIS_NONE) {
            writer->other_view = (int32_t)json_array_size(views);
            cutis_gltf_append(writer, views, json_object());
        }
        return writer->other_view;
    }
    json_t *view = json_object();
    *byte_offset = 0;
    cutis_gltf_set(writer, view, "buffer", json_integer(0));
    cutis_gltf_set(writer, view, "byteOffset", json_integer((json_int_t)*offset));
    cutis_gltf_set(writer, view, "byteLength", json_integer((json_int_t)size));
    if (array->target) cutis_gltf_set(writer, view, "target", json_integer(array->target));
    cutis_gltf_append(writer, views, view);
    return (int32_t)json_array_size(views) - 1;
}

static json_t *new_accessor(gltf_writer *writer, const gltf_array *array, int32_t view,
                            size_t byte_offset)
{
    json_t *json = json_object();
    cutis_gltf_set(writer, json, "bufferView", json_integer(view));
    if (byte_offset)
        cutis_gltf_set(writer, json, "byteOffset", json_integer((json_int_t)byte_offset));
    cutis_gltf_set(writer, json, "componentType", json_integer(array->component));
    if (array->normalized) cutis_gltf_set(writer, json, "normalized", json_true());
    cutis_gltf_set(writer, json, "count", json_integer(array->count));
    cutis_gltf_set(writer, json, "type", json_string(CUTIS_GLTF_SHAPES[array->shape]));
    if (array->bounds) {
        cutis_gltf_set(writer, json, "min", bounds_of(writer, array, false));
        cutis_gltf_set(writer, json, "max", bounds_of(writer, array, true));
    }
    return json;
}

uint32_t cutis_gltf_add_array(gltf_writer *writer, const gltf_array *array)
{
    if (writer->failed) return 0;
    size_t size = size_of(array), offset, byte_offset;
    uint64_t hash = hash_bytes(array->data, size);
    cutis_bytes *bytes = stands_alone(array) ? &writer->bytes : &writer->other;
    for (size_t i = 0; i < writer->written_count; i++) {
        const gltf_written *w = &writer->written[i];
        if (w->hash == hash && w->size == size && same_kind(&w->array, array) &&
            memcmp(bytes->data + w->offset, array->data, size) == 0)
            return w->accessor;
    }
    if (!cutis_grow(writer->context, &writer->written, &writer->written_capacity,
                    writer->written_count + 1, sizeof *writer->written)) {
        writer->failed = true;
        return 0;
    }
    json_t *accessors = cutis_gltf_collection(writer, "accessors");
    int32_t view = place_array(writer, array, size, &offset, &byte_offset);
    if (bytes->failed) {
        writer->failed = true;
        return 0;
    }
    cutis_gltf_append(writer, accessors, new_accessor(writer, array, view, byte_offset));
    uint32_t index = (uint32_t)json_array_size(accessors) - 1;
    writer->written[writer->written_count++] = (gltf_written){
        .hash = hash, .offset = offset, .size = size, .accessor = index, .array = *array
    };
    return index;
}

void cutis_gltf_set_array(gltf_writer *writer, json_t *object, const char *key,
                          const gltf_array *array)
{
    cutis_gltf_set(writer, object, key, json_integer(cutis_gltf_add_array(writer, array)));
}

void cutis_gltf_set_numbers(gltf_writer *writer, json_t *object, const char *key, const void *data,
                            size_t count, gltf_shape shape, uint32_t component)
{
    cutis_gltf_set_array(
        writer, object, key,
        &(gltf_array){
            .data = data, .count = (uint32_t)count, .shape = shape, .component = component });
}

uint32_t cutis_gltf_add_integers(gltf_writer *writer, const uint32_t *values, uint32_t count,
                                 size_t size, uint32_t target)
{
    uint8_t *narrow = cutis_alloc_array(writer->context, count, size);
    if (!narrow) {
        writer->failed = true;
        return 0;
    }
    for (size_t i = 0; i < count; i++) {
        uint16_t half = (uint16_t)values[i];
        if (size == 1) narrow[i] = (uint8_t)values[i];
        if (size == 2) memcpy(narrow + 2 * i, &half, 2);
        if (size == 4) memcpy(narrow + 4 * i, &values[i], 4);
    }
    uint32_t accessor =
        cutis_gltf_add_array(writer, &(gltf_array){ .data = narrow,
                                                    .count = count,
                                                    .shape = GLTF_SCALAR,
                                                    .component = size == 1   ? GLTF_U8
                                                                 : size == 2 ? GLTF_U16
                                                                             : GLTF_U32,
                                                    .target = target });
    cutis_free_array(writer->context, narrow, count, size);
    return accessor;
}

void cutis_gltf_place_extension(gltf_writer *writer, json_t *object, const char *name,
                                json_t *value)
{
    if (value) {
        cutis_gltf_set(writer, cutis_gltf_member(writer, object, "extensions"), name, value);
        return;
    }
    json_t *extensions = json_object_get(object, "extensions");
    json_object_del(extensions, name);
    if (extensions && json_object_size(extensions) == 0) json_object_del(object, "extensions");
}

void cutis_gltf_root_extension(gltf_writer *writer, const char *name, json_t *value)
{
    cutis_gltf_place_extension(writer, writer->root, name, value);
    if (value)
        cutis_gltf_use_extension(writer, name);
    else
        cutis_gltf_drop_extension(writer, name);
}
