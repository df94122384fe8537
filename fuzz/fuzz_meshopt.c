// Streams of meshopt: one byte of mode and filter, one of stride, two of count, then the stream.
// With and without SIMD they are decoded or refused alike, to the same bytes.
#include "target.h"

#include "base/memory.h"
#include "io/gltf/meshopt.h"

static void target(const uint8_t *data, size_t size)
{
    if (size < 4) return;
    gltf_meshopt packed = { .data = data + 4,
                            .size = size - 4,
                            .mode = (gltf_meshopt_mode)(data[0] % 3),
                            .filter = (gltf_meshopt_filter)(data[0] / 3 % 5),
                            .stride = data[1] ? data[1] : 256,
                            .count = (size_t)(data[2] | data[3] << 8) + 1 };
    if (!cutis_gltf_meshopt_possible(&packed)) return;
    const size_t bytes = packed.count * packed.stride;
    if (bytes > 65536) return; // as many blocks as there are kinds of them
    cutis_context *context = run_begin();
    uint8_t *first = cutis_alloc(context, bytes), *second = cutis_alloc(context, bytes);
    RUN_MUST(first && second);
    memset(first, 0, bytes);
    memset(second, 0, bytes);
    const bool decoded = cutis_gltf_meshopt_decode(&packed, first);
    packed.plain = true;
    RUN_MUST(cutis_gltf_meshopt_decode(&packed, second) == decoded);
    if (decoded) RUN_MUST(memcmp(first, second, bytes) == 0);
    cutis_free(context, first, bytes);
    cutis_free(context, second, bytes);
    run_end(context, CUTIS_OK);
}
