/// Compressing a document that is written: after its one buffer is laid out, and before it goes to
/// the file.
#ifndef CUTIS_IO_GLTF_COMPRESS_H
#define CUTIS_IO_GLTF_COMPRESS_H

#include "io/gltf/writer.h"

typedef enum gltf_role {
    GLTF_OTHER, ///< no part of a mesh
    GLTF_ATTRIBUTE,
    GLTF_POSITION,
    GLTF_DIRECTION, ///< a normal or tangent
    GLTF_TEXCOORD,
    GLTF_TRIANGLES, ///< indices of triangles alone
    GLTF_INDICES,
} gltf_role;

/// An accessor: where its elements stand in the writer's buffer, and what they are.
typedef struct gltf_item {
    const uint8_t *data; ///< NULL: not in the buffer, sparse or of an unknown type; it stays
    size_t stride;       ///< from element to element
    uint32_t count, component, width;
    uint32_t size; ///< of an element
    gltf_role role;
    double step;     ///< of its values; 0: they stay exactly
    double diagonal; ///< positions: of their mesh
    bool gone;       ///< it needs no view any more
} gltf_item;

typedef struct gltf_packer {
    gltf_writer *writer;
    gltf_item *items; ///< of the accessors there were at first
    size_t item_count;
    cutis_bytes file;       ///< the new buffer
    json_t *views;          ///< its views
    size_t plain;           ///< bytes of the buffer that stands for what meshopt unpacks
    double error, relative; ///< of positions so far: distance, and in diagonals of their mesh
} gltf_packer;

/// Compress the writer's document as its options ask. What cannot be stays plain.
cutis_result cutis_gltf_compress(gltf_writer *writer, const char *path);

/// The elements one after the other, `stride` bytes each (at least their size, zeros between).
void cutis_gltf_gather(const gltf_item *item, size_t stride, uint8_t *out);
/// Put bytes at the end of the new buffer; their offset.
size_t cutis_gltf_pack_bytes(gltf_packer *packer, const void *data, size_t size);
void cutis_gltf_note_error(gltf_packer *packer, const gltf_item *item, double error);

/// The views that are still referred to when the items that are gone have let go of theirs.
void cutis_gltf_rebuild_views(gltf_packer *packer);
void cutis_gltf_require_extension(gltf_writer *writer, const char *name);

/// Every item into a view of its own (compress_meshopt.c).
void cutis_gltf_pack_meshopt(gltf_packer *packer);
/// Primitives to streams; their items are gone afterwards (compress_draco.c).
cutis_result cutis_gltf_pack_draco(gltf_packer *packer, const char *path);

#endif
