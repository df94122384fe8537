/// One bone matrix taken apart: L = R S (docs/spec/blending.md 6.1), in double.
#ifndef CUTIS_DEFORM_SPLIT_H
#define CUTIS_DEFORM_SPLIT_H

#include <stdbool.h>

/// Rotation (w x y z) and stretch (xx xy xz yy yz zz) of a bone matrix.
/// @param fallback rotation to take when L defines none, or NULL: then false is returned and
/// nothing written
bool cutis_bone_split(const double *matrix, const double *fallback, double *quat, double *stretch);

#endif
