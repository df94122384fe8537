/// What the reader and the writer of glTF say to the program cutis-draco, and what it answers:
/// 32-bit words in the machine's own order, and bytes padded to a multiple of 4.
///
/// Decoding: a draco_request; for each mesh a draco_stream, its draco_attributes, its bytes. The
/// answer for each mesh: a draco_status; where that is DRACO_OK, the attributes one after the
/// other, `stride` bytes a vertex, and the indices; else two words (draco_status says which), and
/// nothing more follows.
///
/// Encoding: a draco_request; for each mesh a draco_mesh, its draco_attributes, the attributes one
/// after the other, `stride` bytes a vertex, and the indices of 4 bytes. The answer for each mesh:
/// a draco_status; where that is DRACO_OK, a draco_encoded and the stream; else two words, and the
/// mesh stays as it is.
#ifndef CUTIS_IO_DRACO_PROTOCOL_H
#define CUTIS_IO_DRACO_PROTOCOL_H

#include <stdint.h>

enum { DRACO_DECODE = 0x31444443, DRACO_ENCODE = 0x31454443 };

typedef struct draco_request {
    uint32_t what; ///< DRACO_DECODE or DRACO_ENCODE
    uint32_t count;
} draco_request;

typedef struct draco_stream {
    uint32_t size, vertex_count, index_count, index_size, attribute_count;
} draco_stream;

typedef struct draco_attribute {
    uint32_t id;        ///< decoding: in the stream; encoding: a draco_kind
    uint32_t component; ///< as glTF numbers them
    uint32_t width, stride;
    uint32_t normalized, bits; ///< encoding; bits 0: exactly
} draco_attribute;

enum draco_kind { DRACO_POSITION, DRACO_NORMAL, DRACO_TEXCOORD, DRACO_COLOR, DRACO_OTHER };

typedef enum draco_status {
    DRACO_OK,
    DRACO_BROKEN,    ///< 0, 0
    DRACO_COUNTS,    ///< how many vertices and indices it holds
    DRACO_ATTRIBUTE, ///< the id that is not there, 0
    DRACO_FAILED,    ///< encoding: 0, 0
} draco_status;

typedef struct draco_mesh {
    uint32_t vertex_count, index_count, attribute_count;
    uint32_t ordered; ///< vertices and triangles stay where they are
} draco_mesh;

typedef struct draco_encoded {
    uint32_t size, vertex_count, index_count; ///< the order may be another, and so the counts
    float low[3], high[3];                    ///< of its first attribute, decoded
} draco_encoded;

static inline uint32_t draco_padded(uint64_t size)
{
    return (uint32_t)((size + 3) / 4 * 4);
}

#endif
