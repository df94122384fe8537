/// One bone matrix taken apart: L = R S (blending spec 6.1), in double.
#ifndef CUTIS_DEFORM_SPLIT_H
#define CUTIS_DEFORM_SPLIT_H

#include <stdbool.h>

/// What decides between the even and the general path: how far L is from sigma times a rotation.
typedef struct cutis_bone_shape {
    double sigma;  ///< cube root free: sqrt(|L|^2 / 3) with the sign of det L
    double uneven; ///< largest |S / |sigma| -+ 1|, to first order; infinity for L = 0
} cutis_bone_shape;

cutis_bone_shape cutis_bone_measure(const double *matrix);

/// Rotation (w x y z) and stretch (xx xy xz yy yz zz) of a bone matrix.
/// @param fallback rotation to take when L defines none, or NULL: then false is returned and
/// nothing written
bool cutis_bone_split(const double *matrix, const double *fallback, double *quat, double *stretch);

/// The same rotation when L is within 1e-4 of sigma times a rotation: no iteration.
void cutis_bone_turn(const double *matrix, double sigma, double *quat);

#endif
