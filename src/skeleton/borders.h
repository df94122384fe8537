/// Borders of parts: short, round, and in creases where there are some.
#ifndef CUTIS_SKELETON_BORDERS_H
#define CUTIS_SKELETON_BORDERS_H

#include "skeleton/closed.h"

/// Move the borders between parts to the cheapest cut near them (least sum of edges, those of
/// creases cheap). Parts stay where they were but for a band around their borders.
/// @param labels per face, below part_count
cutis_result cutis_borders_smooth(const cutis_closed *mesh, uint32_t *labels, uint32_t part_count);

#endif
