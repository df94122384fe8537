/// What a model looks like, carried onto a frame of its patches: materials, texture coordinates and
/// colours. Patches have new vertices in every frame, so this is done for every frame.
#ifndef CUTIS_CLI_PATCHES_LOOK_H
#define CUTIS_CLI_PATCHES_LOOK_H

#include "patches.h"

/// The triangles of a frame that have the material of one of the model's primitives.
typedef struct look_piece {
    uint32_t vertex_count, triangle_count;
    float *positions, *normals;
    float *texcoords, *colors; ///< NULL: the model's primitive has none
    uint32_t *indices, *labels;
    uint32_t *triangles; ///< of the frame
    int32_t material;
} look_piece;

/// A frame, in pieces: one for each primitive of the model; those without triangles are empty.
typedef struct patch_look {
    look_piece *pieces;
    uint32_t count;
} patch_look;

/// What is written in place of a frame that crosses itself.
typedef struct patch_outside {
    uint32_t piece_count, vertex_count, triangle_count;
    uint64_t crossing_count; ///< triangles that still cross: slivers that rounding left
    double volume;
} patch_outside;

/// The frame that `source` holds. A vertex on a seam of the texture becomes several. @return false:
/// out of memory, and nothing is left to release
bool patch_look_make(const patch_play *source, patch_look *out);
void patch_look_release(patch_look *look);
/// The outside of the frame that `source` holds alone, cut where it crosses itself (what a hand in
/// a thigh hides is gone); `look` is the frame's, and becomes the outside's. @param whole out: is
/// it closed, and the look changed?
int patch_look_unite(cli_app *app, const char *path, const patch_play *source, patch_look *look,
                     bool *whole, patch_outside *out);

#endif
