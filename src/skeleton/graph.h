/// The skeleton graph inside a part: joints grouped along its axis, link points, lines.
#ifndef CUTIS_SKELETON_GRAPH_H
#define CUTIS_SKELETON_GRAPH_H

#include "skeleton/parts.h"

/// Group points by their projections on the segment from `a` to `b` (dynamic programming over
/// Vasilakis and Fudos' criteria, docs/spec/skeleton.md A6).
/// @param groups n: group of each point, numbered along the segment
/// @param links  n: link point of each group
/// @return the number of groups; CUTIS_NOTHING: out of memory
uint32_t cutis_group_points(cutis_arena *arena, const double *a, const double *b,
                            const double (*points)[3], uint32_t n, uint32_t *groups,
                            double (*links)[3]);

/// Groups and link points of a part, for the axis it has now.
cutis_result cutis_piece_group(cutis_parts *parts, uint32_t p);

/// The lines of all parts, drawn by `method`; they live in the parts' arena.
cutis_result cutis_parts_lines(cutis_parts *parts, cutis_skeleton_method method,
                               cutis_part_link **out, uint32_t *count);

/// Turn axes (rows) by the least rotation that takes unit `from` towards unit `to`, by `angle`.
void cutis_turn_axes(double *axes, const double *from, const double *to, double angle);

/// Refine the axes of all parts; boxes and axis segments follow. @param bound radians
cutis_result cutis_parts_refine(cutis_parts *parts, cutis_skeleton_refine refine, double bound);

#endif
