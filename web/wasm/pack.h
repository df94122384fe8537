/// Models as one run of 32-bit words: how they travel between the page, its worker and the engine.
///
/// Both directions follow the same order of fields (meshes, nodes, skins, clips, materials, pose
/// space); web/src/pack.js is the same in JavaScript. An array is its count, then its values; a
/// string its bytes' count (or NONE), then its bytes with a zero, padded to whole words.
#ifndef STUDIO_PACK_H
#define STUDIO_PACK_H

#include <cutis/cutis.h>

#define PACK_MAGIC 0x31505543u // "CUP1"

typedef struct pack_words {
    uint32_t *words; ///< malloc; the caller frees it
    uint32_t count;
} pack_words;

/// @return CUTIS_OK, CUTIS_OUT_OF_MEMORY
cutis_result pack_write(const cutis_model *model, pack_words *out);

/// @return what cutis_model_create says, CUTIS_CORRUPT_DATA (counts lead past the end),
/// CUTIS_OUT_OF_MEMORY
cutis_result pack_read(cutis_context *context, const uint32_t *words, uint32_t count,
                       cutis_model **out);

#endif
