/// What EXT_meshopt_compression and KHR_meshopt_compression pack views with, unpacked by our own
/// code: vertex codec 0 and 1, both index codecs, all filters. Streams come from files: whatever
/// they hold, only `count * stride` bytes are written and only `size` are read.
#ifndef CUTIS_IO_GLTF_MESHOPT_H
#define CUTIS_IO_GLTF_MESHOPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum gltf_meshopt_mode {
    MESHOPT_ATTRIBUTES,
    MESHOPT_TRIANGLES,
    MESHOPT_INDICES
} gltf_meshopt_mode;
typedef enum gltf_meshopt_filter {
    MESHOPT_NONE,
    MESHOPT_OCTAHEDRAL,
    MESHOPT_QUATERNION,
    MESHOPT_EXPONENTIAL,
    MESHOPT_COLOR
} gltf_meshopt_filter;

typedef struct gltf_meshopt {
    const uint8_t *data;
    size_t size, stride, count;
    gltf_meshopt_mode mode;
    gltf_meshopt_filter filter;
    bool plain; ///< without SIMD, which gives the same bytes
} gltf_meshopt;

/// Whether mode, filter, count and stride go together; the others ask for it.
bool cutis_gltf_meshopt_possible(const gltf_meshopt *packed);

/// @param out count * stride bytes @return false: the stream is broken, `out` holds anything
bool cutis_gltf_meshopt_decode(const gltf_meshopt *packed, uint8_t *out);

/// The parts (meshopt_index.c, meshopt_filter.c).
bool cutis_gltf_meshopt_triangles(const gltf_meshopt *packed, uint8_t *out);
bool cutis_gltf_meshopt_indices(const gltf_meshopt *packed, uint8_t *out);
void cutis_gltf_meshopt_filter(const gltf_meshopt *packed, uint8_t *data);

#endif
