/// Rotation centres of two bone sets of equal size at a time (blending spec 4.2).
#ifndef CUTIS_DEFORM_CENTRE_H
#define CUTIS_DEFORM_CENTRE_H

#include "math/lanes.h"

/// Two least-squares systems N y = h about their reference points, in closed form.
typedef struct cutis_centre_systems {
    double2 n[6]; ///< xx xy xz yy yz zz
    double2 h[3];
    double2 square; ///< sigma^2: mean square scale of the bones
} cutis_centre_systems;

/// @param palette 12 doubles per bone; @param squares per bone: sum of squares of its linear part
/// @param bones CUTIS_LANES per place in the sets:
/// bones[CUTIS_LANES i + lane], `count` places
void cutis_centre_build(const double *palette, const double *squares, const uint32_t *bones,
                        uint32_t count, const double2 *reference, cutis_centre_systems *out);

/// @param reference x of the sets, then y, then z; @param limit largest distance from it that is
/// believed
/// @param centres   like `reference`
void cutis_centre_solve(const double *palette, const double *squares, const uint32_t *bones,
                        uint32_t count, const double *reference, double limit, double *centres);

#endif
