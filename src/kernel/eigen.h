/// Centres whose rank is not clear: the eigenvectors of N decide (docs/spec/blending.md 4.3). Text
/// after bone.h, one lane, KERNEL_DOUBLE; kernels and deform/centre.c both use it.
///
/// Cyclic Jacobi as math/eigen3.c has it: rotations (0,1), (0,2), (1,2), at most 10 sweeps.
/// Invariant: the distance from the reference never exceeds the limit.
#ifndef CUTIS_KERNEL_EIGEN_H
#define CUTIS_KERNEL_EIGEN_H

#include "bone.h"

/// A symmetric matrix on its way to the diagonal; vectors are rows.
STRUCT(eigen_state)
{
    double m[3][3], v[3][3];
};

/// Make m[p][q] zero.
FN eigen_state eigen_rotated(eigen_state e, int p, int q)
{
    if (e.m[p][q] != 0.0) {
        int k = 3 - p - q;
        double theta = (e.m[q][q] - e.m[p][p]) / (2.0 * e.m[p][q]);
        double t = (theta < 0.0 ? -1.0 : 1.0) / (absolute(theta) + ROOT(theta * theta + 1.0));
        double c = 1.0 / ROOT(t * t + 1.0), s = t * c;
        e.m[p][p] -= t * e.m[p][q];
        e.m[q][q] += t * e.m[p][q];
        e.m[p][q] = e.m[q][p] = 0.0;
        double kp = e.m[k][p], kq = e.m[k][q];
        e.m[k][p] = e.m[p][k] = c * kp - s * kq;
        e.m[k][q] = e.m[q][k] = s * kp + c * kq;
        for (int i = 0; i < 3; i++) {
            double vp = e.v[p][i], vq = e.v[q][i];
            e.v[p][i] = c * vp - s * vq;
            e.v[q][i] = s * vp + c * vq;
        }
    }
    return e;
}

FN eigen_state eigen_of(centre_system n)
{
    eigen_state e;
    e.m[0][0] = n.xx;
    e.m[0][1] = e.m[1][0] = n.xy;
    e.m[0][2] = e.m[2][0] = n.xz;
    e.m[1][1] = n.yy;
    e.m[1][2] = e.m[2][1] = n.yz;
    e.m[2][2] = n.zz;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) e.v[i][j] = i == j ? 1.0 : 0.0;
    double trace = n.xx + n.yy + n.zz, stop = 1e-30 * trace * trace;
    for (int sweep = 0; sweep < 10; sweep++) {
        double off = e.m[0][1] * e.m[0][1] + e.m[0][2] * e.m[0][2] + e.m[1][2] * e.m[1][2];
        if (off == 0.0 || off < stop) break;
        e = eigen_rotated(e, 0, 1);
        e = eigen_rotated(e, 0, 2);
        e = eigen_rotated(e, 1, 2);
    }
    return e;
}

/// y of N y = h over the eigenvectors above the cut; the smallest kept one is dropped while y is
/// beyond the limit.
FN real3 centre_by_eigenvectors(centre_system n, double limit)
{
    eigen_state e = eigen_of(n);
    int order[3] = { 0, 1, 2 }, kept = 0;
    double cut = CENTRE_CUT * n.square, y[3] = { 0.0, 0.0, 0.0 };
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2 - i; j++)
            if (e.m[order[j]][order[j]] < e.m[order[j + 1]][order[j + 1]]) {
                int swap = order[j];
                order[j] = order[j + 1];
                order[j + 1] = swap;
            }
    while (kept < 3 && e.m[order[kept]][order[kept]] > cut && e.m[order[kept]][order[kept]] > 0.0)
        kept++;
    for (;; kept--) {
        y[0] = y[1] = y[2] = 0.0;
        for (int k = 0; k < kept; k++) {
            int o = order[k];
            double part = (e.v[o][0] * n.h.x + e.v[o][1] * n.h.y + e.v[o][2] * n.h.z) / e.m[o][o];
            for (int i = 0; i < 3; i++) y[i] += part * e.v[o][i];
        }
        if (kept == 0 || y[0] * y[0] + y[1] * y[1] + y[2] * y[2] <= limit * limit) break;
    }
    return real3_make(y[0], y[1], y[2]);
}

#endif
