/// What frames of bands need beside the bands themselves: joints by rank, and of a whole body, all
/// of whose joints bend in bands, the vertices and triangles that all its frames have.
///
/// Invariant: a whole body's vertices are those of its parts in order, less the children's copies
/// of loops, and its triangles those of its parts in order: the order in which patches would draw
/// it.
#include <string.h>

#include "base/error.h"
#include "deform/patches_pack.h"

// Array of the body, to be filled.
#define FILL(pack, name)                                                                           \
    ((void *)((pack)->body + PATCH_UNIT * (size_t)(pack)->arguments.at.body_##name))

bool cutis_patch_bands_whole(const patch_body *body, const patch_bands *bands)
{
    bool whole = body->loop_count > 0;
    for (uint32_t j = 0; j < body->loop_count; j++) whole = whole && bands->joints[j].there;
    return whole;
}

// Joints that have bands, rank after rank.
static cutis_result list_ranks(const patch_body *body, const patch_bands *bands, patch_pack *pack)
{
    int *list = FILL(pack, rank_joint);
    uint32_t *first = cutis_arena_zero(body->arena, bands->rank_count + (size_t)1, sizeof *first);
    uint32_t count = 0;
    if (!first) return cutis_alloc_result(body->context);
    for (uint32_t rank = 0; rank < bands->rank_count; rank++) {
        first[rank] = count;
        for (uint32_t j = 0; j < body->loop_count; j++)
            if (bands->joints[j].there && bands->joints[j].rank == (int)rank)
                list[count++] = (int)j;
    }
    first[bands->rank_count] = count;
    pack->rank_count = count > 0 ? bands->rank_count : 0;
    pack->rank_first = first;
    return CUTIS_OK;
}

static void number_vertices(const patch_body *body, const patch_pieces *parts, patch_pack *pack)
{
    int *out = FILL(pack, whole_vertex), *faces = FILL(pack, whole_face), count = 0;
    memset(out, 0, parts->vertex_count * sizeof *out);
    for (uint32_t i = 0; i < body->loop_count; i++) {
        const uint32_t *copies = parts->loop_copies + 2 * (size_t)body->loops[i].first;
        for (uint32_t k = 0; k < body->loops[i].count; k++)
            out[copies[2 * k + 1]] = -1 - (int)copies[2 * k];
    }
    for (uint32_t v = 0; v < parts->vertex_count; v++)
        if (out[v] == 0) out[v] = count++;
    for (size_t i = 0; i < 3 * (size_t)body->face_count; i++) {
        const uint32_t v = parts->faces[i];
        faces[i] = out[v] < 0 ? out[-1 - out[v]] : out[v];
    }
    pack->arguments.whole_count = count;
}

cutis_result cutis_patch_pack_whole(const patch_body *body, const patch_pieces *parts,
                                    const patch_bands *bands, patch_pack *pack)
{
    TRY(list_ranks(body, bands, pack));
    if (pack->arguments.whole) number_vertices(body, parts, pack);
    return CUTIS_OK;
}
