/// Hand-made GLB files: JSON text and bytes put together in memory.
#ifndef CUTIS_TESTS_GLTF_MAKE_H
#define CUTIS_TESTS_GLTF_MAKE_H

#include "support.h"

typedef struct glb {
    uint8_t bytes[1 << 20];
    size_t size;
} glb;

static inline void put_word(uint8_t *at, size_t value)
{
    for (int i = 0; i < 4; i++) at[i] = (uint8_t)(value >> (8 * i));
}

/// `asset` is added in front of `json` (which starts after its opening brace).
static inline void make_glb(glb *out, const char *json, const void *bin, size_t bin_size)
{
    static const char HEAD[] = "{\"asset\":{\"version\":\"2.0\"},";
    size_t length = strlen(HEAD) + strlen(json), padded = (length + 3) / 4 * 4;
    size_t bin_padded = (bin_size + 3) / 4 * 4;
    assert_true(28 + padded + bin_padded <= sizeof out->bytes);
    memset(out->bytes, ' ', 20 + padded);
    memcpy(out->bytes, "glTF", 4);
    put_word(out->bytes + 4, 2);
    put_word(out->bytes + 12, padded);
    memcpy(out->bytes + 16, "JSON", 4);
    memcpy(out->bytes + 20, HEAD, strlen(HEAD));
    memcpy(out->bytes + 20 + strlen(HEAD), json, strlen(json));
    out->size = 20 + padded;
    if (bin_size) {
        put_word(out->bytes + out->size, bin_padded);
        memcpy(out->bytes + out->size + 4, "BIN\0", 4);
        memset(out->bytes + out->size + 8, 0, bin_padded);
        memcpy(out->bytes + out->size + 8, bin, bin_size);
        out->size += 8 + bin_padded;
    }
    put_word(out->bytes + 8, out->size);
}

static inline cutis_result read_glb(cutis_context *context, const glb *file, cutis_model **out)
{
    return cutis_model_read_memory(context, file->bytes, file->size, "made.glb", KEEP_SOURCE, out);
}

/// Read what must be readable.
static inline cutis_model *read_made(cutis_context *context, const char *json, const void *bin,
                                     size_t bin_size)
{
    static glb file;
    cutis_model *model = NULL;
    make_glb(&file, json, bin, bin_size);
    assert_ok(context, read_glb(context, &file, &model));
    return model;
}

/// Read what must be refused with `result` and an error that contains `text`.
static inline void refuse_made(cutis_context *context, const char *json, const void *bin,
                               size_t bin_size, cutis_result result, const char *text)
{
    static glb file;
    cutis_model *model = NULL;
    make_glb(&file, json, bin, bin_size);
    cutis_result found = read_glb(context, &file, &model);
    if (found != result || !strstr(cutis_context_error(context), text))
        fail_msg("wanted %s with \"%s\", got %s: %s", cutis_result_name(result), text,
                 cutis_result_name(found), found ? cutis_context_error(context) : "no error");
    cutis_model_destroy(model);
}

#endif
