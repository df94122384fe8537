/// Exact signs for points with float coordinates: on which side of a plane or a line a point lies.
#ifndef CUTIS_MEASURE_PREDICATES_H
#define CUTIS_MEASURE_PREDICATES_H

/// Sign of (a - d) . ((b - d) x (c - d)): which side of the plane abc the point d is on; 0: on it.
int cutis_side_of_plane(const float *a, const float *b, const float *c, const float *d);

/// Sign of the area of the triangle abc seen along an axis, in the other two coordinates.
int cutis_side_of_line(const float *a, const float *b, const float *c, int axis);

/// An axis along which a triangle has area, exactly; -1: it has none.
int cutis_area_axis(const float *const triangle[3]);

#endif
