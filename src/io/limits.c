// What a player can play: by name, or from a file {"joints": 256, "influences": 4, "morphs": 8,
// "weights": ["u8", "u16"]}. Invariant: on any error the caller's limits are as they were.
#include "io/format.h"
#include "io/json.h"

#include <string.h>

#include "base/error.h"

static const struct player {
    const char *name;
    cutis_player_limits limits;
} PLAYERS[] = {
    // One set of weights and eight morphed attributes are what every client has to play.
    { "gltf", { .influences = 4, .morphs = 8 } },
    // The loader takes the first set; joints and targets are in textures of any size.
    { "three", { .influences = 4 } },
};

static cutis_result take_count(const cutis_input *input, const char *key, const json_t *value,
                               uint32_t *out)
{
    int64_t number;
    if (!cutis_json_integer(value, &number) || number < 1 || number > UINT16_MAX)
        return cutis_fail(input->context, CUTIS_CORRUPT_DATA,
                          "%s: /%s: must be a whole number, 1 to 65535", input->name, key);
    *out = (uint32_t)number;
    return CUTIS_OK;
}

static cutis_result take_weights(const cutis_input *input, const json_t *value, uint32_t *out)
{
    static const char *const NAMES[] = { "float", "u16", "u8" };
    size_t index;
    json_t *entry;
    *out = 0;
    json_array_foreach(value, index, entry)
    {
        const char *name = json_string_value(entry);
        uint32_t format = 0;
        while (format < 3 && (!name || strcmp(name, NAMES[format]) != 0)) format++;
        if (format == 3) break;
        *out |= 1u << format;
    }
    if (json_is_array(value) && index > 0 && index == json_array_size(value)) return CUTIS_OK;
    return cutis_fail(input->context, CUTIS_CORRUPT_DATA,
                      "%s: /weights: must be a list of \"float\", \"u16\", \"u8\"", input->name);
}

static cutis_result take_keys(const cutis_input *input, json_t *root, cutis_player_limits *out)
{
    const char *key;
    json_t *value;
    if (!json_is_object(root))
        return cutis_fail(input->context, CUTIS_CORRUPT_DATA, "%s: must be an object", input->name);
    json_object_foreach(root, key, value)
    {
        cutis_result result;
        if (strcmp(key, "joints") == 0)
            result = take_count(input, key, value, &out->joints);
        else if (strcmp(key, "influences") == 0)
            result = take_count(input, key, value, &out->influences);
        else if (strcmp(key, "morphs") == 0)
            result = take_count(input, key, value, &out->morphs);
        else if (strcmp(key, "weights") == 0)
            result = take_weights(input, value, &out->weights);
        else
            result = cutis_fail(input->context, CUTIS_CORRUPT_DATA,
                                "%s: /%s: known are joints, influences, morphs, weights",
                                input->name, key);
        if (result != CUTIS_OK) return result;
    }
    return CUTIS_OK;
}

cutis_result cutis_limits_parse(const cutis_input *input, cutis_player_limits *out)
{
    cutis_json json;
    cutis_player_limits limits = { 0 };
    cutis_result result =
        cutis_json_parse(input->context, input->name, input->data, input->size, &json);
    if (result != CUTIS_OK) return result;
    result = take_keys(input, json.root, &limits);
    cutis_json_release(input->context, &json);
    if (result == CUTIS_OK) *out = limits;
    return result;
}

cutis_result cutis_player_limits_read(cutis_context *context, const char *player,
                                      cutis_player_limits *out)
{
    if (!context || !player || !out) return CUTIS_INVALID_ARGUMENT;
    for (size_t i = 0; i < sizeof PLAYERS / sizeof *PLAYERS; i++) {
        if (strcmp(player, PLAYERS[i].name) != 0) continue;
        *out = PLAYERS[i].limits;
        return CUTIS_OK;
    }
    cutis_input input;
    cutis_result result = cutis_input_open(context, player, NULL, &input);
    if (result == CUTIS_OK) result = cutis_limits_parse(&input, out);
    cutis_input_close(&input);
    return result;
}
