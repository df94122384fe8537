/// Visibility kernels, principal axes, boxes and the axis inside a part.
#ifndef CUTIS_SKELETON_AXES_H
#define CUTIS_SKELETON_AXES_H

#include "skeleton/hull.h"
#include "skeleton/parts.h"

/// Surface covariance of triangles (xx xy xz yy yz zz), exact whatever the tessellation.
void cutis_covariance(const double (*triangles)[3][3], uint32_t count, double *out);
/// Principal axes as rows, largest first, right-handed; the largest entry of e1 and e2 positive.
void cutis_principal_axes(const double *covariance, double *axes);

/// Centroid, star-shaped or not: fills radius, star_shaped, centroid.
cutis_result cutis_piece_centroid(cutis_parts *parts, uint32_t p);
/// Principal axes of the part's hull; fills axes.
cutis_result cutis_piece_axes(cutis_parts *parts, uint32_t p);
/// Box and axis segment for the axes the part has now.
cutis_result cutis_piece_box(cutis_parts *parts, uint32_t p);
/// The stretch of the line through the centroid along `direction` that is inside the part, ends
/// pulled in by 1 %.
cutis_result cutis_piece_chord(const cutis_parts *parts, uint32_t p, const double *direction,
                               double *from, double *to);

#endif
