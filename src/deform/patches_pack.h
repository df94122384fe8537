/// The buffer of a bound body (kernel/patches_fields.h), made on the host, and what kernels are
/// told of it.
#ifndef CUTIS_DEFORM_PATCHES_PACK_H
#define CUTIS_DEFORM_PATCHES_PACK_H

#include "deform/patches.h"
#include "device/compute/patches.h"

typedef struct patch_pack {
    char *body;
    unsigned body_units;
    uint64_t counts[PATCH_COUNTS];
    patch_arguments arguments; ///< without the capacities of outputs
    uint32_t rank_count;       ///< of joints whose bands overlap
    uint32_t *rank_first;      ///< per rank and one more, in the body's arena
} patch_pack;

/// A vertex in the band of a joint: what it takes of that joint's bend.
typedef struct patch_item {
    uint32_t joint, vertex, side; ///< side: its part's, 1 the child's
    double share;                 ///< 1: beside the band
    pvec slope;                   ///< the gradient of the share
} patch_item;

/// What a joint does to a vertex: its place, PATCH_MOVE_..., the share and its gradient.
typedef struct patch_band_move {
    int vertex, kind;
    double share;
    pvec slope;
} patch_band_move;

/// The bands of all joints. Items and faces are in the order of the joints.
typedef struct patch_bands {
    patch_item *items;
    int *corners; ///< 3 per face that a joint moves: vertices
    size_t item_count, item_room, face_count, corner_room;
    uint32_t *face_first; ///< per joint, + 1
    patch_band *joints;
    int32_t *tree;          ///< per part: the joint whose child it is, or -1
    uint32_t *loop_counts;  ///< per part
    patch_band_move *moves; ///< what joints do to vertices, in the order of the joints
    uint32_t *move_first;
    uint32_t move_count, rank_count;
    uint32_t lift_count, rank_most; ///< moves and joints of a rank, at most
    int *bands;                     ///< per vertex: PATCH_BAND_..., or 1 + its place in mixed_part
    int *mixed_part, *mixed_undo;   ///< of vertices that several joints bend
    int *undo;                      ///< joints on the ways back to their parts
    uint32_t mixed_count, undo_count;
} patch_bands;

/// @param box 1: the paper's removal; @param fill patch_fill_kind; @param band joints bend softly.
/// The body lies in its arena.
cutis_result cutis_patch_pack_make(const patch_body *body, const patch_pieces *parts, int box,
                                   int fill, bool band, patch_pack *out);

// patches_rest.c
/// What the rest topology needs (body_place, body_rest_vertex), when all else is filled.
cutis_result cutis_patch_pack_rest(const patch_body *body, const patch_pieces *parts,
                                   const patch_pack *pack);

/// Plane of a loop by least squares, its normal towards the child, and its shorter half axis.
void cutis_patch_loop_plane(const patch_body *body, uint32_t joint, double *normal, double *width);

// patches_share.c
/// Shares of all joints; not `wanted`: none. Released whether that worked or not.
cutis_result cutis_patch_bands_make(const patch_body *body, const patch_pieces *parts, bool wanted,
                                    patch_bands *out);
void cutis_patch_bands_release(const patch_body *body, patch_bands *bands);

// patches_band.c
/// The turns of vertices that several joints bend.
cutis_result cutis_patch_bands_turn(const patch_body *body, const patch_pieces *parts,
                                    patch_bands *bands);
void cutis_patch_pack_bands(const patch_body *body, const patch_pieces *parts,
                            const patch_bands *bands, const patch_pack *pack);

// patches_whole.c
/// Do all joints bend in bands? Then no frame cuts anything.
bool cutis_patch_bands_whole(const patch_body *body, const patch_bands *bands);
/// Joints by rank; of a whole body the vertices and faces of all its frames.
cutis_result cutis_patch_pack_whole(const patch_body *body, const patch_pieces *parts,
                                    const patch_bands *bands, patch_pack *pack);

// patches_places.c: where the arrays of kernel/patches_fields.h lie in the two buffers of a body
/// A row of the tables, as numbers.
typedef struct patch_field {
    const char *name;
    uint32_t size;       ///< bytes of an element, all of its `width`
    uint32_t count;      ///< patch_count: what there are elements of
    uint32_t from, last; ///< patch_step: when it lives; of a body: always
    size_t place;        ///< its offset in patch_places
} patch_field;

/// @param work the fields of an instance's work; else those of the body
const patch_field *cutis_patch_fields(bool work, uint32_t *count);

/// Give every field a place: those that live at the same time do not overlap.
/// @param counts PATCH_COUNTS; @param whole see patch_arguments: what only patches need has no
///     place; @param units out: size of the buffer (work: of an instance)
/// @return false: more than the places can say
bool cutis_patch_places(bool work, const uint64_t *counts, bool whole, patch_places *places,
                        unsigned *units);

/// Units of PATCH_UNIT bytes that a field takes.
uint64_t cutis_patch_field_units(const patch_field *field, const uint64_t *counts, bool whole);

#endif
