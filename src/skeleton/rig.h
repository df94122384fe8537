/// The animator's rig: where joints stand, where bones end, how frames are turned; curved leaves.
#ifndef CUTIS_SKELETON_RIG_H
#define CUTIS_SKELETON_RIG_H

#include "skeleton/parts.h"

/// Joints, tips of leaves and ends of bones.
/// @param distances vertex_count of scratch
cutis_result cutis_parts_rig(cutis_parts *parts, bool root_at_centroid, double *distances);

/// The frame of a part's joint: columns x y z in world space (row-major 3 x 3).
void cutis_piece_frame(const cutis_piece *part, bool world, double *frame);

/// Relabel curved leaves as chains of parts. @param split how many leaves were
cutis_result cutis_split_curved(cutis_parts *parts, cutis_labels *names, cutis_notes *notes,
                                double *distances, uint32_t *split);

/// Cut triangles so that joint loops lie in their planes where there is space.
/// @param done, skipped joints
cutis_result cutis_straighten(cutis_parts *parts, cutis_notes *notes, uint32_t *done,
                              uint32_t *skipped);

/// The new model: one mesh with a part tree, joints, ends, rigid weights (export.c).
/// @param notes what could not be kept of the input
cutis_result cutis_skeleton_model(const cutis_parts *parts, const cutis_model *model,
                                  const cutis_skeleton_options *options,
                                  const cutis_part_link *lines, uint32_t line_count, bool flipped,
                                  cutis_notes *notes, cutis_model **out);

#endif
