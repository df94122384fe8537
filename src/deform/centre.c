/// Rotation centres of bone sets. The device's bone work solves the normal equations about the
/// reference points where their rank is clear (kernel/bone.h); what is close to the cut takes the
/// eigen-decomposition here. Invariant: a set's bits depend on its own bones only; the distance
/// from the reference never exceeds the limit.
#include "deform/skin.h"

#include "math/eigen3.h"
#include "math/mat3.h"

// 1e-3 bounds a singular value of the stacked system (docs/spec/blending.md 4.3; kernel/bone.h has
// the same cut). Squared: eigenvalues of N.
static const double CUT = 1e-6;

/// The eigen-decomposition with its cut; the smallest kept direction is dropped while y is beyond
/// the limit.
static void solve_by_eigenvectors(const cutis_centre_group *group,
                                  const cutis_centre_systems *systems, uint32_t lane,
                                  double *centres)
{
    double values[3], vectors[9], n[6], h[3], y[3], cut = CUT * systems->square[lane];
    for (int i = 0; i < 6; i++) n[i] = systems->n[i][lane];
    for (int i = 0; i < 3; i++) h[i] = systems->h[i][lane];
    cutis_eigen3(n, values, vectors);
    int kept = 0;
    while (kept < 3 && values[kept] > cut && values[kept] > 0.0) kept++;
    for (;; kept--) {
        y[0] = y[1] = y[2] = 0.0;
        for (int k = 0; k < kept; k++) {
            double part = double3_dot(vectors + 3 * k, h) / values[k];
            for (int i = 0; i < 3; i++) y[i] += part * vectors[3 * k + i];
        }
        if (kept == 0 || double3_dot(y, y) <= group->limit * group->limit) break;
    }
    for (uint32_t i = 0; i < 3; i++)
        centres[CUTIS_CENTRE_LANES * i + lane] =
            group->reference[CUTIS_CENTRE_LANES * i + lane] + y[i];
}

void cutis_centre_solve(const cutis_bone_work *work, const cutis_centre_group *group,
                        double *centres)
{
    cutis_centre_systems systems;
    uint32_t open = work->centres(group, centres, &systems);
    for (uint32_t lane = 0; lane < group->set_count && open >> lane; lane++)
        if (open >> lane & 1) solve_by_eigenvectors(group, &systems, lane, centres);
}
