/// Rotation centres of bone sets. The device's bone work solves the normal equations about the
/// reference points where their rank is clear (kernel/bone.h); what is close to the cut takes the
/// eigen-decomposition here. Invariant: a set's bits depend on its own bones only; the distance
/// from the reference never exceeds the limit.
#define KERNEL_DOUBLE
#include "deform/skin.h"

#include "kernel/item.h"
#include "kernel/algebra.h"
#include "kernel/bone.h"
#include "kernel/eigen.h"

static void solve_by_eigenvectors(const cutis_centre_group *group,
                                  const cutis_centre_systems *systems, uint32_t lane,
                                  double *centres)
{
    const centre_system e = {
        .xx = systems->n[0][lane],
        .xy = systems->n[1][lane],
        .xz = systems->n[2][lane],
        .yy = systems->n[3][lane],
        .yz = systems->n[4][lane],
        .zz = systems->n[5][lane],
        .h = { systems->h[0][lane], systems->h[1][lane], systems->h[2][lane] },
        .square = systems->square[lane],
    };
    const real3 y = centre_by_eigenvectors(e, group->limit);
    const double add[3] = { y.x, y.y, y.z };
    for (uint32_t i = 0; i < 3; i++)
        centres[CUTIS_CENTRE_LANES * i + lane] =
            group->reference[CUTIS_CENTRE_LANES * i + lane] + add[i];
}

void cutis_centre_solve(const cutis_bone_work *work, const cutis_centre_group *group,
                        double *centres)
{
    cutis_centre_systems systems;
    uint32_t open = work->centres(group, centres, &systems);
    for (uint32_t lane = 0; lane < group->set_count && open >> lane; lane++)
        if (open >> lane & 1) solve_by_eigenvectors(group, &systems, lane, centres);
}
